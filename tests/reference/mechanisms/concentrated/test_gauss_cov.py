"""Test Gaussian covariance: the exact law of the noise, and its error.

Statistical tests have fixed seeds: with a random seed, each comparison with a correct law would raise a false alarm
with probability at most 1e-9.
"""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from covassay.reference.laws.wigner import ENSEMBLES
from covassay.reference.mechanisms.concentrated.gauss_cov import error_bound, frobenius_bound, noise_scale, sample
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, too_often_above
from tests.reference.mechanisms.errors import frobenius_errors

DRAWS = 2000
X = np.array([[0.6, 0.8], [1.0, 0.0]])  # Σ = [[.68, .24], [.24, .32]] by hand
SIGMA = np.array([[0.68, 0.24], [0.24, 0.32]])


# The law


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_the_noise_has_its_exact_law(ensemble: Any) -> None:
    rng, rho = np.random.default_rng(7), 0.3
    scale = 1 / (2 * math.sqrt(rho))
    noise = np.array([sample(X, rng, rho=rho, ensemble=ensemble) - SIGMA for _ in range(DRAWS)]) / scale
    off = 1.0 if ensemble == "wigner" else math.sqrt(0.5)
    for i, j, deviation in [(0, 0, 1.0), (1, 1, 1.0), (0, 1, off)]:
        law = stats.norm(scale=deviation)
        assert kolmogorov_smirnov(noise[:, i, j], law.cdf, "entry").p_value > FALSE_ALARM
        # Noise for a sensitivity of 1 instead of √2 is √2 times too small, and is rejected.
        assert kolmogorov_smirnov(noise[:, i, j] / math.sqrt(2), law.cdf, "entry").p_value < FALSE_ALARM


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_the_error_stays_below_its_bound(ensemble: Any) -> None:
    n, d, rho, beta = 50, 12, 0.4, 0.1
    errors = frobenius_errors(sample, n, d, 500, rho=rho, ensemble=ensemble)
    assert not too_often_above(errors, error_bound(n, d, rho, beta, ensemble), beta)
    mean = noise_scale(n, rho) * (d if ensemble == "wigner" else math.sqrt(d * (d + 1) / 2))
    assert too_often_above(errors, mean, beta)  # the error exceeds √E‖σW‖_F² about half of the time
    assert error_bound(n, d, rho, beta, ensemble) < 1.4 * mean


def test_goe_has_about_half_of_the_squared_error() -> None:
    assert frobenius_bound(200, 0.1, "goe") / frobenius_bound(200, 0.1, "wigner") == pytest.approx(
        math.sqrt(0.5), rel=0.01
    )
