"""Private learning of a Gaussian: its mean and its covariance. KLSU19 Theorem 1.1.

1. y_i = (x_{2i} − x_{2i−1})/√2, i = 1..⌊n/2⌋: rows from N(0, Σ).
2. Σ̂ = PGCE(y; ρ/2, β/2, κ).
3. μ̂ = PME(x; ρ/2, β/2, κ, R).
4. Release (μ̂, Σ̂).

Reconstructed: the text says that the theorem combines Theorem 3.12 and Theorem 4.3; the differences in step 1, which
PGCE needs because the mean is unknown, and the halves are ours.

One record is in one pair, so step 2 costs what PGCE spends of ρ/2, and step 3 what PME spends of ρ/2. Each has a
preconditioner of its own.
"""

from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    Rows,
    as_rows,
    require_below_one,
    require_choice,
    require_positive,
)
from covassay.reference.mechanisms.gaussian_estimation import pgce, pme
from covassay.reference.mechanisms.gaussian_estimation.naive_pce import require_kappa
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.privacy import ZCDP, Spend

# FORMULAS


def half(budget: Number) -> Number:
    """The share of ρ, and of β, of the covariance and of the mean."""
    return budget / 2


# MECHANISM


@dataclass(frozen=True)
class GaussianLearnerNoise:
    """`covariance`: of PGCE; `mean`: of PME."""

    covariance: pgce.PGCENoise
    mean: pme.PMENoise


def release(
    x: DataSet,
    noise: GaussianLearnerNoise,
    *,
    rho: float,
    calibration: Calibration = "paper",
    kappa: float = 1e4,
    mean_bound: float = 10.0,
    beta: float = 0.1,
) -> Matrix:
    """Release mean and covariance, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows, any real numbers.
    noise : see `GaussianLearnerNoise`.
    rho : ρ > 0.
    calibration : "paper" or "tight", of NaivePCE.
    kappa : κ ≥ 1, public: I ⪯ Σ ⪯ κI. For utility only.
    mean_bound : R > 0, public: ‖μ‖ ≤ R. For utility only.
    beta : in (0, 1), public. For utility only.

    Returns
    -------
    (d + 1, d): the mean, in the unit of x, and below it the covariance, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite is read off the data: a precondition,
        not part of the mechanism.

    Privacy : ρ-zCDP for replacing one row, n public, in real arithmetic (proven: 5ρ/8 with "paper").
    Source : KLSU19 Theorem 1.1; reconstructed.
    """
    # VALIDATE
    require_positive("rho", rho)
    require_choice("calibration", calibration, CALIBRATIONS)
    require_kappa(kappa)
    require_below_one("beta", beta)
    require_positive("mean_bound", mean_bound)
    rows: Rows = as_rows(x)

    # QUERY
    y = pme.differences(rows)

    # NOISE
    covariance = pgce.release(y, noise.covariance, rho=half(rho), calibration=calibration, kappa=kappa, beta=half(beta))
    mean = pme.release(
        rows,
        noise.mean,
        rho=half(rho),
        calibration=calibration,
        kappa=kappa,
        mean_bound=mean_bound,
        beta=half(beta),
    )

    # RELEASE
    return np.vstack([mean, covariance])


def draw_noise(dimension: int, rng: np.random.Generator, kappa: float, mean_bound: float) -> GaussianLearnerNoise:
    """The noise that `release` takes."""
    return GaussianLearnerNoise(
        pgce.draw_noise(dimension, rng, kappa), pme.draw_noise(dimension, rng, kappa, mean_bound)
    )


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: float,
    calibration: Calibration = "paper",
    kappa: float = 1e4,
    mean_bound: float = 10.0,
    beta: float = 0.1,
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    noise = draw_noise(as_rows(x).shape[1], rng, kappa, mean_bound)
    return release(x, noise, rho=rho, calibration=calibration, kappa=kappa, mean_bound=mean_bound, beta=beta)


def spend(*, rho: float, dimension: int, calibration: Calibration = "paper") -> Spend:
    """What PGCE spends of ρ/2 and PME of ρ/2, by composition."""
    require_positive("rho", rho)
    parts = [step.spend(rho=half(rho), dimension=dimension, calibration=calibration).proven for step in (pgce, pme)]
    proven = sum(part.rho for part in parts if isinstance(part, ZCDP))
    return Spend(ZCDP(rho), ZCDP(proven), False, "by composition of PGCE and PME")


ABOUT = About(
    name="gaussian-learner",
    title="private learning of a Gaussian",
    paper="KLSU19",
    algorithm="Theorem 1.1",
    notion="zcdp",
    released="gaussian",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
    choices={"calibration": CALIBRATIONS},
    parameters={"kappa": 1e4, "mean_bound": 10.0, "beta": 0.1},
    degree=1,
    domain="space",
    ordered=True,
)
