"The engine: same results whoever works, early ends, interrupts, and BLAS's threads"

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from kpw_nb.ground.engine import Engine, as_mapper, one_thread, progress_bar

MATRIX = np.random.default_rng(0).normal(size=(300, 300))


def blas():
    "The numbers of threads of the BLAS libraries that are loaded"
    found = threadpool_info()
    return [lib["num_threads"] for lib in found if lib["user_api"] == "blas"]


def come_back(before):
    "Do the threads come back? What ran when the rest was cancelled ends first"
    stop = time.monotonic() + 20
    while blas() != before and time.monotonic() < stop:
        time.sleep(0.01)
    return blas() == before


@pytest.fixture(autouse=True)
def threads():
    "BLAS has two threads before a test, and must have two after it"
    with threadpool_limits(2, user_api="blas"):
        before = blas()
        yield before
        assert come_back(before)


def work(seed):
    "Random numbers and a matrix product: depends on the seed, and on BLAS's threads"
    rows = np.random.default_rng(seed).normal(size=(40, 300))
    return float((rows @ MATRIX).sum())


def where(task):
    return os.getpid(), set(blas())


# Same results -------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2, -1])
@pytest.mark.parametrize("backend", ["threads", "processes"])
def test_same_bits_for_any_workers(workers, backend):
    engine = Engine(workers, backend=backend)
    assert list(engine.run(work, range(12))) == list(Engine().run(work, range(12)))


def test_same_bits_from_a_map_of_your_own():
    with ThreadPoolExecutor(3) as pool:
        results = list(Engine(pool.map).run(work, range(12)))
    assert results == list(Engine().run(work, range(12)))


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "sequential"])
def test_joblib_backends(backend):
    from joblib import parallel_config

    with parallel_config(backend=backend):
        results = list(Engine(2).run(work, range(12)))
    assert results == list(Engine().run(work, range(12)))


def test_processes_are_processes():
    places = list(Engine(2, backend="processes").run(where, range(4)))
    assert os.getpid() not in {pid for pid, _ in places}
    assert all(counts <= {1} for _, counts in places)
    here = {pid for pid, _ in Engine(2).run(where, range(4))}
    assert here == {os.getpid()}


def wait_for(task):
    time.sleep(task)
    return task


def test_order_is_kept_if_asked():
    tasks = [0.4, 0.0, 0.05]
    assert list(Engine(2).run(wait_for, tasks)) == tasks
    loose = list(Engine(2, ordered=False).run(wait_for, tasks))
    assert sorted(loose) == sorted(tasks) and loose[-1] == 0.4


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(), max_size=20), st.sampled_from([1, 2]), st.booleans())
def test_every_task_is_done_once(tasks, workers, ordered):
    results = list(Engine(workers, ordered=ordered).run(str, tasks))
    assert sorted(results) == sorted(map(str, tasks))
    assert not ordered or results == list(map(str, tasks))


def test_tasks_may_be_a_generator():
    assert list(Engine(2).run(abs, (x for x in (-1, 2)))) == [1, 2]


# Early ends ---------------------------------------------------------------------------


class Note:
    "Remembers what was begun"

    def __init__(self, seconds=0.0):
        self.seconds, self.begun = seconds, []

    def __call__(self, task):
        self.begun.append(task)
        time.sleep(self.seconds)
        return task


@pytest.mark.parametrize("workers", [1, 2])
def test_closing_cancels_the_rest(workers, threads):
    note = Note(0.005)
    results = Engine(workers).run(note, range(2000))
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    assert set(blas()) == {1}
    results.close()
    assert come_back(threads)
    begun = len(note.begun)
    time.sleep(0.1)
    assert len(note.begun) == begun < 200


def test_closing_says_nothing(recwarn):
    results = Engine(2).run(Note(0.005), range(100))
    next(results)
    results.close()
    assert not [w for w in recwarn if "task" in str(w.message).lower()]


def test_a_closed_executor_stops_too():
    note = Note(0.01)
    with ThreadPoolExecutor(1) as pool:
        results = Engine(pool.map).run(note, range(500))
        next(results)
        results.close()
    assert len(note.begun) < 50


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_of_a_task_arrives(workers, error, threads):
    def broken(task):
        if task == 3:
            raise error("no")
        return task

    taken = []
    with pytest.raises(error):
        for result in Engine(workers).run(broken, range(50)):
            taken.append(result)
    assert taken == list(range(len(taken))) and len(taken) <= 3
    assert come_back(threads)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_of_the_consumer_stops_the_work(workers, threads):
    note, taken = Note(0.005), []
    with pytest.raises(KeyboardInterrupt):
        for result in Engine(workers).run(note, range(2000)):
            taken.append(result)
            if len(taken) == 4:
                raise KeyboardInterrupt
    assert taken == [0, 1, 2, 3]
    assert come_back(threads)
    begun = len(note.begun)
    time.sleep(0.1)
    assert len(note.begun) == begun < 200


