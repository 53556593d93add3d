"""Represent the spectrum of nuclear-Laplace noise for d ≤ 6 as a finite mixture of Gamma laws with rational weights.

The noise Z has density ∝ exp(−‖Z‖_* / ρ) on the d × d matrices (the full kind) or on the symmetric matrices. All
lengths in the following formulas are multiples of ρ. Let g_k = s_k − s_{k+1} be the gaps of the singular values s_1 ≥ …
≥ s_d, with s_{d+1} = 0. Then s_i = Σ_{k≥i} g_k and

    e^{−Σ s_i} = Π_k e^{−k g_k},    s_i − s_j = Σ_{i≤k<j} g_k,    s_i + s_j = s_i − s_j + 2 s_j.

* Full: the density is Π_{i<j} (s_i − s_j)(s_i + s_j) e^{−Σ s_i}.
* Symmetric: give s_i the sign ε_i = ±1 of its eigenvalue. Each of the 2^d sign patterns has the density
  Π_{i<j} |ε_i s_i − ε_j s_j| e^{−Σ s_i} = Π_{i<j} (s_i − ε_i ε_j s_j) e^{−Σ s_i}.

Expanded in the gaps, each product is a polynomial Σ_n c_n Π_k g_k^{n_k} with non-negative integer
coefficients. The terms of this polynomial are unnormalised densities of independent g_k ~ Gamma(1 + n_k, rate k), with
masses

    c_n Π_k n_k! / k^{n_k + 1}.

The law of the spectrum is therefore a mixture of products of Gamma laws whose weights are proportional to these masses.
Computations with this mixture need no special function, no quadrature and no linear algebra. The sum of the exponents
n_k is the same for every term. With L = lcm(1, …, d), every mass is therefore an integer multiple of one number,
L^{−Σ(n_k + 1)}. Only the integer is stored, which is c_n Π_k n_k! (L/k)^{n_k + 1}.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import comb, factorial, lcm, prod
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from covassay.reference.domain import Matrix, require_dimension
from covassay.reference.errors import InvalidInput

LARGEST_DIMENSION = 6  # in dimension 6, the polynomial of the full kind has 104 980 terms

Exponents = tuple[int, ...]
Polynomial = Mapping[Exponents, int]
LinearForm = tuple[int, ...]

# POLYNOMIALS IN THE GAPS


def difference(dimension: int, i: int, j: int) -> LinearForm:
    """Return the coefficients of s_i − s_j in the gaps g_1, …, g_d, for 1 ≤ i < j ≤ d."""
    return tuple(int(i <= k < j) for k in range(1, dimension + 1))


def total(dimension: int, i: int, j: int) -> LinearForm:
    """Return the coefficients of s_i + s_j in the gaps g_1, …, g_d."""
    return tuple(int(i <= k) + int(j <= k) for k in range(1, dimension + 1))


def times(polynomial: Polynomial, form: LinearForm) -> Polynomial:
    """Return the product of a polynomial and a linear form in the gaps."""
    result: dict[Exponents, int] = {}
    for exponents, coefficient in polynomial.items():
        for k, factor in enumerate(form):
            if factor:
                raised = (*exponents[:k], exponents[k] + 1, *exponents[k + 1 :])
                result[raised] = result.get(raised, 0) + factor * coefficient
    return result


def gap_polynomial(dimension: int, signs: tuple[int, ...] | None = None) -> Polynomial:
    """Return the polynomial part of the density, as {(n_1, …, n_d): c_n} with positive integers c_n.

    Parameters
    ----------
    signs : None for the full kind of noise, whose polynomial is Π_{i<j} (s_i − s_j)(s_i + s_j). For the symmetric
        kind, the signs ε_1, …, ε_d of the eigenvalues; the polynomial is then Π_{i<j} (s_i − ε_i ε_j s_j).
    """
    d = _require_small("dimension", dimension)
    if signs is not None and (len(signs) != d or any(sign not in (1, -1) for sign in signs)):
        raise InvalidInput(f"signs = {signs!r}: must be {d} numbers 1 or -1")
    return _expanded(d, None if signs is None else tuple(signs))


@lru_cache
def _expanded(d: int, signs: tuple[int, ...] | None) -> Polynomial:
    if d == 1:
        return MappingProxyType({(0,): 1})
    # the product of all factors that do not contain s_1 is the polynomial of dimension d − 1
    rest = _expanded(d - 1, None if signs is None else signs[1:])
    result: Polynomial = {(0, *exponents): coefficient for exponents, coefficient in rest.items()}
    for j in range(2, d + 1):
        if signs is None or signs[0] == signs[j - 1]:
            result = times(result, difference(d, 1, j))
        if signs is None or signs[0] != signs[j - 1]:
            result = times(result, total(d, 1, j))
    return MappingProxyType(dict(result))


def _require_small(name: str, value: int) -> int:
    dimension = require_dimension(name, value)
    if dimension > LARGEST_DIMENSION:
        raise InvalidInput(f"{name} = {value!r}: must be at most {LARGEST_DIMENSION}")
    return dimension


# THE MIXTURE


@dataclass(frozen=True)
class Mixture:
    """A mixture whose components are products of Gamma laws of the gaps, each with a pattern of signs.

    Attributes
    ----------
    rates : the rates of the Gamma laws of g_1, …, g_d.
    exponents : (components, d), the n_k of Gamma(1 + n_k, rate k).
    signs : (components, d), the signs of the eigenvalues; all 1 for singular values.
    masses : the weights of the components before normalisation, as integer multiples of L^−degree, L = `scale`.
    """

    rates: tuple[int, ...]
    exponents: NDArray[np.int64]
    signs: NDArray[np.int64]
    masses: tuple[int, ...]

    @property
    def scale(self) -> int:
        """Return the number L, which is the least common multiple of the rates of the Gamma laws."""
        return lcm(*self.rates)

    @property
    def degree(self) -> int:
        """Return the number Σ_k (n_k + 1), which is the same for every component of the mixture."""
        return int(self.exponents[0].sum()) + len(self.rates)


def mixture_of(patterns: Mapping[tuple[int, ...], Polynomial], rates: tuple[int, ...]) -> Mixture:
    """Return the mixture whose density on each sign pattern is ∝ polynomial(g) · Π_k e^{−rate_k g_k}.

    The polynomials of all patterns must be homogeneous of the same degree.
    """
    scale = lcm(*rates)
    exponents, signs, masses = [], [], []
    for pattern, polynomial in patterns.items():
        for n, coefficient in polynomial.items():
            gammas = (factorial(n_k) * (scale // rate) ** (n_k + 1) for n_k, rate in zip(n, rates, strict=True))
            exponents.append(n)
            signs.append(pattern)
            masses.append(coefficient * prod(gammas))
    return Mixture(rates, np.array(exponents, dtype=np.int64), np.array(signs, dtype=np.int64), tuple(masses))


@lru_cache
def _mixture(d: int, symmetric: bool) -> Mixture:
    patterns = (
        {signs: gap_polynomial(d, signs) for signs in product((1, -1), repeat=d)}
        if symmetric
        else {(1,) * d: gap_polynomial(d)}
    )
    return mixture_of(patterns, tuple(range(1, d + 1)))


def normalizer(dimension: int, *, symmetric: bool = False) -> Fraction:
    """Return the integral of the unnormalised density over s_1 ≥ … ≥ s_d ≥ 0 or, for symmetric Z, over l_1 ≥ … ≥
    l_d.
    """
    mixture = _mixture(_require_small("dimension", dimension), symmetric)
    return Fraction(sum(mixture.masses), mixture.scale**mixture.degree)


def mean_power_sum(dimension: int, power: int, *, symmetric: bool = False) -> Fraction:
    """Return the mean of Σ_i s_i^p in units of ρ^p for a whole number p ≥ 0, where the s_i are the singular values of
    Z.

    In a component with exponents n, E e^{t s_i} = Π_{k≥i} (1 − t/k)^{−(n_k + 1)}, and E s_i^p is p! times the
    coefficient of t^p in this product. The coefficient of t^m in one factor is C(n_k + m, m) / k^m, which becomes an
    integer if it is multiplied by L^m.
    """
    d = _require_small("dimension", dimension)
    if isinstance(power, bool) or not isinstance(power, int) or power < 0:
        raise InvalidInput(f"power = {power!r}: must be a whole number of at least 0")
    mixture = _mixture(d, symmetric)
    mass_of: Counter[Exponents] = Counter()  # components that differ only in their signs are merged
    for exponents, mass in zip(map(tuple, mixture.exponents.tolist()), mixture.masses, strict=True):
        mass_of[exponents] += mass
    weighted = sum(mass * sum(_moment_coefficients(exponents, mixture, power)) for exponents, mass in mass_of.items())
    return Fraction(factorial(power) * weighted, sum(mixture.masses) * mixture.scale**power)


def _moment_coefficients(exponents: Exponents, mixture: Mixture, power: int) -> Iterator[int]:
    """For one component of the mixture, yield the coefficient of t^p in the power series of E e^{t L s_i}, for i = d,
    …, 1."""
    series = [1] + [0] * power
    for n, rate in zip(reversed(exponents), reversed(mixture.rates), strict=True):
        ratio = mixture.scale // rate
        factor = [comb(n + m, m) * ratio**m for m in range(power + 1)]
        series = [sum(series[j] * factor[m - j] for j in range(m + 1)) for m in range(power + 1)]
        yield series[power]


def mean_square(dimension: int, *, symmetric: bool = False) -> Fraction:
    """Return the mean square E ‖Z‖_F² of the noise, in units of ρ²."""
    return mean_power_sum(dimension, 2, symmetric=symmetric)


def sample(dimension: int, size: int, rng: np.random.Generator, *, symmetric: bool = False) -> Matrix:
    """Draw independent spectra of the noise Z, in units of ρ.

    Returns
    -------
    (size, d) : singular values in descending order; for symmetric Z the eigenvalues, in descending
        order of their absolute values.
    """
    mixture = _mixture(_require_small("dimension", dimension), symmetric)
    return sample_mixture(mixture, require_dimension("size", size), rng)


def sample_mixture(mixture: Mixture, size: int, rng: np.random.Generator) -> Matrix:
    """Draw (size, d) signed values ε_i s_i with s_1 ≥ … ≥ s_d ≥ 0 from the mixture."""
    whole = sum(mixture.masses)
    weights = np.array([mass / whole for mass in mixture.masses])
    component = rng.choice(len(weights), size=size, p=weights / weights.sum())
    gaps = rng.standard_gamma(1.0 + mixture.exponents[component]) / np.array(mixture.rates)
    spectra: Matrix = np.cumsum(gaps[:, ::-1], axis=1)[:, ::-1] * mixture.signs[component]
    return spectra
