"""Build the site into docs/_site: nbdev's processors run over each notebook, this file
turns the result into pages for MyST-NB (docs/_nb), and Sphinx makes HTML of them. Any
warning is an error. Nothing is fetched but the two scripts that live widgets need
(`vendor.py`), and without them the site is whole.

Exported cells become API sections (`render.TableRenderer`) followed by their folded
source; the house's own names (`exporti`) are shown as code, private ones folded. A name
of the package in backticks becomes a link to its section. `pages.py` writes what no
notebook holds: Reference, ledger, errata, changelog, and the pictures of the landing
page; `reports.py` makes three reports and a page that leads to them."""

import ast
import inspect
import json
import os
import re
import shutil
import sys
from copy import deepcopy
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import yaml
from execnb.nbio import mk_cell, read_nb, write_nb
from nbdev.config import get_config
from nbdev.processors import FilterDefaults

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
NBS = ROOT / "nbs"
OUT = (
    Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE
)  # the tests build elsewhere
PAGES, SITE = OUT / "_nb", OUT / "_site"
sys.path[:0] = [str(ROOT), str(HERE), str(ROOT / "tools")]
os.chdir(ROOT)  # nbdev looks for settings.ini from here

import ledger  # noqa: E402
import live  # noqa: E402
import pages as generated  # noqa: E402
import reports  # noqa: E402
from vendor import fetch  # noqa: E402

# generated pages that are added to a section of the sidebar
ADDED = {"Start": ["reports"], "Record": ["ledger", "errata", "changelog"]}

cfg = get_config()
cfg["renderer"] = "render.TableRenderer"
cfg["skip_procs"] = (
    # done below, for Sphinx instead of Quarto
    "insert_warning,add_links,add_fold,mv_exports"
)


@dataclass
class Page:
    title: str
    module: str  # of the package, if the page's notebook exports one
    nb: object


def sections():
    """[(section, [notebook, ...])] of the sidebar; notebooks not written yet are
    left out"""
    contents = yaml.safe_load((NBS / "sidebar.yml").read_text())["website"]["sidebar"][
        "contents"
    ]
    return [
        (s["section"], [n for n in s["contents"] if (NBS / n).exists()])
        for s in contents
    ]


def statements(source):
    "The top-level statements of a cell, none if it is not plain Python"
    try:
        return ast.parse(source).body
    except SyntaxError:
        return []


def internal(cell):
    """A copy of a cell of the house's own names, to be read: nbdev runs such a cell and
    takes it out. Folded if all names are private"""
    names = [getattr(s, "name", "_") for s in statements(cell.source)]
    fold = "#| code-fold: true\n" if all(n.startswith("_") for n in names) else ""
    flags = fold + "#| eval: false"
    shown = deepcopy(cell)
    shown.source = re.sub(r"^#\|\s*exporti\b.*$", flags, cell.source, flags=re.M)
    return shown


def prepare(nb):
    "What nbdev should do differently, said in its own directives"
    for cell in list(nb.cells):
        if cell.cell_type != "code":
            continue
        only_imports = all(
            isinstance(s, (ast.Import, ast.ImportFrom)) for s in statements(cell.source)
        )
        if re.search(r"^#\|\s*exporti\b", cell.source, re.M):
            nb.cells.insert(nb.cells.index(cell) + 1, internal(cell))
            continue
        exported = re.search(r"^#\|\s*export", cell.source, re.M)
        # nbdev would execute any cell with an import, though the cells it builds on are
        # not executed
        if not only_imports and not exported and re.search(r"\bimport\b", cell.source):
            cell.source = "#| eval: false\n" + cell.source
        # `export` hides the source; `exports` keeps it. The flag tells the two apart
        # later
        folded = re.compile(r"^#\|\s*export(?=\s|$)", re.M)
        if folded.search(cell.source):
            cell.source = folded.sub("#| code-fold: true\n#| exports", cell.source)
    # the processor of the title drops the rest of its cell
    first = next(c for c in nb.cells if c.cell_type == "markdown")
    head = re.match(r"\s*# .*\n*(?:>.*\n*)*", first.source)
    if head and (rest := first.source[head.end() :].strip()):
        nb.cells.insert(nb.cells.index(first) + 1, mk_cell(rest, "markdown"))
        first.source = head[0]
    return nb


def title(front, name):
    "The page's head: title, promise, and where the real notebook is"
    repo = re.sub(r"^https://github.com/", "", cfg.git_url)
    file = f"blob/{cfg.branch}/nbs/{name}"
    colab = f"https://colab.research.google.com/github/{repo}/{file}"
    binder = f"https://mybinder.org/v2/gh/{repo}/{cfg.branch}?urlpath=lab/tree/nbs"
    links = (
        f"{{download}}`download the real notebook </_notebooks/{name}>`",
        f"[open in Colab]({colab}) (run `%pip install git+{cfg.git_url}` there first)",
        f"[open in Binder]({binder}/{name})",
        f"[read on GitHub]({cfg.git_url}/{file})",
    )
    promise = f"*{front['description']}*\n\n" if front.get("description") else ""
    return mk_cell(
        f"# {front['title']}\n\n{promise}::::{{div}} notebook-links\n"
        f"This page is a notebook: {' · '.join(links)}\n::::",
        "markdown",
    )


