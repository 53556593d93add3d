"""Noise of NumPy as targets: `numpy:laplace` and `numpy:normal`, a float64 sum of a query and a draw of the generator.

In real arithmetic these are the Laplace mechanism, which is ε-DP, and the Gaussian mechanism, which is ρ-zCDP.
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
    """A query plus `Generator.laplace`."""
    return number_target("numpy:laplace", _laplace, f"numpy {version('numpy')}, Generator.laplace", PURE, LAPLACE)


def normal() -> Target:
    """A query plus `Generator.normal`."""
    return number_target("numpy:normal", _normal, f"numpy {version('numpy')}, Generator.normal", CONCENTRATED)


TARGETS: dict[str, Callable[[], Target]] = {"laplace": laplace, "normal": normal}
