"Cells, counts and the compressed permutation test, on the exported package"

import itertools
import math
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from kpw_nb.cells import (
    CellW,
    Counts,
    _coins,
    _gap,
    _select,
    compressed_values,
    draw_counts,
    fit_cells,
)
from kpw_nb.core import spawn_seeds
from kpw_nb.relabel import Free, aggregate, permutation_pvalue, resample
from kpw_nb.statistics import wasserstein_statistic
from kpw_nb.transport import wasserstein


def cell_w(cells, totals, n, p=2.0):
    "The statistic for any design with these totals and n points of X"
    a = draw_counts(np.random.SeedSequence(0), totals, n)
    return CellW(cells, Counts(a, totals - a), p)


GEN = np.random.default_rng(0)
Z = GEN.normal(size=300)
LINE = fit_cells(Z, 32)


def histogram_cost(cells, c, a, b, p):
    "W of candidate c by brute force: 400 points in place of each interval"
    z, span = cells.centers[c], cells.spans[c]
    if span is None:
        return wasserstein(z, z, a / a.sum(), b / b.sum(), p=p)
    span, place = np.unique(span, axis=0, return_inverse=True)
    points = (span[:, :1] + np.diff(span) * (np.arange(400) + 0.5) / 400).ravel()

    def mass(a):
        return np.repeat(np.bincount(place.ravel(), a) / a.sum() / 400, 400)

    return wasserstein(points, points, mass(a), mass(b), p=p)


A, B = LINE.count(Z[:120]), LINE.count(Z[120:])


def sample(seed, N, d, ties):
    gen = np.random.default_rng(seed)
    return (
        gen.integers(-2, 3, size=(N, d)).astype(float)
        if ties
        else gen.normal(size=(N, d)) * 10.0 ** gen.integers(-3, 4)
    )


# -- cells
@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 80),
    st.integers(1, 4),
    st.integers(1, 60),
    st.booleans(),
)
def test_cells_are_symmetric_and_keep_ties_together(seed, N, d, G, ties):
    F = sample(seed, N, d, ties)
    cells = fit_cells(F, G)
    again = fit_cells(F[np.random.default_rng(seed).permutation(N)], G)
    assert pickle.dumps(list(vars(cells).values())) == pickle.dumps(
        list(vars(again).values())
    )  # to the last bit
    label = cells.assign(F)
    assert set(label) == set(range(cells.n_cells)) and cells.n_cells <= min(G, N)
    _, twin = np.unique(F, axis=0, return_inverse=True)
    assert len(set(zip(twin.ravel(), label))) == len(set(twin.ravel()))
    assert np.allclose(cells.weights, np.bincount(label) / N) and (
        np.diff(label[np.argsort(F[:, 0])]) >= 0
    ).all() | (d > 1)
    for g in range(cells.n_cells):
        assert np.allclose(
            cells.centers[0][g],
            F[label == g].mean(0),
            rtol=1e-9,
            atol=1e-12 * np.abs(F).max(),
        )
        assert cells.radii[g, 0] == pytest.approx(
            np.linalg.norm(F[label == g] - cells.centers[0][g], axis=1).max()
        )
    if not ties and G >= N:
        assert cells.n_cells == N


def test_quantiles_on_a_line():
    for G in (2, 16, 100, 256):
        assert (
            np.ptp(fit_cells(GEN.normal(size=25_600), G).weights) <= 1 / 25_600 + 1e-12
        )
    cells = fit_cells(Z, 7)
    assert np.array_equal(
        cells.assign(Z), np.digitize(Z, np.sort(cells.cut[cells.axis >= 0]), right=True)
    )


def test_defaults_and_support():
    F = GEN.normal(size=(6000, 3))
    assert (
        fit_cells(F[:, 0]).n_cells == 1024
        and fit_cells(F).n_cells == 256
        and fit_cells(list(F.T)).n_cells == 4096
    )
    cells = fit_cells([F, F[:, 0]], 512, support=20)
    assert (
        len(np.unique(cells.centers[0], axis=0)) == 20
        and len(np.unique(cells.centers[1])) == 512
    )
    assert cells.weights @ cells.centers[0] == pytest.approx(
        F.mean(0)
    ) and cells.dims == (3, 1)


def test_rounding_does_not_part_twins():
    "Atoms with noise in the last digits, as other batches of a product would give"
    atoms = np.array([0.1, 0.7, 1.3, 5.5, 100.0])[GEN.integers(0, 5, 2000)]
    noisy = atoms * (1 + 2e-16 * GEN.integers(-2, 3, 2000))
    cells = fit_cells(noisy, 64)
    assert cells.n_cells == 5 and np.array_equal(
        cells.assign(atoms), cells.assign(noisy)
    )


