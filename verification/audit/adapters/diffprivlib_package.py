"""Declare what the adapters of diffprivlib need: the package at its pinned version, generators that it accepts, and its
primitives.
"""

import math
from functools import cache
from typing import Any

import numpy as np

from covassay.verification.audit.recorded.primitives import Family, Into, Primitive
from covassay.verification.audit.targets.package import Package

# diffprivlib 0.6.6 can be imported with scikit-learn 1.6, but not with 1.9
PACKAGE = Package(requirements=("diffprivlib==0.6.6", "scikit-learn==1.6.1"), modules=("diffprivlib.models",))


def _value(mechanism: Any, value: float) -> float:
    mechanism._check_all(value)
    return float(value)


def _value_in_range(mechanism: Any, value: float) -> float:
    return min(max(_value(mechanism, value), float(mechanism.lower)), float(mechanism.upper))


def _laplace_scale(mechanism: Any, value: float) -> float:
    return float(mechanism.sensitivity) / (float(mechanism.epsilon) - math.log(1 - float(mechanism.delta)))


def _scale_in_domain(mechanism: Any, value: float) -> float:
    if mechanism._scale is None:
        mechanism._scale = mechanism._find_scale()
    return float(mechanism._scale)


def _geometric_scale(mechanism: Any, value: float) -> float:
    return float(mechanism.sensitivity) / float(mechanism.epsilon)


def _range(mechanism: Any, value: float) -> tuple[float, float]:
    return float(mechanism.lower), float(mechanism.upper)


def _whole(output: Any, mechanism: Any, value: float) -> int:
    return int(output)


def _of_laplace(name: str, into: Into, value: Any = _value, scale: Any = _laplace_scale) -> Primitive:
    return Primitive("diffprivlib.mechanisms.laplace", f"{name}.randomise", "laplace", value, scale, into, _range)


_GEOMETRIC: Family = "geometric"
_MODULE = "diffprivlib.mechanisms.geometric"
PRIMITIVES = (
    Primitive("diffprivlib.mechanisms.laplace", "Laplace.randomise", "laplace", _value, _laplace_scale),
    _of_laplace("LaplaceTruncated", "clipped"),
    _of_laplace("LaplaceFolded", "folded"),
    _of_laplace("LaplaceBoundedDomain", "redrawn", _value_in_range, _scale_in_domain),
    Primitive(_MODULE, "Geometric.randomise", _GEOMETRIC, _value, _geometric_scale, after=_whole),
    Primitive(
        _MODULE, "GeometricTruncated.randomise", _GEOMETRIC, _value, _geometric_scale, "clipped", _range, after=_whole
    ),
)


def legacy(rng: np.random.Generator) -> np.random.RandomState:
    """Return a RandomState, which diffprivlib accepts, with a seed from the generator."""
    return np.random.RandomState(rng.integers(2**32, dtype=np.uint32))


def keeps_factor(rng: np.random.Generator) -> np.random.RandomState:
    """Return a RandomState that decomposes the covariance of a normal law only once for repeated draws.

    The draws of this generator are those of an ordinary RandomState, bit for bit.
    """
    made: np.random.RandomState = _keeping(np.random.RandomState)(rng.integers(2**32, dtype=np.uint32))
    return made


@cache
def _keeping(state: Any) -> Any:
    """Return a subclass of the class that numpy calls RandomState at the time of the call."""

    class KeepsFactor(state):  # type: ignore[misc]
        _covariance = b""
        _factor = np.eye(1)

        def multivariate_normal(self, mean: Any, cov: Any, size: int) -> Any:
            if (entries := cov.tobytes()) != self._covariance:
                _, variances, axes = np.linalg.svd(cov)
                self._covariance, self._factor = entries, np.sqrt(variances)[:, None] * axes
            return mean + self.standard_normal((size, len(mean))).dot(self._factor)

    return KeepsFactor
