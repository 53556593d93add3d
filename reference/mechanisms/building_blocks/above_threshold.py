"""AboveThreshold (sparse vector): the first query above a threshold. DLY22 Algorithm 1, DR14 Algorithm 1.

1. Take a public threshold T and queries f_1, …, f_m. Replacing one row changes each query by at most 1. `release` takes
   the energies f_i = n Σ_ii = Σ_k x_ki² of the d features, and T = share · n/d; `first_above` takes any queries.
2. T̂ = T + b₁ Laplace, and f̂_i = f_i + b₂ Laplace, with fresh noise for every query. Find the first i with f̂_i ≥ T̂.
3. Release the index i, or m + 1 if there is none.

Why it is private. Shift the noise so that output i on one data set becomes output i on its neighbour. A shift by a of
noise with scale b costs |a|/b, and the privacy loss at i is at most the total cost. The shifts depend on the queries.
general queries : raise the noise of T by 1, and that of f_i by up to 2. The loss is 1/b₁ + 2/b₂.
monotone queries : all rise or all fall. If all rise, raise the noise of T by 1, and that of f_i by up to 1. If all
    fall, raise only the noise of f_i, by up to 1. The loss is 1/b₁ + 1/b₂ (Lyu–Su–Li 2017, Theorem 3).
energies : replacing a row x by y moves every f_j by y_j² − x_j². For j < i lower the noise of f_j by y_j², and raise
    that of f_i by x_i². The loss is at most 2/b₂. In dimension 1 the loss is at most 1/max(b₁, b₂).

paper : b₁ = 2/ε, b₂ = 4/ε. The mechanism claims ε. It spends ε on general queries, 3ε/4 on monotone queries, ε/2 on the
    energies of d ≥ 2 features, and ε/4 on that of one.
tight : b₁ = b₂ = 2/ε, for monotone queries and energies. It spends ε, but ε/2 on the energy of one feature.

Accuracy. Let α = b₁ ln(2/β) + b₂ ln(2m/β). With probability 1 − β, every query before the released index is below T +
α, and the query at the released index is at least T − α. DR14 Theorem 3.24 prints the larger α = (8/ε) ln(2m/β).

Proof: proofs/paper/above-threshold.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from covassay.reference.domain import column_squares, require_shape, shape_of, sized_unit_rows
from covassay.reference.domain.types import DataSet, Number, Vector
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import LevelOutput
from covassay.reference.mechanisms.parameters import (
    Calibration,
    Dimension,
    Epsilon,
    LargeRows,
    RowBound,
    checked,
    positive,
    strict,
)
from covassay.reference.privacy import PURE, PureDP, Spend

Share = Annotated[float, positive("", "public: the threshold is share · n/d times the square of `row_bound`")]

# FORMULAS


def threshold_scale(epsilon: Number) -> Number:
    """The scale b₁ = 2/ε of the noise on the threshold, in both calibrations."""
    return 2 / epsilon


@strict(calibration=Calibration)
def query_scale(epsilon: Number, calibration: str) -> Number:
    """The scale b₂ of the noise on a query: 4/ε with "paper"; 2/ε with "tight", for monotone queries and energies."""
    return (4 if calibration == "paper" else 2) / epsilon


def general_loss(b1: Number, b2: Number) -> Number:
    """A bound on the privacy loss for queries that move by at most 1 each."""
    return 1 / b1 + 2 / b2


def monotone_loss(b1: Number, b2: Number) -> Number:
    """A bound on the privacy loss for queries that move by at most 1 each, all in one direction."""
    return 1 / b1 + 1 / b2


def energies_loss(b1: Number, b2: Number, d: int) -> Number:
    """The supremum of the privacy loss for the energies of d features."""
    return 2 / b2 if d > 1 else 1 / max(b1, b2)


@strict(calibration=Calibration)
def accuracy(
    m: Number, beta: Number, epsilon: Number, calibration: str, log: Callable[[Number], Number] = math.log
) -> Number:
    """The accuracy α for m queries, as DR14 Theorem 3.24 prints it ("paper"), or b₁ ln(2/β) + b₂ ln(2m/β) ("tight")."""
    if calibration == "paper":
        return 8 * log(2 * m / beta) / epsilon
    return threshold_scale(epsilon) * log(2 / beta) + query_scale(epsilon, calibration) * log(2 * m / beta)


# MECHANISM


@dataclass(frozen=True)
class AboveThresholdNoise:
    """Independent Laplace(1) noise, which is one number for the threshold and (m,) for the queries."""

    threshold: float
    queries: Vector


@checked
def first_above(
    values: Vector, threshold: float, noise: AboveThresholdNoise, *, epsilon: float, calibration: Calibration
) -> int:
    """Return the position 0, …, m − 1 of the first query whose noisy value reaches the noisy threshold, or m if none
    does.

    values : shape (m,), the queries. Replacing one row must change each query by at most 1. With "tight" the queries
        must also be monotone, or be the energies n Σ_ii of the features.
    noise : the noise of the threshold and of m queries.
    """
    z = require_shape("noise.threshold", noise.threshold, ())
    nu = require_shape("noise.queries", noise.queries, values.shape)
    noisy_threshold = threshold + threshold_scale(epsilon) * z
    above = values + query_scale(epsilon, calibration) * nu >= noisy_threshold
    return int(np.argmax(np.append(above, True)))


@checked
def release(
    x: DataSet,
    noise: AboveThresholdNoise,
    *,
    epsilon: Epsilon,
    calibration: Calibration = "paper",
    share: Share = 1.0,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> float:
    """Release the number 1, …, d of the first feature whose noisy energy reaches the noisy threshold, or d + 1 if none
    does. The noise is for d queries.
    """
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)

    # 1. QUERY
    energies = column_squares(rows)

    # 2. NOISE
    position = first_above(energies, share * n / d, noise, epsilon=epsilon, calibration=calibration)

    # 3. RELEASE
    return np.float64(position + 1)


def draw_noise(queries: int, rng: np.random.Generator) -> AboveThresholdNoise:
    """Return the noise that `first_above` takes for the given number of queries; `release` has a query for each
    feature.
    """
    return AboveThresholdNoise(float(rng.laplace()), np.asarray(rng.laplace(size=queries)))


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    calibration: Calibration = "paper",
    share: Share = 1.0,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> float:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-30, 1e30], the budget.
    calibration : value "paper" has the constants of the source; "tight" has less noise, and our proof covers both.
    share : in [1e-30, 1e30], public: the threshold is share · n/d times the square of `row_bound`.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    The index, of shape (). An index has no unit.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ε-DP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(
        x,
        noise,
        epsilon=epsilon,
        calibration=calibration,
        share=share,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension, calibration: Calibration = "paper") -> Spend:
    """The claimed budget is ε. The proven budget bounds the loss for the energies, and is its supremum if d = 1 or
    `share` < d (`energies_loss`).
    """
    proven = energies_loss(threshold_scale(epsilon), query_scale(epsilon, calibration), dimension)
    where = "if `share` < d, some neighbours approach" if dimension > 1 else "some neighbours approach"
    return Spend(PureDP(epsilon), PureDP(proven), True, f"{where} the proven budget as n → ∞")


ABOUT = About("above-threshold", "AboveThreshold (sparse vector)", "DLY22", "Algorithm 1", "code")
MECHANISM = Mechanism(ABOUT, PURE, LevelOutput(), release, draw_noise, sample, spend, repeats=True)
