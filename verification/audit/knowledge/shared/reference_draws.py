"""Where a law has no closed form, draws of a target are compared with draws of the reference.

A first test has one draw of the reference for every draw of the target. If its p-value is at most `CLEAR`, a second
test with `TIMES` as many draws replaces it. The replacement is valid: a reported p-value up to `CLEAR` comes from the
second test, and a larger one is at least that of the first test, so each is small at most as often as in one test
alone. Hardly any power is lost: a distance with p = 1e-11 in the second test has p below 1e-5 in the first.

Two-sample tests of one-dimensional statistics run on one data set where the noise is larger than the signal and on one
where it is smaller. For the reference's own mechanisms both samples come from the same code, and the comparison cannot
fail: their laws are checked in tests/reference.
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
from covassay.verification.statistics.streams import stream
from covassay.verification.statistics.tests import TestResult, detected, two_sample

FEW, TIMES = 1, 10  # for every draw of the target, the reference makes so many draws
CLEAR = 0.01
MOST_DRAWS = 10_000  # the most draws of the reference, unless the target has more
# in data sets of the first shape (n, d) the noise is larger than the signal, in those of the second it is smaller
SIZES = (6, 3), (400, 2)


def reference_size(draws: int) -> int:
    """Return the number of draws of the reference for a comparison with `draws` draws of a target."""
    return max(draws, min(TIMES * draws, MOST_DRAWS))


def against(feature: Feature, reference: Callable[[int], Matrix], null: str) -> Test:
    """Return the test of one feature of the output against draws of the reference; `reference` makes so many of
    them.
    """

    def test(outputs: Matrix) -> TestResult:
        values, many = feature(outputs), reference_size(len(outputs))
        few = min(FEW * len(outputs), many)
        first = two_sample(values, feature(reference(few)), null)
        if first.p_value <= CLEAR and few < many:
            return two_sample(values, feature(reference(many)), null)
        n = len(outputs)
        return replace(first, detectable=lambda alpha: max(detected(n, few, CLEAR), detected(n, many, alpha)))

    return test


def scenario(claim: ClaimUnderAudit, n: int, d: int, weight: float) -> Scenario:
    """Example rows, with the test of every feature of the output against draws of the reference."""
    return scenario_on(claim, f"n={n}, d={d}", example_rows(n, d), weight)


def scenario_on(claim: ClaimUnderAudit, name: str, x: Matrix, weight: float) -> Scenario:
    """Return a scenario on this data set that compares every feature of the output with draws of the reference."""

    @lru_cache(maxsize=4)
    def reference(size: int) -> Matrix:
        rng = np.random.default_rng(stream(claim.seed, "reference", *x.shape, size))
        return claim.draws(x, size, rng)

    named = features(claim.output, x.shape[1]).items()
    tests = {feature: against(f, reference, f"{feature} as in the reference's draws") for feature, f in named}
    return Scenario(name, x, tests, weight=weight)


def close_eigenvalues(claim: ClaimUnderAudit, scale: float) -> Scenario:
    """Two eigenvalues of Σ x xᵀ one noise scale apart: the noise often exchanges the order of the two.

    How the noisy eigenvectors are then matched to eigenvalues shows here. `scale` is that of the noise.
    """
    return scenario_on(claim, "close eigenvalues, d=2", with_eigenvalues(2 * scale, scale), 1.0)


def beside(claim: ClaimUnderAudit) -> Beside:
    """Return the reference on any data, and features of an output, alone and relative to the data."""
    output = claim.output

    def numbers(x: Matrix) -> Mapping[str, Feature]:
        rows = unit_rows(x)
        return {**features(output, x.shape[1]), **contrasts(output, rows, np.zeros_like(rows))}

    return Beside(claim.draws, numbers, claim.mechanism.smallest_dimension)


def promises_symmetry(claim: ClaimUnderAudit) -> bool:
    """Return whether the matrix in the reference's output is symmetric with the given options, judged by a few
    draws.
    """
    rng = np.random.default_rng(stream(claim.seed, "symmetry"))
    draws = (claim.draw(x, rng) for x in map(example_rows, (20, 65), (3, 5)))
    parts = [square_part(claim.output, y) if y.ndim == 2 else None for y in draws]
    return all(part is not None and not asymmetry(part) for part in parts)


def smallest(claim: ClaimUnderAudit) -> int:
    """Return the fewest columns of the data sets and pairs in this module."""
    return max(2, claim.mechanism.smallest_dimension)


def scenarios(claim: ClaimUnderAudit, weight: float = 0.5) -> tuple[Scenario, ...]:
    """Return the comparisons with draws of the reference on both data sets."""
    return tuple(scenario(claim, n, max(smallest(claim), columns), weight) for n, columns in SIZES)


def pairs(claim: ClaimUnderAudit) -> Pairs:
    """Return the pairs for any mechanism."""
    return common_pairs(claim.output, dimensions=(smallest(claim),))


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the comparisons and pairs for any mechanism."""
    return KnownLaw(scenarios(claim), pairs(claim))
