"`kpw_nb.theory.line`: one merge, its atoms, its cost, and what NaN does to it."

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kpw_nb.theory.line as module
from kpw_nb.theory.line import (
    line_plan,
    quantile_plan,
    sorted_cost,
    unit_plan,
    walk,
    walks,
)

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 12)
powers = st.sampled_from([1.0, 1.5, 2.0, 3.0])


def prop(*strategies):
    "A property with this file's settings; a profile would change other files' too"
    return lambda f: settings(max_examples=60, deadline=None, derandomize=True)(
        given(*strategies)(f)
    )


def dense(atoms, n, m):
    plan = np.zeros((n, m))
    np.add.at(plan, (atoms.rows, atoms.cols), atoms.mass)
    return plan


def points(seed, n, ties):
    gen = np.random.default_rng(seed)
    return gen.integers(-2, 3, n).astype(float) if ties else gen.normal(size=n)


def repeated_cost(x, y, p):
    "Equal weights: repeat the points to a common number, sort, match"
    common = math.lcm(len(x), len(y))
    xs = np.sort(np.repeat(x, common // len(x)))
    ys = np.sort(np.repeat(y, common // len(y)))
    return np.mean(np.abs(xs - ys) ** p)


# --- the merge -----------------------------------------------------------------------


@prop(seeds, sizes, sizes)
def test_whole_masses_are_merged_without_rounding(seed, n, m):
    gen = np.random.default_rng(seed)
    a = gen.multinomial(97, gen.dirichlet(np.ones(n)))
    b = gen.multinomial(97, gen.dirichlet(np.ones(m)))
    atoms = quantile_plan(a.astype(float), b.astype(float))
    plan = np.zeros((n, m))
    np.add.at(plan, (np.repeat(np.arange(n), a), np.repeat(np.arange(m), b)), 1)
    np.testing.assert_array_equal(dense(atoms, n, m), plan)
    assert len(atoms.mass) <= n + m - 1 and (atoms.mass > 0).all()


@prop(seeds, sizes, sizes)
def test_fractions_keep_their_marginals(seed, n, m):
    gen = np.random.default_rng(seed)
    a, b = gen.dirichlet(np.ones(n)), gen.dirichlet(np.ones(m))
    plan = dense(quantile_plan(a, b), n, m)
    np.testing.assert_allclose(plan.sum(1), a, atol=1e-14)
    np.testing.assert_allclose(plan.sum(0), b, atol=1e-14)


@pytest.mark.parametrize("n, m", [(12, 8), (7, 7), (1, 5), (10_007, 9_001)])
def test_units_are_whole(n, m):
    atoms = unit_plan(n, m)
    assert (atoms.mass == np.round(atoms.mass)).all()
    assert (np.bincount(atoms.rows, atoms.mass) == m // math.gcd(n, m)).all()
    assert (np.bincount(atoms.cols, atoms.mass) == n // math.gcd(n, m)).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -1.0, 1e308])
@pytest.mark.parametrize("where", [0, 2, 5])
def test_the_merge_ends_whatever_the_masses_are(bad, where):
    a, b = np.full(6, 1 / 6), np.full(4, 1 / 4)
    a[where] = bad
    for left, right in ((a, b), (b, a), (a, a)):
        atoms = quantile_plan(left, right)
        assert len(atoms.mass) <= len(left) + len(right)
        assert atoms.rows.max(initial=0) < len(left)
        assert atoms.cols.max(initial=0) < len(right)
        if np.isnan(bad):
            assert np.isnan(atoms.mass).any()


# --- the cost ------------------------------------------------------------------------


@prop(seeds, sizes, sizes, powers, st.booleans())
def test_cost_plan_and_walk_are_one(seed, n, m, p, ties):
    x, y = points(seed, n, ties), points(seed + 1, m, ties)
    want = repeated_cost(x, y, p)
    assert sorted_cost(x, y, None, None, p) == pytest.approx(want, abs=1e-12)
    atoms = line_plan(x, y)
    gaps = np.abs(x[atoms.rows] - y[atoms.cols]) ** p
    assert atoms.mass @ gaps == pytest.approx(want, abs=1e-12)
    pool = np.r_[x, y]
    order = np.argsort(pool, kind="stable")
    value = walk(pool[order], order < n, n, m, p)
    assert value == pytest.approx(want, abs=1e-12)


@prop(seeds, sizes, sizes, powers)
def test_weights_that_are_equal_are_no_weights(seed, n, m, p):
    x, y = points(seed, n, False), points(seed + 1, m, False)
    weighted = sorted_cost(x, y, np.full(n, 1 / n), np.full(m, 1 / m), p)
    assert weighted == pytest.approx(sorted_cost(x, y, None, None, p), abs=1e-12)


@prop(seeds, sizes, sizes, powers, st.booleans())
def test_walks_are_the_costs_of_the_groups(seed, n, m, p, ties):
    gen, f = np.random.default_rng(seed), points(seed, n + m, ties)
    orders = np.array([gen.permutation(n + m) for _ in range(5)])
    order, out = np.argsort(f, kind="stable"), np.empty(5)
    walks(f[order], np.argsort(order), orders, n, p, out)
    for value, o in zip(out, orders):
        assert value == pytest.approx(repeated_cost(f[o[:n]], f[o[n:]], p), abs=1e-12)


@pytest.mark.parametrize("n, m", [(4, 6), (5, 5)])
def test_nan_among_the_points_is_nan(n, m):
    f, out = np.r_[np.arange(n + m - 1.0), np.nan], np.empty(1)
    walks(f, np.arange(n + m), np.arange(n + m)[None], n, 2.0, out)
    assert np.isnan(out[0])
    assert np.isnan(walk(f, np.arange(n + m) < n, n, m, 2.0))


# --- without numba -------------------------------------------------------------------


def test_compiled_and_interpreted_agree(monkeypatch):
    n, m = 7, 4
    f = np.sort(points(0, n + m, False))
    is_x = np.random.default_rng(1).permutation(np.arange(n + m) < n)
    want = walk(f, is_x, n, m, 1.5)
    for name, g in list(vars(module).items()):
        if hasattr(g, "py_func"):
            monkeypatch.setattr(module, name, g.py_func)
    assert module.walk(f, is_x, n, m, 1.5) == pytest.approx(want, rel=1e-14)
