"""Record the calls by which a mechanism runs other mechanisms as its steps."""

from types import ModuleType
from typing import Any, NamedTuple

import pytest


class Call(NamedTuple):
    """One call of a recorded function: the number of rows, and the options."""

    rows: int
    options: dict[str, Any]


def recorded_calls(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str = "release") -> list[Call]:
    """Return a list to which every later call of the function `name` of the module is appended. The function still
    works."""
    calls: list[Call] = []
    original = getattr(module, name)

    def remember(x: Any, noise: Any, **options: Any) -> Any:
        calls.append(Call(x.shape[0], options))
        return original(x, noise, **options)

    monkeypatch.setattr(module, name, remember)
    return calls
