"""Test the distribution function of one coordinate under Haar measure. The checks `claims.checks.own.samplers` test the
law of the draws."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from covassay.reference.errors import InvalidInput
from covassay.reference.laws import haar
from tests.conventions import Vector

Cdf = Callable[[Vector], Vector]


# The distribution function of a squared coordinate


@pytest.mark.parametrize(
    ("dimension", "closed_form"),
    [
        # On the circle w = cos²φ. On the sphere in R³, √w is uniform; in R⁵ its density is proportional to 1 − w.
        pytest.param(2, lambda w: 2 / math.pi * np.arcsin(np.sqrt(w)), id="circle"),
        pytest.param(3, np.sqrt, id="sphere"),
        pytest.param(5, lambda w: 1.5 * (np.sqrt(w) - w**1.5 / 3), id="sphere of R^5"),
    ],
)
def test_a_squared_coordinate_has_its_closed_form(dimension: int, closed_form: Cdf) -> None:
    w = np.linspace(0, 1, 101)
    np.testing.assert_allclose(haar.squared_coordinate_cdf(w, dimension), closed_form(w), atol=1e-14)


def test_in_dimension_one_the_squared_coordinate_is_one() -> None:
    np.testing.assert_array_equal(haar.squared_coordinate_cdf(np.array([-1, 0, 0.999, 1, 2]), 1), [0, 0, 0, 1, 1])


@pytest.mark.parametrize("dimension", [2, 3, 7])
def test_the_distribution_function_is_zero_below_zero_and_one_above_one(dimension: int) -> None:
    np.testing.assert_array_equal(haar.squared_coordinate_cdf(np.array([-3.0, 0, 1, 3]), dimension), [0, 0, 1, 1])


def test_the_shape_of_the_beta_law_is_half_of_each_dimension() -> None:
    assert haar.squared_coordinate_shape(Fraction(2), Fraction(5)) == (1, Fraction(3, 2))  # type: ignore[arg-type]


# Draws


@pytest.mark.parametrize("dimension", [1, 2, 3, 5, 8])
def test_draws_are_orthogonal(dimension: int) -> None:
    """Test that draws are orthogonal matrices, and have the documented shapes."""
    q = haar.sample(dimension, np.random.default_rng(0), 50)
    assert q.shape == (50, dimension, dimension)
    np.testing.assert_allclose(q @ np.swapaxes(q, 1, 2), np.broadcast_to(np.eye(dimension), q.shape), atol=1e-14)
    single = haar.sample(dimension, np.random.default_rng(0))
    assert single.shape == (dimension, dimension)


@pytest.mark.parametrize("dimension", [0, -1, 2.0, True, "2"])
def test_a_bad_dimension_is_refused(dimension: int) -> None:
    with pytest.raises(InvalidInput, match="dimension = "):
        haar.sample(dimension, np.random.default_rng(0))
