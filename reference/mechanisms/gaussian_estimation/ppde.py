"""Private learning of a product distribution on {0, 1}^d: the mean of every coordinate. KLSU19 Algorithm 7 (PPDE).

Step 1 has at most R = ⌊log₂ d⌋ rounds. A block has m = max(1, ⌊n/(R + 1)⌋) records: block r has the records (r − 1)m +
1, …, rm in the order given. If n is too small, zero rows stand for the missing records. Every entry is first clipped to
[0, 1]. u_r = 2^{−r}, τ_r = 3u_r/8. S = {1, …, d}, r = 1.

1. While u_r|S| ≥ 1: B² = 6 u_r|S| ln(mR/β). Restrict the rows of block r to S, and shorten them to at most B. q is
   their sum divided by m, plus N(0, s²I). A coordinate with q_j ≥ τ_r leaves S, with the estimate q_j. r goes up by 1.
2. If S is not empty, compute q from block r as in step 1, but with B² = 6 ln(m/β). The entries of q are the estimates.
3. Release the estimates, clipped to [0, 1].

Reconstructed: the copy of the paper that we had has lost the pseudocode and the formulas. R, m, u, τ, B, s and every
condition are our reading of its text; we added clipping, zero rows and the constants of the proofs.

Why ρ-zCDP. A record is in at most one block, and a block is read at most once. Entries lie in [0, 1], so two rows are
at most √|S| apart and, at lengths up to B, at most √2 B. Given the earlier q, replacing a row moves the q of its block
by at most Δ₂ = min(√2 B, √|S|)/m, which costs Δ₂²/(2s²). The estimates are post-processing.

reconstructed : s = B/(m√ρ), from Δ₂ ≤ √2 B/m. The mechanism spends at most ρ, and at most ρ/2 for d = 1.
tight : s = min(√2 B, √|S|)/(m√(2ρ)), our choice. The mechanism spends at most ρ; no smaller bound holds for all n.

Accuracy. For independent coordinates of means p_j ≤ 1/2 and m ≥ `enough_records`, |q_j − p_j| ≤ p_j/2 for all
coordinates that leave S in step 1, except with probability 2β. Means above 1/2 are not covered.

Proof: proofs/paper/ppde.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import as_rows, map_rows, require_shape, rows_between, shape_of, sum_rows
from covassay.reference.domain.types import DataSet, Matrix, Number, Rows, Vector
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import VectorOutput
from covassay.reference.mechanisms.parameters import Beta, Dimension, ReconstructedCalibration, Rho, checked, strict
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend

# FORMULAS


def mean_limit(r: int) -> Number:
    """The bound u_r = 2^{−r} on the means in round r."""
    return 0.5**r


def threshold(r: int) -> Number:
    """The threshold τ_r = 3u_r/8 of round r."""
    return 3 * 0.5**r / 8


def truncation_squared(
    u: Number, size: Number, m: Number, rounds: Number, beta: Number, log: Callable[[Number], Number] = math.log
) -> Number:
    """The square B² of the largest length of a row in a round of step 1: 6 u|S| ln(mR/β)."""
    return 6 * u * size * log(m * rounds / beta)


def last_truncation_squared(m: Number, beta: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """The square B² of the largest length of a row in step 2: 6 ln(m/β)."""
    return 6 * log(m / beta)


@strict(calibration=ReconstructedCalibration)
def change_squared(bound_squared: Number, size: Number, calibration: str) -> Number:
    """A bound on (mΔ₂)²: 2B² reconstructed, min(2B², |S|) tight."""
    return min(2 * bound_squared, size) if calibration == "tight" else 2 * bound_squared


def noise_variance(change: Number, m: Number, rho: Number) -> Number:
    """The noise variance s² = Δ₂²/(2ρ), for `change` = (mΔ₂)²."""
    return change / (2 * rho * m**2)


def enough_records(
    m: Number, d: Number, rounds: Number, rho: Number, beta: Number, log: Callable[[Number], Number] = math.log
) -> Number:
    """The number of records that a block must have for d ≥ 2. This number itself depends on m, through ln m.

    If m is at least this number, the sampling error and the noise are small enough in every round. The number is the
    larger of one for the sampling error (Bernstein) and one for the noise; the proof page derives both.
    """
    length = log(4 * d * rounds / beta)
    return max(523 * d * length, 16 * d * (12 * length * log(m * rounds / beta) / rho) ** 0.5)


# MECHANISM


def most_rounds(dimension: int) -> int:
    """Return the largest number of rounds, R = ⌊log₂ d⌋. A round has u_r|S| ≥ 1 and |S| ≤ d, so 2^r ≤ d."""
    return dimension.bit_length() - 1


def block_mean(rows: Rows, r: int, m: int, kept: Any, bound: float) -> Vector:
    """Return the mean over block r of the rows, restricted to the coordinates kept and shortened to the bound, (|S|,).

    The rows of block r are first, …, last − 1, counted from 0, as in `rows_between`. The sum of the rows is divided by
    m, even if fewer than m rows exist.
    """
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


@checked
def release(
    x: DataSet, noise: Matrix, *, rho: Rho, calibration: ReconstructedCalibration = "reconstructed", beta: Beta = 0.1
) -> Vector:
    """Release the mean of every coordinate, given the noise: an array (R + 1, d) of independent N(0, 1) draws, with row
    r for block r of the records.
    """
    # VALIDATE
    rows: Rows = map_rows(lambda block: np.clip(block, 0.0, 1.0), as_rows(x))
    n, d = rows.shape
    rounds = most_rounds(d)
    z = require_shape("noise", noise, (rounds + 1, d))
    m = max(1, n // (rounds + 1))

    def noisy_mean(r: int, kept: Any, bound_squared: float) -> Vector:
        """QUERY and NOISE: return the noisy mean q of block r on the coordinates `kept`."""
        variance = noise_variance(change_squared(bound_squared, len(kept), calibration), m, rho)
        mean: Vector = block_mean(rows, r, m, kept, math.sqrt(bound_squared)) + math.sqrt(variance) * z[r - 1, kept]
        return mean

    # 1. QUERY and NOISE of one block after the other, while u_r|S| ≥ 1
    estimate = np.zeros(d)
    left = np.arange(d)  # S
    r = 1
    while mean_limit(r) * len(left) >= 1:
        q = noisy_mean(r, left, truncation_squared(mean_limit(r), len(left), m, rounds, beta))
        done = q >= threshold(r)
        estimate[left[done]] = q[done]
        left = left[~done]
        r += 1

    # 2. QUERY and NOISE: one more block gives the estimates of the coordinates that are left in S
    if len(left):
        estimate[left] = noisy_mean(r, left, last_truncation_squared(m, beta))

    # 3. RELEASE
    return np.clip(estimate, 0.0, 1.0)


def draw_noise(dimension: int, rng: np.random.Generator) -> Matrix:
    """Return the noise that `release` takes, (R + 1, d)."""
    return rng.standard_normal((most_rounds(dimension) + 1, dimension))


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: Rho,
    calibration: ReconstructedCalibration = "reconstructed",
    beta: Beta = 0.1,
) -> Vector:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows with entries in [0, 1].
    rng : the source of all randomness.
    rho : ρ in [1e-30, 1e30], the budget.
    calibration : value "reconstructed" has the constants of our reconstruction; "tight" has sharper ones, also ours.
    beta : β in [1e-300, 1), public: the probability that the error bound may fail.

    Returns
    -------
    (d,), in the unit of x.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error about an entry that is not finite depends on the data, and is
        not private.

    Privacy : the output is ρ-zCDP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(x, noise, rho=rho, calibration=calibration, beta=beta)


@checked
def spend(*, rho: Rho, dimension: Dimension, calibration: ReconstructedCalibration = "reconstructed") -> Spend:
    """The claimed budget is ρ by our reading of Theorem 5.1, whose formula is lost. The proven budget is ρ."""
    remark = (
        "complementary rows of zeros and ones in the first block approach ρ as n → ∞"
        if calibration == "tight"
        else "at most ρ; the noisy mean of one block attains ρ if B² ≤ ⌊|S|/2⌋"
    )
    return Spend(ZCDP(rho), ZCDP(rho), calibration == "tight", remark)


ABOUT = About("ppde", "private learning of a product distribution", "KLSU19", "Algorithm 7", "reconstructed")
MECHANISM = Mechanism(
    ABOUT,
    CONCENTRATED,
    VectorOutput(power=1),
    release,
    draw_noise,
    sample,
    spend,
    domain="cube",
    ordered=True,
    repeats=True,
)
