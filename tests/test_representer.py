"""Features of the installed package.

Against the paper's literal block matrices, and blind to labels and order.
"""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from oracles import naive_A, naive_cost, naive_G, naive_U, naive_V

from kpw_nb.theory.kernels import (
    Custom,
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    output_factor,
    output_matrix,
    squared_distances,
)
from kpw_nb.theory.representer import make_features, pivoted_cholesky

few = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 2**32 - 1)
KERNELS = [Gaussian(1.5), Laplace(3.0), Matern(1.5), Linear(), Polynomial(1.5)]
OPTIONS = [
    dict(),
    dict(ridge=0.1),
    dict(rank=4),
    dict(rank="auto"),
    dict(ridge=0.3, rank="auto"),
    dict(norm="variance", ridge=0.1),
    dict(norm="variance", rank=4),
    dict(norm="variance", ridge=0.1, rank=4),
    dict(norm="variance", ridge=1e-3, rank="auto"),
]
kernels = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
options = pytest.mark.parametrize("option", OPTIONS, ids=str)


def sample(seed, N=24, D=3):
    return np.random.default_rng(seed).standard_normal((N, D))


def centring(N):
    return np.eye(N) - 1 / N


def laplacian(pi):
    return np.block([[np.diag(pi.sum(1)), -pi], [-pi.T, np.diag(pi.sum(0))]])


# ---- the fast form equals the literal one


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Laplace(3.0), Matern(1.5)], ids=repr)
@pytest.mark.parametrize("rho", [0.2, 1.0])
def test_features_reproduce_the_literal_problem(kernel, rho):
    r = np.random.default_rng(0)
    X, Y, d = sample(1, 5), sample(2, 4) + 0.3, 2
    n, m, N = 5, 4, 9
    Z, P = np.vstack([X, Y]), output_matrix(d, rho)
    G, A = naive_G(kernel, X, Y, P), naive_A(kernel, X, Y, P)
    U, R, features = naive_U(G), output_factor(P), make_features(kernel, Z)
    np.testing.assert_allclose(U @ U.T @ G, np.eye(d * N), atol=1e-8)
    s = r.standard_normal(d * N)
    s /= np.linalg.norm(s)
    coefficients = np.repeat([1.0, -1.0], [n, m])[:, None] * (U @ s).reshape(N, d)
    S = features.phi.T @ coefficients @ R
    F = features.phi @ S @ R.T
    cost = squared_distances(F[:n], F[n:])
    np.testing.assert_allclose(np.linalg.norm(S), 1.0, rtol=1e-9)
    np.testing.assert_allclose(cost, naive_cost(A, U, s), atol=1e-10)
    pi = r.random((n, m))
    pi /= pi.sum()
    gradient = 2 * features.phi.T @ laplacian(pi) @ F @ R
    np.testing.assert_allclose(
        (pi * cost).sum(), np.trace(F.T @ laplacian(pi) @ F), rtol=1e-9
    )
    np.testing.assert_allclose(
        np.linalg.norm(gradient),
        np.linalg.norm(2 * U.T @ naive_V(pi, A) @ U @ s),
        rtol=1e-8,
    )
    np.testing.assert_allclose(
        (S * gradient).sum(), 2 * s @ U.T @ naive_V(pi, A) @ U @ s, rtol=1e-8
    )
    norms = [[np.linalg.norm(A[i, j] @ U, 2) ** 2 for j in range(m)] for i in range(n)]
    np.testing.assert_allclose(
        norms,
        np.linalg.eigvalsh(P)[-1]
        * (kernel.diag(X)[:, None] + kernel.diag(Y) - 2 * kernel(X, Y)),
        rtol=1e-7,
    )


