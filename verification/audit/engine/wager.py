"""Define wagers, which are sequential tests that bet against a claim. A wager is valid even if it is evaluated after
every stage of the draws.

A `Wager` sorts the draws into categories, and bets on the numbers of draws in them (`statistics.betting`). Each stage
of the draws multiplies the wealth of the bettor by a factor. If the claim is true, the mean of the bettor's wealth
never exceeds the initial wealth. The probability that the wealth ever reaches 1/p times the initial wealth is therefore
at most p (Ville's inequality). A large gain refutes the claim. Ville's inequality holds if the numbers of draws on the
two data sets are fixed, and also if they are Poisson variables that are independent of the outputs.
"""

import math
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Vector
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee
from covassay.verification.audit.engine.event_choice import LARGEST_EXPONENT
from covassay.verification.audit.engine.events import Event
from covassay.verification.audit.engine.pilot import CUTS, EventChoice
from covassay.verification.audit.engine.sampling import Draws
from covassay.verification.statistics.betting import Bet, RenyiBet, event_bet, renyi_bet


@dataclass(frozen=True)
class Wager:
    """A bet against the claim that uses only the category of each draw.

    `bounds` is None if the categories are the event and its complement. If `bounds` is given, failed draws form one
    category. The other categories are the intervals into which `bounds` divides the values of the event's statistic.
    `swapped` says whether a bet on an event exchanges the two data sets, because the event seemed likelier on the
    second one. If `bet` is a `RenyiBet`, `swapped` is False, because a `RenyiBet` chooses its direction itself.
    """

    bet: Bet | RenyiBet
    event: Event
    bounds: Vector | None
    swapped: bool

    def seen(self, draws: Draws) -> Vector:
        """Return how many of these draws lie in each of the categories that the bet distinguishes."""
        return categories(self.event, self.bounds, draws)

    def log_value(self, one: Vector, two: Vector) -> float:
        """Return the logarithm of the factor by which new draws on the two data sets multiply the wealth of the bettor.

        `one` and `two` have the numbers of draws on the first and on the second data set in every category.
        """
        return self.bet.log_value(two, one) if self.swapped else self.bet.log_value(one, two)

    def p_value(self, one: Vector, two: Vector) -> float:
        """Return the p-value of the claim from new draws, which is 1 divided by the growth factor of the wealth, or 1
        if this is smaller.
        """
        return math.exp(min(0.0, -self.log_value(one, two)))


def categories(event: Event, bounds: Vector | None, draws: Draws) -> Vector:
    """Return the number of draws in every category of a bet."""
    if bounds is None or event.statistic is None:
        inside = event.count(draws)
        return np.array([inside, draws.size - inside], dtype=np.float64)
    steps = np.zeros(len(bounds) + 1)
    if len(draws.outputs):
        steps += np.bincount(
            np.searchsorted(bounds, event.statistic.values(draws.outputs), "right"), minlength=len(steps)
        )
    return np.append(steps, draws.failed)


def wager_on(choice: EventChoice, guarantee: Guarantee) -> Wager | None:
    """Return the bet and its categories, chosen on the pilot draws.

    For pure and (ε, δ)-DP, the bet is that the probabilities of the event on the two data sets contradict the claim.
    For zCDP, the bet is that the Rényi divergence between the laws of the event's statistic on the two data sets is
    above the claim. `wager_on` returns None if a data set has no pilot draws, or if the claimed ε is too large for the
    computation. For zCDP, it also returns None if the event is a failure of the target, or if all pilot draws failed.
    """
    pilots = choice.ranking
    if min(draws.size for draws in pilots) == 0:
        return None
    event = choice.event
    if not isinstance(guarantee, ZCDP):
        if guarantee.epsilon > LARGEST_EXPONENT:
            return None
        one, two = (categories(event, None, draws) for draws in (pilots[::-1] if choice.swapped else pilots))
        delta = guarantee.delta if isinstance(guarantee, ApproximateDP) else 0.0
        return Wager(event_bet(one, two, guarantee.epsilon, delta), event, None, choice.swapped)
    if event.statistic is None:
        return None
    pooled = [event.statistic.values(draws.outputs) for draws in pilots if len(draws.outputs)]
    if not pooled:
        return None
    bounds = np.unique(np.quantile(np.concatenate(pooled), CUTS, method="inverted_cdf"))
    one, two = (categories(event, bounds, draws) for draws in pilots)
    return Wager(renyi_bet(one, two, guarantee.rho), event, bounds, swapped=False)
