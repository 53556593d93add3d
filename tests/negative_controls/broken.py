"""Build a negative control from a mechanism of the reference implementation by replacing one part of it."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, row_norms
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.engine.noise_parts import mapped
from tests.negative_controls.negative_control import NegativeControl

Rows = Callable[[Matrix], Matrix]
# a function that maps (the mechanism's noise, rng, x) to the changed noise
Noise = Callable[[Any, np.random.Generator, Matrix], Any]
# a function that maps (the mechanism's output, rng, x) to the changed output
Output = Callable[[Any, np.random.Generator, Matrix], Any]
Declared = Mechanism[Any, ..., Any]


def noise_of(declared: Declared, x: Matrix, rng: np.random.Generator, given: dict[str, Any]) -> Any:
    """Draw the noise that the mechanism's `release` takes as an argument with the data x. If `given` has a `size`,
    return that many draws.
    """
    known = {**{name: p.default for name, p in declared.declared.items()}, "size": None, **given, "rows": len(x)}
    taken = inspect.signature(declared.draw_noise).parameters
    return declared.draw_noise(x.shape[1], rng, **{name: known[name] for name in taken if name in known})


def broken(
    name: str,
    mechanism_name: str,
    mistake: str,
    *,
    rows: Rows | None = None,
    noise: Noise | None = None,
    output: Output | None = None,
    budget: float = 1.0,
    unclipped: bool = False,
    **more: Any,
) -> NegativeControl:
    """Return a negative control: a mechanism whose rows, noise, budget or output is changed. The functions `rows`,
    `noise` and `output` make the changes, and the mechanism spends `budget` times the given ε or ρ.

    If `unclipped` is true, rows of norm above 1 are not clipped. This works only for a mechanism whose output is the
    sum of the noise and a quadratic function of the rows.
    """
    declared = mechanism(mechanism_name)
    options = dict(more.get("options", ()))
    in_batches = "size" in inspect.signature(declared.draw_noise).parameters

    def noises(x: Matrix, rng: np.random.Generator, given: dict[str, Any], size: int | None) -> Any:
        return noise_of(declared, x, rng, given | {"size": size}) if size else [noise_of(declared, x, rng, given)]

    def drawn(x: Matrix, rng: np.random.Generator, given: dict[str, float], size: int | None = None) -> list[Any]:
        x = np.asarray(x, dtype=np.float64)
        prepared = x if rows is None else np.asarray(rows(x), dtype=np.float64)
        spent = {key: value * budget if key != "delta" else value for key, value in given.items()}
        chosen = {key: value for key, value in options.items() if key not in declared.of_the_draw}
        longest = max(1.0, float(row_norms(prepared).max())) if unclipped else 1.0
        outputs = []
        for z_of_reference in noises(prepared, rng, {**spent, **options}, size):
            z = z_of_reference if noise is None else noise(z_of_reference, rng, x)
            y = declared.release(prepared / longest, z, **spent, **chosen)
            if longest > 1:
                y_of_zeros = declared.release(np.zeros_like(prepared), z, **spent, **chosen)
                y = longest**2 * (y - y_of_zeros) + y_of_zeros
            outputs.append(y if output is None else output(y, rng, x))
        return outputs

    def draw(x: Matrix, *, rng: np.random.Generator, **given: float) -> Any:
        return drawn(x, rng, given)[0]

    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, **given: float) -> list[Any]:
        return drawn(x, rng, given, size)

    many: Any = draw_many if in_batches else None
    return NegativeControl(name, mistake, mechanism_name, more.pop("caught_by", ()), draw, draw_many=many, **more)


def other_noise(name: str, mechanism_name: str, mistake: str, noise: Noise, **more: Any) -> NegativeControl:
    """Return a negative control: a mechanism of the reference implementation with changed noise."""
    return broken(name, mechanism_name, mistake, noise=noise, **more)


def other_output(name: str, mechanism_name: str, mistake: str, output: Output) -> NegativeControl:
    """Return a negative control: a mechanism of the reference implementation with a changed output."""
    return broken(name, mechanism_name, mistake, output=output)


# CHANGES OF NOISE


def mirrored(z: Matrix) -> Matrix:
    """Copy the upper triangle of a matrix, or of each matrix in a stack, to the lower triangle."""
    return np.asarray(np.triu(z) + np.swapaxes(np.triu(z, 1), -1, -2))


def each(change: Callable[[Any], Any]) -> Noise:
    """Return a function that applies `change` to every number of the noise."""
    return lambda z, rng, x: mapped(z, change)


def times(factor: float) -> Noise:
    """Return a function that multiplies the noise by a factor."""
    return each(lambda z: factor * z)


def times_if(factor: float, condition: Callable[[Matrix], bool]) -> Noise:
    """Return a function that multiplies the noise by a factor if the data satisfy the condition."""
    return lambda z, rng, x: times(factor if condition(x) else 1.0)(z, rng, x)


def part(name: str, change: Callable[[Any], Any]) -> Noise:
    """Return a function that changes one part of the noise. The part is named by a path such as "search.threshold"."""
    first, _, rest = name.partition(".")

    def changed(z: Any, rng: np.random.Generator, x: Matrix) -> Any:
        inner = getattr(z, first)
        return replace(z, **{first: part(rest, change)(inner, rng, x) if rest else change(inner)})

    return changed


def bare(name: str) -> Noise:
    """Return a function that sets one part of the noise to zero."""
    return part(name, lambda z: 0.0 * z)
