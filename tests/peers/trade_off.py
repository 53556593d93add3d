"""Share code between the two auditors of f-DP: the claimed curve, and a perturbed likelihood-ratio test on density
estimates.

A trade-off curve gives, for every share α of errors on the first input, the least share β of errors on the second that
a classifier can have. A claim of (ε, δ)-DP is a trade-off curve. The densities p and q are estimated with normal
kernels and the plug-in bandwidth of Wand and Jones, as by the package KernSmooth of R. An output is assigned to the
first input if p/q > η + U, with U uniform on [−h/2, h/2].
"""

import math

import numpy as np

from covassay.reference.domain import Vector
from covassay.reference.privacy import Guarantee

THRESHOLDS = np.linspace(0, 15, 1000)  # the thresholds η that are tried
PERTURBATION = 0.1  # h
TINY = 1e-12  # a number that is added to both densities


def claimed_curve(alpha: Vector, claim: Guarantee) -> Vector:
    """Return the least β that (ε, δ)-DP allows at α."""
    budget = claim.keywords()
    room, factor = 1 - budget.get("delta", 0.0), math.exp(budget["epsilon"])
    return np.asarray(np.maximum(0, np.maximum(room - factor * alpha, (room - alpha) / factor)))


def loss_below(alpha: float, beta: float) -> float:
    """Return a lower bound on the ε of pure DP, from upper bounds on the two errors of one classifier."""
    return max([0.0, *(math.log((1 - a) / b) for a, b in ((alpha, beta), (beta, alpha)) if a < 1 and b > 0)])


def _binned(points: Vector, low: float, high: float, size: int) -> Vector:
    """Count the points on a grid, where each point is shared between its two neighbours."""
    place = (points - low) / (high - low) * (size - 1)
    left = np.clip(np.floor(place).astype(int), 0, size - 2)
    share = place - left
    return np.asarray(np.bincount(left, 1 - share, size) + np.bincount(left + 1, share, size))


def _smoothed(counts: Vector, cell: float, width: float, order: int = 0) -> Vector:
    """Convolve the counts with the derivative of the given order of a normal density with the given width."""
    z = np.arange(1 - len(counts), len(counts)) * cell / width
    # the orders in use are even, so that no sign is needed
    hermite = np.polynomial.hermite_e.hermeval(z, [0] * order + [1])
    density = hermite * np.exp(-z * z / 2) / math.sqrt(2 * math.pi) / width ** (order + 1)
    return np.convolve(counts, density)[len(counts) - 1 : 2 * len(counts) - 1]


def bandwidth(points: Vector, low: float, high: float, size: int) -> float:
    """Return the direct plug-in bandwidth with two stages, for the range and the size of a grid."""
    n = len(points)
    spread = min(float(points.std(ddof=1)), float(np.subtract(*np.quantile(points, [0.75, 0.25]))) / 1.349)
    if spread <= 0:
        raise ValueError("outputs without a density")
    counts, cell = _binned(points, low, high, size), (high - low) / (size - 1) / spread
    width = (2 * math.sqrt(2) ** 9 / (7 * n)) ** (1 / 9)
    for order, constant in ((6, -3 * math.sqrt(2 / math.pi)), (4, 1.0)):
        functional = float(counts @ _smoothed(counts, cell, width, order)) / n**2
        width = (constant / (functional * n)) ** (1 / (order + 1))
    return float(spread * (4 * math.pi) ** -0.1 * width)


class Ratio:
    """The object holds the estimated densities on a grid, and the classifiers by their ratio."""

    def __init__(self, first: Vector, second: Vector, size: int = 1000) -> None:
        if not (np.isfinite(first).all() and np.isfinite(second).all()):
            raise ValueError("outputs must be finite")
        low, high = min(first.min(), second.min()), max(first.max(), second.max())
        self.grid = np.linspace(low, high, size)
        cell = self.grid[1] - self.grid[0]
        self.densities = [
            np.maximum(0, _smoothed(_binned(z, low, high, size), cell, bandwidth(z, low, high, size)) / len(z))
            for z in (first, second)
        ]
        p, q = self.densities
        ratio = (p + TINY) / (q + TINY)
        assigned = np.clip((ratio - THRESHOLDS[:, None]) / PERTURBATION + 0.5, 0, 1)  # P(first input)
        self.alpha, self.beta = 1 - assigned @ p * cell, assigned @ q * cell

    def errs(self, outputs: Vector, eta: float) -> Vector:
        """Return 1 for outputs that are assigned to the second input, and 0 for all others."""
        p, q = (np.interp(outputs, self.grid, density) for density in self.densities)
        return ((p + TINY) / (q + TINY) <= eta).astype(np.float64)
