"""LapCov: symmetric Laplace noise on the second moment. DLY22 Section 6.

1. Σ = (1/n) Σ_i x_i x_iᵀ.
2. Draw W symmetric, with independent Laplace(1) entries on and above the diagonal ("symmetric Laplace Wigner"). Add bW
   to Σ.
3. Release Σ + bW. It is not always positive semidefinite.

Why it is private. The noise is that of `entrywise_laplace` with `entries="triangle"`: the privacy loss is at most
Σ_{i≤j} |Δ_ij|/(nb), with equality at Y = Σ. The supremum of the sum is s = ½√((d + 2)² + 4⌊d²/4⌋), and 1 for d = 1.

paper : b = √2 d/(nε). Lemma 11 bounds the ℓ1 norm of all d² entries, but only d(d + 1)/2 of them get noise of their
    own. Claims ε; spends ε s/(√2 d), which is 0.791 ε, 0.637 ε, 0.566 ε for d = 2, 4, 8, and tends to ε/2.
tight : b = s/(nε). Spends exactly ε, with half of the paper's noise for large d. Ours, and so is the sensitivity s.

Accuracy. ‖bW‖_F ≤ b ω with probability 1 − β (`error_bound`, with constants that are not proven here). The paper's
experiments then bring the eigenvalues into [0, 1] (`projections.spectral_interval`), which is post-processing.

Proof: proofs/paper/lap-cov.md
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from covassay.reference import tails
from covassay.reference.domain import (
    Array,
    DataSet,
    Matrix,
    Number,
    require_symmetric,
    second_moment,
    shape_of,
    sized_unit_rows,
)
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import (
    Calibration,
    Dimension,
    Epsilon,
    LargeRows,
    RowBound,
    checked,
    strict,
)
from covassay.reference.mechanisms.pure.entrywise_laplace import privacy_loss
from covassay.reference.privacy import PURE, PureDP, Spend
from covassay.reference.sensitivity import square_root, triangle_l1

# FORMULAS, with `privacy_loss`, `mean_squared_error` and `largest_entry` of `entrywise_laplace`


@strict(calibration=Calibration)
def noise_scale(
    n: Number, d: int, epsilon: Number, calibration: str, sqrt: Callable[[Number], Number] = square_root
) -> Number:
    """b: √2 d/(nε) in the paper, in dimension 1 too; s/(nε) tight."""
    return (sqrt(2) * d if calibration == "paper" else triangle_l1(d, sqrt)) / (n * epsilon)


def error_bound(d: Number, scale: Number, beta: Number, log: tails.Log = np.log) -> Number:
    """Bound b ω on ‖Σ̂ − Σ‖_F, with probability 1 − β (DLY22 Lemma 17, with the constants of the authors' code)."""
    return scale * tails.omega_laplace(d, beta, log)


# MECHANISM


@checked
def release(
    x: DataSet,
    noise: Matrix,
    *,
    epsilon: Epsilon,
    calibration: Calibration = "paper",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release the noisy second moment, given the noise: a (d, d) symmetric draw of W."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    z = require_symmetric("noise", noise, (d, d))

    # 1. QUERY
    moment = second_moment(rows)

    # 2. NOISE
    noisy: Matrix = moment + noise_scale(n, d, epsilon, calibration) * z

    # 3. RELEASE
    return noisy * row_bound**2


def draw_noise(dimension: int, rng: np.random.Generator, size: int | None = None) -> Array:
    """The noise that `release` takes: (d, d), or (size, d, d), symmetric."""
    return wigner.sample_laplace(dimension, rng, size)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    calibration: Calibration = "paper",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: the noise is float64.

    Parameters
    ----------
    x : (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-30, 1e30], the budget.
    calibration : "paper" has the constants of the source, "tight" less noise, for which our proof still gives the
        claim.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : "clip" scales a row longer than r back to length r; "raise" rejects it, which reads the data.

    Returns
    -------
    (d, d), symmetric, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. Whether x is finite, and with "raise" whether its rows are short, is
        read off the data, so not private.

    Privacy : ε-DP (replace-one), n public, in real arithmetic; `spend` has what is proven.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(x, noise, epsilon=epsilon, calibration=calibration, row_bound=row_bound, on_large_rows=on_large_rows)


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension, calibration: Calibration = "paper") -> Spend:
    """The claimed ε; proven is s/(nb), attained."""
    proven = privacy_loss(triangle_l1(dimension), 1, noise_scale(1, dimension, epsilon, calibration))
    return Spend(PureDP(epsilon), PureDP(proven), True, "at Y = Σ")


ABOUT = About("lap-cov", "LapCov", "DLY22", "Section 6", "code")
MECHANISM = Mechanism(ABOUT, PURE, SYMMETRIC_SECOND_MOMENT, release, draw_noise, sample, spend)
