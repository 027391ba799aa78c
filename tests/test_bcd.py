"""The installed `kpw_nb.theory.bcd` against the paper's block matrices, finite
differences and the lemmas of its theorem."""

import math
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import naive_A, naive_cost, naive_G, naive_plan, naive_U, naive_V
from scipy.special import logsumexp

import kpw_nb.theory.bcd as module
import kpw_nb.ground.core
import kpw_nb.theory.transport
from kpw_nb.theory.bcd import (
    HISTORY,
    Problem as Setting,
    Start,
    coefficients,
    descend,
    descent,
    plan_laplacian,
    update_columns,
    update_rows,
    witness_start,
)
from kpw_nb.theory.descent import theory_step
from kpw_nb.theory.ends import exact_ascent, sparse_laplacian
from kpw_nb.ground.core import kernel
from kpw_nb.theory.kernels import Gaussian, output_factor, output_matrix
from kpw_nb.theory.representer import make_features
from kpw_nb.theory.transport import exact_transport, wasserstein

NONE = np.empty((0, 0))  # instead of H: go through the factor
SHAPES = [(5, 7, 1), (6, 4, 2), (4, 4, 3), (3, 6, 4)]
RHOS = [0.0, 0.5, 1.0]


def prop(**strategies):
    "A property with this file's settings; a profile would change other files' too"
    return lambda f: settings(max_examples=25, deadline=None, derandomize=True)(
        given(**strategies)(f)
    )


class Problem:
    "Two small clouds, their features and a start"

    def __init__(self, seed, n, m, d, rho, rank=None):
        gen = np.random.default_rng(seed)
        self.n = n
        self.m = m
        self.d = d
        self.rho = rho
        self.X, self.Y = gen.normal(size=(n, 3)), 1.7 * gen.normal(size=(m, 3))
        self.Z = np.vstack([self.X, self.Y])
        self.kernel = Gaussian(1.5)
        self.P = output_matrix(d, rho)
        self.R = output_factor(self.P)
        self.features = make_features(self.kernel, self.Z, rank=rank)
        self.phi, self.H = self.features.phi, self.features.H
        self.S = gen.normal(size=(self.phi.shape[1], self.R.shape[1]))
        self.S /= np.linalg.norm(self.S)
        self.W = coefficients(self.phi, self.S)
        self.u = 0.3 * gen.normal(size=n)
        self.v = 0.3 * gen.normal(size=m)

    def project(self, S=None):
        return self.phi @ (self.S if S is None else S) @ self.R.T

    def blocks(self):
        "The paper's A and U"
        parts = self.kernel, self.X, self.Y, self.P
        return naive_A(*parts), naive_U(naive_G(*parts))

    def omega(self, S):
        "The paper's signed coefficients of the projector S, stacked"
        signs = np.r_[np.ones(self.n), -np.ones(self.m)]
        return (
            signs[:, None] * (self.features.dual @ S @ np.linalg.pinv(self.R))
        ).ravel()


def run(p, eta, tau=0.0, max_iter=25, tol=0.0, factor=False, hold=True, start=None):
    "`descend` from the start of a problem, or from another one"
    setting = Setting(p.phi, NONE if factor else p.H, p.R, p.n, eta, tau)
    start = Start(p.W, np.zeros(p.m), 0.0) if start is None else start
    return descent(setting, start, max_iter, tol, hold)


def costs(F, n):
    return ((F[:n, None] - F[None, n:]) ** 2).sum(-1)


def F_of(u, v, c, eta):
    return np.exp(-c / eta + u[:, None] + v).sum() - u.mean() - v.mean()


def laplacian(plan):
    return np.block([[np.diag(plan.sum(1)), -plan], [-plan.T, np.diag(plan.sum(0))]])


class Sweep(NamedTuple):
    "After one turn of u and v"

    u: np.ndarray
    v: np.ndarray
    plan: np.ndarray
    M: np.ndarray
    error: float


class Dense(NamedTuple):
    "What `dense_bcd` returns"

    S: np.ndarray
    u: np.ndarray
    v: np.ndarray
    plan: np.ndarray
    rows: np.ndarray


