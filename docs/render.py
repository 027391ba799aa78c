"""How the site shows one symbol: heading, source link, signature, and its docstring,
with parameters and results as tables and examples as code.

nbdev's own renderer would show the docstring as one text and the parameters twice."""

import inspect
import re
import sys
from pathlib import Path

import pandas
from nbdev.doclinks import NbdevLookup
from nbdev.showdoc import BasicMarkdownRenderer

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))

from docstring import EMPTY, entries, parameters, results, sections  # noqa: E402

TABLES = ("Parameters", "Other Parameters", "Attributes", "Returns", "Yields", "Raises")


def first_line(text):
    "Annotations as a reader writes them: np.ndarray, Table"
    return re.sub(r"\b(?:__main__|kpw_nb\.\w+)\.", "", text.replace("numpy.", "np."))


def _type(annotation):
    if annotation is EMPTY:
        return ""
    return first_line(inspect.formatannotation(annotation).strip("'"))


def _default(value):
    if value is EMPTY:
        return ""
    return getattr(value, "__name__", None) or repr(value)


def _code(text):
    return f"`{text}`" if text else ""


def _row(*cells):
    clean = (c.replace("|", r"\|").replace("\n", " ") for c in cells)
    return "| " + " | ".join(clean) + " |"


def markdown(text):
    "The few marks of reStructuredText that docstrings use, as Markdown"
    text = re.sub(r"\.\. math::\s*\n+((?:[ \t]+.*\n?)+)", formula, text + "\n")
    text = re.sub(r":math:`([^`]*)`", r"$\1$", text)
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    text = re.sub(
        r"^\.\. \[(\w+)\] ((?:.*\n?)(?:[ \t]+.*\n?)*)", note, text, flags=re.M
    )
    return re.sub(r"\[(\w+)\]_", r"[\1]", text).strip()


def formula(m):
    return f"$$\n{inspect.cleandoc(m[1])}\n$$\n"


def note(m):
    return f"[{m[1]}] {' '.join(m[2].split())}\n\n"


def also(e):
    "A line of See Also: a name, and what it is for"
    words = " ".join(filter(None, (e.type, e.text)))
    return f"- `{e.name}`: {markdown(words)}" if words else f"- `{e.name}`"


def signature(sym, name, width=88):
    "`name(a: int = 1) -> str`, one parameter a line where it is long"
    sig = inspect.signature(sym)
    params = [p for p in sig.parameters.values() if p.name != "self"]
    text = first_line(str(sig.replace(parameters=params)))
    if inspect.isclass(sym):
        name, text = f"class {name}", text.removesuffix(" -> None")
    if len(name + text) <= width or not params:
        return name + text
    # a bare `*` or `/` is no parameter but part of the text, so the lines come from
    # one-parameter signatures
    lines, kinds = [], inspect.Parameter
    for before, p in zip([None] + params, params):
        marked = (kinds.KEYWORD_ONLY, kinds.VAR_POSITIONAL)
        if p.kind is kinds.KEYWORD_ONLY and getattr(before, "kind", None) not in marked:
            lines.append("*")
        lines.append(first_line(str(p)))
    return f"{name}(\n    " + ",\n    ".join(lines) + f",\n){text.rpartition(')')[2]}"


def table(rows):
    "A Markdown table of rows of four; no column for nothing: phones are narrow"
    if not rows:
        return ""
    rows = [("", "Type", "Default", "Meaning"), *rows]
    keep = [i for i in range(4) if i in (0, 3) or any(row[i] for row in rows[1:])]
    head, *rest = ([row[i] for i in keep] for row in rows)
    lines = [_row(*head), _row(*["---"] * len(keep)), *(_row(*row) for row in rest)]
    return "\n".join(lines)


class TableRenderer(BasicMarkdownRenderer):
    "What `show_doc` puts on the site; of a compiled kernel, its Python function"

    def __init__(self, sym, name=None, title_level=3, **kwargs):
        sym = getattr(sym, "py_func", sym)
        # imported for type checkers only, but the signature is evaluated here
        if home := sys.modules.get(getattr(sym, "__module__", "")):
            for alias in ("pd", "pandas"):
                vars(home).setdefault(alias, pandas)
        super().__init__(sym, name=name, title_level=title_level, **kwargs)
        self.parts = sections(sym)

    def entry(self, e):
        "The row of one parameter: the docstring's words, the signature's default"
        known = {p.name: p for p in parameters(self.sym)}
        p = known.get(e.name)
        kind = re.sub(r",?\s*(optional|default\b.*)$", "", e.type)
        if not kind and p is not None:
            kind = _type(p.annotation)
        default = "" if p is None else _code(_default(p.default))
        return _code(e.name), kind, default, markdown(e.text)

    def arguments(self):
        "The table of parameters, attributes and the result"
        rows = []
        for heading in ("Parameters", "Other Parameters", "Attributes"):
            rows += map(self.entry, entries(self.parts.get(heading, "")))
        for heading in ("Returns", "Yields"):
            for e in results(self.parts.get(heading, "")):
                kind = " ".join(filter(None, (_code(e.name), e.type)))
                rows.append((f"**{heading.lower()}**", kind, "", markdown(e.text)))
        for e in entries(self.parts.get("Raises", "")):
            rows.append(("**raises**", _code(e.name), "", markdown(e.text)))
        return table(rows)

    def rest(self):
        "The other sections: notes, references, see also, and examples as code"
        for heading, text in self.parts.items():
            if not heading or heading in TABLES or not text.strip():
                continue
            shown = markdown(text)
            if heading == "See Also":
                shown = "\n".join(also(e) for e in entries(text))
            if heading == "Examples":
                shown = f"```pycon\n{text.strip()}\n```"
            yield f"**{heading}**\n\n{shown}"

    def _repr_markdown_(self):
        source = NbdevLookup(incl_libs="kpw_nb").code(self.nm)
        parts = [f"{'#' * self.title_level} {self.nm}"]
        if source:
            parts.append(f"[source]({source}){{.source-link}}")
        if self.sig:
            parts.append(f"```python\n{signature(self.sym, self.nm)}\n```")
        parts += [markdown(self.parts.get("", "")), self.arguments(), *self.rest()]
        return "\n\n".join(filter(None, parts))
