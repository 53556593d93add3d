"""Test ClippedCov: its bins, and the exact law of the search for a threshold."""

import math

import numpy as np
import pytest
from scipy import stats

from covassay.reference.domain import Chunks, unit_rows
from covassay.reference.mechanisms.building_blocks import above_threshold
from covassay.reference.mechanisms.concentrated import separate_cov
from covassay.reference.mechanisms.concentrated.clipped_cov import (
    ClippedCovNoise,
    bin_counts,
    first_level,
    last_level,
    noise_bound,
    release,
)
from covassay.verification.exact.above_threshold import probabilities
from tests.conventions import Vector


def test_zero_rows_reach_the_last_threshold() -> None:
    """This test catches a search that stops too early, or whose level does not scale the noise."""
    # There is no bias at any level, so k* = K + 1 and τ = 2^{−K}, and the noise shrinks with τ².
    noise = ClippedCovNoise(
        above_threshold.AboveThresholdNoise(0.0, np.zeros(7)), separate_cov.SeparateCovNoise(np.eye(2), np.ones(2))
    )
    got = release(np.zeros((3, 2)), noise, rho=1.0, base="gauss", threshold="private")
    np.testing.assert_allclose(got, 4.0**-6 * np.eye(2) / (3 * math.sqrt(0.75)), rtol=1e-13)
    assert (last_level(3, 2), last_level(1000, 10)) == (6, 79)


def test_a_logarithm_of_the_norm_fails_on_zero_rows() -> None:
    # The authors' code finds the bin of a row as −⌊log₂ ‖x‖⌋.
    with pytest.raises(OverflowError), np.errstate(divide="ignore"):
        int(np.floor(np.log2(np.linalg.norm(np.zeros((1, 2)), axis=1)))[0])


def test_bins_are_sums_over_chunks() -> None:
    """This test catches bin counts of the last chunk only."""
    x = unit_rows(np.random.default_rng(0).standard_normal((50, 2)) * 2.0 ** -np.arange(50)[:, None])
    chunks = Chunks(x.shape, lambda: (x[i : i + 7] for i in range(0, 50, 7)))
    np.testing.assert_array_equal(bin_counts(x, 20), bin_counts(chunks, 20))


# The search, exactly


def law_of_the_search(queries: list[float], epsilon: float) -> Vector:
    """Return the exact probabilities P(k* = 0), …, P(k* = m)."""
    b1, b2 = above_threshold.threshold_scale(epsilon), above_threshold.query_scale(epsilon, "paper")
    return probabilities(np.array(queries), 0.0, b1, b2)


def test_the_search_stops_with_its_exact_probabilities() -> None:
    # Of 100 rows, 40 are in the first bin, and ν = 1/4. By hand, Q_k = 100 (B_k − 4^{−k}/4) is −25, 23.75, 35.9375.
    counts, epsilon, draws = np.array([40.0, 0.0]), 0.1, 3000
    bounds = [noise_bound(k, 0.25) for k in range(3)]
    law = law_of_the_search([-25.0, 40 * 0.75 - 6.25, 40 * 0.9375 - 1.5625], epsilon)
    rng = np.random.default_rng(6)
    levels = [first_level(counts, bounds, 100, above_threshold.draw_noise(3, rng), epsilon) for _ in range(draws)]
    observed = np.bincount(levels, minlength=4)
    for k in range(4):
        tail = stats.binom(draws, law[k])
        assert min(tail.cdf(observed[k]), tail.sf(observed[k] - 1)) > 1e-9
    reversed_law = law[::-1]
    assert any(stats.binom(draws, p).cdf(o) < 1e-9 for p, o in zip(reversed_law, observed, strict=True))
