"""The kernels of the installed package.

Against libraries, loops, finite differences, and what a permutation test needs.
"""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from oracles import naive_gram
from scipy.spatial.distance import cdist, pdist
from sklearn.gaussian_process.kernels import Matern as SklearnMatern
from sklearn.metrics import pairwise

from kpw_nb.theory.kernels import (
    Custom,
    Gaussian,
    KERNELS,
    Kernel,
    Laplace,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    Radial,
    check_gram,
    check_output_matrix,
    column_signs,
    median_bandwidth,
    output_factor,
    output_matrix,
    resolve_kernel,
    row_order,
    squared_distances,
)

h = 1.3
ALL = [
    Gaussian(h),
    Laplace(h),
    Matern(h, 0.5),
    Matern(h),
    Matern(h, 2.5),
    Linear(),
    Polynomial(h),
    Polynomial(h, 3, 0.0),
]
name = repr
seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=25, deadline=None)


def points(seed, n=12, D=3, scale=1.0):
    return scale * np.random.default_rng(seed).standard_normal((n, D))


def naive_gradient(k, A, B, coef, step=1e-5):
    "Central differences of sum_l k(z, b_l) coef_l"

    def slope(e):
        return (k(A + step * e, B) - k(A - step * e, B)) @ coef / (2 * step)

    return np.stack([slope(e) for e in np.eye(A.shape[1])], axis=2)


# ---- distances


@few
@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 8), st.integers(1, 4)),
        elements=st.floats(-1e6, 1e6),
    )
)
def test_squared_distances_match_scipy(A):
    A = np.vstack([A, A[:1]])  # always a repeated row
    D2, reference = squared_distances(A), cdist(A, A, "sqeuclidean")
    np.testing.assert_allclose(D2, reference, rtol=1e-8, atol=1e-290)
    assert (
        (D2 >= 0).all()
        and (D2 == D2.T).all()
        and D2[0, -1] == 0
        and not np.diag(D2).any()
    )


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e8])
def test_translation_costs_no_accuracy(shift):
    A, B = points(0) + shift, points(1, 9) + shift
    np.testing.assert_allclose(
        squared_distances(A, B), cdist(A, B, "sqeuclidean"), rtol=1e-9
    )


def test_many_close_pairs_in_blocks():
    A = np.vstack(
        [points(0, 100) * 1e-9, points(1, 100) * 1e-9 + 1.0]
    )  # 20,000 pairs redone
    np.testing.assert_allclose(
        squared_distances(A), cdist(A, A, "sqeuclidean"), rtol=1e-9
    )


def test_squared_distances_leave_their_input_alone():
    A = points(0)
    before = A.copy()
    A.flags.writeable = False
    squared_distances(A)
    squared_distances(A, A[:3])
    assert (A == before).all()


# ---- Gram matrices


def test_against_sklearn():
    A, B = points(0), points(1, 7)
    for k, reference in [
        (Gaussian(h), pairwise.rbf_kernel(A, B, 1 / (2 * h * h))),
        (Laplace(h), pairwise.laplacian_kernel(A, B, 1 / h)),
        (Linear(), pairwise.linear_kernel(A, B)),
        (Polynomial(h, 3, 0.5), pairwise.polynomial_kernel(A, B, 3, 1 / h**2, 0.5)),
        *((Matern(h, nu), SklearnMatern(h, nu=nu)(A, B)) for nu in (0.5, 1.5, 2.5)),
    ]:
        np.testing.assert_allclose(k(A, B), reference, rtol=1e-11, err_msg=str(k))


@pytest.mark.parametrize("k", ALL, ids=name)
@few
@given(seed=seeds, scale=st.floats(1e-3, 1e3))
def test_every_kernel_is_symmetric_psd_and_knows_its_diagonal(k, seed, scale):
    A = points(seed, scale=scale)
    K = k(A, A)
    assert (K == K.T).all()
    np.testing.assert_allclose(k.diag(A), np.diag(K), rtol=1e-12)
    eigenvalues = np.linalg.eigvalsh(K)
    assert eigenvalues[0] > -1e-12 * eigenvalues[-1]
    np.testing.assert_allclose(
        K[:, [2, 5]], k.columns(A, A, [2, 5]), rtol=1e-9, atol=1e-12 * np.abs(K).max()
    )


