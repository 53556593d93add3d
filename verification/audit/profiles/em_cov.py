"""How to audit EMCov: like iterative eigenvector sampling, but with other eigenvalue noise and other exponents."""

import math

import numpy as np
from scipy.special import ndtr

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.concentrated import em_cov as mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.verification.audit.profiles.iterative_eigenvectors import (
    SEPARATION,
    eigenvalue_pair,
    laplace_cdf,
    separated,
)
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile, common_pairs


def profile(claim: ClaimUnderAudit) -> Profile:
    """Scenarios and pairs."""
    rho, calibration = claim.budget["rho"], claim.options["calibration"]

    def exponents(values: Matrix, n: int) -> Matrix:
        return np.tile(mechanism.exponents(rho, values.shape[1], calibration), (len(values), 1))

    cdf, null = (laplace_cdf, "Laplace(2/√ρ)") if calibration != "tight" else (ndtr, "N(0, 2/ρ)")
    scale = mechanism.eigenvalue_scale(rho, calibration)
    scenarios = tuple(separated(d, scale, cdf, null, exponents) for d in (2, 3))
    pairs = (eigenvalue_pair(math.ceil(SEPARATION * scale)), *common_pairs(OUTPUTS["matrix"]))
    return Profile(claim.form, scenarios, lambda _: pairs)
