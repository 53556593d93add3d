"""CoinPress mean: the noisy mean of clipped rows, in a ball that each step shrinks. BDKU20.

For records of covariance I whose mean lies within `radius` of the origin. With a centre c, at first 0, and a radius r,
at first `radius`, each of t steps with budget ρ_j

1. brings every row into the ball of radius τ about c: c + (x_i − c) min(1, τ/|x_i − c|);
2. takes as the new c their mean plus σ N(0, I), σ = 2τ/(n√(2ρ_j));
3. takes as the new r a bound on how far that c is from the mean.

Release the last c. ρ_j as in `coinpress_covariance`.

Where the scale comes from. Rows in a ball of radius τ: replacing one moves their mean by at most 2τ/n, the diameter
over n, and Gaussian noise on an ℓ2 sensitivity Δ costs Δ²/(2σ²) = ρ_j. c and r depend on earlier steps only, so the
steps add up to ρ. All centres together reach it in the limit, by two rows that lie opposite one another and ever
further out: in every step they come to opposite ends of the ball, wherever its centre is. With one step that is the
release. With more, only the last centre is released; that it alone spends ρ is not claimed.

Why the radii. A record is N(μ, I), so with |μ − c| ≤ r it lies within τ = r + γ₁ of c, γ₁ a bound on the norm of n
Gaussian vectors. The new centre is N(μ, (1/n + σ²) I) if no row was moved: r = γ₂ √(1/n + σ²).

constants : "paper" γ₁² = d + 2√(dL) + 2L with L = ln(n/β_j), γ₂² with L = ln(1/β_j), τ = r + γ₁. "code" γ₁ = γ₂ with
    L = ln 100, τ = min(r + γ₁, √(r² + 6r + γ₁²)), as in the authors' code. That β is shared out equally is ours.

NOTE: in the published code a row stays where the first step has put it, and its baseline `fineMeanEst` clips nothing,
so it is not private at all (a negative control here).
"""

from collections.abc import Callable

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    Vector,
    as_rows,
    map_rows,
    require_below_one,
    require_choice,
    require_dimension,
    require_positive,
    require_shape,
    sum_rows,
)
from covassay.reference.mechanisms.gaussian_estimation.coinpress_covariance import (
    CONSTANTS,
    Constants,
    budgets,
    pressed,
    squared_norm_bound,
)
from covassay.reference.mechanisms.legacy import About
from covassay.reference.privacy import ZCDP, Spend

CODE_BETA = 0.01  # the published code's failure probability of each bound

# FORMULAS


def row_bound(n: Number, d: Number, beta: Number, constants: str, log: Callable[[Number], Number] = np.log) -> Number:
    """γ₁: how far n records may lie from their mean."""
    return squared_norm_bound(d, log(n / beta) if constants == "paper" else -log(CODE_BETA)) ** 0.5


def clip_radius(r: Number, gamma: Number, constants: str) -> Number:
    """τ, for a mean within r of the centre and records within γ₁ of the mean."""
    return r + gamma if constants == "paper" else min(r + gamma, (r**2 + 6 * r + gamma**2) ** 0.5)


def noise_scale(tau: Number, n: Number, rho: Number) -> Number:
    """σ = 2τ/(n√(2ρ))."""
    return 2 * tau / (n * (2 * rho) ** 0.5)


def next_radius(
    n: Number, d: Number, sigma: Number, beta: Number, constants: str, log: Callable[[Number], Number] = np.log
) -> Number:
    """r after a step: γ₂ √(1/n + σ²)."""
    gamma = squared_norm_bound(d, -log(beta if constants == "paper" else CODE_BETA)) ** 0.5
    return gamma * (1 / n + sigma**2) ** 0.5


# MECHANISM


def release(
    x: DataSet,
    noise: Matrix,
    *,
    rho: float,
    constants: Constants = "paper",
    radius: float = 10.0,
    steps: int = 3,
    beta: float = 0.1,
) -> Vector:
    """Release the mean estimated in steps, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows, of any length, in a unit in which their covariance is I.
    noise : (steps, d), standard Gaussian.
    rho : ρ > 0.
    constants : "paper" or "code".
    radius : public bound on the length of the mean.
    steps : t ≥ 1.
    beta : in (0, 1): failure probability of the accuracy argument, used by the paper's constants only.

    Returns
    -------
    (d,), in the unit of x.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite is read off the data: a precondition,
        not part of the mechanism.

    Privacy : ρ-zCDP for replacing one row, n public, in real arithmetic, whatever the rows are.
    Source : BDKU20, the multivariate mean estimator (our reading of its steps).
    """
    # VALIDATE
    require_positive("rho", rho)
    require_choice("constants", constants, CONSTANTS)
    require_positive("radius", radius)
    require_dimension("steps", steps)
    require_below_one("beta", beta)
    rows = as_rows(x)
    n, d = rows.shape
    gaussians = require_shape("noise", noise, (steps, d))

    # QUERY, NOISE of one step after the other
    centre, r = np.zeros(d), float(radius)
    gamma = row_bound(n, d, beta / steps, constants)
    for step, budget in enumerate(budgets(rho, steps)):
        # QUERY
        tau = clip_radius(r, gamma, constants)
        moved = pressed(map_rows(lambda block, c=centre: block - c, rows), np.eye(d), tau)
        mean = centre + sum_rows(lambda block: block.sum(axis=0), moved) / n

        # NOISE
        sigma = noise_scale(tau, n, budget)
        centre = mean + sigma * gaussians[step]
        r = next_radius(n, d, sigma, beta / steps, constants)

    # RELEASE
    return centre


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: float,
    constants: Constants = "paper",
    radius: float = 10.0,
    steps: int = 3,
    beta: float = 0.1,
) -> Vector:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_dimension("steps", steps)
    noise = rng.standard_normal((steps, as_rows(x).shape[1]))
    return release(x, noise, rho=rho, constants=constants, radius=radius, steps=steps, beta=beta)


def spend(*, rho: float, dimension: int, constants: Constants = "paper") -> Spend:
    """Claimed ρ; proven ρ, approached by all centres together."""
    require_positive("rho", rho)
    require_dimension("dimension", dimension)
    require_choice("constants", constants, CONSTANTS)
    remark = "by all centres together, in the limit of opposite rows ever further out; for one step that is the output"
    return Spend(ZCDP(rho), ZCDP(rho), True, remark)


ABOUT = About(
    name="coinpress-mean",
    title="CoinPress, mean of Gaussian data",
    paper="BDKU20",
    algorithm="mean",
    notion="zcdp",
    released="vector",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
    choices={"constants": CONSTANTS},
    parameters={"radius": 10.0, "steps": 3, "beta": 0.1},
    degree=1,
    domain="space",
)
