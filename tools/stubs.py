"""Type stubs of the package: `python tools/stubs.py` writes kpw_nb/*.pyi.

Methods that `@patch` adds to a class are not seen by type checkers and editors. The
stubs hold what is there at run time: every name without an underscore, its parameters
and results. What has no annotation is `Any`; a default of None makes a type
optional."""

import builtins
import inspect
import re
import sys
from functools import cached_property
from importlib import import_module
from pathlib import Path

from docstring import EMPTY, plain

ROOT = Path(__file__).resolve().parents[1]
LIB = "kpw_nb"
WIDTH = 88
HEAD = "# Made from the package by tools/stubs.py: do not edit.\n"


def modules():
    "Names of the modules that notebooks make"
    found = (ROOT / LIB).glob("*.py")
    return sorted(p.stem for p in found if not p.stem.startswith("_"))


def members(module):
    "{name: object} that the module defines, without the private ones"
    public = set(module.__all__)
    found = {}
    for name, value in vars(module).items():
        home = getattr(plain(value), "__module__", None)
        if name in public or (
            not name.startswith("_")
            and home == module.__name__
            and (inspect.isclass(value) or inspect.isfunction(plain(value)))
        ):
            found[name] = value
    return found


class Types:
    "Annotations as text, and the imports they need"

    def __init__(self, module):
        self.module = module
        self.imports = {"from typing import Any"}

    def text(self, annotation, default=EMPTY):
        "`int | None`; Any for what has no annotation or none that can be named"
        if annotation is EMPTY:
            return "Any"
        text = annotation
        if not isinstance(annotation, str):
            text = inspect.formatannotation(annotation)
        text = text.replace(f"{self.module.__name__}.", "").strip("'\"")
        if not self.known(text):
            return "Any"
        optional = default is None and not re.search(r"\b(None|Any|Optional)\b", text)
        return f"{text} | None" if optional else text

    def known(self, text):
        "Can every name in the text be imported? The imports are noted"
        needed = set()
        for name in set(re.findall(r"(?<![\w.])[A-Za-z_][\w.]*", text)):
            root, dot, _ = name.partition(".")
            if hasattr(builtins, root) or root in members(self.module):
                continue
            value = vars(self.module).get(root)
            if dot and root in sys.modules:
                needed.add(f"import {name.rpartition('.')[0]}")
            elif inspect.ismodule(value):
                needed.add(f"import {value.__name__} as {root}")
            elif getattr(value, "__module__", None):
                needed.add(f"from {value.__module__} import {root}")
            else:
                return False
        self.imports |= needed
        return True

    def parameter(self, p):
        "One parameter: `name: type = default`"
        if p.name in ("self", "cls") and p.annotation is EMPTY:
            return p.name
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        text = f"{stars}{p.name}: {self.text(p.annotation, p.default)}"
        if p.default is EMPTY:
            return text
        simple = isinstance(p.default, (int, float, str, bool, type(None)))
        finite = simple and repr(p.default) not in ("inf", "-inf", "nan")
        return f"{text} = {p.default!r}" if finite else f"{text} = ..."

    def function(self, name, function, indent="", result=None):
        "`def name(...) -> type: ...`, one parameter a line where it is long"
        sig = inspect.signature(plain(function))
        parts, star = [], False
        for p in sig.parameters.values():
            if p.kind is p.VAR_POSITIONAL:
                star = True
            if p.kind is p.KEYWORD_ONLY and not star:
                parts.append("*")
                star = True
            bare = indent and not parts and p.name == "self"
            parts.append("self" if bare else self.parameter(p))
        result = result or self.text(sig.return_annotation)
        line = f"{indent}def {name}({', '.join(parts)}) -> {result}: ..."
        if len(line) <= WIDTH:
            return line
        inner = "".join(f"\n{indent}    {part}," for part in parts)
        return f"{indent}def {name}({inner}\n{indent}) -> {result}: ..."


