"""The output of the projection mechanism shows its Gaussian noise if the second moment lies far inside the convex set.

If the second moment lies far inside the convex set, the projection changes nothing, and the law is that of GaussCov. On
other data, draws of the target are compared with draws of the reference.
"""

import math

import numpy as np

from covassay.reference.domain import second_moment
from covassay.reference.mechanisms.concentrated.gauss_cov import noise_scale
from covassay.reference.sensitivity import neighbours, orthonormal_pair
from covassay.verification.audit.engine.events import Pair
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.engine.shapes import COLUMNS, Shapes
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import gaussian_noise, reference_draws
from covassay.verification.audit.knowledge.shared.data_paths import SAME_MOMENT, NotAdditive
from covassay.verification.audit.knowledge.shared.noise_entries import with_entries
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw

NOTHING = "the projection does nothing"


def inside(claim: ClaimUnderAudit, d: int) -> Scenario:
    """Return rows with the second moment I/(4d), which is at least 100 noise scales from the boundary of {M ⪰ 0, tr M ≤
    1}.
    """
    rho = claim.budget["rho"]
    x = np.tile(0.5 * np.eye(d), (math.ceil(200 * d * noise_scale(1, rho)), 1))
    moment, scale = second_moment(x), noise_scale(len(x), rho)
    seen = gaussian_noise.noise_scenario(NOTHING, x, moment, scale, claim.options["ensemble"])
    return with_entries(seen, moment, symmetric=True, independent=True)


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the noise on data where the projection changes nothing, and the comparison with the reference
    on other data.
    """
    sizes = tuple((len(inside(claim, d).x), d) for d in COLUMNS if d <= gaussian_noise.SEPARATED_MOST)
    first, second = neighbours(inside(claim, 2).x[:-1], *orthonormal_pair(2))
    statistics = gaussian_noise.likelihood_ratio(claim.options["ensemble"])(first, second)
    return KnownLaw(
        (inside(claim, 2), *reference_draws.scenarios(claim)),
        (Pair(NOTHING, first, second, statistics), *reference_draws.pairs(claim)),
        Shapes(lambda n, d: inside(claim, d), gaussian_noise.SHAPE_TESTS, lambda d: d * (d + 1) / 2, sizes),
    )


KNOWN = Known(
    law,
    NotAdditive("the noisy matrix is projected onto the matrices M with M ⪰ 0 and tr M ≤ 1", SAME_MOMENT),
    no_choices="the noisy matrix alone decides what is projected",
)
