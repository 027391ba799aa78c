"""What a user reads at the end: the answer about all never contradicts the answers
about each, and a p-value is as small as it is due."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from kpw_nb import kpw_test
from kpw_nb.show.cli import main


def normal(seed, n=60, D=5):
    return np.random.default_rng(seed).standard_normal((2, n, D))


def humps(g, Y):
    "Two humps; mean and variance stay"
    Y[:, 1] = 0.92 * g.choice([-1, 1], len(Y)) + 0.39 * Y[:, 1]


def skewed(g, Y):
    Y[:, 2] = (g.gamma(2, size=len(Y)) - 2) / np.sqrt(2)


def large_together(g, Y):
    "Large values go together, without correlation"
    score = np.abs(Y[:, 0]) + 0.5 * np.abs(g.standard_normal(len(Y)))
    ranks = score.argsort().argsort()
    Y[:, 3] = np.sort(np.abs(Y[:, 3]))[ranks] * g.choice([-1, 1], len(Y))


def bent(g, Y):
    score = Y[:, 0] ** 2 + 0.3 * Y[:, 1]
    Y[:, 1] = np.sort(g.standard_normal(len(Y)))[score.argsort().argsort()]


KINDS = dict(humps=humps, skewed=skewed, large=large_together, bent=bent)


@pytest.mark.parametrize("kind", KINDS)
def test_all_and_each_agree(kind):
    """Four data sets of each kind. Mutation: without the member `table` most joint
    p-values are above 0.05 where a column or pair has 0.01 or less."""
    found = 0
    for seed in range(4):
        X, Y = normal(seed, 160, 8)
        KINDS[kind](np.random.default_rng([seed, 1]), Y)
        result = kpw_test(X, Y, n_resamples=199, rng=seed)
        raw, told = result.evidence.pvalues, result.where().columns.pvalue
        assert result.pvalue <= 0.05 or raw.min() > 0.01
        assert told.min() >= result.pvalue  # closed testing
        assert (told >= np.sort(raw)[: len(told)].min()).all()
        found += result.pvalue <= 0.05
    assert found >= 3


def test_as_many_relabellings_as_it_takes():
    X, Y = normal(0)
    alike = kpw_test(X, Y, rng=1)
    assert alike.pvalue > 0.2 and alike.n_resamples == 99
    far = kpw_test(X, Y + 2, rng=1)
    assert far.pvalue == 1 / (1 + far.n_resamples) <= 0.001
    assert far.where().columns.pvalue.max() <= 0.001  # each column moved
    assert far.interval[1] < 0.005
    fixed = kpw_test(X, Y + 2, rng=1, n_resamples=199)
    assert (fixed.pvalue, fixed.n_resamples) == (1 / 200, 199)
    assert fixed.plan.n_resamples == 199 and far.plan.n_resamples == "auto"


@pytest.mark.parametrize("shift", [0.0, 0.25, 2.0])
def test_the_ladder_repeats(shift):
    "The same for any workers, by its seed, and by its number of relabellings"
    X, Y = normal(3, 40, 3)
    base = kpw_test(X, Y + shift, rng=5)
    with ThreadPoolExecutor(2) as pool:
        for workers in (2, pool.map):
            other = kpw_test(X, Y + shift, rng=5, workers=workers)
            assert other.pvalue == base.pvalue
            assert (other.null_distribution == base.null_distribution).all()
    fixed = kpw_test(X, Y + shift, rng=base.seed, n_resamples=base.n_resamples)
    assert fixed.statistic == base.statistic
    assert base.pvalue in (fixed.pvalue, 1 / 200, 1 / 1000, 0.2)
    assert kpw_test(X, Y + shift, rng=base.seed).pvalue == base.pvalue


def test_the_level_with_the_ladder():
    "250 nulls with ties. Mutation: the smallest p-value of all steps fails at 0.05"
    p = []
    for seed in range(250):
        Z = np.random.default_rng([9, seed]).poisson(2, (24, 2)).astype(float)
        p.append(kpw_test(Z[:10], Z[10:], rng=seed).pvalue)
    for alpha in (0.01, 0.05, 0.2):
        assert (np.array(p) <= alpha).sum() <= binom.ppf(0.9999, 250, alpha), alpha


def test_an_interrupt_keeps_what_is_done():
    "Ctrl-C on the third step of the ladder: an answer from what is there"

    def interrupt(done, total):
        if done >= 300:
            raise KeyboardInterrupt

    X, Y = normal(0)
    result = kpw_test(X, Y + 2, rng=0, progress=interrupt)
    assert result.partial and 199 < result.n_resamples < 1000
    assert result.pvalue == 1 / (1 + result.n_resamples)


def test_few_relabellings_are_all_listed():
    X, Y = normal(0, 5, 2)
    result = kpw_test(X, Y + 9, paired=True, rng=0)  # 2^5
    assert result.n_resamples == 31 and result.interval[0] == result.interval[1]


@pytest.fixture
def files(tmp_path):
    X, Y = normal(0, 80, 3)
    paths = [tmp_path / name for name in ("before.csv", "after.csv")]
    for path, Z in zip(paths, (X, Y + 1)):
        pd.DataFrame(Z, columns=list("abc")).to_csv(path, index=False)
    return [str(path) for path in paths]


def test_a_small_level_is_answered(files, capsys):
    "At the command line: p is below 0.001, so the exit code says so"
    options = ["--alpha", "0.001", "--fail-on-difference", "--json"]
    assert main(["test", *files, *options]) == 1
    told = capsys.readouterr()
    facts = json.loads(told.out)
    assert facts["pvalue"] <= 0.001 and facts["n_resamples"] >= 999
    assert "--n-resamples auto" in facts["command"] and told.err == ""
    least = min(c["pvalue"] for c in facts["where"]["columns"])
    assert least >= facts["pvalue"]


def test_a_number_of_relabellings_can_be_asked_for(files, capsys):
    assert main(["test", *files, "--n-resamples", "19", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_resamples"] == 19
    assert main(["test", *files, "--n-resamples", "many"]) == 2
    assert "whole number" in capsys.readouterr().err


def test_names_of_the_samples():
    """In text, tables, pictures and the page. Mutation: `names` kept in `facts()` only,
    as it was, or without the way back to X and Y in JSON."""
    import matplotlib.pyplot as plt

    X, Y = (pd.DataFrame(Z, columns=list("abc")) for Z in normal(0, 50, 3))
    Y["b"] += 3
    Y.loc[4, "a"] = 30.0
    result = kpw_test(X, Y, names=("before", "after"), rng=0)
    plain = kpw_test(X, Y, rng=0)
    assert result.pvalue == plain.pvalue and plain.names == ("X", "Y")
    where = result.where()
    assert set(where.rows["sample"]) == {"before", "after"}
    assert where.of("after").equals(where.of("Y"))
    words = where.columns["effect"].iloc[0]
    assert " in before, " in words and words.endswith(" in after")
    facts = result.facts()
    assert words in facts["answer"] and facts["names"] == ["before", "after"]
    assert (facts["X"]["name"], facts["Y"]["name"]) == ("before", "after")
    assert {r["sample"] for r in facts["where"]["rows"]} == {"X", "Y"}
    assert facts["where"]["rows_ranked"] == [50, 50]
    assert " in before, " in str(where) and "rows of after" in str(where)
    page = result.report()
    assert "change from before to after" in page and "Rows of after" in page
    for figure, axes in (result.plot(), result.effect().plot()):
        labels = [t.get_text() for t in axes[0].get_legend().get_texts()]
        assert labels[:2] == ["before", "after"]
        plt.close(figure)


@pytest.mark.parametrize("names", ["ab", ("a",), ("a", "a"), ("a", 2), ("", "b")])
def test_bad_names(names):
    with pytest.raises(ValueError, match="names must be two different texts"):
        kpw_test(*normal(0), names=names)


def test_names_at_the_command_line(files, capsys, tmp_path):
    page = tmp_path / "r.html"
    options = ["--names", "old, new", "--report", str(page)]
    assert main(["test", *files, *options]) == 0
    told = capsys.readouterr().out
    assert " in old, " in told and "rows of new" in told
    assert " in X" not in told and "rows of Y" not in told
    assert "change from old to new" in page.read_text()


def test_few_pairs_are_enumerated():
    """Student's sleep, ten pairs: all 1,024 ways to swap them are looked at, so p is no
    estimate. It was .027 (199 of them); the t-test has .003, Wilcoxon's .004. Mutation:
    the bound of the ladder, 1/1000, for what was enumerated."""
    x = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2])[:, None]
    y = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])[:, None]
    found = [kpw_test(x, y, paired=True, rng=seed) for seed in range(3)]
    for result in found:
        assert result.n_resamples == 1023 and result.pvalue <= 0.01
        assert result.interval == (result.pvalue, result.pvalue)
        assert result.where().columns.pvalue.iloc[0] == result.pvalue
    assert len({result.pvalue for result in found}) == 1
    two = kpw_test(np.arange(6.0)[:, None], np.arange(20.0, 26)[:, None], rng=0)
    assert two.n_resamples == 923 and two.pvalue == 2 / 924


def test_a_wide_table_is_looked_at_once(monkeypatch):
    """27 + 27 rows of 3,000 columns, by counting: p-value, columns and effects make the
    features of a column once, and once more of the few that are shown. Mutation:
    evidence that is made anew by `where()` or `effect()`."""
    from kpw_nb.compare import evidence

    made, features = [0], evidence.number_features

    def counted(values):
        made[0] += 1
        return features(values)

    monkeypatch.setattr(evidence, "number_features", counted)
    X, Y = normal(5, 27, 3000)
    Y[:, 7] += 4
    result = kpw_test(X, Y, rng=0)
    assert result.where().columns["column"].iloc[0] == 7
    assert result.effect().columns["column"].iloc[0] == 7
    assert made[0] <= 3000 + 50


def test_p_stands_in_its_own_interval():
    "26 of 10,000 was printed as p = .001, as none was among the first thousand"
    g = np.random.default_rng(0)
    X, Y = g.normal(size=(30, 3)), g.normal(size=(30, 3)) + 0.8
    result = kpw_test(X, Y, rng=0)
    assert result.n_resamples > 999
    assert result.interval[0] <= result.pvalue <= result.interval[1]
