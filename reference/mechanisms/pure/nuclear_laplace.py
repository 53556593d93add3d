"""Nuclear-Laplace perturbation: release Σ + ρZ, where Z has density ∝ exp(−‖Z‖_*). DN25 Algorithm 1.

1. Σ = (1/n) Σ_i x_i x_iᵀ.
2. Draw a full d × d matrix Z with density ∝ exp(−‖Z‖_*) (`laws.nuclear_laplace`). Add ρZ to Σ, with ρ = 2/(nε).
3. Release Σ + ρZ. It is neither symmetric nor positive semidefinite. The output of `nuclear_laplace_symmetric` is
   symmetric, and `projections.psd_cone` makes it positive semidefinite.

Why ε-DP. Replacing one row changes Σ by Δ/n with ‖Δ‖_* ≤ 2, so by the triangle inequality the privacy loss at every
output is at most 2/(nρ) = ε. Orthonormal rows attain it. In dimension 1 no two rows are orthogonal: ‖Δ‖_* ≤ 1, and the
mechanism spends ε/2.

Accuracy. ‖Z‖_* ~ Gamma(d²) and E‖Z‖_F² are known exactly, and ‖ρZ‖/(ρd) → π as d → ∞. NOTE: DN25 Theorem 6 (‖ρZ‖ ≤
1.1 ρd with high probability) and the constant 3 of Theorem 1 for p > 3.07 are refuted.

Proof: proofs/paper/nuclear-laplace.md
"""

from __future__ import annotations

import numpy as np

from covassay.reference.domain import (
    Array,
    DataSet,
    Matrix,
    Number,
    require_shape,
    second_moment,
    shape_of,
    sized_unit_rows,
)
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.reference.mechanisms.parameters import Dimension, Epsilon, LargeRows, RowBound, checked
from covassay.reference.privacy import PURE, PureDP, Spend

# FORMULAS


def noise_scale(n: Number, epsilon: Number) -> Number:
    """ρ = 2/(nε), for rows in the unit ball."""
    return 2 / (n * epsilon)


def privacy_loss(nuclear_change: Number, n: Number, scale: Number) -> Number:
    """Supremum over outputs of the privacy loss between neighbours with ‖Δ‖_* = `nuclear_change`."""
    return nuclear_change / (n * scale)


# MECHANISM


@checked
def release(
    x: DataSet, noise: Matrix, *, epsilon: Epsilon, row_bound: RowBound = 1.0, on_large_rows: LargeRows = "clip"
) -> Matrix:
    """Release the noisy second moment, given the noise: a (d, d) draw of Z."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    z = require_shape("noise", noise, (d, d))

    # 1. QUERY
    moment = second_moment(rows)

    # 2. NOISE
    noisy: Matrix = moment + noise_scale(n, epsilon) * z

    # 3. RELEASE
    return noisy * row_bound**2


def draw_noise(dimension: int, rng: np.random.Generator, size: int | None = None) -> Array:
    """The noise that `release` takes: (d, d), or (size, d, d)."""
    return law.sample(dimension, rng, size)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: the noise is float64.

    Parameters
    ----------
    x : (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-30, 1e30], the budget.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : "clip" scales a row longer than r back to length r; "raise" rejects it, which reads the data.

    Returns
    -------
    (d, d), in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. Whether x is finite, and with "raise" whether its rows are short, is
        read off the data, so not private.

    Privacy : ε-DP (replace-one), n public, in real arithmetic; `spend` has what is proven.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(x, noise, epsilon=epsilon, row_bound=row_bound, on_large_rows=on_large_rows)


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension) -> Spend:
    """The claimed ε; proven are ε, attained, for d ≥ 2, and ε/2 for d = 1."""
    change = 2 if dimension > 1 else 1
    proven = privacy_loss(change, 1, noise_scale(1, epsilon))
    return Spend(PureDP(epsilon), PureDP(proven), True, "at Y = Σ, for orthonormal rows")


ABOUT = About("nuclear-laplace", "nuclear-Laplace perturbation", "DN25", "Algorithm 1")
MECHANISM = Mechanism(ABOUT, PURE, SECOND_MOMENT, release, draw_noise, sample, spend)
