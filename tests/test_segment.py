"Looking back: no change is an answer, and a memory is not mistaken for a change."

import math
import os
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.metrics import adjusted_rand_score

from kpw_nb import (
    KPWChangePoints,
    KPWProjector,
    MeanProjector,
    WitnessProjector,
    kpw_changepoint,
)
from kpw_nb.ground.engine import Engine
from kpw_nb.watch.calibrate import ar1
from kpw_nb.watch.segment import (
    Plan,
    Search,
    block_order,
    find_changes,
    memory_pvalue,
    resamples_for,
    scan_cuts,
    shares,
    split,
)

ROOT = np.random.SeedSequence


def shifted(seed, T=90, cut=50, by=2.0, D=2):
    Z = np.random.default_rng(seed).standard_normal((T, D))
    Z[cut:] += by
    return Z


def near(found, true, within):
    pairs = zip(found, true)
    return len(found) == len(true) and all(abs(f - t) <= within for f, t in pairs)


def garch(seed, T=400, a=0.1, b=0.85):
    g = np.random.default_rng(seed)
    z, h = np.zeros(T + 200), 1.0
    for t in range(1, T + 200):
        h = 1 - a - b + a * z[t - 1] ** 2 + b * h
        z[t] = math.sqrt(h) * g.standard_normal()
    return z[200:, None]


# All cuts at once


@settings(max_examples=25, deadline=None)
@given(st.integers(12, 30), st.integers(1, 4), st.integers(0, 10**6))
def test_scan(N, low, seed):
    "Against two means a cut; fails if a weight, a sum or a member's end is wrong"
    g = np.random.default_rng(seed)
    phi, order = g.standard_normal((N, 5)), g.permutation(N)
    phi -= phi.mean(0)
    cuts, knots = np.arange(low, N - low + 1), np.array([4, 7, 9])
    out = np.empty((2, len(cuts) + 3))
    scan_cuts(phi, order, np.array([2, 5]), cuts, knots, out)
    at = np.arange(N)
    inside = [at < c for c in cuts]
    inside += [(at >= a) & (at < b) for a, b in ((4, 7), (4, 9), (7, 9))]
    for column, mark in zip(out.T, inside):
        gap = phi[order][mark].mean(0) - phi[order][~mark].mean(0)
        size = mark.sum() * (N - mark.sum()) / N
        naive = [size * (gap[:2] ** 2).sum(), size * (gap[2:] ** 2).sum()]
        assert np.allclose(column, naive, atol=1e-10)


def test_blocks_stay_together():
    order = block_order(5, 45, 7, np.random.default_rng(0))
    assert sorted(order) == list(range(5, 45))
    assert (np.diff(order) == 1).sum() >= 40 - 8


# The level


@pytest.mark.parametrize("values", ["normal", "coins"])
def test_no_change_is_an_answer(values):
    "Independent frames; fails if the observed order is treated unlike the permuted"
    found = 0
    for t in range(60):
        Z = np.random.default_rng([6, t]).standard_normal((40, 2))
        Z = Z if values == "normal" else (Z > 0) * 1.0
        found += bool(kpw_changepoint(Z, n_resamples=19, alpha=0.1, rng=t).changes)
    assert found <= binom.ppf(0.999, 60, 0.1)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(5, 200), min_size=1, max_size=9), st.floats(0.001, 0.2))
def test_shares_of_a_level(sizes, level):
    "Disjoint parts share it out; fails if each part gets the whole"
    parts = shares(np.cumsum([0, *sizes]), level)
    assert math.isclose(parts.sum(), level) and (parts > 0).all()
    assert all((1 + resamples_for(p, 99)) * p >= 1 for p in parts if p > 6e-4)


def test_a_memory_is_no_change():
    "AR(1) series; fails if innovations are not taken (most change with block=1)"
    free = auto = 0
    for t in range(12):
        Z = ar1(200, 0.8, 1, np.random.default_rng([9, t]))
        options = dict(n_resamples=99, max_changes=1, rng=t)
        free += bool(kpw_changepoint(Z, block=1, **options).changes)
        auto += bool(kpw_changepoint(Z, **options).changes)
    assert free >= 8 and auto <= 2


def test_volatility_is_no_change():
    "GARCH; fails if innovations with a memory in their squares are not kept in blocks"
    found = sum(
        bool(kpw_changepoint(garch([3, t]), n_resamples=99, rng=t).changes)
        for t in range(16)
    )
    assert found <= binom.ppf(0.999, 16, 0.1)


def test_a_shift_with_a_memory():
    "Fails if the autoregression swallows a shift of four standard deviations"
    found = 0
    for t in range(8):
        Z = ar1(300, 0.5, 1, np.random.default_rng([2, t]))
        Z[150:] += 4
        r = kpw_changepoint(Z, n_resamples=99, rng=t)
        found += any(abs(c - 150) <= 5 for c in r.changes)
    assert found >= 6


