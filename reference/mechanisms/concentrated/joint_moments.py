"""Release the mean and the second moment of the same rows, jointly. Kalinin, Upadhyay, Lampert 2025 (JME).

1. Compute m = (1/n) Σ_i x_i and Σ = (1/n) Σ_i x_i x_iᵀ.
2. Draw N ~ N(0, I_d) and a symmetric G, N(0, 1) on the diagonal and N(0, 1/2) above it (Gaussian orthogonal ensemble).
   Add σ₁N to m and σ₂G to Σ, with σ₁ = S/(n√(2ρ)) and σ₂ = σ₁/√λ. S² is the supremum of
   q(x, y) = ‖x − y‖² + λ‖x xᵀ − y yᵀ‖_F² over rows x and y of the unit ball.
3. Release m + σ₁N and, in the rows below it, Σ + σ₂G.

Why ρ-zCDP. The release is a Gaussian vector, and replacing x by y gives D_α = (α/2) q(x, y)/(nσ₁)² ≤ αρ.

A release of Σ in addition need not increase the noise of the mean. For the mean alone S = 2, attained at y = −x, which
does not change Σ. For d ≥ 2 the rows that move Σ the most are orthogonal, and move the sum of the rows by √2 only.
Therefore S stays 2 as long as λ is at most some λ₀ > 0. For d ≥ 2, λ₀ = ½: with c = ⟨x, y⟩, q(x, y) is at most 2 − 2c +
2λ(1 − c²) = 4 − 2(1 + c)(1 − λ(1 − c)), and 1 − c ≤ 2. For d = 1, λ₀ is larger, (11 + 5√5)/8.

`weight` is λ/λ₀. If `weight` ≤ 1, the mean has the same noise as if it were released alone. Above 1 the mean has more
noise, and Σ has less. For d ≥ 2 and weight 1 + √2, σ₂ is that of two separate releases with ρ/2 each, and σ₁ is 0.78
times theirs.

NOTE: we had only the beginning of the paper, and a restatement of Algorithm 1 by others, for λ = λ₀ and S = 2. The
paper releases a stream of rows by the matrix mechanism, under (ε, δ)-DP. The paper's noise on Σ has d² independent
entries, and our G is the symmetric part of such noise. Our form releases all rows once, under zCDP. We added S for
every weight, and proved it attained.

Proof: proofs/paper/joint-moments.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from covassay.reference.domain import (
    require_shape,
    require_symmetric,
    second_moment,
    shape_of,
    sized_unit_rows,
    sum_rows,
)
from covassay.reference.domain.types import DataSet, Matrix, Number, Vector
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import MomentsOutput
from covassay.reference.mechanisms.parameters import Dimension, LargeRows, Rho, RowBound, between, checked
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend
from covassay.reference.sensitivity import square_root

Weight = Annotated[
    float,
    between(
        "w",
        1e-6,
        1e6,
        "public: λ/λ₀, the weight of Σ; with a weight ≤ 1 the mean has the noise that it would have alone",
    ),
]

# FORMULAS


def moment_weight(d: int, weight: Number, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """The weight λ = weight · λ₀, where λ₀ is the largest λ at which S² is 4: ½, or (11 + 5√5)/8 for d = 1."""
    return weight / 2 if d > 1 else weight * (11 + 5 * sqrt(5)) / 8


def change_squared(d: int, weight: Number, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """The supremum S² of ‖x − y‖² + λ‖x xᵀ − y yᵀ‖_F² over the unit ball, which is 4 for a weight up to 1.

    For a larger weight the supremum is 2 + 2λ + 1/(2λ) for d ≥ 2, from unit rows with ⟨x, y⟩ = −1/(2λ). For d = 1 the
    supremum is λp³(2 − p) with p = (3 − √(1 − 2/λ))/2, from x = 1 and y = 1 − p.
    """
    if weight <= 1:
        return 4
    lam = moment_weight(d, weight, sqrt)
    if d > 1:
        return 2 + 2 * lam + 1 / (2 * lam)
    p = (3 - sqrt(1 - 2 / lam)) / 2
    return lam * p**3 * (2 - p)


def mean_scale(
    n: Number, d: int, rho: Number, weight: Number, sqrt: Callable[[Number], Number] = square_root
) -> Number:
    """The noise scale σ₁ = S/(n√(2ρ))."""
    return sqrt(change_squared(d, weight, sqrt) / (2 * rho)) / n


def moment_scale(
    n: Number, d: int, rho: Number, weight: Number, sqrt: Callable[[Number], Number] = square_root
) -> Number:
    """The noise scale σ₂ = σ₁/√λ."""
    return mean_scale(n, d, rho, weight, sqrt) / sqrt(moment_weight(d, weight, sqrt))


# MECHANISM


@dataclass(frozen=True)
class JointMomentsNoise:
    """The noise of both moments, where `mean` (d,) is N, and `moment` (d, d) is G."""

    mean: Vector
    moment: Matrix


@checked
def release(
    x: DataSet,
    noise: JointMomentsNoise,
    *,
    rho: Rho,
    weight: Weight = 1.0,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release the mean and, in the rows below it, the second moment, given the noise: a `JointMomentsNoise`."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    normal = require_shape("noise.mean", noise.mean, (d,))
    g = require_symmetric("noise.moment", noise.moment, (d, d))

    # 1. QUERY
    mean = sum_rows(lambda block: block.sum(axis=0), rows) / n
    moment = second_moment(rows)

    # 2. NOISE
    noisy_mean = mean + mean_scale(n, d, rho, weight) * normal
    noisy_moment = moment + moment_scale(n, d, rho, weight) * g

    # 3. RELEASE
    return np.vstack([noisy_mean * row_bound, noisy_moment * row_bound**2])


def draw_noise(dimension: int, rng: np.random.Generator) -> JointMomentsNoise:
    """Return the noise that `release` takes."""
    return JointMomentsNoise(rng.standard_normal(dimension), wigner.sample_goe(dimension, rng))


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: Rho,
    weight: Weight = 1.0,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    rho : ρ in [1e-30, 1e30], the budget.
    weight : w in [1e-6, 1e6], public: λ/λ₀, the weight of Σ; with a weight ≤ 1 the mean has the noise that it would
        have alone.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    (d + 1, d): the mean in the unit of x, and below it the second moment in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ρ-zCDP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(x, noise, rho=rho, weight=weight, row_bound=row_bound, on_large_rows=on_large_rows)


@checked
def spend(*, rho: Rho, dimension: Dimension, weight: Weight = 1.0) -> Spend:
    """The claimed budget is ρ.

    The proven budget is ρ, which some neighbours attain at every order, in every dimension and for every weight.
    """
    where = "unit rows x and −x" if weight <= 1 else "two rows whose inner product is between −1 and 0"
    return Spend(ZCDP(rho), ZCDP(rho), True, f"at every order, for {where}")


def worst_rows(d: int, weight: float) -> tuple[Vector, Vector]:
    """Return two rows, each (d,), that attain S²: opposite rows for a weight up to 1, and closer rows for a larger
    weight.
    """
    x, lam = np.eye(d)[0], float(moment_weight(d, weight))
    if weight <= 1:
        return x, -x
    if d == 1:
        return x, x - (3 - math.sqrt(1 - 2 / lam)) / 2
    c = -1 / (2 * lam)
    return x, c * x + math.sqrt(1 - c**2) * np.eye(d)[1]


ABOUT = About(
    "joint-moments",
    "joint moment estimation",
    "Kalinin, Upadhyay, Lampert 2025",
    "Algorithm 1, for one release of all rows",
    "reconstructed",
)
MECHANISM = Mechanism(
    ABOUT,
    CONCENTRATED,
    MomentsOutput(power=1),
    release,
    draw_noise,
    sample,
    spend,
    unranked=(
        "it releases the mean too; for d ≥ 2, gauss-cov with ensemble=goe has less noise on the second moment at every "
        "weight, and at weight 1 its noise scale is half of that of joint-moments"
    ),
)
