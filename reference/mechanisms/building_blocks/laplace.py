"""Laplace mechanism: independent Laplace noise on the second moments of the features. ADK19 Lemma 3 (DMNS 2006).

1. Compute f_i = Σ_ii = (1/n) Σ_k x_ki², the second moment of feature i.
2. Draw L_1, …, L_d, independent Laplace(1), and add bL to f, with b = Δ₁/ε. The number Δ₁ is the ℓ1 sensitivity of f:
   2/n, or 1/n in dimension 1.
3. Release f + bL. The entries of the output may be negative. Under add-remove the sums Σ_k x_ki² take the place
   of f, and n is released with noise of its own (`counted`).

`perturb` adds Laplace noise to any query whose ℓ1 sensitivity is known.

Why ε-DP. The density of the output at y is a constant times exp(−‖y − f‖₁/b), so by the triangle inequality the privacy
loss is at most ‖f − f'‖₁/b ≤ Δ₁/b = ε. Rows e₁ and e₂ (1 and 0 in dimension 1) attain the loss ε at y = f.

Accuracy. With probability 1 − β no coordinate has an error of more than b ln(d/β).

Proof: proofs/paper/laplace.md
"""

from __future__ import annotations

import math
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
    laplace_count_scale,
    parts_of,
    pure_share,
    with_counts,
)
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import VectorOutput
from covassay.reference.mechanisms.parameters import Dimension, Epsilon, LargeRows, Neighbours, RowBound, checked
from covassay.reference.privacy import PURE, PureDP, Spend

# FORMULAS


def noise_scale(sensitivity: Number, epsilon: Number) -> Number:
    """The noise scale b = Δ₁/ε."""
    return sensitivity / epsilon


def privacy_loss(change: Number, scale: Number) -> Number:
    """The supremum over outputs of the privacy loss between neighbours with ‖f − f'‖₁ = `change`."""
    return change / scale


def second_moments_sensitivity(n: Number, d: int) -> Number:
    """The sensitivity Δ₁ of (Σ_11, …, Σ_dd): 2/n, or 1/n in dimension 1."""
    return (2 if d > 1 else 1) / n


def largest_error(scale: Number, k: Number, beta: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """The bound b ln(k/β), which the largest of k errors exceeds with probability at most β."""
    return scale * log(k / beta)


# MECHANISM

COUNTED = RowsAndSumOutput(power=0, entries="vector")


def perturb(value: Array, noise: Array, *, sensitivity: float, epsilon: float) -> Array:
    """Return `value` + (Δ₁/ε) `noise`, where `value` is any array and `noise` is Laplace(1), of the same shape."""
    perturbed: Array = value + noise_scale(sensitivity, epsilon) * require_shape("noise", noise, np.shape(value))
    return perturbed


@checked
def release(
    x: DataSet,
    noise: Vector | CountedNoise,
    *,
    epsilon: Epsilon,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
    adjacency: Neighbours = "replace-one",
) -> Vector:
    """Release the noisy second moment of every feature, given Laplace(1) noise of shape (d,). Under add-remove, given a
    `CountedNoise`, release the noisy number of rows and the noisy sums of squares.
    """
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows, fewest_rows(adjacency))
    count, own = parts_of(noise, adjacency)

    # 1. QUERY
    divisor = n if adjacency == "replace-one" else 1
    moments = (np.zeros(d) + column_squares(rows)) / divisor

    # 2. NOISE
    share = 0.0 if adjacency == "replace-one" else pure_share(2 * d)
    change = second_moments_sensitivity(n, d) if adjacency == "replace-one" else 1.0
    noisy = perturb(moments, own, sensitivity=change, epsilon=(1 - share) * epsilon)
    noisy_rows = n + (laplace_count_scale(epsilon, share) if share else 0.0) * count

    # 3. RELEASE
    released: Vector = noisy * row_bound**2
    return released if adjacency == "replace-one" else COUNTED.packed(noisy_rows, released)


@checked
def draw_noise(
    dimension: int, rng: np.random.Generator, size: int | None = None, *, adjacency: Neighbours = "replace-one"
) -> Any:
    """Return the noise that `release` takes, (d,) or (size, d); under add-remove, a `CountedNoise`."""
    noise = rng.laplace(size=dimension if size is None else (size, dimension))
    return noise if adjacency == "replace-one" else with_counts(rng.laplace(size=size), noise, size)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
    adjacency: Neighbours = "replace-one",
) -> Vector:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, or n ≥ 0 under add-remove, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-30, 1e30], the budget.
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

    Privacy : the output is ε-DP for the chosen adjacency, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x, fewest_rows(adjacency))
    noise = draw_noise(d, rng, adjacency=adjacency)
    return release(x, noise, epsilon=epsilon, row_bound=row_bound, on_large_rows=on_large_rows, adjacency=adjacency)


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension, adjacency: Neighbours = "replace-one") -> Spend:
    """The claimed budget is ε. The proven budget is ε, which some neighbours attain in every dimension."""
    if adjacency == "add-remove":
        return Spend(
            PureDP(epsilon),
            PureDP(epsilon),
            True,
            "adding or removing a row of length 1 along an axis attains the proven budget",
        )
    change = second_moments_sensitivity(1, dimension)
    proven = privacy_loss(change, noise_scale(change, epsilon))
    return Spend(
        PureDP(epsilon),
        PureDP(proven),
        True,
        "the rows e₁ and e₂ (1 and 0 if d = 1) attain the proven budget at the output y = f",
    )


ABOUT = About("laplace", "Laplace mechanism", "ADK19", "Lemma 3")
MECHANISM = Mechanism(ABOUT, PURE, VectorOutput(power=2), release, draw_noise, sample, spend, counted=COUNTED)