@pytest.mark.parametrize("k", ALL, ids=name)
def test_gram_one_pair_at_a_time(k):
    A, B = points(0), points(1, 5)
    np.testing.assert_allclose(k(A, B), naive_gram(k, A, B), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("k", ALL, ids=name)
def test_gradient_against_finite_differences(k):
    A, B = points(0), points(1, 7)
    coef = np.random.default_rng(2).standard_normal((7, 2))
    numeric = naive_gradient(k, A, B, coef)
    np.testing.assert_allclose(k.gradient(A, B, coef), numeric, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "k", [k for k in ALL if not isinstance(k, Matern) or k.nu > 0.5], ids=name
)
def test_gradient_is_finite_at_a_support_point(k):
    A = points(0)
    assert np.isfinite(k.gradient(A, A, np.ones((12, 1)))).all()
    assert np.isfinite(Matern(h, 0.5).gradient(A, A, np.ones((12, 1)))).all()


def test_a_new_radial_kernel_needs_two_lines():
    class RationalQuadratic(Radial):
        def profile(self, D2):
            return 1 / (1 + D2 / self.bandwidth**2)

        def slope(self, D2):
            return -2 / self.bandwidth**2 * self.profile(D2) ** 2

    k, A, B = RationalQuadratic(h), points(0), points(1, 4)
    numeric = naive_gradient(k, A, B, np.ones((4, 1)))
    np.testing.assert_allclose(k.gradient(A, B, np.ones((4, 1))), numeric, atol=1e-8)


@pytest.mark.parametrize("k", ALL + [Precomputed()], ids=name)
def test_kernels_are_values(k):
    assert pickle.loads(pickle.dumps(k)) == k and hash(k) == hash(
        pickle.loads(pickle.dumps(k))
    )
    with pytest.raises(AttributeError):
        k.bandwidth = 2.0


@pytest.mark.parametrize(
    "make, word",
    [
        (lambda: Gaussian(0.0), "bandwidth"),
        (lambda: Laplace(-1.0), "bandwidth"),
        (lambda: Matern(1.0, 2.0), "nu"),
        (lambda: Polynomial(1.0, 0), "degree"),
        (lambda: Polynomial(1.0, 2, -1.0), "coef0"),
    ],
)
def test_bad_parameters(make, word):
    with pytest.raises(ValueError, match=word):
        make()


def test_kernels_without_a_gradient_or_a_formula_say_so():
    A = points(0)
    for k in (Custom(Gaussian(1.0)), Precomputed()):
        with pytest.raises(NotImplementedError, match="gradient"):
            k.gradient(A, A, np.ones((12, 1)))
    with pytest.raises(NotImplementedError, match="Kernel"):
        Kernel()(A, A)
    with pytest.raises(ValueError, match="square"):
        Precomputed().diag(A)


# ---- numbers too large to square

HUGE = pytest.mark.parametrize("size", [1e155, 1e200, 1e300])
RADIAL = [Gaussian(h), Matern(h, 0.5), Matern(h), Matern(h, 2.5), Laplace(h)]


@HUGE
@pytest.mark.parametrize("k", RADIAL, ids=name)
def test_huge_points_are_far_apart(k, size):
    "Not NaN: the kernel of the distance is 0 between different points, 1 between equal"
    A = size * points(0)
    A[1] = A[0]
    expected = np.eye(12)
    expected[0, 1] = expected[1, 0] = 1.0
    with np.errstate(all="raise", under="ignore"):
        np.testing.assert_array_equal(k(A, A), expected)
        mixed = np.vstack([A, points(1)])
        np.testing.assert_array_equal(k(mixed, mixed)[:12, 12:], np.zeros((12, 12)))
    assert np.isfinite(k.gradient(A, points(1), np.ones((12, 2)))).all()


@HUGE
@pytest.mark.parametrize("k", [Linear(), Polynomial(h), Polynomial(1e-60, 3)], ids=name)
def test_a_gram_matrix_that_overflows_is_an_error(k, size):
    A = size * points(0)
    for call in (lambda: k(A, A), lambda: k.diag(A), lambda: k.columns(A, A, [0])):
        with pytest.raises(ValueError, match="overflows; rescale the data"):
            call()


@HUGE
@pytest.mark.parametrize("metric", ["euclidean", "radius"])
def test_no_bandwidth_of_huge_points(metric, size):
    with np.errstate(all="raise", under="ignore"):
        with pytest.raises(ValueError, match="Rescale the data"):
            median_bandwidth(size * points(0), metric)
    with pytest.raises(ValueError, match="Rescale the data"):
        squared_distances(size * points(0))


@HUGE
@pytest.mark.parametrize("word", ["gaussian", "laplace", "matern", "polynomial"])
def test_huge_points_are_refused_by_every_name(word, size):
    with pytest.raises(ValueError, match="(?i)rescale the data"):
        resolve_kernel(word, "median", size * points(0))


def test_one_huge_point_does_not_spoil_the_median():
    Z = points(0, 200)
    length = median_bandwidth(np.vstack([Z, 1e200 * np.ones((1, 3))]))
    np.testing.assert_allclose(length, median_bandwidth(Z), rtol=0.02)


def test_points_too_close_to_tell_apart():
    with pytest.raises(ValueError, match="differ by so little.*rescale the data"):
        median_bandwidth(1e-200 * points(0))


@pytest.mark.parametrize("bandwidth", [1e200, 1e-200])
@pytest.mark.parametrize("cls", [Gaussian, Laplace, Matern, Polynomial])
def test_a_bandwidth_must_have_a_square(cls, bandwidth):
    with pytest.raises(ValueError, match="between 1e-150 and 1e150.*rescale the data"):
        cls(bandwidth)


# ---- bandwidths


@few
@given(
    seed=seeds,
    metric=st.sampled_from(["euclidean", "cityblock", "radius"]),
    scale=st.floats(1e-3, 1e3),
)
def test_median_bandwidth_is_blind_to_order_and_scales(seed, metric, scale):
    Z, shuffle = points(seed, 30), np.random.default_rng(seed).permutation(30)
    assert median_bandwidth(Z[shuffle], metric) == median_bandwidth(
        Z, metric
    )  # to the last bit
    np.testing.assert_allclose(
        median_bandwidth(scale * Z, metric),
        scale * median_bandwidth(Z, metric),
        rtol=1e-9,
    )


def test_median_bandwidth_of_many_points():
    Z = points(0, 5000, 4)
    shuffle = np.random.default_rng(1).permutation(5000)
    assert median_bandwidth(Z[shuffle]) == median_bandwidth(Z)
    assert abs(median_bandwidth(Z) / np.median(pdist(Z[:2000])) - 1) < 0.03
    rare = np.zeros((5000, 2))
    rare[1234] = 1.0  # one point differs, and is found
    np.testing.assert_allclose(median_bandwidth(rare), np.sqrt(2))


def test_median_bandwidth_drops_repeated_points():
    Z = points(0, 40)
    np.testing.assert_allclose(median_bandwidth(Z), np.median(pdist(Z)), rtol=1e-12)
    np.testing.assert_allclose(median_bandwidth([[0.0]] * 90 + [[2.0]] * 10), 2.0)
    with pytest.raises(ValueError, match="all points are equal"):
        median_bandwidth(np.ones((4, 2)))


def test_row_order_sorts_by_value():
    Z = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 1.0]])
    assert list(row_order(Z)) == [2, 1, 0]


