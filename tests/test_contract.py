"""One contract for all tests, one for all projectors, one for all statistics.

A new test, projector or statistic is put into a table here, and is held to it."""

import pickle
from functools import partial
import warnings
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import kpw_nb.study.rivals as baselines
import kpw_nb.compare.statistics as statistics
import kpw_nb.compare.stream as stream
import kpw_nb.compare.twosample as twosample
from kpw_nb import KPWProjector, KPWTest, MeanProjector, WitnessProjector
from kpw_nb.study.rivals import SinkhornTest, paper_baselines
from kpw_nb.compare.evidence import ColumnEvidence
from kpw_nb.compare.family import Member
from kpw_nb.compare.features import find_neighbours
from kpw_nb.compare.designs import Design
from kpw_nb.compare.relabel import Free, Parts, permutation_pvalue

rng = np.random.default_rng(11)
TRAIN = rng.normal(size=(12, 3)), rng.normal(size=(11, 3)) * [2, 1, 1]
X, Y = rng.normal(size=(10, 3)), rng.normal(size=(9, 3)) * [2, 1, 1]
NAMES = ["a", "b", "c"]


class Case(NamedTuple):
    "A test, and what may be asked of it"

    test: object
    trained: bool = False  # fitted to other rows before it is used?
    listed: bool = True  # does it go through all relabellings of a tiny sample?
    cuts: bool = False  # does it cut its samples, by position, into two parts?
    ties: bool = False  # may different relabellings of distinct points be equal?

    def ready(self):
        t = clone(self.test)
        return t.fit(*TRAIN, rng=1) if self.trained else t

    def run(self, X, Y, **options):
        options = dict(n_resamples=19, rng=2) | options
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*can never reject")
            return self.ready().test(X, Y, **options)


SMALL = KPWProjector(d=1, max_iter=30)
RIVALS = paper_baselines(extra=True)
CASES = {
    "KPW auto": Case(KPWTest()),
    "KPW refit": Case(KPWTest("refit")),
    "KPW refit, one": Case(KPWTest("refit", SMALL)),
    "KPW split": Case(KPWTest("split"), cuts=True),
    "KPW split, W": Case(KPWTest("split", SMALL, statistic="wasserstein"), cuts=True),
    "KPW split, trained": Case(KPWTest("split"), trained=True),
    "KPW auto, trained": Case(KPWTest(), trained=True),
    "KPW cv, trained": Case(KPWTest("split", "cv"), trained=True),
    "KPW stream": Case(KPWTest("stream", kept=8), listed=False),
    **{
        name: Case(t, trained=t.trains, ties=name in ("Classifier", "Columns"))
        for name, t in RIVALS.items()
    },
    "Sinkhorn, several": Case(SinkhornTest(eta=[0.1, 1.0])),
}
EACH = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def same(a, b):
    "Are two results the same to the last bit?"
    null = np.array_equal(a.null_distribution, b.null_distribution)
    return null and (a.statistic, a.pvalue) == (b.statistic, b.pvalue)


# -- tests
def test_every_baseline_has_a_case():
    known = {type(case.test) for case in CASES.values()}
    public = {getattr(baselines, name) for name in baselines.__all__}
    assert {c for c in public if isinstance(c, type)} <= known


@EACH
def test_fit_returns_itself_and_changes_nothing(case):
    t = clone(case.test)
    A, B = (P.copy() for P in TRAIN)
    A.flags.writeable = B.flags.writeable = False
    params = repr(t.get_params())
    assert t.fit(A, B, rng=1) is t
    assert repr(t.get_params()) == params
    assert np.array_equal(A, TRAIN[0]) and np.array_equal(B, TRAIN[1])


@EACH
def test_result(case):
    A, B = X.copy(), Y.copy()
    A.flags.writeable = B.flags.writeable = False
    r = case.run(A, B)
    assert isinstance(r.statistic, float) and np.isfinite(r.statistic)
    assert r.null_distribution.shape == (19,)
    assert r.pvalue == permutation_pvalue(r.statistic, r.null_distribution)
    assert tuple(r) == (r.statistic, r.pvalue)
    assert same(pickle.loads(pickle.dumps(r)), r)
    assert r.pvalue == pytest.approx((1 + round(20 * r.pvalue - 1)) / 20)
    assert type(r).__name__ in repr(r) and "<table" in r._repr_html_()
    with pytest.raises(AttributeError):
        r.pvalue = 0.0
    assert np.array_equal(A, X) and np.array_equal(B, Y)


