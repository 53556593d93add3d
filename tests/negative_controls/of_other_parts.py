"""Negative controls that release private data beside their correct output."""

from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, unit_rows
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.verification.audit.questions.contract.other_parts_of_what_is_returned import NAME
from covassay.verification.audit.targets.calling import wrap
from tests.negative_controls.negative_control import NegativeControl


class KeepsTheRows:
    """An estimator that stores the private data on which it was fitted."""

    def __init__(self, rho: float, rng: np.random.Generator) -> None:
        self.rho, self.rng = rho, rng

    def fit(self, x: Matrix) -> Any:
        """Release the second moment, and store the rows."""
        self.second_moment_ = gauss_cov.sample(x, self.rng, rho=self.rho)
        self._rows = x
        return self


def with_the_mean(x: Matrix, *, rho: float, rng: np.random.Generator) -> Any:
    """Return the noisy second moment and the exact mean."""
    return {"second_moment": gauss_cov.sample(x, rng, rho=rho), "about": {"mean": unit_rows(x).mean(axis=0)}}


NEGATIVE_CONTROLS = (
    NegativeControl(
        "keeps-the-rows", "Store the rows in the fitted object.", "gauss-cov", (("contract", NAME),),
        wrap(KeepsTheRows, "f(rho, rng).fit(x).second_moment_"),
    ),
    NegativeControl(
        "tells-the-mean", "Return the exact mean beside the correct output.", "gauss-cov", (("contract", NAME),),
        wrap(with_the_mean, "f(x, rho=rho, rng=rng)['second_moment']"),
    ),
)  # fmt: skip
