"Samples of any size: shares of rows, sums, blocks, dask, level, a worker that dies"

import math
import os
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from kpw_nb import MeanProjector, kpw_test
from kpw_nb.compare.family import MEMBERS
from kpw_nb.compare.features import Pool
from kpw_nb.ground.core import spawn_seeds
from kpw_nb.ground.engine import Engine
from kpw_nb.ground.encode import learn
from kpw_nb.ground.sample import as_blocks, take_rows
from kpw_nb.ground.table import read_columns
from kpw_nb.compare.stream import (
    GROUPS,
    NOT_USED,
    Sight,
    add_rows,
    place_rows,
    share_rows,
)
from kpw_nb.compare.twosample import KPWTest

GEN = np.random.default_rng(0)
X, Y = GEN.standard_normal((3000, 4)), GEN.standard_normal((2500, 4)) * [1.6, 1, 1, 1]
QUICK = dict(n_resamples=39, rng=0)


def streamed(X, Y, kept=500, **run):
    return KPWTest("stream", kept=kept).test(X, Y, **(QUICK | run))


BASE = streamed(X, Y)


def same(a, b):
    null = np.array_equal(a.null_distribution, b.null_distribution)
    return null and (a.statistic, a.candidates) == (b.statistic, b.candidates)


# -- which rows
@settings(max_examples=200, deadline=None)
@given(st.integers(2, 10**10), st.integers(2, 10**10), st.integers(4, 10**5))
def test_shares(n, m, kept):
    shares = share_rows(n, m, kept)
    size = shares[0].size
    for share, a, b in zip(shares, (n, m), (m, n)):
        assert 1 <= share.kept <= share.used <= a
        assert share.used == a or share.used >= 20 * b or share.used + b >= kept
    assert min(s.groups for s in shares) >= 1 or max(s.groups for s in shares) == 0
    assert sum(s.groups for s in shares) <= GROUPS
    if n + m <= kept:
        assert [s.kept for s in shares] == [n, m]
    assert sum(s.kept for s in shares) <= kept + 2 * size + 42  # no group for a few
    assert shares == share_rows(m, n, kept)[::-1]


@given(st.integers(2, 400), st.integers(2, 400), st.integers(4, 300), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_places(n, m, kept, seed):
    for share, size in zip(share_rows(n, m, kept), (n, m)):
        places = place_rows(size, share, np.random.default_rng(seed))
        counts = np.bincount(places[places != NOT_USED], minlength=share.groups + 1)
        assert counts[0] == share.kept and (counts[1:] == share.size).all()
        assert counts.sum() == share.used


def test_all_of_a_small_batch_is_used():
    res = streamed(X[:40], np.vstack([Y] * 4), kept=900)
    assert len(res.samples[0]) == 40
    assert "860 of the 10000 rows of Y are enough" in res.reason
    some = streamed(X[:400], np.vstack([Y] * 4), kept=600)
    assert "are enough" in some.reason and "groups of" in some.reason


def test_rows_are_taken_block_by_block():
    da, dask = pytest.importorskip("dask.array"), pytest.importorskip("dask")
    index, read = np.array([0, 5, 699, 700, 2999]), []

    def piece(i):
        read.append(i)
        return X[i * 100 : (i + 1) * 100]

    lazy = da.concatenate(
        [da.from_delayed(dask.delayed(piece)(i), (100, 4), float) for i in range(30)]
    )
    with dask.config.set(scheduler="synchronous"):
        rows = take_rows(as_blocks(lazy), index).numbers
    assert np.array_equal(rows, X[index]) and sorted(read) == [0, 6, 7, 29]
    assert np.array_equal(take_rows(as_blocks(X), index).numbers, X[index])


# -- sums
@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 1500), max_size=5), st.booleans())
def test_sums_do_not_depend_on_blocks(cuts, travel):
    "Broken by: floating-point sums, or features of a block at once"
    pool = Pool(X[:300])
    names = ("columns", "norm", "density", "dependence", "covariance")
    maps = tuple(MEMBERS[name].learnt(pool) for name in names)
    plain = learn(read_columns(X[:200]), read_columns(X[200:300], "Y"), None)
    sight = Sight(tuple(found.raw for found in maps), pool.senses, plain)
    if travel:
        sight = pickle.loads(pickle.dumps(sight))
    places = np.random.default_rng(1).integers(0, 8, 1500).astype(np.uint16)
    units = np.abs(sight(X[:300])).max(0)
    whole = add_rows(as_blocks(X[:1500]), places, sight, units, 7, Engine()).groups
    edges = [0, *sorted(cuts), 1500]
    parts = [(a, b) for a, b in zip(edges, edges[1:]) if b - a > 1]
    if sum(b - a for a, b in parts) < 1500:
        return
    total = sum(
        add_rows(as_blocks(X[a:b]), places[a:b], sight, units, 7, Engine()).groups
        for a, b in parts
    )
    np.testing.assert_allclose(total, whole, rtol=1e-15, atol=1e-12)
    F = sight(X[:1500])
    literal = [F[places == g].sum(0) for g in range(1, 8)]
    assert (np.abs(whole - literal) <= 1e-5 * units).all()


