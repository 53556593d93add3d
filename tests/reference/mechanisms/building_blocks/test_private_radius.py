"""Test the public list from which the mechanism `private-radius` chooses its radius."""

import math

import numpy as np
import pytest

from covassay.reference.mechanisms.building_blocks.private_radius import public_radii


@pytest.mark.parametrize("precision", [1.0, 0.999, 0.1, 1e-5, 1e-300, 2.0**-30, math.nextafter(0.25, 0)])
def test_the_largest_radius_is_one_and_neighbours_double(precision: float) -> None:
    levels = public_radii(precision)
    assert levels[0] == precision
    assert levels[-1] == 1
    assert (levels[:-1] < 1).all()
    assert (np.diff(levels) <= levels[:-1] * (1 + 1e-15)).all()
