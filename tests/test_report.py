"The answer page: it needs nothing else, escapes what it shows, and can be repeated."

import json
import pickle
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from tables import FAST, run, save_csv, two_samples, write_tables

from kpw_nb import KPWTest, __version__, kpw_test
from kpw_nb.show import report
from kpw_nb.ground.files import read_samples
from kpw_nb.compare import twosample
from kpw_nb.show.report import report_page

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def here(tmp_path, monkeypatch):
    "A folder with good files of every kind, and the current one"
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path)
    return tmp_path


class Page(HTMLParser):
    "Tags must close in order; collects resources, pictures and the text"

    VOID = {"meta", "img", "br"}

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.resources = []
        self.images = 0
        self.text = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        from_elsewhere = ("src", "href", "srcset", "data", "action")
        self.resources += [v for k, v in attrs.items() if k in from_elsewhere]
        if tag == "img":
            self.images += 1
            assert attrs["alt"]
        assert tag not in ("script", "link", "iframe", "object")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)

    @property
    def said(self):
        return "".join(self.text)


def read_page(path):
    return Page(Path(path).read_text(encoding="utf-8"))


def command_of(text):
    "The words of the command on the page"
    return shlex.split(
        unescape(re.search(r'<pre id="command">(.*?)</pre>', text, re.S)[1])
    )


def test_report(here, capsys):
    words = ["test", "x.csv", "y.csv", *FAST, "--seed", "0", "--report", "r.html"]
    code, out, err = run(capsys, *words, "--json")
    facts = json.loads(out)
    text = (here / "r.html").read_text(encoding="utf-8")
    page = Page(text)
    assert (code, err) == (0, "")
    assert not re.search(r"https?://|url\(|@import", text)
    assert page.images == 5
    assert all(r.startswith("data:image/png;base64,") for r in page.resources)
    for says in (
        facts["answer"],
        "--seed 0",
        "weight",
        f"Install kpw_nb {__version__}",
        *(f["sha256"] for f in facts["files"]),
        *facts["versions"].values(),
        *(c["name"] for c in facts["candidates"]),
    ):
        assert says in page.said, says
    assert [p.name for p in here.iterdir() if p.name.endswith(".part")] == []


def test_report_can_be_repeated(here, capsys):
    run(capsys, "test", "x.csv", "y.csv", *FAST, "--report", "r.html")
    text = (here / "r.html").read_text(encoding="utf-8")
    command = command_of(text)
    assert command[0] == "kpw-nb"
    again = json.loads(run(capsys, *command[1:], "--json")[1])
    X, Y = two_samples()
    assert again["pvalue"] == kpw_test(X, Y, n_resamples=19, rng=0).pvalue
    python = unescape(re.search(r'<pre id="python">(.*?)</pre>', text, re.S)[1])
    result = eval(python, dict(kpw_test=kpw_test, X=X, Y=Y))
    assert result.pvalue == again["pvalue"]


def test_report_escapes_what_it_shows(here, capsys):
    names = ["<b>mass</b>", "a & $b$", "weight\u00a0$"]
    files = ["<i>x & 'y'.csv", "space y.csv"]
    for A, name in zip(two_samples(), files):
        save_csv(here / name, A, names)
    code, out, _ = run(capsys, "test", *files, *FAST, "--report", "r.html")
    text = (here / "r.html").read_text(encoding="utf-8")
    assert code == 0 and "<i>" not in text and "<b>mass" not in text
    assert "<b>mass</b>" in Page(text).said
    command = command_of(text)
    assert command[2:4] == files and run(capsys, *command[1:])[0] == 0


def test_report_of_no_difference(here, capsys):
    words = ["test", "x.csv", "x.csv", "--columns", "age", *FAST]
    assert run(capsys, *words, "--report", "r.html")[0] == 0
    page = read_page("r.html")
    assert "may be noise" in page.said and page.images == 3


def test_an_old_report_is_replaced(here, capsys):
    (here / "r.html").write_text("old")
    words = ["test", "labelled.csv", "--label", "group", *FAST]
    assert run(capsys, *words, "--report", "r.html")[0] == 0
    assert "group = a" in read_page("r.html").said


