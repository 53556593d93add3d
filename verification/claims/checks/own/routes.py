"""Compute the main published numbers by two routes that share no formula, and compare all printed digits.

An exception is the table of P(‖Z‖ ≤ cρd): only four of its entries, with c = 1.1, are computed by two routes.
"""

import importlib
import importlib.util
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from covassay.reference.domain import Matrix, Number
from covassay.reference.laws.nuclear_laplace import schatten_limit
from covassay.reference.sensitivity import centred_pair, centred_sensitivity
from covassay.verification.claims.evidence import Evidence, Formula, Found, check, mutant
from covassay.verification.exact import ordered_integral
from covassay.verification.exact.series import PI, Bounds
from covassay.verification.exact.spectral_cdf import (
    Enclosure,
    de_bruijn_pfaffian,
    enclose_spectral_cdf,
    moment_powers,
    rational,
    whole_pfaffian,
)

DIGITS = 12  # the number of significant digits of the published probabilities

# THE SPECTRAL NORM

PRINTED = Fraction(11, 10)  # Theorem 6 of DN25 claims ‖Z‖ ≤ 1.1ρd
PROBABILITIES = {2: "2.87168439394e-1", 3: "8.47419177397e-2", 5: "2.39004816405e-3", 10: "4.42040601721e-10"}


def ball_arithmetic(d: int, s: Fraction) -> tuple[Fraction, Fraction] | None:
    """Return bounds on P(‖Z‖ ≤ sρ) by Arb's ball arithmetic and its incomplete Gamma function, or None without
    python-flint.
    """
    if importlib.util.find_spec("flint") is None:
        return None
    flint: Any = importlib.import_module("flint")
    powers = moment_powers(d, symmetric=False)
    whole = whole_pfaffian(powers, symmetric=False)

    def erlang(count: int, x: Fraction) -> list[Any]:
        point = flint.arb(x.numerator) / x.denominator
        return [point.gamma_lower(n + 1, 1) for n in range(count)]

    before, flint.ctx.prec = flint.ctx.prec, 600
    try:
        truncated: Any = de_bruijn_pfaffian(
            powers,
            erlang(max(powers) + 1, s),
            erlang(2 * max(powers) + 1, 2 * s),
            symmetric=False,
            size=lambda entry: entry.abs_lower(),
        )
        ball = truncated * whole.denominator / whole.numerator
        ends = [end.man_exp() for end in (ball.lower(), ball.upper())]
    finally:
        flint.ctx.prec = before
    low, high = (Fraction(int(mantissa)) * Fraction(2) ** int(exponent) for mantissa, exponent in ends)
    return low, high


@check("enclosed", scope=f"d in {tuple(PROBABILITIES)}")
@mutant("the law of symmetric noise", law=lambda d, s: enclose_spectral_cdf(d, s, symmetric=True))
@mutant("1.1·1.0001 for 1.1", other=lambda d, s, digits: ordered_integral.bounds(d, s * Fraction(10001, 10000), digits))
@mutant("dimension d + 1 for d", other=lambda d, s, digits: ordered_integral.bounds(d + 1, s, digits))
def norm_by_iterated_integration(
    law: Formula = enclose_spectral_cdf,
    other: Formula = ordered_integral.bounds,
    published: Mapping[int, str] | None = None,
) -> Found:
    """A Pfaffian in interval arithmetic and an exact polynomial in s = 1.1d and e^{−s} give the same 12 digits of P(‖Z‖
    ≤ 1.1ρd).

    The polynomial comes from integrating the density over s_1 < … < s_d, one variable after the other. If python-flint
    is installed, a third computation evaluates the Pfaffian in ball arithmetic, and its balls must overlap both
    results.
    """
    third = 0
    for d, digits in (published or PROBABILITIES).items():
        s = PRINTED * d
        enclosure = law(d, s)
        low, high = other(d, s, 30)
        second = Enclosure(mpmath.mpf(low.numerator) / low.denominator, mpmath.mpf(high.numerator) / high.denominator)
        yield {
            f"d={d}": rational(enclosure.lower) <= high and low <= rational(enclosure.upper),
            f"d={d}, Pfaffian": enclosure.text(DIGITS) == digits,
            f"d={d}, polynomial": second.certifies(DIGITS) and second.text(DIGITS) == digits,
        }
        ball = ball_arithmetic(d, s)
        if ball is not None:
            third += 1
            yield {f"d={d}, Arb": ball[0] <= rational(enclosure.upper) and rational(enclosure.lower) <= ball[1]}
            yield {f"d={d}, Arb against the polynomial": ball[0] <= high and low <= ball[1]}
        yield f"P(d={d})", digits
    yield "with Arb", f"{third} of them" if third else "none: it needs python-flint (covassay[exact])"


