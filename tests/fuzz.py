"""Calls of every public name as plain data, a child that runs one, and a judge.

A case is JSON: `make` gives the tables, `RUNS` does what a user would do with them and
checks what an answer must keep, `outcome` runs it in a forked child with a watchdog
and a limit of memory. A case may end in an answer, or in an error of the house."""

import contextlib
import csv
import io
import json
import linecache
import math
import os
import pickle
import resource
import select
import signal
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import kpw_nb
from kpw_nb.ground.errors import InputError

HOUSE = str(Path(kpw_nb.__file__).parent)
SECONDS, MEMORY = 60, 3 << 30  # of processor time; bytes beyond what is there already

# Tables -------------------------------------------------------------------------------

KINDS = """normal heavy uniform integers counter constant zeros bool text levels date
duration gaps all_nan infinite huge tiny objects none number_texts nested""".split()
BOXES = """array float32 int8 list fortran strided frozen masked pandas indexed repeated
categorical nullable polars pyarrow series one_d three_d sparse dict tuple none text
records empty object complex longdouble memoryview""".split()


def column(kind, n, g):
    "n values of one kind"
    z = g.normal(size=n)
    values = {
        "normal": lambda: z,
        "heavy": lambda: g.standard_cauchy(n),
        "uniform": lambda: g.random(n),
        "integers": lambda: g.integers(-5, 5, n),
        "counter": lambda: np.arange(n),
        "constant": lambda: np.full(n, 3.5),
        "zeros": lambda: np.where(z > 1, z, 0.0),
        "bool": lambda: z > 0,
        "text": lambda: [f"t{k}" for k in range(n)],
        "levels": lambda: g.choice(["a", "b", "ü{x}", "$x_{$", "\x1b[31m"], n),
        "date": lambda: np.datetime64("2020-01-01", "s") + np.arange(n) * 86400,
        "duration": lambda: g.integers(0, 99, n).astype("m8[s]"),
        "gaps": lambda: np.where(z > 1, np.nan, z),
        "all_nan": lambda: np.full(n, np.nan),
        "infinite": lambda: np.where(z > 1, np.inf, z),
        "huge": lambda: z * 1e200,
        "tiny": lambda: z * 1e-200,
        "objects": lambda: [object(), 1, "a", None][: max(n, 0)] + [2.0] * (n - 4),
        "none": lambda: [None] * n,
        "number_texts": lambda: [f"{v:.3f}" for v in z],
        "nested": lambda: [[1, 2]] * n,
    }
    found = list(values[kind]())[:n]
    return found + [0] * (n - len(found))


def frame_of(spec):
    "The table of a spec as a pandas frame"
    g = np.random.default_rng(spec["seed"])
    n, kinds = spec["n"], spec["kinds"]
    columns = {k: column(kind, n, g) for k, kind in enumerate(kinds)}
    frame = pd.DataFrame(columns, index=range(n))
    for k, kind in enumerate(kinds):
        if kind in ("normal", "heavy", "uniform", "integers", "gaps"):
            frame[k] += spec["shift"]
    frame.columns = spec["names"][: len(kinds)]
    return frame


