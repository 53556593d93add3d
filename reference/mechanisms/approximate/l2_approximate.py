"""ℓ2 mechanism: Σ plus noise with density ∝ exp(−‖Z‖_F/s), under (ε, δ)-DP. Joseph, Kulesza, Yu 2025.

1. Compute Σ = (1/n) Σ_i x_i x_iᵀ.
2. Draw a symmetric Z with density ∝ exp(−‖Z‖_F): a radius from Gamma(D), D = d(d + 1)/2, times a uniform direction
   (`laws.k_norm`, body l2). Add sZ to Σ.
3. Release Σ + sZ. The output is symmetric, but it need not be positive semidefinite.

Why (ε, δ)-DP. Let the second moments Σ and Σ' of two neighbours have the distance ‖Σ − Σ'‖_F = qs. The privacy loss ℓ =
(‖Y − Σ'‖_F − ‖Y − Σ‖_F)/s of an output Y lies in [−q, q]. For D > 1 the loss has the density

    c e^{ℓ/2} (1 − ν²)^{(D−3)/2} (κ + 1 − ν²),   ν = ℓ/q,   κ = (2(D − 1)/q) K_{D/2}(q/2)/K_{D/2−1}(q/2),

with Bessel functions K. Hence the least δ at ε, which is δ(q, ε) = E max(0, 1 − e^{ε−ℓ}), is an integral over one
variable. For D = 1 and q ≥ ε the value of δ(q, ε) is 1 − e^{(ε−q)/2}. The value grows with q, and the largest q is Δ/s.
Orthonormal rows attain Δ = √2/n; if d = 1, Δ is 1/n. The scale s is the least with δ(Δ/s, ε) ≤ δ. The release is also
Δ/s-DP, whereas Gaussian noise is ε-DP for no ε.

NOTE: we had the abstract and the authors' code, but not the paper. The authors bound δ for any query, by sums over
spherical shells. We added the density of the loss, the integral and the scale for Σ.

Accuracy. E‖sZ‖_F² = s²D(D + 1). At ε = 1, δ = 1e-6 and d = 2, 5 and 20, this error is 0.22, 0.63 and 0.97 times that of
the least Gaussian noise ("goe").

Proof: proofs/paper/l2-approximate.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Annotated

import numpy as np
import scipy
from scipy.special import k0e, k1e

from covassay.reference.domain import (
    Array,
    DataSet,
    Matrix,
    Number,
    Vector,
    require_symmetric,
    second_moment,
    shape_of,
    sized_unit_rows,
)
from covassay.reference.laws import k_norm as law
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import (
    SMALLEST_PROBABILITY,
    THE_BUDGET,
    Delta,
    Dimension,
    LargeRows,
    RowBound,
    between,
    checked,
)
from covassay.reference.mechanisms.pure import k_norm
from covassay.reference.privacy import APPROXIMATE, ApproximateDP, Spend
from covassay.reference.sensitivity import square_root

ROUNDED_DOWN = 1e-9  # q − ε is decreased by this share, which is larger than the relative error of the root
LOST = 1e-15  # a relative error that is larger than the rounding errors of q and of q cos x
STEPS = 400  # the number of steps of the recurrence for the Bessel functions, after which a wrong start has no effect
BELOW = 60.0  # an integrand e^60 times smaller than its maximum adds nothing to an integral
PANELS, NODES = 16, np.polynomial.legendre.leggauss(32)
# Above 1e4 the recurrence would need more steps, and float64 would lose digits of ε − ℓ.
L2Epsilon = Annotated[float, between("ε", 1e-8, 1e4, THE_BUDGET)]

# FORMULAS


def sensitivity(n: Number, d: int, sqrt: Callable[[Number], Number] = square_root) -> Number:
    """The sensitivity Δ, which is the largest ‖Σ − Σ'‖_F over neighbours: √2/n, or 1/n for d = 1."""
    return k_norm.sensitivity("l2", n, d, sqrt)


