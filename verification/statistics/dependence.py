"""Test whether quantities of one draw, or of successive draws, are independent. One test covers all pairs (or triples)
of the quantities.

Every test multiplies the scores of two (or three) quantities draw by draw and adds up the products. Under the null
hypothesis of a test the signs of the products are independent, each positive with probability 1/2, given the sizes of
the products. The sum of the products is therefore a weighted sum of coins, and its tail is at most 3.178 times the tail
of the normal law with the same variance (Bentkus and Dzindzalieta, Bernoulli 21, 2015). The p-value is this bound on
the tail, multiplied by the number of pairs. The p-value is conservative for every number of draws, and does not depend
on the law of the quantities. Scores are ranks, so that a wrong scale is not mistaken for dependence.

The null hypothesis of a test is that one of the following changes of the draws does not change their law.

turned signs : In one draw, one of the quantities changes its sign. The score of this quantity is its sign times the
    rank of its size. The size of a quantity is its absolute value.
sizes : Two draws exchange their values of one quantity, and keep their values of all other quantities. The score of a
    quantity in these two draws is the difference between the ranks of its two sizes.
successive draws : All quantities of one draw change their signs, or two draws that are not successive are exchanged.
triples : Three quantities change their signs together. Then the product of their three signs is positive with
    probability 1/2. The same holds for the product of the sign of one quantity and scores that depend only on the sizes
    of the other two. If each quantity may also change its sign alone, it also holds for the product of the signs of two
    quantities and a score that depends only on the size of the third.

Two generators with one seed can cause a dependence without rank correlation, such as between the size of a normal
number and the bits of a uniform one. To detect such a dependence, the tests also use sines and cosines of the ranks.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from covassay.reference.domain import Matrix, Vector
from covassay.verification.statistics.rounding import UNIT, rounded_up
from covassay.verification.statistics.tests import POWER, TestResult

NORMAL_TAIL = 1 / (4 * float(ndtr(-math.sqrt(2))))  # 3.178, the smallest constant for which the bound holds
WAVES = 1, 2, 3  # the sines and cosines have these numbers of half periods on the interval of the ranks
# numpy makes a uniform number from the upper 53 bits of a random word, and a normal number from all bits but the upper
# 3. The sine with 8 half periods ignores the upper 3 bits of a uniform number, and depends only on its other bits.
HIGH = 8
TRIPLED = 10  # all triples of the first `TRIPLED` quantities are tested
FEWEST = 8  # the smallest number of draws for a test
Pairs = NDArray[np.bool_]  # (k, k), marks the pairs of quantities that are tested


@dataclass(frozen=True)
class Sums:
    """The sums of one kind for all pairs of the k quantities. A pair has a score for each of its two quantities.

    products, squares : the sums over draws of the product of the two scores, and of the square of this product. Both
        arrays have the shape (k, k).
    pairs : the pairs that are tested.
    words : a description of the two scores, with places for the names of the quantities.
    """

    products: Matrix
    squares: Matrix
    pairs: Pairs
    words: str

    @property
    def z(self) -> Matrix:
        """Return the sums of products in units of their standard deviation."""
        with np.errstate(invalid="ignore", divide="ignore"):
            z = self.products / np.sqrt(self.squares)
        return np.nan_to_num(z, posinf=0.0, neginf=0.0)


def _p_value(z: float, comparisons: int, terms: int) -> float:
    """Return the p-value of the largest of `comparisons` sums; `z` is this sum divided by its standard deviation.

    A sum of n terms a has a rounding error of at most n units in the last place of Σ|a| ≤ √(n Σa²). The sum of the
    squares has a relative rounding error of at most n units.
    """
    rounding = 4 * UNIT * terms**1.5
    return rounded_up(2 * NORMAL_TAIL * comparisons * float(ndtr(-max(z - rounding, 0.0))), terms)


def _ranks(values: Matrix) -> Matrix:
    """Return the ranks of the sizes within each column, scaled to lie between 0 and 1."""
    return np.stack([_ranked(np.abs(column)) for column in values.T], axis=1) / (len(values) + 1)


def _ranked(values: Vector) -> Vector:
    """Return the rank of every value, counted from 1, where equal values share the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]


