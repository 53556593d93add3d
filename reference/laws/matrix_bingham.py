"""The matrix Bingham law: projections P of rank k in R^q with density ∝ exp(tr(PM)) with respect to the uniform law.

The matrix M is symmetric with eigenvalues μ_1 ≥ … ≥ μ_q, and 1 ≤ k < q. For k = 1 the matrix Bingham law is the Bingham
law of u with P = uuᵀ.

Sine coordinates. In the eigenbasis of M, almost every P is given by exactly one matrix X of shape (m, k), with m = q −
k and XᵀX ≤ I:

    P = V Vᵀ,   V = [S; X],   S = (I − XᵀX)^{1/2}.

Under the uniform law, X has density ∝ det(I − XᵀX)^{−1/2}. The exponent of the density of P is tr(PM) = Σ_{i≤k} μ_i −
Σ_{j,i} g_ji X_ji², with the gaps g_ji = μ_i − μ_{k+j} ≥ 0. So X has density ∝ det(I − XᵀX)^{−1/2} exp(−Σ g_ji X_ji²).

The exact sampler proposes X column by column, or row by row if k > m, and accepts or rejects the whole of X. For a
column x let B be I − Σ x'x'ᵀ, summed over the columns x' before x. The determinant det(I − XᵀX) is the product of 1 −
xᵀB⁻¹x over the columns. Let B = RRᵀ. Let the columns before x be given. The density of X then has a factor that depends
on x. As a function of R⁻¹x, this factor is a constant times the density of the last m coordinates of a random point on
the unit sphere of R^{m+1}, where the point has a Bingham law. The constant depends only on the columns before x. Draw x
from the angular Gaussian envelope of this Bingham law. Let G = diag(g), where g is the column of gaps that belongs to
x, let z_0 ~ N(0, 1), and set

    x = Rz/(z_0² + ‖z‖²)^{1/2},   z ~ N(0, (I + (2/b)RᵀGR)⁻¹).

Accept X with probability equal to the product over its columns of

    exp(−xᵀGx) (1 + 2xᵀGx/b)^{(m+1)/2} / M(b) · (det(I + 2G/b)/det(B⁻¹ + 2G/b))^{1/2}.

The factor before the dot is the acceptance probability of `laws.bingham` for q = m + 1, so it is at most 1. The module
`laws.bingham` defines M(b). The factor after the dot, the square root of a ratio of determinants, is at most 1 because
B ≤ I. Every b in (0, m + 1] gives the right law of P. The derivation is ours, and is in proofs/paper/matrix-bingham.md.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from covassay.reference.domain import Matrix, Vector
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import bingham
from covassay.reference.laws.panels import Panels

BATCH = 1 << 18  # the largest number of floats in one array of proposals


def gaps(m: Matrix, k: int) -> tuple[Matrix, Matrix]:
    """Return the gaps g_ji = μ_i − μ_{k+j} for i ≤ k, (q − k, k), and the eigenvectors of M in columns, (q, q), in
    descending order of their eigenvalues.
    """
    a, vectors = bingham.decompose(m)
    if not 1 <= k < len(a):
        raise InvalidInput(f"k = {k!r}: must be at least 1 and below {len(a)}")
    return a[k:, None] - a[None, :k], vectors


def frames(x: Matrix) -> Matrix:
    """Return the matrix V = [S; X] with orthonormal columns, S = (I − XᵀX)^{1/2}, (..., m, k) -> (..., m + k, k)."""
    values, turned = np.linalg.eigh(np.eye(x.shape[-1]) - np.swapaxes(x, -1, -2) @ x)
    root = (turned * np.sqrt(np.maximum(values, 0.0))[..., None, :]) @ np.swapaxes(turned, -1, -2)
    return np.concatenate([root, x], axis=-2)


def propose_one(g: Matrix, rng: np.random.Generator) -> tuple[Matrix, float]:
    """Make one proposal X for the gaps g, and return it with its acceptance probability.

    The function `propose` makes many proposals at once, which is faster.
    """
    m, k = g.shape
    x, r, accepted = np.zeros((m, k)), np.eye(m), 1.0
    for i in range(k):
        # the column x = Rz/(z_0² + ‖z‖²)^{1/2}
        gap, b = np.diag(g[:, i]), bingham.envelope_parameter(np.append(0.0, g[:, i]))
        lower = np.linalg.cholesky(np.eye(m) + 2 / b * r.T @ gap @ r)
        z = np.linalg.solve(lower.T, rng.standard_normal(m))
        u = z / math.sqrt(rng.standard_normal() ** 2 + z @ z)
        x[:, i] = r @ u

        # the factor of the column x in the acceptance probability
        sphere = math.exp(bingham.log_acceptance(x[:, i] @ gap @ x[:, i], b, m + 1))
        ratio = np.linalg.det(np.eye(m) + 2 / b * gap) / np.linalg.det(np.linalg.inv(r @ r.T) + 2 / b * gap)
        accepted *= sphere * math.sqrt(ratio)

        # For the next column of X the matrix B becomes B − xxᵀ = R(I − uuᵀ)Rᵀ.
        # The matrix in brackets below is a square root of I − uuᵀ.
        r = r @ (np.eye(m) - np.outer(u, u) / (1 + math.sqrt(1 - u @ u)))
    return x, accepted


def propose(g: Matrix, size: int, rng: np.random.Generator) -> tuple[Matrix, Vector]:
    """Return `size` proposals X for the matrix g of gaps, (size, m, k), and the logarithms of their acceptance
    probabilities, (size,).
    """
    m, k = g.shape
    root = np.broadcast_to(np.eye(m), (size, m, m))  # the matrix R with B = RRᵀ
    x, log_det, log_accepted = np.empty((size, m, k)), np.zeros(size), np.zeros(size)
    for i in range(k):
        b = bingham.envelope_parameter(np.append(0.0, g[:, i]))
        scaled = 2 * g[:, i] / b
        lower = np.linalg.cholesky(np.eye(m) + np.swapaxes(root, 1, 2) @ (scaled[:, None] * root))
        z = np.linalg.solve(np.swapaxes(lower, 1, 2), rng.standard_normal((size, m, 1)))
        first = rng.standard_normal((size, 1, 1)) ** 2
        squared = first + np.swapaxes(z, 1, 2) @ z
        u = z / np.sqrt(squared)
        column = root @ u
        x[:, :, i] = column[..., 0]
        log_accepted += bingham.log_acceptance(x[:, :, i] ** 2 @ g[:, i], b, m + 1)
        log_accepted += (log_det + np.log1p(scaled).sum()) / 2
        log_accepted -= np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
        # For the next column of X the matrix B becomes B − xxᵀ, which is R(I − uuᵀ)Rᵀ because x = Ru.
        left = first / squared  # the determinant of I − uuᵀ, which is 1 − ‖u‖²
        root = root - column @ np.swapaxes(u, 1, 2) / (1 + np.sqrt(left))
        log_det += np.log(left)[:, 0, 0]
    return x, log_accepted


def sample(m: Matrix, k: int, rng: np.random.Generator, size: int | None = None) -> Matrix:
    """Draw projections of rank k with density ∝ exp(tr(PM)), of shape (q, q) or (size, q, q). Exact up to rounding.

    Raises
    ------
    ArithmeticError : more than `bingham.MAX_PROPOSALS` successive proposals were rejected. For k > 1 the acceptance
        rate falls with q and k, as proofs/paper/matrix-bingham.md explains.
    """
    g, vectors = gaps(m, k)
    # If `turned` is true, X is drawn row by row, and otherwise column by column.
    # The rows or columns with the largest gaps are drawn first.
    turned = k > len(vectors) - k
    steps = g.T[:, ::-1] if turned else g
    count, most = 1 if size is None else size, max(1, BATCH // len(vectors) ** 2)
    accepted = np.empty((count, *steps.shape))
    filled = proposals = 0
    batch = min(2 * count + 8, most)
    while filled < count:
        x, log_accepted = propose(steps, batch, rng)
        x = x[np.log(rng.random(batch)) < log_accepted][: count - filled]
        accepted[filled : filled + len(x)] = x
        filled += len(x)
        proposals, batch = 0 if len(x) else proposals + batch, min(2 * batch, most)
        if proposals > bingham.MAX_PROPOSALS:
            raise ArithmeticError(f"matrix Bingham sampler: {proposals} proposals rejected in a row")
    v = vectors @ frames(np.swapaxes(accepted[:, :, ::-1], 1, 2) if turned else accepted)
    p = v @ np.swapaxes(v, 1, 2)
    drawn: Matrix = (p + np.swapaxes(p, 1, 2)) / 2
    return drawn[0] if size is None else drawn


def share_cdf(strength: float, k: int, q: int) -> Callable[[ArrayLike], Vector]:
    """Return the exact distribution function of w = vᵀPv for the matrix M = strength · vvᵀ, where v is a unit vector
    and `strength` is a number.

    Under the uniform law w ~ Beta(k/2, (q − k)/2). So w has density ∝ w^{k/2 − 1} (1 − w)^{(q−k)/2 − 1} e^{strength w}.
    With w = sin²θ the density is a smooth function of θ, which is integrated interval by interval.
    """
    # the intervals narrow toward both ends, since the mass may lie close to either end
    graded = np.concatenate([[0.0], np.geomspace(1e-8, math.pi / 4, 48)])
    panels = Panels(np.concatenate([graded, math.pi / 2 - graded[-2::-1]]))
    theta = panels.nodes
    log_density = strength * (np.sin(theta) ** 2 - 1)
    of_angle = panels.distribution(np.sin(theta) ** (k - 1) * np.cos(theta) ** (q - k - 1) * np.exp(log_density))
    return lambda w: of_angle(np.arcsin(np.sqrt(np.clip(np.asarray(w, dtype=np.float64), 0.0, 1.0))))
