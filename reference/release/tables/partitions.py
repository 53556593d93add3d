"""Rows that lie in partitions, perhaps on several machines: what is computed of a partition is computed where it lies.

dask is not imported here: whoever has such data has imported it. Its scheduler decides where a partition is worked on,
a cluster if the caller has a client, threads otherwise.
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
    """How the rows of a partition are read, on the machine where it lies: which columns, and what is done to them.

    place : how messages call the data. select : what the library gave -> the chosen columns as float64, (m, d). first :
    the number of rows before the partition. changes : functions of the rows, one after the other, each with the number
    of columns that it gives.
    """

    place: str
    columns: tuple[str, ...]
    first: int
    select: Callable[[Any], Matrix]
    changes: tuple[tuple[Change, int], ...] = ()

    def rows(self, given: Any) -> Chunks:
        """The rows, in chunks."""
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
    """What a function gives for the rows of one partition."""
    return function(partition.rows(given))


@dataclass(frozen=True)
class Partitioned(Chunks):
    """A data set in partitions.

    partitions : how each is read. given : dask's delayed values, in the same order.
    """

    partitions: tuple[Partition, ...] = ()
    given: Sequence[Any] = ()

    def fold(self, function: Callable[[Chunks], T]) -> list[T]:
        """What the function gives for every partition, computed where the partition lies."""
        dask = importlib.import_module("dask")
        work = dask.delayed(on_partition, pure=False)
        tasks = [work(function, how, what) for how, what in zip(self.partitions, self.given, strict=True)]
        return list(self._computed(dask.compute, *tasks))

    def through(self, function: Change, dimension: int) -> Chunks:
        """The data set whose chunks the function gives for every partition, where it lies."""
        changed = tuple(replace(p, changes=(*p.changes, (function, dimension))) for p in self.partitions)
        return partitioned((self.shape[0], dimension), changed, self.given)

    def passing(self) -> Iterator[Matrix]:
        """One pass over the rows: partition after partition, all through this process."""
        for how, what in zip(self.partitions, self.given, strict=True):
            yield from how.rows(self._computed(what.compute)).start()

    def _computed(self, compute: Callable[..., Any], *tasks: Any) -> Any:
        try:
            return compute(*tasks)
        except InvalidInput:
            raise
        except Exception as error:  # whatever the tasks raise
            place = self.partitions[0].place
            raise InvalidInput(f"{place} cannot be read ({reason(error)}): must be readable") from None


def partitioned(shape: tuple[int, int], partitions: tuple[Partition, ...], given: Sequence[Any]) -> Partitioned:
    """The data set of these partitions."""
    found: list[Partitioned] = []
    found.append(Partitioned(shape, lambda: found[0].passing(), partitions, given))
    return found[0]
