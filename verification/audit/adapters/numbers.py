"""Make targets that release the mean squared norm of the rows, with noise from a sampler of a library.

Replacing a row in the unit ball changes the mean squared norm by at most 1/n. An adapter clips the rows and computes
the query in float64. After the clipping, the adapter calls the library's mechanism with the query, or the library's
sampler with the noise scale that the claim requires.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, total_square, unit_rows
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.recorded.primitives import Primitive
from covassay.verification.audit.targets.target import Target

Release = Callable[..., Any]  # a release takes (query, sensitivity, rng=…, **budget) and returns the released number

QUERY = "the query is the mean squared norm of the clipped rows; the adapter computes it in float64"
UNSEEDED = "its random numbers come from the operating system, so that this run cannot be replayed draw for draw"
PURE, APPROXIMATE, CONCENTRATED = PureDP(1.0), ApproximateDP(1.0, 1e-5), ZCDP(0.5)
LAPLACE = "private-trace"  # this mechanism of the reference releases the same query with Laplace noise


def gaussian_deviation(sensitivity: float, rho: float) -> float:
    """Return the standard deviation of Gaussian noise that makes a query of this sensitivity ρ-zCDP."""
    return sensitivity / math.sqrt(2 * rho)


def number_target(
    name: str, release: Release, version: str, claim: Guarantee, mechanism: str | None = None, seeded: bool = True,
    primitives: tuple[Primitive, ...] = (),
) -> Target:  # fmt: skip
    """Return the target with this name. If `mechanism` names a mechanism of covassay, the target claims that its
    outputs have the law of this mechanism.
    """

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
