"""Test reading data files and writing released matrices: invalid input is refused, and no existing file is lost."""

import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.release.tables.reading import Table, read_table
from covassay.reference.release.writing import require_writable, write_release

SUFFIXES = [".csv", ".json", ".npy", ".npz"]
MATRIX = np.array([[2.0, 0.1], [0.1, 1e-300]])
COLUMNS = ("age", "body height")
PROVENANCE: dict[str, object] = {"mechanism": "gaussian", "rho": 0.5, "seen": ["ε", 3]}

finite = st.floats(allow_nan=False, allow_infinity=False)


def refusal(path: Path) -> str:
    with pytest.raises(InvalidInput) as caught:
        read_table(path)
    return str(caught.value)


def released(path: Path) -> NDArray[np.float64]:
    """Return the matrix in a file that `write_release` wrote, read without functions of covassay."""
    if path.suffix == ".csv":
        lines = path.read_text(encoding="utf-8").splitlines()
        return np.array([[float(cell) for cell in line.split(",")] for line in lines[1:]])
    if path.suffix == ".json":
        return np.array(json.loads(path.read_text(encoding="utf-8"))["second_moment"], dtype=np.float64)
    if path.suffix == ".npy":
        return np.asarray(np.load(path, allow_pickle=False))
    with np.load(path, allow_pickle=False) as archive:
        return np.asarray(archive["second_moment"])


