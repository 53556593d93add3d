"""Private leading eigenvector: the exponential mechanism on the sphere. ADK19 Algorithm 1, step 2(a), and Algorithm 2.

1. Compute C = Σ_i x_i x_iᵀ, which is not divided by n.
2. Draw a unit vector u with density ∝ exp(η uᵀCu), the Bingham law of ηC (`laws.bingham`).
3. Release u. A direction has no unit, and u and −u mean the same direction.

Why it is private. Replacing y by x changes the score uᵀCu by (u·x)² − (u·y)², which lies in [−1, 1]. The density
before normalisation, and its integral, therefore change by a factor of at most e^η. The privacy loss is at most 2η, and
comes close to 2η as n → ∞. In dimension 1 the output is ±1 whatever the data, and the loss is 0.

paper : η = ε/4. ADK19 takes the sensitivity of the score to be 2, but it is 1. The mechanism claims ε and spends ε/2.
tight : η = ε/2. The calibration spends ε. We derived the sensitivity 1 and added the calibration "tight".

The privacy losses lie in an interval of length 2η, so the release is also η²/2-zCDP (Cesar–Rogers 2020).

Accuracy. E[λ_1 − uᵀCu] ≤ d/η, which is 4d/ε for η = ε/4. For η = ε/4 the exact value is at most 2.07 d/ε on the spectra
that we tried.

Proof: proofs/paper/bingham.md
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from covassay.reference.domain import require_unit_vector, second_moment, shape_of, sized_unit_rows
from covassay.reference.domain.types import DataSet, Matrix, Number, Vector
from covassay.reference.laws import bingham as law
from covassay.reference.laws.draws_again import DrawsAgain, draws_again
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.parameters import (
    Calibration,
    Dimension,
    Epsilon,
    LargeRows,
    RowBound,
    checked,
    strict,
)
from covassay.reference.privacy import PURE, PureDP, Spend

# FORMULAS


@strict(calibration=Calibration)
def exponent(epsilon: Number, calibration: str) -> Number:
    """The exponent η: ε/4 with "paper", ε/2 with "tight"."""
    return epsilon / (4 if calibration == "paper" else 2)


def privacy_loss(eta: Number) -> Number:
    """The supremum of the privacy loss over neighbours and outputs, in the limit of large n: 2η."""
    return 2 * eta


# MECHANISM


@checked
def release(
    x: DataSet,
    noise: Callable[[Matrix], Vector],
    *,
    epsilon: Epsilon,
    calibration: Calibration = "paper",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Vector:
    """Release a private leading eigenvector; `noise` maps M, (d, d), to a unit vector with density ∝ exp(uᵀMu)."""
    # VALIDATE, and take row_bound as the unit of the rows
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)

    # 1. QUERY
    c = n * second_moment(rows)

    # 2. NOISE: a draw of the Bingham law of ηC
    u = require_unit_vector("noise(M)", noise(exponent(epsilon, calibration) * c), d)

    # 3. RELEASE
    return u


def draw_noise(dimension: int, rng: np.random.Generator) -> DrawsAgain[Vector]:
    """Return the noise that `release` takes: a function that draws from the Bingham law of a symmetric matrix."""
    return draws_again(law.sample, rng)


@checked
def sample(
    x: DataSet,
    rng: np.random.Generator,
    *,
    epsilon: Epsilon,
    calibration: Calibration = "paper",
    row_bound: RowBound = 1.0,
    on_large_rows: LargeRows = "clip",
) -> Vector:
    """Draw the noise from `rng`, then call `release`. The function is not for production, because its noise is float64.

    Parameters
    ----------
    x : shape (n, d), n ≥ 1 records, d ≥ 1 features; rows in the ball of radius `row_bound`.
    rng : the source of all randomness.
    epsilon : ε in [1e-30, 1e30], the budget.
    calibration : value "paper" has the constants of the source; "tight" has less noise, and our proof covers both.
    row_bound : r in [1e-100, 1e100], public, in the unit of x: longer rows are clipped or rejected.
    on_large_rows : value "clip" scales a row longer than r to length r; "raise" rejects the row, which is not private.

    Returns
    -------
    The vector u, of shape (d,). A direction has no unit.

    Raises
    ------
    InvalidInput : an argument breaks its rule. An error caused by the data (an entry that is not finite or, with
        "raise", a row that is too long) is not private.

    Privacy : the output is ε-DP (replace-one) for public n, in real arithmetic; `spend` returns the proven budget.
    """
    _, d = shape_of(x)
    noise = draw_noise(d, rng)
    return release(x, noise, epsilon=epsilon, calibration=calibration, row_bound=row_bound, on_large_rows=on_large_rows)


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension, calibration: Calibration = "paper") -> Spend:
    """The claimed budget is ε. The proven budget is 2η, approached as n → ∞. In dimension 1 the true loss is 0."""
    proven = privacy_loss(exponent(epsilon, calibration))
    remark = (
        "some neighbours approach the proven budget as n → ∞"
        if dimension > 1
        else "in dimension 1 the output is 1 or −1, with a law that does not depend on the data"
    )
    return Spend(PureDP(epsilon), PureDP(proven), dimension > 1, remark)


ABOUT = About("bingham", "private leading eigenvector (Bingham)", "ADK19", "Algorithm 1, step 2(a)")
MECHANISM = Mechanism(
    ABOUT,
    PURE,
    OUTPUTS["direction"],
    release,
    draw_noise,
    sample,
    spend,
    unranked="it releases one direction, and no matrix",
)
