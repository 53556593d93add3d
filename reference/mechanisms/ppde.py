"""Private learning of a product distribution on {0, 1}^d. KLSU19 Algorithm 7 (PPDE).

R = ⌊log₂ d⌋, m = max(1, ⌊n/(R + 1)⌋). Block r is records (r − 1)m + 1, …, rm; a record that does not exist counts as a
zero row, and those after block R + 1 are not used. S = {1, …, d}, r = 1, u_1 = 1/2, τ_1 = 3/16.

1. While u_r|S| ≥ 1: B = √(6 u_r|S| ln(mR/β)); q = mean of x_i[S] over block r, each scaled back to length B if it is
   longer, plus N(0, s²I). Coordinates with q_j ≥ τ_r are done: their estimate is q_j. S keeps the others; u and τ are
   halved; r goes up by 1.
2. If S is not empty: the same with B = √(6 ln(m/β)), and all are done.
3. Release the estimates, clipped to [0, 1].

There are at most R rounds in 1, because u_r|S| ≥ 1 takes 2^r ≤ d. How many there are depends on the q already paid for.

Reconstructed: the text at hand has neither the pseudocode nor the formulas. The thresholds, B and the blocks are
recalled, not checked.

Where s comes from. A record is in one block, so it is read once, and the budgets of the blocks do not add up. Entries
are clipped to [0, 1], one record at a time. Two rows u, v ≥ 0 of length at most B have ⟨u, v⟩ ≥ 0, hence ‖u − v‖² ≤
2B²; so Δ₂ = √2 B/m, attained by orthogonal rows of length B. B/m would be right for adding or removing a record, and
spends 2ρ when one is replaced. Rows with entries in [0, 1] also have ‖u − v‖² ≤ |S|, attained by complementary rows. A
zero row that stands for a missing record is the same for neighbours.

paper : s = B/(m√ρ), that is Δ₂/√(2ρ) with Δ₂ = √2 B/m. Spends at most ρ.
tight : s = min(√2 B, √|S|)/(m√(2ρ)) (ours). Less noise wherever 2B² > |S|, that is 12 u_r ln(mR/β) > 1, as in the first
    rounds it always is. Spends ρ.

Why it works. For rows with independent entries of means p_j ≤ 1/2. If p_j ≤ u_r on S, no row of the round is shortened
but with probability β/R: its number of ones exceeds 6u|S|L, L = ln(mR/β), with probability at most β/(mR) (Chernoff).
With m ≥ `enough_records` sampling error and noise are at most u_r/16 each, in all rounds and coordinates, but with
probability β/2 each. Then what is left has p_j < τ_r + u_r/8 = u_{r+1}, and what is done has p_j ≥ τ_r − u_r/8 = u_r/4
and |q_j − p_j| ≤ u_r/8 ≤ p_j/2 (Lemma 5.8, with constants, for the failure probability 2β). Means above 1/2 are not a
matter of privacy; the paper flips such coordinates first.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    Rows,
    Vector,
    as_rows,
    map_rows,
    require_choice,
    require_dimension,
    require_positive,
    require_shape,
    rows_between,
    sum_rows,
)
from covassay.reference.mechanisms.about import CALIBRATIONS, About, Calibration
from covassay.reference.mechanisms.naive_pce import require_beta
from covassay.reference.privacy import ZCDP, Spend

# FORMULAS


def mean_limit(r: int) -> Number:
    """u_r = 2^{−r}."""
    return 0.5**r


def threshold(r: int) -> Number:
    """τ_r = 3u_r/8."""
    return 3 * 0.5**r / 8


def truncation_squared(
    u: Number, size: Number, m: Number, rounds: Number, beta: Number, log: Callable[[Number], Number] = math.log
) -> Number:
    """B² of a round: 6 u|S| ln(mR/β)."""
    return 6 * u * size * log(m * rounds / beta)


def last_truncation_squared(m: Number, beta: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """B² at the end: 6 ln(m/β)."""
    return 6 * log(m / beta)


def change_squared(bound_squared: Number, size: Number, calibration: str) -> Number:
    """(mΔ₂)²: 2B² in the paper, min(2B², |S|) tight."""
    return 2 * bound_squared if calibration == "paper" else min(2 * bound_squared, size)


def noise_variance(change: Number, m: Number, rho: Number) -> Number:
    """s² = Δ₂²/(2ρ), for `change` = (mΔ₂)²."""
    return change / (2 * rho * m**2)


def enough_records(
    m: Number, d: Number, rounds: Number, rho: Number, beta: Number, log: Callable[[Number], Number] = math.log
) -> Number:
    """m is enough for Lemma 5.8 if it is at least this, which grows with ln m: sampling (Bernstein), and noise.

    With l = ln(4dR/β): (u/16)²m/(2u(1 + 1/48)) ≥ l at u ≥ 1/d, and s√(2l) ≤ u/16 with |S| ≤ d,
    s² = 6u|S| ln(mR/β)/(m²ρ). For d ≥ 2: in one dimension there is no round.
    """
    length = log(4 * d * rounds / beta)
    return max(523 * d * length, 16 * d * (12 * length * log(m * rounds / beta) / rho) ** 0.5)


# MECHANISM


def most_rounds(dimension: int) -> int:
    """R = ⌊log₂ d⌋."""
    return dimension.bit_length() - 1


def block_mean(rows: Rows, r: int, m: int, kept: Any, bound: float) -> Vector:
    """The mean over block r of the rows, restricted to the coordinates kept and shortened to the bound: (|S|,)."""
    first, last = (r - 1) * m, min(r * m, rows.shape[0])
    if first >= last:
        return np.zeros(len(kept))

    def total(block: Matrix) -> Vector:
        part = block[:, kept]
        factors = bound / np.maximum(np.linalg.norm(part, axis=1), bound)
        shortened: Vector = (part * factors[:, None]).sum(axis=0)
        return shortened

    mean: Vector = sum_rows(total, rows_between(rows, first, last)) / m
    return mean


def release(
    x: DataSet,
    noise: Matrix,
    *,
    rho: float,
    calibration: Calibration = "paper",
    beta: float = 0.1,
) -> Vector:
    """Release the mean of every coordinate, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows; entries are clipped to [0, 1].
    noise : (R + 1, d), N(0, 1); row r for block r.
    rho : ρ > 0.
    calibration : "paper" or "tight".
    beta : in (0, 1), public. For utility only.

    Returns
    -------
    (d,), entries in [0, 1].

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite is read off the data: a precondition,
        not part of the mechanism.

    Privacy : ρ-zCDP for replacing one row, n public, in real arithmetic.
    Source : KLSU19 Algorithm 7, Theorems 5.1 and 5.2; reconstructed. "tight" is ours.
    """
    # VALIDATE
    require_positive("rho", rho)
    require_choice("calibration", calibration, CALIBRATIONS)
    require_beta(beta)
    rows: Rows = map_rows(lambda block: np.clip(block, 0.0, 1.0), as_rows(x))
    n, d = rows.shape
    rounds = most_rounds(d)
    z = require_shape("noise", noise, (rounds + 1, d))

    # QUERY
    m = max(1, n // (rounds + 1))

    # NOISE
    def noisy_mean(r: int, kept: Any, bound_squared: float) -> Vector:
        variance = noise_variance(change_squared(bound_squared, len(kept), calibration), m, rho)
        mean: Vector = block_mean(rows, r, m, kept, math.sqrt(bound_squared)) + math.sqrt(variance) * z[r - 1, kept]
        return mean

    estimate = np.zeros(d)
    left = np.arange(d)  # S
    r = 1
    while mean_limit(r) * len(left) >= 1:
        q = noisy_mean(r, left, truncation_squared(mean_limit(r), len(left), m, rounds, beta))
        done = q >= threshold(r)
        estimate[left[done]] = q[done]
        left = left[~done]
        r += 1
    if len(left):
        estimate[left] = noisy_mean(r, left, last_truncation_squared(m, beta))

    # RELEASE
    return np.clip(estimate, 0.0, 1.0)


def draw_noise(dimension: int, rng: np.random.Generator) -> Matrix:
    """The noise that `release` takes."""
    return rng.standard_normal((most_rounds(dimension) + 1, dimension))


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: float,
    calibration: Calibration = "paper",
    beta: float = 0.1,
) -> Vector:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    noise = draw_noise(as_rows(x).shape[1], rng)
    return release(x, noise, rho=rho, calibration=calibration, beta=beta)


def spend(*, rho: float, dimension: int, calibration: Calibration = "paper") -> Spend:
    """Claimed ρ; proven ρ, whatever n and β are."""
    require_positive("rho", rho)
    require_dimension("dimension", dimension)
    require_choice("calibration", calibration, CALIBRATIONS)
    remark = (
        "by complementary rows in the first block, as n → ∞"
        if calibration == "tight"
        else "by the noisy mean of one block, where 2B² ≤ |S|"
    )
    return Spend(ZCDP(rho), ZCDP(rho), calibration == "tight", remark)


ABOUT = About(
    name="ppde",
    title="private learning of a product distribution",
    paper="KLSU19",
    algorithm="Algorithm 7",
    notion="zcdp",
    released="vector",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
    choices={"calibration": CALIBRATIONS},
    parameters={"beta": 0.1},
    degree=1,
    domain="cube",
    ordered=True,
    repeats=True,
)
