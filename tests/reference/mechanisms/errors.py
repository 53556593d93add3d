"""Compute errors of releases of a second moment, which tests compare with bounds."""

from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import second_moment, unit_rows
from tests.conventions import Vector


def frobenius_errors(sample: Callable[..., Any], n: int, d: int, draws: int, **given: Any) -> Vector:
    """Return the Frobenius errors of releases of one data set of random unit rows, in the shape (draws,)."""
    rng = np.random.default_rng(11)
    x = unit_rows(rng.standard_normal((n, d)))
    moment = second_moment(x)
    return np.array([np.linalg.norm(sample(x, rng, **given) - moment) for _ in range(draws)])
