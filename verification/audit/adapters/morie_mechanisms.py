"""Targets from morie (audited at 1.5.1): `fn.dp_covariance(X, C=1, epsilon, delta, seed)`, documented as (ε, δ)-DP.

The module of the function says that neighbouring data sets differ in one replaced record, with the number of rows
fixed. `covariance`: the noisy second moment without its projection (`project_psd=False`), with a seed from the audit's
generator. `covariance-without-seed`: the noisy second moment with the default `seed=None`, of which the documentation
says "leave None for a real release". The function clips the rows itself. Other targets are in `morie_statistics`.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.privacy import ApproximateDP
from covassay.verification.audit.adapters import morie_statistics
from covassay.verification.audit.adapters.morie_statistics import PACKAGE, PRIMITIVES
from covassay.verification.audit.targets.package import told_version
from covassay.verification.audit.targets.target import Target

NAME = "gauss-cov-approximate"  # the documentation describes this mechanism of the reference, with the classical σ
OPTIONS = (("calibration", "paper"), ("ensemble", "wigner"))


def _covariance(x: Matrix, *, epsilon: float, delta: float, rng: np.random.Generator, seeded: bool) -> Matrix:
    from morie.fn import dp_covariance

    seed = int(rng.integers(2**32)) if seeded else None
    return np.array(dp_covariance(x, 1.0, epsilon, delta, seed, project_psd=False)["release"].tolist())


def _target(name: str, seeded: bool) -> Target:
    return Target(
        f"morie:{name}",
        partial(_covariance, seeded=seeded),
        mechanism=NAME,
        options=OPTIONS,
        seeded=seeded,
        version=told_version(PACKAGE, "fn.dp_covariance"),
        claim=ApproximateDP(1.0, 1e-5),
        primitives=PRIMITIVES,
    )


TARGETS: dict[str, Callable[[], Target]] = {
    "covariance": partial(_target, "covariance", True),
    "covariance-without-seed": partial(_target, "covariance-without-seed", False),
    **morie_statistics.TARGETS,
}
