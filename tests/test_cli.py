"The command line: good files give the library's answer, bad ones one line and code 2."

import dataclasses
import gzip
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tables import (
    FAST,
    GOOD,
    NAMES,
    as_csv,
    bad_tables,
    penguins,
    run,
    save_csv,
    two_samples,
    write_tables,
)

import kpw_nb.compare.twosample as twosample
from kpw_nb import kpw_test
from kpw_nb.show import cli, terminal
from kpw_nb.ground.files import InputFile, read_table

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def here(tmp_path, monkeypatch):
    "A folder with good files of every kind, and the current one"
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def data():
    return two_samples()


@pytest.fixture(scope="module")
def expected(data):
    return kpw_test(*data, n_resamples=19, rng=0)


def facts_of(capsys, *words):
    "What the command prints as JSON"
    code, out, err = run(capsys, *words, "--json")
    assert code == 0, err
    return json.loads(out)


def rows_of(facts, sample):
    "The leading rows of a sample"
    return [r["row"] for r in facts["where"]["rows"] if r["sample"] == sample]


# ---------------------------------------------------------------- good input


FORMS = {  # words of the command: the name of the second column
    "x.csv y.csv": "weight",
    "x.tsv y.tsv": "weight",
    "x.npy y.npy": "column 2",
    "x.npz y.npz": "column 2",
    "both.npz": "column 2",
    "x_bare.csv y_bare.csv": "column 2",
    "x.csv y.npy": "weight",
    "labelled.csv --label group": "weight",
}


@pytest.mark.parametrize("words", FORMS)
def test_every_format_gives_the_answer_of_the_library(here, capsys, expected, words):
    words = f"{words} --scale none"  # names mean units of their own, arrays have none
    facts = facts_of(capsys, "test", *words.split(), *FAST)
    assert facts["pvalue"] == expected.pvalue
    assert facts["statistic"] == pytest.approx(expected.statistic, rel=1e-9)
    alone = [c.pvalue for c in expected.candidates]
    assert [c["pvalue"] for c in facts["candidates"]] == alone
    assert facts["X"]["rows"] == 30 and facts["Y"]["rows"] == 24
    before = 30 if "--label" in words else 0  # rows of the file, not of the sample
    rows = expected.where().of("Y")["row"][:10] + 1 + before
    assert rows_of(facts, "Y") == rows.tolist()
    assert facts["where"]["columns"][0]["column"] == FORMS[words[:-13]]


def test_parquet(here, capsys, data, expected):
    import pandas as pd

    for A, name in zip(data, "xy"):
        pd.DataFrame(A, columns=NAMES).to_parquet(f"{name}.parquet")
    facts = facts_of(capsys, "test", "x.parquet", "y.parquet", *FAST)
    assert facts["pvalue"] == expected.pvalue
    index = np.arange(54)[::-1]  # is no feature
    both = pd.DataFrame(np.vstack(data), columns=NAMES, index=index)
    both.assign(group=[1] * 30 + [2] * 24).to_parquet("labelled.parquet")
    facts = facts_of(capsys, "test", "labelled.parquet", "--label", "group", *FAST)
    assert facts["pvalue"] == expected.pvalue and facts["X"]["name"] == "group = 1"


def test_columns_are_matched_by_name(here, capsys, data, expected):
    save_csv(here / "turned.csv", data[1][:, ::-1], NAMES[::-1])
    facts = facts_of(capsys, "test", "x.csv", "turned.csv", *FAST)
    assert facts == facts_of(capsys, "test", "x.csv", "y.csv", *FAST) | {
        k: facts[k] for k in ("command", "files", "seconds", "Y", "settings")
    }
    pd = pytest.importorskip("pandas")
    frames = [pd.DataFrame(A[:, [2, 1]], columns=["age", "weight"]) for A in data]
    some = kpw_test(*frames, n_resamples=19, rng=0)
    for words in ("--columns age,weight", "--columns age --columns weight"):
        facts = facts_of(capsys, "test", "x.csv", "y.csv", *words.split(), *FAST)
        assert facts["statistic"] == some.statistic
        assert facts["columns"] == ["age", "weight"]
    bare = ["x_bare.csv", "y_bare.csv", "--drop", "1,3"]
    assert facts_of(capsys, "test", *bare, *FAST)["columns"] == ["column 2"]


def test_split_reports_rows_of_the_file(here, capsys, data):
    words = ["x.csv", "y.csv", "--method", "split", *FAST, "--seed", "5"]
    facts = facts_of(capsys, "test", *words)
    pd = pytest.importorskip("pandas")
    frames = [pd.DataFrame(A, columns=NAMES) for A in data]
    res = kpw_test(*frames, method="split", n_resamples=19, rng=5)
    assert facts["pvalue"] == res.pvalue and facts["method"] == "split"
    best = res.where().of("X")["row"].iloc[0]  # its position, from 0
    assert rows_of(facts, "X")[0] == best + 1


PLANTED = [300, 1203, 1300, 1500, 1900, 5000, 20_000]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("n", PLANTED)
def test_planted_rows_lead(here, capsys, n, kind):
    """Every tenth row of Y is off in its first column.

    Above 2,000 rows the printed ones were others, or there was an IndexError.
    """
    import pandas as pd

    g = np.random.default_rng(4)
    for name in "xy":
        table = pd.DataFrame(g.normal(size=(n, 4)), columns=list("abcd"))
        if name == "y":
            table.loc[::10, "a"] += 6
        write = getattr(table, f"to_{kind}")
        write(here / f"planted_{name}.{kind}", index=False)
    words = ["test", f"planted_x.{kind}", f"planted_y.{kind}", "--n-resamples", "49"]
    facts = facts_of(capsys, *words)
    rows = rows_of(facts, "Y")
    assert len(rows) == 10 and sum(row % 10 == 1 for row in rows) >= 9, rows
    assert facts["where"]["columns"][0]["column"] == "a"


def test_planted_rows_lead_in_a_labelled_file(here, capsys):
    "Rows of the file, though the samples take turns in it"
    import pandas as pd

    g = np.random.default_rng(5)
    table = pd.DataFrame(g.normal(size=(4000, 3)), columns=list("abc"))
    table["day"] = np.tile([20230101, 20230102], 2000)
    table.loc[1::20, "a"] += 6  # rows 2, 22, 42, ... of the file, all of the second day
    table.to_csv(here / "days.csv", index=False)
    facts = facts_of(capsys, "test", "days.csv", "--label", "day", *FAST)
    assert facts["Y"] == dict(name="day = 20230102", rows=2000)
    assert sum(row % 20 == 2 for row in rows_of(facts, "Y")) >= 9


