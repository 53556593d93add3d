"""Represent data sets as integers, and sum the products of their columns exactly, at the speed of a float64 matrix
product.

Every record is mapped by itself, by the following public rule, so that neighbours stay neighbours:

1. multiply the row by 2^b over the row bound and round toward zero, which gives a row q of integers;
2. if |q|² > 2^{2b}, clip the row to the unit ball in float64 before it is rounded; as long as |q|² > 2^{2b} still
   holds, move every entry of q one step toward zero. The condition |q|² ≤ 2^{2b} is checked in integers.

After rounding and clipping the data set consists of the rows q/2^b, which lie in the unit ball exactly. No other step
rounds the data. QᵀQ is added up over blocks of rows so small that no partial sum of the float64 product exceeds 2^53:
float64 arithmetic on integers up to 2^53 is exact, in any order of the additions. The sums of the blocks are Python
integers, so n has no limit.

If the columns have public bounds, every column is scaled to [−1, 1] by its bounds, multiplied by 2^b and rounded toward
zero, so that |q_j| ≤ 2^b.

Parts of the data can be summed separately, in any order and on any machine. Adding the `ExactData` of the parts gives
the `ExactData` of the whole, to the last bit.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain.box import Box
from covassay.reference.domain.box_rows import scaled_block
from covassay.reference.domain.passes import blocks
from covassay.reference.domain.requirements import require_row_bound
from covassay.reference.domain.rows import as_rows, shape_of, unit_rows
from covassay.reference.domain.types import Chunks, DataSet, IntegerMatrix, Matrix, Number, OnLargeRows
from covassay.reference.errors import InvalidInput

INPUT_BITS = 20
LARGEST_INPUT_BITS = 24
EXACT = 2**53  # the largest number up to which float64 holds every integer
ROWS_AT_ONCE = 8192  # the number of rows of a block that stays in the cache


@dataclass(frozen=True)
class ExactData:
    """Exact sums over the rows q/2^b, stored as integers: the sums of products and of entries. The sums of parts of the
    data are added with +.

    n : the number of rows.
    gram : Σ q qᵀ, (d, d).
    sums : Σ q, (d,), or empty if not requested.
    input_bits : b.
    row_bound, box : the row bound, in the unit of the data, or the bounds on the columns, with which the rows were
        scaled.
    columns : the names of the columns, or () if they have no names.

    >>> half, rest = (exact_data(part, row_bound=2.0) for part in ([[1.0, 0.5]], [[0.25, 1.0], [2.0, 0.0]]))
    >>> half + rest == exact_data([[1.0, 0.5], [0.25, 1.0], [2.0, 0.0]], row_bound=2.0)
    True
    """

    n: int
    gram: list[list[int]]
    sums: list[int]
    input_bits: int
    row_bound: float = 1.0
    box: Box | None = None
    columns: tuple[str, ...] = ()

    def __add__(self, other: "ExactData") -> "ExactData":
        if not isinstance(other, ExactData):
            return NotImplemented
        for what in ("d", "input_bits", "row_bound", "box", "columns"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                raise InvalidInput(f"{what} = {mine} and {theirs}: must be equal in two objects that are added")
        gram = [[a + b for a, b in zip(one, two, strict=True)] for one, two in zip(self.gram, other.gram, strict=True)]
        both = bool(self.sums and other.sums)  # the result has the sums of the rows only if both summands have them
        sums = [a + b for a, b in zip(self.sums, other.sums, strict=True)] if both else []
        return replace(self, n=self.n + other.n, gram=gram, sums=sums)

    def __radd__(self, other: object) -> "ExactData":
        return self if other == 0 else NotImplemented  # `sum` begins with 0

    @property
    def shape(self) -> tuple[int, int]:
        """Return the shape (n, d) of the data set."""
        return self.n, self.d

    @property
    def d(self) -> int:
        """Return the number of columns."""
        return len(self.gram)

    @property
    def products(self) -> IntegerMatrix:
        """Return the sums of products Σ q qᵀ as an array of Python integers, (d, d)."""
        return np.array(self.gram, dtype=object)

    @property
    def unit(self) -> Fraction:
        """Return the unit 1/(n 4^b), of which every entry of Σ is a multiple."""
        return Fraction(1, self.n * 4**self.input_bits)

    def total(self, i: int, j: int) -> Fraction:
        """Return the sum of products C_ij = Σ_k x_ki x_kj."""
        return Fraction(self.gram[i][j], 4**self.input_bits)

    def moment(self, i: int, j: int) -> Fraction:
        """Return the second moment Σ_ij = C_ij/n."""
        return self.total(i, j) / self.n

    def trace(self) -> Fraction:
        """tr Σ."""
        return sum((self.moment(i, i) for i in range(self.d)), Fraction(0))

    def centred(self, i: int, j: int) -> Fraction:
        """Return the centred covariance S_ij = Σ_ij − x̄_i x̄_j."""
        return self.moment(i, j) - Fraction(self.sums[i] * self.sums[j], self.n**2 * 4**self.input_bits)


def exact_data(
    x: DataSet | ExactData,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
    input_bits: int = INPUT_BITS,
    sums: bool = False,
    box: Box | None = None,
) -> ExactData:
    """Read a data set as integer rows and add up their products. If `sums` is true, add up the rows as well.

    Parameters
    ----------
    x : shape (n, d), an array or `Chunks`, or an `ExactData`, which is returned as it is. n may be 0.
    box : public bounds on the columns, in place of a row bound. Values beyond the bounds of the box are clipped.

    Raises
    ------
    InvalidInput : an argument breaks its rule, or `x` is an `ExactData` that was made with another row bound, other
        bounds, other input bits, or without the sums of the rows.
    """
    require_input_bits("input_bits", input_bits)
    if isinstance(x, ExactData):
        return _require_made_with(x, require_row_bound(row_bound), input_bits, sums, box)
    read = partial(
        _of_part, row_bound=row_bound, on_large_rows=on_large_rows, input_bits=input_bits, sums=sums, box=box
    )
    if not isinstance(x, Chunks):
        return read(x)
    total = sum(x.fold(read), start=_nothing(x.shape[1], require_row_bound(row_bound), input_bits, sums, box))
    if total.n != x.shape[0]:
        raise InvalidInput(f"x has {total.n} rows on this pass: must have {x.shape[0]} on every pass")
    return total


def _nothing(d: int, row_bound: float, input_bits: int, sums: bool, box: Box | None) -> ExactData:
    """Return the `ExactData` of a data set without rows."""
    return ExactData(0, [[0] * d for _ in range(d)], [0] * d if sums else [], input_bits, row_bound, box)


def _of_part(
    x: DataSet, row_bound: float, on_large_rows: OnLargeRows, input_bits: int, sums: bool, box: Box | None
) -> ExactData:
    if isinstance(x, Chunks) and not x.shape[0]:
        return _nothing(x.shape[1], row_bound, input_bits, sums, box)
    n = 0
    gram: Any = 0
    total: Any = 0
    found = integer_rows(x, row_bound, on_large_rows, input_bits) if box is None else box_rows(x, box, input_bits)
    for block in found:
        n += len(block)
        gram = gram + as_integers(block.T @ block)
        if sums:
            total = total + as_integers(np.ones(len(block)) @ block)
    if not n:
        return _nothing(shape_of(x, 0)[1], row_bound, input_bits, sums, box)
    return ExactData(n, gram.tolist(), total.tolist() if sums else [], input_bits, row_bound, box)


def _require_made_with(x: ExactData, row_bound: float, input_bits: int, sums: bool, box: Box | None) -> ExactData:
    for what, wanted in (("row_bound", row_bound), ("input_bits", input_bits), ("box", box)):
        if getattr(x, what) != wanted:
            raise InvalidInput(
                f"{what} = {wanted}: must be {getattr(x, what)}, the value with which the sums were made"
            )
    if sums and not x.sums:
        raise InvalidInput("x lacks the sums of the rows: must be made with sums=True")
    return x


def require_input_bits(name: str, value: int) -> int:
    """Return the number of bits `value` as an int if it is a whole number from 1 to `LARGEST_INPUT_BITS`."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not (whole and 1 <= value <= LARGEST_INPUT_BITS):
        raise InvalidInput(f"{name} = {value!r}: must be a whole number between 1 and {LARGEST_INPUT_BITS}")
    return int(value)


