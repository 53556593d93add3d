"""Define the arguments that all estimators have, and the one release that each of them makes."""

from typing import Any

from covassay.reference.accounting import Account
from covassay.reference.domain import Matrix
from covassay.reference.domain.box import Box
from covassay.reference.errors import InvalidInput
from covassay.reference.estimators.base import PrivateEstimator
from covassay.reference.estimators.bounded_columns import NAMES as IN_BOX
from covassay.reference.estimators.bounded_columns import InBox, in_box
from covassay.reference.estimators.moments import Map, Moments, release_moments
from covassay.reference.privacy import ZCDP, PureDP, Spend
from covassay.reference.recommendation import Candidate


class MomentEstimator(PrivateEstimator):
    """The base class of estimators that make one release of moments.

    spend_ : the claimed and the proven budget.
    mechanism_ : the mechanism with its options, in words.
    """

    spend_: Spend
    mechanism_: str

    def __init__(
        self,
        epsilon: float | None,
        rho: float | None,
        row_bound: float | None,
        bounds: Any,
        mechanism: str | None,
        rounded: bool,
        random_state: Any,
        accountant: Account | None,
    ) -> None:
        self.epsilon = epsilon
        self.rho = rho
        self.row_bound = row_bound
        self.bounds = bounds
        self.mechanism = mechanism
        self.rounded = rounded
        self.random_state = random_state
        self.accountant = accountant

    def _release(self, x: Matrix, box: Box | None, share: float | None, additive: bool = False) -> tuple[Map, Moments]:
        """Release the moments of the scaled rows of x, and store the cost and the name of the mechanism as attributes.
        The mechanism determines whether the rows are scaled into the unit ball or, with a box, into a cube.
        """
        budget = self._budget()
        if not (self.accountant is None or isinstance(self.accountant, Account)):
            raise InvalidInput(f"accountant of type {type(self.accountant).__name__}: must be an Account, or None")
        if self.accountant is not None and self.accountant.adjacency != "replace-one":
            raise InvalidInput(
                f"accountant for {self.accountant.adjacency}: must be for replace-one, as the estimators are"
            )
        self._warn_of(budget)
        chosen, randomness = self._chosen(x.shape, box, share, budget, additive), self._randomness()
        if isinstance(chosen, InBox):
            if box is None:
                raise InvalidInput(f"mechanism = {chosen.name!r}: it takes bounded columns: give bounds")
            units = Map(box.centre, box.half_widths, box)
            moments = chosen.moments(x, box, share is not None, randomness, self.rounded, self.accountant)
        else:
            units = Map.of(x.shape[1], self.row_bound, box)
            u = units.unit(x)
            moments = release_moments(u, chosen, budget, share, randomness, self.rounded, self.accountant)
        self.spend_ = moments.spend
        self.mechanism_ = chosen.name
        return units, moments

    def _chosen(
        self, shape: tuple[int, ...], box: Box | None, share: float | None, budget: PureDP | ZCDP, additive: bool
    ) -> InBox | Candidate:
        """Return the named mechanism or, if none is named, the mechanism of `bounded_columns` or the recommended
        one.
        """
        n, d = shape
        named = self.mechanism in IN_BOX
        bounded = box is not None and share is not None and not additive and self.mechanism is None
        found = in_box(budget, self.mechanism) if named or bounded else None
        return found or self._candidate(n, d + (share is not None), budget, additive)
