"""Discrete Gaussian noise on a second moment of integers, exact to the last bit. CKS20 Algorithm 3.

1. A public map takes every row to a row q of integers with |q| ≤ 2^b. Compute C = Σ q qᵀ exactly.
2. Draw a symmetric Z whose entries on and above the diagonal are independent integers, P(Z_ij = z) ∝ e^{−z²/(2σ²)} with
   σ² = S²/(2ρ). S² = 2·16^b is the squared ℓ2 sensitivity of the upper triangle of C (16^b for d = 1). Then add Z to C.
3. Release (C + Z)/(n 4^b). The output is a noisy second moment, in multiples of the public unit 1/(n 4^b).

Once the rows are integers, nothing is rounded until C + Z is known, so low-order bits reveal nothing about the data.
The proof is about the released integers, and assumes that the random bits are fair. A float ρ means the shortest
decimal number that rounds to it: 0.1 means exactly 1/10. The query is ours.

Why ρ-zCDP. Replacing a row changes C by an integer matrix Δ. If the discrete Gaussian is shifted by a whole number m,
the Rényi divergence D_α is at most α m²/(2σ²), its value for the Gaussian, with equality if αm is whole (CKS20).
Entries are independent, so D_α ≤ α Σ_{i≤j} Δ_ij²/(2σ²) ≤ α S²/(2σ²) = αρ. The rows 2^b e₁ and 2^b e₂ attain this bound
at whole orders α.

The steps above are for replace-one. Under add-remove, C + Z is released without the division by n, and S² = 16^b is the
squared ℓ2 sensitivity of the upper triangle of C. The number n gets discrete Gaussian noise of its own, at budget ρ₀ =
ρ/(1 + d). C + Z is released at budget ρ − ρ₀. Adding the row 2^b e₁ attains both bounds at whole orders α.

Accuracy. Rounding rows toward zero moves an entry of the second moment by at most 2·2^−b. Z_ij/(n 4^b) has a variance
of at most 1/(n²ρ), that of the noise of gauss-cov.

Proof: proofs/paper/discrete-gaussian-covariance.md
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, cast

import numpy as np

from covassay.reference.domain import DataSet, IntegerMatrix, Matrix, Number, fewest_rows, require_whole, shape_of
from covassay.reference.domain.exact_data import INPUT_BITS, ExactData, as_written, exact_data, in_units
from covassay.reference.laws import discrete_gaussian as law
from covassay.reference.laws.draws_again import draws_again
from covassay.reference.laws.exact_draws import Coins, generator_bits
from covassay.reference.mechanisms.concentrated.gauss_cov import change_squared
from covassay.reference.mechanisms.counted import CountedDraws, RowsAndSumOutput, draws_of
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import MatrixOutput
from covassay.reference.mechanisms.parameters import Dimension, InputBits, LargeRows, Neighbours, Rho, RowBound, checked
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend

Noise = Callable[[Fraction], IntegerMatrix]  # a function of σ² that returns a (d, d) draw

# FORMULAS


def sensitivity_squared(d: int, input_bits: int) -> Number:
    """The squared sensitivity S², which is the largest Σ_{i≤j} Δ_ij²: 2·16^b, or 16^b for d = 1."""
    return change_squared(d) * 16**input_bits


def sum_squared(input_bits: int) -> Number:
    """The squared sensitivity S² = 16^b under add-remove."""
    return 16**input_bits


def count_share(d: int) -> Fraction:
    """The share ρ₀/ρ = 1/(1 + d) of the number of rows under add-remove."""
    return Fraction(1, 1 + d)


def noise_variance(change: Number, rho: Number) -> Number:
    """The parameter σ² = S²/(2ρ) of the noise."""
    return change / (2 * rho)


def privacy_loss(change: Number, variance: Number) -> Number:
    """The zCDP cost ρ for neighbours whose upper triangles of C have the squared ℓ2 distance `change`."""
    return change / (2 * variance)


# MECHANISM

COUNTED = RowsAndSumOutput(power=0, entries="triangle")


def noisy_products(data: ExactData, noise: Noise, rho: Number) -> IntegerMatrix:
    """Return the integers C + Z that are released."""
    variance = noise_variance(sensitivity_squared(data.d, data.input_bits), as_written(rho))
    z = require_whole("noise(σ²)", noise(variance), data.d)
    noisy: IntegerMatrix = data.products + z
    return noisy


def noisy_rows_and_products(data: ExactData, noise: CountedDraws, rho: Number) -> tuple[int, IntegerMatrix]:
    """Return the integers n + Z₀ and C + Z that are released under add-remove."""
    share, whole = count_share(data.d), as_written(rho)
    rows = data.n + noise.whole_count(noise_variance(1, share * whole))
    z = require_whole(
        "noise.sum(σ²)", noise.sum(noise_variance(sum_squared(data.input_bits), (1 - share) * whole)), data.d
    )
    noisy: IntegerMatrix = data.products + z
    return rows, noisy


@checked
def release(
    x: DataSet,
    noise: Noise | CountedDraws,
    *,
    rho: Rho,
    input_bits: InputBits = INPUT_BITS,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
    adjacency: Neighbours = "replace-one",
) -> Matrix:
    """Release the noisy second moment. The function `noise` maps σ² to a symmetric (d, d) draw of Z, in Python
    integers.
    """
    # VALIDATE
    shape_of(x, fewest_rows(adjacency))

    # 1. QUERY: the same pass over the rows checks them and adds up their products
    data = exact_data(x, row_bound, on_large_rows, input_bits)

    # 2. NOISE
    if adjacency == "replace-one":
        noisy = noisy_products(data, cast(Noise, noise), rho)
    else:
        rows, noisy = noisy_rows_and_products(data, draws_of(noise), rho)

    # 3. RELEASE
    if adjacency == "replace-one":
        return in_units(noisy, data.unit) * row_bound**2
    return COUNTED.times_bound(COUNTED.packed(float(rows), in_units(noisy, Fraction(1, 4**input_bits))), row_bound)


def draw_matrix(dimension: int, variance: Fraction, rng: np.random.Generator) -> IntegerMatrix:
    """Return a symmetric (d, d) draw of the noise Z, for a given σ², from the bits of `rng`."""
    return law.symmetric(dimension, variance, Coins(generator_bits(rng)))


def draw_number(variance: Fraction, rng: np.random.Generator) -> int:
    """Return a draw of the noise Z₀ on the number of rows, for a given σ², from the bits of `rng`."""
    return law.sample(variance, Coins(generator_bits(rng)))


@checked
def draw_noise(dimension: int, rng: np.random.Generator, *, adjacency: Neighbours = "replace-one") -> Any:
    """Return the noise that `release` takes. Calling the noise again with the same σ² returns the same matrix. Under
    add-remove the noise is a `CountedDraws`.
    """
    noise = draws_again(partial(draw_matrix, dimension), rng)
    return noise if adjacency == "replace-one" else CountedDraws(draws_again(draw_number, rng), noise)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: Rho,
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
    rho : ρ in [1e-30, 1e30], the budget.
    input_bits : b, 1 to 24, public: rows are rounded toward zero to multiples of r 2^−b.
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

    Privacy : the output is ρ-zCDP for the chosen adjacency, in exact integer arithmetic and with fair random bits
        (`spend` has the budget).
    """
    _, d = shape_of(x, fewest_rows(adjacency))
    noise = draw_noise(d, rng, adjacency=adjacency)
    return release(
        x, noise, rho=rho, input_bits=input_bits, row_bound=row_bound, on_large_rows=on_large_rows, adjacency=adjacency
    )


