"""Test the exact law of the mechanism AboveThreshold against closed forms, integrals of high precision, and
simulation.
"""

import math

import mpmath
import numpy as np
import pytest

from covassay.verification.exact.above_threshold import largest_loss, log_probabilities, probabilities
from covassay.verification.statistics.tests import binomial


def difference_survival(t: float, b1: float, b2: float) -> float:
    """Return P(b₂L' − b₁L ≥ t) for t ≥ 0 and independent Laplace variables L and L'.

    If b₁ ≠ b₂, partial fractions of the characteristic function 1/((1 + b₁²s²)(1 + b₂²s²)) make the law a signed
    mixture of the two Laplace laws.
    """
    if b1 == b2:
        return (2 + t / b1) * math.exp(-t / b1) / 4
    one, two = b1**2 / (b1**2 - b2**2), b2**2 / (b1**2 - b2**2)
    return (one * math.exp(-t / b1) - two * math.exp(-t / b2)) / 2


@pytest.mark.parametrize(("b1", "b2"), [(2.0, 4.0), (2.0, 2.0), (3.0, 0.5)])
@pytest.mark.parametrize("gap", [0.0, 0.3, 7.0, 150.0])
def test_one_query_is_a_difference_of_laplace_variables(b1: float, b2: float, gap: float) -> None:
    got = log_probabilities(np.array([5.0 - gap]), 5.0, b1, b2)[0]
    assert got == pytest.approx(math.log(difference_survival(gap, b1, b2)), abs=1e-11)
    # by symmetry, a query above the threshold fails to stop as often as a query equally far below the threshold stops
    above = log_probabilities(np.array([5.0 + gap]), 5.0, b1, b2)[1]
    assert above == pytest.approx(math.log(difference_survival(gap, b1, b2)), abs=1e-11)


def by_mpmath(values: list[float], threshold: float, b1: float, b2: float, i: int) -> float:
    def survival(t: mpmath.mpf) -> mpmath.mpf:
        return mpmath.exp(-t) / 2 if t > 0 else 1 - mpmath.exp(t) / 2

    def integrand(z: mpmath.mpf) -> mpmath.mpf:
        u = [(threshold + z - f) / b2 for f in values]
        product = mpmath.exp(-abs(z) / b1) / (2 * b1)
        for t in u[:i]:
            product *= 1 - survival(t)
        return product * (survival(u[i]) if i < len(values) else 1)

    kinks = sorted({0.0, *(f - threshold for f in values)})
    with mpmath.workdps(30):
        return float(mpmath.quad(integrand, [-mpmath.inf, *kinks, mpmath.inf]))


@pytest.mark.parametrize("i", [0, 1, 2, 3])
def test_three_queries_as_in_arbitrary_precision(i: int) -> None:
    values = [1.0, 4.0, 2.5]
    got = probabilities(np.array(values), 3.0, 2.0, 4.0)[i]
    assert got == pytest.approx(by_mpmath(values, 3.0, 2.0, 4.0, i), rel=1e-12)


@pytest.mark.parametrize("m", [1, 2, 7, 40])
def test_the_probabilities_sum_to_one(m: int) -> None:
    values = 10 * np.sin(np.arange(m))
    assert probabilities(values, 1.0, 2.0, 4.0).sum() == pytest.approx(1, abs=1e-12)


def test_a_simulation_has_these_probabilities() -> None:
    """The test fails if the frequencies of a simulation disagree with the exact probabilities."""
    # The test makes 20000 draws, and one exact binomial test per output. A false alarm has probability at most 3e-9.
    rng, values, n = np.random.default_rng(3), np.array([0.0, 2.0]), 20000
    stop = values + 4 * rng.laplace(size=(n, 2)) >= 1 + 2 * rng.laplace(size=(n, 1))
    counts = np.bincount(np.where(stop.any(axis=1), stop.argmax(axis=1), 2), minlength=3)

    def p_value(b1: float, b2: float) -> float:
        laws = zip(counts, probabilities(values, 1.0, b1, b2), strict=True)
        return min(binomial(int(count), n, float(p), "").p_value for count, p in laws)

    assert p_value(2.0, 4.0) > 1e-9
    assert p_value(4.0, 2.0) < 1e-9  # if the scales are exchanged, the test must reject


def test_equal_values_have_no_loss() -> None:
    assert largest_loss(np.array([1.0, 2.0]), np.array([1.0, 2.0]), 0.0, 2.0, 4.0) == 0
