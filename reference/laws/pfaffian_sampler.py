"""Exact sampling from a Pfaffian ensemble, one point at a time: the Pfaffian chain rule.

Notation of `pfaffian_ensemble`. After the points q_1, …, q_k are drawn, the features of a further point x are

    a(x) = (φ(x), 0, …, 0),    b(x) = (Eφ(x), [1 if N is odd], sgn(q_1 − x), …, sgn(q_k − x)),

and its conditional intensity, with integral N − k, is f_k(x) = −a(x)ᵀ μ b(x), μ of size D + k. It starts
with μ = A^{−1}. Drawing p from f_k / (N − k) and conditioning on it is one Schur complement:

    c₁ = μ a(p),  c₂ = μ b(p),  f_k(p) = −a(p)ᵀ c₂;    append 0 to c₁, 1 to c₂, a zero row and column to μ;
    μ ← μ + (c₁ c₂ᵀ − c₂ c₁ᵀ) / f_k(p).

There is no grid error. f_k(x) = h(x) + Σ_q sgn(q − x) φ(x)·C_q with h smooth and C_q = −μ[:N, q]. The kinks sit
in the second sum, whose integral is closed form in G:

    ∫_{−∞}^x sgn(q − t) φ(t)·C_q dt = G(x)·C_q if x ≤ q, and 2 G(q)·C_q − G(x)·C_q if x > q,

so F_k = ∫ f_k is known to rounding at every panel edge and earlier point ("breakpoints"), and between two of
them f_k is smooth and its interpolant is integrated and inverted exactly.

Self-certificate: Σ_k ln f_k(p_k) must equal ln(N! × the joint density), which has its own product formula. It is
checked for every draw, and it depends on the noise alone, never on data. It tests μ and its updates at the points
drawn; it cannot see how they were drawn (h, F and the inversion), which the tests of the law do.
"""

import math

import numpy as np
from numpy.typing import NDArray

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws.panels import NODES, integrated, interpolation
from covassay.reference.laws.pfaffian_ensemble import PfaffianEnsemble

CERTIFICATE_TOLERANCE = 1e-6
BLOCK_ENTRIES = 2**20  # entries of μ held at once
NEWTON_STEPS = 100
CONVERGED = 1e-14  # of a step in the panel's variable; Newton's next error is far below rounding


