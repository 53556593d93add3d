"""Round p-values in favour of the null hypothesis, so that each is at least as large as in real arithmetic.

The formulas of p-values are binomial, hypergeometric, Gamma and normal tails, the law of Smirnov's one-sided statistic,
two-sample counts of lattice paths, and powers of e. Compared with 60 digits of mpmath, for up to 10⁸ draws and tails
down to 10⁻²⁹⁰, scipy's values of such p-values are too small by a relative error of at most 10⁻¹¹. The module
multiplies p-values by 1 + `GUARD`, which also covers the rounding of a statistic by a few units. If a statistic may
have a larger rounding error, the statistic itself is shifted towards the null hypothesis.
"""

import math
from typing import overload

import numpy as np
from scipy import special

from covassay.reference.domain import Vector

GUARD = 1e-9  # the relative error that is allowed for is a hundred times the largest measured error
# errors were measured up to this number of draws; beyond it, `GUARD` grows like the square root of the number
MEASURED = 1e8
SMALLEST_TAIL = 1e-290  # smaller p-values become this number, because floats may represent them with few digits or as 0
UNIT = 2.0**-53  # the relative error of one floating-point operation


@overload
def rounded_up(p: float, n: int) -> float: ...
@overload
def rounded_up(p: Vector, n: int) -> Vector: ...
def rounded_up(p: float | Vector, n: int) -> float | Vector:
    """Return the p-values of a test of n draws, rounded up but at most 1."""
    up = np.clip(p * (1 + GUARD * max(1.0, math.sqrt(n / MEASURED))), SMALLEST_TAIL, 1.0)
    return float(up) if np.ndim(up) == 0 else np.asarray(up)


def at_least(k: int, n: int, other: float) -> float:
    """Return P(Bin(n, p) ≥ k), rounded up; `other` is 1 − p, which keeps its digits when p is near 1."""
    return 1.0 if k == 0 else rounded_up(float(special.betaincc(n - k + 1, k, other)), n)
