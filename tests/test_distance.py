"""The installed `kpw_distance` and its projectors: what must hold, what must not
matter, and what is refused."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import naive_A
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from kpw_nb import (
    KPWProjector,
    KPWResult,
    MeanProjector,
    WitnessProjector,
    kpw_distance,
)
from kpw_nb.theory.bcd import witness_start
from kpw_nb.theory.distance import cost_scale, random_weights, start_weights
from kpw_nb.theory.kernels import Gaussian, output_factor, output_matrix
from kpw_nb.theory.representer import make_factor, make_features
from kpw_nb.theory.transport import sinkhorn, wasserstein


def prop(**strategies):
    "A property with this file's settings; a profile would change other files' too"
    return lambda f: settings(max_examples=15, deadline=None, derandomize=True)(
        given(**strategies)(f)
    )


def samples(seed=0, n=14, m=11, D=3, shift=0.5):
    gen = np.random.default_rng(seed)
    return gen.normal(size=(n, D)), 1.6 * gen.normal(size=(m, D)) + shift


X, Y = samples()
Z, LABELS = np.vstack([X, Y]), np.r_[np.zeros(len(X)), np.ones(len(Y))]
FRAME = pd.DataFrame(Z, columns=["a", "b", "c"])


def costs(r):
    return ((r.projections[0][:, None] - r.projections[1]) ** 2).sum(-1)


# --- the value -----------------------------------------------------------------------


def best_direction(A, B, n_angles=5000):
    "The projected Wasserstein distance in the plane, by trying all directions"
    angles = np.linspace(0, np.pi, n_angles, endpoint=False)
    a, b = A @ [np.cos(angles), np.sin(angles)], B @ [np.cos(angles), np.sin(angles)]
    return ((np.sort(a, 0) - np.sort(b, 0)) ** 2).mean(0).max()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("solver", ["exact", "bcd"])
def test_linear_kernel_reaches_the_best_direction(seed, solver):
    gen = np.random.default_rng(seed)
    A, B = gen.normal(size=(25, 2)), gen.normal(size=(25, 2)) * [1.5, 0.7] + [0.1, 0.3]
    target = best_direction(A, B)
    r = kpw_distance(
        A,
        B,
        kernel="linear",
        d=1,
        rho=1.0,
        solver=solver,
        eta=0.01 * target,
        n_starts=30,
        rng=1,
        tol=1e-7,
        max_iter=3000,
    )
    assert r.value == pytest.approx(target, rel=1e-3)
    assert r.value <= target * (1 + 1e-3)


@pytest.mark.parametrize("solver", ["bcd", "exact"])
@pytest.mark.parametrize(
    "kw",
    [
        {},
        dict(d=1),
        dict(d=4, rho=0.0),
        dict(rho=1.0),
        dict(P=[[2.0, 1.0], [1.0, 3.0]], d=2),
        dict(kernel="laplace"),
        dict(kernel="matern"),
        dict(kernel="linear"),
        dict(kernel="polynomial"),
        dict(ridge=0.5),
        dict(rank=4),
        dict(rank="auto"),
        dict(norm="variance", ridge=0.1),
        dict(norm="variance", rank=4),
        dict(step="theory"),
        dict(max_iter=3),
        dict(max_iter=1),
        dict(kernel=Gaussian(1.3)),
        dict(kernel=lambda A, B: (1 + A @ B.T) ** 2),
    ],
    ids=lambda kw: re.sub(r" at 0x\w+", "", str(kw)),
)
def test_result_is_consistent(solver, kw):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        r = kpw_distance(X, Y, solver=solver, **kw)
    d = kw.get("d", 3)
    assert [F.shape for F in r.projections] == [
        (len(X), d),
        (len(Y), d),
    ] and r.plan.shape == (len(X), len(Y))
    assert r.value == wasserstein(*r.projections)
    assert r.transport_cost == pytest.approx((r.plan * costs(r)).sum(), rel=1e-7)
    assert r.value_points == (len(X), len(Y))
    np.testing.assert_allclose(r.plan.sum(0), 1 / len(Y), rtol=1e-8)
    np.testing.assert_allclose(
        r.plan.sum(1),
        1 / len(X),
        atol=1e-3 if "max_iter" not in kw and "step" not in kw else 1,
    )
    assert r.n_iter == len(r.history["F"])
    assert r.transport_cost == r.history["transport_cost"][-1] == r.start_values[0]
    np.testing.assert_allclose(
        r.projector.transform(Z),
        np.vstack(r.projections),
        atol=1e-6 * np.abs(np.vstack(r.projections)).max(),
    )
    if solver == "exact":
        assert r.eta == 0 and r.potentials is None
        assert r.objective == r.transport_cost == pytest.approx(r.value, rel=1e-7)
    else:
        u, v = r.potentials
        np.testing.assert_allclose(
            r.plan, np.exp(-costs(r) / r.eta + u[:, None] + v), rtol=1e-6, atol=1e-12
        )
        assert r.objective == pytest.approx(-r.eta * r.history["F"][-1])
        if r.converged:
            assert r.objective == pytest.approx(
                sinkhorn(costs(r), r.eta).objective, abs=1e-4 * r.eta
            )


@pytest.mark.parametrize(
    "kw",
    [
        dict(d=1),
        dict(d=2),
        dict(d=3, rho=1.0),
        dict(d=2, rank=5),
        dict(d=2, solver="exact"),
        dict(d=2, n_starts=3, rng=0),
    ],
    ids=str,
)
def test_rkhs_norm_is_one(kw):
    p = kpw_distance(X, Y, **kw).projector
    P = output_matrix(kw["d"], kw.get("rho", 0.5))
    B, Ks = p.dual_coef_, p.kernel_(Z[p.support_], Z[p.support_])
    assert np.trace(B.T @ Ks @ B @ np.linalg.inv(P)) == pytest.approx(1, abs=1e-8)


def test_value_is_the_papers():
    "c_ij = |A_ij omega|^2 with the paper's block matrices and the learned coefficients"
    r = kpw_distance(X, Y, d=2)
    p, P = r.projector, output_matrix(2, 0.5)
    signs = np.r_[np.ones(len(X)), -np.ones(len(Y))]
    omega = (signs[:, None] * (p.dual_coef_ @ np.linalg.inv(P))).ravel()
    c = ((naive_A(p.kernel_, X, Y, P) @ omega) ** 2).sum(-1)
    assert (r.plan * c).sum() == pytest.approx(r.transport_cost, rel=1e-7)


def test_a_large_plan_is_not_held(monkeypatch):
    held = kpw_distance(X, Y)
    monkeypatch.setattr("kpw_nb.theory.distance._MOST_PAIRS", len(X) * len(Y) - 1)
    r = kpw_distance(X, Y)
    assert r.plan is None and "plan" in r.summary()
    assert r.value == pytest.approx(held.value, rel=1e-6)
    np.testing.assert_allclose(
        np.exp(-costs(r) / r.eta + r.potentials[0][:, None] + r.potentials[1]),
        held.plan,
        atol=1e-7,
    )
    assert r.plot()[0].axes
    with pytest.warns(UserWarning, match="product coupling"):
        kpw_distance(X, Y, eta=1e6)


def test_fit_is_kpw_distance():
    r = kpw_distance(X, Y)
    order = np.random.default_rng(0).permutation(len(Z))
    p = KPWProjector().fit(Z[order], np.where(LABELS, "b", "a")[order])
    assert list(p.classes_) == ["a", "b"]
    assert p.value_ == pytest.approx(r.value, rel=1e-4)
    assert p.transport_cost_ == pytest.approx(r.transport_cost, rel=1e-5)
    assert r.projector.value_ == r.value
    np.testing.assert_allclose(p.transform(Z[order]), p.projections_, atol=1e-8)
    assert p.plan_.shape == (len(X), len(Y))


def test_more_starts_do_not_do_worse():
    one, many = kpw_distance(X, Y, rng=0), kpw_distance(X, Y, n_starts=6, rng=0)
    assert many.objective >= one.objective
    assert many.start_values[0] == one.transport_cost and len(many.start_values) == 6
    one, many = (kpw_distance(X, Y, n_starts=k, rng=0, solver="exact") for k in (1, 6))
    assert many.value >= one.value
    assert many.transport_cost == many.start_values.max()


def test_scale_is_the_largest_mean_cost():
    features, R = make_features(Gaussian(1.5), Z), output_factor(output_matrix(3, 0.5))
    scale, directions = cost_scale(features.phi, R)

    def mean_cost(S):
        F = features.phi @ (S / np.linalg.norm(S)) @ R.T
        return ((F[:, None] - F) ** 2).sum(-1).mean()

    best = np.zeros((features.phi.shape[1], 3))
    best[:, 0] = directions[:, 0]
    assert mean_cost(best) == pytest.approx(scale, rel=1e-10)
    gen = np.random.default_rng(0)
    assert max(mean_cost(gen.normal(size=best.shape)) for _ in range(50)) < scale
    assert kpw_distance(X, Y, bandwidth=1.5).eta == pytest.approx(scale / 10)


def test_scale_of_many_points():
    "Beyond 400 directions an iterative method takes over"
    phi = np.random.default_rng(0).normal(size=(450, 420)) * np.linspace(2, 1, 420)
    scale, directions = cost_scale(phi, np.eye(2))
    centred = phi - phi.mean(0)
    assert scale == pytest.approx(
        2 * np.linalg.norm(centred, 2) ** 2 / 450, rel=1e-8
    ) and directions.shape == (420, 2)


@pytest.mark.parametrize("r, q", [(1, 1), (1, 4), (2, 4), (5, 3)])
def test_weights_of_the_start(r, q):
    phi = np.random.default_rng(0).normal(size=(9, r))
    twice = np.vstack([phi, phi])  # equal samples: there is no witness
    for rows, n in ((phi, 4), (twice, 9)):
        directions = np.ascontiguousarray(cost_scale(rows, np.eye(q))[1])
        S = rows.T @ start_weights(rows, directions, q, n)
        want = witness_start(rows, directions, n, q)
        np.testing.assert_allclose(S / np.linalg.norm(S), want, atol=1e-10)


@pytest.mark.parametrize(
    "option", [{}, dict(ridge=0.1), dict(rank=5), dict(rank="auto")]
)
def test_factor_and_features_pose_the_same_problem(option):
    k = Gaussian(1.5)
    factor, features = make_factor(k, Z, **option), make_features(k, Z, **option)
    np.testing.assert_allclose(factor.phi @ factor.phi.T, features.H, atol=1e-9)
    S = np.random.default_rng(0).normal(size=(factor.phi.shape[1], 2))
    values = k(Z, Z)[:, factor.support] @ factor.expand(S)
    np.testing.assert_allclose(values, factor.phi @ S, atol=1e-7)
    W = random_weights(factor, 2, 0)
    assert W.shape == (len(Z), 2) and np.isfinite(W).all()
    if not option:
        np.testing.assert_allclose(factor.phi.T @ W, S, atol=1e-6)


def test_the_same_sample_twice():
    "It was 0.04: the cost of the entropic plan"
    for kw in ({}, dict(d=1), dict(solver="exact"), dict(kernel="linear")):
        r = kpw_distance(X, X, **kw)
        assert r.value == pytest.approx(0, abs=1e-20)
        assert np.isfinite(r.objective)
    order = np.random.default_rng(0).permutation(len(X))
    assert kpw_distance(X, X[order]).value == pytest.approx(0, abs=1e-20)


def test_value_of_many_points_says_on_how_many(monkeypatch):
    monkeypatch.setattr("kpw_nb.theory.distance._MOST_EXACT", len(X) * len(Y) - 1)
    monkeypatch.setattr("kpw_nb.theory.distance._FEWER", 5)
    r = kpw_distance(X, Y, d=2)
    FX, FY = r.projections
    assert r.value_points == (5, 5)
    some = wasserstein(FX[[0, 3, 6, 10, 13]], FY[[0, 2, 5, 8, 10]])
    assert r.value == pytest.approx(some, rel=1e-12)
    r = kpw_distance(X, Y, d=1)
    assert r.value_points == (len(X), len(Y)) and r.value == wasserstein(*r.projections)


# --- units ---------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["bcd", "exact"])
@pytest.mark.parametrize("size", [1e-100, 2.0**-20, 1e80, 1e130])
def test_units_of_a_linear_kernel_do_not_matter(solver, size):
    "Costs of 1e160 have no squares: it hung"
    want = kpw_distance(X, Y, kernel="linear", solver=solver, max_iter=30)
    r = kpw_distance(size * X, size * Y, kernel="linear", solver=solver, max_iter=30)
    assert r.value / size**2 == pytest.approx(want.value, rel=1e-6)
    assert r.transport_cost / size**2 == pytest.approx(want.transport_cost, rel=1e-6)
    assert r.eta / size**2 == pytest.approx(want.eta, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_units_of_the_output_matrix_do_not_matter(size):
    "P of 1e200 hung"
    want = kpw_distance(X, Y, P=np.eye(3))
    r = kpw_distance(X, Y, P=np.diag([size] * 3))
    assert r.value / size == pytest.approx(want.value, rel=1e-6)
    assert r.objective / size == pytest.approx(want.objective, rel=1e-6)


@pytest.mark.parametrize(
    "kw, size, text",
    [
        (dict(kernel="linear"), 1e145, "overflow.*divide the data"),
        (dict(kernel="linear"), 1e-145, "underflow.*divide the data"),
        (dict(P=np.diag([1e300] * 3)), 1.0, "overflow.*P by its largest"),
        (dict(eta=1e-120), 1.0, "eta=1e-120.*eta='auto'"),
        (dict(eta=1e120), 1.0, "eta=1e.120.*eta='auto'"),
    ],
    ids=str,
)
def test_what_no_float_can_hold_is_refused(kw, size, text):
    with pytest.raises(ValueError, match=text):
        kpw_distance(size * X, size * Y, **kw)


def odd(kind, gen):
    "Two small samples as no textbook has them"
    A, B = gen.normal(size=(gen.integers(2, 9), 2)), gen.normal(size=(7, 2))
    if kind == "binary":
        return A > 0, B > 0
    if kind == "tied":
        return np.round(A), np.round(B)
    if kind == "one point differs":
        return np.zeros_like(A), np.eye(7)[:, :2]
    if kind == "outlier":
        return A * 10.0 ** gen.integers(0, 100, (len(A), 1)), B
    if kind == "the same":
        return B, gen.permutation(B)
    return A * kind, B * kind


@pytest.mark.parametrize("kernel", ["gaussian", "linear", "polynomial"])
@pytest.mark.parametrize(
    "kind",
    [
        "binary",
        "tied",
        "one point differs",
        "outlier",
        "the same",
        *(1e-160, 1e-80, 1e70, 1e160, 1e300),
    ],
)
def test_odd_samples_end_in_a_number_or_a_reason(kernel, kind):
    for seed in range(4):
        A, B = odd(kind, np.random.default_rng(seed))
        for kw in (dict(), dict(solver="exact"), dict(step="theory"), dict(rho=0.0)):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.filterwarnings("ignore", "eta=")
                try:
                    r = kpw_distance(A, B, kernel=kernel, max_iter=40, **kw)
                except ValueError as e:
                    words = "overflow|underflow|too large|constant|zero|bandwidth|same"
                    assert re.search(words, str(e)), str(e)
                else:
                    assert np.isfinite(r.value) and np.isfinite(r.objective)


def test_bits_do_not_depend_on_blas_threads():
    from threadpoolctl import threadpool_limits

    A, B = samples(0, 300, 280, 40)
    values = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads):
            r = kpw_distance(A, B, max_iter=10)
            values.append((r.value, r.objective, r.projector.transform(A).tobytes()))
    assert values[0] == values[1] == values[2]


# --- iterations and progress ---------------------------------------------------------


@pytest.mark.parametrize("max_iter", [1, 7, 100, 101, 250])
@pytest.mark.parametrize("step", ["adaptive", "theory"])
def test_tolerance_zero_runs_all_iterations(max_iter, step):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        r = kpw_distance(X, Y, tol=0, max_iter=max_iter, step=step)
    assert r.n_iter == max_iter and not r.converged
    assert (
        np.diff(r.history["F"]).max(initial=-1) <= 1e-12 * np.abs(r.history["F"]).max()
    )


@pytest.mark.parametrize(
    "solver, n_starts, max_iter", [("bcd", 1, 250), ("bcd", 3, 50), ("exact", 2, 4)]
)
def test_progress_is_reported(solver, n_starts, max_iter):
    seen = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kpw_distance(
            X,
            Y,
            solver=solver,
            tol=0,
            max_iter=max_iter,
            n_starts=n_starts,
            progress=lambda done, total: seen.append((done, total)),
        )
    done = [k for k, _ in seen]
    assert (
        done == sorted(done)
        and {total for _, total in seen} == {n_starts * max_iter}
        and done[-1] <= n_starts * max_iter
    )
    if solver == "bcd":
        assert done[-1] == n_starts * max_iter and len(done) == n_starts * -(
            -max_iter // 100
        )


def test_progress_bar_is_drawn(capsys):
    kpw_distance(X, Y, progress=True)
    assert "kpw" in capsys.readouterr().err


# --- what does not matter ------------------------------------------------------------

TIGHT = dict(d=2, bandwidth=1.5, tol=1e-7, max_iter=20_000)


@prop(
    seed=st.integers(0, 2**31),
    n=st.integers(4, 12),
    m=st.integers(4, 12),
    shift=st.floats(0.3, 2),
)
def test_order_swap_and_shift_do_not_matter(seed, n, m, shift):
    A, B = samples(seed, n, m, shift=shift)
    gen = np.random.default_rng(seed)
    base = kpw_distance(A, B, **TIGHT)
    others = [
        kpw_distance(A[gen.permutation(n)], B[gen.permutation(m)], **TIGHT),
        kpw_distance(B, A, **TIGHT),
        kpw_distance(A + 7, B + 7, **TIGHT),
    ]
    for r in others:
        assert r.objective == pytest.approx(
            base.objective, abs=1e-5 * base.eta
        ) and r.eta == pytest.approx(base.eta, rel=1e-9)


@prop(seed=st.integers(0, 2**31), scale=st.floats(0.01, 100))
def test_units_do_not_matter(seed, scale):
    A, B = samples(seed, 8, 9)
    assert kpw_distance(scale * A, scale * B).value == pytest.approx(
        kpw_distance(A, B).value, rel=1e-3
    )


@prop(seed=st.integers(0, 2**31))
def test_rotation_of_the_data_does_not_matter(seed):
    A, B = samples(seed, 8, 9)
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    assert kpw_distance(A @ Q, B @ Q, **TIGHT).objective == pytest.approx(
        kpw_distance(A, B, **TIGHT).objective, rel=1e-5
    )


@pytest.mark.parametrize(
    "convert",
    [
        np.ndarray.tolist,
        pd.DataFrame,
        np.asfortranarray,
        lambda A: A.astype(object),
        lambda A: np.repeat(A, 2, 0)[::2],
        lambda A: tuple(map(tuple, A)),
    ],
    ids=["list", "frame", "fortran", "object", "view", "tuple"],
)
def test_containers(convert):
    assert kpw_distance(convert(X), convert(Y)).value == kpw_distance(X, Y).value


def test_narrow_and_whole_numbers():
    assert kpw_distance(
        X.astype(np.float32), Y.astype(np.float32)
    ).value == pytest.approx(kpw_distance(X, Y).value, rel=1e-3)
    A, B = (4 * X).astype(int), (4 * Y).astype(int)
    assert (
        kpw_distance(A, B).value == kpw_distance(A.astype(float), B.astype(float)).value
    )


@pytest.mark.parametrize(
    "kw", [{}, dict(solver="exact"), dict(rank="auto"), dict(P=np.eye(3))], ids=str
)
def test_inputs_are_read_only(kw):
    A, B = X.copy(), Y.copy()
    A.flags.writeable = B.flags.writeable = False
    r = kpw_distance(A, B, **kw)
    np.testing.assert_array_equal(A, X)
    np.testing.assert_array_equal(B, Y)
    assert r.value > 0
    KPWProjector(max_iter=20).fit(np.vstack([A, B]), LABELS)


@pytest.mark.parametrize("solver", ["bcd", "exact"])
def test_equal_seeds_give_equal_results(solver):
    a, b, c = (
        kpw_distance(X, Y, n_starts=4, rng=seed, solver=solver, max_iter=100)
        for seed in (3, 3, np.random.default_rng(3))
    )
    for r in (b, c):
        np.testing.assert_array_equal(a.plan, r.plan)
        np.testing.assert_array_equal(a.start_values, r.start_values)
    np.testing.assert_array_equal(
        kpw_distance(X, Y).plan, kpw_distance(X, Y, rng=9).plan
    )  # one start: nothing is random


def test_precomputed_is_the_same():
    K = Gaussian(1.5)(Z, Z)
    a = kpw_distance(X, Y, bandwidth=1.5, **{k: TIGHT[k] for k in ("tol", "max_iter")})
    b = kpw_distance(
        K[: len(X)], K[len(X) :], kernel="precomputed", tol=1e-7, max_iter=20_000
    )
    assert a.value == pytest.approx(b.value, rel=1e-6) and a.eta == pytest.approx(
        b.eta, rel=1e-9
    )
    new = np.random.default_rng(0).normal(size=(5, 3))
    np.testing.assert_allclose(costs(b), costs(a), atol=1e-5)
    np.testing.assert_allclose(
        np.abs(b.projector.transform(Gaussian(1.5)(new, Z))),
        np.abs(a.projector.transform(new)),
        atol=1e-4,
    )
    p = KPWProjector(kernel="precomputed").fit(K, LABELS)
    assert (
        p.transform(K[:3]).shape == (3, 3) and p.__sklearn_tags__().input_tags.pairwise
    )


# --- results and estimators ----------------------------------------------------------


def test_result_pickles_and_prints():
    r = kpw_distance(X, Y)
    s = pickle.loads(pickle.dumps(r))
    assert (
        isinstance(s, KPWResult)
        and s.value == r.value
        and "value" in repr(r)
        and "<table>" in r._repr_html_()
    )
    np.testing.assert_array_equal(s.projector.transform(Z), r.projector.transform(Z))
    with pytest.raises(AttributeError):
        r.value = 0


@pytest.mark.parametrize("d", [1, 2, 4])
def test_result_draws(d):
    import matplotlib.pyplot as plt

    fig, ax = kpw_distance(X, Y, d=d).plot()
    assert ax.get_xlabel()
    plt.close(fig)


@parametrize_with_checks(
    [
        KPWProjector(max_iter=20),
        KPWProjector(max_iter=5, solver="exact", d=1),
        KPWProjector(max_iter=20, rank="auto", ridge=0.1),
        WitnessProjector(kernel="linear"),
    ]
)
def test_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "eta=")
        check(estimator)


def test_clone_pipeline_and_search():
    p = clone(KPWProjector(d=2, ridge=0.1)).fit(Z, LABELS)
    assert p.get_params()["d"] == 2 and clone(p).get_params() == p.get_params()
    pipe = make_pipeline(KPWProjector(d=2, max_iter=50), LogisticRegression())
    assert (
        GridSearchCV(pipe, {"kpwprojector__ridge": [0.0, 1.0]}, cv=2)
        .fit(Z, LABELS)
        .best_score_
        > 0.4
    )


# --- warnings ------------------------------------------------------------------------


def caught(*args, **kw):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        kpw_distance(*args, **kw)
    return [(str(w.message), w.filename) for w in seen]


def test_warnings_about_eta():
    ((text, where),) = caught(X, Y, eta=1e3)
    assert "product coupling" in text and "eta=" in text and where == __file__
    ((text, where),) = caught(X, Y, eta=1e-7, max_iter=20)
    assert "too small" in text and where == __file__


@pytest.mark.parametrize(
    "n, m, D, shift",
    [
        (10, 10, 1, 0),
        (30, 20, 2, 0),
        (50, 50, 50, 0),
        (40, 60, 200, 0),
        (20, 20, 3, 20),
        (2, 2, 2, 1),
    ],
)
def test_no_warning_by_default(n, m, D, shift):
    gen = np.random.default_rng(0)
    for kw in (
        {},
        dict(ridge=1.0),
        dict(norm="variance", ridge=0.1),
        dict(solver="exact", max_iter=30),
        dict(rho=0.0),
    ):
        assert (
            caught(gen.normal(size=(n, D)), gen.normal(size=(m, D)) + shift, **kw) == []
        )


# --- what is refused -----------------------------------------------------------------


def with_entry(value):
    A = X.copy()
    A[3, 1] = value
    return A


BAD_SAMPLES = [
    (with_entry(np.nan), Y, ValueError, "X.*NaN"),
    (X, with_entry(np.nan), ValueError, "Y.*NaN"),
    (with_entry(np.inf), Y, ValueError, "X.*infinity"),
    (X, -with_entry(np.inf), ValueError, "Y.*infinity"),
    (X[:, 0], Y, ValueError, "X.*2-D"),
    (X, Y[:, 0], ValueError, "Y.*2-D"),
    (X[None], Y, ValueError, "X.*2-D"),
    (1.0, Y, ValueError, "X.*2-D"),
    (X[:1], Y, ValueError, "X.*at least 2"),
    (X, Y[:1], ValueError, "Y.*at least 2"),
    (X[:0], Y, ValueError, "X"),
    (X[:, :0], Y[:, :0], ValueError, "X.*feature"),
    ([], Y, ValueError, "X"),
    (X, Y[:, :2], ValueError, "X has 3 features but Y has 2"),
    (np.ones((5, 2)), np.ones((4, 2)), ValueError, "X and Y are constant"),
    ([["a", "b"]] * 3, Y, ValueError, "X.*numbers"),
    (X, np.full(Y.shape, "a", object), ValueError, "Y.*numbers"),
    (X + 1j, Y, ValueError, "X.*Complex|Complex.*X"),
    (X, Y * 1j, ValueError, "Complex.*Y"),
    (scipy.sparse.csr_matrix(X), Y, TypeError, "X.*sparse"),
    (X, scipy.sparse.csr_array(Y), TypeError, "Y.*sparse"),
    (None, Y, ValueError, "X"),
    (pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}), Y, ValueError, "X.*numbers"),
    (dict(a=1), Y, (ValueError, TypeError), "X"),
    ([[1, 2], [3]], Y, ValueError, "X|inhomogeneous"),
]


@pytest.mark.parametrize("A, B, error, text", BAD_SAMPLES, ids=range(len(BAD_SAMPLES)))
def test_bad_samples(A, B, error, text):
    with pytest.raises(error, match=text):
        kpw_distance(A, B)


class NotAKernel:
    pass


BAD_ARGUMENTS = [
    (dict(d=0), ValueError, "d must"),
    (dict(d=-2), ValueError, "d must"),
    (dict(d=2.0), TypeError, "d must"),
    (dict(d=True), TypeError, "d must"),
    (dict(d="2"), TypeError, "d must"),
    (dict(d=None), TypeError, "d must"),
    (dict(rho=-0.1), ValueError, "rho"),
    (dict(rho=1.1), ValueError, "rho"),
    (dict(rho=np.nan), ValueError, "rho"),
    (dict(rho="x"), TypeError, "rho"),
    (dict(rho=None), TypeError, "rho"),
    (dict(eta=0), ValueError, "eta"),
    (dict(eta=-1.0), ValueError, "eta"),
    (dict(eta="small"), ValueError, "eta"),
    (dict(eta=np.nan), ValueError, "eta"),
    (dict(eta=np.inf), ValueError, "eta"),
    (dict(eta=None), TypeError, "eta"),
    (dict(ridge=-1e-3), ValueError, "ridge"),
    (dict(ridge=np.inf), ValueError, "ridge"),
    (dict(ridge="x"), TypeError, "ridge"),
    (dict(rank=0), ValueError, "rank"),
    (dict(rank=-1), ValueError, "rank"),
    (dict(rank=1.5), TypeError, "rank"),
    (dict(rank="x"), ValueError, "rank"),
    (dict(rank=True), TypeError, "rank"),
    (dict(norm="l2"), ValueError, "norm"),
    (dict(norm=None), ValueError, "norm"),
    (dict(norm="variance"), ValueError, "norm.*ridge"),
    (dict(norm="variance", rank="auto"), ValueError, "norm.*ridge"),
    (dict(solver="newton"), ValueError, "solver"),
    (dict(solver=None), ValueError, "solver"),
    (dict(step="large"), ValueError, "step"),
    (dict(step=0.1), ValueError, "step"),
    (dict(n_starts=0), ValueError, "n_starts"),
    (dict(n_starts=1.5), TypeError, "n_starts"),
    (dict(max_iter=0), ValueError, "max_iter"),
    (dict(max_iter=10.0), TypeError, "max_iter"),
    (dict(max_iter=None), TypeError, "max_iter"),
    (dict(tol=-1e-9), ValueError, "tol"),
    (dict(tol=np.nan), ValueError, "tol"),
    (dict(tol="x"), TypeError, "tol"),
    (dict(rng="seed"), TypeError, "rng"),
    (dict(rng=-1), TypeError, "rng"),
    (dict(rng=1.5), TypeError, "rng"),
    (dict(progress="yes"), TypeError, "progress"),
    (dict(progress=None), TypeError, "progress"),
    (dict(progress=1), TypeError, "progress"),
    (dict(kernel="sigmoid"), ValueError, "kernel"),
    (dict(kernel=None), ValueError, "kernel"),
    (dict(kernel=3), ValueError, "kernel"),
    (dict(kernel=Gaussian), TypeError, "kernel.*instance"),
    (dict(kernel=NotAKernel()), ValueError, "kernel"),
    (dict(kernel=lambda A, B: -A @ B.T), ValueError, "kernel.*positive"),
    (
        dict(kernel=lambda A, B: A @ B.T + np.triu(np.ones((len(A), len(B))))),
        ValueError,
        "kernel.*symmetric",
    ),
    (dict(kernel=lambda A, B: np.ones(len(A))), ValueError, "kernel.*shape"),
    (
        dict(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)),
        ValueError,
        "kernel.*NaN",
    ),
    (dict(kernel=lambda A, B: np.zeros((len(A), len(B)))), ValueError, "kernel.*zero"),
    (dict(kernel=lambda A, B: np.ones((len(A), len(B)))), ValueError, "same features"),
    (dict(kernel="precomputed"), ValueError, "precomputed"),
    (dict(bandwidth=0), ValueError, "bandwidth"),
    (dict(bandwidth=-1.0), ValueError, "bandwidth"),
    (dict(bandwidth="mean"), ValueError, "bandwidth"),
    (dict(bandwidth=np.nan), ValueError, "bandwidth"),
    (dict(bandwidth=None), TypeError, "bandwidth"),
    (dict(P=np.eye(2)), ValueError, "P must"),
    (dict(P=np.eye(3)[0]), ValueError, "P must"),
    (dict(P=np.triu(np.ones((3, 3)))), ValueError, "P.*symmetric"),
    (dict(P=-np.eye(3)), ValueError, "P.*positive"),
    (dict(P=np.zeros((3, 3))), ValueError, "P.*zero"),
    (dict(P=np.diag([1.0, np.nan, 1.0])), ValueError, "P.*NaN"),
    (dict(P="eye"), ValueError, "P"),
]


@pytest.mark.parametrize(
    "kw, error, text",
    BAD_ARGUMENTS,
    ids=[f"{i}-{next(iter(kw))}" for i, (kw, *_) in enumerate(BAD_ARGUMENTS)],
)
def test_bad_arguments(kw, error, text):
    with pytest.raises(error, match=text):
        kpw_distance(X, Y, **kw)
    if kw.get("kernel") == "precomputed":
        return
    with pytest.raises(error, match=text):
        KPWProjector(**kw).fit(Z, LABELS)


@pytest.mark.parametrize(
    "y, text",
    [
        (np.zeros(len(Z)), "y.*two"),
        (np.arange(len(Z)) % 3, "y.*two"),
        (LABELS[:-1], "inconsistent|y"),
        (None, "y"),
        (LABELS[:, None] * np.ones(2), "y"),
        (np.where(LABELS, np.nan, 0), "NaN"),
        (np.linspace(0, 1, len(Z)), "continuous|y"),
    ],
)
@pytest.mark.parametrize("cls", [KPWProjector, MeanProjector, WitnessProjector])
def test_bad_labels(cls, y, text):
    "Mean and witness took three labels without a word"
    with pytest.raises(ValueError, match=text):
        cls().fit(Z, y)


@pytest.mark.parametrize("cls", [MeanProjector, WitnessProjector])
def test_kernel_projectors(cls):
    p = cls(bandwidth=1.5).fit(FRAME, LABELS)
    assert p.n_features_in_ == 3 and list(p.feature_names_in_) == ["a", "b", "c"]
    assert list(p.classes_) == [0, 1]
    with pytest.raises(ValueError, match="3 features"):
        cls().fit(Z, LABELS).transform(Z[:, :2])
    K, b = p.kernel_(Z, Z), p.dual_coef_[:, 0]
    assert b @ K @ b == pytest.approx(1, rel=1e-12)
    by_gram = cls(kernel="precomputed").fit(K, LABELS)
    np.testing.assert_allclose(by_gram.transform(K[:4])[:, 0], K[:4] @ b, atol=1e-12)
    with pytest.raises(ValueError, match="Gram matrix"):
        cls(kernel="precomputed").fit(Z, LABELS)


def test_a_projector_without_a_function_is_zero_or_the_mean():
    twice, labels = np.vstack([X, X]), np.repeat([0, 1], len(X))
    f, g = (cls().fit(twice, labels) for cls in (WitnessProjector, MeanProjector))
    np.testing.assert_allclose(f.transform(Z), g.transform(Z), rtol=1e-12)
    centred = np.vstack([X, -X])
    h = MeanProjector(kernel="linear").fit(centred, labels)
    assert not h.transform(Z).any()


def test_bad_use():
    p = KPWProjector(max_iter=20)
    with pytest.raises(NotFittedError):
        p.transform(Z)
    p.fit(Z, LABELS)
    with pytest.raises(ValueError, match="3 features"):
        p.transform(Z[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        p.transform(with_entry(np.nan))
    with pytest.raises(TypeError):
        kpw_distance(X, Y, 3)  # options are named
    with pytest.raises(TypeError, match="bandwith"):
        kpw_distance(X, Y, bandwith=1.0)
    K = Gaussian(1.0)(Z, Z)
    with pytest.raises(ValueError, match="square"):
        KPWProjector(kernel="precomputed").fit(K[:, :-1], LABELS)
    with pytest.raises(ValueError, match="symmetric"):
        KPWProjector(kernel="precomputed").fit(np.tril(K), LABELS)
    with pytest.raises(ValueError, match="positive"):
        KPWProjector(kernel="precomputed").fit(-K, LABELS)
