"""Every public name and every command of an installed kpw_nb does its first job. Needs
nothing but the package: `python tools/smoke.py` in any environment, from any folder."""

import csv
import pickle
import subprocess
import sys
import tempfile
from inspect import isclass
from pathlib import Path

import numpy as np
import pandas as pd

import kpw_nb

FRONT = {}  # name: what to do with it


def job(do):
    "Register the job of the name that the function is called after"
    FRONT[do.__name__] = do
    return do


def tables(rows=40, shift=1.0, seed=0):
    "Two raw tables that differ in one column"
    g = np.random.default_rng(seed)
    table = pd.DataFrame(g.normal(size=(2 * rows, 3)), columns=list("abc"))
    table["kind"] = g.choice(["x", "y", "z"], 2 * rows)
    A, B = table[:rows], table[rows:].copy()
    B["b"] += shift
    return A, B


def arrays(seed=0):
    return [table[["a", "b", "c"]].to_numpy() for table in tables(seed=seed)]


def series():
    g = np.random.default_rng(1)
    return np.r_[g.normal(size=(60, 2)), g.normal(size=(60, 2)) + 3]


@job
def kpw_test():
    result = kpw_nb.kpw_test(*tables(), rng=0)
    assert result.pvalue <= 0.05 and result.where().columns["column"].iloc[0] == "b"
    assert 0.5 < result.effect().auc <= 1
    with tempfile.TemporaryDirectory() as folder:
        result.report(f"{folder}/answer.html")
    assert pickle.loads(pickle.dumps(result)).pvalue == result.pvalue
    assert str(result) and result._repr_html_() and result.facts()


@job
def KPWTest():
    trained = kpw_nb.KPWTest("split").fit(*arrays())
    assert trained.test(*arrays(seed=2), rng=0).pvalue <= 1


@job
def kpw_groups():
    table = pd.concat(tables(), keys=["one", "two"], names=["day"]).reset_index("day")
    groups = kpw_nb.kpw_groups(table, by="day", n_resamples=99, rng=0)
    assert "differ" in groups.answer()


@job
def kpw_equivalence():
    assert not kpw_nb.kpw_equivalence(*arrays(), margin=0.1, rng=0).equivalent


@job
def kpw_distance():
    assert kpw_nb.kpw_distance(*arrays()).value > 0


@job
def kpw_changepoint():
    (found,) = kpw_nb.kpw_changepoint(series(), n_resamples=39, rng=0).changes
    assert abs(int(getattr(found, "at", found)) - 60) <= 2


@job
def KPWDetector():
    quiet = np.random.default_rng(2).normal(size=(120, 2))
    watch = kpw_nb.KPWDetector(window=10, n_resamples=39, rng=0).fit(quiet)
    assert np.asarray(watch.detect(series())["alarm"])[60:].any()


@job
def KPWMonitor():
    A, B = tables(200)
    watch = kpw_nb.KPWMonitor(rng=0).fit(A)
    pvalues = [watch.check(B.iloc[k : k + 50]).pvalue for k in (0, 50, 100)]
    assert all(0 < p <= 1 for p in pvalues)


@job
def KPWProjector():
    X, Y = arrays()
    Z, labels = np.vstack([X, Y]), np.repeat([0, 1], len(X))
    for name in ("KPWProjector", "MeanProjector", "WitnessProjector"):
        found = getattr(kpw_nb, name)().fit(Z, labels)
        assert np.isfinite(found.transform(Z)).all()


@job
def power_study():
    def draw(n, rng):
        g = np.random.default_rng(rng)
        return g.normal(size=(n, 2)), g.normal(size=(n, 2)) + 2

    study = kpw_nb.power_study(
        {"test": kpw_nb.KPWTest()},
        draw,
        grid=dict(n=[20]),
        n_trials=4,
        n_resamples=39,
        rng=0,
        progress=False,
        key="smoke",
        protocol="equal",
    )
    assert study.power.iloc[0] == 1


@job
def visible():
    assert "standard deviation" in str(kpw_nb.visible(100, 100, 5))


COMMAND = "import sys; from kpw_nb.show.cli import main; sys.exit(main())"
COMMANDS = (
    ("--version",),
    ("--help",),
    ("test", "a.csv", "b.csv"),
    ("test", "a.csv", "b.csv", "--json"),
    ("test", "a.csv", "b.csv", "--report", "answer.html"),
    ("detect", "b.csv", "--reference-rows", "30", "--columns", "a,c", "--window", "5"),
)


def write(table, path):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([table.columns, *table.to_numpy().tolist()])


def run_command(words, folder):
    run = subprocess.run(
        [sys.executable, "-c", COMMAND, *words],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, f"{' '.join(words)}: {run.stdout}{run.stderr}"
    assert run.stdout.strip(), f"{' '.join(words)} printed nothing"


def main():
    covered = {"KPWResult", "KPWTestResult", "MeanProjector", "WitnessProjector"}
    rest = [n for n in kpw_nb.__all__ if n not in FRONT and n not in covered]
    for name in rest:
        found = getattr(kpw_nb, name)
        assert callable(found) or isclass(found)
    for name, do in FRONT.items():
        do()
        print("ok", name, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for table, file in zip(tables(), ("a.csv", "b.csv")):
            write(table, Path(folder) / file)
        for words in COMMANDS:
            run_command(words, folder)
            print("ok kpw-nb", " ".join(words), flush=True)
    print(f"{len(FRONT) + len(COMMANDS)} passed, Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
