"""How to audit AdaptiveCov and its pure variant: data on which the choices are certain, and draws of the reference.

Many rows of norm 1 along the axes leave one choice: they are not clipped, because the search stops at its first or
second level, which both clip to 1, and the noise is added to the entries, because that is far better. The last step,
which keeps matrices between 0 and I, does nothing there. So the output is the second moment plus noise of a known law.
"""

import math
from dataclasses import replace

import numpy as np

from covassay.reference.domain import Matrix, second_moment
from covassay.reference.mechanisms.concentrated import adaptive_cov, gauss_cov
from covassay.reference.mechanisms.pure import adaptive_cov_pure, lap_cov
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.profiles import entrywise_laplace, gaussian_covariance, reference_draws
from covassay.verification.audit.profiles.noise_entries import with_entries
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile

DIMENSION = 4  # ten entries a draw
ROWS, ROWS_PURE = 1000.0, 3000.0  # n√ρ and nε: the search goes on past its second level with a probability below e^−70
MOST = 20_000  # rows
WEIGHT, WEIGHT_PURE = 0.3, 0.7  # Laplace noise shows its scale with twice the draws


def _certain(rows: float) -> Matrix:
    """The rows, along the axes in turn."""
    return np.tile(np.eye(DIMENSION), (math.ceil(rows / DIMENSION), 1))


def _with(claim: ClaimUnderAudit, exact: Scenario, weight: float) -> Profile:
    """Draws of the reference and, if no radius is found first and that takes few rows, the data with a known law."""
    known = reference_draws.profile(claim)
    if claim.options["radius"] != "none" or len(exact.x) > MOST:
        return known
    named = replace(exact, name=f"rows that are not clipped, d={DIMENSION}", weight=weight)
    named = with_entries(named, second_moment(exact.x), symmetric=True, independent=True)
    return replace(known, scenarios=(named, *known.scenarios))


def profile(claim: ClaimUnderAudit) -> Profile:
    """AdaptiveCov, whose noise is that of GaussCov there."""
    rho, options = claim.budget["rho"], claim.options
    x = _certain(ROWS / rho**0.5)
    scale = gauss_cov.noise_scale(len(x), adaptive_cov.final_budget(rho, options["radius"], options["calibration"]))
    return _with(claim, gaussian_covariance.noise_scenario("", x, second_moment(x), scale, options["ensemble"]), WEIGHT)


def pure_profile(claim: ClaimUnderAudit) -> Profile:
    """The pure variant, whose noise is that of LapCov there."""
    epsilon, options = claim.budget["epsilon"], claim.options
    x = _certain(ROWS_PURE / epsilon)
    final = adaptive_cov_pure.final_epsilon(epsilon, options["radius"])
    scale = float(lap_cov.noise_scale(len(x), DIMENSION, final, options["calibration"]))
    noise = entrywise_laplace.EntrywiseNoise(x, scale, full=False)
    return _with(claim, entrywise_laplace.noise_scenario(noise, 2**0.5 / (len(x) * final) / scale), WEIGHT_PURE)
