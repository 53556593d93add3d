"""Test the Gaussian mechanism under zCDP: it adds noise to a value of any shape."""

import numpy as np

from covassay.reference.mechanisms.building_blocks.gaussian import perturb


def test_any_value_can_be_perturbed() -> None:
    """This test catches a noise scale other than sensitivity/√(2ρ)."""
    got = perturb(np.array([[1.0, 2.0]]), np.array([[0.5, -1.0]]), sensitivity=3, rho=4.5)
    np.testing.assert_array_equal(got, [[1.5, 1.0]])
