"""Check KLSU19 §1.2 and §3.3: the sensitivity, the projection and the accuracy of NaivePCE."""

import math
import random
from fractions import Fraction

import numpy as np
import sympy as sp

from covassay.reference import tails
from covassay.reference.domain import Matrix, second_moment
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.gaussian_estimation import naive_pce
from covassay.reference.projections import psd_cone
from covassay.verification.claims.checks.klsu19.concentration import frobenius_radius
from covassay.verification.claims.checks.klsu19.distances import norm_squared
from covassay.verification.claims.evidence import ROUNDING, Evidence, Formula, Found, check, mutant


def symmetric_noise(rng: np.random.Generator, d: int) -> Matrix:
    """Return a random symmetric matrix of spectral norm 1."""
    z = wigner.sample_wigner(d, rng)
    scaled: Matrix = z / np.linalg.norm(z, 2)
    return scaled


def sigma_norm(matrix: Matrix, sigma: Matrix) -> float:
    """Return the norm ‖M‖_Σ = ‖L⁻¹ML⁻ᵀ‖_F, where LLᵀ = Σ."""
    factor = np.linalg.cholesky(sigma)
    return float(np.linalg.norm(np.linalg.solve(factor, np.linalg.solve(factor, matrix).T)))


# PRIVACY


@check("exact", scope="400 random pairs, d ≤ 4; all n, ρ, B by scaling")
@mutant("half the variance", variance=lambda n, r, r2, c: naive_pce.noise_variance(n, r, r2, c) / 2)
@mutant("a sensitivity of B/n", largest=lambda d: 1)
def sensitivity(variance: Formula = naive_pce.noise_variance, largest: Formula = naive_pce.largest_change) -> Found:
    """Replacing a row moves NaivePCE's truncated covariance by at most √2 B/n in Frobenius norm, B = r².

    NaivePCE spends at most ρ. In the unit B/n the change Δ has Σ_{i≤j} Δ_ij² ≤ ‖Δ‖_F² = s² + t² − 2c² ≤ 2, where s and
    t are the squared lengths of the two rows, and c is their inner product. The rows e₁ and e₂ give equality. The check
    tries random rational rows, and sets a row outside the unit ball to zero. Hence noise of variance 2B²/(n²ρ),
    calibrated to the sensitivity 2B/n of the triangle inequality, spends ρ/2, and noise of variance B²/(n²ρ) spends ρ.
    In one dimension the largest squared change is 1 in the unit B²/n².
    """
    rng = random.Random(1)
    for i in range(400):
        d = 1 + i % 4
        rows = []
        for _ in range(2):
            row = [Fraction(rng.randint(-5, 5), 5) for _ in range(d)]
            rows.append(row if sum(v * v for v in row) <= 1 else [Fraction(0)] * d)
        change = sum((rows[0][k] * rows[0][m] - rows[1][k] * rows[1][m]) ** 2 for k in range(d) for m in range(k, d))
        yield change <= largest(d)
    # e₁e₁ᵀ − e₂e₂ᵀ is diag(1, −1); for d = 1 the rows are 1 and 0
    yield {"attained": largest(2) == 2 and largest(1) == 1}
    n, rho, r2 = Fraction(7), Fraction(3, 5), Fraction(11, 2)
    for c, share in (("reconstructed", Fraction(1, 2)), ("tight", Fraction(1))):
        loss = naive_pce.privacy_loss(largest(2), n, r2, variance(n, rho, r2, c)) / rho
        yield {c: loss == share}
        yield f"{c}: spent/ρ", str(loss)


def without_noise(rows: Matrix) -> Matrix:
    """Return what NaivePCE releases if its noise is 0: the truncated second moment, divided by n."""
    d = rows.shape[1]
    return naive_pce.release(rows, np.zeros((d, d)), rho=1.0, kappa=1.0, beta=0.1)


def divided_by_the_kept(rows: Matrix) -> Matrix:
    """Return a deliberately wrong second moment: the sum over the undropped rows is divided by their number."""
    n, d = rows.shape
    kept = rows[(rows**2).sum(axis=1) <= naive_pce.radius_squared(n, d, 1.0, 0.1)]
    return second_moment(kept)


@check("floating", scope="n = 2, 10, 1000")
@mutant("division by the number of rows kept", moment=divided_by_the_kept)
def fixed_n(moment: Formula = without_noise) -> Found:
    """NaivePCE divides the truncated covariance by n; division by the number of rows kept would have sensitivity √2 B.

    In the example one row near r e₁ is replaced by a row near r e₂, and the n − 1 others are longer than r.
    """
    for n in (2, 10, 1000):
        bound = naive_pce.radius_squared(n, 2, 1.0, 0.1)
        rows = np.full((n, 2), 2 * math.sqrt(bound))
        change = []
        for direction in np.eye(2):
            rows[0] = direction * math.sqrt(bound) * (1 - ROUNDING)
            change.append(moment(rows))
        yield {f"n={n}": float(np.linalg.norm(change[0] - change[1])) <= math.sqrt(2) * bound / n * (1 + ROUNDING)}


