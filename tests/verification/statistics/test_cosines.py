"""Test the sum of cosines of uniform angles as a test statistic. The p-values must be valid, and the test must have
the stated power.
"""

import numpy as np
import pytest
from scipy import stats

from covassay.verification.statistics.tests import POWER, cosines


@pytest.mark.parametrize("n", [5, 60])
def test_p_values_of_uniform_angles_are_uniform_or_larger(n: int) -> None:
    """The test fails if p-values are too small for uniform angles. The frequency of p ≤ u is tested at nine values of
    u, and a valid test fails with probability at most 1e-9.
    """
    angles = np.random.default_rng(2024).uniform(-np.pi, np.pi, (2000, n))
    p_values = np.array([cosines(row, "").p_value for row in angles])
    for u in (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9):
        assert (p_values <= u).sum() <= stats.binom.isf(1e-9 / 9, 2000, u)


def test_the_smallest_mean_cosine_is_seen_with_the_stated_power() -> None:
    """The test fails if the test has less power than stated. Angles 2 arctan X, where X is a Cauchy variable of scale
    r, have mean cosine (1 − r)/(1 + r).
    """
    rng, n, alpha = np.random.default_rng(11), 400, 1e-9
    mean = cosines(rng.random(n), "").detectable(alpha)
    scale = (1 - mean) / (1 + mean)
    angles = 2 * np.arctan(scale * rng.standard_cauchy((300, n)))
    assert np.mean(np.cos(angles)) == pytest.approx(mean, abs=0.01)
    seen = sum(cosines(row, "").p_value <= alpha for row in angles)
    assert seen >= stats.binom.ppf(1e-9, 300, POWER)
    assert cosines(2 * np.arctan(0.97 * rng.standard_cauchy(10**6)), "").p_value < alpha
