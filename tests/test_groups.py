"Many groups: reading, twins, shared keys, error rates, clusters, answers, bad input"

import pickle
import warnings
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse, stats

from kpw_nb import kpw_test
from kpw_nb.compare import groups
from kpw_nb.compare.evidence import ColumnEvidence
from kpw_nb.compare.groups import (
    AllContrast,
    AnyOrder,
    Given,
    GroupsResult,
    Ready,
    Roles,
    Roll,
    kpw_groups,
    make_cells,
    make_exchange,
    make_points,
    make_screen,
    pair_labellings,
    pairs_of,
    read_any,
    step_together,
)
from kpw_nb.compare.relabel import zscores
from kpw_nb.ground.table import read_columns

QUICK = dict(n_resamples=99, rng=0)
SIZES = dict(none=30, A=20, B=14, C=20)


def screen(seed=0, sizes=None, shift=0.0):
    "A control and treatments; B is shifted in one column and has a category of its own"
    sizes = SIZES if sizes is None else sizes
    g = np.random.default_rng(seed)
    drug = np.repeat(list(sizes), list(sizes.values()))
    frame = pd.DataFrame(g.normal(size=(len(drug), 4)), columns=[*"wxyz"])
    frame["w"] = 1000 * frame["w"] + 5000
    frame["kind"] = g.choice(["red", "green"], len(drug))
    frame.loc[drug == "B", "x"] += shift
    return frame.assign(drug=drug)


FRAME = screen(shift=4.0)
RESULT = kpw_groups(FRAME, "drug", control="none", **QUICK)


def same(a, b):
    return a.table.equals(b.table) and a.distances.equals(b.distances)


def make(sizes, seed=0, D=4):
    "The points of normal groups"
    g = np.random.default_rng(seed)
    roll = Roll(tuple(range(len(sizes))), np.repeat(np.arange(len(sizes)), sizes))
    Z = g.normal(size=(sum(sizes), D))
    screen = make_screen(Ready(read_columns(Z), roll), "auto", "error")
    return make_points(screen.ready.columns.numbers, screen)


def labellings(sizes, pair, B, seed=0, **codes):
    "Of two of some groups; which cells of both may move"
    groups_ = np.repeat(np.arange(len(sizes)), sizes)
    exchange = make_exchange(make_cells(groups_, **codes), range(len(sizes)), pair)
    return np.vstack(list(pair_labellings(exchange, B, seed))), exchange


# -- a comparison is the two-sample test
def plants():
    "PlantGrowth: dried plants of a control and two treatments (Dobson 1983)"
    weights = dict(
        ctrl=[4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14],
        trt1=[4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69],
        trt2=[6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26],
    )
    return pd.DataFrame(weights).melt(var_name="group", value_name="weight")


def test_third_groups_do_not_enter():
    "Bit by bit. Broken by: units or kernels of all rows, keys by a group's number"
    frame, run = plants(), dict(by="group", n_resamples=499, rng=0)
    all_three = kpw_groups(frame, **run).table.set_index(["group", "against"])
    for left_out in ("ctrl", "trt1", "trt2"):
        two = frame[frame["group"] != left_out]
        line = kpw_groups(two, **run).table.iloc[0]
        of_three = all_three.loc[(line["group"], line["against"])]
        assert (line["alone"], line["zscore"]) == (
            of_three["alone"],
            of_three["zscore"],
        )


@pytest.mark.parametrize("treatment", ["trt1", "trt2"])
def test_alone_is_the_p_value_of_the_two_sample_test(treatment):
    "Up to the choice of relabellings. Broken by: another family, features of all rows"
    frame, N = plants(), 1999
    run = dict(control="ctrl", n_resamples=N, rng=0)
    alone = kpw_groups(frame, "group", **run).table.set_index("group")["alone"]
    halves = [frame[frame["group"] == name][["weight"]] for name in (treatment, "ctrl")]
    p = kpw_test(*halves, n_resamples=N, rng=1).pvalue
    assert abs(alone[treatment] - p) < 4 * np.sqrt(2 * p * (1 - p) / N)


