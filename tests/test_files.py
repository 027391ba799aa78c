"Tables from files: read as they were written, or refused in a line."

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tables import two_samples, write_tables

from kpw_nb import files
from kpw_nb.files import BadInput, read_samples, read_table


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


# ---------------------------------------------------------------- forms of text


def test_spreadsheets(here):
    "A mark in front, semicolons, spaces and a blank line"
    text = "\ufeffa; b\n1;2\n\n3;4\n"
    (here / "semicolon.csv").write_text(text, encoding="utf-8")
    t = read_table(here / "semicolon.csv")
    assert t.columns == ("a", "b") and t.values.tolist() == [[1, 2], [3, 4]]


def test_header_of_numbers(here):
    (here / "years.csv").write_text("2019,2020\n1,2\n3,4\n")
    assert len(read_table("years.csv").values) == 3
    assert len(read_table("years.csv", header="yes").values) == 2


def test_index_of_pandas(here):
    (here / "pandas.csv").write_text(",a\n0,1\n1,2\n")
    with pytest.raises(BadInput, match="--drop unnamed1"):
        read_table("pandas.csv")
    assert read_table("pandas.csv", drop=["unnamed1"]).columns == ("a",)


def test_name_with_a_comma(here):
    (here / "comma.csv").write_text('"a,b",c\n1,2\n3,4\n')
    assert read_table("comma.csv", columns=["a,b"]).values.tolist() == [[1], [3]]


def test_vector_is_a_column(here):
    np.save("line.npy", np.arange(5))
    assert read_table("line.npy").values.shape == (5, 1)


def test_many_chunks(here, monkeypatch):
    "Rows are counted over all chunks"
    monkeypatch.setattr(files, "CHUNK", 7)
    assert np.array_equal(read_table("x.csv").values, np.load("x.npy"))
    (here / "late.csv").write_text("a,b\n" + "1,2\n" * 20 + "1,oops\n")
    with pytest.raises(BadInput, match="'oops' in row 21.*--drop b"):
        read_table("late.csv")
    (here / "gap.csv").write_text("a,b\n" + "1,2\n" * 20 + "1,\n")
    with pytest.raises(BadInput, match="'b', row 21 is empty"):
        read_table("gap.csv")


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
    assert t.named == header and np.array_equal(t.values, rows)


# ---------------------------------------------------------------- files in hand


FORMS = ["x.csv", "x.tsv", "x_bare.csv", "x.npy", "x.npz"]


@pytest.mark.parametrize("name", FORMS)
def test_bytes_are_read_like_the_file(here, name):
    on_disk = read_table(name)
    in_hand = read_table("upload/" + name, content=(here / name).read_bytes())
    assert np.array_equal(on_disk.values, in_hand.values)
    assert on_disk.columns == in_hand.columns and in_hand.name == name


def test_parquet_in_hand():
    X, _ = two_samples()
    content = pd.DataFrame(X, columns=list("abc")).to_parquet()
    t = read_table("x.parquet", content=memoryview(content))
    assert np.array_equal(t.values, X) and t.columns == ("a", "b", "c")


BAD_BYTES = {  # name: (file, its bytes, what the message says)
    "empty": ("a.csv", b"", "a.csv is empty"),
    "kind": ("a.xlsx", b"PK", "convert it to csv"),
    "ragged": ("a.csv", b"1,2\n3\n4,5,6", "a.csv cannot be read"),
    "text": (
        "a.csv",
        b"1,2\n3,x\n4,5",
        "column '2' does not hold numbers ('x' in row 2)",
    ),
    "not text": ("a.csv", b"\xff\xfe\x00", "a.csv cannot be read"),
    "not npy": ("a.npy", b"nonsense", "a.npy is not an npy file"),
    "cut": ("a.npy", npy(np.ones((3, 2)))[:-8], "a.npy cannot be read"),
}


@pytest.mark.parametrize("name, content, says", BAD_BYTES.values(), ids=BAD_BYTES)
def test_bad_bytes(name, content, says):
    with pytest.raises(BadInput) as e:
        read_table(name, content=content)
    assert says in str(e.value)
    assert says in e.value.problem or says in e.value.remedy


# ---------------------------------------------------------------- labels


def test_labels_of_text_are_texts(here):
    (here / "codes.csv").write_text("g,v\n01,1\n1,2\n01,3\n1,4\n")
    s = read_samples("codes.csv", label="g")
    assert (s.X.name, s.Y.name) == ("g = 01", "g = 1")
    (here / "bare.csv").write_text("1,2,a\n3,4,b\n")
    assert read_table("bare.csv", header="no", label="3").labels.tolist() == ["a", "b"]


def test_gap_in_labels(here):
    (here / "gaps.csv").write_text("v,g\n1,a\n2,NA\n3,b\n")
    with pytest.raises(BadInput, match="'g' is empty in row 2"):
        read_table("gaps.csv", label="g")


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
    assert (s.X.name, s.Y.name) == (f"2 = {said[0]}", f"2 = {said[1]}")
    assert s.X.values.tolist() == [[1], [3]] and list(s.Y.rows) == [2, 4]


def test_whole_labels_beyond_floats(here):
    np.save("labelled.npy", [[1, 2**60], [2, 2**60 + 1], [3, 2**60], [4, 2**60 + 1]])
    s = read_samples("labelled.npy", label="2")
    assert s.X.name == f"2 = {2**60}" and s.Y.name == f"2 = {2**60 + 1}"


def test_labels_of_parquet(here):
    frame = pd.DataFrame(dict(v=[1.0, 2, 3, 4], day=[20230101, 20230102] * 2))
    frame.to_parquet("t.parquet")
    s = read_samples("t.parquet", label="day")
    assert (s.X.name, list(s.Y.rows)) == ("day = 20230101", [2, 4])


# ---------------------------------------------------------------- samples


def test_samples_know_their_rows(here):
    s = read_samples("labelled.csv", label="group")
    assert list(s.X.rows) == list(range(1, 31))
    assert list(s.Y.rows) == list(range(31, 55))
    assert s.X.columns == ("height", "weight", "age")
    assert np.array_equal(s.Y.values, two_samples()[1])
    assert read_samples("both.npz").X.columns == ("column 1", "column 2", "column 3")


def test_files_are_told_apart(here):
    facts = read_samples("x.csv", "y.csv").files
    assert [f["name"] for f in facts] == ["x.csv", "y.csv"]
    assert facts[0]["bytes"] == (here / "x.csv").stat().st_size
    assert facts[0]["sha256"] != facts[1]["sha256"]
    assert len(read_samples("x.csv", "x.csv").files) == 1
