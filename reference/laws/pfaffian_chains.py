"""Run the sampler of `pfaffian_sampler` for many samples at once, in O(N³) steps for each.

S independent samples are drawn together, and the first axis of every array is the sample. For the same uniform numbers,
a sample equals that of `draw_points` up to rounding. For speed, three quantities are computed differently than in
`pfaffian_sampler`. The symbols are those of `pfaffian_sampler`.

THE INVERSE μ of the bordered matrix is not formed: it is A^{−1} plus one change of rank two for every point drawn. With
c = c₁ and v = c₂/f_k(p), μ = A^{−1} + Σ_p (c vᵀ − v cᵀ).

THE INTENSITY f_k is not stored. It is

    f_k(x) = h(x) − φ(x)·y,

where the vector y has the first N entries of μ (0, sgn(q_1 − x), …, sgn(q_k − x)). Only the function h is stored, at
the nodes of the panels. The function h does not contain the signs sgn(q − x), so it is analytic inside every panel. At
the start, before a point is drawn, h is ρ₁.

A new point p changes f_k by −α v·b + β c·b, where α = φ·c and β = φ·v. Let A(x) and B(x) be the integrals of α and β
from −∞ to x. Let e_c and e_v be the products of E(−∞) with the first D entries of c and of v. As E = τ − 2G, the change
of h is

    Δh = −α (e_v − 2B) + β (e_c − 2A).

THE DISTRIBUTION FUNCTION F_k is stored at the breakpoints. The new point p changes F_k at a breakpoint x by two
integrals from −∞ to x. The first integral is that of Δh, and is computed by quadrature. The second integral is that of
the function Σ_q (c_q β(t) − v_q α(t)) sgn(q − t) of t. The sum is over all points q drawn so far, including p. Here c_q
and v_q are the entries of c and v at the border b(q). The second integral has a closed form, because for α, and equally
for β and B,

    ∫_{−∞}^x sgn(q − t) α(t) dt = A(x) if x ≤ q, and 2A(q) − A(x) if x > q.

If the breakpoints are sorted, the sums over q < x are running sums.

THE LIMIT. Most of the time is spent on one matrix product: for one sample, φ at all nodes is multiplied by c and v, N
times. There are 14 N nodes for large N, and 21 N at N = 100, so the products take 60 N³ to 80 N³ operations. Two QR
factorisations and a matrix product take about 7 N³ operations, which is about a ninth of the operations for the
products with φ. A draw also needs other operations on arrays with an entry for every node. As a whole, a draw was
measured to take about 15 times as long as two QR factorisations and a matrix product, at N = 50 and 100
(tests/benchmarks). Even a small N needs many nodes, because the panels extend until less than 1e-20 of the mass is left
beyond them: 288 nodes for N = 2.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from covassay.reference.domain import Array, Matrix, Vector
from covassay.reference.laws.panels import (
    NODES,
    ORDERS,
    REFERENCE_NODES,
    chebyshev,
    expansion,
    integrals_over,
    integrals_to_nodes,
    interpolation,
)
from covassay.reference.laws.pfaffian_ensemble import PfaffianEnsemble

# The rounding error of the sum of ln f_k grows with N, because conditioning divides by f_k, which can be small.
# The largest error seen was 4e-10 at N = 20, 3e-9 at N = 100 and 5e-7 at N = 300.
# A real fault, such as a kernel off by 1/1000, causes a far larger error.
CERTIFICATE_TOLERANCE = 1e-6
# Samples are drawn in blocks of at most 512, since longer arrays are no faster.
# A block has at most 2^22 entries of the vectors c and v (32 MB).
# One block after the other takes its random numbers from the generator, so the size of the blocks determines for which
# sample a random number is used. With other sizes, the same seed would therefore give other samples.
BLOCK_SAMPLES = 512
BLOCK_ENTRIES = 2**22
# Newton's method stops when no t ∈ [−1, 1] of the block moves by more than 1e-10.
# The remaining error is about the square of the last step.
# Bisection alone would find t to 1e-14 in log₂(2/1e-14) = 48 steps. NEWTON_STEPS is the largest number of steps.
CONVERGED = 1e-10
NEWTON_STEPS = 100


class Place(NamedTuple):
    """One point in each of S samples, with the values at this point that the formulas need."""

    x: Vector  # (S,)
    panel: NDArray[np.intp]  # the panel that holds x, (S,)
    integration: Matrix  # (S, m), the weights of ∫ from the left edge of that panel to x, in its variable t
    phi: Matrix  # (S, N), φ(x)
    g: Matrix  # (S, N), G(x)


def place_at(ensemble: PfaffianEnsemble, panel: NDArray[np.intp], phi: Array, t: Vector) -> Place:
    """Return the point with variable t ∈ [−1, 1] in the given panel, for every sample, where `panel` and `t` have shape
    (S,).

    phi : the values of φ at the nodes of the panel, (S, N, m).
    """
    half = ensemble.panels.half_widths[panel]
    x = ensemble.panels.edges[panel] + half * (1 + t)
    value, integration = interpolation(t)
    at_x, within = ((phi @ weights[:, :, None])[:, :, 0] for weights in (value, integration))
    return Place(x, panel, integration, at_x, ensemble.g_edges.T[panel] + half[:, None] * within)


@np.errstate(divide="ignore", invalid="ignore")  # if f is 0 at a point, no Newton step is made from it
def invert_on_panel(f: Matrix, low: Vector, high: Vector, goal: Vector) -> Vector:
    """Return the t in [low, high] for which ∫_low^t f equals `goal`, by Newton's method inside a shrinking interval.

    The array f (S, m) holds the values of a function at the nodes of one panel, for each sample. The variable t ∈ [−1,
    1] is the variable of the panel. The function is non-negative on [low, high]. Its interpolating polynomial is
    therefore non-negative up to rounding. A Newton step that leaves the bracket is replaced by bisection. `low`,
    `high`, `goal` and the result have shape (S,).
    """
    value, integral = (np.ascontiguousarray(coefficients.T) for coefficients in expansion(f))
    goal = goal + np.einsum("ks,ks->s", chebyshev(low), integral)
    if len(f) == 1:
        return np.array([_inverted(value[:, 0], integral[:, 0], low.item(), high.item(), goal.item())])
    low, high = _between_nodes(integrals_to_nodes(f), low[:, None], high[:, None], goal[:, None])
    t = (low + high) / 2
    moving = np.arange(len(t))
    found = np.empty_like(t)
    for _ in range(NEWTON_STEPS):
        polynomials = chebyshev(t)
        excess = np.einsum("ks,ks->s", polynomials, integral) - goal
        below = excess < 0
        low, high = np.where(below, t, low), np.where(below, high, t)
        newton = t - excess / np.einsum("ks,ks->s", polynomials[:-1], value)
        found[moving] = new = np.where((low <= newton) & (newton <= high), newton, (low + high) / 2)
        on = np.abs(new - t) >= CONVERGED
        if not on.any():
            break
        t = new
        if not on.all():
            moving, t, low, high, goal = moving[on], t[on], low[on], high[on], goal[on]
            value, integral = value[:, on], integral[:, on]
    return found


def _between_nodes(at_nodes: Matrix, low: Matrix, high: Matrix, goal: Matrix) -> tuple[Vector, Vector]:
    """Return a smaller interval for every sample, which still contains the solution. The interval begins at the last
    node in [low, high] at which the integral of f is below `goal`, and ends at the first node at which the integral is
    at least `goal`. Without such a node, low or high remains the end.

    This first bracket saves Newton's method about three steps.

    at_nodes : the integral of f from −1 to every node, (S, m); `low`, `high` and `goal` have shape (S, 1).
    """
    inside, below = (low < REFERENCE_NODES) & (high > REFERENCE_NODES), at_nodes < goal
    left, right = np.where(inside & below, REFERENCE_NODES, low), np.where(inside & ~below, REFERENCE_NODES, high)
    return left.max(axis=1), right.min(axis=1)


def _inverted(value: Vector, integral: Vector, low: float, high: float, goal: float) -> float:
    """Return t for a single sample, by Newton's method on numbers. Newton's method on arrays takes more than twice as
    long.

    value, integral : Chebyshev coefficients of f and of its integral from −1, (m,) and (m + 1,).
    """
    t = (low + high) / 2
    for _ in range(NEWTON_STEPS):
        polynomials = np.cos(ORDERS * math.acos(min(max(t, -1.0), 1.0)))
        excess, slope = float(polynomials @ integral) - goal, float(polynomials[:-1] @ value)
        low, high = (t, high) if excess < 0 else (low, t)
        newton = t - excess / slope if slope else math.nan
        last, t = t, newton if low <= newton <= high else (low + high) / 2
        if not abs(t - last) >= CONVERGED:
            break
    return t


class Chains:
    """Run S samples of the chain rule together; every `draw` adds one point to each sample.

    Values at the nodes of a panel are multiplied by half its width, because integrals are over the variable t ∈ [−1, 1]
    of the panel. Breakpoints are the panel edges, followed by the k points drawn, B in all. The attribute `cumulative`
    (S, B) is F_k at the breakpoints; it is not updated after the last point is drawn. The attribute `log_intensity`
    (S,) is the sum of ln f_k(p_k) over the points drawn.
    """

    def __init__(self, ensemble: PfaffianEnsemble, size: int) -> None:
        n, d, edges = ensemble.points, ensemble.order, ensemble.panels.edges
        self.ensemble = ensemble
        self.size = size
        self.drawn = 0
        self.edges = len(edges)
        self.log_intensity = np.zeros(size)
        self._samples = np.arange(size)
        half = ensemble.panels.half_widths
        self._phi_nodes = (ensemble.phi * half[:, None]).reshape(n, -1)  # φ at all nodes, flattened to (N, nodes)
        self._x = np.tile(np.concatenate([edges, np.zeros(n)]), (size, 1))  # an array (S, B) with room for all points
        self._panel = np.zeros((size, n), dtype=np.intp)  # the panel of every point of the process
        self._integration = np.zeros((size, n, NODES))  # the weights of the integral from the left edge of the panel
        # the rows are the vector c of point 1, v of point 1, c of point 2, v of point 2, and so on
        self._changes = np.zeros((size, 2 * n, d + n))
        self._h = np.tile(ensemble.one_point_density * half[:, None], (size, 1, 1))  # h at the nodes, (S, panels, m)
        # the memory of the largest arrays is used again at every point, because allocating new arrays would be slower
        self._room = np.empty((2, 2, *self._h.shape))
        self.cumulative = np.tile(ensemble.one_point_integral, (size, 1))
        self._order = np.tile(np.arange(self.edges), (size, 1))  # the permutation that sorts the breakpoints, (S, B)

    @property
    def breakpoints(self) -> Matrix:
        """Return the panel edges followed by the points drawn, not sorted, (S, B)."""
        return self._x[:, : self.edges + self.drawn]

    @property
    def points(self) -> Matrix:
        """Return the points drawn so far, in the order in which they were drawn, (S, k)."""
        return self._x[:, self.edges : self.edges + self.drawn]

    def draw(self, uniform: Vector) -> None:
        """Draw the next point of every sample, and update the intensities. Every point is the solution x of F_k(x) = u
        F_k(∞). The array `uniform` (S,) has one random number u for every sample, uniform on [0, 1].
        """
        target = uniform * self.cumulative[:, self.edges - 1]
        place, products = self._quantile(target)
        changes = self._condition_on(place, products)
        self._x[:, self.edges + self.drawn] = place.x
        self._panel[:, self.drawn] = place.panel
        self._integration[:, self.drawn] = place.integration
        self._changes[:, 2 * self.drawn : 2 * self.drawn + 2, : changes.shape[2]] = changes
        self.drawn += 1
        if self.drawn < self.ensemble.points:
            self.cumulative = np.concatenate([self.cumulative, target[:, None]], axis=1)
            self._order = np.argsort(self.breakpoints, axis=1)
            self._change_intensity(changes)

    def _quantile(self, target: Vector) -> tuple[Place, Array]:
        """Solve F_k(x) = target.

        The method returns the solutions x as a `Place`. It also returns the products c·w and v·w, (S, 1, 2k), where c
        and v are the vectors of every point drawn before. The vector w is (0, …, 0, sgn(q_1 − x), …, sgn(q_k − x)).
        """
        panels = self.ensemble.panels
        left, right, below = self._smooth_interval(target)
        middle = (left + right) / 2
        panel = panels.holding(middle)
        phi, half = self.ensemble.phi_by_panel[panel], panels.half_widths[panel]
        # f_k with all signs fixed at their values in the middle of the interval, which is analytic on the whole panel
        products = self._products(np.sign(self.points - middle[:, None])[:, None, :], self.ensemble.order)
        y = self._changed(products, self.ensemble.points)
        f = self._h[self._samples, panel] - (y @ phi)[:, 0] * half[:, None]
        low, high = ((x - panels.edges[panel]) / half - 1 for x in (left, right))
        return place_at(self.ensemble, panel, phi, invert_on_panel(f, low, high, target - below)), products

    def _smooth_interval(self, target: Vector) -> tuple[Vector, Vector, Vector]:
        """Return the neighbouring breakpoints `left` and `right` with F_k(left) ≤ target ≤ F_k(right), and F_k(left),
        (S,) each.
        """
        s = self._samples
        cumulative = self.cumulative[s[:, None], self._order]
        i = (cumulative[:, 1:-1] < target[:, None]).sum(axis=1)
        return self._x[s, self._order[s, i]], self._x[s, self._order[s, i + 1]], cumulative[s, i]

    def _products(self, w: Array, start: int = 0) -> Array:
        """Return the dot products of the rows of w with all vectors c and v. The argument `w` has the entries from the
        position `start` on; all other entries are 0.
        """
        part = self._changes[:, : 2 * self.drawn, start : start + w.shape[2]]
        products: Array = w @ np.swapaxes(part, 1, 2)
        return products

    def _changed(self, products: Array, size: int) -> Array:
        """Return the first `size` entries of (μ − A^{−1}) w, given the dot products c·w and v·w, (S, rows, 2k) -> (S,
        rows, size).
        """
        swapped = np.empty_like(products)  # c (v·w) − v (c·w)
        swapped[:, :, 0::2], swapped[:, :, 1::2] = products[:, :, 1::2], -products[:, :, 0::2]
        changed: Array = swapped @ self._changes[:, : 2 * self.drawn, :size]
        return changed

    def _condition_on(self, place: Place, products_of_signs: Array) -> Array:
        """Return the vectors c and v that belong to the new points `place`, (S, 2, D + k + 1)."""
        n, d = self.ensemble.points, self.ensemble.order
        # the vectors a(x) and b(x) at the new point x, without the entries of b(x) that are signs
        borders = np.zeros((self.size, 2, d))
        borders[:, 0, :n] = place.phi
        borders[:, 1, :n] = self.ensemble.totals - 2 * place.g
        borders[:, 1, n:] = 1.0
        products = self._products(borders)
        products[:, 1:] += products_of_signs
        mu_borders = self._changed(products, d + self.drawn)
        mu_borders[:, :, :d] += (borders.reshape(-1, d) @ self.ensemble.kernel.T).reshape(-1, 2, d)
        intensity = -np.einsum("sn,sn->s", place.phi, mu_borders[:, 1, :n])
        with np.errstate(invalid="ignore"):  # a negative intensity becomes NaN, which the certificate rejects
            self.log_intensity += np.log(intensity)
        changes = np.zeros((self.size, 2, d + self.drawn + 1))
        changes[:, :, :-1] = mu_borders
        changes[:, 1, -1] = 1.0
        changes[:, 1] /= intensity[:, None]
        return changes

    def _change_intensity(self, changes: Array) -> None:
        """Update h at the nodes and F at the breakpoints from f_k to f_{k+1}, given c and v in `changes`."""
        n, d = self.ensemble.points, self.ensemble.order
        # Δh is computed as 2α (B − e_v/2) − β (2A − 2e_c/2).
        # In this form only c is multiplied by 2, and not the longer arrays of values at the nodes.
        both = np.swapaxes(changes, 0, 1) * np.array([2.0, 1.0])[:, None, None]  # 2c and v
        rates, features = self._room
        np.matmul(both[:, :, :n].reshape(-1, n), self._phi_nodes, out=rates.reshape(2 * self.size, -1))  # 2α and β
        at_edges = self._at_edges(rates)  # 2A and B
        at_minus_infinity = both[:, :, :n] @ self.ensemble.totals + both[:, :, n:d].sum(axis=2)  # 2e_c and e_v
        integrals_to_nodes(rates, out=features)
        features += (at_edges[:, :, :-1] - at_minus_infinity[:, :, None] / 2)[:, :, :, None]  # −E·c and −E·v/2
        features *= rates[::-1]
        change = np.subtract(features[1], features[0], out=features[0])
        self._h += change
        integrals = self._at_breakpoints(rates, at_edges)
        self.cumulative += self._at_breakpoints(change, self._at_edges(change))
        weights = both[::-1, :, d:] * np.array([-0.5, 0.5])[:, None, None]  # −v/2 and c
        self.cumulative += self._signed_integral(weights, integrals)

    def _at_edges(self, values: Array) -> Array:
        """Return the integrals from −∞ to every panel edge, (…, panels + 1), of a function with the given values at the
        nodes, (…, panels, m).
        """
        integrals = np.zeros((*values.shape[:-2], self.edges))
        np.cumsum(integrals_over(values), axis=-1, out=integrals[..., 1:])
        return integrals

    def _at_breakpoints(self, values: Array, at_edges: Array) -> Array:
        """Return the integrals from −∞ to every breakpoint, (…, S, B), of a function with the given values at the
        nodes, (…, S, panels, m).
        """
        panel = self._panel[:, : self.drawn]
        sample = self._samples[:, None]
        within = np.einsum("skm,...skm->...sk", self._integration[:, : self.drawn], values[..., sample, panel, :])
        return np.concatenate([at_edges, at_edges[..., sample, panel] + within], axis=-1)

    def _signed_integral(self, weights: Array, integrals: Array) -> Matrix:
        """Return the integral ∫_{−∞}^x Σ_i Σ_q w_iq sgn(q − t) α_i(t) dt at every breakpoint x, (S, B). The sums are
        over i = 1 and 2, and over all points q drawn.

        weights : w, (2, S, k).
        integrals : of α_1 and α_2 from −∞ to the breakpoints, (2, S, B).
        """
        sorted_places = self._samples[:, None], self._order
        w = np.concatenate([np.zeros((*weights.shape[:-1], self.edges)), weights], axis=-1)
        both = np.arange(2)[:, None, None]
        w, a = (values[both, *sorted_places] for values in (w, integrals))
        beyond = w.sum(axis=-1, keepdims=True) - 2 * np.cumsum(w, axis=-1)  # Σ_q w_q sgn(q − x)
        signed = np.empty_like(self.cumulative)
        sorted_sum = (a * beyond).sum(axis=0) + 2 * np.cumsum((w * a).sum(axis=0), axis=-1)
        signed[sorted_places] = sorted_sum
        return signed


def discrepancy(ensemble: PfaffianEnsemble, points: Matrix, log_intensity: Vector) -> Vector:
    """Return the discrepancy |Σ_k ln f_k(p_k) − ln ρ_N| of every sample, which is 0 up to rounding, (S, N) and (S,) ->
    (S,).

    ρ_N is N! times the joint density.
    """
    expected = ensemble.log_density(points) + math.lgamma(ensemble.points + 1)
    return np.abs(log_intensity - expected)


def sample_points(ensemble: PfaffianEnsemble, size: int, rng: np.random.Generator) -> Matrix:
    """Draw `size` independent N-tuples, each in exchangeable (random) order, (size, N).

    Raises
    ------
    ArithmeticError : a draw fails its certificate, that is, its `discrepancy` is not below `CERTIFICATE_TOLERANCE`.
        Whether a certificate fails depends on the noise alone, never on data.
    """
    block = max(1, min(BLOCK_SAMPLES, BLOCK_ENTRIES // (ensemble.order + ensemble.points) ** 2))
    drawn = []
    for start in range(0, size, block):
        uniforms = np.empty((ensemble.points, min(block, size - start)))
        for row in uniforms:
            row[:] = rng.random(len(row))
        drawn.append(_points_at(ensemble, uniforms.tobytes()))
    return np.concatenate(drawn) if drawn else np.empty((0, ensemble.points))


@lru_cache(maxsize=8)  # draws are stored, because a seed is often used again on other data, and a draw takes long
def _points_at(ensemble: PfaffianEnsemble, uniforms: bytes) -> Matrix:
    """Return the points of a block, from its uniforms, (N, S) -> (S, N)."""
    rows = np.frombuffer(uniforms).reshape(ensemble.points, -1)
    chains = Chains(ensemble, rows.shape[1])
    for uniform in rows:
        chains.draw(uniform)
    error = discrepancy(ensemble, chains.points, chains.log_intensity)
    if not (error < CERTIFICATE_TOLERANCE).all():
        raise ArithmeticError(
            f"exact sampler: log-density discrepancy {np.max(error):.1e} in dimension "
            f"{ensemble.points} is above {CERTIFICATE_TOLERANCE:.0e}"
        )
    return chains.points.copy()
