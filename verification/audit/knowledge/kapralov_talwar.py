"""The Kapralov–Talwar mechanism releases one noisy eigenvector and eigenvalue per round, and its law is exact on two
data sets.

Let Y be the output of the Kapralov–Talwar mechanism on n rows. On data with one feature, nY is the noisy eigenvalue
that the only round releases. The second data set has two features and n = 2K rows with XᵀX = K·I. The first direction
u₁ that is drawn is uniform, its noisy eigenvalue is l₁ = K + bz₁ with a Laplace variable z₁, and the second round uses
K·I − l₁ u₁u₁ᵀ. If u₂ is the second direction, w = ⟨u₁, u₂⟩² follows the Bingham law on the circle with the exponent η(K
+ bz₁). If no eigenvalue is clipped, the trace is tr nY = K + bz₁ + (1 − w)K − bz₁w + bz₂.

The distribution function of tr nY is therefore a double integral over z₁ and w.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import scipy

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import haar
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure import kapralov_talwar as mechanism
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import near_choices, reference_draws
from covassay.verification.audit.knowledge.shared.data_paths import SAME_MOMENT, NotAdditive
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.statistics.laws import LAPLACE
from covassay.verification.statistics.tests import TestResult, kolmogorov_smirnov

PANEL_NODES = 12  # the number of Gauss–Legendre nodes on each panel of the integral over the Laplace variable z₁
ANGULAR_NODES = 160  # the number of Gauss–Legendre nodes of the integral over the angle
# at this distance from 0 and n, in noise scales, an eigenvalue is clipped with probability below e^{-60}
DISTANCE = 60.0


@lru_cache(maxsize=16)
def trace_cdf(decay: float, distance: float, factor: float) -> Callable[[Vector], Vector]:
    """Return the distribution function of z₁(1 − w) + z₂ − Kw/b for Laplace z₁, z₂ and a Bingham w, with an error below
    1e-5.

    `decay` is ηb and `distance` is K/b in the notation of the module, and `factor` multiplies z₁ and z₂.
    """
    z, weight = _laplace_quadrature()
    angles, circle = np.polynomial.legendre.leggauss(ANGULAR_NODES)
    w = np.sin((angles + 1) * math.pi / 4) ** 2
    density = circle * np.exp(-decay * (distance + factor * z[:, None]) * w)
    joint = weight[:, None] * density / density.sum(axis=1, keepdims=True)
    grid = np.concatenate(
        [np.linspace(-distance / 2, -8, 60)[:-1], np.linspace(-8, 8, 161), np.linspace(8, 40, 40)[1:]]
    )  # the table has more points where the probability mass is
    values = [float((joint * LAPLACE((t - factor * z[:, None] * (1 - w) + distance * w) / factor)).sum()) for t in grid]
    table = scipy.interpolate.PchipInterpolator(grid, np.maximum.accumulate(values))
    return lambda t: np.clip(table(np.clip(t, grid[0], grid[-1])), 0.0, 1.0)


def _laplace_quadrature() -> tuple[Vector, Vector]:
    """Return nodes and weights of a quadrature for an expectation over Laplace(1), on panels up to ±40 that grow away
    from 0.
    """
    nodes, weights = np.polynomial.legendre.leggauss(PANEL_NODES)
    edges = np.concatenate([-np.geomspace(40, 0.1, 24), [0.0], np.geomspace(0.1, 40, 24)])
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    z = (middle[:, None] + half[:, None] * nodes).ravel()
    return z, (half[:, None] * weights).ravel() * np.exp(-np.abs(z)) / 2


def one_feature(epsilon: float) -> Scenario:
    """Return data with one feature whose eigenvalue is far from 0 and far from n."""
    b = mechanism.value_scale(epsilon, 1)
    n = math.ceil(2 * DISTANCE * b)
    x = np.full((n, 1), math.sqrt(0.5))

    def value(factor: float) -> Test:
        null = "l − C ~ Laplace(2/ε)"
        return lambda y: kolmogorov_smirnov(n * (y[:, 0, 0] - 0.5) / (b * factor), LAPLACE, null)

    suspects = (
        Suspect.times("half-value-noise", "the noise of the values has half the calibrated scale", 0.5, value),
        Suspect.times("double-value-noise", "the noise of the values has twice the calibrated scale", 2.0, value),
    )
    return Scenario("one feature", x, {"value": value(1.0)}, suspects)


def two_equal_features(epsilon: float) -> Scenario:
    """Return rows with two features for which XᵀX is a multiple of I, with the tests on them."""
    eta, b = mechanism.exponent(epsilon, 2), mechanism.value_scale(epsilon, 2)
    k = math.ceil(DISTANCE * b)
    x = np.repeat(np.eye(2), k, axis=0)

    def trace(eta_factor: float, noise_factor: float) -> Test:
        def test(y: Matrix) -> TestResult:
            values = 2 * k * (np.trace(y, axis1=1, axis2=2) - 1) / b
            cdf = trace_cdf(eta_factor * eta * b, k / b, noise_factor)
            return kolmogorov_smirnov(values, cdf, "the trace follows its exact law")

        return test

    def exponents(factor: float) -> Test:
        return trace(factor, 1.0)

    def values(factor: float) -> Test:
        return trace(1.0, factor)

    def axis(y: Matrix) -> TestResult:
        vectors = np.linalg.eigh((y + np.swapaxes(y, 1, 2)) / 2)[1]
        null = "the leading eigenvector is uniform on the circle"
        return kolmogorov_smirnov(vectors[:, 0, -1] ** 2, lambda w: haar.squared_coordinate_cdf(w, 2), null)

    suspects = (
        Suspect.times("exponents-times-16", "the exponents are 4ε/k in place of ε/(4k)", 16.0, exponents),
        Suspect.times("double-exponents", "the exponents are twice the calibrated ones", 2.0, exponents),
        Suspect.times("half-value-noise", "the noise of the values has half the calibrated scale", 0.5, values),
    )
    return Scenario("two equal features", x, {"trace": trace(1.0, 1.0), "axis": axis}, suspects)


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the tests that compare draws with the reference. If the option `rank` is not given, also return the law on
    the two data sets.
    """
    epsilon = claim.budget["epsilon"]
    exact = () if claim.options.get("rank", 0) else (one_feature(epsilon), two_equal_features(epsilon))
    return KnownLaw((*exact, reference_draws.scenario(claim, 6, 3, 0.5)), common_pairs(OUTPUTS["matrix"]))


KNOWN = Known(
    law,
    NotAdditive("every eigenvector is drawn from a law that depends on the data and on those before it", SAME_MOMENT),
    choices=lambda claim: near_choices.eigenvalue_gaps(1 / mechanism.exponent(claim.budget["epsilon"], 2)),
)
