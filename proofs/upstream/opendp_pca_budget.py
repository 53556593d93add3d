"""OpenDP, sklearn.decomposition.PCA: the privacy map of the measurement says 2ε for one changed row.

The script needs numpy and opendp. The exit status is 1 while the fault is there, and 0 when it is corrected.

The documentation says that epsilon is the privacy budget for n_changes changed rows. Changing one row means removing a
row and adding another, which has distance 2 in the metric of the measurement.
"""

import sys

import opendp.prelude as dp

dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")
wrong = False
for epsilon in (0.5, 1.0, 2.0):
    model = dp.sklearn.decomposition.PCA(epsilon=epsilon, row_norm=1.0, n_samples=100, n_features=3)
    stated = model.measurement().map(2)
    print(f"PCA(epsilon={epsilon:g}): the privacy map of its measurement says {stated:.6g} for one changed row")
    wrong |= stated > epsilon * (1 + 1e-6)
print("FAULT: the model spends more than epsilon, as its own privacy map says" if wrong else "no fault is seen")
sys.exit(int(wrong))
