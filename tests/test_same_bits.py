"""Sixty calls whose answers are on record: a refactoring must not change them.

`python tests/test_same_bits.py record` writes the record anew. Only front names and
fields of results are used, so that modules may move. Numbers are compared to 1e-5
(another processor rounds otherwise), p-values and counts exactly; KPW_EXACT=1 asks for
every bit.
"""

import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kpw_nb as k

RECORD = Path(__file__).with_name("same_bits.json")


def samples(n, m, D, seed=0, shift=0.4):
    g = np.random.default_rng([seed, n, m, D])
    X, Y = g.normal(size=(n, D)), g.normal(size=(m, D))
    Y[:, 0] += shift
    return X, Y


def table(n, seed, price=1.0, gaps=False):
    g = np.random.default_rng([seed, n])
    frame = pd.DataFrame(
        {
            "price": price * np.exp(g.normal(size=n)),
            "age": g.integers(18, 80, n),
            "colour": g.choice(["red", "green", "blue"], n),
            "member": g.random(n) < 0.3,
            "since": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(g.integers(0, 900, n), "D"),
            "donor": [f"d{seed}{i % 6}" for i in range(n)],
            "batch": g.choice(["one", "two", "three"], n),
        },
        index=[f"r{seed}-{i}" for i in range(n)],
    )
    if gaps:
        frame.loc[g.random(n) < 0.1, "price"] = np.nan
    return frame


def series(T, D, seed=0, changes=(0.5,), shift=1.0, memory=0.0):
    g = np.random.default_rng([seed, T, D])
    Z = g.normal(size=(T, D))
    for t in range(1, T):
        Z[t] += memory * Z[t - 1]
    for c in changes:
        Z[int(c * T) :] += shift
    return Z


def plain(table, *names):
    return table[list(names)]


PLAIN = ("price", "age", "colour", "member", "since")


def answer_of(r):
    return dict(
        statistic=r.statistic,
        pvalue=r.pvalue,
        interval=list(r.interval),
        n=r.n_resamples,
        null=float(np.sum(r.null_distribution * np.arange(1, 1 + r.n_resamples))),
        members=[[c.value, c.pvalue] for c in r.candidates],
        smallest=r.smallest_pvalue,
        seed=str(r.seed),
    )


def where_of(r):
    w = r.where()
    return answer_of(r) | dict(
        columns=[str(c) for c in w.columns.iloc[:, 0]],
        pvalues=[float(p) for p in w.columns["pvalue"]]
        if "pvalue" in w.columns
        else [],
        rows=[str(c) for c in w.rows["row"][:5]],
    )


def effect_of(r):
    e = r.effect()
    columns = [str(c) for c in e.columns.column]
    distance = float(np.max(e.distance))
    return dict(
        auc=e.auc, interval=list(e.interval), distance=distance, columns=columns
    )


def groups_of(r):
    f = r.table if hasattr(r, "table") else r.pairs
    numbers = f.select_dtypes("number")
    return dict(
        columns=[str(c) for c in f.columns], values=numbers.to_numpy(float).tolist()
    )


def changes_of(r):
    return dict(
        changes=[int(t) for t in r.changes],
        pvalues=[float(p) for p in r.pvalues],
        sets=[[int(s[0]), int(s[-1]), len(s)] for s in r.confidence_sets],
        pvalue=r.pvalue,
        tests=[[int(t.start), int(t.stop), float(t.pvalue)] for t in r.tests],
        block=int(r.block),
    )


def alarms_of(r):
    return dict(
        statistic=[float(v) for v in np.asarray(r.statistic)[::7]],
        alarm=[int(v) for v in np.flatnonzero(r.alarm)[:20]],
    )


def distance_of(r):
    return dict(value=r.value, upper=r.upper_bound, eta=r.eta, n_iter=r.n_iter)


def equivalence_of(r):
    return dict(pvalue=r.pvalue, estimate=r.estimate)


CALLS = {}


def add(name, view, run):
    CALLS[name] = view, run


# the default test at sizes and shapes
for n, m, D in (
    (30, 30, 4),
    (15, 25, 2),
    (60, 45, 1),
    (50, 50, 3),
    (80, 80, 20),
    (20, 20, 200),
    (300, 200, 5),
):
    add(
        f"default {n}+{m}x{D}",
        answer_of,
        lambda a=(n, m, D): k.kpw_test(*samples(*a), rng=1),
    )