def test_notes_and_progress_go_to_stderr(here, capsys):
    few = ["test", "x.csv", "y.csv", "--n-resamples", "9"]
    assert run(capsys, *few, "--alpha", "0.2")[2] == ""
    words = ["test", "x.csv", "y.csv", *FAST, "--json", "--progress"]
    code, out, err = run(capsys, *words)
    assert json.loads(out) and "permutations" in err


# ---------------------------------------------------------------- the gate


def test_a_level_out_of_reach_is_no_answer(here, capsys):
    """`--alpha 0.001` with 199 relabellings has said "no difference" and exit code 0.

    Mutation: leave out `_check_reach`."""
    words = ["test", "x.csv", "y.csv", "--alpha", "0.001", "--fail-on-difference"]
    code, out, err = run(capsys, *words, "--n-resamples", "199")
    assert (code, out) == (2, "") and "--n-resamples auto, or at least 999" in err
    assert run(capsys, *words)[0] == 1  # auto draws enough
    save_csv("few.csv", np.arange(9.0).reshape(3, 3))
    save_csv("few2.csv", 20 + np.arange(9.0).reshape(3, 3))
    code, out, err = run(capsys, "test", "few.csv", "few2.csv", *words[3:])
    assert (code, out) == (2, "") and "allow no p-value below 0.1" in err


def test_reject_warns_of_a_level_out_of_reach(data):
    "It has been False without a word. Mutation: leave out the warning in `rejects`"
    result = kpw_test(*data, n_resamples=19, rng=0)
    with pytest.warns(UserWarning, match="n_resamples=999 or more"):
        assert not result.reject(0.001)
    clear = kpw_test(*data, rng=0)
    assert clear.pvalue < 0.001 and clear.reject(0.001)


@pytest.mark.parametrize("margin, code", [("0.01", 1), ("0.45", 0)])
def test_margin(here, capsys, margin, code):
    "A difference that is shown to be small is no failure. Mutation: `counts=True`"
    words = ["test", "x.csv", "y.csv", "--fail-on-difference", "--margin", margin]
    got, out, err = run(capsys, *words, "--json")
    facts = json.loads(out)
    assert (got, facts["different"]) == (code, True), err
    assert facts["margin"]["counts"] == bool(code)
    assert f"--margin {margin}" in facts["command"]


def test_junit(here, capsys):
    "A failure exactly if the exit code would be 1. Mutation: `failed=False`"
    from xml.etree import ElementTree

    run(capsys, "test", "x.csv", "y.csv", "--junit", "j.xml", *FAST)
    assert ElementTree.parse(here / "j.xml").getroot().get("failures") == "1"
    run(capsys, "test", "x.csv", "x.csv", "--junit", "j.xml", *FAST)
    assert ElementTree.parse(here / "j.xml").getroot().get("failures") == "0"


def test_names(here, capsys):
    "Mutation: drop `replace(samples, names=names)`"
    words = ["test", "x.csv", "y.csv", *FAST, "--names", "before,after"]
    facts = facts_of(capsys, *words)
    assert [facts[k]["name"] for k in "XY"] == ["before", "after"]
    assert "before, 30 rows" in run(capsys, *words)[1]


# ---------------------------------------------------------------- the schema

