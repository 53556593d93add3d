"""Declare the published Wishart mechanism as a negative control, with an event that shows that the mechanism is not
private.

Let Σ = XᵀX/n be the second moment of n rows of norm at most 1. The mechanism of Jiang, Xie and Zhang (2016) releases Y
= Σ + W. The noise W has the Wishart law with d + 1 degrees of freedom and the scale matrix sI, where s = 3/(2nε). W is
positive definite with probability 1, and so is Y − Σ.

Let Y′ = Σ − v vᵀ/n + W with ‖v‖ = 1 be the release of neighbouring data. The event is that the output minus Σ is not
positive semidefinite. It has probability 0 for the output Y. For the output Y′ it means that W − v vᵀ/n is not positive
semidefinite, that is vᵀW⁻¹v > n. In every dimension vᵀW⁻¹v is 1/s = 2nε/3 divided by a χ² variable with (d + 1) − d + 1
= 2 degrees of freedom. So the event has probability P(χ²_2 < 2ε/3) = 1 − e^{−ε/3} for the output Y′.
"""

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import Matrix, Number, second_moment, unit_rows
from tests.negative_controls.negative_control import vectorised


def distinguishing_probability(epsilon: Number, exp: Callable[[Number], Number] = math.exp) -> Number:
    """Return 1 − e^{−ε/3}, the probability for Y′ of the event that is impossible for Y (see the docstring of the
    module)."""
    return 1 - exp(-epsilon / 3)


def draw_wishart(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
    """Draw `size` outputs Σ + W for the data x, as an array of shape (size, d, d)."""
    rows = unit_rows(x)
    n, d = rows.shape
    g = rng.standard_normal((size, d + 1, d))
    scale = 3 / (2 * n * epsilon)
    return second_moment(rows) + scale * np.swapaxes(g, 1, 2) @ g


NEGATIVE_CONTROLS = (
    vectorised(
        "wishart",
        "Add noise that is always positive definite, so that no output lies below Σ.",
        (("privacy", "event"),),
        draw_wishart,
        mechanism="nuclear-laplace-symmetric",
        seen_in="Jiang, Xie and Zhang 2016",
    ),
)
