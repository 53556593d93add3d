"""Audit a target for bounded columns on columns that are scaled to [−1, 1].

The audit makes its data in scaled columns, for several numbers of columns. A function with a parameter `bounds` gets
the columns in their own units, together with the bounds. A function without a parameter `bounds` gets the scaled
columns themselves. The audit does not test the output of the function, but a quantity that it computes from the output,
such as the noisy sums from which the function computed a covariance. This quantity has the same law for all bounds.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from covassay.reference.domain import Box, Matrix
from covassay.reference.errors import InvalidInput
from covassay.verification.audit.targets.bounds import BOUNDS, takes_bounds
from covassay.verification.audit.targets.target import Target, TargetSource, load

# computes the quantity that the audit tests from (an output, the box of the columns, the number of rows)
See = Callable[[Matrix, Box, int], Matrix]
EXAMPLES = ((0.0, 1.0), (-1.0, 3.0), (20.0, 80.0))  # these bounds of columns are used if the user gives none
# the centre of a column is at most this many half-widths from 0; farther away, rounding in float64 hides the noise
FARTHEST = 100


@dataclass(frozen=True)
class ScaledDraw:
    """A function that draws from a target on scaled rows, and returns the quantity that the audit tests.

    `source` is the target itself. `bounds` are the bounds of the columns, repeated if there are more columns; `bounds`
    is None if the target takes no bounds.
    """

    source: TargetSource
    bounds: tuple[tuple[float, float], ...] | None
    see: See

    def box(self, dimension: int) -> Box:
        """Return the box of the rows for this number of columns."""
        if self.bounds is None:
            return Box.of_columns(None, dimension)
        return Box(tuple(self.bounds[j % len(self.bounds)] for j in range(dimension)))

    def __call__(self, x: Any, *, rng: np.random.Generator, **budget: Any) -> Any:
        """Make one draw, and return the quantity that the audit tests; return an output without this quantity as it is.

        Raises ValueError if the output consists of numbers and has another shape than expected.
        """
        draw = load(self.source).draw
        usual = isinstance(x, np.ndarray) and x.ndim == 2 and x.shape[1] > 0 and x.dtype.kind in "biuf"
        box = self.box(x.shape[1] if usual else len(EXAMPLES))
        if self.bounds is None:
            return self._seen(draw(x, rng=rng, **budget), box, x)
        given = {**budget, BOUNDS: box.bounds}
        if not usual:
            return draw(x, rng=rng, **given)
        rows = box.place((x + 1) / 2)
        before = rows.copy()
        output = draw(rows, rng=rng, **given)
        if not np.array_equal(rows, before, equal_nan=True):
            # the target wrote into its input, which the audit must detect
            x[...] = 2 * (rows - box.low) / box.widths - 1
        return self._seen(output, box, x)

    def _seen(self, output: Any, box: Box, x: Any) -> Any:
        try:
            values = np.asarray(output, dtype=np.float64)
        except (TypeError, ValueError):
            return output
        shape = (box.dimension + 1,) * 2
        if values.shape != shape:
            raise ValueError(f"returned shape {values.shape}: must be {shape}, the rows, the mean and the covariance")
        return self.see(values, box, len(x)) if np.isfinite(values).all() else output


def scaled_columns(source: TargetSource, see: See, box: Box | None) -> Target:
    """Return the target for scaled columns with the given bounds, or with example bounds if the target takes bounds and
    none are given.

    Raises
    ------
    InvalidInput : bounds are given to a target that takes no bounds, or a column is so far from 0 that rounding hides
    its law.
    """
    target = load(source)
    told = takes_bounds(target) if target.starting is None or box is not None else False
    if box is not None and not told:
        raise InvalidInput(
            f"bounds: {target.name} has no parameter bounds, so the audit cannot pass bounds for each number "
            "of columns. Add the parameter `bounds` to the function; if the columns lie in [−1, 1], state no bounds"
        )
    if box is not None:
        for column, (middle, half) in enumerate(zip(box.centre, box.half_widths, strict=True), start=1):
            if abs(middle) > FARTHEST * half:
                raise InvalidInput(
                    f"bounds of column {column} = {box.bounds[column - 1]}: the middle must be at most {FARTHEST} "
                    "half-widths from 0 in an audit; shift the column"
                )
    bounds = (EXAMPLES if box is None else box.bounds) if told else None
    return replace(target, draw=ScaledDraw(source, bounds, see), draw_many=None, accounting=None)