def noise_scale(change: Number, q: Number) -> Number:
    """The noise scale s = Δ/q."""
    return change / q


def next_ratio(ratio: Number, order: Number, z: Number) -> Number:
    """The ratio K_{ν+1}(z)/K_ν(z) of Bessel functions, given `ratio` = K_ν(z)/K_{ν−1}(z) and the order ν."""
    return 2 * order / z + 1 / ratio


def log_weight(
    cosine: Number,
    log_sine: Number,
    q: Number,
    entries: Number,
    kappa: Number,
    log: Callable[[Number], Number] = math.log,
) -> Number:
    """The log density of the angle x, up to a constant, where the loss is ℓ = q cos x, for D = `entries` > 1."""
    return q * cosine / 2 + (entries - 2) * log_sine + log(kappa + 1 - cosine**2)


def line_delta(q: Number, epsilon: Number, expm1: Callable[[Number], Number] = math.expm1) -> Number:
    """The value of δ(q, ε) for D = 1 and q ≥ ε: 1 − e^{(ε−q)/2}."""
    return -expm1((epsilon - q) / 2)


# MECHANISM


def kappa(q: float, entries: int) -> float:
    """The constant κ = (2(D − 1)/q) K_{D/2}(q/2)/K_{D/2−1}(q/2) in the density of the loss, for D > 1."""
    z, last = q / 2, entries / 2
    first = (0.5 if entries % 2 else 1.0) + max(0, math.ceil(last) - 1 - STEPS)
    start = 1.0 if entries % 2 else float(k1e(z) / k0e(z))
    # any start between two known bounds will do, because the recurrence damps its error
    ratio = start if first <= 1 else (first + math.hypot(first, z)) / z
    order = first
    while order < last:
        ratio, order = next_ratio(ratio, order, z), order + 1
    return (entries - 1) * ratio / z


def log_integral(log_f: Callable[[Vector], Vector], end: float) -> float:
    """Return ln ∫_0^end f, for a function with one maximum, by Gauss–Legendre quadrature around the maximum."""

    def at(x: float) -> float:
        return float(log_f(np.array([x]))[0])

    top = float(
        scipy.optimize.minimize_scalar(lambda x: -at(x), bounds=(0, end), method="bounded", options={"xatol": 1e-13}).x
    )
    floor = at(top) - BELOW
    low, high = 0.0, end
    for _ in range(60):  # bisect for the points where f is e^60 times smaller than its maximum
        left, right = (low + top) / 2, (high + top) / 2
        if at(left) >= floor and at(right) >= floor:
            break
        low, high = (left if at(left) < floor else low), (right if at(right) < floor else high)
    edges = np.linspace(low, high, PANELS + 1)
    half = np.diff(edges)[:, None] / 2
    values = log_f((edges[:-1, None] + half * (1 + NODES[0])).ravel()).reshape(PANELS, -1)
    peak = float(values.max())
    return peak + math.log(float((half * NODES[1] * np.exp(values - peak)).sum()))


def log_delta(q: float, epsilon: float, entries: int) -> float:
    """The logarithm of δ(q, ε) for D = `entries`, which is −∞ for q ≤ ε."""
    if q <= epsilon:
        return -math.inf
    if entries == 1:
        return math.log(line_delta(q, epsilon))
    factor = kappa(q, entries)

    def density(x: Vector) -> Vector:
        cosine = np.cos(x)
        steep = np.abs(cosine) < 0.7  # where |cos x| is near 1, the logarithm of the sine needs another formula
        log_sine = np.where(steep, np.log1p(-(np.where(steep, cosine, 0) ** 2)) / 2, np.log(np.sin(x)))
        return np.asarray(log_weight(cosine, log_sine, q, entries, factor, np.log))

    def beyond(x: Vector) -> Vector:
        return density(x) + np.log(np.maximum(-np.expm1(epsilon - q * np.cos(x)), SMALLEST_PROBABILITY))

    end = 2 * math.asin(math.sqrt((q - epsilon) / (2 * q)))  # the end of the range where cos x > ε/q
    return min(0.0, log_integral(beyond, end) - log_integral(density, math.pi))


