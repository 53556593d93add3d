"""What an audit needs to know about a mechanism, and the pairs that serve any mechanism."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.sensitivity import neighbours, one_sided_pair, orthonormal_pair
from covassay.verification.audit.law import Scenario
from covassay.verification.audit.privacy import Pair, Statistic, generic_statistics

OUTSIDE = 50.0  # norm of the rows that a mechanism must clip or reject


@dataclass(frozen=True)
class Profile:
    """`pairs` is given the names of the suspects that fitted, and may aim at the law they stand for."""

    released: str
    symmetric: bool
    scenarios: tuple[Scenario, ...]
    pairs: Callable[[frozenset[str]], tuple[Pair, ...]]


Statistics = Callable[[Matrix, Matrix], tuple[Statistic, ...]]


def common_pairs(
    released: str, statistics: Statistics, dimensions: tuple[int, ...] = (2,), weight: float = 1.0
) -> tuple[Pair, ...]:
    """Extremal pairs for any mechanism: orthonormal rows, one row against none, and rows far outside the ball.

    On the last pair both data sets leave the domain, so a mechanism that rejects such rows rejects both, and one
    that clips them sees orthonormal rows.
    """
    pairs = []
    for d in dimensions:
        base = np.zeros((1, d))
        first, second = neighbours(base, *orthonormal_pair(d))
        pairs.append(Pair(f"orthonormal rows, d={d}", first, second, statistics(first, second), weight))
    d = dimensions[-1]
    base = np.zeros((1, d))
    first, second = neighbours(base, *one_sided_pair(d))
    pairs.append(Pair(f"one row against none, d={d}", first, second, statistics(first, second), weight / 2))
    x, y = orthonormal_pair(d)
    first, second = neighbours(base, OUTSIDE * x, OUTSIDE * y)
    pairs.append(
        Pair(f"rows of norm {OUTSIDE:g}, d={d}", first, second, generic_statistics(first, second, released), weight / 4)
    )
    return tuple(pairs)


def black_box(released: str) -> Profile:
    """The profile of a target that names no mechanism: pairs only."""

    def statistics(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
        return generic_statistics(first, second, released)

    return Profile(released, False, (), lambda _: common_pairs(released, statistics, (1, 2, 3)))
