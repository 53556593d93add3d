"""OpenDP, make_private_np_eigendecomposition: the measurement raises an error if all eigenvalues are equal, and returns
an output on a neighbouring data set.

The script needs numpy and opendp. The exit status is 1 while the fault is there, and 0 when it is corrected.

The exception distinguishes two neighbouring data sets with certainty. The measurement could give an output instead of
an exception, because for equal eigenvalues the eigenvector should simply have the uniform law.
"""

import sys

import numpy as np
import opendp.prelude as dp
from opendp.extras.sklearn._make_eigendecomposition import make_private_np_eigendecomposition

dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")
RUNS = 10
domain = dp.numpy.array2_domain(norm=1.0, p=2, origin=0.0, size=2, num_columns=2, nan=False, T=float)
measurement = make_private_np_eigendecomposition(domain, dp.symmetric_distance(), 0.5, [0.5])


def answers(x: np.ndarray) -> int:
    """Return how many of the runs give an output."""
    count = 0
    for _ in range(RUNS):
        try:
            measurement(x)
            count += 1
        except Exception as error:
            print(f"  {type(error).__name__}: {str(error).strip().splitlines()[0][:90]}") if not count else None
    return count


equal, neighbour = answers(np.eye(2)), answers(np.array([[1.0, 0.0], [1.0, 0.0]]))
print(f"outputs on the rows (1, 0), (0, 1): {equal} of {RUNS}; on (1, 0), (1, 0): {neighbour} of {RUNS}")
wrong = equal == 0 and neighbour == RUNS
print("FAULT: an exception tells neighbours apart" if wrong else "no fault is seen")
sys.exit(int(wrong))
