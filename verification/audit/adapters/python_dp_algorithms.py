"""Make targets from algorithms of python-dp 1.1.5 for a column of bounded numbers.

The targets call `pydp.algorithms.laplacian.NAME(epsilon, 0, lower, upper, dtype="float").quick_result(values)`, which
is ε-DP. The package python-dp wraps Google's library, which counts the rows privately. In this package neighbours
differ by adding or removing the row of one user. The C++ library draws the noise.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.audit.adapters.numbers import PURE, UNSEEDED
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import Target

PACKAGE = Package(requirements=("python-dp==1.1.5",), modules=("pydp",))
RANGE = ((-1.0, 3.0),)
CLASSES = {
    "bounded-sum": "BoundedSum",
    "bounded-mean": "BoundedMean",
    "bounded-variance": "BoundedVariance",
    "bounded-standard-deviation": "BoundedStandardDeviation",
    "maximum": "Max",
    "median": "Median",
}
NEIGHBOURS = "neighbours differ by one row that is added or removed, as in the library that it wraps"


def _result(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any, name: str) -> float:
    from pydp.algorithms import laplacian

    algorithm = getattr(laplacian, name)(epsilon, 0, *map(float, bounds[0]), dtype="float")
    return float(algorithm.quick_result(x[:, 0].tolist()))


def _count(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any) -> float:
    from pydp.algorithms.laplacian import Count

    return float(Count(epsilon, dtype="float").quick_result(x[:, 0].tolist()))


def _target(name: str, draw: Callable[..., Any], part: str) -> Target:
    return Target(
        f"python-dp:{name}", draw, version=told_version(PACKAGE, part), released="number", claim=PURE, bounds=RANGE,
        adjacency="add-remove", seeded=False, notes=(NEIGHBOURS, UNSEEDED),
    )  # fmt: skip


TARGETS: dict[str, Callable[[], Target]] = {
    **{name: partial(_target, name, partial(_result, name=part), part) for name, part in CLASSES.items()},
    "count": partial(_target, "count", _count, "Count"),
}
