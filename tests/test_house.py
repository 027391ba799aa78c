"""The rules of the house (CONTRIBUTING.md), each kept by a test: how code is written,
what a module may import, what a public name owes its reader, one word for one thing."""

import argparse
import ast
import doctest
import inspect
import io
import re
import shutil
import statistics
import subprocess
import sys
import textwrap
import tokenize
from importlib import import_module
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from docstring import entries, parameters, plain, sections
from execute import NBS, ROOT, notebooks
from readme import directives
from package import LIB, PARTS, modules
from test_project import EACH, code_cells, tool

import kpw_nb

# Lines of an exported cell, docstrings not counted: a long explanation is no fault.
# A class with a long signature and ten short methods (KPWTest, KPWTestResult,
# KPWDetector) needs about 70; a function never does. What keeps notebooks readable is
# the rhythm below.
LONGEST = 75
MEDIAN, P90, RUN = 12, 28, 6  # over all exported cells; cells in a row before one runs
MOST_NAMES = 100
FOLDERS = ("tests", "tools", "docs")
CODE = ["nbs", *FOLDERS, "setup.py"]
EXPORTS = {"export", "exporti", "exports"}


# Style --------------------------------------------------------------------------------


def test_format():
    tool("ruff", "format", "--check", "--quiet", "--no-cache", *CODE)


def test_lint():
    tool("ruff", "check", "--quiet", "--output-format=concise", "--no-cache", *CODE)


def cell_code(source):
    "A cell without IPython's own lines"
    lines = source.splitlines()
    return "\n".join("pass" if re.match(r"\s*[%!?]", line) else line for line in lines)


def sources():
    "(place, Python text) of every cell and file"
    for path in notebooks():
        for number, source, _ in code_cells(path):
            if not source.startswith("%%"):
                yield f"{path.relative_to(NBS)}, cell {number}", cell_code(source)
    for path in files():
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def files():
    "The Python files that are written by hand"
    found = [p for folder in FOLDERS for p in sorted((ROOT / folder).glob("*.py"))]
    return found + [ROOT / "setup.py"]


def semicolons(source):
    "`a; b`: two statements on one line"
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.OP and token.string == ";":
            yield token.start[0], "a semicolon"


def leaves(target):
    "How many things a target assigns"
    if isinstance(target, (ast.Tuple, ast.List)):
        return sum(map(leaves, target.elts))
    return 1


