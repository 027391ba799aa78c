"Looking back: no change is an answer, and a memory is not mistaken for a change."

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from kpw_nb import KPWProjector, MeanProjector, WitnessProjector
from kpw_nb.ground.engine import Engine
from kpw_nb.watch import segment
from kpw_nb.watch.calibrate import ar1
from kpw_nb.watch.frames import PairMMD, take
from kpw_nb.theory.kernels import Gaussian
from kpw_nb.watch.segment import (
    Plan,
    block_order,
    cut_pvalue,
    kpw_changepoint,
    residual_block,
    scan,
)


@settings(max_examples=25, deadline=None)
@given(st.integers(8, 30), st.integers(1, 4), st.integers(0, 10**6))
def test_scan(N, low, seed):
    g = np.random.default_rng(seed)
    Z = g.standard_normal((N, 2))
    order = g.permutation(N)
    mmd = PairMMD(Gaussian(1.0))
    K = mmd.pairs(Z, Z)
    cuts = range(low, N - low + 1)
    naive = [s * (N - s) / N * mmd.value(take(K, order), s) for s in cuts]
    assert np.allclose(scan(K, order, low), naive, atol=1e-11)


def test_blocks_stay_together():
    order = block_order(5, 45, 7, np.random.default_rng(0))
    assert sorted(order) == list(range(5, 45))
    assert (np.diff(order) == 1).sum() >= 40 - 8


def test_no_change_is_an_answer():
    "60 series of independent frames: 'a change' no more often than the level"
    found = 0
    for t in range(60):
        data, test = np.random.SeedSequence([6, t]).spawn(2)
        found += bool(
            kpw_changepoint(
                np.random.default_rng(data).standard_normal((40, 2)),
                n_resamples=19,
                alpha=0.1,
                candidates=WitnessProjector(),
                max_changes=1,
                rng=test,
            ).changes
        )
    assert found <= binom.ppf(0.999, 60, 0.1)


def test_confidence_set_covers():
    inside = 0
    for t in range(80):
        data, test = np.random.SeedSequence([7, t]).spawn(2)
        Z = np.random.default_rng(data).standard_normal((40, 1))
        Z[22:] += 1.5
        inside += cut_pvalue(Gaussian(1.5)(Z, Z), 22, 5, 1, 19, test) > 0.1
    assert binom.ppf(0.001, 80, 0.9) <= inside


def test_one_and_two_changes():
    g = np.random.default_rng(3)
    Z = g.standard_normal((150, 3))
    Z[60:, 0] *= 4
    r = kpw_changepoint(Z, n_resamples=39, rng=0)
    assert (
        len(r.changes) == 1
        and abs(r.changes[0] - 60) <= 6
        and r.changes[0] in r.confidence_sets[0]
        and "1 change " in r.summary()
    )
    assert r.pvalue == r.pvalues[0] <= 0.05 and r.tests[0][:2] == (0, 150)
    Z[110:] += 3
    options = dict(
        n_resamples=39,
        rng=0,
        block=1,
        candidates=[WitnessProjector(), KPWProjector(d=1)],
    )
    two = kpw_changepoint(Z, **options)
    assert (
        len(two.changes) == 2
        and abs(two.changes[0] - 60) <= 8
        and abs(two.changes[1] - 110) <= 2
    )
    again = kpw_changepoint(Z, **options)
    assert again.changes == two.changes and again.pvalues == two.pvalues
    assert len(kpw_changepoint(Z, n_resamples=39, rng=0, max_changes=1).changes) == 1


def test_same_place_as_ruptures():
    ruptures = pytest.importorskip("ruptures")
    Z = np.random.default_rng(5).standard_normal((90, 2))
    Z[50:] += 2
    ours = kpw_changepoint(Z, n_resamples=39, candidates=WitnessProjector(), rng=0)
    theirs = ruptures.KernelCPD(kernel="rbf", min_size=10).fit(Z).predict(n_bkps=1)[0]
    assert len(ours.changes) == 1 and abs(ours.changes[0] - theirs) <= 1


def test_blocks_for_autocorrelated_series():
    "Shuffled frames of a slow series show changes that are not there; blocks do not"
    iid = blocks = 0
    for t in range(15):
        data, test = np.random.SeedSequence([9, t]).spawn(2)
        Z = ar1(120, 0.7, 1, np.random.default_rng(data))
        options = dict(n_resamples=19, candidates=WitnessProjector(), max_changes=1)
        iid += bool(kpw_changepoint(Z, rng=test, block=1, **options).changes)
        blocks += bool(kpw_changepoint(Z, rng=test, **options).changes)
    assert iid >= 8 and blocks <= 5


