"""The Bingham law: unit vectors u in R^q with density ∝ exp(uᵀMu), for a symmetric matrix M.

The exact sampler (Kent, Ganeiber and Mardia 2018, §3.5) draws by rejection. Let A = λ_max(M) I − M ≥ 0 and y = uᵀAu.
For any b in (0, q], the following envelope of the density is the angular central Gaussian law with Ω = I + 2A/b:

    exp(−y) ≤ M(b) (uᵀΩu)^{−q/2},   M(b) = exp(−(q − b)/2) (q/b)^{q/2},   uᵀΩu = 1 + 2y/b,

Equality holds at y = (q − b)/2. The sampler draws z ~ N(0, Ω^{−1}), sets u = z/‖z‖, and accepts u with probability

    exp(−y) (1 + 2y/b)^{q/2} / M(b).

For every b in (0, q] the law of u is the Bingham law. The root b of Σ_i 1/(b + 2a_i) = 1, for the eigenvalues a_i of A,
gives the highest acceptance rate. NOTE: the acceptance probability is exp(−y)/M(b) multiplied by the power of (1 +
2y/b). Two libraries divide by this power by mistake. Their draws have density ∝ exp(−y)(1 + 2y/b)^{−q}, and an
exponential mechanism built on such draws is not ε-DP (see the README).

Exact values. The mean of exp(−uᵀAu) over the uniform law of u is Γ(q/2) times the inverse Laplace transform, at r = 1,
of

    ∏_i (s + a_i)^{−1/2}.

The derivatives of this mean with respect to a_i give the second moments. The inverse transform of the product over a
subset of the coordinates gives the law of the squared length of a projection. The inverse Laplace transforms are
integrals along the parabolic contour of Weideman and Trefethen (2007).
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.special import gammaln

from covassay.reference.domain import Array, Matrix, Number, Vector, require_shape
from covassay.reference.errors import InvalidInput
from covassay.reference.laws.panels import Panels

# nodes on half of the contour: the truncation error 2.85^{-28} and the rounding error e^{7.3} 2^{-53} are near 2e-13
CONTOUR_NODES = 28
FEWEST_PROPOSALS = 8  # the number of proposals made at once, in addition to twice the number of vectors that are wanted
MAX_PROPOSALS = 10_000_000  # the number of successive rejections after which the sampler gives up

# FORMULAS


def log_envelope_bound(b: Number, q: Number, log: Callable[[Number], Number] = np.log) -> Number:
    """Return the logarithm −(q − b)/2 + (q/2) ln(q/b) of the constant M(b) of the envelope."""
    return -(q - b) / 2 + q / 2 * log(q / b)


def log_acceptance(y: Number, b: Number, q: Number, log: Callable[[Number], Number] = np.log) -> Number:
    """Return the log of the acceptance probability of a proposal with uᵀAu = y. The log of the acceptance probability
    is at most 0.
    """
    return -y + q / 2 * log(1 + 2 * y / b) - log_envelope_bound(b, q, log)


def envelope_equation(b: Number, a: Sequence[Number]) -> Number:
    """Return Σ_i 1/(b + 2a_i) − 1. The b in [1, q] for which this sum is 0 gives the highest acceptance rate."""
    return sum(1 / (b + 2 * a_i) for a_i in a) - 1


# THE SAMPLER


def decompose(m: Array) -> tuple[Array, Array]:
    """Return the eigenvalues a of A = λ_max(M) I − M, ascending from 0, and their eigenvectors in columns, for M or for
    a stack of them, (..., q, q) -> (..., q), (..., q, q).
    """
    q = np.shape(m)[-1]
    matrix = require_shape("m", m, (q, q), stacked=True)
    sizes = np.abs(matrix)
    allowed = 1e-9 * (sizes + np.maximum(1.0, sizes.max(axis=(-2, -1), keepdims=True)))
    if not (np.abs(matrix - np.swapaxes(matrix, -1, -2)) <= allowed).all():
        raise InvalidInput("m is not symmetric: must be a symmetric matrix")
    values, vectors = np.linalg.eigh(matrix)
    return (values[..., -1:] - values)[..., ::-1], vectors[..., ::-1]


def envelope_parameter(a: Vector) -> float:
    """Return the b with the highest acceptance rate, for eigenvalues a ≥ 0 that ascend from 0."""
    return _envelope_root(tuple(a.tolist()))


@lru_cache(maxsize=8)  # a cache saves time because successive draws often have the same eigenvalues
def _envelope_root(a: tuple[float, ...]) -> float:
    if len(a) == 2:  # the equation is quadratic
        return 1 + 1 / (a[1] + math.hypot(1.0, a[1]))
    q = float(len(a))
    if envelope_equation(q, a) >= 0:  # here A = 0, or A is so near to 0 that rounding errors exceed it
        return q
    return float(scipy.optimize.brentq(lambda b: envelope_equation(b, a), 1.0 - 1e-9, q, xtol=1e-14))


@lru_cache(maxsize=8)  # successive draws often have the same matrix, and decomposing takes longer than drawing
def _decomposed(entries: bytes, q: int) -> tuple[Vector, Matrix]:
    return decompose(np.frombuffer(entries).reshape(q, q))


def sample(m: Matrix, rng: np.random.Generator | list[np.random.Generator], size: int | None = None) -> Matrix:
    """Draw unit vectors u with density ∝ exp(uᵀMu), of shape (q,) or (size, q). Exact up to rounding.

    For a stack of S matrices, (S, q, q), and a list of S generators, draw one vector for each, (S, q).

    Raises
    ------
    ArithmeticError : more than `MAX_PROPOSALS` successive proposals were rejected. The acceptance rate is of order
        q^{−1/2} for every M, so an `ArithmeticError` practically never occurs.
    """
    if isinstance(rng, list):
        return _sample_each(m, rng)
    matrix = require_shape("m", m, (len(m), len(m)))
    q, count = len(matrix), 1 if size is None else size
    if q == 1:
        drawn = np.where(rng.random((count, 1)) < 0.5, -1.0, 1.0)
        return drawn[0] if size is None else drawn
    a, vectors = _decomposed(matrix.tobytes(), q)
    b = envelope_parameter(a)
    deviations = 1 / np.sqrt(1 + 2 * a / b)
    accepted = np.empty((count, q))
    filled = proposals = 0
    while filled < count:
        batch = min(2 * (count - filled) + FEWEST_PROPOSALS, 65_536)
        z = rng.standard_normal((batch, q)) * deviations
        u = z / np.linalg.norm(z, axis=1, keepdims=True)
        y = u**2 @ a
        u = u[np.log(rng.random(batch)) < log_acceptance(y, b, q)]
        proposals = 0 if len(u) else proposals + batch
        if proposals > MAX_PROPOSALS:
            raise ArithmeticError(f"Bingham sampler: {proposals} proposals rejected in a row")
        taken = u[: count - filled]
        accepted[filled : filled + len(taken)] = taken
        filled += len(taken)
    drawn = accepted @ vectors.T
    return drawn[0] if size is None else drawn


def _sample_each(matrices: Matrix, generators: list[np.random.Generator]) -> Matrix:
    """Draw one vector for each matrix, (S, q, q) -> (S, q). The vectors equal those of separate calls of `sample`,
    which take longer.
    """
    q, batch = matrices.shape[-1], 2 + FEWEST_PROPOSALS
    if q == 1:
        return np.array([sample(m, rng) for m, rng in zip(matrices, generators, strict=True)])
    a, vectors = decompose(matrices)
    b = np.array([[envelope_parameter(values)] for values in a])
    drawn = [(rng.standard_normal((batch, q)), rng.random(batch)) for rng in generators]
    deviations = 1 / np.sqrt(1 + 2 * a / b)
    z = np.array([normal for normal, _ in drawn]) * deviations[:, None, :]
    u = z / np.linalg.norm(z, axis=2, keepdims=True)
    y = (u**2 @ a[:, :, None])[:, :, 0]
    accepted = np.log([uniform for _, uniform in drawn]) < log_acceptance(y, b, q)
    first = u[np.arange(len(u)), accepted.argmax(axis=1)]
    vectors_drawn: Matrix = (first[:, None, :] @ np.swapaxes(vectors, 1, 2))[:, 0]
    for i in np.flatnonzero(~accepted.any(axis=1)):  # all proposals for this matrix were rejected: make more
        vectors_drawn[i] = sample(matrices[i], generators[int(i)])
    return vectors_drawn


# EXACT VALUES


def _inverse_laplace(exponents: Vector, shifts: Vector, r: Vector, nodes: int = CONTOUR_NODES) -> Vector:
    """Return the inverse Laplace transform of ∏ (s + shift_i)^{−exponent_i} at every entry of r > 0, with the shape of
    r.

    The integral is computed as a sum over `nodes` midpoints on each half of the parabola s = μ(iθ + 1)², with the best
    μ = πn/(12r) and step h = 3/n for n nodes (Weideman and Trefethen 2007).
    """
    h = 3 / nodes
    theta = (np.arange(nodes) + 0.5) * h  # the other half of the contour contributes the complex conjugate
    mu = math.pi * nodes / 12 / np.asarray(r, dtype=np.float64)[..., None]
    s = mu * (1j * theta + 1) ** 2
    derivative = 2j * mu * (1j * theta + 1)
    log_transform = -(exponents * np.log(s[..., None] + shifts)).sum(axis=-1)
    terms = np.exp(s * np.asarray(r)[..., None] + log_transform) * derivative
    values: Vector = h / math.pi * terms.imag.sum(axis=-1)
    return values


def _at_one(exponents: Vector, shifts: Vector) -> float:
    """Return `_inverse_laplace` at r = 1. The number of nodes is so large that the contour crosses the real axis at or
    beyond the saddle point of the integrand.

    The contour meets the real axis at μ = πn/12 for n nodes, and the saddle point solves Σ exponent_i/(s + shift_i) =
    1. If there are many coordinates with small shifts, the saddle point is far from 0. With few nodes, the sum over the
    nodes would then have terms that are far larger than the result, and their cancellation would lose digits.
    """
    saddle = scipy.optimize.brentq(
        lambda s: float((exponents / (s + shifts)).sum()) - 1, 1e-3, float(exponents.sum()) + 1
    )
    nodes = max(CONTOUR_NODES, math.ceil(12 / math.pi * saddle))
    return float(_inverse_laplace(exponents, shifts, np.array(1.0), nodes))


def log_mean_exponential(a: Vector) -> float:
    """Return the log of the mean of exp(−Σ a_i u_i²) over the unit sphere, for a ≥ 0 of which the smallest entry is
    0.
    """
    q = len(a)
    if q == 1:
        return -float(a[0])
    return float(gammaln(q / 2) + np.log(_at_one(np.full(q, 0.5), a)))


def acceptance_rate(m: Matrix) -> float:
    """Return the probability that the sampler accepts a proposal, by the exact mean of exp(−uᵀAu)."""
    a, _ = decompose(m)
    if len(a) == 1:
        return 1.0
    b = envelope_parameter(a)
    log_det = np.log1p(2 * a / b).sum()
    return float(np.exp(log_mean_exponential(a) - log_envelope_bound(b, len(a)) + log_det / 2))


def second_moments(m: Matrix) -> Vector:
    """Return the second moments E⟨u, v_i⟩² for the eigenvectors v_i of M, in descending order of their eigenvalues,
    (q,).
    """
    a, _ = decompose(m)
    q = len(a)
    if q == 1:
        return np.ones(1)
    whole = _at_one(np.full(q, 0.5), a)
    raised = [_at_one(0.5 + np.eye(q)[i], a) for i in range(q)]
    return np.array(raised) / (2 * whole)


def log_density(u: Matrix, m: Matrix) -> Vector:
    """Return the log density, with respect to the uniform law, of the unit vectors in the rows of `u`, (..., q) ->
    (...).
    """
    a, _ = decompose(m)
    top = np.linalg.eigvalsh(m)[-1]
    quadratic: Vector = np.einsum("...i,ij,...j->...", u, m, u)
    density: Vector = quadratic - top - log_mean_exponential(a)
    return density


def projection_cdf(m: Matrix, kept: Sequence[int]) -> Callable[[ArrayLike], Vector]:
    """Return the exact distribution function of w = Σ_{i in kept} ⟨u, v_i⟩².

    The argument `kept` is a proper, non-empty subset S of 0, …, q − 1, which are positions among the eigenvectors v_i
    of M in descending order of their eigenvalues. The density of w is ∝ k_S(w) k_T(1 − w), where T is the complement of
    S and k_S(r) is the inverse Laplace transform at r of ∏_{i in S} (s + a_i)^{−1/2}. With w = sin²θ the density is a
    smooth function of θ, which is integrated interval by interval.
    """
    a, _ = decompose(m)
    inside = np.isin(np.arange(len(a)), list(kept))
    if inside.all() or not inside.any():
        raise InvalidInput(f"kept = {list(kept)!r}: must be a proper, non-empty subset of 0..{len(a) - 1}")
    # the intervals narrow toward both ends, since the mass may lie close to either end
    graded = np.concatenate([[0.0], np.geomspace(1e-8, math.pi / 4, 48)])
    panels = Panels(np.concatenate([graded, math.pi / 2 - graded[-2::-1]]))
    theta = panels.nodes
    parts = (inside, np.sin(theta) ** 2), (~inside, np.cos(theta) ** 2)
    density = np.sin(2 * theta)
    for chosen, r in parts:
        density = density * _inverse_laplace(np.full(chosen.sum(), 0.5), a[chosen], r)
    of_angle = panels.distribution(density)
    return lambda w: of_angle(np.arcsin(np.sqrt(np.clip(np.asarray(w, dtype=np.float64), 0.0, 1.0))))
