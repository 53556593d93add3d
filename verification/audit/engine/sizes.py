"""List numbers of rows and columns at which an implementation may change its behaviour, and limit the time to try them.

The lists have all small numbers, and many round numbers and powers of two. For most of the round numbers and powers of
two, the lists also have the next smaller and the next larger number.
"""

import time
from dataclasses import dataclass
from types import TracebackType

ROUND = (
    16, 20, 25, 32, 40, 50, 64, 75, 100, 128, 150, 200, 250, 256, 300, 400, 500, 512, 600, 700, 750, 800, 900, 1000,
    1024, 1200, 1500, 2000, 2048, 2500, 3000, 4000, 4096, 5000, 6000, 7500, 8000, 8192, 9000, 10_000,
)  # fmt: skip
ROWS = tuple(sorted({*range(1, 13), *ROUND, *(n + 1 for n in ROUND), *(n - 1 for n in ROUND if n >= 64)}))
COLUMNS = (*range(1, 21), 24, 25, 30, 31, 32, 33, 40, 48, 49, 50, 51, 60, 63, 64)
WIDE_AND_LONG = 1 / 2, 3, 5  # the numbers of rows that are tried have these ratios to the number of columns
# no larger sizes are tried after two successive sizes at which a draw takes more than `SLOW` seconds of processor time,
# or more than `WAITING` seconds of clock time
SLOW, WAITING = 0.01, 0.2


@dataclass
class Pace:
    """A stopwatch that says whether draws have become slow. The `with` block makes the given number of draws."""

    draws: int
    in_a_row: int = 0

    @property
    def slow(self) -> bool:
        """Return whether the last two blocks of draws were slow."""
        return self.in_a_row > 1

    def __enter__(self) -> None:
        self._start = time.process_time(), time.perf_counter()

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        worked, waited = time.process_time() - self._start[0], time.perf_counter() - self._start[1]
        slow = worked > self.draws * SLOW or waited > self.draws * WAITING
        self.in_a_row = self.in_a_row + 1 if slow else 0