@EACH
def test_same_rng_same_bits(case):
    r = case.run(X, Y)
    assert same(case.run(X, Y), r)
    assert same(case.run(X, Y, rng=np.random.default_rng(2)), r)
    assert same(case.run(X, Y, workers=2), r)
    assert same(case.run(X, Y, workers=map), r)
    copy = pickle.loads(pickle.dumps(case.ready()))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*can never reject")
        assert same(copy.test(X, Y, n_resamples=19, rng=2), r)
    other = case.run(X, Y, rng=3)
    assert not np.array_equal(other.null_distribution, r.null_distribution)


@EACH
def test_progress_counts_to_the_end(case):
    seen = []
    case.run(X, Y, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] and (19, 19) in seen


def in_raw_units(case):
    "The case without common units, if it has any"
    test = clone(case.test)
    if "scale" in test.get_params():
        test.set_params(scale=None)
    return case._replace(test=test)


@EACH
def test_frames_and_arrays(case):
    case = in_raw_units(case)  # of names come units of their own
    A, B = pd.DataFrame(X, columns=NAMES), pd.DataFrame(Y, columns=NAMES)
    r = case.run(X, Y)
    assert same(case.run(A, B), r)
    assert same(case.run(X.tolist(), Y.tolist()), r)
    assert same(case.run(A, B[["c", "a", "b"]]), r)  # matched by name
    labelled = A.set_axis([f"row {i}" for i in range(len(A))])
    assert same(case.run(labelled, B), r)


@EACH
def test_different_columns_are_refused(case):
    A, B = pd.DataFrame(X, columns=NAMES), pd.DataFrame(Y, columns=["a", "b", "z"])
    with pytest.raises(ValueError, match="columns"):
        case.run(A, B)
    with pytest.raises(ValueError, match="features"):
        case.run(X, Y[:, :2])


@EACH
def test_gaps_are_named_by_row_and_column(case):
    A = pd.DataFrame(X, columns=NAMES, index=[f"r{i}" for i in range(len(X))])
    A.loc["r7", "b"] = np.nan
    B = pd.DataFrame(Y, columns=NAMES)
    named = r"X .*row r7, column 'b'|column 'b' \(1 in X\), first in row r7 of X"
    with pytest.raises(ValueError, match=named):
        case.run(A, B)
    gap = Y.copy()
    gap[3, 2] = np.inf
    with pytest.raises(ValueError, match=r"Y .*row 3, column 2"):
        case.run(X, gap)


@EACH
def test_clone_and_parameters(case):
    used = case.ready()
    fresh = clone(used)
    assert repr(fresh.get_params()) == repr(case.test.get_params())
    assert not [k for k in vars(fresh) if k.endswith("_")]
    assert isinstance(used.trains, bool)


@EACH
def test_unknown_options_are_refused(case):
    with pytest.raises(TypeError):
        type(case.test)(nonsense=1)
    with pytest.raises(ValueError):
        clone(case.test).set_params(nonsense=1)
    with pytest.raises(TypeError):
        case.run(X, Y, n_permutations=19)
    with pytest.raises((TypeError, ValueError), match="n_resamples"):
        case.run(X, Y, n_resamples=0)
    with pytest.raises(TypeError, match="rng"):
        case.run(X, Y, rng="x")
    with pytest.raises(ValueError, match="workers"):
        case.run(X, Y, workers=0)
    with pytest.raises(TypeError, match="progress"):
        case.run(X, Y, progress="bar")


LISTED = {
    name: case
    for name, case in CASES.items()
    if case.listed and getattr(case.test, "valid", True)
}


def held_out_rows(case, X, Y):
    "Which rows of X and of Y a test that cuts its samples keeps for testing"
    cut, kept = twosample.split_samples, []

    def spy(*args, **options):
        parts = cut(*args, **options)
        kept.append([sample.rows for sample in parts[1]])
        return parts

    with patch.object(twosample, "split_samples", spy):
        case.run(X, Y)
    return kept[0]


