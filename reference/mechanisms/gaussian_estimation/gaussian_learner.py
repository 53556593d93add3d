"""Private learning of a Gaussian: its mean and its covariance. KLSU19 Theorem 1.1.

1. y_i = (x_{2i} − x_{2i−1})/√2, i = 1, …, ⌊n/2⌋: rows from N(0, Σ), whatever the mean is.
2. Σ̂ = PGCE(y; ρ/2, β/2, κ).
3. μ̂ = PME(x; ρ/2, β/2, κ, R).
4. Release (μ̂, Σ̂). PGCE and PME learn a preconditioner each, of their own.

Reconstructed: the copy of the paper that we had says that the theorem combines Theorems 3.12 and 4.3. The differences
in step 1, which PGCE needs because the mean is unknown, and the halves of ρ and β are ours.

Why ρ-zCDP. One record is in one pair, so step 2 costs at most ρ/2, and so does step 3. The order of the records
matters, and is public.

reconstructed, tight : the noise of NaivePCE, in PGCE and in PME. The learner spends at most 5ρ/8 or ρ; for d = 1 at
    most 7ρ/16 or 5ρ/8.

Proof: proofs/paper/gaussian-learner.md
"""

from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import DataSet, Matrix, Number, as_rows
from covassay.reference.mechanisms.gaussian_estimation import pgce, pme
from covassay.reference.mechanisms.gaussian_estimation.naive_pce import Kappa
from covassay.reference.mechanisms.gaussian_estimation.naive_pme import MeanNorm
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import GaussianOutput
from covassay.reference.mechanisms.parameters import (
    Dimension,
    QuarteredBeta,
    QuarteredRho,
    ReconstructedCalibration,
    checked,
)
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend

# FORMULAS


def half(budget: Number) -> Number:
    """The share of ρ, and of β, of the covariance and of the mean."""
    return budget / 2


# MECHANISM


@dataclass(frozen=True)
class GaussianLearnerNoise:
    """`covariance` is the noise of PGCE, `mean` that of PME."""

    covariance: pgce.PGCENoise
    mean: pme.PMENoise


@checked
def release(
    x: DataSet,
    noise: GaussianLearnerNoise,
    *,
    rho: QuarteredRho,
    calibration: ReconstructedCalibration = "reconstructed",
    kappa: Kappa = 1e4,
    mean_bound: MeanNorm = 10.0,
    beta: QuarteredBeta = 0.1,
) -> Matrix:
    """Release the mean and, in the rows below it, the covariance, given the noise: a `GaussianLearnerNoise`."""
    # VALIDATE
    rows = as_rows(x)

    # QUERY
    y = pme.differences(rows)

    # NOISE
    covariance = pgce.release(y, noise.covariance, rho=half(rho), calibration=calibration, kappa=kappa, beta=half(beta))
    mean = pme.release(
        rows, noise.mean, rho=half(rho), calibration=calibration, kappa=kappa, mean_bound=mean_bound, beta=half(beta)
    )

    # RELEASE
    return np.vstack([mean, covariance])


def draw_noise(dimension: int, rng: np.random.Generator, *, kappa: Kappa, mean_bound: MeanNorm) -> GaussianLearnerNoise:
    """The noise that `release` takes."""
    covariance = pgce.draw_noise(dimension, rng, kappa=kappa)
    return GaussianLearnerNoise(covariance, pme.draw_noise(dimension, rng, kappa=kappa, mean_bound=mean_bound))


@checked
def spend(*, rho: QuarteredRho, dimension: Dimension, calibration: ReconstructedCalibration = "reconstructed") -> Spend:
    """The sum of what PGCE and PME spend of ρ/2 each."""
    parts = [step.spend(rho=half(rho), dimension=dimension, calibration=calibration).proven for step in (pgce, pme)]
    proven = sum(part.rho for part in parts if isinstance(part, ZCDP))
    return Spend(ZCDP(rho), ZCDP(proven), False, "by composition of PGCE and PME")


ABOUT = About("gaussian-learner", "private learning of a Gaussian", "KLSU19", "Theorem 1.1", "reconstructed")
MECHANISM = Mechanism(
    ABOUT, CONCENTRATED, GaussianOutput(power=1), release, draw_noise, spend, domain="space", ordered=True
)
sample = MECHANISM.sample