@few
@given(seed=seeds)
def test_projection_keeps_differences_and_shrinks_the_norm(seed):
    r = np.random.default_rng(seed)
    Z = sample(seed, 8)
    others = sample(seed + 1, 5)
    k = Gaussian(1.0)
    P = output_matrix(2, 0.5)
    everywhere, A = np.vstack([Z, others]), r.standard_normal((13, 2))
    F, B = k(Z, everywhere) @ A @ P, np.vstack([np.ones(7), -np.eye(7)])
    A_S = (
        B
        @ np.linalg.lstsq(B.T @ k(Z, Z) @ B, B.T @ F @ np.linalg.inv(P), rcond=None)[0]
    )
    F_S = k(Z, Z) @ A_S @ P
    np.testing.assert_allclose(
        F_S[:3, None] - F_S[None, 3:], F[:3, None] - F[None, 3:], atol=1e-6
    )
    assert np.trace(A_S.T @ k(Z, Z) @ A_S @ P) <= np.trace(
        A.T @ k(everywhere, everywhere) @ A @ P
    ) * (1 + 1e-8)


# ---- the features themselves


@kernels
def test_rkhs_features_factor_the_gram_matrix(kernel):
    Z = sample(0)
    K = kernel(Z, Z)
    top = np.linalg.eigvalsh(K)[-1]
    np.testing.assert_allclose(make_features(kernel, Z).H, K, atol=1e-10 * top)
    ridged = K @ np.linalg.solve(K + 0.2 * top * np.eye(24), K)
    np.testing.assert_allclose(
        make_features(kernel, Z, ridge=0.2).H, ridged, atol=1e-10 * top
    )
    kappa = np.linalg.eigvalsh(K)[::-1][:3]
    features = make_features(kernel, Z, rank=3)
    np.testing.assert_allclose((features.phi**2).sum(0), kappa, rtol=1e-9)
    np.testing.assert_allclose(features.eigenvalues, kappa, rtol=1e-9)


@kernels
@options
def test_columns_are_orthogonal_and_the_dual_gives_them(kernel, option):
    Z = sample(1)
    features = make_features(kernel, Z, **option)
    gram = features.phi.T @ features.phi
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-8 * gram[0, 0])
    assert (np.diff(np.diag(gram)) <= 1e-8 * gram[0, 0]).all()
    scale = np.abs(features.phi).max()
    np.testing.assert_allclose(
        kernel(Z, Z[features.support]) @ features.dual, features.phi, atol=1e-6 * scale
    )
    np.testing.assert_allclose(
        features.transform(kernel, Z, Z), features.phi, atol=1e-6 * scale
    )
    assert (np.diff(features.support) > 0).all()
    largest = features.phi[
        np.abs(features.phi).argmax(0), np.arange(features.phi.shape[1])
    ]
    assert (largest > 0).all()


@options
@few
@given(seed=seeds)
def test_blind_to_the_order_of_the_points(option, seed):
    Z, shuffle = sample(seed), np.random.default_rng(seed).permutation(24)
    Z = (
        np.vstack([Z[:-1], Z[:1]]) if seed % 2 else Z
    )  # half of the time with a repeated point
    one = make_features(Gaussian(1.5), Z, **option)
    two = make_features(Gaussian(1.5), Z[shuffle], **option)
    scale = np.abs(one.phi).max()
    np.testing.assert_allclose(
        two.H, one.H[np.ix_(shuffle, shuffle)], atol=1e-9 * scale**2
    )
    if seed % 2 == 0:
        np.testing.assert_allclose(two.phi, one.phi[shuffle], atol=1e-10 * scale)
        assert set(shuffle[two.support]) == set(one.support)


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Linear()], ids=repr)
@pytest.mark.parametrize("ridge, rank", [(0.05, None), (1.0, None), (0.0, 3)])
def test_variance_norm(kernel, ridge, rank):
    N, Z, P = 24, sample(2), output_matrix(2, 0.4)
    features = make_features(kernel, Z, ridge, rank, "variance")
    R = output_factor(P)
    r = np.random.default_rng(0)
    S = r.standard_normal((features.phi.shape[1], 2))
    S /= np.linalg.norm(S)
    A, K = features.dual @ S @ np.linalg.inv(R), kernel(Z, Z)
    F = centring(N) @ features.phi @ S @ R.T
    lam = ridge * np.linalg.eigvalsh(centring(N) @ K @ centring(N))[-1] / N
    value = np.trace(F @ np.linalg.inv(P) @ F.T) / N + lam * np.trace(A.T @ K @ A @ P)
    np.testing.assert_allclose(value, 1.0, rtol=1e-7)


