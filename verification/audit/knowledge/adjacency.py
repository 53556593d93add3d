"""If n is public, adding or removing one row needs less noise than replacing one. An audit may explain a finding by a
claim for adding or removing rows.
"""

import math
from collections.abc import Iterable

from covassay.verification.audit.knowledge.known import known

SCALES = {  # these are the suspected laws by name, with the factor by which each multiplies the noise scale
    "half-scale": 0.5, "add-remove": math.sqrt(0.5), "sensitivity-one": math.sqrt(0.5),
    "joint-add-remove": math.sqrt(0.375),
}  # fmt: skip


def explained_by_adjacency(mechanism: str | None, fitted: Iterable[str]) -> str:
    """Return a sentence if a law that fits has a noise scale that suffices if a row is added or removed, and otherwise
    an empty string.
    """
    enough = known(mechanism).add_remove if mechanism else None
    if enough is None or enough not in [SCALES.get(name) for name in fitted]:
        return ""
    return (
        f"for d ≥ 2 that scale, {enough:.3g} times the calibrated one, is what adding or removing one row needs, with "
        "n public: add-remove adjacency would explain it. The claim audited here is replace-one"
    )
