"""OpenDP, make_private_np_eigendecomposition: the sensitivity leaves out the origin of the domain (issue 2952).

The script needs numpy and opendp. The exit status is 1 while the fault is there, and 0 when it is corrected.

Rows may lie at a distance of at most 1 from (10, 0). Moving one row from (9, 0) to (11, 0) moves XᵀX by 40, but the
noise is scaled to rows of norm 1. The claimed loss of one replaced row is ε = 2.
"""

import math
import sys

import numpy as np
import opendp.prelude as dp
from opendp.extras.sklearn._make_eigendecomposition import make_private_np_eigendecomposition

dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")
DRAWS = 400
domain = dp.numpy.array2_domain(norm=1.0, p=2, origin=np.array([10.0, 0.0]), size=6, num_columns=2, nan=False, T=float)
try:
    measurement = make_private_np_eigendecomposition(domain, dp.symmetric_distance(), 1.0, [1.0])
except Exception as refused:
    print(f"no fault is seen: the domain is refused ({type(refused).__name__})")
    sys.exit(0)
claimed = measurement.map(2)
x, other = np.array([[10.0, 0.0]] * 5 + [[9.0, 0.0]]), np.array([[10.0, 0.0]] * 5 + [[11.0, 0.0]])
middle = (np.sum(x**2) + np.sum(other**2)) / 2
counts = [sum(float(np.max(measurement(data)[0])) >= middle for _ in range(DRAWS)) for data in (other, x)]
upper = (counts[1] + 5 * math.sqrt(counts[1]) + 15) / DRAWS  # a bound far above the observed frequency
loss = math.log(max(counts[0] - 5 * math.sqrt(DRAWS), 1) / DRAWS / upper)
print(f"largest eigenvalue ≥ {middle:g}: {counts[0]} of {DRAWS} draws with the row (11, 0), {counts[1]} with (9, 0)")
print(f"a loss of at least {loss:.2f}; claimed: {claimed:g}")
wrong = loss > claimed
print("FAULT: the privacy loss is above the claim" if wrong else "no fault is seen")
sys.exit(int(wrong))
