"The command line: good files give the library's answer, bad ones one line and exit code 2, and a report can be repeated."
import json
import os
import re
import shlex
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kpw_nb import cli, kpw_test
from kpw_nb.cli import BadInput, main, read_samples, read_table

NAMES = ["height", "weight", "age"]
FAST = ["--permutations", "19"]


def save_csv(path, A, names=NAMES, sep=","):
    np.savetxt(path, A, delimiter=sep, header=sep.join(names or []), comments="", fmt="%.17g")      # no header line if there are no names


@pytest.fixture(scope="module")
def data():
    g = np.random.default_rng(11)
    return g.normal(size=(30, 3)), g.normal(size=(24, 3))*[1, 4, 1]


@pytest.fixture
def here(data, tmp_path, monkeypatch):
    "A folder with good files of every kind, and the current one"
    monkeypatch.chdir(tmp_path)
    X, Y = data
    for A, name in ((X, "x"), (Y, "y")):
        save_csv(tmp_path/f"{name}.csv", A)
        save_csv(tmp_path/f"{name}.tsv", A, sep="\t")
        save_csv(tmp_path/f"{name}_bare.csv", A, names=None)
        np.save(f"{name}.npy", A)
        np.savez(f"{name}.npz", A)
    np.savez("both.npz", X=X, Y=Y)
    rows = ["height,weight,age,group"] + [",".join(f"{v:.17g}" for v in r) + "," + g for A, g in ((X, "a"), (Y, "b")) for r in A]
    (tmp_path/"labelled.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def run(capsys, *words):
    capsys.readouterr()
    code = main([str(w) for w in words])
    said = capsys.readouterr()
    return code, said.out, said.err


# ---------------------------------------------------------------- good input

@pytest.fixture(scope="module")
def expected(data): return kpw_test(*data, n_resamples=19, rng=0)


@pytest.mark.parametrize("words", [["x.csv", "y.csv"], ["x.tsv", "y.tsv"], ["x.npy", "y.npy"], ["x.npz", "y.npz"], ["both.npz"], ["x_bare.csv", "y_bare.csv"], ["x.csv", "y.npy"],
                                   ["labelled.csv", "--label", "group"]], ids=" ".join)
def test_every_format_gives_the_answer_of_the_library(here, capsys, expected, words):
    code, out, err = run(capsys, "test", *words, *FAST, "--json")
    facts = json.loads(out)
    assert (code, err) == (0, "")
    assert (facts["pvalue"], facts["statistic"]) == (expected.pvalue, expected.statistic)
    assert [c["p"] for c in facts["candidates"]] == [c[3] for c in expected.candidates]
    assert facts["X"]["rows"] == 30 and facts["Y"]["rows"] == 24
    difference = expected.where()
    if words[0] != "labelled.csv": assert [r["row"] for r in facts["where"]["rows_Y"]] == (difference.samples_Y[:10] + 1).tolist()
    else: assert [r["row"] for r in facts["where"]["rows_Y"]] == (difference.samples_Y[:10] + 31).tolist()      # rows of the file
    assert facts["where"]["columns"][0]["name"] == ("weight" if "csv" in words[0] and "bare" not in words[0] or "tsv" in words[0] else "column 2")


def test_parquet(here, capsys, data, expected):
    pd = pytest.importorskip("pandas"); pytest.importorskip("pyarrow")
    for A, name in zip(data, "xy"): pd.DataFrame(A, columns=NAMES).to_parquet(f"{name}.parquet")
    code, out, _ = run(capsys, "test", "x.parquet", "y.parquet", *FAST, "--json")
    assert code == 0 and json.loads(out)["pvalue"] == expected.pvalue
    pd.DataFrame(np.vstack(data), columns=NAMES, index=np.arange(54)[::-1]).assign(group=[1]*30 + [2]*24).to_parquet("labelled.parquet")     # an index is no feature
    code, out, _ = run(capsys, "test", "labelled.parquet", "--label", "group", *FAST, "--json")
    assert code == 0 and json.loads(out)["pvalue"] == expected.pvalue and json.loads(out)["X"]["name"] == "group = 1"


def test_columns_are_matched_by_name(here, capsys, data, expected):
    save_csv(here/"turned.csv", data[1][:, ::-1], NAMES[::-1])
    assert json.loads(run(capsys, "test", "x.csv", "turned.csv", *FAST, "--json")[1])["pvalue"] == expected.pvalue
    some = kpw_test(data[0][:, [2, 1]], data[1][:, [2, 1]], n_resamples=19, rng=0)
    for words in (["--columns", "age,weight"], ["--columns", "age", "--columns", "weight"]):
        facts = json.loads(run(capsys, "test", "x.csv", "y.csv", *words, *FAST, "--json")[1])
        assert (facts["statistic"], facts["settings"]["columns"]) == (some.statistic, ["age", "weight"])
    assert json.loads(run(capsys, "test", "x_bare.csv", "y_bare.csv", "--drop", "1,3", *FAST, "--json")[1])["settings"]["columns"] == ["column 2"]


def test_text_forms(here):
    (here/"semicolon.csv").write_text("\ufeffa; b\n1;2\n\n3;4\n", encoding="utf-8")                 # BOM, spaces, a blank line
    t = read_table(here/"semicolon.csv")
    assert t.columns == ("a", "b") and t.values.tolist() == [[1, 2], [3, 4]]
    (here/"years.csv").write_text("2019,2020\n1,2\n3,4\n")
    assert len(read_table("years.csv").values) == 3 and len(read_table("years.csv", header="yes").values) == 2
    (here/"pandas.csv").write_text(",a\n0,1\n1,2\n")
    with pytest.raises(BadInput, match="--drop unnamed1"): read_table("pandas.csv")
    assert read_table("pandas.csv", drop=["unnamed1"]).columns == ("a",)
    (here/"comma.csv").write_text('"a,b",c\n1,2\n3,4\n')
    assert read_table("comma.csv", columns=["a,b"]).values.tolist() == [[1], [3]]
    np.save("line.npy", np.arange(5))
    assert read_table("line.npy").values.shape == (5, 1)
    (here/"bare.csv").write_text("1,2,a\n3,4,b\n")
    assert read_table("bare.csv", header="no", label="3").labels.tolist() == ["a", "b"]
    (here/"gaps.csv").write_text("v,g\n1,a\n2,NA\n3,b\n")
    with pytest.raises(BadInput, match="'g' is empty in row 2"): read_table("gaps.csv", label="g")
    np.save("labelled.npy", [[1., 0], [2, 1], [3, 0], [4, 1]])
    assert read_samples("labelled.npy", label="2").Y.tolist() == [[2], [4]]
    (here/"codes.csv").write_text("g,v\n01,1\n1,2\n01,3\n1,4\n")
    assert read_samples("codes.csv", label="g").names == ("g = 01", "g = 1")                        # labels are texts, not numbers


def test_many_chunks(here, monkeypatch):
    monkeypatch.setattr(cli, "_ROWS", 7)
    assert np.array_equal(read_table("x.csv").values, np.load("x.npy"))
    (here/"late.csv").write_text("a,b\n" + "1,2\n"*20 + "1,oops\n")
    with pytest.raises(BadInput, match="'oops' in row 21.*--drop b"): read_table("late.csv")
    (here/"gap.csv").write_text("a,b\n" + "1,2\n"*20 + "1,\n")
    with pytest.raises(BadInput, match="'b', row 21 is empty"): read_table("gap.csv")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)]*2), min_size=2, max_size=9), st.booleans())
