"""A data set for many releases, whose rows are checked, clipped and squared only once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np

from covassay.reference.domain import Chunks, Matrix

T = TypeVar("T")


@dataclass(frozen=True)
class SharedRows(Chunks):
    """A data set in memory that keeps what is computed from it. The array must not be written to afterwards."""

    kept: dict[object, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Matrix) -> "SharedRows":
        """The data set with the rows of an array, as its one chunk."""
        n, d = rows.shape
        return cls((n, d), lambda: iter((rows,)))

    def through(self, function: Callable[[Chunks], Iterator[Matrix]], dimension: int) -> "SharedRows":
        """The data set with the rows of `function(self)`, which are computed at once, so that no pass repeats it."""
        first, *rest = function(self)
        return SharedRows.of(np.concatenate([first, *rest]) if rest else first)

    def once(self, key: object, compute: Callable[[], T]) -> T:
        """The value of `compute()`, which is computed once and stored under the key.

        The caller gets a copy of an array.
        """
        if key not in self.kept:
            self.kept[key] = compute()
        value: Any = self.kept[key]
        return cast(T, value.copy() if isinstance(value, np.ndarray) else value)
