"Tables from files: read as they were written, or refused in a line."

import gzip
import io
import sys
import time
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tables import two_samples, write_tables

from kpw_nb.ground.errors import InputError
from kpw_nb.ground.files import read_samples, read_table


@pytest.fixture
def here(tmp_path, monkeypatch):
    "A folder with good files of every kind, and the current one"
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path)
    return tmp_path


def npy(A, save=np.save, **kw):
    out = io.BytesIO()
    save(out, A, **kw)
    return out.getvalue()


def frame_of(text, name="t.csv", **options):
    "The frame in a text"
    return read_table(name, content=text.encode(), **options).frame


def refused(text, says, name="t.csv", **options):
    with pytest.raises(InputError, match=says):
        frame_of(text, name, **options)


# ---------------------------------------------------------------- forms of text


def test_spreadsheets(here):
    "A mark in front, semicolons, spaces and a blank line"
    text = "\ufeffa; b\n1;2\n\n3;4\n"
    (here / "semicolon.csv").write_text(text, encoding="utf-8")
    frame = read_table(here / "semicolon.csv").frame
    assert list(frame) == ["a", "b"] and frame.values.tolist() == [[1, 2], [3, 4]]


SEPARATED = {  # text: the rows in it
    "a;b\n1,5;2\n3,5;4\n": [[1.5, 2], [3.5, 4]],
    "1,5;2,5\n3,5;4,5\n": [[1.5, 2.5], [3.5, 4.5]],
    "a;b\n1.5;2\n3.5;4\n": [[1.5, 2], [3.5, 4]],
    "a;b\n-1,5e3;\n3;4\n": [[-1500, np.nan], [3, 4]],
    "a\tb\n1,5\t2\n3,5\t4\n": [[1.5, 2], [3.5, 4]],
    "a|b\n1|2\n3|4\n": [[1, 2], [3, 4]],
    '"a;x",b\n1,2\n3,4\n': [[1, 2], [3, 4]],
    "size, in cm;b\n1,5;2\n3,5;4\n": [[1.5, 2], [3.5, 4]],
}


@pytest.mark.parametrize("text", SEPARATED)
def test_separators_and_decimal_commas(text):
    np.testing.assert_array_equal(frame_of(text), SEPARATED[text])


def test_thousands_are_refused():
    says = "column 'a' does not hold numbers \\('1,234' in row 1\\); write decimals"
    refused('a,b\n"1,234",2\n5,4\n', says)


HEADERS = {  # text: the names, None if it begins with data
    "1999,2000,2001\n1,2,3\n4,5,6\n": ["1999", "2000", "2001"],
    "1999,2000\n1.5,2\n4,5\n": ["1999", "2000"],
    ",1999,2000\n0,2,3\n1,5,6\n": ["unnamed1", "1999", "2000"],
    "country,1999,2000\nFrance,1,2\nChad,3,4\n": ["country", "1999", "2000"],
    "2020-01-01,2020-02-01\n1,2\n3,4\n": ["2020-01-01", "2020-02-01"],
    "2001,2000\n1,2\n3,4\n": None,
    "2000,2000\n1,2\n3,4\n": None,
    "1750,1999\n1,2\n3,4\n": None,
    "1999\n1\n2\n": None,
    "1,2\n3,4\n": None,
    "2020-01-01,5\n2020-01-02,6\n": None,
    "true,5\nfalse,6\n": None,
    "species,mass\nAdelie,5\nGentoo,6\n": ["species", "mass"],
    "species,sex\nAdelie,m\nGentoo,f\n": ["species", "sex"],
}


@pytest.mark.parametrize("text", HEADERS)
def test_header_or_not(text):
    names = HEADERS[text]
    frame = frame_of(text, id="unnamed1" if names and names[0] == "unnamed1" else None)
    wanted = names or [f"column {k + 1}" for k in range(frame.shape[1])]
    assert list(frame) == [c for c in wanted if c != "unnamed1"]
    assert len(frame) == text.count("\n") - bool(names)


