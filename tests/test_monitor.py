"""A monitor of batches: its promise, what it says, what it refuses, and its file."""

import json
import os
import signal
import subprocess
import sys
import time

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
        (dict(by="country"), "by is 'country', which is no column"),
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


# Slices, a fixed reference, what a day shows ------------------------------------------


def countries(g, size, shift=0.0):
    "Rows of two countries; in one of them column b may move"
    frame = day(g, size).assign(country=g.choice(["at", "be"], size))
    frame.loc[frame.country == "be", "b"] += shift
    return frame


def test_slices_have_one_promise_over_all_of_them():
    """Forty histories of six batches in two slices. Mutation: a threshold of 1/alpha
    instead of K/alpha in each slice is seen by the next test; bags mixed up by this."""
    rang = 0
    for seed in range(40):
        g = np.random.default_rng([2, seed])
        monitor = KPWMonitor(alpha=0.1, by="country", rng=seed).fit(countries(g, 260))
        rang += any(monitor.check(countries(g, 60)).alarm for _ in range(6))
    assert rang <= binom.ppf(0.9995, 40, 0.1)


@pytest.mark.parametrize("promise", ["fwer", "arl"])
def test_a_slice_needs_more_evidence_and_is_named(promise):
    "Mutation: the threshold is not multiplied by the number of slices"
    g = np.random.default_rng(3)
    monitor = KPWMonitor(promise, alpha=0.1, arl=50, by="country", rng=0)
    monitor.fit(countries(g, 600))
    for _ in range(2):
        monitor.check(countries(g, 120))
    found = [monitor.check(countries(g, 120, 1.2)) for _ in range(4)]
    last = found[-1]
    assert {c.threshold for c in last.slices} == {dict(fwer=20.0, arl=100.0)[promise]}
    assert any(r.alarm for r in found)
    rang = {c.slice for r in found for c in r.slices if c.alarm}
    assert rang == {"be"} and last.columns["column"][0] == "b"
    assert " in be" in str(next(r for r in found if r.alarm))
    assert list(monitor.history.slice[:2]) == ["at", "be"]
    unknown = countries(g, 20).assign(country="cy")
    with pytest.raises(InputError, match="column 'country' .* value 'cy'"):
        monitor.check(unknown)


def test_slices_are_saved(tmp_path):
    g = np.random.default_rng(4)
    monitor = KPWMonitor(alpha=0.1, by="country", rng=0).fit(countries(g, 300))
    monitor.check(countries(g, 50))
    monitor.save(tmp_path / "state.kpw")
    other = KPWMonitor.load(tmp_path / "state.kpw")
    batch = countries(g, 40, 1.0)
    one, two = monitor.check(batch), other.check(batch)
    assert [c.pvalue for c in one.slices] == [c.pvalue for c in two.slices]
    assert monitor.history.equals(other.history)


def test_a_fixed_reference_never_takes_rows_in():
    """Slow drift is absorbed by a bag that grows, not by a fixed one.
    Mutation: `joins` is not asked."""
    g, found = np.random.default_rng(5), {}
    reference = day(g, 500)
    batches = [day(g, 60, 0.06 * k) for k in range(25)]
    for joins in (True, False):
        monitor = fitted(reference, joins=joins)
        for batch in batches:
            monitor.check(batch)
        found[joins] = monitor.history
    assert not found[False].joined.any() and found[True].joined[:5].all()
    assert found[False].pvalue[-5:].max() < 0.05


@pytest.mark.parametrize("promise", ["fwer", "fdr", "arl"])
def test_fixed_rules_hold_if_all_days_are_alike(promise):
    """The worst dependence: one p-value for all days. Mutation: LORD or a martingale
    of bets against a fixed reference, which ring in more than alpha of histories."""
    from types import SimpleNamespace

    from kpw_nb.watch.monitor import Asked, Evidence, verdict

    asked = SimpleNamespace(promise=promise, alpha=0.1, arl=600, joins=False)
    rang = 0
    for p in np.random.default_rng(6).random(2000):
        bets = Evidence()
        days = (verdict(asked, bets, Asked(look=t), p).alarm for t in range(1, 61))
        rang += any(days)
    assert rang <= binom.ppf(0.9995, 2000, 0.1)


def test_daily_levels_are_those_of_online_fdr():
    """LORD++, beside the package of that name, if it is installed: its weights are
    normalised over for ever, ours over 20,000 days. Mutation: the first alarm pays
    alpha, as the later ones."""
    peer = pytest.importorskip("online_fdr.p_values").LordPlusPlus(0.1, 0.05)
    from kpw_nb.watch.monitor import daily_level, gamma

    more, alarms = gamma(1) / peer.seq.calc_gamma(1), []
    for t, p in enumerate([0.5, 1e-9, 0.4, 0.7, 1e-9, 0.9, 1e-9, 0.2], 1):
        level = daily_level(t, tuple(alarms), 0.1)
        assert peer.test_one(p) == (p <= level)
        assert np.isclose(level, more * peer._last_test_level)
        alarms += [t] if p <= level else []


