"""Relabellings against SciPy, literal definitions, exact levels, and themselves under
other workers and batches."""

import math
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import combinations

import numpy as np
import ot
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from kpw_nb.compare.relabel import (
    Free,
    aggregate,
    check_resamples,
    evaluate,
    permutation_pvalue,
    permutation_test,
    pvalue_interval,
    resample,
)
from kpw_nb.compare.statistics import takes_paths, wasserstein_statistic
from kpw_nb.theory.transport import wasserstein


def groups(z, marks):
    "Relabelled samples of a vector, a labelling in each row"
    B, values = len(marks), np.broadcast_to(z, marks.shape)
    return values[marks].reshape(B, -1), values[~marks].reshape(B, -1)


def gap(z, marks):
    x, y = groups(z, marks)
    return y.mean(1) - x.mean(1)


def two(z, marks):
    return np.column_stack([gap(z, marks), groups(z, marks)[1].std(1)])


Z = np.random.default_rng(0).normal(size=50) + np.r_[np.zeros(20), np.full(30, 0.4)]
GAP = partial(gap, Z)


# -- relabellings
@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6))
def test_listing_is_complete(n, m):
    total = math.comb(n + m, n)
    marks = [Free(n, m).draw(k) for k in range(total)]
    listed = [tuple(np.flatnonzero(row).tolist()) for row in marks]
    assert set(listed) == set(combinations(range(n + m), n))
    assert len(set(listed)) == total
    assert all(row.dtype == bool and row.shape == (n + m,) for row in marks)
    assert np.array_equal(marks[0], Free(n, m).observed)
    keys, complete = Free(n, m).keys(max(total - 1, 1), rng=0)
    assert complete and sorted(keys) == list(range(1, total))
    if total > 2:
        assert not Free(n, m).keys(total - 2, rng=0)[1]


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 10**6))
def test_random_marks_keep_the_sizes(n, m, seed):
    marks = Free(n, m).draw(np.random.SeedSequence(seed))
    assert marks.dtype == bool and marks.shape == (n + m,) and marks.sum() == n


def test_lopsided_samples_are_listed_quickly():
    for n, m in ((1, 3000), (3000, 1)):
        keys, complete = Free(n, m).keys(3000, rng=0)
        assert complete and len(keys) == 3000
        assert all(Free(n, m).draw(k).sum() == n for k in keys[:50])
    assert not Free(10**6, 10**6).keys(5, rng=0)[1]


def test_generator_moves_on_and_seed_repeats():
    def run(rng):
        return permutation_test(GAP, 20, 30, n_resamples=20, rng=rng).null_distribution

    g = np.random.default_rng(1)
    assert np.array_equal(run(3), run(3)) and not np.array_equal(run(g), run(g))


# -- p-values
@pytest.mark.parametrize("side", ["greater", "less", "two-sided"])
@pytest.mark.parametrize("ties", [False, True])
def test_enumeration_against_scipy(side, ties):
    z = np.random.default_rng(2).normal(size=10)
    if ties:
        z = np.round(z)
    r = permutation_test(
        partial(gap, z), 4, 6, n_resamples=209, rng=0, alternative=side
    )
    other = stats.permutation_test(
        (z[:4], z[4:]),
        lambda x, y, axis: y.mean(axis) - x.mean(axis),
        vectorized=True,
        alternative=side,
    )
    assert (
        r.exact
        and r.n_resamples == 209
        and r.pvalue == pytest.approx(other.pvalue, abs=1e-12)
    )
    assert r.interval == (r.pvalue, r.pvalue) and r.statistic == pytest.approx(
        other.statistic
    )


def test_random_path_lies_in_its_band():
    z = np.random.default_rng(4).normal(size=11) + np.r_[np.zeros(5), np.full(6, 0.5)]
    full = permutation_test(partial(gap, z), 5, 6, n_resamples=461, rng=0)
    rest = permutation_test(partial(gap, z), 5, 6, n_resamples=460, rng=0)
    assert full.exact and not rest.exact
    b = round(rest.pvalue * 461 - 1)
    low, high = stats.binom.ppf([1e-5, 1 - 1e-5], 460, full.pvalue)
    assert low <= b <= high
    assert stats.ks_2samp(full.null_distribution, rest.null_distribution).pvalue > 1e-4


