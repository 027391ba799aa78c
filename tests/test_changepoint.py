"Change points: the same bits however the stream arrives, promises kept on null streams, and kind words for bad input."
import json
import math
import os
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from kpw_nb import KPWProjector, MeanProjector, WitnessProjector, kpw_distance
from kpw_nb.changepoint import (KPWDetector, _block_order, _cut_pvalue, _gumbel, _largest, _mean_value, _path_values, _paths, _Part, _refit_part,
                                _refit_value, _scan, _take, _threshold, _witness_path, _witness_value, average_run_length, block_length, detection_delay, edd_curve,
                                false_alarm_rate, kpw_changepoint, kpw_detect)
from kpw_nb.kernels import Gaussian, output_factor, output_matrix
from kpw_nb.transport import wasserstein


def ar1(T, phi, D, g):
    z, e = np.empty((T, D)), g.standard_normal((T, D))*math.sqrt(1 - phi*phi)
    z[0] = g.standard_normal(D)
    for t in range(1, T): z[t] = phi*z[t - 1] + e[t]
    return z


FAST = dict(calibration="fwer", horizon=60, n_resamples=19, rng=0)
KINDS = {"auto": {}, "kpw": dict(candidates=KPWProjector(d=2, ridge=0.1)), "witness": dict(candidates=WitnessProjector()),
         "three": dict(candidates=[MeanProjector(), WitnessProjector(bandwidth=1.), KPWProjector(d=1, kernel="laplace")]),
         "pretrained": dict(method="pretrained"), "paper": dict(method="pretrained", calibration="paper", candidates=KPWProjector(d=2)),
         "long reference": dict(n_reference=40, candidates=[MeanProjector(), WitnessProjector()]), "restart": dict(restart=True, target=0.5)}
stream = ar1(200, 0.4, 3, np.random.default_rng(1))
stream[150:] += 1.5


@pytest.fixture(scope="module", params=KINDS.values(), ids=KINDS)
def detector(request): return KPWDetector(20, **(FAST | request.param)).fit(stream[:100])


# The statistics

