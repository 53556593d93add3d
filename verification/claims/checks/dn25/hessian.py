"""DN25 §2, §4: V(w) = −Σ_{i<j} log|w_i² − w_j²| is convex on each chamber of ordered w, but not across the walls.

A wall is a set w_i = w_j, on which V is +∞; a chamber is a part of the simplex between walls.
"""

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

import mpmath
import sympy as sp

from covassay.reference.domain import Number
from covassay.verification.claims.checks.dn25.noise import repulsion
from covassay.verification.claims.evidence import Evidence, check
from covassay.verification.exact import gamma_mixture

Entries = list[list[Number]]


def pair_hessian(w: Sequence[Number], sign: int = 1) -> Entries:
    """Σ_{i<j} (e_i − e_j)(e_i − e_j)ᵀ/(w_i − w_j)² + (e_i + e_j)(e_i + e_j)ᵀ/(w_i + w_j)², as DN25 prints it.

    With `sign` −1, for mutants, the second sum has e_i − e_j in place of e_i + e_j.
    """
    d = len(w)
    h: Entries = [[Fraction(0)] * d for _ in range(d)]
    for i, j in combinations(range(d), 2):
        minus, plus = 1 / (w[i] - w[j]) ** 2, 1 / (w[i] + w[j]) ** 2
        for k in (i, j):
            h[k][k] += minus + plus
        h[i][j] += sign * plus - minus
        h[j][i] += sign * plus - minus
    return h


def simplex_points(d: int, count: int, seed: int = 0) -> list[list[Fraction]]:
    """Rational points of the open simplex with distinct coordinates."""
    rng = random.Random(seed)
    points: list[list[Fraction]] = []
    while len(points) < count:
        parts = [Fraction(rng.randint(1, 10**6)) for _ in range(d)]
        if len(set(parts)) == d:
            points.append([p / sum(parts) for p in parts])
    return points


def positive_semidefinite(matrix: Entries) -> bool:
    """Whether an exact matrix is positive semidefinite, by symmetric elimination; a zero pivot needs a zero row."""
    m = [list(row) for row in matrix]
    for k in range(len(m)):
        if m[k][k] < 0 or (m[k][k] == 0 and any(m[k][j] for j in range(k + 1, len(m)))):
            return False
        if m[k][k] == 0:
            continue
        for i in range(k + 1, len(m)):
            factor = m[i][k] / m[k][k]
            m[i] = [a - factor * b for a, b in zip(m[i], m[k], strict=True)]
    return True


@check("symbolic", mutants={"a minus for a plus": {"printed": lambda w: pair_hessian(w, -1)}})
def hessian(printed: Callable[[Sequence[Number]], Entries] = pair_hessian) -> Evidence:
    """The Hessian of V is the sum over pairs that DN25 prints."""
    failed = []
    for d in (2, 3, 4):
        w = sp.symbols(f"w1:{d + 1}", positive=True)
        v = -sum(sp.log(a**2 - b**2) for a, b in combinations(w, 2))
        residual = (sp.hessian(v, w) - sp.Matrix(printed(w))).applyfunc(sp.factor)
        if residual != sp.zeros(d):
            failed.append(f"d={d}")
    return Evidence(not failed, "d = 2, 3, 4", ", ".join(failed))


@check("exact", mutants={"d − 1 for d − 2": {"diagonal": lambda d: d - 1}})
def sum_over_pairs(diagonal: Callable[[int], int] = lambda d: d - 2) -> Evidence:
    """Σ_{i<j} (e_i + e_j)(e_i + e_j)ᵀ = (d − 2) I + 1 1ᵀ."""
    failed = []
    for d in range(2, 13):
        total = [[0] * d for _ in range(d)]
        for i, j in combinations(range(d), 2):
            for a in (i, j):
                for b in (i, j):
                    total[a][b] += 1
        if total != [[diagonal(d) * (a == b) + 1 for b in range(d)] for a in range(d)]:
            failed.append(f"d={d}")
    return Evidence(not failed, "d ≤ 12", ", ".join(failed))


@check("exact", mutants={"d⁴ for d − 2": {"bound": lambda d: d**4}})
def curvature(bound: Callable[[int], Number] = lambda d: d - 2) -> Evidence:
    """∇²V ⪰ (d − 2) I on the simplex, because 1/(w_i + w_j)² ≥ 1 in the sum over pairs; and d − 2 ≥ d/10 for d ≥ 3."""
    failed = 0
    for d in (3, 4, 6):
        # close pairs make the first sum large, so points near the centre are the hard ones
        centre = [[(p + 20) / (1 + 20 * d) for p in point] for point in simplex_points(d, 10)]
        for w in simplex_points(d, 20) + centre:
            h = pair_hessian(w)
            failed += not positive_semidefinite([[h[i][j] - bound(d) * (i == j) for j in range(d)] for i in range(d)])
    slack = all(10 * (d - 2) >= d for d in range(3, 100))
    return Evidence(not failed and slack, "90 rational points, d = 3, 4, 6", f"{failed} points fail")


