"""Release the moments of bounded columns once, by `box-gauss` or `box-laplace`, for the estimators.

The scaled columns u = (x − centre)/(half the width) lie in [−1, 1].

The module `moments` has the alternative: scale the columns into the unit ball, and release by the best mechanism for
the unit ball. We measured the errors of both ways on 3000 uniform rows for d = 1, 2, 3, 5 and 10 and two positions of
the mean: at the centre, and half way to a bound. The ratio is the error of the covariance from the box, divided by the
error from the ball. For ρ = 0.5 the ratio is 0.86 to 0.98 if d > 1. If d = 1, the two positions of the mean have the
ratios 1.01 and 1.19. For ε = 1 the ratio is 1.17 to 1.73 if d > 1. If d = 1, the two positions have the ratios 0.95 and
1.19. For ε and d > 1 the ratio exceeds 1, because noise of the shape of the nuclear ball fits a second moment better
than independent Laplace noise does. If no mechanism is named, the estimators therefore use `box-gauss` only for a
budget ρ, and never use `box-laplace`.
"""

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from covassay.reference.accounting import Account
from covassay.reference.box_moments import spreads
from covassay.reference.domain import Matrix
from covassay.reference.domain.box import Box
from covassay.reference.estimators.moments import Moments
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.registry import MECHANISMS, mechanism
from covassay.reference.privacy import ZCDP, PureDP
from covassay.reference.recommendation.additive import gaussian_edge
from covassay.reference.release.accuracy import BOX
from covassay.reference.rounded import DEFAULT_GRID, rounded_release

NAMES = tuple(name for name, declared in MECHANISMS.items() if declared.domain == "box" and name in BOX)


@dataclass(frozen=True)
class InBox:
    """A mechanism for bounded columns, with its budget."""

    name: str
    budget: PureDP | ZCDP

    @property
    def declared(self) -> Mechanism[Any, ..., Any]:
        """Return the declaration of the mechanism."""
        return mechanism(self.name)

    def deviations(self, n: int, d: int) -> Matrix:
        """Return the standard deviation of the noise on every entry of the second moment of the scaled columns, (d,
        d).
        """
        law = BOX[self.name](d, self.budget.keywords(), "replace-one")
        found: Matrix = law.deviation * spreads(law.scale, law.weights, d)[1:, 1:] / n
        return found

    def spectral(self, n: int, d: int) -> float:
        """Return the spectral norm of the noise, approximated by its limit for large d: 2√d times the largest standard
        deviation of an entry.
        """
        return gaussian_edge(d) * float(self.deviations(n, d).max())

    def moments(
        self,
        x: Matrix,
        box: Box,
        centred: bool,
        randomness: np.random.Generator | int | None,
        rounded: bool,
        accountant: Account | None,
    ) -> Moments:
        """Release the second moment of the scaled columns u, and their mean if `centred`. See also
        `moments.release_moments`.
        """
        keywords = self.budget.keywords()
        spend = self.declared.spend(**keywords, dimension=x.shape[1])
        with contextlib.nullcontext() if accountant is None else accountant.charging(spend):
            if isinstance(randomness, np.random.Generator) and not rounded:
                released = self.declared.sample(x, randomness, **keywords, bounds=box.bounds)
            else:
                seed = randomness if isinstance(randomness, int) else None
                written = {name: repr(value) for name, value in keywords.items()}
                released = rounded_release(
                    self.name, x, grid=DEFAULT_GRID, seed=seed, bounds=box.bounds, **written
                ).values
        parts = self.declared.output.parts(np.asarray(released))
        mean = (parts["mean"] - box.centre) / box.half_widths
        covariance = parts["covariance"] / np.outer(box.half_widths, box.half_widths)
        second = covariance + np.outer(mean, mean)
        return Moments(second, mean if centred else None, spend, self.spectral(*x.shape))


def in_box(budget: PureDP | ZCDP, name: str | None) -> InBox | None:
    """Return the mechanism `name` with its budget. If `name` is None, return `box-gauss` for a budget ρ, and None for a
    budget ε.

    Raises
    ------
    InvalidInput : the mechanism claims another notion of privacy.
    """
    if name is not None:
        mechanism(name).require_budget(budget)
        return InBox(name, budget)
    return InBox("box-gauss", budget) if isinstance(budget, ZCDP) else None