def test_full_whitening_forgets_the_data():
    D2 = squared_distances(
        make_features(Gaussian(0.5), sample(3), rank=24, norm="variance").phi
    )
    np.testing.assert_allclose(D2[np.triu_indices(24, 1)], 48.0, rtol=1e-6)


def test_auto_rank_keeps_its_promise_and_looks_at_few_columns():
    Z, k, seen = sample(4, 300, 2), Gaussian(1.0), []

    def function(A, B):
        seen.append(A.shape[0] * B.shape[0])
        return k(A, B)

    features = make_features(k, Z, rank="auto")
    K = k(Z, Z)
    assert len(features.support) < 60 and np.trace(K - features.H) <= 1e-3 * np.trace(K)
    assert np.linalg.eigvalsh(K - features.H)[0] > -1e-10
    custom = make_features(
        Custom(lambda A, B: function(A, B)), np.repeat(Z, 3, axis=0), rank="auto"
    )
    assert max(seen) <= 300 * 300 < 900 * 900 and len(custom.support) < 60


def test_many_points_never_meet_in_one_matrix(monkeypatch):
    monkeypatch.setattr("kpw_nb.theory.representer._MOST_POINTS", 50)
    monkeypatch.setattr("kpw_nb.theory.representer._MOST_PIVOTS", 20)
    # nearly orthogonal points: no low rank will do
    Z = sample(4, 60, 8)
    k = Gaussian(0.5)
    features = make_features(k, Z)
    assert features.phi.shape == (60, 20) == (
        60,
        len(features.support),
    ) and make_features(k, Z[:50]).phi.shape == (50, 50)
    np.testing.assert_allclose(features.transform(k, Z, Z), features.phi, atol=1e-9)


def test_precomputed():
    Z, new, k = sample(5), sample(6, 5), Gaussian(1.5)
    K = k(Z, Z)
    for option in OPTIONS:
        if option.get("rank") == "auto":
            continue
        one = make_features(k, Z, **option)
        two = make_features(Precomputed(), K, **option)
        np.testing.assert_allclose(one.H, two.H, atol=1e-7 * np.abs(one.H).max())
        np.testing.assert_allclose(
            two.transform(Precomputed(), k(new, Z), K),
            k(new, Z)[:, two.support] @ two.dual,
        )
        shuffle = np.random.default_rng(0).permutation(24)
        three = make_features(Precomputed(), K[np.ix_(shuffle, shuffle)], **option)
        np.testing.assert_allclose(
            three.phi, two.phi[shuffle], atol=1e-10 * np.abs(two.phi).max()
        )
    auto = make_features(Precomputed(), K, rank="auto")
    assert np.trace(K - auto.H) <= 1e-3 * np.trace(K)
    np.testing.assert_allclose(auto.transform(Precomputed(), K, K), auto.phi, atol=1e-9)


def test_singular_problems_need_no_special_care():
    Z = sample(7)
    assert make_features(Linear(), Z).phi.shape == (24, 3)
    twice = make_features(Gaussian(1.0), np.vstack([Z, Z]))
    assert twice.phi.shape[1] <= 24
    np.testing.assert_allclose(twice.phi[:24], twice.phi[24:], atol=1e-6)
    assert make_features(Gaussian(1.0), Z, rank=1000).phi.shape == (24, 24)
    constant = make_features(
        Polynomial(1.0, 1), Z, rank=4, norm="variance"
    )  # 1 and three linear functions: the constant one is dropped
    assert constant.phi.shape == (24, 3)


def test_features_do_not_change_their_input_and_pickle():
    Z = sample(8)
    before = Z.copy()
    Z.flags.writeable = False
    features = pickle.loads(pickle.dumps(make_features(Gaussian(1.0), Z, rank="auto")))
    assert (Z == before).all() and "support" in repr(features)


@pytest.mark.parametrize(
    "arguments, error, word",
    [
        (dict(ridge=-1.0), ValueError, "ridge"),
        (dict(ridge="a"), TypeError, "ridge"),
        (dict(rank=0), ValueError, "rank"),
        (dict(rank=1.5), TypeError, "rank"),
        (dict(rank="all"), ValueError, "rank"),
        (dict(norm="l2"), ValueError, "norm"),
        (dict(norm="variance"), ValueError, "ridge > 0"),
        (dict(norm="variance", rank="auto"), ValueError, "ridge > 0"),
    ],
)
def test_refused_options(arguments, error, word):
    with pytest.raises(error, match=word):
        make_features(Gaussian(1.0), sample(0), **arguments)


