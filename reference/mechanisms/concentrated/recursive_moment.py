"""Second moment of subsamplable data, in rounds that reduce its condition number. Mahpud, Sheffet 2025, Algorithm 2.

Data are (m, α, β)-subsamplable if, with probability 1 − β, the second moment of m random rows is Σ up to a factor
1 ± α in every direction. κ = R²/λ, where no row is longer than R and no eigenvalue of Σ is below λ > 0. In units of R:

1. Compute Z = Σ + σN, where Σ is the second moment of the rows and N is a symmetric Gaussian matrix. T more rounds
   follow, T = max(0, ⌈ln(κ/(320m))/ln(7/3)⌉), each with the steps 2 and 3. There are K = T + 1 rounds in all.
2. Π has the eigenvectors of Z, with eigenvalue ½ where that of Z is at least 1/(10m), and 1 elsewhere. A row x
   becomes √(8/3) Πx, or that vector scaled to length 1 if it is longer than 1.
3. Compute Z = Σ + σN again, for the second moment Σ of the new rows and a new draw N.
4. Release A⁻¹ZA⁻¹ᵀ, where A is the product of the maps √(8/3) Π of all rounds, and Z is from the last round.

Why ρ-zCDP. In every round the rows are in the unit ball, so replacing one row moves Σ by at most √2/n in Frobenius
norm. A round costs at most (√2/n)²/(2σ²) ≤ ρ/K. Since Π depends on earlier rounds only, the costs add up (adaptive
composition). m and κ matter for accuracy only: privacy holds for any rows.

reconstructed : σ = 4√K/(n√(2ρ)), N(0, 1) on and above the diagonal. This spends ρ/8, or ρ/16 for d = 1.
tight : σ = √K/(n√ρ), N(0, 1/2) above the diagonal (Gaussian orthogonal ensemble). This spends ρ, or ρ/2 for d = 1.

NOTE: our copy of the paper has lost the displayed formulas, among them three lines of the algorithms. The paper works
in units of λ, with the factor √(8/7). A round reduces κ to 3κ/7. In units of R the factor is therefore √(8/3), since
(8/7)/(3/7) = 8/3. We added the shortening of the rows. We divide ρ by K, whereas the paper divides ρ by T. Our α is ½,
the largest value that the paper allows. We proved the paper's results on one map Π, not its utility theorem.

Proof: proofs/paper/recursive-moment.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated

import numpy as np

from covassay.reference.domain import map_rows, require_symmetric, second_moment, shape_of, sized_unit_rows
from covassay.reference.domain.types import Array, DataSet, Matrix, Number, Rows
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import (
    LARGEST,
    Dimension,
    LargeRows,
    ReconstructedCalibration,
    Rho,
    RowBound,
    between,
    checked,
    count,
    strict,
)
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend

LARGEST_SUBSAMPLE = 10**9


Ratio = Annotated[float, between("κ", 1, LARGEST, "public: R²/λ, where λI ⪯ Σ, for accuracy only")]
Subsample = Annotated[
    int, count("m", 1, LARGEST_SUBSAMPLE, "public: m random rows suffice to estimate Σ, for accuracy only")
]

# FORMULAS


def rounds_needed(kappa: Number, m: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """The number of rounds T before it is rounded up: ln(κ/(320m))/ln(7/3)."""
    return log(kappa / (320 * m)) / (log(7) - log(3))


def threshold(m: Number) -> Number:
    """The threshold ψ = 1/(10m): directions with at least this second moment are large."""
    return 1 / (10 * m)


def stretch_squared(shrinking: Number) -> Number:
    """The square of √(8/3) · `shrinking`, which is the factor by which a round stretches an eigenvector of Π.

    The eigenvalue of Π for this eigenvector is `shrinking`, which is ½ or 1.
    """
    return 8 * shrinking**2 / 3


@strict(calibration=ReconstructedCalibration)
def noise_scale(n: Number, rho: Number, rounds: Number, calibration: str) -> Number:
    """The noise scale σ of every round."""
    return 4 * (rounds / (2 * rho)) ** 0.5 / n if calibration == "reconstructed" else (rounds / rho) ** 0.5 / n


@strict(calibration=ReconstructedCalibration)
def privacy_loss(rho: Number, d: int, calibration: str) -> Number:
    """The ρ that all rounds spend together."""
    return rho * (1 if d > 1 else 0.5) * (0.125 if calibration == "reconstructed" else 1)


# MECHANISM


def number_of_rounds(kappa: float, m: int) -> int:
    """Return the number of rounds K, which is 1 if κ ≤ 320m."""
    needed: int = math.ceil(rounds_needed(kappa, m))
    return max(0, needed) + 1


def evened_out(rows: Rows, z: Matrix, m: int) -> tuple[Rows, Matrix]:
    """Return the rows of the next round, and the inverse of the linear map that is applied before the shortening."""
    values, vectors = np.linalg.eigh(z)
    stretch = np.sqrt(stretch_squared(np.where(values >= threshold(m), 0.5, 1.0)))[..., None, :]
    transposed = np.swapaxes(vectors, -1, -2)
    a = (vectors * stretch) @ transposed

    def image(block: Matrix) -> Matrix:
        mapped = block @ a
        shortened: Matrix = mapped / np.maximum(1.0, np.linalg.norm(mapped, axis=-1))[..., None]
        return shortened

    return map_rows(image, rows), (vectors / stretch) @ transposed


@checked
def release(
    x: DataSet,
    noise: Array,
    *,
    rho: Rho,
    calibration: ReconstructedCalibration = "reconstructed",
    kappa: Ratio = 1e4,
    subsample: Subsample = 10,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release the second moment, given the noise (K, d, d): a symmetric matrix N for every round.

    Noise of many draws, (..., K, d, d), gives one output for each draw.
    """
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    rounds = number_of_rounds(kappa, subsample)
    gaussians = require_symmetric("noise", noise, (rounds, d, d), stacked=True)
    scale = noise_scale(n, rho, rounds, calibration)

    # 1. QUERY and NOISE of the first round: compute Z. Before the first map, A⁻¹ is the identity matrix.
    z, inverse = second_moment(rows) + scale * gaussians[..., 0, :, :], np.eye(d)

    for k in range(1, rounds):
        # 2. Compute the rows of this round from Z, and update A⁻¹
        rows, back = evened_out(rows, z, subsample)
        inverse = inverse @ back

        # 3. QUERY and NOISE of this round: compute Z
        z = second_moment(rows) + scale * gaussians[..., k, :, :]

    # 4. RELEASE
    estimate = inverse @ z @ np.swapaxes(inverse, -1, -2)
    released: Matrix = (estimate + np.swapaxes(estimate, -1, -2)) / 2
    return released * row_bound**2