TABLE = {  # P(‖Z‖ ≤ cρd) for c = 1.1, 1.5, 3, π, 3.5
    2: ("2.87168439394e-1", "4.94693059791e-1", "9.20649209285e-1", "9.35188130591e-1", "9.61696245451e-1"),
    3: ("8.47419177397e-2", "2.69044148817e-1", "9.01250233418e-1", "9.23260444256e-1", "9.60711725445e-1"),
    5: ("2.39004816405e-3", "4.94685295315e-2", "8.73636172935e-1", "9.09601863452e-1", "9.64044076794e-1"),
    10: ("4.42040601721e-10", "4.39789643174e-5", "8.25811377585e-1", "8.93813489806e-1", "9.75431940509e-1"),
    20: ("8.21602832698e-36", "2.11775978589e-16", "7.53557766186e-1", "8.81029352691e-1", "9.89251736890e-1"),
    40: ("2.34324317517e-136", "6.33548942619e-60", "6.30923142149e-1", "8.70819080271e-1", "9.97845729949e-1"),
}


@check("floating", scope=f"d in {tuple(TABLE)}")
@mutant("the law of symmetric noise", law=lambda d, s: enclose_spectral_cdf(d, s, symmetric=True))
@mutant("22/7 for π", pi=(Fraction(22, 7), Fraction(22, 7)))
def norm_table(law: Formula = enclose_spectral_cdf, pi: Bounds = PI) -> Found:
    """The table of P(‖Z‖ ≤ cρd) is right for c = 1.1, 1.5, 3, π, 3.5.

    As d grows, the entries of a column fall if c < π, and from d = 3 on they rise if c = 3.5. At c = π the check
    computes the probability at a lower and at an upper rational bound on π. The two probabilities have the printed
    digits. The probability at π lies between them, because the distribution function is monotone, so it has the same
    digits.
    """
    ends = [(c, c) for c in (PRINTED, Fraction(3, 2), Fraction(3))] + [pi, (Fraction(7, 2), Fraction(7, 2))]
    for d, row in TABLE.items():
        yield f"d = {d}", ", ".join(row)
        for (below, above), digits in zip(ends, row, strict=True):
            texts = {law(d, c * d).text(DIGITS) for c in (below, above)}
            yield {f"d={d}, c={float(below):.4g}": texts == {digits}}
    columns = list(zip(*([float(v) for v in row] for row in TABLE.values()), strict=True))
    yield {"falling": all(new < old for column in columns[:3] for old, new in pairwise(column))}
    yield {"rising": all(new > old for old, new in pairwise(columns[4][1:]))}


# THE CONSTANTS OF THEOREM 1

CONSTANTS = {1: "2.0000000000000000000", 2: "2.5650996603237281911", 3: "2.9745606326009487581",
             4: "3.2881012649031680286", 8: "4.0598203299947476631", 16: "4.7543973402108972915"}  # fmt: skip
CROSSING = "3.072435706203214992622235"


def moment_by_quadrature(p: Number) -> mpmath.mpf:
    """Return E t^p for Ullman's density (2/π) arccosh(1/t) on (0, 1), with t = 1/cosh u."""
    integrand = mpmath.quad(lambda u: u * mpmath.sinh(u) / mpmath.cosh(u) ** (p + 2), [0, 4, 16, mpmath.inf])
    return 2 / mpmath.pi * integrand


@check("floating", scope=f"p in {tuple(CONSTANTS)}")
@mutant("half the limit", limit=lambda p, gamma, pi: schatten_limit(p, gamma, pi) / 2)
@mutant("p for p + 1", limit=lambda p, gamma, pi: schatten_limit(p, gamma, pi) * ((p + 1) / p) ** (1 / p))
@mutant("uniform spectra", moment=lambda p: 1 / (p + 1))
def schatten_constants_twice(limit: Formula = schatten_limit, moment: Formula = moment_by_quadrature) -> Found:
    """The Gamma formula and quadrature of the limiting law agree on C_p = 2 lim ‖Z‖_{S_p}/(ρd^{1+1/p}) to 20 digits."""
    with mpmath.workdps(30):
        for p, digits in CONSTANTS.items():
            closed = 2 * limit(mpmath.mpf(p), mpmath.gamma, mpmath.pi)
            by_quadrature = 2 * mpmath.pi * moment(mpmath.mpf(p)) ** (mpmath.mpf(1) / p)
            yield {f"p={p}": {mpmath.nstr(v, 20, strip_zeros=False) for v in (closed, by_quadrature)} == {digits}}
            yield f"C_{p}", digits


