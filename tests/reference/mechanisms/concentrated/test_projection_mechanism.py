"""Test the projection mechanism: the interval of its eigenvalues, and its error."""

import math
from typing import Any

import numpy as np
import pytest

from covassay.reference.errors import InvalidInput
from covassay.reference.laws.wigner import ENSEMBLES
from covassay.reference.mechanisms.concentrated.projection_mechanism import error_bound, sample
from covassay.reference.projections import spectral_interval
from tests.conventions import too_often_above
from tests.reference.mechanisms.errors import frobenius_errors


def test_an_interval_is_two_finite_numbers_in_order() -> None:
    for low, high in ((1.0, 0.0), (math.nan, 1.0), (0.0, math.inf)):
        with pytest.raises(InvalidInput, match="low = "):
            spectral_interval(np.eye(2), low, high)


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_the_error_stays_below_its_bound(ensemble: Any) -> None:
    n, d, rho, beta = 20, 12, 0.01, 0.1
    errors = frobenius_errors(sample, n, d, 300, rho=rho, ensemble=ensemble)
    bound = error_bound(n, d, rho, beta, ensemble)
    assert not too_often_above(errors, bound, beta)
    assert too_often_above(errors, bound / 10, beta)