def test_csv_round_trip(tmp_path, rows, header):
    path = tmp_path/"t.csv"
    path.write_text(("a,b\n" if header else "") + "".join(f"{a!r},{b!r}\n" for a, b in rows))
    t = read_table(path)
    assert t.named == header and np.array_equal(t.values, rows)


def test_split_reports_rows_of_the_file(here, capsys, data):
    code, out, _ = run(capsys, "test", "x.csv", "y.csv", "--method", "split", *FAST, "--seed", "5", "--json")
    facts, res = json.loads(out), kpw_test(*data, method="split", n_resamples=19, rng=5)
    assert facts["pvalue"] == res.pvalue and facts["method"] == "split"
    best = res.samples[0][res.where().samples_X[0]]
    assert np.array_equal(data[0][facts["where"]["rows_X"][0]["row"] - 1], best)


def test_exit_code_of_a_difference(here, capsys, data):
    assert run(capsys, "test", "x.csv", "y.csv", *FAST, "--fail-on-difference")[0] == 1
    assert run(capsys, "test", "x.csv", "y.csv", *FAST)[0] == 0
    code, out, err = run(capsys, "test", "x.csv", "x.csv", *FAST, "--fail-on-difference")          # the same file twice is fine
    assert code == 0 and out.startswith("No difference was found (p = 1,") and err == ""


