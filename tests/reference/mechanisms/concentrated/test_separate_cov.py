"""Test SeparateCov: the exact laws of its eigenvalues and of its directions.

Statistical tests have fixed seeds: with a random seed, each comparison with a correct law would raise a false alarm
with probability at most 1e-9.
"""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.laws import wigner
from covassay.reference.laws.wigner import ENSEMBLES
from covassay.reference.mechanisms.concentrated.separate_cov import (
    SeparateCovNoise,
    descending_eigenvectors,
    noise_scale,
    release,
    sample,
)
from covassay.verification.statistics.tests import independence, kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS

PROPERTY = settings(max_examples=80)


# The law


def test_the_eigenvalues_of_the_output_are_gaussian() -> None:
    # The output has the eigenvalues λ̃. Those of the data are at least 8/n = 40 s apart, so λ̃ comes out in order.
    n, rho, draws = 40, 50.0, 2500
    counts = np.array([30, 9, 1])
    x = np.repeat(np.eye(3), counts, axis=0)
    s = math.sqrt(2) / (n * math.sqrt(rho))
    rng = np.random.default_rng(4)
    values = np.linalg.eigvalsh([sample(x, rng, rho=rho) for _ in range(draws)])[:, ::-1]
    standard = (values - counts / n) / s
    for i in range(3):
        assert kolmogorov_smirnov(standard[:, i], stats.norm.cdf, "λ̃").p_value > FALSE_ALARM
        # Noise on the eigenvalues that is √2 times too large is rejected.
        assert kolmogorov_smirnov(standard[:, i] * math.sqrt(2), stats.norm.cdf, "λ̃").p_value < FALSE_ALARM
    assert independence(standard[:, 0], standard[:, 1], "λ̃₁, λ̃₂").p_value > FALSE_ALARM


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_on_two_features_the_angle_has_its_exact_law(ensemble: Any) -> None:
    # All rows are zero, so G = sW. Let v₁ have the angle φ: then 2φ is the angle of the point ((W₁₁ − W₂₂)/2, W₁₂).
    # Its coordinates have variances 1/2 and 1 (wigner), or 1/2 both (goe), for which 2φ is uniform.
    x, rng = np.zeros((4, 2)), np.random.default_rng(5)
    rho = 0.5
    outputs = np.array([release(x, SeparateCovNoise(wigner.sample(ensemble, 2, rng), np.array([2.0, 1.0])), rho=rho)
                        for _ in range(2500)])  # fmt: skip
    s = noise_scale(4, rho)
    # The output is s (2 vvᵀ + v'v'ᵀ). Its (1, 1) entry is s (1 + cos²φ), and its (1, 2) entry is s sin φ cos φ.
    double = np.arctan2(2 * outputs[:, 0, 1] / s, 2 * (outputs[:, 0, 0] / s - 1) - 1)
    ratio = 1.0 if ensemble == "goe" else math.sqrt(2)
    cdf = lambda t: 0.5 + np.arctan2(np.sin(t) / ratio, np.cos(t)) / (2 * math.pi)  # noqa: E731
    assert kolmogorov_smirnov(double, cdf, "2φ").p_value > FALSE_ALARM
    other = lambda t: 0.5 + np.arctan2(np.sin(t) / 4, np.cos(t)) / (2 * math.pi)  # noqa: E731
    assert kolmogorov_smirnov(double, other, "2φ").p_value < FALSE_ALARM  # sixteen times the variance of W₁₂


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 6))
def test_eigenvectors_are_orthonormal_and_descending(seed: int, d: int) -> None:
    m = wigner.sample_goe(d, np.random.default_rng(seed))
    v = descending_eigenvectors(m)
    np.testing.assert_allclose(v.T @ v, np.eye(d), atol=1e-12)
    assert (np.diff(np.diag(v.T @ m @ v)) <= 1e-12).all()
