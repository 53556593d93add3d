"""How to audit mechanisms that add symmetric Gaussian noise to a second moment.

When the data are known, E = (Y − Σ)/σ is observed, and its law is known exactly. Its entries on and above the diagonal
are independent and Gaussian, the sum of their standardised squares is χ², and a rotation mixes them into Gaussian
entries of known variance.

GaussCov shows E on all data, the projection mechanism on data that the projection leaves alone, and ClippedCov with a
public threshold and GaussCov behind it on clipped rows. SeparateCov shows its eigenvalues on data whose eigenvalues lie
many noise scales apart, and its eigenvectors on two features without signal.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment, unit_rows
from covassay.reference.laws.wigner import deviations
from covassay.reference.mechanisms.approximate import gauss_cov_approximate
from covassay.reference.mechanisms.building_blocks.gaussian_approximate import multiplier
from covassay.reference.mechanisms.concentrated import clipped_cov, gauss_cov, separate_cov
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.sensitivity import neighbours, orthonormal_pair
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Pair, Statistic, generic_statistics
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.shapes import COLUMNS, Shapes, grid
from covassay.verification.audit.profiles import reference_draws
from covassay.verification.audit.profiles.iterative_eigenvectors import eigenvalue_pair
from covassay.verification.audit.profiles.noise import interval_meaning
from covassay.verification.audit.profiles.noise_entries import of_steps, with_entries
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile, Statistics, common_pairs
from covassay.verification.statistics.laws import NORMAL, chi_square
from covassay.verification.statistics.tests import (
    TestResult,
    bare_draws,
    cosines,
    gamma_scale,
    gamma_total,
    gamma_totals,
    independence,
    kolmogorov_smirnov,
)

CONFIDENCE = 0.999
N = 12
DIMENSIONS = {1: 1.0, 2: 1.0, 4: 2.0}  # with the weights of the scenarios
SHAPE_TESTS = "squared norm", "all entries", "total scale"
SEPARATED_MOST = 12  # dimensions in which data sets of that kind have few enough rows
SEPARATION = 40.0  # gap between eigenvalues in noise scales: they change order with probability far below 1e-100


@dataclass(frozen=True)
class GaussianNoise:
    """The noise E seen on data with second moment `moment`, and its tests."""

    moment: Matrix
    scale: float
    ensemble: str

    @property
    def spread(self) -> Matrix:
        """The standard deviations of the entries of E."""
        return deviations(len(self.moment), self.ensemble)

    def residuals(self, outputs: Matrix) -> Matrix:
        """E = (Y − Σ)/σ for every output."""
        noise: Matrix = (outputs - self.moment) / self.scale
        return noise

    def entry(self, row: int, column: int) -> Test:
        """The test that one entry is Gaussian with its variance."""
        null = f"entry ({row + 1}, {column + 1}) of the noise is Gaussian with the variance of {self.ensemble}"
        cdf = NORMAL.scaled(self.spread[row, column])
        return lambda outputs: kolmogorov_smirnov(self.residuals(outputs)[:, row, column], cdf, null)

    def entries(self, outputs: Matrix) -> TestResult:
        """All entries on and above the diagonal are Gaussian, in units of their deviations."""
        i, j = np.triu_indices(len(self.moment))
        values = (self.residuals(outputs)[:, i, j] / self.spread[i, j]).ravel()
        return kolmogorov_smirnov(values, NORMAL, f"all entries of the noise have their law in {self.ensemble}")

    def squares(self, outputs: Matrix) -> Vector:
        """The sum of the standardised squares of every output."""
        i, j = np.triu_indices(len(self.moment))
        total: Vector = ((self.residuals(outputs)[:, i, j] / self.spread[i, j]) ** 2).sum(axis=1)
        return total

    def squared_norm(self, outputs: Matrix) -> TestResult:
        """The sum of the standardised squares is χ²."""
        entries = len(np.triu_indices(len(self.moment))[0])
        null = f"standardised squares ~ χ²({entries})"
        return kolmogorov_smirnov(self.squares(outputs), chi_square(entries), null)

    def total(self, outputs: Matrix) -> TestResult:
        """The sum of the standardised squares over all draws is χ²."""
        entries = len(np.triu_indices(len(self.moment))[0])
        null = f"the sum of the standardised squares over n draws ~ χ²({entries} n)"
        return gamma_total(self.squares(outputs) / 2, entries / 2, null, power=2)

    def every_scale(self, outputs: Matrix) -> TestResult:
        """The sum of the squares of each entry over all draws is χ²."""
        i, j = np.triu_indices(len(self.moment))
        squares = (self.residuals(outputs)[:, i, j] / self.spread[i, j]) ** 2
        return gamma_totals(squares / 2, 0.5, "the squares of each entry have their sum over n draws", power=2)

    def noisy(self, outputs: Matrix) -> TestResult:
        """No draw is without noise."""
        return bare_draws(self.residuals(outputs)[:, *np.triu_indices(len(self.moment))])

    def turned_entry(self, outputs: Matrix) -> TestResult:
        """A rotation by 45° in the plane of the first and the last axis brings (E₁₁ − E_dd)/2 to the place (1, d)."""
        e = self.residuals(outputs)
        return kolmogorov_smirnov(
            (e[:, 0, 0] - e[:, -1, -1]) / 2, NORMAL.scaled(math.sqrt(0.5)), "the noise turned by 45° is Gaussian"
        )

    def independence(self, outputs: Matrix) -> TestResult:
        """A diagonal entry and an entry off the diagonal are independent."""
        e = self.residuals(outputs)
        return independence(e[:, 0, 0], e[:, 0, -1], "entries (1, 1) and (1, d) are independent")


def noise_tests(moment: Matrix, scale: float, ensemble: str) -> dict[str, Test]:
    """The tests of σW on outputs `moment` + σW, by name."""
    return tests_of(GaussianNoise(moment, scale, ensemble))


def tests_of(noise: GaussianNoise) -> dict[str, Test]:
    """The tests of this noise, by name."""
    tests: dict[str, Test] = {"entry (1, 1)": noise.entry(0, 0), "squared norm": noise.squared_norm}
    tests |= {"total scale": noise.total, "noise in every draw": noise.noisy}
    if len(noise.moment) > 1:
        tests |= {
            "entry (1, 2)": noise.entry(0, 1),
            "turned entry": noise.turned_entry,
            "independence": noise.independence,
            "all entries": noise.entries,
            "scale of every entry": noise.every_scale,
        }
    return tests


def noise_suspects(moment: Matrix, scale: float, ensemble: str) -> tuple[Suspect, ...]:
    """Laws of plausible mistakes, seen in the sum of the squares of the noise."""
    other = "goe" if ensemble == "wigner" else "wigner"

    def squares(factor: float, which: str) -> Test:
        return noise_tests(moment, scale * factor, which)["squared norm"]

    suspects = [
        Suspect("sensitivity-one", "the noise is for a sensitivity of 1 in place of √2: √2 too small",
                squares(math.sqrt(0.5), ensemble)),
        Suspect("half-scale", "the noise has half the calibrated scale: too little noise", squares(0.5, ensemble)),
        Suspect("double-scale", "the noise has twice the calibrated scale: private but wasteful",
                squares(2.0, ensemble)),
    ]  # fmt: skip
    if len(moment) > 1:
        text = f"the noise is {other} in place of {ensemble}, as private: --set ensemble={other}"
        suspects.append(Suspect("other-ensemble", text, squares(1.0, other)))
    return tuple(suspects)


def scale_estimate(moment: Matrix, scale: float, ensemble: str) -> Callable[[Matrix], str]:
    """A sentence with the confidence interval of the noise scale, as a multiple of the calibrated one.

    Where that is not 1, and it is 1 for the other ensemble, the sentence speaks of the other one.
    """
    i, j = np.triu_indices(len(moment))

    def bounds(outputs: Matrix, name: str) -> tuple[float, float]:
        spread = deviations(len(moment), name)[i, j]
        squares = (((outputs - moment)[:, i, j] / (scale * spread)) ** 2).sum(axis=1)
        interval = gamma_scale(squares / 2, len(i) / 2, CONFIDENCE)
        return math.sqrt(interval.lower), math.sqrt(interval.upper)

    def sentence(outputs: Matrix) -> str:
        other = "goe" if ensemble == "wigner" else "wigner"
        of = {name: bounds(outputs, name) for name in (ensemble, other)}
        fitting = [name for name, (lower, upper) in of.items() if lower <= 1 <= upper]
        said = (fitting or [ensemble])[0]
        lower, upper = of[said]
        span = f"{lower:.3f} to {upper:.3f} times the calibrated one at {CONFIDENCE:.1%}"
        return f"noise scale, if {said}: {span}{interval_meaning(lower, upper)}"

    return sentence


def noise_scenario(name: str, x: Matrix, moment: Matrix, scale: float, ensemble: str) -> Scenario:
    """The tests, suspects and estimate of the noise on one data set."""
    return Scenario(
        name,
        x,
        noise_tests(moment, scale, ensemble),
        noise_suspects(moment, scale, ensemble),
        (scale_estimate(moment, scale, ensemble),),
    )


def likelihood_ratio(ensemble: str) -> Statistics:
    """Two statistics: the log likelihood ratio up to a factor, ⟨Y, Δ⟩ weighted by the variances, and ⟨Y, Δ⟩ itself."""

    def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
        change = second_moment(first) - second_moment(second)
        weights = np.triu(change / deviations(len(change), ensemble) ** 2) * len(first)

        def ratio(y: Matrix) -> Vector:
            values: Vector = np.einsum("nij,ij->n", y, weights)
            return values

        return (
            Statistic("log likelihood ratio, up to a factor", ratio),
            *generic_statistics(first, second, OUTPUTS["matrix"])[:1],
        )

    return statistics


def _additive(claim: ClaimUnderAudit, scale: Callable[[int], float], ensemble: str) -> Profile:
    def scenario(n: int, d: int) -> Scenario:
        x = example_rows(n, d)
        return noise_scenario(f"d={d}", x, second_moment(x), scale(n), ensemble)

    scenarios = tuple(replace(scenario(N, d), weight=weight) for d, weight in DIMENSIONS.items())
    pairs = common_pairs(OUTPUTS["matrix"], likelihood_ratio(ensemble), (1, 2, 3))
    return Profile(claim.form, scenarios, lambda _: pairs, shapes=_shapes(scenario))


def _shapes(scenario: Callable[[int, int], Scenario]) -> Shapes:
    return Shapes(scenario, SHAPE_TESTS, lambda d: d * (d + 1) / 2 if d <= SEPARATED_MOST else 1, grid())


def gauss_cov_profile(claim: ClaimUnderAudit) -> Profile:
    """GaussCov under zCDP."""
    return _additive(claim, lambda n: gauss_cov.noise_scale(n, claim.budget["rho"]), claim.options["ensemble"])


def gauss_cov_approximate_profile(claim: ClaimUnderAudit) -> Profile:
    """GaussCov under (ε, δ)-DP."""
    standard = multiplier(claim.budget["epsilon"], claim.budget["delta"], claim.options["calibration"])
    return _additive(claim, lambda n: gauss_cov_approximate.sensitivity(n) * standard, claim.options["ensemble"])


def _interior_rows(scale_of_one: float, d: int = 2) -> Matrix:
    """Rows whose second moment, I/(4d), lies 100 noise scales and more inside {M ⪰ 0, tr M ≤ 1}."""
    return np.tile(0.5 * np.eye(d), (math.ceil(200 * d * scale_of_one), 1))


def projection_profile(claim: ClaimUnderAudit) -> Profile:
    """The projection mechanism: its noise on data where nothing is projected, and otherwise draws of the reference."""
    rho, ensemble = claim.budget["rho"], claim.options["ensemble"]

    def inside(d: int) -> Scenario:
        x = _interior_rows(gauss_cov.noise_scale(1, rho), d)
        moment, scale = second_moment(x), gauss_cov.noise_scale(len(x), rho)
        seen = noise_scenario("the projection does nothing", x, moment, scale, ensemble)
        return with_entries(seen, moment, symmetric=True, independent=True)

    generic = reference_draws.profile(claim)
    sizes = tuple((len(inside(d).x), d) for d in COLUMNS if d <= SEPARATED_MOST)
    shapes = Shapes(lambda n, d: inside(d), SHAPE_TESTS, lambda d: d * (d + 1) / 2, sizes)
    first, second = neighbours(inside(2).x[:-1], *orthonormal_pair(2))
    pair = Pair("the projection does nothing", first, second, likelihood_ratio(ensemble)(first, second))
    return Profile(
        claim.form, (inside(2), *generic.scenarios), lambda fitted: (pair, *generic.pairs(fitted)), shapes=shapes
    )


def separated_scenario(rho: float, clip_norm: float = 1.0, d: int = 3) -> Scenario:
    """The eigenvalues of SeparateCov: independent and Gaussian about the eigenvalues of the data.

    The rows lie along the axes and have norm 1. When they are clipped to norm τ, the noise has τ² times the scale.
    """
    counts = math.ceil(SEPARATION * separate_cov.noise_scale(1, rho)) * np.arange(d, 0, -1)
    n = int(counts.sum())
    scale = separate_cov.noise_scale(n, rho) * clip_norm**2
    x = np.repeat(np.eye(d), counts, axis=0)

    def standard(outputs: Matrix) -> Matrix:
        values = np.linalg.eigvalsh((outputs + np.swapaxes(outputs, 1, 2)) / 2)[:, ::-1]
        noise: Matrix = (values - counts / n * clip_norm**2) / scale
        return noise

    def eigenvalue(k: int, factor: float = 1.0) -> Test:
        null = f"λ̃{k + 1} − λ{k + 1} is Gaussian with the calibrated scale"
        return lambda outputs: kolmogorov_smirnov(standard(outputs)[:, k] / factor, NORMAL, null)

    def all_eigenvalues(outputs: Matrix) -> TestResult:
        return kolmogorov_smirnov(standard(outputs).ravel(), NORMAL, "λ̃i − λi is Gaussian for every i")

    def total(outputs: Matrix) -> TestResult:
        null = f"the sum of the squares of the eigenvalue noises over n draws ~ χ²({d} n)"
        return gamma_total((standard(outputs) ** 2).sum(axis=1) / 2, d / 2, null, power=2)

    def apart(outputs: Matrix) -> TestResult:
        values = standard(outputs)
        return independence(values[:, 0], values[:, 1], "λ̃1 and λ̃2 are independent")

    def vectors(outputs: Matrix) -> Matrix:
        turned: Matrix = np.linalg.eigh((outputs + np.swapaxes(outputs, 1, 2)) / 2)[1][:, :, ::-1]
        return turned

    suspects = (
        Suspect("sensitivity-one", "the eigenvalue noise is for a sensitivity of 1 in place of √2",
                eigenvalue(0, math.sqrt(0.5))),
        Suspect("double-eigenvalue-noise", "the eigenvalue noise has twice the calibrated scale", eigenvalue(0, 2.0)),
    )  # fmt: skip
    tests: dict[str, Test] = {f"eigenvalue {k + 1}": eigenvalue(k) for k in range(d)}
    tests |= {"independence": apart, "all eigenvalues": all_eigenvalues, "total scale": total}
    tests |= of_steps(d, standard, vectors)
    return Scenario(f"separated eigenvalues, d={d}", x, tests, suspects)


def separated_shapes(rho: float, clip_norm: float = 1.0) -> Shapes:
    """Separated eigenvalues in two dimensions or more."""
    gap = math.ceil(SEPARATION * separate_cov.noise_scale(1, rho))
    return Shapes(
        lambda n, d: separated_scenario(rho, clip_norm, d),
        ("all eigenvalues", "total scale"),
        lambda d: d / 5,
        tuple((gap * d * (d + 1) // 2, d) for d in COLUMNS if 1 < d <= SEPARATED_MOST),
    )


def angle_scenario(ensemble: str) -> Scenario:
    """The eigenvectors of SeparateCov on two features of equal weight, which are the eigenvectors of W.

    For the angle φ of one of them, tan 2φ = 2W₁₂/(W₁₁ − W₂₂), a ratio of independent Gaussians. The output shows it
    whatever λ̃ is.
    """
    x = np.eye(2)
    spread = deviations(2, ensemble)[0, 1] / math.sqrt(0.5)

    def ratio(outputs: Matrix) -> Vector:
        """The angle 2φ, in [−π/2, π/2]; 0 if there is none."""
        across, along = 2 * outputs[:, 0, 1], outputs[:, 0, 0] - outputs[:, 1, 1]
        return np.asarray(np.arctan2(across * np.where(along < 0, -1, 1), np.abs(along)))

    def law(t: Vector) -> Vector:
        """The distribution function of 2φ."""
        return np.asarray(0.5 + np.arctan2(np.sin(t), spread * np.cos(t)) / math.pi)

    def angle(outputs: Matrix) -> TestResult:
        return kolmogorov_smirnov(ratio(outputs), law, "tan 2φ is a ratio of Gaussians")

    def ratio_of_scales(outputs: Matrix) -> TestResult:
        null = "the place of 2φ in its law, turned into an angle, is uniform on the circle"
        return cosines(2 * math.pi * (law(ratio(outputs)) - 0.5), null)

    tests = {"angle": angle, "ratio of scales": ratio_of_scales}
    return Scenario("two equal features", x, tests, weight=2.0)


def separate_cov_profile(claim: ClaimUnderAudit) -> Profile:
    """What is known of SeparateCov: its two noises, and a pair that separates the eigenvalues."""
    rho, generic = claim.budget["rho"], reference_draws.profile(claim)
    exact = (separated_scenario(rho), angle_scenario(claim.options["ensemble"]))
    pair = eigenvalue_pair(math.ceil(SEPARATION * separate_cov.noise_scale(1, rho)))
    return Profile(
        claim.form,
        (*exact, *generic.scenarios),
        lambda fitted: (pair, *generic.pairs(fitted)),
        shapes=separated_shapes(rho),
    )


def clipped_cov_profile(claim: ClaimUnderAudit) -> Profile:
    """ClippedCov: the exact law if the threshold is public, and draws of the reference."""
    rho, options, generic = claim.budget["rho"], claim.options, reference_draws.profile(claim)
    if options["base"] == "separate":  # half of what the threshold leaves is spent on the eigenvalues
        pair = eigenvalue_pair(math.ceil(SEPARATION * separate_cov.noise_scale(1, rho)))
        generic = replace(generic, pairs=lambda _: (pair, *common_pairs(OUTPUTS["matrix"])))
    if options["threshold"] == "private":
        return generic
    tau = clipped_cov.CLIP_NORM
    if options["base"] == "separate":
        exact: tuple[Scenario, ...] = (separated_scenario(rho, tau),)
        shapes = separated_shapes(rho, tau)
    else:

        def scenario(n: int, d: int) -> Scenario:
            x = example_rows(n, d)
            moment = second_moment(unit_rows(x, tau)) * tau**2
            return noise_scenario(f"d={d}", x, moment, gauss_cov.noise_scale(n, rho) * tau**2, options["ensemble"])

        exact, shapes = (scenario(N, 4),), _shapes(scenario)
    return Profile(claim.form, (*exact, *generic.scenarios), generic.pairs, shapes=shapes)
