"""Check DLY22 §4, §6 and its appendices: SeparateCov and its pure form, EMCov, rates, and the projection mechanism."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import sympy as sp

from covassay.reference import tails
from covassay.reference.domain import Matrix, Number
from covassay.reference.mechanisms.concentrated import em_cov, gauss_cov, projection_mechanism, separate_cov
from covassay.reference.mechanisms.pure import adaptive_cov_pure, iterative_eigenvectors, lap_cov, separate_cov_pure
from covassay.reference.privacy import zcdp_of_gaussian
from covassay.reference.projections import psd_trace_ball
from covassay.reference.sensitivity import block_pair, triangle_l1
from covassay.verification.claims.checks.dly22.basics import rows_in_ball
from covassay.verification.claims.checks.sign_patterns import enumerated_l1
from covassay.verification.claims.evidence import ROUNDING, Evidence, Formula, Found, check, mutant

CASES = 2000


def symmetric_noise(rng: np.random.Generator, d: int) -> Matrix:
    """Return a random symmetric matrix of random size; with probability 1/3 its rank is at most two."""
    w = rng.standard_normal((d, d))
    if rng.random() < 1 / 3:
        w = np.outer(w[0], w[0]) - rng.random() * np.outer(w[1], w[1])
    noise: Matrix = (w + w.T) / 2 * 10 ** rng.uniform(-2, 1)
    return noise


def swap() -> tuple[Matrix, Matrix]:
    """Return Σ = e₁e₁ᵀ and the smallest noise matrix that exchanges its two eigenvectors; ‖W‖ is just above 1/2."""
    return np.diag([1.0, 0.0]), np.diag([-0.5, 0.5]) * (1 + 1e-12)


# SEPARATECOV


@check("symbolic", covers="all", scope="all n, ρ")
@mutant("all of ρ in both steps", scale=gauss_cov.noise_scale)
@mutant("a sensitivity of 2/n", change=lambda n: 2 / n)
def separate_budget(scale: Formula = separate_cov.noise_scale, change: Formula = lambda n: sp.sqrt(2) / n) -> Evidence:
    """SeparateCov's matrix G and eigenvalues λ̃ spend ρ/2 each.

    If one row is replaced, G and λ̃ change by at most √2/n each in ℓ2, and their Gaussian noise has the scale √2/(n√ρ).
    """
    n, r = sp.symbols("n r", positive=True)
    rho = 2 * r**2
    half = sp.simplify(zcdp_of_gaussian(change(n), sp.nsimplify(scale(n, rho)) ** 2) / rho)
    total = separate_cov.privacy_loss(sp.Integer(1), 2)
    return Evidence(half == sp.Rational(1, 2) and 2 * half == total, f"each step {half} ρ")


def by_modulus(matrix: Matrix) -> Matrix:
    """Return the eigenvectors in the order of |λ|, as in the authors' code, which takes them from a singular value
    decomposition.
    """
    return np.asarray(np.linalg.svd(matrix)[0])


@check("floating", scope=f"{CASES} random pairs, d ≤ 5", attained=1 - 1e-6)
@mutant("ordered by |λ|, as in the authors' code", vectors=by_modulus)
@mutant("half the bound", factor=0.5)
def weyl_step(vectors: Formula = separate_cov.descending_eigenvectors, factor: float = 1.0) -> Found:
    """The eigenvectors v_i of Σ + sW, in algebraic order, have λ_i(Σ) − v_iᵀΣv_i ≤ λ_max(sW) − λ_min(sW) ≤ 2s‖W‖.

    With G = Σ + sW, v_iᵀΣv_i = λ_i(G) − s v_iᵀWv_i ≥ λ_i(Σ) + s λ_min(W) − s λ_max(W) by Weyl's inequality. The bound
    is tight. If the eigenvectors are in the order of |λ|, the bound λ_max(sW) − λ_min(sW) fails and the bound 2s‖W‖
    holds.
    """
    rng = np.random.default_rng(1)
    for i in range(CASES):
        d = int(rng.integers(2, 6))
        x = rows_in_ball(rng, int(rng.integers(1, 7)), d)
        sigma, noise = (x.T @ x / len(x), symmetric_noise(rng, d)) if i else swap()
        v = vectors(sigma + noise)
        kept = np.einsum("ji,jk,ki->i", v, sigma, v)
        spread = float(np.ptp(np.linalg.eigvalsh(noise)))
        lost = float((np.linalg.eigvalsh(sigma)[::-1] - kept).max())
        yield lost / (factor * spread)
        yield lost / (factor * 2 * float(np.linalg.norm(noise, 2)))


@check("floating", scope=f"{CASES} random pairs, d ≤ 5", attained=1 - 1e-6)
@mutant("half the constant", bound=lambda n, r, t, w: separate_cov.direction_error(n, r, t, w) / 2)
@mutant("the trace for its root", bound=lambda n, r, t, w: separate_cov.direction_error(n, r, t**2, w))
def direction_error(bound: Formula = separate_cov.direction_error) -> Found:
    """The error of the directions, ‖VΛVᵀ − Σ‖_F, is at most 2^{5/4} √(tr Σ ‖W‖)/(ρ^{1/4}√n), attained in dimension 2.

    The identity ‖VΛVᵀ − Σ‖_F² = 2 Σ λ_i(λ_i − v_iᵀΣv_i) and inequality (5) of the paper give the bound. In dimension 2,
    noise that is just large enough to exchange the two eigenvectors attains the bound.
    """
    rng = np.random.default_rng(2)
    residual = 0.0
    for i in range(CASES):
        n, rho = float(rng.integers(1, 1000)), 10 ** rng.uniform(-2, 1)
        s = separate_cov.noise_scale(n, rho)
        d = int(rng.integers(2, 6))
        x = rows_in_ball(rng, int(rng.integers(1, 7)), d)
        sigma, noise = (x.T @ x / len(x), symmetric_noise(rng, d)) if i else swap()
        v = separate_cov.descending_eigenvectors(sigma + noise)
        values = np.linalg.eigvalsh(sigma)[::-1]
        squared = float(np.linalg.norm((v * values) @ v.T - sigma) ** 2)
        identity = 2 * float(values @ (values - np.einsum("ji,jk,ki->i", v, sigma, v)))
        residual = max(residual, abs(squared - identity))
        limit = float(bound(n, rho, np.trace(sigma), np.linalg.norm(noise, 2) / s))
        yield math.sqrt(squared) / limit
    yield residual < ROUNDING


@check("floating", scope="200 points over six orders of magnitude")
@mutant("2 for 2^{5/4}", directions=lambda n, rho, t, w: 2 * (t * w) ** 0.5 / (rho**0.25 * n**0.5))
@mutant("without the factor √2", eigenvalues=lambda n, rho, w: w / (rho**0.5 * n))
@mutant("β for β/2", total=lambda n, d, r, t, b, e, log: separate_cov.error_bound(n, d, r, t, 2 * b, e, log))
def theorem_1(
    directions: Formula = separate_cov.direction_error,
    eigenvalues: Formula = separate_cov.eigenvalue_error,
    total: Formula = separate_cov.error_bound,
) -> Found:
    """Theorem 1's two terms are √(4 s tr υ) = 2^{5/4}√(υ tr)/(ρ^{1/4}√n) and sη = √2 η/(√ρ n), with s = √2/(n√ρ).

    υ and η are taken at β/2 each, so the error exceeds the sum of the two terms with probability at most β.
    """
    rng = np.random.default_rng(9)
    for _ in range(200):
        n, rho, trace, norm = 10 ** rng.uniform(-3, 3, 4)
        scale = math.sqrt(2) / (n * math.sqrt(rho))
        yield abs(float(directions(n, rho, trace, norm)) / math.sqrt(4 * scale * trace * norm) - 1) / 1e-12
        yield abs(float(eigenvalues(n, rho, norm)) / (scale * norm) - 1) / 1e-12
        d, beta = int(rng.integers(1, 100)), 10 ** rng.uniform(-6, -0.01)
        spectral, euclidean = tails.upsilon_star(d, beta / 2), tails.eta(d, beta / 2)
        parts = directions(n, rho, trace, spectral) + eigenvalues(n, rho, euclidean)
        yield abs(float(total(n, d, rho, trace, beta, "wigner", math.log) / parts) - 1) / 1e-12


@check("floating", scope="60 points, d ≤ 1e9")
@mutant("d^{1/8} for d^{1/4}", power=0.125)
@mutant("without the logarithm", factor=lambda beta: 2**1.75)
@mutant("3 % more in the first term", factor=lambda beta: 1.03 * 2**1.75 * math.sqrt(1 + math.sqrt(math.log(4 / beta))))
@mutant("3 % more in the second term", rest=lambda beta: 1.03 * math.sqrt(2) * (1 + math.sqrt(2 * math.log(2 / beta))))
def trace_sensitive_rate(
    factor: Formula = lambda beta: 2**1.75 * math.sqrt(1 + math.sqrt(math.log(4 / beta))),
    rest: Formula = lambda beta: math.sqrt(2) * (1 + math.sqrt(2 * math.log(2 / beta))),
    power: float = 0.25,
) -> Found:
    """Theorem 1's bound is at most c₁ d^{1/4}√tr/(ρ^{1/4}√n) + c₂ √d/(√ρ n), with explicit logarithms in c₁ and c₂.

    The constants are c₁ = 2^{7/4}√(1 + √ln(4/β)) and c₂ = √2 (1 + √(2 ln(2/β))). The constant c₁ uses υ ≤ 2√d (1 +
    √ln(4/β)), which holds because √(4 − 2/d) ≤ 2 ≤ 2√d; the constant c₂ uses η ≤ √d + √(2 ln(2/β)), whose square is at
    least η². If υ is replaced by its bound and η by √d (1 + √(2 ln(2/β))), the two terms are equal to the reference's.
    """
    for d, beta, n, trace in product((1, 2, 10, 10**3, 10**9), (0.9, 0.1, 1e-9), (1e2, 1e8), (1.0, 1e-6)):
        rho = 0.3
        first = factor(beta) * d**power * math.sqrt(trace / n) / rho**0.25
        second = rest(beta) * math.sqrt(d / rho) / n
        yield float(separate_cov.error_bound(n, d, rho, trace, beta, "wigner")) / (first + second)
        spectral = 2 * math.sqrt(d) * (1 + math.sqrt(math.log(4 / beta)))
        norm = math.sqrt(d) * (1 + math.sqrt(2 * math.log(2 / beta)))
        yield math.isclose(first, float(separate_cov.direction_error(n, rho, trace, spectral)))
        yield math.isclose(second, float(separate_cov.eigenvalue_error(n, rho, norm)))
        yield tails.upsilon_star(d, beta / 2) / spectral
        yield tails.eta(d, beta / 2) / norm


# RATES: exponents of d, n and tr, measured on the reference's own formulas

Rate = tuple[Fraction, Fraction, Fraction]
Error = Callable[[float, float, float], float]


def measured(error: Error) -> Rate:
    """Return the exponents of an error in d, n and tr: its slopes on a logarithmic scale at large d and n, rounded to
    multiples of 1/4.

    A slope that is not close to a multiple of 1/4 is returned as 99.
    """
    point = [1e5, 1e9, 1e-3]
    slopes = []
    for i in range(3):
        moved = [v * (16.0 if j == i else 1.0) for j, v in enumerate(point)]
        slope = math.log(error(*moved) / error(*point)) / math.log(16)
        slopes.append(Fraction(round(4 * slope), 4) if abs(4 * slope - round(4 * slope)) < 0.02 else Fraction(99))
    return slopes[0], slopes[1], slopes[2]


def ratio(first: Rate, second: Rate) -> Rate:
    """Return the exponents of the quotient of two rates: the differences of the exponents of the two rates."""
    d, n, t = (a - b for a, b in zip(first, second, strict=True))
    return d, n, t


def quarters(d: int, n: int, t: int) -> Rate:
    """Return a rate from four times its exponents: `d` for the dimension, `n` for the number of rows, `t` for the
    trace.
    """
    return Fraction(d, 4), Fraction(n, 4), Fraction(t, 4)


def gauss_error(d: float, n: float, trace: float) -> float:
    """Return the error bound of GaussCov at ρ = 1."""
    return float(gauss_cov.error_bound(n, d, 1.0, 0.1, "wigner"))


def separate_error(d: float, n: float, trace: float) -> float:
    """Return the first term of SeparateCov's error bound at ρ = 1."""
    return float(separate_cov.direction_error(n, 1.0, trace, separate_cov.spectral_bound(d, 0.05, "wigner")))


