r"""The Pfaffian ensemble behind nuclear-Laplace noise consists of N points with an exactly known joint law.

Let Z be a d × d matrix with density ∝ exp(−‖Z‖_*), and N = d. The singular values of Z, in exchangeable (random) order,
have the first of the two densities below, up to a constant. The eigenvalues of a symmetric matrix with density ∝
exp(−‖Z‖_*) have the second of the two densities.

    half line:  ∏_{i<j} |x_i² − x_j²| exp(−Σ x_i),   x_i > 0        (singular values)
    full line:  ∏_{i<j} |x_i − x_j| exp(−Σ |x_i|),   x_i real       (eigenvalues)

The products in the densities are Vandermonde determinants in m(x) = x² on the half line and m(x) = x on the full line.
Both densities are therefore |det φ_j(x_i)| / (Pf A · N!) for any basis φ_0, …, φ_{N−1} of the span of the functions
m(x)^j e^{−|x|} (de Bruijn 1955). In this formula

    (Eφ)(x) = ∫ sgn(t − x) φ(t) dt,     A_jk = ∫ φ_j Eφ_k   (skew-symmetric).

With G_j(x) = ∫_{−∞}^x φ_j and the total integral τ = G(∞), Eφ = τ − 2G. A skew matrix of odd size has Pfaffian 0, so
for odd N there is one more basis function, a unit mass at +∞: φ = 0 and Eφ = 1 at every finite x. The row of the
additional function in A is Eφ_k(+∞) = −τ_k, so the matrix A becomes [[A, τ], [−τᵀ, 0]], and nothing else changes. The
number D is the size of A, which is N rounded up to an even number. E(x) is the vector of the D values Eφ(x). With μ =
A^{−1}:

    one-point density   ρ₁(x) = −φ(x)ᵀ μ E(x), whose integral is N;
    largest point       P(all |x_i| ≤ s) = Pf A(s) / Pf A = √det(1 − μ B(s)),  B(s) = A − A(s),

where A(s) is A with all integrals restricted to |x| ≤ s. The matrix B is computed from integrals beyond s, so P(all
|x_i| ≤ s) is accurate where it is near 1.

Everything is float64. All integrals are Gauss–Legendre sums on the same panels. The discretised Stieltjes recurrence
makes the basis orthonormal for these sums. An orthonormal basis keeps A well conditioned. The basis functions are
stored by their values at the nodes of the panels.
"""

import math
from functools import cached_property, lru_cache

import numpy as np

from covassay.reference.domain import Array, Matrix, Vector, require_dimension
from covassay.reference.errors import InvalidInput
from covassay.reference.laws.panels import Panels, integrated, interpolation

# radians by which the phase of the fastest basis function turns on one panel; 24 nodes integrate it up to rounding
PHASE = 8.0
# The panels end at the edge of the spectrum plus 27 N^{1/3} + 20, beyond which the mass is below 1e-20.
# For large N the largest point fluctuates on the scale (π/2) N^{1/3}, or on a smaller scale on the full line.
# The probability that the largest point is more than u scales beyond the edge is like exp(−(2/3) u^{3/2}).
# The distance 27 N^{1/3} is u = 17 times the scale, and exp(−(2/3) 17^{3/2}) = 5e-21.
# The number 20 is added for small N, because the tail is then like e^{−x}.
# A test evaluates the proven bound `nuclear_laplace.spectral_norm_tail_bound` at the end of the panels.
EDGE_MARGIN = 27.0
CONSTANT_MARGIN = 20.0
# the number of entries per unit of length in the table of the phase, from which the panel edges are interpolated
PHASE_TABLE = 40
HUGE = 1e100  # larger values of the recurrence are scaled down, long before they could overflow


def _panels(points: int, half_line: bool) -> Panels:
    """Return the panels for N = `points`. On each panel the phase of the N-th basis function grows by at most about
    `PHASE`. Less than 1e-20 of the mass lies outside all panels.

    In the limit the points on the half line fill [0, πN] with Ullman's density (2/π²) arccosh(πN/s). The points on the
    full line fill [−πN/2, πN/2] with the density (2/π²) arccosh(πN/(2|s|)). The N-th basis function has about N zeros,
    which follow Ullman's density, and its phase at s grows by π from one zero to the next. For large N the phase on the
    half line therefore grows at the rate (2/π) arccosh(πN/s). The code replaces πN (or πN/2 on the full line) by the
    larger number a, which is the upper end of the last panel. The code also adds 1/2 to the rate, so that the panels
    are short also where the basis functions decay without oscillation.
    """
    bulk = math.pi * points if half_line else math.pi / 2 * points
    a = bulk + EDGE_MARGIN * points ** (1 / 3) + CONSTANT_MARGIN
    s = np.linspace(0, a, PHASE_TABLE * math.ceil(a))
    with np.errstate(divide="ignore", invalid="ignore"):
        arccosh_part = np.where(s > 0, s * np.arccosh(a / s), 0.0)
    phase = 2 / math.pi * (arccosh_part + a * np.arcsin(s / a)) + s / 2  # the integral of the rate from 0
    count = math.ceil(phase[-1] / PHASE)
    edges = np.interp(np.linspace(0, phase[-1], count + 1), phase, s)
    return Panels(edges if half_line else np.concatenate([-edges[:0:-1], edges]))