UNCLEAR = ["1999,2000\n1999,2005\n", "1999,2000\n5,6\n1998,2007\n", "1.5,a\n2.5,b\n"]


@pytest.mark.parametrize("text", UNCLEAR)
def test_header_may_be_unclear(text):
    refused(text, "header='yes' or header='no'")
    assert len(frame_of(text, header="no")) == text.count("\n")


def test_index_of_pandas():
    text = ",a\n7,1\n9,2\n"
    refused(text, "drop='unnamed1', .* id='unnamed1'")
    assert list(frame_of(text, drop=["unnamed1"])) == ["a"]
    assert list(frame_of(text, id="unnamed1").index) == ["7", "9"]


def test_name_with_a_comma():
    frame = frame_of('"a,b",c\n1,2\n3,4\n', columns=["a,b"])
    assert frame.values.tolist() == [[1], [3]]


def test_vector_is_a_column(here):
    np.save("line.npy", np.arange(5))
    assert read_table("line.npy").frame.shape == (5, 1)


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.tuples(FINITE, FINITE), min_size=2, max_size=9), st.booleans())
def test_csv_round_trip(tmp_path, rows, header):
    path = tmp_path / "t.csv"
    lines = [f"{a!r},{b!r}\n" for a, b in rows]
    path.write_text("".join(["a,b\n"] * header + lines))
    t = read_table(path)
    assert t.named == header and np.array_equal(t.frame, rows)


# ---------------------------------------------------------------- kinds of columns


MIXED = """who,mass,island,male,seen,at
u1,3750,Torgersen ,True,2007-11-11,2007-11-11T10:30
u2,,Biscoe,,2007-11-12,
u3,3250,NA,False,,2007-11-12T11:00:05
"""


def test_a_mixed_table():
    t = read_table("penguins.csv", content=MIXED.encode(), id="who")
    assert list(t.frame.index) == ["u1", "u2", "u3"]
    assert t.frame["mass"].isna().tolist() == [False, True, False]
    assert t.frame["island"].tolist()[:2] == ["Torgersen", "Biscoe"]
    assert t.frame["island"].isna().tolist() == [False, False, True]
    assert t.frame["male"].tolist()[::2] == [True, False]
    assert t.frame["male"].dtype == "boolean"
    assert t.frame["seen"].dtype.kind == t.frame["at"].dtype.kind == "M"
    assert t.frame.loc["u3", "at"].second == 5
    assert list(frame_of(MIXED).index) == [1, 2, 3]


def test_parquet_keeps_its_kinds(here):
    frame = frame_of(MIXED)
    frame.to_parquet("t.parquet")
    again = read_table("t.parquet").frame
    assert [d.kind for d in again.dtypes] == ["O", "f", "O", "O", "M", "M"]


def test_whole_numbers_beyond_floats():
    frame = frame_of("a,b\n99999999999999999999999,1\n,2\n")
    assert frame["a"].dtype == float and frame["a"].isna().tolist() == [False, True]


DAYS = {  # entries: the first of them as it is read, None for texts
    "2020-01-31 2020-02-01": "2020-01-31",
    "1066-10-14 2020-02-01": "1066-10-14",
    "2020-01-31T10:00Z 2020-02-01T10:00+02:00": "2020-01-31 10:00",
    "2020-01-31T10:00:00.250 2020-02-01": "2020-01-31 10:00:00.25",
    "31.01.2020 01.02.2020": None,
    "2020-01 2020-02": None,
    "2020-01-31 a b c": None,
}


@pytest.mark.parametrize("entries", DAYS)
def test_dates(entries):
    column = frame_of("d,v\n" + "".join(f"{e},1\n" for e in entries.split()))["d"]
    if DAYS[entries] is None:
        assert column.tolist() == entries.split()
    else:
        assert column.dtype.kind == "M" and column[1] == pd.Timestamp(DAYS[entries])


