"""AdaptiveCov: known answers, its choices, its account, and its errors on the data of the paper.

Statistical tests have fixed seeds. The asserted limits are far from the errors that chance could produce.
"""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest

from covassay.reference import tails
from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.laws.wigner import ENSEMBLES, separation_squared
from covassay.reference.mechanisms.building_blocks import above_threshold, private_radius
from covassay.reference.mechanisms.concentrated import adaptive_cov, clipped_cov, gauss_cov, separate_cov
from covassay.reference.mechanisms.concentrated.adaptive_cov import (
    MECHANISM,
    AdaptiveCovNoise,
    draw_noise,
    errors,
    final_budget,
    gauss_noise,
    privacy_loss,
    release,
    sample,
    search_epsilon,
    separate_noise,
    spend,
)
from covassay.reference.mechanisms.concentrated.clipped_cov import last_level, search_loss
from covassay.reference.privacy import ZCDP
from covassay.reference.projections import spectral_interval
from covassay.reference.sensitivity import difference
from covassay.verification.claims.checks.dly22.zipf_data import zipf_rows
from tests.conventions import Matrix

RADII: Any = MECHANISM.choices["radius"]
BOUNDS: Any = MECHANISM.choices["bounds"]


def every_choice() -> list[dict[str, Any]]:
    return [dict(zip(MECHANISM.choices, words, strict=True)) for words in product(*MECHANISM.choices.values())]


def quiet(n: int, d: int, trace: float = 0.0, radius: bool = False) -> AdaptiveCovNoise:
    """Noise that is zero everywhere except in the trace."""
    levels = len(private_radius.public_radii(private_radius.PRECISION))
    return AdaptiveCovNoise(
        above_threshold.AboveThresholdNoise(0.0, np.zeros(levels)) if radius else None,
        trace,
        above_threshold.AboveThresholdNoise(0.0, np.zeros(last_level(n, d) + 1)),
        separate_cov.SeparateCovNoise(np.zeros((d, d)), np.zeros(d)),
    )


# Known answers


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


def test_the_noise_of_gauss_cov_falls_with_the_square_of_the_threshold() -> None:
    # The authors' code searches with 2^{−k} g, as if the noise fell in proportion to the threshold itself.
    assert [gauss_noise(k, 1.0) for k in range(3)] == [1, 0.25, 0.0625]
    assert [separate_noise(k, 1.0, 1.0) for k in range(3)] == [2, 0.75, 0.3125]


def decision(
    x: Matrix, rho: float, bounds: Any, noise: AdaptiveCovNoise | None = None, calibration: Any = "paper"
) -> tuple[int, str]:
    """The level k* from the search, and the mechanism that `release` chooses in step 4."""
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


def test_a_decision_agrees_with_a_hand_calculation() -> None:
    # Of 1000 rows a tenth has norm 1 and the rest 1/8. d = 2 and ρ = 2, so ρ₁ = 3/2 and
    # g = √(4 + 2√(6 ln(1/.075)) + 4 ln(1/.075))/(1000 √1.5) = 0.00393. B₀ = 0 < g and B₁ = .075 > g/4, so k* = 1.
    x = np.repeat([[0.0, 1.0], [0.125, 0.0]], [100, 900], axis=0)
    log = math.log(1 / 0.075)
    g = math.sqrt(4 + 2 * math.sqrt(6 * log) + 4 * log) / (1000 * math.sqrt(1.5))
    assert errors(1000, 2, 1.5, 1.0, 0.075, "wigner", "theorem").gauss == pytest.approx(g, rel=1e-14)
    assert decision(x, 2.0, "theorem") == (1, "gauss")
    # For k* = 1 rows are clipped to 1, so nothing changes.
    got = release(x, quiet(1000, 2), rho=2.0)
    np.testing.assert_allclose(got, np.diag([0.9 / 64, 0.1]), atol=1e-15)


def test_the_release_is_the_chosen_mechanism_on_clipped_rows() -> None:
    rng = np.random.default_rng(1)
    x = unit_rows(zipf_rows(600, 5, rng, buckets=6))
    for bounds in BOUNDS:
        for calibration in ("paper", "tight"):
            noise = draw_noise(5, np.random.default_rng(2), rows=600)
            rho = 20.0
            level, base = decision(x, rho, bounds, noise, calibration)
            tau = min(1.0, 2.0 ** (1 - level))
            final = final_budget(rho, "none", calibration)
            if base == "gauss":
                expected = gauss_cov.release(x, noise.base.matrix, rho=final, row_bound=tau)
            else:
                expected = separate_cov.release(x, noise.base, rho=final, row_bound=tau)
            expected = spectral_interval(expected, 0, tau**2)
            got = release(x, noise, rho=rho, calibration=calibration, bounds=bounds)
            np.testing.assert_allclose(got, expected, atol=1e-12)


def test_a_private_radius_shrinks_the_noise() -> None:
    # All rows have norm 1/16. The radius that is found is 1/16 or 1/8: the noise is 64 times smaller, or more.
    x = np.tile([[1 / 16, 0.0], [0.0, 1 / 16]], (20_000, 1))
    noise = draw_noise(2, np.random.default_rng(0), rows=40_000, radius="private")
    found = private_radius.release(x, noise.radius, epsilon=search_epsilon(1.0), beta=0.0125)  # type: ignore[arg-type]
    assert found in (1 / 16, 1 / 8)
    got = release(x, noise, rho=1.0, radius="private")
    assert np.linalg.norm(got - second_moment(x)) < found**2 * 10 / 40_000


def test_only_zero_rows_leave_next_to_nothing() -> None:
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


