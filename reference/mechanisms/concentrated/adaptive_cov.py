"""AdaptiveCov: find a clipping norm and the better of two mechanisms, all privately. DLY22 Algorithm 3.

DLY22: Dong, Liang and Yi 2022, Differentially Private Covariance Revisited. Neighbours: one row x is replaced by y, n
public. Every row is divided by the row bound and clipped to the unit ball by itself, so neighbours stay neighbours.
Σ = (1/n) Σ_i x_i x_iᵀ. AboveThreshold, on queries f_i with threshold T, stops at the first i with

    f_i + (4/ε₀) ν_i ≥ T + (2/ε₀) z,    ε₀ = √ρ/2, z and ν_i independent Laplace(1).

0. Optionally a private radius r̃ (`private_radius`). Radii r_j = min(1, b 2^j), j = 0, …, J = ⌈log₂(1/b)⌉, b the
   precision. f_j = how many rows have norm at most r_j, T = n − α, α = (8/ε₀) ln(16(J + 1)/β). r̃ = the r_j where
   AboveThreshold stops, 1 if it does not. Clip the rows to r̃ and divide them by it, back into the unit ball; multiply
   the result by r̃². Without step 0, as in the paper's experiments, r̃ = 1.
1. t̃ = min(1, max(1e-16, tr Σ + (2/(n√ρ))(N(0, 1) + √(2 ln(8/β))))) (`private_trace`).
2. Bounds on the Frobenius errors of GaussCov and SeparateCov at ρ₁ (see below), with β₁ = 3β/4: g and a + e,

       g = ω(d, β₁)/(√ρ₁ n),    a = 2^{5/4} √(t̃ υ(d, β₁/2))/(ρ₁^{1/4} √n),    e = √2 η(d, β₁/2)/(√ρ₁ n).

   On rows clipped to 2^{−k} they are 4^{−k} g and 2^{−k} a + 4^{−k} e; N_k is the smaller.
3. c_j = #{i: 2^{−j} < ‖x_i‖ ≤ 2^{1−j}}, j ≥ 1; rows of zeros are in no bin. B_k = (1/n) Σ_{j≤k} c_j (4^{1−j} − 4^{−k})
   bounds the bias of clipping to 2^{−k}, at most (1/n) Σ_i (‖x_i‖² − 4^{−k})₊ (`clipped_cov`). k* = the first
   k = 0, …, K at which AboveThreshold stops on f_k = n(B_k − N_k), T = 0, or K + 1 if it does not. K = min(nd, 79), the
   79 from the authors' code. τ = min(1, 2^{1−k*}), so τ is at least 2^{−K}.
4. Clip the rows to τ and divide them by τ. GaussCov at ρ₁ if 4^{−k*} g ≤ 2^{−k*} a + 4^{−k*} e, otherwise SeparateCov
   at ρ₁, on Σ of these rows. Round the eigenvalues to [0, 1]; multiply the result by τ².

GaussCov : Σ + σW, σ = 1/(n√ρ₁). W is symmetric with independent entries on and above the diagonal: N(0, 1) ("wigner"),
    or N(0, 1) on it and N(0, 1/2) above it ("goe", ours).
SeparateCov : eigenvectors of Σ + √2 σW, with the eigenvalues λ(Σ) + √2 σ N(0, I_d), both in descending order.

What is spent. Let s = ‖x‖², t = ‖y‖² after the unit ball and step 0: both at most 1.
Step 1: the trace moves by (t − s)/n, the noise has σ = 2/(n√ρ): ((t − s)/n)²/(2σ²) = ρ/8 (s − t)² ≤ ρ/8.
Steps 0 and 3: the queries are monotone, all move by 0 to 1 in one direction. Step 0: f_j moves by
    1{‖y‖ ≤ r_j} − 1{‖x‖ ≤ r_j}, which has the sign of ‖x‖ − ‖y‖ for every j. Step 3: g, a, e and N_k are functions of
    t̃ and public numbers, so only nB_k moves. In it a row of bin j counts 4^{1−j} − 4^{−k} if j ≤ k and 0 otherwise: in
    [0, 1), and for every k the longer row counts no less.
    Let P, P' be the laws of the stop for f and f' ≥ f. To raise the noise of T by 1 (a factor e^{ε₀/2}) and that of f_i
    by at most 1 (e^{ε₀/4}) maps a stop at i for f into one for f': P ≤ e^{3ε₀/4} P'. Back, the noise of f_i alone is
    raised, by at most 1: P' ≤ e^{ε₀/4} P. So L = ln(P'/P) lies in [−3ε₀/4, ε₀/4], of length ε₀, and costs ε₀²/8 = ρ/32
    (bounded range, Cesar–Rogers 2020): ψ(α) = ln E_P e^{αL} has ψ(0) = ψ(1) = 0 and ψ'' ≤ ε₀²/4, a variance on that
    interval, so D_α(P'‖P) = ψ(α)/(α − 1) ≤ αε₀²/8; likewise D_α(P‖P'), with −L. The paper counts ε₀²/2 = ρ/8, as for
    any ε₀-DP step.
Step 4: given τ, clipping and dividing map x, y to u, v in the unit ball, and nΣ moves by Δ = uuᵀ − vvᵀ, ‖Δ‖_F² =
    ‖u‖⁴ + ‖v‖⁴ − 2⟨u, v⟩² ≤ 2. GaussCov: D_α = (α/2) Σ_{i≤j} (Δ_ij/n)²/(σ² Var W_ij) ≤ (αρ₁/2) ‖Δ‖_F² ≤ αρ₁, equal
    for goe, no more for wigner. SeparateCov: ρ₁/2 for its matrix, GaussCov at ρ₁/2, and ρ₁/2 for the eigenvalues, which
    move by at most ‖Δ‖_F/n ≤ √2/n in ℓ₂ (Hoffman–Wielandt): (√2/n)²/(2 · 2σ²). In dimension 1, |Δ| ≤ 1 and there is no
    direction: ρ₁/2 and ρ₁/4.
The rest is computed from these outputs. zCDP adds up, also if a step depends on earlier outputs:

paper : ρ₁ = 3ρ/4 as in the authors' code, which has no step 0; 5ρ/8 with a radius is ours (another ρ/8 set aside).
    Claimed by DLY22: ρ. Proven here, in all: 3ρ/4 + ρ/8 + ρ/32 = 29ρ/32, or 5ρ/8 + ρ/8 + 2ρ/32 = 26ρ/32.
tight : ρ₁ = what ρ/8 and ρ/32 per search leave of ρ: 27ρ/32, or 26ρ/32 with a radius. Proven: ρ in all. Ours.

These are upper bounds; the least ρ is open. Step 3 spends less: its moves grow with k, so it is enough to raise the
noise of T by the move at i − 1, L lies in [−ε₀/2, ε₀/4] (`adaptive_cov_pure`), and ρ/32 could be 9ρ/512. Not used.
Steps 1 and 4 seem to exclude one another: s = 1 against t = 0 for the one, two long orthogonal rows for the other. They
do not: orthogonal x, y with s = 1, t = τ² become orthonormal u, v, so that GaussCov spends all of ρ₁ if the search
stops there, while the trace spends ρ/8 (1 − τ²)². So that argument does not lower the sum. It does not show that the
sum is attained either.

What steers the choices. Privacy rests on none of it.
β/8 : t̃ is an upper bound, t̃ ≥ tr Σ, with probability 1 − β/8: P(N(0, 1) < −√(2 ln(8/β))) ≤ β/8. Its floor 1e-16 is
    the code's; it keeps √t̃ real.
3β/4 : ‖W‖_F ≤ ω(d, β) and ‖W‖ ≤ υ(d, β) (spectral), ‖N(0, I_d)‖ ≤ η(d, β), each with probability 1 − β (`tails`). So
    g holds with probability 1 − 3β/4, and so does a + e, at 3β/8 for υ and for η, if t̃ ≥ tr Σ (DLY22 Theorem 1,
    proven in `separate_cov`).
β/8 : the α of step 0 (what it promises: `private_radius`). The accuracy of step 3 enters no formula.
Powers of 2^{−k}: for rows clipped to c and divided by c the trace is at most t̃/c², and the output is multiplied by c².
    So a becomes c² a/c = ca, and g, e become c² g, c² e.

bounds = "theorem" takes proven ω, υ, η of `tails`, for the ensemble at hand. "code" takes those of the authors' code,
made for wigner, whatever the ensemble: a larger ω, two to three times the υ, and a divided by 6 without a reason given,
so it is no bound. The figures of the paper need the 6: Theorem 1 overstates the error of SeparateCov so much that
"theorem" runs GaussCov where SeparateCov is three times better. The code differs in three more ways, none of which is
copied: it takes 2^{−k} g for 4^{−k} g in step 3, min(·, r) for min(·, r²) in step 1, r its row bound, and it fails on
rows of zeros, where it takes a logarithm. One thing is copied: step 4 compares at 2^{−k*}, though it clips to twice
that. This has not been held against the listing of Algorithm 3 in print.
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
    require_below_one,
    require_between,
    require_choice,
    require_dimension,
    require_positive,
    require_shape,
    sum_rows,
    unit_rows,
)
from covassay.reference.errors import InvalidInput
from covassay.reference.laws.wigner import ENSEMBLES, Ensemble
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
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
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
    """ε₀ = √ρ/2 of AboveThreshold in steps 0 and 3. ε₀²/2 = ρ/8 is the paper's count, ε₀²/8 = ρ/32 is proven."""
    return rho**0.5 / 2


