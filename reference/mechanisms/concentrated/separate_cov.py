"""SeparateCov: eigenvectors from one noisy matrix, eigenvalues with their own noise. DLY22 Algorithm 2.

1. G = Σ + sW, s = √2/(n√ρ), W symmetric Gaussian ("wigner" as in the paper, or "goe", ours). V = its eigenvectors, in
   descending algebraic order of the eigenvalues.
2. λ̃_i = λ_i(Σ) + s N_i, N ~ N(0, I_d), λ_1 ≥ … ≥ λ_d.
3. Release Σ_i λ̃_i v_i v_iᵀ.

Where s comes from. Step 1 is `gauss_cov` at ρ/2. Step 2: ‖λ(C) − λ(C')‖ ≤ ‖Δ‖_F ≤ √2 (Hoffman–Wielandt; DLY22
Lemma 8) for C = nΣ, so Gaussian noise of scale √2/(n√ρ) = (√2/n)/√(2ρ/2) spends ρ/2. The two noises are independent and
the same pair attains both, x = e₁, y = e₂ beside rows with Σ x_i x_iᵀ = diag(c_1, …, c_d), c_i ≥ c_{i+1} + 1: the pair
(G, λ̃) spends exactly ρ. In dimension 1 there is no direction and the eigenvalue moves by at most 1: ρ/4.

Error. With D = VΛVᵀ − Σ, ‖D‖_F² = 2 Σ_i λ_i (λ_i − v_iᵀΣv_i), and v_iᵀΣv_i = λ_i(G) − s v_iᵀWv_i ≥ λ_i − 2s‖W‖ (Weyl;
here the order must be algebraic). So ‖D‖_F² ≤ 4s‖W‖ tr Σ, and with ‖W‖ ≤ υ(d, β/2), ‖N‖ ≤ η(d, β/2) the error is at
most, with probability 1 − β (DLY22 Theorem 1),

    2^{5/4} √(υ tr Σ)/(ρ^{1/4} √n) + √2 η/(√ρ n).

The authors' code orders the eigenvectors by |λ(G)| and pairs left with right singular vectors, which differ in sign
where λ(G) < 0. That is private, and wrong. Their experiments round λ̃ to [0, 1]: post-processing, left to the caller.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

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
    require_symmetric,
    second_moment,
    unit_rows,
)
from covassay.reference.laws import wigner as law
from covassay.reference.laws.wigner import ENSEMBLES, Ensemble
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.mechanisms.legacy import About
from covassay.reference.privacy import ZCDP, Spend
from covassay.reference.tails import eta, upsilon_goe, upsilon_star

# FORMULAS


def noise_scale(n: Number, rho: Number) -> Number:
    """s of both steps: that of `gauss_cov` at ρ/2."""
    return gauss_cov.noise_scale(n, rho / 2)


def privacy_loss(rho: Number, d: int) -> Number:
    """The ρ that is spent: half of it on G, half on λ̃; ρ/4 in dimension 1."""
    return rho if d > 1 else rho / 4


def direction_error(n: Number, rho: Number, trace: Number, spectral: Number) -> Number:
    """‖VΛVᵀ − Σ‖_F ≤ 2^{5/4} √(tr Σ ‖W‖)/(ρ^{1/4} √n): the first term of Theorem 1."""
    return 2**1.25 * (trace * spectral) ** 0.5 / (rho**0.25 * n**0.5)


def eigenvalue_error(n: Number, rho: Number, norm: Number) -> Number:
    """‖λ̃ − λ‖ = s‖N‖ = √2 ‖N‖/(√ρ n): the second term of Theorem 1."""
    return noise_scale(n, rho) * norm


def spectral_bound(d: Number, beta: Number, ensemble: str, log: Callable[[Number], Number] = math.log) -> Number:
    """Exceeded by ‖W‖ with probability at most β."""
    return upsilon_star(d, beta, log) if ensemble == "wigner" else upsilon_goe(d, beta, log)


def error_bound(
    n: Number,
    d: Number,
    rho: Number,
    trace: Number,
    beta: Number,
    ensemble: str,
    log: Callable[[Number], Number] = math.log,
) -> Number:
    """The Frobenius error on data with tr Σ = `trace` exceeds it with probability at most β (Theorem 1)."""
    directions = direction_error(n, rho, trace, spectral_bound(d, beta / 2, ensemble, log))
    return directions + eigenvalue_error(n, rho, eta(d, beta / 2, log))


# MECHANISM


@dataclass(frozen=True)
class SeparateCovNoise:
    """`matrix` (d, d) symmetric: a draw of W; `eigenvalues` (d,): N(0, 1)."""

    matrix: Matrix
    eigenvalues: Vector


def descending_eigenvectors(matrix: Matrix) -> Matrix:
    """Orthonormal eigenvectors of a symmetric matrix, one a column, that of the largest eigenvalue first."""
    vectors: Matrix = np.linalg.eigh(matrix)[1][:, ::-1]
    return vectors


def release(
    x: DataSet,
    noise: SeparateCovNoise,
    *,
    rho: float,
    ensemble: Ensemble = "wigner",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Release the second moment rebuilt from noisy eigenvalues and the eigenvectors of a noisy matrix.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : see `SeparateCovNoise`.
    rho : ρ > 0.
    ensemble : "wigner" or "goe", the law that `noise.matrix` was drawn from.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d) symmetric, in the unit of x squared. Eigenvalues are not clipped; project as you like.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ρ-zCDP for replacing one row, n public, in real arithmetic.
    Source : DLY22 Algorithm 2, Theorem 1; "goe" is ours.
    """
    # VALIDATE
    require_positive("rho", rho)
    require_choice("ensemble", ensemble, ENSEMBLES)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    w = require_symmetric("noise.matrix", noise.matrix, (d, d))
    normal = require_shape("noise.eigenvalues", noise.eigenvalues, (d,))

    # QUERY
    moment = second_moment(rows)
    eigenvalues = np.linalg.eigvalsh(moment)[::-1]

    # NOISE
    scale = noise_scale(n, rho)
    vectors = descending_eigenvectors(moment + scale * w)
    noisy = eigenvalues + scale * normal

    # RELEASE
    matrix = (vectors * noisy) @ vectors.T
    released: Matrix = (matrix + matrix.T) / 2 * row_bound**2
    return released


def draw_noise(dimension: int, rng: np.random.Generator, *, ensemble: Ensemble = "wigner") -> SeparateCovNoise:
    """The noise that `release` takes."""
    return SeparateCovNoise(law.sample(ensemble, dimension, rng), rng.standard_normal(dimension))


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
    """Claimed ρ; proven ρ for d ≥ 2, and ρ/4 for d = 1."""
    require_positive("rho", rho)
    d = require_dimension("dimension", dimension)
    require_choice("ensemble", ensemble, ENSEMBLES)
    remark = "by the pair (G, λ̃), at every order; that the output attains it is not claimed"
    return Spend(ZCDP(rho), ZCDP(privacy_loss(rho, d)), True, remark)


ABOUT = About(
    name="separate-cov",
    title="separate eigenvalues and eigenvectors",
    paper="DLY22",
    algorithm="Algorithm 2",
    notion="zcdp",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    choices={"ensemble": ENSEMBLES},
)
