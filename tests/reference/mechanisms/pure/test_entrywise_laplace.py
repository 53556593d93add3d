"""Test entrywise Laplace noise: its largest entry, and its law.

Statistical tests have fixed seeds: with a random seed, each comparison with a correct law would raise a false alarm
with probability at most 1e-9 (Kolmogorov's exact p-value, Fisher's exact test).
"""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from covassay.reference.mechanisms.parameters import CALIBRATIONS
from covassay.reference.mechanisms.pure.entrywise_laplace import MECHANISM, largest_entry, sample
from covassay.verification.statistics.tests import independence, kolmogorov_smirnov
from tests.conventions import FALSE_ALARM

ENTRIES = MECHANISM.choices["entries"]


@pytest.mark.parametrize("count", [1, 3, 10, 100])
@pytest.mark.parametrize("beta", [0.5, 0.1, 1e-6])
def test_no_entry_exceeds_the_bound_with_the_stated_probability(count: int, beta: float) -> None:
    # P(all |M_i| ≤ t) = (1 − e^{−t})^k, exactly
    def failure(t: float) -> float:
        return -math.expm1(count * math.log1p(-math.exp(-t)))

    t = largest_entry(count, 1.0, beta)
    assert 0.3 * beta < failure(t) <= beta * (1 + 1e-12)
    if count > 1:  # mutants: the union over the entries forgotten, half of the tail
        assert failure(math.log(1 / beta)) > beta
        assert failure(t / 2) > beta


# The law of the noise


@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize("entries", ENTRIES)
def test_the_noise_has_independent_laplace_entries(entries: Any, calibration: Any) -> None:
    d, size = 3, 2000
    rng = np.random.default_rng(21)
    drawn = np.array([sample(np.eye(3), rng, epsilon=2, entries=entries, calibration=calibration) for _ in range(size)])
    # n ε = 6, paper: b = 6/6 = 1; tight: √18/6 and √33/12
    b = {"paper": 1.0, "tight": {"full": 0.7071067811865476, "triangle": 0.4787135538781691}[entries]}[calibration]
    residuals = (drawn - np.eye(3) / 3) / b
    i, j = np.indices((d, d)).reshape(2, -1) if entries == "full" else np.triu_indices(d)
    own = residuals[:, i, j]
    for k in range(len(i)):
        assert kolmogorov_smirnov(own[:, k], stats.laplace.cdf, "an entry").p_value > FALSE_ALARM
        assert kolmogorov_smirnov(own[:, k], stats.laplace(0, 0.5).cdf, "mutant").p_value < FALSE_ALARM
    assert independence(own[:, 0], own[:, 1], "two entries").p_value > FALSE_ALARM
    assert independence(np.abs(own[:, 1]), np.abs(own[:, -1]), "two absolute values").p_value > FALSE_ALARM
    total = np.abs(own).sum(axis=1)
    assert kolmogorov_smirnov(total, stats.gamma(len(i)).cdf, "ℓ1 norm").p_value > FALSE_ALARM
    wrong = 6 if entries == "full" else 9  # the other number of entries
    assert kolmogorov_smirnov(total, stats.gamma(wrong).cdf, "mutant").p_value < FALSE_ALARM
    if entries == "triangle":
        np.testing.assert_array_equal(drawn, np.swapaxes(drawn, 1, 2))
