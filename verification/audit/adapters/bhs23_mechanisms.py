"""Make targets from the code of Brown, Hopkins and Smith (2023), in a copy of gavinrbrown1/private-estimation-BHS23.

The environment variable COVASSAY_BHS23 names the directory of the copy, which was audited at commit dd1d1db. The target
`mean` calls `private_mean_estimation`, and `covariance` calls `private_covariance_estimation(X, eps, delta, lambda_0)`.
Both functions of the project are documented as (ε, δ)-DP for any `lambda_0`. The functions refuse a data set that is
too small for `lambda_0`, by a rule that uses only public numbers. For ε = 1 and δ = 1e-6, the number of rows must be at
least several hundred times `lambda_0`. The adapter turns a refusal into an exception. The data sets of an audit have
few rows, so an audit cannot test the two functions.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.privacy import ApproximateDP
from covassay.verification.audit.adapters.seeding import numpy_seeded
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import Target

PACKAGE = Package(
    requirements=(),
    modules=("algorithms",),
    source="COVASSAY_BHS23",
    files=("algorithms.py", "utils.py"),
    project="gavinrbrown1/private-estimation-BHS23",
)
OUTLIERS = 4.0  # the parameter lambda_0; both functions claim (ε, δ)-DP for every value


def _draw(x: Matrix, *, rng: np.random.Generator, function: str, epsilon: float, delta: float) -> Any:
    import algorithms

    with numpy_seeded(rng):
        released = getattr(algorithms, function)(x, epsilon, delta, OUTLIERS)
    if released is None:
        raise ValueError("FAIL: it released nothing; a data set may have too few rows for lambda_0, or outliers")
    return released


def _target(name: str, function: str, released: str) -> Target:
    told = told_version(PACKAGE, function)
    claim = ApproximateDP(1.0, 1e-6)
    return Target(f"bhs23:{name}", partial(_draw, function=function), released=released, claim=claim, version=told)


TARGETS: dict[str, Callable[[], Target]] = {
    "mean": partial(_target, "mean", "private_mean_estimation", "vector"),
    "covariance": partial(_target, "covariance", "private_covariance_estimation", "matrix"),
}
