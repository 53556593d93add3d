"""Make targets from `private_sum`, `private_mean` and `private_count` of diffpriv-pure 0.1.0.

The functions for `sum` and `mean` clip a column to its bounds. The targets `sum` and `mean` pass δ = 0, for which the
functions add Laplace noise and claim ε-DP. The target `mean-gaussian` passes δ > 0. The target `count` calls
`private_count(k, epsilon)` with the number k of entries above the middle of the range. The function `private_count` is
documented as "shifted geometric for pure ε-DP integer counts". The package diffpriv-pure does not say which data sets
are neighbours, and takes the number of rows from the data. The package diffpriv-pure draws from Python's global
generator, which the adapter seeds for each draw.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.audit.adapters.numbers import APPROXIMATE, PURE
from covassay.verification.audit.adapters.seeding import python_seeded
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import Target

PACKAGE = Package(requirements=("diffpriv-pure==0.1.0",), modules=("diffpriv_pure",))
RANGE = ((0.0, 10.0),)
NEIGHBOURS = "it does not say which data sets are neighbours; n is taken from the data"


def _query(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any, name: str, delta: float = 0.0) -> float:
    import diffpriv_pure

    with python_seeded(rng):
        return float(getattr(diffpriv_pure, name)(x[:, 0].tolist(), tuple(bounds[0]), epsilon, delta))


def _count(x: Matrix, *, epsilon: float, rng: np.random.Generator, bounds: Any) -> float:
    from diffpriv_pure import private_count

    with python_seeded(rng):
        return float(private_count(int((x[:, 0] > np.mean(bounds[0])).sum()), epsilon))


def _target(name: str, draw: Callable[..., Any], part: str, claim: Any = PURE) -> Target:
    return Target(
        f"diffpriv-pure:{name}", draw, version=told_version(PACKAGE, part), released="number", claim=claim,
        bounds=RANGE, notes=(NEIGHBOURS,),
    )  # fmt: skip


_MEAN = partial(_query, name="private_mean")
TARGETS: dict[str, Callable[[], Target]] = {
    "sum": partial(_target, "sum", partial(_query, name="private_sum"), "private_sum"),
    "mean": partial(_target, "mean", _MEAN, "private_mean"),
    "mean-gaussian": partial(_target, "mean-gaussian", _MEAN, "private_mean", APPROXIMATE),
    "count": partial(_target, "count", _count, "private_count"),
}
