"""Check the density of the privacy loss of the ℓ2 mechanism under (ε, δ)-DP, and the scale of its noise.

The checks compare the density and the scale with a δ that is computed from the areas of spherical caps.

Let P and Q be the output laws on two neighbours, a and b their means, and ‖a − b‖ = q. The points at distance r from a
where the loss is above ε form a cap of the sphere about a, and those at distance r from b form a cap of the sphere
about b. The distance of an output to the mean of its law is Gamma(D) under P and under Q, and is independent of the
direction. The least δ at ε is P(ℓ > ε) − e^ε Q(ℓ > ε), where ℓ is the privacy loss. Given the distance r, the
probability of ℓ > ε is the share of the sphere that the cap covers. The check computes P(ℓ > ε) and Q(ℓ > ε) by
averaging this conditional probability over the Gamma law of r. It does not use the density of ℓ.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.special import betainc
from scipy.stats import gamma

from covassay.reference.mechanisms.approximate import l2_approximate as mechanism
from covassay.verification.claims.evidence import Found, check, mutant

CASES = ((1.5, 1.0), (0.3, 0.1), (5.0, 1.0), (9.0, 0.5))  # pairs (q, ε)
# a relative allowance, because the difference of two probabilities that a quadrature gives loses several digits
CLOSE = 1e-8


def cap(cosine: float, entries: int) -> float:
    """Return the share of a sphere in ℝ^D that lies within the angle with cosine `cosine` of a fixed direction."""
    inside = min(max(cosine, -1.0), 1.0)
    half = float(betainc((entries - 1) / 2, 0.5, 1 - inside**2)) / 2
    return half if inside >= 0 else 1 - half


def over_radii(share: Callable[[float], float], start: float, entries: int) -> float:
    """Return the mean of `share` at a Gamma(D) radius; `share` is 0 below `start`."""
    edges = [start, start + 1, start + entries, start + 3 * entries + 20, start + 10 * entries + 120]
    return sum(
        float(quad(lambda r: gamma.pdf(r, entries) * share(r), low, high, epsabs=0, epsrel=1e-11, limit=200)[0])
        for low, high in pairwise(edges)
    )


def delta_of_caps(q: float, epsilon: float, entries: int) -> float:
    """Return the least δ at ε, for ε < q, computed from the probabilities of caps."""
    near = (q - epsilon) / 2
    whole = float(gamma.cdf(near, entries))  # radii at which the loss is above ε in every direction
    first = over_radii(lambda r: cap((2 * r * epsilon + epsilon**2 - q**2) / (2 * r * q), entries), near, entries)
    far = (q + epsilon) / 2
    second = over_radii(lambda r: cap((2 * r * epsilon + q**2 - epsilon**2) / (2 * r * q), entries), far, entries)
    return whole + first - math.exp(epsilon) * second


@check("floating", less="factor", scope=f"{len(CASES)} pairs of q and ε for each D")
@mutant("κ is left out", factor=lambda q, entries: 0.0)
@mutant("κ of z = q in place of q/2", factor=lambda q, entries: mechanism.kappa(2 * q, entries))
@mutant(
    "the power of the sine is too small by one",
    weight=lambda c, s, q, entries, kappa: mechanism.log_weight(c, s, q, entries - 1, kappa),
)
@mutant(
    "e^ℓ in place of e^{ℓ/2}",
    weight=lambda c, s, q, entries, kappa: q * c / 2 + mechanism.log_weight(c, s, q, entries, kappa),
)
@mutant("the density of Q", weight=lambda c, s, q, entries, kappa: mechanism.log_weight(-c, s, q, entries, kappa))
def loss_density(
    weight: Callable[..., float] = mechanism.log_weight, factor: Callable[[float, int], float] = mechanism.kappa
) -> Found:
    """The δ from the density of the loss is equal to the δ from the probabilities of caps, for D = 3, 6, 10 and 21."""
    for entries in (3, 6, 10, 21):
        for q, epsilon in CASES:
            kappa = factor(q, entries)

            def density(x: float, q: float = q, entries: int = entries, kappa: float = kappa) -> float:
                return (
                    math.exp(weight(math.cos(x), math.log(math.sin(x)), q, entries, kappa)) if 0 < x < 3.14159 else 0.0
                )

            def beyond(x: float, q: float = q, epsilon: float = epsilon, of: Any = density) -> float:
                return -math.expm1(epsilon - q * math.cos(x)) * float(of(x))

            all_of_it = quad(density, 0, math.pi, epsabs=0, limit=200)[0]
            found = quad(beyond, 0, math.acos(epsilon / q), epsabs=0, limit=200)[0] / all_of_it
            yield {f"D={entries}, q={q}: {found:.6g}": abs(found / delta_of_caps(q, epsilon, entries) - 1) < CLOSE}


def scaled(factor: float) -> Callable[..., Any]:
    """Return a deliberately wrong `release`, whose noise is multiplied by `factor`."""
    return lambda x, noise, **given: mechanism.release(x, factor * np.asarray(noise), **given)


def of_more_columns(x: Any, noise: Any, **given: Any) -> Any:
    """Return the result of `release` with a deliberate error: for d > 1 the scale is that of d + 1 columns."""
    d = np.shape(x)[1]
    right = mechanism.largest_move(given["epsilon"], given["delta"], d)
    wrong = mechanism.largest_move(given["epsilon"], given["delta"], d + 1 if d > 1 else 1)
    return mechanism.release(x, np.asarray(noise) * right / wrong, **given)


@check("floating", scope="d = 1 to 4, and three pairs of ε and δ")
@mutant("3 % less noise", release=scaled(0.97))
@mutant("3 % more noise", release=scaled(1.03))
@mutant("the noise for adding or removing a row", release=scaled(0.5**0.5))
@mutant("the scale of one more column", release=of_more_columns)
def least_scale(release: Callable[..., Any] = mechanism.release) -> Found:
    """If a row is replaced by an orthogonal one, the noise that `release` adds gives the claimed δ as the least δ at ε,
    by the probabilities of caps.

    At d = 1 the worst neighbours are a unit row and a row of zeros, and the closed form gives the δ.
    """
    n = 2
    for d in (1, 2, 3, 4):
        for epsilon, delta in ((1.0, 1e-3), (0.25, 1e-2), (2.0, 0.2)):
            z = np.ones((d, d))
            x = np.zeros((n, d))
            x[0, 0] = 1
            other = np.zeros((n, d))
            other[0, 1:2] = 1
            moved = [release(rows, 0 * z, epsilon=epsilon, delta=delta) for rows in (x, other)]
            added = release(x, z, epsilon=epsilon, delta=delta) - moved[0]
            q = float(np.linalg.norm(moved[0] - moved[1])) / float(added[0, 0])
            entries = d * (d + 1) // 2
            found = delta_of_caps(q, epsilon, entries) if d > 1 else -math.expm1((epsilon - q) / 2)
            right = abs(found / delta - 1) < 1e-6
            yield {f"d={d}, ε={epsilon}, δ={delta}: {found:.6g}": right}
