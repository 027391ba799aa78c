"""A runnable example for each public symbol, cut out of the notebooks.

The example is a cell that uses the symbol, with the statements of earlier cells that
it needs put before it (a backward slice) and exported names imported from the
package. So it runs by itself, and it is a cell that the tests execute."""

import ast
import builtins
import re
import symtable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import import_module

MUTATORS = {
    "append",
    "extend",
    "update",
    "add",
    "sort",
    "fill",
    "pop",
    "insert",
    "remove",
    "clear",
    "shuffle",
}
LONG = 18  # lines; a longer example is taken only where there is no shorter one


def directives(source):
    "`#| echo: false` -> {'echo': 'false'}, `#| hide` -> {'hide': ''}"
    return dict(re.findall(r"^#\|\s*([\w-]+):?[ \t]*(.*?)\s*$", source, re.M))


def strip(source):
    "A cell without its directives"
    return "\n".join(
        line for line in source.splitlines() if not re.match(r"#\|", line)
    ).strip()


def parse(source):
    try:
        return ast.parse(source).body
    except SyntaxError:
        return []


def global_names(table):
    "Names that functions, lambdas and comprehensions inside take from outside"
    found = set()
    for child in table.get_children():
        found |= {
            s.get_name() for s in child.get_symbols() if s.is_global()
        } | global_names(child)
    return found


@lru_cache(maxsize=None)
def names(text):
    "(assigned, needed from before) of the top-level statements in a text"
    table = symtable.symtable(text, "<cell>", "exec")
    assigned = {
        s.get_name()
        for s in table.get_symbols()
        if s.is_assigned() or s.is_imported() or s.is_namespace()
    }
    read = {s.get_name() for s in table.get_symbols() if s.is_referenced()}
    # the first thing that happens to a name; names whose value is changed in place
    first = {}
    changed = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            # in `x = f(x)` the right side comes first: a later column, but an earlier
            # read
            at = (node.lineno, isinstance(node.ctx, ast.Store), node.col_offset)
            if node.id not in first or at < first[node.id][0]:
                first[node.id] = at, isinstance(node.ctx, ast.Load)
        base = None
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(
            node.ctx, ast.Store
        ):
            base = node.value
        if isinstance(node, ast.AugAssign):
            base = node.target
        call = (
            node.value if isinstance(node, ast.Expr) else None
        )  # as a statement: `np.add(...)` changes nothing
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr in MUTATORS
        ):
            base = call.func.value
        while isinstance(base, (ast.Subscript, ast.Attribute)):
            base = base.value
        if isinstance(base, ast.Name):
            changed.add(base.id)
    targets = {
        n.id
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.For, ast.With))
        for part in (
            [node.target]
            if isinstance(node, ast.For)
            else [i.optional_vars for i in node.items if i.optional_vars]
        )
        for n in ast.walk(part)
        if isinstance(n, ast.Name)
    }
    needed = {
        n
        for n in read
        if n not in assigned or (n not in targets and first.get(n, (0, False))[1])
    }
    changed &= {s.get_name() for s in table.get_symbols()} | global_names(
        table
    )  # not `self` of a method
    needed |= (global_names(table) - assigned) | changed
    return frozenset(assigned | changed), frozenset(
        n for n in needed if not hasattr(builtins, n)
    )


@dataclass
class Statement:
    text: str
    exported: str = ""  # the module, if a reader would import it instead
    node: ast.stmt = None

    @property
    def names(self):
        return names(self.text)

    @property
    def defines(self):
        return isinstance(self.node, (ast.FunctionDef, ast.ClassDef))

    @property
    def patched(self):
        return isinstance(self.node, ast.FunctionDef) and any(
            "patch" in ast.unparse(d) for d in self.node.decorator_list
        )


@dataclass
class Cell:
    "A code cell of a notebook: its statements, and whether it may serve as an example"

    index: int
    source: str
    outputs: list
    flags: dict
    statements: list = field(default_factory=list)

    @property
    def shown(self):
        return (
            bool(self.statements)
            and not self.flags.keys()
            & {"hide", "export", "exporti", "exports", "default_exp"}
            and self.flags.get("eval") != "false"
            and self.flags.get("echo") != "false"
            and not all(
                isinstance(s.node, (ast.Import, ast.ImportFrom))
                for s in self.statements
            )
        )

    @cached_property
    def uses(self):
        wanted = set()
        for s in reversed(self.statements):
            wanted = (wanted - s.names[0]) | s.names[1]
        return wanted - {
            name for s in self.statements if s.defines for name in s.names[0]
        }


