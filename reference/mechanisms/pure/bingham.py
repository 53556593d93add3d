"""Private leading eigenvector: the exponential mechanism on the sphere. ADK19 Algorithm 1, step 2(a), and Algorithm 2.

1. C = Σ_i x_i x_iᵀ, not divided by n.
2. Draw a unit vector u with density ∝ exp(η uᵀCu), the Bingham law of ηC (`laws.bingham`).
3. Release u. It has no unit, and u and −u mean the same.

Why it is private. Replacing y by x changes the score uᵀCu by (u·x)² − (u·y)², which lies in [−1, 1]. So the density
before normalisation changes by a factor of at most e^η, and so does its integral. The privacy loss is at most 2η, and
this is approached as n → ∞. In dimension 1 the output is ±1 whatever the data, and the loss is 0.

paper : η = ε/4. ADK19 takes the sensitivity of the score to be 2, but it is 1. Claims ε; spends ε/2.
tight : η = ε/2. Spends ε. The sensitivity 1 and "tight" are ours.

Both privacy losses lie in an interval of length 2η, so the release is also η²/2-zCDP (Cesar–Rogers 2020).

Accuracy. E[λ_1 − uᵀCu] ≤ d/η, which is 4d/ε for η = ε/4. There it is at most 2.07 d/ε, numerically.

Proof: proofs/paper/bingham.md
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from covassay.reference.domain import require_unit_vector, second_moment, sized_unit_rows
from covassay.reference.domain.types import DataSet, Matrix, Number, Vector
from covassay.reference.laws import bingham as law
from covassay.reference.mechanisms.mechanism import About, Mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.parameters import Calibration, Dimension, Epsilon, LargeRows, RowBound, checked
from covassay.reference.privacy import PURE, PureDP, Spend

# FORMULAS


def exponent(epsilon: Number, calibration: str) -> Number:
    """η: ε/4 in the paper, ε/2 tight."""
    return epsilon / (4 if calibration == "paper" else 2)


def privacy_loss(eta: Number) -> Number:
    """Supremum of the privacy loss over neighbours and outputs, in the limit of large n: 2η."""
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
    # VALIDATE
    rows, n, d = sized_unit_rows(x, row_bound, on_large_rows)

    # QUERY
    c = n * second_moment(rows)

    # NOISE
    u = require_unit_vector("noise(M)", noise(exponent(epsilon, calibration) * c), d)

    # RELEASE
    return u


def draw_noise(dimension: int, rng: np.random.Generator) -> Callable[[Matrix], Vector]:
    """The noise that `release` takes: draws of the Bingham law of any symmetric matrix, whatever the dimension."""
    return partial(law.sample, rng=rng)


@checked
def spend(*, epsilon: Epsilon, dimension: Dimension, calibration: Calibration = "paper") -> Spend:
    """The claimed ε; proven is 2η, approached as n → ∞. In dimension 1 nothing at all is spent."""
    proven = privacy_loss(exponent(epsilon, calibration))
    remark = "as n → ∞" if dimension > 1 else "the output does not depend on the data; loss 0"
    return Spend(PureDP(epsilon), PureDP(proven), dimension > 1, remark)


ABOUT = About("bingham", "private leading eigenvector (Bingham)", "ADK19", "Algorithm 1, step 2(a)")
MECHANISM = Mechanism(ABOUT, PURE, OUTPUTS["direction"], release, draw_noise, spend)
sample = MECHANISM.sample
