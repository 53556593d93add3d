"""Make targets that release one number by a sampler of a library: the mean squared norm of the rows, plus noise.

Replacing a row in the unit ball changes this query by at most 1/n. The adapters clip the rows, compute the query
in float64, and leave the rest to the library: its mechanism, or its sampler, is called with the query or with the scale
that the claim asks for.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, total_square, unit_rows
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.recorded.primitives import Primitive
from covassay.verification.audit.targets.target import Target

Release = Callable[..., Any]  # maps (query, sensitivity, rng=…, **budget) to the number that is released

QUERY = "the query is the mean squared norm of the clipped rows; the adapter computes it in float64"
UNSEEDED = "draws from the operating system: this run cannot be replayed draw for draw"
PURE, APPROXIMATE, CONCENTRATED = PureDP(1.0), ApproximateDP(1.0, 1e-5), ZCDP(0.5)
LAPLACE = "private-trace"  # the mechanism of the reference that releases this query with Laplace noise


def gaussian_deviation(sensitivity: float, rho: float) -> float:
    """Return the standard deviation of Gaussian noise that makes a query of this sensitivity ρ-zCDP."""
    return sensitivity / math.sqrt(2 * rho)


def number_target(
    name: str, release: Release, version: str, claim: Guarantee, mechanism: str | None = None, seeded: bool = True,
    primitives: tuple[Primitive, ...] = (),
) -> Target:  # fmt: skip
    """Return the target of that name; with a `mechanism`, the law of its output is known."""

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        rows = unit_rows(x)
        return np.float64(release(float(total_square(rows) / len(rows)), 1.0 / len(rows), rng=rng, **budget))

    return Target(
        name,
        draw,
        mechanism=mechanism,
        seeded=seeded,
        version=version,
        notes=(QUERY,) if seeded else (QUERY, UNSEEDED),
        released="number",
        claim=claim,
        primitives=primitives,
    )