def relabelled(case, n, m):
    "(design, the pairs to test): all relabellings of the rows that are tested"
    Z = np.vstack([X, Y])[: n + m]
    if not case.cuts:
        place = np.arange(n + m)
        design = Free(n, m)
    else:  # the rows that train stay as they are
        tested = held_out_rows(case, Z[:n], Z[n:])
        place = np.r_[tested[0], n + tested[1]]
        design = Free(len(tested[0]), len(tested[1]))
    pairs = []
    for rank in range(design.count):
        A = Z.copy()
        A[place] = Z[place[np.argsort(~design.draw(rank), kind="stable")]]
        pairs.append((A[:n], A[n:]))
    return design, pairs


@pytest.mark.filterwarnings("ignore:eta=")
@pytest.mark.parametrize("case", LISTED.values(), ids=LISTED)
def test_exact_level_over_all_relabellings(case):
    "Each relabelling of a tiny sample, tested against all others: P(p <= k/M) <= k/M"
    design, pairs = relabelled(case, *((6, 8) if case.cuts else (3, 4)))
    M = design.count
    assert M == 35
    p = np.array([case.run(*pair, n_resamples=200).pvalue for pair in pairs])
    for k in range(1, M + 1):
        assert (p <= k / M + 1e-9).sum() <= k
    # without ties they are 1/M, 2/M, ..., 1
    assert case.ties or np.allclose(np.sort(p), np.arange(1, M + 1) / M)


WHOLE = {name: case for name, case in CASES.items() if not case.cuts}


@pytest.mark.parametrize("case", WHOLE.values(), ids=WHOLE)
def test_order_within_a_sample_does_not_matter(case):
    g = np.random.default_rng(0)
    A, B = X[:4], Y[:4]
    r = case.run(A, B, n_resamples=200)  # all 70, so the p-value has no luck in it
    other = case.run(g.permutation(A), g.permutation(B), n_resamples=200)
    assert other.pvalue == r.pvalue
    assert other.statistic == pytest.approx(r.statistic, rel=1e-6, abs=1e-9)


# -- what KPWTest's method means
def test_method_is_honoured():
    assert KPWTest("split").test(X, Y, rng=0, n_resamples=19).method == "split"
    assert KPWTest("refit").test(X, Y, rng=0, n_resamples=19).method == "refit"
    refit = KPWTest("refit").fit(*TRAIN).test(X, Y, rng=0, n_resamples=19)
    assert refit.method == "refit"
    assert same(refit, KPWTest("refit").test(X, Y, rng=0, n_resamples=19))
    for call in ("fit", "test"):
        with pytest.raises(ValueError, match="method must be one of"):
            getattr(KPWTest("nonsense"), call)(X, Y)


TRAINED = {name: case for name, case in CASES.items() if case.trained}


@pytest.mark.parametrize("case", TRAINED.values(), ids=TRAINED)
def test_what_was_trained_is_not_tested(case):
    with pytest.raises(ValueError, match="X holds rows .* trained on"):
        case.run(*TRAIN)
    with pytest.raises(ValueError, match="Y holds rows .* trained on"):
        case.run(X, TRAIN[1])
    half = np.vstack([X[:6], TRAIN[0][:6]])
    with pytest.raises(ValueError, match=r"X holds rows .* \(50%"):
        case.run(half, Y)
    with pytest.raises(ValueError, match="trained on 3"):
        case.run(X[:, :2], Y[:, :2])


@pytest.mark.parametrize("case", TRAINED.values(), ids=TRAINED)
def test_columns_of_the_training(case):
    def frames(pair, names):
        return [pd.DataFrame(P, columns=names) for P in pair]

    case = in_raw_units(case)
    t = clone(case.test).fit(*frames(TRAIN, NAMES), rng=1)
    plain = case.run(X, Y)
    A, B = frames((X, Y), NAMES)
    turned = ["c", "a", "b"]
    assert same(t.test(A[turned], B[turned], n_resamples=19, rng=2), plain)
    with pytest.raises(ValueError, match="trained on a, b, c"):
        t.test(*frames((X, Y), ["a", "b", "z"]), n_resamples=19)


# -- projectors
PROJECTORS = {
    "KPW": KPWProjector(max_iter=20),
    "KPW, low rank": KPWProjector(d=1, rank=5, ridge=0.1, max_iter=20),
    "witness": WitnessProjector(),
    "mean": MeanProjector(),
}
Z, LABELS = np.vstack([X, Y]), np.repeat(["x", "y"], [len(X), len(Y)])


