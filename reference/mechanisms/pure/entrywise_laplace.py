"""Entrywise Laplace noise on the second moment. ADK19 Section 4, the baseline "L".

Release Σ + bM. (The paper releases n times that; n is public.)
full : the d² entries of M are independent Laplace(1), as the paper says. The output is not symmetric.
triangle : M is symmetric, with independent Laplace(1) on and above the diagonal, as in the code of the authors.

Where the scale comes from. The density of the output at Y is a constant times exp(−Σ |Y_ij − Σ_ij|/b), the sum over all
entries, or over i ≤ j. Replacing x by y changes Σ by Δ/n, so by the triangle inequality the loss is at most
Σ |Δ_ij|/(nb), and it is that at Y = Σ. So the scale must be the ℓ1 sensitivity over nε: for all entries at most √2 d,
with equality for even d; for the triangle ½√((d + 2)² + 4⌊d²/4⌋) exactly (`sensitivity`).

paper : b = 2d/(nε). Claimed: ε. full spends ε/√2 at most (even d: exactly); triangle spends 0.559 ε, 0.451 ε, 0.400 ε
    in dimension 2, 4, 8, and ε/(2√2) in the limit. In dimension 1 both spend ε/2.
tight : b = the sensitivity over nε. Spends ε; for odd d > 1 with full noise, at most ε. (The largest ℓ1 norm of Δ that
    a search found for odd d is √(2d² − 1).)

Post-processing is free. The paper rounds the eigenvalues of nΣ to [0, n]: `projections.spectral_interval` of the
symmetric part. The code of the authors clips them at 0, and then scales the whole matrix down so that the largest is n.
"""

from collections.abc import Callable
from typing import Literal

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
    require_symmetric,
    second_moment,
    unit_rows,
)
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.mechanism import CALIBRATIONS, About, Calibration
from covassay.reference.privacy import PureDP, Spend
from covassay.reference.sensitivity import full_l1, triangle_l1

Entries = Literal["full", "triangle"]
ENTRIES: tuple[Entries, ...] = ("full", "triangle")

# FORMULAS


def sensitivity(d: int, entries: str) -> Number:
    """ℓ1 sensitivity of the entries of nΣ that get noise of their own (for "full" and odd d > 1 a bound)."""
    return full_l1(d) if entries == "full" else triangle_l1(d)


def noise_scale(n: Number, d: int, epsilon: Number, entries: str, calibration: str) -> Number:
    """b: 2d/(nε) in the paper, the sensitivity over nε tight."""
    return (2 * d if calibration == "paper" else sensitivity(d, entries)) / (n * epsilon)


def privacy_loss(change: Number, n: Number, scale: Number) -> Number:
    """Supremum of the loss between neighbours whose noisy entries of nΣ differ by `change` in ℓ1."""
    return change / (n * scale)


def mean_squared_error(d: Number, scale: Number) -> Number:
    """E ‖bM‖_F² = 2 d² b², full or triangle: each of the d² entries has variance 2b²."""
    return 2 * d**2 * scale**2


def largest_entry(count: Number, scale: Number, beta: Number, log: Callable[[Number], Number] = np.log) -> Number:
    """b ln(k/β), which no one of k entries exceeds with probability 1 − β (ADK19 Lemma 3)."""
    return scale * log(count / beta)


# MECHANISM


def release(
    x: DataSet,
    noise: Matrix,
    *,
    epsilon: float,
    entries: Entries = "full",
    calibration: Calibration = "paper",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Release the noisy second moment, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : (d, d), a draw of M; for "triangle" symmetric.
    epsilon : ε > 0.
    entries : "full" or "triangle".
    calibration : "paper" or "tight".
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d), in the unit of x squared. Symmetric for "triangle" only; not always positive semidefinite.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, n public, in real arithmetic (proven: less with "paper").
    Source : ADK19 Section 4 and Lemma 3; the sensitivities and "tight" are ours.
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    require_choice("entries", entries, ENTRIES)
    require_choice("calibration", calibration, CALIBRATIONS)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    z = (require_symmetric if entries == "triangle" else require_shape)("noise", noise, (d, d))

    # QUERY
    moment = second_moment(rows)

    # NOISE
    noisy: Matrix = moment + noise_scale(n, d, epsilon, entries, calibration) * z

    # RELEASE
    return noisy * row_bound**2


def draw_noise(dimension: int, rng: np.random.Generator, entries: Entries = "full", size: int | None = None) -> Matrix:
    """The noise that `release` takes: (d, d), or (size, d, d)."""
    if entries == "triangle":
        return wigner.sample_laplace(dimension, rng, size)
    return rng.laplace(size=(dimension, dimension) if size is None else (size, dimension, dimension))


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    entries: Entries = "full",
    calibration: Calibration = "paper",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("epsilon", epsilon)
    rows = unit_rows(x, row_bound, on_large_rows)
    return release(
        x,
        draw_noise(rows.shape[1], rng, entries),
        epsilon=epsilon,
        entries=entries,
        calibration=calibration,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


def spend(*, epsilon: float, dimension: int, entries: Entries = "full", calibration: Calibration = "paper") -> Spend:
    """Claimed ε; proven: the sensitivity over nb, attained unless d is odd, above 1, and the noise full."""
    require_positive("epsilon", epsilon)
    d = require_dimension("dimension", dimension)
    require_choice("entries", entries, ENTRIES)
    require_choice("calibration", calibration, CALIBRATIONS)
    proven = privacy_loss(sensitivity(d, entries), 1, noise_scale(1, d, epsilon, entries, calibration))
    attained = entries == "triangle" or d == 1 or d % 2 == 0
    remark = "at Y = Σ" if attained else "the sensitivity √2 d is a bound for odd d"
    return Spend(PureDP(epsilon), PureDP(proven), attained, remark)


ABOUT = About(
    name="entrywise-laplace",
    title="entrywise Laplace noise",
    paper="ADK19",
    algorithm="Section 4, baseline L",
    notion="pure",
    released="matrix",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
    choices={"entries": ENTRIES, "calibration": CALIBRATIONS},
)
