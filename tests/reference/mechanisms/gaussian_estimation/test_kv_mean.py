"""Test KVMean: the number of rows that it needs, and its bins."""

import math

import numpy as np
import pytest
from scipy import stats

from covassay.reference.mechanisms.gaussian_estimation.kv_mean import (
    GAP,
    KVMeanNoise,
    draw_noise,
    enough_rows,
    last_bin,
    release,
    sample,
)


@pytest.mark.parametrize(("bins", "rho", "beta"), [(21, 1.0, 0.1), (2001, 0.01, 1e-6), (3, 100.0, 0.5)])
def test_enough_rows_solve_their_equation(bins: int, rho: float, beta: float) -> None:
    """Test that the number of rows solves its equation."""
    n, length = enough_rows(bins, rho, beta), math.log(4 * bins / beta)
    assert GAP * n == pytest.approx(math.sqrt(2 * n * length) + math.sqrt(8 * length / rho), rel=1e-12)


def test_the_gap_between_the_bins_is_a_lower_bound() -> None:
    exact = stats.norm.cdf(1) - stats.norm.cdf(0) - stats.norm.sf(1.5)
    assert GAP <= exact <= GAP + 1e-4
    # Among the laws with s ≤ 1, the law with s = 1 and its mean at the edge of the bin has the least mass in the bin.
    for s in (0.1, 0.5, 0.9, 1.0):
        for offset in np.linspace(0, 1, 11):
            own = stats.norm.cdf(offset / s) - stats.norm.cdf((offset - 1) / s)
            assert own - stats.norm.sf(1.5 / s) >= GAP


def test_columns_are_treated_one_by_one() -> None:
    """Test that the mean of a column depends only on this column and its noise."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((30, 3)) + np.array([1.0, -4.0, 7.0])
    noise = draw_noise(3, rng, mean_bound=10.0, sigma=1.0)
    for j, value in enumerate(release(x, noise, rho=0.9, beta=0.3)):
        alone = KVMeanNoise(noise.counts[[j]], noise.mean[[j]])
        np.testing.assert_allclose(release(x[:, [j]], alone, rho=0.3, beta=0.1), [value], rtol=1e-12)


def test_no_value_in_any_bin_still_gives_an_output() -> None:
    x = np.full((5, 2), 1e12)
    assert np.isfinite(sample(x, np.random.default_rng(0), rho=1.0)).all()


def test_the_bins_are_as_many_as_the_bound_asks_for() -> None:
    assert [last_bin(r, 2.0) for r in (0.1, 2.0, 2.1, 20.0)] == [1, 1, 2, 10]
    noise = draw_noise(3, np.random.default_rng(1), mean_bound=20.0, sigma=2.0)
    assert (noise.counts.shape, noise.mean.shape) == ((3, 21), (3,))
