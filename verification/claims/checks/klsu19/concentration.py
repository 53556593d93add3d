"""Check KLSU19 §2 and §3.1–3.2: tails of Gaussian vectors, matrices and quadratic forms, with explicit constants."""

import math
from collections.abc import Callable
from fractions import Fraction

import sympy as sp

from covassay.reference.domain import Number
from covassay.reference.mechanisms.gaussian_estimation import weak_ppc
from covassay.verification.claims.checks.quoted import exceeds
from covassay.verification.claims.evidence import Evidence, Formula, Found, check, mutant
from covassay.verification.exact import series

# ONE GAUSSIAN


@check("symbolic", covers="all", scope="all t ≥ 0")
@mutant("e^{−t²} for 2 e^{−t²/2}", bound=lambda t: sp.exp(-(t**2)))
@mutant("0.9 for 2", bound=lambda t: sp.Rational(9, 10) * sp.exp(-(t**2) / 2))
@mutant("1.94 for 2, so 0.97 for 1", bound=lambda t: sp.Rational(194, 100) * sp.exp(-(t**2) / 2))
def gaussian_tail(bound: Formula = lambda t: 2 * sp.exp(-(t**2) / 2)) -> Evidence:
    """A normal variable Z with variance σ² has P(|Z| > tσ) ≤ 2 e^{−t²/2} for t ≥ 0, and the factor 2 is not needed.

    The difference g = c e^{−t²/2} − erfc(t/√2) of the two sides has the derivative e^{−t²/2}(√(2/π) − ct). The
    difference g therefore rises and then falls to 0, and g ≥ min(g(0), 0).
    """
    t = sp.symbols("t", nonnegative=True)

    def holds(stated: sp.Expr) -> bool:
        gap = stated - sp.erfc(t / sp.sqrt(2))
        slope = sp.simplify(sp.diff(gap, t) * sp.exp(t**2 / 2))
        rises_then_falls = slope.is_polynomial(t) and sp.degree(slope, t) == 1 and slope.coeff(t, 1) < 0
        return bool(rises_then_falls) and bool(gap.subs(t, 0) >= 0) and sp.limit(gap, t, sp.oo) == 0

    stated, halved = holds(bound(t)), holds(bound(t) / 2)
    return Evidence(stated and halved, f"with the factor 2: {stated}, without: {halved}")


# QUADRATIC FORMS


def radius(square: Number, norm: Number, t: Number, sqrt: Callable[[Number], Number]) -> Number:
    """Return the radius 2‖A‖_F√t + 2‖A‖t of the upper tail, computed from ‖A‖_F² and ‖A‖."""
    return 2 * sqrt(square * t) + 2 * norm * t


def lower_radius(square: Number, norm: Number, t: Number, sqrt: Callable[[Number], Number]) -> Number:
    """Return the radius 2‖A‖_F√t of the lower tail."""
    return 2 * sqrt(square * t)


def rational_root(value: Fraction) -> Fraction:
    """Return the square root of a rational number that is the square of a rational number."""
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    if root**2 != value:
        raise ValueError(f"{value} is not the square of a rational number")
    return root


EXACT_CASES = [
    (m, m * r**2) for m in (1, 2, 3, 6) for r in (Fraction(1, 3), Fraction(1), Fraction(2))
]  # pairs (m, t) for which mt is a square


