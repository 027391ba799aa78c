"""Tables as people have them: ten real ones from PyPI packages, in three libraries;
units, order, level and power; and sixty tables that are wrong, or only look so."""

import datetime as dt
import decimal
import enum
import fractions
import pathlib
import re
import uuid
import warnings
from importlib.metadata import distribution
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, ks_2samp
from sklearn.datasets import load_breast_cancer, load_wine

from kpw_nb import KPWTest, kpw_test

# Ten real tables ----------------------------------------------------------------------


def shipped(package, path):
    "A table that comes with an installed package, which is not imported"
    return pd.read_csv(distribution(package).locate_file(path))


def penguins():
    return shipped("palmerpenguins", "palmerpenguins/data/penguins.csv")


def raw_penguins():
    "As they were typed in: a date, a boolean, gaps in isotopes and sex"
    frame = shipped("palmerpenguins", "palmerpenguins/data/penguins-raw.csv")
    frame["Date Egg"] = pd.to_datetime(frame["Date Egg"])
    frame["Clutch Completion"] = frame["Clutch Completion"] == "Yes"
    names = ["Individual ID", "Sample Number", "Comments", "Stage", "Region"]
    return frame.drop(columns=names)


def plotted(name, *drop):
    return shipped("plotnine", f"plotnine/data/{name}.csv").drop(columns=list(drop))


def diamonds():
    return plotted("diamonds").sample(2000, random_state=0)


def arrests():
    frame = shipped("scikit-lego", "sklego/data/arrests.zip")
    yes = {c: frame[c] == "Yes" for c in ("employed", "citizen")}
    return frame.assign(**yes).sample(2000, random_state=0)


def hearts():
    return shipped("scikit-lego", "sklego/data/hearts.zip")


def classes(load):
    data = load(as_frame=True)
    return data.data.assign(target=data.target)


class Case(NamedTuple):
    "Where a table comes from, and which column makes two groups of it"

    load: object
    by: str
    groups: tuple


GENTOO = "Gentoo penguin (Pygoscelis papua)"
ADELIE = "Adelie Penguin (Pygoscelis adeliae)"
TABLES = {
    "penguins": Case(penguins, "species", ("Adelie", "Chinstrap")),
    "raw penguins": Case(raw_penguins, "Species", (ADELIE, GENTOO)),
    "diamonds": Case(diamonds, "cut", ("Premium", "Ideal")),
    "mpg": Case(lambda: plotted("mpg"), "drv", ("4", "f")),
    "msleep": Case(
        lambda: plotted("msleep", "name", "genus"), "vore", ("herbi", "omni")
    ),
    "midwest": Case(lambda: plotted("midwest", "PID", "county"), "inmetro", (0, 1)),
    "arrests": Case(arrests, "released", ("Yes", "No")),
    "hearts": Case(hearts, "target", (0, 1)),
    "wine": Case(lambda: classes(load_wine), "target", (0, 1)),
    "cancer": Case(lambda: classes(load_breast_cancer), "target", (0, 1)),
}


def two_groups(name):
    "Both groups, without the column that makes them"
    load, by, groups = TABLES[name]
    frame = load()
    return [frame[frame[by] == group].drop(columns=by) for group in groups]


def gaps_in(A, B):
    "Columns with gaps in either"
    return sorted(c for c in A if A[c].isna().any() or B[c].isna().any())


def options_for(A, B):
    return dict(missing="indicator") if gaps_in(A, B) else {}


def cramers_v(values, labels):
    "Of a category and two groups"
    counts = pd.crosstab(values, labels).to_numpy(float)
    expected = np.outer(counts.sum(1), counts.sum(0)) / counts.sum()
    return np.sqrt(((counts - expected) ** 2 / expected).sum() / counts.sum())


def effect_sizes(A, B):
    """Cramer's V of every category, and of every number what Cohen's d is on the same
    scale, d/√(d² + (n + m)²/nm), the correlation with the group; the largest first"""
    both = pd.concat([A, B], ignore_index=True)
    labels = np.repeat([0, 1], [len(A), len(B)])
    found = {}
    for c, values in both.items():
        known = values.notna().to_numpy()
        values, groups = values[known], labels[known]
        if values.dtype.kind == "O" or values.dtype == "str":
            found[c] = cramers_v(values.to_numpy(), groups)
        elif values.nunique() > 1:
            numbers = values.astype("int64" if values.dtype.kind == "M" else float)
            found[c] = abs(np.corrcoef(numbers, groups)[0, 1])
    return pd.Series(found).sort_values(ascending=False)


