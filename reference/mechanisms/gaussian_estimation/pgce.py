"""Private covariance of a Gaussian: precondition, then the naive estimator. KLSU19 Algorithm 4 (PGCE).

1. A = PPC(x_1, …, x_n; ρ/2, β/2, κ) (`ppc`). In every round a noisy covariance of the images A x_i shows the directions
   of large variance, and A is changed to shrink them. In the end I ⪯ AΣAᵀ ⪯ 1000 I, if there are enough rows.
2. S = NaivePCE(A x_1, …, A x_n; ρ/2, β/2, 1000) (`naive_pce`). NaivePCE takes the second moment of the images, where
   images longer than a public length count as 0, adds a symmetric Gaussian matrix, and sets negative eigenvalues to 0.
3. Release A⁻¹ S A⁻ᵀ. A⁻¹ is the product of the inverses of the rounds, which are known in closed form, so that no
   matrix has to be inverted numerically.

Reconstructed: the copy of the paper that we had has neither the pseudocode nor the formulas. We chose that each step
gets half of ρ and β.

Why ρ-zCDP. Replacing one row replaces one image in every round. Images longer than a public r count as 0. One image
therefore moves the second moment by at most √2 r²/n in Frobenius norm, which sets the scale of the noise. The rounds of
PPC share ρ/2, so PPC costs at most ρ/2. Given A, NaivePCE costs at most ρ/2. Step 3 is post-processing.

reconstructed : in both steps, the noise that NaivePCE calls "reconstructed". The calibration spends at most ρ/2, or ρ/4
    if d = 1.
tight : in both steps, the noise that NaivePCE calls "tight". The calibration spends at most ρ, or ρ/2 if d = 1.

Accuracy. KLSU19 Theorem 3.11 says that AΣAᵀ ⪯ 1000 I after step 1, with enough rows. The noise of step 2 is therefore
of the order of 1000, not κ. The relative error ‖Σ^{-1/2}(Y − Σ)Σ^{-1/2}‖_F of the output Y equals the relative error of
S as an estimate of AΣAᵀ.

Proof: proofs/paper/pgce.md
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Array, DataSet, Matrix, Number, as_rows, shape_of
from covassay.reference.mechanisms.gaussian_estimation import naive_pce, ppc
from covassay.reference.mechanisms.gaussian_estimation.naive_pce import Kappa
from covassay.reference.mechanisms.gaussian_estimation.weak_ppc import SMALLEST_KAPPA
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import (
    BetaToShareTwice,
    Dimension,
    ReconstructedCalibration,
    RhoToShareTwice,
    checked,
)
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend

# FORMULAS


def half(budget: Number) -> Number:
    """The share ½ of ρ, and of β, that each of the two steps gets."""
    return budget / 2


# MECHANISM


@dataclass(frozen=True)
class PGCENoise:
    """`rounds` (T, d, d) is the noise of PPC, `estimate` (d, d) that of NaivePCE; every matrix is symmetric."""

    rounds: Array
    estimate: Matrix


@checked
def release(
    x: DataSet,
    noise: PGCENoise,
    *,
    rho: RhoToShareTwice,
    calibration: ReconstructedCalibration = "reconstructed",
    kappa: Kappa = 1e4,
    beta: BetaToShareTwice = 0.1,
) -> Matrix:
    """Precondition the rows and release their covariance, given the noise, which is a `PGCENoise`."""
    # VALIDATE
    rows = as_rows(x)

    # 1. QUERY and NOISE in every round of PPC: A and A⁻¹
    a, inverse = ppc.precondition(
        rows, noise.rounds, rho=half(rho), calibration=calibration, kappa=kappa, beta=half(beta)
    )

    # 2. QUERY and NOISE: S, by NaivePCE on the images of the rows
    estimate = naive_pce.release(
        ppc.image(a, rows),
        noise.estimate,
        rho=half(rho),
        calibration=calibration,
        kappa=SMALLEST_KAPPA,
        beta=half(beta),
    )

    # 3. RELEASE
    covariance: Matrix = inverse @ estimate @ inverse.T
    return (covariance + covariance.T) / 2


def draw_noise(dimension: int, rng: np.random.Generator, *, kappa: Kappa) -> PGCENoise:
    """Return the noise that `release` takes."""
    return PGCENoise(ppc.draw_noise(dimension, rng, kappa=kappa), naive_pce.draw_noise(dimension, rng))


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: RhoToShareTwice,
    calibration: ReconstructedCalibration = "reconstructed",
    kappa: Kappa = 1e4,
    beta: BetaToShareTwice = 0.1,
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows of any real numbers.
    rng : the source of all randomness.
    rho : ρ in [1e-26, 1e30], the budget.
    calibration : value "reconstructed" has the constants of our reconstruction; "tight" has sharper ones, also ours.
    kappa : κ in [1, 1e30], public: I ⪯ Σ ⪯ κI, for accuracy only.
    beta : β in [1e-296, 1), public: the probability that the error bound may fail.

    Returns
    -------
    (d, d), symmetric, in the unit of x squared.

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
def spend(
    *, rho: RhoToShareTwice, dimension: Dimension, calibration: ReconstructedCalibration = "reconstructed"
) -> Spend:
    """The claimed budget is ρ. The proven budget is the sum of what PPC and NaivePCE spend at ρ/2 each."""
    first, second = (
        step(rho=half(rho), dimension=dimension, calibration=calibration).proven
        for step in (ppc.spend, naive_pce.spend)
    )
    assert isinstance(first, ZCDP)
    assert isinstance(second, ZCDP)
    return Spend(ZCDP(rho), ZCDP(first.rho + second.rho), False, "the sum of the budgets of PPC and NaivePCE")


ABOUT = About("pgce", "private covariance of a Gaussian", "KLSU19", "Algorithm 4", "reconstructed")
MECHANISM = Mechanism(
    ABOUT,
    CONCENTRATED,
    SYMMETRIC_SECOND_MOMENT,
    release,
    draw_noise,
    sample,
    spend,
    domain="space",
    unranked="for Gaussian data, rows of any size",
)