KIND = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "array": list,
    "object": dict,
    "null": type(None),
}
ANSWERS = {
    "test": "test x.csv y.csv --n-resamples 19",
    "groups": "groups labelled.csv --by group --n-resamples 99",
    "equivalence": "equivalence x.csv y.csv --margin 0.2",
    "plan": "plan x.csv y.csv --max-seconds 1",
    "detect": "detect x.csv --window 4 --n-resamples 19",
    "changes": "changes x.csv --n-resamples 19",
    "monitor init": "monitor init long.csv m.kpw",
    "monitor check": "monitor check m.kpw long.csv",
    "monitor history": "monitor history m.kpw",
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_json_keeps_its_schema(here, capsys, kind):
    "Mutation: rename a key of any command's facts"
    path = Path(terminal.__file__).parent / "templates/answers.schema.json"
    schema = json.loads(path.read_text())
    assert schema["properties"]["schema"]["const"] == terminal.SCHEMA
    assert set(schema["$defs"]) == set(ANSWERS)
    save_csv("long.csv", np.random.default_rng(0).normal(size=(80, 3)))
    if kind.startswith("monitor ") and kind != "monitor init":
        run(capsys, *ANSWERS["monitor init"].split())
    facts = facts_of(capsys, *ANSWERS[kind].split())
    assert (facts["kind"], facts["schema"]) == (kind, terminal.SCHEMA)
    keys = schema["$defs"][kind]["properties"]
    assert set(keys) <= set(facts), set(keys) - set(facts)
    for key, what in keys.items():
        kinds = tuple(KIND[name] for name in np.atleast_1d(what["type"]))
        assert isinstance(
            facts[key], sum([k if isinstance(k, tuple) else (k,) for k in kinds], ())
        ), key


# ---------------------------------------------------------------- mixed tables


@pytest.fixture
def mixed(here):
    "Penguins in two files and in one; those of Y are heavier, and none is from Dream"
    X = penguins(80, who=[f"n{k}" for k in range(80)])
    Y = penguins(70, 1, who=[f"m{k}" for k in range(70)])
    Y["mass"] = [f"{float(v) + 700:.1f}" for v in Y["mass"]]
    Y["island"] = [v.replace("Dream", "Biscoe") for v in Y["island"]]
    both = {c: X[c] + Y[c] for c in X} | dict(sex=["f"] * 80 + ["m"] * 70)
    for name, table in dict(px=X, py=Y, both=both).items():
        (here / f"{name}.csv").write_text(as_csv(table))
        (here / f"{name}_semi.csv").write_text(as_csv(table, ";").replace(".", ","))
    return X, Y


def test_a_mixed_table(mixed, capsys):
    facts = facts_of(capsys, "test", "px.csv", "py.csv", "--id", "who", *FAST)
    assert facts["columns"] == ["mass", "island", "male", "seen", "brood"]
    kinds = {e["column"]: e["kind"] for e in facts["encoding"]}
    wanted = ["number", "category", "boolean", "date", "number"]
    assert kinds == dict(zip(facts["columns"], wanted))
    assert all(e["description"].startswith(e["kind"]) for e in facts["encoding"])
    columns = facts["where"]["columns"]
    assert {c["column"] for c in columns[:2]} == {"mass", "island"}
    assert all(0 < c["pvalue"] <= 1 and " in X" in c["effect"] for c in columns[:5])
    assert all(c["share"] is None or c["chance"] >= 0 for c in columns)
    row = facts["where"]["rows"][0]
    assert row["row"][0] in "nm" and row["unusual"] in facts["columns"]
    assert facts["settings"]["id"] == "who" and "'who'" in facts["where"]["rows_are"]
    assert shlex.split(facts["command"])[4:6] == ["--id", "who"]


def test_the_text_of_a_mixed_table(mixed, capsys):
    words = ["test", "px.csv", "py.csv", "--id", "who", *FAST, "--report", "r.html"]
    code, out, err = run(capsys, *words)
    first, *lines = out.splitlines()
    assert (code, err) == (0, "") and first.startswith("The two samples differ")
    leading = [line for line in lines if re.search(r"  p = 0\.05 ", line)]
    assert 2 <= len(leading) <= 5 and lines[: len(leading)] == leading
    assert any(
        re.match(r"  mass +p = 0.05 +mean \d+ in X, \d+ in Y", s) for s in leading
    )
    assert any("share of 'Biscoe'" in line for line in leading)
    assert re.search(r"rows of Y +m\d+, m\d+", out)
    page = Path("r.html").read_text(encoding="utf-8")
    assert "share of &#39;Biscoe&#39;" in page and "Torgersen" in page


def test_ways_to_give_a_mixed_table(mixed, capsys, monkeypatch):
    "Two files, one with labels, decimal commas, packed, or from a pipe: one answer"
    words = ["--id", "who", *FAST]
    wanted = facts_of(capsys, "test", "px.csv", "py.csv", *words)
    for name in ("px.csv", "both.csv"):
        packed = gzip.compress(Path(name).read_bytes())
        Path(f"{name}.gz").write_bytes(packed)
    label = ["--label", "sex"]
    for given in (
        ["px_semi.csv", "py_semi.csv"],
        ["px.csv.gz", "py.csv"],
        ["both.csv", *label],
        ["both_semi.csv", *label],
        ["both.csv.gz", *label],
        ["-", *label],
        ["-", "py.csv"],
    ):
        source = "both.csv" if "--label" in given else "px.csv"
        pipe = io.TextIOWrapper(io.BytesIO(Path(source).read_bytes()))
        monkeypatch.setattr(sys, "stdin", pipe)
        facts = facts_of(capsys, "test", *given, *words)
        for name in ("pvalue", "statistic", "encoding", "where"):
            assert facts[name] == wanted[name], (given, name)


def test_gaps(mixed, capsys):
    text = Path("px.csv").read_text().splitlines()
    text[3] = "," + text[3].split(",", 1)[1]
    Path("gap.csv").write_text("\n".join(text) + "\n")
    words = ["test", "gap.csv", "py.csv", "--id", "who", *FAST]
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "") and "first in row n2 of gap.csv; use --missing" in err
    marked = facts_of(capsys, *words, "--missing", "indicator")
    mass = next(e for e in marked["encoding"] if e["column"] == "mass")
    assert (
        "gaps marked" in mass["description"]
        and "--missing indicator" in marked["command"]
    )
    assert run(capsys, *words, "--missing", "indicator", "--report", "r.html")[0] == 0
    dropped = facts_of(capsys, *words, "--missing", "drop")
    assert "rows with gaps left out: 1 of X, 0 of Y" in dropped["table"]


def test_units(mixed, capsys):
    words = ["test", "px.csv", "py.csv", "--drop", "who", *FAST]
    frames = [read_table(f"p{k}.csv", drop=["who"]).frame for k in "xy"]
    for scale in ("auto", "std", "rank", "none"):
        facts = facts_of(capsys, *words, "--scale", scale)
        given = None if scale == "none" else scale
        result = kpw_test(*frames, n_resamples=19, rng=0, scale=given)
        assert facts["statistic"] == result.statistic
        assert facts["settings"]["scale"] == scale


# ---------------------------------------------------------------- exit codes


def test_exit_code_of_a_difference(here, capsys):
    different = ["test", "x.csv", "y.csv", *FAST]
    assert run(capsys, *different, "--fail-on-difference")[0] == 1
    assert run(capsys, *different)[0] == 0
    same = ["test", "x.csv", "x.csv", *FAST, "--fail-on-difference"]
    code, out, err = run(capsys, *same)  # the same file twice is fine, but noted
    assert code == 0 and err.startswith("kpw-nb: note: only 30 of 60 rows are diff")
    assert err.count("\n") == 1
    assert out.startswith("No difference was found (p = 1).")


UNEXPECTED = {  # errors that happen to the package, and are not said by it
    "index": lambda: [][7],
    "numpy": lambda: np.concatenate([]),
    "type": lambda: None + 1,
    "bins": lambda: np.histogram_bin_edges(1.7e9 + np.arange(3) * 2.0**-22, 30),
}


def break_test(monkeypatch, happens):
    monkeypatch.setattr(twosample, "kpw_test", lambda *a, **k: happens())


@pytest.mark.parametrize("name", UNEXPECTED)
def test_an_unexpected_error_is_no_answer(here, capsys, monkeypatch, name):
    "It has ended with exit code 1, which says that the samples differ"
    break_test(monkeypatch, UNEXPECTED[name])
    words = ["test", "x.csv", "y.csv", "--fail-on-difference", "--report", "r.html"]
    code, out, err = run(capsys, *words)
    assert (code, out, err.count("\n")) == (3, "", 1)
    assert err.startswith("kpw-nb: unexpected error: ")
    says = "; run again with --debug for the traceback, and please report it\n"
    assert err.endswith(says)
    assert not (here / "r.html").exists()
    code, out, err = run(capsys, *words, "--debug")
    assert (code, out) == (3, "") and "Traceback" in err and says in err


def test_an_unexpected_error_in_a_process(here):
    "As a script sees it"
    code = (
        "import sys; from kpw_nb.show import cli, testing; "
        "testing._test_facts = None; "
        "sys.exit(cli.main())"
    )
    done = in_a_process(code, "test", "x.npy", "y.npy", *FAST)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("kpw-nb: unexpected error: TypeError")