class ClassStub:
    "One class: bases, fields, methods and properties"

    def __init__(self, cls, types):
        self.cls = cls
        self.types = types

    @cached_property
    def bases(self):
        "Those that have a stub of their own or are built in"
        if hasattr(self.cls, "_fields"):
            self.types.imports.add("from typing import NamedTuple")
            return ["NamedTuple"]
        return [self.base_name(b) for b in self.cls.__bases__ if self.stubbed(b)]

    def base_name(self, base):
        home = base.__module__
        if home.startswith(LIB) and home != self.types.module.__name__:
            self.types.imports.add(f"from {home} import {base.__name__}")
        return base.__name__

    @staticmethod
    def stubbed(base):
        builtin = base.__module__ == "builtins" and base is not object
        ours = base.__module__.startswith(f"{LIB}.")
        return builtin or (ours and not base.__name__.startswith("_"))

    def values(self):
        "{name: value} of the class and of the bases without a stub"
        found = {}
        for c in reversed(self.cls.__mro__):
            ours = c.__module__.startswith(f"{LIB}.")
            if ours and (c is self.cls or not self.stubbed(c)):
                found |= vars(c)
        return found

    def fields(self):
        for name, annotation in self.cls.__dict__.get("__annotations__", {}).items():
            yield f"    {name}: {self.types.text(annotation)}"

    def methods(self):
        record = hasattr(self.cls, "__dataclass_fields__")
        wanted = {"__init__", "__call__", "__len__", "__getitem__", "__iter__"}
        for name, value in sorted(self.values().items()):
            hidden = name.startswith("_") and name not in wanted
            made = name in ("__init__", "__getitem__", "__iter__", "__len__")
            if hidden or (made and hasattr(self.cls, "_fields")):
                continue
            if record and name == "__init__":
                yield from self.constructor(value)
            else:
                yield from self.member(name, value)

    def constructor(self, value):
        "That of a dataclass: its parameters are the fields"
        yield self.types.function("__init__", value, "    ", "None")

    def member(self, name, value):
        if isinstance(value, (property, cached_property)):
            get = value.fget if isinstance(value, property) else value.func
            kind = self.types.text(inspect.signature(get).return_annotation)
            yield f"    @property\n    def {name}(self) -> {kind}: ..."
        elif isinstance(value, (classmethod, staticmethod)):
            kind = type(value).__name__
            text = self.types.function(name, value.__func__, "    ")
            yield f"    @{kind}\n{text}"
        elif inspect.isfunction(value):
            result = "None" if name == "__init__" else None
            yield self.types.function(name, value, "    ", result)

    def text(self):
        bases = f"({', '.join(self.bases)})" if self.bases else ""
        body = [*self.fields(), *self.methods()]
        if not hasattr(self.cls, "__dataclass_fields__"):
            # what `fit` learns is set at run time, and so are scikit-learn's methods
            body += ["    def __getattr__(self, name: str) -> Any: ..."]
        return f"class {self.cls.__name__}{bases}:\n" + "\n".join(body or ["    ..."])


def stub(name):
    "The text of one module's stub"
    module = import_module(f"{LIB}.{name}")
    types, parts = Types(module), []
    for key, value in members(module).items():
        if inspect.isclass(value) and value.__name__ != key:
            parts.append(f"{key} = {value.__name__}")  # another name for it
        elif inspect.isclass(value):
            parts.append(ClassStub(value, types).text())
        elif inspect.isfunction(plain(value)):
            parts.append(types.function(key, value))
        else:
            parts.append(f"{key}: Any")
    names = "".join(f"\n    {n!r}," for n in module.__all__)
    listed = f"__all__ = [{names}\n]" if names else "__all__: list[str] = []"
    imports = "\n".join(sorted(types.imports))
    return "\n\n".join([HEAD + imports, listed, *parts]) + "\n"


def front():
    "The stub of the package itself: its names are loaded at first use"
    package = import_module(LIB)
    lines = [
        f"from .{import_home(name)} import {name} as {name}" for name in package.__all__
    ]
    return HEAD + "\n".join(lines) + "\n\n__version__: str\n"


def import_home(name):
    "The module that a name of the package comes from"
    return getattr(import_module(LIB), name).__module__.rpartition(".")[2]


def stubs():
    "{file name: text} of all stubs"
    made = {f"{name}.pyi": stub(name) for name in modules()}
    return made | {"__init__.pyi": front()}


def main():
    sys.path.insert(0, str(ROOT))
    made = stubs()
    for old in (ROOT / LIB).glob("*.pyi"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (ROOT / LIB / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
