"""Check DLY22 Lemmas 6, 7 and 13–17: norms of Gaussian and of Laplace noise.

Laplace noise is treated as Gaussian noise of random variance: √(2E) g with E exponential and g normal is Laplace(1).
Given the exponentials E, the noise is Gaussian, so that Gaussian concentration applies. The remaining step of the proof
is to bound the tails of sums and maxima of exponentials.
"""

import math
from collections.abc import Callable
from functools import cache
from itertools import product

import mpmath
import numpy as np
import sympy as sp
from scipy import stats

from covassay.reference import tails
from covassay.reference.domain import Number
from covassay.verification.claims.evidence import Evidence, Formula, Found, check, mutant

Bound = Callable[..., Number]
Plain = Callable[[float, float], float]
DIMENSIONS = (1, 2, 3, 5, 7, 8, 10, 50, 1000, 10**6, 10**12)
BETAS = (1 - 1e-9, 0.9, 0.5, 0.1, 1e-3, 1e-12, 1e-100, 1e-300)


# TAILS OF WEIGHTED SUMS


def chi_squared_exponent(v: Number, b: Number, s: Number, t: Number) -> Number:
    """Return the exponent of Chernoff's bound on P(Σ a_i (g_i² − 1) ≥ t) at λ = s/(√v + 2bs), v = Σ a_i², b = max a_i.

    The proof uses ln E e^{λa(g² − 1)} = −λa − ln(1 − 2λa)/2 ≤ λ²a²/(1 − 2λb).
    """
    rate = s / (sp.sqrt(v) + 2 * b * s)
    return v * rate**2 / (1 - 2 * b * rate) - rate * t


def moment_bounds() -> list[sp.Expr]:
    """Return expressions that vanish if both bounds on the moments hold.

    Each slack of a moment bound is 0 at u = 0 and has a derivative ≥ 0.
    """
    u = sp.symbols("u", positive=True)
    chi = u**2 / (1 - 2 * u) + u + sp.log(1 - 2 * u) / 2
    gamma = u**2 / (2 * (1 - u)) + u + sp.log(1 - u)
    return [
        sp.simplify(sp.diff(chi, u) - 2 * u**2 / (1 - 2 * u) ** 2),
        sp.simplify(sp.diff(gamma, u) - u**2 / (2 * (1 - u) ** 2)),
        chi.subs(u, 0),
        gamma.subs(u, 0),
    ]


def squared(bound: Bound, d: Number, s: Number, seen: list[Number]) -> Number:
    """Return the squared bound with s² in place of every ln(c/β), and append each constant c to the list `seen`."""

    def log(argument: Number) -> Number:
        seen.append(argument)
        return s**2

    return sp.expand(sp.powdenest(sp.nsimplify(sp.expand(bound(d, sp.Integer(1), log) ** 2)), force=True))


@check("symbolic", covers="all", scope="all d, β")
@mutant("without the middle term", bound=lambda d, beta, log: (d + 2 * log(1 / beta)) ** 0.5)
@mutant("ln(1/β) for 2 ln(1/β)", bound=lambda d, beta, log: (d + 2 * (d * log(1 / beta)) ** 0.5 + log(1 / beta)) ** 0.5)
def eta_tail(bound: Formula = tails.eta) -> Evidence:
    """P(‖N(0, I_d)‖ > η) ≤ β for all d and β, because the exponent of Chernoff's bound at η² is exactly ln β.

    The squared norm is a sum of d squared normal variables with weights 1, and t = η² − d = 2√d s + 2s² with s² =
    ln(1/β).
    """
    d, s = sp.symbols("d s", positive=True)
    seen: list[Number] = []
    t = squared(bound, d, s, seen) - d
    residual = sp.simplify(chi_squared_exponent(d, sp.Integer(1), s, t) + s**2)
    holds = residual == 0 and set(seen) == {1} and all(r == 0 for r in moment_bounds())
    return Evidence(holds, f"exponent − ln β = {residual}")


