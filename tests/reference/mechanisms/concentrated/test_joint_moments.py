"""Test the units of the output of joint moments."""

import math

import numpy as np
import pytest

from covassay.reference.mechanisms.concentrated.joint_moments import moment_scale
from covassay.reference.mechanisms.output import OUTPUTS


def test_the_moments_in_the_units_of_shifted_and_scaled_data() -> None:
    u = np.random.default_rng(1).standard_normal((50, 3))
    shift, scale = np.array([2.0, -1.0, 0.5]), np.array([1.0, 3.0, 0.25])
    x, output = shift + scale * u, OUTPUTS["moments"]
    seen, expected = (np.vstack([rows.mean(axis=0), rows.T @ rows / 50]) for rows in (u, x))
    np.testing.assert_allclose(output.restore(seen, shift, scale), expected, rtol=1e-12)
    assert set(output.parts(seen)) == {"mean", "second_moment"}


def test_the_largest_weight_is_nearly_the_second_moment_alone() -> None:
    assert moment_scale(1, 2, 0.5, 1e6) == pytest.approx(math.sqrt(2), rel=1e-5)
    assert moment_scale(1, 1, 0.5, 1e6) == pytest.approx(1.0, rel=1e-5)
