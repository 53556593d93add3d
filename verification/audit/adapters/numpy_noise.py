"""Make targets `numpy:laplace` and `numpy:normal`, which add noise of a NumPy generator to a float64 query.

In real arithmetic, `numpy:laplace` is the Laplace mechanism, which is ε-DP, and `numpy:normal` is the Gaussian
mechanism, which is ρ-zCDP.
"""

from collections.abc import Callable
from importlib.metadata import version

import numpy as np

from covassay.verification.audit.adapters.numbers import CONCENTRATED, LAPLACE, PURE, gaussian_deviation, number_target
from covassay.verification.audit.targets.target import Target


def _laplace(query: float, sensitivity: float, *, rng: np.random.Generator, epsilon: float) -> float:
    return query + rng.laplace(scale=sensitivity / epsilon)


def _normal(query: float, sensitivity: float, *, rng: np.random.Generator, rho: float) -> float:
    return query + rng.normal(scale=gaussian_deviation(sensitivity, rho))


def laplace() -> Target:
    """Add noise from `Generator.laplace` to the query."""
    return number_target("numpy:laplace", _laplace, f"numpy {version('numpy')}, Generator.laplace", PURE, LAPLACE)


def normal() -> Target:
    """Add noise from `Generator.normal` to the query."""
    return number_target("numpy:normal", _normal, f"numpy {version('numpy')}, Generator.normal", CONCENTRATED)


TARGETS: dict[str, Callable[[], Target]] = {"laplace": laplace, "normal": normal}
