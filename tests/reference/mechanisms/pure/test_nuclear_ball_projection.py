"""Test the norm of the release of the nuclear-ball projection."""

import numpy as np
import pytest

from covassay.reference.mechanisms.pure.nuclear_ball_projection import NuclearBallProjectionNoise, release

EYE = np.eye(2)  # two rows with second moment Σ = I/2, so that 2 tr Σ = 2


@pytest.mark.parametrize("trace", [-0.2, -0.21, -50.0])
def test_a_noisy_radius_of_zero_or_less_gives_the_zero_matrix(trace: float) -> None:
    # By hand, the noisy radius is 2 + 10 · (−.2) = 0.
    np.testing.assert_array_equal(
        release(EYE, NuclearBallProjectionNoise(np.ones((2, 2)), trace), epsilon=0.5), np.zeros((2, 2))
    )
