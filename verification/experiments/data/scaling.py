"""Scale rows to the unit ball by public bounds, which this package states and does not read from the data.

A column with bounds [l, h] is clipped to the interval and mapped onto [−1, 1]. If the d columns are then divided by √d,
the rows lie in the unit ball. The scaling does not depend on the data, so neighbouring data sets stay neighbouring.
"""

from collections.abc import Sequence

import numpy as np

from covassay.reference.domain import Box, Matrix

Bounds = Sequence[tuple[float, float]]


def to_unit_ball(x: Matrix, bounds: Bounds) -> Matrix:
    """Return the rows clipped to the bounds, with every column mapped onto [−1, 1] and divided by √d."""
    box = Box.of(bounds)
    shares = (np.clip(x, box.low, box.high) - box.low) / box.widths
    scaled: Matrix = (2 * shares - 1) / np.sqrt(box.dimension)
    return scaled


def by_largest_norm(x: Matrix) -> Matrix:
    """Return the rows divided by the largest norm of a row.

    The largest norm is read from the data, so no privacy guarantee covers this scaling.
    """
    scaled: Matrix = x / np.linalg.norm(x, axis=1).max()
    return scaled
