"""Make targets from the code of "Private Covariance Estimation", in a copy of
google-research/private_covariance_estimation.

The environment variable COVASSAY_GOOGLE_RESEARCH names the directory that has the folder
`private_covariance_estimation`, which was audited in 2026. The functions take XᵀX of rows with norm at most 1, and the
adapter clips the rows. The functions do not say which data sets are neighbours. The code takes 1 as the sensitivity of
XᵀX and of its eigenvalues, as if one row were added or removed. The targets therefore have add-remove adjacency,
although two of the functions take n as an argument.

The target `gaussian` calls `gaussian_mechanism(cov, epsilon, delta)`, and `laplace` calls `laplace_mechanism(cov,
epsilon)`. The target `iterative` calls `iterative_mechanism(cov, n, epsilon)`, and `talwar` calls
`iterative_mechanism_talwar(cov, n, epsilon)`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, unit_rows
from covassay.reference.privacy import ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.adapters.seeding import numpy_seeded
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import Target

PACKAGE = Package(
    requirements=(),
    modules=("private_covariance_estimation.mechanisms",),
    source="COVASSAY_GOOGLE_RESEARCH",
    files=("private_covariance_estimation/mechanisms.py", "private_covariance_estimation/sampling_utils.py"),
    project="google-research/google-research",
)


def _draw(
    x: Matrix, *, rng: np.random.Generator, function: str, takes_rows: bool, epsilon: float, delta: float | None = None
) -> Any:
    from private_covariance_estimation import mechanisms

    rows = unit_rows(x)
    scatter = np.asmatrix(rows.T @ rows)
    arguments = [len(x)] if takes_rows else []
    with numpy_seeded(rng):
        budget = [epsilon] if delta is None else [epsilon, delta]
        released = getattr(mechanisms, function)(scatter, *arguments, *budget)
    return np.real(np.asarray(released))


def _target(name: str, function: str, claim: Guarantee, takes_rows: bool) -> Target:
    return Target(
        f"google-research:{name}",
        partial(_draw, function=function, takes_rows=takes_rows),
        claim=claim,
        adjacency="add-remove",
        version=told_version(PACKAGE, function),
        notes=(
            "it takes XᵀX of rows of norm at most 1: the adapter clips them",
            "it does not say which data sets are neighbours",
        ),
    )


_PURE = PureDP(1.0)
TARGETS: dict[str, Callable[[], Target]] = {
    "gaussian": partial(_target, "gaussian", "gaussian_mechanism", ApproximateDP(1.0, 1e-5), False),
    "laplace": partial(_target, "laplace", "laplace_mechanism", _PURE, False),
    "iterative": partial(_target, "iterative", "iterative_mechanism", _PURE, True),
    "talwar": partial(_target, "talwar", "iterative_mechanism_talwar", _PURE, True),
}
