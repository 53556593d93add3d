"""Naive private mean of a Gaussian: coordinate by coordinate. KLSU19 Algorithm 5 (NaivePME).

1. Run KVMean (`kv_mean`) on every coordinate, with σ = √κ, ρ₁ = ρ/d and β₁ = β/d. KVMean counts the values in bins of
   width σ about jσ, |j| ≤ ⌈R/σ⌉, and adds N(0, 2/ρ₁) to every count. Let c be the centre of the bin with the largest
   noisy count. KVMean clips the values to [c − w, c + w], w = σ(2 + √(2 ln(8n/β₁))), and adds N(0, (2w/n)²/ρ₁) to their
   mean.
2. Release the means.

Reconstructed: the copy of the paper that we had has neither the pseudocode nor the formulas. The target accuracy α of
the paper enters the number of records only, so it is no parameter of this mechanism.

Why ρ-zCDP. Replacing one value moves the counts by at most √2 in ℓ2, which costs ρ₁/2. Given c, the replacement moves
the clipped mean by at most 2w/n, which costs ρ₁/2 again. The costs of the d coordinates add up to ρ. There is one
calibration.

Accuracy. Σ ⪯ κI bounds every variance by κ, and ‖μ‖ ≤ R bounds every mean by R. If every coordinate has an error of at
most α/√d, then ‖Σ^{-1/2}(μ̂ − μ)‖ ≤ ‖μ̂ − μ‖ ≤ α, because Σ ⪰ I. The error grows like √κ. In measurements, the error of
`pme` does not grow with κ.

Proof: proofs/paper/naive-pme.md
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from covassay.reference.domain import DataSet, Number, Vector, as_rows, shape_of
from covassay.reference.mechanisms.gaussian_estimation import kv_mean
from covassay.reference.mechanisms.gaussian_estimation.kv_mean import KVMeanNoise
from covassay.reference.mechanisms.gaussian_estimation.naive_pce import Kappa
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import VectorOutput
from covassay.reference.mechanisms.parameters import Beta, Dimension, Rho, checked, positive
from covassay.reference.privacy import CONCENTRATED, Spend

MeanNorm = Annotated[float, positive("R", "public: ‖μ‖ ≤ R, for accuracy only")]

# FORMULAS


def deviation_bound(kappa: Number) -> Number:
    """The bound √κ on the standard deviation of every coordinate."""
    return kappa**0.5


# MECHANISM


@checked
def release(
    x: DataSet, noise: KVMeanNoise, *, rho: Rho, kappa: Kappa = 10.0, mean_bound: MeanNorm = 10.0, beta: Beta = 0.1
) -> Vector:
    """Release the mean, given the noise of `kv_mean` with σ = √κ."""
    # VALIDATE
    rows = as_rows(x)

    # 1. QUERY and NOISE: run KVMean on every coordinate; it adds noise to the counts and to the means
    mean = kv_mean.release(rows, noise, rho=rho, sigma=deviation_bound(kappa), mean_bound=mean_bound, beta=beta)

    # 2. RELEASE
    return mean


@checked
def draw_noise(dimension: int, rng: np.random.Generator, *, mean_bound: MeanNorm, kappa: Kappa) -> KVMeanNoise:
    """Return the noise that `release` takes."""
    return kv_mean.draw_noise(dimension, rng, mean_bound=mean_bound, sigma=deviation_bound(kappa))


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: Rho,
    kappa: Kappa = 10.0,
    mean_bound: MeanNorm = 10.0,
    beta: Beta = 0.1,
) -> Vector:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows of any real numbers.
    rng : the source of all randomness.
    rho : ρ in [1e-30, 1e30], the budget.
    kappa : κ in [1, 1e30], public: I ⪯ Σ ⪯ κI, for accuracy only.
    mean_bound : R in [1e-30, 1e30], public: ‖μ‖ ≤ R, for accuracy only.
    beta : β in [1e-300, 1), public: the probability that the error bound may fail.

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
    noise = draw_noise(d, rng, mean_bound=mean_bound, kappa=kappa)
    return release(x, noise, rho=rho, kappa=kappa, mean_bound=mean_bound, beta=beta)


@checked
def spend(*, rho: Rho, dimension: Dimension) -> Spend:
    """The claimed and the proven budget are ρ."""
    return kv_mean.spend(rho=rho, dimension=dimension)


ABOUT = About("naive-pme", "naive private mean of a Gaussian", "KLSU19", "Algorithm 5", "reconstructed")
MECHANISM = Mechanism(ABOUT, CONCENTRATED, VectorOutput(power=1), release, draw_noise, sample, spend, domain="space")
