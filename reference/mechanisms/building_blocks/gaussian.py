"""Gaussian mechanism under zCDP: normal noise on the second moments of the features. DLY22 Lemma 3 (Bun–Steinke 2016).

1. Compute f_i = Σ_ii = (1/n) Σ_k x_ki², the second moment of feature i.
2. Draw N_1, …, N_d, independent N(0, 1), and add σN to f, with σ = Δ₂/√(2ρ). The number Δ₂ is the ℓ2 sensitivity of f:
   √2/n, or 1/n in dimension 1.
3. Release f + σN. The entries of the output may be negative. Under add-remove the sums Σ_k x_ki² take the place
   of f, and n is released with noise of its own (`counted`).

`perturb` adds Gaussian noise to any query whose ℓ2 sensitivity is known.

Why ρ-zCDP. The Rényi divergence of order α between N(f, σ² I) and N(f', σ² I) is α ‖f − f'‖₂²/(2σ²), at most α
Δ₂²/(2σ²) = αρ. Rows e₁ and e₂ (1 and 0 in dimension 1) attain the bound αρ at every order.

Proof: proofs/paper/gaussian.md
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import (
    Array,
    DataSet,
    Number,
    Vector,
    column_squares,
    fewest_rows,
    require_shape,
    shape_of,
    sized_unit_rows,
)
from covassay.reference.mechanisms.counted import (
    CountedNoise,
    RowsAndSumOutput,
    gaussian_count_scale,
    gaussian_share,
    parts_of,
    with_counts,
)
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import VectorOutput
from covassay.reference.mechanisms.parameters import Dimension, LargeRows, Neighbours, Rho, RowBound, checked
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend, zcdp_of_gaussian
from covassay.reference.sensitivity import square_root

# FORMULAS: `privacy.zcdp_of_gaussian` says what a given σ spends.


def noise_scale(sensitivity: Number, rho: Number) -> Number:
    """The noise scale σ = Δ₂/√(2ρ)."""
    return sensitivity / (2 * rho) ** 0.5


def second_moments_sensitivity(n: Number, d: int, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """The sensitivity Δ₂ of (Σ_11, …, Σ_dd): √2/n, or 1/n in dimension 1."""
    return sqrt(2 if d > 1 else 1) / n


# MECHANISM

COUNTED = RowsAndSumOutput(power=0, entries="vector")


def perturb(value: Array, noise: Array, *, sensitivity: float, rho: float) -> Array:
    """Return `value` + (Δ₂/√(2ρ)) `noise`, where `value` is any array and `noise` is standard normal, of the same
    shape.
    """
    perturbed: Array = value + noise_scale(sensitivity, rho) * require_shape("noise", noise, np.shape(value))
    return perturbed


@checked
def release(
    x: DataSet,
    noise: Vector | CountedNoise,
    *,
    rho: Rho,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
    adjacency: Neighbours = "replace-one",
) -> Vector:
    """Release the noisy second moment of every feature, given standard normal noise of shape (d,). Under add-remove,
    given a `CountedNoise`, release the noisy number of rows and the noisy sums of squares.
    """
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows, fewest_rows(adjacency))
    count, own = parts_of(noise, adjacency)

    # 1. QUERY
    divisor = n if adjacency == "replace-one" else 1
    moments = (np.zeros(d) + column_squares(rows)) / divisor

    # 2. NOISE
    share = 0.0 if adjacency == "replace-one" else gaussian_share(d)
    change = second_moments_sensitivity(n, d) if adjacency == "replace-one" else 1.0
    noisy = perturb(moments, own, sensitivity=change, rho=(1 - share) * rho)
    noisy_rows = n + (gaussian_count_scale(rho, share) if share else 0.0) * count

    # 3. RELEASE
    released: Vector = noisy * row_bound**2
    return released if adjacency == "replace-one" else COUNTED.packed(noisy_rows, released)


@checked
def draw_noise(
    dimension: int, rng: np.random.Generator, size: int | None = None, *, adjacency: Neighbours = "replace-one"
) -> Any:
    """Return the noise that `release` takes, (d,) or (size, d); under add-remove, a `CountedNoise`."""
    noise = rng.standard_normal(dimension if size is None else (size, dimension))
    return noise if adjacency == "replace-one" else with_counts(rng.standard_normal(size), noise, size)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: Rho,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
    adjacency: Neighbours = "replace-one",
) -> Vector:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, or n ≥ 0 under add-remove, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    rho : ρ in [1e-30, 1e30], the budget.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.
    adjacency : which data sets are neighbours: with "replace-one" those that differ in one row, and n is public; with
        "add-remove" those that differ by one added or removed row, and the number of rows gets noise.

    Returns
    -------
    (d,), in the unit of x squared. Under add-remove the output has shape (1 + d,), with the noisy number of rows and
    the noisy sums of squares.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ρ-zCDP for the chosen adjacency, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x, fewest_rows(adjacency))
    noise = draw_noise(d, rng, adjacency=adjacency)
    return release(x, noise, rho=rho, row_bound=row_bound, on_large_rows=on_large_rows, adjacency=adjacency)


@checked
def spend(*, rho: Rho, dimension: Dimension, adjacency: Neighbours = "replace-one") -> Spend:
    """The claimed budget is ρ. The proven budget is ρ, which some neighbours attain in every dimension."""
    if adjacency == "add-remove":
        return Spend(
            ZCDP(rho), ZCDP(rho), True, "adding or removing a row of length 1 along an axis attains the proven budget"
        )
    change = second_moments_sensitivity(1, dimension)
    proven = zcdp_of_gaussian(change, noise_scale(change, rho) ** 2)
    return Spend(
        ZCDP(rho), ZCDP(proven), True, "the rows e₁ and e₂ (1 and 0 if d = 1) attain the proven budget at every order"
    )


ABOUT = About("gaussian", "Gaussian mechanism", "DLY22", "Lemma 3", "reconstructed")
MECHANISM = Mechanism(ABOUT, CONCENTRATED, VectorOutput(power=2), release, draw_noise, sample, spend, counted=COUNTED)
