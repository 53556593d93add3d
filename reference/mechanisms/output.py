"""What a mechanism releases: its shape, its unit, numbers that describe it, and its parts in a file.

There are eight kinds. Each is an object that answers for itself, so that the audit, the release tool and the command
line ask it and do not tell the kinds apart.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from covassay.reference.domain import Array, Matrix, Vector

Feature = Callable[[Array], Vector]  # outputs (size, …) -> one number for each, (size,)


@dataclass(frozen=True)
class Output:
    """One kind of output.

    kind : the name by which the command line knows it. layout : its shape, in words.
    power : the output is in the unit of x to this power.
    symmetric : an output always equals its transpose. normalised : an output is a vector of length 1.
    """

    kind: ClassVar[str]
    layout: ClassVar[str]
    normalised: ClassVar[bool] = False
    power: int = 0
    symmetric: bool = False

    @property
    def unit(self) -> str:
        """The unit in words."""
        return {0: "no unit", 1: "the unit of x", 2: "the unit of x squared"}.get(
            self.power, f"1/(unit of x){'' if self.power == -1 else f'^{-self.power}'}"
        )

    def shape(self, dimension: int) -> tuple[int, ...]:
        """The shape of one output on data with that many columns."""
        raise NotImplementedError

    def features(self, dimension: int) -> Mapping[str, Feature]:
        """Numbers that describe an output whatever the data are: where two laws differ, some of them should."""
        raise NotImplementedError

    def contrasts(self, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
        """Numbers that should tell an output on one data set from an output on another, when the law is unknown."""
        raise NotImplementedError

    def parts(self, values: Array) -> dict[str, Array]:
        """The parts of an output, by the names that they have in a file."""
        return {self.kind: values}

    def names(self, columns: Sequence[str]) -> dict[str, list[str] | str]:
        """What a file says of the columns that an output speaks of."""
        return {"columns": list(columns)}

    @property
    def restorable(self) -> bool:
        """Whether an output on scaled data can be brought back to the units of the data."""
        return False

    def restore(self, values: Array, shift: Vector, scale: Vector) -> Array | None:
        """An output on u = (x − shift)/scale, in the units of x; None where it has no such units."""
        return None


class MatrixOutput(Output):
    """(d, d): an estimate of a second moment or a covariance (power 2), or a preconditioner (power −1)."""

    kind, layout = "matrix", "(d, d)"

    def shape(self, dimension: int) -> tuple[int, ...]:
        return dimension, dimension

    def features(self, dimension: int) -> Mapping[str, Feature]:
        return {
            "nuclear norm": lambda y: np.linalg.norm(y, "nuc", axis=(1, 2)),
            "spectral norm": lambda y: np.linalg.norm(y, 2, axis=(1, 2)),
            "trace": lambda y: np.trace(y, axis1=1, axis2=2),
            "entry (1, 1)": lambda y: y[:, 0, 0],
            "entry (1, 2)": lambda y: y[:, 0, -1],
        }

    def contrasts(self, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
        change = gram_change(first, second)
        a, b = first.T @ first / len(first), second.T @ second / len(second)
        return {
            "⟨Y, Δ⟩": lambda y: np.einsum("nij,ij->n", y, change),
            "‖Y − Σ'‖_* − ‖Y − Σ‖_*": lambda y: (
                np.linalg.norm(y - b, "nuc", axis=(1, 2)) - np.linalg.norm(y - a, "nuc", axis=(1, 2))
            ),
            "tr Y": lambda y: np.trace(y, axis1=1, axis2=2),
            "‖Y‖": lambda y: np.linalg.norm(y, 2, axis=(1, 2)),
        }

    def parts(self, values: Array) -> dict[str, Array]:
        return {"covariance": values}

    @property
    def restorable(self) -> bool:
        return self.power == 2

    def restore(self, values: Array, shift: Vector, scale: Vector) -> Array | None:
        return np.outer(scale, scale) * values if self.restorable else None


class DirectionOutput(Output):
    """(d,): a unit vector up to its sign."""

    kind, layout = "direction", "(d,)"
    normalised = True

    def shape(self, dimension: int) -> tuple[int, ...]:
        return (dimension,)

    def features(self, dimension: int) -> Mapping[str, Feature]:
        def squared(i: int) -> Feature:
            return lambda y: y[:, i] ** 2

        return {f"component {i + 1}": squared(i) for i in range(dimension)}

    def contrasts(self, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
        change = gram_change(first, second)
        return {"uᵀΔu": lambda u: np.einsum("ni,ij,nj->n", u, change, u)}


class ProjectionOutput(Output):
    """(d, d): the orthogonal projection onto a subspace."""

    kind, layout = "projection", "(d, d)"

    def shape(self, dimension: int) -> tuple[int, ...]:
        return dimension, dimension

    def features(self, dimension: int) -> Mapping[str, Feature]:
        return {
            "entry (1, 1)": lambda y: y[:, 0, 0],
            "entry (d, d)": lambda y: y[:, -1, -1],
            "entry (1, d)": lambda y: y[:, 0, -1],
        }

    def contrasts(self, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
        change = gram_change(first, second)
        return {"tr(PΔ)": lambda y: np.einsum("nij,ij->n", y, change)}


class VectorOutput(Output):
    """(d,): a mean, or one number for every feature."""

    kind, layout = "vector", "(d,)"

    def shape(self, dimension: int) -> tuple[int, ...]:
        return (dimension,)

    def features(self, dimension: int) -> Mapping[str, Feature]:
        return {"component 1": lambda y: y[:, 0], "norm": lambda y: np.linalg.norm(y, axis=1)}

    def contrasts(self, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
        (width,) = self.shape(first.shape[1])
        sums = (first.sum(axis=0) - second.sum(axis=0))[:width]
        squares = np.diag(gram_change(first, second))[:width]
        return {
            "⟨y, change of the sums⟩": lambda y: y @ sums,
            "⟨y, change of the squares⟩": lambda y: y @ squares,
            "‖y‖": lambda y: np.linalg.norm(y, axis=1),
        }


class CoefficientsOutput(VectorOutput):
    """(d − 1,): coefficients of a regression of the last column on the others."""

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
    """(d + 1, d): a mean (power 1), and below it a covariance (power 2)."""

    kind, layout = "gaussian", "(d + 1, d)"

    def shape(self, dimension: int) -> tuple[int, ...]:
        return dimension + 1, dimension

    def features(self, dimension: int) -> Mapping[str, Feature]:
        return {
            "mean 1": lambda y: y[:, 0, 0],
            "norm of the mean": lambda y: np.linalg.norm(y[:, 0], axis=1),
            "trace": lambda y: np.trace(y[:, 1:], axis1=1, axis2=2),
            "covariance (1, 2)": lambda y: y[:, 1, -1],
        }

    def contrasts(self, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
        sums, change = first.sum(axis=0) - second.sum(axis=0), gram_change(first, second)
        return {
            "⟨mean, change of the mean⟩": lambda y: y[:, 0] @ sums,
            "⟨covariance, Δ⟩": lambda y: np.einsum("nij,ij->n", y[:, 1:], change),
        }

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
    """(d + 1, d): a mean (power 1), and below it a second moment about the origin (power 2), symmetric."""

    kind = "moments"

    def parts(self, values: Array) -> dict[str, Array]:
        return {"mean": values[0], "second_moment": values[1:]}

    def restore(self, values: Array, shift: Vector, scale: Vector) -> Array | None:
        if not self.restorable:
            return None
        centre, mixed = shift + scale * values[0], np.outer(shift, scale * values[0])
        moment = np.outer(shift, shift) + mixed + mixed.T + np.outer(scale, scale) * values[1:]
        return np.vstack([centre, moment])


class NumberOutput(Output):
    """(): a real number."""

    kind, layout = "number", "()"

    def shape(self, dimension: int) -> tuple[int, ...]:
        return ()

    def features(self, dimension: int) -> Mapping[str, Feature]:
        return {"value": lambda y: y}

    def contrasts(self, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
        return {"value": lambda y: y}


class LevelOutput(NumberOutput):
    """(): a number of a public finite set."""

    kind, layout = "level", "()"


SECOND_MOMENT = MatrixOutput(power=2)
SYMMETRIC_SECOND_MOMENT = MatrixOutput(power=2, symmetric=True)

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
        NumberOutput(),
        LevelOutput(),
    )
}


def gram_change(first: Matrix, second: Matrix) -> Matrix:
    """Δ = XᵀX − X'ᵀX' of two data sets."""
    change: Matrix = first.T @ first - second.T @ second
    return change