def test_notes_and_progress_go_to_stderr(here, capsys):
    code, out, err = run(capsys, "test", "x.csv", "y.csv", "--permutations", "9", "--json")
    assert code == 0 and json.loads(out) and err.startswith("kpw-nb: note: 9 permutations can never reach p = 0.05; use at least 19") and err.count("\n") == 1
    assert run(capsys, "test", "x.csv", "y.csv", "--permutations", "9", "--alpha", "0.2")[2] == ""
    code, out, err = run(capsys, "test", "x.csv", "y.csv", *FAST, "--json", "--progress")
    assert json.loads(out) and "permutations" in err


def test_interrupted(here, capsys, monkeypatch):
    import dataclasses

    import kpw_nb.twosample as module
    whole = module.kpw_test
    monkeypatch.setattr(module, "kpw_test", lambda *a, **k: dataclasses.replace(whole(*a, **k), partial=True))
    code, out, err = run(capsys, "test", "x.csv", "y.csv", *FAST, "--json", "--report", "r.html")
    assert code == 130 and json.loads(out)["interrupted"] and err.count("\n") == 1 and not (here/"r.html").exists()
    def stop(*a, **k): raise KeyboardInterrupt
    monkeypatch.setattr(module, "kpw_test", stop)
    code, out, err = run(capsys, "test", "x.csv", "y.csv", "--report", "r.html")
    assert (code, out) == (130, "") and err.startswith("kpw-nb: ") and not (here/"r.html").exists()


# ---------------------------------------------------------------- the report

class Page(HTMLParser):
    "Tags must close in order; collects resources, the command and the text"
    VOID = {"meta", "img", "br"}
    def __init__(self, text):
        super().__init__()
        self.open, self.resources, self.images, self.text = [], [], 0, []
        self.feed(text); self.close()
        assert not self.open, self.open
    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.resources += [v for k, v in attrs.items() if k in ("src", "href", "srcset", "data", "action")]
        if tag == "img": self.images += 1; assert attrs["alt"]
        assert tag not in ("script", "link", "iframe", "object")
        if tag not in self.VOID: self.open.append(tag)
    def handle_endtag(self, tag): assert self.open.pop() == tag
    def handle_data(self, data):
        if "style" not in self.open: self.text.append(data)


def test_report(here, capsys, expected):
    code, out, err = run(capsys, "test", "x.csv", "y.csv", *FAST, "--seed", "0", "--report", "r.html", "--json")
    facts, text = json.loads(out), (here/"r.html").read_text(encoding="utf-8")
    page = Page(text)
    said = "".join(page.text)
    assert (code, err) == (0, "") and not re.search(r"https?://|url\(|@import", text)
    assert page.images == 5 and all(r.startswith("data:image/png;base64,") for r in page.resources)
    for words in (facts["answer"], "--seed 0", "weight", f"Install kpw_nb {cli.__version__}", *(f["sha256"] for f in facts["files"]), *facts["versions"].values(), *(c["name"] for c in facts["candidates"])):
        assert words in said, words
    command = shlex.split(unescape(re.search(r"<pre id=command>(.*?)</pre>", text, re.S)[1]))
    assert command[0] == "kpw-nb"
    assert json.loads(run(capsys, *command[1:], "--json")[1])["pvalue"] == facts["pvalue"] == expected.pvalue
    assert [p.name for p in here.iterdir() if p.name.endswith(".part")] == []


def test_report_escapes_what_it_shows(here, capsys, data):
    names = ["<b>mass</b>", "a & $b$", "weight\u00a0$"]
    for A, name in zip(data, ("<i>x & 'y'.csv", "space y.csv")): save_csv(here/name, A, names)
    code, out, _ = run(capsys, "test", "<i>x & 'y'.csv", "space y.csv", *FAST, "--report", "r.html")
    text = (here/"r.html").read_text(encoding="utf-8")
    assert code == 0 and "<i>" not in text and "<b>mass" not in text and "<b>mass</b>" in "".join(Page(text).text)
    command = shlex.split(unescape(re.search(r"<pre id=command>(.*?)</pre>", text, re.S)[1]))
    assert command[2:4] == ["<i>x & 'y'.csv", "space y.csv"] and run(capsys, *command[1:])[0] == 0


