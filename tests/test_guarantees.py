"""Guarantees: every inequality that can be evaluated holds.

Bounds are monotone and explicit; a fitted exponent covers the true one.
"""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from scipy.stats import binom

from kpw_nb import kpw_distance
from kpw_nb.theory.guarantees import (
    RateFit,
    concentration,
    empirical_rate,
    fixed_bias,
    kernel_tail,
    kpw_bias,
    threshold,
    type2_bound,
)
from kpw_nb.theory.kernels import Gaussian, Linear, Matern, output_matrix
from kpw_nb.theory.transport import dual_objective, wasserstein

seeds, powers, dims = st.integers(0, 2**32 - 1), st.floats(1, 4), st.integers(1, 4)
quick = settings(max_examples=40, deadline=None)


def unit_projector(g, kernel, D, d, rho, count=8):
    "A random f with RKHS norm 1, and B"
    P = output_matrix(d, rho)
    centres = g.standard_normal((count, D))
    A = g.standard_normal((count, d))
    size = np.trace(A.T @ kernel(centres, centres) @ A @ P)
    assume(size > 1e-6)
    A = A / math.sqrt(size)
    return lambda Z: kernel(Z, centres) @ A @ P, np.linalg.eigvalsh(P)[-1]


# --- tools
@quick
@given(seeds, st.integers(2, 30), st.floats(0.05, 5))
def test_pinsker(seed, size, concentrated):
    p, q = np.random.default_rng(seed).dirichlet(np.full(size, concentrated), 2) + 1e-12
    p, q = p / p.sum(), q / q.sum()
    assert (p * np.log(p / q)).sum() >= 0.5 * np.abs(p - q).sum() ** 2 - 1e-12


@quick
@given(seeds, st.integers(2, 20), st.floats(-6, 3))
def test_retraction_constants(seed, size, exponent):
    g = np.random.default_rng(seed)
    s, zeta = g.standard_normal((2, size))
    s /= np.linalg.norm(s)
    zeta -= s * (s @ zeta)
    assume(np.linalg.norm(zeta) > 1e-6)
    zeta *= 10**exponent / np.linalg.norm(zeta)
    step, moved = np.linalg.norm(zeta), (s + zeta) / np.linalg.norm(s + zeta)
    assert np.linalg.norm(moved - s) <= step * (1 + 1e-9) + 1e-15
    assert np.linalg.norm(moved - s - zeta) <= step**2 / 2 * (1 + 1e-9) + 1e-15


@quick
@given(seeds, st.integers(2, 9), st.integers(2, 9), st.floats(0.05, 5))
def test_descent_lemmas(seed, n, m, eta):
    g = np.random.default_rng(seed)
    C, u, v = g.random((n, m)), g.standard_normal(n), g.standard_normal(m)

    def plan(u, v):
        return np.exp(u[:, None] + v - C / eta)

    def value(u, v):
        return dual_objective(u, v, C, eta)

    x = plan(u, v).sum(1)  # u: any row sums, the corrected form
    fresh = u + np.log(1 / n) - np.log(x)
    fall = value(u, v) - value(fresh, v)
    assert fall >= ((x - 1 / n) ** 2 / (2 * np.maximum(x, 1 / n))).sum() - 1e-9 * max(
        1, x.sum()
    )
    if (x <= 1).all():
        assert fall >= 0.5 * ((x - 1 / n) ** 2).sum() - 1e-9
    q = plan(fresh, v).sum(0)  # v: rows are exact, Pinsker
    assert (
        value(fresh, v) - value(fresh, v + np.log(1 / m) - np.log(q))
        >= 0.5 * np.abs(q - 1 / m).sum() ** 2 - 1e-9
    )


# --- the ball
@quick
@given(seeds, st.integers(1, 6), dims, st.floats(0, 1), st.floats(0.3, 5))
def test_values_differences_and_slopes_of_unit_projectors(seed, D, d, rho, bandwidth):
    g = np.random.default_rng(seed)
    f, B = unit_projector(g, Gaussian(bandwidth), D, d, rho)
    x, y = 2 * g.standard_normal((2, 20, D))
    gap = np.linalg.norm(f(x) - f(y), axis=1)
    assert (np.linalg.norm(f(x), axis=1) <= math.sqrt(B) * (1 + 1e-7)).all()
    assert (gap <= math.sqrt(2 * B) * (1 + 1e-7)).all()
    assert (
        gap
        <= math.sqrt(B) / bandwidth * np.linalg.norm(x - y, axis=1) * (1 + 1e-7) + 1e-12
    ).all()


