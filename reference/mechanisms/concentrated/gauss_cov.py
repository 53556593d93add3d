"""Gaussian noise on the second moment, under zCDP. DTTZ14 Algorithm 1 ("Analyze Gauss"); DLY22 §3.1, GaussCov.

1. Compute Σ = (1/n) Σ_i x_i x_iᵀ.
2. Draw a symmetric W with independent centred Gaussian entries on and above the diagonal. With "wigner", as in the
   papers, all entries have variance 1. With our form "goe", entries have variance 1 on the diagonal and 1/2 above it.
   Add σW to Σ, with σ = 1/(n√ρ).
3. Release Σ + σW. The output is symmetric, but it need not be positive semidefinite. The papers' experiments round the
   eigenvalues of the output to [0, 1], which is post-processing and left to the caller.

Why ρ-zCDP. Replacing the row x by y changes nΣ by −Δ, where Δ = x xᵀ − y yᵀ and ‖Δ‖_F² ≤ 2. The released triangle is a
Gaussian vector with independent entries, so its Rényi divergence of any order α is

    D_α = (α/2) Σ_{i≤j} (Δ_ij/n)²/Var(σW_ij) = (αρ/2) × { ‖Δ‖_F² (goe), (‖Δ‖_F² + Σ_i Δ_ii²)/2 (wigner) } ≤ αρ.

Both ensembles spend exactly ρ, attained by the rows e₁ and e₂, and ρ/2 in dimension 1, where |Δ| ≤ 1. At the same cost,
"goe" therefore has less noise than "wigner".

Accuracy. The error is σ‖W‖_F on all data, with E‖W‖_F² = d² (wigner) or d(d + 1)/2 (goe). Under add-remove the
mechanism releases the number of rows n and the sum nΣ in place of Σ, both with noise: see `counted`.

Proof: proofs/paper/gauss-cov.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

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
from covassay.reference.laws import wigner as law
from covassay.reference.mechanisms.counted import (
    CountedNoise,
    RowsAndSumOutput,
    gaussian_count_scale,
    gaussian_share,
    moment_sum,
    parts_of,
    with_counts,
)
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import (
    Dimension,
    LargeRows,
    Meaning,
    Neighbours,
    Rho,
    RowBound,
    checked,
    strict,
)
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend
from covassay.reference.sensitivity import square_root
from covassay.reference.tails import eta, omega_sharp

Ensemble = Annotated[
    law.Ensemble,
    Meaning('the law of W: "wigner" has variance 1 on and above the diagonal, "goe" 1 on it and 1/2 above'),
]

# FORMULAS


def noise_scale(n: Number, rho: Number) -> Number:
    """The noise scale σ = 1/(n√ρ), which is the ℓ2 sensitivity √2/n divided by √(2ρ)."""
    return 1 / (n * rho**0.5)


def change_squared(d: int) -> int:
    """The supremum of ‖Δ‖_F² over neighbours, where Δ is the change of nΣ: 2, or 1 in dimension 1.

    The supremum of (‖Δ‖_F² + Σ_i Δ_ii²)/2 is the same number.
    """
    return 2 if d > 1 else 1


def privacy_loss(rho: Number, d: int) -> Number:
    """The ρ that the release spends, with either ensemble."""
    return rho * change_squared(d) / 2


@strict(ensemble=Ensemble)
def frobenius_bound(d: Number, beta: Number, ensemble: str, log: Callable[[Number], Number] = math.log) -> Number:
    """A bound that ‖W‖_F exceeds with probability at most β."""
    return omega_sharp(d, beta, log) if ensemble == "wigner" else eta(d * (d + 1) / 2, beta, log)


@strict(ensemble=Ensemble)
def error_bound(
    n: Number, d: Number, rho: Number, beta: Number, ensemble: str, log: Callable[[Number], Number] = math.log
) -> Number:
    """A bound that the Frobenius error exceeds with probability at most β, on all data."""
    return noise_scale(n, rho) * frobenius_bound(d, beta, ensemble, log)


@strict(ensemble=Ensemble)
def count_share(d: Number, ensemble: str, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """The share ρ₀/ρ of the budget that the number of rows gets under add-remove.

    The share depends on the mean squared norm V of W, which is V = d², or V = d(d + 1)/2 with "goe".
    """
    return gaussian_share(d**2 if ensemble == "wigner" else d * (d + 1) / 2, sqrt)


@strict(ensemble=Ensemble)
def scale_of_sum(d: Number, rho: Number, ensemble: str, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """The scale 1/√(2ρ₁) of the noise of Σ_i x_i x_iᵀ under add-remove, where one row moves the sum by at most 1."""
    return 1 / sqrt(2 * (1 - count_share(d, ensemble, sqrt)) * rho)


# MECHANISM

COUNTED = RowsAndSumOutput(power=0, entries="triangle")


@checked
def release(
    x: DataSet,
    noise: Matrix | CountedNoise,
    *,
    rho: Rho,
    ensemble: Ensemble = "wigner",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
    adjacency: Neighbours = "replace-one",
) -> Matrix:
    """Release the noisy second moment, given the noise: a symmetric (d, d) draw of W from the same `ensemble`.

    Under replace-one, noise of many draws, (..., d, d), gives one output for each draw.
    """
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows, fewest_rows(adjacency))
    count, own = parts_of(noise, adjacency)
    w = require_symmetric("noise", own, (d, d), stacked=adjacency == "replace-one")

    # 1. QUERY
    query = second_moment(rows) if adjacency == "replace-one" else moment_sum(rows)

    # 2. NOISE
    scale = noise_scale(n, rho) if adjacency == "replace-one" else scale_of_sum(d, rho, ensemble)
    noisy: Matrix = query + scale * w
    noisy_rows = n + gaussian_count_scale(rho, count_share(d, ensemble)) * count

    # 3. RELEASE
    released: Matrix = noisy * row_bound**2
    return released if adjacency == "replace-one" else COUNTED.packed(noisy_rows, released)


@checked
def draw_noise(
    dimension: int,
    rng: np.random.Generator,
    *,
    ensemble: Ensemble = "wigner",
    adjacency: Neighbours = "replace-one",
    size: int | None = None,
) -> Any:
    """Return the noise that `release` takes, (d, d) or (size, d, d); under add-remove, a `CountedNoise`."""
    noise = law.sample(ensemble, dimension, rng, size)
    return noise if adjacency == "replace-one" else with_counts(rng.standard_normal(size), noise, size)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: Rho,
    ensemble: Ensemble = "wigner",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
    adjacency: Neighbours = "replace-one",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, or n ≥ 0 under add-remove, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    rho : ρ in [1e-30, 1e30], the budget.
    ensemble : the law of W; "wigner" has variance 1 on and above the diagonal, "goe" 1 on it and 1/2 above it.
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

    Privacy : the output is ρ-zCDP for the chosen adjacency, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x, fewest_rows(adjacency))
    noise = draw_noise(d, rng, ensemble=ensemble, adjacency=adjacency)
    return release(
        x, noise, rho=rho, ensemble=ensemble, row_bound=row_bound, on_large_rows=on_large_rows, adjacency=adjacency
    )


@checked
def spend(
    *, rho: Rho, dimension: Dimension, ensemble: Ensemble = "wigner", adjacency: Neighbours = "replace-one"
) -> Spend:
    """The claimed budget is ρ.

    The proven budget is ρ for d ≥ 2 or under add-remove and ρ/2 for d = 1, attained at every order α.
    """
    if adjacency == "add-remove":
        return Spend(
            ZCDP(rho),
            ZCDP(rho),
            True,
            "adding or removing a row of length 1 along an axis attains the proven budget at every order",
        )
    return Spend(
        ZCDP(rho),
        ZCDP(privacy_loss(rho, dimension)),
        True,
        "the rows e₁ and e₂ (1 and 0 if d = 1) attain the proven budget at every order",
    )


ABOUT = About("gauss-cov", "Gaussian covariance", "DTTZ14", "Algorithm 1 (DLY22 GaussCov)", "code")
MECHANISM = Mechanism(ABOUT, CONCENTRATED, SYMMETRIC_SECOND_MOMENT, release, draw_noise, sample, spend, counted=COUNTED)