class PfaffianEnsemble:
    """The ensemble of N = `points` points on the half line or on the full line.

    Attributes: `phi` (N, panels, m) holds φ at the nodes; `g_edges` (N, panels + 1) and `g_nodes` (N, panels, m) hold G
    at the panel edges and at the nodes; `totals` (N,) is τ.
    """

    def __init__(self, points: int, *, half_line: bool) -> None:
        self.points = require_dimension("points", points)
        self.half_line = half_line
        self.panels = _panels(points, half_line)
        self.phi, self.log_leading = self._orthonormal_basis()
        self.g_edges, self.g_nodes = self.panels.antiderivative(self.phi)
        self.totals: Vector = self.g_edges[:, -1]

    def _orthonormal_basis(self) -> tuple[Array, float]:
        """Return φ_j at the nodes, (N, panels, m), and Σ_j ln(leading coefficient of φ_j e^{|x|}, a polynomial in
        m(x)).

        The function uses the three-term recurrence φ_{j+1} ∝ (m(x) − α_j) φ_j − β_j φ_{j−1}, with inner products by
        quadrature. The recurrence runs on √weight · φ_j, so that the inner products are dot products. e^{−|x|}
        underflows for large N, so every node carries a logarithmic scale: the true values are current · exp(log_scale).
        """
        x, weights = self.panels.nodes.ravel(), self.panels.weights.ravel()
        multiplier = x**2 if self.half_line else x
        current, previous, log_scale = np.sqrt(weights), np.zeros_like(x), -np.abs(x)
        basis = np.empty((self.points, x.size))
        log_leading = 0.0
        for j in range(self.points):
            norm = np.linalg.norm(current * np.exp(log_scale))
            current = current / norm
            # the number 1/norm is a factor of φ_j and of all later basis functions
            log_leading -= (self.points - j) * math.log(norm)
            basis[j] = current * np.exp(log_scale)
            diagonal = (multiplier * basis[j]) @ basis[j]  # α_j
            back = norm if j else 0.0  # β_j
            current, previous = (multiplier - diagonal) * current - back * previous, current
            rescale = np.where(np.abs(current) > HUGE, 1 / HUGE, 1.0)
            current, previous = current * rescale, previous * rescale
            log_scale = log_scale - np.log(rescale)
        shape = (self.points, *self.panels.nodes.shape)
        return (basis / np.sqrt(weights)).reshape(shape), log_leading

    @property
    def order(self) -> int:
        """Return the size D of A and μ, which is N rounded up to an even number."""
        return self.points + self.points % 2

    def bordered(self, matrix: Matrix, border: Vector) -> Matrix:
        """Return `matrix` if N is even, and [[matrix, border], [−borderᵀ, 0]] if N is odd, (N, N), (N,) -> (D, D)."""
        if self.points % 2 == 0:
            return matrix
        return np.block([[matrix, border[:, None]], [-border[None], np.zeros((1, 1))]])

    @cached_property
    def phi_by_panel(self) -> Array:
        """Return the values of φ at the nodes, (panels, N, m), in an array that stores the values on one panel
        contiguously.
        """
        return np.ascontiguousarray(self.phi.transpose(1, 0, 2))

    def values_at(self, x: Vector) -> tuple[Matrix, Matrix]:
        """Return φ(x) and G(x), a row for each x, (len(x), N) each."""
        panel, t = self.panels.locate(x)
        value, integral = interpolation(t)
        phi = self.phi_by_panel[panel]
        within = (phi @ integral[:, :, None])[:, :, 0] * self.panels.half_widths[panel, None]
        return (phi @ value[:, :, None])[:, :, 0], self.g_edges.T[panel] + within

    @cached_property
    def e_nodes(self) -> Array:
        """Return the vector E at the nodes, (D, panels, m). Its entries are τ − 2G and, if N is odd, a last entry 1 for
        the additional basis function.
        """
        features = self.totals[:, None, None] - 2 * self.g_nodes
        ones = np.ones((self.order - self.points, *self.panels.nodes.shape))
        return np.concatenate([features, ones])

    @cached_property
    def skew(self) -> Matrix:
        """Return the skew-symmetric matrix A, (D, D)."""
        weighted = (self.phi * self.panels.weights).reshape(self.points, -1)
        a = weighted @ self.e_nodes[: self.points].reshape(self.points, -1).T
        return self.bordered((a - a.T) / 2, self.totals)

    @cached_property
    def kernel(self) -> Matrix:
        """Return the kernel μ = A^{−1}, (D, D), skew-symmetric."""
        inverse = np.linalg.inv(self.skew)
        return (inverse - inverse.T) / 2

    @cached_property
    def one_point_density(self) -> Matrix:
        """Return the one-point density ρ₁ at the nodes, (panels, m). The integral of the density is N."""
        density: Matrix = -np.einsum(
            "jpm,jk,kpm->pm", self.phi, self.kernel[: self.points], self.e_nodes, optimize=True
        )
        return density

    @cached_property
    def one_point_integral(self) -> Vector:
        """Return the integral of the one-point density from the first panel edge to every edge, (panels + 1,)."""
        return self.panels.antiderivative(self.one_point_density)[0]

    def mean_power_sum(self, power: float) -> float:
        """Return the expectation of Σ_i |x_i|^p, for p ≥ 0."""
        if not (math.isfinite(power) and power >= 0):
            raise InvalidInput(f"power = {power!r}: must be finite and at least 0")
        x = np.abs(self.panels.nodes)
        return float((self.panels.weights * x**power * self.one_point_density).sum())

    @cached_property
    def log_normalizer(self) -> float:
        """Return the logarithm of the integral, over all N-tuples, of the unnormalised density at the top of this file.

        ∫ |det φ_j(x_i)| = Pf A · N!, and this determinant is the unnormalised density times the leading coefficients of
        all φ_j.
        """
        _, log_det = np.linalg.slogdet(self.skew)
        return math.lgamma(self.points + 1) + float(log_det) / 2 - self.log_leading

    def log_density(self, x: Matrix) -> Vector:
        """Return the logarithm of the joint density at the exchangeable N-tuples in the rows of `x`, (size, N) ->
        (size,).
        """
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
        """Return the integral of G_j φ_k − φ_j G_k over each panel, (panels, N, N)."""
        g = self.g_nodes.transpose(1, 0, 2)
        phi = (self.phi * self.panels.weights).transpose(1, 2, 0)
        half = g @ phi
        return half - half.transpose(0, 2, 1)

    @cached_property
    def _tails(self) -> tuple[Matrix, Matrix]:
        """Return the matrices T and vectors a of `_tail` at every panel edge, (panels + 1, N, N) and (panels + 1,
        N).
        """
        skew = np.cumsum(self._panel_skew[::-1], axis=0)[::-1]
        mass = np.cumsum((self.phi * self.panels.weights).sum(axis=2).T[::-1], axis=0)[::-1]
        n = self.points
        return np.concatenate([skew, np.zeros((1, n, n))]), np.concatenate([mass, np.zeros((1, n))])

    def _tail(self, s: float) -> tuple[Matrix, Vector]:
        """Return T(s) = ∫_s^∞ (G_j φ_k − φ_j G_k) and a(s) = ∫_s^∞ φ_j, (N, N) and (N,).

        T(s) and a(s) are their values at the next panel edge to the right of s, plus the integrals from s to that edge.
        """
        panel, t = self.panels.locate(np.array([s]))
        weights = self.panels.half_widths[panel[0]] * (integrated(np.ones(1)) - integrated(t))[0]
        g, phi = self.g_nodes[:, panel[0]], self.phi[:, panel[0]]
        half = g @ (phi * weights).T
        skew, mass = self._tails
        return skew[panel[0] + 1] + half - half.T, mass[panel[0] + 1] + phi @ weights

    def _excluded(self, s: float) -> Matrix:
        """Return B(s) = A − A(s), (D, D): the part of A_jk = ∬ sgn(y − x) φ_j(x) φ_k(y) with x or y outside [−s, s].

        If N is odd, the border of the matrix has the integrals of φ_j outside [−s, s]. The integral over max(x, y) > s
        is T(s). On the half line B(s) is T(s), because x and y are not negative. On the full line φ_j(−x) = (−1)^j
        φ_j(x), so reflection turns T(s) into the part with min(x, y) < −s, with the sign −(−1)^{j+k}. The sum of these
        two parts counts the corners twice, where one of x, y is below −s and the other above s. The integral over the
        corners, (−1)^j a_j a_k − (−1)^k a_j a_k, is therefore subtracted once.
        """
        tail, mass = self._tail(s)
        if self.half_line:
            return self.bordered(tail, mass)
        sign = (-1.0) ** np.arange(self.points)
        reflected = -tail * np.outer(sign, sign)
        corner = np.outer(sign * mass, mass) - np.outer(mass, sign * mass)
        return self.bordered(tail + reflected - corner, mass + sign * mass)

    def largest_cdf(self, s: float) -> float:
        """Return P(all |x_i| ≤ s), with absolute error near 1e-15 for N up to 100."""
        if s <= 0:
            return 0.0
        if s >= self.panels.edges[-1]:
            return 1.0
        matrix = np.eye(self.order) - self.kernel @ self._excluded(s)
        sign, log_det = np.linalg.slogdet(matrix)
        return float(min(1.0, math.exp(log_det / 2))) if sign > 0 else 0.0

    def largest_survival(self, s: float) -> float:
        """Return P(some |x_i| > s), with relative accuracy down to about 1e-10; smaller values are inaccurate."""
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
    """Return the ensemble with the given number of points, which is computed at the first call and then stored."""
    return PfaffianEnsemble(points, half_line=half_line)
