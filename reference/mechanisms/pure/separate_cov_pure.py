"""SeparateCov, pure: noisy eigenvalues on the eigenvectors of a noisy matrix. DLY22 Algorithm 2 and Lemma 18.

1. G = Σ + bW, the output of LapCov at ε/2. W is symmetric, with independent Laplace(1) on and above the diagonal.
2. v_1, …, v_d: the eigenvectors of G, in descending order of its eigenvalues.
3. λ̃_i = λ_i(Σ) + (4/(nε)) Laplace(1), clipped to [0, 1], with λ_1(Σ) ≥ … ≥ λ_d(Σ).
4. Release Σ_i λ̃_i v_i v_iᵀ.

Why ε-DP. Replacing one row changes Σ by Δ/n. G costs Σ_{i≤j} |Δ_ij|/(nb) ≤ s/(nb) with s = ½√((d + 2)² + 4⌊d²/4⌋), as
in `lap_cov`. The eigenvalues move by at most ‖Δ‖_*/n ≤ 2/n in ℓ1 (Mirsky) and cost at most ε/2. For n ≥ 4, one pair of
data sets attains both bounds, so for d ≥ 2 the pair (G, λ̃) spends s/(nb) + ε/2. For d = 1 the output does not use G,
and the mechanism spends ε/4.

paper : b = 2√2 d/(nε). The mechanism claims ε. It spends 0.895 ε, 0.819 ε and 0.783 ε for d = 2, 4 and 8, and the spent
    budget tends to 3ε/4 as d → ∞.
tight : b = 2s/(nε), our choice. The mechanism spends ε.

NOTE: the code of the authors orders the v_i by the absolute values of the eigenvalues of G, some of which may be
negative. A release in the order of |eigenvalue| is equally private, but less accurate.

Accuracy. For every value of the noise, ‖output − Σ‖_F ≤ 2 √(tr Σ · b‖W‖) + ‖λ̃ − λ‖.

Proof: proofs/paper/separate-cov-pure.md
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covassay.reference import tails
from covassay.reference.domain import require_shape, require_symmetric, second_moment, shape_of, sized_unit_rows
from covassay.reference.domain.types import DataSet, Matrix, Number, Vector
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import (
    Calibration,
    Dimension,
    Epsilon,
    LargeRows,
    RowBound,
    checked,
    strict,
)
from covassay.reference.mechanisms.pure import lap_cov
from covassay.reference.privacy import PURE, PureDP, Spend
from covassay.reference.sensitivity import square_root, triangle_l1

# FORMULAS


@strict(calibration=Calibration)
def matrix_scale(
    n: Number, d: int, epsilon: Number, calibration: str, sqrt: Callable[[Number], Number] = square_root
) -> Number:
    """The noise scale b of LapCov at ε/2."""
    return lap_cov.noise_scale(n, d, epsilon / 2, calibration, sqrt)


def eigenvalue_scale(n: Number, epsilon: Number) -> Number:
    """The noise scale 4/(nε): the sensitivity 2/n of the eigenvalues, divided by the budget ε/2."""
    return 4 / (n * epsilon)


def privacy_loss(triangle: Number, eigenvalues: Number, n: Number, b: Number, c: Number) -> Number:
    """A bound on the privacy loss of (G, λ̃), from the ℓ1 changes of the upper triangle and the eigenvalues of nΣ."""
    return triangle / (n * b) + eigenvalues / (n * c)


def error_bound(trace: Number, matrix_noise: Number, eigenvalue_noise: Number) -> Number:
    """The bound 2 √(tr Σ · ‖bW‖) + ‖λ̃ − λ‖ on the Frobenius error, from the sizes of the two noises."""
    return 2 * (trace * matrix_noise) ** 0.5 + eigenvalue_noise


@strict(calibration=Calibration)
def likely_error(
    n: Number, d: int, epsilon: Number, trace: Number, beta: Number, calibration: str, log: tails.Log = np.log
) -> Number:
    """The error bound of Lemma 18 for d ≥ 2, which for "paper" is √(8√2 d tr υ/(nε)) + 4η/(nε), where tr is `trace`.

    The bounds υ and η of `tails`, on the noise of the matrix and of the eigenvalues, have the formulas of the authors'
    code. If each of them holds with probability 1 − β/2, the error bound holds with probability 1 − β. For η this is
    proven. For υ it is not proven, and false for large d.
    """
    matrix_noise = matrix_scale(n, d, epsilon, calibration) * tails.upsilon_laplace(d, beta / 2, log)
    eigenvalue_noise = eigenvalue_scale(n, epsilon) * tails.eta_laplace(d, beta / 2, log)
    return error_bound(trace, matrix_noise, eigenvalue_noise)


# MECHANISM


@dataclass(frozen=True)
class SeparateCovPureNoise:
    """Independent Laplace(1) noise: `matrix` is symmetric, (d, d), and `eigenvalues` is (d,)."""

    matrix: Matrix
    eigenvalues: Vector


@checked
def release(
    x: DataSet,
    noise: SeparateCovPureNoise,
    *,
    epsilon: Epsilon,
    calibration: Calibration = "paper",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release a matrix with eigenvalues in [0, r²], given the noise of the matrix and of the eigenvalues."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    w = require_symmetric("noise.matrix", noise.matrix, (d, d))
    laplace = require_shape("noise.eigenvalues", noise.eigenvalues, (d,))

    # 1. QUERY and NOISE: G
    moment = second_moment(rows)
    g = moment + matrix_scale(n, d, epsilon, calibration) * w

    # 2. v_1, …, v_d, one per column
    _, ascending = np.linalg.eigh(g)
    vectors = ascending[:, ::-1]

    # 3. QUERY and NOISE: λ̃
    eigenvalues = np.linalg.eigvalsh(moment)[::-1]
    noisy = np.clip(eigenvalues + eigenvalue_scale(n, epsilon) * laplace, 0.0, 1.0)

    # 4. RELEASE
    matrix = (vectors * noisy) @ vectors.T
    released: Matrix = (matrix + matrix.T) / 2 * row_bound**2
    return released


def draw_noise(dimension: int, rng: np.random.Generator) -> SeparateCovPureNoise:
    """Return the noise that `release` takes."""
    return SeparateCovPureNoise(wigner.sample_laplace(dimension, rng), np.asarray(rng.laplace(size=dimension)))


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    calibration: Calibration = "paper",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-30, 1e30], the budget.
    calibration : value "paper" has the constants of the source; "tight" has less noise, and our proof covers both.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    (d, d), symmetric, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ε-DP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(x, noise, epsilon=epsilon, calibration=calibration, row_bound=row_bound, on_large_rows=on_large_rows)


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension, calibration: Calibration = "paper") -> Spend:
    """The claimed budget is ε. The proven budget is s/(nb) + ε/2, and ε/4 in dimension 1."""
    b, c = matrix_scale(1, dimension, epsilon, calibration), eigenvalue_scale(1, epsilon)
    if dimension == 1:
        return Spend(PureDP(epsilon), PureDP(privacy_loss(0, 1, 1, b, c)), True, "G is not used")
    remark = "if n ≥ 4, the pair (G, λ̃) attains the proven budget; we do not claim this for the output"
    return Spend(PureDP(epsilon), PureDP(privacy_loss(triangle_l1(dimension), 2, 1, b, c)), True, remark)


ABOUT = About("separate-cov-pure", "SeparateCov, pure", "DLY22", "Lemma 18", "code")
MECHANISM = Mechanism(ABOUT, PURE, SYMMETRIC_SECOND_MOMENT, release, draw_noise, sample, spend)