# -- same bits
def test_same_bits_from_any_blocks(tmp_path, monkeypatch):
    assert same(BASE, streamed(X, Y, workers=2))
    monkeypatch.setattr("kpw_nb.ground.sample._BLOCK", 333)
    assert same(BASE, streamed(X, Y))
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert same(BASE, streamed(mapped, pd.DataFrame(Y)))
    assert not same(BASE, streamed(X, Y, rng=1))
    single = [A.astype(np.float32) for A in (X, Y)]
    assert same(streamed(*single), streamed(*(A.astype(float) for A in single)))


def test_same_bits_from_dask():
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    A, B = da.from_array(X, chunks=(417, 3)), da.from_array(Y, chunks=(2500, 4))
    assert same(BASE, streamed(A, B)) and same(BASE, streamed(A, Y))
    names = list("abcd")
    tables = [pd.DataFrame(A, columns=names) for A in (X, Y)]
    frames = [dd.from_pandas(t, npartitions=k) for t, k in zip(tables, (5, 3))]
    assert same(streamed(*tables), streamed(*frames))
    assert same(streamed(*tables), streamed(frames[0], Y))  # by position
    unknown = frames[0].values  # an array that does not know its length
    assert math.isnan(unknown.shape[0]) and same(BASE, streamed(unknown, B))
    assert same(BASE, streamed(A[A[:, 0] < np.inf], B))
    # columns go by their names, whatever their order
    assert same(streamed(*tables), streamed(frames[0], frames[1][names[::-1]]))
    with pytest.raises(ValueError, match="'d' only in X and 'e' only in Y"):
        streamed(frames[0], frames[1].rename(columns={"d": "e"}))


def test_the_length_of_a_dask_frame_is_computed_once():
    dd, dask = pytest.importorskip("dask.dataframe"), pytest.importorskip("dask")
    read = []

    def part(i):
        read.append(i)
        return pd.DataFrame(X[i * 1000 : (i + 1) * 1000], columns=list("abcd"))

    meta = pd.DataFrame(X[:0], columns=list("abcd"))
    frame = dd.from_map(part, range(3), meta=meta)
    with dask.config.set(scheduler="synchronous"):
        KPWTest(kept=500).test(frame, Y, **QUICK)
    assert len(read) == 3 * 3  # lengths, kept rows, sums


# -- the default call
def test_default_call_decides_by_itself():
    A, B = X[:250, :2], Y[:200, :2]
    assert kpw_test(A, B, candidates=MeanProjector(), n_resamples=19).method == "refit"
    assert kpw_test(A, B, n_resamples=19).method == "refit"
    res = KPWTest(kept=400).test(A, B, rng=0, n_resamples=19)
    assert same(res, streamed(A, B, kept=400, n_resamples=19))
    assert res.method == "stream" and "450 points" in res.reason
    assert "groups of 1" in res.reason and "groups of 1" in res.summary()


