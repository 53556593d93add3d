"""Make targets from the mean and covariance functions of coin-press, in a copy of the project.

The environment variable COVASSAY_COIN_PRESS names the directory of a copy of github.com/twistedcubic/coin-press,
which was audited at commit 9c74725. The README of coin-press claims zCDP, and the functions take n as an argument.
The module `coinpress_calls` calls the functions for the targets `mean`, `covariance` and `covariance-three-steps`.
Rows may lie anywhere, because the functions clip them. The function `cov_est` documents an estimate of a covariance,
so its output must be symmetric.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.privacy import ZCDP
from covassay.verification.audit.adapters import coinpress_calls
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import Target

PACKAGE = Package(
    requirements=("torch==2.13.0",),
    modules=("algos",),
    source="COVASSAY_COIN_PRESS",
    files=("algos.py", "utils.py"),
    project="twistedcubic/coin-press",
)


def _mean(x: Matrix, *, rho: float, rng: np.random.Generator) -> Any:
    import algos

    return coinpress_calls.mean(algos, x, rng, rho)


def _covariance(x: Matrix, *, rho: float, rng: np.random.Generator, split: tuple[float, ...]) -> Any:
    import algos

    return coinpress_calls.covariance(algos, x, rng, rho, split)


def _target(name: str, draw: Callable[..., Any], part: str, released: str) -> Target:
    told, matrix = told_version(PACKAGE, f"algos.{part}"), released == "matrix"
    return Target(f"coin-press:{name}", draw, released=released, claim=ZCDP(0.5), version=told, symmetric=matrix)


_TWO = partial(_covariance, split=coinpress_calls.SPLIT)
_THREE = partial(_covariance, split=coinpress_calls.THREE)
TARGETS: dict[str, Callable[[], Target]] = {
    "mean": partial(_target, "mean", _mean, "multivariate_mean_iterative", "vector"),
    "covariance": partial(_target, "covariance", _TWO, "cov_est, t = 2", "matrix"),
    "covariance-three-steps": partial(_target, "covariance-three-steps", _THREE, "cov_est, t = 3", "matrix"),
}
