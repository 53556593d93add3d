"""CoinPress covariance: the noisy covariance of clipped rows, in coordinates that the earlier rounds choose. BDKU20.

The mechanism is made for records with mean 0 and covariance Σ ⪯ uI.

1. A = I/√u. The steps 2 to 4 are repeated in t rounds (`steps`). The last round has the budget ρ_t = 3ρ/4, and each
   earlier round ρ_j = ρ/(4(t − 1)). If t = 1, the only round has the budget ρ.
2. w_i = A x_i, shortened to length γ if it is longer. M = (1/n) Σ w_i w_iᵀ.
3. Z = the positive semidefinite part of M + (γ²/(n√ρ_j)) N, N symmetric with independent N(0, 1) on and above the
   diagonal.
4. In all rounds but the last, A ← (Z + hI)^{-1/2} A.
5. Release A⁻¹ Z A⁻ᵀ with the A and the Z of the last round.

Why ρ-zCDP. Replacing one row moves the upper triangle of (1/n) Σ w wᵀ by at most √2 γ²/n in ℓ2, so a round costs ρ_j,
for any rows. The matrix A depends on earlier rounds only. For d = 1 the sensitivity is γ²/n, and ρ/2 is spent.

constants : with "paper", γ² = d + 2√(dL) + 2L, where L = ln(n/β_j) and β_j = β/t. The number h = η + ν is the sum of a
    bound η on the sampling error and a bound ν on the noise. With this h, AΣAᵀ ⪯ I stays true with high probability.
    With "code", L = ln 10 and h = √(d/n) + d/(2n). This h is smaller, and so is γ for n > 10β_j; they have no proof of
    accuracy.

NOTE: the steps are our reading of the paper. The equal shares of β, the bound υ in ν (proven, and smaller than the
printed one) and the order in step 4 are our additions. The published code maps rows by Aᵀ in place of A, which is as
private, but inaccurate for t ≥ 3 and d ≥ 2.

Proof: proofs/paper/coinpress-covariance.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Literal

import numpy as np

from covassay.reference.domain import as_rows, map_rows, require_shape, second_moment, shape_of
from covassay.reference.domain.types import Array, DataSet, Matrix, Number, Rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import Beta, Dimension, Meaning, checked, count, positive, strict
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend

CODE_BETA = 0.1  # in the published code, a bound on the probability that a N(0, I) row is longer than γ

Constants = Annotated[
    Literal["paper", "code"],
    Meaning('"paper" has the constants of the accuracy argument, "code" those of the published code'),
]
Steps = Annotated[int, count("t", 1, 10, "public: the number of steps")]
LargestVariance = Annotated[float, positive("u", "public, in the unit of x squared: Σ ⪯ uI, for accuracy only")]
# the noise of every step sets the scale of the next, so that scales grow like powers of 1/ρ
CoinPressRho = Annotated[float, positive("ρ", "the budget", 1e-12)]

# FORMULAS


def budgets(rho: Number, steps: int) -> list[Number]:
    """The budgets ρ_1, …, ρ_t: the early steps share a quarter of ρ, and the last step gets the rest.

    A single step gets the whole ρ.
    """
    return [rho / (4 * (steps - 1))] * (steps - 1) + [3 * rho / 4] if steps > 1 else [rho]


def squared_norm_bound(d: Number, log_term: Number) -> Number:
    """The bound d + 2√(dL) + 2L: ‖N(0, I_d)‖² exceeds it with probability e^{−L} at most (Laurent–Massart 2000)."""
    return d + 2 * (d * log_term) ** 0.5 + 2 * log_term


@strict(constants=Constants)
def squared_radius(
    n: Number, d: Number, beta: Number, constants: str, log: Callable[[Number], Number] = np.log
) -> Number:
    """The squared radius γ² of a step with failure probability β."""
    return squared_norm_bound(d, log(n / beta) if constants == "paper" else -log(CODE_BETA))


def noise_scale(squared: Number, n: Number, rho: Number) -> Number:
    """The noise scale σ = γ²/(n√ρ) as a function of γ²."""
    return squared / (n * rho**0.5)


def spectral_noise_bound(d: Number, beta: Number, log: Callable[[Number], Number] = np.log) -> Number:
    """The bound υ = 2√d + √((4 − 2/d) ln(2/β)), which ‖N‖ exceeds with probability at most β."""
    return 2 * d**0.5 + ((4 - 2 / d) * log(2 / beta)) ** 0.5


def sampling_bound(n: Number, d: Number, beta: Number, log: Callable[[Number], Number] = np.log) -> Number:
    """The bound η = 2e + e² on the sampling error, where e = √(d/n) + √(2 ln(2/β)/n).

    (1/n) Σ g gᵀ of n rows g ~ N(0, I) is within η of I in spectral norm, except with probability β.
    """
    return (
        2 * ((d / n) ** 0.5 + (2 * log(2 / beta) / n) ** 0.5) + ((d / n) ** 0.5 + (2 * log(2 / beta) / n) ** 0.5) ** 2
    )


@strict(constants=Constants)
def offset(
    n: Number, d: Number, beta: Number, sigma: Number, constants: str, log: Callable[[Number], Number] = np.log
) -> Number:
    """The offset h of a step with failure probability β and noise of standard deviation σ: η + συ with "paper"."""
    if constants == "paper":
        return sampling_bound(n, d, beta, log) + sigma * spectral_noise_bound(d, beta, log)
    return (d / n) ** 0.5 + d / (2 * n)


# MECHANISM


def pressed(rows: Rows, a: Matrix, radius: float) -> Rows:
    """Return the images A x_i of the rows, shortened to the radius if they are longer. No image overflows, whatever the
    size of the row.
    """

    def image(block: Matrix) -> Matrix:
        largest = np.abs(block).max(axis=1)
        # The image A x_i of row i is `largest[i]` times row i of `images`.
        images = (block / np.where(largest > 0, largest, 1.0)[:, None]) @ a.T
        norms = np.linalg.norm(images, axis=1)
        lengths = np.minimum(largest, radius / np.where(norms > 0, norms, 1.0))
        shortened: Matrix = images * lengths[:, None]
        return shortened

    return map_rows(image, rows)


@checked
def release(
    x: DataSet,
    noise: Array,
    *,
    rho: CoinPressRho,
    constants: Constants = "paper",
    u: LargestVariance = 10.0,
    steps: Steps = 3,
    beta: Beta = 0.1,
) -> Matrix:
    """Release the covariance estimated in rounds, given the noise (steps, d, d): a symmetric N for every round."""
    # VALIDATE
    rows = as_rows(x)
    n, d = rows.shape
    gaussians = require_shape("noise", noise, (steps, d, d))
    if not np.array_equal(gaussians, np.swapaxes(gaussians, 1, 2)):
        raise InvalidInput("noise has a matrix that is not symmetric: every one must equal its transpose")

    # 1. Set A and A⁻¹ for the first round
    a, inverse = np.eye(d) / math.sqrt(u), np.eye(d) * math.sqrt(u)
    z = np.zeros((d, d))
    share = beta / steps
    squared = squared_radius(n, d, share, constants)

    for step, budget in enumerate(budgets(rho, steps)):
        # 2. QUERY
        moment = second_moment(pressed(rows, a, math.sqrt(squared)))

        # 3. NOISE
        sigma = noise_scale(squared, n, budget)
        values, vectors = np.linalg.eigh(moment + sigma * gaussians[step])
        levels = np.maximum(values, 0.0)
        z = (vectors * levels) @ vectors.T

        # 4. Compute A and A⁻¹ for the next round
        if step < steps - 1:
            roots = np.sqrt(levels + offset(n, d, share, sigma, constants))
            a = (vectors / roots) @ vectors.T @ a
            inverse = inverse @ (vectors * roots) @ vectors.T

    # 5. RELEASE
    estimate = inverse @ z @ inverse.T
    released: Matrix = (estimate + estimate.T) / 2
    return released


@checked
def draw_noise(dimension: int, rng: np.random.Generator, *, steps: Steps) -> Array:
    """Return the noise that `release` takes, (steps, d, d)."""
    gaussians = rng.standard_normal((steps, dimension, dimension))
    return np.triu(gaussians) + np.swapaxes(np.triu(gaussians, 1), 1, 2)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: CoinPressRho,
    constants: Constants = "paper",
    u: LargestVariance = 10.0,
    steps: Steps = 3,
    beta: Beta = 0.1,
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows of any real numbers.
    rng : the source of all randomness.
    rho : ρ in [1e-12, 1e30], the budget.
    constants : value "paper" has the constants of the accuracy argument, "code" those of the published code.
    u : u in [1e-30, 1e30], public, in the unit of x squared: Σ ⪯ uI, for accuracy only.
    steps : t from 1 to 10, public: the number of steps.
    beta : β in [1e-300, 1), public: the probability that the error bound may fail.

    Returns
    -------
    (d, d), symmetric, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error about an entry that is not finite depends on the data, and is
        not private.

    Privacy : the output is ρ-zCDP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng, steps=steps)
    return release(x, noise, rho=rho, constants=constants, u=u, steps=steps, beta=beta)


@checked
def spend(*, rho: CoinPressRho, dimension: Dimension, constants: Constants = "paper") -> Spend:
    """The claimed budget is ρ. The proven budget is ρ, and ρ/2 for d = 1."""
    proven = rho if dimension > 1 else rho / 2
    remark = (
        "ever longer rows along two axes (x and 0 if d = 1) approach the proven budget as n → ∞; if there is "
        "more than one step, the outputs of all steps together do"
    )
    return Spend(ZCDP(rho), ZCDP(proven), True, remark)


ABOUT = About("coinpress-covariance", "CoinPress, covariance of Gaussian data", "BDKU20", "covariance", "ours")
MECHANISM = Mechanism(
    ABOUT,
    CONCENTRATED,
    SYMMETRIC_SECOND_MOMENT,
    release,
    draw_noise,
    sample,
    spend,
    domain="space",
    unranked="for Gaussian data, rows of any size",
)