def same_bits(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


# Reading


@pytest.mark.parametrize(
    ("content", "columns", "rows"),
    [
        pytest.param(b"a,b\n1,2\n3,4\n", ("a", "b"), [[1, 2], [3, 4]], id="a header and two rows"),
        pytest.param(b"1,2\n3,4\n", ("x1", "x2"), [[1, 2], [3, 4]], id="no header"),
        pytest.param(b"a,b\n1,2", ("a", "b"), [[1, 2]], id="no line break at the end"),
        pytest.param(b"a,b\r\n1,2\r\n", ("a", "b"), [[1, 2]], id="the line breaks of Windows"),
        pytest.param(b"a,b\r1,2\r", ("a", "b"), [[1, 2]], id="the line breaks of old Macs"),
        pytest.param(b"\xef\xbb\xbf1,2\n", ("x1", "x2"), [[1, 2]], id="a byte order mark"),
        pytest.param(b"a,b\n1,2\n\n \r\n\n", ("a", "b"), [[1, 2]], id="blank lines at the end"),
        pytest.param(b"a\n1\n2\n\n", ("a",), [[1], [2]], id="blank lines after one column"),
        pytest.param(b'"a, b","c"\n"1","2"\n', ("a, b", "c"), [[1, 2]], id="quoted cells"),
        pytest.param(b'"a", "b"\n1, "2"\n', ("a", "b"), [[1, 2]], id="quotes after a blank"),
        pytest.param(b'"a\nb",c\n1,2\n', ("a b", "c"), [[1, 2]], id="a name on two lines"),
        pytest.param(b" a , b\n 1 ,\t2 \n", ("a", "b"), [[1, 2]], id="blanks around cells"),
        pytest.param(b"id,2019\n1,2\n", ("id", "2019"), [[1, 2]], id="a name that is a number"),
        pytest.param(b"EU,NA\n1,2\n", ("EU", "NA"), [[1, 2]], id="a name that looks missing"),
        pytest.param("größe\n1\n".encode(), ("größe",), [[1]], id="a name that is not ASCII"),
        pytest.param(b"-1e-3,+.5\n", ("x1", "x2"), [[-0.001, 0.5]], id="signs and exponents"),
        pytest.param(b"1e-400,-0.0\n", ("x1", "x2"), [[0.0, -0.0]], id="a number that underflows"),
    ],
)
def test_a_csv_file_is_read(tmp_path: Path, content: bytes, columns: tuple[str, ...], rows: list[list[float]]) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    table = read_table(path)
    assert table.columns == columns
    assert same_bits(table.rows, np.array(rows, dtype=np.float64))


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        pytest.param(b"", ["is empty"], id="an empty file"),
        pytest.param(b"\xef\xbb\xbf\r\n\n", ["is empty"], id="only a byte order mark and blank lines"),
        pytest.param(b"a,b\n\n", ["a header and no rows"], id="a header but no rows"),
        pytest.param(b"a,b\n1,2\n3\n", ["line 3", "1 cell(s)", "'3'", "must have 2"], id="a short line"),
        pytest.param(b"a,b\n1,2,7.5\n", ["line 2", "3 cell(s)", "'7.5'", "must have 2"], id="a long line"),
        pytest.param(b"1,2\n3,4,5\n", ["line 2", "3 cell(s)", "must have 2"], id="a long line, no header"),
        pytest.param(b"a,b\n1,2\n\n3,4\n", ["line 3", "blank"], id="a blank line in the middle"),
        pytest.param(b"a\n1\n\n3\n", ["line 3", "blank"], id="a blank line in a file of one column"),
        pytest.param(b"\na,b\n1,2\n", ["line 1", "blank"], id="a blank line at the start"),
        pytest.param(b"a,b\n1,\n", ["line 2", "column 'b'", "''", "must not be missing"], id="an empty cell"),
        pytest.param(b'a\n1\n""\n', ["line 3", "column 'a'", "''", "missing"], id="an empty last cell"),
        pytest.param(b"a,b\n1,2\n3,4\n,\n", ["line 4", "column 'a'", "missing"], id="a tail of commas"),
        *[
            pytest.param(
                f"a,b\n{spelling},2\n".encode(),
                ["line 2", "column 'a'", repr(spelling), "must not be missing"],
                id=f"missing written {spelling}",
            )
            for spelling in ["NA", "n/a", "#N/A", "NaN", "nan", "-nan", "null", "NULL", "None"]
        ],
        *[
            pytest.param(
                f"a,b\n1,{spelling}\n".encode(),
                ["line 2", "column 'b'", repr(spelling), "must be finite"],
                id=f"infinity written {spelling}",
            )
            for spelling in ["inf", "-Inf", "+inf", "Infinity", "-INFINITY"]
        ],
        pytest.param(b"a\n1e999\n", ["line 2", "column 'a'", "'1e999'", "1.798e+308"], id="an overflow"),
        pytest.param(
            b"a\n1_000\n", ["line 2", "column 'a'", "'1_000'", "without underscores"], id="underscores between digits"
        ),
        pytest.param(b"a,b\n1,tall\n", ["line 2", "column 'b'", "'tall'", "must be a number"], id="text"),
        pytest.param(b"a\n0x1F\n", ["line 2", "'0x1F'", "must be a number"], id="hexadecimal"),
        pytest.param(b'a\n"1,5"\n', ["line 2", "'1,5'", "must be a number"], id="decimal comma"),
        pytest.param(b"a;b\n1;2\n", ["line 2", "'a;b'", "'1;2'"], id="semicolons"),
        pytest.param(b"a\n1\n2\n3 4\n", ["line 4", "'3 4'", "must be a number"], id="two numbers in a cell"),
        pytest.param(b"a\n1\x00\n", ["line 2", r"'1\x00'", "number"], id="a null character"),
        pytest.param(
            b"1,NA\n3,4\n",
            ["line 1", "column 'x2'", "'NA'", "missing"],
            id="a first record with a missing value that could pass for a header",
        ),
        pytest.param(b"inf,1\n", ["line 1", "column 'x1'", "'inf'", "finite"], id="an infinite first record"),
        pytest.param(
            b"a,b,a\n1,2,3\n",
            ["line 1", "column 3", "'a'", "must differ from the name of column 1"],
            id="a column name twice",
        ),
        pytest.param(b"a, a \n1,2\n", ["line 1", "column 2", "'a'", "differ"], id="names that differ in blanks"),
        pytest.param(b",a\n0,1\n", ["line 1", "column 1", "''", "must have a name"], id="a row index"),
        pytest.param("a\n1\nä\n".encode("latin-1"), ["line 3", "0xe4", "must be UTF-8"], id="Latin-1"),
        pytest.param("a\n1\n".encode("utf-16"), ["line 1", "0xff", "must be UTF-8"], id="UTF-16"),
        pytest.param(b"\xef\xbb\xbfa\r\n1\r\n\xc3", ["line 3", "0xc3", "UTF-8"], id="half a character"),
        pytest.param(
            b'a,b\n1,2\n"3,4\n5,6\n', ["line 3", "'\"3,4'", "every quote closed"], id="a quote that is never closed"
        ),
        pytest.param(b'a,b\n1,"2"3\n', ["line 2", "'1,\"2\"3'", "commas"], id="text after a closed quote"),
        pytest.param(b'"a\nb",c\n1,2\n3,x\n', ["line 4", "column 'c'", "'x'"], id="text after a long header"),
    ],
)
def test_a_bad_csv_file_is_refused_in_one_line_that_names_the_place(
    tmp_path: Path, content: bytes, parts: list[str]
) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    message = refusal(path)
    for part in [str(path), "must", *parts]:
        assert part in message
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize("place", ["cell", "column name", "ragged line", "csv field"])
def test_long_values_are_shortened_in_messages(tmp_path: Path, place: str) -> None:
    long = "z" * 5000
    content = {
        "cell": f"a\n{long}\n",
        "column name": f"{long}\nNA\n",
        "ragged line": f"a\n1,{long}\n",
        "csv field": f"a\n{long * 30}\n",
    }[place]
    path = tmp_path / "data.csv"
    path.write_text(content)
    message = refusal(path).removeprefix(str(path))
    assert "line 2" in message
    assert len(message) < 200


