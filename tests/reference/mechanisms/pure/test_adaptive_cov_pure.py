"""Test AdaptiveCov under pure DP: the bounds by which it chooses a mechanism, and the range of the release."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covassay.reference import tails
from covassay.reference.mechanisms.parameters import CALIBRATIONS
from covassay.reference.mechanisms.pure import adaptive_cov_pure, separate_cov_pure
from tests.conventions import SEEDS

RADII = adaptive_cov_pure.MECHANISM.choices["radius"]
PROPERTY = settings(max_examples=60)


def test_the_bounds_of_the_noise_are_those_of_the_two_mechanisms() -> None:
    n, d, epsilon, beta = 100, 3, 0.7, 0.1
    assert adaptive_cov_pure.lap_bound(n, d, epsilon, beta, "paper") == pytest.approx(
        math.sqrt(2) * d * tails.omega_laplace(d, beta) / (epsilon * n), rel=1e-14
    )
    for calibration in CALIBRATIONS:
        a, e = adaptive_cov_pure.separate_bounds(n, d, epsilon, 0.3, beta, calibration)
        whole = separate_cov_pure.likely_error(n, d, epsilon, 0.3, beta, calibration)
        assert a + e == pytest.approx(whole, rel=1e-14)
    assert all(math.isfinite(v) for v in adaptive_cov_pure.separate_bounds(5, 1, 1.0, 0.5, 0.1, "paper"))


@pytest.mark.thorough
@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 4), n=st.integers(1, 8), radius=st.sampled_from(RADII))
def test_the_release_is_positive_semidefinite_and_small(seed: int, d: int, n: int, radius: Any) -> None:
    """Test that all eigenvalues of the release are between 0 and 1."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d)) * rng.choice([0.0, 1e-3, 1.0], size=(n, 1))
    for calibration in CALIBRATIONS:
        got = adaptive_cov_pure.sample(x, rng, epsilon=0.5, radius=radius, calibration=calibration)  # type: ignore[arg-type]
        assert np.linalg.eigvalsh(got).min() >= -1e-12
        assert np.linalg.eigvalsh(got).max() <= 1 + 1e-12
