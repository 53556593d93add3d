"""Test tables of several files, compressed files, streams, selected columns, and data sets of other libraries."""

import gc
import gzip
import importlib.util
import io
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covassay.reference.domain import blocks
from covassay.reference.errors import InvalidInput
from covassay.reference.release.tables import data_file, source
from covassay.reference.release.tables.files import data_files
from covassay.reference.release.tables.reading import describe, open_table
from covassay.reference.release.tables.selection import Selection
from tests.conventions import Matrix

PARQUET = pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="needs pyarrow")
DASK = pytest.mark.skipif(importlib.util.find_spec("dask") is None, reason="needs dask")
SUFFIXES = [".csv", ".tsv", ".npy", pytest.param(".parquet", marks=PARQUET)]
X = np.random.default_rng(0).standard_normal((7, 3))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change to an empty directory, and use chunks of two rows with three numbers each."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(source, "CHUNK_BYTES", 48)
    monkeypatch.setattr(source, "KEPT_BYTES", 0)


def content(suffix: str, x: Matrix, names: tuple[str, ...] = ("a", "b", "c")) -> bytes:
    buffer = io.BytesIO()
    if suffix == ".npy":
        np.save(buffer, x)
    elif suffix == ".parquet":
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.table(dict(zip(names, x.T, strict=True))), buffer)
    else:
        between = {".csv": ",", ".tsv": "\t"}[suffix]
        lines = [between.join(names), *(between.join(map(repr, row)) for row in x.tolist())]
        buffer.write(("\n".join(lines) + "\n").encode())
    return buffer.getvalue()


def rows(opened: source.TableSource) -> Matrix:
    """Return all rows, and check that two passes give the same rows in chunks of bounded size."""
    first, second = (list(blocks(opened.rows)) for _ in range(2))
    assert max(map(len, first)) <= max(1, 48 // (8 * opened.rows.shape[1]))
    np.testing.assert_array_equal(np.concatenate(first), np.concatenate(second))
    assert sum(map(len, first)) == opened.rows.shape[0]
    return np.concatenate(first)


def refusal(data: Any, selection: Selection | None = None) -> str:
    with pytest.raises(InvalidInput) as caught:
        list(blocks(open_table(data, selection=selection or Selection()).rows))
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


# Compressed files and streams


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_compressed_file_is_read_like_a_plain_one(suffix: str) -> None:
    Path(f"x{suffix}").write_bytes(content(suffix, X))
    Path(f"x{suffix}.gz").write_bytes(gzip.compress(content(suffix, X)))
    plain, zipped = open_table(f"x{suffix}"), open_table(Path(f"x{suffix}.gz"))
    assert plain.columns == zipped.columns == (("x1", "x2", "x3") if suffix == ".npy" else ("a", "b", "c"))
    np.testing.assert_array_equal(rows(plain), X)
    np.testing.assert_array_equal(rows(zipped), X)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (lambda whole: whole[: len(whole) // 2], "Compressed file ended"),
        (lambda whole: whole[:-8] + b"\0" * 8, "CRC check failed"),
        (lambda whole: whole[:20] + b"\xff\xff" + whole[22:], "must be a whole gzip file"),
        (lambda whole: whole + b"more", "Not a gzipped file"),
        (lambda whole: b"1,2\n3,4\n", "Not a gzipped file"),
    ],
)
def test_a_damaged_compressed_file_is_refused_in_one_line(suffix: str, damage: Any, named: str) -> None:
    path = Path(f"x{suffix}.gz")
    path.write_bytes(damage(gzip.compress(content(suffix, X))))
    message = refusal(path)
    assert message.startswith(f"{path} cannot be read (")
    assert named in message
    assert "must be a whole gzip file" in message


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize("suffix", [".csv", ".npy", pytest.param(".parquet", marks=PARQUET)])
def test_a_stream_is_read_once_and_passed_over_often(suffix: str, compress: Any) -> None:
    """Test that a table can be read in several passes from a stream, which itself can be read only once. The reader
    finds the format from the first bytes.
    """
    reader, writer = os.pipe()
    os.write(writer, compress(content(suffix, X)))
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        opened = open_table(stream)
    np.testing.assert_array_equal(rows(opened), X)
    assert describe(stream) == "standard input"


def test_two_passes_over_a_stream_may_run_at_once() -> None:
    opened = open_table(io.BytesIO(content(".csv", X)))
    pairs = list(zip(blocks(opened.rows), blocks(opened.rows), strict=True))
    assert all(np.array_equal(a, b) for a, b in pairs)
    np.testing.assert_array_equal(np.concatenate([a for a, _ in pairs]), X)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (b"", "standard input is empty"),
        # pytest makes the name of a test from these bytes, and a time stamp in them would change the name in every run
        (gzip.compress(b"", mtime=0), "standard input is empty"),
        (b"a,b\n", "standard input has a header and no rows"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-4], "Compressed file ended"),
        (b"a,b\n1,x\n", "standard input, line 2, column 'b' = 'x': must be a number"),
        (b"\x93NUMPY", "standard input cannot be read"),
    ],
)
def test_a_bad_stream_is_refused_in_one_line(given: bytes, named: str) -> None:
    assert named in refusal(io.BytesIO(given))


