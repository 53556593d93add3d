"""Private preconditioning (PPC): find A such that I ⪯ AΣAᵀ ⪯ 1000 I, where I ⪯ Σ ⪯ κI. KLSU19 Algorithm 3.

The rows x_1, …, x_n are from N(0, Σ); privacy does not need this assumption. The bound κ is public.

1. A = I. There are T = max(0, ⌈ln(κ/1000)/ln(1/0.69)⌉) rounds. Round t has the steps 2 and 3, with κ_t = 0.69^{t−1} κ.
2. Z = M + σW with negative eigenvalues set to 0 (`naive_pce` at ρ/T, β/T, κ_t). M = (1/n) Σ y_i y_iᵀ over the images
   y_i = A x_i with ‖y_i‖² ≤ r² = κ_t(d + 2√(dL) + 2L), L = ln(nT/β); W is symmetric, N(0, 1) on and above the diagonal.
3. A ← BA. B (`weak_ppc`) multiplies the eigenvectors of Z by 1/√0.84, or half of that if the eigenvalue is ≥ κ_t/2.
   If there are enough rows, I ⪯ AΣAᵀ ⪯ κ_t I before round t becomes I ⪯ AΣAᵀ ⪯ 0.69 κ_t I after it.
4. Release A. The matrix A is invertible, and in general not symmetric. A row x independent of A has the image A x of
   covariance AΣAᵀ, given A.

Reconstructed: our copy of the paper has neither the pseudocode nor the formulas. We chose the constant 0.69. The
paper's theorem is about a symmetric A. Our A gives a symmetric S = (AᵀA)^{1/2}, and SΣS has the eigenvalues of AΣAᵀ.

Why ρ-zCDP. Given A, replacing one row replaces one image. Replacing one image moves M by at most Δ = √2 r²/n in
Frobenius norm (r²/n for d = 1), so the round costs at most Δ²/(2σ²). The costs of the rounds add up.

reconstructed : σ² = 2Tr⁴/(n²ρ), from the triangle inequality, Δ ≤ 2r²/n. PPC spends at most ρ/2, and ρ/4 for d = 1.
tight : σ² = Tr⁴/(n²ρ). PPC spends at most ρ, and ρ/2 for d = 1. If T = 0, PPC spends 0, less than `spend` returns.

Accuracy. If n ≥ `sufficient_rows`, then I ⪯ AΣAᵀ ⪯ 1000 I except with probability 3β, where β is public. The statement
is our form of KLSU19 Theorem 3.11; we derived the constants.

Proof: proofs/paper/ppc.md
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import (
    Array,
    DataSet,
    Matrix,
    Number,
    Rows,
    as_rows,
    map_rows,
    require_symmetric,
    shape_of,
)
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.gaussian_estimation import naive_pce, weak_ppc
from covassay.reference.mechanisms.gaussian_estimation.naive_pce import Kappa
from covassay.reference.mechanisms.gaussian_estimation.weak_ppc import PROGRESS, SMALLEST_KAPPA
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import MatrixOutput
from covassay.reference.mechanisms.parameters import (
    BetaToShare,
    Dimension,
    ReconstructedCalibration,
    RhoToShare,
    checked,
)
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend

# FORMULAS


def rounds_needed(kappa: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """The number of rounds from κ down to 1000, before it is rounded up: ln(κ/1000)/ln(1/0.69)."""
    return log(kappa / SMALLEST_KAPPA) / log(1 / PROGRESS)


def kappa_of_round(kappa: Number, t: int) -> Number:
    """The bound κ_t = 0.69^{t−1} κ on the variances before round t = 1, 2, …"""
    return PROGRESS ** (t - 1) * kappa


# MECHANISM


def rounds(kappa: float) -> int:
    """Return the number T of rounds, which is 0 if κ ≤ 1000."""
    needed: int = math.ceil(rounds_needed(kappa))
    return max(0, needed)


@checked
def sufficient_rows(
    *, rho: float, dimension: int, kappa: float, beta: float, calibration: ReconstructedCalibration
) -> int:
    """A number of rows that suffices for I ⪯ AΣAᵀ ⪯ 1000 I, except with probability 3β.

    For κ ≤ 1000 there is no round, and any number of rows suffices. For κ ≤ 1000 the function returns its value for T =
    1.
    """
    t = max(1, rounds(kappa))
    return weak_ppc.sufficient_rows(rho=rho, dimension=dimension, calibration=calibration, beta=beta, rounds=t)


def image(a: Matrix, rows: Rows) -> Rows:
    """Return the data set of the images A x_i; for a stack of matrices A, return one data set for each. An image with
    an entry too large for a float becomes 0.
    """

    def apply(block: Matrix) -> Matrix:
        with np.errstate(over="ignore", invalid="ignore"):
            mapped = block @ np.swapaxes(a, -1, -2)
        if not np.isfinite(mapped).all():
            mapped[~np.isfinite(mapped).all(axis=-1)] = 0.0
        return mapped

    return map_rows(apply, rows)


@checked
def precondition(
    rows: Rows, noise: Array, *, rho: float, calibration: ReconstructedCalibration, kappa: float, beta: float
) -> tuple[Matrix, Matrix]:
    """Carry out steps 1 to 3, given the noise of all rounds. Return A and A⁻¹ after the T rounds.

    noise : shape (..., T, d, d). An array with more than three axes is the noise of many draws, and gives A and A⁻¹ for
        each draw.
    """
    t, d = rounds(kappa), rows.shape[1]
    gaussians = require_symmetric("noise", noise, (t, d, d), stacked=True)

    # 1. Set A and A⁻¹ for the first round
    a = inverse = np.zeros((*gaussians.shape[:-3], d, d)) + np.eye(d)

    for i in range(t):
        # 2. QUERY and NOISE: Z, by NaivePCE
        kappa_t = kappa_of_round(kappa, i + 1)
        z = naive_pce.estimate(
            image(a, rows), gaussians[..., i, :, :], rho=rho / t, calibration=calibration, kappa=kappa_t, beta=beta / t
        )

        # 3. A and A⁻¹ for the next round
        b, back = weak_ppc.preconditioner(z, kappa_t)
        a, inverse = b @ a, inverse @ back

    return a, inverse


@checked
def release(
    x: DataSet,
    noise: Array,
    *,
    rho: RhoToShare,
    calibration: ReconstructedCalibration = "reconstructed",
    kappa: Kappa = 1e4,
    beta: BetaToShare = 0.1,
) -> Matrix:
    """Release the preconditioner A, given the noise: one symmetric matrix for every round, (T, d, d).

    Noise of many draws, (..., T, d, d), gives one A for each draw.
    """
    # VALIDATE
    rows = as_rows(x)

    # Steps 1 to 3 are in the function `precondition`, which `pgce` and `pme` call, too.
    a, _ = precondition(rows, noise, rho=rho, calibration=calibration, kappa=kappa, beta=beta)

    # 4. RELEASE
    return a


@checked
def draw_noise(dimension: int, rng: np.random.Generator, *, kappa: Kappa, size: int | None = None) -> Array:
    """Return the noise that `release` takes, one symmetric matrix for every round, (T, d, d), or (size, T, d, d)."""
    t = rounds(kappa)
    gaussians = wigner.sample_wigner(dimension, rng, t if size is None else size * t)
    return gaussians if size is None else gaussians.reshape(size, t, dimension, dimension)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: RhoToShare,
    calibration: ReconstructedCalibration = "reconstructed",
    kappa: Kappa = 1e4,
    beta: BetaToShare = 0.1,
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows of any real numbers.
    rng : the source of all randomness.
    rho : ρ in [1e-27, 1e30], the budget.
    calibration : value "reconstructed" has the constants of our reconstruction; "tight" has sharper ones, also ours.
    kappa : κ in [1, 1e30], public: I ⪯ Σ ⪯ κI, for accuracy only.
    beta : β in [1e-297, 1), public: the probability that the error bound may fail.

    Returns
    -------
    (d, d), in 1/(unit of x).

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error about an entry that is not finite depends on the data, and is
        not private.

    Privacy : the output is ρ-zCDP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng, kappa=kappa)
    return release(x, noise, rho=rho, calibration=calibration, kappa=kappa, beta=beta)


@checked
def spend(*, rho: RhoToShare, dimension: Dimension, calibration: ReconstructedCalibration = "reconstructed") -> Spend:
    """Return the claimed and the proven budget of T rounds, each of which runs NaivePCE with budget ρ/T."""
    proven = naive_pce.spend(rho=rho, dimension=dimension, calibration=calibration).proven
    return Spend(ZCDP(rho), proven, False, "the sum of the budgets of the rounds")


ABOUT = About("ppc", "private preconditioning", "KLSU19", "Algorithm 3", "reconstructed")
MECHANISM = Mechanism(
    ABOUT, CONCENTRATED, MatrixOutput(power=-1), release, draw_noise, sample, spend, domain="space", repeats=True
)
