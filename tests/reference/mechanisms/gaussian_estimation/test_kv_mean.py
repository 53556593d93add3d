"""Test KVMean: its formulas, and the exact law on constant data.

Statistical tests have fixed seeds: with a random seed, each test of a correct law would raise a false alarm with
probability at most 1e-9.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from scipy import stats

from covassay.reference.mechanisms.gaussian_estimation.kv_mean import (
    GAP,
    KVMeanNoise,
    count_variance,
    draw_noise,
    enough_rows,
    half_width,
    last_bin,
    mean_variance,
    release,
    sample,
)
from covassay.reference.privacy import zcdp_of_gaussian
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, Matrix


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


def test_the_bins_are_as_many_as_the_bound_asks_for() -> None:
    assert [last_bin(r, 2.0) for r in (0.1, 2.0, 2.1, 20.0)] == [1, 1, 2, 10]
    noise = draw_noise(3, np.random.default_rng(1), mean_bound=20.0, sigma=2.0)
    assert (noise.counts.shape, noise.mean.shape) == ((3, 21), (3,))
