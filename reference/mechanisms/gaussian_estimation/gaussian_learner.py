"""Private learning of a Gaussian: its mean and its covariance. KLSU19 Theorem 1.1.

1. y_i = (x_{2i} − x_{2i−1})/√2, i = 1, …, ⌊n/2⌋: rows from N(0, Σ), whatever the mean is.
2. Σ̂ = PGCE(y; ρ/2, β/2, κ) (`pgce`). PGCE learns a map A that shrinks the directions of large variance, adds noise to
   the covariance of the images A y_i, and maps the result back.
3. μ̂ = PME(x; ρ/2, β/2, κ, R) (`pme`). PME learns a map A of its own, adds noise to the mean of the images A x_i,
   coordinate by coordinate, and maps the result back.
4. Release (μ̂, Σ̂).

Reconstructed: the copy of the paper that we had says that Theorem 1.1 combines Theorems 3.12 and 4.3. We added step 1,
because PGCE is for rows with mean 0, and chose to give half of ρ and β to each of PGCE and PME.

Why ρ-zCDP. One record is in at most one pair, so replacing a record replaces at most one row of y. PGCE therefore costs
at most ρ/2. PME forms the same pairs, and costs at most ρ/2, too. The order of the records matters, and is public.

reconstructed, tight : the calibrations of NaivePCE (`naive_pce`), which PGCE and PME run. The learner spends at most
    5ρ/8 with "reconstructed" (7ρ/16 for d = 1), and ρ with "tight" (5ρ/8 for d = 1).

Proof: proofs/paper/gaussian-learner.md
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import DataSet, Matrix, Number, as_rows, shape_of
from covassay.reference.mechanisms.gaussian_estimation import pgce, pme
from covassay.reference.mechanisms.gaussian_estimation.naive_pce import Kappa
from covassay.reference.mechanisms.gaussian_estimation.naive_pme import MeanNorm
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import GaussianOutput
from covassay.reference.mechanisms.parameters import (
    BetaToShareThrice,
    Dimension,
    ReconstructedCalibration,
    RhoToShareThrice,
    checked,
)
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend

# FORMULAS


def half(budget: Number) -> Number:
    """The share ½ of ρ, and of β, that the covariance and the mean each get."""
    return budget / 2


# MECHANISM


@dataclass(frozen=True)
class GaussianLearnerNoise:
    """The noise of both steps, where `covariance` is the noise of PGCE, `mean` that of PME."""

    covariance: pgce.PGCENoise
    mean: pme.PMENoise


@checked
def release(
    x: DataSet,
    noise: GaussianLearnerNoise,
    *,
    rho: RhoToShareThrice,
    calibration: ReconstructedCalibration = "reconstructed",
    kappa: Kappa = 1e4,
    mean_bound: MeanNorm = 10.0,
    beta: BetaToShareThrice = 0.1,
) -> Matrix:
    """Release the mean and, in the rows below it, the covariance, given the noise: a `GaussianLearnerNoise`."""
    # VALIDATE
    rows = as_rows(x)

    # 1. rows with mean 0
    y = pme.differences(rows)

    # 2. QUERY and NOISE: compute Σ̂ by PGCE
    covariance = pgce.release(y, noise.covariance, rho=half(rho), calibration=calibration, kappa=kappa, beta=half(beta))

    # 3. QUERY and NOISE: compute μ̂ by PME
    mean = pme.release(
        rows, noise.mean, rho=half(rho), calibration=calibration, kappa=kappa, mean_bound=mean_bound, beta=half(beta)
    )

    # 4. RELEASE
    return np.vstack([mean, covariance])


def draw_noise(dimension: int, rng: np.random.Generator, *, kappa: Kappa, mean_bound: MeanNorm) -> GaussianLearnerNoise:
    """Return the noise that `release` takes."""
    covariance = pgce.draw_noise(dimension, rng, kappa=kappa)
    return GaussianLearnerNoise(covariance, pme.draw_noise(dimension, rng, kappa=kappa, mean_bound=mean_bound))


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: RhoToShareThrice,
    calibration: ReconstructedCalibration = "reconstructed",
    kappa: Kappa = 1e4,
    mean_bound: MeanNorm = 10.0,
    beta: BetaToShareThrice = 0.1,
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows of any real numbers.
    rng : the source of all randomness.
    rho : ρ in [1e-25, 1e30], the budget.
    calibration : value "reconstructed" has the constants of our reconstruction; "tight" has sharper ones, also ours.
    kappa : κ in [1, 1e30], public: I ⪯ Σ ⪯ κI, for accuracy only.
    mean_bound : R in [1e-30, 1e30], public: ‖μ‖ ≤ R, for accuracy only.
    beta : β in [1e-295, 1), public: the probability that the error bound may fail.

    Returns
    -------
    (d + 1, d): the mean in the unit of x, and below it the covariance in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error about an entry that is not finite depends on the data, and is
        not private.

    Privacy : the output is ρ-zCDP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng, kappa=kappa, mean_bound=mean_bound)
    return release(x, noise, rho=rho, calibration=calibration, kappa=kappa, mean_bound=mean_bound, beta=beta)


@checked
def spend(
    *, rho: RhoToShareThrice, dimension: Dimension, calibration: ReconstructedCalibration = "reconstructed"
) -> Spend:
    """The claimed budget is ρ. The proven budget is the sum of what PGCE and PME spend at ρ/2 each."""
    parts = [step.spend(rho=half(rho), dimension=dimension, calibration=calibration).proven for step in (pgce, pme)]
    proven = sum(part.rho for part in parts if isinstance(part, ZCDP))
    return Spend(ZCDP(rho), ZCDP(proven), False, "the sum of the budgets of PGCE and PME")


ABOUT = About("gaussian-learner", "private learning of a Gaussian", "KLSU19", "Theorem 1.1", "reconstructed")
MECHANISM = Mechanism(
    ABOUT, CONCENTRATED, GaussianOutput(power=1), release, draw_noise, sample, spend, domain="space", ordered=True
)
