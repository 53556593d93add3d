"""Joint moments: known answers, the joint sensitivity, the law of the noise, and the effect of one row.

Statistical tests have fixed seeds. With a random seed, each comparison would raise a false alarm with probability at
most 1e-9.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from covassay.reference.domain import unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.mechanisms.concentrated.joint_moments import (
    JointMomentsNoise,
    change_squared,
    draw_noise,
    mean_scale,
    moment_scale,
    moment_weight,
    release,
    sample,
    spend,
)
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.privacy import ZCDP
from covassay.reference.sensitivity import SENSITIVITIES
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix, Vector

LEAST = (11 + 5 * math.sqrt(5)) / 8
WEIGHTS = st.one_of(st.sampled_from([0.5, 1.0, 1.001, 1 + math.sqrt(2)]), st.floats(0.01, 100))
PROPERTY = settings(max_examples=60)


# Known answers


def test_two_columns_agree_with_a_hand_calculation() -> None:
    # n = 2, ρ = 2: S = 2, σ₁ = 1/2, σ₂ = √½. m = (.3, .4) and Σ = (.18, .24; .24, .32), in units of a row bound of 2
    g = np.array([[1.0, -1.0], [-1.0, 0.0]]) * math.sqrt(2)
    got = release([[1.2, 1.6], [0.0, 0.0]], JointMomentsNoise(np.array([1.0, -2.0]), g), rho=2, row_bound=2)
    np.testing.assert_allclose(got, [[1.6, -1.2], [4.72, -3.04], [-3.04, 1.28]], rtol=1e-12)


def test_a_weight_above_one_moves_noise_from_the_second_moment_to_the_mean() -> None:
    # λ = 1 and S² = 9/2; ρ = 9/4 gives σ₁ = σ₂ = 1 for n = 1
    assert (mean_scale(1, 2, 9 / 4, 2), moment_scale(1, 2, 9 / 4, 2)) == pytest.approx((1, 1), rel=1e-15)
    # 1 + √2 has the σ₂ of two releases with ρ/2 each, and less σ₁
    weight = 1 + math.sqrt(2)
    assert moment_scale(5, 3, 1.0, weight) == pytest.approx(gauss_cov.noise_scale(5, 0.5), rel=1e-14)
    assert mean_scale(5, 3, 1.0, weight) == pytest.approx(2 / 5 * math.sqrt(weight) / 2, rel=1e-14)
    # up to 1, the noise of the mean is that of a mean alone, 2/(n√(2ρ))
    assert mean_scale(5, 3, 0.5, 0.3) == mean_scale(5, 1, 0.5, 1) == pytest.approx(2 / 5)
    assert moment_scale(5, 1, 0.5, 1) == pytest.approx(2 / 5 / math.sqrt(LEAST))


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        pytest.param(JointMomentsNoise(np.array([0.0, math.nan]), np.zeros((2, 2))), "noise.mean", id="NaN"),
        pytest.param(JointMomentsNoise(np.zeros(1), np.zeros((2, 2))), "noise.mean of shape", id="would broadcast"),
        pytest.param(JointMomentsNoise(np.zeros(2), np.zeros((2, 1))), "noise.moment of shape", id="a column"),
        pytest.param(
            JointMomentsNoise(np.zeros(2), np.triu(np.ones((2, 2)))), "noise.moment is not sym", id="triangle"
        ),
    ],
)
def test_bad_noise_is_refused(noise: JointMomentsNoise, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        release(np.zeros((3, 2)), noise, rho=1)


@pytest.mark.parametrize("weight", [0.0, -1.0, 1e-7, 1e7, math.nan, math.inf])
def test_a_bad_weight_is_refused(weight: float) -> None:
    with pytest.raises(InvalidInput, match="weight = "):
        sample(np.zeros((3, 2)), np.random.default_rng(0), rho=1, weight=weight)


def test_the_moments_in_the_units_of_shifted_and_scaled_data() -> None:
    u = np.random.default_rng(1).standard_normal((50, 3))
    shift, scale = np.array([2.0, -1.0, 0.5]), np.array([1.0, 3.0, 0.25])
    x, output = shift + scale * u, OUTPUTS["moments"]
    seen, expected = (np.vstack([rows.mean(axis=0), rows.T @ rows / 50]) for rows in (u, x))
    np.testing.assert_allclose(output.restore(seen, shift, scale), expected, rtol=1e-12)
    assert set(output.parts(seen)) == {"mean", "second_moment"}


# The joint sensitivity


def moved(x: Vector, y: Vector, lam: float) -> float:
    change = np.outer(x, x) - np.outer(y, y)
    return float((x - y) @ (x - y) + lam * (change**2).sum())


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("weight", [0.5, 1.0, 1.03, 3.0])
def test_a_search_finds_the_supremum_that_is_stated(d: int, weight: float) -> None:
    lam = (0.5 if d > 1 else LEAST) * weight

    def lost(z: Vector) -> float:
        x, y = unit_rows(z.reshape(2, d))
        return -moved(x, y, lam)

    rng, rows = np.random.default_rng(2), np.zeros(2 * d)
    starts = rng.standard_normal((8, 2 * d))
    found = max(-optimize.minimize(lost, rows + start, method="Powell").fun for start in starts)
    assert found == pytest.approx(change_squared(d, weight), rel=1e-6)
    # 3 % less is exceeded
    assert found > 0.97 * change_squared(d, weight) * (1 + 1e-6)


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 5), weight=WEIGHTS)
def test_no_rows_move_both_moments_further(seed: int, d: int, weight: float) -> None:
    rng = np.random.default_rng(seed)
    x, y = unit_rows(rng.standard_normal((2, d)) * rng.choice([0.3, 5.0]))
    assert moved(x, y, moment_weight(d, weight)) <= change_squared(d, weight) * (1 + 1e-12)


@PROPERTY
@given(d=st.integers(1, 4), weight=WEIGHTS)
def test_a_larger_weight_has_a_larger_sensitivity_and_less_noise_on_the_second_moment(d: int, weight: float) -> None:
    less, more = (
        (change_squared(d, w), moment_scale(3, d, 0.5, w), mean_scale(3, d, 0.5, w)) for w in (weight, 1.1 * weight)
    )
    assert less[0] <= more[0]
    assert less[1] > more[1]
    assert less[2] <= more[2]
    # never less noise than either moment needs alone
    assert less[1] >= SENSITIVITIES["Frobenius norm"].supremum(d) / 3
    assert less[2] >= 2 / 3


def test_the_largest_weight_is_nearly_the_second_moment_alone() -> None:
    assert moment_scale(1, 2, 0.5, 1e6) == pytest.approx(math.sqrt(2), rel=1e-5)
    assert moment_scale(1, 1, 0.5, 1e6) == pytest.approx(1.0, rel=1e-5)


def slope(x: Matrix, y: Matrix, rho: float, weight: float) -> float:
    """The exact D_α/α of the release between two data sets, the same for every order α."""
    n, d = x.shape
    mean = x.mean(axis=0) - y.mean(axis=0)
    change = (x.T @ x - y.T @ y) / n
    return (
        float(
            mean @ mean / mean_scale(n, d, rho, weight) ** 2
            + wigner.separation_squared(change, "goe") / moment_scale(n, d, rho, weight) ** 2
        )
        / 2
    )


@pytest.mark.parametrize("d", [1, 2, 5])
def test_opposite_rows_spend_everything_where_the_second_moment_is_free(d: int) -> None:
    x = np.vstack([np.zeros((3, d)), np.eye(d)[:1]])
    y = np.vstack([x[:-1], -x[-1:]])
    for weight in (0.1, 1.0):
        assert slope(x, y, 0.7, weight) == pytest.approx(0.7, rel=1e-12)
    assert slope(x, y, 0.7, 1.1) < 0.7
    assert spend(rho=0.7, dimension=d).proven == ZCDP(0.7)


# What is drawn


def test_the_noise_that_is_drawn_has_its_law() -> None:
    rng = np.random.default_rng(5)
    drawn = [draw_noise(3, rng) for _ in range(2500)]
    parts = {
        "N2": np.array([z.mean[1] for z in drawn]),
        "G11": np.array([z.moment[0, 0] for z in drawn]),
        "G12": np.array([z.moment[0, 1] for z in drawn]) * math.sqrt(2),
    }
    assert all(np.array_equal(z.moment, z.moment.T) for z in drawn)
    for name, values in parts.items():
        assert kolmogorov_smirnov(values, stats.norm.cdf, name).p_value > FALSE_ALARM
        assert kolmogorov_smirnov(1.3 * values, stats.norm.cdf, name).p_value < FALSE_ALARM
    together = np.corrcoef(list(parts.values()))
    assert np.abs(together - np.eye(3)).max() < 6.2 / math.sqrt(2500)  # 6.2 deviations