def separate_rest(d: float, n: float, trace: float) -> float:
    """Return the second term of SeparateCov's error bound at ρ = 1."""
    return float(separate_cov.eigenvalue_error(n, 1.0, tails.eta(d, 0.05)))


def _uniform(gap: Callable[[float], float]) -> Error:
    """Return the function that maps d, n and the trace tr to the error bound √(2 tr · gap(d)/n) of ADK19 Lemma 6.

    The bound holds if the variance v_iᵀΣv_i along each estimated direction v_i is at least λ_i(Σ) − gap(d)/n.
    """
    return lambda d, n, trace: math.sqrt(2 * trace * gap(d) / n)


# EMCov draws the i-th direction with exponent η_i, and its gap is d/η_i; here ρ = 1 (zCDP) and ε = 1 (pure DP)
em_error = _uniform(lambda d: d / em_cov.exponents(1.0, int(d), "reconstructed")[0])
em_pure_error = _uniform(lambda d: d / iterative_eigenvectors.uniform_exponents(1.0, int(d), "paper")[0])


@check("floating", scope="exponents")
@mutant("GaussCov in place of SeparateCov", separate=gauss_error)
@mutant("d^{3/4} in place of d^{1/4}", separate=em_error)
def worst_case_rates(separate: Formula = separate_error) -> Found:
    """At tr = 1, d^{1/4}/√n is below d/n exactly for d > n^{2/3}; it is below 1 and above √d/n exactly for d < n².

    The check obtains the exponents as slopes of the reference's bounds, rounded to quarters. The comparisons of the
    exponents of d, n and tr use whole numbers and are exact.
    """
    d, n, _ = measured(separate)
    gain_d, gain_n, _ = ratio(measured(gauss_error), (d, n, Fraction(0)))
    rest_d, rest_n, _ = ratio(measured(separate_rest), (d, n, Fraction(0)))
    yield {"exponents": (d, n) == (Fraction(1, 4), Fraction(-1, 2)), "useful to n²": n == -2 * d}
    # a quotient d^a n^b of bounds is 1 at d = n^{−b/a}
    yield {"crossover at n^{2/3}": gain_d != 0 and 3 * gain_n == -2 * gain_d}
    yield {"dominates to n²": rest_d != 0 and rest_n == -2 * rest_d}


