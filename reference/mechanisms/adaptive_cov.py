"""AdaptiveCov: find a clipping norm and the better of two mechanisms, all privately. DLY22 Algorithm 3.

0. Optionally a private radius r̃ at √ρ/2 and β/8 (`private_radius`). Clip to r̃ and divide by it; multiply the result by
   r̃². Without it (the paper's experiments) r̃ = 1.
1. t̃ = min(1, max(1e-16, tr Σ + (2/(n√ρ))(N(0, 1) + √(2 ln(8/β))))), an upper bound on the trace (`private_trace`).
2. With ρ₁ for the last step and β₁ = 3β/4, the errors of GaussCov and of SeparateCov (Theorem 1, on trace t̃):
   g = ω(d, β₁)/(√ρ₁ n),    a = 2^{5/4} √(t̃ υ(d, β₁/2))/(ρ₁^{1/4} √n),    e = √2 η(d, β₁/2)/(√ρ₁ n).
   Clipped to 2^{−k} they are 4^{−k} g and 2^{−k} a + 4^{−k} e; N_k is the smaller.
3. AboveThreshold at ε₀ = √ρ/2 stops at the first k = 0, …, K where n(B_k − N_k), with the bias bound B_k of
   `clipped_cov`, is above 0. τ = min(1, 2^{1−k*}).
4. On rows clipped to τ, at ρ₁: GaussCov if 4^{−k*} g ≤ 2^{−k*} a + 4^{−k*} e, otherwise SeparateCov. Eigenvalues are
   rounded to [0, τ²].

bounds = "theorem" takes the proven ω, υ, η of `tails` in step 2. "code" takes those of the authors' code: their larger
υ, and a divided by 6 without a reason given. N_k only steers the choices, so privacy is the same. The figures of the
paper need the 6: Theorem 1 overstates the error of SeparateCov so much that "theorem" runs GaussCov where SeparateCov
is three times better. The code differs in three more ways, none of which is copied: it takes 2^{−k} g for 4^{−k} g in
step 3, min(·, r) for min(·, r²) in step 1, and it fails on rows of zeros, where it takes a logarithm. (Step 4 compares
at 2^{−k*}, although it clips to twice that: as in the code.)

What is spent. Step 1: the trace moves by |s − t|/n ≤ 1/n: ρ/8 (s − t)². Steps 0 and 3 are AboveThreshold on monotone
queries, whose loss lies in an interval of length ε₀ (`clipped_cov`): ε₀²/8 = ρ/32 each, where the paper counts
ε₀²/2 = ρ/8. Step 4: ρ₁. Composed,

paper : ρ₁ = 3ρ/4, or 5ρ/8 with a radius. Spends at most 29ρ/32, or 26ρ/32 with a radius. Claimed: ρ.
tight : ρ₁ = 27ρ/32, or 26ρ/32 with a radius. Proven: ρ. Ours.

The trace and step 4 do not exclude one another, although one row with s = 1 against t = 0 is needed for the first and
two long orthogonal rows for the second: step 4 sees rows clipped to τ and divided by it. For s = 1, t = τ² it spends
all of ρ₁ while the trace spends ρ/8 (1 − τ²)², and τ can be as small as 2^{−K}.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from covassay.reference import tails
from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    OnLargeRows,
    Rows,
    require_choice,
    require_dimension,
    require_positive,
    require_shape,
    sum_rows,
    unit_rows,
)
from covassay.reference.errors import InvalidInput
from covassay.reference.laws.wigner import ENSEMBLES, Ensemble
from covassay.reference.mechanisms import above_threshold, gauss_cov, private_radius, private_trace, separate_cov
from covassay.reference.mechanisms.about import CALIBRATIONS, About, Calibration
from covassay.reference.mechanisms.clipped_cov import (
    Base,
    base_loss,
    bin_counts,
    clip_level,
    clipped,
    first_level,
    last_level,
    search_loss,
)
from covassay.reference.privacy import ZCDP, Spend
from covassay.reference.projections import spectral_interval

Radius = Literal["none", "private"]
RADII: tuple[Radius, ...] = ("none", "private")
Bounds = Literal["theorem", "code"]
BOUNDS: tuple[Bounds, ...] = ("theorem", "code")
BETA = 0.1
PRECISION = private_radius.PRECISION

# FORMULAS


def search_epsilon(rho: Number) -> Number:
    """ε₀ = √ρ/2 of both searches: ρ/8 if counted as an ε₀-DP step."""
    return rho**0.5 / 2


def trace_budget(rho: Number) -> Number:
    """The ρ of the trace: ρ/8."""
    return rho / 8


def final_budget(rho: Number, radius: str, calibration: str) -> Number:
    """ρ₁ of the last step."""
    if calibration == "paper":
        return 3 * rho / 4 if radius == "none" else 5 * rho / 8
    return 27 * rho / 32 if radius == "none" else 26 * rho / 32


def privacy_loss(rho: Number, d: int, radius: str, calibration: str) -> Number:
    """Bound on the ρ that all steps spend."""
    searches = 1 if radius == "none" else 2
    final = base_loss(final_budget(rho, radius, calibration), d, "gauss")  # never less than that of "separate"
    return searches * search_loss(search_epsilon(rho)) + trace_budget(rho) + final


def separate_noise(k: int, a: Number, e: Number) -> Number:
    """2^{−k} a + 4^{−k} e."""
    return 2 ** (-k) * a + 4 ** (-k) * e


def gauss_noise(k: int, g: Number) -> Number:
    """4^{−k} g."""
    return 4 ** (-k) * g


@dataclass(frozen=True)
class Errors:
    """g, a, e of step 2."""

    gauss: Number
    directions: Number
    eigenvalues: Number


def errors(
    n: Number,
    d: int,
    rho: Number,
    trace: Number,
    beta: Number,
    ensemble: str,
    bounds: str,
    log: Callable[[Number], Number] = np.log,
) -> Errors:
    """g, a, e for mechanisms at ρ₁ = `rho` with β₁ = `beta`. "code" has one set of bounds for either ensemble.

    The code's υ is 0/0 in dimension 1; `upsilon_star` takes its place there.
    """
    if bounds == "theorem":
        spectral = separate_cov.spectral_bound(d, beta / 2, ensemble, log)
        gauss = gauss_cov.error_bound(n, d, rho, beta, ensemble, log)
        directions = separate_cov.direction_error(n, rho, trace, spectral)
    else:
        spectral = (tails.upsilon if d > 1 else tails.upsilon_star)(d, beta / 2, log)
        gauss = gauss_cov.noise_scale(n, rho) * tails.omega(d, beta, log)
        directions = separate_cov.direction_error(n, rho, trace, spectral) / 6
    return Errors(gauss, directions, separate_cov.eigenvalue_error(n, rho, tails.eta(d, beta / 2, log)))


# MECHANISM


@dataclass(frozen=True)
class Noise:
    """`radius`, `search`: of AboveThreshold; `trace`: N(0, 1); `base`: of the last step. `radius` None: no step 0."""

    radius: above_threshold.Noise | None
    trace: float
    search: above_threshold.Noise
    base: separate_cov.Noise


@dataclass(frozen=True)
class Decision:
    """k*, and the mechanism of step 4."""

    level: int
    base: Base


def decide(
    rows: Rows,
    noise: Noise,
    *,
    rho: float,
    radius: Radius,
    calibration: Calibration,
    ensemble: Ensemble,
    bounds: Bounds,
    beta: float,
) -> Decision:
    """Steps 1 to 3 and the choice of step 4, for rows in the unit ball."""
    n, d = rows.shape
    trace = float(sum_rows(lambda block: (block**2).sum(), rows)) / n
    scale = private_trace.gaussian_scale(n, trace_budget(rho))
    normal = float(require_shape("noise.trace", noise.trace, ()))
    bound = private_trace.upper_bound(trace, normal, scale, private_trace.gaussian_margin(beta / 8))
    found = errors(n, d, final_budget(rho, radius, calibration), bound, 3 * beta / 4, ensemble, bounds)

    def of_separate(k: int) -> float:
        return float(separate_noise(k, found.directions, found.eigenvalues))

    def of_gauss(k: int) -> float:
        return float(gauss_noise(k, found.gauss))

    last = last_level(n, d)
    smaller = [min(of_gauss(k), of_separate(k)) for k in range(last + 1)]
    level = first_level(bin_counts(rows, last), smaller, n, noise.search, search_epsilon(rho))
    return Decision(level, "gauss" if of_gauss(level) <= of_separate(level) else "separate")


def release(
    x: DataSet,
    noise: Noise,
    *,
    rho: float,
    radius: Radius = "none",
    calibration: Calibration = "paper",
    ensemble: Ensemble = "wigner",
    bounds: Bounds = "theorem",
    beta: float = BETA,
    precision: float = PRECISION,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Release the second moment with an adaptive clipping norm and mechanism, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : see `Noise`.
    rho : ρ > 0.
    radius : "none" or "private": step 0.
    calibration : "paper" or "tight".
    ensemble : "wigner" or "goe", the law that `noise.base.matrix` was drawn from.
    bounds : "theorem" or "code": the error bounds that steer the choices.
    beta : in (0, 1), public: the probability that a choice is not what is promised of it.
    precision : in (0, 1], public: the smallest private radius, in the unit of row_bound.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d, d) symmetric, positive semidefinite up to rounding, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ρ-zCDP for replacing one row, n public, in real arithmetic (proven: 29ρ/32 with "paper", or 26ρ/32 with a
        radius).
    Source : DLY22 Algorithm 3, Theorem 3; the split with a radius, the account and "tight" are ours.
    """
    # VALIDATE
    require_positive("rho", rho)
    require_choice("radius", radius, RADII)
    require_choice("calibration", calibration, CALIBRATIONS)
    require_choice("ensemble", ensemble, ENSEMBLES)
    require_choice("bounds", bounds, BOUNDS)
    if require_positive("beta", beta) >= 1:
        raise InvalidInput(f"beta = {beta!r}: must be below 1")
    if not 1e-100 <= require_positive("precision", precision) <= 1:
        raise InvalidInput(f"precision = {precision!r}: must be between 1e-100 and 1")
    rows = unit_rows(x, row_bound, on_large_rows)
    if (radius == "private") != (noise.radius is not None):
        raise InvalidInput(f"noise.radius = {noise.radius!r}: must be given if and only if radius is 'private'")

    # QUERY
    found = 1.0
    if noise.radius is not None:
        found = float(
            private_radius.release(rows, noise.radius, epsilon=search_epsilon(rho), precision=precision, beta=beta / 8)
        )
        rows = unit_rows(rows, found)
    decision = decide(
        rows, noise, rho=rho, radius=radius, calibration=calibration, ensemble=ensemble, bounds=bounds, beta=beta
    )
    tau = float(clip_level(decision.level))

    # NOISE
    noisy = clipped(rows, noise.base, final_budget(rho, radius, calibration), tau, decision.base, ensemble)

    # RELEASE
    return spectral_interval(noisy / tau**2, 0.0, 1.0) * (tau * found * row_bound) ** 2