@pytest.mark.parametrize("name", TABLES)
def test_real_table(name):
    "The raw table in one line; the columns with the largest effects lead"
    A, B = two_groups(name)
    result = kpw_test(A, B, n_resamples=399, rng=0, **options_for(A, B))
    assert result.pvalue <= 0.005
    effects = effect_sizes(A, B)
    leaders = effects[effects >= 0.7 * effects.iloc[0]].index
    columns = result.where().columns
    columns = columns[columns["kind"] != "pair"]
    first = columns.head(min(3, len(leaders)))
    assert set(first["column"]) <= set(leaders), (first, effects.head())
    assert (first["pvalue"] <= 0.05).all()
    assert set(columns["column"]) == set(effects.index)


@pytest.mark.parametrize("name", TABLES)
def test_same_from_every_library(name):
    A, B = two_groups(name)
    options = options_for(A, B) | dict(rng=0, n_resamples=39)
    want = kpw_test(A, B, **options)
    arrow = [pa.Table.from_pandas(T, preserve_index=False) for T in (A, B)]
    for frames in ([pl.from_pandas(T) for T in (A, B)], arrow):
        got = kpw_test(*frames, **options)
        assert (got.pvalue, got.statistic) == (want.pvalue, want.statistic)
    narrow = [T.astype({c: "category" for c in A.select_dtypes("str")}) for T in (A, B)]
    got = kpw_test(*narrow, **options)
    assert (got.pvalue, got.statistic) == (want.pvalue, want.statistic)


@pytest.mark.parametrize("name", [k for k in TABLES if gaps_in(*two_groups(k))])
def test_gaps_are_named(name):
    A, B = two_groups(name)
    with pytest.raises(ValueError, match="missing='indicator'") as error:
        kpw_test(A, B)
    said, gaps = str(error.value), gaps_in(A, B)
    assert sum(repr(c) in said for c in gaps) == min(len(gaps), 5)
    assert len(gaps) <= 5 or f"{len(gaps) - 5} more" in said
    assert len(said) < 400 and "\n" not in said


def test_mixed_tables():
    "Enough of them have what makes tables hard"
    tables = [pd.concat(two_groups(name)) for name in TABLES]
    texts = sum(bool(len(T.select_dtypes("str").columns)) for T in tables)
    assert texts >= 4 and len(tables) == 10
    assert sum(bool(T.isna().any(axis=None)) for T in tables) >= 3
    assert sum("bool" in map(str, T.dtypes) for T in tables) >= 2
    assert sum("M" in [d.kind for d in T.dtypes] for T in tables) >= 1


# Units and order ----------------------------------------------------------------------

MEASURES = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


def two_islands():
    "Adelie penguins of two islands, which hardly differ: p is neither small nor 1"
    frame = penguins().dropna()
    frame = frame[frame["species"] == "Adelie"]
    return [
        frame[frame["island"] == i][[*MEASURES, "sex"]] for i in ("Dream", "Torgersen")
    ]


ISLANDS = two_islands()
FAST = dict(rng=0, n_resamples=99)
BETWEEN = kpw_test(*ISLANDS, **FAST)


def test_the_example_says_something():
    assert 0.02 < BETWEEN.pvalue < 0.95


@pytest.mark.parametrize("scale", ["auto", "std", "rank"])
@pytest.mark.parametrize("factor, shift", [(1e6, 0), (1e-6, 0), (1, 1e6)])
def test_units_of_every_column(scale, factor, shift):
    "All numbers in other units at once"
    want = kpw_test(*ISLANDS, scale=scale, **FAST)
    other = [T.assign(**(T[MEASURES] * factor + shift)) for T in ISLANDS]
    got = kpw_test(*other, scale=scale, **FAST)
    assert got.pvalue == want.pvalue
    assert got.statistic == pytest.approx(want.statistic, rel=1e-6)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    factors=st.lists(
        st.sampled_from([1e-6, 1e-3, 1.0, 1e3, 1e6]), min_size=4, max_size=4
    ),
    shifts=st.lists(st.sampled_from([0.0, -1e3, 1e6]), min_size=4, max_size=4),
)
def test_units_column_by_column(factors, shifts):
    "Each column in a unit of its own; the shift comes first, in the old unit"
    units = dict(zip(MEASURES, zip(factors, shifts)))
    other = [
        T.assign(**{c: (T[c] + s) * f for c, (f, s) in units.items()}) for T in ISLANDS
    ]
    got = kpw_test(*other, **FAST)
    assert got.pvalue == BETWEEN.pvalue
    assert got.statistic == pytest.approx(BETWEEN.statistic, rel=1e-6)


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.permutations([*MEASURES, "sex"]), st.permutations([*MEASURES, "sex"]))
def test_order_of_columns(one, two):
    "Not even the last bit depends on it, nor do the words"
    A, B = ISLANDS
    got = kpw_test(A[one], B[two], **FAST)
    assert (got.pvalue, got.statistic) == (BETWEEN.pvalue, BETWEEN.statistic)
    pd.testing.assert_frame_equal(got.where().columns, BETWEEN.where().columns)


