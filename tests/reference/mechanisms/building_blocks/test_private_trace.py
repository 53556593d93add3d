"""Test the private trace: its exact law, and the upper bound that AdaptiveCov reads.

Statistical tests have fixed seeds and state n: with a random seed, each test of a correct law would raise a false alarm
with probability at most 1e-9.
"""

import numpy as np
import pytest
from scipy import stats

from covassay.reference.mechanisms.building_blocks import private_trace
from covassay.verification.statistics.tests import kolmogorov_smirnov


def test_the_upper_bound_agrees_with_a_hand_calculation() -> None:
    assert private_trace.upper_bound(0.5, -1.0, 0.1, 3.0) == pytest.approx(0.7)
    assert private_trace.upper_bound(0.5, 9.0, 0.1, 3.0) == 1
    assert private_trace.upper_bound(0.0, -9.0, 0.1, 3.0) == 1e-16


def test_the_release_has_its_exact_law() -> None:
    # The test has 3000 draws, with n = 4, tr Σ = 1/4 and b = 1/(4 · .5) = 1/2.
    x, rng = np.full((4, 1), 0.5), np.random.default_rng(12)
    draws = np.array([private_trace.sample(x, rng, epsilon=0.5) for _ in range(3000)])
    assert kolmogorov_smirnov(draws, stats.laplace(0.25, 0.5).cdf, "exact").p_value > 1e-9
    assert kolmogorov_smirnov(draws, stats.laplace(0.25, 0.25).cdf, "half the scale").p_value < 1e-9
