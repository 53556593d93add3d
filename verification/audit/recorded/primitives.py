"""Declare the primitives of a package, which are functions that add noise of a known law to a value.

Some packages compute their noise from several random numbers, or draw it in code of another language, so that the noise
itself cannot be recorded. For such a package, an adapter declares the function, the family of the noise and how to
compute its scale. While a target runs, a replacement for the function returns value + noise and records the draws. The
package's own sampler is assumed to have the declared law, which statistical tests must check.
"""

import contextlib
import importlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from covassay.reference.domain import Vector
from covassay.verification.audit.recorded.stand_ins import tape_of_run
from covassay.verification.audit.recorded.tape import Stream, Tape

Family = Literal["normal", "laplace", "geometric"]
Into = Literal["", "clipped", "folded", "redrawn"]
Range = tuple[float, float]
EVERYWHERE: Range = (-math.inf, math.inf)


@dataclass(frozen=True)
class Primitive:
    """A function of a package that adds noise to a value.

    `module` and `path` locate the function, as "diffprivlib.mechanisms.laplace" and "Laplace.randomise". `family` is
    the law of the noise. The family "geometric" has the two-sided law P(Z = k) ∝ exp(−|k|/scale) on whole numbers.

    `value` takes the arguments of a call and returns the value to which noise is added, a number or an array. `scale`
    takes the arguments of a call and returns the noise scale. The scale is b for Laplace noise, and the standard
    deviation for normal noise. For ε-DP by geometric noise on a whole number of sensitivity 1, the scale is 1/ε.

    `range` takes the arguments of a call and returns an interval, and `into` says how value + noise is mapped into the
    interval. The word "clipped" means that value + noise is moved to the nearest point of the interval. The word
    "folded" means that value + noise is reflected at the ends of the interval until it lies inside. The word "redrawn"
    means that noise is drawn until value + noise lies in the interval.

    `after` takes the output as an array, followed by the arguments of the call, and returns the result of the call.
    Without `after`, the result is the array, or a float if the value is a single number. If the package draws from a
    generator of its own, `seed` takes the arguments of a call and returns the seed of this generator.
    """

    module: str
    path: str
    family: Family
    value: Callable[..., Any]
    scale: Callable[..., Any]
    into: Into = ""
    range: Callable[..., Range] = lambda *args, **named: EVERYWHERE
    after: Callable[..., Any] | None = None
    seed: Callable[..., Any] | None = None

    @property
    def name(self) -> str:
        """Return the last part of the module's name, followed by the path."""
        return f"{self.module.rpartition('.')[2]}.{self.path}"


@dataclass(frozen=True)
class PrimitiveCall:
    """One call of a primitive in a run; value, scale and output have one entry for each number that gets noise."""

    primitive: Primitive
    value: Vector
    scale: Vector
    range: Range
    output: Vector


@dataclass
class Transcript:
    """The calls of primitives that are recorded in a run.

    If `held` has the calls of an earlier run, the primitives return the outputs of those calls in the same order.
    """

    calls: list[PrimitiveCall]
    held: Sequence[PrimitiveCall] | None = None
    trouble: str = ""


_transcript: Transcript | None = None


@contextlib.contextmanager
def transcribing(transcript: Transcript) -> Iterator[Transcript]:
    """Record all calls of primitives in the `with` block."""
    global _transcript
    before, _transcript = _transcript, transcript
    try:
        yield transcript
    finally:
        _transcript = before


def folded(value: Vector, low: float, high: float) -> Vector:
    """Reflect a value at the ends of a range until it lies inside, and return the result."""
    if math.isinf(high):
        return low + np.abs(value - low) if math.isfinite(low) else value
    if math.isinf(low):
        return high - np.abs(high - value)
    turn = np.mod(value - low, 2 * (high - low))
    return np.asarray(low + np.minimum(turn, 2 * (high - low) - turn))


