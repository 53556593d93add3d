"""Number of rows, mean and covariance of bounded columns, from one noisy vector of moments, under (ε, δ)-DP. Ours.

1. Compute the sums of 1, u_j, u_j² − 1 and u_i u_j (i < j) over all rows, for the columns u scaled to [−1, 1].
2. Every kind of sum has a public weight. Add independent Gaussian noise, of standard deviation σ/w to a sum of weight
   w. The first sum, the number of rows n, gets no noise under replace-one, where n is public.
3. Divide the noisy sums by max(1, n) for the noisy n, and add 1 to the means of u_j² − 1. Release n, the mean, and the
   second moment less the product of the means, in the units of the data. The covariance need not be positive
   semidefinite, and the mean need not lie within the bounds.

Why (ε, δ)-DP. Multiplied by its weight, every noisy sum has noise of standard deviation σ. S is the largest ℓ2 distance
between the weighted sums of neighbours. This release is therefore the Gaussian mechanism with ℓ2 sensitivity S
(`gaussian_approximate`). The smallest δ at ε is Φ(a/2 − ε/a) − e^ε Φ(−a/2 − ε/a), where a = S/σ.

paper : σ/S = √(2 ln(1.25/δ))/ε, for ε ≤ 1 only (DR14 Theorem A.1).
tight : σ/S is the smallest ratio that gives (ε, δ)-DP (Balle–Wang 2018 Theorem 8).

The weights are those of `box_gauss`. `box_moments` proves S for these weights.

A data set with n = 0 is allowed under add-remove, and refused under replace-one. The covariance of n = 1 row is 0 plus
noise. A value on a bound counts as inside.

Accuracy. Under replace-one the mean squared error is known exactly (`box_moments.squared_error`), and under both
adjacencies every entry has a bound (`error_bound`).

Proof: proofs/paper/box-gauss-approximate.md
"""

from __future__ import annotations

import numpy as np

from covassay.reference.box_moments import estimates, gauss_weights, moment_sums, spreads
from covassay.reference.domain import Box, DataSet, Matrix, fewest_rows, require_symmetric, scaled_rows, shape_of
from covassay.reference.mechanisms.building_blocks.gaussian_approximate import (
    ApproximateEpsilon,
    multiplier,
    proven_delta,
)
from covassay.reference.mechanisms.concentrated.box_gauss import draw_noise, sensitivity
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import ROWS_MEAN_COVARIANCE
from covassay.reference.mechanisms.parameters import (
    SMALLEST_PROBABILITY,
    Bounds,
    Calibration,
    Delta,
    Dimension,
    Neighbours,
    Outside,
    checked,
)
from covassay.reference.privacy import APPROXIMATE, ApproximateDP, Spend

# FORMULAS: `box_moments` has the weights and the sensitivities, `gaussian_approximate` the multipliers.

# MECHANISM


@checked
def release(
    x: DataSet,
    noise: Matrix,
    *,
    epsilon: ApproximateEpsilon,
    delta: Delta,
    calibration: Calibration = "paper",
    bounds: Bounds = None,
    on_outside: Outside = "clip",
    adjacency: Neighbours = "replace-one",
) -> Matrix:
    """Release the number of rows, the mean and the covariance, given a symmetric (d + 1, d + 1) draw of the noise."""
    # VALIDATE
    standard = multiplier(epsilon, delta, calibration)
    _, columns = shape_of(x, fewest_rows(adjacency))
    box = Box.of_columns(bounds, columns)
    rows, n, d = scaled_rows(x, box, on_outside, fewest_rows(adjacency))
    z = require_symmetric("noise", noise, (d + 1, d + 1))

    # 1. QUERY
    sums = moment_sums(rows, n, d)

    # 2. NOISE
    weights = gauss_weights(d, adjacency)
    noisy = sums + spreads(sensitivity(d, adjacency) * standard, weights, d) * z

    # 3. RELEASE
    return estimates(noisy, box)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: ApproximateEpsilon,
    delta: Delta,
    calibration: Calibration = "paper",
    bounds: Bounds = None,
    on_outside: Outside = "clip",
    adjacency: Neighbours = "replace-one",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, or n ≥ 0 under add-remove, d ≥ 1 features; every column between its bounds.
    rng : the source of all randomness.
    epsilon : ε in [1e-8, 1e12], the budget.
    delta : δ in [1e-300, 1), the additive term of (ε, δ)-DP.
    calibration : value "paper" has the constants of the source; "tight" has less noise, and our proof covers both.
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

    Privacy : the output is (ε, δ)-DP for the chosen adjacency, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x, fewest_rows(adjacency))
    noise = draw_noise(d, rng)
    return release(
        x,
        noise,
        epsilon=epsilon,
        delta=delta,
        calibration=calibration,
        bounds=bounds,
        on_outside=on_outside,
        adjacency=adjacency,
    )


@checked
def spend(
    *,
    epsilon: ApproximateEpsilon,
    delta: Delta,
    dimension: Dimension,
    calibration: Calibration = "paper",
    adjacency: Neighbours = "replace-one",
) -> Spend:
    """The claimed budget is (ε, δ).

    The proven budget is the smallest δ at ε. In every dimension, some neighbours attain it, under replace-one and under
    add-remove.
    """
    exact = proven_delta(1 / multiplier(epsilon, delta, calibration), epsilon)
    return Spend(
        ApproximateDP(epsilon, delta),
        ApproximateDP(epsilon, exact),
        exact > SMALLEST_PROBABILITY,
        "by the event {loss > ε}, for rows on corners of the box",
    )


ABOUT = About(
    "box-gauss-approximate",
    "bounded columns, Gaussian noise, (ε, δ)",
    "ours",
    "(for columns with public bounds)",
    "ours",
)
MECHANISM = Mechanism(
    ABOUT,
    APPROXIMATE,
    ROWS_MEAN_COVARIANCE,
    release,
    draw_noise,
    sample,
    spend,
    domain="box",
    unranked="the mechanism takes columns with public bounds, but the compared mechanisms take rows of bounded length",
)
