"""The plain draw of one sample is the draw of the batched sampler from the same uniforms."""

import numpy as np
import pytest

from covassay.reference.laws import pfaffian_chains, pfaffian_sampler
from covassay.reference.laws.pfaffian_ensemble import PfaffianEnsemble, pfaffian_ensemble
from tests.conventions import Matrix, Vector

KINDS = pytest.mark.parametrize("half_line", [True, False], ids=["half line", "full line"])
# Rounding of F_k moves a point by 1e-15 divided by f_k, which is small beside an earlier point. The largest difference
# seen was 2e-12 in 150 samples of 8 points.
ROUNDING = 1e-9
SAMPLES = 20


def differences(ensemble: PfaffianEnsemble, kind: type[pfaffian_chains.Chains]) -> Matrix:
    """The batched draws minus the plain ones, (SAMPLES, N)."""
    uniforms = np.random.default_rng(20261124).random((ensemble.points, SAMPLES))
    chains = kind(ensemble, SAMPLES)
    for uniform in uniforms:
        chains.draw(uniform)
    plain = np.array([pfaffian_sampler.draw_points(ensemble, column) for column in uniforms.T])
    return np.abs(chains.points - plain)


@KINDS
@pytest.mark.parametrize("points", [1, 2, 3, 4, 7, pytest.param(20, marks=pytest.mark.thorough)])
def test_the_plain_draw_is_the_batched_draw(points: int, half_line: bool) -> None:
    ensemble = pfaffian_ensemble(points, half_line=half_line)
    assert differences(ensemble, pfaffian_chains.Chains).max() < ROUNDING


class LargeQuantile(pfaffian_chains.Chains):
    """A mutant with F_k(x) = 1.03 u F_k(∞), which the certificate does not detect."""

    def _quantile(self, target):  # type: ignore[no-untyped-def]
        return super()._quantile(np.minimum(1.03 * target, self.cumulative[:, self.edges - 1]))


class LargeSigns(pfaffian_chains.Chains):
    """A mutant in which the terms of F_k with signs are 3 % too large."""

    def _signed_integral(self, weights: Matrix, integrals: Matrix) -> Matrix:
        return 1.03 * super()._signed_integral(weights, integrals)


class SmallChange(pfaffian_chains.Chains):
    """A mutant in which c is 3 % too small everywhere except in ln f_k."""

    def _condition_on(self, place: pfaffian_chains.Place, products_of_signs: Matrix) -> tuple[Matrix, Matrix]:
        c, v = super()._condition_on(place, products_of_signs)
        return 0.97 * c, v


class LateInterval(pfaffian_chains.Chains):
    """A mutant in which F_k at the left end of the interval of the quantile is 3 % too large."""

    def _smooth_interval(self, target: Vector) -> tuple[Vector, Vector, Vector]:
        left, right, below = super()._smooth_interval(target)
        return left, right, 1.03 * below


@KINDS
@pytest.mark.parametrize("mutant", [LargeQuantile, LargeSigns, SmallChange, LateInterval])
def test_a_batched_sampler_that_is_off_by_three_per_cent_is_found_out(
    mutant: type[pfaffian_chains.Chains], half_line: bool
) -> None:
    assert np.median(differences(pfaffian_ensemble(3, half_line=half_line), mutant)[:, -1]) > 1e-4
    assert differences(pfaffian_ensemble(3, half_line=half_line), mutant).max() > 1e5 * ROUNDING


@KINDS
def test_a_plain_draw_with_another_uniform_is_another_draw(half_line: bool) -> None:
    ensemble = pfaffian_ensemble(3, half_line=half_line)
    first, second = (pfaffian_sampler.draw_points(ensemble, np.array([0.3, 0.5, u])) for u in (0.6, 0.618))
    np.testing.assert_array_equal(first[:2], second[:2])
    assert abs(first[2] - second[2]) > 1e-3
