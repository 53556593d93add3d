"""NaivePME: KVMean with σ = √κ on every coordinate."""

import math

import numpy as np
import pytest
import sympy

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.gaussian_estimation import kv_mean
from covassay.reference.mechanisms.gaussian_estimation.naive_pme import deviation_bound, draw_noise, release, sample


def test_the_deviation_bound_is_the_root_of_kappa() -> None:
    assert deviation_bound(9.0) == 3
    kappa = sympy.symbols("kappa", positive=True)
    assert sympy.nsimplify(deviation_bound(kappa) ** 2) == kappa


def test_it_is_kv_mean_with_the_root_of_kappa() -> None:
    x = np.random.default_rng(0).standard_normal((40, 2)) * 3
    noise = draw_noise(2, np.random.default_rng(1), mean_bound=7.0, kappa=9.0)
    expected = kv_mean.release(x, noise, rho=0.4, sigma=3.0, mean_bound=7.0, beta=0.2)
    np.testing.assert_array_equal(release(x, noise, rho=0.4, kappa=9.0, mean_bound=7.0, beta=0.2), expected)
    drawn = sample(x, np.random.default_rng(1), rho=0.4, kappa=9.0, mean_bound=7.0, beta=0.2)
    np.testing.assert_array_equal(drawn, expected)
    # the mutant σ = κ has other bins, and noise three times as large
    with pytest.raises(InvalidInput, match=r"noise\.counts"):
        kv_mean.release(x, noise, rho=0.4, sigma=9.0, mean_bound=7.0, beta=0.2)


def test_the_error_is_within_its_bound_in_the_norm_of_the_covariance() -> None:
    # β = 1e-10, so d coordinates fail with at most that; ‖·‖_Σ ≤ ‖·‖₂ ≤ √d max
    d, kappa, n, rho = 3, 16.0, 20_000, 1.0
    rng = np.random.default_rng(2)
    deviations = np.array([1.0, 2.0, 4.0])
    mu = np.array([5.0, -5.0, 0.0])
    x = rng.standard_normal((n, d)) * deviations + mu
    assert n >= kv_mean.enough_rows(2 * kv_mean.last_bin(10.0, 4.0) + 1, rho / d, 1e-10 / d)
    error = (sample(x, rng, rho=rho, kappa=kappa, beta=1e-10) - mu) / deviations
    assert np.linalg.norm(error) <= math.sqrt(d) * kv_mean.error_bound(n, 4.0, rho / d, 1e-10 / d)