def test_random_path_averages_to_the_truth():
    z = np.random.default_rng(5).normal(size=9)
    truth = permutation_test(partial(gap, z), 4, 5, n_resamples=200, rng=0).pvalue
    covered, counts = [], []
    for seed in range(200):
        r = permutation_test(
            partial(gap, z), 4, 5, n_resamples=40, rng=seed, confidence=0.9
        )
        covered.append(r.interval[0] <= truth <= r.interval[1])
        counts.append(round(41 * r.pvalue) - 1)
    assert np.mean(covered) >= stats.binom.ppf(1e-4, 200, 0.9) / 200
    low, high = stats.binom.ppf([1e-5, 1 - 1e-5], 8000, truth)
    assert low <= sum(counts) <= high


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=30), st.integers(-3, 3))
def test_pvalue_is_the_rank(null, observed):
    assert permutation_pvalue(observed, null) == (
        1 + sum(t >= observed for t in null)
    ) / (1 + len(null))


@given(
    st.integers(1, 200).flatmap(lambda N: st.tuples(st.integers(0, N), st.just(N))),
    st.sampled_from([0.5, 0.9, 0.99]),
)
def test_interval_against_scipy(bN, confidence):
    b, N = bN
    low, high = pvalue_interval(b, N, confidence)
    assert (low, high) == pytest.approx(
        tuple(stats.binomtest(b, N).proportion_ci(confidence, method="exact")), abs=1e-9
    )
    if b:
        stopped = pvalue_interval(b, N, confidence, stopped=True)
        assert stopped[0] == low and low <= b / N and stopped[0] <= stopped[1]


@pytest.mark.parametrize(
    "options",
    [
        {},
        dict(stop_after=4),
        dict(alternative="two-sided"),
        dict(alternative="less", stop_after=2),
    ],
)
def test_level(options):
    "1,000 null data sets with ties and n != m: rates stay under the binomial bound"
    gen, ps = np.random.default_rng(6), []
    for seed in range(1000):
        z = np.round(gen.normal(size=12), 1)
        ps.append(
            permutation_test(
                partial(gap, z), 5, 7, n_resamples=19, rng=seed, **options
            ).pvalue
        )
    for alpha in (0.05, 0.1, 0.2, 0.5):
        assert np.sum(np.array(ps) <= alpha + 1e-12) <= stats.binom.ppf(
            0.9999, 1000, alpha
        )
    assert min(ps) > 0


# -- the same for any workers and batch
@pytest.mark.parametrize(
    "extra", [{}, dict(stop_after=3), dict(stop_after=3, n_resamples=2000)]
)
def test_bit_identity(extra):
    options = dict(n_resamples=150, rng=7) | extra
    first = permutation_test(GAP, 20, 30, **options)

    def check(**how):
        r = permutation_test(GAP, 20, 30, **options, **how)
        assert (r.statistic, r.pvalue, r.n_resamples, r.interval) == (
            first.statistic,
            first.pvalue,
            first.n_resamples,
            first.interval,
        )
        assert np.array_equal(r.null_distribution, first.null_distribution)

    for how in (
        dict(batch=1),
        dict(batch=13),
        dict(batch=10**5),
        dict(workers=2),
        dict(workers=2, batch=11),
        dict(workers=-1),
    ):
        check(**how)
    with ThreadPoolExecutor(2) as pool:
        check(workers=pool.map, batch=17)
    check(workers=lambda f, tasks: [f(t) for t in tasks][::-1])


def test_bit_identity_of_wasserstein():
    for n, m, d in ((20, 20, 3), (20, 30, 1), (13, 14, 2)):
        F = np.random.default_rng(n).normal(size=(n + m, d))
        runs = [
            permutation_test(
                wasserstein_statistic(F), n, m, n_resamples=60, rng=1, **o
            ).null_distribution
            for o in ({}, dict(batch=1), dict(workers=2, batch=7))
        ]
        assert np.array_equal(runs[0], runs[1]) and np.array_equal(runs[0], runs[2])


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_joblib_processes(backend):
    from joblib import parallel_config

    F = np.random.default_rng(1).normal(size=(40, 2))
    statistic = wasserstein_statistic(F)

    def run(**options):
        options |= dict(n_resamples=40, rng=1)
        return permutation_test(statistic, 20, 20, **options).null_distribution

    with parallel_config(backend=backend):
        assert np.array_equal(run(), run(workers=2))


def test_joblib_dask():
    distributed = pytest.importorskip("distributed")
    from joblib import parallel_config

    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        with parallel_config(backend="dask"):
            r = permutation_test(GAP, 20, 30, n_resamples=50, rng=1, workers=2)
    assert np.array_equal(
        r.null_distribution,
        permutation_test(GAP, 20, 30, n_resamples=50, rng=1).null_distribution,
    )


