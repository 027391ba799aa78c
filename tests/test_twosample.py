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

from kpw_nb import KPWProjector, KPWTest, MeanProjector, WitnessProjector, kpw_distance, kpw_test
from kpw_nb.transport import sinkhorn, wasserstein
from kpw_nb.twosample import (DualStatistic, Potentials, RefitStatistic, auto_candidates, mmd_values, select_projector, soft_transform,
                              split_samples)

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((20, 4)), rng.standard_normal((16, 4))*[2, 1, 1, 1]
METHODS = {"refit": dict(method="refit"), "split": dict(method="split"), "one": dict(method="refit", candidates=KPWProjector(d=2, ridge=1.)),
           "algorithm 1": dict(method="split", candidates=KPWProjector(d=2))}


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
    with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None), parallel_config(backend="dask"):
        other = kpw_test(X, Y, n_resamples=39, rng=3, workers=2)
    assert (other.null_distribution == base.null_distribution).all() and other.statistic == base.statistic


@pytest.mark.parametrize("kw", METHODS.values(), ids=METHODS)
def test_level(kw):
    "120 null data sets, n != m, ties: no more rejections than the 99.9 % binomial bound at any level"
    p = []
    for t in range(120):
        g = np.random.default_rng([5, t])
        p.append(kpw_test(np.round(g.standard_normal((11, 2)), 1), np.round(g.standard_normal((8, 2)), 1), n_resamples=19, rng=t, **kw).pvalue)
    for alpha in (0.05, 0.1, 0.3, 0.6): assert (np.array(p) <= alpha + 1e-12).sum() <= binom.ppf(0.999, len(p), alpha)


def test_finds_a_clear_difference():
    res = kpw_test(X, Y + 2, rng=0)
    assert res.pvalue == 1/200 and res.reject() and not res.reject(0.001) and "differ" in res.summary()
    assert kpw_test(X, Y + 2, method="split", rng=0).pvalue <= 0.05


def test_result():
    res = kpw_test(X, Y, n_resamples=39, rng=0)
    statistic, pvalue = res
    assert (statistic, pvalue) == (res.statistic, res.pvalue) and len(res.null_distribution) == res.n_resamples == 39
    assert res.interval[0] <= pvalue <= res.interval[1] and len(res.candidates) == len(auto_candidates(np.vstack([X, Y])))
    copy = pickle.loads(pickle.dumps(res))
    assert copy.statistic == res.statistic and "<table>" in res._repr_html_()
    again = kpw_test(X, Y, n_resamples=39, rng=res.seed)
    assert (again.null_distribution == res.null_distribution).all()
    where = res.where()
    assert sorted(where.samples_X) == list(range(20)) and sorted(where.features) == list(range(4)) and where.importance.sum() == pytest.approx(1)
    fig, axes = res.plot()
    assert len(axes) == 2


def test_inputs_are_not_changed():
    A, B = X.copy(), Y.copy()
    A.flags.writeable = B.flags.writeable = False
    for kw in METHODS.values(): kpw_test(A, B, n_resamples=19, rng=0, **kw)
    assert (A == X).all() and (B == Y).all()


def test_relabelling_is_what_changes_nothing():
    "The order of points within a sample does not matter"
    Z, n = np.vstack([X, Y]), len(X)
    order = np.r_[rng.permutation(n), n + rng.permutation(len(Y))][None]
    for p in auto_candidates(Z):
        s = RefitStatistic(p, Z, n)
        assert s(order)[0] == pytest.approx(s(np.arange(len(Z))[None])[0], rel=1e-6)


def test_kernels_against_plain_python():
    Z, n = np.vstack([X, Y])[:9], 5
    K = np.exp(-((Z[:, None] - Z)**2).sum(-1))
    orders = np.array([rng.permutation(9) for _ in range(4)])
    plain = getattr(mmd_values, "py_func", mmd_values)(K, orders, n)
    np.testing.assert_allclose(mmd_values(K, orders, n), plain, rtol=1e-12)
    naive = [K[np.ix_(o[:n], o[:n])].mean() + K[np.ix_(o[n:], o[n:])].mean() - 2*K[np.ix_(o[:n], o[n:])].mean() for o in orders]
    np.testing.assert_allclose(plain, naive, rtol=1e-10, atol=1e-12)


