"""KVMean and NaivePME: known answers, sensitivities, the exact law on constant data, and the number of records.

Statistical tests have fixed seeds. With a random seed, each would raise a false alarm with probability at most 1e-9.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.gaussian_estimation.kv_mean import (
    GAP,
    KVMeanNoise,
    count_variance,
    draw_noise,
    enough_rows,
    error_bound,
    half_width,
    histogram,
    last_bin,
    mean_variance,
    release,
    sample,
    spend,
)
from covassay.reference.privacy import ZCDP, zcdp_of_gaussian
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, Matrix


def no_noise(d: int = 1, last: int = 10) -> KVMeanNoise:
    return KVMeanNoise(np.zeros((d, 2 * last + 1)), np.zeros(d))


# Formulas


def test_the_formulas_agree_with_a_hand_calculation() -> None:
    rho, n = Fraction(1, 3), Fraction(4)
    assert count_variance(rho) == 6
    assert zcdp_of_gaussian(1, count_variance(rho) / 2) == rho / 2  # Δ₂² = 2: the variance halved on Δ₂ = 1
    assert half_width(4, Fraction(3), 1, lambda _: 8) == 3 * (2 + 4)
    assert zcdp_of_gaussian(2 * 18 / n, mean_variance(n, 18, rho)) == rho / 2
    sigma, t = sympy.symbols("sigma t", positive=True)
    assert sympy.nsimplify(half_width(1, sigma, 1, lambda _: t**2 / 2)) == sigma * (2 + t)
    assert mpmath.almosteq(half_width(100, 1, mpmath.mpf(1) / 10, mpmath.log), half_width(100, 1, 0.1), 1e-12)


@pytest.mark.parametrize(("bins", "rho", "beta"), [(21, 1.0, 0.1), (2001, 0.01, 1e-6), (3, 100.0, 0.5)])
def test_enough_rows_solve_their_equation(bins: int, rho: float, beta: float) -> None:
    n, length = enough_rows(bins, rho, beta), math.log(4 * bins / beta)
    assert GAP * n == pytest.approx(math.sqrt(2 * n * length) + math.sqrt(8 * length / rho), rel=1e-12)


def test_the_gap_between_the_bins_is_a_lower_bound() -> None:
    exact = stats.norm.cdf(1) - stats.norm.cdf(0) - stats.norm.sf(1.5)
    assert GAP <= exact <= GAP + 1e-4
    # of all normal laws with s ≤ 1 the worst has μ at the edge of its bin and s = 1: there the bin has the least mass
    for s in (0.1, 0.5, 0.9, 1.0):
        for offset in np.linspace(0, 1, 11):
            own = stats.norm.cdf(offset / s) - stats.norm.cdf((offset - 1) / s)
            assert own - stats.norm.sf(1.5 / s) >= GAP


# Known answers


def test_the_bins_agree_with_a_hand_calculation() -> None:
    # σ = 1, B = 2: (−2.5, −1.5], …, (1.5, 2.5]
    values = [-2.5, -2.4, -1.5, -1.4, 0.5, 0.51, 1.5, 2.5, 2.6, 1e300, -1e300]
    np.testing.assert_array_equal(histogram(np.array(values)[:, None], 1.0, 2), [[2, 1, 1, 2, 1]])
    np.testing.assert_array_equal(histogram(np.array([[0.0, 3.0], [3.0, 9.0]]), 3.0, 1), [[0, 1, 1], [0, 0, 1]])
    assert histogram(np.array([[1e300]]), 1e-20, 1).sum() == 0


def test_the_release_agrees_with_a_hand_calculation() -> None:
    # bin 3 is the fullest: c = 3, n = 4; an outlier counts as 3 + w. KVMeanNoise 1: + 2w/(n√ρ)
    x, w = np.array([[3.0], [3.2], [2.8], [1e6]]), 2 + math.sqrt(2 * math.log(320))
    np.testing.assert_allclose(release(x, no_noise(), rho=1.0), [(9 + 3 + w) / 4], rtol=1e-14)
    one = KVMeanNoise(np.zeros((1, 21)), np.ones(1))
    np.testing.assert_allclose(release(x, one, rho=0.25), [(9 + 3 + w) / 4 + w], rtol=1e-14)
    # noise 2 on the bin of −1 lifts it to 2√(2/ρ) = 4 > 3 at ρ = 1/2: c = −1, and all are clipped to −1 + w
    lifted = no_noise()
    lifted.counts[0, 9] = 2.0
    expected = np.clip(x, -1 - w, -1 + w).mean()
    np.testing.assert_allclose(release(x, lifted, rho=0.5), [expected], rtol=1e-14)


def test_columns_are_treated_one_by_one() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((30, 3)) + np.array([1.0, -4.0, 7.0])
    noise = draw_noise(3, rng, mean_bound=10.0, sigma=1.0)
    for j, value in enumerate(release(x, noise, rho=0.9, beta=0.3)):
        alone = KVMeanNoise(noise.counts[[j]], noise.mean[[j]])
        np.testing.assert_allclose(release(x[:, [j]], alone, rho=0.3, beta=0.1), [value], rtol=1e-12)


def test_no_value_in_any_bin_still_gives_an_output() -> None:
    x = np.full((5, 2), 1e12)
    assert np.isfinite(sample(x, np.random.default_rng(0), rho=1.0)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sigma": 0.0}, "sigma = 0"),
        ({"mean_bound": -1.0}, "mean_bound = -1"),
        ({"mean_bound": 1e8}, "mean_bound = 1000000"),
        ({"beta": 1.0}, "beta = 1"),
        ({"noise": no_noise(1, 9)}, r"noise.counts of shape \(1, 19\)"),
        ({"noise": KVMeanNoise(np.zeros((1, 21)), np.zeros(2))}, r"noise.mean of shape \(2,\)"),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        release(np.ones((3, 1)), **{"noise": no_noise(), "rho": 1.0, **options})


# Privacy


@settings(max_examples=60)
@given(
    x=arrays(np.float64, (5, 2), elements=st.floats(-20, 20)),
    y=arrays(np.float64, (1, 2), elements=st.floats(-1e6, 1e6)),
    centre=st.floats(-10, 10),
)
def test_the_sensitivities_are_bounds(x: Matrix, y: Matrix, centre: float) -> None:
    other = np.vstack([y, x[1:]])
    change = histogram(x, 1.0, 10) - histogram(other, 1.0, 10)
    assert (change**2).sum(axis=1).max() <= 2
    w = half_width(5, 1.0, 0.1)
    moved = (np.clip(x, centre - w, centre + w) - np.clip(other, centre - w, centre + w)).sum(axis=0)
    assert np.abs(moved).max() <= 2 * w * (1 + 1e-12)


def mean_loss(rho: float, d: int, value: float, other: float) -> float:
    """The ρ that the means spend, given c = 0: from the release without noise and the variance of its noise."""
    n = 50
    x, y = np.zeros((n, d)), np.zeros((n, d))
    x[0], y[0] = value, other
    change = release(x, no_noise(d), rho=rho) - release(y, no_noise(d), rho=rho)
    w = half_width(n, 1.0, 0.1 / d)
    return float((change**2).sum()) / (2 * mean_variance(n, w, rho / d))


@pytest.mark.parametrize("d", [1, 3])
def test_the_means_spend_half_and_the_counts_the_other_half(d: int) -> None:
    assert mean_loss(0.8, d, 1e6, -1e6) == pytest.approx(0.4, rel=1e-12)
    counts = histogram(np.full((1, d), 3.0), 1.0, 10) - histogram(np.full((1, d), -3.0), 1.0, 10)
    assert float((counts**2).sum()) / (2 * count_variance(0.8 / d)) == pytest.approx(0.4, rel=1e-12)
    assert spend(rho=0.8, dimension=d).proven == spend(rho=0.8, dimension=d).claimed == ZCDP(0.8)
    # mutants: counts calibrated to Δ₂ = 1, means to w/n: ρ and 2ρ in place of ρ/2
    assert float((counts**2).sum()) / (2 * count_variance(0.8 / d) / 2) == pytest.approx(0.8)
    assert mean_loss(0.8, d, 1e6, -1e6) * 4 == pytest.approx(1.6)


def test_on_constant_data_the_release_has_its_exact_law() -> None:
    # n = 200, all at 3: the bin of 3 has 200 more than any other, 71 deviations of a difference; Y ~ N(3, (2w/(n√ρ))²)
    x, rng = np.full((200, 1), 3.0), np.random.default_rng(4)
    draws = np.array([sample(x, rng, rho=0.5)[0] for _ in range(2000)])
    deviation = math.sqrt(mean_variance(200, half_width(200, 1.0, 0.1), 0.5))

    def cdf(factor: float) -> Callable[[Matrix], Matrix]:
        return lambda y: stats.norm.cdf(y, 3.0, factor * deviation)

    assert kolmogorov_smirnov(draws, cdf(1.0), "exact").p_value > FALSE_ALARM
    for factor in (0.5, math.sqrt(0.5), math.sqrt(2)):
        assert kolmogorov_smirnov(draws, cdf(factor), "mutant").p_value < FALSE_ALARM


# How many records


@pytest.mark.parametrize(("mu", "s"), [(0.5, 1.0), (-9.99, 1.0), (3.2, 0.01)])
def test_with_enough_rows_the_bin_is_right_and_the_error_is_bounded(mu: float, s: float) -> None:
    # β = 1e-10 per run: 50 runs fail together with probability at most 1e-8; measured: never, far from the bound
    rho, beta = 0.3, 1e-10
    n = math.ceil(enough_rows(2 * last_bin(10.0, 1.0) + 1, rho, beta))
    bound = error_bound(n, 1.0, rho, beta)
    rng = np.random.default_rng(5)
    for _ in range(50):
        x = mu + s * rng.standard_normal((n, 1))
        assert abs(sample(x, rng, rho=rho, beta=beta)[0] - mu) <= bound
    # a mutant: with n/20 records the bin is wrong in some of the runs
    few = [mu + s * rng.standard_normal((n // 20, 1)) for _ in range(200)]
    assert max(abs(sample(x, rng, rho=rho / 50, beta=0.1)[0] - mu) for x in few) > bound


def test_the_bins_are_as_many_as_the_bound_asks_for() -> None:
    assert [last_bin(r, 2.0) for r in (0.1, 2.0, 2.1, 20.0)] == [1, 1, 2, 10]
    noise = draw_noise(3, np.random.default_rng(1), mean_bound=20.0, sigma=2.0)
    assert (noise.counts.shape, noise.mean.shape) == ((3, 21), (3,))
