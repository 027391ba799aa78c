"""Build the site into docs/_site: nbdev's processors run over each notebook, this file turns the result into pages for
MyST-NB (docs/_nb), and Sphinx makes HTML of them. Nothing is fetched, and any warning is an error.

Exported cells become API sections (`render.TableRenderer`) followed by their folded source; private ones (`exporti`) do not
show. A name of the package in backticks becomes a link to its section."""
import ast
import inspect
import os
import re
import shutil
import sys
from importlib import import_module
from pathlib import Path

import yaml
from execnb.nbio import mk_cell, read_nb, write_nb
from nbdev.config import get_config
from nbdev.processors import FilterDefaults

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
NBS, PAGES, SITE = ROOT/"nbs", HERE/"_nb", HERE/"_site"
sys.path[:0] = [str(ROOT), str(HERE)]
os.chdir(ROOT)   # nbdev looks for settings.ini from here

cfg = get_config()
cfg["renderer"] = "render.TableRenderer"
cfg["skip_procs"] = "insert_warning,add_links,add_fold,mv_exports"   # done below, for Sphinx instead of Quarto


def sections():
    "[(section, [notebook, ...])] of the sidebar; notebooks not written yet are left out"
    contents = yaml.safe_load((NBS/"sidebar.yml").read_text())["website"]["sidebar"]["contents"]
    return [(s["section"], [n for n in s["contents"] if (NBS/n).exists()]) for s in contents]


def statements(source):
    "The top-level statements of a cell, none if it is not plain Python"
    try: return ast.parse(source).body
    except SyntaxError: return []


def prepare(nb):
    "What nbdev should do differently, said in its own directives"
    for cell in nb.cells:
        if cell.cell_type != "code": continue
        kinds = {isinstance(s, (ast.Import, ast.ImportFrom)) for s in statements(cell.source)}
        exported = re.search(r"^#\|\s*export", cell.source, re.M)
        # nbdev would execute any cell with an import, though the cells it builds on are not executed
        if len(kinds) == 2 and not exported: cell.source = "#| eval: false\n" + cell.source
        # `export` hides the source; `exports` keeps it. The flag tells the two apart later
        folded = re.compile(r"^#\|\s*export(?=\s|$)", re.M)
        if folded.search(cell.source): cell.source = folded.sub("#| code-fold: true\n#| exports", cell.source)
    # the processor of the title drops the rest of its cell
    first = next(c for c in nb.cells if c.cell_type == "markdown")
    head = re.match(r"\s*# .*\n*(?:>.*\n*)*", first.source)
    if head and (rest := first.source[head.end():].strip()):
        nb.cells.insert(nb.cells.index(first) + 1, mk_cell(rest, "markdown"))
        first.source = head[0]
    return nb


def title(front, name):
    "The page's head: title, promise, and where the real notebook is"
    up = "../"*(2 + name.count("/"))   # from the page's folder in docs/_nb to the root
    links = f"[on GitHub]({cfg.git_url}/blob/{cfg.branch}/nbs/{name})"
    return mk_cell(f"# {front['title']}\n\n" + (f"*{front['description']}*\n\n" if front.get("description") else "")
                   + f"::::{{div}} notebook-links\nThis page is a notebook: {{download}}`download the real notebook <{up}nbs/{name}>` "
                   + f"or read it {links}.\n::::", "markdown")


def page(name):
    "One notebook as a page; labels of the symbols it documents are written as (module.symbol)="
    nb = prepare(read_nb(NBS/name))
    module = next((m[1] for c in nb.cells if (m := re.search(r"^#\|\s*default_exp\s+(\S+)", c.source, re.M))), "")
    FilterDefaults()(nb)
    cells, held = [], []   # held: exported source waits for the API sections of its cell
    for cell in nb.cells:
        source = cell.source
        if "show_doc(" in source and cell.cell_type == "code":
            doc = "".join(cell.outputs[0].data["text/markdown"])
            cells.append(mk_cell(f"({module}.{re.search('^#+ (.*)$', doc, re.M)[1]})=\n{doc}", "markdown"))
            continue
        cells, held = cells + held, []
        if cell.cell_type == "raw":
            cells.append(title(yaml.safe_load(source.strip().strip("-")), name))
        elif cell.cell_type == "markdown":
            cell.source = re.sub(r"^:::\s*\{\.callout-(\w+)[^}]*\}", r":::{\1}", source, flags=re.M)
            cells.append(cell)
        else: (held if "exports" in cell.directives_ else cells).extend(code(cell))
    nb["cells"] = cells + held
    if not any(w.get("state") for w in nb.metadata.get("widgets", {}).values()): nb.metadata.pop("widgets", None)
    return module, nb