def page(name, raw, places=()):
    """One notebook as a page; labels of the symbols it documents, and of the cells that
    the ledger leads to, are written as (module.symbol)="""
    nb = prepare(deepcopy(raw))
    module = next(
        (
            m[1]
            for c in nb.cells
            if (m := re.search(r"^#\|\s*default_exp\s+(\S+)", c.source, re.M))
        ),
        "",
    )
    FilterDefaults()(nb)
    cells, held = [], []  # held: exported source waits for the API sections of its cell
    called, heading, before = name, "", ""
    for cell in nb.cells:
        source = cell.source
        if "show_doc(" in source and cell.cell_type == "code":
            # beside warnings that nbdev's own reading of the docstring may give
            shown = next(o.data for o in cell.outputs if "data" in o)
            doc = "".join(shown["text/markdown"])
            cells.append(
                mk_cell(
                    f"({module}.{re.search('^#+ (.*)$', doc, re.M)[1]})=\n{doc}",
                    "markdown",
                )
            )
            continue
        cells, held = cells + held, []
        if (place := ledger.label(name, cell.get("id", ""))) in places:
            cells.append(mk_cell(f"({place})=", "markdown"))
        if cell.cell_type == "raw":
            front = yaml.safe_load(source.strip().strip("-"))
            called = front["title"]
            cells.append(title(front, name))
        elif cell.cell_type == "markdown":
            heading = (re.findall(r"^#+ (.*)$", source, re.M) or [heading])[-1]
            before = source
            cell.source = re.sub(
                r"^:::\s*\{\.callout-(\w+)[^}]*\}", r":::{\1}", source, flags=re.M
            )
            cells.append(cell)
        else:
            alt = generated.alt_text(source, heading, before, called)
            (held if "exports" in cell.directives_ else cells).extend(code(cell, alt))
    nb["cells"] = cells + held
    if not any(w.get("state") for w in nb.metadata.get("widgets", {}).values()):
        nb.metadata.pop("widgets", None)
    return Page(called, module, nb)


def unbroken(outputs):
    "In tables an interval [low, high] stays on one line"
    for data in (o.get("data", {}) for o in outputs):
        if "text/html" in data:
            data["text/html"] = re.sub(
                r"(\[[\d.]+,) ([\d.]+\])", "\\1\u00a0\\2", "".join(data["text/html"])
            )


def code(cell, alt):
    """A code cell with nbdev's directives as MyST-NB's tags, and words for its
    picture; no cell for what is not to be seen"""
    flags = dict(re.findall(r"^#\|\s*([\w-]+):\s*(.*?)\s*$", cell.source, re.M))
    cell.source = "\n".join(
        line for line in cell.source.splitlines() if not line.startswith("#|")
    ).strip()
    body = statements(cell.source)
    if flags.get("include") == "false" or not cell.source:
        return []
    if (
        flags.get("code-fold")
        and body
        and all(isinstance(s, (ast.Import, ast.ImportFrom)) for s in body)
    ):
        return []
    unbroken(cell.outputs)
    tags = [
        tag
        for flag, value, tag in (
            ("echo", "false", "remove-input"),
            ("code-fold", "true", "hide-input"),
            ("output", "false", "remove-output"),
        )
        if flags.get(flag) == value
    ]
    cell.metadata = dict(
        tags=tags,
        mystnb=dict(
            code_prompt_show="Show the source",
            code_prompt_hide="Hide the source",
            image=dict(alt=alt),
        ),
    )
    return [cell]


def link_table(pages):
    "{name: label} of all documented symbols, and the words that also name a parameter"
    labels, words = {}, set()
    for p in pages.values():
        found = re.findall(
            r"^\(([\w.]+)\)=$",
            "\n".join(c.source for c in p.nb.cells if c.cell_type == "markdown"),
            re.M,
        )
        for label in found:
            name = label.removeprefix(p.module + ".")
            labels.setdefault(name, label)
            sym = import_module(f"{cfg.lib_name}.{p.module}")
            for part in name.split("."):
                sym = getattr(sym, part, None)
            sym = getattr(sym, "py_func", sym)
            try:
                words |= inspect.signature(sym).parameters.keys()
            except (TypeError, ValueError):
                pass  # a constant, or a class that adds nothing to a built-in one
    return labels, words


