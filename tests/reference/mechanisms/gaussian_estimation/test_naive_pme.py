"""NaivePME: Test NaivePME, which is KVMean with σ = √κ on every coordinate."""

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
    # the mutant σ = κ has other bins, and noise that is three times as large
    with pytest.raises(InvalidInput, match=r"noise\.counts"):
        kv_mean.release(x, noise, rho=0.4, sigma=9.0, mean_bound=7.0, beta=0.2)
