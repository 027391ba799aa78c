"""Every call ends: with an answer or with an error that names the remedy, on tied,
constant, tiny and huge data. Each batch runs in a process of its own, watched."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

METHODS = ("refit", "split", "stream")
KINDS = ("coins", "grid", "constant column", "tiny", "huge", "one value", "heavy")

PRELUDE = """
import sys, warnings
import numpy as np
warnings.simplefilter("ignore")
from kpw_nb import KPWProjector, MeanProjector, kpw_changepoint, kpw_distance, kpw_test

def draw(g, kind):
    n, m, D = g.integers(4, 40), g.integers(4, 40), g.integers(1, 4)
    A, B = (g.standard_normal((k, D)) for k in (n, m))
    if kind == "coins":
        A, B = (A > 0.5) * 1.0, (B > 0.5) * 1.0
    elif kind == "grid":
        A, B = np.round(A), np.round(B)
    elif kind == "constant column":
        A, B = (np.c_[np.full(len(S), 3.0), S] for S in (A, B))
    elif kind == "tiny":
        A, B = A * 1e-160, B * 1e-160
    elif kind == "huge":
        A, B = A * 10.0 ** g.integers(70, 200), B * 10.0 ** g.integers(70, 200)
    elif kind == "one value":
        A[:] = 1.0
        B = np.where(g.random((m, D)) < 0.1, 2.0, 1.0)
    else:
        A, B = np.tan(A), np.tan(B) ** 3
    return A, B

def attempt(f):
    "1 if it answers, 0 if it refuses in words"
    try:
        p = f()
    except (ValueError, FloatingPointError) as e:
        assert len(str(e)) > 20, repr(e)
        return 0
    assert np.isfinite(p), p
    return 1
"""


def watched(code, seconds):
    "Run it in a process of its own; its output, or a failure if it does not end"
    command = [sys.executable, "-c", PRELUDE + textwrap.dedent(code)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        pytest.fail(f"not done after {seconds} s")
    assert run.returncode == 0, run.stderr[-3000:]
    return run.stdout


@pytest.mark.parametrize("method", METHODS)
def test_any_data_set_ends(method):
    "504 data sets for each method: 72 of each kind"
    code = f"""
    for kind in {KINDS!r}:
        answers = 0
        for t in range(72):
            A, B = draw(np.random.default_rng([{len(method)}, t, len(kind)]), kind)
            answers += attempt(lambda: kpw_test(
                A, B, method={method!r}, n_resamples=3, rng=t
            ).pvalue)
        print(kind, answers, sep=",")
    """
    answers = dict(line.rsplit(",", 1) for line in watched(code, 500).splitlines())
    assert set(answers) == set(KINDS)
    for kind in ("coins", "grid", "constant column", "heavy"):
        assert int(answers[kind]) >= 60, answers  # these are no reason to refuse


def test_any_distance_ends():
    code = f"""
    for kind in {KINDS!r}:
        for t in range(24):
            A, B = draw(np.random.default_rng([9, t, len(kind)]), kind)
            for options in (dict(), dict(kernel="linear"), dict(solver="exact", d=1)):
                attempt(lambda: kpw_distance(A, B, max_iter=50, **options).value)
    X = np.random.default_rng(0).standard_normal((20, 3))
    attempt(lambda: kpw_distance(X, X + 1, P=np.diag([1e200] * 3)).value)
    attempt(lambda: kpw_distance(X * 1e80, X + 1, kernel="linear").value)
    print("done")
    """
    assert watched(code, 400).strip() == "done"


INTERRUPTED = """
    import signal
    signal.signal(signal.SIGINT, signal.default_int_handler)
    g = np.random.default_rng(0)
    X, Y = g.standard_normal((700, 8)), g.standard_normal((700, 8))
    kpw_test(X[:30], Y[:30], n_resamples=3, rng=0)  # compiled
    kpw_distance(X[:30], Y[:30], max_iter=3)
    print("ready", flush=True)
    try:
        {call}
    except KeyboardInterrupt:
        pass
    print("out", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize(
    "call",
    [
        "kpw_test(X, Y, n_resamples=100_000, rng=0)",
        "kpw_test(X, Y, n_resamples=100_000, rng=0, workers=2)",
        "kpw_distance(X, Y, max_iter=10**7, tol=0)",
    ],
)
def test_an_interrupt_is_heard_within_two_seconds(call):
    code = PRELUDE + textwrap.dedent(INTERRUPTED).format(call=call)
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline().strip() == "ready"
            time.sleep(1.5)  # in the middle of it
            start = time.perf_counter()
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline().strip() == "out"
            waited = time.perf_counter() - start
        finally:
            process.kill()
    # the machine may be busy with other tests: its share is not counted as deafness
    assert waited < 2 * max(1, os.getloadavg()[0] / (os.cpu_count() or 1)), waited
