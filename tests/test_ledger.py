"""The ledger is whole: every statement of the paper is proved (or says why not) and
checked, every inequality says how sharp it is, and every erratum has a cell that shows
it. And a ledger that is not whole is noticed."""

import json
from dataclasses import replace

import pytest
from execute import NBS, notebooks
from ledger import Entry, label, parse, printed_slack, problems, statements, take

SECTIONS = {
    "I": {
        "lemma-1": dict(name="Lemma 1", says="", bound=True),
        "definition-1": dict(name="Definition 1", says="", unproved="a definition"),
    }
}


def entry(verb, name, *words, slack=None, **options):
    return Entry(verb, name, words, options, "a.ipynb", "c1", "", slack)


PROOF = entry("proof", "lemma-1", "repaired")
CHECK = entry("check", "lemma-1", "slack", slack=2.0)
STATES = entry("states", "definition-1", "as-printed")
CHECKED = entry("check", "definition-1")
ERRATUM = entry("erratum", "E1", "wrong", "Section I", of="lemma-1")
SHOWS = entry("shows", "E1")
WHOLE = [PROOF, CHECK, STATES, CHECKED, ERRATUM, SHOWS]


@pytest.fixture(scope="module")
def books():
    return {
        p.relative_to(NBS).as_posix(): json.loads(p.read_text(encoding="utf-8"))
        for p in notebooks()
    }


@pytest.fixture(scope="module")
def entries(books):
    return [e for name, nb in books.items() for e in take(nb, name)]


def test_the_ledger_is_whole(entries):
    assert not problems(statements(), entries)


def test_the_list_is_the_papers():
    """As LaTeX numbers them: one counter for each kind, without gaps. Mutation: a
    lemma is left out."""
    items = [name for part in statements().values() for name in part]
    assert len(items) == len(set(items))
    for kind, count in {
        "definition": 5,
        "theorem": 7,
        "proposition": 2,
        "lemma": 12,
        "remark": 5,
        "assumption": 1,
        "algorithm": 2,
        "figure": 7,
        "table": 3,
    }.items():
        numbered = [n for n in items if n.rpartition("-")[0] == kind]
        if kind in ("figure", "table"):  # they stand in the order of the pages
            numbered = sorted(numbered)
        assert numbered == [f"{kind}-{k}" for k in range(1, count + 1)]
    for part in statements().values():
        for item in part.values():
            known = {"name", "says", "bound", "unproved", "printed", "ours", "reason"}
            assert item.keys() <= known
            assert item["name"] and item["says"]


def test_no_directive_is_overlooked(books, entries):
    "What begins like one was read as one, and stood in the first lines of its cell"
    left = [
        f"{name}, cell {cell['id']}: {line}"
        for name, nb in books.items()
        for cell in nb["cells"]
        for line in "".join(cell["source"]).splitlines()
        if line.startswith(("#|", "<!--")) and "ledger" in line
    ]
    assert not left


def test_labels_differ(entries):
    cells = {(e.notebook, e.cell) for e in entries}
    assert len({label(*cell) for cell in cells}) == len(cells) > 100


def test_a_whole_ledger():
    assert problems(SECTIONS, WHOLE) == []


@pytest.mark.parametrize(
    "entries, word",
    [
        ([CHECK, STATES, CHECKED], "lemma-1: no proof"),
        ([entry("states", "lemma-1"), CHECK, STATES, CHECKED], "no proof"),
        ([PROOF, CHECK, CHECKED], "definition-1: no proof"),
        ([PROOF, STATES, CHECKED], "lemma-1: no cell checks it"),
        ([*WHOLE, entry("check", "lemma-9")], "unknown lemma-9"),
        ([*WHOLE, entry("shows", "E2")], "unknown E2"),
        ([*WHOLE, entry("repeats", "lemma-1")], "unknown lemma-1"),
        ([*WHOLE[:4], replace(ERRATUM, options=dict(of="x")), SHOWS], "unknown x"),
        (WHOLE[:-1], "E1: no cell shows it"),
        ([*WHOLE, ERRATUM], "not E1, E2, ..., each once"),
        ([*WHOLE, replace(ERRATUM, name="E3"), entry("shows", "E3")], "each once"),
        ([*WHOLE, entry("proof", "lemma-1", "ambiguous")], "one status is wanted"),
        ([replace(PROOF, words=("agrees",)), *WHOLE[1:]], "only a figure or table"),
        ([replace(PROOF, words=()), *WHOLE[1:]], "one status is wanted"),
        ([replace(PROOF, words=("as-printed",)), *WHOLE[1:]], "not as printed"),
        ([PROOF, replace(CHECK, slack=None), *WHOLE[2:]], "slack is missing"),
        ([PROOF, replace(CHECK, words=()), *WHOLE[2:]], "slack is missing"),
        ([PROOF, replace(CHECK, slack=10.0), *WHOLE[2:]], "no reason why"),
    ],
)
def test_what_is_missing_is_said(entries, word):
    found = problems(SECTIONS, entries)
    assert any(word in line for line in found), found


