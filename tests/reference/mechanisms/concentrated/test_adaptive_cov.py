"""Test AdaptiveCov: which mechanism it chooses, and its errors on the data of the paper.

The tests have fixed seeds, and chance alone would not make the errors exceed the limits.
"""

import math
from typing import Any

import mpmath
import numpy as np
import pytest

from covassay.reference import tails
from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.laws.wigner import ENSEMBLES
from covassay.reference.mechanisms.building_blocks import above_threshold, private_radius
from covassay.reference.mechanisms.concentrated import adaptive_cov, clipped_cov, gauss_cov, separate_cov
from covassay.reference.mechanisms.concentrated.adaptive_cov import (
    MECHANISM,
    AdaptiveCovNoise,
    draw_noise,
    errors,
    release,
    search_epsilon,
)
from covassay.reference.mechanisms.concentrated.clipped_cov import last_level
from covassay.reference.projections import spectral_interval
from covassay.verification.claims.checks.dly22.zipf_data import zipf_rows
from tests.conventions import Matrix

RADII: Any = MECHANISM.choices["radius"]
BOUNDS: Any = MECHANISM.choices["bounds"]


def quiet(n: int, d: int, trace: float = 0.0, radius: bool = False) -> AdaptiveCovNoise:
    """Return noise that is zero except for the noise of the trace."""
    levels = len(private_radius.public_radii(private_radius.PRECISION))
    return AdaptiveCovNoise(
        above_threshold.AboveThresholdNoise(0.0, np.zeros(levels)) if radius else None,
        trace,
        above_threshold.AboveThresholdNoise(0.0, np.zeros(last_level(n, d) + 1)),
        separate_cov.SeparateCovNoise(np.zeros((d, d)), np.zeros(d)),
    )


def test_the_errors_are_those_of_the_two_mechanisms() -> None:
    n, d, rho, trace, beta = 500, 6, 0.3, 0.2, 0.075
    for ensemble in ENSEMBLES:
        found = errors(n, d, rho, trace, beta, ensemble, "theorem")
        assert found.gauss == pytest.approx(gauss_cov.error_bound(n, d, rho, beta, ensemble), rel=1e-14)
        both = separate_cov.error_bound(n, d, rho, trace, beta, ensemble)
        assert found.directions + found.eigenvalues == pytest.approx(both, rel=1e-14)
    found = errors(n, d, rho, trace, beta, "wigner", "code")
    assert found.gauss == pytest.approx(tails.omega(d, beta) / (math.sqrt(rho) * n), rel=1e-14)
    a = 2**1.25 * math.sqrt(trace * tails.upsilon(d, beta / 2)) / (rho**0.25 * math.sqrt(n)) / 6
    assert found.directions == pytest.approx(a, rel=1e-14)
    assert found.eigenvalues == pytest.approx(math.sqrt(2) * tails.eta(d, beta / 2) / (math.sqrt(rho) * n), rel=1e-14)
    with mpmath.workdps(40):
        exact = errors(
            mpmath.mpf(n), d, mpmath.mpf(rho), mpmath.mpf(trace), mpmath.mpf(beta), "wigner", "code", mpmath.log
        )
    assert found.directions == pytest.approx(float(exact.directions), rel=1e-13)


def decision(
    x: Matrix, rho: float, bounds: Any, noise: AdaptiveCovNoise | None = None, calibration: Any = "paper"
) -> tuple[int, str]:
    """Return the level that the search finds, and the mechanism that `release` then chooses."""
    levels, bases = [], []

    def searched(*given: Any) -> int:
        levels.append(clipped_cov.first_level(*given))
        return levels[-1]

    def ran(*given: Any) -> Matrix:
        bases.append(given[4])
        return clipped_cov.clipped(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adaptive_cov, "first_level", searched)
        patch.setattr(adaptive_cov, "clipped", ran)
        release(unit_rows(x), noise or quiet(*x.shape), rho=rho, calibration=calibration, bounds=bounds)
    (level,), (base,) = levels, bases
    return level, base


