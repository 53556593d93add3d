"""List the mechanisms that are compared, with the options of each, and the mechanisms that are not compared, with the
reason.

If no variant of a mechanism is compared, the field `unranked` of its declaration gives the reason.

A candidate is a mechanism for the second moment of rows in the unit ball, with all of its options chosen, and perhaps
followed by the projection on the matrices that are positive semidefinite with trace at most 1. The projection costs no
budget, and never increases the Frobenius error. If a mechanism has the calibration "tight", only that calibration is
compared, because "paper" adds more noise for the same claim.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from covassay.reference.domain import DataSet, Matrix
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.registry import MECHANISMS, mechanism
from covassay.reference.projections import psd_trace_ball


@dataclass(frozen=True)
class Candidate:
    """One mechanism with its options, with or without a projection of its output.

    The field `law` names the law of the noise or of the error. The modules `additive` and `measured` find figures of
    the noise or of the error by this name. Mechanisms with equal laws have one name.
    """

    mechanism: str
    options: Mapping[str, Any] = field(default_factory=dict)
    project: bool = False
    law: str = ""

    @property
    def name(self) -> str:
        """Return the name of the candidate in words."""
        words = [self.mechanism, *(f"{key}={value}" for key, value in self.options.items())]
        return " ".join(words) + (", projected" if self.project else "")

    @property
    def declared(self) -> Mechanism[Any, ..., Any]:
        """Return the declaration of the mechanism."""
        return mechanism(self.mechanism)

    @property
    def pure(self) -> bool:
        """Return whether the candidate claims pure DP."""
        return self.declared.notion.name == "pure"

    @property
    def searches(self) -> bool:
        """Return whether the mechanism searches for a clipping norm. The error of such a mechanism depends on how the
        norms of the rows vary.
        """
        return self.mechanism in ("clipped-cov", "adaptive-cov", "adaptive-cov-pure")

    def finish(self, released: Matrix, row_bound: float = 1.0) -> Matrix:
        """Return the symmetric part of what the mechanism releases, projected if the candidate has the projection."""
        symmetric: Matrix = (released + released.T) / 2 if self.project else released
        return psd_trace_ball(symmetric / row_bound**2, 1.0) * row_bound**2 if self.project else symmetric

    def sample(self, x: DataSet, rng: np.random.Generator, *, row_bound: float = 1.0, **budget: float) -> Matrix:
        """Draw one release with floating-point noise from `rng`."""
        return self.finish(self.declared.sample(x, rng, row_bound=row_bound, **budget, **self.options), row_bound)


def _tight(name: str, law: str = "", project: bool = False, **options: Any) -> Candidate:
    return Candidate(name, {"calibration": "tight", **options}, project, law or name)


CANDIDATES: tuple[Candidate, ...] = (
    # mechanisms that claim pure DP, and whose noise does not depend on the data
    _tight("entrywise-laplace", "laplace-full", entries="full"),
    _tight("lap-cov", "laplace-symmetric"),
    Candidate("nuclear-laplace", law="nuclear-full"),
    Candidate("nuclear-laplace-symmetric", law="nuclear-symmetric"),
    Candidate("k-norm", {"body": "covariance"}, law="covariance-body"),
    Candidate("k-norm", {"body": "l2"}, law="l2-ball"),
    Candidate("k-norm", {"body": "linf"}, law="linf-ball"),
    # mechanisms that claim pure DP, and whose error depends on the data
    Candidate("nuclear-laplace-symmetric", {}, True, "nuclear-symmetric-projected"),
    Candidate("k-norm", {"body": "covariance"}, True, "covariance-body-projected"),
    Candidate("k-norm", {"body": "l2"}, True, "l2-ball-projected"),
    _tight("nuclear-ball-projection"),
    _tight("separate-cov-pure"),
    _tight("adaptive-cov-pure"),
    _tight("iterative-eigenvectors", "iterative-eigenvectors-uniform", budget="uniform"),
    _tight("iterative-eigenvectors", "iterative-eigenvectors-adaptive", budget="adaptive"),
    Candidate("kapralov-talwar", law="kapralov-talwar"),
    # mechanisms that claim zCDP, and whose noise does not depend on the data
    Candidate("gauss-cov", {"ensemble": "wigner"}, law="wigner"),
    Candidate("gauss-cov", {"ensemble": "goe"}, law="goe"),
    # mechanisms that claim zCDP, and whose error depends on the data
    Candidate("projection-mechanism", {"ensemble": "goe"}, law="projection-goe"),
    Candidate("separate-cov", {"ensemble": "goe"}, law="separate-cov-goe"),
    _tight("em-cov"),
    _tight("clipped-cov", "clipped-cov-gauss", threshold="private", base="gauss", ensemble="goe"),
    _tight("clipped-cov", "clipped-cov-separate", threshold="private", base="separate", ensemble="goe"),
    _tight("adaptive-cov", ensemble="goe"),
)

VARIANTS: dict[str, str] = {
    "entrywise-laplace entries=triangle": "the same law as lap-cov",
    "k-norm body=schatten1": "the same law as nuclear-laplace-symmetric",
    "k-norm body=l1": "the same law as lap-cov",
    "projection-mechanism, separate-cov, clipped-cov and adaptive-cov with ensemble=wigner": "they add "
    "more noise than ensemble=goe for the same claim, and their errors were not measured",
    "clipped-cov threshold=public": "it needs a public clipping norm; use such a norm as the row bound instead",
    "adaptive-cov and adaptive-cov-pure radius=private": "their errors were not measured",
}

LEFT_OUT: dict[str, str] = VARIANTS | {m.name: m.unranked for m in MECHANISMS.values() if m.unranked}
