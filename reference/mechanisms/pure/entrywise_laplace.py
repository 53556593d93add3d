"""Entrywise Laplace noise on the second moment. ADK19 Section 4, the baseline "L".

1. Compute Σ = (1/n) Σ_i x_i x_iᵀ.
2. Draw M with independent Laplace(1) entries: all d² of them ("full", as the paper says; the output is not symmetric),
   or those on and above the diagonal, mirrored below it ("triangle", as in the authors' code). Add bM to Σ.
3. Release Σ + bM. (The paper releases n times the noisy matrix; n is public.)

Why it is private. The privacy loss is at most the ℓ1 change of those entries of nΣ that get noise of their own, divided
by nb, with equality at Y = Σ. The ℓ1 sensitivity is at most √2 d for all entries (attained for even d), and
½√((d + 2)² + 4⌊d²/4⌋) for the triangle; for d = 1 either is 1.

paper : b = 2d/(nε). The mechanism claims ε. It spends at most ε/√2 with "full". With "triangle" it spends 0.559 ε,
    0.451 ε and 0.400 ε for d = 2, 4 and 8.
tight : b = sensitivity/(nε). The mechanism spends ε, but for "full" and odd d > 1 less: √(1 − 1/(2d²)) ε for d = 3
    and 5, and at least (1 − 1/d)ε. The sensitivities are ours.

The steps above are for replace-one. Under add-remove, the sum Σ_i x_i x_iᵀ takes the place of Σ, and n is released with
noise Laplace(1/ε₀), where ε₀ + ε₁ = ε (`count_share`). One row moves all entries of the sum by at most d in ℓ1, the
triangle by (d + 1)/2. With "tight", b is this bound divided by ε₁. With "paper", b = d/ε₁.

Post-processing is free. The paper moves the eigenvalues of the noisy nΣ into [0, n], which
`projections.spectral_interval` does for the symmetric part. The authors' code clips the eigenvalues at 0 and then
scales the matrix so that the largest is n.

Proof: proofs/paper/entrywise-laplace.md
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import numpy as np

from covassay.reference.domain import (
    fewest_rows,
    require_shape,
    require_symmetric,
    second_moment,
    shape_of,
    sized_unit_rows,
)
from covassay.reference.domain.types import DataSet, Matrix, Number
from covassay.reference.laws import wigner
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
from covassay.reference.mechanisms.parameters import (
    Calibration,
    Dimension,
    Epsilon,
    LargeRows,
    Meaning,
    Neighbours,
    RowBound,
    checked,
    strict,
)
from covassay.reference.privacy import PURE, PureDP, Spend
from covassay.reference.sensitivity import cube_root, full_l1, square_root, triangle_l1

Entries = Annotated[
    Literal["full", "triangle"],
    Meaning('"full" draws all d² entries, "triangle" those on and above the diagonal and mirrors them'),
]

# FORMULAS


@strict(entries=Entries)
def sensitivity(d: int, entries: str, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """The ℓ1 sensitivity of the entries of nΣ that get noise of their own (a bound for "full" and odd d > 1)."""
    return full_l1(d, sqrt) if entries == "full" else triangle_l1(d, sqrt)


@strict(entries=Entries, calibration=Calibration)
def noise_scale(
    n: Number, d: int, epsilon: Number, entries: str, calibration: str, sqrt: Callable[[Number], Number] = square_root
) -> Number:
    """The noise scale b: 2d/(nε) with "paper", sensitivity/(nε) with "tight"."""
    return (2 * d if calibration == "paper" else sensitivity(d, entries, sqrt)) / (n * epsilon)


def privacy_loss(change: Number, n: Number, scale: Number) -> Number:
    """The supremum of the privacy loss between neighbours whose noisy entries of nΣ differ by `change` in ℓ1."""
    return change / (n * scale)


def mean_squared_error(d: Number, scale: Number) -> Number:
    """The mean squared error E ‖bM‖_F² = 2 d² b² for "full" and "triangle": all d² entries have variance 2b²."""
    return 2 * d**2 * scale**2


def largest_entry(count: Number, scale: Number, beta: Number, log: Callable[[Number], Number] = np.log) -> Number:
    """The bound b ln(k/β) on the absolute values of all k entries; it holds with probability 1 − β (ADK19 Lemma 3)."""
    return scale * log(count / beta)


@strict(entries=Entries, calibration=Calibration)
def scale_of_sum(d: int, epsilon: Number, entries: str, calibration: str) -> Number:
    """The scale for Σ_i x_i x_iᵀ under add-remove, if `epsilon` is ε₁.

    One row moves the entries by at most d in ℓ1, and the triangle by (d + 1)/2. Only "tight" uses the bound (d + 1)/2.
    With "paper" the scale is d/ε₁ for both choices of entries.
    """
    return ((d + 1) / 2 if entries == "triangle" and calibration == "tight" else d) / epsilon


@strict(entries=Entries, calibration=Calibration)
def count_share(d: int, entries: str, calibration: str, cbrt: Callable[[Number], Number] = cube_root) -> Number:
    """The share ε₀/ε of the number of rows under add-remove."""
    return pure_share(mean_squared_error(d, scale_of_sum(d, 1, entries, calibration)), cbrt)


# MECHANISM


def counted(options: Mapping[str, Any]) -> RowsAndSumOutput:
    """The output under add-remove."""
    return RowsAndSumOutput(power=0, entries=options.get("entries", "full"))


@checked
def release(
    x: DataSet,
    noise: Matrix | CountedNoise,
    *,
    epsilon: Epsilon,
    entries: Entries = "full",
    calibration: Calibration = "paper",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
    adjacency: Neighbours = "replace-one",
) -> Matrix:
    """Release the noisy second moment, given the noise M of shape (d, d), which is symmetric for "triangle"."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows, fewest_rows(adjacency))
    count, own = parts_of(noise, adjacency)
    z = (require_symmetric if entries == "triangle" else require_shape)("noise", own, (d, d))

    # 1. QUERY
    query = second_moment(rows) if adjacency == "replace-one" else moment_sum(rows)

    # 2. NOISE
    share = count_share(d, entries, calibration)
    if adjacency == "replace-one":
        scale = noise_scale(n, d, epsilon, entries, calibration)
    else:
        scale = scale_of_sum(d, (1 - share) * epsilon, entries, calibration)
    noisy: Matrix = query + scale * z
    noisy_rows = n + laplace_count_scale(epsilon, share) * count

    # 3. RELEASE
    released: Matrix = noisy * row_bound**2
    return released if adjacency == "replace-one" else counted({"entries": entries}).packed(noisy_rows, released)


