"""Declare what the adapters of diffprivlib share: the pinned version, seeded generators, declarations of the noise
(`primitives`), and functions that make targets or hide warnings.
"""

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from covassay.reference.domain import Vector
from covassay.reference.privacy import PureDP
from covassay.verification.audit.recorded.primitives import Family, Into, Primitive
from covassay.verification.audit.targets.package import Package, told_version
from covassay.verification.audit.targets.target import Target

Bounds = tuple[tuple[float, float], ...]

RANGE = (0.0, 100.0), (0.0, 1.0)  # the bounds of a positive column and of a column of proportions
ADJACENCY = "it does not say which data sets are neighbours; n is taken from the data"

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
    """Return a subclass of `state` that stores the decomposition. `state` is numpy's RandomState, or the class that
    replaces it while draws are recorded.
    """

    class KeepsFactor(state):  # type: ignore[misc]
        _covariance = b""
        _factor = np.eye(1)

        def multivariate_normal(self, mean: Any, cov: Any, size: int) -> Any:
            if (entries := cov.tobytes()) != self._covariance:
                _, variances, axes = np.linalg.svd(cov)
                self._covariance, self._factor = entries, np.sqrt(variances)[:, None] * axes
            return mean + self.standard_normal((size, len(mean))).dot(self._factor)

    return KeepsFactor


@contextmanager
def quiet() -> Iterator[None]:
    """Hide the warnings of the package."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def limits(bounds: Bounds) -> tuple[Vector, Vector]:
    """Return the lower and the upper bounds of the columns."""
    low, high = np.array(bounds, dtype=float).T
    return low, high


def target(name: str, draw: Callable[..., Any], part: str, **more: Any) -> Target:
    """Return the target `diffprivlib:NAME`. `part` names the audited class or function of diffprivlib."""
    return Target(f"diffprivlib:{name}", draw, version=told_version(PACKAGE, part), primitives=PRIMITIVES, **more)


def pure_target(
    name: str, draw: Callable[..., Any], part: str, released: str, *notes: str, neighbours: str = ADJACENCY, **more: Any
) -> Target:
    """Return a target that claims ε-DP. `released` is the kind of its outputs, and `neighbours` is a note on which data
    sets are neighbours.
    """
    return target(name, draw, part, released=released, claim=PureDP(1.0), notes=(*notes, neighbours), **more)
