"""Make targets from tools of diffprivlib 0.6.6 and from its K-means; they belong to the adapter `diffprivlib`.

All targets take columns with public bounds. The package diffprivlib does not say which data sets are neighbours.

- The targets `mean`, `var`, `sum`, `std` and `nanmean` call `tools.mean(X, epsilon, bounds, axis=0)`, `tools.var` and
  so on.

- The target `count-nonzero` calls `tools.count_nonzero` to count the entries of the first column above the middle of
  its range.

- The target `histogram` calls `tools.histogram` on the first column. The bins divide the range of this column, and
  there are as many bins as columns in the data. The function uses the sensitivity 1 for all bins together. This
  sensitivity is right if a row is added or removed. The target therefore has add-remove adjacency.

- The target `quantile` calls `tools.quantile(x, 0.5, epsilon, bounds)` on the first column x.

- The target `k-means` returns `KMeans(epsilon, bounds, n_clusters=d).fit(X).cluster_centers_` for d columns. The
  number of iterations of K-means depends on n, so the adapter fixes n.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.adapters.diffprivlib_package import RANGE, Bounds, legacy, limits, pure_target, quiet
from covassay.verification.audit.targets.target import Target

OF_ONE_ROW = "it does not say which data sets are neighbours; its sensitivities are those of adding or removing a row"


def _columns(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds, tool: str) -> Vector:
    from diffprivlib import tools

    with quiet():
        return np.asarray(getattr(tools, tool)(x, epsilon, limits(bounds), axis=0, random_state=legacy(rng)))


def _count(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> float:
    from diffprivlib import tools

    return float(tools.count_nonzero(x[:, 0] > np.mean(bounds[0]), epsilon, random_state=legacy(rng)))


def _histogram(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> Vector:
    from diffprivlib import tools

    counts, _ = tools.histogram(x[:, 0], epsilon, bins=x.shape[1], range=bounds[0], random_state=legacy(rng))
    return np.asarray(counts, dtype=float)


def _quantile(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> float:
    from diffprivlib import tools

    return float(tools.quantile(x[:, 0], 0.5, epsilon, bounds[0], random_state=legacy(rng)))


def _k_means(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Bounds) -> Matrix:
    from diffprivlib.models import KMeans

    with quiet():
        model = KMeans(n_clusters=x.shape[1], epsilon=epsilon, bounds=limits(bounds), random_state=legacy(rng)).fit(x)
    centers: Matrix = model.cluster_centers_
    return centers


_boxed = partial(pure_target, bounds=RANGE)

TARGETS: dict[str, Callable[[], Target]] = {
    **{
        tool: partial(_boxed, tool, partial(_columns, tool=tool), f"tools.{tool}", "vector")
        for tool in ("mean", "var", "sum", "std", "nanmean")
    },
    "count-nonzero": partial(_boxed, "count-nonzero", _count, "tools.count_nonzero", "number"),
    "histogram": partial(
        _boxed, "histogram", _histogram, "tools.histogram", "vector", neighbours=OF_ONE_ROW, adjacency="add-remove"
    ),
    "quantile": partial(_boxed, "quantile", _quantile, "tools.quantile", "number"),
    "k-means": partial(_boxed, "k-means", _k_means, "models.KMeans", "matrix"),
}
