"""The budget of one data set: what has been released from it, what that has spent, and what is left.

    account = Account(ZCDP(0.5))
    first = account.release("gauss-cov", x, rng, rho=0.2)    # first.values, first.spend, first.total
    account.release("nuclear-laplace", x, rng, epsilon=0.5)   # counts as ε tanh(ε/2) zCDP

Releases compose adaptively: a later one may depend on the outputs of earlier ones. A release that would exceed the
total raises `OverBudget` before the data are read. What is charged is what the mechanism claims, or with
charge="proven" what is proven of it, which is never more.

Into a total of pure DP only pure DP composes, and the ε add up. Into zCDP the ρ add up, and pure DP counts as
ε tanh(ε/2). Into (ε, δ) goes everything. The ε and the δ of (ε, δ) releases add up. What remains of δ converts the
rest: pure and zCDP releases together, added up as zCDP, or the zCDP ones alone, the ε of the pure ones added after,
whichever gives less. Why that holds in any order: up to events of probability Σδ, an (ε, δ) release has a privacy loss
of at most ε, and so has a pure one. In D_α ≤ αρ of the zCDP releases it adds its ε to the right side, hence Σε to
what `epsilon_of_zcdp_at` gives for any α.

The arguments of a release, its budget too, may be chosen in view of earlier outputs if the total is pure DP or zCDP, or
if all releases are (ε, δ): there "the sum stays within the total" is a privacy filter (Rogers et al. 2016;
Feldman–Zrnic 2021). For other releases into an (ε, δ) total, budgets that are fixed beforehand are assumed.
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
SMALLEST = float(np.finfo(float).tiny)  # for an ε of 0, when δ alone covers what is spent


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
    if not listed:
        raise InvalidInput("spent is empty: must have at least one guarantee")
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
    if left < -ROUNDING * total.delta:
        raise OverBudget(f"δ would come to {delta:g}: must stay within {total.delta:g}")
    if not zcdp and (not pure or left <= 0):
        return ApproximateDP(epsilon + pure_composition(*pure), delta)
    if left <= 0:
        raise OverBudget(f"δ = {delta:g} is spent of {total.delta:g}: some must be left to convert zCDP at")
    apart = pure_composition(*pure) + (smallest_epsilon_of_zcdp(zcdp_composition(*zcdp), left) if zcdp else 0.0)
    together = smallest_epsilon_of_zcdp(rho, left)
    return ApproximateDP(max(epsilon + min(apart, together), SMALLEST), total.delta)


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
    spent : what was spent on it before this account began.
    """

    def __init__(
        self,
        total: Guarantee,
        charge: Literal["claimed", "proven"] = "claimed",
        spent: Iterable[Guarantee] = (),
    ) -> None:
        require_choice("charge", charge, ("claimed", "proven"))
        self.total = total
        self.charge = charge
        self.charged: list[Guarantee] = list(spent)
        self.releases: list[Release] = []

    def spent(self) -> Guarantee | None:
        """What has been charged so far, added up in the notion of the total; None before the first release."""
        return compose(self.charged, self.total) if self.charged else None

    def after(self, guarantee: Guarantee) -> Guarantee:
        """What everything would add up to with `guarantee` as well; `OverBudget` if that is more than the total."""
        total = compose([*self.charged, guarantee], self.total)
        if exceeds(total, self.total):
            raise OverBudget(f"{guarantee} more would bring what is spent to {total}: must stay within {self.total}")
        return total

    def release(self, name: str, x: DataSet, rng: np.random.Generator, **arguments: Any) -> Release:
        """Draw one release of the mechanism of that name, if the budget allows it, and enter it in the account.

        Parameters
        ----------
        x : an array, a data frame or `Chunks`, of which the shape alone is looked at before the budget is known to
            suffice. (Nested lists, which have no shape, are read.)
        arguments : the mechanism's own keyword arguments, its budget among them.

        Raises
        ------
        OverBudget : the total would be exceeded. InvalidInput : an argument breaks its rule. Nothing is charged.
        """
        about = mechanism(name)
        budget = {key: value for key, value in arguments.items() if key in ("epsilon", "rho", "delta")}
        choices = {key: value for key, value in arguments.items() if key in about.choices}
        spend = about.spend(**budget, dimension=_number_of_columns(x), **choices)
        guarantee: Guarantee = getattr(spend, self.charge)
        total = self.after(guarantee)
        values = about.sample(x, rng, **arguments)
        entry = Release(values, name, arguments, spend, total)
        self.charged.append(guarantee)
        self.releases.append(entry)
        return entry


def _number_of_columns(x: DataSet) -> int:
    shape: tuple[int, ...] = getattr(x, "shape", ())
    _, d = shape if len(shape) == 2 else as_rows(x).shape
    return int(d)
