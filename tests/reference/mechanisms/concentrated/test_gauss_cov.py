"""Test the bound on the error of GaussCov.

Statistical tests have fixed seeds. With a random seed, each test of a correct law would raise a false alarm with
probability at most 1e-9.
"""

import math
from typing import Any

import pytest

from covassay.reference.laws.wigner import ENSEMBLES
from covassay.reference.mechanisms.concentrated.gauss_cov import error_bound, frobenius_bound, noise_scale, sample
from tests.conventions import too_often_above
from tests.reference.mechanisms.errors import frobenius_errors

# The law


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_the_error_stays_below_its_bound(ensemble: Any) -> None:
    n, d, rho, beta = 50, 12, 0.4, 0.1
    errors = frobenius_errors(sample, n, d, 500, rho=rho, ensemble=ensemble)
    assert not too_often_above(errors, error_bound(n, d, rho, beta, ensemble), beta)
    mean = noise_scale(n, rho) * (d if ensemble == "wigner" else math.sqrt(d * (d + 1) / 2))
    assert too_often_above(errors, mean, beta)  # the error exceeds its root mean square about half of the time
    assert error_bound(n, d, rho, beta, ensemble) < 1.4 * mean


def test_goe_has_about_half_of_the_squared_error() -> None:
    assert frobenius_bound(200, 0.1, "goe") / frobenius_bound(200, 0.1, "wigner") == pytest.approx(
        math.sqrt(0.5), rel=0.01
    )
