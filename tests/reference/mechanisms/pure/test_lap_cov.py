"""Test LapCov: the error bound of DLY22, and the law of the noise.

Statistical tests have fixed seeds: with a random seed, each comparison with a correct law would raise a false alarm
with probability at most 1e-9 (Kolmogorov's exact p-value).
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.mechanisms.pure.lap_cov import draw_noise, error_bound, sample
from covassay.reference.projections import spectral_interval
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS

PROPERTY = settings(max_examples=60)


def test_the_error_bound_holds_on_draws() -> None:
    # far from tight: the constants of the code; the bound without its deviation term, 1.5 d, is exceeded
    rng = np.random.default_rng(3)
    for d in (2, 5):
        errors = np.linalg.norm(draw_noise(d, rng, 2000), axis=(1, 2))
        assert (errors <= error_bound(d, 1.0, 0.1)).mean() >= 0.9
        assert (errors <= 1.5 * d).mean() < 0.9


# The law


@pytest.mark.parametrize(("calibration", "b"), [("paper", 0.7071067811865476), ("tight", 0.4787135538781691)])
def test_the_noise_has_independent_laplace_entries(calibration: Any, b: float) -> None:
    # n ε = 6: √18/6 and √33/12
    rng = np.random.default_rng(22)
    drawn = np.array([sample(np.eye(3), rng, epsilon=2, calibration=calibration) for _ in range(2000)])
    np.testing.assert_array_equal(drawn, np.swapaxes(drawn, 1, 2))
    own = ((drawn - np.eye(3) / 3) / b)[:, *np.triu_indices(3)]
    for k in range(6):
        assert kolmogorov_smirnov(own[:, k], stats.laplace.cdf, "an entry").p_value > FALSE_ALARM
        assert kolmogorov_smirnov(own[:, k], stats.laplace(0, 0.5).cdf, "mutant").p_value < FALSE_ALARM
    total = np.abs(own).sum(axis=1)
    assert kolmogorov_smirnov(total, stats.gamma(6).cdf, "ℓ1 norm").p_value > FALSE_ALARM
    assert kolmogorov_smirnov(total, stats.gamma(9).cdf, "mutant").p_value < FALSE_ALARM


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 5))
def test_clipping_the_eigenvalues_never_hurts(seed: int, d: int) -> None:
    # 0 ≤ Σ ≤ I, and the clip is the projection on that convex set
    x = unit_rows(np.random.default_rng(seed).standard_normal((4, d)))
    noisy = sample(x, np.random.default_rng(seed), epsilon=3)
    sigma = second_moment(x)
    assert np.linalg.norm(spectral_interval(noisy, 0, 1) - sigma) <= np.linalg.norm(noisy - sigma) + 1e-12
