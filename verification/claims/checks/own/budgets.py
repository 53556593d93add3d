"""Check the exact spend of pure mechanisms: the supremum of the privacy loss, and pairs of data sets that attain it."""

import math
from itertools import product
from typing import Any

import mpmath
import numpy as np
from scipy.special import log_ndtr

from covassay.reference.domain import Vector, second_moment
from covassay.reference.downstream.ridge import coefficients
from covassay.reference.mechanisms import above_threshold, gaussian_approximate, output_perturbation, private_radius
from covassay.reference.mechanisms.building_blocks.gaussian_approximate import classical_multiplier, log_delta
from covassay.verification.claims.checks.own.spends import proven_of
from covassay.verification.claims.evidence import Evidence, Formula, Found, check, mutant
from covassay.verification.exact.above_threshold import largest_loss

# ABOVE THRESHOLD


def scales(calibration: str) -> tuple[float, float]:
    """Return the scale b₁ of the threshold's noise and the scale b₂ of the queries' noise at ε = 1."""
    return float(above_threshold.threshold_scale(1.0)), float(above_threshold.query_scale(1.0, calibration))


@check("floating", scope="120 random query vectors, ε = 1")
@mutant("7ε/10 on monotone queries", monotone=lambda b1, b2: 0.7 if b2 > 2 else 1.0)
@mutant("the monotone bound for general queries", general=above_threshold.monotone_loss)
@mutant("1/b₂ on energies", energies=lambda b1, b2, d: 1 / b2)
def threshold_spend(
    general: Formula = above_threshold.general_loss,
    monotone: Formula = above_threshold.monotone_loss,
    energies: Formula = above_threshold.energies_loss,
) -> Evidence:
    """AboveThreshold spends ε on general queries, 3ε/4 on monotone ones and ε/2 on energies n Σ_ii.

    With "tight", monotone queries and energies spend ε; general queries would spend 1.5 ε.

    The check computes the losses from the exact law of the output, an integral over the noise of the threshold. In the
    check no random queries exceed the bounds on the loss, and explicit queries come within 1 % of them. In the explicit
    pair of data sets for general queries, the values of 20 queries far above the threshold rise by 1, and the value of
    a last query far below it falls by 1. For monotone queries the last value does not change. For the energies n Σ_ii
    there are two queries; the value of the first rises by 1, and that of the second falls by 1.
    """
    rng = np.random.default_rng(41)
    failed, figures = [], {}
    for calibration in ("paper", "tight"):
        b1, b2 = scales(calibration)
        bounds = {
            "general": float(general(b1, b2)),
            "monotone": float(monotone(b1, b2)),
            "energies": float(energies(b1, b2, 2)),
        }
        worst = dict.fromkeys(bounds, 0.0)
        cases: list[tuple[str, Vector, Vector]] = []
        for _ in range(40):
            f = rng.normal(scale=6, size=int(rng.integers(2, 7)))
            cases.append(("general", f, f + rng.uniform(-1, 1, len(f))))
            cases.append(("monotone", f, f + rng.uniform(0, 1, len(f))))
            x, y = rng.dirichlet(np.ones(len(f)), 2) * rng.choice([rng.random(), 1.0])
            cases.append(("energies", f, f + y - x))
        far = np.array([25.0] * 20 + [-40.0])
        cases.append(("general", far, far + np.array([1.0] * 20 + [-1.0])))
        cases.append(("monotone", far, far + np.array([1.0] * 20 + [0.0])))
        cases.append(("energies", np.array([40.0, -40.0]), np.array([41.0, -41.0])))
        for kind, first, second in cases:
            worst[kind] = max(worst[kind], largest_loss(first, second, 0.0, b1, b2))
        for kind, bound in bounds.items():
            if not 0.99 * bound <= worst[kind] <= bound * (1 + 1e-9):
                failed.append(f"{kind}, {calibration}: {worst[kind]:.5f} of {bound:.5f}")
            figures[f"{kind}, {calibration}"] = f"{worst[kind]:.4f} of {bound:.4f}"
    radius, table = (
        [proven_of(file.spend(epsilon=1.0, dimension=3, calibration=c)) for c in ("paper", "tight")]
        for file in (private_radius, above_threshold)
    )
    holds = not failed and radius == [0.75, 1.0] and table == [0.5, 1.0]
    return Evidence(holds, "; ".join(failed[:3]), figures)