def boxed(frame, box):
    "The frame in one of many containers"
    A = frame.to_numpy()
    numbers = A if A.dtype.kind in "fiub" else np.zeros(A.shape)
    n = len(frame)
    if box in ("polars", "pyarrow"):
        plain = frame.set_axis([str(c) for c in frame.columns], axis=1)
    boxes = {
        "array": lambda: A,
        "float32": lambda: numbers.astype(np.float32),
        "int8": lambda: np.nan_to_num(numbers, posinf=0).clip(-100, 100).astype("i1"),
        "list": lambda: A.tolist(),
        "fortran": lambda: np.asfortranarray(A),
        "strided": lambda: np.repeat(A, 2, axis=0)[::2],
        "frozen": lambda: frozen(A),
        "masked": lambda: np.ma.masked_array(numbers, np.arange(A.size) == 1),
        "pandas": lambda: frame,
        "indexed": lambda: frame.set_axis([f"row {k}" for k in range(n)]),
        "repeated": lambda: frame.set_axis(np.arange(n) // 2),
        "categorical": lambda: frame.astype("category"),
        "nullable": lambda: frame.convert_dtypes(),
        "polars": lambda: __import__("polars").from_pandas(plain),
        "pyarrow": lambda: __import__("pyarrow").Table.from_pandas(plain),
        "series": lambda: frame.iloc[:, 0],
        "one_d": lambda: A[:, 0],
        "three_d": lambda: A[:, :, None],
        "sparse": lambda: __import__("scipy.sparse").sparse.csr_array(numbers),
        "dict": lambda: dict(a=[1, 2]),
        "tuple": lambda: tuple(map(tuple, A)),
        "none": lambda: None,
        "text": lambda: "a.csv",
        "records": lambda: frame.to_records(),
        "empty": lambda: frame.iloc[:0],
        "object": lambda: A.astype(object),
        "complex": lambda: numbers + 1j,
        "longdouble": lambda: numbers.astype(np.longdouble),
        "memoryview": lambda: memoryview(np.ascontiguousarray(numbers, float)),
    }
    try:
        return boxes[box]()
    except Exception:
        if box not in ("polars", "pyarrow"):
            raise
        return frame  # which they do not take


def frozen(A):
    A = A.copy()
    A.flags.writeable = False
    return A


def make(spec):
    "The table of a spec"
    return boxed(frame_of(spec), spec["box"])


def value(v):
    "An option from its JSON"
    words = {
        "@nan": math.nan,
        "@inf": math.inf,
        "@huge": 10**400,
        "@bytes": b"x",
        "@object": object(),
        "@array": np.arange(3.0),
        "@lambda": len,
        "@generator": np.random.default_rng(0),
        "@float32": np.float32(0.5),
        "@int64": np.int64(3),
    }
    return words.get(v, v) if isinstance(v, str) else v


def options_of(case):
    return {k: value(v) for k, v in case.get("options", {}).items()}


# What an answer must keep -------------------------------------------------------------


def check(true, what):
    if not true:
        raise AssertionError(what)


def is_p(p):
    check(0 < p <= 1, f"a p-value of {p}")


def shown(result):
    "A result can be printed, sent and kept"
    check(str(result).strip() and repr(result), "nothing to print")
    if hasattr(result, "_repr_html_"):
        check(result._repr_html_(), "nothing to show")
    pickle.loads(pickle.dumps(result))
    if hasattr(result, "facts"):
        json.dumps(result.facts(), allow_nan=False, default=plain)


def plain(v):
    "What a report may hold besides JSON's own"
    if isinstance(v, np.generic | pd.Timestamp | pd.Timedelta):
        return str(v)
    if isinstance(v, np.ndarray | pd.DataFrame | pd.Series):
        return str(v)
    raise TypeError(f"{type(v).__name__} in the facts")


def names_of(X):
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "shape"):
        return None
    return {str(c) for c in (X.column_names if hasattr(X, "column_names") else columns)}


def run_test(case):
    X, Y = map(make, case["tables"])
    result = kpw_nb.kpw_test(X, Y, **options_of(case))
    is_p(result.pvalue)
    low, high = result.interval
    check(low <= result.pvalue <= high, f"p {result.pvalue} is not in {low}, {high}")
    shown(result)
    if "where" in case["then"]:
        found = result.where()
        shown(found)
        p = found.columns["pvalue"].dropna()
        check((p >= result.pvalue - 1e-12).all(), "a column's p is below the joint one")
        if names := names_of(X):
            single = found.columns.query("kind != 'pair' and kind != 'triple'")
            check({str(c) for c in single["column"]} <= names, "an unknown column")
        rows = found.rows
        for table, name in ((X, "X"), (Y, "Y")):
            own = getattr(table, "index", range(10**6))
            mine = rows["row"][rows["sample"] == name]
            if not callable(own):
                check(all(r in own for r in mine), "an unknown row")
    if "effect" in case["then"]:
        effect = result.effect()
        shown(effect)
        check(0 <= effect.auc <= 1, f"an AUC of {effect.auc}")
    if "again" in case["then"]:
        again = kpw_nb.kpw_test(X, Y, **options_of(case) | dict(rng=result.seed))
        check(again.pvalue == result.pvalue, "not repeated by its seed")
    if "plot" in case["then"]:
        result.plot()[0].canvas.draw()


