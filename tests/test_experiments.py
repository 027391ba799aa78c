"Every experiment of the paper runs by name, resumes, and its tables say what ran."

import json
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from execute import NBS
from scipy.stats import ks_2samp

from kpw_nb.study import problems as data
from kpw_nb.study.experiments import (
    _KLR_KEYS,
    KLR,
    PAPER,
    SEED,
    Narrow,
    above_level,
    behind,
    beside,
    beside_klr,
    draw_power,
    draw_problem,
    experiments,
    falls,
    keep_record,
    klr_figures,
    paper_figures,
    power_grid,
    read_record,
    reproduce,
    short,
)

NAMES = sorted(experiments())


@pytest.mark.parametrize("name", NAMES)
def test_quick_run(name, tmp_path):
    study = reproduce(name, quick=True, n_trials=1, store=tmp_path, progress=False)
    e = experiments()[name]
    assert set(study.test) == set(e.tests) and (study.protocol == e.protocol).all()
    assert (
        study.power.isin([0.0, 1.0]).all()
        and (study.low <= study.power).all()
        and (study.power <= study.high).all()
    )
    assert (
        "quick run" in study.attrs["title"]
        and (tmp_path / f"{name}.jsonl").stat().st_size > 0
    )
    again = reproduce(
        name, quick=True, n_trials=1, store=tmp_path, progress=False
    )  # from the store
    assert again.equals(study)


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_can_be_drawn(name):
    for row in experiments()[name].grid:
        X, Y = draw_problem(rng=0, **{**row, "n": 4})
        assert (len(X), len(Y)) == (4, row.get("m", 4))
        assert X.shape[1] == Y.shape[1] == row.get("D", X.shape[1])


def test_the_papers_numbers_have_a_setting_each():
    known = experiments()
    for name, tables in PAPER.items():
        e = known[name.split()[0]]
        level = "level" in name
        rows = [r for r in e.grid if r.get("null", False) == level]
        column = "n" if name.startswith("mnist") or name == "mixture_size" else "D"
        for key, values in tables.items():
            kind, test = key if isinstance(key, tuple) else (None, key)
            assert test in e.tests or test == "KPW"
            settings = sorted(
                {r[column] for r in rows if kind in (None, r.get("kind"))}
            )
            assert len(settings) == len(values) and all(0 <= v <= 1 for v in values), (
                name,
                key,
            )


def test_the_comparison_has_the_rows_of_the_likelihood_ratio_paper():
    grid = experiments()["comparison"].grid
    rows = [r for r in grid if r["problem"] == "high" and not r.get("null")]
    printed = klr_figures()
    assert {r["kind"] for r in rows} == set(KLR) and len(rows) == 7
    for row in rows:
        same = printed[_KLR_KEYS].eq([row[k] for k in _KLR_KEYS]).all(axis=1)
        assert row["n"] == 100 and same.sum() == 1, row
        _, usual, _ = data._HIGH[row["kind"]]
        assert row["strength"] == usual
    assert len(printed) == 21 and not printed.duplicated(_KLR_KEYS).any()
    assert printed[["KLR", "MMD"]].stack().between(0, 1).all()


def test_a_study_beside_the_likelihood_ratio_paper():
    e = experiments()["comparison"]
    empty = dict.fromkeys(k for row in e.grid for k in row)
    figures = dict(power=0.5, low=0.4, high=0.6)
    rows = [dict(test=t) | empty | r | figures for r in e.grid for t in e.tests]
    table = beside_klr(pd.DataFrame(rows), "MMD")
    assert table.kind.tolist() == list(KLR) and (table.power == 0.5).all()


def test_settings_without_a_difference():
    rows = [r for r in experiments()["comparison"].grid if r.get("null")]
    assert len(rows) >= 3 and any(r["n"] != r.get("m", r["n"]) for r in rows)
    for row in rows:
        X, Y = draw_problem(rng=1, **{**row, "n": 2000, "m": 2000})
        levels = [ks_2samp(a, b).pvalue for a, b in zip(X.T[:5], Y.T, strict=False)]
        assert min(levels) > 1e-4, row
    X, _ = draw_problem(200, "heavy", D=3, kind="tied", rng=0)
    assert (X == X.round()).all() and len(np.unique(X)) < 100
    with pytest.raises(ValueError, match="kind must be"):
        draw_problem(5, "heavy", D=3, kind="light")


