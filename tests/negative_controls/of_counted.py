"""Negative controls of additive mechanisms under add-remove: a mistake in the noisy count or in the noisy sum."""

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

Change = Callable[[Any, int], Any]  # maps (noise, number of rows) to the noise that is used in its place
Output = Callable[[Vector, Matrix], Vector]  # maps (output, data) to the output that is released in its place
ADD_REMOVE = {"adjacency": "add-remove"}


def drawn(name: str, noise: Change, output: Output, x: Matrix, *, rng: np.random.Generator, **budget: float) -> Vector:
    """Make one release with changed noise and a changed output."""
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
    """Multiplies both noises by factors."""
    return lambda noise, n: CountedNoise(count * noise.count, entries * noise.sum)


def of_means(noise: CountedNoise, n: int) -> CountedNoise:
    """Adds the noise that a mean needs to a sum."""
    return replace(noise, sum=noise.sum / n)


def shared(noise: CountedNoise, n: int) -> CountedNoise:
    """Uses the noise of the number of rows also as the noise of the first entry of the sum."""
    entries = noise.sum.copy()
    entries.flat[0] = noise.count
    return replace(noise, sum=entries)


def other_parameters(count: Fraction, entries: Fraction) -> Any:
    """Draws whole numbers after multiplying the parameters of the law by factors."""

    def changed(noise: CountedDraws, n: int) -> CountedDraws:
        return CountedDraws(
            lambda parameter: noise.count(count * parameter), lambda parameter: noise.sum(entries * parameter)
        )

    return changed


def no_whole_noise(noise: CountedDraws, n: int) -> CountedDraws:
    """Adds no noise to the number of rows."""
    return replace(noise, count=lambda parameter: 0)


def unclipped_sum(y: Vector, x: Matrix) -> Vector:
    """Does not shorten long rows."""
    long = x * (1 - 1 / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1.0) ** 2) ** 0.5
    with np.errstate(over="ignore"):
        y[1] += float((long[:, 0] ** 2).sum())
    return y


def rounded_rows(y: Vector, x: Matrix) -> Vector:
    """Rounds the noisy number of rows to a whole number: this is private, but it is not the claimed output."""
    return np.append(np.rint(y[0]), y[1:])


def true_rows(y: Vector, x: Matrix) -> Vector:
    """Releases the number of rows without noise where the noisy number is below 1."""
    return np.append(y[0] if y[0] >= 1 else len(x), y[1:])


def mean_times_rows(y: Vector, x: Matrix) -> Vector:
    """Releases the noisy mean times the noisy number of rows in place of the noisy sum."""
    return np.append(y[0], y[1:] / len(x) * y[0])


def control(name: str, mechanism_name: str, mistake: str = "", *, noise: Change = usual_noise,
            output: Output = usual_output, **more: Any) -> NegativeControl:  # fmt: skip
    """Make the control for the given change of the noise or of the output."""
    changed = output if noise is usual_noise else noise
    return NegativeControl(
        f"counted-{name}", mistake or changed.__doc__ or "", mechanism_name, (),
        partial(drawn, mechanism_name, noise, output), options=(("adjacency", "add-remove"),), **more,
    )  # fmt: skip


NEGATIVE_CONTROLS = (
    control("rows-bare", "gauss-cov", "Adds no noise to the number of rows.", noise=times(0.0, 1.0)),
    control("rows-bare-laplace", "laplace", "Adds no noise to the number of rows.", noise=times(0.0, 1.0)),
    control("rows-half", "entrywise-laplace", "Has half of the noise of the number of rows.", noise=times(0.5, 1.0)),
    control("rows-90", "nuclear-laplace", "Has 0.9 times the noise of the number of rows.", noise=times(0.9, 1.0)),
    control("sum-half", "gauss-cov", "Has half of the noise of the sum.", noise=times(1.0, 0.5)),
    control("sum-97", "gaussian", "Has 0.97 times the noise of the sum.", noise=times(1.0, 0.97)),
    control("sum-90", "nuclear-laplace-symmetric", "Has 0.9 times the noise of the sum.", noise=times(1.0, 0.9)),
    control("97", "gauss-cov", "Has 0.97 times both noises.", noise=times(0.97, 0.97)),
    control("of-means", "gauss-cov", noise=of_means),
    control("of-means-laplace", "laplace", noise=of_means),
    control("shared", "gaussian", noise=shared),
    control("unclipped", "gauss-cov", output=unclipped_sum),
    control("triangle-97", "lap-cov", "Has 0.97 times both noises.", noise=times(0.97, 0.97)),
    control("triangle-full", "lap-cov", "Has noise for half of the change by one row.", noise=times(1.0, 0.5)),
    control("lattice-bare", "discrete-laplace-covariance", noise=no_whole_noise),
    control(
        "lattice-half",
        "discrete-laplace-covariance",
        "Has half of the noise of the number of rows.",
        noise=other_parameters(Fraction(1, 2), Fraction(1)),
    ),
    control(
        "lattice-sum-90",
        "discrete-laplace-covariance",
        "Has 0.9 times the noise of the sum.",
        noise=other_parameters(Fraction(1), Fraction(9, 10)),
    ),
    control(
        "lattice-variance",
        "discrete-gaussian-covariance",
        "Has half of the variance of the noise of the sum.",
        noise=other_parameters(Fraction(1), Fraction(1, 2)),
    ),
    control("lattice-bare-gaussian", "discrete-gaussian-covariance", noise=no_whole_noise),
    control("rounded-rows", "gauss-cov", output=rounded_rows),
    control("true-rows", "laplace", output=true_rows),
    control("mean-times-rows", "gaussian", output=mean_times_rows),
)
