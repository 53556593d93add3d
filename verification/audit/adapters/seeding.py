"""Seed the global random generators of the process for one draw, from the generator of the audit, and restore their
states afterwards.

A recorded run counts as undecided if the target reads or sets the state of a generator. Here covassay itself reads and
restores states, so these calls are not recorded (`unwatched`).
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from covassay.verification.audit.recorded.stand_ins import unwatched


@contextmanager
def numpy_seeded(rng: np.random.Generator) -> Iterator[None]:
    """Seed numpy's global generator from `rng` in the `with` block, and restore its state afterwards."""
    with unwatched():
        state = np.random.get_state()  # noqa: NPY002
    np.random.seed(rng.integers(2**32, dtype=np.uint32))  # noqa: NPY002
    try:
        yield
    finally:
        with unwatched():
            np.random.set_state(state)  # noqa: NPY002


@contextmanager
def python_seeded(rng: np.random.Generator) -> Iterator[None]:
    """Seed Python's global generator from `rng` in the `with` block, and restore its state afterwards."""
    with unwatched():
        state = random.getstate()
    random.seed(int(rng.integers(2**32)))
    try:
        yield
    finally:
        with unwatched():
            random.setstate(state)


@contextmanager
def torch_seeded(torch: Any, rng: np.random.Generator) -> Iterator[None]:
    """Seed torch's generator and numpy's global generator from `rng` in the `with` block, and restore their states
    afterwards.
    """
    with numpy_seeded(rng), torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**32)))
        yield