def dense_bcd(p, eta, tau, iterations):
    "Algorithm 2 in S, dense, nothing fused; rows of (F, cost, gradient, error)"
    S = p.S
    u = np.zeros(p.n)
    v = np.zeros(p.m)
    rows = []
    for k in range(iterations):
        E = np.exp(-costs(p.project(S), p.n) / eta)
        u = np.log(1 / p.n) - np.log((E * np.exp(v)).sum(1))
        plan = E * np.exp(u[:, None] + v)
        error = np.abs(plan.sum(0) - 1 / p.m).sum()
        v = v + np.log(1 / p.m) - np.log(plan.sum(0))
        plan = E * np.exp(u[:, None] + v)
        zeta = -2 / eta * p.phi.T @ laplacian(plan) @ p.project(S) @ p.R
        xi = zeta - (S * zeta).sum() * S
        rows.append(
            (
                F_of(u, v, costs(p.project(S), p.n), eta),
                (plan * costs(p.project(S), p.n)).sum(),
                np.linalg.norm(xi),
                error,
            )
        )
        if k < iterations - 1:
            S = (S - tau * xi) / np.linalg.norm(S - tau * xi)
    return Dense(S, u, v, plan, np.array(rows))


def sweep(
    p,
    F,
    eta,
    u=None,
    v=None,
    rows=update_rows,
    cols=update_columns,
    lap=plan_laplacian,
    hold=True,
):
    "One u- and v-update and Λ(π)F by the package"
    u, v = (p.u if u is None else u).copy(), (p.v if v is None else v).copy()
    plan, columns = np.empty((p.n if hold else 1, p.m)), np.empty(p.m)
    rows(F, p.n, u, v, 1 / eta, plan, columns)
    error = cols(F, p.n, u, v, 1 / eta, plan, columns)
    M = lap(F, p.n, u, v, 1 / eta, plan, columns)
    return Sweep(u, v, plan * columns, M, error)


# --- the block matrices --------------------------------------------------------------


@pytest.mark.parametrize("n, m, d", SHAPES)
@pytest.mark.parametrize("rho", RHOS)
def test_kernels_agree_with_the_block_matrices(n, m, d, rho):
    p, eta = Problem(1, n, m, d, rho), 0.4
    A, omega = naive_A(p.kernel, p.X, p.Y, p.P), p.omega(p.S)
    c = naive_cost(A, np.eye(len(omega)), omega)
    np.testing.assert_allclose(costs(p.project(), n), c, atol=1e-10)
    u = p.u + np.log((1 / n) / np.exp(-c / eta + p.u[:, None] + p.v).sum(1))
    before = np.exp(-c / eta + u[:, None] + p.v)
    v = p.v + np.log((1 / m) / before.sum(0))
    plan = np.exp(-c / eta + u[:, None] + v)
    fast = sweep(p, p.project(), eta)
    for got, want in zip(
        fast,
        (
            u,
            v,
            plan,
            laplacian(plan) @ p.project(),
            np.abs(before.sum(0) - 1 / m).sum(),
        ),
        strict=True,
    ):
        np.testing.assert_allclose(got, want, atol=1e-10)
    zeta = (-2 / eta * naive_V(plan, A) @ omega).reshape(
        n + m, d
    )  # in the coefficients; the chain rule leads to S
    signs = np.r_[np.ones(n), -np.ones(m)][:, None]
    np.testing.assert_allclose(
        -2 / eta * p.phi.T @ fast[3] @ p.R,
        p.features.dual.T @ (signs * zeta) @ np.linalg.pinv(p.R).T,
        atol=1e-8,
    )


@pytest.mark.parametrize("n, m, d", SHAPES)
@pytest.mark.parametrize("rho", [0.5, 1.0])
def test_run_is_the_literal_algorithm(n, m, d, rho):
    p, eta = Problem(2, n, m, d, rho), 0.3
    A, U = p.blocks()
    tau, _ = theory_step(p.phi, p.R, n, eta)
    history = run(p, eta, tau).history
    s, u, v = np.linalg.solve(U, p.omega(p.S)), np.zeros(n), np.zeros(m)
    assert np.linalg.norm(s) == pytest.approx(1, abs=1e-9)
    for row in history:
        u = u + np.log((1 / n) / naive_plan(u, v, s, A, U, eta).sum(1))
        v = v + np.log((1 / m) / naive_plan(u, v, s, A, U, eta).sum(0))
        plan = naive_plan(u, v, s, A, U, eta)
        zeta = -2 / eta * (U.T @ naive_V(plan, A) @ U @ s)
        xi = zeta - (s @ zeta) * s
        objective = plan.sum() - u.mean() - v.mean()
        assert row[0] == pytest.approx(objective, abs=1e-10)
        cost = (plan * naive_cost(A, U, s)).sum()
        assert row[1] == pytest.approx(cost, abs=1e-10)
        assert row[2] == pytest.approx(np.linalg.norm(xi), rel=1e-6, abs=1e-7)
        s = (s - tau * xi) / np.linalg.norm(s - tau * xi)


