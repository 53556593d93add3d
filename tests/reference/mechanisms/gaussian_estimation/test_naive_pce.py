"""Test NaivePCE: the radius, and the projection."""

import math

import mpmath
import numpy as np
import pytest
import sympy
from scipy import stats

from covassay.reference.laws import wigner
from covassay.reference.mechanisms.gaussian_estimation.naive_pce import (
    draw_noise,
    drop_long,
    noise_variance,
    radius_squared,
    release,
)
from tests.conventions import Matrix

BETA, KAPPA = 0.5, 1.0
# With n = 2, d = 2, κ = 1 and β = 1/2, L = ln 4 and r² = 2 + 2√(2 ln 4) + 2 ln 4 = 8.1028.
R2 = 2 + 2 * math.sqrt(2 * math.log(4)) + 2 * math.log(4)


def test_the_radius_agrees_with_a_hand_calculation() -> None:
    # with a logarithm that is always 1, the square of the radius is 2 (4 + 2√4 + 2) = 20
    assert radius_squared(7, 4, 2, 0.1, lambda _: 1) == 20
    assert radius_squared(2, 2, 1, 0.5) == pytest.approx(R2, rel=1e-15)
    assert radius_squared(2, 2, 1, 0.5) == pytest.approx(8.1028, abs=1e-4)
    assert mpmath.almosteq(radius_squared(2, 2, 1, mpmath.mpf("0.5"), mpmath.log), R2, 1e-14)
    kappa, length = sympy.symbols("kappa L", positive=True)
    formula = sympy.nsimplify(radius_squared(1, 9, kappa, 1, lambda _: length))
    assert sympy.expand(formula - kappa * (9 + 6 * sympy.sqrt(length) + 2 * length)) == 0


@pytest.mark.parametrize(("n", "d", "kappa"), [(10, 1, 1.0), (50, 3, 4.0), (1000, 8, 2.0)])
def test_the_radius_is_exceeded_with_probability_at_most_beta(n: int, d: int, kappa: float) -> None:
    # The law of ‖x‖² is at most κ χ²_d, with equality at Σ = κI, so a row is dropped with probability at most n P(χ²_d
    # > r²/κ).
    for beta in (0.5, 0.1, 1e-6):
        assert n * stats.chi2.sf(radius_squared(n, d, kappa, beta) / kappa, d) <= beta
        third = radius_squared(n, d, kappa, beta) / kappa / 3  # a mutant
        assert n * stats.chi2.sf(third, d) > beta


def test_the_projection_agrees_with_a_hand_calculation() -> None:
    # There is no short row. M' = [[0, 1], [1, 0]] has eigenvalues ±1, and only the projection on (1, 1)/√2 is left.
    x = np.full((2, 2), 100.0)
    got = release(x, np.array([[0.0, 1.0], [1.0, 0.0]]), rho=R2**2 / 2, kappa=KAPPA, beta=BETA)
    np.testing.assert_allclose(got, [[0.5, 0.5], [0.5, 0.5]], atol=1e-14)


def test_a_row_on_the_sphere_is_kept_and_one_outside_counts_as_zero() -> None:
    block = np.array([[3.0, 4.0], [3.0, 4.001], [0.0, 0.0], [1e300, 1e300]])
    np.testing.assert_array_equal(drop_long(block, 5.0), [[3, 4], [0, 0], [0, 0], [0, 0]])


def the_query(x: Matrix, r: float) -> Matrix:
    kept = drop_long(x, r)
    moment: Matrix = kept.T @ kept / len(x)
    return moment


def worst_pair(d: int, n: int = 4) -> tuple[Matrix, Matrix]:
    r = math.sqrt(radius_squared(n, d, 2.0, 0.1)) * (1 - 1e-12)
    x, y = np.zeros((n, d)), np.zeros((n, d))
    x[0, 0] = r
    if d > 1:
        y[0, 1] = r
    return x, y


def test_the_projection_hides_nothing_in_the_limit() -> None:
    # Far inside the cone the release is M' itself, so the release attains the budget that M' attains.
    x, y = worst_pair(2, n=5000)
    rest = np.tile(np.eye(2), (2500, 1))[1:]
    x[1:], y[1:] = rest, rest
    z = draw_noise(2, np.random.default_rng(0))
    r2 = radius_squared(5000, 2, 2.0, 0.1)
    noise = math.sqrt(noise_variance(5000, 0.3, r2, "tight")) * z
    got = release(x, z, rho=0.3, calibration="tight", kappa=2.0)
    np.testing.assert_allclose(got, the_query(x, math.sqrt(r2)) + noise, atol=1e-12)


# Exact laws


def test_the_noise_is_the_symmetric_gaussian_matrix() -> None:
    """This test catches noise without the symmetry, or with another scale on the diagonal."""
    np.testing.assert_array_equal(
        draw_noise(3, np.random.default_rng(4)), wigner.sample_wigner(3, np.random.default_rng(4))
    )