@pytest.mark.parametrize("name", ["penguins", "mpg", "hearts"])
def test_order_of_columns_of_real_tables(name):
    A, B = two_groups(name)
    options = options_for(A, B) | FAST
    want, got = kpw_test(A, B, **options), kpw_test(A[A.columns[::-1]], B, **options)
    assert (got.pvalue, got.statistic) == (want.pvalue, want.statistic)


# Power --------------------------------------------------------------------------------


def test_power_on_penguins():
    "30 + 30 penguins of two species: a column in grams does not drown the bills"
    frame = penguins().dropna(subset=MEASURES)
    pools = [frame[frame["species"] == s][MEASURES] for s in ("Adelie", "Chinstrap")]
    found = 0
    for seed in range(20):
        A, B = (pool.sample(30, random_state=seed) for pool in pools)
        found += kpw_test(A, B, n_resamples=199, rng=seed).pvalue <= 0.05
    assert found >= 19


def only_together(seed, n=80, r=0.6):
    "Four normal columns; a and b go together in X, and against each other in Y"
    g = np.random.default_rng([15, seed])
    for sign in (1, -1):
        Z = g.standard_normal((n, 4))
        Z[:, 1] = sign * r * Z[:, 0] + np.sqrt(1 - r**2) * Z[:, 1]
        yield pd.DataFrame(Z, columns=list("abcd"))


def test_dependence_only():
    "No column by itself shows anything; the test does, and names the pair"
    trials = 40
    alone = together = named = 0
    for seed in range(trials):
        X, Y = only_together(seed)
        alone += min(ks_2samp(X[c], Y[c]).pvalue for c in X) <= 0.05 / 4
        result = kpw_test(X, Y, n_resamples=59, rng=seed)
        together += result.pvalue <= 0.05
        first = result.where().columns.iloc[0]
        named += (first["column"], first["kind"]) == ("a × b", "pair")
    assert alone <= binom.ppf(0.999, trials, 0.05)
    assert together >= 0.9 * trials
    assert named >= 0.9 * trials


# Level --------------------------------------------------------------------------------


def with_gaps(g, n):
    "Numbers that go together, heavy tails, ties; 30 % of all values are missing"
    Z = g.standard_t(3, (n, 3)) @ np.tril(np.ones((3, 3)))
    frame = pd.DataFrame(Z, columns=list("abc")).assign(d=g.integers(0, 5, n))
    return frame.mask(g.random(frame.shape) < 0.3)


def with_categories(g, n):
    "Rare and common levels, a boolean, a date, a number"
    names = [*"uvw", *(f"rare {k}" for k in range(6))]
    share = np.array([0.4, 0.3, 0.18, *[0.02] * 6])
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(g.integers(0, 60, n), "D")
    kinds = dict(kind=g.choice(names, n, p=share), flag=g.random(n) < 0.2)
    return pd.DataFrame(kinds | dict(day=day, size=g.exponential(size=n)))


def one_boolean(g, n):
    "Nearly all points are the same"
    return pd.DataFrame(dict(flag=g.random(n) < 0.5))


def few_levels(g, n):
    return pd.DataFrame(dict(kind=g.choice(list("abc"), n, p=[0.6, 0.3, 0.1])))


def both_ways(g, n):
    "Categories with gaps beside numbers with gaps"
    frame = with_categories(g, n).drop(columns=["flag", "day"])
    return frame.join(with_gaps(g, n)[["a", "b"]]).mask(g.random((n, 4)) < 0.15)


NULLS = dict(
    gaps=with_gaps,
    categories=with_categories,
    boolean=one_boolean,
    levels=few_levels,
    both=both_ways,
)


def rejections(make, trials, seed, where):
    "Of null tables: how often the test rejects, or any column or pair does"
    found = 0
    for t in range(trials):
        g = np.random.default_rng([seed, t])
        A, B = make(g, 22), make(g, 17)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few different rows
            result = kpw_test(A, B, missing="indicator", n_resamples=39, rng=t)
        p = result.where().columns["pvalue"].min() if where else result.pvalue
        found += p <= 0.05
    return found


def in_band(found, trials, exact=True):
    "The 99.9 % band of the binomial law; from below only if ties do not matter"
    low, high = binom.ppf([0.0005, 0.9995], trials, 0.05)
    assert found <= high, f"{found} of {trials}, at most {high:.0f}"
    assert found >= low or not exact, f"{found} of {trials}, at least {low:.0f}"


