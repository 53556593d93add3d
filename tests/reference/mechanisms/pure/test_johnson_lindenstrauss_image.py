"""Test the noise of the projected nuclear-norm ball: the computation of its norm, and the law of its draws.

Statistical tests have fixed seeds. With a random seed, each test of a correct law would raise a false alarm with
probability at most 1e-9. The Markov chain draws the noise only approximately, but its error is too small to be seen in
these tests.
"""

import inspect
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize

from covassay.reference.domain import unit_rows
from covassay.reference.laws import nuclear_laplace as law
from covassay.reference.laws.wigner import unsvec
from covassay.reference.mechanisms.pure.johnson_lindenstrauss import svec_rows, transform
from covassay.reference.mechanisms.pure.johnson_lindenstrauss_image import (
    MECHANISM,
    draw_image_noise,
    norm_of_image,
    release,
    sample,
    spend,
)
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix

# For these pairs of d and α, the projection keeps 1 of 3, 2 of 3, 4 of 6 and 3 of 15 dimensions.
COARSE = [(2, 20.0), (2, 10.0), (3, 8.0), (5, 10.0)]


def test_the_sampler_is_flagged_as_approximate() -> None:
    """Test that the mechanism declares and documents its sampler as approximate."""
    assert MECHANISM.sampler == "approximate"
    assert "not bounded" in spend(epsilon=1, dimension=3).remark
    assert "`sample` draws it only approximately" in " ".join((sample.__doc__ or "").split())


def test_the_length_of_the_walk_is_a_parameter_of_the_draw_alone() -> None:
    assert list(MECHANISM.of_the_draw) == ["walk"]
    assert inspect.signature(sample).parameters["walk"].default == 100
    assert "walk" not in inspect.signature(release).parameters
    assert "walk : " in (sample.__doc__ or "")
    assert "walk : " not in (release.__doc__ or "")
    with pytest.raises(TypeError, match="walk"):
        release(np.eye(2), np.zeros(3), epsilon=1.0, walk=5)  # type: ignore[call-arg]


def test_with_one_projection_the_norm_agrees_with_a_hand_calculation() -> None:
    # With a projection to one dimension, the image of M is ⟨Q, M⟩ for a symmetric matrix Q.
    # The smallest nuclear norm of a matrix with image z is |z|/‖Q‖.
    t = transform(2, 20.0, 0.1, 0)
    assert t.shape == (1, 3)
    spectral = np.abs(np.linalg.eigvalsh(unsvec(t[0]))).max()
    got = norm_of_image(t, np.array([[3.0], [-0.5], [0.0]]), 2)
    np.testing.assert_allclose(got, np.array([3.0, 0.5, 0.0]) / spectral, rtol=1e-9)


def dual_norm_bound(t: Matrix, z: Matrix, d: int, rng: np.random.Generator) -> float:
    """Return a lower bound on the norm of the image z: the largest ⟨z, v⟩ that a search over vectors v of dual norm 1
    finds."""

    def objective(v: Matrix) -> float:
        return -float(z @ v) / float(np.abs(np.linalg.eigvalsh(unsvec(t.T @ v))).max())

    starts = [np.linalg.solve(t @ t.T, z) + 0.3 * rng.standard_normal(len(z)) for _ in range(2)]
    options = {"maxiter": 1500, "xatol": 1e-9, "fatol": 1e-11}
    return max(-float(minimize(objective, v, method="Nelder-Mead", options=options).fun) for v in starts)


@pytest.mark.thorough
@pytest.mark.parametrize(("d", "alpha"), COARSE)
def test_the_norm_meets_its_dual(d: int, alpha: float) -> None:
    """Test that the norm of an image agrees with a lower bound from the dual norm."""
    t, rng = transform(d, alpha, 0.1, 0), np.random.default_rng(d)
    z = rng.standard_normal((6, len(t)))
    primal = norm_of_image(t, z, d)
    dual = np.array([dual_norm_bound(t, one, d, rng) for one in z])
    assert (dual <= primal * (1 + 1e-9)).all()
    np.testing.assert_allclose(primal, dual, rtol=2e-3)
    # mutant: the nuclear norm of the least-squares preimage
    preimage = unsvec(z @ np.linalg.pinv(t).T)
    assert (law.nuclear_norm(preimage) > 1.005 * primal).any()


@settings(max_examples=40)
@given(seed=SEEDS, case=st.sampled_from(COARSE))
def test_one_row_moves_the_image_by_at_most_two_in_the_norm(seed: int, case: tuple[int, float]) -> None:
    d, alpha = case
    t = transform(d, alpha, 0.1, seed % 5)
    x, y = unit_rows(2 * np.random.default_rng(seed).standard_normal((2, d)))
    change = (svec_rows(x[None]) - svec_rows(y[None])) @ t.T
    assert norm_of_image(t, change, d)[0] <= 2 * (1 + 1e-3)


# The draws


def test_without_a_projection_the_noise_is_exact() -> None:
    """Test that without a projection the noise has exactly the symmetric nuclear-Laplace law."""
    z = draw_image_noise(np.eye(3), 2, np.random.default_rng(2), size=2000)
    norms = law.nuclear_norm(unsvec(z))
    assert kolmogorov_smirnov(norms, stats.gamma(3).cdf, "Gamma(3)").p_value > FALSE_ALARM


@pytest.mark.thorough
@pytest.mark.parametrize(("d", "alpha"), COARSE)
def test_the_norm_of_the_noise_is_exact_whatever_the_chain_does(d: int, alpha: float) -> None:
    t = transform(d, alpha, 0.1, 0)
    norms = norm_of_image(t, draw_image_noise(t, d, np.random.default_rng(3), 1, size=500), d)
    assert kolmogorov_smirnov(norms, stats.gamma(len(t)).cdf, "Gamma(l)").p_value > FALSE_ALARM
    assert kolmogorov_smirnov(norms, stats.gamma(len(t) + 2).cdf, "mutant").p_value < FALSE_ALARM


@pytest.mark.thorough
def test_the_direction_of_the_noise_is_near_its_law_in_two_dimensions() -> None:
    # In two dimensions, the density of the angle θ is proportional to the norm of (cos θ, sin θ) to the power −2.
    t = transform(2, 10.0, 0.1, 0)
    t = np.diag([3.0, 1.0]) @ t  # makes the unit ball of the norm longer in one direction
    grid = np.linspace(-math.pi, math.pi, 2001)
    density = norm_of_image(t, np.column_stack([np.cos(grid), np.sin(grid)]), 2) ** -2
    table = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
    z = draw_image_noise(t, 2, np.random.default_rng(4), 15, size=800)

    def p_value(draws: Matrix) -> float:
        angles = np.arctan2(draws[:, 1], draws[:, 0])
        return kolmogorov_smirnov(angles, lambda a: np.interp(a, grid, table / table[-1]), "").p_value

    assert p_value(z) > FALSE_ALARM
    assert p_value(np.random.default_rng(5).standard_normal((2000, 2))) < FALSE_ALARM
