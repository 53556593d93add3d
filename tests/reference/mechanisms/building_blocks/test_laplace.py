"""Test the Laplace mechanism: it adds noise to a value of any shape."""

import numpy as np

from covassay.reference.mechanisms.building_blocks import laplace


def test_any_value_can_be_perturbed() -> None:
    """This test catches a noise scale other than sensitivity/ε."""
    value, noise = np.array([[1.0, 2.0]]), np.array([[0.5, -1.0]])
    np.testing.assert_array_equal(laplace.perturb(value, noise, sensitivity=3, epsilon=1.5), [[2.0, 0.0]])