# one boolean has few different outcomes, so that a level of 5 % is not reached
DISCRETE = {"boolean", "levels"}


@pytest.mark.parametrize("name", NULLS)
def test_level(name):
    in_band(rejections(NULLS[name], 100, 1, False), 100, name not in DISCRETE)


@pytest.mark.parametrize("name", ["gaps", "both"])
def test_level_of_columns(name):
    "Any column or pair at or below 0.05"
    in_band(rejections(NULLS[name], 50, 2, True), 50, False)


@pytest.mark.slow
@pytest.mark.parametrize("where", [False, True])
@pytest.mark.parametrize("name", NULLS)
def test_level_of_many(name, where):
    exact = name not in DISCRETE
    in_band(rejections(NULLS[name], 2000, 3, where), 2000, exact)


@pytest.mark.parametrize("name", NULLS)
def test_the_same_table_twice(name):
    "Equal samples are never called different, however many rows are alike"
    A = NULLS[name](np.random.default_rng(9), 24)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # every row is there twice
        assert kpw_test(A, A.copy(), missing="indicator", rng=0).pvalue > 0.5


# Words --------------------------------------------------------------------------------


def seconds(g, n, longest):
    return pd.Timestamp("2024-01-01") + pd.to_timedelta(g.integers(0, longest, n), "s")


# how a column is drawn for X and for Y, and what must be said of it
EFFECTS = {
    "mean": (lambda g: g.normal(3, 1, 80), lambda g: g.normal(5, 1, 80), "^mean "),
    "spread": (lambda g: g.normal(0, 1, 80), lambda g: g.normal(0, 4, 80), "^spread "),
    "two values": (lambda g: g.random(80) < 0.2, lambda g: g.random(80) < 0.7, "%"),
    "two numbers": (
        lambda g: g.choice([0, 1], 80, p=[0.8, 0.2]),
        lambda g: g.choice([0, 1], 80, p=[0.3, 0.7]),
        "^(mean|share)",
    ),
    "level": (
        lambda g: g.choice(["u", "v"], 80, p=[0.8, 0.2]),
        lambda g: g.choice(["u", "v"], 80, p=[0.3, 0.7]),
        "share of '[uv]'",
    ),
    "gaps": (
        lambda g: np.where(g.random(80) < 0.5, np.nan, g.normal(size=80)),
        lambda g: g.normal(size=80),
        "^missing",
    ),
    "many zeros": (
        lambda g: np.where(g.random(200) < 0.9, 0, g.exponential(size=200)),
        lambda g: np.where(g.random(200) < 0.6, 0, g.exponential(size=200)),
        "",
    ),
    "within a day": (
        lambda g: seconds(g, 80, 3600),
        lambda g: seconds(g, 80, 9000),
        "2024-01-01",
    ),
}


@pytest.mark.parametrize("name", EFFECTS)
def test_effect(name):
    "What differs is told, and told differently of X and of Y"
    X, Y, words = EFFECTS[name]
    g = np.random.default_rng(10)
    noise = g.standard_normal((2, 200))
    frames = [dict(c=make(g)) for make in (X, Y)]
    A, B = (pd.DataFrame(f).assign(d=d[: len(f["c"])]) for f, d in zip(frames, noise))
    result = kpw_test(A, B, missing="indicator", n_resamples=199, rng=0)
    line = result.where().columns.iloc[0]
    assert line["column"] == "c" and line["pvalue"] <= 0.05
    assert re.search(words, line["effect"]), line["effect"]
    in_X, in_Y = re.search("(.*) in X, (.*) in Y", line["effect"]).groups()
    assert not in_X.endswith(f" {in_Y}"), line["effect"]


def test_rows_of_another_table():
    "The same projection by name and by place"
    A, B = (T[["body_mass_g", "bill_length_mm"]] for T in ISLANDS)
    result = kpw_test(A, B, **FAST)
    want = result.transform(A)
    np.testing.assert_array_equal(result.transform(A[A.columns[::-1]]), want)
    np.testing.assert_array_equal(result.transform(pl.from_pandas(A)), want)
    np.testing.assert_array_equal(result.transform(A.to_numpy()), want)


# Sixty bad tables ---------------------------------------------------------------------

N = 24
UNITS = np.random.default_rng(6).standard_normal((2, N, 2))


def frame(X=0, **more):
    "Two columns of numbers and some more"
    return pd.DataFrame(UNITS[X], columns=["a", "b"]).assign(**more)


