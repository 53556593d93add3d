"""Describe a Bingham sampler whose acceptance ratio multiplies by the proposal's density in place of dividing by it.

The proposal is the angular central Gaussian law with density (uᵀΩu)^{−q/2}, Ω = I + 2A/b. Rejection sampling of
exp(−uᵀAu) accepts with a probability proportional to exp(−uᵀAu) (uᵀΩu)^{q/2}. If the exponent q/2 has the wrong sign,
the draws follow exp(−uᵀAu) (uᵀΩu)^{−q}. The factor (uᵀΩu)^{−q} depends on the data, so the privacy loss exceeds ε.

The loss is computed for two neighbours, of which one has k + 1 copies of e₁ and k of e₂, and the other has k copies of
e₁ and k + 1 of e₂. For these neighbours the matrix is A = η diag(0, 1, k + 1, …, k + 1), up to the order of the first
two axes. Every probability is therefore a double integral over w and φ, where u = (√(1−w) cos φ, √(1−w) sin φ, rest).
Under the uniform law of the sphere, w is a Beta((q−2)/2, 1) variable and φ is uniform.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import bingham as law
from covassay.reference.sensitivity import neighbours, orthonormal_pair
from covassay.verification.audit.engine.events import Pair, Statistic
from covassay.verification.audit.engine.privacy import CONFIDENCE
from covassay.verification.audit.known_bugs.known_bug import KnownBug
from covassay.verification.statistics.ratio import EventCounts, log_ratio_lower

# The privacy loss of the wrong law grows with the dimension, but the share of accepted proposals falls. In this
# dimension, the loss is already large.
DIMENSION = 6
# For ε = 1, where η = 1/4, this is the number k of copies of e₁ and of e₂ in the data sets. With so many copies, the
# privacy loss is near its limit for k → ∞.
COPIES_AT_QUARTER = 400
RADIAL_NODES = 300  # Gauss–Legendre nodes in ∛w
ANGULAR_NODES = 600  # the number of midpoints in the angle φ; a periodic integrand needs few of them
SHARES = np.linspace(0.02, 0.6, 59)  # these are the probabilities of the likelihood-ratio events that are compared
FAR = 1e9  # this large number replaces k + 1, so that the computed envelope parameter is close to its limit for k → ∞


def log_density(y: Vector, b: float, q: float) -> Vector:
    """Return the log density −y − q ln(1 + 2y/b) of the law that the bug samples, for y = uᵀAu."""
    values: Vector = -y - q * np.log1p(2 * y / b)
    return values


def loss(eta: float, b: float, q: int) -> float:
    """Return the largest log ratio of the densities on the two neighbours. Between the neighbours y = uᵀAu changes by
    at most η, and the ratio is largest if y changes from 0 to η.
    """
    return eta + q * math.log1p(2 * eta / b)


def exact_loss(eta: float, q: int) -> float:
    """Return the loss on the pair of neighbours in the limit k → ∞."""
    return loss(eta, law.envelope_parameter(eta * np.array([0.0, 1.0] + [FAR] * (q - 2))), q)


def exponents(q: int, k: int, eta: float) -> Vector:
    """Return the diagonal of the matrix A of the law for k + 1 copies of e₁ and k of e₂."""
    a: Vector = eta * np.array([0.0, 1.0] + [k + 1.0] * (q - 2))
    return a


@dataclass(frozen=True)
class _Quadrature:
    """The nodes and weights of a quadrature for the uniform law on the sphere. A node is given by the squares of the
    first two coordinates, and by w, which is 1 minus the sum of these squares.
    """

    first: Matrix
    second: Matrix
    w: Matrix
    weights: Matrix


def _quadrature(q: int) -> _Quadrature:
    t, weight = np.polynomial.legendre.leggauss(RADIAL_NODES)
    s = (t + 1) / 2
    w = s[:, None] ** 3  # the third power concentrates the nodes near w = 0, where most of the mass is
    phi = (np.arange(ANGULAR_NODES) + 0.5) / ANGULAR_NODES * math.pi / 2
    weights = (weight * 3 * s**2)[:, None] * w ** ((q - 2) / 2 - 1) * np.ones_like(phi)
    return _Quadrature((1 - w) * np.cos(phi) ** 2, (1 - w) * np.sin(phi) ** 2, w, weights)


@dataclass(frozen=True)
class WrongLaw:
    """Facts about the wrong law of the draws on two neighbours. `threshold` and `acceptance` are computed by
    quadrature.

    threshold : the event {log likelihood ratio ≥ threshold} gives the largest expected lower bound on the privacy loss.
    supremum : the privacy loss of the wrong law on these two neighbours.
    acceptance : the share of the proposals that the sampler with the wrong law accepts.
    """

    threshold: float
    supremum: float
    acceptance: float


@lru_cache(maxsize=8)
def wrong_law(q: int, k: int, eta: float, draws: float) -> WrongLaw:
    """Return the facts about the wrong law on two neighbours. One of them has k + 1 copies of e₁ and k copies of e₂,
    and the other has k copies of e₁ and k + 1 copies of e₂. The threshold of the event is the best one for `draws`
    draws on each data set.
    """
    b = law.envelope_parameter(exponents(q, k, eta))
    at = _quadrature(q)
    y, y_swapped = eta * (at.second + (k + 1) * at.w), eta * (at.first + (k + 1) * at.w)
    log_p = log_density(y, b, q)
    ratio = log_p - log_density(y_swapped, b, q)
    accepted = at.weights * np.exp(log_p - law.log_envelope_bound(b, q))
    proposed = at.weights * (1 + 2 * y / b) ** (-q / 2)
    return WrongLaw(
        _best_threshold(ratio, at.weights * np.exp(log_p), at.weights * np.exp(log_p - ratio), draws),
        loss(eta, b, q),
        float(accepted.sum() / proposed.sum()),
    )


def _best_threshold(ratio: Matrix, p: Matrix, p_swapped: Matrix, draws: float) -> float:
    """Return the threshold of the likelihood-ratio event whose expected counts give the largest lower bound on the
    loss.
    """
    order = np.argsort(-ratio, axis=None)
    above = np.cumsum((p / p.sum()).ravel()[order])
    above_swapped = np.cumsum((p_swapped / p_swapped.sum()).ravel()[order])
    candidates = np.searchsorted(above, SHARES)
    size = round(draws)
    bounds = [
        log_ratio_lower(
            EventCounts(round(draws * above[i]), round(draws * above_swapped[i]), size, size, draws), CONFIDENCE
        )
        for i in candidates
    ]
    best = candidates[int(np.argmax(bounds))]
    return float(ratio.ravel()[order[best]])


def aimed_pair(eta: float, epsilon: float, draws: float) -> Pair:
    """Return two neighbours on which the wrong law has a large privacy loss. The tested event is fixed in advance: the
    likelihood ratio of an output under the wrong law is at least a threshold.
    """
    q, k = DIMENSION, math.ceil(COPIES_AT_QUARTER * 0.25 / eta)
    first, second = neighbours(np.repeat(np.eye(q)[:2], k, axis=0), *orthonormal_pair(q))
    a = exponents(q, k, eta)
    b = law.envelope_parameter(a)
    facts = wrong_law(q, k, eta, draws)

    def ratio(u: Matrix) -> Vector:
        y1, y2 = (eta * (k + 1 - u**2 @ np.array([k + e, k + 1 - e] + [0.0] * (q - 2))) for e in (1, 0))
        values: Vector = (y2 - y1) + q * (np.log1p(2 * y2 / b) - np.log1p(2 * y1 / b))
        return values

    return Pair(
        f"{k} copies of e₁ and of e₂ and one more, d={q}",
        first,
        second,
        (
            Statistic(
                "log likelihood ratio between the two data sets under the wrong law that fits", ratio, facts.threshold
            ),
        ),
        remarks=(
            f"the wrong law that fits has exactly the privacy loss {facts.supremum:.3f} on this pair, and "
            f"{exact_loss(eta, q):.3f} in the limit n → ∞ (the claim is {epsilon:g}); the correct law has a loss of at "
            f"most {2 * eta:g}",
            f"a sampler of the wrong law accepts a share of {facts.acceptance:.2g} of its proposals, and the correct "
            f"sampler accepts a share of {law.acceptance_rate(-np.diag(a)):.2g}",
        ),
    )


BUG = KnownBug(
    name="acg-sign",
    explanation=(
        "the density of the angular central Gaussian proposal has the wrong sign of its exponent in the acceptance "
        "ratio. The ratio is divided by (uᵀΩu)^{q/2}, but must be multiplied by this factor. The density of the draws "
        "is therefore proportional to exp(−uᵀAu) (uᵀΩu)^{−q}, and not to exp(−uᵀAu)"
    ),
    seen_in="diffprivlib 0.6.6, OpenDP 0.16.0",
    log_density=log_density,
    exact_loss=exact_loss,
    aimed_pair=aimed_pair,
)
