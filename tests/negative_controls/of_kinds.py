"""Negative controls of mechanisms that do not simply add noise to a query. They change the rows of some data sets.

On many data sets, these controls change no row, or only the largest entries. Such changes are common in data
preparation.
"""

import numpy as np

from covassay.reference.domain import Matrix, row_norms
from covassay.verification.audit.engine.kinds_of_data import NAMES
from tests.negative_controls.broken import Rows, broken
from tests.negative_controls.negative_control import NegativeControl

SET, KIND, SHAPE = ((("law", name),) for name in NAMES.values())


def not_tiny(x: Matrix) -> Matrix:
    """Drop rows of norm below 0.01."""
    kept = x[row_norms(x) >= 0.01]
    return kept if len(kept) > 1 else x


def few(x: Matrix) -> Matrix:
    """Use only the first 500 rows."""
    return x[:500]


def below_the_largest(x: Matrix) -> Matrix:
    """Clip every column to nine tenths of its largest absolute value."""
    bound = 0.9 * np.abs(x).max(axis=0, initial=0.0)
    return np.asarray(np.clip(x, -bound, bound))


def below_a_quantile(x: Matrix) -> Matrix:
    """Clip every value to the 99 % quantile of the absolute values."""
    bound = float(np.quantile(np.abs(x), 0.99))
    return np.asarray(np.clip(x, -bound, bound))


def _control(mechanism: str, rows: Rows, caught_by: tuple[tuple[str, str], ...]) -> NegativeControl:
    name = f"{mechanism}-{rows.__name__.replace('_', '-')}"
    return broken(name, mechanism, rows.__doc__ or "", rows=rows, caught_by=caught_by)


NEGATIVE_CONTROLS: tuple[NegativeControl, ...] = (
    _control("coinpress-mean", not_tiny, KIND),
    _control("coinpress-mean", below_the_largest, (*SET, *KIND)),
    _control("coinpress-covariance", few, SHAPE),
    _control("kv-mean", not_tiny, (*SET, *KIND)),
    _control("ppc", not_tiny, KIND),
    _control("naive-pce", below_a_quantile, SET),
)