@quick
@given(seeds, dims, st.integers(1, 12), st.integers(1, 12), powers)
def test_bounded_differences(seed, d, n, m, p):
    """Moving one point: W by at most Δ^p/n, its root by at most Δ n^(-1/p).

    So also for any supremum over projectors.
    """
    g = np.random.default_rng(seed)
    f, B = unit_projector(g, Matern(1.0), 3, d, 0.5)
    X, Y, delta = g.standard_normal((n, 3)), g.standard_normal((m, 3)), 2 * math.sqrt(B)
    moved = X.copy()
    moved[g.integers(n)] = 5 * g.standard_normal(3)
    before, after = wasserstein(f(X), f(Y), p=p), wasserstein(f(moved), f(Y), p=p)
    assert abs(before - after) <= delta**p / n + 1e-12
    assert abs(before ** (1 / p) - after ** (1 / p)) <= delta * n ** (-1 / p) + 1e-9


@quick
@given(seeds, st.integers(1, 12), st.integers(1, 12), powers, st.floats(0.1, 10))
def test_root_is_lipschitz_in_the_points(seed, n, m, p, L):
    "With L, not L^(1/p): linear kernel on the line, where the supremum is exact"
    g = np.random.default_rng(seed)
    X = g.standard_normal((n, 1))
    moved = g.standard_normal((n, 1))
    Y = g.standard_normal((m, 1))
    before, after = (L * wasserstein(Z, Y, p=p) ** (1 / p) for Z in (X, moved))
    bound = L * n ** (-1 / max(2, p)) * np.linalg.norm(X - moved)
    assert abs(before - after) <= bound + 1e-9


def test_printed_lipschitz_constant_is_false():
    X, zero = np.ones((9, 1)), np.zeros((1, 1))
    moved = 4 * (wasserstein(X, zero) ** 0.5 - wasserstein(0 * X, zero) ** 0.5)
    assert moved > 9**-0.5 * 4**0.5 * np.linalg.norm(X) + 1


@quick
@given(seeds, dims, powers)
def test_nearby_projectors(seed, d, p):
    g = np.random.default_rng(seed)
    kernel, P, centres = Gaussian(1.5), output_matrix(d, 0.5), g.standard_normal((8, 2))

    def size(A):
        return math.sqrt(np.trace(A.T @ kernel(centres, centres) @ A @ P))

    A = g.standard_normal((8, d))
    A /= size(A)
    C = A + 0.3 * g.standard_normal((8, d))
    C /= size(C)
    X = g.standard_normal((9, 2))
    Y = g.standard_normal((7, 2))
    delta = 2 * math.sqrt(np.linalg.eigvalsh(P)[-1])

    def W(A):
        return wasserstein(*(kernel(Z, centres) @ A @ P for Z in (X, Y)), p=p)

    assert abs(W(A) - W(C)) <= p * delta**p * size(A - C) + 1e-9


def cells(z, level):
    "The cell of the cube [-1, 1]^d, cut `level` times in half, of each row"
    place = np.minimum(np.floor((z + 1) / 2 * 2**level), 2**level - 1)
    return list(map(tuple, place.astype(int)))


@quick
@given(seeds, dims, powers, st.integers(0, 4))
def test_dyadic_lemma(seed, d, p, J):
    g = np.random.default_rng(seed)
    x, y = g.uniform(-1, 1, (15, d)), g.uniform(-1, 1, (10, d)) ** 3
    total = 2.0 ** (-J * p)
    for level in range(1, J + 1):
        a, b = cells(x, level), cells(y, level)
        apart = sum(abs(a.count(c) / 15 - b.count(c) / 10) for c in set(a + b))
        total += (2**p - 1) * 2.0 ** (-level * p) * 0.5 * apart
    assert wasserstein(x, y, p=p) <= (2 * math.sqrt(d)) ** p * total + 1e-9


