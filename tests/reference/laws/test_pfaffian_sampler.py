"""Test that the plain draw of one sample equals the draw of the batched sampler from the same uniform numbers."""

import numpy as np
import pytest

from covassay.reference.laws import pfaffian_chains, pfaffian_sampler
from covassay.reference.laws.pfaffian_ensemble import PfaffianEnsemble, pfaffian_ensemble
from tests.conventions import Matrix

KINDS = pytest.mark.parametrize("half_line", [True, False], ids=["half line", "full line"])
# rounding moves a point by 1e-15/f_k; the largest difference seen was 2e-12, in 150 samples of 8 points
ROUNDING = 1e-9
SAMPLES = 20


def batched(kind: type[pfaffian_chains.Chains], ensemble: PfaffianEnsemble, uniforms: Matrix) -> Matrix:
    """Return the draws of one batch from the uniforms of its samples, (N, S) -> (S, N)."""
    chains = kind(ensemble, uniforms.shape[1])
    for uniform in uniforms:
        chains.draw(uniform)
    return chains.points


def differences(ensemble: PfaffianEnsemble, kind: type[pfaffian_chains.Chains], batches: int = 1) -> Matrix:
    """Return the draws of a number of equal batches minus the plain draws, (SAMPLES, N)."""
    uniforms = np.random.default_rng(20261124).random((ensemble.points, SAMPLES))
    points = np.concatenate([batched(kind, ensemble, part) for part in np.split(uniforms, batches, axis=1)])
    plain = np.array([pfaffian_sampler.draw_points(ensemble, column) for column in uniforms.T])
    return np.abs(points - plain)


@KINDS
@pytest.mark.parametrize("points", [1, 2, 3, 4, 7, pytest.param(20, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("batches", [1, SAMPLES])  # a batch of one sample is inverted by a loop over numbers
def test_the_plain_draw_is_the_batched_draw(points: int, half_line: bool, batches: int) -> None:
    """This test catches a fast sampler whose law differs from the law of the plain sampler."""
    ensemble = pfaffian_ensemble(points, half_line=half_line)
    assert differences(ensemble, pfaffian_chains.Chains, batches).max() < ROUNDING
