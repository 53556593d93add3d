"""Compare the processor time of a release from Parquet with that of one product of its rows in float64.

    python tests/benchmarks/test_size.py 10000000 FOLDER

The command writes a table of that many rows of 20 columns to the folder, measures the release, and removes the table.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from covassay.reference.privacy import ZCDP
from covassay.reference.release import ReleaseRequest, release_table

COLUMNS, AT_ONCE, MOST = 20, 500_000, 3.0
NAMES = [f"x{j}" for j in range(1, COLUMNS + 1)]
BOUNDS = dict.fromkeys(NAMES, (-4.0, 4.0))


def written(path: Path, rows: int) -> None:
    """Write correlated normal columns in parts, so that the table need not fit in memory."""
    import pyarrow
    import pyarrow.parquet

    rng = np.random.default_rng(28)
    mixed = np.eye(COLUMNS) + 0.3
    schema = pyarrow.schema([(name, pyarrow.float64()) for name in NAMES])
    with pyarrow.parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for first in range(0, rows, AT_ONCE):
            x = rng.standard_normal((min(AT_ONCE, rows - first), COLUMNS)) @ mixed / 3
            writer.write_table(pyarrow.table(dict(zip(NAMES, x.T, strict=True)), schema=schema), row_group_size=100_000)


def product(path: Path) -> None:
    """Compute XᵀX in float64, from batches of the file."""
    import pyarrow.parquet

    total = np.zeros((COLUMNS, COLUMNS))
    file = pyarrow.parquet.ParquetFile(path, pre_buffer=False)
    for batch in file.iter_batches(batch_size=32_768, use_threads=False):
        x = np.empty((COLUMNS, len(batch)))
        for row, column in zip(x, batch.columns, strict=True):
            row[:] = column.to_numpy()
        total += x @ x.T


def in_memory(rows: int) -> Callable[[], None]:
    """Return a function that computes XᵀX of one block in memory, and repeats this until it has read the given number
    of rows.
    """
    x = np.random.default_rng(0).standard_normal((100_000, COLUMNS))

    def run() -> None:
        for _ in range(0, rows, len(x)):
            x.T @ x

    return run


def released(path: Path, mechanism: str, **options: str) -> None:
    """Write an exact release to a file beside the data."""
    frame = {"bounds": BOUNDS} if mechanism.startswith("box") else {"row_bound": 10.0}
    release_table(
        ReleaseRequest(
            data=path, mechanism=mechanism, budget=ZCDP(0.5), options=options, rounded=True,
            out=path.parent.parent / "out.json", force=True, **frame,  # type: ignore[arg-type]
        )
    )  # fmt: skip


def measured(folder: Path, rows: int, repeats: int) -> dict[str, float]:
    """Return the median processor time of every step; the steps take turns."""
    (folder / "data").mkdir()
    path = folder / "data" / "table.parquet"
    written(path, rows)
    steps: dict[str, Callable[[], None]] = {
        "product in memory": in_memory(rows),
        "product from Parquet": lambda: product(path),
        "discrete-gaussian-covariance": lambda: released(path, "discrete-gaussian-covariance"),
        "box-gauss": lambda: released(path, "box-gauss"),
        "box-gauss add-remove": lambda: released(path, "box-gauss", adjacency="add-remove"),
    }
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(repeats):
        for name, step in steps.items():
            before = time.process_time()
            step()
            times[name].append(time.process_time() - before)
    return {name: float(np.median(found)) for name, found in times.items()}


@pytest.mark.slow
def test_a_release_from_parquet_takes_at_most_three_times_a_product(tmp_path: Path) -> None:
    """This test catches a release that reads its file three times. The medians are over five runs on 10⁶ rows."""
    pytest.importorskip("pyarrow")
    pytest.importorskip("flint")
    found = measured(tmp_path, 1_000_000, 5)
    for name in ("discrete-gaussian-covariance", "box-gauss", "box-gauss add-remove"):
        assert found[name] <= MOST * found["product from Parquet"], found


if __name__ == "__main__":
    with TemporaryDirectory(dir=sys.argv[2]) as place:
        seen = measured(Path(place), int(sys.argv[1]), 3)
    for name, seconds in seen.items():
        print(f"{name}: {seconds:.2f} s, {seconds / seen['product from Parquet']:.2f} of the product from Parquet")
