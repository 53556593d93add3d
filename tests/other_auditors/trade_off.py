"""Define functions for the two auditors of f-DP: the claimed trade-off curve, and a randomised likelihood-ratio test
with estimated densities.

A classifier guesses from an output which of two inputs was used. The trade-off curve gives the smallest probability β
of an error on the second input for every probability α of an error on the first input. A claim of (ε, δ)-DP corresponds
to such a curve. The densities p and q of the outputs on the two inputs are estimated with normal kernels and the
plug-in bandwidth of Wand and Jones, as in the R package KernSmooth. An output is assigned to the first input if p/q > η
+ U, where U is uniform on [−h/2, h/2].
"""

import math

import numpy as np

from covassay.reference.domain import Vector
from covassay.reference.privacy import Guarantee

THRESHOLDS = np.linspace(0, 15, 1000)  # the thresholds η that are tried
PERTURBATION = 0.1  # the width h of the random number that is added to a threshold
TINY = 1e-12  # added to both densities


def claimed_curve(alpha: Vector, claim: Guarantee) -> Vector:
    """Return the smallest error β on the second input that (ε, δ)-DP allows for the error α on the first input."""
    budget = claim.keywords()
    room, factor = 1 - budget.get("delta", 0.0), math.exp(budget["epsilon"])
    return np.asarray(np.maximum(0, np.maximum(room - factor * alpha, (room - alpha) / factor)))


def loss_below(alpha: float, beta: float) -> float:
    """Return a lower bound on the ε of pure DP from upper bounds on the two errors of one classifier."""
    return max([0.0, *(math.log((1 - a) / b) for a, b in ((alpha, beta), (beta, alpha)) if a < 1 and b > 0)])


def _binned(points: Vector, low: float, high: float, size: int) -> Vector:
    """Count the points on a grid. Each point is split between its two neighbouring grid points, in proportion to its
    distance."""
    place = (points - low) / (high - low) * (size - 1)
    left = np.clip(np.floor(place).astype(int), 0, size - 2)
    share = place - left
    return np.asarray(np.bincount(left, 1 - share, size) + np.bincount(left + 1, share, size))


def _smoothed(counts: Vector, cell: float, width: float, order: int = 0) -> Vector:
    """Convolve the counts with the derivative of order `order` of the normal density of standard deviation `width`."""
    z = np.arange(1 - len(counts), len(counts)) * cell / width
    # Only even orders are used. The derivative is then the Hermite polynomial times the density, with the same sign.
    hermite = np.polynomial.hermite_e.hermeval(z, [0] * order + [1])
    density = hermite * np.exp(-z * z / 2) / math.sqrt(2 * math.pi) / width ** (order + 1)
    return np.convolve(counts, density)[len(counts) - 1 : 2 * len(counts) - 1]


def bandwidth(points: Vector, low: float, high: float, size: int) -> float:
    """Return the direct plug-in bandwidth with two stages, computed on a grid of `size` points from `low` to `high`."""
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
    """The estimated densities on a grid, and the classifiers that compare their ratio with a threshold."""

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
        # for every η and every point of the grid, the probability that an output is assigned to the first input
        assigned = np.clip((ratio - THRESHOLDS[:, None]) / PERTURBATION + 0.5, 0, 1)
        self.alpha, self.beta = 1 - assigned @ p * cell, assigned @ q * cell

    def errs(self, outputs: Vector, eta: float) -> Vector:
        """Return 1 for each output that is assigned to the second input, and 0 for each other output."""
        p, q = (np.interp(outputs, self.grid, density) for density in self.densities)
        return ((p + TINY) / (q + TINY) <= eta).astype(np.float64)
