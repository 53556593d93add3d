"""Negative controls of low-order bits: noisy numbers whose low-order bits break the claim, although their law may keep
it.

Most controls of this module release the mean squared norm of the rows. Some controls release a number for every column,
and one control releases a direction. The controls in `SOUND` have no such mistake, and the check of low-order bits must
not flag them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Matrix, total_square, unit_rows

GRID = 2.0**-20  # the public unit of a grid that is coarse relative to the noise
COLUMNS = 16  # the largest number of columns that the noise of `noise_for_many_columns` covers


@dataclass(frozen=True)
class BitControl:
    """An implementation for pure DP, with its mistake; `released` is the kind of its output."""

    name: str
    mistake: str
    draw: Callable[..., object]
    released: str = "number"


def _query(x: Matrix) -> tuple[float, float]:
    """Return the mean squared norm of the rows, and its sensitivity."""
    rows = unit_rows(x)
    return float(total_square(rows) / len(rows)), 1.0 / len(rows)


def _rounded(value: float, grid: float) -> float:
    """Round to the nearest multiple of a power of two, and to the even multiple if two are equally near."""
    return float(np.rint(value / grid) * grid)


def float_sum(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """A float64 draw is added to a float64 query."""
    query, step = _query(x)
    return query + rng.laplace(scale=step / epsilon)


def grid_below_the_float(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """The float sum is rounded to a grid finer than its own unit in the last place, so that nothing changes."""
    return _rounded(float_sum(x, epsilon=epsilon, rng=rng), 2.0**-70)


def grid_of_the_data(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """The float sum is rounded to a coarse grid that is chosen by the size of the query."""
    query, _ = _query(x)
    grid = 2.0 ** np.ceil(np.log2(query)) * GRID if query > 0 else GRID**2
    return _rounded(float_sum(x, epsilon=epsilon, rng=rng), float(grid))


def only_the_noise_rounded(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """The noise is rounded to a grid before it is added, so that digits of the query below the grid are visible."""
    query, step = _query(x)
    return query + _rounded(rng.laplace(scale=step / epsilon), step * 2)


def ties_to_even(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """Noise on a grid is added to a query off that grid, and the sum is rounded with ties to even."""
    _, step = _query(x)
    return _rounded(only_the_noise_rounded(x, epsilon=epsilon, rng=rng), step * 2)


def single_precision_noise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """A float32 draw is added to a float32 query, and the sum is rounded to float32."""
    query, step = _query(x)
    return float(np.float32(query) + np.float32(rng.laplace(scale=step / epsilon)))


def second_entry_rounded(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Of several noisy numbers, only those after the first are rounded to a coarse grid."""
    rows = unit_rows(x)
    noisy: Matrix = (rows**2).sum(axis=0) / len(rows) + rng.laplace(scale=2 / (len(rows) * epsilon), size=rows.shape[1])
    noisy[1:] = np.rint(noisy[1:] / GRID) * GRID
    return noisy


def noise_for_many_columns(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Float noise for the means of up to 16 columns is so large that a single mean rarely has an unusually low bit."""
    rows = unit_rows(x)
    step = 2 * COLUMNS**0.5 / len(rows)  # the change of all means together for rows of length 1
    return rows.sum(axis=0) / len(rows) + rng.laplace(scale=step / epsilon, size=rows.shape[1])


def scale_by_rows(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """The float sum is multiplied by a power of two, drawn at random, of which there are as many as rows."""
    power = int(rng.integers(len(x)))
    return float_sum(x, epsilon=epsilon, rng=rng) * 16.0**-power


def uniform_direction(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Draw a uniform direction, whatever the data are."""
    normal = rng.standard_normal((1, x.shape[1]))
    return (normal / np.linalg.norm(normal))[0]


def turned_direction(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """A uniform direction is rotated into the axes of the data: the law is the same for all data, but the bits are
    not."""
    rows = unit_rows(x)
    return np.linalg.eigh(rows.T @ rows)[1] @ uniform_direction(x, epsilon=epsilon, rng=rng)


def coarse_grid(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """The float sum is rounded to a public grid, coarse relative to the unit in the last place: nothing is detected."""
    return _rounded(float_sum(x, epsilon=epsilon, rng=rng), GRID)


def whole_numbers(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """A count of the rows with norm above 1/2 has discrete Laplace noise: the difference of two geometric draws."""
    count = int((np.linalg.norm(unit_rows(x), axis=1) > 0.5).sum())
    first, second = rng.geometric(-np.expm1(-epsilon), size=2)
    return float(count + first - second)


def _control(draw: Callable[..., object], released: str = "number") -> BitControl:
    return BitControl(draw.__name__.replace("_", "-"), draw.__doc__ or "", draw, released)


BIT_CONTROLS = {
    control.name: control
    for control in (
        *map(_control, (float_sum, grid_below_the_float, grid_of_the_data, only_the_noise_rounded, ties_to_even,
                        single_precision_noise, scale_by_rows)),
        _control(second_entry_rounded, "vector"),
        _control(noise_for_many_columns, "vector"),
        _control(turned_direction, "direction"),
    )
}  # fmt: skip
SOUND = {
    control.name: control
    for control in (*map(_control, (coarse_grid, whole_numbers)), _control(uniform_direction, "direction"))
}
