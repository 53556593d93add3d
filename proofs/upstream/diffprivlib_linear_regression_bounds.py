"""diffprivlib, models.LinearRegression: the sensitivity of a squared column is computed from the lower bound alone
(issue 105).

The script needs numpy and diffprivlib. The exit status is 1 while the fault is there, and 0 when it is corrected.

With bounds [0, 100] this sensitivity is 0, so the sum of squares is released without noise. One changed row then
changes the output in every run.
"""

import sys

import numpy as np
from diffprivlib.models import LinearRegression

RUNS, ROWS = 20, 12


def released(last: float) -> np.ndarray:
    """Return the released sum of squares of every run, for a data column with the entries 0, …, 0, `last`."""
    x = np.zeros((ROWS, 1))
    x[-1] = last
    y = np.zeros(ROWS)
    model = LinearRegression(epsilon=1.0, bounds_X=(0, 100), bounds_y=(0, 1), fit_intercept=False)
    return np.array([model.fit(x.copy(), y)._obj_coefs[2][0, 0] for _ in range(RUNS)])


one, other = released(100.0), released(0.0)
print(f"sum of squares, last entry 100: {one.min():.6g} to {one.max():.6g} in {RUNS} runs")
print(f"sum of squares, last entry 0:   {other.min():.6g} to {other.max():.6g}; the noise scale should be 30 000")
wrong = one.std() == 0 and other.std() == 0 and one.min() > other.max()
print("FAULT: the sum has no noise, and the privacy loss is infinite" if wrong else "no fault is seen")
sys.exit(int(wrong))