@check("exact", mutants={"without the square": {"bound": lambda d, cap: 30 * d / cap**2}})
def capped_curvature(bound: Callable[[int, Number], Number] = lambda d, cap: d / (40 * cap**2)) -> Evidence:
    """(4.1): ∇²V ⪰ 0.1 d/(2α)² I for d ≥ 3 if every w_i ≤ α, because then w_i + w_j ≤ 2α."""
    failed = 0
    for d in (3, 5, 8):
        for w in simplex_points(d, 20, seed=1):
            cap, h = max(w), pair_hessian(w)
            shifted = [[h[i][j] - bound(d, cap) * (i == j) for j in range(d)] for i in range(d)]
            failed += not positive_semidefinite(shifted)
    return Evidence(not failed, "60 rational points, d = 3, 5, 8", f"{failed} points fail")


@check(
    "symbolic",
    covers="all",
    exhausts="the statement is about d = 2, and the Hessian has two eigenvalues there",
    mutants={"1 for 2": {"constant": 1}},
)
def two_dimensions(constant: int = 2) -> Evidence:
    """Footnote 6: at d = 2 the eigenvalues of ∇²V are 2/(w₁ − w₂)² and 2/(w₁ + w₂)², at least 2 on the simplex."""
    a, b = sp.symbols("a b", positive=True)
    h = sp.Matrix(pair_hessian((a, b)))
    residuals = [sp.cancel(sp.together((h - sp.eye(2) * constant / (a + s * b) ** 2).det())) for s in (1, -1)]
    return Evidence(residuals == [0, 0], "all w", str(residuals))


@check(
    "exact",
    covers="case",
    mutants={
        "one chamber": {"points": ((Fraction(7, 10), Fraction(3, 10)), (Fraction(8, 10), Fraction(2, 10)))},
        "the density of independent values": {"density": lambda w: Fraction(1)},
    },
)
def midpoint(
    points: tuple[Sequence[Fraction], Sequence[Fraction]] = (
        (Fraction(7, 10), Fraction(3, 10)),
        (Fraction(3, 10), Fraction(7, 10)),
    ),
    density: Callable[[Sequence[Number]], Number] = lambda w: abs(repulsion(w)),
) -> Evidence:
    """The law of w is not log-concave: its density is 2/5 at (0.7, 0.3) and at (0.3, 0.7), and 0 at their midpoint.

    A log-concave density would be at least 2/5 at the midpoint, the geometric mean of the two values. The Hessian bound
    holds on each chamber of ordered w; V is +∞ on the walls between them.
    """
    one, two = points
    middle = [(a + b) / 2 for a, b in zip(one, two, strict=True)]
    contradicted = density(middle) ** 2 < density(one) * density(two)
    values = ", ".join(str(density(w)) for w in (one, two, middle))
    return Evidence(contradicted, "a counterexample at d = 2", f"densities {values}")


@check(
    "exact",
    mutants={"the moment of symmetric noise": {"mean_square": gamma_mixture.symmetric_mean_square, "largest": 3}},
)
def spread(mean_square: Callable[[int], Fraction] = gamma_mixture.mean_square, largest: int = 5) -> Evidence:
    """Var w_i ≥ ((3d + 1)/(2(d² + 1)) − 1/d)/d, about 1/(2d²), whereas (2.1) with κ = Ω̃(d³) would make it Õ(d⁻³).

    E‖Z‖_F² = d · E w_i² · d²(d² + 1) because R and w are independent. The lower bound uses the moment bound
    E‖Z‖_F² ≥ (3d³ + d²)/2, and the check compares it with the exact values. d³ times the lower bound is at least d/4,
    so no constant and no power of a logarithm saves (2.1).
    """
    failed, figures = [], {}
    for d in range(2, largest + 1):
        exact = mean_square(d) / (d * d**2 * (d**2 + 1)) - Fraction(1, d**2)
        lower = (Fraction(3 * d + 1, 2 * (d**2 + 1)) - Fraction(1, d)) / d
        figures[f"Var w (d={d})"] = f"{float(exact):.6g} ≥ {float(lower):.6g}"
        if exact < lower:
            failed.append(f"d={d}")
    growing = all(
        (Fraction(3 * d + 1, 2 * (d**2 + 1)) - Fraction(1, d)) * d**2 >= Fraction(d, 4) for d in range(4, 500)
    )
    return Evidence(not failed and growing, f"exact for d ≤ {largest}; the bound for all d", ", ".join(failed), figures)


