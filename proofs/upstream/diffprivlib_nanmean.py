"""diffprivlib, tools.nanmean: the mean is taken over the entries that are not NaN, but the noise is calibrated for the
number of all entries.

The script needs numpy and diffprivlib. The exit status is 1 while the fault is there, and 0 when it is corrected.

The data are ten entries in [0, 1], of which nine are NaN. Replacing the one number changes the mean by up to 1, but the
noise is calibrated to a sensitivity of 1/10. The value of the output distinguishes two data sets that differ in one
entry.
"""

import math
import sys

import numpy as np
from diffprivlib.tools import nanmean

DRAWS, EPSILON = 2000, 1.0


def hits(value: float) -> int:
    """Return in how many draws the output is at least 1/2."""
    array = np.array([np.nan] * 9 + [value])
    rng = np.random.RandomState(1)
    return sum(nanmean(array, epsilon=EPSILON, bounds=(0, 1), random_state=rng) >= 0.5 for _ in range(DRAWS))


one, other = hits(1.0), hits(0.0)
upper = (other + 5 * math.sqrt(other) + 15) / DRAWS  # an upper bound on the probability for the value 0
loss = math.log(max(one - 5 * math.sqrt(DRAWS), 1) / DRAWS / upper)
print(f"output ≥ 1/2: {one} of {DRAWS} draws for the value 1, {other} for the value 0")
print(f"a loss of at least {loss:.2f}; claimed: {EPSILON:g}")
wrong = loss > EPSILON
print("FAULT: the privacy loss is above epsilon" if wrong else "no fault is seen")
sys.exit(int(wrong))
