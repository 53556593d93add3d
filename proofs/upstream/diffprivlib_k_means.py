"""diffprivlib, models.KMeans: a cluster without rows keeps its centre, without noise.

If no row has the label of a cluster, `_update_centers` goes on to the next cluster. The centre of a cluster without
rows keeps its start value. For the bounds of the script, the second coordinate of this value is exactly 1/2, whereas a
coordinate with noise is never exactly 1/2. An output therefore shows with certainty that a cluster is empty. The script
compares neighbours with one row replaced, and neighbours with one row removed.
"""

import sys
import warnings

import numpy as np
from diffprivlib.models import KMeans

DRAWS, EPSILON = 300, 1.0
LOW, HIGH = np.array([0.0, 0.0]), np.array([100.0, 1.0])
warnings.simplefilter("ignore")


def exactly_half(rows):
    """Return the number of draws in which the second coordinate of some centre is exactly 1/2."""
    rng = np.random.RandomState(1)
    hits = 0
    for _ in range(DRAWS):
        model = KMeans(n_clusters=2, epsilon=EPSILON, bounds=(LOW, HIGH), random_state=rng).fit(rows)
        hits += (model.cluster_centers_[:, 1] == 0.5).any()
    return hits


one = np.vstack([np.tile(LOW, (11, 1)), HIGH])  # eleven rows in one corner and one row in the opposite corner
replaced, removed = np.tile(LOW, (12, 1)), np.tile(LOW, (11, 1))
counts = [exactly_half(rows) for rows in (one, replaced, removed)]
print(
    f"a coordinate is exactly 1/2 in {counts[0]} of {DRAWS} draws; after a row is replaced, in {counts[1]}; "
    f"after it is removed, in {counts[2]}"
)
if counts[0] == 0 and min(counts[1:]) > DRAWS / 2:
    print("FAULT: the output shows with certainty whether a cluster is empty, whatever epsilon is")
    sys.exit(1)
print("no fault is seen")
