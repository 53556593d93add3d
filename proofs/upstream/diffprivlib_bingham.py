"""diffprivlib, mechanisms.Bingham: the acceptance probability is divided by (uᵀΩu)^(d/2), but should be multiplied by
(uᵀΩu)^(d/2).

The script needs numpy, scipy and diffprivlib. The exit status is 1 while the fault is there, and 0 when it is
corrected.

At d = 2 the mechanism should draw u = (cos t, sin t) with density proportional to exp(−uᵀAu), where A = ε(λ₁I − C)/4.
For the matrix C below, the script computes the mean of the squared second component of u under this law by an integral.
The script compares the result with the average of the squared second component over draws of the mechanism.
"""

import sys

import numpy as np
from diffprivlib.mechanisms import Bingham
from scipy.integrate import quad

EPSILON, C, DRAWS = 1.0, np.diag([40.0, 0.0]), 4000
WEIGHT = EPSILON * (C[0, 0] - C[1, 1]) / 4  # uᵀAu = WEIGHT sin² t


def density(t: float) -> float:
    """Return the density of the angle t, up to its constant."""
    return float(np.exp(-WEIGHT * np.sin(t) ** 2))


promised = quad(lambda t: np.sin(t) ** 2 * density(t), 0, np.pi)[0] / quad(density, 0, np.pi)[0]
mechanism = Bingham(epsilon=EPSILON, random_state=np.random.RandomState(1))
squares = np.array([np.ravel(mechanism.randomise(C))[1] ** 2 for _ in range(DRAWS)])
found, error = squares.mean(), squares.std() / DRAWS**0.5
print(f"mean of the squared second component: {found:.5f} ± {error:.5f} in {DRAWS} draws; it should be {promised:.5f}")
wrong = abs(found - promised) > 7 * error
print("FAULT: the draws do not follow the intended law" if wrong else "no fault is seen")
sys.exit(int(wrong))
