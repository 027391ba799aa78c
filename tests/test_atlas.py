"""The atlas of differences: every cell draws what it promises, halves are balanced, and
the strengths are those of the record."""

import pickle
from collections import Counter
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from execute import NBS
from scipy.special import ndtr
from scipy.stats import ks_2samp, kstwobign

from kpw_nb.ground.errors import InputError
from kpw_nb.study.atlas import ATLAS, draw_cell, legendre, make_atlas, most_strength
from kpw_nb.study.experiments import read_record
from kpw_nb.study.power import power_study

EACH = pytest.mark.parametrize("name", ATLAS)


@EACH
def test_a_cell_draws_two_samples(name):
    cell = ATLAS[name]
    for settings in ({}, dict(null=True), dict(strength=0), dict(strength=cell.most)):
        X, Y = make_atlas(cell.n, name, m=cell.n - 7, rng=1, **settings)
        assert X.shape == (cell.n, cell.D) and Y.shape == (cell.n - 7, cell.D)
        assert X.dtype == Y.dtype == np.float64
        assert np.isfinite(X).all() and np.isfinite(Y).all()


@EACH
def test_seeds_repeat_and_x_stays(name):
    X, Y = make_atlas(40, name, rng=3)
    again, null = make_atlas(40, name, rng=3), make_atlas(40, name, null=True, rng=3)
    assert np.array_equal(X, again[0]) and np.array_equal(Y, again[1])
    assert np.array_equal(X, null[0]) and not np.array_equal(Y, null[1])
    other = make_atlas(40, name, m=9, strength=0, rng=3)
    assert np.array_equal(X, other[0])  # X depends on neither m nor the strength
    assert not np.array_equal(X, make_atlas(40, name, rng=4)[0])


@EACH
def test_the_record_of_a_cell(name):
    cell = ATLAS[name]
    assert 60 <= cell.n <= 400 and 0 < cell.strength <= cell.most
    assert cell.half in ("choose", "report")
    assert cell.together in ("one", "two", "three", "all")
    assert cell.coefficients in ("one", "many") and cell.scale in ("coarse", "fine")
    columns = {"one": 1, "two": 2, "three": 3}.get(cell.together, len(cell.degrees))
    assert len(cell.degrees) in (0, columns)
    assert pickle.loads(pickle.dumps(cell)) == cell
    with pytest.raises(FrozenInstanceError):
        cell.n = 1


def test_the_atlas_is_large_and_its_halves_are_balanced():
    assert len(ATLAS) >= 50
    halves = Counter((c.together, c.half) for c in ATLAS.values())
    for kind in ("one", "two", "three", "all"):
        assert abs(halves[kind, "choose"] - halves[kind, "report"]) <= 1
    for places in ("1 of 10", "3 of 10", "all 10", "1 of 2", "1 pair of 8"):
        assert len({c.half for c in ATLAS.values() if c.where == places}) == 2


def test_strengths_are_those_of_the_record():
    record = read_record("atlas_strengths", NBS / "experiments/records")
    found = {r.cell: (r.n, r.D, r.strength) for r in record.itertuples()}
    assert found == {name: (c.n, c.D, c.strength) for name, c in ATLAS.items()}
    assert record.power.between(0.7, 0.9).all()


@pytest.mark.parametrize("name", [k for k, c in ATLAS.items() if c.margins])
def test_margins_are_equal(name):
    "Mutation: the sign of one factor of a product is dropped"
    cell = ATLAS[name]
    X, Y = make_atlas(3000, name, strength=min(cell.most, 0.95), rng=8)
    far = max(ks_2samp(x, y, method="asymp").statistic for x, y in zip(X.T, Y.T))
    share = 3 if cell.where == "neighbours" else 2  # a near copy counts half
    assert far * np.sqrt(3000 / share) < kstwobign.isf(1e-4 / cell.D)


@pytest.mark.parametrize(
    "name, columns, degrees, expected",
    [
        ("P2 in 3 of 10", (2,), (2,), 0.9 / np.sqrt(5)),
        ("P2 in 3 of 10", (3,), (2,), 0.0),
        ("P3P1 in 4 pairs of 8", (6, 7), (3, 1), 0.9 / np.sqrt(7 * 3)),
        ("P3P1 in 4 pairs of 8", (5, 6), (3, 1), 0.0),
        ("P2P2 in all pairs of 8", (1, 6), (2, 2), 0.9**2 / 5),
        ("P1P1 in all pairs of 8", (0, 1, 2), (1, 1, 1), 0.0),
        ("S1S1S1 in 2 triples of 6", (3, 4, 5), (1, 1, 1), 0.9 * 0.75**1.5),
        ("S1S1S1 in 2 triples of 6", (3, 4), (1, 1), 0.0),
    ],
)
def test_coefficients_by_hand(name, columns, degrees, expected):
    U = ndtr(ATLAS[name].law(np.random.default_rng(5), 20_000, 0.9))
    factors = (
        np.sqrt(2 * a + 1) * legendre(a, U[:, j]) for j, a in zip(columns, degrees)
    )
    values = np.prod(list(factors), axis=0)
    assert abs(values.mean() - expected) < 4 * values.std() / np.sqrt(20_000)


def test_bad_arguments_are_refused():
    with pytest.raises(
        InputError, match="cell must be one of 'P1 in 1 of 2', .*'wave'"
    ):
        make_atlas(50, "wave")
    with pytest.raises(InputError, match="strength must be at least 0 and at most 1"):
        make_atlas(50, "waves", strength=1.1)
    with pytest.raises(TypeError, match="null must be True or False"):
        make_atlas(50, "waves", null=1)
    assert most_strength((2, 2), "P") == 2.0


def test_a_study_takes_cells_as_its_grid():
    from kpw_nb.study.rivals import ColumnsTest

    grid = [dict(cell="P1 in all 10", n=40), dict(cell="waves", n=40, strength=1.0)]
    tests = {"Columns": ColumnsTest()}
    few = dict(n_trials=3, n_resamples=19, protocol="equal", rng=1)
    study = power_study(tests, draw_cell, grid=grid, **few)
    assert list(study.cell) == ["P1 in all 10", "waves"]
