"""Test tail bounds: their values, and that they hold on draws.

A bound holds on draws if the number of draws beyond it is not more than a binomial of probability β allows, at level
1e-9; a bound that is too small is shown to fail the same check.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import mpmath
import numpy as np
import pytest
from scipy import stats

from covassay.reference import tails
from covassay.reference.laws import wigner
from tests.conventions import Vector, too_often_above

DRAWS = 2000
DIMENSIONS = [1, 2, 3, 10, 40]
BETAS = [0.5, 0.1, 0.01]
Bound = Callable[[float, float], float]
SAMPLERS = {"wigner": wigner.sample_wigner, "goe": wigner.sample_goe, "laplace": wigner.sample_laplace}


@lru_cache
def norms(name: str, d: int) -> tuple[Vector, Vector]:
    """Return the spectral and the Frobenius norms of draws of a noise matrix."""
    z = SAMPLERS[name](d, np.random.default_rng(d), DRAWS)
    return np.abs(np.linalg.eigvalsh(z)[:, [0, -1]]).max(axis=1), np.linalg.norm(z, axis=(1, 2))


# Exact


def test_the_values_agree_with_a_hand_calculation() -> None:
    # at ln(1/β) = 2 and d = 8: √(8 + 2·4 + 4) = √20; √(64 + 2√(8·15·2) + 8); 2√8 + √((4 − 1/4)(2 + ln 2))
    beta = math.exp(-2)
    assert tails.eta(8, beta) == pytest.approx(math.sqrt(20), rel=1e-14)
    assert tails.omega_sharp(8, beta) == pytest.approx(math.sqrt(72 + 2 * math.sqrt(240)), rel=1e-14)
    assert tails.upsilon_star(8, beta) == pytest.approx(
        2 * math.sqrt(8) + math.sqrt(3.75 * (2 + math.log(2))), rel=1e-14
    )
    assert tails.upsilon_goe(8, beta) == pytest.approx(4 + math.sqrt(2 * (2 + math.log(2))), rel=1e-14)
    # at ln(2/β) = 2 and d = 8: √(64 + 2·4·(1 + √14) + 12)
    assert tails.omega(8, 2 * beta) == pytest.approx(math.sqrt(76 + 8 * (1 + math.sqrt(14))), rel=1e-14)
    # K = 2 max(5.828…, 2·3) = 12 at 8 entries, and 2·2·log₂ 36 at 36
    assert tails.psi_norm(8) == pytest.approx(12, rel=1e-14)
    assert tails.eta_laplace(8, 2 * beta) == pytest.approx(1.5 * math.sqrt(8) + 24, rel=1e-14)
    assert tails.omega_laplace(8, 2 * beta) == pytest.approx(12 + 8 * math.log2(36), rel=1e-14)


def test_upsilon_has_the_values_that_the_authors_notes_record() -> None:
    assert tails.upsilon_star(200, 0.05) == pytest.approx(32.12, abs=0.005)
    assert tails.upsilon(200, 0.05) == pytest.approx(74.79, abs=0.005)


# Draws


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("beta", BETAS)
def test_every_gaussian_bound_holds_on_draws(d: int, beta: float) -> None:
    spectral, frobenius = norms("wigner", d)
    assert not too_often_above(frobenius, tails.omega(d, beta), beta)
    assert not too_often_above(frobenius, tails.omega_sharp(d, beta), beta)
    assert not too_often_above(spectral, tails.upsilon_star(d, beta), beta)
    assert d == 1 or not too_often_above(spectral, tails.upsilon(d, beta), beta)
    spectral, frobenius = norms("goe", d)
    assert not too_often_above(frobenius, tails.eta(d * (d + 1) / 2, beta), beta)
    assert not too_often_above(spectral, tails.upsilon_goe(d, beta), beta)


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("beta", BETAS)
def test_every_laplace_bound_holds_on_draws(d: int, beta: float) -> None:
    spectral, frobenius = norms("laplace", d)
    assert not too_often_above(frobenius, tails.omega_laplace(d, beta), beta)
    assert d == 1 or not too_often_above(spectral, tails.upsilon_laplace(d, beta), beta)
    vectors = np.linalg.norm(np.random.default_rng(d).laplace(size=(DRAWS, d)), axis=1)
    assert not too_often_above(vectors, tails.eta_laplace(d, beta), beta)


@pytest.mark.parametrize(
    ("law", "norm", "bound"),
    [
        pytest.param("wigner", 0, lambda d, b: tails.upsilon_goe(d, b), id="υ of GOE for Wigner"),
        pytest.param("wigner", 0, lambda d, b: 2 * math.sqrt(d) - math.sqrt(math.log(2 / b)), id="υ* minus its tail"),
        pytest.param("wigner", 1, lambda d, b: tails.eta(d * (d + 1) / 2, b), id="ω from the entries of one triangle"),
        pytest.param("goe", 1, lambda d, b: math.sqrt(d * (d + 1) / 2), id="η without its tail"),
        pytest.param("laplace", 0, lambda d, b: tails.upsilon_star(d, b), id="υ* for Laplace entries"),
    ],
)
def test_a_bound_that_is_too_small_is_refuted_by_draws(law: str, norm: int, bound: Bound) -> None:
    d, beta = 40, 0.1
    assert too_often_above(norms(law, d)[norm], bound(d, beta), beta)


def test_upsilon_star_is_about_half_of_the_authors_bound_or_less() -> None:
    for d in (2, 10, 200, 800):
        for beta in (0.1, 0.05):
            assert tails.upsilon_star(d, beta) < 0.53 * tails.upsilon(d, beta)


# What the docstrings say is refuted


def test_the_authors_upsilon_is_false_far_out() -> None:
    # at u = (1, 1)/√2, uᵀWu ~ N(0, 3/2): a lower bound on P(‖W‖ > υ)
    def log_probability(log_inverse_beta: float) -> float:
        # υ needs ln(2/β) = ln 2 + ln(1/β), and β itself underflows: mpmath
        beta = mpmath.exp(-mpmath.mpf(log_inverse_beta))
        bound = float(tails.upsilon(2, beta, mpmath.log))
        return float(stats.norm.logsf(bound / math.sqrt(1.5)))

    assert log_probability(2600) > -2600
    assert log_probability(2500) < -2500  # this event does not refute the bound there


def test_the_proven_upsilon_survives_the_same_event() -> None:
    for log_inverse_beta in (1, 100, 2600, 10**6):
        beta = mpmath.exp(-mpmath.mpf(log_inverse_beta))
        for d in (1, 2, 7):
            bound = float(tails.upsilon_star(d, beta, mpmath.log))
            assert stats.norm.logsf(bound / math.sqrt(2 - 1 / d)) + math.log(2) <= -log_inverse_beta


def test_the_leading_term_for_laplace_entries_is_too_small() -> None:
    def first_part(d: float) -> float:
        return float(tails.upsilon_laplace(d, 2))  # ln(2/β) = 0

    limit = lambda d: 2 * math.sqrt(2 * d)  # noqa: E731
    assert first_part(3e5) < limit(3e5)
    assert first_part(2e5) > limit(2e5)


def test_the_same_code_runs_with_many_digits() -> None:
    for bound in (tails.eta, tails.omega, tails.omega_sharp, tails.upsilon, tails.upsilon_star, tails.upsilon_goe,
                  tails.eta_laplace, tails.omega_laplace, tails.upsilon_laplace):  # fmt: skip
        with mpmath.workdps(40):
            exact = bound(mpmath.mpf(7), mpmath.mpf(1) / 8, mpmath.log)
        assert bound(7, 0.125) == pytest.approx(float(exact), rel=1e-14)
