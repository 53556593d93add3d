"""Test nuclear-Laplace noise: exact figures, asymptotics, and the sampler against three independent oracles.

The oracles are rational mixtures of Gammas (d ≤ 6), enclosures of the spectral norm by interval arithmetic (any d), and
volumes worked out by hand. The oracles share no code with the Pfaffian in float64.

Statistical tests have fixed seeds: with a random seed, each comparison with a correct law would raise a false alarm
with probability at most 1e-9, because the p-values used are exact or conservative. A sample is compared with an exact
distribution function F on a grid: max over the grid of |F_n − F| is at most Kolmogorov's statistic, so its p-value is
conservative.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq
from scipy.special import airy

from covassay.reference.errors import InvalidInput
from covassay.reference.laws import nuclear_laplace as law
from covassay.verification.exact import gamma_mixture
from covassay.verification.exact.spectral_cdf import enclose_spectral_cdf
from covassay.verification.statistics.tests import binomial, independence, kolmogorov_smirnov, two_sample
from tests.conventions import FALSE_ALARM, Matrix, Vector

KINDS = pytest.mark.parametrize("symmetric", [False, True], ids=["full", "symmetric"])
SLOW = pytest.mark.slow


def free_entries(d: int, symmetric: bool) -> int:
    return d * (d + 1) // 2 if symmetric else d * d


# Formulas


def test_the_radius_has_one_degree_of_freedom_per_free_entry() -> None:
    assert [law.radius_shape(d) for d in (1, 2, 5)] == [1, 4, 25]
    assert [law.radius_shape(d, symmetric=True) for d in (1, 2, 5)] == [1, 3, 15]
    assert law.log_density_kernel(Fraction(3), Fraction(2)) == Fraction(-3, 2)


def test_the_nuclear_norm_agrees_with_a_hand_calculation() -> None:
    # singular values 3 and 1; eigenvalues 3 and −1; and a stack of both
    turned, symmetric = np.array([[0.0, 3.0], [-1.0, 0.0]]), np.array([[1.0, 2.0], [2.0, 1.0]])
    assert law.nuclear_norm(turned) == pytest.approx(4, rel=1e-15)
    np.testing.assert_allclose(law.nuclear_norm(np.stack([turned, symmetric, 0 * turned])), [4, 4, 0], atol=1e-15)


# The normaliser by three methods


def test_the_normaliser_in_dimensions_one_and_two_by_the_volume_of_the_nuclear_ball() -> None:
    # ∫ exp(−‖Z‖) dZ = D! vol{‖Z‖ ≤ 1} in dimension D. d = 1: 1! · 2, twice.
    # d = 2: with the complex numbers z = (a + d + i(c − b))/2, w = (a − d + i(b + c))/2 the singular values of
    # [[a, b], [c, d]] are |z| + |w| and ||z| − |w||, so ‖Z‖_* = 2 max(|z|, |w|) and dZ = 4 d²z d²w:
    # 4! · 4 (π/4)² = 6π². Symmetric, in the coordinates (a, √2 b, d): z is real, dZ = 2√2 dz d²w:
    # 3! · 2√2 · 1 · π/4 = 3√2 π.
    assert law.log_normalizer(1) == pytest.approx(math.log(2), abs=1e-14)
    assert law.log_normalizer(1, symmetric=True) == pytest.approx(math.log(2), abs=1e-14)
    assert law.log_normalizer(2) == pytest.approx(math.log(24 * math.pi**2 / 4), abs=1e-14)
    assert law.log_normalizer(2, symmetric=True) == pytest.approx(math.log(3 * math.sqrt(2) * math.pi), abs=1e-14)


@KINDS
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
def test_the_normaliser_agrees_with_the_volume_of_the_orthogonal_group(d: int, symmetric: bool) -> None:
    # Z = U diag(s) Vᵀ (s ordered, 2^d choices of signs): dZ = ∏(s_i² − s_j²) ds dU dV with vol O(d) = ∏ |S^{k−1}|;
    # Z = Q diag(l) Qᵀ: every off-diagonal coordinate √2 Z_ij contributes √2 |l_i − l_j|.
    group = sum(math.log(2 * math.pi ** (k / 2)) - math.lgamma(k / 2) for k in range(1, d + 1))
    volume = group + d * (d - 1) / 4 * math.log(2) if symmetric else 2 * group
    ordered = gamma_mixture.normalizer(d, symmetric=symmetric)  # an exact rational number
    expected = volume - d * math.log(2) + math.log(ordered)
    assert law.log_normalizer(d, symmetric) == pytest.approx(expected, rel=1e-13)


@KINDS
def test_the_log_density_is_minus_the_norm_minus_the_normaliser(symmetric: bool) -> None:
    z = np.array([[[1.0, 2.0], [2.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]])
    constant = math.log(3 * math.sqrt(2) * math.pi if symmetric else 6 * math.pi**2)
    np.testing.assert_allclose(law.log_density(z, symmetric), [-4 - constant, -constant], atol=1e-13)
    np.testing.assert_allclose(law.log_density(z[0], symmetric), -4 - constant, atol=1e-13)


# The spectral norm: the published bound is refuted


@KINDS
@pytest.mark.parametrize("d", [1, 2, 3, 4, 6, 9, 16])
def test_the_spectral_norm_follows_the_enclosed_law(d: int, symmetric: bool) -> None:
    thresholds = [Fraction(k, 4) * d for k in (1, 3, 5, 8, 12)]
    exact = [float(enclose_spectral_cdf(d, s, symmetric=symmetric).midpoint) for s in thresholds]
    got = law.spectral_norm_cdf(d, [float(s) for s in thresholds], symmetric)
    np.testing.assert_allclose(got, exact, rtol=0, atol=3e-15)


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
    # P(Gamma(k) ≤ t) = P(Poisson(t) ≥ k)
    k = free_entries(d, symmetric)
    for t in (0.3 * k, k, 2.5 * k):
        at_least_k = 1 - sum(math.exp(-t + j * math.log(t) - math.lgamma(j + 1)) for j in range(k))
        assert float(law.nuclear_norm_cdf(d, t, symmetric)) == pytest.approx(at_least_k, abs=1e-14)


# Quantiles

# Quantiles of ‖Z‖/d at 1, 50, 95 and 99 %, computed independently (in high-precision arithmetic up to d = 40)
TABLE = {
    1: (0.01005034, 0.69314718, 2.99573227, 4.60517019),
    2: (0.32609858, 1.51083293, 3.31997761, 4.37101438),
    3: (0.72036124, 1.90065771, 3.37347047, 4.17945624),
    5: (1.25631075, 2.27425589, 3.37612194, 3.94939493),
    10: (1.87441222, 2.61269991, 3.33445086, 3.69409891),
    20: (2.31768186, 2.81932216, 3.28389394, 3.50938937),
    50: (2.68620572, 2.97338195, 3.22944480, 3.35125347),
    100: (2.85333731, 3.03824561, 3.20055766, 3.27709128),
    200: (2.95979424, 3.07784171, 3.18047458, 3.22860021),
}


@pytest.mark.thorough
@pytest.mark.parametrize("d", TABLE)
def test_the_quantiles_are_those_of_the_table(d: int) -> None:
    quantiles = [law.spectral_norm_quantile(d, p) / d for p in (0.01, 0.5, 0.95, 0.99)]
    assert quantiles == pytest.approx(TABLE[d], rel=0, abs=6e-9)


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
    """Return F₁(s) = det(1 − B) on (0, ∞), B(x, y) = Ai(x + y + s) (Ferrari–Spohn 2005), by Gauss–Legendre
    (Bornemann).
    """
    nodes, weights = np.polynomial.legendre.leggauss(60)
    x, root = 8 * (nodes + 1), np.sqrt(8 * weights)
    kernel = airy(x[:, None] + x + s)[0] * root[:, None] * root
    return float(np.linalg.det(np.eye(len(x)) - kernel))


def test_the_tracy_widom_oracle_has_its_tabulated_quantiles() -> None:
    # percentage points of the TW₁ law: .4501, .9793, 2.0234 (Johnstone 2001, Table 2)
    assert [tracy_widom_cdf(s) for s in (0.4501, 0.9793, 2.0234)] == pytest.approx([0.90, 0.95, 0.99], abs=1e-5)


@pytest.mark.parametrize(
    ("d", "full_error", "symmetric_error"), [(50, 5e-4, 6e-4), (100, 2e-4, 3e-4), (200, 1e-4, 1e-4)]
)
def test_medians_follow_the_tracy_widom_law_at_the_edge(d: int, full_error: float, symmetric_error: float) -> None:
    # full: π(d − 1/4 − ln 2/(2π)) + (π/2) d^{1/3} TW₁. Symmetric: π d/2 − ln 2/2 + π/16^{1/3} d^{1/3} TW₁ at both
    # ends of the spectrum, which are independent in the limit: the median of the larger of two.
    one_edge = brentq(lambda s: tracy_widom_cdf(s) - 0.5, -4, 2)
    two_edges = brentq(lambda s: tracy_widom_cdf(s) ** 2 - 0.5, -4, 2)
    full = math.pi * (d - 0.25 - math.log(2) / (2 * math.pi)) + math.pi / 2 * d ** (1 / 3) * one_edge
    symmetric = math.pi / 2 * d - math.log(2) / 2 + math.pi / 16 ** (1 / 3) * d ** (1 / 3) * two_edges
    assert law.spectral_norm_quantile(d, 0.5) == pytest.approx(full, rel=full_error)
    assert law.spectral_norm_quantile(d, 0.5, True) == pytest.approx(symmetric, rel=symmetric_error)
    unshifted = full + math.pi / 4 + math.log(2) / 2  # a mutant: the edge at πd
    assert law.spectral_norm_quantile(d, 0.5) != pytest.approx(unshifted, rel=full_error)


# Moments


@pytest.mark.parametrize(("d", "ratio"), [(10, 1.70135), (20, 1.67394), (100, 1.65088)])
def test_the_mean_squared_frobenius_norm_grows_like_the_cube(d: int, ratio: float) -> None:
    # an independently computed table; the limit is π²/6 with the correction .363/d
    value = law.mean_power_sum(d, 2) / d**3
    assert value == pytest.approx(ratio, abs=6e-6)
    assert value == pytest.approx(math.pi**2 / 6 * (1 + 0.363 / d), rel=0.3 / d**2)


# The sampler


@lru_cache
def spectra(d: int, symmetric: bool, draws: int) -> Matrix:
    return law.sample_spectrum(d, np.random.default_rng(1000 + d), draws, symmetric)


@lru_cache
def spectral_grid(d: int, symmetric: bool) -> tuple[Vector, Vector]:
    """Return 300 thresholds over the whole law, and P(‖Z‖ ≤ threshold).

    The enclosure of the law in other tests confirms these probabilities.
    """
    low, high = (law.spectral_norm_quantile(d, p, symmetric) for p in (1e-4, 1 - 1e-4))
    thresholds = np.linspace(low, high, 300)
    return thresholds, law.spectral_norm_cdf(d, thresholds, symmetric)


def grid_p_value(values: Vector, thresholds: Vector, probabilities: Vector) -> float:
    below = np.searchsorted(np.sort(values), thresholds, side="right") / len(values)
    return float(stats.kstwo.sf(np.abs(below - probabilities).max(), len(values)))


def spectral_p_value(spectrum: Matrix, d: int, symmetric: bool) -> float:
    return grid_p_value(np.abs(spectrum).max(axis=1), *spectral_grid(d, symmetric))


def nuclear_p_value(spectrum: Matrix, d: int, symmetric: bool) -> float:
    gamma = stats.gamma(free_entries(d, symmetric))  # d² or d(d + 1)/2, DN25 Lemma 4
    return kolmogorov_smirnov(np.abs(spectrum).sum(axis=1), gamma.cdf, "Gamma").p_value


SAMPLES = pytest.mark.parametrize(
    ("d", "draws"),
    [
        *((1, 20_000), (2, 20_000), (3, 20_000), (5, 2_000), (8, 500)),
        *(pytest.param(d, draws, marks=SLOW) for d, draws in ((3, 100_000), (8, 20_000), (20, 20_000), (60, 2_000))),
    ],
)


@pytest.mark.thorough
@KINDS
@SAMPLES
def test_the_spectral_norm_of_draws_follows_its_exact_law(d: int, draws: int, symmetric: bool) -> None:
    assert spectral_p_value(spectra(d, symmetric, draws), d, symmetric) > FALSE_ALARM


@pytest.mark.thorough
@KINDS
@SAMPLES
def test_the_nuclear_norm_of_draws_follows_its_gamma_law(d: int, draws: int, symmetric: bool) -> None:
    assert nuclear_p_value(spectra(d, symmetric, draws), d, symmetric) > FALSE_ALARM


@KINDS
@pytest.mark.parametrize(("d", "draws"), [(2, 20_000), (3, 20_000), pytest.param(8, 20_000, marks=SLOW)])
def test_the_radius_is_independent_of_the_shape(d: int, draws: int, symmetric: bool) -> None:
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


# Matrices


@lru_cache
def matrices(d: int, symmetric: bool) -> Matrix:
    return law.sample(d, np.random.default_rng(77), 20_000 if d == 2 else 5_000, symmetric)


def invariant_p_values(z: Matrix) -> dict[str, float]:
    """Test the invariance of full noise: UZVᵀ has the law of Z, so entries, forms ⟨a, Zb⟩ and signs must agree."""
    half = len(z) // 2
    first, second = z[:half], z[half : 2 * half]
    a, b = (v / np.linalg.norm(v) for v in np.random.default_rng(2).standard_normal((2, z.shape[-1])))
    positive = int((np.trace(z, axis1=1, axis2=2) > 0).sum())
    return {
        "corner against generic form": two_sample(first[:, 0, 0], second @ b @ a, "").p_value,
        "diagonal against off-diagonal": two_sample(first[:, 0, 0], second[:, 0, 1], "").p_value,
        "entry against transposed entry": two_sample(first[:, 0, 1], second[:, 1, 0], "").p_value,
        "sign of the trace": binomial(positive, len(z), 0.5, "").p_value,
    }


@pytest.mark.thorough
@pytest.mark.parametrize("d", [2, 3])
def test_full_noise_is_invariant_under_rotations_on_both_sides(d: int) -> None:
    p_values = invariant_p_values(matrices(d, False))
    assert min(p_values.values()) > FALSE_ALARM, p_values


@pytest.mark.thorough
@pytest.mark.parametrize("d", [2, 3])
def test_symmetric_noise_is_invariant_under_conjugation(d: int) -> None:
    z = matrices(d, True)
    half = len(z) // 2
    a, b = np.linalg.qr(np.random.default_rng(2).standard_normal((d, d)))[0][:2]
    pairs = {"diagonal": (z[:half, 0, 0], (z[half:] @ a) @ a), "off-diagonal": (z[:half, 0, 1], (z[half:] @ a) @ b)}
    for name, (ours, theirs) in pairs.items():
        assert two_sample(ours, theirs, name).p_value > FALSE_ALARM
    positive = int((np.trace(z, axis1=1, axis2=2) > 0).sum())
    assert binomial(positive, len(z), 0.5, "sign of the trace").p_value > FALSE_ALARM


@KINDS
@pytest.mark.parametrize("d", [2, 3])
def test_matrices_have_the_exact_laws_of_their_norms(d: int, symmetric: bool) -> None:
    z = matrices(d, symmetric)
    singular_values = np.linalg.svd(z, compute_uv=False)
    assert spectral_p_value(singular_values, d, symmetric) > FALSE_ALARM
    assert nuclear_p_value(singular_values, d, symmetric) > FALSE_ALARM


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
