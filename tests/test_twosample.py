"kpw_test: exact, the same for any worker count, kind to bad input."

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from scipy.stats import binom

from kpw_nb import (
    KPWProjector,
    KPWTest,
    MeanProjector,
    WitnessProjector,
    kpw_distance,
    kpw_test,
)
from kpw_nb.compare.family import MEMBERS, default_family, refit_statistics
from kpw_nb.compare.features import Pool
from kpw_nb.compare.relabel import permutation_pvalue
from kpw_nb.theory.transport import sinkhorn, wasserstein
from kpw_nb.ground.sample import as_samples, split_samples
from kpw_nb.compare.statistics import (
    Dual,
    Potentials,
    mmd_values,
    refit_statistic,
    soft_transform,
)
from kpw_nb.compare.twosample import resolve, select_projector

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((20, 4)), rng.standard_normal((16, 4)) * [2, 1, 1, 1]
METHODS = {
    "refit": dict(method="refit"),
    "split": dict(method="split"),
    "one": dict(method="refit", candidates=KPWProjector(d=2, ridge=1.0)),
    "algorithm 1": dict(method="split", candidates=KPWProjector(d=2)),
}


@pytest.mark.parametrize("kw", METHODS.values(), ids=METHODS)
def test_same_bits_for_any_workers(kw):
    base = kpw_test(X, Y, n_resamples=39, rng=3, **kw)
    with ThreadPoolExecutor(2) as pool:
        for workers in (2, pool.map):
            other = kpw_test(X, Y, n_resamples=39, rng=3, workers=workers, **kw)
            assert other.statistic == base.statistic and other.pvalue == base.pvalue
            assert (other.null_distribution == base.null_distribution).all()


def test_same_bits_on_dask():
    from dask.distributed import Client
    from joblib import parallel_config

    base = kpw_test(X, Y, n_resamples=39, rng=3)
    with (
        Client(
            processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None
        ),
        parallel_config(backend="dask"),
    ):
        other = kpw_test(X, Y, n_resamples=39, rng=3, workers=2)
    assert (
        other.null_distribution == base.null_distribution
    ).all() and other.statistic == base.statistic


@pytest.mark.parametrize("kw", METHODS.values(), ids=METHODS)
def test_level(kw):
    "120 null data sets, n != m, ties: rejections stay under the 99.9 % binomial bound"
    p = []
    for t in range(120):
        g = np.random.default_rng([5, t])
        p.append(
            kpw_test(
                np.round(g.standard_normal((11, 2)), 1),
                np.round(g.standard_normal((8, 2)), 1),
                n_resamples=19,
                rng=t,
                **kw,
            ).pvalue
        )
    for alpha in (0.05, 0.1, 0.3, 0.6):
        assert (np.array(p) <= alpha + 1e-12).sum() <= binom.ppf(0.999, len(p), alpha)


def test_finds_a_clear_difference():
    res = kpw_test(X, Y + 2, rng=0, n_resamples=199)
    assert res.pvalue == 1 / 200 and res.reject() and not res.reject(0.001)
    assert "differ" in res.summary() and kpw_test(X, Y + 2, rng=0).reject(0.001)
    assert kpw_test(X, Y + 2, method="split", rng=0).pvalue <= 0.05


def test_result():
    res = kpw_test(X, Y, n_resamples=39, rng=0)
    statistic, pvalue = res
    assert (statistic, pvalue) == (res.statistic, res.pvalue) and len(
        res.null_distribution
    ) == res.n_resamples == 39
    assert res.interval[0] <= pvalue <= res.interval[1] and len(res.candidates) == len(
        default_family(Pool(np.vstack([X, Y])))
    )
    copy = pickle.loads(pickle.dumps(res))
    assert copy.statistic == res.statistic and "<table>" in res._repr_html_()
    again = kpw_test(X, Y, n_resamples=39, rng=res.seed)
    assert (again.null_distribution == res.null_distribution).all()
    where = res.where()
    assert sorted(where.of("X")["row"]) == list(range(20))
    assert sorted(where.columns["column"]) == list(range(4))
    assert where.columns["share"].sum() == pytest.approx(1)
    fig, axes = res.plot()
    assert len(axes) == 2