@check("floating", scope="exponents")
@mutant("EMCov with ε in place of √ρ", em=em_pure_error)
@mutant("GaussCov in place of SeparateCov", separate=gauss_error)
def trace_thresholds(separate: Formula = separate_error, em: Formula = em_error) -> Evidence:
    """Under zCDP the rate of EMCov is √d times that of SeparateCov. The rate of SeparateCov is below that of GaussCov
    for tr < d^{3/2}/n, and the rate of EMCov is below that of GaussCov for tr < √d/n.
    """
    rates = [measured(e) for e in (separate, em, gauss_error)]
    gain = ratio(rates[1], rates[0])
    thresholds = []
    for rate in rates[:2]:
        d, n, trace = ratio(rate, rates[2])
        thresholds.append((-d / trace, -n / trace) if trace else None)
    expected = [(Fraction(3, 2), Fraction(-1)), (Fraction(1, 2), Fraction(-1))]
    holds = gain == quarters(2, 0, 0) and thresholds == expected
    shown = ", ".join("none" if t is None else f"d^{t[0]} n^{t[1]}" for t in thresholds)
    return Evidence(holds, f"the rate of EMCov is d^{gain[0]} times SeparateCov's; the thresholds of tr Σ are {shown}")


def gauss_bounds(d: int) -> tuple[float, float]:
    """Return GaussCov's error bound at n = ρ = 1, β = 0.1, as in the reference and with the ω of DLY22 Lemma 7."""
    return float(gauss_cov.error_bound(1.0, d, 1.0, 0.1, "wigner")), float(tails.omega(d, 0.1))


