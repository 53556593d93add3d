"""If the fitting step of the Johnson–Lindenstrauss mechanism changes nothing, the output is the second moment plus ℓ₂
noise.

A symmetric d × d matrix is isometric to a vector of R^D with D = d(d + 1)/2, which the mechanism projects to l
dimensions. If nothing is projected (l = D), and if the noisy second moment is positive definite with trace below 1,
then the fitting step changes nothing. If the fitting step changes nothing, the audit observes the noise z. The norm of
the noise z has the law Gamma(D), and its direction is uniform on the sphere of R^D. On data with few rows, draws are
compared with draws of the reference.
"""

import math

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.laws import haar
from covassay.reference.laws.wigner import svec
from covassay.reference.mechanisms.pure import johnson_lindenstrauss as mechanism
from covassay.reference.sensitivity import neighbours, orthonormal_pair
from covassay.verification.audit.engine.events import Pair, Statistic
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import reference_draws
from covassay.verification.audit.knowledge.shared.data_paths import SAME_SQUARES, NotAdditive
from covassay.verification.audit.knowledge.shared.noise_entries import with_entries
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw
from covassay.verification.audit.knowledge.shared.wrong_scales import HALF_AND_DOUBLE, scale_suspects
from covassay.verification.statistics.laws import gamma
from covassay.verification.statistics.tests import TestResult, binomial, gamma_total, independence, kolmogorov_smirnov

D = 2
# the second moment has at least this distance from the boundary, in noise scales, and the norm of the noise exceeds
# this distance with probability below 1e-22
MARGIN = 60.0


def interior_rows(epsilon: float) -> Matrix:
    """Return rows along two axes and as many zero rows. The second moment I/4 has the distance 1/4 from the boundary of
    {M ⪰ 0, tr M ≤ 1}.
    """
    n = 4 * math.ceil(MARGIN * math.sqrt(2) / epsilon)
    return np.concatenate([np.repeat(np.eye(D), n // 4, axis=0), np.zeros((n - 2 * (n // 4), D))])


def noise_tests(x: Matrix, scale: float) -> dict[str, Test]:
    """Return the tests, by name, of the noise z in outputs Σ + scale · unsvec(z)."""

    def noise(outputs: Matrix) -> Matrix:
        return svec(outputs - second_moment(x)) / scale

    def norms(outputs: Matrix) -> Vector:
        return np.asarray(np.linalg.norm(noise(outputs), axis=1))

    def share(outputs: Matrix, entry: int) -> Vector:
        z = noise(outputs)
        return np.asarray(z[:, entry] ** 2 / (z**2).sum(axis=1))

    size = mechanism.entries(D)

    def direction(entry: int) -> Test:
        return lambda y: kolmogorov_smirnov(
            share(y, entry), lambda w: haar.squared_coordinate_cdf(w, size), "the noise has a uniform direction in R^D"
        )

    def sign(outputs: Matrix) -> TestResult:
        positive = int((np.trace(outputs - second_moment(x), axis1=1, axis2=2) > 0).sum())
        return binomial(positive, len(outputs), 0.5, "the trace of the noise is positive with probability 1/2")

    return {
        "noise norm": norm_test(x, scale),
        "total scale": lambda y: gamma_total(norms(y), size, f"the sum of ‖z‖ over n draws ~ Gamma({size} n)"),
        "diagonal direction": direction(0),
        "off-diagonal direction": direction(1),
        "norm and direction": lambda y: independence(norms(y), share(y, 1), "norm and direction are independent"),
        "trace sign": sign,
    }


def norm_test(x: Matrix, scale: float, shape_gap: int = 0) -> Test:
    """Return the test that ‖svec(Y − Σ)‖/scale has the law Gamma(D + `shape_gap`), where Y is an output."""
    shape = mechanism.entries(D) + shape_gap

    def test(outputs: Matrix) -> TestResult:
        norms = np.linalg.norm(svec(outputs - second_moment(x)), axis=1) / scale
        return kolmogorov_smirnov(norms, gamma(shape), f"‖z‖ ~ Gamma({shape})")

    return test


def interior_pair(x: Matrix, scale: float) -> Pair:
    """Return neighbours far from every boundary, whose outputs are a known matrix plus noise, with their log likelihood
    ratio.
    """
    first, second = neighbours(x[:-1], *orthonormal_pair(D))
    a, b = second_moment(first), second_moment(second)

    def ratio(y: Matrix) -> Vector:
        gap: Vector = np.linalg.norm(svec(y - b), axis=1) - np.linalg.norm(svec(y - a), axis=1)
        return gap / scale

    return Pair("the noise is seen, d=2", first, second, (Statistic("log likelihood ratio", ratio),))


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the noise on data where the noise is observed, and the tests that compare draws with the
    reference."""
    scenarios, pairs = reference_draws.scenarios(claim), reference_draws.pairs(claim)
    values = {name: claim.options.get(name, default) for name, default in claim.mechanism.parameters.items()}
    t = mechanism.transform(D, values["alpha"], values["beta"], values["seed"])
    if len(t) < mechanism.entries(D):
        return KnownLaw(scenarios, pairs)
    epsilon = claim.budget["epsilon"]
    x = interior_rows(epsilon)
    scale = mechanism.noise_scale(len(x), epsilon, mechanism.image_sensitivity(values["alpha"], 1.0))

    def times(factor: float) -> Test:
        return norm_test(x, scale * factor)

    suspects = (
        *scale_suspects(times, HALF_AND_DOUBLE),
        Suspect("gamma-shape", "the norm has Gamma shape D + 1 in place of D", norm_test(x, scale, 1), times),
    )
    seen = Scenario("the noise is seen, d=2", x, noise_tests(x, scale), suspects)
    seen = with_entries(seen, second_moment(x), symmetric=True, independent=False)
    return KnownLaw((seen, *scenarios), (interior_pair(x, scale), *pairs))


KNOWN = Known(
    law,
    NotAdditive("noise is added to an image of the second moment, and a nearest matrix is fitted to it", SAME_SQUARES),
    no_choices="the noisy image alone decides the fit; a row's own length decides whether its image is shortened",
)
