"""Forced draws: what happens at the quantiles 10⁻³, 10⁻⁶ and 10⁻¹² of each draw, and at their mirror images.

Sampling would meet such a branch once in a thousand to 10¹² draws: truncation, redrawing, clipped noise, overflow, an
exception.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.verification.audit.recorded.affine import FORCED, coordinates, tape_at, variables_of
from covassay.verification.audit.recorded.recorder import Source, recorder
from covassay.verification.audit.recorded.tape import Tape

ALL = "all draws together"


@dataclass(frozen=True)
class ForcedDraw:
    """What happened at one quantile. kind : "fails", "other draws", or "stays": the output no longer moves."""

    draw: str
    number: int
    quantile: float
    upper: bool
    kind: str
    message: str

    def __str__(self) -> str:
        side = "upper" if self.upper else "lower"
        return f"{self.draw}, number {self.number + 1}, {side} quantile {self.quantile:g}: {self.kind} ({self.message})"


def forced(source: Source, x: Matrix, budget: Mapping[str, Any], seed: int = 0) -> tuple[ForcedDraw, ...]:
    """Everything that happens at a quantile and not at the usual draws."""
    made = recorder(source, budget)
    found: list[ForcedDraw] = []
    with made.standing():
        base = made.run(x, Tape(seed))
        if base.failure:
            return ()
        variables, _ = variables_of(base.tape)
        z0 = coordinates(base.tape, variables)
        for i in (*range(len(variables)), None):
            name = ALL if i is None else str(base.tape.draws[variables[i].draw])
            number = 0 if i is None else variables[i].entry
            for upper in (False, True):
                outputs = []
                for p in FORCED:
                    far = np.array([v.above(p) if upper else v.at(p) for v in variables])
                    z = far if i is None else np.where(np.arange(len(z0)) == i, far, z0)
                    done = made.run(x, tape_at(base.tape, variables, z))
                    other = done.tape.differs()
                    if done.failure or other:
                        kind = "fails" if done.failure else "other draws"
                        found.append(ForcedDraw(name, number, p, upper, kind, done.failure or other))
                        break
                    outputs.append(done.output)
                if len(outputs) == len(FORCED):
                    moved = (outputs[0] != base.output) | (outputs[1] != outputs[0])
                    stays = moved & (outputs[2] == outputs[1])
                    if stays.any():
                        row = int(np.argmax(stays))
                        told = f"entry {row + 1} is {outputs[2][row]:.6g}, as at {FORCED[1]:g}"
                        found.append(ForcedDraw(name, number, FORCED[2], upper, "stays", told))
    return tuple(found)
