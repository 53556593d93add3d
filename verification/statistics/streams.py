"""Seed streams for independent purposes, and how long work reports its progress."""

import zlib
from collections.abc import Callable

import numpy as np

Progress = Callable[[str, int], None]


def no_progress(label: str, count: int) -> None:
    """Report nothing."""


def stream(seed: int, *labels: str | int) -> np.random.SeedSequence:
    """The stream of one purpose: a function of the seed and the labels alone."""
    return np.random.SeedSequence([seed, *(zlib.crc32(str(label).encode()) for label in labels)])
