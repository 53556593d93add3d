"""Check DLY22 §1, §3 and Lemma 8: the covariance, its sensitivities, notions of privacy, sparse vectors."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from covassay.reference.domain import Matrix, second_moment
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.building_blocks import above_threshold, gaussian
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.sensitivity import SENSITIVITIES
from covassay.verification.claims.evidence import ROUNDING, Evidence, Formula, Found, check, mutant

CASES = 3000


def rows_in_ball(rng: np.random.Generator, n: int, d: int) -> Matrix:
    """Return random rows of the unit ball; each has length 1 with probability 1/3, and otherwise a random length down
    to 1e-3.
    """
    rows = rng.standard_normal((n, d))
    lengths = np.where(rng.random(n) < 1 / 3, 1.0, 10 ** rng.uniform(-3, 0, n))
    scaled: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True) * lengths[:, None]
    return scaled


# THE COVARIANCE


@check("floating", scope="500 random data sets, n ≤ 8, d ≤ 5")
@mutant("division by d", moment=lambda x: second_moment(x) * x.shape[0] / x.shape[1])
def trace_identity(moment: Formula = second_moment) -> Found:
    """The trace Σλ_i of Σ is the average of ‖x_i‖².

    In the basis of the eigenvectors of Σ the features are orthogonal, with squared norms nλ_i.
    """
    rng = np.random.default_rng(1)
    for _ in range(500):
        n, d = int(rng.integers(1, 9)), int(rng.integers(1, 6))
        x = rows_in_ball(rng, n, d)
        values, vectors = np.linalg.eigh(moment(x))
        features = x @ vectors
        yield float(np.abs(features.T @ features / n - np.diag(values)).max()) / ROUNDING
        yield abs(float(values.sum() - (x**2).sum() / n)) / ROUNDING


@check("floating", scope="all n and ρ, and d ≤ 8")
@mutant("√2 times the scale", scale=lambda n, rho: sp.sqrt(2) * gauss_cov.noise_scale(n, rho))
@mutant("half the variance off the diagonal", deviations=lambda d, e: wigner.deviations(d, "goe"))
def gauss_cov_error(scale: Formula = gauss_cov.noise_scale, deviations: Formula = wigner.deviations) -> Evidence:
    """On all data GaussCov has exactly E‖Σ̂ − Σ‖_F² = d²/(n²ρ), so its error is of order d/n.

    The check confirms σ²ρn² = 1 symbolically. For d ≤ 8 it adds up the variances of the entries of W, whose sum is d².
    """
    n, rho = sp.symbols("n rho", positive=True)
    unit = sp.simplify(sp.nsimplify(scale(n, rho)) ** 2 * n**2 * rho)
    counted = [abs(float((deviations(d, "wigner") ** 2).sum()) - d**2) < ROUNDING for d in range(1, 9)]
    return Evidence(unit == 1 and all(counted), f"σ²ρn² = {unit}")


@check("floating", less="factor", more="factor", scope=f"{CASES} random pairs, d ≤ 5")
@mutant("λ₁ and λ_d exchanged", swap=True)
@mutant("half the norm", factor=0.5)
def mahalanobis(swap: bool = False, factor: float = 1.0) -> Found:
    """For every matrix A the norm ‖Σ^{−1/2} A Σ^{−1/2}‖_F lies between ‖A‖_F/λ₁ and ‖A‖_F/λ_d.

    Matrices A along the first and along the last eigenvector of Σ attain the two bounds. The check tries symmetric and
    asymmetric matrices A.
    """
    rng = np.random.default_rng(3)
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
        yield low / relative
        yield relative / high


# THE SPARSE VECTOR TECHNIQUE


def _accuracy(*given: Any) -> Any:
    """Return the reference's accuracy α of the sparse vector technique, changed as a mutant prescribes."""
    return above_threshold.accuracy(*given)


