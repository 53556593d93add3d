"""Test the private leading eigenvector by the law of its draws.

Statistical tests have fixed seeds: with a random seed, each comparison with a correct law would raise a false alarm
with probability at most 1e-9 (Kolmogorov's exact p-value).
"""

from typing import Any

import numpy as np
import pytest

from covassay.reference.laws import bingham as law
from covassay.reference.mechanisms.parameters import CALIBRATIONS
from covassay.reference.mechanisms.pure.bingham import sample
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM

# The draws


@pytest.mark.thorough
@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_draws_follow_the_bingham_law_of_the_data(calibration: Any) -> None:
    # C = diag(20, 5, 0), ε = 1
    x = np.repeat(np.eye(3), [20, 5, 0], axis=0)
    rng = np.random.default_rng(13)
    squares = np.array([sample(x, rng, epsilon=1, calibration=calibration) for _ in range(2500)]) ** 2
    eta = {"paper": 0.25, "tight": 0.5}
    for name, factor in eta.items():
        cdf = law.projection_cdf(factor * np.diag([20.0, 5.0, 0.0]), [0])
        p_value = kolmogorov_smirnov(squares[:, 0], cdf, "leading coordinate").p_value
        assert p_value > FALSE_ALARM if name == calibration else p_value < FALSE_ALARM
