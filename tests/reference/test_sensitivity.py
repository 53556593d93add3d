"""Test how far one row moves the second moment: formulas against eigenvalues, suprema against search."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from covassay.reference.domain import Number, unit_rows
from covassay.reference.sensitivity import (
    SENSITIVITIES,
    block_pair,
    difference,
    eigenvalue_gap,
    frobenius_change_squared,
    hadamard_pair,
    negative_eigenvalue,
    neighbours,
    one_sided_pair,
    orthonormal_pair,
    positive_eigenvalue,
    trace_change,
)
from tests.conventions import SEEDS, Vector

PROPERTY = settings(max_examples=40)
Pair = tuple[Vector, Vector]


def pairs_in_the_ball(least: int = 1) -> st.SearchStrategy[Pair]:
    """Draw pairs x, y in the unit ball of R^d, d ≤ 6, often on its surface, with entries of moderate size."""
    entries = st.sampled_from([-1.0, -0.75, -0.5, -0.25, 0.0, 0.125, 0.5, 1.0]) | st.floats(-1, 1, width=16)
    two_rows = st.integers(least, 6).flatmap(lambda d: arrays(np.float64, (2, d), elements=entries))
    stretch = st.sampled_from([0.3, 1.0, 8.0])
    return st.tuples(two_rows, stretch).map(lambda rows: tuple(unit_rows(rows[0] * rows[1])))


def inner_products(x: Vector, y: Vector) -> tuple[float, float, float]:
    return float(x @ x), float(y @ y), float(x @ y)


# The formulas


def test_the_formulas_agree_with_a_hand_calculation() -> None:
    # x = (1, 0), y = (3/5, 4/5): s = t = 1, c = 3/5; √(4 − 36/25) = 8/5
    s, t, c = 1, 1, Fraction(3, 5)
    assert eigenvalue_gap(s, t, c) == pytest.approx(1.6, rel=1e-15)
    assert positive_eigenvalue(s, t, c) == pytest.approx(0.8, rel=1e-15)
    assert negative_eigenvalue(s, t, c) == pytest.approx(-0.8, rel=1e-15)
    assert frobenius_change_squared(s, t, c) == Fraction(32, 25)  # .64 + .64
    assert trace_change(s, Fraction(1, 4)) == Fraction(3, 4)


def test_the_formulas_hold_for_symbols() -> None:
    # the eigenvalues of x xᵀ − y yᵀ in the plane of x = (a, 0) and y = (b, e): trace and determinant
    a, b, e = sympy.symbols("a b e", real=True)
    x, y = sympy.Matrix([a, 0]), sympy.Matrix([b, e])
    delta = x * x.T - y * y.T
    s, t, c = a**2, b**2 + e**2, a * b
    plus, minus = (sympy.nsimplify(f(s, t, c)) for f in (positive_eigenvalue, negative_eigenvalue))
    assert sympy.simplify(plus + minus - delta.trace()) == 0
    assert sympy.simplify(plus * minus - delta.det()) == 0
    assert sympy.simplify(frobenius_change_squared(s, t, c) - (delta.T * delta).trace()) == 0
    assert sympy.simplify(trace_change(s, t) - delta.trace()) == 0
    assert sympy.simplify(sympy.nsimplify(eigenvalue_gap(s, t, c)) - (plus - minus)) == 0


Formula = Callable[[Number, Number, Number], Number]


def agrees_with_eigenvalues(x: Vector, y: Vector, positive: Formula, negative: Formula) -> bool:
    s, t, c = inner_products(x, y)
    if (s + t) ** 2 < 4 * c**2:  # rows that are parallel up to rounding
        c = math.copysign((s + t) / 2, c)
    values = np.linalg.eigvalsh(difference(x, y))
    tops = max(values[-1], 0.0), min(values[0], 0.0)
    return bool(np.allclose(tops, (positive(s, t, c), negative(s, t, c)), rtol=0, atol=1e-7))


@PROPERTY
@given(pairs_in_the_ball())
def test_the_two_eigenvalues_are_those_of_the_difference(pair: Pair) -> None:
    # atol 1e-7: near parallel rows the root turns an error of 1e-15 into 3e-8
    assert agrees_with_eigenvalues(*pair, positive_eigenvalue, negative_eigenvalue)


@PROPERTY
@given(pairs_in_the_ball())
def test_norms_of_the_difference_have_their_formulas(pair: Pair) -> None:
    s, t, c = inner_products(*pair)
    delta = difference(*pair)
    assert np.trace(delta) == pytest.approx(trace_change(s, t), abs=1e-14)
    assert float((delta**2).sum()) == pytest.approx(frobenius_change_squared(s, t, c), abs=1e-14)
    gap = max((s + t) ** 2 - 4 * c**2, 0.0) ** 0.5
    assert np.abs(np.linalg.eigvalsh(delta)).sum() == pytest.approx(gap, abs=1e-7)


# The table

# the factors are typed from the table, in units of C; the last two rows are √2 d and √(d² + …)/2: √33/2, √13, √41
SUPREMA = {
    "nuclear norm": {1: 1, 2: 2, 3: 2, 4: 2, 8: 2},
    "Frobenius norm": {1: 1, 2: 1.4142135623730951, 3: 1.4142135623730951, 8: 1.4142135623730951},
    "spectral norm": {1: 1, 2: 1, 3: 1, 8: 1},
    "trace": {1: 1, 2: 1, 3: 1, 8: 1},
    "eigenvalues, l1": {1: 1, 2: 2, 3: 2, 8: 2},
    "eigenvalues, l2": {1: 1, 2: 1.4142135623730951, 8: 1.4142135623730951},
    "upper triangle, l2": {1: 1, 2: 1.4142135623730951, 8: 1.4142135623730951},
    "all entries, l1": {1: 1, 2: 2.8284271247461903, 4: 5.656854249492381, 8: 11.313708498984761},
    "upper triangle, l1": {
        1: 1,
        2: 2.23606797749979,
        3: 2.8722813232690143,
        4: 3.605551275463989,
        8: 6.4031242374328485,
    },
}


def test_the_table_has_the_quantities_of_this_test() -> None:
    assert set(SENSITIVITIES) == set(SUPREMA)
    assert all(name == entry.quantity for name, entry in SENSITIVITIES.items())


@pytest.mark.parametrize("quantity", SUPREMA)
def test_the_suprema_are_those_of_the_specification(quantity: str) -> None:
    for d, expected in SUPREMA[quantity].items():
        assert SENSITIVITIES[quantity].supremum(d) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("quantity", SUPREMA)
@PROPERTY
@given(pair=pairs_in_the_ball())
def test_no_pair_of_rows_exceeds_the_supremum(quantity: str, pair: Pair) -> None:
    entry = SENSITIVITIES[quantity]
    assert entry.change(*pair) <= entry.supremum(len(pair[0])) * (1 + 1e-12)


@pytest.mark.parametrize("d", range(1, 10))
@pytest.mark.parametrize("quantity", SUPREMA)
def test_the_worst_pair_lies_in_the_ball_and_attains_the_supremum(quantity: str, d: int) -> None:
    entry = SENSITIVITIES[quantity]
    x, y = entry.pair(d)
    assert x.shape == y.shape == (d,)
    assert max(np.linalg.norm(x), np.linalg.norm(y)) <= 1 + 1e-15
    if entry.attained(d):
        assert entry.change(x, y) == pytest.approx(entry.supremum(d), rel=1e-13)


S_TRIANGLE = {1: 1, 2: 2.236068, 3: 2.872281, 4: 3.605551, 5: 4.272002, 6: 5, 7: 5.678908, 8: 6.403124}


def test_the_supremum_of_the_triangle_is_the_exhaustive_one() -> None:
    for d, exact in S_TRIANGLE.items():
        assert SENSITIVITIES["upper triangle, l1"].supremum(d) == pytest.approx(exact, abs=1e-6)


def test_the_pair_for_the_triangle_agrees_with_a_hand_calculation() -> None:
    # d = 2: eigenvectors of [[1, ½], [½, −1]], tan 2α = ½
    x, y = block_pair(2)
    w = np.array([[1.0, 0.5], [0.5, -1.0]])
    np.testing.assert_allclose([w @ x, w @ y], [x * math.sqrt(1.25), -y * math.sqrt(1.25)], rtol=1e-14)
    np.testing.assert_array_equal(block_pair(1), [[1], [0]])


def test_the_pairs_of_rows_agree_with_a_hand_calculation() -> None:
    np.testing.assert_array_equal(orthonormal_pair(3), [[1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(orthonormal_pair(1), [[1], [0]])
    np.testing.assert_array_equal(one_sided_pair(2), [[1, 0], [0, 0]])
    # d = 2: eigenvectors of [[1, 1], [1, −1]] to ±√2, (cos, sin)(π/8) and (−sin, cos)(π/8)
    x, y = hadamard_pair(2)
    np.testing.assert_allclose(np.abs(x), [math.cos(math.pi / 8), math.sin(math.pi / 8)], rtol=1e-14)
    np.testing.assert_allclose(np.abs(y), [math.sin(math.pi / 8), math.cos(math.pi / 8)], rtol=1e-14)
    assert x @ y == pytest.approx(0, abs=1e-15)


# Eigenvalue vectors: the change of the table bounds the change of the sorted eigenvalues


@pytest.mark.parametrize(("quantity", "order"), [("eigenvalues, l1", 1), ("eigenvalues, l2", 2)])
@PROPERTY
@given(pair=pairs_in_the_ball(), seed=SEEDS)
def test_sorted_eigenvalues_move_no_further_than_stated(quantity: str, order: int, pair: Pair, seed: int) -> None:
    d = len(pair[0])
    rows = unit_rows(np.random.default_rng(seed).standard_normal((4, d)))
    before, after = (np.linalg.eigvalsh(data.T @ data) for data in neighbours(rows, *pair))
    assert np.linalg.norm(before - after, order) <= SENSITIVITIES[quantity].change(*pair) + 1e-13


def test_neighbours_differ_in_one_row() -> None:
    rows = np.array([[0.1, 0.2], [0.3, 0.4]])
    first, second = neighbours(rows, np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    np.testing.assert_array_equal(first, [[0.1, 0.2], [0.3, 0.4], [1.0, 0.0]])
    np.testing.assert_array_equal(second, [[0.1, 0.2], [0.3, 0.4], [0.0, 1.0]])
