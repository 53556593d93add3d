"""Output perturbation adds a noise vector to ridge coefficients. The norm of the noise vector is Gamma(d − 1), and its
direction is uniform.

Let ŵ be the ridge estimate, S its sensitivity, and Y the output. The audit knows the data and observes the noise v = (Y
− ŵ)ε/S. The norm of v has the law Gamma(d − 1), where the d columns include the label. The direction of the noise
vector v is uniform on the sphere, independently of its norm.
"""

import math

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.downstream.ridge import coefficients
from covassay.reference.laws import haar
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure import output_perturbation as mechanism
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Pair, Statistic, generic_statistics
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.audit.knowledge.shared.wrong_scales import HALF_AND_DOUBLE, scale_suspects
from covassay.verification.statistics.laws import gamma
from covassay.verification.statistics.tests import TestResult, binomial, gamma_total, independence, kolmogorov_smirnov

N = 12
DIMENSIONS = (2, 3, 6)


def minimiser(x: Matrix, alpha: float) -> Vector:
    """Return the ridge estimate from rows in the unit ball."""
    return coefficients(second_moment(x), x.shape[1] - 1, alpha)


def noise_tests(w: Vector, scale: float) -> dict[str, Test]:
    """Return the tests, by name, of the noise v in outputs w + scale · v."""
    k = len(w)

    def norms(outputs: Matrix) -> Vector:
        return np.asarray(np.linalg.norm(outputs - w, axis=1) / scale)

    def first(outputs: Matrix) -> Vector:
        return np.asarray((outputs[:, 0] - w[0]) / np.linalg.norm(outputs - w, axis=1))

    def sign(outputs: Matrix) -> TestResult:
        positive = int((outputs[:, 0] > w[0]).sum())
        return binomial(positive, len(outputs), 0.5, "the first coefficient's noise is positive with probability 1/2")

    tests: dict[str, Test] = {"noise norm": norm_test(w, scale), "coefficient sign": sign}
    tests["total scale"] = lambda y: gamma_total(norms(y), k, f"the sum of ‖Y − ŵ‖ε/S over n draws ~ Gamma({k} n)")
    if k > 1:
        tests["noise direction"] = lambda y: kolmogorov_smirnov(
            first(y) ** 2, lambda t: haar.squared_coordinate_cdf(t, k), "the noise has a uniform direction"
        )
        tests["norm and direction"] = lambda y: independence(
            norms(y), first(y) ** 2, "norm and direction of the noise are independent"
        )
    return tests


def norm_test(w: Vector, scale: float, shape_gap: int = 0) -> Test:
    """Return the test that ‖Y − w‖/scale has the law Gamma(k + `shape_gap`), where k is the number of coefficients."""
    shape = len(w) + shape_gap

    def test(outputs: Matrix) -> TestResult:
        norms = np.linalg.norm(outputs - w, axis=1) / scale
        return kolmogorov_smirnov(norms, gamma(shape), f"‖Y − ŵ‖ε/S ~ Gamma({shape})")

    return test


def worst_pair(n: int, alpha: float) -> tuple[Matrix, Matrix]:
    """Return neighbours with three columns, where n − 1 records make the ridge estimate large and the differing record
    moves it.
    """
    kappa = 2 * alpha
    share = kappa / (1 + 2 * kappa)
    rest = np.tile([math.sqrt(share), 0.0, math.sqrt(1 - share)], (n - 1, 1))
    q = np.array([mechanism.largest_norm(alpha, "tight"), 0.0, -1.0])
    q = q / np.linalg.norm(q)
    e = np.array([0.0, 1.0, 0.0])
    return np.vstack([rest, (q + e) / math.sqrt(2)]), np.vstack([rest, (q - e) / math.sqrt(2)])


def likelihood_ratio(w: Vector, other: Vector, scale: float) -> Statistic:
    """Return the exact log likelihood ratio of the output between two data sets."""
    return Statistic(
        "log likelihood ratio", lambda y: (np.linalg.norm(y - other, axis=1) - np.linalg.norm(y - w, axis=1)) / scale
    )


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the noise around the ridge estimate, and neighbours that move the estimate in opposite
    directions.
    """
    epsilon, calibration = claim.budget["epsilon"], claim.options["calibration"]
    alpha = claim.parameter("alpha")

    def scenario(n: int, d: int) -> Scenario:
        x = example_rows(n, d)
        w, scale = minimiser(x, alpha), mechanism.noise_scale(n, alpha, epsilon, calibration)

        def times(factor: float) -> Test:
            return norm_test(w, scale * factor)

        suspects = (
            *scale_suspects(times, HALF_AND_DOUBLE),
            Suspect("gamma-shape", "the norm has Gamma shape d in place of d − 1", norm_test(w, scale, 1), times),
        )
        return Scenario(f"d={d}", x, noise_tests(w, scale), suspects)

    tests = "noise norm", "noise direction", "total scale"
    shapes = Shapes(scenario, tests, lambda d: d - 1, grid(fewest_columns=2))
    n = 40
    first, second = worst_pair(n, alpha)
    scale = mechanism.noise_scale(n, alpha, epsilon, calibration)
    statistics = (
        likelihood_ratio(minimiser(first, alpha), minimiser(second, alpha), scale),
        *generic_statistics(first, second, OUTPUTS["coefficients"])[:1],
    )
    pair = Pair(f"records that pull to either side, n={n}, d=3", first, second, statistics)
    pairs = (pair, *common_pairs(OUTPUTS["coefficients"]))
    return KnownLaw(tuple(scenario(N, d) for d in DIMENSIONS), pairs, shapes)


KNOWN = Known(law, QueryPlusNoise())
