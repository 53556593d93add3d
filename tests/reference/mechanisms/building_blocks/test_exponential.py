"""Exponential mechanism: known answers, the exact law, loss, range and accuracy.

The law is a softmax, so losses are computed, not simulated. Statistical tests have a fixed seed and state n. With a
random seed, each would raise a false alarm with probability at most 1e-9.
"""

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax

from covassay.reference.domain import unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.building_blocks.exponential import (
    ENERGY_RANGE,
    exponent,
    failure_bound,
    privacy_loss,
    release,
    sample,
    sample_index,
    spend,
)
from covassay.reference.privacy import PureDP, zcdp_of_bounded_range
from covassay.verification.statistics.tests import binomial
from tests.conventions import SEEDS, Vector

PROPERTY = settings(max_examples=100)


def losses(first: Vector, second: Vector, eta: float) -> Vector:
    """ln P(u)/P'(u) for every outcome u."""
    difference: Vector = log_softmax(eta * first) - log_softmax(eta * second)
    return difference


# Known answers


def test_the_release_agrees_with_a_hand_calculation() -> None:
    # energies .25, 1.25, .75; ε = 2: η = 1
    x = np.array([[0.5, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, np.sqrt(0.75)]])
    assert release(x, np.zeros(3), epsilon=2.0) == 2
    assert release(x, np.array([0.9, 0.0, 0.0]), epsilon=2.0) == 2  # 1.15 < 1.25
    assert release(x, np.array([1.1, 0.0, 0.0]), epsilon=2.0) == 1  # 1.35
    assert release(10 * x, np.array([1.1, 0.0, 0.0]), epsilon=2.0, row_bound=10) == 1
    assert release(x, np.array([0.0, 0.0, 0.0]), epsilon=1e-3) == 2