def test_refit_is_the_distance():
    for kw in (dict(d=1), dict(d=3, ridge=1.), dict(d=2, norm="variance", ridge=0.5), dict(d=2, rank=5)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")                 # 25 iterations are not meant to converge
            r = kpw_distance(X, Y, max_iter=25, tol=0, **kw)
        s = RefitStatistic(KPWProjector(**kw), np.vstack([X, Y]), len(X), 25)
        assert s(np.arange(36)[None])[0] == pytest.approx(r.objective, rel=1e-6)


def test_protocol():
    t = KPWTest(candidates=[MeanProjector(), WitnessProjector()])
    assert t.fit(X, Y) is t
    res = t.test(X + 0., Y, n_resamples=19, rng=0)
    assert res.method == "split" and res.n_resamples == 19
    assert KPWTest().test(X, Y, n_resamples=19, rng=0).method == "refit"


def test_cross_validation_chooses_from_the_paper_grid():
    best, table = select_projector(X, Y, rng=0, n_resamples=19)
    assert len(table) == 9 and {p.rho for p, _, _ in table} == {0.25, 0.5, 0.75}
    assert min((p, -z) for _, p, z in table) == next((p, -z) for q, p, z in table if q is best)
    assert kpw_test(X, Y, candidates="cv", n_resamples=19, rng=0).method == "split"


def test_large_samples_are_split():
    g = np.random.default_rng(0)
    res = kpw_test(g.standard_normal((1100, 2)), g.standard_normal((1000, 2)), n_resamples=19, rng=0)
    assert res.method == "split" and "2100 points" in res.reason


BAD = [(dict(method="both"), ValueError, "method"), (dict(candidates=[]), ValueError, "candidates is empty"), (dict(candidates="best"), ValueError, "candidates"),
       (dict(candidates=3), TypeError, "candidates must be"), (dict(candidates=KPWProjector(solver="exact")), ValueError, "solver"), (dict(candidates=["kpw"]), TypeError, "candidates must be"), (dict(method="refit", candidates="cv"), ValueError, "cv"),
       (dict(n_resamples=0), ValueError, "n_resamples"), (dict(n_resamples=9.5), TypeError, "n_resamples"), (dict(rng="x"), TypeError, "rng"),
       (dict(workers=0), ValueError, "workers"), (dict(progress="x"), TypeError, "progress"), (dict(method="split", train_size=0), ValueError, "train_size"),
       (dict(method="split", train_size=1.2), ValueError, "train_size"), (dict(method="split", train_size=0.95), ValueError, "train_size"),
       (dict(combine="sum"), ValueError, "combine"), (dict(candidates=KPWProjector(eta=-1)), ValueError, "eta"), (dict(candidates=KPWProjector(d=0)), ValueError, "d must")]


@pytest.mark.parametrize(("kw", "error", "word"), BAD, ids=range(len(BAD)))
def test_bad_parameters(kw, error, word):
    with pytest.raises(error, match=word): kpw_test(X, Y, **dict(n_resamples=19, rng=0) | kw)


@pytest.mark.parametrize(("A", "B", "word"), [(X[:1], Y, "at least 2"), (X, Y[:, :2], "features"), (X*np.nan, Y, "NaN"), (X[0], Y, "2-D"),
                                              (np.ones((5, 2)), np.ones((4, 2)), "constant"), ([["a"]]*3, Y, "numbers")])
def test_bad_samples(A, B, word):
    with pytest.raises(ValueError, match=word): kpw_test(A, B, n_resamples=19)


def test_too_few_permutations_are_explained():
    with pytest.warns(UserWarning, match="smallest possible p-value"): kpw_test(X, Y, n_resamples=9, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kpw_test(X, Y, n_resamples=19, rng=0)


def test_too_few_points_to_split():
    with pytest.raises(ValueError, match="points of X"): split_samples(X[:3], Y)
    with pytest.warns(UserWarning, match="can never reject"): assert kpw_test(X[:3], Y[:3], n_resamples=19, rng=0).interval[0] > 0


# the dual statistic: trained potentials on held-out projections

@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.floats(0.05, 5.))
def test_soft_transform_is_a_log_sum(seed, d, eta):
    g = np.random.default_rng(seed)
    F, T, w = g.standard_normal((7, d)), g.standard_normal((5, d)), g.standard_normal(5)
    expected = -eta*logsumexp(w - cdist(F, T, "sqeuclidean")/eta, axis=1)
    np.testing.assert_allclose(soft_transform(F, T, w, eta), expected, rtol=1e-10, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(2, 12))
def test_dual_statistic_is_two_means(seed, n, m):
    g = np.random.default_rng(seed)
    phi, psi = g.standard_normal(n + m), g.standard_normal(n + m)
    orders = np.array([g.permutation(n + m) for _ in range(4)])
    values = DualStatistic(phi, psi, n)(orders)
    np.testing.assert_allclose(values, [phi[o[:n]].mean() + psi[o[n:]].mean() for o in orders], rtol=1e-9, atol=1e-12)
    assert (DualStatistic(phi, psi, n)(orders[2:3]) == values[2:3]).all()       # independent of the batch


def test_potentials_of_the_training_points_are_the_dual_value():
    g = np.random.default_rng(0)
    FX, FY = g.standard_normal((30, 2)), g.standard_normal((20, 2)) + 1
    p = Potentials(FX, FY)
    phi, psi = p(np.vstack([FX, FY]))
    ours = phi[:30].mean() + psi[30:].mean()
    solved = sinkhorn(cdist(FX, FY, "sqeuclidean"), p.eta)
    assert ours == pytest.approx(p.eta*(solved.potentials[0].mean() + solved.potentials[1].mean() + np.log(600)), rel=1e-4)
    sharp = Potentials(FX, FY, sharpness=1e-3)
    sharp.u, sharp.v = sinkhorn(cdist(FX, FY, "sqeuclidean"), sharp.eta).potentials      # so sharp a problem needs more sweeps
    phi, psi = sharp(np.vstack([FX, FY]))
    assert phi[:30].mean() + psi[30:].mean() == pytest.approx(wasserstein(FX, FY), rel=0.05)      # Kantorovich, as η goes to 0


def test_dual_test_same_for_workers_and_level():
    g = np.random.default_rng(1)
    X, Y = g.standard_normal((40, 3)), g.standard_normal((30, 3)) + 0.7
    kw = dict(method="split", candidates=KPWProjector(d=2), statistic="dual", rng=3, n_resamples=99)
    a, b = kpw_test(X, Y, **kw), kpw_test(X, Y, workers=2, **kw)
    assert a.pvalue == b.pvalue and (a.null_distribution == b.null_distribution).all()
    p = []
    for data, rng in zip(*(np.random.SeedSequence(k).spawn(200) for k in (5, 6))):
        d = np.random.default_rng(data)
        A, B = np.round(d.standard_normal((12, 2)), 1), np.round(d.standard_normal((16, 2)), 1)
        p.append(kpw_test(A, B, method="split", candidates=MeanProjector(), statistic="dual", n_resamples=19, rng=rng).pvalue)
    for alpha in (0.05, 0.25, 0.5): assert (np.array(p) <= alpha + 1e-12).sum() <= binom.ppf(0.999, 200, alpha)


def test_dual_of_constant_projections():
    phi, psi = Potentials(np.zeros((4, 1)), np.zeros((3, 1)))(np.zeros((5, 1)))
    assert np.isfinite(phi).all() and np.ptp(phi) == np.ptp(psi) == 0


def test_statistic_is_checked_and_trains_is_known():
    X = np.random.default_rng(0).standard_normal((20, 2))
    with pytest.raises(ValueError, match="statistic must be"): kpw_test(X, X + 1, statistic="sliced")
    assert KPWTest("split").trains and KPWTest(candidates="cv").trains and not KPWTest().trains


def test_projectors_take_data_frames_and_refuse_what_does_not_fit():
    pd = pytest.importorskip("pandas")
    labels = np.r_[np.zeros(20), np.ones(16)]
    for p in (MeanProjector(), WitnessProjector()):
        with pytest.raises(ValueError, match="not fitted"): p.transform(X)
        a, b = (type(p)().fit(A, labels) for A in (np.vstack([X, Y]), pd.DataFrame(np.vstack([X, Y]))))
        assert (a.transform(X) == b.transform(pd.DataFrame(X))).all()
        with pytest.raises(ValueError, match="fitted on 4"): a.transform(X[:, :2])


def test_the_seed_says_how_to_repeat():
    res = kpw_test(X, Y, n_resamples=19, rng=np.random.default_rng(7))
    assert res.seed == 7 and (kpw_test(X, Y, n_resamples=19, rng=res.seed).null_distribution == res.null_distribution).all()
    assert "spawn_key" in kpw_test(X, Y, n_resamples=19, rng=np.random.SeedSequence(1).spawn(1)[0]).seed


# -- what is asked for is done, or refused
def test_options_of_held_out_data_imply_a_split():
    for kw in (dict(train_size=0.5), dict(statistic="wasserstein"), dict(statistic="dual")):
        res = kpw_test(X, Y, rng=0, n_resamples=19, candidates=MeanProjector(), **kw)
        assert res.method == "split" and "held-out data" in res.reason
        with pytest.raises(ValueError, match="held-out data"): kpw_test(X, Y, method="refit", **kw)
    assert kpw_test(X, Y, rng=0, n_resamples=19, candidates=MeanProjector()).method == "refit"


def test_columns_keep_their_names_and_must_agree():
    pd = pytest.importorskip("pandas")
    names = [f"feature {j}" for j in range(X.shape[1])]
    A, B = pd.DataFrame(X, columns=names), pd.DataFrame(Y, columns=names)
    res = kpw_test(A, B, rng=0, n_resamples=19, candidates=MeanProjector())
    assert res.names == tuple(names) and kpw_test(X, Y, rng=0, n_resamples=19, candidates=MeanProjector()).names is None
    where = res.where()
    assert f"features   {names[where.features[0]]} (" in str(where) and f"{where.samples_X[0]} (" in str(where)
    with pytest.raises(ValueError, match="same columns in the same order"): kpw_test(A, B[names[::-1]])


@pytest.mark.parametrize("n, m, warned", [(2, 2, True), (3, 3, True), (3, 4, False), (2, 5, False), (2, 4, True), (4, 4, False)])
def test_samples_that_can_never_differ(n, m, warned):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        p = min(kpw_test(X[:n], 100 + k + Y[:m], rng=0, candidates=MeanProjector(bandwidth=30.)).pvalue for k in range(3))
    assert any("can never reject" in str(w.message) for w in seen) == warned
    assert not warned or p > 0.05