def test_power_that_falls_is_found():
    columns = ["test", "kind", "n", "power", "low", "high"]
    rows = [
        ("a", "mean", 100, 0.5, 0.4, 0.6),
        ("a", "mean", 200, 0.9, 0.8, 1.0),
        ("a", "mean", 400, 0.7, 0.6, 0.79),  # below 200
        ("a", "mean", 800, 0.95, 0.9, 1.0),
        ("a", None, 100, 0.9, 0.8, 1.0),
        ("a", None, 200, 0.8, 0.7, 0.9),  # within the interval
        ("b", None, 400, 0.1, 0.0, 0.2),  # another test
    ]
    found = falls(pd.DataFrame(rows, columns=columns))
    assert found[["kind", "n", "best n"]].values.tolist() == [["mean", 400, 200]]
    assert found["its power"].tolist() == [0.9]


def test_sizes_grow_for_every_problem():
    curves = {}
    for row in experiments()["sizes"].grid + experiments()["sizes_large"].grid:
        key = tuple((k, v) for k, v in row.items() if k != "n")
        curves.setdefault(key, []).append(row["n"])
    assert len(curves) >= 6
    assert all(ns == sorted(ns) for ns in curves.values())
    assert all((ns[0], ns[-1]) == (250, 16_000) for ns in curves.values())


def test_bad_input():
    with pytest.raises(ValueError, match="name must be"):
        reproduce("figure 2")
    with pytest.raises(ValueError, match="problem must be"):
        draw_problem(5, "moons")


def test_titles_say_what_ran():
    e = experiments()["gaussian"]
    assert (
        len({(r["kind"], r["D"], r["null"]) for r in e.grid}) == 21
        and e.n_trials >= 200
    )
    for name, x in experiments().items():
        assert x.n_trials >= {"sizes": 50, "sizes_large": 20}.get(name, 200)


def test_tables(tmp_path):
    study = reproduce("gaussian", quick=True, n_trials=1, store=None, progress=False)
    panel = study[(study.kind == "diag") & ~study.null.astype(bool)]
    table = beside(panel)
    assert (
        list(table.index) == list(dict.fromkeys(panel.test))
        and table.notna().all().all()
    )
    assert set(behind(panel).columns) <= set(panel.columns) | {
        "KPW",
        "best",
        "its power",
    }


def test_store_is_found_from_a_folder_below(tmp_path, monkeypatch):
    (tmp_path / "out" / "experiments").mkdir(parents=True)
    (tmp_path / "nbs" / "experiments").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "nbs" / "experiments")
    reproduce("projected_dimension", quick=True, n_trials=1, progress=False)
    assert [p.name for p in (tmp_path / "out" / "experiments").iterdir()] == [
        "projected_dimension.jsonl"
    ] and not (tmp_path / "nbs" / "experiments" / "out").exists()


def test_level_is_judged_by_all_looks():
    study = reproduce("gaussian", quick=True, n_trials=1, store=None, progress=False)
    null = study[study.null.astype(bool)].assign(n_trials=200, rejections=10)
    assert len(above_level(null)) == 0 and len(
        above_level(null.assign(rejections=40))
    ) == len(null)
    with pytest.raises(ValueError, match="n_tests=1"):
        above_level(null.assign(n_tests=5))


# What a study leaves behind -----------------------------------------------------------

RECORDS = NBS / "experiments" / "records"


def counted():
    "The records of studies of power, by name"
    tables = {p.stem: pd.read_csv(p) for p in sorted(RECORDS.glob("*.csv"))}
    return {k: t for k, t in tables.items() if "rejections" in t}


@pytest.mark.parametrize("name", counted())
def test_a_record_holds_counts(name):
    raw, found = counted()[name], read_record(name, RECORDS)
    assert raw.rejections.between(0, raw.n_trials).all() and len(raw)
    assert np.allclose(raw.power * raw.n_trials, raw.rejections, atol=1e-3)
    assert raw.version.astype(str).str.match(r"\d+\.\d+\.\d+").all()
    assert raw.seed.notna().all()
    settings = list(raw.columns[: raw.columns.get_loc("n_trials")])
    assert not raw.duplicated(settings).any()
    assert (found.low <= found.power).all() and (found.power <= found.high).all()
    assert f"{found.n_trials[0]} " in found.attrs["ran"]


def settings_of(row, columns):
    "The test and the setting of a row, whatever way it says that there is none"
    known = {k: row.get(k) for k in columns}
    known["null"] = known.get("null") in (True, "True")
    return tuple((k, None if v != v else v) for k, v in sorted(known.items()))