@pytest.mark.parametrize("noise", [np.zeros(3), np.zeros((2, 1)), 0.0, np.full(2, math.nan)])
def test_bad_noise_is_refused(noise: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^noise"):
        release(np.eye(2), noise, epsilon=1.0)


def test_the_formulas_run_on_fractions_and_in_arbitrary_precision() -> None:
    assert exponent(Fraction(1, 3), 2) == Fraction(1, 6)
    assert privacy_loss(Fraction(1, 6), 2) == Fraction(1, 3)
    assert zcdp_of_bounded_range(Fraction(1)) == Fraction(1, 8)
    bound = failure_bound(mpmath.mpf(2), 3, mpmath.mpf("0.25"), mpmath.exp)
    assert mpmath.almosteq(bound, 4 * mpmath.exp(-6))


# The law


def test_the_index_follows_the_softmax() -> None:
    # 5000 draws at η = .7 of four scores
    scores, rng, n = np.array([0.0, 2.0, 1.0, 1.0]), np.random.default_rng(4), 5000
    counts = np.bincount([sample_index(scores, rng.gumbel(size=4), eta=0.7) for _ in range(n)], minlength=4)

    def p_value(eta: float) -> float:
        weights = np.exp(eta * scores)
        laws = zip(counts, weights / weights.sum(), strict=True)
        return min(binomial(int(count), n, float(p), "").p_value for count, p in laws)

    assert p_value(0.7) > 1e-9
    assert p_value(1.4) < 1e-9  # a mutant: half the sensitivity


def test_the_release_has_its_exact_law() -> None:
    # 1000 draws; energies 3, 1, 0 and ε = 2: weights e³, e, 1
    x, rng, n = np.repeat(np.eye(3)[:2], [3, 1], axis=0), np.random.default_rng(5), 1000
    draws = np.array([sample(x, rng, epsilon=2.0) for _ in range(n)])
    weights = np.exp([3.0, 1.0, 0.0])
    for i in range(3):
        assert binomial(int((draws == i + 1).sum()), n, weights[i] / weights.sum(), "exact").p_value > 1e-9


# Privacy


@PROPERTY
@given(seed=SEEDS, m=st.integers(1, 8))
def test_the_loss_fills_an_interval_of_eta_times_the_range(seed: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    scores, eta = 10 * rng.standard_normal(m), float(rng.choice([0.1, 1.0, 5.0]))
    change = rng.uniform(-1, 1, m)
    loss = losses(scores, scores + change, eta)
    spread = change.max() - change.min()
    assert np.abs(loss).max() <= privacy_loss(eta, spread) + 1e-9
    assert loss.max() - loss.min() == pytest.approx(eta * spread, abs=1e-9)
    same_way = losses(scores, scores + np.abs(change), eta)
    assert np.abs(same_way).max() <= eta + 1e-9  # monotone scores: the range is the sensitivity


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 6))
def test_no_row_loses_more_than_what_is_proven(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = unit_rows(rng.standard_normal((2, d)) ** 3)
    base = rng.choice([0.0, 3.0, 50.0], d) * rng.random(d)
    loss = losses(base + x**2, base + y**2, exponent(0.7, ENERGY_RANGE))
    proven = spend(epsilon=0.7, dimension=d).proven.epsilon  # type: ignore[union-attr]
    assert np.abs(loss).max() <= proven + 1e-9


@pytest.mark.parametrize("d", [2, 3, 10])
def test_the_spend_is_approached(d: int) -> None:
    result = spend(epsilon=0.7, dimension=d)
    assert result.claimed == PureDP(0.7)
    assert result.attained
    assert result.proven.epsilon == pytest.approx(0.7, rel=1e-15)  # type: ignore[union-attr]
    base = np.zeros(d)
    base[1] = 100.0
    first, second = base + np.eye(d)[0], base + np.eye(d)[1]
    assert losses(first, second, exponent(0.7, 2))[0] == pytest.approx(0.7, abs=1e-9)
    # a mutant: the sensitivity ½, so η = ε
    assert losses(first, second, 0.7)[0] > 1.39


def test_one_feature_has_no_loss() -> None:
    assert not spend(epsilon=0.7, dimension=1).attained
    assert sample([[0.3]], np.random.default_rng(0), epsilon=0.7) == 1


def renyi(first: Vector, second: Vector, eta: float, alpha: float) -> float:
    p, q = log_softmax(eta * first), log_softmax(eta * second)
    return float(np.logaddexp.reduce(alpha * p + (1 - alpha) * q)) / (alpha - 1)


@PROPERTY
@given(seed=SEEDS, m=st.integers(2, 6), alpha=st.floats(1.001, 50))
def test_the_zcdp_of_a_bounded_range_holds(seed: int, m: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    scores, eta = 3 * rng.standard_normal(m), float(rng.choice([0.1, 1.0, 3.0]))
    change = rng.uniform(-1, 1, m)
    gamma = eta * (change.max() - change.min())
    assert renyi(scores, scores + change, eta, alpha) <= zcdp_of_bounded_range(gamma) * alpha + 1e-9


def test_the_zcdp_of_a_bounded_range_is_nearly_attained() -> None:
    # two outcomes whose log odds move from −γ/2 to γ/2: KL divergence (γ/2) tanh(γ/4)
    for gamma in (0.1, 1.0):
        got = renyi(np.array([gamma / 2, 0.0]), np.array([0.0, gamma / 2]), 1.0, 1 + 1e-7)
        assert got == pytest.approx(gamma / 2 * math.tanh(gamma / 4), rel=1e-5)
        assert got > 0.97 * zcdp_of_bounded_range(gamma)  # so γ²/9 would be refuted


# Accuracy


def failure(scores: Vector, eta: float, tau: float) -> float:
    """P(g < max g − τ)."""
    return float(np.exp(log_softmax(eta * scores))[scores < scores.max() - tau].sum())


@PROPERTY
@given(seed=SEEDS, m=st.integers(1, 40))
def test_the_accuracy_holds(seed: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    scores, eta = -rng.exponential(3.0, m), float(rng.choice([0.1, 1.0, 3.0]))
    for tau in (0.5, 2.0, 6.0):
        for s in (0.0, tau / 2, tau):
            share = float((scores >= scores.max() - s).mean())
            assert failure(scores, eta, tau) <= failure_bound(eta, tau - s, share) + 1e-12


def test_the_accuracy_that_adk19_prints_is_refuted() -> None:
    # exp(−ητ) μ(G_τ), its Lemma 4, for one outcome with g = 0 and 99 with g = −2: 99/(99 + e²) is not below e^{−1}/100
    scores = np.concatenate([[0.0], np.full(99, -2.0)])
    exact = failure(scores, 1.0, 1.0)
    assert exact == pytest.approx(99 / (99 + math.exp(2)))
    assert exact > 200 * math.exp(-1.0) * 0.01
    assert exact <= failure_bound(1.0, 1.0, 0.01)
