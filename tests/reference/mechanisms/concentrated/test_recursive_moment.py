"""The recursive moment: known answers, the rounds, the effect of one row, and the benefit of the rounds.

Statistical tests have fixed seeds. With a random seed, each comparison would raise a false alarm with probability at
most 1e-9.
"""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.mechanisms.concentrated.recursive_moment import (
    draw_noise,
    evened_out,
    noise_scale,
    number_of_rounds,
    release,
    sample,
    spend,
)
from covassay.reference.privacy import ZCDP
from covassay.verification.statistics.tests import gamma_total
from tests.conventions import FALSE_ALARM, Matrix

TWO = {"kappa": 700.0, "subsample": 1, "calibration": "tight"}  # two rounds, ψ = 1/10
PROPERTY = settings(max_examples=40)


@pytest.mark.parametrize(
    ("kappa", "m", "rounds"),
    [(1, 1, 1), (320, 1, 1), (321, 1, 2), (746, 1, 2), (747, 1, 3), (1e4, 10, 3), (3200, 10, 1), (1e30, 1, 76)],
)
def test_the_number_of_rounds(kappa: float, m: int, rounds: int) -> None:
    assert number_of_rounds(kappa, m) == rounds
    assert m * 320 * (7 / 3) ** (rounds - 1) >= kappa * (1 - 1e-12)


def test_one_round_is_the_gaussian_covariance() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((20, 3)) / 3
    w = draw_noise(3, rng, kappa=100, subsample=1, calibration="tight")
    got = release(x, w, rho=0.5, kappa=100, subsample=1, calibration="tight")
    np.testing.assert_allclose(got, gauss_cov.release(x, w[0], rho=0.5, ensemble="goe"), rtol=1e-14)
    more = release(x, w, rho=0.5, kappa=100, subsample=1)
    np.testing.assert_allclose(more - second_moment(x), math.sqrt(8) * (got - second_moment(x)), rtol=1e-12)


def test_two_rounds_agree_with_a_hand_calculation() -> None:
    # n = 4, ρ = 2, K = 2: σ = 1/4. M = diag(1/4, 1/64): the first axis is large, ψ = 1/10
    x = [[1.0, 0.0], [0.0, 0.25], [0.0, 0.0], [0.0, 0.0]]
    noise = np.array([np.zeros((2, 2)), [[1.0, -2.0], [-2.0, 3.0]]])
    # rows √(2/3) e₁ and √(8/3)/4 e₂, moments 1/6 and 1/24; back by 3/2, 3/8 and √(9/16)
    expected = [[1 / 4 + 3 / 8, -2 * 3 / 16], [-2 * 3 / 16, 1 / 64 + 9 / 32]]
    np.testing.assert_allclose(release(x, noise, rho=2, **TWO), expected, rtol=1e-14)
    # a long row in a small direction is shortened: 8/3 · 1/16 becomes 1/16, and comes back as 3/128
    one = release([[1.0]] + [[0.0]] * 15, np.zeros((2, 1, 1)), rho=2, **TWO)
    np.testing.assert_allclose(one, [[3 / 128]], rtol=1e-14)


