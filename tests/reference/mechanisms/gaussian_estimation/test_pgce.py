"""Test PGCE: its result without noise, its budget, and that its error does not grow with κ."""

import numpy as np
import pytest

from covassay.reference.laws import haar
from covassay.reference.mechanisms.gaussian_estimation import naive_pce, ppc
from covassay.reference.mechanisms.gaussian_estimation.pgce import PGCENoise, half, release, sample
from tests.conventions import Matrix
from tests.reference.mechanisms.recording import recorded_calls

KAPPA = 1e5


def data(n: int = 400, d: int = 3, kappa: float = KAPPA, seed: int = 0) -> tuple[Matrix, Matrix]:
    """Return rows from N(0, Σ), where Σ has eigenvalues from 1 to κ in geometric progression, and Σ^{-1/2}."""
    rng = np.random.default_rng(seed)
    q, levels = haar.sample(d, rng), np.geomspace(1, kappa, d)
    return rng.standard_normal((n, d)) @ ((q * np.sqrt(levels)) @ q.T), (q / np.sqrt(levels)) @ q.T


def no_noise(d: int, kappa: float) -> PGCENoise:
    return PGCENoise(np.zeros((ppc.rounds(kappa), d, d)), np.zeros((d, d)))


def test_without_noise_in_the_last_step_the_second_moment_comes_back() -> None:
    x, _ = data()
    moment = x.T @ x / len(x)
    rounds = ppc.draw_noise(3, np.random.default_rng(6), kappa=KAPPA)
    got = release(x, PGCENoise(rounds, np.zeros((3, 3))), rho=50.0, kappa=KAPPA)
    np.testing.assert_allclose(got, moment, rtol=1e-9, atol=1e-9 * KAPPA)
    # mutant: A⁻¹ S A⁻¹ in place of A⁻¹ S A⁻ᵀ
    a, inverse = ppc.precondition(x, rounds, rho=25.0, calibration="reconstructed", kappa=KAPPA, beta=0.05)
    wrong = inverse @ (a @ moment @ a.T) @ inverse
    assert np.abs(wrong - moment).max() > 0.01 * KAPPA


def test_the_noise_of_the_last_step_is_seen_through_the_inverse() -> None:
    x, _ = data()
    _a, inverse = ppc.precondition(
        x, no_noise(3, KAPPA).rounds, rho=0.5, calibration="reconstructed", kappa=KAPPA, beta=0.05
    )
    z = np.diag([1.0, 2.0, 3.0])  # z is positive definite, so that the projection changes nothing
    got = release(x, PGCENoise(no_noise(3, KAPPA).rounds, z), rho=1.0, kappa=KAPPA)
    r2 = naive_pce.radius_squared(len(x), 3, 1000, 0.05)
    sigma = naive_pce.noise_variance(len(x), 0.5, r2, "reconstructed") ** 0.5
    expected = x.T @ x / len(x) + sigma * inverse @ z @ inverse.T
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9 * KAPPA)


def test_the_steps_share_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test that the steps share the budget ρ and the failure probability β."""
    calls = recorded_calls(monkeypatch, naive_pce, "estimate")
    sample(np.eye(2), np.random.default_rng(0), rho=0.7, calibration="tight", kappa=1e4, beta=0.1)
    seen = [call.options for call in calls]
    assert half(0.7) == 0.35
    assert len(seen) == 8  # one call in each of seven rounds, and one for the final estimate
    assert sum(s["rho"] for s in seen) == pytest.approx(0.7)
    assert seen[-1] == {"rho": 0.35, "calibration": "tight", "kappa": 1000, "beta": 0.05}
    assert sum(s["beta"] for s in seen) == pytest.approx(0.1)


def test_the_error_does_not_grow_with_kappa() -> None:
    # The errors of PGCE were at most 0.23. The error of the naive estimator grew from 1.3 to 150.
    errors: dict[float, tuple[float, float]] = {}
    for kappa in (1e4, 1e7):
        x, whiten = data(40_000, 3, kappa)

        def error(estimate: Matrix, whiten: Matrix = whiten) -> float:
            return float(np.linalg.norm(whiten @ estimate @ whiten - np.eye(3)))

        rng = np.random.default_rng(1)
        errors[kappa] = (
            error(sample(x, rng, rho=1.0, calibration="tight", kappa=kappa)),
            error(naive_pce.sample(x, rng, rho=1.0, calibration="tight", kappa=kappa)),
        )
    assert max(e[0] for e in errors.values()) < 0.6
    assert errors[1e7][1] > 20 * errors[1e4][1]
