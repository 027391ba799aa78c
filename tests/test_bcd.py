"The installed `kpw_nb.bcd` against the paper's block matrices, finite differences and the lemmas of its theorem."
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import naive_A, naive_cost, naive_G, naive_U, naive_V

import kpw_nb.bcd as module
import kpw_nb.core
from kpw_nb.bcd import HISTORY, bcd, coefficients, exact_ascent, literal_problem, plan_laplacian, theory_step, update_columns, update_rows
from kpw_nb.kernels import Gaussian, output_factor, output_matrix
from kpw_nb.representer import make_features
from kpw_nb.transport import exact_transport, wasserstein

NONE = np.empty((0, 0))   # instead of H: go through the factor
SHAPES = [(5, 7, 1), (6, 4, 2), (4, 4, 3), (3, 6, 4)]
RHOS = [0., 0.5, 1.]


def prop(**strategies):
    "A property with this file's settings; a profile would change other files' too"
    return lambda f: settings(max_examples=25, deadline=None, derandomize=True)(given(**strategies)(f))


class Problem:
    "Two small clouds, their features and a start"
    def __init__(self, seed, n, m, d, rho, rank=None):
        gen = np.random.default_rng(seed)
        self.n, self.m, self.d, self.rho = n, m, d, rho
        self.X, self.Y = gen.normal(size=(n, 3)), 1.7*gen.normal(size=(m, 3))
        self.Z, self.kernel, self.P = np.vstack([self.X, self.Y]), Gaussian(1.5), output_matrix(d, rho)
        self.R, self.features = output_factor(self.P), make_features(self.kernel, self.Z, rank=rank)
        self.phi, self.H = self.features.phi, self.features.H
        self.S = gen.normal(size=(self.phi.shape[1], self.R.shape[1]))
        self.S /= np.linalg.norm(self.S)
        self.W, self.u, self.v = coefficients(self.phi, self.S), 0.3*gen.normal(size=n), 0.3*gen.normal(size=m)

    def project(self, S=None): return self.phi @ (self.S if S is None else S) @ self.R.T

    def omega(self, S):
        "The paper's signed coefficients of the projector S, stacked"
        signs = np.r_[np.ones(self.n), -np.ones(self.m)]
        return (signs[:, None]*(self.features.dual @ S @ np.linalg.pinv(self.R))).ravel()


def costs(F, n): return ((F[:n, None] - F[None, n:])**2).sum(-1)


def F_of(u, v, c, eta): return np.exp(-c/eta + u[:, None] + v).sum() - u.mean() - v.mean()


def laplacian(plan): return np.block([[np.diag(plan.sum(1)), -plan], [-plan.T, np.diag(plan.sum(0))]])


def dense_bcd(p, eta, tau, iterations):
    "Algorithm 2 in S, with dense matrices and nothing fused: S, u, v, plan and (F, value, gradient, error) of each iteration"
    S, u, v, rows = p.S, np.zeros(p.n), np.zeros(p.m), []
    for k in range(iterations):
        E = np.exp(-costs(p.project(S), p.n)/eta)
        u = np.log(1/p.n) - np.log((E*np.exp(v)).sum(1))
        plan = E*np.exp(u[:, None] + v)
        error = np.abs(plan.sum(0) - 1/p.m).sum()
        v = v + np.log(1/p.m) - np.log(plan.sum(0))
        plan = E*np.exp(u[:, None] + v)
        zeta = -2/eta*p.phi.T @ laplacian(plan) @ p.project(S) @ p.R
        xi = zeta - (S*zeta).sum()*S
        rows.append((F_of(u, v, costs(p.project(S), p.n), eta), (plan*costs(p.project(S), p.n)).sum(), np.linalg.norm(xi), error))
        if k < iterations - 1: S = (S - tau*xi)/np.linalg.norm(S - tau*xi)
    return S, u, v, plan, np.array(rows)


