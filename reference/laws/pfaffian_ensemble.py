r"""The Pfaffian ensemble behind nuclear-Laplace noise: N points with an exactly known joint law.

The singular values of a d × d matrix with density ∝ exp(−‖Z‖_*), and the eigenvalues of a symmetric
one, in exchangeable (random) order have the density

    half line:  ∏_{i<j} |x_i² − x_j²| exp(−Σ x_i),   x_i > 0        (singular values)
    full line:  ∏_{i<j} |x_i − x_j| exp(−Σ |x_i|),   x_i real       (eigenvalues)

up to a constant. Both are |det φ_j(x_i)| / (N! Pf A), where φ_0, …, φ_{N−1} span the functions
m(x)^j e^{−|x|}, with m(x) = x² on the half line and m(x) = x on the full line, and (de Bruijn 1955)

    (Eφ)(x) = ∫ sgn(t − x) φ(t) dt,     A_jk = ∫ φ_j Eφ_k   (skew-symmetric).

With G_j(x) = ∫_{−∞}^x φ_j and the total integral τ = G(∞), Eφ = τ − 2G. For odd N one more feature,
"a point at +∞", with φ = 0 and Eφ = 1, borders A to [[A, τ], [−τᵀ, 0]]; nothing else changes.
With μ = A^{−1} (D × D, D = N rounded up to even):

    one-point density   ρ₁(x) = −φ(x)ᵀ μ E(x), whose integral is N;
    largest point       P(all |x_i| ≤ s) = Pf A(s) / Pf A = √det(1 − μ B(s)),  B(s) = A − A(s),

where A(s) is A with all integrals restricted to |x| ≤ s. B is formed from tails, so the probability
keeps its absolute accuracy near 1. Everything is float64: the basis is orthonormalised by
the discretised Stieltjes recurrence, for which all integrals are Gauss–Legendre sums.
"""

import math
from functools import cached_property, lru_cache

import numpy as np

from covassay.reference.domain import Matrix, Vector, require_dimension
from covassay.reference.errors import InvalidInput
from covassay.reference.laws.panels import Panels, integrated

PHASE = 8.0  # radians of the fastest basis function per panel


def _panels(points: int, half_line: bool) -> Panels:
    """Panels of about equal phase, out to where the mass beyond is below 1e-20.

    The points fill [0, πN] (half of that on each side of the full line) with the Ullman density, so
    the N-th basis function oscillates at the rate (2/π) arccosh(a/s); s/2 is added for e^{−s}.
    """
    bulk = math.pi * points if half_line else math.pi / 2 * points
    a = bulk + 27 * points ** (1 / 3) + 20
    s = np.linspace(0, a, 40 * math.ceil(a))
    with np.errstate(divide="ignore", invalid="ignore"):
        arccosh_part = np.where(s > 0, s * np.arccosh(a / s), 0.0)
    phase = 2 / math.pi * (arccosh_part + a * np.arcsin(s / a)) + s / 2
    count = math.ceil(phase[-1] / PHASE)
    edges = np.interp(np.linspace(0, phase[-1], count + 1), phase, s)
    return Panels(edges if half_line else np.concatenate([-edges[:0:-1], edges]))


