"""How to audit the building blocks: Laplace and Gaussian noise, AboveThreshold, private radius, K-norm, choices.

Every law here is exact. When the data are known, additive noise is observed, coordinate by coordinate. A discrete
output has a probability for every level, which is an integral or a softmax. K-norm noise has a Gamma radius and, in
dimension 2, a direction with a known law.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax
from scipy.stats import gamma

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.laws import haar
from covassay.reference.laws import k_norm as k_norm_law
from covassay.reference.mechanisms import (
    above_threshold,
    exponential,
    gaussian,
    gaussian_approximate,
    k_norm,
    laplace,
    private_radius,
    private_trace,
)
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.sensitivity import neighbours
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Pair, Statistic, generic_statistics
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile, common_pairs
from covassay.verification.exact.above_threshold import probabilities
from covassay.verification.statistics.laws import LAPLACE, NORMAL, Law, Placed
from covassay.verification.statistics.laws import gamma as gamma_law
from covassay.verification.statistics.tests import (
    TestResult,
    bare_draws,
    binomial,
    gamma_total,
    gamma_totals,
    independence,
    kolmogorov_smirnov,
)

Cdf = Callable[[Vector], Vector]
# Thresholds above queries of value 0, in scales of the noise of a query: where outputs depend most on the noise of the
# threshold and on that of the queries. An error of 10 % in the latter is 9 standard errors of 2000 draws.
NEAR, FAR = 0.5, 3.0
MANY, MOST = 32, 128  # features
WEIGHT = 3.0  # of few numbers that are quickly drawn: so many draws show a correlation of 0.07


def _scale_suspects(test: Callable[[float], Test]) -> tuple[Suspect, ...]:
    return (
        Suspect("half-scale", "the noise has half the calibrated scale: too little noise", test(0.5)),
        Suspect("double-scale", "the noise has twice the calibrated scale: private but wasteful", test(2.0)),
        Suspect(
            "sensitivity-one",
            "the noise is √2 times too small: it is for a sensitivity of 1 in place of √2",
            test(0.5**0.5),
        ),
    )


# ADDITIVE NOISE


def vector_noise(name: str, x: Matrix, query: Vector, scale: Vector, law: Law, power: int) -> Scenario:
    """Independent noise about the query on x, with that law and a scale for each coordinate.

    The sum of the noise to this power has a Gamma law: 1 for Laplace noise, 2 for Gaussian noise.
    """
    d = x.shape[1]

    def coordinate(i: int, factor: float = 1.0) -> Test:
        null = f"coordinate {i + 1} has its exact law"
        return lambda y: kolmogorov_smirnov((y[:, i] - query[i]) / (factor * scale[i]), law, null)

    def all_coordinates(y: Matrix) -> TestResult:
        return kolmogorov_smirnov(((y - query) / scale).ravel(), law, "all coordinates have their exact law")

    def apart(y: Matrix) -> TestResult:
        return independence(y[:, 0], y[:, 1], "the coordinates are independent")

    def total(y: Matrix) -> TestResult:
        sizes = (np.abs((y - query) / scale) ** power).sum(axis=1) / power
        null = f"the sum of |noise|{'²' if power == 2 else ''} over all draws and coordinates has its Gamma law"
        return gamma_total(sizes, d / power, null, power)

    def every_scale(y: Matrix) -> TestResult:
        sizes = np.abs((y - query) / scale) ** power / power
        return gamma_totals(sizes, 1 / power, "the noise of each coordinate has its sum over n draws", power)

    def noisy(y: Matrix) -> TestResult:
        return bare_draws((y - query) / scale)

    tests: dict[str, Test] = {"coordinate 1": coordinate(0), "total scale": total, "all coordinates": all_coordinates}
    tests["noise in every draw"] = noisy
    if d > 1:
        tests |= {"coordinate 2": coordinate(1), "independence": apart, "scale of every coordinate": every_scale}
    return Scenario(name, x, tests, _scale_suspects(lambda factor: coordinate(0, factor)), weight=WEIGHT)


def _additive(claim: ClaimUnderAudit, scale: Callable[[int, int], float], law: Law, power: int) -> Profile:
    """The profile of independent noise with that law, times a scale that depends on the numbers of rows and columns."""

    def scenario(n: int, d: int) -> Scenario:
        x = example_rows(n, d)
        moments = np.diag(second_moment(x))
        return vector_noise(f"n={n}, d={d}", x, moments, np.full(d, scale(n, d)), law, power)

    def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
        a, b = np.diag(second_moment(first)), np.diag(second_moment(second))
        closer = Statistic("‖y − f'‖₁ − ‖y − f‖₁", lambda y: np.abs(y - b).sum(axis=1) - np.abs(y - a).sum(axis=1))
        return (*generic_statistics(first, second, OUTPUTS["vector"]), closer)

    pairs = common_pairs(OUTPUTS["vector"], statistics, dimensions=(1, 2))
    shapes = Shapes(scenario, ("all coordinates", "total scale"), lambda d: d, grid())
    return Profile(claim.form, (scenario(6, 2),), lambda _: pairs, shapes=shapes)


def laplace_profile(claim: ClaimUnderAudit) -> Profile:
    """Laplace noise on every coordinate."""

    def scale(n: int, d: int) -> float:
        return float(laplace.noise_scale(laplace.second_moments_sensitivity(n, d), claim.budget["epsilon"]))

    return _additive(claim, scale, LAPLACE, power=1)


def gaussian_profile(claim: ClaimUnderAudit) -> Profile:
    """Normal noise on every coordinate, under zCDP."""

    def scale(n: int, d: int) -> float:
        return float(gaussian.noise_scale(gaussian.second_moments_sensitivity(n, d), claim.budget["rho"]))

    return _additive(claim, scale, NORMAL, power=2)


def gaussian_approximate_profile(claim: ClaimUnderAudit) -> Profile:
    """Normal noise on every coordinate, under (ε, δ)-DP."""
    multiplier = gaussian_approximate.multiplier(**claim.budget, calibration=claim.options["calibration"])
    return _additive(claim, lambda n, d: float(multiplier * gaussian.second_moments_sensitivity(n, d)), NORMAL, power=2)


def private_trace_profile(claim: ClaimUnderAudit) -> Profile:
    """Laplace noise on the trace."""

    def scenario(n: int, d: int) -> Scenario:
        x = example_rows(n, d)
        trace, scale = float(np.trace(second_moment(x))), private_trace.laplace_scale(n, claim.budget["epsilon"])

        def noise(factor: float) -> Test:
            return lambda y: kolmogorov_smirnov((y - trace) / (factor * scale), LAPLACE, "the noise is Laplace(1/(nε))")

        def total(y: Vector) -> TestResult:
            return gamma_total(np.abs(y - trace) / scale, 1.0, "the sum of |noise| over n draws ~ Gamma(n)")

        return Scenario(f"n={n}, d={d}", x, {"noise": noise(1.0), "total scale": total}, _scale_suspects(noise))

    pairs = common_pairs(OUTPUTS["number"], dimensions=(1, 2))
    shapes = Shapes(scenario, ("noise", "total scale"), lambda d: 1, grid())
    return Profile(claim.form, (scenario(6, 3),), lambda _: pairs, shapes=shapes)


# DISCRETE OUTPUTS


def _outputs(levels: Vector) -> tuple[Statistic, ...]:
    """Statistics of a discrete output: its value, and for every level whether the output equals it."""

    def indicator(level: float) -> Statistic:
        return Statistic(f"is {level:g}", lambda y: np.isclose(y, level).astype(np.float64))

    return (Statistic("value", lambda y: y), *(indicator(level) for level in levels))


def _choices(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
    """Statistics of an output in 1, …, d + 1."""
    return _outputs(np.arange(1.0, first.shape[1] + 2))


def _levels(levels: Vector, law: Vector) -> Test:
    """The test that every level has its probability and nothing else comes out: exact binomials, by Bonferroni."""

    def test(outputs: Vector) -> TestResult:
        n = len(outputs)
        counts = [int(np.isclose(outputs, level, rtol=1e-9, atol=0).sum()) for level in levels]
        counts.append(n - sum(counts))
        null = "every output has its exact probability"
        results = [binomial(count, n, min(float(p), 1.0), null) for count, p in zip(counts, [*law, 0.0], strict=True)]
        least = min(results, key=lambda r: r.p_value)
        return TestResult(
            null,
            least.statistic,
            min(1.0, len(results) * least.p_value),
            n,
            least.effect,
            lambda alpha: least.detectable(alpha / len(results)),
            _place(outputs, levels, law),
        )

    return test


def _place(outputs: Vector, levels: Vector, law: Vector) -> Placed:
    """Where discrete outputs lie in their law, level after level; what is no level lies below all of them."""
    matches = np.isclose(outputs[:, None], levels, rtol=1e-9, atol=0)
    index = np.where(matches.any(axis=1), matches.argmax(axis=1) + 1, 0)
    cumulated = np.minimum(np.concatenate([[0.0], np.cumsum(law)]), 1.0)
    return Placed(cumulated[index], 1 - np.concatenate([[0.0], cumulated])[index])


def _axes_in_turn(n: int, d: int) -> tuple[Matrix, Vector]:
    """n rows along the axes in turn, and the energies of the features; the last axis has one row in eight more."""
    which = np.where(np.arange(n) % 8 == 7, d - 1, np.arange(n) % d)
    x: Matrix = np.eye(d)[which]
    return x, x.sum(axis=0)


def _fresh_threshold(values: Vector, threshold: float, b1: float, b2: float) -> Vector:
    """The law of AboveThreshold if every query is compared with a threshold that has fresh noise."""
    reaches = np.array([probabilities(values[i : i + 1], threshold, b1, b2)[0] for i in range(len(values))])
    return np.append(reaches, 1.0) * np.cumprod(np.append(1.0, 1 - reaches))


def above_threshold_profile(claim: ClaimUnderAudit) -> Profile:
    """AboveThreshold, its law by an integral: energies 1, 2 and 4, and a threshold of 7/3 if the share is 1.

    Three energies hardly show how large the noises are. Many features of energy 0 do: just below the threshold they
    show its noise, and far below it, where only the tails of the noise reach, they show the noise of the queries.
    """
    epsilon, share = claim.budget["epsilon"], float(claim.options.get("share", 1.0))
    b1 = above_threshold.threshold_scale(epsilon)
    b2 = above_threshold.query_scale(epsilon, claim.options["calibration"])
    tiny = b1 / 40

    def scenario(name: str, x: Matrix) -> Scenario:
        energies = (x**2).sum(axis=0)
        d, threshold = len(energies), len(x) / len(energies) * share

        def test(exact: Vector) -> Test:
            return _levels(np.arange(1.0, d + 2), exact)

        def law(one: float, two: float) -> Test:
            return test(probabilities(energies, threshold, one, two))

        suspects = (
            Suspect("fresh-threshold", "the threshold has fresh noise for every query",
                    test(_fresh_threshold(energies, threshold, b1, b2))),
            Suspect("exact-threshold", "the threshold has no noise", law(tiny, b2)),
            Suspect("exact-queries", "the queries have no noise: the loss is infinite", law(b1, tiny)),
            Suspect("quarter-noise", "the noise has a quarter of the calibrated scale", law(b1 / 4, b2 / 4)),
        )  # fmt: skip
        return Scenario(name, x, {"output": law(b1, b2)}, suspects)

    def no_energy(name: str, d: int, threshold: float) -> Scenario:
        return scenario(f"{name}, d={d}", np.zeros((math.ceil(threshold * d / share), d)))

    scenarios = (
        scenario("energies 1, 2, 4", np.repeat(np.eye(3), [1, 2, 4], axis=0)),
        no_energy("just below the threshold", 12, NEAR * b2),
        no_energy("far below the threshold", MANY, FAR * b2),
    )

    def in_turn(n: int, d: int) -> Scenario:
        x, counts = _axes_in_turn(n, d)
        exact = probabilities(counts, n / d * share, b1, b2)
        return Scenario(f"n={n}, d={d}", x, {"output": _levels(np.arange(1.0, d + 2), exact)})

    def pairs(_: frozenset[str]) -> tuple[Pair, ...]:
        first, second = neighbours(np.eye(2)[:1], *np.eye(2))
        ahead = Pair("first feature ahead, d=2", first, second, _choices(first, second))
        return (*common_pairs(OUTPUTS["level"], _choices, dimensions=(2,)), ahead)

    return Profile(claim.form, scenarios, pairs, shapes=Shapes(in_turn, ("output",), lambda d: 1, grid()))


def private_radius_profile(claim: ClaimUnderAudit) -> Profile:
    """The private radius, its law by an integral: rows of norm 0.1, 0.4 and 1, and of norm 1 alone.

    Rows of norm 1 are within the largest radius only, so that all other counts are equally far below the threshold.
    """
    epsilon, calibration = claim.budget["epsilon"], claim.options["calibration"]
    radii = private_radius.public_radii(float(claim.options.get("precision", private_radius.PRECISION)))
    beta = float(claim.options.get("beta", private_radius.BETA))
    b1, b2 = above_threshold.threshold_scale(epsilon), above_threshold.query_scale(epsilon, calibration)
    slack = above_threshold.accuracy(len(radii), beta, epsilon, calibration)

    def of_norms(name: str, norms: Vector, d: int) -> Scenario:
        within = (norms[:, None] <= radii).sum(axis=0).astype(np.float64)
        law = probabilities(within, private_radius.search_threshold(len(norms), slack), b1, b2)
        merged = np.append(law[:-2], law[-2] + law[-1])  # no radius, and the largest, both release 1
        axis = np.eye(d)[0] if d == 1 else np.array([0.6, 0.8, *np.zeros(d - 2)])
        return Scenario(name, norms[:, None] * axis, {"output": _levels(radii, merged)})

    def shaped(n: int, d: int) -> Scenario:
        return of_norms(f"n={n}, d={d}", np.resize([0.1, 0.4, 0.7], n), d)

    def no_count(name: str, threshold: float) -> Scenario:
        return of_norms(name, np.ones(math.ceil(threshold + slack)), 1)

    scenarios = (
        of_norms("norms 0.1, 0.4, 1", np.repeat([0.1, 0.4, 1.0], [50, 20, 10]), 2),
        no_count("just below the threshold", NEAR * b2),
        no_count("far below the threshold", FAR * b2),
    )

    def pairs(_: frozenset[str]) -> tuple[Pair, ...]:
        first, second = neighbours(np.zeros((60, 2)), np.zeros(2), np.array([0.5, 0.0]))
        longer = Pair("rows of norm 0, one longer", first, second, _outputs(radii[[0, -2, -1]]))
        return (*common_pairs(OUTPUTS["level"], dimensions=(2,)), longer)

    return Profile(claim.form, scenarios, pairs, shapes=Shapes(shaped, ("output",), lambda d: 1, grid()))


def exponential_profile(claim: ClaimUnderAudit) -> Profile:
    """The exponential mechanism, its law a softmax: three features with energies 4, 2 and 1, and one ahead of many.

    One is as likely as all others together, so that its probability depends much on the exponent.
    """
    eta = exponential.exponent(claim.budget["epsilon"], exponential.ENERGY_RANGE)

    def scenario(name: str, x: Matrix) -> Scenario:
        energies = (x**2).sum(axis=0)

        def law(factor: float) -> Test:
            return _levels(np.arange(1.0, len(energies) + 1), np.exp(log_softmax(factor * eta * energies)))

        suspects = (
            Suspect("double-exponent", "the exponent is twice the calibrated one: half the sensitivity", law(2.0)),
            Suspect("half-exponent", "the exponent is half the calibrated one: private but wasteful", law(0.5)),
        )
        return Scenario(name, x, {"output": law(1.0)}, suspects)

    ahead_by = math.ceil(math.log(MOST - 1) / eta)
    scenarios = (
        scenario("energies 4, 2, 1", np.repeat(np.eye(3), [4, 2, 1], axis=0)),
        scenario(f"one feature ahead of {MOST - 1}", np.tile(np.eye(MOST)[:1], (ahead_by, 1))),
    )

    def in_turn(n: int, d: int) -> Scenario:
        x, counts = _axes_in_turn(n, d)
        exact = np.exp(log_softmax(eta * counts))
        return Scenario(f"n={n}, d={d}", x, {"output": _levels(np.arange(1.0, d + 1), exact)})

    def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
        one, two = (log_softmax(eta * (y**2).sum(axis=0)) for y in (first, second))
        ratio = Statistic(
            "log likelihood ratio", lambda y: (one - two)[np.clip(np.rint(y), 1, len(one)).astype(int) - 1]
        )
        return (ratio, *_choices(first, second))

    def pairs(_: frozenset[str]) -> tuple[Pair, ...]:
        first, second = neighbours(np.repeat(np.eye(2), [0, 2], axis=0), *np.eye(2))
        ahead = Pair("second feature ahead, d=2", first, second, statistics(first, second), weight=2.0)
        return (*common_pairs(OUTPUTS["level"], statistics, dimensions=(2,)), ahead)

    shapes = Shapes(in_turn, ("output",), lambda d: 1, grid(fewest_columns=2))
    return Profile(claim.form, scenarios, pairs, shapes=shapes)


# K-NORM NOISE


def _tilt(z: Matrix) -> Vector:
    """|tr Z|/‖Z‖_*, exactly 1 if the eigenvalues have one sign."""
    values = np.linalg.eigvalsh(z)
    tilt: Vector = np.round(np.abs(values.sum(axis=1)) / np.abs(values).sum(axis=1), 9)
    return tilt


def _direction(body: str) -> tuple[Callable[[Matrix], Vector], Cdf]:
    """A statistic of Z in dimension 2 and its distribution function."""
    if body == "schatten1":  # with probability 1/3 the eigenvalues have one sign
        return _tilt, lambda t: np.where(t >= 1, 1.0, np.clip(t, 0, 1) * 2 / 3)
    if body == "covariance":  # 1/7, after weighting with (1 + tilt)^{−3}
        return _tilt, lambda t: np.where(t >= 1, 1.0, 6 / 7 * (1 - (1 + np.clip(t, 0, 1)) ** -2) / 0.75)
    if body == "l1":
        return lambda z: z[:, 0, 1], LAPLACE
    if body == "l2":
        return lambda z: 2 * z[:, 0, 1] ** 2 / (z**2).sum(axis=(1, 2)), lambda w: haar.squared_coordinate_cdf(w, 3)
    return lambda z: np.abs(z[:, 0, 1]), lambda t: gamma.cdf(t, 4) + t / 3 * gamma.sf(t, 3)


@dataclass(frozen=True)
class KNormNoise:
    """The noise seen on one data set, and its tests."""

    x: Matrix
    scale: float
    body: k_norm_law.Body

    def residuals(self, outputs: Matrix) -> Matrix:
        """Z for every output."""
        z: Matrix = (outputs - second_moment(self.x)) / self.scale
        return z

    def radius(self, factor: float) -> Test:
        """The test that ‖Z‖_K has its Gamma law, if the noise has that multiple of its scale."""
        d = self.x.shape[1]
        return lambda y: kolmogorov_smirnov(
            k_norm_law.norm(self.residuals(y), self.body) / factor,
            gamma_law(float(k_norm_law.degrees_of_freedom(d))),
            f"‖Z‖_K ~ Gamma({k_norm_law.degrees_of_freedom(d):g})",
        )

    def total(self, outputs: Matrix) -> TestResult:
        """The sum of ‖Z‖_K over all draws has its Gamma law."""
        shape = k_norm_law.degrees_of_freedom(self.x.shape[1])
        norms = k_norm_law.norm(self.residuals(outputs), self.body)
        return gamma_total(norms, shape, f"the sum of ‖Z‖_K over n draws ~ Gamma({shape:g} n)")

    def direction(self, outputs: Matrix) -> TestResult:
        """The direction has its law, in dimension 2."""
        statistic, cdf = _direction(self.body)
        return kolmogorov_smirnov(statistic(self.residuals(outputs)), cdf, "the direction has its exact law")

    def orientation(self, outputs: Matrix) -> TestResult:
        """The entry off the diagonal has a fair sign."""
        positive = int((self.residuals(outputs)[:, 0, 1] > 0).sum())
        return binomial(positive, len(outputs), 0.5, "the off-diagonal entry is positive half of the time")


def _k_norm_scenario(n: int, d: int, epsilon: float, body: k_norm_law.Body) -> Scenario:
    noise = KNormNoise(example_rows(n, d), k_norm.noise_scale(k_norm.sensitivity(body, n, d), epsilon), body)
    tests: dict[str, Test] = {"radius": noise.radius(1.0), "total scale": noise.total}
    if d == 2:
        tests |= {"direction": noise.direction, "orientation": noise.orientation}
    return Scenario(f"n={n}, d={d}", noise.x, tests, _scale_suspects(noise.radius), weight=1.0 if d == 2 else 0.3)


def k_norm_profile(claim: ClaimUnderAudit) -> Profile:
    """Radius and direction of the noise in dimension 2, and the radius in dimension 3."""
    epsilon, body = claim.budget["epsilon"], claim.options["body"]

    def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
        a, b = second_moment(first), second_moment(second)
        closer = Statistic(
            "‖Y − Σ'‖_K − ‖Y − Σ‖_K", lambda y: k_norm_law.norm(y - b, body) - k_norm_law.norm(y - a, body)
        )
        return (*generic_statistics(first, second, OUTPUTS["matrix"]), closer)

    scenarios = tuple(_k_norm_scenario(6, d, epsilon, body) for d in (2, 3))
    shapes = Shapes(
        lambda n, d: _k_norm_scenario(n, d, epsilon, body),
        ("radius", "total scale"),
        lambda d: float(k_norm_law.degrees_of_freedom(d)),
        grid(),
    )
    pairs = common_pairs(OUTPUTS["matrix"], statistics, dimensions=(1, 2))
    return Profile(claim.form, scenarios, lambda _: pairs, shapes=shapes)
