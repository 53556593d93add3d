"""Check the tail bound P(‖Z‖ ≥ t) ≤ C(d, t) exp(−rate(t)) for every d.

The page proofs/paper/tail-bound.md has the argument. The checks compare the last steps of the proof and the bounds with
the reference and with exact tails.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import sympy as sp

from covassay.reference.domain import Number
from covassay.reference.laws import nuclear_laplace
from covassay.verification.claims.evidence import Evidence, Formula, Found, check, mutant
from covassay.verification.exact.spectral_cdf import enclose_spectral_survival


@check("symbolic", covers="all", less="bound", scope="all d, t, δ")
@mutant(
    "without the square of φ",
    bound=lambda d, t, w, s, f: (
        nuclear_laplace.swept_tail_bound(d, t, w, s, f)
        * f.acos((nuclear_laplace.spectral_edge(d - 1, s, f.pi) + w) / t)
    ),
)
@mutant(
    "a rate with t in place of the edge as a factor",
    rate=lambda t, edge, f: 2 / f.pi * (t * f.acos(edge / t) - t * f.acosh(t / edge)),
)
def smoothing_and_integrating(
    bound: Formula = nuclear_laplace.swept_tail_bound, rate: Formula = nuclear_laplace.edge_rate
) -> Evidence:
    """Each derivative and identity in steps 4 and 5 of the proof of the tail bound is right, for every width δ.

    The check confirms the derivative of Φ_a in a, which is negative for a beyond the inner edge. It also confirms that
    rate′ = (2/π)φ, and that e^{−(2δ/π) arccosh y} is (y − √(y² − 1))^{2δ/π}. With the inequality 1/sin φ ≤ π/(2φ), the
    proof gives the bound that the reference computes. The inequality holds because the sine is concave on [0, π/2].
    """
    a, s, d, width, y, inner, t = sp.symbols("a s d delta y u t", positive=True)
    phi = sp.acos(a / s)
    exponent = rate(s, a, sp) + 2 / sp.pi * (a - inner) * sp.acosh(s / a)
    root = sp.sqrt(s**2 - a**2)
    falls = sp.diff(exponent, a) + 2 / sp.pi * (a - inner) * s / (a * root)
    slope = sp.diff(rate(s, a, sp), s) - 2 / sp.pi * phi
    power = sp.diff(sp.log(s - sp.sqrt(s**2 - 1)), s) + 1 / sp.sqrt(s**2 - 1)
    # all expressions scale with a, so let a = 1 without loss of generality; y stands for √(s² − 1)
    scaled = {a: 1, s: sp.sqrt(1 + y**2)}
    residuals = [sp.simplify(v.subs(scaled)) for v in (falls, slope, power)]
    for symmetric in (False, True):
        edge = nuclear_laplace.spectral_edge(d - 1, symmetric, sp.pi) + width
        angle, ends, share = sp.acos(edge / t), (2 if symmetric else 1), (1 if symmetric else 2)
        # a bound on the average of the densities q_s in step 4 of the proof, without its factor y/√(y² − 1)
        charge = share / (sp.pi * width) * sp.acosh(edge / (edge - width))
        ratio = t / edge
        shrink = (ratio - sp.sqrt(ratio**2 - 1)) ** (2 * width / sp.pi) * sp.exp(-rate(t, edge, sp))
        assembled = ends * d * charge * sp.pi / (2 * angle) * shrink / (2 / sp.pi * angle)
        residuals.append(sp.simplify(bound(d, t, width, symmetric, sp) / assembled - 1))
    return Evidence(not any(residuals), f"residuals {residuals}")


def scaled_rate(factor: float) -> Callable[..., Number]:
    """Return a deliberately wrong tail bound, whose rate is multiplied by `factor`."""

    def bound(d: Number, t: Number, width: Number, symmetric: bool, f: Any) -> Number:
        edge = nuclear_laplace.spectral_edge(d - 1, symmetric, f.pi) + width
        extra = (factor - 1) * nuclear_laplace.edge_rate(t, edge, f)
        return nuclear_laplace.swept_tail_bound(d, t, width, symmetric, f) * f.exp(-extra)

    return bound


@check("floating", more="bound", scope="d ≤ 16, t from 1.02 to 30 edges")
@mutant("an edge at 3d/2", bound=lambda d, t, w, s, f: nuclear_laplace.swept_tail_bound(d, t * (2 * f.pi / 3), w, s, f))
@mutant("a rate larger by 25 %", bound=scaled_rate(1.25))
@mutant("a rate larger by 3 %", bound=scaled_rate(1.03))
@mutant(
    "a prefactor smaller by a factor 2d",
    bound=lambda d, t, w, s, f: nuclear_laplace.swept_tail_bound(d, t, w, s, f) / (2 * d),
)
def tail_bound(
    bound: Formula = nuclear_laplace.swept_tail_bound, survival: Formula = enclose_spectral_survival
) -> Found:
    """For every tried width the tail bound is at least the enclosed P(‖Z‖ ≥ t), for t from 1.02 to 30 times the edge.

    For these t the least tail bound over the widths is 3.8 to 252 times the exact probability. Let e be the edge in
    dimension d − 1. The widths are π/4, π/2, π, 2π and (t − e)/2. The check skips each width w with e + w ≥ t. The
    check evaluates the tail bound to 60 digits.
    """
    ratios = []
    factors = [Fraction(v) for v in ("1.02", "1.05", "1.3", "2", "2.9", "8", "30")]
    with mpmath.workdps(60):
        for (d, largest), symmetric in product(((2, 30), (3, 30), (5, 30), (10, 8), (16, 3)), (False, True)):
            inner = nuclear_laplace.spectral_edge(d - 1, symmetric, mpmath.pi)
            for factor in (v for v in factors if v <= largest):
                t = factor * Fraction(355, 113) * d / (2 if symmetric else 1)  # 355/113 is just above π
                exact = mpmath.mpf(t.numerator) / t.denominator
                left = survival(d, t, symmetric=symmetric, digits=6)
                widths = [*(mpmath.pi * w for w in (0.25, 0.5, 1, 2)), (exact - inner) / 2]
                rights = [bound(mpmath.mpf(d), exact, w, symmetric, mpmath) for w in widths if inner + w < exact]
                ratios.append(min(rights) / left.lower)
                yield {f"d={d}, symmetric {symmetric}, {float(factor)} edges": bool(left.upper <= min(rights))}
    yield "least bound/probability", f"{mpmath.nstr(min(ratios), 4)} to {mpmath.nstr(max(ratios), 4)}"
    yield bool(min(ratios) >= 3.8 and max(ratios) <= 252)


def tangent(symmetric: bool, slope: Fraction, start: Fraction) -> tuple[bool, str]:
    """Return whether ‖Z‖ ≤ start·d + slope·ln(1/β) follows from the tail bound for every d ≥ 2, and the numbers behind
    it.

    The rate is convex and the other factor falls, so beyond t₀ = start·d the bound is at most its value at t₀ times
    exp(−rate′(t₀) (t − t₀)). Hence ‖Z‖ ≤ start·d + slope·ln(1/β) is proved if slope·rate′(t₀) ≥ 1 and the value at t₀
    is at most 1. With rate(t₀) = d·r the tail bound at t₀ is at most C √(2/(d − 1)) d e^{−rd}. The bound C √(2/(d − 1))
    d e^{−rd} falls from d = 2 on if r > 1/11, because the derivative of its logarithm is (d − 2)/(2d(d − 1)) − r, and
    the first term is at most 0.0858.
    """
    with mpmath.workdps(30):
        t = mpmath.mpf(start.numerator) / start.denominator
        edge = nuclear_laplace.spectral_edge(1, symmetric, mpmath.pi)
        steep = 2 / mpmath.pi * mpmath.acos(edge / t)
        rate = nuclear_laplace.edge_rate(t, edge, mpmath)
        value = nuclear_laplace.swept_tail_bound(mpmath.mpf(2), 2 * t, edge, symmetric, mpmath)
        # with u = 1/(d − 1), arccosh(1 + u) ≤ √(2u); this replaces arccosh(2) by √2 at d = 2
        value *= mpmath.sqrt(2) / mpmath.acosh(2)
        steep *= mpmath.mpf(slope.numerator) / slope.denominator
        told = ", ".join(
            f"{name} {mpmath.nstr(v, 5)}" for name, v in (("slope·rate′", steep), ("value", value), ("r", rate))
        )
        return bool(steep >= 1 and value <= 1 and rate > mpmath.mpf(1) / 11), told


@check("floating", scope="every d and β")
@mutant(
    "7d/2 for 4d", bound=lambda d, level, symmetric: d * (Fraction(5, 2) if symmetric else Fraction(7, 2)) + 3 * level
)
@mutant(
    "2 ln(1/β) for 2.36 ln(1/β)", bound=lambda d, level, symmetric: (Fraction(5, 2) if symmetric else 4) * d + 2 * level
)
def linear_bound(bound: Formula = nuclear_laplace.spectral_norm_bound) -> Found:
    """With probability at least 1 − β, ‖Z‖ ≤ ρ(4d + 2.36 ln(1/β)) for full noise and ‖Z‖ ≤ ρ(2.5 d + 1.77 ln(1/β)) for
    symmetric noise, for every d and β.

    At d = 1 the tail is P(‖Z‖ ≥ t) = e^{−t}. The check computes the constants to 30 digits; the slack of the
    inequalities is in the third digit.
    """
    for symmetric in (False, True):
        start = Fraction(bound(Fraction(1), Fraction(0), symmetric))
        slope = Fraction(bound(Fraction(0), Fraction(1), symmetric))
        holds, facts = tangent(symmetric, slope, start)
        name = "symmetric" if symmetric else "full"
        yield name, facts
        yield {name: holds and slope >= 1}


@check("floating", scope="d to 10⁸, β to e^{−300}; all d and β by the inequalities")
@mutant("2/3 for 3/2", angle=lambda d, level: ((2 * (level + 7 * mpmath.log(d) / 6)) / (3 * d)) ** (1 / 3))
@mutant("without ln d", angle=lambda d, level: ((3 * level) / (2 * d)) ** (1 / 3))
def tail_at_the_edge(
    angle: Formula = lambda d, level: nuclear_laplace.spectral_norm_angle(d, level, mpmath.log),
) -> Found:
    """The norm ‖Z‖ of full noise is at most πρd/cos φ with probability at least 1 − β, for φ³ = 3(ln(1/β) + (7/6) ln
    d)/(2d) and φ < π/2.

    With t = edge/cos φ the rate of the tail bound is d·2(φ/cos φ − arccosh(1/cos φ)). As a function of φ the rate
    vanishes at 0 and has the derivative 2dφ tan φ/cos φ ≥ 2dφ², so it is at least (2/3) dφ³. The factor of the tail
    bound before e^{−rate} is at most d^{7/6}. The bound therefore reaches the constant π: for fixed β, ‖Z‖/(ρd) ≤ π +
    O((ln d/d)^{2/3}). The check evaluates the tail bound on a grid of d and β.
    """
    with mpmath.workdps(20):
        for d, level in product((2, 3, 5, 10, 30, 100, 10**4, 10**8), (0, 0.5, 1, 3, 10, 30, 300)):
            phi = angle(mpmath.mpf(d), mpmath.mpf(level))
            if 0 < phi < mpmath.pi / 2:
                t = mpmath.pi * d / mpmath.cos(phi)
                right = nuclear_laplace.spectral_norm_tail_bound(mpmath.mpf(d), t, False, mpmath)
                yield float(right * mpmath.exp(level))
