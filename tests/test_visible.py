"""What would have been found: the promise holds at places that did not make the grid,
and every way to read an answer without a difference says it."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from kpw_nb import kpw_test, visible
from kpw_nb.compare.visible import GROUPS, KINDS
from kpw_nb.ground.errors import InputError
from kpw_nb.show.cli import main

ALIKE = np.random.default_rng(5).standard_normal((2, 90, 4))


@pytest.mark.parametrize(
    "kind, n, m, D", [("shift", 30, 90, 2), ("correlation", 75, 100, 5)]
)
def test_the_promise_holds(kind, n, m, D):
    """Exact band of 120 data sets for a power between .70 and .90. Mutation: rows of
    both samples counted together instead of 2nm/(n + m)."""
    found = 0
    strength = {s.kind: s.strength for s in visible(n, m, D).differences}[kind]
    for t in range(120):
        rng = np.random.default_rng([8, t])
        X, Y = rng.standard_normal((n, D)), rng.standard_normal((m, D))
        KINDS[kind].change(rng, Y, strength)
        found += kpw_test(X, Y, n_resamples=99, rng=t).pvalue <= 0.05
    assert binom.ppf(1e-3, 120, 0.70) <= found <= binom.ppf(1 - 1e-3, 120, 0.90)


@pytest.mark.parametrize("kind", KINDS)
def test_more_rows_see_more_and_groups_are_no_cliff(kind):
    "Mutation: strength and rows exchanged in the interpolation"
    for D in (2, 8, 60):
        known = [
            {s.kind: s.strength for s in visible(n, D=D).differences}.get(kind, np.inf)
            for n in (20, 33, 75, 190, 420, 1500, 9999)
        ]
        assert (np.diff([k for k in known if k < np.inf]) < 0).all()
        assert known[-1] < np.inf
    for few, more in zip(GROUPS[:-1], GROUPS[1:]):
        if few[-1] >= KINDS[kind].least:
            left, right = (
                {s.kind: s.strength for s in visible(500, D=D).differences}[kind]
                for D in (few[-1], more[0])
            )
            assert 0.6 < left / right < 1.7


def frames(tmp_path):
    "Two files, their names as texts"
    paths = [tmp_path / f"{name}.csv" for name in "ab"]
    for path, rows in zip(paths, ALIKE):
        pd.DataFrame(rows, columns=list("pqrs")).to_csv(path, index=False)
    return [str(path) for path in paths]


def test_every_reader_is_told(tmp_path, capsys):
    """Text, page, report, JSON and command line. Mutation: the sentence only in one of
    the renderers."""
    result = kpw_test(*ALIKE, rng=0)
    assert result.pvalue > 0.05
    words = str(result.visible())
    assert "a correlation of 0." in words and "8 times out of 10" in words
    facts = json.loads(json.dumps(result.facts()))
    assert [d["kind"] for d in facts["visible"]] == list(KINDS)
    for text in (facts["answer"], result.report(), result._repr_html_()):
        assert words in text
    main(["test", *frames(tmp_path), "--seed", "0"])
    assert words in " ".join(capsys.readouterr().out.split())


def test_nothing_is_promised_that_is_not_known():
    few = dict(rng=0, n_resamples=19)
    X, Y = ALIKE
    assert kpw_test(X, Y + 3, **few).facts()["visible"] == []  # a difference was found
    for options in (dict(paired=True), dict(candidates="columns")):
        assert kpw_test(X, Y, **few, **options).visible().differences == ()
    words = pd.DataFrame({"c": list("uvuvwuvw") * 5})
    assert kpw_test(words, words, **few).visible().differences == ()
    assert visible(19).differences == visible(500, D=101).differences == ()
    assert "correlation" not in str(visible(200))
    far = visible(100, 300, D=5).differences  # only shifts
    assert [d.kind for d in far] == ["shift", "shift of all"]


@pytest.mark.parametrize(
    "wrong, named", [(dict(n=1), "n"), (dict(n=50, m=0), "m"), (dict(n=9, D=0), "D")]
)
def test_bad_sizes_are_refused_by_name(wrong, named):
    with pytest.raises(InputError, match=f"^{named} must be"):
        visible(**wrong)