@pytest.mark.parametrize("n, m, d", SHAPES)
@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("rank", [None, 3])
@pytest.mark.parametrize("factor", [False, True])
def test_run_agrees_with_dense_matrices(n, m, d, rho, rank, factor):
    p, eta = Problem(3, n, m, d, rho, rank), 0.3
    assert p.R.shape == (d, 1 if rho == 0 else d)
    tau = 3 * theory_step(p.phi, p.R, n, eta)[0]
    r = run(p, eta, tau, 20, factor=factor)
    dense = dense_bcd(p, eta, tau, 20)
    rows = dense.rows
    np.testing.assert_allclose(p.phi.T @ r.W, dense.S, atol=1e-10)
    np.testing.assert_allclose(r.F, p.project(dense.S), atol=1e-10)
    for got, want in (
        (r.u, dense.u),
        (r.v, dense.v),
        (r.plan, dense.plan),
        (r.history[:, [0, 1, 4]], rows[:, [0, 1, 3]]),
    ):
        np.testing.assert_allclose(got, want, atol=1e-10)
    np.testing.assert_allclose(r.history[:, 2], rows[:, 2], rtol=1e-6, atol=1e-7)
    assert r.history.shape == (20, len(HISTORY)) and not r.converged
    assert r.objective == r.history[-1, 0]
    np.testing.assert_allclose(r.history[:, 5], tau, rtol=1e-12)


@pytest.mark.parametrize("n, m, d", SHAPES)
@pytest.mark.parametrize("rho", [0.5, 1.0])
def test_step_of_the_theorem(n, m, d, rho):
    p, eta = Problem(4, n, m, d, rho), 0.2
    A, U = p.blocks()
    b = max(np.linalg.norm(A[i, j] @ U, 2) ** 2 for i in range(n) for j in range(m))
    tau, bound = theory_step(p.phi, p.R, n, eta)
    assert bound == pytest.approx(b, rel=1e-8)
    assert tau == pytest.approx(
        1 / (4 * b * 0.5 / eta + 2 * b / eta + 4 * b * b / eta**2), rel=1e-8
    )


# --- properties ----------------------------------------------------------------------


@prop(
    seed=st.integers(0, 2**31),
    n=st.integers(1, 9),
    m=st.integers(1, 9),
    d=st.integers(1, 4),
    log_eta=st.floats(-4, 3),
)
def test_updates_meet_the_marginals(seed, n, m, d, log_eta):
    p, gen = Problem(seed, n, m, d, 1.0), np.random.default_rng(seed)
    F, eta = gen.normal(size=(n + m, d)), 10.0**log_eta
    plan = np.empty((n, m))
    columns = np.empty(m)
    u = p.u.copy()
    v = p.v.copy()
    update_rows(F, n, u, v, 1 / eta, plan, columns)
    np.testing.assert_allclose(plan.sum(1), 1 / n, rtol=1e-12)
    np.testing.assert_allclose(columns, plan.sum(0), rtol=1e-12)
    error = np.abs(columns - 1 / m).sum()
    assert update_columns(F, n, u, v, 1 / eta, plan, columns) == pytest.approx(
        error, abs=1e-14
    )
    M = plan_laplacian(F, n, u, v, 1 / eta, plan, columns)
    plan *= columns
    np.testing.assert_allclose(plan.sum(0), 1 / m, rtol=1e-12)
    np.testing.assert_allclose(M, laplacian(plan) @ F, atol=1e-12)
    exponent = u[:, None] + v - costs(F, n) / eta
    np.testing.assert_allclose(
        plan,
        np.exp(exponent),
        rtol=1e-9 * max(1, np.abs(costs(F, n) / eta).max() * 1e-5),
        atol=1e-100,
    )


@pytest.mark.parametrize("near", [1.0, 100.0, 228.0, 345.0, 600.0, 3000.0])
def test_a_far_point_gets_its_exact_potential(near):
    "Its column underflows; what exp cuts off must not be taken for the column sum"
    F = np.sqrt([[0.0], [1e-6], [near], [near + 5000.0]])
    u = np.zeros(2)
    v = np.zeros(2)
    plan = np.empty((2, 2))
    columns = np.empty(2)
    update_rows(F, 2, u, v, 1.0, plan, columns)
    update_columns(F, 2, u, v, 1.0, plan, columns)
    np.testing.assert_allclose(
        logsumexp(u[:, None] + v - costs(F, 2), axis=0), -np.log(2), atol=1e-10
    )
    np.testing.assert_allclose((plan * columns).sum(0), 0.5, rtol=1e-12)


