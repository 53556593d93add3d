"""Check how far one row moves the mean and the second moment together, and what joint moments spend."""

from fractions import Fraction
from itertools import product

import numpy as np
import sympy as sp

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.concentrated import joint_moments
from covassay.reference.sensitivity import frobenius_change_squared
from covassay.verification.claims.evidence import Formula, Found, check, mutant

RHO = 0.75
MORE, LESS = Fraction(103, 100), Fraction(97, 100)
WEIGHTS = (0.2, 1.0, 1.7, 6.0)
# Mutants of both sensitivities
WEIGHT_OFF = {
    "λ₀ larger by 3 %": {"weight": lambda d, w, sqrt: MORE * joint_moments.moment_weight(d, w, sqrt)},
    "λ₀ smaller by 3 %": {"weight": lambda d, w, sqrt: LESS * joint_moments.moment_weight(d, w, sqrt)},
}
FREE = {"every weight is free": {"squared": lambda d, w, sqrt: 4}}
SQUARED_OFF = {"S² smaller by 3 %": {"squared": lambda d, w, sqrt: LESS * joint_moments.change_squared(d, w, sqrt)}}


# THE JOINT SENSITIVITY


@check(
    "symbolic",
    covers="all",
    mutants={
        **WEIGHT_OFF,
        "the weight for one column": {"weight": lambda d, w, sqrt: joint_moments.moment_weight(1, w, sqrt)},
        **FREE,
        "the sum of both sensitivities": {
            "squared": lambda d, w, sqrt: 4 + 2 * joint_moments.moment_weight(d, w, sqrt)
        },
        **SQUARED_OFF,
    },
    scope="all rows of the unit ball, d ≥ 2, all weights",
)
def several_columns(
    weight: Formula = joint_moments.moment_weight, squared: Formula = joint_moments.change_squared
) -> Found:
    """For d ≥ 2 the supremum S² of q = ‖x − y‖² + λ‖xxᵀ − yyᵀ‖_F² is 4 up to λ = ½ and 2 + 2λ + 1/(2λ) above.

    With s = ‖x‖², t = ‖y‖², c = ⟨x, y⟩, q = s + t − 2c + λ(s² + t² − 2c²) rises in s and in t. Hence q is at most its
    value at s = t = 1. For d ≥ 2, every c in [−1, 1] is the inner product of two unit rows. At s = t = 1 the difference
    4 − q is 2(1 + c)(1 − λ(1 − c)), which has no negative value if and only if λ ≤ ½. For λ > ½, S² − q = 2λ(c +
    1/(2λ))², and −1/(2λ) lies in (−1, 0).
    """
    s, t, beyond = sp.symbols("s t u", positive=True)
    c = sp.symbols("c", real=True)
    most, above = weight(2, sp.Integer(1), sp.sqrt), weight(2, 1 + beyond, sp.sqrt)

    def q(lam: sp.Expr, s: sp.Expr, t: sp.Expr) -> sp.Expr:
        return s + t - 2 * c + lam * frobenius_change_squared(s, t, c)

    free, more = q(most, sp.Integer(1), sp.Integer(1)), q(above, sp.Integer(1), sp.Integer(1))
    residuals = {
        "q rises in s": sp.diff(q(above, s, t), s) - 1 - 2 * above * s,
        "q rises in t": sp.diff(q(above, s, t), t) - 1 - 2 * above * t,
        "up to λ₀": squared(2, sp.Integer(1), sp.sqrt) - free - 2 * (1 + c) * (1 - most * (1 - c)),
        "λ₀": 1 - 2 * most,
        "below λ₀": squared(2, sp.Rational(1, 2), sp.sqrt) - 4,
        "above λ₀": squared(2, 1 + beyond, sp.sqrt) - more - 2 * above * (c + 1 / (2 * above)) ** 2,
        "λ rises": sp.diff(above, beyond) - most,
    }
    yield from (name for name, value in residuals.items() if sp.simplify(value) != 0)