def cells(*values):
    "A column of Python's own objects, these in turn"
    out = np.empty(N, dtype=object)
    for i in range(N):
        out[i] = values[i % len(values)]
    return out


def both(make):
    "The same kind of table twice"
    return lambda: (make(0), make(1))


def column(*values):
    "Tables whose column c has these values in turn"
    return both(lambda X: frame(X, c=cells(*values)))


def held(values):
    "Tables whose column c is this array"
    return both(lambda X: frame(X, c=values))


def renamed(names):
    return both(lambda X: frame(X).set_axis(names, axis=1))


def polar(values):
    return both(lambda X: pl.from_pandas(frame(X)).with_columns(c=pl.Series(values)))


def arrow(values, kind=None):
    def make(X):
        given = pa.Table.from_pandas(frame(X), preserve_index=False)
        return given.append_column("c", pa.array(values, kind))

    return both(make)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


DAYS = [dt.date(2024, 1, 1 + k) for k in range(N)]
RECORDS = np.array([(1.0, 2), (3.0, 4)] * 12, dtype=[("a", "f8"), ("c", "i4")])
GROUPS = [f"level {k // 2}" for k in range(200)]
TIME = dt.time(1, 30)
TOKYO, BERLIN = "Asia/Tokyo", "Europe/Berlin"
MARCH = pd.Timestamp("2024-03-01")

# what is wrong: (both tables, words of the message)
WRONG = {
    "mixed cells": (column(1, "n/a"), "'c'.* row 1 .*'n/a'"),
    "texts and booleans": (column("yes", True), "'c'"),
    "lists": (column([1, 2]), "'c'.* list"),
    "tuples": (column((1, 2)), "'c'.* tuple"),
    "sets": (column({1, 2}), "'c'.* set"),
    "dictionaries": (column({"u": 1}), "'c'.* dict"),
    "arrays in cells": (column(np.arange(2)), "'c'.* ndarray"),
    "frames in cells": (column(pd.DataFrame(dict(u=[1]))), "'c'.* DataFrame"),
    "bytes": (column(b"u", b"v"), "'c'.* bytes"),
    "complex column": (held(np.full(N, 1j)), "'c'.* complex"),
    "complex array": (both(lambda X: UNITS[X] + 1j), "[Cc]omplex.* real"),
    "UUIDs": (column(uuid.UUID(int=1), uuid.UUID(int=2)), "'c'.* UUID"),
    "fractions": (column(fractions.Fraction(1, 3)), "'c'.* Fraction"),
    "enumeration": (column(Colour.RED, Colour.BLUE), "'c'.* Colour"),
    "times of day": (column(TIME), "'c'.* time"),
    "periods": (held(pd.period_range("2024", periods=N, freq="M")), "'c'.* Period"),
    "intervals": (held(pd.interval_range(0, N)), "'c'.* Interval"),
    "polars lists": (polar([[1, 2]] * N), "'c'.* List"),
    "polars structs": (polar([{"u": 1}] * N), "'c'.* Struct"),
    "polars bytes": (polar([b"u"] * N), "'c'.* Binary"),
    "polars times": (polar([TIME] * N), "'c'.* Time"),
    "arrow lists": (arrow([[1, 2]] * N), "'c'.* List"),
    "arrow times": (arrow([TIME] * N), "'c'.* Time"),
    "identifiers": (
        lambda: (
            frame(c=[f"p{k}" for k in range(N)]),
            frame(c=DAYS).astype({"c": str}),
        ),
        "'c' is different in every row",
    ),
    "counter": (
        lambda: (frame(c=np.arange(N)), frame(1, c=N + np.arange(N))),
        "'c' is different in every row",
    ),
    "identifiers in both": (held([f"p{k}" for k in range(N)]), "'c' is different"),
    "counter in both": (held(np.arange(N)), "'c' is different in every row"),
    "texts that are numbers": (
        both(lambda X: frame(X, c=[f"{v:.6f}" for v in UNITS[X, :, 0]])),
        "'c' holds numbers written as texts.*to_numeric",
    ),
    "gaps": (column(1.5, None, 2.5), "'c' .8 in X, 8 in Y.* row 1 of X.*missing="),
    "gaps in texts": (column("u", None), "'c' .12 in X, 12 in Y"),
    "all gaps": (held(np.nan), "'c' .24 in X, 24 in Y"),
    "NaT": (held(pd.to_datetime([None] + ["2024-01-01"] * 23)), "'c' .1 in X"),
    "masked": (
        both(lambda X: np.ma.masked_array(UNITS[X], mask=UNITS[X] > 1)),
        "column 0 .* missing=",
    ),
    "infinity": (column(1.0, np.inf), "row 1, column 'c'"),
    "minus infinity": (column(-np.inf, 2.0), "row 0, column 'c'"),
    "huge integers": (column(10**400), "'c'.* beyond 1e308"),
    "other columns": (lambda: (frame(c=1.0), frame(d=1.0)), "'c' only in X .*'d'"),
    "one more column": (lambda: (frame(c=1.0), frame()), "'c' only in X"),
    "number and text": (lambda: (frame(c=1.0), frame(c="u")), "'c' is a number in X"),
    "date and text": (
        lambda: (frame(c=MARCH), frame(c="2024-03-01")),
        "'c' is a date in X but a category in Y",
    ),
    "boolean and text": (lambda: (frame(c=True), frame(c="yes")), "'c' is a boolean"),
    "columns of an array": (lambda: (UNITS[0], np.ones((N, 3))), "2 features .* 3"),
    "names twice": (renamed(["c", "c"]), "two columns called 'c'"),
    "nearly names twice": (renamed([1, "1"]), "two columns called '1'"),
    "no rows": (both(lambda X: frame(X)[:0]), "X has .*0 "),
    "one row": (both(lambda X: frame(X)[:1]), "X has .*1 "),
    "no columns": (both(lambda X: frame(X)[[]]), "X.* 0 feature"),
    "no columns in polars": (both(lambda X: pl.DataFrame()), "X.* 0 feature"),
    "constant": (both(lambda X: pd.DataFrame(dict(c=[1] * N))), "constant"),
    "sparse": (both(lambda X: scipy.sparse.csr_array(UNITS[X])), r"X.toarray\(\)"),
    "list of dictionaries": (
        both(lambda X: frame(X).to_dict("records")),
        r"pandas.DataFrame\(X\)",
    ),
    "dictionary": (
        both(lambda X: frame(X).to_dict("list")),
        "X is a dict.* data frame",
    ),
    "records": (both(lambda X: RECORDS), r"pandas.DataFrame\(X\)"),
    "grouped": (both(lambda X: frame(X, c="u").groupby("c")), "X"),
    "line": (both(lambda X: UNITS[X, :, 0]), r"X.reshape\(-1, 1\)"),
    "cube": (lambda: (UNITS, UNITS), "2-D"),
    "ragged": (both(lambda X: [[1, 2], [3]] * 12), "X"),
    "name of a file": (lambda: ("x.csv", "y.csv"), "X.* read"),
    "path": (lambda: (pathlib.Path("x.csv"), pathlib.Path("y.csv")), "X.* read"),
    "nothing": (lambda: (None, None), "X"),
    "long name": (
        both(lambda X: frame(X, **{"c" * 2000: [None, *np.arange(23.0)]})),
        "cccccccc.*missing=",
    ),
}
REMEDY = (
    "pass drop convert rename give use collect read fill replace check make reshape"
)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_table(name):
    "One line of words that name the column and the remedy"
    make, words = WRONG[name]
    X, Y = make()
    with pytest.raises((ValueError, TypeError), match=words) as error:
        kpw_test(X, Y, n_resamples=19, rng=0)
    said = str(error.value)
    assert len(said) < 400 and "\n" not in said
    assert re.search(rf"(?i)\b({REMEDY.replace(' ', '|')})\b", said), said


