"""diffprivlib as targets (IBM; audited at 0.6.6).

`bingham`: `mechanisms.Bingham(epsilon, sensitivity=1).randomise(XᵀX)`, which documents ε-DP for the leading
eigenvector with the exponent ε/4 of ADK19, here calibration "paper". It takes XᵀX, so its caller must clip the rows;
the adapter does that. Its rejection sampler asks numpy for a decomposition of one and the same covariance at every
proposal. The adapter gives it a generator that keeps the factor; the sampler itself is diffprivlib's own code.

`covariance-eig`: `models.utils.covariance_eig(X, epsilon, norm=1)`, whose eigenvalues and eigenvectors the adapter puts
together as V diag(w) Vᵀ/n. It splits its budget in its own way, so it is audited without a reference law.
"""

import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, unit_rows
from covassay.verification.audit.adapters import diffprivlib_numbers
from covassay.verification.audit.targets.target import Target

CALLER = "it takes XᵀX: its caller must validate and clip the rows, which the adapter does here"


def _legacy(rng: np.random.Generator) -> np.random.RandomState:
    """A RandomState, which diffprivlib takes, seeded from the generator."""
    return np.random.RandomState(rng.integers(2**32, dtype=np.uint32))


class _KeepsFactor(np.random.RandomState):
    """A RandomState that draws from one normal law again and again without decomposing its covariance anew.

    Its draws are those of a RandomState, bit for bit.
    """

    _covariance: Any = None
    _factor = np.eye(1)

    def multivariate_normal(self, mean: Any, cov: Any, size: int) -> Any:  # type: ignore[override]
        if cov is not self._covariance:
            _, variances, axes = np.linalg.svd(cov)
            self._covariance, self._factor = cov, np.sqrt(variances)[:, None] * axes
        return mean + self.standard_normal((size, len(mean))) @ self._factor


def _bingham(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    from diffprivlib.mechanisms import Bingham

    rows = unit_rows(x)
    seeded = _KeepsFactor(rng.integers(2**32, dtype=np.uint32))
    u: Matrix = Bingham(epsilon=epsilon, random_state=seeded).randomise(rows.T @ rows)
    return np.ravel(u)


def _covariance_eig(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    from diffprivlib.models.utils import covariance_eig

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        w, v = covariance_eig(x, epsilon=epsilon, norm=1.0, random_state=_legacy(rng))
    matrix: Matrix = (v * w) @ v.T / len(x)
    return matrix


def _target(name: str, draw: Callable[..., Any], part: str, **more: Any) -> Target:
    """The target that draws with that part of the installed diffprivlib."""
    return Target(f"diffprivlib:{name}", draw, version=f"diffprivlib {version('diffprivlib')}, {part}", **more)


def bingham() -> Target:
    """The exponential mechanism for the leading eigenvector."""
    import diffprivlib.mechanisms  # noqa: F401

    paper = (("calibration", "paper"),)
    return _target("bingham", _bingham, "mechanisms.Bingham", mechanism="bingham", options=paper, notes=(CALLER,))


def covariance_eig() -> Target:
    """Eigenvalues and eigenvectors of the second moment."""
    import diffprivlib.models.utils  # noqa: F401

    return _target("covariance-eig", _covariance_eig, "models.utils.covariance_eig")


TARGETS: dict[str, Callable[[], Target]] = {
    "bingham": bingham,
    "covariance-eig": covariance_eig,
    **diffprivlib_numbers.TARGETS,
}
