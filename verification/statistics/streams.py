"""Independent seed streams, one for each purpose, and the functions by which long work reports its progress."""

import zlib
from collections.abc import Callable, Mapping

import numpy as np

Progress = Callable[[str, int], None]


def no_progress(label: str, count: int) -> None:
    """Ignore a progress report."""


class Watch:
    """Follows long work: what is to be done, what is being drawn, what is finished, and how long draws take.

    This one only passes on the draws.

    It has no part in the work: the work is the same whoever follows it.
    """

    def __init__(self, drawn: Progress = no_progress) -> None:
        self._drawn = drawn

    def __call__(self, label: str, count: int) -> None:
        """So many draws were made for this purpose."""
        self._drawn(label, count)

    def plan(self, parts: Mapping[str, float]) -> None:
        """These parts of the work come next, each with about so many draws."""

    def done(self, part: str, checks: int) -> None:
        """A part of the work is finished, and has given so many checks."""

    def timed(self, draws: int, seconds: float) -> None:
        """So many draws took so long, one after another."""

    def stopped(self, limit: float) -> None:
        """A draw was stopped by the time limit, which is so many seconds."""


def watching(progress: Progress) -> Watch:
    """The same as something that follows the whole work."""
    return progress if isinstance(progress, Watch) else Watch(progress)


def stream(seed: int, *labels: str | int) -> np.random.SeedSequence:
    """The seed stream of one purpose, determined by the seed and by the labels that name the purpose."""
    return np.random.SeedSequence([seed, *(zlib.crc32(str(label).encode()) for label in labels)])
