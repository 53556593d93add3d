"""Test that the plain draw of one sample equals the draw of the batched sampler from the same uniform numbers."""

import numpy as np
import pytest

from covassay.reference.laws import pfaffian_chains, pfaffian_sampler
from covassay.reference.laws.pfaffian_ensemble import PfaffianEnsemble, pfaffian_ensemble
from tests.conventions import Matrix

KINDS = pytest.mark.parametrize("half_line", [True, False], ids=["half line", "full line"])
# Rounding of F_k moves a point by 1e-15 divided by f_k, which is small beside an earlier point. The largest difference
# seen was 2e-12 in 150 samples of 8 points.
ROUNDING = 1e-9
SAMPLES = 20


def differences(ensemble: PfaffianEnsemble, kind: type[pfaffian_chains.Chains]) -> Matrix:
    """Return the batched draws minus the plain ones, in the shape (SAMPLES, N)."""
    uniforms = np.random.default_rng(20261124).random((ensemble.points, SAMPLES))
    chains = kind(ensemble, SAMPLES)
    for uniform in uniforms:
        chains.draw(uniform)
    plain = np.array([pfaffian_sampler.draw_points(ensemble, column) for column in uniforms.T])
    return np.abs(chains.points - plain)


@KINDS
@pytest.mark.parametrize("points", [1, 2, 3, 4, 7, pytest.param(20, marks=pytest.mark.thorough)])
def test_the_plain_draw_is_the_batched_draw(points: int, half_line: bool) -> None:
    """This test catches a fast sampler that draws from another law than the plain one."""
    ensemble = pfaffian_ensemble(points, half_line=half_line)
    assert differences(ensemble, pfaffian_chains.Chains).max() < ROUNDING
