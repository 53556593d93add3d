"""Test Gaussian covariance under (ε, δ)-DP: the exact law, and another adjacency."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from covassay.reference.laws.wigner import ENSEMBLES, separation_squared
from covassay.reference.mechanisms.approximate.gauss_cov_approximate import sample, sensitivity
from covassay.reference.mechanisms.building_blocks.gaussian_approximate import multiplier
from covassay.reference.sensitivity import difference
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM

X = np.array([[0.6, 0.8], [1.0, 0.0]])
SIGMA = np.array([[0.68, 0.24], [0.24, 0.32]])


def test_adding_or_removing_a_row_moves_the_matrix_less() -> None:
    # Adding e₁ moves the matrix by 1; replacing e₁ by e₂ moves it by √2.
    for ensemble in ENSEMBLES:
        assert separation_squared(difference(np.eye(2)[0], np.zeros(2)), ensemble) == 1
        assert separation_squared(difference(*np.eye(2)), ensemble) == 2


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_the_noise_has_its_exact_law(ensemble: Any) -> None:
    rng = np.random.default_rng(7)
    scale = sensitivity(2) * multiplier(1.0, 1e-5, "tight")
    outputs = [sample(X, rng, epsilon=1.0, delta=1e-5, calibration="tight", ensemble=ensemble) for _ in range(2000)]
    noise = (np.array(outputs) - SIGMA) / scale
    off = 1.0 if ensemble == "wigner" else math.sqrt(0.5)
    for i, j, deviation in [(0, 0, 1.0), (1, 1, 1.0), (0, 1, off)]:
        law = stats.norm(scale=deviation)
        assert kolmogorov_smirnov(noise[:, i, j], law.cdf, "entry").p_value > FALSE_ALARM
        assert kolmogorov_smirnov(noise[:, i, j] * math.sqrt(2), law.cdf, "entry").p_value < FALSE_ALARM
