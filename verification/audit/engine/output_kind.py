"""Name the kinds of output that an audit knows, and find the kind from the shapes of outputs if a target states
none.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import OUTPUTS as OF_MECHANISMS
from covassay.reference.mechanisms.output import Output
from covassay.verification.audit.engine.contract import one_draw, plain_rows
from covassay.verification.audit.engine.features import Feature, contrasts, features, gram_change
from covassay.verification.audit.engine.sampling import Setting

USUAL = "matrix"
OTHERS = ("vector", "number", "triangle", "moments", "rows-mean-covariance")
EXAMPLES = ((5, 3), (7, 4))  # the numbers of rows and columns of the example data


class TriangleOutput(Output):
    """An output of shape (d(d + 1)/2,), which is one triangle of a symmetric matrix with its diagonal, row by row or
    column by column.

    The features of a triangle depend neither on which triangle it is nor on the order of its entries.
    """

    kind, layout = "triangle", "(d(d + 1)/2,)"

    def shape(self, dimension: int) -> tuple[int, ...]:
        """Return the shape of an output on data with `dimension` columns."""
        return (dimension * (dimension + 1) // 2,)


@features.register
def _(output: TriangleOutput, dimension: int) -> Mapping[str, Feature]:
    """Return features of a triangle, which are entries on and off the diagonal, and two sums."""
    return {
        "first entry": lambda y: y[:, 0],
        "second entry": lambda y: y[:, min(1, y.shape[1] - 1)],
        "last entry": lambda y: y[:, -1],
        "sum of the entries": lambda y: y.sum(axis=1),
        "norm": lambda y: np.linalg.norm(y, axis=1),
    }


@contrasts.register
def _(output: TriangleOutput, first: Matrix, second: Matrix) -> Mapping[str, Feature]:
    """Return functions of a released triangle whose means should differ between two data sets X and X'. These functions
    are the inner product of the triangle with the upper triangle of XᵀX − X'ᵀX', the inner product with its lower
    triangle, the first entry, the last entry, and the sum of the entries.
    """
    change, d = gram_change(first, second), first.shape[1]
    by_upper_rows, by_lower_rows = change[np.triu_indices(d)], change[np.tril_indices(d)]
    return {
        "⟨y, Δ⟩, upper triangle by rows": lambda y: y @ by_upper_rows,
        "⟨y, Δ⟩, lower triangle by rows": lambda y: y @ by_lower_rows,
        "first entry": lambda y: y[:, 0],
        "last entry": lambda y: y[:, -1],
        "sum of the entries": lambda y: y.sum(axis=1),
    }


OUTPUTS: dict[str, Output] = {**OF_MECHANISMS, TriangleOutput.kind: TriangleOutput(power=2)}


def answers_as(setting: Setting, kind: str) -> bool:
    """Return whether the target gives outputs of this kind on all examples."""
    asked = replace(setting, output=OUTPUTS[kind])
    return all(
        isinstance(one_draw(asked, plain_rows(asked, n, d), "output kind", n, d), np.ndarray) for n, d in EXAMPLES
    )


def found_kind(setting: Setting) -> str | None:
    """Return the kind of output that the target gives on all examples, if this kind is not a matrix. Return None if the
    outputs are matrices, or if no kind fits the outputs on all examples.
    """
    n, d = EXAMPLES[0]
    first = one_draw(setting, plain_rows(setting, n, d), "output kind", n, d)
    if isinstance(first, np.ndarray) or first.kind != "malformed":
        return None
    return next((kind for kind in OTHERS if answers_as(setting, kind)), None)


def stated(kind: str) -> str:
    """Return the sentence of a report which says that the audit found this kind of output by itself."""
    others = [name for name, output in OUTPUTS.items() if name != kind and output.layout == OUTPUTS[kind].layout]
    shared = f" ({', '.join(others)}: the same shape)" if kind == "moments" else ""
    one = kind if kind in ("moments", "rows-mean-covariance") else f"a {kind}"
    return (
        f"every output on example rows was {one}{shared}, so it is audited as {one}; "
        "if this is wrong, give --released KIND"
    )
