"""Test the Pfaffian ensemble against closed forms, rational computations and interval arithmetic, and test its sampler.

Statistical tests have fixed seeds. With a random seed, each test of a correct law would raise a false alarm with
probability at most 1e-9, because the p-values are exact or conservative.
"""

import copy
import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from covassay.reference.errors import InvalidInput
from covassay.reference.laws import nuclear_laplace, pfaffian_chains
from covassay.reference.laws.pfaffian_chains import sample_points
from covassay.reference.laws.pfaffian_ensemble import PfaffianEnsemble, pfaffian_ensemble
from covassay.verification.exact import gamma_mixture
from covassay.verification.exact.spectral_cdf import (
    enclose_spectral_cdf,
    enclose_spectral_survival,
    moment_powers,
    whole_pfaffian,
)
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, Vector

KINDS = pytest.mark.parametrize("half_line", [True, False], ids=["half line", "full line"])
SIZES = pytest.mark.parametrize("points", [1, 2, 3, 4, 5, 8, 13])


# The basis and the kernel


@KINDS
@SIZES
def test_the_basis_is_orthonormal(points: int, half_line: bool) -> None:
    """Test that the basis functions are orthonormal under the quadrature rule."""
    law = pfaffian_ensemble(points, half_line=half_line)
    weighted = (law.phi * law.panels.weights).reshape(points, -1)
    np.testing.assert_allclose(weighted @ law.phi.reshape(points, -1).T, np.eye(points), atol=1e-12)


@KINDS
@SIZES
def test_the_kernel_inverts_a_skew_matrix(points: int, half_line: bool) -> None:
    law = pfaffian_ensemble(points, half_line=half_line)
    assert law.order == points + points % 2
    np.testing.assert_array_equal(law.skew, -law.skew.T)
    np.testing.assert_array_equal(law.kernel, -law.kernel.T)
    np.testing.assert_allclose(law.kernel @ law.skew, np.eye(law.order), atol=1e-11)


@KINDS
def test_odd_numbers_of_points_get_a_border(half_line: bool) -> None:
    matrix, border = np.array([[0.0]]), np.array([2.0])
    odd, even = (pfaffian_ensemble(n, half_line=half_line) for n in (1, 2))
    np.testing.assert_array_equal(odd.bordered(matrix, border), [[0, 2], [-2, 0]])
    np.testing.assert_array_equal(even.bordered(matrix, border), [[0]])


# The one-point density


def one_point_by_hand(points: int, half_line: bool, x: Vector) -> Vector:
    """Return the one-point density ρ₁ for N = 1 or 2 points, computed by hand.

    For N = 2 on the half line, ρ₁ = (2/3) e^{−x} ∫ |x² − y²| e^{−y} dy, because ∬ |x² − y²| e^{−x−y} dx dy = 3. The
    integral over y is x² − 2 + (2x + 2) e^{−x} from 0 to x, and (2x + 2) e^{−x} from x on. For N = 2 on the full line,
    ρ₁ = (2/6) e^{−|x|} ∫ |x − y| e^{−|y|} dy, and the integral is 2(|x| + e^{−|x|}).
    """
    s = np.abs(x)
    if points == 1:
        return np.exp(-s) / (1 if half_line else 2)
    if half_line:
        return 2 / 3 * np.exp(-s) * (s**2 - 2 + 4 * (s + 1) * np.exp(-s))
    return 2 / 3 * np.exp(-s) * (s + np.exp(-s))


@KINDS
@pytest.mark.parametrize("points", [1, 2])
def test_the_one_point_density_has_its_closed_form(points: int, half_line: bool) -> None:
    law = pfaffian_ensemble(points, half_line=half_line)
    expected = one_point_by_hand(points, half_line, law.panels.nodes)
    np.testing.assert_allclose(law.one_point_density, expected, atol=1e-13)


