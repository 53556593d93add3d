"""Gaussian mechanism under zCDP: any value can be perturbed."""

import numpy as np

from covassay.reference.mechanisms.building_blocks.gaussian import perturb


def test_any_value_can_be_perturbed() -> None:
    got = perturb(np.array([[1.0, 2.0]]), np.array([[0.5, -1.0]]), sensitivity=3, rho=4.5)
    np.testing.assert_array_equal(got, [[1.5, 1.0]])