def test_nothing_changes_where_all_rows_are_kept():
    "One statistic at every size: there is no switch. Broken by: other candidates"
    A, B = X[:250], Y[:200]
    small = kpw_test(A, B, **QUICK)
    as_stream = streamed(A, B, kept=450)
    assert small.statistic == as_stream.statistic
    assert small.candidates[0].value == as_stream.candidates[0].value
    near = streamed(A, B, kept=440)
    for a, b in zip(small.candidates, near.candidates):
        # the principal components of a round cloud turn with each row that goes
        free = 2.5 if a.name == "fine shape" else 1.5
        assert a.name == b.name and abs(a.zscore - b.zscore) < free


def test_power_does_not_fall_beyond_what_is_kept():
    "A shift that 600 of 6,000 rows do not show. Broken by: sums of kept rows only"
    g = np.random.default_rng(5)
    A, B = g.standard_normal((3000, 6)), g.standard_normal((3000, 6)) + 0.08
    assert KPWTest(kept=600).test(A, B, **QUICK).pvalue <= 0.05
    assert kpw_test(A, B, **QUICK).pvalue <= 0.05
    seeds = [
        KPWTest(kept=600).test(A, B, n_resamples=99, rng=s).pvalue for s in range(9)
    ]
    assert max(seeds) <= 0.05  # a split at random used to decide: 0.005 to 0.81


def test_default_call_takes_dask():
    da = pytest.importorskip("dask.array")
    A, B = da.from_array(X, chunks=(1000, 4)), da.from_array(Y, chunks=(1000, 4))
    run = dict(n_resamples=19, rng=0)
    few = kpw_test(A[:300], B[:200], **run)  # few rows are gathered
    assert same(few, kpw_test(X[:300], Y[:200], **run)) and few.method == "refit"
    names = ["density", "KPW"]
    many = KPWTest(candidates=names, kept=500).test(A, B, **run)
    assert [c.name for c in many.candidates] == names and many.method == "stream"
    for options in (
        dict(method="refit"),
        dict(candidates="cv"),
        dict(candidates=MeanProjector()),
        dict(train_size=100),
        dict(statistic="dual"),
    ):
        with pytest.raises(ValueError, match="dask collections"):
            kpw_test(A, B, **options)


def test_result_explains_itself():
    where, sizes = BASE.where(), [len(s) for s in BASE.samples]
    assert where.columns["column"].iloc[0] == 0 and len(where.of("X")) == sizes[0]
    assert 500 <= sum(sizes) <= 510
    for sample, whole in zip(BASE.samples, (X, Y)):
        assert np.array_equal(sample.values, whole[sample.rows])
    assert BASE.plot()[0].axes and BASE.pvalue == 1 / 40
    assert pickle.loads(pickle.dumps(BASE)).pvalue == BASE.pvalue


def test_a_family_without_sums():
    "Only kept rows are seen. Broken by: sums of no features"
    res = KPWTest(candidates=["KPW", "neighbours"], kept=500).test(X, Y, **QUICK)
    assert res.method == "stream" and len(res.candidates) == 2


def test_the_seed_decides_on_relabellings_only():
    "Broken by: kept rows that follow the seed"
    other = streamed(X, Y, rng=1)
    for a, b in zip(BASE.samples, other.samples):
        assert np.array_equal(a.rows, b.rows)
    for a, b in zip(BASE.candidates, other.candidates):
        # `table` measures its columns in spreads of the relabellings
        assert a.value == b.value or a.name == "table"


def test_progress():
    seen = []
    streamed(X, Y, progress=lambda done, total: seen.append((done, total)))
    assert (3000, 3000) in seen and (2500, 2500) in seen and seen[-1] == (39, 39)


# -- level
@pytest.mark.parametrize("ordered", [False, True])
def test_level(ordered):
    "Ties, n ≠ m, sorted rows. Broken by: groups of consecutive rows"
    trials, hits = 250, []
    for data, key in zip(spawn_seeds(11, trials), spawn_seeds(12, trials)):
        g = np.random.default_rng(data)
        A = np.round(g.standard_normal((60, 2)), 1)
        B = np.round(g.standard_normal((45, 2)), 1)
        if ordered:
            A = A[np.lexsort(A.T)]
        hits.append(streamed(A, B, kept=40, n_resamples=19, rng=key).pvalue)
    for alpha in (0.05, 0.25, 0.5):
        rejected = np.sum(np.array(hits) <= alpha + 1e-12)
        assert rejected <= stats.binom.ppf(0.9999, trials, alpha)
    assert 0.4 < np.mean(hits) < 0.65