@quick
@given(seeds, dims, powers)
def test_projection_onto_features_leaves_the_residual(seed, d, p):
    "Step 4: |f - f_r|^2 <= λ_max(P) ρ_r(x)"
    g = np.random.default_rng(seed)
    kernel = Gaussian(1.0)
    P = output_matrix(d, 0.5)
    Z = g.standard_normal((12, 2))
    new = g.standard_normal((6, 2))
    A = g.standard_normal((12, d))
    A /= math.sqrt(np.trace(A.T @ kernel(Z, Z) @ A @ P))
    kappa, Q = np.linalg.eigh(kernel(Z, Z))
    E = Q[:, -5:] / np.sqrt(kappa[-5:])  # five orthonormal functions
    rest = (kernel(new, Z) - kernel(new, Z) @ E @ E.T @ kernel(Z, Z)) @ A @ P
    rho = 1 - ((kernel(new, Z) @ E) ** 2).sum(1)
    assert (
        (rest**2).sum(1) <= np.linalg.eigvalsh(P)[-1] * np.maximum(rho, 0) + 1e-7
    ).all()


# --- the functions
@quick
@given(
    st.integers(2, 10**6),
    st.integers(2, 10**6),
    dims,
    powers,
    st.floats(0.01, 10),
    st.integers(1, 50),
)
def test_bounds_are_symmetric_monotone_and_scale(n, m, d, p, B, rank):
    bias = kpw_bias(n, m, d, p, B, rank=rank)
    assert bias == pytest.approx(kpw_bias(m, n, d, p, B, rank=rank)) and fixed_bias(
        n, m, d, p, B
    ) <= bias * (1 + 1e-12) <= (2 * math.sqrt(B)) ** p * (1 + 1e-9)
    assert (
        kpw_bias(2 * n, 2 * m, d, p, B, rank=rank)
        <= bias * (1 + 1e-12)
        <= kpw_bias(n, m, d, p, B, rank=rank + 1) * (1 + 1e-9)
    )
    assert kpw_bias(n, m, d, p, 4 * B, rank=rank) == pytest.approx(2**p * bias)
    assert kpw_bias(
        n, m, d, p, B, rank=[rank, rank + 3], tail=[0.0, 0.0]
    ) == pytest.approx(bias)
    assert threshold(n, m, d, p, 0.05, B, rank=rank) == pytest.approx(
        bias + concentration(n, m, 0.05, B, p)
    )
    assert (
        concentration(n, None, 0.05, B, p)
        <= concentration(n, m, 0.05, B, p)
        <= concentration(n, m, 0.01, B, p)
    )
    assert type2_bound(0.0, 1.0, n, m, B, p) == 1.0 and type2_bound(
        2.0, 1.0, n, m, B, p
    ) >= type2_bound(2.0, 0.5, n, m, B, p)


@quick
@given(st.integers(1, 10**6), st.integers(1, 10**6), dims, powers, st.floats(0.01, 10))
def test_fixed_bias_is_the_literal_formula(n, m, d, p, B):
    h = n * m / (n + m)
    tries = [
        2.0 ** (-J * p)
        + sum(
            (2**p - 1) * 2.0 ** (-k * p) * min(0.5 * (2.0 ** (d * k) / h) ** 0.5, 1.0)
            for k in range(1, J + 1)
        )
        for J in range(40)
    ]
    assert fixed_bias(n, m, d, p, B) == pytest.approx(
        (2 * B**0.5) ** p * min(1.0, d ** (p / 2) * min(tries))
    )


def test_concentration_is_mcdiarmid():
    n, alpha = 40, 0.1
    B, p = 2.0, 1.3
    t = concentration(n, 30, alpha, B, p)
    assert math.exp(
        -2 * t**2 / ((2 * math.sqrt(B)) ** (2 * p) * (1 / n + 1 / 30))
    ) == pytest.approx(alpha)


@pytest.mark.parametrize("p", [1, 1.5, 1.9])
@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_concentration_holds_where_the_supremum_is_exact(p, alpha):
    """A fair coin on ±1 with the linear kernel: KPW = 2^p |share - 1/2|.

    Its law is binomial, the violation probability is exact.
    """
    n = 60
    heads = np.arange(n + 1)
    root, chance = (2**p * np.abs(heads / n - 0.5)) ** (1 / p), binom.pmf(heads, n, 0.5)
    value = root**p
    assert (
        chance[value - value @ chance > concentration(n, None, alpha, 1.0, p)].sum()
        <= alpha
    )


