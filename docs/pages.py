"""The pages that no notebook holds: Reference, ledger, errata, changelog, and the
pictures of the landing page."""

import base64
import dataclasses
import inspect
import re
from doctest import DocTestParser
from importlib import import_module
from pprint import pformat
from typing import NamedTuple

import ledger
import yaml
from execnb.nbio import dict2nb, mk_cell
from examples import Example, cells, directives, find_example
from render import TableRenderer, sections, signature


def notebook(*parts):
    "A notebook of Markdown texts and code cells"
    return dict2nb(
        dict(
            cells=[
                p if not isinstance(p, str) else mk_cell(p, "markdown") for p in parts
            ],
            nbformat=4,
            nbformat_minor=5,
            metadata=dict(
                kernelspec=dict(
                    name="python3", display_name="Python 3", language="python"
                ),
                language_info=dict(name="python", pygments_lexer="ipython3"),
            ),
        )
    )


def promise(nb):
    "The line under a notebook's title"
    first = next(c.source for c in nb.cells if c.cell_type == "markdown")
    return " ".join(re.findall(r"^>\s*(.*)$", first, re.M)).strip()


def sentences(text):
    "Plain words of a Markdown text: no formulas, links, markup or code fences"
    text = re.sub(
        r"```.*?```|^:::.*?$|\$\$.*?\$\$|^\|.*?$", " ", text, flags=re.S | re.M
    )
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(
        r"\$([^$]*)\$", lambda m: re.sub(r"\\[a-zA-Z]+\s?|[{}$\\]", "", m[1]), text
    )
    return re.sub(r"\s+", " ", re.sub(r"[*`#>]", "", text)).strip()


def alt_text(source, heading, before, page):
    """What a picture shows, for who cannot see it: `#| fig-alt:`, else the words
    before it, else its title or heading"""
    if given := directives(source).get("fig-alt"):
        return given.strip("\"'")
    told = re.findall(
        r"""(?:set_title|suptitle|title=)\(?\s*f?["']([^"']+)["']""", source
    )
    axes = [
        re.search(rf"""{k}label\s*[=(]\s*[fr]*["']([^"']+)["']""", source) for k in "xy"
    ]
    axes = " against ".join(sentences(a[1]) for a in reversed(axes) if a)
    what = sentences(told[0]) if told and "{" not in told[0] else ""
    words = sentences(re.sub(r"^#+ .*$", "", before, flags=re.M))
    last = re.split(r"(?<=[.!?:])\s+(?=[A-Z])", words)[-1].rstrip(":") if words else ""
    parts = [
        p
        for p in (
            what or heading or page,
            axes and f"Axes: {axes}",
            last if len(last) > 15 else "",
        )
        if p
    ]
    text = re.sub(r"\?\. ", "? ", ". ".join(p.rstrip(".") for p in parts))
    text = re.sub(r'[<>"\[\]{}]', "", text)
    return (
        text if len(text) <= 240 else text[:240].rpartition(" ")[0] + " …"
    ) or "A picture"


def picture(out):
    "The PNG of an output, or None"
    data = out.get("data", {}).get("image/png")
    return base64.b64decode("".join(data)) if data else None


# Reference ----------------------------------------------------------------------------


def methods(cls, lib):
    "A table of the public methods and properties that a class of the package defines"
    fields = (
        {f.name for f in dataclasses.fields(cls)}
        if dataclasses.is_dataclass(cls)
        else set()
    )
    rows = []
    for name, member in vars(cls).items():
        if name.startswith("_") or name in fields:
            continue
        func = (
            member.fget
            if isinstance(member, property)
            else getattr(member, "__func__", member)
        )
        if not inspect.isfunction(func) or not func.__module__.startswith(lib):
            continue
        text = (
            f".{name}"
            if isinstance(member, property)
            else signature(func, "." + name, width=10**6)
        )
        doc = inspect.getdoc(func) or ""
        if not doc and isinstance(
            member, property
        ):  # a docment beside the return type says it
            doc = (
                re.search(r"->[^#\n]*#\s*(.*)", inspect.getsource(func)) or ["", ""]
            )[1]
        text, doc = text.replace("|", r"\|"), doc.split("\n")[0].replace("|", r"\|")
        rows.append(f"| `{text}` | {doc} |")
    return (
        "\n".join(["| Method | What it does |", "| --- | --- |"] + rows) if rows else ""
    )


def constant(name, book):
    "The statement that defines a constant, with its comments, from the notebook"
    for cell in book:
        for s in cell.statements:
            if s.exported and name in s.names[0]:
                return f"```python\n{s.text}\n```"
    return ""


