"""Targets from the code of "Private Covariance Estimation", a copy of google-research/private_covariance_estimation.

The environment variable COVASSAY_GOOGLE_RESEARCH names the directory that has the folder
`private_covariance_estimation` (audited as of 2026). The functions take XᵀX of rows of norm at most 1, which the
adapter clips. The functions do not say which data sets are neighbours; their sensitivities, 1 for XᵀX and for its
eigenvalues, are those of adding or removing a row with the number of rows kept as an argument, so this is the adjacency
here.

`gaussian`: `gaussian_mechanism(cov, epsilon, delta)`; `laplace`: `laplace_mechanism(cov, epsilon)`; `iterative`:
`iterative_mechanism(cov, n, epsilon)`; `talwar`: `iterative_mechanism_talwar(cov, n, epsilon)`.
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
            "it does not say which are neighbours",
        ),
    )


_PURE = PureDP(1.0)
TARGETS: dict[str, Callable[[], Target]] = {
    "gaussian": partial(_target, "gaussian", "gaussian_mechanism", ApproximateDP(1.0, 1e-5), False),
    "laplace": partial(_target, "laplace", "laplace_mechanism", _PURE, False),
    "iterative": partial(_target, "iterative", "iterative_mechanism", _PURE, True),
    "talwar": partial(_target, "talwar", "iterative_mechanism_talwar", _PURE, True),
}
