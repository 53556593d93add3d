"""Test ridge regression and principal components from a released matrix, and their error bounds."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.downstream.pca import lost_variance_bound, principal_components
from covassay.reference.downstream.released import symmetric_part
from covassay.reference.downstream.ridge import coefficients, error_bound, projected_error, ridge
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.pure import nuclear_laplace
from covassay.reference.projections import psd_cone
from tests.conventions import SEEDS, Matrix

PROPERTY = settings(max_examples=150)


def random_moment(rng: np.random.Generator, d: int) -> Matrix:
    """Draw a positive semidefinite matrix. It often has low rank, and eigenvalues of very different sizes."""
    rows = rng.standard_normal((rng.integers(1, d + 2), d)) * 10.0 ** rng.uniform(-2, 1, d)
    return second_moment(rows)


# A released matrix


def test_the_symmetric_part_agrees_with_a_hand_calculation() -> None:
    np.testing.assert_array_equal(symmetric_part([[1, 2], [4, 3]]), [[1, 3], [3, 3]])


@pytest.mark.parametrize("bad", [[[1.0, 2.0]], [1.0], 3.0, np.zeros((0, 0)), [[math.nan]], [["a"]]])
def test_what_is_no_released_matrix_is_refused(bad: Any) -> None:
    for call in (lambda: symmetric_part(bad), lambda: ridge(bad, 0, 1.0), lambda: principal_components(bad, 1)):
        with pytest.raises(InvalidInput, match="released"):
            call()


# Ridge


def test_ridge_agrees_with_a_hand_calculation() -> None:
    # By hand, the coefficients are 10/(1000 + 0.01) for target 0, and 10/1.01 for target 1.
    m = [[1.0, 10.0], [10.0, 1000.0]]
    np.testing.assert_allclose(ridge(m, 0, 0.005), [10 / 1000.01], rtol=1e-12)
    np.testing.assert_allclose(ridge(m, 1, 0.005), [10 / 1.01], rtol=1e-9)
    # The target is the middle one of three columns. By hand, its coefficients solve ([[2, 0], [0, 4]] + I) w = (3, 5),
    # so that w = (1, 1).
    m = [[2.0, 3.0, 0.0], [3.0, 9.0, 5.0], [0.0, 5.0, 4.0]]
    np.testing.assert_allclose(coefficients(np.array(m), 1, 0.5), [1, 1], rtol=1e-14)


@pytest.mark.parametrize("target", [0, 1, 3])
def test_ridge_is_the_regression_on_the_rows(target: int) -> None:
    """Test ridge regression from the second moment against ridge regression on the rows."""
    x = unit_rows(np.random.default_rng(0).standard_normal((30, 4)))
    others = [j for j in range(4) if j != target]
    root = math.sqrt(2 * 30 * 0.02)  # ridge regression is least squares with d − 1 additional rows
    a = np.vstack([x[:, others], root * np.eye(3)])
    y = np.concatenate([x[:, target], np.zeros(3)])
    np.testing.assert_allclose(ridge(second_moment(x), target, 0.02), np.linalg.lstsq(a, y, rcond=None)[0], rtol=1e-10)


def test_a_release_that_is_not_positive_semidefinite_has_coefficients() -> None:
    # The matrix of the features has the eigenvalue −2α, so that the system has no solution without a projection.
    m = np.array([[-0.2, 0.5], [0.5, 1.0]])
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.solve(m[:1, :1] + 0.2 * np.eye(1), m[:1, 1])
    # The positive part of m is 1.1810 vvᵀ with v = (0.3402, 0.9404); its first row is (0.1367, 0.3778).
    assert ridge(m, 1, 0.1)[0] == pytest.approx(0.3778 / 0.3367, rel=1e-3)
    released = nuclear_laplace.sample(np.eye(3), np.random.default_rng(0), epsilon=0.1)
    assert np.isfinite(ridge(released, 2, 1e-3)).all()


@pytest.mark.parametrize(("target", "penalty"), [(2, 0.1), (-1, 0.1), (0, 0.0), (0, math.nan)])
def test_a_bad_target_or_penalty_is_refused(target: int, penalty: float) -> None:
    with pytest.raises(InvalidInput, match=r"target|penalty"):
        ridge(np.eye(2), target, penalty)


def test_one_column_has_no_regression() -> None:
    with pytest.raises(InvalidInput, match="at least one other column"):
        ridge([[1.0]], 0, 1.0)


def parts(m: Matrix, other: Matrix, target: int) -> tuple[float, float, float]:
    """Return three arguments of `error_bound`: two norms of the difference m − other, and an eigenvalue of m.

    The first norm is the Euclidean norm of the column `target` of the matrix m − other, without its entry on the
    diagonal. The second norm is the spectral norm of the matrix m − other without its row and column `target`. The
    eigenvalue is the least eigenvalue of the matrix m without its row and column `target`, or 0 if this eigenvalue is
    negative.
    """
    others = np.arange(len(m)) != target
    delta = m - other
    block = np.ix_(others, others)
    return (
        float(np.linalg.norm(delta[others, target])),
        float(np.linalg.norm(delta[block], 2)),
        max(0.0, float(np.linalg.eigvalsh(m[block])[0])),
    )


@pytest.mark.thorough
@PROPERTY
@given(seed=SEEDS, d=st.integers(2, 5), penalty=st.sampled_from([1e-3, 0.1, 1.0]))
def test_the_error_bound_holds_both_ways(seed: int, d: int, penalty: float) -> None:
    rng = np.random.default_rng(seed)
    m = random_moment(rng, d)
    released = psd_cone(m + rng.choice([0.01, 1.0]) * symmetric_part(rng.standard_normal((d, d))))
    target = int(rng.integers(d))
    w, estimate = coefficients(m, target, penalty), coefficients(released, target, penalty)
    gap = float(np.linalg.norm(w - estimate))
    column, matrix, smallest = parts(m, released, target)
    _, _, smallest_released = parts(released, m, target)
    for bound in (
        error_bound(column, matrix, np.linalg.norm(estimate), smallest, penalty),
        error_bound(column, matrix, np.linalg.norm(w), smallest_released, penalty),
        error_bound(column, matrix, np.linalg.norm(estimate), 0.0, penalty),
    ):
        assert gap <= bound * (1 + 1e-6) + 1e-9
    delta = m - released  # the bound as it is printed in the paper
    printed = error_bound(np.linalg.norm(delta, axis=0).max(), np.linalg.norm(delta, 2), np.linalg.norm(estimate),
                          max(0.0, float(np.linalg.eigvalsh(m)[0])), penalty)  # fmt: skip
    assert printed >= error_bound(column, matrix, np.linalg.norm(estimate), smallest, penalty) * (1 - 1e-9)


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 5), size=st.sampled_from([0.01, 1.0, 10.0]))
def test_the_projection_keeps_the_spectral_error_below_its_bound(seed: int, d: int, size: float) -> None:
    """The test fails if the projection moves a release further from a second moment than `projected_error` says."""
    rng = np.random.default_rng(seed)
    m = random_moment(rng, d)
    error = size * symmetric_part(rng.standard_normal((d, d)))
    moved = float(np.linalg.norm(psd_cone(m + error) - m, 2))
    assert moved <= float(projected_error(np.linalg.norm(error, 2))) * (1 + 1e-9) + 1e-12


def test_the_bound_on_the_projected_error_is_nearly_attained() -> None:
    """The test fails if the bound is more than 0.1 % too large."""
    m = np.diag([1e4, 0.0])
    error = np.array([[1.0, math.sqrt(2)], [math.sqrt(2), -1.0]])
    moved = float(np.linalg.norm(psd_cone(m + error) - m, 2))
    assert 0.999 * float(projected_error(math.sqrt(3))) < moved <= float(projected_error(math.sqrt(3)))


# Principal components


def test_principal_components_agree_with_a_hand_calculation() -> None:
    # [[0, 2], [2, 3]] has the eigenvalue 4 with eigenvector (1, 2)/√5, and −1 with eigenvector (2, −1)/√5.
    got = principal_components([[0.0, 2.0], [2.0, 3.0]], 2)
    np.testing.assert_allclose(got.directions, np.array([[1, 2], [2, -1]]) / math.sqrt(5), atol=1e-15)
    np.testing.assert_allclose(got.variances, [4, 0], atol=1e-15)
    np.testing.assert_allclose(got.shares, [1, 0], atol=1e-15)


def test_without_variance_all_shares_are_zero() -> None:
    """Test that the shares of the total variance are 0 if the total variance is 0."""
    got = principal_components(-np.eye(3), 2)
    np.testing.assert_array_equal(got.shares, [0, 0])
    assert got.directions.shape == (2, 3)


def test_the_antisymmetric_part_of_a_release_is_ignored() -> None:
    m = np.diag([3.0, 2.0, 1.0])
    noise = np.array([[0.0, 1, 2], [-1, 0, 3], [-2, -3, 0]])
    np.testing.assert_allclose(principal_components(m + noise, 3).directions, np.eye(3), atol=1e-15)


@pytest.mark.parametrize("components", [0, 3, 1.5, True])
def test_a_bad_number_of_components_is_refused(components: Any) -> None:
    with pytest.raises(InvalidInput, match="components = "):
        principal_components(np.eye(2), components)


@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 5), size=st.sampled_from([1e-3, 0.3, 10.0]))
def test_the_captured_variance_falls_short_by_no_more_than_the_bound(seed: int, d: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    m = random_moment(rng, d)
    noise = size * symmetric_part(rng.standard_normal((d, d)))
    k = int(rng.integers(1, d + 1))
    v = principal_components(m + noise, k).directions
    np.testing.assert_allclose(v @ v.T, np.eye(k), atol=1e-12)
    lost = float(np.sort(np.linalg.eigvalsh(m))[::-1][:k].sum() - np.trace(v @ m @ v.T))
    assert -1e-9 <= lost <= lost_variance_bound(k, float(np.linalg.norm(noise, 2))) + 1e-9
    assert lost <= 2 * math.sqrt(k) * float(np.linalg.norm(noise)) + 1e-9


def test_half_the_bound_on_the_lost_variance_is_exceeded() -> None:
    # The second moment is diag(1, 0). The noise diag(−s, s) with s just above ½ makes the second axis the leading one.
    # The lost variance is 1, and its bound is 2s.
    s = 0.5001
    got = principal_components(np.diag([1 - s, s]), 1)
    lost = 1 - got.directions[0, 0] ** 2
    assert lost == pytest.approx(1, rel=1e-12)
    assert lost_variance_bound(1, s) / 2 < lost <= lost_variance_bound(1, s)


@pytest.mark.parametrize("target", [0.5, True, "a", 2, -1])
def test_a_target_that_is_no_column_is_refused(target: Any) -> None:
    with pytest.raises(InvalidInput, match="must be a column, 0 to 1"):
        ridge(np.eye(2), target, 0.1)
