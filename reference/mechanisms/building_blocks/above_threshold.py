"""AboveThreshold (sparse vector): the first query above a threshold. DR14 Algorithm 1, DLY22 Algorithm 1.

1. T̂ = T + b₁ Laplace.
2. For i = 1..m: stop at the first i with f_i + b₂ Laplace ≥ T̂, fresh noise for every query.
3. Release i, or m + 1 if no query stops.

Every query moves by at most 1 when one row is replaced. `first_above` is the algorithm, for any queries; `release` runs
it on the energies n Σ_ii = Σ_k x_ki² of the features, with the threshold T = share · n/d, and says which feature is the
first to have that much.

Where the scales come from. Write z and ν_j for the noise of T and of f_j, and let f' be the neighbour's queries. The
output is i if ν_j < T + z − f_j for all j < i and ν_i ≥ T + z − f_i. A shift of z or ν by a costs |a|/b; the loss at i
is at most the cost of any shift that maps this event into the same event for f'.
General queries: z by 1, so that no j < i stops, and then ν_i by up to 2. Loss 1/b₁ + 2/b₂.
Monotone queries (all f' ≥ f, or all f' ≤ f): if f' ≥ f, z by 1 and ν_i by 1 − (f'_i − f_i) ≤ 1; if f' ≤ f, only ν_i
    by f_i − f'_i ≤ 1. Loss 1/b₁ + 1/b₂ (Lyu–Su–Li 2017, Theorem 3).
Energies: they are not monotone, but replacing x by y moves them by y_i² − x_i², and Σ x_i², Σ y_i² ≤ 1. Leave z; lower
    ν_j by y_j² for j < i, raise ν_i by x_i². Loss Σ_j y_j²/b₂ + x_i²/b₂ ≤ 2/b₂, whatever b₁. It is approached: for
    x = e₂, y = e₁ and f_1 − T, T − f_2 → ∞ the output is 2 only if ν_1 and ν_2 both go out of their way.

paper : b₁ = 2/ε, b₂ = 4/ε. General queries spend ε, monotone ones 3ε/4, energies ε/2. Claimed: ε.
tight : b₁ = b₂ = 2/ε. For monotone queries and for energies only; both spend ε, and general queries would spend 1.5 ε.
    Of all splits with 1/b₁ + 1/b₂ = ε the even one gives the comparisons the least variance, 2b₁² + 2b₂².

One feature is one query: stopping or not can be explained by z alone or by ν alone, so the loss is 1/max(b₁, b₂).

Accuracy. With probability 1 − β every query passed over lies below T + α and the one stopped at is at least T − α:
α = b₁ ln(2/β) + b₂ ln(2m/β), because P(|Laplace| ≥ t) = e^{−t}. DR14 Theorem 3.24 prints the larger (8/ε) ln(2m/β).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Number,
    OnLargeRows,
    Vector,
    require_choice,
    require_dimension,
    require_positive,
    require_shape,
    sum_rows,
    unit_rows,
)
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.privacy import PureDP, Spend

# FORMULAS


def threshold_scale(epsilon: Number) -> Number:
    """b₁ = 2/ε, in the paper and tight."""
    return 2 / epsilon


def query_scale(epsilon: Number, calibration: str) -> Number:
    """b₂: 4/ε in the paper, for any queries; 2/ε tight, for monotone queries and for energies."""
    return (4 if calibration == "paper" else 2) / epsilon


def general_loss(b1: Number, b2: Number) -> Number:
    """Bound on the loss for queries that move by at most 1 each."""
    return 1 / b1 + 2 / b2


def monotone_loss(b1: Number, b2: Number) -> Number:
    """Bound on the loss for queries that move by at most 1 each, all in one direction."""
    return 1 / b1 + 1 / b2


def energies_loss(b1: Number, b2: Number, d: int) -> Number:
    """Supremum of the loss for the energies of d features."""
    return 2 / b2 if d > 1 else 1 / max(b1, b2)


def accuracy(
    m: Number, beta: Number, epsilon: Number, calibration: str, log: Callable[[Number], Number] = math.log
) -> Number:
    """α for m queries: as DR14 Theorem 3.24 prints it ("paper"), or b₁ ln(2/β) + b₂ ln(2m/β) ("tight")."""
    if calibration == "paper":
        return 8 * log(2 * m / beta) / epsilon
    return threshold_scale(epsilon) * log(2 / beta) + query_scale(epsilon, calibration) * log(2 * m / beta)


# MECHANISM


@dataclass(frozen=True)
class AboveThresholdNoise:
    """`threshold`: Laplace(1); `queries` (m,): Laplace(1), independent."""

    threshold: float
    queries: Vector


def first_above(
    values: Vector, threshold: float, noise: AboveThresholdNoise, *, epsilon: float, calibration: Calibration
) -> int:
    """The position 0, …, m − 1 of the first value that is noisily above the threshold, or m.

    Parameters
    ----------
    values : (m,), queries that one row moves by at most 1 each.
    threshold : public.
    noise : see `AboveThresholdNoise`.
    epsilon : ε > 0.
    calibration : "paper", or "tight" if the queries are monotone.
    """
    z = require_shape("noise.threshold", noise.threshold, ())
    nu = require_shape("noise.queries", noise.queries, values.shape)
    noisy_threshold = threshold + threshold_scale(epsilon) * z
    above = values + query_scale(epsilon, calibration) * nu >= noisy_threshold
    return int(np.argmax(np.append(above, True)))


def draw_noise(queries: int, rng: np.random.Generator) -> AboveThresholdNoise:
    """The noise that `first_above` takes for that many queries."""
    return AboveThresholdNoise(float(rng.laplace()), np.asarray(rng.laplace(size=queries)))


def release(
    x: DataSet,
    noise: AboveThresholdNoise,
    *,
    epsilon: float,
    calibration: Calibration = "paper",
    share: float = 1.0,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> float:
    """Release the first feature with at least `share` of the energy that is due to it, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : see `AboveThresholdNoise`, with d queries.
    epsilon : ε > 0.
    calibration : "paper" or "tight".
    share : above 0, public: the threshold is share · n/d, in the unit of x squared.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    A number of 1, …, d, or d + 1 if no feature was found.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, n public, in real arithmetic (proven: ε/2 with "paper").
    Source : DR14 Theorem 3.23 and DLY22 Algorithm 1; the loss of energies and "tight" are ours.
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    require_choice("calibration", calibration, CALIBRATIONS)
    require_positive("share", share)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape

    # QUERY
    energies: Vector = sum_rows(lambda block: (block**2).sum(axis=0), rows)

    # NOISE
    position = first_above(energies, share * n / d, noise, epsilon=epsilon, calibration=calibration)

    # RELEASE
    return np.float64(position + 1)


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    calibration: Calibration = "paper",
    share: float = 1.0,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> float:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("epsilon", epsilon)
    rows = unit_rows(x, row_bound, on_large_rows)
    return release(
        x,
        draw_noise(rows.shape[1], rng),
        epsilon=epsilon,
        calibration=calibration,
        share=share,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


def spend(*, epsilon: float, dimension: int, calibration: Calibration = "paper") -> Spend:
    """Claimed ε; proven for the energies, see `energies_loss`."""
    require_positive("epsilon", epsilon)
    require_choice("calibration", calibration, CALIBRATIONS)
    d = require_dimension("dimension", dimension)
    proven = energies_loss(threshold_scale(epsilon), query_scale(epsilon, calibration), d)
    return Spend(PureDP(epsilon), PureDP(proven), True, "in the limit of large n, for a share below d")


ABOUT = About(
    name="above-threshold",
    title="AboveThreshold (sparse vector)",
    paper="DLY22",
    algorithm="Algorithm 1",
    notion="pure",
    released="level",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
    choices={"calibration": CALIBRATIONS},
    parameters={"share": 1.0},
    degree=0,
    repeats=True,
)