def test_line_breaks_in_values_and_paths_do_not_break_the_message(tmp_path: Path) -> None:
    path = tmp_path / "odd\nname.csv"
    with pytest.raises(InvalidInput, match=r"odd\\nname\.csv") as missing:
        read_table(path)
    path.write_bytes(b'a\n"1\n2"\n')
    message = refusal(path)
    assert r"line 2, column 'a' = '1\n2'" in message
    assert len(str(missing.value).splitlines()) == len(message.splitlines()) == 1


@pytest.mark.parametrize("name", ["data.csv", "data.npy"])
def test_a_missing_file_is_refused(tmp_path: Path, name: str) -> None:
    message = refusal(tmp_path / name)
    assert str(tmp_path / name) in message
    assert "does not exist" in message


@pytest.mark.parametrize("name", ["data.csv", "data.npy", "data"])
def test_a_directory_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    message = refusal(tmp_path / name)
    assert str(tmp_path / name) in message
    assert "is a directory" in message


@pytest.mark.parametrize("name", ["data.txt", "data", "data.txt.gz", ".csv", ".gz"])
def test_another_suffix_is_refused_with_the_list_of_suffixes(tmp_path: Path, name: str) -> None:
    message = refusal(tmp_path / name)
    assert str(tmp_path / name) in message
    assert ".csv, .npy" in message


@pytest.mark.parametrize("name", ["a\0b.csv", "x" * 5000 + ".csv"], ids=["null", "too long"])
def test_a_path_that_no_file_can_have_is_refused(tmp_path: Path, name: str) -> None:
    assert "must be a readable file" in refusal(tmp_path / name)
    with pytest.raises(InvalidInput, match="must be a path for a file"):
        require_writable(tmp_path / name)


def test_an_unreadable_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "data.csv").write_bytes(b"1\n")
    monkeypatch.setattr(Path, "open", denied)
    assert "Permission denied" in refusal(tmp_path / "data.csv")