OTHERS = [p for p in PROJECTORS.values() if not isinstance(p, KPWProjector)]


@parametrize_with_checks(OTHERS)  # KPW: test_distance
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("projector", PROJECTORS.values(), ids=PROJECTORS)
def test_projector(projector):
    p = clone(projector)
    A = Z.copy()
    A.flags.writeable = False
    assert p.fit(A, LABELS) is p
    F = p.transform(A)
    assert F.ndim == 2 and len(F) == len(Z) and np.isfinite(F).all()
    assert p.n_features_in_ == 3
    assert np.array_equal(A, Z)
    assert np.array_equal(pickle.loads(pickle.dumps(p)).transform(A), F)
    assert np.array_equal(clone(projector).fit(Z, LABELS).transform(Z), F)
    with pytest.raises(ValueError):
        p.transform(Z[:, :2])


class BetweenMedians(TransformerMixin, BaseEstimator):
    "A projector that knows nothing of this package: scikit-learn's rules only"

    def fit(self, Z, y):
        centres = [np.median(Z[y == label], axis=0) for label in np.unique(y)]
        self.direction_ = centres[0] - centres[1]
        return self

    def transform(self, Z):
        return (Z @ self.direction_)[:, None]


@pytest.mark.parametrize(
    "projector",
    [*PROJECTORS.values(), BetweenMedians()],
    ids=[*PROJECTORS, "of a stranger"],
)
def test_answer_of_a_projector(projector):
    "Broken by: an explanation that needs a kernel"
    test = KPWTest("split", candidates=projector)
    result = test.test(Z, Z + 1, n_resamples=19, rng=0)
    assert len(result.facts()["where"]["columns"]) and "differ" in result._repr_html_()


@pytest.mark.parametrize("projector", PROJECTORS.values(), ids=PROJECTORS)
@pytest.mark.parametrize("labels", [[0, 1, 2], [0, 0, 0]], ids=["three", "one"])
def test_projector_wants_two_labels(projector, labels):
    labels = np.resize(labels, len(Z))
    with pytest.raises(ValueError, match="label|class"):
        clone(projector).fit(Z, labels)


# -- statistics
n, N = 8, 19
PHI, PSI = rng.normal(size=(2, N))
GRAM = np.exp(-((Z[:, None] - Z) ** 2).sum(2) / 4)
COSTS = ((Z[:, None] - Z) ** 2).sum(2)
MARKS = np.array(
    [Free(n, N - n).observed]
    + [Free(n, N - n).draw(s) for s in np.random.SeedSequence(5).spawn(6)]
)


DESIGN = Parts((Free(3, 2), Free(n - 3, N - n - 2)))
STRATA = np.array([DESIGN.draw(key) for key in np.random.SeedSequence(6).spawn(7)])


def grouped():
    "A contrast over five kept rows and groups of one row"
    return stream.GroupedContrast(Member(), GRAM[:5, :4], GRAM[5:, :4], 1)


CLUSTERS = Design(Free(3, 4), np.sort(np.arange(N) % 7), weigh="rows")
POINTS = np.array([Free(3, 4).draw(k) for k in range(0, 35, 5)])


