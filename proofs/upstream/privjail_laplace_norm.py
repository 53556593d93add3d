"""privjail (0.1.2): the Laplace mechanism takes a sensitivity in the ℓ₂ norm for one in the ℓ₁ norm.

`clip_norm` clips rows to an ℓ₂ norm of 1 by default, and the sum of the rows has `norm_type` "l2" and distance 1.
`laplace_mechanism(…, eps=ε)` ignores the norm type and adds noise of scale 1/ε, for which the accountant of privjail
counts ε, although a row of d equal entries moves the sum by √d in the ℓ₁ norm. Neighbours differ by one row.
"""

import math
import sys

import numpy as np
import privjail
from privjail.numpy.array import PrivNDArray

EPSILON, DRAWS, ERRORS = 1.0, 20_000, 7  # standard errors that a wrong "FAULT" would need
ROW = np.ones(4) / 2


def share(rows):
    """Return how often all entries of the released sum are at least those of one row, and what the accountant
    counts.
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
    f"an event has the shares {with_row:.4f} and {without:.4f} on neighbours: loss ≥ {loss:.3f}, counted ε = {spent:g}"
)
if loss > spent:
    print("FAULT: the Laplace noise of privjail is for another norm than the sensitivity of the sum, √d = 2 here")
    sys.exit(1)
print("no fault found")