def test_blas_has_one_thread_and_gets_the_rest_back():
    from threadpoolctl import threadpool_info, threadpool_limits

    def read():
        libraries = [i for i in threadpool_info() if i["user_api"] == "blas"]
        return [i["num_threads"] for i in libraries]

    def statistic(marks):
        assert set(read()) == {1}
        return GAP(marks)

    with threadpool_limits(2, user_api="blas"):
        before = read()
        for workers in (1, 2):
            permutation_test(
                statistic, 20, 30, n_resamples=10, rng=0, batch=5, workers=workers
            )
        assert read() == before


def test_result():
    r = permutation_test(GAP, 20, 30, n_resamples=99, rng=0)
    assert tuple(r) == (r.statistic, r.pvalue) and "pvalue" in repr(r)
    again = pickle.loads(pickle.dumps(r))
    assert again.pvalue == r.pvalue and np.array_equal(
        again.null_distribution, r.null_distribution
    )
    assert not r.partial and not r.exact and r.interval[0] < r.pvalue < r.interval[1]
    with pytest.raises(AttributeError):
        r.pvalue = 0.0


def test_vector_statistics_and_progress():
    seen = []
    found = resample(
        partial(two, Z),
        Free(20, 30),
        n_resamples=50,
        rng=2,
        batch=20,
        progress=lambda *a: seen.append(a),
    )
    assert found.observed.shape == (2,) and found.null.shape == (50, 2)
    assert not found.complete and not found.partial
    assert seen == [(20, 50), (40, 50), (50, 50)]
    single = permutation_test(GAP, 20, 30, n_resamples=50, rng=2)
    assert np.array_equal(found.null[:, 0], single.null_distribution)


# -- early stopping and interrupts
@settings(max_examples=25, deadline=None)
@given(st.integers(1, 12), st.integers(0, 1000), st.integers(1, 40))
def test_stopping_is_the_literal_rule(h, seed, batch):
    full = permutation_test(GAP, 20, 30, n_resamples=60, rng=seed)
    r = permutation_test(
        GAP, 20, 30, n_resamples=60, rng=seed, stop_after=h, batch=batch
    )
    seen = np.cumsum(full.null_distribution >= full.statistic)
    if seen[-1] >= h:
        assert (
            r.n_resamples == 1 + np.argmax(seen >= h) and r.pvalue == h / r.n_resamples
        )
    else:
        assert r.n_resamples == 60 and r.pvalue == full.pvalue
    assert np.array_equal(r.null_distribution, full.null_distribution[: r.n_resamples])


class Impatient:
    def __init__(self, at, statistic=GAP):
        self.at, self.statistic, self.calls = at, statistic, 0

    def __call__(self, marks):
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt
        return self.statistic(marks)


def test_interrupt_keeps_what_is_done():
    r = permutation_test(Impatient(5), 20, 30, n_resamples=100, rng=0, batch=10)
    assert r.partial and r.n_resamples == 30
    assert np.array_equal(
        r.null_distribution,
        permutation_test(GAP, 20, 30, n_resamples=30, rng=0).null_distribution,
    )
    for at in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            permutation_test(Impatient(at), 20, 30, n_resamples=100, rng=0, batch=10)
    part = permutation_test(
        Impatient(4, partial(gap, np.arange(9.0))),
        4,
        5,
        n_resamples=125,
        rng=0,
        batch=10,
    )  # a listing, cut short
    assert (
        part.partial
        and not part.exact
        and part.n_resamples == 20
        and part.interval[0] < part.interval[1]
    )


CTRL_C = """
import os, signal, threading, time
import numpy as np
from kpw_nb.compare.relabel import permutation_test
# a shell that starts jobs in the background has it ignored
signal.signal(signal.SIGINT, signal.default_int_handler)
z = np.random.default_rng(1).standard_normal(50)
def gap(marks): return np.where(marks, -z / 20, z / 30).sum(1)
def slow(marks):
    time.sleep(0.05)
    return gap(marks)
# imports first: an import may swallow the signal
permutation_test(slow, 20, 30, n_resamples=20, rng=0, batch=5, workers=2)
before = threading.active_count()
threading.Timer(0.6, os.kill, (os.getpid(), signal.SIGINT)).start()
r = permutation_test(slow, 20, 30, n_resamples=2000, rng=0, batch=5, workers=2)
again = permutation_test(gap, 20, 30, n_resamples=r.n_resamples, rng=0)
same = np.array_equal(r.null_distribution, again.null_distribution)
few = threading.active_count() <= before + 4
print(r.partial, 5 <= r.n_resamples < 2000, same, few)
"""


