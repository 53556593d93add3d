"""Test the number of rows, mean and covariance of bounded columns: the results, edge cases, and the cost."""

import math
from typing import Any

import numpy as np
import pytest

from covassay.reference import box_moments
from covassay.reference.domain import ADJACENCIES, Adjacency, Box, Chunks
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms import box_gauss, box_gauss_approximate, box_laplace
from tests.conventions import Matrix

BOUNDED: list[tuple[Any, dict[str, float]]] = [
    (box_gauss, {"rho": 0.5}),
    (box_gauss_approximate, {"epsilon": 0.8, "delta": 1e-6}),
    (box_laplace, {"epsilon": 0.8}),
]
EVERY = pytest.mark.parametrize(("file", "budget"), BOUNDED, ids=["gauss", "approximate", "laplace"])
BOTH = pytest.mark.parametrize("adjacency", ADJACENCIES)
BOUNDS = [(-1.0, 3.0), (0.0, 60.0)]
ROWS = np.random.default_rng(4).uniform([-1, 0], [3, 60], (20, 2))


def without_noise(file: Any, x: Any, adjacency: Adjacency, **options: Any) -> Matrix:
    d = np.shape(x)[1]
    return file.release(x, np.zeros((d + 1, d + 1)), bounds=BOUNDS, adjacency=adjacency, **options)


@EVERY
@BOTH
def test_without_noise_the_rows_the_mean_and_the_covariance_come_out(
    file: Any, budget: dict[str, float], adjacency: Adjacency
) -> None:
    out = without_noise(file, ROWS, adjacency, **budget)
    parts = file.MECHANISM.output.parts(out)
    assert parts["rows"] == 20
    np.testing.assert_allclose(parts["mean"], ROWS.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(parts["covariance"], np.cov(ROWS.T, bias=True), rtol=1e-11)


@EVERY
@BOTH
def test_one_row_has_covariance_zero_and_a_row_on_a_bound_is_inside(
    file: Any, budget: dict[str, float], adjacency: Adjacency
) -> None:
    corner = np.array([[3.0, 0.0]])
    out = without_noise(file, corner, adjacency, on_outside="raise", **budget)
    np.testing.assert_allclose(out[0, 1:], corner[0], atol=1e-12)
    np.testing.assert_allclose(out[1:, 1:], 0, atol=1e-9)


@EVERY
def test_no_rows_are_a_data_set_under_add_remove_alone(file: Any, budget: dict[str, float]) -> None:
    none = np.zeros((0, 2))
    out = file.sample(none, np.random.default_rng(0), bounds=BOUNDS, adjacency="add-remove", **budget)
    assert np.isfinite(out).all()
    chunks = Chunks((0, 2), lambda: iter(()))
    same = file.sample(chunks, np.random.default_rng(0), bounds=BOUNDS, adjacency="add-remove", **budget)
    np.testing.assert_array_equal(out, same)
    with pytest.raises(InvalidInput, match="at least one row"):
        file.sample(none, np.random.default_rng(0), bounds=BOUNDS, **budget)


@EVERY
def test_values_outside_are_clipped_one_by_one_or_refused(file: Any, budget: dict[str, float]) -> None:
    outside, inside = np.array([[-5.0, 30.0], [2.0, 1e300]]), np.array([[-1.0, 30.0], [2.0, 60.0]])
    np.testing.assert_array_equal(
        without_noise(file, outside, "replace-one", **budget), without_noise(file, inside, "replace-one", **budget)
    )
    with pytest.raises(InvalidInput, match=r"x\[0, 0\] = -5: must lie in its bounds \[-1, 3\]"):
        without_noise(file, outside, "replace-one", on_outside="raise", **budget)


@EVERY
@pytest.mark.parametrize("bounds", [[(0, 1)], [(0, 1), (1, 1)], [(0, 1), (math.nan, 1)], "0:1", 3])
def test_bad_bounds_are_refused(file: Any, budget: dict[str, float], bounds: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^bounds"):
        file.sample(ROWS, np.random.default_rng(0), bounds=bounds, **budget)


@pytest.mark.parametrize("count", [-7.0, 0.0, 0.5, 1.0, 12.0])
def test_the_noisy_sums_follow_from_what_is_released(count: float) -> None:
    box = Box.of(BOUNDS)
    noise = np.random.default_rng(1).standard_normal((3, 3))
    sums = noise + noise.T
    sums[0, 0] = count
    out = box_moments.estimates(sums, box)
    np.testing.assert_allclose(box_moments.sums_of(out, box), sums, rtol=1e-9, atol=1e-9)
    if count < 1:  # the divisor of the sums is then 1
        np.testing.assert_allclose(out[0, 1:], box.centre + box.half_widths * sums[0, 1:])


@EVERY
@BOTH
def test_all_bounds_have_one_noise_in_scaled_columns(file: Any, budget: dict[str, float], adjacency: Adjacency) -> None:
    box, rng = Box.of(BOUNDS), np.random.default_rng
    scaled = (ROWS - box.centre) / box.half_widths
    given = file.sample(ROWS, rng(3), bounds=BOUNDS, adjacency=adjacency, **budget)
    cube = file.sample(scaled, rng(3), adjacency=adjacency, **budget)
    expected = file.MECHANISM.output.restore(cube, box.centre, box.half_widths)
    np.testing.assert_allclose(given, expected, rtol=1e-9)


@pytest.mark.parametrize("d", [1, 2, 3, 6])
@BOTH
def test_the_weights_meet_the_conditions_of_the_sensitivities(d: int, adjacency: Adjacency) -> None:
    gauss, laplace = box_moments.gauss_weights(d, adjacency), box_moments.laplace_weights(d, adjacency)
    if adjacency == "replace-one":
        assert gauss.square <= gauss.mean
        assert laplace.square >= laplace.product / 2
        return
    assert gauss.square**2 <= (gauss.mean**2 + gauss.product**2 * (d - 1) / 2) * (1 + 1e-12)
    assert laplace.square <= (laplace.mean + laplace.product * (d - 1)) / 2 * (1 + 1e-12)