def _sums(first: Matrix, second: Matrix, pairs: Pairs, words: str) -> Sums:
    """Return the sums over draws of first_i second_j and of the squares of these products.

    The sums of products do not depend on the number of threads.
    """
    added = np.einsum("ni,nj->ij", first, second), np.einsum("ni,nj->ij", first**2, second**2)
    return Sums(*added, pairs, words)


@dataclass(frozen=True)
class PairSums:
    """The sums of one test over a block of draws; each sum has `terms` products."""

    sums: tuple[Sums, ...]
    names: tuple[str, ...]
    null: str
    draws: int
    terms: int

    def plus(self, other: "PairSums") -> "PairSums":
        """Return the sums over two blocks of draws. In these sums, too, the signs of the products are independent fair
        coins, given the sizes of the products.
        """
        sums = tuple(
            replace(one, products=one.products + two.products, squares=one.squares + two.squares)
            for one, two in zip(self.sums, other.sums, strict=True)
        )
        return replace(self, sums=sums, draws=self.draws + other.draws, terms=self.terms + other.terms)

    def result(self) -> TestResult:
        """Return the smallest p-value of all sums, times their number (Bonferroni); the result names the most extreme
        pair.
        """
        comparisons = sum(int(one.pairs.sum()) for one in self.sums)
        most = max(self.sums, key=lambda one: np.abs(one.z[one.pairs]).max(initial=0.0))
        size = np.where(most.pairs, np.abs(most.z), -1.0)
        i, j = divmod(int(size.argmax()), len(self.names))
        z = max(float(size[i, j]), 0.0)
        factor = 2 * NORMAL_TAIL * max(comparisons, 1)
        terms = self.terms

        def detectable(alpha: float) -> float:  # the result is approximate: the sum is taken as normal
            return min(1.0, float(-ndtri(min(alpha / factor, 0.5)) - ndtri(1 - POWER)) / math.sqrt(max(terms, 1)))

        return TestResult(
            f"{self.null}; largest deviation: {most.words.format(self.names[i], self.names[j])}",
            z / math.sqrt(max(terms, 1)),
            _p_value(z, comparisons, terms) if comparisons and terms >= FEWEST else 1.0,
            self.draws,
            "rank correlation",
            detectable,
            pooled=self,
        )


def _result(sums: Sequence[Sums], names: Sequence[str], null: str, draws: int, terms: int) -> TestResult:
    """Return the test result for sums that each have a given number of terms."""
    return PairSums(tuple(sums), tuple(names), null, draws, terms).result()


def turned_signs(values: Matrix, names: Sequence[str], turned: Pairs, skew: Pairs) -> TestResult:
    """Test all pairs of quantities for independence by their signs; `values` has the shape (n, k).

    `turned` marks the pairs (i, j) whose joint law stays the same if quantity i alone changes its sign. `skew` marks
    the pairs (i, j) for which (x_i, |x_j|) and (−x_i, |x_j|) have the same law, where x_i is quantity i.
    """
    ranks = _ranks(values)
    signed, odd, even = np.sign(values) * ranks, _odd(values, ranks), _even(ranks)
    both, skewed = np.triu(turned | turned.T, 1), skew & ~np.eye(len(names), dtype=bool)
    mixed = both | both.T
    return _result(
        (
            _sums(signed, signed, both, "the signs of {} and {}"),
            _sums(signed, ranks - 0.5, skewed, "the sign of {} and the size of {}"),
            *(
                _sums(a, b, both if a is b else mixed, "the signs of {} and {}, each times a sine of its size's rank")
                for a in odd
                for b in odd
            ),
            *(
                _sums(a, b, skewed, "the sign of {} and the size of {}, by sines and cosines of the sizes' ranks")
                for a in odd
                for b in even
            ),
            _sums(_odd(values, ranks, (HIGH,))[0], ranks - 0.5, skewed, "the bits of {} and the size of {}"),
        ),
        names,
        "the law of two quantities stays the same if one of them changes its sign",
        len(values),
        len(values),
    )