def test_inputs_are_not_changed():
    A, B = X.copy(), Y.copy()
    A.flags.writeable = B.flags.writeable = False
    for kw in METHODS.values():
        kpw_test(A, B, n_resamples=19, rng=0, **kw)
    assert (A == X).all() and (B == Y).all()


def test_relabelling_is_what_changes_nothing():
    "The order of points within a sample does not matter"
    Z, n = np.vstack([X, Y]), len(X)
    order = np.r_[rng.permutation(n), n + rng.permutation(len(Y))]
    marks = np.arange(len(Z))[None] < n
    mixed, plain = (
        refit_statistics(default_family(Pool(A)), A)(marks) for A in (Z[order], Z)
    )
    np.testing.assert_allclose(mixed, plain, rtol=1e-6)


def test_kernels_against_plain_python():
    Z, n = np.vstack([X, Y])[:9], 5
    K = np.exp(-((Z[:, None] - Z) ** 2).sum(-1))
    orders = np.array([rng.permutation(9) for _ in range(4)])
    W = np.full((4, 9), -1 / 4)
    np.put_along_axis(W, orders[:, :n], 1 / n, axis=1)
    plain = getattr(mmd_values, "py_func", mmd_values)(K, W)
    np.testing.assert_allclose(mmd_values(K, W), plain, rtol=1e-12)
    naive = [
        K[np.ix_(o[:n], o[:n])].mean()
        + K[np.ix_(o[n:], o[n:])].mean()
        - 2 * K[np.ix_(o[:n], o[n:])].mean()
        for o in orders
    ]
    np.testing.assert_allclose(plain, naive, rtol=1e-10, atol=1e-12)


