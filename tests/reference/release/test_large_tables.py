"""Test files that are larger than the memory: they are read in chunks, in bounded memory, and every pass gives the same
rows."""

import gc
import importlib.util
import os
import subprocess
import sys
import textwrap
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Chunks, blocks, second_moment, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.pure import nuclear_laplace
from covassay.reference.mechanisms.registry import MECHANISMS, mechanism
from covassay.reference.release.tables import fast_csv, reading_csv, source
from covassay.reference.release.tables.reading import open_table, read_table
from tests.conventions import Matrix

HAS_PYARROW = importlib.util.find_spec("pyarrow") is not None
FORMATS = [".csv", ".npy", pytest.param(".parquet", marks=pytest.mark.skipif(not HAS_PYARROW, reason="needs pyarrow"))]


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use chunks of three rows of two numbers, and store no numbers between passes."""
    monkeypatch.setattr(source, "CHUNK_BYTES", 48)
    monkeypatch.setattr(source, "KEPT_BYTES", 0)


def write(path: Path, x: Matrix) -> Path:
    if path.suffix == ".csv":
        lines = ["a,b", *(",".join(map(repr, row)) for row in x.tolist())]
        path.write_text("\n".join(lines) + "\n")
    elif path.suffix == ".npy":
        np.save(path, x)
    else:
        write_parquet(path, {"a": x[:, 0], "b": x[:, 1]})
    return path


def write_parquet(path: Path, columns: dict[str, Any], **options: Any) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table(columns), path, **options)


def refusal(path: Path) -> str:
    with pytest.raises(InvalidInput) as caught:
        list(blocks(open_table(path).rows))
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert str(path) in message
    return message


# Chunks of a file


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 7])
@pytest.mark.usefixtures("small_chunks")
def test_a_file_comes_in_chunks_of_bounded_size_the_same_in_every_pass(tmp_path: Path, suffix: str, n: int) -> None:
    x = np.random.default_rng(n).standard_normal((n, 2))
    opened = open_table(write(tmp_path / f"data{suffix}", x))
    assert opened.rows.shape == (n, 2)
    for _ in range(2):
        passed = list(blocks(opened.rows))
        assert max(map(len, passed)) <= 3
        assert len(passed) == -(-n // 3)
        np.testing.assert_array_equal(np.concatenate(passed), x)


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_small_file_is_one_chunk(tmp_path: Path, suffix: str) -> None:
    """Test that a small file is read as one chunk."""
    opened = open_table(write(tmp_path / f"data{suffix}", np.ones((50, 2))))
    assert [len(chunk) for chunk in blocks(opened.rows)] == [50]


def test_a_small_csv_file_is_parsed_once_and_a_large_one_in_every_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "data.csv", np.ones((50, 2)))
    monkeypatch.setattr(source, "CHUNK_BYTES", 48)
    parsed = []
    numbers = reading_csv._numbers
    monkeypatch.setattr(reading_csv, "_numbers", lambda *line: parsed.append(1) or numbers(*line))
    monkeypatch.setattr(fast_csv, "is_available", lambda delimiter: False)
    for kept, times in ((50 * 16, 1), (50 * 16 - 1, 3)):
        monkeypatch.setattr(source, "KEPT_BYTES", kept)
        parsed.clear()
        opened = open_table(path)
        assert sum(map(len, blocks(opened.rows))) == sum(map(len, blocks(opened.rows))) == 50
        assert len(parsed) == 50 * times


@pytest.mark.usefixtures("small_chunks")
def test_every_pass_is_shown_to_whoever_watches(tmp_path: Path) -> None:
    """Test that the function `watch` gets every chunk of every pass."""
    seen = []

    def watch(passing: Iterator[Matrix], rows: int | None) -> Iterator[Matrix]:
        for chunk in passing:
            seen.append((rows, len(chunk)))
            yield chunk

    opened = open_table(write(tmp_path / "data.csv", np.ones((4, 2))), watch)
    assert seen == [(None, 3), (None, 1)]
    list(blocks(opened.rows))
    assert seen[2:] == [(4, 3), (4, 1)]


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.usefixtures("small_chunks")
def test_a_value_late_in_the_file_is_refused_by_its_place(tmp_path: Path, suffix: str) -> None:
    x = np.ones((9, 2))
    x[7, 1] = np.nan
    place = (
        "line 9, column 'b' = 'nan'" if suffix == ".csv" else "row 8, column '" + ("x2" if suffix == ".npy" else "b")
    )
    message = refusal(write(tmp_path / f"data{suffix}", x))
    assert place in message
    assert "must not be missing" in message


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.usefixtures("small_chunks")
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / f"data{suffix}", np.ones((9, 2)))
    opened = open_table(path)
    passing = blocks(opened.rows)
    next(passing)
    os.utime(path, ns=(0, 0))
    with pytest.raises(InvalidInput, match="changed while it was read: must stay as it is"):
        next(passing)
    with pytest.raises(InvalidInput, match="changed while it was read"):
        next(blocks(opened.rows))
    path.unlink()
    with pytest.raises(InvalidInput, match=r"cannot be read \(No such file or directory\)"):
        next(blocks(opened.rows))


@pytest.mark.skipif(os.name != "posix", reason="makes a pipe")
def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "data.csv")
    assert "is a device or a pipe: must be an ordinary file" in refusal(tmp_path / "data.csv")


def test_a_csv_file_without_line_breaks_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_csv, "LONGEST_LINE", 1000)
    (tmp_path / "data.csv").write_text("a\n1\n" + "1" * 1000)
    assert "line 3 = '11111" in refusal(tmp_path / "data.csv")
    (tmp_path / "data.csv").write_text("a\n1\n" + "1" * 300)
    assert read_table(tmp_path / "data.csv").rows[-1, 0] == pytest.approx(1.1111e299, rel=1e-4)


def test_a_byte_that_is_no_text_is_found_far_behind_the_first_buffer(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_bytes(b"a\n" + b"1\n" * 50_000 + b"\xff\n")
    assert "line 50002 has the byte 0xff" in refusal(tmp_path / "data.csv")


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_npy_file_in_either_order_is_read_by_rows(tmp_path: Path, order: Any, small_chunks: None) -> None:
    x = np.arange(14.0).reshape(7, 2)
    np.save(tmp_path / "data.npy", np.asarray(x, order=order))
    np.testing.assert_array_equal(np.concatenate(list(blocks(open_table(tmp_path / "data.npy").rows))), x)


# Parquet


@pytest.mark.skipif(HAS_PYARROW, reason="needs an environment without pyarrow")
def test_without_pyarrow_the_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "data.parquet").write_bytes(b"PAR1")
    assert "needs pyarrow to be read: install the extra covassay[parquet]" in refusal(tmp_path / "data.parquet")


def test_a_missing_pyarrow_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (tmp_path / "data.parquet").write_bytes(b"PAR1")
    assert "install the extra covassay[parquet]" in refusal(tmp_path / "data.parquet")


@pytest.mark.skipif(not HAS_PYARROW, reason="needs pyarrow")
class TestParquet:
    def test_every_type_of_number_is_read_across_row_groups(self, tmp_path: Path, small_chunks: None) -> None:
        n = 8
        columns = {
            "small": np.arange(n, dtype=np.int8),
            "unsigned": np.arange(n, dtype=np.uint64),
            "single": np.arange(n, dtype=np.float32),
            "yes": np.arange(n) % 2 == 0,
            "body  height": np.arange(n, dtype=np.float64),
        }
        write_parquet(tmp_path / "data.parquet", columns, row_group_size=3)
        table = read_table(tmp_path / "data.parquet")
        assert table.columns == ("small", "unsigned", "single", "yes", "body height")
        np.testing.assert_array_equal(table.rows, np.array([*columns.values()], dtype=np.float64).T)

    @pytest.mark.parametrize(
        ("columns", "parts"),
        [
            ({"a": ["x", "y"]}, ["column 'a'", "string", "must be real numbers"]),
            ({"a": [[1.0], [2.0]]}, ["column 'a'", "list", "must be real numbers"]),
            ({"a": np.array(["2020-01-01"], dtype="datetime64[s]")}, ["column 'a'", "timestamp", "real numbers"]),
            ({"a": [1.0, None]}, ["row 2", "column 'a'", "null", "must not be missing"]),
            ({"a": [1, 2, None]}, ["row 3", "column 'a'", "null", "must not be missing"]),
            ({"a": [1.0, np.inf]}, ["row 2", "column 'a'", "inf", "must be finite"]),
            ({"a": [1.0], " a ": [2.0]}, ["column 2", "differ from the name of column 1"]),
            ({"": [1.0]}, ["column 1", "must have a name"]),
            ({"a": np.zeros(0)}, ["a header and no rows", "at least one row"]),
            ({}, ["(0, 0)", "one column"]),
            ({"__index_level_0__": [3.0]}, ["no column but a row index"]),
        ],
    )
    def test_a_bad_file_is_refused(self, tmp_path: Path, columns: dict[str, Any], parts: list[str]) -> None:
        write_parquet(tmp_path / "data.parquet", columns)
        message = refusal(tmp_path / "data.parquet")
        for part in parts:
            assert part in message

    @pytest.mark.parametrize("content", [b"PAR1", b"1,2\n3,4\n" * 10], ids=["cut off", "CSV under the wrong name"])
    def test_what_is_no_parquet_file_is_refused(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "data.parquet").write_bytes(content)
        assert "must be a Parquet file" in refusal(tmp_path / "data.parquet")

    def test_a_damaged_page_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "data.parquet"
        write_parquet(path, {"a": np.random.default_rng(0).standard_normal(1000)}, compression="snappy")
        content = bytearray(path.read_bytes())
        content[4:200] = b"\xff" * 196
        path.write_bytes(bytes(content))
        assert "must be a Parquet file" in refusal(path)


# Memory


def stream(seed: int, n: int, d: int, m: int) -> Chunks:
    """Return n random rows of d numbers in chunks of m rows. Every pass draws the same rows again, so that they are not
    stored."""

    def start() -> Iterator[Matrix]:
        rng = np.random.default_rng(seed)
        for first in range(0, n, m):
            yield rng.uniform(-0.1, 0.1, (min(m, n - first), d))

    return Chunks((n, d), start)


def peak_of(work: Any) -> int:
    """Return the largest number of bytes that are allocated at any time during a call of `work`."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def release(x: Any) -> Matrix:
    return nuclear_laplace.sample(x, np.random.default_rng(1), epsilon=1.0)


