"""Test PPC: the bounds on eigenvalues after every round at the sufficient sample size, and the budget of the rounds."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Chunks
from covassay.reference.laws import haar
from covassay.reference.mechanisms.gaussian_estimation import naive_pce, weak_ppc
from covassay.reference.mechanisms.gaussian_estimation.ppc import (
    draw_noise,
    image,
    kappa_of_round,
    precondition,
    release,
    rounds,
    sample,
    sufficient_rows,
)
from tests.conventions import Matrix
from tests.reference.mechanisms.recording import recorded_calls


def rotated(levels: Matrix, seed: int = 0) -> tuple[Matrix, Matrix]:
    """Return a covariance matrix with these eigenvalues, and its square root."""
    q = haar.sample(len(levels), np.random.default_rng(seed))
    return (q * levels) @ q.T, (q * np.sqrt(levels)) @ q.T


# Rounds


def test_the_rounds_share_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test that the rounds share ρ and β, and that κ decreases from round to round."""
    calls = recorded_calls(monkeypatch, naive_pce, "estimate")
    sample(np.eye(2), np.random.default_rng(0), rho=0.7, calibration="tight", kappa=1e4, beta=0.14)
    seen = [call.options for call in calls]
    assert len(seen) == 7
    assert sum(s["rho"] for s in seen) == pytest.approx(0.7)
    assert [s["beta"] for s in seen] == pytest.approx([0.02] * 7)
    assert {s["calibration"] for s in seen} == {"tight"}
    assert [s["kappa"] for s in seen] == pytest.approx([1e4 * 0.69**t for t in range(7)])


# The invariant


def products(steps: list[Matrix]) -> list[Matrix]:
    """Return the product of the rounds' matrices after every round."""
    result, a = [], np.eye(len(steps[0]))
    for step in steps:
        a = step @ a
        result.append(a)
    return result


LEVELS: dict[str, Callable[[int, float], Matrix]] = {
    "geometric": lambda d, kappa: np.geomspace(1, kappa, d),
    "one large": lambda d, kappa: np.array([kappa] + [1.0] * (d - 1)),
    "one small": lambda d, kappa: np.array([1.0] + [kappa] * (d - 1)),
    "round": lambda d, kappa: np.full(d, 1.0),
}