def test_what_the_library_refuses_is_bad_input(here, capsys, monkeypatch):
    from kpw_nb.ground.core import check_number

    break_test(monkeypatch, lambda: check_number(-1, "n_resamples", 1))
    code, out, err = run(capsys, "test", "x.csv", "y.csv")
    assert (code, out) == (2, "") and "n_resamples must be at least 1" in err


def test_interrupted(here, capsys, monkeypatch):
    whole = twosample.kpw_test

    def partial(*args, **kw):
        return dataclasses.replace(whole(*args, **kw), partial=True)

    monkeypatch.setattr(twosample, "kpw_test", partial)
    words = ["test", "x.csv", "y.csv", *FAST, "--json", "--report", "r.html"]
    code, out, err = run(capsys, *words)
    assert code == 130 and json.loads(out)["interrupted"] and err.count("\n") == 1
    assert not (here / "r.html").exists()

    def stop():
        raise KeyboardInterrupt

    break_test(monkeypatch, stop)
    code, out, err = run(capsys, "test", "x.csv", "y.csv", "--report", "r.html")
    assert (code, out) == (130, "") and err.startswith("kpw-nb: ")
    assert not (here / "r.html").exists()


# ---------------------------------------------------------------- whole or not at all


def test_a_report_that_cannot_be_finished_leaves_the_old_one(here, capsys, monkeypatch):
    (here / "r.html").write_text("old")
    replace = os.replace

    def full(old, new):
        if str(old).endswith(".part"):
            raise OSError(28, "No space left on device")
        return replace(old, new)

    monkeypatch.setattr(cli.os, "replace", full)
    code, out, err = run(capsys, "test", "x.csv", "y.csv", *FAST, "--report", "r.html")
    assert (code, out) == (2, "") and "No space left" in err and err.count("\n") == 1
    assert (here / "r.html").read_text() == "old" and not list(here.glob(".*"))


WRITES = {
    "report": "test x.csv y.csv --n-resamples 19 --json --report",
    "trace": "detect x.csv --window 4 --n-resamples 19 --json --out",
}


@pytest.mark.parametrize("words", WRITES.values(), ids=WRITES)
def test_nothing_is_written_if_the_answer_cannot_be_printed(
    here, capsys, monkeypatch, words
):
    "The file has been written before the JSON was made"

    def fail(*args, **kw):
        raise RuntimeError("not today")

    monkeypatch.setattr(terminal.json, "dumps", fail)
    (here / "out.html").write_text("old")
    code, out, err = run(capsys, *words.split(), "out.html")
    assert (code, out) == (3, "") and "not today" in err
    assert (here / "out.html").read_text() == "old"


def test_infinities_become_null(here, capsys, monkeypatch):
    "JSON has none: the command has ended in an error after it wrote the report"
    whole = twosample.kpw_test

    def endless(*args, **kw):
        return dataclasses.replace(whole(*args, **kw), seconds=dict(test=np.inf))

    monkeypatch.setattr(twosample, "kpw_test", endless)
    facts = facts_of(capsys, "test", "x.csv", "y.csv", *FAST)
    assert facts["seconds"] == dict(test=None)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_full_disk_behind_stdout(here):
    code = (
        "from kpw_nb.show.cli import main; raise SystemExit(main(['test', '--help']))"
    )
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env={k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"},
        )
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "No space left" in done.stderr


# ---------------------------------------------------------------- bad input


def broken(here):
    "Files that are wrong in one way each"
    g = np.random.default_rng(0)
    noise = bytes(g.integers(0, 256, 3000, dtype=np.uint8))
    text = {
        "empty.csv": "",
        "blank.csv": "\n\n",
        "header.csv": "height,weight,age\n",
        "one.csv": "height,weight,age\n1,2,3\n",
        "text.csv": "height,weight,age\n1,2,x\n3,4,y\n5,6,z\n",
        "narrow.csv": "height,weight\n1,2\n3,4\n",
        "other.csv": "height,weight,size\n1,2,3\n3,4,5\n",
        "gap.csv": "height,weight,age\n1,2,3\n1,,3\n",
        "inf.csv": "height,weight,age\n1,2,3\n1,inf,3\n",
        "ragged.csv": "height,weight,age\n1,2,3\n1,2,3,4\n",
        "long.csv": "height,weight,age\n1,2,3,4\n1,2,3,4\n",
        "mixed.csv": "1,a\n2,b\n",
        "twice.csv": "a,a\n1,2\n3,4\n",
        "flat.csv": "height,weight,age\n1,2,3\n1,2,3\n",
        "label1.csv": "v,g\n1,a\n2,a\n",
        "label3.csv": "v,g\n1,a\n2,b\n3,c\n4,a\n",
        "labelgap.csv": "v,g\n1,a\n2,\n3,b\n4,b\n",
        "label_few.csv": "v,g\n1,a\n2,b\n3,b\n",
        "dates.csv": "d,v\n2020-01-01,1\n2020-01-02,2\n",
        "comma.csv": 'a,b\n"1,5",2\n"3,5",4\n',
        "spaces.csv": "a b c\n1 2 3\n4 5 6\n",
        "units.csv": "a,b\nkg,m\n1,2\n3,4\n",
        "data.xyz": "1,2\n",
        "noext": "1,2\n",
    }
    for name, content in text.items():
        (here / name).write_text(content)
    for name in (
        "noise.csv",
        "noise.npy",
        "noise.npz",
        "noise.parquet",
        "empty_not.npz",
    ):
        (here / name).write_bytes(noise)
    claim = (
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 3), }".ljust(
            117
        )
        + "\n"
    )
    (here / "claim.npy").write_bytes(
        b"\x93NUMPY\x01\x00v\x00" + claim.encode() + bytes(48)
    )
    (here / "latin.csv").write_bytes("größe,b\n1,2\n3,4\n".encode("latin-1"))
    (here / "utf16.csv").write_text("a,b\n1,2\n3,4\n", encoding="utf-16")
    (here / "cut.npy").write_bytes((here / "x.npy").read_bytes()[:-40])
    (here / "cut.npz").write_bytes((here / "x.npz").read_bytes()[:-40])
    (here / "zip.npy").write_bytes((here / "x.npz").read_bytes())
    (here / "plain.npz").write_bytes((here / "x.npy").read_bytes())
    np.save(
        "object.npy", np.array([[1, "a"], [2, None]], dtype=object), allow_pickle=True
    )
    np.savez(
        "object.npz",
        X=np.array([[1, None]], dtype=object),
        Y=np.ones((2, 2)),
        allow_pickle=True,
    )
    np.save("cube.npy", np.ones((3, 3, 3)))
    np.save("scalar.npy", np.float64(1))
    np.save("complex.npy", np.ones((3, 3)) * 1j)
    np.save("words.npy", np.array([["a", "b", "c"]] * 3))
    np.save("nan.npy", np.array([[1.0, 2, 3], [1, np.nan, 3]]))
    np.save("fields.npy", np.zeros(3, dtype=[("a", float)]))
    np.save("norows.npy", np.ones((0, 3)))
    np.save("nocols.npy", np.ones((3, 0)))
    np.savez("three.npz", a=np.ones((2, 2)), b=np.ones((2, 2)), c=np.ones((2, 2)))
    np.savez("widths.npz", X=np.ones((2, 2)), Y=np.ones((2, 3)))
    np.savez("nothing.npz")
    (here / "folder.csv").mkdir()
    (here / "file").write_text("")


