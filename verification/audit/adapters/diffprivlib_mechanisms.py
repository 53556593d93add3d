"""Make targets from two functions of diffprivlib 0.6.6 (IBM) for a covariance and its leading eigenvector.

The target `bingham` calls `mechanisms.Bingham(epsilon, sensitivity=1).randomise(XᵀX)`. According to its documentation,
the mechanism `Bingham` releases the leading eigenvector with ε-DP. The mechanism uses the exponent ε/4 of ADK19, as
covassay's mechanism `bingham` does with the calibration "paper". The mechanism takes XᵀX, so its caller must clip the
rows, and the adapter does that. The mechanism uses a rejection sampler, and numpy decomposes the same covariance matrix
again for every proposal. The adapter gives the sampler a generator that stores the decomposition; the sampler itself is
diffprivlib's own code.

The target `covariance-eig` calls `models.utils.covariance_eig(X, epsilon, norm=1)`. The adapter puts the eigenvalues w
and eigenvectors V of the output together as V diag(w) Vᵀ/n. No mechanism of covassay splits the budget as this function
does, so the outputs are not compared with a known law.

The modules `diffprivlib_models`, `diffprivlib_numbers` and `diffprivlib_tools` make further targets from diffprivlib.
"""

from collections.abc import Callable

import numpy as np

from covassay.reference.domain import Matrix, unit_rows
from covassay.verification.audit.adapters import (
    diffprivlib_models,
    diffprivlib_numbers,
    diffprivlib_package,
    diffprivlib_tools,
)
from covassay.verification.audit.adapters.diffprivlib_package import keeps_factor, legacy, quiet, target
from covassay.verification.audit.targets.target import Target

PACKAGE = diffprivlib_package.PACKAGE  # this package must be importable before a target is made
CALLER = "it takes XᵀX: its caller must validate and clip the rows, which the adapter does here"


def _bingham(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    from diffprivlib.mechanisms import Bingham

    rows = unit_rows(x)
    u: Matrix = Bingham(epsilon=epsilon, random_state=keeps_factor(rng)).randomise(rows.T @ rows)
    return np.ravel(u)


def _covariance_eig(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    from diffprivlib.models.utils import covariance_eig

    with quiet():
        w, v = covariance_eig(x, epsilon=epsilon, norm=1.0, random_state=legacy(rng))
    matrix: Matrix = (v * w) @ v.T / len(x)
    return matrix


def bingham() -> Target:
    """Return a private leading eigenvector by the exponential mechanism."""
    paper = (("calibration", "paper"),)
    return target("bingham", _bingham, "mechanisms.Bingham", mechanism="bingham", options=paper, notes=(CALLER,))


def covariance_eig() -> Target:
    """Return eigenvalues and eigenvectors of the second moment."""
    return target("covariance-eig", _covariance_eig, "models.utils.covariance_eig")


TARGETS: dict[str, Callable[[], Target]] = {
    "bingham": bingham,
    "covariance-eig": covariance_eig,
    **diffprivlib_numbers.TARGETS,
    **diffprivlib_models.TARGETS,
    **diffprivlib_tools.TARGETS,
}
