"The test of large samples: rows, blocks, dask, level, and a worker that dies"

import math
import os
import pickle
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from kpw_nb import KPWProjector, MeanProjector, WitnessProjector, kpw_test
from kpw_nb.cells import compressed_values, fit_cells
from kpw_nb.core import spawn_seeds
from kpw_nb.sample import as_blocks, take_rows
from kpw_nb.scale import Counter, choose_rows, gains
from kpw_nb.statistics import Dual
from kpw_nb.twosample import KPWTest


def scaled_test(X, Y, *, train=500, cells=4096, n_resamples=199, rng=None, **options):
    "`method='cells'` with its two further settings"
    run = {k: options.pop(k) for k in ("workers", "progress") if k in options}
    t = KPWTest("cells", train_size=train, n_cells=cells, **options)
    return t.test(X, Y, n_resamples=n_resamples, rng=rng, **run)


GEN = np.random.default_rng(0)
X, Y = GEN.standard_normal((3000, 4)), GEN.standard_normal((2500, 4)) * [1.2, 1, 1, 1]
QUICK = dict(train=40, cells=128, n_resamples=39)
BASE = scaled_test(X, Y, rng=0, **QUICK)


def same(a, b):
    return (a.statistic, a.pvalue, a.candidates) == (
        b.statistic,
        b.pvalue,
        b.candidates,
    ) and np.array_equal(a.null_distribution, b.null_distribution)


# -- projecting and tables
@pytest.fixture(scope="module")
def trained():
    return KPWTest("split", statistic="dual", combine="max").fit(X[:50], Y[:40])


def test_projections_are_those_of_the_projectors(trained):
    counter = Counter(trained.projectors_)
    want = np.hstack([p.transform(X) for p in trained.projectors_])
    assert (
        counter.dtype is np.float32
        and (np.abs(counter(X) - want).max(0) < 2e-5 * want.std(0)).all()
    )
    assert np.allclose(
        Counter(trained.projectors_, np.float64)(X), want, rtol=0, atol=1e-12
    )
    assert (counter.wider >= 0).sum() == 2 and np.allclose(
        4 * counter.rates[counter.wider[counter.wider >= 0]],
        counter.rates[counter.wider >= 0],
    )


def test_support_of_a_low_rank_projector():
    p = KPWProjector(d=1, rank="auto").fit(
        np.vstack([X[:50], Y[:40]]), np.r_[np.zeros(50), np.ones(40)]
    )
    assert np.allclose(
        Counter([p], np.float64)(X[:200]), p.transform(X[:200]), rtol=0, atol=1e-9
    )


def test_precision_follows_the_coefficients():
    Z, labels = np.vstack([X[:50], Y[:40]]), np.r_[np.zeros(50), np.ones(40)]
    wide = WitnessProjector(bandwidth=200.0).fit(Z, labels)  # terms that nearly cancel
    assert Counter([wide]).dtype is np.float64
    assert np.allclose(
        Counter([wide])(X),
        wide.transform(X),
        rtol=0,
        atol=1e-8 * wide.transform(X).std(),
    )


@pytest.mark.parametrize("shift, unit", [(1e6, 1.0), (0.0, 1e25), (-1e-20, 1e-25)])
def test_single_precision_does_not_depend_on_origin_and_units(shift, unit):
    p = WitnessProjector().fit(
        np.vstack([X[:50], Y[:40]]) * unit + shift, np.r_[np.zeros(50), np.ones(40)]
    )
    plain = WitnessProjector().fit(
        np.vstack([X[:50], Y[:40]]), np.r_[np.zeros(50), np.ones(40)]
    )
    assert (
        np.abs(Counter([p])(X * unit + shift) - plain.transform(X)).max()
        < 1e-3 * plain.transform(X).std()
    )


def test_rows_far_away_project_to_almost_nothing(trained):
    counter, far = Counter(trained.projectors_), np.full((2, 4), [[1e150], [-1e30]])
    assert (
        np.isfinite(counter(far)).all()
        and (np.abs(counter(far)).max(0) < 1e-5 * counter(X).std(0)).all()
    )


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 400), max_size=6), st.booleans())
def test_a_row_does_not_depend_on_its_block(trained, cuts, travel):
    counter = Counter(trained.projectors_)
    other = pickle.loads(pickle.dumps(counter)) if travel else counter
    assert np.array_equal(
        np.vstack([other(part) for part in np.split(X[:400], sorted(cuts))]),
        counter(X[:400]),
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 200))
def test_gains_give_the_dual_statistic(trained, seed, n):
    Z = np.vstack([X[100:200], Y[100:201]])
    order = np.random.default_rng(seed).permutation(201)
    F = Counter(trained.projectors_)(Z)
    tree = fit_cells(list(F.T), 201)  # a cell for each point
    counts = [tree.count(list(F[part].T)) for part in (order[:n], order[n:])]
    values = compressed_values(
        *counts,
        gains(tree, trained.potentials_, n, 201 - n),
        n_resamples=1,
        rng=0,
        statistic="mean",
    )[0]
    for value, f, pot in zip(values, F.T, trained.potentials_):
        phi, psi = pot(f[:, None].copy())
        assert value == pytest.approx(
            Dual(phi, psi, n)(order[None])[0] - phi.mean() - psi.mean(),
            abs=1e-9 * (np.abs(phi).max() + np.abs(psi).max()),
        )


