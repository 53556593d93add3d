"""Compute features of an output, which are numbers that a test compares when the law is unknown.

The kinds of output are those of `reference.mechanisms.output`; a further kind registers its own functions.
"""

from collections.abc import Callable, Mapping
from functools import singledispatch

import numpy as np

from covassay.reference.domain import Array, Matrix, Vector
from covassay.reference.mechanisms.output import (
    DirectionOutput,
    GaussianOutput,
    MatrixOutput,
    NumberOutput,
    Output,
    ProjectionOutput,
    RowsMeanCovarianceOutput,
    VectorOutput,
)

# a feature is a function that takes an array of outputs of shape (size, …) and returns one number for every output
Feature = Callable[[Array], Vector]


def gram_change(first: Matrix, second: Matrix) -> Matrix:
    """Return XᵀX − X'ᵀX' for two data sets X and X'."""
    change: Matrix = first.T @ first - second.T @ second
    return change


# FEATURES


@singledispatch
def features(output: Output, dimension: int) -> Mapping[str, Feature]:
    """Return features of an output that do not depend on the data; if two laws differ, some feature should differ."""
    raise NotImplementedError(f"features of {type(output).__name__}")


@features.register
def _(output: MatrixOutput, dimension: int) -> Mapping[str, Feature]:
    return {
        "nuclear norm": lambda y: np.linalg.norm(y, "nuc", axis=(1, 2)),
        "spectral norm": lambda y: np.linalg.norm(y, 2, axis=(1, 2)),
        "trace": lambda y: np.trace(y, axis1=1, axis2=2),
        "entry (1, 1)": lambda y: y[:, 0, 0],
        "entry (1, 2)": lambda y: y[:, 0, -1],
    }


@features.register
def _(output: DirectionOutput, dimension: int) -> Mapping[str, Feature]:
    def squared(i: int) -> Feature:
        return lambda y: y[:, i] ** 2

    return {f"component {i + 1}": squared(i) for i in range(dimension)}


@features.register
def _(output: ProjectionOutput, dimension: int) -> Mapping[str, Feature]:
    return {
        "entry (1, 1)": lambda y: y[:, 0, 0],
        "entry (d, d)": lambda y: y[:, -1, -1],
        "entry (1, d)": lambda y: y[:, 0, -1],
    }


@features.register
def _(output: VectorOutput, dimension: int) -> Mapping[str, Feature]:
    return {"component 1": lambda y: y[:, 0], "norm": lambda y: np.linalg.norm(y, axis=1)}


@features.register
def _(output: GaussianOutput, dimension: int) -> Mapping[str, Feature]:
    return {
        "mean 1": lambda y: y[:, 0, 0],
        "norm of the mean": lambda y: np.linalg.norm(y[:, 0], axis=1),
        "trace": lambda y: np.trace(y[:, 1:], axis1=1, axis2=2),
        "covariance (1, 2)": lambda y: y[:, 1, -1],
    }


@features.register
def _(output: RowsMeanCovarianceOutput, dimension: int) -> Mapping[str, Feature]:
    return {
        "rows": lambda y: y[:, 0, 0],
        "mean 1": lambda y: y[:, 0, 1],
        "norm of the mean": lambda y: np.linalg.norm(y[:, 0, 1:], axis=1),
        "trace": lambda y: np.trace(y[:, 1:, 1:], axis1=1, axis2=2),
        "covariance (1, 2)": lambda y: y[:, 1, -1],
    }


@features.register
def _(output: NumberOutput, dimension: int) -> Mapping[str, Feature]:
    return {"value": lambda y: y}


# CONTRASTS


@singledispatch
def contrasts(output: Output, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
    """Return numbers that should distinguish outputs on one data set from outputs on another if the law is unknown."""
    raise NotImplementedError(f"contrasts of {type(output).__name__}")


@contrasts.register
def _(output: MatrixOutput, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
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


@contrasts.register
def _(output: DirectionOutput, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
    change = gram_change(first, second)
    return {"uᵀΔu": lambda u: np.einsum("ni,ij,nj->n", u, change, u)}


@contrasts.register
def _(output: ProjectionOutput, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
    change = gram_change(first, second)
    return {"tr(PΔ)": lambda y: np.einsum("nij,ij->n", y, change)}


@contrasts.register
def _(output: VectorOutput, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
    (width,) = output.shape(first.shape[1])
    sums = (first.sum(axis=0) - second.sum(axis=0))[:width]
    squares = np.diag(gram_change(first, second))[:width]
    return {
        "⟨y, change of the sums⟩": lambda y: y @ sums,
        "⟨y, change of the squares⟩": lambda y: y @ squares,
        "‖y‖": lambda y: np.linalg.norm(y, axis=1),
    }


@contrasts.register
def _(output: GaussianOutput, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
    sums, change = first.sum(axis=0) - second.sum(axis=0), gram_change(first, second)
    return {
        "⟨mean, change of the mean⟩": lambda y: y[:, 0] @ sums,
        "⟨covariance, Δ⟩": lambda y: np.einsum("nij,ij->n", y[:, 1:], change),
    }


@contrasts.register
def _(output: RowsMeanCovarianceOutput, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
    sums, change = first.sum(axis=0) - second.sum(axis=0), gram_change(first, second)
    return {
        "rows": lambda y: y[:, 0, 0],
        "⟨mean, change of the mean⟩": lambda y: y[:, 0, 1:] @ sums,
        "⟨covariance, Δ⟩": lambda y: np.einsum("nij,ij->n", y[:, 1:, 1:], change),
    }


@contrasts.register
def _(output: NumberOutput, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
    return {"value": lambda y: y}
