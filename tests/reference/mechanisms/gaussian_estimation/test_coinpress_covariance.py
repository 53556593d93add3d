"""Test CoinPress covariance: the order of its matrices, the clipping of rows, and its bounds.

Statistical tests have fixed seeds. With a random seed, each test of a correct law would raise a false alarm with
probability at most 1e-9.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.domain import second_moment
from covassay.reference.mechanisms.gaussian_estimation.coinpress_covariance import (
    draw_noise,
    pressed,
    release,
    sampling_bound,
    spectral_noise_bound,
    squared_norm_bound,
)
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix, too_often_above
from tests.negative_controls.of_coinpress import published_order

PROPERTY = settings(max_examples=60)


def quiet_at_last(seed: int, steps: int, d: int) -> Matrix:
    """Return noise that is zero in the last step and random in all others."""
    noise = draw_noise(d, np.random.default_rng(seed), steps=steps)
    noise[-1] = 0
    return noise


Release = Callable[..., Matrix]


def exactness(mechanism: Release, steps: int) -> float:
    """Return the largest difference between the release and the second moment, if there is no clipping and no noise in
    the last step. For the correct mechanism, this difference is 0 up to rounding errors, because the noise of the
    earlier steps does not matter.
    """
    x = np.random.default_rng(1).standard_normal((400, 3)) * [1.0, 0.5, 0.1]
    got = mechanism(x, quiet_at_last(2, steps, 3), rho=50.0, constants="paper", u=10.0, steps=steps, beta=0.1)
    return float(np.abs(got - second_moment(x)).max())


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
def test_coordinates_are_undone_exactly(steps: int) -> None:
    """Test that the estimate is transformed back to the coordinates of the data."""
    assert exactness(release, steps) < 1e-13


@pytest.mark.parametrize(("steps", "right"), [(1, True), (2, True), (3, False), (5, False)])
def test_the_published_order_undoes_other_coordinates_from_the_third_step_on(steps: int, right: bool) -> None:
    assert (exactness(published_order, steps) < 1e-13) is right


def test_long_rows_are_shortened_in_every_step() -> None:
    """Test that the length of a long row does not matter, because every step clips rows."""
    rng = np.random.default_rng(3)
    x, noise = rng.standard_normal((30, 2)), draw_noise(2, rng, steps=3)
    far = [release(np.vstack([x, [k, 2 * k]]), noise, rho=0.5) for k in (1e3, 1e9)]
    np.testing.assert_allclose(far[0], far[1], rtol=1e-12)
    assert np.abs(release(np.vstack([x, [-1e9, 2e9]]), noise, rho=0.5) - far[1]).max() > 1e-3


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 4), size=st.sampled_from([1e-300, 1e-3, 1.0, 50.0, 1e300]))
def test_pressed_rows_are_images_of_length_at_most_the_radius(seed: int, d: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    a, rows = rng.standard_normal((d, d)), rng.standard_normal((5, d))
    got = pressed(size * rows, a, 2.0)
    images = rows @ a.T
    norms = np.linalg.norm(images, axis=1)
    expected = images / norms[:, None] * np.minimum(size * norms, 2.0)[:, None]
    np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 5, 20])
def test_the_bounds_fail_as_rarely_as_stated(d: int) -> None:
    # For d ≥ 5, half of the bound fails too often, and 4000 draws with β = 0.05 are enough to reject it.
    rng, beta = np.random.default_rng(d), 0.05
    noise = np.linalg.norm(np.concatenate([draw_noise(d, rng, steps=10) for _ in range(400)]), 2, axis=(1, 2))
    bound = float(spectral_noise_bound(d, beta))
    assert not too_often_above(noise, bound, beta)
    if d >= 5:
        assert too_often_above(noise, 0.5 * bound, beta)
    lengths = (rng.standard_normal((4000, d)) ** 2).sum(axis=1)
    assert not too_often_above(lengths, squared_norm_bound(d, -math.log(beta)), beta)
    moments = rng.standard_normal((1000, 50, d))
    gaps = np.linalg.norm(np.swapaxes(moments, 1, 2) @ moments / 50 - np.eye(d), 2, axis=(1, 2))
    assert not too_often_above(gaps, float(sampling_bound(50, d, beta)), beta)


# The draws


def test_the_noise_is_standard_on_and_above_the_diagonal() -> None:
    # 5000 matrices are enough to reject a law with twice the variance. In the Gaussian orthogonal ensemble, the entries
    # on the diagonal have twice the variance of the others.
    rng = np.random.default_rng(7)
    noise = np.concatenate([draw_noise(3, rng, steps=10) for _ in range(500)])
    np.testing.assert_array_equal(noise, np.swapaxes(noise, 1, 2))
    for entry in (noise[:, 0, 0], noise[:, 0, 2], (noise[:, 1, 1] + noise[:, 1, 2]) / math.sqrt(2)):
        assert kolmogorov_smirnov(entry, stats.norm.cdf, "N(0, 1)").p_value > FALSE_ALARM
        assert kolmogorov_smirnov(entry * math.sqrt(2), stats.norm.cdf, "mutant").p_value < FALSE_ALARM