@lru_cache(maxsize=256)  # results are stored, because they depend on public numbers alone and a search takes some 20 ms
def largest_move(epsilon: float, delta: float, dimension: int) -> float:
    """The largest q with δ(q, ε) ≤ δ, rounded down, and at least ε."""
    entries = int(law.degrees_of_freedom(dimension))

    def excess(log_beyond: float) -> float:
        return log_delta(epsilon * (1 + math.exp(log_beyond)), epsilon, entries) - math.log(delta)

    low, high = -30.0, 0.0
    if excess(low) >= 0:  # float64 has no number between q and ε
        return epsilon
    while excess(high) < 0:
        low, high = high, high + 2
    while high - low > 4 and excess((low + high) / 2) > 0:  # stay away from q where ln δ may be −∞
        high = (low + high) / 2
    root = float(scipy.optimize.brentq(excess, low, high, xtol=1e-13, rtol=1e-13))
    q = epsilon * (1 + math.exp(root) * (1 - ROUNDED_DOWN))
    return max(epsilon, q * (1 - LOST))


@checked
def release(
    x: DataSet,
    noise: Matrix,
    *,
    epsilon: L2Epsilon,
    delta: Delta,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release the noisy second moment, given the noise: a (d, d) draw of Z, symmetric.

    Noise of many draws, (..., d, d), gives one output for each draw.
    """
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)
    z = require_symmetric("noise", noise, (d, d), stacked=True)

    # 1. QUERY
    moment = second_moment(rows)

    # 2. NOISE
    scale = noise_scale(sensitivity(n, d), largest_move(epsilon, delta, d))
    noisy: Matrix = moment + scale * z

    # 3. RELEASE
    return noisy * row_bound**2


def draw_noise(dimension: int, rng: np.random.Generator, size: int | None = None) -> Array:
    """Return the noise that `release` takes, (d, d) or (size, d, d)."""
    return law.sample("l2", dimension, rng, size)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: L2Epsilon,
    delta: Delta,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-8, 10000], the budget.
    delta : δ in [1e-300, 1), the additive term of (ε, δ)-DP.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    (d, d), symmetric, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is (ε, δ)-DP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(x, noise, epsilon=epsilon, delta=delta, row_bound=row_bound, on_large_rows=on_large_rows)


@checked
def spend(*, epsilon: L2Epsilon, delta: Delta, dimension: Dimension) -> Spend:
    """The claimed budget is (ε, δ). The proven budget is the least δ at ε, attained in every dimension."""
    q = largest_move(epsilon, delta, dimension)
    exact = math.exp(log_delta(q, epsilon, int(law.degrees_of_freedom(dimension))))
    return Spend(
        ApproximateDP(epsilon, delta),
        ApproximateDP(epsilon, min(max(exact, SMALLEST_PROBABILITY), math.nextafter(1.0, 0.0))),
        exact > SMALLEST_PROBABILITY,
        "if row e₁ replaces row e₂ (for d = 1: 1 replaces 0), the event that the loss exceeds ε attains the proven δ",
    )


ABOUT = About(
    "l2-approximate",
    "ℓ2 mechanism, (ε, δ)",
    "Joseph, Kulesza, Yu 2025",
    "ℓ2 mechanism, with the least scale (ours)",
    "ours",
)
MECHANISM = Mechanism(
    ABOUT,
    APPROXIMATE,
    SYMMETRIC_SECOND_MOMENT,
    release,
    draw_noise,
    sample,
    spend,
    unranked="the mechanism claims (ε, δ)-DP, but the compared mechanisms claim ε-DP or ρ-zCDP",
)
