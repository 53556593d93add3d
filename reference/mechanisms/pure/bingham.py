"""Private leading eigenvector: the exponential mechanism on the sphere. ADK19 Algorithm 1, step 2(a), and Algorithm 2.

Release a unit vector u with density ∝ exp(η uᵀCu), C = Σ_i x_i x_iᵀ (not divided by n).

Where η comes from. Replacing x by y changes the score uᵀCu by (u·x)² − (u·y)², which lies in [−1, 1]. With
f(u) = exp(η uᵀCu) and Z = ∫ f, the loss ln (f/Z)/(f'/Z') = η((u·x)² − (u·y)²) + ln(Z'/Z), and Z'/Z is a mean of
exp(η((v·y)² − (v·x)²)) ≤ e^η. So the loss is at most 2η, approached as n → ∞.

paper : η = ε/4. ADK19 takes the sensitivity of the score to be 2; it is 1. Spends ε/2. Claimed: ε.
tight : η = ε/2. Spends ε.

Both privacy losses lie in an interval of length 2η, so the release is also η²/2-zCDP (Cesar–Rogers 2020). In
dimension 1 the output is ±1 whatever the data.
"""

from collections.abc import Callable

import numpy as np

from covassay.reference.domain import (
    DataSet,
    Matrix,
    Number,
    OnLargeRows,
    Vector,
    require_choice,
    require_dimension,
    require_positive,
    require_shape,
    second_moment,
    unit_rows,
)
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import bingham as law
from covassay.reference.mechanisms.legacy import CALIBRATIONS, About, Calibration
from covassay.reference.privacy import PureDP, Spend

# FORMULAS


def exponent(epsilon: Number, calibration: str) -> Number:
    """η: ε/4 in the paper, ε/2 tight."""
    return epsilon / (4 if calibration == "paper" else 2)


def privacy_loss(eta: Number) -> Number:
    """Supremum of the loss over neighbours and outputs, in the limit of large n: 2η."""
    return 2 * eta


# MECHANISM


def release(
    x: DataSet,
    noise: Callable[[Matrix], Vector],
    *,
    epsilon: float,
    calibration: Calibration = "paper",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Vector:
    """Release a private leading eigenvector, given a source of Bingham draws.

    Parameters
    ----------
    x : (n, d), n, d ≥ 1. Records in rows.
    noise : maps a symmetric (d, d) matrix M to a unit vector with density ∝ exp(uᵀMu).
    epsilon : ε > 0.
    calibration : "paper" or "tight".
    row_bound : r > 0, public, in the unit of x.
    on_large_rows : "clip" (per record, private) or "raise" (reads the data).

    Returns
    -------
    (d,), a unit vector; u and −u mean the same.

    Raises
    ------
    InvalidInput : an argument breaks its rule. That the entries of x are finite, and with "raise" that the rows are
        short, is read off the data: a precondition, not part of the mechanism.

    Privacy : ε-DP for replacing one row, in real arithmetic (proven: ε/2 with "paper").
    Source : ADK19 Algorithm 1 step 2(a); the sensitivity 1 and "tight" are ours.
    """
    # VALIDATE
    require_positive("epsilon", epsilon)
    require_choice("calibration", calibration, CALIBRATIONS)
    rows = unit_rows(x, row_bound, on_large_rows)
    n, d = rows.shape

    # QUERY
    c = n * second_moment(rows)

    # NOISE
    u = require_shape("noise(M)", noise(exponent(epsilon, calibration) * c), (d,))
    if abs(np.linalg.norm(u) - 1) > 1e-9:
        raise InvalidInput(f"noise(M) has norm {np.linalg.norm(u)}: must be a unit vector")

    # RELEASE
    return u


def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: float,
    calibration: Calibration = "paper",
    row_bound: float = 1.0,
    on_large_rows: OnLargeRows = "clip",
) -> Vector:
    """Draw from the Bingham law with `rng`. Not for production: float64 noise."""
    return release(
        x,
        lambda m: law.sample(m, rng),
        epsilon=epsilon,
        calibration=calibration,
        row_bound=row_bound,
        on_large_rows=on_large_rows,
    )


def spend(*, epsilon: float, dimension: int, calibration: Calibration = "paper") -> Spend:
    """Claimed ε; proven 2η, approached as n → ∞ (and nothing at all is spent in dimension 1)."""
    require_positive("epsilon", epsilon)
    require_dimension("dimension", dimension)
    require_choice("calibration", calibration, CALIBRATIONS)
    proven = privacy_loss(exponent(epsilon, calibration))
    remark = "as n → ∞" if dimension > 1 else "the output does not depend on the data; loss 0"
    return Spend(PureDP(epsilon), PureDP(proven), dimension > 1, remark)


ABOUT = About(
    name="bingham",
    title="private leading eigenvector (Bingham)",
    paper="ADK19",
    algorithm="Algorithm 1, step 2(a)",
    notion="pure",
    released="direction",
    symmetric=False,
    release=release,
    sample=sample,
    spend=spend,
    choices={"calibration": CALIBRATIONS},
    degree=0,
)
