"""Test the exponential mechanism by its exact law.

Statistical tests have fixed seeds and state n: with a random seed, each test of a correct law would raise a false alarm
with probability at most 1e-9.
"""

import numpy as np

from covassay.reference.mechanisms.building_blocks.exponential import sample, sample_index
from covassay.verification.statistics.tests import binomial

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
