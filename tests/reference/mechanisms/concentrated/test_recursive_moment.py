"""Test the recursive moment: how much its rounds reduce the error."""

import math
from typing import Any

import numpy as np

from covassay.reference.domain import second_moment
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.mechanisms.concentrated.recursive_moment import sample


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
