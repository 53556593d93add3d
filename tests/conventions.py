"""What tests of mathematics have in common: a false-alarm probability, seeds of random data, and names of types."""

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

# With a random seed, a statistical test of a correct law would raise a false alarm with at most this probability.
FALSE_ALARM = 1e-9
Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
SEEDS = st.integers(0, 2**32 - 1)  # of the random data of a property test
