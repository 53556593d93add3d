"""Test the accuracy of the private radius by the exact law of its output."""

import math
from typing import Any

import numpy as np
import pytest

from covassay.reference.mechanisms.building_blocks import above_threshold
from covassay.reference.mechanisms.building_blocks.private_radius import public_radii, search_threshold
from covassay.verification.exact.above_threshold import probabilities
from tests.conventions import Matrix


def counts(norms: Matrix, levels: Matrix) -> Matrix:
    return np.array([float((norms <= r).sum()) for r in levels])


@pytest.mark.parametrize("precision", [1.0, 0.999, 0.1, 1e-5, 1e-300, 2.0**-30, math.nextafter(0.25, 0)])
def test_the_largest_radius_is_one_and_neighbours_double(precision: float) -> None:
    levels = public_radii(precision)
    assert levels[0] == precision
    assert levels[-1] == 1
    assert (levels[:-1] < 1).all()
    assert (np.diff(levels) <= levels[:-1] * (1 + 1e-15)).all()


# The promises about the result


def failure(norms: Matrix, levels: Matrix, alpha: float, threshold: float, b1: float, b2: float) -> float:
    """Return P(the released radius > max(b, 2 max norm), or more than 2α rows are longer than it)."""
    p = probabilities(counts(norms, levels), threshold, b1, b2)
    released = np.append(levels, 1.0)
    too_long = released > max(levels[0], 2 * norms.max()) * (1 + 1e-12)
    too_short = np.array([(norms > r).sum() for r in released]) > 2 * alpha
    return float(p[too_long | too_short].sum())


@pytest.mark.parametrize("calibration", ["paper", "tight"])
@pytest.mark.parametrize("beta", [0.5, 0.05])
@pytest.mark.parametrize("power", [0, 1, 4, 12])
def test_the_promise_holds_by_the_exact_law(calibration: Any, beta: float, power: int) -> None:
    levels, n = public_radii(2.0**-10), 400
    b1, b2 = above_threshold.threshold_scale(1.0), above_threshold.query_scale(1.0, calibration)
    alpha = above_threshold.accuracy(len(levels), beta, 1.0, calibration)
    for radius in (1.0, 0.3, 1e-4):
        norms = radius * np.linspace(0, 1, n) ** power
        assert failure(norms, levels, alpha, search_threshold(n, alpha), b1, b2) <= beta
