"""Private trace: tr Σ plus noise. The first step of DLY22 Algorithm 3 (AdaptiveCov), in its pure form.

Release tr Σ + b L, L ~ Laplace(1), tr Σ = (1/n) Σ_i ‖x_i‖².

Where the scale comes from. Replacing x by y moves the trace by (‖y‖² − ‖x‖²)/n, by at most 1/n, attained by y = 0; the
loss of Laplace noise is that over b. So b = 1/(nε) spends exactly ε, in every dimension. Gaussian noise of standard
deviation σ is (1/n)²/(2σ²)-zCDP, so σ = 1/(n √(2ρ)) spends exactly ρ.

AdaptiveCov needs an upper bound U on the trace: `upper_bound`, with a margin that the noise undercuts with probability
`failure`, and which reads the data through the noisy trace alone. It spends ε/8 or ρ/8, with `failure` = β/8.
"""

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Number,
    OnLargeRows,
    require_dimension,
    require_positive,
    require_shape,
    sum_rows,
    unit_rows,
)
from covassay.reference.mechanisms.legacy import About
from covassay.reference.privacy import PureDP, Spend

# FORMULAS


def laplace_scale(n: Number, epsilon: Number) -> Number:
    """b = 1/(nε), for rows in the unit ball."""
    return 1 / (n * epsilon)


def gaussian_scale(n: Number, rho: Number) -> Number:
    """σ = 1/(n √(2ρ)), for rows in the unit ball."""
    return 1 / (n * (2 * rho) ** 0.5)


def laplace_margin(failure: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """The t with P(L < −t) = failure ≤ 1/2, for Laplace(1): ln(1/(2 failure))."""
    return log(1 / (2 * failure))


def gaussian_margin(failure: Number, log: Callable[[Number], Number] = math.log) -> Number:
    """A t with P(N < −t) ≤ failure, for N(0, 1): √(2 ln(1/failure))."""
    return (2 * log(1 / failure)) ** 0.5


def upper_bound(trace: Number, noise: Number, scale: Number, margin: Number) -> Number:
    """U = tr Σ + scale (noise + margin), kept between 1e-16 and 1, the largest trace of rows in the unit ball."""
    return min(1, max(1e-16, trace + scale * (noise + margin)))


def privacy_loss(trace_change: Number, n: Number, scale: Number) -> Number:
    """Supremum over outputs of the loss of Laplace noise between neighbours with |‖x‖² − ‖y‖²| = `trace_change`."""
    return trace_change / (n * scale)


# MECHANISM


def release(
    x: DataSet,
    noise: float,
    *,
    epsilon: float,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> float:
    """Release the noisy trace, given the noise.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : a draw of Laplace(1).
    epsilon : ε > 0.
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    A number in the unit of x squared; it may be negative.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, n public, in real arithmetic.
    Source : DLY22 Section 5.2 and Algorithm 3.
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, _ = rows.shape
    z = float(require_shape("noise", noise, ()))

    # QUERY
    trace = float(sum_rows(lambda block: (block**2).sum(), rows)) / n

    # NOISE
    noisy = trace + laplace_scale(n, epsilon) * z

    # RELEASE
    return np.float64(noisy * row_bound**2)


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> float:
    """Draw the noise from `rng`, then `release`. Not for production: float64 noise."""
    return release(x, float(rng.laplace()), epsilon=epsilon, row_bound=row_bound, on_large_rows=on_large_rows)


def spend(*, epsilon: float, dimension: int) -> Spend:
    """Claimed and proven ε, attained in every dimension."""
    require_positive("epsilon", epsilon)
    require_dimension("dimension", dimension)
    proven = privacy_loss(1, 1, laplace_scale(1, epsilon))
    return Spend(PureDP(epsilon), PureDP(proven), True, "at every output outside (tr Σ, tr Σ'), for y = 0")


ABOUT = About(
    name="private-trace",
    title="private trace",
    paper="DLY22",
    algorithm="Algorithm 3, trace step",
    notion="pure",
    released="number",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
)
