"""Give the reference's answers about budgets: what a mechanism spends, and what several releases spend together."""

from collections.abc import Mapping
from typing import Any

from covassay.reference.accounting import compose
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import Guarantee, guarantee_of
from covassay.verification.vectors.numbers import read


def budget(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spend of a mechanism, as its source claims it and as it is proven."""
    own = {"dimension" if key == "d" else key: value for key, value in read(parameters).items()}
    spend = mechanism(name).spend(**own)
    return {"claimed": spend.claimed.keywords(), "proven": spend.proven.keywords()}


def guarantee(values: Mapping[str, Any]) -> Guarantee:
    """Return the guarantee of privacy that the given keywords describe."""
    try:
        return guarantee_of(values)
    except KeyError:
        raise InvalidInput(f"budgets: {', '.join(values)} is no budget") from None


def composition(budgets: list[Mapping[str, Any]], to: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the budget of all releases together, in the notion of privacy `to`."""
    spent = [guarantee(values) for values in read(budgets)]
    free = {"epsilon": 1.0, "rho": 1.0, **read(parameters)}
    return compose(spent, guarantee_of({key: free[key] for key in to.split(", ")})).keywords()
