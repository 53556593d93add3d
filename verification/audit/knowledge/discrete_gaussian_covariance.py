"""The discrete Gaussian covariance mechanism adds noise that is a multiple of a public unit to a second moment of
integers.

The module `shared.lattice_noise` adds randomness that turns the discrete Gaussian noise into exactly normal noise, so
that the tests of GaussCov apply.
"""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtri

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import discrete_gaussian
from covassay.reference.mechanisms.concentrated import discrete_gaussian_covariance as mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Statistic, generic_statistics
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.engine.shapes import Shapes
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.counted_lattice import CountedLattice
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.gaussian_noise import (
    SHAPE_TESTS,
    GaussianNoise,
    scale_estimate,
    tests_of,
)
from covassay.verification.audit.knowledge.shared.lattice_noise import DIMENSIONS, Lattice, N, Tail, input_bits, sizes
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.audit.knowledge.shared.wrong_scales import scale_suspects


def deviation(claim: ClaimUnderAudit, d: int) -> float:
    """Return the scale σ of the discrete Gaussian noise, in units of the lattice."""
    change = mechanism.sensitivity_squared(d, input_bits(claim))
    return math.sqrt(mechanism.noise_variance(change, claim.budget["rho"]))


def tail_of(sigma: float) -> Tail:
    """Return the function that maps k to P(|Z| ≥ k) for a discrete Gaussian Z with this σ."""
    return lambda k: discrete_gaussian.tail(k, sigma)


@dataclass(frozen=True)
class SpreadGaussian(GaussianNoise):
    """The Gaussian noise that replaces the whole-number noise of outputs on a lattice; `scale` is σ in units of the
    lattice.
    """

    x: Matrix
    input_bits: int

    @property
    def lattice(self) -> Lattice:
        """Return the lattice on which the outputs lie."""
        return Lattice(self.x, self.input_bits, tail_of(self.scale), lambda p: -ndtri(p / 2))

    def residuals(self, outputs: Matrix) -> Matrix:
        """Return the noise of every output, with each whole number replaced by a random number of a normal law."""
        return self.lattice.spread(outputs)


def deviations_of_sums(claim: ClaimUnderAudit, d: int) -> tuple[float, float]:
    """Return the noise scales under add-remove: the scale for the number of rows, and the scale for an entry of the sum
    in units of the lattice.
    """
    rho, share = claim.budget["rho"], float(mechanism.count_share(d))
    change = mechanism.sum_squared(input_bits(claim))
    variances = mechanism.noise_variance(1, share * rho), mechanism.noise_variance(change, (1 - share) * rho)
    return math.sqrt(variances[0]), math.sqrt(variances[1])


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the Gaussian noise with equal variances that replaces the whole-number noise of an output."""
    b = input_bits(claim)
    if claim.options.get("adjacency") == "add-remove":
        deviations = partial(deviations_of_sums, claim)
        return CountedLattice(mechanism.COUNTED, deviations, tail_of, lambda p: -ndtri(p / 2), True, b).known

    def noise(x: Matrix, factor: float = 1.0) -> SpreadGaussian:
        d = x.shape[1]
        return SpreadGaussian(np.zeros((d, d)), factor * deviation(claim, d), "wigner", x, b)

    def scenario(n: int, d: int) -> Scenario:
        x = example_rows(n, d)
        lattice = noise(x).lattice
        estimate = scale_estimate(lattice.moment, deviation(claim, d) * lattice.unit, "wigner")
        suspects = scale_suspects(lambda factor: noise(x, factor).squared_norm)
        return Scenario(f"d={d}", x, {**tests_of(noise(x)), **lattice.tests()}, suspects, (estimate,))

    def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
        change = np.triu(noise(first).lattice.moment - noise(second).lattice.moment)

        def ratio(y: Matrix) -> Vector:
            values: Vector = np.einsum("nij,ij->n", y, change) * len(first)
            return values

        return (
            Statistic("log likelihood ratio, up to a factor", ratio),
            *generic_statistics(first, second, OUTPUTS["matrix"])[:1],
        )

    return KnownLaw(
        tuple(scenario(N, d) for d in DIMENSIONS),
        common_pairs(OUTPUTS["matrix"], statistics, (1, 2, 3)),
        Shapes(scenario, SHAPE_TESTS, lambda d: d * (d + 1) / 2, sizes(b, tail_of(deviation(claim, 1)))),
    )


def atom(claim: ClaimUnderAudit) -> float:
    """Return the largest probability, over all entries and numbers of columns, that the noise of an entry is 0."""
    if claim.options.get("adjacency") == "add-remove":
        return float(discrete_gaussian.pmf(np.array(0.0), deviations_of_sums(claim, 1)[0]))
    return float(discrete_gaussian.pmf(np.array(0.0), deviation(claim, 1)))


KNOWN = Known(
    law,
    QueryPlusNoise(independent=True, atom=atom),
    # adding a row x changes the sum by xxᵀ of Frobenius norm 1, and replacing a row changes the sum by at most √2
    add_remove=math.sqrt(0.5),
)
