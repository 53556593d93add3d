"""DLY22 §1, §3 and Lemma 8: the covariance, its sensitivities, notions of privacy, and the sparse vector technique."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from covassay.reference import privacy
from covassay.reference.domain import Matrix, Number, second_moment
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.building_blocks import above_threshold, gaussian
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.sensitivity import SENSITIVITIES
from covassay.verification.claims.checks.divergences import renyi
from covassay.verification.claims.evidence import Evidence, Found, check, mutant

CASES = 3000
ROUNDING = 1e-9


def rows_in_ball(rng: np.random.Generator, n: int, d: int) -> Matrix:
    """Random rows of the unit ball, of length 1 with probability 1/3 and of a random length down to 1e-3 otherwise."""
    rows = rng.standard_normal((n, d))
    lengths = np.where(rng.random(n) < 1 / 3, 1.0, 10 ** rng.uniform(-3, 0, n))
    scaled: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True) * lengths[:, None]
    return scaled


# THE COVARIANCE


@check("floating", scope="500 random data sets, n ≤ 8, d ≤ 5")
@mutant("division by d", moment=lambda x: second_moment(x) * x.shape[0] / x.shape[1])
def trace_identity(moment: Callable[[Matrix], Matrix] = second_moment) -> Found:
    """In the eigenvectors of Σ the features are orthogonal with squared norms nλ_i, so Σλ_i = tr Σ = average ‖x_i‖²."""
    rng = np.random.default_rng(1)
    for _ in range(500):
        n, d = int(rng.integers(1, 9)), int(rng.integers(1, 6))
        x = rows_in_ball(rng, n, d)
        values, vectors = np.linalg.eigh(moment(x))
        features = x @ vectors
        yield float(np.abs(features.T @ features / n - np.diag(values)).max()) / ROUNDING
        yield abs(float(values.sum() - (x**2).sum() / n)) / ROUNDING


@check("floating")
@mutant("√2 times the scale", scale=lambda n, rho: sp.sqrt(2) * gauss_cov.noise_scale(n, rho))
@mutant("half the variance off the diagonal", deviations=lambda d, e: wigner.deviations(d, "goe"))
def gauss_cov_error(
    scale: Callable[[Number, Number], Number] = gauss_cov.noise_scale,
    deviations: Callable[[int, str], Matrix] = wigner.deviations,
) -> Evidence:
    """On all data GaussCov has E‖Σ̂ − Σ‖_F² = d²/(n²ρ) exactly, an error of order d/n.

    σ²ρn² = 1 is checked symbolically, and Σ_ij Var W_ij = d² entry by entry up to d = 8.
    """
    n, rho = sp.symbols("n rho", positive=True)
    unit = sp.simplify(sp.nsimplify(scale(n, rho)) ** 2 * n**2 * rho)
    counted = [abs(float((deviations(d, "wigner") ** 2).sum()) - d**2) < ROUNDING for d in range(1, 9)]
    return Evidence(unit == 1 and all(counted), "all n, ρ; d ≤ 8 entry by entry", f"σ²ρn² = {unit}")


@check("floating")
@mutant("λ₁ and λ_d exchanged", swap=True)
@mutant("half the norm", factor=0.5)
@mutant("3 % more", factor=1.03)
@mutant("3 % less", factor=0.97)
def mahalanobis(swap: bool = False, factor: float = 1.0) -> Evidence:
    """‖A‖_F/λ₁ ≤ ‖Σ^{−1/2} A Σ^{−1/2}‖_F ≤ ‖A‖_F/λ_d, with equality for A along the first and the last eigenvector.

    The matrices A are of any kind, symmetric or not.
    """
    rng = np.random.default_rng(3)
    failed, lowest, highest = 0, math.inf, 0.0
    for i in range(CASES):
        d = int(rng.integers(1, 6))
        q = np.linalg.qr(rng.standard_normal((d, d)))[0]
        values = np.sort(10 ** rng.uniform(-2, 0, d))[::-1]
        a = rng.standard_normal((d, d))
        if i % 3 < 2:
            a = np.outer(q[:, -(i % 3)], q[:, -(i % 3)])
        root = (q / np.sqrt(values)) @ q.T
        relative = factor * float(np.linalg.norm(root @ a @ root) / np.linalg.norm(a))
        low, high = (1 / values[-1], 1 / values[0]) if swap else (1 / values[0], 1 / values[-1])
        lowest, highest = min(lowest, relative / low), max(highest, relative / high)
        failed += not low * (1 - ROUNDING) <= relative <= high * (1 + ROUNDING)
    detail = f"{failed} cases fail; smallest and largest share {lowest:.9f}, {highest:.9f}"
    return Evidence(not failed, f"{CASES} random pairs, d ≤ 5", detail)


# NOTIONS OF PRIVACY


@check("symbolic", covers="all")
@mutant("ε²/4 for ε²/2", printed=lambda e: e**2 / 4)
@mutant("ε tanh ε for ε tanh(ε/2)", smallest=lambda e, tanh: e * tanh(e))
def pure_to_zcdp(
    printed: Callable[[Number], Number] = lambda e: e**2 / 2, smallest: Callable[..., Number] = privacy.zcdp_of_pure
) -> Evidence:
    """ε-DP implies ε²/2-zCDP, and even ε tanh(ε/2)-zCDP.

    The check confirms the identities of this proof. 1. Any P, Q with ratio in [e^{−ε}, e^ε] are mixtures
    (e^ε A + B)/(1 + e^ε), (A + e^ε B)/(1 + e^ε) of two laws A, B. So they are post-processed randomised response, and
    their D_α is at most the D_α of randomised response. 2. For randomised response e^{(α−1)D_α} = cosh a/cosh b with
    a = ε(α − ½), b = ε/2, and a² − b² = ε²α(α − 1). 3. The derivative of ln cosh √u is h(√u) with h(a) = tanh(a)/(2a),
    which decreases: a²h'(a) = −(sinh 2a − 2a)/(4 cosh² a), and sinh 2a − 2a has the derivative 4 sinh² a. So
    D_α ≤ α ε² h(b) = α ε tanh(ε/2), and tanh b ≤ b.
    """
    p, q, odds = sp.symbols("p q r", positive=True)
    first, second = (odds * p - q) / (odds - 1), (odds * q - p) / (odds - 1)
    mixture = (
        sp.simplify((odds * first + second) / (1 + odds) - p),
        sp.simplify((first + odds * second) / (1 + odds) - q),
    )
    z, w = sp.symbols("z w", positive=True)  # e^{ε/2} and e^{ε(α − 1/2)}
    moment = sp.simplify((w * z + z / w) / (1 + z**2) - (w + 1 / w) / (z + 1 / z))
    a, b = sp.symbols("a b", positive=True)
    h = sp.tanh(a) / (2 * a)
    decreasing = sp.simplify((a**2 * sp.diff(h, a) + (sp.sinh(2 * a) - 2 * a) / (4 * sp.cosh(a) ** 2)).rewrite(sp.exp))
    convex = sp.simplify((sp.diff(sp.sinh(2 * a) - 2 * a, a) - 4 * sp.sinh(a) ** 2).rewrite(sp.exp))
    slope = sp.simplify(smallest(2 * b, sp.tanh) / (2 * b) ** 2 - h.subs(a, b))
    slack = printed(2 * b) / (2 * b) - sp.tanh(b)
    below = sp.simplify(sp.diff(slack, b) - sp.tanh(b) ** 2)
    residuals = [*mixture, moment, decreasing, convex, slope, below, sp.limit(slack, b, 0)]
    return Evidence(all(r == 0 for r in residuals), "all ε > 0, α > 1", f"residuals {residuals}")


@check("symbolic", covers="all")
@mutant("without the factor 2", epsilon=lambda rho, delta, log: rho + (rho * log(1 / delta)) ** 0.5)
def zcdp_to_approximate(epsilon: Callable[..., Number] = privacy.epsilon_of_zcdp) -> Evidence:
    """ρ-zCDP implies (ρ + 2√(ρ ln(1/δ)), δ)-DP, because the Chernoff bound at α = (ε + ρ)/(2ρ) > 1 is exactly δ.

    P(E) ≤ e^ε Q(E) + P(loss > ε), and P(loss > ε) ≤ e^{(α−1)αρ − (α−1)ε}. The check sets ρ = r² and ln(1/δ) = t².
    """
    r, t = sp.symbols("r t", positive=True)
    target = sp.nsimplify(sp.powdenest(sp.nsimplify(epsilon(r**2, sp.Symbol("delta"), lambda v: t**2)), force=True))
    alpha = (target + r**2) / (2 * r**2)
    residual = sp.simplify((alpha - 1) * alpha * r**2 - (alpha - 1) * target + t**2)
    above_one = sp.simplify(alpha - 1).is_positive
    return Evidence(residual == 0 and bool(above_one), "all ρ, δ", f"residual {residual}")


@check("symbolic", covers="all")
@mutant("σ = Δ/(2√ρ)", scale=lambda s, rho: s / (2 * sp.sqrt(rho)))
@mutant("σ for σ²", loss=lambda s, variance: s**2 / (2 * sp.sqrt(variance)))
def gaussian_divergence(
    scale: Callable[[Number, Number], Number] = gaussian.noise_scale,
    loss: Callable[[Number, Number], Number] = privacy.zcdp_of_gaussian,
) -> Evidence:
    """D_α(N(Δ, σ²)‖N(0, σ²)) = αΔ²/(2σ²), which is αρ at σ = Δ/√(2ρ).

    Completing the square gives α(x − Δ)² + (1 − α)x² = (x − αΔ)² + α(1 − α)Δ², and D_α is the last term over
    −2σ²(α − 1). The divergences of independent coordinates add up, so Δ² may be the squared ℓ2 norm of a change.
    """
    x, change, r, alpha = sp.symbols("x Delta r alpha", positive=True)
    rho = r**2 / 2
    square = alpha * (x - change) ** 2 + (1 - alpha) * x**2 - (x - alpha * change) ** 2
    constant = sp.expand(square)
    sigma = sp.nsimplify(scale(change, rho))
    divergence = constant / (-2 * sigma**2 * (alpha - 1))
    residual = sp.simplify(divergence - alpha * rho)
    spent = sp.simplify(loss(change, sigma**2) - rho)
    free = x not in constant.free_symbols
    return Evidence(free and residual == 0 and spent == 0, "all α, Δ, ρ", f"residuals {residual}, {spent}")


@check("floating", scope=f"{CASES} random pairs of finite laws, α ≤ 20")
@mutant("the larger of the two", composed=max)
@mutant("the root of the sum of squares", composed=math.hypot)
def zcdp_composition(composed: Callable[..., Number] = privacy.zcdp_composition) -> Found:
    """D_α of an adaptive pair of draws is at most D_α of the first plus the largest D_α of the second.

    If the second draw does not depend on the first, there is equality.
    """
    rng = np.random.default_rng(4)
    for i in range(CASES):
        alpha = float(rng.choice([1.1, 2.0, 5.0, 20.0]))
        p, q = rng.dirichlet(np.ones(3), 2)
        kernels = rng.dirichlet(np.ones(4), (2, 3))
        if i % 2:
            kernels[:, 1:] = kernels[:, :1]  # the second draw does not depend on the first
        first, second, kernels = np.log(p), np.log(q), np.log(kernels)
        joint = renyi((first[:, None] + kernels[0]).ravel(), (second[:, None] + kernels[1]).ravel(), alpha)
        bound = composed(renyi(first, second, alpha), max(renyi(k, m, alpha) for k, m in zip(*kernels, strict=True)))
        yield joint <= bound * (1 + ROUNDING)
        yield not (bool(i % 2) and not abs(joint / bound - 1) < ROUNDING)


# THE SPARSE VECTOR TECHNIQUE


def _accuracy(*given: Any) -> Any:
    """The reference's α, for mutants."""
    return above_threshold.accuracy(*given)


