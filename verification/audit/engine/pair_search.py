"""Search, by two rounds of few draws, for neighbours with a larger privacy loss than the standard neighbours.

The candidates are data sets of many kinds, in each of which one row is replaced. A pilot draws a few outputs on both
data sets from the same random streams, so that noise that does not depend on the data cancels. Candidates are ranked by
the distance of the two samples of outputs. The distance of two samples is the divergence of two normal laws with the
means and deviations of a few statistics. The best candidates of the first round are ranked again on new draws, because
chance contributed to their ranks.

The audit tests the neighbours that the search finds in the same way as all other neighbours. The test of neighbours
that the search finds uses new draws. The p-values of neighbours that were found are therefore as valid as those of
neighbours that were fixed in advance. The run also counts them when it corrects for the number of its tests.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.mechanisms.output import Output
from covassay.verification.audit.engine.adjacency import FEWEST_ROWS, REPLACE_ONE
from covassay.verification.audit.engine.events import Pair, generic_statistics
from covassay.verification.audit.engine.sampling import Draws, Setting, draw
from covassay.verification.audit.engine.zoo import CATEGORIES, IN_BALL, zoo

# the numbers (n, d) of rows and columns, with small n, because one row among many changes little
SHAPES_OF_PAIRS = (1, 1), (1, 2), (3, 2), (13, 2), (6, 3)
FIRST_ROUND = 12  # draws per data set
SECOND_ROUND = 100
SECOND_OF_A_SHAPE = 2  # this many candidates of every shape are drawn again in the second round
FOUND = 3  # at most this many pairs are tested, and their shapes differ
# A pair of weight 1 is tested with `samples` draws on each data set. Every candidate is a pair of data sets. The first
# round of the search tries so many candidates that the draws on their first data sets add up to SHARE · `samples`.
SHARE = 1.3
WEIGHT = 0.5  # the number of draws that test a found pair is multiplied by this factor
HUGE = 1e3  # the largest score of two samples; two different samples get this score if one of them does not vary
SHORT = 0.1  # the norm of the short rows in a data set of which slightly more than half of the rows are short
# The kind “one column of zeros” is left out, because in these small shapes it would leave hardly more than one axis.
# The order of the kinds decides which rows replace the first row of a data set.
KINDS = [category for category in CATEGORIES if category != "one column of zeros"]


@dataclass(frozen=True)
class Candidate:
    """Two neighbouring data sets, and a description of how they were made."""

    name: str
    first: Matrix
    second: Matrix


def _data_sets(n: int, d: int, seed: int) -> list[tuple[str, Matrix]]:
    """Return one data set of shape (n, d) for each kind in `KINDS`, and a last data set in which slightly more than
    half of the rows are short. If one row of this data set is replaced, the median of the lengths of the rows can
    therefore change much.
    """
    members = [(member.category, member.x) for member in zoo(n, d, seed, KINDS)]
    rows = members[1][1] * np.where(np.arange(n) <= n // 2, SHORT, 1.0)[:, None]
    return [*members, ("half of the rows short", rows)]


def _inside(x: Matrix) -> bool:
    return bool((np.linalg.norm(x, axis=1) <= IN_BALL).all())


def candidates(seed: int, output: Output, adjacency: str = REPLACE_ONE) -> Iterator[Candidate]:
    """Yield data sets of many kinds and a few small shapes, with the first row replaced in turn by rows of several
    kinds.

    Under add-remove adjacency, the new row is added or removed in place of replacing the first row.
    """
    for n, d in SHAPES_OF_PAIRS:
        if min(output.shape(d), default=1) < 1:
            continue
        n = n if adjacency == REPLACE_ONE else max(n, FEWEST_ROWS)
        axis, dense = np.eye(d)[0], np.full(d, d**-0.5)
        for i, (category, x) in enumerate(_data_sets(n, d, seed)):
            rows = {
                "the opposite row": -x[0],
                "a row of zeros": np.zeros(d),
                "a row along the last axis": np.eye(d)[-1],
                "a row in a dense direction": -dense,
                "a long row": 50 * axis,
            }
            # For each data set, only two of these five rows are tried in place of its first row. The choice of the two
            # depends on n, so that data sets of one kind and of different shapes are tried with different rows.
            for name in list(rows)[i % len(rows)], list(rows)[(i + 1 + n % 4) % len(rows)]:
                second = x.copy()
                second[0] = rows[name]
                # a target may reject rows outside of the ball, so either both data sets have such rows or none has
                if adjacency != REPLACE_ONE:
                    without = second[1:]
                    if _inside(second) or not _inside(without):
                        yield Candidate(f"{category}, {name} comes and goes, n={n}, d={d}", second, without)
                elif (second != x).any() and _inside(x) == _inside(second):
                    yield Candidate(f"{category}, against {name}, n={n}, d={d}", x, second)


def expected_draws(samples: float) -> float:
    """Return the approximate number of draws for the search, and for the tests of the pairs that the search finds."""
    second = SECOND_ROUND * SECOND_OF_A_SHAPE * len(SHAPES_OF_PAIRS)
    return 2 * ((SHARE + FOUND * WEIGHT) * samples + second)


def worse_pairs(setting: Setting, samples: int, adjacency: str = REPLACE_ONE) -> list[Pair]:
    """Return the candidates whose two outputs differ most in the pilots, or no candidates if a pilot runs into the time
    limit.
    """
    everyone = list(candidates(setting.seed, setting.output, adjacency))
    rng = np.random.default_rng(setting.seed)
    most = max(SECOND_OF_A_SHAPE, round(SHARE * samples / FIRST_ROUND))
    chosen = sorted(rng.permutation(len(everyone))[:most])
    ranked = _ranked(setting, [everyone[i] for i in chosen], FIRST_ROUND)
    ranked = _ranked(setting, _best_of_each_shape(ranked, SECOND_OF_A_SHAPE), SECOND_ROUND)
    return [
        Pair(
            f"found by search: {found.name}",
            found.first,
            found.second,
            generic_statistics(found.first, found.second, setting.output),
            WEIGHT,
        )
        for found in _best_of_each_shape(ranked, 1)[:FOUND]
    ]


def _best_of_each_shape(ranked: list[Candidate], most: int) -> list[Candidate]:
    """Return the first candidates of every shape, in their order."""
    taken: Counter[tuple[int, ...]] = Counter()
    kept = []
    for candidate in ranked:
        taken[candidate.first.shape] += 1
        if taken[candidate.first.shape] <= most:
            kept.append(candidate)
    return kept


def _ranked(setting: Setting, tried: list[Candidate], size: int) -> list[Candidate]:
    """Return the candidates in descending order of their scores, or no candidates if a pilot runs into the time
    limit.
    """
    scored = []
    for candidate in tried:
        label = f"search/{size}/{candidate.name}"
        sides = [draw(setting, x, size, label) for x in (candidate.first, candidate.second)]
        if any(side.skipped or any(what.startswith("time-out") for what in side.failures) for side in sides):
            return []
        score = apart(setting, candidate, sides[0], sides[1])
        if score > 0:
            scored.append((score, candidate))
    scored.sort(key=lambda pair: -pair[0])  # the sort is stable, so candidates with equal scores keep their order
    return [candidate for _, candidate in scored]


def apart(setting: Setting, candidate: Candidate, first: Draws, second: Draws) -> float:
    """Return the distance of two samples of outputs, which is the largest score of a few statistics and of failures."""
    shares = [(side.failed + 0.5) / (side.size + 1) for side in (first, second)]
    failing = abs(math.log(shares[0] / shares[1])) if max(first.failed, second.failed) else 0.0
    if min(len(first.outputs), len(second.outputs)) < FIRST_ROUND / 2:
        return failing
    with np.errstate(all="ignore"):
        statistics = [s.values for s in generic_statistics(candidate.first, candidate.second, setting.output)]
        middle = np.median(np.concatenate([first.outputs, second.outputs]), axis=0)
        flat = [(y - middle).reshape(len(y), -1) for y in (first.outputs, second.outputs)]
        scores = [_divergence(values(first.outputs), values(second.outputs)) for values in statistics]
        scores.append(_divergence(*(np.abs(y).sum(axis=1) for y in flat)))
        scores += [_divergence(flat[0][:, j], flat[1][:, j]) for j in range(flat[0].shape[1])]
    return max(failing, *scores)


def _divergence(first: Vector, second: Vector) -> float:
    """Return the symmetric Kullback–Leibler divergence of two normal laws with the means and deviations of two
    samples.
    """
    scale = max(1e-300, float(np.abs(first).max()), float(np.abs(second).max()))
    # the divergence of two normal laws does not depend on the units, and these units avoid overflow
    first, second = first / scale, second / scale
    shift = float(first.mean() - second.mean())
    a, b = (spread if spread > 1e-12 else 0.0 for spread in (float(v.std(ddof=1)) for v in (first, second)))
    if a == 0 and b == 0:
        return HUGE if abs(shift) > 1e-12 else 0.0
    if a == 0 or b == 0:
        return HUGE
    found = (a / b) ** 2 / 2 + (b / a) ** 2 / 2 - 1 + shift**2 * (a**-2 + b**-2) / 2
    return min(found, HUGE) if math.isfinite(found) else 0.0
