"""Check ADK19 §1.1 and §2: composition, the Laplace and exponential mechanisms, ridge regression from a covariance."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.downstream import ridge
from covassay.reference.mechanisms.building_blocks import exponential, laplace
from covassay.verification.claims.checks.quoted import exceeds
from covassay.verification.claims.evidence import ROUNDING, Evidence, Formula, Found, check, mutant

CASES = 3000


def random_second_moment(rng: np.random.Generator, d: int) -> Matrix:
    """Return a random positive semidefinite matrix of any rank, whose eigenvalues span several orders of magnitude."""
    x = rng.standard_normal((int(rng.integers(1, 2 * d + 1)), d)) * 10 ** rng.uniform(-2, 1, d)
    moment: Matrix = x.T @ x
    return moment


# COMPOSITION AND THE TWO MECHANISMS


@check("exact", scope="9 pairs of odds")
@mutant("the larger of the two", composed=max)
@mutant("the odds added", composed=lambda s, t: s + t)
def adaptive_composition(composed: Formula = lambda s, t: s * t) -> Found:
    """The odds e^{ε₁}, e^{ε₂} of two randomised responses multiply, even if the second question depends on the answer.

    In the check the record is a bit x, and the second response asks for x or for its negation. For odds s and t the
    largest ratio of joint probabilities must be exactly st. The check uses rational arithmetic.
    """
    for s, t in product((Fraction(2), Fraction(7, 3), Fraction(10)), repeat=2):

        def joint(x: int, a: int, b: int, s: Fraction = s, t: Fraction = t) -> Fraction:
            first = (s if a == x else Fraction(1)) / (1 + s)
            asked = x if a == 0 else 1 - x
            return first * (t if b == asked else Fraction(1)) / (1 + t)

        worst = max(joint(0, a, b) / joint(1, a, b) for a, b in product((0, 1), repeat=2))
        yield {f"s={s}, t={t}": worst == composed(s, t)}


@check("floating", scope=f"{CASES} random changes and outputs", attained=1 - ROUNDING)
@mutant("half the scale", scale=lambda s, e: laplace.noise_scale(s, e) / 2)
def laplace_loss(scale: Formula = laplace.noise_scale) -> Found:
    """The log density ratio of the Laplace mechanism is at most ε = Δ/b, and it is ε where the noise is 0."""
    rng = np.random.default_rng(1)
    epsilon, sensitivity = 0.7, 3.0
    b = float(scale(sensitivity, epsilon))
    for _ in range(CASES):
        k = int(rng.integers(1, 6))
        change = rng.standard_normal(k)
        change *= sensitivity / np.abs(change).sum()
        z = rng.laplace(size=k) * b * rng.choice([0.0, 1.0])
        yield float((np.abs(z + change) - np.abs(z)).sum()) / b / epsilon


@check("exact", scope="k = 1, 2, 5, 50 and β = 1/2, 1/10, 1/1000")
@mutant("without the union bound", bound=lambda b, k, beta, log: b * log(1 / beta))
def laplace_tail(bound: Formula = laplace.largest_error) -> Found:
    """For k Laplace variables Y_i, P(max |Y_i| ≥ b ln(k/β)) = 1 − (1 − β/k)^k ≤ β, by Bernoulli's inequality.

    If the bound is t times the scale b, the probability is 1 − (1 − e^{−t})^k. The check passes the identity function
    to the reference's formula in place of the logarithm. The formula then gives e^t in place of t, so that the check
    can use rational arithmetic.
    """
    for k, beta in product((1, 2, 5, 50), (Fraction(1, 2), Fraction(1, 10), Fraction(1, 1000))):
        argument = bound(Fraction(1), k, beta, lambda v: v)  # e^t
        probability = 1 - (1 - 1 / argument) ** k
        yield {f"k={k}, β={beta}": probability <= beta and argument == k / beta}


@check("floating", covers="case", scope="a counterexample")
@mutant("the corrected bound", printed=lambda g, share: exponential.failure_bound(1.0, g / 2, share))
@mutant("the quoted bound larger by 3 %", quoted=("0.2689", "0.2094"))
def printed_utility(
    printed: Formula = lambda g, share: math.exp(-g) * share, quoted: tuple[str, str] = ("0.2689", "0.2033")
) -> Evidence:
    """The bound P(ŷ ∉ G_τ) ≤ e^{−ετ/(2Δ)} μ(G_τ) that Lemma 4 prints fails for two outcomes.

    The example has μ = (½, ½), g = (1, 0), Δ = 1, ε = 2 and τ = 0.9, where P = 1/(1 + e) = 0.2689 > ½ e^{−0.9} =
    0.2033.
    """
    with mpmath.workdps(30):
        probability = 1 / (1 + mpmath.e)
    return exceeds(float(probability), printed(0.9, 0.5), quoted)


@check("floating", scope=f"{CASES} random finite problems")
@mutant("multiplied by μ(G_s), as printed", bound=lambda eta, gap, share: math.exp(-eta * gap) * share)
@mutant("τ for τ − s", whole=True)
@mutant("η larger by 3 %", bound=lambda eta, gap, share: exponential.failure_bound(1.03 * eta, gap, share))
def corrected_utility(bound: Formula = exponential.failure_bound, whole: bool = False) -> Found:
    """P(ŷ ∉ G_τ) ≤ e^{−η(τ−s)}/μ(G_s) with η = ε/(2Δ) for every 0 ≤ s ≤ τ. The bound of McSherry and Talwar is the case
    s = τ/2.
    """
    rng = np.random.default_rng(3)
    for _ in range(CASES):
        m = int(rng.integers(2, 6))
        mu = rng.dirichlet(np.full(m, 0.2))
        g = rng.integers(0, 5, m) * 10.0 ** rng.integers(-3, 1, m)
        eta = 10 ** rng.uniform(-1, 2)
        tau = float(rng.choice(g.max() - g)) * 0.999
        s = tau * float(rng.choice([0, 0.25, 0.5, 0.75, 1]))
        weights = mu * np.exp(eta * (g - g.max()))
        outside = float(weights[g < g.max() - tau].sum() / weights.sum())
        share = float(mu[g >= g.max() - s].sum())
        yield outside <= bound(eta, tau if whole else tau - s, share) * (1 + 1e-9) + 1e-300


# RIDGE REGRESSION


def regression_pairs(seed: int) -> Iterator[tuple[Matrix, Matrix, float]]:
    """Yield random triples (C, Ĉ, α) of two covariances and a penalty.

    In the first triple (C, Ĉ, α) the covariance Ĉ is singular. In half of the other triples, Ĉ is C with only its
    target feature scaled.
    """
    yield np.array([[1000.0, 10.0], [10.0, 1.0]]), np.array([[1000.0, 10.0], [10.0, 0.1]]), 1 / 200
    rng = np.random.default_rng(seed)
    for i in range(CASES):
        d = int(rng.integers(2, 5))
        c = random_second_moment(rng, d)
        if i % 2:
            near = random_second_moment(rng, d)
        else:
            root = np.linalg.cholesky(c + 1e-9 * np.eye(d))
            root[0] *= 1 + rng.uniform(-0.5, 0.5)
            near = root @ root.T
        yield c, near, 10 ** rng.uniform(-3, 1)


@check("floating", scope=f"{CASES} random pairs, and 4 pairs with one feature")
@mutant("twice the denominator", denominator=2.0)
@mutant("without ‖C − Ĉ‖_{2,∞}", column=0.0)
@mutant("3 % more of 2α", bound_of=lambda c, m, norm, low, a: ridge.error_bound(c, m, norm, low, 1.03 * a))
def regression_error(denominator: float = 1.0, column: float = 1.0, bound_of: Formula = ridge.error_bound) -> Found:
    """Lemma 1, ‖w − ŵ‖ ≤ (‖C − Ĉ‖_{2,∞} + ‖C − Ĉ‖ ‖ŵ‖)/(λ_min(C) + 2α), holds for the reference's `error_bound`.

    What the reference calls the penalty α is the product αn in the paper. Let there be only one feature. Then the bound
    is an equality if its norms and λ_min are taken from the blocks of C − Ĉ and C that belong to this feature. If a is
    the second moment of the feature, w = 1/(a + 2α) and ŵ = 0.9/(a + 0.3 + 2α) differ by (0.1 + 0.3 ŵ)/(a + 2α).
    """
    for a, alpha in product((0.1, 2.0), (0.05, 1.0)):
        one, other = 1 / (a + 2 * alpha), 0.9 / (a + 0.3 + 2 * alpha)
        yield math.isclose(one - other, bound_of(0.1 * column, 0.3, other, a * denominator, alpha))
    for c, near, alpha in regression_pairs(5):
        w, estimate = ridge.coefficients(c, 0, alpha), ridge.coefficients(near, 0, alpha)
        change = c - near
        columns = column * float(np.linalg.norm(change, axis=0).max())
        smallest = max(0.0, float(np.linalg.eigvalsh(c)[0])) * denominator + (denominator - 1) * 2 * alpha
        bound = bound_of(columns, np.linalg.norm(change, 2), np.linalg.norm(estimate), smallest, alpha)
        yield np.linalg.norm(w - estimate) <= bound * (1 + 1e-9) + 1e-12


@check("exact", covers="case", scope="a counterexample")
@mutant("with ‖ŵ‖", norm_of="estimate")
@mutant("the quoted bound larger by 3 %", quoted=("81.0", "11.1"))
def regression_remark(norm_of: str = "truth", quoted: tuple[str, str] = ("81.0", "10.8")) -> Evidence:
    """The remark after Lemma 1 is false: with ‖w‖ in place of ‖ŵ‖ the bound is 10.8, but the error is 81.0.

    C = [[1, 10], [10, 1000]], Ĉ = [[1/10, 10], [10, 1000]], the second column is the target, and 2α = 1/100, so each
    regression has one coefficient. The arithmetic is rational, with ‖C − Ĉ‖ = 9/10 and the lower bound
    λ_min(C) ≥ 1 − 100/999 > 0.89 (Gershgorin after elimination).
    """
    penalty = Fraction(1, 200)
    w = Fraction(10) / (1 + 2 * penalty)
    estimate = Fraction(10) / (Fraction(1, 10) + 2 * penalty)
    change = Fraction(9, 10)
    smallest = 1 - Fraction(100, 999)
    norm = w if norm_of == "truth" else estimate
    bound = ridge.error_bound(change, change, norm, smallest, penalty)
    return exceeds(estimate - w, bound, quoted)
