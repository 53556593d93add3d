"""AdaSSP: known answers, the penalty, the law of the noise, and the effect of one row.

Statistical tests have fixed seeds. With a random seed, each comparison would raise a false alarm with probability at
most 1e-9.
"""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.domain import unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.concentrated.adassp import (
    AdaSSPNoise,
    draw_noise,
    eigenvalue_scale,
    matrix_scale,
    penalty,
    privacy_loss,
    release,
    sample,
    spend,
    target_eigenvalue,
    vector_scale,
)
from covassay.reference.privacy import ZCDP
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix

CALIBRATIONS = ("paper", "tight")
PROPERTY = settings(max_examples=60)
BETA = 2 * math.exp(-8)  # √(ln(2/β)) = √8 for one feature
MARGIN = math.sqrt(2 * (8 - math.log(2)))  # √(2 ln(1/β))


def one_feature(eigenvalue: float, matrix: float, vector: float) -> AdaSSPNoise:
    return AdaSSPNoise(eigenvalue, np.array([[matrix]]), np.array([vector]))


# Known answers


@pytest.mark.parametrize(("calibration", "rho", "s1"), [("paper", 1.5, 1.0), ("tight", 0.75, math.sqrt(2))])
def test_one_number_agrees_with_a_hand_calculation(calibration: Any, rho: float, s1: float) -> None:
    # g = .36, v = .48; s₂ = √2 and s₃ = 1 with both. λ̃ = .36 + .64 = 1, the target is √2 · √8 = 4, so λ = 3.
    noise = one_feature(MARGIN + 0.64 / s1, 0.64 / math.sqrt(2), 1.52)
    got = release([[0.6, 0.8]], noise, rho=rho, calibration=calibration, beta=BETA)
    np.testing.assert_allclose(got, [2 / (1 + 3)], rtol=1e-12)


def test_two_features_agree_with_a_hand_calculation() -> None:
    # ρ = 3: s₁ = √½, s₂ = 1, s₃ = √½. G = diag(.72, .36), v = (.48, 0), λ̃ = 0 and λ = √(2 ln(8/β)) = 4 for β = 8e⁻⁸.
    x = [[0.6, 0.8], [0.6, 0.0], [0.0, 0.0]]
    x = [[row[0], 0.6 * (i == 2), row[1]] for i, row in enumerate(x)]
    noise = AdaSSPNoise(-100.0, np.array([[0.28, 1.0], [1.0, 0.64]]), np.array([0.52, 2.0]) * math.sqrt(2))
    got = release(x, noise, rho=3, beta=8 * math.exp(-8))
    np.testing.assert_allclose(got, np.linalg.solve([[5.0, 1.0], [1.0, 5.0]], [1.0, 2.0]), rtol=1e-12)


def test_without_noise_on_much_data_it_is_least_squares() -> None:
    rng = np.random.default_rng(2)
    x = unit_rows(rng.standard_normal((4000, 5)))
    none = AdaSSPNoise(0.0, np.zeros((4, 4)), np.zeros(4))
    expected = np.linalg.lstsq(x[:, :-1], x[:, -1], rcond=None)[0]
    np.testing.assert_allclose(release(x, none, rho=1), expected, rtol=1e-9)


