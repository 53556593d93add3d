"""Output perturbation for ridge regression: release ŵ + Ru, R a Gamma variable, u a uniform direction.

ŵ = argmin F(w), F(w) = (1/n) Σ_i ½ (w·a_i − y_i)² + α‖w‖². The last column of x is the target y, the others are a; a
row z = (a, y) has norm at most 1. One release serves one target and one α: the baseline for a released second moment
(`covassay.reference.downstream.ridge`), which serves all of them. In the manner of Chaudhuri, Monteleoni and Sarwate
2011, whose own constant needs a loss of bounded slope and does not cover squares.

Where the scale comes from. Let F' be F with one record z replaced by z', and ŵ' its minimiser.

1. F is 2α-strongly convex, so ‖ŵ − ŵ'‖ ≤ ‖∇F(ŵ')‖/(2α), and ∇F(ŵ') = ∇F(ŵ') − ∇F'(ŵ') is 1/n times the difference of
   two gradients g(z) = (w·a − y) a at w = ŵ'.
2. paper: each is at most G = (W + √(W² + 1))/2 for ‖w‖ ≤ W (‖a‖ = sin φ, |y| ≤ cos φ, W sin²φ + sin φ cos φ ≤ G), and
   W = 1/√(2α), because α‖ŵ‖² ≤ F(ŵ) ≤ F(0) ≤ ½. Hence ‖ŵ − ŵ'‖ ≤ G/(αn).
3. tight: with q = (w, −1), g(z) is z zᵀq without its last entry, so ‖g(z) − g(z')‖ ≤ ‖z zᵀ − z'z'ᵀ‖ ‖q‖ ≤ √(W² + 1):
   two opposite gradients of length G cannot both occur. And ‖ŵ‖ ≤ W = 1/(2√(2α(1 + 2α))), for the second moment is
   [[A, b], [bᵀ, v]] ⪰ 0 with trace at most 1, so b = √v A^{1/2}p with ‖p‖ ≤ 1, ‖ŵ‖ = ‖(A + 2α)⁻¹b‖ ≤ √v √λ/(λ + 2α) for
   some λ ≤ 1 − v, and √(λ(1 − λ))/(λ + 2α) is largest at λ = 2α/(1 + 4α). Hence ‖ŵ − ŵ'‖ ≤ √(W² + 1)/(2αn).

The density of the output at w is a constant times exp(−‖w − ŵ‖ε/S) with S the sensitivity, so the loss is at most
ε‖ŵ − ŵ'‖/S ≤ ε. In d − 1 dimensions that is R ~ Gamma(d − 1, S/ε).

Is ε reached? With "tight", for d ≥ 3, as n → ∞: z and z' = (q/‖q‖ ± (e, 0))/√2 with e ⊥ ŵ move ŵ along e by
√(W² + 1)/(2αn), for the other records have no weight there and the curvature is 2α. With "paper" it is not: the share
is the ratio of the two sensitivities, from a quarter (α → 0) to all of ε (α → ∞).
"""

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    OnLargeRows,
    Vector,
    require_choice,
    require_dimension,
    require_positive,
    require_shape,
    second_moment,
    unit_rows,
)
from covassay.reference.downstream.ridge import coefficients
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.privacy import PureDP, Spend

# FORMULAS


def largest_norm(alpha: Number, calibration: str) -> Number:
    """W: 1/√(2α), and tight 1/(2√(2α(1 + 2α)))."""
    return 1 / (2 * alpha) ** 0.5 if calibration == "paper" else 1 / (2 * (2 * alpha * (1 + 2 * alpha)) ** 0.5)


def gradient_change(norm: Number, calibration: str) -> Number:
    """‖g(z) − g(z')‖ for ‖w‖ ≤ W: 2G = W + √(W² + 1), and tight √(W² + 1)."""
    return (norm if calibration == "paper" else 0) + (norm**2 + 1) ** 0.5


def sensitivity(n: Number, alpha: Number, calibration: str) -> Number:
    """S ≥ ‖ŵ − ŵ'‖."""
    return gradient_change(largest_norm(alpha, calibration), calibration) / (2 * alpha * n)


def noise_scale(n: Number, alpha: Number, epsilon: Number, calibration: str) -> Number:
    """S/ε."""
    return sensitivity(n, alpha, calibration) / epsilon


# MECHANISM


def release(
    x: DataSet,
    noise: Vector,
    *,
    epsilon: float,
    calibration: Calibration = "paper",
    alpha: float = 0.1,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Vector:
    """Release the noisy coefficients, given the noise.

    Parameters
    ----------
    x : (n, d), n ≥ 1, d ≥ 2. Records in rows, the target in the last column.
    noise : (d − 1,), density ∝ exp(−‖v‖).
    epsilon : ε > 0.
    calibration : "paper" or "tight".
    alpha : penalty α > 0, of rows divided by the row bound.
    row_bound : r > 0, public, in the unit of x: of whole rows, target included.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d − 1,), without a unit.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, n public, in real arithmetic.
    Source : in the manner of CMS11 Algorithm 1; both sensitivities are derived here.
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    require_choice("calibration", calibration, CALIBRATIONS)
    require_positive("alpha", alpha)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    if d < 2:
        raise InvalidInput("x has 1 column: must have at least one feature and a target")
    v = require_shape("noise", noise, (d - 1,))

    # QUERY
    w = coefficients(second_moment(rows), d - 1, alpha)

    # NOISE
    noisy: Vector = w + noise_scale(n, alpha, epsilon, calibration) * v

    # RELEASE
    return noisy


def draw_noise(dimension: int, rng: np.random.Generator, size: int | None = None) -> Matrix:
    """Density ∝ exp(−‖v‖): a uniform direction times Gamma(k). Shape (k,), or (size, k), k = `dimension`."""
    shape = (1 if size is None else size, dimension)
    gaussians = rng.standard_normal(shape)
    directions = gaussians / np.linalg.norm(gaussians, axis=1, keepdims=True)
    drawn: Matrix = directions * rng.gamma(dimension, size=(shape[0], 1))
    return drawn if size is not None else np.asarray(drawn[0])


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    calibration: Calibration = "paper",
    alpha: float = 0.1,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Vector:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("epsilon", epsilon)
    rows = unit_rows(x, row_bound, on_large_rows)
    noise = draw_noise(max(1, rows.shape[1] - 1), rng)
    return release(
        x,
        noise,
        epsilon=epsilon,
        calibration=calibration,
        alpha=alpha,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


def spend(*, epsilon: float, dimension: int, calibration: Calibration = "paper") -> Spend:
    """Claimed ε; proven ε. How much less "paper" spends depends on α."""
    require_positive("epsilon", epsilon)
    d = require_dimension("dimension", dimension)
    require_choice("calibration", calibration, CALIBRATIONS)
    tight = calibration == "tight"
    remark = "in the limit n → ∞" if tight else "between ε/4 (α → 0) and ε (α → ∞), see the file"
    return Spend(PureDP(epsilon), PureDP(epsilon), tight and d > 2, remark)


ABOUT = About(
    name="output-perturbation",
    title="output perturbation for ridge regression",
    paper="CMS11",
    algorithm="Algorithm 1, for squared loss (ours)",
    notion="pure",
    released="coefficients",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
    choices={"calibration": CALIBRATIONS},
    parameters={"alpha": 0.1},
    degree=0,
    smallest_dimension=2,
)
