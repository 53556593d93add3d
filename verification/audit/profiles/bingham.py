"""How to audit a private leading eigenvector: the Bingham law with exponent η.

On data whose second moment has two levels (k copies of one direction, nothing else) every law of the form
g(uᵀAu), A = η(λ_max I − C), is one-dimensional: w = 1 − ⟨u, v⟩² has density proportional to
w^{(q−3)/2} (1 − w)^{−1/2} g(ηk w). The Bingham law has g(y) = e^{−y}; the known mistakes have another g, so each of
them has an exact distribution function too.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import bingham as law
from covassay.reference.laws import haar
from covassay.reference.laws.panels import Panels
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure import bingham as mechanism
from covassay.reference.sensitivity import neighbours, orthonormal_pair
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.privacy import CONFIDENCE, Pair, Statistic, generic_statistics
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile, common_pairs
from covassay.verification.statistics.ratio import EventCounts, log_ratio_lower
from covassay.verification.statistics.tests import TestResult, kolmogorov_smirnov

DECAY = 4.0  # η k on the two-level data: where the laws differ most for the draws they cost
WRONG_DIMENSION = 6
WRONG_COPIES = 400
AIMED_WEIGHT = 1.0

LogDensity = Callable[[Vector, float, float, float], Vector]  # (y, η, b, q) -> ln g(y)


@dataclass(frozen=True)
class Mistake:
    """A known mistake and the law that it samples instead, ∝ g(y)."""

    name: str
    explanation: str
    log_density: LogDensity


MISTAKES = (
    Mistake(
        "acg-sign",
        "the density of the angular central Gaussian proposal enters the acceptance ratio with the wrong sign of its "
        "exponent: (uᵀΩu)^{q/2} divides where it should multiply, so the draws follow exp(−uᵀAu) (uᵀΩu)^{−q} in place "
        "of exp(−uᵀAu)",
        lambda y, eta, b, q: -y - q * np.log1p(2 * y / b),
    ),
    Mistake(
        "accept-all",
        "every proposal is accepted: the draws follow the angular central Gaussian (uᵀΩu)^{−q/2}",
        lambda y, eta, b, q: -q / 2 * np.log1p(2 * y / b),
    ),
    Mistake("double-exponent", "the exponent is twice the calibrated one", lambda y, eta, b, q: -2 * y),
    Mistake("half-exponent", "the exponent is half the calibrated one", lambda y, eta, b, q: -y / 2),
    Mistake("quadruple-exponent", "the exponent is four times the calibrated one", lambda y, eta, b, q: -4 * y),
    Mistake("uniform", "the draws are uniform: the data are not used", lambda y, eta, b, q: 0 * y),
)


def two_level_cdf(log_g: Callable[[Vector], Vector], q: int) -> Callable[[Vector], Vector]:
    """The distribution function of w for the law g, on data with one strong direction in R^q, q ≥ 2."""
    panels = Panels(np.linspace(0, math.pi / 2, 65))
    theta = panels.nodes  # w = sin²θ
    density = np.sin(theta) ** (q - 2) * np.exp(log_g(np.sin(theta) ** 2))
    of_angle = panels.distribution(density)
    return lambda w: of_angle(np.arcsin(np.sqrt(np.clip(w, 0.0, 1.0))))


def two_level(q: int, eta: float) -> Scenario:
    """k copies of one direction that is no coordinate axis, with η k near `DECAY`."""
    k = math.ceil(DECAY / eta)
    direction = np.ones(q) / math.sqrt(q)
    x = np.tile(direction, (k, 1))
    decay = eta * k
    a = np.array([0.0] + [decay] * (q - 1))
    b = law.envelope_parameter(a)

    def missing(u: Matrix) -> Vector:
        w: Vector = np.clip(1 - (u @ direction) ** 2, 0.0, 1.0)
        return w

    def against(mistake: Mistake) -> Test:
        cdf = two_level_cdf(lambda w: mistake.log_density(decay * w, eta, b, float(q)), q)
        return lambda u: kolmogorov_smirnov(missing(u), cdf, mistake.name)

    exact = law.projection_cdf(eta * (x.T @ x), range(1, q))

    def test(u: Matrix) -> TestResult:
        return kolmogorov_smirnov(missing(u), exact, "1 − ⟨u, v⟩² follows the exact Bingham law")

    def around(u: Matrix) -> TestResult:
        axis = np.zeros(q)
        axis[:2] = 1 / math.sqrt(2), -1 / math.sqrt(2)
        share = (u @ axis) ** 2 / missing(u)
        return kolmogorov_smirnov(
            share, lambda w: haar.squared_coordinate_cdf(w, q - 1), "uniform around the strong direction"
        )

    return Scenario(
        f"two levels, d={q}",
        x,
        {"leading component": test} | ({"around it": around} if q > 2 else {}),
        tuple(Suspect(m.name, m.explanation, against(m)) for m in MISTAKES),
        weight=1.5 / q,  # rejection samplers slow down with the dimension; the laws differ more
    )


def three_level(eta: float) -> Scenario:
    """Three distinct eigenvalues: every squared component has an exact law."""
    counts = [math.ceil(c / eta) for c in (5.0, 3.0, 1.0)]
    x = np.repeat(np.eye(3), counts, axis=0)
    m = eta * (x.T @ x)

    def component(i: int) -> Test:
        cdf = law.projection_cdf(m, [i])
        return lambda u: kolmogorov_smirnov(u[:, i] ** 2, cdf, f"⟨u, v{i + 1}⟩² follows the exact Bingham law")

    return Scenario("three levels, d=3", x, {f"component {i + 1}": component(i) for i in range(3)}, weight=0.4)


def copies_and_one_more(q: int, k: int) -> tuple[Matrix, Matrix]:
    """Neighbours: k copies of e₁ and k of e₂, and one more of the one or of the other."""
    return neighbours(np.repeat(np.eye(q)[:2], k, axis=0), *orthonormal_pair(q))


# THE PAIR THAT THE SIGN MISTAKE CANNOT HIDE FROM


@dataclass(frozen=True)
class WrongLaw:
    """Exact figures for the law exp(−y)(1 + 2y/b)^{−q} on (k+1, k) and on (k, k+1) copies of e₁, e₂."""

    threshold: float
    supremum: float
    limit: float
    acceptance: float


@lru_cache(maxsize=8)
def wrong_law(q: int, k: int, eta: float, draws: float) -> WrongLaw:
    """The event of likelihood ratio with the largest expected bound, and the exact losses.

    u = (√(1−w) cos φ, √(1−w) sin φ, rest) with w ~ Beta((q−2)/2, 1) and φ uniform under the uniform law of the sphere,
    so every probability is a double integral.
    """
    a = eta * np.array([0.0, 1.0] + [k + 1.0] * (q - 2))
    b = law.envelope_parameter(a)
    t, weight = np.polynomial.legendre.leggauss(300)
    s = (t + 1) / 2
    w = s[:, None] ** 3  # crowds the nodes near w = 0, where the mass is
    phi = (np.arange(600) + 0.5) / 600 * math.pi / 2
    base = (weight * 3 * s**2)[:, None] * w ** ((q - 2) / 2 - 1) * np.ones_like(phi)
    first, second = (1 - w) * np.cos(phi) ** 2, (1 - w) * np.sin(phi) ** 2
    y, y_swapped = eta * (second + (k + 1) * w), eta * (first + (k + 1) * w)
    log_p = -y - q * np.log1p(2 * y / b)
    ratio = log_p - (-y_swapped - q * np.log1p(2 * y_swapped / b))
    p, p_swapped = base * np.exp(log_p), base * np.exp(log_p - ratio)
    order = np.argsort(-ratio, axis=None)
    above = np.cumsum((p / p.sum()).ravel()[order])
    above_swapped = np.cumsum((p_swapped / p_swapped.sum()).ravel()[order])
    candidates = np.searchsorted(above, np.linspace(0.02, 0.6, 59))
    bounds = [
        log_ratio_lower(
            EventCounts(round(draws * above[i]), round(draws * above_swapped[i]), 10**9, 10**9, draws), CONFIDENCE
        )
        for i in candidates
    ]
    best = candidates[int(np.argmax(bounds))]
    accepted = base * np.exp(log_p - law.log_envelope_bound(b, q))
    proposed = base * (1 + 2 * y / b) ** (-q / 2)
    far = law.envelope_parameter(eta * np.array([0.0, 1.0] + [1e9] * (q - 2)))
    return WrongLaw(
        float(ratio.ravel()[order[best]]),
        eta + q * math.log1p(2 * eta / b),
        eta + q * math.log1p(2 * eta / far),
        float(accepted.sum() / proposed.sum()),
    )


def sign_mistake_pair(eta: float, epsilon: float, samples: float) -> Pair:
    """The pair at d = 6 and the likelihood-ratio event of the law that the sign mistake samples."""
    q, k = WRONG_DIMENSION, math.ceil(WRONG_COPIES * 0.25 / eta)
    first, second = copies_and_one_more(q, k)
    a = eta * np.array([0.0, 1.0] + [k + 1.0] * (q - 2))
    b = law.envelope_parameter(a)
    facts = wrong_law(q, k, eta, samples)

    def ratio(u: Matrix) -> Vector:
        y1, y2 = (eta * (k + 1 - u**2 @ np.array([k + e, k + 1 - e] + [0.0] * (q - 2))) for e in (1, 0))
        values: Vector = (y2 - y1) + q * (np.log1p(2 * y2 / b) - np.log1p(2 * y1 / b))
        return values

    return Pair(
        f"{k} copies of e₁ and of e₂ and one more, d={q}",
        first,
        second,
        (Statistic("log likelihood ratio of the law that fits", ratio, facts.threshold),),
        weight=AIMED_WEIGHT,
        remarks=(
            f"the law that fits has loss {facts.supremum:.3f} on this pair and {facts.limit:.3f} as n → ∞, exactly "
            f"(claim {epsilon:g}); the correct law {2 * eta:g} at most",
            f"it accepts {facts.acceptance:.2g} of its proposals, the correct sampler "
            f"{law.acceptance_rate(-np.diag(a)):.2g}",
        ),
    )


def profile(claim: ClaimUnderAudit) -> Profile:
    """Scenarios and pairs; the size of the run aims the event for the sign mistake."""
    epsilon = claim.budget["epsilon"]
    eta = mechanism.exponent(epsilon, claim.options["calibration"])

    def pairs(fitted: frozenset[str]) -> tuple[Pair, ...]:
        def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
            return generic_statistics(first, second, OUTPUTS["direction"])

        first, second = copies_and_one_more(3, 40)
        close = Pair(
            "40 copies of e₁ and of e₂ and one more, d=3", first, second, statistics(first, second), weight=0.15
        )
        aimed = (sign_mistake_pair(eta, epsilon, claim.samples * AIMED_WEIGHT),) if "acg-sign" in fitted else ()
        return (*aimed, *common_pairs(OUTPUTS["direction"], statistics, (3,), weight=0.25), close)

    scenarios = (two_level(2, eta), two_level(3, eta), two_level(5, eta), three_level(eta))
    return Profile(claim.form, scenarios, pairs)
