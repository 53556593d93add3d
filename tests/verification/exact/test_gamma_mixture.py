"""Test the mixture of Gamma laws against hand calculations, Gauss–Laguerre quadrature and proven enclosures.

The statistical tests use the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant. With n draws,
P(sup |F_n − F| > ε) ≤ 2 exp(−2 n ε²). The constant `ALLOWED` is the ε for a false-alarm probability of 1e-9.
"""

from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import log, prod, sqrt

import numpy as np
import pytest
from scipy import stats

from covassay.reference.domain import Matrix, Number
from covassay.reference.errors import InvalidInput
from covassay.verification.exact.gamma_mixture import gap_polynomial, mean_power_sum, mean_square, normalizer, sample
from covassay.verification.exact.spectral_cdf import enclose_spectral_cdf, moment_powers, whole_pfaffian
from tests.conventions import FALSE_ALARM

KINDS = pytest.mark.parametrize("symmetric", [False, True], ids=["full", "symmetric"])
DRAWS = 100_000
ALLOWED = sqrt(log(2 / FALSE_ALARM) / (2 * DRAWS))  # 0.0104


# Polynomials


def test_small_polynomials_are_those_worked_out_by_hand() -> None:
    assert gap_polynomial(1) == {(0,): 1}
    # By hand, with s_1 = g_1 + g_2 and s_2 = g_2, the product (s_1 - s_2)(s_1 + s_2) is g_1 (g_1 + 2 g_2).
    assert gap_polynomial(2) == {(2, 0): 1, (1, 1): 2}
    assert gap_polynomial(2, (1, 1)) == {(1, 0): 1}
    assert gap_polynomial(2, (-1, 1)) == {(1, 0): 1, (0, 1): 2}


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5])
def test_the_polynomial_takes_the_values_of_the_product(dimension: int) -> None:
    # Integer arithmetic is exact. The gaps are different primes, so that a misplaced exponent changes the value.
    gaps = [3, 2, 7, 5, 11][:dimension]
    s = [sum(gaps[i:]) for i in range(dimension)]
    pairs = [(i, j) for i in range(dimension) for j in range(i + 1, dimension)]

    def value(signs: tuple[int, ...] | None) -> int:
        terms = gap_polynomial(dimension, signs).items()
        return sum(c * prod(g**n for g, n in zip(gaps, ns, strict=True)) for ns, c in terms)

    assert value(None) == prod(s[i] ** 2 - s[j] ** 2 for i, j in pairs)
    for signs in product((1, -1), repeat=dimension):
        eigenvalues = [sign * s_i for sign, s_i in zip(signs, s, strict=True)]
        assert value(signs) == abs(prod(eigenvalues[i] - eigenvalues[j] for i, j in pairs))


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5])
def test_every_coefficient_is_a_positive_integer(dimension: int) -> None:
    for coefficient in gap_polynomial(dimension).values():
        assert isinstance(coefficient, int)
        assert coefficient > 0


def test_a_cached_polynomial_cannot_be_changed() -> None:
    """The test fails if a caller can change the cached polynomial for later callers."""
    with pytest.raises(TypeError):
        gap_polynomial(2)[(0, 0)] = 1  # type: ignore[index]


# Exact integrals


def laguerre_integral(dimension: int, power: int | None, *, symmetric: bool) -> float:
    """Return by Gauss–Laguerre quadrature the integral of the density times Σ s_i^power, or of the density if `power`
    is None.

    The 16 nodes are exact for polynomials of degree 31 in each variable, and here the degree is at most 15.
    """
    nodes, weights = np.polynomial.laguerre.laggauss(16)
    scaled = np.meshgrid(*[nodes] * dimension, indexing="ij")
    weight = prod(np.meshgrid(*[weights] * dimension, indexing="ij"))
    gaps = np.array([g / (k + 1) for k, g in enumerate(scaled)])
    jacobian = 1 / prod(range(1, dimension + 1))
    s = np.cumsum(gaps[::-1], axis=0)[::-1]
    i, j = np.triu_indices(dimension, 1)
    if symmetric:
        patterns = (np.array(p) for p in product((1, -1), repeat=dimension))
        lines = (s * p.reshape(-1, *[1] * dimension) for p in patterns)
        density = sum(np.abs((eigen[i] - eigen[j]).prod(axis=0)) for eigen in lines)
    else:
        density = (s[i] ** 2 - s[j] ** 2).prod(axis=0)
    factor = 1 if power is None else (s**power).sum(axis=0)
    return float((weight * density * factor).sum()) * jacobian


@pytest.mark.parametrize(
    ("dimension", "symmetric", "expected"),
    [
        (1, False, Fraction(1)),  # ∫_0^∞ e^{-s} ds
        (2, False, Fraction(3, 2)),  # the integral of g_1² + 2 g_1 g_2 is 2 · 1/2 + 2 · 1 · 1/4
        (3, False, Fraction(69, 4)),  # a value that was derived by hand
        (4, False, Fraction(59535, 16)),  # a value that was derived by hand
        (1, True, Fraction(2)),  # ∫ e^{-|l|} dl
        (2, True, Fraction(3)),  # a value that was derived by hand, as 2 · 1/2 + 2 (1/2 + 2 · 1/4)
        (3, True, Fraction(7)),  # a value that was computed by this code, and that quadrature confirms independently
        # a value that was computed by this code, and that quadrature confirms independently
        (4, True, Fraction(153, 4)),
    ],
)
def test_the_normaliser_has_its_known_values(dimension: int, symmetric: bool, expected: Fraction) -> None:
    assert normalizer(dimension, symmetric=symmetric) == expected
    by_quadrature = laguerre_integral(dimension, None, symmetric=symmetric)
    assert float(expected) == pytest.approx(by_quadrature, rel=1e-10)


