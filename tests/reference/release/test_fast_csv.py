"""Test that the fast and the strict CSV reader give the same numbers and the same errors on many unusual files."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from covassay.reference.domain import blocks
from covassay.reference.errors import InvalidInput
from covassay.reference.release.tables import fast_csv, source
from covassay.reference.release.tables.reading import open_table
from covassay.reference.release.tables.selection import Selection
from tests.conventions import Matrix

pytestmark = pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="needs pyarrow")

ODD_CELLS = [
    "1", "01", "+1", "++1", "+-1", "-+1", "--1", "-1", "-0", "1.", ".5", ".", "-.5", "1e5", "1E5", "1e+5", "1e", "1e+",
    "e5", "1d5", "1e999", "-1e999", "1e-999", "4.9e-324", "2.4703282292062328e-324", "1.7976931348623159e308",
    "9007199254740993", "0.1000000000000000055511151231257827", "123456789012345678901234567890", "1_0", "0x10", "1f",
    "inf", "-Infinity", "nan", "NaN", "nan(1)", "NA", "null", "", " ", " 1", "1 ", "\t1", "1\t", "\x0b1", "\xa01",
    "１", "٣", "1 2", "1,2", '"1"', '"1', '1"', '"2"3', '"1,2"', '"1\n"', '""', "true", "a", "é", "\x001", "1\r", "−1",
    "0" * 400 + "1", "1" + "0" * 400, "1." + "3" * 900,
]  # fmt: skip
ODD_FILES = {
    "nothing": b"",
    "a header alone": b"a,b\n",
    "no last line break": b"a,b\n1,2",
    "carriage returns": b"a,b\r\n1,2\r\n3,4\r\n",
    "mixed line breaks": b"a,b\r\n1,2\n3,4\r\n",
    "old line breaks": b"a,b\r1,2\r3,4\r",
    "one carriage return among line feeds": b"a,b\n1,2\r3,4\n",
    "a blank line at the end": b"a,b\n1,2\n\n",
    "blank lines and blanks at the end": b"a,b\n1,2\n\n  \n\n",
    "a blank line inside": b"a,b\n1,2\n\n3,4\n",
    "a line of blanks inside": b"a,b\n1,2\n  \n3,4\n",
    "a blank line in a file of one column": b"a\n1\n\n2\n",
    "a blank line first": b"\na,b\n1,2\n",
    "a line of commas": b"a,b\n1,2\n,\n",
    "a short line": b"a,b\n1,2\n3\n",
    "a long line": b"a,b\n1,2\n3,4,5\n",
    "a comma at the end": b"a,b\n1,2,\n",
    "a byte order mark": b"\xef\xbb\xbf1,2\n3,4\n",
    "a byte order mark and a header": b"\xef\xbb\xbfa,b\n3,4\n",
    "a byte order mark inside": b"a,b\n1,2\n\xef\xbb\xbf3,4\n",
    "a quoted header": b'"a","b"\n1,2\n3,4\n',
    "a header over two lines": b'"a\nb",c\n1,2\n3,x\n',
    "a header with a quoted comma": b'"a,b",c\n1,2\n',
    "quotes later": b'a,b\n1,2\n3,4\n"5",6\n7,8\n',
    "a quote never closed": b'a,b\n1,2\n"3,4\n5,6\n',
    "no UTF-8": b"a,b\n1,2\n\xff,4\n",
    "a null": b"a,b\n1,2\n3,\x004\n",
    "numbers as names": b"1,2\n3,4\n",
    "a late refusal": b"a,b\n" + b"1,2\n" * 40 + b"x,2\n",
    "many rows": b"a,b\n" + b"".join(b"%d,%d\n" % (k, k * k) for k in range(200)),
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use blocks of about three lines and chunks of five rows, so that every file has several blocks and chunks."""
    monkeypatch.setattr(fast_csv, "BLOCK_BYTES", 16)
    monkeypatch.setattr(source, "CHUNK_BYTES", 80)


def outcome(path: Path, selection: Selection) -> str | tuple[tuple[str, ...], list[Matrix]]:
    try:
        table = open_table(path, selection=selection)
        return table.columns, list(blocks(table.rows))
    except InvalidInput as error:
        return str(error)


def require_the_same(path: Path, selection: Selection, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = outcome(path, selection)
    with monkeypatch.context() as patched:
        patched.setattr(fast_csv, "is_available", lambda delimiter: False)
        strict = outcome(path, selection)
    if isinstance(fast, str) or isinstance(strict, str):
        assert fast == strict
        return
    assert fast[0] == strict[0]
    assert [len(chunk) for chunk in fast[1]] == [len(chunk) for chunk in strict[1]]
    assert all(a.tobytes() == b.tobytes() for a, b in zip(fast[1], strict[1], strict=True))


@pytest.mark.parametrize("name", ODD_FILES)
@pytest.mark.parametrize("header", [None, True, False])
def test_an_odd_file(name: str, header: bool | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test that both readers give the same numbers or the same error for an unusual file."""
    path = tmp_path / "x.csv"
    path.write_bytes(ODD_FILES[name])
    require_the_same(path, Selection(header=header), monkeypatch)


@pytest.mark.parametrize("cell", ODD_CELLS)
def test_an_odd_cell(cell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test that both readers agree on an unusual cell, for several delimiters, in a column that is read and in a column
    that is not.
    """
    for suffix, delimiter in ((".csv", ","), (".tsv", "\t"), (".csv", " "), (".csv", ";")):
        path = tmp_path / f"x{suffix}"
        rows = ["a;b;c", "1;2;3", "4;CELL;6", "7;8;9", "10;11;12"]
        text = "\n".join(rows).replace(";", delimiter).replace("CELL", cell)
        path.write_bytes((text + "\n").encode("utf-8"))
        for selection in (Selection(delimiter=delimiter), Selection(columns=("c", "a"), delimiter=delimiter)):
            require_the_same(path, selection, monkeypatch)


def test_plain_text_is_read_by_pyarrow_alone(tmp_path: Path) -> None:
    """Test that the fast reader alone reads a plain file. If the fast reader left this file to the strict reader, the
    tests above would compare the strict reader with itself.
    """
    path = tmp_path / "x.csv"
    path.write_bytes(ODD_FILES["many rows"])
    with path.open("rb") as binary:
        found = list(fast_csv.plain_blocks(binary, 1, 2, (1,), ","))
    assert not any(isinstance(block, fast_csv.Rest) for block in found)
    np.testing.assert_array_equal(np.concatenate(found)[:, 0], np.arange(200.0) ** 2)
