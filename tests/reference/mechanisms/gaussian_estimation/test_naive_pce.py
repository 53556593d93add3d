"""Test NaivePCE: which rows are used, and the projection on positive semidefinite matrices."""

import math

import numpy as np

from covassay.reference.laws import wigner
from covassay.reference.mechanisms.gaussian_estimation.naive_pce import (
    draw_noise,
    drop_long,
    noise_variance,
    radius_squared,
    release,
)
from tests.conventions import Matrix

BETA, KAPPA = 0.5, 1.0
# For n = 2, d = 2, κ = 1 and β = 1/2, the squared radius is 2 + 2√(2 ln 4) + 2 ln 4 = 8.1028.
R2 = 2 + 2 * math.sqrt(2 * math.log(4)) + 2 * math.log(4)


def test_the_projection_agrees_with_a_hand_calculation() -> None:
    # Both rows are too long and count as zero, so that the noisy matrix is the noise [[0, 1], [1, 0]].
    # The positive part of this matrix is the projection on (1, 1)/√2.
    x = np.full((2, 2), 100.0)
    got = release(x, np.array([[0.0, 1.0], [1.0, 0.0]]), rho=R2**2 / 2, kappa=KAPPA, beta=BETA)
    np.testing.assert_allclose(got, [[0.5, 0.5], [0.5, 0.5]], atol=1e-14)


def test_a_row_on_the_sphere_is_kept_and_one_outside_counts_as_zero() -> None:
    block = np.array([[3.0, 4.0], [3.0, 4.001], [0.0, 0.0], [1e300, 1e300]])
    np.testing.assert_array_equal(drop_long(block, 5.0), [[3, 4], [0, 0], [0, 0], [0, 0]])


def the_query(x: Matrix, r: float) -> Matrix:
    kept = drop_long(x, r)
    return kept.T @ kept / len(x)


def test_the_projection_hides_nothing_in_the_limit() -> None:
    # Far inside the cone of positive semidefinite matrices, the projection does not change the noisy matrix.
    x = np.tile(np.eye(2), (2500, 1))
    z = draw_noise(2, np.random.default_rng(0))
    r2 = radius_squared(5000, 2, 2.0, 0.1)
    x[0, 0] = math.sqrt(r2) * (1 - 1e-12)
    noise = math.sqrt(noise_variance(5000, 0.3, r2, "tight")) * z
    got = release(x, z, rho=0.3, calibration="tight", kappa=2.0)
    np.testing.assert_allclose(got, the_query(x, math.sqrt(r2)) + noise, atol=1e-12)


def test_the_noise_is_the_symmetric_gaussian_matrix() -> None:
    """Test that the noise is the symmetric Gaussian matrix of `wigner.sample_wigner`."""
    np.testing.assert_array_equal(
        draw_noise(3, np.random.default_rng(4)), wigner.sample_wigner(3, np.random.default_rng(4))
    )
