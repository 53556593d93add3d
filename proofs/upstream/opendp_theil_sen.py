"""OpenDP, make_pairwise_predict (Theil–Sen regression): if the number of rows is odd, the last row is dropped (issue
2950).

The script needs numpy and opendp. The exit status is 1 while the fault is there, and 0 when it is corrected.

If one row is put before an even number of rows, the code uses the new row and drops the last row. One prediction is
then removed and another one is added, so the distance of the outputs is 2, whereas the stability map says 1. With two
points only one pairing is possible, so the pairing is not random.
"""

import sys

import numpy as np
import opendp.prelude as dp
from opendp.extras.sklearn.linear_model._make_private_theil_sen import make_pairwise_predict

dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")
predict = make_pairwise_predict(np.array([25.0, 75.0]), runs=1)
x = np.array([[1.0, 1.0], [2.0, 3.0]])
with_one_more = np.vstack([[9.0, 3.0], x])


def rows(data: np.ndarray) -> set[tuple[float, ...]]:
    """Return the predictions, as a set of rows."""
    return {tuple(np.round(row, 9)) for row in np.asarray(predict(data))}


one, other = rows(x), rows(with_one_more)
moved, claimed = len(one ^ other), predict.map(1)
print(f"predictions from two rows: {sorted(one)}; predictions with one row more: {sorted(other)}")
print(f"one added row moves {moved} predictions; the stability map says {claimed}")
wrong = moved > claimed
print("FAULT: one added row changes more predictions than the stability map allows" if wrong else "no fault is seen")
sys.exit(int(wrong))