def test_the_coefficients_have_no_unit() -> None:
    x, noise = unit_rows(np.random.default_rng(3).standard_normal((9, 3))), draw_noise(3, np.random.default_rng(4))
    np.testing.assert_allclose(release(10 * x, noise, rho=1, row_bound=10), release(x, noise, rho=1), rtol=1e-12)


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        pytest.param(AdaSSPNoise(math.nan, np.zeros((2, 2)), np.zeros(2)), "noise.eigenvalue = nan", id="NaN"),
        pytest.param(AdaSSPNoise(0.0, np.zeros((3, 3)), np.zeros(2)), "noise.matrix of shape", id="d for p"),
        pytest.param(AdaSSPNoise(0.0, np.triu(np.ones((2, 2))), np.zeros(2)), "noise.matrix is not sym", id="triangle"),
        pytest.param(AdaSSPNoise(0.0, np.zeros((2, 2)), np.zeros(1)), "noise.vector of shape", id="would broadcast"),
    ],
)
def test_bad_noise_is_refused(noise: AdaSSPNoise, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        release(np.zeros((2, 3)), noise, rho=1)


def test_one_column_has_no_feature() -> None:
    with pytest.raises(InvalidInput, match="x has 1 column"):
        sample([[0.5]], np.random.default_rng(0), rho=1)


# The penalty


def test_the_penalty_fills_the_eigenvalue_up_to_the_target() -> None:
    assert [penalty(noisy, 4) for noisy in (-5, 0, 1, 4, 9)] == [4, 4, 3, 0, 0]
    # √(3 ln(18/β)) for three features; β = 18 e⁻³ gives 3
    assert target_eigenvalue(3, 2.0, 18 * math.exp(-3)) == pytest.approx(6, rel=1e-14)


def test_a_singular_matrix_has_the_solution_of_least_norm() -> None:
    # the target is 4 and λ̃ = 0, so λ = 4, which s₂W = −4 cancels
    got = release([[0.0, 0.5]], one_feature(0.0, -math.sqrt(8), 1.0), rho=1.5, beta=BETA)
    assert np.isfinite(got).all()


# What is drawn


def test_the_noise_that_is_drawn_has_its_law() -> None:
    rng = np.random.default_rng(5)
    drawn = [draw_noise(3, rng) for _ in range(2500)]
    parts = {
        "Z": np.array([z.eigenvalue for z in drawn]),
        "W11": np.array([z.matrix[0, 0] for z in drawn]),
        "W12": np.array([z.matrix[0, 1] for z in drawn]),
        "N2": np.array([z.vector[1] for z in drawn]),
    }
    assert all(np.array_equal(z.matrix, z.matrix.T) for z in drawn)
    for name, values in parts.items():
        assert kolmogorov_smirnov(values, stats.norm.cdf, name).p_value > FALSE_ALARM
        assert kolmogorov_smirnov(1.3 * values, stats.norm.cdf, name).p_value < FALSE_ALARM
    together = np.corrcoef(list(parts.values()))
    assert np.abs(together - np.eye(4)).max() < 6.2 / math.sqrt(2500)  # 6.2 deviations


# What one row can move


def slope(first: Matrix, second: Matrix, rho: float, calibration: str) -> float:
    """The exact D_α/α of the triple between two data sets, the same for every order α."""
    moved = 0.0
    scales = eigenvalue_scale(rho), matrix_scale(rho, calibration), vector_scale(rho, calibration)
    grams = [x[:, :-1].T @ x[:, :-1] for x in (first, second)]
    values = [np.linalg.eigvalsh(gram)[0] for gram in grams]
    moved += (values[0] - values[1]) ** 2 / scales[0] ** 2
    moved += float(wigner.separation_squared((grams[0] - grams[1]) / scales[1], "wigner"))
    product = first[:, :-1].T @ first[:, -1] - second[:, :-1].T @ second[:, -1]
    return float(moved + product @ product / scales[2] ** 2) / 2


@pytest.mark.parametrize("calibration", CALIBRATIONS)
@PROPERTY
@given(seed=SEEDS, d=st.integers(2, 5))
def test_no_pair_spends_more_than_stated(calibration: str, seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    x = unit_rows(rng.standard_normal((4, d)) * rng.choice([0.3, 5.0]))
    y = np.vstack([x[:-1], unit_rows(3 * rng.standard_normal((1, d)))])
    assert slope(x, y, 0.7, calibration) <= privacy_loss(0.7, d, calibration) * (1 + 1e-9)


@pytest.mark.parametrize(("calibration", "share"), [("paper", 2 / 3), ("tight", 1.0)])
@pytest.mark.parametrize("d", [3, 4, 8])
def test_a_row_that_changes_its_axis_spends_what_is_stated(d: int, calibration: Any, share: float) -> None:
    rest = np.eye(d)[[i for i in range(d - 2) for _ in range(2)]]
    first, second = (np.vstack([rest, np.eye(d)[[i]]]) for i in (d - 2, 0))
    assert slope(first, second, 0.7, calibration) == pytest.approx(0.7 * share, rel=1e-12)
    result = spend(rho=0.7, dimension=d, calibration=calibration)
    assert result.claimed == ZCDP(0.7)
    assert result.proven.keywords()["rho"] == pytest.approx(0.7 * share, rel=1e-12)


@pytest.mark.parametrize(("calibration", "share"), [("paper", 1 / 2), ("tight", 2 / 3)])
def test_one_feature_spends_less(calibration: Any, share: float) -> None:
    assert slope(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), 0.7, calibration) == pytest.approx(0.7 * share)
    assert spend(rho=0.7, dimension=2, calibration=calibration).proven.keywords()["rho"] == pytest.approx(0.7 * share)
    # opposite targets move v alone, by 1: a third of ρ, and two thirds tight
    half = math.sqrt(0.5)
    pulled = slope(np.array([[half, half]]), np.array([[half, -half]]), 0.7, calibration)
    assert pulled == pytest.approx(0.7 * (1 / 3 if calibration == "paper" else 2 / 3))