@check("symbolic", scope="all A, t")
@mutant("‖A‖t for 2‖A‖t", bound=lambda v, b, t, sqrt: 2 * sqrt(v * t) + b * t)
@mutant("‖A‖_F√t for 2‖A‖_F√t", bound=lambda v, b, t, sqrt: sqrt(v * t) + 2 * b * t)
def quadratic_form_upper(bound: Formula = radius) -> Evidence:
    """For every square matrix A and standard normal Y, P(YᵀAY − tr A ≥ 2‖A‖_F√t + 2‖A‖t) ≤ e^{−t}.

    (A + Aᵀ)/2 has the same quadratic form and trace and no larger norms, so let A = diag(a). Let ψ(u) = −u − ln(1 −
    2u)/2. The logarithm of the moment generating function is Σ ψ(s a_i). For 0 ≤ u < 1/2, ψ(u) ≤ u²/(1 − 2u), because
    the coefficients of u^k satisfy 2^{k−1}/k ≤ 2^{k−2}. For u < 0, ψ(u) ≤ u². Hence Σ ψ(s a_i) is at most vs²/(1 − cs)
    with v = ‖A‖_F², c = 2‖A‖, and at s = √t/(√v + c√t) the exponent of Markov's bound is −t. The check also compares
    the bound for A = I with exact χ² tails.
    """
    u, v, b, t = sp.symbols("u v b t", positive=True)
    psi = -u - sp.log(1 - 2 * u) / 2
    gap = sp.series(u**2 / (1 - 2 * u) - psi, u, 0, 12).removeO()
    terms = all(gap.coeff(u, k) == sp.Integer(2) ** (k - 2) * (1 - sp.Rational(2, k)) >= 0 for k in range(2, 12))
    below = sp.simplify(sp.diff(u**2 - psi, u) + 4 * u**2 / (1 - 2 * u)) == 0  # u² − ψ decreases to 0 at u = 0
    s = sp.sqrt(t) / (sp.sqrt(v) + 2 * b * sp.sqrt(t))
    exponent = sp.simplify(v * s**2 / (1 - 2 * b * s) - s * bound(v, b, t, sp.sqrt) + t)
    seen = all(
        series.chi_square_tail(m + bound(Fraction(m), 1, level, rational_root), m)[1] <= series.exponential(-level)[0]
        for m, level in EXACT_CASES
    )
    return Evidence(terms and below and exponent == 0 and seen, f"exponent + t = {exponent}")


@check("enclosed", covers="case", scope="a counterexample", more="quoted")
@mutant("A = 1 for A = −1", sign=1)
@mutant("with the linear term", bound=radius)
def printed_lower_tail(
    sign: int = -1, bound: Formula = lower_radius, quoted: tuple[str, str] = ("0.02535", "0.01832")
) -> Evidence:
    """The printed bound P(YᵀAY − tr A ≤ −2‖A‖_F√t) ≤ e^{−t} fails for A = −1, d = 1, t = 4.

    For A = −1, d = 1 and t = 4 the probability is P(χ²₁ ≥ 5) = 0.0253 > e^{−4} = 0.0183.
    """
    t = Fraction(4)
    deviation = bound(Fraction(1), Fraction(1), t, rational_root)
    if sign < 0:
        probability = series.chi_square_tail(1 + deviation)[0]
    else:
        probability = 1 - series.chi_square_tail(max(1 - deviation, Fraction(0)))[1]
    return exceeds(probability, series.exponential(-t)[1], quoted)


@check("symbolic", scope="all A ⪰ 0, t")
@mutant("‖A‖_F√t for 2‖A‖_F√t", bound=lambda v, b, t, sqrt: sqrt(v * t))
def quadratic_form_lower(bound: Formula = lower_radius) -> Evidence:
    """P(YᵀAY − tr A ≤ −2‖A‖_F√t) ≤ e^{−t} for A ⪰ 0; for any A the radius is 2‖A‖_F√t + 2‖A‖t.

    The bound for A ⪰ 0 follows from ψ(u) = −u − ln(1 − 2u)/2 ≤ u² for u < 0, because vs² − s · 2√(vt) = −t at s =
    √(t/v), where v = ‖A‖_F². The bound for any A is the upper tail of the quadratic form of −A. The check also compares
    the bound for A = I with exact χ² tails.
    """
    v, b, t = sp.symbols("v b t", positive=True)
    s = sp.sqrt(t / v)
    exponent = sp.simplify(v * s**2 - s * bound(v, b, t, sp.sqrt) + t)
    seen = all(
        1 - series.chi_square_tail(max(m - bound(Fraction(m), 1, t, rational_root), Fraction(0)), m)[0]
        <= series.exponential(-t)[0]
        for m, t in EXACT_CASES
    )
    return Evidence(exponent == 0 and seen, f"exponent + t = {exponent}")


