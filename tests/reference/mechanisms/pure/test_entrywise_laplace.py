"""Entrywise Laplace noise: known answers, the loss from exact densities, the law of the noise.

Statistical tests have fixed seeds. With a random seed, each comparison would raise a false alarm with probability at
most 1e-9 (Kolmogorov's exact p-value, Fisher's exact test).
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.parameters import CALIBRATIONS
from covassay.reference.mechanisms.pure.entrywise_laplace import (
    MECHANISM,
    draw_noise,
    largest_entry,
    mean_squared_error,
    noise_scale,
    privacy_loss,
    release,
    sample,
    spend,
)
from covassay.reference.privacy import PureDP
from covassay.reference.sensitivity import block_pair, hadamard_pair, neighbours
from covassay.verification.statistics.tests import independence, kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix

ENTRIES = MECHANISM.choices["entries"]

X = np.array([[1.0, 0.0], [0.0, 0.5]])  # n = 2, Σ = diag(1/2, 1/8)


# Known answers


@pytest.mark.parametrize(
    ("entries", "calibration", "b"),
    [
        # n ε = 1: 2d = 4; √2 d = 2.828427; ½√(4² + 4) = 2.236068
        ("full", "paper", 4.0),
        ("triangle", "paper", 4.0),
        ("full", "tight", 2.8284271247461903),
        ("triangle", "tight", 2.23606797749979),
    ],
)
def test_the_release_agrees_with_a_hand_calculation(entries: Any, calibration: Any, b: float) -> None:
    z = np.array([[0.25, -0.5], [-0.5, 1.0]])
    got = release(X, z, epsilon=0.5, entries=entries, calibration=calibration)
    np.testing.assert_allclose(got, [[0.5 + b / 4, -b / 2], [-b / 2, 0.125 + b]], rtol=1e-14)
    np.testing.assert_allclose(
        release(10 * X, z, epsilon=0.5, entries=entries, calibration=calibration, row_bound=10), 100 * got, rtol=1e-14
    )


def test_full_noise_is_added_to_every_entry() -> None:
    got = release(X, np.array([[0.25, -0.5], [1.0, 0.0]]), epsilon=0.5)
    np.testing.assert_allclose(got, [[1.5, -2], [4, 0.125]], rtol=1e-14)


@pytest.mark.parametrize(("entries", "calibration", "b"), [("full", "paper", 8.0), ("triangle", "tight", 4.0)])
def test_one_number_agrees_with_a_hand_calculation(entries: Any, calibration: Any, b: float) -> None:
    # n = d = 1, x = 1/2, ε = 1/4: 2/ε = 8, and 1/ε = 4 because one number moves by at most 1
    got = release([[0.5]], np.array([[3.0]]), epsilon=0.25, entries=entries, calibration=calibration)
    np.testing.assert_allclose(got, [[0.25 + 3 * b]], rtol=1e-15)


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        pytest.param(np.zeros((3, 3)), r"noise of shape \(3, 3\)", id="too large"),
        pytest.param(np.zeros((1, 1)), r"noise of shape \(1, 1\)", id="would broadcast"),
        pytest.param(np.zeros(3), r"noise of shape \(3,\)", id="the triangle as a vector"),
        pytest.param(np.full((2, 2), math.nan), "noise contains", id="NaN"),
        pytest.param(np.array([[0.0, 1.0], [2.0, 0.0]]), "noise is not symmetric", id="not symmetric"),
    ],
)
def test_bad_noise_is_refused(noise: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        release(X, noise, epsilon=1, entries="triangle")


@pytest.mark.parametrize("entries", ["Full", "", "upper", None])
def test_unknown_entries_are_refused(entries: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^entries = "):
        release(X, np.zeros((2, 2)), epsilon=1, entries=entries)
    with pytest.raises(InvalidInput, match=r"^entries = "):
        spend(epsilon=1, dimension=2, entries=entries)


# Formulas


def test_the_formulas_run_on_fractions_symbols_and_high_precision_numbers() -> None:
    assert noise_scale(7, 3, Fraction(1, 2), "full", "paper") == Fraction(12, 7)
    assert privacy_loss(Fraction(3), 7, Fraction(12, 7)) == Fraction(1, 4)
    assert mean_squared_error(2, Fraction(3)) == 72  # four entries of variance 18
    n, d, epsilon = sympy.symbols("n d epsilon", positive=True)
    assert noise_scale(n, d, epsilon, "triangle", "paper") == 2 * d / (n * epsilon)
    with mpmath.workdps(40):
        assert abs(largest_entry(4, mpmath.mpf(2), mpmath.mpf(1) / 10, log=mpmath.log) - 2 * mpmath.log(40)) < 1e-38


@pytest.mark.parametrize("count", [1, 3, 10, 100])
@pytest.mark.parametrize("beta", [0.5, 0.1, 1e-6])
def test_no_entry_exceeds_the_bound_with_the_stated_probability(count: int, beta: float) -> None:
    # P(all |M_i| ≤ t) = (1 − e^{−t})^k, exactly
    def failure(t: float) -> float:
        return -math.expm1(count * math.log1p(-math.exp(-t)))

    t = largest_entry(count, 1.0, beta)
    assert 0.3 * beta < failure(t) <= beta * (1 + 1e-12)
    if count > 1:  # mutants: the union over the entries forgotten, half of the tail
        assert failure(math.log(1 / beta)) > beta
        assert failure(t / 2) > beta


# What is spent


@pytest.mark.parametrize(
    ("dimension", "entries", "calibration", "proven", "attained"),
    [
        # full: √2 d/(2d) = .7071 for every d > 1, attained for even d; one number: 1/2
        (1, "full", "paper", 0.5, True),
        (2, "full", "paper", 0.7071067811865476, True),
        (3, "full", "paper", 0.7071067811865476, False),
        (8, "full", "paper", 0.7071067811865476, True),
        # triangle: ½√((d + 2)² + 4⌊d²/4⌋)/(2d) = √20/8, √33/12, √52/16, √164/32
        (1, "triangle", "paper", 0.5, True),
        (2, "triangle", "paper", 0.5590169943749475, True),
        (3, "triangle", "paper", 0.4787135538781691, True),
        (4, "triangle", "paper", 0.45069390943299864, True),
        (8, "triangle", "paper", 0.4001952648395530, True),
        (1, "full", "tight", 1.0, True),
        (2, "full", "tight", 1.0, True),
        (5, "full", "tight", 1.0, False),
        (1, "triangle", "tight", 1.0, True),
        (5, "triangle", "tight", 1.0, True),
    ],
)
def test_the_spend_is_that_of_the_table(
    dimension: int, entries: Any, calibration: Any, proven: float, attained: bool
) -> None:
    result = spend(epsilon=2.0, dimension=dimension, entries=entries, calibration=calibration)
    assert result.claimed == PureDP(2.0)
    assert result.proven.epsilon == pytest.approx(2 * proven, rel=1e-14)  # type: ignore[union-attr]
    assert result.attained is attained
    if (entries, calibration) == ("full", "paper"):
        assert spend(epsilon=2.0, dimension=dimension) == result  # the defaults


def loss(y: Matrix, sigma: Matrix, other: Matrix, b: float, entries: str) -> float:
    """ln of the ratio of the densities of the output at Y, from independent Laplace variables."""
    gap = stats.laplace.logpdf(y, sigma, b) - stats.laplace.logpdf(y, other, b)
    return float(gap.sum() if entries == "full" else np.triu(gap).sum())


@settings(max_examples=60)
@given(
    seed=SEEDS,
    d=st.integers(1, 5),
    n=st.integers(1, 4),
    entries=st.sampled_from(ENTRIES),
    calibration=st.sampled_from(CALIBRATIONS),
)
def test_the_loss_never_exceeds_what_is_proven(seed: int, d: int, n: int, entries: Any, calibration: Any) -> None:
    rng = np.random.default_rng(seed)
    pair = (block_pair, hadamard_pair)[seed % 2](d)
    if rng.random() < 0.7:
        x, y = unit_rows(rng.standard_normal((2, d)) * rng.choice([0.5, 5.0]))
        pair = x, y
    data, other = neighbours(unit_rows(rng.standard_normal((n - 1, d))) if n > 1 else np.zeros((0, d)), *pair)
    sigma, sigma_other = second_moment(data), second_moment(other)
    y = sigma + rng.choice([-0.1, 0.0, 0.5, 1.0]) * (sigma_other - sigma) + rng.choice([0.0, 1.0]) * rng.normal()
    b = noise_scale(n, d, 0.7, entries, calibration)
    proven = spend(epsilon=0.7, dimension=d, entries=entries, calibration=calibration).proven
    measured = loss(y, sigma, sigma_other, b, entries)
    assert measured <= proven.epsilon + 1e-9  # type: ignore[union-attr]
    change = np.abs(n * (sigma - sigma_other))
    assert measured <= privacy_loss((change if entries == "full" else np.triu(change)).sum(), n, b) + 1e-9


def worst_loss(d: int, b: float, entries: str) -> float:
    """At Y = Σ, for the pair that attains the sensitivity; n = 3."""
    rest = unit_rows(np.random.default_rng(1).standard_normal((2, d)))
    data, other = neighbours(rest, *(hadamard_pair if entries == "full" else block_pair)(d))
    sigma, sigma_other = second_moment(data), second_moment(other)
    return loss(sigma, sigma, sigma_other, b, entries)


@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize(("entries", "dimensions"), [("full", (1, 2, 4, 8)), ("triangle", (1, 2, 3, 4, 5, 8))])
def test_what_is_spent_is_attained(entries: Any, dimensions: tuple[int, ...], calibration: Any) -> None:
    for d in dimensions:
        result = spend(epsilon=0.7, dimension=d, entries=entries, calibration=calibration)
        assert result.attained
        measured = worst_loss(d, noise_scale(3, d, 0.7, entries, calibration), entries)
        assert measured == pytest.approx(result.proven.epsilon, rel=1e-12)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("sensitivity", "entries"),
    [
        pytest.param(lambda d: 1.0, "full", id="sensitivity 1, as of the spectral norm"),
        pytest.param(lambda d: math.sqrt(2), "full", id="Frobenius sensitivity for Laplace noise"),
        pytest.param(lambda d: float(d), "full", id="add or remove"),
        pytest.param(lambda d: math.sqrt(d * d / 2 + d + 1), "full", id="the triangle's, for full noise"),
        pytest.param(lambda d: 1.0, "triangle", id="sensitivity 1 for the triangle"),
        pytest.param(lambda d: (d + 1) / 2, "triangle", id="add or remove, for the triangle"),
        pytest.param(lambda d: d / math.sqrt(2), "triangle", id="half of all entries, the diagonal forgotten"),
    ],
)
def test_a_scale_from_a_smaller_sensitivity_exceeds_epsilon(sensitivity: Callable[[int], float], entries: str) -> None:
    for d in (2, 4, 8):
        assert worst_loss(d, sensitivity(d) / (3 * 0.7), entries) > 0.7 * 1.01


def test_rows_that_are_not_clipped_exceed_epsilon() -> None:
    first, second = np.array([[2.0, 0.0]]), np.array([[0.0, 2.0]])
    b = noise_scale(1, 2, 0.7, "full", "paper")
    clipped, unclipped = (
        loss(second_moment(f(first)), second_moment(f(first)), second_moment(f(second)), b, "full")
        for f in (unit_rows, np.asarray)
    )
    assert clipped <= 0.7 < unclipped


# The law of the noise


@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize("entries", ENTRIES)
def test_the_noise_has_independent_laplace_entries(entries: Any, calibration: Any) -> None:
    d, size = 3, 2000
    rng = np.random.default_rng(21)
    drawn = np.array([sample(np.eye(3), rng, epsilon=2, entries=entries, calibration=calibration) for _ in range(size)])
    # n ε = 6, paper: b = 6/6 = 1; tight: √18/6 and √33/12
    b = {"paper": 1.0, "tight": {"full": 0.7071067811865476, "triangle": 0.4787135538781691}[entries]}[calibration]
    residuals = (drawn - np.eye(3) / 3) / b
    i, j = np.indices((d, d)).reshape(2, -1) if entries == "full" else np.triu_indices(d)
    own = residuals[:, i, j]
    for k in range(len(i)):
        assert kolmogorov_smirnov(own[:, k], stats.laplace.cdf, "an entry").p_value > FALSE_ALARM
        assert kolmogorov_smirnov(own[:, k], stats.laplace(0, 0.5).cdf, "mutant").p_value < FALSE_ALARM
    assert independence(own[:, 0], own[:, 1], "two entries").p_value > FALSE_ALARM
    assert independence(np.abs(own[:, 1]), np.abs(own[:, -1]), "two absolute values").p_value > FALSE_ALARM
    total = np.abs(own).sum(axis=1)
    assert kolmogorov_smirnov(total, stats.gamma(len(i)).cdf, "ℓ1 norm").p_value > FALSE_ALARM
    wrong = 6 if entries == "full" else 9  # the other number of entries
    assert kolmogorov_smirnov(total, stats.gamma(wrong).cdf, "mutant").p_value < FALSE_ALARM
    if entries == "triangle":
        np.testing.assert_array_equal(drawn, np.swapaxes(drawn, 1, 2))


def test_the_noise_is_what_release_takes() -> None:
    for entries in ENTRIES:
        z = draw_noise(3, np.random.default_rng(6), entries)
        drawn = sample(np.eye(3), np.random.default_rng(6), epsilon=1, entries=entries)
        np.testing.assert_array_equal(drawn, release(np.eye(3), z, epsilon=1, entries=entries))
        assert draw_noise(3, np.random.default_rng(6), entries, 5).shape == (5, 3, 3)
