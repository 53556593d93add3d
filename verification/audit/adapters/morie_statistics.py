"""Make targets from statistics of morie 1.5.1; they belong to the adapter `morie`.

The package morie states bounded DP, in which one record is replaced and the number of rows is fixed. Each function gets
a seed from the generator of the audit, and the target returns its `release`. Every target that needs bounds takes the
bounds of the first column.

- The targets `sum` and `mean` call `fn.dp_sum(x, a, b, epsilon, seed)` and `fn.dp_mean`. The target `mean-private-n`
  calls `dp_mean(…, known_n=False)`, which also adds noise to the number of rows.

- The target `count` calls `fn.dp_count` with `nonneg=False` to count the entries above the middle of the range.

- The target `histogram` calls `fn.dp_histogram` with `nonneg=False` on the first column. The bins divide the range of
  this column, and there are as many bins as columns in the data.

- The target `quantile` calls `fn.dp_quantile(x, 0.5, epsilon, a, b, seed)`.

- The targets `laplace` and `gaussian` call `fn.dp_laplace_mechanism(y, sensitivity, epsilon, seed)` and
  `fn.dp_gaussian_mechanism`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.adapters.numbers import APPROXIMATE, LAPLACE, PURE, number_target
from covassay.verification.audit.recorded.primitives import Family, Primitive
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import Target

PACKAGE = Package(requirements=("morie==1.5.1",), modules=("morie.fn",))
RANGE = (0.0, 10.0), (-1.0, 1.0)


def _location(generator: Any, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:
    return np.full(() if size is None else size, loc, dtype=float)


def _scale(generator: Any, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> float:
    return float(scale)


def _seed_of(generator: Any, *arguments: Any, **named: Any) -> Any:
    return generator.state


def _as_theirs(output: Any, *arguments: Any, **named: Any) -> Any:
    """Convert the output to the array type of the package."""
    from morie.fn import _array_core

    return _array_core.array(output.tolist()) if output.ndim else float(output)


def _law(name: Family) -> Primitive:
    return Primitive(
        "morie.fn._array_core", f"_SplitMix64.{name}", name, _location, _scale, after=_as_theirs, seed=_seed_of
    )


PRIMITIVES = (_law("laplace"), _law("normal"))


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**32))


def _bounded(
    x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any, name: str, more: dict[str, Any]
) -> float:
    from morie import fn

    return float(getattr(fn, name)(x[:, 0], *bounds[0], epsilon=epsilon, seed=_seed(rng), **more)["release"])


def _count(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any) -> float:
    from morie.fn import dp_count

    above = (x[:, 0] > np.mean(bounds[0])).astype(float)
    return float(dp_count(above, epsilon=epsilon, seed=_seed(rng), nonneg=False)["release"])


def _histogram(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any) -> Vector:
    from morie.fn import dp_histogram

    found = dp_histogram(x[:, 0], x.shape[1], epsilon, range_=bounds[0], seed=_seed(rng), nonneg=False)
    return np.array(found["release"].tolist())


def _quantile(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any) -> float:
    from morie.fn import dp_quantile

    return float(dp_quantile(x[:, 0], 0.5, epsilon, *bounds[0], seed=_seed(rng))["release"])


def _number(query: float, sensitivity: float, *, rng: np.random.Generator, name: str, **budget: float) -> float:
    from morie import fn

    return float(getattr(fn, name)(query, sensitivity, **budget, seed=_seed(rng))["release"])


def _target(name: str, draw: Callable[..., Any], part: str, released: str = "number") -> Target:
    return Target(
        f"morie:{name}", draw, version=told_version(PACKAGE, f"fn.{part}"), released=released, claim=PURE,
        adjacency="replace-one", bounds=RANGE, primitives=PRIMITIVES,
    )  # fmt: skip


def _mechanism(name: str, part: str, claim: Any, known: str | None = None) -> Target:
    told = told_version(PACKAGE, f"fn.{part}")
    return number_target(f"morie:{name}", partial(_number, name=part), told, claim, known, primitives=PRIMITIVES)


def _of_bounds(name: str, part: str, **more: Any) -> Callable[[], Target]:
    return partial(_target, name, partial(_bounded, name=part, more=more), part)


TARGETS: dict[str, Callable[[], Target]] = {
    "sum": _of_bounds("sum", "dp_sum"),
    "mean": _of_bounds("mean", "dp_mean"),
    "mean-private-n": _of_bounds("mean-private-n", "dp_mean", known_n=False),
    "count": partial(_target, "count", _count, "dp_count"),
    "histogram": partial(_target, "histogram", _histogram, "dp_histogram", "vector"),
    "quantile": partial(_target, "quantile", _quantile, "dp_quantile"),
    "laplace": partial(_mechanism, "laplace", "dp_laplace_mechanism", PURE, LAPLACE),
    "gaussian": partial(_mechanism, "gaussian", "dp_gaussian_mechanism", APPROXIMATE),
}
