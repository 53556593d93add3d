"""AdaptiveCov, pure: known answers, the bias bound, what the search spends from its exact law, the sum of the steps."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference import tails
from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.building_blocks import above_threshold, private_radius
from covassay.reference.mechanisms.concentrated.clipped_cov import bias_bound, clip_level, last_level
from covassay.reference.mechanisms.parameters import CALIBRATIONS
from covassay.reference.mechanisms.pure import adaptive_cov_pure, lap_cov, separate_cov_pure
from covassay.reference.privacy import PureDP
from covassay.reference.sensitivity import block_pair
from covassay.verification.exact.above_threshold import log_probabilities
from tests.conventions import SEEDS, Vector

RADII = adaptive_cov_pure.MECHANISM.choices["radius"]
PROPERTY = settings(max_examples=60)
FAR = 1e9


def scripted(
    n: int, d: int, stop: int, radius: int = 0, matrix: Any = None, eigenvalues: Any = None
) -> adaptive_cov_pure.AdaptiveCovPureNoise:
    """Noise under which the search stops at `stop`, the radius is the one at `radius`, and the trace is exact."""

    def at(position: int, length: int) -> above_threshold.AboveThresholdNoise:
        queries = np.full(length, -FAR)
        queries[position : position + 1] = FAR
        return above_threshold.AboveThresholdNoise(0.0, queries)

    levels = len(private_radius.public_radii(private_radius.PRECISION))
    return adaptive_cov_pure.AdaptiveCovPureNoise(
        at(radius, levels),
        0.0,
        at(stop, last_level(n, d) + 1),
        np.zeros((d, d)) if matrix is None else np.array(matrix),
        np.zeros(d) if eigenvalues is None else np.array(eigenvalues),
    )


# The parts by hand


def test_the_noise_level_agrees_with_a_hand_calculation() -> None:
    assert adaptive_cov_pure.noise_level(1, 8, 1, 4) == 1.5  # min(8/4, 1/2 + 4/4)
    assert adaptive_cov_pure.noise_level(0, 8, 5, 4) == 8


def test_the_budget_is_divided_among_the_steps_as_stated() -> None:
    e = Fraction(8)
    assert adaptive_cov_pure.step_epsilon(e) == 1
    assert [adaptive_cov_pure.final_epsilon(e, r) for r in RADII] == [6, 5]
    # the paper's AboveThreshold at ε/8 = 1: 2 and 4; tight: twice 8/ε = 1
    assert adaptive_cov_pure.search_scales(adaptive_cov_pure.search_epsilon(e, "paper"), "paper") == (2, 4)
    assert adaptive_cov_pure.search_scales(adaptive_cov_pure.search_epsilon(e, "tight"), "tight") == (1, 1)


def test_the_bounds_of_the_noise_are_those_of_the_two_mechanisms() -> None:
    n, d, epsilon, beta = 100, 3, 0.7, 0.1
    assert adaptive_cov_pure.lap_bound(n, d, epsilon, beta, "paper") == pytest.approx(
        math.sqrt(2) * d * tails.omega_laplace(d, beta) / (epsilon * n), rel=1e-14
    )
    for calibration in CALIBRATIONS:
        a, e = adaptive_cov_pure.separate_bounds(n, d, epsilon, 0.3, beta, calibration)
        whole = separate_cov_pure.likely_error(n, d, epsilon, 0.3, beta, calibration)
        assert a + e == pytest.approx(whole, rel=1e-14)
    assert all(math.isfinite(v) for v in adaptive_cov_pure.separate_bounds(5, 1, 1.0, 0.5, 0.1, "paper"))


# The release


def test_the_release_without_noise_is_the_second_moment_of_the_clipped_rows() -> None:
    x = np.array([[1.0, 0.0], [0.0, 0.25], [0.3, 0.4]])
    for stop, tau in ((0, 1.0), (1, 1.0), (2, 0.5), (3, 0.25)):
        got = adaptive_cov_pure.release(x, scripted(3, 2, stop), epsilon=1)
        np.testing.assert_allclose(got, second_moment(unit_rows(x, tau)) * tau**2, atol=1e-15)
    # a search that never stops: K = 6, so τ = 2^{1 − 7}
    never = scripted(3, 2, 99)
    np.testing.assert_allclose(
        adaptive_cov_pure.release(x, never, epsilon=1), second_moment(unit_rows(x, 2**-6)) * 2**-12, atol=1e-15
    )


def test_the_private_radius_clips_first() -> None:
    x = np.array([[1.0, 0.0], [0.0, 0.1]])
    radii = private_radius.public_radii(private_radius.PRECISION)
    position = int(np.flatnonzero(radii == 0.125)[0])
    got = adaptive_cov_pure.release(x, scripted(2, 2, 2, radius=position), epsilon=1, radius="private")
    # radius 1/8, then τ = 1/2 of it: rows clipped to 1/16
    np.testing.assert_allclose(got, np.eye(2) / 2 / 256, rtol=1e-14)
    # without a radius step its noise is not used
    np.testing.assert_allclose(
        adaptive_cov_pure.release(x, scripted(2, 2, 2, radius=position), epsilon=1), np.diag([0.125, 0.005])
    )


def chosen(n: int, d: int, k: int, epsilon: float, upper: float) -> str:
    """Which mechanism has the smaller bound at 2^{−k}."""
    g = adaptive_cov_pure.lap_bound(n, d, epsilon, 0.075, "paper")
    a, e = adaptive_cov_pure.separate_bounds(n, d, epsilon, upper, 0.075, "paper")
    return "lap" if a / 2**k + e / 4**k >= g / 4**k else "separate"


@pytest.mark.parametrize(("trace", "stop", "expected"), [(1.0, 9, "lap"), (-FAR, 1, "separate")])
def test_the_final_step_is_the_mechanism_with_the_smaller_bound(trace: float, stop: int, expected: str) -> None:
    d, n = 20, 10**5
    x = np.zeros((n, d))
    x[0, 0] = 1.0
    rng = np.random.default_rng(0)
    noise = adaptive_cov_pure.draw_noise(d, rng, n, 0.5)
    script = scripted(n, d, stop, matrix=noise.matrix, eigenvalues=noise.eigenvalues)
    script = adaptive_cov_pure.AdaptiveCovPureNoise(
        script.radius, trace, script.search, script.matrix, script.eigenvalues
    )
    epsilon, tau = 0.75 * 8, clip_level(stop)
    upper = 1e-16 if trace < 0 else 1e-5 + 1e-5 * (1 + math.log(40))  # 8/(nε) (1 + ln(4/β))
    assert chosen(n, d, stop, epsilon, upper) == expected
    clipped = unit_rows(x, tau)
    if expected == "lap":
        inner = lap_cov.release(clipped, script.matrix, epsilon=epsilon)
        values, vectors = np.linalg.eigh(inner)
        inner = (vectors * np.clip(values, 0, 1)) @ vectors.T
    else:
        inner = separate_cov_pure.release(
            clipped, separate_cov_pure.SeparateCovPureNoise(script.matrix, script.eigenvalues), epsilon=epsilon
        )
    np.testing.assert_allclose(adaptive_cov_pure.release(x, script, epsilon=8.0), tau**2 * inner, atol=1e-14 * tau**2)


@pytest.mark.thorough
@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 4), n=st.integers(1, 8), radius=st.sampled_from(RADII))
def test_the_release_is_positive_semidefinite_and_small(seed: int, d: int, n: int, radius: Any) -> None:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d)) * rng.choice([0.0, 1e-3, 1.0], size=(n, 1))
    for calibration in CALIBRATIONS:
        got = adaptive_cov_pure.sample(x, rng, epsilon=0.5, radius=radius, calibration=calibration)  # type: ignore[arg-type]
        assert np.linalg.eigvalsh(got).min() >= -1e-12
        assert np.linalg.eigvalsh(got).max() <= 1 + 1e-12


@pytest.mark.parametrize(
    ("option", "value"),
    [("radius", "Private"), ("radius", ""), ("beta", 0), ("beta", 1.0), ("beta", math.nan), ("precision", 0),
     ("precision", 1.5), ("precision", 1e-200)],
)  # fmt: skip
def test_a_bad_option_is_refused(option: str, value: Any) -> None:
    x = np.array([[0.5, 0.0]])
    with pytest.raises(InvalidInput, match=f"^{option} = "):
        adaptive_cov_pure.release(x, scripted(1, 2, 0), **{"epsilon": 1.0, option: value})


def test_the_noise_is_what_release_takes() -> None:
    x = np.random.default_rng(0).standard_normal((9, 3))
    for radius in RADII:
        noise = adaptive_cov_pure.draw_noise(3, np.random.default_rng(6), 9)
        drawn = adaptive_cov_pure.sample(x, np.random.default_rng(6), epsilon=1, radius=radius)
        np.testing.assert_array_equal(drawn, adaptive_cov_pure.release(x, noise, epsilon=1, radius=radius))
    assert len(adaptive_cov_pure.draw_noise(3, np.random.default_rng(6), 9, 0.25).radius.queries) == 3  # 1/4, 1/2, 1
    assert len(noise.search.queries) == 28  # K = nd = 27
    assert last_level(1000, 1000) == 79


# What the search spends


def changes(u: int, v: int, last: int) -> Vector:
    """D_0, …, D_K when a row of level u, 2^{−u} < ‖x‖ ≤ 2^{1−u}, replaces one of level v (level 0: a zero row)."""
    one, two = ([float(j == level) for j in range(1, last + 1)] for level in (u, v))
    return np.array([bias_bound(one, k, 1) - bias_bound(two, k, 1) for k in range(last + 1)])


@PROPERTY
@given(u=st.integers(0, 12), v=st.integers(0, 12))
def test_the_changes_have_one_sign_are_below_one_and_do_not_decrease(u: int, v: int) -> None:
    moved = changes(u, v, 10)
    sign = 1 if moved[-1] >= 0 else -1
    assert (sign * np.diff(moved) >= -1e-15).all()
    assert (sign * moved >= 0).all()
    assert np.abs(moved).max() < 1


def search_losses(queries: Vector, moved: Vector, b1: float, b2: float) -> tuple[float, float]:
    """The largest loss over the outputs of the queries against the moved queries, and in the other direction."""
    ratio = log_probabilities(queries, 0.0, b1, b2) - log_probabilities(queries + moved, 0.0, b1, b2)
    return float(ratio.max()), float((-ratio).max())


@pytest.mark.thorough
@PROPERTY
@given(seed=SEEDS, u=st.integers(0, 6), v=st.integers(0, 6), calibration=st.sampled_from(CALIBRATIONS))
def test_the_search_spends_at_most_what_is_stated(seed: int, u: int, v: int, calibration: Any) -> None:
    rng = np.random.default_rng(seed)
    queries = rng.normal(size=6) * rng.choice([0.1, 3.0, 20.0]) + rng.choice([-10.0, 0.0, 10.0])
    b1, b2 = adaptive_cov_pure.search_scales(
        adaptive_cov_pure.search_epsilon(8.0, calibration), calibration
    )  # the share is 1
    assert max(search_losses(queries, changes(u, v, 5), b1, b2)) <= adaptive_cov_pure.search_loss(b1, b2) + 1e-9


@pytest.mark.parametrize(("calibration", "rising", "falling"), [("paper", 0.5, 0.25), ("tight", 1.0, 1.0)])
def test_what_the_search_spends_is_approached(calibration: Any, rising: float, falling: float) -> None:
    # A row of length 1 replaces one of length 0. Rising queries that were far above the threshold, from the fifth on,
    # are passed over only if the threshold is raised. With falling queries far below it, only a raised query stops the
    # search.
    b1, b2 = adaptive_cov_pure.search_scales(adaptive_cov_pure.search_epsilon(8.0, calibration), calibration)
    moved = changes(1, 0, 11)
    up, _ = search_losses(np.full(12, -40.0), -moved, b1, b2)  # loss of the higher against the lower, far below
    high, low = search_losses(np.repeat([-40.0, 25.0], [4, 8]), moved, b1, b2)
    assert up == pytest.approx(falling, abs=0.03)
    assert max(high, low) == pytest.approx(rising, abs=0.03)
    assert max(up, high, low) <= adaptive_cov_pure.search_loss(b1, b2) + 1e-9


@pytest.mark.parametrize(
    ("scales", "moved"),
    [
        pytest.param((2.0, 4.0), np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.0]), id="monotone queries that fall back"),
        pytest.param((1.0, 1.0), np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.0]), id="the same, tight"),
        pytest.param((4.0, 4.0), 2 * np.arange(6) / 5, id="sensitivity 2"),
    ],
)
def test_other_queries_spend_more(scales: tuple[float, float], moved: Vector) -> None:
    queries = np.array([25.0] * 5 + [-25.0])
    losses = [max(search_losses(q, moved, *scales)) for q in (queries, np.full(6, 25.0), np.full(6, -40.0))]
    assert max(losses) > adaptive_cov_pure.search_loss(*scales) * 1.2


# What is spent


@pytest.mark.parametrize(
    ("dimension", "radius", "calibration", "proven"),
    [
        # trace 1/8, search 1/16, radius 3/32; final f ε₁, f = .8952847 (d = 2), .8186887 (4), 1/√2 (1, LapCov)
        (1, "none", "paper", 0.1875 + 0.75 * 0.7071067811865476),
        (2, "none", "paper", 0.1875 + 0.75 * 0.8952847075210475),
        (4, "none", "paper", 0.1875 + 0.75 * 0.8186887195995491),
        (2, "private", "paper", 0.28125 + 0.625 * 0.8952847075210475),
        (1, "none", "tight", 1.0),
        (2, "none", "tight", 1.0),
        (7, "private", "tight", 1.0),
    ],
)
def test_the_spend_is_that_of_the_table(dimension: int, radius: Any, calibration: Any, proven: float) -> None:
    result = adaptive_cov_pure.spend(epsilon=2.0, dimension=dimension, radius=radius, calibration=calibration)
    assert result.claimed == PureDP(2.0)
    assert result.proven.epsilon == pytest.approx(2 * proven, rel=1e-12)  # type: ignore[union-attr]
    assert result.attained is ((radius, calibration) == ("none", "tight"))
    if (radius, calibration) == ("none", "paper"):
        assert adaptive_cov_pure.spend(epsilon=2.0, dimension=dimension) == result  # the defaults


def worst_total(d: int, trace_epsilon: float, b1: float, b2: float, final: float, calibration: Any) -> float:
    """x of length 1 against y of length 2^{−6} (0 for one number): the losses of trace, search and final step together.

    All queries lie far below the threshold and the search stops at k = 7: τ = 2^{−6}, so that both rows get length 1.
    """
    level, length = (0, 0.0) if d == 1 else (7, 2.0**-6)  # 2^{−7} < ‖y‖ ≤ 2^{−6}
    x, y = block_pair(d)
    y = length * y
    trace = trace_epsilon * (1 - length**2)
    low = np.full(8, -40 * b2)
    search = log_probabilities(low + changes(1, level, 7), 0.0, b1, b2)[7] - log_probabilities(low, 0.0, b1, b2)[7]
    sigma, other = (second_moment(unit_rows(row[None], clip_level(7))) for row in (x, y))
    b = lap_cov.noise_scale(1, d, final, calibration)
    return (
        trace
        + search
        + float(np.triu(stats.laplace.logpdf(sigma, sigma, b) - stats.laplace.logpdf(sigma, other, b)).sum())
    )


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_tight_spend_is_approached_by_one_pair(d: int) -> None:
    scales = adaptive_cov_pure.search_scales(adaptive_cov_pure.search_epsilon(0.8, "tight"), "tight")
    total = worst_total(
        d, adaptive_cov_pure.step_epsilon(0.8), *scales, adaptive_cov_pure.final_epsilon(0.8, "none"), "tight"
    )
    proven = adaptive_cov_pure.spend(epsilon=0.8, dimension=d, calibration="tight").proven.epsilon  # type: ignore[union-attr]
    assert 0.99 * proven < total <= proven + 1e-9
    paper = worst_total(
        d,
        adaptive_cov_pure.step_epsilon(0.8),
        *adaptive_cov_pure.search_scales(0.1, "paper"),
        adaptive_cov_pure.final_epsilon(0.8, "none"),
        "paper",
    )
    assert paper <= adaptive_cov_pure.spend(epsilon=0.8, dimension=d).proven.epsilon  # type: ignore[union-attr]
    # The steps do not exclude one another: one pair pays for the trace, the final step, and a search with falling
    # queries.
    joint = (
        0.1
        + 1 / adaptive_cov_pure.search_scales(0.1, "paper")[1]
        + 0.6 * lap_cov.spend(epsilon=1.0, dimension=d).proven.epsilon
    )  # type: ignore[union-attr]
    assert paper == pytest.approx(joint, rel=0.01)


@pytest.mark.parametrize("d", [1, 2, 10])
def test_the_queries_of_real_data_cost_their_bound_only_when_they_rise(d: int) -> None:
    # The queries of a data set: many rows of length 1, and one of length 1 or 0. The search costs less when the long
    # row is in the first data set, and only then the radius step costs its full share. So with a radius step the sum of
    # the shares is only an upper bound.
    n, last, epsilon = 10**6, 40, 8.0
    final = adaptive_cov_pure.final_epsilon(epsilon, "private")
    g = adaptive_cov_pure.lap_bound(n, d, final, 0.075, "tight")
    a, e = adaptive_cov_pure.separate_bounds(n, d, final, 1.0, 0.075, "tight")
    scales = adaptive_cov_pure.search_scales(
        adaptive_cov_pure.search_epsilon(epsilon, "tight"), "tight"
    )  # 1 and 1: the step's share is 1
    rising, falling = 0.0, 0.0
    for long_rows in (0, 1, 3, 10, 30, 100, 1000):
        counts = [float(long_rows)] + [0.0] * (last - 1)
        queries = np.array(
            [n * (bias_bound(counts, k, n) - adaptive_cov_pure.noise_level(k, g, a, e)) for k in range(last + 1)]
        )
        up, down = search_losses(queries, changes(1, 0, last), *scales)
        rising, falling = max(rising, up), max(falling, down)
    assert 0.999 < rising <= 1 + 1e-9
    assert falling < 0.9


@pytest.mark.parametrize(
    ("trace", "search", "final"),
    [
        pytest.param(0.1, 0.2, 0.8, id="the final step at the whole ε"),
        pytest.param(0.1, 0.4, 0.6, id="AboveThreshold told four times its share"),
        pytest.param(0.8, 0.2, 0.6, id="the trace at the whole ε"),
    ],
)
def test_other_divisions_exceed_epsilon(trace: float, search: float, final: float) -> None:
    for d in (1, 2, 3):
        assert worst_total(d, trace, *adaptive_cov_pure.search_scales(search, "tight"), final, "tight") > 0.8 * 1.05
