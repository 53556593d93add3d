"""The private trace is the trace plus Laplace noise, which the audit observes because it knows the data."""

import numpy as np

from covassay.reference.domain import Vector, second_moment
from covassay.reference.mechanisms.building_blocks import private_trace
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.law import Scenario, Test
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared.data_paths import QueryPlusNoise
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.audit.knowledge.shared.wrong_scales import ONE_FOR_ROOT_TWO, scale_suspects
from covassay.verification.statistics.laws import LAPLACE
from covassay.verification.statistics.tests import TestResult, gamma_total, kolmogorov_smirnov


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of the Laplace noise on the trace."""

    def scenario(n: int, d: int) -> Scenario:
        x = example_rows(n, d)
        trace, scale = float(np.trace(second_moment(x))), private_trace.laplace_scale(n, claim.budget["epsilon"])

        def noise(factor: float) -> Test:
            return lambda y: kolmogorov_smirnov((y - trace) / (factor * scale), LAPLACE, "the noise is Laplace(1/(nε))")

        def total(y: Vector) -> TestResult:
            return gamma_total(np.abs(y - trace) / scale, 1.0, "the sum of |noise| over n draws ~ Gamma(n)")

        return Scenario(
            f"n={n}, d={d}", x, {"noise": noise(1.0), "total scale": total}, scale_suspects(noise, ONE_FOR_ROOT_TWO)
        )

    shapes = Shapes(scenario, ("noise", "total scale"), lambda d: 1, grid())
    return KnownLaw((scenario(6, 3),), common_pairs(OUTPUTS["number"], dimensions=(1, 2)), shapes)


KNOWN = Known(law, QueryPlusNoise())