# what only looks wrong: (both tables, options)
FILL = dict(missing="indicator")
RIGHT = {
    "gaps marked": (column(1.5, None, 2.5), FILL),
    "gaps dropped": (column(1.5, None, 2.5), dict(missing="drop")),
    "all gaps marked": (held(np.nan), FILL),
    "empty in one": (lambda: (frame(c=np.nan), frame(1, c="u")), FILL),
    "masked": (
        both(lambda X: np.ma.masked_array(UNITS[X], mask=UNITS[X] > 1)),
        FILL,
    ),
    "null in polars": (polar([None] * N), FILL),
    "NaN and null": (polar([1.0, None, float("nan"), 2.0] * 6), FILL),
    "nullable": (held(pd.array([1, None, 3] * 8, dtype="Int64")), FILL),
    "NaT": (
        held(pd.to_datetime([None, *["2024-01-01", "2024-02-01"] * 11, None])),
        FILL,
    ),
    "time zones": (held(pd.date_range("2024", periods=N, tz=BERLIN)), {}),
    "two time zones": (
        column(pd.Timestamp("2024", tz=TOKYO), pd.Timestamp("2024", tz=BERLIN)),
        {},
    ),
    "days": (held(DAYS), {}),
    "year 1 to 9999": (column(dt.date(1, 1, 1), dt.date(9999, 12, 31)), {}),
    "durations": (held([dt.timedelta(hours=k) for k in range(N)]), {}),
    "decimals": (column(decimal.Decimal("1.5"), decimal.Decimal("2.25")), {}),
    "polars decimals": (polar([decimal.Decimal("1.5"), decimal.Decimal("2")] * 12), {}),
    "polars zones": (polar([dt.datetime(2024, 1, 1, k) for k in range(N)]), {}),
    "large integers": (column(2**70, 2**71, 3), {}),
    "unsigned": (held(np.arange(N, dtype=np.uint64) % 5 + np.uint64(2**63)), {}),
    "half precision": (held((np.arange(N) % 5).astype(np.float16)), {}),
    "tiny numbers": (both(lambda X: frame(X) * 1e-300), {}),
    "large numbers": (both(lambda X: frame(X) * 1e300), {}),
    "categories of numbers": (held(pd.Categorical([1, 2, 3] * 8)), {}),
    "unused levels": (held(pd.Categorical(["u"] * N, categories=["u", "v"])), {}),
    "category and text": (
        lambda: (frame(c=pd.Categorical(["u", "v"] * 12)), frame(1, c=["v", "w"] * 12)),
        {},
    ),
    "boolean and number": (lambda: (frame(c=[True, False] * 12), frame(1, c=0.0)), {}),
    "empty texts": (column("", "u"), {}),
    "texts that say nan": (column("nan", "None"), {}),
    "long texts": (column("u" * 5000, "v" * 5000), {}),
    "arrow dictionary": (arrow(pa.array(["u", "v"] * 12).dictionary_encode()), {}),
    "arrow views": (arrow(["u", "v"] * 12, pa.string_view()), {}),
    "pandas sparse": (held(pd.arrays.SparseArray([0, 0, 1] * 8)), {}),
    "levels of names": (renamed(pd.MultiIndex.from_tuples([("u", 1), ("u", 2)])), {}),
    "numbers for names": (renamed([7, 3]), {}),
    "odd names": (renamed(["", "a × b\n"]), {}),
    "our own names": (renamed(["column", "pvalue"]), {}),
    "levels of rows": (
        both(
            lambda X: frame(X).set_index(
                pd.MultiIndex.from_product([range(12), [0, 1]])
            )
        ),
        {},
    ),
    "the same row labels": (both(lambda X: frame(X).set_axis([0] * N)), {}),
    "dates for rows": (
        both(lambda X: frame(X).set_axis(pd.date_range("2024", periods=N))),
        {},
    ),
    "one series": (both(lambda X: frame(X)["a"]), {}),
    "one series of texts": (both(lambda X: pd.Series(["u", "v", "w"] * 8)), {}),
    "a polars series": (both(lambda X: pl.Series("a", UNITS[X, :, 0])), {}),
    "mixed rows": (both(lambda X: [[v, "uv"[int(v > 0)]] for v in UNITS[X, :, 0]]), {}),
    "two libraries": (lambda: (frame(), pl.from_pandas(frame(1))), {}),
    "a frame and an array": (lambda: (frame(), UNITS[1]), {}),
    "a constant column": (held("u"), {}),
}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("name", RIGHT)
def test_right_table(name):
    "It works, and can be explained and printed"
    make, options = RIGHT[name]
    X, Y = make()
    result = kpw_test(X, Y, n_resamples=19, rng=0, **options)
    assert round(20 * result.pvalue, 9) in range(1, 21)  # one of 20 ranks
    where = result.where()
    assert len(where.rows) == sum(map(len, result.samples))
    assert len(str(result)) and len(str(where))
    assert (where.columns["pvalue"] > 0).all() and (where.columns["effect"] != "").all()


