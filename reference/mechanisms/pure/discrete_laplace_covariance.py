"""Discrete Laplace noise on a second moment of integers, exact to the last bit. CKS20 Algorithm 2; we chose the query.

1. A public map rounds every row to integers q with |q| ≤ 2^b, b = `input_bits`. Compute C = Σ q qᵀ exactly.
2. Draw a symmetric Z whose entries on and above the diagonal are independent integers, P(Z_ij = z) ∝ e^{−|z|/t} with
   t = S/ε. S is the ℓ1 sensitivity of the upper triangle of C, rounded down to a whole number. Add Z to C.
3. Release r² (C + Z)/(n 4^b), where r is the row bound: integers times a public unit.

Once the rows are integers, nothing is rounded until C + Z is known, so low-order bits reveal nothing about the data.
The theorem is about the integers that are released, and assumes fair random bits. The number ε = 0.1 means exactly
1/10.

Why ε-DP. Replacing a row changes C by Δ, and the privacy loss at any output is at most Σ_{i≤j} |Δ_ij|/t. The rows x =
q/2^b lie in the unit ball, so Σ_{i≤j} |Δ_ij| is at most 4^b s with s = ½√((d + 2)² + 4⌊d²/4⌋), or 1 for d = 1
(`sensitivity:triangle_l1`). The sum Σ_{i≤j} |Δ_ij| is a whole number, hence at most S = ⌊4^b s⌋, and the loss is at
most S/t = ε.

The steps above are for replace-one. Under add-remove, C + Z is not divided by n, and S = 4^b (d + 1)/2, because one row
moves the triangle of C by at most this number in ℓ1. The number n gets discrete Laplace noise of its own, for the
budget ε₀ = ε/(1 + m). The matrix C has the budget ε₁ = ε − ε₀. The whole number m is the ratio ε₁/ε₀ of
`entrywise_laplace` ("triangle", "tight"), rounded.

Accuracy. Rounding rows of length at most r moves an entry of the second moment by at most 2 r² 2^−b. The variance of
Z_ij/(n 4^b) is at most 2(s/(nε))², the variance of the noise of lap-cov with calibration "tight".

Proof: proofs/paper/discrete-laplace-covariance.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, cast

import numpy as np

from covassay.reference.domain import DataSet, IntegerMatrix, Matrix, Number, fewest_rows, require_whole, shape_of
from covassay.reference.domain.exact_data import INPUT_BITS, ExactData, as_written, exact_data, in_units
from covassay.reference.laws import discrete_laplace as law
from covassay.reference.laws.draws_again import draws_again
from covassay.reference.laws.exact_draws import Coins, generator_bits
from covassay.reference.mechanisms.counted import CountedDraws, RowsAndSumOutput, draws_of
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import MatrixOutput
from covassay.reference.mechanisms.parameters import (
    Dimension,
    Epsilon,
    InputBits,
    LargeRows,
    Neighbours,
    RowBound,
    checked,
)
from covassay.reference.privacy import PURE, PureDP, Spend
from covassay.reference.sensitivity import triangle_l1

Noise = Callable[[Fraction], IntegerMatrix]  # a function of the scale t that returns a (d, d) draw

# FORMULAS


def sensitivity(d: int, input_bits: int, isqrt: Callable[[int], int] = math.isqrt) -> Number:
    """The sensitivity S = ⌊4^b s⌋, for the ℓ1 sensitivity s of the upper triangle of x xᵀ on the unit ball."""
    half = 4**input_bits // 2
    return 2 * half * triangle_l1(d, lambda square: Fraction(isqrt(square * half**2), half))


def sensitivity_of_sum(d: int, input_bits: int) -> Number:
    """The sensitivity S under add-remove: 4^b (d + 1)/2, a whole number."""
    return 4**input_bits // 2 * (d + 1)


def count_share(d: int) -> Fraction:
    """The share ε₀/ε = 1/(1 + m) under add-remove; m is the whole number nearest to (d(d + 1)/2)^{2/3}."""
    return Fraction(1, 1 + round((d * (d + 1) / 2) ** (2 / 3)))


def noise_scale(change: Number, epsilon: Number) -> Number:
    """The noise scale t = S/ε."""
    return change / epsilon


def privacy_loss(change: Number, scale: Number) -> Number:
    """The supremum of the privacy loss between neighbours whose triangles of C differ by `change` in ℓ1."""
    return change / scale


# MECHANISM

COUNTED = RowsAndSumOutput(power=0, entries="triangle")


def noisy_products(data: ExactData, noise: Noise, epsilon: Number) -> IntegerMatrix:
    """Return the integers C + Z that are released."""
    scale = noise_scale(sensitivity(data.d, data.input_bits), as_written(epsilon))
    z = require_whole("noise(scale)", noise(scale), data.d)
    noisy: IntegerMatrix = data.products + z
    return noisy


def noisy_rows_and_products(data: ExactData, noise: CountedDraws, epsilon: Number) -> tuple[int, IntegerMatrix]:
    """Return the integers n + Z₀ and C + Z that are released under add-remove."""
    share, whole = count_share(data.d), as_written(epsilon)
    rows = data.n + noise.whole_count(noise_scale(1, share * whole))
    z = require_whole(
        "noise.sum(scale)",
        noise.sum(noise_scale(sensitivity_of_sum(data.d, data.input_bits), (1 - share) * whole)),
        data.d,
    )
    noisy: IntegerMatrix = data.products + z
    return rows, noisy


@checked
def release(
    x: DataSet,
    noise: Noise | CountedDraws,
    *,
    epsilon: Epsilon,
    input_bits: InputBits = INPUT_BITS,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
    adjacency: Neighbours = "replace-one",
) -> Matrix:
    """Release the noisy second moment; `noise` maps the scale t to a symmetric (d, d) draw of Z, Python integers."""
    # VALIDATE
    shape_of(x, fewest_rows(adjacency))

    # 1. QUERY: the same pass over the rows checks them and adds up their products
    data = exact_data(x, row_bound, on_large_rows, input_bits)

    # 2. NOISE
    if adjacency == "replace-one":
        noisy = noisy_products(data, cast(Noise, noise), epsilon)
    else:
        rows, noisy = noisy_rows_and_products(data, draws_of(noise), epsilon)

    # 3. RELEASE
    if adjacency == "replace-one":
        return in_units(noisy, data.unit) * row_bound**2
    return COUNTED.times_bound(COUNTED.packed(float(rows), in_units(noisy, Fraction(1, 4**input_bits))), row_bound)


def draw_matrix(dimension: int, scale: Fraction, rng: np.random.Generator) -> IntegerMatrix:
    """Return a symmetric (d, d) draw of the noise Z, for a given scale t, from the bits of `rng`."""
    return law.symmetric(dimension, scale, Coins(generator_bits(rng)))


def draw_number(scale: Fraction, rng: np.random.Generator) -> int:
    """Return a draw of the noise Z₀ on the number of rows, for a given scale t, from the bits of `rng`."""
    return law.sample(scale, Coins(generator_bits(rng)))


@checked
def draw_noise(dimension: int, rng: np.random.Generator, *, adjacency: Neighbours = "replace-one") -> Any:
    """Return the noise that `release` takes. The noise is a function, and always returns the same matrix for the same
    scale. Under add-remove the noise is a `CountedDraws`.
    """
    noise = draws_again(partial(draw_matrix, dimension), rng)
    return noise if adjacency == "replace-one" else CountedDraws(draws_again(draw_number, rng), noise)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    input_bits: InputBits = INPUT_BITS,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
    adjacency: Neighbours = "replace-one",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`.

    This function is not for production, because the bits of `rng` are not secret.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, or n ≥ 0 under add-remove, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-30, 1e30], the budget.
    input_bits : b, 1 to 24, public: rows are rounded toward zero to multiples of r 2^−b.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.
    adjacency : which data sets are neighbours: with "replace-one" those that differ in one row, and n is public; with
        "add-remove" those that differ by one added or removed row, and the number of rows gets noise.

    Returns
    -------
    (d, d), symmetric, in the unit of x squared. Under add-remove the output is a vector of length 1 + d(d + 1)/2:
    the noisy number of rows, then the upper triangle of the noisy sum, row by row.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ε-DP for the chosen adjacency, in exact integer arithmetic and with fair random bits;
        `spend` returns the proven budget.
    """
    _, d = shape_of(x, fewest_rows(adjacency))
    noise = draw_noise(d, rng, adjacency=adjacency)
    return release(
        x,
        noise,
        epsilon=epsilon,
        input_bits=input_bits,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
        adjacency=adjacency,
    )


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension, adjacency: Neighbours = "replace-one") -> Spend:
    """The claimed and the proven budget are ε.

    For d = 1 some rows attain ε; for larger d rows on the lattice come close to ε if 2^b is large compared with √d.
    Under add-remove, a row of equal entries attains ε if d is a power of 4 and d ≤ 4^b. Here b is the default of
    `input_bits`.
    """
    whole = as_written(epsilon)
    if adjacency == "add-remove":
        share, change = count_share(dimension), sensitivity_of_sum(dimension, INPUT_BITS)
        count = privacy_loss(1, noise_scale(1, share * whole))
        proven = count + privacy_loss(change, noise_scale(change, (1 - share) * whole))
        attained = dimension.bit_count() == 1 and dimension.bit_length() % 2 == 1
        remark = (
            "adding or removing a row of length 1 with equal entries attains the proven budget"
            if attained
            else "rounded to integers, a row of length 1 with equal entries may move the sum by less than the bound"
        )
        return Spend(PureDP(epsilon), PureDP(float(proven)), attained, remark)
    change = sensitivity(dimension, INPUT_BITS)
    proven = privacy_loss(change, noise_scale(change, whole))
    remark = (
        "the rows 1 and 0 attain the proven budget"
        if dimension == 1
        else "rows that are rounded to integers may all move the sum by less than the bound"
    )
    return Spend(PureDP(epsilon), PureDP(float(proven)), dimension == 1, remark)


ABOUT = About("discrete-laplace-covariance", "discrete Laplace covariance", "CKS20", "Algorithm 2", "ours")
MECHANISM = Mechanism(
    ABOUT,
    PURE,
    MatrixOutput(power=2, symmetric=True),
    release,
    draw_noise,
    sample,
    spend,
    lattice=True,
    counted=COUNTED,
    unranked="like lap-cov, but exact to the last bit; rounding the rows adds at most 2d r²/2^b to the error",
)
