"""Nuclear-ball projection: a noisy matrix and a noisy trace, then a projection. DN25 Algorithm 2.

1. Σ̂ = Σ + ρZ, where Σ = (1/n) Σ_i x_i x_iᵀ and Z is nuclear-Laplace noise: a d × d matrix, not symmetric, with density
   ∝ exp(−‖Z‖_*) (`laws.nuclear_laplace`).
2. r = max(0, 2 tr Σ + bL), L ~ Laplace(1).
3. Release the matrix of {‖Y‖_* ≤ r} that is nearest to Σ̂ in Frobenius norm. The output is not symmetric, and 0 when r
   = 0.

Why it is private. Step 3 is post-processing, so only the pair (Σ̂, r) costs privacy. Let y replace x, with s = ‖x‖² and
t = ‖y‖². Then nΣ moves by at most s + t in nuclear norm, and its trace by |s − t|. The privacy loss is at most (s +
t)/(nρ) + 2|s − t|/(nb). The bound is not the sum of the largest moves, because no replacement makes s + t = 2 and |s −
t| = 1. The maximum of this bound over 0 ≤ s, t ≤ 1 is max(2/(nρ), 1/(nρ) + 2/(nb)). In dimension 1 the matrix moves
only by |s − t|, and the maximum is 1/(nρ) + 2/(nb). The pair (Σ̂, r) attains the maximum, and so does the released
matrix.

paper : ρ = 4/(nε), b = 10/(nε). The mechanism claims ε. The paper adds up the losses of matrix and trace, and gets ε/2
    + ε/5 = 0.7 ε. By the joint bound above, the mechanism spends ε/2, or 0.45 ε for d = 1.
tight : ρ = 2/(nε), b = 4/(nε). The mechanism spends ε, with half of the paper's matrix noise. The joint bound and the
    calibration "tight" are ours.

Accuracy. If r ≥ tr Σ, the Frobenius error is at most √(‖ρZ‖ (tr Σ + r)), where ‖ρZ‖ is the largest singular value.

Proof: proofs/paper/nuclear-ball-projection.md
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    require_number,
    require_shape,
    second_moment,
    shape_of,
    sized_unit_rows,
)
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.reference.mechanisms.parameters import (
    Calibration,
    Dimension,
    Epsilon,
    LargeRows,
    RowBound,
    checked,
    strict,
)
from covassay.reference.privacy import PURE, PureDP, Spend
from covassay.reference.projections import nuclear_ball

# FORMULAS


@strict(calibration=Calibration)
def matrix_scale(n: Number, epsilon: Number, calibration: str) -> Number:
    """The scale ρ of step 1: 4/(nε) with "paper", 2/(nε) with "tight"."""
    return (4 if calibration == "paper" else 2) / (n * epsilon)


@strict(calibration=Calibration)
def trace_scale(n: Number, epsilon: Number, calibration: str) -> Number:
    """The scale b of step 2: 10/(nε) with "paper", 4/(nε) with "tight"."""
    return (10 if calibration == "paper" else 4) / (n * epsilon)


def privacy_loss(s: Number, t: Number, n: Number, rho: Number, b: Number) -> Number:
    """A bound on the joint privacy loss of (Σ̂, r) for rows with ‖x‖² = s and ‖y‖² = t."""
    return (s + t) / (n * rho) + 2 * abs(s - t) / (n * b)


# MECHANISM


@dataclass(frozen=True)
class NuclearBallProjectionNoise:
    """The noise of steps 1 and 2: `matrix`, (d, d), is nuclear-Laplace noise of scale 1, and `trace` is Laplace(1)."""

    matrix: Matrix
    trace: float


@checked
def release(
    x: DataSet,
    noise: NuclearBallProjectionNoise,
    *,
    epsilon: Epsilon,
    calibration: Calibration = "paper",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release the projected noisy second moment, given the noise: a `NuclearBallProjectionNoise`."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    z = require_shape("noise.matrix", noise.matrix, (d, d))
    require_number("noise.trace", noise.trace)

    # 1. QUERY and NOISE: Σ̂
    moment = second_moment(rows)
    noisy = moment + matrix_scale(n, epsilon, calibration) * z

    # 2. QUERY and NOISE: r
    twice_trace = 2 * float(np.trace(moment))
    radius = max(0.0, twice_trace + trace_scale(n, epsilon, calibration) * noise.trace)

    # 3. RELEASE
    return nuclear_ball(noisy, radius) * row_bound**2


def draw_noise(dimension: int, rng: np.random.Generator) -> NuclearBallProjectionNoise:
    """Return the noise that `release` takes."""
    return NuclearBallProjectionNoise(law.sample(dimension, rng), float(rng.laplace()))


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    calibration: Calibration = "paper",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-30, 1e30], the budget.
    calibration : value "paper" has the constants of the source; "tight" has less noise, and our proof covers both.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    (d, d), in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ε-DP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(x, noise, epsilon=epsilon, calibration=calibration, row_bound=row_bound, on_large_rows=on_large_rows)


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension, calibration: Calibration = "paper") -> Spend:
    """The claimed budget is ε. The proven budget is the larger of two privacy losses: for two rows of length
    1, and for a row of length 1 and a zero row. For d = 1 only the second loss counts.
    """
    rho, b = matrix_scale(1, epsilon, calibration), trace_scale(1, epsilon, calibration)
    pairs = [(1, 1), (1, 0)] if dimension > 1 else [(1, 0)]
    proven = max(privacy_loss(s, t, 1, rho, b) for s, t in pairs)
    remark = "the pair (Σ̂, r) attains the proven budget, and so does the projected output"
    return Spend(PureDP(epsilon), PureDP(proven), True, remark)


ABOUT = About("nuclear-ball-projection", "nuclear-ball projection", "DN25", "Algorithm 2")
MECHANISM = Mechanism(ABOUT, PURE, SECOND_MOMENT, release, draw_noise, sample, spend)
