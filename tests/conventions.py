"""What tests of mathematics have in common: a false-alarm probability, seeds of random data, and names of types."""

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

# With a random seed, a statistical test of a correct law would raise a false alarm with at most this probability.
FALSE_ALARM = 1e-9
Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
SEEDS = st.integers(0, 2**32 - 1)  # of the random data of a property test


def too_often_above(values: Vector, bound: float, beta: float) -> bool:
    """Whether too many of the n values exceed a bound: P(Binomial(n, β) ≥ their number) < 1e-9."""
    above = int((values > bound).sum())
    return bool(stats.binom.sf(above - 1, len(values), beta) < FALSE_ALARM)