@check("floating", scope="one root")
@mutant("a constant of 3.0001", constant=mpmath.mpf("3.0001"))
@mutant(
    "without the factor (p + 1)^{−1/p}, and halved",
    limit=lambda p, gamma, pi: schatten_limit(p, gamma, pi) * (p + 1) ** (1 / p) / 2,
)
def crossing_twice(limit: Formula = schatten_limit, constant: Number = 3) -> Evidence:
    """C_p is equal to 3, the constant of DN25's Theorem 1, at p* = 3.072435706203214992622235, by the Gamma formula and
    by quadrature.

    C_p is the limit of 2‖Z‖_{S_p}/(ρd^{1+1/p}) as d → ∞ (assumption A-ULLMAN). C_p grows with p, because it is a fixed
    multiple of the p-th root of a p-th moment. For large d the constant 3 is therefore enough if p < p*, and too small
    if p > p*.
    """
    with mpmath.workdps(34):
        ends = mpmath.mpf(3), mpmath.mpf("3.1")
        by_formula = mpmath.findroot(
            lambda p: 2 * limit(p, mpmath.gamma, mpmath.pi) - constant, ends, solver="secant", tol=1e-55, verify=False
        )
        by_quadrature = mpmath.findroot(
            lambda p: 2 * mpmath.pi * moment_by_quadrature(p) ** (1 / p) - constant,
            ends,
            solver="secant",
            tol=1e-55,
            verify=False,
        )
        texts = [mpmath.nstr(v, 25, strip_zeros=False) for v in (by_formula, by_quadrature)]
    return Evidence(texts == [CROSSING, CROSSING], " and ".join(texts), {"p*": CROSSING})


# THE WISHART MECHANISM


@check("symbolic", covers="all", scope="all d, n, ε")
@mutant("d degrees of freedom", degrees=lambda d: d)
@mutant("a scale of 3/(nε)", scale=lambda n, epsilon: 3 / (n * epsilon))
@mutant("1 − e^{−ε}", formula=lambda epsilon, exp: 1 - exp(-epsilon))
@mutant("another last digit", quoted="0.283468689427")
def wishart_event_twice(
    formula: Formula = lambda epsilon, exp: 1 - exp(-epsilon / 3),
    degrees: Formula = lambda d: d + 1,
    scale: Formula = lambda n, epsilon: 3 / (2 * n * epsilon),
    quoted: str = "0.283468689426",
) -> Evidence:
    """For Wishart W, P(W ⋡ vvᵀ/n) = 1 − e^{−ε/3} by the χ² law of 1/vᵀW⁻¹v and by translating the semidefinite cone.

    W ~ Wishart_d with m degrees of freedom and scale σI has density ∝ det(W)^{(m−d−1)/2} e^{−tr W/(2σ)} on the cone.
    For m = d + 1 degrees of freedom the density is proportional to the exponential alone. The event W ⪰ vvᵀ/n is the
    cone translated by vvᵀ/n, which has trace 1/n, so its probability is e^{−1/(2nσ)} in every dimension. The second
    route computes the probability as P(χ²_{m−d+1} < 1/(nσ)).
    """
    d, n, epsilon, x = sp.symbols("d n epsilon x", positive=True)
    sigma = scale(n, epsilon)
    power = sp.simplify((degrees(d) - d - 1) / 2)
    moved = 1 - sp.exp(-1 / (2 * n * sigma)) if power == 0 else sp.nan
    freedom = sp.simplify(degrees(d) - d + 1)
    density = x ** (freedom / 2 - 1) * sp.exp(-x / 2) / (2 ** (freedom / 2) * sp.gamma(freedom / 2))
    along = sp.integrate(density, (x, 0, sp.simplify(1 / (n * sigma))))
    closed = formula(epsilon, sp.exp)
    residuals = [sp.simplify(closed - moved), sp.simplify(closed - along)]
    figures = {"ε = 1": str(sp.N(1 - sp.exp(sp.Rational(-1, 3)), 12))}
    holds = residuals == [0, 0] and figures["ε = 1"] == quoted
    return Evidence(holds, f"residuals {residuals}", figures)


# THE CENTRED COVARIANCE


def squared_modulus(z: sp.Expr) -> sp.Expr:
    """Return |z|² as a factored rational function of its real symbols."""
    expanded = sp.expand(z)
    return sp.factor(sp.simplify(sp.together(expanded * sp.conjugate(expanded))))


