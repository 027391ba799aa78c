"""Designs, at the user's end: who may be exchanged with whom, by every way that leads
there, with the level it promises and the message that a bad design gets."""

import itertools
import json
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from kpw_nb import KPWProjector, KPWTest, WitnessProjector, kpw_test
from kpw_nb.study import rivals as baselines
from kpw_nb.show.cli import main
from kpw_nb.compare.designs import DesignOptions, Design, bring_together, read_design
from kpw_nb.ground.errors import InputWarning
from kpw_nb.compare.relabel import Free, Strata, permutation_pvalue
from kpw_nb.compare.statistics import MMD, Contrast, under

FEW = dict(n_resamples=39, rng=0)


def cells(seed=0, donors=12, shift=0.0, effect=0.4):
    "Cells of donors with effects, half of them treated; unequal numbers of cells"
    g = np.random.default_rng([16, seed])
    sizes = g.integers(4, 13, donors)
    donor = np.repeat(np.arange(donors), sizes)
    Z = g.normal(size=(len(donor), 3)) + effect * g.normal(size=(donors, 3))[donor]
    frame = pd.DataFrame(Z, columns=["a", "b", "c"])
    frame["donor"] = [f"d{k}" for k in donor]
    frame["site"] = np.array(["north", "south"])[donor % 2]
    treated = donor >= donors // 2
    frame.loc[treated, "a"] += shift
    return frame[~treated].reset_index(drop=True), frame[treated].reset_index(drop=True)


def same(r, s):
    return (
        r.pvalue == s.pvalue
        and r.statistic == s.statistic
        and np.array_equal(r.null_distribution, s.null_distribution)
    )


# -- every way to say it


def as_lists(A, B, **columns):
    "The same design as pairs of lists, and frames without these columns"
    design = {k: (A[c].tolist(), B[c].to_numpy()) for k, c in columns.items()}
    return (A.drop(columns=columns.values()), B.drop(columns=columns.values())), design


