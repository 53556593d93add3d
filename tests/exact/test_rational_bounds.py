"""Rational bounds of e^x and π."""

from fractions import Fraction

import mpmath
import pytest

from covassay.verification.exact.rational_bounds import PI_ABOVE, PI_BELOW, exponential


def as_mpf(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def test_pi_lies_between_its_bounds() -> None:
    with mpmath.workdps(60):
        assert as_mpf(PI_BELOW) < mpmath.pi < as_mpf(PI_ABOVE)
        assert as_mpf(PI_ABOVE - PI_BELOW) < mpmath.mpf(10) ** -37


@pytest.mark.parametrize(
    "x", [Fraction(0), Fraction(1, 3), Fraction(7), Fraction(220), Fraction(-5, 2), Fraction(-300)]
)
@pytest.mark.parametrize("digits", [5, 40])
def test_the_exponential_lies_between_its_bounds(x: Fraction, digits: int) -> None:
    low, high = exponential(x, digits)
    assert low <= high
    assert high - low <= low / 10**digits
    with mpmath.workdps(80):
        assert as_mpf(low) <= mpmath.exp(as_mpf(x)) <= as_mpf(high)


def test_one_by_hand() -> None:
    # 1 + 1 + 1/2 + 1/6 + 1/24 + … up to a term below 1/100 of the sum, and that term on top
    low, high = exponential(Fraction(1), 2)
    assert low == Fraction(163, 60)  # up to 1/120
    assert high == Fraction(163, 60) + Fraction(1, 120)
