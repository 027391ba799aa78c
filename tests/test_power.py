"""Power studies: intervals against SciPy, what each test sees, the same bits for any
workers and after any kill, the code that a stored result belongs to, and bad input."""

import importlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats
from scipy.special import ndtr
from sklearn.base import BaseEstimator

from kpw_nb import KPWTest
from kpw_nb.study import power as power_module
from kpw_nb.study.rivals import EnergyTest
from kpw_nb.study.power import (
    _HEAD,
    _crossing,
    _describe,
    _fit_probit,
    cluster_wilson,
    power_study,
    power_table,
    sample_size,
    wilson,
)


@dataclass
class PValue:
    pvalue: float


class MeanTest(BaseEstimator):
    "Two-sided z-test of the first coordinate; a little random: its stream matters"

    def __init__(self, first=1.0):
        self.first = first

    def test(self, X, Y, *, n_resamples=199, rng=None):
        n = math.ceil(self.first * len(X))
        z = (X[:n, 0].mean() - Y[:n, 0].mean()) / math.sqrt(2 / n) + 1e-6 * rng.normal()
        return PValue(2 * ndtr(-abs(z)))


class Learner(MeanTest):
    "Learns the sign of the shift, then tests one-sided"

    trains = True

    def fit(self, X, Y, rng=None):
        self.sign_ = 1 if (Y.mean() - X.mean()) + 1e-9 * rng.normal() > 0 else -1
        return self

    def test(self, X, Y, *, n_resamples=199, rng=None):
        return PValue(
            ndtr(
                -self.sign_ * (Y[:, 0].mean() - X[:, 0].mean()) / math.sqrt(2 / len(X))
            )
        )


def shifted(n, rng, shift=0.5, D=1):
    X, Y = rng.normal(size=(2, n, D))
    return X, Y + shift


def z_power(n, shift=0.5, alpha=0.05):
    q, d = stats.norm.isf(alpha / 2), shift * np.sqrt(np.asarray(n) / 2)
    return ndtr(d - q) + ndtr(-d - q)


TESTS = dict(mean=MeanTest(), half=MeanTest(0.5), learner=Learner())
GRID = [dict(n=n, shift=s) for n in (10, 40) for s in (0.0, 0.5)]
ONCE = dict(protocol="train_once", n_tests=3)


def facts(table):
    return table.drop(columns="seconds")


def study(**options):
    return power_study(
        **(dict(tests=TESTS, sampler=shifted, grid=GRID, n_trials=12, rng=5) | options)
    )


# -- intervals
@settings(max_examples=100, deadline=None)
@given(st.integers(1, 3000), st.floats(0, 1), st.floats(0.01, 0.999))
def test_wilson_is_scipys(n, share, confidence):
    k = round(share * n)
    low, high = wilson(k, n, confidence)
    assert np.allclose(
        (low, high),
        stats.binomtest(k, n).proportion_ci(confidence, method="wilson"),
        atol=1e-10,
    )
    assert (
        0 <= low <= k / n <= high <= 1
        and (low == 0) == (k == 0)
        and (high == 1) == (k == n)
    )
    assert np.allclose(
        np.subtract(1, wilson(n - k, n, confidence))[::-1], (low, high), atol=1e-12
    )  # symmetric
    if k < n:
        assert wilson(k + 1, n, confidence) >= (low, high)
    assert wilson(k, n, 0.5 * confidence)[0] >= low - 1e-15


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 8), min_size=2, max_size=40))
def test_cluster_interval(counts):
    T, p = len(counts), sum(counts) / (8 * len(counts))
    low, high = cluster_wilson(counts, 8)
    assert 0 <= low <= p <= high <= 1
    plain = wilson(sum(counts), 8 * T)
    assert (
        low <= plain[0] + 1e-12 and high >= plain[1] - 1e-12
    )  # never narrower than independence
    assert cluster_wilson([c > 4 for c in counts]) == wilson(
        sum(c > 4 for c in counts), T
    )
    assert np.allclose(cluster_wilson(counts[::-1], 8), (low, high), atol=1e-12)


def test_cluster_interval_of_equal_answers_is_that_of_the_trials():
    counts = [8] * 30 + [0] * 10  # within a trial all the same
    wide, plain = cluster_wilson(counts, 8), wilson(30, 40)
    assert abs(wide[0] - plain[0]) < 0.02 and abs(wide[1] - plain[1]) < 0.02
    assert (
        cluster_wilson([8] * 20, 8) == wilson(20, 20)
        and cluster_wilson([0] * 20, 8) == wilson(0, 20)
        and cluster_wilson([3], 8)[1] > 0.8
    )


def test_cluster_interval_covers():
    g = np.random.default_rng(0)
    p = 0.7
    rho = 0.2
    T = 15
    J = 40
    counts = g.binomial(J, g.beta(p * (1 / rho - 1), (1 - p) * (1 / rho - 1), (600, T)))
    inside = np.array(
        [
            [
                low <= p <= high
                for low, high in (cluster_wilson(c, J), wilson(int(c.sum()), T * J))
            ]
            for c in counts
        ]
    )
    assert (
        inside[:, 0].mean() > 0.95 - 4 * math.sqrt(0.95 * 0.05 / 600)
        and inside[:, 1].mean() < 0.7
    )


@pytest.mark.parametrize(
    "call, error, word",
    [
        (lambda: wilson(3, 2), ValueError, "k must be"),
        (lambda: wilson(0, 0), ValueError, "n must be"),
        (lambda: wilson(0.5, 2), TypeError, "k must be"),
        (lambda: wilson(1, 2, 2.0), ValueError, "confidence"),
        (lambda: cluster_wilson([], 2), ValueError, "rejections"),
        (lambda: cluster_wilson([3], 2), ValueError, "0..2"),
    ],
)
def test_bad_intervals(call, error, word):
    with pytest.raises(error, match=word):
        call()


