"""Make independent streams of random numbers, one for each purpose. The module also has receivers for reports on the
progress of a long computation.
"""

import zlib
from collections.abc import Callable, Mapping

import numpy as np

Progress = Callable[[str, int], None]


def no_progress(label: str, count: int) -> None:
    """Ignore a report of progress."""


class Watch:
    """A receiver of reports on the progress of a long computation.

    The reports are about planned parts, finished parts, draws, the time that draws took, and draws that were stopped.
    The class `Watch` itself only passes the reports of draws to a function. The results of the computation do not
    depend on the receiver of its progress.
    """

    def __init__(self, drawn: Progress = no_progress) -> None:
        self._drawn = drawn

    def __call__(self, label: str, count: int) -> None:
        """Receive a report that `count` draws were made for the purpose `label`."""
        self._drawn(label, count)

    def plan(self, parts: Mapping[str, float]) -> None:
        """Receive a report of the next parts of the work, each with its approximate number of draws."""

    def done(self, part: str, checks: int) -> None:
        """Receive a report that a part of the work is finished, with its number of checks."""

    def timed(self, draws: int, seconds: float) -> None:
        """Receive a report of the time that a number of successive draws took."""

    def stopped(self, limit: float) -> None:
        """Receive a report that the time limit, in seconds, stopped a draw."""


def watching(progress: Progress) -> Watch:
    """Return the progress function as an object of the class `Watch`."""
    return progress if isinstance(progress, Watch) else Watch(progress)


def stream(seed: int, *labels: str | int) -> np.random.SeedSequence:
    """Return the stream of random numbers for one purpose, which is determined by the seed and by the labels of the
    purpose.
    """
    return np.random.SeedSequence([seed, *(zlib.crc32(str(label).encode()) for label in labels)])
