"""Test the discrete Gaussian covariance: the sensitivity and the release in whole numbers."""

import numpy as np
import pytest

from covassay.reference.mechanisms.concentrated.discrete_gaussian_covariance import sample, sensitivity_squared

X = np.array([[1.0, 0.0], [0.0, 0.5]])  # on two bits: rows (4, 0) and (0, 2), sums 16, 0, 4


@pytest.mark.parametrize(("d", "b", "squared"), [(1, 1, 16), (2, 1, 32), (7, 3, 8192), (20, 20, 2 * 16**20)])
def test_the_sensitivity_in_whole_numbers(d: int, b: int, squared: int) -> None:
    """This test catches a sensitivity that is not squared, or that has at larger d the value for one column."""
    assert sensitivity_squared(d, b) == squared


def test_a_release_is_a_multiple_of_the_unit() -> None:
    got = sample(X, np.random.default_rng(1), rho=0.5, input_bits=3) * 2 * 4**3
    np.testing.assert_array_equal(got, np.rint(got))
