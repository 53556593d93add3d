"""Nuclear-ball projection: known answers, the joint loss of matrix and trace, and the exact law for one feature.

Statistical tests have fixed seeds. With a random seed, each comparison would raise a false alarm with probability at
most 1e-9 (Kolmogorov's p-value, conservative at the atom).
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.mechanisms.parameters import CALIBRATIONS
from covassay.reference.mechanisms.pure.nuclear_ball_projection import (
    NuclearBallProjectionNoise,
    draw_noise,
    matrix_scale,
    privacy_loss,
    release,
    sample,
    spend,
    trace_scale,
)
from covassay.reference.privacy import PureDP
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix

PROPERTY = settings(max_examples=60)
EYE = np.eye(2)  # as data: n = 2, Σ = I/2, 2 tr Σ = 2


# Known answers


def test_the_paper_calibration_agrees_with_a_hand_calculation() -> None:
    # ε = .5, n = 2: ρ = 4, b = 10. Σ̂ = I/2 + 4 Z = [[0, 3], [−1, 0]], singular values 3 and 1;
    # r = 2 + 10 · 0 = 2: θ = 1 leaves (2, 0)
    z = np.array([[-0.125, 0.75], [-0.25, -0.125]])
    np.testing.assert_allclose(
        release(EYE, NuclearBallProjectionNoise(z, 0.0), epsilon=0.5), [[0, 2], [0, 0]], atol=1e-15
    )
    # L = −.1: r = 1, θ = 2 leaves (1, 0); L = .3: r = 5 leaves everything
    np.testing.assert_allclose(
        release(EYE, NuclearBallProjectionNoise(z, -0.1), epsilon=0.5), [[0, 1], [0, 0]], atol=1e-15
    )
    np.testing.assert_allclose(
        release(EYE, NuclearBallProjectionNoise(z, 0.3), epsilon=0.5), [[0, 3], [-1, 0]], atol=1e-14
    )


def test_the_tight_calibration_agrees_with_a_hand_calculation() -> None:
    # ρ = 2, b = 4. Σ̂ = I/2 + 2 Z = diag(2.5, 1.5); L = −.25: r = 1: θ = 1.5 leaves (1, 0)
    z = np.diag([1.0, 0.5])
    got = release(EYE, NuclearBallProjectionNoise(z, -0.25), epsilon=0.5, calibration="tight")
    np.testing.assert_allclose(got, [[1, 0], [0, 0]], atol=1e-15)
    got = release(EYE, NuclearBallProjectionNoise(z, 0.0), epsilon=0.5, calibration="tight")  # r = 2: θ = 1
    np.testing.assert_allclose(got, [[1.5, 0], [0, 0.5]], atol=1e-15)


def test_the_release_is_in_the_unit_of_the_data_squared() -> None:
    z = np.array([[-0.125, 0.75], [-0.25, -0.125]])
    got = release(10 * EYE, NuclearBallProjectionNoise(z, -0.1), epsilon=0.5, row_bound=10)
    np.testing.assert_allclose(got, [[0, 100], [0, 0]], atol=1e-12)


@pytest.mark.parametrize("trace", [-0.2, -0.21, -50.0])
def test_a_noisy_radius_of_zero_or_less_gives_the_zero_matrix(trace: float) -> None:
    # 2 + 10 · (−.2) = 0
    np.testing.assert_array_equal(
        release(EYE, NuclearBallProjectionNoise(np.ones((2, 2)), trace), epsilon=0.5), np.zeros((2, 2))
    )


def test_one_number_agrees_with_a_hand_calculation() -> None:
    # n = d = 1, x = 1/2, ε = 2, paper: ρ = 2, b = 5; Σ̂ = .25 + 2 (−3) = −5.75, r = .5 + 5/2 = 3: clipped to −3
    np.testing.assert_allclose(
        release([[0.5]], NuclearBallProjectionNoise(np.array([[-3.0]]), 0.5), epsilon=2), [[-3]], rtol=1e-15
    )


def test_without_noise_the_second_moment_is_inside_its_ball() -> None:
    none = NuclearBallProjectionNoise(np.zeros((2, 2)), 0.0)
    np.testing.assert_array_equal(release(np.zeros((3, 2)), none, epsilon=1), np.zeros((2, 2)))
    x = np.array([[0.6, 0.8], [1.0, 0.0]])
    np.testing.assert_allclose(release(x, none, epsilon=1), [[0.68, 0.24], [0.24, 0.32]], rtol=1e-13)


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 4), trace=st.floats(-1, 1))
def test_the_release_has_the_noisy_nuclear_norm_at_most(seed: int, d: int, trace: float) -> None:
    rng = np.random.default_rng(seed)
    x = unit_rows(rng.standard_normal((5, d)))
    got = release(x, NuclearBallProjectionNoise(rng.standard_normal((d, d)), trace), epsilon=1)
    radius = max(0.0, 2 * float((x**2).sum()) / 5 + 2 * trace)
    assert np.linalg.svd(got, compute_uv=False).sum() <= radius * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        pytest.param(
            NuclearBallProjectionNoise(np.zeros((3, 3)), 0.0), r"noise.matrix of shape \(3, 3\)", id="matrix too large"
        ),
        pytest.param(
            NuclearBallProjectionNoise(np.zeros((1, 1)), 0.0), r"noise.matrix of shape \(1, 1\)", id="would broadcast"
        ),
        pytest.param(
            NuclearBallProjectionNoise(np.full((2, 2), math.nan), 0.0), "noise.matrix contains", id="NaN in the matrix"
        ),
        pytest.param(
            NuclearBallProjectionNoise(np.zeros((2, 2)), math.nan), "noise.trace = nan", id="NaN for the trace"
        ),
        pytest.param(
            NuclearBallProjectionNoise(np.zeros((2, 2)), -math.inf), "noise.trace = -inf", id="infinite trace"
        ),
    ],
)
def test_bad_noise_is_refused(noise: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        release(EYE, noise, epsilon=1)


# Formulas and what they spend


def test_the_scales_run_on_fractions_and_symbols() -> None:
    half = Fraction(1, 2)
    assert [matrix_scale(2, half, c) for c in CALIBRATIONS] == [4, 2]
    assert [trace_scale(2, half, c) for c in CALIBRATIONS] == [10, 4]
    n, epsilon = sympy.symbols("n epsilon", positive=True)
    assert matrix_scale(n, epsilon, "paper") == 4 / (n * epsilon)
    assert trace_scale(n, epsilon, "tight") == 4 / (n * epsilon)


@pytest.mark.parametrize(
    ("s", "t", "paper", "tight"),
    [
        # shares of ε: paper (s + t)/4 + |s − t|/5, tight (s + t)/2 + |s − t|/2 = max(s, t)
        (1, 1, Fraction(1, 2), Fraction(1)),
        (1, 0, Fraction(9, 20), Fraction(1)),
        (0, 1, Fraction(9, 20), Fraction(1)),
        (Fraction(1, 2), Fraction(1, 4), Fraction(19, 80), Fraction(1, 2)),
        (0, 0, 0, 0),
    ],
)
def test_the_joint_loss_of_a_pair_agrees_with_a_hand_calculation(
    s: Any, t: Any, paper: Fraction, tight: Fraction
) -> None:
    n, epsilon = 7, Fraction(3, 10)
    for calibration, share in (("paper", paper), ("tight", tight)):
        rho, b = matrix_scale(n, epsilon, calibration), trace_scale(n, epsilon, calibration)
        assert privacy_loss(s, t, n, rho, b) == share * epsilon


unit_fractions = st.fractions(0, 1, max_denominator=50)


@pytest.mark.parametrize(("calibration", "share"), [("paper", Fraction(1, 2)), ("tight", Fraction(1))])
@PROPERTY
@given(s=unit_fractions, t=unit_fractions)
def test_no_pair_of_rows_spends_more_than_the_extreme_ones(
    calibration: str, share: Fraction, s: Fraction, t: Fraction
) -> None:
    rho, b = matrix_scale(1, Fraction(1), calibration), trace_scale(1, Fraction(1), calibration)
    assert privacy_loss(s, t, 1, rho, b) <= share


@pytest.mark.parametrize(
    ("dimension", "calibration", "proven"),
    [
        # d ≥ 2: ε/2 by (1, 1), more than ε/4 + ε/5 by (1, 0); tight: ε by both.
        # d = 1: ‖Δ‖_* = |s − t|, so (1, 1) costs nothing: ε/4 + ε/5 and ε/2 + ε/2 by (1, 0)
        (1, "paper", 0.45),
        (2, "paper", 0.5),
        (9, "paper", 0.5),
        (1, "tight", 1.0),
        (2, "tight", 1.0),
        (9, "tight", 1.0),
    ],
)
def test_the_spend_is_that_of_the_table(dimension: int, calibration: Any, proven: float) -> None:
    result = spend(epsilon=2.0, dimension=dimension, calibration=calibration)
    assert result.claimed == PureDP(2.0)
    assert result.proven.epsilon == pytest.approx(2 * proven, rel=1e-15)  # type: ignore[union-attr]
    assert result.attained
    assert "pair" in result.remark


def test_the_default_is_the_paper() -> None:
    assert spend(epsilon=1, dimension=3) == spend(epsilon=1, dimension=3, calibration="paper")
    z = NuclearBallProjectionNoise(np.ones((2, 2)), 0.5)
    np.testing.assert_array_equal(release(EYE, z, epsilon=1), release(EYE, z, epsilon=1, calibration="paper"))


# Privacy: the loss of the pair (Σ̂, r), from the densities


def radius_log_density(r: float, centre: float, b: float) -> float:
    """The law of max(0, centre + b L): the density for r > 0, the probability of the atom at 0."""
    return float(stats.laplace.logcdf(0, centre, b) if r == 0 else stats.laplace.logpdf(r, centre, b))


def pair_loss(sigma: Matrix, other: Matrix, y: Matrix, r: float, rho: float, b: float) -> float:
    matrix = float(law.log_density((y - sigma) / rho) - law.log_density((y - other) / rho))
    traces = 2 * float(np.trace(sigma)), 2 * float(np.trace(other))
    return matrix + radius_log_density(r, traces[0], b) - radius_log_density(r, traces[1], b)


@pytest.mark.parametrize("calibration", CALIBRATIONS)
@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 4), n=st.integers(1, 4))
def test_the_loss_of_the_pair_never_exceeds_what_is_proven(calibration: Any, seed: int, d: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    data = unit_rows(rng.standard_normal((n, d)))
    other = data.copy()
    other[0] = rng.choice([0.0, 0.5, 1.0]) * unit_rows(rng.standard_normal((1, d)))[0]
    sigma, sigma_other = second_moment(data), second_moment(other)
    y = sigma + rng.choice([-0.1, 0.0, 1.0]) * (sigma_other - sigma) + rng.choice([0.0, 1.0]) * rng.normal(size=(d, d))
    r = max(0.0, 2 * float(np.trace(sigma)) + rng.choice([0.0, 1.0]) * rng.normal())
    rho, b = matrix_scale(n, 0.7, calibration), trace_scale(n, 0.7, calibration)
    loss = pair_loss(sigma, sigma_other, y, r, rho, b)
    proven = spend(epsilon=0.7, dimension=d, calibration=calibration).proven
    assert loss <= proven.epsilon + 1e-9  # type: ignore[union-attr]
    s, t = (float((rows[0] ** 2).sum()) for rows in (data, other))
    assert loss <= privacy_loss(s, t, n, rho, b) + 1e-9


Scales = Callable[[int, float], tuple[float, float]]


def worst_pair_loss(scales: Scales, d: int) -> float:
    """At Y = Σ and r = 2 tr Σ, over the extreme pairs (e₁, e₂) and (e₁, 0) and their exchange; n = 3, ε = .7."""
    rows = np.eye(max(d, 2))[:, :d]
    rest = unit_rows(np.random.default_rng(1).standard_normal((2, d)))
    losses = []
    for first, second in ((rows[0], rows[1]), (rows[0], 0 * rows[0]), (0 * rows[0], rows[0])):
        sigma, other = (second_moment(np.vstack([rest, row])) for row in (first, second))
        losses.append(pair_loss(sigma, other, sigma, 2 * float(np.trace(sigma)), *scales(3, 0.7)))
    return max(losses) / 0.7


@pytest.mark.parametrize(
    ("scales", "shares"),
    [
        pytest.param(lambda n, e: (4 / (n * e), 10 / (n * e)), {1: 0.45, 2: 0.5, 3: 0.5}, id="paper"),
        pytest.param(lambda n, e: (2 / (n * e), 4 / (n * e)), {1: 1.0, 2: 1.0, 3: 1.0}, id="tight"),
        # mutants: more than ε, so a test that attains the loss refutes them
        pytest.param(lambda n, e: (2 / (n * e), 2 / (n * e)), {1: 1.5, 2: 1.5, 3: 1.5}, id="trace scale halved"),
        pytest.param(lambda n, e: (1 / (n * e), 4 / (n * e)), {1: 1.5, 2: 2.0, 3: 2.0}, id="matrix scale halved"),
        pytest.param(lambda n, e: (2 / (n * e), 10 / (n * e)), {1: 0.7, 2: 1.0, 3: 1.0}, id="tight with the old trace"),
    ],
)
def test_the_loss_of_the_pair_is_attained(scales: Scales, shares: dict[int, float]) -> None:
    assert {d: worst_pair_loss(scales, d) for d in shares} == pytest.approx(shares, rel=1e-9)


@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_the_spend_is_the_attained_loss(calibration: Any) -> None:
    def scales(n: int, e: float) -> tuple[float, float]:
        return matrix_scale(n, e, calibration), trace_scale(n, e, calibration)

    for d in (1, 2, 4):
        proven = spend(epsilon=1.0, dimension=d, calibration=calibration).proven
        assert worst_pair_loss(scales, d) == pytest.approx(proven.epsilon, rel=1e-9)  # type: ignore[union-attr]


# The draws


def test_the_noise_is_drawn_matrix_first() -> None:
    noise = draw_noise(3, np.random.default_rng(6))
    rng = np.random.default_rng(6)
    np.testing.assert_array_equal(noise.matrix, law.sample(3, rng))
    assert noise.trace == rng.laplace()
    drawn = sample(np.eye(3), np.random.default_rng(6), epsilon=1)
    np.testing.assert_array_equal(drawn, release(np.eye(3), noise, epsilon=1))


def one_feature_cdf(sigma: float, rho: float, b: float) -> Callable[[Matrix], Matrix]:
    """Y = clip(Σ̂, −r, r): Y ≤ y < 0 iff Σ̂ ≤ y and r ≥ −y; Y > y ≥ 0 iff Σ̂ > y and r > y."""

    def cdf(y: Matrix) -> Matrix:
        y = np.asarray(y)
        below = stats.laplace.cdf(y, sigma, rho) * stats.laplace.sf(-y, 2 * sigma, b)
        above = stats.laplace.sf(y, sigma, rho) * stats.laplace.sf(y, 2 * sigma, b)
        return np.where(y < 0, below, 1 - above)

    return cdf


@pytest.mark.thorough
@pytest.mark.parametrize(("calibration", "rho", "b"), [("paper", 2.0, 5.0), ("tight", 1.0, 2.0)])
def test_for_one_feature_the_release_has_its_exact_law(calibration: Any, rho: float, b: float) -> None:
    # n = 4, ε = .5: ρ = 4/(nε) = 2, b = 10/(nε) = 5; tight 1 and 2. Σ = 1/4. An atom at 0, where r = 0.
    rng = np.random.default_rng(12)
    noise = [
        NuclearBallProjectionNoise(z, float(trace))
        for z, trace in zip(law.sample(1, rng, 4000), rng.laplace(size=4000), strict=True)
    ]
    x = np.full((4, 1), 0.5)
    draws = [float(release(x, z, epsilon=0.5, calibration=calibration)[0, 0]) for z in noise]
    exact = kolmogorov_smirnov(np.array(draws), one_feature_cdf(0.25, rho, b), "exact")
    assert exact.p_value > FALSE_ALARM
    for wrong in (one_feature_cdf(0.25, rho / 2, b), one_feature_cdf(0.25, rho, b / 10)):
        assert kolmogorov_smirnov(np.array(draws), wrong, "mutant").p_value < FALSE_ALARM
