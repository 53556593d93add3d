"""Data as integers, and their sums of products exactly, at the speed of a matrix product in float64.

Every record is mapped by itself, by a public rule, so that neighbours stay neighbours:

1. divide by the row bound, multiply by 2^b and round toward zero: a row q of integers;
2. if |q|² > 2^{2b}, clip the row to the unit ball in float64 first; if rounding has left it too long even so, move every
   entry one step toward zero until it is short enough. That |q|² ≤ 2^{2b} is checked in integers.

From there on the data set is the rows q/2^b, which lie in the unit ball exactly, and nothing is rounded any more. QᵀQ is
added up over blocks of rows so small that no partial sum of the float64 product reaches 2^53: float64 arithmetic on
integers below 2^53 is exact, in whatever order a library adds. The sums of the blocks are Python integers, so n has no
limit.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covassay.reference.domain import (
    Chunks,
    DataSet,
    Matrix,
    OnLargeRows,
    as_rows,
    blocks,
    require_row_bound,
    unit_rows,
)
from covassay.reference.errors import InvalidInput

INPUT_BITS = 20
LARGEST_INPUT_BITS = 24
EXACT = 2**53  # float64 holds every integer up to here
ROWS_AT_ONCE = 8192  # a block that stays in the cache


@dataclass(frozen=True)
class ExactData:
    """What the mechanisms ask of the rows q/2^b: sums of products and sums, as integers.

    n : rows. gram : Σ q qᵀ, (d, d). sums : Σ q, (d,). input_bits : b.
    """

    n: int
    gram: list[list[int]]
    sums: list[int]
    input_bits: int

    @property
    def d(self) -> int:
        """The number of columns."""
        return len(self.sums)

    def total(self, i: int, j: int) -> Fraction:
        """C_ij = Σ_k x_ki x_kj."""
        return Fraction(self.gram[i][j], 4**self.input_bits)

    def moment(self, i: int, j: int) -> Fraction:
        """Σ_ij = C_ij/n."""
        return self.total(i, j) / self.n

    def trace(self) -> Fraction:
        """tr Σ."""
        return sum((self.moment(i, i) for i in range(self.d)), Fraction(0))

    def centred(self, i: int, j: int) -> Fraction:
        """S_ij = Σ_ij − x̄_i x̄_j."""
        return self.moment(i, j) - Fraction(self.sums[i] * self.sums[j], self.n**2 * 4**self.input_bits)


def exact_data(
    x: DataSet, row_bound: float = 1.0, on_large_rows: OnLargeRows = "clip", input_bits: int = INPUT_BITS
) -> ExactData:
    """Read a data set as integer rows, and add up their products."""
    if not (isinstance(input_bits, int) and 1 <= input_bits <= LARGEST_INPUT_BITS):
        raise InvalidInput(f"input_bits = {input_bits!r}: must be a whole number between 1 and {LARGEST_INPUT_BITS}")
    n = d = 0
    gram: Any = 0
    sums: Any = 0
    for block in integer_rows(x, row_bound, on_large_rows, input_bits):
        n, d = n + len(block), block.shape[1]
        gram = gram + as_integers(block.T @ block)
        sums = sums + as_integers(block.sum(axis=0))
    return ExactData(n, gram.tolist(), sums.tolist(), input_bits)


def as_integers(values: Matrix) -> NDArray[np.object_]:
    """Whole numbers in float64 as Python integers."""
    return values.astype(np.int64).astype(object)


def rows_in_block(d: int, input_bits: int) -> int:
    """So many rows that no partial sum of products reaches 2^53, and few enough to stay in the cache."""
    return max(1, min(EXACT // 4**input_bits, ROWS_AT_ONCE))


def integer_rows(
    x: DataSet, row_bound: float, on_large_rows: OnLargeRows, input_bits: int = INPUT_BITS
) -> Iterator[Matrix]:
    """The rows q in float64, in blocks whose product is exact."""
    r = require_row_bound(row_bound)
    if isinstance(x, np.ndarray) and x.dtype == np.float64 and x.ndim == 2 and min(x.shape) >= 1:
        rows: Any = x  # not copied; entries that are not finite are found below
    else:
        rows = as_rows(x)
    if on_large_rows != "clip":
        rows = unit_rows(x, r, on_large_rows)  # says which row is too long
        r = 1.0
    factor, limit = 2.0**input_bits, 4.0**input_bits
    for chunk in blocks(rows):
        step = rows_in_block(chunk.shape[1], input_bits)
        for first in range(0, len(chunk), step):
            with np.errstate(over="ignore", invalid="ignore"):
                q = chunk[first : first + step] / r if r != 1.0 else chunk[first : first + step]
                q = q * factor
                np.trunc(q, out=q)
                squares = np.einsum("ij,ij->i", q, q)
            if not squares.max() <= limit:  # also if an entry is not finite
                long = ~(squares <= limit)
                if not np.isfinite(chunk[first : first + step]).all():
                    as_rows(rows)  # says where
                q[long] = _clipped(chunk[first : first + step][long], r, input_bits)
            yield q


def _clipped(rows: Matrix, r: float, input_bits: int) -> Matrix:
    """The integer rows for rows that were too long."""
    q: Matrix = np.trunc(unit_rows(rows, r) * 2.0**input_bits)
    while (too_long := np.einsum("ij,ij->i", q, q) > 4.0**input_bits).any():
        q[too_long] -= np.sign(q[too_long])
    return q