@pytest.mark.parametrize("design", ["none", "strata", "clusters", "paired"])
def test_every_member_has_the_value_of_the_two_sample_test(design):
    "Under every design, with a third group there. Broken by: features not centred"
    g = np.random.default_rng(1)
    frame = pd.DataFrame(g.normal(size=(72, 3)), columns=[*"xyz"])
    frame = frame.assign(kind=g.choice([*"uv"], 72), who=np.repeat([*"abc"], 24))
    labels = dict(
        none=None, strata=np.arange(72) % 3, clusters=np.arange(72) // 3, paired=None
    )[design]
    if design == "paired":
        labels = np.arange(72) % 24 // 3
    what = "strata" if design == "strata" else "clusters"
    roles = {} if labels is None else {what: "unit"}
    frame = frame if labels is None else frame.assign(unit=labels)
    ready = groups.make_ready(read_any(frame, Roles("who", **roles)), "who", "error")
    screen = make_screen(ready, "auto", "error")
    exchange = make_exchange(screen.cells, ready.roll.names, (2, 0))
    two = groups.take_two(screen, exchange)
    family, statistic = groups.family_of(two)
    row = statistic.combined(statistic(two.design.relabelling.observed[None]))[0]
    halves = [frame[frame["who"] == name].drop(columns="who") for name in "ca"]
    test = kpw_test(*halves, **roles, paired=design == "paired", n_resamples=9, rng=0)
    assert [c.name for c in test.candidates] == [member.name for member in family]
    seen = [k for k, member in enumerate(family) if member.name != "table"]
    want = [test.candidates[k].value for k in seen]
    np.testing.assert_allclose(row[seen], want, rtol=1e-6)
    both = two.design.relabelling, test.design.relabelling
    assert both[0].count == both[1].count


def test_the_call_is_made_of_its_parts():
    "What the table says is `compare` for each pair, in one family"
    table = RESULT.table.set_index("group")
    columns = FRAME.drop(columns="drug")
    again = kpw_groups(columns, FRAME["drug"].tolist(), control="none", **QUICK)
    assert same(again, RESULT)
    assert (table["pvalue"] >= table["alone"]).all()
    assert not (table["column_pvalue"] < table["pvalue"]).any()
    assert (
        table["zscore"].is_monotonic_decreasing
        and table["pvalue"].is_monotonic_increasing
    )
    assert dict(table["rows"]) == {k: v for k, v in SIZES.items() if k != "none"}


# -- shared keys
def leaving(sizes, pair, B=4000):
    "(B, rows of group 0): are they called by the other name?"
    return labellings(sizes, pair, B, 7)[0][:, -sizes[0] :]


def test_rows_leave_together_as_often_as_they_should():
    "2 p q of the rows; keys of their own would give p q, one key for all min(p, q)"
    sizes = [60, 20, 40]
    one, two = leaving(sizes, (1, 0)), leaving(sizes, (2, 0))
    p, q = 20 / 80, 40 / 100
    assert abs(one.mean() - p) < 0.01 and abs(two.mean() - q) < 0.01
    assert abs((one & two).mean() - 2 * p * q) < 0.02
    assert min(abs(2 * p * q - p * q), abs(2 * p * q - min(p, q))) > 0.04


def test_pairs_that_share_a_group_lean_the_right_way():
    "Differences 0 - 1 and 1 - 2 are negatively correlated, 0 - 1 and 0 - 2 positively"
    g = np.random.default_rng(0)
    values = [stats.zscore(g.normal(size=40)) for _ in range(4)]

    def gaps(pair):
        marks = labellings([40] * 4, pair, 4000, 1)[0]
        z = np.concatenate([values[k] for k in pair])
        return np.where(marks, 1 / 40, -1 / 40) @ z

    r = np.corrcoef([gaps(pair) for pair in [(0, 1), (1, 2), (0, 2), (2, 3)]])
    assert -0.55 < r[0, 1] < -0.35 and 0.35 < r[0, 2] < 0.55 and abs(r[0, 3]) < 0.06


def test_other_groups_do_not_enter_a_labelling():
    few, many = (labellings([9, 5, k], (1, 0), 50, 2)[0] for k in (3, 300))
    assert np.array_equal(few, many)


