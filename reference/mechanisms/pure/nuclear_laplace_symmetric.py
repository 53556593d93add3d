"""Symmetric nuclear-Laplace perturbation: release Σ + ρZ with Z symmetric. A variant of DN25 Algorithm 1.

The same density exp(−‖Z‖_*/ρ), on the symmetric matrices only, where Σ lives. Norm, sensitivity and proof are those of
`nuclear_laplace` word for word: the density of the output at a symmetric Y is a constant times exp(−‖Y − Σ‖_*/ρ), and
‖Δ‖_* ≤ 2 with equality for orthonormal rows, so ρ = 2/(nε) spends exactly ε (ε/2 in dimension 1).

It has d(d + 1)/2 degrees of freedom in place of d², hence less noise at the same ε: ‖Z‖_* ~ Gamma(d(d + 1)/2, ρ),
‖ρZ‖ → (π/2)ρd in place of πρd, and half the Frobenius error for large d. Recommended wherever the target is symmetric.
"""

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    OnLargeRows,
    require_dimension,
    require_positive,
    require_symmetric,
    second_moment,
    unit_rows,
)
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.legacy import About
from covassay.reference.mechanisms.pure.nuclear_laplace import noise_scale, privacy_loss
from covassay.reference.privacy import PureDP, Spend

# FORMULAS: `noise_scale` and `privacy_loss` of `nuclear_laplace`.


def release(
    x: DataSet,
    noise: Matrix,
    *,
    epsilon: float,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Release the noisy second moment, given symmetric noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : (d, d) symmetric, a draw of Z at ρ = 1.
    epsilon : ε > 0.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d) symmetric, in the unit of x squared. Not always positive semidefinite.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, n public, in real arithmetic.
    Source : DN25 Theorem 3, applied to the symmetric matrices (ours).
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    z = require_symmetric("noise", noise, (d, d))

    # QUERY
    moment = second_moment(rows)

    # NOISE
    noisy: Matrix = moment + noise_scale(n, epsilon) * z

    # RELEASE
    return noisy * row_bound**2


def draw_noise(dimension: int, rng: np.random.Generator, size: int | None = None) -> Matrix:
    """The noise that `release` takes: (d, d), or (size, d, d), symmetric."""
    return law.sample(dimension, rng, size, symmetric=True)


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
    name="nuclear-laplace-symmetric",
    title="symmetric nuclear-Laplace perturbation",
    paper="DN25",
    algorithm="Algorithm 1, symmetric variant (ours)",
    notion="pure",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
)