class _Chain:
    """A block of independent chains: draws the points of every sample in the block one by one.

    Arrays lead with the sample. The breakpoints are the panel edges followed by the points drawn.
    """

    def __init__(self, ensemble: PfaffianEnsemble, size: int) -> None:
        self.ensemble = ensemble
        self.size, self.drawn = size, 0
        n, d, edges = ensemble.points, ensemble.order, ensemble.panels.edges
        nodes = ensemble.panels.count * NODES
        self.rows = np.arange(size)
        self.phi = ensemble.phi.reshape(n, nodes)
        self.features = ensemble.e_nodes.reshape(d, nodes)
        self.panel_phi = np.ascontiguousarray(ensemble.phi.transpose(1, 0, 2))  # (panels, N, m)
        self.mu = np.zeros((size, d + n, d + n))
        self.mu[:, :d, :d] = ensemble.kernel
        self.h = np.tile(ensemble.one_point_density.ravel(), (size, 1))
        self.breaks = np.zeros((size, len(edges) + n))
        self.breaks[:, : len(edges)] = edges
        self.g_breaks = np.zeros((size, n, len(edges) + n))
        self.g_breaks[:, :, : len(edges)] = ensemble.g_edges
        self.panel_of = np.zeros((size, n), dtype=np.intp)
        self.integration_of = np.zeros((size, n, NODES))  # ∫ from the panel's left edge to the point
        self.log_intensity = np.zeros(size)

    @property
    def points(self) -> Matrix:
        """The points drawn so far, (size, k)."""
        first = len(self.ensemble.panels.edges)
        return self.breaks[:, first : first + self.drawn]

    def _cumulative(self, c: Matrix) -> Matrix:
        """F_k at the breakpoints, (size, breakpoints)."""
        k, edges = self.drawn, len(self.ensemble.panels.edges)
        h = self.h.reshape(self.size, -1, NODES)
        totals = (h * self.ensemble.panels.weights).sum(axis=2)
        at_edges = np.concatenate([np.zeros((self.size, 1)), np.cumsum(totals, axis=1)], axis=1)
        sample, panel = self.rows[:, None], self.panel_of[:, :k]
        within = (self.integration_of[:, :k] * h[sample, panel]).sum(axis=2)
        smooth = np.concatenate([at_edges, at_edges[sample, panel] + within], axis=1)
        g = np.swapaxes(self.g_breaks[:, :, : edges + k], 1, 2) @ c  # G·C_q, (size, breaks, k)
        g_own = g[:, edges + np.arange(k), np.arange(k)][:, None, :]
        beyond = self.breaks[:, : edges + k, None] > self.points[:, None, :]
        cumulative: Matrix = smooth + np.where(beyond, 2 * g_own - g, g).sum(axis=2)
        return cumulative

    def _invert(self, c: Matrix, uniform: Vector) -> tuple[NDArray[np.intp], Vector]:
        """The panel of x, and x in the panel's variable, where F_k(x) = uniform × F_k(∞)."""
        panels, k = self.ensemble.panels, self.drawn
        breaks = self.breaks[:, : len(panels.edges) + k]
        cumulative = self._cumulative(c)
        order = np.argsort(breaks, axis=1)
        breaks = np.take_along_axis(breaks, order, axis=1)
        cumulative = np.take_along_axis(cumulative, order, axis=1)
        target = uniform * cumulative[:, -1]
        i = (cumulative[:, 1:-1] < target[:, None]).sum(axis=1)
        left, right = breaks[self.rows, i], breaks[self.rows, i + 1]
        middle = (left + right) / 2
        panel, _ = panels.locate(middle)
        half = panels.half_widths[panel]

        # f_k at the nodes of that panel, with the signs it has on (left, right)
        signs = np.sign(self.points - middle[:, None])
        kinked = (c @ signs[:, :, None])[:, None, :, 0] @ self.panel_phi[panel]
        f = self.h.reshape(self.size, -1, NODES)[self.rows, panel] + kinked[:, 0]

        low = (left - panels.edges[panel]) / half - 1
        high = (right - panels.edges[panel]) / half - 1
        goal = (target - cumulative[self.rows, i]) / half + (integrated(low) * f).sum(axis=1)
        t = (low + high) / 2
        for _ in range(NEWTON_STEPS):  # safeguarded Newton
            value, integral = interpolation(t)
            excess = (integral * f).sum(axis=1) - goal
            low, high = np.where(excess < 0, t, low), np.where(excess < 0, high, t)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = t - excess / (value * f).sum(axis=1)
            following = np.where((low <= step) & (step <= high), step, (low + high) / 2)
            moved = np.abs(following - t).max()
            t = following
            if moved < CONVERGED:
                break
        return panel, t

    def draw(self, uniform: Vector) -> None:
        """Draw the next point of every chain, by inversion of one uniform each, and condition on it."""
        ensemble, k = self.ensemble, self.drawn
        n, d, edges = ensemble.points, ensemble.order, len(ensemble.panels.edges)
        panel, t = self._invert(-self.mu[:, :n, d : d + k], uniform)
        half = ensemble.panels.half_widths[panel]
        point = ensemble.panels.edges[panel] + half * (1 + t)
        values = self.panel_phi[panel]
        value, integral = interpolation(t)
        phi = (values @ value[:, :, None])[:, :, 0]
        weights = integral * half[:, None]
        g = ensemble.g_edges.T[panel] + (values @ weights[:, :, None])[:, :, 0]

        infinity = np.ones((self.size, d - n))
        b = np.concatenate([ensemble.totals - 2 * g, infinity, np.sign(self.points - point[:, None])], axis=1)
        mu = self.mu[:, : d + k, : d + k]
        c1 = (mu[:, :, :n] @ phi[:, :, None])[:, :, 0]
        c2 = (mu @ b[:, :, None])[:, :, 0]
        intensity = -(phi * c2[:, :n]).sum(axis=1)
        scaled = c2 / intensity[:, None]

        self.h -= (c1[:, :n] @ self.phi) * (scaled[:, :d] @ self.features)
        self.h += (scaled[:, :n] @ self.phi) * (c1[:, :d] @ self.features)
        c1 = np.concatenate([c1, np.zeros((self.size, 1))], axis=1)
        scaled = np.concatenate([scaled, 1 / intensity[:, None]], axis=1)
        update = c1[:, :, None] * scaled[:, None, :]
        self.mu[:, : d + k + 1, : d + k + 1] += update - np.swapaxes(update, 1, 2)

        self.breaks[:, edges + k] = point
        self.g_breaks[:, :, edges + k] = g
        self.panel_of[:, k], self.integration_of[:, k] = panel, weights
        with np.errstate(invalid="ignore"):
            self.log_intensity += np.log(intensity)
        self.drawn += 1


def discrepancy(ensemble: PfaffianEnsemble, points: Matrix, log_intensity: Vector) -> Vector:
    """|Σ_k ln f_k(p_k) − ln(N! × joint density)| for every sample: zero but for rounding."""
    expected = ensemble.log_density(points) + math.lgamma(ensemble.points + 1)
    return np.abs(log_intensity - expected)


def sample_points(ensemble: PfaffianEnsemble, size: int, rng: np.random.Generator) -> Matrix:
    """Draw `size` independent N-tuples, each in exchangeable (random) order: (size, N).

    Raises
    ------
    ArithmeticError : a draw fails its self-certificate. This depends on the noise alone.
    """
    block = max(1, min(512, BLOCK_ENTRIES // (ensemble.order + ensemble.points) ** 2))
    drawn = []
    for start in range(0, size, block):
        chain = _Chain(ensemble, min(block, size - start))
        for _ in range(ensemble.points):
            chain.draw(rng.random(chain.size))
        error = discrepancy(ensemble, chain.points, chain.log_intensity)
        if not (error < CERTIFICATE_TOLERANCE).all():
            raise ArithmeticError(
                f"exact sampler: log-density discrepancy {np.max(error):.1e} in dimension "
                f"{ensemble.points} is above {CERTIFICATE_TOLERANCE:.0e}"
            )
        drawn.append(chain.points.copy())
    return np.concatenate(drawn) if drawn else np.empty((0, ensemble.points))
