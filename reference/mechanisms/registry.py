"""List the mechanisms of the reference, and find one by its name.

The file of a mechanism has the name of the mechanism, with underscores in place of hyphens. The mechanisms are listed
in the order of `mechanisms.__all__`. A mechanism that `mechanisms.__all__` does not name comes last.
"""

from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from covassay.reference import mechanisms
from covassay.reference.errors import InvalidInput, guess
from covassay.reference.mechanisms.mechanism import Mechanism


def _declared() -> list[Mechanism[Any, ..., Any]]:
    """Return the `MECHANISM` of every file that has one, in the order in which the mechanisms are listed."""
    files = (found.name for found in walk_packages(mechanisms.__path__, f"{mechanisms.__name__}.") if not found.ispkg)
    modules = {name.rpartition(".")[2]: name for name in files if name != __name__}
    ordered = sorted(modules, key=lambda name: mechanisms.__all__.index(name) if name in mechanisms.__all__ else 1000)
    loaded = (import_module(modules[name]) for name in ordered)
    return [module.MECHANISM for module in loaded if hasattr(module, "MECHANISM")]


MECHANISMS: dict[str, Mechanism[Any, ..., Any]] = {declared.name: declared for declared in _declared()}


def mechanism(name: str) -> Mechanism[Any, ..., Any]:
    """Return the mechanism of the given name."""
    if name not in MECHANISMS:
        raise InvalidInput(f"mechanism = {name!r}: {guess(name, MECHANISMS)}must be one of {', '.join(MECHANISMS)}")
    return MECHANISMS[name]
