"""Exact sampling from a Pfaffian ensemble, one point at a time: the Pfaffian chain rule.

THE LAW. N points with the joint density |det φ_j(x_i)| / (N! Pf A) of `pfaffian_ensemble`, with N basis functions
φ = (φ_1, …, φ_N), in exchangeable (random) order. As in that file, G is the antiderivative of φ, τ = G(∞),
Eφ(x) = ∫ sgn(t − x) φ(t) dt = τ − 2G(x), and A_jk = ∫ φ_j Eφ_k. For odd N there is one more basis function: φ = 0 and
Eφ = 1 at every finite x. With it A becomes [[A, τ], [−τᵀ, 0]]. D is the size of A. The line is cut into panels, each
with the m nodes of a Gauss–Legendre quadrature.

THE ALGORITHM is the chain rule of probability: draw the first point from its marginal law, then every further point
from its law given the points already drawn. There is no Markov chain to converge, and no step is approximate beyond
rounding (see the end). Let ρ_k(q_1, …, q_k) be N!/(N − k)! times the joint density of k of the points. Given q_1, …,
q_k, the next point has the density f_k(x)/(N − k), where the conditional intensity

    f_k(x) = ρ_{k+1}(q_1, …, q_k, x) / ρ_k(q_1, …, q_k)

integrates to N − k. With k points held fixed, de Bruijn's formula says ρ_k = |Pf M_k / Pf A|. M_k is A bordered
by two columns for every point q that was drawn, a(q) and −b(q), and by their negatives as rows. For one point it is

    M_1 = [[A, a, −b], [−aᵀ, 0, 0], [bᵀ, 0, 0]].

For the (k + 1)-th point x, the entries of the two new columns in the rows of the k earlier a(q_j) are 0. In the rows of
the D basis functions, and then of the k earlier b(q_j), they are

    a(x) = (φ(x), 0, …, 0),   b(x) = (E(x), sgn(q_1 − x), …, sgn(q_k − x)),   E(x) = (Eφ(x), [1 if N is odd]).

So f_k(x) is a ratio of two Pfaffians; the matrix in the numerator has one more pair of rows and columns. A Schur
complement evaluates it:

    f_k(x) = −a(x)ᵀ μ b(x).

Here μ, of size D + k, holds the entries of M_k^{−1} at the D basis functions and at the k borders b(q). The entries of
M_k^{−1} at the borders a(q) are not needed: a(x) and b(x) of a later point x are 0 there. μ starts as A^{−1}. The same
Schur complement conditions μ on a new point p, which is an update of rank two:

    c₁ = μ a(p),  c₂ = μ b(p),  f_k(p) = −a(p)ᵀ c₂;    append 0 to c₁, 1 to c₂, and a zero row and column to μ;
    μ ← μ + (c₁ c₂ᵀ − c₂ c₁ᵀ) / f_k(p).

TO DRAW FROM f_k, solve F_k(x) = u F_k(∞), with F_k(x) = ∫_{−∞}^x f_k and u uniform on [0, 1]. Points are not restricted
to the nodes of the panels, because F_k is known at every x up to rounding. Write C_q = −μ[:N, q] for the column of
the point q. Then

    f_k(x) = h(x) + Σ_q sgn(q − x) φ(x)·C_q,     h(x) = −φ(x)ᵀ μ[:N, :D] E(x).

h is analytic inside every panel, so Gauss–Legendre quadrature integrates it up to rounding. The sum over q has a jump
at every earlier point q, but its integral has a closed form in G, the antiderivative of φ:

    ∫_{−∞}^x sgn(q − t) φ(t)·C_q dt = G(x)·C_q if x ≤ q, and 2 G(q)·C_q − G(x)·C_q if x > q.

Call the panel edges and the earlier points "breakpoints". F_k is evaluated at all of them, which finds the interval
between two neighbouring breakpoints that holds the quantile. On that interval all signs are constant and f_k is
analytic; Newton's method inverts the exact integral of its interpolating polynomial.

THE CERTIFICATE. The sum over k of ln f_k at the point drawn from it must equal ln ρ_N, which has its own product
formula. Every draw is checked. The check depends on the noise alone, never on data. It tests μ and its updates at the
points drawn. It cannot see how the points were drawn (h, F_k and the inversion): the statistical tests of the law do
that.

"Exact" means up to float64 rounding; also, points outside all panels, of probability below 1e-20, are never drawn.
The time per sample is O(N⁴), with a small constant, and is spent on the closed form above; memory is O(N²).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws.panels import NODES, integrated, interpolation
from covassay.reference.laws.pfaffian_ensemble import PfaffianEnsemble

# Rounding of the sum of ln f_k grows with N: f_k is small near an earlier point, and conditioning divides by it. The
# largest error seen was 1e-11 at N = 20, 3e-9 at N = 100 and 5e-7 at N = 300. A real fault, such as a kernel off by
# 1/1000, is far larger.
CERTIFICATE_TOLERANCE = 1e-6
# Samples are drawn in blocks: at most 512 at a time, since longer arrays are no faster, and at most 2^20 entries of μ
# (8 MB). The block decides which uniform goes to which point, so other values would change the draws of a given seed.
BLOCK_SAMPLES = 512
BLOCK_ENTRIES = 2**20
# Newton stops when no t ∈ [−1, 1] of the block moves by more than 1e-14. Where f_k is small, rounding of its integral
# alone moves t by a few times that, and NEWTON_STEPS ends the loop. Bisection would need log₂(2/1e-14) = 48 steps.
CONVERGED = 1e-14
NEWTON_STEPS = 100


class Place(NamedTuple):
    """One point of every sample (S of them), with the values that the formulas need there."""

    x: Vector  # (S,)
    panel: NDArray[np.intp]  # (S,), the panel that holds x
    integration: Matrix  # (S, m), the weights of ∫ from the left edge of that panel to x
    phi: Matrix  # (S, N), φ(x)
    g: Matrix  # (S, N), G(x)


def place_at(ensemble: PfaffianEnsemble, panel: NDArray[np.intp], t: Vector) -> Place:
    """The point with variable t ∈ [−1, 1] in the given panel, for every sample: `panel` and `t` have shape (S,)."""
    half = ensemble.panels.half_widths[panel]
    x = ensemble.panels.edges[panel] + half * (1 + t)
    phi_nodes = ensemble.phi_by_panel[panel]
    value, integral = interpolation(t)
    phi = (phi_nodes @ value[:, :, None])[:, :, 0]
    integration = integral * half[:, None]
    g = ensemble.g_edges.T[panel] + (phi_nodes @ integration[:, :, None])[:, :, 0]
    return Place(x, panel, integration, phi, g)


class Breakpoints:
    """Where f_k may fail to be analytic: the panel edges, followed by the points drawn so far. B in all, S samples."""

    def __init__(self, ensemble: PfaffianEnsemble, size: int) -> None:
        edges, n = ensemble.panels.edges, ensemble.points
        self.panels = ensemble.panels
        self.edges = len(edges)
        self.drawn = 0
        self.samples = np.arange(size)
        self._x = np.zeros((size, self.edges + n))
        self._x[:, : self.edges] = edges
        self._g = np.zeros((size, n, self.edges + n))
        self._g[:, :, : self.edges] = ensemble.g_edges
        self._panel = np.zeros((size, n), dtype=np.intp)
        self._integration = np.zeros((size, n, NODES))

    @property
    def x(self) -> Matrix:
        """All breakpoints, not sorted: (S, B)."""
        return self._x[:, : self.edges + self.drawn]

    @property
    def points(self) -> Matrix:
        """The points drawn so far, in the order in which they were drawn: (S, k)."""
        return self._x[:, self.edges : self.edges + self.drawn]

    def append(self, place: Place) -> None:
        """Enter the point that was drawn next."""
        self._x[:, self.edges + self.drawn] = place.x
        self._g[:, :, self.edges + self.drawn] = place.g
        self._panel[:, self.drawn] = place.panel
        self._integration[:, self.drawn] = place.integration
        self.drawn += 1

    def smooth_integral(self, h: Matrix) -> Matrix:
        """∫_{−∞}^x h at every breakpoint x, by quadrature: values of h at the nodes (S, panels, m) -> (S, B)."""
        totals = (h * self.panels.weights).sum(axis=2)
        at_edges = np.concatenate([np.zeros((len(h), 1)), np.cumsum(totals, axis=1)], axis=1)
        sample, panel = self.samples[:, None], self._panel[:, : self.drawn]
        within = (self._integration[:, : self.drawn] * h[sample, panel]).sum(axis=2)
        return np.concatenate([at_edges, at_edges[sample, panel] + within], axis=1)

    def signed_integral(self, c: Matrix) -> Matrix:
        """∫_{−∞}^x Σ_q sgn(q − t) φ(t)·C_q dt at every breakpoint x, in closed form: C (S, N, k) -> (S, B)."""
        k = self.drawn
        at_x = np.swapaxes(self._g[:, :, : self.edges + k], 1, 2) @ c  # G(x)·C_q, (S, B, k)
        at_q = at_x[:, self.edges + np.arange(k), np.arange(k)][:, None, :]  # G(q)·C_q, (S, 1, k)
        beyond = self.x[:, :, None] > self.points[:, None, :]
        integral: Matrix = np.where(beyond, 2 * at_q - at_x, at_x).sum(axis=2)
        return integral


def invert_on_panel(f: Matrix, low: Vector, high: Vector, goal: Vector) -> Vector:
    """The t in [low, high] with ∫_{−1}^t f = goal, by Newton's method inside a bracket that shrinks.

    f (S, m) holds the values at the nodes of one panel, in the panel's variable t ∈ [−1, 1]; it is non-negative on
    [low, high], and so is its interpolating polynomial up to rounding. A Newton step that leaves the bracket is
    replaced by bisection. `low`, `high`, `goal` and the result have shape (S,).
    """
    t = (low + high) / 2
    for _ in range(NEWTON_STEPS):
        value, integral = interpolation(t)
        excess = (integral * f).sum(axis=1) - goal
        low, high = np.where(excess < 0, t, low), np.where(excess < 0, high, t)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = t - excess / (value * f).sum(axis=1)
        following = np.where((low <= newton) & (newton <= high), newton, (low + high) / 2)
        moved = np.abs(following - t).max()
        t = following
        if moved < CONVERGED:
            break
    return t


class Chains:
    """S independent runs of the chain rule, side by side: every `draw` adds one point to each.

    The first axis of every array is the sample. `log_intensity` (S,) is Σ ln f_k(p_k) over the points drawn.
    """

    def __init__(self, ensemble: PfaffianEnsemble, size: int) -> None:
        n, d = ensemble.points, ensemble.order
        self.ensemble = ensemble
        self.size = size
        self.breakpoints = Breakpoints(ensemble, size)
        self.log_intensity = np.zeros(size)
        self._phi_nodes = ensemble.phi.reshape(n, -1)  # φ and E at all nodes, flat: (N, nodes) and (D, nodes)
        self._e_nodes = ensemble.e_nodes.reshape(d, -1)
        self._mu = np.zeros((size, d + n, d + n))  # room for μ after the last point; the rest is zero
        self._mu[:, :d, :d] = ensemble.kernel
        self._h_flat = np.tile(ensemble.one_point_density.ravel(), (size, 1))  # no point is drawn yet, so h = f_0 = ρ₁

    @property
    def points(self) -> Matrix:
        """The points drawn so far, (S, k)."""
        return self.breakpoints.points

    @property
    def _h(self) -> Matrix:
        """The analytic part h of f_k at the nodes, (S, panels, m)."""
        return self._h_flat.reshape(self.size, -1, NODES)

    def draw(self, uniform: Vector) -> None:
        """Draw the next point of every sample by inversion of one uniform each, `uniform` (S,), and condition on it."""
        place = place_at(self.ensemble, *self._quantile(uniform))
        self._condition_on(place)
        self.breakpoints.append(place)

    def _quantile(self, uniform: Vector) -> tuple[NDArray[np.intp], Vector]:
        """The x with F_k(x) = uniform × F_k(∞): its panel and its variable t ∈ [−1, 1] there, (S,) each."""
        n, d, panels = self.ensemble.points, self.ensemble.order, self.ensemble.panels
        c = -self._mu[:, :n, d : d + self.breakpoints.drawn]  # C_q in columns
        left, right, remaining = self._smooth_interval(c, uniform)
        middle = (left + right) / 2
        panel, _ = panels.locate(middle)
        half = panels.half_widths[panel]
        f = self._intensity_at_nodes(c, panel, middle)
        low = (left - panels.edges[panel]) / half - 1
        high = (right - panels.edges[panel]) / half - 1
        goal = remaining / half + (integrated(low) * f).sum(axis=1)
        return panel, invert_on_panel(f, low, high, goal)

    def _smooth_interval(self, c: Matrix, uniform: Vector) -> tuple[Vector, Vector, Vector]:
        """The neighbouring breakpoints around the quantile, and the integral of f_k from the left one to it: (S,) each.

        That is, left and right with F_k(left) ≤ uniform × F_k(∞) ≤ F_k(right), and uniform × F_k(∞) − F_k(left).
        """
        x = self.breakpoints.x
        cumulative = self.breakpoints.smooth_integral(self._h) + self.breakpoints.signed_integral(c)  # F_k
        order = np.argsort(x, axis=1)
        x = np.take_along_axis(x, order, axis=1)
        cumulative = np.take_along_axis(cumulative, order, axis=1)
        target = uniform * cumulative[:, -1]
        i = (cumulative[:, 1:-1] < target[:, None]).sum(axis=1)
        sample = self.breakpoints.samples
        return x[sample, i], x[sample, i + 1], target - cumulative[sample, i]

    def _intensity_at_nodes(self, c: Matrix, panel: NDArray[np.intp], middle: Vector) -> Matrix:
        """f_k at the nodes of one panel, with every sign sgn(q − x) taken at x = middle: (S, m).

        These are values of the analytic branch of f_k that holds between the breakpoints around `middle`, continued
        over the whole panel.
        """
        signs = np.sign(self.points - middle[:, None])
        signed = (c @ signs[:, :, None])[:, None, :, 0] @ self.ensemble.phi_by_panel[panel]
        values: Matrix = self._h[self.breakpoints.samples, panel] + signed[:, 0]
        return values

    def _condition_on(self, place: Place) -> None:
        """Replace f_k by f_{k+1}: the update of rank two of μ, and the same update of h at the nodes."""
        n, d = self.ensemble.points, self.ensemble.order
        size = d + self.breakpoints.drawn
        mu = self._mu[:, :size, :size]
        c1 = (mu[:, :, :n] @ place.phi[:, :, None])[:, :, 0]  # μ a(p); a is zero beyond φ
        c2 = (mu @ self._b(place)[:, :, None])[:, :, 0]
        intensity = -(place.phi * c2[:, :n]).sum(axis=1)
        scaled = c2 / intensity[:, None]

        # h = −φᵀ μ[:N, :D] E, with the change of μ put in
        self._h_flat -= (c1[:, :n] @ self._phi_nodes) * (scaled[:, :d] @ self._e_nodes)
        self._h_flat += (scaled[:, :n] @ self._phi_nodes) * (c1[:, :d] @ self._e_nodes)

        c1 = np.concatenate([c1, np.zeros((self.size, 1))], axis=1)
        scaled = np.concatenate([scaled, 1 / intensity[:, None]], axis=1)
        update = c1[:, :, None] * scaled[:, None, :]
        self._mu[:, : size + 1, : size + 1] += update - np.swapaxes(update, 1, 2)
        with np.errstate(invalid="ignore"):  # a negative intensity becomes NaN, which the certificate rejects
            self.log_intensity += np.log(intensity)

    def _b(self, place: Place) -> Matrix:
        """b(p) = (τ − 2G(p), [1 if N is odd], sgn(q_1 − p), …, sgn(q_k − p)): (S, D + k)."""
        at_infinity = np.ones((self.size, self.ensemble.order - self.ensemble.points))
        signs = np.sign(self.points - place.x[:, None])
        return np.concatenate([self.ensemble.totals - 2 * place.g, at_infinity, signs], axis=1)


def discrepancy(ensemble: PfaffianEnsemble, points: Matrix, log_intensity: Vector) -> Vector:
    """The certificate |Σ_k ln f_k(p_k) − ln ρ_N| of every sample, 0 up to rounding: (S, N) and (S,) -> (S,).

    ρ_N is N! times the joint density.
    """
    expected = ensemble.log_density(points) + math.lgamma(ensemble.points + 1)
    return np.abs(log_intensity - expected)


def sample_points(ensemble: PfaffianEnsemble, size: int, rng: np.random.Generator) -> Matrix:
    """Draw `size` independent N-tuples, each in exchangeable (random) order: (size, N).

    Raises
    ------
    ArithmeticError : a draw fails its certificate. Whether this happens depends on the noise alone, never on data.
    """
    block = max(1, min(BLOCK_SAMPLES, BLOCK_ENTRIES // (ensemble.order + ensemble.points) ** 2))
    drawn = []
    for start in range(0, size, block):
        chains = Chains(ensemble, min(block, size - start))
        for _ in range(ensemble.points):
            chains.draw(rng.random(chains.size))
        error = discrepancy(ensemble, chains.points, chains.log_intensity)
        if not (error < CERTIFICATE_TOLERANCE).all():
            raise ArithmeticError(
                f"exact sampler: log-density discrepancy {np.max(error):.1e} in dimension "
                f"{ensemble.points} is above {CERTIFICATE_TOLERANCE:.0e}"
            )
        drawn.append(chains.points.copy())
    return np.concatenate(drawn) if drawn else np.empty((0, ensemble.points))
