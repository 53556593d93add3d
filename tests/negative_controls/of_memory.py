"""A negative control that reads the numbers of an array in the order in which they are stored."""

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.verification.audit.questions.contract.memory_layout import NAME
from tests.negative_controls.negative_control import from_function


def memory_order(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Read the memory of the array row by row, even if the array is stored by columns."""
    return gauss_cov.sample(np.ravel(x, order="K").reshape(x.shape), rng, rho=rho)


NEGATIVE_CONTROLS = (from_function(memory_order, ("contract", NAME), mechanism="gauss-cov"),)