def test_memory_beside_changes():
    "A step is no memory once it is cut; fails if pieces are not centred each"
    g = np.random.default_rng(0)
    step = g.standard_normal((200, 1)) + 3 * (np.arange(200) >= 90)[:, None]
    assert memory_pvalue(step, [], 99, g) == 0.01
    assert memory_pvalue(step, [90], 99, g) > 0.05


def test_a_season_given():
    "Without its season the series has one change; fails if `period` is not used"
    g = np.random.default_rng(1)
    t = np.arange(240)
    Z = 5 * np.sin(2 * np.pi * t / 12) + g.standard_normal(240) + 2 * (t >= 120)
    found = kpw_changepoint(Z[:, None], period=12, n_resamples=99, rng=0)
    assert near(found.changes, [120], 6)


def test_a_trend_given():
    "A line with noise is cut in pieces unless it is taken out"
    g = np.random.default_rng(2)
    Z = 0.05 * np.arange(200)[:, None] + g.standard_normal((200, 1))
    options = dict(block=1, n_resamples=99, rng=0)
    assert kpw_changepoint(Z, **options).changes
    assert not kpw_changepoint(Z, trend=True, **options).changes


# Places


def test_one_and_two_changes():
    g = np.random.default_rng(3)
    Z = g.standard_normal((150, 3))
    Z[60:, 0] *= 4
    r = kpw_changepoint(Z, n_resamples=99, rng=0)
    assert near(r.changes, [60], 6) and r.changes[0] in r.confidence_sets[0]
    assert "1 change " in r.summary() and r.columns == ((0,),)
    assert r.pvalue <= 0.05 and r.tests[0][:2] == (0, 150)
    Z[110:] += 3
    options = dict(n_resamples=99, rng=0, block=1)
    two, again = (kpw_changepoint(Z, **options) for _ in range(2))
    assert near(two.changes, [60, 110], 6) and abs(two.changes[1] - 110) <= 2
    assert again.changes == two.changes and again.pvalues == two.pvalues
    assert len(kpw_changepoint(Z, max_changes=1, **options).changes) == 1


def test_a_visit():
    "There and back: no single cut shows it; fails without the windows between knots"
    found = 0
    for t in range(8):
        Z = np.random.default_rng([5, t]).standard_normal((300, 2))
        Z[120:170] += 0.9
        plan = Plan(None, 5, 1, 0.05, 99, math.inf)
        cuts = split(Search(Z, plan, 1, ROOT(t), Engine()), [])
        found += len(cuts) >= 2
    assert found >= 6


def test_short_segments():
    "Six frames between two changes; fails if `min_size` is a twentieth of the series"
    Z = np.random.default_rng(8).standard_normal((200, 4))
    Z[100:106] += 6
    assert near(kpw_changepoint(Z, n_resamples=99, rng=0).changes, [100, 106], 1)


def test_same_place_as_ruptures():
    ruptures = pytest.importorskip("ruptures")
    Z = shifted(5)
    ours = kpw_changepoint(Z, n_resamples=39, rng=0)
    theirs = ruptures.KernelCPD(kernel="rbf", min_size=10).fit(Z).predict(n_bkps=1)[0]
    assert near(ours.changes, [theirs], 1)


def test_confidence_sets_cover():
    "95 % sets of a faint shift; fails if the permutations cross the cut"
    inside = 0
    for t in range(60):
        r = kpw_changepoint(
            shifted([7, t], 120, 70, 1.2), n_resamples=99, max_changes=1, block=1, rng=t
        )
        inside += bool(r.changes) and 70 in r.confidence_sets[0]
    assert inside >= binom.ppf(0.001, 60, 0.95)


@pytest.mark.skipif("KPW_DATA" not in os.environ, reason="needs KPW_DATA")
def test_glass():
    "Six kinds of glass one after another, 9 to 76 rows: .39 when blocks were permuted"
    path = os.path.join(os.environ["KPW_DATA"], "changes", "tables", "glass.csv")
    if not os.path.exists(path):
        pytest.skip("no table of glass")
    table = pd.read_csv(path)
    kind, Z = table["class"].to_numpy(), table.drop(columns="class").to_numpy(float)
    scores = []
    for i in range(4):
        g = np.random.default_rng([50, i])
        parts = [g.permutation(Z[kind == k]) for k in g.permutation(np.unique(kind))]
        true = np.repeat(range(len(parts)), [len(p) for p in parts])
        cuts = kpw_changepoint(np.vstack(parts), rng=i).changes
        found = np.searchsorted(cuts, np.arange(len(true)), side="right")
        scores.append(adjusted_rand_score(true, found))
    assert np.mean(scores) > 0.8


