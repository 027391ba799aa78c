"""The installed `kpw_nb.theory.transport` against POT, SciPy, literal formulas and the
properties of a metric."""

import pickle

import numpy as np
import ot
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import wasserstein_distance

from kpw_nb.theory.transport import (
    Entropic,
    Transport,
    cost_matrix,
    dual_objective,
    entropy,
    exact_transport,
    sinkhorn,
    wasserstein,
)


def prop(*strategies):
    "A property with this file's settings; a profile would change other files' too"
    return lambda f: settings(max_examples=100, deadline=None, derandomize=True)(
        given(*strategies)(f)
    )


seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 9)
powers = st.sampled_from([1, 1.5, 2, 3])


def cloud(seed, n, d, ties=False):
    gen = np.random.default_rng(seed)
    return (
        gen.integers(-2, 3, size=(n, d)).astype(float)
        if ties
        else gen.normal(size=(n, d))
    )


def masses(seed, n, zeros=True):
    gen = np.random.default_rng(seed)
    a = gen.dirichlet(np.ones(n))
    if zeros and n > 1:
        a[gen.integers(n)] = 0
    return a / a.sum()


def literal_sinkhorn(C, eta, a, b, sweeps):
    v = np.zeros(len(b))
    u = np.log(a) - logsumexp(v - C / eta, axis=1)
    for _ in range(sweeps):
        v = np.log(b) - logsumexp(u[:, None] - C / eta, axis=0)
        u = np.log(a) - logsumexp(v - C / eta, axis=1)
    return u, v


# --- exact ---------------------------------------------------------------------------


@prop(seeds, sizes, sizes, st.integers(1, 3), powers, st.booleans(), st.booleans())
def test_exact_agrees_with_emd(seed, n, m, d, p, weighted, ties):
    x, y = cloud(seed, n, d, ties), cloud(seed + 1, m, d, ties)
    a, b = (masses(seed, n), masses(seed + 1, m)) if weighted else (None, None)
    wa = np.full(n, 1 / n) if a is None else a
    wb = np.full(m, 1 / m) if b is None else b
    C = cost_matrix(x, y, p)
    r = exact_transport(x, y, a, b, p)
    assert r.value == pytest.approx(ot.emd2(wa, wb, C), abs=1e-10)
    assert wasserstein(x, y, a, b, p) == pytest.approx(r.value, abs=1e-11)
    beyond = "assignment" if n == m and not weighted else "simplex"
    assert r.method == ("sort" if d == 1 else beyond)
    assert len(r.mass) <= n + m - 1 and (r.mass > 0).all()
    np.testing.assert_allclose(r.plan.sum(1), wa, atol=1e-12)
    np.testing.assert_allclose(r.plan.sum(0), wb, atol=1e-12)
    assert (r.plan * C).sum() == pytest.approx(r.value, abs=1e-11)


@prop(seeds, sizes, sizes)
def test_line_agrees_with_scipy(seed, n, m):
    x = cloud(seed, n, 1)[:, 0]
    y = cloud(seed + 1, m, 1)[:, 0]
    a = masses(seed, n)
    b = masses(seed + 1, m)
    assert wasserstein(x, y, p=1) == pytest.approx(
        wasserstein_distance(x, y), abs=1e-12
    )
    assert wasserstein(x, y, a, b, p=1) == pytest.approx(
        wasserstein_distance(x, y, a, b), abs=1e-12
    )


def test_large_equal_samples_use_the_simplex():
    x, y = cloud(0, 220, 2), cloud(1, 220, 2)
    r = exact_transport(x, y)
    assert r.method == "simplex"
    assert r.value == pytest.approx(ot.emd2([], [], ot.dist(x, y)), abs=1e-10)


def test_long_line_loses_no_mass():
    x, y = cloud(0, 10_007, 1), cloud(1, 9_001, 1)
    r = exact_transport(x, y)
    np.testing.assert_allclose(
        np.bincount(r.rows, r.mass, len(x)), 1 / len(x), rtol=1e-9
    )
    np.testing.assert_allclose(
        np.bincount(r.cols, r.mass, len(y)), 1 / len(y), rtol=1e-9
    )
    assert wasserstein(x, y) == pytest.approx(ot.emd2_1d(x[:, 0], y[:, 0]), abs=1e-10)


@prop(seeds, sizes, sizes, st.integers(1, 3))
def test_atoms_of_uniform_weights_are_multiples(seed, n, m, d):
    mass = n * m * exact_transport(cloud(seed, n, d), cloud(seed + 1, m, d)).mass
    assert (
        mass.min() > 0.99 and np.abs(mass - np.round(mass)).max() < 1e-9
    )  # no crumbs of rounding