def long_tuples(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and max(map(leaves, node.targets)) > 3:
            yield node.lineno, "more than three names in one assignment"


def nested_conditionals(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp):
            below = (n for child in ast.iter_child_nodes(node) for n in ast.walk(child))
            if any(isinstance(n, ast.IfExp) for n in below):
                yield node.lineno, "a conditional expression inside another"


def named_lambdas(tree):
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
            value = node.value
            parts = value.elts if isinstance(value, ast.Tuple) else [value]
            if any(isinstance(part, ast.Lambda) for part in parts):
                yield node.lineno, "a lambda with a name: use def"


RULES = (long_tuples, nested_conditionals, named_lambdas)


def faults(source):
    "[(line, what is wrong)] of a piece of Python"
    tree = ast.parse(source)
    return [*semicolons(source), *(fault for rule in RULES for fault in rule(tree))]


@pytest.mark.parametrize(
    "source, expected",
    [
        ("a = 1; b = 2", 1),
        ("text = 'a; b'  # c; d", 0),
        ("a, b, c, d = range(4)", 1),
        ("a, (b, c), d = f()", 1),
        ("a, b, c = range(3)", 0),
        ("a = 1 if b else (2 if c else 3)", 1),
        ("a = [1 if b else 2 for b in (c if d else e)]", 0),
        ("f = lambda x: x", 1),
        ("f, g = abs, lambda x: x", 1),
        ("sorted(a, key=lambda x: x)", 0),
    ],
)
def test_faults_are_found(source, expected):
    assert len(faults(source)) == expected


@pytest.mark.quick
def test_style():
    found = [
        f"{place}, line {line}: {what}"
        for place, source in sources()
        for line, what in faults(source)
    ]
    assert not found, "\n".join(found)


def docstring_lines(tree):
    "How many lines the docstrings of functions and classes take"
    documented = (ast.FunctionDef, ast.ClassDef)
    nodes = [n for n in ast.walk(tree) if isinstance(n, documented)]
    texts = [n.body[0] for n in nodes if ast.get_docstring(n)]
    return sum(text.end_lineno - text.lineno + 1 for text in texts)


def code_lines(source):
    "Lines of code of an exported cell; 0 if it only imports"
    lines = [line for line in source.splitlines() if not line.startswith("#|")]
    tree = ast.parse("\n".join(lines))
    if all(isinstance(node, (ast.Import, ast.ImportFrom)) for node in tree.body):
        return 0
    return sum(bool(line.strip()) for line in lines) - docstring_lines(tree)


def exported_lengths(path):
    "{cell: lines of code} of the exported cells, without those that only import"
    found = {}
    for number, source, _ in code_cells(path):
        if directives(source).keys() & EXPORTS and (lines := code_lines(source)):
            found[number] = lines
    return found


def longest_run(path):
    "Most exported cells in a row before a cell that runs"
    exported, longest, run = exported_lengths(path), 0, 0
    for number, source, _ in code_cells(path):
        words = directives(source).keys()
        if number in exported:
            run += 1
            longest = max(longest, run)
        elif not words & (EXPORTS | {"hide", "default_exp"}):
            run = 0
    return longest


def test_code_is_counted_without_docstrings():
    source = '#| export\ndef f():\n    """One.\n    Two.\n    """\n\n    return 1\n'
    assert code_lines(source) == 2
    assert code_lines("#| export\nimport ast\n") == 0


@EACH
def test_cells_are_short(path):
    long = {n: lines for n, lines in exported_lengths(path).items() if lines > LONGEST}
    assert not long, f"{{cell: lines}} beyond {LONGEST}: {long}"


def test_rhythm():
    "One idea, then at once a cell that uses it; the message names the worst notebooks"
    lengths = {p.stem: sorted(exported_lengths(p).values()) for p in notebooks()}
    runs = {p.stem: longest_run(p) for p in notebooks()}
    every = sorted(n for v in lengths.values() for n in v)
    medians = {k: statistics.median(v) for k, v in lengths.items() if v}
    tails = {k: v[int(0.9 * len(v))] for k, v in lengths.items() if v}
    found = statistics.median(every), every[int(0.9 * len(every))], max(runs.values())
    limits = dict(median=(medians, MEDIAN), p90=(tails, P90), run=(runs, RUN))
    worst = {
        name: sorted(((v, k) for k, v in of.items() if v > most), reverse=True)
        for name, (of, most) in limits.items()
    }
    text = "\n".join(f"{name} beyond the limit: {w}" for name, w in worst.items())
    assert all(f <= m for f, m in zip(found, (MEDIAN, P90, RUN))), f"{found}\n{text}"


# Imports ------------------------------------------------------------------------------

# what a function may import from a later notebook: a result can draw itself
LATER = {"show.plots", "show.report"}


def module_order():
    "{part.module: (place of the part, file name)} of every module's notebook"
    order = {}
    for place, part in enumerate(PARTS):
        for path in sorted((NBS / part).glob("[0-9]*.ipynb")):
            text = "\n".join(source for _, source, _ in code_cells(path))
            if m := re.search(r"^#\|\s*default_exp\s+(\S+)", text, re.M):
                order[m[1]] = place, path.stem
    return order


def imports(tree, part="", inside=False):
    "(module, names, inside a function?, line) of every import from the package"
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [a.name for a in node.names]
            if node.level or node.module.startswith(f"{LIB}."):
                module = node.module.removeprefix(f"{LIB}.")
                yield (
                    f"{part}.{module}" if node.level == 1 else module,
                    names,
                    inside,
                    node.lineno,
                )
            elif node.module == LIB:
                homes = kpw_nb._HOME
                for name in names:
                    yield homes.get(name, name), [name], inside, node.lineno
        elif isinstance(node, ast.Import):
            for a in node.names:
                if a.name.startswith(f"{LIB}."):
                    yield a.name.removeprefix(f"{LIB}."), [], inside, node.lineno
        function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        yield from imports(node, part, inside or function)


def test_every_module_has_a_notebook():
    assert set(module_order()) == set(modules())


@pytest.mark.quick
@pytest.mark.parametrize("module", modules())
def test_imports_go_down(module):
    order = module_order()
    part, _, name = module.partition(".")
    tree = ast.parse((ROOT / LIB / part / f"{name}.py").read_text(encoding="utf-8"))
    wrong = []
    for other, _, inside, line in imports(tree, part):
        if other not in order:
            continue  # the package itself: its version
        allowed = inside and other in LATER
        if order[other] >= order[module] and not allowed:
            wrong.append(f"line {line}: {order[module]} imports {order[other]}")
    assert not wrong, "\n".join(wrong)


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


@pytest.mark.quick
def test_no_private_imports():
    "Neither a module nor a notebook's reader takes another module's private names"
    wrong = []
    for path in notebooks():
        for number, source, _ in code_cells(path):
            if source.startswith("%%"):
                continue
            for other, names, _, _ in imports(ast.parse(cell_code(source))):
                private = list(filter(is_private, names))
                if private and not path.stem.endswith(f"_{other.rpartition('.')[2]}"):
                    wrong.append(f"{path.stem}, cell {number}: {other}.{private}")
    assert not wrong, "\n".join(wrong)


OPTION = re.compile(r"[\"' ]--[a-z]{3,}|kpw-nb")


@pytest.mark.parametrize("module", modules())
def test_only_show_knows_the_command(module):
    """No option of the command line below `show`: an error names an argument, and the
    command line renders it. Mutation: "use --columns" in ground.files."""
    part, _, name = module.partition(".")
    if part == "show":
        return
    text = (ROOT / LIB / part / f"{name}.py").read_text(encoding="utf-8")
    found = [
        f"line {i}: {line.strip()}"
        for i, line in enumerate(text.splitlines(), 1)
        if OPTION.search(line)
    ]
    assert not found, "\n".join(found)


# Public names -------------------------------------------------------------------------


def public():
    "{module.name: object} of every module's __all__"
    found = {}
    for module in modules():
        m = import_module(f"{LIB}.{module}")
        found |= {f"{module}.{name}": getattr(m, name) for name in m.__all__}
    return found


PUBLIC = public()
FRONT = {name: getattr(kpw_nb, name) for name in kpw_nb.__all__}


def is_record(symbol):
    "A result: a dataclass or a named tuple"
    return inspect.isclass(symbol) and (
        hasattr(symbol, "__dataclass_fields__") or hasattr(symbol, "_fields")
    )


def methods(symbol):
    "{name: function} of a class's public methods, with those of its bases here"
    found = {}
    for cls in reversed(symbol.__mro__) if inspect.isclass(symbol) else ():
        if cls.__module__.startswith(f"{LIB}."):
            found |= {n: f for n, f in vars(cls).items() if inspect.isfunction(f)}
    return {n: f for n, f in found.items() if not n.startswith("_")}


def documented(symbol):
    "Names in the sections Parameters, Other Parameters and (of a record) Attributes"
    parts = sections(symbol)
    headings = ["Parameters", "Other Parameters"]
    headings += ["Attributes"] if is_record(symbol) else []
    return [e.name for h in headings for e in entries(parts.get(h, ""))]


def test_public_names_are_few():
    count = len(PUBLIC)
    per_module = {m: sum(n.startswith(f"{m}.") for n in PUBLIC) for m in modules()}
    assert count <= MOST_NAMES, f"{count} public names: {per_module}"


@pytest.mark.parametrize("name", FRONT)
def test_front_is_documented(name):
    "What help() of the package's own names must say"
    symbol, parts = FRONT[name], sections(FRONT[name])
    names = [p.name for p in parameters(symbol)]
    assert parts[""].strip(), "no summary"
    assert sorted(documented(symbol)) == sorted(names)
    assert inspect.isclass(symbol) or "Returns" in parts
    assert ">>> " in parts.get("Examples", ""), "no example"


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_are_documented(name):
    "A summary for all; a parameter that is documented exists, and then all are"
    symbol = PUBLIC[name]
    if not (inspect.isclass(symbol) or inspect.isroutine(plain(symbol))):
        return  # a constant
    for label, s in {name: symbol, **methods(symbol)}.items():
        assert (inspect.getdoc(plain(s)) or "").strip(), f"{label} has no docstring"
        found = documented(s)
        names = [p.name for p in parameters(s)]
        assert set(found) <= set(names), f"{label} documents what it does not take"
        assert not found or sorted(found) == sorted(names), f"{label} leaves one out"


def longest_tuple(function):
    "The most values that one `return a, b, c` of a function gives"
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    found, todo = [0], list(ast.iter_child_nodes(tree))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
            found.append(len(node.value.elts))
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
            todo += ast.iter_child_nodes(node)
    return max(found)


@pytest.mark.parametrize("name", PUBLIC)
def test_results_have_names(name):
    "No bare tuple of more than two"
    for label, s in {name: PUBLIC[name], **methods(PUBLIC[name])}.items():
        if inspect.isfunction(plain(s)):
            assert longest_tuple(plain(s)) <= 2, f"{label} returns a tuple"


def doctests(module):
    "Those of every docstring in a module, of compiled functions too"
    m = import_module(f"{LIB}.{module}")
    finder = doctest.DocTestFinder()
    found = {t.name: t for t in finder.find(m)}
    for name, value in vars(m).items():
        function = plain(value)
        if function is not value and function.__module__ == m.__name__:
            found |= {t.name: t for t in finder.find(function, f"{m.__name__}.{name}")}
    return [t for t in found.values() if t.examples]


@pytest.mark.quick
@pytest.mark.parametrize("module", modules())
def test_examples_in_docstrings_run(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
    with np.printoptions():
        for test in doctests(module):
            runner.run(test, out=report.write)
    plt.close("all")
    assert not runner.failures, report.getvalue()


# One vocabulary -----------------------------------------------------------------------

LEARN = {"fit", "fit_transform", "partial_fit", "score", "transform"}  # scikit-learn's
# what repeats a run; how many iterations it took; positions in a plan
IN_RECORDS = {"seed", "n_iter", "cols"}


# One word for one thing, in every signature and in the options of the command line
# (`--n-resamples`; `--seed` is the one other spelling, of `rng`).
WORDS = {
    # relabellings that are drawn for a p-value
    "n_resamples": "permutations n_permutations n_perm n_perms n_resample n_boot reps",
    # share of the rows, or their number, that trains
    "train_size": "train_frac train_fraction test_size",
    # where randomness comes from: an integer, Generator, SeedSequence or None
    "rng": "seed random_state random_seed generator",
    # how many run at once, or a map-like function
    "workers": "n_jobs jobs n_workers num_workers n_threads processes",
    # show how far it is: True, False or a function of (done, total)
    "progress": "verbose show_progress disp callback",
    # width of a kernel, in the units of the data
    "bandwidth": "sigma length_scale lengthscale bw",
    # 0 and 1 for the rows of a pooled sample
    "labels": "y targets classes",
    # level of a test
    "alpha": "level significance",
    # repetitions in a study
    "n_trials": "trials n_reps n_rep repetitions n_repeats",
    # frames that a detector compares
    "window": "window_size window_length win",
    # folder that keeps what is finished
    "store": "cache cache_dir checkpoint",
    # when to stop, with what is known by then
    "max_seconds": "timeout time_limit max_time",
    # most iterations
    "max_iter": "n_iter n_iterations max_iterations maxiter num_iter",
    # when an iteration stops
    "tol": "tolerance atol rtol",
    # how often a solver starts
    "n_starts": "n_init restarts n_restarts",
    # names of the variables
    "columns": "feature_names cols variables",
    # labels of the observations, as the user knows them
    "rows": "row_names row_labels observations",
    # dimensions that a projector maps to
    "d": "n_components dim n_dims ndim",
    # entropic regularisation
    "eta": "epsilon regularization regularisation",
    # smoothness of a projector, relative to the top eigenvalue
    "ridge": "mu lam",
    # which algorithm, by name
    "method": "algorithm algo",
    # labels move within one only: a column, or the labels of both samples
    "strata": "strata_key batch_key stratum",
    # rows that carry the label together
    "clusters": "donors subjects",
}


def vocabulary():
    "{synonym: the house's word}"
    return {other: word for word, others in WORDS.items() for other in others.split()}


def refused(names, method="", record=False):
    "[(synonym, word)] among the parameters of one function"
    allowed = IN_RECORDS if record else set()
    if method in LEARN or "x" in names:
        allowed = allowed | {"y"}  # scikit-learn's name; the second of two points
    words = vocabulary()
    return [(n, words[n]) for n in names if n in words and n not in allowed]


def test_vocabulary_is_read():
    words = vocabulary()
    assert len(set(words.values())) >= 16
    assert words["n_permutations"] == "n_resamples" and words["seed"] == "rng"
    assert not set(words) & set(words.values()), "a word is also a synonym"
    assert refused(["X", "Y", "n_jobs"]) == [("n_jobs", "workers")]
    assert refused(["Z", "y"]) and not refused(["Z", "y"], "fit")
    assert refused(["seed"]) and not refused(["seed"], record=True)


@pytest.mark.parametrize("name", PUBLIC)
def test_one_word_for_one_thing(name):
    symbol = PUBLIC[name]
    if not (inspect.isclass(symbol) or inspect.isroutine(plain(symbol))):
        return
    names = [p.name for p in parameters(symbol)]
    wrong = {name: refused(names, record=is_record(symbol))}
    for method, function in methods(symbol).items():
        wrong[method] = refused([p.name for p in parameters(function)], method)
    wrong = {k: v for k, v in wrong.items() if v}
    assert not wrong, f"(found, the house's word): {wrong}"


def command_parsers(monkeypatch):
    "{command: its parser} of kpw-nb"

    class Found(BaseException):
        pass

    def found(parser, *args, **kwargs):
        raise Found(parser)

    from kpw_nb.show.cli import main

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", found)
    with pytest.raises(Found) as caught:
        main([])
    actions = caught.value.args[0]._actions
    commands = [a for a in actions if isinstance(a, argparse._SubParsersAction)]
    return commands[0].choices


def test_options_use_the_same_words(monkeypatch):
    wrong = []
    parsers = command_parsers(monkeypatch)
    assert {"test", "detect"} <= parsers.keys()
    for command, parser in parsers.items():
        options = [o for action in parser._actions for o in action.option_strings]
        names = [o.removeprefix("--").replace("-", "_") for o in options]
        words = vocabulary() | {"resamples": "n_resamples", "trials": "n_trials"}
        wrong += [
            f"{command} --{n}: {words[n]}" for n in names if n in words and n != "seed"
        ]
    assert not wrong, "\n".join(wrong)


# Types --------------------------------------------------------------------------------


def mypy(*args, cwd=ROOT):
    command = [sys.executable, "-m", "mypy", "--cache-dir", cwd / ".mypy_cache", *args]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


def test_mypy(tmp_path):
    "The public signatures make sense, and a user's program is checked against them"
    shutil.copytree(
        ROOT / LIB, tmp_path / LIB, ignore=shutil.ignore_patterns("__pycache__")
    )
    assert (tmp_path / LIB / "py.typed").is_file()
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    run = mypy("-p", LIB, cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    run = mypy("user.py", cwd=tmp_path)
    lines = {int(m) for m in re.findall(r"^user.py:(\d+): error", run.stdout, re.M)}
    wrong = {i for i, line in enumerate(USER.splitlines(), 1) if "# wrong" in line}
    assert lines == wrong, run.stdout + run.stderr


USER = """
import numpy as np
from kpw_nb import KPWProjector, kpw_test

X, Y = np.zeros((10, 2)), np.ones((10, 2))
result = kpw_test(X, Y, n_resamples=99, rng=0)
pvalue: float = result.pvalue
rows = result.where().rows
kpw_test(X, Y, n_perm=99)  # wrong
kpw_test(X, Y, n_resamples="many")  # wrong
text: str = result.pvalue  # wrong
result.p_value  # wrong
projector = KPWProjector(d=2).fit(np.r_[X, Y], np.repeat([0, 1], 10))
"""


def test_types_are_shipped():
    "The marker is in a wheel's list of files"
    assert "py.typed" in (ROOT / "setup.py").read_text(encoding="utf-8")
    assert Path(ROOT / LIB / "py.typed").read_text(encoding="utf-8") == ""
