"""Test the functions on data sets: invalid input, clipping, and the second moment against a calculation by hand."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from covassay.reference.domain import (
    Chunks,
    as_rows,
    blocks,
    longer_rows,
    map_groups,
    require_choice,
    require_dimension,
    require_positive,
    require_shape,
    require_unit_vector,
    row_norms,
    rows_between,
    second_moment,
    unit_rows,
)
from covassay.reference.errors import InvalidInput
from tests.conventions import Matrix

PROPERTY = settings(max_examples=50)
ULP = np.finfo(np.float64).eps

rows_of_any_length = st.tuples(st.integers(1, 6), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(-1e6, 1e6))
)


# Scalars


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2), np.array(2.0)[()]])
def test_a_positive_number_of_any_type_becomes_a_float(value: Any) -> None:
    number = require_positive("epsilon", value)
    assert type(number) is float
    assert number == 2


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(0, id="zero"),
        pytest.param(-0.5, id="negative"),
        pytest.param(math.nan, id="NaN"),
        pytest.param(math.inf, id="infinity"),
        pytest.param(-math.inf, id="minus infinity"),
        pytest.param(np.float64("nan"), id="NaN of numpy"),
        pytest.param(True, id="boolean"),
        pytest.param(np.True_, id="boolean of numpy"),
        pytest.param("1", id="string"),
        pytest.param(None, id="None"),
        pytest.param(1j, id="complex"),
        pytest.param([1.0], id="list"),
        pytest.param(np.array([1.0]), id="array"),
    ],
)
def test_what_is_not_a_positive_number_is_refused_by_name_and_value(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^epsilon = ") as caught:
        require_positive("epsilon", value)
    assert repr(value) in str(caught.value)


def test_invalid_input_is_a_value_error() -> None:
    assert issubclass(InvalidInput, ValueError)


@pytest.mark.parametrize("value", [1, 7, np.int64(7), np.uint8(7)])
def test_a_dimension_is_a_whole_number_of_at_least_one(value: Any) -> None:
    dimension = require_dimension("d", value)
    assert type(dimension) is int
    assert dimension == value


@pytest.mark.parametrize("value", [0, -1, 2.0, np.float64(2), True, np.True_, "3", None, math.nan])
def test_what_is_not_a_dimension_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^d = .*must be (a whole number|at least 1)"):
        require_dimension("d", value)


def test_a_choice_outside_the_list_is_refused_and_the_list_is_shown() -> None:
    assert require_choice("mode", "b", ("a", "b")) == "b"
    with pytest.raises(InvalidInput, match=r"mode = 'B': must be one of 'a', 'b'"):
        require_choice("mode", "B", ("a", "b"))


def test_a_list_of_the_right_shape_becomes_an_array() -> None:
    array = require_shape("noise", [[1, 2], [3, 4]], (2, 2))
    assert array.dtype == np.float64
    np.testing.assert_array_equal(array, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param(np.zeros(4), r"noise of shape \(4,\): must have shape \(2, 2\)", id="flat"),
        pytest.param(np.zeros((2, 3)), r"noise of shape \(2, 3\)", id="too wide"),
        pytest.param(np.zeros((1, 2, 2)), r"noise of shape \(1, 2, 2\)", id="a stack"),
        pytest.param(0.0, r"noise of shape \(\)", id="a number, which would broadcast"),
        pytest.param([[0, 0], [0, math.nan]], "noise contains .* not finite", id="NaN"),
        pytest.param([[0, 0], [0, -math.inf]], "noise contains .* not finite", id="infinity"),
    ],
)
def test_an_array_of_the_wrong_kind_is_refused(value: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        require_shape("noise", value, (2, 2))


def test_a_unit_vector_is_returned_and_rounding_is_forgiven() -> None:
    for scale in (1.0, 1 + 1e-10, 1 - 1e-10):
        vector = require_unit_vector("u", [0.6 * scale, -0.8 * scale], 2)
        np.testing.assert_array_equal(vector, [0.6 * scale, -0.8 * scale])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param([0.6, 0.8 + 1e-8], "u has norm 1.0000000", id="too long"),
        pytest.param([0.0, 0.0], "u has norm 0: must be a unit vector", id="zero"),
        pytest.param([1.0], r"u of shape \(1,\)", id="of another dimension"),
        pytest.param([math.nan, 1.0], "u contains", id="NaN"),
    ],
)
def test_what_is_not_a_unit_vector_is_refused(value: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        require_unit_vector("u", value, 2)


# Reading the rows

VALUES = [[1, 0, 2], [3, 1, 0]]


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: VALUES, id="nested lists"),
        pytest.param(lambda: tuple(map(tuple, VALUES)), id="nested tuples"),
        pytest.param(lambda: np.array(VALUES, dtype=np.float64), id="float64"),
        pytest.param(lambda: np.array(VALUES, dtype=np.float32), id="float32"),
        pytest.param(lambda: np.array(VALUES, dtype=np.float16), id="float16"),
        pytest.param(lambda: np.array(VALUES, dtype=np.longdouble), id="long double"),
        pytest.param(lambda: np.array(VALUES, dtype=">f8"), id="big endian"),
        pytest.param(lambda: np.array(VALUES, dtype=np.int8), id="int8"),
        pytest.param(lambda: np.array(VALUES, dtype=np.uint64), id="uint64"),
        pytest.param(lambda: np.array(VALUES, dtype=object), id="objects"),
        pytest.param(lambda: np.asfortranarray(np.array(VALUES, dtype=float)), id="Fortran order"),
        pytest.param(lambda: np.repeat(VALUES, 2, axis=1)[:, ::2], id="strided"),
        pytest.param(lambda: np.array(VALUES)[::-1, ::-1][::-1, ::-1], id="negative strides"),
        pytest.param(lambda: pd.DataFrame(VALUES, columns=["a", "b", "c"]), id="data frame"),
        pytest.param(lambda: pd.DataFrame(VALUES).astype({0: float}), id="frame of two types"),
    ],
)
def test_rows_are_read_from_every_kind_of_array_and_table(make: Callable[[], Any]) -> None:
    rows = as_rows(make())
    assert rows.dtype == np.float64
    assert rows.flags.c_contiguous
    np.testing.assert_array_equal(rows, VALUES)


BAD_ROWS = [
    pytest.param([1.0, 2.0], "1 dimension", id="one row without its brackets"),
    pytest.param(3.0, "0 dimension", id="a number"),
    pytest.param(None, "0 dimension", id="None"),
    pytest.param(np.zeros((2, 2, 2)), "3 dimension", id="three dimensions"),
    pytest.param(np.zeros((0, 3)), "at least one row", id="no row"),
    pytest.param([], "1 dimension", id="an empty list"),
    pytest.param(np.zeros((3, 0)), "at least one row and one column", id="no column"),
    pytest.param([[1.0, 2.0], [3.0]], "cannot be read as a matrix", id="ragged rows"),
    pytest.param([[0.0, 1.0], [math.nan, 0.0]], r"x\[1, 0\] = nan", id="NaN"),
    pytest.param([[0.0, math.inf]], r"x\[0, 1\] = inf", id="infinity"),
    pytest.param([[-math.inf, 0.0]], r"x\[0, 0\] = -inf", id="minus infinity"),
    pytest.param([[1 + 0j]], "must be real", id="complex with a zero imaginary part"),
    pytest.param([["1", "2"]], "must be real", id="strings of digits"),
    pytest.param(np.array([["a", 1]], dtype=object), "not numbers", id="a string among numbers"),
    pytest.param([[None, 1.0]], "x", id="a missing value"),
    pytest.param(np.array([["2020-01-01"]], dtype="datetime64[D]"), "must be real", id="dates"),
    pytest.param(pd.DataFrame({"a": ["x"], "b": [1.0]}), "not numbers", id="frame with a name"),
    pytest.param(pd.DataFrame({"a": [pd.NA], "b": [1.0]}), "x", id="frame with a missing value"),
]


@pytest.mark.parametrize(("x", "message"), BAD_ROWS)
def test_what_is_not_a_matrix_of_finite_numbers_is_refused(x: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        as_rows(x)


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_rows_are_a_copy(order: Any) -> None:
    """Test that a change of the returned rows does not change the caller's array."""
    x = np.array(VALUES, dtype=np.float64, order=order)
    rows = as_rows(x)
    rows[:] = -1
    np.testing.assert_array_equal(x, VALUES)