@check("symbolic", covers="all", scope="all d ≥ 1, β")
@mutant(
    "4 ln(2/β) in place of the last term 6 ln(2/β)",
    bound=lambda d, b, log: (d**2 + 2 * (d * log(2 / b)) ** 0.5 * (1 + (2 * (d - 1)) ** 0.5) + 4 * log(2 / b)) ** 0.5,
)
@mutant("without the union bound", bound=lambda d, b, log: tails.omega(d, 2 * b, log))
def omega_tail(bound: Formula = tails.omega) -> Evidence:
    """The Frobenius norm of the Gaussian Wigner matrix W exceeds ω with probability at most β, for all d and β.

    The squared norm ‖W‖_F² has the law χ²_d + 2χ²_{d(d−1)/2}. Each of these two χ² variables is at most its η² with
    probability 1 − β/2, and ω² is exactly the sum of the two bounds.
    """
    d, s = sp.symbols("d s", positive=True)
    seen: list[Number] = []
    m = d * (d - 1) / 2
    parts = squared(tails.eta, d, s, []) + 2 * (m + 2 * sp.sqrt(m) * s + 2 * s**2)
    residual = sp.simplify(sp.expand(squared(bound, d, s, seen) - parts).subs(d, sp.Symbol("k", positive=True) + 1))
    return Evidence(residual == 0 and set(seen) == {2}, f"residual {residual}")


@check("floating", scope="all d ≥ 2, β")
@mutant(
    "2 ln(1/β) for 4 ln(1/β)",
    bound=lambda d, b, log: (d**2 + 2 * (d * (2 * d - 1) * log(1 / b)) ** 0.5 + 2 * log(1 / b)) ** 0.5,
)
@mutant("η in d² dimensions", bound=lambda d, b, log: tails.eta(d**2, b, log))
def omega_sharp_tail(bound: Formula = tails.omega_sharp) -> Evidence:
    """The bound √(d² + 2√(d(2d − 1) ln(1/β)) + 4 ln(1/β)) on ‖W‖_F holds too, and it is smaller than ω.

    The smaller bound is one Chernoff bound for the sum with d weights 1 and d(d − 1)/2 weights 2, so that v = d(2d − 1)
    and b = 2. The bound from one Chernoff bound is smaller than ω because √(2d − 1) ≤ 1 + √(2(d − 1)).
    """
    k, s = sp.symbols("k s", positive=True)
    d = k + 1
    v = sp.expand(d + 4 * d * (d - 1) / 2)
    seen: list[Number] = []
    t = squared(bound, d, s, seen) - sp.expand(d**2)
    residual = sp.simplify(chi_squared_exponent(v, sp.Integer(2), s, t) + s**2)
    stated = residual == 0 and set(seen) == {1}
    smaller = stated and all(
        bound(d, b, math.log) <= tails.omega(d, b) * (1 + 1e-14) for d, b in product(DIMENSIONS, BETAS)
    )
    return Evidence(smaller, f"residual {residual}")


# THE SPECTRAL NORM OF THE GAUSSIAN WIGNER MATRIX


@check("floating", scope="d = 2, ln(1/β) = 2600; d = 1")
@mutant("υ*, which is proven", bound=tails.upsilon_star)
def upsilon_far_out(bound: Formula = tails.upsilon) -> Evidence:
    """At d = 2, ln(1/β) = 2600, ‖W‖ exceeds the υ of the authors' code with probability above β. At d = 1 this υ is
    0/0.

    At u = (1, 1)/√2, uᵀWu ~ N(0, 3/2), and a standard normal N has P(N > t) ≥ φ(t) t/(1 + t²). The check computes with
    30 digits. The logarithm of the lower bound on P(‖W‖ > υ) exceeds ln β by about 6.
    """
    with mpmath.workdps(30):
        beta = mpmath.exp(-2600)
        radius = bound(2, beta, mpmath.log)
        t = radius / mpmath.sqrt(mpmath.mpf(3) / 2)
        # the probability of both tails, |uᵀWu| > radius
        log_probability = mpmath.log(2 * t / (1 + t**2) / mpmath.sqrt(2 * mpmath.pi)) - t**2 / 2
        slope = (radius - bound(2, mpmath.mpf(2), mpmath.log)) ** 2 / mpmath.log(2 / beta)
        figures = {"υ": mpmath.nstr(radius, 5), "ln P": mpmath.nstr(log_probability, 6)}
        try:
            bound(1, beta, mpmath.log)
            undefined = False
        except ZeroDivisionError:
            undefined = True
        # P(|N(0, 3/2)| > t) is about e^{−t²/3}, so a deviation with t² < 3 ln(2/β) fails for small enough β
        holds = log_probability > -2600 and slope < 3 and undefined
        return Evidence(bool(holds), figures=figures)


