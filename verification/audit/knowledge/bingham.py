"""A private leading eigenvector has a Bingham law. On data with two or three distinct eigenvalues, the distribution
functions of its squared components are known exactly.

The released unit vector u has a density g(uᵀAu) with A = η(λ_max I − C). In the density g(uᵀAu), η is the exponent, C
is the sum of xxᵀ over the rows x, and λ_max is the largest eigenvalue of C. On k copies of one direction v in R^q, the
law of the eigenvector u depends on w = 1 − ⟨u, v⟩² alone, whose density is proportional to w^{(q−3)/2} (1 − w)^{−1/2}
g(ηk w). The right law, the Bingham law, has g(y) = e^{−y}. A wrong exponent and each known bug correspond to another
function g, so the distribution function of w is also known for the wrong laws.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import bingham as bingham_law
from covassay.reference.laws import haar
from covassay.reference.laws.panels import Panels
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure import bingham as mechanism
from covassay.reference.sensitivity import neighbours, orthonormal_pair
from covassay.verification.audit.engine.events import Pair, Statistic, generic_statistics
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import near_choices
from covassay.verification.audit.knowledge.shared.data_paths import SAME_MOMENT, NotAdditive
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, Pairs, common_pairs
from covassay.verification.audit.knowledge.shared.wrong_exponents import LEVELS, WRONG_EXPONENTS
from covassay.verification.audit.known_bugs import of_bingham
from covassay.verification.audit.known_bugs.known_bug import LogDensity
from covassay.verification.statistics.tests import TestResult, kolmogorov_smirnov

# this is the exponent times the number of copies of a direction; with this product, a wrong law is detected fastest
DECAY = 4.0
PANELS = 64  # the number of intervals in the quadrature over the angle


def with_exponent(factor: float) -> LogDensity:
    """Return the log density of the Bingham law with its exponent multiplied by `factor`."""
    return lambda y, b, q: -factor * y


def two_level_cdf(log_g: Callable[[Vector], Vector], q: int) -> Callable[[Vector], Vector]:
    """Return the distribution function of w = 1 − ⟨u, v⟩² for a density g(uᵀAu), on copies of one direction v in R^q, q
    ≥ 2.
    """
    panels = Panels(np.linspace(0, math.pi / 2, PANELS + 1))
    theta = panels.nodes  # w = sin²θ
    density = np.sin(theta) ** (q - 2) * np.exp(log_g(np.sin(theta) ** 2))
    of_angle = panels.distribution(density)
    return lambda w: of_angle(np.arcsin(np.sqrt(np.clip(w, 0.0, 1.0))))


def two_level(q: int, eta: float) -> Scenario:
    """Return k copies of one direction that is no coordinate axis, where k is about `DECAY` divided by the exponent."""
    k = math.ceil(DECAY / eta)
    direction = np.ones(q) / math.sqrt(q)
    x = np.tile(direction, (k, 1))

    def missing(u: Matrix) -> Vector:
        w: Vector = np.clip(1 - (u @ direction) ** 2, 0.0, 1.0)
        return w

    exact = bingham_law.projection_cdf(eta * (x.T @ x), range(1, q))

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
        _suspects(missing, q, eta * k),
        # rejection samplers are slow in high dimensions, but the laws differ more in high dimensions
        weight=1.5 / q,
    )


def _suspects(missing: Callable[[Matrix], Vector], q: int, decay: float) -> tuple[Suspect, ...]:
    """Return the laws of known bugs and of wrong exponents, with tests on data that are copies of one direction."""
    b = bingham_law.envelope_parameter(np.array([0.0] + [decay] * (q - 1)))

    def follows(log_density: LogDensity) -> Test:
        cdf = two_level_cdf(lambda w: log_density(decay * w, b, float(q)), q)
        return lambda u: kolmogorov_smirnov(missing(u), cdf, "another law")

    def exponent(factor: float) -> Test:
        return follows(with_exponent(factor))

    return (
        *(Suspect(bug.name, bug.explanation, follows(bug.log_density), exponent) for bug in of_bingham.BUGS),
        *(Suspect.times(*wrong, exponent) for wrong in WRONG_EXPONENTS),
    )


def one_direction(n: int, q: int, eta: float) -> Scenario:
    """Return n copies of one direction v, with a test of w = 1 − ⟨u, v⟩² for the released vector u. The distribution
    function of w is fast to compute for every d.
    """
    direction = np.ones(q) / math.sqrt(q)
    cdf = two_level_cdf(lambda w: -eta * n * w, q)

    def test(u: Matrix) -> TestResult:
        w = np.clip(1 - (u @ direction) ** 2, 0.0, 1.0)
        return kolmogorov_smirnov(w, cdf, "1 − ⟨u, v⟩² follows the exact Bingham law")

    return Scenario(f"one direction, n={n}, d={q}", np.tile(direction, (n, 1)), {"leading component": test})


def three_level(eta: float) -> Scenario:
    """Return a data set with three distinct eigenvalues, on which the law of every squared component is tested."""
    counts = [math.ceil(c / eta) for c in LEVELS]
    x = np.repeat(np.eye(3), counts, axis=0)
    m = eta * (x.T @ x)

    def component(i: int) -> Test:
        cdf = bingham_law.projection_cdf(m, [i])
        return lambda u: kolmogorov_smirnov(u[:, i] ** 2, cdf, f"⟨u, v{i + 1}⟩² follows the exact Bingham law")

    return Scenario("three levels, d=3", x, {f"component {i + 1}": component(i) for i in range(3)}, weight=0.4)


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the eigenvector on data with two and with three distinct eigenvalues.

    If the draws fit the law of a known bug, the function adds neighbours on which this bug has a large privacy loss, if
    such neighbours are known.
    """
    epsilon = claim.budget["epsilon"]
    eta = mechanism.exponent(epsilon, claim.options["calibration"])

    def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
        return generic_statistics(first, second, OUTPUTS["direction"])

    def pairs(fitted: frozenset[str]) -> Pairs:
        aimed = (
            bug.aimed_pair(eta, epsilon, claim.samples)
            for bug in of_bingham.BUGS
            if bug.aimed_pair and bug.name in fitted
        )
        first, second = neighbours(np.repeat(np.eye(3)[:2], 40, axis=0), *orthonormal_pair(3))
        close = Pair(
            "40 copies of e₁ and of e₂ and one more, d=3", first, second, statistics(first, second), weight=0.15
        )
        return (*aimed, *common_pairs(OUTPUTS["direction"], statistics, (3,), weight=0.25), close)

    scenarios = (two_level(2, eta), two_level(3, eta), two_level(5, eta), three_level(eta))
    shapes = Shapes(lambda n, d: one_direction(n, d, eta), ("leading component",), lambda d: 1, grid(fewest_columns=2))
    return KnownLaw(scenarios, pairs, shapes)


def many(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float, **options: Any) -> list[Matrix]:
    """Draw many eigenvectors at once from the Bingham law whose matrix `release` computes from the data."""
    seen: list[Matrix] = []

    def remember(m: Matrix) -> Matrix:
        seen.append(m)
        first: Matrix = np.eye(len(m))[0]
        return first

    mechanism.release(x, remember, epsilon=epsilon, **options)
    return list(bingham_law.sample(seen[0], rng, size))


KNOWN = Known(
    law,
    NotAdditive("the direction is drawn from a law whose parameter is the second moment", SAME_MOMENT, continuous=True),
    many=many,
    choices=lambda claim: near_choices.eigenvalue_gaps(
        1 / mechanism.exponent(claim.budget["epsilon"], claim.options["calibration"])
    ),
)
