"""What holds for every test."""

from collections.abc import Iterator

import mpmath
import pytest


@pytest.fixture(autouse=True)
def _working_precision_is_left_as_it_was() -> Iterator[None]:
    before = mpmath.mp.prec, mpmath.iv.prec
    yield
    assert (mpmath.mp.prec, mpmath.iv.prec) == before
