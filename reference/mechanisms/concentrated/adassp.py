"""AdaSSP: ridge regression from noisy sums, with a penalty that adapts to the data. Wang 2018 Algorithm 2.

The last column of x is the target y, and the others are the p = d − 1 features a. The row bound is for the row (a, y).

1. G = Σ_i a_i a_iᵀ and v = Σ_i y_i a_i. A private lower bound on λ_min(G) is λ̃ = max(0, λ_min(G) + s₁(Z − t)), where
   Z ~ N(0, 1) and t = √(2 ln(1/β)). The scales s₁, s₂ and s₃ of the noise are given below.
2. G̃ = G + s₂W, W symmetric with independent N(0, 1) on and above the diagonal.
3. ṽ = v + s₃N, N ~ N(0, I_p).
4. Release (G̃ + λI)⁻¹ṽ with λ = max(0, s₂√(p ln(2p²/β)) − λ̃). λ is 0 if λ̃ ≥ s₂√(p ln(2p²/β)).

Why ρ-zCDP. The triple (λ_min(G) + s₁Z, G̃, ṽ) is a Gaussian vector, and the rest is post-processing. Replacing one row
moves λ_min(G) by at most 1. The replacement moves G by A and v by b with ‖A‖_F² + 2‖b‖² ≤ 2, because A and b are blocks
of the change of Σ x xᵀ. The Rényi divergence of order α is therefore at most α(1/(2s₁²) + max(1/s₂², 1/(2s₃²))).

paper : s₁ = √(3/(2ρ)), s₂ = √(3/ρ), s₃ = √(3/(2ρ)). Steps 1 to 3 have the sensitivities 1, √2 and 1, and each step
    alone spends at most ρ/3. The mechanism claims ρ. It spends 2ρ/3, because no replaced row moves both G and v by as
    much as their sensitivities. If p = 1, the mechanism spends ρ/2.
tight : s₂ and s₃ are √2 times smaller. The calibration spends ρ, or 2ρ/3 if p = 1. The bound on the divergence, with G
    and v together, is ours.

NOTE: we read Wang's code, not the paper. Wang's code claims (ε, δ)-DP, has separate bounds on a and y, and adds I to G.
The split of ρ into thirds and the form of λ are Wang's. We chose t, and derived the constants for zCDP, for a replaced
row and for one bound on (a, y).

Proof: proofs/paper/adassp.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from covassay.reference.domain import (
    require_number,
    require_shape,
    require_symmetric,
    require_target,
    second_moment,
    shape_of,
    sized_unit_rows,
)
from covassay.reference.domain.types import DataSet, Matrix, Number, Vector
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.building_blocks.private_trace import gaussian_margin
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.parameters import (
    Calibration,
    Dimension,
    LargeRows,
    Rho,
    RowBound,
    below_one,
    checked,
    strict,
)
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend

Beta = Annotated[float, below_one("β", "public: with probability at least 1 − β, λ̃ is at most λ_min(G)")]

# FORMULAS


def eigenvalue_scale(rho: Number) -> Number:
    """The scale s₁ = √(3/(2ρ)) of the noise of λ_min(G), which moves by at most 1."""
    return (3 / (2 * rho)) ** 0.5


@strict(calibration=Calibration)
def matrix_scale(rho: Number, calibration: str) -> Number:
    """The scale s₂ of the noise of G: √(3/ρ) with "paper", √(3/(2ρ)) with "tight"."""
    return (3 / (rho if calibration == "paper" else 2 * rho)) ** 0.5


@strict(calibration=Calibration)
def vector_scale(rho: Number, calibration: str) -> Number:
    """The scale s₃ of the noise of v: √(3/(2ρ)) with "paper", √(3/(4ρ)) with "tight"."""
    return (3 / (2 * rho if calibration == "paper" else 4 * rho)) ** 0.5


def target_eigenvalue(
    features: Number, scale: Number, beta: Number, log: Callable[[Number], Number] = math.log
) -> Number:
    """The target s₂√(p ln(2p²/β)). If λ̃ is smaller than the target, the penalty λ is the difference."""
    return scale * (features * log(2 * features**2 / beta)) ** 0.5


def penalty(noisy: Number, target: Number) -> Number:
    """The penalty λ = max(0, target − λ̃) with λ̃ = max(0, noisy)."""
    return max(0, target - max(0, noisy))


@strict(calibration=Calibration)
def privacy_loss(rho: Number, d: int, calibration: str) -> Number:
    """The ρ that the triple spends: 2ρ/3 with "paper" and ρ with "tight", or ρ/2 and 2ρ/3 for one feature."""
    pair = rho / 3 if calibration == "paper" else 2 * rho / 3
    return rho / 3 + (pair if d > 2 else pair / 2)


# MECHANISM


@dataclass(frozen=True)
class AdaSSPNoise:
    """The noise: `eigenvalue` is Z, `matrix` is a symmetric (p, p) draw of W, and `vector` is N, of shape (p,)."""

    eigenvalue: float
    matrix: Matrix
    vector: Vector


@checked
def release(
    x: DataSet,
    noise: AdaSSPNoise,
    *,
    rho: Rho,
    calibration: Calibration = "paper",
    beta: Beta = 0.05,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Vector:
    """Release the coefficients, given the noise, an `AdaSSPNoise`. The coefficients have no unit."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    require_target(d)
    require_number("noise.eigenvalue", noise.eigenvalue)
    w = require_symmetric("noise.matrix", noise.matrix, (d - 1, d - 1))
    normal = require_shape("noise.vector", noise.vector, (d - 1,))

    # 1. QUERY and NOISE: λ̃, a lower bound on λ_min(G)
    sums = n * second_moment(rows)
    gram, product = sums[:-1, :-1], sums[:-1, -1]
    smallest = float(np.linalg.eigvalsh(gram)[0])
    lower = smallest + eigenvalue_scale(rho) * (noise.eigenvalue - gaussian_margin(beta))  # λ̃ = max(0, lower)

    # 2. NOISE: G̃
    noisy_gram = gram + matrix_scale(rho, calibration) * w

    # 3. NOISE: ṽ
    noisy_product = product + vector_scale(rho, calibration) * normal

    # 4. RELEASE
    weight = penalty(lower, target_eigenvalue(d - 1, matrix_scale(rho, calibration), beta))
    released: Vector = np.linalg.lstsq(noisy_gram + weight * np.eye(d - 1), noisy_product)[0]
    return released


