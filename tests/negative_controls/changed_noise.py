"""Build negative controls that draw the noise of a mechanism, change it, and compute the output from the changed noise.

A mechanism of the reference implementation draws standard noise: standard normal or Laplace numbers, or matrices of
such numbers. A negative control can therefore change the law of the noise in one line of code, and leave all other
parts of the mechanism as they are.
"""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.verification.audit.engine.noise_parts import mapped
from tests.negative_controls.negative_control import NegativeControl

Declared = Mechanism[Any, ..., Any]
# a function that maps (a draw of the noise, x, rng) to the changed noise
Change = Callable[[Callable[[], Any], Matrix, np.random.Generator], Any]
# a function that maps (independent numbers, rng) to the numbers that replace them
OfNumbers = Callable[[Vector, np.random.Generator], Vector]


def with_noise(
    name: str, mistake: str, declared: Declared, change: Change, caught_by: tuple[tuple[str, str], ...]
) -> NegativeControl:
    """Return a negative control: a mechanism of the reference implementation with changed noise."""
    drawn_with = inspect.signature(declared.draw_noise).parameters
    defaults = {key: p.default for key, p in declared.declared.items()}

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        known = {**defaults, **budget, "rows": len(x)}
        given = {key: known[key] for key in drawn_with if key in known}
        noise = change(lambda: declared.draw_noise(x.shape[1], rng, **given), x, rng)
        return declared.release(x, noise, **budget)

    return NegativeControl(name, mistake, declared.name, caught_by, draw)


def scaled(noise: Any, factor: float, part: str = "") -> Any:
    """Multiply the noise, or one named part of the noise, by a factor."""
    if part:
        return replace(noise, **{part: scaled(getattr(noise, part), factor)})
    return mapped(noise, lambda z: factor * z)


def scaled_where(condition: Callable[[int, int], bool], factor: float, part: str = "") -> Change:
    """Return a function that multiplies the noise by a factor if the shape (n, d) of the data fulfils the condition."""
    return lambda again, x, rng: scaled(again(), factor, part) if condition(*x.shape) else again()


def at_times(probability: float, factor: float, part: str = "") -> Change:
    """Return a function that, with the given probability, multiplies a draw of the noise by a factor."""

    def change(again: Callable[[], Any], x: Matrix, rng: np.random.Generator) -> Any:
        noise = again()
        return scaled(noise, factor, part) if rng.random() < probability else noise

    return change


def of_numbers(function: OfNumbers) -> Change:
    """Return a function that replaces the independent numbers in the noise by the numbers that `function` returns for
    them. The independent numbers of a symmetric matrix are those on and above the diagonal.
    """

    def change(again: Callable[[], Any], x: Matrix, rng: np.random.Generator) -> Any:
        noise = np.array(again(), dtype=np.float64)
        if noise.ndim < 2 or not np.array_equal(noise, noise.T):
            return function(noise.reshape(-1), rng).reshape(noise.shape)
        i, j = np.triu_indices(len(noise))
        noise[i, j] = noise[j, i] = function(noise[i, j], rng)
        return noise

    return change


def redrawn_beyond(limit: float, fresh: Callable[[np.random.Generator, int], Vector]) -> OfNumbers:
    """Return a function that draws a number again while its absolute value is above the limit."""

    def function(values: Vector, rng: np.random.Generator) -> Vector:
        while (large := np.abs(values) > limit).any():
            values[large] = fresh(rng, int(large.sum()))
        return values

    return function


def redrawn_if(too_large: Callable[[Any], bool]) -> Change:
    """Return a function that draws the whole noise again while it is too large."""

    def change(again: Callable[[], Any], x: Matrix, rng: np.random.Generator) -> Any:
        while too_large(noise := again()):
            pass
        return noise

    return change
