"""SeparateCov, pure: noisy eigenvalues on the eigenvectors of a noisy matrix. DLY22 Section 6, Lemma 18.

1. G = Σ + b W, W symmetric with independent Laplace(1) on and above the diagonal (LapCov at ε/2).
2. v_1, …, v_d: eigenvectors of G, its eigenvalues descending.
3. λ̃_i = λ_i(Σ) + (4/(nε)) Laplace(1), clipped to [0, 1].
4. Release Σ_i λ̃_i v_i v_iᵀ.

The order in step 2 is by value, with sign. The code of the authors takes an SVD of G, which orders by |value|: G is not
positive semidefinite, and a large negative eigenvalue then takes the place of a large positive one. Less accurate, as
private.

Where the scales come from. Replacing x by y changes Σ by Δ/n. G costs Σ_{i≤j} |Δ_ij|/(nb) ≤ s/(nb), with s = ½√((d +
2)² + 4⌊d²/4⌋) (`lap_cov`); the eigenvalues move by at most ‖Δ‖_*/n ≤ 2/n in ℓ1 (Mirsky) and cost at most ε/2. One pair
reaches both: x, y orthonormal with Σ_{i≤j} |Δ_ij| = s, and all other rows copies of them, more of x than of y: then x
and y are eigenvectors of Σ, and their eigenvalues move by exactly ±1/n. So for d ≥ 2 the pair (G, λ̃) spends s/(nb) +
ε/2.

paper : b = 2√2 d/(nε). Spends 0.895 ε, 0.819 ε, 0.783 ε in dimension 2, 4, 8, and 3ε/4 in the limit. Claimed: ε.
tight : b = 2s/(nε). Spends ε (ours).

In dimension 1 the output does not depend on G, and the one eigenvalue moves by at most 1/n: ε/4.

Error. With u_i = λ_i(Σ) − v_iᵀΣv_i, ‖Σ_i λ_i v_i v_iᵀ − Σ‖_F² = 2 Σ λ_i u_i, and Weyl's inequality gives
v_iᵀΣv_i = λ_i(G) − b v_iᵀWv_i ≥ λ_i(Σ) − 2b‖W‖. So ‖output − Σ‖_F ≤ 2 √(tr Σ · b‖W‖) + ‖λ̃ − λ‖, always.
"""

from dataclasses import dataclass

import numpy as np

from covassay.reference import tails
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
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.mechanisms.pure import lap_cov
from covassay.reference.privacy import PureDP, Spend
from covassay.reference.sensitivity import triangle_l1

# FORMULAS


def matrix_scale(n: Number, d: int, epsilon: Number, calibration: str) -> Number:
    """b: LapCov's scale at ε/2."""
    return lap_cov.noise_scale(n, d, epsilon / 2, calibration)


def eigenvalue_scale(n: Number, epsilon: Number) -> Number:
    """2/(nε') with ε' = ε/2."""
    return 4 / (n * epsilon)


def privacy_loss(triangle: Number, eigenvalues: Number, n: Number, b: Number, c: Number) -> Number:
    """Bound on the loss of (G, λ̃), from the ℓ1 changes of the upper triangle and of the eigenvalues of nΣ."""
    return triangle / (n * b) + eigenvalues / (n * c)


def error_bound(trace: Number, matrix_noise: Number, eigenvalue_noise: Number) -> Number:
    """‖output − Σ‖_F ≤ 2 √(tr Σ · ‖bW‖) + ‖λ̃ − λ‖, from the sizes of the two noises."""
    return 2 * (trace * matrix_noise) ** 0.5 + eigenvalue_noise


def likely_error(
    n: Number, d: int, epsilon: Number, trace: Number, beta: Number, calibration: str, log: tails.Log = np.log
) -> Number:
    """The bound with probability 1 − β, d ≥ 2: in the paper √(8√2 d tr υ/(nε)) + 4η/(nε), both at β/2 (Lemma 18).

    υ and η with the constants of the authors' code, see `tails`.
    """
    matrix_noise = matrix_scale(n, d, epsilon, calibration) * tails.upsilon_laplace(d, beta / 2, log)
    eigenvalue_noise = eigenvalue_scale(n, epsilon) * tails.eta_laplace(d, beta / 2, log)
    return error_bound(trace, matrix_noise, eigenvalue_noise)


# MECHANISM


@dataclass(frozen=True)
class SeparateCovPureNoise:
    """`matrix` (d, d) symmetric, Laplace(1) on and above the diagonal; `eigenvalues` (d,): Laplace(1)."""

    matrix: Matrix
    eigenvalues: Vector


def release(
    x: DataSet,
    noise: SeparateCovPureNoise,
    *,
    epsilon: float,
    calibration: Calibration = "paper",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Release noisy eigenvalues on the eigenvectors of a noisy matrix, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : see `SeparateCovPureNoise`.
    epsilon : ε > 0.
    calibration : "paper" or "tight".
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d) symmetric, in the unit of x squared, with eigenvalues in [0, r²].

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, n public, in real arithmetic (proven: less with "paper").
    Source : DLY22 Algorithm 2 with the noise of Section 6, Lemma 18; the account and "tight" are ours.
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    require_choice("calibration", calibration, CALIBRATIONS)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    w = require_symmetric("noise.matrix", noise.matrix, (d, d))
    laplace = require_shape("noise.eigenvalues", noise.eigenvalues, (d,))

    # QUERY
    moment = second_moment(rows)
    eigenvalues = np.linalg.eigvalsh(moment)[::-1]

    # NOISE
    _, ascending = np.linalg.eigh(moment + matrix_scale(n, d, epsilon, calibration) * w)
    vectors = ascending[:, ::-1]
    noisy = np.clip(eigenvalues + eigenvalue_scale(n, epsilon) * laplace, 0.0, 1.0)

    # RELEASE
    matrix = (vectors * noisy) @ vectors.T
    released: Matrix = (matrix + matrix.T) / 2 * row_bound**2
    return released


def draw_noise(dimension: int, rng: np.random.Generator) -> SeparateCovPureNoise:
    """The noise that `release` takes."""
    return SeparateCovPureNoise(wigner.sample_laplace(dimension, rng), np.asarray(rng.laplace(size=dimension)))


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    calibration: Calibration = "paper",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("epsilon", epsilon)
    rows = unit_rows(x, row_bound, on_large_rows)
    return release(
        x,
        draw_noise(rows.shape[1], rng),
        epsilon=epsilon,
        calibration=calibration,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


def spend(*, epsilon: float, dimension: int, calibration: Calibration = "paper") -> Spend:
    """Claimed ε; proven s/(nb) + ε/2, and ε/4 in dimension 1."""
    require_positive("epsilon", epsilon)
    d = require_dimension("dimension", dimension)
    require_choice("calibration", calibration, CALIBRATIONS)
    b, c = matrix_scale(1, d, epsilon, calibration), eigenvalue_scale(1, epsilon)
    if d == 1:
        return Spend(PureDP(epsilon), PureDP(privacy_loss(0, 1, 1, b, c)), True, "G is not used")
    remark = "by the pair (G, λ̃); that the output attains it is not claimed"
    return Spend(PureDP(epsilon), PureDP(privacy_loss(triangle_l1(d), 2, 1, b, c)), True, remark)


ABOUT = About(
    name="separate-cov-pure",
    title="SeparateCov, pure",
    paper="DLY22",
    algorithm="Lemma 18",
    notion="pure",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    choices={"calibration": CALIBRATIONS},
)
