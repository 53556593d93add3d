"""Test CoinPress mean on rows that are far from the others."""

import numpy as np

from covassay.reference.mechanisms.gaussian_estimation.coinpress_mean import release


def test_far_rows_are_brought_back_towards_the_centre() -> None:
    x, noise = np.random.default_rng(1).standard_normal((30, 2)), np.random.default_rng(2).standard_normal((3, 2))
    far = [release(np.vstack([x, [k, 2 * k]]), noise, rho=0.5) for k in (1e8, 1e12)]
    np.testing.assert_allclose(far[0], far[1], rtol=1e-6)
    assert np.abs(far[0] - release(np.vstack([x, [-1e8, 0]]), noise, rho=0.5)).max() > 0.1
