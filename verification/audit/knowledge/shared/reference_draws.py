"""If a law has no closed form, draws of a target are compared with draws of the reference by two-sample tests.

The first test uses one draw of the reference for every draw of the target. If the p-value of the first test is at most
`CLEAR`, a second test with `TIMES` as many draws replaces the first test. The following argument shows that the
reported p-value is valid. A reported p-value of at most `CLEAR` comes from the second test. A reported p-value above
`CLEAR` is at least the p-value of the first test. A small reported p-value therefore occurs at most as often as in a
single test. Hardly any power is lost, because a difference with p-value 1e-11 in the second test has a p-value below
1e-5 in the first test.

The tests compare one-dimensional statistics on two data sets; the noise is larger than the signal on one data set, and
smaller on the other. If the target is a mechanism of the reference itself, both samples come from the same code, and
the comparison cannot fail. The tests in tests/reference check the law of a target that is a mechanism of the reference
itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from covassay.reference.domain import Matrix, unit_rows
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.features import Feature, contrasts, features
from covassay.verification.audit.engine.kinds_of_data import Beside
from covassay.verification.audit.engine.law import Scenario, Test
from covassay.verification.audit.engine.symmetry import asymmetry, square_part
from covassay.verification.audit.knowledge.shared.near_choices import with_eigenvalues
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, Pairs, common_pairs
from covassay.verification.statistics.last_digits import without_last_digits
from covassay.verification.statistics.streams import stream
from covassay.verification.statistics.tests import TestResult, detected, two_sample

FEW, TIMES = 1, 10  # the reference makes this many draws for every draw of the target
CLEAR = 0.01
MOST_DRAWS = 10_000  # the largest number of draws of the reference, unless the target has more draws
# the noise is larger than the signal in data of the first shape (n, d), and smaller in data of the second shape
SIZES = (6, 3), (400, 2)


def reference_size(draws: int) -> int:
    """Return how many draws of the reference are compared with `draws` draws of a target."""
    return max(draws, min(TIMES * draws, MOST_DRAWS))


def against(feature: Feature, reference: Callable[[int], Matrix], null: str) -> Test:
    """Return the test that compares one feature of the outputs with `reference`, which makes draws of the reference."""

    def test(outputs: Matrix) -> TestResult:
        def beside(size: int) -> TestResult:
            ours, theirs = without_last_digits(outputs, reference(size))
            return two_sample(feature(ours), feature(theirs), null)

        n, many = len(outputs), reference_size(len(outputs))
        few = min(FEW * n, many)
        first = beside(few)
        if first.p_value <= CLEAR and few < many:
            return beside(many)
        return replace(first, detectable=lambda alpha: max(detected(n, few, CLEAR), detected(n, many, alpha)))

    return test


def scenario(claim: ClaimUnderAudit, n: int, d: int, weight: float) -> Scenario:
    """Return example rows with tests that compare every feature of the output with draws of the reference."""
    return scenario_on(claim, f"n={n}, d={d}", example_rows(n, d), weight)


def scenario_on(claim: ClaimUnderAudit, name: str, x: Matrix, weight: float) -> Scenario:
    """Return this data set with tests that compare every feature of the output with draws of the reference."""

    @lru_cache(maxsize=4)
    def reference(size: int) -> Matrix:
        rng = np.random.default_rng(stream(claim.seed, "reference", *x.shape, size))
        return claim.draws(x, size, rng)

    named = features(claim.output, x.shape[1]).items()
    tests = {feature: against(f, reference, f"{feature} has the reference's law") for feature, f in named}
    return Scenario(name, x, tests, weight=weight)


def close_eigenvalues(claim: ClaimUnderAudit, scale: float) -> Scenario:
    """Return rows for which two eigenvalues of Σ xxᵀ are one noise scale apart, so that the noise often exchanges their
    order.

    Draws on data with close eigenvalues show how the mechanism matches noisy eigenvectors to noisy eigenvalues. `scale`
    is the scale of the noise of the eigenvalues.
    """
    return scenario_on(claim, "close eigenvalues, d=2", with_eigenvalues(2 * scale, scale), 1.0)


def beside(claim: ClaimUnderAudit) -> Beside:
    """Return the draws of the reference for comparisons on any data, and the features to compare. Some features depend
    on the output alone, and others also on the data.
    """
    output = claim.output

    def numbers(x: Matrix) -> Mapping[str, Feature]:
        rows = unit_rows(x)
        return {**features(output, x.shape[1]), **contrasts(output, rows, np.zeros_like(rows))}

    return Beside(claim.draws, numbers, claim.mechanism.smallest_dimension)


def promises_symmetry(claim: ClaimUnderAudit) -> bool:
    """Return whether a few draws of the reference with these options are symmetric matrices. If only a part of the
    output is a square matrix, this part is examined.
    """
    rng = np.random.default_rng(stream(claim.seed, "symmetry"))
    draws = (claim.draw(x, rng) for x in map(example_rows, (20, 65), (3, 5)))
    parts = [square_part(claim.output, y) if y.ndim == 2 else None for y in draws]
    return all(part is not None and not asymmetry(part) for part in parts)


def smallest(claim: ClaimUnderAudit) -> int:
    """Return the smallest number of columns that data sets and neighbours of this module may have."""
    return max(2, claim.mechanism.smallest_dimension)


def scenarios(claim: ClaimUnderAudit, weight: float = 0.5) -> tuple[Scenario, ...]:
    """Return two data sets with tests that compare draws of the target with draws of the reference."""
    return tuple(scenario(claim, n, max(smallest(claim), columns), weight) for n, columns in SIZES)


def pairs(claim: ClaimUnderAudit) -> Pairs:
    """Return the neighbours of `common_pairs`, on which any mechanism can be tested."""
    return common_pairs(claim.output, dimensions=(smallest(claim),))


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return tests that compare draws of the target with draws of the reference, and neighbours on which any mechanism
    can be tested.
    """
    return KnownLaw(scenarios(claim), pairs(claim))
