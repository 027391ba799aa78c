"""Every picture: what it returns, on which axes, with which artists and colours;
that nothing else is touched; and bad input."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from kpw_nb.show import plots
from kpw_nb.theory.distance import KPWProjector, kpw_distance
from kpw_nb.show.plots import (
    COLOURS,
    plot_convergence,
    plot_features,
    plot_field,
    plot_null,
    plot_plan,
    plot_power,
    plot_projections,
    plot_samples,
    plot_skeletons,
    plot_trace,
)
from kpw_nb.compare.explain import explain

rng = np.random.default_rng(0)
X, Y = rng.standard_normal((12, 3)), rng.standard_normal((9, 3)) * [3, 1, 1]
R = kpw_distance(X, Y, d=1, ridge=0.1)
WHERE = explain(R.projector, X, Y)
STUDY = pd.DataFrame(
    [
        dict(test=t, n=n, D=3, power=p, low=p - 0.1, high=p + 0.1, alpha=0.05)
        for t, base in (("a", 0.2), ("b", 0.5))
        for n, p in ((20, base), (10, base - 0.05), (40, base + 0.2))
    ]
)
TRACE = pd.DataFrame(
    dict(
        t=np.arange(6), statistic=np.arange(6.0), threshold=3.5, alarm=np.arange(6) > 3
    )
)
DRAW = {
    "projections": lambda ax: plot_projections(*R.projections, R.plan, ax=ax),
    "plane": lambda ax: plot_projections(X[:, :2], Y[:, :2], R.plan, ax=ax),
    "plan": lambda ax: plot_plan(R.plan, *R.projections, ax=ax),
    "field": lambda ax: plot_field(R.projector, X, Y, ax=ax, n_grid=9),
    "samples": lambda ax: plot_samples(X, Y, WHERE, 3, ax=ax),
    "images": lambda ax: plot_samples(X, Y, WHERE, 3, image_shape=(1, 3), ax=ax),
    "features": lambda ax: plot_features(WHERE, ax=ax),
    "pixels": lambda ax: plot_features(WHERE, image_shape=(3, 1), ax=ax),
    "convergence": lambda ax: plot_convergence(R.history, ax=ax),
    "null": lambda ax: plot_null([0.0, 1.0, 2.0], 3.0, 0.25, ax=ax),
    "power": lambda ax: plot_power(STUDY, ax=ax),
    "trace": lambda ax: plot_trace(TRACE, 3, ax=ax),
    "skeletons": lambda ax: plot_skeletons(rng.standard_normal((4, 60)), [0, 2], ax=ax),
}


@pytest.fixture(autouse=True)
def no_figures():
    plt.close("all")
    yield
    plt.close("all")


def colours_of(ax):
    "Every colour of the axes' artists, as text"
    found = {to_hex(c) for line in ax.lines for c in [line.get_color()]} | {
        to_hex(p.get_facecolor()) for p in ax.patches
    }
    found |= {to_hex(c) for col in ax.collections for c in col.get_facecolor()}
    return found | {
        to_hex(t.get_color())
        for t in [*ax.texts, *ax.get_yticklabels(), ax.xaxis.label, ax.yaxis.label]
    }


@pytest.mark.parametrize("name", DRAW)
def test_own_axes(name):
    before, params = plt.get_fignums(), dict(matplotlib.rcParams)
    fig, ax = DRAW[name](None)
    assert ax.figure is fig and ax.has_data()
    assert (
        len(plt.get_fignums()) == len(before) + 1
        and dict(matplotlib.rcParams) == params
        and matplotlib.get_backend().lower() == "agg"
    )
    fig.canvas.draw()  # nothing that only fails when drawn


@pytest.mark.parametrize("name", DRAW)
def test_given_axes(name):
    "Draws there and only there, leaves other axes and pyplot alone"
    figure = Figure()
    ax, other = figure.subplots(1, 2)
    fig, drawn = DRAW[name](ax)
    assert fig is figure and drawn is ax and plt.get_fignums() == []
    assert not other.has_data() and other.get_xlabel() == "" and ax.has_data()
    with pytest.raises(TypeError, match="one entry of an array of axes"):
        plots._axes(np.array([ax, other]))


@pytest.mark.parametrize(
    "name", ["projections", "plane", "plan", "field", "samples", "images"]
)
def test_colours_of_samples(name):
    assert {COLOURS["X"].lower(), COLOURS["Y"].lower()} <= colours_of(
        DRAW[name](None)[1]
    )


@pytest.mark.parametrize("name", ["features", "pixels", "convergence", "null", "power"])
def test_colours_of_others(name):
    "Where neither X nor Y is meant, neither colour appears"
    assert not {COLOURS["X"].lower(), COLOURS["Y"].lower()} & colours_of(
        DRAW[name](None)[1]
    )


def test_inputs_are_not_changed():
    given = (X, Y, R.plan, *R.projections, WHERE.rows, WHERE.columns)
    kept = [A.copy() for A in given]
    for draw in DRAW.values():
        draw(Figure().subplots())
    for A, B in zip(kept, given):
        assert A.equals(B) if hasattr(A, "equals") else np.array_equal(A, B)


def test_projections_shapes():
    n, m = R.plan.shape
    ax = plot_projections(*R.projections, R.plan)[1]
    assert (
        len(ax.lines) == 2
        and ax.get_ylabel() == "density"
        and [len(line.get_xdata()) for line in ax.lines] == [n, m]
    )
    assert len(plot_projections(*R.projections)[1].lines) == 0  # no plan, no strip
    ax = plot_projections(X[:, :2], Y[:, :2], R.plan)[1]
    assert [len(c.get_offsets()) for c in ax.collections[1:]] == [n, m] and max(
        n, m
    ) <= len(ax.collections[0].U) <= n + m
    ax = plot_projections(X, Y, R.plan, dims=3)[1]
    assert ax.name == "3d" and (ax.get_xlabel(), ax.get_zlabel()) == (
        "output 1",
        "output 3",
    )
    assert (
        plot_projections(np.c_[X, X**2], np.c_[Y, Y**2], dims=3)[1].get_zlabel()
        == "principal output 3"
    )
    assert plot_projections(X, Y)[1].get_xlabel() == "principal output 1"
    solid = Figure().add_subplot(projection="3d")
    for d in (2, 3):
        assert plot_projections(X[:, :d], Y[:, :d], R.plan, ax=solid)[1] is solid


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 20), st.integers(0, 99))
def test_strongest_pairs(n, m, most, seed):
    """The pairs are entries of the plan, each the top of its row or column, and
    never more than asked"""
    plan = np.random.default_rng(seed).random((n, m))
    i, j = plots._strongest(plan, most)
    assert len(i) <= most
    assert all(
        plan[a, b] == plan[a].max() or plan[a, b] == plan[:, b].max()
        for a, b in zip(i, j)
    )
    if most >= n + m:
        assert set(i) == set(range(n)) and set(j) == set(range(m))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 99), st.integers(1, 4))
def test_plan_order(seed, d):
    "Shuffling the points does not change the picture of the plan"
    g = np.random.default_rng(seed)
    FX = g.standard_normal((6, d))
    FY = g.standard_normal((5, d))
    plan = g.random((6, 5))
    i, j = g.permutation(6), g.permutation(5)
    shown = [
        plot_plan(P, A, B, Figure().subplots())[1].images[0].get_array()
        for P, A, B in ((plan, FX, FY), (plan[i][:, j], FX[i], FY[j]))
    ]
    assert np.allclose(*shown) and np.isclose(shown[0].sum(), plan.sum() * plan.size)


def test_field_is_the_projector():
    """The grid is the plane it should be, and a linear projector gives upright bands
    between its levels"""

    class First:
        def transform(self, Z):
            return Z[:, :1]

    plane = plots._plane(X, Y, (0, 2), 5)
    pooled = np.vstack([X, Y])
    np.testing.assert_allclose(plane.points[:, 1], np.median(pooled[:, 1]))
    np.testing.assert_allclose(plane.points.reshape(5, 5, 3)[2, :, 0], plane.across)
    np.testing.assert_allclose(plane.points.reshape(5, 5, 3)[:, 3, 2], plane.up)
    filled = plot_field(First(), X, Y, (0, 2))[1].collections[0]
    # f(z) = z_0: the bands are upright
    for low, high, path in zip(filled.levels, filled.levels[1:], filled.get_paths()):
        across = path.vertices[:, 0]
        assert (across >= low - 1e-9).all() and (across <= high + 1e-9).all()
    assert plots._one_output(First(), X, Y, "norm").label == "length of f"
    first = plots._one_output(First(), X, Y, "principal")
    assert first.label == "f"
    np.testing.assert_array_equal(first.of(X[:, :1]), X[:, 0])


def test_field_of_several_outputs():
    "The norm, one output, or the principal one, as the projections have it"
    three = KPWProjector(d=3).fit(np.vstack([X, Y]), np.r_[np.zeros(12), np.ones(9)])
    FX, FY = three.transform(X), three.transform(Y)

    def shown(output):
        return plots._one_output(three, X, Y, output).of(FX)

    np.testing.assert_allclose(shown("norm"), np.linalg.norm(FX, axis=1))
    np.testing.assert_array_equal(shown(2), FX[:, 2])
    A, B, _ = plots.principal(FX, FY, 1)
    np.testing.assert_allclose(shown("principal"), A[:, 0])
    assert A.mean() <= B.mean()  # Y is above X


def test_names_of_a_frame():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    ax = plot_field(R.projector, frame, Y, (2, 0), n_grid=5)[1]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("c", "a")
    ax = plot_samples(frame, Y, WHERE, 2)[1]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["a", "b", "c"]


def leading(sample, k):
    return WHERE.of(sample)["row"].head(k)


def test_samples_are_the_ranked_ones():
    ax = plot_samples(X, Y, WHERE, 4, image_shape=(3, 1))[1]
    ranked = [*X[leading("X", 4)], *Y[leading("Y", 4)]]
    for image, row in zip(ax.images, ranked, strict=True):
        np.testing.assert_array_equal(image.get_array()[:, 0], row)
    ax = plot_samples(X, Y, WHERE, 100)[1]
    assert ax.images[0].get_array().shape == (21, 3)  # all there are


def test_samples_are_found_by_their_labels():
    "The rows of a frame are named by its index, in whatever order they come"
    names = [f"p{i}" for i in range(12)]
    frame = pd.DataFrame(X, index=names)
    where = explain(R.projector, frame, Y)
    order = np.random.default_rng(1).permutation(12)
    ax = plot_samples(frame.iloc[order], Y, where, 3)[1]
    labels = [t.get_text().split()[1] for t in ax.get_yticklabels()[:3]]
    assert labels == [names[i] for i in leading("X", 3)]
    shown = ax.images[0].get_array()[:3]
    pooled = np.vstack([X, Y])
    expected = (X[leading("X", 3)] - pooled.mean(0)) / pooled.std(0)
    np.testing.assert_allclose(shown, expected)


def test_pixels_with_names():
    frames = [pd.DataFrame(S, columns=["a", "b", "c"]) for S in (X, Y)]
    named, plain = explain(R.projector, *frames), WHERE
    ax = plot_features(named, ["a", "b", "c"], image_shape=(1, 3))[1]
    expected = plot_features(plain, image_shape=(1, 3))[1].images[0].get_array()
    np.testing.assert_allclose(ax.images[0].get_array(), expected)
    with pytest.raises(ValueError, match="order of the pixels"):
        plot_features(named, image_shape=(1, 3))


def test_features():
    ax = plot_features([0.1, 0.6, 0.3], ["a", "b", "c"], n_show=2)[1]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["b", "c"] and [
        p.get_width() for p in ax.patches
    ] == [0.6, 0.3]
    assert np.isclose(ax.lines[0].get_xdata()[0], 1 / 3)


def test_convergence_of_both_solvers():
    labels = [line.get_label() for line in plot_convergence(R.history)[1].lines]
    assert labels == ["F above its last value", "gradient", "marginal error"]
    exact = kpw_distance(X, Y, d=1, ridge=0.1, solver="exact")
    ax = plot_convergence(exact.history)[1]
    assert [line.get_label() for line in ax.lines][:2] == [
        "cost below its last",
        "angle",
    ] and ax.get_yscale() == "log"
    gap = plot_convergence(R.history)[1].lines[0].get_ydata()
    assert np.nanmin(gap) > 0 and np.isnan(gap[-1])


def test_power_lines():
    ax = plot_power(STUDY)[1]
    assert [line.get_label() for line in ax.lines[:2]] == ["a", "b"] and len(
        ax.collections
    ) == 2
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [10, 20, 40])  # sorted
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0.15, 0.2, 0.4])
    band = ax.collections[0].get_paths()[0].vertices
    assert np.isclose(band[:, 1].min(), 0.05) and np.isclose(band[:, 1].max(), 0.5)
    words = STUDY.assign(kind=STUDY.n.map({10: "few", 20: "some", 40: "many"}))
    assert [t.get_text() for t in plot_power(words, "kind")[1].get_xticklabels()] == [
        "some",
        "few",
        "many",
    ]


BAD = [
    (lambda: plot_projections(X[:, 0], Y[:, 0]), ValueError, "FX must be a 2-D array"),
    (
        lambda: plot_projections(X, Y[:, :2]),
        ValueError,
        "FX has 3 outputs but FY has 2",
    ),
    (
        lambda: plot_projections(X, Y, R.plan.T),
        ValueError,
        r"plan must have shape \(12, 9\)",
    ),
    (
        lambda: plot_projections(X, Y, R.plan * np.nan),
        ValueError,
        "plan contains 108 NaN",
    ),
    (
        lambda: plot_projections(X, Y, dims=1),
        ValueError,
        "dims must be at least 2 and at most 3",
    ),
    (
        lambda: plot_projections(X, Y, R.plan, n_lines=-1),
        ValueError,
        "n_lines must be at least 0",
    ),
    (lambda: plot_plan(R.plan[0]), ValueError, "plan must be a 2-D array"),
    (lambda: plot_plan(R.plan, FX=X), ValueError, "FX and FY go together"),
    (lambda: plot_plan(R.plan, Y, X), ValueError, "plan must have shape"),
    (lambda: plot_field(None, X, Y), TypeError, "projector must be fitted"),
    (
        lambda: plot_field(R.projector, X, Y, (0, 3)),
        ValueError,
        "features must be at least 0 and at most 2",
    ),
    (
        lambda: plot_field(R.projector, X, Y, (0,)),
        ValueError,
        "two different column numbers",
    ),
    (
        lambda: plot_field(R.projector, X[:, :1], Y[:, :1]),
        ValueError,
        "a field needs a plane",
    ),
    (
        lambda: plot_field(R.projector, X, Y, output="first"),
        ValueError,
        "output must be one of",
    ),
    (
        lambda: plot_field(R.projector, X, Y, output=1),
        ValueError,
        "output must be at least 0 and at most 0",
    ),
    (
        lambda: plot_field(R.projector, X, Y, names=["a"]),
        ValueError,
        "names has 1 entries for 3 features",
    ),
    (
        lambda: plot_samples(Y, X, WHERE),
        ValueError,
        "pass the samples it was computed for",
    ),
    (lambda: plot_samples(X, Y, WHERE, 0), ValueError, "n_show must be at least 1"),
    (
        lambda: plot_samples(X, Y, WHERE, image_shape=(2, 2)),
        ValueError,
        "4 pixels but there are 3 features",
    ),
    (
        lambda: plot_samples(X, Y, WHERE, image_shape=3),
        TypeError,
        "image_shape must be a pair",
    ),
    (lambda: plot_features(None), ValueError, "kernel has no gradient"),
    (lambda: plot_features([0.5, np.nan]), ValueError, "contains 1 NaN"),
    (lambda: plot_features([]), ValueError, "at least 1 are required"),
    (lambda: plot_convergence(R), TypeError, "history must be the dict of a result"),
    (lambda: plot_null([], 1.0), ValueError, "null"),
    (lambda: plot_null([1.0], np.nan), ValueError, "statistic must be"),
    (
        lambda: plot_null([1.0], 1.0, 2.0),
        ValueError,
        "pvalue must be at least 0 and at most 1",
    ),
    (lambda: plot_power(STUDY, "rho"), ValueError, "'rho' is not a column"),
    (lambda: plot_power([1, 2]), ValueError, "is not a column of the study"),
    (lambda: plot_power(STUDY, "D"), ValueError, "several lines of one test share"),
]


@pytest.mark.parametrize("call, kind, words", BAD, ids=[words for *_, words in BAD])
def test_bad_input(call, kind, words):
    with pytest.raises(kind, match=words):
        call()
    assert plt.get_fignums() == []  # refused before a figure is made


def test_real_study():
    "The table of `power_study` is what `plot_power` takes"
    from kpw_nb.study.rivals import EnergyTest
    from kpw_nb.study.problems import make_gaussian_shift
    from kpw_nb.study.power import power_study

    study = power_study(
        {"Energy": EnergyTest()},
        make_gaussian_shift,
        grid=dict(n=[8, 12], D=[2]),
        n_trials=3,
        n_resamples=19,
        rng=0,
    )
    assert len(plot_power(study)[1].lines) == 2


def test_import_is_light():
    import subprocess
    import sys

    code = (
        "import sys, kpw_nb.show.plots\n"
        "heavy = {'matplotlib', 'ot', 'ipywidgets'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
