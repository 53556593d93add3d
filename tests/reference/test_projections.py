"""Test projections on convex sets: known results, and an inequality that only the nearest point satisfies.

A point u of a closed convex set K is the nearest point to v if and only if ⟨v − u, w − u⟩ ≤ 0 for every w in K. For the
sets here, the supremum over w has a closed form, so that the tests can check whether a point is the nearest one.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from covassay.reference.errors import InvalidInput
from covassay.reference.projections import nuclear_ball, psd_cone, psd_trace_ball, simplex, spectral_interval
from tests.conventions import SEEDS, Matrix, Vector

PROPERTY = settings(max_examples=40)
TOLERANCE = 1e-11  # the rounding errors of a few hundred products of numbers up to 10 are smaller

entries = st.floats(-10, 10) | st.sampled_from([-1.0, 0.0, 1.0, 2.0])
radii = st.just(0.0) | st.floats(1e-3, 30)
vectors = st.integers(1, 8).flatmap(lambda k: arrays(np.float64, k, elements=entries))
squares = st.integers(1, 5).flatmap(lambda d: arrays(np.float64, (d, d), elements=entries))
symmetric_matrices = squares.map(lambda m: (m + m.T) / 2)


# These checks return a bool, so that tests can call them with wrong projections.


def is_nearest_in_simplex(v: Vector, u: Vector, radius: float) -> bool:
    feasible = (u >= 0).all() and u.sum() <= radius + TOLERANCE
    best = max(0.0, radius * (v - u).max())  # the supremum is attained at a vertex of the simplex
    return bool(feasible and best <= (v - u) @ u + TOLERANCE)


def is_nearest_in_nuclear_ball(m: Matrix, p: Matrix, radius: float) -> bool:
    feasible = np.linalg.svd(p, compute_uv=False).sum() <= radius + TOLERANCE
    best = radius * np.linalg.norm(m - p, 2)  # the supremum over the ball is the dual norm
    return bool(feasible and best <= ((m - p) * p).sum() + TOLERANCE)


def is_nearest_in_psd_cone(m: Matrix, p: Matrix) -> bool:
    feasible = np.linalg.eigvalsh(p)[0] >= -TOLERANCE and np.allclose(p, p.T)
    dual = np.linalg.eigvalsh(m - p)[-1] <= TOLERANCE
    return bool(feasible and dual and abs(((m - p) * p).sum()) <= TOLERANCE)


def is_nearest_in_psd_trace_ball(m: Matrix, p: Matrix, radius: float) -> bool:
    feasible = np.linalg.eigvalsh(p)[0] >= -TOLERANCE and np.trace(p) <= radius + TOLERANCE
    best = max(0.0, radius * np.linalg.eigvalsh(m - p)[-1])
    return bool(feasible and best <= ((m - p) * p).sum() + TOLERANCE)


@PROPERTY
@given(vectors, radii)
def test_the_simplex_projection_is_the_nearest_point(v: Vector, radius: float) -> None:
    assert is_nearest_in_simplex(v, simplex(v, radius), radius)


@PROPERTY
@given(squares, radii)
def test_the_nuclear_ball_projection_is_the_nearest_point(m: Matrix, radius: float) -> None:
    assert is_nearest_in_nuclear_ball(m, nuclear_ball(m, radius), radius)


@PROPERTY
@given(symmetric_matrices)
def test_the_cone_projection_is_the_nearest_point(m: Matrix) -> None:
    assert is_nearest_in_psd_cone(m, psd_cone(m))


@PROPERTY
@given(symmetric_matrices, radii)
def test_the_trace_ball_projection_is_the_nearest_point(m: Matrix, radius: float) -> None:
    assert is_nearest_in_psd_trace_ball(m, psd_trace_ball(m, radius), radius)


# Consequences: a projection is 1-Lipschitz and idempotent, and does not increase the distance to a point of the set

Projection = Callable[[Matrix, float], Matrix]


# Known results


@pytest.mark.parametrize(
    ("v", "radius", "expected"),
    [
        # the positive numbers 0.9 and 0.4 are reduced by (1.3 − 1)/2 = 0.15
        pytest.param([0.9, 0.4, -0.2], 1.0, [0.75, 0.25, 0.0], id="one entry dropped"),
        pytest.param([-0.2, 0.4, 0.9], 1.0, [0.0, 0.25, 0.75], id="order kept"),
        pytest.param([0.5, -3.0, 0.25], 1.0, [0.5, 0.0, 0.25], id="already small enough"),
        pytest.param([5.0, 1.0, 0.0], 1.0, [1.0, 0.0, 0.0], id="one entry left"),
        pytest.param([2.0, 2.0, 2.0], 3.0, [1.0, 1.0, 1.0], id="ties"),
        pytest.param([3.0, 1.0, 1.0], 2.0, [2.0, 0.0, 0.0], id="an entry equal to the shift"),
        pytest.param([-1.0, -2.0], 1.0, [0.0, 0.0], id="all negative"),
        pytest.param([1.0, 2.0], 0.0, [0.0, 0.0], id="radius zero"),
        pytest.param([7.0], 4.0, [4.0], id="one entry"),
    ],
)
def test_the_simplex_projection_agrees_with_a_hand_calculation(
    v: list[float], radius: float, expected: list[float]
) -> None:
    np.testing.assert_allclose(simplex(np.array(v), radius), expected, atol=1e-15)


def test_the_nuclear_ball_projection_agrees_with_a_hand_calculation() -> None:
    # The singular values 3 and 1 are reduced by 1, so that 2 and 0 are left.
    np.testing.assert_allclose(nuclear_ball(np.array([[0.0, 3.0], [-1.0, 0.0]]), 2.0), [[0, 2], [0, 0]], atol=1e-15)
    # A rotation by 90° times 2 has the singular values 2 and 2, which are reduced to 1 and 1.
    np.testing.assert_allclose(nuclear_ball(np.array([[0.0, -2.0], [2.0, 0.0]]), 2.0), [[0, -1], [1, 0]], atol=1e-15)
    np.testing.assert_array_equal(nuclear_ball(np.array([[3.0]]), 0.0), [[0.0]])


def test_the_cone_projections_agree_with_a_hand_calculation() -> None:
    # The matrix [[1, 2], [2, 1]] has the eigenvalue 3 at (1, 1)/√2 and the eigenvalue −1 at (1, −1)/√2.
    m = np.array([[1.0, 2.0], [2.0, 1.0]])
    np.testing.assert_allclose(psd_cone(m), [[1.5, 1.5], [1.5, 1.5]], rtol=1e-14)
    np.testing.assert_allclose(psd_trace_ball(m, 1.0), [[0.5, 0.5], [0.5, 0.5]], rtol=1e-14)
    np.testing.assert_allclose(psd_trace_ball(m, 7.0), [[1.5, 1.5], [1.5, 1.5]], rtol=1e-14)


def test_the_spectral_interval_agrees_with_a_hand_calculation() -> None:
    # The eigenvalues are 3 and −1, with the eigenvectors (1, 1)/√2 and (1, −1)/√2. The interval [0, 2] changes them to
    # 2 and 0, the interval [1, 9] changes them to 3 and 1, and the interval [1, 1] changes both to 1.
    m = np.array([[1.0, 2.0], [2.0, 1.0]])
    np.testing.assert_allclose(spectral_interval(m, 0.0, 2.0), [[1, 1], [1, 1]], rtol=1e-14)
    np.testing.assert_allclose(spectral_interval(m, 1.0, 9.0), [[2, 1], [1, 2]], rtol=1e-14)
    np.testing.assert_allclose(spectral_interval(m, 1.0, 1.0), [[1, 0], [0, 1]], atol=1e-15)


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 5))
def test_the_spectral_interval_gives_the_nearest_matrix(seed: int, d: int) -> None:
    # The projection P of M satisfies ⟨M − P, Q − P⟩ ≤ 0 for every Q with eigenvalues in [0, 1].
    rng = np.random.default_rng(seed)
    m, q = (a + a.T for a in rng.standard_normal((2, d, d)))
    p, q = spectral_interval(m, 0.0, 1.0), spectral_interval(q, 0.0, 1.0)
    assert ((m - p) * (q - p)).sum() <= TOLERANCE
    rescaled = m * min(1.0, 1.0 / max(np.abs(np.linalg.eigvalsh(m)).max(), 1e-9))  # another matrix in the set
    assert np.linalg.norm(m - p) <= np.linalg.norm(m - (rescaled + np.eye(d)) / 2) + TOLERANCE


@pytest.mark.parametrize("ends", [(1.0, 0.0), (math.nan, 1.0), (0.0, math.inf)])
def test_the_ends_of_the_interval_are_checked(ends: tuple[float, float]) -> None:
    with pytest.raises(InvalidInput, match="low = "):
        spectral_interval(np.eye(2), *ends)


@pytest.mark.parametrize("project", [simplex, nuclear_ball, psd_trace_ball])
def test_the_argument_is_not_written_to(project: Projection) -> None:
    """Test that a projection does not change its argument."""
    shape = (3,) if project is simplex else (3, 3)
    v = np.full(shape, 2.0)
    v.flags.writeable = False
    project(v, 1.0)


@pytest.mark.parametrize("project", [simplex, nuclear_ball, psd_trace_ball])
@pytest.mark.parametrize("radius", [-1e-9, math.nan, math.inf, -math.inf])
def test_a_radius_that_is_negative_or_not_finite_is_refused(project: Projection, radius: float) -> None:
    point = np.ones(2) if project is simplex else np.eye(2)
    with pytest.raises(InvalidInput, match="radius = "):
        project(point, radius)