@prop(
    seed=st.integers(0, 2**31),
    n=st.integers(2, 7),
    m=st.integers(2, 7),
    d=st.integers(1, 4),
    rho=st.sampled_from(RHOS),
    eta=st.sampled_from([0.1, 0.5, 3.0]),
)
def test_gradient_is_the_derivative(seed, n, m, d, rho, eta):
    p = Problem(seed, n, m, d, rho)
    after = sweep(p, p.project(), eta)
    u, v = after.u, after.v
    gradient, h = -2 / eta * p.phi.T @ after.M @ p.R, 1e-5

    def f(S):
        return F_of(u, v, costs(p.project(S), n), eta)

    numeric = np.array(
        [
            (f(p.S + h * e) - f(p.S - h * e)) / (2 * h)
            for e in np.eye(p.S.size).reshape(-1, *p.S.shape)
        ]
    )
    np.testing.assert_allclose(
        gradient.ravel(), numeric, atol=1e-6 * max(1, np.abs(gradient).max())
    )
    record = run(p, eta, max_iter=1, start=Start(p.W, v, 0.0))
    u, v = record.u, record.v
    numeric = np.array(
        [
            (f(p.S + h * e) - f(p.S - h * e)) / (2 * h)
            for e in np.eye(p.S.size).reshape(-1, *p.S.shape)
        ]
    )
    tangent = numeric - (numeric @ p.S.ravel()) * p.S.ravel()
    assert record.history[0, 2] == pytest.approx(
        np.linalg.norm(tangent), rel=1e-5, abs=1e-6 * max(1, np.abs(gradient).max())
    )


