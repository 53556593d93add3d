"""Gaussian noise on the second moment, under (ε, δ)-DP. DTTZ14 Algorithm 1 ("Analyze Gauss"); baseline G of ADK19.

1. Compute Σ = (1/n) Σ_i x_i x_iᵀ.
2. Draw a symmetric Gaussian W and add σW to Σ. Entries on and above the diagonal are independent: "wigner" has variance
   1 in all of them, our "goe" has variance 1 on the diagonal and 1/2 above it.
3. Release Σ + σW. The output is symmetric, but it need not be positive semidefinite.

Why (ε, δ)-DP. As `gauss_cov` shows, the noisy upper triangles of two neighbours are Gaussian vectors. Divide every
entry by the standard deviation of its noise. Then the means are at most √2/(nσ) apart for either ensemble, and the rows
e₁ and e₂ attain this distance. In dimension 1 they are at most 1/(nσ) apart. This release is therefore the Gaussian
mechanism with ℓ2 sensitivity Δ₂ = √2/n (`gaussian_approximate`).

paper : σ = Δ₂ √(2 ln(1.25/δ))/ε, for ε ≤ 1 only (DR14 Theorem A.1). The smallest δ for this σ is below the claimed δ.
tight : for d ≥ 2, σ is the smallest scale that gives (ε, δ) (Balle–Wang 2018 Theorem 8). For d = 1, σ/√2 is enough.

NOTE: DTTZ14 adds or removes a row, which moves nΣ by at most 1. The authors' code for ADK19 uses Δ₂ = 1/n too, but in
ADK19 neighbours differ by a replaced row. For these neighbours the σ of the code is too small by a factor √2.

Accuracy. The Frobenius error is r²σ‖W‖_F on all data, where r is the row bound and long rows are clipped.

Proof: proofs/paper/gauss-cov-approximate.md
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    require_symmetric,
    second_moment,
    shape_of,
    sized_unit_rows,
)
from covassay.reference.mechanisms.building_blocks.gaussian_approximate import (
    ApproximateEpsilon,
    multiplier,
    proven_delta,
)
from covassay.reference.mechanisms.concentrated.gauss_cov import Ensemble, change_squared, draw_noise
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import (
    SMALLEST_PROBABILITY,
    Calibration,
    Delta,
    Dimension,
    LargeRows,
    RowBound,
    checked,
)
from covassay.reference.privacy import APPROXIMATE, ApproximateDP, Spend
from covassay.reference.sensitivity import square_root

# FORMULAS


def sensitivity(n: Number, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """The ℓ2 sensitivity Δ₂ = √2/n of the second moment of n rows."""
    return sqrt(2) / n


# MECHANISM


@checked
def release(
    x: DataSet,
    noise: Matrix,
    *,
    epsilon: ApproximateEpsilon,
    delta: Delta,
    calibration: Calibration = "paper",
    ensemble: Ensemble = "wigner",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release the noisy second moment, given the noise: a symmetric (d, d) draw of W from the same `ensemble`."""
    # VALIDATE
    standard = multiplier(epsilon, delta, calibration)
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    w = require_symmetric("noise", noise, (d, d))

    # 1. QUERY
    moment = second_moment(rows)

    # 2. NOISE
    noisy: Matrix = moment + sensitivity(n) * standard * w

    # 3. RELEASE
    return noisy * row_bound**2


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: ApproximateEpsilon,
    delta: Delta,
    calibration: Calibration = "paper",
    ensemble: Ensemble = "wigner",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-8, 1e12], the budget.
    delta : δ in [1e-300, 1), the additive term of (ε, δ)-DP.
    calibration : value "paper" has the constants of the source; "tight" has less noise, and our proof covers both.
    ensemble : the law of W; "wigner" has variance 1 on and above the diagonal, "goe" 1 on it and 1/2 above it.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    (d, d), symmetric, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is (ε, δ)-DP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng, ensemble=ensemble)
    return release(
        x,
        noise,
        epsilon=epsilon,
        delta=delta,
        calibration=calibration,
        ensemble=ensemble,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


@checked
def spend(
    *,
    epsilon: ApproximateEpsilon,
    delta: Delta,
    dimension: Dimension,
    calibration: Calibration = "paper",
    ensemble: Ensemble = "wigner",
) -> Spend:
    """The claimed budget is (ε, δ).

    The proven budget is the smallest δ at ε, which some neighbours attain in every dimension.
    """
    apart = change_squared(dimension) ** 0.5 / (sensitivity(1) * multiplier(epsilon, delta, calibration))
    exact = proven_delta(apart, epsilon)
    return Spend(
        ApproximateDP(epsilon, delta),
        ApproximateDP(epsilon, exact),
        exact > SMALLEST_PROBABILITY,
        "if row e₁ replaces row e₂ (for d = 1: 1 replaces 0), the event that the loss exceeds ε attains the proven δ",
    )


ABOUT = About(
    "gauss-cov-approximate", "Gaussian covariance, (ε, δ)", "DTTZ14", "Algorithm 1 (ADK19 baseline G)", "reconstructed"
)
MECHANISM = Mechanism(
    ABOUT,
    APPROXIMATE,
    SYMMETRIC_SECOND_MOMENT,
    release,
    draw_noise,
    sample,
    spend,
    unranked="the mechanism claims (ε, δ)-DP, but the compared mechanisms claim ε-DP or ρ-zCDP",
)
