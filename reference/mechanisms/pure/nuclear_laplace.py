"""Nuclear-Laplace perturbation: release Σ + ρZ, where Z has density ∝ exp(−‖Z‖_*). DN25 Algorithm 1.

1. Compute Σ = (1/n) Σ_i x_i x_iᵀ.
2. Draw a full d × d matrix Z with density ∝ exp(−‖Z‖_*) (`laws.nuclear_laplace`). Add ρZ to Σ, with ρ = 2/(nε).
3. Release Σ + ρZ. The output is neither symmetric nor positive semidefinite. The output of `nuclear_laplace_symmetric`
   is symmetric, and `projections.psd_cone` makes it positive semidefinite.

Why ε-DP. Replacing one row changes Σ by Δ/n with ‖Δ‖_* ≤ 2, so by the triangle inequality the privacy loss at every
output is at most 2/(nρ) = ε. Orthonormal rows attain the privacy loss ε. In dimension 1 no two rows are orthogonal:
‖Δ‖_* ≤ 1, and the mechanism spends ε/2.

Accuracy. ‖Z‖_* ~ Gamma(d²) and E‖Z‖_F² are known exactly, and ‖ρZ‖/(ρd) → π as d → ∞. NOTE: in DN25, Theorem 6 (‖ρZ‖ ≤
1.1 ρd with high probability) is false, and the constant 3 of Theorem 1 is too small for Schatten norms of order p >
3.073.

Proof: proofs/paper/nuclear-laplace.md
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    fewest_rows,
    require_shape,
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
    pure_share,
    with_counts,
)
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.reference.mechanisms.parameters import Dimension, Epsilon, LargeRows, Neighbours, RowBound, checked
from covassay.reference.privacy import PURE, PureDP, Spend
from covassay.reference.sensitivity import cube_root

# FORMULAS


def noise_scale(n: Number, epsilon: Number) -> Number:
    """The noise scale ρ = 2/(nε), for rows in the unit ball."""
    return 2 / (n * epsilon)


def privacy_loss(nuclear_change: Number, n: Number, scale: Number) -> Number:
    """The supremum over outputs of the privacy loss between neighbours with ‖Δ‖_* = `nuclear_change`."""
    return nuclear_change / (n * scale)


def count_share(d: Number, shape: Number, cbrt: Callable[[Number], Number] = cube_root) -> Number:
    """The share ε₀/ε of the number of rows under add-remove.

    The share with the least error depends on the mean squared norm E‖Z‖_F² of the noise. In place of E‖Z‖_F², this
    function uses its lower bound (E R²)/d = D(D + 1)/d, where R = ‖Z‖_* ~ Gamma(D) and D is `shape`.
    """
    return pure_share(shape * (shape + 1) / d, cbrt)


def scale_of_sum(epsilon: Number, share: Number) -> Number:
    """The scale 1/ε₁ of the noise of Σ_i x_i x_iᵀ under add-remove, where a row moves the sum by at most 1 in ‖·‖_*."""
    return 1 / ((1 - share) * epsilon)


# MECHANISM

COUNTED = RowsAndSumOutput(power=0, entries="full")


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
    """Release the noisy second moment, given the noise: a (d, d) draw of Z.

    Under replace-one, noise of many draws, (..., d, d), gives one output for each draw.
    """
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows, fewest_rows(adjacency))
    count, own = parts_of(noise, adjacency)
    z = require_shape("noise", own, (d, d), stacked=adjacency == "replace-one")

    # 1. QUERY
    query = second_moment(rows) if adjacency == "replace-one" else moment_sum(rows)

    # 2. NOISE
    share = count_share(d, d**2)
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
    noise = law.sample(dimension, rng, size)
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
    (d, d), in the unit of x squared. Under add-remove the output has shape (1 + k,), with the noisy number of rows and
    the k entries of the noisy sum (`counted`).

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
    """The claimed budget is ε. The proven budget is ε/2 for d = 1 under replace-one, and ε otherwise. Some neighbours
    attain it.
    """
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


ABOUT = About("nuclear-laplace", "nuclear-Laplace perturbation", "DN25", "Algorithm 1")
MECHANISM = Mechanism(ABOUT, PURE, SECOND_MOMENT, release, draw_noise, sample, spend, counted=COUNTED)
