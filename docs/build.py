"""Build the site into docs/_site. Notebooks become pages for MyST-NB (docs/_nb): their
directives become its tags; imports, sources and silent checks are folded. Beside them
stand the pages of docs/pages, the ledger, the sample reports, and a reference page for
each public name (Sphinx's autosummary). Any warning is an error; nothing is fetched."""

import ast
import json
import os
import shutil
import sys
from importlib import import_module
from inspect import getdoc, isclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader
from nbdev.config import get_config

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
NBS = ROOT / "nbs"
OUT = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE  # tests: elsewhere
PAGES, SITE = OUT / "_nb", OUT / "_site"
FRAGMENTS = PAGES / "_fragments"
sys.path[:0] = [str(ROOT), str(ROOT / "tools"), str(HERE)]
os.chdir(ROOT)

import ledger  # noqa: E402
import reports  # noqa: E402
from package import sections  # noqa: E402
from readme import directives  # noqa: E402

LIB = "kpw_nb"
EXPLORABLES = {"index.ipynb": "two_clouds", "theory/09_descent.ipynb": "descent"}
TAGS = {("echo", "false"): "remove-input", ("output", "false"): "remove-output"}
cfg = get_config()


def sidebar():
    "{heading: [page, ...]}; a section with a page of its own is one entry"
    found = {}
    for part in sections():
        names = [part["page"]] if "page" in part else part["contents"]
        found.setdefault(part.get("under", part["section"]), []).extend(names)
    return found


def read(name):
    "A notebook whose sources are texts"
    nb = json.loads((NBS / name).read_text(encoding="utf-8"))
    for cell in nb["cells"]:
        cell["source"] = "".join(cell["source"])
    return nb


def markdown(text):
    return dict(cell_type="markdown", metadata={}, source=text)


def module_of(nb):
    "The module that a notebook exports, if it does"
    flags = (directives(c["source"]) for c in nb["cells"] if c["cell_type"] == "code")
    return next((f["default_exp"] for f in flags if "default_exp" in f), "")


def statements(source):
    "The top-level statements of a cell, none if it is not plain Python"
    try:
        return ast.parse(source).body
    except SyntaxError:
        return []


def is_check(body):
    "Does a cell assert something?"
    inside = [node for s in body for node in ast.walk(s)]
    calls = (node.func for node in inside if isinstance(node, ast.Call))
    tests = (getattr(f, "id", "").startswith("test_") for f in calls)
    return any(isinstance(node, ast.Assert) for node in inside) or any(tests)


def only_imports(body):
    return body and all(isinstance(s, (ast.Import, ast.ImportFrom)) for s in body)


def fold(flags, body, outputs, module):
    "The words on a folded cell; none if it is to be read at once"
    names = [getattr(s, "name", "_") for s in body]
    if only_imports(body) and module:  # in a guide they are a part of the story
        return "Imports"
    if "export" in flags:
        return "Source"
    if "exporti" in flags and all(name.startswith("_") for name in names):
        return "Source"
    if "exporti" not in flags and is_check(body) and not outputs:
        return "Checked by"
    return "Code" if flags.get("code-fold") == "true" else ""


def introduce(body, module):
    "A line for each public name of an exported cell, which leads to the reference"
    home = import_module(f"{LIB}.{module}")
    for name in (getattr(s, "name", "") for s in body):
        if name in home.__all__:
            named = getattr(home, name)
            call = "" if isclass(named) else "()"
            first = getdoc(named).splitlines()[0].rstrip(".")
            yield markdown(f"{{.api}}\n`{name}{call}` {first}.")


def code(cell, module):
    "A code cell as cells of its page; none for what is not to be seen"
    flags, lines = directives(cell["source"]), cell["source"].splitlines()
    source = "\n".join(line for line in lines if not line.startswith("#|")).strip()
    body = statements(source)
    words = fold(flags, body, cell["outputs"], module)
    unseen = flags.keys() & {"hide", "default_exp"} or not source
    if unseen or (only_imports(body) and flags.keys() & {"export", "exporti"}):
        return []
    tags = [TAGS[flag] for flag in flags.items() if flag in TAGS]
    image = dict(alt=flags.get("fig-alt", "").strip("\"'"))
    prompts = dict(code_prompt_show=words, code_prompt_hide=words)
    cell["source"] = source
    cell["metadata"] = dict(
        tags=tags + ["hide-input"] * bool(words), mystnb=dict(image=image, **prompts)
    )
    return [*(introduce(body, module) if "export" in flags else ()), cell]


def prose(cell, entry):
    "A Markdown cell; a boxed erratum says which one it is"
    text = cell["source"].replace("(../docs/", "(docs/")
    if entry and entry.verb == "erratum":
        grade, place = entry.words
        title = f"{{admonition}} Erratum {entry.name}: {place} ({grade})"
        text = text.replace("{.callout-warning}", f"{title}\n:class: warning")
    return markdown(text.replace(":::{.callout-", ":::{"))


def elsewhere(name):
    "The line under the title: where the notebook itself is"
    links = [f"{{download}}`download it </_notebooks/{name}>`"]
    if cfg.d.getboolean("published", False):
        links.append(f"[read it on GitHub]({cfg.git_url}/blob/{cfg.branch}/nbs/{name})")
    line = f"This page is a notebook: {', '.join(links)}."
    return markdown("{.notebook-links}\n" + line)


