"""Share definitions between tests: a false-alarm probability, seeds of random data, types, and arguments of
releases.
"""

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from covassay.reference.mechanisms.registry import MECHANISMS, mechanism

# With a random seed, a statistical test of a correct law would raise a false alarm with at most this probability.
FALSE_ALARM = 1e-9
Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
SEEDS = st.integers(0, 2**32 - 1)  # a property test draws its data with these seeds


def too_often_above(values: Vector, bound: float, beta: float) -> bool:
    """Return whether more of the n values exceed a bound than chance explains if each exceeds it with probability β.
    Chance does not explain a number k of such values if P(Binomial(n, β) ≥ k) < 1e-9.
    """
    above = int((values > bound).sum())
    return bool(stats.binom.sf(above - 1, len(values), beta) < FALSE_ALARM)


def framed(*arguments: str) -> list[str]:
    """Return the arguments of `covassay release`; a mechanism for rows in a ball gets the row bound 1 by default."""
    said = {"--row-bound", "--bounds", "--scale-by-data-not-private"} & set(arguments)
    name = dict(pairwise(arguments)).get("--mechanism", "")
    on_a_ball = name in MECHANISMS and mechanism(name).domain == "ball"
    return [*arguments, "--row-bound", "1"] if on_a_ball and not said else [*arguments]