BAD = {  # words of the command: what the line must say
    "test nowhere.csv y.csv": "nowhere.csv does not exist; check the name",
    "test x.csv nowhere/y.csv": "nowhere/y.csv does not exist",
    "test folder.csv y.csv": "is a folder without a table in it; give a file",
    "test x.csv": "--label COLUMN",
    "test x.npy": "add the file of the second sample",
    "test empty.csv y.csv": "empty.csv is empty",
    "test blank.csv y.csv": "no rows",
    "test header.csv y.csv": "no rows",
    "test one.csv y.csv": "one row",
    "test text.csv y.csv": "'age' is a category in text.csv but a number in y.csv",
    "test labelled.csv y.csv": "'group' only in labelled.csv; choose common ones",
    "test dates.csv y.csv": "'d', 'v' only in dates.csv and 'height', 'wei",
    "test x.csv narrow.csv": "'age' only in x.csv; choose common ones with --columns",
    "test x.csv other.csv": "'age' only in x.csv and 'size' only in other.csv",
    "test x.npy narrow.csv": "3 features but narrow.csv has 2",
    "test gap.csv y.csv": "'weight' (1 in gap.csv), first in row 2 of gap.csv; use",
    "test inf.csv y.csv": "infinity value(s), the first in row 2, column 'weight'",
    "test nan.npy y.npy": "column 2 (1 in nan.npy), first in row 2 of nan.npy; use",
    "test ragged.csv y.csv": "the same number of fields",
    "test long.csv y.csv": "the same number of fields",
    "test mixed.csv y.csv": "--header yes or --header no",
    "test twice.csv y.csv": "'a' stands twice in the header; rename",
    "test flat.csv flat.csv": "constant",
    "test noise.csv y.csv": "save it again as text",
    "test noise.npy y.npy": "not an npy file, whatever its name says; write it",
    "test noise.npz y.npy": "is not an npz file",
    "test noise.npz": "write it again with numpy.save",
    "test claim.npy y.npy": "write it again with numpy.save",
    "test comma.csv comma.csv": "('1,5' in row 1); write decimals with a point",
    "test spaces.csv spaces.csv": "separate the fields by commas",
    "test units.csv units.csv": "('kg' in column 1); remove the lines without numbers",
    "test x.csv y.csv --header no": "say --header yes if the first line names",
    "test noise.parquet y.csv": "write it again as parquet",
    "test latin.csv y.csv": "UTF-8",
    "test utf16.csv y.csv": "UTF-8",
    "test cut.npy y.npy": "write it again with numpy.save",
    "test cut.npz y.npy": "write it again with numpy.save",
    "test zip.npy y.npy": "write it again with numpy.save",
    "test plain.npz y.npy": "write it again with numpy.save",
    "test object.npy y.npy": "as plain numbers",
    "test object.npz": "as plain numbers",
    "test cube.npy y.npy": "reshape it",
    "test scalar.npy y.npy": "reshape it",
    "test complex.npy y.npy": "convert it",
    "test words.npy y.npy": "convert it",
    "test fields.npy y.npy": "convert it",
    "test norows.npy y.npy": "no rows",
    "test nocols.npy y.npy": "no column",
    "test three.npz y.npy": "save one array in each file",
    "test three.npz": "not arrays X and Y",
    "test nothing.npz": "not arrays X and Y",
    "test widths.npz": "give both the same columns",
    "test data.xyz y.csv": "convert it to csv",
    "test noext y.csv": "convert it to csv",
    "test labelled.csv --label sex": "no column 'sex' for --label; it has height",
    "test label1.csv --label g": "exactly two are needed",
    "test label3.csv --label g": "3 values (a, b, c); exactly two",
    "test labelgap.csv --label g": "empty in row 2; fill it",
    "test label_few.csv --label g": "g = a has 1 row",
    "test x.csv y.csv --label age": "--label is for one file",
    "test x.csv y.csv --columns size": "no column 'size' for --columns",
    "test x.csv y.csv --drop size": "has a column 'size' for --drop",
    "test x.csv y.csv --drop height,weight,age": "no column is left",
    "test x.csv y.csv --alpha 0": "--alpha: give a number between 0 and 1",
    "test x.csv y.csv --alpha 1.5": "such as 0.05",
    "test x.csv y.csv --alpha five": "such as 0.05",
    "test x.csv y.csv --alpha nan": "such as 0.05",
    "test x.csv y.csv --n-resamples 0": "--n-resamples: give a whole number of at",
    "test x.csv y.csv --n-resamples many": "whole number",
    "test x.csv y.csv --n-resamples 99999999999999999999": "at most 10,000,000",
    "detect x.csv --window 5 --n-resamples 99999999999999999999": "at most 100,000",
    "test x.csv y.csv --seed -1": "at least 0",
    "test x.csv y.csv --workers 0": "all cores",
    "test x.csv y.csv --method best": "choose from",
    "test x.csv y.csv --report nowhere/r.html": "nowhere does not exist; make it",
    "test x.csv y.csv --report answer.pdf": "give it a name that ends in .html",
    "test x.csv y.csv --report folder.csv": "give the name of a file",
    "test x.csv y.csv --report ./x.csv": "would overwrite the data",
    "detect x.csv --reference-rows 15 --out x.csv": "would overwrite the data",
    "test x.csv y.csv --report file/r.html": "does not exist; make it first",
    "test x.csv y.csv z.csv": "see kpw-nb",
    "test": "required",
    "": "COMMAND",
    "guess": "choose from",
    "test label_few.csv --label g --json": "g = a has 1 row",
    "test x.csv y.csv --header maybe": "choose from",
    "detect x.csv": "x.csv has 30 rows, too few to take two windows of 100 rows",
    "detect x.csv --window 15": "lower --window, or say what is normal with --ref",
    "test x.csv y.csv --permutations 19": "unrecognized arguments: --permutations",
    "test x.csv y.csv --n-res 19": "unrecognized arguments: --n-res",
    "detect x.csv --reference x.csv --reference-rows 5": "not allowed with",
    "detect x.csv --reference-rows 30": "nothing to watch: x.csv has 30 rows",
    "detect x.csv --reference-rows 20": "fewer than window=100; collect more",
    "detect nowhere.csv --reference-rows 5": "check the name",
    "detect x.csv --reference narrow.csv --window 2": "only in x.csv",
    "detect x.csv --reference-rows 15 --window 1": "at least 2",
    "detect x.csv --window 5 --target 3": "target must be at least 10",
    "detect x.csv --window 5 --calibration fwer --target 2": "target must be",
    "detect x.csv --window 5 --out nowhere/t.csv": "make it first",
    "detect x.csv --window 5 --time when": "no column 'when' for --time",
    "detect x.csv --window 5 --time age --n-resamples 19": "stamps must increase",
    "detect gap.csv --reference-rows 15": "'weight', row 2 is empty or NaN; drop",
    "detect inf.csv": "column 'weight', row 2 is infinite; drop",
    "detect text.csv": "hold numbers ('x' in row 1); leave the column out with --",
    "detect dates.csv": "'d' does not hold numbers ('2020-01-01 00:00:00' in row 1)",
    "detect nan.npy": "column 2, row 2 is empty or NaN; drop or fill",
    "detect x.csv --reference gap.csv": "gap.csv: column 'weight', row 2 is empty",
    "detect text.csv --time age": "hold numbers ('x' in row 1)",
    "reproduce figure7": "no experiment 'figure7'; choose one of gaussian",
    "reproduce gaussian --n-trials 0": "at least 1",
    "reproduce gaussian --store file": "--store file is a file; give a folder",
    "reproduce gaussian --n-trials 99999999999999999999": "at most 1,000,000",
    "demo --out file": "--out file is a file; give a folder",
    "demo --out file/below": "cannot be used (Not a directory); choose another",
}


