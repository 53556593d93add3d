"""The published Wishart mechanism as a negative control, with an event that shows that it is not private.

Let Σ = XᵀX/n be the second moment of n rows of norm at most 1, and Y = Σ + W with Wishart noise W of scale
s = 3/(2nε): W has d + 1 degrees of freedom and the scale matrix sI (Jiang, Xie and Zhang 2016). W is positive definite
with probability 1, so Y lies above Σ.

Let Y′ = Σ − v vᵀ/n + W with ‖v‖ = 1. The event is that the outcome minus Σ is not positive semidefinite. For Y the
event has probability 0. For Y′ the event means that W − v vᵀ/n is not positive semidefinite, that is vᵀW⁻¹v > n. In
every dimension vᵀW⁻¹v is 1/s = 2nε/3 divided by a χ² variable with (d + 1) − d + 1 = 2 degrees of freedom, so the event
has probability P(χ²_2 < 2ε/3) = 1 − e^{−ε/3} for Y′.
"""

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import Matrix, Number, second_moment, unit_rows
from tests.negative_controls.negative_control import vectorised


def distinguishing_probability(epsilon: Number, exp: Callable[[Number], Number] = math.exp) -> Number:
    """The probability 1 − e^{−ε/3} under Y′ of the event that is impossible under Y (see the module's docstring)."""
    return 1 - exp(-epsilon / 3)


def draw_wishart(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
    """Draw Σ + W for the rows of x: an array of shape (size, d, d)."""
    rows = unit_rows(x)
    n, d = rows.shape
    g = rng.standard_normal((size, d + 1, d))
    scale = 3 / (2 * n * epsilon)
    return second_moment(rows) + scale * np.swapaxes(g, 1, 2) @ g


NEGATIVE_CONTROLS = (
    vectorised(
        "wishart",
        "Adds noise that is always positive definite, so that no output lies below Σ.",
        (("privacy", "event"),),
        draw_wishart,
        mechanism="nuclear-laplace-symmetric",
        seen_in="Jiang, Xie and Zhang 2016",
    ),
)
