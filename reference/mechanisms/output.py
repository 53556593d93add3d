"""Describe the output of a mechanism: its shape, its unit, and its parts in a file.

There are ten kinds. Every kind of output is an object with the same methods, so that the release tool need not tell the
kinds apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from covassay.reference.domain import Array, Vector

POINTS = {"mean": "the origin", "second_moment": "the origin", "covariance": "the mean of the records"}
UNITS = {
    "mean": "the unit of x",
    "covariance": "the unit of x squared: entry i, j has the unit of column i times the unit of column j",
    "second_moment": "the unit of x squared: entry i, j has the unit of column i times the unit of column j",
    "rows": "records",
}


@dataclass(frozen=True)
class Output:
    """One kind of output.

    kind : the name of the kind of output on the command line.
    layout : the shape of an output, in words.
    power : the p such that the output is in the unit of x to the power p.
    symmetric : whether an output always equals its transpose.
    normalised : whether an output is a vector of length 1.
    """

    kind: ClassVar[str]
    layout: ClassVar[str]
    normalised: ClassVar[bool] = False
    power: int = 0
    symmetric: bool = False

    @property
    def unit(self) -> str:
        """Return the unit of the output in words."""
        return {0: "no unit", 1: "the unit of x", 2: "the unit of x squared"}.get(
            self.power, f"1/(unit of x){'' if self.power == -1 else f'^{-self.power}'}"
        )

    def shape(self, dimension: int) -> tuple[int, ...]:
        """Return the shape of one output on data with `dimension` columns."""
        raise NotImplementedError

    def parts(self, values: Array) -> dict[str, Array]:
        """Return the parts of an output, by the names that they have in a file."""
        return {self.kind: values}

    def names(self, columns: Sequence[str]) -> dict[str, list[str] | str]:
        """Return a description of the columns of an output in a file."""
        return {"columns": list(columns)}

    def meaning(self, scaled: bool) -> dict[str, dict[str, str]]:
        """Return for every part in a file its unit, and the point about which it is taken, if there is one.

        The argument `scaled` says whether the columns were shifted and scaled by their bounds.
        """
        parts = self.parts(np.zeros(self.shape(2)))
        return {name: self._said(name, scaled and not self.restorable) for name in parts}

    def _said(self, part: str, foreign: bool) -> dict[str, str]:
        """Return the meaning of one part of the output.

        If `foreign` is true, the part is in the units of the scaled columns, and otherwise in the units of the data.
        """
        about = {"about": POINTS[part]} if part in POINTS else {}
        unit = UNITS.get(part, self.unit)
        return {**about, "unit": f"{unit}, with (x - shift)/scale in place of x" if foreign else unit}

    def header(self, columns: Sequence[str]) -> list[str]:
        """Return the column headings for an output that is written to a text file."""
        shape = self.shape(len(columns))
        return list(columns[: shape[-1]]) if shape else [self.kind]

    @property
    def restorable(self) -> bool:
        """Return whether an output on scaled data can be converted to the units of the data."""
        return False

    def restore(self, values: Array, shift: Vector, scale: Vector) -> Array | None:
        """Convert an output on u = (x − shift)/scale to the units of x, or return None if this is not possible."""
        return None

    def times_bound(self, values: Array, row_bound: float) -> Array:
        """Convert an output on x/row_bound to the unit of x."""
        restored: Array = values * row_bound**self.power
        return restored


@dataclass(frozen=True)
class MatrixOutput(Output):
    """Output of shape (d, d): an estimate of a second moment or a covariance (power 2), or a preconditioner (power −1).

    The field `centred` says whether the matrix estimates the covariance, which is taken about the mean of the data.
    """

    kind, layout = "matrix", "(d, d)"
    centred: bool = False

    def shape(self, dimension: int) -> tuple[int, ...]:
        return dimension, dimension

    @property
    def part(self) -> str:
        """Return the kind of matrix, given by its name in a file."""
        if self.power != 2:
            return "preconditioner" if self.power == -1 else self.kind
        return "covariance" if self.centred else "second_moment"

    def parts(self, values: Array) -> dict[str, Array]:
        return {self.part: values}

    def meaning(self, scaled: bool) -> dict[str, dict[str, str]]:
        said = super().meaning(scaled)
        if scaled and self.part == "second_moment":
            said[self.part]["about"] = "the point that the provenance records as `shift`"
        return said

    @property
    def restorable(self) -> bool:
        return self.power == 2

    def restore(self, values: Array, shift: Vector, scale: Vector) -> Array | None:
        return np.outer(scale, scale) * values if self.restorable else None


class DirectionOutput(Output):
    """Output of shape (d,): a unit vector up to its sign."""

    kind, layout = "direction", "(d,)"
    normalised = True

    def shape(self, dimension: int) -> tuple[int, ...]:
        return (dimension,)


class ProjectionOutput(Output):
    """Output of shape (d, d): the orthogonal projection onto a subspace."""

    kind, layout = "projection", "(d, d)"

    def shape(self, dimension: int) -> tuple[int, ...]:
        return dimension, dimension


class VectorOutput(Output):
    """Output of shape (d,): a mean, or one number for every feature."""

    kind, layout = "vector", "(d,)"

    def shape(self, dimension: int) -> tuple[int, ...]:
        return (dimension,)


class CoefficientsOutput(VectorOutput):
    """Output of shape (d − 1,): coefficients of a regression of the last column on the others."""

    kind, layout = "coefficients", "(d − 1,)"

    def shape(self, dimension: int) -> tuple[int, ...]:
        return (dimension - 1,)

    def names(self, columns: Sequence[str]) -> dict[str, list[str] | str]:
        return {"columns": list(columns[:-1]), "target": columns[-1]}

    @property
    def restorable(self) -> bool:
        return self.power == 0

    def restore(self, values: Array, shift: Vector, scale: Vector) -> Array | None:
        restored: Array = values * scale[-1] / scale[:-1]
        return restored if self.restorable else None


class GaussianOutput(Output):
    """Output of shape (d + 1, d): a mean (power 1), and below it a covariance (power 2)."""

    kind, layout = "gaussian", "(d + 1, d)"

    def shape(self, dimension: int) -> tuple[int, ...]:
        return dimension + 1, dimension

    def parts(self, values: Array) -> dict[str, Array]:
        return {"mean": values[0], "covariance": values[1:]}

    @property
    def restorable(self) -> bool:
        return self.power == 1

    def restore(self, values: Array, shift: Vector, scale: Vector) -> Array | None:
        if not self.restorable:
            return None
        return np.vstack([shift + scale * values[0], np.outer(scale, scale) * values[1:]])


class MomentsOutput(GaussianOutput):
    """Output of shape (d + 1, d): a mean (power 1), and below it a second moment about the origin (power 2)."""

    kind = "moments"

    def parts(self, values: Array) -> dict[str, Array]:
        return {"mean": values[0], "second_moment": values[1:]}

    def restore(self, values: Array, shift: Vector, scale: Vector) -> Array | None:
        if not self.restorable:
            return None
        centre, mixed = shift + scale * values[0], np.outer(shift, scale * values[0])
        moment = np.outer(shift, shift) + mixed + mixed.T + np.outer(scale, scale) * values[1:]
        return np.vstack([centre, moment])


class RowsMeanCovarianceOutput(Output):
    """Symmetric output of shape (d + 1, d + 1), which has the number of rows, the mean and the covariance.

    The number of rows is the first entry, the mean is the rest of the first row, and the covariance is below the mean.
    """

    kind, layout = "rows-mean-covariance", "(d + 1, d + 1)"

    def shape(self, dimension: int) -> tuple[int, ...]:
        return dimension + 1, dimension + 1

    def parts(self, values: Array) -> dict[str, Array]:
        return {"rows": values[0, 0], "mean": values[0, 1:], "covariance": values[1:, 1:]}

    def header(self, columns: Sequence[str]) -> list[str]:
        return ["rows", *columns]

    @property
    def restorable(self) -> bool:
        return self.power == 1

    def restore(self, values: Array, shift: Vector, scale: Vector) -> Array | None:
        if not self.restorable:
            return None
        restored = values * np.outer(np.append(1.0, scale), np.append(1.0, scale))
        restored[0, 1:] += shift
        restored[1:, 0] += shift
        return restored


class NumberOutput(Output):
    """Output of shape (): a real number."""

    kind, layout = "number", "()"

    def shape(self, dimension: int) -> tuple[int, ...]:
        return ()


class LevelOutput(NumberOutput):
    """Output of shape (): an element of a finite public set of numbers."""

    kind, layout = "level", "()"


SECOND_MOMENT = MatrixOutput(power=2)
SYMMETRIC_SECOND_MOMENT = MatrixOutput(power=2, symmetric=True)
COVARIANCE = MatrixOutput(power=2, symmetric=True, centred=True)
ROWS_MEAN_COVARIANCE = RowsMeanCovarianceOutput(power=1, symmetric=True)

OUTPUTS: dict[str, Output] = {
    output.kind: output
    for output in (
        SECOND_MOMENT,
        DirectionOutput(),
        ProjectionOutput(symmetric=True),
        VectorOutput(power=1),
        CoefficientsOutput(),
        GaussianOutput(power=1),
        MomentsOutput(power=1),
        ROWS_MEAN_COVARIANCE,
        NumberOutput(),
        LevelOutput(),
    )
}
