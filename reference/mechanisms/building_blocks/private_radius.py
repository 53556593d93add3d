"""Private radius: a ball that holds all but a few rows. DLY22 Lemma 10, after Dong–Yi 2021.

1. Public radii r_j = min(1, b 2^j), j = 0, …, J, with b the precision and J = ⌈log₂(1/b)⌉, so that r_J = 1.
2. Q_j = how many rows have norm at most r_j. AboveThreshold with the threshold n − α finds the first j.
3. Release r_j, or 1 if there is none.

Where the scales come from. Replacing x by y moves Q_j by 1{‖y‖ ≤ r_j} − 1{‖x‖ ≤ r_j}, which has the sign of ‖x‖ − ‖y‖
for every j: the queries are monotone, with sensitivity 1. AboveThreshold spends 1/b₁ + 1/b₂ on them
(`above_threshold`). The bound is approached with many radii (b → 0) and large n: raise Q_j by 1 for k radii, so far
above the threshold that only a raised threshold lets them all pass, and stop at a later one. With the default 21 radii
the exact loss at ε = 1 reaches 0.7499 of 0.75 (paper).

paper : 2/ε and 4/ε. Spends 3ε/4. Claimed: ε.
tight : 2/ε and 2/ε. Spends ε.

What is known of the result. α is the accuracy of AboveThreshold for J + 1 queries at β. With probability 1 − β every
radius passed over has Q_j < n, so it is below ρ = max ‖x_i‖, and the one stopped at has Q_j ≥ n − 2α. So

    released ≤ max(b, 2ρ), and at most 2α rows are longer than what is released.

DLY22 prints neither α nor its constants. Here α grows like ln ln(1/b), through J; privacy does not depend on it.
"""

import math

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Number,
    OnLargeRows,
    Vector,
    require_below_one,
    require_between,
    require_choice,
    require_dimension,
    require_positive,
    row_norms,
    sum_rows,
    unit_rows,
)
from covassay.reference.mechanisms.building_blocks import above_threshold
from covassay.reference.mechanisms.building_blocks.above_threshold import AboveThresholdNoise
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.privacy import PureDP, Spend

PRECISION = 2.0**-20
BETA = 0.1

# FORMULAS


def radii(precision: Number, doublings: int) -> list[Number]:
    """r_0, …, r_J for J = `doublings`."""
    return [min(1, precision * 2**j) for j in range(doublings + 1)]


def search_threshold(n: Number, slack: Number) -> Number:
    """n − α."""
    return n - slack


# MECHANISM


def public_radii(precision: float) -> Vector:
    """The radii that can be released, ascending: J is the least whole number with precision · 2^J ≥ 1."""
    _, exponent = math.frexp(precision)  # precision = m 2^exponent, 1/2 ≤ m < 1
    return np.array(radii(precision, 1 - exponent), dtype=np.float64)


def release(
    x: DataSet,
    noise: AboveThresholdNoise,
    *,
    epsilon: float,
    calibration: Calibration = "paper",
    precision: float = PRECISION,
    beta: float = BETA,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> float:
    """Release a radius that few rows exceed, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : `above_threshold.AboveThresholdNoise`, with one query for every one of `public_radii(precision)`.
    epsilon : ε > 0.
    calibration : "paper" or "tight".
    precision : in [1e-300, 1], public: the smallest radius, in the unit of row_bound.
    beta : in (0, 1), public: the probability that the radius is not what is promised of it.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    One of the public radii, in the unit of x.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, n public, in real arithmetic (proven: 3ε/4 with "paper").
    Source : DLY22 Lemma 10; Dong–Yi 2021. The constants, the account and "tight" are ours.
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    require_choice("calibration", calibration, CALIBRATIONS)
    require_between("precision", precision, 1e-300, 1)
    require_below_one("beta", beta)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, _ = rows.shape
    levels = public_radii(precision)

    # QUERY
    def counts(block: Vector) -> Vector:
        within: Vector = (row_norms(block)[:, None] <= levels).sum(axis=0)
        return within

    within = np.asarray(sum_rows(counts, rows), dtype=np.float64)

    # NOISE
    slack = above_threshold.accuracy(len(levels), beta, epsilon, calibration)
    threshold = search_threshold(n, slack)
    position = above_threshold.first_above(within, threshold, noise, epsilon=epsilon, calibration=calibration)

    # RELEASE
    return np.float64(np.append(levels, 1.0)[position] * row_bound)


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    calibration: Calibration = "paper",
    precision: float = PRECISION,
    beta: float = BETA,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> float:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_between("precision", precision, 1e-300, 1)
    return release(
        x,
        above_threshold.draw_noise(len(public_radii(precision)), rng),
        epsilon=epsilon,
        calibration=calibration,
        precision=precision,
        beta=beta,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


def spend(*, epsilon: float, dimension: int, calibration: Calibration = "paper") -> Spend:
    """Claimed ε; proven for monotone queries."""
    require_positive("epsilon", epsilon)
    require_dimension("dimension", dimension)
    require_choice("calibration", calibration, CALIBRATIONS)
    scales = above_threshold.threshold_scale(epsilon), above_threshold.query_scale(epsilon, calibration)
    proven = above_threshold.monotone_loss(*scales)
    return Spend(PureDP(epsilon), PureDP(proven), True, "in the limit of many radii and large n")


ABOUT = About(
    name="private-radius",
    title="private radius",
    paper="DLY22",
    algorithm="Lemma 10",
    notion="pure",
    released="level",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
    choices={"calibration": CALIBRATIONS},
    parameters={"precision": PRECISION, "beta": BETA},
    degree=1,
    repeats=True,
)
