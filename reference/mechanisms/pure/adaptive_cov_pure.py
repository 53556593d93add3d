"""AdaptiveCov, pure: find a clipping length, then run the better of two mechanisms on clipped rows. DLY22 Section 6.

0. With radius = "private", AboveThreshold (`private_radius` at ε/8, β/8) finds a length r that most rows do not exceed.
   Clip the rows to length r and divide them by r. With radius = "none", r = 1.
1. U = tr Σ + (8/(nε)) (Laplace(1) + ln(4/β)), kept in [1e-16, 1] (`private_trace` at ε/8). U is an upper bound on tr Σ,
   except with probability at most β/8.
2. Step 4 has the budget ε₁. N_k = min(4^{−k} g, 2^{−k} a + 4^{−k} e) bounds the noise on rows clipped to length 2^{−k}.
   On unit rows, the error bound of LapCov (`lap_cov`, Laplace noise on every entry) is g. The error bound of
   SeparateCov (`separate_cov_pure`, noisy eigenvalues on noisy eigenvectors) is a + e if the trace is U. Both bounds
   are for budget ε₁ and failure probability 3β/4.
3. B_k = (1/n) Σ_i max(0, u_i² − 4^{−k}) bounds the bias that clipping to 2^{−k} causes. The number u_i is the least
   power of two ≥ ‖x_i‖, and 0 if x_i = 0. With budget ε/8, AboveThreshold finds the first k of 0, …, K = min(nd, 79) at
   which the query n(B_k − N_k) reaches the threshold 0, up to noise. This k is k*. If there is none, k* = K + 1.
4. τ = min(1, 2^{1−k*}). Clip the rows to length τ, divide them by τ, and run LapCov or SeparateCov at ε₁, whichever has
   the smaller bound in N_{k*}. Release r²τ² times the result, with its eigenvalues clipped to [0, 1].

Why ε-DP. The losses of the steps add up. The radius costs 3ε/32 (ε/8 with "tight"), the trace ε/8, and the last step
what LapCov or SeparateCov spends at ε₁. The search has noise of scale b₁ on its threshold and b₂ on its queries. It
costs max(1/b₁, 1/b₂): one row moves all queries in one direction, each by at least as much as the query before.

paper : ε₁ = 3ε/4, or 5ε/8 (our choice) with a radius step; b₁ = 16/ε, b₂ = 32/ε. The claim is ε; (3/16) ε + fε₁ is
    spent, or (9/32) ε + fε₁ with a radius step. The last step spends fε₁: f = 0.895, 0.819, 0.783 for d = 2, 4, 8.
tight : b₁ = b₂ = 8/ε; radius and last step are "tight", too. ε is spent, or at most ε with a radius step.

Proof: proofs/paper/adaptive-cov-pure.md
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covassay.reference import tails
from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    Rows,
    Vector,
    require_shape,
    shape_of,
    total_square,
    unit_rows,
)
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.building_blocks import above_threshold, private_radius, private_trace
from covassay.reference.mechanisms.concentrated.adaptive_cov import Precision, Radius, gauss_noise, separate_noise
from covassay.reference.mechanisms.concentrated.clipped_cov import bias_bound, bin_counts, clip_level, last_level
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import SYMMETRIC_SECOND_MOMENT
from covassay.reference.mechanisms.parameters import (
    BetaToShare,
    Calibration,
    Dimension,
    EpsilonToShare,
    LargeRows,
    RowBound,
    checked,
    strict,
)
from covassay.reference.mechanisms.pure import lap_cov, separate_cov_pure
from covassay.reference.privacy import PURE, PureDP, Spend
from covassay.reference.projections import spectral_interval

# FORMULAS
# The functions `bias_bound` and `clip_level` are imported from `clipped_cov`.


def step_epsilon(epsilon: Number) -> Number:
    """The budget ε/8 of each of the steps radius, trace and search."""
    return epsilon / 8


@strict(radius=Radius)
def final_epsilon(epsilon: Number, radius: str) -> Number:
    """The budget ε₁ of the final step: 3ε/4, or 5ε/8 with a radius step."""
    return epsilon * (6 if radius == "none" else 5) / 8


@strict(calibration=Calibration)
def search_epsilon(epsilon: Number, calibration: str) -> Number:
    """The ε given to AboveThreshold: ε/8 with "paper"; ε/4 with "tight", where the search spends half of it."""
    return step_epsilon(epsilon) * (1 if calibration == "paper" else 2)


@strict(calibration=Calibration)
def search_scales(epsilon: Number, calibration: str) -> tuple[Number, Number]:
    """The noise scales b₁ and b₂ of AboveThreshold."""
    return above_threshold.threshold_scale(epsilon), above_threshold.query_scale(epsilon, calibration)


def search_loss(b1: Number, b2: Number) -> Number:
    """A bound on the loss of AboveThreshold if all queries move in one direction, each by at least as much as the query
    before it.
    """
    return max(1 / b1, 1 / b2)


def noise_level(k: int, g: Number, a: Number, e: Number) -> Number:
    """The bound N_k = min(4^{−k} g, 2^{−k} a + 4^{−k} e)."""
    return min(gauss_noise(k, g), separate_noise(k, a, e))


@strict(calibration=Calibration)
def lap_bound(n: Number, d: int, epsilon: Number, beta: Number, calibration: str, log: tails.Log = np.log) -> Number:
    """The error bound g of LapCov, where `epsilon` is ε₁."""
    return lap_cov.error_bound(d, lap_cov.noise_scale(n, d, epsilon, calibration), beta, log)


@strict(calibration=Calibration)
def separate_bounds(
    n: Number, d: int, epsilon: Number, trace: Number, beta: Number, calibration: str, log: tails.Log = np.log
) -> tuple[Number, Number]:
    """The parts a and e of the error bound of SeparateCov that scale with τ and with τ²; `epsilon` is ε₁."""
    upsilon = tails.upsilon_laplace(max(d, 2), beta / 2, log)
    a = separate_cov_pure.error_bound(trace, separate_cov_pure.matrix_scale(n, d, epsilon, calibration) * upsilon, 0)
    return a, separate_cov_pure.eigenvalue_scale(n, epsilon) * tails.eta_laplace(d, beta / 2, log)


# MECHANISM


@dataclass(frozen=True)
class AdaptiveCovPureNoise:
    """Independent Laplace(1) noise for every step.

    radius : noise for one query at every public radius; not used if there is no radius step.
    trace : a number.
    search : noise for K + 1 queries.
    matrix : shape (d, d) symmetric, independent on and above the diagonal.
    eigenvalues : shape (d,), used by SeparateCov only.
    """

    radius: above_threshold.AboveThresholdNoise
    trace: float
    search: above_threshold.AboveThresholdNoise
    matrix: Matrix
    eigenvalues: Vector


@checked
def release(
    x: DataSet,
    noise: AdaptiveCovPureNoise,
    *,
    epsilon: EpsilonToShare,
    radius: Radius = "none",
    calibration: Calibration = "paper",
    beta: BetaToShare = 0.1,
    precision: Precision = private_radius.PRECISION,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Release a positive semidefinite estimate from rows clipped at a private length, given the noise of all steps."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows: Rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape
    z_trace = float(require_shape("noise.trace", noise.trace, ()))
    share, final = step_epsilon(epsilon), final_epsilon(epsilon, radius)

    # 0. QUERY and NOISE, if the radius is private: find r, clip the rows to length r, and divide them by r
    unit = 1.0
    if radius == "private":
        unit = private_radius.release(
            rows, noise.radius, epsilon=share, calibration=calibration, precision=precision, beta=beta / 8
        )
        rows = unit_rows(rows, unit)

    # 1. QUERY and NOISE: U
    trace = total_square(rows) / n
    upper = private_trace.upper_bound(
        trace, z_trace, private_trace.laplace_scale(n, share), private_trace.laplace_margin(beta / 8)
    )

    # 2. the numbers g, a and e, from which N_k is computed
    g = lap_bound(n, d, final, 3 * beta / 4, calibration)
    a, e = separate_bounds(n, d, final, upper, 3 * beta / 4, calibration)

    # 3. QUERY and NOISE: k*, the first level with n(B_k − N_k) ≥ 0 up to noise
    last = last_level(n, d)
    counts = list(bin_counts(rows, last))
    queries = np.array([n * (bias_bound(counts, k, n) - noise_level(k, g, a, e)) for k in range(last + 1)])
    level = above_threshold.first_above(
        queries, 0.0, noise.search, epsilon=search_epsilon(epsilon, calibration), calibration=calibration
    )

    # 4. QUERY and NOISE: clip the rows to length τ, divide them by τ, and run the better mechanism
    tau = float(clip_level(level))
    clipped = unit_rows(rows, tau)
    if gauss_noise(level, g) <= separate_noise(level, a, e):
        estimate = lap_cov.release(clipped, noise.matrix, epsilon=final, calibration=calibration)
    else:
        both = separate_cov_pure.SeparateCovPureNoise(noise.matrix, noise.eigenvalues)
        estimate = separate_cov_pure.release(clipped, both, epsilon=final, calibration=calibration)
    return spectral_interval(estimate, 0.0, 1.0) * (tau * unit * row_bound) ** 2


def draw_noise(
    dimension: int, rng: np.random.Generator, rows: int, precision: float = private_radius.PRECISION
) -> AdaptiveCovPureNoise:
    """Return the noise that `release` takes for a data set of the given size."""
    return AdaptiveCovPureNoise(
        above_threshold.draw_noise(len(private_radius.public_radii(precision)), rng),
        float(rng.laplace()),
        above_threshold.draw_noise(last_level(rows, dimension) + 1, rng),
        wigner.sample_laplace(dimension, rng),
        np.asarray(rng.laplace(size=dimension)),
    )


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: EpsilonToShare,
    radius: Radius = "none",
    calibration: Calibration = "paper",
    beta: BetaToShare = 0.1,
    precision: Precision = private_radius.PRECISION,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Matrix:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-27, 1e30], the budget.
    radius : value "private" first finds a radius that most rows lie in; "none" does not.
    calibration : value "paper" has the constants of the source; "tight" has less noise, and our proof covers both.
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

    Privacy : the output is ε-DP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    n, d = shape_of(x)
    noise = draw_noise(d, rng, rows=n, precision=precision)
    return release(
        x,
        noise,
        epsilon=epsilon,
        radius=radius,
        calibration=calibration,
        beta=beta,
        precision=precision,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


@checked
def spend(
    *, epsilon: EpsilonToShare, dimension: Dimension, radius: Radius = "none", calibration: Calibration = "paper"
) -> Spend:
    """The claimed budget is ε. The proven budget is the sum of what the steps spend."""
    share, final = step_epsilon(epsilon), final_epsilon(epsilon, radius)
    proven = private_trace.privacy_loss(1, 1, private_trace.laplace_scale(1, share))
    proven += search_loss(*search_scales(search_epsilon(epsilon, calibration), calibration))
    if radius == "private":
        proven += above_threshold.monotone_loss(*search_scales(share, calibration))
    finals = (
        m.spend(epsilon=final, dimension=dimension, calibration=calibration) for m in (lap_cov, separate_cov_pure)
    )
    proven += max(result.proven.keywords()["epsilon"] for result in finals)
    attained = calibration == "tight" and radius == "none"
    remark = (
        "as n → ∞, all steps together come within about 2⁻¹⁵⁸ ε of the proven budget"
        if attained
        else "the sum of upper bounds of the steps"
    )
    return Spend(PureDP(epsilon), PureDP(proven), attained, remark)


ABOUT = About("adaptive-cov-pure", "AdaptiveCov, pure", "DLY22", "Theorem 4", "code")
MECHANISM = Mechanism(ABOUT, PURE, SYMMETRIC_SECOND_MOMENT, release, draw_noise, sample, spend)