@check("enclosed", scope="all m, β")
@mutant("√(L/m) for 4√(L/m)", bound=lambda level, m, sqrt: sqrt(level / m) + 2 * level / m)
@mutant("without the linear term", bound=lambda level, m, sqrt: 4 * sqrt(level / m))
def chi_square_mean(bound: Formula = lambda level, m, sqrt: 4 * (sqrt(level / m) + 2 * level / m)) -> Found:
    """The mean of m squared N(0, 1) variables is within 4(√(L/m) + 2L/m) of 1 with probability 1 − β, L = ln(1/β).

    Let x(L) be the radius 4(√(L/m) + 2L/m). For L ≥ (ln 2)/3 the radius x(L) is 2√(t/m) + 2t/m with t = 4L, so P ≤
    2e^{−4L} ≤ e^{−L} by both tails. For smaller L it is enough that the probability inside the interval is at least L,
    because L ≥ 1 − e^{−L}. Since x is concave, x(L)/x(l) ≥ L/l for L ≤ l. It is therefore enough to find a number l >
    (ln 2)/3 and a lower bound g(x) on the probability inside the interval. The function g must be concave, and g(x(l))
    must be at least l.

    For m ≤ 14 let l be 1/4. The density falls to the right of its mode, which is below 1. The probability
    P(1 ≤ · ≤ 1 + x) is therefore concave in x, and the check confirms by rational bounds that it is at least l at x(l).

    For m ≥ 15 let l be 3/4. Since x(l) ≥ 4√(3/(4m)), the probability inside the interval is at least 5/6 by Chebyshev's
    inequality. The density f of the sum has f(m − y) ≤ f(m) e^{y/m − (m − 2)y²/(4m²)} ≤ f(m) e^{1/(m − 2)} for y ≥ 0.
    Replace f(m − y) by min(f(m − y), f(m)) for all y ≥ 0. The integral of the smaller function over the interval is
    still at least 5/6 − (e^{1/13} − 1) ≥ 3/4 for the radius x(l). As a function of the radius x, the integral of the
    smaller function is concave.
    """
    level, m = sp.symbols("L m", positive=True)
    identity = sp.simplify(bound(level, m, sp.sqrt) - radius(1 / m, 1 / m, 4 * level, sp.sqrt))
    quarter = Fraction(1, 4)
    for k in range(1, 15):
        inner = bound(quarter, Fraction(k), lambda value: series.square_root(value)[0])
        mass = series.chi_square_tail(Fraction(k), k)[0] - series.chi_square_tail(k * (1 + inner), k)[1]
        yield {f"m={k}": mass >= quarter}
    above = series.exponential(Fraction(3, 4))[0] > 2  # ln 2/3 < 1/4
    large = Fraction(5, 6) - (series.exponential(Fraction(1, 13))[1] - 1) >= Fraction(3, 4)
    yield identity == 0
    yield above
    yield large


# REGULARITY OF GAUSSIAN DATA


@check("symbolic", covers="all", scope="all d, β, s")
@mutant("√s for √(1 + s) − 1", rows=lambda d, beta, s, log: ((d**0.5 + (2 * log(2 / beta)) ** 0.5) ** 2) / s)
def rows_for_multiplicative_error(rows: Formula = weak_ppc.regularity_rows) -> Evidence:
    """With n = `regularity_rows`, singular values of Y/√n in [1 − u, 1 + u] imply (1 − s)I ⪯ Σ̂ ⪯ (1 + s)I.

    u = (√d + √(2 ln(2/β)))/√n, and by Davidson and Szarek the singular values lie in [1 − u, 1 + u] with probability 1
    − β. For n = `regularity_rows`, (1 + u)² = 1 + s, and (1 − u)² ≥ 1 − s because (2 + s)² ≥ 4(1 + s).
    """
    d, x, s = sp.symbols("d x s", positive=True)
    n = sp.nsimplify(rows(d, 2 * sp.exp(-(x**2) / 2), s, lambda value: x**2 / 2))  # ln(2/β) = x²/2
    u_squared = (sp.sqrt(d) + x) ** 2 / n
    residual = sp.simplify(u_squared - (sp.sqrt(1 + s) - 1) ** 2)
    lower = sp.expand((2 + s) ** 2 - 4 * (1 + s) - s**2)
    return Evidence(residual == 0 and lower == 0, f"residual {residual}")


def frobenius_radius(n: float, d: int, beta: float) -> float:
    """Return the radius 2√(d(d + 1)/n) + 4√(2 ln(1/β)/n) of inequality (8) of KLSU19."""
    return 2 * math.sqrt(d * (d + 1) / n) + 4 * math.sqrt(2 * math.log(1 / beta) / n)
