"""ClippedCov: known answers, the bias and its bins, and the exact law and spend of the search for a threshold."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import logsumexp

from covassay.reference.domain import Chunks, second_moment, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.laws.wigner import ENSEMBLES
from covassay.reference.mechanisms.building_blocks import above_threshold
from covassay.reference.mechanisms.concentrated import gauss_cov, separate_cov
from covassay.reference.mechanisms.concentrated.clipped_cov import (
    MECHANISM,
    ClippedCovNoise,
    base_error,
    bias_bound,
    bin_counts,
    clip_level,
    draw_noise,
    final_budget,
    first_level,
    last_level,
    noise_bound,
    release,
    sample,
    search_epsilon,
    search_loss,
    spend,
)
from covassay.reference.privacy import ZCDP
from covassay.verification.exact.above_threshold import probabilities
from tests.conventions import SEEDS, Matrix, Vector

PROPERTY = settings(max_examples=100)
BASES = MECHANISM.choices["base"]
X = np.array([[0.6, 0.8], [0.3, 0.4], [0.0, 0.0]])


def every_choice() -> list[dict[str, Any]]:
    return [dict(zip(MECHANISM.choices, words, strict=True)) for words in product(*MECHANISM.choices.values())]


def quiet(n: int, d: int) -> ClippedCovNoise:
    """Noise that is zero everywhere."""
    none = above_threshold.AboveThresholdNoise(0.0, np.zeros(last_level(n, d) + 1))
    return ClippedCovNoise(none, separate_cov.SeparateCovNoise(np.zeros((d, d)), np.zeros(d)))


# Known answers


@pytest.mark.parametrize("base", BASES)
def test_rows_are_clipped_to_the_public_norm(base: Any) -> None:
    # Clipped to ½ the rows are (.3, .4) twice and a zero row, so Σ = (2/3) [[.09, .12], [.12, .16]].
    expected = np.array([[0.06, 0.08], [0.08, 0.32 / 3]])
    np.testing.assert_allclose(release(X, quiet(3, 2), rho=1, base=base, clip_norm=0.5), expected, atol=1e-15)
    unclipped = np.array([[0.15, 0.2], [0.2, 0.8 / 3]])  # (1 + ¼)/3 (.36, .48, .64)
    np.testing.assert_allclose(release(X, quiet(3, 2), rho=1, base=base, clip_norm=1.0), unclipped, atol=1e-15)
    np.testing.assert_allclose(
        release(10 * X, quiet(3, 2), rho=1, base=base, clip_norm=0.5, row_bound=10), 100 * expected, atol=1e-13
    )


@pytest.mark.parametrize("base", BASES)
def test_the_noise_shrinks_by_the_square_of_the_threshold(base: Any) -> None:
    noise = draw_noise(2, np.random.default_rng(0), rows=3)
    got = release(X, noise, rho=0.3, base=base, clip_norm=0.5)
    small = unit_rows(X, 0.5)  # clipped and divided by τ
    if base == "gauss":
        expected = gauss_cov.release(small, noise.base.matrix, rho=0.3) / 4
    else:
        expected = separate_cov.release(small, noise.base, rho=0.3) / 4
    np.testing.assert_allclose(got, expected, rtol=1e-13)


@pytest.mark.parametrize("base", BASES)
def test_a_private_threshold_stops_where_the_bias_exceeds_the_noise(base: Any) -> None:
    # 990 rows have norm 1/16 and 10 have norm 1, so B₁ = .01 · 3/4, B₂ = .01 · 15/16, and B_k → .01 for k ≤ 4.
    # Without noise the search stops at the first k with B_k > 4^{−k} ν, where ν is the error bound at 3ρ/4.
    x = np.repeat([[1 / 16, 0.0], [0.0, 1.0]], [990, 10], axis=0)
    nu = base_error(1000, 2, 3 * 2.0 / 4, 0.1, base, "wigner")
    expected = next(k for k in range(1, 5) if 0.01 * (1 - 4.0**-k) > 4.0**-k * nu)
    assert expected in (1, 2, 3)
    tau = min(1, 2.0 ** (1 - expected))
    got = release(x, quiet(1000, 2), rho=2.0, base=base, threshold="private")
    np.testing.assert_allclose(got, np.diag([0.99 / 256, 0.01 * tau**2]), atol=1e-15)


def test_zero_rows_reach_the_last_threshold() -> None:
    # There is no bias at any level, so k* = K + 1 and τ = 2^{−K}, and the noise shrinks with τ².
    noise = ClippedCovNoise(
        above_threshold.AboveThresholdNoise(0.0, np.zeros(7)), separate_cov.SeparateCovNoise(np.eye(2), np.ones(2))
    )
    got = release(np.zeros((3, 2)), noise, rho=1.0, base="gauss", threshold="private")
    np.testing.assert_allclose(got, 4.0**-6 * np.eye(2) / (3 * math.sqrt(0.75)), rtol=1e-13)
    assert (last_level(3, 2), last_level(1000, 10)) == (6, 79)


def test_the_noise_that_is_drawn_is_the_noise_that_is_used() -> None:
    for options in every_choice():
        noise = draw_noise(2, np.random.default_rng(3), rows=3, ensemble=options["ensemble"])
        drawn = sample(X, np.random.default_rng(3), rho=0.2, **options)
        np.testing.assert_array_equal(drawn, release(X, noise, rho=0.2, **options))


@pytest.mark.parametrize(
    ("option", "value"),
    [("clip_norm", 0), ("clip_norm", 1.5), ("clip_norm", math.nan), ("beta", 1.0), ("beta", 0),
     ("base", "em"), ("threshold", "noise"), ("calibration", "x"), ("ensemble", "x")],
)  # fmt: skip
def test_a_bad_option_is_refused(option: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=f"^{option} = "):
        sample(X, np.random.default_rng(0), rho=1.0, **{option: value})


# Bins and bias


def test_bins_agree_with_a_hand_calculation() -> None:
    # Norms 1 and .75 are in bin 1, ½ (because ½ ≤ 2^{1−2}) and .3 in bin 2, 1/64 in bin 7, and 0 in none.
    x = np.array([[1.0], [0.75], [-0.5], [0.3], [1 / 64], [0.0]])
    np.testing.assert_array_equal(bin_counts(x, 8), [2, 2, 0, 0, 0, 0, 1, 0])
    np.testing.assert_array_equal(bin_counts(np.zeros((3, 2)), 4), [0, 0, 0, 0])
    # B₂ = (2 (1 − 1/16) + 2 (1/4 − 1/16))/6
    assert bias_bound([2, 2, 0], 2, Fraction(6)) == Fraction(3, 8)
    assert bias_bound([2, 2, 0], 0, 6) == 0


def test_a_logarithm_of_the_norm_fails_on_zero_rows() -> None:
    # The authors' code finds the bin of a row as −⌊log₂ ‖x‖⌋.
    with pytest.raises(OverflowError), np.errstate(divide="ignore"):
        int(np.floor(np.log2(np.linalg.norm(np.zeros((1, 2)), axis=1)))[0])


def test_bins_are_sums_over_chunks() -> None:
    x = unit_rows(np.random.default_rng(0).standard_normal((50, 2)) * 2.0 ** -np.arange(50)[:, None])
    chunks = Chunks(x.shape, lambda: (x[i : i + 7] for i in range(0, 50, 7)))
    np.testing.assert_array_equal(bin_counts(x, 20), bin_counts(chunks, 20))


def excess(x: Matrix, tau: float) -> float:
    """γ(τ) = (1/n) Σ_i (‖x_i‖² − τ²)₊, the bound of Lemma 9 on the bias."""
    return float(np.maximum((x**2).sum(axis=1) - tau**2, 0).mean())


rows_of_many_sizes = st.tuples(SEEDS, st.integers(1, 3))


@PROPERTY
@given(drawn=rows_of_many_sizes, k=st.integers(0, 8))
def test_the_bias_lies_below_its_bound(drawn: tuple[int, int], k: int) -> None:
    rng = np.random.default_rng(drawn[0])
    x = unit_rows(rng.standard_normal((6, drawn[1])) * 2.0 ** rng.integers(-8, 2, size=(6, 1)))
    tau = 2.0**-k
    bias = float(np.linalg.norm(second_moment(x) - tau**2 * second_moment(unit_rows(x, tau))))
    bound = float(bias_bound(list(bin_counts(x, 9)), k, 6))
    assert bias <= excess(x, tau) + 1e-14
    assert excess(x, tau) <= bound + 1e-14
    assert bound <= 4 * excess(x, tau / 2) + 1e-14


def test_the_bias_bound_is_attained_by_parallel_rows() -> None:
    # One row of norm 1 is clipped to ½: its bias 3/4 is both γ and B₁.
    x = np.array([[1.0, 0.0]])
    assert np.linalg.norm(second_moment(x) - second_moment(unit_rows(x, 0.5)) / 4) == 0.75
    assert excess(x, 0.5) == bias_bound([1], 1, 1) == 0.75


@PROPERTY
@given(first=st.floats(0, 1), second=st.floats(0, 1))
def test_the_queries_are_monotone_and_move_by_less_than_one(first: float, second: float) -> None:
    last = 12
    moves = [
        bias_bound(list(bin_counts(np.array([[max(first, second)]]), last)), k, 1)
        - bias_bound(list(bin_counts(np.array([[min(first, second)]]), last)), k, 1)
        for k in range(last + 1)
    ]
    assert min(moves) >= 0
    assert all(move <= 1 - 4.0**-k for k, move in enumerate(moves))


# The search, exactly


def law_of_the_search(queries: list[float], epsilon: float) -> Vector:
    """The exact probabilities P(k* = 0), …, P(k* = m)."""
    b1, b2 = above_threshold.threshold_scale(epsilon), above_threshold.query_scale(epsilon, "paper")
    return probabilities(np.array(queries), 0.0, b1, b2)


QUERIES = {
    "moderate": ([-6.0, -2.0, 1.0, 5.0], [1.0, 1.0, 1.0, 1.0]),
    "first only": ([-6.0, -2.0, 1.0, 5.0], [1.0, 0.0, 0.0, 0.0]),
    "last only": ([8.0, 8.0, 8.0, -9.0], [0.0, 0.0, 0.0, 1.0]),
    "many passed over": ([30.0] * 6 + [-30.0], [1.0] * 6 + [0.0]),
    "even chance": ([0.0] * 5, [1.0, 0.75, 0.5, 0.25, 0.0]),
}


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_loss_of_the_search_lies_in_its_interval(name: str, epsilon: float) -> None:
    queries, moves = QUERIES[name]
    larger = law_of_the_search([q + m for q, m in zip(queries, moves, strict=True)], epsilon)
    smaller = law_of_the_search(queries, epsilon)
    assert larger.sum() == pytest.approx(1, abs=1e-12)
    loss = np.log(larger / smaller)
    # The loss is at most 1/b₂ = ε/4 and at least −(1/b₁ + 1/b₂) = −3ε/4: an interval of length ε.
    assert loss.max() <= epsilon / 4 + 1e-12
    assert loss.min() >= -3 * epsilon / 4 - 1e-12
    for alpha in (1.01, 2.0, 10.0, 100.0):
        for p, q in ((larger, smaller), (smaller, larger)):
            divergence = logsumexp(alpha * np.log(p) + (1 - alpha) * np.log(q)) / (alpha - 1)
            assert divergence <= alpha * search_loss(epsilon) + 1e-12
    assert search_loss(epsilon) == pytest.approx(epsilon**2 / 8)


def test_queries_that_move_both_ways_leave_the_interval() -> None:
    # If bins were counted so that a row can raise one query and lower another, the loss would not stay there.
    epsilon = 2.0
    one = law_of_the_search([30.0] * 6 + [-30.0], epsilon)
    two = law_of_the_search([31.0] * 6 + [-31.0], epsilon)
    assert np.ptp(np.log(one / two)) > 1.1 * epsilon or np.abs(np.log(one / two)).max() > 0.8 * epsilon


def test_the_search_stops_with_its_exact_probabilities() -> None:
    # 40 of 100 rows are in the first bin and ν = 1/4, so Q_k = 100 (B_k − 4^{−k}/4) is −25, 23.75, 35.9375 by hand.
    counts, epsilon, draws = np.array([40.0, 0.0]), 0.1, 3000
    bounds = [noise_bound(k, 0.25) for k in range(3)]
    law = law_of_the_search([-25.0, 40 * 0.75 - 6.25, 40 * 0.9375 - 1.5625], epsilon)
    rng = np.random.default_rng(6)
    levels = [first_level(counts, bounds, 100, above_threshold.draw_noise(3, rng), epsilon) for _ in range(draws)]
    observed = np.bincount(levels, minlength=4)
    for k in range(4):
        tail = stats.binom(draws, law[k])
        assert min(tail.cdf(observed[k]), tail.sf(observed[k] - 1)) > 1e-9
    reversed_law = law[::-1]
    assert any(stats.binom(draws, p).cdf(o) < 1e-9 for p, o in zip(reversed_law, observed, strict=True))


# What is spent


@pytest.mark.parametrize(
    ("dimension", "base", "threshold", "calibration", "share"),
    [
        (2, "separate", "public", "paper", 1),
        (2, "gauss", "public", "tight", 1),
        (2, "separate", "private", "paper", 13 / 16),
        (7, "gauss", "private", "paper", 13 / 16),
        (7, "gauss", "private", "tight", 1),
        (1, "gauss", "public", "paper", 1 / 2),
        (1, "separate", "public", "paper", 1 / 4),
        (1, "gauss", "private", "paper", 1 / 16 + 3 / 8),
        (1, "separate", "private", "tight", 1 / 16 + 15 / 64),
    ],
)
def test_the_spend_is_that_of_the_table(
    dimension: int, base: Any, threshold: Any, calibration: Any, share: float
) -> None:
    for ensemble in ENSEMBLES:
        result = spend(rho=0.8, dimension=dimension, base=base, threshold=threshold, calibration=calibration,
                       ensemble=ensemble)  # fmt: skip
        assert result.claimed == ZCDP(0.8)
        assert isinstance(result.proven, ZCDP)
        assert result.proven.rho == pytest.approx(0.8 * share, rel=1e-14)
        assert result.attained == (threshold == "public")


def test_the_account_holds_in_exact_numbers() -> None:
    rho = Fraction(1)
    assert final_budget(rho, "private", "paper") == Fraction(3, 4)
    assert final_budget(rho, "private", "tight") == Fraction(15, 16)
    assert final_budget(rho, "public", "paper") == 1
    assert search_epsilon(2) == 1
    assert search_loss(Fraction(1)) == Fraction(1, 8)
    assert [clip_level(k) for k in (0, 1, 2, 5)] == [1, 1, 0.5, 0.0625]