def code(cell):
    "A code cell with nbdev's directives as MyST-NB's tags; no cell for what is not to be seen"
    flags = dict(re.findall(r"^#\|\s*([\w-]+):\s*(.*?)\s*$", cell.source, re.M))
    cell.source = "\n".join(line for line in cell.source.splitlines() if not line.startswith("#|")).strip()
    body = statements(cell.source)
    if flags.get("include") == "false" or not cell.source: return []
    if flags.get("code-fold") and body and all(isinstance(s, (ast.Import, ast.ImportFrom)) for s in body): return []
    tags = [tag for flag, value, tag in (("echo", "false", "remove-input"), ("code-fold", "true", "hide-input"),
                                         ("output", "false", "remove-output")) if flags.get(flag) == value]
    cell.metadata = dict(tags=tags, mystnb=dict(code_prompt_show="Show the source", code_prompt_hide="Hide the source"))
    return [cell]


def link_table(pages):
    "{name: label} of all documented symbols, and the words that also name a parameter"
    labels, words = {}, set()
    for module, nb in pages.values():
        found = re.findall(r"^\(([\w.]+)\)=$", "\n".join(c.source for c in nb.cells if c.cell_type == "markdown"), re.M)
        for label in found:
            name = label.removeprefix(module + ".")
            labels.setdefault(name, label)
            sym = import_module(f"{cfg.lib_name}.{module}")
            for part in name.split("."): sym = getattr(sym, part, None)
            sym = getattr(sym, "py_func", sym)
            if callable(sym): words |= inspect.signature(sym).parameters.keys()
    return labels, words


def link(text, labels, words):
    "Backticked names of the package as links, outside headings, fences, tables' code and existing links"
    def target(m):
        name = m[1].removeprefix(cfg.lib_name + ".")
        label = labels.get(name) or labels.get(name.split(".", 1)[-1]) or labels.get(name.rpartition(".")[0])
        # `kernel` in prose is mostly the argument; `kernel()` is the function
        return f"[{m[0]}](#{label.lower()})" if label and (m[2] or name not in words) else m[0]
    lines, fenced = [], False
    for line in text.splitlines():
        if line.lstrip().startswith("```"): fenced = not fenced
        plain = not fenced and not line.startswith(("#", "    ", "(")) and not line.startswith("| `")
        lines.append(re.sub(r"(?<![\[`])`([A-Za-z_][\w.]*)(\(\))?`(?![\]`])", target, line) if plain else line)
    return "\n".join(lines)


def build():
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.rmtree(SITE, ignore_errors=True)
    pages = {name: page(name) for _, names in sections() for name in names}
    labels, words = link_table(pages)
    for _, nb in pages.values():
        for cell in nb.cells:
            if cell.cell_type == "markdown": cell.source = link(cell.source, labels, words)
    tree = "\n\n".join(f"```{{toctree}}\n:hidden:\n:caption: {section}\n\n" + "\n".join(
        "self" if n == "index.ipynb" else n.removesuffix(".ipynb") for n in names) + "\n```" for section, names in sections() if names)
    pages["index.ipynb"][1].cells.append(mk_cell(tree, "markdown"))
    for name, (_, nb) in pages.items():
        (PAGES/name).parent.mkdir(parents=True, exist_ok=True)
        write_nb(nb, PAGES/name)
    from sphinx.cmd.build import main as sphinx
    status = sphinx(["-q", "-W", "--keep-going", "-b", "html", "-c", str(HERE), "-d", str(PAGES/".doctrees"), str(PAGES), str(SITE)])
    shutil.rmtree(HERE/"jupyter_execute", ignore_errors=True)   # MyST-NB's copy of the pages, beside the site
    if status == 0: print(f"{len(pages)} pages in {SITE.relative_to(ROOT)}; make serve shows them")
    return status


if __name__ == "__main__": sys.exit(build())
