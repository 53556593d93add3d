"""OpenDP, make_private_eigenvector: the acceptance probability is divided by (uᵀΩu)^(d/2), but should be multiplied by
(uᵀΩu)^(d/2).

The script needs numpy, scipy and opendp. The exit status is 1 while the fault is there, and 0 when it is corrected.
Issue 2416 was about another fault in the same line: a comparison was missing, and has since been added.

At d = 2 the measurement should draw u = (cos t, sin t) with density proportional to exp(−uᵀAu), where A = ε(λ₁I − C)/4.
"""

import sys

import numpy as np
import opendp.prelude as dp
from opendp.extras.numpy import _sscp_domain
from opendp.extras.sklearn._make_eigenvector import make_private_eigenvector
from scipy.integrate import quad

dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")
EPSILON, C, DRAWS = 1.0, np.diag([40.0, 0.0]), 1500
WEIGHT = EPSILON * (C[0, 0] - C[1, 1]) / 4  # uᵀAu = WEIGHT sin² t


def density(t: float) -> float:
    """Return the density of the angle t, up to its constant."""
    return float(np.exp(-WEIGHT * np.sin(t) ** 2))


promised = quad(lambda t: np.sin(t) ** 2 * density(t), 0, np.pi)[0] / quad(density, 0, np.pi)[0]
domain = _sscp_domain(num_features=2, norm=1.0, p=2, size=40, T=float)
measurement = make_private_eigenvector(domain, dp.symmetric_distance(), EPSILON)
squares = np.array([np.ravel(measurement(C))[1] ** 2 for _ in range(DRAWS)])
found, error = squares.mean(), squares.std() / DRAWS**0.5
print(f"mean of the squared second component: {found:.5f} ± {error:.5f} in {DRAWS} draws; it should be {promised:.5f}")
wrong = abs(found - promised) > 7 * error
print("FAULT: the draws do not follow the intended law" if wrong else "no fault is seen")
sys.exit(int(wrong))