def test_scale_of_candidates_does_not_matter():
    F = GEN.normal(size=(500, 2))
    assert np.array_equal(
        fit_cells([F[:, 0], F[:, 1]], 64).assign(list(F.T)),
        fit_cells([F[:, 0] * 2.0**20, F[:, 1] / 2.0**20], 64).assign(
            [F[:, 0] * 2.0**20, F[:, 1] / 2.0**20]
        ),
    )


def test_constant_and_tiny_input():
    for F in (np.ones((9, 2)), np.zeros((1, 1)), np.full((5, 1), 0.1)):
        assert fit_cells(F, 8).n_cells == 1
    assert (
        fit_cells([np.ones(50), np.arange(50.0)], 8).n_cells == 8
    )  # a constant candidate does no harm
    near = 1 + np.arange(200) * 1e-13
    assert 1 <= fit_cells(near, 16).n_cells <= 16
    assert (
        fit_cells(np.array([1.0, np.nextafter(1.0, 2.0)]), 2).n_cells == 1
    )  # equal up to rounding


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-5, 5) | st.floats(-1e6, 1e6), min_size=1, max_size=40),
    st.integers(0, 10**6),
)
def test_select_is_sorting(values, k):
    x, k = np.array(values, float), k % len(values)
    assert _select(x.copy(), k) == np.sort(x)[k]
    if np.ptp(x) > 1e-11 * np.abs(x).max():
        cut = _gap(x.copy(), min(max(k, 1), len(x) - 1), 1e-12 * np.abs(x).max())
        assert 0 < (x <= cut).sum() < len(x)


# -- the bound
@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 3),
    st.sampled_from([1, 1.5, 2, 3]),
    st.integers(1, 40),
    st.booleans(),
    st.booleans(),
)
def test_error_of_w_is_bounded(seed, d, p, G, ties, trained):
    F, n = sample(seed, 70, d, ties), 30
    cells = fit_cells(sample(seed + 1, 90, d, ties) if trained else F, G, support=10)
    a, totals = cells.count(F[:n]), cells.count(F)
    whole = wasserstein(F[:n], F[n:], p=p) ** (1 / p)
    small = cell_w(cells, totals, n, float(p))(a[None])[0, 0] ** (1 / p)
    r = cells.distortion(F[:n], p)[0] + cells.distortion(F[n:], p)[0]
    assert abs(whole - small) <= r * (1 + 1e-9) + 1e-7 * np.abs(F).max()
    if not trained:
        arm = np.abs(cells.spans[0] - cells.centers[0]).max() if d == 1 else 0.0
        assert r <= 2 * (cells.radii.max() + arm) * (1 + 1e-9) + 1e-12


# -- draws
@pytest.mark.parametrize("how", ["numpy", "coins"])
@pytest.mark.parametrize(
    "totals, n", [([3, 0, 1, 5], 4), ([2, 2, 2], 1), ([6, 1], 6), ([1, 4, 1], 5)]
)
def test_draws_follow_the_formula(how, totals, n):
    totals, trials = np.array(totals), 3000
    table = {
        a: math.prod(map(math.comb, totals.tolist(), a))
        / math.comb(int(totals.sum()), n)
        for a in itertools.product(*(range(t + 1) for t in totals))
        if sum(a) == n
    }
    one = (
        (lambda k: draw_counts(k, totals, n))
        if how == "numpy"
        else lambda k: _coins(np.random.default_rng(k), totals, n)
    )
    seen = [tuple(one(key).tolist()) for key in spawn_seeds(11, trials)]
    assert set(seen) <= set(table)
    assert (
        stats.chisquare(
            [seen.count(a) for a in table], [trials * q for q in table.values()]
        ).pvalue
        > 1e-4
    )