def test_ctrl_c_with_threads():
    "In a process of its own, with a real signal"
    run = subprocess.run([sys.executable, "-c", CTRL_C], capture_output=True, text=True)
    assert run.stdout.split() == ["True"] * 4, run.stdout + run.stderr


# -- bad input
@pytest.mark.parametrize(
    "change, error, word",
    [
        (dict(n_resamples=0), ValueError, "n_resamples must be at least 1"),
        (dict(n_resamples=9.5), TypeError, "n_resamples must be an integer"),
        (dict(n=0), ValueError, "n must be at least 1"),
        (dict(m="3"), TypeError, "m must be an integer"),
        (dict(workers=0), ValueError, "workers must not be 0"),
        (dict(workers=None), TypeError, "workers must be an integer"),
        (dict(batch=0), ValueError, "batch must be at least 1"),
        (dict(workers=lambda f, tasks: []), ValueError, "it lost"),
        (dict(statistic=None), TypeError, "statistic must be a function"),
        (dict(statistic=lambda o: 1.0), ValueError, "got shape"),
        (dict(statistic=lambda o: np.zeros(3)), ValueError, "got shape"),
        (dict(statistic=lambda o: np.zeros((len(o), 2, 2))), ValueError, "got shape"),
        (dict(statistic=lambda o: np.full(len(o), np.nan)), ValueError, "NaN"),
        (
            dict(statistic=lambda o: np.where(o[:, 0], 1.0, np.inf)),
            ValueError,
            "one of the permutations",
        ),
        (dict(statistic=lambda o: ["a"] * len(o)), TypeError, "numbers"),
        (
            dict(statistic=lambda o: np.zeros((len(o), min(len(o), 2)))),
            ValueError,
            "values a labelling",
        ),
        (dict(statistic=partial(two, Z)), ValueError, "aggregate"),
        (dict(stop_after=0), ValueError, "stop_after must be at least 1"),
        (dict(stop_after=2, alternative="two-sided"), ValueError, "stop_after needs"),
        (dict(alternative="more"), ValueError, "alternative must be one of"),
        (dict(confidence=2), ValueError, "confidence"),
        (dict(rng="a"), TypeError, "rng must be"),
        (dict(progress=3), TypeError, "progress must be"),
    ],
)
def test_refusals(change, error, word):
    options = dict(statistic=GAP, n=20, m=30, n_resamples=40, rng=0) | change
    with pytest.raises(error, match=word):
        permutation_test(
            options.pop("statistic"), options.pop("n"), options.pop("m"), **options
        )


def test_errors_of_a_statistic_pass_through():
    def broken(marks):
        if len(marks) > 1:
            raise ZeroDivisionError("mine")
        return np.zeros(1)

    for workers in (1, 2):
        with pytest.raises(ZeroDivisionError, match="mine"):
            permutation_test(broken, 20, 30, rng=0, workers=workers)


def test_check_resamples(recwarn):
    assert (
        check_resamples(19) == 0.05
        and check_resamples(99, 0.01) == 0.01
        and not recwarn.list
    )
    for n_resamples, alpha, word in (
        (18, 0.05, "at least 19"),
        (98, 0.01, "at least 99"),
        (5, 0.15, "at least 6"),
    ):
        with pytest.warns(UserWarning, match=word):
            check_resamples(n_resamples, alpha)


# -- aggregation
@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 30),
    st.integers(1, 5),
    st.sampled_from(["max", "softmax", "minp"]),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_aggregate_treats_rows_alike(rows, C, how, seed, ties):
    gen = np.random.default_rng(seed)
    T = (
        gen.integers(0, 3, size=(rows, C)).astype(float)
        if ties
        else gen.gamma(1.0, size=(rows, C)) * 10.0 ** gen.integers(-6, 6, C)
    )

    def whole(T):
        return aggregate(T, how)

    order = gen.permutation(rows)
    assert np.allclose(whole(T)[order], whole(T[order]), atol=1e-9)
    assert np.allclose(
        whole(T), whole(T * 2.0 ** gen.integers(-9, 9, C)), atol=1e-9
    )  # free of units
    if C == 1:
        a = permutation_pvalue(T[0, 0], T[1:, 0])
        both = whole(T)
        assert a == permutation_pvalue(both[0], both[1:])