FRAMES = {
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
    "categories": lambda f: f.astype({"donor": "category"}),
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_frames_of_every_kind(make):
    A, B = cells(1)
    by_name = dict(clusters="donor", strata="site")
    expected = kpw_test(A, B, **by_name, **FEW)
    assert expected.design.relabelling.count == 20 * 20
    assert same(kpw_test(make(A), make(B), **by_name, **FEW), expected)


def test_lists_and_columns():
    A, B = cells(1)
    for by_name in (dict(clusters="donor"), dict(clusters="donor", strata="site")):
        unused = {"donor", "site"} - {*by_name.values()}
        A2, B2 = A.drop(columns=unused), B.drop(columns=unused)
        frames, by_list = as_lists(A2, B2, **by_name)
        expected = kpw_test(A2, B2, **by_name, **FEW)
        assert same(kpw_test(*frames, **by_list, **FEW), expected)


def test_dask_and_samples():
    import dask.dataframe as dd

    A, B = cells(2)
    A, B = A.drop(columns="site"), B.drop(columns="site")
    expected = kpw_test(A, B, clusters="donor", **FEW)
    lazy = [dd.from_pandas(f, npartitions=3) for f in (A, B)]
    assert same(kpw_test(*lazy, clusters="donor", **FEW), expected)


@pytest.mark.parametrize("workers", [2, map], ids=["two", "map"])
def test_workers(workers):
    A, B = cells(3)
    for design in (dict(clusters="donor"), dict(strata="site"), dict(clusters="donor")):
        A2, B2 = (
            f.drop(columns={"donor", "site"} - {*design.values()}) for f in (A, B)
        )
        one = kpw_test(A2, B2, **design, **FEW)
        assert same(kpw_test(A2, B2, **design, **FEW, workers=workers), one)


def test_command_line(tmp_path, capsys):
    A, B = cells(4, shift=3.0)
    both = pd.concat([A.assign(arm="old"), B.assign(arm="new")])
    both.drop(columns="site").to_csv(tmp_path / "cells.csv", index=False)
    file = str(tmp_path / "cells.csv")
    code = main(["test", file, "--label", "arm", "--clusters", "donor", "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert code == 0 and facts["design"]["relabellings"] == 924
    assert "--clusters donor" in facts["command"]
    assert facts["assumes"] == "that clusters are independent of each other"
    samples = [
        both[both.arm == arm].drop(columns=["arm", "site"]) for arm in ("new", "old")
    ]
    expected = kpw_test(*samples, clusters="donor", rng=facts["seed"])
    assert expected.pvalue == facts["pvalue"]
    code = main(["test", file, "--label", "arm", "--clusters", "donor"])
    assert "6 + 6 clusters" in capsys.readouterr().out


def test_result_says_it():
    A, B = cells(5, shift=3.0)
    r = kpw_test(
        A.drop(columns="site"), B.drop(columns="site"), clusters="donor", rng=0
    )
    said = " ".join(str(r).split())  # long lines are folded
    assert "6 + 6 clusters" in said and "924 relabellings" in said
    assert "clusters are independent" in said
    assert r.n_resamples == 923 and r.smallest_pvalue == 2 / 924  # all are listed
    assert r.where().columns["column"].iloc[0] == "a"
    assert "donor" not in [f.name for f in r.encoding.fields]
    page = r.report()
    assert "whole clusters carry the label" in page
    assert same(pickle.loads(pickle.dumps(r)), r)


def test_trained_test_takes_a_design():
    A, B = cells(6, shift=2.0)
    C, D = cells(7, shift=2.0)
    numbers = [f[["a", "b", "c"]] for f in (A, B)]
    trained = KPWTest("split", WitnessProjector()).fit(*numbers, rng=0)
    C, D = C.drop(columns="site"), D.drop(columns="site")
    r = trained.test(C, D, clusters="donor", **FEW)
    assert r.design.relabelling.count == 924 and r.pvalue == 1 / 40


# -- small designs are enumerated


def naive_pvalue(F, members, blocks, n):
    "The p-value over all labellings of points that keep the number of X in each block"
    points = np.array([F[members == k].mean(0) for k in range(members.max() + 1)])
    points = points - np.array([points[blocks == b].mean(0) for b in blocks])
    of_x, values = np.bincount(blocks[:n], minlength=blocks.max() + 1), []
    for x in itertools.combinations(range(len(points)), n):
        if np.array_equal(np.bincount(blocks[list(x)], minlength=len(of_x)), of_x):
            y = [k for k in range(len(points)) if k not in x]
            gap = points[list(x)].mean(0) - points[y].mean(0)
            values.append((gap**2).sum())
    return (np.array(values) >= values[0] - 1e-12).mean(), len(values)


@pytest.mark.parametrize("seed", range(4))
def test_enumeration(seed):
    g = np.random.default_rng(seed)
    blocks = np.array([0, 0, 1, 1, 0, 1, 1, 0])  # 4 + 4 clusters in two strata
    members = np.sort(np.r_[np.arange(8), g.integers(0, 8, 16)])
    F = g.normal(size=(24, 2))
    n = int((members < 4).sum())
    strata = blocks[members]
    design = read_design(
        F[:n],
        F[n:],
        DesignOptions((strata[:n], strata[n:]), (members[:n], members[n:])),
    ).design
    statistic = under(Contrast(F), design)
    count = design.relabelling.count
    values = statistic(np.array([design.relabelling.draw(k) for k in range(count)]))
    expected, total = naive_pvalue(F, members, blocks, 4)
    assert count == total == 36
    assert permutation_pvalue(values[0], values[1:]) == pytest.approx(expected)


@given(st.lists(st.integers(0, 3), min_size=4, max_size=9), st.data())
@settings(max_examples=60, deadline=None)
def test_strata_keep_their_numbers(strata, data):
    strata = np.array(strata)
    n = data.draw(st.integers(1, len(strata) - 1))
    design = Strata(strata, n)
    seed = np.random.SeedSequence(data.draw(st.integers(0, 1000)))
    last = data.draw(st.integers(0, int(design.count) - 1))
    for key in (seed, last):
        marks = design.draw(key)
        assert marks.dtype == bool and marks.shape == strata.shape
        assert sorted(strata[marks]) == sorted(strata[:n])


def test_pairs_are_all_or_nothing():
    "Swapping X and Y of some pairs is one of the relabellings: same null, same p"
    g = np.random.default_rng(0)
    X, Y = g.normal(size=(2, 7, 2))
    flip = np.array([1, 0, 0, 1, 1, 0, 1], bool)[:, None]
    r = kpw_test(X, Y, paired=True, n_resamples=127, rng=0)
    s = kpw_test(
        np.where(flip, Y, X), np.where(flip, X, Y), paired=True, n_resamples=127
    )
    assert r.n_resamples == 127  # all of them
    both = [np.sort([r.statistic, *r.null_distribution]) for r in (r, s)]
    assert np.allclose(*both, atol=1e-6)


# -- level


def donors(g):
    A, B = cells(int(g.integers(10**9)))
    return A.drop(columns="site"), B.drop(columns="site"), dict(clusters="donor")


def batches(g):
    "Three batches far apart, X and Y in different shares"
    shift = 3 * g.normal(size=(3, 3))
    parts = [np.repeat(np.arange(3), k) for k in ((12, 6, 4), (4, 8, 12))]
    X, Y = (g.normal(size=(len(p), 3)) + shift[p] for p in parts)
    return X, Y, dict(strata=tuple(parts))


def pairs(g):
    both = 3 * g.normal(size=(20, 3))
    X, Y = (both + 0.5 * g.normal(size=(20, 3)) for _ in range(2))
    return X, Y, dict(paired=True)


def donors_in_sites(g):
    A, B = cells(int(g.integers(10**9)))
    for frame in (A, B):
        frame.loc[frame.site == "north", ["a", "b"]] += 4
    return A, B, dict(clusters="donor", strata="site")


def patients(g):
    "Patients seen before and after, several rows each time"
    effect = 2 * g.normal(size=(8, 2))
    parts = [np.sort(np.r_[np.arange(8), g.integers(0, 8, 10)]) for _ in range(2)]
    # an effect of the visit: the rows of a patient at one time go together
    visits = [effect[p] + g.normal(size=(8, 2))[p] for p in parts]
    X, Y = (v + 0.3 * g.normal(size=v.shape) for v in visits)
    return X, Y, dict(clusters=tuple(parts), paired=True)


NULLS = dict(
    donors=donors,
    batches=batches,
    pairs=pairs,
    donors_in_sites=donors_in_sites,
    patients=patients,
)


@pytest.mark.parametrize("name", NULLS)
def test_level(name):
    "With the design the level holds, for the test and for every column; without, not"
    runs, hits = 120, np.zeros(2, int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(runs):
            X, Y, design = NULLS[name](np.random.default_rng([160, seed]))
            r = kpw_test(X, Y, **design, n_resamples=39, rng=seed)
            hits[0] += r.pvalue <= 0.05
            hits[1] += seed % 3 == 0 and r.where().columns["pvalue"].min() <= 0.05
    assert hits[0] <= binom.ppf(0.9999, runs, 0.05)
    assert hits[1] <= binom.ppf(0.9999, runs // 3, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("weigh", ["clusters", "rows"])
def test_level_of_weights(weigh):
    runs = 400
    hits = 0
    for seed in range(runs):
        X, Y, design = donors(np.random.default_rng([161, seed]))
        hits += kpw_test(X, Y, **design, weigh=weigh, n_resamples=39).pvalue <= 0.05
    low, high = binom.ppf([0.0005, 0.9995], runs, 0.05)
    assert low <= hits <= high


def test_without_the_design_it_fails():
    "What the design is for: the same null data, taken for independent rows"
    hits = 0
    for seed in range(40):
        A, B, _ = donors(np.random.default_rng([162, seed]))
        numbers = [f[["a", "b", "c"]] for f in (A, B)]
        hits += kpw_test(*numbers, n_resamples=39, rng=seed).pvalue <= 0.05
    assert hits > binom.ppf(0.9999, 40, 0.05)


def test_pairs_see_what_the_unpaired_test_does_not():
    found = np.zeros(2)
    for seed in range(20):
        g = np.random.default_rng([163, seed])
        X, Y, _ = pairs(g)
        Y = Y + [0.6, 0, 0]
        for k, design in enumerate((dict(paired=True), {})):
            found[k] += (
                kpw_test(X, Y, **design, n_resamples=39, rng=seed).pvalue <= 0.05
            )
    assert found[0] >= found[1] + 6  # 0.3 of 20


def test_pairs_see_a_change_of_scale():
    "x - y alone is symmetric here"
    g = np.random.default_rng(0)
    X = 2 * g.normal(size=(60, 2))
    assert (
        kpw_test(X, 1.4 * X + 0.2 * g.normal(size=X.shape), paired=True, rng=0).pvalue
        <= 0.05
    )


# -- every test of the package

TESTS = {name: getattr(baselines, name) for name in baselines.__all__}


@pytest.mark.parametrize("name", TESTS)
def test_baselines_take_designs(name):
    g = np.random.default_rng(0)
    train, (X, Y) = g.normal(size=(2, 24, 2)), g.normal(size=(2, 24, 2))
    Y[:, 0] += 6
    t = TESTS[name]()
    if t.trains:
        t.fit(train[0], train[1] + [6, 0], rng=0)
    c = np.repeat(np.arange(6), 4)
    few = dict(n_resamples=19, rng=0)
    for design in (
        dict(paired=True),
        dict(strata=(c // 2, c // 2)),
        dict(clusters=(c, np.r_[6, 6, 6, c[3:] + 6])),
        dict(clusters=(c, c), paired=True),
        dict(clusters=(c, c + 6), strata=(c // 2, c // 2)),
    ):
        r = t.test(X, Y, **design, **few)
        assert len(r.null_distribution) == 19
        assert r.pvalue <= 0.25, design
        assert np.array_equal(
            r.null_distribution,
            t.test(X, Y, **design, **few, workers=2).null_distribution,
        )


def test_a_baseline_reads_columns():
    A, B = cells(8, shift=3.0)
    A, B = A.drop(columns="site"), B.drop(columns="site")
    r = baselines.EnergyTest().test(A, B, clusters="donor", rng=0)
    assert r.pvalue <= 0.05


def test_energy_of_clusters_is_that_of_their_mean_kernel():
    A, B = cells(9)
    Z = np.vstack([A[["a", "b", "c"]], B[["a", "b", "c"]]])
    K = np.exp(-((Z[:, None] - Z) ** 2).sum(2))
    design = read_design(A, B, DesignOptions(clusters="donor")).design
    M = np.array(
        [(design.members == k) / (design.members == k).sum() for k in range(12)]
    )
    marks = np.array([Free(6, 6).draw(k) for k in range(50)])
    assert np.allclose(under(MMD(K), design)(marks), MMD(M @ K @ M.T)(marks))


@pytest.mark.parametrize(
    "candidates",
    [KPWProjector(d=2, ridge=1.0), WitnessProjector(), "paper", ["columns", "KPW"]],
    ids=["KPW", "witness", "paper", "members"],
)
@pytest.mark.parametrize("weigh", ["clusters", "rows"])
def test_candidates_under_a_design(candidates, weigh):
    A, B = cells(10, shift=3.0)
    A, B = A.drop(columns="site"), B.drop(columns="site")
    options = dict(candidates=candidates, weigh=weigh, n_resamples=19, rng=0)
    assert kpw_test(A, B, clusters="donor", **options).pvalue == 0.05


# -- gaps, batches, warnings


def test_gaps_leave_pairs_as_wholes():
    g = np.random.default_rng(0)
    X, Y = g.normal(size=(2, 30, 2))
    X[3, 0] = Y[7, 1] = np.nan
    r = kpw_test(X, Y, paired=True, missing="drop", **FEW)
    assert r.encoding.dropped_rows == (2, 2)
    assert [len(s) for s in r.samples] == [28, 28]
    assert 3 not in r.samples[1].rows and 7 not in r.samples[0].rows
    keep = np.delete(np.arange(30), [3, 7])
    assert same(kpw_test(X[keep], Y[keep], paired=True, missing="drop", **FEW), r)


def test_batches_are_brought_together_without_a_look_at_labels():
    g = np.random.default_rng(0)
    batches = np.repeat([0, 1, 2], [5, 20, 40])
    Z = g.normal(size=(65, 2)) + 5 * batches[:, None]
    order = np.concatenate(
        [g.permutation(np.flatnonzero(batches == s)) for s in range(3)]
    )
    assert np.allclose(
        bring_together(Z[order], batches), bring_together(Z, batches)[order]
    )
    assert (
        np.ptp([bring_together(Z, batches)[batches == s].mean() for s in range(3)])
        < 0.5
    )


def test_few_relabellings_are_warned_of():
    g = np.random.default_rng(0)
    X, Y = g.normal(size=(2, 30, 2))
    c = np.repeat(np.arange(3), 10)
    with pytest.warns(UserWarning, match=r"20 relabellings .* can never reject"):
        r = kpw_test(X, Y, clusters=(c, c + 3), **FEW)
    assert r.smallest_pvalue == 0.1 and r.n_resamples == 19
    with pytest.warns(UserWarning, match="can never reject"):
        kpw_test(X[:5], Y[:5], paired=True, **FEW)


def test_a_design_that_nobody_mentioned():
    A, B = cells(11)
    with pytest.warns(UserWarning, match="clusters='donor'"):
        kpw_test(A.drop(columns="site"), B.drop(columns="site"), **FEW)


# -- bad designs

A6 = pd.DataFrame({"v": np.arange(6.0), "w": [1.0, 5, 2, 4, 3, 0], "g": list("aabbcc")})
B5 = pd.DataFrame({"v": np.arange(5.0), "w": [2.0, 2, 1, 0, 7], "g": list("ddeef")})
BAD = {
    "shared": (
        dict(clusters=(list("aabbcc"), list("aadff"))),
        "cluster 'a'.*paired=True",
    ),
    "one label": (
        dict(strata=([1, 1, 2, 2, 3, 3], [4, 4, 5, 5, 5])),
        "stratum 1.*merge",
    ),
    "unequal": (dict(paired=True), "X has 6 rows and Y has 5"),
    "half": (
        dict(clusters=(list("aabbcc"), list("aabbb")), paired=True),
        "'c'.*X only",
    ),
    "scattered": (
        dict(strata=([1, 2, 1, 1, 2, 2], [1, 1, 2, 2, 2]), clusters="g"),
        "cluster 'a' has rows in two strata",
    ),
    "no column": (dict(clusters="donor"), "clusters='donor' is no column of X"),
    "too few": (dict(strata=([1, 2], [1] * 5)), "2 labels for the 6 rows of X"),
    "two columns": (dict(strata=(np.ones((6, 1)), [1] * 5)), "got an array of shape"),
    "gap": (dict(strata=([1, None, 1, 2, 1, 2], [1, 2, 1, 2, 1])), "row 1 of X"),
    "paired by name": (dict(paired="g"), "paired must be True or False"),
    "weigh": (dict(clusters="g", weigh="cells"), "weigh"),
    "a set": (dict(clusters={"g"}), "the name of a column"),
    "split": (dict(clusters="g", method="split"), "says which belong together"),
    "trained": (dict(clusters="g", train_size=0.5), "train_size cuts"),
    "nothing left": (dict(strata="g"), "stratum 'a'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_designs(name):
    options, message = BAD[name]
    with pytest.raises((ValueError, TypeError), match=message):
        kpw_test(A6, B5, **options, **FEW)


CLI = {
    "shared": (["--clusters", "g"], "rows in both samples"),
    "no column": (["--clusters", "donor"], "donor"),
    "unequal": (["--paired"], "6 rows"),
    "one label": (["--strata", "g"], "stratum"),
}


@pytest.mark.parametrize("name", CLI)
def test_bad_designs_at_the_command_line(name, tmp_path, capsys):
    options, message = CLI[name]
    A6.to_csv(tmp_path / "a.csv", index=False)
    other = B5.assign(g=list("aaabb")) if name == "shared" else B5
    other.to_csv(tmp_path / "b.csv", index=False)
    files = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    with pytest.raises(SystemExit) as stop:
        raise SystemExit(main(["test", *files, *options]))
    said = capsys.readouterr()
    assert stop.value.code == 2 and message in said.err and not said.out
    assert len(said.err.strip().splitlines()) == 1


def test_a_free_design_is_no_design():
    design = Design(Free(3, 4))
    assert design.free and design.masses is None
    F = np.arange(14.0).reshape(7, 2)
    assert design.features(F) is F


def test_a_label_among_the_columns():
    """A column that names the sample is pointed out: with it, any two samples differ.
    Mutation: only columns with several levels are looked at."""
    g = np.random.default_rng(0)
    X, Y = (
        pd.DataFrame(dict(a=g.normal(size=20), arm=arm)) for arm in ("control", "drug")
    )
    with pytest.warns(InputWarning, match="'arm' is 'control' in all of X and 'drug'"):
        kpw_test(X, Y, n_resamples=19, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kpw_test(X, Y.assign(arm="control"), n_resamples=19, rng=0)