# -- what each test sees
class Recorder(BaseEstimator):
    "Writes down its data"

    log = []

    def __init__(self, name="", trains=False):
        self.name, self.trains = name, trains

    def fit(self, X, Y):
        self.log.append((self.name, "fit", X.copy(), Y.copy()))
        return self

    def test(self, X, Y, *, n_resamples=199, rng=None):
        self.log.append(
            (self.name, "test", X.copy(), Y.copy(), rng.random(), n_resamples)
        )
        X[:] = 0  # rude: must harm nobody
        return PValue(0.01 if hasattr(self, "n_features_in_") else 0.5)


class Plain:
    "The least a test must have"

    def test(self, X, Y, *, n_resamples=199, rng=None):
        return PValue(0.5)


def record(**options):
    Recorder.log.clear()
    tests = dict(
        plain=Recorder("plain"), trained=Recorder("trained", True), bare=Plain()
    )
    table = power_study(tests, shifted, n=10, n_trials=2, rng=3, **options)
    return table, {
        (name, what): [e[2:] for e in Recorder.log if e[:2] == (name, what)]
        for name in tests
        for what in ("fit", "test")
    }


def test_equal_protocol_splits_for_those_that_train():
    table, seen = record(n_resamples=37)
    assert (
        not seen["plain", "fit"]
        and len(seen["trained", "fit"])
        == len(seen["trained", "test"])
        == len(seen["plain", "test"])
        == 2
    )
    for whole, train, test in zip(
        seen["plain", "test"], seen["trained", "fit"], seen["trained", "test"]
    ):
        for k in (0, 1):
            assert len(whole[k]) == 10 and len(train[k]) == len(test[k]) == 5
            assert np.array_equal(
                np.sort(np.r_[train[k], test[k]], 0), np.sort(whole[k], 0)
            )  # two halves of the same data
        assert whole[2] == test[2] and whole[3] == 37  # the same permutation stream
    first, second = seen["plain", "test"]
    assert not np.array_equal(first[0], second[0]) and first[2] != second[2]
    assert (table.n_trials == 2).all() and (table.rejections == 0).all()


def test_train_once_fits_every_test_and_draws_fresh_pairs():
    table, seen = record(protocol="train_once", n_tests=3)
    for name in ("plain", "trained"):
        assert len(seen[name, "fit"]) == 2 and len(seen[name, "test"]) == 6
        assert all(
            len(A) == 10 for e in seen[name, "fit"] + seen[name, "test"] for A in e[:2]
        )
    for a, b in zip(
        seen["plain", "fit"] + seen["plain", "test"],
        seen["trained", "fit"] + seen["trained", "test"],
    ):
        assert np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1])
    values = np.concatenate(
        [
            np.ravel(A)
            for e in seen["plain", "fit"] + seen["plain", "test"]
            for A in e[:2]
        ]
    )
    assert len(np.unique(values)) == len(values)  # no point is used twice
    assert len({e[2] for e in seen["plain", "test"]}) == 6
    assert (table.n_tests == 3).all() and list(table.test) == [
        "plain",
        "trained",
        "bare",
    ]


def test_table_and_known_power():
    table = power_study(
        dict(z=MeanTest()),
        shifted,
        grid=dict(n=[20, 60], shift=[0.0, 0.6]),
        n_trials=400,
        rng=1,
    )
    assert list(table.columns) == [
        "test",
        "n",
        "shift",
        "protocol",
        "n_trials",
        "n_tests",
        "n_resamples",
        "alpha",
        "rejections",
        "power",
        "low",
        "high",
        "seconds",
        "seed",
    ]
    for r in table.itertuples():
        p = z_power(r.n, r.shift)
        assert (
            abs(r.power - p) < 4 * math.sqrt(p * (1 - p) / 400)
            and r.power == r.rejections / 400
            and (r.low, r.high) == wilson(r.rejections, 400)
        )
    assert (table.seed == "1").all() and (table.seconds > 0).all()


# -- the same bits
@pytest.mark.parametrize("options", [{}, ONCE], ids=["equal", "train_once"])
def test_company_order_and_workers_do_not_matter(options):
    table = facts(study(**options))
    with ThreadPoolExecutor(2) as pool:
        assert facts(study(workers=pool.map, **options)).equals(table)
    for name, t in TESTS.items():
        alone = (
            facts(study(tests={name: t}, grid=GRID[::-1], **options))
            .iloc[::-1]
            .reset_index(drop=True)
        )
        assert alone.equals(table[table.test == name].reset_index(drop=True))
    assert facts(study(rng=np.random.default_rng(5), **options)).equals(table)
    assert not facts(study(rng=6, **options)).equals(table)


def test_joblib_backends():
    from joblib import parallel_config

    table = facts(study(n_trials=6, **ONCE))
    assert facts(study(n_trials=6, workers=2, **ONCE)).equals(table)  # processes
    with parallel_config(backend="threading"):
        assert facts(study(n_trials=6, workers=2, **ONCE)).equals(table)


def test_backend_that_gives_lists_only(tmp_path):
    from joblib import parallel_config

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fork beside threads
        with parallel_config(backend="multiprocessing"):
            assert facts(study(workers=2, store=tmp_path / "s")).equals(facts(study()))


def test_dask(tmp_path):
    distributed = pytest.importorskip("distributed")
    from joblib import parallel_config

    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        with parallel_config(backend="dask"):
            table = study(workers=2, store=tmp_path / "s")
    assert facts(table).equals(facts(study()))
    assert study(store=tmp_path / "s").equals(table)


def test_generator_moves_on_and_the_seed_repeats_it():
    g = np.random.default_rng(5)
    first, second = facts(study(rng=g)), facts(study(rng=g))
    assert list(first.seed.unique()) == ["5"] and not first.equals(second)
    assert facts(study(rng=int(second.seed[0]))).equals(second)


def test_no_kernel_uses_numbas_threads():
    # a worker holds BLAS to one thread; a parallel kernel would have to be held, too
    folder = Path(power_module.__file__).parent
    assert not [
        p.name
        for p in folder.glob("*.py")
        if re.search(r"parallel\s*=\s*True|prange", p.read_text(encoding="utf-8"))
    ]


