"""The entries of the ledger, one TOML file for every paper, and the assumptions that claims may rest on."""

import tomllib
from functools import lru_cache
from importlib import resources
from typing import Any


def read(name: str) -> dict[str, Any]:
    """Return the contents of the TOML file with the given name."""
    return tomllib.loads((resources.files(__name__) / f"{name}.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def assumptions() -> dict[str, str]:
    """Return, by identifier, the assumptions of claims (A-…) and statements of what is not claimed (N-…)."""
    return read("assumptions")


@lru_cache(maxsize=1)
def notation() -> dict[str, str]:
    """Return the meaning of the letters in the claims, by paper, where "all" stands for all papers."""
    return read("notation")
