"""This module computes the Rényi divergence of laws on finitely many points, for the checks of several papers."""

import numpy as np

from covassay.reference.domain import Vector


def renyi(log_p: Vector, log_q: Vector, order: float) -> float:
    """Return the Rényi divergence D_α(P‖Q), α = `order`, of two laws on finitely many points, given their log
    probabilities.
    """
    return float(np.logaddexp.reduce(order * log_p + (1 - order) * log_q)) / (order - 1)