# -- the store
def test_resume_reuses_seconds_and_grows(tmp_path):
    file, ticks = tmp_path / "s.jsonl", []

    def count(done, total):
        return ticks.append(total)

    small = study(store=file, n_trials=5)
    assert len(file.read_bytes().splitlines()) == 5 * len(GRID) * len(TESTS)
    large = study(store=file, progress=count)
    assert ticks[-1] == 7 * len(GRID) and facts(large).equals(facts(study()))
    before = file.read_bytes()
    assert (
        study(store=file).equals(large)
        and study(store=file, n_trials=5).equals(small)
        and file.read_bytes() == before
    )  # seconds too
    loose = study(store=file, alpha=0.3)  # p-values are stored, so nothing is done anew
    assert (
        file.read_bytes() == before
        and (loose.rejections >= large.rejections).all()
        and facts(loose).equals(facts(study(alpha=0.3)))
    )
    ticks.clear()
    study(store=file, tests=TESTS | dict(third=MeanTest(0.3)), progress=count)
    assert len(file.read_bytes().splitlines()) - len(before.splitlines()) == 12 * len(
        GRID
    )  # only the new test ran


def test_equal_tests_run_once(tmp_path):
    table = study(tests=dict(a=MeanTest(), b=MeanTest()), store=tmp_path / "s")
    assert len((tmp_path / "s").read_bytes().splitlines()) == 12 * len(GRID)
    a, b = (
        table[table.test == name].drop(columns="test").reset_index(drop=True)
        for name in "ab"
    )
    assert a.equals(b)


@pytest.mark.filterwarnings("ignore:.*records of other code")
def test_other_settings_do_not_mix(tmp_path):
    file = tmp_path / "s"
    variants = [
        {},
        dict(rng=6),
        dict(n_resamples=99),
        dict(tests={k: MeanTest(0.25) for k in TESTS}),
        dict(sampler=partial(shifted, D=2)),
        dict(sampler=partial(shifted, D=3)),
        dict(grid=[p | dict(D=2) for p in GRID]),
        ONCE,
        ONCE | dict(n_tests=2),
        dict(sampler=lambda n, rng, shift: shifted(n, rng, shift + 1)),
        dict(sampler=lambda n, rng, shift: shifted(n, rng, shift + 2)),
    ]
    lines = 0
    for options in variants:
        options = dict(n_trials=2) | options
        assert facts(study(store=file, **options)).equals(facts(study(**options)))
        assert (now := len(file.read_bytes().splitlines())) > lines
        lines = now


def test_torn_line_anywhere(tmp_path):
    file = tmp_path / "s"
    table = study(store=file, n_trials=2)
    whole = file.read_bytes()
    last = len(whole.splitlines(True)[-1])
    for cut in (1, 2, last // 2, last - len(_HEAD) // 2, last - 1, last):
        file.write_bytes(whole[:-cut])
        assert facts(study(store=file, n_trials=2)).equals(facts(table))

        def strip(raw):
            return [
                {k: v for k, v in json.loads(line).items() if k != "seconds"}
                for line in raw.splitlines()
            ]

        assert strip(file.read_bytes()) == strip(whole)


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,2\n",
        b"precious notes",
        b'{"x": 1}\n',
        _HEAD + b'"trial": 1}\n',
        b"\x00\x00\n",
    ],
)
def test_foreign_file_is_refused_and_untouched(tmp_path, content):
    (tmp_path / "s").write_bytes(content)
    with pytest.raises(ValueError, match="not a store"):
        study(store=tmp_path / "s")
    assert (tmp_path / "s").read_bytes() == content


def test_lock(tmp_path):
    errors = []

    def intrude(done, total):
        if done == 1:
            with pytest.raises(ValueError, match="in use") as e:
                study(store=tmp_path / "s")
            errors.append(e)

    pytest.importorskip("fcntl")
    table = study(store=tmp_path / "s", progress=intrude)
    assert len(errors) == 1 and study(store=tmp_path / "s").equals(
        table
    )  # and it is free again


def test_short_write_is_undone(tmp_path, monkeypatch):
    file = tmp_path / "s"
    study(store=file, n_trials=1)
    before, write = file.read_bytes(), os.write
    monkeypatch.setattr(power_module.os, "write", lambda fd, data: write(fd, data[:7]))
    with pytest.raises(OSError, match="disk full"):
        study(store=file, n_trials=2)
    monkeypatch.undo()
    assert file.read_bytes() == before and facts(study(store=file)).equals(
        facts(study())
    )


@pytest.mark.parametrize("workers", [1, "threads"])
def test_interrupt_keeps_what_is_done(tmp_path, workers):
    from joblib import parallel_config

    file, seen = tmp_path / "s", []

    def interrupt(done, total):
        if done == 7:
            raise KeyboardInterrupt

    with parallel_config(backend="threading"), pytest.raises(KeyboardInterrupt):
        study(store=file, progress=interrupt, workers=1 if workers == 1 else 2)
    assert len(file.read_bytes().splitlines()) == 7 * len(TESTS)
    assert (
        facts(
            study(store=file, progress=lambda done, total: seen.append(total))
        ).equals(facts(study()))
        and seen[0] == 12 * len(GRID) - 7
    )


KILL = """
import os, random, signal, sys, time
sys.path.insert(0, sys.argv[1])
import pandas, scipy.special
from joblib import parallel_config
from test_power import KillStudy, facts
file, kills, workers = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
random.seed(0)
def kept():
    return open(file, "rb").read() if os.path.exists(file) else b""
def whole(raw):
    return raw[:raw.rfind(b"\\n") + 1]
old, killed = b"", 0
for k in range(kills):
    pid = os.fork()
    if pid == 0:
        # processes would outlive the kill for minutes
        with parallel_config(backend="threading"):
            KillStudy(file, workers)
        os._exit(0)
    wanted = len(old) + random.randrange(1, 9000)
    while len(kept()) < wanted and os.waitpid(pid, os.WNOHANG)[0] == 0:
        time.sleep(0.0002)
    time.sleep(random.random()*0.004)
    before = whole(kept())  # finished at the moment of the kill
    os.kill(pid, signal.SIGKILL)
    killed += os.WIFSIGNALED(os.waitpid(pid, 0)[1])
    new = whole(kept())
    assert new.startswith(before) and before.startswith(old), "a trial was lost"
    old = new
    if k % 2:  # as if the kill had torn a line
        open(file, "ab").write(b'{"kpw_nb.study.power": 1, "sett')
print(killed, old.count(b"\\n"))
resumed = KillStudy(file, 1)
assert whole(kept()).startswith(old)
assert facts(resumed).equals(facts(KillStudy(None, 1))), "the resumed table differs"
print(kept().count(b"\\n"))
"""


