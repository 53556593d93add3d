"""Composite Gauss–Legendre quadrature: intervals ("panels") with m nodes each.

On one panel a smooth function is its Lagrange interpolant at the nodes to all digits, so it can be
integrated up to any point, not only to the edges. `interpolation(t)` gives the m weights of interpolation at t
and of integration from the left edge to t, in the panel's own variable t ∈ [−1, 1].
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial.legendre import leggauss, legvander
from numpy.typing import NDArray

from covassay.reference.domain import Matrix, Vector

NODES = 24  # per panel; with 8 radians of phase per panel the rule is exact to rounding


@lru_cache(maxsize=1)
def _reference_panel() -> tuple[Vector, Vector, Matrix]:
    """Nodes and weights on [−1, 1], and the Legendre coefficients of the Lagrange basis.

    By discrete orthogonality the cardinal function of node i is Σ_k (k + ½) w_i P_k(t_i) P_k(t).
    """
    t, w = leggauss(NODES)
    coefficients = (np.arange(NODES) + 0.5)[:, None] * (legvander(t, NODES - 1) * w[:, None]).T
    return t, w, coefficients


def interpolation(t: Vector) -> tuple[Matrix, Matrix]:
    """Values at t of the m Lagrange basis functions of a panel, and their integrals from −1 to t: t.shape + (m,) each.

    ∫_{−1}^t P_k = (P_{k+1}(t) − P_{k−1}(t))/(2k + 1), and 1 + t for k = 0.
    """
    _, _, coefficients = _reference_panel()
    p = legvander(t, NODES)
    rest = (p[..., 2:] - p[..., :-2]) / (2 * np.arange(1, NODES) + 1)
    integrals = np.concatenate([(1 + t)[..., None], rest], axis=-1)
    return p[..., :-1] @ coefficients, integrals @ coefficients


def integrated(t: Vector) -> Matrix:
    """Integrals from −1 to t of the m Lagrange basis functions: t.shape + (m,)."""
    return interpolation(t)[1]


@dataclass(frozen=True)
class Panels:
    """Nodes and weights on the union of the panels between consecutive `edges`."""

    edges: Vector

    @property
    def count(self) -> int:
        """Number of panels."""
        return len(self.edges) - 1

    @property
    def half_widths(self) -> Vector:
        """Half the width of every panel, shape (panels,)."""
        widths: Vector = np.diff(self.edges) / 2
        return widths

    @property
    def nodes(self) -> Matrix:
        """Quadrature nodes, shape (panels, m)."""
        t, _, _ = _reference_panel()
        nodes: Matrix = self.edges[:-1, None] + self.half_widths[:, None] * (1 + t)
        return nodes

    @property
    def weights(self) -> Matrix:
        """Quadrature weights, shape (panels, m)."""
        _, w, _ = _reference_panel()
        weights: Matrix = self.half_widths[:, None] * w
        return weights

    def locate(self, x: Vector) -> tuple[NDArray[np.intp], Vector]:
        """The panel that holds x, and x in that panel's own variable."""
        panel = np.clip(np.searchsorted(self.edges, x, side="right") - 1, 0, self.count - 1)
        return panel, (x - self.edges[panel]) / self.half_widths[panel] - 1

    def antiderivative(self, values: Matrix) -> tuple[Matrix, Matrix]:
        """∫ from the first edge, of functions given at the nodes: at the edges and at the nodes.

        `values` has shape (..., panels, m); the results (..., panels + 1) and (..., panels, m).
        """
        t, _, _ = _reference_panel()
        totals = (values * self.weights).sum(axis=-1)
        at_edges = np.concatenate([np.zeros((*totals.shape[:-1], 1)), np.cumsum(totals, axis=-1)], axis=-1)
        within = values @ integrated(t).T * self.half_widths[:, None]
        return at_edges, at_edges[..., :-1, None] + within

    def distribution(self, density: Matrix) -> Callable[[Vector], Vector]:
        """The distribution function of the law with this density, (panels, m) at the nodes, up to its constant."""
        at_edges, _ = self.antiderivative(density)

        def cdf(x: Vector) -> Vector:
            panel, t = self.locate(x)
            within = (integrated(t) * density[panel]).sum(axis=-1) * self.half_widths[panel]
            values: Vector = np.clip((at_edges[panel] + within) / at_edges[-1], 0.0, 1.0)
            return values

        return cdf
