"""Test output perturbation for ridge regression: the minimiser, and the derivation of the sensitivity."""

import numpy as np
import pytest
import sympy

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.downstream.ridge import coefficients
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.pure.output_perturbation import release, sample
from covassay.verification.audit.knowledge.output_perturbation import worst_pair
from tests.conventions import Matrix, Vector


def minimiser(x: Matrix, alpha: float) -> Vector:
    return coefficients(second_moment(x), x.shape[1] - 1, alpha)


def test_the_minimiser_is_where_the_gradient_is_zero() -> None:
    x = unit_rows(np.random.default_rng(0).standard_normal((7, 4)))
    w, alpha = release(x, np.zeros(3), epsilon=1, alpha=0.03), 0.03
    gradient = ((x[:, :3] @ w - x[:, 3])[:, None] * x[:, :3]).mean(axis=0) + 2 * alpha * w
    np.testing.assert_allclose(gradient, 0, atol=1e-15)


def test_a_target_without_a_feature_is_refused() -> None:
    for call in (lambda: release([[0.5]], np.zeros(0), epsilon=1),
                 lambda: sample([[0.5]], np.random.default_rng(0), epsilon=1)):  # fmt: skip
        with pytest.raises(InvalidInput, match="x has 1 column"):
            call()


@pytest.mark.thorough
def test_the_steps_of_the_derivation_hold_for_symbols() -> None:
    w, phi, k, lam = sympy.symbols("W phi kappa lambda", positive=True)
    # G is the maximum over φ of W sin²φ + sin φ cos φ = (W + sin 2φ − W cos 2φ)/2.
    assert sympy.simplify(w * sympy.sin(phi) ** 2 + sympy.sin(phi) * sympy.cos(phi)
                          - (w + sympy.sin(2 * phi) - w * sympy.cos(2 * phi)) / 2) == 0  # fmt: skip
    # The quotient √(λ(1 − λ))/(λ + κ) is stationary at λ = κ/(1 + 2κ), with value W.
    square = lam * (1 - lam) / (lam + k) ** 2
    at = k / (1 + 2 * k)
    assert sympy.simplify(sympy.diff(square, lam).subs(lam, at)) == 0
    assert sympy.simplify(square.subs(lam, at) - 1 / (4 * k * (1 + k))) == 0


def moved(first: Matrix, second: Matrix, alpha: float) -> float:
    return float(np.linalg.norm(minimiser(first, alpha) - minimiser(second, alpha)))


def test_the_constant_for_a_loss_of_slope_one_is_too_small_for_squares() -> None:
    # CMS11 has the scale 2/(nΛ) for F = … + (Λ/2)‖w‖², so Λ = 2α and the scale is 1/(αn).
    first, second = worst_pair(10**5, 1e-3)
    assert moved(first, second, 1e-3) > 5 / (1e-3 * 10**5)
