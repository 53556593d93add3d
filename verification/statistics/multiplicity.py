"""Divide the false-alarm budget of a whole run among its tests, by Holm's procedure."""

from collections.abc import Sequence

import numpy as np

from covassay.reference.errors import InvalidInput

# a run may not have a larger false-alarm probability than this conventional level of significance
LARGEST_FALSE_ALARM = 0.05


def require_false_alarm(alpha: float) -> float:
    """Return the false-alarm probability `alpha` if it is above 0 and at most 0.05, and raise an error otherwise."""
    if not 0 < alpha <= LARGEST_FALSE_ALARM:
        raise InvalidInput(f"false_alarm = {alpha!r}: must be above 0 and at most {LARGEST_FALSE_ALARM}")
    return float(alpha)


def holm(p_values: Sequence[float], alpha: float) -> list[bool]:
    """Return a flag for each null hypothesis that says whether it is rejected; any true hypothesis is rejected with
    probability at most α.

    The bound on the probability of a false rejection holds however the tests depend on one another. The level with
    which a p-value is compared has a relative rounding error of at most 2⁻⁵². This error is smaller than the amount by
    which p-values are rounded up (`statistics.rounding`).

    Raises
    ------
    InvalidInput : if a p-value is not in [0, 1]; otherwise a NaN would count as rejected.
    """
    require_false_alarm(alpha)
    for p in p_values:
        if not 0 <= p <= 1:
            raise InvalidInput(f"p-value = {p!r}: must lie in [0, 1]")
    listed = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(listed)
    # the procedure compares the k-th smallest of m p-values with α/(m − k + 1)
    kept = listed[order] > alpha / np.arange(len(listed), 0, -1)
    rejected = np.zeros(len(listed), dtype=bool)
    # after the first hypothesis that is not rejected, no hypothesis with a larger p-value is rejected
    rejected[order] = ~np.logical_or.accumulate(kept)
    return [bool(r) for r in rejected]
