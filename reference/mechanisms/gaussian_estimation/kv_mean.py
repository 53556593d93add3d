"""Mean of a Gaussian column, from a noisy histogram and then a clipped mean. KLSU19 Theorem 4.1 (KVMean).

The steps for one column v_1, …, v_n, with public bounds σ on its standard deviation and R on its absolute mean:

1. Count the values in the bins ((j − ½)σ, (j + ½)σ], |j| ≤ B = ⌈R/σ⌉; a value outside all bins is not counted.
2. Add N(0, 2/ρ) to every count. c = jσ, for the bin j whose noisy count is the largest.
3. m = (1/n) Σ_i clip(v_i, c − w, c + w), with the half-width w = σ(2 + √(2 ln(8n/β))).
4. Add N(0, (2w/n)²/ρ) to m.
5. Release the sum.

Several columns are treated separately, with ρ/d and β/d each.

Reconstructed: the copy of the paper that we had cites Karwa–Vadhan 2018 for the algorithm and prints no formula. The
mechanism is their method with Gaussian noise, and we chose the constants.

Why ρ-zCDP. Replacing one value takes 1 from at most one count and adds 1 to at most one other, so Δ₂ = √2 and the
counts cost ρ/2. Given c, the clipped mean moves by at most 2w/n, which costs another ρ/2. The costs of the d columns
add up to d · ρ/d = ρ. There is one calibration. We do not claim that any pair of neighbours attains ρ, because the
output depends on the counts through c alone.

Accuracy. For Gaussian columns and n ≥ `enough_rows`, the error of a column is at most `error_bound`, except with
probability β. This is because c is within 2σ of the mean and all values are within w − 2σ of it, so none is clipped.

Proof: proofs/paper/kv-mean.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from covassay.reference.domain import as_rows, require_positive, require_shape, shape_of, sum_rows
from covassay.reference.domain.types import DataSet, Matrix, Number, Vector
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import VectorOutput
from covassay.reference.mechanisms.parameters import Beta, Dimension, Rho, checked, positive
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend

MOST_BINS = 10_000_000
GAP = 0.2745  # Φ(1) + Φ(3/2) − 3/2 = 0.27454

Deviation = Annotated[float, positive("σ", "public: bounds the standard deviation of every column, for accuracy only")]
MeanBound = Annotated[float, positive("R", "public: bounds the absolute mean of every column, for accuracy only")]

# FORMULAS


def count_variance(rho: Number) -> Number:
    """The variance 2/ρ of the noise of a count, which costs half of the column's ρ at Δ₂² = 2."""
    return 2 / rho


