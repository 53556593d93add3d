"""K-norm mechanism: Σ plus noise with density ∝ exp(−ε‖Z‖_K/Δ_K), for five bodies K. Hardt–Talwar 2010, DN25 Lemma 4.

1. Compute Σ = (1/n) Σ_i x_i x_iᵀ.
2. Draw a symmetric matrix Z with density ∝ exp(−‖Z‖_K) (`laws.k_norm`, which defines the norms). Add (Δ_K/ε) Z to Σ,
   where Δ_K is the largest ‖Σ − Σ'‖_K over data sets in the unit ball that differ in one row.
3. Release the sum. The output is not always positive semidefinite.

Why ε-DP. By the triangle inequality the privacy loss is at most (ε/Δ_K)‖Σ − Σ'‖_K ≤ ε, with equality at Y = Σ.

    body         ‖M‖_K                    nΔ_K                     attained by
    schatten1    Σ|eigenvalues|           2                        orthonormal rows
    covariance   max(tr M₊, tr M₋)        1                        a unit row against a zero row
    l1           Σ_{i≤j} |M_ij|           ½√((d + 2)² + 4⌊d²/4⌋)   `sensitivity.block_pair`
    l2           √(Σ_ij M_ij²)            √2                       orthonormal rows
    linf         max |M_ij|               1                        a unit row along an axis against a zero row

M₊ and M₋ are the positive and the negative part of M = M₊ − M₋. In dimension 1 all norms are |M|, and nΔ_K = 1. Our
covariance body is the convex hull of all changes n(Σ − Σ'), so it is the smallest body for the second moment.
For d ≥ 2 `schatten1` is `nuclear_laplace_symmetric`; for d = 1 it has half of its scale. `l1` is Laplace noise on the
entries on and above the diagonal, mirrored, with a proven scale.

Proof: proofs/paper/k-norm.md
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from covassay.reference.domain import (
    Array,
    DataSet,
    Matrix,
    Number,
    require_symmetric,
    second_moment,
    shape_of,
    sized_unit_rows,
)
from covassay.reference.laws import k_norm as law
from covassay.reference.laws.k_norm import Body
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import Dimension, Epsilon, LargeRows, RowBound, checked, strict
from covassay.reference.privacy import PURE, PureDP, Spend
from covassay.reference.sensitivity import square_root, triangle_l1

# FORMULAS


@strict(body=Body)
def sensitivity(body: str, n: Number, d: int, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """The sensitivity Δ_K, which is the largest ‖Σ − Σ'‖_K over neighbours."""
    if d == 1 or body in ("covariance", "linf"):
        return 1 / n
    if body == "l1":
        return triangle_l1(d, sqrt) / n
    return (2 if body == "schatten1" else sqrt(2)) / n


def noise_scale(change: Number, epsilon: Number) -> Number:
    """The scale Δ_K/ε by which the noise Z is multiplied."""
    return change / epsilon


def privacy_loss(change: Number, scale: Number) -> Number:
    """The supremum over outputs of the privacy loss between neighbours with ‖Σ − Σ'‖_K = `change`."""
    return change / scale


# MECHANISM


@checked
def release(
    x: DataSet,
    noise: Matrix,
    *,
    epsilon: Epsilon,
    body: Body = "schatten1",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release the noisy second moment, given the noise: a (d, d) draw of Z, symmetric.

    Noise of many draws, (..., d, d), gives one output for each draw.
    """
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    z = require_symmetric("noise", noise, (d, d), stacked=True)

    # 1. QUERY
    moment = second_moment(rows)

    # 2. NOISE
    noisy: Matrix = moment + noise_scale(sensitivity(body, n, d), epsilon) * z

    # 3. RELEASE
    return noisy * row_bound**2


@strict(body=Body)
def draw_noise(dimension: int, rng: np.random.Generator, body: Body = "schatten1", size: int | None = None) -> Array:
    """Return the noise that `release` takes, (d, d) or (size, d, d)."""
    return law.sample(body, dimension, rng, size)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    body: Body = "schatten1",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-30, 1e30], the budget.
    body : value "schatten1" or "covariance" or "l1" or "l2" or "linf".
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
    noise = draw_noise(d, rng, body=body)
    return release(x, noise, epsilon=epsilon, body=body, row_bound=row_bound, on_large_rows=on_large_rows)


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension, body: Body = "schatten1") -> Spend:
    """The claimed and the proven budget are ε. For every body in every dimension some neighbours attain ε."""
    change = sensitivity(body, 1, dimension)
    proven = privacy_loss(change, noise_scale(change, epsilon))
    return Spend(PureDP(epsilon), PureDP(proven), True, "some neighbours attain the proven budget at the output Y = Σ")


ABOUT = About("k-norm", "K-norm mechanism", "DN25", "Lemma 4 (Hardt–Talwar)")
MECHANISM = Mechanism(ABOUT, PURE, SYMMETRIC_SECOND_MOMENT, release, draw_noise, sample, spend)
