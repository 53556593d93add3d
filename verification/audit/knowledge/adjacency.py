"""Explain findings by another adjacency: less noise suffices if one row is added or removed and n is public."""

import math
from collections.abc import Iterable

from covassay.verification.audit.knowledge.known import known

SCALES = {  # the factors of the noise scale, by the names of suspects
    "half-scale": 0.5, "add-remove": math.sqrt(0.5), "sensitivity-one": math.sqrt(0.5),
    "joint-add-remove": math.sqrt(0.375),
}  # fmt: skip


def explained_by_adjacency(mechanism: str | None, fitted: Iterable[str]) -> str:
    """Return a sentence if a fitting suspect has the scale that is needed for adding or removing a row; otherwise
    empty.
    """
    enough = known(mechanism).add_remove if mechanism else None
    if enough is None or enough not in [SCALES.get(name) for name in fitted]:
        return ""
    return (
        f"for d ≥ 2 that scale, {enough:.3g} times the calibrated one, is what adding or removing one row needs, with "
        "n public: add-remove adjacency would explain it. The claim audited here is replace-one"
    )
