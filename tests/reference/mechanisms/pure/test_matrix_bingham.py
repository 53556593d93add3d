"""Test the private subspace: rank one, and the accuracy.

Statistical tests have fixed seeds: with a random seed, each comparison with a correct law would raise a false alarm
with probability at most 1e-9.
"""

from typing import Any

import numpy as np
import pytest

from covassay.reference.errors import InvalidInput
from covassay.reference.laws import bingham
from covassay.reference.laws import matrix_bingham as law
from covassay.reference.mechanisms.pure.matrix_bingham import error_bound, release, sample
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, Matrix

LINE = np.diag([1.0, 0.0, 0.0])


class Recorder:
    """This source of projections records the requests made to it."""

    def __init__(self, projection: Any) -> None:
        self.projection = projection
        self.asked: list[tuple[Matrix, int]] = []

    def __call__(self, m: Matrix, k: int) -> Any:
        self.asked.append((m, k))
        return self.projection


def test_one_column_has_no_subspace() -> None:
    with pytest.raises(InvalidInput, match="x has 1 column"):
        sample([[0.5]], np.random.default_rng(0), epsilon=1)


# The draws


def test_rank_one_is_the_private_leading_eigenvector() -> None:
    x = np.repeat(np.eye(3), [20, 5, 0], axis=0)
    noise = Recorder(LINE)
    release(x, noise, epsilon=1, rank=1)
    squares = law.sample(*noise.asked[0], np.random.default_rng(13), 2000)[:, 0, 0]
    for factor, fits in ((0.5, True), (0.25, False)):
        cdf = bingham.projection_cdf(factor * np.diag([20.0, 5.0, 0.0]), [0])
        assert (kolmogorov_smirnov(squares, cdf, "leading").p_value > FALSE_ALARM) == fits


@pytest.mark.parametrize(("d", "k"), [(5, 2), (6, 4)])
def test_what_is_missed_stays_within_the_bound(d: int, k: int) -> None:
    assert error_bound(0.25, 5, 2) == error_bound(0.25, 5, 3) == 32  # (k (d − k) + min(k, d − k))/η
    # the mean of 2000 draws of Q, whose deviation is of the size of its mean, is far below the bound
    values = np.linspace(0, 12, d)
    p = law.sample(np.diag(values), k, np.random.default_rng(3), 2000)
    missed = values[-k:].sum() - np.einsum("nii,i->n", p, values)
    assert missed.min() > -1e-9
    assert 0.1 * error_bound(1.0, d, k) < missed.mean() < error_bound(1.0, d, k)
