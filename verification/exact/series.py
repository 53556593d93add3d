"""Enclose π, ln 2, e^x, square roots and χ² tails between rational numbers.

Every bound that this module returns is a Fraction. Each bound comes from a partial sum and a bound on its remainder or,
for square roots, from an integer square root. The module `series` does not use mpmath. The functions of the module are
meant for arguments of moderate size, |x| ≤ 100.
"""

import math
from fractions import Fraction

Bounds = tuple[Fraction, Fraction]

DIGITS = 40
TINY = Fraction(1, 10**DIGITS)
# The first 40 decimals of π are 3.1415926535 8979323846 2643383279 5028841971.
PI = (Fraction(31415926535897932384626433832795028841971, 10**40),
      Fraction(31415926535897932384626433832795028841972, 10**40))  # fmt: skip


def exponential(x: Fraction, digits: int = DIGITS) -> Bounds:
    """Return bounds on e^x that differ by less than 10^−digits of the value.

    For x ≥ 0 the lower bound is a partial sum of the power series. Each of the omitted terms is at most half of the
    term before. The remainder therefore lies between 0 and the last term of the partial sum. For x < 0 the bounds are
    the reciprocals of bounds on e^{−x}.
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


def square_root(x: Fraction) -> Bounds:
    """Return lower and upper bounds on √x, x ≥ 0, whose difference is 10^−40."""
    scale = 10**DIGITS
    root = math.isqrt(x.numerator * scale**2 // x.denominator)
    return Fraction(root, scale), Fraction(root + 1, scale)


def chi_square_tail(s: Fraction, degrees: int = 1) -> Bounds:
    """Return bounds on P(χ²_m ≥ s), s ≥ 0, by a recursion that starts from m = 1 or m = 2.

    For m = 1 the tail is 1 − √(2s/π) Σ_k (−s/2)^k / (k! (2k + 1)). This series alternates, and the absolute values of
    its terms decrease from k > s/2 on. For m = 2 the tail of the χ² law is e^{−s/2}. Integration by parts gives the
    recursion P(χ²_{m+2} ≥ s) = P(χ²_m ≥ s) + (s/2)^{m/2} e^{−s/2} / Γ(m/2 + 1).
    """
    half = s / 2
    decay = exponential(-half)
    if degrees % 2:
        total, term, k = Fraction(0), Fraction(1), 0
        while k <= half or abs(term) > TINY:
            total += term / (2 * k + 1)
            k += 1
            term *= -half / k
        root = square_root(2 * s / PI[1])[0], square_root(2 * s / PI[0])[1]
        inside = root[0] * (total - abs(term)), root[1] * (total + abs(term))
        low, high = 1 - inside[1], 1 - inside[0]
        # (s/2)^{1/2}/Γ(3/2) = √(2s/π)
        step = root[0] * decay[0], root[1] * decay[1]
    else:
        low, high = decay
        step = half * decay[0], half * decay[1]
    for m in range(2 - degrees % 2, degrees, 2):
        low, high = low + step[0], high + step[1]
        ratio = half / (Fraction(m, 2) + 1)
        step = step[0] * ratio, step[1] * ratio
    return low, high


def log2() -> Bounds:
    """Return bounds on ln 2 = Σ_{k≥1} 2^{−k}/k, whose remainder after k terms is at most 2^{−k}/k."""
    terms = 4 * DIGITS  # every term of the series adds one bit, and a decimal digit takes fewer than 4 bits
    total = sum((Fraction(1, k * 2**k) for k in range(1, terms + 1)), Fraction(0))
    return total, total + Fraction(1, terms * 2**terms)