@check("floating", scope="m ≤ 100, β ≤ 9/10")
@mutant("half α", accuracy=lambda m, b, e, c, log: 4 * log(2 * m / b) / e)
@mutant("without the union bound", accuracy=lambda m, b, e, c, log: 8 * log(2 / b) / e)
@mutant("3 % more than 8", accuracy=lambda m, b, e, c, log: Fraction(103, 100) * _accuracy(m, b, e, c, log))
@mutant("3 % more than β", accuracy=lambda m, b, e, c, log: _accuracy(m, b * Fraction(103, 100), e, c, log))
@mutant(
    "3 % more than β for tight",
    accuracy=lambda m, b, e, c, log: above_threshold.accuracy(
        m, b * Fraction(103, 100) if c == "tight" else b, e, c, log
    ),
)
def svt_accuracy(accuracy: Callable[..., Number] = above_threshold.accuracy) -> Found:
    """At α = (8/ε) ln(2m/β) all noises stay within α/2 with probability at least 1 − β, by the union bound.

    With v = e^{αε/8}, P(|Laplace(4/ε)| ≥ α/2) = 1/v and P(|Laplace(2/ε)| ≥ α/2) = v^{−2}, so m/v + v^{−2} ≤ β is
    needed. The formula for α is linear in its logarithm, so evaluating it with log = identity gives 8v/ε, and the check
    is in rational arithmetic. The α of "tight" is that of levels t of the threshold and u of each query with
    P(|noise| ≥ t) = β/2 and P(|noise| ≥ u) = β/(2m); with the identity for log it is b₁ 2/β + b₂ 2m/β.
    """
    b1, b2 = Fraction(above_threshold.threshold_scale(1)), Fraction(above_threshold.query_scale(1, "tight"))
    for m, beta in product((1, 2, 5, 100), (Fraction(9, 10), Fraction(1, 2), Fraction(1, 1000))):
        coefficient = accuracy(m, beta, Fraction(1), "paper", lambda v: 1)  # α = coefficient · ln(argument)
        argument = accuracy(m, beta, Fraction(1), "paper", lambda v: v) / coefficient
        power = Fraction(coefficient) / 8  # e^{−α/8} = argument^{−power}
        stated = coefficient == 8 and argument == 2 * m / beta
        query = float(argument) ** -float(power) if power != 1 else 1 / argument
        tight = accuracy(m, beta, Fraction(1), "tight", lambda v: v)  # each level is its scale times ln(1/probability)
        if not (stated and m * query + query**2 <= beta) or tight != b1 / (beta / 2) + b2 / (beta / (2 * m)):
            yield f"m={m}, β={beta}"