ODD = {  # a column that is hard to draw
    "stamps": lambda g, n: 1.7e9 + g.integers(0, 3, n) * 2.0**-22,
    "close": lambda g, n: 1.7e9 + g.random(n) * 1e-5,
    "far": lambda g, n: np.r_[g.random(n // 2), 1.7e18 * g.random(n - n // 2)],
    "constant": lambda g, n: np.full(n, 1.7e9),
    "huge": lambda g, n: 1e150 * g.normal(size=n),
    "tiny": lambda g, n: 1e-300 * g.normal(size=n),
}


@pytest.mark.parametrize("name", ODD)
def test_columns_that_are_hard_to_draw(here, capsys, name):
    "Time stamps with less spread than thirty bins have ended in 'Too many bins'"
    g = np.random.default_rng(0)
    for letter, n in (("x", 30), ("y", 40)):
        A = np.c_[ODD[name](g, n), g.normal(size=n)]
        save_csv(here / f"odd_{letter}.csv", A, ["odd", "plain"])
    words = ["test", "odd_x.csv", "odd_y.csv", *FAST, "--report", "r.html"]
    code, _, err = run(capsys, *words)
    assert (code, "unexpected" in err) == (0, False), err
    assert read_page("r.html").images == (3 if name == "constant" else 4)


def test_the_leading_rows_are_shown_with_their_values(here):
    s = read_samples("x.csv", "y.csv")
    result = kpw_test(s.X, s.Y, n_resamples=19, rng=0)
    facts = result.facts(names=s.names)
    rows = (r for r in facts["where"]["rows"] if r["stands_out"])
    first = next(r for r in rows if r["sample"] == "Y")
    value = s.Y.loc[first["row"], first["unusual"]]
    rows = table_of(report_page(result, facts=facts), "Rows of Y (y.csv)")
    told = [str(first["row"]), f"{first['cost']:.4g}", first["unusual"]]
    why = f"beyond {100 * first['beyond']:.0f} % of X"
    assert rows[1] == [*told, f"{value:.4g}", why]


# Tables as people have them


def people(seed, n=40, weight=70.0):
    "Every kind of column, in large units, with gaps"
    g = np.random.default_rng(seed)
    start = pd.Timestamp("2024-03-01")
    table = dict(
        grams=1e3 * (weight + 5 * g.normal(size=n)),
        city=g.choice(["Bern", "<u>Lima</u>", "Oslo"], n),
        born=start + pd.to_timedelta(g.integers(0, 60, n), "D"),
        smokes=g.random(n) < 0.4,
        ran=pd.to_timedelta(g.integers(900, 4000, n), "s"),
    )
    frame = pd.DataFrame(table, index=[f"<em>{seed}/{k}</em>" for k in range(n)])
    frame.loc[frame.index[1::4], ["city", "born", "ran"]] = None
    return frame


@pytest.fixture(scope="module")
def tested():
    "(X, Y, result): Y is 20 kilograms heavier"
    X, Y = people(1), people(2, 36, 90.0)
    return X, Y, kpw_test(X, Y, missing="indicator", n_resamples=39, rng=0)


def table_of(page, start):
    "Rows of cells, as texts, of the first table behind a text of the page"
    part = page[page.index(start) :] if start else page
    part = part[: part.index("</table>")]
    cells = re.compile(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", re.S)
    plain = [
        [unescape(re.sub("<[^>]+>", " ", c)).strip() for c in cells.findall(row)]
        for row in re.findall(r"<tr>(.*?)</tr>", part, re.S)
    ]
    return [row for row in plain if row]


def test_columns_are_those_of_where(tested):
    """Mutation: the page asks `where` with relabellings of its own, sorts or rounds."""
    X, Y, result = tested
    expected = result.where().columns
    columns = result.facts()["where"]["columns"]
    for name in ("column", "pvalue", "effect", "kind"):
        assert [c[name] for c in columns] == expected[name].tolist()
    single = expected[expected["kind"] != "pair"]
    shown = table_of(result.report(), "Where they differ")[1:]
    assert [row[0] for row in shown] == single["column"].tolist()
    assert [row[1] for row in shown] == [f"{p:.3g}" for p in single["pvalue"]]
    assert [row[2] for row in shown] == single["effect"].tolist()


def test_facts_survive_json(tested):
    """Mutation: NaN, NaT, dates or numpy's numbers are left as they are."""
    _, _, result = tested
    facts = result.facts()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert {e["kind"] for e in facts["encoding"]} == {
        "number",
        "category",
        "date",
        "boolean",
        "duration",
    }
    assert facts["encoding"][0].keys() == {"column", "kind", "description"}
    keys = {"column", "pvalue", "effect", "share", "chance", "kind"}
    assert all(c.keys() == keys for c in facts["where"]["columns"])
    keys = {"sample", "row", "cost", "unusual", "value", "stands_out", "beyond"}
    assert all(r.keys() == keys for r in facts["where"]["rows"])
    A = np.random.default_rng(1).normal(size=(100, 2))
    B = np.c_[A[:, 0], A[:, 0] + 0.1 * A[:, 1]]
    facts = kpw_test(A, B, n_resamples=39, rng=0).facts()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    pair = next(c for c in facts["where"]["columns"] if c["kind"] == "pair")
    assert pair["column"] == "columns 0 × 1" and pair["share"] is None


def test_rows_have_the_values_of_the_table(tested):
    """Mutation: a row's value is that of its encoded point, or of another row."""
    X, Y, result = tested
    for r in result.facts()["where"]["rows"]:
        own = dict(X=X, Y=Y)[r["sample"]].loc[r["row"], r["unusual"]]
        if r["unusual"] == "born" and own is not pd.NaT:
            own = str(own.date())
        if r["unusual"] == "ran" and own is not pd.NaT:
            own = own.total_seconds()
        assert r["value"] == (None if pd.isna(own) else own)


def test_pictures_are_in_the_units_of_the_table(tested, monkeypatch):
    """Mutation: `sample.values`, the encoded points, are drawn."""
    X, Y, result = tested
    drawn = {}

    def note(figure, name, x, y, *more):
        drawn[name] = (x, y)

    monkeypatch.setattr(report, "_draw_numbers", note)
    monkeypatch.setattr(report, "_draw_levels", note)
    report._column_pictures(result, most=99)
    for name in ("grams", "city"):
        for values, table in zip(drawn[name], (X, Y)):
            own = table[name].astype(object).where(table[name].notna(), None)
            assert values.tolist() == own.tolist()
    days = (X["born"] - pd.Timestamp(1970, 1, 1)).dt.days.to_numpy(float)
    np.testing.assert_array_equal(drawn["born"][0], days)
    seconds = X["ran"].dt.total_seconds().to_numpy()
    np.testing.assert_array_equal(drawn["ran (s)"][0], seconds)
    words = {True: "true", False: "false"}
    assert drawn["smokes"][1].tolist() == [words[v] for v in Y["smokes"]]


def test_gaps_are_shown_as_gaps():
    """Mutation: gaps are dropped before the bars are drawn, or drawn as zeros."""
    x, y = np.r_[np.arange(6.0), np.nan, np.nan], np.arange(4.0)
    figure, called = Figure(), ("old", "new")
    report._draw_numbers(figure, "a", x, y, called)
    values, missing = figure.axes
    assert [t.get_text() for t in values.get_legend().get_texts()] == ["old", "new"]
    assert [t.get_text() for t in missing.get_xticklabels()] == ["missing"]
    assert [p.get_height() for p in missing.patches] == [0.25, 0.0]
    assert sum(p.get_height() for p in values.patches) == pytest.approx(1.75)
    figure = Figure()
    levels = np.array(["u", None], object), np.array(["u"])
    report._draw_levels(figure, "a", *levels, called)
    shown = [t.get_text() for t in figure.axes[0].get_yticklabels()]
    assert shown == ["u", "(missing)"]


def test_names_levels_and_labels_are_escaped(tested):
    """Mutation: `| safe` on any text, or a page that is put together by hand."""
    X, Y, result = tested
    evil = {"grams": "<script>alert(1)</script>", "city": "<img src=x> & $"}
    X, Y = X.rename(columns=evil), Y.rename(columns=evil)
    result = kpw_test(X, Y, missing="indicator", n_resamples=19, rng=0)
    facts = result.facts(names=("<b>x", "<b>y")) | dict(command="kpw-nb '<i>'")
    for page in (
        report_page(result, facts=facts),
        report.answer_part(result, facts),
        result._repr_html_(),
    ):
        assert not re.search(r"<(script|u|em|b>x|i>|img src=x)", page)
        said = Page(page).said
        assert evil["grams"] in said and "<u>Lima</u>" in said and "<em>" in said


def test_of_very_many_columns_twenty_are_shown():
    """Mutation: the limit is lifted, or pairs and columns are counted together."""
    g = np.random.default_rng(0)
    X, Y = g.normal(size=(2, 30, 784))
    Y[:, 5] += 4
    result = kpw_test(X, Y, n_resamples=19, rng=0)
    page = result.report()
    rows = table_of(page, "<thead><tr>")[1:]
    assert len(rows) == 20 and rows[0][0] == "column 5"
    assert "and 764 more columns with weaker evidence" in Page(page).said
    assert len(result.facts()["where"]["columns"]) == 784
    assert len(page) < 400_000


def test_columns_are_folded_if_nothing_was_found():
    """Mutation: columns are shown as a finding though p is large."""
    g = np.random.default_rng(3)
    result = kpw_test(*g.normal(size=(2, 30, 3)), n_resamples=39, rng=0)
    assert result.pvalue > 0.05
    for page in (result.report(), result._repr_html_()):
        first = page.index("<table>")
        folded = page.rindex("<details>", 0, first)
        assert "</details>" not in page[folded:first]
        said = " ".join(Page(page).said.split())
        assert "No difference was found, so the columns that lead may be noise" in said
        assert "That does not prove that there is none." in said
        assert "Where they differ" not in said


WAYS = {  # other ways to test, and what they leave
    "refit": dict(),
    "ranks": dict(scale="rank"),
    "as they are": dict(scale=None),
    "standard": dict(scale="std", missing="drop"),
    "split": dict(method="split"),
    "split, W": dict(method="split", statistic="wasserstein"),
    "largest": dict(combine="max"),
    "stream": dict(method="stream"),
}


@pytest.mark.parametrize("name", WAYS)
def test_every_way_has_a_page_that_repeats_it(tested, name):
    """Mutation: the call on the page forgets a setting that is not the default."""
    X, Y, _ = tested
    X, Y = X[["grams", "smokes"]], Y[["grams", "smokes"]]
    result = kpw_test(X, Y, n_resamples=19, rng=4, **WAYS[name])
    page = result.report()
    Page(page)
    python = unescape(re.search(r'<pre id="python">(.*?)</pre>', page, re.S)[1])
    again = eval(python, dict(kpw_test=kpw_test, X=X, Y=Y))
    assert (again.pvalue, again.statistic) == (result.pvalue, result.statistic)


def test_a_stream_tells_how_many_rows_it_kept(tested):
    """Mutation: the number of kept rows is told as the size of the sample."""
    g = np.random.default_rng(0)
    X, Y = g.normal(size=(900, 2)), g.normal(size=(800, 2)) + 1
    result = KPWTest("stream", kept=400).test(X, Y, n_resamples=19, rng=0)
    kept = [len(s) for s in result.samples]
    assert sum(kept) < 1700
    facts = result.facts()
    assert facts["X"]["rows"] == 900 and facts["Y"]["rows"] == 800
    assert facts["rows_kept"] == kept
    said = " ".join(Page(result.report()).said.split())
    assert "X: 900 rows" in said and f"Ranked were {kept[0]} rows of X" in said
    dropped = kpw_test(people(1), people(2), missing="drop", n_resamples=19, rng=0)
    assert dropped.facts()["X"]["rows"] == 40
    assert "10 of X, 10 of Y" in Page(dropped.report()).said


# One answer everywhere


def test_a_notebook_shows_the_short_form(tested):
    """Mutation: a style that reaches the page around it, a picture, a script."""
    X, Y, result = tested
    short = result._repr_html_()
    page = Page(short)
    assert result.facts()["answer"] in page.said
    assert page.images == 0 and not page.resources and len(short) < 30_000
    assert not re.search(r"<(html|body|main|title|h\d)\b| id=", short)
    style = re.search(r"<style>(.*?)</style>", short, re.S)[1]
    rules = re.sub(r"@media[^{]*\{((?:[^{}]*\{[^{}]*\})*)\s*\}", r"\1", style)
    for rule in re.findall(r"([^{}]+)\{", rules):
        assert all(part.strip().startswith(".kpw") for part in rule.split(",")), rule
    shown = table_of(short, "<thead><tr>")[1:]
    assert shown == table_of(result.report(), "Where they differ")[1:7]


def test_a_notebook_does_not_wait_for_columns(monkeypatch):
    """Mutation: `where`, which may take a minute, is asked whatever the size, or of
    any test that has evidence."""
    g = np.random.default_rng(0)
    X, Y = g.normal(size=(1010, 20)), g.normal(size=(1010, 20)) + 0.4
    result = kpw_test(X, Y, n_resamples=19, rng=0)
    assert result.evidence is not None
    monkeypatch.setattr(twosample, "_QUICK", 1000)

    def never(self):
        raise AssertionError("it was asked")

    with monkeypatch.context() as m:
        m.setattr(type(result), "where", never)
        short = Page(result._repr_html_()).said
        assert "the samples differ (p = 0.05" in result.summary()
    assert "The two samples differ (p = 0.05)." in short and "result.where()" in short
    result.where()  # from now on it is known
    assert "column " in Page(result._repr_html_()).said.split("How sure")[0]


def test_what_was_found_is_kept_with_the_result(tested):
    """Mutation: `where` or `effect` is computed at every call, or kept elsewhere."""
    X, Y, result = tested
    other = kpw_test(Y, X, missing="indicator", n_resamples=39, rng=0)
    assert "_difference" not in vars(other)
    assert other.summary() and "_difference" in vars(other)  # so few rows are quick
    kept = vars(other)["_difference"]
    assert other.summary() and vars(other)["_difference"] is kept
    assert other.where() is other.where() and other.where() is not result.where()
    assert other.effect() is other.effect() and other.effect(0.9).confidence == 0.9
    again = pickle.loads(pickle.dumps(other))
    assert "_difference" in vars(again)
    assert again.facts() == other.facts()


def test_a_report_is_written_whole_or_not_at_all(tested, tmp_path, monkeypatch):
    """Mutation: the file is opened before the page is there."""
    X, Y, result = tested
    place = tmp_path / "answer.html"
    assert result.report(str(place)) == place
    assert place.read_text(encoding="utf-8") == result.report()
    for bad, error in {
        "answer.pdf": ValueError,
        "no/answer.html": FileNotFoundError,
    }.items():
        with pytest.raises(error, match="html|make it first"):
            result.report(tmp_path / bad)
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(IsADirectoryError, match="give the name of a file"):
        result.report(tmp_path / "folder.html")

    def breaks(*args):
        raise RuntimeError("no picture today")

    monkeypatch.setattr(report, "_pictures", breaks)
    before = place.read_bytes()
    with pytest.raises(RuntimeError):
        result.report(place)
    assert place.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["answer.html", "folder.html"]


def test_the_command_writes_the_same_page(here, capsys):
    """Mutation: the command has a template, a sentence or pictures of its own."""
    run(capsys, "test", "x.csv", "y.csv", *FAST, "--seed", "0", "--report", "r.html")
    s = read_samples("x.csv", "y.csv")
    result = kpw_test(s.X, s.Y, n_resamples=19, rng=0)
    command, python = (here / "r.html").read_text(encoding="utf-8"), result.report()
    for part in (r"<h1>.*?</h1>", r"<thead>.*?</table>", r'src="data:[^"]*"'):
        found = re.findall(part, command, re.S)
        expected = re.findall(part, python, re.S)
        assert expected and found[: len(expected)] == expected, part


@pytest.mark.parametrize(
    "column, says",
    [
        (dict(column="a", kind="number", pvalue=0.01, effect="e"), "in a: e (p"),
        (dict(column="a × b", kind="pair", pvalue=0.01, effect="go together "
              "differently: r"), "in how a and b go together: r (p"),
        (dict(column="a", kind="number", pvalue=0.2, effect="e"), "no column shows"),
    ],
)  # fmt: skip
def test_the_sentence(column, says):
    """Mutation: a column is named as the place though its own p-value is large."""
    sentence = twosample.answer_sentence(0.005, 0.05, [column])
    assert says in sentence and sentence.startswith("The two samples differ")
    assert (
        "differ"
        not in twosample.answer_sentence(0.2, 0.05, [column]).split("difference")[0]
    )


def test_a_wheel_has_the_template(tmp_path):
    source = tmp_path / "source"
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "kpw_nb", source / "kpw_nb", ignore=ignore)
    for name in ("setup.py", "settings.ini", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps"]
    options = ["--no-build-isolation", "--no-index", "-w", str(tmp_path), str(source)]
    done = subprocess.run(command + options, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert "kpw_nb/show/templates/report.html.j2" in zipfile.ZipFile(wheel).namelist()


def test_the_headline_has_the_p_of_its_column():
    """Mutation: the p-value of the test stands beside a column whose own is larger."""
    g = np.random.default_rng(4)
    X, Y = g.normal(size=(2, 60, 6))
    Y[:, 3] += 0.62
    result = kpw_test(X, Y + 0.15, rng=0)
    facts, page = result.facts(), result.report()
    leading = facts["where"]["columns"][0]
    assert result.pvalue < leading["pvalue"] <= 0.05
    beside = f"(p = {leading['pvalue']:.3g}; overall p = {result.pvalue:.3g})"
    assert leading["column"] in facts["answer"] and beside in facts["answer"]
    for told in (page, result._repr_html_()):
        assert beside in " ".join(Page(told).said.split())


def test_no_row_is_named_that_is_usual_in_its_sample():
    """All of Y has moved: its typical rows are costly, and none of them is told.
    Mutation: the costliest rows are named whatever they are."""
    g = np.random.default_rng(0)
    X, Y = g.uniform(-1, 1, (2, 80, 2))
    moved = kpw_test(X, Y + [9, 0], n_resamples=39, rng=0)
    told = [r for r in moved.facts()["where"]["rows"] if r["stands_out"]]
    told = [r for r in told if r["sample"] == "Y"]
    assert all(r["value"] > 9.4 for r in told if r["unusual"] == "column 0")
    Y[:6] += 7
    apart = kpw_test(X, Y, n_resamples=39, rng=0)
    told = [r for r in apart.facts()["where"]["rows"] if r["stands_out"]]
    assert {r["row"] for r in told if r["sample"] == "Y"} == set(range(6))
    none = kpw_test(X, 0.9 * X, n_resamples=19, rng=0)
    assert not any(r["stands_out"] for r in none.facts()["where"]["rows"])
    assert "none stands out by itself" in str(none.where())


def test_images_are_shown_as_images():
    "Constant pixels and named columns do not matter; other shapes are refused"
    g = np.random.default_rng(0)
    X, Y = g.normal(size=(30, 12)), g.normal(size=(30, 12))
    X[:, 0] = Y[:, 0] = 0.0  # a margin
    Y[:, 5] += 3
    names = [f"pixel {k}" for k in range(12)]
    for sample in ((X, Y), [pd.DataFrame(s, columns=names) for s in (X, Y)]):
        result = kpw_test(*sample, n_resamples=19, rng=0)
        page = result.report(image_shape=(3, 4))
        assert "leading images of both samples" in page
        assert "map of the pixels" in page
        assert "in both samples" not in page  # no histogram of a pixel
    with pytest.raises(ValueError, match="12 features"):
        result.report(image_shape=(3, 5))