class SlowMeanTest(MeanTest):
    "A millisecond of work"

    def test(self, X, Y, **options):
        threading.Event().wait(0.001)
        return super().test(X, Y, **options)


def KillStudy(store, workers):
    return power_study(
        dict(a=SlowMeanTest(), b=SlowMeanTest(0.5)),
        shifted,
        grid=GRID,
        n_trials=60,
        rng=8,
        store=store,
        workers=workers,
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    "kills, workers", [(10, 1), pytest.param(10, 2, marks=pytest.mark.slow)]
)
def test_killed_at_random_moments_and_resumed(tmp_path, kills, workers):
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            KILL,
            os.path.dirname(__file__),
            str(tmp_path / "s"),
            str(kills),
            str(workers),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    killed, stored, total = map(int, run.stdout.split())
    assert (
        killed == kills and 0 < stored < total == 60 * len(GRID) * 2
    )  # every kill hit, none was needed twice


# -- errors
class Fragile(MeanTest):
    "Fails in some trials"

    def test(self, X, Y, **options):
        if X[0, 0] > 1.5:
            raise FloatingPointError("too large")
        return super().test(X, Y, **options)


class Odd(Exception):
    "An exception that does not survive pickling"

    def __init__(self, a, b):
        super().__init__(f"{a} and {b}")


class OddTest(MeanTest):
    def test(self, X, Y, **options):
        raise Odd(1, 2)


class NotANumber(MeanTest):
    def test(self, X, Y, **options):
        return PValue(math.nan)


def test_failure_names_test_point_and_trial_and_keeps_the_rest(tmp_path):
    file = tmp_path / "s"
    with pytest.raises(
        RuntimeError,
        match=r"test 'fragile' failed at grid point \{'n': 10, 'shift': 0.5\}, "
        r"trial (\d+): FloatingPointError: too large",
    ) as e:
        power_study(
            dict(mean=MeanTest(), fragile=Fragile()),
            shifted,
            grid=[dict(n=10, shift=0.5)],
            n_trials=200,
            rng=0,
            store=file,
        )
    trial = int(str(e.value).split("trial ")[1].split(":")[0])
    assert isinstance(e.value.__cause__, FloatingPointError) and trial > 0
    assert sorted(
        {json.loads(line)["trial"] for line in file.read_bytes().splitlines()}
    ) == list(range(trial))
    with pytest.raises(RuntimeError, match="'odd' failed .* Odd: 1 and 2"):
        study(tests=dict(odd=OddTest()), workers=2)
    with pytest.raises(RuntimeError, match="p-value is nan"):
        study(tests=dict(nan=NotANumber()))


def bad_sampler(n, rng):
    raise KeyError("no such file")


@pytest.mark.parametrize(
    "options, error, word",
    [
        (dict(tests={}), ValueError, "tests is empty"),
        (dict(tests=[MeanTest()]), TypeError, "dict"),
        (dict(tests=dict(a=MeanTest)), TypeError, r"tests\['a'\]"),
        (dict(tests=dict(a=3)), TypeError, r"tests\['a'\]"),
        (dict(sampler=3), TypeError, "sampler must be a function"),
        (
            dict(sampler=lambda n, rng: rng.normal(size=(2, n)), grid=None, n=4),
            TypeError,
            "sampler must return two samples",
        ),
        (
            dict(sampler=lambda n, rng: (1, 2, 3), grid=None, n=4),
            TypeError,
            "of length 3",
        ),
        (
            dict(sampler=lambda n, rng: shifted(n + 1, rng), grid=None, n=4),
            ValueError,
            "asked for n=4",
        ),
        (
            dict(sampler=bad_sampler, grid=None, n=4),
            RuntimeError,
            r"sampler failed at grid point \{'n': 4\}, trial 0",
        ),
        (dict(n_trials=0), ValueError, "n_trials"),
        (dict(n_trials=2.5), TypeError, "n_trials"),
        (dict(n_tests=2), ValueError, "train_once"),
        (dict(protocol="paper"), ValueError, "'equal', 'train_once'"),
        (dict(alpha=0), ValueError, "alpha"),
        (dict(n_resamples=0), ValueError, "n_resamples"),
        (dict(workers=0), ValueError, "workers"),
        (dict(workers="two"), TypeError, "workers"),
        (dict(workers=lambda f, tasks: map(f, tasks[:3])), ValueError, "fewer results"),
        (dict(grid=[]), ValueError, "grid is empty"),
        (dict(grid=[{}]), ValueError, "n is missing"),
        (dict(grid=[dict(n=1)]), ValueError, "n must be"),
        (dict(grid=[dict(n=4), dict(n=4)]), ValueError, "twice"),
        (dict(grid=[dict(n=4, power=1)]), ValueError, "'power'"),
        (dict(rng="x"), TypeError, "rng"),
        (dict(progress=3), TypeError, "progress"),
    ],
)
def test_bad_input(options, error, word):
    with pytest.raises(error, match=word):
        study(**options)


def test_bad_store(tmp_path):
    with pytest.raises(ValueError, match="is a directory"):
        study(store=tmp_path)
    with pytest.raises(ValueError, match="does not exist"):
        study(store=tmp_path / "no" / "s")
    with pytest.raises(ValueError, match="fixed rng"):
        study(store=tmp_path / "s", rng=None)
    with pytest.raises(TypeError, match="no description"):
        study(
            store=tmp_path / "s", sampler=partial(shifted, D=np.random.default_rng(0))
        )
    assert not list(tmp_path.iterdir())


def test_too_few_permutations_warn():
    with pytest.warns(UserWarning, match="can never reject"):
        study(n_resamples=9, n_trials=1)


