"""Learn statistics from draws, by estimating the log likelihood ratio ln(p/p') of an output on two data sets.

Learned statistics are used if the law is unknown and an output is not one number but flags, indices or a list. A
statistic is learned from one part of the draws and evaluated on others, so that overfitting plays no role.

The joint statistic is the log ratio of the frequencies of the whole output on the two data sets. The joint statistic is
the best one if there are few possible outputs. The joint statistic also exposes a generator with few seeds, whose
outputs repeat on one data set and never occur on the other. The statistic by entries cuts the range of every entry into
cells. It is the sum, over the entries, of the log ratio of the two frequencies of the entry's cell. The statistic by
entries is the best one if the entries are independent, and often a good one otherwise.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from covassay.reference.domain import Matrix, Vector

PRIOR = 0.5  # this many pseudo-draws are added to every cell on each data set
QUANTILES = np.array([0.005, 0.01, 0.02, 0.04, *np.linspace(0.08, 0.92, 11), 0.96, 0.98, 0.99, 0.995])  # of an entry
ATOM = 0.02  # a value with this share of the draws of an entry gets a cell of its own

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
    """Return an estimate of ln(p/p') for every cell, from the cell of each draw on the two data sets."""
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
    """Return the edges between the cells of one entry: its frequent values, and quantiles that reach both tails."""
    known, counts = np.unique(values, return_counts=True)
    atoms = known[counts >= ATOM * len(values)]
    others = values[~np.isin(values, atoms)]
    inner = np.quantile(others, QUANTILES, method="inverted_cdf") if len(others) else others
    return np.unique(np.concatenate([atoms, inner]))


def _cells(values: Vector, edges: Vector) -> Cells:
    """Return the cells in which values lie; each edge is one cell, and each interval between two edges is another."""
    return np.asarray(np.searchsorted(edges, values, "left") + np.searchsorted(edges, values, "right"))
