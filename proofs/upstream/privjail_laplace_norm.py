"""privjail (0.1.2): the Laplace mechanism uses a sensitivity in the ℓ₂ norm as if it were one in the ℓ₁ norm.

`clip_norm` clips rows to an ℓ₂ norm of 1 by default, and the sum of the rows has `norm_type` "l2" and distance 1.
`laplace_mechanism(…, eps=ε)` ignores the norm type and adds noise of scale 1/ε, and the accountant of privjail counts ε
for it. A row of d equal entries, however, changes the sum by √d in the ℓ₁ norm. Neighbours differ by one row.
"""

import math
import sys

import numpy as np
import privjail
from privjail.numpy.array import PrivNDArray

# The script prints "FAULT" by mistake only if a frequency is ERRORS standard errors away from its mean.
EPSILON, DRAWS, ERRORS = 1.0, 20_000, 7
ROW = np.ones(4) / 2


def share(rows):
    """Return the share of draws in which every entry of the released sum is at least the entry of `ROW`, and the ε
    that the accountant of privjail counts for one draw.
    """
    accountant = privjail.PureDPAccountant(budget_limit=None)
    array = PrivNDArray(rows, distance=privjail.RealExpr(1), privacy_axis=0, accountant=accountant)
    total = privjail.clip_norm(array, 1.0).sum(axis=0)
    hits = sum((privjail.laplace_mechanism(total, eps=EPSILON) >= ROW).all() for _ in range(DRAWS))
    return hits / DRAWS, accountant.budget_spent / DRAWS


np.random.seed(1)  # noqa: NPY002 (privjail draws from the global generator)
(with_row, spent), (without, _) = share(np.array([ROW])), share(np.zeros((1, 4)))
loss = math.log((with_row - ERRORS * math.sqrt(with_row / DRAWS)) / (without + ERRORS * math.sqrt(without / DRAWS)))
print(
    f"the event has frequency {with_row:.4f} on one data set and {without:.4f} on its neighbour: "
    f"loss ≥ {loss:.3f}, counted ε = {spent:g}"
)
if loss > spent:
    print("FAULT: the noise is calibrated to an ℓ₁ sensitivity of 1, but the ℓ₁ sensitivity of the sum is √d = 2")
    sys.exit(1)
print("no fault found")
