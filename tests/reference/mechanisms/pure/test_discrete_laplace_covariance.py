"""Test the discrete Laplace covariance: its noise, and its release of integers."""

from fractions import Fraction

import numpy as np
import pytest

from covassay.reference.domain import IntegerMatrix
from covassay.reference.domain.exact_data import exact_data
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.pure.discrete_laplace_covariance import draw_noise, noisy_products, release
from tests.conventions import Matrix

X = np.array([[1.0, 0.0], [0.0, 0.5]])  # with two bits, the rows are (4, 0) and (0, 2), and the sums are 16, 0 and 4


def integers(*rows: tuple[int, ...]) -> IntegerMatrix:
    return np.array(rows, dtype=object)


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        (np.zeros((2, 2)), "not Python integers"),
        (integers((1, 2, 3), (2, 1, 1), (3, 1, 1)), "shape"),
        (integers((1, 2), (3, 4)), "not symmetric"),
        (np.array([[True, False], [False, True]], dtype=object), "not Python integers"),
        (np.array([[1, 0.5], [0.5, 1]], dtype=object), "not Python integers"),
    ],
)
def test_noise_that_is_not_whole_is_refused(noise: IntegerMatrix, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        release(X, lambda scale: noise, epsilon=1.0)


def test_the_noise_is_one_matrix_for_a_scale_and_follows_the_generator() -> None:
    noise = draw_noise(3, np.random.default_rng(5))
    again = draw_noise(3, np.random.default_rng(5))
    assert np.array_equal(noise(Fraction(7, 2)), again(Fraction(7, 2)))
    assert not np.array_equal(noise(Fraction(10**9)), draw_noise(3, np.random.default_rng(6))(Fraction(10**9)))


def test_the_integers_and_the_output_are_the_same_release() -> None:
    x: Matrix = np.random.default_rng(1).normal(size=(1000, 4))
    noise = draw_noise(4, np.random.default_rng(2))
    data = exact_data(x)
    counts = noisy_products(data, noise, "0.3")
    assert all(isinstance(k, int) for k in counts.ravel())
    got = release(x, noise, epsilon=0.3)
    assert [float(k * data.unit) for k in counts.ravel()] == got.ravel().tolist()
