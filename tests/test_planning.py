"How many points a wanted power needs: from a model, from a pilot, in bounded time"

import math
import time
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from scipy.special import ndtr
from test_power import Learner, MeanTest, PValue, Slow, facts, shifted, z_power

from kpw_nb import KPWTest
from kpw_nb.study import planning
from kpw_nb.study.planning import _crossing, _fit_probit, sample_size
from kpw_nb.study.power import power_study
from kpw_nb.study.rivals import EnergyTest


# -- sample size
def needed(shift, power=0.8):
    return 2 * ((stats.norm.isf(0.025) + stats.norm.ppf(power)) / shift) ** 2


@pytest.mark.parametrize("shift, n_start", [(0.5, 8), (0.8, 200)])
def test_sample_size_of_a_known_test(shift, n_start):
    answer = sample_size(
        MeanTest(), partial(shifted, shift=shift), n_start=n_start, n_trials=300, rng=2
    )
    low, high = answer.interval
    # three shapes of the curve are allowed for, so the interval is wide where the
    # crossing is at the end of the octave
    assert (
        low <= needed(shift) <= high
        and low <= answer.n <= high
        and high < 2 * low
        and abs(answer.n / needed(shift) - 1) < 0.2
    )
    assert "points of each sample" in repr(answer) and len(answer.study) >= 6


def test_sample_size_interval_covers():
    g, hits = np.random.default_rng(4), []
    for start in (0.6, 0.9):
        n = np.round(needed(0.5) * start * 2 ** (np.arange(5) / 4))
        hits += [
            low <= needed(0.5) <= high
            for _, low, high in (
                _crossing(n, g.binomial(150, z_power(n)), 150, 0.8, 0.95)
                for _ in range(200)
            )
        ]
    assert np.mean(hits) > 0.95 - 4 * math.sqrt(0.95 * 0.05 / 400)


def test_probit_fit_is_the_maximum():
    from scipy.optimize import minimize

    x, k, T = np.sqrt([40.0, 50, 60, 70, 80]), np.array([90.0, 115, 140, 150, 175]), 200

    def loss(c):
        return -(
            (k + 0.5) * np.log(ndtr(c[0] + c[1] * x))
            + (T - k + 0.5) * np.log(ndtr(-c[0] - c[1] * x))
        ).sum()

    assert np.allclose(
        _fit_probit(x, k, T)[0],
        minimize(
            loss,
            [0.0, 0.1],
            method="Nelder-Mead",
            options=dict(xatol=1e-9, fatol=1e-12, maxiter=5000),
        ).x,
        atol=1e-5,
    )


def test_sample_size_resumes(tmp_path):
    def run(**o):
        return sample_size(MeanTest(), shifted, n_trials=60, rng=3, **o)

    first = run(store=tmp_path / "s")
    before = (tmp_path / "s").read_bytes()
    again = run(store=tmp_path / "s")
    assert (
        (tmp_path / "s").read_bytes() == before
        and again.study.equals(first.study)
        and (again.n, again.interval) == (first.n, first.interval)
    )
    assert facts(run().study).equals(facts(first.study))
    alone = power_study(
        dict(MeanTest=MeanTest()), shifted, n=32, n_trials=60, rng=3
    )  # the same seed, the same trials
    assert facts(alone).equals(
        facts(first.study[first.study.n == 32].reset_index(drop=True))
    )


@pytest.mark.parametrize(
    "options, word",
    [
        (dict(power=1.0), "power must be"),
        (dict(n_tests=2), "n_tests=1"),
        (dict(n_start=2), "n_start"),
        (dict(n_max=8), "n_max"),
        (dict(point=dict(shift=0.0), n_max=70), "not reached"),
        (dict(point=dict(shift=9.0)), "as few as"),
    ],
)
def test_bad_sample_size(options, word):
    with pytest.raises(ValueError, match=word):
        sample_size(MeanTest(), shifted, **(dict(n_trials=20, rng=0) | options))


