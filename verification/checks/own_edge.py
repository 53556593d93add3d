"""The sharp edge: ‖Z‖ ≤ (π + δ)ρd with probability exponentially near 1, in every dimension, by polynomials.

The proof for all d is proofs/paper/norm-edge.md; here its steps, and what it concludes, are held against exact numbers.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from covassay.reference.domain import Number, Vector
from covassay.verification.checks.own_laws import ullman_potential
from covassay.verification.evidence import Evidence, check
from covassay.verification.exact.spectral_cdf import enclose_spectral_survival

CASES = 400

# FORMULAS


def decay(s: Number, a: Number, functions: Any = np) -> Number:
    """D(s) = (2/π)(s arccos(a/s) − a arccosh(s/a)), s ≥ a: how fast |p(s)|e^{−s} falls beyond a = πn/2."""
    arccos = functions.arccos if functions is np else functions.acos
    arccosh = functions.arccosh if functions is np else functions.acosh
    return 2 / functions.pi * (s * arccos(a / s) - a * arccosh(s / a))


def edge_rate(c: Number, functions: Any = np) -> Number:
    """I(c) = (2/π)(c arccos(π/c) − π arccosh(c/π)), above 0 for c > π."""
    return decay(c, functions.pi, functions)


def edge_bound(c: Number, d: int, symmetric: bool) -> mpmath.mpf:
    """88 d³ e^{−d I(c)}/arccos(π/c); symmetric 44 d³ e^{−(d/2) I(2c)}/arccos(π/(2c))."""
    ratio = mpmath.mpf(c) * (2 if symmetric else 1)
    factor, share = (44, mpmath.mpf(1) / 2) if symmetric else (88, mpmath.mpf(1))
    return factor * d**3 / mpmath.acos(mpmath.pi / ratio) * mpmath.exp(-d * share * edge_rate(ratio, mpmath))


# THE STEPS


@check(
    "numeric",
    mutants={
        "an edge at 3n/2": {"formula": lambda s, a, functions: decay(s, 3 * a / functions.pi, functions)},
        "without its arccosh": {"formula": lambda s, a, functions: 2 / functions.pi * s * functions.acos(a / s)},
    },
)
def decay_is_the_potential(formula: Callable[..., Number] = decay) -> Evidence:
    """D(s) = s − n ∫ ln|s − t| dμ(t) − ℓ beyond a = πn/2, μ Ullman's law on [−a, a] and ℓ its value on [−a, a].

    D(a) = 0 and D'(s) = 1 − (2/π) arcsin(a/s) = (2/π) arccos(a/s) by symbols; and D against the potential, 15 digits.
    """
    s, a = sp.symbols("s a", positive=True)
    slope = sp.simplify(sp.diff(formula(s, a, sp), s) - 2 / sp.pi * sp.acos(a / s))
    points = ({s: 3, a: 2}, {s: 10, a: 1})
    symbolic = all(abs(sp.N(slope.subs(p), 30)) < 1e-25 for p in points) and formula(a, a, sp) == 0
    worst = mpmath.mpf(0)
    with mpmath.workdps(25):
        n = mpmath.mpf(6)
        edge = mpmath.pi * n / 2
        level = -n * ullman_potential(mpmath.mpf(0), edge)
        for ratio in (1.01, 1.3, 2, 5):
            x = edge * mpmath.mpf(ratio)
            worst = max(worst, abs(x - n * ullman_potential(x, edge) - level - formula(x, edge, mpmath)))
    holds = symbolic and worst < mpmath.mpf(10) ** -15
    return Evidence(bool(holds), "all s > a by symbols; four points", f"largest gap {mpmath.nstr(worst, 3)}")


def random_roots(rng: np.random.Generator, n: int) -> Vector:
    """n real roots: uniform, crowded, far out, or spread like Ullman's law; symmetric about 0 half of the time."""
    a = np.pi * n / 2
    kind = rng.integers(4)
    if kind == 0:
        roots = rng.uniform(-a, a, n)
    elif kind == 1:
        roots = rng.normal(scale=rng.uniform(0.05, 1.5) * a, size=n)
    elif kind == 2:
        roots = np.full(n, rng.uniform(-2 * a, 2 * a)) + rng.normal(size=n)
    else:
        u = (np.arange(4096) + 0.5) / 4096
        sample = np.sort(a * rng.permutation(u) * np.cos(np.pi * u))  # U C, C arcsine
        roots = np.quantile(sample, (np.arange(n) + 0.5) / n)
    if rng.random() < 0.5:
        half = np.abs(roots[: (n + 1) // 2])
        roots = np.concatenate([half, -half])[:n]
    found: Vector = roots
    return found


def log_weighted(x: Vector, roots: Vector) -> Vector:
    """ln |p(x)| − |x|."""
    with np.errstate(divide="ignore"):
        values: Vector = np.log(np.abs(x[:, None] - roots)).sum(axis=1) - np.abs(x)
    return values


@check(
    "property",
    mutants={
        "an edge at n": {"share": 2 / np.pi},
        "twice the decay": {"factor": 2.0},
    },
)
def growth_outside(share: float = 1.0, factor: float = 1.0) -> Evidence:
    """A polynomial of degree n has |p(s)|e^{−|s|} ≤ e^{−D(s)} max_{|x| ≤ a} |p(x)|e^{−|x|} for |s| > a = πn/2.

    Random real roots of every kind, n ≤ 40; the maximum on a fine grid is within 1 % of the true one. The reason: ln|p|
    − n∫ln|z − t|dμ is subharmonic off [−a, a], also at ∞, and on [−a, a] it is ln|p(x)| − |x| + ℓ.
    """
    rng = np.random.default_rng(61)
    failed, closest = 0, -np.inf
    for _ in range(CASES):
        n = int(rng.integers(1, 41))
        a = share * np.pi * n / 2
        roots = random_roots(rng, n)
        inside = log_weighted(np.concatenate([np.linspace(-a, a, 4001), [0.0, -a, a]]), roots).max()
        s = a * np.concatenate([1 + np.geomspace(1e-3, 4, 60), -1 - np.geomspace(1e-3, 4, 60)])
        excess = log_weighted(s, roots) - inside + factor * decay(np.abs(s), a)
        failed += bool(excess.max() > 0.01)
        closest = max(closest, float(excess.max()))
    return Evidence(
        not failed, f"{CASES} polynomials, n ≤ 40", f"{failed} fail", {"largest log ratio": f"{closest:.4f}"}
    )


@check(
    "property",
    mutants={
        "n/2 for 14n²": {"constant": lambda n: n / 2},
        "1/10": {"constant": lambda n: 0.1},
    },
)
def maximum_by_integral(constant: Callable[[int], float] = lambda n: 14.0 * n**2) -> Evidence:
    """max |p(x)|e^{−|x|} ≤ 14 n² ∫ |p|e^{−|x|} on one side of 0, n the degree: Markov's inequality at the maximum.

    With the maximum M at x₀ ≥ 0, |p| ≤ e|p(x₀)| on [x₀, x₀ + 1], so |p'| ≤ 2en²|p(x₀)| there, and the integral is at
    least M e^{−1/(2en²)}/(4en²). 4e · e^{1/(2e)} < 14. The integral here by a fine sum, on the side of the maximum.
    """
    rng = np.random.default_rng(62)
    worst = 0.0
    for _ in range(CASES):
        n = int(rng.integers(1, 41))
        a = np.pi * n / 2
        roots = random_roots(rng, n)
        x = np.linspace(0, 4 * a + 40, 8001)
        sides = [log_weighted(sign * x, roots) for sign in (1, -1)]
        top = max(v.max() for v in sides)
        side = sides[0] if sides[0].max() == top else sides[1]
        integral = float(np.exp(side - top).sum()) * (x[1] - x[0])
        worst = max(worst, 1 / integral / constant(n))
    exact = 4 * np.e * np.exp(1 / (2 * np.e)) < 14
    return Evidence(
        worst <= 1 and bool(exact), f"{CASES} polynomials, n ≤ 40", figures={"largest share": f"{worst:.4f}"}
    )


@check(
    "symbolic",
    mutants={
        "1 − η/3": {"cosine": lambda eta: 1 - eta / 3},
        "for η ≤ 2": {"largest": 2},
    },
)
def near_the_edge(cosine: Callable[[sp.Expr], sp.Expr] = lambda eta: 1 - eta / 2, largest: int = 1) -> Evidence:
    """I(π(1 + η)) ≥ (4/3)η^{3/2} for η ≤ 1: its slope is 2 arccos(1/(1 + η)) ≥ 2√η, as 1/(1 + η) ≤ 1 − η/2 ≤ cos √η.

    So P(‖Z‖ > π(1 + η)ρd) ≤ 88 d³ η^{−1/2} e^{−(4/3)dη^{3/2}}; with η = (9 ln d/(2d))^{2/3} it is at most 88 d^{−8/3},
    and η ≤ 1 from d = 11 on.
    """
    eta = sp.symbols("eta", positive=True)
    slope = sp.diff(edge_rate(sp.pi * (1 + eta), sp), eta) - 2 * sp.acos(1 / (1 + eta))
    derivative = all(abs(sp.N(slope.subs(eta, v), 30)) < 1e-25 for v in (sp.Rational(1, 3), 1, 5))
    product = sp.expand(cosine(eta) * (1 + eta) - 1)  # ≥ 0 on (0, largest]
    below = all(product.subs(eta, sp.Rational(k, 8)) >= 0 for k in range(1, 8 * largest + 1))
    series = sp.series(sp.cos(sp.sqrt(eta)) - cosine(eta), eta, 0, 2).removeO() == 0  # 1 − η/2 + η²/24 − …
    factors = set(sp.solve(product, eta)) <= {0, 1}
    small = all(bool(sp.N(9 * sp.log(d) - 2 * d) <= 0) for d in range(11, 60))
    return Evidence(
        bool(derivative and below and series and factors and small), "0 < η ≤ 1", f"product {sp.factor(product)}"
    )


# THE TAIL


@check(
    "numeric",
    mutants={
        "an edge at 2ρd": {
            "bound": lambda c, d, symmetric: 88 * d**3 * mpmath.exp(-d * decay(mpmath.mpf(c), mpmath.mpf(2), mpmath)),
        },
        "twice the rate": {"bound": lambda c, d, symmetric: edge_bound(c, d, symmetric) ** 2 / (88 * d**3)},
    },
)
def edge_tail(bound: Callable[[Number, int, bool], mpmath.mpf] = edge_bound) -> Evidence:
    """P(‖Z‖ > cρd) ≤ 88 d³ e^{−d I(c)}/arccos(π/c) for every d and c > π, I(c) = (2/π)(c arccos(π/c) − π arccosh(c/π)).

    Symmetric: 44 d³ e^{−(d/2) I(2c)}/arccos(π/(2c)) for c > π/2. Against enclosures; the rate I is also what −ln P/d
    tends to.
    """
    failed, figures = [], {}
    with mpmath.workdps(30):
        for symmetric, multiples in ((False, (4, 5, 8)), (True, (2, 3, 4))):
            for d in (1, 2, 5, 10, 20, 40):
                for c in multiples:
                    survival = enclose_spectral_survival(d, Fraction(c * d), symmetric=symmetric, digits=6).upper
                    if not survival <= bound(c, d, symmetric):
                        failed.append(f"{'symmetric' if symmetric else 'full'}, d={d}, c={c}")
                    if d == 40:
                        kind, rate = (
                            ("symmetric", edge_rate(2.0 * c) / 2) if symmetric else ("full", edge_rate(1.0 * c))
                        )
                        seen = -mpmath.log(survival) / d
                        figures[f"−ln P/d, {kind}, c = {c}"] = f"{mpmath.nstr(seen, 4)}, rate {float(rate):.4f}"
    return Evidence(not failed, "d ≤ 40, three c of each kind", ", ".join(failed[:4]), figures)