@check("floating", scope=f"{CASES} random runs, m ≤ 7")
@mutant("α/2 for α", share=0.5)
def svt_promise(share: float = 1.0) -> Found:
    """If no noise exceeds α/2, every query passed over is below T + α and the query stopped at is at least T − α.

    The check runs the reference's algorithm on queries near T ± α, with noises at the ends of their range among others.
    """
    rng = np.random.default_rng(6)
    epsilon, alpha = 0.7, 3.0
    b1, b2 = above_threshold.threshold_scale(epsilon), above_threshold.query_scale(epsilon, "paper")
    for _ in range(CASES):
        m = int(rng.integers(1, 8))
        values = rng.uniform(-1.5, 1.5, m) * alpha
        ends = rng.choice([-1.0, 1.0, 0.0], m + 1) if rng.random() < 0.5 else rng.uniform(-1, 1, m + 1)
        noise = above_threshold.AboveThresholdNoise(float(ends[0] * alpha / 2 / b1), ends[1:] * alpha / 2 / b2)
        stop = above_threshold.first_above(values, 0.0, noise, epsilon=epsilon, calibration="paper")
        yield not (values[:stop] > share * alpha + ROUNDING).any()
        yield not (stop < m and values[stop] < -share * alpha - ROUNDING)


# SENSITIVITY OF THE EIGENVALUES