@check("floating", scope="m ≤ 100, β ≤ 9/10")
@mutant("half α", accuracy=lambda m, b, e, c, log: 4 * log(2 * m / b) / e)
@mutant("without the union bound", accuracy=lambda m, b, e, c, log: 8 * log(2 / b) / e)
@mutant("3 % more than 8", accuracy=lambda m, b, e, c, log: Fraction(103, 100) * _accuracy(m, b, e, c, log))
@mutant("3 % more than β", accuracy=lambda m, b, e, c, log: _accuracy(m, b * Fraction(103, 100), e, c, log))
@mutant(
    "3 % more than β in the tight calibration",
    accuracy=lambda m, b, e, c, log: above_threshold.accuracy(
        m, b * Fraction(103, 100) if c == "tight" else b, e, c, log
    ),
)
def svt_accuracy(accuracy: Formula = above_threshold.accuracy) -> Found:
    """At α = (8/ε) ln(2m/β) all noises stay within α/2 with probability at least 1 − β, by the union bound.

    With v = e^{αε/8}, P(|Laplace(4/ε)| ≥ α/2) = 1/v and P(|Laplace(2/ε)| ≥ α/2) = v^{−2}, so m/v + v^{−2} ≤ β is
    needed. The formula for α is a linear function of ln(2m/β). With the identity function in place of the logarithm the
    formula gives 8v/ε, so that the check can use rational arithmetic. With the calibration "tight", α is t + u, where
    P(|noise| ≥ t) = β/2 for the threshold and P(|noise| ≥ u) = β/(2m) for each query. With the identity in place of the
    logarithm, this α is 2b₁/β + 2m b₂/β, where b₁ and b₂ are the scales of the two noises.
    """
    b1, b2 = Fraction(above_threshold.threshold_scale(1)), Fraction(above_threshold.query_scale(1, "tight"))
    for m, beta in product((1, 2, 5, 100), (Fraction(9, 10), Fraction(1, 2), Fraction(1, 1000))):
        coefficient = accuracy(m, beta, Fraction(1), "paper", lambda v: 1)  # α is coefficient · ln(argument)
        argument = accuracy(m, beta, Fraction(1), "paper", lambda v: v) / coefficient
        power = Fraction(coefficient) / 8  # e^{−α/8} is argument^{−power}
        stated = coefficient == 8 and argument == 2 * m / beta
        query = float(argument) ** -float(power) if power != 1 else 1 / argument
        tight = accuracy(m, beta, Fraction(1), "tight", lambda v: v)  # each level is a scale times ln(1/probability)
        if not (stated and m * query + query**2 <= beta) or tight != b1 / (beta / 2) + b2 / (beta / (2 * m)):
            yield f"m={m}, β={beta}"


@check("floating", scope=f"{CASES} random runs, m ≤ 7")
@mutant("α/2 for α", share=0.5)
def svt_promise(share: float = 1.0) -> Found:
    """If no noise exceeds α/2, no query above the threshold + α is passed over, and none below it − α is accepted.

    The check runs the reference's algorithm on queries near T ± α; some noises are at the ends of their range.
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


@check("floating", scope=f"{CASES} random pairs")
@mutant("a supremum of 1", supremum=lambda n, d: 1 / n)
@mutant("a supremum of √(3/2)", supremum=lambda n, d: 1.5**0.5 / n)
def fact_1(supremum: Formula = gaussian.second_moments_sensitivity) -> Evidence:
    """Σ(a_i − b_i)² ≤ Σa_i² + Σb_i² ≤ 2 for a, b ≥ 0 that each sum to at most 1; two unit vectors attain the bound 2.

    The check tries random rational vectors, some of which have zeros. The square of the reference's √2 is rounded to 12
    decimals for the comparison.
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
    return Evidence(worst == 2 == limit, f"largest {worst}")


@check("floating", scope=f"{CASES} random neighbours, d ≤ 5")
@mutant("a supremum of 1.4", supremum=lambda d: 1.4)
@mutant("ℓ1 for ℓ2", power=1)
def eigenvalue_change_l2(supremum: Formula = SENSITIVITIES["eigenvalues, l2"].supremum, power: int = 2) -> Found:
    """Replacing a row moves the ordered eigenvalues of nΣ by at most √2 in ℓ2, which diag(2, 0) → diag(1, 1) attains.

    The check also confirms the steps of the proof: adding xxᵀ lowers no eigenvalue and raises their sum by ‖x‖² ≤ 1.
    Fact 1 of DLY22 then gives the bound √2 on the move of the eigenvalues.
    """
    rng = np.random.default_rng(8)
    for _ in range(CASES):
        d = int(rng.integers(2, 6))
        rest = rows_in_ball(rng, int(rng.integers(1, 8)), d)
        base = np.linalg.eigvalsh(rest.T @ rest)
        x, y = rows_in_ball(rng, 2, d)
        one, two = (np.linalg.eigvalsh(rest.T @ rest + np.outer(v, v)) for v in (x, y))
        yield (one - base).min() >= -ROUNDING and abs(float((one - base).sum() - x @ x)) <= ROUNDING
        yield float((np.abs(one - two) ** power).sum() ** (1 / power)) / supremum(d)
    pair = np.array([2.0, 0.0]) - np.array([1.0, 1.0])
    attained = abs(float(np.linalg.norm(pair)) / supremum(2) - 1) < 1e-12
    yield attained
