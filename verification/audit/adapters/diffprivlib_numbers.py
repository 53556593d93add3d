"""Make targets from mechanisms of diffprivlib 0.6.6 that release one number; they belong to the adapter `diffprivlib`.

The adapter calls `Mechanism(epsilon=…, sensitivity=…, …).randomise(query)` with a generator that the generator of the
audit seeds. By default diffprivlib draws from the operating system but adds the noise to the query in the same way.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from covassay.reference.privacy import Guarantee
from covassay.verification.audit.adapters.diffprivlib_package import PACKAGE, PRIMITIVES
from covassay.verification.audit.adapters.numbers import APPROXIMATE, LAPLACE, PURE, number_target
from covassay.verification.audit.targets.package import told_version
from covassay.verification.audit.targets.target import Target

IN_RANGE = {"lower": 0.0, "upper": 1.0}  # some mechanisms clip their output to this range of the query


@lru_cache(maxsize=256)
def _made(mechanism: str, parameters: tuple[tuple[str, float], ...]) -> Any:
    """Return the mechanism, from a cache if possible, because its constructor searches for the scale."""
    from diffprivlib import mechanisms

    return getattr(mechanisms, mechanism)(**dict(parameters))


def _release(
    query: float, sensitivity: float, *, rng: np.random.Generator, mechanism: str, parameters: dict[str, float],
    **budget: float,
) -> Any:  # fmt: skip
    made = _made(mechanism, tuple({"sensitivity": sensitivity, **parameters, **budget}.items()))
    made._rng = np.random.RandomState(rng.integers(2**32, dtype=np.uint32))
    return made.randomise(query)


def _target(
    name: str, mechanism: str, claim: Guarantee, parameters: dict[str, float], known: str | None = None
) -> Target:
    release = partial(_release, mechanism=mechanism, parameters=parameters)
    told = told_version(PACKAGE, f"mechanisms.{mechanism}")
    return number_target(f"diffprivlib:{name}", release, told, claim, known, primitives=PRIMITIVES)


TARGETS: dict[str, Callable[[], Target]] = {
    "laplace": partial(_target, "laplace", "Laplace", PURE, {}, LAPLACE),
    "laplace-truncated": partial(_target, "laplace-truncated", "LaplaceTruncated", PURE, IN_RANGE),
    "laplace-folded": partial(_target, "laplace-folded", "LaplaceFolded", PURE, IN_RANGE),
    "laplace-bounded-domain": partial(_target, "laplace-bounded-domain", "LaplaceBoundedDomain", PURE, IN_RANGE),
    "laplace-bounded-noise": partial(_target, "laplace-bounded-noise", "LaplaceBoundedNoise", APPROXIMATE, {}),
    "staircase": partial(_target, "staircase", "Staircase", PURE, {}),
    "gaussian": partial(_target, "gaussian", "Gaussian", APPROXIMATE, {}),
    "gaussian-analytic": partial(_target, "gaussian-analytic", "GaussianAnalytic", APPROXIMATE, {}),
    "snapping": partial(_target, "snapping", "Snapping", PURE, IN_RANGE),
}
