"""Projection mechanism: Gaussian covariance, then the nearest possible second moment. NTZ13; DLY22 Appendix C.

1. Σ̃ = Σ + σW, as in `gauss_cov`.
2. Release the point of K = {M ⪰ 0, tr M ≤ 1} nearest to Σ̃ in Frobenius norm.

K is the convex hull of the second moments of rows in the unit ball, so it contains Σ. Step 2 is exact: the eigenvectors
of Σ̃ stay and its eigenvalues are projected on the simplex (DLY22 Lemma 19; von Neumann's trace inequality). It reads
Σ̃ only, so the privacy is that of step 1: ρ, attained for large n and Σ in the interior of K, where the projection does
nothing.

Error. Σ̂ is the projection of Σ̃ and Σ ∈ K, so the angle at Σ̂ is not acute: ‖Σ̂ − Σ‖_F² ≤ ⟨σW, Σ̂ − Σ⟩ ≤
σ‖W‖ ‖Σ̂ − Σ‖_* ≤ 2σ‖W‖. So it is at most √(2σ υ(d, β)) with probability 1 − β, of order d^{1/4}/(ρ^{1/4}√n) whatever
the trace, and it is never above σ‖W‖_F, the error of `gauss_cov` on the same noise.
"""

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import DataSet, Matrix, Number, OnLargeRows, require_positive, unit_rows
from covassay.reference.laws.wigner import ENSEMBLES, Ensemble
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.mechanisms.concentrated.gauss_cov import draw_noise, noise_scale
from covassay.reference.mechanisms.concentrated.separate_cov import spectral_bound
from covassay.reference.mechanisms.legacy import About
from covassay.reference.privacy import Spend
from covassay.reference.projections import psd_trace_ball

# FORMULAS: σ and the loss are those of `gauss_cov`.


def error_bound(
    n: Number, d: Number, rho: Number, beta: Number, ensemble: str, log: Callable[[Number], Number] = math.log
) -> Number:
    """√(2συ): the Frobenius error exceeds it with probability at most β, on all data."""
    return (2 * noise_scale(n, rho) * spectral_bound(d, beta, ensemble, log)) ** 0.5


# MECHANISM


def release(
    x: DataSet,
    noise: Matrix,
    *,
    rho: float,
    ensemble: Ensemble = "wigner",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Release the projected noisy second moment, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : (d, d) symmetric, a draw of W.
    rho : ρ > 0.
    ensemble : "wigner" or "goe", the law that `noise` was drawn from.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d) symmetric, in the unit of x squared: positive semidefinite with trace at most r², up to rounding.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ρ-zCDP for replacing one row, n public, in real arithmetic.
    Source : NTZ13; DLY22 Appendix C, Lemma 19; "goe" is ours.
    """
    # VALIDATE
    require_positive("rho", rho)
    rows = unit_rows(x, row_bound, on_large_rows)

    # QUERY
    # NOISE
    noisy = gauss_cov.release(rows, noise, rho=rho, ensemble=ensemble)

    # RELEASE
    projected = psd_trace_ball(noisy, 1.0)
    released: Matrix = (projected + projected.T) / 2 * row_bound**2
    return released


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: float,
    ensemble: Ensemble = "wigner",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("rho", rho)
    rows = unit_rows(x, row_bound, on_large_rows)
    noise = draw_noise(rows.shape[1], rng, ensemble=ensemble)
    return release(x, noise, rho=rho, ensemble=ensemble, row_bound=row_bound, on_large_rows=on_large_rows)


def spend(*, rho: float, dimension: int, ensemble: Ensemble = "wigner") -> Spend:
    """Claimed ρ; proven as for `gauss_cov`."""
    noisy = gauss_cov.spend(rho=rho, dimension=dimension, ensemble=ensemble)
    return Spend(noisy.claimed, noisy.proven, True, "in the limit of large n, where the projection does nothing")


ABOUT = About(
    name="projection-mechanism",
    title="projection mechanism",
    paper="DLY22",
    algorithm="Appendix C",
    notion="zcdp",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    choices={"ensemble": ENSEMBLES},
)
