"""Projection mechanism: Gaussian covariance, then the nearest possible second moment. NTZ13; DLY22 Appendix C.

1. Σ̃ = Σ + σW, from `gauss_cov`: σ = 1/(n√ρ), and W is symmetric with independent Gaussian entries on and above the
   diagonal. With "wigner", as in the paper, all entries have variance 1. With our form "goe", entries have variance 1
   on the diagonal and 1/2 above it.
2. Release the point of K = {M ⪰ 0, tr M ≤ 1} that is nearest to Σ̃ in Frobenius norm:
   the eigenvectors of Σ̃ stay, and its eigenvalues are projected on the simplex (DLY22 Lemma 19). K is the convex hull
   of the second moments of rows in the unit ball. Up to rounding, the output is positive semidefinite, and its trace
   is at most the square of the row bound.

Why ρ-zCDP. Step 1 is `gauss_cov`, which spends ρ, or ρ/2 in dimension 1; step 2 reads Σ̃ only. The output attains this
budget in the limit of large n, if Σ stays away from the boundary of K: then, with probability tending to 1, Σ̃ is in K
as well, and the projection does not change it.

Accuracy. With probability 1 − β the Frobenius error is at most √(2σ υ(d, β)). This bound is of order
d^{1/4}/(ρ^{1/4}√n), whatever the trace is. The error is never above σ‖W‖_F, the error of `gauss_cov` with the same
noise.

Proof: proofs/paper/projection-mechanism.md
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import DataSet, Matrix, Number, shape_of, unit_rows
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.mechanisms.concentrated.gauss_cov import Ensemble, draw_noise, noise_scale
from covassay.reference.mechanisms.concentrated.separate_cov import spectral_bound
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import Dimension, LargeRows, Rho, RowBound, checked, strict
from covassay.reference.privacy import CONCENTRATED, Spend
from covassay.reference.projections import psd_trace_ball

# FORMULAS: σ and the loss are in `gauss_cov`.


@strict(ensemble=Ensemble)
def error_bound(
    n: Number, d: Number, rho: Number, beta: Number, ensemble: str, log: Callable[[Number], Number] = math.log
) -> Number:
    """The bound √(2συ), which the Frobenius error exceeds with probability at most β, on all data."""
    return (2 * noise_scale(n, rho) * spectral_bound(d, beta, ensemble, log)) ** 0.5


# MECHANISM


@checked
def release(
    x: DataSet,
    noise: Matrix,
    *,
    rho: Rho,
    ensemble: Ensemble = "wigner",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release the projected noisy second moment, given the noise: a symmetric (d, d) draw of W from `ensemble`."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows = unit_rows(x, row_bound, on_large_rows)

    # 1. QUERY and NOISE: Σ̃, by `gauss_cov`
    noisy = gauss_cov.release(rows, noise, rho=rho, ensemble=ensemble)

    # 2. RELEASE
    projected = psd_trace_ball(noisy, 1.0)
    released: Matrix = (projected + projected.T) / 2 * row_bound**2
    return released


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: Rho,
    ensemble: Ensemble = "wigner",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    rho : ρ in [1e-30, 1e30], the budget.
    ensemble : the law of W; "wigner" has variance 1 on and above the diagonal, "goe" 1 on it and 1/2 above it.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    (d, d), symmetric, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ρ-zCDP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng, ensemble=ensemble)
    return release(x, noise, rho=rho, ensemble=ensemble, row_bound=row_bound, on_large_rows=on_large_rows)


@checked
def spend(*, rho: Rho, dimension: Dimension, ensemble: Ensemble = "wigner") -> Spend:
    """The claimed budget is ρ.

    The proven budget is the one that `gauss_cov` spends. The output attains this budget in the limit of large n.
    """
    noisy = gauss_cov.spend(rho=rho, dimension=dimension, ensemble=ensemble)
    return Spend(
        noisy.claimed, noisy.proven, True, "attained in the limit of large n, where the projection changes nothing"
    )


ABOUT = About("projection-mechanism", "projection mechanism", "DLY22", "Appendix C", "reconstructed")
MECHANISM = Mechanism(ABOUT, CONCENTRATED, SYMMETRIC_SECOND_MOMENT, release, draw_noise, sample, spend)
