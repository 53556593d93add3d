"""State the law of KVMean, a private mean of Gaussian columns, on data for which it is known. NaivePME is KVMean with
the standard deviation σ = √κ.

If each column is constant except for outliers, KVMean finds the fullest bin with high probability, and the output is
Gaussian around the mean of the clipped values. On other data sets, one bin leads by about three standard deviations of
the noise of a count, and all other bins are equally full. On such data sets the output is a mixture of Gaussians with
known weights. The worst neighbours for privacy differ in one row. This row is an outlier in both data sets, in opposite
directions from the other rows.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from covassay.reference.domain import Matrix, Vector
from covassay.reference.mechanisms.gaussian_estimation import kv_mean as mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.sensitivity import neighbours
from covassay.verification.audit.engine.events import Pair, generic_statistics
from covassay.verification.audit.engine.law import Scenario, Test
from covassay.verification.audit.engine.shapes import COLUMNS, ROWS, Shapes
from covassay.verification.audit.knowledge.shared.near_choices import TIMES_IF_FAST, Choices, at_scales
from covassay.verification.audit.knowledge.shared.noise_entries import with_entries
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.audit.knowledge.shared.wrong_scales import scale_suspects
from covassay.verification.statistics.laws import NORMAL, chi_square
from covassay.verification.statistics.tests import TestResult, binomial, gamma_total, independence, kolmogorov_smirnov

DIMENSION = 4
# with this value of n√ρ, for the budget ρ of one column, the fullest bin leads by 40 standard deviations of the noise
# of a count
CERTAINTY = 100.0
OUTLIERS = 10
FAR = 1e6  # outliers have this distance from the other values, in units of σ
INSIDE = 0.2  # the constant of a column has this distance from the middle of its bin, in units of σ
# if the fullest bin leads by this many standard deviations of a noisy count, the choice of the bin depends most on the
# noise scale
LEAD = 3.0
# with this value of n√ρ, for the budget ρ of one column, the output shows which of many nearly equally full bins was
# chosen
SHARP = 500.0
APART = 2.0  # a choice of bins is tested if it changes the output by more than this many deviations of the mean
MOST_ROWS = 20_000  # a data set with more rows than this is left out


@dataclass(frozen=True)
class ConstantColumns:
    """A data set whose columns are constant except for outliers, and the Gaussian law of the output on it."""

    x: Matrix
    mean: Vector
    deviation: float

    def component(self, j: int) -> Test:
        """Return the test that one component of the output is Gaussian around the mean of its clipped column."""
        null = f"component {j + 1} is N(clipped mean, (2w/n)²/ρ)"
        return lambda outputs: kolmogorov_smirnov((outputs[:, j] - self.mean[j]) / self.deviation, NORMAL, null)

    def radius_squared(self, factor: float) -> Test:
        """Return a test of the squared distance of an output from the mean.

        The null hypothesis is a χ² law for the noise scale times `factor`.
        """
        null = f"the squared distance from the clipped mean is χ² with {len(self.mean)} degrees"

        def test(outputs: Matrix) -> TestResult:
            standard = (outputs - self.mean) / (factor * self.deviation)
            return kolmogorov_smirnov((standard**2).sum(axis=1), chi_square(len(self.mean)), null)

        return test

    def total(self, outputs: Matrix) -> TestResult:
        """Test that the sum of the squared distances of all outputs from the mean is χ²."""
        squares = (((outputs - self.mean) / self.deviation) ** 2).sum(axis=1)
        null = f"the sum of the squared distances over n draws is χ² with {len(self.mean)} n degrees"
        return gamma_total(squares / 2, len(self.mean) / 2, null, power=2)

    def all_components(self, outputs: Matrix) -> TestResult:
        """Test that all components of the output are Gaussian around the means of their clipped columns."""
        values = ((outputs - self.mean) / self.deviation).ravel()
        return kolmogorov_smirnov(values, NORMAL, "every component is N(clipped mean, (2w/n)²/ρ)")

    def independence(self, outputs: Matrix) -> TestResult:
        """Test that two components of the output are independent."""
        return independence(outputs[:, 0], outputs[:, 1], "the components are independent")

    def scenario(self) -> Scenario:
        """Return this data set with its tests and with the laws of plausible mistakes."""
        tests: dict[str, Test] = {
            "radius": self.radius_squared(1.0),
            "total scale": self.total,
            "component 1": self.component(0),
            "all components": self.all_components,
        }
        if len(self.mean) > 1:
            tests |= {"component 2": self.component(1), "independence": self.independence}
        name = f"constant columns with outliers, d={len(self.mean)}"
        seen = Scenario(name, self.x, tests, scale_suspects(self.radius_squared))
        return with_entries(seen, self.mean, symmetric=False, independent=True)


@dataclass(frozen=True)
class DrawnBin:
    """A data set with equal columns for which the noise chooses the bin, and the law of an entry of the output on this
    data set.

    The law of an entry of the output is a mixture of Gaussians, one for every bin.

    `means` are the centres of the Gaussians, (2B + 1,), where the last bin comes first. `leader` is the probability
    that the last bin is chosen; each other bin has an equal share of the rest.
    """

    name: str
    x: Matrix
    means: Vector
    leader: float
    deviation: float

    @property
    def cut(self) -> float:
        """Return a number that separates the last bin from most other bins. If the last bin was chosen, an entry of the
        output is usually above this number. If another bin was chosen, the entry is usually below it for most bins.
        """
        return float(self.means[0]) - (APART + 1) * self.deviation

    @property
    def share_below(self) -> float:
        """Return the probability that an entry of the output is below the value of `cut`."""
        return float(self.cdf(np.array([self.cut]))[0])

    @property
    def visible(self) -> bool:
        """Return whether the outputs for the last bin and for the farthest other bin are clearly apart."""
        return float(self.means[0] - self.means[-1]) > APART * self.deviation

    def cdf(self, values: Vector) -> Vector:
        """Return the distribution function of one entry of the output."""
        weights = np.full(len(self.means), (1 - self.leader) / (len(self.means) - 1))
        weights[0] = self.leader
        found: Vector = ndtr((values[:, None] - self.means) / self.deviation) @ weights
        return found

    def all_components(self, outputs: Matrix) -> TestResult:
        """Test that every entry of the output follows the mixture of Gaussians."""
        null = "every component has the law of a mixture of Gaussians, one for each bin"
        return kolmogorov_smirnov(outputs.ravel(), self.cdf, null)

    def other_bins(self, outputs: Matrix) -> TestResult:
        """Test how often an entry is below `cut`, which happens mostly if a bin other than the last one was chosen."""
        below = int((outputs < self.cut).sum())
        return binomial(
            below, outputs.size, self.share_below, "a bin other than the last one is chosen with its exact probability"
        )

    def two_columns(self, outputs: Matrix) -> TestResult:
        """Test that the bins of two columns are chosen independently."""
        both = int((outputs[:, :2] < self.cut).all(axis=1).sum())
        return binomial(both, len(outputs), self.share_below**2, "the bins of two columns are chosen independently")

    def scenario(self) -> Scenario:
        """Return this data set with its tests."""
        tests: dict[str, Test] = {
            "all components": self.all_components,
            "other bins": self.other_bins,
            "two columns": self.two_columns,
        }
        return Scenario(self.name, self.x, tests, weight=0.5)


def leaders_share(lead: float, others: int) -> float:
    """Return the probability that a normal variable plus `lead` exceeds `others` independent normal variables."""
    # the trapezoidal rule has no error beyond rounding for this integrand
    z, step = np.linspace(-12.0, 12.0, 2401, retstep=True)
    return float((np.exp(-(z**2) / 2) * ndtr(z + lead) ** others).sum() * step / math.sqrt(2 * math.pi))


def drawn_bin(claim: ClaimUnderAudit, sigma: float, words: str, rest: int) -> DrawnBin:
    """Return the data set with `rest` values in every bin, and a few more values in the last bin."""
    last, rho = mechanism.last_bin(claim.parameter("mean_bound"), sigma), claim.budget["rho"]
    bins, deviation = np.arange(last, -last - 1.0, -1), math.sqrt(mechanism.count_variance(rho / DIMENSION))
    lead = max(1, round(LEAD * deviation))
    column = np.repeat((bins + INSIDE) * sigma, [rest + lead] + [rest] * (2 * last))
    w = mechanism.half_width(len(column), sigma, claim.parameter("beta") / DIMENSION)
    return DrawnBin(
        f"{words}, d={DIMENSION}",
        np.tile(column[:, None], (1, DIMENSION)),
        np.array([np.clip(column, c - w, c + w).mean() for c in bins * sigma]),
        leaders_share(lead / deviation, 2 * last),
        math.sqrt(mechanism.mean_variance(len(column), w, rho / DIMENSION)),
    )


def drawn_bins(claim: ClaimUnderAudit, sigma: float) -> tuple[Scenario, ...]:
    """Return data sets on which the noise of the counts decides which bin is chosen, with their tests. A data set is
    left out if the output does not show which bin was chosen.
    """
    bins = 2 * mechanism.last_bin(claim.parameter("mean_bound"), sigma) + 1
    full = math.ceil(SHARP / math.sqrt(claim.budget["rho"] / DIMENSION) / bins)
    if bins * full > MOST_ROWS or bins < 3:
        return ()
    found = (drawn_bin(claim, sigma, *kind) for kind in (("few values in one bin", 0), ("bins about as full", full)))
    return tuple(data.scenario() for data in found if data.visible)


def constant_columns(n: int, bins: Vector, sigma: float, beta: float, rho: float) -> ConstantColumns:
    """Return n rows whose entries lie in the given bins, some of which are replaced by outliers; ρ is the budget of one
    column.
    """
    x = np.tile((bins + INSIDE) * sigma, (n, 1))
    x[:OUTLIERS] = FAR * sigma
    w = mechanism.half_width(n, sigma, beta / len(bins))
    mean = np.clip(x, bins * sigma - w, bins * sigma + w).mean(axis=0)
    return ConstantColumns(x, mean, math.sqrt(mechanism.mean_variance(n, w, rho)))


def worst_pair(n: int, bins: Vector, sigma: float) -> Pair:
    """Return neighbours that differ in one row. This row lies far from the other rows in both data sets, in opposite
    directions.
    """
    base = np.tile(bins * sigma, (n, 1)).astype(np.float64)
    first, second = neighbours(base, np.full(DIMENSION, FAR * sigma), np.full(DIMENSION, -FAR * sigma))
    name = f"a row far out on either side, d={DIMENSION}"
    return Pair(name, first, second, generic_statistics(first, second, OUTPUTS["vector"]))


def law(claim: ClaimUnderAudit, sigma: float) -> KnownLaw:
    """Return the law on constant columns, and neighbours that differ in an outlier. The mechanism is told that the
    standard deviation of each column is at most σ.
    """
    last = mechanism.last_bin(claim.parameter("mean_bound"), sigma)
    bins = np.array([last, -(last // 2), 0, -last])  # the constants of the columns lie in the bins with these numbers

    def least(d: int) -> int:
        return math.ceil(CERTAINTY / math.sqrt(claim.budget["rho"] / d)) + OUTLIERS

    def columns(n: int, d: int) -> Scenario:
        rho = claim.budget["rho"] / d
        return constant_columns(n, np.resize(bins, d), sigma, claim.parameter("beta"), rho).scenario()

    n = least(DIMENSION)
    sizes = tuple((rows, d) for d in COLUMNS for rows in dict.fromkeys((least(d), *ROWS)) if rows >= least(d))
    shapes = Shapes(columns, ("radius", "all components", "total scale"), lambda d: d, sizes)
    pairs = (worst_pair(n, bins, sigma), *common_pairs(OUTPUTS["vector"], weight=0.5))
    return KnownLaw((columns(n, DIMENSION), *drawn_bins(claim, sigma)), pairs, shapes)


def near_choices(claim: ClaimUnderAudit, sigma: float) -> Choices:
    """Return a column in which two bins have nearly equal numbers of values, and a column with values near the edge of
    the window.
    """
    rho, beta = claim.budget["rho"], claim.parameter("beta")
    # this is the deviation of the difference between two noisy counts
    scale = math.sqrt(2 * mechanism.count_variance(rho))
    few = math.ceil(10 * scale)
    far = sigma * mechanism.last_bin(claim.parameter("mean_bound"), sigma)

    def two_bins(k: float) -> Matrix:
        return np.repeat([[0.0], [far]], [few, round(few + k * scale)], axis=0)

    n = math.ceil(CERTAINTY / math.sqrt(rho)) + OUTLIERS
    w = mechanism.half_width(n, sigma, beta)
    deviation = math.sqrt(mechanism.mean_variance(n, w, rho))

    def edge(k: float) -> Matrix:
        return np.repeat([[0.0], [w + k * deviation]], [n - OUTLIERS, OUTLIERS], axis=0)

    return (
        *at_scales("two bins with about as many values", two_bins, times=TIMES_IF_FAST),
        *at_scales("the edge of the window", edge),
    )
