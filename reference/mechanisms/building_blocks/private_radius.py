"""Private radius: a ball that holds all but a few rows. DLY22 Lemma 10, after Dong–Yi 2021.

1. The public radii are r_j = min(1, 2^j p) for j = 0, …, J. Here p is the precision and J = ⌈log₂(1/p)⌉, so r_J = 1.
2. Let Q_j be the number of rows of norm at most r_j.
3. AboveThreshold (`above_threshold`) adds Laplace noise of scale b₁ to the threshold n − α, and Laplace noise of scale
   b₂ to every Q_j. The search finds the first j for which the noisy Q_j reaches the noisy threshold.
4. Release r_j, or 1 if no j is found.

Why ε-DP. If x is replaced by y, every Q_j moves by 0 or 1, and all move in one direction: up if ‖x‖ > ‖y‖, and down
otherwise. The queries are therefore monotone, and AboveThreshold spends at most 1/b₁ + 1/b₂ on them (see
`above_threshold`). The loss comes close to 1/b₁ + 1/b₂ for many radii (p → 0).

paper : b₁ = 2/ε, b₂ = 4/ε. With these scales the mechanism claims ε and spends 3ε/4.
tight : b₁ = b₂ = 2/ε. With these scales the mechanism spends ε.

NOTE: DLY22 prints neither α nor its constants. In the authors' code α is the accuracy of AboveThreshold for J + 1
queries, with failure probability β. Privacy does not depend on α.

Accuracy. Let R = max ‖x_i‖. With probability 1 − β, the released radius is at most max(p, 2R), and at most 2α rows are
longer than it.

Proof: proofs/paper/private-radius.md
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from covassay.reference.domain import DataSet, Number, Vector, row_norms, shape_of, sized_unit_rows, sum_rows
from covassay.reference.mechanisms.building_blocks import above_threshold
from covassay.reference.mechanisms.building_blocks.above_threshold import AboveThresholdNoise
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import LevelOutput
from covassay.reference.mechanisms.parameters import (
    Beta,
    Calibration,
    Dimension,
    Epsilon,
    LargeRows,
    RowBound,
    between,
    checked,
)
from covassay.reference.privacy import PURE, PureDP, Spend

PRECISION = 2.0**-20
BETA = 0.1
Precision = Annotated[float, between("", 1e-300, 1, "public: the smallest radius, in the unit of row_bound")]

# FORMULAS


def radii(precision: Number, doublings: int) -> list[Number]:
    """The radii r_0, …, r_J for J = `doublings`."""
    return [min(1, precision * 2**j) for j in range(doublings + 1)]


def search_threshold(n: Number, slack: Number) -> Number:
    """The threshold n − α of the search."""
    return n - slack


# MECHANISM


def public_radii(precision: float) -> Vector:
    """The radii that can be released, ascending, for the least whole number J with precision · 2^J ≥ 1."""
    _, exponent = math.frexp(precision)  # precision = m 2^exponent with 1/2 ≤ m < 1
    return np.array(radii(precision, 1 - exponent), dtype=np.float64)


@checked
def release(
    x: DataSet,
    noise: AboveThresholdNoise,
    *,
    epsilon: Epsilon,
    calibration: Calibration = "paper",
    precision: Precision = PRECISION,
    beta: Beta = BETA,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> float:
    """Release a radius that few rows exceed, given noise for `len(public_radii(precision))` queries."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, _ = sized_unit_rows(x, row_bound, on_large_rows)

    # 1. the public radii
    levels = public_radii(precision)

    # 2. QUERY
    def counts(block: Vector) -> Vector:
        within: Vector = (row_norms(block)[:, None] <= levels).sum(axis=0)
        return within

    within = np.asarray(sum_rows(counts, rows), dtype=np.float64)

    # 3. NOISE: AboveThreshold
    slack = above_threshold.accuracy(len(levels), beta, epsilon, calibration)
    threshold = search_threshold(n, slack)
    position = above_threshold.first_above(within, threshold, noise, epsilon=epsilon, calibration=calibration)

    # 4. RELEASE
    return np.float64(np.append(levels, 1.0)[position] * row_bound)


def draw_noise(dimension: int, rng: np.random.Generator, precision: float = PRECISION) -> AboveThresholdNoise:
    """Return the noise that `release` takes, which does not depend on the dimension."""
    return above_threshold.draw_noise(len(public_radii(precision)), rng)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    calibration: Calibration = "paper",
    precision: Precision = PRECISION,
    beta: Beta = BETA,
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
    precision : in [1e-300, 1], public: the smallest radius, in the unit of row_bound.
    beta : β in [1e-300, 1), public: the probability that the error bound may fail.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    (), in the unit of x.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ε-DP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng, precision=precision)
    return release(
        x,
        noise,
        epsilon=epsilon,
        calibration=calibration,
        precision=precision,
        beta=beta,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension, calibration: Calibration = "paper") -> Spend:
    """The claimed budget is ε.

    The proven budget is what AboveThreshold spends on monotone queries, in every dimension.
    """
    scales = above_threshold.threshold_scale(epsilon), above_threshold.query_scale(epsilon, calibration)
    proven = above_threshold.monotone_loss(*scales)
    return Spend(
        PureDP(epsilon), PureDP(proven), True, "some neighbours approach the proven budget in the limit of many radii"
    )


ABOUT = About("private-radius", "private radius", "DLY22", "Lemma 10", "reconstructed")
MECHANISM = Mechanism(ABOUT, PURE, LevelOutput(power=1), release, draw_noise, sample, spend, repeats=True)
