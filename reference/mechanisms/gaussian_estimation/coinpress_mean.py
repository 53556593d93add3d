"""CoinPress mean: the noisy mean of clipped rows, in a ball that each round chooses anew. BDKU20.

The mechanism is made for records of covariance I whose mean lies within `radius` of the origin.

1. The centre c is 0, and r = `radius`. The steps 2 to 4 are repeated in t rounds (`steps`). The last round has the
   budget 3ρ/4, and each earlier round ρ_j = ρ/(4(t − 1)). If t = 1, the only round has the budget ρ.
2. Clip every row to the ball of radius τ about c: c + (x_i − c) min(1, τ/|x_i − c|). Take the mean of these rows.
3. The new c is the clipped mean plus σ N(0, I), σ = 2τ/(n√(2ρ_j)).
4. The new r = γ₂√(1/n + σ²) is a bound on how far the new c is from the mean of the distribution.
5. Release the last c.

Why ρ-zCDP. Rows lie in a ball of diameter 2τ, so replacing one moves their mean by at most 2τ/n, and a round costs
(2τ/n)²/(2σ²) = ρ_j, for any rows. c and r depend on earlier rounds only, so the costs of the rounds add up to ρ.

constants : with "paper", γ₁² = d + 2√(dL) + 2L with L = ln(n/β_j), and γ₂² is the same formula with L = ln(1/β_j). Here
    β_j = β/t and τ = r + γ₁. With "code", which has the constants of the published code, γ₁² and γ₂² are d + 2√(dL) +
    2L with L = ln 100, and τ = min(r + γ₁, √(r² + 6r + γ₁²)).

Accuracy. With "paper", if γ₁ bounds |x_i − μ| and r bounds |c − μ|, clipping moves no row, so the new c is N(μ, (1/n +
σ²)I). With high probability the new r bounds |c − μ| for this law.

NOTE: the steps are our reading of the paper, and the equal shares of β are our choice. Each step of the published code
clips the rows that the step before has clipped. Its baseline `fineMeanEst` clips nothing, and is a negative control.

Proof: proofs/paper/coinpress-mean.md
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np

from covassay.reference.domain import as_rows, map_rows, require_shape, shape_of, sum_rows
from covassay.reference.domain.types import DataSet, Matrix, Number, Vector
from covassay.reference.mechanisms.gaussian_estimation.coinpress_covariance import (
    CoinPressRho,
    Constants,
    Steps,
    budgets,
    pressed,
    squared_norm_bound,
)
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import VectorOutput
from covassay.reference.mechanisms.parameters import Beta, Dimension, checked, positive, strict
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend

CODE_BETA = 0.01  # the failure probability of each bound in the published code

Radius = Annotated[float, positive("r", "public: a bound on the length of the mean, for accuracy only")]

# FORMULAS


@strict(constants=Constants)
def row_bound(n: Number, d: Number, beta: Number, constants: str, log: Callable[[Number], Number] = np.log) -> Number:
    """The bound γ₁ on the distance of n records from the mean of the distribution."""
    return squared_norm_bound(d, log(n / beta) if constants == "paper" else -log(CODE_BETA)) ** 0.5


@strict(constants=Constants)
def clip_radius(r: Number, gamma: Number, constants: str) -> Number:
    """The clipping radius τ, for a mean within r of the centre and records within γ₁ of the mean."""
    return r + gamma if constants == "paper" else min(r + gamma, (r**2 + 6 * r + gamma**2) ** 0.5)


def noise_scale(tau: Number, n: Number, rho: Number) -> Number:
    """The noise scale σ = 2τ/(n√(2ρ))."""
    return 2 * tau / (n * (2 * rho) ** 0.5)


@strict(constants=Constants)
def next_radius(
    n: Number, d: Number, sigma: Number, beta: Number, constants: str, log: Callable[[Number], Number] = np.log
) -> Number:
    """The radius r after a step, γ₂ √(1/n + σ²)."""
    gamma = squared_norm_bound(d, -log(beta if constants == "paper" else CODE_BETA)) ** 0.5
    return gamma * (1 / n + sigma**2) ** 0.5


# MECHANISM


@checked
def release(
    x: DataSet,
    noise: Matrix,
    *,
    rho: CoinPressRho,
    constants: Constants = "paper",
    radius: Radius = 10.0,
    steps: Steps = 3,
    beta: Beta = 0.1,
) -> Vector:
    """Release the mean estimated in rounds, given the noise: an array (steps, d) of independent N(0, 1) draws."""
    # VALIDATE
    rows = as_rows(x)
    n, d = rows.shape
    gaussians = require_shape("noise", noise, (steps, d))

    # 1. Set the centre c and the radius r for the first round
    centre, r = np.zeros(d), float(radius)
    gamma = row_bound(n, d, beta / steps, constants)

    for step, budget in enumerate(budgets(rho, steps)):
        # 2. QUERY
        tau = clip_radius(r, gamma, constants)
        moved = pressed(map_rows(lambda block, c=centre: block - c, rows), np.eye(d), tau)
        mean = centre + sum_rows(lambda block: block.sum(axis=0), moved) / n

        # 3. NOISE
        sigma = noise_scale(tau, n, budget)
        centre = mean + sigma * gaussians[step]

        # 4. Compute the radius r for the next round
        r = next_radius(n, d, sigma, beta / steps, constants)

    # 5. RELEASE
    return centre


@checked
def draw_noise(dimension: int, rng: np.random.Generator, *, steps: Steps) -> Matrix:
    """Return the noise that `release` takes, (steps, d)."""
    return rng.standard_normal((steps, dimension))


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: CoinPressRho,
    constants: Constants = "paper",
    radius: Radius = 10.0,
    steps: Steps = 3,
    beta: Beta = 0.1,
) -> Vector:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows of any real numbers.
    rng : the source of all randomness.
    rho : ρ in [1e-12, 1e30], the budget.
    constants : value "paper" has the constants of the accuracy argument, "code" those of the published code.
    radius : r in [1e-30, 1e30], public: a bound on the length of the mean, for accuracy only.
    steps : t from 1 to 10, public: the number of steps.
    beta : β in [1e-300, 1), public: the probability that the error bound may fail.

    Returns
    -------
    (d,), in the unit of x.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error about an entry that is not finite depends on the data, and is
        not private.

    Privacy : the output is ρ-zCDP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng, steps=steps)
    return release(x, noise, rho=rho, constants=constants, radius=radius, steps=steps, beta=beta)


@checked
def spend(*, rho: CoinPressRho, dimension: Dimension, constants: Constants = "paper") -> Spend:
    """The claimed and the proven budget are ρ. If the centres of all rounds were released, the zCDP cost of some
    neighbours would come arbitrarily close to ρ.
    """
    remark = (
        "if the row −x replaces x, and x is long, the cost of releasing the centres of all steps is close to ρ; "
        "if there is only one step, this is the cost of the output"
    )
    return Spend(ZCDP(rho), ZCDP(rho), True, remark)


ABOUT = About("coinpress-mean", "CoinPress, mean of Gaussian data", "BDKU20", "mean", "ours")
MECHANISM = Mechanism(ABOUT, CONCENTRATED, VectorOutput(power=1), release, draw_noise, sample, spend, domain="space")
