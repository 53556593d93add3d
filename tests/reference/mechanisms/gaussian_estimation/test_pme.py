"""Test PME: its pairs of rows, its result without noise, its budget, and that its error does not grow with κ or R."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covassay.reference.domain import Chunks, blocks
from covassay.reference.laws import haar
from covassay.reference.mechanisms.gaussian_estimation import kv_mean, naive_pce, naive_pme, ppc
from covassay.reference.mechanisms.gaussian_estimation.pme import (
    PMENoise,
    differences,
    draw_noise,
    image_bound,
    release,
    sample,
)
from tests.conventions import Matrix
from tests.reference.mechanisms.recording import recorded_calls


def data(n: int, kappa: float, mean_bound: float, d: int = 3, seed: int = 0) -> tuple[Matrix, Matrix, Matrix]:
    """Return rows from N(μ, Σ), μ and Σ^{-1/2}. The mean μ has norm `mean_bound`, and Σ has eigenvalues from 1 to κ in
    geometric progression.
    """
    rng = np.random.default_rng(seed)
    q, levels, mu = haar.sample(d, rng), np.geomspace(1, kappa, d), rng.standard_normal(d)
    mu *= mean_bound / np.linalg.norm(mu)
    return rng.standard_normal((n, d)) @ ((q * np.sqrt(levels)) @ q.T) + mu, mu, (q / np.sqrt(levels)) @ q.T


# Pairs


def test_one_record_makes_one_zero_row() -> None:
    """Test that `differences` returns one row of zeros for data with a single row, and that the mechanism releases a
    mean of such data.
    """
    np.testing.assert_array_equal(next(iter(blocks(differences(np.array([[5.0, 6.0]]))))), [[0, 0]])
    assert sample([[5.0, 6.0]], np.random.default_rng(0), rho=1.0).shape == (2,)


def test_a_difference_that_is_no_float_counts_as_zero() -> None:
    x = np.array([[-1.7e308, 0.0], [1.7e308, 1.0], [0.0, 0.0], [1.0, 1.0]])
    np.testing.assert_allclose(next(iter(blocks(differences(x)))), [[0, 0], [math.sqrt(0.5)] * 2])


@settings(max_examples=40)
@given(n=st.integers(2, 9), i=st.integers(0, 8), size=st.integers(1, 4))
def test_one_record_moves_at_most_one_difference(n: int, i: int, size: int) -> None:
    """Test that a change of one row changes at most one difference."""
    x = np.random.default_rng(n).standard_normal((n, 2))
    y = x.copy()
    y[i % n] += 1
    chunks = [Chunks(a.shape, lambda a=a: (a[k : k + size] for k in range(0, n, size))) for a in (x, y)]  # type: ignore[misc]
    first, second = (np.vstack(list(blocks(differences(c)))) for c in chunks)
    assert len(first) == n // 2 == differences(chunks[0]).shape[0]
    np.testing.assert_array_equal(first, next(iter(blocks(differences(x)))))
    assert (np.abs(first - second).max(axis=1) > 0).sum() == (i % n < n // 2 * 2)
    # mutant: with the differences of all successive rows, a change of one row changes two differences
    moved = np.abs(np.diff(x, axis=0) - np.diff(y, axis=0)).max(axis=1) > 0
    assert moved.sum() == (1 if i % n in (0, n - 1) else 2)


def test_without_noise_in_the_last_step_the_mean_comes_back() -> None:
    # No coordinate of Ax is clipped, so that the clipped mean equals the mean.
    x, _mu, _ = data(2000, 1e5, 10.0)
    drawn = draw_noise(3, np.random.default_rng(1), kappa=1e5, mean_bound=10.0)
    noise = PMENoise(drawn.rounds, kv_mean.KVMeanNoise(0 * drawn.mean.counts, 0 * drawn.mean.mean))
    got = release(x, noise, rho=50.0, kappa=1e5)
    np.testing.assert_allclose(got, x.mean(axis=0), rtol=1e-9, atol=1e-9)
    # mutants: A⁻ᵀ in place of A⁻¹, and no inverse at all
    a, inverse = ppc.precondition(
        differences(x), drawn.rounds, rho=25.0, calibration="reconstructed", kappa=1e5, beta=0.05
    )
    for wrong in (inverse.T @ a @ x.mean(axis=0), a @ x.mean(axis=0)):
        assert np.abs(wrong - got).max() > 0.1


def test_the_mean_does_not_reach_the_preconditioner() -> None:
    x, _, _ = data(500, 1e5, 10.0)
    rounds = ppc.draw_noise(3, np.random.default_rng(2), kappa=1e5)
    options: Any = {"rho": 1.0, "calibration": "tight", "kappa": 1e5, "beta": 0.1}
    a, _ = ppc.precondition(differences(x), rounds, **options)
    moved, _ = ppc.precondition(differences(x + 1024.0), rounds, **options)
    np.testing.assert_allclose(moved, a, atol=1e-9)
    wrong, _ = ppc.precondition(x + 1024.0, rounds, **options)  # mutant: x in place of differences
    assert np.abs(wrong - a).max() > 0.1


def test_the_steps_share_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test that the steps share the budget ρ and the failure probability β."""
    rounds, means = recorded_calls(monkeypatch, naive_pce, "estimate"), recorded_calls(monkeypatch, naive_pme)
    sample(np.eye(5), np.random.default_rng(0), rho=0.7, kappa=1e4, mean_bound=3.0, beta=0.1)
    assert [r.rows for r in rounds] == [2] * 7
    assert sum(r.options["rho"] for r in rounds) == pytest.approx(0.35)
    assert sum(r.options["beta"] for r in rounds) == pytest.approx(0.05)
    assert means == [(5, {"rho": 0.35, "kappa": 1000, "mean_bound": image_bound(3.0), "beta": 0.05})]


def test_the_error_does_not_grow_with_kappa_or_the_bound_on_the_mean() -> None:
    # The errors were at most 0.035. The error of the naive estimator was 6.0 at κ = 1e8.
    for kappa, mean_bound in ((1e4, 10.0), (1e8, 10.0), (1e4, 1e4)):
        x, mu, whiten = data(40_000, kappa, mean_bound)
        rng = np.random.default_rng(3)
        got = sample(x, rng, rho=1.0, calibration="tight", kappa=kappa, mean_bound=mean_bound)
        assert np.linalg.norm(whiten @ (got - mu)) < 0.06
        naive = naive_pme.sample(x, rng, rho=1.0, kappa=kappa, mean_bound=mean_bound)
        assert kappa < 1e8 or np.linalg.norm(whiten @ (naive - mu)) > 1
