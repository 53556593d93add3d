"""Naive private mean of a Gaussian: coordinate by coordinate. KLSU19 Algorithm 5 (NaivePME).

KVMean on every coordinate, with ρ/d, β/d and the bound √κ on its standard deviation.

Reconstructed: the text at hand has neither the pseudocode nor the formulas. The paper's target accuracy α enters the
number of records only, so it is no parameter here.

Privacy is that of `kv_mean`: d · ρ/d = ρ.

Why it works. Σ ⪯ κI bounds every variance by κ, and ‖μ‖ ≤ R every mean by R. If every coordinate is right up to α/√d,
then ‖μ̂ − μ‖₂ ≤ α, and ‖Σ^{-1/2}(μ̂ − μ)‖₂ ≤ ‖μ̂ − μ‖₂ because Σ ⪰ I. The error grows like √κ: see `pme`.
"""

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Number,
    Vector,
    as_rows,
    require_below_one,
    require_positive,
)
from covassay.reference.mechanisms.gaussian_estimation import kv_mean
from covassay.reference.mechanisms.gaussian_estimation.kv_mean import KVMeanNoise
from covassay.reference.mechanisms.gaussian_estimation.naive_pce import require_kappa
from covassay.reference.mechanisms.legacy import About
from covassay.reference.privacy import Spend

# FORMULAS


def deviation_bound(kappa: Number) -> Number:
    """√κ."""
    return kappa**0.5


# MECHANISM


def release(
    x: DataSet,
    noise: KVMeanNoise,
    *,
    rho: float,
    kappa: float = 10.0,
    mean_bound: float = 10.0,
    beta: float = 0.1,
) -> Vector:
    """Release the mean, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows, any real numbers.
    noise : see `kv_mean.KVMeanNoise`, with σ = √κ.
    rho : ρ > 0.
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

    Privacy : ρ-zCDP for replacing one row, n public, in real arithmetic.
    Source : KLSU19 Algorithm 5, Theorem 4.2; reconstructed.
    """
    # VALIDATE
    require_positive("rho", rho)
    require_kappa(kappa)
    require_below_one("beta", beta)
    rows = as_rows(x)

    # QUERY
    # NOISE
    mean = kv_mean.release(rows, noise, rho=rho, sigma=deviation_bound(kappa), mean_bound=mean_bound, beta=beta)

    # RELEASE
    return mean


def draw_noise(dimension: int, rng: np.random.Generator, mean_bound: float, kappa: float) -> KVMeanNoise:
    """The noise that `release` takes."""
    require_kappa(kappa)
    return kv_mean.draw_noise(dimension, rng, mean_bound, deviation_bound(kappa))


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: float,
    kappa: float = 10.0,
    mean_bound: float = 10.0,
    beta: float = 0.1,
) -> Vector:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    noise = draw_noise(as_rows(x).shape[1], rng, mean_bound, kappa)
    return release(x, noise, rho=rho, kappa=kappa, mean_bound=mean_bound, beta=beta)


def spend(*, rho: float, dimension: int) -> Spend:
    """Claimed ρ; proven ρ."""
    return kv_mean.spend(rho=rho, dimension=dimension)


ABOUT = About(
    name="naive-pme",
    title="naive private mean of a Gaussian",
    paper="KLSU19",
    algorithm="Algorithm 5",
    notion="zcdp",
    released="vector",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
    parameters={"kappa": 10.0, "mean_bound": 10.0, "beta": 0.1},
    degree=1,
    domain="space",
)