# ---- by name


def test_resolve_kernel():
    Z = points(0, 50)
    for word, cls in KERNELS.items():
        k = resolve_kernel(word, "median", Z)
        assert type(k) is cls
        if cls.metric:
            assert (
                k.bandwidth == median_bandwidth(Z, cls.metric)
                and resolve_kernel(word, 2, Z).bandwidth == 2.0
            )
    assert resolve_kernel(Laplace(3.0), "median", Z) == Laplace(3.0)
    assert resolve_kernel(pairwise.rbf_kernel, "median", Z) == Custom(
        pairwise.rbf_kernel
    )


@pytest.mark.parametrize(
    "kernel, bandwidth, error, word",
    [
        ("rbf", 1.0, ValueError, "'gaussian'"),
        (3, 1.0, ValueError, "got 3"),
        ("gaussian", "mean", ValueError, "'median'"),
        ("gaussian", 0, ValueError, "greater than 0"),
        ("gaussian", None, TypeError, "bandwidth"),
        (Gaussian, 1.0, TypeError, "instance"),
        (lambda A, B: -A @ B.T, 1.0, ValueError, "semi-definite"),
        (lambda A, B: np.ones(3), 1.0, ValueError, "shape"),
        (lambda A, B: A @ B.T * np.nan, 1.0, ValueError, "NaN"),
        (lambda A, B: A @ B.T + A[:, :1], 1.0, ValueError, "not symmetric"),
    ],
)
def test_resolve_kernel_refuses(kernel, bandwidth, error, word):
    with pytest.raises(error, match=word):
        resolve_kernel(kernel, bandwidth, points(0))