@pytest.mark.parametrize("wrong", ["2020-02-30", "2020-13-01", "soon"])
def test_dates_that_are_none(wrong):
    says = f"column 'd' holds dates, but '{wrong}' in row 3 is none; write all dates"
    refused(f"d,v\n2020-01-01,1\n2020-01-02,1\n{wrong},1\n", says)


def seconds(width):
    "Processor time to read five rows of this many columns"
    names = ",".join(f"gene{k}" for k in range(width))
    content = "\n".join([names] + [",".join(["1.5"] * width)] * 5).encode()
    options = dict(content=content, drop=["gene7"], label="gene8")
    start = time.process_time()
    read_table("wide.csv", **options)
    return time.process_time() - start


def test_wide_files_in_linear_time():
    "Four times the columns; names were counted in a loop over names"
    few = min(seconds(5_000) for _ in range(2))
    assert seconds(20_000) < 10 * few


# ---------------------------------------------------------------- rows that do not fit


RAGGED = {
    "short": ("a,b,c\n1,2,3\n4,5\n6,7,8\n", "row 2 has 2 of 3 fields"),
    "short, bare": ("1,2\n3\n4,5\n", "row 2 has 1 of 2 fields"),
    "long": ("a,b\n1,2\n3,4,5\n", "cannot be read"),
    "all long": ("a,b\n1,2,3\n3,4,5\n", "cannot be read"),
    "units": ("a,b\nkg,m\n1,2\n3,4\n", "'kg' in column 1.; remove the lines"),
    "spaces": ("a b c\n1 2 3\n4 5 6\n", "separate the fields by commas"),
}


@pytest.mark.parametrize("text, says", RAGGED.values(), ids=RAGGED)
def test_ragged(text, says):
    refused(text, says)


def test_gaps_at_the_end_are_no_short_rows():
    frame = frame_of('a,b\n1,\n"2",3\n\n4,""\n')
    assert frame["b"].isna().tolist() == [True, False, True]


# ---------------------------------------------------------------- files in hand


FORMS = ["x.csv", "x.tsv", "x_bare.csv", "x.npy", "x.npz"]


@pytest.mark.parametrize("name", FORMS)
def test_bytes_are_read_like_the_file(here, name):
    on_disk = read_table(name)
    in_hand = read_table("upload/" + name, content=(here / name).read_bytes())
    pd.testing.assert_frame_equal(on_disk.frame, in_hand.frame)
    assert in_hand.name == name


def test_parquet_in_hand():
    X, _ = two_samples()
    content = pd.DataFrame(X, columns=list("abc")).to_parquet()
    frame = read_table("x.parquet", content=memoryview(content)).frame
    assert np.array_equal(frame, X) and list(frame) == ["a", "b", "c"]


BAD_BYTES = {  # name: (file, its bytes, what the message says)
    "empty": ("a.csv", b"", "a.csv is empty"),
    "kind": ("a.xlsx", b"PK", "convert it to csv"),
    "ragged": ("a.csv", b"1,2\n3\n4,5,6", "a.csv cannot be read"),
    "not text": ("a.csv", b"\xff\xfe\x00", "a.csv cannot be read"),
    "late": ("a.csv", b"a,b\n" + b"1,2\n" * 99 + b"\xe9,2\n", "a.csv cannot be read"),
    "not npy": ("a.npy", b"nonsense", "a.npy is not an npy file"),
    "cut": ("a.npy", npy(np.ones((3, 2)))[:-8], "a.npy cannot be read"),
}


@pytest.mark.parametrize("name, content, says", BAD_BYTES.values(), ids=BAD_BYTES)
def test_bad_bytes(name, content, says):
    with pytest.raises(InputError) as e:
        read_table(name, content=content)
    assert says in str(e.value)
    assert says in e.value.problem or says in e.value.remedy


