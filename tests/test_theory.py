"""The theory as a book: no chapter longer than one sitting, one table of letters, and
exercises whose solutions run."""

import json
import re

import pytest
from execute import NBS, notebooks

BOOKS = [p for p in notebooks() if p.parent == NBS / "theory"]
MOST_WORDS, MOST_CELLS = 2800, 90
# they teach nothing new: a table, slips, and the code at its limits
NO_EXERCISES = {"00_letters", "21_errata", "22_edges"}
OVERLOADED = (r"\sigma", "L", "G", "W")
each = pytest.mark.parametrize("path", BOOKS, ids=lambda p: p.stem)


def cells(path, kind=None):
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [
        (c["cell_type"], "".join(c["source"]))
        for c in found
        if kind in (None, c["cell_type"])
    ]


def mathematics(text):
    "The formulas of a text"
    return re.findall(r"\$\$.*?\$\$|\$[^$]+\$", text, flags=re.S)


def uses(formula, letter):
    "Does a letter stand in a formula by itself?"
    bare = re.sub(r"\\(mathcal|mathrm|mathbb|mathbf|text)\s*\{[^}]*\}", " ", formula)
    bare = re.sub(r"\\(mathcal|mathbf) ?[A-Z]", " ", bare)
    return re.search(rf"(?<![A-Za-z\\]){re.escape(letter)}(?![A-Za-z])", bare)


def table():
    "{letter: pages} of the overloaded letters, as the page of letters gives them"
    (text,) = [
        t for _, t in cells(NBS / "theory/00_letters.ipynb") if "one meaning" in t
    ]
    rows = re.findall(r"^\| \$(\S+)\$ \| ([^|]+) \| ([^|]+) \|$", text, re.M)
    stem = re.compile(r"\((\w+)\.ipynb\)")
    return {letter: stem.findall(pages) or pages.strip() for letter, _, pages in rows}


@each
def test_a_chapter_is_one_sitting(path):
    "Mutation: a chapter of 2,801 words, or of 91 cells"
    words = sum(len(text.split()) for _, text in cells(path, "markdown"))
    assert words <= MOST_WORDS, f"{words} words"
    assert len(cells(path)) <= MOST_CELLS, f"{len(cells(path))} cells"


@each
def test_letters_are_declared(path):
    """A chapter begins with its letters, and leads to the table. Mutation: a chapter
    without the line."""
    if path.stem == "00_letters":
        return
    start = "\n".join(text for _, text in cells(path, "markdown")[:3])
    assert re.search(r"\*Letters\.?\*", start), "no line of letters"
    assert "[the table](00_letters.ipynb)" in start or "(00_letters.ipynb)" in start


@each
@pytest.mark.parametrize("letter", OVERLOADED)
def test_a_letter_means_one_thing(path, letter):
    """The table says on which pages σ, L, G and W stand; elsewhere they would mean
    something else. Mutation: L for a Cholesky factor."""
    pages = table()[letter]
    if path.stem == "00_letters" or pages == "all":
        return
    text = "\n".join(text for _, text in cells(path, "markdown"))
    found = [f for f in mathematics(text) if uses(f, letter)]
    assert not found or path.stem in pages, found[:3]


@pytest.mark.parametrize(
    "formula, letter, expected",
    [
        (r"$\lVert f\rVert\le L$", "L", True),
        (r"$\mathcal L(\pi)$", "L", False),
        (r"$L_1$", "L", True),
        (r"$\Lambda$", "L", False),
        (r"$\sigma^2$", r"\sigma", True),
        (r"$\varsigma$", r"\sigma", False),
        (r"$\mathcal{KP}W$", "W", True),
    ],
)
def test_letters_are_found(formula, letter, expected):
    assert bool(uses(formula, letter)) == expected


def test_coefficients_are_not_called_as_the_cost_is():
    "W is the transport cost; the coefficients of a projector are Θ"
    for path in BOOKS:
        for _, text in cells(path, "markdown"):
            assert r"{\mathrm T}W" not in text, f"{path.stem}: {text[:80]}"


@each
def test_three_exercises(path):
    """A chapter ends with three exercises, and each has a folded solution that runs and
    asserts. Mutation: a solution without a check."""
    if path.stem in NO_EXERCISES:
        return
    every = cells(path)
    start = [k for k, (_, text) in enumerate(every) if text.startswith("## Exercises")]
    assert len(start) == 1, "no exercises"
    numbered = re.findall(r"^(\d)\. ", every[start[0]][1], re.M)
    assert numbered == ["1", "2", "3"]
    solutions = [text for kind, text in every[start[0] + 1 :] if kind == "code"]
    folded = [text for text in solutions if text.startswith("#| code-fold: true")]
    assert len(folded) >= 3
    for text in folded[:3]:
        assert "print(" in text and ("assert " in text or "test_" in text), text


# what the pages of the experiments say of the paper -----------------------------------

EXPERIMENTS = ("gaussian", "mixture", "mnist", "msrc12", "paper", "sample_complexity")
PAGES = (*(f"experiments/{name}" for name in EXPERIMENTS), "study/01_problems")


def words_of(name):
    path = NBS / f"{name}.ipynb"
    return " ".join(" ".join(t for _, t in cells(path, "markdown")).split())


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_said_of_a_program_that_is_not_shown(name):
    """The paper and its recorded figures are the evidence; what its authors' program
    does is not. Mutation: "comes from a script"."""
    text = words_of(name)
    for word in (
        "script",
        "program",
        "generator draws",
        "ran no iteration",
        "authors'",
    ):
        assert word not in text, word


@pytest.mark.parametrize(
    "name, words",
    [
        ("gaussian", "*KPW* is not the paper's test"),
        ("gaussian", "*KPW cv* is the paper's method"),
        ("mixture", "*KPW* is not the paper's test"),
        ("mixture", "$n=m=200$"),
        ("mnist", "*KPW* is this package's"),
        ("mnist", "*KPW cv* is the paper's method"),
    ],
)
def test_rows_are_called_what_they_are(name, words):
    "Mutation: a table whose row KPW could be taken for the paper's test"
    assert words in words_of(f"experiments/{name}")
