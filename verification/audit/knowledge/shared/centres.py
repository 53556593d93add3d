"""Test whether the outputs of a mechanism are centred on its query, which is its output without noise. If outputs have
another centre than the query, simple mistakes are tried as the reason.
"""

import re
from dataclasses import replace

import numpy as np

from covassay.reference.domain import Matrix, second_moment, unit_rows
from covassay.verification.audit.engine.location import (
    BY_SIZE,
    OF_ANY,
    OF_MATRICES,
    OF_VECTORS,
    Explanation,
    Location,
    Query,
    plain_rows,
    where_centred,
)
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.knowledge.shared.profile import Profile

SAME = 1e-9  # two formulas count as equal if their values differ by less than this number


def _clipped_moment(x: Matrix) -> Matrix:
    return second_moment(unit_rows(x))


def _means(x: Matrix) -> Matrix:
    return np.asarray(unit_rows(x).mean(axis=0))


def _name_of(query: Query) -> str:
    """Return the name of the query, which is Σ for a second moment."""
    x = plain_rows(12, 3)
    value = query(x)
    known = {"Σ": second_moment(x), "C": second_moment(x - x.mean(axis=0)), "tr Σ": (x**2).sum() / len(x)}
    for name, other in known.items():
        if np.shape(value) == np.shape(other) and np.allclose(value, other, rtol=0, atol=SAME):
            return name
    return "q"


def location(setting: Setting, expected: Profile, named: bool) -> Location | None:
    """Return the centre of a target's outputs if the centre is wrong and a simple mistake explains the error.

    `named` says whether the target claims to be a mechanism. If the target claims no mechanism, its query is unknown,
    and only a wrong size of the outputs is reported.
    """
    output, path = expected.form.output, expected.data_path
    smallest = expected.form.smallest_dimension
    if path is not None and path.query is not None:
        kind = {"matrix": OF_MATRICES, "vector": OF_VECTORS}.get(output.kind, ())
        name = _name_of(path.query)
        found = where_centred(setting, path.query, name, (*OF_ANY, *kind), False, smallest)
        return _explained(found, name)
    if expected.domain != "ball" or (named and output.kind != "matrix"):
        return None
    of_size: tuple[Explanation, ...] = (*OF_ANY, *OF_MATRICES) if named else BY_SIZE
    if output.kind == "matrix" and output.power == 2:
        return where_centred(setting, _clipped_moment, "Σ", of_size, True, smallest, fitted=named)
    if output.kind == "vector":
        return where_centred(setting, _means, "x̄", of_size, True, smallest, fitted=False)
    return None


def _explained(found: Location | None, name: str) -> Location | None:
    """If a sentence about the centre uses the letter C or q, append the meaning of this letter."""
    meaning = {"C": "C is the centred covariance", "q": "q is the output without noise"}.get(name)
    if found is None or meaning is None or not re.search(rf"\b{name}\b", found.sentence):
        return found
    return replace(found, sentence=f"{found.sentence} ({meaning})")