def as_written(value: Number) -> Fraction:
    """Return the rational number that the shortest decimal text of a float means, such as 1/10 for 0.1.

    A Fraction is returned unchanged.
    """
    return Fraction(repr(float(value)) if isinstance(value, float | np.floating) else value)


def in_units(counts: IntegerMatrix, unit: Fraction) -> Matrix:
    """Return the float64 numbers that are nearest to counts · unit."""
    return np.array([[float(int(k) * unit) for k in row] for row in counts])


def as_integers(values: Matrix) -> IntegerMatrix:
    """Convert whole numbers in float64 to Python integers."""
    return values.astype(np.int64).astype(object)


def rows_in_block(input_bits: int) -> int:
    """Return the number of rows in a block, for which no partial sum of products exceeds 2^53 and the block fits in the
    processor's cache.
    """
    return min(EXACT >> (2 * input_bits), ROWS_AT_ONCE)


def integer_rows(
    x: DataSet, row_bound: float, on_large_rows: OnLargeRows, input_bits: int = INPUT_BITS
) -> Iterator[Matrix]:
    """Yield the rows q in float64, in blocks for which the product qᵀq is exact."""
    r = require_row_bound(row_bound)
    rows = _read(x)
    if on_large_rows != "clip":
        rows = unit_rows(x, r, on_large_rows, fewest=0)  # the error message of `unit_rows` says which row is too long
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
                    as_rows(rows)  # `as_rows` raises an error that says which entry is not finite
                long = squares > limit
                q[long] = _clipped(block[long], r, input_bits)
            yield q


def box_rows(x: DataSet, box: Box, input_bits: int = INPUT_BITS) -> Iterator[Matrix]:
    """Yield the rows q of a data set in a box in float64, in blocks for which qᵀq is exact; |q_j| ≤ 2^b."""
    rows = _read(x)
    if rows.shape[1] != box.dimension:
        raise InvalidInput(f"bounds of {box.dimension} columns: must be of {rows.shape[1]}, the number of columns of x")
    step = rows_in_block(input_bits)
    for chunk in blocks(rows):
        for first in range(0, len(chunk), step):
            block = chunk[first : first + step]
            if not np.isfinite(block).all():
                as_rows(rows)  # `as_rows` raises an error that says which entry is not finite
            q = scaled_block(block, box)
            q *= 2.0**input_bits
            yield np.trunc(q, out=q)


def _read(x: DataSet) -> Any:
    """Read a data set as `as_rows` does, but do not copy a float64 array, and do not check that entries are finite."""
    if isinstance(x, np.ndarray) and x.dtype == np.float64 and x.ndim == 2 and x.shape[1] >= 1:
        return x
    return as_rows(x, 0)


def _clipped(rows: Matrix, r: float, input_bits: int) -> Matrix:
    """Return the integer rows q of rows that are longer than the row bound r, after clipping."""
    q: Matrix = np.trunc(unit_rows(rows, r) * 2.0**input_bits)
    while (too_long := np.einsum("ij,ij->i", q, q) > 4.0**input_bits).any():
        q[too_long] -= np.sign(q[too_long])
    return q