class PfaffianEnsemble:
    """The ensemble of `points` points on the half line or on the full line."""

    def __init__(self, points: int, *, half_line: bool) -> None:
        self.points = require_dimension("points", points)
        self.half_line = half_line
        self.panels = _panels(points, half_line)
        self.phi, self.log_leading = self._orthonormal_basis()
        self.g_edges, self.g_nodes = self.panels.antiderivative(self.phi)
        self.totals: Vector = self.g_edges[:, -1]

    def _orthonormal_basis(self) -> tuple[Matrix, float]:
        """φ_j at the nodes, (N, panels, m), and Σ_j ln(leading coefficient of φ_j).

        Three-term recurrence with inner products by quadrature. e^{−|x|} underflows for large N, so
        every node carries its own running logarithmic scale.
        """
        x, weights = self.panels.nodes.ravel(), self.panels.weights.ravel()
        multiplier = x**2 if self.half_line else x
        current, previous, log_scale = np.sqrt(weights), np.zeros_like(x), -np.abs(x)
        basis = np.empty((self.points, x.size))
        log_leading = 0.0
        for j in range(self.points):
            norm = np.linalg.norm(current * np.exp(log_scale))
            current = current / norm
            log_leading -= (self.points - j) * math.log(norm)
            basis[j] = current * np.exp(log_scale)
            diagonal = (multiplier * basis[j]) @ basis[j]
            back = norm if j else 0.0
            current, previous = (multiplier - diagonal) * current - back * previous, current
            rescale = np.where(np.abs(current) > 1e100, 1e-100, 1.0)
            current, previous = current * rescale, previous * rescale
            log_scale = log_scale - np.log(rescale)
        shape = (self.points, *self.panels.nodes.shape)
        return (basis / np.sqrt(weights)).reshape(shape), log_leading

    @property
    def order(self) -> int:
        """D: N rounded up to even, the size of A and μ."""
        return self.points + self.points % 2

    def bordered(self, matrix: Matrix, border: Vector) -> Matrix:
        """[[matrix, border], [−borderᵀ, 0]] if N is odd, `matrix` if it is even."""
        if self.points % 2 == 0:
            return matrix
        return np.block([[matrix, border[:, None]], [-border[None], np.zeros((1, 1))]])

    @cached_property
    def phi_by_panel(self) -> Matrix:
        """φ at the nodes with the panel first, (panels, N, m), contiguous so that one panel is read at a stretch."""
        return np.ascontiguousarray(self.phi.transpose(1, 0, 2))

    @cached_property
    def e_nodes(self) -> Matrix:
        """E at the nodes, (D, panels, m): τ − 2G, and 1 for the point at infinity."""
        features = self.totals[:, None, None] - 2 * self.g_nodes
        ones = np.ones((self.order - self.points, *self.panels.nodes.shape))
        return np.concatenate([features, ones])

    @cached_property
    def skew(self) -> Matrix:
        """A, (D, D)."""
        weighted = (self.phi * self.panels.weights).reshape(self.points, -1)
        a = weighted @ self.e_nodes[: self.points].reshape(self.points, -1).T
        return self.bordered((a - a.T) / 2, self.totals)

    @cached_property
    def kernel(self) -> Matrix:
        """μ = A^{−1}, (D, D), skew-symmetric."""
        inverse = np.linalg.inv(self.skew)
        return (inverse - inverse.T) / 2

    @cached_property
    def one_point_density(self) -> Matrix:
        """ρ₁ at the nodes, (panels, m)."""
        density: Matrix = -np.einsum(
            "jpm,jk,kpm->pm", self.phi, self.kernel[: self.points], self.e_nodes, optimize=True
        )
        return density

    def mean_power_sum(self, power: float) -> float:
        """E Σ_i |x_i|^p for p ≥ 0."""
        if not (math.isfinite(power) and power >= 0):
            raise InvalidInput(f"power = {power!r}: must be finite and at least 0")
        x = np.abs(self.panels.nodes)
        return float((self.panels.weights * x**power * self.one_point_density).sum())

    @cached_property
    def log_normalizer(self) -> float:
        """Log of the integral of the unnormalised density at the top over all N-tuples.

        ∫ |det φ_j(x_i)| = N! Pf A, and the determinant is the product over pairs times the product
        of the leading coefficients.
        """
        _, log_det = np.linalg.slogdet(self.skew)
        return math.lgamma(self.points + 1) + float(log_det) / 2 - self.log_leading

    def log_density(self, x: Matrix) -> Vector:
        """Log density of the exchangeable N-tuples in the rows of `x`, shape (size, N)."""
        i, j = np.triu_indices(self.points, 1)
        with np.errstate(divide="ignore"):
            values = np.log(np.abs(x[:, i] - x[:, j])).sum(axis=1) - np.abs(x).sum(axis=1)
        if self.half_line:
            values += np.log(x[:, i] + x[:, j]).sum(axis=1)
        density: Vector = values - self.log_normalizer
        return density

    # THE LARGEST POINT

    @cached_property
    def _panel_skew(self) -> Matrix:
        """∫ over each panel of G_j φ_k − φ_j G_k, (panels, N, N)."""
        g = self.g_nodes.transpose(1, 0, 2)
        phi = (self.phi * self.panels.weights).transpose(1, 2, 0)
        half = g @ phi
        return half - half.transpose(0, 2, 1)

    @cached_property
    def _tails(self) -> tuple[Matrix, Matrix]:
        """At every edge: ∫_{edge}^∞ (G_j φ_k − φ_j G_k) and ∫_{edge}^∞ φ_j."""
        skew = np.cumsum(self._panel_skew[::-1], axis=0)[::-1]
        mass = np.cumsum((self.phi * self.panels.weights).sum(axis=2).T[::-1], axis=0)[::-1]
        n = self.points
        return np.concatenate([skew, np.zeros((1, n, n))]), np.concatenate([mass, np.zeros((1, n))])

    def _tail(self, s: float) -> tuple[Matrix, Vector]:
        """T(s) = ∫_s^∞ (G_j φ_k − φ_j G_k) and a(s) = ∫_s^∞ φ_j, from the edge right of s inwards."""
        panel, t = self.panels.locate(np.array([s]))
        weights = self.panels.half_widths[panel[0]] * (integrated(np.ones(1)) - integrated(t))[0]
        g, phi = self.g_nodes[:, panel[0]], self.phi[:, panel[0]]
        half = g @ (phi * weights).T
        skew, mass = self._tails
        return skew[panel[0] + 1] + half - half.T, mass[panel[0] + 1] + phi @ weights

    def _excluded(self, s: float) -> Matrix:
        """B(s) = A − A(s), the part of A in which x or y lies outside [−s, s].

        ∬ sgn(y − x) φ_j(x) φ_k(y) over max(x, y) > s is T(s). On the full line φ_j has the parity of
        j, so the part below −s is T(s) again, and the corner (x < −s, y > s or the reverse), which
        both contain, is (−1)^j a_j a_k − (−1)^k a_j a_k.
        """
        tail, mass = self._tail(s)
        if self.half_line:
            return self.bordered(tail, mass)
        sign = (-1.0) ** np.arange(self.points)
        reflected = -tail * np.outer(sign, sign)
        corner = np.outer(sign * mass, mass) - np.outer(mass, sign * mass)
        return self.bordered(tail + reflected - corner, mass + sign * mass)

    def largest_cdf(self, s: float) -> float:
        """P(all |x_i| ≤ s), with absolute error near 1e-15 for N up to 100."""
        if s <= 0:
            return 0.0
        if s >= self.panels.edges[-1]:
            return 1.0
        matrix = np.eye(self.order) - self.kernel @ self._excluded(s)
        sign, log_det = np.linalg.slogdet(matrix)
        return float(min(1.0, math.exp(log_det / 2))) if sign > 0 else 0.0

    def largest_survival(self, s: float) -> float:
        """P(some |x_i| > s); relative accuracy is lost below about 1e-10."""
        if s <= 0:
            return 1.0
        if s >= self.panels.edges[-1]:
            return 0.0
        with np.errstate(divide="ignore"):
            eigenvalues = np.linalg.eigvals(self.kernel @ self._excluded(s)).astype(np.complex128)
            log_cdf = np.log1p(-eigenvalues).sum().real / 2
        return float(np.clip(-np.expm1(log_cdf), 0.0, 1.0))


@lru_cache(maxsize=16)
def pfaffian_ensemble(points: int, *, half_line: bool) -> PfaffianEnsemble:
    """The ensemble, computed once and kept."""
    return PfaffianEnsemble(points, half_line=half_line)
