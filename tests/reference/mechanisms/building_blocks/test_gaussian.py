"""Test the Gaussian mechanism under zCDP with any value, and by its exact law.

Statistical tests have fixed seeds and state n: with a random seed, each test of a correct law would raise a false alarm
with probability at most 1e-9.
"""

import numpy as np
from scipy import stats

from covassay.reference.mechanisms.building_blocks.gaussian import perturb, sample
from covassay.verification.statistics.tests import independence, kolmogorov_smirnov


def test_any_value_can_be_perturbed() -> None:
    got = perturb(np.array([[1.0, 2.0]]), np.array([[0.5, -1.0]]), sensitivity=3, rho=4.5)
    np.testing.assert_array_equal(got, [[1.5, 1.0]])


def test_the_release_has_its_exact_law() -> None:
    # 6000 features, n = 4, Σ = 0; ρ = 1/4: σ = (√2/4)/√(1/2) = 1/2
    draws = sample(np.zeros((4, 6000)), np.random.default_rng(2), rho=0.25).reshape(3000, 2)
    for column in draws.T:
        assert kolmogorov_smirnov(column, stats.norm(0, 0.5).cdf, "exact").p_value > 1e-9
        assert kolmogorov_smirnov(column, stats.norm(0, 0.35).cdf, "σ/√2").p_value < 1e-9
    assert independence(draws[:, 0], draws[:, 1], "independent").p_value > 1e-9
