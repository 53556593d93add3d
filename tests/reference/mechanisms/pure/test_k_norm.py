"""Test the K-norm mechanism: its sensitivities, and the law of its noise."""

import numpy as np
import pytest

from covassay.reference.mechanisms.pure import nuclear_laplace_symmetric
from covassay.reference.mechanisms.pure.k_norm import sample, sensitivity
from covassay.reference.sensitivity import SENSITIVITIES


@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_they_are_those_of_the_table_of_sensitivities(d: int) -> None:
    for body, quantity in (("schatten1", "nuclear norm"), ("l1", "upper triangle, l1"), ("l2", "Frobenius norm")):
        assert sensitivity(body, 1, d) == pytest.approx(SENSITIVITIES[quantity].supremum(d), rel=1e-15)


def test_schatten1_is_symmetric_nuclear_laplace() -> None:
    """Test that the K-norm mechanism for the Schatten-1 body equals the symmetric nuclear-Laplace mechanism."""
    x = np.array([[0.6, 0.8], [0.0, 0.5]])
    one = sample(x, np.random.default_rng(3), epsilon=0.5)
    other = nuclear_laplace_symmetric.sample(x, np.random.default_rng(3), epsilon=0.5)
    np.testing.assert_array_equal(one, other)
