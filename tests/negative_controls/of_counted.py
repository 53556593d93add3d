"""Negative controls of mechanisms that release a noisy number of rows and a noisy sum. Neighbouring data sets differ by
adding or removing a row.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.mechanisms.counted import CountedDraws, CountedNoise
from covassay.reference.mechanisms.registry import mechanism
from tests.negative_controls.negative_control import NegativeControl

# a function that maps (noise, number of rows) to the noise that is used in its place
Change = Callable[[Any, int], Any]
# a function that maps (output, data) to the output that is released in its place
Output = Callable[[Vector, Matrix], Vector]
ADD_REMOVE = {"adjacency": "add-remove"}


def drawn(name: str, noise: Change, output: Output, x: Matrix, *, rng: np.random.Generator, **budget: float) -> Vector:
    """Make one release of the mechanism `name` with changed noise and a changed output."""
    declared = mechanism(name)
    made = noise(declared.draw_noise(x.shape[1], rng, **ADD_REMOVE), len(x))
    return output(np.asarray(declared.release(x, made, **budget, **ADD_REMOVE)), x)


def usual_noise(noise: CountedNoise, n: int) -> CountedNoise:
    """Return the noise, unchanged."""
    return noise


def usual_output(y: Vector, x: Matrix) -> Vector:
    """Return the output, unchanged."""
    return y


def times(count: float, entries: float) -> Change:
    """Return a function that multiplies the noise of the number of rows and the noise of the sum by factors."""
    return lambda noise, n: CountedNoise(count * noise.count, entries * noise.sum)


def of_means(noise: CountedNoise, n: int) -> CountedNoise:
    """Add the noise for a mean to a sum."""
    return replace(noise, sum=noise.sum / n)


def shared(noise: CountedNoise, n: int) -> CountedNoise:
    """Use the noise of the number of rows also as the noise of the first entry of the sum."""
    entries = noise.sum.copy()
    entries.flat[0] = noise.count
    return replace(noise, sum=entries)


def other_parameters(count: Fraction, entries: Fraction) -> Any:
    """Return a function that multiplies the parameters of the integer noise by factors."""

    def changed(noise: CountedDraws, n: int) -> CountedDraws:
        return CountedDraws(
            lambda parameter: noise.count(count * parameter), lambda parameter: noise.sum(entries * parameter)
        )

    return changed


def no_whole_noise(noise: CountedDraws, n: int) -> CountedDraws:
    """Add no noise to the number of rows."""
    return replace(noise, count=lambda parameter: 0)


def unclipped_sum(y: Vector, x: Matrix) -> Vector:
    """Do not shorten long rows."""
    long = x * (1 - 1 / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1.0) ** 2) ** 0.5
    with np.errstate(over="ignore"):
        y[1] += float((long[:, 0] ** 2).sum())
    return y


def rounded_rows(y: Vector, x: Matrix) -> Vector:
    """Round the noisy number of rows to an integer, which is private but not the claimed output."""
    return np.append(np.rint(y[0]), y[1:])


def true_rows(y: Vector, x: Matrix) -> Vector:
    """Release the exact number of rows if the noisy number is below 1."""
    return np.append(y[0] if y[0] >= 1 else len(x), y[1:])


def mean_times_rows(y: Vector, x: Matrix) -> Vector:
    """Multiply the noisy sum by the noisy number of rows, and divide it by the exact number of rows."""
    return np.append(y[0], y[1:] / len(x) * y[0])


def control(name: str, mechanism_name: str, mistake: str = "", *, noise: Change = usual_noise,
            output: Output = usual_output, **more: Any) -> NegativeControl:  # fmt: skip
    """Return a negative control of the mechanism. The function `noise` makes a mistake in the noise of the mechanism,
    or the function `output` makes one in its output.
    """
    changed = output if noise is usual_noise else noise
    return NegativeControl(
        f"counted-{name}", mistake or changed.__doc__ or "", mechanism_name, (),
        partial(drawn, mechanism_name, noise, output), options=(("adjacency", "add-remove"),), **more,
    )  # fmt: skip


NEGATIVE_CONTROLS = (
    control("rows-bare", "gauss-cov", "Add no noise to the number of rows.", noise=times(0.0, 1.0)),
    control("rows-bare-laplace", "laplace", "Add no noise to the number of rows.", noise=times(0.0, 1.0)),
    control("rows-half", "entrywise-laplace", "Halve the noise of the number of rows.", noise=times(0.5, 1.0)),
    control("rows-90", "nuclear-laplace", "Multiply the noise of the number of rows by 0.9.", noise=times(0.9, 1.0)),
    control("sum-half", "gauss-cov", "Halve the noise of the sum.", noise=times(1.0, 0.5)),
    control("sum-97", "gaussian", "Multiply the noise of the sum by 0.97.", noise=times(1.0, 0.97)),
    control("sum-90", "nuclear-laplace-symmetric", "Multiply the noise of the sum by 0.9.", noise=times(1.0, 0.9)),
    control("97", "gauss-cov", "Multiply both noises by 0.97.", noise=times(0.97, 0.97)),
    control("of-means", "gauss-cov", noise=of_means),
    control("of-means-laplace", "laplace", noise=of_means),
    control("shared", "gaussian", noise=shared),
    control("unclipped", "gauss-cov", output=unclipped_sum),
    control("triangle-97", "lap-cov", "Multiply both noises by 0.97.", noise=times(0.97, 0.97)),
    control("triangle-full", "lap-cov", "Halve the noise of the sum.", noise=times(1.0, 0.5)),
    control("lattice-bare", "discrete-laplace-covariance", noise=no_whole_noise),
    control(
        "lattice-half",
        "discrete-laplace-covariance",
        "Halve the noise of the number of rows.",
        noise=other_parameters(Fraction(1, 2), Fraction(1)),
    ),
    control(
        "lattice-sum-90",
        "discrete-laplace-covariance",
        "Multiply the noise of the sum by 0.9.",
        noise=other_parameters(Fraction(1), Fraction(9, 10)),
    ),
    control(
        "lattice-variance",
        "discrete-gaussian-covariance",
        "Halve the variance of the noise of the sum.",
        noise=other_parameters(Fraction(1), Fraction(1, 2)),
    ),
    control("lattice-bare-gaussian", "discrete-gaussian-covariance", noise=no_whole_noise),
    control("rounded-rows", "gauss-cov", output=rounded_rows),
    control("true-rows", "laplace", output=true_rows),
    control("mean-times-rows", "gaussian", output=mean_times_rows),
)