FIGURE = {
    "V": {
        "figure-1": dict(
            name="", says="", printed="", ours="", reason="", unproved="a measurement"
        )
    }
}
MEASURED = replace(entry("check", "figure-1"), difference="+0.1")


def test_a_figure_wants_its_difference():
    "Mutation: a figure whose cell prints no difference passes"
    told = entry("states", "figure-1", "differs")
    assert not problems(FIGURE, [told, MEASURED])
    (lost,) = problems(FIGURE, [told, replace(MEASURED, difference="")])
    assert "difference is missing" in lost
    item = {"V": {"figure-1": {**FIGURE["V"]["figure-1"]}}}
    item["V"]["figure-1"].pop("reason")
    assert problems(item, [told, MEASURED]) == ["figure-1: it lacks reason"]


def test_nothing_is_open(entries):
    """No statement is left open, and every inequality has its slack. Mutation: a status
    "open", or an item without a slack."""
    assert not any("open" in e.words for e in entries)
    for part in statements().values():
        for name, item in part.items():
            if item.get("bound"):
                assert any(e.name == name and e.slack for e in entries), name


def test_a_large_slack_may_have_a_reason():
    large = replace(CHECK, slack=40.0)
    reason = replace(large, options=dict(why="cited"))
    sharp = replace(CHECK, slack=3.0)
    for checks in ([reason], [large, sharp]):  # or be small elsewhere
        assert not problems(SECTIONS, [PROOF, *checks, *WHOLE[2:]])


@pytest.mark.parametrize(
    "kind, text",
    [
        ("markdown", ""),
        ("markdown", "proof"),
        ("markdown", "prove lemma-1"),
        ("markdown", "proof lemma-1 fine"),
        ("markdown", "proof lemma-1 open"),  # nothing is left open
        ("markdown", "proof lemma-1 as-printed repaired"),
        ("markdown", "states lemma-1 slack"),
        ("markdown", "check lemma-1"),
        ("markdown", 'erratum E1 "Section I"'),
        ("markdown", "erratum E1 slip"),
        ("markdown", 'erratum E1 typo "Section I"'),
        ("markdown", 'erratum one slip "Section I"'),
        ("markdown", 'erratum E1 slip "Section I" for=lemma-1'),
        ("markdown", 'erratum E1 slip "Section I'),
        ("markdown", "repeats E1 slip"),
        ("code", "proof lemma-1"),
        ("code", "check lemma-1 slac"),
        ("code", "check lemma-1 slack because"),
        ("code", "shows E1 E2"),
        ("code", "shows"),
    ],
)
def test_wrong_directives(kind, text):
    with pytest.raises(ValueError):
        parse(text, kind)


def test_right_directives():
    found = parse('erratum E12 gap "Section I, (3)" of=lemma-1,lemma-2', "markdown")
    assert (found.verb, found.name) == ("erratum", "E12")
    assert found.words == ("gap", "Section I, (3)")
    assert found.items == ["lemma-1", "lemma-2"]
    found = parse('check lemma-1 slack why="a = b"', "code")
    assert found.words == ("slack",) and found.options == dict(why="a = b")


def test_a_notebook_is_read():
    "Directives go, the rest of the cell stays; an error names the cell"
    out = dict(
        text=["one\n", "ledger lemma-1: slack 3.5\n", "ledger lemma-1: slack 2\n"]
    )
    code = dict(cell_type="code", id="c2", outputs=[out, dict(data={})])
    code["source"] = ["#| slow\n", "#| ledger: check lemma-1 slack\n", "x = 1"]
    words = dict(cell_type="markdown", id="c1", source="<!-- ledger: repeats E1 -->\nA")
    proof, check = take(dict(cells=[words, code]), "b/c_d.ipynb")
    assert (words["source"], code["source"]) == ("A", "#| slow\nx = 1")
    assert (proof.text, check.slack, check.cell) == ("A", 2.0, "c2")
    assert check.label == "ledger-b-c-d-c2"
    assert printed_slack(code, "lemma-10") is None
    wrong = dict(cell_type="code", id="c3", source="#| ledger: proof lemma-1")
    with pytest.raises(ValueError, match="c_d.ipynb, cell c3: .*proof lemma-1"):
        take(dict(cells=[wrong]), "b/c_d.ipynb")
