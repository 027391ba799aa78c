"Every experiment of the paper runs by name, resumes, and its tables say what ran."

import numpy as np
import pytest

from kpw_nb.experiments import (
    PAPER,
    above_level,
    behind,
    beside,
    draw_problem,
    experiments,
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
        assert len(X) == len(Y) == 4 and X.shape[1] == row.get("D", X.shape[1])


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
    assert np.all([x.n_trials >= 200 for x in experiments().values()])


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