def test_there_are_enough_cases():
    assert len(BAD) > 80


def state(folder):
    "Every file and when it was written"
    return {p: p.stat().st_mtime_ns for p in folder.rglob("*")}


def test_bad_input(here, capsys):
    "Exit code 2, one line on stderr, nothing on stdout, nothing written"
    broken(here)
    before = state(here)
    wrong = []
    for words, says in BAD.items():
        code, out, err = run(capsys, *shlex.split(words))
        one_line = err.startswith("kpw-nb: ") and err.find("\n") == len(err) - 1
        good = (code, out, one_line) == (2, "", True) and says in err
        if not good or state(here) != before:
            wrong.append(f"{words!r}: code {code}, wanted {says!r}, got {out}{err}")
    assert not wrong, "\n".join(wrong)


BAD_TABLES = bad_tables()


def test_there_are_enough_bad_tables():
    assert len(BAD_TABLES) > 80


def one_good_line(err):
    "One line that says what to do, and shows neither frame nor traceback"
    problem, _, remedy = err.removeprefix("kpw-nb: ").partition("; ")
    assert err.startswith("kpw-nb: ") and err.find("\n") == len(err) - 1, err
    assert problem and remedy.strip() and len(err) < 400, err
    for word in ("Traceback", "dtype", "DataFrame", "NaN  ", "pandas.", "missing='"):
        assert word not in err, err


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_tables(tmp_path, monkeypatch, capsys, name):
    "Refused in a line that names the column or the file, and nothing is written"
    monkeypatch.chdir(tmp_path)
    files, words, says = BAD_TABLES[name]
    for file, content in (dict(files) | {"good.csv": GOOD}).items():
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / file).write_bytes(data)
    before = state(tmp_path)
    code, out, err = run(capsys, *shlex.split(words), "--report", "r.html")
    assert (code, out) == (2, ""), out + err
    one_good_line(err)
    assert says in err
    assert state(tmp_path) == before


def test_object_arrays_are_never_unpickled(here, capsys):
    class Trap:
        def __reduce__(self):
            return open, ("trapped", "w")

    np.save("trap.npy", np.array([Trap()], dtype=object), allow_pickle=True)
    np.savez("trap.npz", np.array([Trap()], dtype=object), allow_pickle=True)
    for name in ("trap.npy", "trap.npz"):
        assert run(capsys, "test", name, "y.npy")[0] == 2
    assert not (here / "trapped").exists()


def test_too_large_for_memory(here, capsys, monkeypatch):
    def small(*_, **__):
        raise MemoryError

    monkeypatch.setattr(np, "load", small)
    code, out, err = run(capsys, "test", "x.npy", "y.npy")
    assert (code, out) == (
        2,
        "",
    ) and "does not fit into memory; choose columns with --columns" in err


def test_unreadable(here, capsys, monkeypatch):
    def no(*_):
        raise PermissionError(13, "Permission denied")

    # root may read everything, so chmod would not do
    monkeypatch.setattr(InputFile, "open", no)
    assert run(capsys, "test", "x.csv", "y.csv") == (
        2,
        "",
        "kpw-nb: x.csv cannot be opened (Permission denied); check its permissions\n",
    )


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="no devices here")
def test_devices_are_not_replaced(here, capsys):
    assert (
        "is a device"
        in run(capsys, "test", "x.csv", "y.csv", "--report", "/dev/null")[2]
        and Path("/dev/null").is_char_device()
    )