@prop(
    seed=st.integers(0, 2**31),
    n=st.integers(1, 7),
    m=st.integers(1, 7),
    d=st.integers(1, 4),
    eta=st.sampled_from([1e-6, 0.01, 0.5, 3.0]),
)
def test_nothing_changes_without_a_plan_in_memory(seed, n, m, d, eta):
    p = Problem(seed, n, m, d, 0.5)
    held, streamed = (sweep(p, p.project(), eta, hold=hold) for hold in (True, False))
    assert streamed[2].shape == (1, m)
    for k in (0, 1, 3, 4):
        np.testing.assert_allclose(streamed[k], held[k], rtol=1e-7, atol=1e-9)
    if eta < 0.01:
        return  # a run doubles rounding errors where nearly all of the plan is 0
    held, streamed = (
        run(p, eta, max_iter=8, factor=True, hold=hold).history[:, :2]
        for hold in (True, False)
    )
    np.testing.assert_allclose(streamed, held, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("decade", range(-6, 3))
@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("rank", [None, 3])
def test_adaptive_run_never_rises(decade, rho, rank):
    for seed, (n, m, d) in enumerate(SHAPES):
        p = Problem(seed, n, m, d, rho, rank)
        r = run(p, 10.0**decade, max_iter=150, factor=rank is not None)
        h = r.history
        assert np.diff(h[:, 0]).max() <= 1e-12 * max(1, np.abs(h[:, 0]).max())
        assert len(h) == 150
        assert np.linalg.norm(p.phi.T @ r.W) == pytest.approx(1, abs=1e-8)
        np.testing.assert_allclose(r.F, p.project(p.phi.T @ r.W), atol=1e-8)
        np.testing.assert_allclose(r.plan.sum(0), 1 / m, rtol=1e-10)
        assert h[-1, 1] == pytest.approx((r.plan * costs(r.F, n)).sum(), rel=1e-9)


@prop(
    seed=st.integers(0, 2**31),
    n=st.integers(2, 7),
    m=st.integers(2, 7),
    d=st.integers(1, 3),
    rho=st.sampled_from(RHOS),
    eta=st.sampled_from([0.02, 0.1, 1.0, 10.0]),
)
def test_every_block_falls_as_far_as_its_lemma_says(seed, n, m, d, rho, eta):
    p = Problem(seed, n, m, d, rho)
    tau, _ = theory_step(p.phi, p.R, n, eta)
    S, u, v = p.S, np.zeros(n), p.v
    for t in range(12):
        F, c = p.project(S), costs(p.project(S), n)
        F0, row_sums = F_of(u, v, c, eta), np.exp(-c / eta + u[:, None] + v).sum(1)
        after = sweep(p, F, eta, u, v)
        u1, v1, error = after.u, after.v, after.error
        F1, F2 = F_of(u1, v, c, eta), F_of(u1, v1, c, eta)
        zeta = -2 / eta * p.phi.T @ after.M @ p.R
        xi = zeta - (S * zeta).sum() * S
        S1 = (S - tau * xi) / np.linalg.norm(S - tau * xi)
        F3 = F_of(u1, v1, costs(p.project(S1), n), eta)
        small = 1e-13 * max(1, abs(F0))
        if t:
            assert row_sums.sum() <= 1 + 1e-12  # what the u-lemma needs
            assert F0 - F1 >= np.abs(1 / n - row_sums).sum() ** 2 / 2 - small
        assert F1 - F2 >= error**2 / 2 - small
        assert F2 - F3 >= tau / 2 * (xi**2).sum() - small
        S, u, v = S1, u1, v1


def test_history_falls_by_the_sum_of_the_lemmas():
    p, eta = Problem(5, 6, 8, 2, 0.5), 0.1
    tau, _ = theory_step(p.phi, p.R, p.n, eta)
    h = run(p, eta, tau, 400).history
    assert (
        -np.diff(h[:, 0]) >= tau / 2 * h[:-1, 2] ** 2 + h[1:, 4] ** 2 / 2 - 1e-13
    ).all()


@pytest.mark.parametrize("eta", [0.02, 0.2, 2.0])
def test_stops_at_a_stationary_point_and_stays(eta):
    p = Problem(6, 6, 8, 3, 0.5)
    r = run(p, eta, max_iter=20_000, tol=1e-6)
    h = r.history
    assert r.converged and h[-1, 3:5].max() <= 1e-6
    assert (h[:-1, 3:5].max(1) > 1e-6).all()
    again = run(p, eta, max_iter=5, tol=1e-6, start=Start(r.W, r.v, r.step))
    assert again.converged and again.objective <= r.objective + 1e-12


def test_inputs_are_not_changed():
    p = Problem(7, 5, 6, 2, 0.5)
    arrays = dict(phi=p.phi, H=p.H, R=p.R, W=p.W, v=p.v)
    before = {k: a.copy() for k, a in arrays.items()}
    run(p, 0.2, max_iter=10, start=Start(p.W, p.v, 0.0))
    exact_ascent(p.phi, p.R, p.n, p.W, 5, 0.0)
    for k, a in arrays.items():
        np.testing.assert_array_equal(a, before[k])


# --- without numba -------------------------------------------------------------------


def view(before, after, x):
    "A number with the same bits"
    return before(x).view(after)


@kernel
def compiled_descent(problem, start, max_iter, tol, hold):
    "`descend` where a kernel calls it"
    d = descend(problem, start, max_iter, tol, hold)
    return d.W, d.v, d.step, d.F, d.u, d.plan, d.history, d.objective, d.converged


@pytest.mark.parametrize("eta", [0.5, 1e-4])
@pytest.mark.parametrize("factor, hold", [(False, True), (True, False)])
def test_within_a_kernel_it_is_the_same(eta, factor, hold):
    p = Problem(8, 5, 4, 3, 0.5)
    setting = Setting(p.phi, NONE if factor else p.H, p.R, p.n, eta, 0.0)
    args = setting, Start(p.W, np.zeros(p.m), 0.0), 6, 0.0, hold
    for k, (got, want) in enumerate(zip(compiled_descent(*args), descent(*args))):
        if hold or k != 5:  # one row of the plan is no result
            np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-9)


@pytest.fixture
def interpreted(monkeypatch):
    "Every kernel of the module as the plain Python function it was written as"
    bits = {"_bits_of": (np.float64, np.int64), "_float_of": (np.int64, np.float64)}
    for name, (before, after) in bits.items():
        cast = partial(view, before, after)
        monkeypatch.setattr(kpw_nb.ground.core, name, cast)
    for owner in (kpw_nb.ground.core, kpw_nb.theory.transport, module):
        for name, f in list(vars(owner).items()):
            if hasattr(f, "py_func"):
                monkeypatch.setattr(owner, name, f.py_func)
    return module


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("eta", [0.5, 1e-4])
@pytest.mark.parametrize("tau", [0.0, 0.01])
@pytest.mark.parametrize("factor", [False, True])
def test_compiled_and_interpreted_agree(request, eta, tau, factor):
    p = Problem(8, 4, 3, 2, 0.5)
    setting = Setting(p.phi, NONE if factor else p.H, p.R, p.n, eta, tau * eta**2)
    args = setting, Start(p.W, np.zeros(p.m), 0.0), 4, 0.0, True
    fast = compiled_descent(*args)  # before its parts are replaced
    interpreted = request.getfixturevalue("interpreted")
    with np.errstate(all="ignore"):
        slow = interpreted.descend(*args)
    for got, want in zip(slow, fast, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-9)


