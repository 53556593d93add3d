"""diffprivlib, as its adapters need it: the package at its pinned version, and the generators that it takes."""

import math
from typing import Any

import numpy as np

from covassay.verification.audit.recorded.primitives import Primitive
from covassay.verification.audit.targets.package import Package

# diffprivlib 0.6.6 does not import with scikit-learn 1.9, and does with 1.6
PACKAGE = Package(requirements=("diffprivlib==0.6.6", "scikit-learn==1.6.1"), modules=("diffprivlib.models",))


def _value(mechanism: Any, value: float) -> float:
    return float(value)


def _laplace_scale(mechanism: Any, value: float) -> float:
    return float(mechanism.sensitivity) / (float(mechanism.epsilon) - math.log(1 - float(mechanism.delta)))


# LaplaceTruncated and LaplaceFolded call it too, and then bring its output into their range
PRIMITIVES = (Primitive("diffprivlib.mechanisms.laplace", "Laplace.randomise", "laplace", _value, _laplace_scale),)


def legacy(rng: np.random.Generator) -> np.random.RandomState:
    """A RandomState, which diffprivlib takes, seeded from the generator."""
    return np.random.RandomState(rng.integers(2**32, dtype=np.uint32))


class KeepsFactor(np.random.RandomState):
    """A RandomState that draws from one normal law again and again without decomposing its covariance anew.

    Its draws are those of a RandomState, bit for bit.
    """

    _covariance: Any = None
    _factor = np.eye(1)

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__(rng.integers(2**32, dtype=np.uint32))

    def multivariate_normal(self, mean: Any, cov: Any, size: int) -> Any:  # type: ignore[override]
        """Draws from the normal law, as the parent class makes them."""
        if cov is not self._covariance:
            _, variances, axes = np.linalg.svd(cov)
            self._covariance, self._factor = cov, np.sqrt(variances)[:, None] * axes
        return mean + self.standard_normal((size, len(mean))) @ self._factor