@check(
    "symbolic",
    covers="all",
    exhausts="a polynomial without roots on a half-line has one sign there",
    less="opposite",
    more="opposite",
    scope="all n ≥ 2, d ≥ 2",
)
@mutant("2√3 for 3√3", sensitivity=lambda n, d, sqrt: 2 * sqrt(3) * (n - 1) / n**2)
@mutant("√26 for √27", sensitivity=lambda n, d, sqrt: sqrt(26) * (n - 1) / n**2)
@mutant("n for n − 1", sensitivity=lambda n, d, sqrt: 3 * sqrt(3) / n)
def centred_sensitivity_twice(
    sensitivity: Formula = centred_sensitivity, opposite: Fraction = Fraction(64, 3)
) -> Evidence:
    """The sensitivity 3√3 (n − 1)/n² is proved with complex numbers: the largest |(x − m)² − (y − m)²| on the disc is
    3√3.

    For given x and y the best m lies in the plane of x, y and 0. In the plane |x − y||x + y − 2m| is the modulus of a
    polynomial in complex x, y, m, so its maximum over the disc is on the circle. With m = 1, p and q the tangents of
    half the angles of x and y, U = (p + q)² and w = pq,

        27 − |(x − m)² − (y − m)²|² = (11U² + BU + C)/(U + (1 − w)²)²,
        B = −2(5w + 27)(w − 1),  C = (w + 3)²(27w² − 14w + 3) ≥ 0.

    The coefficient B is negative only for w < −27/5 or w > 1, and for these w the discriminant B² − 44C of 11U² + BU +
    C is negative. The quotient is therefore ≥ 0, and it is 0 only at U = 0, w = −3, where x, y, m form an equilateral
    triangle. At x = −m half the angle of x has no tangent. For x = −m the squared modulus is 64/3 − 12 (Re y − 1/3)² <
    27, and for y = −m the same bound holds by symmetry. The bound is attained for every n ≥ 2 and d ≥ 2, exactly when
    the other n − 1 rows are one point, and this point, the old row and the new row are the corners of an equilateral
    triangle inscribed in a unit circle about 0.
    """
    p, q, u, w = sp.symbols("p q U w", real=True)
    n = sp.Symbol("n", positive=True)
    largest = sp.nsimplify(sp.simplify((sensitivity(n, 2, sp.sqrt) * n**2 / (n - 1)) ** 2))
    x, y = (sp.cancel((1 + sp.I * t) / (1 - sp.I * t)) for t in (p, q))
    squared = squared_modulus((x - 1) ** 2 - (y - 1) ** 2)
    excess = sp.expand(sp.cancel((largest - squared) * (1 + p**2) ** 2 * (1 + q**2) ** 2))
    b, c = -2 * (5 * w + 27) * (w - 1), (w + 3) ** 2 * (27 * w**2 - 14 * w + 3)
    certificate = (11 * u**2 + b * u + c).subs({u: (p + q) ** 2, w: p * q})
    identity = sp.expand(excess - certificate)
    roots = [r for r in sp.Poly(b**2 - 44 * c, w).real_roots() if not (sp.Rational(-27, 5) < r < 1)]
    outside = all((b**2 - 44 * c).subs(w, v) < 0 for v in (-6, 2))
    positive = sp.discriminant(27 * w**2 - 14 * w + 3, w) < 0
    at_opposite = squared_modulus((y - 1) ** 2 - 4)
    real_part = (1 - q**2) / (1 + q**2)
    missed = sp.simplify(opposite - 12 * (real_part - sp.Rational(1, 3)) ** 2 - at_opposite) == 0 and opposite < largest
    return Evidence(
        identity == 0 and not roots and bool(outside) and bool(positive) and bool(missed),
        f"residual of the identity {identity}, roots {roots}",
        {"3√3": str(sp.N(3 * sp.sqrt(3), 15))},
    )


def centred_covariance(x: Matrix) -> Matrix:
    """Return the centred covariance (1/n) Σ (x_i − x̄)(x_i − x̄)ᵀ of the rows."""
    y = x - x.mean(axis=0)
    covariance: Matrix = y.T @ y / len(x)
    return covariance


@check("floating", scope="n = 2, 3, 4, 5, 10; d = 1, 2, 3")
@mutant("2/n, as without centring", sensitivity=lambda n, d: 2 / n)
@mutant("the value for d ≥ 2 at d = 1 too", sensitivity=lambda n, d: centred_sensitivity(n, 2))
def centred_sensitivity_on_data(sensitivity: Formula = centred_sensitivity) -> Found:
    """The rows of `centred_pair` move the centred covariance by its sensitivity in nuclear norm."""
    for n, d in product((2, 3, 4, 5, 10), (1, 2, 3)):
        first, second = centred_pair(n, d)
        moved = centred_covariance(first) - centred_covariance(second)
        yield {f"n={n}, d={d}": abs(float(np.linalg.norm(moved, "nuc")) / float(sensitivity(n, d)) - 1) <= 1e-12}