@pytest.mark.parametrize("name", ["tiny numbers", "large numbers"])
def test_units_of_a_table(name):
    "Mutation: numbers that underflow or overflow on the way are all alike, and p is 1"
    found, plain = (
        kpw_test(*make(), n_resamples=99, rng=0).pvalue
        for make in (RIGHT[name][0], both(frame))
    )
    assert found == plain < 0.9


def test_enough_of_them():
    assert len(WRONG) + len(RIGHT) >= 100 and len(WRONG) >= 60


# Sources ------------------------------------------------------------------------------


def test_sources_give_one_answer(tmp_path):
    """A folder, a dataset, a reader, a lazy frame, a relation and Dask: the same p.

    They were refused ("got 0-D"). Mutation: a piece that forgets its first row, or
    a dataset that counts a whole file for each of its row groups."""
    import dask.dataframe as dd
    import pyarrow.dataset as ds

    from kpw_nb.ground.files import read_samples

    g = np.random.default_rng(0)
    for side, shift in (("before", 0.0), ("after", 0.03)):
        (tmp_path / side).mkdir()
        for k in range(2):
            n = 11_000
            part = pd.DataFrame(dict(a=g.normal(size=n) + shift, b=g.gamma(2, size=n)))
            part["kind"] = g.choice(list("xyz"), n)
            part["day"] = MARCH + pd.to_timedelta(g.integers(0, 9e6, n), "s")
            path = tmp_path / side / f"{k}.parquet"
            part.to_parquet(path, row_group_size=4000)
    ways = dict(
        frame=pd.read_parquet,
        dataset=ds.dataset,
        reader=lambda p: ds.dataset(p).scanner().to_reader(),
        lazy=lambda p: pl.scan_parquet(p / "*.parquet"),
        dask=dd.read_parquet,
    )
    try:
        import duckdb

        def related(p):
            return duckdb.sql(f"from '{p}/*.parquet'")

        ways["duckdb"] = related
    except ImportError:
        pass
    places = tmp_path / "before", tmp_path / "after"
    test, options = KPWTest(kept=2000), dict(n_resamples=39, rng=0)
    found = {
        name: test.test(*map(read, places), **options) for name, read in ways.items()
    }
    s = read_samples(*(p / "*.parquet" for p in places), in_pieces=True)
    found["glob"] = test.test(s.X, s.Y, **options)
    assert len({(r.pvalue, r.statistic) for r in found.values()}) == 1
    assert found["glob"].sizes == (22_000, 22_000)


