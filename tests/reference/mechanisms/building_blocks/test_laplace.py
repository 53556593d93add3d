"""Test the Laplace mechanism with any value, and by its exact law.

Statistical tests have fixed seeds and state n: with a random seed, each test of a correct law would raise a false alarm
with probability at most 1e-9.
"""

import numpy as np
from scipy import stats

from covassay.reference.mechanisms.building_blocks import laplace
from covassay.verification.statistics.tests import independence, kolmogorov_smirnov


def test_any_value_can_be_perturbed() -> None:
    value, noise = np.array([[1.0, 2.0]]), np.array([[0.5, -1.0]])
    np.testing.assert_array_equal(laplace.perturb(value, noise, sensitivity=3, epsilon=1.5), [[2.0, 0.0]])


def test_the_release_has_its_exact_law() -> None:
    # 6000 features, the first half with Σ_ii = 0 and the second with Σ_ii = 1/6000; n = 4: b = 2/(4 · 1) = 1/2
    x, rng = np.sqrt(np.repeat([0.0, 1 / 6000], 3000)) * np.ones((4, 1)), np.random.default_rng(2)
    draws = laplace.sample(x, rng, epsilon=1.0).reshape(2, 3000).T - [0, 1 / 6000]
    for column in draws.T:
        assert kolmogorov_smirnov(column, stats.laplace(0, 0.5).cdf, "exact").p_value > 1e-9
        assert kolmogorov_smirnov(column, stats.laplace(0, 0.25).cdf, "half the scale").p_value < 1e-9
    assert independence(draws[:, 0], draws[:, 1], "independent").p_value > 1e-9
    assert independence(draws[:, 0], draws[:, 0], "one and the same").p_value < 1e-9