# Constant and discrete series, invalid input


def test_bad_series():
    series = np.random.default_rng(0).standard_normal((60, 3))
    with pytest.raises(ValueError, match="constant"):
        kpw_changepoint(np.ones((30, 2)))
    with pytest.raises(ValueError, match="at least 10"):
        kpw_changepoint(np.ones((5, 2)))
    with pytest.raises(ValueError, match="NaN"):
        kpw_changepoint(np.full((30, 2), np.nan))
    for bad in (
        dict(block="x"),
        dict(block=20),
        dict(alpha=0),
        dict(min_size=1),
        dict(max_changes=0),
        dict(n_resamples=3),
        dict(candidates=[]),
        dict(period=1),
        dict(period=30),
    ):
        with pytest.raises(ValueError):
            kpw_changepoint(series, **bad)


@pytest.mark.parametrize("block", ["auto", 1, 3])
def test_a_step_of_constants(block):
    step = np.r_[np.zeros((50, 2)), np.ones((50, 2))]
    found = kpw_changepoint(step, block=block, n_resamples=39, rng=0)
    assert near(found.changes, [50], 0 if block == 1 else 2)


def test_three_levels():
    levels = np.repeat([0.0, 5.0, 5.5], [40, 40, 40])[:, None]
    found = kpw_changepoint(levels, n_resamples=79, block=1, rng=0)
    assert found.changes == (40, 80)


@pytest.mark.parametrize(
    "candidate", [WitnessProjector(), MeanProjector(), KPWProjector(d=1), "location"]
)
def test_a_step_for_each_candidate(candidate):
    found = kpw_changepoint(
        shifted(3, 80, 30, 3.0), candidates=candidate, n_resamples=39, rng=0
    )
    assert near(found.changes, [30], 6)


def test_one_odd_frame_is_no_change():
    series = np.zeros((100, 1))
    series[37] = 1.0
    assert kpw_changepoint(series, n_resamples=39, rng=0).changes == ()


# Records


def test_workers_seed_and_rows():
    Z, days = shifted(5), pd.date_range("2024-01-01", periods=90)
    g, seen = np.random.default_rng(1), []
    g.normal(size=3)
    one = kpw_changepoint(
        pd.DataFrame(Z, index=days),
        rng=g,
        n_resamples=39,
        progress=lambda *now: seen.append(now),
    )
    two = kpw_changepoint(Z, rng=one.seed, workers=2, n_resamples=39)
    assert one.changes == two.changes and one.pvalues == two.pvalues
    assert (one.confidence_sets[0] == two.confidence_sets[0]).all()
    assert one.rows == (days[one.changes[0]],) and two.rows == two.changes
    assert one.tests[0].block == one.block == 1 and "blocks" not in str(one)
    assert seen[0][1] >= 39 and seen[-1][0] == seen[-1][1]
    again = pickle.loads(pickle.dumps(one))
    assert again.changes == one.changes and str(again) == str(one)


def test_gaps_in_time():
    "A gap is reported; fails if positions are taken for times"
    days = pd.date_range("2024-01-01", periods=91).delete(30)
    frame = pd.DataFrame(shifted(5), index=days, columns=["a", "b"])
    found = kpw_changepoint(frame, n_resamples=39, rng=0)
    assert found.gaps == (30,) and "gaps in the time index" in str(found)
    assert set(found.columns[0]) == {"a", "b"}
    assert kpw_changepoint(shifted(5), n_resamples=39, rng=0).gaps == ()


def test_estimator():
    "Labels are the numbers of the segments, and the options reach the search"
    Z = shifted(5)
    found = KPWChangePoints(n_resamples=39, rng=0).fit(Z)
    assert found.changes_.tolist() == list(found.result_.changes)
    assert found.fit_predict(Z).tolist() == found.labels_.tolist()
    assert (found.labels_ == (np.arange(90) >= found.changes_[0])).all()
    with pytest.raises(ValueError, match="alpha"):
        KPWChangePoints(alpha=0).fit(Z)


def test_plot():
    import matplotlib.pyplot as plt

    fig, ax = kpw_changepoint(shifted(5), n_resamples=39, rng=0).plot()
    assert len(ax.lines) == 3 and len(ax.patches) == 1  # two columns, one change
    plt.close(fig)


def test_search_as_if_independent_first():
    "Independent frames are not whitened; fails if an autoregression is always fitted"
    plan = Plan(None, 5, None, 0.05, 99, math.inf)
    kept = [find_changes(shifted([1, t]), plan, ROOT(t), Engine()) for t in range(8)]
    assert sum(f.orders == () for f in kept) >= 7
