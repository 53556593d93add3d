"""DN25 §2, §4: V(w) = −Σ_{i<j} log|w_i² − w_j²| is convex on each chamber of ordered w, but not across the walls.

A wall is a set w_i = w_j, on which V is +∞; a chamber is a part of the simplex between walls.
"""

from fractions import Fraction

import mpmath
import sympy as sp

from covassay.verification.claims.evidence import Evidence, Formula, Found, check, mutant


def nonnegative_beyond(difference: sp.Expr, d: sp.Symbol, start: int) -> bool:
    """Return whether no coefficient is negative after the substitution d = `start` + k in a rational function of d.

    The coefficients are those of the numerator and of the denominator as polynomials in k. If none is negative, the
    function is ≥ 0 for all d ≥ `start`.
    """
    k = sp.Symbol("k", nonnegative=True)
    parts = sp.fraction(sp.together(difference.subs(d, start + k)))
    return all(c >= 0 for part in parts for c in sp.Poly(sp.expand(part), k).all_coeffs())


@check("symbolic", covers="all", scope="all d ≥ 4")
@mutant("E‖Z‖_F² ≥ d³", moment=lambda d: d**3)
def variance_of_a_weight(moment: Formula = lambda d: (3 * d**3 + d**2) / 2) -> Evidence:
    """The variance of a weight w_i is at least ((3d + 1)/(2(d² + 1)) − 1/d)/d, which is at least 1/(4d²) for d ≥ 4.

    The lower bound on the variance follows from the moment bound E‖Z‖_F² ≥ (3d³ + d²)/2. E‖Z‖_F² = d · E w_i² · d²(d² +
    1), because R and w are independent, and E w_i = 1/d. Inequality (2.1) with κ = Ω̃(d³) would make the variance
    Õ(d⁻³); d³ times the lower bound is at least d/4. So (2.1) is false for every constant and every power of a
    logarithm in κ.
    """
    d = sp.Symbol("d", positive=True)
    variance = moment(d) / (d**3 * (d**2 + 1)) - 1 / d**2
    stated = (sp.Rational(1, 2) * (3 * d + 1) / (d**2 + 1) - 1 / d) / d
    holds = sp.simplify(variance - stated) == 0 and nonnegative_beyond(variance - 1 / (4 * d**2), d, 4)
    return Evidence(holds, f"the variance is at least {sp.factor(variance)}")


@check("symbolic", covers="all", scope="all d ≥ 9")
@mutant("a lower moment bound", moment=lambda d: d**3)
def largest_value(moment: Formula = lambda d: (3 * d**3 + d**2) / 2) -> Evidence:
    """The bound (4.4), max w ≤ (1 + o(1))/d, fails, because E max w ≥ E Σ w² ≥ (3d + 1)/(2(d² + 1)), about 1.5/d.

    If max w ≤ (1 + h)/d with probability 1 − β, then E max w ≤ (1 + h)/d + β. With β = 1/(10 d) and h = 1/5, this bound
    is below the lower bound on E max w for every d ≥ 9, which is a contradiction. For large d every h < 0.4 leads to a
    contradiction.
    """
    d = sp.Symbol("d", positive=True)
    mean = moment(d) / (d**2 * (d**2 + 1))
    stated = sp.simplify(mean - (3 * d + 1) / (2 * (d**2 + 1))) == 0
    allowed = (1 + sp.Rational(1, 5)) / d + 1 / (10 * d)
    return Evidence(stated and nonnegative_beyond(mean - allowed, d, 9), f"E max w ≥ {sp.factor(mean)}")


@check("enclosed", scope="d = 10⁴ and larger")
@mutant("α = 2/d", cap=Fraction(2))
@mutant("α = 3/d", cap=Fraction(3))
def capped_event(cap: Fraction = Fraction(4)) -> Found:
    """P(max w > 4/d) ≤ e^{−d r(c)}/(c(c − 2)) + e^{−d²/1250}, c = 3.84, which is below 1/(16 d²) from d = 10⁴ on.

    The largest weight max w = ‖Z‖/R is above 4/d only if ‖Z‖ > 3.84 d or R < 0.96 d². The page norm-tail.md bounds the
    probability of ‖Z‖ > 3.84 d, and R < 0.96 d² has probability below e^{−L} for d√(2L) = 0.04 d². As 0 ≤ w_i ≤ 1, the
    condition max w ≤ 4/d lowers the variance of w_i by at most 1/(16 d²). By `variance_of_a_weight` the variance was at
    least 1/(4d²), so (4.2) fails. With α = 2/d the event in the condition of (4.2) has a probability that tends to 0.
    """
    c = cap * Fraction(96, 100)
    log = mpmath.iv.log(2 * mpmath.iv.mpf(c.numerator) / c.denominator / mpmath.iv.pi)
    decay = mpmath.iv.mpf(c.numerator) / c.denominator - 2 - 2 * log  # the rate r(c) of norm-tail.md
    yield "r(c) at least", mpmath.nstr(mpmath.mpf(decay.a), 4)
    yield {"no bound on the tail": c > 2 and (decay > 0) is True}
    for d in (10**4, 10**5, 10**7):
        tail = mpmath.iv.exp(-d * decay) / interval(c * (c - 2)) + mpmath.iv.exp(-(mpmath.iv.mpf(d) ** 2) / 1250)
        yield {f"d={d}": (16 * mpmath.iv.mpf(d) ** 2 * tail < 1) is True}


def interval(value: Fraction) -> mpmath.mpf:
    """Return the rational number as an interval of mpmath that contains it."""
    return mpmath.iv.mpf(value.numerator) / value.denominator
