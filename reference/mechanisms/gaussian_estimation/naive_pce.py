"""Naive private covariance estimation: drop long rows, then add Gaussian noise. KLSU19 Algorithm 1 (NaivePCE).

1. r² = κ(d + 2√(dL) + 2L), L = ln(n/β). A row with ‖x‖² > r² is dropped: it counts as a zero row, and n does not
   change. The second moment is M = (1/n) Σ_{‖x_i‖² ≤ r²} x_i x_iᵀ.
2. M' = M + σW, W symmetric with independent N(0, 1) on and above the diagonal.
3. Release the positive semidefinite matrix nearest to M' in Frobenius norm.

Reconstructed: the copy of the paper that we had has neither the pseudocode nor the formulas. We chose the constants in
steps 1 and 2.

Why ρ-zCDP. Whether a row is dropped depends only on the row itself and on public numbers. Replacing one row therefore
moves the entries on and above the diagonal by at most √2 r²/n in ℓ2 (r²/n for d = 1), whatever the rows are. Gaussian
noise on an ℓ2 sensitivity Δ₂ costs Δ₂²/(2σ²). Step 3 is post-processing.

reconstructed : σ² = 2r⁴/(n²ρ), from the triangle inequality, Δ₂ ≤ 2r²/n. The mechanism spends ρ/2, and ρ/4 for d = 1.
tight : σ² = r⁴/(n²ρ), from the exact Δ₂ = √2 r²/n. The mechanism spends ρ, and ρ/2 for d = 1.

Accuracy. For rows from N(0, Σ) with Σ ⪯ κI, no row is dropped, except with probability β. Step 3 never moves the
estimate farther from Σ in Frobenius norm; in spectral norm the distance can grow by a factor of up to 2/√3.

Proof: proofs/paper/naive-pce.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated

import numpy as np

from covassay.reference.domain import as_rows, longer_rows, map_rows, require_symmetric, second_moment, shape_of
from covassay.reference.domain.types import DataSet, Matrix, Number, Rows
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import (
    LARGEST,
    Beta,
    Dimension,
    ReconstructedCalibration,
    Rho,
    between,
    checked,
    strict,
)
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend
from covassay.reference.projections import psd_cone

Kappa = Annotated[float, between("κ", 1, LARGEST, "public: I ⪯ Σ ⪯ κI, for accuracy only")]

# FORMULAS


def radius_squared(
    n: Number, d: Number, kappa: Number, beta: Number, log: Callable[[Number], Number] = math.log
) -> Number:
    """The squared radius r² = κ(d + 2√(dL) + 2L), L = ln(n/β)."""
    length = log(n / beta)
    return kappa * (d + 2 * (d * length) ** 0.5 + 2 * length)


@strict(calibration=ReconstructedCalibration)
def noise_variance(n: Number, rho: Number, r2: Number, calibration: str) -> Number:
    """The noise variance σ²: 2r⁴/(n²ρ) with "reconstructed", r⁴/(n²ρ) with "tight"."""
    return (1 if calibration == "tight" else 2) * r2**2 / (n**2 * rho)


def largest_change(d: int) -> Number:
    """The supremum of Σ_{i≤j} Δ_ij² as a multiple of r⁴/n², where Δ is the change of M: 2, and 1 for d = 1."""
    return 2 if d > 1 else 1


def privacy_loss(change: Number, n: Number, r2: Number, variance: Number) -> Number:
    """The zCDP cost of neighbours for which the change Δ of M has Σ_{i≤j} Δ_ij² = `change` · r⁴/n²."""
    return change * r2**2 / n**2 / (2 * variance)


# MECHANISM


def drop_long(block: Matrix, radius: float) -> Matrix:
    """Return the rows, with zero rows in place of those that are longer than the radius."""
    return np.where(longer_rows(block, radius)[..., None], 0.0, block)


@checked
def estimate(
    rows: Rows, noise: Matrix, *, rho: float, calibration: ReconstructedCalibration, kappa: float, beta: float
) -> Matrix:
    """Return the result of steps 1 to 3 on checked rows, (..., n, d) and (..., d, d) -> (..., d, d)."""
    n, d = rows.shape[-2:]

    # 1. QUERY
    r2 = radius_squared(n, d, kappa, beta)
    moment = second_moment(map_rows(lambda block: drop_long(block, math.sqrt(r2)), rows))

    # 2. NOISE
    # Only r² is computed, because r⁴ could overflow.
    sigma = r2 / n * math.sqrt(noise_variance(1, rho, 1, calibration))
    noisy = moment + sigma * noise

    # 3. RELEASE
    projected = psd_cone(noisy)
    released: Matrix = (projected + np.swapaxes(projected, -1, -2)) / 2
    return released


@checked
def release(
    x: DataSet,
    noise: Matrix,
    *,
    rho: Rho,
    calibration: ReconstructedCalibration = "reconstructed",
    kappa: Kappa = 10.0,
    beta: Beta = 0.1,
) -> Matrix:
    """Release the noisy covariance of the short rows, given the noise: a symmetric (d, d) draw of W."""
    # VALIDATE
    rows = as_rows(x)
    d = rows.shape[1]
    z = require_symmetric("noise", noise, (d, d))

    # Steps 1 to 3 are in the function `estimate`, which `ppc` calls, too.
    return estimate(rows, z, rho=rho, calibration=calibration, kappa=kappa, beta=beta)


def draw_noise(dimension: int, rng: np.random.Generator) -> Matrix:
    """Return the noise that `release` takes, (d, d), symmetric."""
    return wigner.sample_wigner(dimension, rng)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: Rho,
    calibration: ReconstructedCalibration = "reconstructed",
    kappa: Kappa = 10.0,
    beta: Beta = 0.1,
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows of any real numbers.
    rng : the source of all randomness.
    rho : ρ in [1e-30, 1e30], the budget.
    calibration : value "reconstructed" has the constants of our reconstruction; "tight" has sharper ones, also ours.
    kappa : κ in [1, 1e30], public: I ⪯ Σ ⪯ κI, for accuracy only.
    beta : β in [1e-300, 1), public: the probability that the error bound may fail.

    Returns
    -------
    (d, d), symmetric, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error about an entry that is not finite depends on the data, and is
        not private.

    Privacy : the output is ρ-zCDP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(x, noise, rho=rho, calibration=calibration, kappa=kappa, beta=beta)


@checked
def spend(*, rho: Rho, dimension: Dimension, calibration: ReconstructedCalibration = "reconstructed") -> Spend:
    """The claimed budget is ρ.

    The proven budget is ρ/2 with "reconstructed" and ρ with "tight", and half as much for d = 1.
    """
    change = largest_change(dimension)
    proven = privacy_loss(change, 1, 1, noise_variance(1, rho, 1, calibration))
    return Spend(
        ZCDP(rho),
        ZCDP(proven),
        True,
        "rows of length r along two axes (r and 0 if d = 1) attain the proven budget for M', and approach it for the "
        "output as n → ∞",
    )


ABOUT = About("naive-pce", "naive private covariance estimation", "KLSU19", "Algorithm 1", "reconstructed")
MECHANISM = Mechanism(
    ABOUT,
    CONCENTRATED,
    SYMMETRIC_SECOND_MOMENT,
    release,
    draw_noise,
    sample,
    spend,
    domain="space",
    unranked="for Gaussian data, rows of any size",
)
