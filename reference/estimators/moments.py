"""Release the mean and the second moment together, in one private release.

A row u of the unit ball of R^d becomes z = (√a u, √b) with a + b = 1, a row of the unit ball of R^{d+1}. The second
moment of the rows z holds both moments of the rows u:

    (1/n) Σ z zᵀ  =  [ a S      √(ab) μ ]        S = (1/n) Σ u uᵀ,   μ = (1/n) Σ u.
                     [ √(ab) μᵀ     b   ]

One release of the second moment of the rows z, by any mechanism for the second moment, gives both S and μ with its
whole budget. The map acts on every row by itself, so neighbours stay neighbours and the proof of the mechanism applies.
The release spends what the mechanism spends in dimension d + 1. Noise of standard deviation s on an entry of the matrix
becomes noise of s/a on an entry of S, and of s/√(ab) on an entry of μ. (Two separate releases of μ and S would have to
share the budget.) With Gaussian noise of the ensemble "goe" and a = b = 1/2, μ has exactly the error of the Gaussian
mechanism at the same ρ.
"""

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from covassay.reference.accounting import Account
from covassay.reference.domain import Matrix, Number, Vector, require_row_bound, unit_rows
from covassay.reference.domain.box import Box
from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import ZCDP, PureDP, Spend
from covassay.reference.projections import psd_cone
from covassay.reference.recommendation import Candidate
from covassay.reference.release.scaling import scaling
from covassay.reference.rounded import DEFAULT_GRID, WITH_ROUNDED_FORM, rounded_release

# the number a of the module docstring; a larger a gives less noise on the covariance, and more noise on the mean
SHARE = 0.8
# If only the mean is wanted, a = 1/2 is used, which minimises the noise s/√(a(1 − a)) on the mean.
SHARE_OF_MEAN = 0.5

# FORMULAS


def second_moment_unit(a: Number) -> Number:
    """Return the factor 1/a by which the block of the second moment is multiplied."""
    return 1 / a


def mean_unit(a: Number) -> Number:
    """Return the factor 1/√(a(1 − a)) by which the block of the mean is multiplied."""
    return 1 / (a * (1 - a)) ** 0.5


# THE RELEASE


@dataclass(frozen=True)
class Moments:
    """The released first and second moment of the rows u, and the cost of the release.

    second : S, a symmetric matrix.
    mean : μ, or None if it was not released.
    noise : the predicted spectral norm of the noise on S, or None if the mechanism has no such prediction. The
        estimator then uses a prediction of `reference.recommendation`.
    """

    second: Matrix
    mean: Vector | None
    spend: Spend
    noise: float | None = None

    @property
    def covariance(self) -> Matrix:
        """Return the covariance S − μμᵀ, or S if there is no mean, made positive semidefinite at no further cost."""
        centred = self.second if self.mean is None else self.second - np.outer(self.mean, self.mean)
        projected = psd_cone((centred + centred.T) / 2)
        symmetric: Matrix = (projected + projected.T) / 2
        return symmetric


@dataclass(frozen=True)
class Map:
    """The map from rows x in the units of the data to rows u of the unit ball: u = (x − shift)/scale, and then
    clipping.
    """

    shift: Vector
    scale: Vector
    box: Box | None

    @classmethod
    def of(cls, dimension: int, row_bound: float | None, box: Box | None) -> "Map":
        """Return the map for a row bound or for bounds on every column, exactly one of which must be given."""
        if box is None:
            bound = require_row_bound(1.0 if row_bound is None else row_bound)
            return cls(np.zeros(dimension), np.full(dimension, bound), None)
        ball = scaling(box.low, box.high, "ball")
        return cls(ball.shift, ball.scale, box)

    def unit(self, x: Matrix) -> Matrix:
        """Return the rows u of the unit ball that belong to the rows x."""
        if self.box is None:
            return unit_rows(x, float(self.scale[0]))
        return unit_rows((np.clip(x, self.box.low, self.box.high) - self.shift) / self.scale)

    def location(self, moments: Moments) -> Vector:
        """Return the mean in the units of the data, clipped to the bounds. If no mean was released, return the vector
        `shift`.
        """
        if moments.mean is None:
            return self.shift.copy()
        if self.box is None:
            shortened = moments.mean / max(1.0, float(np.linalg.norm(moments.mean)))
            return np.asarray(self.scale * shortened)
        return np.clip(self.shift + self.scale * moments.mean, self.box.low, self.box.high)


def release_moments(
    u: Matrix,
    candidate: Candidate,
    budget: PureDP | ZCDP,
    share: float | None,
    randomness: np.random.Generator | int | None,
    rounded: bool,
    accountant: Account | None = None,
) -> Moments:
    """Release the second moment with a candidate mechanism, and the mean too unless `share` is None. The argument
    `share` is the number a in the module docstring.

    Parameters
    ----------
    u : shape (n, d), rows in the unit ball.
    randomness : for float noise, a generator; for a rounded release, a seed for tests, or None for the randomness of
        the operating system.
    accountant : the account that is charged before any noise is drawn.

    Raises
    ------
    OverBudget : the release would exceed the total of the accountant. When `OverBudget` is raised, nothing is released
        or charged.
    """
    if not (rounded or isinstance(randomness, np.random.Generator)):
        raise InvalidInput("randomness: must be a generator for float noise")
    z = u if share is None else np.hstack([share**0.5 * u, np.full((len(u), 1), (1 - share) ** 0.5)])
    choices = {name: value for name, value in candidate.options.items() if name in candidate.declared.choices}
    spend = candidate.declared.spend(**budget.keywords(), dimension=z.shape[1], **choices)
    with contextlib.nullcontext() if accountant is None else accountant.charging(spend):
        if isinstance(randomness, np.random.Generator) and not rounded:
            released = candidate.sample(z, randomness, **budget.keywords())
        else:
            released = _rounded(z, candidate, budget, randomness)
    matrix = (released + released.T) / 2
    if share is None:
        return Moments(matrix, None, spend)
    return Moments(second_moment_unit(share) * matrix[:-1, :-1], mean_unit(share) * matrix[:-1, -1], spend)


def _rounded(z: Matrix, candidate: Candidate, budget: PureDP | ZCDP, randomness: Any) -> Matrix:
    if candidate.mechanism not in WITH_ROUNDED_FORM:
        raise InvalidInput(f"rounded = True: {candidate.mechanism} has no rounded form")
    arguments = {name: str(value) for name, value in candidate.options.items()} | {
        name: repr(value) for name, value in budget.keywords().items()
    }
    seed = randomness if isinstance(randomness, int) else None
    exact = rounded_release(candidate.mechanism, z, grid=DEFAULT_GRID, seed=seed, **arguments)
    return candidate.finish(np.asarray(exact.values))
