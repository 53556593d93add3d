"""This package holds the machine checks of the claims in the ledger.

Each check runs formulas of the reference and must reject wrong versions of them (its mutants).
"""

import importlib
import pkgutil
from functools import lru_cache

from covassay.verification.claims.evidence import ClaimCheck


@lru_cache(maxsize=1)
def checks() -> dict[str, ClaimCheck]:
    """Return every check of this package, keyed by its name."""
    found: dict[str, ClaimCheck] = {}
    for module in sorted(m.name for m in pkgutil.walk_packages(__path__, f"{__name__}.") if not m.ispkg):
        place = module.removeprefix(f"{__name__}.")
        contents = vars(importlib.import_module(module)).values()
        found |= {c.name: c for c in contents if isinstance(c, ClaimCheck) and c.name.startswith(f"{place}:")}
    return found
