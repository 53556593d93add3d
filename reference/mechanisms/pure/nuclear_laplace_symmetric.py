"""Symmetric nuclear-Laplace perturbation: release Σ + ρZ with a symmetric Z. Our variant of DN25 Algorithm 1.

1. Compute Σ = (1/n) Σ_i x_i x_iᵀ.
2. Draw a symmetric Z with density ∝ exp(−‖Z‖_*) with respect to Lebesgue measure on the symmetric matrices. Add ρZ
   to Σ, with ρ = 2/(nε).
3. Release Σ + ρZ. The output is symmetric, but not always positive semidefinite.

Why ε-DP. The proof of `nuclear_laplace` also holds if all matrices are symmetric, as Σ and Z are here: replacing one
row changes Σ by Δ/n with ‖Δ‖_* ≤ 2, and orthonormal rows attain the loss ε. In dimension 1 the mechanism spends ε/2.

Accuracy. The noise has d(d + 1)/2 degrees of freedom in place of d², so for d ≥ 2 the noise is smaller at the same ε:
‖Z‖_* ~ Gamma(d(d + 1)/2), and ‖ρZ‖/(ρd) → π/2 in place of π. For large d the Frobenius error is half of that of the
full noise. We recommend this mechanism wherever the target is symmetric.

Proof: proofs/paper/nuclear-laplace-symmetric.md
"""

from __future__ import annotations

from typing import Any

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    fewest_rows,
    require_symmetric,
    second_moment,
    shape_of,
    sized_unit_rows,
)
from covassay.reference.laws import nuclear_laplace as law
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
from covassay.reference.mechanisms.parameters import Dimension, Epsilon, LargeRows, Neighbours, RowBound, checked
from covassay.reference.mechanisms.pure.nuclear_laplace import count_share, noise_scale, privacy_loss, scale_of_sum
from covassay.reference.privacy import PURE, PureDP, Spend

# FORMULAS: `noise_scale` and `privacy_loss` of `nuclear_laplace`

# MECHANISM

COUNTED = RowsAndSumOutput(power=0, entries="triangle")


@checked
def release(
    x: DataSet,
    noise: Matrix | CountedNoise,
    *,
    epsilon: Epsilon,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
    adjacency: Neighbours = "replace-one",
) -> Matrix:
    """Release the noisy second moment, given the noise: a (d, d) symmetric draw of Z.

    Under replace-one, noise of many draws, (..., d, d), gives one output for each draw.
    """
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows, fewest_rows(adjacency))
    count, own = parts_of(noise, adjacency)
    z = require_symmetric("noise", own, (d, d), stacked=adjacency == "replace-one")

    # 1. QUERY
    query = second_moment(rows) if adjacency == "replace-one" else moment_sum(rows)

    # 2. NOISE
    share = count_share(d, d * (d + 1) / 2)
    noisy: Matrix = (
        query + (noise_scale(n, epsilon) if adjacency == "replace-one" else scale_of_sum(epsilon, share)) * z
    )
    noisy_rows = n + laplace_count_scale(epsilon, share) * count

    # 3. RELEASE
    released: Matrix = noisy * row_bound**2
    return released if adjacency == "replace-one" else COUNTED.packed(noisy_rows, released)


@checked
def draw_noise(
    dimension: int, rng: np.random.Generator, size: int | None = None, *, adjacency: Neighbours = "replace-one"
) -> Any:
    """Return the noise that `release` takes, (d, d) or (size, d, d); under add-remove, a `CountedNoise`."""
    noise = law.sample(dimension, rng, size, symmetric=True)
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
) -> Matrix:
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
    return release(x, noise, epsilon=epsilon, row_bound=row_bound, on_large_rows=on_large_rows, adjacency=adjacency)


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension, adjacency: Neighbours = "replace-one") -> Spend:
    """The claimed budget is ε. The proven budget is ε, attained, for d ≥ 2 or under add-remove, and ε/2 for d = 1."""
    if adjacency == "add-remove":
        return Spend(
            PureDP(epsilon), PureDP(epsilon), True, "adding or removing a row of length 1 attains the proven budget"
        )
    change = 2 if dimension > 1 else 1
    proven = privacy_loss(change, 1, noise_scale(1, epsilon))
    return Spend(
        PureDP(epsilon),
        PureDP(proven),
        True,
        "orthonormal rows (1 and 0 if d = 1) attain the proven budget at the output Y = Σ",
    )


ABOUT = About(
    "nuclear-laplace-symmetric",
    "symmetric nuclear-Laplace perturbation",
    "DN25",
    "Algorithm 1, symmetric variant (ours)",
    "ours",
)
MECHANISM = Mechanism(ABOUT, PURE, SYMMETRIC_SECOND_MOMENT, release, draw_noise, sample, spend, counted=COUNTED)
