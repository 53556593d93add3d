"""SeparateCov: the exact law of its eigenvalues, and the inequality behind Theorem 1.

Statistical tests have fixed seeds. With a random seed, each comparison would raise a false alarm with probability at
most 1e-9.
"""

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.laws import wigner
from covassay.reference.laws.wigner import ENSEMBLES
from covassay.reference.mechanisms.concentrated.separate_cov import (
    SeparateCovNoise,
    descending_eigenvectors,
    direction_error,
    eigenvalue_error,
    error_bound,
    noise_scale,
    release,
    sample,
)
from covassay.verification.statistics.tests import independence, kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix, too_often_above

PROPERTY = settings(max_examples=80)


def as_the_code_does(x: Matrix, noise: SeparateCovNoise, rho: float) -> Matrix:
    """The algorithm of the authors' code: left and right singular vectors of the indefinite G, in the order of |λ|."""
    moment, scale = second_moment(x), noise_scale(len(x), rho)
    u, _, vt = np.linalg.svd(moment + scale * noise.matrix)
    values = np.linalg.eigvalsh(moment)[::-1] + scale * noise.eigenvalues
    return np.asarray((u * values) @ vt)


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


# Theorem 1


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 6), size=st.sampled_from([0.01, 0.3, 3.0]))
def test_the_directions_obey_the_deterministic_inequality(seed: int, d: int, size: float) -> None:
    # ‖VΛVᵀ − Σ‖_F² ≤ 2s tr Σ (w_max − w_min) ≤ 4s ‖W‖ tr Σ, the square of `direction_error`
    rng = np.random.default_rng(seed)
    x = unit_rows(rng.standard_normal((5, d)) * rng.choice([0.1, 5.0]))
    w = size * wigner.sample_wigner(d, rng)
    rho = 0.5
    got = release(x, SeparateCovNoise(w, np.zeros(d)), rho=rho)
    moment = second_moment(x)
    error, trace = float(np.linalg.norm(got - moment)), float(np.trace(moment))
    edges = np.linalg.eigvalsh(w)[[0, -1]]
    assert error**2 <= 2 * noise_scale(5, rho) * trace * float(np.ptp(edges)) + 1e-12
    assert error <= direction_error(5, rho, trace, float(np.abs(edges).max())) + 1e-6


def test_the_code_of_the_authors_breaks_the_inequality() -> None:
    # W = −2 I moves all eigenvalues of G alike, so the directions should not change at all. They do in that code.
    w = np.diag([-2.0, -2.0])
    x = np.array([[1.0, 0.0], [0.0, 0.5]])
    error = np.linalg.norm(as_the_code_does(x, SeparateCovNoise(w, np.zeros(2)), 2.0) - second_moment(x))
    sharp = 2 * noise_scale(2, 2.0) * (5 / 8) * 0.0  # the bound of the test above, with w_max = w_min
    assert error**2 > sharp + 0.1
    assert np.linalg.norm(release(x, SeparateCovNoise(w, np.zeros(2)), rho=2.0) - second_moment(x)) < 1e-14


@pytest.mark.parametrize("ensemble", ENSEMBLES)
@pytest.mark.parametrize("size", [0.2, 1.0])
def test_the_error_stays_below_theorem_one(ensemble: Any, size: float) -> None:
    n, d, rho, beta, draws = 200, 12, 0.4, 0.5, 150
    rng = np.random.default_rng(11)
    x = size * unit_rows(rng.standard_normal((n, d)) @ rng.uniform(size=(d, d)))
    moment = second_moment(x)
    errors = np.array([np.linalg.norm(sample(x, rng, rho=rho, ensemble=ensemble) - moment) for _ in range(draws)])
    bound = error_bound(n, d, rho, float(np.trace(moment)), beta, ensemble)
    assert not too_often_above(errors, bound, beta)
    # A bound that forgets the error of the directions is rejected.
    assert too_often_above(errors, eigenvalue_error(n, rho, math.sqrt(d)), beta)


def test_the_constant_of_theorem_one() -> None:
    # 2^{5/4} √(tr υ)/(ρ^{1/4} √n) = √(4 s υ tr). For tr = 1/4, υ = 8, ρ = 1/16, n = 2: √(4 · 2√2 · 2) = 2 √(4√2)
    assert direction_error(2, 1 / 16, 0.25, 8) == pytest.approx(2 * math.sqrt(4 * math.sqrt(2)), rel=1e-14)
    s, trace, spectral = noise_scale(2, 1 / 16), 0.25, 8
    assert direction_error(2, 1 / 16, 0.25, 8) == pytest.approx(math.sqrt(4 * s * trace * spectral), rel=1e-14)
    # √2 η/(√ρ n) = √2 · 3/(¼ · 2)
    assert eigenvalue_error(2, 1 / 16, 3) == pytest.approx(6 * math.sqrt(2), rel=1e-14)
    with mpmath.workdps(40):
        exact = error_bound(
            mpmath.mpf(100), mpmath.mpf(6), mpmath.mpf(1) / 4, 1, mpmath.mpf(1) / 8, "wigner", mpmath.log
        )
    assert error_bound(100, 6, 0.25, 1, 0.125, "wigner") == pytest.approx(float(exact), rel=1e-13)


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 6))
def test_eigenvectors_are_orthonormal_and_descending(seed: int, d: int) -> None:
    m = wigner.sample_goe(d, np.random.default_rng(seed))
    v = descending_eigenvectors(m)
    np.testing.assert_allclose(v.T @ v, np.eye(d), atol=1e-12)
    assert (np.diff(np.diag(v.T @ m @ v)) <= 1e-12).all()