def half_width(n: Number, sigma: Number, beta: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """The half-width w = σ(2 + √(2 ln(8n/β)))."""
    return sigma * (2 + (2 * log(8 * n / beta)) ** 0.5)


def mean_variance(n: Number, w: Number, rho: Number) -> Number:
    """The variance (2w/n)²/ρ of the noise of the mean, which costs half of the column's ρ at Δ₂ = 2w/n."""
    return (2 * w / n) ** 2 / rho


def enough_rows(
    bins: Number, rho: Number, beta: Number, gap: Number = GAP, log: Callable[[Number], Number] = math.log
) -> Number:
    """Return the n that solves gap · n = √(2nℓ) + √(8ℓ/ρ), where ℓ = ln(4 bins/β)."""
    length = log(4 * bins / beta)
    constant = (8 * length / rho) ** 0.5
    return (((2 * length) ** 0.5 + (2 * length + 4 * gap * constant) ** 0.5) / (2 * gap)) ** 2


def error_bound(
    n: Number, sigma: Number, rho: Number, beta: Number, log: Callable[[Number], Number] = math.log
) -> Number:
    """The bound (σ/√n + 2w/(n√ρ)) √(2 ln(8/β)) on the error of one column.

    For n ≥ `enough_rows` the error exceeds this bound with probability at most β.
    """
    tail = (2 * log(8 / beta)) ** 0.5
    return (sigma / n**0.5 + mean_variance(n, half_width(n, sigma, beta, log), rho) ** 0.5) * tail


# MECHANISM


@dataclass(frozen=True)
class KVMeanNoise:
    """Independent N(0, 1) variables, `counts` (d, 2B + 1) and `mean` (d,)."""

    counts: Matrix
    mean: Vector


def last_bin(mean_bound: float, sigma: float) -> int:
    """Return the last bin B = ⌈R/σ⌉, or raise an error if 2R/σ + 3 is above ten million."""
    ratio = require_positive("mean_bound", mean_bound) / require_positive("sigma", sigma)
    if 2 * ratio + 3 > MOST_BINS:
        raise InvalidInput(f"mean_bound = {ratio!r} times sigma: must be at most {(MOST_BINS - 3) // 2} times sigma")
    return math.ceil(ratio)


def histogram(block: Matrix, sigma: float, last: int) -> Matrix:
    """Return the number of values of every column in every bin, (m, d) -> (d, 2B + 1)."""
    with np.errstate(over="ignore"):
        bins = np.ceil(block / sigma - 0.5)
    inside = np.abs(bins) <= last
    counts = np.zeros((block.shape[1], 2 * last + 1))
    columns = np.nonzero(inside)[1]
    np.add.at(counts, (columns, (bins[inside] + last).astype(np.int64)), 1.0)
    return counts


@checked
def release(
    x: DataSet, noise: KVMeanNoise, *, rho: Rho, sigma: Deviation = 1.0, mean_bound: MeanBound = 10.0, beta: Beta = 0.1
) -> Vector:
    """Release the mean of every column, given the noise: a `KVMeanNoise`."""
    # VALIDATE
    last = last_bin(mean_bound, sigma)
    rows = as_rows(x)
    n, d = rows.shape
    z_counts = require_shape("noise.counts", noise.counts, (d, 2 * last + 1))
    z_mean = require_shape("noise.mean", noise.mean, (d,))

    # 1. QUERY: the counts
    counts = sum_rows(lambda block: histogram(block, sigma, last), rows)

    # 2. NOISE: c
    noisy_counts = counts + math.sqrt(count_variance(rho / d)) * z_counts
    centre = sigma * (noisy_counts.argmax(axis=1) - float(last))

    # 3. QUERY: the mean of the values, clipped to a window about c
    w = half_width(n, sigma, beta / d)
    mean = sum_rows(lambda block: np.clip(block, centre - w, centre + w).sum(axis=0), rows) / n

    # 4. NOISE
    deviation = w / n * math.sqrt(mean_variance(1, 1, rho / d))  # the factors are written so that w² cannot overflow
    noisy_mean: Vector = mean + deviation * z_mean

    # 5. RELEASE
    return noisy_mean


@checked
def draw_noise(dimension: int, rng: np.random.Generator, *, mean_bound: MeanBound, sigma: Deviation) -> KVMeanNoise:
    """Return the noise that `release` takes."""
    bins = 2 * last_bin(mean_bound, sigma) + 1
    return KVMeanNoise(rng.standard_normal((dimension, bins)), rng.standard_normal(dimension))


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: Rho,
    sigma: Deviation = 1.0,
    mean_bound: MeanBound = 10.0,
    beta: Beta = 0.1,
) -> Vector:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows of any real numbers.
    rng : the source of all randomness.
    rho : ρ in [1e-30, 1e30], the budget.
    sigma : σ in [1e-30, 1e30], public: bounds the standard deviation of every column, for accuracy only.
    mean_bound : R in [1e-30, 1e30], public: bounds the absolute mean of every column, for accuracy only.
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
    noise = draw_noise(d, rng, mean_bound=mean_bound, sigma=sigma)
    return release(x, noise, rho=rho, sigma=sigma, mean_bound=mean_bound, beta=beta)


@checked
def spend(*, rho: Rho, dimension: Dimension) -> Spend:
    """The claimed and the proven budget are ρ."""
    return Spend(ZCDP(rho), ZCDP(rho), False, "the counts and the means cost ρ/2 each; the means alone approach ρ/2")


ABOUT = About("kv-mean", "mean of Gaussian columns", "KLSU19", "Theorem 4.1", "reconstructed")
MECHANISM = Mechanism(ABOUT, CONCENTRATED, VectorOutput(power=1), release, draw_noise, sample, spend, domain="space")
