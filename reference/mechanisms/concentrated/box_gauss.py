"""Number of rows, mean and covariance of bounded columns, from one noisy vector of moments, under zCDP. Ours.

1. Compute the sums of 1, u_j, u_j² − 1 and u_i u_j (i < j) over all rows, for the columns u scaled to [−1, 1].
2. Every kind of sum has a public weight. S is the largest ℓ2 distance between the sums of two neighbours, each sum
   times its weight. Let σ = S/√(2ρ). Add independent Gaussian noise, of standard deviation σ/w to a sum of weight w.
   The number of rows n gets no noise under replace-one, where it is public.
3. Divide the noisy sums by max(1, n), for the noisy n under add-remove. Release n, the mean, and the second moment less
   the product of the means, in the units of the data. The covariance need not be positive semidefinite, and the mean
   need not lie within the bounds.

Why ρ-zCDP. Multiplied by its weight, every noisy sum has noise of standard deviation σ. The weighted sums of neighbours
are at most S apart. The Rényi divergence of any order α is therefore at most αS²/(2σ²) = αρ, which some rows attain at
every α. The release is computed from the noisy sums alone.

Weights. A sum of larger weight has less noise, but counts for more in S. The weights of `box_moments.gauss_weights`
make a bound on the error on the worst data small; the proof says in which sense they are best. `box_moments` derives S.

A data set with n = 0 is allowed under add-remove, and refused under replace-one. The covariance of n = 1 row is 0 plus
noise. A value on a bound counts as inside.

Accuracy. Under replace-one the mean squared error is known exactly (`box_moments.squared_error`), and under both
adjacencies every entry has a bound (`error_bound`).

Proof: proofs/paper/box-gauss.md
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from covassay.reference.box_moments import estimates, gauss_weights, l2_squared, moment_sums, spreads
from covassay.reference.domain import (
    Adjacency,
    Array,
    Box,
    DataSet,
    Matrix,
    Number,
    fewest_rows,
    require_symmetric,
    scaled_rows,
    shape_of,
)
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import ROWS_MEAN_COVARIANCE
from covassay.reference.mechanisms.parameters import Bounds, Dimension, Neighbours, Outside, Rho, checked, strict
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend
from covassay.reference.sensitivity import square_root

# FORMULAS: `box_moments` has the weights and the sensitivities.


@strict(adjacency=Neighbours)
def sensitivity(d: int, adjacency: Adjacency, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """The ℓ2 sensitivity S of the weighted sums."""
    return sqrt(l2_squared(d, gauss_weights(d, adjacency, sqrt), adjacency))


@strict(adjacency=Neighbours)
def noise_scale(d: int, rho: Number, adjacency: Adjacency, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """The scale σ = S/√(2ρ) of the noise of a sum with weight 1."""
    return sensitivity(d, adjacency, sqrt) / sqrt(2 * rho)


# MECHANISM


@checked
def release(
    x: DataSet,
    noise: Matrix,
    *,
    rho: Rho,
    bounds: Bounds = None,
    on_outside: Outside = "clip",
    adjacency: Neighbours = "replace-one",
) -> Matrix:
    """Release the number of rows, the mean and the covariance, given a symmetric (d + 1, d + 1) draw of the noise."""
    # VALIDATE
    _, columns = shape_of(x, fewest_rows(adjacency))
    box = Box.of_columns(bounds, columns)
    rows, n, d = scaled_rows(x, box, on_outside, fewest_rows(adjacency))
    z = require_symmetric("noise", noise, (d + 1, d + 1))

    # 1. QUERY
    sums = moment_sums(rows, n, d)

    # 2. NOISE
    weights = gauss_weights(d, adjacency)
    noisy = sums + spreads(noise_scale(d, rho, adjacency), weights, d) * z

    # 3. RELEASE
    return estimates(noisy, box)


def draw_noise(dimension: int, rng: np.random.Generator, size: int | None = None) -> Array:
    """Return the noise that `release` takes, (d + 1, d + 1), N(0, 1) on and above the diagonal, or `size` of them."""
    return wigner.sample_wigner(dimension + 1, rng, size)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: Rho,
    bounds: Bounds = None,
    on_outside: Outside = "clip",
    adjacency: Neighbours = "replace-one",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, or n ≥ 0 under add-remove, d ≥ 1 features; every column between its bounds.
    rng : the source of all randomness.
    rho : ρ in [1e-30, 1e30], the budget.
    bounds : a pair (low, high) for every column, public, in the unit of x; by default (−1, 1) for all.
    on_outside : value "clip" moves an outside value to the nearer bound; "raise" rejects it, which is not private.
    adjacency : which data sets are neighbours: with "replace-one" those that differ in one row, and n is public; with
        "add-remove" those that differ by one added or removed row, and the number of rows gets noise.

    Returns
    -------
    (d + 1, d + 1), symmetric. Entry (0, 0) is the number of rows. The rest of row 0 and of column 0 is the mean, in the
    unit of x. The other entries are the covariance, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a value outside its bounds) is not private.

    Privacy : the output is ρ-zCDP for the chosen adjacency, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x, fewest_rows(adjacency))
    noise = draw_noise(d, rng)
    return release(x, noise, rho=rho, bounds=bounds, on_outside=on_outside, adjacency=adjacency)


@checked
def spend(*, rho: Rho, dimension: Dimension, adjacency: Neighbours = "replace-one") -> Spend:
    """The claimed budget is ρ.

    The proven budget is ρ. In every dimension, some neighbours attain it, under replace-one and under add-remove.
    """
    return Spend(ZCDP(rho), ZCDP(rho), True, "rows on corners of the box attain the proven budget at every order")


ABOUT = About("box-gauss", "bounded columns, Gaussian noise", "ours", "(for columns with public bounds)", "ours")
MECHANISM = Mechanism(
    ABOUT,
    CONCENTRATED,
    ROWS_MEAN_COVARIANCE,
    release,
    draw_noise,
    sample,
    spend,
    domain="box",
    unranked="the mechanism takes columns with public bounds, but the compared mechanisms take rows of bounded length",
)