def through(name, module, lib):
    """Functions that return the type, subclasses of it, and functions that call it:
    whose example shows it too"""
    m = import_module(f"{lib}.{module}")
    sym = getattr(import_module(f"{lib}.{module}"), name)
    for other in m.__all__:
        o = getattr(m, other)
        o = getattr(o, "py_func", o)
        if other == name:
            continue
        if inspect.isclass(sym):
            if inspect.isfunction(o) and re.search(
                rf"\b{name}\b", str(inspect.signature(o).return_annotation)
            ):
                yield other, "returned by"
            if inspect.isclass(o) and issubclass(o, sym):
                yield other, "the base of"
            if inspect.isclass(o) and any(
                inspect.isfunction(f)
                and re.search(
                    rf"\b{name}\b", str(inspect.signature(f).return_annotation)
                )
                for f in vars(o).values()
            ):
                yield other, "returned by methods of"
    sources = {
        n: inspect.getsource(o)
        for n, o in ((n, getattr(o, "py_func", o)) for n, o in vars(m).items())
        if (inspect.isfunction(o) or inspect.isclass(o)) and o.__module__ == m.__name__
    }
    seen, called = {name}, [name]
    while called:  # through private functions, too
        this = called.pop(0)
        users = [
            n
            for n, text in sources.items()
            if n not in seen and re.search(rf"\b{this}\b", text)
        ]
        seen, called = seen | set(users), called + users
        yield from ((n, "used by") for n in users if n in m.__all__)


def value(constant):
    "The output of a cell that ends in this constant"
    text = pformat(constant, width=110, compact=True)
    return dict(
        output_type="execute_result",
        execution_count=None,
        metadata={},
        data={"text/plain": text if len(text) < 1500 else text[:1500] + " …"},
    )


def in_docstring(sym):
    "The statements of the section Examples, without prompts and results"
    text = sections(sym).get("Examples", "") if callable(sym) else ""
    return "".join(e.source for e in DocTestParser().get_examples(text))


def example(name, module, page, books, lib, extra):
    """An example of the symbol; of what returns, extends or uses it, if it is never
    named in a cell"""
    home = import_module(f"{lib}.{module}")
    sym = getattr(home, name)
    if code := in_docstring(sym):
        return Example(code, [], "", -1, set(), shown=True)
    if code := extra.get(f"{module}.{name}"):
        return Example(code.strip(), [], "", -1, set())
    if found := find_example(name, page, books, lib):
        return found
    if not callable(sym):
        return Example(
            f"from {lib}.{module} import {name}\n\n{name}", [value(sym)], "", -1, set()
        )
    for other, how in through(name, module, lib):
        found = find_example(other, page, books, lib)
        code = extra.get(f"{module}.{other}") or in_docstring(getattr(home, other))
        if code:
            found = Example(code.strip(), [], "", -1, set())
        if found:
            found.through = f"{how} [`{other}`](#ref.{module}.{other.lower()})"
            return found
    return None


def origin(found, name):
    "The line above an example: where it is from, and what it shows instead"
    text = "\n\n**Example**"
    if found.page:
        text += f" from [{found.page.removesuffix('.ipynb')}](../{found.page})"
    if found.through:
        text += f" ({name} is {found.through})"
    return text + ":"


def cell(found, name):
    "An example as a cell with its outputs"
    made = mk_cell(found.code, "code")
    made.outputs, made["execution_count"] = found.outputs, None
    alt = alt_text("", "", "", f"What the example of {name} draws")
    made.metadata = dict(
        tags=["hide-input"] if found.n_lines > 40 else [],
        mystnb=dict(image=dict(alt=alt)),
    )
    return made


