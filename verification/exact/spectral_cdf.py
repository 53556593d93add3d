"""Enclose P(‖Z‖_op ≤ s ρ) for nuclear-Laplace noise by interval arithmetic.

The law. The noise Z has density ∝ exp(−‖Z‖_* / ρ) on the d × d matrices (the full kind) or on the symmetric matrices.
In units of ρ,

* full: singular values have density ∝ Π_{i<j} |s_i² − s_j²| e^{−Σ s_i} on s > 0, ‖Z‖_op = max s_i;
* symmetric: eigenvalues have density ∝ Π_{i<j} |l_i − l_j| e^{−Σ |l_i|}, ‖Z‖_op = max |l_i|.

The formula. Each of the two products is the absolute value of a Vandermonde determinant det[m_j(x_i)], j = 0, …, d − 1,
with m_j(x) = x^{2j} for the full kind and m_j(x) = x^j for the symmetric kind. The following formula integrates such a
determinant over ordered points of an interval (de Bruijn, On some multiple integrals involving determinants, J. Indian
Math. Soc. 19, 1955):

    ∫_{x_1 < … < x_d} det[m_j(x_i)] e^{−Σ |x_i|} dx = Pf A,
    A_jk = ∬ sgn(y − x) m_j(x) m_k(y) e^{−|x| − |y|} dx dy,

For odd d the matrix A has one more row and column with the entries ∫ m_j(x) e^{−|x|} dx. Let A(s) be the matrix
of the integrals over the part |x| ≤ s of the domain. Then the probability is

    P(‖Z‖_op ≤ s ρ) = Pf A(s) / Pf A(∞).

The entries. Dividing every power x^a by a! multiplies both Pfaffians by the same factor and turns
integrals into probabilities. Let X ~ Gamma(a + 1) and Y ~ Gamma(b + 1) be independent and let
E_n(s) = P(Gamma(n + 1) ≤ s). Because P(X < y) = 1 − e^{−y} Σ_{i≤a} y^i/i!, conditioning on Y gives

    P(X < Y ≤ s) = E_b(s) − Σ_{i≤a} C(b+i, i) 2^{−(b+i+1)} E_{b+i}(2s),
    ∬_{0<x,y<s} sgn(y − x) … = P(X < Y ≤ s) − P(Y < X ≤ s) = 2 P(X < Y ≤ s) − E_a(s) E_b(s).

For noise on all d × d matrices (the full kind), the entry of A(s) is this integral over 0 < x, y < s. For noise on the
symmetric matrices x and y may also be negative, and the integrals over the other three quadrants follow by reflection.
If a + b is odd, the entry is twice the integral over 0 < x, y < s, plus 2 (−1)^a E_a(s) E_b(s). If a + b is even, the
entry is 0.

At s = ∞ every E_n is 1 and Pf A(∞) is an exact rational number. At finite s each E_n is enclosed in an interval
computed from E_n(s) = Σ_{k>n} s^k/k! / Σ_{k≥0} s^k/k!. All terms of the quotient are positive, so nothing cancels. The
quotient avoids the exponential function of mpmath.iv, which is rounded from 14 guard bits and does not always enclose
the exact value. The only assumption about mpmath is that its +, −, × and ÷ of intervals round outward.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import comb

import mpmath
from mpmath.ctx_iv import MPIntervalContext

from covassay.reference.domain import Number, require_dimension
from covassay.reference.errors import InvalidInput

SkewMatrix = list[list[Number]]

# The first attempt computes with SPARE_DIGITS + d · DIGITS_PER_DIMENSION digits more than requested. This number is a
# guess of how many digits the elimination loses. If an attempt leaves too few digits, the precision is doubled.
SPARE_DIGITS = 40
DIGITS_PER_DIMENSION = 6

# THE RESULT


@dataclass(frozen=True)
class Enclosure:
    """A closed interval with 0 < lower ≤ upper that contains the exact value.

    The ends of an enclosure keep all their bits, whatever mpmath's global precision is. Arithmetic on the ends, even
    `+lower`, rounds the result to the global precision.
    """

    lower: mpmath.mpf
    upper: mpmath.mpf

    @property
    def midpoint(self) -> mpmath.mpf:
        """Return the midpoint (lower + upper) / 2 without rounding."""
        return mpmath.ldexp(mpmath.fadd(self.lower, self.upper, exact=True), -1)

    @property
    def relative_width(self) -> mpmath.mpf:
        """Return the relative width (upper − lower) / lower, rounded up to 53 bits."""
        width = mpmath.fsub(self.upper, self.lower, exact=True)
        return mpmath.fdiv(width, self.lower, prec=53, rounding="u")

    def certifies(self, digits: int) -> bool:
        """Return whether both ends round to the same decimal of `digits` significant digits."""
        return _rounded(self.lower, digits) == _rounded(self.upper, digits)

    def is_narrow(self, digits: int) -> bool:
        """Return whether the width upper − lower is at most 10^−digits · lower."""
        lower, upper = rational(self.lower), rational(self.upper)
        return (upper - lower) * Fraction(10) ** digits <= lower

    def text(self, digits: int) -> str:
        """Return the value rounded to `digits` significant digits, as in "2.87e-1".

        Raises
        ------
        InvalidInput : if the ends round to different decimals, so that the last digit is not certain.
        """
        digits = require_dimension("digits", digits)
        if not self.certifies(digits):
            width = mpmath.nstr(self.relative_width, 3)
            raise InvalidInput(
                f"digits = {digits}: must be smaller, because the ends of the enclosure, of relative"
                f" width {width}, round to different decimals"
            )
        return f"{_rounded(self.lower, digits):.{digits - 1}e}"


def rational(value: mpmath.mpf) -> Fraction:
    """Return the exact value of an mpf as a Fraction."""
    numerator, denominator = mpmath.libmp.to_rational(value._mpf_)
    return Fraction(int(numerator), int(denominator))


def _rounded(value: mpmath.mpf, digits: int) -> Decimal:
    """Return `value` correctly rounded to `digits` significant digits."""
    exact = rational(value)
    context = Context(prec=digits, Emin=MIN_EMIN)
    return context.divide(Decimal(exact.numerator), Decimal(exact.denominator))


# PFAFFIANS


def skew_matrix(order: int, entry: Callable[[int, int], Number]) -> SkewMatrix:
    """Return the skew-symmetric matrix with the given entries (j, k), j < k, above the diagonal."""
    matrix: SkewMatrix = [[0] * order for _ in range(order)]
    for j in range(order):
        for k in range(j + 1, order):
            matrix[j][k] = entry(j, k)
            matrix[k][j] = -matrix[j][k]
    return matrix


def pfaffian(matrix: SkewMatrix, size: Callable[[Number], Number] = abs) -> Number:
    """Return the Pfaffian Pf A of a skew-symmetric A of even order, by elimination in the arithmetic of its entries.

    With a = A_01 and the rows u = A_0·, v = A_1·, the Schur complement of the leading 2 × 2 block gives Pf A = a
    Pf(A_ij − (u_i v_j − v_i u_j)/a)_{i,j≥2}. Before each step of the elimination, the index p with the largest `size`
    of A_0p is moved to place 1. The moved index passes p − 1 others, and each exchange changes the sign.

    Parameters
    ----------
    size : a lower bound on the absolute value of an entry; it is positive if and only if the entry is
        certainly not 0.

    Raises
    ------
    ZeroDivisionError : if row 0 has no entry that is certainly not 0.
    """
    if len(matrix) % 2:
        raise InvalidInput(f"matrix of order {len(matrix)}: must be even, because a Pfaffian of odd order is 0")
    value: Number = 1
    while matrix:
        u = matrix[0]
        p = max(range(1, len(matrix)), key=lambda j: size(u[j]))
        if not size(u[p]) > 0:
            raise ZeroDivisionError("row 0 has no entry that is certainly not 0")
        value = value * u[p] * (-1) ** (p - 1)
        matrix = _schur_complement(matrix, p)
    return value


def _schur_complement(matrix: SkewMatrix, p: int) -> SkewMatrix:
    """Return A_ij − (u_i v_j − v_i u_j)/a with u = A_0·, v = A_p·, a = A_0p, for i, j other than 0 and p."""
    kept = [j for j in range(1, len(matrix)) if j != p]
    u, v = matrix[0], matrix[p]
    quotients = {j: u[j] / u[p] for j in kept}

    def entry(row: int, column: int) -> Number:
        i, j = kept[row], kept[column]
        return matrix[i][j] - (quotients[i] * v[j] - quotients[j] * v[i])

    return skew_matrix(len(kept), entry)


# DE BRUIJN'S MATRIX


def moment_powers(dimension: int, *, symmetric: bool) -> tuple[int, ...]:
    """Return the exponents of the functions m_j, which are 0, 2, …, 2d − 2 for full matrices and 0, 1, …, d − 1 for
    symmetric ones."""
    return tuple(range(dimension) if symmetric else range(0, 2 * dimension, 2))


def erlang_cdfs(count: int, threshold: Fraction, context: MPIntervalContext, rest_bits: int) -> list[Number]:
    """Return intervals that contain E_n(s) = P(Gamma(n + 1) ≤ s) for n < count and s = threshold > 0.

    The function sums the series of e^s up to a term t_M with M + 1 ≥ 2s. After t_M each term is at most half of the
    term before, so the rest of the series lies in [0, t_M]. The sum stops when t_M is also at most 2^−rest_bits times
    s^count/count!. The tails Σ_{k>n} s^k/k! are needed for n < count, and s^count/count! is the first term of the
    smallest of these tails. With a smaller `rest_bits` the intervals are wider but still valid.
    """
    s = context.mpf(threshold.numerator) / threshold.denominator
    terms = [context.mpf(1)]
    while len(terms) <= count or len(terms) < 2 * threshold or terms[-1] * 2**rest_bits > terms[count]:
        terms.append(terms[-1] * s / len(terms))
    rest = context.mpf([0, terms[-1].b])
    tails = list(accumulate(reversed(terms), initial=rest))[::-1]  # tails[n] = Σ_{k≥n} s^k/k!
    return [tails[n + 1] / tails[0] for n in range(count)]


def moment_matrix(
    powers: tuple[int, ...], below: Sequence[Number], below_twice: Sequence[Number], *, symmetric: bool
) -> SkewMatrix:
    """Return the matrix A_jk for the functions x^a/a!, a in `powers`, without the border row and column that an odd
    order needs.

    Parameters
    ----------
    below : E_n(s) for n ≤ max(powers).
    below_twice : E_n(2s) for n ≤ 2 max(powers), in the same arithmetic.
    """

    def lost_races(b: int) -> list[Number]:
        """Return P(Y ≤ s, Y < X) for Y ~ Gamma(b + 1) and X ~ Gamma(a + 1), for a = 0, 1, …"""
        steps = range(max(powers) + 1)
        return list(accumulate(comb(b + i, i) * below_twice[b + i] / 2 ** (b + i + 1) for i in steps))

    lost = {b: lost_races(b) for b in powers}

    def entry(j: int, k: int) -> Number:
        a, b = powers[j], powers[k]
        both = below[a] * below[b]
        both_positive = 2 * (below[b] - lost[b][a]) - both
        if not symmetric:
            return both_positive
        # The quadrant x, y < 0 contributes −(−1)^(a+b) times the quadrant x, y > 0.
        # The sign sgn(y − x) is constant in each of the other two quadrants.
        return (1 - (-1) ** (a + b)) * both_positive + ((-1) ** a - (-1) ** b) * both

    return skew_matrix(len(powers), entry)


def moment_border(powers: tuple[int, ...], below: Sequence[Number], *, symmetric: bool) -> list[Number]:
    """Return the integrals ∫ m_j(x) e^{−|x|} dx for m_j = x^a/a!, which are E_a(s) on x > 0, or (1 + (−1)^a) E_a(s) on
    the whole line.
    """
    return [(1 + (-1) ** a if symmetric else 1) * below[a] for a in powers]


def bordered(matrix: SkewMatrix, border: Sequence[Number]) -> SkewMatrix:
    """Return the skew-symmetric matrix [[A, b], [−bᵀ, 0]]."""
    last = len(matrix)
    return skew_matrix(last + 1, lambda j, k: border[j] if k == last else matrix[j][k])


def de_bruijn_pfaffian(
    powers: tuple[int, ...],
    below: Sequence[Number],
    below_twice: Sequence[Number],
    *,
    symmetric: bool,
    size: Callable[[Number], Number] = abs,
) -> Number:
    """Return the Pfaffian Pf A(s), where the matrix A has a border row and column if the number of powers is odd.

    The parameters of this function are those of `moment_matrix` and `pfaffian`.
    """
    matrix = moment_matrix(powers, below, below_twice, symmetric=symmetric)
    if len(powers) % 2:
        matrix = bordered(matrix, moment_border(powers, below, symmetric=symmetric))
    return pfaffian(matrix, size)


@lru_cache
def whole_pfaffian(powers: tuple[int, ...], *, symmetric: bool) -> Fraction:
    """Return the Pfaffian Pf A(∞), which is an exact rational number."""
    ones = [Fraction(1)] * (2 * max(powers) + 1)
    return Fraction(de_bruijn_pfaffian(powers, ones, ones, symmetric=symmetric))


# THE LAW


def cdf_interval(powers: tuple[int, ...], threshold: Fraction, *, symmetric: bool, working_digits: int) -> Number:
    """Return an interval that contains Pf A(s) / Pf A(∞), computed with `working_digits` decimal digits.

    Raises
    ------
    ZeroDivisionError : if at this precision some row has no entry that is certainly not 0.
    """
    # the context of mpmath is a separate one, so that mpmath.iv and mpmath.mp keep their precision
    context = MPIntervalContext()
    context.dps = working_digits
    truncated = de_bruijn_pfaffian(
        powers,
        erlang_cdfs(max(powers) + 1, threshold, context, context.prec),
        erlang_cdfs(2 * max(powers) + 1, 2 * threshold, context, context.prec),
        symmetric=symmetric,
        size=lambda interval: abs(interval).a,
    )
    whole = whole_pfaffian(powers, symmetric=symmetric)
    return truncated * whole.denominator / whole.numerator


def enclose_spectral_cdf(
    dimension: int, threshold: Fraction, *, symmetric: bool = False, digits: int = 12
) -> Enclosure:
    """Enclose P(‖Z‖_op ≤ threshold · ρ) to `digits` significant digits.

    Parameters
    ----------
    dimension : d ≥ 1; Z is (d, d).
    threshold : s > 0 in units of ρ, a Fraction or an int, which is taken as exact.
    symmetric : whether Z is symmetric; otherwise it is a full matrix.
    digits : the enclosure has relative width at most 10^−digits and `text(digits)` succeeds.

    The working precision is doubled until both conditions hold. Some precision is sufficient, because the probability
    is transcendental and thus never lies exactly half-way between two decimals. Indeed, for rational s the probability
    is 1 plus a polynomial in e^{−s} with rational coefficients and no constant term. This polynomial is not zero,
    because the probability is below 1, and e^{−s} is transcendental (Lindemann).
    """
    return _enclose(lambda cdf: cdf, dimension, threshold, symmetric, digits)


def enclose_spectral_survival(
    dimension: int, threshold: Fraction, *, symmetric: bool = False, digits: int = 12
) -> Enclosure:
    """Enclose P(‖Z‖_op > threshold · ρ) to `digits` significant digits.

    The parameters are those of `enclose_spectral_cdf`. The width of the enclosure is relative to the survival
    probability, however small this probability is.
    """
    return _enclose(lambda cdf: 1 - cdf, dimension, threshold, symmetric, digits)


def _enclose(
    quantity: Callable[[Number], Number], dimension: int, threshold: Fraction, symmetric: bool, digits: int
) -> Enclosure:
    d = require_dimension("dimension", dimension)
    s = _require_positive_rational("threshold", threshold)
    digits = require_dimension("digits", digits)
    powers = moment_powers(d, symmetric=symmetric)
    working_digits = SPARE_DIGITS + DIGITS_PER_DIMENSION * d + digits
    while True:
        try:
            cdf = cdf_interval(powers, s, symmetric=symmetric, working_digits=working_digits)
        except ZeroDivisionError:
            pass
        else:
            lower, upper = (mpmath.mp.make_mpf(end) for end in quantity(cdf)._mpi_)
            if lower > 0:
                enclosure = Enclosure(lower, min(upper, mpmath.mpf(1)))
                if enclosure.is_narrow(digits) and enclosure.certifies(digits):
                    return enclosure
        working_digits *= 2


def _require_positive_rational(name: str, value: Fraction) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        raise InvalidInput(f"{name} = {value!r}: must be a Fraction or an int, to be exact")
    if value <= 0:
        raise InvalidInput(f"{name} = {value!r}: must be greater than 0")
    return Fraction(value)
