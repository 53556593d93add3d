"""Integrate by composite Gauss–Legendre quadrature, on successive intervals ("panels") with m = `NODES` nodes each.

On one panel a smooth function equals, up to rounding, the polynomial that interpolates it at the nodes. A smooth
function can therefore be integrated up to any point x, not only up to the edge of a panel. Every panel has its own
variable t ∈ [−1, 1]. `interpolation(t)` gives two lists of m weights. With the weights of the first list, the weighted
sum of a function's values at the nodes is the value of the function at t. With the weights of the second list, the
weighted sum is the integral of the function over the panel's variable from −1 to t.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.polynomial.chebyshev import chebint, chebvander
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

from covassay.reference.domain import Array, Matrix, Vector

# with 24 nodes, a function whose phase grows by 8 radians on the panel is integrated up to rounding errors
NODES = 24
REFERENCE_NODES, REFERENCE_WEIGHTS = leggauss(NODES)  # the nodes and weights for the panel [−1, 1]
ORDERS = np.arange(NODES + 1.0)  # the degrees of the Chebyshev polynomials
FEW = 64  # up to this number of points, `chebyshev` takes less time with cosines than with the recurrence


@lru_cache(maxsize=1)
def _lagrange_basis() -> tuple[Matrix, Matrix]:
    """Return the Chebyshev coefficients of the Lagrange basis and of its integrals.

    Column i of the first matrix, (m, m), has the coefficients of the polynomial that is 1 at node i and 0 at the other
    nodes. Column i of the second matrix, (m + 1, m), has the coefficients of the integral of this polynomial from −1.
    """
    basis: Matrix = np.linalg.inv(chebvander(REFERENCE_NODES, NODES - 1)).astype(np.float64)
    integrals: Matrix = chebint(basis, lbnd=-1.0).astype(np.float64)
    return basis, integrals


def chebyshev(t: Array) -> Array:
    """Return the Chebyshev polynomials T_0(t), …, T_m(t), of shape (m + 1,) + t.shape.

    If there are at most `FEW` points t, the function computes cos(k arccos t), which takes few calls. For more points
    it uses the recurrence T_{k+i} = 2 T_k T_i − T_{k−i}, which takes less time for many points.
    """
    inside = np.minimum(np.maximum(t, -1.0), 1.0)
    if np.size(t) <= FEW:
        few: Array = np.cos(np.multiply.outer(ORDERS, np.arccos(inside)))
        return few
    polynomials = np.empty((NODES + 1, *np.shape(t)))
    polynomials[0], polynomials[1] = 1.0, inside
    k = 1
    while k < NODES:
        more = min(k, NODES - k)
        doubled = 2 * polynomials[k] * polynomials[1 : more + 1]
        polynomials[k + 1 : k + more + 1] = doubled - polynomials[k - more : k][::-1]
        k += more
    return polynomials


def expansion(values: Array) -> tuple[Array, Array]:
    """Return the Chebyshev coefficients of the polynomial that has the given values at the nodes, and of its integral
    from −1.

    The shapes of the values, and of the two results, are (..., m) -> (..., m) and (..., m + 1).
    """
    basis, integrals = _lagrange_basis()
    return values @ basis.T, values @ integrals.T


def interpolation(t: Array) -> tuple[Array, Array]:
    """Return the values at t of the m Lagrange basis polynomials, and their integrals from −1 to t, of shape t.shape +
    (m,) each.
    """
    basis, integrals = _lagrange_basis()
    polynomials = np.moveaxis(chebyshev(t), 0, -1)
    return polynomials[..., :-1] @ basis, polynomials @ integrals


def integrals_over(values: Array) -> Array:
    """Return the integrals over t ∈ [−1, 1] of functions that are given by their values at the nodes, (..., m) ->
    (...).
    """
    over: Array = values @ REFERENCE_WEIGHTS
    return over


def integrals_to_nodes(values: Array, out: Array | None = None) -> Array:
    """Return the integrals from t = −1 to every node of functions that are given by their values at the nodes, (..., m)
    -> (..., m).

    If the array `out` is given, the integrals are stored in it.
    """
    room = np.empty(values.shape) if out is None else out
    np.matmul(values.reshape(-1, NODES), _weights_to_nodes(), out=room.reshape(-1, NODES))
    return room


@lru_cache(maxsize=1)
def _weights_to_nodes() -> Matrix:
    """Return the (m, m) matrix whose column i has the weights of the integral from −1 to node i."""
    return np.ascontiguousarray(integrated(REFERENCE_NODES).T)


def integrated(t: Array) -> Array:
    """Return the integrals from −1 to t of the m Lagrange basis polynomials, of shape t.shape + (m,)."""
    return interpolation(t)[1]


@dataclass(frozen=True)
class Panels:
    """The panels between consecutive `edges`, which are an increasing array of shape (panels + 1,)."""

    edges: Vector

    @property
    def count(self) -> int:
        """Return the number of panels."""
        return len(self.edges) - 1

    @cached_property
    def half_widths(self) -> Vector:
        """Return half the width of every panel, shape (panels,)."""
        widths: Vector = np.diff(self.edges) / 2
        return widths

    @property
    def nodes(self) -> Matrix:
        """Return the quadrature nodes, shape (panels, m)."""
        nodes: Matrix = self.edges[:-1, None] + self.half_widths[:, None] * (1 + REFERENCE_NODES)
        return nodes

    @property
    def weights(self) -> Matrix:
        """Return the quadrature weights, shape (panels, m)."""
        weights: Matrix = self.half_widths[:, None] * REFERENCE_WEIGHTS
        return weights

    def holding(self, x: Vector) -> NDArray[np.intp]:
        """Return for every x the index of the panel that holds x, of shape x.shape.

        An inner edge belongs to the panel on its right. A point outside all panels belongs to the nearest panel.
        """
        return np.minimum(np.maximum(np.searchsorted(self.edges, x, side="right") - 1, 0), self.count - 1)

    def locate(self, x: Vector) -> tuple[NDArray[np.intp], Vector]:
        """Return for every x the index of the panel that holds x, and the panel's variable t at x, of shape x.shape
        each.

        A point outside all panels has |t| > 1.
        """
        panel = self.holding(x)
        return panel, (x - self.edges[panel]) / self.half_widths[panel] - 1

    def antiderivative(self, values: Array) -> tuple[Array, Array]:
        """Return the integrals from the first edge to every edge and to every node.

        The argument `values` has the values of the integrands at the nodes, (..., panels, m) -> (..., panels + 1) and
        (..., panels, m).
        """
        totals = (values * self.weights).sum(axis=-1)
        at_edges = np.concatenate([np.zeros((*totals.shape[:-1], 1)), np.cumsum(totals, axis=-1)], axis=-1)
        within = integrals_to_nodes(values) * self.half_widths[:, None]
        return at_edges, at_edges[..., :-1, None] + within

    def distribution(self, density: Matrix) -> Callable[[Vector], Vector]:
        """Return the distribution function of the law whose density is ∝ `density` at the nodes, (panels, m)."""
        at_edges, _ = self.antiderivative(density)

        def cdf(x: Vector) -> Vector:
            panel, t = self.locate(x)
            within = (integrated(t) * density[panel]).sum(axis=-1) * self.half_widths[panel]
            values: Vector = np.clip((at_edges[panel] + within) / at_edges[-1], 0.0, 1.0)
            return values

        return cdf
