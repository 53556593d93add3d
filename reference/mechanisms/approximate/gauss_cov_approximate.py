"""Gaussian covariance under (ε, δ)-DP: Σ plus symmetric Gaussian noise. DTTZ14 "Analyze Gauss"; ADK19's baseline G.

Release Σ + σW, W as in `gauss_cov`: "wigner", or "goe" (ours).

Where σ comes from. As `gauss_cov` shows, the noisy upper triangles of two neighbours are Gaussian vectors whose means
are at most q = √2/(nσ) apart in the unit of the noise, with equality for orthonormal rows, for either W. So this is the
Gaussian mechanism with the ℓ2 sensitivity Δ₂ = √2/n (`gaussian_approximate`):

paper : σ = Δ₂ √(2 ln(1.25/δ))/ε, for ε ≤ 1 only.
tight : the smallest σ that gives (ε, δ) (Balle–Wang 2018).

DTTZ14 has Δ₂ = 1/n, for adding or removing a row. The authors' code for ADK19 calibrates to that while the paper's
neighbours replace a row: for these its σ is √2 too small. In dimension 1 the means are at most 1/(nσ) apart.
"""

import math

import numpy as np

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
from covassay.reference.laws.wigner import ENSEMBLES, Ensemble
from covassay.reference.mechanisms.building_blocks.gaussian_approximate import log_delta, multiplier
from covassay.reference.mechanisms.concentrated.gauss_cov import change_squared, draw_noise
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.privacy import ApproximateDP, Spend

# FORMULAS


def sensitivity(n: Number) -> Number:
    """Δ₂ = √2/n."""
    return 2**0.5 / n


# MECHANISM


def release(
    x: DataSet,
    noise: Matrix,
    *,
    epsilon: float,
    delta: float,
    calibration: Calibration = "paper",
    ensemble: Ensemble = "wigner",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Release the noisy second moment, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : (d, d) symmetric, a draw of W.
    epsilon, delta : ε > 0 and 0 < δ < 1; ε ≤ 1 with "paper".
    calibration : "paper" (classical) or "tight" (exact).
    ensemble : "wigner" or "goe", the law that `noise` was drawn from.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d) symmetric, in the unit of x squared. Not always positive semidefinite.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : (ε, δ)-DP for replacing one row, n public, in real arithmetic (proven: a smaller δ with "paper").
    Source : DTTZ14 Algorithm 1; DR14 Theorem A.1 ("paper"); Balle–Wang 2018 Theorem 8 ("tight"); "goe" is ours.
    """
    # VALIDATE
    standard = multiplier(epsilon, delta, calibration)
    require_choice("ensemble", ensemble, ENSEMBLES)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    w = require_symmetric("noise", noise, (d, d))

    # QUERY
    moment = second_moment(rows)

    # NOISE
    noisy: Matrix = moment + sensitivity(n) * standard * w

    # RELEASE
    return noisy * row_bound**2


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    delta: float,
    calibration: Calibration = "paper",
    ensemble: Ensemble = "wigner",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("epsilon", epsilon)
    rows = unit_rows(x, row_bound, on_large_rows)
    return release(
        x,
        draw_noise(rows.shape[1], rng, ensemble=ensemble),
        epsilon=epsilon,
        delta=delta,
        calibration=calibration,
        ensemble=ensemble,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


def spend(
    *,
    epsilon: float,
    delta: float,
    dimension: int,
    calibration: Calibration = "paper",
    ensemble: Ensemble = "wigner",
) -> Spend:
    """Claimed (ε, δ); proven the exact δ at ε for means √2/(nσ) apart, or 1/(nσ) for d = 1."""
    standard = multiplier(epsilon, delta, calibration)
    d = require_dimension("dimension", dimension)
    require_choice("ensemble", ensemble, ENSEMBLES)
    apart = change_squared(d) ** 0.5 / (sensitivity(1) * standard)
    remark = "by the event {loss > ε}, for orthonormal rows"
    return Spend(
        ApproximateDP(epsilon, delta), ApproximateDP(epsilon, math.exp(log_delta(apart, epsilon))), True, remark
    )


ABOUT = About(
    name="gauss-cov-approximate",
    title="Gaussian covariance, (ε, δ)",
    paper="DTTZ14",
    algorithm="Algorithm 1 (ADK19 baseline G)",
    notion="approximate",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    choices={"calibration": CALIBRATIONS, "ensemble": ENSEMBLES},
)