def reference(modules, raw, lib, extra):
    """(pages, examples, symbols without one): a page for each module and one that lists
    them.

    modules: {module: notebook name}; raw: {notebook name: notebook as it is}."""
    book_module = {name: module for module, name in modules.items()}
    books = {
        name: cells(nb, book_module.get(name, ""), lib) for name, nb in raw.items()
    }
    pages = {}
    code = {}
    missing = []
    rows = []
    for module, page in modules.items():
        m = import_module(f"{lib}.{module}")
        if not m.__all__:
            continue  # a module for the others only
        line, parts, linked = promise(raw[page]), [], []
        for name in m.__all__:
            sym, label = getattr(m, name), f"ref.{module}.{name}"
            linked.append(f"[`{name}`](#{label.lower()})")
            if callable(sym):
                text = TableRenderer(sym, name=name, title_level=2)._repr_markdown_()
            else:
                text = f"## {name}\n\n{constant(name, books[page])}"
            if inspect.isclass(sym) and (table := methods(sym, lib)):
                text += f"\n\n{table}"
            found = example(name, module, page, books, lib, extra)
            if found is None:
                missing.append(f"{module}.{name}")
            else:
                code[f"{module}.{name}"] = "# slow\n" * found.slow + found.code
            if found is None or found.shown:
                parts.append(f"({label})=\n{text}")
            else:
                parts += [f"({label})=\n{text}{origin(found, name)}", cell(found, name)]
        derived = f"Derived and tested in [{page.removesuffix('.ipynb')}](../{page})."
        head = f"# {lib}.{module}\n\n*{line}*\n\n{derived}"
        pages[f"reference/{module}.ipynb"] = notebook(head, *parts)
        rows.append(f"| [{module}]({module}.ipynb) | {line} | {', '.join(linked)} |")
    head = (
        "# Reference\n\n*Every public name of the package: its signature, what its "
        "arguments mean, and an example that runs.*\n\n"
        "The names that most people need are at the top: "
        f"`from {lib} import {', '.join(import_module(lib).__all__)}`.\n\n"
    )
    listed = [name.split("/")[1].removesuffix(".ipynb") for name in pages]
    pages["reference/index.ipynb"] = notebook(
        head
        + "\n".join(["| Module | What for | Names |", "| --- | --- | --- |"] + rows),
        "```{toctree}\n:hidden:\n\n" + "\n".join(listed) + "\n```",
    )
    return pages, code, missing


# The ledger ---------------------------------------------------------------------------

ABOUT_LEDGER = """# The ledger

*Every statement of the paper: where it is proved here, which cells check it, how sharp
it is, and whether it holds as it is printed.*

Statements have the numbers of the paper's PDF (the notebooks write Section 3 for III).
The *slack* is the larger side of an inequality over the smaller one, where a cell found
them closest: 1 is sharp. *Repaired* means that the statement or its proof does not hold
as printed, and that a form which does is proved here; the [errata](errata.ipynb) say
what was wrong. *Open*: not proved here as it stands."""
ABOUT_ERRATA = """# Errata of the paper

*Where the printed text of the paper does not hold, as found by running it.*

Each entry is the paragraph of the notebook that says what is wrong. In the cells that
it leads to, the printed form fails and the corrected one holds. A *slip* is a misprint,
a *gap* a step that is missing, *wrong* a claim that fails, an *ambiguity* a text that
can be read in two ways. The [ledger](ledger.ipynb) has every statement."""


def places(entries):
    "Links to the cells of these entries; after the first of a notebook by number"
    found = {}
    for e in entries:
        found.setdefault(e.notebook.removesuffix(".ipynb"), {})[e.label] = None
    links = [
        f"[{name if count == 1 else count}](#{label})"
        for name, labels in found.items()
        for count, label in enumerate(labels, 1)
    ]
    return " ".join(links)


def ledger_row(name, item, entries):
    "The row of one statement"
    mine = [e for e in entries if e.name == name]
    proofs = [e for e in mine if e.verb == "proof"]
    proved = places(proofs)
    if not proofs:
        stated = places(e for e in mine if e.verb == "states")
        proved = f"{item['unproved']}: {stated}"
    checks = [e for e in mine if e.verb == "check"]
    least = min((e.slack for e in checks if e.slack is not None), default=None)
    slack = ["" if least is None else f"{least:.3g}"]
    slack += [e.options["why"] for e in checks if "why" in e.options]
    about = [e for e in ledger.errata(entries) if name in e.items]
    said = [word.replace("-", " ") for word in ledger.status(entries, name)]
    said += [f"[{e.name}](#erratum-{e.name.lower()})" for e in about]
    statement = f"**{item['name']}**: {item['says']}"
    cells = statement, proved, places(checks), ": ".join(slack), ", ".join(said)
    return f"| {' | '.join(cells)} |"


def ledger_page(sections, entries):
    "The table of statements, section by section"
    parts = [ABOUT_LEDGER]
    head = "| Statement | Proved | Checked | Slack | Status |\n" + "| --- " * 5 + "|"
    for section, items in sections.items():
        rows = [ledger_row(name, item, entries) for name, item in items.items()]
        parts.append("\n".join([f"## {section}\n", head, *rows]))
    return notebook(*parts)