def test_check_gram():
    K = Gaussian(1.0)(points(0), points(0))
    assert (check_gram(K) == K).all() and (
        check_gram(K.astype("f4")) == check_gram(K.astype("f4")).T
    ).all()  # single precision passes
    for bad, word in [
        (K[:3], "square"),
        (K + np.triu(K), "symmetric"),
        (K - np.eye(12), "semi-definite"),
    ]:
        with pytest.raises(ValueError, match=word):
            check_gram(bad)


# ---- outputs


@few
@given(d=st.integers(1, 6), rho=st.floats(0, 1))
def test_output_matrix_and_factor(d, rho):
    P = output_matrix(d, rho)
    R = output_factor(P)
    np.testing.assert_allclose(
        np.linalg.eigvalsh(P),
        np.sort([rho] * (d - 1) + [(1 - rho) * d + rho]),
        atol=1e-12,
    )
    np.testing.assert_allclose(R @ R.T, P, atol=1e-12)
    assert (
        R.shape[1] <= d
        and (output_factor(P) == R).all()
        and (check_output_matrix(P, d) == P).all()
    )
    assert (column_signs(R) == 1).all()


def test_output_factor_drops_null_directions():
    for rank in (1, 2, 4):
        M = points(rank, 4, rank)
        assert output_factor(M @ M.T).shape == (4, rank)
    np.testing.assert_allclose(output_factor(output_matrix(3, 0.0)), np.ones((3, 1)))


@pytest.mark.parametrize(
    "P, word",
    [
        (np.eye(2), "shape"),
        (np.zeros((3, 3)), "zero"),
        (np.triu(np.ones((3, 3))), "symmetric"),
        (np.diag([1.0, 1.0, -1.0]), "semi-definite"),
        (np.full((3, 3), np.nan), "NaN"),
    ],
)
def test_check_output_matrix(P, word):
    with pytest.raises(ValueError, match=word):
        check_output_matrix(P, 3)


# ---- the space


@few
@given(seed=seeds)
def test_projectors_are_bounded_by_their_norm(seed):
    r = np.random.default_rng(seed)
    Z = points(seed)
    new = points(seed + 1, 20, scale=3.0)
    A = r.standard_normal((12, 2))
    P = output_matrix(2, r.random())
    for k in ALL:
        size = np.sqrt(np.trace(A.T @ k(Z, Z) @ A @ P))
        assert (
            np.linalg.norm(k(new, Z) @ A @ P, axis=1)
            <= np.sqrt(np.linalg.eigvalsh(P)[-1] * k.diag(new)) * size * (1 + 1e-9)
        ).all()
