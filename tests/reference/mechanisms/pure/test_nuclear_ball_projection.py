"""Test the nuclear-ball projection: the norm of the release, and the exact law for one feature.

Statistical tests have fixed seeds: with a random seed, each comparison with a correct law would raise a false alarm
with probability at most 1e-9 (Kolmogorov's p-value, conservative at the atom).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.domain import unit_rows
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.pure.nuclear_ball_projection import NuclearBallProjectionNoise, release
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix

PROPERTY = settings(max_examples=60)
EYE = np.eye(2)  # as data: n = 2, Σ = I/2, 2 tr Σ = 2


@pytest.mark.parametrize("trace", [-0.2, -0.21, -50.0])
def test_a_noisy_radius_of_zero_or_less_gives_the_zero_matrix(trace: float) -> None:
    # 2 + 10 · (−.2) = 0
    np.testing.assert_array_equal(
        release(EYE, NuclearBallProjectionNoise(np.ones((2, 2)), trace), epsilon=0.5), np.zeros((2, 2))
    )


def test_without_noise_the_second_moment_is_inside_its_ball() -> None:
    none = NuclearBallProjectionNoise(np.zeros((2, 2)), 0.0)
    np.testing.assert_array_equal(release(np.zeros((3, 2)), none, epsilon=1), np.zeros((2, 2)))
    x = np.array([[0.6, 0.8], [1.0, 0.0]])
    np.testing.assert_allclose(release(x, none, epsilon=1), [[0.68, 0.24], [0.24, 0.32]], rtol=1e-13)


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 4), trace=st.floats(-1, 1))
def test_the_release_has_the_noisy_nuclear_norm_at_most(seed: int, d: int, trace: float) -> None:
    rng = np.random.default_rng(seed)
    x = unit_rows(rng.standard_normal((5, d)))
    got = release(x, NuclearBallProjectionNoise(rng.standard_normal((d, d)), trace), epsilon=1)
    radius = max(0.0, 2 * float((x**2).sum()) / 5 + 2 * trace)
    assert np.linalg.svd(got, compute_uv=False).sum() <= radius * (1 + 1e-12) + 1e-12


# The draws


def one_feature_cdf(sigma: float, rho: float, b: float) -> Callable[[Matrix], Matrix]:
    """Y = clip(Σ̂, −r, r): Y ≤ y < 0 iff Σ̂ ≤ y and r ≥ −y; Y > y ≥ 0 iff Σ̂ > y and r > y."""

    def cdf(y: Matrix) -> Matrix:
        y = np.asarray(y)
        below = stats.laplace.cdf(y, sigma, rho) * stats.laplace.sf(-y, 2 * sigma, b)
        above = stats.laplace.sf(y, sigma, rho) * stats.laplace.sf(y, 2 * sigma, b)
        return np.where(y < 0, below, 1 - above)

    return cdf


@pytest.mark.thorough
@pytest.mark.parametrize(("calibration", "rho", "b"), [("paper", 2.0, 5.0), ("tight", 1.0, 2.0)])
def test_for_one_feature_the_release_has_its_exact_law(calibration: Any, rho: float, b: float) -> None:
    # n = 4, ε = .5: ρ = 4/(nε) = 2, b = 10/(nε) = 5; tight 1 and 2. Σ = 1/4. An atom at 0, where r = 0.
    rng = np.random.default_rng(12)
    noise = [
        NuclearBallProjectionNoise(z, float(trace))
        for z, trace in zip(law.sample(1, rng, 4000), rng.laplace(size=4000), strict=True)
    ]
    x = np.full((4, 1), 0.5)
    draws = [float(release(x, z, epsilon=0.5, calibration=calibration)[0, 0]) for z in noise]
    exact = kolmogorov_smirnov(np.array(draws), one_feature_cdf(0.25, rho, b), "exact")
    assert exact.p_value > FALSE_ALARM
    for wrong in (one_feature_cdf(0.25, rho / 2, b), one_feature_cdf(0.25, rho, b / 10)):
        assert kolmogorov_smirnov(np.array(draws), wrong, "mutant").p_value < FALSE_ALARM
