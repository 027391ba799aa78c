"""How the site shows one symbol: heading, source link, signature, summary, and a table of parameters.

nbdev's own renderer repeats the parameters' comments inside the signature and breaks its table at a type such as `int|str`."""
import inspect
import re

from fastcore.docments import docments
from nbdev.doclinks import NbdevLookup
from nbdev.showdoc import BasicMarkdownRenderer

EMPTY = inspect.Parameter.empty


def _short(text): return re.sub(r"\b(?:__main__|kpw_nb\.\w+)\.", "", text.replace("numpy.", "np."))   # the reader knows which Table is meant
def _type(annotation): return "" if annotation is EMPTY else _short(inspect.formatannotation(annotation).strip("'"))
def _default(value): return "" if value is EMPTY else getattr(value, "__name__", None) or repr(value)
def _code(text): return f"`{text}`" if text else ""
def _row(*cells): return "| " + " | ".join(c.replace("|", r"\|").replace("\n", " ") for c in cells) + " |"


def signature(sym, name, width=88):
    "`name(a: int = 1) -> str`, one parameter a line where it is long"
    sig = inspect.signature(sym)
    params = [p for p in sig.parameters.values() if p.name != "self"]
    text = _short(str(sig.replace(parameters=params)))
    text = ("class " if inspect.isclass(sym) else "") + name + (text.removesuffix(" -> None") if inspect.isclass(sym) else text)
    if len(text) <= width or not params: return text
    head, tail = text.split("(", 1)[0], text.rpartition(")")[2]
    # a bare `*` or `/` is no parameter but part of the text, so the lines come from one-parameter signatures
    lines, kinds = [], inspect.Parameter
    for before, p in zip([None] + params, params):
        if p.kind is kinds.KEYWORD_ONLY and (before is None or before.kind not in (kinds.KEYWORD_ONLY, kinds.VAR_POSITIONAL)): lines.append("*")
        lines.append(_short(str(p)))
    return f"{head}(\n    " + ",\n    ".join(lines) + f",\n){tail}"


class TableRenderer(BasicMarkdownRenderer):
    "What `show_doc` puts on the site; a compiled kernel is shown by its Python function"
    def __init__(self, sym, name=None, title_level=3, **kwargs):
        super().__init__(getattr(sym, "py_func", sym), name=name, title_level=title_level, **kwargs)

    def table(self):
        "Parameters and return value, if at least one of them has a comment"
        if self.sig is None: return ""
        docs = docments(self.sym, full=True)
        result = None if inspect.isclass(self.sym) else docs.pop("return", None)
        if not any(d["docment"] for d in docs.values()) and not (result and result["docment"]): return ""
        rows = [("", "Type", "Default", "Meaning")]
        for p in self.sig.parameters.values():   # docments would guess a type from the default
            if p.name == "self": continue
            rows.append((_code(p.name), _code(_type(p.annotation)), _code(_default(p.default)), docs.get(p.name, {}).get("docment") or ""))
        if result and (result["docment"] or result["anno"] is not EMPTY):
            rows.append(("**returns**", _code(_type(result["anno"])), "", result["docment"] or ""))
        keep = [i for i in range(4) if i in (0, 3) or any(row[i] for row in rows[1:])]   # no column for nothing: phones are narrow
        head, *rest = ([row[i] for i in keep] for row in rows)
        return "\n".join([_row(*head), _row(*["---"]*len(keep))] + [_row(*row) for row in rest])

    def _repr_markdown_(self):
        source = NbdevLookup(incl_libs="kpw_nb").code(self.nm)
        parts = [f"{'#'*self.title_level} {self.nm}"]
        if source: parts.append(f"[source]({source}){{.source-link}}")
        if self.sig: parts.append(f"```python\n{signature(self.sym, self.nm)}\n```")
        return "\n\n".join(filter(None, parts + [self.docs, self.table()]))