# RIDGE REGRESSION


def largest_move(n: int, alpha: float) -> float:
    """Return the distance by which the worst pair of neighbours moves the ridge minimiser, on three columns."""
    share = 2 * alpha / (1 + 4 * alpha)
    rest = np.array([math.sqrt(share), 0.0, math.sqrt(1 - share)])  # the other rows are chosen so that ‖ŵ‖ = W
    w = coefficients(np.outer(rest, rest), 2, alpha)
    q = np.append(w, -1.0) / math.sqrt(float(w @ w) + 1)
    side = np.array([0.0, 1.0, 0.0])
    ends = []
    for z in ((q + side) / math.sqrt(2), (q - side) / math.sqrt(2)):
        moment = ((n - 1) * np.outer(rest, rest) + np.outer(z, z)) / n
        ends.append(coefficients(moment, 2, alpha))
    return float(np.linalg.norm(ends[0] - ends[1]))


@check("floating", scope="2000 random neighbours, d ≤ 4")
@mutant("half the sensitivity", sensitivity=lambda n, a: output_perturbation.sensitivity(n, a, "tight") / 2)
@mutant("the paper's sensitivity", sensitivity=lambda n, a: output_perturbation.sensitivity(n, a, "paper"))
def ridge_sensitivity(sensitivity: Formula = lambda n, a: output_perturbation.sensitivity(n, a, "tight")) -> Found:
    """Replacing one row moves the ridge minimiser by at most √(W² + 1)/(2αn) with W = 1/(2√(2α(1 + 2α))).

    In the check no random neighbours exceed the bound, as computed with the reference's ridge regression. For n = 10⁶
    the check comes within 10⁻³ of the bound. There the other n − 1 rows have a minimiser ŵ with ‖ŵ‖ = W, and the row
    (q/‖q‖ + e)/√2 is replaced by (q/‖q‖ − e)/√2, where q = (ŵ, −1) and e is a unit vector orthogonal to q. The norm
    bound W is the largest √(λ(1 − λ))/(λ + 2α), attained at λ = 2α/(1 + 4α).
    """
    rng = np.random.default_rng(43)
    for _ in range(2000):
        n, d = int(rng.integers(1, 6)), int(rng.integers(2, 5))
        alpha = 10 ** rng.uniform(-3, 1)
        rows = rng.standard_normal((n + 1, d))
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), rng.random((n + 1, 1)))
        moved = [coefficients(second_moment(np.vstack([rows[: n - 1], rows[[i]]])), d - 1, alpha) for i in (n - 1, n)]
        yield float(np.linalg.norm(moved[0] - moved[1])) / float(sensitivity(n, alpha))
    for alpha in (0.01, 0.1, 1.0):
        share = largest_move(10**6, alpha) / float(sensitivity(10**6, alpha))
        yield f"α = {alpha:g}", f"{share:.6f}"
        yield {f"α = {alpha:g}": abs(share - 1) <= 1e-3}


# GAUSSIAN NOISE UNDER (ε, δ)


def delta_by_quadrature(q: float, epsilon: float) -> float:
    """Return ∫ (p(x) − e^ε p'(x))₊ dx for the densities p of N(0, 1) and p' of N(q, 1), split at the integrand's
    only zero.
    """
    edge = q / 2 - epsilon / q
    x, w = np.polynomial.legendre.leggauss(60)
    panels = np.linspace(min(edge, 0.0) - 40, edge, 161)
    half = np.diff(panels)[:, None] / 2
    points = panels[:-1, None] + half * (1 + x)
    first, second = np.exp(-(points**2) / 2), np.exp(epsilon - (points - q) ** 2 / 2)
    return float((half * w * (first - second)).sum()) / math.sqrt(2 * math.pi)


