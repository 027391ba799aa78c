"""NumPy docstrings taken apart, for the rules of the house (tests/test_house.py)."""

import inspect
import re
from typing import NamedTuple


class Entry(NamedTuple):
    "One parameter or result: `name : type`, and its text below"

    name: str
    type: str
    text: str


def plain(symbol):
    "The Python function behind a compiled one"
    return getattr(symbol, "py_func", symbol)


def sections(symbol):
    "{heading: text} of a docstring; the summary has the key ''"
    doc = inspect.getdoc(plain(symbol)) or ""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}$", doc, flags=re.M)
    headings = [""] + parts[1::2]
    return {h: text.strip("\n") for h, text in zip(headings, parts[0::2])}


def entries(text):
    "[Entry, ...] of a section such as Parameters; `a, b : int` gives two"
    found = []
    for block in re.split(r"\n(?=\S)", text.strip("\n")):
        if not block.strip():
            continue
        head, _, body = block.partition("\n")
        names, _, kind = head.partition(" : ")
        meaning = inspect.cleandoc(body)
        for name in names.split(","):
            found.append(Entry(name.strip().lstrip("*"), kind.strip(), meaning))
    return found


def parameters(symbol):
    "[inspect.Parameter, ...] of a function or class, without self"
    try:
        found = inspect.signature(plain(symbol)).parameters.values()
    except (TypeError, ValueError):
        return []  # a class that adds nothing to a built-in one
    return [p for p in found if p.name not in ("self", "cls")]