# --- exact ---------------------------------------------------------------------------


@prop(
    seed=st.integers(0, 2**31),
    n=st.integers(2, 8),
    m=st.integers(2, 8),
    d=st.integers(1, 3),
    rho=st.sampled_from(RHOS),
    max_iter=st.sampled_from([1, 2, 5, 30]),
)
def test_exact_ascent_never_lowers_W(seed, n, m, d, rho, max_iter):
    p = Problem(seed, n, m, d, rho)
    r = exact_ascent(p.phi, p.R, n, p.W, max_iter, 0.0)
    values, plan = r.history[:, 1], r.transport
    first = wasserstein(*np.split(p.project(), [n]))
    assert values[0] == pytest.approx(first, rel=1e-9)
    assert np.diff(values).min(initial=0) >= -1e-12
    assert len(values) == max_iter or r.converged
    last = wasserstein(r.F[:n], r.F[n:])
    assert values[-1] == pytest.approx(plan.value, rel=1e-9)
    assert values[-1] == pytest.approx(last, rel=1e-9)
    assert np.linalg.norm(p.phi.T @ r.W) == pytest.approx(1, abs=1e-8)
    np.testing.assert_allclose(p.project(p.phi.T @ r.W), r.F, atol=1e-8)
    M = sparse_laplacian(r.F, n, plan)
    np.testing.assert_allclose(M, laplacian(plan.plan) @ r.F, atol=1e-12)


def test_exact_ascent_stops_by_tolerance():
    p = Problem(9, 8, 8, 2, 0.5)
    loose, tight = (
        exact_ascent(p.phi, p.R, p.n, p.W, 500, tol) for tol in (1e-2, 1e-8)
    )
    assert loose.converged and tight.converged
    assert len(loose.history) < len(tight.history)
    assert tight.transport.value >= loose.transport.value
    exact = exact_transport(tight.F[:8], tight.F[8:]).value
    assert tight.transport.value == pytest.approx(exact, rel=1e-12)
    assert math.isfinite(tight.history[-1, 3])


def test_a_long_step_does_not_blow_up_the_norm():
    """Rounding in ‖S‖ grows by |1 - 2t⟨S, g⟩| an iteration unless it is taken out:
    100 long steps must stay on the sphere."""
    p, eta = Problem(3, 12, 9, 2, 0.5), 0.5
    value = run(p, eta, max_iter=30, factor=True).history[-1, 1]
    tau = 0.5 * eta * 4 / value  # t⟨S, g⟩ = 4
    r = run(p, eta, tau, 100, factor=True)
    assert np.isfinite(r.history).all() and r.history[:, 1].max() < 100 * value
    norm = (r.W * (p.phi @ (p.phi.T @ r.W))).sum()
    assert norm == pytest.approx(1, abs=1e-12)


def test_parts_of_W_that_the_features_do_not_see_stay_small():
    """A long run with few features: without a cap on the step these parts grow in
    every turn until nothing else is left."""
    p = Problem(5, 30, 25, 1, 1.0, rank=3)
    r = run(p, 0.01, max_iter=800, factor=True)
    assert np.isfinite(r.history).all() and (np.diff(r.history[:, 0]) < 1e-9).all()
    assert np.abs(r.W).max() < 1e3 * np.abs(p.W).max()
    want = p.phi @ (p.phi.T @ r.W) @ p.R.T
    np.testing.assert_allclose(r.F, want, rtol=1e-8, atol=1e-10)


# --- every run ends ------------------------------------------------------------------


@pytest.mark.parametrize("tau", [0.0, 1e-3])
@pytest.mark.parametrize("times", [0.0, np.nan, np.inf, 1e200, 1e-200])
@pytest.mark.parametrize("factor", [False, True])
def test_any_start_ends(tau, times, factor):
    "It looped for ever in compiled code where NaN appeared"
    p = Problem(6, 6, 8, 2, 0.5)
    start = Start(times * p.W, np.zeros(p.m), 0.0)
    r = run(p, 0.2, tau, 40, factor=factor, start=start)
    assert len(r.history) <= 40
    if times == 0.0:
        assert np.isfinite(r.history).all() and not r.W.any()
    if np.isnan(times):
        assert len(r.history) == 1 and np.isnan(r.objective)


@pytest.mark.parametrize("scale", [1e100, 1e200, np.nan])
def test_features_without_squares_end(scale):
    p = Problem(6, 6, 8, 2, 0.5)
    setting = Setting(scale * p.phi, NONE, p.R, p.n, 0.2, 0.0)
    r = descent(setting, Start(p.W, np.zeros(p.m), 0.0), 40, 0.0, True)
    assert len(r.history) <= 40


