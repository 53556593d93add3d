"""Read rows that are stored in partitions, perhaps on several machines. A computation on a partition is made on the
machine that stores the partition.

This module does not import dask, because a caller with data of dask has already imported dask. The scheduler of dask
decides where a partition is processed: on a cluster if the caller has a dask client, and otherwise in threads of this
process.
"""

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from covassay.reference.domain import Chunks, Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.release.messages import reason
from covassay.reference.release.tables.source import require_finite, rows_per_chunk

T = TypeVar("T")
Change = Callable[[Chunks], Iterator[Matrix]]


@dataclass(frozen=True)
class Partition:
    """Instructions to read one partition on the machine that stores it: which columns to read, and which functions to
    apply to the rows.

    place : the name of the data in messages.
    select : a function from the library's own object to an array (m, d) of the chosen columns in float64.
    first : the number of rows before the partition.
    changes : functions that are applied to the rows one after the other, each with the number of columns of its result.
    """

    place: str
    columns: tuple[str, ...]
    first: int
    select: Callable[[Any], Matrix]
    changes: tuple[tuple[Change, int], ...] = ()

    def rows(self, given: Any) -> Chunks:
        """Return the rows of the partition, in chunks."""
        try:
            read = self.select(given)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"{self.place} cannot be read ({reason(error)}): must hold numbers") from None
        rows = Chunks((len(read), len(self.columns)), partial(self._pass, read))
        for change, width in self.changes:
            rows = rows.through(change, width)
        return rows

    def _pass(self, read: Matrix) -> Iterator[Matrix]:
        step = rows_per_chunk(len(self.columns))
        for begin in range(0, len(read), step):
            part = np.ascontiguousarray(read[begin : begin + step])
            yield require_finite(self.place, part, self.columns, self.first + begin)


def on_partition(function: Callable[[Chunks], T], partition: Partition, given: Any) -> T:
    """Return the value of a function on the rows of one partition."""
    return function(partition.rows(given))


@dataclass(frozen=True)
class Partitioned(Chunks):
    """A data set whose rows are stored in partitions.

    partitions : how each partition is read.
    given : dask's delayed values, in the same order.
    """

    partitions: tuple[Partition, ...] = ()
    given: Sequence[Any] = ()

    def fold(self, function: Callable[[Chunks], T]) -> list[T]:
        """Return the value of the function on every partition, computed on the machine that stores it."""
        dask = importlib.import_module("dask")
        work = dask.delayed(on_partition, pure=False)
        tasks = [work(function, how, what) for how, what in zip(self.partitions, self.given, strict=True)]
        return list(self._computed(dask.compute, *tasks))

    def through(self, function: Change, dimension: int) -> Chunks:
        """Apply `function` to every partition on the machine that stores the partition, and return the resulting data
        set of chunks.
        """
        changed = tuple(replace(p, changes=(*p.changes, (function, dimension))) for p in self.partitions)
        return partitioned((self.shape[0], dimension), changed, self.given)

    def passing(self) -> Iterator[Matrix]:
        """Make one pass over the rows, partition after partition, all in this process."""
        for how, what in zip(self.partitions, self.given, strict=True):
            yield from how.rows(self._computed(what.compute)).start()

    def _computed(self, compute: Callable[..., Any], *tasks: Any) -> Any:
        try:
            return compute(*tasks)
        except InvalidInput:
            raise
        except Exception as error:  # the tasks may raise any exception
            place = self.partitions[0].place
            raise InvalidInput(f"{place} cannot be read ({reason(error)}): must be readable") from None


def partitioned(shape: tuple[int, int], partitions: tuple[Partition, ...], given: Sequence[Any]) -> Partitioned:
    """Return the data set that consists of the given partitions."""
    found: list[Partitioned] = []
    found.append(Partitioned(shape, lambda: found[0].passing(), partitions, given))
    return found[0]