add("default few", answer_of, lambda: k.kpw_test(*samples(4, 4, 2), rng=1))
add("default null", where_of, lambda: k.kpw_test(*samples(40, 40, 5, shift=0), rng=2))
add("default where", where_of, lambda: k.kpw_test(*samples(60, 60, 6, shift=1), rng=3))
add(
    "default integers",
    answer_of,
    lambda: k.kpw_test(*[np.round(s) for s in samples(40, 50, 3)], rng=3),
)
add("scale none", answer_of, lambda: k.kpw_test(*samples(40, 40, 4), scale=None, rng=4))
add(
    "scale rank",
    answer_of,
    lambda: k.kpw_test(*samples(40, 40, 4), scale="rank", rng=4),
)
add("scale std", where_of, lambda: k.kpw_test(*samples(40, 40, 4), scale="std", rng=4))
add("workers", answer_of, lambda: k.kpw_test(*samples(40, 40, 4), rng=5, workers=2))
for name in "paper", "location", "density", "columns", "spacing", "neighbours":
    add(
        f"candidates {name}",
        answer_of,
        lambda a=name: k.kpw_test(
            *samples(40, 30, 5), candidates=a, rng=6, n_resamples=49
        ),
    )
add(
    "candidates KPW",
    answer_of,
    lambda: k.kpw_test(*samples(40, 30, 5), candidates="KPW", rng=6),
)
add(
    "witness",
    where_of,
    lambda: k.kpw_test(*samples(40, 30, 5), candidates=k.WitnessProjector(), rng=6),
)
add(
    "mean",
    answer_of,
    lambda: k.kpw_test(
        *samples(40, 30, 5),
        candidates=[k.MeanProjector(), k.WitnessProjector()],
        rng=6,
        n_resamples=49,
    ),
)
for how in "max", "minp", "softmax":
    add(
        f"combine {how}",
        answer_of,
        lambda a=how: k.kpw_test(*samples(40, 30, 5), combine=a, rng=6, n_resamples=49),
    )
add(
    "split",
    where_of,
    lambda: k.kpw_test(*samples(60, 70, 4, shift=1), method="split", rng=7),
)
add(
    "split wasserstein",
    answer_of,
    lambda: k.kpw_test(
        *samples(60, 70, 4), method="split", candidates="paper", rng=7, n_resamples=49
    ),
)
add(
    "split fitted",
    answer_of,
    lambda: (
        k.KPWTest("split")
        .fit(*samples(50, 50, 3, 1), rng=0)
        .test(*samples(40, 40, 3, 2), rng=7)
    ),
)
add(
    "cross-validation",
    answer_of,
    lambda: k.kpw_test(*samples(40, 40, 3), candidates="cv", rng=7, n_resamples=19),
)
add(
    "stream",
    where_of,
    lambda: k.kpw_test(*samples(3000, 2500, 4, shift=0.2), method="stream", rng=8),
)
add(
    "stream groups",
    answer_of,
    lambda: k.KPWTest("stream", kept=500).test(
        *samples(3000, 2500, 4, shift=0.2), rng=8
    ),
)
# tables
add(
    "table",
    where_of,
    lambda: k.kpw_test(
        plain(table(80, 1), *PLAIN), plain(table(70, 2, 1.8), *PLAIN), rng=9
    ),
)
add(
    "table gaps",
    where_of,
    lambda: k.kpw_test(
        plain(table(80, 1, gaps=True), *PLAIN),
        plain(table(70, 2, 1.8, True), *PLAIN),
        missing="indicator",
        rng=9,
    ),
)
add(
    "table drop",
    where_of,
    lambda: k.kpw_test(
        plain(table(80, 1, gaps=True), *PLAIN),
        plain(table(70, 2, 1.8, True), *PLAIN),
        missing="drop",
        rng=9,
    ),
)
# designs
add(
    "clusters",
    where_of,
    lambda: k.kpw_test(
        table(80, 1).drop(columns="batch"),
        table(70, 2, 2).drop(columns="batch"),
        clusters="donor",
        rng=10,
    ),
)
add(
    "clusters rows",
    answer_of,
    lambda: k.kpw_test(
        table(80, 1).drop(columns="batch"),
        table(70, 2, 2).drop(columns="batch"),
        clusters="donor",
        weigh="rows",
        rng=10,
    ),
)
add(
    "strata",
    where_of,
    lambda: k.kpw_test(
        table(80, 1).drop(columns="donor"),
        table(70, 2, 2).drop(columns="donor"),
        strata="batch",
        rng=10,
    ),
)
add("paired", where_of, lambda: k.kpw_test(*samples(40, 40, 3), paired=True, rng=10))
add(
    "paired witness",
    answer_of,
    lambda: k.kpw_test(
        *samples(40, 40, 3), paired=True, candidates=k.WitnessProjector(), rng=10
    ),
)
donors = np.repeat(np.arange(10), 4)
add(
    "paired clusters",
    answer_of,
    lambda: k.kpw_test(
        *samples(40, 40, 3), clusters=(donors, donors), paired=True, rng=10
    ),
)
add(
    "clusters in strata",
    answer_of,
    lambda: k.kpw_test(
        *samples(40, 40, 3),
        clusters=(donors, donors + 10),
        strata=(donors % 2, donors % 2),
        rng=10,
    ),
)
# effect
add("effect", effect_of, lambda: k.kpw_test(*samples(60, 60, 4, shift=1), rng=11))
add(
    "effect table",
    effect_of,
    lambda: k.kpw_test(
        plain(table(80, 1), *PLAIN), plain(table(70, 2, 1.8), *PLAIN), rng=9
    ),
)
add(
    "effect clusters",
    effect_of,
    lambda: k.kpw_test(
        *samples(40, 40, 3, shift=1), clusters=(donors, donors + 10), rng=11
    ),
)


