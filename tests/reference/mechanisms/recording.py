"""Record how a composite mechanism calls its component mechanisms."""

from types import ModuleType
from typing import Any, NamedTuple

import pytest


class Call(NamedTuple):
    """A call is one call of `release`: the number of records, and the options."""

    rows: int
    options: dict[str, Any]


def recorded_calls(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> list[Call]:
    """Record the calls of the module's `release`, which still works; the list grows with every call."""
    calls: list[Call] = []
    original = module.release

    def remember(x: Any, noise: Any, **options: Any) -> Any:
        calls.append(Call(x.shape[0], options))
        return original(x, noise, **options)

    monkeypatch.setattr(module, "release", remember)
    return calls
