"""How far replacing one row moves the second moment in every norm that a mechanism uses, and which pairs attain it."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import sympy as sp

from covassay.reference import sensitivity as sensitivities
from covassay.reference.domain import Number, Vector
from covassay.reference.laws import k_norm
from covassay.reference.mechanisms.pure import k_norm as k_norm_mechanism
from covassay.reference.sensitivity import SENSITIVITIES, full_l1, triangle_l1
from covassay.verification.claims.checks.adk19.eigenvectors import random_rows
from covassay.verification.claims.checks.sign_patterns import enumerated_l1
from covassay.verification.claims.evidence import Evidence, Found, check, mutant

CASES = 3000
ROUNDING = 1e-12  # relative allowance for rounding

Formula = Callable[[Number, Number, Number], Number]


# THE NORMS OF A MATRIX OF RANK TWO


@check("symbolic", covers="all")
@mutant("a plus in the root", positive=lambda s, t, c: (s - t + ((s + t) ** 2 + 4 * c**2) ** 0.5) / 2)
@mutant("without −2c²", frobenius=lambda s, t, c: s**2 + t**2)
@mutant("twice the trace", trace=lambda s, t: 2 * (s - t))
def spectral_suprema(
    positive: Formula = sensitivities.positive_eigenvalue,
    negative: Formula = sensitivities.negative_eigenvalue,
    frobenius: Formula = sensitivities.frobenius_change_squared,
    trace: Callable[[Number, Number], Number] = sensitivities.trace_change,
) -> Evidence:
    """For Δ = xxᵀ − yyᵀ, ‖Δ‖_* ≤ 2, ‖Δ‖_F ≤ √2, ‖Δ‖ ≤ 1, |tr Δ| ≤ 1 and max(tr Δ₊, tr Δ₋) ≤ 1; all are attained.

    Let s = ‖x‖², t = ‖y‖², c = ⟨x, y⟩. The eigenvalues μ₊ ≥ 0 ≥ μ₋ are the roots of f(μ) = μ² − (s − t)μ − (st − c²).
    f(s) = f(−t) = c² ≥ 0 implies −t ≤ μ₋ and μ₊ ≤ s, so ‖Δ‖ = max(μ₊, −μ₋) ≤ 1 and ‖Δ‖_* = μ₊ − μ₋ ≤ s + t. The
    Frobenius norm has 2 − ‖Δ‖_F² = (1 − s²) + (1 − t²) + 2c². All norms attain their bounds at s = t = 1, c = 0, and
    the trace attains its bound at t = 0. At d = 1, c² = st and all norms are |s − t| ≤ 1, attained at s = 1, t = 0.
    """
    s, t = sp.symbols("s t", positive=True)
    c = sp.symbols("c", real=True)
    plus, minus = (sp.nsimplify(f(s, t, c)) for f in (positive, negative))

    def polynomial(v: sp.Expr) -> sp.Expr:
        return v**2 - (s - t) * v - (s * t - c**2)

    residuals = {
        "μ₊": sp.simplify(sp.expand(polynomial(plus))),
        "μ₋": sp.simplify(sp.expand(polynomial(minus))),
        "f(s)": sp.expand(polynomial(s) - c**2),
        "f(−t)": sp.expand(polynomial(-t) - c**2),
        "trace": sp.simplify(plus + minus - trace(s, t)),
        "Frobenius": sp.simplify(sp.expand(plus**2 + minus**2) - frobenius(s, t, c)),
        "2 − F²": sp.expand(2 - frobenius(s, t, c) - (1 - s**2) - (1 - t**2) - 2 * c**2),
        "F, d = 1": sp.expand(frobenius(s, t, sp.sqrt(s * t)) - trace(s, t) ** 2),
        "nuclear, d = 1": sp.expand(((plus - minus) ** 2).subs(c, sp.sqrt(s * t)) - (s - t) ** 2),
    }
    one, none = (1, 1, 0), (1, 0, 0)
    attained = {
        "nuclear": positive(*one) - negative(*one) == 2,
        "F": frobenius(*one) == 2,
        "operator": max(positive(*one), -negative(*one)) == 1 and positive(*none) == 1,
        "trace": trace(1, 0) == 1,
        "F and nuclear, d = 1": frobenius(*none) == positive(*none) - negative(*none) == 1,
    }
    failed = [k for k, v in residuals.items() if v != 0] + [k for k, v in attained.items() if not v]
    return Evidence(not failed, "all rows of the unit ball, d ≥ 1", ", ".join(failed))


# ENTRIES


@check("floating", scope="upper bound for all d; attained for every even d (checked to 40)")
@mutant("2d, as in ADK19", bound=lambda d: 2 * d)
@mutant("a bound of d", bound=lambda d: d)
@mutant("√(2d² − 1), as for odd d", bound=lambda d: (2 * d**2 - 1) ** 0.5)
def all_entries(bound: Callable[[int], Number] = full_l1) -> Found:
    """Σ_ij |Δ_ij| ≤ √2 d, and this is attained for every even d.

    Let W be the signs of Δ. The sum is xᵀWx − yᵀWy ≤ λ_max(W) − λ_min(W) ≤ √2 ‖W‖_F = √2 d. For d = 2k let x have k
    entries cos(π/8)/√k and k entries sin(π/8)/√k, and let y have −sin(π/8)/√k and cos(π/8)/√k in their places. Then
    every |Δ_ij| is √2/d.
    """
    cos2, cossin = (1 + 1 / sp.sqrt(2)) / 2, 1 / (2 * sp.sqrt(2))  # cos² π/8 and cos π/8 sin π/8
    for d in range(2, 41, 2):
        k = d // 2
        blocks = [[(cos2 - (1 - cos2)) / k, 2 * cossin / k], [2 * cossin / k, ((1 - cos2) - cos2) / k]]
        squares = {sp.nsimplify(sp.expand(v**2)) for row in blocks for v in row}
        total_squared = Fraction(2, d**2) * d**4
        if squares != {sp.Rational(2, d**2)} or abs(float(bound(d)) ** 2 - float(total_squared)) > 1e-9:
            yield f"d={d}"


@check("floating")
@mutant("√2 d, as for even d", value=lambda d: math.sqrt(2) * d)
@mutant("the triangle's entries", enumerated=lambda d, triangle: enumerated_l1(d, True))
def all_entries_odd(
    value: Callable[[int], float] = lambda d: math.sqrt(2 * d**2 - 1),
    enumerated: Callable[[int, bool], float] = enumerated_l1,
) -> Evidence:
    """For d = 3 and 5 the supremum of Σ_ij |Δ_ij| is √(2d² − 1), below √2 d, found by trying every sign pattern."""
    found = {d: enumerated(d, False) for d in (3, 5)}
    failed = [f"d={d}" for d, v in found.items() if abs(v - value(d)) > 1e-9]
    figures = {f"d = {d}": f"{v:.9f}" for d, v in found.items()}
    return Evidence(not failed, "d = 3, 5, all sign patterns", ", ".join(failed), figures)


@check("floating")
@mutant("√((d² + 3d)/2)", value=lambda d: math.sqrt((d**2 + 3 * d) / 2))
@mutant("d² for 4⌊d²/4⌋", value=lambda d: math.sqrt((d + 2) ** 2 + d**2) / 2)
@mutant("all entries", enumerated=lambda d, triangle: enumerated_l1(d, False))
def triangle_enumerated(
    value: Callable[[int], Number] = triangle_l1, enumerated: Callable[[int, bool], float] = enumerated_l1
) -> Evidence:
    """For d ≤ 5 the supremum of Σ_{i≤j} |Δ_ij| is ½√((d + 2)² + 4⌊d²/4⌋), found by trying every sign pattern."""
    found = {d: enumerated(d, True) for d in range(1, 6)}
    failed = [f"d={d}" for d, v in found.items() if abs(v - float(value(d))) > 1e-9]
    figures = {f"d = {d}": f"{v:.9f}" for d, v in found.items()}
    return Evidence(not failed, "d ≤ 5, all sign patterns", ", ".join(failed), figures)


# THE BODY


@check("floating")
@mutant("half the nuclear norm", gauge=lambda nuclear, trace: nuclear / 2)
@mutant("3 % more", gauge=lambda nuclear, trace: 1.03 * k_norm.covariance_norm(nuclear, trace))
@mutant("the nuclear norm", gauge=lambda nuclear, trace: nuclear)
def covariance_body(gauge: Callable[[Number, Number], Number] = k_norm.covariance_norm) -> Evidence:
    """max(tr M₊, tr M₋) is the gauge of the convex hull of all changes Δ; over neighbours its maximum is 1.

    The reference's (‖M‖_* + |tr M|)/2 equals the larger of the two traces. A random point A − B of its unit ball, with
    A, B ⪰ 0 of trace at most 1, is written as a mean Σ_ij p_i q_j (u_iu_iᵀ − v_jv_jᵀ) of changes, where u and v may be
    0. So it lies in the hull.
    """
    rng = np.random.default_rng(33)
    failed, largest = 0, 0.0
    for _ in range(CASES):
        d = int(rng.integers(1, 6))
        m = rng.standard_normal((d, d)) * rng.exponential(size=d)
        m = (m + m.T) / 2
        values, vectors = np.linalg.eigh(m)
        up, down = float(values[values > 0].sum()), -float(values[values < 0].sum())
        size = float(gauge(up + down, up - down))
        failed += abs(size - max(up, down)) > 1e-9 * (1 + size)
        plus, minus = np.maximum(values, 0) / size, np.maximum(-values, 0) / size
        rebuilt = np.zeros((d, d))
        rest = [1 - plus.sum(), 1 - minus.sum()]
        weights = [[*plus, rest[0]], [*minus, rest[1]]]  # the last weight belongs to a row of zeros
        rows = [*vectors.T, np.zeros(d)]
        for p, u in zip(weights[0], rows, strict=True):
            for q, v in zip(weights[1], rows, strict=True):
                rebuilt += p * q * (np.outer(u, u) - np.outer(v, v))
        failed += min(rest) < -1e-9 or bool(np.abs(rebuilt - m / size).max() > 1e-9)
        x, y = random_rows(rng, d)
        eigenvalues = np.linalg.eigvalsh(np.outer(x, x) - np.outer(y, y))
        largest = max(largest, float(gauge(np.abs(eigenvalues).sum(), eigenvalues.sum())))
    attained = gauge(2, 0) == 1 and gauge(1, 1) == 1
    return Evidence(
        not failed and attained and largest <= 1 + ROUNDING,
        f"{CASES} random matrices and pairs, d ≤ 5",
        f"{failed} cases fail",
        {"largest": f"{largest:.6f}"},
    )


@check("floating")
@mutant("√2 for the nuclear norm", change=lambda body, n, d: 2**0.5 / n)
@mutant("the triangle's sensitivity for every body", change=lambda body, n, d: triangle_l1(d) / n)
def bodies(change: Callable[[str, Number, int], Number] = k_norm_mechanism.sensitivity) -> Evidence:
    """No pair of rows that is tried exceeds the sensitivity of any body of the K-norm mechanism; each is attained."""
    rng = np.random.default_rng(34)
    best: dict[tuple[str, int], float] = {}
    pairs: list[tuple[int, Vector, Vector]] = [(d, *random_rows(rng, d)) for d in range(1, 6) for _ in range(400)]
    pairs += [(d, *entry.pair(d)) for entry in SENSITIVITIES.values() for d in range(1, 6)]
    for d, x, y in pairs:
        for body in k_norm.BODIES:
            moved = float(k_norm.norm(np.outer(x, x) - np.outer(y, y), body))
            best[body, d] = max(best.get((body, d), 0.0), moved / float(change(body, 1, d)))
    failed = [f"{body}, d={d}: {v:.6f}" for (body, d), v in best.items() if abs(v - 1) > 1e-9]
    return Evidence(not failed, f"{len(pairs)} pairs, d ≤ 5, five bodies", ", ".join(failed[:3]))