@pytest.mark.thorough
def test_a_stream_is_released_in_little_memory_and_its_array_is_not() -> None:
    """Test that a release of 50 MB of rows in chunks needs less than 25 MB of memory. A release of the whole array
    needs more than 100 MB.
    """
    n, d = 100_000, 64
    chunks = stream(0, n, d, 4000)  # chunks of 2 MB
    assert n * d * 8 > 50e6
    assert peak_of(lambda: release(chunks)) < 25e6
    assert peak_of(lambda: release(np.concatenate(list(blocks(chunks))))) > 100e6


@pytest.mark.thorough
def test_the_second_moment_of_a_stream_is_that_of_the_array() -> None:
    chunks = stream(0, 100_000, 64, 4096)
    x = np.concatenate(list(blocks(chunks)))
    expected = x.T @ x / len(x)
    streamed = second_moment(unit_rows(chunks, 1.0))
    assert np.linalg.norm(streamed - expected) <= 1e-12 * np.linalg.norm(expected)
    np.testing.assert_allclose(np.diag(streamed), np.diag(expected), rtol=1e-12)
    np.testing.assert_allclose(release(chunks), release(x), rtol=1e-9, atol=1e-15)


BUDGETS: dict[str, dict[str, float]] = {
    "pure": {"epsilon": 1.0},
    "zcdp": {"rho": 0.5},
    "approximate": {"epsilon": 1.0, "delta": 1e-6},
}


