"""Make a target from the boosted AdaSSP regression of google-research, in a copy of its folder `private_kendall`.

The environment variable COVASSAY_PRIVATE_KENDALL names the directory that has the folder `private_kendall`, which was
audited in 2026. The target `boosted-adassp` calls `boosted_adassp(features, labels, num_rounds=2, feature_clip_norm=1,
gradient_clip_norm=1, epsilon, delta)`, whose output "will satisfy (epsilon, delta)-DP". The last column has the labels,
and the other columns are the features. The code of `private_kendall` does not say which data sets are neighbours. The
sensitivities in the package are those of adding or removing a row, as in the paper that it implements, so the target
has add-remove adjacency. The code of `private_kendall` draws from NumPy's global generator, which the adapter seeds.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.adapters.numbers import APPROXIMATE
from covassay.verification.audit.adapters.seeding import numpy_seeded
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import Target

PACKAGE = Package(
    requirements=(),
    modules=("private_kendall.boosted_adassp",),
    source="COVASSAY_PRIVATE_KENDALL",
    files=("private_kendall/boosted_adassp.py",),
    project="google-research/google-research",
)
ROUNDS = 2


@cache
def _module() -> Any:
    """Return the module of the package. Its function `dp_to_gdp` searches for μ, given ε and δ. The results of this
    function are cached, so that one search is enough for all draws.
    """
    from private_kendall import boosted_adassp

    vars(boosted_adassp)["dp_to_gdp"] = cache(boosted_adassp.dp_to_gdp)
    return boosted_adassp


def _coefficients(x: Matrix, *, epsilon: float, delta: float, rng: np.random.Generator) -> Vector:
    module = _module()
    with numpy_seeded(rng), np.errstate(divide="ignore"):
        return np.ravel(module.boosted_adassp(x[:, :-1], x[:, -1], ROUNDS, 1.0, 1.0, epsilon, delta))


def _target() -> Target:
    return Target(
        "private-kendall:boosted-adassp", _coefficients, version=told_version(PACKAGE, "boosted_adassp"),
        released="coefficients", claim=APPROXIMATE, adjacency="add-remove",
        notes=("it does not say which data sets are neighbours",),
    )  # fmt: skip


TARGETS: dict[str, Callable[[], Target]] = {"boosted-adassp": partial(_target)}