def run_trained(case):
    X, Y = map(make, case["tables"])
    test = kpw_nb.KPWTest(**options_of(case)).fit(X, Y)
    for _ in range(2):
        is_p(test.test(X, Y, n_resamples=19, rng=0).pvalue)
    shown(test.test(Y, X, n_resamples=19))


def run_groups(case):
    (X,) = map(make, case["tables"])
    result = kpw_nb.kpw_groups(X, **options_of(case))
    for name in ("pvalue", "alone"):
        [is_p(p) for p in result.table[name].dropna()]
    check((result.table["pvalue"] >= result.table["alone"] - 1e-12).all(), "p < alone")
    check(result.answer(), "no answer")
    shown(result)


def run_equivalence(case):
    X, Y = map(make, case["tables"])
    result = kpw_nb.kpw_equivalence(X, Y, **options_of(case))
    check(0 <= result.pvalue <= 1, f"a p-value of {result.pvalue}")
    check(result.equivalent == (result.pvalue <= result.alpha), "answer against p")
    shown(result)


def run_distance(case):
    X, Y = map(make, case["tables"])
    result = kpw_nb.kpw_distance(X, Y, **options_of(case))
    check(0 <= result.value < math.inf, f"a distance of {result.value}")
    shown(result)


def run_projector(case):
    (X,) = map(make, case["tables"])
    labels = np.arange(case["tables"][0]["n"]) % 2
    found = getattr(kpw_nb, case["name"])(**options_of(case)).fit(X, labels)
    check(np.isfinite(found.transform(X)).all(), "a projection that is not finite")
    pickle.loads(pickle.dumps(found))


def run_changes(case):
    (X,) = map(make, case["tables"])
    result = kpw_nb.kpw_changepoint(X, **options_of(case))
    T = len(result.frames)
    is_p(result.pvalue)
    check(list(result.changes) == sorted(set(result.changes)), "changes in disorder")
    for at, p, inside in zip(result.changes, result.pvalues, result.confidence_sets):
        is_p(p)
        check(0 < at < T and at in inside, "a change outside its set")
    index = getattr(X, "index", None)
    if index is not None and not callable(index):
        check(all(row in index for row in result.rows), "an unknown row")
    shown(result)


def run_detector(case):
    detector = kpw_nb.KPWDetector(**options_of(case))
    states, t = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for step, spec in zip(case["steps"], case["tables"]):
            table = make(spec)
            before = t
            try:
                if step == "fit":
                    detector.fit(table)
                    t = 0
                elif step == "reset":
                    detector.reset()
                    t = 0
                elif step == "files":
                    detector.save(f"{folder}/d")
                    detector = kpw_nb.KPWDetector.load(f"{folder}/d")
                elif step == "update":
                    states.append(detector.update(np.asarray(table)[0]))
                    t += 1
                else:
                    trace = detector.detect(table)
                    t += len(trace)
                    check(np.isfinite(trace.statistic).all(), "not finite")
                    rang = trace.statistic > trace.threshold
                    check((trace.alarm == rang).all(), "an alarm against its threshold")
                    check(trace.t.iloc[-1] == t - 1, "frames lost count")
            except Exception as e:
                if not is_of_the_house(e, case):
                    raise
                if hasattr(detector, "_now"):
                    check(detector._now.t == before or step == "fit", "half a step")
                    t = detector._now.t
                detector = (
                    kpw_nb.KPWDetector(**options_of(case)) if t == 0 else detector
                )
    for state in states:
        shown(state)


def run_monitor(case):
    monitor, count = kpw_nb.KPWMonitor(**options_of(case)), 0
    with tempfile.TemporaryDirectory() as folder:
        for step, spec in zip(case["steps"], case["tables"]):
            table = make(spec)
            try:
                if step == "fit":
                    monitor.fit(table)
                    count = 0
                elif step == "files":
                    monitor.save(f"{folder}/m")
                    monitor = kpw_nb.KPWMonitor.load(f"{folder}/m")
                elif step == "show":
                    monitor.plot()
                    monitor.visible(50)
                else:
                    result = monitor.check(table)
                    count += 1
                    is_p(result.pvalue)
                    check(result.number == count, f"batch {result.number}, not {count}")
                    check(0 <= result.evidence < math.inf, "evidence")
                    shown(result)
            except Exception as e:
                if not is_of_the_house(e, case):
                    raise
    if count:
        check(len(monitor.history()) == count, "history of another length") if callable(
            monitor.history
        ) else check(len(monitor.history) >= count, "history is short")


