"""Number of rows, mean and covariance of bounded columns, from one noisy vector of moments, under pure DP. Ours.

1. Scale the columns to [−1, 1]. Sum the numbers 1, u_j, u_j² − 1 and u_i u_j (i < j) over all scaled rows u.
2. The four kinds of sums have public weights. S is the largest ℓ1 distance between the weighted sums of two neighbours.
   Add independent Laplace noise of scale S/(εw) to each sum, where w is the weight of the sum. The number of rows n
   gets no noise under replace-one, where it is public.
3. Divide the noisy sums by max(1, n), for the noisy n under add-remove. Release n, the mean, and the second moment less
   the product of the means, in the units of the data. The covariance need not be positive semidefinite, and the mean
   need not lie in the box.

Why ε-DP. The weighted sums get Laplace noise of one scale S/ε, and the weighted sums of neighbours are at most S apart.
The privacy loss is therefore at most ε. It is ε for neighbours that are exactly S apart, where the noise of every sum
that differs points away from the neighbour's sum. The release is computed from the noisy sums.

Weights. A sum of larger weight has less noise, but counts for more in S. The weights of `box_moments.laplace_weights`
make a bound on the error for the worst data set small; the proof says in which sense they are best. `box_moments`
derives S. Under replace-one, replacing a corner of the box by a certain row inside the box attains S.

A data set with n = 0 is allowed under add-remove, and refused under replace-one. The covariance of n = 1 row is 0 plus
noise. A value on a bound counts as inside.

Accuracy. Under replace-one the mean squared error is known exactly (`box_moments.squared_error`), and under both
adjacencies every entry has a bound (`error_bound`).

Proof: proofs/paper/box-laplace.md
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from covassay.reference.box_moments import estimates, l1, laplace_weights, moment_sums, spreads
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
from covassay.reference.mechanisms.parameters import Bounds, Dimension, Epsilon, Neighbours, Outside, checked, strict
from covassay.reference.privacy import PURE, PureDP, Spend
from covassay.reference.sensitivity import cube_root, square_root

# FORMULAS: `box_moments` has the weights and the sensitivities.


@strict(adjacency=Neighbours)
def noise_scale(
    d: int,
    epsilon: Number,
    adjacency: Adjacency,
    sqrt: Callable[[Number], Number] = square_root,
    cbrt: Callable[[Number], Number] = cube_root,
) -> Number:
    """The scale S/ε of the noise of a sum with weight 1."""
    return l1(d, laplace_weights(d, adjacency, sqrt, cbrt), adjacency) / epsilon


# MECHANISM


@checked
def release(
    x: DataSet,
    noise: Matrix,
    *,
    epsilon: Epsilon,
    bounds: Bounds = None,
    on_outside: Outside = "clip",
    adjacency: Neighbours = "replace-one",
) -> Matrix:
    """Release the number of rows, the mean and the covariance, given the noise, (d + 1, d + 1), symmetric."""
    # VALIDATE
    _, columns = shape_of(x, fewest_rows(adjacency))
    box = Box.of_columns(bounds, columns)
    rows, n, d = scaled_rows(x, box, on_outside, fewest_rows(adjacency))
    z = require_symmetric("noise", noise, (d + 1, d + 1))

    # 1. QUERY
    sums = moment_sums(rows, n, d)

    # 2. NOISE
    weights = laplace_weights(d, adjacency)
    noisy = sums + spreads(noise_scale(d, epsilon, adjacency), weights, d) * z

    # 3. RELEASE
    return estimates(noisy, box)


def draw_noise(dimension: int, rng: np.random.Generator, size: int | None = None) -> Array:
    """Return the noise of `release`, (d + 1, d + 1), Laplace(1) on and above the diagonal, or `size` of them."""
    return wigner.sample_laplace(dimension + 1, rng, size)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    bounds: Bounds = None,
    on_outside: Outside = "clip",
    adjacency: Neighbours = "replace-one",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, or n ≥ 0 under add-remove, d ≥ 1 features; every column between its bounds.
    rng : the source of all randomness.
    epsilon : ε in [1e-30, 1e30], the budget.
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

    Privacy : the output is ε-DP for the chosen adjacency, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x, fewest_rows(adjacency))
    noise = draw_noise(d, rng)
    return release(x, noise, epsilon=epsilon, bounds=bounds, on_outside=on_outside, adjacency=adjacency)


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension, adjacency: Neighbours = "replace-one") -> Spend:
    """The claimed budget is ε.

    The proven budget is ε, which some neighbours attain in every dimension, for both kinds of neighbours.
    """
    return Spend(
        PureDP(epsilon),
        PureDP(epsilon),
        True,
        "for some neighbours, the loss is ε where the noise moves every sum away from the neighbour's sum",
    )


ABOUT = About("box-laplace", "bounded columns, Laplace noise", "ours", "(for columns with public bounds)", "ours")
MECHANISM = Mechanism(
    ABOUT,
    PURE,
    ROWS_MEAN_COVARIANCE,
    release,
    draw_noise,
    sample,
    spend,
    domain="box",
    unranked="the mechanism takes columns with public bounds, but the compared mechanisms take rows of bounded length",
)