@check("floating", scope="d = 2 to 7, d = 25 to 1000, and d = 10⁴, 10⁵, …, 10¹⁵")
@mutant("80 for 1/64", low=80.0)
@mutant("1/100 for 1", high=0.01)
def explicit_threshold(low: float = 1 / 64, high: float = 1.0) -> Found:
    """At β = 0.1 SeparateCov's bound is below GaussCov's for tr ≤ d^{3/2}/(64 n√ρ) and above it for tr ≥ d^{3/2}/(n√ρ).

    Multiplied by n√ρ, the bounds of both mechanisms depend only on d and on the trace as a share of d^{3/2}/(n√ρ), and
    SeparateCov's bound rises with the trace. The check tries every d from 25 to 1000 and powers of 10 up to 10¹⁵, with
    ω as in the reference and with the larger ω of DLY22 Lemma 7. If the trace is s times d^{3/2}/(n√ρ), the bounds
    multiplied by n√ρ have the leading terms 2^{7/4}√s · d for SeparateCov and d for GaussCov. For d = 2, …, 7
    SeparateCov's bound is above both versions of GaussCov's bound even at tr = d^{3/2}/(64 n√ρ).
    """
    for d in (*range(25, 1001), *(10**k for k in range(4, 16))):
        for gauss in gauss_bounds(d):
            for share, smaller in ((low, True), (high, False)):
                separate = float(separate_cov.error_bound(1.0, d, 1.0, share * d**1.5, 0.1, "wigner"))
                yield {f"d={d}": (separate <= gauss) == smaller}
    for d in range(2, 8):
        separate = float(separate_cov.error_bound(1.0, d, 1.0, d**1.5 / 64, 0.1, "wigner"))
        yield {f"d={d}": separate > max(gauss_bounds(d))}


