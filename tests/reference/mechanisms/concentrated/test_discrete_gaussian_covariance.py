"""Discrete Gaussian covariance: known answers, and the divergence from exact probabilities."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from covassay.reference.domain import IntegerMatrix
from covassay.reference.mechanisms.concentrated.discrete_gaussian_covariance import (
    noise_variance,
    release,
    sample,
    sensitivity_squared,
)

X = np.array([[1.0, 0.0], [0.0, 0.5]])  # on two bits: rows (4, 0) and (0, 2), sums 16, 0, 4


def test_the_release_agrees_with_a_hand_calculation() -> None:
    asked = []

    def noise(variance: Fraction) -> IntegerMatrix:
        asked.append(variance)
        return np.array([[3, -5], [-5, 7]], dtype=object)

    got = release(X, noise, rho=0.1, input_bits=2)
    assert asked == [2560]  # 2 · 16²/(2 · 1/10)
    np.testing.assert_array_equal(got, np.array([[19, -5], [-5, 11]]) / 32)
    np.testing.assert_allclose(release(10 * X, noise, rho=0.1, input_bits=2, row_bound=10), 100 * got, rtol=1e-15)


@pytest.mark.parametrize(("d", "b", "squared"), [(1, 1, 16), (2, 1, 32), (7, 3, 8192), (20, 20, 2 * 16**20)])
def test_the_sensitivity_in_whole_numbers(d: int, b: int, squared: int) -> None:
    assert sensitivity_squared(d, b) == squared


@pytest.mark.parametrize("rho", [Fraction(1, 10), Fraction(2), Fraction(20)])
def test_the_divergence_of_the_worst_rows_is_rho_at_whole_orders_and_at_most_that_elsewhere(rho: Fraction) -> None:
    """On one bit: two entries move by 4. The sums are to 30 digits; what is beyond 30 σ is below e^−400."""
    variance = noise_variance(sensitivity_squared(2, 1), rho)
    with mpmath.workdps(30):
        v = mpmath.mpf(variance.numerator) / variance.denominator
        reach = int(30 * mpmath.sqrt(v)) + 60
        weights = {x: mpmath.exp(-(x**2) / (2 * v)) for x in range(-reach, reach + 1)}
        total = mpmath.fsum(weights.values())
        for alpha in (mpmath.mpf(9) / 8, mpmath.mpf(2), mpmath.mpf(3)):
            terms = [weights[x - 4] ** alpha * weights[x] ** (1 - alpha) for x in weights if abs(x - 4) <= reach]
            divergence = 2 * mpmath.log(mpmath.fsum(terms) / total) / (alpha - 1)
            claimed = alpha * rho.numerator / rho.denominator
            assert divergence <= claimed * (1 + mpmath.mpf(10) ** -20)
            if alpha == int(alpha):
                assert abs(divergence / claimed - 1) < mpmath.mpf(10) ** -20
            assert divergence > claimed * mpmath.mpf("0.97") or rho == 20  # 3 % less would be refuted


def test_a_release_is_a_multiple_of_the_unit() -> None:
    got = sample(X, np.random.default_rng(1), rho=0.5, input_bits=3) * 2 * 4**3
    np.testing.assert_array_equal(got, np.rint(got))
