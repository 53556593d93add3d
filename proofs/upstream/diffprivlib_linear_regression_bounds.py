"""diffprivlib, models.LinearRegression: the sensitivity of a squared column takes the lower bound twice (issue 105).

The script needs numpy and diffprivlib. The exit status is 1 while the fault is there, 0 when it is mended.

With bounds [0, 100] the sensitivity of the sum of squares is 0, so that the sum is released without noise and one
changed row changes the output in every run.
"""

import sys

import numpy as np
from diffprivlib.models import LinearRegression

RUNS, ROWS = 20, 12


def released(last: float) -> np.ndarray:
    """Return the released sum of squares of the column, for rows of zeros and one last row."""
    x = np.zeros((ROWS, 1))
    x[-1] = last
    y = np.zeros(ROWS)
    model = LinearRegression(epsilon=1.0, bounds_X=(0, 100), bounds_y=(0, 1), fit_intercept=False)
    return np.array([model.fit(x.copy(), y)._obj_coefs[2][0, 0] for _ in range(RUNS)])


one, other = released(100.0), released(0.0)
print(f"sum of squares with a row of 100: {one.min():.6g} to {one.max():.6g} in {RUNS} runs")
print(f"with 0 in its place:              {other.min():.6g} to {other.max():.6g}; the noise scale should be 30 000")
wrong = one.std() == 0 and other.std() == 0 and one.min() > other.max()
print("FAULT: the sum has no noise, and the privacy loss is infinite" if wrong else "no fault is seen")
sys.exit(int(wrong))
