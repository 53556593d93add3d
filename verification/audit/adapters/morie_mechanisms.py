"""Make targets from the function `fn.dp_covariance(X, C=1, epsilon, delta, seed)` of morie 1.5.1, documented as (ε,
δ)-DP.

The module of the function says that neighbouring data sets differ in one replaced record, with the number of rows
fixed. The target `covariance` returns the noisy second moment without its projection (`project_psd=False`), with a seed
from the generator of the audit. The target `covariance-without-seed` returns the noisy second moment with the default
`seed=None`, of which the documentation says "leave None for a real release". The function clips the rows itself. The
module `morie_statistics` makes other targets from morie.
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

NAME = "gauss-cov-approximate"  # the documentation describes this mechanism, with the classical scale σ
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