def test_a_private_radius_shrinks_the_noise() -> None:
    """Test that the noise shrinks with the square of the private radius."""
    # All rows have norm 1/16. The radius that is found is 1/16 or 1/8, so that the noise is at least 64 times smaller.
    x = np.tile([[1 / 16, 0.0], [0.0, 1 / 16]], (20_000, 1))
    noise = draw_noise(2, np.random.default_rng(0), rows=40_000, radius="private")
    found = private_radius.release(x, noise.radius, epsilon=search_epsilon(1.0), beta=0.0125)  # type: ignore[arg-type]
    assert found in (1 / 16, 1 / 8)
    got = release(x, noise, rho=1.0, radius="private")
    assert np.linalg.norm(got - second_moment(x)) < found**2 * 10 / 40_000


def test_only_zero_rows_leave_next_to_nothing() -> None:
    """Test that the noise is tiny if all rows are zero."""
    for radius in RADII:
        noise = draw_noise(2, np.random.default_rng(0), rows=40, radius=radius)
        for bounds in BOUNDS:
            assert np.linalg.norm(release(np.zeros((40, 2)), noise, rho=100.0, radius=radius, bounds=bounds)) < 1e-3


def test_noise_for_the_radius_is_wanted_if_and_only_if_it_is_used() -> None:
    x = np.zeros((3, 2))
    with pytest.raises(InvalidInput, match=r"noise\.radius"):
        release(x, quiet(3, 2), rho=1, radius="private")
    with pytest.raises(InvalidInput, match=r"noise\.radius"):
        release(x, quiet(3, 2, radius=True), rho=1, radius="none")


def test_the_bound_on_the_trace_is_capped_at_one_and_kept_positive() -> None:
    # The authors' code has min(trace, r) in place of min(trace, r²). The trace has the unit of r², so that the result
    # with r depends on the unit of the rows.
    assert [min(1e6, r) / r**2 for r in (0.25, 1.0, 4.0)] == [4.0, 1.0, 0.25]
    x = zipf_rows(300, 4, np.random.default_rng(0))
    for trace in (-1e6, 1e6):
        noise = quiet(300, 4, trace)
        for r in (0.25, 4.0):
            np.testing.assert_array_equal(
                release(r * x, noise, rho=1.0, row_bound=r), r**2 * release(x, noise, rho=1.0)
            )


# Experiments of the paper


def mean_errors(
    n: int, d: int, rho: float, buckets: int, repeats: int, bounds: Any
) -> tuple[dict[str, float], set[str]]:
    """Return the mean Frobenius error of four mechanisms, and the set of mechanisms that adaptive-cov chose. The
    eigenvalues of every release are first clipped to [0, 1], as in the paper.
    """
    rng = np.random.default_rng(buckets)
    found: dict[str, list[float]] = {"gauss": [], "goe": [], "separate": [], "adaptive": []}
    chosen = set()
    for _ in range(repeats):
        x = zipf_rows(n, d, rng, buckets=buckets)
        moment = second_moment(x)
        noise = draw_noise(d, rng, rows=n)
        outputs = {
            "gauss": gauss_cov.sample(x, rng, rho=rho),
            "goe": gauss_cov.sample(x, rng, rho=rho, ensemble="goe"),
            "separate": separate_cov.sample(x, rng, rho=rho),
            "adaptive": release(x, noise, rho=rho, bounds=bounds),
        }
        for name, output in outputs.items():
            found[name].append(float(np.linalg.norm(spectral_interval(output, 0, 1) - moment)))
        chosen.add(decision(x, rho, bounds, noise)[1])
    return {name: float(np.mean(values)) for name, values in found.items()}, chosen


def test_with_the_bounds_of_the_code_the_better_mechanism_is_chosen() -> None:
    # GaussCov has the smaller error at trace 1, and SeparateCov at trace 0.041, where its error is half as large.
    errors_found, chosen = mean_errors(6000, 200, 4.0, 1, 1, "code")
    assert chosen == {"gauss"}
    assert errors_found["gauss"] < errors_found["separate"]
    errors_found, chosen = mean_errors(6000, 200, 4.0, 4, 1, "code")
    assert chosen == {"separate"}
    assert 2 * errors_found["separate"] < errors_found["gauss"]
    assert errors_found["adaptive"] < 0.6 * errors_found["gauss"]


def test_with_the_bounds_of_the_theorem_the_worse_mechanism_is_chosen() -> None:
    errors_found, chosen = mean_errors(6000, 200, 4.0, 4, 1, "theorem")
    assert chosen == {"gauss"}
    assert 2 * errors_found["separate"] < errors_found["gauss"]