@checked
def spend(*, rho: Rho, dimension: Dimension, adjacency: Neighbours = "replace-one") -> Spend:
    """The claimed budget is ρ. The proven budget is ρ, which some neighbours attain at whole orders α."""
    whole = as_written(rho)
    if adjacency == "add-remove":
        share, change = count_share(dimension), sum_squared(INPUT_BITS)
        count = privacy_loss(1, noise_variance(1, share * whole))
        proven = count + privacy_loss(change, noise_variance(change, (1 - share) * whole))
        return Spend(
            ZCDP(rho),
            ZCDP(float(proven)),
            True,
            "adding or removing a row of length 1 along an axis attains the proven budget, if α is whole",
        )
    change = sensitivity_squared(dimension, INPUT_BITS)
    proven = privacy_loss(change, noise_variance(change, whole))
    return Spend(
        ZCDP(rho),
        ZCDP(float(proven)),
        True,
        "the rows e₁ and e₂ (1 and 0 if d = 1) attain the proven budget, if α is whole",
    )


ABOUT = About("discrete-gaussian-covariance", "discrete Gaussian covariance", "CKS20", "Algorithm 3", "ours")
MECHANISM = Mechanism(
    ABOUT,
    CONCENTRATED,
    MatrixOutput(power=2, symmetric=True),
    release,
    draw_noise,
    sample,
    spend,
    lattice=True,
    counted=COUNTED,
    unranked=(
        "like gauss-cov ensemble=wigner, but exact to the last bit; rounding the rows adds at most 2d/2^b to the error"
    ),
)
