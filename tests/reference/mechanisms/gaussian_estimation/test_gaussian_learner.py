"""Test the Gaussian learner of KLSU19, Theorem 1.1: its parts, and the errors of the mean and the covariance."""

from typing import Any

import numpy as np

from covassay.reference.laws import haar
from covassay.reference.mechanisms.gaussian_estimation import pgce, pme
from covassay.reference.mechanisms.gaussian_estimation.gaussian_learner import draw_noise, half, release, sample


def test_the_mean_lies_on_top_of_the_covariance() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((21, 2)) * np.array([1.0, 40.0]) + 3
    noise = draw_noise(2, rng, kappa=1e4, mean_bound=10.0)
    got = release(x, noise, rho=0.6, calibration="tight", beta=0.2)
    assert got.shape == (3, 2)
    y = (x[1:20:2] - x[0:20:2]) / np.sqrt(2)
    half_of: Any = {"rho": 0.3, "calibration": "tight", "beta": 0.1}
    np.testing.assert_allclose(got[1:], pgce.release(y, noise.covariance, **half_of), rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(got[0], pme.release(x, noise.mean, **half_of), rtol=1e-9)
    np.testing.assert_array_equal(got[1:], got[1:].T)
    assert half(0.6) == 0.3


def test_the_mean_does_not_move_the_covariance() -> None:
    x = np.random.default_rng(1).standard_normal((30, 2)) * 50
    noise = draw_noise(2, np.random.default_rng(2), kappa=1e4, mean_bound=10.0)
    here, there = release(x, noise, rho=1.0), release(x + 4096.0, noise, rho=1.0)
    np.testing.assert_allclose(there[1:], here[1:], rtol=1e-8, atol=1e-6)
    # mutant: PGCE on x in place of differences of rows
    wrong = pgce.release(x + 4096.0, noise.covariance, rho=0.5, beta=0.05)
    assert np.abs(wrong - here[1:]).max() > 1


def test_mean_and_covariance_are_learned() -> None:
    """Test that the estimated mean and covariance are close to the true values for variances from 1 to 10⁶."""
    # the errors of the covariance and the mean were 0.019 and 0.0092
    rng = np.random.default_rng(5)
    q, levels, mu = haar.sample(2, rng), np.array([1.0, 1e6]), np.array([-600.0, 800.0])
    x = rng.standard_normal((80_000, 2)) @ ((q * np.sqrt(levels)) @ q.T) + mu
    whiten = (q / np.sqrt(levels)) @ q.T
    got = sample(x, rng, rho=2.0, calibration="tight", kappa=1e6, mean_bound=1000.0)
    assert np.linalg.norm(whiten @ got[1:] @ whiten - np.eye(2)) < 0.15
    assert np.linalg.norm(whiten @ (got[0] - mu)) < 0.05
