"""Compute the exact law of AboveThreshold, which is the probability of every output, by one integral over the
threshold's noise.

AboveThreshold adds Laplace(b₁) noise z to a threshold T, and Laplace(b₂) noise to each of the values f_0, …, f_{m−1} in
turn. AboveThreshold returns the index of the first noisy value that reaches the noisy threshold, or m if no value does.
Given the threshold's noise z, the noisy values are independent, and value j reaches the threshold with probability
S((T + z − f_j)/b₂), where S is the survival function of Laplace(1). If p is the density of Laplace(b₁), the probability
of output i is

    P(i) = ∫ p(z) ∏_{j<i} (1 − S((T + z − f_j)/b₂)) · S((T + z − f_i)/b₂) dz.

The integrand has kinks at z = 0 and at z = f_j − T for every value f_j. Between two neighbouring kinks the integrand is
a sum of exponentials, and Gauss–Legendre quadrature is used on panels that are at most as long as the smaller of b₁ and
b₂. The quadrature error is then no larger than rounding errors. All terms of the integral are positive, so small
probabilities keep their relative accuracy.
"""

from itertools import pairwise

import numpy as np

from covassay.reference.domain import Vector

# the integral is cut off this many scales before the first and after the last kink; what is left out is below e^{-80}
REACH = 80.0
NODES = 16  # the Gauss–Legendre nodes of each panel; quadrature is exact for polynomials up to degree 31


def _log_survival(t: Vector) -> Vector:
    """Return ln P(Laplace(1) ≥ t)."""
    return np.where(t > 0, -np.maximum(t, 0) - np.log(2), np.log1p(-np.exp(np.minimum(t, 0)) / 2))


def log_probabilities(values: Vector, threshold: float, b1: float, b2: float) -> Vector:
    """Return ln P(output = 0), …, ln P(output = m) for m values; output m means that no value reaches the threshold."""
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
    """Return the probabilities P(output = 0), …, P(output = m) for m values."""
    return np.exp(log_probabilities(values, threshold, b1, b2))


def largest_loss(first: Vector, second: Vector, threshold: float, b1: float, b2: float) -> float:
    """Return the largest |ln(P(output)/P′(output))| over the outputs, where P and P′ are the laws for two vectors of
    values.
    """
    difference = log_probabilities(first, threshold, b1, b2) - log_probabilities(second, threshold, b1, b2)
    return float(np.abs(difference).max())