@pytest.mark.parametrize("name", sorted(set(NAMES) & set(counted())))
def test_a_record_is_of_its_experiment(name):
    e, raw = experiments()[name], counted()[name]
    columns = sorted({k for row in e.grid for k in row} | {"null", "test"})
    defined = {
        settings_of(row | dict(test=test), columns)
        for row in e.grid
        for test in e.tests
    }
    rows = {settings_of(row, columns) for row in raw.to_dict("records")}
    assert rows <= defined and set(raw.protocol) == {e.protocol}
    assert set(raw.seed) == {SEED}
    # tests are compared at the same repetitions, whatever other settings have
    settings = [c for c in columns if c in raw and c != "test"]
    assert (raw.groupby(settings, dropna=False).n_trials.nunique() == 1).all()
    full = raw.n_trials.max() >= e.n_trials
    assert not full or rows == defined  # part of a study is less than its repetitions


def test_every_experiment_has_a_record():
    assert set(NAMES) <= set(counted())


def outputs(page, cell):
    "What a cell of a page shows"
    text = (NBS / "experiments" / f"{page}.ipynb").read_text(encoding="utf-8")
    cells = {c["id"]: c for c in json.loads(text)["cells"]}
    return [o["data"] for o in cells[cell]["outputs"] if "data" in o]


def table_of(page, cell):
    "{(row, column): text} of the table that a cell shows"
    html = next(
        "".join(d["text/html"]) for d in outputs(page, cell) if "text/html" in d
    )
    head, body = ElementTree.fromstring(html)
    columns = [th.text for th in head[0]][1:]
    found = {}
    for tr in body:
        label, *cells = [part.text or "" for part in tr]
        found |= {(label, c): t for c, t in zip(columns, cells, strict=True)}
    return found


GRIDS = [  # page, cell, record, rows of it, across
    ("gaussian", "c005", "gaussian", dict(kind="diag", null=False), "D"),
    ("gaussian", "c007", "gaussian", dict(kind="rotated", null=False), "D"),
    ("gaussian", "c010", "gaussian", dict(null=True), "D"),
    ("mixture", "c003", "mixture_200", dict(null=False), "D"),
    ("mixture", "c003_4", "mixture_dimension", dict(null=False), "D"),
    ("mixture", "c004", "mixture_200", dict(null=True), "D"),
    ("mixture", "c004_1", "mixture_dimension", dict(null=True), "D"),
    ("mixture", "c006", "mixture_size", dict(null=False), "n"),
    ("mixture", "c007", "mixture_size", dict(null=True), "n"),
    ("mnist", "c002_1", "mnist mnist_cv", dict(null=False), "n"),
    ("mnist", "c008", "mnist mnist_cv", dict(null=True), "n"),
]


@pytest.mark.parametrize("page, cell, name, rows, across", GRIDS)
def test_a_page_shows_its_record(page, cell, name, rows, across):
    names = name.split()
    record = pd.concat([read_record(one, RECORDS) for one in names])
    for column, value in rows.items():
        record = record[record[column] == value]
    shown = table_of(page, cell)
    ours = {(r.test, str(getattr(r, across))): r.power for r in record.itertuples()}
    for place, power in ours.items():
        assert shown.pop(place) == short(power), place
    printed = paper_figures(names[0], rows.get("kind"), rows["null"])
    for (label, column), text in shown.items():  # what is left is the paper's
        test, _, paper = label.partition(", ")
        assert paper == "paper" and text == short(printed[test][int(column)])


INTERVALS = [  # page, cell, record, level instead of power, across
    ("mixture", "c003_2", "mixture_200", False, "D"),
    ("mnist", "c002_3", "mnist_cv", False, "n"),
    ("mnist", "c008_2", "mnist_cv", True, "n"),
]


@pytest.mark.parametrize("page, cell, name, null, across", INTERVALS)
def test_a_page_shows_intervals_and_repetitions(page, cell, name, null, across):
    """Where few repetitions were run. Mutation: the interval of another test, or a page
    that was not drawn anew."""
    record = read_record(name, RECORDS)
    record = record[(record.null == null) & (record.test == "KPW cv")]
    shown, printed = table_of(page, cell), paper_figures(name, null=null)["KPW"]
    for row in record.itertuples():
        at = str(getattr(row, across))
        paper = printed[int(at)]
        assert shown[at, "95 % interval"] == f"{short(row.low)} to {short(row.high)}"
        assert shown[at, "repetitions"] == str(row.n_trials)
        assert shown[at, "within"] == ("yes" if row.low <= paper <= row.high else "no")


def test_every_size_has_its_level():
    """The level tables lack no size or dimension that the power tables have. Mutation:
    the level of the mixture at the smallest and largest size only."""
    for name in ("gaussian", "mixture_dimension", "mixture_200", "mixture_size"):
        record = read_record(name, RECORDS)
        across = "n" if name == "mixture_size" else "D"
        null, power = record[record.null], record[~record.null]
        assert set(null[across]) == set(power[across]), name
        assert set(null.test) == set(power.test)


