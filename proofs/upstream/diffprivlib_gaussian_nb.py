"""diffprivlib, models.GaussianNB: a class without rows gets a count of 0 without noise.

The script needs numpy and diffprivlib. The exit status is 1 while the fault is there, and 0 when it is corrected.

The classes are given by the caller: 0 and 1. The first data set has no row of class 1, and the second data set has one.
"""

import sys

import numpy as np
from diffprivlib.models import GaussianNB

RUNS, ROWS = 60, 12


def share(of_class_one: int) -> np.ndarray:
    """Return the released shares of class 1."""
    x, y = np.zeros((ROWS, 1)), np.zeros(ROWS, dtype=int)
    y[:of_class_one] = 1
    shares = []
    for run in range(RUNS):
        model = GaussianNB(epsilon=1.0, bounds=([-1], [1]), random_state=run)
        shares.append(model.partial_fit(x, y, classes=[0, 1]).class_prior_[1])
    return np.array(shares)


without, with_one = share(0), share(1)
print(f"released share of class 1, without rows of class 1: {without.min():.3g} to {without.max():.3g} in {RUNS} runs")
print(f"released share of class 1, with one such row:       {with_one.min():.3g} to {with_one.max():.3g}")
wrong = without.max() < with_one.min()
print("FAULT: the output shows with certainty whether a row has class 1" if wrong else "no fault is seen")
sys.exit(int(wrong))
