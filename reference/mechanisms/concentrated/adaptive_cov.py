"""AdaptiveCov: choose a clipping norm and the better of two mechanisms privately. DLY22 Algorithm 3.

Clipping to a smaller norm means less noise and more bias. The steps find a norm with about equal noise and bias.

0. With radius="private", find a private radius r̃ (`private_radius` at ε₀ = √ρ/2); clip the rows to r̃ and divide them
   by it. With "none", as in the paper's experiments, r̃ = 1.
1. t̃ = tr Σ + N(0, 4/(n²ρ)) + a margin, kept in [1e-16, 1] (`private_trace`): an upper bound on tr Σ.
2. N_k = min(4^{−k} g, 2^{−k} a + 4^{−k} e). The first term bounds the error of `gauss_cov` (noise on every entry), the
   second that of `separate_cov` (noisy eigenvalues and eigenvectors), at budget ρ₁, on rows clipped to 2^{−k}.
3. B_k = (1/n) Σ_i max(0, u_i² − 4^{−k}) bounds the bias of such clipping; u_i is ‖x_i‖ rounded up to a power of two.
   AboveThreshold at ε₀ finds k*, the first k in 0, …, K = min(nd, 79) with n(B_k − N_k) ≥ 0 up to Laplace noise, or
   K + 1 if there is no such k. The new clipping norm is τ = min(1, 2^{1−k*}).
4. Clip the rows to τ and divide them by τ. Run the mechanism whose bound at k* is smaller, at ρ₁. Round its eigenvalues
   to [0, 1], and multiply by (τ r̃ r)², r the row bound: the output is positive semidefinite up to rounding.

Why ρ-zCDP. The trace costs ρ/8. Replacing one row moves all queries of a search in one direction, so a search costs
ε₀²/8 = ρ/32 by bounded range; the paper counts ρ/8. Step 4 costs ρ₁. The sums of these costs are upper bounds.
paper : ρ₁ = 3ρ/4, as in the authors' code, which has no step 0. This calibration claims ρ and spends at most 29ρ/32.
    With radius="private", we chose ρ₁ = 5ρ/8; then the calibration spends at most 26ρ/32.
tight : ρ₁ = 27ρ/32, or 26ρ/32 with radius="private", spending at most ρ. "tight" and the search cost ρ/32 are ours.

The bounds of step 2 are proven with bounds="theorem", and the authors' heuristics with "code". Privacy rests on
neither. NOTE: the steps are from the authors' code, not from the printed listing. The proof lists differences.

Proof: proofs/paper/adaptive-cov.md
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from covassay.reference import tails
from covassay.reference.domain import DataSet, Matrix, Number, Rows, require_shape, shape_of, total_square, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.building_blocks import above_threshold, private_radius, private_trace
from covassay.reference.mechanisms.concentrated import gauss_cov, separate_cov
from covassay.reference.mechanisms.concentrated.clipped_cov import (
    Base,
    base_loss,
    bin_counts,
    clip_level,
    clipped,
    first_level,
    last_level,
    search_loss,
)
from covassay.reference.mechanisms.concentrated.gauss_cov import Ensemble
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import (
    BetaToShare,
    Calibration,
    Dimension,
    LargeRows,
    Meaning,
    RhoToShare,
    RowBound,
    between,
    checked,
    strict,
)
from covassay.reference.privacy import CONCENTRATED, ZCDP, Spend
from covassay.reference.projections import spectral_interval

Radius = Annotated[
    Literal["none", "private"], Meaning('"private" first finds a radius that most rows lie in; "none" does not')
]
Bounds = Annotated[
    Literal["theorem", "code"],
    Meaning("the source of the error bounds that steps 2 to 4 compare: Theorem 1 of DLY22, or the authors' code"),
]
Precision = Annotated[float, between("", 1e-100, 1, "public: the smallest private radius, in the unit of row_bound")]
BETA = 0.1
PRECISION = private_radius.PRECISION

# FORMULAS


def search_epsilon(rho: Number) -> Number:
    """The budget ε₀ = √ρ/2 of each search. The paper counts ε₀²/2 = ρ/8 for a search, and ε₀²/8 = ρ/32 is proven."""
    return rho**0.5 / 2


def trace_budget(rho: Number) -> Number:
    """The budget ρ/8 of step 1."""
    return rho / 8


@strict(radius=Radius, calibration=Calibration)
def final_budget(rho: Number, radius: str, calibration: str) -> Number:
    """The budget ρ₁ of step 4."""
    if calibration == "paper":
        return 3 * rho / 4 if radius == "none" else 5 * rho / 8
    return 27 * rho / 32 if radius == "none" else 26 * rho / 32


@strict(radius=Radius, calibration=Calibration)
def privacy_loss(rho: Number, d: int, radius: str, calibration: str) -> Number:
    """A bound on the ρ that all steps spend: ε₀²/8 = ρ/32 per search, ρ/8 for the trace, and at most ρ₁ for step 4."""
    searches = 1 if radius == "none" else 2
    # at ρ₁ GaussCov spends ρ₁ (ρ₁/2 for d = 1), and SeparateCov at most as much
    final = base_loss(final_budget(rho, radius, calibration), d, "gauss")
    return searches * search_loss(search_epsilon(rho)) + trace_budget(rho) + final


def separate_noise(k: int, a: Number, e: Number) -> Number:
    """The bound 2^{−k} a + 4^{−k} e on the error of SeparateCov on rows clipped to 2^{−k}."""
    return 2 ** (-k) * a + 4 ** (-k) * e


def gauss_noise(k: int, g: Number) -> Number:
    """The bound 4^{−k} g on the error of GaussCov on rows clipped to 2^{−k}."""
    return 4 ** (-k) * g


@dataclass(frozen=True)
class Errors:
    """The coefficients g, a and e of the error bounds in step 2.

    The field `gauss` is g, for GaussCov. The fields `directions` and `eigenvalues` are a and e, for SeparateCov.
    """

    gauss: Number
    directions: Number
    eigenvalues: Number


@strict(ensemble=Ensemble, bounds=Bounds)
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
    """The terms g, a and e for mechanisms at ρ₁ = `rho`, with β₁ = `beta` and t̃ = `trace`.

    The bounds of "code" are the same for both ensembles. In dimension 1 the formula of "code" for υ, the bound on the
    spectral norm of W, is 0/0, and `upsilon_star` is used instead. `log` is the natural logarithm for the type of the
    numbers: numpy's, or mpmath's for exact figures.
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
class AdaptiveCovNoise:
    """The noise of the steps, where `radius` is for step 0 (or None), `trace` for step 1, `search` for step 3, and
    `base` for step 4.
    """

    radius: above_threshold.AboveThresholdNoise | None
    trace: float
    search: above_threshold.AboveThresholdNoise
    base: separate_cov.SeparateCovNoise