def test_a_read_only_array_is_read() -> None:
    """Test that a read-only array can be clipped."""
    x = np.array([[3.0, 4.0]])
    x.flags.writeable = False
    np.testing.assert_allclose(unit_rows(x), [[0.6, 0.8]], rtol=4 * ULP)


# Norms


@pytest.mark.parametrize(
    ("row", "norm"),
    [
        pytest.param([3.0, 4.0], 5.0, id="three, four, five"),
        pytest.param([0.0, 0.0], 0.0, id="zero"),
        pytest.param([-7.0], 7.0, id="one negative entry"),
        pytest.param([3e200, -4e200], 5e200, id="squares overflow"),
        pytest.param([3e-200, 4e-200], 5e-200, id="squares underflow"),
        pytest.param([1e308, 1e308], math.sqrt(2) * 1e308, id="near the largest float"),
        pytest.param([1e300, 1.0], 1e300, id="very unequal"),
    ],
)
def test_the_norm_of_a_row_is_accurate_for_extreme_entries(row: list[float], norm: float) -> None:
    assert row_norms(np.array([row, row])) == pytest.approx([norm, norm], rel=4 * ULP)


# Clipping


def test_short_rows_are_only_divided_by_the_bound() -> None:
    got = unit_rows([[3.0, 0.0], [0.0, -4.0], [0.0, 0.0]], row_bound=4.0)
    np.testing.assert_array_equal(got, [[0.75, 0.0], [0.0, -1.0], [0.0, 0.0]])


