"""Mean of a Gaussian column: a noisy histogram finds it, a clipped mean refines it. KLSU19 Theorem 4.1 (KVMean).

For one column v_1, …, v_n, with σ and R public:

1. Counts of the bins ((j − ½)σ, (j + ½)σ], |j| ≤ B = ⌈R/σ⌉; a value outside all of them is counted nowhere. To every
   count add N(0, 2/ρ). c = σ times the j of the largest.
2. w = σ(2 + √(2 ln(8n/β))). Release (1/n) Σ_i clip(v_i, c − w, c + w) + N(0, (2w/n)²/ρ).

Several columns: each on its own, with ρ/d and β/d.

Reconstructed: the text at hand cites Karwa–Vadhan 2018 for the algorithm and prints no formula; this is their method
with Gaussian noise, and the constants are ours.

Where the scales come from. Replacing one value takes 1 from one count and gives 1 to another, at most: Δ₂ = √2, so the
counts cost Δ₂²/(2 · 2/ρ) = ρ/2. Given c, the mean of the clipped values moves by at most 2w/n: again ρ/2. The window
may depend on c, which is paid for. Columns add up: d · ρ/d = ρ. Only the mean is released; the counts are seen through
the choice of c alone, so no pair of neighbours is claimed to attain ρ.

What the parameters mean. For values from N(μ, s²), s ≤ σ, |μ| ≤ R: the bin that holds μ has probability at least Φ(1)
− Φ(0), a bin whose centre is more than 2σ from μ at most 1 − Φ(3/2), so they differ by 0.2745 and more. With ℓ =
ln(4(2B + 1)/β) and n ≥ `enough_rows`, Hoeffding's inequality for the difference of two counts and the Gaussian tail
for the difference of their noises give 0.2745 n ≥ √(2nℓ) + √(8ℓ/ρ), hence |c − μ| ≤ 2σ but with probability β/2. Then
no value is clipped but with probability β/8, and the error is at most `error_bound` but with probability β/4.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    Vector,
    as_rows,
    require_below_one,
    require_dimension,
    require_positive,
    require_shape,
    sum_rows,
)
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.legacy import About
from covassay.reference.privacy import ZCDP, Spend

MOST_BINS = 10_000_000
GAP = 0.2745  # Φ(1) + Φ(3/2) − 3/2 = 0.27454

# FORMULAS


def count_variance(rho: Number) -> Number:
    """2/ρ: half of the column's ρ on Δ₂² = 2."""
    return 2 / rho