# -- bad input
@pytest.mark.parametrize(
    "bad, options, message",
    [
        (X[:, :2], {}, "X has 4 features but Y has 2"),
        (X[:1], {}, r"Y has 1 point\(s\)"),
        (X[:, 0], {}, "Y must be a 2-D array"),
        (np.full((100, 4), "a"), {}, "column 0 is a number in X but a category in Y"),
        (Y, dict(kept=3), "kept must be at least 4"),
        (Y, dict(statistic="dual"), "held-out data"),
        (Y, dict(train_size=9), "held-out data"),
        (Y, dict(candidates=MeanProjector()), "names, or method='split'"),
        (Y, dict(combine="sum"), "combine must be one of"),
    ],
)
def test_bad_input(bad, options, message):
    with pytest.raises(ValueError, match=message):
        KPWTest("stream", **options).test(X, bad, **QUICK)


def test_samples_without_variation_are_refused():
    with pytest.raises(ValueError, match="constant"):
        streamed(np.ones((900, 2)), np.ones((800, 2)))


def test_missing_values_are_found_wherever_they_are():
    for place in (0, 1234, 2499):
        bad = Y.copy()
        bad[place, 2] = np.nan
        where = rf"column 2 \(1 in Y\), first in row {place} of Y"
        with pytest.raises(ValueError, match=where):
            streamed(X, bad)
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="first in row 2499 of Y"):
        streamed(X, da.from_array(bad, chunks=(1000, 4)))
    with pytest.raises(ValueError, match="X must be two-dimensional"):
        streamed(da.from_array(X, chunks=1000)[:, 0], Y)


# -- a cluster
@pytest.fixture
def cluster():
    "Of threads: tutorials/big_data has one of processes, and kills one of them"
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_permutations_on_a_cluster(cluster):
    import joblib

    with joblib.parallel_config(backend="dask"):
        assert same(BASE, streamed(X, Y, workers=2))


# -- columns and pairs of all rows
def shifted(n, seed=0):
    g = np.random.default_rng(seed)
    A, B = (pd.DataFrame(g.normal(size=(n, 4)), columns=list("abcd")) for _ in "XY")
    B["c"] += 0.1
    return A, B


def test_where_sees_every_row():
    """A shift that 1,000 kept rows do not show, of 16,000 + 16,000; and means are those
    of the files. Mutation: `Table` that looks at kept rows, or `totals` left out."""
    A, B = shifted(16_000)
    result = streamed(A, B, kept=1000, n_resamples=199)
    columns = result.where().columns
    assert columns["column"].iloc[0] == "c" and columns["pvalue"].iloc[0] <= 0.01
    means = (f"{frame['c'].mean():.4g}" for frame in (A, B))
    assert columns["effect"].iloc[0] == "mean {} in X, {} in Y".format(*means)
    line = result.effect().columns.iloc[0]
    welch = stats.ttest_ind(B["c"], A["c"], equal_var=False).confidence_interval()
    assert (line.column, line.what) == ("c", "mean")
    assert line.difference == pytest.approx(B["c"].mean() - A["c"].mean(), rel=1e-9)
    assert (line.low, line.high) == pytest.approx(tuple(welch), rel=1e-3)


def test_pairs_of_every_row():
    "A correlation of 0.15 that few rows do not show. Mutation: sums without products"
    g = np.random.default_rng(2)
    A, B = g.normal(size=(2, 12_000, 3))
    B[:, 1] = 0.15 * B[:, 0] + np.sqrt(1 - 0.15**2) * B[:, 1]
    columns = streamed(A, B, kept=1000, n_resamples=199).where().columns
    assert (columns["kind"].iloc[0], columns["column"].iloc[0]) == ("pair", "0 × 1")