STATISTICS = {
    "OnRows": lambda: (
        statistics.OnRows(statistics.LineW(PHI), CLUSTERS),
        POINTS,
    ),
    "RowEdges": lambda: (
        statistics.RowEdges(statistics.Edges(find_neighbours(Z, 4)), CLUSTERS),
        POINTS,
    ),
    "LineW": lambda: (statistics.LineW(PHI), MARKS),
    "CostW": lambda: (statistics.CostW(COSTS), MARKS),
    "MMD": lambda: (statistics.MMD(GRAM), MARKS),
    "Contrast": lambda: (statistics.Contrast(GRAM[:, :4]), MARKS),
    "Edges": lambda: (statistics.Edges(find_neighbours(Z, 4)), MARKS),
    "SortedKPW": lambda: (statistics.SortedKPW(GRAM[:, :5]), MARKS),
    "RefitKPW": lambda: (statistics.RefitKPW(SMALL, Z, 10), MARKS),
    "Dual": lambda: (statistics.Dual(PHI, PSI), MARKS),
    "Together": lambda: (
        statistics.Together([statistics.MMD(GRAM), statistics.LineW(PHI)]),
        MARKS,
    ),
    "MEStatistic": lambda: (baselines.MEStatistic(GRAM[:, :3], 1e-3), MARKS),
    "SinkhornStatistic": lambda: (
        baselines.SinkhornStatistic(COSTS, 1.0, 200, 1e-6),
        MARKS,
    ),
    "FuseStatistic": lambda: (
        baselines.FuseStatistic(
            Z,
            dict(gaussian=[1.0, 2.0], laplace=[3.0]),
            partial(baselines.fuse_sharpness, how="paper"),
        ),
        MARKS,
    ),
    "LargestKS": lambda: (baselines.LargestKS(Z), MARKS),
    "KLRStatistic": lambda: (
        baselines.KLRStatistic([GRAM[:, :3], GRAM], (1.0, 1e-2)),
        MARKS,
    ),
    "RankStatistic": lambda: (baselines.RankStatistic(PHI), MARKS),
    "Afterwards": lambda: (
        baselines.Afterwards([statistics.MMD(GRAM), statistics.LineW(PHI)]),
        MARKS,
    ),
    "GroupedContrast": lambda: (grouped(), STRATA),
    "OfKept": lambda: (stream.OfKept(statistics.LineW(PHI[:5]), 5), STRATA),
}
EACH_STATISTIC = pytest.mark.parametrize("name", STATISTICS)


def subclasses(cls):
    return {c for k in cls.__subclasses__() for c in {k} | subclasses(k)}


def test_every_statistic_has_an_entry():
    homes = {
        "kpw_nb.compare.statistics",
        "kpw_nb.compare.stream",
        "kpw_nb.study.rivals",
    }
    known = subclasses(statistics.Statistic)
    # evidence has a value for each column, and checks of its own where it is made
    known -= subclasses(ColumnEvidence)
    found = {c.__name__ for c in known if c.__module__ in homes}
    assert found == set(STATISTICS)


@EACH_STATISTIC
def test_values_of_a_batch_are_those_one_by_one(name):
    statistic, labellings = STATISTICS[name]()
    values = statistic(labellings)
    assert values.dtype == np.float64 and np.isfinite(values).all()
    assert values.ndim in (1, 2) and len(values) == len(labellings)
    alone = np.concatenate([statistic.values(row[None]) for row in labellings])
    assert np.array_equal(alone, values)
    assert np.array_equal(statistic(labellings[::-1].copy())[::-1], values)
    assert len(np.unique(values)) > 1


@EACH_STATISTIC
def test_sizes_may_differ_between_the_labellings_of_a_batch(name):
    "A cut of a series is a labelling: a batch of cuts is its cuts one by one"
    statistic, labellings = STATISTICS[name]()
    if labellings is not MARKS:
        return  # their designs fix the sizes
    cuts = np.arange(N) < np.arange(2, N - 1)[:, None]
    alone = np.concatenate([statistic(row[None]) for row in cuts])
    assert np.array_equal(statistic(cuts), alone)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("masses", [None, np.arange(1.0, N + 1)])
def test_all_cuts_at_once_are_the_cuts_one_by_one(apart, masses):
    contrast = statistics.Contrast(GRAM[:, :4], apart, masses=masses)
    order = np.random.default_rng(2).permutation(N)
    marks = np.array([np.isin(np.arange(N), order[:t]) for t in range(1, N)])
    np.testing.assert_allclose(contrast.cuts(order), contrast(marks), rtol=1e-9)


@EACH_STATISTIC
def test_statistic_pickles_and_keeps_its_argument(name):
    statistic, labellings = STATISTICS[name]()
    before = labellings.copy()
    values = statistic(labellings)
    assert np.array_equal(labellings, before)
    copy = pickle.loads(pickle.dumps(statistic))
    assert np.array_equal(copy(labellings), values)


@EACH_STATISTIC
def test_bad_labellings_are_refused(name):
    statistic, labellings = STATISTICS[name]()
    if labellings is not MARKS:
        return  # labellings are drawn by their own design only
    for bad in (MARKS[:, :-1], MARKS + 1, MARKS[0], MARKS & False, MARKS | True):
        with pytest.raises(ValueError, match="marks must"):
            statistic(bad)
