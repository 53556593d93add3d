"""Test noise on the centred covariance: what is centred, and the law of the noise.

Statistical tests have fixed seeds: with a random seed, each test of a correct law would raise a false alarm with
probability at most 1e-9.
"""

import inspect
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import unit_rows
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.pure import centred_covariance, nuclear_laplace_symmetric
from covassay.reference.mechanisms.pure.centred_covariance import draw_noise, noise_scale, release
from covassay.reference.mechanisms.pure.nuclear_laplace import noise_scale as uncentred_scale
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, Matrix


def covariance(x: Matrix) -> Matrix:
    return np.asarray(np.cov(x.T, bias=True)).reshape(x.shape[1], x.shape[1])


@pytest.mark.parametrize("x", [[[0.5]], [[0.1, -0.7, 0.3]]])
def test_the_covariance_of_one_record_is_zero_whatever_it_is(x: Any) -> None:
    d = len(x[0])
    np.testing.assert_array_equal(release(x, np.ones((d, d)), epsilon=1), np.zeros((d, d)))


def test_the_mean_is_taken_off_and_a_shift_changes_nothing() -> None:
    x = 0.3 * unit_rows(np.random.default_rng(0).standard_normal((50, 3)))
    none, shift = np.zeros((3, 3)), np.array([0.2, -0.3, 0.1])
    np.testing.assert_allclose(release(x, none, epsilon=1), covariance(x), atol=1e-16)
    np.testing.assert_allclose(release(x + shift, none, epsilon=1), covariance(x), atol=1e-15)
    uncentred = nuclear_laplace_symmetric.release(x + shift, none, epsilon=1)
    assert np.abs(uncentred - covariance(x)).max() > 0.05  # the second moment would fail this test


def test_no_function_takes_a_second_moment() -> None:
    assert list(inspect.signature(release).parameters)[:2] == ["x", "noise"]
    public = [name for name, f in inspect.getmembers(centred_covariance, inspect.isfunction)
              if f.__module__ == centred_covariance.__name__]  # fmt: skip
    assert set(public) == {"noise_scale", "centred", "release", "draw_noise", "sample", "spend"}
    # a second moment given as data is taken for rows, and centred
    moment = np.diag([0.5, 0.25])
    np.testing.assert_allclose(release(moment, np.zeros((2, 2)), epsilon=1), covariance(moment), atol=1e-16)


# The draws


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_noise_has_its_exact_nuclear_norm(d: int) -> None:
    # 2000 draws; ‖Y − S‖_*/ρ ~ Gamma(d(d + 1)/2)
    x = unit_rows(np.random.default_rng(2).standard_normal((8, d)))
    noise = draw_noise(d, np.random.default_rng(3), 2000)
    residuals = np.array([release(x, z, epsilon=0.5) for z in noise]) - covariance(x)
    for scale, right in ((noise_scale(8, d, 0.5), True), (uncentred_scale(8, 0.5), False)):
        norms = law.nuclear_norm(residuals / scale)
        test = kolmogorov_smirnov(norms, lambda t: law.nuclear_norm_cdf(d, t, symmetric=True), "Gamma")
        assert (test.p_value > FALSE_ALARM) is right
