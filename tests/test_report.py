"The answer page: it needs nothing else, escapes what it shows, and can be repeated."

import json
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
import pytest
from tables import FAST, NAMES, run, save_csv, two_samples, write_tables

from kpw_nb import __version__, kpw_test
from kpw_nb.files import read_samples
from kpw_nb.report import answer_facts, report_page

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
    assert read_page("r.html").images == 4


def test_the_leading_rows_are_shown_with_their_values(here):
    s = read_samples("x.csv", "y.csv")
    result = kpw_test(s.X, s.Y, n_resamples=19, rng=0)
    facts = answer_facts(result, s.X, s.Y)
    first = next(r for r in facts["where"]["rows"] if r["sample"] == "Y")
    column = facts["where"]["columns"][0]["column"]
    value = s.Y.values[first["row"] - 1, NAMES.index(column)]
    words = " ".join(Page(report_page(result, s.X, s.Y)).said.split())
    rows_of_Y = words[words.index("Rows of Y (y.csv)") :]
    assert re.search(rf" {first['row']} {first['cost']:.4g} ?{value:.4g}", rows_of_Y)


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
    assert "kpw_nb/templates/report.html.j2" in zipfile.ZipFile(wheel).namelist()
