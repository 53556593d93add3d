"""AboveThreshold: known answers, the loss computed from the exact law, and the losses of broken variants.

The loss is computed, not simulated: `verification.exact.above_threshold` has the probability of every output.
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

from covassay.reference.domain import unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.building_blocks.above_threshold import (
    AboveThresholdNoise,
    accuracy,
    draw_noise,
    energies_loss,
    first_above,
    general_loss,
    monotone_loss,
    query_scale,
    release,
    sample,
    spend,
    threshold_scale,
)
from covassay.reference.privacy import PureDP
from covassay.verification.exact.above_threshold import largest_loss, log_probabilities, probabilities
from covassay.verification.statistics.tests import binomial
from tests.conventions import SEEDS, Matrix

PROPERTY = settings(max_examples=40)


def quiet(m: int) -> AboveThresholdNoise:
    return AboveThresholdNoise(0.0, np.zeros(m))


def scales(calibration: str, epsilon: float = 1.0) -> tuple[float, float]:
    return threshold_scale(epsilon), query_scale(epsilon, calibration)


EITHER_CALIBRATION = pytest.mark.parametrize(("b1", "b2"), [scales("paper"), scales("tight")], ids=["paper", "tight"])

# Known answers


@pytest.mark.parametrize(
    ("values", "position"), [([1, 3, 2.5], 1), ([2, 3], 0), ([1.9, 1.9], 2), ([5], 0), ([0], 1), ([-1, 0, 2, 9], 2)]
)
def test_without_noise_it_is_the_first_at_or_above(values: list[float], position: int) -> None:
    value = np.array(values, dtype=np.float64)
    assert first_above(value, 2.0, quiet(len(values)), epsilon=1.0, calibration="paper") == position


def test_the_noise_agrees_with_a_hand_calculation() -> None:
    # ε = 2: b₁ = 1, so T̂ = 1 − 1/2; b₂ = 2 in the paper, 0 + 2(.2) < .5 ≤ 0 + 2(.3); tight b₂ = 1: .2, .3 < .5
    noise = AboveThresholdNoise(-0.5, np.array([0.2, 0.3]))
    assert first_above(np.zeros(2), 1.0, noise, epsilon=2.0, calibration="paper") == 1
    assert first_above(np.zeros(2), 1.0, noise, epsilon=2.0, calibration="tight") == 2


def test_the_first_feature_with_its_share_agrees_with_a_hand_calculation() -> None:
    # energies .25, 1.25, .75; n = d = 3, so the threshold is the share
    x = np.array([[0.5, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, np.sqrt(0.75)]])
    assert release(x, quiet(3), epsilon=1.0) == 2
    assert release(x, quiet(3), epsilon=1.0, share=0.25) == 1
    assert release(x, quiet(3), epsilon=1.0, share=1.3) == 4  # none
    assert release(10 * x, quiet(3), epsilon=1.0, row_bound=10) == 2
    # ε = 1 lowers the threshold by 2 · 2: T̂ = −3 is below every energy
    assert release(x, AboveThresholdNoise(-2.0, np.zeros(3)), epsilon=1.0) == 1


@pytest.mark.parametrize(
    "noise",
    [
        AboveThresholdNoise(0.0, np.zeros(3)),
        AboveThresholdNoise(0.0, np.zeros(1)),
        AboveThresholdNoise(math.nan, np.zeros(2)),
        AboveThresholdNoise(0.0, np.full(2, math.inf)),
    ],
)
def test_bad_noise_is_refused(noise: AboveThresholdNoise) -> None:
    with pytest.raises(InvalidInput, match=r"^noise\."):
        release(np.eye(2), noise, epsilon=1.0)


@pytest.mark.parametrize("share", [0.0, -1.0, math.inf, "1"])
def test_a_bad_share_is_refused(share: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^share = "):
        release(np.eye(2), quiet(2), epsilon=1.0, share=share)


# Formulas


def test_the_formulas_run_on_fractions_and_in_arbitrary_precision() -> None:
    half = Fraction(1, 2)
    assert threshold_scale(half) == 4
    assert [query_scale(half, c) for c in ("paper", "tight")] == [8, 4]
    for calibration, general, monotone, energies in (
        ("paper", Fraction(1), Fraction(3, 4), Fraction(1, 2)),
        ("tight", Fraction(3, 2), Fraction(1), Fraction(1)),
    ):
        b1, b2 = threshold_scale(half), query_scale(half, calibration)
        assert general_loss(b1, b2) == general * half
        assert monotone_loss(b1, b2) == monotone * half
        assert energies_loss(b1, b2, 2) == energies * half
        assert energies_loss(b1, b2, 1) == 1 / max(b1, b2)
    # 8 ln 200 and 2 ln 20 + 2 ln 200, to 20 digits
    assert mpmath.almosteq(accuracy(10, mpmath.mpf("0.1"), 1, "paper", mpmath.log), 8 * mpmath.log(200))
    assert accuracy(10, 0.1, 1.0, "tight") == pytest.approx(2 * math.log(20) + 2 * math.log(200))


def test_the_even_split_has_the_least_variance() -> None:
    # 2b₁² + 2b₂² over 1/b₁ + 1/b₂ = 1: at 1/b₁ = s it is 2/s² + 2/(1 − s)²
    splits = [Fraction(k, 40) for k in range(1, 40)]
    assert min(splits, key=lambda s: 1 / s**2 + 1 / (1 - s) ** 2) == Fraction(1, 2)


@pytest.mark.parametrize(
    ("dimension", "calibration", "proven"),
    # 2/b₂ for two features or more, 1/max(b₁, b₂) for one
    [(1, "paper", 0.25), (1, "tight", 0.5), (2, "paper", 0.5), (2, "tight", 1.0), (50, "paper", 0.5)],
)
def test_the_spend_is_that_of_the_table(dimension: int, calibration: Any, proven: float) -> None:
    result = spend(epsilon=3.0, dimension=dimension, calibration=calibration)
    assert result.claimed == PureDP(3.0)
    assert result.proven.epsilon == pytest.approx(3 * proven, rel=1e-15)  # type: ignore[union-attr]
    assert result.attained


# Privacy, by the exact law


@EITHER_CALIBRATION
@PROPERTY
@given(seed=SEEDS, m=st.integers(1, 12))
def test_no_queries_lose_more_than_their_bound(b1: float, b2: float, seed: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    f = rng.choice([0.0, 3.0, 30.0], m) * rng.standard_normal(m)
    threshold = float(rng.choice([0.0, -20.0, 20.0]))
    moves = rng.choice([rng.uniform(-1, 1, m), rng.choice([-1.0, 1.0], m)])
    assert largest_loss(f, f + moves, threshold, b1, b2) <= general_loss(b1, b2) + 1e-9
    assert largest_loss(f, f + np.abs(moves), threshold, b1, b2) <= monotone_loss(b1, b2) + 1e-9


@EITHER_CALIBRATION
@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 6))
def test_no_rows_lose_more_than_the_bound_of_energies(b1: float, b2: float, seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = unit_rows(rng.standard_normal((2, d)) ** 3)
    base = rng.choice([0.0, 5.0, 50.0], d) * rng.random(d)
    loss = largest_loss(base + x**2, base + y**2, float(rng.choice([0.0, 10.0, 30.0])), b1, b2)
    assert loss <= energies_loss(b1, b2, d) + 1e-9


def passing(k: int, up: float, down: float, b1: float, b2: float) -> float:
    """The loss at the last query if k queries far above T rise by `up` and the last, 40 below them, falls by `down`."""
    first = np.concatenate([np.full(k, 60.0), [20.0]])
    second = first + np.concatenate([np.full(k, up), [-down]])
    return float((log_probabilities(first, 0.0, b1, b2) - log_probabilities(second, 0.0, b1, b2))[k])


@pytest.mark.parametrize(
    ("b1", "b2", "general", "monotone"),
    [
        pytest.param(2.0, 4.0, 1.0, 0.75, id="paper"),
        pytest.param(2.0, 2.0, 1.5, 1.0, id="tight"),
        # mutants: more than ε = 1, even for monotone queries
        pytest.param(1.0, 2.0, 2.0, 1.5, id="both scales halved"),
        pytest.param(2.0, 1.0, 2.5, 1.5, id="no budget for the sensitivity of the query"),
    ],
)
def test_the_bounds_are_approached(b1: float, b2: float, general: float, monotone: float) -> None:
    assert general_loss(b1, b2) == general
    assert monotone_loss(b1, b2) == monotone
    assert passing(200, 1, 1, b1, b2) == pytest.approx(general, abs=1e-2)
    # monotone: the last query does not move, and the search reaches it only if T̂ is raised above the others
    first = np.concatenate([np.full(40, 30.0), [31.0]])
    second = np.concatenate([np.full(40, 31.0), [31.0]])
    assert largest_loss(first, second, 0.0, b1, b2) == pytest.approx(monotone, abs=1e-3)


@pytest.mark.parametrize("calibration", ["paper", "tight"])
def test_energies_approach_their_bound(calibration: str) -> None:
    b1, b2 = scales(calibration)
    # n rows, share 1, d = 2: T = n/2; first feature n − 1, second 0, and the row e₂ or e₁
    n = 400
    losses = {d: spend(epsilon=1.0, dimension=d, calibration=calibration).proven.epsilon for d in (1, 2)}  # type: ignore
    two = largest_loss(np.array([n - 1.0, 1.0]), np.array([n, 0.0]), n / 2, b1, b2)
    assert two == pytest.approx(losses[2], abs=1e-6)
    one = largest_loss(np.array([n - 1.0]), np.array([float(n)]), 2.0 * n, b1, b2)
    assert one == pytest.approx(losses[1], abs=5e-3)  # like 1/n for b₁ = b₂


def test_a_lost_query_noise_has_infinite_loss() -> None:
    # b₂ → 0: two equal queries that move apart; the second can stop only where the first does not
    losses = [largest_loss(np.array([0.0, 1.0]), np.array([1.0, 0.0]), 0.0, 2.0, b2) for b2 in (1.0, 0.1, 0.02)]
    assert losses[0] < losses[1] < losses[2]
    assert losses[2] > 40


# Accuracy


def failure(values: Matrix, threshold: float, alpha: float, b1: float, b2: float) -> float:
    """The probability that a query above T + α is passed over, or that the search stops at one below T − α."""
    p = probabilities(values, threshold, b1, b2)
    high, low = values > threshold + alpha, np.append(values < threshold - alpha, False)
    passed = np.concatenate([[False], np.cumsum(high) > 0])
    return float(p[passed | low].sum())


@pytest.mark.parametrize("calibration", ["paper", "tight"])
@pytest.mark.parametrize("beta", [0.5, 0.1, 1e-3])
@pytest.mark.parametrize("m", [1, 5, 30])
def test_the_accuracy_holds_by_the_exact_law(calibration: str, beta: float, m: int) -> None:
    b1, b2 = scales(calibration)
    alpha = accuracy(m, beta, 1.0, calibration)
    just_above, just_below = np.full(m, alpha + 1e-6), np.full(m, -alpha - 1e-6)
    for values in (just_above, just_below, np.concatenate([just_below[1:], just_above[:1]])):
        assert failure(values, 0.0, alpha, b1, b2) <= beta
    # a mutant: a quarter of α is not enough
    if m == 30:
        assert failure(np.full(m, -alpha / 4 - 1e-6), 0.0, alpha / 4, b1, b2) > beta


def test_the_tight_accuracy_is_the_smaller_one() -> None:
    for m in (1, 10, 1000):
        assert accuracy(m, 0.1, 1.0, "tight") < accuracy(m, 0.1, 1.0, "paper") / 1.9


# The draws


def test_the_noise_is_drawn_threshold_first() -> None:
    noise = draw_noise(3, np.random.default_rng(6))
    rng = np.random.default_rng(6)
    assert noise.threshold == rng.laplace()
    np.testing.assert_array_equal(noise.queries, rng.laplace(size=3))
    x = np.eye(3)
    assert sample(x, np.random.default_rng(6), epsilon=1.0) == release(x, noise, epsilon=1.0)


@pytest.mark.parametrize(("calibration", "b2"), [("paper", 4.0), ("tight", 2.0)])
def test_the_release_has_its_exact_law(calibration: Any, b2: float) -> None:
    # n = 2000 draws; energies 4, 1, 1 and threshold 2
    x = np.repeat(np.eye(3), [4, 1, 1], axis=0)
    rng, n = np.random.default_rng(8), 2000
    draws = np.array([sample(x, rng, epsilon=1.0, calibration=calibration) for _ in range(n)])
    energies = np.array([4.0, 1.0, 1.0])
    exact = probabilities(energies, 2.0, 2.0, b2)
    halved = probabilities(energies, 2.0, 1.0, b2 / 2)
    wrong = []
    for i in range(4):
        count = int((draws == i + 1).sum())
        assert binomial(count, n, float(exact[i]), "exact").p_value > 1e-9
        wrong.append(binomial(count, n, float(halved[i]), "half the noise").p_value)
    assert min(wrong) < 1e-9