@prop(seeds, sizes, sizes, st.integers(1, 3), powers, st.floats(0.01, 100))
def test_symmetry_scaling_translation_permutation(seed, n, m, d, p, c):
    x = cloud(seed, n, d)
    y = cloud(seed + 1, m, d)
    gen = np.random.default_rng(seed + 2)
    W = wasserstein(x, y, p=p)
    assert wasserstein(y, x, p=p) == pytest.approx(W, rel=1e-10)
    assert wasserstein(c * x, c * y, p=p) == pytest.approx(c**p * W, rel=1e-10)
    shift = gen.normal(size=d)
    assert wasserstein(x + shift, y + shift, p=p) == pytest.approx(W, rel=1e-9)
    assert wasserstein(gen.permutation(x), gen.permutation(y), p=p) == pytest.approx(
        W, rel=1e-10
    )
    assert wasserstein(x, gen.permutation(x), p=p) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("c", [1e-150, 1e-50, 1e-10, 1e10, 1e150])
@pytest.mark.parametrize("n, m, d", [(9, 6, 2), (7, 7, 2), (220, 220, 3), (9, 6, 1)])
def test_units_do_not_matter(n, m, d, c):
    "The network simplex takes tiny costs for zero, and any plan for optimal"
    x, y = cloud(0, n, d), cloud(1, m, d)
    assert wasserstein(c * x, c * y) / c**2 == pytest.approx(wasserstein(x, y))


@prop(seeds, sizes, sizes, sizes, st.integers(1, 3), powers)
def test_triangle_inequality_of_the_root(seed, n, m, k, d, p):
    x, y, z = cloud(seed, n, d), cloud(seed + 1, m, d), cloud(seed + 2, k, d)
    xz, xy, yz = (
        wasserstein(s, t, p=p) ** (1 / p) for s, t in ((x, z), (x, y), (y, z))
    )
    assert xz <= xy + yz + 1e-9


@prop(seeds, sizes, st.integers(1, 3))
def test_translation_costs_its_square(seed, n, d):
    x, t = cloud(seed, n, d), cloud(seed + 1, 1, d)[0]
    assert wasserstein(x, x + t) == pytest.approx(t @ t, rel=1e-9, abs=1e-12)


# --- entropic ------------------------------------------------------------------------


