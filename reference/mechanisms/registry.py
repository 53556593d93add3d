"""The table of contents: every mechanism of the reference, by name."""

from typing import Any

from covassay.reference import mechanisms
from covassay.reference.errors import InvalidInput, guess
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.privacy import PURE, ZCDP, ApproximateDP, Guarantee, PureDP

MECHANISMS: dict[str, Mechanism[Any, ..., Any]] = {
    declared.name: declared for declared in (getattr(mechanisms, name).MECHANISM for name in mechanisms.__all__)
}


def mechanism(name: str) -> Mechanism[Any, ..., Any]:
    """The mechanism of that name."""
    if name not in MECHANISMS:
        raise InvalidInput(f"mechanism = {name!r}: {guess(name, MECHANISMS)}must be one of {', '.join(MECHANISMS)}")
    return MECHANISMS[name]


def stated_claim(
    name: str | None, epsilon: float | None = None, delta: float | None = None, rho: float | None = None
) -> Guarantee:
    """The budget that was stated, or the default one of the mechanism of that name.

    Raises
    ------
    InvalidInput : `rho` is given together with `epsilon` or `delta`, or a number breaks its rule.
    """
    if rho is not None:
        if epsilon is not None or delta is not None:
            raise InvalidInput("--rho excludes --epsilon and --delta: give one claim")
        return ZCDP(rho)
    if epsilon is None and delta is None:
        return default_claim(name)
    stated = 1.0 if epsilon is None else epsilon
    return PureDP(stated) if delta is None else ApproximateDP(stated, delta)


def default_claim(name: str | None) -> Guarantee:
    """The budget that is assumed when none is given."""
    return mechanism(name).notion.default if name else PURE.default
