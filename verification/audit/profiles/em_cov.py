"""How to audit EMCov: like iterative eigenvector sampling, but with other eigenvalue noise and other exponents."""

import math

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.concentrated import em_cov as mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.verification.audit.profiles.iterative_eigenvectors import (
    SEPARATION,
    SeparatedEigenvalues,
    eigenvalue_pair,
    separated,
    separated_shapes,
)
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile, common_pairs
from covassay.verification.statistics.laws import LAPLACE, NORMAL


def profile(claim: ClaimUnderAudit) -> Profile:
    """Scenarios and pairs."""
    rho, calibration = claim.budget["rho"], claim.options["calibration"]

    def exponents(values: Matrix, n: int) -> Matrix:
        return np.tile(mechanism.exponents(rho, values.shape[1], calibration), (len(values), 1))

    cdf, null = (LAPLACE, "Laplace(2/√ρ)") if calibration != "tight" else (NORMAL, "N(0, 2/ρ)")
    scale = mechanism.eigenvalue_scale(rho, calibration)

    def at(d: int) -> SeparatedEigenvalues:
        return separated(d, scale, cdf, null, exponents)

    scenarios = tuple(at(d).scenario() for d in (2, 3))
    pairs = (eigenvalue_pair(math.ceil(SEPARATION * scale)), *common_pairs(OUTPUTS["matrix"]))
    return Profile(claim.form, scenarios, lambda _: pairs, shapes=separated_shapes(at))
