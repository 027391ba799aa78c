"""Dialogues at the command line: a wrong call, its advice, the call that follows it.

Each option that the second call adds stands, word for word, in the advice of the first,
and the second call works. A mutation that breaks them: an option in a remedy that the
command does not have, or a remedy that does not meet the problem."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest
from tables import run


def numbers(seed, rows=40, **more):
    g = np.random.default_rng(seed)
    frame = pd.DataFrame(dict(a=g.normal(size=rows), b=g.choice(list("uvw"), rows)))
    return frame.assign(**more)


def gaps(frame, column="a", rows=(2, 7)):
    out = frame.copy()
    out[column] = out[column].astype(object)
    out.loc[list(rows), column] = None
    return out


def write(folder):
    "The tables of all dialogues"
    x, y = numbers(0), numbers(1)
    g = np.random.default_rng(2)
    tables = dict(
        x=x,
        y=y,
        target=numbers(3, target=1.5),
        more=numbers(4, note=g.normal(size=40), extra=g.normal(size=40)),
        gap=gaps(x),
        gapb=gaps(x, "b"),
        named=numbers(5, key=[f"k{i}q" for i in range(40)]),
        named2=numbers(6, key=[f"m{i}q" for i in range(40)]),
        counted=numbers(5, row=np.arange(40)),
        counted2=numbers(6, row=np.arange(40, 80)),
        slip=gaps(x).fillna({"a": "none"}),
        texty=numbers(7, when=[f"{i + 1}.11.2007" for i in range(40)]),
        texty2=numbers(8, when=[f"{i + 1}.12.2007" for i in range(40)]),
        all=gaps(numbers(9, key=[f"k{i}q" for i in range(40)], row=np.arange(40))),
        all2=numbers(8, key=[f"n{i}q" for i in range(40)], row=np.arange(40, 80)),
        early=numbers(9, day=pd.date_range("2024-01-01", periods=40)),
        late=numbers(8, day=pd.date_range("2024-03-01", periods=40)),
        many=numbers(3, 400, town=[f"no{i % 90}" for i in range(400)]),
        many2=numbers(4, 400, town=[f"no{i % 80}" for i in range(400)]),
        both=numbers(6, g=["one", "two"] * 20),
        nolabel=gaps(numbers(6, g=["one", "two"] * 20), "g", (3,)),
        three=numbers(6, 42, g=["one", "two", "six"] * 14),
        site=numbers(6, site=list("pqrs") * 10),
        site2=numbers(7, site=list("pqrt") * 10),
        nosite=gaps(numbers(7, site=list("pqrs") * 10), "site", (4,)),
        donor=numbers(6, donor=list("pqrst") * 8),
        donor2=numbers(7, donor=list("pqrst") * 8),
        donor3=numbers(7, donor=list("vwxyz") * 8),
        few=numbers(6, donor=list("pq") * 20),
        few2=numbers(7, donor=list("vw") * 20),
        groups=numbers(6, 90, day=[1, 2, 3] * 30),
        plain=pd.DataFrame(dict(u=g.normal(size=300), w=g.normal(size=300))),
        shifted=pd.DataFrame(dict(u=g.normal(size=300), w=g.normal(size=300))) + 1,
    )
    plain = tables["plain"]
    stamped = plain.assign(t=pd.date_range("2024-01-01", periods=300, freq="min"))
    tables |= dict(stamped=stamped, ordered=plain.assign(t=np.arange(300)))
    tables |= dict(noted=plain.assign(note="ok"), blank=plain.assign(v=1.0))
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    for side, table in (("before", x), ("after", y)):
        (folder / side).mkdir()
        table[:20].to_csv(folder / side / "1.csv", index=False)
        table[20:].to_csv(folder / side / "2.csv", index=False)
    x.to_csv(folder / "index.csv")
    y.to_csv(folder / "index2.csv")
    plain.to_csv(folder / "bare.csv", index=False, header=False)
    (folder / "years.csv").write_text("2001,2002\n2003,2004\n2002,2001\n" * 5)
    np.savez(folder / "both.npz", X=plain[:90], Y=plain[90:])
    np.savez(folder / "other.npz", A=plain[:90], B=plain[90:])
    (folder / "empty").mkdir()


FEW = "--n-resamples 19"
CHECK = "--n-resamples 39 --window 20"
# what is wrong: the wrong call, and the call that follows its advice
DIALOGUES = {
    "column in one file": (
        "test x.csv target.csv",
        "test x.csv target.csv --drop target",
    ),
    "columns in one file": (
        "test x.csv more.csv",
        "test x.csv more.csv --drop note,extra",
    ),
    "columns in one file, chosen": (
        "test x.csv more.csv",
        "test x.csv more.csv --columns a,b",
    ),
    "gaps": ("test gap.csv y.csv", "test gap.csv y.csv --missing indicator"),
    "gaps, dropped": ("test gap.csv y.csv", "test gap.csv y.csv --missing drop"),
    "gaps in y": ("test x.csv gap.csv", "test x.csv gap.csv --missing drop"),
    "gaps in texts": ("test gapb.csv y.csv", "test gapb.csv y.csv --missing indicator"),
    "gaps, column left out": ("test gap.csv y.csv", "test gap.csv y.csv --drop a"),
    "identifier": ("test named.csv named2.csv", "test named.csv named2.csv --drop key"),
    "identifier as names": (
        "test named.csv named2.csv",
        "test named.csv named2.csv --id key",
    ),
    "counter": (
        "test counted.csv counted2.csv",
        "test counted.csv counted2.csv --drop row",
    ),
    "counter as names": (
        "test counted.csv counted2.csv",
        "test counted.csv counted2.csv --id row",
    ),
    "text among numbers": ("test slip.csv y.csv", "test slip.csv y.csv --drop a"),
    "dates as texts": (
        "test texty.csv texty2.csv",
        "test texty.csv texty2.csv --drop when",
    ),
    "several at once": (
        "test all.csv all2.csv",
        "test all.csv all2.csv --drop row --drop key --missing indicator",
    ),
    "no name": (
        "test index.csv index2.csv",
        "test index.csv index2.csv --drop unnamed1",
    ),
    "no name, as names": (
        "test index.csv index2.csv",
        "test index.csv index2.csv --id unnamed1",
    ),
    "header unclear": (
        "test years.csv years.csv",
        "test years.csv years.csv --header yes",
    ),
    "no header": ("test years.csv years.csv", "test years.csv years.csv --header no"),
    "one file": ("test both.csv", "test both.csv --label g"),
    "label with a gap": (
        "test nolabel.csv --label g",
        "test nolabel.csv --label g --missing drop",
    ),
    "label for two files": ("test x.csv y.csv --label g", "test x.csv y.csv"),
    "strata with a gap": (
        "test site.csv nosite.csv --strata site",
        "test site.csv nosite.csv --strata site --missing drop",
    ),
    "cluster in both": (
        "test donor.csv donor2.csv --clusters donor",
        "test donor.csv donor2.csv --clusters donor --paired",
    ),
    "cluster in one": (
        "test donor.csv donor3.csv --clusters donor --paired",
        "test donor.csv donor3.csv --clusters donor",
    ),
    "too few relabellings": (
        "test x.csv y.csv --n-resamples 99 --alpha 0.001",
        "test x.csv y.csv --n-resamples auto --alpha 0.001",
    ),
    "names alike": (
        "test x.csv y.csv --names one,one",
        "test x.csv y.csv --names before,after",
    ),
    "one name": (
        "test x.csv y.csv --names one",
        "test x.csv y.csv --names before,after",
    ),
    "report of a wrong kind": (
        "test x.csv y.csv --report r.pdf",
        "test x.csv y.csv --report r.html",
    ),
    "shortened option": ("test x.csv y.csv --n-res 19", "test x.csv y.csv --help"),
    "margin": ("test x.csv y.csv --margin 5", "test x.csv y.csv --margin 0.05"),
    "alpha": ("test x.csv y.csv --alpha 5", "test x.csv y.csv --alpha 0.05"),
    "blocks and clusters": (
        "test donor.csv donor3.csv --clusters donor --blocks 4",
        "test donor.csv donor3.csv --clusters donor",
    ),
    "no group column": ("groups groups.csv --by week", "groups groups.csv --by day"),
    "no such group": (
        "groups groups.csv --by day --control 9",
        "groups groups.csv --by day --control 1",
    ),
    "groups without by": ("groups groups.csv", "groups groups.csv --by day"),
    "no margin": (
        "equivalence plain.csv shifted.csv",
        "equivalence plain.csv shifted.csv --margin 0.1",
    ),
    "equivalence, column in one": (
        "equivalence plain.csv blank.csv --margin 0.2",
        "equivalence plain.csv blank.csv --margin 0.2 --drop v",
    ),
    "plan, column in one": (
        "plan x.csv target.csv --max-seconds 1",
        "plan x.csv target.csv --max-seconds 1 --drop target",
    ),
    "changes of a text": ("changes noted.csv", "changes noted.csv --drop note"),
    "changes, no time": ("changes plain.csv --time t", "changes stamped.csv --time t"),
    "detect a text": (
        f"detect noted.csv {CHECK}",
        f"detect noted.csv {CHECK} --drop note",
    ),
    "detect, column in one": (
        f"detect blank.csv --reference plain.csv {CHECK}",
        f"detect blank.csv --reference plain.csv {CHECK} --drop v",
    ),
    "detect, time stamps": (
        f"detect stamped.csv {CHECK} --reference-rows 500",
        f"detect stamped.csv {CHECK} --time t --reference-rows 100",
    ),
    "detect, too few rows": (
        "detect x.csv --drop b --n-resamples 39",
        "detect x.csv --drop b --n-resamples 39 --window 10",
    ),
    "monitor of nothing": (
        "monitor check new.kpw plain.csv",
        "monitor init plain.csv new.kpw",
    ),
    "monitor again": (
        "monitor init plain.csv new.kpw",
        "monitor init plain.csv new.kpw --replace",
    ),
    "no experiment": ("reproduce figure7", "reproduce --list"),
    "arrays of other names": ("test other.npz", "test both.npz"),
    "npz with y": ("test both.npz x.csv", "test both.npz"),
    "no such column": (
        "test x.csv y.csv --columns a,q",
        "test x.csv y.csv --columns a,b",
    ),
    "nothing left": ("test x.csv y.csv --drop a,b", "test x.csv y.csv --drop a"),
    "empty folder": ("test empty after", "test before after"),
    "no match": ("test before/*.tsv after", "test before/*.csv after"),
    "label and id": ("test both.csv --label g --id g", "test both.csv --label g"),
    "drop nowhere": (
        "test x.csv target.csv --drop note",
        "test x.csv target.csv --drop target",
    ),
    "three labels": ("test three.csv --label g", "groups three.csv --by g"),
    "few clusters": (
        "test few.csv few2.csv --clusters donor --fail-on-difference",
        "test few.csv few2.csv --clusters donor --fail-on-difference --alpha 0.5",
    ),
    "stdin twice": ("test - -", "test x.csv y.csv"),
    "workers": ("test x.csv y.csv --workers 0", "test x.csv y.csv --workers 1"),
}
# advice in words of its own, or a reason: no option is named, but what to do is said
FREE = {
    "one name", "names alike", "report of a wrong kind", "shortened option", "alpha",
    "margin", "no such group", "no such column", "gaps, column left out", "workers",
    "columns in one file", "columns in one file, chosen", "groups without by",
    "no margin", "few clusters", "column in one file", "equivalence, column in one",
    "plan, column in one", "detect, column in one", "drop nowhere", "one file",
    "detect, time stamps", "detect, too few rows", "no group column", "no experiment",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    "One folder for all, as dialogues have a history"
    place = tmp_path_factory.mktemp("dialogues")
    write(place)
    return place


def test_there_are_sixty_dialogues():
    assert len(DIALOGUES) >= 60


def quick(words):
    "The call with few relabellings, unless it says how many"
    command = words.split()[0]
    few = {"test": FEW, "groups": FEW, "changes": "--n-resamples 19"}.get(command, "")
    return words if "--n-resamples" in words or "--alpha" in words else f"{words} {few}"


@pytest.mark.parametrize("name", DIALOGUES)
def test_advice_can_be_followed(folder, monkeypatch, capsys, name):
    monkeypatch.chdir(folder)
    wrong, right = DIALOGUES[name]
    if name == "monitor again":
        run(capsys, *"monitor init plain.csv new.kpw --replace".split())
    code, out, err = run(capsys, *shlex.split(quick(wrong)))
    assert (code, out) == (2, ""), out + err
    assert err.startswith("kpw-nb: ") and err.count("\n") == 1
    assert "; " in err or " is " in err  # the remedy
    added = re.findall(r"--[a-z-]+(?: [^-\s]\S*)?", right.replace(wrong, ""))
    if right.startswith(wrong) and name not in FREE:
        for option in added:
            assert option in err, f"{option!r} is not in {err}"
    elif right.startswith(wrong):  # the option, if not its value
        assert any(option.split()[0] in err for option in added), err
    code, out, err = run(capsys, *shlex.split(quick(right)))
    wanted = int("--fail-on-difference" in right)  # four clusters "differ" at 0.5
    assert code == wanted and out, err


# Calls that were dead ends, and now work at once --------------------------------------

AT_ONCE = {
    "strata of one sample": ("test site.csv site2.csv --strata site", "Set aside"),
    "very many levels": ("test many.csv many2.csv", ""),
    "months": ("test early.csv late.csv", "only say which came first"),
    "column in one file": ("test x.csv target.csv --drop target", ""),
    "time stamps": (f"detect stamped.csv {CHECK} --time t", ""),
    "folder": ("test before after", ""),
}


@pytest.mark.parametrize("name", AT_ONCE)
def test_works_at_once(folder, monkeypatch, capsys, name):
    monkeypatch.chdir(folder)
    words, says = AT_ONCE[name]
    code, out, err = run(capsys, *shlex.split(quick(words)))
    assert (code, bool(out)) == (0, True), err
    assert says in err