STABLE = """
from test_power import GRID, TESTS, _describe, np, partial, shifted
from kpw_nb.study.rivals import paper_baselines
from kpw_nb.study.experiments import draw_problem
from kpw_nb.compare.twosample import KPWTest
things = [shifted, TESTS, GRID, partial(shifted, D=np.arange(3)), {"a", "b", "c"}]
rivals = paper_baselines(True)
things += [KPWTest(), KPWTest("split"), draw_problem, *rivals.values()]
def texts():
    return [_describe(v) for v in things]
before = texts()
if RUN:
    X, Y = np.random.default_rng(0).normal(size=(2, 8, 3))
    for t in RUN:
        t.test(X + 1, Y, n_resamples=19, rng=0)
    import kpw_nb.show.cli, kpw_nb.show.plots
    assert texts() == before, "a run changed the description"
print("\\n".join(before))
"""


@pytest.mark.parametrize(
    "used",
    [
        '[rivals["Energy"], rivals["MMDAgg"]]',
        pytest.param('[KPWTest(), KPWTest("split")]', marks=pytest.mark.slow),
    ],
)
def test_description_is_stable_between_processes_and_runs(used):
    def run(seed, used):
        return subprocess.run(
            [sys.executable, "-c", STABLE.replace("RUN", used)],
            cwd=os.path.dirname(__file__),
            env=os.environ
            | dict(PYTHONHASHSEED=seed, PYTHONPATH=os.pathsep.join(sys.path)),
            capture_output=True,
            text=True,
        )

    first, second = run("1", "[]"), run("2", used)
    assert first.returncode == 0 and second.returncode == 0, second.stderr
    assert first.stdout == second.stdout and first.stdout.count("@") >= 12


# -- the code that ran
PROGRAM = {
    "deep": "def shift():\n    return 0.0\n",
    "helpers": """
import deep
FACTOR = 1.0
def scale(z):
    return FACTOR * z + deep.shift()
def extra(z):
    return z
""",
    "mytest": """
import functools, math
import numpy as np
from numba import njit
import helpers
from helpers import extra
from dataclasses import dataclass

@dataclass
class PValue:
    pvalue: float

@njit
def compiled(z):
    return z * 1.0

@functools.lru_cache
def cached(n):
    return math.sqrt(2 / n) * 1.0

class Base:
    gain = 1.0
    def z(self, X, Y):
        return self.gain * (X.mean() - Y.mean()) / cached(len(X))
    @staticmethod
    def flat(z):
        return z
    @property
    def size(self):
        return 1.0

class Test(Base):
    def test(self, X, Y, *, n_resamples=199, rng=None):
        from helpers import scale
        z = compiled(extra(helpers.scale(self.flat(self.z(X, Y))))) * self.size
        return PValue(math.erfc(abs(scale(z)) / math.sqrt(2)))

def level():
    return 0.5

def sampler(n, rng):
    X, Y = rng.normal(size=(2, n, 1))
    return X, Y + level()
""",
}
EDITS = {
    "a constant two modules away": ("deep", "0.0", "9.0"),
    "a global number of a helper": ("helpers", "FACTOR = 1.0", "FACTOR = 9.0"),
    "a helper called by its module": ("helpers", "FACTOR * z +", "9 * FACTOR * z +"),
    "an imported helper": ("helpers", "    return z\n", "    return 9 * z\n"),
    "a compiled helper": ("mytest", "z * 1.0", "z * 9.0"),
    "a cached helper": ("mytest", "(2 / n) * 1.0", "(2 / n) / 9.0"),
    "a method of the parent": ("mytest", "return self.gain", "return 9 * self.gain"),
    "a class attribute of the parent": ("mytest", "gain = 1.0", "gain = 9.0"),
    "a static method": ("mytest", "        return z\n", "        return 9 * z\n"),
    "a property": ("mytest", "        return 1.0", "        return 9.0"),
    "the method itself": ("mytest", "abs(scale(z))", "abs(9 * scale(z))"),
    "a helper of the sampler": ("mytest", "return 0.5", "return 1.5"),
}


def run_program(folder, store=None):
    "Load the program as a new session would; rejections, and what the study said"
    for name in PROGRAM:
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    program = importlib.import_module("mytest")
    assert Path(program.__file__).parent == folder
    tests = {"t": program.Test()}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        table = power_study(
            tests, program.sampler, n=20, n_trials=40, rng=0, store=store
        )
    return table.rejections.item(), [str(w.message) for w in said]


@pytest.mark.parametrize("name", EDITS)
def test_edited_code_is_run_again(tmp_path, monkeypatch, name):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)
    for module, text in PROGRAM.items():
        (tmp_path / f"{module}.py").write_text(text)
    module, old, new = EDITS[name]
    store, file = tmp_path / "s", tmp_path / f"{module}.py"
    before = run_program(tmp_path, store)
    assert run_program(tmp_path, store) == before == (before[0], [])
    assert PROGRAM[module].count(old) == 1
    file.write_text(PROGRAM[module].replace(old, new))
    truth, _ = run_program(tmp_path)
    assert truth != before[0]
    said = f"store={str(store)!r}: 40 records of other code are kept but not used."
    assert run_program(tmp_path, store) == (truth, [said])
    file.write_text("# a comment\n" + PROGRAM[module])
    assert run_program(tmp_path, store) == (before[0], [said])
    assert len(store.read_bytes().splitlines()) == 80


def test_edited_package_is_run_again(tmp_path):
    "A function that the test calls is edited in a copy of the package"
    package = Path(power_module.__file__).parent
    shutil.copytree(
        package,
        tmp_path / "kpw_nb",
        ignore=shutil.ignore_patterns("__pycache__", "*.nb?"),
    )
    program = """
import sys, warnings
from kpw_nb.study.rivals import MMDTest
from kpw_nb.study.problems import make_gaussian_shift
from kpw_nb.study.power import power_study
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    power_study({"t": MMDTest()}, make_gaussian_shift, grid=[dict(D=3)], n=9,
                n_trials=3, n_resamples=19, rng=0, store="s")
print(len(open("s").readlines()), *(w.message for w in said))
"""

    def run():
        return subprocess.run(
            [sys.executable, "-B", "-c", program],
            cwd=tmp_path,
            env=os.environ | dict(PYTHONPATH=str(tmp_path)),
            capture_output=True,
            text=True,
        ).stdout.strip()

    file = tmp_path / "kpw_nb" / "kernels.py"
    assert run() == "3"
    text = file.read_text(encoding="utf-8")
    head, rest = text.split("def median_bandwidth(", 1)
    signature, doc, body = rest.split('"""', 2)
    edited = f'{head}def median_bandwidth({signature}"""{doc}"""\n    len([0, 1]){body}'
    file.write_text("# a comment\n" + text, encoding="utf-8")
    assert run() == "3"
    file.write_text(edited, encoding="utf-8")
    assert run() == "6 store='s': 3 records of other code are kept but not used."


