"""Power studies: intervals against SciPy, what each test sees, the same bits for any
workers and after any kill, the code that a stored result belongs to, and bad input."""

import importlib
import json
import linecache
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
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats
from scipy.special import ndtr
from sklearn.base import BaseEstimator

from kpw_nb.study import power as power_module
from kpw_nb.ground.store import pack
from kpw_nb.study.power import (
    _HEAD,
    _describe,
    cluster_wilson,
    power_study,
    power_table,
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
                {
                    k: v
                    for k, v in json.loads(line[line.index(b"{") :]).items()
                    if k != "seconds"
                }
                for line in raw.splitlines()
            ]

        assert strip(file.read_bytes()) == strip(whole)


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,2\n",
        b"precious notes",
        b'{"x": 1}\n',
        pack("study", 2, dict(trial=1)),
        b"\x00\x00\n",
    ],
)
def test_foreign_file_is_refused_and_untouched(tmp_path, content):
    (tmp_path / "s").write_bytes(content)
    with pytest.raises(ValueError, match="line 1 is (not a file of kind|damaged)"):
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
        open(file, "ab").write(b'kpw_nb study 2 0123')
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
        {
            json.loads(line[line.index(b"{") :])["trial"]
            for line in file.read_bytes().splitlines()
        }
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
        (dict(workers=lambda f, tasks: map(f, tasks[:3])), ValueError, "it lost"),
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
    with pytest.raises(ValueError, match="is a folder"):
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
    assert first.stdout == second.stdout and first.stdout.count("@") >= 3


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
    "a method of the parent": ("mytest", "return self.gain", "return 9 * self.gain"),
    "a class attribute of the parent": ("mytest", "gain = 1.0", "gain = 9.0"),
    "a static method": ("mytest", "        return z\n", "        return 9 * z\n"),
    "a property": ("mytest", "        return 1.0", "        return 9.0"),
    "the method itself": ("mytest", "abs(scale(z))", "abs(9 * scale(z))"),
    "the sampler": ("mytest", "Y + level()", "Y + 1 + level()"),
}


def run_program(folder, store=None):
    "Load the program as a new session would; rejections, and what the study said"
    for name in PROGRAM:
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    linecache.clearcache()
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
    package = Path(power_module.__file__).parents[1]
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
            env=os.environ | dict(PYTHONPATH=str(tmp_path), NUMBA_DISABLE_JIT="1"),
            capture_output=True,
            text=True,
        ).stdout.strip()

    file = tmp_path / "kpw_nb" / "theory" / "kernels.py"
    assert run() == "3"
    text = file.read_text(encoding="utf-8")
    file.write_text("# another line\n" + text, encoding="utf-8")
    assert run() == "6 store='s': 3 records of other code are kept but not used."
    file.write_text(text, encoding="utf-8")
    assert run() == "6 store='s': 3 records of other code are kept but not used."


def test_description_of_cycles_and_odd_objects():
    loop = Plain()
    loop.me = [loop]
    for v in (loop, loop.test, np.sum, partial(np.sum)):
        assert _describe(v) == _describe(v) and "0x" not in _describe(v)


def test_code_without_source_needs_a_key(tmp_path):
    made = eval("lambda n, rng, shift: shifted(n, rng, shift)", globals())
    with pytest.raises(ValueError, match="source cannot be read.* pass key='1'"):
        study(store=tmp_path / "s", sampler=made)
    first = study(store=tmp_path / "s", sampler=made, key="1", n_trials=2)
    before = (tmp_path / "s").read_bytes()
    again = study(store=tmp_path / "s", sampler=made, key="1", n_trials=2)
    assert again.equals(first) and (tmp_path / "s").read_bytes() == before
    study(store=tmp_path / "s", sampler=made, key="2", n_trials=2)
    # lines, not bytes: the seconds of a trial have more or fewer digits
    after = (tmp_path / "s").read_bytes()
    assert after.count(b"\n") == 2 * before.count(b"\n")


@pytest.mark.parametrize("bad", [[math.nan], [-1], [5], [], None, [None], [0.1, 0.2]])
def test_no_pvalues(tmp_path, bad):
    "A record whose checksum is right and whose p-value is none"
    file = tmp_path / "s"
    study(store=file, n_trials=1)
    line = file.read_bytes().splitlines(True)[0]
    fields = json.loads(line[line.index(b"{") :])
    file.write_bytes(pack("study", 2, fields | dict(pvalues=bad)))
    with pytest.raises(
        ValueError, match="line 1 is damaged: it.pvalues.* must .*; name"
    ):
        study(store=file)


def test_pipes_and_devices_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", "/dev/full"):
        with pytest.raises(ValueError, match="a device or a pipe, not a file"):
            study(store=place)


def test_any_changed_byte_is_noticed(tmp_path):
    file = tmp_path / "s"
    study(store=file, n_trials=1)
    whole = file.read_bytes()
    for place in range(0, len(whole) - 1, 37):
        changed = bytearray(whole)
        changed[place] ^= 1
        file.write_bytes(changed)
        with pytest.raises(ValueError, match="name a new file"):
            study(store=file, n_trials=1)


class Slow(MeanTest):
    def test(self, X, Y, **options):
        time.sleep(0.01)
        return super().test(X, Y, **options)


def test_study_in_time():
    with pytest.warns(UserWarning, match=r"max_seconds=0.2 are over: \d+ of 800"):
        table = power_study(
            dict(z=Slow()), shifted, grid=dict(n=[4, 8, 16, 32]), rng=0, max_seconds=0.2
        )
    assert 1 <= table.n_trials.min() and np.ptp(table.n_trials) <= 1
    assert (table.power == table.rejections / table.n_trials).all()
    with pytest.raises(ValueError, match="max_seconds"):
        power_study(dict(z=Slow()), shifted, n=4, max_seconds=-1)


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
