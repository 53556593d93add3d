"""Describe a Bingham sampler without its rejection step, which samples its proposal, the angular central Gaussian
law."""

import numpy as np

from covassay.reference.domain import Vector
from covassay.verification.audit.known_bugs.known_bug import KnownBug


def log_density(y: Vector, b: float, q: float) -> Vector:
    """Return the log density ln (1 + 2y/b)^{−q/2} of the proposal, for y = uᵀAu."""
    values: Vector = -q / 2 * np.log1p(2 * y / b)
    return values


BUG = KnownBug(
    name="accept-all",
    explanation="every proposal is accepted: the draws follow the angular central Gaussian law (uᵀΩu)^{−q/2}",
    seen_in="OpenDP, February 2024 to July 2025",
    log_density=log_density,
)
