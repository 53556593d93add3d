"""Test nuclear-Laplace noise: exact values, asymptotic values, and draws against an independent computation.

The checks `claims.checks.own` test the laws of both norms of draws, and the distribution function of the spectral norm.
Statistical tests have fixed seeds. With a random seed, each test of a correct law would raise a false alarm with
probability at most 1e-9, because the p-values are exact or conservative.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import airy

from covassay.reference.errors import InvalidInput
from covassay.reference.laws import nuclear_laplace as law
from covassay.verification.exact import gamma_mixture
from covassay.verification.exact.spectral_cdf import enclose_spectral_cdf
from covassay.verification.statistics.tests import independence, two_sample
from tests.conventions import FALSE_ALARM, Matrix

KINDS = pytest.mark.parametrize("symmetric", [False, True], ids=["full", "symmetric"])
SLOW = pytest.mark.slow


def free_entries(d: int, symmetric: bool) -> int:
    return d * (d + 1) // 2 if symmetric else d * d


# Formulas


def test_the_nuclear_norm_agrees_with_a_hand_calculation() -> None:
    # The first matrix has the singular values 3 and 1, and the second has the eigenvalues 3 and −1.
    turned, symmetric = np.array([[0.0, 3.0], [-1.0, 0.0]]), np.array([[1.0, 2.0], [2.0, 1.0]])
    assert law.nuclear_norm(turned) == pytest.approx(4, rel=1e-15)
    np.testing.assert_allclose(law.nuclear_norm(np.stack([turned, symmetric, 0 * turned])), [4, 4, 0], atol=1e-15)


# The normaliser


@KINDS
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
def test_the_normaliser_agrees_with_the_volume_of_the_orthogonal_group(d: int, symmetric: bool) -> None:
    # For Z = U diag(s) Vᵀ with s_1 > … > s_d, dZ = ∏(s_i² − s_j²) ds dU dV. Every Z has 2^d such decompositions, which
    # differ in the signs of columns. The volume of O(d) is the product of the volumes |S^{k−1}| for k = 1, …, d.
    # For symmetric Z = Q diag(l) Qᵀ, every coordinate √2 Z_ij off the diagonal contributes √2 |l_i − l_j|.
    group = sum(math.log(2 * math.pi ** (k / 2)) - math.lgamma(k / 2) for k in range(1, d + 1))
    volume = group + d * (d - 1) / 4 * math.log(2) if symmetric else 2 * group
    ordered = gamma_mixture.normalizer(d, symmetric=symmetric)  # a fraction
    expected = volume - d * math.log(2) + math.log(ordered)
    assert law.log_normalizer(d, symmetric) == pytest.approx(expected, rel=1e-13)


@KINDS
def test_the_log_density_is_minus_the_norm_minus_the_normaliser(symmetric: bool) -> None:
    z = np.array([[[1.0, 2.0], [2.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]])
    constant = math.log(3 * math.sqrt(2) * math.pi if symmetric else 6 * math.pi**2)
    np.testing.assert_allclose(law.log_density(z, symmetric), [-4 - constant, -constant], atol=1e-13)
    np.testing.assert_allclose(law.log_density(z[0], symmetric), -4 - constant, atol=1e-13)


# The distribution functions


def test_the_distribution_functions_keep_the_shape_of_their_argument() -> None:
    t = np.array([[-1.0, 0.0], [2.0, 900.0]])
    spectral, nuclear = law.spectral_norm_cdf(2, t), law.nuclear_norm_cdf(2, t)
    np.testing.assert_array_equal(spectral[0], [0, 0])
    np.testing.assert_array_equal(nuclear[0], [0, 0])
    assert spectral[1, 1] == nuclear[1, 1] == 1
    assert np.shape(law.spectral_norm_cdf(2, 1.0)) == np.shape(law.nuclear_norm_cdf(2, 1.0)) == ()


@KINDS
@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_nuclear_norm_is_a_gamma_variable_by_its_poisson_sum(d: int, symmetric: bool) -> None:
    # The test uses P(Gamma(k) ≤ t) = P(Poisson(t) ≥ k).
    k = free_entries(d, symmetric)
    for t in (0.3 * k, k, 2.5 * k):
        at_least_k = 1 - sum(math.exp(-t + j * math.log(t) - math.lgamma(j + 1)) for j in range(k))
        assert float(law.nuclear_norm_cdf(d, t, symmetric)) == pytest.approx(at_least_k, abs=1e-14)


# Quantiles


@KINDS
@pytest.mark.parametrize("d", [1, 2, 5, 10])
@pytest.mark.parametrize("p", [1e-6, 0.3, 0.5, 0.9, 1 - 1e-6])
def test_quantiles_invert_the_enclosed_distribution_function(d: int, p: float, symmetric: bool) -> None:
    q = Fraction(law.spectral_norm_quantile(d, p, symmetric))
    assert float(enclose_spectral_cdf(d, q, symmetric=symmetric).midpoint) == pytest.approx(p, rel=0, abs=1e-13)


@pytest.mark.parametrize("p", [0.0, 1.0, -0.5, 1e-13, 1 - 1e-10, math.nan, 2.0])
def test_a_probability_that_float64_cannot_resolve_is_refused(p: float) -> None:
    with pytest.raises(InvalidInput, match="probability = "):
        law.spectral_norm_quantile(3, p)


def tracy_widom_cdf(s: float) -> float:
    """Return the distribution function of the Tracy–Widom law for β = 1, the Fredholm determinant det(1 − B) on (0, ∞)
    with B(x, y) = Ai(x + y + s) (Ferrari and Spohn 2005). Gauss–Legendre quadrature approximates the determinant
    (Bornemann).
    """
    nodes, weights = np.polynomial.legendre.leggauss(60)
    x, root = 8 * (nodes + 1), np.sqrt(8 * weights)
    kernel = airy(x[:, None] + x + s)[0] * root[:, None] * root
    return float(np.linalg.det(np.eye(len(x)) - kernel))


def test_the_tracy_widom_oracle_has_its_tabulated_quantiles() -> None:
    # The quantiles are from Table 2 of Johnstone (2001).
    assert [tracy_widom_cdf(s) for s in (0.4501, 0.9793, 2.0234)] == pytest.approx([0.90, 0.95, 0.99], abs=1e-5)


@pytest.mark.parametrize(
    ("d", "full_error", "symmetric_error"), [(50, 5e-4, 6e-4), (100, 2e-4, 3e-4), (200, 1e-4, 1e-4)]
)
def test_medians_follow_the_tracy_widom_law_at_the_edge(d: int, full_error: float, symmetric_error: float) -> None:
    # For noise that is not symmetric, the spectral norm is asymptotically π(d − 1/4 − ln 2/(2π)) + (π/2) d^{1/3} T,
    # where T has the Tracy–Widom law.
    # For symmetric noise, each end of the spectrum is asymptotically π d/2 − ln 2/2 + π/16^{1/3} d^{1/3} T.
    # The two ends are independent in the limit, and the spectral norm is the larger one.
    one_edge = brentq(lambda s: tracy_widom_cdf(s) - 0.5, -4, 2)
    two_edges = brentq(lambda s: tracy_widom_cdf(s) ** 2 - 0.5, -4, 2)
    full = math.pi * (d - 0.25 - math.log(2) / (2 * math.pi)) + math.pi / 2 * d ** (1 / 3) * one_edge
    symmetric = math.pi / 2 * d - math.log(2) / 2 + math.pi / 16 ** (1 / 3) * d ** (1 / 3) * two_edges
    assert law.spectral_norm_quantile(d, 0.5) == pytest.approx(full, rel=full_error)
    assert law.spectral_norm_quantile(d, 0.5, True) == pytest.approx(symmetric, rel=symmetric_error)
    unshifted = full + math.pi / 4 + math.log(2) / 2  # mutant: the edge is at πd
    assert law.spectral_norm_quantile(d, 0.5) != pytest.approx(unshifted, rel=full_error)


# Moments


@pytest.mark.parametrize(("d", "ratio"), [(10, 1.70135), (20, 1.67394), (100, 1.65088)])
def test_the_mean_squared_frobenius_norm_grows_like_the_cube(d: int, ratio: float) -> None:
    # The expected values were computed independently. The limit is π²/6, with the relative correction 0.363/d.
    value = law.mean_power_sum(d, 2) / d**3
    assert value == pytest.approx(ratio, abs=6e-6)
    assert value == pytest.approx(math.pi**2 / 6 * (1 + 0.363 / d), rel=0.3 / d**2)


# The sampler


@lru_cache
def spectra(d: int, symmetric: bool, draws: int) -> Matrix:
    return law.sample_spectrum(d, np.random.default_rng(1000 + d), draws, symmetric)


@KINDS
@pytest.mark.parametrize(("d", "draws"), [(2, 20_000), (3, 20_000), pytest.param(8, 20_000, marks=SLOW)])
def test_the_radius_is_independent_of_the_shape(d: int, draws: int, symmetric: bool) -> None:
    """Test that the nuclear norm of draws is independent of the relative sizes of the singular values."""
    spectrum = np.abs(spectra(d, symmetric, draws))
    radius = spectrum.sum(axis=1)
    assert independence(radius, spectrum.max(axis=1) / radius, "radius and shape").p_value > FALSE_ALARM


@KINDS
@pytest.mark.parametrize(
    ("d", "draws"),
    [(1, 20_000), (2, 20_000), (3, 20_000), pytest.param(1, 100_000, marks=SLOW), pytest.param(4, 10_000, marks=SLOW)],
)
def test_every_order_statistic_agrees_with_the_rational_mixture(d: int, draws: int, symmetric: bool) -> None:
    drawn = spectra(d, symmetric, draws)
    descending = np.take_along_axis(drawn, np.argsort(-np.abs(drawn), axis=1), axis=1)
    oracle = gamma_mixture.sample(d, draws, np.random.default_rng(5), symmetric=symmetric)
    for ours, theirs in zip(descending.T, oracle.T, strict=True):
        assert two_sample(ours, theirs, "order statistic").p_value > FALSE_ALARM
    for ours, theirs in zip(descending.T[:-1] - descending.T[1:], oracle.T[:-1] - oracle.T[1:], strict=True):
        assert two_sample(ours, theirs, "gap").p_value > FALSE_ALARM


@pytest.mark.parametrize("d", [0, -2, 1.5, True, "2"])
def test_a_bad_dimension_is_refused(d: int) -> None:
    rng = np.random.default_rng(0)
    for call in (
        lambda: law.sample(d, rng),
        lambda: law.sample_spectrum(d, rng, 1),
        lambda: law.nuclear_norm_cdf(d, 1.0),
        lambda: law.spectral_norm_cdf(d, 1.0),
        lambda: law.spectral_norm_quantile(d, 0.5),
        lambda: law.mean_power_sum(d, 2),
        lambda: law.log_normalizer(d),
    ):
        with pytest.raises(InvalidInput, match="dimension = "):
            call()


# The tail bound


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("d", [1, 2, 7, 300])
def test_the_tail_bound_begins_beyond_the_edge(d: int, symmetric: bool) -> None:
    """Test that the tail bound is at most 1 and decreasing beyond the edge, and is refused at or below the edge."""
    edge = law.spectral_edge(d, symmetric)
    for t in (0.5 * edge, edge):
        with pytest.raises(InvalidInput, match="must be above the edge"):
            law.spectral_norm_tail_bound(d, t, symmetric)
    values = [law.spectral_norm_tail_bound(d, edge * c, symmetric) for c in (1 + 1e-12, 1.001, 1.1, 2, 9)]
    assert values[0] <= 1
    assert values == sorted(values, reverse=True)


def test_the_tail_bound_is_the_least_of_two_widths_and_exact_in_dimension_1() -> None:
    d, t = 300, 1000.0
    widths = (math.pi, 20.0)
    swept = [law.swept_tail_bound(d, t, width) for width in widths]
    assert law.spectral_norm_tail_bound(d, t) <= swept[0]
    assert law.spectral_norm_tail_bound(d, t) < 0.9 * swept[0]
    assert law.spectral_norm_tail_bound(1, 5.0) == math.exp(-5.0)
