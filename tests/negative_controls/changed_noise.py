"""Build parts of negative controls that draw the reference's noise, change it, and release with it.

The noise of the reference is standardised: standard normal or Laplace numbers, or matrices of them. Each control
changes the law in one line, and takes all other parts from the reference.
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
# maps (a draw of the noise, x, rng) to the changed noise
Change = Callable[[Callable[[], Any], Matrix, np.random.Generator], Any]
OfNumbers = Callable[[Vector, np.random.Generator], Vector]  # independent numbers -> numbers


def with_noise(
    name: str, mistake: str, declared: Declared, change: Change, caught_by: tuple[tuple[str, str], ...]
) -> NegativeControl:
    """Make a control of the reference with changed noise."""
    drawn_with = inspect.signature(declared.draw_noise).parameters
    defaults = {key: p.default for key, p in declared.declared.items()}

    def draw(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Any:
        known = {**defaults, **budget, "rows": len(x)}
        given = {key: known[key] for key in drawn_with if key in known}
        noise = change(lambda: declared.draw_noise(x.shape[1], rng, **given), x, rng)
        return declared.release(x, noise, **budget)

    return NegativeControl(name, mistake, declared.name, caught_by, draw)


def scaled(noise: Any, factor: float, part: str = "") -> Any:
    """Multiply all numbers of the noise, or those of one part of it, by a factor."""
    if part:
        return replace(noise, **{part: scaled(getattr(noise, part), factor)})
    return mapped(noise, lambda z: factor * z)


def scaled_where(condition: Callable[[int, int], bool], factor: float, part: str = "") -> Change:
    """Make a change that multiplies the noise by a factor on data whose shape (n, d) fulfils the condition."""
    return lambda again, x, rng: scaled(again(), factor, part) if condition(*x.shape) else again()


def at_times(probability: float, factor: float, part: str = "") -> Change:
    """Make a change that multiplies the noise by a factor in a few draws."""

    def change(again: Callable[[], Any], x: Matrix, rng: np.random.Generator) -> Any:
        noise = again()
        return scaled(noise, factor, part) if rng.random() < probability else noise

    return change


def of_numbers(function: OfNumbers) -> Change:
    """Make a change that replaces the independent numbers of the noise, which may be a symmetric matrix."""

    def change(again: Callable[[], Any], x: Matrix, rng: np.random.Generator) -> Any:
        noise = np.array(again(), dtype=np.float64)
        if noise.ndim < 2 or not np.array_equal(noise, noise.T):
            return function(noise.reshape(-1), rng).reshape(noise.shape)
        i, j = np.triu_indices(len(noise))
        noise[i, j] = noise[j, i] = function(noise[i, j], rng)
        return noise

    return change


def redrawn_beyond(limit: float, fresh: Callable[[np.random.Generator, int], Vector]) -> OfNumbers:
    """Draw numbers again while they are larger than the limit."""

    def function(values: Vector, rng: np.random.Generator) -> Vector:
        while (large := np.abs(values) > limit).any():
            values[large] = fresh(rng, int(large.sum()))
        return values

    return function


def redrawn_if(too_large: Callable[[Any], bool]) -> Change:
    """Draw the whole noise again while it is too large."""

    def change(again: Callable[[], Any], x: Matrix, rng: np.random.Generator) -> Any:
        while too_large(noise := again()):
            pass
        return noise

    return change