def test_an_interrupted_map_leaves_what_is_there(threads):
    def mapper(function, tasks):
        for task in list(tasks)[:2]:
            yield function(task)
        raise KeyboardInterrupt

    taken = []
    with pytest.raises(KeyboardInterrupt):
        for result in Engine(mapper).run(work, range(9)):
            taken.append(result)
    assert len(taken) == 2
    assert blas() == threads


# One thread for BLAS ------------------------------------------------------------------


def test_tasks_have_one_thread_of_blas():
    for workers in (1, 2):
        counts = map(itemgetter(1), Engine(workers).run(where, range(6)))
        assert all(found <= {1} for found in counts)


def test_one_thread_nests(threads):
    with one_thread():
        with one_thread():
            assert set(blas()) == {1}
        assert set(blas()) == {1}
    assert blas() == threads


def test_one_thread_after_an_error(threads):
    with pytest.raises(ZeroDivisionError):
        with one_thread(), one_thread():
            _ = 1 / 0
    assert blas() == threads


def hold(barrier, broken, number):
    "Stay inside until all are; some leave by an error"
    with one_thread():
        barrier.wait(10)
        assert set(blas()) == {1}
        time.sleep(0.002 * (number % 4))
        if number in broken:
            raise RuntimeError(number)
        return set(blas())


@settings(max_examples=10, deadline=None)
@given(st.integers(2, 8), st.sets(st.integers(0, 7)))
def test_one_thread_in_many_threads(count, broken):
    before, barrier = blas(), threading.Barrier(count)
    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(hold, barrier, broken, k) for k in range(count)]
    for k, future in enumerate(futures):
        if k in broken:
            assert isinstance(future.exception(), RuntimeError)
        else:
            assert future.result() == {1}  # though others may have left
    assert blas() == before


def test_whoever_leaves_last_gives_the_threads_back(threads):
    """threadpoolctl 3.8 lets only the first thread that set OpenBLAS's number set it
    again: BLAS kept one thread for ever if another left last"""
    inside, leave = threading.Event(), threading.Event()

    def stay():
        with one_thread():
            inside.set()
            leave.wait(10)

    other = threading.Thread(target=stay)
    with one_thread():
        other.start()
        inside.wait(10)
    assert set(blas()) == {1}
    leave.set()
    other.join()
    assert blas() == threads


def test_two_engines_at_once(threads):
    with ThreadPoolExecutor(2) as pool:
        runs = pool.map(lambda k: list(Engine(2).run(work, range(k, k + 9))), (0, 5))
        first, second = runs
    assert first[5:] == second[:4]
    assert blas() == threads


# Progress and refusals ----------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_counts(workers):
    seen = []
    engine = Engine(workers, progress=lambda *now: seen.append(now))
    list(engine.run(abs, range(4)))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    seen.clear()
    list(engine.run(len, ["ab", "c", "def"], total=6, weight=lambda result: result))
    assert seen == [(2, 6), (3, 6), (6, 6)]


def test_progress_counts_what_was_used():
    "A result counts when the caller has come back for the next"
    seen = []
    results = Engine(progress=lambda *now: seen.append(now)).run(abs, range(4))
    next(results)
    assert seen == []
    next(results)
    assert seen == [(1, 4)]
    results.close()
    assert seen == [(1, 4)]


def test_a_bar_is_drawn(capsys):
    list(Engine(progress=True).run(abs, range(3), desc="numbers"))
    shown = capsys.readouterr().err
    assert "numbers" in shown and "3/3" in shown
    list(Engine().run(abs, range(3)))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "options, error, word",
    [
        (dict(workers=0), ValueError, "workers must not be 0"),
        (dict(workers=1.5), TypeError, "workers must be an integer"),
        (dict(workers="2"), TypeError, "workers must be an integer"),
        (dict(workers=True), TypeError, "workers must be an integer"),
        (dict(progress="yes"), TypeError, "progress must be True, False"),
        (dict(progress=1), TypeError, "progress must be True, False"),
        (dict(backend="fibres"), ValueError, "'threads', 'processes', got 'fibres'"),
    ],
)
def test_refusals(options, error, word, threads):
    with pytest.raises(error, match=word):
        list(Engine(**options).run(abs, [1]))
    assert blas() == threads


def test_helpers():
    assert as_mapper(1) is map and as_mapper(sorted) is sorted
    with progress_bar(False, 3) as tick:
        assert tick(2) is None
    assert list(as_mapper(2)(partial(pow, 2), range(4))) == [1, 2, 4, 8]