def explorable(page, name):
    "A picture that moves without Python, as a raw block of a page"
    html = import_module(f"{LIB}.show.explore").explorable(name)
    (FRAGMENTS / f"{name}.html").write_text(html, encoding="utf-8")
    file = os.path.relpath(f"_fragments/{name}.html", os.path.dirname(page) or ".")
    return markdown(f"```{{raw}} html\n:file: {file}\n```")


def page(name, nb, entries):
    "A notebook as a page; cells that the ledger leads to are labelled"
    here = {e.cell: e for e in entries if e.notebook == name}
    here |= {e.cell: e for e in entries if e.notebook == name and e.verb == "erratum"}
    module, cells = module_of(nb), []
    for cell in nb["cells"]:
        entry = here.get(cell["id"])
        cells += [markdown(f"({entry.label})=")] if entry else []
        kind = cell["cell_type"]
        cells += code(cell, module) if kind == "code" else [prose(cell, entry)]
    added = [explorable(name, EXPLORABLES[name])] if name in EXPLORABLES else []
    added += [elsewhere(name)] if name != "index.ipynb" else []
    at = 5 if name == "index.ipynb" else 1  # after the first answer
    nb["cells"] = cells[:at] + added + cells[at:]
    nb["metadata"].pop("widgets", None)


def write(name, nb):
    for number, cell in enumerate(nb["cells"]):
        cell["id"] = f"c{number}"
    (PAGES / name).parent.mkdir(exist_ok=True)
    (PAGES / name).write_text(json.dumps(nb), encoding="utf-8")


def landing(nb):
    "Doors and gallery instead of the list at its end, and the tree of all pages"
    nb["cells"][-1] = markdown((HERE / "landing.md").read_text(encoding="utf-8"))
    for heading, names in sidebar().items():
        tree = ["```{toctree}", ":hidden:", f":caption: {heading}", ""]
        stems = (name.removesuffix(".ipynb") for name in names)
        tree += ["Home <self>" if stem == "index" else stem for stem in stems]
        nb["cells"] += [markdown("\n".join([*tree, "```"]))]


def seen(raw):
    "Where each public name is made, and the notebooks that import it"
    made, used = {}, {}
    for name, nb in raw.items():
        stem = name.removesuffix(".ipynb")
        if module := module_of(nb):
            made |= dict.fromkeys(import_module(f"{LIB}.{module}").__all__, stem)
        code = (c["source"] for c in nb["cells"] if c["cell_type"] == "code")
        parts = [n for text in code for s in statements(text) for n in ast.walk(s)]
        for part in parts:
            if isinstance(part, ast.ImportFrom) and part.module.startswith(LIB):
                for alias in part.names:
                    used.setdefault(alias.name, {})[stem] = None
    return dict(made_in=made, used_in={k: list(v) for k, v in used.items()})


def pages(raw, entries):
    "{name: (template, what it shows)} of the pages that are made from others"
    known = dict(entries=entries, errata=ledger.errata(entries), places=ledger.places)
    known |= dict(sections=ledger.statements(), status=ledger.status)
    paged = [part | dict(raw=raw) for part in sections() if "page" in part]
    made = {part["page"]: ("overview.md", part) for part in paged}
    return made | {name: (f"{name}.md", known) for name in ("ledger", "errata")}


def stage():
    "Write every page into docs/_nb"
    shutil.copytree(HERE / "pages", PAGES)
    FRAGMENTS.mkdir()
    shutil.copytree(HERE / "_static", PAGES / "docs/_static")  # where README names it
    shutil.copytree(NBS, PAGES / "_notebooks")  # for download, as they are
    records = "experiments/records"  # what the studies found, for download too
    shutil.copytree(NBS / records, PAGES / records)
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, PAGES / name.lower())
    names = [n for part in sections() for n in part["contents"]]
    raw = {name: read(name) for name in names if name.endswith(".ipynb")}
    (FRAGMENTS / "seen.json").write_text(json.dumps(seen(raw)), encoding="utf-8")
    entries = [e for name, nb in raw.items() for e in ledger.take(nb, name)]
    templates = Environment(loader=FileSystemLoader(HERE / "templates"))
    for name, (template, known) in pages(raw, entries).items():
        text = templates.get_template(template).render(known)
        (PAGES / f"{name}.md").write_text(text, encoding="utf-8")
    for name, nb in raw.items():
        page(name, nb, entries)
        if name == "index.ipynb":
            landing(nb)
        write(name, nb)


def build():
    from sphinx.cmd.build import main as sphinx

    for folder in (PAGES, SITE):
        shutil.rmtree(folder, ignore_errors=True)
    stage()
    flags = ["-q", "-W", "--keep-going", "-b", "html", "-c", str(HERE)]
    status = sphinx([*flags, "-d", str(PAGES / ".doctrees"), str(PAGES), str(SITE)])
    shutil.rmtree(OUT / "jupyter_execute", ignore_errors=True)  # MyST-NB's copy
    if status == 0:
        reports.write(SITE / "reports")
        count = sum(1 for _ in SITE.rglob("*.html"))
        print(f"{count} pages in {os.path.relpath(SITE, ROOT)}; make serve shows them")
    return status


if __name__ == "__main__":
    sys.exit(build())