def run_sequential(case):
    test, best = kpw_nb.SequentialTest(**options_of(case)), 1.0
    for one, two in zip(case["tables"][::2], case["tables"][1::2]):
        try:
            test.update(make(one), make(two))
        except Exception as e:
            if not is_of_the_house(e, case):
                raise
        is_p(test.pvalue)
        check(test.pvalue <= best, "p has grown")
        check(0 <= test.evidence < math.inf, "evidence")
        best = test.pvalue
    check(str(test), "nothing to print")


def run_visible(case):
    shown(kpw_nb.visible(*map(value, case["given"])))


def run_gate(case):
    X, Y = map(make, case["tables"])
    try:
        kpw_nb.assert_same_distribution(X, Y, **options_of(case))
    except AssertionError as e:
        check(str(e), "an empty message")


def run_study(case):
    def draw(n, rng, shift=0.0):
        return rng.normal(size=(n, 2)), rng.normal(size=(n, 2)) + shift

    found = kpw_nb.power_study({"t": kpw_nb.KPWTest("split")}, draw, **options_of(case))
    check(((found.low <= found.power) & (found.power <= found.high)).all(), "interval")


def run_command(case):
    with tempfile.TemporaryDirectory() as folder:
        for name, spec in zip(("a.csv", "b.csv"), case["tables"]):
            write(frame_of(spec), f"{folder}/{name}", case["dialect"])
        Path(folder, "c.bin").write_bytes(bytes.fromhex(case["bytes"]))
        os.chdir(folder)
        out, err = io.StringIO(), io.StringIO()
        from kpw_nb.show.cli import main

        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(case["words"])
        os.chdir("/")
    check(code in (0, 1, 2), f"exit {code}: {err.getvalue()[-300:]}")
    check("Traceback" not in err.getvalue(), "a traceback")
    check("\x1b" not in out.getvalue(), "a raw terminal escape")
    if code == 0 and "--json" in case["words"]:
        json.loads(
            out.getvalue(), parse_constant=lambda c: check(False, f"{c} in JSON")
        )
    if code == 2:
        check(err.getvalue().startswith(("kpw-nb", "usage")), "no word about the error")


def write(frame, path, dialect):
    "A table as text, in one of many ways"
    with open(
        path, "w", newline="", encoding=dialect["encoding"], errors="replace"
    ) as f:
        rows = csv.writer(
            f, delimiter=dialect["delimiter"], lineterminator=dialect["end"]
        )
        if dialect["header"]:
            rows.writerow(frame.columns)
        for row in frame.to_numpy().tolist():
            texts = ["" if v is None or v != v else str(v) for v in row]
            if dialect["comma"]:
                texts = [t.replace(".", ",") for t in texts]
            rows.writerow(texts)


RUNS = {
    name.removeprefix("run_"): function
    for name, function in list(globals().items())
    if name.startswith("run_")
}

# The judge ----------------------------------------------------------------------------


def is_of_the_house(error, case):
    "Was this raised on purpose, by us or by scikit-learn's check of an input?"
    if isinstance(error, InputError):
        return True
    if not isinstance(error, TypeError | ValueError | RuntimeError | AttributeError):
        return False
    frames = traceback.extract_tb(error.__traceback__)
    raised = linecache.getline(frames[-1].filename, frames[-1].lineno).lstrip()
    ours = frames[-1].filename.startswith(HOUSE) and raised.startswith("raise ")
    checks = any("sklearn" in frame.filename for frame in frames)
    wrong_words = "unexpected keyword argument" in str(error)
    estimator = case["call"] == "projector" and checks
    return str(error) != "" and (ours or estimator or wrong_words)


def judged(case):
    "'ok', 'refused', or what is wrong"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            RUNS[case["call"]](case)
        return "ok"
    except AssertionError as e:
        return f"broken: {e}"
    except Exception as e:
        if is_of_the_house(e, case):
            return "refused"
        at = traceback.extract_tb(e.__traceback__)
        ours = [f for f in at if f.filename.startswith(HOUSE)] or at
        where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
        return f"raw: {type(e).__name__}: {str(e)[:200]} at {where}"


