"""The discrete Laplace covariance mechanism adds noise that is a multiple of a public unit to a second moment of
integers.

The module `shared.lattice_noise` adds randomness that turns the discrete Laplace noise into exactly Laplace noise, so
that the tests of LapCov apply.
"""

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.laws import discrete_laplace
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure import discrete_laplace_covariance as mechanism
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Statistic, generic_statistics
from covassay.verification.audit.engine.law import Scenario, Test
from covassay.verification.audit.engine.shapes import Shapes
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.counted_lattice import CountedLattice
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.entrywise_noise import (
    SHAPE_TESTS,
    EntrywiseNoise,
    likelihood_ratio,
    noise_scenario,
    worst_pairs,
)
from covassay.verification.audit.knowledge.shared.lattice_noise import DIMENSIONS, Lattice, N, Tail, input_bits, sizes
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw


def noise_scale(claim: ClaimUnderAudit, d: int) -> float:
    """Return the scale t of the discrete Laplace noise, in units of the lattice."""
    change = mechanism.sensitivity(d, input_bits(claim))
    return float(mechanism.noise_scale(change, claim.budget["epsilon"]))


def tail_of(t: float) -> Tail:
    """Return the function that maps k to P(|Z| ≥ k) for a discrete Laplace Z with scale t."""
    return lambda k: np.where(k > 0, discrete_laplace.tail(k, t), 1.0)


@dataclass(frozen=True)
class SpreadLaplace(EntrywiseNoise):
    """The Laplace noise that replaces the whole-number noise of outputs on a lattice; `scale` is in units of the
    lattice.
    """

    input_bits: int

    @property
    def lattice(self) -> Lattice:
        """Return the lattice on which the outputs lie."""
        return Lattice(self.x, self.input_bits, tail_of(self.scale), lambda p: -np.log(p))

    def residuals(self, outputs: Matrix) -> Matrix:
        """Return the noise of every output, with each whole number replaced by a random number of a Laplace law."""
        return self.lattice.spread(outputs)

    def norm(self, factor: float) -> Test:
        """Return the test that the ℓ₁ norm of the noise has its Gamma law, if the noise scale is multiplied by
        `factor`.
        """
        return super().norm(1.0) if factor == 1 else replace(self, scale=factor * self.scale).norm(1.0)


def scales_of_sums(claim: ClaimUnderAudit, d: int) -> tuple[float, float]:
    """Return the noise scales under add-remove: the scale for the number of rows, and the scale for an entry of the sum
    in units of the lattice.
    """
    epsilon, share = claim.budget["epsilon"], float(mechanism.count_share(d))
    change = mechanism.sensitivity_of_sum(d, input_bits(claim))
    return mechanism.noise_scale(1, share * epsilon), mechanism.noise_scale(change, (1 - share) * epsilon)


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the independent Laplace noise that replaces the whole-number noise of the entries."""
    b = input_bits(claim)
    if claim.options.get("adjacency") == "add-remove":
        scales = partial(scales_of_sums, claim)
        return CountedLattice(mechanism.COUNTED, scales, tail_of, lambda p: -np.log(p), False, b).known

    def noise(x: Matrix) -> SpreadLaplace:
        return SpreadLaplace(x, noise_scale(claim, x.shape[1]), False, b)

    def scenario(n: int, d: int) -> Scenario:
        seen = noise(example_rows(n, d))
        found = noise_scenario(seen, math.sqrt(2) * 4**b / claim.budget["epsilon"] / seen.scale)
        return replace(found, tests={**found.tests, **seen.lattice.tests()})

    def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
        one, other = noise(first), noise(second)
        scale = one.scale * one.lattice.unit
        ratio = likelihood_ratio(one.lattice.moment, other.lattice.moment, scale, full=False)
        return (ratio, *generic_statistics(first, second, OUTPUTS["matrix"])[:1])

    shapes = Shapes(scenario, SHAPE_TESTS, lambda d: d * (d + 1) / 2, sizes(b, tail_of(noise_scale(claim, 1))))
    return KnownLaw(tuple(scenario(N, d) for d in DIMENSIONS), worst_pairs(statistics, full=False), shapes)


def atom(claim: ClaimUnderAudit) -> float:
    """Return the largest probability that the noise of one entry is 0."""
    if claim.options.get("adjacency") == "add-remove":
        return float(discrete_laplace.pmf(0, scales_of_sums(claim, 1)[0]))
    return float(discrete_laplace.pmf(0, noise_scale(claim, 1)))


KNOWN = Known(law, QueryPlusNoise(independent=True, atom=atom))
