"""The exact law of AboveThreshold: the probability of every output, by one integral over the noise of the threshold.

Given the noisy threshold u = T + z the queries stop independently, query j with probability S((u − f_j)/b₂), S the
survival function of Laplace(1). So

    P(i) = ∫ p(z) ∏_{j<i} (1 − S((T + z − f_j)/b₂)) · S((T + z − f_i)/b₂) dz,    p the density of Laplace(b₁).

Between its kinks z = 0 and z = f_j − T the integrand is a sum of exponentials: Gauss–Legendre on panels no longer than
the smaller scale is exact to rounding. All terms are positive, so small probabilities keep their relative accuracy.
"""

from itertools import pairwise

import numpy as np

from covassay.reference.domain import Vector

REACH = 80.0  # beyond the kinks, in units of the larger scale: what is left out is below e^{-80} of the whole
NODES = 16


def _log_survival(t: Vector) -> Vector:
    """ln P(Laplace(1) ≥ t)."""
    return np.where(t > 0, -np.maximum(t, 0) - np.log(2), np.log1p(-np.exp(np.minimum(t, 0)) / 2))


def log_probabilities(values: Vector, threshold: float, b1: float, b2: float) -> Vector:
    """ln P(output = 0), …, ln P(output = m), m the number of values and the output "none of them"."""
    f = np.asarray(values, dtype=np.float64)
    kinks = np.unique(np.concatenate([[0.0], f - threshold]))
    edges = np.concatenate([[kinks[0] - REACH * max(b1, b2)], kinks, [kinks[-1] + REACH * max(b1, b2)]])
    panels = np.concatenate(
        [np.linspace(a, b, int(np.ceil((b - a) / min(b1, b2))) + 1)[:-1] for a, b in pairwise(edges)] + [edges[-1:]]
    )
    x, w = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(panels)[:, None] / 2
    z = (panels[:-1, None] + half * (1 + x)).ravel()
    log_weight = np.log((half * w).ravel()) - np.abs(z) / b1 - np.log(2 * b1)
    t = (threshold + z[:, None] - f) / b2
    stop = np.concatenate([_log_survival(t), np.zeros((len(z), 1))], axis=1)
    passed = np.concatenate([np.zeros((len(z), 1)), np.cumsum(_log_survival(-t), axis=1)], axis=1)
    logs: Vector = np.logaddexp.reduce(log_weight[:, None] + passed + stop, axis=0)
    return logs


def probabilities(values: Vector, threshold: float, b1: float, b2: float) -> Vector:
    """P(output = 0), …, P(output = m)."""
    return np.exp(log_probabilities(values, threshold, b1, b2))


def largest_loss(first: Vector, second: Vector, threshold: float, b1: float, b2: float) -> float:
    """The largest |loss| over the outputs, between two vectors of values."""
    difference = log_probabilities(first, threshold, b1, b2) - log_probabilities(second, threshold, b1, b2)
    return float(np.abs(difference).max())
