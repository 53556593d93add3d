"""Test the nuclear-ball projection: the norm of the release."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covassay.reference.domain import unit_rows
from covassay.reference.mechanisms.pure.nuclear_ball_projection import NuclearBallProjectionNoise, release
from tests.conventions import SEEDS

PROPERTY = settings(max_examples=60)
EYE = np.eye(2)  # these data have n = 2, Σ = I/2 and 2 tr Σ = 2


@pytest.mark.parametrize("trace", [-0.2, -0.21, -50.0])
def test_a_noisy_radius_of_zero_or_less_gives_the_zero_matrix(trace: float) -> None:
    # By hand, the noisy radius is 2 + 10 · (−.2) = 0.
    np.testing.assert_array_equal(
        release(EYE, NuclearBallProjectionNoise(np.ones((2, 2)), trace), epsilon=0.5), np.zeros((2, 2))
    )


def test_without_noise_the_second_moment_is_inside_its_ball() -> None:
    none = NuclearBallProjectionNoise(np.zeros((2, 2)), 0.0)
    np.testing.assert_array_equal(release(np.zeros((3, 2)), none, epsilon=1), np.zeros((2, 2)))
    x = np.array([[0.6, 0.8], [1.0, 0.0]])
    np.testing.assert_allclose(release(x, none, epsilon=1), [[0.68, 0.24], [0.24, 0.32]], rtol=1e-13)


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 4), trace=st.floats(-1, 1))
def test_the_release_has_the_noisy_nuclear_norm_at_most(seed: int, d: int, trace: float) -> None:
    rng = np.random.default_rng(seed)
    x = unit_rows(rng.standard_normal((5, d)))
    got = release(x, NuclearBallProjectionNoise(rng.standard_normal((d, d)), trace), epsilon=1)
    radius = max(0.0, 2 * float((x**2).sum()) / 5 + 2 * trace)
    assert np.linalg.svd(got, compute_uv=False).sum() <= radius * (1 + 1e-12) + 1e-12