class Holder(MeanTest):
    "Holds an object that holds it"

    def __init__(self, first=1.0):
        super().__init__(first)

    def helper(self):
        return Holder().test, mutual_a


def mutual_a(k):
    return mutual_b(k - 1) if k else 0


def mutual_b(k):
    return mutual_a(k - 1) if k else Holder


def test_description_of_cycles_and_odd_objects(monkeypatch):
    loop = Plain()
    loop.me = [loop]
    for v in (Holder(), mutual_a, mutual_b, loop, loop.test, np.sum, partial(np.sum)):
        assert _describe(v) == _describe(v) and "0x" not in _describe(v)
    before = _describe(Holder())
    monkeypatch.setattr(sys.modules[__name__], "mutual_b", lambda k: 1)
    assert _describe(Holder()) != before
    monkeypatch.undo()
    assert _describe(Holder()) == before
    log = _describe(reader)
    assert log == _describe(reader)


def locked(f):
    "A decorator whose closure holds something without a text"
    lock = threading.Lock()

    def wrapper(*args):
        with lock:
            return f(*args)

    return wrapper


class Guard:
    "Holds something without a text"

    def __init__(self):
        self.lock = threading.Lock()

    def scale(self):
        return 1.0


GUARD = Guard()
guarded = locked(mutual_a)


def caller(n, rng):
    return guarded(n), GUARD.scale()


@pytest.mark.parametrize("name", ["mutual_a", "mutual_b", "scale"])
def test_helpers_that_hold_a_lock_are_followed(monkeypatch, name):
    before = _describe(caller)
    owner = Guard if name == "scale" else sys.modules[__name__]
    monkeypatch.setattr(owner, name, lambda *args: 7)
    new = locked(mutual_a)
    monkeypatch.setattr(sys.modules[__name__], "guarded", new)
    assert _describe(caller) != before
    monkeypatch.undo()
    assert _describe(caller) == before
    with pytest.raises(TypeError, match="no description"):
        _describe(guarded)  # asked for by itself


def test_a_long_chain_of_calls():
    space = {"__name__": "chain"}
    lines = [f"def f{i}(): return f{i + 1}()" for i in range(300)]
    exec("\n".join([*lines, "def f300(): return 1"]), space)
    before = _describe(space["f0"])
    exec("def f300(): return 2", space)
    assert _describe(space["f0"]) != before


GENERATOR, SHAPE = np.random.default_rng(0), 3


def reader(n, rng):
    "Reads a global object without a text, and an attribute that is also a global name"
    return GENERATOR.random(), rng.normal(n).SHAPE


def test_an_attribute_is_not_a_global_of_the_same_name(monkeypatch):
    before = _describe(reader)
    monkeypatch.setattr(sys.modules[__name__], "SHAPE", 4)
    assert _describe(reader) == before


# -- sample size
def needed(shift, power=0.8):
    return 2 * ((stats.norm.isf(0.025) + stats.norm.ppf(power)) / shift) ** 2


@pytest.mark.parametrize("shift, n_start", [(0.5, 8), (0.8, 200)])
def test_sample_size_of_a_known_test(shift, n_start):
    answer = sample_size(
        MeanTest(), partial(shifted, shift=shift), n_start=n_start, n_trials=300, rng=2
    )
    low, high = answer.interval
    # three shapes of the curve are allowed for, so the interval is wide where the
    # crossing is at the end of the octave
    assert (
        low <= needed(shift) <= high
        and low <= answer.n <= high
        and high < 2 * low
        and abs(answer.n / needed(shift) - 1) < 0.2
    )
    assert "points of each sample" in repr(answer) and len(answer.study) >= 6


def test_sample_size_interval_covers():
    g, hits = np.random.default_rng(4), []
    for start in (0.6, 0.9):
        n = np.round(needed(0.5) * start * 2 ** (np.arange(5) / 4))
        hits += [
            low <= needed(0.5) <= high
            for _, low, high in (
                _crossing(n, g.binomial(150, z_power(n)), 150, 0.8, 0.95)
                for _ in range(200)
            )
        ]
    assert np.mean(hits) > 0.95 - 4 * math.sqrt(0.95 * 0.05 / 400)


def test_probit_fit_is_the_maximum():
    from scipy.optimize import minimize

    x, k, T = np.sqrt([40.0, 50, 60, 70, 80]), np.array([90.0, 115, 140, 150, 175]), 200

    def loss(c):
        return -(
            (k + 0.5) * np.log(ndtr(c[0] + c[1] * x))
            + (T - k + 0.5) * np.log(ndtr(-c[0] - c[1] * x))
        ).sum()

    assert np.allclose(
        _fit_probit(x, k, T)[0],
        minimize(
            loss,
            [0.0, 0.1],
            method="Nelder-Mead",
            options=dict(xatol=1e-9, fatol=1e-12, maxiter=5000),
        ).x,
        atol=1e-5,
    )


def test_sample_size_resumes(tmp_path):
    def run(**o):
        return sample_size(MeanTest(), shifted, n_trials=60, rng=3, **o)

    first = run(store=tmp_path / "s")
    before = (tmp_path / "s").read_bytes()
    again = run(store=tmp_path / "s")
    assert (
        (tmp_path / "s").read_bytes() == before
        and again.study.equals(first.study)
        and (again.n, again.interval) == (first.n, first.interval)
    )
    assert facts(run().study).equals(facts(first.study))
    alone = power_study(
        dict(MeanTest=MeanTest()), shifted, n=32, n_trials=60, rng=3
    )  # the same seed, the same trials
    assert facts(alone).equals(
        facts(first.study[first.study.n == 32].reset_index(drop=True))
    )