# groups
def grouped(n, seed=0):
    frame = plain(table(n, seed), *PLAIN)
    frame["day"] = [f"day {i % 4}" for i in range(n)]
    frame.loc[frame["day"] == "day 2", "price"] *= 2
    return frame


add(
    "groups",
    groups_of,
    lambda: k.kpw_groups(grouped(160), "day", n_resamples=199, rng=12),
)
add(
    "groups control",
    groups_of,
    lambda: k.kpw_groups(grouped(160), "day", control="day 0", n_resamples=199, rng=12),
)
add(
    "groups array",
    groups_of,
    lambda: k.kpw_groups(
        np.vstack(samples(60, 60, 5)), np.repeat([0, 1, 2], 40), n_resamples=99, rng=12
    ),
)
# change points, detector
add(
    "changes",
    changes_of,
    lambda: k.kpw_changepoint(series(200, 2), rng=13, n_resamples=99),
)
add(
    "changes two",
    changes_of,
    lambda: k.kpw_changepoint(
        series(240, 1, changes=(0.3, 0.7), shift=2), rng=13, n_resamples=99
    ),
)
add(
    "changes memory",
    changes_of,
    lambda: k.kpw_changepoint(
        series(200, 2, memory=0.6, shift=2), rng=13, n_resamples=99
    ),
)
add(
    "changes block",
    changes_of,
    lambda: k.kpw_changepoint(series(150, 3), block=1, rng=13, n_resamples=99),
)
add(
    "detector",
    alarms_of,
    lambda: (
        k.KPWDetector(20, n_resamples=49, rng=0)
        .fit(series(200, 3, changes=()))
        .detect(series(120, 3, 1))
    ),
)
add(
    "detector split",
    alarms_of,
    lambda: (
        k.KPWDetector(20, method="pretrained", n_resamples=49, rng=0)
        .fit(series(200, 3, changes=()))
        .detect(series(120, 3, 1))
    ),
)
add(
    "detector fwer",
    alarms_of,
    lambda: (
        k.KPWDetector(20, calibration="fwer", horizon=150, n_resamples=49, rng=0)
        .fit(series(200, 2, changes=(), memory=0.5))
        .detect(series(120, 2, 1))
    ),
)
add(
    "changes none",
    changes_of,
    lambda: k.kpw_changepoint(series(150, 2, shift=0), rng=13, n_resamples=99),
)
# the distance
add("distance", distance_of, lambda: k.kpw_distance(*samples(40, 30, 4), rng=0))
add(
    "distance exact",
    distance_of,
    lambda: k.kpw_distance(
        *samples(40, 30, 4), d=1, solver="exact", certificate=True, rng=0
    ),
)
add(
    "equivalence",
    equivalence_of,
    lambda: k.kpw_equivalence(*samples(60, 60, 3, shift=0.1), 0.5, rng=0),
)


def settle(value):
    "Numbers as hexadecimal texts, so that JSON keeps every bit"
    if isinstance(value, dict):
        return {name: settle(v) for name, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [settle(v) for v in value]
    return float(value).hex() if isinstance(value, (float, np.floating)) else value


def agree(found, recorded):
    if isinstance(recorded, dict):
        return set(found) == set(recorded) and all(
            agree(found[a], recorded[a]) for a in recorded
        )
    if isinstance(recorded, list):
        return len(found) == len(recorded) and all(map(agree, found, recorded))
    if found == recorded or not isinstance(recorded, str) or "0x" not in recorded:
        return found == recorded
    if os.environ.get("KPW_EXACT"):
        return False
    a, b = float.fromhex(found), float.fromhex(recorded)
    # a search on the line sorts in single precision: near ties may change places
    return abs(a - b) <= 1e-5 * max(abs(b), 1e-3)


def outcome(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        view, run = CALLS[name]
        return json.loads(json.dumps(settle(view(run()))))


QUICK = [pytest.param(name, marks=pytest.mark.quick) for name in list(CALLS)[:4]]


@pytest.mark.parametrize("name", QUICK + list(CALLS)[4:])
def test_same_answer_as_on_record(name):
    assert agree(outcome(name), json.loads(RECORD.read_text())[name])


if __name__ == "__main__" and sys.argv[1:] == ["record"]:
    record = {name: outcome(name) for name in CALLS}
    lines = ",\n".join(f" {json.dumps(a)}: {json.dumps(b)}" for a, b in record.items())
    RECORD.write_text("{\n" + lines + "\n}\n")
    print(len(record), "calls on record")
