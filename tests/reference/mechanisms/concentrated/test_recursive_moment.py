"""Test the recursive moment: its rounds, and how much they reduce the error."""

import math
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import second_moment
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.mechanisms.concentrated.recursive_moment import draw_noise, number_of_rounds, release, sample


@pytest.mark.parametrize(
    ("kappa", "m", "rounds"),
    [(1, 1, 1), (320, 1, 1), (321, 1, 2), (746, 1, 2), (747, 1, 3), (1e4, 10, 3), (3200, 10, 1), (1e30, 1, 76)],
)
def test_the_number_of_rounds(kappa: float, m: int, rounds: int) -> None:
    """This test catches a number of rounds that is one too low to reach κ."""
    assert number_of_rounds(kappa, m) == rounds
    assert m * 320 * (7 / 3) ** (rounds - 1) >= kappa * (1 - 1e-12)


def test_one_round_is_the_gaussian_covariance() -> None:
    """This test catches a noise scale that differs from the Gaussian mechanism's when there is one round."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((20, 3)) / 3
    w = draw_noise(3, rng, kappa=100, subsample=1, calibration="tight")
    got = release(x, w, rho=0.5, kappa=100, subsample=1, calibration="tight")
    np.testing.assert_allclose(got, gauss_cov.release(x, w[0], rho=0.5, ensemble="goe"), rtol=1e-14)
    more = release(x, w, rho=0.5, kappa=100, subsample=1)
    np.testing.assert_allclose(more - second_moment(x), math.sqrt(8) * (got - second_moment(x)), rtol=1e-12)


def test_rounds_find_small_directions_that_one_noise_hides() -> None:
    """This test catches rounds that do not reduce the error. More rounds reduce the error on rows whose variances
    differ by 10⁴.

    The root mean squares of errors are over 60 draws, so chance may change them by a third.
    """
    rng = np.random.default_rng(2)
    x = np.clip(rng.standard_normal((20_000, 2)), -3, 3) / 3.2 * [0.99, 0.01]
    truth = second_moment(x)
    given_: dict[str, Any] = {"rho": 0.01, "calibration": "tight"}
    rounds = [sample(x, rng, kappa=1e6, subsample=5, **given_)[1, 1] for _ in range(60)]
    alone = [gauss_cov.sample(x, rng, rho=0.01, ensemble="goe")[1, 1] for _ in range(60)]
    errors = [math.sqrt(np.mean((np.array(values) / truth[1, 1] - 1) ** 2)) for values in (rounds, alone)]
    assert errors[0] < errors[1] / 20
