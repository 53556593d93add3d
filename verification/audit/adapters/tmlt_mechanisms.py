"""tmlt.core as targets (Tumult Labs; audited at 0.20.0): `laplace`, ε-DP, and `gaussian`, ρ-zCDP.

They are the samplers `tmlt.core.random.laplace.laplace(u, b)` and `continuous_gaussian.gaussian(sigma_squared, u)`,
which refine an interval until it holds one float. Both draw from the operating system.

The package requires PySpark and old versions of NumPy and pandas, which these samplers do not use. It is therefore in
no extra of covassay, and is installed without them:

    pip install --no-deps tmlt.core==0.20.0 randomgen==2.3.0 && pip install typeguard python-flint
"""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from covassay.verification.audit.adapters.numbers import CONCENTRATED, LAPLACE, PURE, gaussian_deviation, number_target
from covassay.verification.audit.targets.target import CannotRun, Target

INSTALL = "pip install --no-deps tmlt.core==0.20.0 randomgen==2.3.0 && pip install typeguard python-flint"


def _laplace(query: float, sensitivity: float, *, rng: Any, epsilon: float) -> float:
    from tmlt.core.random.laplace import laplace

    return float(laplace(query, sensitivity / epsilon))


def _gaussian(query: float, sensitivity: float, *, rng: Any, rho: float) -> float:
    from tmlt.core.random.continuous_gaussian import gaussian

    return float(gaussian(sigma_squared=gaussian_deviation(sensitivity, rho) ** 2, u=query))


def _version(name: str) -> str:
    try:
        import tmlt.core.random.continuous_gaussian
        import tmlt.core.random.laplace  # noqa: F401
    except ImportError as error:
        raise CannotRun(f"tmlt: {error}; tmlt.core must be installed: {INSTALL}") from error
    return f"tmlt.core {version('tmlt.core')}, {name}"


def laplace() -> Target:
    """`tmlt.core.random.laplace.laplace`."""
    return number_target("tmlt:laplace", _laplace, _version("random.laplace"), PURE, LAPLACE, seeded=False)


def gaussian() -> Target:
    """`tmlt.core.random.continuous_gaussian.gaussian`."""
    told = _version("random.continuous_gaussian")
    return number_target("tmlt:gaussian", _gaussian, told, CONCENTRATED, seeded=False)


TARGETS: dict[str, Callable[[], Target]] = {"laplace": laplace, "gaussian": gaussian}
