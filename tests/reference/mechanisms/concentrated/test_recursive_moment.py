"""Test how much the rounds of the recursive moment reduce its error."""

import math
from typing import Any

import numpy as np

from covassay.reference.domain import second_moment
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.mechanisms.concentrated.recursive_moment import sample


def test_rounds_find_small_directions_that_one_noise_hides() -> None:
    """Test that the rounds reduce the error of the smaller variance by a factor of 20, if the variances of two columns
    differ by a factor of 10⁴.

    The errors are root mean squares over 60 draws, which chance may change by a third.
    """
    rng = np.random.default_rng(2)
    x = np.clip(rng.standard_normal((20_000, 2)), -3, 3) / 3.2 * [0.99, 0.01]
    truth = second_moment(x)
    given_: dict[str, Any] = {"rho": 0.01, "calibration": "tight"}
    rounds = [sample(x, rng, kappa=1e6, subsample=5, **given_)[1, 1] for _ in range(60)]
    alone = [gauss_cov.sample(x, rng, rho=0.01, ensemble="goe")[1, 1] for _ in range(60)]
    errors = [math.sqrt(np.mean((np.array(values) / truth[1, 1] - 1) ** 2)) for values in (rounds, alone)]
    assert errors[0] < errors[1] / 20
