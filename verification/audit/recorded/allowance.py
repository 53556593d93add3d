"""Limit the processor time of a computation, so that a busy machine gives the same result as an idle machine.

Wall-clock time is limited too, to `PATIENCE` times as many seconds. The limit of wall-clock time stops a target that
waits, for instance for another process.
"""

import time

PATIENCE = 3.0  # the limit of wall-clock time is this multiple of the limit of processor time


class Allowance:
    """A limit on processor time, in seconds. The time is counted from the moment at which the object is made."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._start = time.monotonic()
        self._work, self._clock = time.process_time() + seconds, self._start + PATIENCE * seconds

    @property
    def left(self) -> float:
        """Return the seconds that are left of the limit, at least 0."""
        return max(0.0, min(self._work - time.process_time(), (self._clock - time.monotonic()) / PATIENCE))

    @property
    def over(self) -> bool:
        """Return whether the time limit has been reached.

        Processor time is slow to read, so it is read only after enough wall-clock time has passed.
        """
        return time.monotonic() - self._start >= self.seconds and self.left <= 0