def mixed(n, g):
    frame = pd.DataFrame(dict(a=g.exponential(size=n), b=g.choice([*"uvw"], n)))
    frame["yes"], frame["c"] = g.random(n) < 0.3, g.integers(0, 3, n)
    frame.loc[g.random(n) < 0.2, "a"] = np.nan
    frame.loc[g.random(n) < 0.1, "b"] = None
    return frame


def test_words_are_of_all_rows_whatever_the_kind():
    g = np.random.default_rng(0)
    A, B = mixed(4000, g), mixed(3000, g)
    test = KPWTest("stream", kept=600, missing="indicator")
    result = test.test(A, B, **QUICK)
    for frame, side in ((A, 0), (B, 1)):
        a, b = (both[side] for both in result.totals[:2])
        yes, c = (both[side] for both in result.totals[2:])
        assert a.missing == pytest.approx(frame["a"].isna().mean())
        assert a.mean == pytest.approx(frame["a"].mean(), rel=1e-9)
        counts = frame["b"].value_counts().sort_index().tolist()
        assert b.counts.tolist() == [*counts, frame["b"].isna().sum()]
        assert yes.mean == pytest.approx(frame["yes"].mean())
        assert c.variance == pytest.approx(frame["c"].var(), rel=1e-9)
    lines = result.effect().columns
    share = lines[(lines["column"] == "yes")].iloc[0]
    assert share.difference == pytest.approx(B["yes"].mean() - A["yes"].mean())


def test_the_level_of_columns_of_all_rows():
    "200 nulls in groups: any column or pair at 0.05. Mutation: groups of neighbours"
    found = 0
    for seed in range(200):
        g = np.random.default_rng([3, seed])
        A, B = g.standard_t(3, (2, 700, 3)).round(1)
        test = KPWTest("stream", "table", kept=200)
        result = test.test(A[np.argsort(A[:, 0])], B, n_resamples=39, rng=seed)
        found += result.evidence.pvalues.min() <= 0.05
    assert found <= stats.binom.ppf(0.999, 200, 0.05)


def test_all_rows_from_dask_too():
    dd = pytest.importorskip("dask.dataframe")
    A, B = shifted(3000)
    base = streamed(A, B)
    lazy = streamed(*(dd.from_pandas(frame, npartitions=4) for frame in (A, B)))
    assert same(base, lazy)
    one, two = (r.totals[2][1].mean for r in (base, lazy))
    assert one == pytest.approx(two, rel=1e-12)
    assert np.array_equal(base.evidence.pvalues, lazy.evidence.pvalues)


@pytest.mark.parametrize("what", ["frame", "arrow files"])
def test_the_whole_answer_from_a_real_cluster(what, tmp_path):
    """Two processes of a cluster: p-value, columns, pairs and effects are those of the
    same rows in memory, for numbers, texts, truth values and gaps. Mutation: totals
    of arrays only."""
    distributed = pytest.importorskip("distributed")
    dd = pytest.importorskip("dask.dataframe")
    g = np.random.default_rng(4)
    A, B = mixed(6000, g), mixed(5000, g)
    B["a"] *= 1.3
    options = dict(kept=800, missing="indicator")
    base = KPWTest("stream", **options).test(A, B, n_resamples=99, rng=0)
    places = dict(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with (
        distributed.LocalCluster(processes=True, **places) as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = {pid for pid in client.run(os.getpid).values()}
        assert len(workers - {os.getpid()}) == 2
        lazy = [dd.from_pandas(frame, npartitions=3) for frame in (A, B)]
        if what == "arrow files":
            for name, frame in (("x", A), ("y", B)):
                dd.from_pandas(frame, npartitions=3).to_parquet(tmp_path / name)
            lazy = [dd.read_parquet(tmp_path / name) for name in "xy"]
        found = KPWTest("auto", **options).test(*lazy, n_resamples=99, rng=0)
        where, effect = found.where(), found.effect()
    assert found.method == "stream" and same(base, found)
    assert where.columns.equals(base.where().columns)
    assert effect.auc == base.effect().auc and effect.interval == base.effect().interval
    pd.testing.assert_frame_equal(effect.columns, base.effect().columns, rtol=1e-12)
