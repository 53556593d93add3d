"""Call the functions of coin-press, for its adapter and that of dp-learning-ff, which has a copy of them.

`multivariate_mean_iterative(X, c, r, t, Ps)` and `cov_est(X, args)` spend the budgets of their steps, in ρ-zCDP, one
after the other. A quarter of ρ goes to the first step and the rest to the second, as in the project's demo. The
functions get the caller's array itself.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.adapters.seeding import torch_seeded

SPLIT = 0.25, 0.75  # the shares of ρ of the two steps, as in the project's demo
THREE = 0.25, 0.25, 0.5  # the shares of ρ of three steps
RADIUS = 10.0  # the bound on the mean for one column
LARGEST = 10.0  # Estimate the mean in two steps.


def mean(algos: Any, x: Matrix, rng: np.random.Generator, rho: float) -> Vector:
    """Estimate the mean in two steps."""
    import torch

    budgets, d = [share * rho for share in SPLIT], x.shape[1]
    with torch_seeded(torch, rng):
        return np.asarray(algos.multivariate_mean_iterative(x, np.zeros(d), RADIUS * d**0.5, len(budgets), budgets))


def covariance(algos: Any, x: Matrix, rng: np.random.Generator, rho: float, split: tuple[float, ...] = SPLIT) -> Matrix:
    """Estimate the second moment; the number of steps is the length of the split."""
    import torch

    n, d = x.shape
    arguments = SimpleNamespace(n=n, d=d, u=LARGEST * d**0.5, t=len(split), rho=[share * rho for share in split])
    with torch_seeded(torch, rng):
        return np.asarray(algos.cov_est(torch.tensor(x, dtype=torch.float32), arguments))
