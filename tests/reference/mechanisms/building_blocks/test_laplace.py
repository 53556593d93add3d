"""Laplace mechanism: known answers, sensitivity, exact law and loss.

Statistical tests have a fixed seed and state n. With a random seed, each would raise a false alarm with probability at
most 1e-9.
"""

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.building_blocks import laplace
from covassay.reference.privacy import PureDP
from covassay.reference.sensitivity import one_sided_pair, orthonormal_pair
from covassay.verification.statistics.tests import independence, kolmogorov_smirnov
from tests.conventions import SEEDS


def test_the_release_agrees_with_a_hand_calculation() -> None:
    # n = 2: Σ_11 = .18, Σ_22 = (.64 + .25)/2; b = 2/(2 · .5) = 2
    x = np.array([[0.6, 0.8], [0.0, 0.5]])
    np.testing.assert_allclose(laplace.release(x, np.zeros(2), epsilon=0.5), [0.18, 0.445], rtol=1e-15)
    np.testing.assert_allclose(laplace.release(x, np.array([1.0, -0.5]), epsilon=0.5), [2.18, -0.555], rtol=1e-14)
    np.testing.assert_allclose(laplace.release(10 * x, np.zeros(2), epsilon=0.5, row_bound=10), [18, 44.5], rtol=1e-14)
    # one feature: b = 1/(nε) = 1/(2 · .5)
    np.testing.assert_allclose(laplace.release([[0.5], [1.0]], np.array([-1.0]), epsilon=0.5), [-0.375], rtol=1e-15)


def test_any_value_can_be_perturbed() -> None:
    value, noise = np.array([[1.0, 2.0]]), np.array([[0.5, -1.0]])
    np.testing.assert_array_equal(laplace.perturb(value, noise, sensitivity=3, epsilon=1.5), [[2.0, 0.0]])


@pytest.mark.parametrize("noise", [np.zeros(3), np.zeros((2, 1)), 0.0, np.full(2, math.nan)])
def test_bad_noise_is_refused(noise: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^noise"):
        laplace.release(np.eye(2), noise, epsilon=1.0)


def test_the_formulas_run_on_fractions_and_in_arbitrary_precision() -> None:
    assert laplace.noise_scale(Fraction(1, 3), Fraction(1, 6)) == 2
    assert laplace.privacy_loss(Fraction(1, 3), 2) == Fraction(1, 6)
    assert [laplace.second_moments_sensitivity(4, d) for d in (1, 2, 9)] == [1 / 4, 1 / 2, 1 / 2]
    assert mpmath.almosteq(laplace.largest_error(2, 5, mpmath.mpf("0.1"), mpmath.log), 2 * mpmath.log(50))


@pytest.mark.parametrize("k", [1, 10, 1000])
def test_the_largest_error_holds(k: int) -> None:
    # P(max > t) = 1 − (1 − e^{−t})^k ≤ k e^{−t}, exactly β in the union bound
    for beta in (0.5, 0.01):
        t = laplace.largest_error(1.0, k, beta)
        assert 0.6 * beta < 1 - (1 - math.exp(-t)) ** k <= beta * (1 + 1e-12)


@settings(max_examples=60)
@given(seed=SEEDS, d=st.integers(1, 6))
def test_one_row_moves_the_moments_by_their_sensitivity_at_most(seed: int, d: int) -> None:
    x, y = unit_rows(np.random.default_rng(seed).standard_normal((2, d)) ** 3)
    assert np.abs(x**2 - y**2).sum() <= laplace.second_moments_sensitivity(1, d) + 1e-12


def worst_loss(d: int, factor: float = 1.0) -> float:
    """At y = f over the extreme pairs, from the densities; n = 3, ε = .7."""
    b = factor * laplace.noise_scale(laplace.second_moments_sensitivity(3, d), 0.7)
    rest, losses = np.full((2, d), 0.1), []
    for pair in (orthonormal_pair(d), one_sided_pair(d)):
        first, second = (np.diag(second_moment(np.vstack([rest, row]))) for row in pair)
        losses.append(float((stats.laplace.logpdf(first, first, b) - stats.laplace.logpdf(first, second, b)).sum()))
    return max(losses)


@pytest.mark.parametrize("d", [1, 2, 3, 10])
def test_the_spend_is_the_attained_loss(d: int) -> None:
    result = laplace.spend(epsilon=0.7, dimension=d)
    assert result.claimed == PureDP(0.7)
    assert result.attained
    assert worst_loss(d) == pytest.approx(0.7, rel=1e-12)
    assert result.proven.epsilon == pytest.approx(0.7, rel=1e-15)  # type: ignore[union-attr]
    assert worst_loss(d, 0.5) > 1.39  # a mutant: the sensitivity 1 where it is 2


def test_the_release_has_its_exact_law() -> None:
    # 6000 features, the first half with Σ_ii = 0 and the second with Σ_ii = 1/6000; n = 4: b = 2/(4 · 1) = 1/2
    x, rng = np.sqrt(np.repeat([0.0, 1 / 6000], 3000)) * np.ones((4, 1)), np.random.default_rng(2)
    draws = laplace.sample(x, rng, epsilon=1.0).reshape(2, 3000).T - [0, 1 / 6000]
    for column in draws.T:
        assert kolmogorov_smirnov(column, stats.laplace(0, 0.5).cdf, "exact").p_value > 1e-9
        assert kolmogorov_smirnov(column, stats.laplace(0, 0.25).cdf, "half the scale").p_value < 1e-9
    assert independence(draws[:, 0], draws[:, 1], "independent").p_value > 1e-9
    assert independence(draws[:, 0], draws[:, 0], "one and the same").p_value < 1e-9
