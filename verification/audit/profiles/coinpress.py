"""How to audit CoinPress, for the mean and for the covariance.

Its domain is the whole space, so the worst rows lie far out. After the first step its law has no closed form in
general, and draws are compared with draws of the reference.

The mean is Gaussian on equal rows. At the origin no step clips them, so that the output has the noise of the last step
alone. Far out every step clips them in one direction, so that each moves on from the centre of the step before, and the
noises of all steps add up. The reference tells the centre and the variance: it is run without noise, and with a single
unit of noise.
"""

import math
from dataclasses import replace

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import Output
from covassay.reference.sensitivity import neighbours
from covassay.verification.audit.engine.events import Pair, generic_statistics
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.engine.shapes import COLUMNS, Shapes
from covassay.verification.audit.profiles import reference_draws
from covassay.verification.audit.profiles.building_blocks import vector_noise
from covassay.verification.audit.profiles.data_paths import released, zero_noise
from covassay.verification.audit.profiles.noise_entries import with_entries
from covassay.verification.audit.profiles.profile import ClaimUnderAudit, Profile, common_pairs
from covassay.verification.statistics.laws import NORMAL

FAR = 1e4  # beyond any radius that rows are shortened to
VERY_FAR = 1e8  # where the direction to the rows does not depend on the centre either
DIMENSION = 3
RECORDS = 1000.0  # n√ρ: a clip of rows at the origin is more than 30 deviations off, in 32 dimensions too
MOST = 20_000  # rows
WEIGHT = 3.0  # of the rows at the origin: so many draws show 5 % of the scale


def far_out(output: Output) -> Pair:
    """Two rows far out among small ones: opposite rows for the mean, rows along two axes for the covariance."""
    base: Matrix = np.array([[0.5, 0.0], [0.0, 0.5], [-0.5, 0.0], [0.0, -0.5]])
    x = np.array([FAR, 0.0])
    y = -x if output.kind == "vector" else np.array([0.0, FAR])
    first, second = neighbours(base, x, y)
    return Pair(f"rows of norm {FAR:g}, d=2", first, second, generic_statistics(first, second, output))


def equal_rows(claim: ClaimUnderAudit, name: str, place: float, n: int, d: int, weight: float) -> Scenario:
    """n rows at one place on the first axis, for the mean."""
    x = np.tile(place * np.eye(d)[:1], (n, 1))
    zero = zero_noise(claim, d)
    centre = released(claim, x, zero)
    responses = np.array([released(claim, x, unit.reshape(zero.shape)) - centre for unit in np.eye(zero.size)])
    scale = np.sqrt((responses**2).sum(axis=0))
    seen = replace(vector_noise(f"{name}, d={d}", x, centre, scale, NORMAL, 2), weight=weight)
    return with_entries(seen, centre, symmetric=False, independent=True)


def of_the_mean(claim: ClaimUnderAudit, known: Profile) -> Profile:
    """The profile with equal rows in addition, if that takes few of them."""
    n = math.ceil(RECORDS / math.sqrt(claim.budget["rho"]))
    if n > MOST:
        return known

    def near(n: int, d: int) -> Scenario:
        return equal_rows(claim, "rows at the origin", 0.0, n, d, WEIGHT)

    scenarios = (near(n, DIMENSION), equal_rows(claim, "rows far out", VERY_FAR, n, DIMENSION, 1.0), *known.scenarios)
    shapes = Shapes(near, ("all coordinates", "total scale"), lambda d: d, tuple((n, d) for d in COLUMNS))
    return replace(known, scenarios=scenarios, shapes=shapes)


def profile(claim: ClaimUnderAudit) -> Profile:
    """Comparisons with draws of the reference, equal rows, and the pair far out in addition to the common pairs."""
    output = claim.mechanism.output
    pairs = (far_out(output), *common_pairs(output))
    known = replace(reference_draws.profile(claim), pairs=lambda _: pairs)
    return of_the_mean(claim, known) if output.kind == "vector" else known
