"""Check ADK19 §3: eigenvalues, sampled eigenvectors, their joint budget, and the error of the reconstruction."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import sympy as sp

from covassay.reference.domain import Matrix
from covassay.reference.laws import bingham
from covassay.reference.mechanisms.pure import iterative_eigenvectors as mechanism
from covassay.reference.mechanisms.pure.entrywise_laplace import sensitivity as entrywise_sensitivity
from covassay.reference.sensitivity import hadamard_pair
from covassay.verification.claims.checks.adk19.basics import CASES, random_second_moment
from covassay.verification.claims.evidence import Evidence, Formula, Found, check, mutant
from covassay.verification.exact.series import exponential


def random_rows(rng: np.random.Generator, d: int) -> tuple[Matrix, Matrix]:
    """Return two random vectors of the unit ball, each of which has length 1 with probability 1/2."""
    directions = rng.standard_normal((2, d))
    lengths = np.where(rng.random(2) < 0.5, 1.0, rng.random(2))
    x, y = directions / np.linalg.norm(directions, axis=1, keepdims=True) * lengths[:, None]
    return x, y


# SENSITIVITY AND BUDGET


@check("floating", less="bound", scope=f"{CASES} random neighbours, d ≤ 4")
@mutant("the eigenvalues of the pair move by 1.5", attained=1.5)
def eigenvalue_change(bound: float = 2.0, attained: float = 2.0) -> Found:
    """Replacing a row moves the ordered eigenvalues by at most 2 in ℓ1 (Mirsky), and some rows attain this bound."""
    rng = np.random.default_rng(1)
    for _ in range(CASES):
        d = int(rng.integers(1, 5))
        rest = random_second_moment(rng, d)
        x, y = random_rows(rng, d)
        values = [np.linalg.eigvalsh(rest + np.outer(v, v)) for v in (x, y)]
        yield float(np.abs(values[0] - values[1]).sum()) / bound
    one, two = np.diag([2.0, 0.0]), np.diag([1.0, 1.0])
    at_pair = float(np.abs(np.linalg.eigvalsh(one) - np.linalg.eigvalsh(two)).sum())
    yield {"the pair attains it": at_pair == attained}
    yield at_pair / bound


# THE RECONSTRUCTION


def random_frame(rng: np.random.Generator, d: int, near: Matrix) -> Matrix:
    """Return a matrix whose columns are the eigenvectors of `near`, rotated at random by a small or a large amount."""
    vectors = np.linalg.eigh(near)[1][:, ::-1]
    turn = np.linalg.qr(np.eye(d) + 10 ** rng.uniform(-4, 1) * rng.standard_normal((d, d)))[0]
    frame: Matrix = vectors @ turn
    return frame


@check("floating", scope=f"{CASES} random cases, k < d ≤ 5")
@mutant("without ‖C − C_k‖_F", tail=0.0)
def truncated_reconstruction(tail: float = 1.0) -> Found:
    """The error ‖C − Ĉ_k‖_F of a reconstruction of rank k is at most the reference's `error_bound`.

    The bound is ‖C − C_k‖_F + √(2 Σ_{i≤k} λ_i(λ_i − θ̂_iᵀCθ̂_i)) + τ√k. The inequality for ‖C − Ĉ_k‖_F bounds how far
    the error exceeds the error of the best approximation of rank k. The inequality says nothing about the distance of
    the reconstruction from the best approximation of rank k.
    """
    rng = np.random.default_rng(8)
    for _ in range(CASES):
        d = int(rng.integers(2, 6))
        k = int(rng.integers(1, d))
        c = random_second_moment(rng, d)
        values, theta = np.linalg.eigvalsh(c)[::-1], random_frame(rng, d, c)[:, :k]
        tau = 10 ** rng.uniform(-2, 0)
        estimates = values[:k] + tau * rng.uniform(-1, 1, k)
        kept = np.einsum("ji,jk,ki->i", theta, c, theta)
        missed = max(0.0, float(values[:k] @ (values[:k] - kept)))
        error = float(np.linalg.norm(c - (theta * estimates) @ theta.T))
        bound = mechanism.error_bound(tail * float(np.linalg.norm(values[k:])), missed, tau, k)
        yield bool(error <= bound * (1 + 1e-7) + 1e-7)


@check("floating", less="stated", more="stated", scope="d = 2, k = 1")
@mutant("with a gap", second=lambda m: m / 2)
def rank_k_claim(second: Formula = lambda m: m - 1, stated: tuple[float, float] = (19.3, 193)) -> Evidence:
    """Without a gap the distance from the best rank-k approximation is of order λ₁, not O(√(Σ dλ_i/ε_i) + √d/ε₀).

    For C = diag(M, M − 1), k = 1 and ε₁ = 1, E‖C₁ − λ₁θ̂θ̂ᵀ‖_F = M √2 E|θ̂₂|, and the claimed rate is √(2M). The ratio
    of the error of the reconstruction to the claimed rate grows like √M. The expectation E|θ̂₂| is integrated from the
    exact law of θ̂₂². The ratio of the error to the claimed rate √(2M) is 19.3 at M = 10³ and 193 at M = 10⁵.
    """
    ratios = {}
    for m in (1e3, 1e5):
        cdf = bingham.projection_cdf(0.25 * np.diag([m, second(m)]), [1])
        grid = np.linspace(0, 1, 4001) ** 2
        mean_root = float(np.trapezoid(1 - np.asarray(cdf(grid**2)), grid))  # the identity E √W = ∫ P(W > t²) dt
        ratios[m] = m * math.sqrt(2) * mean_root / math.sqrt(2 * m)
    grows = ratios[1e5] / ratios[1e3]
    figures = {f"ratio at M = {m:g}": f"{r:.4g}" for m, r in ratios.items()}
    seen = all(abs(r / s - 1) < 0.01 for r, s in zip(ratios.values(), stated, strict=True))
    return Evidence(grows > 5 and seen, f"the ratio grows by {grows:.3g} for a hundredfold M", figures)


# THE CLAIMS ON ACCURACY


@check("floating", less="slope", more="slope", scope="d = 3 to 40")
@mutant("a median that does not grow with d", median=lambda d: 1.0)
def printed_lemma_5(median: Callable[[int], float] | None = None, slope: float = 2.9) -> Evidence:
    """Lemma 5 fails for λ₁ = 1: in its bound K log(1/β)/ε on λ₁ − ûᵀCû the factor K must grow like 2.9 d.

    The figures are ε · m / ln 2 at C = e₁e₁ᵀ, β = 1/2 and ε = 100 d, where m is the median of λ₁ − ûᵀCû under its exact
    law.
    """
    values = {}
    for d in (3, 5, 10, 20, 40):
        if median is not None:
            values[d] = median(d)
            continue
        epsilon = 100.0 * d
        cdf = bingham.projection_cdf(epsilon / 4 * np.diag([1.0] + [0.0] * (d - 1)), list(range(1, d)))
        low, high = 0.0, 1.0
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if float(np.asarray(cdf(np.array([middle])))[0]) < 0.5 else (low, middle)
        values[d] = epsilon * high / math.log(2)
    growing = values[40] / values[5] > 8 and abs((values[40] - values[20]) / 20 / slope - 1) < 0.01
    return Evidence(growing, figures={f"d = {d}": f"{v:.4g}" for d, v in values.items()})


@check("floating", scope="165 spectra, d ≤ 40, ε = 1")
@mutant("a constant of 1", constant=1.0)
def corrected_lemma_5(constant: float = 2.07) -> Found:
    """For Bingham draws û, E[λ₁ − ûᵀCû] ≤ 2.07 d/ε without any logarithm, on a grid of spectra, by exact moments."""
    rng = np.random.default_rng(9)
    spectra = [np.array([top] + [0.0] * (d - 1)) for d in (2, 5, 10, 20, 40) for top in np.geomspace(1, 2000, 25)]
    spectra += [np.sort(10 ** rng.uniform(-1, 3, d))[::-1] for d in (2, 3, 5, 8) for _ in range(10)]
    for values in spectra:
        kept = float(bingham.second_moments(0.25 * np.diag(values)) @ values)
        yield float(values[0] - kept) / len(values) / constant


@check("symbolic", covers="all", less="displayed", more="displayed", scope="all d, β, ε")
@mutant("half the probability", share=Fraction(1, 2))
def undefined_weights(share: Fraction = Fraction(1), displayed: Fraction = Fraction("0.389")) -> Found:
    """Corollary 1 takes √(λ̂_i + τ), but λ̂_i + τ < 0 has probability β/(4d) for each eigenvalue that is 0.

    For such an eigenvalue λ̂ = bL with b = 2/ε₀ and L ~ Laplace(1), and τ = b ln(2d/β), so the probability is
    P(L < −ln(2d/β)) = ½ · β/(2d). The bound of the corollary has 1/ε in place of τ, and
    P(λ̂ + 1/ε < 0) = e^{−1/4}/2 = 0.389.
    """
    epsilon, d, beta = sp.symbols("epsilon d beta", positive=True)
    # With the identity in place of the logarithm the formula gives b e^{τ/b}, and the quotient is e^{τ/b}.
    argument = mechanism.adaptive_offset(epsilon, d, beta, lambda v: v) / mechanism.eigenvalue_scale(epsilon)
    if sp.simplify(sp.nsimplify(share) / (2 * argument) - beta / (4 * d)) != 0:
        yield "the probability that λ̂ + τ is negative"
    lower, upper = (bound / 2 for bound in exponential(-1 / Fraction(mechanism.eigenvalue_scale(Fraction(1)))))
    if not displayed - Fraction(1, 2000) < lower < upper < displayed + Fraction(1, 2000):
        yield "the probability that λ̂ + 1/ε is negative"
    yield "P(λ̂ + 1/ε < 0)", f"{float(lower):.6f}"


@check("symbolic", scope="d = 1, 2, 3, 5, all λ, τ, ε, t", less="constant share")
@mutant(
    "exponents smaller by 3 %",
    exponents=lambda epsilon, weights: mechanism.adaptive_exponents(epsilon * sp.Rational(97, 100), weights, "paper"),
)
@mutant(
    "ε_i in proportion to λ̂_i + τ",
    exponents=lambda epsilon, weights: mechanism.adaptive_exponents(epsilon, [w**2 for w in weights], "paper"),
)
def corrected_corollary_1(
    constant: Fraction = Fraction(4),
    share: Fraction = Fraction(1),
    exponents: Formula = lambda epsilon, weights: mechanism.adaptive_exponents(epsilon, weights, "paper"),
) -> Found:
    """Let ε/2 be divided into ε_i ∝ w_i = √(max(λ̂_i, 0) + τ). If λ_i ≤ w_i² for all i, then 8 Σ (d − i + 1 + t)
    λ_i/ε_i ≤ 16 ((d + t)/ε) (Σ w_i)².

    The square root of the left side is the term of the eigenvectors in the error bounds of ADK19.Thm2, which hold
    conditionally on λ̂. The bound on the mean error has t = 0. The bound that holds with probability 1 − β has t = 2
    ln(2d/β). The condition λ_i ≤ w_i² follows from |λ̂_i − λ_i| ≤ τ. The check sets λ_i = w_i² and ε_i = 4η_i with the
    reference's exponents η_i. The right side minus the left side is then a polynomial in the w_i and t without negative
    coefficients, because d − i + 1 ≤ d. At d = 1 both sides are equal, so the constant 16 = 4² cannot be smaller. The
    last direction is not drawn; its share of ε/2 is w_d/Σ w_i.
    """
    epsilon, t = sp.symbols("epsilon t", positive=True)
    for d in (1, 2, 3, 5):
        w = sp.symbols(f"w1:{d + 1}", positive=True)
        drawn = [4 * eta for eta in exponents(epsilon, list(w))]
        last = epsilon / 2 * w[-1] / sum(w)  # the last direction's share of ε/2; this direction is not drawn
        parts = [*drawn, last]
        left = 8 * sum((d - i + t) * w[i] ** 2 / parts[i] for i in range(d))
        right = sp.nsimplify(constant) ** 2 * (d + sp.nsimplify(share) * t) / epsilon * sum(w) ** 2
        gap = sp.cancel(sp.together(right - left) * epsilon)
        negative = not gap.is_polynomial(*w, t) or any(c < 0 for c in sp.Poly(sp.expand(gap), *w, t).coeffs())
        if negative or (d == 1 and gap != 0):
            yield f"d={d}"


@check("symbolic", scope="d = 1, 2, 3, 5, all λ and ε", less="constant last")
@mutant(
    "exponents smaller by 3 %",
    exponents=lambda epsilon, d: [
        sp.Rational(97, 100) * eta for eta in mechanism.uniform_exponents(epsilon, d, "paper")
    ],
)
def error_at_uniform_budget(
    constant: Fraction = Fraction(4),
    last: Fraction = Fraction(32),
    exponents: Formula = lambda epsilon, d: mechanism.uniform_exponents(epsilon, d, "paper"),
) -> Found:
    """Let ε₀ = ε/2 and ε_i = ε/(2d). Then 8 Σ (d − i + 1) λ_i/ε_i is at most 16 d³λ₁/ε and at most 16 d² Σ λ_i/ε.
    Moreover 8d/ε₀² = 32d/ε².

    The left sides are those of ADK19.Thm2, and Σ λ_i = tr C ≤ n. The check writes the ordered λ_i as sums of their
    gaps; then the difference of the two sides has no negative coefficient. At d = 1 both bounds are attained, so the
    constant 16 = 4² cannot be smaller.
    """
    epsilon = sp.Symbol("epsilon", positive=True)
    for d in (1, 2, 3, 5):
        steps = sp.symbols(f"s1:{d + 1}", nonnegative=True)
        values = [sum(steps[i:]) for i in range(d)]
        parts = [*(4 * eta for eta in exponents(epsilon, d)), epsilon / (2 * d)]  # the last direction is not drawn
        left = 8 * sum((d - i) * values[i] / parts[i] for i in range(d))
        square = sp.nsimplify(constant) ** 2
        for right in (square * d**3 * values[0] / epsilon, square * d**2 * sum(values) / epsilon):
            gap = sp.expand((right - left) * epsilon)
            negative = any(c < 0 for c in sp.Poly(gap, *steps).coeffs())
            if negative or (d == 1 and gap != 0):
                yield f"d={d}"
        scale = mechanism.eigenvalue_scale(epsilon)
        yield {f"eigenvalues, d={d}": sp.expand(2 * d * scale**2 - last * d / epsilon**2) == 0}


@check("exact", covers="case", scope="a counterexample")
@mutant("ζ < d/ε", ratio=Fraction(1, 2))
def vacuous_corollary_2(ratio: Fraction = Fraction(2)) -> Evidence:
    """Corollary 2 fails "for any ζ > 0": its condition λ₁ ≥ (2d³/(εζ²)) log(d/(εζ)) holds for C = 0 if ζ ≥ d/ε.

    For C = 0 it claims ‖Ĉ‖_F = O(0), but E‖Ĉ‖_F² = d · 2b² = 32 d/ε² > 0 with the reference's scale b = 4/ε.
    """
    d, epsilon = 3, Fraction(1)
    zeta = ratio * d / epsilon
    condition = d / (epsilon * zeta) <= 1  # for ζ ≥ d/ε the logarithm is at most 0, and so is the printed bound on λ₁
    mean_square = d * 2 * mechanism.eigenvalue_scale(epsilon) ** 2
    return Evidence(condition and mean_square == 32 * d / epsilon**2, f"E‖Ĉ‖² = {mean_square}")


@check("symbolic", covers="all", less="share stated", scope="all d")
@mutant("an error of order d^{3/2}", power=Fraction(3, 2))
def gaussian_error(
    power: Fraction = Fraction(1), share: Fraction = Fraction(1), stated: Fraction = Fraction("2.3")
) -> Evidence:
    """Gaussian noise N on the upper triangle has E‖N‖_F² = d²σ², which is at most d³σ², but of a smaller order.

    2√ln(1.25/δ) ≤ 2.3 √ln(1/δ) for δ ≤ 1/2: the ratio of the logarithms, 1 + ln 1.25/ln(1/δ), is largest at δ = 1/2. At
    δ = 1/2 the ratio of the logarithms is log₂ 2.5 ≤ 2.3²/4 = 529/400, because 5^400 ≤ 2^929, which is a comparison of
    whole numbers.
    """
    k, sigma = sp.symbols("k sigma", nonnegative=True)
    d = 1 + k
    mean_square = sp.expand(d * sigma**2 + 2 * (d * (d - 1) / 2) * sigma**2)
    gap = sp.Poly(sp.expand(sp.nsimplify(share) * d**3 * sigma**2 - mean_square), k, sigma)
    below = all(c >= 0 for c in gap.coeffs())
    top, bottom = (stated**2 / 4).as_integer_ratio()  # The inequality to check is ln 2.5 ≤ (top/bottom) ln 2.
    below = below and 5**bottom <= 2 ** (top + bottom)
    return Evidence(
        below and sp.expand(mean_square - d ** (2 * sp.Rational(power.numerator, power.denominator)) * sigma**2) == 0,
        f"E‖N‖_F² = {mean_square}",
    )


@check("symbolic", covers="all", scope="all d, ε, δ, λ")
@mutant("d in place of d^{3/2} in the printed guarantee", power=Fraction(1))
@mutant("d^{3/2} in place of d in the true error", true_power=Fraction(3, 2))
@mutant("log(1/δ) ≥ 1/d for 1/d²", least=lambda d: 1 / d)
def gaussian_comparison(
    power: Fraction = Fraction(3, 2), true_power: Fraction = Fraction(1), least: Formula = lambda d: 1 / d**2
) -> Evidence:
    """For λ > 1 the guarantee d^{3/2} √(λ log λ/ε) is at most d^{3/2} √log(1/δ)/ε exactly if λ log λ ≤ log(1/δ)/ε.

    The two sides of d^{3/2} √(λ log λ/ε) ≤ d^{3/2} √log(1/δ)/ε are the guarantees that the paper compares. The Gaussian
    error itself is of order d √log(1/δ)/ε; against this error the condition is d λ log λ ≤ log(1/δ)/ε. The bound √d/ε
    equals the bound d^{3/2} √log(1/δ)/ε for Gaussian noise exactly if log(1/δ) = 1/d².
    """
    d, epsilon, product, level = sp.symbols("d epsilon P L", positive=True)  # P is λ log λ, and L is log(1/δ)
    ours = sp.sqrt(d) ** 3 * sp.sqrt(product / epsilon)

    def gauss(exponent: Fraction) -> sp.Expr:
        return d ** sp.Rational(exponent.numerator, exponent.denominator) * sp.sqrt(level) / epsilon

    ratio = sp.simplify((ours / gauss(power)) ** 2 / (product * epsilon / level))
    true_ratio = sp.simplify((ours / gauss(true_power)) ** 2 / (d * product * epsilon / level))
    rest = sp.simplify((sp.sqrt(d) / epsilon / gauss(power)) ** 2 * level / least(d))
    return Evidence(ratio == 1 == true_ratio and rest == 1, f"the squared ratio is {ratio} times ελ log λ/log(1/δ)")


# THE SAMPLER


@check("symbolic", scope="2 ≤ d ≤ 6")
@mutant("the exponent −(d + 1)/2", power=lambda d: d + 1)
@mutant("Ω⁻¹ for Ω", form=lambda u, omega: sum(v**2 / w for v, w in zip(u, omega, strict=True)))
def angular_gaussian(
    power: Formula = lambda d: d, form: Formula = lambda u, omega: sum(v**2 * w for v, w in zip(u, omega, strict=True))
) -> Found:
    """For z ~ N(0, Ω⁻¹), u = z/‖z‖ has density ∝ (uᵀΩu)^{−d/2}, by the integral over the radius.

    The density of z at ru is ∝ exp(−r² uᵀΩu/2), and the volume element is r^{d−1} dr du. The check integrates over the
    radius r for diagonal Ω; a rotation makes every Ω diagonal.
    """
    r = sp.Symbol("r", positive=True)
    for d in range(2, 7):
        u, omega = sp.symbols(f"u1:{d + 1}", positive=True), sp.symbols(f"w1:{d + 1}", positive=True)
        q = sp.Symbol("q", positive=True)  # uᵀΩu
        marginal = sp.integrate(r ** (d - 1) * sp.exp(-(r**2) * q / 2), (r, 0, sp.oo))
        constant = sp.simplify(marginal**2 * q ** power(d))
        same = sp.expand(form(u, omega) - sum(w * v**2 for v, w in zip(u, omega, strict=True)))
        if constant.free_symbols or same != 0:
            yield f"d={d}"


@check("symbolic", scope="all q, b")
@mutant("q/b for (q/b)^{q/2}", log_bound=lambda b, q, log: -(q - b) / 2 + log(q / b))
def envelope(log_bound: Formula = bingham.log_envelope_bound) -> Evidence:
    """The log acceptance probability of the Bingham sampler is at most 0, and it is 0 at one point.

    For a proposal u with y = uᵀAu the log is −y + (q/2) ln(1 + 2y/b) − ln M(b). The log acceptance probability of the
    Bingham sampler is concave in y, and y = (q − b)/2 is its critical point. The acceptance rate, which is ∝ det
    Ω^{1/2}/M, is stationary in b at the root of Σ 1/(b + 2a_i) = 1, and its logarithm is concave in b.
    """
    y, b, q = sp.symbols("y b q", positive=True)
    log_rate = -y + q / 2 * sp.log(1 + 2 * y / b) - log_bound(b, q, sp.log)
    slope = sp.simplify(sp.diff(log_rate, y).subs(y, (q - b) / 2))
    value = sp.simplify(sp.expand_log(log_rate.subs(y, (q - b) / 2), force=True))
    curvature = sp.simplify(sp.diff(log_rate, y, 2) * (b + 2 * y) ** 2)
    a = sp.symbols("a1:4", nonnegative=True)
    log_rate_of_b = sum(sp.log(1 + 2 * v / b) for v in a) / 2 - log_bound(b, sp.Integer(3), sp.log)
    stationary = sp.simplify(sp.together(sp.diff(log_rate_of_b, b) - bingham.envelope_equation(b, a) / 2))
    bend = sp.simplify(sp.together(sp.diff(log_rate_of_b, b, 2) + sum(1 / (b + 2 * v) ** 2 for v in a) / 2))
    holds = slope == 0 and value == 0 and sp.simplify(curvature + 2 * q) == 0 and stationary == 0 == bend
    return Evidence(
        bool(holds), f"slope {slope} and value {value} at y = (q − b)/2, error {stationary} in the equation for b"
    )


@check("floating", less="bound", scope="94 spectra, q ≤ 100")
@mutant("a bound of √q/2", bound=lambda q: math.sqrt(q) / 2)
def proposals(bound: Formula = lambda q: math.sqrt(math.e * q / 2) + 0.2) -> Found:
    """The exact expected number of proposals per Bingham draw is at most √(eq/2) + 0.2 on a grid of spectra.

    The paper's experiments report a mean of "around 2d" proposals per draw, far more than √(eq/2) + 0.2.
    """
    rng = np.random.default_rng(10)
    for q in (2, 5, 10, 20, 50, 100):
        spikes = [np.diag([0.0] * (q - k) + [v] * k) for k in sorted({1, q // 2, q - 1}) for v in (1, 10, 100, 1e4)]
        random_ones = [np.diag(10 ** rng.uniform(-1, 4, q)) for _ in range(5)]
        expected = max(1 / bingham.acceptance_rate(m) for m in spikes + random_ones)
        yield f"q = {q}", f"{expected:.4g}"
        yield expected / bound(q)


# THE BASELINE


@check("floating", scope=f"{CASES} random pairs, d ≤ 6")
@mutant("half the bound", bound=lambda d: d / math.sqrt(2))
def entrywise_change(bound: Formula = lambda d: math.sqrt(2) * d) -> Found:
    """Replacing a row moves the entries of C by at most √2 d in ℓ1, attained for even d, so Lap(2d/ε) is too large."""
    rng = np.random.default_rng(11)
    pairs = [random_rows(rng, int(rng.integers(2, 7))) for _ in range(CASES)]
    for x, y in [*pairs, *(hadamard_pair(d) for d in (2, 4, 8))]:
        yield float(np.abs(np.outer(x, x) - np.outer(y, y)).sum()) / bound(len(x))
    for d in (2, 4, 8):
        at_pair = float(np.abs(np.subtract(*(np.outer(v, v) for v in hadamard_pair(d)))).sum())
        yield math.isclose(at_pair, bound(d), rel_tol=1e-12)
        yield math.isclose(entrywise_sensitivity(d, "full"), bound(d), rel_tol=1e-12)
