"""Test the ℓ2 mechanism under (ε, δ)-DP: its Bessel functions in many dimensions, its error, and small budgets."""

import mpmath
import pytest

from covassay.reference.mechanisms.approximate.l2_approximate import kappa, largest_move, spend
from covassay.reference.mechanisms.building_blocks.gaussian_approximate import multiplier


@pytest.mark.parametrize("q", [1e-3, 0.7, 12.0, 60.0])
@pytest.mark.parametrize("entries", [3, 6, 10, 210, 801, 1540, 20100])
def test_kappa_is_a_quotient_of_bessel_functions(q: float, entries: int) -> None:
    with mpmath.workdps(30):
        z = mpmath.mpf(q) / 2
        ratio = mpmath.besselk(mpmath.mpf(entries) / 2, z) / mpmath.besselk(mpmath.mpf(entries) / 2 - 1, z)
        assert kappa(q, entries) == pytest.approx(float((entries - 1) * ratio / z), rel=1e-13)


def test_the_mean_squared_errors_of_the_page_beside_gaussian_noise() -> None:
    for d, expected in ((1, 0.056), (2, 0.22), (3, 0.37), (5, 0.63), (10, 0.88), (20, 0.97), (100, 0.999)):
        entries = d * (d + 1) / 2
        noise = entries * (entries + 1) / largest_move(1.0, 1e-6, d) ** 2
        gaussian = entries * multiplier(1.0, 1e-6, "tight") ** 2 * (2 if d == 1 else 1)  # the scale √2/n also for d = 1
        assert noise / gaussian == pytest.approx(expected, abs=0.006)


def test_a_budget_below_the_floats_is_spent_without_delta() -> None:
    assert largest_move(1.0, 1e-300, 1) == 1.0
    assert not spend(epsilon=1.0, delta=1e-300, dimension=1).attained
