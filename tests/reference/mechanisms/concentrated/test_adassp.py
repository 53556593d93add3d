"""Test AdaSSP: extreme values of its noise, and the units of its output."""

import math

import numpy as np
import pytest

from covassay.reference.domain import unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.concentrated.adassp import AdaSSPNoise, draw_noise, release, sample

BETA = 2 * math.exp(-8)  # with this β, √ln(2/β) = √8


def one_feature(eigenvalue: float, matrix: float, vector: float) -> AdaSSPNoise:
    return AdaSSPNoise(eigenvalue, np.array([[matrix]]), np.array([vector]))


def test_without_noise_on_much_data_it_is_least_squares() -> None:
    rng = np.random.default_rng(2)
    x = unit_rows(rng.standard_normal((4000, 5)))
    none = AdaSSPNoise(0.0, np.zeros((4, 4)), np.zeros(4))
    expected = np.linalg.lstsq(x[:, :-1], x[:, -1], rcond=None)[0]
    np.testing.assert_allclose(release(x, none, rho=1), expected, rtol=1e-9)


def test_the_coefficients_have_no_unit() -> None:
    """Test that the coefficients do not depend on the unit of the rows."""
    x, noise = unit_rows(np.random.default_rng(3).standard_normal((9, 3))), draw_noise(3, np.random.default_rng(4))
    np.testing.assert_allclose(release(10 * x, noise, rho=1, row_bound=10), release(x, noise, rho=1), rtol=1e-12)


def test_one_column_has_no_feature() -> None:
    with pytest.raises(InvalidInput, match="x has 1 column"):
        sample([[0.5]], np.random.default_rng(0), rho=1)


def test_a_singular_matrix_has_the_solution_of_least_norm() -> None:
    # The penalty is 4, and the noise −4 cancels it, so that the matrix of the normal equations is singular.
    got = release([[0.0, 0.5]], one_feature(0.0, -math.sqrt(8), 1.0), rho=1.5, beta=BETA)
    assert np.isfinite(got).all()
