"""Primitives: callables of a package that add noise of a known law to a value, declared by name.

Some packages build their noise from several draws, or in another language. An adapter declares the callable, the family
and where the scale is; the stand-in then returns value + scale · z with z on the tape, or value + an integer draw. That
the package's own sampler has the declared law is assumed here and must be tested by statistics.
"""

import contextlib
import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from covassay.verification.audit.recorded.stand_ins import tape_of_run
from covassay.verification.audit.recorded.tape import Stream

Family = Literal["normal", "laplace"]


@dataclass(frozen=True)
class Primitive:
    """A callable that adds noise.

    module, path : where it is, as "diffprivlib.mechanisms.laplace" and "Laplace.randomise".
    family : the law of the noise; the family of its unit draw on the tape.
    value, scale : the call's positional arguments -> what noise is added to, and the scale: b of Laplace noise, the
        standard deviation of normal noise.
    after : what is done to value + noise, given the call's arguments too, as truncation to a range.
    """

    module: str
    path: str
    family: Family
    value: Callable[..., Any]
    scale: Callable[..., float]
    after: Callable[..., Any] | None = None

    @property
    def name(self) -> str:
        """The module's last name and the path."""
        return f"{self.module.rpartition('.')[2]}.{self.path}"


@dataclass(frozen=True)
class PrimitiveCall:
    """One call of a primitive in a run."""

    primitive: Primitive
    value: float
    scale: float
    output: float


@dataclass
class Transcript:
    """The calls of primitives in a run. With `held`, outputs are those of another run, in their order."""

    calls: list[PrimitiveCall]
    held: Sequence[PrimitiveCall] | None = None
    trouble: str = ""


_transcript: Transcript | None = None


@contextlib.contextmanager
def transcribing(transcript: Transcript) -> Iterator[Transcript]:
    """A block in which calls of primitives are written down."""
    global _transcript
    before, _transcript = _transcript, transcript
    try:
        yield transcript
    finally:
        _transcript = before


def _replaced(primitive: Primitive, real: Any) -> Callable[..., Any]:
    inside = False

    def call(*args: Any, **named: Any) -> Any:
        nonlocal inside
        tape = tape_of_run()
        if tape is None or inside:
            return real(*args, **named)
        inside = True
        try:
            value, scale = float(primitive.value(*args, **named)), float(primitive.scale(*args, **named))
        finally:
            inside = False
        make = (lambda g: g.standard_normal()) if primitive.family == "normal" else (lambda g: g.laplace())
        z = tape.draw(Stream(), primitive.family, (primitive.name,), None, make)
        output = value + scale * float(z)
        if primitive.after is not None:
            output = float(primitive.after(output, *args, **named))
        if _transcript is not None:
            k, held = len(_transcript.calls), _transcript.held
            if held is not None:
                if k < len(held) and held[k].primitive is primitive:
                    output = held[k].output
                else:
                    _transcript.trouble = f"call {k + 1} is of {primitive.name} here and not there"
            _transcript.calls.append(PrimitiveCall(primitive, value, scale, output))
        return np.float64(output)

    return call


@contextlib.contextmanager
def primitives_standing(primitives: Sequence[Primitive]) -> Iterator[None]:
    """A block in which primitives draw from the tape of the run."""
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