def test_refit_is_the_distance():
    for kw in (
        dict(d=1),
        dict(d=3, ridge=1.0),
        dict(d=2, norm="variance", ridge=0.5),
        dict(d=2, rank=5),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # 25 iterations are not meant to converge
            r = kpw_distance(X, Y, max_iter=25, tol=0, **kw)
        s = refit_statistic(KPWProjector(**kw), np.vstack([X, Y]), 25)
        assert s(np.arange(36)[None] < len(X))[0] == pytest.approx(
            r.objective, rel=1e-6
        )


def test_protocol():
    t = KPWTest(candidates=[MeanProjector(), WitnessProjector()])
    assert t.fit(X, Y) is t
    res = t.test(X + 0.1, Y + 0.1, n_resamples=19, rng=0)
    assert res.method == "split" and res.n_resamples == 19
    assert KPWTest().test(X, Y, n_resamples=19, rng=0).method == "refit"


def test_the_method_is_honoured():
    for method in ("refit", "split", "stream"):
        assert KPWTest(method).test(X, Y, n_resamples=19, rng=0).method == method
    assert KPWTest("refit").fit(X, Y).test(X, Y, n_resamples=19).method == "refit"
    with pytest.raises(ValueError, match="method must be one of"):
        KPWTest("nonsense").test(X, Y, n_resamples=19, rng=0)
    with pytest.raises(ValueError, match="method must be one of"):
        KPWTest("nonsense").fit(X, Y)
    assert KPWTest("stream").fit(X, Y).test(X, Y, n_resamples=19).method == "stream"


def test_the_training_rows_are_refused():
    "297 of 349 nulls were rejected so, without a word"
    g = np.random.default_rng(0)
    A, B = g.standard_normal((30, 2)), g.standard_normal((30, 2))
    t = KPWTest("split").fit(A, B)
    shuffled = g.permutation(30)
    for again in ((A, B), (A[shuffled], g.standard_normal((30, 2))), (B, A)):
        with pytest.raises(ValueError, match="rows that the test was trained"):
            t.test(*again, n_resamples=19, rng=0)
    coins = [(g.random((40, 2)) < 0.5) * 1.0 for _ in range(4)]  # ties are no crime
    KPWTest("split").fit(*coins[:2]).test(*coins[2:], n_resamples=19, rng=0)


@pytest.mark.parametrize("n", [30, 3000, 60_000])
def test_a_word_means_the_same_at_every_size(n):
    assert resolve(KPWTest("split"), n, n).statistic == "dual"
    assert resolve(KPWTest("split"), n, n).combine == "weights"
    assert resolve(KPWTest("stream"), n, n).statistic == "refit"
    assert resolve(KPWTest("stream"), n, n).combine == "harmonic"
    assert resolve(KPWTest("refit"), n, n).combine == "harmonic"
    auto = resolve(KPWTest(), n, n)
    many = 2 * n > 40_000
    assert auto.method == ("stream" if many else "refit") and str(2 * n) in auto.why


def test_cross_validation_chooses_from_the_paper_grid():
    best, table = select_projector(X, Y, rng=0, n_resamples=19)
    assert len(table) == 9 and {t.projector.rho for t in table} == {0.25, 0.5, 0.75}
    assert min((p, -z) for _, p, z in table) == next(
        (p, -z) for q, p, z in table if q is best
    )
    assert kpw_test(X, Y, candidates="cv", n_resamples=19, rng=0).method == "split"


def test_large_samples_are_added_up():
    g = np.random.default_rng(0)
    res = kpw_test(
        g.standard_normal((51_000, 2)),
        g.standard_normal((50_000, 2)),
        n_resamples=19,
        rng=0,
    )
    assert res.method == "stream" and "101000 points" in res.reason


@pytest.mark.parametrize("n", [4, 5, 9])
def test_a_few_rows_against_many(n):
    g = np.random.default_rng(n)
    A, B = g.standard_normal((n, 2)), g.standard_normal((3500, 2))
    for method in ("auto", "stream"):
        res = kpw_test(A, B, method=method, n_resamples=19, rng=0)
        null = res.null_distribution
        assert res.pvalue == permutation_pvalue(res.statistic, null) and np.ptp(null)
    kept = kpw_test(A, B[:2500], n_resamples=19, rng=0)
    assert kept.method == "refit"  # all of the few rows are used


BAD = [
    (dict(method="both"), ValueError, "method"),
    (dict(candidates=[]), ValueError, "candidates is empty"),
    (dict(candidates="best"), ValueError, "candidates"),
    (dict(candidates=3), TypeError, "candidates must be"),
    (dict(candidates=KPWProjector(solver="exact")), ValueError, "solver"),
    (dict(candidates=["best"]), ValueError, "candidates must be"),
    (dict(candidates=["auto"]), ValueError, "candidates must be"),
    (dict(method="split", candidates=["share"]), ValueError, "share cannot be trained"),
    (dict(method="refit", candidates="cv"), ValueError, "cv"),
    (dict(n_resamples=0), ValueError, "n_resamples"),
    (dict(n_resamples=9.5), TypeError, "n_resamples"),
    (dict(rng="x"), TypeError, "rng"),
    (dict(workers=0), ValueError, "workers"),
    (dict(progress="x"), TypeError, "progress"),
    (dict(method="split", train_size=0), ValueError, "train_size"),
    (dict(method="split", train_size=1.2), ValueError, "train_size"),
    (dict(method="split", train_size=0.95), ValueError, "train_size"),
    (dict(combine="sum"), ValueError, "combine"),
    (dict(candidates=KPWProjector(eta=-1)), ValueError, "eta"),
    (dict(candidates=KPWProjector(d=0)), ValueError, "d must"),
]


@pytest.mark.parametrize(("kw", "error", "word"), BAD, ids=range(len(BAD)))
def test_bad_parameters(kw, error, word):
    with pytest.raises(error, match=word):
        kpw_test(X, Y, **dict(n_resamples=19, rng=0) | kw)


@pytest.mark.parametrize(
    ("A", "B", "word"),
    [
        (X[:1], Y, "at least 2"),
        (X, Y[:, :2], "features"),
        (X * np.nan, Y, "NaN"),
        (X[0], Y, "2-D"),
        (np.ones((5, 2)), np.ones((4, 2)), "constant"),
        ([["a"] * 4] * 3, Y, "column 0 is a category in X but a number in Y"),
    ],
)
def test_bad_samples(A, B, word):
    with pytest.raises(ValueError, match=word):
        kpw_test(A, B, n_resamples=19)


def test_too_few_permutations_are_explained():
    with pytest.warns(UserWarning, match="smallest possible p-value"):
        kpw_test(X, Y, n_resamples=9, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kpw_test(X, Y, n_resamples=19, rng=0)


def test_too_few_points_to_split():
    with pytest.raises(ValueError, match="points of X"):
        split_samples(*as_samples(X[:3], Y))
    with pytest.warns(UserWarning, match="can never reject"):
        assert kpw_test(X[:3], Y[:3], n_resamples=19, rng=0).interval[0] > 0


# the dual statistic: trained potentials on held-out projections


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.floats(0.05, 5.0))
def test_soft_transform_is_a_log_sum(seed, d, eta):
    g = np.random.default_rng(seed)
    F, T, w = g.standard_normal((7, d)), g.standard_normal((5, d)), g.standard_normal(5)
    expected = -eta * logsumexp(w - cdist(F, T, "sqeuclidean") / eta, axis=1)
    np.testing.assert_allclose(
        soft_transform(F, T, w, eta), expected, rtol=1e-10, atol=1e-12
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(2, 12))
def test_dual_statistic_is_two_means(seed, n, m):
    g = np.random.default_rng(seed)
    phi, psi = g.standard_normal(n + m), g.standard_normal(n + m)
    marks = np.array([g.permutation(n + m) < n for _ in range(4)])
    values = Dual(phi, psi)(marks)
    np.testing.assert_allclose(
        values,
        [phi[x].mean() + psi[~x].mean() for x in marks],
        rtol=1e-9,
        atol=1e-12,
    )
    assert (Dual(phi, psi)(marks[2:3]) == values[2:3]).all()  # independent of the batch


def test_potentials_of_the_training_points_are_the_dual_value():
    g = np.random.default_rng(0)
    FX, FY = g.standard_normal((30, 2)), g.standard_normal((20, 2)) + 1
    p = Potentials(FX, FY)
    phi, psi = p(np.vstack([FX, FY]))
    ours = phi[:30].mean() + psi[30:].mean()
    solved = sinkhorn(cdist(FX, FY, "sqeuclidean"), p.eta)
    assert ours == pytest.approx(
        p.eta
        * (solved.potentials[0].mean() + solved.potentials[1].mean() + np.log(600)),
        rel=1e-4,
    )
    sharp = Potentials(FX, FY, sharpness=1e-3)
    sharp.u, sharp.v = sinkhorn(
        cdist(FX, FY, "sqeuclidean"), sharp.eta
    ).potentials  # so sharp a problem needs more sweeps
    phi, psi = sharp(np.vstack([FX, FY]))
    assert phi[:30].mean() + psi[30:].mean() == pytest.approx(
        wasserstein(FX, FY), rel=0.05
    )  # Kantorovich, as η goes to 0


def test_dual_test_same_for_workers_and_level():
    g = np.random.default_rng(1)
    X, Y = g.standard_normal((40, 3)), g.standard_normal((30, 3)) + 0.7
    kw = dict(
        method="split",
        candidates=KPWProjector(d=2),
        statistic="dual",
        rng=3,
        n_resamples=99,
    )
    a, b = kpw_test(X, Y, **kw), kpw_test(X, Y, workers=2, **kw)
    assert a.pvalue == b.pvalue and (a.null_distribution == b.null_distribution).all()
    p = []
    for data, rng in zip(*(np.random.SeedSequence(k).spawn(200) for k in (5, 6))):
        d = np.random.default_rng(data)
        A = np.round(d.standard_normal((12, 2)), 1)
        B = np.round(d.standard_normal((16, 2)), 1)
        p.append(
            kpw_test(
                A,
                B,
                method="split",
                candidates=MeanProjector(),
                statistic="dual",
                n_resamples=19,
                rng=rng,
            ).pvalue
        )
    for alpha in (0.05, 0.25, 0.5):
        assert (np.array(p) <= alpha + 1e-12).sum() <= binom.ppf(0.999, 200, alpha)


def test_dual_of_constant_projections():
    phi, psi = Potentials(np.zeros((4, 1)), np.zeros((3, 1)))(np.zeros((5, 1)))
    assert np.isfinite(phi).all() and np.ptp(phi) == np.ptp(psi) == 0


def test_statistic_is_checked_and_trains_is_known():
    X = np.random.default_rng(0).standard_normal((20, 2))
    with pytest.raises(ValueError, match="statistic must be"):
        kpw_test(X, X + 1, statistic="sliced")
    assert (
        KPWTest("split").trains
        and KPWTest(candidates="cv").trains
        and not KPWTest().trains
    )


def test_projectors_take_data_frames_and_refuse_what_does_not_fit():
    pd = pytest.importorskip("pandas")
    labels = np.r_[np.zeros(20), np.ones(16)]
    for p in (MeanProjector(), WitnessProjector()):
        with pytest.raises(ValueError, match="not fitted"):
            p.transform(X)
        a, b = (
            type(p)().fit(A, labels)
            for A in (np.vstack([X, Y]), pd.DataFrame(np.vstack([X, Y])))
        )
        assert (a.transform(X) == b.transform(pd.DataFrame(X))).all()
        with pytest.raises(ValueError, match="4 features"):
            a.transform(X[:, :2])


def test_the_seed_says_how_to_repeat():
    res = kpw_test(X, Y, n_resamples=19, rng=np.random.default_rng(7))
    assert (
        res.seed == 7
        and (
            kpw_test(X, Y, n_resamples=19, rng=res.seed).null_distribution
            == res.null_distribution
        ).all()
    )


def streams():
    "Generators that do not stand where their seed says"
    used = np.random.default_rng(7)
    used.random()
    parent = np.random.default_rng(7)
    child = parent.spawn(1)[0]
    jumped = np.random.Generator(np.random.PCG64(7).jumped())
    sequence = np.random.SeedSequence(1).spawn(1)[0]
    return dict(
        used=used,
        spawned=parent,
        child=child,
        jumped=jumped,
        sequence=sequence,
        none=None,
        philox=np.random.Generator(np.random.Philox(3)),
    )


@pytest.mark.parametrize("kind", streams())
@pytest.mark.parametrize("method", ["refit", "split", "stream"])
def test_the_seed_repeats_any_stream(kind, method):
    run = dict(method=method, n_resamples=19)
    res = kpw_test(X, Y, rng=streams()[kind], **run)
    assert isinstance(res.seed, int)
    again = kpw_test(X, Y, rng=res.seed, **run)
    assert (again.null_distribution == res.null_distribution).all()
    if kind not in ("none", "sequence"):
        other = kpw_test(X, Y, rng=7, **run)
        assert (other.null_distribution != res.null_distribution).any()


# -- what is asked for is done, or refused
def test_options_of_held_out_data_imply_a_split():
    for kw in (
        dict(train_size=0.5),
        dict(statistic="wasserstein"),
        dict(statistic="dual"),
    ):
        res = kpw_test(X, Y, rng=0, n_resamples=19, candidates=MeanProjector(), **kw)
        assert res.method == "split" and "held-out data" in res.reason
        with pytest.raises(ValueError, match="held-out data"):
            kpw_test(X, Y, method="refit", **kw)
    assert (
        kpw_test(X, Y, rng=0, n_resamples=19, candidates=MeanProjector()).method
        == "refit"
    )


def test_columns_keep_their_names_and_must_agree():
    pd = pytest.importorskip("pandas")
    names = [f"feature {j}" for j in range(X.shape[1])]
    A, B = pd.DataFrame(X, columns=names), pd.DataFrame(Y, columns=names)
    res = kpw_test(A, B, rng=0, n_resamples=19, candidates=MeanProjector())
    plain = kpw_test(X, Y, rng=0, n_resamples=19, candidates=MeanProjector())
    assert res.samples[1].columns == tuple(names) and plain.samples[0].columns is None
    where = res.where()
    assert f"  {where.columns['column'].iloc[0]}  " in str(where)
    assert f"{where.of('Y')['row'].iloc[0]} (" in str(where)
    assert sorted(where.columns["column"]) == names
    run = dict(rng=0, n_resamples=19, candidates=MeanProjector())
    turned = kpw_test(A, B[names[::-1]], **run)  # columns go by their names
    assert (turned.null_distribution == res.null_distribution).all()
    with pytest.raises(ValueError, match="only in X and 'other' only in Y"):
        kpw_test(A, B.rename(columns={names[0]: "other"}))


@pytest.mark.parametrize(
    "n, m, warned",
    [
        (2, 2, True),
        (3, 3, True),
        (3, 4, False),
        (2, 5, False),
        (2, 4, True),
        (4, 4, False),
    ],
)
def test_samples_that_can_never_differ(n, m, warned):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        p = min(
            kpw_test(
                X[:n], 100 + k + Y[:m], rng=0, candidates=MeanProjector(bandwidth=30.0)
            ).pvalue
            for k in range(3)
        )
    assert any("can never reject" in str(w.message) for w in seen) == warned
    assert not warned or p > 0.05


# -- rows are the user's own
def planted(n, D=5, seed=3):
    g = np.random.default_rng(seed)
    A, B = g.standard_normal((n, D)), g.standard_normal((n, D))
    B[::10, 0] += 6
    return A, B


def containers(kind, A, B, folder):
    "Both samples as this kind of thing, and the position behind a row's label"
    import pandas as pd

    if kind == "array":
        return (A, B), int
    if kind == "frame":
        columns = list("abcde")
        names = [[f"{s}{i}" for i in range(len(A))] for s in "xy"]
        frames = [
            pd.DataFrame(S, index=index, columns=columns)
            for S, index in zip((A, B), names)
        ]
        return frames, lambda label: int(label[1:])
    if kind == "memmap":
        for name, S in (("A", A), ("B", B)):
            np.save(folder / f"{name}.npy", S)
        return [np.load(folder / f"{k}.npy", mmap_mode="r") for k in "AB"], int
    import dask.array as da

    return [da.from_array(S, chunks=(997, 2)) for S in (A, B)], int


CONTAINERS = ("array", "frame", "memmap", "dask")
PATHS = [
    (kind, method, n)
    for n, methods in {
        300: ("refit", "split", "stream"),
        1500: ("auto", "split"),
        20_000: ("auto", "split"),
    }.items()
    for method in methods
    for kind in CONTAINERS
    if kind != "dask" or method not in ("refit", "split")  # refused: see test_stream
]


@pytest.mark.parametrize(("kind", "method", "n"), PATHS)
def test_planted_rows_lead(kind, method, n, tmp_path):
    samples, position = containers(kind, *planted(n), tmp_path)
    run = dict(method=method, n_resamples=19, rng=0)
    if method == "split" and n > 300:  # a few rows train, all others are tested
        run |= dict(train_size=200, candidates=MeanProjector())
    lead = kpw_test(*samples, **run).where().of("Y")["row"].iloc[:20]
    right = np.mean([position(label) % 10 == 0 for label in lead])
    assert right >= 0.9, right


def test_bits_do_not_depend_on_blas_threads():
    from threadpoolctl import threadpool_limits

    results = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            results.append(kpw_test(*planted(150), rng=0, n_resamples=19))
    a, b = results
    assert (a.null_distribution == b.null_distribution).all()
    assert (a.projector.dual_coef_ == b.projector.dual_coef_).all()


def test_two_threads_give_blas_its_threads_back():
    from threadpoolctl import threadpool_info, threadpool_limits

    def threads():
        return {i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda k: kpw_test(X, Y, rng=k, n_resamples=19), range(6)))
        assert threads() == before


