"""State the public facts that a recommendation uses, its model data, and the regime of the error.

A recommendation assumes model data, because the error of some mechanisms depends on the data. In the model, every row
has the norm √t, where t is the trace of the second moment. The eigenvalues of the second moment are proportional to 1,
1/2, …, 1/d. If correlation makes a difference, a second model has correlated Gaussian rows with the eigenvalues of the
first model, clipped to the ball.

The boundaries between regimes follow the theory, with the constants of symmetric nuclear-Laplace and of GOE noise. Let
m be nε for pure DP, and n√ρ for zCDP. The spectral norm of the noise is near πd/m for symmetric nuclear-Laplace noise,
and near √(2d)/m for Gaussian noise of the ensemble "goe". The average eigenvalue of the second moment is t/d.

    large     the noise is below the average eigenvalue: n ≥ πd²/(εt), or n ≥ √2 d^{3/2}/(√ρ t). The error is that of
              the noise, of order d^{3/2}/m (d/m for zCDP), and hardly anything is gained from the data.
    middle    the noise is above the average eigenvalue, and below the trace. A projection, or a mechanism that adapts
              to the spectrum, may be more accurate: √(dt/m), or √(√d t/m) for zCDP (DN25 Theorem 2, DLY22 Theorem 1).
    small     the noise is above the trace. A release is expected to say little about the data.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from covassay.reference.domain import Number, Vector, require_between, require_dimension
from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import ZCDP, PureDP

Regime = Literal["large", "middle", "small"]
SMALLEST_TRACE = 1e-6

# FORMULAS


def fewest_rows(d: Number, budget: Number, trace: Number, pure: bool, pi: Number = math.pi) -> Number:
    """Return the number of rows at which the spectral norm of the noise is the trace: πd/(εt) or √(2d)/(√ρ t)."""
    return pi * d / (budget * trace) if pure else (2 * d) ** 0.5 / (budget**0.5 * trace)


def enough_rows(d: Number, budget: Number, trace: Number, pure: bool, pi: Number = math.pi) -> Number:
    """Return the number of rows at which the spectral norm of the noise is the average eigenvalue t/d.

    This number is d times `fewest_rows`.
    """
    return d * fewest_rows(d, budget, trace, pure, pi)


# THE SETTING


@dataclass(frozen=True)
class Setting:
    """The public facts, which are n rows in the unit ball of R^d, the budget, and the trace of their second moment.

    trace : t in (0, 1]; 1, the largest possible, if nothing is known. The trace must be known without looking at the
        data.
    """

    rows: int
    dimension: int
    budget: PureDP | ZCDP
    trace: float = 1.0

    def __post_init__(self) -> None:
        require_dimension("rows", self.rows)
        require_dimension("dimension", self.dimension)
        require_between("trace", self.trace, SMALLEST_TRACE, 1.0)
        if not isinstance(self.budget, PureDP | ZCDP):
            raise InvalidInput(f"budget = {self.budget}: must be ε of pure DP or ρ of zCDP")

    @property
    def pure(self) -> bool:
        """Return whether the budget is a budget of pure DP."""
        return isinstance(self.budget, PureDP)

    @property
    def amount(self) -> float:
        """Return the budget as a number, ε or ρ."""
        return self.budget.epsilon if isinstance(self.budget, PureDP) else self.budget.rho

    @property
    def size(self) -> float:
        """Return the effective number of rows m, which is nε or n√ρ."""
        return self.rows * (self.amount if self.pure else self.amount**0.5)

    @property
    def enough(self) -> float:
        """Return the number of rows at which the regime "large" begins."""
        return float(enough_rows(self.dimension, self.amount, self.trace, self.pure))

    @property
    def fewest(self) -> float:
        """Return the number of rows below which the regime is "small"."""
        return float(fewest_rows(self.dimension, self.amount, self.trace, self.pure))

    @property
    def regime(self) -> Regime:
        """Return the regime, "large", "middle" or "small", for the number of rows."""
        return "large" if self.rows >= self.enough else "middle" if self.rows >= self.fewest else "small"

    @property
    def norms(self) -> dict[str, float]:
        """Return the norms of the second moment of the model data, which are the errors of releasing the zero
        matrix.
        """
        spectrum = model_spectrum(self.dimension, self.trace)
        return {"frobenius": float(np.linalg.norm(spectrum)), "spectral": float(spectrum[0])}


def model_spectrum(d: int, trace: float, power: float = 1.0) -> Vector:
    """Return the eigenvalues of the model data, (d,), proportional to 1, 2^{−power}, …, d^{−power}, with sum
    `trace`.
    """
    shape = np.arange(1, d + 1, dtype=np.float64) ** -power
    spectrum: Vector = trace * shape / shape.sum()
    return spectrum
