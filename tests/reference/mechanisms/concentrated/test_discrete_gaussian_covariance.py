"""Test the discrete Gaussian covariance: its release of integers."""

import numpy as np

from covassay.reference.mechanisms.concentrated.discrete_gaussian_covariance import sample

X = np.array([[1.0, 0.0], [0.0, 0.5]])  # with two bits, the rows are (4, 0) and (0, 2), and the sums are 16, 0 and 4


def test_a_release_is_a_multiple_of_the_unit() -> None:
    got = sample(X, np.random.default_rng(1), rho=0.5, input_bits=3) * 2 * 4**3
    np.testing.assert_array_equal(got, np.rint(got))
