"""Test the distribution function of ‖Z‖, which is a polynomial in s and e^{-s}, against closed forms and Pfaffians."""

from fractions import Fraction

import pytest

from covassay.reference.errors import InvalidInput
from covassay.verification.exact.ordered_integral import distribution


def test_in_dimension_one_it_is_one_minus_an_exponential() -> None:
    assert distribution(1) == ((1,), (-1,))


def test_in_dimension_two_the_values_agree_with_a_hand_calculation() -> None:
    # As derived in test_spectral_cdf.py, P(‖Z‖ ≤ s) is 1 − (2s² + 4s)/3 e^{−s} − (2s + 3)/3 e^{−2s}.
    third = Fraction(1, 3)
    assert distribution(2) == ((1, 0, 0)[:1], (0, -4 * third, -2 * third), (-1, -2 * third, 0))


@pytest.mark.parametrize("dimension", range(1, 8))
def test_near_zero_the_integral_vanishes_to_the_order_of_the_density(dimension: int) -> None:
    # As P(‖Z‖ ≤ s) = O(s^{d²}), every lower Taylor coefficient is 0, and the coefficient of s^{d²} is positive.
    coefficients = [Fraction(0)] * (dimension**2 + 1)
    for k, polynomial in enumerate(distribution(dimension)):
        factor = Fraction(1)
        for m in range(dimension**2 + 1):
            for a, c in enumerate(polynomial[: dimension**2 + 1 - m]):
                coefficients[m + a] += factor * c
            factor *= Fraction(-k, m + 1)
    assert coefficients[:-1] == [0] * dimension**2
    assert coefficients[-1] > 0


@pytest.mark.parametrize("dimension", [0, 13, 2.5])
def test_a_dimension_out_of_range_is_refused(dimension: int) -> None:
    with pytest.raises(InvalidInput):
        distribution(dimension)