@check("symbolic", scope="all d, β")
@mutant("√(2 ln(2/β)), as in the authors' code", bound=lambda d, b, log: 2 * d**0.5 + (2 * log(2 / b)) ** 0.5)
@mutant("one side only", bound=lambda d, b, log: tails.upsilon_star(d, 2 * b, log))
@mutant("√d for 2√d", bound=lambda d, b, log: d**0.5 + ((4 - 2 / d) * log(2 / b)) ** 0.5)
def upsilon_star_proof(bound: Formula = tails.upsilon_star) -> Evidence:
    """The spectral norm of the Gaussian Wigner matrix exceeds 2√d + √((4 − 2/d) ln(2/β)) with probability at most β.

    For unit u, v with c = ⟨u, v⟩, E(uᵀWu − vᵀWv)² = 2‖uuᵀ − vvᵀ‖_F² − Σ(u_i² − v_i²)² and ‖uuᵀ − vvᵀ‖_F² = 2(1 − c²).
    The increment is therefore at most 4(1 − c²) = 4‖u − v‖² − 4(1 − c)², and comparison with 2⟨g, u⟩ (Sudakov–Fernique)
    gives E λ_max ≤ 2E‖g‖ ≤ 2√d. The gradient of uᵀWu in W has squared length 2(Σu_i²)² − Σu_i⁴ ≤ 2 − 1/d = L². By
    Gaussian concentration λ_max and −λ_min each exceed their mean by √(2L² ln(2/β)) with probability at most β/2. The
    check confirms the identities for d = 2, 3, 4, which covers all pairs of indices.
    """
    residuals: list[sp.Expr] = []
    for k in (2, 3, 4):
        u, v = (sp.symbols(f"{name}1:{k + 1}", real=True) for name in "uv")
        pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
        diagonal = sum((a**2 - b**2) ** 2 for a, b in zip(u, v, strict=True))
        increments = diagonal + 4 * sum((u[i] * u[j] - v[i] * v[j]) ** 2 for i, j in pairs)
        norm = sum((u[i] * u[j] - v[i] * v[j]) ** 2 for i in range(k) for j in range(k))
        residuals.append(sp.expand(increments - 2 * norm + diagonal))
        squares_u, squares_v = sum(a**2 for a in u), sum(b**2 for b in v)
        inner = sum(a * b for a, b in zip(u, v, strict=True))
        residuals.append(sp.expand(norm - squares_u**2 - squares_v**2 + 2 * inner**2))
        gradient = sum(a**4 for a in u) + 4 * sum(u[i] ** 2 * u[j] ** 2 for i, j in pairs)
        residuals.append(sp.expand(gradient - 2 * squares_u**2 + sum(a**4 for a in u)))
    c, d, s = sp.symbols("c d s", positive=True)
    residuals.append(sp.expand(4 * (1 - c**2) - 4 * (2 - 2 * c) + 4 * (1 - c) ** 2))
    seen: list[Number] = []

    def log(argument: Number) -> Number:
        seen.append(argument)
        return s**2

    deviation = sp.nsimplify(bound(d, sp.Integer(1), log)) - 2 * sp.sqrt(d)
    residuals.append(sp.simplify(deviation**2 - 2 * (2 - 1 / d) * s**2))
    holds = all(r == 0 for r in residuals) and set(seen) == {2}
    return Evidence(holds, f"{sum(r != 0 for r in residuals)} of {len(residuals)} identities fail")


