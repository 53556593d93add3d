"""Account for the budget of one data set: its releases, the budget that they have spent, and the budget that is left.

    account = Account(ZCDP(0.5))
    first = account.release("gauss-cov", x, rng, rho=0.2)    # first.values, first.spend, first.total
    account.release("nuclear-laplace", x, rng, epsilon=0.5)   # counts as ε tanh(ε/2) zCDP

Releases compose adaptively: each release may depend on the outputs of earlier ones. A release whose cost would exceed
what is left of the total budget raises `OverBudget` before the data are read. By default an account charges the cost
that the paper of the mechanism claims. With charge="proven" the account charges the cost that is proven here, which is
never larger.

The notion of privacy of the total budget determines how the costs of releases add up.

- If the total budget is pure DP, only pure DP releases are accepted. Their values of ε add up.
- If the total budget is zCDP, zCDP releases and pure DP releases are accepted. A pure DP release counts as
  ρ = ε tanh(ε/2). The values of ρ add up.
- If the total budget is (ε, δ)-DP, all releases are accepted. The ε of all (ε, δ) releases add up, and so do their δ.
  The rest of the total δ is used to convert all zCDP and pure DP releases to an ε, in the cheaper of two ways. One way
  adds up all zCDP and pure DP releases as zCDP, and converts the sum to an ε. The other way converts the zCDP releases
  alone to an ε, and adds to this ε the ε of every pure DP release.

The second way is valid for every order of the releases, for the following reason. The privacy loss of a pure DP release
is at most its ε. On two neighbours, an (ε, δ) release is a function of a random number whose privacy loss is at most ε
outside an event of probability at most δ (Kairouz–Oh–Viswanath 2015). The zCDP releases together have Rényi divergences
D_α ≤ αρ. Each pure or (ε, δ) release adds at most its ε to the bound αρ. The sum Σε of these releases is therefore
added to `epsilon_of_zcdp_at` for every α.

In two cases the budget and the other arguments of a release may depend on the outputs of earlier releases. In the first
case the total is pure DP or zCDP. In the second case all releases are (ε, δ). In both cases the rule that the sum of
the spent budgets stays within the total is a privacy filter (Rogers et al. 2016; Feldman–Zrnic 2021). If the total is
(ε, δ) and some releases are pure DP or zCDP, the guarantee assumes that all budgets were fixed beforehand.
"""

import contextlib
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from covassay.reference.domain import ADJACENCIES, Adjacency, DataSet, as_rows, require_choice
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

ROUNDING = 1e-12  # relative excess over the total that counts as rounding
# If ρ is small compared with δ, the releases are (0, δ)-DP, and the conversion from zCDP gives ε = 0.
# A guarantee needs ε > 0, so this number then replaces ε = 0.
SMALLEST = float(np.finfo(float).tiny)


class OverBudget(InvalidInput):
    """The exception for a release that would exceed the total budget. No data were read, and nothing was released."""


@dataclass(frozen=True)
class Release:
    """The record of one release: its output, the mechanism and its arguments, the budget that it spent, and the sum of
    all releases so far.
    """

    values: Any
    mechanism: str
    arguments: dict[str, Any]
    spend: Spend
    total: Guarantee


def compose(spent: Iterable[Guarantee], total: Guarantee) -> Guarantee:
    """Return the sum of the guarantees `spent`, expressed in the notion of privacy of the guarantee `total`.

    Raises
    ------
    InvalidInput : the argument `spent` is empty, or has a guarantee that says nothing in that notion, such as zCDP if
        the total is pure DP.
    OverBudget : the δ of the releases add up to more than the total δ, or leave no δ for the conversion of the zCDP
        releases.
    """
    listed = list(spent)
    if not listed:
        raise InvalidInput("spent is empty: must have at least one guarantee")
    pure = [g.epsilon for g in listed if isinstance(g, PureDP)]
    zcdp = [g.rho for g in listed if isinstance(g, ZCDP)]
    approximate = [g for g in listed if isinstance(g, ApproximateDP)]
    if isinstance(total, PureDP):
        if zcdp or approximate:
            raise InvalidInput(f"total = {total}: a total in pure DP allows only pure DP releases")
        return PureDP(pure_composition(*pure))
    rho = zcdp_composition(*zcdp, *map(zcdp_of_pure, pure))
    if isinstance(total, ZCDP):
        if approximate:
            raise InvalidInput(f"total = {total}: a total in zCDP allows only pure DP and zCDP releases")
        return ZCDP(rho)
    epsilon, delta = sum(g.epsilon for g in approximate), sum(g.delta for g in approximate)
    left = total.delta - delta
    if left < -ROUNDING * total.delta:
        raise OverBudget(f"δ would come to {delta:g}: must stay within {total.delta:g}")
    if not zcdp and (not pure or left <= 0):
        return ApproximateDP(epsilon + pure_composition(*pure), delta)
    if left <= 0:
        raise OverBudget(f"δ = {delta:g} of {total.delta:g} is spent: some must be left to convert zCDP with")
    apart = pure_composition(*pure) + (smallest_epsilon_of_zcdp(zcdp_composition(*zcdp), left) if zcdp else 0.0)
    together = smallest_epsilon_of_zcdp(rho, left)
    return ApproximateDP(max(epsilon + min(apart, together), SMALLEST), total.delta)