def test_refit_value_is_the_objective_of_kpw_distance():
    g = np.random.default_rng(0)
    Z = np.vstack([g.standard_normal((25, 3)), g.standard_normal((18, 3)) + 1])
    r = kpw_distance(Z[:25], Z[25:], d=1, max_iter=80, tol=0)
    value = _refit_value(r.projector.kernel_(Z, Z), 25, output_factor(output_matrix(1, 0.5)), r.eta, 0., 80)
    assert np.isclose(value, r.objective + r.eta*(1 + math.log(25*18)), rtol=1e-3) and value > 0


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 12), st.integers(2, 12), st.integers(0, 10**6))
def test_values_against_literal_formulas(n, m, seed):
    Z = np.random.default_rng(seed).standard_normal((n + m, 2))
    K = Gaussian(1.)(Z, Z)
    w = np.r_[np.full(n, 1/n), np.full(m, -1/m)]
    line = K.mean(1)[:, None]
    assert np.isclose(_witness_value(K, n), w @ K @ w, atol=1e-12)
    assert np.isclose(_mean_value(K, n), wasserstein(line[:n], line[n:]), atol=1e-12)
    assert np.isclose(_Part("pretrained", None, points=Z).value(_Part("pretrained", None, points=Z).pairs(Z, Z), n), wasserstein(Z[:n], Z[n:]), atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(st.integers(8, 30), st.integers(1, 4), st.integers(0, 10**6))
def test_scan(N, low, seed):
    g = np.random.default_rng(seed)
    Z, order, out = g.standard_normal((N, 2)), g.permutation(N), np.empty(N - 2*low + 1)
    K = Gaussian(1.)(Z, Z)
    _scan(K, order, low, out)
    naive = [s*(N - s)/N*_witness_value(_take(K, order), s) for s in range(low, N - low + 1)]
    assert np.allclose(out, naive, atol=1e-11)


# The stream

def test_detect_is_repeated_update(detector):
    detector.reset()
    trace = detector.detect(stream[100:180])
    detector.reset()
    states = [detector.update(x) for x in stream[100:180]]
    assert len(trace) == 80
    for name in trace.columns: assert [getattr(s, name) for s in states] == list(trace[name])
    assert (trace.alarm == (trace.statistic > trace.threshold)).all() and list(trace.t) == list(range(80))
    detector.reset()
    pieces = [detector.detect(stream[100 + a:100 + b]) for a, b in ((0, 7), (7, 50), (50, 80))]
    assert [s for p in pieces for s in p.statistic] == list(trace.statistic)


def test_statistic_is_of_the_reference_block_and_the_window(detector):
    detector.reset().detect(stream[100:137])
    n, frames = detector._n, np.vstack([stream[100 - detector._n:100], stream[117:137]])
    for part, M in zip(detector._parts, detector._pairs):
        F = part.represent(frames)
        if not detector.restart: assert np.allclose(part.pairs(F, F), M, atol=1e-12)
    assert n >= detector.window


def test_saved_and_continued_gives_the_same_bits(detector, tmp_path):
    detector.reset().detect(stream[100:130])
    detector.save(tmp_path/"d.npz")
    copy = KPWDetector.load(tmp_path/"d.npz")
    assert copy.calibration_.threshold == detector.calibration_.threshold and (copy.calibration_.maxima == detector.calibration_.maxima).all()
    assert detector.detect(stream[130:170]).equals(copy.detect(stream[130:170]))
    assert copy.reset().detect(stream[100:120]).equals(detector.reset().detect(stream[100:120]))
    if detector.method == "refit": assert copy.fit(stream[:100]).n_features_in_ == 3       # the options have come along
    with np.load(tmp_path/"d.npz", allow_pickle=False) as f: assert json.loads(str(f["meta"]))["format"] == 1


def test_bad_frames_change_nothing(detector):
    detector.reset()
    first = [detector.update(x, time=float(i)).statistic for i, x in enumerate(stream[100:105])]
    for bad, time, word in ((np.full(3, np.nan), 9., "NaN or infinity"), ([np.inf, 0, 0], 9., "infinity"), (np.ones(4), 9., "4 features"), (np.ones((2, 3)), 9., "one frame"),
                            (stream[105], 4., "time stamps must increase"), (stream[105], 3., "got 3 after 4"), (["a", "b", "c"], 9., "numbers only")):
        with pytest.raises(ValueError, match=word): detector.update(bad, time=time)
    with pytest.raises(TypeError, match="time must be a number"): detector.update(stream[105], time="noon")
    spoiled = stream[105:115].copy(); spoiled[7, 1] = np.nan
    with pytest.raises(ValueError, match="row 7, column 1"): detector.detect(spoiled)       # none of the ten is taken
    with pytest.raises(ValueError, match="time stamps must increase"): detector.detect(stream[105:108], times=[5, 7, 6])
    with pytest.raises(ValueError, match="times has 2 entries for 3"): detector.detect(stream[105:108], times=[5, 7])
    after = [detector.update(x, time=float(i)).statistic for i, x in enumerate(stream[105:110], 5)]
    detector.reset()
    assert first + after == [detector.update(x).statistic for x in stream[100:110]]


def test_restart_fills_the_window_again():
    options = FAST | dict(candidates=WitnessProjector())
    on, off = (KPWDetector(20, restart=r, **options).fit(stream[:100]).detect(stream[100:]) for r in (True, False))
    hit = on.alarm.to_numpy().argmax()
    assert on.alarm.any() and on[:hit + 1].equals(off[:hit + 1])
    assert on.statistic[hit + 1] < off.statistic[hit + 1] and on.run_length[hit] == hit + 1 and on.run_length[hit + 1] == 1
    assert on.alarm.sum() < off.alarm.sum()


def test_bad_reference_and_options():
    g = np.random.default_rng(0)
    with pytest.raises(ValueError, match="reference has 15 frames, fewer than window=20"): KPWDetector(20).fit(g.standard_normal((15, 2)))
    with pytest.raises(ValueError, match="constant"): KPWDetector(20).fit(np.ones((50, 2)))
    with pytest.raises(ValueError, match="reference contains 1 NaN"): KPWDetector(5).fit(np.r_[g.standard_normal((20, 1)), [[np.nan]]])
    with pytest.warns(UserWarning), pytest.raises(ValueError, match="at least 40 frames"): KPWDetector(20, calibration="paper", method="pretrained").fit(g.standard_normal((39, 2)))
    with pytest.warns(UserWarning, match="less than two windows"): KPWDetector(20, **FAST, candidates=WitnessProjector()).fit(g.standard_normal((30, 2)))
    with pytest.raises(RuntimeError, match="not fitted"): KPWDetector(20).update([1., 2.])
    with pytest.raises(RuntimeError, match="not fitted"): KPWDetector(20).save("nowhere.npz")
    for bad, error, word in ((dict(method="x"), ValueError, "method must be"), (dict(calibration="x"), ValueError, "calibration"), (dict(target=0.5), ValueError, "target"),
                             (dict(calibration="fwer", target=1.), ValueError, "target"), (dict(window=1), ValueError, "window"), (dict(horizon=0), ValueError, "horizon"),
                             (dict(block=0), ValueError, "block"), (dict(block="x"), ValueError, "block"), (dict(n_resamples=1.5), TypeError, "n_resamples"),
                             (dict(n_reference=10), ValueError, "n_reference")):
        with pytest.raises(error, match=word): KPWDetector(**({"window": 20} | bad))
    for bad, error in (([], ValueError), ("best", ValueError), (3, TypeError), (KPWProjector(rank=5), ValueError), (KPWProjector(solver="exact"), ValueError),
                       (WitnessProjector(kernel="precomputed"), ValueError)):
        with pytest.raises(error): KPWDetector(20, candidates=bad).fit(stream[:100])


def test_a_kernel_of_your_own_works_but_is_not_saved(tmp_path):
    d = KPWDetector(10, **FAST, candidates=WitnessProjector(kernel=lambda A, B: (1 + A @ B.T)**2)).fit(stream[:60])
    assert d.update(stream[60]).statistic >= 0
    with pytest.raises(ValueError, match="cannot be saved"): d.save(tmp_path/"d.npz")
    assert not (tmp_path/"d.npz").exists()
    np.savez(tmp_path/"other.npz", a=1)
    with pytest.raises(ValueError, match="holds no detector"): KPWDetector.load(tmp_path/"other.npz")


def test_same_seed_same_threshold():
    a, b, c = (KPWDetector(10, **(FAST | dict(rng=s, candidates=WitnessProjector()))).fit(stream[:80]).calibration_.threshold for s in (3, 3, 4))
    assert a == b != c


# The threshold

def test_block_length():
    g = np.random.default_rng(0)
    lengths = [np.median([block_length(ar1(400, phi, 2, g)) for _ in range(7)]) for phi in (0., 0.5, 0.9)]
    assert lengths[0] < lengths[1] < lengths[2] <= 134 and lengths[0] <= 8 and 10 <= lengths[1] <= 60
    wave = np.sin(2*np.pi*np.arange(300)/40)[:, None] + 0.1*g.standard_normal((300, 1))
    assert block_length(wave) >= 40                       # at least a period
    assert block_length(np.r_[np.ones((20, 1)), [[2.]]]) >= 1


def test_paths_keep_blocks():
    paths = _paths(50, 30, 10, 40, 0)
    assert paths.shape == (40, 30) and paths.min() >= 0 and paths.max() < 50
    assert ((np.diff(paths.reshape(40, 3, 10), axis=2) % 50) == 1).all()
    order = _block_order(5, 45, 7, np.random.default_rng(0))
    assert sorted(order) == list(range(5, 45)) and (np.diff(order) == 1).sum() >= 40 - 8


def test_two_pass_maximum():
    Z = stream[:100]
    part = _refit_part(KPWProjector(d=1), Z, 40)
    M, paths = part.pairs(Z, Z), _paths(100, 20 + 60, 5, 10, 0)
    every = np.array([_path_values([part], [M], p, 20, 20, np.arange(60)).max() for p in paths])
    found, *_ = _largest([part], [M], paths, 20, 20)
    assert (found <= every).all() and (found/every).mean() > 0.98


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 8), st.integers(0, 6), st.integers(0, 10**6))
def test_witness_path(window, more, seed):
    g, n = np.random.default_rng(seed), window + more
    K = g.standard_normal((12, 12)); K = K + K.T
    path, ends, fast = g.integers(0, 12, n + 15), np.arange(15), np.empty(15)
    _witness_path(K, path, n, window, ends, fast)
    assert np.allclose(fast, [_witness_value(_take(K, np.r_[path[:n], path[n + e + 1 - window:n + e + 1]]), n) for e in ends], atol=1e-10)


