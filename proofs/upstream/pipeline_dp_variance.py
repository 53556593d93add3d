"""PipelineDP (0.3.1): the variance spends 4/3 of its ε if 0 is the middle of the range.

The accumulator sums (x − m)², where m is the middle of the range, and a row changes this sum by up to ((max − min)/2)².
The noise of the sum is calibrated to half of the length of the range of x². For [−1, 1] this is 1/2, although a row
changes the sum by up to 1. Neighbours differ by one user, who contributes one value to one partition.
"""

import math
import sys

import numpy as np
import pipeline_dp
from pipeline_dp import combiners

# Without a fault, the script prints "FAULT" only if one of the two frequencies is at least ERRORS standard errors away
# from its mean.
EPSILON, DRAWS, ERRORS = 1.0, 60_000, 7
METRICS = pipeline_dp.Metrics
parameters = pipeline_dp.AggregateParams(
    metrics=[METRICS.VARIANCE, METRICS.MEAN, METRICS.COUNT], noise_kind=pipeline_dp.NoiseKind.LAPLACE,
    min_value=-1.0, max_value=1.0, max_partitions_contributed=1, max_contributions_per_partition=1,
)  # fmt: skip
accountant = pipeline_dp.NaiveBudgetAccountant(EPSILON, 1e-12)
combiner = combiners.create_compound_combiner(parameters, accountant)
accountant.compute_budgets()


def share(values):
    """Return the share of draws in which the count, the sum of x and the sum of x² are all at least 2.

    The two sums are computed from the released count, mean and variance.
    """
    accumulator = combiner.create_accumulator(values)
    hits = 0
    for _ in range(DRAWS):
        found = combiner.compute_metrics(accumulator)
        rows = max(1.0, found.count)
        total, squares = found.mean * rows, (found.variance + found.mean**2) * rows
        hits += found.count >= 2 and total >= 2 and squares >= 2
    return hits / DRAWS


with_user, without = share([1.0, 1.0]), share([1.0])
low = with_user - ERRORS * math.sqrt(with_user / DRAWS)
high = without + ERRORS * math.sqrt(without / DRAWS)
loss = float(np.log(low / high))
print(f"the event has frequency {with_user:.4f} on one data set and {without:.4f} on its neighbour: loss ≥ {loss:.3f}")
if loss > EPSILON:
    print(f"FAULT: the loss exceeds ε = {EPSILON:g}, because the variance spends 4/3 of its budget")
    sys.exit(1)
print("no fault found")