def cells(nb, module, lib):
    "The code cells of a notebook"
    found = []
    for i, cell in enumerate(nb.cells):
        if cell.cell_type != "code":
            continue
        flags, source = directives(cell.source), strip(cell.source)
        lines, made = source.splitlines(), []
        exported = (
            f"{lib}.{module}" if flags.keys() & {"export", "exporti", "exports"} else ""
        )
        if flags.get("eval") != "false":
            for node in parse(source):
                first = min(
                    [node.lineno]
                    + [d.lineno for d in getattr(node, "decorator_list", [])]
                )
                text = "\n".join(lines[first - 1 : node.end_lineno])
                if len(parse(text)) != 1:
                    text = ast.get_source_segment(source, node)  # `a = 1; b = 2`
                made.append(
                    Statement(
                        text,
                        ""
                        if isinstance(node, (ast.Import, ast.ImportFrom))
                        else exported,
                        node,
                    )
                )
        found.append(Cell(i, source, cell.get("outputs", []), flags, made))
    return found


def needed_imports(statement, wanted):
    "{(module, name or '', alias)} of an import statement for the names in question"
    out = set()
    if isinstance(statement.node, ast.Import):
        out = {
            (a.name, "", a.asname or "")
            for a in statement.node.names
            if (a.asname or a.name.partition(".")[0]) in wanted
        }
    elif isinstance(statement.node, ast.ImportFrom):
        for a in statement.node.names:
            if a.name == "*":
                out |= {
                    (statement.node.module, n, "")
                    for n in wanted
                    if n in star(statement.node.module)
                }
            elif (a.asname or a.name) in wanted:
                out.add((statement.node.module, a.name, a.asname or ""))
    return out


@lru_cache(maxsize=None)
def star(module):
    m = import_module(module)
    return frozenset(
        getattr(m, "__all__", None) or (n for n in vars(m) if not n.startswith("_"))
    )


def slice_back(book, cell):
    "(imports, statements, names that nobody defines) that make one cell run by itself"
    wanted, imports, before = set(cell.uses), set(), []
    for earlier in reversed([c for c in book if c.index < cell.index]):
        chosen = {}
        for again in (
            False,
            True,
            True,
        ):  # a function may use what its own cell defines below it
            for i, s in reversed(list(enumerate(earlier.statements))):
                if i in chosen or (
                    (again or "slow" in earlier.flags) and not s.defines
                ):
                    continue
                assigned, needed = s.names
                if isinstance(s.node, (ast.Import, ast.ImportFrom)):
                    got = needed_imports(s, wanted)
                    imports |= got
                    wanted -= {
                        alias or name or module.partition(".")[0]
                        for module, name, alias in got
                    }
                elif s.exported:  # a method patched into a class comes with the class
                    got = set() if s.patched else assigned & wanted
                    imports |= {(s.exported, name, "") for name in got}
                    wanted -= got
                elif assigned & wanted:
                    wanted = (wanted - assigned) | needed
                    chosen[i] = s.text
        before[:0] = [chosen[i] for i in sorted(chosen)]
    return imports, before, wanted - {"display", "get_ipython", "__file__", "__name__"}


def render_imports(imports, lib):
    "Import lines: standard library and others first, the package last"
    plain = sorted(
        f"import {m}" + (f" as {a}" if a else "") for m, n, a in imports if not n
    )
    modules = {}
    for m, n, a in imports:
        if n:
            modules.setdefault(m, set()).add(n + (f" as {a}" if a else ""))
    lines = [
        f"from {m} import {', '.join(sorted(modules[m]))}"
        for m in sorted(modules, key=lambda m: (m.startswith(lib), m))
    ]
    return plain + lines


@dataclass
class Example:
    code: str
    outputs: list
    page: str  # the notebook it comes from
    index: int  # and its cell
    unknown: set
    slow: bool = False
    through: str = ""  # the function or subclass that it shows instead
    shown: bool = False  # with the docstring that it is from

    @property
    def n_lines(self):
        return len(self.code.splitlines())


def example_of(book, cell, page, lib):
    imports, before, unknown = slice_back(book, cell)
    parts = ["\n".join(render_imports(imports, lib)), "\n".join(before), cell.source]
    return Example(
        "\n\n".join(filter(None, parts)),
        cell.outputs,
        page,
        cell.index,
        unknown,
        "slow" in cell.flags,
    )


def find_example(name, page, books, lib):
    """The first short example in the symbol's own notebook, else the shortest there,
    else one of another notebook"""
    for other in [page] + [p for p in books if p != page]:
        book = books[other]
        defined = next(
            (
                c.index
                for c in book
                for s in c.statements
                if s.exported and name in s.names[0]
            ),
            -1,
        )
        users = [c for c in book if c.shown and c.index > defined and name in c.uses]
        if other != page:  # the same word may be something else there
            users = [
                c
                for c in users
                if any(
                    n == name and m.startswith(lib)
                    for m, n, _ in slice_back(book, c)[0]
                )
            ]
        if not users:
            continue
        made = [
            e for e in (example_of(book, c, other, lib) for c in users) if not e.unknown
        ]
        if not made:
            continue
        made.sort(key=lambda e: e.slow)  # a slow cell only where there is no other
        short = (
            made[:1]
            if made[0].slow
            else [e for e in made if e.n_lines <= LONG and not e.slow]
        )
        return next((e for e in short if e.outputs), None) or (
            short[0] if short else min(made, key=lambda e: e.n_lines)
        )
    return None
