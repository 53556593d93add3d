"""Test that the simple and the batched sampler give the same draws from the same uniform numbers."""

import numpy as np
import pytest

from covassay.reference.laws import pfaffian_chains, pfaffian_sampler
from covassay.reference.laws.pfaffian_ensemble import PfaffianEnsemble, pfaffian_ensemble
from tests.conventions import Matrix

KINDS = pytest.mark.parametrize("half_line", [True, False], ids=["half line", "full line"])
# the tolerance for rounding errors; the largest difference in 150 samples of 8 points was 2e-12
ROUNDING = 1e-9
SAMPLES = 20


def batched(kind: type[pfaffian_chains.Chains], ensemble: PfaffianEnsemble, uniforms: Matrix) -> Matrix:
    """Return S draws of N points, of shape (S, N), from uniform numbers of shape (N, S), drawn in one batch."""
    chains = kind(ensemble, uniforms.shape[1])
    for uniform in uniforms:
        chains.draw(uniform)
    return chains.points


def differences(ensemble: PfaffianEnsemble, kind: type[pfaffian_chains.Chains], batches: int = 1) -> Matrix:
    """Return the absolute differences between draws in several batches and draws of the simple sampler, of shape
    (SAMPLES, N)."""
    uniforms = np.random.default_rng(20261124).random((ensemble.points, SAMPLES))
    points = np.concatenate([batched(kind, ensemble, part) for part in np.split(uniforms, batches, axis=1)])
    plain = np.array([pfaffian_sampler.draw_points(ensemble, column) for column in uniforms.T])
    return np.abs(points - plain)


@KINDS
@pytest.mark.parametrize("points", [1, 2, 3, 4, 7, pytest.param(20, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("batches", [1, SAMPLES])  # the code has a special case for batches of one sample
def test_the_plain_draw_is_the_batched_draw(points: int, half_line: bool, batches: int) -> None:
    """Test that the batched sampler gives the draws of the simple sampler."""
    ensemble = pfaffian_ensemble(points, half_line=half_line)
    assert differences(ensemble, pfaffian_chains.Chains, batches).max() < ROUNDING