def test_report_of_no_difference_one_column_and_label(here, capsys):
    code, _, _ = run(capsys, "test", "x.csv", "x.csv", "--columns", "age", *FAST, "--report", "r.html")
    page = Page((here/"r.html").read_text(encoding="utf-8"))
    assert code == 0 and "may be noise" in "".join(page.text) and page.images == 3
    assert run(capsys, "test", "labelled.csv", "--label", "group", *FAST, "--report", "r.html")[0] == 0       # an old report is replaced
    assert "group = a" in "".join(Page((here/"r.html").read_text(encoding="utf-8")).text)


def test_a_report_that_cannot_be_finished_leaves_the_old_one(here, capsys, monkeypatch):
    (here/"r.html").write_text("old")
    replace = os.replace
    def full(old, new):
        if str(old).endswith(".part"): raise OSError(28, "No space left on device")
        return replace(old, new)
    monkeypatch.setattr(cli.os, "replace", full)
    code, out, err = run(capsys, "test", "x.csv", "y.csv", *FAST, "--report", "r.html")
    assert (code, out) == (2, "") and "No space left" in err and err.count("\n") == 1
    assert (here/"r.html").read_text() == "old" and not list(here.glob(".*"))


# ---------------------------------------------------------------- bad input

def broken(here):
    "Files that are wrong in one way each"
    g = np.random.default_rng(0)
    noise = bytes(g.integers(0, 256, 3000, dtype=np.uint8))
    text = {"empty.csv": "", "blank.csv": "\n\n", "header.csv": "height,weight,age\n", "one.csv": "height,weight,age\n1,2,3\n", "text.csv": "height,weight,age\n1,2,x\n3,4,y\n5,6,z\n",
            "narrow.csv": "height,weight\n1,2\n3,4\n", "other.csv": "height,weight,size\n1,2,3\n3,4,5\n", "gap.csv": "height,weight,age\n1,2,3\n1,,3\n", "inf.csv": "height,weight,age\n1,2,3\n1,inf,3\n",
            "ragged.csv": "height,weight,age\n1,2,3\n1,2,3,4\n", "long.csv": "height,weight,age\n1,2,3,4\n1,2,3,4\n", "mixed.csv": "1,a\n2,b\n", "twice.csv": "a,a\n1,2\n3,4\n", "flat.csv": "height,weight,age\n1,2,3\n1,2,3\n",
            "label1.csv": "v,g\n1,a\n2,a\n", "label3.csv": "v,g\n1,a\n2,b\n3,c\n4,a\n", "labelgap.csv": "v,g\n1,a\n2,\n3,b\n4,b\n", "label_few.csv": "v,g\n1,a\n2,b\n3,b\n", "dates.csv": "d,v\n2020-01-01,1\n2020-01-02,2\n", "comma.csv": "a;b\n1,5;2\n3,5;4\n", "spaces.csv": "a b c\n1 2 3\n4 5 6\n", "units.csv": "a,b\nkg,m\n1,2\n3,4\n", "data.xyz": "1,2\n", "noext": "1,2\n"}
    for name, content in text.items(): (here/name).write_text(content)
    for name in ("noise.csv", "noise.npy", "noise.npz", "noise.parquet", "empty_not.npz"): (here/name).write_bytes(noise)
    claim = "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 3), }".ljust(117) + "\n"
    (here/"claim.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00" + claim.encode() + bytes(48))
    (here/"latin.csv").write_bytes("größe,b\n1,2\n3,4\n".encode("latin-1"))
    (here/"utf16.csv").write_text("a,b\n1,2\n3,4\n", encoding="utf-16")
    (here/"cut.npy").write_bytes((here/"x.npy").read_bytes()[:-40]); (here/"cut.npz").write_bytes((here/"x.npz").read_bytes()[:-40])
    (here/"zip.npy").write_bytes((here/"x.npz").read_bytes()); (here/"plain.npz").write_bytes((here/"x.npy").read_bytes())
    np.save("object.npy", np.array([[1, "a"], [2, None]], dtype=object), allow_pickle=True)
    np.savez("object.npz", X=np.array([[1, None]], dtype=object), Y=np.ones((2, 2)), allow_pickle=True)
    np.save("cube.npy", np.ones((3, 3, 3))); np.save("scalar.npy", np.float64(1)); np.save("complex.npy", np.ones((3, 3))*1j); np.save("words.npy", np.array([["a", "b", "c"]]*3))
    np.save("nan.npy", np.array([[1., 2, 3], [1, np.nan, 3]])); np.save("fields.npy", np.zeros(3, dtype=[("a", float)])); np.save("norows.npy", np.ones((0, 3))); np.save("nocols.npy", np.ones((3, 0)))
    np.savez("three.npz", a=np.ones((2, 2)), b=np.ones((2, 2)), c=np.ones((2, 2))); np.savez("widths.npz", X=np.ones((2, 2)), Y=np.ones((2, 3))); np.savez("nothing.npz")
    (here/"folder.csv").mkdir(); (here/"file").write_text("")


