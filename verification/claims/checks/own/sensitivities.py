"""Check how far one row moves the second moment in every norm that a mechanism uses, and the worst pairs of rows."""

import math

import numpy as np
import sympy as sp

from covassay.reference import sensitivity as sensitivities
from covassay.reference.domain import Vector
from covassay.reference.laws import k_norm
from covassay.reference.mechanisms.pure import k_norm as k_norm_mechanism
from covassay.reference.sensitivity import SENSITIVITIES, triangle_l1
from covassay.verification.claims.checks.adk19.eigenvectors import random_rows
from covassay.verification.claims.checks.sign_patterns import enumerated_l1
from covassay.verification.claims.evidence import Formula, Found, check, mutant

# THE NORMS OF A MATRIX OF RANK TWO


@check("symbolic", covers="all", scope="all rows of the unit ball, d ≥ 1")
@mutant("a plus in the root", positive=lambda s, t, c: (s - t + ((s + t) ** 2 + 4 * c**2) ** 0.5) / 2)
@mutant("without −2c²", frobenius=lambda s, t, c: s**2 + t**2)
@mutant("twice the trace", trace=lambda s, t: 2 * (s - t))
@mutant("the trace in place of the nuclear norm", nuclear=lambda s, t, c: s - t)
@mutant("the nuclear norm of orthogonal rows", nuclear=lambda s, t, c: s + t)
@mutant("the Frobenius norm in place of the nuclear", nuclear=lambda s, t, c: sp.sqrt(s**2 + t**2 - 2 * c**2))
def spectral_suprema(
    positive: Formula = sensitivities.positive_eigenvalue,
    negative: Formula = sensitivities.negative_eigenvalue,
    frobenius: Formula = sensitivities.frobenius_change_squared,
    trace: Formula = sensitivities.trace_change,
    nuclear: Formula = sensitivities.eigenvalue_gap,
) -> Found:
    """For Δ = xxᵀ − yyᵀ, ‖Δ‖_* ≤ 2, ‖Δ‖_F ≤ √2, ‖Δ‖ ≤ 1, |tr Δ| ≤ 1 and max(tr Δ₊, tr Δ₋) ≤ 1; all are attained.

    In the proof s = ‖x‖², t = ‖y‖², c = ⟨x, y⟩. The eigenvalues μ₊ ≥ 0 ≥ μ₋ of Δ are the roots of f(μ) = μ² − (s − t)μ
    − (st − c²). Since f(s) = f(−t) = c² ≥ 0, −t ≤ μ₋ and μ₊ ≤ s. Hence ‖Δ‖ = max(μ₊, −μ₋) ≤ 1 and ‖Δ‖_* = μ₊ − μ₋ ≤ s +
    t. The Frobenius norm has 2 − ‖Δ‖_F² = (1 − s²) + (1 − t²) + 2c². The norms attain their bounds at s = t = 1, c = 0,
    and the trace attains its bound at t = 0. At d = 1, c² = st, and all norms are |s − t| ≤ 1, attained at s = 1, t =
    0.
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
        "nuclear": sp.simplify(sp.expand((plus - minus) ** 2 - sp.nsimplify(nuclear(s, t, c)) ** 2)),
        "Frobenius": sp.simplify(sp.expand(plus**2 + minus**2) - frobenius(s, t, c)),
        "2 − F²": sp.expand(2 - frobenius(s, t, c) - (1 - s**2) - (1 - t**2) - 2 * c**2),
        "Frobenius, d = 1": sp.expand(frobenius(s, t, sp.sqrt(s * t)) - trace(s, t) ** 2),
        "nuclear, d = 1": sp.expand(((plus - minus) ** 2).subs(c, sp.sqrt(s * t)) - (s - t) ** 2),
    }
    one, none = (1, 1, 0), (1, 0, 0)
    attained = {
        "nuclear": positive(*one) - negative(*one) == 2,
        "Frobenius": frobenius(*one) == 2,
        "operator": max(positive(*one), -negative(*one)) == 1 and positive(*none) == 1,
        "trace": trace(1, 0) == 1,
        "Frobenius and nuclear, d = 1": frobenius(*none) == positive(*none) - negative(*none) == 1,
    }
    yield {name: value == 0 for name, value in residuals.items()}
    yield attained


# ENTRIES


@check("floating", scope="d = 3 and 5, and every sign pattern of Δ")
@mutant("√2 d, as for even d", value=lambda d: math.sqrt(2) * d)
@mutant("the triangle's entries", enumerated=lambda d, triangle: enumerated_l1(d, True))
def all_entries_odd(value: Formula = lambda d: math.sqrt(2 * d**2 - 1), enumerated: Formula = enumerated_l1) -> Found:
    """For d = 3 and 5 the supremum of Σ_ij |Δ_ij| is √(2d² − 1), below √2 d, as trying every sign pattern shows."""
    for d in (3, 5):
        found = enumerated(d, False)
        yield f"d = {d}", f"{found:.9f}"
        yield {f"d={d}": abs(found - value(d)) <= 1e-9}


# THE BODY


@check("floating", scope="2000 random pairs of rows and the pairs that attain a sensitivity, d ≤ 5, five norms")
@mutant("√2 for the nuclear norm", change=lambda body, n, d: 2**0.5 / n)
@mutant("the ℓ1 sensitivity of the triangle for every body", change=lambda body, n, d: triangle_l1(d) / n)
def bodies(change: Formula = k_norm_mechanism.sensitivity) -> Found:
    """For every norm of the K-norm mechanism, no tried pair exceeds the sensitivity, and some pair attains it."""
    rng = np.random.default_rng(34)
    best: dict[tuple[str, int], float] = {}
    pairs: list[tuple[int, Vector, Vector]] = [(d, *random_rows(rng, d)) for d in range(1, 6) for _ in range(400)]
    pairs += [(d, *entry.pair(d)) for entry in SENSITIVITIES.values() for d in range(1, 6)]
    for d, x, y in pairs:
        for body in k_norm.BODIES:
            moved = float(k_norm.norm(np.outer(x, x) - np.outer(y, y), body))
            best[body, d] = max(best.get((body, d), 0.0), moved / float(change(body, 1, d)))
    yield {f"{body}, d={d}: {v:.6f}": abs(v - 1) <= 1e-9 for (body, d), v in best.items()}