@checked
def draw_noise(
    dimension: int,
    rng: np.random.Generator,
    *,
    calibration: ReconstructedCalibration = "reconstructed",
    kappa: Ratio = 1e4,
    subsample: Subsample = 10,
    size: int | None = None,
) -> Array:
    """Return the noise that `release` takes, (K, d, d) or (size, K, d, d)."""
    ensemble: wigner.Ensemble = "wigner" if calibration == "reconstructed" else "goe"
    rounds = number_of_rounds(kappa, subsample)
    gaussians = wigner.sample(ensemble, dimension, rng, rounds if size is None else size * rounds)
    return gaussians if size is None else gaussians.reshape(size, rounds, dimension, dimension)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: Rho,
    calibration: ReconstructedCalibration = "reconstructed",
    kappa: Ratio = 1e4,
    subsample: Subsample = 10,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    rho : ρ in [1e-30, 1e30], the budget.
    calibration : value "reconstructed" has the constants of our reconstruction; "tight" has sharper ones, also ours.
    kappa : κ in [1, 1e30], public: R²/λ, where λI ⪯ Σ, for accuracy only.
    subsample : m from 1 to 1000000000, public: m random rows suffice to estimate Σ, for accuracy only.
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
    noise = draw_noise(d, rng, calibration=calibration, kappa=kappa, subsample=subsample)
    return release(
        x,
        noise,
        rho=rho,
        calibration=calibration,
        kappa=kappa,
        subsample=subsample,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


@checked
def spend(*, rho: Rho, dimension: Dimension, calibration: ReconstructedCalibration = "reconstructed") -> Spend:
    """The claimed budget is ρ.

    The proven budget is ρ with "tight" and ρ/8 with "reconstructed", and half as much for d = 1.
    """
    remark = (
        "one round attains the proven budget with the rows e₁ and e₂ (1 and 0 if d = 1); with more rounds, if all "
        "other rows are 0, the outputs of all rounds together approach it as n → ∞"
    )
    return Spend(ZCDP(rho), ZCDP(privacy_loss(rho, dimension, calibration)), True, remark)


ABOUT = About(
    "recursive-moment",
    "second moment of subsamplable data, in rounds",
    "Mahpud, Sheffet 2025",
    "Algorithms 1 and 2",
    "reconstructed",
)
MECHANISM = Mechanism(
    ABOUT,
    CONCENTRATED,
    SYMMETRIC_SECOND_MOMENT,
    release,
    draw_noise,
    sample,
    spend,
    unranked="its error depends on whether the data are subsamplable, and this does not follow from n, d and the trace",
)