def test_thresholds():
    g = np.random.default_rng(0)
    location, scale = _gumbel(g.gumbel(2., 3., (2000, 60)))
    assert abs(location.mean() - 2) < 0.1 and abs(scale.mean() - 3) < 0.1
    maxima = g.gumbel(size=199)
    for tail in (0.3, 0.05):
        h, how = _threshold(maxima, tail)
        assert how == "order statistic" and (1 + (maxima > h).sum())/200 <= tail + 1e-12
    assert _threshold(maxima, 1e-4)[0] > maxima.max() and _threshold(maxima, 1e-4)[1] == "Gumbel tail"


def test_calibration_reports():
    g = np.random.default_rng(0)
    for rule, options in (("arl", dict(target=500.)), ("arl", dict(target=1e5)), ("fwer", dict(target=0.2, horizon=50)), ("fwer", dict(target=0.1, horizon=2000)), ("paper", {})):
        c = KPWDetector(15, calibration=rule, candidates=WitnessProjector(), n_resamples=99, rng=0, **options).fit(g.standard_normal((150, 2))).calibration_
        low, high = c.interval
        assert low <= c.estimate <= high and low <= c.target*1.02 and high >= c.target*0.98 and c.rule == rule and "threshold" in c.summary()
        assert abs(c.estimate/c.target - 1) < 0.15
    loose, strict = (KPWDetector(15, target=t, candidates=WitnessProjector(), n_resamples=99, rng=0).fit(stream[:100]).calibration_.threshold for t in (200., 1e6))
    assert loose < strict


