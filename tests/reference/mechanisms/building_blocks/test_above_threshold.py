"""Test AboveThreshold: its accuracy, and its release by the exact law of the output.

The module `verification.exact.above_threshold` computes the probability of every output.
Statistical tests have fixed seeds and state n: with a random seed, each test of a correct law would raise a false alarm
with probability at most 1e-9.
"""

from typing import Any

import numpy as np
import pytest

from covassay.reference.mechanisms.building_blocks.above_threshold import accuracy, query_scale, sample, threshold_scale
from covassay.verification.exact.above_threshold import probabilities
from covassay.verification.statistics.tests import binomial
from tests.conventions import Matrix


def scales(calibration: str, epsilon: float = 1.0) -> tuple[float, float]:
    return threshold_scale(epsilon), query_scale(epsilon, calibration)


# Accuracy


def failure(values: Matrix, threshold: float, alpha: float, b1: float, b2: float) -> float:
    """Return the probability that a query above T + α is passed over, or that the search stops at a query below T −
    α."""
    p = probabilities(values, threshold, b1, b2)
    high, low = values > threshold + alpha, np.append(values < threshold - alpha, False)
    passed = np.concatenate([[False], np.cumsum(high) > 0])
    return float(p[passed | low].sum())


@pytest.mark.parametrize("calibration", ["paper", "tight"])
@pytest.mark.parametrize("beta", [0.5, 0.1, 1e-3])
@pytest.mark.parametrize("m", [1, 5, 30])
def test_the_accuracy_holds_by_the_exact_law(calibration: str, beta: float, m: int) -> None:
    b1, b2 = scales(calibration)
    alpha = accuracy(m, beta, 1.0, calibration)
    just_above, just_below = np.full(m, alpha + 1e-6), np.full(m, -alpha - 1e-6)
    for values in (just_above, just_below, np.concatenate([just_below[1:], just_above[:1]])):
        assert failure(values, 0.0, alpha, b1, b2) <= beta
    # for the mutant, which uses a quarter of α, the probability is too large
    if m == 30:
        assert failure(np.full(m, -alpha / 4 - 1e-6), 0.0, alpha / 4, b1, b2) > beta


# The draws


@pytest.mark.parametrize(("calibration", "b2"), [("paper", 4.0), ("tight", 2.0)])
def test_the_release_has_its_exact_law(calibration: Any, b2: float) -> None:
    # The test has n = 2000 draws, with energies 4, 1, 1 and threshold 2.
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