BAD = {  # words of the command: what the line must say
    "test nowhere.csv y.csv": "nowhere.csv does not exist; check the name", "test x.csv nowhere/y.csv": "nowhere/y.csv does not exist", "test folder.csv y.csv": "is a folder; give a file",
    "test x.csv": "--label COLUMN", "test x.npy": "add the file of the second sample", "test empty.csv y.csv": "empty.csv is empty", "test blank.csv y.csv": "no rows", "test header.csv y.csv": "no rows",
    "test one.csv y.csv": "one row", "test text.csv y.csv": "'age' does not hold numbers ('x' in row 1); leave out with --drop age", "test labelled.csv y.csv": "--drop group", "test dates.csv y.csv": "--drop d",
    "test x.csv narrow.csv": "age only in x.csv; choose common ones with --columns", "test x.csv other.csv": "age only in x.csv, size only in other.csv", "test x.npy narrow.csv": "3 columns but narrow.csv has 2",
    "test gap.csv y.csv": "column 'weight', row 2 is empty or NaN; drop or fill", "test inf.csv y.csv": "column 'weight', row 2 is infinite; drop", "test nan.npy y.npy": "column '2', row 2 is empty or NaN",
    "test ragged.csv y.csv": "the same number of fields", "test long.csv y.csv": "the same number of fields", "test mixed.csv y.csv": "--header yes or --header no", "test twice.csv y.csv": "'a' stands twice in the header; rename",
    "test flat.csv flat.csv": "constant", "test noise.csv y.csv": "save it again as text", "test noise.npy y.npy": "noise.npy is not an npy file, whatever its name says; write it again with numpy.save", "test noise.npz y.npy": "is not an npz file",
    "test noise.npz": "write it again with numpy.save", "test claim.npy y.npy": "write it again with numpy.save", "test comma.csv comma.csv": "('1,5' in row 1); write decimals with a point", "test spaces.csv spaces.csv": "separate the fields by commas",
    "test units.csv units.csv": "('kg' in row 1); remove the lines without numbers", "test x.csv y.csv --header no": "say --header yes if the first line names the columns", "test noise.parquet y.csv": "write it again as parquet", "test latin.csv y.csv": "UTF-8", "test utf16.csv y.csv": "UTF-8", "test cut.npy y.npy": "write it again with numpy.save",
    "test cut.npz y.npy": "write it again with numpy.save", "test zip.npy y.npy": "write it again with numpy.save", "test plain.npz y.npy": "write it again with numpy.save", "test object.npy y.npy": "as plain numbers",
    "test object.npz": "as plain numbers", "test cube.npy y.npy": "reshape it", "test scalar.npy y.npy": "reshape it", "test complex.npy y.npy": "convert it", "test words.npy y.npy": "convert it", "test fields.npy y.npy": "convert it",
    "test norows.npy y.npy": "no rows", "test nocols.npy y.npy": "no column", "test three.npz y.npy": "save one array in each file", "test three.npz": "not arrays X and Y", "test nothing.npz": "not arrays X and Y",
    "test widths.npz": "give both the same columns", "test data.xyz y.csv": "convert it to csv", "test noext y.csv": "convert it to csv", "test labelled.csv --label sex": "no column 'sex' for --label; it has height, weight, age, group",
    "test label1.csv --label g": "exactly two are needed", "test label3.csv --label g": "3 values (a, b, c); exactly two", "test labelgap.csv --label g": "empty in row 2; fill it", "test label_few.csv --label g": "g = a has 1 row",
    "test x.csv y.csv --label age": "--label is for one file", "test x.csv y.csv --columns size": "no column 'size' for --columns", "test x.csv y.csv --drop size": "no column 'size' for --drop",
    "test x.csv y.csv --drop height,weight,age": "no column is left", "test x.csv y.csv --alpha 0": "--alpha: give a number between 0 and 1", "test x.csv y.csv --alpha 1.5": "such as 0.05", "test x.csv y.csv --alpha five": "such as 0.05",
    "test x.csv y.csv --alpha nan": "such as 0.05", "test x.csv y.csv --permutations 0": "--permutations: give a whole number of at least 1", "test x.csv y.csv --permutations many": "whole number", "test x.csv y.csv --permutations 99999999999999999999": "at most 10,000,000", "detect x.csv --reference-rows 15 --window 5 --resamples 99999999999999999999": "at most 100,000", "test x.csv y.csv --seed -1": "at least 0",
    "test x.csv y.csv --workers 0": "all cores", "test x.csv y.csv --method best": "choose from", "test x.csv y.csv --report nowhere/r.html": "the folder nowhere does not exist; make it first",
    "test x.csv y.csv --report answer.pdf": "give it a name that ends in .html", "test x.csv y.csv --report folder.csv": "give the name of a file", "test x.csv y.csv --report ./x.csv": "would overwrite the data", "detect x.csv --reference-rows 15 --out x.csv": "would overwrite the data", "test x.csv y.csv --report file/r.html": "does not exist; make it first", "test x.csv y.csv z.csv": "see kpw-nb", "test": "required", "": "COMMAND", "guess": "choose from",
    "test label_few.csv --label g --json": "g = a has 1 row", "test x.csv y.csv --header maybe": "choose from",
    "detect x.csv": "--reference-rows is required", "detect x.csv --reference x.csv --reference-rows 5": "not allowed with", "detect x.csv --reference-rows 30": "leaves nothing to watch: x.csv has 30 rows; give a smaller",
    "detect x.csv --reference-rows 20": "fewer than window=100; collect more, or lower window", "detect nowhere.csv --reference-rows 5": "check the name", "detect x.csv --reference narrow.csv --window 2": "only in x.csv",
    "detect x.csv --reference-rows 15 --window 1": "at least 2", "detect x.csv --reference-rows 15 --window 5 --target 3": "target must be at least 10", "detect x.csv --reference-rows 15 --window 5 --calibration fwer --target 2": "target must be",
    "detect x.csv --reference-rows 15 --window 5 --out nowhere/t.csv": "make it first", "detect x.csv --reference-rows 15 --window 5 --time when": "no column 'when' for --time",
    "detect x.csv --reference-rows 15 --window 5 --time age --resamples 19": "time stamps must increase", "detect gap.csv --reference-rows 15": "row 2 is empty",
    "reproduce figure7": "no experiment 'figure7'; choose one of gaussian", "reproduce gaussian --trials 0": "at least 1", "reproduce gaussian --store file": "--store file is a file; give a folder", "reproduce gaussian --trials 99999999999999999999": "at most 1,000,000",
    "demo --out file": "--out file is a file; give a folder", "demo --out file/below": "--out file/below cannot be used (Not a directory); choose another folder"}