def test_the_copy_of_a_stream_has_no_name_and_is_closed_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    copies = []
    make = tempfile.TemporaryFile

    def recorded() -> Any:
        copies.append(make())
        return copies[-1]

    monkeypatch.setattr(data_file.tempfile, "TemporaryFile", recorded)
    opened = open_table(io.BytesIO(content(".csv", X)))
    if os.name == "posix":
        assert os.fstat(copies[0].fileno()).st_nlink == 0
    rows(opened)
    assert not copies[0].closed
    del opened
    gc.collect(1)
    assert copies[0].closed


def test_a_stream_that_does_not_fit_on_the_disk_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(data_file.shutil, "copyfileobj", full)
    assert "standard input cannot be copied to a temporary file (No space left on device)" in refusal(
        io.BytesIO(b"1\n")
    )


# Text


@pytest.mark.parametrize(
    ("text", "selection", "columns", "expected"),
    [
        ("1;2\n3;4\n", Selection(delimiter=";"), ("x1", "x2"), [[1, 2], [3, 4]]),
        ("a b\n3 4\n", Selection(delimiter=" "), ("a", "b"), [[3, 4]]),
        ("a\tb\n3\t4\n", Selection(delimiter="tab"), ("a", "b"), [[3, 4]]),
        ("1,2\n3,4\n", Selection(header=True), ("1", "2"), [[3, 4]]),
        ("1,2\n3,4\n", Selection(header=False), ("x1", "x2"), [[1, 2], [3, 4]]),
        ("ann,2\nbob,4\n", Selection(header=False, columns=("x2",)), ("x2",), [[2], [4]]),
        ("name,h\nann,2\nNA,4\n", Selection(drop=("name",)), ("h",), [[2], [4]]),
        ("name,h,w\nann,2,5\n,4,6\n", Selection(columns=("w", "h")), ("w", "h"), [[5, 2], [6, 4]]),
        ('"a, b",c\n1,2\n', Selection(columns=("a, b",)), ("a, b",), [[1]]),
        ("a  b,c\n1,2\n", Selection(columns=("a b",)), ("a b",), [[1]]),
    ],
)
def test_text_is_read_as_it_is_said_to_be(text: str, selection: Selection, columns: Any, expected: Any) -> None:
    opened = open_table(io.BytesIO(text.encode()), selection=selection)
    assert opened.columns == columns
    np.testing.assert_array_equal(rows(opened), expected)


