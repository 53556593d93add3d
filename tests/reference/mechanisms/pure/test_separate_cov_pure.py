"""SeparateCov, pure: the error bound, and the law.

Statistical tests have fixed seeds. With a random seed, each comparison would raise a false alarm with probability at
most 1e-9 (Kolmogorov's p-value, which is conservative at atoms).
"""

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference import tails
from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.pure.separate_cov_pure import (
    SeparateCovPureNoise,
    eigenvalue_scale,
    error_bound,
    likely_error,
    matrix_scale,
    release,
    sample,
)
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Vector

PROPERTY = settings(max_examples=60)


# The error


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 6), scale=st.sampled_from([0.0, 0.1, 1.0, 10.0]))
def test_the_error_obeys_its_bound(seed: int, d: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    x = unit_rows(rng.standard_normal((5, d)) * rng.choice([0.3, 3.0]))
    noise = SeparateCovPureNoise(scale * wigner.sample_laplace(d, rng), scale * rng.laplace(size=d))
    got, sigma = release(x, noise, epsilon=3), second_moment(x)
    matrix = matrix_scale(5, d, 3, "paper") * np.linalg.norm(noise.matrix, 2)
    values = eigenvalue_scale(5, 3) * np.linalg.norm(noise.eigenvalues)
    assert np.linalg.norm(got - sigma) <= error_bound(np.trace(sigma), matrix, values) + 1e-7
    assert np.linalg.eigvalsh(got).min() >= -1e-12
    assert np.linalg.eigvalsh(got).max() <= 1 + 1e-12


def test_the_error_bound_needs_its_factor() -> None:
    # Σ = diag(.9, 0), noise that makes G = diag(−.0001, 0): e_2 comes first and the error is √2 · .9 = 1.273. The bound
    # is 2 √(.9 · .9001) = 1.8, and a quarter of the noise in it would be too little
    x = np.array([[math.sqrt(0.9), 0.0]])
    b = matrix_scale(1, 2, 1, "paper")
    small = SeparateCovPureNoise(np.diag([-0.9001 / b, 0.0]), np.zeros(2))
    error = np.linalg.norm(release(x, small, epsilon=1) - second_moment(x))
    assert error == pytest.approx(math.sqrt(2) * 0.9, rel=1e-6)
    assert error <= error_bound(0.9, 0.9001, 0.0)  # 1.8
    assert error > error_bound(0.9, 0.9001, 0.0) / 2  # a mutant


def test_the_likely_error_is_the_papers() -> None:
    # √(8√2 d tr υ/(nε)) + 4η/(nε), DLY22 Lemma 18; and the same with the tight scale
    n, d, epsilon, trace, beta = 1000, 5, 0.5, 0.3, 0.1
    upsilon, eta = tails.upsilon_laplace(d, beta / 2), tails.eta_laplace(d, beta / 2)
    expected = math.sqrt(8 * math.sqrt(2) * d * trace * upsilon / (n * epsilon)) + 4 * eta / (n * epsilon)
    assert likely_error(n, d, epsilon, trace, beta, "paper") == pytest.approx(expected, rel=1e-13)
    assert likely_error(n, d, epsilon, trace, beta, "tight") < expected
    with mpmath.workdps(30):
        got = likely_error(n, d, mpmath.mpf(1) / 2, mpmath.mpf(3) / 10, mpmath.mpf(1) / 10, "paper", mpmath.log)
        assert abs(got - expected) < 1e-12
    a, b = sympy.symbols("a b", positive=True)
    assert error_bound(a**2, b**2, 0) == 2 * (a**2 * b**2) ** 0.5


def test_the_error_on_draws_is_below_the_likely_error() -> None:
    x = unit_rows(np.random.default_rng(0).standard_normal((200, 3)))
    rng = np.random.default_rng(1)
    errors = [np.linalg.norm(sample(x, rng, epsilon=4) - second_moment(x)) for _ in range(300)]
    assert np.mean(np.array(errors) <= likely_error(200, 3, 4, 1.0, 0.1, "paper")) >= 0.9


# The law


@pytest.mark.thorough
@pytest.mark.parametrize(("calibration", "b"), [("paper", 2 * math.sqrt(2) * 2), ("tight", math.sqrt(5) * 2)])
def test_eigenvalues_and_eigenvectors_have_their_exact_laws(calibration: Any, b: float) -> None:
    # Σ = diag(.6, .4), n = 1000, ε = 1: eigenvalue noise 4/1000, out of order with probability below 1e-9. The leading
    # eigenvector of G has angle φ, tan 2φ = 2 b W_12/(.2 · 1000 + b (W_11 − W_22)); b is in units of 1/1000
    x = np.repeat(np.eye(2), [600, 400], axis=0)
    rng = np.random.default_rng(41)
    drawn = np.array([sample(x, rng, epsilon=1, calibration=calibration) for _ in range(2000)])
    values, vectors = np.linalg.eigh(drawn)
    for i, centre in ((0, 0.4), (1, 0.6)):
        residuals = (values[:, i] - centre) / 0.004
        assert kolmogorov_smirnov(residuals, stats.laplace.cdf, "an eigenvalue").p_value > FALSE_ALARM
        assert kolmogorov_smirnov(residuals, stats.laplace(0, 0.5).cdf, "mutant").p_value < FALSE_ALARM
    tangent = 2 * vectors[:, 0, 1] * vectors[:, 1, 1] / (vectors[:, 0, 1] ** 2 - vectors[:, 1, 1] ** 2)

    def cdf(b: float) -> Callable[[Vector], Vector]:
        # P(2bW/(200 + bV) ≤ t), V = W_11 − W_22 of density (1 + |v|)e^{−|v|}/4; P(200 + bV ≤ 0) is below 1e-14
        v, weight = np.polynomial.legendre.leggauss(400)
        v, weight = 35 * v, 35 * weight * (1 + 35 * np.abs(v)) * np.exp(-35 * np.abs(v)) / 4
        return lambda t: stats.laplace.cdf(np.multiply.outer(t, 200 + b * v) / (2 * b)) @ weight

    assert kolmogorov_smirnov(tangent, cdf(b), "the angle").p_value > FALSE_ALARM
    assert kolmogorov_smirnov(tangent, cdf(b / 2), "mutant").p_value < FALSE_ALARM
