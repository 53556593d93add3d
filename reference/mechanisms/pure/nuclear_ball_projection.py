"""Nuclear-ball projection: noisy matrix and noisy trace, then a projection. DN25 Algorithm 2.

1. Σ̂ = Σ + ρZ, Z nuclear-Laplace noise.
2. r = max(0, 2 tr Σ + b L), L ~ Laplace(1).
3. Release the point of {‖Y‖_* ≤ r} nearest to Σ̂ in Frobenius norm.

Step 3 is post-processing, so the budget is that of the pair (Σ̂, r). Replace x by y and write s = ‖x‖², t = ‖y‖²; then
‖Δ‖_* = √((s + t)² − 4⟨x, y⟩²) ≤ s + t and the trace moves by (s − t)/n, so the joint loss is at most

    (s + t)/(nρ) + 2|s − t|/(nb).

A large change of Σ̂ and a large change of the trace exclude one another; what the scales spend is the maximum over
0 ≤ s, t ≤ 1, at (1, 1) or (1, 0) because the bound is convex: max(2/(nρ), 1/(nρ) + 2/(nb)).

paper : ρ = 4/(nε), b = 10/(nε). Composition gives ε/2 + ε/5 = 0.7 ε; jointly it is ε/2. Claimed: ε.
tight : ρ = 2/(nε), b = 4/(nε). max(ε, ε/2 + ε/2) = ε. Half the noise for the same guarantee (ours).

In dimension 1 two rows cannot be orthogonal: ‖Δ‖_* = |s − t| ≤ 1, so the loss is at most 1/(nρ) + 2/(nb).
"""

import math
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    OnLargeRows,
    require_choice,
    require_dimension,
    require_positive,
    require_shape,
    second_moment,
    unit_rows,
)
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.privacy import PureDP, Spend
from covassay.reference.projections import nuclear_ball

# FORMULAS


def matrix_scale(n: Number, epsilon: Number, calibration: str) -> Number:
    """ρ of step 1: 4/(nε) in the paper, 2/(nε) tight."""
    return (4 if calibration == "paper" else 2) / (n * epsilon)


def trace_scale(n: Number, epsilon: Number, calibration: str) -> Number:
    """b of step 2: 10/(nε) in the paper, 4/(nε) tight."""
    return (10 if calibration == "paper" else 4) / (n * epsilon)


def privacy_loss(s: Number, t: Number, n: Number, rho: Number, b: Number) -> Number:
    """Bound on the joint loss of (Σ̂, r) for rows with ‖x‖² = s, ‖y‖² = t."""
    return (s + t) / (n * rho) + 2 * abs(s - t) / (n * b)


# MECHANISM


@dataclass(frozen=True)
class NuclearBallProjectionNoise:
    """`matrix` (d, d): nuclear-Laplace at ρ = 1; `trace`: Laplace(1)."""

    matrix: Matrix
    trace: float


def release(
    x: DataSet,
    noise: NuclearBallProjectionNoise,
    *,
    epsilon: float,
    calibration: Calibration = "paper",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Release the projected noisy second moment, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : see `NuclearBallProjectionNoise`.
    epsilon : ε > 0.
    calibration : "paper" or "tight".
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d), in the unit of x squared. Not symmetric; the zero matrix when the noisy radius is 0.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, n public, in real arithmetic (proven: ε/2 with "paper").
    Source : DN25 Algorithm 2; the joint accounting and "tight" are ours.
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    require_choice("calibration", calibration, CALIBRATIONS)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    z = require_shape("noise.matrix", noise.matrix, (d, d))
    if not (isinstance(noise.trace, int | float) and math.isfinite(noise.trace)):
        raise InvalidInput(f"noise.trace = {noise.trace!r}: must be a finite number")

    # QUERY
    moment = second_moment(rows)
    twice_trace = 2 * float(np.trace(moment))

    # NOISE
    noisy = moment + matrix_scale(n, epsilon, calibration) * z
    radius = max(0.0, twice_trace + trace_scale(n, epsilon, calibration) * noise.trace)

    # RELEASE
    return nuclear_ball(noisy, radius) * row_bound**2


def draw_noise(dimension: int, rng: np.random.Generator) -> NuclearBallProjectionNoise:
    """The noise that `release` takes."""
    return NuclearBallProjectionNoise(law.sample(dimension, rng), float(rng.laplace()))


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    calibration: Calibration = "paper",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("epsilon", epsilon)
    rows = unit_rows(x, row_bound, on_large_rows)
    noise = draw_noise(rows.shape[1], rng)
    return release(
        x,
        noise,
        epsilon=epsilon,
        calibration=calibration,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


def spend(*, epsilon: float, dimension: int, calibration: Calibration = "paper") -> Spend:
    """Claimed ε; proven: the maximum of `privacy_loss` over the extreme pairs."""
    require_positive("epsilon", epsilon)
    require_dimension("dimension", dimension)
    require_choice("calibration", calibration, CALIBRATIONS)
    rho, b = matrix_scale(1, epsilon, calibration), trace_scale(1, epsilon, calibration)
    pairs = [(1, 1), (1, 0)] if dimension > 1 else [(1, 0)]
    proven = max(privacy_loss(s, t, 1, rho, b) for s, t in pairs)
    return Spend(
        PureDP(epsilon),
        PureDP(proven),
        True,
        "by the pair (Σ̂, r); that the projected output attains it is not claimed",
    )


ABOUT = About(
    name="nuclear-ball-projection",
    title="nuclear-ball projection",
    paper="DN25",
    algorithm="Algorithm 2",
    notion="pure",
    released="matrix",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
    choices={"calibration": CALIBRATIONS},
)
