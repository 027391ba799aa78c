"""What must not happen at the user's end, whatever is given: each test here failed
once. The fuzzer is in test_fuzz.py, damaged files in test_damage.py."""

import gzip
import math
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
import zipfile

import matplotlib
import numpy as np
import pandas as pd
import pytest

matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402

from kpw_nb import (  # noqa: E402
    KPWDetector,
    KPWMonitor,
    KPWProjector,
    KPWTest,
    MeanProjector,
    WitnessProjector,
    kpw_changepoint,
    kpw_distance,
    kpw_equivalence,
    kpw_groups,
    kpw_test,
    power_study,
    sample_size,
)
from kpw_nb.ground import store
from kpw_nb.ground.errors import InputError
from kpw_nb.watch import detect
from kpw_nb.watch.calibrate import ar1

G = np.random.default_rng(0)
X, Y = G.normal(size=(30, 3)), G.normal(size=(30, 3)) + 1
LABELS = np.repeat([0, 1], 30)
TABLE = pd.DataFrame(np.vstack([X, Y, Y + 1]), columns=list("abc"))
TABLE["day"] = np.repeat(["mon", "tue", "wed"], 30)


def draw(n, rng):
    g = np.random.default_rng(rng)
    return g.normal(size=(n, 2)), g.normal(size=(n, 2))


# Workers ------------------------------------------------------------------------------


def lose(f, tasks):
    return [f(task) for task in tasks][1:]


def lose_all(f, tasks):
    return []


def twice(f, tasks):
    return 2 * [f(task) for task in tasks]


def others(f, tasks):
    return [0.5 for task in tasks]


def nothing(f, tasks):
    return None


def backwards(f, tasks):
    return [f(task) for task in tasks][::-1]


def study(workers):
    options = dict(grid=dict(n=[10, 12]), n_trials=3, n_resamples=19, rng=0)
    return power_study({"t": KPWTest()}, draw, workers=workers, **options).power


