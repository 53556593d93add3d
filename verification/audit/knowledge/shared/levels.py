"""Test that each level of a discrete output has its probability, and compute statistics of such outputs."""

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.engine.events import Statistic
from covassay.verification.audit.engine.law import Test
from covassay.verification.statistics.laws import Placed
from covassay.verification.statistics.tests import TestResult, binomial

# if all queries are 0 and the threshold has one of these values, in noise scales of a query, the probabilities of the
# answers depend most on the noise
NEAR, FAR = 0.5, 3.0
RARE = 0.01  # levels of at most this probability are also tested together
FINITE = "the answer is one of a finite set, with probabilities that depend on the data"
FEW_NUMBERS = (
    "the answer is one of a few public numbers. The bits of these numbers do not depend on the data, and rounding "
    "hardly changes the probability of a number"
)


def outputs_of(levels: Vector) -> tuple[Statistic, ...]:
    """Return statistics of a discrete output: its value, and for each level whether the output equals the level."""

    def indicator(level: float) -> Statistic:
        return Statistic(f"is {level:g}", lambda y: np.isclose(y, level).astype(np.float64))

    return (Statistic("value", lambda y: y), *(indicator(level) for level in levels))


def choices(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
    """Return statistics of a discrete output whose levels are 1, …, d + 1."""
    return outputs_of(np.arange(1.0, first.shape[1] + 2))


def levels_test(levels: Vector, law: Vector) -> Test:
    """Test by exact binomial tests with Bonferroni's correction that each level has its probability and no other value
    occurs.

    If several levels are rare, the sum of their probabilities is tested as well, with half of the error probability.
    The number of outputs on all rare levels together may show a change that no test of one rare level can show.
    """
    rare = law <= RARE
    halves = 2 if rare.sum() > 1 else 1
    # by Bonferroni's correction, the p-value of each test is multiplied by one of these numbers
    shares = [halves * (len(law) + 1)] * (len(law) + 1) + [2] * (halves - 1)

    def test(outputs: Vector) -> TestResult:
        n = len(outputs)
        counts = np.array([int(np.isclose(outputs, level, rtol=1e-9, atol=0).sum()) for level in levels])
        seen = [*counts, n - counts.sum(), counts[rare].sum()]
        exact = np.minimum([*law, 0.0, law[rare].sum()], 1.0)
        null = "every output has its exact probability"
        results = [binomial(int(count), n, float(p), null) for count, p in zip(seen, exact, strict=True)][: len(shares)]
        least, share = min(zip(results, shares, strict=True), key=lambda pair: pair[0].p_value * pair[1])
        return TestResult(
            null,
            least.statistic,
            min(1.0, share * least.p_value),
            n,
            least.effect,
            lambda alpha: least.detectable(alpha / share),
            _place(outputs, levels, law),
        )

    return test


def _place(outputs: Vector, levels: Vector, law: Vector) -> Placed:
    """Return the randomised distribution function of discrete outputs; a value that is not a level counts as the lowest
    level.
    """
    matches = np.isclose(outputs[:, None], levels, rtol=1e-9, atol=0)
    index = np.where(matches.any(axis=1), matches.argmax(axis=1) + 1, 0)
    cumulated = np.minimum(np.concatenate([[0.0], np.cumsum(law)]), 1.0)
    return Placed(cumulated[index], 1 - np.concatenate([[0.0], cumulated])[index])


def axes_in_turn(n: int, d: int) -> tuple[Matrix, Vector]:
    """Return n rows along the axes in turn, with n/8 of them moved to the last axis, and the energies of the
    columns."""
    which = np.where(np.arange(n) % 8 == 7, d - 1, np.arange(n) % d)
    x: Matrix = np.eye(d)[which]
    return x, x.sum(axis=0)
