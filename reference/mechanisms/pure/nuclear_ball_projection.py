"""Nuclear-ball projection: a noisy matrix and a noisy trace, then a projection. DN25 Algorithm 2.

1. Σ̂ = Σ + ρZ, where Σ = (1/n) Σ_i x_i x_iᵀ and Z is nuclear-Laplace noise (`laws.nuclear_laplace`).
2. r = max(0, 2 tr Σ + bL), L ~ Laplace(1).
3. Release the point of {‖Y‖_* ≤ r} that is nearest to Σ̂ in Frobenius norm. It is not symmetric, and 0 when r = 0.

Why it is private. Step 3 is post-processing, so only the pair (Σ̂, r) spends. Replacing x by y, with s = ‖x‖² and t =
‖y‖², costs at most (s + t)/(nρ) + 2|s − t|/(nb): the matrix and the trace cannot both change by the most. The maximum
over 0 ≤ s, t ≤ 1 is max(2/(nρ), 1/(nρ) + 2/(nb)), and 1/(nρ) + 2/(nb) in dimension 1; the output attains it.

paper : ρ = 4/(nε), b = 10/(nε). Claims ε. The paper's composition gives ε/2 + ε/5 = 0.7 ε; the joint account gives ε/2
    (0.45 ε in dimension 1).
tight : ρ = 2/(nε), b = 4/(nε). Spends ε, with half of the paper's matrix noise. The joint account and "tight" are ours.

Accuracy. If r ≥ tr Σ, the Frobenius error is at most √(‖ρZ‖ (tr Σ + r)).

Proof: proofs/paper/nuclear-ball-projection.md
"""

from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    require_number,
    require_shape,
    second_moment,
    sized_unit_rows,
)
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.reference.mechanisms.parameters import Calibration, Dimension, Epsilon, LargeRows, RowBound, checked
from covassay.reference.privacy import PURE, PureDP, Spend
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
    """`matrix` (d, d): nuclear-Laplace noise at ρ = 1; `trace`: Laplace(1)."""

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
    # VALIDATE
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    z = require_shape("noise.matrix", noise.matrix, (d, d))
    require_number("noise.trace", noise.trace)

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


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension, calibration: Calibration = "paper") -> Spend:
    """The claimed ε; proven is the maximum of `privacy_loss` over the extreme pairs of rows."""
    rho, b = matrix_scale(1, epsilon, calibration), trace_scale(1, epsilon, calibration)
    pairs = [(1, 1), (1, 0)] if dimension > 1 else [(1, 0)]
    proven = max(privacy_loss(s, t, 1, rho, b) for s, t in pairs)
    remark = "by the pair (Σ̂, r), and by the projected output"
    return Spend(PureDP(epsilon), PureDP(proven), True, remark)


ABOUT = About("nuclear-ball-projection", "nuclear-ball projection", "DN25", "Algorithm 2")
MECHANISM = Mechanism(ABOUT, PURE, SECOND_MOMENT, release, draw_noise, spend)
sample = MECHANISM.sample
