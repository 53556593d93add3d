"""Compute P(‖Z‖ ≤ sρ) for nuclear-Laplace noise and d ≤ 12, as an exact polynomial in s and e^{−s}, by iterated
integration.

The module `spectral_cdf` encloses the same probability in another way. Unlike that module, iterated integration uses no
Pfaffian, no incomplete Gamma function and no interval arithmetic.

In units of ρ the ordered singular values s_1 < … < s_d have density ∝ det[s_i^{2j}] e^{−Σ s_i}, j = 0, …, d − 1. For a
set S of columns let F_S(x) be the integral over 0 < s_1 < … < s_{|S|} < x of the determinant of the columns in S times
e^{−Σ s_i}. Expanding the determinant along its last row gives

    F_S(x) = ∫_0^x Σ_{j ∈ S} (−1)^{#{l ∈ S: l > j}} y^{2j} e^{−y} F_{S∖j}(y) dy,    F_∅ = 1.

The probability P(‖Z‖ ≤ s) is F_S(s)/F_S(∞) for the set S of all columns. Every function F_S is Σ_k e^{−kx} p_k(x) with
rational polynomials p_k. An integral of p(x) e^{−kx} from 0 is q(x) e^{−kx} minus its value at 0, where q is the
polynomial with q' − kq = p. This equation gives the coefficients of q one by one, from the highest to the lowest.

All computations use whole numbers of unlimited size. Polynomials are written in the powers x^a/a!, whose products have
binomial coefficients. The factor y^{2j} is replaced by y^{2j}/(2j)!, which does not change F_S(s)/F_S(∞). Let L =
lcm(1, …, d) and N = Σ_{j ∈ S} (2j + 1). The coefficient of x^a/a! in F_S is stored multiplied by L^{N − a}, which makes
it an integer.
"""

from fractions import Fraction
from functools import lru_cache
from math import comb, factorial, lcm

from covassay.reference.domain import require_dimension
from covassay.reference.errors import InvalidInput
from covassay.verification.exact.series import exponential

LARGEST_DIMENSION = 12  # the recursion visits all 2^d sets of columns

Terms = dict[int, list[int]]  # maps k to the coefficients of p_k


def _times_power(terms: Terms, power: int, sign: int, into: Terms) -> None:
    """Multiply `terms` by sign · (x^power/power!) e^{−x}, and add the product to `into`."""
    for k, coefficients in terms.items():
        found = into.setdefault(k + 1, [])
        found.extend([0] * (len(coefficients) + power - len(found)))
        for a, c in enumerate(coefficients):
            found[a + power] += sign * comb(a + power, power) * c


def _integral(terms: Terms, scale: int) -> Terms:
    """Return the integral from 0 to x of terms Σ_k e^{−kx} p_k(x) with k ≥ 1."""
    whole: Terms = {}
    constant = 0
    for k, coefficients in terms.items():
        q = [0] * (len(coefficients) + 1)
        for a in reversed(range(len(coefficients))):
            q[a] = (q[a + 1] - coefficients[a]) * (scale // k)
        whole[k] = q[:-1]
        constant -= q[0]
    whole[0] = [constant]
    return whole


@lru_cache
def distribution(dimension: int) -> tuple[tuple[Fraction, ...], ...]:
    """Return the polynomials p_0 = 1, p_1, …, p_d in P(‖Z‖ ≤ s) = Σ_k e^{−ks} p_k(s), each from its constant term
    up.
    """
    d = require_dimension("dimension", dimension)
    if d > LARGEST_DIMENSION:
        raise InvalidInput(f"dimension = {dimension!r}: must be at most {LARGEST_DIMENSION}")
    scale = lcm(*range(1, d + 1))
    integrals: dict[int, Terms] = {0: {0: [1]}}
    for size in range(1, d + 1):
        larger: dict[int, Terms] = {}
        for columns in (c for c in range(2**d) if c.bit_count() == size):
            integrand: Terms = {}
            for j in (j for j in range(d) if columns >> j & 1):
                sign = -1 if (columns >> (j + 1)).bit_count() % 2 else 1
                _times_power(integrals[columns ^ (1 << j)], 2 * j, sign, integrand)
            larger[columns] = _integral(integrand, scale)
        integrals = larger
    terms = integrals[2**d - 1]
    whole = terms[0][0]
    return tuple(
        tuple(Fraction(c * scale**a, factorial(a) * whole) for a, c in enumerate(terms[k])) for k in range(d + 1)
    )


def bounds(dimension: int, s: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return rational lower and upper bounds on P(‖Z‖ ≤ sρ) that differ by less than 10^−digits."""
    polynomials = distribution(dimension)
    values = [sum((c * s**a for a, c in enumerate(p)), Fraction(0)) for p in polynomials]
    spare = digits + 2 + max(len(str(int(abs(v)))) for v in values)
    powers = [exponential(-k * s, spare) for k in range(len(values))]
    products = [sorted((v * low, v * high)) for v, (low, high) in zip(values, powers, strict=True)]
    return sum((p[0] for p in products), Fraction(0)), sum((p[1] for p in products), Fraction(0))
