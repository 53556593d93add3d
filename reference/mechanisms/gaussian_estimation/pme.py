"""Private mean of a Gaussian: precondition, then coordinate by coordinate. KLSU19 Algorithm 6 (PME).

1. y_i = (x_{2i} − x_{2i−1})/√2, i = 1, …, ⌊n/2⌋, for records in a given, public order. (For n = 1, y is one zero row.)
2. A = PPC(y; ρ/2, β/2, κ) (`ppc`). In every round a noisy covariance of the images A y_i shows the directions of large
   variance, and A is changed to shrink them. For enough rows, I ⪯ AΣAᵀ ⪯ 1000 I in the end, with high probability.
3. m = NaivePME(A x_1, …, A x_n; ρ/2, β/2, κ' = 1000, R' = √1000 R) (`naive_pme`). For every coordinate a noisy
   histogram finds where its values lie. The values of the coordinate are clipped to a window at that place, and noise
   is added to their mean.
4. Release A⁻¹ m. A⁻¹ is known from the rounds of PPC in closed form, so no matrix is inverted numerically.

Reconstructed: the copy of the paper that we had has neither the pseudocode nor the formulas. We chose that each step
gets half of ρ and β.

Why ρ-zCDP. One record is in at most one pair, so replacing a record replaces at most one row of y, and one image in
every round of PPC. PPC counts images longer than a public r as 0. Replacing an image thus moves the second moment of
all images by a bounded amount, which sets the noise. In step 3 the record moves at most two counts of each histogram by
1, and one value in a window of public width. Given A, step 3 costs at most ρ/2. Step 4 is post-processing.

With the calibration "reconstructed" of PPC, PME spends at most 3ρ/4 (5ρ/8 for d = 1); with "tight", ρ (3ρ/4 for d = 1).

Accuracy. y_i ~ N(0, Σ) whatever the mean is. With H = AΣAᵀ ⪯ 1000 I, the error ‖Σ^{-1/2}(A⁻¹m − μ)‖ = ‖H^{-1/2}(m −
Aμ)‖ is at most ‖m − Aμ‖. We proved the bound on ‖m − Aμ‖ for an A learned from other rows, but PME uses the same rows
in steps 2 and 3. That the error does not grow with κ is measured (`covassay experiments accuracy`), but not proven.

Proof: proofs/paper/pme.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Array, DataSet, Matrix, Number, Rows, Vector, as_rows, map_groups, shape_of
from covassay.reference.mechanisms.gaussian_estimation import kv_mean, naive_pme, ppc
from covassay.reference.mechanisms.gaussian_estimation.naive_pce import Kappa
from covassay.reference.mechanisms.gaussian_estimation.naive_pme import MeanNorm
from covassay.reference.mechanisms.gaussian_estimation.weak_ppc import SMALLEST_KAPPA
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import VectorOutput
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


def image_bound(mean_bound: Number) -> Number:
    """The radius R' = √1000 R, which bounds ‖Aμ‖."""
    return SMALLEST_KAPPA**0.5 * mean_bound


# MECHANISM


@dataclass(frozen=True)
class PMENoise:
    """`rounds` (T, d, d) is the noise of PPC, `mean` that of KVMean with σ = √1000 and the bound R'."""

    rounds: Array
    mean: kv_mean.KVMeanNoise


def differences(rows: Rows) -> Rows:
    """Return the data set of the differences y of pairs of rows.

    A difference with an entry too large for a float becomes a zero row.
    """
    if rows.shape[0] < 2:
        return np.zeros((1, rows.shape[1]))

    def difference(pairs: Matrix) -> Matrix:
        with np.errstate(over="ignore"):
            y = pairs[:, 1] / math.sqrt(2) - pairs[:, 0] / math.sqrt(2)
        return np.where(np.isfinite(y).all(axis=1, keepdims=True), y, 0.0)

    def paired() -> Rows:
        return map_groups(difference, rows, 2)

    return paired() if isinstance(rows, np.ndarray) else rows.once("differences", paired)


@checked
def release(
    x: DataSet,
    noise: PMENoise,
    *,
    rho: RhoToShareTwice,
    calibration: ReconstructedCalibration = "reconstructed",
    kappa: Kappa = 1e4,
    mean_bound: MeanNorm = 10.0,
    beta: BetaToShareTwice = 0.1,
) -> Vector:
    """Precondition the rows and release their mean, given the noise, which is a `PMENoise`."""
    # VALIDATE
    rows = as_rows(x)

    # 1. rows with mean 0
    y = differences(rows)

    # 2. QUERY and NOISE in every round of PPC: A and A⁻¹
    a, inverse = ppc.precondition(y, noise.rounds, rho=half(rho), calibration=calibration, kappa=kappa, beta=half(beta))

    # 3. QUERY and NOISE: m, by NaivePME on the images of the rows
    mean = naive_pme.release(
        ppc.image(a, rows),
        noise.mean,
        rho=half(rho),
        kappa=SMALLEST_KAPPA,
        mean_bound=image_bound(mean_bound),
        beta=half(beta),
    )

    # 4. RELEASE
    released: Vector = inverse @ mean
    return released


@checked
def draw_noise(dimension: int, rng: np.random.Generator, *, kappa: Kappa, mean_bound: MeanNorm) -> PMENoise:
    """Return the noise that `release` takes."""
    rounds = ppc.draw_noise(dimension, rng, kappa=kappa)
    mean = naive_pme.draw_noise(dimension, rng, mean_bound=image_bound(mean_bound), kappa=SMALLEST_KAPPA)
    return PMENoise(rounds, mean)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: RhoToShareTwice,
    calibration: ReconstructedCalibration = "reconstructed",
    kappa: Kappa = 1e4,
    mean_bound: MeanNorm = 10.0,
    beta: BetaToShareTwice = 0.1,
) -> Vector:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows of any real numbers.
    rng : the source of all randomness.
    rho : ρ in [1e-26, 1e30], the budget.
    calibration : value "reconstructed" has the constants of our reconstruction; "tight" has sharper ones, also ours.
    kappa : κ in [1, 1e30], public: I ⪯ Σ ⪯ κI, for accuracy only.
    mean_bound : R in [1e-30, 1e30], public: ‖μ‖ ≤ R, for accuracy only.
    beta : β in [1e-296, 1), public: the probability that the error bound may fail.

    Returns
    -------
    (d,), in the unit of x.

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
    *, rho: RhoToShareTwice, dimension: Dimension, calibration: ReconstructedCalibration = "reconstructed"
) -> Spend:
    """The claimed budget is ρ. The proven budget is the sum of what PPC and NaivePME spend at ρ/2 each."""
    parts = [
        ppc.spend(rho=half(rho), dimension=dimension, calibration=calibration).proven,
        naive_pme.spend(rho=half(rho), dimension=dimension).proven,
    ]
    proven = sum(part.rho for part in parts if isinstance(part, ZCDP))
    return Spend(ZCDP(rho), ZCDP(proven), False, "the sum of the budgets of PPC and NaivePME")


ABOUT = About("pme", "private mean of a Gaussian", "KLSU19", "Algorithm 6", "reconstructed")
MECHANISM = Mechanism(
    ABOUT, CONCENTRATED, VectorOutput(power=1), release, draw_noise, sample, spend, domain="space", ordered=True
)
