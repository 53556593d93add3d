"""Project a released matrix onto a set that contains the exact matrix. The projections are post-processing, so they
cost no privacy budget.

A projection is computed in floating point. The released matrix does not change, and the projected matrix is given in
addition.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.mechanism import DOMAINS, Mechanism
from covassay.reference.projections import psd_cone, psd_trace_ball
from covassay.reference.release.messages import named

WITH_A_MATRIX = ("matrix", "rows-mean-covariance", "rows-and-sum")
BOTH = (".json", ".npz")  # in these formats one file has both the released matrix and the projected matrix


@dataclass(frozen=True)
class Projection:
    """A projection, given by its name and a description of the set onto which it projects."""

    name: str
    onto: str

    @property
    def description(self) -> str:
        """Return the text about the projected matrix for an output file."""
        return f"the nearest to the released matrix among {self.onto}, computed in floating point; post-processing"

    def note(self, out: Path | None) -> str:
        """Return a sentence for the user on the projected matrix."""
        where = "standard output" if out is None else named(out)
        held = "beside the released one" if out and out.suffix.lower() in BOTH else "instead of the released one"
        return f"{where} holds the projected matrix {held}: {self.description}, which costs no budget" + (
            "" if held.startswith("beside") else " (.json and .npz hold both)"
        )


PROJECTIONS = {
    "psd": Projection("psd", "positive semidefinite matrices"),
    "trace": Projection(
        "trace", "positive semidefinite matrices whose trace is at most the largest trace of data in the ball"
    ),
}


def projection(name: str, declared: Mechanism[Any, ..., Any], options: Mapping[str, Any]) -> Projection:
    """Return the projection `name` for the output of the mechanism with the given options.

    Raises
    ------
    InvalidInput : no projection has this name, or the projection does not apply to the output of the mechanism.
    """
    if name not in PROJECTIONS:
        raise InvalidInput(f"--project {name}: must be one of {', '.join(PROJECTIONS)}")
    output = declared.output_of(options)
    if not (output.kind in WITH_A_MATRIX and output.restorable):
        raise InvalidInput(
            f"--project {name}: {declared.name} releases no second moment and no covariance: only these are projected"
        )
    if output.kind == "rows-and-sum" and (name == "trace" or getattr(output, "entries", "") == "vector"):
        raise InvalidInput(
            f"--project {name}: {declared.name} releases a sum: must be psd, and the sum must be a matrix (the "
            "trace of a sum is bounded only by the number of rows, which is secret)"
        )
    if name == "trace" and declared.domain != "ball":
        raise InvalidInput(
            f"--project trace: {declared.name} takes {DOMAINS[declared.domain]}, so no row bound limits the trace "
            "of the exact matrix: give psd"
        )
    return PROJECTIONS[name]


def project(released: Matrix, chosen: Projection, largest_trace: float) -> Matrix:
    """Project the symmetric part of a released matrix onto the set, in Frobenius norm."""
    symmetric = (released + released.T) / 2
    nearest = psd_cone(symmetric) if chosen.name == "psd" else psd_trace_ball(symmetric, largest_trace)
    projected: Matrix = (nearest + nearest.T) / 2  # averaging with the transpose removes rounding errors only
    return projected