@pytest.mark.parametrize("bad", [np.nan, 1e200])
def test_exact_ascent_ends(bad):
    p = Problem(6, 6, 8, 2, 0.5)
    try:
        r = exact_ascent(bad * p.phi, p.R, p.n, p.W, 20, 0.0)
    except ValueError as e:
        assert "NaN" in str(e)
    else:
        assert len(r.history) <= 20


# --- the start -----------------------------------------------------------------------


@prop(
    seed=st.integers(0, 2**31),
    n=st.integers(1, 7),
    m=st.integers(1, 7),
    r=st.integers(1, 5),
    q=st.integers(1, 4),
)
def test_witness_start(seed, n, m, r, q):
    gen = np.random.default_rng(seed)
    phi, directions = gen.normal(size=(n + m, r)), np.eye(r)[:, : min(q, r)].copy()
    S = witness_start(phi, directions, n, q)
    assert S.shape == (r, q) and np.linalg.norm(S) == pytest.approx(1)
    witness = phi[:n].mean(0) - phi[n:].mean(0)
    cosine = S[:, 0] @ witness / np.linalg.norm(S[:, 0]) / np.linalg.norm(witness)
    assert cosine == pytest.approx(1)
    for k in range(min(q - 1, directions.shape[1])):
        ratio = 0.1 * np.linalg.norm(S[:, 0])
        np.testing.assert_allclose(S[:, 1 + k], ratio * directions[:, k], atol=1e-12)


