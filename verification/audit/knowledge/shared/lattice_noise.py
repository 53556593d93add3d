"""Compute the whole-number noise on a second moment of integers from the output, and turn it into continuous noise.

The output Y shows the noise Z = (Y − Σ)/unit, whose entries are whole numbers of a known law. So that the exact tests
of continuous laws apply, every whole number z is replaced by a random number from a continuous law. If the noise Z has
its law and V is uniform on [0, 1], then for an observed value z the number p = P(|Z| > |z|) + V P(|Z| = |z|) is
uniform. The number that replaces z has the tail probability p, and the sign of z or, if z = 0, a random sign. Up to
rounding, its law is Laplace(1) or N(0, 1). The uniform number V and the random sign come from a generator with a fixed
seed, so that an audit can be repeated.

The replacement of whole numbers by random numbers hides some errors. Two more tests find such errors. One of these
tests examines how often the noise is 0, and the other whether every output is a multiple of the unit.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.domain.exact_data import exact_data, in_units
from covassay.verification.audit.engine.law import Test
from covassay.verification.audit.engine.shapes import grid
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit
from covassay.verification.statistics.tests import TestResult, binomial

N = 12
DIMENSIONS = (1, 2, 4)
ZEROS, ON_THE_LATTICE = "zeros", "on the lattice"
ROUNDINGS = 4  # an integer and the number computed for it differ by at most this many rounding units of float64
SEEN = 0.25  # an integer counts as known if its error is smaller than this share of the lattice unit
# at neighbouring integers that rounding confuses, the law may differ by at most this probability
UNSEEN = 1e-10

Tail = Callable[[Vector], Vector]  # a tail takes a whole number k ≥ 0 and returns P(|Z| ≥ k)


@dataclass(frozen=True)
class Lattice:
    """A data set with the unit of the lattice on which outputs lie, and with the law of the whole-number noise Z.

    `quantile` takes a probability p and returns the number that |X| exceeds with probability p, where X has the
    continuous law.
    """

    x: Matrix
    input_bits: int
    tail: Tail
    quantile: Callable[[Vector], Vector]

    @property
    def moment(self) -> Matrix:
        """Return the second moment of the integer rows."""
        data = exact_data(self.x, input_bits=self.input_bits)
        return in_units(data.products, data.unit)

    @property
    def unit(self) -> float:
        """Return the distance between neighbouring values of an output."""
        return 1 / (len(self.x) * 4.0**self.input_bits)

    def counts(self, outputs: Matrix) -> Matrix:
        """Return the whole-number noise Z of every output."""
        whole: Matrix = np.rint((outputs - self.moment) / self.unit)
        return whole

    def spread(self, outputs: Matrix) -> Matrix:
        """Replace every entry of the whole-number noise by a random number of the continuous law."""
        return spread(self.counts(outputs), self.tail, self.quantile)

    def own(self, values: Matrix) -> Vector:
        """Return the noise on and above the diagonal in all draws."""
        i, j = np.triu_indices(self.x.shape[1])
        entries: Vector = values[:, i, j].ravel()
        return entries

    def zeros(self, outputs: Matrix) -> TestResult:
        """Test that the noise is 0 as often as its law says."""
        z = self.own(self.counts(outputs))
        at_zero = 1 - float(self.tail(np.array(1.0)))
        return binomial(int((z == 0).sum()), len(z), at_zero, f"an entry of Z is 0 with probability {at_zero:.3g}")

    def on_the_lattice(self, outputs: Matrix) -> TestResult:
        """Test that every output is a multiple of the unit, up to rounding of float64."""
        off = self.own(np.abs((outputs - self.moment) / self.unit - self.counts(outputs)))
        error = ROUNDINGS * 2.0**-53 * self.own(np.abs(outputs) + np.abs(self.moment)) / self.unit
        outside = int(((off > error) & (error < SEEN)).sum())
        return binomial(outside, len(off), 0.0, f"every entry is a multiple of {self.unit:.3g}")

    def tests(self) -> dict[str, Test]:
        """Return the two tests that are specific to noise on a lattice."""
        return {ZEROS: self.zeros, ON_THE_LATTICE: self.on_the_lattice}


def spread(z: Matrix, tail: Tail, quantile: Callable[[Vector], Vector]) -> Matrix:
    """Replace every whole number of an array by a random number of the continuous law."""
    rng = np.random.default_rng(z.shape)
    size, share = np.abs(z), rng.random(z.shape)
    beyond = tail(size + 1)
    number = quantile(beyond + share * (tail(size) - beyond))
    spread: Matrix = np.where(z == 0, np.where(rng.random(z.shape) < 0.5, -1, 1), np.sign(z)) * number
    return spread


def sizes(input_bits: int, tail: Tail) -> tuple[tuple[int, int], ...]:
    """Return the shapes (n, d) of data on which float64 determines the noise. For each of these shapes, at least one of
    two conditions holds: rounding errors are too small to confuse two neighbouring integers, or two neighbouring
    integers have nearly equal probabilities.
    """
    at_zero = 1 - float(tail(np.array(1.0)))
    error = ROUNDINGS * 2.0**-53 * 4.0**input_bits
    return tuple((n, d) for n, d in grid() if n * error < SEEN or n * error * at_zero < UNSEEN)


def input_bits(claim: ClaimUnderAudit) -> int:
    """Return the number b for which the mechanism rounds rows toward zero to multiples of 2^−b."""
    return int(claim.parameter("input_bits"))
