"""A data set for many releases, whose rows are checked, clipped and squared only once."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np

from covassay.reference.domain import Chunks, Matrix, blocks

T = TypeVar("T")


@dataclass(frozen=True)
class SharedRows(Chunks):
    """A data set in memory that stores results computed from it. Its array must not be changed."""

    kept: dict[object, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Matrix) -> "SharedRows":
        """The data set with the rows of an array, as its one chunk."""
        n, d = rows.shape
        return cls((n, d), lambda: iter((rows,)))

    def mapped(self, function: Callable[[Matrix], Matrix], dimension: int) -> Chunks:
        """The data set with `function` applied to its one chunk, in memory as well."""
        (rows,) = blocks(self)
        return SharedRows.of(function(rows))

    def once(self, key: object, compute: Callable[[], T]) -> T:
        """The value of `compute()`, which is computed once and stored under the key.

        If the value is an array, the caller gets a copy.
        """
        if key not in self.kept:
            found = compute()
            self.kept[key] = SharedRows.of(np.concatenate(list(blocks(found)))) if isinstance(found, Chunks) else found
        value: Any = self.kept[key]
        return cast(T, value.copy() if isinstance(value, np.ndarray) else value)
