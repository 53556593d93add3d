"""Tests whether quantities that are drawn together, or in successive draws, are independent: all pairs in one test.

Every test multiplies the scores of two quantities draw by draw and adds up the products. Under its null hypothesis the
signs of the products are fair and independent coins, given their sizes. So the sum is a weighted sum of coins, and its
tail is at most 3.178 times the tail of the normal law with the same variance (Bentkus and Dzindzalieta, Bernoulli 21,
2015). The p-value is this bound, times the number of pairs. It is conservative for every n and needs no law of the
quantities. Scores are ranks, so that a wrong scale is not taken for a dependence.

turned signs : a quantity changes its sign and the law stays the same. Score: the sign times the rank of the size.
sizes : two draws swap one quantity and keep the others. Score: the difference of the ranks of the sizes.
successive draws : a whole draw changes its sign, or two draws that are not neighbours change places.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from covassay.reference.domain import Matrix
from covassay.verification.statistics.tests import POWER, TestResult

NORMAL_TAIL = 1 / (4 * float(norm.sf(math.sqrt(2))))  # 3.178, which no smaller constant can replace
FEWEST = 8  # with fewer draws nothing is tested
Pairs = NDArray[np.bool_]  # (k, k): for which pairs of quantities the null hypothesis is claimed


@dataclass(frozen=True)
class _Sums:
    """Sums of products for pairs of quantities in units of their deviation, (k, k), and what each of them compares."""

    z: Matrix
    pairs: Pairs
    words: str


def _ranks(values: Matrix) -> Matrix:
    """Ranks of the sizes within each column, between 0 and 1."""
    ranks: Matrix = rankdata(np.abs(values), axis=0) / (len(values) + 1)
    return ranks


def _sums(first: Matrix, second: Matrix, pairs: Pairs, words: str) -> _Sums:
    """The sums over draws of first_i second_j, divided by the root of the sum of their squares."""
    with np.errstate(invalid="ignore", divide="ignore"):
        z = (first.T @ second) / np.sqrt((first**2).T @ second**2)
    return _Sums(np.nan_to_num(z, posinf=0.0, neginf=0.0), pairs, words)


def _result(sums: Sequence[_Sums], names: Sequence[str], null: str, draws: int, terms: int) -> TestResult:
    """The least p-value of all sums of so many terms, by Bonferroni; the pair that stands out most is named."""
    comparisons = sum(int(one.pairs.sum()) for one in sums)
    most = max(sums, key=lambda one: np.abs(one.z[one.pairs]).max(initial=0.0))
    size = np.where(most.pairs, np.abs(most.z), -1.0)
    i, j = divmod(int(size.argmax()), len(names))
    z = max(float(size[i, j]), 0.0)
    factor = 2 * NORMAL_TAIL * max(comparisons, 1)

    def detectable(alpha: float) -> float:  # by the normal approximation
        return min(1.0, float(norm.isf(min(alpha / factor, 0.5)) + norm.isf(1 - POWER)) / math.sqrt(max(terms, 1)))

    return TestResult(
        f"{null}; closest: {most.words.format(names[i], names[j])}",
        z / math.sqrt(max(terms, 1)),
        min(1.0, factor * float(norm.sf(z))) if comparisons and terms >= FEWEST else 1.0,
        draws,
        "rank correlation",
        detectable,
    )


def turned_signs(values: Matrix, names: Sequence[str], turned: Pairs, skew: Pairs) -> TestResult:
    """Test all pairs of quantities by their signs; values (n, k).

    `turned` : pairs (i, j) for which the sign of i can be turned while j stays. `skew` : while the size of j stays.
    """
    ranks = _ranks(values)
    signed = np.sign(values) * ranks
    both = turned | turned.T
    return _result(
        (
            _sums(signed, signed, np.triu(both, 1), "the signs of {} and {}"),
            _sums(signed, ranks - 0.5, skew & ~np.eye(len(names), dtype=bool), "the sign of {} and the size of {}"),
        ),
        names,
        "turning the sign of one of them leaves the law as it is",
        len(values),
        len(values),
    )


def sizes(values: Matrix, names: Sequence[str], pairs: Pairs) -> TestResult:
    """Test for all `pairs` of quantities whether their sizes are independent; values (n, k)."""
    even = 2 * (len(values) // 2)
    ranks = _ranks(values)[:even]
    change = ranks[0::2] - ranks[1::2]
    found = _sums(change, change, np.triu(pairs | pairs.T, 1), "the sizes of {} and {}")
    return _result((found,), names, "their sizes are independent", len(values), len(change))


def successive_draws(values: Matrix, names: Sequence[str]) -> TestResult:
    """Test whether a draw is independent of the next, by all pairs of quantities; values (n, k), in order of draws.

    The law of a draw must be the same with the opposite sign.
    """
    ranks = _ranks(values)
    signed = np.sign(values) * ranks
    every = np.ones((len(names), len(names)), dtype=bool)
    quarters = ranks[: 4 * (len(ranks) // 4)]
    one, two, three, four = (quarters[i::4] for i in range(4))
    return _result(
        (
            _sums(signed[:-1], signed[1:], every, "the sign of {} and that of {} in the next draw"),
            _sums(one - three, two - four, every, "the size of {} and that of {} in the next draw"),
        ),
        names,
        "a draw says nothing about the next",
        len(values),
        len(values) - 1,
    )