def test_there_are_enough_cases(): assert len(BAD) > 80


def test_bad_input(here, capsys):
    "Each case: exit code 2, one line on stderr, nothing on stdout, nothing written"
    broken(here)
    before, wrong = {p: p.stat().st_mtime_ns for p in here.rglob("*")}, []
    for words, says in BAD.items():
        code, out, err = run(capsys, *shlex.split(words))
        after = {p: p.stat().st_mtime_ns for p in here.rglob("*")}
        good = code == 2 and out == "" and err.startswith("kpw-nb: ") and err.count("\n") == 1 and err.endswith("\n") and says in err and "Traceback" not in err and after == before
        if not good: wrong.append(f"{words!r}: code {code}, wanted {says!r}\n   out {out!r}\n   err {err!r}\n   new {after.keys() - before.keys()}")
    assert not wrong, "\n".join(wrong)


def test_object_arrays_are_never_unpickled(here, capsys):
    class Trap:
        def __reduce__(self): return open, ("trapped", "w")
    np.save("trap.npy", np.array([Trap()], dtype=object), allow_pickle=True)
    np.savez("trap.npz", np.array([Trap()], dtype=object), allow_pickle=True)
    for name in ("trap.npy", "trap.npz"): assert run(capsys, "test", name, "y.npy")[0] == 2
    assert not (here/"trapped").exists()


def test_too_large_for_memory(here, capsys, monkeypatch):
    def small(*_, **__): raise MemoryError
    monkeypatch.setattr(cli.np, "load", small)
    code, out, err = run(capsys, "test", "x.npy", "y.npy")
    assert (code, out) == (2, "") and "does not fit into memory; choose columns with --columns" in err


def test_unreadable(here, capsys, monkeypatch):
    def no(*_): raise PermissionError(13, "Permission denied")
    monkeypatch.setattr(Path, "open", no)            # root may read everything, so chmod would not do
    assert run(capsys, "test", "x.csv", "y.csv") == (2, "", "kpw-nb: x.csv cannot be opened (Permission denied); check its permissions\n")


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="no devices here")
def test_devices_are_not_replaced(here, capsys):
    assert "is a device" in run(capsys, "test", "x.csv", "y.csv", "--report", "/dev/null")[2] and Path("/dev/null").is_char_device()


