"""diffprivlib, models.PCA: fit subtracts the noisy mean from the caller's own array.

The script needs numpy and diffprivlib. The exit status is 1 while the fault is there, and 0 when it is corrected.
"""

import sys

import numpy as np
from diffprivlib.models import PCA

x = np.random.default_rng(1).uniform(-0.5, 0.5, (50, 3))
before = x.copy()
PCA(n_components=2, epsilon=1.0, data_norm=1.0, bounds=([-1] * 3, [1] * 3), random_state=1).fit(x)
moved = float(np.abs(x - before).max())
print(f"after fit, the entries of the caller's array have changed by up to {moved:.3g}")
print("FAULT: fit overwrites its input" if moved > 0 else "no fault is seen")
sys.exit(int(moved > 0))