def test_the_suffix_may_be_in_capitals(tmp_path: Path) -> None:
    (tmp_path / "DATA.CSV").write_bytes(b"1,2\n")
    assert read_table(tmp_path / "DATA.CSV").columns == ("x1", "x2")


@pytest.mark.parametrize(
    "stored",
    [
        np.array([[1, 2], [3, 4]], dtype=np.int16),
        np.array([[1, 2], [3, 4]], dtype=">f4"),
        np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]),
        np.array([[1, 2], [3, 4]], dtype=np.longdouble),
    ],
    ids=["integers", "big-endian", "column by column", "long doubles"],
)
def test_an_npy_file_is_read_as_float64(tmp_path: Path, stored: NDArray[np.generic]) -> None:
    np.save(tmp_path / "data.npy", stored)
    table = read_table(tmp_path / "data.npy")
    assert table.columns == ("x1", "x2")
    assert same_bits(table.rows, np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert table.rows.flags.c_contiguous


@pytest.mark.parametrize(
    ("stored", "parts"),
    [
        pytest.param(np.ones(3), ["1 dimension(s)", "must have 2"], id="a vector"),
        pytest.param(np.float64(1), ["0 dimension(s)", "must have 2"], id="a number"),
        pytest.param(np.ones((1, 2, 3)), ["3 dimension(s)", "must have 2"], id="a cube"),
        pytest.param(np.ones((0, 3)), ["(0, 3)", "at least one row"], id="no rows"),
        pytest.param(np.ones((3, 0)), ["(3, 0)", "one column"], id="no columns"),
        pytest.param(np.ones((2, 2)) * 1j, ["complex128", "must be real"], id="complex numbers"),
        pytest.param(np.array([["1"]]), ["<U1", "must be real numbers"], id="text"),
        pytest.param(
            np.zeros(2, dtype=[("a_rather_long_name", "f8"), ("another_long_name", "f8")]),
            ["a_rather_long_name", "…", "must be real numbers"],
            id="named fields",
        ),
        pytest.param(
            np.array([[1.0, 2.0], [3.0, np.nan]]),
            ["row 2", "column 'x2'", "nan", "must not be missing"],
            id="a missing value",
        ),
        pytest.param(
            np.array([[1.0, 2.0], [-np.inf, np.nan]]), ["row 2", "column 'x1'", "-inf", "must be finite"], id="infinity"
        ),
    ],
)
def test_a_bad_array_in_an_npy_file_is_refused(tmp_path: Path, stored: NDArray[np.generic], parts: list[str]) -> None:
    path = tmp_path / "data.npy"
    np.save(path, stored)
    message = refusal(path)
    for part in [str(path), *parts]:
        assert part in message
    assert len(message.splitlines()) == 1


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp <= 1024, reason="the same as float64")
def test_a_long_double_beyond_float64_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.array([[np.longdouble("1e4000")]]))
    assert "row 1, column 'x1' = inf: must be finite" in refusal(tmp_path / "data.npy")


def whole_npy() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, MATRIX)
    return buffer.getvalue()


def pickled_npy() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array([[{}]], dtype=object), allow_pickle=True)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "part"),
    [
        pytest.param(b"", "is empty", id="an empty file"),
        pytest.param(b"1,2\n3,4\n", r"b'1,2\n3,'", id="CSV under the wrong name"),
        pytest.param(b"PK\x03\x04 and more", "b'PK", id="an archive under the wrong name"),
        pytest.param(b"\x80\x04K\x01.", "must be one array", id="a pickle under the wrong name"),
        pytest.param(pickled_npy(), "Python objects", id="an array of objects"),
        pytest.param(whole_npy()[:-1], "cannot be read", id="the last byte cut off"),
        pytest.param(whole_npy()[:9], "cannot be read", id="cut off in the header"),
        pytest.param(b"\x93NUMPY\x09\x09junk", "cannot be read", id="an unknown version"),
        pytest.param(whole_npy().replace(b"(2, 2)", b"(2, 2 "), "cannot be", id="a bracket lost"),
        pytest.param(whole_npy().replace(b"(2, 2)", b"(9**9)"), "cannot be", id="a sum as shape"),
        pytest.param(whole_npy().replace(b"'<f8'", b"'<f9'"), "cannot be", id="an unknown type"),
    ],
)
def test_an_unreadable_npy_file_is_refused(tmp_path: Path, content: bytes, part: str) -> None:
    path = tmp_path / "data.npy"
    path.write_bytes(content)
    message = refusal(path)
    assert str(path) in message
    assert part in message
    assert len(message.splitlines()) == 1