# LAPLACE NOISE


@check("floating", scope="m ≤ 1e100")
@mutant("max(2, log₂ m) for K", norm=lambda m, log: 2 * max(1, log(m) / log(2) / 2))
def psi_norm(norm: Formula = tails.psi_norm) -> Found:
    """For m Laplace(1) variables Z_i, E exp(max_i |Z_i|/K) ≤ 2 with K = 2 max((√2 + 1)/(√2 − 1), 2 log₂ m).

    max |Z_i| has the law of Σ E_k/k (Rényi), so the expectation is ∏_{k≤m} k/(k − 1/K) = m! Γ(1 − 1/K)/Γ(m + 1 − 1/K).
    The smallest K that works is 2 at m = 1 and (3 + √5)/2 at m = 2.
    """
    for m in (1, 2, 3, 10, 100, 10**4, 10**8, 10**16, 10**100):
        with mpmath.workdps(150):
            k = 1 / mpmath.mpf(norm(mpmath.mpf(m), mpmath.log))
            moment = mpmath.exp(mpmath.loggamma(m + 1) + mpmath.loggamma(1 - k) - mpmath.loggamma(m + 1 - k))
        yield float(moment) / 2


def laplace_vector(d: float, beta: float) -> float:
    """Return a bound on ‖Z‖₂ that fails with probability at most β, for a vector Z of d Laplace(1) variables.

    The bound is √(2(d + √(2dx) + x)) + 2√(x(x + ln d)) with x = ln(3/β).
    """
    x = math.log(3 / beta)
    return math.sqrt(2 * (d + math.sqrt(2 * d * x) + x)) + 2 * math.sqrt(x * (x + math.log(d)))


def laplace_frobenius(d: float, beta: float) -> float:
    """Return a bound on ‖W‖_F that fails with probability at most β: √(2(d² + √(2d(2d − 1)x) + 2x)) + 2√(2x(x + ln m)).

    In the bound on ‖W‖_F, x is ln(3/β) and m is d(d + 1)/2.
    """
    x, m = math.log(3 / beta), d * (d + 1) / 2
    return math.sqrt(2 * (d**2 + math.sqrt(2 * d * (2 * d - 1) * x) + 2 * x)) + 2 * math.sqrt(2 * x * (x + math.log(m)))


def _dominates(coded: Bound, proven: Plain, between: Plain, kink: float) -> tuple[bool, str]:
    """Return whether the bounds satisfy `coded` ≥ `between` ≥ `proven` on a grid of d and β, and whether `kink` ≥ 0.

    The bound `coded` is that of the authors' code, `proven` is a bound with a proof, and `between` is an intermediate
    bound. The second returned value is a text with the smallest ratios. The bounds `coded` and `between` are sums of a
    term in d and a multiple of ln(2/β). In `coded` the factor of ln(2/β) is K. The number `kink` is K minus the factor
    of ln(2/β) in `between`, at the dimension where the formula for K changes.
    """
    pairs = list(product(DIMENSIONS, BETAS))
    ratio = min(float(coded(d, b)) / between(d, b) for d, b in pairs)
    step = min(between(d, b) / proven(d, b) for d, b in pairs)
    told = (
        f"the code's bound is at least {ratio:.4f} times the intermediate bound; the intermediate bound is at least "
        f"{step:.4f} times the proven bound; at the dimension where the formula for K changes, K exceeds the factor of "
        f"ln(2/β) in the intermediate bound by {kink:.4f}"
    )
    return min(ratio, step) >= 1 and kink >= 0, told