# -- planning from a pilot
class Spy:
    "Sees what a plan gives to a test, and rejects as the z-test does"

    def test(self, X, Y, *, n_resamples=199, rng=None, **design):
        X, Y = (A if isinstance(A, np.ndarray) else A.numbers for A in (X, Y))
        self.check(X, Y, **design)
        z = (X[:, 0].mean() - Y[:, 0].mean()) / math.sqrt(1 / len(X) + 1 / len(Y))
        return PValue(2 * ndtr(-abs(z)))

    def check(self, X, Y):
        assert len(np.unique(np.r_[X[:, 1], Y[:, 1]])) == len(X) + len(Y)  # no copies


def pilot(N=60, M=None, shift=0.8, seed=0):
    "Rows of two samples; the second column is the number of the row"
    g = np.random.default_rng([200, seed])
    sizes = N, M or N
    X, Y = (np.column_stack([g.normal(size=k), np.arange(k)]) for k in sizes)
    return X, Y + [shift, N]


FEW = dict(n_trials=30, rng=0)


def test_pilot_rows_are_never_copied():
    answer = sample_size(Spy(), pilot(), **FEW)
    assert answer.n > 4 and answer.unit == "points of each sample"
    assert answer.study.n.max() <= 30 and answer.pvalue <= 0.05 and not answer.note
    assert answer.interval[0] <= answer.n <= answer.interval[1]


def test_pilot_of_unequal_samples():
    class Counts(Spy):
        def check(self, X, Y):
            assert len(Y) == round(len(X) / 2)

    answer = sample_size(Counts(), pilot(60, 30, shift=1.2), **FEW)
    assert answer.unit == "points of X, 0.5 times as many of Y" and answer.n


class Whole(Spy):
    "Every cluster comes with all its rows, under a name of its own"

    def check(self, X, Y, clusters):
        assert not set(clusters[0]) & set(clusters[1])
        for sample, labels, first in ((X, clusters[0], 0), (Y, clusters[1], 24)):
            assert len(labels) == len(sample)
            for name in set(labels):
                (donor,) = set(sample[labels == name, 1])
                assert (labels == name).sum() == 2 + donor % 3 and donor >= first


def donors(shift=2.0):
    g, donor = np.random.default_rng(201), np.arange(48)
    donor = np.repeat(donor, 2 + donor % 3)
    frame = pd.DataFrame(dict(v=g.normal(size=len(donor)), number=1.0 * donor))
    frame["v"] += shift * (donor >= 24)
    frame["donor"] = [f"d{k}" for k in donor]
    frame = frame.sample(frac=1, random_state=0)  # rows of a donor lie apart
    return frame[frame.number < 24], frame[frame.number >= 24]


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"]
)
def test_pilot_of_clusters(make):
    X, Y = map(make, donors())
    answer = sample_size(Whole(), (X, Y), clusters="donor", **FEW)
    assert answer.unit == "clusters of each sample" and answer.study.n.max() <= 12
    lists = [A["donor"].to_list() for A in (X, Y)]
    rest = [A[["v", "number"]] for A in (X, Y)]
    again = sample_size(Whole(), rest, clusters=tuple(lists), **FEW)
    assert facts(again.study).equals(facts(answer.study)) and again.n == answer.n


@pytest.mark.parametrize("clusters", [False, True])
def test_pilot_of_pairs(clusters):
    class Together(Spy):
        def check(self, X, Y, paired, clusters=None):
            assert paired
            if clusters is None:
                assert np.array_equal(X[:, 1], Y[:, 1])
                return
            assert set(clusters[0]) == set(clusters[1])
            for name in set(clusters[0]):
                (of_x,), (of_y,) = (
                    set(A[c == name, 1]) for A, c in zip((X, Y), clusters)
                )
                assert of_x == of_y

    X, Y = pilot(40)
    Y[:, 1] -= 40
    design = dict(paired=True)
    if clusters:
        order = np.random.default_rng(0).permutation(40)
        Y = Y[order]
        design |= dict(clusters=(np.arange(40), order))
    answer = sample_size(Together(), (X, Y), **design, **FEW)
    assert answer.unit.endswith("in both samples") and answer.n