def test_small_drift_every_day_is_found_by_the_witness():
    """Six columns by 0.12 sd, batches of 200: few days show anything by themselves.
    Mutation: the halves that train are not remembered."""
    found = []
    for seed in range(4):
        g = np.random.default_rng([7, seed])
        monitor = KPWMonitor(alpha=0.05, rng=seed).fit(g.normal(size=(6000, 6)))
        results = [monitor.check(g.normal(size=(200, 6)) + 0.12) for _ in range(30)]
        first = [r.number for r in results if r.alarm]
        found.append(first[0] if first else 99)
        witness = monitor._slices[None].witness
        assert witness.weight > 0
    assert np.median(found) <= 25


def test_what_a_batch_can_show_gets_smaller_with_its_size(reference):
    monitor = fitted(reference)
    shifts = [monitor.visible(n) for n in (5, 200)]
    assert shifts[1] < shifts[0] and 0.05 < shifts[1] < 1.5
    assert len(monitor.history) == 0  # nothing was checked
    with pytest.raises(ValueError, match="n must be"):
        monitor.visible(0)


def test_effects_are_in_units_of_the_reference(reference):
    g = np.random.default_rng(8)
    batch = day(g, 300, 1.5).assign(k="x")
    batch["a"] *= 4
    table = fitted(reference).check(batch).columns.set_index("column")
    share = float((reference.k == "x").mean())
    assert table.what["k"] == "share of 'x'" and np.isclose(table.reference["k"], share)
    assert table.effect["k"] == f"{100 * (1 - share):+.1f} points"
    assert table.what["a"] == "spread" and table.effect["a"].startswith("× ")
    shift = (batch.b.mean() - reference.b.mean()) / reference.b.std(ddof=0)
    assert table.effect["b"] == f"{shift:+.2f} sd"


def test_a_page_and_a_picture(reference, tmp_path):
    g, monitor = np.random.default_rng(9), fitted(reference)
    monitor.plot()  # nothing yet
    result = [monitor.check(day(g, 60, s)) for s in (0, 2, 2)][-1]
    place = result.report(tmp_path / "day.html")
    page = place.read_text(encoding="utf-8")
    assert str(result) in page and "<td>b</td>" in page and "http" not in page
    with pytest.raises(InputError, match="must end in .html"):
        result.report(tmp_path / "day.txt")
    figure, axes = monitor.plot()
    assert len(axes[0].lines[0].get_xdata()) == 3
    assert axes[1].images[0].get_array().shape == (len(reference.columns), 3)


def test_state_stays_small(tmp_path, monkeypatch):
    """A bag that is full forgets; ten thousand days are a few megabytes.
    Mutation: rows join without a limit."""
    monkeypatch.setattr("kpw_nb.watch.monitor.MOST_BAG", 500)
    g = np.random.default_rng(10)
    monitor = KPWMonitor(rng=0).fit(g.normal(size=(700, 2)))
    for _ in range(12):
        monitor.check(g.normal(size=(100, 2)))
    bag = monitor._slices[None].bag
    assert len(bag) == 500
    table = monitor._trained.encoder(bag.table)
    assert (monitor._trained.eyes(table) == bag.features.rows).all()
    monitor._history *= 800
    monitor._map *= 800
    monitor.save(tmp_path / "state.kpw")
    assert (tmp_path / "state.kpw").stat().st_size < 5e6


def test_an_interrupted_check_changes_nothing(reference, monkeypatch):
    "Mutation: bets or bag change before all of the day is known"
    g, monitor = np.random.default_rng(11), fitted(reference)
    batch = day(g, 40)

    def stopped(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as m:
        m.setattr("kpw_nb.watch.monitor.column_table", stopped)
        with pytest.raises(KeyboardInterrupt):
            monitor.check(batch)
    assert len(monitor.history) == 0 and monitor._slices[None].bets.t == 0
    assert monitor.check(batch).pvalue == fitted(reference).check(batch).pvalue


def test_a_kill_while_checking_leaves_the_old_state_whole(reference, tmp_path):
    path = tmp_path / "state.kpw"
    fitted(reference).save(path)
    before = path.read_bytes()
    script = f"""
import numpy as np, pandas as pd
from kpw_nb import KPWMonitor
monitor, g = KPWMonitor.load({str(path)!r}), np.random.default_rng(0)
frame = pd.DataFrame(g.normal(size=(9, 3)), columns=list("abc")).assign(k="x")
print("ready", flush=True)
while True:
    monitor.check(frame)
    monitor.save({str(path)!r})
"""
    run = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    )
    assert run.stdout.readline() == "ready\n"
    end = time.monotonic() + 60
    while path.read_bytes() == before and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.3)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    monitor = KPWMonitor.load(path)  # whole
    assert len(monitor.history) >= 1
    monitor.check(day(np.random.default_rng(1), 20))


def test_gaps_that_the_reference_never_had_are_named(reference):
    monitor = fitted(reference, missing="indicator")
    batch = day(np.random.default_rng(12), 30)
    with pytest.raises(InputError, match="column 'b' .* missing values .100 %"):
        monitor.check(batch.assign(b=np.nan))
    assert len(monitor.history) == 0


def test_odd_sizes_are_no_fault(reference):
    g, monitor = np.random.default_rng(13), fitted(reference)
    for size in (1, 2, 4000):
        assert 0 < monitor.check(day(g, size)).pvalue <= 1
