"""Test ClippedCov: its bin counts, and its search for a threshold on rows of zeros."""

import math

import numpy as np

from covassay.reference.domain import Chunks, unit_rows
from covassay.reference.mechanisms.building_blocks import above_threshold
from covassay.reference.mechanisms.concentrated import separate_cov
from covassay.reference.mechanisms.concentrated.clipped_cov import ClippedCovNoise, bin_counts, last_level, release


def test_zero_rows_reach_the_last_threshold() -> None:
    """Test that on rows of zeros the search ends at the last threshold, and that the noise has the scale for it."""
    # Clipping does not change rows of zeros at any threshold τ, so that the search ends at the smallest τ. The noise is
    # proportional to τ².
    noise = ClippedCovNoise(
        above_threshold.AboveThresholdNoise(0.0, np.zeros(7)), separate_cov.SeparateCovNoise(np.eye(2), np.ones(2))
    )
    got = release(np.zeros((3, 2)), noise, rho=1.0, base="gauss", threshold="private")
    np.testing.assert_allclose(got, 4.0**-6 * np.eye(2) / (3 * math.sqrt(0.75)), rtol=1e-13)
    assert (last_level(3, 2), last_level(1000, 10)) == (6, 79)


def test_bins_are_sums_over_chunks() -> None:
    """Test that the bin counts are sums over all chunks."""
    x = unit_rows(np.random.default_rng(0).standard_normal((50, 2)) * 2.0 ** -np.arange(50)[:, None])
    chunks = Chunks(x.shape, lambda: (x[i : i + 7] for i in range(0, 50, 7)))
    np.testing.assert_array_equal(bin_counts(x, 20), bin_counts(chunks, 20))