def test_pilot_keeps_the_shares_of_strata():
    class Shares(Spy):
        def check(self, X, Y, strata):
            for labels in strata:
                first = (labels == 0).sum()
                assert abs(first - 0.75 * len(labels)) < 1 and first < len(labels)

    site = np.repeat([0, 1], [45, 15])
    assert sample_size(Shares(), pilot(), strata=(site, site), **FEW).n


@pytest.mark.parametrize("seed", range(2))
def test_pilots_of_equal_laws_are_refused(seed):
    "Broken by a plan that does not test the pilot first"
    runs, answered = 100, 0
    for k in range(runs):
        X, Y = np.random.default_rng([202, seed, k]).normal(size=(2, 20, 2))
        few = dict(n_trials=5, n_resamples=19, rng=k)
        answer = sample_size(EnergyTest(), (X, Y), **few)
        assert (answer.pvalue > 0.05) == ("shows no difference" in answer.note)
        assert answer.n is None or answer.pvalue <= 0.05
        answered += answer.n is not None
    assert answered <= stats.binom.ppf(0.9999, runs, 0.05)


def test_the_default_test_refuses_too():
    answered = 0
    for k in range(40):
        X, Y = np.random.default_rng([203, k]).normal(size=(2, 16, 3))
        few = dict(n_trials=3, n_resamples=19, rng=k)
        answered += sample_size(KPWTest(), (X, Y), **few).n is not None
    assert answered <= stats.binom.ppf(0.9999, 40, 0.05)


def test_clear_pilots_are_answered_within_a_factor_of_two():
    "Found with probability 0.999 by the pilot itself; truth 18.5"
    shift = 0.923
    assert z_power(60, shift) > 0.998
    good = 0
    for seed in range(30):
        answer = sample_size(MeanTest(), pilot(shift=shift, seed=seed), **FEW)
        low, high = answer.interval
        good += 0.5 < answer.n / needed(shift) < 2
        assert low <= answer.n <= high
    assert good >= stats.binom.ppf(0.001, 30, 0.8)


def test_the_line_of_subsamples_is_that_of_the_whole():
    "Exact powers of subsamples, corrected for the finite pilot, give the line back"
    n, N, T = np.array([8.0, 12, 16, 24, 30]), 60, 10**7
    shrink = np.sqrt(1 - n / N)
    power = ndtr((-1.96 + 0.5 * np.sqrt(n)) / shrink)
    (a, b), *_ = _fit_probit(np.sqrt(n), power * T, T, shrink)
    assert np.allclose([a, b], [-1.96, 0.5], atol=1e-4)


def test_pilot_repeats_and_resumes(tmp_path):
    X, Y = pilot()
    first = sample_size(MeanTest(), (X, Y), store=tmp_path / "s", **FEW)
    before = (tmp_path / "s").read_bytes()
    for options in (dict(store=tmp_path / "s"), dict(workers=2), {}):
        again = sample_size(MeanTest(), (X, Y), **options, **FEW)
        assert facts(again.study).equals(facts(first.study)) and again.n == first.n
    assert (tmp_path / "s").read_bytes() == before
    other = sample_size(MeanTest(), pilot(seed=1), store=tmp_path / "s", **FEW)
    assert not facts(other.study).equals(facts(first.study))  # not another's trials


def test_pilot_that_is_too_small():
    X, Y = pilot(10, shift=5.0)
    answer = sample_size(MeanTest(), (X, Y), **FEW)
    assert answer.n is None and "10 points, too few" in answer.note
    assert "too few" in str(answer) and "no answer" in str(answer)


def test_pilot_with_a_huge_difference():
    answer = sample_size(MeanTest(), pilot(shift=9.0), **FEW)
    assert answer.n == 4 and "that few are enough" in answer.note


def test_pilot_beyond_the_largest_size():
    answer = sample_size(MeanTest(), pilot(shift=0.7), power=0.99, n_max=64, **FEW)
    assert answer.n is None and "more than n_max=64" in answer.note


def test_pilot_of_a_test_that_trains():
    answer = sample_size(Learner(), pilot(200, shift=0.6), **FEW)
    assert answer.n is not None
    with pytest.raises(ValueError, match="a test that trains"):
        sample_size(Learner(), pilot(), paired=True, **FEW)


