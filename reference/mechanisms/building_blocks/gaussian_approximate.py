"""Gaussian mechanism under (ε, δ)-DP, with the classical or the exact scale. DR14 Theorem A.1, Balle–Wang 2018.

Release f + σ (N_1, …, N_k), N_i ~ N(0, 1). `perturb` does this to any f; `release` to the second moments of the
features, f_i = Σ_ii, with the ℓ2 sensitivity of `gaussian`.

Where the scale comes from. Between N(f, σ² I) and N(f', σ² I) with q = ‖f − f'‖₂/σ the loss is N(q²/2, q²) under the
first law and N(−q²/2, q²) under the second. The event {loss > ε} violates (ε, 0) most, so the smallest δ at ε is

    δ(q, ε) = P(loss > ε) − e^ε P'(loss > ε) = Φ(q/2 − ε/q) − e^ε Φ(−q/2 − ε/q),

which increases in q (Balle–Wang 2018, Theorem 8). `log_delta` is its logarithm, which stays exact when e^ε or 1/δ is
beyond the largest float.

paper : σ = Δ₂ √(2 ln(1.25/δ))/ε, for ε ≤ 1 only. With c = σε/Δ₂ and t = ε/q − q/2 = c − ε/(2c), δ(q, ε) ≤ P(N > t) ≤
    e^{−t²/2}/(t√(2π)), and t² ≥ c² − ε: at most δ e^{1/2}/(1.25 √(2π) t) ≤ δ for δ ≤ 0.74, where c ≥ 1.02 and
    t ≥ 0.53; for larger δ, t ≥ −0.09 gives 0.54. DR14 has it for ε < 1. Beyond 1, this σ is first wasteful and then
    too small, from ε = 5.74, 7.46, 8.78 on at δ = 0.1, 1e-3, 1e-6: so a larger ε is refused.
tight : the smallest σ with δ(Δ₂/σ, ε) ≤ δ, found by a bracketed root in ln σ and rounded up.

Both claim (ε, δ). Proven is (ε, δ(Δ₂/σ, ε)): with "paper" a smaller δ, with "tight" δ itself.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr

from covassay.reference.domain import (
    DataSet,
    Number,
    OnLargeRows,
    Vector,
    require_below_one,
    require_choice,
    require_dimension,
    require_positive,
    require_shape,
    sum_rows,
    unit_rows,
)
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.building_blocks.gaussian import second_moments_sensitivity
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.privacy import ApproximateDP, Spend

SMALLEST = 1e-8  # of ε and δ at least one must reach this, or float64 cannot tell δ(q, ε) from 0
ROUNDED_UP = 1e-9  # relative: more than the error of the root

# FORMULAS


def classical_multiplier(epsilon: Number, delta: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """σ/Δ₂ = √(2 ln(1.25/δ))/ε."""
    return (2 * log(1.25 / delta)) ** 0.5 / epsilon


def log_delta(
    q: Number,
    epsilon: Number,
    log_cdf: Callable[[Number], Number] = log_ndtr,
    log: Callable[[Number], Number] = math.log,
    expm1: Callable[[Number], Number] = math.expm1,
) -> Number:
    """ln δ(q, ε): ln Φ(a) + ln(1 − e^ε Φ(b)/Φ(a)) with a = q/2 − ε/q, b = −q/2 − ε/q."""
    above = log_cdf(q / 2 - epsilon / q)
    below = log_cdf(-q / 2 - epsilon / q)
    return above + log(-expm1(epsilon + below - above))


# MECHANISM


def _tight_multiplier(epsilon: float, delta: float) -> float:
    """The least σ/Δ₂ with δ(Δ₂/σ, ε) ≤ δ, up to `ROUNDED_UP`."""

    def excess(log_multiplier: float) -> float:
        return float(log_delta(math.exp(-log_multiplier), epsilon)) - math.log(delta)

    low = high = -math.log(2 * epsilon) / 2  # there the mean loss is ε
    while excess(low) < 0:
        low -= 1
    while excess(high) > 0:
        high += 1
    root = low if low == high else float(brentq(excess, low, high, xtol=1e-13, rtol=1e-13))
    return math.exp(root) * (1 + ROUNDED_UP)


def _require_budget(epsilon: float, delta: float, calibration: str) -> None:
    require_positive("epsilon", epsilon)
    require_below_one("delta", delta)
    require_choice("calibration", calibration, CALIBRATIONS)
    if calibration == "paper" and epsilon > 1:
        raise InvalidInput(f'epsilon = {epsilon!r}: must be at most 1 with calibration="paper"')
    if max(epsilon, delta) < SMALLEST:
        raise InvalidInput(f"epsilon = {epsilon!r}, delta = {delta!r}: one of the two must be at least {SMALLEST:g}")


def multiplier(epsilon: float, delta: float, calibration: Calibration) -> float:
    """σ/Δ₂."""
    _require_budget(epsilon, delta, calibration)
    if calibration == "paper":
        return float(classical_multiplier(epsilon, delta))
    return _tight_multiplier(epsilon, delta)


def perturb(
    value: Vector, noise: Vector, *, sensitivity: float, epsilon: float, delta: float, calibration: Calibration
) -> Vector:
    """`value` + σ · `noise`, of any shape; `noise` is N(0, 1), and the shape that of `value`."""
    sigma = sensitivity * multiplier(epsilon, delta, calibration)
    perturbed: Vector = value + sigma * require_shape("noise", noise, np.shape(value))
    return perturbed


def release(
    x: DataSet,
    noise: Vector,
    *,
    epsilon: float,
    delta: float,
    calibration: Calibration = "paper",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Vector:
    """Release the second moment of every feature, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : (d,), standard normal.
    epsilon, delta : ε > 0 and 0 < δ < 1; ε ≤ 1 with "paper".
    calibration : "paper" (classical) or "tight" (exact).
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d,), in the unit of x squared; entries may be negative.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : (ε, δ)-DP for replacing one row, n public, in real arithmetic (proven: a smaller δ with "paper").
    Source : DR14 Theorem A.1 ("paper"; ADK19's baseline G), Balle–Wang 2018 Theorem 8 ("tight").
    """
    # VALIDATE
    _require_budget(epsilon, delta, calibration)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape

    # QUERY
    moments: Vector = sum_rows(lambda block: (block**2).sum(axis=0), rows) / n

    # NOISE
    noisy = perturb(
        moments,
        noise,
        sensitivity=second_moments_sensitivity(n, d),
        epsilon=epsilon,
        delta=delta,
        calibration=calibration,
    )

    # RELEASE
    return noisy * row_bound**2


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    delta: float,
    calibration: Calibration = "paper",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Vector:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    _require_budget(epsilon, delta, calibration)
    rows = unit_rows(x, row_bound, on_large_rows)
    return release(
        x,
        np.asarray(rng.standard_normal(rows.shape[1])),
        epsilon=epsilon,
        delta=delta,
        calibration=calibration,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


def spend(*, epsilon: float, delta: float, dimension: int, calibration: Calibration = "paper") -> Spend:
    """Claimed (ε, δ); proven the exact δ at ε, attained in every dimension."""
    _require_budget(epsilon, delta, calibration)
    require_dimension("dimension", dimension)
    exact = math.exp(log_delta(1 / multiplier(epsilon, delta, calibration), epsilon))
    return Spend(
        ApproximateDP(epsilon, delta),
        ApproximateDP(epsilon, exact),
        True,
        "by the event {loss > ε}, for rows e₁ and e₂ (one row against none if d = 1)",
    )


ABOUT = About(
    name="gaussian-approximate",
    title="Gaussian mechanism, (ε, δ)",
    paper="ADK19",
    algorithm="Section 4, baseline G",
    notion="approximate",
    released="vector",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
    choices={"calibration": CALIBRATIONS},
)
