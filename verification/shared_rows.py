"""Store what many releases compute from the same rows, such as clipped rows and second moments, so that it is computed
only once.
"""

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
        """Return a data set that has the rows of an array in a single chunk."""
        n, d = rows.shape
        return cls((n, d), lambda: iter((rows,)))

    def through(self, function: Callable[[Chunks], Iterator[Matrix]], dimension: int) -> "SharedRows":
        """Return the data set with the rows of `function(self)`. The rows are computed immediately and stored, so that
        no later pass computes them again.
        """
        first, *rest = function(self)
        return SharedRows.of(np.concatenate([first, *rest]) if rest else first)

    def once(self, key: object, compute: Callable[[], T]) -> T:
        """Return the value of `compute()`, which is computed once and stored under the key.

        If the value is an array, the caller gets a copy. If the value is a `Chunks`, its rows are read once and stored
        in memory.
        """
        if key not in self.kept:
            made: Any = compute()
            self.kept[key] = SharedRows.of(np.concatenate(list(blocks(made)))) if type(made) is Chunks else made
        value = self.kept[key]
        return cast(T, value.copy() if isinstance(value, np.ndarray) else value)
