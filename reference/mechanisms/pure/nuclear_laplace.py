"""Nuclear-Laplace perturbation: release Σ + ρZ, density of Z ∝ exp(−‖Z‖_*). DN25 Algorithm 1.

Σ = (1/n) Σ_i x_i x_iᵀ, and Z is a full d × d matrix: the output is neither symmetric nor positive semidefinite (see
`nuclear_laplace_symmetric` and `covassay.reference.projections`).

Where the scale comes from. Replacing one row changes Σ by Δ/n with ‖Δ‖_* ≤ 2 (`sensitivity`, attained by orthonormal
rows). The density of the output at Y is a constant times exp(−‖Y − Σ‖_*/ρ), so by the triangle inequality the privacy
loss at every Y is

    (‖Y − Σ'‖_* − ‖Y − Σ‖_*) / ρ ≤ ‖Σ − Σ'‖_* / ρ ≤ 2 / (nρ),

which is ε for ρ = 2/(nε) (DN25 Theorem 3). It is attained: at Y = Σ the loss is exactly ‖Δ‖_*/(nρ). In dimension 1
no two rows are orthogonal, ‖Δ‖_* ≤ 1, and the mechanism spends ε/2.

Accuracy. ‖Z‖_* ~ Gamma(d², ρ) and E‖Z‖_F² are exact (`covassay.reference.laws.nuclear_laplace`); ‖ρZ‖ → πρd. NOTE: DN25
Theorem 6 (‖Z‖ ≤ 1.1 ρd with high probability) and the constant 3 of Theorem 1 for p > 3.07 are refuted.
"""

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    OnLargeRows,
    require_dimension,
    require_positive,
    require_shape,
    second_moment,
    unit_rows,
)
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.mechanism import About
from covassay.reference.privacy import PureDP, Spend

# FORMULAS


def noise_scale(n: Number, epsilon: Number) -> Number:
    """ρ = 2/(nε), for rows in the unit ball."""
    return 2 / (n * epsilon)


def privacy_loss(nuclear_change: Number, n: Number, scale: Number) -> Number:
    """Supremum over outputs of the loss between neighbours with ‖Δ‖_* = `nuclear_change`."""
    return nuclear_change / (n * scale)


# MECHANISM


def release(
    x: DataSet,
    noise: Matrix,
    *,
    epsilon: float,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Release the noisy second moment, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : (d, d), a draw of Z at ρ = 1.
    epsilon : ε > 0.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d), in the unit of x squared. Not symmetric.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, n public, in real arithmetic.
    Source : DN25 Algorithm 1 and Theorem 3.
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    z = require_shape("noise", noise, (d, d))

    # QUERY
    moment = second_moment(rows)

    # NOISE
    noisy: Matrix = moment + noise_scale(n, epsilon) * z

    # RELEASE
    return noisy * row_bound**2


def draw_noise(dimension: int, rng: np.random.Generator, size: int | None = None) -> Matrix:
    """The noise that `release` takes: (d, d), or (size, d, d)."""
    return law.sample(dimension, rng, size)


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("epsilon", epsilon)
    rows = unit_rows(x, row_bound, on_large_rows)
    noise = draw_noise(rows.shape[1], rng)
    return release(x, noise, epsilon=epsilon, row_bound=row_bound, on_large_rows=on_large_rows)


def spend(*, epsilon: float, dimension: int) -> Spend:
    """Claimed ε; proven ε, attained, for d ≥ 2, and ε/2 for d = 1."""
    require_positive("epsilon", epsilon)
    change = 2 if require_dimension("dimension", dimension) > 1 else 1
    proven = privacy_loss(change, 1, noise_scale(1, epsilon))
    return Spend(PureDP(epsilon), PureDP(proven), True, "at Y = Σ, for orthonormal rows")


ABOUT = About(
    name="nuclear-laplace",
    title="nuclear-Laplace perturbation",
    paper="DN25",
    algorithm="Algorithm 1",
    notion="pure",
    released="matrix",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
)