@KINDS
@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
@pytest.mark.parametrize("power", [1, 2, 3, 4, 6])
def test_power_sums_agree_with_quadrature(dimension: int, power: int, symmetric: bool) -> None:
    """The test fails if an exact mean of a power sum disagrees with quadrature."""
    ratio = laguerre_integral(dimension, power, symmetric=symmetric) / laguerre_integral(
        dimension, None, symmetric=symmetric
    )
    moment = mean_power_sum(dimension, power, symmetric=symmetric)
    assert float(moment) == pytest.approx(ratio, rel=1e-10)


@pytest.mark.thorough
def test_the_largest_dimension_has_the_normaliser_of_de_bruijn() -> None:
    powers = moment_powers(6, symmetric=False)
    factorials = prod(prod(range(1, a + 1)) for a in powers)
    assert normalizer(6) == whole_pfaffian(powers, symmetric=False) * factorials


# Draws


@lru_cache
def drawn(dimension: int, symmetric: bool) -> Matrix:
    return sample(dimension, DRAWS, np.random.default_rng(7), symmetric=symmetric)


@lru_cache
def enclosed_cdf(dimension: int, symmetric: bool) -> tuple[tuple[float, float], ...]:
    """Return the pairs (s, P(‖Z‖_op ≤ s)) for s = d/4, 2d/4, …, 4d, where d is the dimension."""
    multiples = [Fraction(k, 4) for k in range(1, 17)]
    return tuple(
        (float(m * dimension), float(enclose_spectral_cdf(dimension, m * dimension, symmetric=symmetric).midpoint))
        for m in multiples
    )


def largest_deviation(spectra: Matrix, dimension: int, symmetric: bool) -> float:
    norms = np.abs(spectra).max(axis=1)
    return max(abs(float((norms <= s).mean()) - p) for s, p in enclosed_cdf(dimension, symmetric))


@KINDS
@pytest.mark.parametrize("dimension", [1, 2, 3, 5])
def test_draws_are_ordered_and_have_the_stated_shape(dimension: int, symmetric: bool) -> None:
    spectra = drawn(dimension, symmetric)
    assert spectra.shape == (DRAWS, dimension)
    assert (np.diff(np.abs(spectra), axis=1) <= 0).all()
    assert (spectra < 0).any() == symmetric


@KINDS
@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5])
def test_the_operator_norm_follows_the_enclosed_law(dimension: int, symmetric: bool) -> None:
    # The false-alarm probability is at most 1e-9, by the inequality of Dvoretzky, Kiefer and Wolfowitz.
    assert largest_deviation(drawn(dimension, symmetric), dimension, symmetric) <= ALLOWED


@KINDS
@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5])
def test_the_nuclear_norm_follows_its_gamma_law(dimension: int, symmetric: bool) -> None:
    # The statistic of kstest is sup |F_n - F|, so the false-alarm probability is at most 1e-9.
    space = dimension * (dimension + 1) // 2 if symmetric else dimension**2
    nuclear_norms = np.abs(drawn(dimension, symmetric)).sum(axis=1)
    assert stats.kstest(nuclear_norms, stats.gamma(space).cdf).statistic <= ALLOWED


# Bad arguments


@pytest.mark.parametrize(
    "function",
    [gap_polynomial, normalizer, mean_square, lambda d: sample(d, 1, np.random.default_rng(0))],
    ids=["gap_polynomial", "normalizer", "mean_square", "sample"],
)
@pytest.mark.parametrize(
    ("dimension", "message"),
    [
        (0, "dimension = 0: must be at least 1"),
        (7, "dimension = 7: must be at most 6"),
        (2.0, "dimension = 2.0: must be a whole number"),
        (True, "dimension = True: must be a whole number"),
        ("3", "dimension = '3': must be a whole number"),
    ],
)
def test_a_bad_dimension_is_refused(function: Number, dimension: Number, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        function(dimension)


@pytest.mark.parametrize("power", [-1, 1.0, True])
def test_a_bad_power_is_refused(power: Number) -> None:
    with pytest.raises(InvalidInput, match=f"power = {power!r}: must be a whole number"):
        mean_power_sum(2, power)


@pytest.mark.parametrize("size", [0, -3, 2.5])
def test_a_bad_size_is_refused(size: Number) -> None:
    with pytest.raises(InvalidInput, match=f"size = {size!r}: must be"):
        sample(2, size, np.random.default_rng(0))


@pytest.mark.parametrize("signs", [(1,), (1, 0), (1, -1, 1)])
def test_bad_signs_are_refused(signs: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match=r"signs = .*: must be 2 numbers 1 or -1"):
        gap_polynomial(2, signs)