def draw_noise(dimension: int, rng: np.random.Generator) -> AdaSSPNoise:
    """Return the noise that `release` takes for `dimension` columns."""
    p = max(1, dimension - 1)  # at least 1, even for a single column, which `release` refuses
    return AdaSSPNoise(float(rng.standard_normal()), wigner.sample_wigner(p, rng), rng.standard_normal(p))


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: Rho,
    calibration: Calibration = "paper",
    beta: Beta = 0.05,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Vector:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 2 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    rho : ρ in [1e-30, 1e30], the budget.
    calibration : value "paper" has the constants of the source; "tight" has less noise, and our proof covers both.
    beta : β in [1e-300, 1), public: with probability at least 1 − β, λ̃ is at most λ_min(G).
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    The coefficients, of shape (d − 1,). They have no unit.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ρ-zCDP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(
        x, noise, rho=rho, calibration=calibration, beta=beta, row_bound=row_bound, on_large_rows=on_large_rows
    )


@checked
def spend(*, rho: Rho, dimension: Dimension, calibration: Calibration = "paper") -> Spend:
    """The claimed budget is ρ.

    The proven budget is 2ρ/3 with "paper" and ρ with "tight"; for one feature, ρ/2 and 2ρ/3.
    """
    remark = "(λ_min(G) + s₁Z, G̃, ṽ) attains the proven budget at every order; we do not claim this for the output"
    return Spend(ZCDP(rho), ZCDP(privacy_loss(rho, dimension, calibration)), True, remark)


ABOUT = About("adassp", "adaptive sufficient statistics perturbation", "Wang 2018", "Algorithm 2", "reconstructed")
MECHANISM = Mechanism(
    ABOUT, CONCENTRATED, OUTPUTS["coefficients"], release, draw_noise, sample, spend, smallest_dimension=2
)
