"""Make the targets `laplace`, which is ε-DP, and `gaussian`, which is ρ-zCDP, from tmlt.core 0.20.0 (Tumult Labs).

The targets call the samplers `tmlt.core.random.laplace.laplace(u, b)` and `continuous_gaussian.gaussian(sigma_squared,
u)`. These samplers shrink an interval around the noisy value until the interval contains only one float. The samplers
draw from the operating system.

The package tmlt.core requires PySpark and old versions of NumPy and pandas, which its samplers do not use. No extra of
covassay installs the package, because it is installed without PySpark. The command `covassay adapters install tmlt`
installs the package without PySpark in an environment. The following command installs the package in the present
environment.

    pip install --no-deps tmlt.core==0.20.0 randomgen==2.3.0 && pip install typeguard python-flint pandas
"""

from collections.abc import Callable
from typing import Any

from covassay.verification.audit.adapters import declared_noise
from covassay.verification.audit.adapters.declared_noise import PRIMITIVES
from covassay.verification.audit.adapters.numbers import CONCENTRATED, LAPLACE, PURE, gaussian_deviation, number_target
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import Target

PACKAGE = Package(
    requirements=("typeguard==4.4.4", "python-flint==0.9.0", "pandas==2.2.3"),
    modules=("tmlt.core.random.laplace", "tmlt.core.random.continuous_gaussian"),
    without_dependencies=("tmlt.core==0.20.0", "randomgen==2.3.0"),
)


def _laplace(query: float, sensitivity: float, *, rng: Any, epsilon: float) -> float:
    from tmlt.core.random.laplace import laplace

    scale = sensitivity / epsilon
    return float(declared_noise.laplace_noise(lambda value: laplace(value, scale), query, scale))


def _gaussian(query: float, sensitivity: float, *, rng: Any, rho: float) -> float:
    from tmlt.core.random.continuous_gaussian import gaussian

    deviation = gaussian_deviation(sensitivity, rho)
    return float(declared_noise.normal_noise(lambda u: gaussian(sigma_squared=deviation**2, u=u), query, deviation))


def laplace() -> Target:
    """`tmlt.core.random.laplace.laplace`."""
    told = told_version(PACKAGE, "random.laplace")
    return number_target("tmlt:laplace", _laplace, told, PURE, LAPLACE, seeded=False, primitives=PRIMITIVES)


def gaussian() -> Target:
    """`tmlt.core.random.continuous_gaussian.gaussian`."""
    told = told_version(PACKAGE, "random.continuous_gaussian")
    return number_target("tmlt:gaussian", _gaussian, told, CONCENTRATED, seeded=False, primitives=PRIMITIVES)


TARGETS: dict[str, Callable[[], Target]] = {"laplace": laplace, "gaussian": gaussian}