def test_scales() -> None:
    assert noise_scale(5, 0.5, 3, "tight") == pytest.approx(math.sqrt(6) / 5, rel=1e-15)
    assert noise_scale(5, 0.5, 3, "reconstructed") == pytest.approx(4 * math.sqrt(3) / 5, rel=1e-15)
    assert spend(rho=2, dimension=3).proven == ZCDP(0.25)
    assert spend(rho=2, dimension=1, calibration="tight").proven == ZCDP(1.0)


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        pytest.param(np.zeros((1, 2, 2)), "noise of shape", id="a round is missing"),
        pytest.param(np.zeros((2, 2)), "noise of shape", id="no rounds"),
        pytest.param(np.array([np.zeros((2, 2)), [[0, 1], [0, 0]]]), "noise is not sym", id="the second is a triangle"),
        pytest.param(np.full((2, 2, 2), math.inf), "noise", id="infinite"),
    ],
)
def test_bad_noise_is_refused(noise: Matrix, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        release(np.zeros((3, 2)), noise, rho=1, **TWO)


@pytest.mark.parametrize(
    ("name", "value"),
    [("kappa", 0.9), ("kappa", math.nan), ("kappa", 1e31), ("subsample", 0), ("subsample", 2.5), ("subsample", 10**10)],
)
def test_bad_parameters_are_refused(name: str, value: Any) -> None:
    for function in (lambda **given: sample(np.zeros((3, 2)), np.random.default_rng(0), rho=1, **given),
                     lambda **given: draw_noise(2, np.random.default_rng(0), **given)):  # fmt: skip
        with pytest.raises(InvalidInput, match=f"^{name} = "):
            function(**{name: value})


@PROPERTY
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 20))
def test_no_row_leaves_the_ball_and_the_maps_are_undone(seed: int, d: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    rows = unit_rows(rng.standard_normal((8, d)) * rng.choice([0.01, 1.0], (8, 1)))
    z = draw_noise(d, rng, kappa=1, subsample=1)[0] * 10.0 ** rng.uniform(-4, 1)
    mapped, back = evened_out(rows, z, m)
    assert np.linalg.norm(np.asarray(mapped), axis=1).max() <= 1 + 1e-12
    short = np.linalg.norm(rows, axis=1) < 0.6  # √(3/8) = 0.612…
    np.testing.assert_allclose((np.asarray(mapped) @ back)[short], rows[short], atol=1e-14)


@PROPERTY
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 6))
def test_one_row_moves_every_round_by_no_more_than_the_noise_is_made_for(seed: int, d: int, m: int) -> None:
    """Both neighbours use the same noisy matrices, as in the composition theorem."""
    rng = np.random.default_rng(seed)
    n = 6
    one = unit_rows(rng.standard_normal((n, d)) * 10)
    other = one.copy()
    other[0] = unit_rows(rng.standard_normal((1, d)) * rng.choice([0.1, 10.0]))[0]
    for _ in range(4):
        change = n * np.linalg.norm(second_moment(one) - second_moment(other))
        assert change <= math.sqrt(2 if d > 1 else 1) + 1e-12
        z = second_moment(one) + draw_noise(d, rng, kappa=1, subsample=1)[0] / 30
        one, other = (np.asarray(evened_out(rows, z, m)[0]) for rows in (one, other))


@pytest.mark.parametrize("calibration", ["reconstructed", "tight"])
def test_the_noise_has_its_scale_and_rounds_of_their_own(calibration: Any) -> None:
    rng = np.random.default_rng(1)
    drawn = np.array([draw_noise(3, rng, calibration=calibration) for _ in range(3000)])
    assert drawn.shape == (3000, 3, 3, 3)
    np.testing.assert_array_equal(drawn, np.swapaxes(drawn, 2, 3))
    above = drawn[:, :, 0, 1] * (1 if calibration == "reconstructed" else math.sqrt(2))
    for values in (drawn[:, :, 0, 0].ravel(), above.ravel(), (drawn[:, 0, 0, 0] + drawn[:, 1, 0, 0]) / math.sqrt(2)):
        assert gamma_total(values**2 / 2, 0.5, "N(0, 1)", power=2).p_value > FALSE_ALARM


def test_rounds_find_small_directions_that_one_noise_hides() -> None:
    """Tested on rows whose variances differ by 10⁴.

    The root mean squares are over 60 draws, so chance may change them by a third.
    """
    rng = np.random.default_rng(2)
    x = np.clip(rng.standard_normal((20_000, 2)), -3, 3) / 3.2 * [0.99, 0.01]
    truth = second_moment(x)
    given_: dict[str, Any] = {"rho": 0.01, "calibration": "tight"}
    rounds = [sample(x, rng, kappa=1e6, subsample=5, **given_)[1, 1] for _ in range(60)]
    alone = [gauss_cov.sample(x, rng, rho=0.01, ensemble="goe")[1, 1] for _ in range(60)]
    errors = [math.sqrt(np.mean((np.array(values) / truth[1, 1] - 1) ** 2)) for values in (rounds, alone)]
    assert errors[0] < errors[1] / 20
