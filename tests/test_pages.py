"""The hand-written pages of the site: each has a title and a description, its links
lead somewhere, its code runs and prints what stands below it."""

import ast
import contextlib
import io
import re
from importlib import import_module

import pytest
import yaml
from execute import NBS, ROOT
from test_wheel import settings

PAGES = {p.stem: p for p in sorted((ROOT / "docs" / "pages").glob("*.md"))}
EACH = pytest.mark.parametrize("name", PAGES)
# pages that the generator of the site makes of something else
GENERATED = {"changelog", "contributing", "errata", "ledger", "reports"}
FENCE = re.compile(r"^(`{3,}|:{3,})([\w{}+-]*)[^\n]*\n(.*?)^\1\s*$", re.M | re.S)


def text(name):
    return PAGES[name].read_text(encoding="utf-8")


def front_matter(name):
    "(what the block at the top says, the page below it)"
    _, front, body = text(name).split("---\n", 2)
    return yaml.safe_load(front), body


def blocks(name):
    "(language, source) of each fenced block, in the order of the page"
    return [(kind, body) for _, kind, body in FENCE.findall(text(name))]


def slug(heading):
    "The anchor that MyST gives a heading"
    plain = re.sub(r"[^\w\- ]", "", heading.lower().replace("`", ""))
    return plain.strip().replace(" ", "-")


def anchors(body):
    return {slug(h) for h in re.findall(r"^#+ (.*)$", FENCE.sub("", body), re.M)}


def notebook_anchors(path):
    cells = yaml.safe_load(path.read_text(encoding="utf-8"))["cells"]
    words = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
    return anchors("\n".join(words))


def test_the_pages_that_people_look_for_are_there():
    wanted = {"install", "cite", "when_not", "glossary", "questions"}
    assert wanted <= set(PAGES)


@EACH
def test_a_page_has_a_title_and_a_description(name):
    front, body = front_matter(name)
    description = front["myst"]["html_meta"]["description"]
    # search engines show about this much
    assert 50 <= len(description) <= 200 and description.endswith(".")
    headings = re.findall(r"^(#+) ", FENCE.sub("", body), re.M)
    assert body.startswith("# ") and headings.count("#") == 1
    steps = zip(headings, headings[1:])
    assert all(len(after) <= len(before) + 1 for before, after in steps)


@EACH
def test_links_lead_somewhere(name):
    body = re.sub(r"`[^`\n]*`", "", text(name))
    for target in re.findall(r"\]\(([^)\s]+)\)", body):
        if target.startswith("https://"):
            continue
        page, _, anchor = target.partition("#")
        if not page:
            found = anchors(text(name))
        elif page.endswith(".ipynb"):
            assert (NBS / page).is_file(), target
            found = notebook_anchors(NBS / page) if anchor else ()
        elif page.startswith("reference/"):
            module, _, symbol = page.removeprefix("reference/").rpartition(".")
            assert hasattr(import_module(module), symbol), target
            found = ()
        else:
            stem = page.removesuffix(".md")
            assert stem in PAGES or stem in GENERATED, target
            found = anchors(text(stem)) if stem in PAGES else ()
        assert not anchor or anchor in found, target


@pytest.mark.parametrize(
    "name", [n for n in PAGES if any(kind == "python" for kind, _ in blocks(n))]
)
def test_code_runs_and_prints_what_the_page_says(name, tmp_path, monkeypatch):
    "In one namespace, from top to bottom; a block of text below is what was printed"
    monkeypatch.chdir(tmp_path)
    space, printed = {}, None
    for kind, source in blocks(name):
        if kind == "text" and printed is not None:
            assert source == printed
        printed = None
        if kind == "python":
            assert max(map(len, source.splitlines())) <= 88
            ast.parse(source)
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(source, f"{name}.md", "exec"), space)
            printed = out.getvalue()


def test_what_is_printed_stands_on_the_page():
    "A block that prints is followed by its output"
    for name in PAGES:
        found = blocks(name)
        kinds = [*(kind for kind, _ in found[1:]), None]
        for (kind, source), after in zip(found, kinds):
            if kind == "python" and "print(" in source and name != "cite":
                assert after == "text", (name, source)


def glossary():
    "{term: definition}"
    (source,) = (body for kind, body in blocks("glossary") if kind == "{glossary}")
    entries = re.findall(r"^(\S.*)\n((?:[ \t]+\S.*\n?)+)", source, re.M)
    assert len(entries) == len(re.findall(r"^\S", source, re.M))
    return entries


def test_the_glossary_is_sorted_and_says_each_term_once():
    terms = [term for term, _ in glossary()]
    assert len(terms) >= 40
    keys = [term.casefold() for term in terms]
    assert len(set(keys)) == len(keys)
    assert keys == sorted(keys)


def test_every_term_is_explained_in_short_and_leads_to_a_page():
    for term, words in glossary():
        assert 40 <= len(words) <= 450, term
        assert ".ipynb" in words, term


def test_citations_agree():
    "The package's and the paper's: CITATION.cff and the page"
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    entries = [body for kind, body in blocks("cite") if kind == "bibtex"]
    paper, package = (
        dict(re.findall(r"^\s*(\w+)\s*=\s*\{(.*?)\},?$", e, re.M | re.S))
        for e in entries
    )

    def plain(value):
        return re.sub(r"\s+", " ", re.sub(r"[{}\\]", "", value))

    assert cff["cff-version"] == "1.2.0"
    assert cff["version"] == package["version"] == settings()["version"]
    assert f"kpw_nb {cff['version']}," in text("questions")  # a sentence to copy
    assert cff["title"] == plain(package["title"])
    assert [a["name"] for a in cff["authors"]] == [plain(package["author"])]
    assert cff["authors"][0]["name"] == settings()["author"]
    assert cff["license"] == package["license"]
    theirs = cff["preferred-citation"]
    assert theirs["title"] == plain(paper["title"])
    names = [f"{a['family-names']}, {a['given-names']}" for a in theirs["authors"]]
    assert names == paper["author"].split(" and ")
    assert theirs["collection-title"] == plain(paper["booktitle"])
    assert (theirs["year"], theirs["volume"]) == (2022, 151)
    assert f"{theirs['start']}--{theirs['end']}" == paper["pages"]
    assert (paper["year"], paper["volume"]) == ("2022", "151")


def test_the_changelog_begins_with_this_version():
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    if headings[0] == "Unreleased":  # what came after this version
        del headings[0]
    assert headings[0] == settings()["version"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", heading) for heading in headings)


def test_extras_on_the_page_are_those_there_are():
    listed = re.findall(r"^\| `(\w+)` \|", text("install"), re.M)
    there = [k.removesuffix("_requirements") for k in settings() if "_require" in k]
    assert sorted(listed) == sorted(there)