def test_an_npy_header_that_claims_more_than_memory_holds_is_refused(tmp_path: Path) -> None:
    header = whole_npy()[:128].replace(b"(2, 2), }             ", b"(1000000000000, 1000)}")
    assert b"1000000000000" in header
    (tmp_path / "data.npy").write_bytes(header)
    assert "cannot be read" in refusal(tmp_path / "data.npy")


@given(content=st.binary(max_size=60) | st.text("0123456789,.-e_\"' \nNAinfx", max_size=60))
def test_any_bytes_are_read_as_finite_rows_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, content: bytes | str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    try:
        table = read_table(path)
    except InvalidInput:
        message = refusal(path)
        assert str(path) in message
        assert len(message.splitlines()) == 1
    else:
        assert table.rows.shape[1] == len(table.columns) == len(set(table.columns))
        assert len(table.rows) >= 1
        assert np.isfinite(table.rows).all()


# Writing


@pytest.mark.thorough
@pytest.mark.parametrize("suffix", SUFFIXES)
@given(matrix=st.integers(1, 5).flatmap(lambda d: arrays(np.float64, (d, d), elements=finite)))
def test_every_finite_matrix_comes_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, matrix: NDArray[np.float64]
) -> None:
    """Test that a release that is written to a file and read again has the same bits."""
    path = tmp_path_factory.getbasetemp() / f"any{suffix}"
    columns = [f"c{j}" for j in range(matrix.shape[1])]
    write_release(path, matrix, columns, {})
    assert same_bits(released(path), matrix)
    if suffix in (".csv", ".npy"):
        assert same_bits(read_table(path).rows, matrix)


@pytest.mark.thorough
@given(
    columns=st.lists(
        st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1), min_size=1, max_size=4, unique=True
    )
)
def test_every_column_name_comes_back_exactly(tmp_path_factory: pytest.TempPathFactory, columns: list[str]) -> None:
    directory = tmp_path_factory.getbasetemp()
    names = ["name", *(f"_{column}, “{column}”" for column in columns)]
    matrix = np.eye(len(names))
    for suffix in SUFFIXES:
        write_release(directory / f"names{suffix}", matrix, names, {})
    assert read_table(directory / "names.csv").columns == tuple(names)
    assert json.loads((directory / "names.json").read_text(encoding="utf-8"))["columns"] == names
    with np.load(directory / "names.npz", allow_pickle=False) as archive:
        assert archive["columns"].tolist() == names