def test_a_long_row_is_scaled_to_length_one() -> None:
    # The length of (6, 8) is 10, above the bound 5; the length of (3, 4) is exactly 5.
    got = unit_rows([[6.0, 8.0], [3.0, 4.0]], row_bound=5.0)
    np.testing.assert_allclose(got, [[0.6, 0.8], [0.6, 0.8]], rtol=4 * ULP)


@pytest.mark.parametrize("large", [1e3, 1e200, 1.2e308])
def test_a_huge_row_neither_overflows_nor_touches_the_others(large: float) -> None:
    got = unit_rows([[large, large], [0.5, 0.0]])
    np.testing.assert_allclose(got[0], [math.sqrt(0.5)] * 2, rtol=4 * ULP)
    np.testing.assert_array_equal(got[1], [0.5, 0.0])


def test_raising_names_the_longest_row_and_the_bound() -> None:
    with pytest.raises(InvalidInput, match=r"x\[1\] has norm 5.0: must be at most row_bound = 2.0"):
        unit_rows([[3.0, 0.0], [3.0, 4.0]], row_bound=2.0, on_large_rows="raise")


def test_raising_forgives_rounding_and_no_more() -> None:
    """Test that a row whose length exceeds 1 by a rounding error is accepted, and that a longer row raises an error."""
    just_over = unit_rows([[1 + 5e-13]], on_large_rows="raise")
    np.testing.assert_array_equal(just_over, [[1.0]])
    with pytest.raises(InvalidInput):
        unit_rows([[1 + 2e-12]], on_large_rows="raise")


