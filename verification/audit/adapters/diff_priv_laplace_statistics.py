"""Make targets from diff-priv-laplace-python 1.0.5, which computes statistics of one column with values in [0, 10].

- The targets `sum`, `mean` and `variance` call the methods `sum(data, epsilon)`, `mean` and `variance` of
  `DiffPrivStatistics`. These methods have no parameter for bounds.

- The target `count` calls `DiffPrivStatistics.count` to count the entries above the middle of the range, without
  post-processing.

- The target `sum-of-bounds` calls `DiffPrivLaplaceMechanism.anonymize_sum_with_budget(value, lower, upper, epsilon)`
  with the sum of values that the adapter clips to the public bounds.

The package diff-priv-laplace-python does not say which data sets are neighbours. The package diff-priv-laplace-python
draws from NumPy's global generator, which the adapter seeds.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.audit.adapters.numbers import PURE
from covassay.verification.audit.adapters.seeding import numpy_seeded
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import Target

PACKAGE = Package(requirements=("diff-priv-laplace-python==1.0.5",), modules=("diffpriv_laplace",))
RANGE = ((0.0, 10.0),)
NEIGHBOURS = "it does not say which data sets are neighbours; n is taken from the data"


def _statistic(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any, name: str) -> float:
    from diffpriv_laplace import DiffPrivStatistics

    with numpy_seeded(rng):
        return float(getattr(DiffPrivStatistics, name)(np.clip(x[:, 0], *bounds[0]), epsilon))


def _count(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any) -> float:
    from diffpriv_laplace import DiffPrivStatistics

    with numpy_seeded(rng):
        return float(DiffPrivStatistics.count(x[:, 0] > np.mean(bounds[0]), epsilon, postprocess=False))


def _sum_of_bounds(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any) -> float:
    from diffpriv_laplace import DiffPrivLaplaceMechanism

    value = float(np.clip(x[:, 0], *bounds[0]).sum())
    with numpy_seeded(rng):
        return float(DiffPrivLaplaceMechanism.anonymize_sum_with_budget(value, *bounds[0], epsilon))


def _target(name: str, draw: Callable[..., Any], part: str) -> Target:
    return Target(
        f"diff-priv-laplace:{name}", draw, version=told_version(PACKAGE, part), released="number", claim=PURE,
        bounds=RANGE, notes=(NEIGHBOURS,),
    )  # fmt: skip


def _of_data(name: str) -> Callable[[], Target]:
    return partial(_target, name, partial(_statistic, name=name), f"DiffPrivStatistics.{name}")


TARGETS: dict[str, Callable[[], Target]] = {
    "sum": _of_data("sum"),
    "mean": _of_data("mean"),
    "variance": _of_data("variance"),
    "count": partial(_target, "count", _count, "DiffPrivStatistics.count"),
    "sum-of-bounds": partial(
        _target, "sum-of-bounds", _sum_of_bounds, "DiffPrivLaplaceMechanism.anonymize_sum_with_budget"
    ),
}