def test_parquet_without_pyarrow(here, capsys, monkeypatch):
    (here / "x.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    code, out, err = run(capsys, "test", "x.parquet", "y.csv")
    assert (code, out) == (2, "") and "pip install pyarrow" in err


# ---------------------------------------------------------------- detect


@pytest.fixture
def series(here):
    "A series that becomes five times as wide after row 100, in several files"
    series = np.random.default_rng(2).normal(size=(140, 2))
    series[100:] *= 5
    save_csv(here / "series.csv", series, ["a", "b"])
    save_csv(here / "normal.csv", series[:60, ::-1], ["b", "a"])
    save_csv(here / "later.csv", series[60:], ["a", "b"])
    seconds = np.arange(80) * 0.5
    save_csv(here / "timed.csv", np.c_[series[60:], seconds], ["a", "b", "seconds"])
    return series


OPTIONS = ["--window", 20, "--n-resamples", 19, "--seed", 3]


def test_detect(series, capsys):
    from kpw_nb.watch.detect import KPWDetector

    words = ["detect", "series.csv", "--reference-rows", 60, *OPTIONS, "--json"]
    code, out, err = run(capsys, *words, "--out", "trace.csv", "--fail-on-alarm")
    facts = json.loads(out)
    trace = read_table("trace.csv", drop=["alarm"]).frame
    d = KPWDetector(20, n_resamples=19, rng=3).fit(series[:60]).detect(series[60:])
    assert code == 1 and facts["alarms"] == (d.t[d.alarm] + 61).tolist()
    assert 101 <= facts["alarms"][0] <= 115
    assert np.allclose(trace["statistic"], d.statistic)
    assert trace["row"].iloc[0] == 61


def test_detect_with_workers(series, capsys):
    "They change nothing but the time"
    words = ["detect", "series.csv", "--reference-rows", 60, *OPTIONS]
    assert facts_of(capsys, *words) == facts_of(capsys, *words, "--workers", 2)


def test_detect_with_a_reference_file(series, capsys):
    words = ["detect", "later.csv", "--reference", "normal.csv", *OPTIONS]
    code, out, err = run(capsys, *words)
    first = int(re.match(r"Alarm at row (\d+):", out)[1])
    assert code == 0 and 41 <= first <= 55  # rows of later.csv
    words[1] = "timed.csv"  # time stamps are no feature
    assert run(capsys, *words, "--time", "seconds") == (code, out, err)


def test_detect_without_an_alarm(series, capsys):
    words = ["detect", "normal.csv", "--reference-rows", 40, *OPTIONS]
    code, out, _ = run(capsys, *words, "--fail-on-alarm")
    assert code == 0 and out.startswith("No alarm in 20 rows")


REFERENCES = {"a third": (20, 46), "two windows": (30, 60)}  # window, reference rows


@pytest.mark.parametrize("window, rows", REFERENCES.values(), ids=REFERENCES)
def test_detect_as_the_readme_prints_it(series, capsys, window, rows):
    "`kpw-nb detect series.csv` has been an error"
    words = ["detect", "series.csv", "--window", window, "--n-resamples", 19]
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, "")
    assert f"reference     rows 1 to {rows} (the first third, at least two" in out
    facts = facts_of(capsys, *words)
    said = facts_of(capsys, *words, "--reference-rows", rows)
    assert facts["reference"]["rows"] == said["reference"]["rows"] == rows
    assert facts["alarms"] == said["alarms"]


# ---------------------------------------------------------------- reproduce


def test_reproduce_lists(here, capsys):
    import kpw_nb.study.experiments as module

    code, out, err = run(capsys, "reproduce")
    assert (code, err) == (0, "")
    assert all(f"{name} " in out for name in module.experiments())
    assert out == run(capsys, "reproduce", "mnist", "--list")[1]


def test_reproduce_stops_and_goes_on(here, capsys, monkeypatch):
    import kpw_nb.study.experiments as module

    def stop(*a, **k):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "reproduce", stop)
    words = "reproduce gaussian --quick --n-trials 3 --workers 2 --store kept"
    code, out, err = run(capsys, *words.split())
    assert (code, out, err.count("\n")) == (130, "", 1)
    assert f"kpw-nb {words}" in err
    assert "kept/gaussian.jsonl" in err.replace("\\", "/")


def test_reproduce_without_data(here, capsys, monkeypatch):
    import kpw_nb.study.experiments as module

    def lost(*a, **k):
        raise FileNotFoundError("No MNIST images found.\nSet KPW_DATA.")

    monkeypatch.setattr(module, "reproduce", lost)
    code, _, err = run(capsys, "reproduce", "mnist")
    assert (code, err) == (2, "kpw-nb: No MNIST images found. Set KPW_DATA.\n")


def made_up(experiment, quick):
    "A study of this experiment with power 0.5 everywhere"
    import pandas as pd

    empty = dict.fromkeys(k for row in experiment.grid for k in row)
    figures = dict(power=0.5, low=0.4, high=0.6, n_trials=2)
    rows = [
        dict(test=test) | empty | row | figures
        for row in experiment.grid[:: experiment.thin if quick else 1]
        for test in experiment.tests
    ]
    study = pd.DataFrame(rows)
    study.attrs["title"] = experiment.title
    return study


PRINTED = [  # experiment, in a quick run too?, what is printed
    ("gaussian", True, r"^KPW .*0\.500 \[0\.40, 0\.60\] \| 1\.000.*\| 0\.691"),
    ("gaussian", False, r"^PW .*\| 0\.999.*\| 1\.000.*\| 0\.964"),  # rotated
    ("comparison", False, r"^gaussian, n = 50, D = 20, diag, no difference +0\.50"),
    ("mnist", True, r"^KPW .*\| 0\.663"),
    ("mnist", False, r"^KPW .*\| 0\.061.*\| 0\.047"),
]


@pytest.mark.parametrize("quick", [False, True])
def test_paper_figures_stand_beside_their_settings(here, capsys, monkeypatch, quick):
    import kpw_nb.study.experiments as module

    monkeypatch.setenv("COLUMNS", "400")
    for name, experiment in module.experiments().items():
        study = made_up(experiment, quick)
        monkeypatch.setattr(module, "reproduce", lambda *a, study=study, **k: study)
        code, out, err = run(capsys, "reproduce", name)
        assert (code, err) == (0, "") and out.startswith(experiment.title), out + err
        assert "nan" not in out.lower(), out
        for known, always, says in PRINTED:
            if known == name and (always or not quick):
                assert re.search(says, out, re.M), out


