"""Compute the errors of released second moments."""

from collections.abc import Callable
from typing import Any

import numpy as np

from covassay.reference.domain import second_moment, unit_rows
from tests.conventions import Vector


def frobenius_errors(sample: Callable[..., Any], n: int, d: int, draws: int, **given: Any) -> Vector:
    """Return the Frobenius errors of several releases of the same random rows of norm at most 1, of shape (draws,)."""
    rng = np.random.default_rng(11)
    x = unit_rows(rng.standard_normal((n, d)))
    moment = second_moment(x)
    return np.array([np.linalg.norm(sample(x, rng, **given) - moment) for _ in range(draws)])
