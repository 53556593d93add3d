"""Round outputs to a common unit before their laws are compared, so that an entry that is zero up to rounding counts as
zero.

Floating-point arithmetic gives ±1e-17 in one order of operations and 0 in another. A test that compares values exactly
would take a rounding error for a difference of laws. All entries are therefore rounded to one unit, which is about 1e-9
of the usual size of the whole output. The size of an entry does not tell its rounding error, because large terms may
cancel.

The unit depends on all samples together, whatever their order is, so the samples stay exchangeable if their laws are
equal. The unit is a power of two, so that integers and binary fractions above the unit stay as they are.
"""

import math

import numpy as np

from covassay.reference.domain import Matrix

BITS = 30  # the unit is between 2⁻³¹ and 2⁻³⁰ of the usual size of an output
# The usual size is this quantile of the sizes of the outputs, so at most a tenth of the outputs is larger. The median
# is not used, because more than half of the outputs may be zero up to rounding.
USUAL = 0.9


def unit_of(*samples: Matrix) -> float:
    """Return the unit to which the outputs in the samples, each (size, …), are rounded; return 0 if none is to be
    rounded.

    Outputs with NaN, which stand for failed draws, are ignored when the size is computed.
    """
    largest = (np.abs(sample).max(axis=tuple(range(1, sample.ndim)), initial=0.0) for sample in samples)
    sizes = np.concatenate(list(largest))
    sizes = sizes[~np.isnan(sizes)]
    usual = float(np.quantile(sizes, USUAL, method="inverted_cdf")) if len(sizes) else 0.0
    return math.ldexp(0.5, math.frexp(usual)[1] - BITS) if 0 < usual < math.inf else 0.0


def rounded_to(unit: float, outputs: Matrix) -> Matrix:
    """Return the outputs, rounded to multiples of the unit; entries too large to be rounded are not changed."""
    if not unit > 0:
        return outputs
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.rint(outputs / unit) * unit
    return np.where(np.isfinite(rounded), rounded, outputs)


def without_last_digits(*samples: Matrix) -> tuple[Matrix, ...]:
    """Return the samples after rounding all of them to one unit, which depends on all samples."""
    unit = unit_of(*samples)
    return tuple(rounded_to(unit, sample) for sample in samples)
