"""Limit the time of a question, measured in processor time, so that a busy machine gives the same result as an idle
one.

A target that waits, for instance for another process, is limited by wall-clock time.
"""

import time

PATIENCE = 3.0  # the wall-clock limit is so many times the limit of processor time


class Allowance:
    """A time limit of so many seconds that starts now."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._start = time.monotonic()
        self._work, self._clock = time.process_time() + seconds, self._start + PATIENCE * seconds

    @property
    def left(self) -> float:
        """Return the seconds that are left, at least 0."""
        return max(0.0, min(self._work - time.process_time(), (self._clock - time.monotonic()) / PATIENCE))

    @property
    def over(self) -> bool:
        """Return whether the time is used up.

        Reading processor time is slow, so it is read only when enough wall time has passed.
        """
        return time.monotonic() - self._start >= self.seconds and self.left <= 0