def test_traces_of_every_procedure():
    """Figure 5: five procedures, four users, 300 frames each, and the delays of the
    table follow from them. Mutation: traces that are not over their threshold."""
    traces = pd.read_csv(RECORDS / "msrc12_traces.csv")
    assert (
        traces.groupby("user").t.agg(["min", "max", "size"]).values.tolist()
        == [[300, 599, 300]] * 4
    )
    table = pd.read_csv(RECORDS / "msrc12.csv").set_index(["statistic", "user"])
    assert list(traces.columns[2:]) == [
        "KPW pretrained",
        "PW",
        "MMD-O",
        "MMD-NTK",
        "ME",
    ]
    for user, part in traces.groupby("user"):
        for name in traces.columns[2:]:
            above, known = part[name].to_numpy() > 1, table.loc[(name, user)]
            assert np.argmax(above[200:]) == known.delay
            assert np.isclose(above[:200].mean(), known.false_alarms)


def test_seconds_of_every_procedure():
    "Positive, and every procedure at every setting. Mutation: a row is missing"
    timed = pd.read_csv(RECORDS / "seconds.csv")
    settings = timed.groupby("procedure")[["problem", "n", "D"]].apply(
        lambda rows: tuple(map(tuple, rows.values))
    )
    assert settings.nunique() == 1 and len(settings.iloc[0]) == 4
    assert {"KPW cv", "PW", "ME", "MMD-O", "MMD-NTK"} <= set(settings.index)
    assert (timed[["train", "test"]] >= 0).all().all()


def test_the_comparison_shows_its_record():
    record = read_record("comparison", RECORDS)
    power = record[~record.null]
    n_settings = len(power) // power.test.nunique()
    shown = table_of("comparison", "c001_7") | table_of("comparison", "c001_7b")
    for test, rows in power.groupby("test"):
        column = "default" if test == "KPW" else test
        texts = [text for (_, c), text in shown.items() if c == column]
        assert texts == [short(p) for p in rows.power] and len(texts) == n_settings
    head = ElementTree.fromstring(
        "".join(outputs("comparison", "c001_5")[0]["text/html"])
    )
    assert head.get("class") == "dataframe sortable"


@pytest.mark.parametrize(
    "page, cell, name",
    [
        ("comparison", "c001_2", "comparison"),
        ("gaussian", "c001_1", "gaussian"),
        ("mixture", "c001_1", "mixture_dimension"),
        ("mixture", "c001_1", "mixture_200"),
        ("mnist", "c001_1", "mnist"),
        ("mnist", "c001_1", "mnist_cv"),
        ("sizes", "c001_1", "sizes"),
        ("hyperparameters", "c001_1", "regularisation"),
    ],
)
def test_a_page_says_what_ran(page, cell, name):
    said = "".join(outputs(page, cell)[0]["text/markdown"])
    assert read_record(name, RECORDS).attrs["ran"] in said


def test_a_study_is_kept_and_read(tmp_path):
    study = reproduce("mnist", quick=True, n_trials=2, store=None, progress=False)
    # also after a way through a file, where None and NaN are alike
    study.to_csv(tmp_path / "study.csv")
    again = pd.read_csv(tmp_path / "study.csv", index_col=0)
    kept = keep_record(again, "mnist", tmp_path)
    assert keep_record(study, "mnist", tmp_path).equals(kept)
    for column in ("test", "n", "rejections", "power", "low", "high", "alpha"):
        assert kept[column].tolist() == study[column].tolist()
    with pytest.raises(ValueError, match="n_tests=1"):
        keep_record(study.assign(n_tests=3), "mnist", tmp_path)


def test_narrow_tables_and_charts():
    record = read_record("mnist", RECORDS)
    power = record[~record.null]
    printed = paper_figures("mnist")
    table = power_grid(power, "n", paper=printed)
    assert len(table) == power.test.nunique() + len(printed)
    html = Narrow(table, sortable=True)._repr_html_()
    assert ElementTree.fromstring(html).get("class") == "dataframe sortable"
    assert [short(v) for v in (0.05, -0.2, 1.0, 7, np.nan)] == [
        ".05",
        "-.20",
        "1.00",
        "7",
        "",
    ]
    _, ax = plt.subplots()
    draw_power(ax, power, "n", paper=printed["KPW"])
    assert len(ax.lines) == power.test.nunique() + 1
    plt.close("all")