@pytest.mark.parametrize("source", [shifted, pilot()], ids=["sampler", "pilot"])
@pytest.mark.parametrize("seconds", [0, 0.4, 1.5])
def test_time_is_bounded(source, seconds):
    start = time.monotonic()
    answer = sample_size(Slow(), source, max_seconds=seconds, n_trials=1000, rng=0)
    assert time.monotonic() - start < seconds + 1.5
    assert "time was up" in answer.note or "are over" in answer.note
    if answer.n is None:
        assert "give it more" in answer.note
    else:
        assert len(answer.study) >= 5 and answer.study.n_trials.max() < 1000


def test_time_enough_changes_nothing():
    for source in (shifted, pilot()):
        a, b = (
            sample_size(MeanTest(), source, max_seconds=limit, **FEW)
            for limit in (None, 1000)
        )
        assert facts(a.study).equals(facts(b.study)) and not b.note and a.n == b.n


def test_plan_can_be_interrupted():
    def stop(done, total):
        if done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sample_size(MeanTest(), pilot(), progress=stop, **FEW)


@pytest.mark.parametrize(
    "source, options, word",
    [
        (shifted, dict(clusters="donor"), "describe a pilot"),
        (pilot(), dict(point=dict(shift=1)), "point is for a sampler"),
        (pilot(), dict(protocol="train_once"), "protocol='equal'"),
        (pilot()[:1], {}, "got 1 things"),
        (donors(), dict(clusters="patient"), "clusters='patient' is no column"),
        (pilot(20, 24), dict(paired=True), "X has 20 rows and Y has 24"),
        (pilot(), dict(max_seconds="soon"), "max_seconds"),
    ],
)
def test_bad_pilot(source, options, word):
    with pytest.raises((ValueError, TypeError), match=word):
        sample_size(MeanTest(), source, **options, **FEW)


class Counting(Spy):
    "How many tests a plan makes"

    made = 0

    def test(self, X, Y, **options):
        Counting.made += 1
        return super().test(X, Y, **options)


def test_no_more_trials_than_the_pilot_deserves(monkeypatch):
    """Ten pilots of 300 + 300 rows took 1,400 tests each, for intervals that are the
    pilots' own. The answers are those of all the trials, intervals hardly wider."""
    made, shifts = {}, []
    for share in (planning._LITTLE, 0.0):  # 0: all the trials
        monkeypatch.setattr(planning, "_LITTLE", share)
        monkeypatch.setattr(Counting, "made", 0)
        made[share] = [
            sample_size(Counting(), pilot(300, shift=0.35, seed=seed), rng=seed)
            for seed in range(10)
        ]
        shifts.append(Counting.made / 10)
    assert shifts[0] < 450 and shifts[1] >= 1400
    few, all_of_them = made.values()
    ratios = [math.log(f.n / a.n) for f, a in zip(few, all_of_them)]
    assert np.abs(ratios).max() < 0.4 and abs(np.mean(ratios)) < 0.1
    widths = [
        [math.log(np.divide(*f.interval[::-1])) for f in part] for part in made.values()
    ]
    assert np.median(np.divide(*widths)) < 1.6
    held = [low <= needed(0.35) <= high for low, high in (f.interval for f in few)]
    assert sum(held) >= 8 and not any(f.note for f in few)


def test_an_interval_begins_above_nothing():
    """Pilots whose difference may be small: there is no upper bound, but nearly always
    a lower one. It was "46 (between 0 and inf)"."""
    samples = [pilot(24, shift=0.75, seed=seed) for seed in range(40)]
    found = [sample_size(MeanTest(), pair, **FEW) for pair in samples]
    open_ends = [f for f in found if f.n is not None and math.isinf(f.interval[1])]
    assert len(open_ends) >= 3
    bounded = [f for f in open_ends if 0 < f.interval[0] <= f.n]
    assert len(bounded) > len(open_ends) / 2
    assert all("with no upper bound" in str(f) for f in bounded)
    assert not any("inf" in str(f) for f in open_ends)