DESIGNS = {  # groups of 4 and 2 cells, what is allowed, and what can move
    "free": ({}, 15, 6),
    "strata": (dict(strata=np.array([0, 0, 0, 1, 0, 1])), 4 * 2, 6),
    "a stratum of one side": (dict(strata=np.array([0, 0, 0, 1, 0, 0])), 10, 5),
    "two donors in both": (dict(clusters=np.array([0, 1, 2, 3, 1, 2])), 4, 4),
    "some donors in both": (dict(clusters=np.array([0, 1, 2, 3, 1, 7])), 2 * 4, 6),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_labellings_are_uniform(name):
    "Broken by: a block that takes what another should, cells out of their blocks"
    codes, count, moving = DESIGNS[name]
    marks, exchange = labellings([4, 2], (0, 1), 6000, 3, **codes)
    kinds, counts = np.unique(marks, axis=0, return_counts=True)
    assert (len(kinds), marks.shape[1]) == (count, moving)
    assert stats.chisquare(counts).pvalue > 1e-3
    observed = np.arange(moving) < exchange.n
    assert (kinds == observed).all(1).any()


# -- error rates
def null_groups(seed):
    "A control and two groups like it; two that are larger, elsewhere, and narrow"
    g = np.random.default_rng(seed)
    sizes, spread, shift = [14, 6, 9, 20, 20], [1, 1, 1, 0.2, 0.2], [0, 0, 0, 0.5, 0.5]
    codes = np.repeat(np.arange(5), sizes)
    Z = g.normal(size=(len(codes), 3)) * np.array(spread)[codes, None]
    return Z + np.array(shift)[codes, None], codes


def test_family_wise_error():
    "To permute the rows of all groups at once has an error of about 0.2 here"
    runs, any_false = 150, 0
    named = first = 0
    for seed in range(runs):
        Z, codes = null_groups(seed)
        found = kpw_groups(Z, codes, control=0, n_resamples=19, rng=seed, scale=None)
        table = found.table.set_index("group").loc[[1, 2]]
        any_false += bool((table["pvalue"] <= 0.05).any())
        columns = found.columns
        named += bool(columns["group"].isin([1, 2]).any())
        first += bool(table["alone"][1] <= 0.05)
    assert stats.binom.sf(any_false - 1, runs, 0.05) > 1e-3
    assert stats.binom.sf(named - 1, runs, 0.05) > 1e-3  # a column of theirs
    # alone it is exact, so it must not be too small either
    assert 1e-3 < stats.binom.cdf(first, runs, 0.05) and first <= stats.binom.ppf(
        0.999, runs, 0.05
    )


def test_error_with_a_large_control():
    "Twelve groups of 5, a control of 60: with one key for each row it is about 0.13"
    runs, bad, g = 400, 0, np.random.default_rng(1)
    sizes = [60] + [5] * 12
    starts = np.cumsum([0, *sizes])
    for seed in range(runs):
        z, values = g.normal(size=sum(sizes)), []
        for k in range(1, 13):
            own = np.append(z[starts[k] : starts[k + 1]], z[:60])
            marks = np.vstack(
                [np.arange(65) < 5, labellings(sizes, (k, 0), 19, seed)[0]]
            )
            values.append((np.where(marks, 1 / 5, -1 / 60) @ own) ** 2)
        bad += step_together(np.stack(values, axis=1)).pvalues.min() <= 0.05
    low, high = stats.binom.ppf([1e-3, 0.999], runs, 0.05)
    assert low <= bad <= high


def test_all_at_once_keeps_its_level():
    runs, bad, g = 300, 0, np.random.default_rng(2)
    for seed in range(runs):
        run = dict(how="all", n_resamples=19, rng=seed)
        found = kpw_groups(g.normal(size=(24, 2)), np.arange(24) % 4, **run)
        bad += found.table["pvalue"][0] <= 0.05
    assert (
        stats.binom.ppf(1e-3, runs, 0.05) <= bad <= stats.binom.ppf(0.999, runs, 0.05)
    )


def test_resolution():
    "Forty groups and 199 relabellings: Bonferroni could not reject"
    g = np.random.default_rng(3)
    Z, codes = g.normal(size=(400, 3)), np.repeat(np.arange(40), 10)
    Z[codes == 7] += 4
    found = kpw_groups(Z, codes, control=0, n_resamples=199, rng=0)
    assert found.differing()["group"].tolist() == [7]
    assert 39 * found.table["alone"].min() > 0.05


def test_step_down_is_stepwise():
    "The second is not compared with the relabelled values of the first"
    g = np.random.default_rng(0)
    values = g.exponential(size=(200, 2))
    values[0] = 8, 3.2
    found = step_together(values)
    z = zscores(values, normal=True)
    in_one_step = (1 + (z[1:].max(1) >= z[0, 1]).sum()) / 200
    assert found.pvalues[0] == 0.005
    assert found.pvalues[1] == found.alone[1] < in_one_step


# -- what is found
def test_a_shifted_group_is_found_and_named():
    line = RESULT.differing().iloc[0]
    assert (line["group"], line["against"], line["column"]) == ("B", "none", "x")
    assert line["effect"].startswith("mean ") and line["effect"].endswith(" in none")
    assert len(RESULT.differing()) == 1
    assert RESULT.distances.loc["B", "none"] == line["distance"] > 0.2
    assert RESULT.answer() == "1 of 3 groups differs from none (family-wise 5 %)"


def test_a_category_a_spread_and_a_gap_are_named():
    frame = screen(sizes=dict(none=40, A=40, B=40, C=40))
    frame.loc[frame["drug"] == "A", "kind"] = "blue"
    frame.loc[frame["drug"] == "B", "y"] *= 6
    frame.loc[frame.index[frame["drug"] == "C"][:30], "z"] = np.nan
    found = kpw_groups(frame, "drug", control="none", missing="indicator", **QUICK)
    effect = found.table.set_index("group")
    assert effect["column"].to_dict() == dict(A="kind", B="y", C="z")
    assert effect["effect"]["A"] == "share of 'blue' 100 % in A, 0 % in none"
    assert effect["effect"]["B"].startswith("spread")
    assert effect["effect"]["C"] == "missing 75 % in C, 0 % in none"


def test_order_of_rows_and_columns_does_not_matter():
    other = FRAME.sample(frac=1, random_state=3)[["kind", "z", "drug", "x", "w", "y"]]
    assert same(kpw_groups(other, "drug", control="none", **QUICK), RESULT)


def test_units_do_not_matter():
    other = FRAME.assign(w=FRAME["w"] / 1000)
    found = kpw_groups(other, "drug", control="none", **QUICK)
    pd.testing.assert_frame_equal(found.distances, RESULT.distances, atol=1e-6)
    assert found.table["pvalue"].tolist() == RESULT.table["pvalue"].tolist()


def test_all_pairs():
    found = kpw_groups(FRAME, "drug", **QUICK)
    assert found.how == "pairs" and len(found.table) == 6
    pairs = found.differing()[["group", "against"]].values
    assert len(pairs) == 3 and all("B" in pair for pair in pairs)
    assert found.answer() == "3 of 6 pairs of 4 groups differ (family-wise 5 %)"
    assert pairs_of("pairs", None, ("a", "b", "c")) == [(0, 1), (0, 2), (1, 2)]


def test_twenty_groups_in_pairs():
    g = np.random.default_rng(0)
    Z, codes = g.normal(size=(160, 2)), np.arange(160) % 20
    found = kpw_groups(Z, codes, n_resamples=39, rng=0)
    assert len(found.table) == 190 and found.distances.shape == (20, 20)


def test_all_at_once():
    found = kpw_groups(FRAME, "drug", how="all", **QUICK)
    assert found.answer() == "the 4 groups differ (p = 0.01)"
    quiet = kpw_groups(screen(1), "drug", how="all", **QUICK)
    assert quiet.answer().startswith("the 4 groups are not found to differ")
    assert len(found.table) == 1 and found.table["rows"][0] == len(FRAME)


def test_distances():
    D = RESULT.distances.to_numpy()
    assert np.array_equal(D, D.T) and (np.diag(D) == 0).all() and (D < 1.4143).all()
    assert list(RESULT.distances) == ["A", "B", "C", "none"]


# -- reading
ARRAY = FRAME[[*"wxyz"]].to_numpy()


def annotated(X):
    obs = FRAME[["drug"]].assign(donor=np.arange(len(FRAME)) // 2)
    return SimpleNamespace(
        X=X,
        obs=obs,
        obsm={"X_pca": ARRAY[:, 1:3], "frame": FRAME[["x", "y"]]},
        layers={"raw": sparse.csr_matrix(2 * ARRAY)},
        var_names=pd.Index([*"wxyz"]),
    )


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas])
def test_frames_of_other_libraries(convert):
    assert same(kpw_groups(convert(FRAME), "drug", control="none", **QUICK), RESULT)


