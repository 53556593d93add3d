"""Read a table in parts, on one machine or on many, and sum each part exactly, so that the sums can be added.

    total = exact_moments(first, bounds=bounds) + exact_moments(second, bounds=bounds)
    release_table(ReleaseRequest(data=total, name="survey 2026", budget=ZCDP(0.5), bounds=bounds, rounded=True, …))

The sums have no noise, so they are as confidential as the data.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from covassay.reference.domain import Box, require_row_bound
from covassay.reference.domain.exact_data import INPUT_BITS, ExactData, exact_data
from covassay.reference.errors import InvalidInput
from covassay.reference.release.scaling import read_bounds, require_every_column
from covassay.reference.release.tables.reading import EVERYTHING, open_table
from covassay.reference.release.tables.selection import Selection


def exact_moments(
    data: Any,
    *,
    row_bound: float | None = None,
    bounds: Mapping[str, Any] | Path | None = None,
    selection: Selection = EVERYTHING,
    input_bits: int = INPUT_BITS,
) -> ExactData:
    """Return the exact integer moments of a part of a table, which can be added with + and passed to `release_table`.

    Parameters
    ----------
    data : any data that `tables.reading.open_table` accepts (files, arrays, data frames, tables), with 0 or more rows.
    row_bound : public bound on the norm of a row, for mechanisms on a ball.
    bounds : public bounds on every column, by name, for mechanisms for bounded columns. Exactly one of `row_bound` and
        `bounds` is given, and all parts must have equal bounds.
    selection : the columns to read.
    input_bits : the number b of bits of the grid to which rows are rounded, see `exact_data`.

    Raises
    ------
    InvalidInput : an argument breaks its rule, or the data cannot be read. Whether the data can be read depends on
        their values, so an error in reading reveals something about the data.

    >>> x = np.array([[0.0, 4.0], [2.0, 5.0], [1.0, 7.0]])
    >>> bounds = {"x1": (0, 2), "x2": (4, 8)}
    >>> whole = exact_moments(x, bounds=bounds)
    >>> exact_moments(x[:1], bounds=bounds) + exact_moments(x[1:], bounds=bounds) == whole
    True
    >>> whole.n, whole.columns
    (3, ('x1', 'x2'))
    """
    if (row_bound is None) == (bounds is None):
        raise InvalidInput(f"row_bound = {row_bound}, bounds = {bounds}: give one of them, chosen without the data")
    source = open_table(data, selection=selection, fewest=0)
    box = None
    if bounds is not None:
        box = Box.of(np.column_stack(require_every_column(bounds, read_bounds(bounds), source.columns)))
    r = require_row_bound(1.0 if row_bound is None else row_bound)
    found = exact_data(source.rows, r, input_bits=input_bits, sums=True, box=box)
    return replace(found, columns=source.columns)