def test_balanced_ties_end():
    "Balanced coins have no witness: the search began at zero, and never ended"
    v = np.r_[np.ones((4, 1)), np.zeros((12, 1))]
    for method in ("refit", "split", "stream"):
        assert kpw_test(v, v, method=method, rng=0, n_resamples=19).pvalue > 0.05


def test_masked_and_missing_values_are_refused():
    masked = np.ma.masked_array(X, mask=False)
    masked[3, 1] = np.ma.masked
    with pytest.raises(ValueError, match=r"column 1 \(1 in X\), first in row 3 of X"):
        kpw_test(masked, Y)
    stamps = np.array([["2024-01-01"], ["NaT"]], dtype="M8[D]")
    with pytest.raises(ValueError, match=r"column 0 \(1 in X, 1 in Y\), .* row 1 of X"):
        kpw_test(stamps, stamps)


def test_a_gram_matrix_of_many_rows_is_explained():
    "The projector that explains was fitted to a part of its rows, and refused"
    A = np.random.default_rng(0).normal(size=(1200, 2))
    A[1100:] += 1
    gram = WitnessProjector(kernel="precomputed")
    K = A @ A.T
    res = kpw_test(K[:1100], K[1100:], candidates=gram, n_resamples=19, rng=0)
    assert res.pvalue == 0.05 and len(res.projector.points_) == 1200