# for each kind of output: the released values, the text of the .csv file, and the fields of the .json and .npz files
FORMS: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "matrix": (MATRIX, "a,b\n2.0,0.1\n0.1,1e-300\n", {"columns": ["a", "b"], "second_moment": MATRIX.tolist()}),
    "direction": ([0.6, -0.8], "a,b\n0.6,-0.8\n", {"columns": ["a", "b"], "direction": [0.6, -0.8]}),
    "vector": ([3.0, 4.0], "a,b\n3.0,4.0\n", {"columns": ["a", "b"], "vector": [3.0, 4.0]}),
    "coefficients": ([0.5], "a\n0.5\n", {"columns": ["a"], "target": "b", "coefficients": [0.5]}),
    "gaussian": (
        [[7.0, 8.0], [1.0, 0.0], [0.0, 2.0]],
        "a,b\n7.0,8.0\n1.0,0.0\n0.0,2.0\n",
        {"columns": ["a", "b"], "mean": [7.0, 8.0], "covariance": [[1.0, 0.0], [0.0, 2.0]]},
    ),
    "moments": (
        [[0.5, 1.0], [1.0, 0.0], [0.0, 2.0]],
        "a,b\n0.5,1.0\n1.0,0.0\n0.0,2.0\n",
        {"columns": ["a", "b"], "mean": [0.5, 1.0], "second_moment": [[1.0, 0.0], [0.0, 2.0]]},
    ),
    "rows-mean-covariance": (
        [[9.0, 0.5, 1.0], [0.5, 1.0, 0.0], [1.0, 0.0, 2.0]],
        "rows,a,b\n9.0,0.5,1.0\n0.5,1.0,0.0\n1.0,0.0,2.0\n",
        {"columns": ["a", "b"], "rows": 9.0, "mean": [0.5, 1.0], "covariance": [[1.0, 0.0], [0.0, 2.0]]},
    ),
    "projection": (
        [[0.5, 0.5], [0.5, 0.5]],
        "a,b\n0.5,0.5\n0.5,0.5\n",
        {"columns": ["a", "b"], "projection": [[0.5, 0.5], [0.5, 0.5]]},
    ),
    "number": (1.5, "number\n1.5\n", {"columns": ["a", "b"], "number": 1.5}),
    "level": (4, "level\n4.0\n", {"columns": ["a", "b"], "level": 4.0}),
}


def test_every_form_of_output_has_a_file() -> None:
    assert set(FORMS) == set(OUTPUTS)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_output_is_written_under_its_names(tmp_path: Path, form: str) -> None:
    values, text, parts = FORMS[form]
    for suffix in SUFFIXES:
        write_release(tmp_path / f"out{suffix}", values, ("a", "b"), PROVENANCE, OUTPUTS[form])
    assert (tmp_path / "out.csv").read_text() == text
    assert json.loads((tmp_path / "out.json").read_text()) == {**parts, "provenance": PROVENANCE}
    assert same_bits(np.load(tmp_path / "out.npy"), np.asarray(values, dtype=np.float64))
    with np.load(tmp_path / "out.npz", allow_pickle=False) as archive:
        assert {key: archive[key].tolist() for key in parts} == parts
        assert set(archive) == {*parts, "provenance"}