@pytest.mark.parametrize("rank", [None, 3, "auto"])
def test_refused_kernels(rank):
    Z = sample(0)
    K = Gaussian(1.0)(Z, Z)
    for gram, word in [
        (K[:, :9], "square"),
        (K + np.triu(K), "symmetric"),
        (K - np.eye(24), "semi-definite"),
        (0 * K, "zero on the whole"),
    ]:
        with pytest.raises(ValueError, match=word):
            make_features(Precomputed(), gram, rank=rank)
    with pytest.raises(ValueError, match="overflows"):
        make_features(Polynomial(1e-60, 3), Z, rank=rank)
    with pytest.raises(ValueError, match="semi-definite"):
        make_features(Custom(lambda A, B: -A @ B.T), Z, rank=rank)
    with pytest.raises(ValueError, match="no feature varies"):
        make_features(Linear(), np.ones((5, 2)), 0.1, rank, "variance")


# ---- pivoted Cholesky


@few
@given(seed=seeds, rank=st.integers(1, 24))
def test_pivoted_cholesky(seed, rank):
    Z = sample(seed)
    K = Gaussian(1.0)(Z, Z)
    L, pivots = pivoted_cholesky(lambda i: K[:, i], np.diag(K), rank)
    E = K - L @ L.T
    assert len(set(pivots)) == len(pivots) == L.shape[1] <= rank
    assert (
        np.linalg.eigvalsh(E)[0] > -1e-10
        and np.linalg.norm(E, 2) <= np.trace(E) + 1e-10
    )
    np.testing.assert_allclose(E[pivots], 0, atol=1e-8)  # pivot rows are exact
    traces = 24 - np.cumsum((L**2).sum(0))
    assert (np.diff(traces) <= 1e-12).all()  # the residual never grows


def test_pivoted_cholesky_stops():
    Z = sample(0, 200, 2)
    K = Gaussian(1.0)(Z, Z)
    for tol in (0.5, 1e-2, 1e-6):
        L, pivots = pivoted_cholesky(lambda i: K[:, i], np.diag(K), 200, tol)
        assert np.trace(K) - (L**2).sum() <= tol * np.trace(K)
        shorter = L[:, :-1]
        assert np.trace(K) - (shorter**2).sum() > tol * np.trace(K)  # and not too late
    low = Linear()(Z, Z)
    L, pivots = pivoted_cholesky(lambda i: low[:, i], np.diag(low), 200)
    assert L.shape[1] == 2
    full, _ = pivoted_cholesky(lambda i: np.eye(100)[i], np.ones(100), 100)
    np.testing.assert_array_equal(
        full, np.eye(100)
    )  # beyond the first 64 rows; ties go to the first index


# ---- numbers too large to square


@pytest.mark.parametrize("rank", [None, 3, "auto"])
@pytest.mark.parametrize("size", [1e155, 1e200])
def test_huge_data_have_features_or_an_error(size, rank):
    "Never NaN: far apart for the Gaussian, too large for the linear kernel"
    Z = size * np.random.default_rng(0).standard_normal((20, 3))
    features = make_features(Gaussian(1.0), Z, rank=rank)
    assert np.isfinite(features.phi).all()
    if rank is None:
        np.testing.assert_array_equal(features.H, np.eye(20))
    for kernel in (Linear(), Polynomial(1.0)):
        with pytest.raises(ValueError, match="overflows; rescale the data"):
            make_features(kernel, Z, rank=rank)


@pytest.mark.parametrize("rank", [None, "auto"])
def test_a_gram_matrix_whose_trace_overflows(rank):
    K = 1e307 * Gaussian(2.0)(*[np.random.default_rng(0).standard_normal((60, 3))] * 2)
    with np.errstate(all="raise", under="ignore"):
        with pytest.raises(ValueError, match="overflows; rescale the data"):
            make_features(Precomputed(), K, rank=rank)