def test_the_text_says_where():
    """Each of the leading columns stands in the text, with the p-value of its own.
    Mutation: the overall p beside a column."""
    g = np.random.default_rng(0)
    X, Y = g.normal(size=(60, 3)), g.normal(size=(50, 3))
    Y[:, 1] += 1.5
    result = kpw_test(X, Y, rng=0)
    first = result.where().columns.iloc[0]
    text = " ".join(str(result).split())
    assert f"where column 1: {first['effect']} (p = {first['pvalue']:.3g})" in text
    assert "where" not in str(kpw_test(X, X[::-1] + 1e-9, n_resamples=19, rng=0))


def test_a_figure_for_print(tmp_path):
    "Three panels, 180 mm wide, as vectors; samples are called as the user calls them"
    g = np.random.default_rng(0)
    X, Y = g.normal(size=(60, 4)), g.normal(size=(50, 4)) + 0.7
    result = kpw_test(X, Y, n_resamples=99, rng=0)
    fig, axes = result.plot(kind="figure", names=("before", "after"))
    assert len(axes) == 3
    assert fig.get_size_inches()[0] * 25.4 == pytest.approx(180)
    legend = [text.get_text() for text in axes[0].get_legend().get_texts()]
    assert legend == ["before", "after"]
    fig.savefig(tmp_path / "figure.svg")
    assert "<image" not in (tmp_path / "figure.svg").read_text()
    fig, axes = result.plot(kind="figure", image_shape=(2, 2))
    assert axes[2].images


def test_members_are_listed_by_name():
    "The docstring of `kpw_test` names every member, and no two names differ in case"
    text = " ".join(kpw_test.__doc__.split())
    assert all(f'"{name}"' in text for name in MEMBERS)
    words = [*MEMBERS, "auto", "paper", "cv"]
    assert len({word.lower() for word in words}) == len(words)
    assert kpw_test([[1.0], [2.0]] * 9, [[3.0]] * 9, candidates="paper", rng=0).pvalue
    with pytest.raises(ValueError, match="'paper'"):
        kpw_test([[1.0], [2.0]] * 9, [[3.0]] * 9, candidates="kpw")
