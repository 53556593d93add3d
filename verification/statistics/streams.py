"""Independent seed streams, one for each purpose, and the function by which long work reports its progress."""

import zlib
from collections.abc import Callable

import numpy as np

Progress = Callable[[str, int], None]


def no_progress(label: str, count: int) -> None:
    """Ignore a progress report."""


def stream(seed: int, *labels: str | int) -> np.random.SeedSequence:
    """The seed stream of one purpose, determined by the seed and by the labels that name the purpose."""
    return np.random.SeedSequence([seed, *(zlib.crc32(str(label).encode()) for label in labels)])
