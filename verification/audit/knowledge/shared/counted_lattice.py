"""Under add-remove adjacency, mechanisms on a lattice release a noisy number of rows, and a noisy sum on a lattice
whose unit is public. The noises of the number of rows and of the sum over rows are whole numbers.

The audit computes the whole-number noise from the output. It then replaces each whole number by a random number from a
continuous law, as the module `lattice_noise` describes. If the noise has the claimed law, the random numbers are
independent and exactly Laplace(1) or N(0, 1).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.domain.exact_data import exact_data, in_units
from covassay.reference.mechanisms.counted import RowsAndSumOutput
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.law import Scenario, Test
from covassay.verification.audit.engine.shapes import Shapes
from covassay.verification.audit.knowledge.shared.coordinate_noise import vector_noise
from covassay.verification.audit.knowledge.shared.counted_noise import DIMENSIONS, IndependentNoise, N, pairs
from covassay.verification.audit.knowledge.shared.lattice_noise import (
    ON_THE_LATTICE,
    ROUNDINGS,
    SEEN,
    ZEROS,
    Tail,
    sizes,
    spread,
)
from covassay.verification.audit.knowledge.shared.profile import KnownLaw
from covassay.verification.statistics.laws import LAPLACE, NORMAL
from covassay.verification.statistics.tests import TestResult, binomial


@dataclass(frozen=True)
class CountedLattice:
    """The law of whole-number noise on the number of rows and on every entry of the sum over rows.

    `scales` takes d and returns the noise scales of the number of rows and of an entry of the sum, the latter in units
    of the lattice. `tail` takes a scale and returns the function k -> P(|Z| ≥ k). `quantile` takes a probability p and
    returns the number that |X| exceeds with probability p, where X has the continuous law.
    """

    output: RowsAndSumOutput
    scales: Callable[[int], tuple[float, float]]
    tail: Callable[[float], Tail]
    quantile: Callable[[Vector], Vector]
    gaussian: bool
    input_bits: int

    def scenario(self, n: int, d: int) -> Scenario:
        """Return the tests on example rows with the shape (n, d)."""
        x = example_rows(n, d)
        data = exact_data(x, input_bits=self.input_bits)
        step = 4.0**-self.input_bits
        query = self.output.packed(float(n), in_units(data.products, data.unit * n))
        units = np.append(1.0, np.full(len(query) - 1, step))
        tails = [self.tail(scale) for scale in self.scales(d)]

        def numbers(y: Matrix) -> Matrix:
            z: Matrix = np.rint((y - query) / units)
            return z

        def apart(y: Matrix) -> Matrix:
            z = numbers(y)
            parts = [spread(z[:, :1], tails[0], self.quantile), spread(z[:, 1:], tails[1], self.quantile)]
            return np.hstack(parts)

        def zeros(y: Matrix) -> TestResult:
            z = numbers(y)[:, 0]
            at_zero = 1 - float(tails[0](np.array(1.0)))
            return binomial(int((z == 0).sum()), len(z), at_zero, f"the noise of n is 0 with probability {at_zero:.3g}")

        def on_the_lattice(y: Matrix) -> TestResult:
            off = np.abs((y - query) / units - numbers(y))
            error = ROUNDINGS * 2.0**-53 * (np.abs(y) + np.abs(query)) / units
            outside = int(((off > error) & (error < SEEN)).sum())
            return binomial(outside, off.size, 0.0, f"n is whole, and every entry of the sum a multiple of {step:.3g}")

        def seen(test: Test) -> Test:
            return lambda y: test(apart(y))

        law, power = (NORMAL, 2) if self.gaussian else (LAPLACE, 1)
        known = vector_noise(f"n={n}, d={d}", x, np.zeros(len(query)), np.ones(len(query)), law, power)
        tests = {name: seen(test) for name, test in known.tests.items() if name != "noise in every draw"}
        suspects = tuple(replace(one, test=seen(one.test)) for one in known.suspects)
        return replace(known, tests={**tests, ZEROS: zeros, ON_THE_LATTICE: on_the_lattice}, suspects=suspects)

    @property
    def known(self) -> KnownLaw:
        """Return all that the audit knows of the law of the whole-number noise."""
        step = 4.0**-self.input_bits
        continuous = IndependentNoise(
            self.output, lambda d: (self.scales(d)[0], self.scales(d)[1] * step), self.gaussian
        )
        listed = tuple(shape for shape in sizes(self.input_bits, self.tail(self.scales(1)[1])) if shape[1] <= 12)
        shapes = Shapes(self.scenario, ("all coordinates", "total scale"), lambda d: self.output.shape(d)[0], listed)
        scenarios = tuple(replace(self.scenario(N, d), weight=1.5) for d in DIMENSIONS)
        return KnownLaw(scenarios, pairs(self.output, continuous.likelihood_ratio), shapes)
