"""eeprivacy (0.0.5): `PrivateVectorClampedMeanLaplace` adds the same random number to the means of all columns.

The difference of two columns of the output is therefore the difference of their means, without noise. If two data sets
that differ in one row have different differences of means, every output distinguishes them.
"""

import sys

import numpy as np
from eeprivacy.operations import PrivateVectorClampedMeanLaplace

EPSILON, DRAWS, ROUNDING = 1.0, 1_000, 1e-9
FIRST, SECOND = np.zeros((4, 2)), np.vstack([np.zeros((3, 2)), [[1.0, 0.0]]])


def difference(vectors):
    """Return the first column of an output minus the second column."""
    mean = PrivateVectorClampedMeanLaplace(lower_bound=0, upper_bound=1, k=2, N=len(vectors))
    first, second = mean.execute(vectors=vectors, epsilon=EPSILON, delta=0)
    return first - second


np.random.seed(1)  # noqa: NPY002 (eeprivacy draws from the global generator)
of_first = sum(abs(difference(FIRST)) < ROUNDING for _ in range(DRAWS))
of_second = sum(abs(difference(SECOND)) < ROUNDING for _ in range(DRAWS))
print(f"both columns are equal in {of_first} of {DRAWS} draws on one data set, and in {of_second} on its neighbour")
if of_first == DRAWS and of_second == 0:
    print("FAULT: the difference of two columns is released without noise, whatever epsilon is")
    sys.exit(1)
print("no fault found")