@pytest.mark.parametrize("N, n", [(10**9, 10**8), (10**10, 6 * 10**9), (4 * 10**10, 1)])
def test_draws_from_huge_populations(N, n):
    totals = np.full(500, N // 500)
    for key in spawn_seeds(3, 3):
        a = draw_counts(key, totals, n)
        assert (
            a.dtype == np.int64
            and a.sum() == n
            and a.min() >= 0
            and (a <= totals).all()
        )


# -- the statistic
@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 30),
    st.integers(1, 30),
    st.sampled_from([1, 1.5, 2]),
    st.booleans(),
)
def test_statistic_against_the_library(seed, n, m, p, ties):
    F = [sample(seed, n + m, 1, ties), sample(seed + 1, n + m, 2, ties)]
    cells = fit_cells(F, 24, support=9)
    totals = cells.count(F)
    counts = np.array(
        [cells.count([f[:n] for f in F])]
        + [draw_counts(k, totals, n) for k in spawn_seeds(seed, 2)]
    )
    values = cell_w(cells, totals, n, float(p))(counts)
    for c, z in enumerate(cells.centers):
        expected = [histogram_cost(cells, c, a, totals - a, p) for a in counts]
        assert values[:, c] == pytest.approx(
            expected, rel=2e-2 if c == 0 else 1e-8, abs=1e-4 * np.ptp(z) ** p + 1e-300
        )


def test_spans():
    cells = fit_cells(np.array([0.0, 0.0, 1.0, 3.0, 3.0, 3.0, 7.0]), 10)
    assert np.array_equal(
        cells.spans[0], [[0, 0], [0.5, 2], [3, 3], [5, 7]]
    )  # ties are atoms
    assert (LINE.spans[0][1:, 0] == LINE.spans[0][:-1, 1]).all() and (
        np.diff(LINE.spans[0]) > 0
    ).all()
    z = (
        0.1 * np.arange(1, 4)[GEN.integers(0, 3, 600)]
    )  # a tied candidate in cells made by another
    joint = fit_cells([z, GEN.normal(size=600)], 64)
    assert (
        np.array_equal(joint.spans[0], np.repeat(joint.centers[0], 2, axis=1))
        and len(np.unique(joint.centers[0])) <= 3 + 64
    )
    assert fit_cells([z, np.ones(600)], 8).n_cells == 3


@pytest.mark.parametrize("p", [1, 1.5, 2, 3])
def test_uniform_against_uniform(p):
    "All of X in one cell, all of Y in another: W is a one-dimensional integral"
    cells = fit_cells(
        np.array([0.0, 1.0, 3.0, 4.0, 10.0]), 5
    )  # spans (0, .5), (.5, 2), (2, 3.5), (3.5, 7), (7, 10)
    value = cell_w(cells, np.array([0, 5, 0, 7, 0]), 5, float(p))(
        np.array([[0, 5, 0, 0, 0]])
    )[0, 0]
    t = (np.arange(10_000) + 0.5) / 10_000
    assert value == pytest.approx(
        np.mean(np.abs((3.5 + 3.5 * t) - (0.5 + 1.5 * t)) ** p), rel=1e-6
    )


@pytest.mark.parametrize("F", [np.round(Z[:100]), GEN.normal(size=(100, 2))])
def test_one_cell_a_value_is_the_uncompressed_test(F):
    n, m = 40, 60
    cells = fit_cells(F, 100)
    statistic, place = cell_w(cells, cells.count(F), n, 2.0), cells.assign(F)

    def counted(orders):
        return statistic(
            np.array(
                [np.bincount(place[o[:n]], minlength=cells.n_cells) for o in orders]
            )
        )[:, 0]

    one, two = (
        resample(s, Free(n, m), n_resamples=20, rng=3)
        for s in (wasserstein_statistic(F, n), counted)
    )
    assert one[1] == pytest.approx(two[1], rel=1e-12) and one[0] == pytest.approx(
        two[0], rel=1e-12
    )


def test_null_has_the_law_of_relabelled_points():
    "Hypergeometric counts against shuffled labels, by Kolmogorov and Smirnov"
    label, statistic = LINE.assign(Z), cell_w(LINE, A + B, 120, 2.0)

    def counted(orders):
        return statistic(
            np.array([np.bincount(label[o[:120]], minlength=32) for o in orders])
        )

    drawn = compressed_values(A, B, LINE, n_resamples=1500, rng=0)[1][:, 0]
    shuffled = resample(counted, Free(120, 180), n_resamples=1500, rng=1)[1][:, 0]
    assert stats.ks_2samp(drawn, shuffled).pvalue > 1e-3


def test_huge_counts():
    "Thirty billion points: the value depends on shares only, the null falls like 1/N"
    observed, null, *_ = compressed_values(
        A * 10**8, B * 10**8, LINE, n_resamples=9, rng=0
    )
    small = compressed_values(A, B, LINE, n_resamples=9, rng=0)
    assert (
        observed[0] == pytest.approx(small[0][0], rel=1e-9)
        and 0 < null.max() < 1e-7 * small[1].max()
    )


