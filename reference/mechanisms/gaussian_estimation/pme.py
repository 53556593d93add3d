"""Private mean of a Gaussian: precondition, then coordinate by coordinate. KLSU19 Algorithm 6 (PME).

1. y_i = (x_{2i} − x_{2i−1})/√2, i = 1..⌊n/2⌋. (n = 1 has no pair; then one zero row stands for y.)
2. A = PPC(y; ρ/2, β/2, κ).
3. m = NaivePME(A x_1, …, A x_n; ρ/2, β/2, κ' = 1000, R' = √1000 R).
4. Release A⁻¹ m.

Reconstructed: the text at hand has neither the pseudocode nor the formulas; the halves are ours.

One record is in one pair, so replacing a record replaces one row of y: step 2 costs what PPC spends of ρ/2. Step 3,
which may depend on A, costs ρ/2, and step 4 nothing: A⁻¹ is known from the rounds in closed form, so nothing can fail.
The pairs are consecutive records, so the order of the records matters.

Why it works. y_i ~ N(0, Σ), whatever the mean is. By Theorem 3.11 I ⪯ AΣAᵀ ⪯ 1000 I, and ‖A‖² ≤ ‖AΣAᵀ‖ ≤ 1000 because
Σ ⪰ I, so ‖Aμ‖ ≤ R'. With H = AΣAᵀ, ‖Σ^{-1/2}(A⁻¹m − μ)‖ = ‖H^{-1/2}(m − Aμ)‖ ≤ ‖m − Aμ‖: nothing grows with κ.

The bound on ‖m − Aμ‖ is proved for rows that A was not learned from, and here all rows are used twice: the mean of an
even number of rows is independent of their differences, the bin counts and the clipping are not. Privacy does not
depend on it; the error is measured (covassay experiments accuracy) and does not grow with κ.
"""

import math
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    Rows,
    Vector,
    as_rows,
    map_groups,
    require_below_one,
    require_choice,
    require_positive,
)
from covassay.reference.mechanisms.gaussian_estimation import kv_mean, naive_pme, ppc
from covassay.reference.mechanisms.gaussian_estimation.naive_pce import require_kappa
from covassay.reference.mechanisms.gaussian_estimation.weak_ppc import SMALLEST_KAPPA
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.privacy import ZCDP, Spend

# FORMULAS


def half(budget: Number) -> Number:
    """The share of ρ, and of β, of each of the two steps."""
    return budget / 2


def image_bound(mean_bound: Number) -> Number:
    """R' = √1000 R."""
    return SMALLEST_KAPPA**0.5 * mean_bound


# MECHANISM


@dataclass(frozen=True)
class PMENoise:
    """`rounds` (T, d, d): of PPC; `mean`: of KVMean with σ = √1000 and the bound R'."""

    rounds: Matrix
    mean: kv_mean.KVMeanNoise


def differences(rows: Rows) -> Rows:
    """The data set of y. A difference beyond the largest float counts as zero: it would be dropped."""
    if rows.shape[0] < 2:
        return np.zeros((1, rows.shape[1]))

    def difference(pairs: Matrix) -> Matrix:
        with np.errstate(over="ignore"):
            y = pairs[:, 1] / math.sqrt(2) - pairs[:, 0] / math.sqrt(2)
        return np.where(np.isfinite(y).all(axis=1, keepdims=True), y, 0.0)

    return map_groups(difference, rows, 2)


def release(
    x: DataSet,
    noise: PMENoise,
    *,
    rho: float,
    calibration: Calibration = "paper",
    kappa: float = 1e4,
    mean_bound: float = 10.0,
    beta: float = 0.1,
) -> Vector:
    """Release the mean, estimated where the covariance is nearly round, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows, any real numbers.
    noise : see `PMENoise`.
    rho : ρ > 0.
    calibration : "paper" or "tight", of NaivePCE.
    kappa : κ ≥ 1, public: I ⪯ Σ ⪯ κI. For utility only.
    mean_bound : R > 0, public: ‖μ‖ ≤ R. For utility only.
    beta : in (0, 1), public. For utility only.

    Returns
    -------
    (d,), in the unit of x.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite is read off the data: a precondition,
        not part of the mechanism.

    Privacy : ρ-zCDP for replacing one row, n public, in real arithmetic (proven: 3ρ/4 with "paper").
    Source : KLSU19 Algorithm 6, Theorem 4.3; reconstructed.
    """
    # VALIDATE
    require_positive("rho", rho)
    require_choice("calibration", calibration, CALIBRATIONS)
    require_kappa(kappa)
    require_below_one("beta", beta)
    require_positive("mean_bound", mean_bound)
    rows: Rows = as_rows(x)

    # QUERY
    # NOISE
    a, inverse = ppc.precondition(
        differences(rows), noise.rounds, rho=half(rho), calibration=calibration, kappa=kappa, beta=half(beta)
    )
    mean = naive_pme.release(
        ppc.image(a, rows),
        noise.mean,
        rho=half(rho),
        kappa=SMALLEST_KAPPA,
        mean_bound=image_bound(mean_bound),
        beta=half(beta),
    )

    # RELEASE
    released: Vector = inverse @ mean
    return released


def draw_noise(dimension: int, rng: np.random.Generator, kappa: float, mean_bound: float) -> PMENoise:
    """The noise that `release` takes."""
    rounds = ppc.draw_noise(dimension, rng, kappa)
    require_positive("mean_bound", mean_bound)
    return PMENoise(rounds, naive_pme.draw_noise(dimension, rng, image_bound(mean_bound), SMALLEST_KAPPA))


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: float,
    calibration: Calibration = "paper",
    kappa: float = 1e4,
    mean_bound: float = 10.0,
    beta: float = 0.1,
) -> Vector:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    noise = draw_noise(as_rows(x).shape[1], rng, kappa, mean_bound)
    return release(x, noise, rho=rho, calibration=calibration, kappa=kappa, mean_bound=mean_bound, beta=beta)


def spend(*, rho: float, dimension: int, calibration: Calibration = "paper") -> Spend:
    """What PPC spends of ρ/2 and NaivePME of ρ/2, by composition."""
    require_positive("rho", rho)
    parts = [
        ppc.spend(rho=half(rho), dimension=dimension, calibration=calibration).proven,
        naive_pme.spend(rho=half(rho), dimension=dimension).proven,
    ]
    proven = sum(part.rho for part in parts if isinstance(part, ZCDP))
    return Spend(ZCDP(rho), ZCDP(proven), False, "by composition of PPC and NaivePME")


ABOUT = About(
    name="pme",
    title="private mean of a Gaussian",
    paper="KLSU19",
    algorithm="Algorithm 6",
    notion="zcdp",
    released="vector",
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