def within_radius(
    rows: Rows, noise: above_threshold.AboveThresholdNoise | None, rho: float, precision: float, beta: float
) -> tuple[Rows, float]:
    """Return the rows clipped to the private radius r̃ and divided by it, and r̃ (step 0). If `noise` is None, no
    radius is found: return the given rows, and r̃ = 1.
    """
    if noise is None:
        return rows, 1.0
    found = float(private_radius.release(rows, noise, epsilon=search_epsilon(rho), precision=precision, beta=beta / 8))
    return unit_rows(rows, found), found


def trace_bound(rows: Rows, noise: float, rho: float, beta: float) -> float:
    """Return the result t̃ of step 1, which is below tr Σ with probability at most β/8."""
    n, _ = rows.shape
    trace = total_square(rows) / n
    scale = private_trace.gaussian_scale(n, trace_budget(rho))
    normal = float(require_shape("noise.trace", noise, ()))
    return float(private_trace.upper_bound(trace, normal, scale, private_trace.gaussian_margin(beta / 8)))


def error_bounds(found: Errors, k: int) -> dict[Base, float]:
    """Return the result of step 2: bounds on the errors of both mechanisms on rows clipped to 2^{−k}. The smaller of
    the bounds for the two mechanisms is N_k.
    """
    separate = separate_noise(k, found.directions, found.eigenvalues)
    return {"gauss": float(gauss_noise(k, found.gauss)), "separate": float(separate)}


def least(bounds: dict[Base, float]) -> Base:
    """Return the mechanism with the smaller error bound, or "gauss" if both bounds are equal."""
    return "gauss" if bounds["gauss"] <= bounds["separate"] else "separate"