RUNS = {
    "test": lambda w: kpw_test(X, Y, n_resamples=99, rng=0, workers=w).pvalue,
    "groups": lambda w: (
        kpw_groups(TABLE, "day", n_resamples=99, rng=0, workers=w).table
    ),
    "detector": lambda w: (
        KPWDetector(10, n_resamples=39, rng=0)
        .fit(np.vstack([X, X[::-1]]), workers=w)
        .calibration_.threshold
    ),
    "changes": lambda w: (
        kpw_changepoint(np.vstack([X, Y]), n_resamples=39, rng=0, workers=w).pvalue
    ),
    "study": study,
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("workers", [lose, lose_all, twice, others, nothing])
def test_workers_that_are_no_map(run, workers):
    with pytest.raises(InputError, match="workers must work like map: it"):
        run(workers)


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_workers_that_reorder_give_the_same(run):
    found, wanted = run(backwards), run(1)
    if isinstance(found, pd.DataFrame | pd.Series):
        assert found.equals(wanted)
    else:
        assert found == wanted


@pytest.mark.parametrize("workers", [10**18, -(10**18), 10**400])
def test_so_many_workers(workers):
    with pytest.raises(InputError, match="workers must be at least -1000 and at most"):
        kpw_test(X, Y, rng=0, workers=workers)


# The terminal -------------------------------------------------------------------------

COMMAND = [sys.executable, "-m", "kpw_nb"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("trust")
    for name, values in (("a.csv", X), ("b.csv", Y)):
        pd.DataFrame(values, columns=list("abc")).to_csv(home / name, index=False)
    return home


def kpw(folder, *words, **options):
    options = dict(cwd=folder, capture_output=True, timeout=120) | options
    return subprocess.run([*COMMAND, *words], **options)


def test_names_with_terminal_escapes(folder):
    for name, values in (("ea.csv", X), ("eb.csv", Y)):
        frame = pd.DataFrame(values, columns=["a", "\x1b[31mred\x07", "c"])
        frame.to_csv(folder / name, index=False)
    done = kpw(folder, "test", "ea.csv", "eb.csv")
    assert done.returncode == 0 and b"\x1b" not in done.stdout
    assert b"\\x1b[31mred\\x07" in done.stdout and b"\x07" not in done.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_an_output_that_is_full(folder):
    with open("/dev/full", "wb") as full:
        words = dict(capture_output=False, stdout=full, stderr=subprocess.PIPE)
        done = kpw(folder, "test", "a.csv", "b.csv", **words)
    assert done.returncode == 2
    assert done.stderr == (
        b"kpw-nb: the output cannot be written (No space left on device); free some "
        b"space\n"
    )


def test_a_closed_output_is_no_difference(folder):
    words = " ".join([*COMMAND, "test a.csv b.csv --exit-code >&-"])
    done = subprocess.run(words, cwd=folder, shell=True, capture_output=True)
    assert done.returncode == 2 and b"stdout is closed" in done.stderr


def test_an_interrupt_while_it_loads(folder):
    with subprocess.Popen(
        [*COMMAND, "test", "a.csv", "b.csv"], cwd=folder, stderr=subprocess.PIPE
    ) as run:
        time.sleep(0.3)
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=60)
    # on a busy machine the signal may come before Python itself listens
    ends = (0, 130, -signal.SIGINT)
    assert run.returncode in ends and b"Traceback" not in errors


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux")
def test_a_file_name_that_is_no_utf8(folder):
    name = b"caf\xe9.csv"
    with open(os.path.join(os.fsencode(folder), name), "wb") as f:
        f.write((folder / "a.csv").read_bytes())
    plain = os.environ | dict(PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    for words in ((), ("--json",)):
        done = kpw(folder, "test", name, "b.csv", *words, env=plain)
        assert done.returncode == 0 and b"caf\\" in done.stdout


def bomb_gz(path):
    with gzip.open(path, "wb") as f:
        f.write(b"a,b\n")
        for _ in range(140):
            f.write(b"0,0\n" * 2**20)


def bomb_zip(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("table.csv", "w") as f:
            for _ in range(140):
                f.write(b"0,0\n" * 2**20)


def bomb_npz(path):
    np.savez_compressed(path, x=np.zeros((70_000_000, 1)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "make, name",
    [(bomb_gz, "bomb.csv.gz"), (bomb_zip, "bomb.zip"), (bomb_npz, "bomb.npz")],
)
def test_packed_files_that_fill_the_memory(folder, make, name):
    make(folder / name)
    assert (folder / name).stat().st_size < 2**20
    done = kpw(folder, "test", name, "b.csv")
    assert done.returncode == 2 and b"unpacks to more than 512 MB" in done.stderr
    (folder / name).unlink()


# What is given ------------------------------------------------------------------------

PROJECTORS = KPWProjector, MeanProjector, WitnessProjector


@pytest.mark.parametrize("projector", PROJECTORS)
def test_projectors_read_no_masked_entry(projector):
    Z = np.ma.masked_array(np.vstack([X, Y]), mask=False)
    projector().fit(Z, LABELS)  # nothing is masked
    Z[2, 1] = np.ma.masked
    with pytest.raises(ValueError, match="NaN"):
        projector().fit(Z, LABELS)
    with pytest.raises(ValueError, match="NaN"):
        projector().fit(np.vstack([X, Y]), LABELS).transform(Z)


@pytest.mark.parametrize("projector", PROJECTORS)
@pytest.mark.parametrize("unit", ["M8[D]", "m8[s]"])
def test_projectors_read_no_dates(projector, unit):
    Z = np.arange(120).reshape(60, 2).astype(unit)
    Z[0, 0] = "NaT"
    for given in (Z, pd.DataFrame(Z)):
        with pytest.raises(InputError, match="Z must hold numbers only, got dates"):
            projector().fit(given, LABELS)


def test_thousands_with_decimal_commas(folder):
    "1.600,5 was a category"
    for name in ("s.csv", "t.csv"):
        lines = [f"1.{600 + i},{i % 10};{i}" for i in range(30)]
        (folder / name).write_text("\n".join(["v;w", *lines]))
    done = kpw(folder, "test", "s.csv", "t.csv")
    assert done.returncode == 2 and b"'1.600,0' in row 1" in done.stderr


class Dask:
    "What tells a Dask collection from a table, without Dask"

    columns, shape, dask = ["a"], (3, 1), {}

    def __len__(self):
        return 3


@pytest.mark.parametrize(
    "call",
    [
        lambda D: kpw_distance(D, D),
        lambda D: kpw_equivalence(D, D, margin=0.1),
        lambda D: kpw_changepoint(D),
        lambda D: KPWDetector(5).fit(D),
        lambda D: KPWTest("split").fit(D, D),
        lambda D: KPWMonitor().fit(D),
        lambda D: kpw_groups(D, "a"),
    ],
)
def test_dask_where_it_is_not_read(call):
    with pytest.raises(TypeError, match=r"is a Dask collection; pass .*\.compute\(\)"):
        call(Dask())


HUGE = np.sign(X) * 1.79e308, np.sign(Y) * 1.79e308


@pytest.mark.parametrize(
    "call",
    [
        lambda X, Y: kpw_test(X, Y, rng=0),
        lambda X, Y: kpw_test(pd.DataFrame(X), pd.DataFrame(Y), rng=0),
        lambda X, Y: kpw_equivalence(X, Y, margin=0.1, rng=0),
        lambda X, Y: kpw_distance(X, Y),
        lambda X, Y: kpw_changepoint(X, rng=0),
        lambda X, Y: KPWDetector(5, n_resamples=19, rng=0).fit(X),
        lambda X, Y: KPWMonitor(rng=0).fit(np.vstack([X, Y])),
    ],
)
def test_numbers_near_the_largest_float(call):
    limit = r"beyond 1e.(302|150)"  # of series, whose squares are summed, the smaller
    with pytest.raises(InputError, match=rf"{limit}.* divide (the|each) column"):
        call(*HUGE)


def test_numbers_whose_squares_overflow():
    for call in (
        lambda: kpw_changepoint(1e200 * X, rng=0),
        lambda: KPWDetector(5, n_resamples=19, rng=0).fit(1e200 * X),
    ):
        with pytest.raises(InputError, match=r"beyond 1e.150 in row 0, column 0"):
            call()


def test_no_pairs_at_all():
    with pytest.raises(InputError, match="X has n_samples=0 .*at least 2"):
        kpw_test(np.empty((0, 3)), np.empty((0, 3)), paired=True)


def test_columns_of_none():
    A = pd.DataFrame({"a": [None] * 9, "b": np.arange(9.0)})
    with pytest.raises(InputError, match="missing .* in column 'a'"):
        kpw_test(A, A)


@pytest.mark.parametrize(
    "call",
    [
        lambda n: kpw_test(X, Y, n_resamples=n),
        lambda n: kpw_groups(TABLE, "day", n_resamples=n),
        lambda n: kpw_changepoint(X, n_resamples=n),
        lambda n: KPWDetector(5, n_resamples=n).fit(X),
        lambda n: power_study({"t": KPWTest()}, draw, n=9, n_resamples=n),
    ],
)
@pytest.mark.parametrize("n", [10**6 + 1, 10**18, 10**400])
def test_more_relabellings_than_memory(call, n):
    with pytest.raises(InputError, match="n_resamples must be .* at most 1000000"):
        call(n)


@pytest.mark.parametrize(
    "call, problem",
    [
        (lambda: sample_size(5, draw), "test must be an object with a method test"),
        (
            lambda: power_study({"t": KPWTest()}, draw, grid=5),
            "grid must be a list of dicts or a dict of lists, got 5",
        ),
        (
            lambda: power_study({"t": KPWTest()}, draw, grid=dict(n=5)),
            "grid must be a list of dicts or a dict of lists",
        ),
        (
            lambda: power_study({"t": KPWTest()}, draw, grid=[1, 2]),
            "grid must be a list of dicts or a dict of lists",
        ),
    ],
)
def test_wrong_types_by_name(call, problem):
    with pytest.raises(TypeError, match=problem):
        call()


def test_names_that_would_be_formulas():
    names = ["$x_{$", "a%", r"\frac"]
    A, B = (pd.DataFrame(Z, columns=names) for Z in (X, Y))
    series = pd.concat([A, B + 3], ignore_index=True)
    groups = TABLE.assign(day=TABLE["day"].map(dict(mon="$x_{$", tue="a%", wed="w")))
    monitor = KPWMonitor(rng=0).fit(pd.concat([A, A + 1e-9, A - 1e-9]))
    monitor.check(B)
    for shown in (
        kpw_test(A, B, rng=0),
        kpw_test(A, B, rng=0).effect(),
        kpw_changepoint(series, n_resamples=39, rng=0),
        kpw_groups(groups, "day", n_resamples=99, rng=0),
        monitor,
    ):
        found = shown.plot()
        figure = found[0] if isinstance(found, tuple) else found
        figure.get_figure().canvas.draw()
        pyplot.close("all")


# Answers that do not hang on an order -------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 0.4])
def test_another_order_moves_p_within_its_interval(shift):
    "As the docstring of `kpw_test` says; broken by: a statistic that knows positions"
    Z = np.random.default_rng(1).normal(size=(60, 3))
    A, B = Z[:30], Z[30:] + shift
    one = kpw_test(A, B, n_resamples=999, rng=0)
    assert one.pvalue == kpw_test(A, B, n_resamples=999, rng=0).pvalue
    for other in ((B, A), (A[::-1], B[::-1])):
        found = kpw_test(*other, n_resamples=999, rng=0)
        assert found.interval[0] <= one.interval[1]
        assert one.interval[0] <= found.interval[1]


# Files that keep a promise ------------------------------------------------------------


@pytest.fixture(scope="module")
def content():
    return detect._content(
        KPWDetector(10, n_resamples=39, rng=0).fit(np.vstack([X, X]))
    )


@pytest.mark.parametrize(
    "change, problem",
    [
        (dict(threshold=1e300), "threshold is not that of calibration.maxima"),
        (dict(threshold=-1e300), "threshold is not that of calibration.maxima"),
        (dict(target=7.0), "target is not that of the options"),
        (dict(rule="fwer"), "rule is not that of the options"),
        (dict(interval=5), "interval must be a list"),
        (dict(excesses=0.0), "excesses must be at least 1"),
        (dict(threshold=np.nan), "threshold must be"),
    ],
)
def test_detector_files_whose_promise_was_changed(content, change, problem, tmp_path):
    path = tmp_path / "d.kpw"
    store.save(path, "detector", detect._VERSION, content)
    assert KPWDetector.load(path).calibration_.threshold > 0
    changed = content | dict(calibration=content["calibration"] | change)
    store.save(path, "detector", detect._VERSION, changed)
    with pytest.raises(InputError, match=f"is damaged: .*{problem}"):
        KPWDetector.load(path)


# Dependence ---------------------------------------------------------------------------


def garch(T, a, b, g):
    "Noise whose variance remembers: a of the last square, b of the last variance"
    x, variance = np.empty(T + 500), 1.0
    e = g.standard_normal(T + 500)
    for t in range(T + 500):
        x[t] = e[t] * np.sqrt(variance)
        variance = (1 - a - b) + a * x[t] ** 2 + b * variance
    return x[500:, None]


def fit(reference, **options):
    "A detector, and the texts of its warnings"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        d = KPWDetector(min(100, len(reference) // 2), rng=0, **options)
        d.fit(reference)
    return d, " ".join(str(w.message) for w in caught)


def test_the_detector_sees_a_memory_of_loudness():
    "FWER .22 where .1 was asked, without a warning"
    long, short = 0, 0
    for seed in range(12):
        g = np.random.default_rng(seed)
        d, text = fit(garch(400, 0.1, 0.85, g), n_resamples=39)
        short += "would do" in text
        assert ("would do" in text) == (d.calibration_.needed > 400)
        _, text = fit(g.standard_normal((400, 2)), n_resamples=39)
        long += "would do" in text
    assert short >= 6 and long == 0


@pytest.mark.parametrize("seed", range(4))
def test_a_short_reference_of_dependent_frames(seed):
    "AR(.8) with 60 frames: FWER .31 where .1 was asked, without a warning"
    g = np.random.default_rng(seed)
    d, text = fit(ar1(60, 0.8, 3, g), n_resamples=39)
    assert f"about {d.calibration_.needed} frames would do" in text


@pytest.mark.parametrize("frames", [30, 60, 150])
def test_a_shift_of_five_deviations_rings_or_is_named(frames):
    warned = 0
    for seed in range(6):
        g = np.random.default_rng([1, seed])
        d = KPWDetector(min(30, frames // 2), rng=seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            d.fit(g.normal(size=(frames, 3)))
        rings = d.detect(5 + g.normal(size=(30, 3))).alarm.any()
        named = any("too few for this promise" in str(w.message) for w in caught)
        assert rings or named
        warned += named
    assert warned >= 4 if frames == 30 else warned <= (frames == 60)


def test_segments_show_the_memory_of_loudness():
    quiet = kpw_changepoint(garch(800, 0.1, 0.85, np.random.default_rng(4)), rng=0)
    assert any("loudness with a memory of" in note for note in quiet.notes)
    assert any("frames would be enough, not 800" in note for note in quiet.notes)
    plain = kpw_changepoint(np.random.default_rng(0).normal(size=(300, 2)), rng=0)
    assert plain.notes == ()


SERIES = {
    "GARCH(.1, .85), 500": lambda g: garch(500, 0.1, 0.85, g),
    "AR(.8), 200": lambda g: ar1(200, 0.8, 1, g),
    "AR(.9), 300": lambda g: ar1(300, 0.9, 1, g),
}


@pytest.mark.slow
@pytest.mark.parametrize("make", SERIES.values(), ids=SERIES)
def test_dependent_series_without_a_change(make):
    "Broken by: a memory that is not seen. 200 series, at most .075 at a level of .05"
    found = 0
    for seed in range(200):
        Z = make(np.random.default_rng([7, seed]))
        found += bool(kpw_changepoint(Z, rng=seed).changes)
    assert found <= 0.075 * 200 + 2 * math.sqrt(200 * 0.075 * 0.925)


# The page of promises -----------------------------------------------------------------


def test_every_promise_names_a_test_that_exists():
    root = Path(__file__).parents[1]
    page = (root / "docs/pages/promises.md").read_text(encoding="utf-8")
    named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", page)
    assert len(named) > 20
    for file, test in named:
        assert f"def {test}(" in (root / "tests" / file).read_text(encoding="utf-8")