def test_categorical_labels():
    other = FRAME.assign(drug=FRAME["drug"].astype("category"))
    assert same(kpw_groups(other, "drug", control="none", **QUICK), RESULT)


@pytest.mark.parametrize(
    "X", [ARRAY, sparse.csr_matrix(ARRAY), sparse.csc_array(ARRAY)]
)
def test_annotated_data(X):
    want = kpw_groups(FRAME.drop(columns="kind"), "drug", control="none", **QUICK)
    assert same(kpw_groups(annotated(X), "drug", control="none", **QUICK), want)


def test_annotated_embedding_and_layer():
    data = annotated(ARRAY)
    found = kpw_groups(data, "drug", control="none", use="X_pca", **QUICK)
    assert found.encoding.scale is None  # its coordinates share a unit
    assert found.table["column"][0] == "X_pca 1"
    found = kpw_groups(data, "drug", control="none", use="frame", **QUICK)
    assert found.table["column"][0] == "x"
    layer = read_any(data, Roles("drug"), use="raw")
    assert np.array_equal(layer.columns.numbers, 2 * ARRAY)
    found = kpw_groups(data, "drug", clusters="donor", control="none", **QUICK)
    assert found.table.set_index("group")["clusters"].to_dict() == dict(A=10, B=7, C=10)
    with pytest.raises(ValueError, match="there are: 'raw', 'X_pca', 'frame'"):
        kpw_groups(data, "drug", use="X_umap")