# -- which rows
@settings(max_examples=50, deadline=None)
@given(st.integers(4, 10**12), st.integers(2, 5000), st.integers(0, 10**6))
def test_rows_chosen(n, train, seed):
    parts = choose_rows(n, train, np.random.default_rng(seed))
    used = np.concatenate(parts[:2])
    assert len(used) <= n // 2 and 2 <= len(parts.train) <= train
    assert len(parts.place) <= 5000 and len(parts.show) == min(n, 1000)
    for rows in (used, parts.show):
        assert len(set(rows)) == len(rows) and 0 <= rows.min() <= rows.max() < n


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
        rows = take_rows(as_blocks(lazy), index).values
    assert np.array_equal(rows, X[index]) and sorted(read) == [0, 6, 7, 29]
    assert np.array_equal(take_rows(as_blocks(X), index).values, X[index])


# -- same bits
def test_same_bits_from_any_blocks(tmp_path, monkeypatch):
    assert same(BASE, scaled_test(X, Y, rng=0, workers=2, **QUICK))
    monkeypatch.setattr("kpw_nb.sample._BLOCK", 333)
    assert same(BASE, scaled_test(X, Y, rng=0, **QUICK))
    np.save(tmp_path / "X.npy", X)
    assert same(
        BASE,
        scaled_test(
            np.load(tmp_path / "X.npy", mmap_mode="r"), pd.DataFrame(Y), rng=0, **QUICK
        ),
    )
    assert not same(BASE, scaled_test(X, Y, rng=1, **QUICK))
    single = [A.astype(np.float32) for A in (X, Y)]
    assert same(
        scaled_test(*single, rng=0, **QUICK),
        scaled_test(*(A.astype(float) for A in single), rng=0, **QUICK),
    )


def test_same_bits_from_dask():
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    A, B = da.from_array(X, chunks=(417, 3)), da.from_array(Y, chunks=(2500, 4))
    assert same(BASE, scaled_test(A, B, rng=0, **QUICK)) and same(
        BASE, scaled_test(A, Y, rng=0, **QUICK)
    )
    names = list("abcd")
    frames = (
        dd.from_pandas(pd.DataFrame(X, columns=names), npartitions=5),
        dd.from_pandas(pd.DataFrame(Y, columns=names), npartitions=3),
    )
    assert same(BASE, scaled_test(*frames, rng=0, **QUICK))
    unknown = frames[0].values  # an array that does not know its length
    assert (
        math.isnan(unknown.shape[0])
        and same(BASE, scaled_test(unknown, B, rng=0, **QUICK))
        and math.isnan(unknown.shape[0])
    )
    assert same(BASE, scaled_test(A[A[:, 0] < np.inf], B, rng=0, **QUICK))
    # columns go by their names, whatever their order
    assert same(BASE, scaled_test(frames[0], frames[1][names[::-1]], rng=0, **QUICK))
    with pytest.raises(ValueError, match="the columns differ: d, e only in one"):
        scaled_test(frames[0], frames[1].rename(columns={"d": "e"}), **QUICK)


def test_default_call_decides_by_itself(monkeypatch):
    A, B = X[:250, :2], Y[:200, :2]
    assert kpw_test(A, B, candidates=MeanProjector(), n_resamples=19).method == "refit"
    assert kpw_test(A, B, n_resamples=19).method == "refit"
    monkeypatch.setattr("kpw_nb.twosample._MANY", 400)
    res = kpw_test(A, B, rng=0, n_resamples=19)
    assert same(res, scaled_test(A, B, rng=0, n_resamples=19)) and res.method == "cells"
    assert (
        "450 points" in res.reason
        and "cells" in res.reason
        and "cells" in res.summary()
    )
    assert kpw_test(
        A, B, method="split", candidates=MeanProjector(), n_resamples=19
    ).reason.startswith("asked for; trained on 125 + 100 rows")


def test_default_call_takes_dask():
    da = pytest.importorskip("dask.array")
    A, B = da.from_array(X, chunks=(1000, 4)), da.from_array(Y, chunks=(1000, 4))
    run = dict(n_resamples=19, rng=0)
    for options in ({}, dict(candidates=MeanProjector())):  # few rows are gathered
        few = kpw_test(A[:300], B[:200], **options, **run)
        assert same(few, kpw_test(X[:300], Y[:200], **options, **run))
        assert few.method == "refit"
    one = dict(candidates=MeanProjector(), train_size=100)  # a wish: counted in blocks
    many = kpw_test(A, B, **one, **run)
    assert same(many, scaled_test(X, Y, train=100, candidates=MeanProjector(), **run))
    with pytest.raises(ValueError, match="dask collections"):
        kpw_test(A, B, method="refit")
    with pytest.raises(ValueError, match="dask collections"):
        kpw_test(A, B, candidates="cv")


