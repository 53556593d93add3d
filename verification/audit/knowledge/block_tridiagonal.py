"""The mechanism adds Gaussian noise of one scale to the diagonal blocks and to the blocks beside them, and sets other
entries to 0.

The audit knows the data and therefore observes the noise of every kept entry, whose law is known exactly. In the worst
neighbours for privacy, the differing rows have opposite signs in every second block.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.mechanisms.concentrated import block_tridiagonal as mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.sensitivity import neighbours
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Pair, Statistic, generic_statistics
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.data_paths import SAME_SQUARES_OF_ANY_ROWS, NotAdditive
from covassay.verification.audit.knowledge.shared.many_draws import InOneBatch
from covassay.verification.audit.knowledge.shared.noise_entries import SIGNS, SIZES, TRIPLES, NoiseEntries
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.statistics.dependence import triples
from covassay.verification.statistics.laws import NORMAL, chi_square
from covassay.verification.statistics.tests import (
    TestResult,
    bare_draws,
    binomial,
    gamma_total,
    gamma_totals,
    kolmogorov_smirnov,
)

N = 12
DIMENSIONS = (1, 2, 5)
SHAPE_TESTS = "squared norm", "all entries", "total scale"


@dataclass(frozen=True)
class BlockNoise:
    """The noise of the kept entries on rows with a given second moment."""

    moment: Matrix
    scale: float
    block: int

    @property
    def near(self) -> NDArray[np.bool_]:
        """Return the mask of the entries that the mechanism keeps."""
        return mechanism.kept(len(self.moment), self.block)

    @property
    def places(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the row and column indices of the kept entries on and above the diagonal."""
        i, j = np.nonzero(np.triu(self.near))
        return i, j

    def normals(self, outputs: Matrix) -> Matrix:
        """Return the standardised noise of the k kept entries, which is independent N(0, 1), as an array (size, k)."""
        i, j = self.places
        noise: Matrix = (outputs[:, i, j] - self.moment[i, j]) / self.scale
        return noise * np.where(i == j, 1.0, math.sqrt(2))

    def entries(self, outputs: Matrix) -> TestResult:
        """Test that the noise of all kept entries is Gaussian."""
        return kolmogorov_smirnov(self.normals(outputs).ravel(), NORMAL, "all kept entries have Gaussian noise")

    def squared_norm(self, outputs: Matrix) -> TestResult:
        """Test that the sum of the squared standardised noise of one output is χ²."""
        squares = (self.normals(outputs) ** 2).sum(axis=1)
        count = len(self.places[0])
        return kolmogorov_smirnov(squares, chi_square(count), f"standardised squares ~ χ²({count})")

    def total(self, factor: float) -> Test:
        """Return the test that the sum of the squared noise over all draws is χ², if the noise scale is multiplied by
        `factor`.
        """

        def test(outputs: Matrix) -> TestResult:
            values = self.normals(outputs) / factor
            null = f"the sum of the standardised squares over n draws ~ χ²({values.shape[1]} n)"
            return gamma_total((values**2).sum(axis=1) / 2, values.shape[1] / 2, null, power=2)

        return test

    def every_scale(self, outputs: Matrix) -> TestResult:
        """Test that, for each kept entry, the sum of its squared noise over all draws is χ²."""
        null = "for each entry, the sum of the standardised squares over n draws ~ χ²(n)"
        return gamma_totals(self.normals(outputs) ** 2 / 2, 0.5, null, power=2)

    def noisy(self, outputs: Matrix) -> TestResult:
        """Test that no draw is without noise."""
        return bare_draws(self.normals(outputs))

    def elsewhere(self, outputs: Matrix) -> TestResult:
        """Test that all entries that the mechanism does not keep are 0.

        Under the law, these entries are nonzero with probability 0; the binomial test uses the probability 1e-30 in its
        place.
        """
        other = int((outputs[:, ~self.near] != 0).any(axis=1).sum())
        return binomial(other, len(outputs), 1e-30, "entries outside the blocks are 0")

    def tests(self) -> dict[str, Test]:
        """Return the tests of the noise by their names."""
        i, j = self.places
        names = tuple(f"entry ({a + 1}, {b + 1})" for a, b in zip(i, j, strict=True))
        every = np.ones((len(names), len(names)), dtype=bool)
        tests: dict[str, Test] = {
            "squared norm": self.squared_norm,
            "total scale": self.total(1.0),
            "noise in every draw": self.noisy,
            "all entries": self.entries,
            **NoiseEntries(names, self.normals, every, every, every).tests(SIGNS, SIZES),
        }
        if len(names) > 1:
            tests["scale of every entry"] = self.every_scale
        if len(names) > 2:
            tests[TRIPLES] = lambda y: triples(self.normals(y), names, independent=True)
        if not self.near.all():
            tests["zeros elsewhere"] = self.elsewhere
        return tests