@pytest.mark.parametrize("mode", ["Clip", "", "drop", None])
def test_an_unknown_treatment_of_large_rows_is_refused(mode: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^on_large_rows = "):
        unit_rows([[1.0]], on_large_rows=mode)


@pytest.mark.parametrize("bound", [0, -1.0, math.nan, math.inf, True, "1"])
def test_a_bad_row_bound_is_refused(bound: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^row_bound = "):
        unit_rows([[1.0]], row_bound=bound)


@PROPERTY
@given(rows_of_any_length, st.floats(1e-3, 1e3))
def test_clipped_rows_lie_in_the_unit_ball_and_keep_their_direction(x: Matrix, r: float) -> None:
    rows = unit_rows(x, r)
    norms = np.array([math.hypot(*row) for row in x])
    assert (row_norms(rows) <= 1 + 4 * ULP).all()
    factors = 1 / np.maximum(norms, r)  # by definition min(1, r/‖x‖)/r
    np.testing.assert_allclose(rows, x * factors[:, None], rtol=8 * ULP, atol=1e-320)


@PROPERTY
@given(rows_of_any_length, st.sampled_from([2.0**-40, 0.25, 2.0, 2.0**30]))
def test_a_change_of_unit_by_a_power_of_two_changes_no_bit(x: Matrix, r: float) -> None:
    x = np.where(np.abs(x) < 1e-200, 0.0, x)  # values that could underflow are set to 0
    np.testing.assert_array_equal(unit_rows(x * r, r), unit_rows(x))


@PROPERTY
@given(rows_of_any_length, st.data())
def test_clipping_maps_neighbours_to_neighbours(x: Matrix, data: st.DataObject) -> None:
    """Test that replacing one row changes no other clipped row."""
    i = data.draw(st.integers(0, len(x) - 1))
    other = x.copy()
    other[i] = data.draw(arrays(np.float64, x.shape[1], elements=st.floats(-1e6, 1e6)))
    unchanged = np.arange(len(x)) != i
    np.testing.assert_array_equal(unit_rows(x)[unchanged], unit_rows(other)[unchanged])


@PROPERTY
@given(rows_of_any_length, st.data())
def test_clipping_does_not_spread_rows_apart(x: Matrix, data: st.DataObject) -> None:
    """Test that the distance between two rows does not grow when both are clipped."""
    # Clipping a row is the projection on the ball, which is 1-Lipschitz.
    y = data.draw(arrays(np.float64, x.shape, elements=st.floats(-1e6, 1e6)))
    before, after = x - y, unit_rows(x) - unit_rows(y)
    assert (row_norms(after) <= row_norms(before) + 8 * ULP).all()


# The second moment


def test_the_second_moment_of_two_rows_agrees_with_a_hand_calculation() -> None:
    # By hand, the entries are (0.36 + 1)/2 and 0.64/2 on the diagonal and 0.48/2 off the diagonal.
    got = second_moment(np.array([[0.6, 0.8], [1.0, 0.0]]))
    np.testing.assert_allclose(got, [[0.68, 0.24], [0.24, 0.32]], rtol=4 * ULP)


def exact_second_moment(rows: Matrix) -> list[list[Fraction]]:
    exact = [[Fraction(entry) for entry in row] for row in rows.tolist()]
    d = range(len(exact[0]))
    return [[sum(r[i] * r[j] for r in exact) / len(exact) for j in d] for i in d]


def matches_the_exact_second_moment(moment: Callable[[Matrix], Matrix]) -> bool:
    # sums of products of these numbers are exact in float64
    rows = np.random.default_rng(3).integers(-8, 9, size=(7, 4)) / 8
    return bool(np.allclose(moment(rows), np.array(exact_second_moment(rows), float), rtol=4 * ULP, atol=0))


@pytest.mark.parametrize(
    ("moment", "right"),
    [
        pytest.param(second_moment, True, id="the second moment"),
        pytest.param(lambda x: x.T @ x, False, id="not divided by n"),
        pytest.param(lambda x: x.T @ x / (len(x) - 1), False, id="divided by n - 1"),
        pytest.param(lambda x: np.cov(x.T, bias=True), False, id="centred"),
        pytest.param(lambda x: x.T @ np.abs(x) / len(x), False, id="a sign lost"),
    ],
)
def test_the_second_moment_agrees_with_rational_arithmetic(moment: Callable[[Matrix], Matrix], right: bool) -> None:
    assert matches_the_exact_second_moment(moment) == right


@PROPERTY
@given(rows_of_any_length)
def test_the_second_moment_is_symmetric_and_positive_with_the_right_trace(x: Matrix) -> None:
    rows = unit_rows(x)
    moment = second_moment(rows)
    np.testing.assert_array_equal(moment, moment.T)
    assert np.linalg.eigvalsh(moment)[0] >= -16 * ULP
    mean_square = sum(math.hypot(*row) ** 2 for row in rows) / len(rows)
    assert np.trace(moment) == pytest.approx(mean_square, rel=1e-14, abs=1e-300)


def test_a_row_whose_norm_exceeds_the_largest_float_keeps_its_direction() -> None:
    np.testing.assert_allclose(unit_rows([[1.7e308, 1.7e308]]), [[math.sqrt(0.5)] * 2], rtol=4 * ULP)


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda: as_rows([[10**400]]), id="in the data"),
        pytest.param(lambda: require_positive("epsilon", 10**400), id="as a parameter"),
    ],
)
def test_an_integer_beyond_the_largest_float_is_refused(read: Callable[[], Any]) -> None:
    with pytest.raises(InvalidInput):
        read()


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda: as_rows(np.array([["1", 2]], dtype=object)), id="digits in an object array"),
        pytest.param(lambda: as_rows(np.ma.masked_array([[1.0, 2.0]], [[0, 1]])), id="a masked entry"),
        pytest.param(lambda: require_positive("epsilon", np.complex128(1)), id="a complex parameter"),
        pytest.param(lambda: require_shape("noise", np.array([[1j]]), (1, 1)), id="complex noise"),
        pytest.param(lambda: require_shape("noise", [["a"]], (1, 1)), id="noise of strings"),
    ],
)
def test_what_is_not_a_real_number_is_refused_wherever_it_hides(read: Callable[[], Any]) -> None:
    with pytest.raises(InvalidInput):
        read()