def test_threshold_and_type2_against_the_exact_law():
    "Coins on ±1, linear kernel: the level and the type-II bound hold"
    g = np.random.default_rng(0)
    n = 600
    m = 400
    trials = 2000
    gamma = threshold(n, m, 1, 2, 0.05, 1.0, rank=1)

    def share(q, k):
        return g.binomial(k, q, trials) / k

    assert (4 * np.abs(share(0.5, n) - share(0.5, m)) >= gamma).mean() <= 0.05
    missed = (4 * np.abs(share(0.5, n) - share(0.8, m)) < gamma).mean()
    bound = type2_bound(4 * 0.3, gamma, n, m, 1.0, 2)
    assert missed <= bound + 4 * math.sqrt(bound / trials) and bound < 0.5


def test_empirical_distance_is_biased_upwards():
    "Joint convexity: the mean of W of samples is at least W of the laws"
    g = np.random.default_rng(2)
    means = np.array(
        [
            wasserstein(
                g.choice([-1.0, 1.0], (10, 1)),
                g.choice([-1.0, 1.0], (10, 1), p=[0.2, 0.8]),
            )
            for _ in range(2000)
        ]
    )
    assert means.mean() + 3 * means.std() / math.sqrt(2000) >= 4 * 0.3


def test_supremum_of_the_linear_kernel_on_the_line():
    g = np.random.default_rng(3)
    X, Y = g.uniform(-1, 1, (15, 1)), g.uniform(-1, 1, (12, 1)) ** 3
    exact = np.linalg.eigvalsh(output_matrix(3, 0.5))[-1] * wasserstein(X, Y)
    found = kpw_distance(
        X, Y, kernel="linear", d=3, rho=0.5, solver="exact", tol=1e-10
    ).value
    assert exact * (1 - 1e-3) <= found <= exact * (1 + 1e-9)


def test_bias_bound_holds_for_what_is_computed():
    g, n = np.random.default_rng(4), 40
    B = (
        np.linalg.eigvalsh(output_matrix(2, 0.5))[-1] * 2
    )  # sup k(x, x) = 2 on the square
    values = [
        kpw_distance(
            *g.uniform(-1, 1, (2, n, 2)),
            kernel="linear",
            d=2,
            rho=0.5,
            solver="exact",
            max_iter=30,
        ).value
        for _ in range(10)
    ]
    assert np.mean(values) <= kpw_bias(n, n, 2, 2, B, rank=2)


def test_kernel_tail():
    g = np.random.default_rng(5)
    Z, new = g.standard_normal((40, 2)), g.standard_normal((30, 2))
    tail = kernel_tail(Gaussian(1.0), Z, new)
    assert (
        tail[0] == pytest.approx(1)
        and (np.diff(tail) <= 1e-12).all()
        and (tail >= 0).all()
    )
    K = Gaussian(1.0)(Z, Z)
    c, E = Gaussian(1.0)(new, Z), np.linalg.eigh(K)[1][:, ::-1][:, :6]
    assert tail[6] == pytest.approx(
        np.mean(1 - ((c @ E) * np.linalg.solve(E.T @ K @ E, (c @ E).T).T).sum(1))
    )
    assert kernel_tail(Linear(), Z, new, bound=10.0)[2] == pytest.approx(0, abs=1e-9)


# --- rates
def gap(X, Y):
    return abs(X.mean() - Y.mean())


def two(X, Y):
    return np.array([wasserstein(X, Y, p=1), wasserstein(X, Y)])


def line(n, g):
    return g.standard_normal((n, 1))


def test_rate_of_an_exact_power_law():
    fit = empirical_rate(
        lambda X, Y: len(X) ** -0.7,
        lambda n, g: np.zeros((n, 1)),
        (10, 100, 1000),
        n_trials=2,
    )
    assert (
        isinstance(fit, RateFit)
        and fit.exponent == pytest.approx(0.7)
        and fit.low == pytest.approx(fit.high)
    )