@pytest.mark.parametrize("form", FORMS)
def test_an_output_of_another_form_is_refused(tmp_path: Path, form: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^{form} of shape \(5, 5, 5\): must have shape"):
        write_release(tmp_path / "out.csv", np.ones((5, 5, 5)), ("a", "b"), PROVENANCE, OUTPUTS[form])
    assert not list(tmp_path.iterdir())


def test_a_single_column_has_a_target_and_no_coefficients(tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        write_release(tmp_path / f"out{suffix}", [], ("y",), PROVENANCE, OUTPUTS["coefficients"])
    assert json.loads((tmp_path / "out.json").read_text())["coefficients"] == []


def test_csv_is_a_header_and_the_shortest_exact_decimals(tmp_path: Path) -> None:
    write_release(tmp_path / "out.csv", MATRIX, ("a,b", "c"), PROVENANCE)
    assert (tmp_path / "out.csv").read_bytes() == b'"a,b",c\n2.0,0.1\n0.1,1e-300\n'


def test_json_holds_columns_matrix_and_provenance(tmp_path: Path) -> None:
    write_release(tmp_path / "out.json", MATRIX, COLUMNS, PROVENANCE)
    text = (tmp_path / "out.json").read_text(encoding="utf-8")
    assert json.loads(text) == {"columns": list(COLUMNS), "second_moment": MATRIX.tolist(), "provenance": PROVENANCE}
    assert "ε" in text
    assert text.endswith("}\n")


def test_npz_holds_three_arrays_without_pickles(tmp_path: Path) -> None:
    """Test that an .npz archive can be read without executing code from it."""
    write_release(tmp_path / "out.npz", MATRIX, COLUMNS, PROVENANCE)
    with np.load(tmp_path / "out.npz", allow_pickle=False) as archive:
        assert set(archive) == {"second_moment", "columns", "provenance"}
        assert archive["columns"].tolist() == list(COLUMNS)
        assert json.loads(str(archive["provenance"])) == PROVENANCE


def test_a_release_read_as_data_has_its_columns(tmp_path: Path) -> None:
    write_release(tmp_path / "out.csv", MATRIX, COLUMNS, PROVENANCE)
    table = read_table(tmp_path / "out.csv")
    assert isinstance(table, Table)
    assert table.columns == COLUMNS


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_numpy_numbers_in_the_provenance_become_plain_ones(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    write_release(path, MATRIX, COLUMNS, {"n": np.int64(3), "spectrum": np.array([0.5, 1.0])})
    if suffix == ".json":
        provenance = json.loads(path.read_text(encoding="utf-8"))["provenance"]
    else:
        with np.load(path, allow_pickle=False) as archive:
            provenance = json.loads(str(archive["provenance"]))
    assert provenance == {"n": 3, "spectrum": [0.5, 1.0]}


def test_a_name_that_is_not_unicode_does_not_cost_the_release(tmp_path: Path) -> None:
    undecodable = os.fsdecode(b"data\xff.csv") if os.name == "posix" else "data\udcff.csv"
    for suffix in SUFFIXES:
        write_release(tmp_path / f"out{suffix}", MATRIX, ("a", undecodable), {"file": undecodable})
    document = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert document["provenance"] == {"file": undecodable}
    assert same_bits(read_table(tmp_path / "out.csv").rows, MATRIX)


def test_without_a_path_csv_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    require_writable(None)
    write_release(None, MATRIX, COLUMNS, PROVENANCE)
    assert capsys.readouterr().out == "age,body height\n2.0,0.1\n0.1,1e-300\n"


def test_a_terminal_that_lacks_a_letter_still_shows_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii", newline=""))
    write_release(None, MATRIX, ("größe", "b"), PROVENANCE)
    assert raw.getvalue() == b"gr\\xf6\\xdfe,b\n2.0,0.1\n0.1,1e-300\n"


@pytest.mark.parametrize(
    ("matrix", "part"),
    [
        (np.ones((2, 3)), "(2, 3)"),
        (np.ones(3), "(3,)"),
        (np.ones((1, 2, 2)), "(1, 2, 2)"),
        (np.float64(1), "()"),
        (np.ones((0, 2)), "(0, 2)"),
        (np.array([[1.0, np.nan], [0.0, 0.0]]), "not finite"),
        (np.array([[1.0, 0.0], [0.0, np.inf]]), "not finite"),
    ],
    ids=["too wide", "too long", "a cube", "a number", "no rows", "NaN", "infinity"],
)
def test_a_bad_matrix_is_refused_and_nothing_is_written(tmp_path: Path, matrix: NDArray[np.float64], part: str) -> None:
    with pytest.raises(InvalidInput, match="matrix") as caught:
        write_release(tmp_path / "out.csv", matrix, COLUMNS, PROVENANCE)
    assert part in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".json", ".npz"])
@pytest.mark.parametrize("entry", [{1, 2}, float("nan"), 1j, np.array(1j)], ids=["set", "NaN", "complex", "array"])
def test_provenance_that_json_cannot_hold_is_refused_and_the_old_file_stays(
    tmp_path: Path, suffix: str, entry: object
) -> None:
    path = tmp_path / f"out{suffix}"
    path.write_bytes(b"old")
    with pytest.raises(InvalidInput, match="provenance"):
        write_release(path, MATRIX, COLUMNS, {"entry": entry})
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def release_to(path: Path) -> None:
    write_release(path, MATRIX, COLUMNS, PROVENANCE)


@pytest.mark.parametrize("check", [require_writable, release_to], ids=["check", "write"])
@pytest.mark.parametrize(
    ("name", "part"),
    [
        pytest.param("out.txt", ".csv, .json, .npy, .npz", id="an unknown suffix"),
        pytest.param("out", ".csv, .json, .npy, .npz", id="no suffix"),
        pytest.param("absent/out.csv", "directory that does not exist", id="no such directory"),
        pytest.param("folder.csv", "is a directory", id="a directory"),
        pytest.param("folder", "is a directory", id="a directory without suffix"),
        pytest.param("file.csv/out.csv", "must be a path for a file", id="below a file"),
        pytest.param("loop.csv", "must be a path for a file", id="a link to itself"),
        pytest.param("pipe.csv", "a device or a pipe", id="a pipe"),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="makes links and pipes")
def test_a_path_that_cannot_be_written_is_refused(
    tmp_path: Path, check: Callable[[Path], None], name: str, part: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file.csv").write_bytes(b"old")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InvalidInput) as caught:
        check(tmp_path / name)
    message = str(caught.value)
    assert str(tmp_path / name) in message
    assert part in message
    assert len(message.splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_a_directory_without_write_permission_is_refused_before_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(InvalidInput, match=r"out\.csv cannot be created \(Permission denied\)"):
        require_writable(tmp_path / "out.csv")


def test_a_write_protected_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.csv"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # because a superuser may write to any file
    with pytest.raises(InvalidInput, match=r"out\.csv is write-protected"):
        release_to(path)
    assert path.read_bytes() == b"old"


def test_the_check_leaves_nothing_behind_and_an_old_file_alone(tmp_path: Path) -> None:
    require_writable(tmp_path / "new.csv")
    assert not list(tmp_path.iterdir())
    path = tmp_path / "old.json"
    path.write_bytes(b"old")
    require_writable(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("suffix", "owner", "function"),
    [
        *[(suffix, os, "replace") for suffix in SUFFIXES],
        *[(suffix, os, "fsync") for suffix in SUFFIXES],
        (".npy", np, "save"),
        (".npz", np, "savez"),
        (".json", json, "dumps"),
    ],
)
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("old", [b"old", None], ids=["over an old file", "a new file"])
def test_a_failure_while_writing_leaves_the_directory_as_it_was(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    suffix: str,
    owner: object,
    function: str,
    error: BaseException,
    old: bytes | None,
) -> None:
    path = tmp_path / f"out{suffix}"
    if old is not None:
        path.write_bytes(old)

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(owner, function, fail)
    with pytest.raises(type(error)):
        release_to(path)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == ({} if old is None else {path: old})


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_old_file_is_replaced_and_no_temporary_file_remains(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out{suffix}"
    path.write_bytes(b"old" * 1000)
    release_to(path)
    assert same_bits(released(path), MATRIX)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="links and file modes")
def test_a_link_stays_a_link_and_others_may_read_the_release(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    target = tmp_path / "elsewhere" / "target.csv"
    link = tmp_path / "link.csv"
    link.symlink_to(target)
    ordinary = tmp_path / "ordinary"
    ordinary.touch()
    release_to(link)
    assert link.is_symlink()
    assert same_bits(released(target), MATRIX)
    assert target.stat().st_mode == ordinary.stat().st_mode


def test_the_same_release_gives_the_same_bytes(tmp_path: Path) -> None:
    """Test that two files of the same release have the same bytes. A time stamp in the files would make them differ."""
    for suffix in SUFFIXES:
        release_to(tmp_path / f"a{suffix}")
        release_to(tmp_path / f"b{suffix}")
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()
