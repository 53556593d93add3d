"""EMCov samples eigenvectors one after the other, with other eigenvalue noise and exponents than the iterative
mechanism.

The law of EMCov is known exactly on rows along the axes if the eigenvalues lie many noise scales apart.
"""

import math
from typing import Any, cast

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import bingham
from covassay.reference.laws.draws_again import DrawsAgain
from covassay.reference.mechanisms.concentrated import em_cov as mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure.iterative_eigenvectors import IterativeEigenvectorsNoise
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import near_choices
from covassay.verification.audit.knowledge.shared.data_paths import SAME_MOMENT, NotAdditive
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.audit.knowledge.shared.separated_eigenvalues import (
    SEPARATION,
    SeparatedEigenvalues,
    eigenvalue_pair,
    separated,
    separated_shapes,
)
from covassay.verification.statistics.laws import LAPLACE, NORMAL


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law on data with separated eigenvalues, and neighbours that change two eigenvalues in opposite
    directions.
    """
    rho, calibration = claim.budget["rho"], claim.options["calibration"]

    def exponents(values: Matrix, n: int) -> Matrix:
        return np.tile(mechanism.exponents(rho, values.shape[1], calibration), (len(values), 1))

    cdf, null = (LAPLACE, "Laplace(2/√ρ)") if calibration != "tight" else (NORMAL, "N(0, 2/ρ)")
    scale = mechanism.eigenvalue_scale(rho, calibration)

    def at(d: int) -> SeparatedEigenvalues:
        return separated(d, scale, cdf, null, exponents)

    scenarios = tuple(at(d).scenario() for d in (2, 3))
    pairs = (eigenvalue_pair(math.ceil(SEPARATION * scale)), *common_pairs(OUTPUTS["matrix"]))
    return KnownLaw(scenarios, pairs, separated_shapes(at))


def many(x: Matrix, size: int, *, rng: np.random.Generator, **given: Any) -> Matrix:
    """Draw many outputs, in one computation for all of them, except that random directions are drawn one by one."""
    option = {name: given[name] for name in ("calibration",) if name in given}
    noises = [mechanism.draw_noise(x.shape[1], rng, **option) for _ in range(size)]

    def direction(m: Matrix, *, step: int) -> Matrix:
        return bingham.sample(m, [cast(DrawsAgain[Vector], z.direction).generator(step) for z in noises])

    eigenvalues = np.array([noise.eigenvalues for noise in noises])
    return mechanism.release(x, IterativeEigenvectorsNoise(eigenvalues, direction), **given)


KNOWN = Known(
    law,
    NotAdditive(
        "every eigenvector is drawn from a law that depends on the data and on those before it",
        SAME_MOMENT,
        continuous=True,
    ),
    many=many,
    choices=lambda claim: near_choices.eigenvalue_gaps(
        1 / mechanism.exponents(claim.budget["rho"], 2, claim.options["calibration"])[0]
    ),
)
