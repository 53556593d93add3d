"""Record how a composite mechanism calls its component mechanisms."""

from types import ModuleType
from typing import Any, NamedTuple

import pytest


class Call(NamedTuple):
    """One call of `release`, with the number of records and the options."""

    rows: int
    options: dict[str, Any]


def recorded_calls(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str = "release") -> list[Call]:
    """Record the calls of a function of the module, which still works; the list grows with every call."""
    calls: list[Call] = []
    original = getattr(module, name)

    def remember(x: Any, noise: Any, **options: Any) -> Any:
        calls.append(Call(x.shape[0], options))
        return original(x, noise, **options)

    monkeypatch.setattr(module, name, remember)
    return calls