@strict(entries=Entries, adjacency=Neighbours)
def draw_noise(
    dimension: int,
    rng: np.random.Generator,
    entries: Entries = "full",
    size: int | None = None,
    *,
    adjacency: Neighbours = "replace-one",
) -> Any:
    """Return noise for `release`, (d, d), or `size` draws of it, (size, d, d). Under add-remove, the noise is a
    `CountedNoise`, or a list of `size` of them. `release` takes one draw at a time.
    """
    if entries == "triangle":
        noise = wigner.sample_laplace(dimension, rng, size)
    else:
        noise = rng.laplace(size=(dimension, dimension) if size is None else (size, dimension, dimension))
    return noise if adjacency == "replace-one" else with_counts(rng.laplace(size=size), noise, size)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    entries: Entries = "full",
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
    entries : value "full" draws all d² entries, "triangle" those on and above the diagonal and mirrors them.
    calibration : value "paper" has the constants of the source; "tight" has less noise, and our proof covers both.
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
    noise = draw_noise(d, rng, entries=entries, adjacency=adjacency)
    return release(
        x,
        noise,
        epsilon=epsilon,
        entries=entries,
        calibration=calibration,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
        adjacency=adjacency,
    )


@checked
def spend(
    *,
    epsilon: Epsilon,
    dimension: Dimension,
    entries: Entries = "full",
    calibration: Calibration = "paper",
    adjacency: Neighbours = "replace-one",
) -> Spend:
    """The claimed budget is ε.

    The proven budget is sensitivity/(nb), attained except for "full" and odd d > 1.

    Under add-remove the proven budget is ε₀ plus the quotient of the sensitivity for one row and the scale of the sum.
    A row of equal entries attains it.
    """
    if adjacency == "add-remove":
        share = count_share(dimension, entries, calibration)
        one = scale_of_sum(dimension, 1, entries, "tight") / scale_of_sum(dimension, 1, entries, calibration)
        return Spend(
            PureDP(epsilon),
            PureDP(epsilon * (share + (1 - share) * one)),
            True,
            "adding or removing a row of length 1 with equal entries attains the proven budget",
        )
    scale = noise_scale(1, dimension, epsilon, entries, calibration)
    proven = privacy_loss(sensitivity(dimension, entries), 1, scale)
    attained = entries == "triangle" or dimension == 1 or dimension % 2 == 0
    remark = (
        "some neighbours attain the proven budget at the output Y = Σ"
        if attained
        else "the sensitivity √2 d is a bound for odd d"
    )
    return Spend(PureDP(epsilon), PureDP(proven), attained, remark)


ABOUT = About("entrywise-laplace", "entrywise Laplace noise", "ADK19", "Section 4, baseline L")
MECHANISM = Mechanism(ABOUT, PURE, SECOND_MOMENT, release, draw_noise, sample, spend, counted=counted)
