"""Samples: whatever was passed, labels follow values, gaps are named, nothing is
changed in place"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from kpw_nb.ground.sample import (
    Sample,
    as_blocks,
    as_sample,
    as_samples,
    check_sample,
    pool,
    row_marks,
    share_seen,
    split_samples,
    spread,
    take_rows,
)

N, D = 40, 3
VALUES = np.arange(float(N * D)).reshape(N, D)  # row i begins with 3i
COLUMNS = ["a", "b", "c"]
TEXT = [f"r{i}" for i in range(N)]
TWICE = [f"r{i // 2}" for i in range(N)]
PAIRS = pd.MultiIndex.from_product([["u", "v"], range(N // 2)])


def frame(index=None):
    return pd.DataFrame(VALUES, columns=COLUMNS, index=index)


def frozen():
    A = VALUES.copy()
    A.flags.writeable = False
    return A


def objects():
    A = VALUES.astype(object)
    A[0, 0] = np.int64(0)
    return A


def nullable():
    "Pandas' own integers and floats, without a gap"
    return frame(TEXT).astype(dict(a="Int64", b="Float64", c="int32"))


def polars():
    return pytest.importorskip("polars").DataFrame(VALUES, schema=COLUMNS)


def memmap(tmp_path):
    np.save(tmp_path / "values.npy", VALUES)
    return np.load(tmp_path / "values.npy", mmap_mode="r")


# name: (how it is made, labels of its rows, names of its columns)
KINDS = dict(
    array=(VALUES.copy, range(N), None),
    list=(VALUES.tolist, range(N), None),
    fortran=(lambda: np.asfortranarray(VALUES), range(N), None),
    strided=(lambda: np.repeat(VALUES, 2, axis=0)[::2], range(N), None),
    reversed=(lambda: VALUES[::-1].copy()[::-1], range(N), None),
    read_only=(frozen, range(N), None),
    float32=(lambda: VALUES.astype("f4"), range(N), None),
    big_endian=(lambda: VALUES.astype(">f8"), range(N), None),
    integers=(lambda: VALUES.astype("u2"), range(N), None),
    masked=(lambda: np.ma.masked_array(VALUES), range(N), None),
    objects=(objects, range(N), None),
    frame=(frame, range(N), COLUMNS),
    text_index=(lambda: frame(TEXT), TEXT, COLUMNS),
    twice=(lambda: frame(TWICE), TWICE, COLUMNS),
    pairs=(lambda: frame(PAIRS), list(PAIRS), COLUMNS),
    nullable=(nullable, TEXT, COLUMNS),
    polars=(polars, range(N), COLUMNS),
    sample=(lambda: as_sample(frame(TEXT)), TEXT, COLUMNS),
)
EACH = pytest.mark.parametrize("kind", KINDS)


def copied(X):
    "A copy of anything that can be compared afterwards"
    return np.array(X, dtype=object).copy()


def follows(sample, labels):
    "Every row still has the values that its label had"
    known = {}
    for label, row in zip(labels, VALUES.tolist()):
        known.setdefault(label, []).append(row)
    for label, row in zip(sample.rows.tolist(), sample.values.tolist()):
        assert row in known[label]


# Labels follow values -----------------------------------------------------------------


@EACH
def test_a_sample_of_anything(kind):
    make, labels, columns = KINDS[kind]
    X = make()
    before = copied(X)
    sample = as_sample(X)
    assert np.array_equal(sample.values, VALUES)
    assert sample.values.dtype == np.float64 and sample.values.flags.c_contiguous
    assert sample.rows.tolist() == list(labels)
    assert sample.columns == (None if columns is None else tuple(columns))
    assert len(sample) == N and sample.name == "X"
    assert np.array_equal(check_sample(X), VALUES)
    assert np.array_equal(copied(X), before)


@EACH
@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(-N, N - 1), max_size=60))
def test_take(kind, index):
    make, labels, columns = KINDS[kind]
    taken = as_sample(make()).take(index)
    assert np.array_equal(taken.values, VALUES[np.array(index, int)])
    assert taken.rows.tolist() == [list(labels)[i] for i in index]
    assert taken.columns == (None if columns is None else tuple(columns))
    follows(taken, labels)


@EACH
@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, N - 2) | st.floats(0.05, 0.95))
def test_split(kind, seed, train_size):
    make, labels, _ = KINDS[kind]
    X, Y = as_samples(make(), frame(TEXT) + 0.5)
    train, test = split_samples(X, Y, train_size, seed)
    size = train_size if isinstance(train_size, int) else round(train_size * N)
    assert [len(s) for s in (*train, *test)] == [size, size, N - size, N - size]
    together = [*train[0].rows.tolist(), *test[0].rows.tolist()]
    assert sorted(together) == sorted(labels)
    for part in (train[0], test[0]):
        follows(part, labels)
    values = np.vstack([train[1].values, test[1].values])
    rows = [*train[1].rows, *test[1].rows]
    assert np.array_equal(values, VALUES[[TEXT.index(r) for r in rows]] + 0.5)


@EACH
@settings(max_examples=10, deadline=None)
@given(st.sets(st.integers(0, N - 1)), st.integers(1, 50))
def test_blocks(kind, index, size):
    make, labels, columns = KINDS[kind]
    index, (X, before) = np.array(sorted(index), int), (make(), copied(make()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kpw_nb.ground.sample._BLOCK", size)
        blocks = as_blocks(X)
        found = take_rows(blocks, index)
    assert len(blocks) == N and blocks.width == D and not blocks.lazy
    assert max(blocks.sizes) <= size
    assert np.array_equal(found.numbers, VALUES[index])
    assert found.rows.tolist() == [list(labels)[i] for i in index]
    assert found.names == tuple(range(D) if columns is None else columns)
    assert np.array_equal(copied(X), before)


def test_a_memory_map_is_read_in_slices(tmp_path):
    mapped = memmap(tmp_path)
    blocks = as_blocks(mapped)
    assert all(np.shares_memory(block, mapped) for block in blocks.blocks)
    index = np.array([0, 7, N - 1])
    assert np.array_equal(take_rows(blocks, index).numbers, VALUES[index])
    assert as_sample(mapped).rows.tolist() == list(range(N))


@pytest.mark.parametrize("chunks", [(7, 3), (40, 1), (11, 2)])
def test_dask_arrays(chunks):
    da = pytest.importorskip("dask.array")
    blocks = as_blocks(da.from_array(VALUES, chunks=chunks))
    index = np.array([0, 6, 7, 12, N - 1])
    found = take_rows(blocks, index)
    assert blocks.lazy and len(blocks) == N
    assert np.array_equal(found.numbers, VALUES[index])
    assert np.array_equal(found.rows, index)


@pytest.mark.parametrize("parts", [1, 4])
def test_dask_frames(parts):
    dd = pytest.importorskip("dask.dataframe")
    lazy = dd.from_pandas(frame(TEXT), npartitions=parts, sort=False)
    blocks = as_blocks(lazy)
    index = np.array([0, 9, 10, N - 1])
    found = take_rows(blocks, index)
    assert found.names == tuple(COLUMNS)
    assert np.array_equal(found.numbers, VALUES[index])
    assert found.rows.tolist() == [TEXT[i] for i in index]


@given(st.integers(0, 200), st.integers(1, 60))
def test_spread(n, most):
    index = spread(n, most)
    assert len(index) == len(set(index.tolist())) == min(n, most)
    assert (np.diff(index) > 0).all()
    if 1 < most and n:
        assert index[0] == 0 and index[-1] == n - 1


# Gaps are named -----------------------------------------------------------------------

GAPS = dict(
    nan=(np.nan, float),
    infinity=(-np.inf, float),
    none=(None, object),
    pandas_na=(pd.NA, object),
    pandas_nat=(pd.NaT, object),
)


@pytest.mark.parametrize("gap, dtype", GAPS.values(), ids=GAPS)
@settings(max_examples=10, deadline=None)
@given(st.integers(0, N - 1), st.integers(0, D - 1))
def test_a_gap_is_named_by_row_and_column(gap, dtype, i, j):
    A = VALUES.astype(dtype)
    A[i, j] = gap
    with pytest.raises(ValueError, match=f"X contains 1 .*row {i}, column {j};"):
        as_sample(A)
    named = pd.DataFrame(A, columns=COLUMNS, index=TEXT)
    where = f"Y contains 1 .*row {TEXT[i]}, column '{COLUMNS[j]}';"
    with pytest.raises(ValueError, match=where):
        as_sample(named, "Y")
    with pytest.raises(ValueError, match=where):
        as_samples(frame(), named)


@pytest.mark.parametrize("dtype", ["Int64", "Float32", "boolean"])
def test_a_gap_of_pandas_own_dtypes(dtype):
    table = frame(TEXT)
    table["b"] = pd.array([1] * 7 + [None] + [0] * (N - 8), dtype=dtype)
    with pytest.raises(ValueError, match="X contains 1 .*row r7, column 'b'"):
        as_sample(table)


def test_what_lies_under_a_mask_is_no_number():
    for dtype in (float, int, "f4"):
        A = np.ma.masked_array(VALUES.astype(dtype))
        A[5, 1] = np.ma.masked
        with pytest.raises(ValueError, match="X contains 1 .*row 5, column 1"):
            as_sample(A)
        assert A.data[5, 1] == 16  # and is still there
        with pytest.raises(ValueError, match="X contains 1 .*row 5, column 1"):
            as_sample(take_rows(as_blocks(A), np.array([5])), "X", 0)


@pytest.mark.parametrize("gap", [None, np.nan])
def test_a_gap_in_polars(gap):
    table = dict(zip(COLUMNS, VALUES.T.tolist()))
    table["c"][4] = gap
    with pytest.raises(ValueError, match="X contains 1 .*row 4, column 'c'"):
        as_sample(pytest.importorskip("polars").DataFrame(table))


def broken(n=3000, row=2999, column=1):
    A = np.arange(2.0 * n).reshape(n, 2)
    A[row, column] = np.nan
    return A


@pytest.mark.parametrize("size", [1000, 1024, 2999, 5000])
def test_a_gap_in_a_block_has_its_own_row(size, monkeypatch):
    monkeypatch.setattr("kpw_nb.ground.sample._BLOCK", size)
    blocks = as_blocks(broken(), "Y")
    with pytest.raises(ValueError, match="Y contains 1 .*row 2999, column 1"):
        as_sample(take_rows(blocks, np.array([4, 2999])), "Y", 0)
    assert len(take_rows(blocks, np.array([4, 2998]))) == 2  # only what is taken


def test_a_gap_in_dask_has_its_own_row():
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    lazy = da.from_array(broken(), chunks=(1000, 2))
    with pytest.raises(ValueError, match="X contains 1 .*row 2999, column 1"):
        as_sample(take_rows(as_blocks(lazy), np.array([2999])), "X", 0)
    labels = [f"s{i}" for i in range(3000)]
    table = pd.DataFrame(broken(), columns=["a", "b"], index=labels)
    lazy = dd.from_pandas(table, npartitions=3, sort=False)
    with pytest.raises(ValueError, match="X contains 1 .*row s2999, column 'b'"):
        as_sample(take_rows(as_blocks(lazy), np.array([2999])), "X", 0)


@pytest.mark.parametrize(
    "X, error, word",
    [
        (VALUES[:, 0], ValueError, r"2-D array.*use X.reshape\(-1, 1\)"),
        (VALUES[None], ValueError, "2-D array.*got 3-D"),
        (5.0, ValueError, "2-D array.*got 0-D"),
        (VALUES[:1], ValueError, "n_samples=1 point.*at least 2"),
        (VALUES[:, :0], ValueError, "0 feature"),
        (VALUES + 1j, ValueError, "Complex data not supported"),
        (VALUES.astype("M8[s]"), ValueError, "dates or durations"),
        (VALUES.astype("m8[s]"), ValueError, "dates or durations"),
        ([["a", 1.0], ["b", 2.0]], ValueError, "numbers only, got 'a'"),
        (frame().assign(b="no"), ValueError, "X, column 'b', must hold numbers only"),
    ],
)
def test_refusals(X, error, word):
    with pytest.raises(error, match=word):
        as_sample(X)


def test_sparse_matrices_are_refused():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match=r"X is a sparse matrix; pass X.toarray\(\)"):
        as_sample(sparse.csr_matrix(VALUES))


# Two samples --------------------------------------------------------------------------


def test_two_columns_of_one_name_are_refused():
    for names in (["a", "b", "a"], [1, "1", "c"]):
        table = pd.DataFrame(VALUES, columns=names)
        with pytest.raises(ValueError, match="X has two columns called"):
            as_sample(table)


@given(st.permutations(COLUMNS))
def test_columns_are_matched_by_name(order):
    X, Y = as_samples(frame(TEXT), frame()[order])
    assert X.columns == Y.columns == tuple(COLUMNS)
    assert np.array_equal(Y.values, VALUES) and Y.name == "Y"
    assert X.rows.tolist() == TEXT and Y.rows.tolist() == list(range(N))


def test_one_frame_names_the_columns_of_both():
    for X, Y in ((frame(), VALUES), (VALUES, frame())):
        assert [s.columns for s in as_samples(X, Y)] == [tuple(COLUMNS)] * 2


def test_columns_that_differ():
    with pytest.raises(ValueError, match="'c' only in X and 'd' only in Y"):
        as_samples(frame(), frame().rename(columns=dict(c="d")))
    with pytest.raises(ValueError, match="X has 3 features but Y has 2"):
        as_samples(VALUES, VALUES[:, :2])
    with pytest.raises(ValueError, match="constant"):
        as_samples(np.ones((4, 2)), np.ones((5, 2)))


def test_a_sample_keeps_its_own_name_but_not_in_a_pair():
    Z = as_sample(frame(TEXT), "Z")
    assert as_sample(Z).rows is Z.rows
    X, Y = as_samples(Z, Z.take([3, 1]))
    assert (X.name, Y.name, Z.name) == ("X", "Y", "Z")
    assert Y.rows.tolist() == ["r3", "r1"]
    assert np.array_equal(pool(X, Y), np.vstack([VALUES, VALUES[[3, 1]]]))


def test_a_mask_takes_rows():
    "True and False were positions 1 and 0"
    mask = VALUES[:, 0] > 30
    taken = as_sample(frame(TEXT)).take(mask)
    assert np.array_equal(taken.values, VALUES[mask])
    assert taken.rows.tolist() == frame(TEXT)[mask].index.tolist()
    with pytest.raises(IndexError):
        as_sample(VALUES).take([N])


def test_a_sample_is_an_array():
    "Without a copy where none is needed; another dtype was an error in NumPy 2"
    sample = as_sample(VALUES)
    assert np.shares_memory(np.asarray(sample), VALUES)
    assert not np.shares_memory(np.array(sample), VALUES)
    assert np.asarray(sample, dtype="f4").dtype == np.float32


def test_a_sample_is_frozen():
    sample = as_sample(VALUES)
    with pytest.raises(AttributeError):
        sample.values = None
    assert isinstance(sample, Sample) and "40 rows of 3" in repr(sample)


# The same rows twice ------------------------------------------------------------------

MATRICES = st.integers(0, 10**6).map(
    lambda seed: np.random.default_rng(seed).integers(-2, 3, (30, 2)).astype(float)
)


@given(MATRICES, st.integers(0, 10**6))
def test_marks_are_equal_where_rows_are(A, seed):
    marks = row_marks(A)
    _, same = np.unique(A, axis=0, return_inverse=True)
    _, marked = np.unique(marks, return_inverse=True)
    same, marked = same.ravel(), marked.ravel()
    assert np.array_equal(same[:, None] == same, marked[:, None] == marked)
    order = np.random.default_rng(seed).permutation(len(A))
    assert np.array_equal(row_marks(A[order]), marks[order])


@given(MATRICES)
def test_zero_has_one_sign(A):
    assert np.array_equal(row_marks(np.where(A == 0, -0.0, A)), row_marks(A))


@given(MATRICES)
def test_marks_know_columns_and_precision(A):
    different = A[:, 0] != A[:, 1]
    assert (row_marks(A) != row_marks(A[:, ::-1].copy()))[different].all()
    assert (row_marks(A) != row_marks(np.nextafter(A, 9))).all()


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(0, 60))
def test_share_seen(seed, old, new):
    "Without ties it is the share; the order of rows does not matter"
    gen = np.random.default_rng(seed)
    known, fresh = gen.normal(size=(60, 3)), gen.normal(size=(new, 3))
    tested = gen.permutation(np.vstack([known[:old], fresh]))
    marks = row_marks(known)
    expected = old / (old + new)
    assert share_seen(marks, tested) == pytest.approx(expected)
    shuffled = share_seen(gen.permutation(marks), gen.permutation(tested))
    assert shuffled == pytest.approx(expected)


def test_ties_prove_nothing():
    gen = np.random.default_rng(0)
    coins = gen.integers(0, 2, (400, 3)).astype(float)
    assert share_seen(row_marks(coins[:200]), coins[200:]) <= 0
    assert share_seen(row_marks(VALUES), -VALUES - 1) == 0


class Remote:
    "What Spark or Ray hand out: rows that are elsewhere"

    def __init__(self, *methods):
        vars(self).update({name: list for name in methods})


@pytest.mark.parametrize(
    "methods, remedy",
    [
        (("collect", "toArrow"), r"pass X\.toArrow\(\)"),
        (("to_arrow_refs",), "write it as Parquet"),
    ],
)
def test_frames_of_a_cluster_say_how_to_hand_them_over(methods, remedy):
    """`collect()` of Spark gives a list of rows without names. Mutation: one remedy for
    all lazy frames."""
    with pytest.raises(TypeError, match=remedy):
        as_samples(Remote(*methods), np.ones((5, 2)))
