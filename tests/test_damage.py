"""Files that are damaged or hostile: refused with the field or the reason, quickly, and
the file stays as it was. More than thirty kinds, for detectors, monitors, studies."""

import gzip
import json
import os
import pickle
from typing import NamedTuple

import numpy as np
import pytest

from kpw_nb import KPWDetector, KPWMonitor, KPWTest, power_study
from kpw_nb.ground import store
from kpw_nb.ground.errors import InputError

G = np.random.default_rng(0)
REFERENCE = G.normal(size=(80, 2))


def draw(n, rng):
    return rng.normal(size=(n, 2)), rng.normal(size=(n, 2))


def study(path):
    options = dict(n=12, n_trials=2, n_resamples=19, rng=0, key="1")
    return power_study({"t": KPWTest("split")}, draw, store=path, **options)


SAVED = {
    "detector": (
        lambda path: KPWDetector(5, n_resamples=19, rng=0).fit(REFERENCE).save(path),
        KPWDetector.load,
    ),
    "monitor": (
        lambda path: KPWMonitor(rng=0).fit(REFERENCE).save(path),
        KPWMonitor.load,
    ),
    "study": (study, study),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    "The bytes of a whole file of each kind"
    folder, found = tmp_path_factory.mktemp("good"), {}
    for kind, (save, load) in SAVED.items():
        save(folder / kind)
        load(folder / kind)
        found[kind] = (folder / kind).read_bytes()
    return found


class Parts(NamedTuple):
    "A file, taken apart"

    kind: str
    version: int
    line: bytes  # the JSON of the first record
    rest: bytes


def parts(data):
    header, body = data.split(b" ", 4)[:-1], data.split(b" ", 4)[-1]
    line, _, rest = body.partition(b"\n")
    return Parts(header[1].decode(), int(header[2]), line, rest)


def sealed(kind, version, line, rest):
    "A record whose checksum is right, whatever it holds"
    body = line + b"\n" + rest
    if kind == "study":  # a record a line
        first = store._header(kind, version, line + b"\n") + line + b"\n"
        return first + rest
    return store._header(kind, version, body) + body


def field(change):
    "Damage that changes the JSON of the first record, its checksum made right"

    def damage(data):
        found = json.loads(parts(data).line)
        line = json.dumps(change(found) or found).encode()
        return sealed(*parts(data)._replace(line=line))

    return damage


def first_array(found):
    "The description of the first array of a record"
    if isinstance(found, dict):
        if "$array" in found:
            return found["$array"]
        found = list(found.values())
    if isinstance(found, list):
        return next(filter(None, map(first_array, found)), None)
    return None


def array(**change):
    def damage(found):
        first_array(found).update(change)

    return field(damage)


def flip(where):
    "One bit of the byte at this share of the file"

    def damage(data):
        data = bytearray(data)
        data[int(where * (len(data) - 1))] ^= 4
        return bytes(data)

    return damage


def versions(step):
    def damage(data):
        apart = parts(data)
        return sealed(*apart._replace(version=apart.version + step))

    return damage


def nested(data):
    return sealed(*parts(data)._replace(line=b"[" * 100_000))


def put(name, value):
    def change(found):
        found[name] = value

    return field(change)


def pvalues(value):
    return put("pvalues", value)


EVERY = {
    "half of it": (lambda data: data[: len(data) // 2], "damaged|not a file"),
    "a byte short, from the front": (lambda data: data[1:], "not a file of kind"),
    "empty line": (lambda data: b"\n" + data, "not a file of kind"),
    "flipped header": (flip(0.0), "not a file of kind"),
    "flipped middle": (flip(0.5), "damaged|not a file|version"),
    "flipped end": (flip(0.97), "damaged"),
    "future version": (versions(+1), "has version"),
    "old version": (versions(-1), "has version"),
    "foreign text": (lambda data: b"a,b\n1,2\n", "not a file of kind"),
    "pickle": (lambda data: pickle.dumps({"a": 1}) + b"\n", "not a file of kind"),
    "packed": (lambda data: gzip.compress(data) + b"\n", "not a file of kind"),
    "unknown field": (put("unknown", 1), "unknown field 'unknown'"),
    "a list": (field(lambda found: [1, 2]), "must hold fields"),
    "deeply nested": (nested, "damaged"),
    "not JSON": (lambda data: sealed(*parts(data)[:2], b"{", b""), "damaged"),
}
ARRAYS = {
    "array before the file": (array(at=-8), "no array of shape"),
    "array beyond the file": (array(at=10**9), "no array of shape"),
    "array of 8 exabytes": (array(shape=[10**18]), "no array of shape"),
    "array of objects": (array(dtype="|O"), "no array|damaged"),
    "array of texts": (
        array(dtype="<U1", shape=[1]),
        "must be|has shape|does not have",
    ),
    "array of a size that is text": (array(shape=["9"]), "no array|damaged"),
}
DETECTOR = {
    "t is NaN": (put("t", float("nan")), "it.t must be"),
    "t is -1": (put("t", -1), "it.t must be at least 0"),
    "t is text": (put("t", "5"), "it.t must be an integer"),
    "t is null": (put("t", None), "it.t must be an integer"),
    "t is true": (put("t", True), "it.t must be an integer"),
    "t is huge": (put("time", 10**400), "it.time must be"),
}
STUDY = {
    f"p is {value}": (pvalues(value), "it.pvalues")
    for value in ([float("nan")], [-1], [5], [], None, 0.5, ["0.5"], [True], [[0.5]])
}
STUDY["trial is -1"] = put("trial", -1), "it.trial must be at least 0"
STUDY["no seconds"] = field(lambda found: found.pop("seconds") and found), "it lacks"

CASES = [
    *[("detector", name, *EVERY[name]) for name in EVERY],
    *[("monitor", name, *EVERY[name]) for name in EVERY],
    # a study whose last line was cut goes on: see below
    *[("study", name, *EVERY[name]) for name in EVERY if name != "half of it"],
    *[
        (kind, name, *ARRAYS[name])
        for kind in ("detector", "monitor")
        for name in ARRAYS
    ],
    *[("detector", name, *DETECTOR[name]) for name in DETECTOR],
    *[("study", name, *STUDY[name]) for name in STUDY],
]


@pytest.mark.parametrize(
    "kind, damage, problem",
    [(kind, damage, problem) for kind, _, damage, problem in CASES],
    ids=[f"{kind}-{name}" for kind, name, _, _ in CASES],
)
def test_a_damaged_file_is_refused_by_field(good, kind, damage, problem, tmp_path):
    path, load = tmp_path / "file", SAVED[kind][1]
    damaged = damage(good[kind])
    path.write_bytes(damaged)
    with pytest.raises(InputError, match=problem):
        load(path)
    assert path.read_bytes() == damaged
    assert os.listdir(tmp_path) == ["file"]


def test_a_study_whose_last_line_was_cut_goes_on(good, tmp_path):
    "A machine that lost power: the whole lines count, the rest is done again"
    path = tmp_path / "study"
    path.write_bytes(good["study"][:-9])
    study(path)
    assert len(path.read_bytes().splitlines()) == len(good["study"].splitlines())


def pipe(path):
    os.mkfifo(path)


def folder(path):
    path.mkdir()


def full(path):
    path.symlink_to("/dev/full")


def sparse(path):
    with open(path, "wb") as f:
        f.truncate(store.LARGEST + 1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name here")
@pytest.mark.parametrize("kind", SAVED)
@pytest.mark.parametrize(
    "make, problem",
    [
        (pipe, "is a device or a pipe, not a file"),
        (full, "is a device or a pipe, not a file"),
        (folder, "is a folder"),
        (sparse, "has more than 1073741824 bytes"),
    ],
)
def test_no_file_at_all(kind, make, problem, tmp_path):
    make(tmp_path / "file")
    save, load = SAVED[kind]
    with pytest.raises(InputError, match=problem):
        load(tmp_path / "file")
    if make is not sparse:
        with pytest.raises(InputError, match=problem):
            save(tmp_path / "file")


@pytest.mark.parametrize("kind", ["detector", "monitor"])
def test_a_save_that_fails_leaves_the_old_file(good, kind, tmp_path, monkeypatch):
    "A full disk, noticed when the bytes are flushed"
    path = tmp_path / "file"
    path.write_bytes(good[kind])

    def no_space(*_):
        raise OSError(28, "No space left on device")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, no_space)
            with pytest.raises(OSError, match="No space left"):
                SAVED[kind][0](path)
        assert path.read_bytes() == good[kind] and os.listdir(tmp_path) == ["file"]
