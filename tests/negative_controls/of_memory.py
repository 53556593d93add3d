"""Negative controls that read the memory of an array in place of its rows."""

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.verification.audit.questions.contract.memory_layout import NAME
from tests.negative_controls.negative_control import from_function


def memory_order(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Passes the memory of the array to code that reads it row by row, even if it is stored by columns."""
    return gauss_cov.sample(np.ravel(x, order="K").reshape(x.shape), rng, rho=rho)


NEGATIVE_CONTROLS = (from_function(memory_order, ("contract", NAME), mechanism="gauss-cov"),)
