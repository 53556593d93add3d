"""Test PPDE: its blocks of rows, and data on which it spends the whole budget."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from covassay.reference.domain import Chunks
from covassay.reference.mechanisms.gaussian_estimation.ppde import (
    block_mean,
    change_squared,
    draw_noise,
    last_truncation_squared,
    mean_limit,
    most_rounds,
    noise_variance,
    release,
    sample,
    spend,
    threshold,
    truncation_squared,
)
from covassay.reference.privacy import ZCDP, zcdp_of_gaussian
from tests.conventions import SEEDS, Matrix

PROPERTY = settings(max_examples=80)


def test_the_formulas_agree_with_a_hand_calculation() -> None:
    assert [mean_limit(r) for r in (1, 2, 3)] == [0.5, 0.25, 0.125]
    assert [threshold(r) for r in (1, 2)] == [3 / 16, 3 / 32]
    assert truncation_squared(Fraction(1, 4), 8, 5, 3, 1, lambda _: 2) == 24
    assert last_truncation_squared(5, 1, lambda _: 2) == 12
    assert [change_squared(b, 8, "tight") for b in (3, 4, 5)] == [6, 8, 8]
    assert [change_squared(b, 8, "reconstructed") for b in (3, 4, 5)] == [6, 8, 10]
    m, rho, change = sympy.symbols("m rho c", positive=True)
    assert sympy.simplify(zcdp_of_gaussian(sympy.sqrt(change) / m, noise_variance(change, m, rho)) - rho) == 0
    beta = mpmath.mpf("0.1")
    assert mpmath.almosteq(truncation_squared(0.5, 8, 5, 3, beta, mpmath.log), truncation_squared(0.5, 8, 5, 3, 0.1))
    assert [most_rounds(d) for d in (1, 2, 3, 4, 7, 8, 1000)] == [0, 1, 1, 2, 2, 3, 9]


def test_long_records_are_shortened() -> None:
    """Test that `block_mean` shortens long rows to the given length."""
    rows = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
    # the first row is shortened to length 1
    np.testing.assert_allclose(block_mean(rows, 1, 2, np.arange(4), 1.0), np.full(4, 0.25))
    # with the first column alone, the rows have length at most 1 and are not shortened
    np.testing.assert_allclose(block_mean(rows, 1, 2, np.array([0]), 1.0), [0.5])


def test_missing_records_count_as_zero_rows() -> None:
    """Test that a block with too few rows is filled with rows of zeros."""
    x = np.array([[1.0, 1.0, 1.0, 1.0]])  # three blocks of one row each are needed, but there is only one row
    assert release(x, np.zeros((3, 4)), rho=1.0).tolist() == [1, 1, 1, 1]
    assert block_mean(x, 2, 1, np.arange(4), 9.0).tolist() == [0, 0, 0, 0]
    # The mechanism needs three blocks of one row each, but there are only two rows. The first round reads the first
    # row, which is zero, and makes no estimate. The second round reads the second row. The last step reads the missing
    # row.
    two = np.array([[0.0, 0, 0, 0], [1.0, 0, 0, 0]])
    noise = np.zeros((3, 4))
    noise[2] = 1e9
    assert release(two, noise, rho=1.0).tolist() == [1, 1, 1, 1]
    assert release(two, np.zeros((3, 4)), rho=1.0).tolist() == [1, 0, 0, 0]


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 20), n=st.integers(1, 60), rho=st.sampled_from([1e-6, 1.0, 1e6]))
def test_there_are_never_more_rounds_than_blocks(seed: int, d: int, n: int, rho: float) -> None:
    """Test that the release succeeds, and that all estimates are in [0, 1]."""
    rng = np.random.default_rng(seed)
    x = (rng.random((n, d)) < rng.random(d) ** 4).astype(np.float64)
    for calibration in ("reconstructed", "tight"):
        got = sample(x, rng, rho=rho, calibration=calibration)  # type: ignore[arg-type]
        assert got.shape == (d,)
        assert ((got >= 0) & (got <= 1)).all()


def truncated_change(u: Matrix, v: Matrix, bound: float) -> float:
    """Return the squared change of the sum of truncated rows if the row u is replaced by v."""
    kept = np.arange(len(u))
    moved = block_mean(u[None], 1, 1, kept, bound) - block_mean(v[None], 1, 1, kept, bound)
    return float(moved @ moved)


def first_round_loss(d: int, m: int, beta: float, calibration: str, variance_factor: float = 1.0) -> float:
    """Return the ρ that the first block spends, divided by the claimed ρ, if a row u is replaced by 1 − u.

    The first ⌈d/2⌉ entries of u are 1, and the others are 0.
    """
    u = (np.arange(d) < (d + 1) // 2).astype(np.float64)
    rounds = most_rounds(d)
    b2 = truncation_squared(0.5, d, m, rounds, beta) if rounds else last_truncation_squared(m, beta)
    variance = variance_factor * noise_variance(change_squared(b2, d, calibration), m, 1.0)
    return truncated_change(u, 1 - u, math.sqrt(b2)) / m**2 / (2 * variance)


@pytest.mark.parametrize("d", [1, 2, 5, 8])
def test_the_tight_calibration_is_attained(d: int) -> None:
    """Test that the tight calibration spends the whole budget on some data, and no more."""
    for m in (10, 10_000):
        assert first_round_loss(d, m, 0.1, "tight") == pytest.approx(1, rel=1e-12)
        assert first_round_loss(d, m, 0.1, "reconstructed") < 0.5
    assert spend(rho=0.7, dimension=d, calibration="tight").attained


def test_the_first_block_spends_the_whole_budget_from_the_stated_n_on() -> None:
    def first_bound_squared(d: int, n: int, beta: float) -> float:
        rounds = most_rounds(d)
        m = max(1, n // (rounds + 1))
        return truncation_squared(0.5, d, m, rounds, beta) if rounds else last_truncation_squared(m, beta)

    for d in range(1, 40):
        for beta in (1e-9, 0.1, 0.8):
            assert all(first_bound_squared(d, n, beta) >= (d + 1) // 2 for n in range(1, 12))
        assert all(first_bound_squared(d, n, 1 - 1e-9) >= (d + 1) // 2 for n in range(4, 12))
    # For d = n = 1 and β = 0.9, only a share of 6 ln(1/0.9) = 0.632 of ρ is spent.
    assert first_round_loss(1, 1, 0.9, "tight") == pytest.approx(6 * math.log(1 / 0.9))
    # In the first round, the calibration "tight" has less noise except if d ≤ 3, n ≤ 3 and β ≥ e^(−1/6).
    for d in range(2, 40):
        for beta in (0.1, 0.84, 0.85, 0.99):
            for n in range(1, 12):
                less = 2 * first_bound_squared(d, n, beta) > d
                assert less is not (d <= 3 and n <= 3 and beta >= math.exp(-1 / 6))


def test_the_reconstructed_calibration_is_attained_where_records_are_shortened() -> None:
    # The squared bound is 6 ln(1/0.9) = 0.632. With the noise scale B/m in place of √2 B/m, twice the claim is spent.
    assert first_round_loss(2, 1, 0.9, "reconstructed") == pytest.approx(1, rel=1e-12)
    assert first_round_loss(2, 1, 0.9, "tight") == pytest.approx(1, rel=1e-12)
    assert first_round_loss(2, 1, 0.9, "reconstructed", variance_factor=0.5) == pytest.approx(2, rel=1e-12)
    for calibration in ("reconstructed", "tight"):
        assert spend(rho=0.7, dimension=2, calibration=calibration).proven == ZCDP(0.7)  # type: ignore[arg-type]


def test_blocks_lie_across_chunks() -> None:
    """Test that the release does not depend on how the rows are cut into chunks."""
    x = (np.random.default_rng(0).random((23, 5)) < 0.3).astype(np.float64)
    noise = draw_noise(5, np.random.default_rng(1))
    expected = release(x, noise, rho=100.0)
    for size in (1, 4, 23):
        chunks = Chunks(x.shape, lambda size=size: (x[i : i + size] for i in range(0, 23, size)))  # type: ignore[misc]
        np.testing.assert_allclose(release(chunks, noise, rho=100.0), expected, rtol=1e-12)
