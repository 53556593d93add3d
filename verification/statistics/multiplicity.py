"""One false-alarm budget for a whole run, split by Holm's procedure (statsmodels)."""

from collections.abc import Sequence

import numpy as np
from statsmodels.stats.multitest import multipletests

from covassay.reference.errors import InvalidInput


def require_false_alarm(alpha: float) -> float:
    """A false-alarm probability: above 0 and at most 0.05."""
    if not 0 < alpha <= 0.05:
        raise InvalidInput(f"false alarm = {alpha!r}: must be above 0 and at most 0.05")
    return float(alpha)


def holm(p_values: Sequence[float], alpha: float) -> list[bool]:
    """Which nulls are rejected, with probability at most α that any true one is.

    Valid however the tests depend on one another.
    """
    require_false_alarm(alpha)
    if not p_values:
        return []
    rejected, _, _, _ = multipletests(np.asarray(p_values), alpha=alpha, method="holm")
    return [bool(r) for r in rejected]
