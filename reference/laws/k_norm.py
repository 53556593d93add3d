"""K-norm noise on the symmetric matrices: density of Z ∝ exp(−‖Z‖_K). Hardt–Talwar 2010; DN25 Lemma 4 for one body.

K is a symmetric convex body in the D = d(d + 1)/2 dimensions of the symmetric matrices, ‖Z‖_K = min{t ≥ 0 : Z in tK}.
Write Z = R V with R = ‖Z‖_K and V on the boundary. The volume of tK grows as t^D, so R has density ∝ r^{D−1} e^{−r},
R ~ Gamma(D), and V is independent of it, with the cone measure (the direction of a uniform point of K).

    body         ‖M‖_K
    schatten1    ‖M‖_* = Σ|λ_i|
    covariance   max(tr M₊, tr M₋), M₊ and M₋ the positive and the negative part
    l1           Σ_{i≤j} |M_ij|
    l2           ‖M‖_F
    linf         max |M_ij|

l1: independent Laplace entries on and above the diagonal. linf: a point of the boundary of a cube, a face chosen
uniformly and the rest uniform on it. l2: a uniform direction, of a Gaussian with variance 1 on the diagonal and 1/2 off
it. schatten1: the symmetric law of `nuclear_laplace`.

covariance: tr M₊ + tr M₋ = ‖M‖_* and tr M₊ − tr M₋ = tr M, so ‖M‖_K = (‖M‖_* + |tr M|)/2, a norm. Under a law with
density φ(‖M‖_L), L any norm, the direction W of M has density ∝ ∫ φ(r ‖W‖_L) r^{D−1} dr ∝ ‖W‖_L^{−D} with respect to
one and the same measure on directions. So directions of nuclear-Laplace noise are turned into those of K by accepting
each with a probability ∝ (‖W‖_*/‖W‖_K)^D. The ratio is at most 2, hence the probability

    (‖W‖_*/(2‖W‖_K))^D = (1 + |tr W|/‖W‖_*)^{−D},

which is exact rejection. The rate is 1/2 at d = 1, 7/24 at d = 2, and falls like 1/d only, as |tr W|/‖W‖_* is of order
1/d (measured: 0.13, 0.071, 0.041 at d = 5, 10, 20).
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
    """D = d(d + 1)/2, the shape of the Gamma law of ‖Z‖_K."""
    return d * (d + 1) / 2


def covariance_norm(nuclear: Number, trace: Number) -> Number:
    """max(tr M₊, tr M₋) = (‖M‖_* + |tr M|)/2."""
    return (nuclear + abs(trace)) / 2


def acceptance(nuclear: Number, trace: Number, d: Number) -> Number:
    """(‖M‖_*/(2‖M‖_K))^D for the covariance body."""
    return (nuclear / (2 * covariance_norm(nuclear, trace))) ** degrees_of_freedom(d)


# THE LAW


def norm(m: Matrix, body: Body) -> Vector:
    """‖M‖_K of one symmetric matrix or of a stack, shape (..., d, d) -> (...)."""
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
    """P(‖Z‖_K ≤ t), the same for every body: the regularised incomplete Gamma function."""
    values: Vector = gammainc(float(degrees_of_freedom(dimension)), np.maximum(t, 0.0))
    return values


def _symmetric(triangles: Matrix, d: int) -> Matrix:
    """The symmetric matrices with these entries on and above the diagonal, (size, D) -> (size, d, d)."""
    z = np.zeros((len(triangles), d, d))
    z[:, *np.triu_indices(d)] = triangles
    full: Matrix = z + np.swapaxes(np.triu(z, 1), 1, 2)
    return full


def _covariance_spectra(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Eigenvalues of the directions of the covariance body, with ‖·‖_K = 1: (size, d)."""
    accepted = np.empty((0, d))
    while len(accepted) < size:
        proposed = nuclear_laplace.sample_spectrum(d, rng, max(8, 2 * d * (size - len(accepted))), symmetric=True)
        nuclear, trace = np.abs(proposed).sum(axis=1), proposed.sum(axis=1)
        keep = rng.random(len(proposed)) < acceptance(nuclear, trace, d)
        shapes = proposed / covariance_norm(nuclear, trace)[:, None]
        accepted = np.concatenate([accepted, shapes[keep]])
    return accepted[:size]


def sample(body: Body, dimension: int, rng: np.random.Generator, size: int | None = None) -> Matrix:
    """Draw Z: (d, d) symmetric, or (size, d, d). Exact up to float64 rounding."""
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
            z = (z + np.swapaxes(z, 1, 2)) / 2  # removes rounding only
    drawn: Matrix = z[0] if size is None else z
    return drawn
