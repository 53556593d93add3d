"""Gaussian covariance under zCDP: Σ plus symmetric Gaussian noise. DTTZ14 "Analyze Gauss"; DLY22 §3.1 GaussCov.

Release Σ + σW, σ = 1/(n√ρ). W is symmetric, its entries on and above the diagonal are independent:

wigner : all N(0, 1), as in the papers.
goe : N(0, 1) on the diagonal and N(0, 1/2) above it. Ours.

Where σ comes from. Replacing x by y changes nΣ by Δ = x xᵀ − y yᵀ, with ‖Δ‖_F² = s² + t² − 2⟨x, y⟩² ≤ 2 for s = ‖x‖²,
t = ‖y‖². The released triangle is a Gaussian vector with independent entries, so for every order α

    D_α = (α/2) Σ_{i≤j} (Δ_ij/n)²/Var(σW_ij) = (αρ/2) × { ‖Δ‖_F² (goe), (‖Δ‖_F² + Σ_i Δ_ii²)/2 (wigner) }.

Both are at most αρ, because Σ_i Δ_ii² ≤ ‖Δ‖_F² ≤ 2, and both equal it for x = e₁, y = e₂. So either noise spends
exactly ρ, and goe is smaller: half the variance above the diagonal, E‖W‖_F² = d(d + 1)/2 in place of d². (wigner pays
for a vector of upper-triangle entries, whose change is shorter than Δ unless Δ is diagonal.) In dimension 1 two rows
cannot be orthogonal, |Δ| = |s − t| ≤ 1, and half of ρ is spent.

The error is σ‖W‖_F: at most σ ω(d, β) with probability 1 − β. The papers' experiments round the eigenvalues of the
output to [0, 1]; that is post-processing, left to the caller.
"""

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    OnLargeRows,
    require_choice,
    require_dimension,
    require_positive,
    require_symmetric,
    second_moment,
    unit_rows,
)
from covassay.reference.laws import wigner as law
from covassay.reference.laws.wigner import ENSEMBLES, Ensemble
from covassay.reference.mechanisms.legacy import About
from covassay.reference.privacy import ZCDP, Spend
from covassay.reference.tails import eta, omega_sharp

# FORMULAS


def noise_scale(n: Number, rho: Number) -> Number:
    """σ = 1/(n√ρ): (√2/n)/√(2ρ)."""
    return 1 / (n * rho**0.5)


def change_squared(d: int) -> int:
    """Supremum of ‖Δ‖_F² over neighbours: 2, or 1 in dimension 1. Also that of (‖Δ‖_F² + Σ_i Δ_ii²)/2."""
    return 2 if d > 1 else 1


def privacy_loss(rho: Number, d: int) -> Number:
    """The ρ that is spent, with either noise."""
    return rho * change_squared(d) / 2


def frobenius_bound(d: Number, beta: Number, ensemble: str, log: Callable[[Number], Number] = math.log) -> Number:
    """Exceeded by ‖W‖_F with probability at most β."""
    return omega_sharp(d, beta, log) if ensemble == "wigner" else eta(d * (d + 1) / 2, beta, log)


def error_bound(
    n: Number, d: Number, rho: Number, beta: Number, ensemble: str, log: Callable[[Number], Number] = math.log
) -> Number:
    """The Frobenius error exceeds it with probability at most β, on all data."""
    return noise_scale(n, rho) * frobenius_bound(d, beta, ensemble, log)


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
    """Release the noisy second moment, given the noise.

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
    (d, d) symmetric, in the unit of x squared. Not always positive semidefinite.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ρ-zCDP for replacing one row, n public, in real arithmetic.
    Source : DTTZ14 Algorithm 1; DLY22 §3.1; "goe" is ours.
    """
    # VALIDATE
    require_positive("rho", rho)
    require_choice("ensemble", ensemble, ENSEMBLES)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    w = require_symmetric("noise", noise, (d, d))

    # QUERY
    moment = second_moment(rows)

    # NOISE
    noisy: Matrix = moment + noise_scale(n, rho) * w

    # RELEASE
    return noisy * row_bound**2


def draw_noise(dimension: int, rng: np.random.Generator, *, ensemble: Ensemble = "wigner") -> Matrix:
    """The noise that `release` takes."""
    return law.sample(ensemble, dimension, rng)


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
    """Claimed ρ; proven ρ, attained for every order, for d ≥ 2, and ρ/2 for d = 1."""
    require_positive("rho", rho)
    d = require_dimension("dimension", dimension)
    require_choice("ensemble", ensemble, ENSEMBLES)
    return Spend(ZCDP(rho), ZCDP(privacy_loss(rho, d)), True, "for orthonormal rows, at every order")


ABOUT = About(
    name="gauss-cov",
    title="Gaussian covariance",
    paper="DTTZ14",
    algorithm="Algorithm 1 (DLY22 GaussCov)",
    notion="zcdp",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    choices={"ensemble": ENSEMBLES},
)
