"What is saved is loaded, bit by bit; whatever else lies in a file is refused"

import errno
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kpw_nb.ground import store
from kpw_nb.ground.store import array_of, list_of, load, number, optional, pack
from kpw_nb.ground.store import read_whole, record_of, save, text, unpack, write_whole

PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
DTYPES = st.sampled_from(["<f8", "<f4", "<i8", "|b1", "<c16", "<U3", "<M8[s]", ">f8"])
ARRAYS = DTYPES.flatmap(lambda d: hnp.arrays(d, hnp.array_shapes(min_side=0)))
KEYS = st.text().filter(lambda key: key != "$array")
VALUES = st.recursive(
    PLAIN | ARRAYS,
    lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner),
    max_leaves=8,
)


def whatever(value, name):
    return value


def same(a, b):
    "Equal to the last bit, type and shape; NaN is NaN"
    if isinstance(a, np.ndarray):
        alike = isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape
        return alike and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return repr(a) == repr(b)
    return type(a) is type(b) and a == b


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=3))
def test_what_is_saved_is_loaded(fields):
    found = unpack(
        pack("thing", 2, fields), "thing", 2, dict.fromkeys(fields, whatever)
    )
    assert same(fields, found)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=3), st.data())
def test_any_changed_byte_is_noticed(fields, data):
    raw = bytearray(pack("thing", 2, fields))
    place = data.draw(st.integers(0, len(raw) - 1), "place")
    raw[place] ^= data.draw(st.integers(1, 255), "flip")
    with pytest.raises(ValueError):
        unpack(bytes(raw), "thing", 2, dict.fromkeys(fields, whatever))


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=3), st.data())
def test_any_cut_and_any_tail_is_noticed(fields, data):
    raw = pack("thing", 2, fields)
    cut = raw[: data.draw(st.integers(0, len(raw) - 1))]
    longer = raw + data.draw(st.binary(min_size=1))
    for bad in (cut, longer):
        with pytest.raises(ValueError):
            unpack(bad, "thing", 2, dict.fromkeys(fields, whatever))


@settings(max_examples=200, deadline=None)
@given(st.recursive(PLAIN, lambda s: st.lists(s) | st.dictionaries(st.text(), s)))
def test_hostile_descriptions_of_arrays(value):
    "A right checksum over whatever stands for an array: an error of the house"
    for described in (value, dict(dtype="<f8", shape=value, at=0)):
        body = store.json.dumps({"a": {"$array": described}}).encode() + b"\n"
        data = store._header("thing", 1, body) + body
        try:
            found = unpack(data, "thing", 1, dict(a=whatever))
        except ValueError as e:
            assert str(e).startswith("is damaged")
        else:
            assert found["a"].size == 0


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1, 5, [], None, "0.5", True])
def test_no_pvalue(tmp_path, bad):
    save(tmp_path / "f", "trial", 1, dict(pvalue=bad))
    with pytest.raises(ValueError, match=r"f is damaged: it.pvalue must be .*; run it"):
        load(tmp_path / "f", "trial", 1, dict(pvalue=number(0, 1)), "run it again")


def test_a_number_beyond_floats(tmp_path):
    save(tmp_path / "f", "trial", 1, dict(pvalue=10**400))
    with pytest.raises(ValueError, match="is damaged"):
        load(tmp_path / "f", "trial", 1, dict(pvalue=number(0, 1)))


def test_json_deeper_than_python(tmp_path):
    body = b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    (tmp_path / "f").write_bytes(store._header("trial", 1, body) + body)
    with pytest.raises(ValueError, match="is damaged"):
        load(tmp_path / "f", "trial", 1, dict(a=whatever))


@pytest.mark.parametrize(
    "kind, version, schema, word",
    [
        ("other", 1, dict(a=text), "is not a file of kind 'other'"),
        ("thing", 2, dict(a=text), "version 1 of kind 'thing', .* reads version 2"),
        ("thing", 1, dict(a=number()), "it.a must be a number"),
        ("thing", 1, dict(a=text, b=text), "it lacks b"),
        ("thing", 1, dict(), "it has an unknown field 'a'"),
        ("thing", 1, dict(a=list_of(text)), "it.a must be a list, got 'x'"),
        ("thing", 1, dict(a=record_of(dict())), "it.a must hold fields"),
        ("thing", 1, dict(a=array_of((1,))), "it.a must be an array of numbers"),
        ("thing", 1, dict(a=optional(number())), "it.a must be a number"),
    ],
)
def test_errors_name_file_field_and_remedy(tmp_path, kind, version, schema, word):
    save(tmp_path / "f", "thing", 1, dict(a="x"))
    with pytest.raises(ValueError, match=rf"{tmp_path}/f .*{word}.*; make the file ag"):
        load(tmp_path / "f", kind, version, schema)


@pytest.mark.parametrize(
    "data", [b"", b"\0" * 99, b"PK\3\4", b"{}\n", b"kpw_nb thing 1 "]
)
def test_foreign_files(tmp_path, data):
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(ValueError, match="is not a file of kind 'thing'; make"):
        load(tmp_path / "f", "thing", 1, {})


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "f", "thing", 1, {})


def test_pipes_and_devices(tmp_path):
    "Neither hangs nor grows: in a child with a clock and a bound on its memory"
    os.mkfifo(tmp_path / "pipe")
    code = (
        "import resource, sys\n"
        "from kpw_nb.ground.store import load, save\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n"
        "for path in sys.argv[1:]:\n"
        "    for call in (lambda: load(path, 'thing', 1, {}),\n"
        "                 lambda: save(path, 'thing', 1, {})):\n"
        "        try:\n"
        "            call()\n"
        "        except ValueError as e:\n"
        "            print(e)\n"
    )
    places = [str(tmp_path / "pipe"), "/dev/full", "/dev/zero"]
    run = [sys.executable, "-c", code, *places]
    out = subprocess.run(run, capture_output=True, text=True, timeout=60)
    assert out.stdout.count("is a device or a pipe, not a file") == 6, out.stderr


def test_the_bound_holds_for_files_that_lie_about_their_size(tmp_path):
    "/proc is full of regular files of size 0"
    with pytest.raises(ValueError, match="more than 3 bytes; choose another"):
        read_whole("/proc/self/status", "choose another", largest=3)


def test_a_full_disk_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "f"
    save(path, "thing", 1, dict(a=1))
    before = path.read_bytes()

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save(path, "thing", 1, dict(a=2))
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["f"]


def test_write_whole_follows_links(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_whole(tmp_path / "link", b"one")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"one"