def nonnegative_beyond(difference: sp.Expr, d: sp.Symbol, start: int) -> bool:
    """Whether a rational function of d is ≥ 0 for d ≥ start: in k = d − start it has no negative coefficient."""
    k = sp.Symbol("k", nonnegative=True)
    parts = sp.fraction(sp.together(difference.subs(d, start + k)))
    return all(c >= 0 for part in parts for c in sp.Poly(sp.expand(part), k).all_coeffs())


Moment = Callable[[sp.Expr], sp.Expr]


@check("symbolic", covers="all", mutants={"E‖Z‖_F² ≥ d³": {"moment": lambda d: d**3}})
def variance_of_a_weight(moment: Moment = lambda d: (3 * d**3 + d**2) / 2) -> Evidence:
    """Var w_i ≥ ((3d + 1)/(2(d² + 1)) − 1/d)/d ≥ 1/(4d²) for d ≥ 4, by the moment bound E‖Z‖_F² ≥ (3d³ + d²)/2.

    E‖Z‖_F² = d · E w_i² · d²(d² + 1), because R and w are independent, and E w_i = 1/d. (2.1) with κ = Ω̃(d³) would make
    the variance Õ(d⁻³); d³ times the lower bound is at least d/4, so no constant and no power of a logarithm saves it.
    """
    d = sp.Symbol("d", positive=True)
    variance = moment(d) / (d**3 * (d**2 + 1)) - 1 / d**2
    stated = (sp.Rational(1, 2) * (3 * d + 1) / (d**2 + 1) - 1 / d) / d
    holds = sp.simplify(variance - stated) == 0 and nonnegative_beyond(variance - 1 / (4 * d**2), d, 4)
    return Evidence(holds, "all d ≥ 4", f"the variance is at least {sp.factor(variance)}")


@check("symbolic", covers="all", mutants={"a lower moment bound": {"moment": lambda d: d**3}})
def largest_value(moment: Moment = lambda d: (3 * d**3 + d**2) / 2) -> Evidence:
    """(4.4) fails: E max w ≥ E Σ w² ≥ (3d + 1)/(2(d² + 1)), about 1.5/d, where (4.4) has (1 + o(1))/d.

    If max w ≤ (1 + h)/d with probability 1 − β, then E max w ≤ (1 + h)/d + β. With β = 1/(10 d) and h = 1/5 this is
    below the bound for every d ≥ 9, a contradiction; for large d every h < 0.4 leads to one.
    """
    d = sp.Symbol("d", positive=True)
    mean = moment(d) / (d**2 * (d**2 + 1))
    stated = sp.simplify(mean - (3 * d + 1) / (2 * (d**2 + 1))) == 0
    allowed = (1 + sp.Rational(1, 5)) / d + 1 / (10 * d)
    return Evidence(stated and nonnegative_beyond(mean - allowed, d, 9), "all d ≥ 9", f"E max w ≥ {sp.factor(mean)}")


@check("enclosed", mutants={"α = 2/d": {"cap": Fraction(2)}, "α = 3/d": {"cap": Fraction(3)}})
def capped_event(cap: Fraction = Fraction(4), smallest: int = 10**4) -> Evidence:
    """P(max w > 4/d) ≤ e^{−d r(c)}/(c(c − 2)) + e^{−d²/1250}, c = 3.84, which is below 1/(16 d²) from d = 10⁴ on.

    max w = ‖Z‖/R is above cap/d only if ‖Z‖ > 0.96 cap d or R < 0.96 d². The first has the tail of norm-tail.md, the
    second is below e^{−L} for d√(2L) = 0.04 d². So given max w ≤ 4/d, w_i still has the spread of
    `variance_of_a_weight`, and (4.2) fails. With α = 2/d the condition has a probability that tends to 0.
    """
    c = cap * Fraction(96, 100)
    log = mpmath.iv.log(2 * mpmath.iv.mpf(c.numerator) / c.denominator / mpmath.iv.pi)
    decay = mpmath.iv.mpf(c.numerator) / c.denominator - 2 - 2 * log  # r(c) of norm-tail.md
    told = mpmath.nstr(mpmath.mpf(decay.a), 4)
    if c <= 2 or not decay > 0:
        return Evidence(False, f"d ≥ {smallest}", f"no bound on the tail at c = {float(c):.4g}")
    failed = []
    for d in (smallest, 10 * smallest, 10**3 * smallest):
        tail = mpmath.iv.exp(-d * decay) / interval(c * (c - 2)) + mpmath.iv.exp(-(mpmath.iv.mpf(d) ** 2) / 1250)
        failed += [] if (16 * mpmath.iv.mpf(d) ** 2 * tail < 1) is True else [f"d={d}"]
    return Evidence(not failed, f"d = {smallest} and larger", ", ".join(failed) or f"r(c) ≥ {told}")


def interval(value: Fraction) -> mpmath.mpf:
    """The rational number as an interval."""
    return mpmath.iv.mpf(value.numerator) / value.denominator
