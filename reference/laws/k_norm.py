"""K-norm noise consists of symmetric matrices Z with density ∝ exp(−‖Z‖_K).

The sources are Hardt–Talwar 2010 and, for K = schatten1, DN25 Lemma 4.

K is a symmetric convex body in the D = d(d + 1)/2 dimensions of the symmetric matrices, and ‖Z‖_K is the least t ≥ 0
with Z in tK. Write Z = R V with R = ‖Z‖_K and V on the boundary of K. The volume of tK grows like t^D, so R has density
∝ r^{D−1} e^{−r}, that is R ~ Gamma(D). The direction V is independent of the radius R. The law of V is the cone
measure, which is the law of U/‖U‖_K for a uniform point U of K.

    body         ‖M‖_K
    schatten1    ‖M‖_* = Σ|λ_i|
    covariance   max(tr M₊, tr M₋), where M₊ and M₋ are the positive and the negative part of M
    l1           Σ_{i≤j} |M_ij|
    l2           ‖M‖_F
    linf         max |M_ij|

The noise for each body is drawn as follows:

- l1 noise has independent Laplace entries on and above the diagonal.
- linf noise is R times a uniform point on the boundary of the cube [−1, 1]^D: one entry, chosen uniformly, is ±1, and
  the others are uniform on [−1, 1].
- l2 noise is R times the direction of a Gaussian matrix with variance 1 on the diagonal and 1/2 off it.
- schatten1 noise has the symmetric law of `nuclear_laplace`.
- covariance noise is R times V, where V is a direction of nuclear-Laplace noise that the rejection step below accepted.

Since tr M₊ + tr M₋ = ‖M‖_* and tr M₊ − tr M₋ = tr M, the norm of the covariance body is (‖M‖_* + |tr M|)/2. Let L be
any norm, and let M have a density φ(‖M‖_L). The direction W of M then has density ∝ ∫ φ(r ‖W‖_L) r^{D−1} dr ∝
‖W‖_L^{−D}, with respect to a measure on directions that does not depend on L. A direction of nuclear-Laplace noise
becomes one of K-norm noise if it is accepted with a probability ∝ (‖W‖_*/‖W‖_K)^D. The ratio ‖W‖_*/‖W‖_K is at most 2,
so the probability

    (‖W‖_*/(2‖W‖_K))^D = (1 + |tr W|/‖W‖_*)^{−D}

makes the rejection exact. The acceptance rate of the rejection step is 1/2 at d = 1 and 7/24 at d = 2, and was measured
as 0.13, 0.071 and 0.041 at d = 5, 10 and 20. The acceptance rate falls only like 1/d, because |tr W|/‖W‖_* is of order
1/d.
"""

from typing import Literal

import numpy as np
from scipy.special import gammainc

from covassay.reference.domain import Matrix, Number, Vector, require_choice, require_dimension
from covassay.reference.laws import haar, nuclear_laplace

Body = Literal["schatten1", "covariance", "l1", "l2", "linf"]
BODIES: tuple[Body, ...] = ("schatten1", "covariance", "l1", "l2", "linf")

# FORMULAS


def degrees_of_freedom(d: Number) -> Number:
    """Return the dimension D = d(d + 1)/2, which is the number of free entries and the shape of the Gamma law of
    ‖Z‖_K.
    """
    return d * (d + 1) / 2


def covariance_norm(nuclear: Number, trace: Number) -> Number:
    """Return the norm of the covariance body, max(tr M₊, tr M₋) = (‖M‖_* + |tr M|)/2, from ‖M‖_* and tr M."""
    return (nuclear + abs(trace)) / 2


def acceptance(nuclear: Number, trace: Number, d: Number) -> Number:
    """Return the acceptance probability (‖M‖_*/(2‖M‖_K))^D of a direction for the covariance body, from ‖M‖_* and
    tr M.
    """
    return (nuclear / (2 * covariance_norm(nuclear, trace))) ** degrees_of_freedom(d)


# THE LAW