def sweep(p, F, eta, u=None, v=None, rows=update_rows, cols=update_columns, lap=plan_laplacian, hold=True):
    "One u- and v-update and Λ(π)F by the package"
    u, v = (p.u if u is None else u).copy(), (p.v if v is None else v).copy()
    plan, columns = np.empty((p.n if hold else 1, p.m)), np.empty(p.m)
    rows(F, p.n, u, v, 1/eta, plan, columns)
    error = cols(F, p.n, u, v, 1/eta, plan, columns)
    M = lap(F, p.n, u, v, 1/eta, plan, columns)
    return u, v, plan, M, error


# --- the block matrices ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("n, m, d", SHAPES)
@pytest.mark.parametrize("rho", [0.5, 1.])
def test_literal_problem_is_the_papers(n, m, d, rho):
    p = Problem(0, n, m, d, rho)
    G, A, U = literal_problem(p.kernel(p.Z, p.Z), p.P, n)
    np.testing.assert_allclose(G, naive_G(p.kernel, p.X, p.Y, p.P), atol=1e-13)
    np.testing.assert_allclose(A, naive_A(p.kernel, p.X, p.Y, p.P), atol=1e-13)
    np.testing.assert_allclose(U, naive_U(G), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n, m, d", SHAPES)
@pytest.mark.parametrize("rho", RHOS)
def test_kernels_agree_with_the_block_matrices(n, m, d, rho):
    p, eta = Problem(1, n, m, d, rho), 0.4
    A, omega = naive_A(p.kernel, p.X, p.Y, p.P), p.omega(p.S)
    c = naive_cost(A, np.eye(len(omega)), omega)
    np.testing.assert_allclose(costs(p.project(), n), c, atol=1e-10)
    u = p.u + np.log((1/n)/np.exp(-c/eta + p.u[:, None] + p.v).sum(1))
    before = np.exp(-c/eta + u[:, None] + p.v)
    v = p.v + np.log((1/m)/before.sum(0))
    plan = np.exp(-c/eta + u[:, None] + v)
    fast = sweep(p, p.project(), eta)
    for got, want in zip(fast, (u, v, plan, laplacian(plan) @ p.project(), np.abs(before.sum(0) - 1/m).sum()), strict=True):
        np.testing.assert_allclose(got, want, atol=1e-10)
    zeta = (-2/eta*naive_V(plan, A) @ omega).reshape(n + m, d)      # in the coefficients; the chain rule leads to S
    signs = np.r_[np.ones(n), -np.ones(m)][:, None]
    np.testing.assert_allclose(-2/eta*p.phi.T @ fast[3] @ p.R, p.features.dual.T @ (signs*zeta) @ np.linalg.pinv(p.R).T, atol=1e-8)


@pytest.mark.parametrize("n, m, d", SHAPES)
@pytest.mark.parametrize("rho", [0.5, 1.])
def test_run_is_the_literal_algorithm(n, m, d, rho):
    p, eta = Problem(2, n, m, d, rho), 0.3
    _, A, U = literal_problem(p.kernel(p.Z, p.Z), p.P, n)
    tau, _ = theory_step(p.phi, p.R, n, eta)
    history = bcd(p.phi, p.H, p.R, n, p.W, np.zeros(m), eta, tau, 0., 25, 0.)[5]
    s, u, v = np.linalg.solve(U, p.omega(p.S)), np.zeros(n), np.zeros(m)
    assert np.linalg.norm(s) == pytest.approx(1, abs=1e-9)
    for row in history:
        u = u + np.log((1/n)/module._literal_plan(u, v, s, A, U, eta).sum(1))
        v = v + np.log((1/m)/module._literal_plan(u, v, s, A, U, eta).sum(0))
        zeta = module._literal_gradient(u, v, s, A, U, eta)
        xi = zeta - (s @ zeta)*s
        assert row[0] == pytest.approx(module._literal_F(u, v, s, A, U, eta), abs=1e-10)
        assert row[1] == pytest.approx((module._literal_plan(u, v, s, A, U, eta)*naive_cost(A, U, s)).sum(), abs=1e-10)
        assert row[2] == pytest.approx(np.linalg.norm(xi), rel=1e-6, abs=1e-7)
        s = (s - tau*xi)/np.linalg.norm(s - tau*xi)


@pytest.mark.parametrize("n, m, d", SHAPES)
@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("rank", [None, 3])
@pytest.mark.parametrize("factor", [False, True])
def test_run_agrees_with_dense_matrices(n, m, d, rho, rank, factor):
    p, eta = Problem(3, n, m, d, rho, rank), 0.3
    assert p.R.shape == (d, 1 if rho == 0 else d)
    tau = 3*theory_step(p.phi, p.R, n, eta)[0]
    W, F, u, v, plan, history, converged, _ = bcd(p.phi, NONE if factor else p.H, p.R, n, p.W, np.zeros(m), eta, tau, 0., 20, 0.)
    S, u0, v0, plan0, rows = dense_bcd(p, eta, tau, 20)
    np.testing.assert_allclose(p.phi.T @ W, S, atol=1e-10)
    np.testing.assert_allclose(F, p.project(S), atol=1e-10)
    for got, want in ((u, u0), (v, v0), (plan, plan0), (history[:, [0, 1, 4]], rows[:, [0, 1, 3]])): np.testing.assert_allclose(got, want, atol=1e-10)
    np.testing.assert_allclose(history[:, 2], rows[:, 2], rtol=1e-6, atol=1e-7)
    assert history.shape == (20, len(HISTORY)) and not converged
    np.testing.assert_allclose(history[:, 5], tau, rtol=1e-12)


@pytest.mark.parametrize("n, m, d", SHAPES)
@pytest.mark.parametrize("rho", [0.5, 1.])
def test_step_of_the_theorem(n, m, d, rho):
    p, eta = Problem(4, n, m, d, rho), 0.2
    _, A, U = literal_problem(p.kernel(p.Z, p.Z), p.P, n)
    b = max(np.linalg.norm(A[i, j] @ U, 2)**2 for i in range(n) for j in range(m))
    tau, bound = theory_step(p.phi, p.R, n, eta)
    assert bound == pytest.approx(b, rel=1e-8)
    assert tau == pytest.approx(1/(4*b*0.5/eta + 2*b/eta + 4*b*b/eta**2), rel=1e-8)


# --- properties ------------------------------------------------------------------------------------------------------

@prop(seed=st.integers(0, 2**31), n=st.integers(1, 9), m=st.integers(1, 9), d=st.integers(1, 4), log_eta=st.floats(-4, 3))
def test_updates_meet_the_marginals(seed, n, m, d, log_eta):
    p, gen = Problem(seed, n, m, d, 1.), np.random.default_rng(seed)
    F, eta = gen.normal(size=(n + m, d)), 10.**log_eta
    plan, columns, u, v = np.empty((n, m)), np.empty(m), p.u.copy(), p.v.copy()
    update_rows(F, n, u, v, 1/eta, plan, columns)
    np.testing.assert_allclose(plan.sum(1), 1/n, rtol=1e-12)
    np.testing.assert_allclose(columns, plan.sum(0), rtol=1e-12)
    error = np.abs(columns - 1/m).sum()
    assert update_columns(F, n, u, v, 1/eta, plan, columns) == pytest.approx(error, abs=1e-14)
    M = plan_laplacian(F, n, u, v, 1/eta, plan, columns)
    np.testing.assert_allclose(plan.sum(0), 1/m, rtol=1e-12)
    np.testing.assert_allclose(M, laplacian(plan) @ F, atol=1e-12)
    exponent = u[:, None] + v - costs(F, n)/eta
    np.testing.assert_allclose(plan, np.exp(exponent), rtol=1e-9*max(1, np.abs(costs(F, n)/eta).max()*1e-5), atol=1e-100)


@pytest.mark.parametrize("near", [1., 100., 228., 345., 600., 3000.])
def test_a_far_point_gets_its_exact_potential(near):
    "Its column underflows; what exp cuts off must not be taken for the column sum"
    from scipy.special import logsumexp
    F, u, v, plan, columns = np.sqrt([[0.], [1e-6], [near], [near + 5000.]]), np.zeros(2), np.zeros(2), np.empty((2, 2)), np.empty(2)
    update_rows(F, 2, u, v, 1., plan, columns)
    update_columns(F, 2, u, v, 1., plan, columns)
    np.testing.assert_allclose(logsumexp(u[:, None] + v - costs(F, 2), axis=0), -np.log(2), atol=1e-10)
    plan_laplacian(F, 2, u, v, 1., plan, columns)
    np.testing.assert_allclose(plan.sum(0), 0.5, rtol=1e-12)


@prop(seed=st.integers(0, 2**31), n=st.integers(2, 7), m=st.integers(2, 7), d=st.integers(1, 4), rho=st.sampled_from(RHOS), eta=st.sampled_from([0.1, 0.5, 3.]))
def test_gradient_is_the_derivative(seed, n, m, d, rho, eta):
    p = Problem(seed, n, m, d, rho)
    u, v, _, M, _ = sweep(p, p.project(), eta)
    gradient, h = -2/eta*p.phi.T @ M @ p.R, 1e-5
    f = lambda S: F_of(u, v, costs(p.project(S), n), eta)
    numeric = np.array([(f(p.S + h*e) - f(p.S - h*e))/(2*h) for e in np.eye(p.S.size).reshape(-1, *p.S.shape)])
    np.testing.assert_allclose(gradient.ravel(), numeric, atol=1e-6*max(1, np.abs(gradient).max()))
    record = bcd(p.phi, p.H, p.R, n, p.W, v, eta, 0., 0., 1, 0.)
    u, v = record[2], record[3]
    numeric = np.array([(f(p.S + h*e) - f(p.S - h*e))/(2*h) for e in np.eye(p.S.size).reshape(-1, *p.S.shape)])
    tangent = numeric - (numeric @ p.S.ravel())*p.S.ravel()
    assert record[5][0, 2] == pytest.approx(np.linalg.norm(tangent), rel=1e-5, abs=1e-6*max(1, np.abs(gradient).max()))


@prop(seed=st.integers(0, 2**31), n=st.integers(1, 7), m=st.integers(1, 7), d=st.integers(1, 4), eta=st.sampled_from([1e-6, 0.01, 0.5, 3.]))
def test_nothing_changes_without_a_plan_in_memory(seed, n, m, d, eta):
    p = Problem(seed, n, m, d, 0.5)
    held, streamed = (sweep(p, p.project(), eta, hold=hold) for hold in (True, False))
    assert streamed[2].shape == (1, m)
    for k in (0, 1, 3, 4): np.testing.assert_allclose(streamed[k], held[k], rtol=1e-7, atol=1e-9)
    if eta < 0.01: return                                # a run doubles rounding errors where nearly all of the plan is 0
    held, streamed = (bcd(p.phi, NONE, p.R, n, p.W, np.zeros(m), eta, 0., 0., 8, 0., hold) for hold in (True, False))
    np.testing.assert_allclose(streamed[5][:, :2], held[5][:, :2], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("decade", range(-6, 3))
@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("rank", [None, 3])
def test_adaptive_run_never_rises(decade, rho, rank):
    for seed, (n, m, d) in enumerate(SHAPES):
        p = Problem(seed, n, m, d, rho, rank)
        W, F, u, v, plan, history, *_ = bcd(p.phi, NONE if rank else p.H, p.R, n, p.W, np.zeros(m), 10.**decade, 0., 0., 150, 0.)
        assert np.diff(history[:, 0]).max() <= 1e-12*max(1, np.abs(history[:, 0]).max()) and len(history) == 150
        assert np.linalg.norm(p.phi.T @ W) == pytest.approx(1, abs=1e-8)
        np.testing.assert_allclose(F, p.project(p.phi.T @ W), atol=1e-8)
        np.testing.assert_allclose(plan.sum(0), 1/m, rtol=1e-10)
        assert history[-1, 1] == pytest.approx((plan*costs(F, n)).sum(), rel=1e-9)


@prop(seed=st.integers(0, 2**31), n=st.integers(2, 7), m=st.integers(2, 7), d=st.integers(1, 3), rho=st.sampled_from(RHOS), eta=st.sampled_from([0.02, 0.1, 1., 10.]))
def test_every_block_falls_as_far_as_its_lemma_says(seed, n, m, d, rho, eta):
    p = Problem(seed, n, m, d, rho)
    tau, _ = theory_step(p.phi, p.R, n, eta)
    S, u, v = p.S, np.zeros(n), p.v
    for t in range(12):
        F, c = p.project(S), costs(p.project(S), n)
        F0, row_sums = F_of(u, v, c, eta), np.exp(-c/eta + u[:, None] + v).sum(1)
        u1, v1, plan, M, error = sweep(p, F, eta, u, v)
        F1, F2 = F_of(u1, v, c, eta), F_of(u1, v1, c, eta)
        zeta = -2/eta*p.phi.T @ M @ p.R
        xi = zeta - (S*zeta).sum()*S
        S1 = (S - tau*xi)/np.linalg.norm(S - tau*xi)
        F3 = F_of(u1, v1, costs(p.project(S1), n), eta)
        small = 1e-13*max(1, abs(F0))
        if t:
            assert row_sums.sum() <= 1 + 1e-12           # what the u-lemma needs
            assert F0 - F1 >= ((1/n - row_sums)**2).sum()/2 - small
        assert F1 - F2 >= error**2/2 - small
        assert F2 - F3 >= tau/2*(xi**2).sum() - small
        S, u, v = S1, u1, v1


def test_history_falls_by_the_sum_of_the_lemmas():
    p, eta = Problem(5, 6, 8, 2, 0.5), 0.1
    tau, _ = theory_step(p.phi, p.R, p.n, eta)
    h = bcd(p.phi, p.H, p.R, p.n, p.W, np.zeros(p.m), eta, tau, 0., 400, 0.)[5]
    assert (-np.diff(h[:, 0]) >= tau/2*h[:-1, 2]**2 + h[1:, 4]**2/2 - 1e-13).all()


@pytest.mark.parametrize("eta", [0.02, 0.2, 2.])
def test_stops_at_a_stationary_point_and_stays(eta):
    p = Problem(6, 6, 8, 3, 0.5)
    W, F, u, v, plan, h, converged, t = bcd(p.phi, p.H, p.R, p.n, p.W, np.zeros(p.m), eta, 0., 0., 20_000, 1e-6)
    assert converged and h[-1, 3] <= 1e-6 and h[-1, 4] <= 1e-6 and (h[:-1, 3:5].max(1) > 1e-6).all()
    again = bcd(p.phi, p.H, p.R, p.n, W, v, eta, 0., t, 5, 1e-6)
    assert again[6] and again[5][-1, 0] <= h[-1, 0] + 1e-12


def test_inputs_are_not_changed():
    p = Problem(7, 5, 6, 2, 0.5)
    arrays = dict(phi=p.phi, H=p.H, R=p.R, W=p.W, v=p.v)
    before = {k: a.copy() for k, a in arrays.items()}
    bcd(arrays["phi"], arrays["H"], arrays["R"], p.n, arrays["W"], arrays["v"], 0.2, 0., 0., 10, 0.)
    exact_ascent(p.phi, p.R, p.n, p.W, 5, 0.)
    for k, a in arrays.items(): np.testing.assert_array_equal(a, before[k])


# --- without numba ---------------------------------------------------------------------------------------------------

@pytest.fixture
def interpreted(monkeypatch):
    "Every kernel of the module as the plain Python function it was written as"
    for name, f in list(vars(module).items()):
        if hasattr(f, "py_func"): monkeypatch.setattr(module, name, f.py_func)
    monkeypatch.setattr(kpw_nb.core, "exp_into", getattr(kpw_nb.core.exp_into, "py_func", kpw_nb.core.exp_into))
    return module


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("eta", [0.5, 1e-4])
@pytest.mark.parametrize("tau", [0., 0.01])
@pytest.mark.parametrize("factor", [False, True])
def test_compiled_and_interpreted_agree(interpreted, eta, tau, factor):
    p = Problem(8, 4, 3, 2, 0.5)
    args = p.phi, NONE if factor else p.H, p.R, p.n, p.W, np.zeros(p.m), eta, tau*eta**2, 0., 4, 0.
    for got, want in zip(interpreted.bcd(*args), bcd(*args), strict=True): np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-9)
    pure = sweep(p, p.project(), eta, rows=interpreted.update_rows, cols=interpreted.update_columns, lap=interpreted.plan_laplacian)
    for got, want in zip(pure, sweep(p, p.project(), eta), strict=True): np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


# --- exact -----------------------------------------------------------------------------------------------------------

@prop(seed=st.integers(0, 2**31), n=st.integers(2, 8), m=st.integers(2, 8), d=st.integers(1, 3), rho=st.sampled_from(RHOS), max_iter=st.sampled_from([1, 2, 5, 30]))
def test_exact_ascent_never_lowers_W(seed, n, m, d, rho, max_iter):
    p = Problem(seed, n, m, d, rho)
    W, F, plan, history, converged = exact_ascent(p.phi, p.R, n, p.W, max_iter, 0.)
    assert history[0, 1] == pytest.approx(wasserstein(*np.split(p.project(), [n])), rel=1e-9)
    assert np.diff(history[:, 1]).min(initial=0) >= -1e-12
    assert len(history) == max_iter or converged
    assert history[-1, 1] == pytest.approx(plan.value, rel=1e-9) == pytest.approx(wasserstein(F[:n], F[n:]), rel=1e-9)
    assert np.linalg.norm(p.phi.T @ W) == pytest.approx(1, abs=1e-8)
    np.testing.assert_allclose(p.project(p.phi.T @ W), F, atol=1e-8)
    np.testing.assert_allclose(module._sparse_laplacian(F, n, plan), laplacian(plan.plan) @ F, atol=1e-12)


def test_exact_ascent_stops_by_tolerance():
    p = Problem(9, 8, 8, 2, 0.5)
    loose, tight = (exact_ascent(p.phi, p.R, p.n, p.W, 500, tol) for tol in (1e-2, 1e-8))
    assert loose[4] and tight[4] and len(loose[3]) < len(tight[3]) and tight[2].value >= loose[2].value
    assert tight[2].value == pytest.approx(exact_transport(tight[1][:8], tight[1][8:]).value, rel=1e-12)
    assert math.isfinite(tight[3][-1, 3])


def test_a_long_step_does_not_blow_up_the_norm():
    "Rounding in ‖S‖ grows by |1 - 2t⟨S, g⟩| an iteration unless it is taken out: 100 long steps must stay on the sphere"
    p, eta = Problem(3, 12, 9, 2, 0.5), 0.5
    value = bcd(p.phi, NONE, p.R, p.n, p.W, np.zeros(p.m), eta, 0., 0., 30, 0.)[5][-1, 1]
    W, F, u, v, plan, history, *_ = bcd(p.phi, NONE, p.R, p.n, p.W, np.zeros(p.m), eta, 0.5*eta*4/value, 0., 100, 0.)    # t⟨S, g⟩ = 4
    assert np.isfinite(history).all() and history[:, 1].max() < 100*value
    assert (W*(p.phi @ (p.phi.T @ W))).sum() == pytest.approx(1, abs=1e-12)


def test_parts_of_W_that_the_features_do_not_see_stay_small():
    "A long run with few features: without a cap on the step these parts grow in every turn until nothing else is left"
    p = Problem(5, 30, 25, 1, 1., rank=3)
    W, F, u, v, plan, history, *_ = bcd(p.phi, NONE, p.R, p.n, p.W, np.zeros(p.m), 0.01, 0., 0., 800, 0.)
    assert np.isfinite(history).all() and (np.diff(history[:, 0]) < 1e-9).all()
    assert np.abs(W).max() < 1e3*np.abs(p.W).max()
    np.testing.assert_allclose(F, p.phi @ (p.phi.T @ W) @ p.R.T, rtol=1e-8, atol=1e-10)
