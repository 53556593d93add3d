"""Test rational enclosures of functions against values in high precision."""

from collections.abc import Iterator
from fractions import Fraction

import mpmath
import pytest

from covassay.verification.exact import series


def assert_encloses(bounds: series.Bounds, value: mpmath.mpf) -> None:
    low, high = (mpmath.mpf(b.numerator) / b.denominator for b in bounds)
    assert low <= value <= high or mpmath.almosteq(low, value, abs_eps=mpmath.mpf(10) ** -70)
    assert high - low < mpmath.mpf(10) ** -35 * max(1, value)


@pytest.fixture(autouse=True)
def _precision() -> Iterator[None]:
    with mpmath.workdps(80):
        yield


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 7), Fraction(2), Fraction(-4), Fraction(-60), Fraction(99, 2)])
def test_the_exponential_is_enclosed(x: Fraction) -> None:
    assert_encloses(series.exponential(x), mpmath.exp(mpmath.mpf(x.numerator) / x.denominator))


@pytest.mark.parametrize("x", [Fraction(0), Fraction(2), Fraction(9, 4), Fraction(1, 10**6)])
def test_the_square_root_is_enclosed(x: Fraction) -> None:
    assert_encloses(series.square_root(x), mpmath.sqrt(mpmath.mpf(x.numerator) / x.denominator))


def test_the_constants_are_enclosed() -> None:
    assert_encloses(series.PI, +mpmath.pi)
    assert_encloses(series.log2(), mpmath.log(2))


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 7, 12, 31])
@pytest.mark.parametrize("s", [Fraction(0), Fraction(1, 3), Fraction(5), Fraction(40), Fraction(150)])
def test_the_chi_square_tail_is_enclosed(s: Fraction, degrees: int) -> None:
    half = mpmath.mpf(s.numerator) / s.denominator / 2
    assert_encloses(
        series.chi_square_tail(s, degrees), mpmath.gammainc(mpmath.mpf(degrees) / 2, half, regularized=True)
    )