KAPPA = math.log(3) / math.log(2)  # ln(3/β) ≤ κ ln(2/β) for β ≤ 1
KINK = (math.sqrt(2) + 1) / (math.sqrt(2) - 1)  # K is 2 KINK if 2 log₂ m ≤ KINK, and 4 log₂ m otherwise


@check("floating", scope="a grid of 88 pairs of d and β; an inequality covers all others")
@mutant("1.4√d for 1.5√d", coded=lambda d, b: tails.eta_laplace(d, b) - 0.1 * d**0.5)
@mutant("a fifth of K", coded=lambda d, b: 1.5 * d**0.5 + tails.psi_norm(d) / 5 * math.log(2 / b))
def laplace_vector_tail(coded: Formula = tails.eta_laplace) -> Evidence:
    """The bound 1.5√d + K ln(2/β) of the authors' code on ‖Z‖₂ holds, because it is never below a proven bound.

    The proven bound can fail only in three events, each of probability at most β/3. With x = ln(3/β) they are ΣE_i > d
    + √(2dx) + x, max E_i > x + ln d, and ‖Z‖₂ > √(2ΣE_i) + 2√(x max E_i). Given the E_i, which are independent
    exponentials, the event about ‖Z‖₂ has probability at most β/3 by Gaussian concentration. The bounds of the three
    events together give √(2(d + √(2dx) + x)) + 2√(x(x + ln d)) ≤ √(2d) + √(2x) + 2x + ln d. With L = ln(2/β) ≥ ln 2 and
    x ≤ κL, κ = log₂ 3, the sum √(2d) + √(2x) + 2x + ln d is at most √2 √d + (√(2κ/ln 2) + 2κ + log₂ d) L. The factor
    √(2κ/ln 2) + 2κ + log₂ d is below K; the two are closest at 2 log₂ d = (√2 + 1)².
    """
    first = math.sqrt(2 * KAPPA / math.log(2)) + 2 * KAPPA

    def between(d: float, beta: float) -> float:
        return math.sqrt(2 * d) + (first + math.log2(d)) * math.log(2 / beta)

    holds, detail = _dominates(coded, laplace_vector, between, 2 * KINK - first - KINK / 2)
    return Evidence(holds, detail)


@check("floating", scope="a grid of 88 pairs of d and β; an inequality covers all others")
@mutant("1.4 d for 1.5 d", coded=lambda d, b: tails.omega_laplace(d, b) - 0.1 * d)
@mutant("a fifth of K", coded=lambda d, b: 1.5 * d + tails.psi_norm(d * (d + 1) / 2) / 5 * math.log(2 / b))
@mutant("3 % less than K", coded=lambda d, b: 1.5 * d + tails.psi_norm(d * (d + 1) / 2) / 1.03 * math.log(2 / b))
def laplace_frobenius_tail(coded: Formula = tails.omega_laplace) -> Evidence:
    """The bound 1.5 d + K ln(2/β) of the authors' code on ‖W‖_F holds, because it is never below a proven bound.

    The proof is that of `laplace_vector_tail` with the weights 2E_ii and 4E_ij. With m = d(d + 1)/2, √(2(d² + √(2d(2d −
    1)x) + 2x)) + 2√(2x(x + ln m)) ≤ √2 d + 2√x + 2√2 x + √2 ln m ≤ √2 d + (2√(κ/ln 2) + 2√2 κ + √2 log₂ m) L. The mean
    of ‖W‖_F² is 2d² for Laplace noise. The factor 2√(κ/ln 2) + 2√2 κ + √2 log₂ m is closest to K at 2 log₂ m = (√2 +
    1)², d = 3.4, where it is 0.3 % below K. The check also tries this d with β = 1e-300.
    """
    first = 2 * math.sqrt(KAPPA / math.log(2)) + 2 * math.sqrt(2) * KAPPA

    def between(d: float, beta: float) -> float:
        return math.sqrt(2) * d + (first + math.sqrt(2) * math.log2(d * (d + 1) / 2)) * math.log(2 / beta)

    holds, detail = _dominates(coded, laplace_frobenius, between, 2 * KINK - first - KINK / math.sqrt(2))
    closest = (math.sqrt(1 + 8 * 2 ** (KINK / 2)) - 1) / 2
    holds &= float(coded(closest, 1e-300)) >= between(closest, 1e-300)
    return Evidence(holds, detail)


