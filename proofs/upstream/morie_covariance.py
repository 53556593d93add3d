"""morie (1.5.1): the noise of `dp_covariance` is calibrated for adding or removing one record, but the module says that
neighbours differ by one replaced record. The noise is added to the distinct entries of the second moment. If rows have
norm at most C, replacing one record changes these entries by up to √2 C²/n in Euclidean norm, but σ is calibrated to
C²/n.
"""

import sys

import numpy as np
from morie.fn import dp_covariance
from scipy.special import ndtr

EPSILON, DELTA, N = 1.0, 1e-5, 10
first, second = np.zeros((N, 2)), np.zeros((N, 2))
first[0, 0] = second[0, 1] = 1.0  # one record replaced

release = dp_covariance(first, 1.0, EPSILON, DELTA, seed=1, project_psd=False)
other = dp_covariance(second, 1.0, EPSILON, DELTA, seed=1, project_psd=False)
moved = np.array(release["release"].tolist()) - np.array(other["release"].tolist())  # both data sets get the same noise
mu = float(np.linalg.norm(np.diag(moved)) / float(release["sigma"]))
delta = ndtr(mu / 2 - EPSILON / mu) - np.exp(EPSILON) * ndtr(-mu / 2 - EPSILON / mu)
sigma = float(release["sigma"])
print(f"two entries change by {np.diag(moved).round(4)}, and σ = {sigma:.4f}, so δ({EPSILON:g}) = {delta:.3g}")
if delta > DELTA * 1.01:
    print(f"FAULT: δ is {delta / DELTA:.1f} times the one that is claimed")
    sys.exit(1)
print("no fault found")