def norm(m: Matrix, body: Body) -> Vector:
    """Return the norm ‖M‖_K of one symmetric matrix or of a stack, shape (..., d, d) -> (...)."""
    require_choice("body", body, BODIES)
    if body == "l2":
        norms: Vector = np.linalg.norm(m, axis=(-2, -1))
    elif body == "linf":
        norms = np.abs(m).max(axis=(-2, -1))
    elif body == "l1":
        norms = np.abs(np.triu(m)).sum(axis=(-2, -1))
    else:
        norms = np.abs(np.linalg.eigvalsh(m)).sum(axis=-1)
        if body == "covariance":
            norms = covariance_norm(norms, np.trace(m, axis1=-2, axis2=-1))
    return norms


def norm_cdf(dimension: int, t: Vector) -> Vector:
    """Return P(‖Z‖_K ≤ t) for every entry of `t`.

    The probability is the regularised incomplete Gamma function for every body.
    """
    values: Vector = gammainc(float(degrees_of_freedom(dimension)), np.maximum(t, 0.0))
    return values


def _symmetric(triangles: Matrix, d: int) -> Matrix:
    """Return the symmetric matrices with the given entries on and above the diagonal, row by row, (size, D) -> (size,
    d, d).
    """
    z = np.zeros((len(triangles), d, d))
    z[:, *np.triu_indices(d)] = triangles
    full: Matrix = z + np.swapaxes(np.triu(z, 1), 1, 2)
    return full


def _covariance_spectra(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw the matrix V = Z/‖Z‖_K `size` times, for noise Z with the body "covariance" as K, and return the eigenvalues
    of every V, (size, d). Every V is drawn by rejection.
    """
    accepted = np.empty((0, d))
    while len(accepted) < size:
        # The acceptance rate is at least 1/(2d) wherever it is known.
        # On average one pass of this loop therefore accepts all draws that are still missing.
        proposals = max(8, 2 * d * (size - len(accepted)))
        proposed = nuclear_laplace.sample_spectrum(d, rng, proposals, symmetric=True)
        nuclear, trace = np.abs(proposed).sum(axis=1), proposed.sum(axis=1)
        keep = rng.random(len(proposed)) < acceptance(nuclear, trace, d)
        shapes = proposed / covariance_norm(nuclear, trace)[:, None]
        accepted = np.concatenate([accepted, shapes[keep]])
    return accepted[:size]


def sample(body: Body, dimension: int, rng: np.random.Generator, size: int | None = None) -> Matrix:
    """Draw symmetric matrices Z at scale 1, (d, d) or (size, d, d). The draws are exact up to float64 rounding."""
    require_choice("body", body, BODIES)
    d, count = require_dimension("dimension", dimension), 1 if size is None else size
    entries = int(degrees_of_freedom(d))
    if body == "schatten1":
        z = nuclear_laplace.sample(d, rng, count, symmetric=True)
    elif body == "l1":
        z = _symmetric(rng.laplace(size=(count, entries)), d)
    else:
        radius = rng.gamma(entries, size=count)[:, None]
        if body == "l2":
            direction = rng.standard_normal((count, entries))
            direction /= np.linalg.norm(direction, axis=1, keepdims=True)
            on_diagonal = np.equal(*np.triu_indices(d))
            z = _symmetric(radius * direction * np.where(on_diagonal, 1.0, np.sqrt(0.5)), d)
        elif body == "linf":
            point = rng.uniform(-1, 1, size=(count, entries))
            point[np.arange(count), rng.integers(entries, size=count)] = rng.choice([-1.0, 1.0], size=count)
            z = _symmetric(radius * point, d)
        else:
            q = haar.sample(d, rng, count)
            z = (q * (radius * _covariance_spectra(d, rng, count))[:, None, :]) @ np.swapaxes(q, 1, 2)
            z = (z + np.swapaxes(z, 1, 2)) / 2  # averaging with the transpose removes rounding errors only
    drawn: Matrix = z[0] if size is None else z
    return drawn
