"""Data as integers, and their sums of products exactly, at the speed of a matrix product in float64.

Every record is mapped by itself, by a public rule, so that neighbours stay neighbours:

1. multiply by 2^b over the row bound and round toward zero: a row q of integers;
2. if |q|² > 2^{2b}, clip the row to the unit ball in float64 first; if rounding has left it too long even so, move
   every entry one step toward zero until it is short enough. That |q|² ≤ 2^{2b} is checked in integers.

From there on the data set is the rows q/2^b, which lie in the unit ball exactly, and nothing is rounded any more. QᵀQ
is added up over blocks of rows so small that no partial sum of the float64 product exceeds 2^53: float64 arithmetic
on integers up to 2^53 is exact, in whatever order a library adds. The sums of the blocks are Python integers, so n
has no limit.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from covassay.reference.domain.passes import blocks
from covassay.reference.domain.requirements import require_row_bound
from covassay.reference.domain.rows import as_rows, unit_rows
from covassay.reference.domain.types import DataSet, IntegerMatrix, Matrix, Number, OnLargeRows
from covassay.reference.errors import InvalidInput

INPUT_BITS = 20
LARGEST_INPUT_BITS = 24
EXACT = 2**53  # float64 holds every integer up to here
ROWS_AT_ONCE = 8192  # a block that stays in the cache


@dataclass(frozen=True)
class ExactData:
    """What the mechanisms ask of the rows q/2^b: sums of products and sums, as integers.

    n : rows. gram : Σ q qᵀ, (d, d). sums : Σ q, (d,), or empty if it was not asked for. input_bits : b.
    """

    n: int
    gram: list[list[int]]
    sums: list[int]
    input_bits: int

    @property
    def d(self) -> int:
        """The number of columns."""
        return len(self.gram)

    @property
    def products(self) -> IntegerMatrix:
        """Σ q qᵀ as an array of Python integers, (d, d)."""
        return np.array(self.gram, dtype=object)

    @property
    def unit(self) -> Fraction:
        """1/(n 4^b), of which every entry of Σ is a multiple."""
        return Fraction(1, self.n * 4**self.input_bits)

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
    x: DataSet,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
    input_bits: int = INPUT_BITS,
    sums: bool = False,
) -> ExactData:
    """Read a data set as integer rows, and add up their products, and the rows themselves if `sums` is true."""
    require_input_bits("input_bits", input_bits)
    n = 0
    gram: Any = 0
    total: Any = 0
    for block in integer_rows(x, row_bound, on_large_rows, input_bits):
        n += len(block)
        gram = gram + as_integers(block.T @ block)
        if sums:
            total = total + as_integers(np.ones(len(block)) @ block)
    return ExactData(n, gram.tolist(), total.tolist() if sums else [], input_bits)


def require_input_bits(name: str, value: int) -> int:
    """Return `value` if it is a whole number of bits that the exact sums can take."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not (whole and 1 <= value <= LARGEST_INPUT_BITS):
        raise InvalidInput(f"{name} = {value!r}: must be a whole number between 1 and {LARGEST_INPUT_BITS}")
    return int(value)


def as_written(value: Number) -> Fraction:
    """The rational number that the shortest decimal text of a float means: 0.1 is 1/10. Fractions stay as they are."""
    return Fraction(repr(float(value)) if isinstance(value, float | np.floating) else value)


def in_units(counts: IntegerMatrix, unit: Fraction) -> Matrix:
    """The float64 numbers nearest to counts · unit."""
    return np.array([[float(int(k) * unit) for k in row] for row in counts])


def as_integers(values: Matrix) -> IntegerMatrix:
    """Whole numbers in float64 as Python integers."""
    return values.astype(np.int64).astype(object)


def rows_in_block(input_bits: int) -> int:
    """So many rows that no partial sum of products exceeds 2^53, and few enough to stay in the cache."""
    return min(EXACT >> (2 * input_bits), ROWS_AT_ONCE)


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
    factor, limit, step = 2.0**input_bits / r, 4.0**input_bits, rows_in_block(input_bits)
    for chunk in blocks(rows):
        ones = np.ones(chunk.shape[1])
        for first in range(0, len(chunk), step):
            block = chunk[first : first + step]
            with np.errstate(over="ignore", invalid="ignore"):
                q = np.multiply(block, factor)
                np.trunc(q, out=q)
                squares = np.multiply(q, q) @ ones
            if not squares.max() <= limit:  # some row is too long, or some entry is not finite
                if not np.isfinite(block).all():
                    as_rows(rows)  # says where
                long = squares > limit
                q[long] = _clipped(block[long], r, input_bits)
            yield q


def _clipped(rows: Matrix, r: float, input_bits: int) -> Matrix:
    """The integer rows for rows that were too long."""
    q: Matrix = np.trunc(unit_rows(rows, r) * 2.0**input_bits)
    while (too_long := np.einsum("ij,ij->i", q, q) > 4.0**input_bits).any():
        q[too_long] -= np.sign(q[too_long])
    return q
