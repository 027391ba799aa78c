"""Equivalence: bounds against literal formulas, symmetries, sizes on the margin, and
messages."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binom

from kpw_nb.compare.equivalence import (
    asymptotic_bound,
    biased_mmd,
    finite_bound,
    kernel_sums,
    kpw_equivalence,
    unbiased_square,
)
from kpw_nb.theory.kernels import Gaussian, Laplace, Linear


def two(n, m, D=2, shift=0.0, seed=0):
    g = np.random.default_rng(seed)
    return g.normal(size=(n, D)), g.normal(size=(m, D)) + shift


def naive_square(X, Y, k, biased):
    "MMD² pair by pair"

    def mean(A, same):
        pairs = [
            k(a[None], b[None])[0, 0]
            for i, a in enumerate(A)
            for j, b in enumerate(A)
            if same or i != j
        ]
        return np.mean(pairs)

    cross = np.mean([k(a[None], b[None])[0, 0] for a in X for b in Y])
    return mean(X, biased) + mean(Y, biased) - 2 * cross


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplace(2.0), Linear()])
def test_estimates_are_the_definitions(kernel):
    X, Y = two(9, 12, shift=0.7)
    s = kernel_sums(kernel, np.vstack([X, Y]), 9)
    assert biased_mmd(s) ** 2 == pytest.approx(naive_square(X, Y, kernel, True))
    assert unbiased_square(s) == pytest.approx(naive_square(X, Y, kernel, False))


def test_blocks_change_nothing():
    X, Y = two(900, 700)  # more than one block
    Z, k = np.vstack([X, Y]), Gaussian(1.3)
    s, K = kernel_sums(k, Z, 900), k(Z, Z)
    assert np.allclose(s.to_x, K[:, :900].sum(1)) and np.allclose(
        s.to_y, K[:, 900:].sum(1)
    )
    assert s.square == pytest.approx((K**2).sum())


@settings(max_examples=40, deadline=None)
@given(st.integers(4, 30), st.integers(4, 30), st.floats(0, 3), st.integers(0, 99))
def test_bounds_are_consistent(n, m, shift, seed):
    "Swapping changes nothing; p and bound agree; a wider margin is easier"
    X, Y = two(n, m, shift=shift, seed=seed)
    k = Gaussian(1.5)
    s, back = (
        kernel_sums(k, np.vstack(pair), len(pair[0])) for pair in ((X, Y), (Y, X))
    )
    for bound in (finite_bound, asymptotic_bound):
        found = bound(s, 0.4, 0.05)
        assert bound(back, 0.4, 0.05) == pytest.approx(found, abs=1e-9)
        assert (found.pvalue <= 0.05) == (found.upper <= 0.4)
        assert bound(s, 0.8, 0.05).pvalue <= found.pvalue + 1e-12
        assert found.estimate <= found.upper or bound is asymptotic_bound


def shift_for(margin, D, h):
    top = 2 * (h**2 / (h**2 + 2)) ** (D / 2)
    return math.sqrt(-2 * (h**2 + 2) * math.log1p(-(margin**2) / top))


@pytest.mark.parametrize("n, m, margin, D", [(40, 60, 0.35, 2), (80, 50, 0.25, 3)])
def test_size_on_the_margin(n, m, margin, D):
    "With the estimated witness as it is, the asymptotic one would be far above"
    said = np.zeros(2)
    for seed in range(400):
        Z = np.random.default_rng(seed).normal(size=(n + m, D))
        Z[n:, 0] += shift_for(margin, D, 1.5)
        s = kernel_sums(Gaussian(1.5), Z, n)
        found = finite_bound(s, margin, 0.05), asymptotic_bound(s, margin, 0.05)
        said += [f.pvalue <= 0.05 for f in found]
    assert (said <= binom.ppf(0.999, 400, 0.05)).all(), said


def test_the_bound_holds():
    "The finite bound covers a known MMD in far more than 95 % of 200 runs"
    truth, low = 0.3, 0
    for seed in range(200):
        Z = np.random.default_rng(seed).normal(size=(50, 2))
        Z[20:, 0] += shift_for(truth, 2, 1.5)
        low += finite_bound(kernel_sums(Gaussian(1.5), Z, 20), 1.0, 0.05).upper < truth
    assert low <= binom.ppf(0.999, 200, 0.05)


def test_it_can_succeed():
    said = [
        kpw_equivalence(*two(400, 300, seed=s), 0.3, bandwidth=1.5) for s in range(20)
    ]
    assert all(r.equivalent and r.method == "finite" for r in said)
    few = kpw_equivalence(*two(60, 60), 0.3, bandwidth=1.5)
    assert few.method == "asymptotic" and "not below the margin" in few.why
    apart = kpw_equivalence(*two(400, 300, shift=1.0), 0.3, bandwidth=1.5)
    assert not apart.equivalent and apart.pvalue == 1


def test_auc_scale():
    alike = kpw_equivalence(*two(100, 120), 0.2, scale="auc", rng=0)
    assert alike.equivalent and alike.upper < 0.7 and "rule" in str(alike)
    apart = kpw_equivalence(*two(100, 120, shift=1.5), 0.2, scale="auc", rng=0)
    assert not apart.equivalent and apart.estimate > 0.8
    assert (apart.pvalue <= 0.05) == (apart.upper <= 0.7)


def test_tables_and_pickles():
    g = np.random.default_rng(0)
    frame = pd.DataFrame({"a": g.normal(size=300), "b": g.choice(["u", "v"], 300)})
    result = kpw_equivalence(frame[:140], frame[140:], 0.4)
    assert result.sizes == (140, 160) and result.equivalent
    assert pickle.loads(pickle.dumps(result)).upper == result.upper
    assert "the MMD is below 0.4" in str(result)


@pytest.mark.filterwarnings("ignore:only 30 of 60")
def test_same_rows_twice():
    X, _ = two(30, 4)
    result = kpw_equivalence(X, X, 0.5, method="asymptotic")
    assert math.isfinite(result.pvalue) and 0 < result.upper < 1


@pytest.mark.parametrize(
    "options, words",
    [
        (dict(margin=0), "margin must be greater than 0"),
        (dict(margin=-1), "margin must be greater than 0"),
        (dict(margin="a"), "margin must be a number"),
        (dict(margin=1.5), "never above √2"),
        (dict(margin=0.5, scale="auc"), "margin must be below 0.5"),
        (dict(margin=0.1, scale="tv"), "scale must be one of"),
        (dict(margin=0.1, method="exact"), "method must be one of"),
        (dict(margin=0.1, alpha=0), "alpha must be greater than 0"),
        (dict(margin=0.1, method="finite", kernel="linear"), "kernel='gaussian'"),
        (dict(margin=0.1, method="finite", scale="auc"), "scale='mmd'"),
        (dict(margin=0.1, kernel="precomputed"), "kernel='precomputed'"),
        (dict(margin=0.1, bandwidth="wide"), "bandwidth must be"),
    ],
)
def test_messages(options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        kpw_equivalence(*two(20, 20), **options)


def test_gaps_are_named():
    frame = pd.DataFrame({"a": [1.0, 2.0, np.nan, 4.0, 5.0, 6.0]})
    with pytest.raises(ValueError, match="'a'.*missing='indicator'"):
        kpw_equivalence(frame, frame.fillna(0), 0.1)
    with pytest.raises(ValueError, match="at least 4"):
        kpw_equivalence(frame[:2], frame.fillna(0), 0.1)
