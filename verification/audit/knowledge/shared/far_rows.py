"""Make neighbours with rows far from the origin, for mechanisms that accept all rows of R^d."""

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import Output
from covassay.reference.sensitivity import neighbours
from covassay.verification.audit.engine.events import Pair, generic_statistics

FAR = 1e4  # this number is larger than any norm to which rows are shortened


def far_out(output: Output) -> Pair:
    """Return neighbours with one long row among small rows; the two long rows are opposite for a mean, and lie along
    two axes for a covariance.
    """
    base: Matrix = np.array([[0.5, 0.0], [0.0, 0.5], [-0.5, 0.0], [0.0, -0.5]])
    x = np.array([FAR, 0.0])
    y = -x if output.kind == "vector" else np.array([0.0, FAR])
    first, second = neighbours(base, x, y)
    return Pair(f"rows of norm {FAR:g}, d=2", first, second, generic_statistics(first, second, output))