def test_bad_series():
    series = np.random.default_rng(0).standard_normal((60, 3))
    with pytest.raises(ValueError, match="constant"):
        kpw_changepoint(np.ones((30, 2)))
    with pytest.raises(ValueError, match="at least 20"):
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
    ):
        with pytest.raises(ValueError):
            kpw_changepoint(series, **bad)


# Constant and discrete series


@pytest.mark.parametrize("block", ["auto", 1, 3])
def test_a_step_of_constants(block):
    step = np.r_[np.zeros((50, 2)), np.ones((50, 2))]
    found = kpw_changepoint(step, block=block, n_resamples=39, rng=0)
    assert len(found.changes) == 1 and abs(found.changes[0] - 50) <= 2
    if block == "auto":
        assert found.changes == (50,) and found.block == 1


def test_three_levels():
    levels = np.repeat([0.0, 5.0, 5.5], [40, 40, 40])[:, None]
    found = kpw_changepoint(levels, n_resamples=79, rng=0)
    assert found.changes == (40, 80)


@pytest.mark.parametrize(
    "candidate", [WitnessProjector(), MeanProjector(), KPWProjector(d=2)]
)
def test_a_step_for_each_candidate(candidate):
    step = np.repeat([0.0, 1.0], [30, 50])[:, None]
    found = kpw_changepoint(step, candidates=candidate, n_resamples=19, rng=0)
    assert len(found.changes) == 1 and abs(found.changes[0] - 30) <= 6


def test_one_odd_frame_is_no_change():
    "Most distances are 0; the median of the others is the bandwidth"
    series = np.zeros((100, 1))
    series[37] = 1.0
    assert kpw_changepoint(series, n_resamples=39, rng=0).changes == ()


def test_residual_block():
    g = np.random.default_rng(0)
    step = 5.0 * (np.arange(200) >= 90)[:, None]
    assert residual_block(step) == residual_block(np.ones((50, 1))) == 1
    noisy = [residual_block(step + g.standard_normal((200, 1))) for _ in range(9)]
    slow = [residual_block(step + ar1(200, 0.8, 1, g)) for _ in range(9)]
    assert np.median(noisy) <= 8 < np.median(slow) <= 25


# The default knows that frames hang together


def test_power_of_the_default():
    "For independent frames nearly that of block=1; the notebook has series that swing"

    def changed(i, block):
        g = np.random.default_rng([3, i])
        Z = g.standard_normal((300, 1)) + 0.6 * (np.arange(300) >= 150)[:, None]
        plan = Plan([WitnessProjector()], 15, block, 0.05, 39, 1)
        return (
            segment.test_segment(Z, plan, plan.block_of(Z), 39, i, Engine())[0] <= 0.05
        )

    free, default = (sum(changed(i, b) for i in range(12)) for b in (1, None))
    assert default >= free - 2 >= 8


def test_several_changes_by_default():
    "Two changes look like a long memory of the whole; the parts know better"
    found = []
    for i in range(8):
        Z = np.random.default_rng([4, i]).standard_normal((240, 3))
        Z[80:160] += 1.5
        options = dict(candidates=WitnessProjector(), n_resamples=79, rng=i)
        found.append(len(kpw_changepoint(Z, **options).changes))
    assert sum(f >= 2 for f in found) >= 6


# Records


def test_workers_seed_and_rows():
    pd = pytest.importorskip("pandas")
    Z = np.random.default_rng(5).standard_normal((90, 2))
    Z[50:] += 2
    days = pd.date_range("2024-01-01", periods=90)
    g = np.random.default_rng(1)
    g.normal(size=3)
    seen = []
    options = dict(n_resamples=39, candidates=WitnessProjector())
    one = kpw_changepoint(
        pd.DataFrame(Z, index=days),
        rng=g,
        progress=lambda *now: seen.append(now),
        **options,
    )
    two = kpw_changepoint(Z, rng=one.seed, workers=2, **options)
    assert one.changes == two.changes and one.pvalues == two.pvalues
    assert (one.confidence_sets[0] == two.confidence_sets[0]).all()
    assert one.rows == (days[one.changes[0]],) and two.rows == two.changes
    assert one.tests[0].block == one.block >= 1 and f"blocks of {one.block}" in str(one)
    assert seen[:39] == [(k, 39) for k in range(1, 40)]
