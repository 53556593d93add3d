"""The output of the recursive moment shows the noise of its last round. In earlier rounds, the noise decides which
directions count as large.

If all directions are far below the threshold in every round, or far above the threshold in every round, the map of each
round is a multiple of the identity. If each map is a multiple of the identity, the output is the second moment plus a
known multiple of the noise of the last round, whose law is exact. The law of the output is also exact if all rows have
length 1 and are shortened in every round. If many columns have moments slightly below the threshold, the number of
large directions depends strongly on the noise scale, so that 2000 draws detect an error of 3 % in this scale. The law
of the number of large directions has no closed form, so draws are compared with draws of a second implementation in
this module. Draws are also compared on data whose largest direction changes from round to round.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.laws import wigner
from covassay.reference.mechanisms.concentrated import recursive_moment as mechanism
from covassay.reference.mechanisms.output import MatrixOutput
from covassay.reference.sensitivity import neighbours, orthonormal_pair
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Pair
from covassay.verification.audit.engine.features import features
from covassay.verification.audit.engine.law import Scenario, Test
from covassay.verification.audit.engine.shapes import Shapes
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import reference_draws
from covassay.verification.audit.knowledge.shared.data_paths import SAME_SQUARES, NotAdditive
from covassay.verification.audit.knowledge.shared.gaussian_noise import (
    DIMENSIONS,
    SEPARATED_MOST,
    SHAPE_TESTS,
    likelihood_ratio,
    noise_scenario,
)
from covassay.verification.audit.knowledge.shared.many_draws import InOneBatch
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw
from covassay.verification.statistics.streams import stream

FAR = 10.0  # this multiple of σ√d bounds the noise in every direction except with probability below 1e-15
MOST_ROWS = 200_000  # a data set with more rows than this is left out
COLUMNS = 16  # the number of columns of the data near the threshold
COUNT = 3  # this is the number of rows along each axis in the data near the threshold
TURNING = 15.0  # the threshold ψ divided by the noise scale σ, on the data with rotating directions
# for this distance to the threshold in units of √d σ, an error of 3 % in σ is detected best
EDGE = {"goe": 1.13, "wigner": 1.42}


@dataclass(frozen=True)
class Claimed:
    """The public parameters of a claim: the number K of rounds, the threshold ψ, the value of nσ in each round, and the
    noise ensemble.
    """

    rounds: int
    threshold: float
    scale_of_one: float
    ensemble: str

    @classmethod
    def of(cls, claim: ClaimUnderAudit) -> "Claimed":
        """Return the public parameters that follow from this claim."""
        m, calibration = int(claim.parameter("subsample")), claim.options["calibration"]
        rounds = mechanism.number_of_rounds(claim.parameter("kappa"), m)
        scale = float(mechanism.noise_scale(1, claim.budget["rho"], rounds, calibration))
        ensemble = "wigner" if calibration == "reconstructed" else "goe"
        return cls(rounds, float(mechanism.threshold(m)), scale, ensemble)

    def rows_of_small(self, d: int) -> int:
        """Return the number of rows of the data set that `small` returns for d columns."""
        return self.rows_for(0.75 * self.threshold, d)

    def rows_for(self, gap: float, d: int) -> int:
        """Return how many rows make the noise smaller than `gap`, the distance of a moment from the threshold."""
        return math.ceil((FAR + 2 * math.sqrt(d)) * self.scale_of_one / gap)

    def exact(self, name: str, x: Matrix, squared: float, shortened: bool = False) -> Scenario:
        """Return tests on rows that each round of the mechanism multiplies by √`squared` and then shortens to length 1.

        If `shortened` is false, no round shortens the rows. These data sets have many rows and therefore get fewer
        draws than others.
        """
        factor = squared ** (1 - self.rounds)
        scale, moment = self.scale_of_one / len(x) * factor, second_moment(x) * (factor if shortened else 1.0)
        return replace(noise_scenario(name, x, moment, scale, self.ensemble), weight=0.5)

    def small(self, d: int) -> Scenario:
        """Return data for which every direction is far below the threshold in every round. Every round therefore
        multiplies the rows by √(8/3), and no round shortens a row.
        """
        # the largest eigenvalue that the second moment may have after the map of the last round
        last = self.threshold / 4
        rows = example_rows(self.rows_of_small(d), d)
        largest = float(np.linalg.eigvalsh(second_moment(rows))[-1])
        factor = math.sqrt(min(1.0, last / largest / (8 / 3) ** (self.rounds - 1)))
        if self.rounds > 1:
            factor = min(factor, (3 / 8) ** ((self.rounds - 1) / 2) * 0.99)
        return self.exact(f"small directions, d={d}", factor * rows, 8 / 3)

    def large(self, d: int = 2) -> Scenario | None:
        """Return data for which every direction is far above the threshold in every round, so that every round
        multiplies the rows by √(2/3).

        `large` returns None if there is only one round, if the threshold is too large, or if too many rows are needed.
        """
        last = (2 / 3) ** max(0, self.rounds - 2) / d
        if self.rounds == 1 or last < 2 * self.threshold:
            return None
        copies = max(COUNT, math.ceil(self.rows_for(last - self.threshold, d) / d))
        if copies * d > MOST_ROWS:
            return None
        return self.exact(f"large directions, d={d}", np.tile(np.eye(d), (copies, 1)), 2 / 3)

    def long(self, d: int = 2) -> Scenario | None:
        """Return rows of length 1 in small directions, which every round lengthens and then shortens to length 1.

        `long` returns None if there is only one round, or if too many rows are needed.
        """
        n = self.rows_for(0.75 * self.threshold, d)
        if self.rounds == 1 or n > MOST_ROWS:
            return None
        copies = max(1, math.floor(self.threshold * n / 4))
        x = np.vstack([np.tile(np.eye(d), (copies, 1)), np.zeros((n - copies * d, d))])
        return self.exact(f"long rows in small directions, d={d}", x, 8 / 3, shortened=True)

    def near(self) -> tuple[Matrix, Vector] | None:
        """Return rows along the axes and zero rows, with the share of rows along each axis. Return None if there is
        only one round, or if too many rows are needed.
        """
        d = COLUMNS
        n = math.ceil((EDGE[self.ensemble] * math.sqrt(d) * self.scale_of_one + COUNT) / self.threshold)
        if self.rounds == 1 or n > MOST_ROWS:
            return None
        n = max(n, COUNT * d)
        return np.vstack([np.repeat(np.eye(d), COUNT, axis=0), np.zeros((n - COUNT * d, d))]), np.full(d, COUNT / n)

    def draws(self, rows: Matrix, shares: Vector, n: int, size: int, rng: np.random.Generator) -> Matrix:
        """Make `size` outputs at once on n rows. Each number in `shares` is the share of the n rows that equal the
        corresponding row of `rows`, and all other rows are 0.
        """
        d = rows.shape[1]
        x, back, z = np.broadcast_to(rows, (size, *rows.shape)), np.broadcast_to(np.eye(d), (size, d, d)), np.empty(0)
        for i in range(self.rounds):
            if i > 0:
                values, vectors = np.linalg.eigh(z)
                shrinking = np.where(values < self.threshold, 1.0, 0.5)[:, None, :] * math.sqrt(8 / 3)
                x = x @ (vectors * shrinking) @ np.swapaxes(vectors, 1, 2)
                x = x / np.maximum(1.0, np.linalg.norm(x, axis=2, keepdims=True))
                back = back @ (vectors / shrinking) @ np.swapaxes(vectors, 1, 2)
            noise = wigner.sample(self.ensemble, d, rng, size) * (self.scale_of_one / n)
            z = np.swapaxes(x, 1, 2) @ (x * shares[:, None]) + noise
        outputs: Matrix = back @ z @ np.swapaxes(back, 1, 2)
        return outputs


def log_size(outputs: Matrix) -> Vector:
    """Return the logarithm of the Frobenius norm of each output, which grows with the number of large directions."""
    return np.asarray(np.log(np.maximum(np.linalg.norm(outputs, axis=(1, 2)), 1e-300)))


def trace(outputs: Matrix) -> Vector:
    """The trace."""
    return np.asarray(np.trace(outputs, axis1=1, axis2=2))


def largest(outputs: Matrix) -> Vector:
    """Return the largest eigenvalue."""
    return np.asarray(np.linalg.eigvalsh((outputs + np.swapaxes(outputs, 1, 2)) / 2)[:, -1])


def against_draws(
    claimed: Claimed,
    rows: Matrix,
    shares: Vector,
    n: int,
    features: Mapping[str, Callable[[Matrix], Vector]],
    seed: int,
) -> dict[str, Test]:
    """Return tests, by name, that compare features of the outputs with features of draws from `Claimed.draws`."""

    @lru_cache(maxsize=4)
    def drawn(size: int) -> Matrix:
        return claimed.draws(rows, shares, n, size, np.random.default_rng(stream(seed, "rounds", *rows.shape, size)))

    return {
        name: reference_draws.against(feature, drawn, f"the {name} has the same law as in simulated rounds")
        for name, feature in features.items()
    }


def near_the_choice(claimed: Claimed, seed: int) -> Scenario | None:
    """Return data whose directions are slightly below the threshold, so that the noise of a round lifts some of them
    above it.
    """
    found = claimed.near()
    if found is None:
        return None
    x, shares = found
    features = {"size": log_size, "trace": trace, "largest eigenvalue": largest}
    return Scenario("near the choice", x, against_draws(claimed, np.eye(COLUMNS), shares, len(x), features, seed))


def turning(claimed: Claimed, seed: int) -> Scenario | None:
    """Return rows along two directions 45° apart, for which the maps of the rounds do not commute."""
    n = math.ceil(TURNING * claimed.scale_of_one / claimed.threshold)
    if claimed.rounds == 1 or n > MOST_ROWS:
        return None
    rows = np.array([[1.0, 0.0], [0.5**0.5, 0.5**0.5]])
    counts = [math.ceil(share * claimed.threshold * n) for share in (1.5, 0.6)]
    n = max(n, sum(counts))
    x = np.vstack([np.repeat(rows, counts, axis=0), np.zeros((n - sum(counts), 2))])
    tests = against_draws(claimed, rows, np.array(counts) / n, n, features(MatrixOutput(power=2), 2), seed)
    return Scenario("turning directions, d=2", x, tests, weight=0.25)


def pair_at_the_choice(claimed: Claimed) -> Pair | None:
    """Return neighbours with long rows and zero rows, of which only one has a direction that exceeds the threshold.

    Without noise, the first round would shorten the rows of only one of these two data sets.
    """
    n = max(20, math.ceil(4 * claimed.scale_of_one / claimed.threshold))
    if claimed.rounds == 1 or n > MOST_ROWS:
        return None
    copies = math.ceil(claimed.threshold * n) - 1
    base = np.vstack([np.tile([1.0, 0.0], (copies, 1)), np.zeros((n - copies - 1, 2))])
    first, second = neighbours(base, *orthonormal_pair(2))
    return Pair("one row from the threshold, d=2", first, second, likelihood_ratio(claimed.ensemble)(first, second))


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the exact laws, the tests near the threshold, and the tests and neighbours that the audit uses for any
    mechanism.
    """
    claimed = Claimed.of(claim)
    sizes = tuple((claimed.rows_of_small(d), d) for d in range(1, SEPARATED_MOST + 1))
    sizes = tuple((n, d) for n, d in sizes if n <= MOST_ROWS)
    exact = (claimed.small(d) for _, d in sizes if d in DIMENSIONS)
    others = claimed.large(), claimed.long(), turning(claimed, claim.seed), near_the_choice(claimed, claim.seed)
    aimed = pair_at_the_choice(claimed)
    return KnownLaw(
        (*exact, *(scenario for scenario in others if scenario is not None), *reference_draws.scenarios(claim)),
        (() if aimed is None else (aimed,)) + reference_draws.pairs(claim),
        Shapes(lambda _, d: claimed.small(d), SHAPE_TESTS, lambda d: d * (d + 1) / 2, sizes) if sizes else None,
    )


KNOWN = Known(
    law,
    NotAdditive(
        "every round rescales and clips the rows by a matrix that the round before has drawn",
        SAME_SQUARES,
        continuous=True,
    ),
    many=InOneBatch(mechanism.draw_noise, mechanism.release),
    no_choices="the tests of the law already include a data set whose directions are near the threshold",
    bits_unseen="the last noisy matrix is multiplied by matrices of earlier rounds, whose entries have 53 random bits. "
    "If there is only one round, for κ ≤ 320m, the check finds a loss above the claim",
)
