"""Test the projection mechanism: its output inside the set, and its error."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import wigner
from covassay.reference.laws.wigner import ENSEMBLES
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.mechanisms.concentrated.gauss_cov import noise_scale
from covassay.reference.mechanisms.concentrated.projection_mechanism import error_bound, release, sample
from covassay.reference.projections import spectral_interval
from tests.conventions import SEEDS, too_often_above
from tests.reference.mechanisms.errors import frobenius_errors

PROPERTY = settings(max_examples=80)
X = np.array([[1.0, 0.0], [0.0, 0.5]])  # Σ = diag(1/2, 1/8)


def test_clipping_eigenvalues_to_the_unit_interval_is_not_the_projection() -> None:
    # The spectrum (1, 0.9) has every eigenvalue in [0, 1] but the trace 1.9. The projection subtracts 0.45 from each.
    noise = np.diag([0.5, 0.775])
    np.testing.assert_allclose(release(X, noise, rho=0.25), np.diag([0.55, 0.45]), atol=1e-14)
    clipped = spectral_interval(gauss_cov.release(X, noise, rho=0.25), 0, 1)
    np.testing.assert_allclose(clipped, np.diag([1, 0.9]), atol=1e-14)


def test_an_interval_is_two_finite_numbers_in_order() -> None:
    for low, high in ((1.0, 0.0), (math.nan, 1.0), (0.0, math.inf)):
        with pytest.raises(InvalidInput, match="low = "):
            spectral_interval(np.eye(2), low, high)


# Known properties of the projection


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 5), size=st.sampled_from([0.01, 0.3, 3.0]))
def test_the_output_is_a_possible_second_moment_and_obeys_the_error_bound(seed: int, d: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    x = unit_rows(rng.standard_normal((6, d)) * rng.choice([0.3, 3.0]))
    w, moment, rho = size * wigner.sample_wigner(d, rng), second_moment(x), 0.5
    sigma = noise_scale(6, rho)
    got = release(x, w, rho=rho)
    assert np.trace(got) <= 1 + 1e-12
    assert np.linalg.eigvalsh(got)[0] >= -1e-12
    change = got - moment
    error = float(np.linalg.norm(change))
    assert error**2 <= sigma * float((w * change).sum()) + 1e-12  # the angle at the projection is not acute
    assert error**2 <= 2 * sigma * float(np.linalg.norm(w, 2)) + 1e-12
    assert error <= sigma * float(np.linalg.norm(w)) + 1e-12  # the error of GaussCov


@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_the_error_stays_below_its_bound(ensemble: Any) -> None:
    n, d, rho, beta = 20, 12, 0.01, 0.1
    errors = frobenius_errors(sample, n, d, 300, rho=rho, ensemble=ensemble)
    bound = error_bound(n, d, rho, beta, ensemble)
    assert not too_often_above(errors, bound, beta)
    assert too_often_above(errors, bound / 10, beta)


# The law


def test_inside_the_set_the_projection_does_nothing() -> None:
    """This test catches a projection that moves points which are already in the set."""
    x = np.tile(0.5 * np.eye(2), (2000, 1))  # Σ = I/8 is 400 σ from the border of the set
    noise = np.array([[1.0, -2.0], [-2.0, 3.0]])
    np.testing.assert_allclose(release(x, noise, rho=1.0), gauss_cov.release(x, noise, rho=1.0), atol=1e-15)
