"""LapCov: symmetric Laplace noise on the second moment. DLY22 Section 6.

1. Compute Σ = (1/n) Σ_i x_i x_iᵀ.
2. Draw W symmetric, with independent Laplace(1) entries on and above the diagonal ("symmetric Laplace Wigner"). Add bW
   to Σ.
3. Release Σ + bW. The output is not always positive semidefinite.

Why it is private. The noise is that of `entrywise_laplace` for the triangle. If a row changes Σ by Δ/n, the loss is ≤
Σ_{i≤j} |Δ_ij|/(nb), with equality at Y = Σ. The supremum s of Σ_{i≤j} |Δ_ij| is ½√((d + 2)² + 4⌊d²/4⌋), or 1 if d = 1.

paper : b = √2 d/(nε). Lemma 11 bounds the ℓ1 norm of all d² entries, but only d(d + 1)/2 of them get noise of their
    own. The mechanism claims ε. It spends ε s/(√2 d), which is 0.791 ε, 0.637 ε and 0.566 ε for d = 2, 4 and 8, and
    tends to ε/2 as d → ∞.
tight : b = s/(nε). The mechanism spends exactly ε, with half of the paper's noise for large d. We derived the
    sensitivity s and added the calibration "tight".

The steps above are for replace-one. Under add-remove, the sum Σ_i x_i x_iᵀ takes the place of Σ, and n is released with
noise Laplace(1/ε₀), where ε₀ + ε₁ = ε. `entrywise_laplace` has the same scales and shares for its triangle. One row
moves the triangle by at most (d + 1)/2 in ℓ1, so "tight" has b = (d + 1)/(2ε₁). "paper" has b = d/ε₁, because one row
moves all d² entries by at most d in ℓ1.

Accuracy. With probability 1 − β, ‖W‖_F is at most ω (`tails.omega_laplace`, whose constants are not proven here). As
post-processing, the paper's experiments move the eigenvalues into [0, 1] (`projections.spectral_interval`).

Proof: proofs/paper/lap-cov.md
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference import tails
from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    fewest_rows,
    require_symmetric,
    second_moment,
    shape_of,
    sized_unit_rows,
)
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.counted import (
    CountedNoise,
    RowsAndSumOutput,
    laplace_count_scale,
    moment_sum,
    parts_of,
    with_counts,
)
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import (
    Calibration,
    Dimension,
    Epsilon,
    LargeRows,
    Neighbours,
    RowBound,
    checked,
    strict,
)
from covassay.reference.mechanisms.pure.entrywise_laplace import count_share, privacy_loss, scale_of_sum
from covassay.reference.privacy import PURE, PureDP, Spend
from covassay.reference.sensitivity import square_root, triangle_l1

# FORMULAS
# The formulas `privacy_loss`, `mean_squared_error`, `largest_entry`, `scale_of_sum` and `count_share` are in
# `entrywise_laplace`.


@strict(calibration=Calibration)
def noise_scale(
    n: Number, d: int, epsilon: Number, calibration: str, sqrt: Callable[[Number], Number] = square_root
) -> Number:
    """The noise scale b: √2 d/(nε) with "paper", also in dimension 1, and s/(nε) with "tight"."""
    return (sqrt(2) * d if calibration == "paper" else triangle_l1(d, sqrt)) / (n * epsilon)


def error_bound(d: Number, scale: Number, beta: Number, log: tails.Log = np.log) -> Number:
    """The bound b ω on ‖Σ̂ − Σ‖_F, where ‖W‖_F ≤ ω with probability 1 − β (DLY22 Lemma 17, constants of their code)."""
    return scale * tails.omega_laplace(d, beta, log)


# MECHANISM

COUNTED = RowsAndSumOutput(power=0, entries="triangle")


@checked
def release(
    x: DataSet,
    noise: Matrix | CountedNoise,
    *,
    epsilon: Epsilon,
    calibration: Calibration = "paper",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
    adjacency: Neighbours = "replace-one",
) -> Matrix:
    """Release the noisy second moment, given the noise: a (d, d) symmetric draw of W.

    Under replace-one, noise of many draws, (..., d, d), gives one output for each draw.
    """
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows, fewest_rows(adjacency))
    count, own = parts_of(noise, adjacency)
    z = require_symmetric("noise", own, (d, d), stacked=adjacency == "replace-one")

    # 1. QUERY
    query = second_moment(rows) if adjacency == "replace-one" else moment_sum(rows)

    # 2. NOISE
    share = count_share(d, "triangle", calibration)
    if adjacency == "replace-one":
        scale = noise_scale(n, d, epsilon, calibration)
    else:
        scale = scale_of_sum(d, (1 - share) * epsilon, "triangle", calibration)
    noisy: Matrix = query + scale * z
    noisy_rows = n + laplace_count_scale(epsilon, share) * count

    # 3. RELEASE
    released: Matrix = noisy * row_bound**2
    return released if adjacency == "replace-one" else COUNTED.packed(noisy_rows, released)


@checked
def draw_noise(
    dimension: int, rng: np.random.Generator, size: int | None = None, *, adjacency: Neighbours = "replace-one"
) -> Any:
    """Return the noise that `release` takes, (d, d) or (size, d, d), symmetric; under add-remove, a `CountedNoise`."""
    noise = wigner.sample_laplace(dimension, rng, size)
    return noise if adjacency == "replace-one" else with_counts(rng.laplace(size=size), noise, size)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    calibration: Calibration = "paper",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
    adjacency: Neighbours = "replace-one",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, or n ≥ 0 under add-remove, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-30, 1e30], the budget.
    calibration : value "paper" has the constants of the source; "tight" has less noise, and our proof covers both.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.
    adjacency : which data sets are neighbours: with "replace-one" those that differ in one row, and n is public; with
        "add-remove" those that differ by one added or removed row, and the number of rows gets noise.

    Returns
    -------
    (d, d), symmetric, in the unit of x squared. Under add-remove the output has shape (1 + k,), with the noisy number
    of rows and the k entries of the noisy sum (`counted`).

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ε-DP for the chosen adjacency, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x, fewest_rows(adjacency))
    noise = draw_noise(d, rng, adjacency=adjacency)
    return release(
        x,
        noise,
        epsilon=epsilon,
        calibration=calibration,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
        adjacency=adjacency,
    )


@checked
def spend(
    *, epsilon: Epsilon, dimension: Dimension, calibration: Calibration = "paper", adjacency: Neighbours = "replace-one"
) -> Spend:
    """The claimed budget is ε.

    The proven budget is s/(nb), which some neighbours attain. Under add-remove the proven budget is ε₀ + (d + 1)/(2b),
    which some neighbours attain.
    """
    if adjacency == "add-remove":
        share = count_share(dimension, "triangle", calibration)
        scale = scale_of_sum(dimension, (1 - share) * epsilon, "triangle", calibration)
        proven = share * epsilon + scale_of_sum(dimension, 1, "triangle", "tight") / scale
        return Spend(
            PureDP(epsilon),
            PureDP(proven),
            True,
            "adding or removing a row of length 1 with equal entries attains the proven budget",
        )
    proven = privacy_loss(triangle_l1(dimension), 1, noise_scale(1, dimension, epsilon, calibration))
    return Spend(PureDP(epsilon), PureDP(proven), True, "some neighbours attain the proven budget at the output Y = Σ")


ABOUT = About("lap-cov", "LapCov", "DLY22", "Section 6", "code")
MECHANISM = Mechanism(ABOUT, PURE, SYMMETRIC_SECOND_MOMENT, release, draw_noise, sample, spend, counted=COUNTED)
