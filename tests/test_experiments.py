"Every experiment of the paper runs by name, resumes, and its tables say what ran."

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp

from kpw_nb import data
from kpw_nb.experiments import (
    _KLR_KEYS,
    KLR,
    PAPER,
    above_level,
    behind,
    beside,
    beside_klr,
    draw_problem,
    experiments,
    falls,
    klr_figures,
    reproduce,
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