@check("floating")
@mutant("a supremum of 1", supremum=lambda n, d: 1 / n)
@mutant("a supremum of √(3/2)", supremum=lambda n, d: 1.5**0.5 / n)
def fact_1(supremum: Callable[[int, int], Number] = gaussian.second_moments_sensitivity) -> Evidence:
    """Σ(a_i − b_i)² ≤ Σa_i² + Σb_i² ≤ 2 for a, b ≥ 0 that each sum to at most 1; two unit vectors attain it.

    The check tries random rational vectors with zeros. The square of the reference's √2 is rounded to 12 decimals for
    the comparison.
    """
    rng = np.random.default_rng(7)
    limit = Fraction(round(float(supremum(1, 2)) ** 2 * 10**12), 10**12)
    worst = Fraction(0)
    for _ in range(CASES):
        d = int(rng.integers(1, 6))
        parts = [[Fraction(int(v)) for v in rng.integers(0, 9, d) * rng.integers(0, 2, d)] for _ in "ab"]
        a, b = ([v / max(sum(part), Fraction(1)) for v in part] for part in parts)
        difference = sum(((u - v) ** 2 for u, v in zip(a, b, strict=True)), Fraction(0))
        squares = sum((u**2 + v**2 for u, v in zip(a, b, strict=True)), Fraction(0))
        worst = max(worst, difference if difference <= squares else Fraction(3))
    return Evidence(worst == 2 == limit, f"{CASES} random pairs", f"largest {worst}")


@check("floating")
@mutant("a supremum of 1.4", supremum=lambda d: 1.4)
@mutant("ℓ1 for ℓ2", power=1)
def eigenvalue_change_l2(
    supremum: Callable[[int], float] = SENSITIVITIES["eigenvalues, l2"].supremum, power: int = 2
) -> Evidence:
    """Replacing a row moves the ordered eigenvalues of nΣ by at most √2 in ℓ2; diag(2, 0) → diag(1, 1) attains it.

    The steps of the proof are checked too: adding xxᵀ lowers no eigenvalue and raises their sum by ‖x‖² ≤ 1. Fact 1
    then gives the bound.
    """
    rng = np.random.default_rng(8)
    worst, failed = 0.0, 0
    for _ in range(CASES):
        d = int(rng.integers(2, 6))
        rest = rows_in_ball(rng, int(rng.integers(1, 8)), d)
        base = np.linalg.eigvalsh(rest.T @ rest)
        x, y = rows_in_ball(rng, 2, d)
        one, two = (np.linalg.eigvalsh(rest.T @ rest + np.outer(v, v)) for v in (x, y))
        failed += bool((one - base < -ROUNDING).any() or abs(float((one - base).sum() - x @ x)) > ROUNDING)
        worst = max(worst, float((np.abs(one - two) ** power).sum() ** (1 / power)) / supremum(d))
    pair = np.array([2.0, 0.0]) - np.array([1.0, 1.0])
    attained = abs(float(np.linalg.norm(pair)) / supremum(2) - 1) < 1e-12
    holds = worst <= 1 + ROUNDING and attained and not failed
    return Evidence(holds, f"{CASES} random neighbours, d ≤ 5", f"largest share {worst:.6f}; {failed} cases fail")
