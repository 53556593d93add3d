"""Rational numbers below and above e^x and π, for comparisons that leave nothing to rounding."""

from fractions import Fraction

PI_BELOW = Fraction(314159265358979323846264338327950288419, 10**38)  # 3.14159…8419|7, cut off
PI_ABOVE = PI_BELOW + Fraction(1, 10**38)


def exponential(x: Fraction, digits: int = 40) -> tuple[Fraction, Fraction]:
    """Rational bounds of e^x that differ by less than 10^−digits of the value.

    For x ≥ 0 the series, cut after a term beyond which each is at most half of the one before: what is left out lies
    between 0 and that term. For x < 0 the reciprocal.
    """
    if x < 0:
        low, high = exponential(-x, digits)
        return 1 / high, 1 / low
    term = total = Fraction(1)
    n = 0
    while n < 2 * x or term * 10**digits >= total:
        n += 1
        term = term * x / n
        total += term
    return total, total + term