def test_rate_interval_covers():
    """The gap of two means is exactly n^(-1/2).

    95 % intervals cover it as often as they say, to the 99.9 % binomial bound.
    """
    fits = [
        empirical_rate(gap, line, (10, 30, 90), n_trials=40, rng=seed)
        for seed in range(100)
    ]
    assert sum(f.low <= 0.5 <= f.high for f in fits) >= binom.ppf(0.001, 100, 0.95)


def test_rate_is_repeatable_and_takes_vectors():
    a, b = (empirical_rate(two, line, (10, 40), n_trials=5, rng=1) for _ in range(2))
    assert (
        (a.values == b.values).all()
        and a.exponent.shape == (2,)
        and a.values.shape == (2, 5, 2)
    )
    one = empirical_rate(wasserstein, line, (10, 40), n_trials=5, rng=1)
    assert (one.values == a.values[..., 1]).all() and one.exponent == pytest.approx(
        a.exponent[1]
    )


@pytest.mark.parametrize(
    "call, word",
    [
        (lambda: fixed_bias(10, 10, 1, 0.5, 1.0), "p must be"),
        (lambda: fixed_bias(10, 10, 1, 1, -1.0), "B must be"),
        (lambda: kpw_bias(10, 10, 1, 1, 1.0, rank=-1), "rank must be"),
        (lambda: kpw_bias(10, 10, 1, 1, 1.0, tail=2.0), "tail must lie"),
        (lambda: concentration(10, 0, 0.05, 1.0, 1), "m must be"),
        (lambda: type2_bound(-1.0, 0.0, 10, 10, 1.0, 2), "kpw must be"),
        (lambda: threshold(10, 10, 1, 2, 1.5, 1.0), "alpha must be"),
        (
            lambda: kernel_tail(Gaussian(1.0), np.ones(3), np.ones((2, 1))),
            "Z must be a 2-D",
        ),
        (lambda: empirical_rate(wasserstein, None, (10,)), "sizes must hold"),
        (
            lambda: empirical_rate(lambda X, Y: 0.0, lambda n, g: 0, (10, 20)),
            "positive mean",
        ),
    ],
)
def test_bad_input_is_named(call, word):
    with pytest.raises(ValueError, match=word):
        call()


# --- paid for, and sharp enough to fail


@pytest.mark.parametrize("p", [1.0, 1.5, 1.9])
@pytest.mark.parametrize("n", [50, 400])
def test_the_explicit_theorem_below_two(p, n):
    "On coins, exactly: the law of the difference of two binomials"
    alpha, heads = 0.05, np.arange(n + 1)
    law = binom.pmf(heads, n, 0.5)
    joint = np.outer(law, law)
    roots = 2 * (np.abs(heads[:, None] - heads) / n) ** (1 / p)
    bias = kpw_bias(n, n, 1, p, 1.0, rank=1) ** (1 / p)
    bound = bias + math.sqrt(2 * math.log(1 / alpha) * 2 * n ** (1 - 2 / p))
    assert joint[roots >= bound].sum() <= alpha
    assert joint[roots >= bound / 10].sum() > alpha  # a tenth of it would fail


@pytest.mark.parametrize("share", [0.98, 0.9, 0.8])
def test_type2_bound_is_within_ten_times_the_exact_error(share):
    n, kpw = 100, 4 * 0.35
    first, second = (binom.pmf(np.arange(n + 1), n, q) for q in (0.5, 0.85))
    seen = np.outer(first, second)
    values = 4 * np.abs(np.arange(n + 1)[:, None] - np.arange(n + 1)) / n
    missed = seen[values < share * kpw].sum()
    assert missed <= type2_bound(kpw, share * kpw, n, n, 1.0, 2) < 10 * missed


def test_tails_are_paid_for_by_a_union_over_ranks():
    "Estimates are often too low somewhere; raised ones hardly ever are"
    g, k, q = np.random.default_rng(12), Gaussian(2.0), 30
    points = g.standard_normal((80, 2))
    truth = kernel_tail(k, points, g.standard_normal((20_000, 2)))
    paid = math.sqrt(math.log(len(truth) / 0.1) / (2 * q))
    low = [
        kernel_tail(k, points, g.standard_normal((q, 2))) - truth for _ in range(100)
    ]
    assert sum((short < -1e-3).any() for short in low) > 40
    # at most 10 % of the time: more than 17 of 100 has then probability 0.01
    assert sum((short + paid < -1e-3).any() for short in low) <= 17
