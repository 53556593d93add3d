"""Negative controls for the check of low-order bits. The low-order bits of their outputs reveal the data, although the
real numbers that they approximate may be private.

Most of these negative controls release the mean squared norm of the rows. Some release a number for every column, and
one releases a direction. The low-order bits of the outputs of the implementations in `SOUND` do not reveal the data.
The check of low-order bits must not reject these implementations.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covassay.reference.domain import Matrix, total_square, unit_rows

GRID = 2.0**-20  # the public unit of a grid that is much coarser than the spacing of float64 numbers
COLUMNS = 16  # the largest number of columns for which the noise of `noise_for_many_columns` suffices


@dataclass(frozen=True)
class BitControl:
    """An implementation of a release for pure DP, and its mistake. `released` says what the output is, such as
    "number"."""

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
    """Add a float64 draw of Laplace noise to a float64 query."""
    query, step = _query(x)
    return query + rng.laplace(scale=step / epsilon)


def grid_below_the_float(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """Round the sum of query and noise to a grid that is finer than its last bit, which changes nothing."""
    return _rounded(float_sum(x, epsilon=epsilon, rng=rng), 2.0**-70)


def grid_of_the_data(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """Round the sum of query and noise to a coarse grid whose unit depends on the query."""
    query, _ = _query(x)
    grid = 2.0 ** np.ceil(np.log2(query)) * GRID if query > 0 else GRID**2
    return _rounded(float_sum(x, epsilon=epsilon, rng=rng), float(grid))


def only_the_noise_rounded(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """Round the noise to a grid and then add it, so that the digits of the query below the grid are visible."""
    query, step = _query(x)
    return query + _rounded(rng.laplace(scale=step / epsilon), step * 2)


def ties_to_even(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """Add noise on a grid to a query that is not on this grid, and round the sum with ties to even."""
    _, step = _query(x)
    return _rounded(only_the_noise_rounded(x, epsilon=epsilon, rng=rng), step * 2)


def single_precision_noise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """Add a float32 draw to a float32 query, and round the sum to float32."""
    query, step = _query(x)
    return float(np.float32(query) + np.float32(rng.laplace(scale=step / epsilon)))


def second_entry_rounded(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Release several noisy numbers, and round all but the first to a coarse grid."""
    rows = unit_rows(x)
    noisy: Matrix = (rows**2).sum(axis=0) / len(rows) + rng.laplace(scale=2 / (len(rows) * epsilon), size=rows.shape[1])
    noisy[1:] = np.rint(noisy[1:] / GRID) * GRID
    return noisy


def noise_for_many_columns(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Add float64 noise to the means of the columns, which is enough noise for at most 16 columns."""
    rows = unit_rows(x)
    step = 2 * COLUMNS**0.5 / len(rows)  # the ℓ1 sensitivity of 16 means, for rows of norm at most 1
    return rows.sum(axis=0) / len(rows) + rng.laplace(scale=step / epsilon, size=rows.shape[1])


def scale_by_rows(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """Multiply the sum of query and noise by a random power of 1/16 whose exponent is below the number of rows."""
    power = int(rng.integers(len(x)))
    return float_sum(x, epsilon=epsilon, rng=rng) * 16.0**-power


def uniform_direction(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Draw a uniform direction, independently of the data."""
    normal = rng.standard_normal((1, x.shape[1]))
    return (normal / np.linalg.norm(normal))[0]


def turned_direction(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Rotate a uniform direction by the eigenvectors of the data; the bits depend on the data, but the law does not."""
    rows = unit_rows(x)
    return np.linalg.eigh(rows.T @ rows)[1] @ uniform_direction(x, epsilon=epsilon, rng=rng)


def coarse_grid(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """Round the sum of query and noise to a public grid that is coarser than its last bit."""
    return _rounded(float_sum(x, epsilon=epsilon, rng=rng), GRID)


def whole_numbers(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
    """Count the rows of norm above 1/2, and add discrete Laplace noise, the difference of two geometric draws."""
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