def exceeds(spent: Guarantee, total: Guarantee) -> bool:
    """Return whether the guarantee `spent` exceeds `total` by more than rounding.

    The guarantees `spent` and `total` must be in one notion of privacy.
    """
    limits = total.keywords()
    return any(value > limits[name] * (1 + ROUNDING) for name, value in spent.keywords().items())


class Account:
    """The account of one data set: its total budget, and the releases that have spent it.

    An account cannot be copied. The functions `copy` and `deepcopy` return the account itself. Code that copies its
    arguments, such as scikit-learn's `clone`, therefore charges the same account. Threads may share an account. The
    copy of an account that is pickled for another process or for a file is closed: it shows what was spent, and refuses
    every release. The account itself stays open.

    Parameters
    ----------
    total : the guarantee that all releases together must keep.
    charge : value "claimed" charges what a mechanism's paper claims, "proven" charges the cost that is proven here.
    spent : the guarantees of releases from this data set before this account began.
    adjacency : which data sets are neighbours, for the total and for all releases.
    """

    def __init__(
        self,
        total: Guarantee,
        charge: Literal["claimed", "proven"] = "claimed",
        spent: Iterable[Guarantee] = (),
        adjacency: Adjacency = "replace-one",
    ) -> None:
        require_choice("charge", charge, ("claimed", "proven"))
        require_choice("adjacency", adjacency, ADJACENCIES)
        self.total = total
        self.adjacency = adjacency
        self.charge = charge
        self.charged: list[Guarantee] = list(spent)
        self.releases: list[Release] = []
        self.closed = False
        self._turn = threading.RLock()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**{name: value for name, value in vars(self).items() if name != "_turn"}, "closed": True}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _turn=threading.RLock())

    def spent(self) -> Guarantee | None:
        """Return the sum of all charges so far, in the notion of privacy of the total budget, or None if nothing was
        charged yet.
        """
        return compose(self.charged, self.total) if self.charged else None

    def after(self, guarantee: Guarantee) -> Guarantee:
        """Return the sum of all charges and of `guarantee`, in the notion of privacy of the total budget.

        Raises
        ------
        OverBudget : the sum exceeds the total, or this account is closed because it is a pickled copy.
        """
        if self.closed:
            raise OverBudget(
                "this account is a pickled copy, which accepts no release: must be the original account, in the "
                "process that holds it (n_jobs=1, or threads)"
            )
        total = compose([*self.charged, guarantee], self.total)
        if exceeds(total, self.total):
            raise OverBudget(f"{guarantee} more would raise the spent budget to {total}: must stay within {self.total}")
        return total

    def release(self, name: str, x: DataSet, rng: np.random.Generator, **arguments: Any) -> Release:
        """Draw one release of the mechanism `name` if the budget allows it, and charge its cost to the account.

        Parameters
        ----------
        x : shape (n, d): an array, a data frame or `Chunks`. Until the budget is known to suffice, the account reads
            only the shape of the data. (Nested lists have no attribute `shape`, so the account reads their entries to
            find the shape.)
        arguments : the mechanism's own keyword arguments, including its budget.

        Raises
        ------
        OverBudget : the release would exceed the total. Nothing is charged.
        InvalidInput : an argument breaks its rule. Nothing is charged.
        """
        about = mechanism(name)
        budget = {key: value for key, value in arguments.items() if key in ("epsilon", "rho", "delta")}
        choices = {key: value for key, value in arguments.items() if key in about.choices}
        adjacency = about.adjacency_of(choices)
        if adjacency != self.adjacency:
            raise InvalidInput(f"adjacency = {adjacency}: must be {self.adjacency}, as in the account")
        spend = about.spend(**budget, dimension=_number_of_columns(x), **choices)
        with self.charging(spend) as total:
            values = about.sample(x, rng, **arguments)
            entry = Release(values, name, arguments, spend, total)
            self.releases.append(entry)
        return entry

    @contextlib.contextmanager
    def charging(self, spend: Spend) -> Iterator[Guarantee]:
        """Charge the cost `spend`, yield the sum of all charges, and run the block of the `with` statement.

        If the block raises `InvalidInput`, nothing has been released, and the charge is taken back. If the block raises
        another exception, the cost remains charged.

        Raises
        ------
        OverBudget : the release would exceed the total. If the total would be exceeded, the block is not entered, and
            nothing is charged.
        """
        guarantee: Guarantee = getattr(spend, self.charge)
        with self._turn:
            total = self.after(guarantee)
            self.charged.append(guarantee)
        try:
            yield total
        except InvalidInput:
            with self._turn:
                self.charged.remove(guarantee)
            raise


def _number_of_columns(x: DataSet) -> int:
    """Return the number of columns of the data. If the data have a shape (n, d), no entry is read."""
    shape: tuple[int, ...] = getattr(x, "shape", ())
    _, d = shape if len(shape) == 2 else as_rows(x).shape
    return int(d)
