"""Test composite Gauss–Legendre quadrature. The quadrature of a polynomial up to any point is exact except for rounding
errors."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import Polynomial

from covassay.reference.laws.panels import NODES, Panels, interpolation

PROPERTY = settings(max_examples=100)
UNEVEN = Panels(np.array([-1.0, -0.5, 0.25, 0.5, 2.0]))


def monomial(degree: int) -> tuple[Callable[[np.ndarray], np.ndarray], Callable[[float], float]]:
    """Return the function x ↦ x^degree and its antiderivative."""
    return (lambda x: x**degree), (lambda x: x ** (degree + 1) / (degree + 1))


def test_nodes_lie_inside_their_panels_and_weights_add_up_to_the_widths() -> None:
    assert UNEVEN.count == 4
    assert UNEVEN.nodes.shape == UNEVEN.weights.shape == (4, NODES)
    assert (UNEVEN.nodes > UNEVEN.edges[:-1, None]).all()
    assert (UNEVEN.nodes < UNEVEN.edges[1:, None]).all()
    assert (np.diff(UNEVEN.nodes.ravel()) > 0).all()
    np.testing.assert_allclose(UNEVEN.weights.sum(axis=1), [0.5, 0.75, 0.25, 1.5], rtol=1e-14)
    np.testing.assert_allclose(UNEVEN.half_widths, [0.25, 0.375, 0.125, 0.75], rtol=1e-15)


@pytest.mark.parametrize("degree", [0, 1, 10, 47])
def test_the_rule_is_exact_up_to_degree_47(degree: int) -> None:
    f, primitive = monomial(degree)
    exact = primitive(2.0) - primitive(-1.0)
    assert (UNEVEN.weights * f(UNEVEN.nodes)).sum() == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("degree", [0, 1, 5, 23])
def test_antiderivatives_of_polynomials_are_exact_at_edges_and_nodes(degree: int) -> None:
    f, primitive = monomial(degree)
    at_edges, at_nodes = UNEVEN.antiderivative(f(UNEVEN.nodes))
    rounding = 1e-14 * max(1.0, primitive(2.0))
    np.testing.assert_allclose(at_edges, primitive(UNEVEN.edges) - primitive(-1.0), rtol=0, atol=rounding)
    np.testing.assert_allclose(at_nodes, primitive(UNEVEN.nodes) - primitive(-1.0), rtol=0, atol=rounding)


@PROPERTY
@given(st.lists(st.floats(-2, 2), min_size=1, max_size=NODES), st.floats(-1, 1))
def test_interpolation_and_integration_are_exact_up_to_degree_23(coefficients: list[float], t: float) -> None:
    f = Polynomial(coefficients)
    values = f(Panels(np.array([-1.0, 1.0])).nodes[0])
    weights, integrals = interpolation(np.array([t]))
    scale = sum(map(abs, coefficients)) + 1
    assert (weights @ values)[0] == pytest.approx(f(t), abs=1e-13 * scale)
    assert (integrals @ values)[0] == pytest.approx(f.integ(lbnd=-1)(t), abs=1e-13 * scale)


@PROPERTY
@given(st.floats(-1, 2))
def test_a_point_is_located_in_the_panel_that_holds_it(x: float) -> None:
    panel, t = UNEVEN.locate(np.array([x]))
    left, right = UNEVEN.edges[panel[0]], UNEVEN.edges[panel[0] + 1]
    assert left <= x <= right
    assert left + (right - left) * (1 + t[0]) / 2 == pytest.approx(x, abs=1e-15)


def test_an_edge_belongs_to_the_panel_on_its_right_and_outsiders_to_the_nearest() -> None:
    panel, t = UNEVEN.locate(np.array([-1.0, 0.25, 2.0, -3.0, 5.0]))
    np.testing.assert_array_equal(panel, [0, 2, 3, 0, 3])
    np.testing.assert_allclose(t, [-1, -1, 1, -9, 5], rtol=1e-14)
