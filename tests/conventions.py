"""What the statistical and the numerical tests have in common: a false-alarm probability and two names of types."""

import numpy as np
from numpy.typing import NDArray

# With a random seed, a statistical test of a correct law would raise a false alarm with at most this probability.
FALSE_ALARM = 1e-9
Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