@pytest.mark.parametrize(
    ("kappa", "d", "rho", "levels"),
    [
        (1e4, 5, 1.0, "one large"),
        pytest.param(1e6, 10, 1.0, "geometric", marks=pytest.mark.slow),
        *(pytest.param(1e6, 10, 0.1, name, marks=pytest.mark.slow) for name in LEVELS),
        *(pytest.param(1e4, 5, 0.1, name, marks=pytest.mark.slow) for name in LEVELS),
        *(pytest.param(1e4, 5, 1.0, name, marks=pytest.mark.slow) for name in LEVELS if name != "one large"),
    ],
)
def test_the_invariant_holds_after_every_round(
    kappa: float, d: int, rho: float, levels: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With β = 1e-9 and `sufficient_rows` rows, the bounds on the eigenvalues fail with probability at most 3e-9.
    sigma, root = rotated(LEVELS[levels](d, kappa))
    n = sufficient_rows(rho=rho, dimension=d, kappa=kappa, beta=1e-9, calibration="reconstructed")
    rng = np.random.default_rng(7)
    x = rng.standard_normal((n, d)) @ root
    steps: list[Matrix] = []
    original = weak_ppc.preconditioner

    def remember(z: Matrix, kappa_t: float) -> tuple[Matrix, Matrix]:
        steps.append(original(z, kappa_t)[0])
        return original(z, kappa_t)

    monkeypatch.setattr(weak_ppc, "preconditioner", remember)
    released = release(x, draw_noise(d, rng, kappa=kappa), rho=rho, kappa=kappa, beta=1e-9)
    assert len(steps) == rounds(kappa)
    for t, a in enumerate(products(steps), start=1):
        eigenvalues = np.linalg.eigvalsh(a @ sigma @ a.T)
        assert eigenvalues[0] >= 1 - 1e-9, t
        assert eigenvalues[-1] <= kappa_of_round(kappa, t + 1) * (1 + 1e-9), t
    np.testing.assert_allclose(released, products(steps)[-1], rtol=1e-12)
    last = np.linalg.eigvalsh(released @ sigma @ released.T)
    assert 1 - 1e-9 <= last[0] <= last[-1] <= 1000 * (1 + 1e-9)
    # The symmetric square root of AᵀA satisfies the same bounds.
    values, vectors = np.linalg.eigh(released.T @ released)
    symmetric = (vectors * np.sqrt(values)) @ vectors.T
    np.testing.assert_allclose(np.linalg.eigvalsh(symmetric @ sigma @ symmetric), last, rtol=1e-6)


def mutated(x: Matrix, noise: Matrix, kappa: float, side: str) -> Matrix:
    """Run PPC with one error: the wrong side of a multiplication.

    With side "rows", every row x is replaced by Aᵀx in place of Ax. With side "product", the matrix of a new round
    multiplies the product of the earlier matrices from the right in place of the left.
    """
    a, total = np.eye(x.shape[1]), len(noise)
    for t, z in enumerate(noise, start=1):
        kappa_t = kappa_of_round(kappa, t)
        rows = x @ a if side == "rows" else x @ a.T
        estimate = naive_pce.release(rows, z, rho=1.0 / total, kappa=kappa_t, beta=1e-9 / total)
        step, _ = weak_ppc.preconditioner(estimate, kappa_t)
        a = a @ step if side == "product" else step @ a
    return a


@pytest.mark.parametrize("side", ["rows", "product"])
def test_multiplying_by_the_preconditioner_on_the_wrong_side_breaks_the_invariant(side: str) -> None:
    kappa, d, n = 1e6, 3, 40_000
    sigma, root = rotated(np.geomspace(1, kappa, d))
    rng = np.random.default_rng(3)
    x = rng.standard_normal((n, d)) @ root
    noise = draw_noise(d, rng, kappa=kappa)

    def spread(a: Matrix) -> tuple[float, float]:
        eigenvalues = np.linalg.eigvalsh(a @ sigma @ a.T)
        return float(eigenvalues[0]), float(eigenvalues[-1])

    right = spread(release(x, noise, rho=1.0, kappa=kappa, beta=1e-9))
    assert right[0] >= 1
    assert right[1] <= 1000
    wrong = spread(mutated(x, noise, kappa, side))
    assert wrong[0] < 1 or wrong[1] > 1000


def test_data_too_large_for_memory_are_generated_on_every_pass() -> None:
    kappa, d, n = 1e4, 3, 40_000
    sigma, root = rotated(np.geomspace(1, kappa, d))

    def start() -> Any:
        rng = np.random.default_rng(11)
        return (rng.standard_normal((10_000, d)) @ root for _ in range(n // 10_000))

    a = sample(Chunks((n, d), start), np.random.default_rng(5), rho=1.0, kappa=kappa)
    eigenvalues = np.linalg.eigvalsh(a @ sigma @ a.T)
    assert eigenvalues[0] >= 1
    assert eigenvalues[-1] <= 1000


def test_the_product_of_two_rounds_is_not_symmetric() -> None:
    # Except for a factor 1/√0.84, the first round halves the axis (1, 0), and the second round halves (1, 1)/√2.
    # The product is [[¾, −¼], [−¼, ¾]] diag(½, 1) = [[3/8, −1/4], [−1/8, 3/4]].
    first, _ = weak_ppc.preconditioner(np.diag([1000.0, 0.0]), 1000.0)
    second, _ = weak_ppc.preconditioner(np.full((2, 2), 600.0), 1000.0)
    np.testing.assert_allclose(second @ first * 0.84, [[0.375, -0.25], [-0.125, 0.75]], atol=1e-14)


def test_a_round_covariance_needs_no_round() -> None:
    """Test that there is no round if κ is small enough."""
    np.testing.assert_array_equal(release(np.eye(2), np.zeros((0, 2, 2)), rho=1.0, kappa=1000.0), np.eye(2))


def test_the_inverse_is_the_inverse() -> None:
    """Test that the second result of `precondition` is the inverse of the first."""
    rng = np.random.default_rng(0)
    for kappa in (1e4, 1e9):
        x = rng.standard_normal((50, 4)) * np.array([1.0, 10.0, 100.0, 1000.0])
        a, inverse = precondition(
            x, draw_noise(4, rng, kappa=kappa), rho=1.0, calibration="reconstructed", kappa=kappa, beta=0.1
        )
        np.testing.assert_allclose(a @ inverse, np.eye(4), atol=1e-9)


def test_a_row_whose_image_is_no_float_counts_as_zero() -> None:
    x = np.array([[1e308, 1e308], [1.0, 2.0]])
    np.testing.assert_array_equal(image(np.array([[2.0, 1.0], [0.0, 1.0]]), x), [[0, 0], [4, 2]])
