"""Make the targets `gaussian`, which is (ε, δ)-DP, and `laplace`, which is ε-DP, from pfl 0.6.0 (Apple).

The targets call `GaussianMechanism.construct_single_iteration(clipping_bound, epsilon, delta)` and
`LaplaceMechanism(clipping_bound, epsilon)`. The method `add_noise` of both classes adds noise to statistics whose norm
is at most the bound. In the package, the bound is the largest change of a sum by one contribution. In the adapter, the
bound is the largest change of the query by one row.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.verification.audit.adapters.numbers import APPROXIMATE, LAPLACE, PURE, number_target
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import Target

PACKAGE = Package(
    requirements=("pfl==0.6.0",), modules=("pfl.privacy.gaussian_mechanism", "pfl.privacy.laplace_mechanism")
)


def _noisy(mechanism: Any, query: float, rng: np.random.Generator) -> float:
    from pfl.stats import MappedVectorStatistics

    statistics = MappedVectorStatistics({"query": np.array([query])})
    noisy, _ = mechanism.add_noise(statistics, cohort_size=1, seed=int(rng.integers(2**32)))
    return float(noisy["query"][0])


def _gaussian(query: float, sensitivity: float, *, rng: np.random.Generator, epsilon: float, delta: float) -> float:
    from pfl.privacy.gaussian_mechanism import GaussianMechanism

    return _noisy(GaussianMechanism.construct_single_iteration(sensitivity, epsilon, delta), query, rng)


def _laplace(query: float, sensitivity: float, *, rng: np.random.Generator, epsilon: float) -> float:
    from pfl.privacy.laplace_mechanism import LaplaceMechanism

    return _noisy(LaplaceMechanism(sensitivity, epsilon), query, rng)


def gaussian() -> Target:
    """`GaussianMechanism`."""
    return number_target("pfl:gaussian", _gaussian, told_version(PACKAGE, "GaussianMechanism"), APPROXIMATE)


def laplace() -> Target:
    """`LaplaceMechanism`."""
    return number_target("pfl:laplace", _laplace, told_version(PACKAGE, "LaplaceMechanism"), PURE, LAPLACE)


TARGETS: dict[str, Callable[[], Target]] = {"gaussian": gaussian, "laplace": laplace}