def trace_budget(rho: Number) -> Number:
    """ρ/8, for step 1."""
    return rho / 8


def final_budget(rho: Number, radius: str, calibration: str) -> Number:
    """ρ₁ of step 4."""
    if calibration == "paper":
        return 3 * rho / 4 if radius == "none" else 5 * rho / 8
    return 27 * rho / 32 if radius == "none" else 26 * rho / 32


def privacy_loss(rho: Number, d: int, radius: str, calibration: str) -> Number:
    """Bound on the ρ that all steps spend: ε₀²/8 = ρ/32 per search, ρ/8, and what step 4 spends."""
    searches = 1 if radius == "none" else 2
    # GaussCov spends ρ₁, or ρ₁/2 if d = 1; SeparateCov ρ₁, or ρ₁/4: either choice spends at most what GaussCov does
    final = base_loss(final_budget(rho, radius, calibration), d, "gauss")
    return searches * search_loss(search_epsilon(rho)) + trace_budget(rho) + final


def separate_noise(k: int, a: Number, e: Number) -> Number:
    """2^{−k} a + 4^{−k} e: the error of SeparateCov on rows clipped to 2^{−k}."""
    return 2 ** (-k) * a + 4 ** (-k) * e


def gauss_noise(k: int, g: Number) -> Number:
    """4^{−k} g: the error of GaussCov on rows clipped to 2^{−k}."""
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
    """g, a, e for mechanisms at ρ₁ = `rho` with β₁ = `beta` and t̃ = `trace`.

    "code" has one set of bounds for either ensemble. Its υ is 0/0 in dimension 1; `upsilon_star` takes its place there.
    `log` : the natural logarithm, of the type of number that comes in (numpy's, or mpmath's for exact figures).
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
    """`radius`, `search`: of AboveThreshold; `trace`: N(0, 1); `base`: of the last step. `radius` None: no step 0."""

    radius: above_threshold.AboveThresholdNoise | None
    trace: float
    search: above_threshold.AboveThresholdNoise
    base: separate_cov.SeparateCovNoise


@dataclass(frozen=True)
class Decision:
    """k*, and the mechanism of step 4."""

    level: int
    base: Base


def decide(
    rows: Rows,
    noise: AdaptiveCovNoise,
    *,
    rho: float,
    radius: Radius,
    calibration: Calibration,
    ensemble: Ensemble,
    bounds: Bounds,
    beta: float,
) -> Decision:
    """Steps 1 to 3 and the choice of step 4, for rows in the unit ball. All it shows of them is t̃ and k*."""
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
    noise: AdaptiveCovNoise,
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
    noise : see `AdaptiveCovNoise`.
    rho : ρ > 0.
    radius : "none" or "private": step 0.
    calibration : "paper" or "tight".
    ensemble : "wigner" or "goe", the law that `noise.base.matrix` was drawn from.
    bounds : "theorem" or "code": the error bounds that steer the choices.
    beta : in (0, 1), public: sets α of step 0, the margin of step 1 and the bounds of step 2. Privacy is the same.
    precision : in [1e-100, 1], public: b, the smallest private radius, in the unit of row_bound.
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
    require_below_one("beta", beta)
    require_between("precision", precision, 1e-100, 1)
    rows = unit_rows(x, row_bound, on_large_rows)
    if (radius == "private") != (noise.radius is not None):
        raise InvalidInput(f"noise.radius = {noise.radius!r}: must be given if and only if radius is 'private'")

    # QUERY
    found = 1.0
    if noise.radius is not None:
        found = float(
            private_radius.release(rows, noise.radius, epsilon=search_epsilon(rho), precision=precision, beta=beta / 8)
        )
        rows = unit_rows(rows, found)  # clips to r̃, its default, and divides by r̃
    decision = decide(
        rows, noise, rho=rho, radius=radius, calibration=calibration, ensemble=ensemble, bounds=bounds, beta=beta
    )
    tau = float(clip_level(decision.level))  # min(1, 2^{1−k*})

    # NOISE, τ² times the output on the rows clipped to τ and divided by τ
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
) -> AdaptiveCovNoise:
    """The noise that `release` takes."""
    levels = len(private_radius.public_radii(precision))
    return AdaptiveCovNoise(
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
    require_between("precision", precision, 1e-100, 1)
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
    """Claimed ρ; proven 29ρ/32 with "paper" (26ρ/32 with a radius), ρ with "tight"; ρ₁/2 less in dimension 1."""
    require_positive("rho", rho)
    d = require_dimension("dimension", dimension)
    require_choice("radius", radius, RADII)
    require_choice("calibration", calibration, CALIBRATIONS)
    require_choice("ensemble", ensemble, ENSEMBLES)
    require_choice("bounds", bounds, BOUNDS)
    proven = privacy_loss(rho, d, radius, calibration)
    return Spend(claimed=ZCDP(rho), proven=ZCDP(proven), attained=False, remark="step by step; an upper bound")


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