def test_a_real_quick_run_is_kept_and_resumed(here, capsys, monkeypatch):
    import kpw_nb.study.experiments as module
    from kpw_nb.study.rivals import EnergyTest

    grid = tuple(dict(problem="gaussian", n=n, D=2, kind="mean") for n in (10, 12))
    tiny = module.Experiment("A tiny study", dict(E=EnergyTest()), grid, "equal", 3)
    monkeypatch.setattr(module, "experiments", lambda: dict(tiny=tiny))
    words = ["reproduce", "tiny", "--store", "kept"]
    first = run(capsys, *words)
    kept = (here / "kept/tiny.jsonl").read_text()
    assert first[0] == 0 and "n = 10" in first[1]
    assert first[1].startswith("A tiny study: 3 repetitions")
    assert run(capsys, *words) == first
    assert (here / "kept/tiny.jsonl").read_text() == kept


# ---------------------------------------------------------------- the command itself


COMMANDS = ["", "test", "groups", "equivalence", "plan", "detect", "changes", "monitor"]
COMMANDS += ["reproduce", "demo", "bench"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help(capsys, command):
    code, out, err = run(capsys, *command.split(), "--help")
    assert (code, err) == (0, "")
    for says in ("examples:", "exit codes:", "2    bad input", "3    an unexpected"):
        assert says in out
    if command == "test":
        assert "1    done, and the samples differ" in out


@pytest.mark.parametrize("command", COMMANDS[1:])
def test_examples_of_the_help_are_valid(capsys, command):
    "They parse: whatever they name need not exist"
    text = run(capsys, command, "--help")[1]
    text = text.split("examples:")[1].split("exit codes:")[0]
    examples = [re.sub(r"\s{2,}\(.*\)$", "", line) for line in text.splitlines()]
    examples = [line.strip() for line in examples if line.strip()]
    assert examples
    for example in examples:
        args = cli._parser().parse_args(shlex.split(example)[1:])
        assert args.command == command


def test_every_printed_command_is_valid():
    "In README, changelog, site and notebooks, where it is printed in full"
    texts = [ROOT / "README.md", ROOT / "CHANGELOG.md"]
    texts += (ROOT / "nbs").rglob("*.ipynb")
    texts += [p for p in (ROOT / "docs").glob("*.*") if p.is_file()]
    command = re.compile(
        r"`kpw-nb ((?:test|groups|equivalence|plan|detect|changes|reproduce) "
        r"\w[^`.|]*(?:\.\w[^`|]*)?)`"
    )
    found = set()
    for path in texts:
        found |= set(command.findall(path.read_text(encoding="utf-8")))
    found -= {words for words in found if "..." in words}
    assert len(found) > 3
    for words in found:
        cli._parser().parse_args(shlex.split(words))


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"kpw_nb {cli.__version__}\n", "")


def in_a_process(code, *words, **env):
    "Run Python code in a process of its own"
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        env=os.environ | env,
    )


def test_in_a_process_of_its_own(here):
    "Without compiling, to be quick: the numbers are checked above"
    for name in "xy":
        np.save(f"small_{name}.npy", np.load(f"{name}.npy")[:6])
    words = [
        "test",
        "small_x.npy",
        "small_y.npy",
        *FAST,
        "--json",
        "--report",
        "r.html",
    ]
    code = "import sys; from kpw_nb.show.cli import main; sys.exit(main())"
    done = in_a_process(code, *words, NUMBA_DISABLE_JIT="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["method"] == "refit" and (here / "r.html").exists()


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_reader_leaves_early(here):
    read, write = os.pipe()
    os.close(read)
    code = (
        "from kpw_nb.show.cli import main; raise SystemExit(main(['test', '--help']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        env={k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"},
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(os.name != "posix", reason="shells of POSIX")
def test_a_closed_stdout_is_no_difference(here):
    "It has ended with exit code 1, which says that the samples differ"
    code = "from kpw_nb.show.cli import main; raise SystemExit(main())"
    words = [sys.executable, "-c", code, "test", "x.npy", "y.npy"]
    done = subprocess.run(
        shlex.join(words) + " >&-", shell=True, capture_output=True, text=True
    )
    assert done.returncode == 2 and "stdout is closed" in done.stderr


def test_names_that_no_terminal_can_show(here):
    "A header with escapes and a file name that is no UTF-8, on an ASCII terminal"
    (here / "esc.csv").write_text("a\x1b[31mred,b\n1,2\n3,4\n")
    for name in (b"p\xe9.csv", b"q\xe9.csv"):
        os.link(os.fsencode(here / "x.csv"), os.fsencode(here) + b"/" + name)
    code = "from kpw_nb.show.cli import main; raise SystemExit(main())"
    plain = os.environ | dict(PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    for words, says, exit in (
        ([b"esc.csv", b"esc.csv", b"--columns", b"q"], b"a\\x1b[31mred", 2),
        ([b"p\xe9.csv", b"q\xe9.csv", b"--n-resamples", b"19"], b"p\\udce9.csv", 0),
    ):
        command = [sys.executable, "-c", code, "test", *words]
        done = subprocess.run(command, capture_output=True, env=plain)
        said = done.stdout + done.stderr
        assert (done.returncode, b"\x1b" in said) == (exit, False), said
        assert says in said


ALONE = """  # the package's __init__ is replaced by one without imports
import sys, types
package = types.ModuleType('kpw_nb')
package.__path__ = [sys.argv[1]]
package.__version__ = '0'
sys.modules['kpw_nb'] = package
from kpw_nb.show.cli import main
assert main(['test', '--help']) == 0
assert main(['test', 'nowhere.csv', 'y.csv']) == 2
heavy = ('numba', 'scipy', 'sklearn', 'matplotlib', 'pandas', 'pyarrow', 'ot', 'jinja2')
print([name for name in heavy if name in sys.modules])
"""


def test_help_loads_nothing_heavy():
    done = in_a_process(ALONE.strip(), str(Path(cli.__file__).parents[1]))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("[]\n")
    says = "nowhere.csv does not exist; check the name and the folder you are in\n"
    assert done.stderr == f"kpw-nb: {says}"


def test_a_warning_of_a_file_is_a_note(tmp_path, capsys):
    "Mutation: Python's own form, with a path and a line of source"
    rows = ["value,side"] + [f"{k % 7},{'ab'[k % 2]}" for k in range(40)] + ["3,"]
    (tmp_path / "long.csv").write_text("\n".join(rows))
    place = str(tmp_path / "long.csv")
    cli.main(["test", place, "--label", "side", "--missing", "drop"])
    said = capsys.readouterr().err
    assert "kpw-nb: note: " in said and "1 rows without a label" in said
    assert "InputWarning" not in said and ".py" not in said