# THE PROJECTION ON THE POSITIVE SEMIDEFINITE CONE


def extreme_noise(scale: float) -> Matrix:
    """Return symmetric noise of norm `scale` that attains the factor 2/√3 of `projection_bounds` in a limit.

    The projection of diag(κ, 0) plus the noise is off by 2/√3 times `scale` in the limit κ → ∞.
    """
    a, b = scale / math.sqrt(3), scale * math.sqrt(2 / 3)
    return np.array([[a, b], [b, -a]])


@check("floating", scope="3000 random (A, Z), d ≤ 5, and extreme ones")
@mutant("1.15 for 2/√3", factor=1.15)
@mutant("the moduli of the eigenvalues", project=lambda m: 2 * psd_cone(m) - m)
@mutant("the projection minus 10⁻³ I", project=lambda m: psd_cone(m) - 1e-3 * np.eye(len(m)))
def projection_bounds(project: Formula = psd_cone, factor: float = 2 / math.sqrt(3)) -> Found:
    """For A ⪰ 0 the projection P of Z has ‖P − A‖_F ≤ ‖Z − A‖_F and −δ ⪯ P − A ⪯ (2/√3) δ with δ = ‖Z − A‖."""
    rng = np.random.default_rng(1)
    for i in range(3000):
        d = int(rng.integers(1, 6))
        x = rng.standard_normal((int(rng.integers(1, d + 1)), d)) * rng.exponential(size=d)
        centre, noise = x.T @ x, symmetric_noise(rng, d)
        if i % 50 == 0:
            centre, noise = np.diag([10.0 ** (i // 500), 0.0]), extreme_noise(1.0)
        noisy = centre + noise
        error = project(noisy) - centre
        values = np.linalg.eigvalsh(error)
        slack = ROUNDING * (1 + np.abs(noisy).max())
        yield values[-1] <= factor + slack and values[0] >= -1 - slack
        yield np.linalg.norm(error) <= np.linalg.norm(noise) + slack


# ACCURACY


@check("exact", covers="case", less="share", more="share", scope="a counterexample")
@mutant("Σ = I", kappa=1)
def projection_in_the_norm_of_sigma(kappa: int = 10**4, share: Fraction = Fraction(1, 4)) -> Evidence:
    """In the norm ‖·‖_Σ the projection can increase the distance from Σ by a factor of about √κ/4.

    The example is Σ = diag(κ, 1), Z = [[0, √κ], [√κ, 0]], P = (√κ/2)[[1, 1], [1, 1]]. ‖Z − Σ‖_Σ = 2, and the last entry
    alone gives ‖P − Σ‖_Σ ≥ √κ/2 − 1. The factor is therefore at least √κ/4 − 1/2, and in the example it is below √κ/4.
    The check sets κ = 10⁴ and computes in rational arithmetic.
    """
    root = sp.sqrt(kappa)
    sigma, noisy = sp.diag(kappa, 1), sp.Matrix([[0, root], [root, 0]])
    projected = sp.ones(2, 2) * root / 2
    negative = projected - noisy
    is_projection = negative.is_positive_semidefinite and projected * negative == sp.zeros(2)
    before, after = norm_squared(noisy - sigma, sigma), norm_squared(projected - sigma, sigma)
    low, high = (sp.nsimplify(share) * root - sp.Rational(1, 2)) ** 2, (sp.nsimplify(share) * root) ** 2
    holds = bool(is_projection) and before == 4 and after > before and low <= after / before < high
    return Evidence(holds, f"squares {before} and {after}")


@check("floating", scope="3000 random (Σ, Σ̂, N), d ≤ 5, and extreme ones")
@mutant("‖N‖ for (2/√3)‖N‖", factor=1.0)
@mutant("‖N‖_F/2 for ‖N‖_F", share=0.5)
@mutant("‖P − Σ‖_Σ ≤ ‖Z − Σ‖_Σ", direct=True)
def accuracy(factor: float = 2 / math.sqrt(3), share: float = 1.0, direct: bool = False) -> Found:
    """For Σ ⪰ I the projection P of Σ̂ + N has ‖P − Σ‖_Σ ≤ ‖Σ̂ − Σ‖_Σ + ‖N‖_F and ‖P − Σ‖ ≤ ‖Σ̂ − Σ‖ + (2/√3)‖N‖.

    The projection is compared with Σ̂, which is positive semidefinite: ‖P − Σ̂‖_F ≤ ‖N‖_F, and ‖·‖_Σ ≤ ‖·‖_F. The
    projection may increase the distance from Σ in ‖·‖_Σ (see `projection_in_the_norm_of_sigma`). The check therefore
    rejects the mutant that claims ‖P − Σ‖_Σ ≤ ‖Z − Σ‖_Σ for Z = Σ̂ + N.
    """
    rng = np.random.default_rng(2)
    for i in range(3000):
        d = int(rng.integers(1, 6))
        frame = np.linalg.qr(rng.standard_normal((d, d)))[0]
        sigma = (frame * 10 ** rng.uniform(0, 3, d)) @ frame.T
        y = rng.standard_normal((int(rng.integers(d, 50 * d + 1)), d)) @ np.linalg.cholesky(sigma).T
        empirical = y.T @ y / len(y)
        noise = symmetric_noise(rng, d) * 10 ** rng.uniform(-1, 4)
        if i % 50 == 0:
            sigma = np.diag([1e7, 1.0])
            empirical, noise = sigma, extreme_noise(1e4)
        noisy = empirical + noise
        error = psd_cone(noisy) - sigma
        slack = ROUNDING * np.abs(noisy).max()
        shape = sigma_norm(noisy - sigma, sigma) if direct else sigma_norm(empirical - sigma, sigma)
        yield sigma_norm(error, sigma) <= shape + (0 if direct else share * np.linalg.norm(noise)) + slack
        yield (
            np.linalg.norm(error, 2) <= np.linalg.norm(empirical - sigma, 2) + factor * np.linalg.norm(noise, 2) + slack
        )


def rows_for_sampling(d: int, beta: float, alpha: float, factors: tuple[float, float] = (4, 8)) -> float:
    """Return the number of rows (4√(d(d + 1)) + 8√(2 ln(1/β)))²/α² for which radius (8) of KLSU19 is α/2."""
    root = factors[0] * math.sqrt(d * (d + 1)) + factors[1] * math.sqrt(2 * math.log(1 / beta))
    return (root / alpha) ** 2


def rows_against_noise(n: float, d: int, kappa: float, rho: float, beta: float, alpha: float) -> float:
    """Return the number of rows 40 κ d² ln(n/β)^{3/2}/(α√ρ) for which σω is at most α/2."""
    return float(40 * kappa * d**2 * math.log(n / beta) ** 1.5 / (alpha * math.sqrt(rho)))


def enough_rows(d: int, kappa: float, rho: float, beta: float, alpha: float) -> int:
    """Return a number of rows that is at least `rows_for_sampling` and `rows_against_noise`, within 1 % of the
    smallest.
    """
    n = rows_for_sampling(d, beta, alpha)
    while n < rows_against_noise(n, d, kappa, rho, beta, alpha):
        n *= 1.01
    return math.ceil(n)


def error_bound(n: float, d: int, kappa: float, rho: float, beta: float) -> float:
    """Return the bound on ‖Σ̃ − Σ‖_Σ that fails with probability at most 3β: radius (8) of KLSU19 plus σω."""
    variance = naive_pce.noise_variance(n, rho, naive_pce.radius_squared(n, d, kappa, beta), "reconstructed")
    return frobenius_radius(n, d, beta) + math.sqrt(variance) * float(tails.omega_sharp(d, beta))


@check("floating", less="noise", scope="2000 random parameters")
@mutant("a tenth of the rows", rows=lambda *a: max(1, enough_rows(*a) // 10))
@mutant("3.88 for 4", sampling=lambda d, b, a: rows_for_sampling(d, b, a, (3.88, 8)))
@mutant("7.76 for 8", sampling=lambda d, b, a: rows_for_sampling(d, b, a, (4, 7.76)))
def rows_for_accuracy(
    rows: Formula = enough_rows, sampling: Formula = rows_for_sampling, noise: Formula = rows_against_noise
) -> Found:
    """n ≥ (4√(d(d+1)) + 8√(2 ln(1/β)))²/α² and n ≥ 40 κ d² ln(n/β)^{3/2}/(α√ρ) rows are enough for ‖Σ̃ − Σ‖_Σ ≤ α.

    The first number of rows makes the radius of (8) in KLSU19 at most α/2, and is at least (√d + √(2 ln(2/β)))², as (8)
    requires. The second number of rows makes σω ≤ α/2, because r² ≤ 5κd ln(n/β) and ω ≤ 2.8 d√ln(n/β), where ln(n/β) ≥
    1. With probability at least 1 − 3β no row is dropped, (8) holds, and ‖N‖_F ≤ σω. The check tries random parameters.
    It takes the noise variance, the truncation radius and ω from the reference. It also confirms the arithmetic of the
    proof, 2 · √2 · 5 · 2.8 ≤ 40 and 1 + 2√2 + 4 ≤ 2.8².
    """
    rng = np.random.default_rng(3)
    at_one = noise(math.e, 1, 1.0, 1.0, 1.0, 1.0)  # the constant 40
    yield {"arithmetic": 2 * math.sqrt(2) * 5 * 2.8 <= at_one and 5 + 2 * math.sqrt(2) <= 2.8**2}
    for _ in range(2000):
        d, kappa, alpha = int(10 ** rng.uniform(0, 3)), 10 ** rng.uniform(0, 6), 10 ** rng.uniform(-3, 0)
        rho, beta = 10 ** rng.uniform(-4, 1), 10 ** rng.uniform(-9, math.log10(0.25))
        n = rows(d, kappa, rho, beta, alpha)
        yield n >= (math.sqrt(d) + math.sqrt(2 * math.log(2 / beta))) ** 2
        yield 2 * frobenius_radius(sampling(d, beta, alpha), d, beta) / alpha
        yield error_bound(n, d, kappa, rho, beta) / alpha