def test_real_anndata():
    anndata = pytest.importorskip("anndata")
    data = annotated(ARRAY)
    real = anndata.AnnData(ARRAY, obs=data.obs.set_index(data.obs.index.astype(str)))
    real.var_names = data.var_names
    want = kpw_groups(FRAME.drop(columns="kind"), "drug", control="none", **QUICK)
    assert same(kpw_groups(real, "drug", control="none", **QUICK), want)


def test_a_matrix_that_is_too_large_is_not_filled_in(monkeypatch):
    monkeypatch.setattr(groups, "_MOST_DENSE", 10)
    with pytest.raises(ValueError, match="an embedding by use="):
        kpw_groups(annotated(sparse.csr_matrix(ARRAY)), "drug")


def test_features_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr(groups, "_MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="choose columns"):
        kpw_groups(FRAME, "drug")


def test_a_lazy_frame_is_refused():
    dask = pytest.importorskip("dask.dataframe")
    with pytest.raises(TypeError, match="frame.compute"):
        kpw_groups(dask.from_pandas(FRAME, npartitions=2), "drug")


def test_a_shift_is_called_a_shift():
    "Among many groups the squares of scores move as well, and more"
    g = np.random.default_rng(2)
    Z, by = g.normal(size=(300, 3)), np.arange(300) % 20
    Z[by == 3, 1] += 4
    line = kpw_groups(Z, by, control=0, **QUICK).table.iloc[0]
    assert (line["group"], line["column"]) == (3, 1) and line["effect"].startswith(
        "mean"
    )


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1, 2],
        [True, False, True],
        ["a", 1, 2.5],
        [pd.Timestamp(2020, 1, k) for k in (1, 2, 3)],
    ],
)
def test_labels_of_any_kind(labels):
    by = [labels[k % 3] for k in range(30)]
    found = kpw_groups(ARRAY[:30], by, n_resamples=19, rng=0)
    assert set(found.distances.index) == set(labels)


