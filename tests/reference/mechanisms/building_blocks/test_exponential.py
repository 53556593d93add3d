"""Exponential mechanism: the exact law, and the accuracy.

Statistical tests have a fixed seed and state n. With a random seed, each would raise a false alarm with probability at
most 1e-9.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax

from covassay.reference.mechanisms.building_blocks.exponential import failure_bound, sample, sample_index
from covassay.verification.statistics.tests import binomial
from tests.conventions import SEEDS, Vector

PROPERTY = settings(max_examples=100)


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
    assert p_value(1.4) < 1e-9  # the mutant has half the sensitivity


def test_the_release_has_its_exact_law() -> None:
    # 1000 draws; energies 3, 1, 0 and ε = 2: weights e³, e, 1
    x, rng, n = np.repeat(np.eye(3)[:2], [3, 1], axis=0), np.random.default_rng(5), 1000
    draws = np.array([sample(x, rng, epsilon=2.0) for _ in range(n)])
    weights = np.exp([3.0, 1.0, 0.0])
    for i in range(3):
        assert binomial(int((draws == i + 1).sum()), n, weights[i] / weights.sum(), "exact").p_value > 1e-9


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
