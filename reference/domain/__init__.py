"""This package represents data sets as rows in a Euclidean ball, computes their second moment, and defines neighbours.

A data set is a matrix `x` of shape (n, d): n records with d features. A data set is given as an array, or as `Chunks`
if it does not fit in memory. Mechanisms read the rows only through `second_moment` and the functions of
`domain.passes`, which treat arrays and `Chunks` alike.

`n`, `d`, the row bound `r` and every parameter of a mechanism are public. Two data sets are neighbours (replace-one) if
they have the same n and differ in one row. Mechanisms work on the rows `x_i / r`, clipped to the unit ball one record
at a time, and return their output in the unit of `x` squared.

Clipping maps neighbours to neighbours, so it costs no privacy. After clipping, the norms are at most 1 up to rounding
(a few units in the last place). The guarantees are theorems about real numbers, and do not cover the effects of
rounding, such as a norm above 1.
"""

from covassay.reference.domain.box import Box
from covassay.reference.domain.box_rows import OnOutside, fewest_rows, scaled_rows
from covassay.reference.domain.passes import blocks, map_groups, map_rows, rows_between, sum_rows
from covassay.reference.domain.requirements import (
    require_below_one,
    require_between,
    require_choice,
    require_dimension,
    require_number,
    require_positive,
    require_row_bound,
    require_shape,
    require_symmetric,
    require_target,
    require_unit_vector,
    require_whole,
)
from covassay.reference.domain.rows import (
    ROUNDING,
    as_rows,
    column_squares,
    longer_rows,
    row_norms,
    second_moment,
    shape_of,
    sized_unit_rows,
    total_square,
    unit_rows,
)
from covassay.reference.domain.types import (
    ADJACENCIES,
    Adjacency,
    Array,
    Chunks,
    DataSet,
    IntegerMatrix,
    Matrix,
    Number,
    OnLargeRows,
    Rows,
    Vector,
)

__all__ = [
    "ADJACENCIES",
    "ROUNDING",
    "Adjacency",
    "Array",
    "Box",
    "Chunks",
    "DataSet",
    "IntegerMatrix",
    "Matrix",
    "Number",
    "OnLargeRows",
    "OnOutside",
    "Rows",
    "Vector",
    "as_rows",
    "blocks",
    "column_squares",
    "fewest_rows",
    "longer_rows",
    "map_groups",
    "map_rows",
    "require_below_one",
    "require_between",
    "require_choice",
    "require_dimension",
    "require_number",
    "require_positive",
    "require_row_bound",
    "require_shape",
    "require_symmetric",
    "require_target",
    "require_unit_vector",
    "require_whole",
    "row_norms",
    "rows_between",
    "scaled_rows",
    "second_moment",
    "shape_of",
    "sized_unit_rows",
    "sum_rows",
    "total_square",
    "unit_rows",
]
