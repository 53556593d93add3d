"""Private trace: tr Σ plus noise. The release is the first step of DLY22 Algorithm 3 (AdaptiveCov), under pure DP.

1. Compute tr Σ = (1/n) Σ_i ‖x_i‖².
2. Draw L ~ Laplace(1), and add bL to tr Σ, with b = 1/(nε).
3. Release tr Σ + bL. The output may be negative.

Why ε-DP. Replacing the row x by y changes the trace by (‖y‖² − ‖x‖²)/n. The absolute value is at most 1/n, with
equality for ‖x‖ = 1 and y = 0. The privacy loss is at most (1/n)/b = ε, which these neighbours attain in every
dimension.

With Gaussian noise of standard deviation σ = 1/(n √(2ρ)) the release is ρ-zCDP. The function `upper_bound` adds a
margin to the noisy trace. The result is below tr Σ with probability at most `failure`. AdaptiveCov spends ε/8 or ρ/8 on
the noisy trace, with `failure` = β/8.

Proof: proofs/paper/private-trace.md
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import DataSet, Number, require_shape, shape_of, sized_unit_rows, total_square
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import NumberOutput
from covassay.reference.mechanisms.parameters import Dimension, Epsilon, LargeRows, RowBound, checked
from covassay.reference.privacy import PURE, PureDP, Spend

# FORMULAS


def laplace_scale(n: Number, epsilon: Number) -> Number:
    """The noise scale b = 1/(nε), for rows in the unit ball."""
    return 1 / (n * epsilon)


def gaussian_scale(n: Number, rho: Number) -> Number:
    """The noise scale σ = 1/(n √(2ρ)), for rows in the unit ball."""
    return 1 / (n * (2 * rho) ** 0.5)


def laplace_margin(failure: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """The margin ln(1/(2 failure)), which is the t with P(L < −t) = failure for L ~ Laplace(1); failure ≤ 1/2."""
    return log(1 / (2 * failure))


def gaussian_margin(failure: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """The margin √(2 ln(1/failure)), which is a t with P(N < −t) ≤ failure for N ~ N(0, 1)."""
    return (2 * log(1 / failure)) ** 0.5


def upper_bound(trace: Number, noise: Number, scale: Number, margin: Number) -> Number:
    """The bound U = tr Σ + scale (noise + margin), kept between 1e-16 and 1, the largest trace in the unit ball."""
    return min(1, max(1e-16, trace + scale * (noise + margin)))


def privacy_loss(trace_change: Number, n: Number, scale: Number) -> Number:
    """The supremum over outputs of the privacy loss, with Laplace noise and |‖x‖² − ‖y‖²| = `trace_change`."""
    return trace_change / (n * scale)


# MECHANISM


@checked
def release(
    x: DataSet, noise: float, *, epsilon: Epsilon, row_bound: RowBound = 1.0, on_large_rows: LargeRows = "clip"
) -> float:
    """Release the noisy trace, given the noise: a draw of Laplace(1)."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, _ = sized_unit_rows(x, row_bound, on_large_rows)
    z = float(require_shape("noise", noise, ()))

    # 1. QUERY
    trace = total_square(rows) / n

    # 2. NOISE
    noisy = trace + laplace_scale(n, epsilon) * z

    # 3. RELEASE
    return np.float64(noisy * row_bound**2)


def draw_noise(dimension: int, rng: np.random.Generator) -> float:
    """Return the noise that `release` takes, which does not depend on the dimension."""
    return float(rng.laplace())


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> float:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-30, 1e30], the budget.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    (), in the unit of x squared.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ε-DP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(x, noise, epsilon=epsilon, row_bound=row_bound, on_large_rows=on_large_rows)


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension) -> Spend:
    """The claimed budget is ε. The proven budget is ε, which some neighbours attain in every dimension."""
    proven = privacy_loss(1, 1, laplace_scale(1, epsilon))
    return Spend(
        PureDP(epsilon),
        PureDP(proven),
        True,
        "if a row of length 1 is replaced by y = 0, all outputs outside (tr Σ', tr Σ) attain the proven budget",
    )


ABOUT = About("private-trace", "private trace", "DLY22", "Algorithm 3, trace step", "reconstructed")
MECHANISM = Mechanism(ABOUT, PURE, NumberOutput(power=2), release, draw_noise, sample, spend)
