"""Symmetric nuclear-Laplace noise on the centred covariance: release S + ρZ (after DN25 Algorithm 1, footnote 2).

1. S = (1/n) Σ_i (x_i − x̄)(x_i − x̄)ᵀ with x̄ the mean of the rows: the covariance, with divisor n.
2. Draw a symmetric Z with density ∝ exp(−‖Z‖_*) with respect to Lebesgue measure on the symmetric matrices. Add ρZ
   to S, with ρ = 3√3 (n − 1)/(n²ε), and 4(n − 1)/(n²ε) for d = 1.
3. Release S + ρZ. The output is not always positive semidefinite.

Rows are clipped to the ball about 0, not about their mean. `release` and `sample` take the rows. No function of this
module takes a covariance or a second moment, so the scale ρ cannot be used for a second moment by mistake.

Why ε-DP. Let m be the mean of the n − 1 rows that stay, v = x − m and w = y − m. Replacing x by y changes S by ((n −
1)/n²)(v vᵀ − w wᵀ). This change has nuclear norm p (n − 1)/n² with p = |x − y| |x + y − 2m|. If |x + y| = 2c, then |x −
y| ≤ 2√(1 − c²) and |x + y − 2m| ≤ 2c + 2, so p ≤ 4(1 + c)√(1 − c²) ≤ 3√3, with equality at c = ½ (and p ≤ 4 for d = 1).
The scale ρ is the sensitivity divided by ε. The loss ε is attained if x, y and m are the corners of an equilateral
triangle of side √3 on the unit sphere; for d = 1, if x = 1, y = −1 and m = 1. For n = 1 the covariance of every data
set is 0, and 0 is released.

NOTE: with the scale of the second moment, 2/(nε), this release would spend up to 2.6 ε (2ε for d = 1), because one row
also moves the mean. DN25 footnote 2 says that its results hold for S up to a small constant factor. We derived the
scale ρ, and added the symmetric noise.

Proof: proofs/paper/centred-covariance.md
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import map_rows, require_symmetric, second_moment, shape_of, sized_unit_rows, sum_rows
from covassay.reference.domain.types import Array, DataSet, Matrix, Number, Rows
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import COVARIANCE
from covassay.reference.mechanisms.parameters import Dimension, Epsilon, LargeRows, RowBound, checked
from covassay.reference.privacy import PURE, PureDP, Spend
from covassay.reference.sensitivity import centred_sensitivity

# FORMULAS


def noise_scale(n: Number, d: int, epsilon: Number, sqrt: Callable[[Number], Number] = math.sqrt) -> Number:
    """The noise scale ρ = 3√3 (n − 1)/(n²ε), and 4 (n − 1)/(n²ε) for d = 1."""
    return centred_sensitivity(n, d, sqrt) / epsilon


# MECHANISM


def centred(rows: Rows) -> Rows:
    """Return the rows x_i − x̄. A first pass over the rows computes their mean x̄."""
    mean = sum_rows(lambda block: block.sum(axis=0), rows) / rows.shape[0]
    return map_rows(lambda block: block - mean, rows)


@checked
def release(
    x: DataSet, noise: Matrix, *, epsilon: Epsilon, row_bound: RowBound = 1.0, on_large_rows: LargeRows = "clip"
) -> Matrix:
    """Release the noisy centred covariance, given the noise: a (d, d) symmetric draw of Z."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    z = require_symmetric("noise", noise, (d, d))

    # 1. QUERY
    covariance = second_moment(centred(rows))

    # 2. NOISE
    noisy: Matrix = covariance + noise_scale(n, d, epsilon) * z

    # 3. RELEASE
    return noisy * row_bound**2


def draw_noise(dimension: int, rng: np.random.Generator, size: int | None = None) -> Array:
    """Return the noise that `release` takes, (d, d) or (size, d, d), symmetric."""
    return law.sample(dimension, rng, size, symmetric=True)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-30, 1e30], the budget.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    (d, d), symmetric, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ε-DP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(x, noise, epsilon=epsilon, row_bound=row_bound, on_large_rows=on_large_rows)


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension) -> Spend:
    """The claimed budget is ε. The proven budget is ε, attained for every n ≥ 2."""
    triangle = "rows at the corners of an equilateral triangle on the sphere of radius r"
    where = "x = r, y = −r and other rows r" if dimension == 1 else triangle
    return Spend(PureDP(epsilon), PureDP(epsilon), True, f"the loss at Y = r²S is ε for {where}")


ABOUT = About(
    "centred-covariance",
    "nuclear-Laplace perturbation of the centred covariance",
    "DN25",
    "Algorithm 1 and footnote 2, centred (ours)",
    "ours",
)
MECHANISM = Mechanism(
    ABOUT,
    PURE,
    COVARIANCE,
    release,
    draw_noise,
    sample,
    spend,
    unranked=(
        "it estimates the centred covariance, not the second moment. Its noise is that of nuclear-laplace-symmetric "
        "times a factor, which is 3√3/2 (1 − 1/n) for d ≥ 2, and 2 (1 − 1/n) for d = 1"
    ),
)