@dataclass(frozen=True)
class Claimed:
    """The budget and the block sizes of a claim, and the laws that follow from them."""

    rho: float
    block: int
    block_bound: float

    def moment(self, x: Matrix) -> Matrix:
        """Return the second moment of the clipped rows, in the unit of the output."""
        return second_moment(mechanism.shortened(x, self.block, self.block_bound)) * self.block_bound**2

    def noise(self, x: Matrix) -> BlockNoise:
        """Return the law of the noise on these rows."""
        n, d = x.shape
        scale = float(mechanism.noise_scale(n, d, self.rho, self.block)) * self.block_bound**2
        return BlockNoise(self.moment(x), scale, self.block)

    def scenario(self, n: int, d: int) -> Scenario:
        """Return the tests on example rows with the shape (n, d)."""
        x = example_rows(n, d) * self.block_bound
        right = self.noise(x)
        suspects = tuple(Suspect.times(name, text, factor, right.total) for name, text, factor in self.mistakes(d))
        return Scenario(f"d={d}", x, right.tests(), suspects)

    def mistakes(self, d: int) -> list[tuple[str, str, float]]:
        """Return, for each plausible mistake in the noise scale, its name, its explanation and the factor of
        the scale.
        """
        q, squared = mechanism.blocks(d, self.block), float(mechanism.sensitivity_squared(d, self.block))
        made = [
            ("half-scale", "the noise has half the calibrated scale: too little noise", 0.5),
            ("double-scale", "the noise has twice the calibrated scale: private but wasteful", 2.0),
        ]
        if q > 1:
            rows = "the noise is calibrated for rows of length r, although each block of a row may have length r"
            made.append(("one-ball", rows, math.sqrt(2 / squared)))
            made.append(
                (
                    "whole-rows",
                    "the noise is calibrated for the release of all entries, with rows of length r√q",
                    q * math.sqrt(2 / squared),
                )
            )
        return made

    def likelihood_ratio(self, first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
        """Return a statistic of the outputs that equals the log likelihood ratio up to a factor and a constant."""
        change = np.where(mechanism.kept(first.shape[1], self.block), self.moment(first) - self.moment(second), 0.0)
        top = float(np.abs(change).max()) or 1.0
        direction = change / top

        def ratio(outputs: Matrix) -> Vector:
            return np.asarray(np.einsum("nij,ij->n", outputs, direction))

        named = Statistic("log likelihood ratio, up to a factor", ratio)
        return (named, *generic_statistics(first, second, OUTPUTS["matrix"]))

    def worst(self, d: int) -> Pair:
        """Return the worst neighbours for privacy, whose differing rows have opposite signs in every second block."""
        heads = np.where(np.arange(d) % self.block == 0, self.block_bound, 0.0)
        signs = np.where(np.arange(d) // self.block % 2 == 0, 1.0, -1.0)
        first, second = neighbours(np.zeros((1, d)), heads, heads * signs if d > self.block else 0 * heads)
        return Pair(f"every second block negated, d={d}", first, second, self.likelihood_ratio(first, second))


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the noise of the kept entries, on data with any numbers of rows and columns."""
    claimed = Claimed(claim.budget["rho"], int(claim.parameter("block")), claim.parameter("block_bound"))
    ratio: Callable[[Matrix, Matrix], tuple[Statistic, ...]] = claimed.likelihood_ratio
    return KnownLaw(
        tuple(replace(claimed.scenario(N, d), weight=2.0 if d > 2 else 1.0) for d in DIMENSIONS),
        (*(claimed.worst(d) for d in (1, 2, 4)), *common_pairs(OUTPUTS["matrix"], ratio, (1, 2))),
        Shapes(claimed.scenario, SHAPE_TESTS, lambda d: float(mechanism.kept_entries(d, claimed.block)), grid()),
    )


KNOWN = Known(
    law,
    NotAdditive("all entries outside the blocks are 0 in every draw and get no noise", SAME_SQUARES_OF_ANY_ROWS),
    many=InOneBatch(mechanism.draw_noise, mechanism.release),
    no_choices="only the length of a block of a row decides, without noise, whether the block is shortened",
)