@KINDS
@pytest.mark.parametrize("points", [1, 2, 3, 7, 20, 51, 100])
def test_the_one_point_density_integrates_to_the_number_of_points(points: int, half_line: bool) -> None:
    law = pfaffian_ensemble(points, half_line=half_line)
    assert law.mean_power_sum(0) == pytest.approx(points, rel=1e-12)
    assert law.one_point_density.min() > -1e-11


@KINDS
@pytest.mark.parametrize("points", [1, 2, 3, 7, 20, 51, 100])
def test_the_mean_sum_is_the_dimension_of_the_matrix_space(points: int, half_line: bool) -> None:
    # Scaling x in the integral of the density shows that Σ|x_i| has the law Gamma(N²) or Gamma(N(N + 1)/2).
    dimension = points**2 if half_line else points * (points + 1) // 2
    assert pfaffian_ensemble(points, half_line=half_line).mean_power_sum(1) == pytest.approx(dimension, rel=1e-12)


@KINDS
@pytest.mark.parametrize("points", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("power", [2, 3, 4, 7])
def test_power_sums_agree_with_the_rational_mixture(points: int, power: int, half_line: bool) -> None:
    exact = gamma_mixture.mean_power_sum(points, power, symmetric=not half_line)
    law = pfaffian_ensemble(points, half_line=half_line)
    assert law.mean_power_sum(power) == pytest.approx(float(exact), rel=1e-12)


def test_fractional_powers_are_gamma_functions_for_one_point() -> None:
    # The integral ∫ √x e^{−x} dx is Γ(3/2) = √π/2. Quadrature is less precise because √x is not smooth at 0.
    law = pfaffian_ensemble(1, half_line=True)
    assert law.mean_power_sum(0.5) == pytest.approx(math.sqrt(math.pi) / 2, rel=1e-4)
    assert law.mean_power_sum(2.5) == pytest.approx(math.gamma(3.5), rel=1e-9)


@pytest.mark.parametrize("power", [-1, -1e-9, math.nan, math.inf])
def test_a_power_that_is_negative_or_not_finite_is_refused(power: float) -> None:
    with pytest.raises(InvalidInput, match="power = "):
        pfaffian_ensemble(2, half_line=True).mean_power_sum(power)


# The normaliser and the joint density


def exact_log_normalizer(points: int, half_line: bool) -> float:
    """Return the logarithm of the normaliser, N! times a Pfaffian, from a computation with fractions. The computation
    divides each power x^a by a!, and this division is undone here."""
    powers = moment_powers(points, symmetric=not half_line)
    value = whole_pfaffian(powers, symmetric=not half_line)
    factorials = sum(math.lgamma(a + 1) for a in powers)
    return math.log(value.numerator) - math.log(value.denominator) + factorials + math.lgamma(points + 1)


@KINDS
@pytest.mark.parametrize("points", [1, 2, 3, 4, 5, 8, 12, 20])
def test_the_normaliser_agrees_with_rational_arithmetic(points: int, half_line: bool) -> None:
    law = pfaffian_ensemble(points, half_line=half_line)
    assert law.log_normalizer == pytest.approx(exact_log_normalizer(points, half_line), rel=1e-14, abs=1e-14)


def test_the_joint_density_agrees_with_a_hand_calculation() -> None:
    half, full = (pfaffian_ensemble(2, half_line=h) for h in (True, False))
    # By hand, the two densities are |4 − 1| e^{−3}/3 and |2 + 1| e^{−3}/6.
    assert half.log_density(np.array([[2.0, 1.0]])) == pytest.approx([-3.0], abs=1e-14)
    assert full.log_density(np.array([[2.0, -1.0]])) == pytest.approx([-3.0 - math.log(2)], abs=1e-14)
    # By hand, the density of three points is |1 − 4| |1 − 9| |4 − 9| e^{−6}/(3! · 69/4), where the product is 120.
    three = pfaffian_ensemble(3, half_line=True)
    assert three.log_density(np.array([[1.0, 2.0, 3.0]])) == pytest.approx([math.log(120 / 103.5) - 6], abs=1e-13)


# The largest point


@pytest.mark.thorough
@KINDS
@pytest.mark.parametrize("points", [1, 2, 3, 4, 5, 6, 7, 8, 13, 20])
def test_the_largest_point_follows_the_enclosed_law(points: int, half_line: bool) -> None:
    law = pfaffian_ensemble(points, half_line=half_line)
    # Values of s from 0.2 N to 5 N cover the bulk and both tails.
    for k in (1, 4, 7, 10, 14, 25) if points < 20 else (7, 14):
        s = Fraction(k, 5) * points
        below = enclose_spectral_cdf(points, s, symmetric=not half_line)
        above = enclose_spectral_survival(points, s, symmetric=not half_line)
        assert law.largest_cdf(float(s)) == pytest.approx(float(below.midpoint), rel=0, abs=3e-15)
        assert law.largest_survival(float(s)) == pytest.approx(float(above.midpoint), rel=0, abs=1e-13)


@KINDS
@pytest.mark.parametrize("points", [2, 5, 10])
def test_the_upper_tail_keeps_relative_accuracy_down_to_one_in_a_billion(points: int, half_line: bool) -> None:
    law = pfaffian_ensemble(points, half_line=half_line)
    s = Fraction(next(s for s in range(1, 200) if law.largest_survival(float(s)) < 1e-8))
    exact = enclose_spectral_survival(points, s, symmetric=not half_line)
    assert 1e-10 < float(exact.midpoint) < 1e-8
    assert law.largest_survival(float(s)) == pytest.approx(float(exact.midpoint), rel=1e-4)


@KINDS
@pytest.mark.parametrize("points", [1, 2, 3])
def test_the_law_of_the_largest_point_ends_where_the_panels_end(points: int, half_line: bool) -> None:
    law = pfaffian_ensemble(points, half_line=half_line)
    end = float(law.panels.edges[-1])
    for s, below in ((-1.0, 0.0), (0.0, 0.0), (end, 1.0), (math.inf, 1.0)):
        assert law.largest_cdf(s) == below
        assert law.largest_survival(s) == 1 - below


# The sampler


@KINDS
@pytest.mark.parametrize("points", [1, 2, 5])
def test_tuples_come_in_the_stated_shape_also_across_blocks(points: int, half_line: bool) -> None:
    law = pfaffian_ensemble(points, half_line=half_line)
    drawn = sample_points(law, 515, np.random.default_rng(0))  # the sampler draws blocks of 512 tuples
    assert drawn.shape == (515, points)
    assert sample_points(law, 0, np.random.default_rng(0)).shape == (0, points)
    assert (drawn > 0).all() == half_line
    again = sample_points(law, 515, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn, again)


def test_one_point_is_drawn_by_inversion_of_the_exponential_law() -> None:
    law = pfaffian_ensemble(1, half_line=True)
    drawn = sample_points(law, 500, np.random.default_rng(2))[:, 0]
    uniforms = np.random.default_rng(2).random(500)
    np.testing.assert_allclose(drawn, -np.log1p(-uniforms), atol=1e-12)


@pytest.mark.parametrize("half_line", [True, False], ids=["half line", "full line"])
def test_one_of_two_points_follows_the_law_calculated_by_hand(half_line: bool) -> None:
    # The two distribution functions are integrals of the densities in `one_point_by_hand`, divided by 2.
    # An antiderivative of (x² − 2) e^{−x} is −(x² + 2x) e^{−x}, and an antiderivative of 4(x + 1) e^{−2x} is −(2x + 3)
    # e^{−2x}.
    # The integral of (x + e^{−x}) e^{−x} over x > 0 is 1 + 1/2.
    def half(x: Vector) -> Vector:
        return (3 - (x**2 + 2 * x) * np.exp(-x) - (2 * x + 3) * np.exp(-2 * x)) / 3

    def full(x: Vector) -> Vector:
        s = np.abs(x)
        return 0.5 + np.sign(x) * (1.5 - (s + 1) * np.exp(-s) - np.exp(-2 * s) / 2) / 3

    drawn = sample_points(pfaffian_ensemble(2, half_line=half_line), 10_000, np.random.default_rng(4))
    for column in drawn.T:
        p_value = kolmogorov_smirnov(column, half if half_line else full, "one of two").p_value
        assert p_value > FALSE_ALARM


# The steps of the sampler


@KINDS
@pytest.mark.parametrize("points", [2, 3, 8, 20, 50, 100, 300])
def test_the_panels_end_where_the_mass_beyond_is_negligible(points: int, half_line: bool) -> None:
    end = float(nuclear_laplace.ensemble(points, symmetric=not half_line).panels.edges[-1])
    assert nuclear_laplace.spectral_norm_tail_bound(points, end, symmetric=not half_line) < 1e-20


@pytest.mark.parametrize(
    ("half_line", "tuples"),
    [
        pytest.param(True, [[3.40710221242, 0.505828253699, 0.349304288069]], id="half line"),
        pytest.param(False, [[0.680087079765, -1.97358499967, -4.96316825081]], id="full line"),
    ],
)
def test_a_seed_gives_these_draws(half_line: bool, tuples: list[list[float]]) -> None:
    """Test that a seed gives the same draws as in earlier versions."""
    drawn = sample_points(pfaffian_ensemble(3, half_line=half_line), 1, np.random.default_rng(0))
    np.testing.assert_allclose(drawn, tuples, rtol=1e-10)


# The sampler's estimate of its own error


@KINDS
@pytest.mark.parametrize("points", [1, 2, 3, 8, 20])
def test_the_certificate_of_ordinary_draws_is_tiny(points: int, half_line: bool) -> None:
    """Test that the estimated error of correct draws is tiny."""
    law = pfaffian_ensemble(points, half_line=half_line)
    chain = pfaffian_chains.Chains(law, 50)
    rng = np.random.default_rng(6)
    for _ in range(points):
        chain.draw(rng.random(50))
    error = pfaffian_chains.discrepancy(law, chain.points, chain.log_intensity)
    assert np.median(error) < 1e-10
    assert error.max() < 1e-8


@KINDS
def test_the_certificate_sees_a_point_that_moved(half_line: bool) -> None:
    law = pfaffian_ensemble(3, half_line=half_line)
    chain = pfaffian_chains.Chains(law, 20)
    rng = np.random.default_rng(7)
    for _ in range(3):
        chain.draw(rng.random(20))
    moved = chain.points + np.array([0.0, 0.0, 1e-3])
    assert (pfaffian_chains.discrepancy(law, moved, chain.log_intensity) > 1e-6).all()


def damaged(points: int, half_line: bool, attribute: str, factor: NDArray[np.float64] | float) -> PfaffianEnsemble:
    """Return a copy of the ensemble in which one attribute is multiplied by `factor`, and all others are unchanged."""
    law = copy.copy(pfaffian_ensemble(points, half_line=half_line))
    for name in ("skew", "kernel", "e_nodes", "log_normalizer", "one_point_density"):
        law.__dict__[name] = getattr(law, name)
    law.__dict__[attribute] = law.__dict__[attribute] * factor
    return law


@pytest.mark.parametrize(
    "attribute",
    [
        pytest.param("kernel", id="a kernel off by a part in a thousand"),
        pytest.param("log_normalizer", id="a normaliser off by a part in a thousand"),
    ],
)
@KINDS
def test_a_damaged_ensemble_cannot_be_sampled(attribute: str, half_line: bool) -> None:
    with pytest.raises(ArithmeticError, match=r"exact sampler: log-density discrepancy .* in dimension 3"):
        sample_points(damaged(3, half_line, attribute, 1.001), 20, np.random.default_rng(8))


@pytest.mark.parametrize("points", [0, -1, 2.0, True])
def test_a_bad_number_of_points_is_refused(points: int) -> None:
    with pytest.raises(InvalidInput, match="points = "):
        PfaffianEnsemble(points, half_line=True)