# -- clusters
def donors(seed=0, effect=0.0):
    g = np.random.default_rng(seed)
    donor = np.repeat(np.arange(24), g.integers(3, 9, 24))
    Z = g.normal(size=(len(donor), 3)) + g.normal(size=(24, 3))[donor]
    Z[donor >= 16, 1] += effect
    frame = pd.DataFrame(Z, columns=[*"xyz"])
    return frame.assign(donor=[f"d{d:02d}" for d in donor], group=donor // 8)


def test_clusters_are_the_points():
    found = kpw_groups(donors(), "group", control=0, clusters="donor", **QUICK)
    assert found.table["clusters"].tolist() == [8, 8]
    assert "donor" not in found.encoding.names
    assert "that clusters are independent" in str(found)
    run = dict(control=0, clusters="donor", n_resamples=499, rng=0)
    shifted = kpw_groups(donors(effect=5), "group", **run)
    assert shifted.differing()["group"].tolist() == [2]
    assert shifted.differing()["column"].tolist() == ["y"]


def test_clusters_keep_the_level():
    "By rows, eight of ten such studies are false alarms"
    run = dict(control=0, n_resamples=19)
    by_rows = [
        kpw_groups(donors(s).drop(columns="donor"), "group", **run, rng=s)
        for s in range(10)
    ]
    assert sum(len(r.differing()) > 0 for r in by_rows) >= 5
    runs = 80
    found = [
        kpw_groups(donors(s), "group", clusters="donor", **run, rng=s)
        for s in range(runs)
    ]
    bad = sum(len(r.differing()) > 0 for r in found)
    assert stats.binom.sf(bad - 1, runs, 0.05) > 1e-3


def test_clusters_of_one_row_are_rows():
    frame = FRAME.assign(row=np.arange(len(FRAME)).astype(str))
    found = kpw_groups(frame, "drug", control="none", clusters="row", **QUICK)
    pd.testing.assert_frame_equal(found.distances, RESULT.distances, atol=1e-9)
    assert found.differing()["group"].tolist() == ["B"]


# -- strata, and donors in several groups
def crossed(seed, shift=0.0):
    "Cells of twelve donors that are in all groups; the last group is shifted"
    g = np.random.default_rng(seed)
    donor, group = np.repeat(np.arange(12), 12), np.tile(np.repeat([0, 1, 2], 4), 12)
    Z = g.normal(size=(144, 2)) + 4 * g.normal(size=(12, 2))[donor]
    Z[group == 2, 0] += shift
    frame = pd.DataFrame(Z, columns=[*"xy"])
    return frame.assign(donor=donor, group=group)


@pytest.mark.parametrize("role", ["strata", "clusters"])
def test_what_differs_between_donors_does_not_hide_a_shift(role):
    "Broken by: labels that move freely. Without the design it is lost in the donors"
    run = dict(by="group", control=0, n_resamples=199, rng=0)
    found = kpw_groups(crossed(0, 2.0), **{role: "donor"}, **run)
    assert found.differing()["group"].tolist() == [2]
    assert found.columns["column"].tolist()[0] == "x"
    words = dict(
        strata="labels move within 12 strata", clusters="swapped within 12 clusters"
    )
    assert words[role] in str(found) and "donor" not in found.encoding.names
    ignored = crossed(0, 2.0).drop(columns="donor")
    assert len(kpw_groups(ignored, **run).differing()) == 0
    run = dict(how="all", n_resamples=99, rng=0)
    within = kpw_groups(crossed(0, 2.0), "group", **{role: "donor"}, **run)
    freely = kpw_groups(ignored, "group", **run)
    assert within.table["pvalue"][0] <= 0.05 < freely.table["pvalue"][0]


@pytest.mark.parametrize("role", ["strata", "clusters"])
def test_crossed_donors_keep_the_level(role):
    "Both ends: swaps are not too many. Broken by: free labels of cells that are alike"
    runs, alone = 120, 0
    for seed in range(runs):
        frame = crossed(seed)[lambda f: f["group"] < 2]
        found = kpw_groups(frame, "group", n_resamples=19, rng=seed, **{role: "donor"})
        alone += found.table["alone"][0] <= 0.05
    assert (
        stats.binom.ppf(1e-3, runs, 0.05) <= alone <= stats.binom.ppf(0.999, runs, 0.05)
    )


def test_rows_without_a_partner_are_set_aside_and_that_is_said():
    frame = FRAME.assign(batch=["one", "two"] * 42)
    frame.loc[frame.index[:5], "batch"] = "three"  # of the control only
    found = kpw_groups(frame, "drug", control="none", strata="batch", **QUICK)
    assert found.notes[0].startswith("A - none: 5 rows set aside")
    assert found.differing()["group"].tolist() == ["B"]
    remedy = kpw_groups(frame, "drug", control="none", **QUICK)  # strata= left out
    assert "note" not in str(remedy).split("relabellings")[0].replace("none", "")


def test_a_column_that_cannot_be_used_in_a_pair_is_left_out_of_it():
    "Ten rows with ten towns say nothing; in the whole table towns are a category"
    g = np.random.default_rng(0)
    towns = [f"town {k}" for k in range(10)]
    frame = pd.DataFrame(dict(x=g.normal(size=70), who=np.repeat([*"abc"], [5, 5, 60])))
    frame["town"] = towns + towns * 6
    found = kpw_groups(frame, "who", **QUICK)
    assert found.notes == (
        "a - b: without column 'town', which is different in nearly every row",
    )
    assert len(found.table) == 3


def test_groups_that_are_the_same_rows():
    "Nothing varies in a pair: p is 1, and the other pairs are compared"
    Z = np.vstack([np.ones((20, 2)), np.random.default_rng(0).normal(size=(20, 2))])
    table = kpw_groups(Z, np.repeat([*"abcd"], 10), **QUICK).table
    same_rows = table[(table["group"] == "a") & (table["against"] == "b")]
    assert same_rows["pvalue"].tolist() == same_rows["alone"].tolist() == [1.0]
    assert len(table) == 6 and table["pvalue"].min() <= 0.05


# -- columns
def test_columns_are_tested_over_all_groups():
    "No column of a group like the control. Broken by: a largest shift, untested"
    line = RESULT.table.set_index("group")
    assert line["column"].to_dict() == dict(A=None, B="x", C=None)
    assert (line["effect"][["A", "C"]] == "").all()
    assert set(RESULT.columns["group"]) == {"B"}
    assert (RESULT.columns["pvalue"] <= 0.05).all()
    assert "; x (p = 0.01): mean" in str(RESULT)
    assert "A             p = " in str(RESULT) and "; w" not in str(RESULT)


def test_a_column_is_never_surer_than_its_comparison():
    for seed in range(3):
        found = kpw_groups(screen(seed, shift=1.0), "drug", rng=seed, n_resamples=99)
        pairs = found.table.set_index(["group", "against"])["pvalue"]
        for line in found.columns.itertuples():
            assert line.pvalue >= pairs[(line.group, line.against)]


def test_a_difference_without_a_distance_has_a_bound():
    "Two columns that go together differently: densities are hardly apart"
    g = np.random.default_rng(3)
    Z, by = g.normal(size=(120, 6)), np.repeat([*"ab"], 60)
    Z[:60, 1] = 0.9 * Z[:60, 0] + 0.44 * Z[:60, 1]
    Z[60:, 1] = -0.9 * Z[60:, 0] + 0.44 * Z[60:, 1]
    found = kpw_groups(Z[:, [0, 1, 2, 3, 4, 5]], by, n_resamples=199, rng=0)
    line = found.table.iloc[0]
    assert line["pvalue"] == 0.005 and line["column"] == "0 × 1"
    assert line["distance"] > 0.005
    monkey = found.distances * 0  # as if densities were not apart at all
    text = groups._line_in_words(line, monkey)
    assert "distance below" in text and "distance 0.0;" not in text


def price_rise(days=4, raised=2):
    "Diamonds of 1,500 before and 500 a day; on the first days prices are 10 % higher"
    from plotnine.data import diamonds

    some = diamonds.sample(n=1500 + 500 * days, random_state=1)
    day = ["before"] * 1500 + [f"day {k // 500}" for k in range(500 * days)]
    some = some.assign(price=some["price"].astype(float), day=day)
    some.iloc[1500 : 1500 + 500 * raised, some.columns.get_loc("price")] *= 1.1
    return some


def test_a_rise_of_prices_is_called_by_its_name():
    "Given carats. Broken by: no `Given`; a largest shift is of another column"
    run = dict(control="before", n_resamples=199, rng=0)
    found = kpw_groups(price_rise(), "day", **run)
    line = found.differing().set_index("group")
    assert sorted(line.index) == ["day 0", "day 1"]
    assert all("price" in column for column in line["column"])
    assert (line["distance"] > 0.005).all() and "distance 0;" not in str(found)


# -- running
def test_workers_give_the_same_bits():
    for workers in (2, map):
        run = dict(control="none", workers=workers)
        assert same(kpw_groups(FRAME, "drug", **run, **QUICK), RESULT)
    at_once = [kpw_groups(FRAME, "drug", how="all", workers=w, **QUICK) for w in (1, 3)]
    assert same(*at_once)


def test_workers_that_lose_or_reorder_results():
    "Broken by: results that are taken in the order in which they come"

    def backwards(f, tasks):
        return [f(task) for task in list(tasks)[::-1]]

    found = kpw_groups(FRAME, "drug", control="none", workers=backwards, **QUICK)
    assert same(found, RESULT)
    with pytest.raises(ValueError, match="it lost 1 of 3 results"):
        kpw_groups(
            FRAME,
            "drug",
            control="none",
            workers=lambda f, tasks: map(f, list(tasks)[1:]),
            **QUICK,
        )


def test_the_seed_repeats_and_progress_is_told():
    seen = []
    run = dict(control="none", n_resamples=39)
    first = kpw_groups(FRAME, "drug", **run, progress=lambda *now: seen.append(now))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert same(kpw_groups(FRAME, "drug", **run, rng=first.seed), first)


@pytest.mark.parametrize("kind", ["given", "all"])
def test_contract_of_statistics(kind):
    "A batch is its rows one by one, the argument is kept, and it pickles"
    if kind == "given":
        X, Y = (
            read_columns(FRAME[[*"wx"]].assign(z=FRAME["w"])[a:b])
            for a, b in ((0, 30), (30, 84))
        )
        statistic = Given(ColumnEvidence(X, Y, range(3)))
        marks = labellings([30, 54], (0, 1), 40, 1)[0]
    else:
        statistic, design = AllContrast(make([9, 6, 8])), AnyOrder((9, 6, 8))
        keys = np.random.SeedSequence(0).spawn(7)
        marks = np.stack([design.draw(key) for key in keys])
    before, values = marks.copy(), statistic(marks)
    alone = np.vstack([statistic(row[None]) for row in marks])
    assert np.array_equal(alone, values) and np.array_equal(marks, before)
    copy = pickle.loads(pickle.dumps(statistic))
    assert np.array_equal(copy(marks[::-1].copy())[::-1], values)


def test_few_relabellings_are_the_first_of_many():
    few, many = (labellings([9, 6], (0, 1), B, 1)[0] for B in (33, 70))
    assert np.array_equal(few, many[:33])


def test_result_is_frozen_pickles_and_prints():
    again = pickle.loads(pickle.dumps(RESULT))
    assert isinstance(again, GroupsResult) and same(again, RESULT)
    with pytest.raises(AttributeError):
        RESULT.how = "pairs"
    text = str(RESULT)
    assert "1 of 3 groups differs from none" in text and "seed" in text
    assert "<table>" in RESULT._repr_html_()


@pytest.mark.parametrize("how", ["control", "pairs", "all"])
def test_pictures(how):
    control = "none" if how == "control" else None
    found = kpw_groups(FRAME, "drug", control=control, how=how, **QUICK)
    fig, ax = found.plot()
    dots = sum(len(c.get_offsets()) for c in ax.collections)
    assert dots == (0 if how == "all" else 2 * len(found.differing()))
    fig, ax = plt.subplots()
    assert found.dendrogram(ax) == (fig, ax)
    assert {t.get_text() for t in ax.get_yticklabels()} == set(SIZES)
    plt.close("all")


def test_pictures_of_two_groups():
    two = FRAME[FRAME["drug"].isin(["none", "B"])]
    found = kpw_groups(two, "drug", control="none", **QUICK)
    found.plot()
    found.dendrogram()
    plt.close("all")


@pytest.mark.parametrize("names", ["$x_{$ $x$", r"\\alpha$ a$b $^$"])
def test_names_that_look_like_formulas_can_be_drawn(names):
    "Broken by: names that matplotlib reads as mathematics"
    first, second = names.split(" ")[:2]
    frame = FRAME.assign(drug=FRAME["drug"].replace(dict(A=first, none=second)))
    found = kpw_groups(frame, "drug", control=second, **QUICK)
    for draw in (found.plot, found.dendrogram):
        fig, ax = draw()
        fig.canvas.draw()
    shown = {t.get_text().replace(r"\$", "$") for t in ax.get_yticklabels()}
    assert {first, second} <= shown
    bold = [t.get_text() for t in ax.get_yticklabels() if t.get_fontweight() == "bold"]
    assert bold == [groups.as_written(second)]
    plt.close("all")


# -- bad input
N = len(FRAME)
GAP = FRAME.assign(x=FRAME["x"].where(FRAME.index != 5))
LOST = FRAME.assign(x=FRAME["x"].where((FRAME["drug"] != "B") | (FRAME.index == 50)))
BAD = {
    "no such column": (FRAME, dict(by="durg"), "there are: w, x, y, z, kind, drug"),
    "name for an array": (ARRAY, dict(by="drug"), "pass a list of labels"),
    "labels too few": (ARRAY, dict(by=[1, 2, 3]), f"each of the {N} rows"),
    "labels in a table": (ARRAY, dict(by=np.zeros((N, 2))), "each of the"),
    "one group": (ARRAY, dict(by=["a"] * N), "only one group, 'a'"),
    "a group of one": (
        ARRAY,
        dict(by=["b"] + ["a"] * (N - 1)),
        "group 'b' of by has 1",
    ),
    "many of one": (ARRAY, dict(by=np.arange(N)), f"{N - 1} more such groups"),
    "gap in by": (
        FRAME,
        dict(by=FRAME["drug"].where(FRAME.index != 3)),
        "first in row 3",
    ),
    "no such control": (FRAME, dict(control="nobody"), "'A', 'B', 'C', 'none'"),
    "control of pairs": (
        FRAME,
        dict(control="none", how="pairs"),
        "leave out control=",
    ),
    "no control": (FRAME, dict(how="control"), "name the group in control="),
    "no such way": (FRAME, dict(how="each"), "how must be one of"),
    "use of a frame": (FRAME, dict(use="X_pca"), "use= is for annotated data"),
    "gap": (GAP, {}, "first in row 5 of frame"),
    "all rows of a group dropped": (
        LOST,
        dict(missing="drop"),
        "group 'B' .* whole row",
    ),
    "scale": (FRAME, dict(scale="unit"), "scale must be one of"),
    "a cluster in two strata": (
        FRAME,
        dict(clusters=np.arange(N) // 3, strata=np.arange(N) % 2),
        "cluster 0 has rows in the strata 0 and 1",
    ),
    "no stratum in common": (
        FRAME,
        dict(strata=FRAME["drug"].tolist()),
        "hardly share a stratum.*leave out strata=",
    ),
    "no such strata": (FRAME, dict(strata="batch"), "strata='batch' is no column"),
    "one cluster": (FRAME, dict(clusters=FRAME["drug"].tolist()), "has 1 cluster"),
    "constant": (np.ones((N, 2)), dict(by=FRAME["drug"].tolist()), "constant"),
    "infinity": (FRAME.assign(y=np.inf), {}, "infinity"),
    "a sparse matrix": (sparse.csr_matrix(ARRAY), dict(by=FRAME["drug"]), "toarray"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    data, change, message = BAD[case]
    with pytest.raises((ValueError, TypeError), match=message):
        kpw_groups(data, **dict(by="drug", **QUICK) | change)


def test_nothing_is_changed():
    before = FRAME.copy()
    kpw_groups(FRAME, "drug", clusters=np.arange(N), **QUICK)
    pd.testing.assert_frame_equal(FRAME, before)


def test_hopeless_comparisons_are_said():
    by = np.repeat(["a", "b", "c"], [3, 3, N - 6])
    with pytest.warns(UserWarning, match=r"for lack of rows: those of a \(3 rows\)"):
        kpw_groups(ARRAY, by, **QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kpw_groups(ARRAY, by, control="c", **QUICK)
    with pytest.warns(UserWarning, match="n_resamples=9 can never reject"):
        kpw_groups(FRAME, "drug", n_resamples=9)
