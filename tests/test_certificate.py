"""The upper bound of the distance: nothing is above it, twins that know nothing of the
solver agree with it, and it is attained where the problem is certified."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.optimize import linprog

from kpw_nb import kpw_distance
from kpw_nb.theory.ends import exact_ascent
from kpw_nb.theory.certificate import (
    plan_bound,
    plan_matrix,
    plan_pull,
    relax,
    repair_plan,
    rounded_weights,
    upper_bound,
)
from kpw_nb.theory.kernels import Gaussian, output_factor, output_matrix, resolve_kernel
from kpw_nb.theory.representer import make_factor
from kpw_nb.theory.transport import exact_transport, sinkhorn, wasserstein


def clouds(seed, n=12, m=9, D=2, shift=0.0):
    gen = np.random.default_rng(seed)
    return gen.normal(size=(n, D)), gen.normal(size=(m, D)) + shift


def reached(phi, n, R, S):
    "Exact W of the projector S, scaled to norm one"
    F = phi @ (S / np.linalg.norm(S)) @ R.T
    return wasserstein(F[:n], F[n:])


# --- a bound for each plan -----------------------------------------------------------


@pytest.mark.parametrize("n, m, r", [(5, 4, 3), (3, 7, 1), (6, 6, 9)])
def test_matrix_of_a_plan_is_the_sum_over_pairs(n, m, r):
    "Would break: a transposed plan, a forgotten minus, swapped marginals"
    gen = np.random.default_rng(0)
    phi, plan = gen.normal(size=(n + m, r)), gen.random((n, m))
    want = np.zeros((r, r))
    for i in range(n):
        for j in range(m):
            a = phi[i] - phi[n + j]
            want += plan[i, j] * np.outer(a, a)
    np.testing.assert_allclose(plan_matrix(phi, n, plan), want, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(phi.T @ plan_pull(phi, n, plan), want, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_repaired_plans_have_the_marginals(seed):
    "Would break: columns before rows forgotten, or mass taken away instead of added"
    gen = np.random.default_rng(seed)
    n, m = gen.integers(1, 9, 2)
    plan = gen.exponential(size=(n, m)) ** 4
    for rough in (plan, plan / plan.sum(), plan / plan.sum() / 2, 0 * plan):
        fixed = repair_plan(rough)
        np.testing.assert_allclose(fixed.sum(1), 1 / n, rtol=1e-13)
        np.testing.assert_allclose(fixed.sum(0), 1 / m, rtol=1e-13)
        assert fixed.min() >= 0
    X, Y = clouds(seed, 7, 5)
    exact = exact_transport(X, Y).plan
    np.testing.assert_allclose(repair_plan(exact), exact, atol=1e-15)


@pytest.mark.parametrize("seed", range(5))
def test_a_plan_with_wrong_marginals_gives_no_false_bound(seed):
    "Would break: the safety without the marginals; half the mass, half the bound"
    X, Y = clouds(seed, 8, 8)
    phi = np.vstack([X, Y])
    circle = best_direction(X, Y)
    exact = exact_transport(X, Y).plan
    rough = sinkhorn(((X[:, None] - Y) ** 2).sum(-1), 0.05, max_iter=1, tol=0).plan
    for plan in (exact / 2, rough, 0 * exact):
        assert plan_bound(phi, 8, plan)[0] >= circle
        assert plan_bound(phi, 8, repair_plan(plan))[0] >= circle
    assert np.linalg.eigvalsh(plan_matrix(phi, 8, exact / 2))[-1] < circle


# --- against twins -------------------------------------------------------------------


def best_direction(X, Y, n_angles=4000):
    "The largest W over directions of the plane, by trying them"
    angles = np.linspace(0, np.pi, n_angles, endpoint=False)
    along = np.array([np.cos(angles), np.sin(angles)]).T
    return max(wasserstein(X @ a, Y @ a) for a in along)


def naive_dual(phi, n, directions):
    "min over plans of the largest of aᵀB(π)a over directions, as a linear program"
    m = len(phi) - n
    along = phi @ directions.T
    costs = (along[:n, None] - along[n:]) ** 2
    upper = np.c_[costs.reshape(n * m, -1).T, -np.ones(len(directions))]
    rows = np.c_[np.kron(np.eye(n), np.ones(m)), np.zeros(n)]
    cols = np.c_[np.kron(np.ones(n), np.eye(m)), np.zeros(m)]
    sides = np.r_[np.full(n, 1 / n), np.full(m, 1 / m)]
    last = np.eye(n * m + 1)[-1]
    zeros = np.zeros(len(directions))
    return linprog(last, upper, zeros, np.vstack([rows, cols]), sides).fun


@pytest.mark.parametrize("seed", range(8))
def test_relaxation_is_the_linear_program(seed):
    """The program is lower by at most the square of half a step between directions.
    Would break: a climb that stays at rank one, a bound of another plan"""
    gen = np.random.default_rng(seed)
    n, m = gen.integers(2, 9, 2)
    phi = gen.normal(size=(n + m, 2)) * [1.0, gen.uniform(0.3, 2)]
    angles = np.linspace(0, np.pi, 1000, endpoint=False)
    program = naive_dual(phi, n, np.array([np.cos(angles), np.sin(angles)]).T)
    solved = relax(phi, n)
    assert solved.value <= program * (1 + 1e-5)
    assert program * (1 - 1e-9) <= solved.bound <= program * (1 + 3e-3)
    np.testing.assert_allclose(np.linalg.norm(solved.S), 1)
    np.testing.assert_allclose(solved.plan.sum(1), 1 / n, rtol=1e-12)  # repaired
    np.testing.assert_allclose(solved.plan.sum(0), 1 / m, rtol=1e-12)
    F = phi @ solved.S
    np.testing.assert_allclose(solved.value, wasserstein(F[:n], F[n:]))


@pytest.mark.parametrize("seed", range(8))
def test_bound_holds_on_the_circle_and_is_attained_with_two_outputs(seed):
    "With P = I and as many outputs as features the distance is the relaxation"
    X, Y = clouds(seed, 7, 6, shift=0.3)
    common = dict(kernel="linear", rho=1.0, solver="exact", rng=0, n_starts=8)
    one = kpw_distance(X, Y, d=1, certificate=True, **common)
    two = kpw_distance(X, Y, d=2, certificate=True, **common)
    assert one.upper_bound >= best_direction(X, Y)
    assert two.upper_bound == pytest.approx(one.upper_bound, rel=3e-3)
    assert two.gap < 0.01


# --- over random problems ------------------------------------------------------------


def random_problem(seed):
    "Samples and options of every kind"
    gen = np.random.default_rng(seed)
    n, m = gen.integers(3, 13, 2)
    D, d = gen.integers(1, 4, 2)
    X = gen.normal(size=(n, D))
    Y = gen.normal(size=(m, D)) * gen.uniform(0.5, 2) + gen.choice([0, 0.5, 3])
    options = dict(
        kernel=gen.choice(["gaussian", "laplace", "matern", "linear", "polynomial"]),
        ridge=gen.choice([0.0, 0.1, 1.0]),
        d=int(d),
        solver=gen.choice(["bcd", "exact"]),
        rank=None if gen.random() < 0.8 else 2,
        rng=seed,
        max_iter=100,
    )
    options = {k: v.item() if hasattr(v, "item") else v for k, v in options.items()}
    if gen.random() < 0.5:
        root = gen.normal(size=(d, d))
        return X, Y, options | dict(P=root @ root.T + 0.01 * np.eye(d))
    return X, Y, options | dict(rho=gen.choice([0.0, 0.5, 1.0]).item())


def check_random_problem(seed):
    """The value found, and many others, are below the bound.
    Would break: no factor λ_max(P) or one too small, another norm, another Λ"""
    X, Y, options = random_problem(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        r = kpw_distance(X, Y, certificate=True, **options)
    assert r.value <= r.upper_bound, options
    assert r.gap == pytest.approx(r.upper_bound / r.value - 1)
    Z, gen = np.vstack([X, Y]), np.random.default_rng(seed)
    kernel = resolve_kernel(options["kernel"], "median", Z)
    phi = make_factor(kernel, Z, options["ridge"], options["rank"]).phi
    P = options.get("P")
    R = output_factor(output_matrix(options["d"], options.get("rho", 1.0)))
    R = R if P is None else output_factor(P)
    heavy = np.linalg.eigh(R.T @ R)[1][:, -1]
    for _ in range(10):
        S = gen.normal(size=(phi.shape[1], R.shape[1]))
        for start in (S, np.outer(S[:, 0], heavy)):
            W = plan_pull(phi @ start, len(X), np.full((len(X), len(Y)), 1.0))
            assert reached(phi, len(X), R, start) <= r.upper_bound
            assert reached(phi, len(X), R, phi.T @ W) <= r.upper_bound
    return r.gap


def test_nothing_is_above_the_bound():
    gaps = [check_random_problem(seed) for seed in range(100)]
    assert np.median(gaps) < 0.05  # a bound of infinity would hold, too


@pytest.mark.slow
def test_nothing_is_above_the_bound_in_500_problems():
    for seed in range(100, 500):
        check_random_problem(seed)


# --- where it is attained ------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "option",
    [
        dict(d=1, ridge=0.1),
        dict(d=2, ridge=0.1),
        dict(d=3, rho=1.0, ridge=0.1),
        dict(d=2, P=[[2.0, 0.5], [0.5, 1.0]], ridge=0.1),
        dict(d=1, kernel="linear"),
    ],
    ids=str,
)
def test_a_shift_is_certified(seed, option):
    "Would break: too much safety, a bound of the relaxation only, a wrong factor"
    X, Y = clouds(seed, shift=3.0)
    exact = dict(solver="exact", tol=1e-14, max_iter=2000, certificate=True)
    r = kpw_distance(X, Y, **exact, **option)
    assert 0 <= r.gap < 1e-6


@pytest.mark.parametrize("shift, spread", [(0.7, 1.0), (0.0, 2.0)])
@pytest.mark.parametrize("ridge", [0.1, 0.0])
@pytest.mark.parametrize("solver", ["bcd", "exact"])
def test_a_difference_is_certified_within_percents(shift, spread, ridge, solver):
    gen = np.random.default_rng(2)
    X, Y = gen.normal(size=(2, 60, 5))
    Y[:, :2] *= spread
    r = kpw_distance(X, Y + shift, d=1, ridge=ridge, solver=solver, certificate=True)
    # the entropy of "bcd" moves the maximum: its value is a little lower
    assert 0 <= r.gap < (0.05 if solver == "exact" else 0.08)


@pytest.mark.parametrize("seed", range(3))
def test_two_sides_meet_without_a_difference(seed):
    "The gap that stays open there is that of the rank, not of the solver"
    X, Y = clouds(seed, 60, 45, 4)
    Z = np.vstack([X, Y])
    for ridge in (0.0, 0.1):
        phi = make_factor(Gaussian(2.0), Z, ridge).phi
        solved = relax(phi, 60)
        assert 0 <= solved.bound / solved.value - 1 < 3e-3
        assert np.linalg.svd(solved.S)[1][1] ** 2 > 0.05


def test_factor_of_the_output_matrix():
    X, Y = clouds(0, shift=1.0)
    phi, S = np.vstack([X, Y]), np.ones((2, 2)) / 2
    solved = relax(phi, len(X))
    plain = upper_bound(phi, len(X), np.eye(2), S, solved)
    P = np.array([[2.0, 0.7], [0.7, 0.5]])
    heavy = upper_bound(phi, len(X), output_factor(P), S, solved)
    assert heavy / plain == pytest.approx(np.linalg.eigvalsh(P)[-1], rel=1e-9)


# --- the start -----------------------------------------------------------------------


def test_the_start_leaves_a_poor_maximum():
    "Two humps: the witness is noise, and the search from it is stuck"
    gen = np.random.default_rng(0)
    X, Y = gen.normal(size=(2, 80, 6))
    Y[:, 0] += np.where(gen.random(80) < 0.5, 2, -2)
    phi = make_factor(resolve_kernel("gaussian", "median", np.r_[X, Y]), np.r_[X, Y])
    common = dict(d=1, solver="exact")
    alone = kpw_distance(X, Y, ridge=0.1, **common)
    r = kpw_distance(X, Y, ridge=0.1, certificate=True, **common)
    assert r.value > 1.5 * alone.value and r.gap < 0.05
    assert len(r.start_values) == 2 and r.start_values[0] == alone.transport_cost
    phi, R = phi.phi, np.eye(2)
    W = rounded_weights(phi, 80, R, relax(phi, 80))
    assert W.shape == (160, 2)
    rise = exact_ascent(phi, R, 80, W, 50, 1e-6).transport.value
    assert rise >= reached(phi, 80, R, phi.T @ W) * (1 - 1e-12)


# --- the option ----------------------------------------------------------------------


def test_without_the_option_there_is_nothing():
    X, Y = clouds(0)
    r = kpw_distance(X, Y)
    assert r.upper_bound is None and r.gap is None
    assert "upper_bound" not in r.summary() and "gap" not in r._repr_html_()
    sure = kpw_distance(X, Y, certificate=True)
    assert "upper_bound" in sure.summary() and "gap" in sure._repr_html_()
    again = pickle.loads(pickle.dumps(sure))
    assert again.upper_bound == sure.upper_bound and again.gap == sure.gap
    assert sure.upper_bound == kpw_distance(X, Y, certificate=True).upper_bound


def test_what_cannot_be_meant_is_refused(monkeypatch):
    X, Y = clouds(0)
    for wrong in (10, "yes", None):
        with pytest.raises(TypeError, match="certificate must be True or False"):
            kpw_distance(X, Y, certificate=wrong)
    monkeypatch.setattr("kpw_nb.theory.distance._MOST_EXACT", 12 * 9 - 1)
    with pytest.raises(ValueError, match="12 x 9; pass fewer rows"):
        kpw_distance(X, Y, certificate=True)
    assert kpw_distance(X, Y).value > 0


def test_samples_may_be_swapped_and_kernels_precomputed():
    X, Y = clouds(0, shift=0.5)
    r = kpw_distance(X, Y, bandwidth=1.5, certificate=True)
    swapped = kpw_distance(Y, X, bandwidth=1.5, certificate=True)
    assert swapped.upper_bound == pytest.approx(r.upper_bound, rel=2e-3)
    K = Gaussian(1.5)(np.r_[X, Y], np.r_[X, Y])
    rows = kpw_distance(K[:12], K[12:], kernel="precomputed", certificate=True)
    assert rows.upper_bound == pytest.approx(r.upper_bound, rel=2e-3)


@pytest.mark.parametrize("size", [1e-100, 1e80])
def test_units_do_not_matter(size):
    X, Y = clouds(0, shift=0.5)
    plain = kpw_distance(X, Y, kernel="linear", certificate=True)
    r = kpw_distance(size * X, size * Y, kernel="linear", certificate=True)
    assert r.upper_bound / size**2 == pytest.approx(plain.upper_bound, rel=2e-3)
    assert r.value <= r.upper_bound
    wide = kpw_distance(X, Y, P=np.diag([size] * 2), d=2, certificate=True)
    plain = kpw_distance(X, Y, P=np.eye(2), d=2, certificate=True)
    assert wide.upper_bound / size == pytest.approx(plain.upper_bound, rel=2e-3)


@pytest.mark.parametrize("solver", ["bcd", "exact"])
@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
def test_odd_samples(kernel, solver):
    X, Y = clouds(0)
    steps = np.arange(4.0)[:, None]
    for A, B in (
        (X, X),
        (X, X[::-1]),
        (np.round(X), np.round(Y)),
        (X > 0, Y > 0),
        (steps[:2], steps[2:]),
        (np.zeros((5, 2)), np.eye(7)[:, :2]),
        (X * 10.0 ** np.arange(12)[:, None], Y),
    ):
        r = kpw_distance(A, B, kernel=kernel, solver=solver, certificate=True)
        assert np.isfinite(r.value) and r.value <= r.upper_bound
    same = kpw_distance(X, X, kernel=kernel, solver=solver, certificate=True)
    assert same.upper_bound < 1e-10
