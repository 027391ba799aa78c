"""Sizes of differences against scikit-learn, literal formulas, symmetries, and the
truth of problems that have one."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom, f, norm, ttest_ind
from sklearn.metrics import roc_auc_score

from kpw_nb import KPWProjector, MeanProjector, WitnessProjector, kpw_test
from kpw_nb.compare.effect import (
    Rule,
    area,
    check_units,
    cross_fit,
    deal_folds,
    fold_auc,
    interval_of,
    mean_shift,
    measure_effect,
    newcombe,
    roc_curve,
    share_shift,
    spread_ratio,
    typical_shift,
)
from kpw_nb.ground.encode import encode_samples
from kpw_nb.ground.sample import as_samples, pool

# whole numbers: many ties, and no sum is rounded
SCORES = arrays(float, 24, elements=st.integers(-5, 5).map(float))
LABELS = np.repeat([0, 1], [10, 14])
EACH, ONE = np.arange(24), np.zeros(24, int)


def two(n, m, D=2, shift=1.0, seed=0):
    g = np.random.default_rng(seed)
    return g.normal(size=(n, D)), g.normal(size=(m, D)) + shift


# -- the AUC of given scores
@settings(max_examples=60, deadline=None)
@given(SCORES)
def test_auc_is_scikit_learns(scores):
    found = fold_auc(scores, LABELS, ONE, EACH)
    assert found.value == pytest.approx(roc_auc_score(LABELS, scores), abs=1e-12)
    assert area(scores[:10], scores[10:]) == pytest.approx(found.value, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    SCORES, st.sampled_from([np.arctan, np.exp, lambda s: 3 * s - 7, lambda s: s**3])
)
def test_auc_is_blind_to_monotone_maps(scores, grow):
    assert fold_auc(grow(scores), LABELS, ONE, EACH) == fold_auc(
        scores, LABELS, ONE, EACH
    )


@settings(max_examples=60, deadline=None)
@given(SCORES)
def test_swapping_samples_mirrors(scores):
    found = fold_auc(scores, LABELS, ONE, EACH)
    mirrored = fold_auc(scores, 1 - LABELS, ONE, EACH)
    assert mirrored.value == pytest.approx(1 - found.value, abs=1e-12)
    low, high = interval_of(found, 0.95)
    assert interval_of(mirrored, 0.95) == pytest.approx((1 - high, 1 - low), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(SCORES)
def test_intervals_are_intervals(scores):
    found = fold_auc(scores, LABELS, ONE, EACH)
    low, high = interval_of(found, 0.95)
    assert 0 <= low <= found.value <= high <= 1
    assert high - low > 0.05, "24 rows make nobody so sure, not even if all are alike"
    wider = interval_of(found, 0.99)
    assert wider[0] <= low and high <= wider[1]


def naive_clustered(scores, labels, units):
    "Obuchowski's variance, unit by unit, for units of one sample each"
    x, y = scores[labels == 0], scores[labels == 1]
    psi = (y[None] > x[:, None]) + 0.5 * (y[None] == x[:, None])
    total = 0.0
    for values, own in (
        (psi.mean(1), units[labels == 0]),
        (psi.mean(0), units[labels == 1]),
    ):
        sums = [(values[own == u] - psi.mean()).sum() for u in np.unique(own)]
        total += len(sums) / (len(sums) - 1) * np.sum(np.square(sums)) / len(own) ** 2
    return total


def test_units_are_summed_up():
    g = np.random.default_rng(0)
    units = np.r_[g.integers(0, 4, 10), 4 + g.integers(0, 5, 14)]
    scores = g.normal(size=24).round(1)
    found = fold_auc(scores, LABELS, ONE, units)
    assert found.variance == pytest.approx(naive_clustered(scores, LABELS, units))
    assert found.variance != pytest.approx(fold_auc(scores, LABELS, ONE, EACH).variance)


# -- folds
@settings(max_examples=40, deadline=None)
@given(st.integers(4, 30), st.integers(4, 30), st.integers(0, 4), st.integers(0, 99))
def test_folds_keep_units_whole(n, m, shared, seed):
    labels = np.repeat([0, 1], [2 * n, 2 * m])
    units = np.r_[np.repeat(np.arange(n), 2), n - shared + np.repeat(np.arange(m), 2)]
    folds = deal_folds(units, labels, seed)
    assert all(len(set(folds[units == u])) == 1 for u in np.unique(units))
    for k in range(folds.max() + 1):
        for side in (0, 1):
            assert len(set(units[(folds == k) & (labels == side)])) >= 2


@pytest.mark.parametrize(
    "n, units, words",
    [
        (3, None, "X has 3 rows"),
        (12, np.repeat(np.arange(8), [6, 6, 2, 2, 2, 2, 2, 2]), "X has 2 units"),
        (12, np.arange(5), "units must name the unit of each of the 24 rows"),
    ],
)
def test_too_few_is_said(n, units, words):
    X, Y = as_samples(*two(n, 12))
    with pytest.raises(ValueError, match=words):
        measure_effect(None, X, Y, units=units)


# -- the rule
def test_rule_is_good_where_the_best_is_known():
    "A shift by 1 in one of two columns: the best AUC is Φ(1/√2) = 0.760"
    X, Y = two(200, 150, shift=np.array([1.0, 0.0]))
    labels = np.repeat([0, 1], [200, 150])
    rule = Rule(pool(X, Y), labels, np.arange(350))
    A, B = two(4000, 4000, shift=np.array([1.0, 0.0]), seed=1)
    assert 0.74 < area(rule(A), rule(B)) < 0.78


def test_rule_learns_nothing_from_what_it_is_tried_on():
    "Labels without meaning: held-out AUCs of 40 runs stand around one half"
    found = []
    for seed in range(40):
        X, Y = two(20, 24, shift=0.0, seed=seed)
        labels = np.repeat([0, 1], [20, 24])
        folds = deal_folds(np.arange(44), labels, seed)
        scores = cross_fit(pool(X, Y), labels, folds, np.arange(44), seed).scores
        found.append(fold_auc(scores, labels, folds, np.arange(44)).value)
    error = np.std(found) / np.sqrt(40)
    assert abs(np.mean(found) - 0.5) < 3.3 * error
    assert np.mean(found) < 0.6, "scores of training rows would be far above"


# -- the whole
@pytest.mark.parametrize(
    "projector",
    [
        None,
        KPWProjector(d=1, solver="exact", rank=50),
        KPWProjector(d=2, max_iter=30),
        WitnessProjector(),
        MeanProjector(),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_any_projector_will_do(projector):
    X, Y = as_samples(*two(40, 30))
    effect = measure_effect(projector, X, Y, rng=0)
    assert 0.5 < effect.auc < 1 and effect.interval[0] < effect.auc < effect.interval[1]
    near, far = effect.distance_interval
    assert 0 <= near <= effect.distance <= far
    assert 0 <= effect.total_variation <= 1
    assert "Shown one of each, you would be right" in str(effect)
    again = pickle.loads(pickle.dumps(effect))
    assert again.auc == effect.auc and again.columns.equals(effect.columns)
    assert measure_effect(projector, X, Y, rng=0).interval == effect.interval


def test_perfect_separation_is_not_certainty():
    X, Y = as_samples(*two(12, 15, shift=50.0))
    effect = measure_effect(None, X, Y, rng=0)
    assert effect.auc == 1 and effect.interval[1] == 1
    assert 0.5 < effect.interval[0] < 0.95


@pytest.mark.parametrize("projector", [None, KPWProjector(d=1, solver="exact")])
def test_what_hardly_varies(projector):
    "Two constants are told apart; one odd row in forty is no difference"
    X, Y = np.zeros((10, 1)), np.ones((10, 1))
    apart = measure_effect(projector, *as_samples(X, Y), rng=0)
    assert apart.auc == 1 and apart.distance > 100 and np.isfinite(apart.distance)
    X, Y = np.zeros((20, 1)), np.r_[np.ones((1, 1)), np.zeros((19, 1))]
    alike = measure_effect(projector, *as_samples(X, Y), rng=0)
    assert alike.interval[0] < 0.5 < alike.interval[1] and alike.total_variation == 0


def test_two_values_only():
    g = np.random.default_rng(0)
    X, Y = as_samples(*(g.integers(0, 2, (40, 1)).astype(float) for _ in range(2)))
    effect = measure_effect(None, X, Y, rng=0)
    assert effect.interval[0] < 0.5 < effect.interval[1]


def test_columns_in_their_own_units():
    import pandas as pd

    g = np.random.default_rng(2)
    frame = pd.DataFrame({"weight": g.normal(70, 5, 200), "town": ["A", "B"] * 100})
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(
        np.arange(200) % 50, "D"
    )
    frame.loc[100:, "weight"] += 6
    frame.loc[100:149, "town"] = "C"
    X, Y, encoder = encode_samples(frame[:100], frame[100:])
    columns = measure_effect(None, X, Y, owner=encoder.owner, rng=0).columns
    weight = columns[columns["column"] == "weight"].iloc[0]
    assert weight.low < 6 < weight.high
    means = frame["weight"][100:].mean() - frame["weight"][:100].mean()
    assert weight.difference == pytest.approx(means)
    town = columns[columns["column"] == "town"].set_index("level")["difference"]
    assert town["C"] == pytest.approx(0.5) and town.sum() == pytest.approx(0, abs=1e-12)
    day = columns[columns["column"] == "day"].set_index("what")["unit"]
    assert day["mean"] == "days" and day["spread"] == "ratio"


def test_shifts_cover():
    "Exact binomial bounds; a variance without units would fail the last"
    hits = np.zeros(4)
    for seed in range(300):
        g = np.random.default_rng(seed)
        labels, groups = np.repeat([0, 1], [40, 60]), np.repeat(np.arange(25), 4)
        values = g.normal(size=100) * (1 + labels) + labels
        donor = values + 2 * g.normal(size=25)[groups]
        marked = g.random(100) < np.where(labels, 0.6, 0.4)
        for k, (shift, v, u, truth) in enumerate(
            (
                (mean_shift, values, np.arange(100), 1),
                (typical_shift, values, np.arange(100), 1),
                (share_shift, marked, np.arange(100), 0.2),
                (mean_shift, donor, groups, 1),
            )
        ):
            found = shift(v, labels, u, 0.95)
            hits[k] += found.low <= truth <= found.high
    assert (hits >= binom.ppf(0.001, 300, 0.95)).all(), hits


def test_roc_has_the_area():
    g = np.random.default_rng(0)
    labels, folds = np.repeat([0, 1], [50, 70]), np.arange(120) % 3
    scores = g.normal(size=120).round(1) + labels
    grid = np.linspace(0, 1, 100_001)
    curve = roc_curve(scores, labels, folds, grid)
    want = fold_auc(scores, labels, folds, np.arange(120)).value
    assert np.trapezoid(curve, grid) == pytest.approx(want, abs=1e-4)
    assert (np.diff(curve) >= -1e-12).all()


def test_pairs_take_out_what_they_share():
    "Two rows of a pair share nearly everything: knowing it makes the interval narrow"
    g = np.random.default_rng(0)
    own = g.normal(size=(60, 1))
    X, Y = as_samples(
        own + 0.2 * g.normal(size=(60, 1)), own + 0.5 + 0.2 * g.normal(size=(60, 1))
    )
    plain = mean_shift(pool(X, Y)[:, 0], np.repeat([0, 1], 60), np.arange(120), 0.95)
    units = check_units(np.tile(np.arange(60), 2), np.repeat([0, 1], 60))
    paired = mean_shift(pool(X, Y)[:, 0], np.repeat([0, 1], 60), units, 0.95)
    assert paired.high - paired.low < 0.5 * (plain.high - plain.low)
    assert paired.low < 0.5 < paired.high


# -- shares, spread and shape
def conversions(p, g, n=5000):
    return pd.DataFrame(dict(conv=g.random(n) < p, value=g.gamma(2, 10, n)))


def test_a_share_is_a_share_however_it_is_written():
    """True and False, 0 and 1, yes and no: one interval, Newcombe's. Mutation: an AUC's
    interval with its bound on the number of trials is five times as wide."""
    g = np.random.default_rng(1)
    A, B = conversions(0.05, g), conversions(0.065, g)
    words = {True: "yes", False: "no"}
    forms = [lambda v: v, lambda v: v.astype(int), lambda v: v.map(words)]
    found = []
    for form in forms:
        both = (frame.assign(conv=form(frame["conv"])) for frame in (A, B))
        lines = kpw_test(*both, rng=0, n_resamples=39).effect().columns
        is_yes = lines["level"].isin(["True", "1", "yes"])
        lines = lines[(lines["column"] == "conv") & is_yes]
        found.append(lines[["difference", "low", "high"]].to_numpy()[0])
    assert np.ptp(found, axis=0).max() < 1e-12
    want = newcombe((A["conv"].mean(), B["conv"].mean()), (5000, 5000), 1.959964)
    assert found[0] == pytest.approx(want, abs=1e-7)


def test_each_level_has_its_own_width():
    "A level of 1 % is known five times as well as one of half. Mutation: one width"
    g = np.random.default_rng(0)
    p = [0.01, 0.19, 0.3, 0.5]
    frames = [pd.DataFrame(dict(c=g.choice([*"abcd"], 5000, p=p))) for _ in range(2)]
    lines = kpw_test(*frames, rng=0, n_resamples=19).effect().columns
    width = (lines["high"] - lines["low"]).set_axis(lines["level"])
    assert 0.006 < width["a"] < 0.01 and 0.035 < width["d"] < 0.045


def test_no_certainty_from_ties():
    "Not: typically +1 (+1 to +1)"
    g = np.random.default_rng(0)
    A, B = (pd.DataFrame(dict(n=g.poisson(m, 400))) for m in (2, 3))
    line = kpw_test(A, B, n_resamples=199, rng=0).effect().columns.iloc[0]
    assert line.what == "mean" and np.isnan(line.typical)
    assert line.low < line.difference < line.high


KINDS = dict(
    shift=lambda g, Y: Y + [0.6, 0, 0],
    far=lambda g, Y: Y + [3, 0, 0],
    all_a_little=lambda g, Y: Y + 0.3,
    wider=lambda g, Y: Y * [1.8, 1, 1],
    narrower=lambda g, Y: Y * [0.5, 1, 1],
    all_wider=lambda g, Y: 1.4 * Y,
    skewed=lambda g, Y: np.c_[g.exponential(size=len(Y)) - 1, Y[:, 1:]],
    humps=lambda g, Y: np.c_[1.2 * g.choice([-1, 1], len(Y)) + 0.4 * Y[:, 0], Y[:, 1:]],
    tails=lambda g, Y: np.c_[g.standard_t(1.5, len(Y)), Y[:, 1:]],
    cauchy_shift=lambda g, Y: np.c_[g.standard_cauchy(len(Y)) + 1, Y[:, 1:]],
    outliers=lambda g, Y: Y + 8 * (g.random((len(Y), 1)) < 0.1) * [1, 0, 0],
    one_wild=lambda g, Y: Y + 1e6 * (np.arange(len(Y)) == 0)[:, None],
    rounded=lambda g, Y: np.c_[np.round(Y[:, 0]), Y[:, 1:]],
    correlated=lambda g, Y: np.c_[Y[:, 0], 0.8 * Y[:, 0] + 0.6 * Y[:, 1], Y[:, 2]],
    curve=lambda g, Y: np.c_[Y[:, 0], Y[:, 0] ** 2 - 1 + 0.5 * Y[:, 1], Y[:, 2]],
    sign=lambda g, Y: -np.abs(Y),
    exponential=lambda g, Y: np.exp(Y + 0.5),
    mixture=lambda g, Y: np.where(g.random((len(Y), 1)) < 0.3, Y + 2, Y),
    counts=lambda g, Y: np.c_[g.poisson(3, len(Y)), Y[:, 1:]],
    nothing=lambda g, Y: Y,
)


@pytest.mark.parametrize("kind", KINDS)
def test_all_parts_of_an_effect_agree(kind):
    """AUC, distance and columns of twenty kinds of difference: the AUC that goes with
    the distance is that of the rule, and what leads is what `where()` says. Mutation: a
    distance of another projector, or of raw scores with a wild one among them."""
    g = np.random.default_rng([7, *kind.encode()])
    X, Y = g.normal(size=(2, 250, 3))
    result = kpw_test(X, KINDS[kind](g, Y), n_resamples=199, rng=0)
    effect, columns = result.effect(), result.where().columns
    low, high = norm.cdf(np.array(effect.distance_interval) / np.sqrt(2))
    assert low <= effect.interval[1] + 0.02 and effect.interval[0] <= high + 0.02
    assert abs(norm.cdf(effect.distance / np.sqrt(2)) - max(effect.auc, 0.5)) < 0.1
    leading, lines = columns.iloc[0], effect.columns
    assert str(lines["column"].iloc[0]) == str(leading["column"])
    of = lines[lines["column"].astype(str) == str(leading["column"])]
    if leading["effect"].startswith("spread") and leading["pvalue"] <= 0.05:
        assert of["what"].iloc[0] == "spread"
        assert not of["low"].iloc[0] <= 1 <= of["high"].iloc[0]
    if leading["kind"] == "number":
        assert {"mean", "spread"} <= set(of["what"])


def columns_of_a_kind(kind, g, n, m):
    "Two samples of one column, and what is true of them"
    draws = dict(
        normal=lambda k, y: 0.3 * y + (1 + 0.5 * y) * g.normal(size=k),
        exponential=lambda k, y: (1 + 0.5 * y) * g.exponential(size=k),
        lognormal=lambda k, y: (1 + 0.3 * y) * np.exp(g.normal(size=k)),
        heavy=lambda k, y: 0.3 * y + (1 + 0.2 * y) * g.standard_t(3, k),
        uniform=lambda k, y: (1 + 0.4 * y) * g.random(k),
        counts=lambda k, y: g.poisson(4, k) * (1.0 + y),
        many=lambda k, y: g.negative_binomial(2, 0.1, k) * (1 + 0.5 * y),
        zeros=lambda k, y: (1 + y) * g.exponential(size=k) * (g.random(k) < 0.5),
        rare=lambda k, y: g.random(k) < 0.01 + 0.02 * y,
        share=lambda k, y: g.random(k) < 0.3 + 0.2 * y,
    )
    truth = dict(
        normal=(0.3, 1.5), exponential=(0.5, 1.5), lognormal=(0.3 * np.exp(0.5), 1.3),
        heavy=(0.3, 1.2), uniform=(0.2, 1.4), counts=(4.0, 2.0), many=(9.0, 1.5),
        zeros=(0.5, 2.0), rare=(0.02, None), share=(0.2, None),
    )  # fmt: skip
    return np.r_[draws[kind](n, 0), draws[kind](m, 1)], *truth[kind]


TEN = ("normal", "exponential", "lognormal", "heavy", "uniform")
TEN += ("counts", "many", "zeros", "rare", "share")


@pytest.mark.parametrize("kind", TEN)
def test_every_interval_covers(kind):
    """250 runs on ten kinds of columns, against exact binomial bounds for 0.93 and
    0.985. Mutation: the interval of an AUC for shares covers always, a ratio of
    variances by normal theory covers heavy tails too rarely."""
    n, m = (300, 450) if kind in ("rare", "share") else (150, 200)
    labels, each = np.repeat([0, 1], [n, m]), np.arange(n + m)
    hits = {}
    for seed in range(250):
        g = np.random.default_rng([29, seed, *kind.encode()])
        values, move, ratio = columns_of_a_kind(kind, g, n, m)
        run = values, labels, each, 0.95
        shift = (mean_shift if ratio else share_shift)(*run)
        found = [(shift, move)] + ([(spread_ratio(*run), ratio)] if ratio else [])
        for k, (interval, true) in enumerate(found):
            hits.setdefault(k, []).append(interval.low <= true <= interval.high)
    low, high = binom.ppf(0.0005, 250, 0.93), binom.ppf(0.9995, 250, 0.985)
    for k, inside in hits.items():
        assert low <= sum(inside) <= high, (kind, k, sum(inside))


def test_widths_are_near_the_best_known():
    "Against Welch's and Newcombe's as SciPy and the paper have them"
    g = np.random.default_rng(0)
    labels, each = np.repeat([0, 1], [80, 120]), np.arange(200)
    values = g.normal(size=200) * (1 + labels)
    run = labels, each, 0.95
    welch = ttest_ind(values[80:], values[:80], equal_var=False).confidence_interval()
    mean, wide = mean_shift(values, *run), spread_ratio(values, *run)
    assert (mean.high - mean.low) / (welch.high - welch.low) == pytest.approx(
        1, abs=0.01
    )
    # the F interval for normal samples is the shortest there is, for normal samples
    ratio = np.sqrt(f.ppf([0.025, 0.975], 119, 79))
    assert np.log(wide.high / wide.low) / np.log(ratio[1] / ratio[0]) < 1.3
    typical = typical_shift(values, *run)
    assert typical.high - typical.low < 1.3 * (welch.high - welch.low)


def test_effects_are_facts():
    """One account: text, facts and page say the same. Mutation: `effect` left out of
    `facts()`, or another seed."""
    X, Y = two(60, 50, shift=np.array([1.0, 0.0]))
    result = kpw_test(X, Y, rng=0)
    effect, facts = result.effect(), result.facts()
    told = json.loads(json.dumps(facts, allow_nan=False))["effect"]
    assert told["auc"] == effect.auc and told["interval"] == list(effect.interval)
    assert told["words"] == effect.sentence and "% of the time" in told["words"]
    assert " ".join(effect.sentence.split()) in " ".join(str(result).split())
    page = result.report()
    assert effect.sentence in page and told["columns"][0]["words"] in page
    assert effect.sentence in result._repr_html_()
    lean = result.facts(where=False)
    assert lean["effect"] is None and lean["where"] is None
    few = kpw_test(X[:3], Y[:9], n_resamples=19, rng=0)  # nothing can be held out
    assert few.facts()["effect"] is None and "how large" not in str(few)