@check("floating", scope="14 values of q, ε; δ = 0.1, 1e-3, 1e-6")
@mutant("the first term alone", log_delta=lambda q, e: float(log_ndtr(q / 2 - e / q)))
@mutant("q for q/2", log_delta=lambda q, e: gaussian_approximate.log_delta(2 * q, e))
def gaussian_delta(log_delta: Formula = lambda q, e: gaussian_approximate.log_delta(q, e)) -> Found:
    """The smallest δ of Gaussian noise is Φ(q/2 − ε/q) − e^ε Φ(−q/2 − ε/q), as quadrature confirms.

    In the formula, q is the sensitivity divided by the standard deviation. The tight scale of the Gaussian noise
    reaches the claimed δ to 1e-7. The classical scale √(2 ln(1.25/δ))/ε has a smaller δ than claimed for ε ≤ 1. As ε
    grows, the δ of the classical scale passes the claimed δ. It does so at ε = 5.74 for a claimed δ of 0.1, at ε = 7.46
    for 1e-3, and at ε = 8.78 for 1e-6.
    """
    for q, epsilon in product((0.1, 0.5, 1.0, 3.0), (0.01, 0.5, 1.0, 3.0)):
        exact = delta_by_quadrature(q, epsilon)
        if exact > 1e-12:  # two of the exact values of δ are below 1e-12
            yield abs(math.exp(float(log_delta(q, epsilon))) / exact - 1) / 1e-9

    def reached(epsilon: float, multiplier: float) -> float:
        return math.exp(float(log_delta(1 / multiplier, epsilon)))

    for delta, crossing in ((0.1, 5.74), (1e-3, 7.46), (1e-6, 8.78)):
        for epsilon in (0.1, 1.0):
            tight, paper = (gaussian_approximate.multiplier(epsilon, delta, c) for c in ("tight", "paper"))
            yield {f"tight, ε={epsilon}, δ={delta}": delta * (1 - 1e-7) <= reached(epsilon, tight) <= delta}
            yield {f"classical, ε={epsilon}, δ={delta}": reached(epsilon, paper) < delta}
        for epsilon, above in ((crossing - 0.01, False), (crossing + 0.01, True)):
            classical = float(classical_multiplier(epsilon, delta))
            yield {f"crossing at δ={delta}": (reached(epsilon, classical) > delta) == above}


def log_normal(t: Any) -> Any:
    """Return the logarithm of the normal distribution function, in the precision of mpmath."""
    return mpmath.log(mpmath.erfc(-t / mpmath.sqrt(2)) / 2)


@check("floating", scope="600 budgets, 60 digits", less="multiplier")
@mutant(
    "a root that is not rounded up",
    multiplier=lambda e, d, c: gaussian_approximate.multiplier(e, d, c) / (1 + gaussian_approximate.rounding(e)),
)
@mutant("the classical scale for larger ε too", multiplier=lambda e, d, c: classical_multiplier(e, d))
def multiplier_is_enough(multiplier: Formula = gaussian_approximate.multiplier) -> Found:
    """The number m that `multiplier` returns has δ(1/m, ε) = Φ(1/(2m) − εm) − e^ε Φ(−1/(2m) − εm) ≤ δ.

    By theorems that Rocq's kernel has checked, noise of scale mΔ₂ is (ε, δ(1/m, ε))-DP for every m > 0. The check takes
    the float m and computes δ(1/m, ε) with 60 digits. The calibration is "paper" for a third of the budgets, with ε ≤
    1.
    """
    rng = np.random.default_rng(1)
    for i in range(600):
        calibration = "tight" if i % 3 else "paper"
        epsilon = 10 ** rng.uniform(-4, 2 if calibration == "tight" else 0)
        delta = 10 ** rng.uniform(-15, 0) * 0.999
        m = multiplier(epsilon, delta, calibration)
        with mpmath.workdps(60):
            q, exact = 1 / mpmath.mpf(m), mpmath.mpf(epsilon)
            yield log_delta(q, exact, log_normal, mpmath.log, mpmath.expm1) <= mpmath.log(mpmath.mpf(delta))