def test_parquet_without_pyarrow(here, capsys, monkeypatch):
    (here/"x.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None); monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    code, out, err = run(capsys, "test", "x.parquet", "y.csv")
    assert (code, out) == (2, "") and "pip install pyarrow" in err


# ---------------------------------------------------------------- the other commands

def test_detect(here, capsys):
    from kpw_nb.changepoint import KPWDetector
    series = np.random.default_rng(2).normal(size=(140, 2)); series[100:] *= 5
    save_csv(here/"series.csv", series, ["a", "b"]); save_csv(here/"normal.csv", series[:60, ::-1], ["b", "a"]); save_csv(here/"later.csv", series[60:], ["a", "b"])
    options = ["--window", 20, "--resamples", 19, "--seed", 3]
    code, out, err = run(capsys, "detect", "series.csv", "--reference-rows", 60, *options, "--json", "--out", "trace.csv", "--fail-on-alarm")
    facts, trace = json.loads(out), read_table("trace.csv", drop=["alarm"])
    d = KPWDetector(20, n_resamples=19, rng=3).fit(series[:60]).detect(series[60:])
    assert code == 1 and facts["alarms"] == (d.t[d.alarm] + 61).tolist() and 101 <= facts["alarms"][0] <= 115
    assert np.allclose(trace.values[:, trace.columns.index("statistic")], d.statistic) and trace.values[0, 0] == 61
    code, out, err = run(capsys, "detect", "later.csv", "--reference", "normal.csv", *options)
    assert code == 0 and out.startswith(f"Alarm at row {facts['alarms'][0] - 60}:")
    save_csv(here/"timed.csv", np.c_[series[60:], np.arange(80)*0.5], ["a", "b", "seconds"])           # time stamps are no feature
    assert run(capsys, "detect", "timed.csv", "--reference", "normal.csv", "--time", "seconds", *options) == (code, out, err)
    code, out, _ = run(capsys, "detect", "normal.csv", "--reference-rows", 40, *options, "--fail-on-alarm")
    assert code == 0 and out.startswith("No alarm in 20 rows")


def test_reproduce(here, capsys, monkeypatch):
    import kpw_nb.experiments as module
    code, out, err = run(capsys, "reproduce")
    assert (code, err) == (0, "") and all(out.count(f"{name} ") for name in module.experiments()) and out == run(capsys, "reproduce", "mnist", "--list")[1]
    def stop(*a, **k): raise KeyboardInterrupt
    monkeypatch.setattr(module, "reproduce", stop)
    code, out, err = run(capsys, "reproduce", "gaussian", "--quick", "--workers", "2", "--store", "kept")
    assert (code, out) == (130, "") and err.count("\n") == 1 and "kpw-nb reproduce gaussian --quick --workers 2 --store kept" in err and "kept/gaussian.jsonl" in err.replace("\\", "/")
    def lost(*a, **k): raise FileNotFoundError("No MNIST images found.\nSet KPW_DATA.")
    monkeypatch.setattr(module, "reproduce", lost)
    assert run(capsys, "reproduce", "mnist")[::2] == (2, "kpw-nb: No MNIST images found. Set KPW_DATA.\n")


@pytest.mark.parametrize("quick", [False, True])
def test_paper_figures_stand_beside_their_settings(here, capsys, monkeypatch, quick):
    "With a made-up study: power 0.5 everywhere"
    import pandas as pd

    import kpw_nb.experiments as module
    monkeypatch.setenv("COLUMNS", "400")
    for name, e in module.experiments().items():
        columns = dict.fromkeys(k for row in e.grid for k in row)
        rows = [dict(test=t) | dict.fromkeys(columns) | row | dict(power=.5, low=.4, high=.6, n_trials=2) for row in e.grid[::e.thin if quick else 1] for t in e.tests]
        study = pd.DataFrame(rows); study.attrs["title"] = e.title
        monkeypatch.setattr(module, "reproduce", lambda *a, study=study, **k: study)
        code, out, err = run(capsys, "reproduce", name)
        assert (code, err) == (0, "") and out.startswith(e.title) and "nan" not in out.lower(), out + err
        if name == "gaussian":
            assert re.search(r"^KPW .*0\.500 \[0\.40, 0\.60\] \| 1\.000.*\| 0\.691", out, re.M)        # D = 4 and D = 128
            assert quick or re.search(r"^PW .*\| 0\.999.*\| 1\.000.*\| 0\.964", out, re.M)                # the rotated panel
        if name == "comparison" and not quick: assert re.search(r"^gaussian, n = 50, D = 20, diag, no difference +0\.50", out, re.M)
        if name == "mnist": assert re.search(r"^KPW .*\| 0\.663", out, re.M)
        if name == "mnist" and not quick: assert re.search(r"^KPW .*\| 0\.061.*\| 0\.047", out, re.M)


def test_a_real_quick_run_is_kept_and_resumed(here, capsys, monkeypatch):
    import kpw_nb.experiments as module
    from kpw_nb.baselines import EnergyTest
    tiny = {"tiny": module.Experiment("A tiny study", {"Energy": EnergyTest()}, (dict(problem="gaussian", n=10, D=2, kind="mean"), dict(problem="gaussian", n=12, D=2, kind="mean")), "equal", 3)}
    monkeypatch.setattr(module, "experiments", lambda: tiny)
    first = run(capsys, "reproduce", "tiny", "--store", "kept")
    kept = (here/"kept/tiny.jsonl").read_text()
    assert first[0] == 0 and first[1].startswith("A tiny study: 3 repetitions") and "n = 10" in first[1]
    assert run(capsys, "reproduce", "tiny", "--store", "kept") == first and (here/"kept/tiny.jsonl").read_text() == kept


# ---------------------------------------------------------------- the command itself

@pytest.mark.parametrize("command", [[], ["test"], ["detect"], ["reproduce"], ["demo"], ["bench"]], ids=lambda c: " ".join(c) or "kpw-nb")
def test_help(capsys, command):
    code, out, err = run(capsys, *command, "--help")
    assert (code, err) == (0, "") and "examples:" in out and "exit codes:" in out and "2  bad input" in out
    if command == ["test"]: assert "1  done, and the samples differ" in out


def test_examples_of_the_help_are_valid(capsys, monkeypatch):
    "They parse: whatever they name need not exist"
    for command in ("test", "detect", "reproduce", "demo", "bench"):
        text = run(capsys, command, "--help")[1].split("examples:")[1].split("exit codes:")[0]
        examples = [re.sub(r"\s{2,}\(.*\)$", "", line.strip()) for line in text.strip().splitlines()]
        assert examples
        for e in examples: assert cli._parser().parse_args(shlex.split(e)[1:]).command == command


def test_version(capsys): assert run(capsys, "--version") == (0, f"kpw_nb {cli.__version__}\n", "")


def test_in_a_process_of_its_own(here):
    "Without compiling, to be quick: the numbers are checked above"
    command = [sys.executable, "-c", "import sys; from kpw_nb.cli import main; sys.exit(main())"]
    for name in "xy": np.save(f"small_{name}.npy", np.load(f"{name}.npy")[:6])
    command += ["test", "small_x.npy", "small_y.npy", "--permutations", "19", "--json", "--report", "r.html"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | dict(NUMBA_DISABLE_JIT="1"))
    assert done.returncode == 0 and json.loads(done.stdout)["method"] == "refit" and done.stderr == "" and (here/"r.html").exists()


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_reader_leaves_early(here):
    read, write = os.pipe()
    os.close(read)
    code = "import sys; from kpw_nb.cli import main; sys.exit(main(['test', '--help']))"
    done = subprocess.run([sys.executable, "-c", code], stdout=write, stderr=subprocess.PIPE, text=True, env={k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"})
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_help_loads_nothing_heavy():
    "Of its own: the package's __init__ is replaced by one without imports"
    code = ("import sys, types; p = types.ModuleType('kpw_nb'); p.__path__, p.__version__ = [sys.argv[1]], '0'; sys.modules['kpw_nb'] = p\n"
            "from kpw_nb.cli import main; assert main(['test', '--help']) == 0 and main(['test', 'nowhere.csv', 'y.csv']) == 2\n"
            "print([m for m in ('numba', 'scipy', 'sklearn', 'matplotlib', 'pandas', 'pyarrow', 'ot') if m in sys.modules])")
    done = subprocess.run([sys.executable, "-c", code, str(Path(cli.__file__).parent)], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.endswith("[]\n"), done.stdout + done.stderr
    assert done.stderr == "kpw-nb: nowhere.csv does not exist; check the name and the folder you are in\n"
