"""The table of contents: every mechanism of the reference, by name."""

from typing import Any

from covassay.reference import mechanisms
from covassay.reference.errors import InvalidInput, guess
from covassay.reference.mechanisms.mechanism import Mechanism

MECHANISMS: dict[str, Mechanism[Any, ..., Any]] = {
    declared.name: declared for declared in (getattr(mechanisms, name).MECHANISM for name in mechanisms.__all__)
}


def mechanism(name: str) -> Mechanism[Any, ..., Any]:
    """The mechanism of that name."""
    if name not in MECHANISMS:
        raise InvalidInput(f"mechanism = {name!r}: {guess(name, MECHANISMS)}must be one of {', '.join(MECHANISMS)}")
    return MECHANISMS[name]
