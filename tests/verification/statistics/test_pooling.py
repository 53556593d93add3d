"""Test that tests which combine blocks of draws agree with tests of the whole sample."""

import math

import numpy as np
import pytest

from covassay.verification.statistics.dependence import turned_signs
from covassay.verification.statistics.laws import NORMAL, Placed
from covassay.verification.statistics.pooling import PARTS, Places, Total, pooled
from covassay.verification.statistics.tails import levels, seen_beyond
from covassay.verification.statistics.tests import (
    Quadrants,
    Successes,
    binomial,
    gamma_total,
    independence,
    kolmogorov_smirnov,
)

N, BLOCKS = 4000, 8


def _blocks(seed: int, scale: float = 1.0) -> np.ndarray:
    return scale * np.random.default_rng(seed).standard_normal((BLOCKS, N // BLOCKS))


def _pooled(values: np.ndarray) -> Places:
    tried = levels(values.size)
    parts = [pooled(kolmogorov_smirnov(one, NORMAL, "normal"), tried, i) for i, one in enumerate(values)]
    total = parts[0]
    for part in parts[1:]:
        assert total is not None
        total = total.plus(part)
    assert isinstance(total, Places)
    return total


def test_counts_of_blocks_are_the_counts_of_the_whole_sample() -> None:
    values = _blocks(1)
    places, whole = _pooled(values), kolmogorov_smirnov(values.ravel(), NORMAL, "normal")
    assert whole.placed is not None
    assert places.n == N
    assert places.extreme == whole.placed.extreme
    seen = seen_beyond(whole.placed, levels(N))
    assert dict(zip(places.regions, places.beyond.tolist(), strict=True)) == {k: v.tolist() for k, v in seen.items()}


def test_the_distance_at_the_ends_of_parts_is_at_most_kolmogorovs_and_nearly_as_large() -> None:
    values = _blocks(2)
    whole = kolmogorov_smirnov(values.ravel(), NORMAL, "normal").statistic
    assert whole - 1 / PARTS <= _pooled(values).result().statistic <= whole


def test_a_scale_that_is_off_shows_in_the_distance_and_in_the_tails() -> None:
    wrong, right = _pooled(_blocks(3, 1.3)), _pooled(_blocks(3))
    assert max(wrong.result().p_value, wrong.tails().p_value) < 1e-12
    assert min(right.result().p_value, right.tails().p_value) > 1e-4


def test_values_of_a_law_with_jumps_are_spread_anew_in_every_block() -> None:
    sample = Placed(np.full(500, 0.8), np.full(500, 0.6))
    first, second = (Placed(sample.below, sample.above, block=i).uniform for i in (0, 1))
    assert not np.array_equal(first, second)
    assert np.array_equal(first, Placed(sample.below, sample.above, block=0).uniform)


def test_totals_and_successes_add_up_exactly() -> None:
    """The test fails if the p-value from combined blocks differs from the p-value of all draws at once."""
    values = np.random.default_rng(4).gamma(3.0, size=(BLOCKS, 100))
    totals = [pooled(gamma_total(one, 3.0, "gamma"), levels(800), i) for i, one in enumerate(values)]
    total = totals[0]
    for other in totals[1:]:
        assert isinstance(total, Total)
        total = total.plus(other)
    assert isinstance(total, Total)
    assert total.result().p_value == pytest.approx(gamma_total(values.ravel(), 3.0, "gamma").p_value, rel=1e-9)
    one, two = binomial(40, 100, 0.5, "fair").pooled, binomial(70, 120, 0.5, "fair").pooled
    assert isinstance(one, Successes)
    assert one.plus(two).result().p_value == binomial(110, 220, 0.5, "fair").p_value


def test_a_pooled_independence_test_is_conservative_and_sees_dependence() -> None:
    """The test fails if a combined test of independence rejects too often, or does not detect dependence. If the
    p-values are valid, the probability that 40 or more of 400 are below 0.05 is at most 3.2e-5.
    """
    rng = np.random.default_rng(5)
    # the draws in the blocks of 60 are independent
    both = rng.hypergeometric(30, 30, 30, size=(400, BLOCKS)).sum(axis=1)
    assert (
        sum(Quadrants("", int(k), 30 * BLOCKS, 15.0 * BLOCKS, 60 * BLOCKS).result().p_value < 0.05 for k in both) < 40
    )
    x, y = rng.standard_normal((2, BLOCKS, 60))
    parts = [independence(one, 2 * one + other, "independent").pooled for one, other in zip(x, y, strict=True)]
    total = parts[0]
    for part in parts[1:]:
        assert isinstance(total, Quadrants)
        total = total.plus(part)
    assert isinstance(total, Quadrants)
    assert total.result().p_value < 1e-9


def test_signs_that_are_tied_in_every_block_a_little_are_seen_in_their_sum() -> None:
    rng, every = np.random.default_rng(6), np.ones((2, 2), dtype=bool)

    def block(share: float) -> object:
        x, y = rng.standard_normal((2, 500))
        y = np.where(rng.random(500) < share, np.abs(y) * np.sign(x), y)
        return turned_signs(np.column_stack([x, y]), ("x", "y"), every, every)

    def summed(share: float) -> float:
        results = [block(share) for _ in range(40)]
        total = results[0].pooled  # type: ignore[attr-defined]
        for one in results[1:]:
            total = total.plus(one.pooled)  # type: ignore[attr-defined]
        return float(total.result().p_value)

    assert summed(0.1) < 1e-9
    assert summed(0.0) > 1e-4
    assert block(0.1).p_value > 1e-9  # type: ignore[attr-defined]


def test_a_result_without_sums_is_not_pooled() -> None:
    from covassay.verification.statistics.tests import two_sample

    result = two_sample(np.arange(9.0), np.arange(9.0) + 0.5, "one law")
    assert pooled(result, levels(9), 0) is None
    assert math.isfinite(result.p_value)