# Tests of groups and ranges of rows that are spread over several chunks


def in_chunks(x: Matrix, sizes: list[int]) -> Chunks:
    ends = np.cumsum([0, *sizes])
    return Chunks(x.shape, lambda: (x[a:b] for a, b in itertools.pairwise(ends)))


NINE = np.arange(18.0).reshape(9, 2)


@pytest.mark.parametrize("sizes", [[9], [1] * 9, [4, 5], [2, 6, 1], [8, 1]])
@pytest.mark.parametrize(("first", "last"), [(0, 9), (0, 1), (3, 4), (2, 7), (8, 9)])
def test_a_range_of_records_is_the_same_in_chunks(sizes: list[int], first: int, last: int) -> None:
    rows = rows_between(in_chunks(NINE, sizes), first, last)
    assert rows.shape == (last - first, 2)
    np.testing.assert_array_equal(np.vstack(list(blocks(rows))), NINE[first:last])
    np.testing.assert_array_equal(next(iter(blocks(rows_between(NINE, first, last)))), NINE[first:last])


@pytest.mark.parametrize("sizes", [[9], [1] * 9, [4, 5], [2, 6, 1], [8, 1]])
@pytest.mark.parametrize("size", [1, 2, 4, 9])
def test_groups_lie_across_chunks(sizes: list[int], size: int) -> None:
    """Test that groups of rows do not depend on the sizes of the chunks."""

    def ends_added(groups: Matrix) -> Matrix:
        return groups[:, -1] + groups[:, 0]

    count = 9 // size
    expected = np.array([NINE[size * i] + NINE[size * i + size - 1] for i in range(count)])
    rows = map_groups(ends_added, in_chunks(NINE, sizes), size)
    assert rows.shape == (count, 2)
    np.testing.assert_array_equal(np.vstack(list(blocks(rows))), expected)
    np.testing.assert_array_equal(next(iter(blocks(map_groups(ends_added, NINE, size)))), expected)


@pytest.mark.parametrize("unit", [1e-200, 1e-170, 1e-3, 1.0, 1e160, 1e300])
def test_longer_rows_are_those_with_a_larger_norm_also_next_to_the_bound(unit: float) -> None:
    rng = np.random.default_rng(4)
    for n, d in itertools.product((1, 2, 40), (1, 3, 9)):
        rows = rng.uniform(-1, 1, (n, d)) * unit
        norm = float(row_norms(rows)[0])
        for bound in (norm, np.nextafter(norm, 0), np.nextafter(norm, np.inf), norm / 2, norm * 2, 1e-160, 1e150):
            assert np.array_equal(longer_rows(rows, float(bound)), row_norms(rows) > bound)
