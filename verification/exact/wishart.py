"""The Wishart mechanism: published as ε-differentially private, and not private at all.

Release Σ + W, W ~ Wishart_d with d + 1 degrees of freedom and scale matrix 3/(2nε) I (Jiang, Xie and Zhang 2016). W is
positive definite, so the output lies above Σ: where it can lie depends on the data, and the published ratio of
densities is taken where one of them is 0.

On Σ' = Σ − v vᵀ/n, ‖v‖ = 1, a neighbour of Σ, the event that Y − Σ is not positive semidefinite has probability 0 from
Σ and, from Σ', P(vᵀW⁻¹v > n). vᵀW⁻¹v is 2nε/3 divided by a χ² variable with (d + 1) − d + 1 = 2 degrees of freedom, and
P(χ²_2 < 2ε/3) = 1 − e^{−ε/3}, in every dimension. So δ ≥ 1 − e^{−ε/3} for every ε'.
"""

import math
from collections.abc import Callable

import numpy as np

from covassay.reference.domain import Matrix, Number, second_moment, unit_rows


def distinguishing_probability(epsilon: Number, exp: Callable[[Number], Number] = math.exp) -> Number:
    """1 − e^{−ε/3}: of an event that is impossible on the neighbour."""
    return 1 - exp(-epsilon / 3)


def draw_wishart(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> Matrix:
    """Σ + W, (size, d, d)."""
    rows = unit_rows(x)
    n, d = rows.shape
    g = rng.standard_normal((size, d + 1, d))
    released: Matrix = second_moment(rows) + 3 / (2 * n * epsilon) * np.swapaxes(g, 1, 2) @ g
    return released