def errata_page(entries):
    "The errata in their order, which is the paper's"
    parts = [ABOUT_ERRATA]
    for e in ledger.errata(entries):
        grade, place = e.words
        lines = (line for line in e.text.splitlines() if not line.startswith(":::"))
        shown = [s for s in entries if (s.verb, s.name) == ("shows", e.name)]
        parts.append(
            f"(erratum-{e.name.lower()})=\n## {e.name}. {place} ({grade})\n\n"
            + "\n".join(lines).strip()
            + f"\n\n→ from {places([e])}; shown in {places(shown)}"
        )
    return notebook(*parts)


# The landing page ---------------------------------------------------------------------


class Picture(NamedTuple):
    "A picture of a notebook: its bytes, its cell, and the words before it"

    png: bytes
    source: str
    heading: str
    before: str


def find_picture(entry, nb):
    "The Picture of a gallery entry, None if its notebook draws none"
    shown, heading, before = [], "", ""
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            before = cell.source
            heading = (re.findall(r"^#+ (.*)$", before, re.M) or [heading])[-1]
        elif cell.cell_type == "code":
            for out in cell.get("outputs", []):
                if png := picture(out):
                    shown.append(Picture(png, cell.source, heading, before))
    wanted = [s for s in shown if entry.get("cell", "") in s.source] or shown
    if not wanted:
        return None
    return wanted[0] if entry.get("cell") else wanted[-1]


def cards(entries, raw, folder, columns):
    """A grid of cards, each a picture that leads to its page; the pictures are
    written into the folder"""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for i, entry in enumerate(entries):
        name = entry["notebook"]
        if name not in raw or not (found := find_picture(entry, raw[name])):
            continue
        file = f"{re.sub('[^a-z0-9]+', '-', entry['title'].lower()).strip('-')}.png"
        (folder / file).write_bytes(found.png)
        text = entry.get("text") or promise(raw[name])
        alt = alt_text(found.source, found.heading, found.before, entry["title"])
        options = {
            "link": "/" + name.removesuffix(".ipynb"),
            "img-top": f"{folder.name}/{file}",
            "img-alt": alt,
            "class-card": "picture-card",
        }
        made.append(card(entry["title"], text, options))
    return grid(made, columns, 3) if made else ""


def card(title, text, options):
    "One card of a grid, a link to a page"
    lines = "".join(f":{k}: {v}\n" for k, v in options.items())
    return f":::{{grid-item-card}} {title}\n:link-type: doc\n{lines}\n{text}\n:::"


def grid(made, columns, gutter):
    return (
        f"::::{{grid}} {columns}\n:gutter: {gutter}\n\n" + "\n\n".join(made) + "\n::::"
    )


WAYS = (
    ("Use", "tutorials/", "A test in five minutes, images, streams, big data."),
    ("Learn", "03_kernels", "The method derived, every formula checked in a cell."),
    ("Reproduce", "experiments/", "The paper's tables and figures, run again."),
    ("Reference", "reference/index", "Every name, with an example that runs."),
    (
        "Ledger",
        "ledger",
        "Every statement of the paper: proved, checked, sharp, as printed?",
    ),
    ("Benchmarks", "26_bench", "How fast it is, beside other libraries."),
)


def first(raw, start):
    "The first notebook below a folder; any other page as it is"
    if not start.endswith("/"):
        return start
    return next(n.removesuffix(".ipynb") for n in raw if n.startswith(start))


def landing(nb, raw, here, folder, reports=""):
    """Put the story after the introduction of the index page, then cards of sample
    reports, and the gallery at its end"""
    chosen = yaml.safe_load((here / "gallery.yml").read_text(encoding="utf-8"))
    story = cards(chosen["story"], raw, folder, "1 1 3 3")
    gallery = cards(chosen["gallery"], raw, folder, "1 2 3 3")
    ways = grid(
        [
            card(title, text, {"link": first(raw, start), "class-card": "way-card"})
            for title, start, text in WAYS
        ],
        "2 2 3 3",
        2,
    )
    where = next(
        (
            i
            for i, c in enumerate(nb.cells)
            if c.cell_type == "markdown" and "\n## " in "\n" + c.source
        ),
        len(nb.cells),
    )
    head, found, rest = (
        nb.cells[where].source.partition("## ")
        if where < len(nb.cells)
        else ("", "", "")
    )
    parts = [
        head.strip(),
        ways,
        f"## In one minute\n\n{story}" if story else "",
        f"## What you get\n\nA page that can be passed on:\n\n{reports}"
        if reports
        else "",
        found + rest,
    ]
    nb.cells[where : where + 1] = [mk_cell(p, "markdown") for p in parts if p.strip()]
    if gallery:
        nb.cells.append(
            mk_cell(
                "## Gallery\n\nEach picture leads to the page that draws it.\n\n"
                + gallery,
                "markdown",
            )
        )