# ---------------------------------------------------------------- packed, and piped


def zipped(path, *members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in members:
            archive.write(name)


@pytest.mark.parametrize("name", [*FORMS, "x.parquet"])
def test_packed_tables(here, name):
    two = pd.DataFrame(two_samples()[0], columns=list("abc"))
    two.to_parquet("x.parquet")
    wanted = read_table(name).frame
    (here / f"{name}.gz").write_bytes(gzip.compress((here / name).read_bytes()))
    zipped("x.zip", name)
    for packed in (f"{name}.gz", "x.zip"):
        t = read_table(packed)
        pd.testing.assert_frame_equal(t.frame, wanted)
        assert t.name == packed
    facts = read_samples(f"{name}.gz", "x.zip").files
    assert [f["bytes"] for f in facts] == [
        (here / p).stat().st_size for p in (f"{name}.gz", "x.zip")
    ]


BAD_PACKS = {  # file: what the message says
    "two.zip": "holds 2 files .x.csv, y.csv.; unpack it and give one of them",
    "none.zip": "holds 0 files; pack it again",
    "other.zip": "other.zip, notes.md: files of this kind are not read",
    "noise.zip": "noise.zip cannot be read .*; pack it again",
    "noise.csv.gz": "noise.csv.gz cannot be read .*; pack it again",
    "cut.csv.gz": "cut.csv.gz cannot be read .*; pack it again",
    "hollow.csv.gz": "hollow.csv.gz is empty",
    "bare.gz": "bare.gz: files of this kind are not read",
}


@pytest.mark.parametrize("name", BAD_PACKS)
def test_bad_packs(here, name):
    (here / "notes.md").write_text("no table")
    zipped("two.zip", "x.csv", "y.csv")
    zipped("none.zip")
    zipped("other.zip", "notes.md")
    whole = gzip.compress((here / "x.csv").read_bytes())
    (here / "noise.zip").write_bytes(b"PK nonsense")
    (here / "noise.csv.gz").write_bytes(b"nonsense")
    (here / "cut.csv.gz").write_bytes(whole[:-20])
    (here / "hollow.csv.gz").write_bytes(gzip.compress(b""))
    (here / "bare.gz").write_bytes(whole)
    with pytest.raises(InputError, match=BAD_PACKS[name]):
        read_table(name)


def test_zip_of_a_mac(here):
    with zipfile.ZipFile("mac.zip", "w") as archive:
        archive.write("x.csv", "data/x.csv")
        archive.writestr("data/", "")
        archive.writestr("__MACOSX/data/._x.csv", "notes")
    assert len(read_table("mac.zip").frame) == 30


def pipe(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_standard_input(here, monkeypatch):
    for name in ("x.csv", "x.tsv", "x_bare.csv"):
        pipe(monkeypatch, (here / name).read_bytes())
        t = read_table("-")
        pd.testing.assert_frame_equal(t.frame, read_table(name).frame)
        assert t.name == "standard input"
    pipe(monkeypatch, (here / "labelled.csv").read_bytes())
    s = read_samples("-", label="group")
    assert (s.names, len(s.X), len(s.Y)) == (("group = a", "group = b"), 30, 24)
    assert s.files[0]["bytes"] == (here / "labelled.csv").stat().st_size
    pipe(monkeypatch, b"")
    with pytest.raises(InputError, match="standard input is empty"):
        read_table("-")
    with pytest.raises(InputError, match="give a file for one of them"):
        read_samples("-", "-")


# ---------------------------------------------------------------- labels and names


def test_labels_of_text_are_texts(here):
    (here / "codes.csv").write_text("g,v\n01,1\n1,2\n01,3\n1,4\n")
    assert read_samples("codes.csv", label="g").names == ("g = 01", "g = 1")
    (here / "bare.csv").write_text("1,2,a\n3,4,b\n")
    for label in ("3", "column 3"):
        t = read_table("bare.csv", header="no", label=label)
        assert t.labels.tolist() == ["a", "b"] and t.frame.shape == (2, 2)


def test_gap_in_labels():
    refused("v,g\n1,a\n2,NA\n3,b\n", "'g' is empty in row 2", label="g")


LABELS = {  # the two values, and how they are printed
    "days": ((20230101.0, 20230102.0), ("20230101", "20230102")),
    "zero and one": ((0.0, 1.0), ("0", "1")),
    "fractions": ((0.1, 0.1 + 2**-50), ("0.1", "0.1000000000000009")),
    "large": ((1e15, 1e15 + 1), ("1000000000000000", "1000000000000001")),
}


@pytest.mark.parametrize("values, said", LABELS.values(), ids=LABELS)
def test_numeric_labels_are_compared_by_value(here, values, said):
    "Rounded to six digits, two days would be one label"
    rows = np.c_[[1.0, 2, 3, 4], np.tile(values, 2)]
    np.save("labelled.npy", rows)
    s = read_samples("labelled.npy", label="2")
    assert s.names == (f"2 = {said[0]}", f"2 = {said[1]}")
    assert s.X.values.tolist() == [[1], [3]] and list(s.Y.index) == [2, 4]


def test_whole_labels_beyond_floats(here):
    np.save("labelled.npy", [[1, 2**60], [2, 2**60 + 1], [3, 2**60], [4, 2**60 + 1]])
    s = read_samples("labelled.npy", label="2")
    assert s.names == (f"2 = {2**60}", f"2 = {2**60 + 1}")


def test_labels_of_parquet(here):
    frame = pd.DataFrame(dict(v=[1.0, 2, 3, 4], day=[20230101, 20230102] * 2))
    frame.to_parquet("t.parquet")
    s = read_samples("t.parquet", label="day")
    assert (s.names[0], list(s.Y.index)) == ("day = 20230101", [2, 4])


def test_ids(here):
    text = "who,v,g\nu,1,a\nv,2,a\nu,3,b\nw,4,b\n"
    refused(text, "'u' stands twice in 'who', again in row 3; give id", id="who")
    (here / "t.csv").write_text(text)
    s = read_samples("t.csv", label="g", id="who")  # once in each sample
    assert (list(s.X.index), list(s.Y.index)) == (["u", "v"], ["u", "w"])
    text = text.replace("w,4", "u,4")
    refused(text, "'u' stands twice within 'b' in 'who'", id="who", label="g")
    refused("who,v\nu,1\n,2\n", "'who' is empty in row 2; fill it", id="who")
    refused("who,v\nu,1\nw,2\n", "no column 'name' for id; it has who", id="name")
    refused(text, "both name 'g'", id="g", label="g")
    np.save("t.npy", [[7.0, 1], [9, 2]])
    assert list(read_table("t.npy", id="1").frame.index) == [7, 9]


# ---------------------------------------------------------------- samples


def test_samples_know_their_rows(here):
    s = read_samples("labelled.csv", label="group")
    assert list(s.X.index) == list(range(1, 31))
    assert list(s.Y.index) == list(range(31, 55))
    assert list(s.X) == ["height", "weight", "age"]
    assert np.array_equal(s.Y, two_samples()[1])
    assert list(read_samples("both.npz").X) == ["column 1", "column 2", "column 3"]
    for files in (("x.csv", "y.npy"), ("x.npy", "y.csv")):
        s = read_samples(*files)  # one of them names the columns
        assert list(s.X) == list(s.Y) == ["height", "weight", "age"]


def test_files_are_told_apart(here):
    facts = read_samples("x.csv", "y.csv").files
    assert [f["name"] for f in facts] == ["x.csv", "y.csv"]
    assert facts[0]["bytes"] == (here / "x.csv").stat().st_size
    assert facts[0]["sha256"] != facts[1]["sha256"]
    assert len(read_samples("x.csv", "x.csv").files) == 1