def draw_noise(
    n: int,
    dimension: int,
    rng: np.random.Generator,
    *,
    radius: Radius = "none",
    ensemble: Ensemble = "wigner",
    precision: float = PRECISION,
) -> Noise:
    """The noise that `release` takes."""
    levels = len(private_radius.public_radii(precision))
    return Noise(
        above_threshold.draw_noise(levels, rng) if radius == "private" else None,
        float(rng.standard_normal()),
        above_threshold.draw_noise(last_level(n, dimension) + 1, rng),
        separate_cov.draw_noise(dimension, rng, ensemble=ensemble),
    )


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: float,
    radius: Radius = "none",
    calibration: Calibration = "paper",
    ensemble: Ensemble = "wigner",
    bounds: Bounds = "theorem",
    beta: float = BETA,
    precision: float = PRECISION,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    require_positive("rho", rho)
    if not 1e-100 <= require_positive("precision", precision) <= 1:
        raise InvalidInput(f"precision = {precision!r}: must be between 1e-100 and 1")
    n, d = unit_rows(x, row_bound, on_large_rows).shape
    return release(
        x,
        draw_noise(n, d, rng, radius=radius, ensemble=ensemble, precision=precision),
        rho=rho,
        radius=radius,
        calibration=calibration,
        ensemble=ensemble,
        bounds=bounds,
        beta=beta,
        precision=precision,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


def spend(
    *,
    rho: float,
    dimension: int,
    radius: Radius = "none",
    calibration: Calibration = "paper",
    ensemble: Ensemble = "wigner",
    bounds: Bounds = "theorem",
) -> Spend:
    """Claimed ρ; proven 29ρ/32 with "paper" (26ρ/32 with a radius), ρ with "tight", less in dimension 1."""
    require_positive("rho", rho)
    d = require_dimension("dimension", dimension)
    require_choice("radius", radius, RADII)
    require_choice("calibration", calibration, CALIBRATIONS)
    require_choice("ensemble", ensemble, ENSEMBLES)
    require_choice("bounds", bounds, BOUNDS)
    proven = privacy_loss(rho, d, radius, calibration)
    return Spend(ZCDP(rho), ZCDP(proven), False, "step by step; an upper bound")


ABOUT = About(
    name="adaptive-cov",
    title="adaptive clipping and mechanism",
    paper="DLY22",
    algorithm="Algorithm 3",
    notion="zcdp",
    released="matrix",
    symmetric=True,
    release=release,
    sample=sample,
    spend=spend,
    choices={"radius": RADII, "calibration": CALIBRATIONS, "ensemble": ENSEMBLES, "bounds": BOUNDS},
    parameters={"beta": BETA, "precision": PRECISION},
)