def test_values_are_stable_to_the_split_of_units():
    "n and m without a common divisor, beyond 2^53 units: sixteen digits remain"
    a, b = A * 10**8 + 1, B * 10**8
    value = cell_w(LINE, a + b, int(a.sum()), 2.0)(a[None])[0, 0]
    assert value == pytest.approx(
        cell_w(LINE, A + B, 120, 2.0)(A[None])[0, 0], rel=1e-6
    )


# -- the same for any workers, batch and pieces
def test_bit_identity():
    cells = fit_cells([Z, np.abs(Z), np.c_[Z, Z**2]], 64, support=16)
    F = [Z, np.abs(Z), np.c_[Z, Z**2]]
    a, b = cells.count([f[:120] for f in F]), cells.count([f[120:] for f in F])
    first = compressed_values(a, b, cells, n_resamples=60, rng=5)
    assert (
        first[0].shape == (3,)
        and first[1].shape == (60, 3)
        and first[2:] == (False, False)
    )
    with ThreadPoolExecutor(2) as pool:
        for how in (
            dict(batch=1),
            dict(batch=7),
            dict(workers=2),
            dict(workers=2, batch=11),
            dict(workers=pool.map),
        ):
            r = compressed_values(
                a, b, pickle.loads(pickle.dumps(cells)), n_resamples=60, rng=5, **how
            )
            assert np.array_equal(first[0], r[0]) and np.array_equal(first[1], r[1])
    assert np.array_equal(
        compressed_values(a, b, cells, n_resamples=20, rng=5)[1], first[1][:20]
    )  # number k depends on rng and k only


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 300), max_size=5))
def test_counts_of_pieces_add_up(cuts):
    edges = [0, *sorted(cuts), 300]
    assert np.array_equal(
        sum(LINE.count(Z[i:j]) for i, j in zip(edges, edges[1:])), A + B
    )
    assert LINE.count(Z[:0]).sum() == 0 and LINE.count(Z).dtype == np.int64


def test_progress_and_interrupt():
    seen = []
    compressed_values(
        A, B, LINE, n_resamples=50, rng=0, batch=20, progress=lambda *a: seen.append(a)
    )
    assert seen == [(20, 50), (40, 50), (50, 50)]

    def broken(f, tasks):
        yield f(tasks[0])
        raise KeyboardInterrupt

    found = compressed_values(
        A, B, LINE, n_resamples=50, rng=0, batch=20, workers=broken
    )
    assert found.partial and len(found.null) == 20 and not found.complete


# -- level
@pytest.mark.parametrize(
    "G, trained, ties",
    [(16, False, False), (16, True, True), (256, False, True), (4096, True, False)],
)
def test_level(G, trained, ties):
    "400 null data sets, two candidates combined; the rates stay in the binomial band"

    def project(z):
        return [np.round(f, 1) if ties else f for f in (z, np.abs(z))]

    training, *gens = np.random.default_rng([G, trained, ties]).spawn(401)
    fixed = fit_cells(project(training.normal(size=5000)), G) if trained else None
    ps = []
    for gen in gens:
        data, key = gen.spawn(2)
        F = project(data.normal(size=90))
        cells = fixed or fit_cells(F, G)
        observed, null, *_ = compressed_values(
            cells.count([f[:40] for f in F]),
            cells.count([f[40:] for f in F]),
            cells,
            n_resamples=19,
            rng=key,
        )
        ps.append(permutation_pvalue(*aggregate(observed, null)))
    for alpha in (0.05, 0.1, 0.5):
        low, high = stats.binom.ppf([5e-5, 1 - 5e-5], 400, alpha)
        assert (ties or low <= np.sum(np.array(ps) <= alpha + 1e-12)) and np.sum(
            np.array(ps) <= alpha + 1e-12
        ) <= high


def test_power_is_kept():
    "A shift that all points detect is detected by 64 cells"
    gen = np.random.default_rng(8)
    F, n = np.r_[gen.normal(size=500), gen.normal(size=500) + 0.4], 500
    cells = fit_cells(F, 64)
    observed, null, *_ = compressed_values(
        cells.count(F[:n]), cells.count(F[n:]), cells, n_resamples=99, rng=0
    )
    assert permutation_pvalue(observed[0], null[:, 0]) == 0.01