def test_the_noise_that_is_drawn_is_the_noise_that_is_used() -> None:
    x = zipf_rows(40, 3, np.random.default_rng(0))
    for options in every_choice():
        chosen = {name: options[name] for name in ("radius", "ensemble")}
        noise = draw_noise(3, np.random.default_rng(3), rows=40, precision=0.01, **chosen)
        drawn = sample(x, np.random.default_rng(3), rho=0.2, precision=0.01, **options)
        np.testing.assert_array_equal(drawn, release(x, noise, rho=0.2, precision=0.01, **options))


@pytest.mark.parametrize(
    ("option", "value"),
    [("radius", "public"), ("bounds", "paper"), ("ensemble", "x"), ("beta", 1.0), ("beta", 0.0), ("precision", 0.0),
     ("precision", 2.0)],
)  # fmt: skip
def test_a_bad_option_is_refused(option: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=f"^{option} = "):
        sample(np.zeros((3, 2)), np.random.default_rng(0), rho=1.0, **{option: value})


def test_the_bound_on_the_trace_is_capped_at_one_and_kept_positive() -> None:
    # min(tr, r), which the authors' code has for min(tr, r²), does not scale with the unit.
    assert [min(1e6, r) / r**2 for r in (0.25, 1.0, 4.0)] == [4.0, 1.0, 0.25]
    x = zipf_rows(300, 4, np.random.default_rng(0))
    for trace in (-1e6, 1e6):
        noise = quiet(300, 4, trace)
        for r in (0.25, 4.0):
            np.testing.assert_array_equal(
                release(r * x, noise, rho=1.0, row_bound=r), r**2 * release(x, noise, rho=1.0)
            )


# What is spent

SHARES = {
    ("none", "paper"): Fraction(29, 32),
    ("private", "paper"): Fraction(26, 32),
    ("none", "tight"): Fraction(1),
    ("private", "tight"): Fraction(1),
}


@pytest.mark.parametrize(("radius", "calibration"), SHARES)
def test_the_spend_is_that_of_the_table(radius: Any, calibration: Any) -> None:
    for bounds in BOUNDS:
        for ensemble in ENSEMBLES:
            for d in (2, 9):
                result = spend(rho=0.8, dimension=d, radius=radius, calibration=calibration, ensemble=ensemble,
                               bounds=bounds)  # fmt: skip
                assert result.claimed == ZCDP(0.8)
                assert isinstance(result.proven, ZCDP)
                assert result.proven.rho == pytest.approx(0.8 * float(SHARES[radius, calibration]), rel=1e-14)


@pytest.mark.parametrize(("radius", "calibration"), SHARES)
def test_the_account_agrees_with_a_hand_calculation(radius: str, calibration: str) -> None:
    # The trace costs ρ/8, every search ε₀²/8 = ρ/32, and the last step ρ₁.
    searches = 1 if radius == "none" else 2
    total = Fraction(1, 8) + searches * Fraction(1, 32) + Fraction(final_budget(1.0, radius, calibration))
    assert total == SHARES[radius, calibration]
    assert privacy_loss(1.0, 2, radius, calibration) == pytest.approx(float(total), rel=1e-14)
    assert search_loss(search_epsilon(1.0)) == pytest.approx(1 / 32, rel=1e-14)


def test_in_dimension_one_the_last_step_spends_half() -> None:
    # 1/8 + 1/32 + 3/8
    proven = spend(rho=1.0, dimension=1).proven
    assert proven == ZCDP(17 / 32)


def test_the_trace_step_and_the_last_step_can_both_spend_nearly_all_of_their_shares() -> None:
    # For x = e₁, y = τ e₂ the trace moves by 1 − τ², and clipped to τ and divided by it the rows are orthonormal.
    # So the two steps spend ρ/8 (1 − τ²)² + 3ρ/4, nearly the sum, and more than the 3ρ/4 of the case without clipping.
    rho, tau = 1.0, 1 / 16
    x, y = np.array([[1.0, 0.0]]), np.array([[0.0, tau]])
    trace_slope = (1 - tau**2) ** 2 / (2 * (4 / rho))  # standard deviation 2/(n√ρ)
    change = difference(unit_rows(x, tau)[0], unit_rows(y, tau)[0])
    final_slope = separation_squared(change / gauss_cov.noise_scale(1, 0.75 * rho), "wigner") / 2
    assert final_slope == pytest.approx(0.75)
    assert trace_slope + final_slope > 0.87
    unclipped = separation_squared(difference(x[0], y[0]) / gauss_cov.noise_scale(1, 0.75 * rho), "wigner") / 2
    assert trace_slope + unclipped < 0.75


# The experiments of the paper


def mean_errors(
    n: int, d: int, rho: float, buckets: int, repeats: int, bounds: Any
) -> tuple[dict[str, float], set[str]]:
    """Mean Frobenius errors, with eigenvalues rounded to [0, 1] as in the paper, and the mechanisms chosen."""
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
    # At trace 1 GaussCov is better, at trace .041 SeparateCov, by a factor 2. n(B₁ − N₁) = 36 is nine noise scales.
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("buckets", "measured"),
    [
        # our measurements, means of two runs, to two digits
        (4, {"gauss": 0.0091, "goe": 0.0065, "separate": 0.0027, "adaptive": 0.0030}),
        (1, {"gauss": 0.0117, "goe": 0.0086, "separate": 0.0153, "adaptive": 0.0135}),
    ],
)
def test_the_errors_at_the_sizes_of_the_paper_are_as_measured(buckets: int, measured: dict[str, float]) -> None:
    errors_found, chosen = mean_errors(50_000, 200, 0.1, buckets, 2, "code")
    assert chosen == ({"separate"} if buckets == 4 else {"gauss"})
    for name, expected in measured.items():
        assert errors_found[name] == pytest.approx(expected, rel=0.1)
