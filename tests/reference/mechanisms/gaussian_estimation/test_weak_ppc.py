"""Test WeakPPC: the inverse of its matrix, the release, and the sufficient sample size."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covassay.reference.laws import wigner
from covassay.reference.mechanisms.gaussian_estimation import naive_pce
from covassay.reference.mechanisms.gaussian_estimation.weak_ppc import (
    FLOOR,
    NOISE_SHARE,
    noise_rows,
    preconditioner,
    regularity_rows,
    sufficient_rows,
)
from covassay.reference.tails import upsilon_star
from tests.conventions import SEEDS

PROPERTY = settings(max_examples=150)


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 5), scale=st.sampled_from([0.0, 1e-300, 1.0, 1e5, 1e200]))
def test_the_preconditioner_has_an_inverse_whatever_the_data_are(seed: int, d: int, scale: float) -> None:
    a, inverse = preconditioner(scale * wigner.sample_wigner(d, np.random.default_rng(seed)), 1e4)
    np.testing.assert_allclose(a @ inverse, np.eye(d), atol=1e-13)
    eigenvalues = np.linalg.eigvalsh(a) * math.sqrt(FLOOR)
    assert np.minimum(abs(eigenvalues - 0.5), abs(eigenvalues - 1)).max() < 1e-12


# The number of rows


def test_the_sample_sizes_agree_with_a_hand_calculation() -> None:
    # If every logarithm is replaced by 2, the number of rows is ((√4 + √4)/(√1.21 − 1))² = (4/0.1)² = 1600.
    assert regularity_rows(4, 0.1, 0.21, lambda _: 2) == pytest.approx(1600, rel=1e-12)
    # For ρ = 1/4 and d = 2, again with 2 for every logarithm, the squared radius divided by κ is 2 + 2√4 + 4 = 10.
    # With the calibration "tight", the noise has the scale 20 κ/n.
    # The norm of the noise is bounded by 2√2 + √(3 · 2) times this scale. For n rows the bound must be at most κ/2.
    upsilon = 2 * math.sqrt(2) + math.sqrt(6)
    assert noise_rows(99, 2, 0.25, 0.1, "tight", 0.5, lambda _: 2) == pytest.approx(40 * upsilon, rel=1e-12)
    assert noise_rows(99, 2, 0.25, 0.1, "reconstructed", 0.5, lambda _: 2) == pytest.approx(40 * math.sqrt(2) * upsilon)
    assert mpmath.almosteq(
        noise_rows(99, 2, 0.25, mpmath.mpf("0.1"), "tight", 0.5, mpmath.log), noise_rows(99, 2, 0.25, 0.1, "tight", 0.5)
    )


@pytest.mark.parametrize("calibration", ["reconstructed", "tight"])
@pytest.mark.parametrize(("rho", "d", "rounds"), [(1.0, 3, 1), (0.01, 3, 1), (0.1, 10, 19), (1e-6, 1, 5)])
def test_the_sample_size_is_the_smallest_that_is_enough(calibration: Any, rho: float, d: int, rounds: int) -> None:
    n = sufficient_rows(rho=rho, dimension=d, calibration=calibration, beta=0.1, rounds=rounds)

    def enough(m: int) -> bool:
        need = noise_rows(m, d, rho / rounds, 0.1 / rounds, calibration)
        return m >= need and m >= regularity_rows(d, 0.1)

    assert enough(n)
    assert enough(10 * n)
    assert not enough(n - 1)
    # With this number of rows, the noise is small enough.
    sigma = math.sqrt(
        naive_pce.noise_variance(n, rho / rounds, naive_pce.radius_squared(n, d, 7.0, 0.1 / rounds), calibration)
    )
    assert sigma * upsilon_star(d, 0.1 / rounds) <= NOISE_SHARE * 7.0 * (1 + 1e-12)


@pytest.mark.parametrize("d", [1, 4])
def test_the_second_moment_is_as_regular_as_stated(d: int) -> None:
    # Some eigenvalue is outside the bounds 0.95 and 1.05 with probability at most 1e-9.
    # With a 500th of the rows, some eigenvalue is usually outside the bounds.
    rng = np.random.default_rng(d)
    n = math.ceil(regularity_rows(d, 1e-9))
    x = rng.standard_normal((n, d))
    eigenvalues = np.linalg.eigvalsh(x.T @ x / n)
    assert 0.95 <= eigenvalues[0] <= eigenvalues[-1] <= 1.05
    few = [rng.standard_normal((n // 500, d)) for _ in range(20)]
    assert any(abs(np.linalg.eigvalsh(y.T @ y / len(y)) - 1).max() > 0.05 for y in few)
