"""Learn statistics from draws, by estimating the log likelihood ratio ln(p/p') of an output on two data sets.

Learned statistics are used if the law is unknown and an output is not one number but flags, indices or a list. A
statistic is learned from one part of the draws and evaluated on others, so that overfitting plays no role.

The joint statistic is the log ratio of the frequencies of the whole output on the two data sets. The joint statistic is
the best one if there are few possible outputs. The joint statistic also exposes a generator with few seeds, whose
outputs repeat on one data set and never occur on the other. A second statistic treats the entries of an output one by
one. The range of every entry is cut into cells. For the cell in which an entry lies, the log ratio of the frequencies
of this cell on the two data sets is taken, and the statistic is the sum of these log ratios over all entries. The
second statistic is the best one if the entries are independent, and often a good one otherwise.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from covassay.reference.domain import Matrix, Vector

PRIOR = 0.5  # this many pseudo-draws are added to every cell on each data set
QUANTILES = np.array([0.005, 0.01, 0.02, 0.04, *np.linspace(0.08, 0.92, 11), 0.96, 0.98, 0.99, 0.995])  # of an entry
ATOM = 0.02  # if a value of an entry occurs in at least this fraction of the draws, it is a cell of its own

LogRatio = Callable[[Matrix], Vector]  # a statistic takes outputs (size, …) and returns one number for each, (size,)
Cells = NDArray[np.intp]


def log_ratios(first: Matrix, second: Matrix) -> Iterator[tuple[str, LogRatio]]:
    """Yield statistics, with their names, that are learned from outputs of one shape on two data sets."""
    one, two = _flat(first), _flat(second)
    distinct = np.unique(np.concatenate([one, two]), axis=0)
    if len(distinct) < len(one) + len(two):  # under a law with a density, no output occurs twice
        yield "learned ln p(Y)/p'(Y)", _joint(one, two)
    yield "Σ learned ln p(Yᵢ)/p'(Yᵢ)", _entries(one, two)


def _flat(outputs: Matrix) -> Matrix:
    return outputs.reshape(len(outputs), -1)


def _ratios(one: Cells, two: Cells, cells: int) -> Vector:
    """Return, for every cell, an estimate of ln(p/p'), where p and p' are the probabilities of the cell on the two data
    sets. `one` and `two` have the number of the cell in which each draw lies.
    """
    shares = [np.bincount(side, minlength=cells) + PRIOR for side in (one, two)]
    ratios: Vector = np.log(shares[0] / shares[0].sum()) - np.log(shares[1] / shares[1].sum())
    return ratios


def _joint(one: Matrix, two: Matrix) -> LogRatio:
    known, cells = np.unique(np.concatenate([one, two]), axis=0, return_inverse=True)
    cells = cells.reshape(-1)
    ratios = dict(zip(map(bytes, known), _ratios(cells[: len(one)], cells[len(one) :], len(known)), strict=True))

    def values(outputs: Matrix) -> Vector:
        # an output that did not occur in the draws gets the value 0
        return np.array([ratios.get(bytes(row), 0.0) for row in _flat(outputs)])

    return values


def _entries(one: Matrix, two: Matrix) -> LogRatio:
    edges = [_edges(np.concatenate([one[:, i], two[:, i]])) for i in range(one.shape[1])]
    ratios = [_ratios(_cells(one[:, i], e), _cells(two[:, i], e), 2 * len(e) + 1) for i, e in enumerate(edges)]

    def values(outputs: Matrix) -> Vector:
        flat = _flat(outputs)
        return np.asarray(sum(ratios[i][_cells(flat[:, i], e)] for i, e in enumerate(edges)))

    return values


def _edges(values: Vector) -> Vector:
    """Return the points that divide the range of one entry into cells. These points are the frequent values of the
    entry, and quantiles of its other values, from 0.5 % to 99.5 %.
    """
    known, counts = np.unique(values, return_counts=True)
    atoms = known[counts >= ATOM * len(values)]
    others = values[~np.isin(values, atoms)]
    inner = np.quantile(others, QUANTILES, method="inverted_cdf") if len(others) else others
    return np.unique(np.concatenate([atoms, inner]))


def _cells(values: Vector, edges: Vector) -> Cells:
    """Return the number of the cell in which each value lies. Every edge is a cell of its own, and so is every interval
    between neighbouring edges or beyond the outermost edges.
    """
    return np.asarray(np.searchsorted(edges, values, "left") + np.searchsorted(edges, values, "right"))