@pytest.mark.parametrize("how", ["max", "softmax", "minp"])
@pytest.mark.parametrize("N, trials", [(19, 2000), (99, 1000)])
def test_aggregate_level(how, N, trials):
    gen, hits = np.random.default_rng(N), 0
    mix = gen.normal(size=(4, 4))
    for _ in range(trials):
        rows = gen.standard_t(3, size=(N + 1, 4)) @ mix
        rows[:, 0] = np.round(rows[:, 0])  # ties in one column
        values = aggregate(rows, how)
        hits += permutation_pvalue(values[0], values[1:]) <= 0.05 + 1e-12
    low, high = stats.binom.ppf([1e-4, 1 - 1e-4], trials, 0.05)
    assert low <= hits <= high


def test_aggregate_edges():
    rows = np.array([[3.0, 1.0], [3.0, 0.0], [3.0, 0.0]])  # the first is constant
    assert aggregate(rows)[0] == pytest.approx(math.sqrt(2))
    assert aggregate(np.full((3, 1), 3.0), "softmax")[0] == 0.0
    almost = np.array([[0.1 + 0.2], [0.3], [0.3]])  # constant up to rounding
    assert aggregate(almost)[0] == 0.0
    one = np.zeros((10, 2))
    one[0, 0] = 1e4
    assert aggregate(one, "softmax", 1e-3)[0] == pytest.approx(3.0, abs=1e-2)
    for bad, word in (
        (dict(how="mean"), "how must be"),
        (dict(temperature=0), "temperature must be"),
    ):
        with pytest.raises(ValueError, match=word):
            aggregate(np.eye(2), **bad)


# -- the Wasserstein statistic
@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 25),
    st.integers(1, 25),
    st.integers(1, 4),
    st.sampled_from([1, 1.5, 2]),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_wasserstein_statistic(n, m, d, p, ties, seed):
    gen = np.random.default_rng(seed)
    F = (
        gen.integers(0, 3, size=(n + m, d)).astype(float)
        if ties
        else gen.normal(size=(n + m, d)) * 10.0 ** gen.integers(-3, 4)
    )
    marks = np.array([gen.permutation(n + m) < n for _ in range(3)])
    statistic = wasserstein_statistic(F, p)
    values = statistic(marks)
    assert values == pytest.approx(
        [wasserstein(F[x], F[~x], p=p) for x in marks], rel=1e-9, abs=1e-12
    )
    assert np.array_equal(
        values, np.concatenate([statistic(x[None]) for x in marks[::-1]])[::-1]
    )
    assert np.array_equal(values, pickle.loads(pickle.dumps(statistic))(marks))
    assert statistic(~marks) == pytest.approx(values, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    "n, m, way",
    [
        (60, 60, "paths"),
        (60, 30, "paths"),
        (20, 60, "paths"),
        (60, 40, "paths"),
        (40, 60, "paths"),
        (61, 60, "simplex"),
    ],
)
def test_solver_against_pot(n, m, way):
    gen = np.random.default_rng(n + m)
    F = np.r_[gen.normal(size=(n, 3)), 1.5 * gen.normal(size=(m, 3)) + 2]
    statistic = wasserstein_statistic(F)
    assert takes_paths(n, m) == (way == "paths")
    marks = np.array(
        [Free(n, m).observed]
        + [Free(n, m).draw(k) for k in np.random.SeedSequence(0).spawn(5)]
    )
    assert statistic(marks) == pytest.approx(
        [ot.emd2([], [], ot.dist(F[x], F[~x])) for x in marks], abs=1e-9
    )


def test_wasserstein_refusals():
    F = np.random.default_rng(0).normal(size=(10, 2))
    for f, word in (
        (lambda: wasserstein_statistic(F * np.nan), "F contains"),
        (lambda: wasserstein_statistic(F, 0.5), "p must be"),
        (lambda: wasserstein_statistic(F * 1e200), "too large"),
        (lambda: wasserstein_statistic(F)(np.arange(9)[None] < 5), "marks must be"),
        (lambda: wasserstein_statistic(F)(np.arange(10)[None]), "marks must be"),
        (lambda: wasserstein_statistic(F)(np.arange(10)[None] < 0), "one point each"),
    ):
        with pytest.raises(ValueError, match=word):
            f()


def test_tasks_carry_seeds_not_data():
    sent = []

    def spy(f, tasks):
        sent.extend(len(pickle.dumps(t)) for t in tasks)
        return map(f, tasks)

    permutation_test(
        partial(gap, np.random.default_rng(0).normal(size=20_000)),
        10_000,
        10_000,
        n_resamples=32,
        rng=0,
        workers=spy,
    )
    assert max(sent) < 32 * 400 and evaluate.__module__ == "kpw_nb.compare.relabel"