def _limits():
    with open("/proc/self/statm") as f:
        held = int(f.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY, held + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def outcome(case):
    "What comes of a case, in a child of its own"
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(ours)
            _limits()
            os.write(theirs, judged(case).encode("utf-8", "replace")[:2000])
            code = 0
        finally:
            os._exit(code)
    os.close(theirs)
    try:
        return _answer(child, ours)
    finally:
        os.close(ours)


def _answer(child, pipe):
    "What the child says, or how it died"
    late = time.monotonic() + 10 * SECONDS  # a busy machine
    said = b""
    while select.select([pipe], [], [], max(late - time.monotonic(), 0))[0]:
        if not (part := os.read(pipe, 4096)):
            break
        said += part
    else:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if said:
        return said.decode()
    return f"died: status {os.waitstatus_to_exitcode(status)}"


# Cases --------------------------------------------------------------------------------

SEEDS = st.integers(0, 999)
STRANGE = st.sampled_from(
    ["@nan", "@inf", "@huge", "@bytes", "@object", "@array", "@lambda", "@float32"]
    + ["@int64", "", "x", "{x}", -1, 0, 1, 2, 0.5, 10**18, None, True, [], [1, 2], {}]
)
NAMES = st.lists(
    st.sampled_from(
        ["a", "b", "c", "d", "e", "{X}", "$x_{$", "\x1b[1m", "a b", "", "ü", "x" * 99]
        + ["row", "pvalue", "1", 7, "a × b", "=1+1", "<b>"]
    ),
    min_size=6,
    max_size=6,
    unique_by=str,
)


@st.composite
def tables(draw, plain=0.6, least=0, box=None):
    "A table, often a plain one"
    n = draw(st.sampled_from([0, 1, 2, 3, 5, 12, 20, 30, 30, 30, 60]))
    easy = draw(st.floats(0, 1)) < plain
    kinds = st.sampled_from(
        ["normal", "normal", "integers", "levels"] if easy else KINDS
    )
    return dict(
        n=max(n, least, 12 if easy else 0),
        kinds=draw(st.lists(kinds, min_size=1, max_size=6)),
        names=draw(NAMES) if not easy else list("abcdef"),
        box=box or draw(st.sampled_from(["array", "pandas"] if easy else BOXES)),
        seed=draw(SEEDS),
        shift=draw(st.sampled_from([0, 0, 0.5, 3])),
    )


@st.composite
def pairs(draw, **how):
    "Two tables, often with the same columns"
    one, two = draw(tables(**how)), draw(tables(**how))
    if draw(st.integers(0, 9)):
        two = two | {k: one[k] for k in ("kinds", "names", "box")}
    return [one, two]


def some(**strategies):
    "A few options; one in ten is strange"

    @st.composite
    def options(draw):
        chosen = draw(st.lists(st.sampled_from(sorted(strategies)), max_size=4))
        found = {}
        for name in chosen:
            odd = draw(st.integers(0, 9)) == 0
            found[name] = draw(STRANGE if odd else strategies[name])
        return found

    return options()


FEW = st.sampled_from([1, 19, 20, 39, 99])
RNG = st.one_of(SEEDS, st.sampled_from(["@generator", None]))
LEVEL = st.sampled_from([0.001, 0.05, 0.5, 1.0])
MISSING = st.sampled_from(["error", "indicator", "drop"])
WORKERS = st.sampled_from([1, 1, 2, -1])
COLUMN = st.sampled_from(["a", "b", "zz", 0, ["a", "b"], [0, 1] * 6])
SCALE = st.sampled_from(["auto", "std", "rank", None])
CANDIDATES = st.sampled_from(
    ["auto", "kpw", "cv", "shape", "columns", ["location"], ["kpw"]]
)
KERNEL = st.sampled_from(["gaussian", "laplace", "matern", "linear", "polynomial"])
BANDWIDTH = st.sampled_from(["median", 1.0, 1e-3, 1e3])

OPTIONS = dict(
    test=some(
        n_resamples=FEW,
        rng=RNG,
        method=st.sampled_from(["auto", "refit", "split", "stream"]),
        candidates=CANDIDATES,
        combine=st.sampled_from(["auto", "harmonic", "max", "minp", "softmax"]),
        statistic=st.sampled_from(["auto", "wasserstein", "dual"]),
        train_size=st.sampled_from([0.5, 0.1, 5]),
        scale=SCALE,
        missing=MISSING,
        paired=st.booleans(),
        strata=COLUMN,
        clusters=COLUMN,
        weigh=st.sampled_from(["clusters", "rows"]),
        workers=WORKERS,
    ),
    trained=some(
        method=st.sampled_from(["auto", "split"]), candidates=CANDIDATES, scale=SCALE
    ),
    groups=some(
        how=st.sampled_from(["auto", "pairs", "control", "all"]),
        control=st.sampled_from(["a", 0, "zz"]),
        strata=COLUMN,
        clusters=COLUMN,
        missing=MISSING,
        scale=SCALE,
        rng=RNG,
        workers=WORKERS,
    ),
    equivalence=some(
        scale=st.sampled_from(["mmd", "auc"]),
        method=st.sampled_from(["auto", "finite", "asymptotic"]),
        alpha=LEVEL,
        kernel=KERNEL,
        bandwidth=BANDWIDTH,
        missing=MISSING,
    ),
    distance=some(
        kernel=KERNEL,
        bandwidth=BANDWIDTH,
        d=st.integers(1, 4),
        rho=st.sampled_from([0, 0.5, 1]),
        eta=st.sampled_from(["auto", 0.1, 10.0]),
        ridge=st.sampled_from([0.0, 0.1]),
        rank=st.sampled_from([None, 5]),
        norm=st.sampled_from(["rkhs", "L2", "l2"]),
        solver=st.sampled_from(["bcd", "exact"]),
        step=st.sampled_from(["adaptive", "theory"]),
        max_iter=st.sampled_from([1, 20]),
        certificate=st.booleans(),
    ),
    projector=some(kernel=KERNEL, bandwidth=BANDWIDTH),
    changes=some(
        alpha=LEVEL,
        block=st.sampled_from(["auto", 1, 3, 10]),
        min_size=st.integers(2, 20),
        max_changes=st.integers(1, 3),
        period=st.integers(2, 12),
        trend=st.booleans(),
        rng=RNG,
        candidates=CANDIDATES,
    ),
    detector=some(
        method=st.sampled_from(["refit", "pretrained"]),
        calibration=st.sampled_from(["arl", "fwer", "paper"]),
        target=st.sampled_from([0.1, 500, 1e6]),
        horizon=st.integers(1, 200),
        block=st.sampled_from(["auto", 1, 5]),
        restart=st.booleans(),
        rng=RNG,
    ),
    monitor=some(
        promise=st.sampled_from(["fwer", "fdr", "arl"]),
        alpha=LEVEL,
        arl=st.sampled_from([10, 1000]),
        by=COLUMN,
        joins=st.booleans(),
        missing=MISSING,
        rng=RNG,
    ),
    sequential=some(alpha=LEVEL, missing=MISSING),
    gate=some(alpha=LEVEL, margin=st.sampled_from([0.1, 0.5]), rng=RNG),
    study=some(
        protocol=st.sampled_from(["equal", "train_once"]),
        alpha=LEVEL,
        grid=st.sampled_from([None, [dict(shift=1.0)], dict(shift=[0, 2])]),
        n_tests=st.integers(1, 2),
        max_seconds=st.sampled_from([0, 0.1]),
        rng=RNG,
    ),
)


def quick(options, **defaults):
    "Options with few resamples unless they say otherwise"
    return options.map(lambda found: defaults | found)


FIRST = dict(box="pandas", least=60, plain=0.9)


@st.composite
def stateful(draw, call, steps, defaults):
    "A fit on a reference, then any sequence of steps"
    rest = draw(st.lists(st.sampled_from(steps), min_size=1, max_size=5))
    first = draw(tables(**FIRST))
    given = [first]
    for _ in rest:
        one = draw(tables())
        if draw(st.integers(0, 5)):
            one = one | {k: first[k] for k in ("kinds", "names", "box")}
        given.append(one)
    options = draw(quick(OPTIONS[call], **defaults))
    return dict(call=call, options=options, steps=["fit", *rest], tables=given)


WORDS = st.sampled_from(
    [
        "a.csv",
        "b.csv",
        "c.bin",
        "no.csv",
        ".",
        "--json",
        "--names",
        "--paired",
        "--debug",
    ]
    + ["--alpha", "0.05", "2", "--missing", "drop", "indicator", "--columns", "a,b"]
    + ["--drop", "a", "--header", "yes", "no", "--label", "--by", "--strata", "b"]
    + ["--margin", "0.1", "--report", "out.html", "--junit", "out.xml", "--seed", "1"]
    + ["--window", "5", "--reference-rows", "20", "--n-resamples", "39", "--time"]
    + ["--fail-on-difference", "--out", "--method", "split", "-h", "--version", "é", ""]
)


@st.composite
def commands(draw):
    "A command line, and the files it may name"
    command = draw(
        st.sampled_from(["test", "test", "groups", "equivalence", "detect", "changes"])
    )
    start = {
        "test": ["test", "a.csv", "b.csv", "--n-resamples", "39"],
        "groups": ["groups", "a.csv", "--by", "a", "--n-resamples", "39"],
        "equivalence": ["equivalence", "a.csv", "b.csv", "--margin", "0.1"],
        "detect": ["detect", "a.csv", "--reference-rows", "20", "--window", "5"],
        "changes": ["changes", "a.csv", "--n-resamples", "39"],
    }[command]
    words = start[: draw(st.integers(1, len(start)))] if draw(st.booleans()) else start
    words = [*words, *draw(st.lists(WORDS, max_size=4))]
    dialect = dict(
        delimiter=draw(st.sampled_from([",", ",", ";", "\t", "|", " "])),
        encoding=draw(st.sampled_from(["utf-8", "utf-8", "latin-1", "utf-16"])),
        header=draw(st.integers(0, 4)) > 0,
        comma=draw(st.integers(0, 7)) == 0,
        end=draw(st.sampled_from(["\n", "\n", "\r\n", "\r"])),
    )
    content = draw(st.binary(max_size=40)).hex()
    given = draw(pairs(box="pandas"))
    return dict(
        call="command", words=words, tables=given, dialect=dialect, bytes=content
    )


THEN = st.lists(st.sampled_from(["where", "effect", "again", "plot"]), max_size=2)


def calls_on(call, given, **defaults):
    "Cases of a call on tables"
    options = quick(OPTIONS[call], **defaults)
    return st.fixed_dictionaries(
        dict(call=st.just(call), tables=given, options=options, then=THEN)
    )


def single(**how):
    return tables(**how).map(lambda one: [one])


CASES = st.one_of(
    calls_on("test", pairs(), n_resamples=39),
    calls_on("test", pairs(plain=0.2), n_resamples=19),
    calls_on("trained", pairs(least=12)),
    st.tuples(calls_on("groups", single(least=12), n_resamples=39), COLUMN).map(
        lambda two: two[0] | dict(options=dict(by=two[1]) | two[0]["options"])
    ),
    calls_on("equivalence", pairs(), margin=0.3),
    calls_on("distance", pairs(), max_iter=20),
    st.tuples(
        calls_on("projector", single()),
        st.sampled_from(["KPWProjector", "MeanProjector", "WitnessProjector"]),
    ).map(lambda two: two[0] | dict(name=two[1])),
    calls_on("changes", single(), n_resamples=19),
    stateful(
        "detector",
        ["update", "detect", "detect", "files", "reset", "fit"],
        dict(window=5, n_resamples=19),
    ),
    stateful("monitor", ["check", "check", "check", "files", "show"], dict(rng=0)),
    st.lists(pairs(), min_size=1, max_size=4).flatmap(
        lambda many: calls_on("sequential", st.just([t for two in many for t in two]))
    ),
    st.fixed_dictionaries(
        dict(
            call=st.just("visible"),
            given=st.lists(
                st.one_of(st.integers(-1, 200), STRANGE), min_size=1, max_size=3
            ),
        )
    ),
    calls_on("gate", pairs()),
    calls_on("study", st.just([]), n=12, n_trials=2, n_resamples=19, rng=0),
    commands(),
    commands(),
)