def alarms(phi, block, streams=40, W=15, n=400, H=45):
    "How many null streams ring at FWER 0.1"
    hits = 0
    for t in range(streams):
        data, test = np.random.SeedSequence([5, t]).spawn(2)
        Z = ar1(n + H, phi, 3, np.random.default_rng(data))
        d = KPWDetector(W, calibration="fwer", target=0.1, horizon=H, candidates=WitnessProjector(), block=block, n_resamples=39, rng=test).fit(Z[:n])
        hits += d.detect(Z[n:]).alarm.any()
    return hits


def test_false_alarms_of_null_streams():
    "The long version is a slow cell of the notebook"
    assert alarms(0., "auto") <= binom.ppf(0.999, 40, 0.1)
    assert alarms(0.5, "auto") <= binom.ppf(0.999, 40, 0.1)
    assert alarms(0.5, 1) > binom.ppf(0.9999, 40, 0.1)        # as if frames were independent: no promise is kept


# Metrics

def test_metrics():
    assert detection_delay([True, False, False, True], 1) == 2 and detection_delay([True, False], 1) == math.inf
    assert false_alarm_rate([1, 0, 0, 0, 1], 4) == 0.25 and false_alarm_rate([0, 1]) == 0.5 and false_alarm_rate([1], 0) == 0
    estimate, (low, high) = average_run_length([10, 20, 30], [True, False, True])
    assert estimate == 30 and low < 30 < high
    assert average_run_length([5, 5], [False, False])[0] == math.inf and average_run_length([5], [0])[1][1] == math.inf
    g = np.random.default_rng(0)
    null, changed = g.standard_normal((30, 80)), g.standard_normal((30, 80)); changed[:, 40:] += 4
    curve = edd_curve(null, changed, 40)
    assert (np.diff(curve.threshold) >= 0).all() and (np.diff(curve.arl) >= 0).all() and (np.diff(curve.edd) >= 0).all() and curve.edd.iloc[0] < 2


def test_kpw_detect():
    detector, trace = kpw_detect(stream, 100, **FAST, candidates=WitnessProjector())
    assert detector.window == 33 and list(trace.frame) == list(range(100, 200)) and trace.alarm.any()
    assert 0 <= detection_delay(trace.alarm, 50) < 33
    with pytest.raises(ValueError, match="reference must be"): kpw_detect(stream, 200)
    with pytest.raises(ValueError, match="time stamps"): kpw_detect(stream, 100, times=np.zeros(200), **FAST, candidates=WitnessProjector())


# Offline

def test_no_change_is_an_answer():
    "60 series of independent frames: 'a change' no more often than the level"
    found = 0
    for t in range(60):
        data, test = np.random.SeedSequence([6, t]).spawn(2)
        found += bool(kpw_changepoint(np.random.default_rng(data).standard_normal((40, 2)), n_resamples=19, alpha=0.1, candidates=WitnessProjector(), max_changes=1, rng=test).indices)
    assert found <= binom.ppf(0.999, 60, 0.1)