@checked
def release(
    x: DataSet,
    noise: AdaptiveCovNoise,
    *,
    rho: RhoToShare,
    radius: Radius = "none",
    calibration: Calibration = "paper",
    ensemble: Ensemble = "wigner",
    bounds: Bounds = "theorem",
    beta: BetaToShare = BETA,
    precision: Precision = PRECISION,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release the second moment with an adaptive clipping norm and mechanism, given the noise, an `AdaptiveCovNoise`.

    `bounds` and beta steer the choices of steps 0 to 4; the privacy guarantee does not depend on them.
    """
    # VALIDATE, and take row_bound as the unit of the rows
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    if (radius == "private") != (noise.radius is not None):
        raise InvalidInput(f"noise.radius = {noise.radius!r}: must be given if and only if radius is 'private'")

    # 0. QUERY and NOISE, if the radius is private: r̃, and the rows clipped to it and divided by it
    rows, unit = within_radius(rows, noise.radius, rho, precision, beta)

    # 1. QUERY and NOISE: t̃, an upper bound on tr Σ
    trace = trace_bound(rows, noise.trace, rho, beta)

    # 2. Compute the coefficients g, a and e of the error bounds from t̃, and N_k, the smaller bound, for every level k
    final, last = final_budget(rho, radius, calibration), last_level(n, d)
    found = errors(n, d, final, trace, 3 * beta / 4, ensemble, bounds)
    smaller = [min(error_bounds(found, k).values()) for k in range(last + 1)]

    # 3. QUERY and NOISE: k*, the first level with n(B_k − N_k) ≥ 0 up to noise, and τ
    level = first_level(bin_counts(rows, last), smaller, n, noise.search, search_epsilon(rho))
    tau = float(clip_level(level))

    # 4. QUERY and NOISE: let M be the mechanism with the smaller bound, and X' the rows, clipped to norm τ and then
    # divided by τ. The function `clipped` returns τ² M(X').
    better = least(error_bounds(found, level))
    noisy = clipped(rows, noise.base, final, tau, better, ensemble)
    return spectral_interval(noisy / tau**2, 0.0, 1.0) * (tau * unit * row_bound) ** 2


@checked
def draw_noise(
    dimension: int,
    rng: np.random.Generator,
    *,
    rows: int,
    radius: Radius = "none",
    ensemble: Ensemble = "wigner",
    precision: float = PRECISION,
) -> AdaptiveCovNoise:
    """Return the noise that `release` takes for a data set of the given size."""
    levels = len(private_radius.public_radii(precision))
    return AdaptiveCovNoise(
        above_threshold.draw_noise(levels, rng) if radius == "private" else None,
        float(rng.standard_normal()),
        above_threshold.draw_noise(last_level(rows, dimension) + 1, rng),
        separate_cov.draw_noise(dimension, rng, ensemble=ensemble),
    )


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    rho: RhoToShare,
    radius: Radius = "none",
    calibration: Calibration = "paper",
    ensemble: Ensemble = "wigner",
    bounds: Bounds = "theorem",
    beta: BetaToShare = BETA,
    precision: Precision = PRECISION,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    rho : ρ in [1e-27, 1e30], the budget.
    radius : value "private" first finds a radius that most rows lie in; "none" does not.
    calibration : value "paper" has the constants of the source; "tight" has less noise, and our proof covers both.
    ensemble : the law of W; "wigner" has variance 1 on and above the diagonal, "goe" 1 on it and 1/2 above it.
    bounds : the source of the error bounds that steps 2 to 4 compare: Theorem 1 of DLY22, or the authors' code.
    beta : β in [1e-297, 1), public: the probability that the error bound may fail.
    precision : in [1e-100, 1], public: the smallest private radius, in the unit of row_bound.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    (d, d), symmetric, in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ρ-zCDP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    n, d = shape_of(x)
    noise = draw_noise(d, rng, rows=n, radius=radius, ensemble=ensemble, precision=precision)
    return release(
        x,
        noise,
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


@checked
def spend(
    *,
    rho: RhoToShare,
    dimension: Dimension,
    radius: Radius = "none",
    calibration: Calibration = "paper",
    ensemble: Ensemble = "wigner",
    bounds: Bounds = "theorem",
) -> Spend:
    """The claimed budget is ρ.

    The proven budget is 29ρ/32 with "paper" (26ρ/32 with a private radius) and ρ with "tight". In dimension 1 the
    proven budget is ρ₁/2 less.
    """
    proven = privacy_loss(rho, dimension, radius, calibration)
    return Spend(claimed=ZCDP(rho), proven=ZCDP(proven), attained=False, remark="the sum of upper bounds of the steps")


ABOUT = About("adaptive-cov", "adaptive clipping and mechanism", "DLY22", "Algorithm 3", "code")
MECHANISM = Mechanism(ABOUT, CONCENTRATED, SYMMETRIC_SECOND_MOMENT, release, draw_noise, sample, spend)
