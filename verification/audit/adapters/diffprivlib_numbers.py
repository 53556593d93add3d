"""Mechanisms of diffprivlib for one number (audited at 0.6.6); they are targets of the adapter `diffprivlib`.

They are called as `Mechanism(epsilon=…, sensitivity=…, …).randomise(query)`, with a `random_state` that is seeded from
the generator of the audit. Without one, diffprivlib takes its uniform numbers from the operating system; the arithmetic
that follows is the same.
"""

from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

from covassay.reference.privacy import Guarantee
from covassay.verification.audit.adapters.numbers import APPROXIMATE, LAPLACE, PURE, number_target
from covassay.verification.audit.targets.target import Target

IN_RANGE = {"lower": 0.0, "upper": 1.0}  # of the query, for mechanisms that clip the output to it


def _release(
    query: float, sensitivity: float, *, rng: np.random.Generator, mechanism: str, parameters: dict[str, float],
    **budget: float,
) -> Any:  # fmt: skip
    from diffprivlib import mechanisms

    seed = int(rng.integers(2**32, dtype=np.uint32))
    made = getattr(mechanisms, mechanism)(sensitivity=sensitivity, random_state=seed, **parameters, **budget)
    return made.randomise(query)


def _target(
    name: str, mechanism: str, claim: Guarantee, parameters: dict[str, float], known: str | None = None
) -> Target:
    import diffprivlib.mechanisms  # noqa: F401

    release = partial(_release, mechanism=mechanism, parameters=parameters)
    told = f"diffprivlib {version('diffprivlib')}, mechanisms.{mechanism}"
    return number_target(f"diffprivlib:{name}", release, told, claim, known)


TARGETS: dict[str, Callable[[], Target]] = {
    "laplace": partial(_target, "laplace", "Laplace", PURE, {}, LAPLACE),
    "laplace-truncated": partial(_target, "laplace-truncated", "LaplaceTruncated", PURE, IN_RANGE),
    "staircase": partial(_target, "staircase", "Staircase", PURE, {}),
    "gaussian": partial(_target, "gaussian", "Gaussian", APPROXIMATE, {}),
    "gaussian-analytic": partial(_target, "gaussian-analytic", "GaussianAnalytic", APPROXIMATE, {}),
    "snapping": partial(_target, "snapping", "Snapping", PURE, IN_RANGE),
}
