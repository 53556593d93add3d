"""Output perturbation for ridge regression: noise on the coefficients, in the manner of CMS11 Algorithm 1.

1. ŵ = argmin F(w), F(w) = (1/n) Σ_i ½ (w·a_i − y_i)² + α‖w‖². The last column of x is the target y, and the other
   columns are the features a. The row bound is for the whole row (a, y).
2. Draw v in R^{d−1} with density ∝ exp(−‖v‖): a uniform direction times a Gamma(d − 1) variable. Add (S/ε)v to ŵ, where
   S ≥ ‖ŵ − ŵ'‖ is a bound on the sensitivity.
3. Release ŵ + (S/ε)v. The coefficients have no unit.

One release serves only one target y and one α. Compare this mechanism with ridge regression from a released second
moment, which serves all targets and all α (`downstream.ridge`). NOTE: the constant of CMS11 is for losses with a
bounded derivative, and that of the squared loss is not bounded. We therefore derived both sensitivities below.

Why ε-DP. F is 2α-strongly convex, so ‖ŵ − ŵ'‖ is at most 1/(2αn) times the distance of the gradients (w·a − y)a of the
two rows at w = ŵ', where ‖w‖ ≤ W: for "paper" because α‖ŵ‖² ≤ F(0) ≤ ½, for "tight" by step 4 of the proof. By the
triangle inequality the privacy loss is at most ε‖ŵ − ŵ'‖/S ≤ ε.

paper : S = (W + √(W² + 1))/(2αn), W = 1/√(2α). Two gradients have a length of at most (W + √(W² + 1))/2 each. The
    mechanism claims ε and spends less: for d ≥ 3, n → ∞, the spent budget tends to ε/4 as α → 0, and to ε as α → ∞.
tight : S = √(W² + 1)/(2αn), W = 1/(2√(2α(1 + 2α))). Two gradients of the largest length cannot be opposite. The
    mechanism spends ε for d ≥ 3 in the limit n → ∞.

Proof: proofs/paper/output-perturbation.md
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from covassay.reference.domain import require_shape, require_target, second_moment, shape_of, sized_unit_rows
from covassay.reference.domain.types import Array, DataSet, Matrix, Number, Vector
from covassay.reference.downstream.ridge import coefficients
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.parameters import (
    Dimension,
    Epsilon,
    LargeRows,
    Meaning,
    RowBound,
    checked,
    positive,
    strict,
)
from covassay.reference.privacy import PURE, PureDP, Spend

Alpha = Annotated[float, positive("α", "public: the penalty on ‖w‖², for rows divided by the row bound")]
GradientBound = Annotated[
    Literal["paper", "tight"],
    Meaning(
        '"paper" adds up bounds on the lengths of two gradients, "tight" has a smaller bound on the distance of the '
        "gradients; both bounds are ours"
    ),
]

# FORMULAS


@strict(calibration=GradientBound)
def largest_norm(alpha: Number, calibration: str) -> Number:
    """The bound W on ‖ŵ‖: 1/√(2α) with "paper", 1/(2√(2α(1 + 2α))) with "tight"."""
    return 1 / (2 * alpha) ** 0.5 if calibration == "paper" else 1 / (2 * (2 * alpha * (1 + 2 * alpha)) ** 0.5)


@strict(calibration=GradientBound)
def gradient_change(norm: Number, calibration: str) -> Number:
    """A bound on the distance of two gradients for ‖w‖ ≤ W: W + √(W² + 1) with "paper", √(W² + 1) with "tight"."""
    return (norm if calibration == "paper" else 0) + (norm**2 + 1) ** 0.5


@strict(calibration=GradientBound)
def sensitivity(n: Number, alpha: Number, calibration: str) -> Number:
    """The bound S on ‖ŵ − ŵ'‖."""
    return gradient_change(largest_norm(alpha, calibration), calibration) / (2 * alpha * n)


@strict(calibration=GradientBound)
def noise_scale(n: Number, alpha: Number, epsilon: Number, calibration: str) -> Number:
    """The scale S/ε by which the noise is multiplied."""
    return sensitivity(n, alpha, calibration) / epsilon


# MECHANISM


@checked
def release(
    x: DataSet,
    noise: Vector,
    *,
    epsilon: Epsilon,
    calibration: GradientBound = "paper",
    alpha: Alpha = 0.1,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Vector:
    """Release the noisy coefficients, given the noise: a draw of v, (d − 1,)."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    require_target(d)
    v = require_shape("noise", noise, (d - 1,))

    # 1. QUERY
    w = coefficients(second_moment(rows), d - 1, alpha)

    # 2. NOISE
    noisy: Vector = w + noise_scale(n, alpha, epsilon, calibration) * v

    # 3. RELEASE
    return noisy


def draw_vector(length: int, rng: np.random.Generator, size: int | None = None) -> Array:
    """Draw v with density ∝ exp(−‖v‖): a uniform direction times Gamma(length). The shape is (length,), or (size,
    length).
    """
    shape = (1 if size is None else size, length)
    gaussians = rng.standard_normal(shape)
    directions = gaussians / np.linalg.norm(gaussians, axis=1, keepdims=True)
    drawn: Matrix = directions * rng.gamma(length, size=(shape[0], 1))
    return drawn if size is not None else np.asarray(drawn[0])


def draw_noise(dimension: int, rng: np.random.Generator, size: int | None = None) -> Array:
    """Return the noise that `release` takes for `dimension` columns, (d − 1,) or (size, d − 1)."""
    return draw_vector(max(1, dimension - 1), rng, size)  # with a single column, `release` raises an error


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    calibration: GradientBound = "paper",
    alpha: Alpha = 0.1,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Vector:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 2 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-30, 1e30], the budget.
    calibration : value "paper" adds up bounds on the lengths of two gradients, "tight" has a smaller bound on the
        distance of the gradients; both bounds are ours.
    alpha : α in [1e-30, 1e30], public: the penalty on ‖w‖², for rows divided by the row bound.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    The coefficients, of shape (d − 1,). They have no unit.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ε-DP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(
        x,
        noise,
        epsilon=epsilon,
        calibration=calibration,
        alpha=alpha,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension, calibration: GradientBound = "paper") -> Spend:
    """The claimed and the proven budget are ε. With "paper" the budget that is spent depends on α."""
    tight = calibration == "tight"
    remark = (
        "for d ≥ 3, some neighbours approach ε as n → ∞"
        if tight
        else "less than ε is spent: for d ≥ 3 and n → ∞, a share of ε that tends to ¼ as α → 0 and to 1 as α → ∞"
    )
    return Spend(PureDP(epsilon), PureDP(epsilon), tight and dimension > 2, remark)


ABOUT = About(
    "output-perturbation",
    "output perturbation for ridge regression",
    "CMS11",
    "Algorithm 1, for squared loss (ours)",
    "ours",
)
MECHANISM = Mechanism(
    ABOUT,
    PURE,
    OUTPUTS["coefficients"],
    release,
    draw_noise,
    sample,
    spend,
    smallest_dimension=2,
    unranked="it releases the coefficients of one regression, and no matrix",
)
