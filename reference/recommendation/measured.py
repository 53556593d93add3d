"""Load constants and tables that were measured by simulation, each with the run that measured it.

Each file in the folder `constants` has the figures of one law. The following command wrote the figures.

    python -P -m covassay.verification.maintain constants FOLDER --only LAW

The entry `run` of a file has the whole command line, the seed and the draws. The command also computes a standard error
for every figure. A test measures some of the stored figures again.

A figure is a `noise` figure or a `table` figure. A `noise` figure is the root mean square norm of noise that does not
depend on the data, divided by a formula that grows with d like the norm. A `table` figure is m times the root mean
square error of a mechanism on the model data of `setting`, where m is nε or n√ρ. The grid of a table has the axes d and
q = mt/d^{3/2} (mt/d for zCDP), where t is the trace. If the error depends on t not only through q, the grid has t as a
third axis. Between the points of a grid the logarithms of the figures are interpolated linearly.

The tables of correlated Gaussian rows are for mechanisms that search for a clipping norm among the powers of 2. The
model data have 1024 rows. The rows are longer if the trace is larger. The error jumps where the norm of the longest row
exceeds a power of 2. The tables do not record the traces at which the error jumps. Between two neighbouring traces t₁
and t₂ of the grid, the larger of the figures at t₁ and at t₂ is therefore used. If the data have far more than 1024
rows and the same trace, their longest row is longer. With such data the error therefore jumps at a smaller trace.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector

FOLDER = "covassay.reference.recommendation"
NORMS = ("frobenius", "spectral")
OF_GAUSSIAN_ROWS = "-gaussian-rows"  # names of tables measured on correlated Gaussian rows end with this text
# If the logarithms of the last two figures along the axis q differ by at most this number, the last figure is also used
# for larger q.
SETTLED = 0.05


@dataclass(frozen=True)
class Measured:
    """The measured figures of one law, which is the law of noise or of an error. The figures were measured at the
    points of a grid, whose axes are in the field `axes`. The fields `figures` and `errors` have the figures and their
    relative standard errors for each norm.

    The field `run` has the command, the seed and the draws at every dimension.
    """

    law: str
    kind: str
    axes: Mapping[str, Vector]
    figures: Mapping[str, Matrix]
    errors: Mapping[str, Matrix]
    run: Mapping[str, Any]

    def at(self, norm: str, **place: float) -> tuple[float, float] | None:
        """Return the figure at a point of the grid or between points, and its relative standard error, or None outside
        the grid.

        If q is beyond the grid, and the figures near the end of the grid no longer depend on q, the last figure is
        returned. The error is then that of the noise, and decreases like 1/m.
        """
        if "q" in self.axes and place["q"] > self.axes["q"][-1]:
            before, end = (self.at(norm, **{**place, "q": float(q)}) for q in self.axes["q"][-2:])
            return end if before and end and abs(math.log(end[0] / before[0])) <= SETTLED else None
        logs, errors = np.log(self.figures[norm]), self.errors[norm]
        for name, axis in self.axes.items():
            where = place[name]
            if not axis[0] * (1 - 1e-9) <= where <= axis[-1] * (1 + 1e-9):
                return None
            jumps = name == "trace" and self.law.endswith(OF_GAUSSIAN_ROWS)
            logs, errors = _along_first(np.log(axis), logs, errors, math.log(where), jumps)
        return math.exp(float(logs)), float(errors)


def _along_first(
    axis: Vector, values: Matrix, errors: Matrix, where: float, jumps: bool = False
) -> tuple[Matrix, Matrix]:
    """Interpolate the values linearly between two neighbouring points of the first axis of the array. Return the
    interpolated values, and the larger of the standard errors at the two points.

    If `jumps` is true, the values may jump between the two points, and the larger value is returned without
    interpolation.
    """
    if len(axis) == 1:
        return values[0], errors[0]
    k = min(max(int(np.searchsorted(axis, where)) - 1, 0), len(axis) - 2)
    share = min(max((where - axis[k]) / (axis[k + 1] - axis[k]), 0.0), 1.0)
    larger = np.maximum(errors[k], errors[k + 1])
    if jumps and 1e-9 < share < 1 - 1e-9:
        return np.maximum(values[k], values[k + 1]), larger
    return (1 - share) * values[k] + share * values[k + 1], larger


@lru_cache(maxsize=1)
def measured() -> Mapping[str, Measured]:
    """Return all measured figures, keyed by law."""
    found = {}
    for path in resources.files(FOLDER).joinpath("constants").iterdir():
        if path.name.endswith(".json"):
            one = from_json(json.loads(path.read_text(encoding="utf-8")))
            found[one.law] = one
    return found


def from_json(document: Mapping[str, Any]) -> Measured:
    """Return the figures in a document that the measuring command has written."""
    return Measured(
        law=document["law"],
        kind=document["kind"],
        axes={name: np.array(axis, dtype=np.float64) for name, axis in document["axes"].items()},
        figures={norm: np.array(document[norm]) for norm in NORMS},
        errors={norm: np.array(document[f"{norm}_error"]) for norm in NORMS},
        run=document["run"],
    )


def relative_size(d: float, size: float, trace: float, pure: bool) -> float:
    """Return q = mt/d^{3/2}, or mt/d for zCDP. Up to a constant, q is the trace divided by the Frobenius norm of the
    noise.
    """
    return float(size * trace / (d**1.5 if pure else d))
