"""Test that the centred covariance subtracts the mean from the rows."""

import inspect
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import unit_rows
from covassay.reference.mechanisms.pure import centred_covariance, nuclear_laplace_symmetric
from covassay.reference.mechanisms.pure.centred_covariance import release
from tests.conventions import Matrix


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
    assert np.abs(uncentred - covariance(x)).max() > 0.05  # a shift of the rows changes the second moment


def test_no_function_takes_a_second_moment() -> None:
    """Test that `release` takes the rows, and that no public function takes a second moment in their place. The proof
    does not cover a release from a second moment.
    """
    assert list(inspect.signature(release).parameters)[:2] == ["x", "noise"]
    public = [name for name, f in inspect.getmembers(centred_covariance, inspect.isfunction)
              if f.__module__ == centred_covariance.__name__]  # fmt: skip
    assert set(public) == {"noise_scale", "centred", "release", "draw_noise", "sample", "spend"}
    # a matrix that is given as data is read as rows, whose mean is subtracted
    moment = np.diag([0.5, 0.25])
    np.testing.assert_allclose(release(moment, np.zeros((2, 2)), epsilon=1), covariance(moment), atol=1e-16)
