"""Look up the origins and the default budgets of mechanisms in their declarations, for the command line, the audit and
the site.
"""

from typing import Any

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.mechanism import Mechanism, Provenance
from covassay.reference.mechanisms.registry import MECHANISMS, mechanism
from covassay.reference.privacy import PURE, ZCDP, ApproximateDP, Guarantee, PureDP

HEADINGS: dict[Provenance, str] = {  # the headings, in the order in which lists show them
    "printed": "as their sources print them",
    "code": "read from the authors' code",
    "ours": "ours, after the source",
    "reconstructed": "our reconstructions of {paper}",
}


def by_origin() -> dict[str, list[Mechanism[Any, ..., Any]]]:
    """Return the mechanisms in groups. The heading of a group says where the steps and constants of its mechanisms come
    from.

    Each mechanism is under exactly one heading.
    """
    groups: dict[str, list[Mechanism[Any, ..., Any]]] = {}
    for provenance, heading in HEADINGS.items():
        for declared in MECHANISMS.values():
            if declared.about.provenance == provenance:
                groups.setdefault(heading.format(paper=declared.about.paper), []).append(declared)
    return groups


def default_claim(name: str | None) -> Guarantee:
    """Return the default budget of the mechanism `name`, or the default budget of pure DP if `name` is None."""
    return mechanism(name).notion.default if name else PURE.default


def stated_claim(
    name: str | None, epsilon: float | None = None, delta: float | None = None, rho: float | None = None
) -> Guarantee:
    """Return the stated budget, or the default budget of the mechanism `name` if none is stated.

    Raises
    ------
    InvalidInput : `rho` is given together with `epsilon` or `delta`, or a value is out of its range.
    """
    if rho is not None:
        if epsilon is not None or delta is not None:
            raise InvalidInput("--rho excludes --epsilon and --delta: give one claim")
        return ZCDP(rho)
    if epsilon is None and delta is None:
        return default_claim(name)
    stated = 1.0 if epsilon is None else epsilon
    return PureDP(stated) if delta is None else ApproximateDP(stated, delta)
