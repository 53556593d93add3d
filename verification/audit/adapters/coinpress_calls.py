"""Call the functions of coin-press for the adapter of coin-press, and for the adapter of dp-learning-ff, which has a
copy of the functions.

The functions `multivariate_mean_iterative(X, c, r, t, Ps)` and `cov_est(X, args)` work in several steps. Their caller
gives a budget ρ (of zCDP) for each step. With two steps, a quarter of ρ goes to the first step and the rest to the
second, as in the project's demo. The mean function gets the caller's array itself, so that the audit sees whether the
function overwrites it. The covariance function gets a copy in single precision.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.adapters.seeding import torch_seeded

SPLIT = 0.25, 0.75  # two steps get these shares of ρ, as in the project's demo
THREE = 0.25, 0.25, 0.5  # three steps get these shares of ρ
RADIUS = 10.0  # the bound on the absolute value of the mean of a column
LARGEST = 10.0  # the bound on the eigenvalues of the covariance is this number times √d


def mean(algos: Any, x: Matrix, rng: np.random.Generator, rho: float) -> Vector:
    """Estimate the mean in two steps."""
    import torch

    budgets, d = [share * rho for share in SPLIT], x.shape[1]
    with torch_seeded(torch, rng):
        return np.asarray(algos.multivariate_mean_iterative(x, np.zeros(d), RADIUS * d**0.5, len(budgets), budgets))


def covariance(algos: Any, x: Matrix, rng: np.random.Generator, rho: float, split: tuple[float, ...] = SPLIT) -> Matrix:
    """Estimate the second moment in several steps, one for each part of the budget."""
    import torch

    n, d = x.shape
    arguments = SimpleNamespace(n=n, d=d, u=LARGEST * d**0.5, t=len(split), rho=[share * rho for share in split])
    with torch_seeded(torch, rng):
        return np.asarray(algos.cov_est(torch.tensor(x, dtype=torch.float32), arguments))
