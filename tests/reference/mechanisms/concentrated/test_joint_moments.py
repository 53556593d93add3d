"""Test joint moments: the units of the data, and the law of the noise.

Statistical tests have fixed seeds: with a random seed, each comparison with a correct law would raise a false alarm
with probability at most 1e-9.
"""

import math

import numpy as np
import pytest
from scipy import stats

from covassay.reference.mechanisms.concentrated.joint_moments import draw_noise, moment_scale
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM


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


# What is drawn


def test_the_noise_that_is_drawn_has_its_law() -> None:
    rng = np.random.default_rng(5)
    drawn = [draw_noise(3, rng) for _ in range(2500)]
    parts = {
        "N2": np.array([z.mean[1] for z in drawn]),
        "G11": np.array([z.moment[0, 0] for z in drawn]),
        "G12": np.array([z.moment[0, 1] for z in drawn]) * math.sqrt(2),
    }
    assert all(np.array_equal(z.moment, z.moment.T) for z in drawn)
    for name, values in parts.items():
        assert kolmogorov_smirnov(values, stats.norm.cdf, name).p_value > FALSE_ALARM
        assert kolmogorov_smirnov(1.3 * values, stats.norm.cdf, name).p_value < FALSE_ALARM
    together = np.corrcoef(list(parts.values()))
    assert np.abs(together - np.eye(3)).max() < 6.2 / math.sqrt(2500)  # 6.2 deviations