def growth(sample: Callable[[Chunks], Any]) -> float:
    """Measure the largest memory that a function uses for 1000 rows and for 6000 rows of 20 numbers. Return the
    difference, divided by the 800 000 bytes of 5000 rows.
    """
    sample(stream(0, 500, 20, 500))  # this call loads modules and tables, so that their memory is not counted below
    small, large = (peak_of(partial(sample, stream(0, n, 20, 500))) for n in (1_000, 6_000))
    return (large - small) / (5_000 * 20 * 8)


# Together these mechanisms use every way of reading rows. The other mechanisms are tested only in slow runs.
READERS = {"nuclear-laplace", "centred-covariance", "adaptive-cov", "johnson-lindenstrauss", "ppde", "gaussian-learner"}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in READERS else [pytest.mark.slow]) for name in MECHANISMS]
)
def test_the_memory_of_a_mechanism_does_not_grow_with_the_data(name: str) -> None:
    """Test that a mechanism does not store the rows. It may store a few numbers for every row, such as its norm."""
    about = mechanism(name)
    assert growth(lambda rows: about.sample(rows, np.random.default_rng(0), **BUDGETS[about.notion.name])) < 0.2


@pytest.mark.thorough
def test_a_mechanism_that_gathers_the_rows_is_seen() -> None:
    assert growth(lambda rows: second_moment(np.concatenate(list(blocks(rows))))) > 0.9


