"""How long a question may take: seconds of this process's own work, so that a busy machine finds what an idle one does.

A target that waits, as for another process, ends by the clock.
"""

import time

PATIENCE = 3.0  # times the seconds, by the clock


class Allowance:
    """So many seconds from now on."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._work, self._clock = time.process_time() + seconds, time.monotonic() + PATIENCE * seconds

    @property
    def left(self) -> float:
        """How many seconds are left, at least 0."""
        return max(0.0, min(self._work - time.process_time(), (self._clock - time.monotonic()) / PATIENCE))

    @property
    def over(self) -> bool:
        """Whether they are used up."""
        return self.left <= 0