def theta(d: float) -> float:
    """Return the θ of the authors' code, min(((ln d)/d)^0.3, 1/2)."""
    return min(float((math.log(d) / d) ** 0.3), 0.5)


def laplace_wigner_mean(d: float, variance: float = 2.0) -> float:
    """Return the bound (1 + θ)(2σ + 6σ_*√(ln d/ln(1 + θ))) on E‖W‖, with σ² = 2(d + √(2d ln d) + ln d), σ_*² = 2(1 + ln
    m).
    """
    low = math.log(d)
    sigma = math.sqrt(variance * (d + math.sqrt(2 * d * low) + low))
    largest = math.sqrt(variance * (1 + math.log(d * (d + 1) / 2)))
    return (1 + theta(d)) * (2 * sigma + 6 * largest * math.sqrt(low / math.log1p(theta(d))))


def laplace_wigner_tail(d: float, beta: float, variance: float = 2.0) -> float:
    """Return the bound (1 + θ)(2σ + 6σ_*√(ln d/ln(1 + θ))) + 2σ_*√x on ‖W‖ with probability 1 − β, with x = ln(3/β).

    In the bound on ‖W‖, σ² = 2(d + √(2dy) + y) with y = x + ln d, and σ_*² = 2(x + ln m).
    """
    x = math.log(3 / beta)
    y = x + math.log(d)
    sigma = math.sqrt(variance * (d + math.sqrt(2 * d * y) + y))
    largest = math.sqrt(variance * (x + math.log(d * (d + 1) / 2)))
    mean = (1 + theta(d)) * (2 * sigma + 6 * largest * math.sqrt(math.log(d) / math.log1p(theta(d))))
    return mean + 2 * largest * math.sqrt(x)


@check("floating", scope="d up to 1e20")
@mutant(
    "2√(2d) in place of 2√d",
    coded=lambda d, b: tails.upsilon_laplace(d, b) + 2 * (math.sqrt(2) - 1) * (1 + theta(d)) * d**0.5,
)
def laplace_leading_term(coded: Formula = tails.upsilon_laplace) -> Evidence:
    """The authors' code bounds E‖W‖ and ‖W‖ by asymptotically 2√d, but ‖W‖/√d → 2√2, because Laplace(1) has variance 2.

    At β = 2, where ln(2/β) = 0, the code bounds the mean E‖W‖. This bound is below 2√(2d) from d = 3·10⁵ on, and the
    bound on ‖W‖ at β = 0.1 is below 2√(2d) from d = 3·10⁶ on. At d = 10²⁰ both bounds are within 1 % of 2√d.
    """
    limit = 2 * math.sqrt(2)
    mean = {d: float(coded(d, 2.0)) / math.sqrt(d) for d in (2e5, 3e5, 1e20)}
    whole = {d: float(coded(d, 0.1)) / math.sqrt(d) for d in (2e6, 3e6, 1e20)}
    below = mean[3e5] < limit < mean[2e5] and whole[3e6] < limit < whole[2e6]
    grid = np.geomspace(1e4, 1e20, 200)
    below &= all(
        float(coded(d, b)) / d**0.5 < limit for d in grid for b, start in ((2.0, 3e5), (0.1, 3e6)) if d >= start
    )
    asymptotic = abs(mean[1e20] / 2 - 1) < 0.01 and abs(whole[1e20] / 2 - 1) < 0.01
    figures = {"mean part at 3e5": f"{mean[3e5] * 3e5**0.5:.1f}", "2√(2d)": f"{limit * 3e5**0.5:.1f}"}
    detail = f"bounds over √d at d = 1e20: {mean[1e20]:.4f} and {whole[1e20]:.4f}"
    return Evidence(below and asymptotic, detail, figures)


