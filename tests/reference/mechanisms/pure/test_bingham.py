"""Private leading eigenvector: known answers, and the exact privacy loss of the Bingham density.

Statistical tests have fixed seeds. With a random seed, each comparison would raise a false alarm with probability at
most 1e-9 (Kolmogorov's exact p-value).
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

from covassay.reference.domain import unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import bingham as law
from covassay.reference.laws import haar
from covassay.reference.mechanisms.parameters import CALIBRATIONS
from covassay.reference.mechanisms.pure.bingham import draw_noise, exponent, privacy_loss, release, sample, spend
from covassay.reference.privacy import PureDP, zcdp_of_bounded_range
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix, Vector

# two rows, C = [[1.36, .48], [.48, .64]]: the sum, not the mean
X = np.array([[0.6, 0.8], [1.0, 0.0]])


class Recorder:
    """A source of noise that records its argument."""

    def __init__(self, direction: Any) -> None:
        self.direction = direction
        self.matrices: list[Matrix] = []

    def __call__(self, m: Matrix) -> Any:
        self.matrices.append(m)
        return self.direction


# Known answers


@pytest.mark.parametrize(
    ("calibration", "expected"),
    [
        ("paper", [[0.17, 0.06], [0.06, 0.08]]),  # η = ε/4 = 1/8
        ("tight", [[0.34, 0.12], [0.12, 0.16]]),  # η = ε/2 = 1/4
    ],
)
def test_the_noise_is_given_the_scaled_sum_of_squares(calibration: Any, expected: list[list[float]]) -> None:
    noise = Recorder([0.6, -0.8])
    got = release(X, noise, epsilon=0.5, calibration=calibration)
    np.testing.assert_array_equal(got, [0.6, -0.8])
    np.testing.assert_allclose(noise.matrices, [expected], rtol=1e-14)


def test_the_score_does_not_depend_on_the_unit_and_grows_with_repetition() -> None:
    once, thrice = Recorder([1.0, 0.0]), Recorder([1.0, 0.0])
    release(5 * X, once, epsilon=0.5, row_bound=5)
    release(np.vstack([X, X, X]), thrice, epsilon=0.5)
    np.testing.assert_allclose(once.matrices, [[[0.17, 0.06], [0.06, 0.08]]], rtol=1e-14)
    np.testing.assert_allclose(thrice.matrices[0], 3 * once.matrices[0], rtol=1e-14)


def test_zero_rows_ask_for_the_uniform_law() -> None:
    noise = Recorder([1.0, 0.0, 0.0])
    release(np.zeros((4, 3)), noise, epsilon=1)
    np.testing.assert_array_equal(noise.matrices, np.zeros((1, 3, 3)))


@pytest.mark.parametrize(
    ("direction", "message"),
    [
        pytest.param([1.0, 0.0, 0.0], r"noise\(M\) of shape \(3,\)", id="too long"),
        pytest.param([1.0], r"noise\(M\) of shape \(1,\)", id="would broadcast"),
        pytest.param(1.0, r"noise\(M\) of shape \(\)", id="a number"),
        pytest.param([[1.0, 0.0]], r"noise\(M\) of shape \(1, 2\)", id="a row"),
        pytest.param([0.6, 0.81], r"noise\(M\) has norm", id="not of length one"),
        pytest.param([0.0, 0.0], r"noise\(M\) has norm 0", id="zero"),
        pytest.param([math.nan, 1.0], r"noise\(M\) contains", id="NaN"),
    ],
)
def test_noise_that_is_no_unit_vector_is_refused(direction: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        release(X, Recorder(direction), epsilon=1)


# Formulas


def test_the_formulas_run_on_fractions_and_symbols() -> None:
    assert exponent(Fraction(1, 2), "paper") == Fraction(1, 8)
    assert exponent(Fraction(1, 2), "tight") == Fraction(1, 4)
    epsilon = sympy.Symbol("epsilon", positive=True)
    assert privacy_loss(exponent(epsilon, "paper")) == epsilon / 2
    assert privacy_loss(exponent(epsilon, "tight")) == epsilon


@pytest.mark.parametrize(
    ("dimension", "calibration", "proven", "attained"),
    [
        # d = 1: the output is ±1 whatever the data, the loss is 0 and the bound 2η is not attained
        (1, "paper", 0.5, False),
        (2, "paper", 0.5, True),
        (9, "paper", 0.5, True),
        (1, "tight", 1.0, False),
        (2, "tight", 1.0, True),
        (9, "tight", 1.0, True),
    ],
)
def test_the_spend_is_that_of_the_table(dimension: int, calibration: Any, proven: float, attained: bool) -> None:
    result = spend(epsilon=3.0, dimension=dimension, calibration=calibration)
    assert result.claimed == PureDP(3.0)
    assert result.proven == PureDP(3.0 * proven)
    assert result.attained is attained


# Privacy: the exact loss of the density


def loss(u: Matrix, c: Matrix, other: Matrix, eta: float) -> Vector:
    return law.log_density(u, eta * c) - law.log_density(u, eta * other)


def directions(d: int) -> Matrix:
    """The half circle in steps of half a degree, or random directions and the axes."""
    if d == 2:
        angle = np.arange(361) * math.pi / 360
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.concatenate([np.eye(d), haar.sample(d, np.random.default_rng(3), 200).reshape(-1, d)])


@settings(max_examples=60)
@given(seed=SEEDS, d=st.integers(1, 4), n=st.integers(0, 6), eta=st.floats(0.01, 5))
def test_the_loss_never_exceeds_twice_the_exponent(seed: int, d: int, n: int, eta: float) -> None:
    rng = np.random.default_rng(seed)
    rows = unit_rows(rng.standard_normal((n + 2, d)) * rng.choice([0.5, 5.0]))
    rest = rng.choice([1, 50]) * rows[2:].T @ rows[2:]
    x, y = rows[0], rng.choice([0.0, 1.0]) * rows[1]
    values = loss(directions(d), rest + np.outer(x, x), rest + np.outer(y, y), eta)
    assert values.max() <= 2 * eta + 1e-9
    assert np.ptp(values) <= 2 * eta + 1e-9  # the interval that gives η²/2-zCDP
    if d == 1:
        np.testing.assert_allclose(values, 0, atol=1e-9)


def worst_loss(eta: float, d: int, repetitions: int) -> float:
    """At u = x, for C = K y yᵀ + x xᵀ against (K + 1) y yᵀ with x, y orthonormal."""
    x, y = np.eye(d)[:2]
    rest = repetitions * np.outer(y, y)
    return float(loss(x[None], rest + np.outer(x, x), rest + np.outer(y, y), eta)[0])


@pytest.mark.parametrize("d", [2, 3, 5])
@pytest.mark.parametrize(("calibration", "share"), [("paper", 0.5), ("tight", 1.0)])
def test_the_bound_is_approached_by_many_rows(calibration: Any, share: float, d: int) -> None:
    eta = exponent(0.8, calibration)
    losses = [worst_loss(eta, d, k) for k in (1, 10, 100, 1000, 100_000)]
    assert (np.diff(losses) > 0).all()
    assert 0.999 * share * 0.8 < losses[-1] <= share * 0.8
    assert spend(epsilon=0.8, dimension=d, calibration=calibration).proven == PureDP(2 * eta)


@pytest.mark.parametrize(
    ("eta", "within"),
    [
        pytest.param(lambda e: e / 2, True, id="ε/2, the largest that is private"),
        pytest.param(lambda e: e / 1.9, False, id="ε/1.9"),
        pytest.param(lambda e: e, False, id="ε, the loss of one score alone"),
        pytest.param(lambda e: 2 * e, False, id="2ε, as in the code of the authors"),
    ],
)
def test_a_larger_exponent_exceeds_epsilon(eta: Callable[[float], float], within: bool) -> None:
    assert (worst_loss(eta(0.8), 3, 100_000) <= 0.8) == within


def test_the_range_of_the_loss_gives_its_zcdp() -> None:
    # γ = 2η: γ²/8 = η²/2, for η = ε/4 ε²/32
    epsilon = sympy.Symbol("epsilon", positive=True)
    assert zcdp_of_bounded_range(2 * exponent(epsilon, "paper")) == epsilon**2 / 32


# The draws


@pytest.mark.thorough
@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_draws_follow_the_bingham_law_of_the_data(calibration: Any) -> None:
    # C = diag(20, 5, 0), ε = 1
    x = np.repeat(np.eye(3), [20, 5, 0], axis=0)
    rng = np.random.default_rng(13)
    squares = np.array([sample(x, rng, epsilon=1, calibration=calibration) for _ in range(2500)]) ** 2
    eta = {"paper": 0.25, "tight": 0.5}
    for name, factor in eta.items():
        cdf = law.projection_cdf(factor * np.diag([20.0, 5.0, 0.0]), [0])
        p_value = kolmogorov_smirnov(squares[:, 0], cdf, "leading coordinate").p_value
        assert p_value > FALSE_ALARM if name == calibration else p_value < FALSE_ALARM


def test_sample_is_release_with_the_law_of_the_module() -> None:
    key = draw_noise(2, np.random.default_rng(14)).key
    rng = np.random.default_rng(np.random.SeedSequence(key, spawn_key=(0,)))
    expected = release(X, lambda m: law.sample(m, rng), epsilon=2, calibration="tight")
    np.testing.assert_array_equal(sample(X, np.random.default_rng(14), epsilon=2, calibration="tight"), expected)