def test_rare_levels_are_put_together():
    "90 levels were refused. Mutation: `split_levels` keeps all"
    g = np.random.default_rng(0)
    X, Y = (pd.DataFrame(dict(c=g.integers(0, 90, 300).astype(str))) for _ in "XY")
    X["c"], Y["c"] = "town " + X["c"], "town " + Y["c"]
    result = kpw_test(X, Y, n_resamples=19, rng=0)
    assert "rarest as one" in result.encoding.fields[0].description
    assert len(result.encoding.owner) == 64


@pytest.mark.parametrize("first", [0, 1])
def test_dates_that_only_tell_which_came_first(first):
    "They won every comparison of months. Mutation: `dates_apart` finds none"
    g = np.random.default_rng(1)
    days = pd.date_range("2024-01-01", periods=80)
    parts = [
        pd.DataFrame(dict(v=g.normal(size=40), day=d)) for d in (days[:40], days[40:])
    ]
    with pytest.warns(UserWarning, match="only say which came first"):
        result = kpw_test(parts[first], parts[1 - first], n_resamples=39, rng=0)
    assert result.pvalue > 0.05 and result.encoding.fields[1].dropped
    mixed = pd.concat(parts).sample(frac=1, random_state=0)
    kept = kpw_test(mixed[:40], mixed[40:], n_resamples=39, rng=0)
    assert not kept.encoding.fields[1].dropped


def test_rows_in_order_of_time_raise_a_doubt():
    """Two halves of a series were different 40 times of 40, without a word.

    Mutation: no call of `warn_if_serial`. Independent rows raise no doubt: the chance
    is below 1e-6 a test."""
    for seed in range(5):
        g = np.random.default_rng(seed)
        Z = g.normal(size=(300, 2))
        options = dict(n_resamples=19, rng=0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kpw_test(Z[:150], Z[150:], **options)
        for i in range(1, 300):
            Z[i] += 0.9 * Z[i - 1]
        with pytest.warns(UserWarning, match="neighbouring rows are alike") as seen:
            kpw_test(Z[:150], Z[150:], **options)
        said = str(seen[0].message)  # the remedy in Python's words, not the mark itself
        assert "pass as clusters (np.arange" in said and "|" not in said


def test_donors_as_numbers():
    "Texts raised the hint, numbers did not. Mutation: look at categories only"
    g = np.random.default_rng(0)
    X, Y = (
        pd.DataFrame(
            dict(v=g.normal(size=60), donor=np.repeat(np.arange(k, k + 6), 10))
        )
        for k in (1, 7)
    )
    with pytest.warns(UserWarning, match="clusters='donor'"):
        kpw_test(X, Y, n_resamples=19, rng=0)


def test_all_problems_at_once():
    "One a run, before. Mutation: raise the first of `problems_of`"
    g = np.random.default_rng(0)
    X = pd.DataFrame(dict(v=[1.0, None] * 20, key=[f"k{i}q" for i in range(40)]))
    Y = pd.DataFrame(dict(v=g.normal(size=40), key=[f"m{i}q" for i in range(40)]))
    with pytest.raises(ValueError, match="2 problems.*'key' is different.*missing="):
        kpw_test(X, Y)
