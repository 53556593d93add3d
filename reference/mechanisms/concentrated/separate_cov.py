"""SeparateCov: eigenvectors from one noisy matrix, eigenvalues with noise of their own. DLY22 Algorithm 2.

1. G = Σ + sW with s = √2/(n√ρ). The symmetric Gaussian W is "wigner", as in the paper, or our "goe" (`gauss_cov`). V =
   the eigenvectors v_1, …, v_d of G, in descending algebraic order of its eigenvalues.
2. λ̃_i = λ_i(Σ) + s N_i, where λ_1 ≥ … ≥ λ_d and N ~ N(0, I_d) is independent of W.
3. Release Σ_i λ̃_i v_i v_iᵀ. Eigenvalues are not clipped; the paper's experiments round λ̃ to [0, 1], which is
   post-processing and left to the caller.

Why ρ-zCDP. Step 1 is `gauss_cov` at ρ/2. In step 2, replacing one row moves λ(Σ) by at most ‖Δ‖_F/n ≤ √2/n in ℓ2
(Hoffman–Wielandt; DLY22 Lemma 8), so Gaussian noise of scale s spends ρ/2. For n ≥ 2 and d ≥ 2 some neighbours attain
both bounds, so the pair (G, λ̃) spends exactly ρ. In dimension 1 the release is λ̃ alone, which spends ρ/4.

Accuracy. If ‖W‖ ≤ υ and ‖N‖ ≤ η with probability 1 − β/2 each (`tails`), then with probability 1 − β the Frobenius
error is at most (DLY22 Theorem 1)

    2^{5/4} √(υ tr Σ)/(ρ^{1/4} √n) + √2 η/(√ρ n).

NOTE: the authors' code orders the eigenvectors by |λ(G)| and pairs left with right singular vectors, which differ in
sign where λ(G) < 0. A release from singular vectors is private, but it is a wrong estimate.

Proof: proofs/paper/separate-cov.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import require_shape, require_symmetric, second_moment, shape_of, sized_unit_rows
from covassay.reference.domain.types import DataSet, Matrix, Number, Vector
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.mechanisms.concentrated.gauss_cov import Ensemble
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import Dimension, LargeRows, Rho, RowBound, checked, strict
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend
from covassay.reference.tails import eta, upsilon_goe, upsilon_star

# FORMULAS


def noise_scale(n: Number, rho: Number) -> Number:
    """The noise scale s = √2/(n√ρ) of both steps, which is the scale of `gauss_cov` at ρ/2."""
    return gauss_cov.noise_scale(n, rho / 2)


def privacy_loss(rho: Number, d: int) -> Number:
    """The ρ that the pair (G, λ̃) spends for d ≥ 2, half on each part. For d = 1 the output is λ̃, which spends ρ/4."""
    return rho if d > 1 else rho / 4


def direction_error(n: Number, rho: Number, trace: Number, spectral: Number) -> Number:
    """The bound 2^{5/4} √(tr Σ ‖W‖)/(ρ^{1/4} √n) on ‖VΛVᵀ − Σ‖_F, Λ = diag λ(Σ): the first term of Theorem 1."""
    return 2**1.25 * (trace * spectral) ** 0.5 / (rho**0.25 * n**0.5)


def eigenvalue_error(n: Number, rho: Number, norm: Number) -> Number:
    """The error ‖λ̃ − λ‖ = s‖N‖ = √2 ‖N‖/(√ρ n): the second term of Theorem 1."""
    return noise_scale(n, rho) * norm


@strict(ensemble=Ensemble)
def spectral_bound(d: Number, beta: Number, ensemble: str, log: Callable[[Number], Number] = math.log) -> Number:
    """A bound υ that the spectral norm ‖W‖ exceeds with probability at most β."""
    return upsilon_star(d, beta, log) if ensemble == "wigner" else upsilon_goe(d, beta, log)


@strict(ensemble=Ensemble)
def error_bound(
    n: Number,
    d: Number,
    rho: Number,
    trace: Number,
    beta: Number,
    ensemble: str,
    log: Callable[[Number], Number] = math.log,
) -> Number:
    """A bound that the Frobenius error on data with tr Σ = `trace` exceeds with probability at most β (Theorem 1)."""
    directions = direction_error(n, rho, trace, spectral_bound(d, beta / 2, ensemble, log))
    return directions + eigenvalue_error(n, rho, eta(d, beta / 2, log))


# MECHANISM


@dataclass(frozen=True)
class SeparateCovNoise:
    """The noise of both steps: `matrix` (d, d) is a symmetric draw of W, and `eigenvalues` (d,) a draw of N(0, I_d)."""

    matrix: Matrix
    eigenvalues: Vector


def descending_eigenvectors(matrix: Matrix) -> Matrix:
    """Return orthonormal eigenvectors of a symmetric matrix, one per column, in descending order of their
    eigenvalues, (..., d, d) -> (..., d, d).
    """
    vectors: Matrix = np.linalg.eigh(matrix)[1][..., ::-1]
    return vectors


@checked
def release(
    x: DataSet,
    noise: SeparateCovNoise,
    *,
    rho: Rho,
    ensemble: Ensemble = "wigner",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release the second moment rebuilt from noisy eigenvalues and the eigenvectors of a noisy matrix.

    `noise` is a `SeparateCovNoise` whose matrix was drawn from the same `ensemble`. Noise of many draws, a matrix (...,
    d, d) and eigenvalues (..., d), gives one output for each draw.
    """
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    w = require_symmetric("noise.matrix", noise.matrix, (d, d), stacked=True)
    normal = require_shape("noise.eigenvalues", noise.eigenvalues, w.shape[:-1])

    # 1. QUERY and NOISE: the noisy matrix G, and its eigenvectors V
    moment, scale = second_moment(rows), noise_scale(n, rho)
    vectors = descending_eigenvectors(moment + scale * w)

    # 2. QUERY and NOISE: λ̃
    eigenvalues = np.linalg.eigvalsh(moment)[::-1]
    noisy = eigenvalues + scale * normal

    # 3. RELEASE
    matrix = (vectors * noisy[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    released: Matrix = (matrix + np.swapaxes(matrix, -1, -2)) / 2 * row_bound**2
    return released


@checked
def draw_noise(dimension: int, rng: np.random.Generator, *, ensemble: Ensemble = "wigner") -> SeparateCovNoise:
    """Return the noise that `release` takes."""
    matrix = gauss_cov.draw_noise(dimension, rng, ensemble=ensemble)
    return SeparateCovNoise(matrix, rng.standard_normal(dimension))


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
    """The claimed budget is ρ. The proven budget is ρ for d ≥ 2 and ρ/4 for d = 1."""
    remark = (
        "if n ≥ 2, the pair (G, λ̃) attains the proven budget at every order; we do not claim this for the output"
        if dimension > 1
        else "the output attains the proven budget at every order"
    )
    return Spend(ZCDP(rho), ZCDP(privacy_loss(rho, dimension)), True, remark)


ABOUT = About("separate-cov", "separate eigenvalues and eigenvectors", "DLY22", "Algorithm 2", "reconstructed")
MECHANISM = Mechanism(ABOUT, CONCENTRATED, SYMMETRIC_SECOND_MOMENT, release, draw_noise, sample, spend)
