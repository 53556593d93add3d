"""If n is public, adding or removing one row needs less noise than replacing one. If the noise of a target suffices
only for adding or removing a row, the audit names this as a possible explanation.
"""

import math
from collections.abc import Iterable

from covassay.verification.audit.knowledge.known import known

SCALES = {  # these are the suspected laws by name, with the factor by which each multiplies the noise scale
    "half-scale": 0.5, "add-remove": math.sqrt(0.5), "sensitivity-one": math.sqrt(0.5),
    "joint-add-remove": math.sqrt(0.375),
}  # fmt: skip


def explained_by_adjacency(mechanism: str | None, fitted: Iterable[str]) -> str:
    """Return a sentence that explains a small noise scale by add-remove adjacency, or an empty string. The sentence is
    returned if the draws fit a wrong law whose noise scale is the one for adding or removing a row.
    """
    enough = known(mechanism).add_remove if mechanism else None
    if enough is None or enough not in [SCALES.get(name) for name in fitted]:
        return ""
    return (
        f"for d ≥ 2 and public n, {enough:.3g} times the calibrated scale suffices if neighbours differ by adding or "
        "removing a row. This other adjacency would explain the small noise scale. The claim audited here is "
        "replace-one"
    )