def sizes(values: Matrix, names: Sequence[str], pairs: Pairs) -> TestResult:
    """Test for the given `pairs` of quantities whether their sizes are independent; `values` has the shape (n, k)."""
    even = 2 * (len(values) // 2)
    ranks = _ranks(values)[:even]
    change, *waves = (score[0::2] - score[1::2] for score in (ranks, *_even(ranks, (*WAVES[1:], HIGH))))
    above = np.triu(pairs | pairs.T, 1)
    found = [_sums(change, change, above, "the sizes of {} and {}")]
    found += [
        _sums(a, b, above if a is b else above | above.T, "the sizes of {} and {}, by cosines of the sizes' ranks")
        for a in (change, *waves) for b in (change, *waves) if not a is b is change
    ]  # fmt: skip
    return _result(found, names, "their sizes are independent", len(values), len(change))


def _odd(values: Matrix, ranks: Matrix, waves: Sequence[int] = WAVES) -> list[Matrix]:
    """Return scores that change their sign if `values` do."""
    return [np.sign(values) * np.sin(np.pi * k * ranks) for k in waves]


def _even(ranks: Matrix, waves: Sequence[int] = WAVES) -> list[Matrix]:
    """Return scores of the sizes of the quantities, which stay the same if a quantity changes its sign."""
    return [np.cos(np.pi * k * ranks) for k in waves]


def triples(values: Matrix, names: Sequence[str], independent: bool) -> TestResult:
    """Test all triples of the first `TRIPLED` quantities for independence by their signs; `values` has the shape (n,
    k).

    The law of the values must be the same for their negatives. `independent` says whether the quantities are
    independent and symmetric about 0.
    """
    values = values[:, :TRIPLED]
    ranks = _ranks(values)
    k, signs = values.shape[1], np.sign(values)
    i, j, m = np.indices((k, k, k))
    ordered, two_sizes, two_signs = (i < j) & (j < m), (i != j) & (i != m) & (j < m), (i < j) & (m != i) & (m != j)
    scores = [(signs, signs, signs, ordered, "the signs of {}, {} and {}")]
    for odd, even in zip(_odd(values, ranks), _even(ranks), strict=True):
        scores += [
            (odd, odd, odd, ordered, "the signs of {}, {} and {}, each times a sine of its size's rank"),
            (odd, even, even, two_sizes, "the sign of {} and the sizes of {} and {}"),
        ]
        if independent:
            scores.append((odd, odd, even, two_signs, "the signs of {} and {} and the size of {}"))
    best, words, comparisons = 0.0, "nothing", 0
    for one, two, three, chosen, text in scores:
        comparisons += int(chosen.sum())
        sums = np.einsum("ni,nj,nm->ijm", one, two, three)
        squares = np.einsum("ni,nj,nm->ijm", one**2, two**2, three**2)
        z = np.where(chosen & (squares > 0), np.abs(sums) / np.sqrt(np.maximum(squares, 1e-300)), 0.0)
        if z.max(initial=0.0) > best:
            best = float(z.max())
            words = text.format(*(names[int(at)] for at in np.unravel_index(int(z.argmax()), z.shape)))
    factor, n = 2 * NORMAL_TAIL * max(comparisons, 1), len(values)
    return TestResult(
        "the law of three entries stays the same if all of them change their signs (or one of them, for independent "
        f"entries); largest deviation: {words}",
        best / math.sqrt(max(n, 1)),
        _p_value(best, comparisons, n) if comparisons and n >= FEWEST else 1.0,
        n,
        "mean product of three scores",
        lambda alpha: min(1.0, float(-ndtri(min(alpha / factor, 0.5)) - ndtri(1 - POWER)) / math.sqrt(max(n, 1))),
    )


def successive_draws(values: Matrix, names: Sequence[str]) -> TestResult:
    """Test whether successive draws are independent, by all pairs of quantities; `values` has the shape (n, k), in the
    order of draws.

    A change of the sign of a whole draw must not change its law.
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
        "successive draws are independent",
        len(values),
        len(values) - 1,
    )
