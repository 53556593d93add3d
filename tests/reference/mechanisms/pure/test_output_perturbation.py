"""Test output perturbation for ridge regression: data with one column, and a known noise scale that is too small."""

import numpy as np
import pytest

from covassay.reference.domain import second_moment
from covassay.reference.downstream.ridge import coefficients
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.pure.output_perturbation import release, sample
from covassay.verification.audit.knowledge.output_perturbation import worst_pair
from tests.conventions import Matrix, Vector


def minimiser(x: Matrix, alpha: float) -> Vector:
    return coefficients(second_moment(x), x.shape[1] - 1, alpha)


def test_a_target_without_a_feature_is_refused() -> None:
    for call in (lambda: release([[0.5]], np.zeros(0), epsilon=1),
                 lambda: sample([[0.5]], np.random.default_rng(0), epsilon=1)):  # fmt: skip
        with pytest.raises(InvalidInput, match="x has 1 column"):
            call()


def moved(first: Matrix, second: Matrix, alpha: float) -> float:
    return float(np.linalg.norm(minimiser(first, alpha) - minimiser(second, alpha)))


def test_the_constant_for_a_loss_of_slope_one_is_too_small_for_squares() -> None:
    # CMS11 has the noise scale 2/(nΛ) for the penalty (Λ/2)‖w‖², which is 1/(αn) for Λ = 2α.
    first, second = worst_pair(10**5, 1e-3)
    assert moved(first, second, 1e-3) > 5 / (1e-3 * 10**5)
