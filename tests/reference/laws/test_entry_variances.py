"""Test the variances of the entries of noise matrices against exact integrals, sums and draws."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from numpy.typing import NDArray

from covassay.reference.laws import discrete_laplace, entry_variances, k_norm

Array = NDArray[np.float64]
LEVEL = 6.5  # number of standard errors; a comparison fails by chance with probability below 1e-10
DRAWS = 60_000


def spectral_moments(d: int) -> tuple[Fraction, Fraction]:
    """Return E Σ λ_i² and E (Σ λ_i)² as fractions, for a density proportional to ∏|λ_i − λ_j| e^{−Σ|λ_i|}.

    For λ_1 > … > λ_d the product needs no absolute values. Let k of the λ_i be positive, and sum the integrals over k.
    The new variables u_j > 0 are the gaps between neighbours among 0 and the λ_i. Every |λ_i| is the sum of the gaps
    between 0 and λ_i, so that Σ|λ_i| is a sum of gaps with integer coefficients. So every integral is a sum of products
    of terms ∫ u^a e^{−ju} du = a!/j^{a+1}.
    """
    totals = [Fraction(0)] * 3
    for k in range(d + 1):
        gaps = sympy.symbols(f"u1:{d + 1}")
        weights = [*range(1, k + 1), *range(1, d - k + 1)]
        above = [sum(gaps[i:k]) for i in range(k)]
        below = [-sum(gaps[k + i : d]) for i in range(d - k)]
        values = [*above, *below[::-1]]
        vandermonde = sympy.prod(values[i] - values[j] for i in range(d) for j in range(i + 1, d))
        for m, moment in enumerate((sympy.Integer(1), sum(v**2 for v in values), sum(values) ** 2)):
            for powers, factor in sympy.Poly(vandermonde * moment, *gaps).terms():
                term = Fraction(int(factor))
                for power, weight in zip(powers, weights, strict=True):
                    term *= Fraction(math.factorial(power), weight ** (power + 1))
                totals[m] += term
    return totals[1] / totals[0], totals[2] / totals[0]


@pytest.mark.parametrize("d", [1, 2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_symmetric_nuclear_laplace_noise_has_the_exact_moments_of_its_eigenvalues(d: int) -> None:
    square, trace_square = spectral_moments(d)
    variances = entry_variances.of_nuclear_laplace(d, symmetric=True)
    assert variances.sum() == pytest.approx(float(square), rel=1e-12)
    if d == 1:
        assert square == trace_square == 2
        return
    # Let A be the variance on the diagonal and B that off the diagonal.
    # Then E tr Z² = d A + d(d − 1) B, and E (tr Z)² = Σ_ij E Z_ii Z_jj = d A + d(d − 1)(A − 2B).
    a, b = variances[0, 0], variances[0, 1]
    assert d * a + d * (d - 1) * (a - 2 * b) == pytest.approx(float(trace_square), rel=1e-12)
    assert np.array_equal(variances, np.where(np.eye(d) == 1, a, b))


def test_full_nuclear_laplace_noise_has_equal_variances() -> None:
    """Test the variance of an entry for d = 2 against an exact integral over the two singular values, and for d = 1."""
    assert np.allclose(entry_variances.of_nuclear_laplace(2), full_square() / 4, rtol=1e-12)
    assert entry_variances.of_nuclear_laplace(1)[0, 0] == pytest.approx(2.0)


def full_square() -> float:
    """Return E (σ_1² + σ_2²) for two singular values σ_1 > σ_2 with density proportional to (σ_1² − σ_2²) e^{−σ_1 −
    σ_2}. The integral is over u = σ_2 and v = σ_1 − σ_2."""
    u, v = sympy.symbols("u v")
    weight = (u + v) ** 2 - u**2

    def integral(moment: Any) -> Fraction:
        terms = sympy.Poly(weight * moment, u, v).terms()
        return sum(
            (Fraction(int(c) * math.factorial(a) * math.factorial(b), 2 ** (a + 1)) for (a, b), c in terms), Fraction(0)
        )

    return float(integral(u**2 + (u + v) ** 2) / integral(1))


def squares(draws: Array, on_diagonal: bool) -> Array:
    """Return, for every draw, the mean square of the entries on or off the diagonal."""
    d = draws.shape[-1]
    chosen = np.eye(d, dtype=bool) == on_diagonal
    return (draws[:, chosen] ** 2).mean(axis=1)


def fits(found: Array, expected: float) -> bool:
    error = found.std() / math.sqrt(len(found))
    return abs(found.mean() - expected) < LEVEL * error


LAWS: dict[str, tuple[Callable[[np.random.Generator], Array], Callable[[], Array | None]]] = {
    "l1": (lambda rng: k_norm.sample("l1", 3, rng, DRAWS), lambda: entry_variances.of_k_norm("l1", 3)),
    "l2": (lambda rng: k_norm.sample("l2", 3, rng, DRAWS), lambda: entry_variances.of_k_norm("l2", 3)),
    "linf": (lambda rng: k_norm.sample("linf", 3, rng, DRAWS), lambda: entry_variances.of_k_norm("linf", 3)),
}


@pytest.mark.parametrize("name", LAWS)
def test_draws_have_these_variances_and_not_others_by_a_few_per_cent(name: str) -> None:
    draw, variances_of = LAWS[name]
    draws, variances = draw(np.random.default_rng(5)), variances_of()
    assert variances is not None
    for on_diagonal, expected in ((True, variances[0, 0]), (False, variances[0, 1])):
        found = squares(draws, on_diagonal)
        assert fits(found, expected)
        assert not fits(found, 1.06 * expected)  # a scale that is 3 % too large must be rejected
        assert not fits(found, expected / 1.06)


def test_no_variance_is_claimed_for_the_covariance_body() -> None:
    assert entry_variances.of_k_norm("covariance", 3) is None


@pytest.mark.parametrize("scale", [0.05, 0.7, 3.0])
def test_the_discrete_laplace_variance_is_the_sum_over_the_law(scale: float) -> None:
    z = np.arange(-400, 401)
    expected = (z**2 * discrete_laplace.pmf(z, scale)).sum()
    assert entry_variances.discrete_laplace_variance(scale) == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_the_discrete_laplace_variance_does_not_overflow() -> None:
    assert entry_variances.discrete_laplace_variance(1e-4) == 0.0


@pytest.mark.parametrize("squared", [0.1, 1.0, 99.9])
def test_the_discrete_gaussian_variance_is_the_sum_over_the_law(squared: float) -> None:
    with mpmath.workdps(30):
        weights = {z: mpmath.exp(-(mpmath.mpf(z) ** 2) / (2 * mpmath.mpf(squared))) for z in range(-150, 151)}
        expected = float(sum(z**2 * w for z, w in weights.items()) / sum(weights.values()))
    found = entry_variances.discrete_gaussian_variance(squared)
    assert found == pytest.approx(expected, rel=1e-12)
    assert found <= squared * (1 + 1e-12)


def test_the_two_ways_to_the_discrete_gaussian_variance_meet() -> None:
    below, beyond = (entry_variances.discrete_gaussian_variance(100 * (1 + shift)) for shift in (-1e-9, 1e-9))
    assert below == pytest.approx(beyond, rel=1e-8)
