"""Test random symmetric matrices: the isometry to vectors, and the densities.

The checks `claims.checks.own.samplers` and tests/reference/mechanisms/test_laws_of_draws.py test the law of the draws.
"""

import math
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from covassay.reference.errors import InvalidInput
from covassay.reference.laws import wigner
from tests.conventions import Matrix

DRAWS = 20_000
D = 3
SAMPLERS = {"wigner": wigner.sample_wigner, "goe": wigner.sample_goe, "laplace": wigner.sample_laplace}


@lru_cache
def drawn(name: str) -> Matrix:
    return SAMPLERS[name](D, np.random.default_rng(len(name)), DRAWS)


symmetric_matrices = st.integers(1, 5).flatmap(
    lambda d: arrays(np.float64, (d, d), elements=st.floats(-1e6, 1e6)).map(lambda m: np.triu(m) + np.triu(m, 1).T)
)


# The isometry


def test_the_coordinates_agree_with_a_hand_calculation() -> None:
    m = np.array([[1.0, 2.0], [2.0, 3.0]])
    np.testing.assert_allclose(wigner.svec(m), [1, 2 * math.sqrt(2), 3], rtol=1e-15)
    np.testing.assert_array_equal(wigner.symmetric(np.array([1.0, 2, 3, 4, 5, 6])), [[1, 2, 3], [2, 4, 5], [3, 5, 6]])
    np.testing.assert_array_equal(wigner.unsvec(np.array([7.0])), [[7.0]])


@given(m=symmetric_matrices)
def test_the_coordinates_are_isometric_and_invertible(m: Matrix) -> None:
    """Test that svec preserves the norm, and that unsvec inverts it."""
    assert np.linalg.norm(wigner.svec(m)) == pytest.approx(np.linalg.norm(m), rel=1e-12, abs=1e-150)
    np.testing.assert_allclose(wigner.unsvec(wigner.svec(m)), m, rtol=1e-15, atol=1e-300)


def test_stacks_are_converted_matrix_by_matrix() -> None:
    """Test that each matrix of a stack is converted as a single matrix is."""
    stack = drawn("wigner")[:6].reshape(2, 3, D, D)
    coordinates = wigner.svec(stack)
    assert coordinates.shape == (2, 3, 6)
    np.testing.assert_array_equal(coordinates[1, 2], wigner.svec(stack[1, 2]))
    np.testing.assert_allclose(wigner.unsvec(coordinates), stack, rtol=1e-15)


@pytest.mark.parametrize("length", [0, 2, 4, 5, 7])
def test_a_length_that_no_symmetric_matrix_has_is_refused(length: int) -> None:
    with pytest.raises(InvalidInput, match="coordinates"):
        wigner.unsvec(np.zeros(length))


# Draws


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_draws_are_symmetric_and_follow_the_seed(name: str, d: int) -> None:
    """Test that draws are symmetric, and that a single draw equals the first matrix of a stack with the same seed."""
    single, stack = SAMPLERS[name](d, np.random.default_rng(0)), SAMPLERS[name](d, np.random.default_rng(0), 4)
    assert single.shape == (d, d)
    assert stack.shape == (4, d, d)
    np.testing.assert_array_equal(stack, np.swapaxes(stack, 1, 2))
    np.testing.assert_array_equal(single, stack[0])  # the matrices of a stack are drawn one after another


@pytest.mark.parametrize("name", wigner.ENSEMBLES)
def test_an_ensemble_is_drawn_by_its_name(name: str) -> None:
    drawn_by_name = wigner.sample(name, 4, np.random.default_rng(5), 2)
    np.testing.assert_array_equal(drawn_by_name, SAMPLERS[name](4, np.random.default_rng(5), 2))


# Densities


@pytest.mark.parametrize("name", wigner.ENSEMBLES)
def test_the_density_is_the_product_over_the_entries(name: str) -> None:
    s = wigner.deviations(D, name)
    expected = [
        sum(stats.norm.logpdf(z[i, j], scale=s[i, j]) for i in range(D) for j in range(i, D)) for z in drawn(name)[:5]
    ]
    np.testing.assert_allclose(wigner.log_density(drawn(name)[:5], name), expected, rtol=1e-12)


def test_the_separations_agree_with_a_hand_calculation() -> None:
    # diag(1, −1) changes two diagonal entries by 1.
    # An entry 1 off the diagonal changes one number, whose noise has variance 1 or 1/2.
    diagonal, off = np.diag([1.0, -1.0]), np.array([[0.0, 1.0], [1.0, 0.0]])
    for change, expected in [(diagonal, (2, 2)), (off, (1, 2)), (np.ones((2, 2)), (3, 4))]:
        for name, value in zip(wigner.ENSEMBLES, expected, strict=True):
            assert wigner.separation_squared(change, name) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("name", ["Wigner", "gaussian", "", "laplace"])
def test_an_unknown_ensemble_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="ensemble"):
        wigner.sample(name, 2, np.random.default_rng(0))
    with pytest.raises(InvalidInput, match="ensemble"):
        wigner.deviations(2, name)