# -- bad input
@pytest.mark.parametrize(
    "f, error, word",
    [
        (lambda: fit_cells(Z, n_cells=0), ValueError, "n_cells must be at least 1"),
        (lambda: fit_cells(Z, 2.5), TypeError, "n_cells must be an integer"),
        (lambda: fit_cells(Z * np.nan), ValueError, "F contains"),
        (lambda: fit_cells([Z, Z * np.inf]), ValueError, r"F\[1\] contains"),
        (lambda: fit_cells(Z[:0]), ValueError, "F is empty"),
        (lambda: fit_cells([Z, Z[:9]]), ValueError, "same points"),
        (lambda: fit_cells(Z * 1e200), ValueError, "too large"),
        (lambda: fit_cells(Z[:, None, None]), ValueError, "F must be a 2-D"),
        (lambda: fit_cells(Z, support=0), ValueError, "support must be"),
        (lambda: LINE.assign(np.ones((3, 2))), ValueError, "made for"),
        (lambda: LINE.assign([Z, Z]), ValueError, "made for"),
        (lambda: LINE.distortion(Z, 0.5), ValueError, "p must be"),
        (
            lambda: compressed_values(A / 1.0, B, LINE),
            TypeError,
            "counts_X must hold whole",
        ),
        (
            lambda: compressed_values(A, B[1:], LINE),
            ValueError,
            "counts_Y must hold one",
        ),
        (
            lambda: compressed_values(-A, B, LINE),
            ValueError,
            "counts_X must hold counts",
        ),
        (lambda: compressed_values(A, 0 * B, LINE), ValueError, "at least one point"),
        (
            lambda: compressed_values(A, B, LINE, n_resamples=0),
            ValueError,
            "n_resamples must be",
        ),
        (lambda: compressed_values(A, B, LINE, p=0), ValueError, "p must be"),
        (
            lambda: compressed_values(A, B, LINE, workers=0),
            ValueError,
            "workers must not be 0",
        ),
        (lambda: compressed_values(A, B, LINE, batch=0), ValueError, "batch must be"),
        (lambda: compressed_values(A, B, LINE, rng="a"), TypeError, "rng must be"),
    ],
)
def test_refusals(f, error, word):
    with pytest.raises(error, match=word):
        f()


# -- the linear statistic
@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(2, 60),
    st.integers(2, 60),
    st.integers(1, 3),
    st.booleans(),
)
def test_mean_statistic_is_the_difference_of_means(seed, n, m, C, ties):
    F = list(sample(seed, n + m, C, ties).T.copy())
    cells = fit_cells(F, n + m)  # equal points share a cell, others do not
    a, b = (cells.count([f[part] for f in F]) for part in (slice(0, n), slice(n, None)))
    observed, null, *_ = compressed_values(
        a, b, cells, n_resamples=5, rng=seed, statistic="mean"
    )
    scale = max(np.abs(f).max() for f in F) + 1e-300
    assert np.allclose(
        observed, [f[:n].mean() - f[n:].mean() for f in F], rtol=0, atol=1e-10 * scale
    )
    totals = a + b
    drawn = [draw_counts(key, totals, n) for key in spawn_seeds(seed, 5)]
    naive = [
        [
            np.repeat(z[:, 0], c).mean() - np.repeat(z[:, 0], totals - c).mean()
            for z in cells.centers
        ]
        for c in drawn
    ]
    assert np.allclose(null, naive, rtol=0, atol=1e-10 * scale)
    for options in (dict(workers=2), dict(batch=1), dict(batch=3)):
        assert np.array_equal(
            null,
            compressed_values(
                a, b, cells, n_resamples=5, rng=seed, statistic="mean", **options
            )[1],
        )


def test_mean_statistic_refuses_what_it_cannot_do():
    plane = fit_cells(GEN.normal(size=(50, 2)), 8)
    with pytest.raises(ValueError, match="one dimension"):
        compressed_values(
            plane.count(np.zeros((4, 2))),
            plane.count(np.ones((4, 2))),
            plane,
            statistic="mean",
        )
    with pytest.raises(ValueError, match="'wasserstein', 'mean', got 'median'"):
        compressed_values(A, B, LINE, statistic="median")


def test_the_last_digit_does_not_choose_a_coordinate():
    "Scaled candidates vary alike at the root: noise must not change the tree"
    z = GEN.normal(size=4000)
    F = [z, np.abs(z) + 0.1 * GEN.normal(size=4000), np.sin(2 * z)]
    noisy = [f * (1 + 1e-7 * GEN.normal(size=4000)) for f in F]
    one, two = fit_cells(F, 256), fit_cells(noisy, 256)
    assert (
        np.array_equal(one.axis, two.axis)
        and (one.assign(F) != two.assign(noisy)).mean() < 1e-3
    )
