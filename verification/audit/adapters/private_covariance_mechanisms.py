"""Make targets from the code of "Differentially Private Covariance Revisited", in a copy of hkustDB/PrivateCovariance.

The environment variable COVASSAY_PRIVATE_COVARIANCE names the directory of the copy, which was audited at commit
dafcdfe. The functions take rows of norm at most 1. The experiments in that repository ensure that norms are at most 1,
and so does the adapter, which clips the rows. Data and noise are in single precision, as in the experiments. The
functions of `adaptive` take ρ, and `LapCov`, `SeparateLapCov` and `ClippedLapCov` take ε. The pure variant of
`AdaptiveCov` takes ρ and spends ε = √(2ρ).
"""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, unit_rows
from covassay.reference.privacy import ZCDP, Guarantee, PureDP
from covassay.verification.audit.adapters.seeding import torch_seeded
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import Target

PACKAGE = Package(
    requirements=("torch==2.13.0",),
    modules=("adaptive.algos", "exponential.algos"),
    source="COVASSAY_PRIVATE_COVARIANCE",
    files=("adaptive/algos.py", "exponential/algos.py"),
    project="hkustDB/PrivateCovariance",
)
BETA = 0.1  # the failure probability for the choice of thresholds in the project's experiments
TRACE = 1.0  # the functions that clip get this public bound on the trace
CLIPS = "its callers make sure that rows have norm at most 1, which the adapter does"


def _call(function: str, x: Matrix, budget: float, *more: Any, settings: bool) -> Any:
    import torch
    from adaptive import algos
    from exponential.algos import EMCov

    rows, (n, d) = torch.tensor(unit_rows(x), dtype=torch.float32), x.shape
    called = EMCov if function == "EMCov" else getattr(algos, function)
    if settings:
        return called(rows, SimpleNamespace(total_budget=budget, n=n, d=d, beta=BETA, delta=0.0))
    return called(rows, n, d, budget, *more)


def _draw(
    x: Matrix, *, rng: np.random.Generator, function: str, more: tuple[Any, ...], settings: bool, **budget: float
) -> Any:
    import torch

    spent = budget["rho"] if "rho" in budget else budget["epsilon"]
    if settings and "epsilon" in budget:
        spent = spent**2 / 2  # the function takes ρ and spends ε = √(2ρ)
    with torch_seeded(torch, rng):
        return np.asarray(_call(function, x, spent, *more, settings=settings))


def _target(
    name: str, function: str, claim: Guarantee, *more: Any, mechanism: str | None = None,
    options: tuple[tuple[str, str], ...] = (), settings: bool = False,
) -> Target:  # fmt: skip
    draw = partial(_draw, function=function, more=more, settings=settings)
    told = told_version(PACKAGE, function)
    return Target(
        f"private-covariance:{name}", draw, mechanism=mechanism, options=options, claim=claim, version=told,
        notes=(CLIPS, "computed in single precision"),
    )  # fmt: skip


_RHO, _EPSILON = ZCDP(0.5), PureDP(1.0)
_WIGNER = (("ensemble", "wigner"),)
TARGETS: dict[str, Callable[[], Target]] = {
    "gauss": partial(_target, "gauss", "GaussCov", _RHO, mechanism="gauss-cov", options=_WIGNER),
    "laplace": partial(_target, "laplace", "LapCov", _EPSILON),
    "separate": partial(_target, "separate", "SeparateCov", _RHO),
    "separate-laplace": partial(_target, "separate-laplace", "SeparateLapCov", _EPSILON),
    "clipped": partial(_target, "clipped", "ClippedCov", _RHO, BETA, TRACE),
    "clipped-laplace": partial(_target, "clipped-laplace", "ClippedLapCov", _EPSILON, BETA, TRACE),
    "adaptive": partial(_target, "adaptive", "AdaptiveCov", _RHO, settings=True),
    "adaptive-laplace": partial(_target, "adaptive-laplace", "AdaptiveLapCov", _EPSILON, settings=True),
    "exponential": partial(_target, "exponential", "EMCov", _EPSILON, settings=True),
}