@pytest.mark.thorough
@pytest.mark.parametrize("suffix", [*FORMATS, ".csv, strictly"])
def test_a_file_is_passed_over_in_little_memory(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test that a release from a file needs less than a third of the memory that all its numbers need in float64.
    Memory that pyarrow allocates itself is not counted.

    Chunks and blocks of text are smaller than usual, because the file is small.
    """
    monkeypatch.setattr(source, "CHUNK_BYTES", 2**15)
    monkeypatch.setattr(fast_csv, "BLOCK_BYTES", 2**15)
    monkeypatch.setattr(source, "KEPT_BYTES", 2**15)
    if suffix == ".csv, strictly":  # the strict reader, which does not use pyarrow
        suffix = ".csv"
        monkeypatch.setattr(fast_csv, "is_available", lambda delimiter: False)
    n, d = (50_000 if suffix == ".npy" else 10_000, 20) if suffix != ".parquet" else (100_000, 2)
    path = tmp_path / f"data{suffix}"
    if suffix == ".csv":
        with path.open("w") as file:
            file.writelines(",".join(f"{(i * j) % 97 / 970:.3f}" for j in range(d)) + "\n" for i in range(n))
    elif suffix == ".npy":
        np.save(path, np.full((n, d), 0.01))
    else:
        write_parquet(path, {"a": np.full(n, 0.01), "b": np.full(n, 0.02)}, row_group_size=10_000)
    opened: Any = []

    def work() -> None:
        opened.append(open_table(path))
        release(opened[0].rows)

    # Modules and tables that the first call loads are not counted.
    list(blocks(open_table(write(tmp_path / f"small{suffix}", np.full((2, 2), 0.01))).rows))
    release(np.zeros((1, d)))
    assert peak_of(work) < n * d * 8 / 3
    assert opened[0].rows.shape == (n, d)
    assert peak_of(lambda: read_table(path)) > n * d * 8  # read_table reads the whole file


# The largest resident memory of a process, in bytes.
# The field `ru_maxrss` of resource.getrusage is not used: in a child process it is not below the memory of the parent.
PEAK = "int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) * 1024"

BIG = """
    import numpy as np
    from covassay.reference.domain import Chunks
    from covassay.reference.mechanisms.pure import nuclear_laplace

    n, d, m = {n}, 64, 50_000

    def start():
        rng = np.random.default_rng(0)
        for first in range(0, n, m):
            yield rng.uniform(-0.1, 0.1, (min(m, n - first), d))

    released = nuclear_laplace.sample(Chunks((n, d), start), np.random.default_rng(1), epsilon=1.0)
    peak = {peak}
    # E x_i² = 0.01/3; the noise is of the order d²/n
    print(peak, np.diag(released).mean() * 3 / 0.01)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_five_gigabytes_are_released_in_less_than_one() -> None:
    """Test that a release of 10⁷ rows of 64 numbers (5.12 GB), which are drawn in chunks, needs less than 1 GB of
    memory."""
    code = textwrap.dedent(BIG.format(n=10**7, peak=PEAK))
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    peak, ratio = map(float, done.stdout.split())
    assert peak < 1e9
    assert ratio == pytest.approx(1, abs=0.01)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_file_of_a_gigabyte_is_released_by_the_command_line_in_less_than_a_third(tmp_path: Path) -> None:
    """Test that the command needs less than 0.34 GB of memory for a .npy file of 1.02 GB. The interpreter and its
    libraries need 0.15 GB."""
    n, d = 2_000_000, 64
    path = tmp_path / "data.npy"
    stored = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(n, d))
    for first in range(0, n, 50_000):
        stored[first : first + 50_000] = np.random.default_rng(first).uniform(-0.1, 0.1, (50_000, d))
    del stored
    arguments = [
        "release",
        str(path),
        "--mechanism",
        "nuclear-laplace",
        "--epsilon",
        "1",
        "--row-bound",
        "1",
        "--out",
        "cov.npy",
        "--float",
    ]
    code = f"from covassay.verification.cli.main import run; assert run({arguments!r}) == 0; print({PEAK})"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert np.load(tmp_path / "cov.npy").shape == (d, d)
    assert float(done.stdout) < 0.34e9
