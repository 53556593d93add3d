"""Test the release of AboveThreshold against the exact law of its output.

The module `verification.exact.above_threshold` computes the probability of every output. Statistical tests have fixed
seeds. With a random seed, each test of a correct law would raise a false alarm with probability at most 1e-9.
"""

from typing import Any

import numpy as np
import pytest

from covassay.reference.mechanisms.building_blocks.above_threshold import sample
from covassay.verification.exact.above_threshold import probabilities
from covassay.verification.statistics.tests import binomial


@pytest.mark.parametrize(("calibration", "b2"), [("paper", 4.0), ("tight", 2.0)])
def test_the_release_has_its_exact_law(calibration: Any, b2: float) -> None:
    # The three columns have the sums of squares 4, 1 and 1, and the threshold is 2.
    x = np.repeat(np.eye(3), [4, 1, 1], axis=0)
    rng, n = np.random.default_rng(8), 2000
    draws = np.array([sample(x, rng, epsilon=1.0, calibration=calibration) for _ in range(n)])
    energies = np.array([4.0, 1.0, 1.0])
    exact = probabilities(energies, 2.0, 2.0, b2)
    halved = probabilities(energies, 2.0, 1.0, b2 / 2)
    wrong = []
    for i in range(4):
        count = int((draws == i + 1).sum())
        assert binomial(count, n, float(exact[i]), "exact").p_value > 1e-9
        wrong.append(binomial(count, n, float(halved[i]), "half the noise").p_value)
    assert min(wrong) < 1e-9
