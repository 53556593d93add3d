"""Private radius: known answers, monotone queries, and the spend and the accuracy by the exact law.

Statistical tests have a fixed seed and state n. With a random seed, each would raise a false alarm with probability at
most 1e-9.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.building_blocks import above_threshold
from covassay.reference.mechanisms.building_blocks.above_threshold import AboveThresholdNoise
from covassay.reference.mechanisms.building_blocks.private_radius import (
    PRECISION,
    public_radii,
    radii,
    release,
    sample,
    search_threshold,
    spend,
)
from covassay.reference.privacy import PureDP
from covassay.verification.exact.above_threshold import largest_loss, probabilities
from covassay.verification.statistics.tests import binomial
from tests.conventions import SEEDS, Matrix


def quiet(precision: float) -> AboveThresholdNoise:
    return AboveThresholdNoise(0.0, np.zeros(len(public_radii(precision))))


def counts(norms: Matrix, levels: Matrix) -> Matrix:
    return np.array([float((norms <= r).sum()) for r in levels])


# Known answers


@pytest.mark.parametrize(
    ("precision", "expected"),
    [(0.25, [0.25, 0.5, 1]), (0.3, [0.3, 0.6, 1]), (1.0, [1]), (0.5, [0.5, 1]), (0.51, [0.51, 1])],
)
def test_the_radii_agree_with_a_hand_calculation(precision: float, expected: list[float]) -> None:
    np.testing.assert_allclose(public_radii(precision), expected, rtol=1e-15)


def test_the_formulas_run_on_fractions() -> None:
    assert radii(Fraction(1, 5), 3) == [Fraction(1, 5), Fraction(2, 5), Fraction(4, 5), 1]
    assert search_threshold(7, Fraction(1, 2)) == Fraction(13, 2)
    assert len(public_radii(PRECISION)) == 21


@pytest.mark.parametrize("precision", [1.0, 0.999, 0.1, 1e-5, 1e-300, 2.0**-30, math.nextafter(0.25, 0)])
def test_the_largest_radius_is_one_and_neighbours_double(precision: float) -> None:
    levels = public_radii(precision)
    assert levels[0] == precision
    assert levels[-1] == 1
    assert (levels[:-1] < 1).all()
    assert (np.diff(levels) <= levels[:-1] * (1 + 1e-15)).all()


def test_the_release_agrees_with_a_hand_calculation() -> None:
    # ε = 1000, β = .1: α = 8 ln(2 · 3/.1)/1000 = .0328, T = 3.967 of n = 4. Norms .2, .2, .2, .9
    x = np.array([[0.2, 0.0], [0.0, 0.2], [0.12, 0.16], [0.0, -0.9]])
    common: dict[str, Any] = {"epsilon": 1000.0, "precision": 0.25}
    assert release(x, quiet(0.25), **common) == 1
    assert release(x[:3], quiet(0.25), **common) == 0.25  # T = 2.967
    assert release(100 * x[:3], quiet(0.25), row_bound=100, **common) == 25
    assert release(2 * x, quiet(0.25), row_bound=4, **common) == 2.0  # norms .1, .1, .1, .45 of the bound
    # ε = 1: α = 32.8 > 4, so any radius will do
    assert release(x, quiet(0.25), epsilon=1.0, precision=0.25) == 0.25
    # the noise of the threshold is 2/ε = .002 times −485: T̂ = 2.997 in reach of Q_0 = 3
    assert release(x, AboveThresholdNoise(-485.0, np.zeros(3)), **common) == 0.25
    # nothing stops: the largest radius
    assert release(x, AboveThresholdNoise(0.0, np.full(3, -1e6)), **common) == 1


@pytest.mark.parametrize(
    ("option", "value"),
    [("precision", 0.0), ("precision", 1.5), ("precision", 1e-301), ("beta", 0.0), ("beta", 1.0), ("beta", math.nan)],
)
def test_a_bad_parameter_is_refused(option: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=f"^{option} = "):
        sample(np.eye(2), np.random.default_rng(0), epsilon=1.0, **{option: value})


def test_noise_of_another_number_of_radii_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"noise.queries of shape \(3,\): must have shape \(21,\)"):
        release(np.eye(2), quiet(0.25), epsilon=1.0)


# Privacy, by the exact law


@pytest.mark.parametrize("calibration", ["paper", "tight"])
@settings(max_examples=40)
@given(seed=SEEDS)
def test_the_queries_are_monotone_and_lose_what_is_proven_at_most(calibration: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, levels = int(rng.integers(1, 60)), public_radii(float(rng.choice([0.01, 0.3, PRECISION])))
    norms = rng.random(n) ** rng.integers(1, 8)
    other = norms.copy()
    other[0] = rng.random() ** rng.integers(1, 8)
    first, second = counts(norms, levels), counts(other, levels)
    change = second - first
    assert (np.abs(change) <= 1).all()
    assert (change >= 0).all() or (change <= 0).all()
    b1, b2 = above_threshold.threshold_scale(1.0), above_threshold.query_scale(1.0, calibration)
    threshold = n - above_threshold.accuracy(len(levels), 0.1, 1.0, calibration) * rng.random()
    proven = spend(epsilon=1.0, dimension=3, calibration=calibration).proven.epsilon  # type: ignore[union-attr]
    assert largest_loss(first, second, threshold, b1, b2) <= proven + 1e-9


@pytest.mark.thorough
@pytest.mark.parametrize(("calibration", "proven"), [("paper", 0.75), ("tight", 1.0)])
def test_the_spend_is_approached_with_the_default_radii(calibration: Any, proven: float) -> None:
    for dimension in (1, 2, 9):
        result = spend(epsilon=2.0, dimension=dimension, calibration=calibration)
        assert result.claimed == PureDP(2.0)
        assert result.proven.epsilon == pytest.approx(2 * proven, rel=1e-15)  # type: ignore[union-attr]
    # n rows of norm 0, and the one that is replaced has norm 0 or 1/2: the 19 radii up to 1/4 hold n rows or n − 1, the
    # last two n. T = n − α is far below: α = 48 (paper) or 18 (tight)
    n, levels = 2000, public_radii(PRECISION)
    norms = np.zeros(n)
    other = norms.copy()
    other[0] = 0.5
    first, second = counts(norms, levels), counts(other, levels)
    assert (first - second).tolist() == [1.0] * 19 + [0.0] * 2
    b1, b2 = above_threshold.threshold_scale(1.0), above_threshold.query_scale(1.0, calibration)
    threshold = n - above_threshold.accuracy(21, 0.1, 1.0, calibration)
    loss = largest_loss(first, second, threshold, b1, b2)
    assert proven - 1e-4 < loss < proven
    # mutants: half the scales, and the threshold without noise, lose more than the claim
    assert largest_loss(first, second, threshold, b1 / 2, b2 / 2) > 1.49
    assert largest_loss(first, second, threshold, 0.05, b2) > 2


# What is promised of the result


def failure(norms: Matrix, levels: Matrix, alpha: float, threshold: float, b1: float, b2: float) -> float:
    """P(released > max(b, 2 max norm), or more than 2α rows are longer)."""
    p = probabilities(counts(norms, levels), threshold, b1, b2)
    released = np.append(levels, 1.0)
    too_long = released > max(levels[0], 2 * norms.max()) * (1 + 1e-12)
    too_short = np.array([(norms > r).sum() for r in released]) > 2 * alpha
    return float(p[too_long | too_short].sum())


@pytest.mark.parametrize("calibration", ["paper", "tight"])
@pytest.mark.parametrize("beta", [0.5, 0.05])
@pytest.mark.parametrize("power", [0, 1, 4, 12])
def test_the_promise_holds_by_the_exact_law(calibration: Any, beta: float, power: int) -> None:
    levels, n = public_radii(2.0**-10), 400
    b1, b2 = above_threshold.threshold_scale(1.0), above_threshold.query_scale(1.0, calibration)
    alpha = above_threshold.accuracy(len(levels), beta, 1.0, calibration)
    for radius in (1.0, 0.3, 1e-4):
        norms = radius * np.linspace(0, 1, n) ** power
        assert failure(norms, levels, alpha, search_threshold(n, alpha), b1, b2) <= beta


def test_without_the_slack_the_promise_is_broken() -> None:
    # a mutant: T = n. A radius that holds all rows stops with probability 1/2, so doubling it can be missed
    levels, b1, b2 = public_radii(2.0**-10), 2.0, 4.0
    norms = np.full(400, 1e-4)
    alpha = above_threshold.accuracy(len(levels), 0.05, 1.0, "paper")
    assert failure(norms, levels, alpha, 400.0, b1, b2) > 0.4


@pytest.mark.parametrize(("calibration", "b2"), [("paper", 4.0), ("tight", 2.0)])
def test_the_release_has_its_exact_law(calibration: Any, b2: float) -> None:
    # 2000 draws; norms .1 (50 times), .4 (20), 1 (10); ε = 1
    x = np.repeat([[0.1, 0.0], [0.0, 0.4], [1.0, 0.0]], [50, 20, 10], axis=0)
    levels = public_radii(0.1)
    rng, n = np.random.default_rng(9), 2000
    draws = np.array([sample(x, rng, epsilon=1.0, calibration=calibration, precision=0.1) for _ in range(n)])
    within = counts(np.linalg.norm(x, axis=1), levels)
    threshold = 80 - above_threshold.accuracy(5, 0.1, 1.0, calibration)

    def p_value(b1: float, b2: float) -> float:
        p = probabilities(within, threshold, b1, b2)
        p[-2:] = p[-2] + p[-1], 0.0  # both release 1
        observed = [int((draws == r).sum()) for r in levels]
        assert sum(observed) == n
        return min(binomial(k, n, float(q), "").p_value for k, q in zip(observed, p, strict=False))

    assert p_value(2.0, b2) > 1e-9
    assert p_value(1.0, b2 / 2) < 1e-9