@check(
    "symbolic",
    covers="all",
    mutants={
        **WEIGHT_OFF,
        "the weight for several columns": {"weight": lambda d, w, sqrt: joint_moments.moment_weight(2, w, sqrt)},
        **FREE,
        "S² for several columns": {"squared": lambda d, w, sqrt: joint_moments.change_squared(2, w, sqrt)},
        **SQUARED_OFF,
    },
    scope="all rows of the unit ball, d = 1, all weights",
)
def one_column(weight: Formula = joint_moments.moment_weight, squared: Formula = joint_moments.change_squared) -> Found:
    """For d = 1, S² is 4 up to λ₀ = (11 + 5√5)/8, and above it λp³(2 − p) with p = (3 − √(1 − 2/λ))/2.

    With p = x − y and r = x + y, q = p²(1 + λr²) and |p| + |r| ≤ 2. Hence q is at most f(p) = p²(1 + λ(2 − p)²), and
    the rows x = 1, y = 1 − p attain f(p) for 0 ≤ p ≤ 2. At λ₀, 4 − f is λ₀(2 − p)(p + 2√5 − 4)(p − √5 + 1)², which is
    never negative and is 0 at p = √5 − 1. At this p, f rises in λ, so that λ₀ is the largest λ with S² = 4. For λ > λ₀,
    f has one maximum below p = 2, where 2λ(2 − p)(p − 1) = 1. At the maximum f = p³/(2(p − 1)), which is 4 at p = √5 −
    1 and rises as p falls from √5 − 1 to 1; p falls as λ rises from λ₀.
    """
    x, y, p = sp.symbols("x y p", real=True)
    beyond, m, r = sp.symbols("u m r", positive=True)
    five = sp.sqrt(5)
    most = weight(1, sp.Integer(1), sp.sqrt)
    top = (3 - r) / 2  # the variable is r = √(1 − 2/λ), so that λ is 2/(1 − r²) and this expression is p
    above = sp.sympify(squared(1, 1 + beyond, lambda value: five if value == 5 else r))
    above = above.subs(beyond, 2 / (1 - r**2) / most - 1)

    def f(lam: sp.Expr, p: sp.Expr) -> sp.Expr:
        return p**2 * (1 + lam * (2 - p) ** 2)

    residuals = {
        "q": (x - y) ** 2 + m * frobenius_change_squared(x**2, y**2, x * y) - (x - y) ** 2 * (1 + m * (x + y) ** 2),
        "up to λ₀": squared(1, sp.Integer(1), sp.sqrt)
        - f(most, p)
        - most * (2 - p) * (p + 2 * five - 4) * (p - five + 1) ** 2,
        "below λ₀": squared(1, sp.Rational(1, 2), sp.sqrt) - 4,
        "the slope of f": sp.diff(f(m, p), p) - 2 * p * (1 - 2 * m * (2 - p) * (p - 1)),
        "the maximum": 4 / (1 - r**2) * (2 - top) * (top - 1) - 1,
        "above λ₀": above - top**3 / (2 * (top - 1)),
        "its slope": sp.diff(p**3 / (2 * (p - 1)), p) - p**2 * (2 * p - 3) / (2 * (p - 1) ** 2),
        "it starts at 4": (five - 1) ** 3 / (2 * (five - 2)) - 4,
        "r at λ₀": (5 - 2 * five) ** 2 - 1 + 2 / most,
        "λ rises": sp.diff(weight(1, 1 + beyond, sp.sqrt), beyond) - most,
    }
    yield from (name for name, value in residuals.items() if sp.radsimp(sp.cancel(sp.expand(value))) != 0)


# THE BUDGET


def spent(x: Vector, y: Vector, first: float, second: float) -> float:
    """Return D_α/α of the release when the row x of n = 1 is replaced by y; it is the same for every order α."""
    change: Matrix = np.outer(x, x) - np.outer(y, y)
    moved = float((x - y) @ (x - y)) / first**2 + float(wigner.separation_squared(change, "goe")) / second**2
    return moved / 2


@check("floating", scope="d = 1, 2, 3, 6; four weights", less="first second", more="first")
@mutant("σ₂ without 1/√λ", second=joint_moments.mean_scale)
@mutant("σ₂ of the second moment alone", second=lambda n, d, rho, w: ((2 if d > 1 else 1) / (2 * rho)) ** 0.5 / n)
def budget(first: Formula = joint_moments.mean_scale, second: Formula = joint_moments.moment_scale) -> Found:
    """Joint moments spend exactly the budget ρ on some rows, for every weight."""
    for d, weight in product((1, 2, 3, 6), WEIGHTS):
        scales = float(first(1, d, RHO, weight)), float(second(1, d, RHO, weight))
        attained = spent(*joint_moments.worst_rows(d, weight), *scales) / RHO
        yield {f"d = {d}, weight {weight}: {attained:.6f} ρ": abs(attained - 1) <= 1e-12}