@pytest.mark.parametrize(
    ("suffix", "text", "selection", "named"),
    [
        (".csv", "a,b\n1,2\n", Selection(header=False), "line 1, column 'x1' = 'a': must be a number"),
        (".csv", "a,b\n", Selection(header=True), "has a header and no rows"),
        (".csv", "1,1\n", Selection(header=True), "column 2 = '1': must differ"),
        (".csv", "a;b\n1;2\n", Selection(delimiter="\t"), "'a;b' = '1;2': must be a number"),
        (".tsv", "a\tb\n1\t2\n\t\n", Selection(), "line 3, column 'a' = '': must not be missing"),
        (".tsv", "a\tb\n1\t2\n\n3\t4\n", Selection(), "line 3 is blank"),
        (".tsv", 'a\tb\n"1\t2\n', Selection(), r"must be cells separated by '\t'"),
        (".csv", "a,b\nx,2\n3\n", Selection(columns=("b",)), "line 3 has 1 cell(s), the last is '3': must have 2"),
        (".csv", "a,b\nx,2\nx,inf\n", Selection(columns=("b",)), "line 3, column 'b' = 'inf': must be finite"),
        (".csv", "age,b\n1,2\n", Selection(columns=("agee",)), "--columns 'agee': did you mean 'age'? It must be"),
        (".csv", "age,b\n1,2\n", Selection(drop=("zzz",)), "--drop 'zzz': must be a column of x.csv"),
        (".csv", "a,b\n1,2\n", Selection(drop=("a", "b")), "names every column of x.csv: must leave one"),
        (".csv", "a,a\n1,2\n", Selection(columns=("a",)), "must differ from the name of column 1"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(suffix: str, text: str, selection: Selection, named: str) -> None:
    Path(f"x{suffix}").write_text(text)
    assert named in refusal(f"x{suffix}", selection)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"columns": ("a",), "drop": ("b",)}, "--columns excludes --drop"),
        ({"columns": ()}, "must name at least one column"),
        ({"columns": "age"}, "--columns 'age': must be a list of names"),
        ({"drop": [1]}, "--drop"),
        ({"columns": ("a", " ")}, "no name may be empty"),
        ({"drop": ("a", "b", "a ")}, "--drop names 'a' twice"),
        *[({"delimiter": given}, "--delimiter") for given in ("", ",,", "1", "e", "-", ".", '"', "\n", "ab", "_")],
    ],
)
def test_a_selection_that_says_nothing_sensible_is_refused(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{named}" if named.startswith("--") else named):
        Selection(**options)


@pytest.mark.parametrize("suffix", [".npy", pytest.param(".parquet", marks=PARQUET)])
@pytest.mark.parametrize("options", [{"header": False}, {"header": True}, {"delimiter": ";"}])
def test_options_of_text_are_refused_for_other_files(suffix: str, options: dict[str, Any]) -> None:
    Path(f"x{suffix}").write_bytes(content(suffix, X))
    assert f"is for text files (.csv, .tsv): x{suffix} is not one" in refusal(f"x{suffix}", Selection(**options))


@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_of_an_array_are_selected_by_number(order: Any) -> None:
    np.save("x.npy", np.asarray(X, order=order))
    np.testing.assert_array_equal(rows(open_table("x.npy", selection=Selection(columns=("x3", "x1")))), X[:, [2, 0]])
    np.testing.assert_array_equal(rows(open_table("x.npy", selection=Selection(drop=("x2",)))), X[:, [0, 2]])


@PARQUET
def test_columns_of_parquet_that_are_no_numbers_may_be_left_out() -> None:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table({"name": ["x"] * 7, "a": X[:, 0], "__index_level_0__": range(7), "b": X[:, 1]})
    pyarrow.parquet.write_table(table, "x.parquet")
    np.testing.assert_array_equal(rows(open_table("x.parquet", selection=Selection(columns=("b", "a")))), X[:, [1, 0]])
    assert "column 'name' has the type string" in refusal("x.parquet")
    without = open_table("x.parquet", selection=Selection(drop=("name",)))
    assert (without.columns, without.index) == (("a", "b"), ("__index_level_0__",))
    np.testing.assert_array_equal(rows(without), X[:, :2])
    named = open_table("x.parquet", selection=Selection(columns=("__index_level_0__",)))
    assert (named.columns, named.index) == (("__index_level_0__",), ())


@PARQUET
@pytest.mark.parametrize(
    ("index", "left"), [("__null_dask_index__", "__null_dask_index__"), ("person", "person"), (None, None)]
)
def test_a_column_that_the_file_declares_a_row_index_is_left_out(index: str | None, left: str | None) -> None:
    import json

    import pyarrow
    import pyarrow.dataset
    import pyarrow.parquet

    table = pyarrow.table({"a": X[:, 0], "person": np.arange(7.0), "__null_dask_index__": range(7)})
    declared = {"index_columns": [index, {"kind": "range"}] if index else []}
    table = table.replace_schema_metadata({"pandas": json.dumps(declared)})
    pyarrow.parquet.write_table(table, "x.parquet")
    expected = [name for name in ("a", "person") if name != left]
    for data in ("x.parquet", pyarrow.dataset.dataset("x.parquet")):
        found = open_table(data)
        assert list(found.columns) == expected
        assert set(found.index) == {"__null_dask_index__", *([left] if left else [])}


# Several files


def in_parts(suffix: str, folder: str = "parts") -> list[Path]:
    """Write the rows of X to three files, and return their paths in another order than that of the rows."""
    Path(folder).mkdir()
    cuts = {"part-2": X[5:], "part-0": X[:1], "part-1": X[1:5]}
    for name, part in cuts.items():
        Path(folder, name + suffix).write_bytes(content(suffix, part))
    return [Path(folder, name + suffix) for name in cuts]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_several_files_are_one_table_in_the_order_of_their_names(suffix: str) -> None:
    paths = in_parts(suffix)
    np.testing.assert_array_equal(rows(open_table(paths)), X)
    Path("parts/_SUCCESS").touch()
    Path("parts/.part-0.crc").write_bytes(b"x")
    np.testing.assert_array_equal(rows(open_table(Path("parts"))), X)
    names = [name for j in (2, 0) if (name := open_table(paths[0]).columns[j])]
    np.testing.assert_array_equal(rows(open_table("parts", selection=Selection(columns=tuple(names)))), X[:, [2, 0]])


@pytest.mark.parametrize("suffix", [".csv", pytest.param(".parquet", marks=PARQUET)])
@pytest.mark.parametrize(
    ("names", "named"),
    [
        (("a", "c", "b"), "column 2 has the name 'c': must be 'b', as in parts/part-0"),
        (("a", "b", "d"), "column 3 has the name 'd': must be 'c', as in parts/part-0"),
        (("a", "b"), "has 2 column(s): must have 3, as parts/part-0"),
    ],
)
def test_a_part_with_other_columns_is_refused_before_any_row_is_read(
    suffix: str, names: tuple[str, ...], named: str
) -> None:
    in_parts(suffix)
    Path("parts/part-2" + suffix).write_bytes(content(suffix, X[5:, : len(names)], names))
    assert f"parts/part-2{suffix}" in (message := refusal("parts"))
    assert named in message

    def unread(*_: object) -> Any:
        raise AssertionError("rows were read")

    with pytest.raises(InvalidInput, match="must"):
        open_table("parts", unread)


def test_a_part_without_the_header_of_the_others_is_refused() -> None:
    in_parts(".csv")
    Path("parts/part-1.csv").write_text("1,2,3\n")
    assert "parts/part-1.csv, column 1 has the name 'x1': must be 'a'" in refusal("parts")


def test_an_error_in_a_part_names_the_part_and_its_own_line() -> None:
    in_parts(".csv")
    Path("parts/part-1.csv").write_text("a,b,c\n1,2,3\n1,2,nan\n")
    assert "parts/part-1.csv, line 3, column 'c' = 'nan': must not be missing" in refusal("parts")


def test_a_part_may_have_no_rows_but_not_all_of_them() -> None:
    in_parts(".csv")
    Path("parts/part-1.csv").write_text("a,b,c\n")
    np.testing.assert_array_equal(rows(open_table("parts")), X[[0, 5, 6]])
    for k in (0, 2):
        Path(f"parts/part-{k}.csv").write_text("a,b,c\n")
    assert "has a header and no rows" in refusal("parts")


def test_a_part_that_changes_while_the_table_is_read_is_refused() -> None:
    in_parts(".csv")
    opened = open_table("parts")
    os.utime("parts/part-2.csv", ns=(0, 0))
    with pytest.raises(InvalidInput, match=r"parts/part-2\.csv changed while it was read"):
        list(blocks(opened.rows))


@pytest.mark.parametrize(
    ("prepare", "data", "named"),
    [
        (lambda: None, "parts", "is a directory without data files"),
        (lambda: Path("parts/deep").mkdir(), "parts", "parts/deep is a directory inside a directory of data"),
        (lambda: Path("parts/notes.txt").touch(), "parts", "notes.txt has the suffix '.txt'"),
        (lambda: Path("x.csv").write_text("1\n"), ["x.csv", "x.csv"], "x.csv is given twice"),
        (lambda: Path("x.csv").write_text("1\n"), ["x.csv", "parts"], "parts is a directory: must be a file"),
        (lambda: Path("x.csv").write_text("1\n"), ["x.csv", "y.npy"], "y.npy is a .npy file: must be a .csv file"),
        (lambda: None, [], "no data file is given"),
        (lambda: None, 7, "data of type int: must be a file, a directory"),
        (lambda: None, [7], "data of type list: must be"),
    ],
)
def test_what_is_no_table_of_files_is_refused(prepare: Any, data: Any, named: str) -> None:
    Path("parts").mkdir()
    prepare()
    assert named in refusal(data)


def test_the_files_of_a_table_are_sorted_whatever_the_order_in_which_they_are_given() -> None:
    paths = in_parts(".csv")
    assert data_files(paths) == data_files(paths[::-1]) == data_files(Path("parts")) == sorted(paths)


@given(sizes=st.lists(st.integers(1, 9), min_size=2, max_size=8), full=st.integers(1, 5))
def test_chunks_do_not_show_where_a_file_ends(sizes: list[int], full: int) -> None:
    x = np.arange(2.0 * sum(sizes)).reshape(-1, 2)
    ends = np.cumsum(sizes)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(source, "CHUNK_BYTES", 16 * full)
        starts = [lambda part=part: iter([part]) for part in np.split(x, ends[:-1])]
        chunks = list(source._chained(starts))
    np.testing.assert_array_equal(np.concatenate(chunks), x)
    assert [len(chunk) for chunk in chunks[:-1]] == [full] * (-(-len(x) // full) - 1)


def test_the_numbers_of_many_small_text_files_are_kept_together(monkeypatch: pytest.MonkeyPatch) -> None:
    in_parts(".csv")
    monkeypatch.setattr(source, "KEPT_BYTES", X.nbytes)
    opened = open_table("parts")
    for path in Path("parts").iterdir():
        path.unlink()
    np.testing.assert_array_equal(rows(opened), X)


# Data sets that other libraries opened


@PARQUET
def test_a_dataset_of_pyarrow_is_read_in_batches() -> None:
    import pyarrow.dataset

    in_parts(".parquet")
    dataset = pyarrow.dataset.dataset("parts")
    np.testing.assert_array_equal(rows(open_table(dataset)), X)
    np.testing.assert_array_equal(rows(open_table(dataset, selection=Selection(columns=("c", "b")))), X[:, [2, 1]])
    assert "is for text files" in refusal(dataset, Selection(delimiter=";"))
    assert "has no columns" in refusal(pyarrow.dataset.dataset(pyarrow.table({})))
    assert "--columns 'z'" in refusal(dataset, Selection(columns=("z",)))
    x = X.copy()
    x[6, 1] = np.inf
    Path("parts/part-2.parquet").write_bytes(content(".parquet", x[5:]))
    assert "the pyarrow dataset, row 7, column 'b' = inf: must be finite" in refusal(pyarrow.dataset.dataset("parts"))
    Path("parts/part-1.parquet").write_bytes(b"PAR1")
    assert "the pyarrow dataset cannot be read (" in refusal(dataset)


@DASK
def test_a_column_and_a_delayed_value_of_dask_are_no_tables() -> None:
    import dask.dataframe
    import pandas as pd

    column = dask.dataframe.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=2).a
    for data in (column, dask.delayed(X)):
        assert refusal(data).startswith(f"data of type {type(data).__name__}: must be a file")


def test_a_stream_of_text_is_refused() -> None:
    assert "standard input gives str: must be a binary stream" in refusal(io.StringIO("a,b\n1,1\n"))


@DASK
def test_a_data_frame_of_dask_is_read_partition_by_partition() -> None:
    import dask.dataframe
    import pandas as pd

    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(name="x")
    data = dask.dataframe.from_pandas(frame, npartitions=3)
    np.testing.assert_array_equal(rows(open_table(data, selection=Selection(drop=("name",)))), X)
    np.testing.assert_array_equal(rows(open_table(data, selection=Selection(columns=("c", "a")))), X[:, [2, 0]])
    assert "the dask data frame, column 'name' has the type" in refusal(data)
    frame.loc[5, "b"] = np.nan
    broken = dask.dataframe.from_pandas(frame, npartitions=3)
    message = refusal(broken, Selection(columns=("a", "b")))
    assert "the dask data frame, row 6, column 'b' = nan: must not be missing" in message