@pytest.mark.parametrize(
    "options, word",
    [
        (dict(power=1.0), "power must be"),
        (dict(n_tests=2), "n_tests=1"),
        (dict(n_start=2), "n_start"),
        (dict(n_max=8), "n_max"),
        (dict(point=dict(shift=0.0), n_max=70), "not reached"),
        (dict(point=dict(shift=9.0)), "as few as"),
    ],
)
def test_bad_sample_size(options, word):
    with pytest.raises(ValueError, match=word):
        sample_size(MeanTest(), shifted, **(dict(n_trials=20, rng=0) | options))


# -- planning from a pilot
class Spy:
    "Sees what a plan gives to a test, and rejects as the z-test does"

    def test(self, X, Y, *, n_resamples=199, rng=None, **design):
        X, Y = (A if isinstance(A, np.ndarray) else A.numbers for A in (X, Y))
        self.check(X, Y, **design)
        z = (X[:, 0].mean() - Y[:, 0].mean()) / math.sqrt(1 / len(X) + 1 / len(Y))
        return PValue(2 * ndtr(-abs(z)))

    def check(self, X, Y):
        assert len(np.unique(np.r_[X[:, 1], Y[:, 1]])) == len(X) + len(Y)  # no copies


def pilot(N=60, M=None, shift=0.8, seed=0):
    "Rows of two samples; the second column is the number of the row"
    g = np.random.default_rng([200, seed])
    sizes = N, M or N
    X, Y = (np.column_stack([g.normal(size=k), np.arange(k)]) for k in sizes)
    return X, Y + [shift, N]


FEW = dict(n_trials=30, rng=0)


def test_pilot_rows_are_never_copied():
    answer = sample_size(Spy(), pilot(), **FEW)
    assert answer.n > 4 and answer.unit == "points of each sample"
    assert answer.study.n.max() <= 30 and answer.pvalue <= 0.05 and not answer.said
    assert answer.interval[0] <= answer.n <= answer.interval[1]


def test_pilot_of_unequal_samples():
    class Counts(Spy):
        def check(self, X, Y):
            assert len(Y) == round(len(X) / 2)

    answer = sample_size(Counts(), pilot(60, 30, shift=1.2), **FEW)
    assert answer.unit == "points of X, 0.5 times as many of Y" and answer.n


class Whole(Spy):
    "Every cluster comes with all its rows, under a name of its own"

    def check(self, X, Y, clusters):
        assert not set(clusters[0]) & set(clusters[1])
        for sample, labels, first in ((X, clusters[0], 0), (Y, clusters[1], 24)):
            assert len(labels) == len(sample)
            for name in set(labels):
                (donor,) = set(sample[labels == name, 1])
                assert (labels == name).sum() == 2 + donor % 3 and donor >= first


def donors(shift=2.0):
    g, donor = np.random.default_rng(201), np.arange(48)
    donor = np.repeat(donor, 2 + donor % 3)
    frame = pd.DataFrame(dict(v=g.normal(size=len(donor)), number=1.0 * donor))
    frame["v"] += shift * (donor >= 24)
    frame["donor"] = [f"d{k}" for k in donor]
    frame = frame.sample(frac=1, random_state=0)  # rows of a donor lie apart
    return frame[frame.number < 24], frame[frame.number >= 24]


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"]
)
def test_pilot_of_clusters(make):
    X, Y = map(make, donors())
    answer = sample_size(Whole(), (X, Y), clusters="donor", **FEW)
    assert answer.unit == "clusters of each sample" and answer.study.n.max() <= 12
    lists = [A["donor"].to_list() for A in (X, Y)]
    rest = [A[["v", "number"]] for A in (X, Y)]
    again = sample_size(Whole(), rest, clusters=tuple(lists), **FEW)
    assert facts(again.study).equals(facts(answer.study)) and again.n == answer.n


@pytest.mark.parametrize("clusters", [False, True])
def test_pilot_of_pairs(clusters):
    class Together(Spy):
        def check(self, X, Y, paired, clusters=None):
            assert paired
            if clusters is None:
                assert np.array_equal(X[:, 1], Y[:, 1])
                return
            assert set(clusters[0]) == set(clusters[1])
            for name in set(clusters[0]):
                (of_x,), (of_y,) = (
                    set(A[c == name, 1]) for A, c in zip((X, Y), clusters)
                )
                assert of_x == of_y

    X, Y = pilot(40)
    Y[:, 1] -= 40
    design = dict(paired=True)
    if clusters:
        order = np.random.default_rng(0).permutation(40)
        Y = Y[order]
        design |= dict(clusters=(np.arange(40), order))
    answer = sample_size(Together(), (X, Y), **design, **FEW)
    assert answer.unit.endswith("in both samples") and answer.n


def test_pilot_keeps_the_shares_of_strata():
    class Shares(Spy):
        def check(self, X, Y, strata):
            for labels in strata:
                first = (labels == 0).sum()
                assert abs(first - 0.75 * len(labels)) < 1 and first < len(labels)

    site = np.repeat([0, 1], [45, 15])
    assert sample_size(Shares(), pilot(), strata=(site, site), **FEW).n


@pytest.mark.parametrize("seed", range(2))
def test_pilots_of_equal_laws_are_refused(seed):
    "Broken by a plan that does not test the pilot first"
    runs, answered = 100, 0
    for k in range(runs):
        X, Y = np.random.default_rng([202, seed, k]).normal(size=(2, 20, 2))
        few = dict(n_trials=5, n_resamples=19, rng=k)
        answer = sample_size(EnergyTest(), (X, Y), **few)
        assert (answer.pvalue > 0.05) == ("shows no difference" in answer.said)
        assert answer.n is None or answer.pvalue <= 0.05
        answered += answer.n is not None
    assert answered <= stats.binom.ppf(0.9999, runs, 0.05)


def test_the_default_test_refuses_too():
    answered = 0
    for k in range(40):
        X, Y = np.random.default_rng([203, k]).normal(size=(2, 16, 3))
        few = dict(n_trials=3, n_resamples=19, rng=k)
        answered += sample_size(KPWTest(), (X, Y), **few).n is not None
    assert answered <= stats.binom.ppf(0.9999, 40, 0.05)