def link(text, labels, words, to_reference=False):
    """Backticked names of the package as links, outside headings, fences, tables'
    code and existing links"""

    def target(m):
        name = m[1].removeprefix(cfg.lib_name + ".")
        label = (
            labels.get(name)
            or labels.get(name.split(".", 1)[-1])
            or labels.get(name.rpartition(".")[0])
        )
        if label and to_reference:
            label = "ref." + ".".join(
                label.split(".")[:2]
            )  # a method is in the section of its class
        # `kernel` in prose is mostly the argument; `kernel()` is the function
        return (
            f"[{m[0]}](#{label.lower()})"
            if label and (m[2] or name not in words)
            else m[0]
        )

    lines, fenced = [], False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        plain = (
            not fenced
            and not line.startswith(("#", "    ", "(", ":::"))
            and not line.startswith("| `")
        )
        lines.append(
            re.sub(r"(?<![\[`])`([A-Za-z_][\w.]*)(\(\))?`(?![\]`])", target, line)
            if plain
            else line
        )
    return "\n".join(lines)


def toctree(caption, names):
    called = {"index": "self", "26_bench": "Benchmarks <26_bench>"}
    stems = (n.removesuffix(".ipynb") for n in names)
    entries = (called.get(stem, stem) for stem in stems)
    return (
        f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n"
        + "\n".join(entries)
        + "\n```"
    )


def gather(found):
    """{name: Page} of the whole site: the notebooks of the sidebar, then what is
    generated from them; `found` are the sample reports"""
    raw = {name: read_nb(NBS / name) for _, names in sections() for name in names}
    entries = [e for name, nb in raw.items() for e in ledger.take(nb, name)]
    places = {e.label for e in entries}
    pages = {name: page(name, nb, places) for name, nb in raw.items()}
    modules = {p.module: name for name, p in sorted(pages.items()) if p.module}
    extra = yaml.safe_load((HERE / "examples.yml").read_text(encoding="utf-8")) or {}
    reference, examples, missing = generated.reference(
        modules, raw, cfg.lib_name, extra
    )
    if missing:
        sys.exit(
            f"No example of {', '.join(missing)}: write one into the docstring, use it"
            " in a cell of its notebook that is not slow, or add it to"
            " docs/examples.yml."
        )
    labels, words = link_table(pages)
    generated.landing(
        pages["index.ipynb"].nb, raw, HERE, PAGES / "_gallery", reports.cards(found)
    )
    trees = [
        toctree(section, names + ADDED.get(section, []))
        for section, names in sections()
        if names
    ]
    trees.insert(
        -1, toctree("Reference", ["reference/index"])
    )  # before the last section, the record
    pages |= {
        name: Page("", "", nb)
        for name, nb in (
            {
                "ledger.ipynb": generated.ledger_page(ledger.statements(), entries),
                "errata.ipynb": generated.errata_page(entries),
                "reports.ipynb": reports.page(found),
            }
            | reference
        ).items()
    }
    for name, p in pages.items():
        for cell in p.nb.cells:
            if cell.cell_type == "markdown":
                cell.source = link(cell.source, labels, words, not p.module)
    pages["index.ipynb"].nb.cells.append(mk_cell("\n\n".join(trees), "markdown"))
    return pages, examples


def build():
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.rmtree(SITE, ignore_errors=True)
    widgets = fetch(HERE / "_static" / "vendor")
    found = reports.samples()
    pages, examples = gather(found)
    explorers = "22_explore.ipynb"
    state = live.add(pages[explorers].nb) if widgets and explorers in pages else None
    for name, p in pages.items():
        (PAGES / name).parent.mkdir(parents=True, exist_ok=True)
        write_nb(p.nb, PAGES / name)
    if state:  # write_nb would take a widget's `source` for the source of a cell
        nb = json.loads((PAGES / explorers).read_text(encoding="utf-8"))
        nb["metadata"]["widgets"] = state
        (PAGES / explorers).write_text(json.dumps(nb), encoding="utf-8")
    shutil.copytree(
        NBS,
        PAGES / "_notebooks",
        ignore=shutil.ignore_patterns(".ipynb_checkpoints", "*.yml"),
    )  # for download, as they are
    shutil.copy(ROOT / "CHANGELOG.md", PAGES / "changelog.md")
    (PAGES / "_examples").mkdir()
    for name, text in examples.items():
        (PAGES / "_examples" / f"{name}.py").write_text(text + "\n", encoding="utf-8")
    from sphinx.cmd.build import main as sphinx

    status = sphinx(
        [
            "-q",
            "-W",
            "--keep-going",
            "-b",
            "html",
            "-c",
            str(HERE),
            "-d",
            str(PAGES / ".doctrees"),
            str(PAGES),
            str(SITE),
        ]
    )
    shutil.rmtree(
        OUT / "jupyter_execute", ignore_errors=True
    )  # MyST-NB's copy of the pages, beside the site
    if status == 0:
        reports.write(found, SITE / "reports")
        where = os.path.relpath(SITE, ROOT)
        print(f"{len(pages) + 1} pages in {where}; make serve shows them")
    return status


if __name__ == "__main__":
    sys.exit(build())
