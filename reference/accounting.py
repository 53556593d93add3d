"""The budget of one data set: what has been released from it, what that has spent, and what is left.

    account = Account(ZCDP(0.5))
    first = account.release("gauss-cov", x, rng, rho=0.2)    # first.values, first.spend, first.total
    account.release("nuclear-laplace", x, rng, epsilon=0.5)   # counts as ε tanh(ε/2) zCDP

Releases compose adaptively, so a later one may depend on an earlier one. A release that would exceed the total raises
`OverBudget` before the data are read. What is charged is what the mechanism claims, or with charge="proven" what is
proven of it, which is never more.

Into a total of pure DP only pure DP composes. zCDP takes pure DP at ε tanh(ε/2). (ε, δ) takes everything: the pure and
the zCDP releases are added up as zCDP, or the pure ones on their own, whichever gives less, and converted at what
remains of δ.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from covassay.reference.domain import DataSet, as_rows, require_choice
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import (
    ZCDP,
    ApproximateDP,
    Guarantee,
    PureDP,
    Spend,
    pure_composition,
    smallest_epsilon_of_zcdp,
    zcdp_composition,
    zcdp_of_pure,
)

ROUNDING = 1e-12  # relative excess over the total that is forgiven


class OverBudget(InvalidInput):
    """A release would spend more than the data set's total; nothing was read or released."""


@dataclass(frozen=True)
class Release:
    """What came out, of which mechanism with which arguments, what it spent, and what all releases so far add up to."""

    values: Any
    mechanism: str
    arguments: dict[str, Any]
    spend: Spend
    total: Guarantee


def compose(spent: Iterable[Guarantee], total: Guarantee) -> Guarantee:
    """Everything spent, added up in the notion of `total`.

    Raises
    ------
    InvalidInput : a guarantee that says nothing in that notion, such as zCDP in a total of pure DP.
    """
    listed = list(spent)
    pure = [g.epsilon for g in listed if isinstance(g, PureDP)]
    zcdp = [g.rho for g in listed if isinstance(g, ZCDP)]
    approximate = [g for g in listed if isinstance(g, ApproximateDP)]
    if isinstance(total, PureDP):
        if zcdp or approximate:
            raise InvalidInput(f"total = {total}: takes pure DP releases only")
        return PureDP(pure_composition(*pure))
    rho = zcdp_composition(*zcdp, *map(zcdp_of_pure, pure))
    if isinstance(total, ZCDP):
        if approximate:
            raise InvalidInput(f"total = {total}: takes pure DP and zCDP releases only")
        return ZCDP(rho)
    epsilon, delta = sum(g.epsilon for g in approximate), sum(g.delta for g in approximate)
    left = total.delta - delta
    if not zcdp and (not pure or left <= 0):
        return ApproximateDP(epsilon + pure_composition(*pure), max(delta, np.finfo(float).tiny))
    if left <= 0:
        raise OverBudget(f"δ = {delta:g} is spent of {total.delta:g}: none is left to convert zCDP at")
    routes = [smallest_epsilon_of_zcdp(rho, left)]
    if not zcdp:
        return ApproximateDP(epsilon + min(*routes, pure_composition(*pure)), total.delta)
    routes.append(pure_composition(*pure) + smallest_epsilon_of_zcdp(zcdp_composition(*zcdp), left))
    return ApproximateDP(epsilon + min(routes), total.delta)


def exceeds(spent: Guarantee, total: Guarantee) -> bool:
    """Is `spent` more than `total`, both in one notion?"""
    limits = total.keywords()
    return any(value > limits[name] * (1 + ROUNDING) for name, value in spent.keywords().items())


class Account:
    """The budget of one data set.

    Parameters
    ----------
    total : all that may ever be spent on it, for replacing one row.
    charge : "claimed" charges what a mechanism's paper claims, "proven" what is proven of it here.
    """

    def __init__(self, total: Guarantee, charge: Literal["claimed", "proven"] = "claimed") -> None:
        require_choice("charge", charge, ("claimed", "proven"))
        self.total = total
        self.charge = charge
        self.releases: list[Release] = []

    def spent(self) -> Guarantee | None:
        """What the releases so far add up to, in the notion of the total; None before the first."""
        charged = [getattr(release.spend, self.charge) for release in self.releases]
        return compose(charged, self.total) if charged else None

    def release(self, name: str, x: DataSet, rng: np.random.Generator, **arguments: Any) -> Release:
        """Draw one release of the mechanism of that name, if the budget allows it, and enter it in the account.

        Parameters
        ----------
        arguments : the mechanism's own keyword arguments, its budget among them.

        Raises
        ------
        OverBudget : the total would be exceeded. InvalidInput : an argument breaks its rule.
        """
        about = mechanism(name)
        rows = as_rows(x)
        budget = {key: value for key, value in arguments.items() if key in ("epsilon", "rho", "delta")}
        choices = {key: value for key, value in arguments.items() if key in about.choices}
        spend = about.spend(**budget, dimension=rows.shape[1], **choices)
        charged = [getattr(entry.spend, self.charge) for entry in self.releases]
        total = compose([*charged, getattr(spend, self.charge)], self.total)
        if exceeds(total, self.total):
            raise OverBudget(f"{name} would bring the total to {total}: must stay within {self.total}")
        values = about.sample(rows, rng, **arguments)
        entry = Release(values, name, arguments, spend, total)
        self.releases.append(entry)
        return entry