def test_confidence_set_covers():
    inside = 0
    for t in range(80):
        data, test = np.random.SeedSequence([7, t]).spawn(2)
        Z = np.random.default_rng(data).standard_normal((40, 1)); Z[22:] += 1.5
        inside += _cut_pvalue(Gaussian(1.5)(Z, Z), 22, 5, 1, 19, test) > 0.1
    assert binom.ppf(0.001, 80, 0.9) <= inside


def test_one_and_two_changes():
    g = np.random.default_rng(3)
    Z = g.standard_normal((150, 3)); Z[60:, 0] *= 4
    r = kpw_changepoint(Z, n_resamples=39, rng=0)
    assert len(r.indices) == 1 and abs(r.indices[0] - 60) <= 6 and r.indices[0] in r.confidence_sets[0] and "1 change " in r.summary()
    assert r.pvalue == r.pvalues[0] == 1/40 and r.tests[0][:2] == (0, 150)
    Z[110:] += 3
    two = kpw_changepoint(Z, n_resamples=39, rng=0, candidates=[WitnessProjector(), KPWProjector(d=1)])
    assert len(two.indices) == 2 and abs(two.indices[0] - 60) <= 8 and abs(two.indices[1] - 110) <= 2
    again = kpw_changepoint(Z, n_resamples=39, rng=0, candidates=[WitnessProjector(), KPWProjector(d=1)])
    assert again.indices == two.indices and again.pvalues == two.pvalues
    assert len(kpw_changepoint(Z, n_resamples=39, rng=0, max_changes=1).indices) == 1


def test_same_place_as_ruptures():
    ruptures = pytest.importorskip("ruptures")
    Z = np.random.default_rng(5).standard_normal((90, 2)); Z[50:] += 2
    ours = kpw_changepoint(Z, n_resamples=39, candidates=WitnessProjector(), rng=0)
    theirs = ruptures.KernelCPD(kernel="rbf", min_size=10).fit(Z).predict(n_bkps=1)[0]
    assert len(ours.indices) == 1 and abs(ours.indices[0] - theirs) <= 1


def test_blocks_for_autocorrelated_series():
    "Shuffling frames of a slow series finds changes that are not there; moving blocks does not"
    iid = blocks = 0
    for t in range(15):
        data, test = np.random.SeedSequence([9, t]).spawn(2)
        Z = ar1(120, 0.7, 1, np.random.default_rng(data))
        options = dict(n_resamples=19, candidates=WitnessProjector(), max_changes=1)
        iid += bool(kpw_changepoint(Z, rng=test, **options).indices)
        blocks += bool(kpw_changepoint(Z, rng=test, block="auto", **options).indices)
    assert iid >= 8 and blocks <= 5


def test_bad_series():
    with pytest.raises(ValueError, match="constant"): kpw_changepoint(np.ones((30, 2)))
    with pytest.raises(ValueError, match="at least 20"): kpw_changepoint(np.ones((5, 2)))
    with pytest.raises(ValueError, match="NaN"): kpw_changepoint(np.full((30, 2), np.nan))
    for bad in (dict(block="x"), dict(block=20), dict(alpha=0), dict(min_size=1), dict(max_changes=0), dict(n_resamples=3), dict(candidates=[])):
        with pytest.raises(ValueError): kpw_changepoint(stream[:60], **bad)


# The paper's data

@pytest.mark.skipif(not os.environ.get("KPW_DATA"), reason="KPW_DATA is not set: no MSRC-12 data")
def test_msrc12_delays():
    from kpw_nb.data import load_msrc12
    by_rule, hindsight = [], []
    for user in (1, 2, 3, 4):
        Z, change = load_msrc12(user)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            trace = KPWDetector(100, calibration="paper", candidates=KPWProjector(d=1), n_resamples=99, rng=0).fit(Z[:300]).detect(Z[300:change + 60])
        by_rule.append(detection_delay(trace.alarm, change - 300))
        hindsight.append(detection_delay(trace.statistic > trace.statistic[:change - 300].max(), change - 300))
    assert np.mean(by_rule) <= 12 and np.mean(hindsight) <= 22