def test_clear_pilots_are_answered_within_a_factor_of_two():
    "Found with probability 0.999 by the pilot itself; truth 18.5"
    shift = 0.923
    assert z_power(60, shift) > 0.998
    good = 0
    for seed in range(30):
        answer = sample_size(MeanTest(), pilot(shift=shift, seed=seed), **FEW)
        low, high = answer.interval
        good += 0.5 < answer.n / needed(shift) < 2
        assert low <= answer.n <= high
    assert good >= stats.binom.ppf(0.001, 30, 0.8)


def test_the_line_of_subsamples_is_that_of_the_whole():
    "Exact powers of subsamples, corrected for the finite pilot, give the line back"
    n, N, T = np.array([8.0, 12, 16, 24, 30]), 60, 10**7
    shrink = np.sqrt(1 - n / N)
    power = ndtr((-1.96 + 0.5 * np.sqrt(n)) / shrink)
    (a, b), _ = _fit_probit(np.sqrt(n), power * T, T, shrink)
    assert np.allclose([a, b], [-1.96, 0.5], atol=1e-4)


def test_pilot_repeats_and_resumes(tmp_path):
    X, Y = pilot()
    first = sample_size(MeanTest(), (X, Y), store=tmp_path / "s", **FEW)
    before = (tmp_path / "s").read_bytes()
    for options in (dict(store=tmp_path / "s"), dict(workers=2), {}):
        again = sample_size(MeanTest(), (X, Y), **options, **FEW)
        assert facts(again.study).equals(facts(first.study)) and again.n == first.n
    assert (tmp_path / "s").read_bytes() == before
    other = sample_size(MeanTest(), pilot(seed=1), store=tmp_path / "s", **FEW)
    assert not facts(other.study).equals(facts(first.study))  # not another's trials


def test_pilot_that_is_too_small():
    X, Y = pilot(10, shift=5.0)
    answer = sample_size(MeanTest(), (X, Y), **FEW)
    assert answer.n is None and "10 points, too few" in answer.said
    assert "too few" in str(answer) and "no answer" in str(answer)


def test_pilot_with_a_huge_difference():
    answer = sample_size(MeanTest(), pilot(shift=9.0), **FEW)
    assert answer.n == 4 and "that few are enough" in answer.said


def test_pilot_beyond_the_largest_size():
    answer = sample_size(MeanTest(), pilot(shift=0.7), power=0.99, n_max=64, **FEW)
    assert answer.n is None and "more than n_max=64" in answer.said


def test_pilot_of_a_test_that_trains():
    answer = sample_size(Learner(), pilot(200, shift=0.6), **FEW)
    assert answer.n is not None
    with pytest.raises(ValueError, match="a test that trains"):
        sample_size(Learner(), pilot(), paired=True, **FEW)


class Slow(MeanTest):
    def test(self, X, Y, **options):
        time.sleep(0.01)
        return super().test(X, Y, **options)


@pytest.mark.parametrize("source", [shifted, pilot()], ids=["sampler", "pilot"])
@pytest.mark.parametrize("seconds", [0, 0.4, 1.5])
def test_time_is_bounded(source, seconds):
    start = time.monotonic()
    answer = sample_size(Slow(), source, max_seconds=seconds, n_trials=1000, rng=0)
    assert time.monotonic() - start < seconds + 1.5
    assert "time was up" in answer.said or "are over" in answer.said
    if answer.n is None:
        assert "give it more" in answer.said
    else:
        assert len(answer.study) >= 5 and answer.study.n_trials.max() < 1000


def test_time_enough_changes_nothing():
    for source in (shifted, pilot()):
        a, b = (
            sample_size(MeanTest(), source, max_seconds=limit, **FEW)
            for limit in (None, 1000)
        )
        assert facts(a.study).equals(facts(b.study)) and not b.said and a.n == b.n


def test_study_in_time():
    with pytest.warns(UserWarning, match=r"max_seconds=0.2 are over: \d+ of 800"):
        table = power_study(
            dict(z=Slow()), shifted, grid=dict(n=[4, 8, 16, 32]), rng=0, max_seconds=0.2
        )
    assert 1 <= table.n_trials.min() and np.ptp(table.n_trials) <= 1
    assert (table.power == table.rejections / table.n_trials).all()
    with pytest.raises(ValueError, match="max_seconds"):
        power_study(dict(z=Slow()), shifted, n=4, max_seconds=-1)


def test_plan_can_be_interrupted():
    def stop(done, total):
        if done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sample_size(MeanTest(), pilot(), progress=stop, **FEW)


@pytest.mark.parametrize(
    "source, options, word",
    [
        (shifted, dict(clusters="donor"), "describe a pilot"),
        (pilot(), dict(point=dict(shift=1)), "point is for a sampler"),
        (pilot(), dict(protocol="train_once"), "protocol='equal'"),
        (pilot()[:1], {}, "got 1 things"),
        (donors(), dict(clusters="patient"), "clusters='patient' is no column"),
        (pilot(20, 24), dict(paired=True), "X has 20 rows and Y has 24"),
        (pilot(), dict(max_seconds="soon"), "max_seconds"),
    ],
)
def test_bad_pilot(source, options, word):
    with pytest.raises((ValueError, TypeError), match=word):
        sample_size(MeanTest(), source, **options, **FEW)


# -- table
def test_power_table():
    table = study()
    wide = power_table(table, rows=["shift", "test"], columns="n", digits=3)
    r = table[(table.test == "half") & (table.n == 40) & (table["shift"] == 0.5)].iloc[
        0
    ]
    assert wide.loc[
        (0.5, "half"), 40
    ] == f"{r.power:.3f} [{r.low:.3f}, {r.high:.3f}]" and wide.shape == (6, 2)
    assert list(power_table(table[table["shift"] == 0.5]).index) == list(
        TESTS
    )  # the order of the study
    with pytest.raises(ValueError, match="put shift into"):
        power_table(table)
    with pytest.raises(ValueError, match="'size' is not a column"):
        power_table(table, columns="size")
