"""LapCov: symmetric Laplace noise on the second moment. DLY22 Section 6.

Release Σ + bW, W symmetric with independent Laplace(1) on and above the diagonal ("symmetric Laplace Wigner").

Where the scale comes from. As for `entrywise_laplace` with noise on the triangle: the loss is at most Σ_{i≤j}
|Δ_ij|/(nb) and that at Y = Σ, and the supremum of the sum is s = ½√((d + 2)² + 4⌊d²/4⌋), 1 in dimension 1
(`sensitivity`).

paper : b = √2 d/(nε). Lemma 11 bounds the ℓ1 norm of all d² entries, but only d(d + 1)/2 of them get noise of their
    own. Spends ε s/(√2 d): 0.791 ε, 0.637 ε, 0.566 ε in dimension 2, 4, 8, and ε/2 in the limit. Claimed: ε.
tight : b = s/(nε). Spends exactly ε, with half of the paper's noise for large d (ours).

Post-processing is free: the paper's experiments bring the eigenvalues into [0, 1] (`projections.spectral_interval`).
"""

import numpy as np

from covassay.reference import tails
from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    OnLargeRows,
    require_choice,
    require_dimension,
    require_positive,
    require_symmetric,
    second_moment,
    unit_rows,
)
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.mechanisms.pure.entrywise_laplace import privacy_loss
from covassay.reference.privacy import PureDP, Spend
from covassay.reference.sensitivity import triangle_l1

# FORMULAS, with `privacy_loss`, `mean_squared_error` and `largest_entry` of `entrywise_laplace`


def noise_scale(n: Number, d: int, epsilon: Number, calibration: str) -> Number:
    """b: √2 d/(nε) in the paper, s/(nε) tight. In dimension 1 the paper's is √2/(nε) too."""
    return (2**0.5 * d if calibration == "paper" else triangle_l1(d)) / (n * epsilon)


def error_bound(d: Number, scale: Number, beta: Number, log: tails.Log = np.log) -> Number:
    """‖Σ̂ − Σ‖_F ≤ b ω with probability 1 − β (DLY22 Lemma 17, with the constants of the authors' code)."""
    return scale * tails.omega_laplace(d, beta, log)


# MECHANISM


def release(
    x: DataSet,
    noise: Matrix,
    *,
    epsilon: float,
    calibration: Calibration = "paper",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Release the noisy second moment, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : (d, d) symmetric, a draw of W.
    epsilon : ε > 0.
    calibration : "paper" or "tight".
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d) symmetric, in the unit of x squared. Not always positive semidefinite.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, n public, in real arithmetic (proven: less with "paper").
    Source : DLY22 Section 6, Lemma 11; the sensitivity and "tight" are ours.
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    require_choice("calibration", calibration, CALIBRATIONS)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    z = require_symmetric("noise", noise, (d, d))

    # QUERY
    moment = second_moment(rows)

    # NOISE
    noisy: Matrix = moment + noise_scale(n, d, epsilon, calibration) * z

    # RELEASE
    return noisy * row_bound**2


def draw_noise(dimension: int, rng: np.random.Generator, size: int | None = None) -> Matrix:
    """The noise that `release` takes: (d, d), or (size, d, d), symmetric."""
    return wigner.sample_laplace(dimension, rng, size)


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
    return release(
        x,
        draw_noise(rows.shape[1], rng),
        epsilon=epsilon,
        calibration=calibration,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


def spend(*, epsilon: float, dimension: int, calibration: Calibration = "paper") -> Spend:
    """Claimed ε; proven s/(nb), attained."""
    require_positive("epsilon", epsilon)
    d = require_dimension("dimension", dimension)
    require_choice("calibration", calibration, CALIBRATIONS)
    proven = privacy_loss(triangle_l1(d), 1, noise_scale(1, d, epsilon, calibration))
    return Spend(PureDP(epsilon), PureDP(proven), True, "at Y = Σ")


ABOUT = About(
    name="lap-cov",
    title="LapCov",
    paper="DLY22",
    algorithm="Section 6",
    notion="pure",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    choices={"calibration": CALIBRATIONS},
)
