"""Gaussian mechanism under (ε, δ)-DP, with the classical or the exact scale. DR14 Theorem A.1, Balle–Wang 2018.

1. Compute f_i = Σ_ii = (1/n) Σ_k x_ki², the second moment of feature i; for its ℓ2 sensitivity Δ₂ see `gaussian`.
2. Draw N_1, …, N_d, independent N(0, 1), and add σN to f.
3. Release f + σN. The entries of the output may be negative.

`perturb` adds Gaussian noise to any query whose ℓ2 sensitivity is known.

Why (ε, δ)-DP. With q = ‖f − f'‖₂/σ the privacy loss is N(q²/2, q²) under the law P for f, and N(−q²/2, q²) under the
law P' for f'. The event A = {loss > ε} maximises P(A) − e^ε P'(A). The smallest δ for f, f' and ε is therefore

    δ(q, ε) = P(loss > ε) − e^ε P'(loss > ε) = Φ(q/2 − ε/q) − e^ε Φ(−q/2 − ε/q).

The number δ(q, ε) increases with q (Balle–Wang 2018, Theorem 8), so the smallest δ at ε is δ(Δ₂/σ, ε).

paper : σ = Δ₂ √(2 ln(1.25/δ))/ε. The mechanism claims (ε, δ)-DP. It spends (ε, δ(Δ₂/σ, ε)), where δ(Δ₂/σ, ε) < δ. Only
    ε ≤ 1 is accepted: for large ε this σ is too small.
tight : the smallest σ with δ(Δ₂/σ, ε) ≤ δ. The code solves δ(Δ₂/σ, ε) = δ for ln σ, and rounds σ up. The mechanism
    spends (ε, δ).

Proof: proofs/paper/gaussian-approximate.md
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated

import numpy as np
import scipy
from scipy.special import log_ndtr

from covassay.reference.domain import (
    column_squares,
    require_below_one,
    require_choice,
    require_positive,
    require_shape,
    shape_of,
    sized_unit_rows,
)
from covassay.reference.domain.types import Array, DataSet, Number, Vector
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.building_blocks import gaussian
from covassay.reference.mechanisms.building_blocks.gaussian import second_moments_sensitivity
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import VectorOutput
from covassay.reference.mechanisms.parameters import (
    CALIBRATIONS,
    SMALLEST_PROBABILITY,
    THE_BUDGET,
    Calibration,
    Delta,
    Dimension,
    LargeRows,
    RowBound,
    between,
    checked,
    strict,
)
from covassay.reference.privacy import APPROXIMATE, ApproximateDP, Spend

SMALLEST = 1e-8  # lower limit on max(ε, δ): if both are smaller, float64 cannot tell δ(q, ε) from 0
ROUNDED_UP = 1e-9  # a relative amount that exceeds the rounding error of the computed root, for ε of at least ENOUGH
ENOUGH = 1e-3
# Below ε = 1e-8 float64 has no digits of δ(q, ε) left if δ is small, and above 1e12 too few digits of q/2 − ε/q.
ApproximateEpsilon = Annotated[float, between("ε", SMALLEST, 1e12, THE_BUDGET)]

# FORMULAS


def classical_multiplier(epsilon: Number, delta: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """The classical multiplier σ/Δ₂ = √(2 ln(1.25/δ))/ε."""
    return (2 * log(1.25 / delta)) ** 0.5 / epsilon


def log_delta(
    q: Number,
    epsilon: Number,
    log_cdf: Callable[[Number], Number] = log_ndtr,
    log: Callable[[Number], Number] = math.log,
    expm1: Callable[[Number], Number] = math.expm1,
) -> Number:
    """The logarithm of δ(q, ε): ln Φ(a) + ln(1 − e^ε Φ(b)/Φ(a)) with a = q/2 − ε/q, b = −q/2 − ε/q."""
    above = log_cdf(q / 2 - epsilon / q)
    below = log_cdf(-q / 2 - epsilon / q)
    return above + log(-expm1(epsilon + below - above))


# MECHANISM


def rounding(epsilon: float) -> float:
    """The relative amount r by which the computed multiplier σ/Δ₂ is rounded up.

    Let L = ln(1/δ), which is at most 691. The computed ln δ(q, ε) has an error of about L²/(2^52 ε). Increasing the
    multiplier by the relative amount r decreases ln δ by about 2Lr.
    """
    return ROUNDED_UP * max(1.0, ENOUGH / epsilon)


def proven_delta(q: float, epsilon: float) -> float:
    """Return an upper bound on δ(q, ε), or 1e-300 if the bound is smaller.

    For ε < 0.001 (`ENOUGH`) the computed δ(q, ε) can be too small by rounding. The bound is then computed at a slightly
    larger q, at which δ is larger.
    """
    raised = q * (1 + rounding(epsilon) / 2) if epsilon < ENOUGH else q
    return max(math.exp(log_delta(raised, epsilon)), SMALLEST_PROBABILITY)


def _tight_multiplier(epsilon: float, delta: float) -> float:
    """The least σ/Δ₂ with δ(Δ₂/σ, ε) ≤ δ, increased by the relative amount `rounding(epsilon)`."""

    def excess(log_multiplier: float) -> float:
        return float(log_delta(math.exp(-log_multiplier), epsilon)) - math.log(delta)

    low = high = -math.log(2 * epsilon) / 2  # the multiplier at which the mean loss is ε
    while excess(low) < 0:
        low -= 1
    while excess(high) > 0:
        high += 1
    root = low if low == high else float(scipy.optimize.brentq(excess, low, high, xtol=1e-13, rtol=1e-13))
    return math.exp(root) * (1 + rounding(epsilon))


def _require_budget(epsilon: float, delta: float, calibration: str) -> None:
    """Raise `InvalidInput` if ε, δ or the calibration is invalid, or if they may not be used together."""
    require_positive("epsilon", epsilon)
    require_below_one("delta", delta)
    require_choice("calibration", calibration, CALIBRATIONS)
    if calibration == "paper" and epsilon > 1:
        raise InvalidInput(f'epsilon = {epsilon!r}: must be at most 1 with calibration="paper"')
    if max(epsilon, delta) < SMALLEST:
        raise InvalidInput(f"epsilon = {epsilon!r}, delta = {delta!r}: one of the two must be at least {SMALLEST:g}")


@strict(calibration=Calibration)
def multiplier(epsilon: float, delta: float, calibration: Calibration) -> float:
    """The multiplier σ/Δ₂, after a check of the budget."""
    _require_budget(epsilon, delta, calibration)
    if calibration == "paper":
        return float(classical_multiplier(epsilon, delta))
    return _tight_multiplier(epsilon, delta)


@checked
def perturb(
    value: Array, noise: Array, *, sensitivity: float, epsilon: float, delta: float, calibration: Calibration
) -> Array:
    """Return `value` + σ `noise`, where `value` is any array and `noise` is standard normal, of the same shape."""
    sigma = sensitivity * multiplier(epsilon, delta, calibration)
    perturbed: Array = value + sigma * require_shape("noise", noise, np.shape(value))
    return perturbed


@checked
def release(
    x: DataSet,
    noise: Vector,
    *,
    epsilon: ApproximateEpsilon,
    delta: Delta,
    calibration: Calibration = "paper",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Vector:
    """Release the noisy second moment of every feature, given standard normal noise of shape (d,)."""
    # VALIDATE
    _require_budget(epsilon, delta, calibration)
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)

    # 1. QUERY
    moments = column_squares(rows) / n

    # 2. NOISE
    change = second_moments_sensitivity(n, d)
    noisy = perturb(moments, noise, sensitivity=change, epsilon=epsilon, delta=delta, calibration=calibration)

    # 3. RELEASE
    return noisy * row_bound**2


def draw_noise(dimension: int, rng: np.random.Generator, size: int | None = None) -> Array:
    """Return the noise that `release` takes, (d,) or (size, d)."""
    noise: Array = gaussian.draw_noise(dimension, rng, size)
    return noise


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: ApproximateEpsilon,
    delta: Delta,
    calibration: Calibration = "paper",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Vector:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-8, 1e12], the budget.
    delta : δ in [1e-300, 1), the additive term of (ε, δ)-DP.
    calibration : value "paper" has the constants of the source; "tight" has less noise, and our proof covers both.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    (d,), in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is (ε, δ)-DP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(
        x,
        noise,
        epsilon=epsilon,
        delta=delta,
        calibration=calibration,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


@checked
def spend(
    *, epsilon: ApproximateEpsilon, delta: Delta, dimension: Dimension, calibration: Calibration = "paper"
) -> Spend:
    """The claimed budget is (ε, δ). The proven budget is the smallest δ at ε, attained in every dimension."""
    exact = proven_delta(1 / multiplier(epsilon, delta, calibration), epsilon)
    return Spend(
        ApproximateDP(epsilon, delta),
        ApproximateDP(epsilon, exact),
        exact > SMALLEST_PROBABILITY,
        "if row e₁ replaces row e₂ (for d = 1: 1 replaces 0), the event that the loss exceeds ε attains the proven δ",
    )


ABOUT = About("gaussian-approximate", "Gaussian mechanism, (ε, δ)", "ADK19", "Section 4, baseline G", "reconstructed")
MECHANISM = Mechanism(ABOUT, APPROXIMATE, VectorOutput(power=2), release, draw_noise, sample, spend)
