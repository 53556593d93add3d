"""If the eigenvalues are many noise scales apart, the output of the iterative mechanism shows all of its random draws.

If the eigenvalues are far apart, their noises are independent Laplace variables, and each eigenvector has an exact
Bingham law given the eigenvectors drawn before.
"""

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure import iterative_eigenvectors as mechanism
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import near_choices, reference_draws
from covassay.verification.audit.knowledge.shared.data_paths import SAME_MOMENT, NotAdditive
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.audit.knowledge.shared.separated_eigenvalues import (
    SeparatedEigenvalues,
    separated,
    separated_shapes,
)
from covassay.verification.statistics.laws import LAPLACE


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law on data whose eigenvalues are far apart.

    With the adaptive budget, the exponent of the first step varies between draws, so that the law is known for two
    columns only. If the option `rank` is given, draws are compared with draws of the reference.
    """
    if claim.options.get("rank", 0):
        return reference_draws.law(claim)
    epsilon, beta = claim.budget["epsilon"], claim.parameter("beta")
    budget, calibration = claim.options["budget"], claim.options["calibration"]

    def exponents(values: Matrix, n: int) -> Matrix:
        d = values.shape[1]
        if budget == "uniform":
            return np.tile(mechanism.uniform_exponents(epsilon, d, calibration), (len(values), 1))
        weights = np.sqrt(np.clip(values, 0, n) + mechanism.adaptive_offset(epsilon, d, beta))
        return np.array([mechanism.adaptive_exponents(epsilon, list(w), calibration) for w in weights])

    scale = mechanism.eigenvalue_scale(epsilon)
    dimensions = (2, 3) if budget == "uniform" else (2,)
    apart = budget == "uniform"

    def at(d: int) -> SeparatedEigenvalues:
        return separated(d, scale, LAPLACE, "Laplace(2/ε₀)", exponents, apart)

    scenarios = tuple(at(d).scenario() for d in dimensions)
    shapes = separated_shapes(at) if apart else None
    return KnownLaw(scenarios, common_pairs(OUTPUTS["matrix"]), shapes)


KNOWN = Known(
    law,
    NotAdditive(
        "every eigenvector is drawn from a law that depends on the data and on those before it",
        SAME_MOMENT,
        continuous=True,
    ),
    choices=lambda claim: near_choices.eigenvalue_gaps(
        1 / mechanism.uniform_exponents(claim.budget["epsilon"], 2, claim.options["calibration"])[0]
    ),
)
