"""Test SeparateCov under pure DP: the likely error of the paper, and the laws.

Statistical tests have fixed seeds: with a random seed, each comparison with a correct law would raise a false alarm
with probability at most 1e-9 (Kolmogorov's p-value, which is conservative at atoms).
"""

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from scipy import stats

from covassay.reference import tails
from covassay.reference.mechanisms.pure.separate_cov_pure import error_bound, likely_error, sample
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, Vector

# The error


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