def test_without_a_witness_the_start_is_blind_to_the_labels():
    gen = np.random.default_rng(0)
    phi, directions = gen.normal(size=(8, 3)), np.eye(3)[:, :2].copy()
    balanced = np.vstack([phi, phi[gen.permutation(8)]])
    for rows in (balanced, np.full((6, 3), np.nan)):
        S = witness_start(rows, directions, len(rows) // 2, 1)
        np.testing.assert_allclose(S[:, 0], directions[:, 0], atol=1e-12)


# --- the theorem ---------------------------------------------------------------------


def random_state(seed, x):
    "Costs (L_ij s)² with b/η = x and η = 1, and u, v, s just after a v-update"
    gen = np.random.default_rng(seed)
    n, m, r = gen.integers(1, 5), gen.integers(1, 5), gen.integers(2, 6)
    L = gen.normal(size=(n, m, r)) * 10 ** gen.uniform(-2, 0) + gen.normal(size=r)
    L *= math.sqrt(x / (L**2).sum(-1).max())
    s = gen.normal(size=r)
    s /= np.linalg.norm(s)
    c, v = (L @ s) ** 2, 3 * gen.normal(size=m)
    u = -np.log(n) - logsumexp(v - c, axis=1)
    return L, u, -np.log(m) - logsumexp(u[:, None] - c, axis=0), s


def s_step(state, tau):
    "The fall of F over τ‖ξ‖², and the largest mass on the chord"
    L, u = state[:2]
    v, s = state[2:]

    def plan(s):
        return np.exp(u[:, None] + v - (L @ s) ** 2)

    zeta = -2 * np.einsum("ij,ij,ijk->k", plan(s), L @ s, L)
    xi = zeta - (s @ zeta) * s
    new = (s - tau * xi) / np.linalg.norm(s - tau * xi)
    mass = [plan(s + lam * (new - s)).sum() for lam in np.linspace(0, 1, 9)]
    return (1 - mass[-1]) / (tau * (xi @ xi)), max(mass)


@pytest.mark.parametrize("log_x", range(-2, 4))
def test_the_s_lemma_holds_as_printed_and_for_the_longer_step(log_x):
    "No factor is lost, and none is left: ten times the step breaks it"
    x = 10.0**log_x
    longest = 1 / (2 * x + 4 * x**2)
    states = [random_state(seed, x) for seed in range(150)]
    for tau in (longest, 1 / (4 * x + 4 * x**2), longest / 7):
        gains, mass = np.array([s_step(state, tau) for state in states]).T
        assert (gains >= 1 - tau * (x + 2 * x**2) - 1e-6).all()
        assert gains.max() < 1.5 and mass.max() <= 1 + 1e-9
    assert min(s_step(state, 10 * longest)[0] for state in states) < 0.5


@pytest.mark.parametrize("eta", [1.0, 0.1, 0.02])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_adaptive_step_keeps_its_proposition(shape, eta):
    p = Problem(10, *shape, 0.5)
    h = run(p, eta, max_iter=80, tol=1e-5).history
    F, value, size = h[:, :3].T
    error, steps = h[:, 4], h[:, 5]
    taken = steps[1:] / 1.2
    x = theory_step(p.phi, p.R, p.n, eta)[1] / eta
    safe = 1 / (2 * x + 4 * x**2)
    first = np.r_[eta / (2 * value[0]), steps[1:-1]]
    tried = np.minimum(first, 0.95 * eta / value[:-1])
    halvings = np.log2(tried / taken)
    np.testing.assert_allclose(halvings, np.round(halvings), atol=1e-6)
    most = len(taken) * math.log2(1.2) + math.log2(2 * tried[0] / safe)
    assert taken.min() >= safe / 2 and halvings.sum() <= most + 1e-6
    promised = 1e-4 * taken * size[:-1] ** 2 + error[1:] ** 2 / 2
    assert (-np.diff(F) >= promised - 1e-13).all()


@pytest.mark.parametrize("eta", [1.0, 0.1])
@pytest.mark.parametrize("eps1, share", [(1.0, 0.1), (0.3, 0.01)])
def test_the_theorem_counts_the_turns(eta, eps1, share):
    "From v = 0; and what is returned is as good as promised"
    p = Problem(11, 5, 6, 2, 0.5)
    tau, b = theory_step(p.phi, p.R, p.n, eta)
    mean = p.phi.T @ laplacian(np.full((5, 6), 1 / 30)) @ p.phi
    mean_cost = np.linalg.eigvalsh(p.P)[-1] * np.linalg.eigvalsh(mean)[-1]
    most = 2 * mean_cost / eta * max(1 / (tau * eps1**2), share**-2)
    h = run(p, eta, tau, int(min(most, 20_000)) + 2).history
    done = (h[:, 2] <= eps1) & (h[:, 4] <= share)
    turns = int(np.argmax(done))
    assert done.any() and turns <= most
    F = run(p, eta, tau, turns + 1)
    best = kpw_nb.theory.transport.sinkhorn(costs(F.F, 5), eta, tol=1e-13)
    assert -1e-12 <= eta * F.objective + best.objective <= share * b


def test_the_printed_count_of_turns_is_too_small():
    "One pair of points, x = 100: hundreds of turns where less than one is promised"
    x, angle, turns = 100.0, math.atan(2), 0
    eta, tau, eps1 = 1 / x, 1 / (4 * x + 4 * x**2), 0.79 * x
    start = (math.exp(-x * math.cos(angle) ** 2) - 1 + x) * (8 * eta + 8) / eps1**2
    while x * math.sin(2 * angle) > eps1:
        angle -= math.atan(tau * x * math.sin(2 * angle))
        turns += 1
    assert start < 1 < 100 < turns <= 2 * x / (tau * eps1**2) < 10 * turns


@prop(
    seed=st.integers(0, 2**31),
    eta=st.sampled_from([0.05, 0.3, 2.0]),
    radius=st.floats(0.05, 1.0),
)
def test_the_hinge(seed, eta, radius):
    "A larger sphere is better, and a lower F is a dearer plan"
    gen = np.random.default_rng(seed)
    gaps = gen.normal(size=(4, 2))[:, None] - gen.normal(size=(5, 2))
    s, other = gen.normal(size=(2, 2))
    here, there = ((gaps @ (z / np.linalg.norm(z))) ** 2 for z in (s, other))
    whole, part = (
        kpw_nb.theory.transport.sinkhorn(c, eta, tol=1e-11).objective
        for c in (here, radius**2 * here)
    )
    assert part <= whole + 1e-9
    u, v = gen.normal(size=4), gen.normal(size=5)
    assert -eta * F_of(u, v, here, eta) <= whole + 1e-9  # weak duality
    plan = np.exp(u[:, None] + v - here / eta)
    fall = F_of(u, v, here, eta) - F_of(u, v, there, eta)
    assert (plan * (there - here)).sum() >= eta * fall - 1e-9 * plan.sum()


@prop(seed=st.integers(0, 2**31), log_eta=st.floats(-1, 3))
def test_large_eta_tends_to_the_mean_cost(seed, log_eta):
    "Within b²/8η, so not to a difference of means"
    gen, eta = np.random.default_rng(seed), 10.0**log_eta
    c = gen.uniform(size=(4, 5))
    value = kpw_nb.theory.transport.sinkhorn(c, eta, tol=1e-12).objective
    short = c.mean() - (value + eta * (1 + math.log(20)))
    assert -1e-9 * eta <= short <= 1 / (8 * eta) + 1e-9 * eta
