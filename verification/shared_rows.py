"""Check, clip and square the rows of a data set for many releases only once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np

from covassay.reference.domain import Chunks, Matrix, blocks

T = TypeVar("T")


@dataclass(frozen=True)
class SharedRows(Chunks):
    """A data set in memory that stores results computed from it. The array of the data set must not be changed."""

    kept: dict[object, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Matrix) -> "SharedRows":
        """Return the data set with the rows of an array, as its one chunk."""
        n, d = rows.shape
        return cls((n, d), lambda: iter((rows,)))

    def through(self, function: Callable[[Chunks], Iterator[Matrix]], dimension: int) -> "SharedRows":
        """Return the data set with the rows of `function(self)`, which are computed at once, so that no pass
        repeats it.
        """
        first, *rest = function(self)
        return SharedRows.of(np.concatenate([first, *rest]) if rest else first)

    def once(self, key: object, compute: Callable[[], T]) -> T:
        """Return the value of `compute()`, which is computed once and stored under the key.

        If the value is an array, the caller gets a copy. If the value is a data set, one pass reads its rows.
        """
        if key not in self.kept:
            made: Any = compute()
            self.kept[key] = SharedRows.of(np.concatenate(list(blocks(made)))) if type(made) is Chunks else made
        value = self.kept[key]
        return cast(T, value.copy() if isinstance(value, np.ndarray) else value)
