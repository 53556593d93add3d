"""diff-priv-laplace-python (1.0.5): Show that `DiffPrivStatistics.sum` takes the bounds for its noise from the data.

The scale of the noise is the largest absolute value of the data, divided by ε. If all values are 0, no noise is added.
If one value is 1 and all others are 0, noise of scale 1/ε is added. An output of 0 therefore shows with certainty which
of the two data sets was used. The scales of `mean` and `variance` depend in the same way on the range of the data.
"""

import sys

import numpy as np
from diffpriv_laplace import DiffPrivStatistics

EPSILON, DRAWS = 1.0, 1_000


def zeros(data):
    """Return how many of the released sums are 0."""
    return sum(DiffPrivStatistics.sum(data, EPSILON) == 0 for _ in range(DRAWS))


np.random.seed(1)  # noqa: NPY002 (the package draws from the global generator)
of_first, of_second = zeros(np.zeros(4)), zeros(np.array([0.0, 0.0, 0.0, 1.0]))
print(f"the released sum is 0 in {of_first} of {DRAWS} draws on one data set, and in {of_second} on its neighbour")
if of_first == DRAWS and of_second == 0:
    print("FAULT: the scale of the noise is computed from the data, and there is no noise if all values are 0")
    sys.exit(1)
print("no fault found")