def _redrawn(value: Vector, scale: Vector, low: float, high: float, uniform: Vector) -> Vector:
    """Return the quantile at level `uniform` of value + Laplace noise, conditioned on lying in the range."""
    first, last = (_laplace(np.asarray((end - value) / scale)) for end in (low, high))
    p = np.clip(first + uniform * (last - first), first, last)
    with np.errstate(divide="ignore"):
        z = np.where(p <= 0.5, np.log(2 * p), -np.log(2 * (1 - p)))
    return np.clip(value + scale * z, low, high)


def _laplace(z: Vector) -> Vector:
    """Return P(Z ≤ z) for Laplace noise Z of scale 1."""
    return np.where(z < 0, 0.5 * np.exp(np.minimum(z, 0.0)), 1 - 0.5 * np.exp(-np.maximum(z, 0.0)))


def _drawn(primitive: Primitive, tape: Tape, value: Vector, scale: Vector, bounds: Range, shape: Any) -> Vector:
    """Draw noise from the recorded draws, add it to the value, and map the sum into the range."""

    def draw(family: str, parameter: Any, make: Callable[[np.random.Generator], Any]) -> Vector:
        return np.reshape(tape.draw(Stream(), family, (parameter,), shape, make), -1)

    name = primitive.name
    if primitive.into == "redrawn":
        return _redrawn(value, scale, *bounds, draw("uniform", name, lambda g: g.random(shape)))
    if primitive.family == "geometric":
        p = -math.expm1(-1 / float(scale[0]))
        one, two = (draw("geometric", p, lambda g: g.geometric(p, shape)) for _ in range(2))
        noisy = value + one - two
    elif primitive.family == "normal":
        noisy = value + scale * draw("normal", name, lambda g: g.standard_normal(shape))
    else:
        noisy = value + scale * draw("laplace", name, lambda g: g.laplace(size=shape))
    if primitive.into == "clipped":
        return np.clip(noisy, *bounds)
    return folded(noisy, *bounds) if primitive.into == "folded" else noisy


def _output(primitive: Primitive, tape: Tape, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Vector, Any]:
    """Compute the output of a primitive's call, and record the call. Return the output as a vector, and its shape."""
    given = np.asarray(primitive.value(*args, **named), dtype=float)
    scale = np.broadcast_to(np.asarray(primitive.scale(*args, **named), dtype=float), given.shape).reshape(-1)
    bounds, value = primitive.range(*args, **named), given.reshape(-1)
    if primitive.seed is not None:
        tape.seeds.append(repr(primitive.seed(*args, **named)))
    output = _drawn(primitive, tape, value, scale, bounds, given.shape)
    if _transcript is not None:
        k, held = len(_transcript.calls), _transcript.held
        if held is not None:
            if k < len(held) and held[k].primitive is primitive and len(held[k].output) == len(output):
                output = held[k].output
            else:
                _transcript.trouble = f"call {k + 1} is of {primitive.name} in this run but not in the earlier run"
        _transcript.calls.append(PrimitiveCall(primitive, value, scale, bounds, output))
    return output, given.shape


def _replaced(primitive: Primitive, real: Any) -> Callable[..., Any]:
    inside = False

    def call(*args: Any, **named: Any) -> Any:
        nonlocal inside
        tape = tape_of_run()
        if tape is None or inside:
            return real(*args, **named)
        inside = True
        try:
            output, shape = _output(primitive, tape, args, named)
        finally:
            inside = False
        shaped = np.reshape(output, shape)
        if primitive.after is not None:
            return primitive.after(shaped, *args, **named)
        return shaped if shape else np.float64(shaped)

    return call


@contextlib.contextmanager
def primitives_standing(primitives: Sequence[Primitive]) -> Iterator[None]:
    """Let the primitives use the recorded draws of the current run in the `with` block."""
    saved: list[tuple[Any, str, Any]] = []
    try:
        for primitive in primitives:
            owner: Any = importlib.import_module(primitive.module)
            *parents, name = primitive.path.split(".")
            for parent in parents:
                owner = getattr(owner, parent)
            real = vars(owner)[name]
            saved.append((owner, name, real))
            setattr(owner, name, _replaced(primitive, real))
        yield
    finally:
        for owner, name, real in reversed(saved):
            setattr(owner, name, real)
