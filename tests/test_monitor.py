"""A monitor of batches: its promise, what it says, what it refuses, and its file."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from kpw_nb import KPWMonitor
from kpw_nb.ground.errors import InputError


def day(g, size, shift=0.0):
    "Numbers with heavy tails and ties, and a category"
    frame = pd.DataFrame(g.standard_t(3, size=(size, 3)), columns=list("abc"))
    frame["c"] = frame["c"].round()
    frame["b"] += shift
    return frame.assign(k=g.choice(list("xyz"), size))


@pytest.fixture(scope="module")
def reference():
    return day(np.random.default_rng(0), 400)


def fitted(reference, **options):
    return KPWMonitor(rng=0, **options).fit(reference)


@pytest.mark.parametrize("promise", ["fwer", "fdr"])
def test_no_drift_no_alarm(promise):
    """Forty histories of twelve batches, 10 % promised. Mutation: batches compared with
    the rows that learn; the reference alone instead of the bag."""
    rang = 0
    for seed in range(40):
        g = np.random.default_rng([1, seed])
        monitor = KPWMonitor(promise, alpha=0.1, rng=seed).fit(day(g, 100))
        sizes = g.integers(5, 60, 12)
        rang += any(monitor.check(day(g, size)).alarm for size in sizes)
    assert rang <= binom.ppf(0.9995, 40, 0.1)


@pytest.mark.parametrize("promise", ["fwer", "fdr", "arl"])
def test_drift_is_found_and_named(promise, reference):
    g = np.random.default_rng(2)
    monitor = fitted(reference, promise=promise, arl=50)
    for _ in range(3):
        monitor.check(day(g, 60))
    found = [monitor.check(day(g, 60, 1.5)) for _ in range(4)]
    first = next(r for r in found if r.alarm)
    assert first.columns["column"][0] == "b" and first.columns.pvalue[0] <= 0.05
    assert first.since in (3, 4, 5)
    facts = json.loads(json.dumps(first.facts()))
    assert "alarm" in facts["answer"] and facts["columns"][0]["column"] == "b"
    assert "alarm" in repr(first) and "b: mean" in repr(first)
    assert not first.joined and monitor.history.alarm.any()


def test_the_order_of_columns_and_the_kind_of_frame_do_not_matter(reference):
    import polars as pl

    batch = day(np.random.default_rng(3), 50)
    first = fitted(reference).check(batch)
    for other in (batch[["k", "c", "b", "a"]], pl.from_pandas(batch)):
        again = fitted(reference).check(other)
        assert again.pvalue == first.pvalue
        assert again.columns.equals(first.columns)


BAD = {
    "a column less": (lambda d: d.drop(columns="b"), "no column 'b'"),
    "a new category": (lambda d: d.assign(k="new"), "column 'k' .* value 'new'"),
    "a gap": (lambda d: d.assign(a=[np.nan, *d.a[1:]]), "column 'a'"),
    "no rows": (lambda d: d.iloc[:0], "no rows"),
    "texts for numbers": (lambda d: d.assign(a="many"), "column 'a'"),
    "infinite": (lambda d: d.assign(a=np.inf), "column 'a'"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_batch_is_refused_and_nothing_changes(name, reference):
    "Mutation: a day is counted before its batch is read"
    change, words = BAD[name]
    monitor, g = fitted(reference), np.random.default_rng(4)
    good = day(g, 30)
    with pytest.raises(InputError, match=words):
        monitor.check(change(day(g, 30)))
    assert len(monitor.history) == 0
    assert monitor.check(good).pvalue == fitted(reference).check(good).pvalue


def test_a_saved_monitor_goes_on_with_the_same_bits(reference, tmp_path):
    g = np.random.default_rng(5)
    monitor = fitted(reference)
    monitor.check(day(g, 40))
    monitor.save(tmp_path / "state.kpw")
    other = KPWMonitor.load(tmp_path / "state.kpw")
    for size, shift in ((30, 0.0), (1, 0.0), (50, 2.0), (50, 2.0), (20, 0.0)):
        batch = day(g, size, shift)
        one, two = monitor.check(batch), other.check(batch)
        assert (one.pvalue, one.evidence, one.since) == (
            two.pvalue,
            two.evidence,
            two.since,
        )
    assert monitor.history.equals(other.history)


@pytest.mark.parametrize("cut", [0, 40, 2000, -1])
def test_a_damaged_file_is_refused_by_name(cut, reference, tmp_path):
    path = tmp_path / "state.kpw"
    fitted(reference).save(path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(InputError, match="state.kpw .*; fit a monitor again"):
        KPWMonitor.load(path)


def test_a_file_that_cannot_be_written_leaves_the_old_one(
    reference, tmp_path, monkeypatch
):
    path = tmp_path / "state.kpw"
    monitor = fitted(reference)
    monitor.save(path)
    before = path.read_bytes()

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", killed)
    monitor.check(day(np.random.default_rng(6), 9))
    with pytest.raises(KeyboardInterrupt):
        monitor.save(path)
    assert path.read_bytes() == before and [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize(
    "options, words",
    [
        (dict(promise="always"), "promise must be one of"),
        (dict(alpha=0), "alpha must be"),
        (dict(arl=1), "arl must be"),
        (dict(missing="drop"), "missing must be"),
    ],
)
def test_invalid_options_are_named(options, words, reference):
    with pytest.raises(ValueError, match=words):
        fitted(reference, **options)


def test_what_is_not_there_yet():
    with pytest.raises(RuntimeError, match="call fit"):
        KPWMonitor().check([[1.0]])
    with pytest.raises(InputError, match="pass at least 50 rows"):
        KPWMonitor().fit(np.zeros((9, 2)) + np.arange(9)[:, None])
    gaps = pd.DataFrame(dict(a=[1.0, 2, np.nan] * 30))
    assert len(KPWMonitor(missing="indicator").fit(gaps).history) == 0
