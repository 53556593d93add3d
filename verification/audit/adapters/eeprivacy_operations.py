"""Make targets from `eeprivacy.operations` of eeprivacy 0.0.5, for columns with public bounds.

- The target `sum` calls `PrivateClampedSum(lower_bound, upper_bound).execute(values, epsilon)` on the first column,
  and `mean` calls `PrivateClampedMean`. Both operations are documented as "bounding sensitivity with clamping", so the
  adapter does not clip. The target `mean-of-clipped` returns the result of `PrivateClampedMean` for values that the
  adapter clips.

- The targets `vector-mean-laplace` and `vector-mean-gaussian` call `PrivateVectorClampedMeanLaplace(lower_bound,
  upper_bound, k, N)` and `…Gaussian` for k columns and N rows, with the same bounds for all columns.

- The target `histogram` calls `PrivateHistogram(bins)` on the first column. The bins divide the range of this column,
  and there are as many bins as columns in the data. An individual contributes one count to the histogram, so neighbours
  differ by adding or removing a row.

- The target `quantile` calls `PrivateQuantile(options).execute(values, epsilon, quantile=0.9)` with 11 options in the
  range. The operation for the quantile rests on Claim 3.9 of Dwork and Roth (2014), where a row is added or removed.

Except for the histogram and the quantile, the package does not say which data sets are neighbours. All operations draw
from NumPy's global generator, which the adapter seeds.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.adapters.numbers import APPROXIMATE, PURE
from covassay.verification.audit.adapters.seeding import numpy_seeded
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import Target

PACKAGE = Package(requirements=("eeprivacy==0.0.5",), modules=("eeprivacy.operations",))
RANGE = ((0.0, 10.0),)
OPTIONS, SHARE = 11, 0.9
SILENT = "it does not say which data sets are neighbours; n is taken from the data"
ADDED = "add-remove"


def _clamped(
    x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any, name: str, clip: bool = False
) -> float:
    from eeprivacy import operations

    low, high = bounds[0]
    values = np.clip(x[:, 0], low, high) if clip else x[:, 0]
    with numpy_seeded(rng):
        return float(
            getattr(operations, name)(lower_bound=low, upper_bound=high).execute(values=values, epsilon=epsilon)
        )


def _vector(
    x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any, name: str, delta: float = 0.0
) -> Vector:
    from eeprivacy import operations

    low, high = np.min(bounds), np.max(bounds)
    made = getattr(operations, name)(lower_bound=low, upper_bound=high, k=x.shape[1], N=len(x))
    with numpy_seeded(rng):
        return np.asarray(made.execute(vectors=x, epsilon=epsilon, delta=delta))


def _histogram(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any) -> Vector:
    from eeprivacy.operations import PrivateHistogram

    low, high = bounds[0]
    with numpy_seeded(rng):
        made = PrivateHistogram(bins=list(np.linspace(low, high, x.shape[1] + 1)))
        return np.asarray(made.execute(values=x[:, 0], epsilon=epsilon))


def _quantile(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any) -> float:
    from eeprivacy.operations import PrivateQuantile

    low, high = bounds[0]
    with numpy_seeded(rng):
        made = PrivateQuantile(options=list(np.linspace(low, high, OPTIONS)))
        return float(made.execute(values=x[:, 0], epsilon=epsilon, quantile=SHARE))


def _target(
    name: str, draw: Callable[..., Any], part: str, released: str = "number", claim: Any = PURE, columns: int = 1,
    adjacency: str | None = None,
) -> Target:  # fmt: skip
    return Target(
        f"eeprivacy:{name}", draw, version=told_version(PACKAGE, f"operations.{part}"), released=released, claim=claim,
        bounds=columns * RANGE, adjacency=adjacency, notes=() if adjacency else (SILENT,),
    )  # fmt: skip


def _of_vectors(name: str, part: str, claim: Any) -> Callable[[], Target]:
    return partial(_target, name, partial(_vector, name=part), part, "vector", claim, 3)


def _of_values(name: str, part: str, clip: bool = False) -> Callable[[], Target]:
    return partial(_target, name, partial(_clamped, name=part, clip=clip), part)


TARGETS: dict[str, Callable[[], Target]] = {
    "sum": _of_values("sum", "PrivateClampedSum"),
    "mean": _of_values("mean", "PrivateClampedMean"),
    "mean-of-clipped": _of_values("mean-of-clipped", "PrivateClampedMean", clip=True),
    "vector-mean-laplace": _of_vectors("vector-mean-laplace", "PrivateVectorClampedMeanLaplace", PURE),
    "vector-mean-gaussian": _of_vectors("vector-mean-gaussian", "PrivateVectorClampedMeanGaussian", APPROXIMATE),
    "histogram": partial(_target, "histogram", _histogram, "PrivateHistogram", "vector", columns=3, adjacency=ADDED),
    "quantile": partial(_target, "quantile", _quantile, "PrivateQuantile", adjacency=ADDED),
}