# PURE DP


@check("floating", scope="d = 1, …, 5, every sign pattern")
@mutant("a supremum of (d + 2)/√2", supremum=lambda d: (d + 2) / 2**0.5)
@mutant("a supremum of √2 d", supremum=lambda d: 2**0.5 * d)
@mutant("the formula for d ≥ 2, used at d = 1", supremum=lambda d: ((d + 2) ** 2 + 4 * (d**2 // 4)) ** 0.5 / 2)
def triangle_change(supremum: Formula = triangle_l1) -> Found:
    """Let Δ = xxᵀ − yyᵀ for x, y in the unit ball. For 2 ≤ d ≤ 5, sup Σ_{i≤j} |Δ_ij| is ½√((d + 2)² + 4⌊d²/4⌋), which
    is at most √2 d. For the two rows that `block_pair` returns, the sum Σ_{i≤j} |Δ_ij| equals this supremum.

    The check tries every sign pattern of Δ, with numpy's eigenvalues. At d = 1 the supremum of |x² − y²| is 1, at the
    rows 1 and 0.
    """
    yield {"d=1": float(supremum(1)) == 1}
    for d in range(2, 6):
        largest = enumerated_l1(d, triangle=True)
        x, y = block_pair(d)
        attained = float(np.abs((np.outer(x, x) - np.outer(y, y))[np.triu_indices(d)]).sum())
        limit = float(supremum(d))
        yield f"d = {d}", f"{largest:.4f}"
        yield {f"d={d}": max(abs(largest - limit), abs(attained - limit)) <= ROUNDING and limit <= math.sqrt(2) * d}


@check("floating", scope="200 random choices of n, ε, the trace, υ and η from 0.01 to 1000, with d < 1000")
@mutant("all of ε for the matrix", matrix_scale=lambda n, d, e, c: lap_cov.noise_scale(n, d, e, c))
@mutant("2/(nε) for the eigenvalues", eigenvalue_scale=lambda n, e: 2 / (n * e))
def separate_pure(
    matrix_scale: Formula = separate_cov_pure.matrix_scale,
    eigenvalue_scale: Formula = separate_cov_pure.eigenvalue_scale,
) -> Found:
    """Lemma 18: SeparateLapCov's G and λ̃ spend ε/2 each, and its error is at most √(8√2 d tr υ/(nε)) + 4η/(nε).

    The sensitivity of G is √2 d/n, and the sensitivity of λ̃ is 2/n.
    """
    rng = np.random.default_rng(10)
    for _ in range(200):
        n, epsilon, trace, upsilon, eta = 10 ** rng.uniform(-2, 3, 5)
        d = int(rng.integers(2, 1000))
        b, c = float(matrix_scale(n, d, epsilon, "paper")), float(eigenvalue_scale(n, epsilon))
        for change in ((math.sqrt(2) * d, 0.0), (0.0, 2.0)):
            yield abs(separate_cov_pure.privacy_loss(*change, n, b, c) / epsilon - 0.5) / 1e-12
        printed = math.sqrt(8 * math.sqrt(2) * d * trace * upsilon / (n * epsilon)) + 4 * eta / (n * epsilon)
        yield abs(separate_cov_pure.error_bound(trace, b * upsilon, c * eta) / printed - 1) / 1e-12


def probabilities_of_bounds(bounds: Callable[..., tuple[Number, Number]], d: int, beta: float) -> list[float]:
    """Return the two failure probabilities at which SeparateLapCov's bound uses the υ and η of the authors' code.

    Each of the two returned probabilities must be β/2, where β is the failure probability of the whole bound."""
    n, epsilon, trace = 30.0, 0.7, 0.4
    a, e = (float(v) for v in bounds(n, d, epsilon, trace, beta, "paper"))
    upsilon = a**2 / (4 * trace * float(separate_cov_pure.matrix_scale(n, d, epsilon, "paper")))
    eta = e / float(separate_cov_pure.eigenvalue_scale(n, epsilon))
    levels = (  # at β = 2 the logarithm ln(2/β) is 0
        (upsilon - tails.upsilon_laplace(d, 2)) / (math.sqrt(2) * tails.psi_norm(d * (d + 1) / 2)),
        (eta - tails.eta_laplace(d, 2)) / tails.psi_norm(d),
    )
    return [2 * math.exp(-float(level)) for level in levels]


@check("floating", scope="500 random releases, d ≤ 5", attained=1 - 1e-6, less="bound")
@mutant("half the bound", bound=lambda t, b, e: separate_cov_pure.error_bound(t, b, e) / 2)
@mutant("parts at 1.03 β", parts=lambda n, d, e, t, b, c: adaptive_cov_pure.separate_bounds(n, d, e, t, 1.03 * b, c))
def separate_pure_error(
    bound: Formula = separate_cov_pure.error_bound, parts: Formula = adaptive_cov_pure.separate_bounds
) -> Found:
    """For every noise the error of SeparateLapCov is at most 2√(tr Σ · b‖W‖) + ‖λ̃ − λ‖, and the bound is attained.

    In the reference, the bounds on ‖W‖ and on the noise of the eigenvalues are taken at β/2 each.
    """
    shares = [p / beta for d in (2, 7) for beta in (0.1, 1e-6) for p in probabilities_of_bounds(parts, d, beta)]
    rng = np.random.default_rng(3)
    for i in range(500):
        d, n, epsilon = int(rng.integers(2, 6)), int(rng.integers(1, 30)), 10 ** rng.uniform(-1, 2)
        if i:
            x, w = rows_in_ball(rng, n, d), symmetric_noise(rng, d)
            laplace = rng.laplace(size=d) * rng.integers(0, 2)
            b = float(separate_cov_pure.matrix_scale(n, d, epsilon, "paper"))
        else:
            d, n = 2, 3
            x, laplace = np.repeat([[1.0, 0.0]], n, axis=0), np.zeros(d)
            b = float(separate_cov_pure.matrix_scale(n, d, epsilon, "paper"))
            w = swap()[1] / b
        sigma = x.T @ x / n
        out = separate_cov_pure.release(x, separate_cov_pure.SeparateCovPureNoise(w, laplace), epsilon=epsilon)
        moved = np.clip(
            np.linalg.eigvalsh(sigma)[::-1] + separate_cov_pure.eigenvalue_scale(n, epsilon) * laplace, 0, 1
        )
        shift = float(np.linalg.norm(moved - np.linalg.eigvalsh(sigma)[::-1]))
        limit = float(bound(np.trace(sigma), b * np.linalg.norm(w, 2), shift))
        yield float(np.linalg.norm(out - sigma)) / limit
    yield all(math.isclose(p, 0.5) for p in shares)


def separate_pure_rate(d: float, n: float, trace: float) -> float:
    """Return the first term of SeparateLapCov's error bound at ε = 1, with the asymptotic value ‖W‖ = 2√(2d)."""
    b = separate_cov_pure.matrix_scale(n, int(d), 1.0, "paper")
    return float(separate_cov_pure.error_bound(trace, b * 2 * math.sqrt(2 * d), 0.0))


@check("floating", scope="exponents of (d, n, tr)")
@mutant("SeparateCov's rate under zCDP", separate=separate_error)
@mutant("EMCov's rate under zCDP", em=em_error)
def pure_rates(separate: Formula = separate_pure_rate, em: Formula = em_pure_error) -> Evidence:
    """Under pure DP the first error term of SeparateLapCov grows like d^{3/4}√tr/√n, and EMCov's error like d√tr/√n."""
    ours, theirs = measured(separate), measured(em)
    holds = ours == quarters(3, -2, 2) and theirs == quarters(4, -2, 2)
    shown = [", ".join(map(str, rate)) for rate in (ours, theirs)]
    return Evidence(holds, f"SeparateLapCov ({shown[0]}), EMCov ({shown[1]})")


# THE APPENDICES


@check("exact", scope="C = 72, √d from 68 Cε on", less="least")
@mutant("without padding", padded=False)
def mean_transfer(padded: bool = True, constant: int = 72, least: int = 68) -> Found:
    """Appendix B: if means on {±1}^d need n ≥ d/(Cαε) rows, the empirical error on the ball is at least √d/(3Cnε).

    The premise is that an estimate M with E‖M − μ‖² ≤ α² needs n ≥ d/(Cαε) rows, for α² ≤ d/54. Scaling by 1/√d turns α
    into α/√d, so n ≥ √d/(Cαε) is needed for α ≤ a = 2/15 < 1/√54. An empirical error e of a mean implies an error of at
    most e + 1/√n against the mean of the distribution. If no rows of zeros are added, the premise gives only e ≥
    √d/(Cnε) − 1/√n, which is negative for n > d/(Cε)². The proof takes n₀ < √d/(Caε) records and n − n₀ rows of zeros:
    then (n/n₀)e + 1/√n₀ > a, and n₀ ≥ 9/a² gives e ≥ (2a/3) n₀/n. The condition √d ≥ 68 Cε is enough for the lower
    bound √d/(3Cnε) on the empirical error. The arithmetic of the lower bound is rational and uses C and ε only in the
    product Cε. The lower bound √d/(3Cnε) therefore also holds with another function of ε in place of ε, such as 12 sinh
    ε.
    """
    empty = 0
    a = Fraction(2, 15)
    for root, epsilon in product((least * constant, 10**5, 10**7), (Fraction(1), Fraction(1, 10))):
        limit = root / (constant * a * epsilon)
        n0 = math.ceil(limit) - 1
        enough = n0 >= 9 / a**2 and n0 < limit
        direct_ends = (root / (constant * epsilon)) ** 2
        for n in (4 * n0, math.ceil(direct_ends) * 4):
            root_n = Fraction(math.isqrt(n) + 1)  # 1/√n ≥ 1/root_n
            direct = root / (constant * n * epsilon) - 1 / root_n
            bound = (2 * a / 3) * Fraction(n0, n) if padded else direct
            empty += direct < 0
            if not (enough and n >= n0 and bound >= root / (3 * constant * n * epsilon)):
                yield f"√d={root}, ε={epsilon}, n={n}"
    yield empty > 0
    yield a**2 < Fraction(1, 54)


@check("floating", less="factor", more="factor", scope=f"{CASES} random pairs, d ≤ 5")
@mutant("half the bound", factor=0.5)
@mutant("no projection", project=lambda m, r: m)
def projection_error(project: Formula = psd_trace_ball, factor: float = 1.0) -> Evidence:
    """The projection Σ̂ of Σ + N on M ⪰ 0, tr M ≤ 1 has ‖Σ̂ − Σ‖_F² ≤ ⟨N, Σ̂ − Σ⟩ ≤ ‖N‖(tr Σ̂ + tr Σ) ≤ 2‖N‖.

    The pair Σ = e₁e₁ᵀ and N = e₂e₂ᵀ − e₁e₁ᵀ attains this bound. The reference's bound on the error of the projected
    output is therefore √(2συ). If the projection is on the matrices of rank one, which are not a convex set, the first
    inequality fails at Σ = e₁e₁ᵀ, N = diag(−1/2, 3/4).
    """
    rng = np.random.default_rng(4)
    worst, excess = 0.0, 0.0
    for i in range(CASES):
        d = int(rng.integers(2, 6))
        x = rows_in_ball(rng, int(rng.integers(1, 7)), d)
        sigma, noise = (x.T @ x / len(x), symmetric_noise(rng, d)) if i else (np.diag([1.0, 0.0]), np.diag([-1.0, 1.0]))
        near = project(sigma + noise, 1.0)
        squared, inner = float(np.linalg.norm(near - sigma) ** 2), float(((near - sigma) * noise).sum())
        spectral = float(np.linalg.norm(noise, 2))
        traces = spectral * float(np.trace(near) + np.trace(sigma))
        worst = max(worst, squared / (factor * 2 * spectral))
        excess = max(excess, squared - inner, inner - traces, traces - 2 * spectral)
    n, d, rho = 100.0, 7, 0.3
    reference = projection_mechanism.error_bound(n, d, rho, 0.1, "wigner") ** 2
    direct = 2 * gauss_cov.noise_scale(n, rho) * tails.upsilon_star(d, 0.1)
    noise = np.diag([-0.5, 0.75])  # the nearest matrix of rank one to diag(1, 0) + noise is diag(0, 3/4)
    moved = np.diag([-1.0, 0.75])
    fails = float((moved**2).sum()) == 25 / 16 and float((noise * moved).sum()) == 17 / 16
    steps = 1 - 1e-9 < worst <= 1 + ROUNDING and excess < 1e-7 and fails
    holds = steps and abs(reference / direct - 1) < ROUNDING
    return Evidence(bool(holds), f"largest share of 2‖N‖: {worst:.9f}")


@check("floating", scope=f"{3 * CASES} competitors, d ≤ 5")
@mutant("only the diagonal, clipped", project=lambda m, r: np.diag(np.clip(np.diag(m), 0, 1)))
@mutant("scaling to trace norm 1", project=lambda m, r: m / max(1.0, float(np.abs(np.linalg.eigvalsh(m)).sum())))
def projection_eigenvectors(project: Formula = psd_trace_ball) -> Found:
    """The M ⪰ 0 with tr M ≤ 1 that is nearest to Σ̃ has the eigenvectors of Σ̃.

    In the eigenvectors of Σ̃ = VΛVᵀ, ‖Σ̃ − M‖_F² = ‖Λ − diag(VᵀMV)‖² + ‖VᵀMV − diag(VᵀMV)‖². The diagonal of VᵀMV is
    nonnegative and has the same trace, so keeping only the diagonal ("pinching") brings M nearer to Σ̃. The projection
    P is checked by ⟨Σ̃ − P, M − P⟩ ≤ 0 for competitors M, extreme points among them. The second moments of n < d rows,
    which have rank at most n, are not closed under pinching, so the projection is on their convex hull.
    """
    rng = np.random.default_rng(5)
    for _ in range(CASES):
        d = int(rng.integers(2, 6))
        target = symmetric_noise(rng, d)
        near = project(target, 1.0)
        values, v = np.linalg.eigh(target)
        inside = np.linalg.eigvalsh(near)[0] >= -ROUNDING and np.trace(near) <= 1 + ROUNDING
        turned = v.T @ near @ v
        shared = float(np.abs(turned - np.diag(np.diag(turned))).max()) < 1e-7
        yield inside and shared
        x = rows_in_ball(rng, int(rng.integers(1, 4)), d)
        for m in (x.T @ x / len(x), np.outer(v[:, -1], v[:, -1]), np.zeros((d, d))):
            inner = v.T @ m @ v
            pinched = np.diag(inner)
            whole = float(np.linalg.norm(target - m) ** 2)
            split = float(((values - pinched) ** 2).sum() + (inner**2).sum() - (pinched**2).sum())
            scale = 1 + whole
            yield abs(whole - split) <= ROUNDING * scale and pinched.min() >= -ROUNDING
            yield float(((target - near) * (m - near)).sum()) <= ROUNDING * scale
