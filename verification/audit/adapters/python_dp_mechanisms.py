"""Make targets from mechanisms of python-dp 1.1.5, which is OpenMined's wrapper of Google's library.

The target `laplace` calls `LaplaceMechanism(epsilon, sensitivity).add_noise(query)`, which is ε-DP and rounds to a
grid. The target `gaussian` calls `GaussianMechanism(epsilon, delta, sensitivity).add_noise(query)`, which is (ε,
δ)-DP. The mechanisms of python-dp draw from the operating system. The module `python_dp_algorithms` makes other targets
from python-dp.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from covassay.verification.audit.adapters import declared_noise, python_dp_algorithms
from covassay.verification.audit.adapters.declared_noise import PRIMITIVES
from covassay.verification.audit.adapters.numbers import APPROXIMATE, LAPLACE, PURE, number_target
from covassay.verification.audit.adapters.python_dp_algorithms import PACKAGE
from covassay.verification.audit.targets.package import told_version
from covassay.verification.audit.targets.target import Target


@lru_cache(maxsize=64)
def _mechanism(name: str, *parameters: float) -> Any:
    from pydp.algorithms import numerical_mechanisms

    return getattr(numerical_mechanisms, name)(*parameters)


def _laplace(query: float, sensitivity: float, *, rng: Any, epsilon: float) -> Any:
    mechanism = _mechanism("LaplaceMechanism", epsilon, sensitivity)
    return declared_noise.laplace_noise(mechanism.add_noise, query, mechanism.diversity)


def _gaussian(query: float, sensitivity: float, *, rng: Any, epsilon: float, delta: float) -> Any:
    mechanism = _mechanism("GaussianMechanism", epsilon, delta, sensitivity)
    return declared_noise.normal_noise(mechanism.add_noise, query, mechanism.std)


def laplace() -> Target:
    """`LaplaceMechanism`."""
    told = told_version(PACKAGE, "LaplaceMechanism")
    return number_target("python-dp:laplace", _laplace, told, PURE, LAPLACE, seeded=False, primitives=PRIMITIVES)


def gaussian() -> Target:
    """`GaussianMechanism`."""
    told = told_version(PACKAGE, "GaussianMechanism")
    return number_target("python-dp:gaussian", _gaussian, told, APPROXIMATE, seeded=False, primitives=PRIMITIVES)


TARGETS: dict[str, Callable[[], Target]] = {"laplace": laplace, "gaussian": gaussian, **python_dp_algorithms.TARGETS}