def half_width(n: Number, sigma: Number, beta: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """w = σ(2 + √(2 ln(8n/β)))."""
    return sigma * (2 + (2 * log(8 * n / beta)) ** 0.5)


def mean_variance(n: Number, w: Number, rho: Number) -> Number:
    """(2w/n)²/ρ: half of the column's ρ on Δ₂ = 2w/n."""
    return (2 * w / n) ** 2 / rho


def enough_rows(
    bins: Number, rho: Number, beta: Number, gap: Number = GAP, log: Callable[[Number], Number] = math.log
) -> Number:
    """The n with gap · n = √(2nℓ) + √(8ℓ/ρ), ℓ = ln(4 bins/β): a quadratic equation in √n."""
    length = log(4 * bins / beta)
    constant = (8 * length / rho) ** 0.5
    return (((2 * length) ** 0.5 + (2 * length + 4 * gap * constant) ** 0.5) / (2 * gap)) ** 2


def error_bound(
    n: Number, sigma: Number, rho: Number, beta: Number, log: Callable[[Number], Number] = math.log
) -> Number:
    """Error of one column for n ≥ `enough_rows`, with probability 1 − β: (σ/√n + 2w/(n√ρ)) √(2 ln(8/β))."""
    tail = (2 * log(8 / beta)) ** 0.5
    return (sigma / n**0.5 + mean_variance(n, half_width(n, sigma, beta, log), rho) ** 0.5) * tail


# MECHANISM


@dataclass(frozen=True)
class KVMeanNoise:
    """Standard Gaussian: `counts` (d, 2B + 1), `mean` (d,)."""

    counts: Matrix
    mean: Vector


def last_bin(mean_bound: float, sigma: float) -> int:
    """B = ⌈R/σ⌉."""
    ratio = require_positive("mean_bound", mean_bound) / require_positive("sigma", sigma)
    if 2 * ratio + 3 > MOST_BINS:
        raise InvalidInput(f"mean_bound = {mean_bound!r}: must be at most {(MOST_BINS - 3) // 2} times sigma")
    return math.ceil(ratio)


def histogram(block: Matrix, sigma: float, last: int) -> Matrix:
    """How many values of every column lie in every bin: (m, d) -> (d, 2B + 1)."""
    with np.errstate(over="ignore"):
        bins = np.ceil(block / sigma - 0.5)
    inside = np.abs(bins) <= last
    counts = np.zeros((block.shape[1], 2 * last + 1))
    columns = np.nonzero(inside)[1]
    np.add.at(counts, (columns, (bins[inside] + last).astype(np.int64)), 1.0)
    return counts


def release(
    x: DataSet,
    noise: KVMeanNoise,
    *,
    rho: float,
    sigma: float = 1.0,
    mean_bound: float = 10.0,
    beta: float = 0.1,
) -> Vector:
    """Release the mean of every column, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows, any real numbers.
    noise : see `KVMeanNoise`.
    rho : ρ > 0, for all columns together.
    sigma : σ > 0, public: a bound on the standard deviation of every column. For utility only.
    mean_bound : R > 0, public: a bound on the absolute mean of every column. For utility only.
    beta : in (0, 1), public. For utility only.

    Returns
    -------
    (d,), in the unit of x.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite is read off the data: a precondition,
        not part of the mechanism.

    Privacy : ρ-zCDP for replacing one row, n public, in real arithmetic.
    Source : KLSU19 Theorem 4.1, after Karwa–Vadhan 2018; reconstructed. The constants are ours.
    """
    # VALIDATE
    require_positive("rho", rho)
    require_below_one("beta", beta)
    last = last_bin(mean_bound, sigma)
    rows = as_rows(x)
    n, d = rows.shape
    z_counts = require_shape("noise.counts", noise.counts, (d, 2 * last + 1))
    z_mean = require_shape("noise.mean", noise.mean, (d,))

    # QUERY
    counts = sum_rows(lambda block: histogram(block, sigma, last), rows)

    # NOISE
    noisy_counts = counts + math.sqrt(count_variance(rho / d)) * z_counts
    centre = sigma * (noisy_counts.argmax(axis=1) - float(last))
    w = half_width(n, sigma, beta / d)
    mean = sum_rows(lambda block: np.clip(block, centre - w, centre + w).sum(axis=0), rows) / n
    deviation = w / n * math.sqrt(mean_variance(1, 1, rho / d))  # so that w² cannot overflow
    noisy_mean: Vector = mean + deviation * z_mean

    # RELEASE
    return noisy_mean


def draw_noise(dimension: int, rng: np.random.Generator, mean_bound: float, sigma: float) -> KVMeanNoise:
    """The noise that `release` takes."""
    bins = 2 * last_bin(mean_bound, sigma) + 1
    return KVMeanNoise(rng.standard_normal((dimension, bins)), rng.standard_normal(dimension))


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: float,
    sigma: float = 1.0,
    mean_bound: float = 10.0,
    beta: float = 0.1,
) -> Vector:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    noise = draw_noise(as_rows(x).shape[1], rng, mean_bound, sigma)
    return release(x, noise, rho=rho, sigma=sigma, mean_bound=mean_bound, beta=beta)


def spend(*, rho: float, dimension: int) -> Spend:
    """Claimed ρ; proven ρ."""
    require_positive("rho", rho)
    require_dimension("dimension", dimension)
    return Spend(ZCDP(rho), ZCDP(rho), False, "by composition of counts and means; the means alone attain ρ/2")


ABOUT = About(
    name="kv-mean",
    title="mean of Gaussian columns",
    paper="KLSU19",
    algorithm="Theorem 4.1",
    notion="zcdp",
    released="vector",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
    parameters={"sigma": 1.0, "mean_bound": 10.0, "beta": 0.1},
    degree=1,
    domain="space",
)