@pytest.mark.parametrize("relative", [0.03, 0.3, 3.0, 300.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_sinkhorn_agrees_with_pot(relative, weighted):
    C = cost_matrix(cloud(0, 25, 2), cloud(1, 18, 2) + 0.3)
    a, b = (
        (masses(2, 25, False), masses(3, 18, False))
        if weighted
        else (np.full(25, 1 / 25), np.full(18, 1 / 18))
    )
    eta = relative * C.mean()
    P = ot.bregman.sinkhorn_log(a, b, C, eta, numItermax=50_000, stopThr=1e-13)
    r = sinkhorn(C, eta, a, b, tol=1e-12)
    np.testing.assert_allclose(r.plan, P, atol=1e-8)
    assert r.value == pytest.approx((P * C).sum(), abs=1e-8)
    assert r.objective == pytest.approx(
        (P * C).sum() + eta * (P * np.log(P)).sum() - eta, rel=1e-8
    )  # POT's entropy lacks the -1


@prop(seeds, sizes, sizes, st.floats(-6, 6), st.booleans(), st.booleans())
def test_sinkhorn_is_feasible_and_dual(seed, n, m, magnitude, weighted, ties):
    x, y = cloud(seed, n, 2, ties), cloud(seed + 1, m, 2, ties)
    C = cost_matrix(x, y)
    assume(C.mean() > 0)
    eta = 10**magnitude * C.mean()
    a, b = (masses(seed, n), masses(seed + 1, m)) if weighted else (None, None)
    with np.errstate(all="raise", under="ignore"):
        r = sinkhorn(C, eta, a, b)
    u, v = r.potentials
    wa = np.full(n, 1 / n) if a is None else a
    wb = np.full(m, 1 / m) if b is None else b
    assert r.converged and r.error < 1e-8 and np.isfinite(r.plan).all()
    np.testing.assert_allclose(r.plan, np.exp(u[:, None] + v - C / eta), rtol=1e-12)
    scale = max(C.max(), eta * (1 + np.log(n * m)))
    assert r.objective == pytest.approx(
        -eta * dual_objective(u, v, C, eta, wa, wb), abs=1e-9 * scale
    )
    assert r.value - eta * entropy(r.plan) == pytest.approx(
        r.objective, abs=1e-6 * scale
    )
    W, product = wasserstein(x, y, a, b), wa @ C @ wb
    assert W - 1e-7 * scale <= r.value <= product + 1e-7 * scale
    assert r.value <= W + eta * np.log(n * m) + 1e-7 * scale


@prop(seeds, st.floats(-4, 2), st.sampled_from([0, 1e-12]))
def test_F_never_rises(seed, magnitude, tol):
    C = cost_matrix(cloud(seed, 12, 2), cloud(seed + 1, 9, 2))
    eta, start = 10**magnitude * C.mean(), np.random.default_rng(seed).normal(size=9)
    F = np.array(
        [
            dual_objective(
                *sinkhorn(C, eta, max_iter=k, tol=tol, v0=start).potentials, C, eta
            )
            for k in (*range(1, 20), *range(48, 60))
        ]
    )
    assert (np.diff(F) <= 1e-12 * np.abs(F).max()).all()


@pytest.mark.parametrize("relative", [1e-6, 1e-3, 0.1, 1e6])
def test_sweeps_are_the_literal_updates(relative):
    C = cost_matrix(cloud(0, 12, 2), cloud(1, 9, 2))
    eta, a, b = relative * C.mean(), masses(0, 12, False), masses(1, 9, False)
    r = sinkhorn(C, eta, a, b, max_iter=7, tol=0, v0=np.zeros(9))
    for ours, literal in zip(r.potentials, literal_sinkhorn(C, eta, a, b, 7)):
        rounding = (
            4 * np.finfo(float).eps * C.max() / eta
        )  # of the exponents c/eta, which cancel against u + v
        np.testing.assert_allclose(ours, literal, rtol=1e-11, atol=1e-11 + rounding)
    assert r.n_iter == 7 and not r.converged


@prop(seeds, st.floats(-2, 1))
def test_descent_lemmas(seed, magnitude):
    n, m = 11, 7
    C = cost_matrix(cloud(seed, n, 2), cloud(seed + 1, m, 2))
    gen = np.random.default_rng(seed)
    eta, u, v = 10**magnitude * C.mean(), gen.normal(size=n), gen.normal(size=m)

    def plan():
        return np.exp(u[:, None] + v - C / eta)

    for _ in range(5):
        F0, rows = dual_objective(u, v, C, eta), plan().sum(1)
        u = u + np.log(1 / n / rows)
        F1, cols = dual_objective(u, v, C, eta), plan().sum(0)
        v = v + np.log(1 / m / cols)
        F2 = dual_objective(u, v, C, eta)
        assert F0 - F1 >= (
            (rows - 1 / n) ** 2 / (2 * np.maximum(rows, 1 / n))
        ).sum() - 1e-12 * max(1, abs(F0))
        in_l1 = 1.5 / (1 + 2 * rows.sum()) * np.abs(rows - 1 / n).sum() ** 2
        assert F0 - F1 >= in_l1 - 1e-12 * max(1, abs(F0))  # for any mass
        if rows.max() <= 1:
            assert F0 - F1 >= 0.5 * ((rows - 1 / n) ** 2).sum() - 1e-12 * max(
                1, abs(F0)
            )
        assert F1 - F2 >= 0.5 * np.abs(cols - 1 / m).sum() ** 2 - 1e-12 * max(
            1, abs(F1)
        )  # Pinsker


@pytest.mark.parametrize("mass", [0.01, 0.5, 1.0, 3.0])
def test_pinsker_for_any_mass_is_nearly_sharp(mass):
    "Two rows; at mass one the bound is attained, so a larger constant would fail"
    gen, slack = np.random.default_rng(0), []
    for _ in range(3000):
        due, before = gen.dirichlet(np.ones(2)), mass * gen.dirichlet(np.ones(2))
        gain = (due * np.log(due / before)).sum() - 1 + mass
        slack.append(gain / (1.5 / (1 + 2 * mass) * np.abs(due - before).sum() ** 2))
    assert 1 - 1e-6 <= min(slack) < (1.001 if mass == 1 else 3)


@pytest.mark.parametrize("eta", [0.05, 0.02, 0.01])
def test_the_gap_is_bounded_by_the_column_error_and_nearly_equal(eta):
    """Points on a line: half at each of y = (0, 1), one more near the second. The
    printed rule, ε₂ = 4 b times the error, does not bound F - min F; it bounds η times
    that."""
    C = cost_matrix(np.r_[np.zeros(50), np.ones(50), 0.95], np.r_[0.0, 1.0])
    v = np.array([-0.5, 0.0]) / eta
    u = -np.log(len(C)) - logsumexp(v - C / eta, axis=1)
    error = np.abs(np.exp(u[:, None] + v - C / eta).sum(0) - 0.5).sum()
    gap = dual_objective(u, v, C, eta)
    gap += sinkhorn(C, eta, tol=1e-13).objective / eta
    assert eta * gap <= C.max() * error < 2 * eta * gap and gap > 4 * error


@pytest.mark.parametrize("kind", ["clusters", "grid", "weights", "random"])
@pytest.mark.parametrize("relative", [1e-6, 1e-4, 1e-2])
def test_small_eta_converges(kind, relative):
    gen = np.random.default_rng(0)
    if kind == "clusters":
        C = cost_matrix(
            *(
                gen.normal(size=(k, 2)) + 100 * gen.integers(0, 3, size=(k, 1))
                for k in (40, 60)
            )
        )
    elif kind == "grid":
        C = cost_matrix(*(gen.integers(0, 4, size=(k, 2)) for k in (40, 60)))
    else:
        C = gen.random((40, 60))
    a, b = (
        (gen.dirichlet(np.full(40, 0.3)), gen.dirichlet(np.full(60, 0.3)))
        if kind == "weights"
        else (None, None)
    )
    r = sinkhorn(C, relative * C.mean(), a, b, max_iter=3000)
    assert r.converged and r.error < 1e-8
    W = ot.emd2(
        *(np.full(k, 1 / k) if w is None else w for w, k in ((a, 40), (b, 60))), C
    )
    assert (
        W - 1e-7 * C.max()
        <= r.value
        <= W + relative * C.mean() * np.log(2400) + 1e-7 * C.max()
    )


def test_large_eta_gives_the_product_coupling():
    C, a, b = cost_matrix(cloud(0, 6, 2), cloud(1, 5, 2)), masses(0, 6), masses(1, 5)
    np.testing.assert_allclose(
        sinkhorn(C, 1e6 * C.mean(), a, b).plan, np.outer(a, b), atol=1e-5
    )


def test_zero_weights_are_left_out():
    C, a = cost_matrix(cloud(0, 6, 2), cloud(1, 5, 2)), masses(0, 6, False)
    a[2] = 0
    a /= a.sum()
    keep = a > 0
    r, s = sinkhorn(C, 0.5, a), sinkhorn(C[keep], 0.5, a[keep])
    np.testing.assert_allclose(r.plan[keep], s.plan, atol=1e-14)
    assert (
        (r.plan[2] == 0).all()
        and r.potentials[0][2] == -np.inf
        and r.objective == pytest.approx(s.objective, abs=1e-12)
    )
    assert sinkhorn(
        C.T, 0.5, None, a, v0=r.potentials[0]
    ).converged  # its potentials are a valid start


def test_vanishing_weights():
    C = cost_matrix(cloud(0, 4, 2), cloud(1, 3, 2))
    with np.errstate(all="raise", under="ignore"):
        for tiny in (1e-50, 1e-150, 1e-300, 5e-324):
            for relative in (1e-6, 1e-2, 1.0):
                r = sinkhorn(
                    C, relative * C.mean(), [tiny, 0.5, 0.25, 0.25], [0.5, tiny, 0.5]
                )
                assert (
                    np.isfinite(r.plan).all()
                    and np.isfinite(r.objective)
                    and r.converged
                )
    assert exact_transport(
        cloud(0, 4, 2), cloud(1, 3, 2), [1e-300, 0.5, 0.25, 0.25]
    ).value == pytest.approx(
        exact_transport(cloud(0, 4, 2), cloud(1, 3, 2), [0, 0.5, 0.25, 0.25]).value,
        abs=1e-12,
    )


def test_warm_start_and_progress():
    C = cost_matrix(cloud(0, 30, 2), cloud(1, 20, 2))
    r, seen = sinkhorn(C, 0.1), []
    assert sinkhorn(C, 0.1, v0=r.potentials[1]).n_iter == 0
    sinkhorn(
        C,
        0.1,
        tol=0,
        max_iter=120,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (120, 120)


# --- shape, input, errors ------------------------------------------------------------


def test_inputs_are_not_changed_and_results_pickle():
    x, y = cloud(0, 6, 2), cloud(1, 5, 2)
    a, C = masses(0, 6), cost_matrix(x, y)
    kept = [z.copy() for z in (x, y, a, C)]
    for z in (x, y, a, C):
        z.flags.writeable = False
    r, s = exact_transport(x, y, a), sinkhorn(C, 0.5, a, v0=np.zeros(5))
    for z, k in zip((x, y, a, C), kept):
        np.testing.assert_array_equal(z, k)
    assert isinstance(r, Transport) and isinstance(s, Entropic)
    assert (
        pickle.loads(pickle.dumps(r)).value == r.value
        and pickle.loads(pickle.dumps(s)).value == s.value
    )
    with pytest.raises(AttributeError):
        s.value = 0


def test_lists_vectors_and_float32():
    assert wasserstein([0, 1], [[2], [3]]) == 4
    assert wasserstein(np.float32([0, 1]), [2.0, 3]) == 4
    assert wasserstein([[0.0, 0]], [[3.0, 4]], p=1) == 5
    assert entropy([0.5, 0.5, 0]) == pytest.approx(1 + np.log(2))


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda o: wasserstein([1.0, np.nan], [1.0]), "x contains 1 NaN"),
        (lambda o: wasserstein(o, [[np.inf, 1.0]]), "y contains 1 NaN or infinity"),
        (lambda o: wasserstein(o, np.ones((3, 3))), "x has 2 coordinates but y has 3"),
        (lambda o: wasserstein(o, np.ones((2, 2, 2))), "y must be a 2-D"),
        (lambda o: wasserstein([], [1.0]), "x has n_samples=0"),
        (lambda o: wasserstein(o, o, p=0.9), "p must be at least 1"),
        (lambda o: wasserstein(1e200 * o, -o), "distances that are NaN or too large"),
        (
            lambda o: wasserstein(1e200 * o, -o[:2]),
            "distances that are NaN or too large",
        ),
        (
            lambda o: wasserstein([1e200], [-1.0, 0.0]),
            "distances that are NaN or too large",
        ),
        (
            lambda o: exact_transport([1e200], [-1.0]),
            "distances that are NaN or too large",
        ),
        (lambda o: sinkhorn([[1e308, -1e308]], 1e300), "C holds costs of 1e.308"),
        (lambda o: cost_matrix(o, o, p=np.nan), "p must be"),
        (
            lambda o: exact_transport(o, o, a=[0.5, 0.5]),
            "a must hold one weight for each of the 3 points",
        ),
        (lambda o: exact_transport(o, o, b=[1.5, -0.5, 0]), "b must not be negative"),
        (lambda o: wasserstein([1.0, 2], [1.0, 2], a=[0.6, 0.6]), "a must sum to one"),
        (lambda o: wasserstein([1.0, 2], [1.0, 2], b=[np.nan, 1]), "b contains 1 NaN"),
        (lambda o: sinkhorn(o, 0), "eta must be greater than 0"),
        (lambda o: sinkhorn(o, -1.0), "eta must be greater than 0"),
        (lambda o: sinkhorn(o * 1e300, 1e-10), "eta=1e-10 is too small"),
        (lambda o: sinkhorn([[np.nan, 1]], 1), "C contains"),
        (lambda o: sinkhorn([1.0, 2], 1), "C must be a 2-D"),
        (lambda o: sinkhorn(o, 1, tol=-1), "tol must be"),
        (lambda o: sinkhorn(o, 1, max_iter=0), "max_iter must be"),
        (lambda o: sinkhorn(o, 1, v0=[0.0]), "v0 must hold one potential"),
        (lambda o: sinkhorn(o, 1, v0=[0.0, np.nan]), "v0 contains NaN"),
        (lambda o: sinkhorn(o, 1, v0=[0.0, -np.inf]), "v0 is infinite"),
        (lambda o: dual_objective(np.zeros(2), np.zeros(2), o, 1), "u must hold"),
        (lambda o: entropy([[-0.1]]), "plan must be nonnegative"),
    ],
)
def test_bad_input_names_the_argument(call, words):
    with pytest.raises(ValueError, match=words):
        call(np.ones((3, 2)))


def test_wrong_types():
    with pytest.raises(TypeError, match="eta must be a number"):
        sinkhorn(np.ones((2, 2)), "small")
    with pytest.raises(TypeError, match="max_iter must be an integer"):
        sinkhorn(np.ones((2, 2)), 1, max_iter=2.5)