@cache
def exact_maxima(d: int) -> tuple[float, float]:
    """Return the exact means of the largest of d independent sums of d exponentials, and of m = d(d + 1)/2
    exponentials.

    The mean of a maximum of d independent nonnegative variables with distribution function F is ∫ (1 − F^d).
    """
    t = np.linspace(0, 4 * d + 60, 400_001)
    row = float(np.trapezoid(1 - stats.gamma(d).cdf(t) ** d, t))
    return row, float(mpmath.harmonic(d * (d + 1) // 2))


def exact_levels(d: int, beta: float) -> tuple[float, float]:
    """Return the levels that maxima of d independent sums and of m exponentials exceed with probability β/3."""
    each = 1 - (1 - beta / 3) ** (1 / d)
    return float(stats.gamma(d).isf(each)), float(-math.log(-math.expm1(math.log1p(-beta / 3) / (d * (d + 1) / 2))))


def wigner_form(d: int, row: float, largest: float, level: float = 0.0) -> float:
    """Return the bound of Bandeira and van Handel, given the largest row sum and the largest entry of the E_ij.

    With the arguments `row`, `largest` and `level`, the bound is (1 + θ)(2√(2 row) + 6√(2 largest) √(ln d/ln(1 + θ))) +
    2√(2 largest) √level.
    """
    root = math.sqrt(2 * largest)
    mean = (1 + theta(d)) * (2 * math.sqrt(2 * row) + 6 * root * math.sqrt(math.log(d) / math.log1p(theta(d))))
    return mean + 2 * root * math.sqrt(level)


@check("floating", less="mean", scope="d = 2 to 1000, β ≥ 1e-6; d → ∞")
@mutant("a variance of 1", mean=lambda d: laplace_wigner_mean(d, 1.0))
@mutant("0 below 1e30", mean=lambda d: laplace_wigner_mean(d) if d > 1e30 else 0.0)
@mutant("a tail smaller by 20 %", tail=lambda d, beta: 0.8 * laplace_wigner_tail(d, beta))
@mutant("a variance of 3", tail=lambda d, beta: laplace_wigner_tail(d, beta, 3.0))
def laplace_wigner_bounds(mean: Formula = laplace_wigner_mean, tail: Formula = laplace_wigner_tail) -> Found:
    """The explicit bounds on E‖W‖ and ‖W‖ for Laplace noise are asymptotically 2√(2d), and they hold for d = 2 to 1000.

    Given the exponentials E_ij, W is Gaussian with standard deviations √(2E_ij), and E‖W‖ ≤ (1 + θ)(2σ + 6σ_*√(ln
    d/ln(1 + θ))) (Bandeira–van Handel 2016), where σ² is the largest row sum and σ_*² the largest entry of 2E. The
    check computes the exact means of two maxima, of d independent sums of d exponentials and of d(d + 1)/2
    exponentials, and the levels that the maxima exceed with probability β/3. With these means or levels in place of the
    largest row sum and the largest entry, the bound of Bandeira and van Handel is at most the stated bound. With the
    exact means, the bound of Bandeira and van Handel is at least 0.85 times the stated bound on the mean; with the
    exact levels, it is at least 0.8 times the stated bound on the tail.
    """
    for d in (2, 5, 20, 50, 200, 1000):
        share = wigner_form(d, *exact_maxima(d)) / mean(d) if mean(d) else math.inf
        yield {f"mean, d = {d}: {share:.4g}": 0.85 <= share <= 1}
        for beta in (0.3, 0.05, 1e-6):
            share = wigner_form(d, *exact_levels(d, beta), math.log(3 / beta)) / tail(d, beta)
            yield {f"tail, d = {d}: {share:.4g}": 0.8 <= share <= 1}
    for value in (mean(1e40), tail(1e40, 0.1)):
        yield {"d → ∞": math.isclose(value, 2 * math.sqrt(2 * 1e40), rel_tol=1e-3)}
