"""Test audits that scale the columns of a target for bounded columns: the arguments that the target gets, and the
results that the audit sees.
"""

from typing import Any

import numpy as np
import pytest

from covassay.reference.box_moments import moment_sums
from covassay.reference.domain import Box, Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms import box_gauss
from covassay.verification import audit
from covassay.verification.audit.knowledge.shared.box_sums import moments_seen, sums_seen
from covassay.verification.audit.targets.scaled_columns import EXAMPLES, scaled_columns
from covassay.verification.audit.targets.target import Target

BOUNDS = ((0.0, 1.0), (18.0, 90.0))
X = np.random.default_rng(2).uniform(-1, 1, (7, 3))


def without_noise(x: Matrix, *, rng: np.random.Generator, rho: float, bounds: Any = None) -> Matrix:
    d = x.shape[1]
    return box_gauss.release(x, np.zeros((d + 1, d + 1)), rho=rho, bounds=bounds)


def no_bounds(x: Matrix, *, rng: np.random.Generator, rho: float) -> Matrix:
    return without_noise(x, rng=rng, rho=rho)


@pytest.mark.parametrize("box", [None, Box(BOUNDS)])
def test_the_sums_of_scaled_columns_are_seen_whatever_the_bounds(box: Box | None) -> None:
    seen = scaled_columns(Target("t", without_noise), moments_seen, box)
    out = seen.draw(X.copy(), rng=np.random.default_rng(0), rho=0.5)
    np.testing.assert_allclose(out, moment_sums(X, *X.shape)[:, 1:], atol=1e-9)


def test_the_bounds_are_repeated_for_more_columns() -> None:
    """The test fails if data with more columns than bounds get wrong bounds or raise an error."""
    given: list[Any] = []

    def told(x: Matrix, *, rng: np.random.Generator, rho: float, bounds: Any) -> Matrix:
        given.append((x.copy(), bounds))
        return without_noise(x, rng=rng, rho=rho, bounds=bounds)

    scaled_columns(Target("t", told), moments_seen, Box(BOUNDS)).draw(
        np.array([[-1.0, 1.0, 0.0], [1.0, -1.0, 1.0]]), rng=np.random.default_rng(0), rho=0.5
    )
    (rows, bounds) = given[0]
    assert bounds == (*BOUNDS, BOUNDS[0])
    np.testing.assert_array_equal(rows, [[0.0, 90.0, 0.5], [1.0, 18.0, 1.0]])
    scaled_columns(Target("t", told), moments_seen, None).draw(X.copy(), rng=np.random.default_rng(0), rho=0.5)
    assert given[1][1] == EXAMPLES


def test_a_function_without_bounds_sees_scaled_columns_as_they_are() -> None:
    seen = scaled_columns(Target("t", no_bounds), moments_seen, None)
    out = seen.draw(X.copy(), rng=np.random.default_rng(0), rho=0.5)
    np.testing.assert_allclose(out, moment_sums(X, *X.shape)[:, 1:], atol=1e-12)
    with pytest.raises(InvalidInput, match="no parameter bounds"):
        scaled_columns(Target("t", no_bounds), moments_seen, Box(BOUNDS))


def test_bounds_far_from_zero_are_refused_since_rounding_hides_the_law() -> None:
    with pytest.raises(InvalidInput, match="half-widths"):
        scaled_columns(Target("t", without_noise), moments_seen, Box(((1000.0, 1001.0),)))


def test_what_is_written_into_the_input_is_seen() -> None:
    def overwrites(x: Matrix, *, rng: np.random.Generator, rho: float, bounds: Any) -> Matrix:
        out = without_noise(x, rng=rng, rho=rho, bounds=bounds)
        x[:] = 0.5
        return out

    x = X.copy()
    scaled_columns(Target("t", overwrites), moments_seen, Box(BOUNDS)).draw(x, rng=np.random.default_rng(0), rho=0.5)
    assert not np.array_equal(x, X)


@pytest.mark.parametrize("wrong", [(0, 0, 8.0), (0, 1, 99.0)])
def test_a_wrong_number_of_rows_and_two_means_give_no_output(wrong: tuple[int, int, float]) -> None:
    i, j, value = wrong
    out = without_noise(X, rng=np.random.default_rng(0), rho=0.5)
    out[i, j] = value
    with pytest.raises(ValueError, match=r"number of rows|the mean in the first row"):
        moments_seen(out, Box.of_columns(None, 3), 7)
    if (i, j) == (0, 0):
        sums_seen(out, Box.of_columns(None, 3), 7)  # under add-remove, the number of rows is noisy


def test_the_shape_is_told_where_it_is_wrong() -> None:
    seen = scaled_columns(Target("t", lambda x, *, rng, rho: np.cov(x.T)), moments_seen, None)
    with pytest.raises(ValueError, match="the rows, the mean and the covariance"):
        seen.draw(X.copy(), rng=np.random.default_rng(0), rho=0.5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"options": {"adjacency": "replace-one"}, "adjacency": "add-remove"}, "give only one of the two"),
        ({"adjacency": "add-remove"}, "declares adjacency = replace-one"),
    ],
)
def test_options_that_do_not_go_together_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        audit("covassay:box-gauss", rho=0.5, samples=1000, **given)


@pytest.mark.thorough
def test_the_audit_knows_the_law_in_a_box() -> None:
    def right(x: Matrix, *, rng: np.random.Generator, rho: float, bounds: Any) -> Matrix:
        return box_gauss.sample(x, rng, rho=rho, bounds=bounds)

    def first_bounds(x: Matrix, *, rng: np.random.Generator, rho: float, bounds: Any) -> Matrix:
        return box_gauss.sample(x, rng, rho=rho, bounds=[bounds[0]] * len(bounds))

    told: dict[str, Any] = {"mechanism": "box-gauss", "rho": 0.5, "samples": 100, "bounds": BOUNDS, "stop_early": True}
    assert audit(right, **told).verdict.value == "NOT REFUTED"
    assert audit(first_bounds, **told).verdict.value == "REFUTED"