def test_result_explains_itself():
    where = BASE.where()
    assert where.columns["column"].iloc[0] == 0 and len(where.of("X")) == len(
        BASE.samples[0]
    ) == 1000 == len(BASE.samples[1])
    held = set(map(tuple, X))
    assert all(tuple(row) in held for row in BASE.samples[0].values)
    assert (
        BASE.plot()[0].axes and pickle.loads(pickle.dumps(BASE)).pvalue == BASE.pvalue
    )
    assert BASE.pvalue == 1 / 40


def test_statistics_and_candidates():
    dual = scaled_test(
        X, 2 * Y, rng=0, statistic="dual", **QUICK
    )  # a difference that 40 rows can see
    assert dual.pvalue == 1 / 40 and all(c[1] > 0 for c in BASE.candidates)
    one = scaled_test(X, Y, rng=0, candidates=WitnessProjector(bandwidth=2.0), **QUICK)
    assert (
        len(one.candidates) == 1
        and scaled_test(X, Y, rng=0, combine="max", **QUICK).pvalue == 1 / 40
    )
    seen = []
    scaled_test(
        X, Y, rng=0, progress=lambda done, total: seen.append((done, total)), **QUICK
    )
    assert (3000, 3000) in seen and (2500, 2500) in seen and seen[-1] == (39, 39)


# -- level
def test_level():
    trials, hits = 250, []
    for data, key in zip(spawn_seeds(11, trials), spawn_seeds(12, trials)):
        g = np.random.default_rng(data)
        A = np.round(g.standard_normal((60, 2)), 1)
        B = np.round(g.standard_normal((45, 2)), 1)
        hits.append(
            scaled_test(
                A,
                B,
                train=10,
                cells=16,
                n_resamples=19,
                candidates=[MeanProjector(), WitnessProjector()],
                combine="max",
                rng=key,
            ).pvalue
        )
    for alpha in (0.05, 0.25, 0.5):
        assert np.sum(np.array(hits) <= alpha + 1e-12) <= stats.binom.ppf(
            0.9999, trials, alpha
        )
    assert np.mean(hits) < 0.7


# -- bad input
@pytest.mark.parametrize(
    "bad, options, message",
    [
        (X[:, :2], {}, "X has 4 features but Y has 2"),
        (X[:3], {}, r"Y has 3 point\(s\)"),
        (X[:, 0], {}, "Y must be a 2-D array"),
        (np.full((100, 4), "a"), {}, "Y must hold numbers only"),
        (Y, dict(train=1), "train_size must be at least 2"),
        (Y, dict(cells=0), "n_cells must be at least 1"),
        (Y, dict(statistic="mean"), "statistic must be one of"),
        (Y, dict(candidates=KPWProjector(d=2)), "Gaussian kernel and one output"),
        (
            Y,
            dict(candidates=MeanProjector(kernel="laplace")),
            "Gaussian kernel and one output",
        ),
        (Y, dict(combine="sum"), "combine must be one of"),
    ],
)
def test_bad_input(bad, options, message):
    with pytest.raises(ValueError, match=message):
        scaled_test(X, bad, **(QUICK | options))


def test_missing_values_are_found_wherever_they_are():
    for place in (0, 1234, 2499):
        bad = Y.copy()
        bad[place, 2] = np.nan
        where = rf"Y contains 1 NaN or infinity.*, the first in row {place}, column 2"
        with pytest.raises(ValueError, match=where):
            scaled_test(X, bad, rng=0, **QUICK)
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="Y contains 1 NaN.* row 2499, column 2"):
        scaled_test(X, da.from_array(bad, chunks=(1000, 4)), rng=0, **QUICK)
    with pytest.raises(ValueError, match="X must be two-dimensional"):
        scaled_test(da.from_array(X, chunks=1000)[:, 0], Y)


# -- a cluster
def slow_block(block):
    "A moment for each block, so that there is a middle of the run"
    time.sleep(0.2)
    return block


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_a_worker_that_dies_changes_nothing(cluster):
    da = pytest.importorskip("dask.array")
    A = da.from_array(X, chunks=(300, 4)).map_blocks(slow_block)
    B = da.from_array(Y, chunks=(500, 4))
    finished, victims = threading.Event(), []

    def kill():
        deadline = time.time() + 30
        while (
            time.time() < deadline
        ):  # when something has been counted, and not all of it
            done = sum(
                "count_block" in str(key) and state == "memory"
                for key, state in cluster.run_on_scheduler(
                    lambda dask_scheduler: [
                        (k, t.state) for k, t in dask_scheduler.tasks.items()
                    ]
                )
            )
            if done >= 2:
                break
            time.sleep(0.05)
        pid = next(iter(cluster.run(os.getpid).values()))
        victims.append((pid, finished.is_set()))
        os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    res = scaled_test(A, B, rng=0, **QUICK)
    finished.set()
    thread.join()
    assert len(victims) == 1 and not victims[0][1] and same(BASE, res)


def test_permutations_on_a_cluster(cluster):
    import joblib

    with joblib.parallel_config(backend="dask"):
        assert same(BASE, scaled_test(X, Y, rng=0, workers=2, **QUICK))
