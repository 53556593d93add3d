"""Test the matrix Bingham law of a private k-dimensional subspace, exactly on copies of one direction.

Let P be the released orthogonal projection of rank k. On n copies of a unit vector v, the distribution function of w =
vᵀPv is known for every rank and dimension. Given vᵀPv, the rest of the projection P is uniform around the direction v.
With three columns, the projection P is determined by one vector, which spans either its range or its kernel. Let the
data be n copies of each of two directions in R⁴, let the rank be 2, and let Q project onto the span of the directions.
The number s = tr(PQ) − 1 then has a density proportional to −ln|s| e^{ηns} on [−1, 1], where η is the exponent of the
mechanism. On other data, draws are compared with draws of the reference.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import betainc

from covassay.reference.domain import Matrix, Vector
from covassay.reference.laws import bingham, haar
from covassay.reference.laws import matrix_bingham as subspace_law
from covassay.reference.laws.panels import Panels
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure import matrix_bingham as mechanism
from covassay.reference.sensitivity import neighbours
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import Pair, generic_statistics
from covassay.verification.audit.engine.features import features
from covassay.verification.audit.engine.law import Scenario, Suspect, Test
from covassay.verification.audit.engine.shapes import Shapes, grid
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.knowledge.shared import near_choices
from covassay.verification.audit.knowledge.shared.data_paths import SAME_MOMENT, NotAdditive
from covassay.verification.audit.knowledge.shared.profile import ClaimUnderAudit, KnownLaw, common_pairs
from covassay.verification.audit.knowledge.shared.reference_draws import against
from covassay.verification.audit.knowledge.shared.wrong_exponents import LEVELS, WRONG_EXPONENTS
from covassay.verification.statistics.streams import stream
from covassay.verification.statistics.tests import TestResult, kolmogorov_smirnov

# this is the exponent times the number of copies of a direction; with this product, right and wrong laws differ
# clearly, and the sampler rejects few proposals
STRENGTH = 4.0
ORDINARY = 20, 5  # the numbers of rows and columns of data on which the target is compared with the reference
COPIES = 6  # with this number of copies of each direction, the privacy loss of the neighbours is near the claim


def along(p: Matrix, v: Vector) -> Vector:
    """Return vᵀPv for each of the given projections P."""
    share: Vector = np.clip(np.einsum("nij,i,j->n", p, v, v), 0.0, 1.0)
    return share


def _across(p: Matrix, v: Vector) -> Matrix:
    """Return, for each projection P, the part of Pv that is orthogonal to the unit vector v, scaled to length 1."""
    part = p @ v - along(p, v)[:, None] * v
    scaled: Matrix = part / np.linalg.norm(part, axis=1, keepdims=True)
    return scaled


def _axes(d: int) -> Matrix:
    """Return unit vectors as rows, first a direction that is no coordinate axis, and then up to two that are orthogonal
    to it."""
    return np.linalg.qr(np.vander(np.arange(1.0, d + 1) / d, 3))[0].T


def one_direction(n: int, d: int, k: int, eta: float) -> Scenario:
    """Return n copies of one direction that is no coordinate axis, with the tests of a projection of rank k."""
    v, *others = _axes(d)
    exact = subspace_law.share_cdf(eta * n, k, d)

    def share(p: Matrix) -> TestResult:
        return kolmogorov_smirnov(along(p, v), exact, "vᵀPv follows its exact law")

    def around(p: Matrix) -> TestResult:
        squared = (_across(p, v) @ others[0]) ** 2
        return kolmogorov_smirnov(squared, lambda w: haar.squared_coordinate_cdf(w, d - 1), "Pv is uniform around v")

    def rest(p: Matrix) -> TestResult:
        across = _across(p, v)
        z = others[1] - (across @ others[1])[:, None] * across
        shares = np.einsum("ni,nij,nj->n", z, p, z) / (z**2).sum(axis=1)
        a, b = (k - 1) / 2, (d - 1 - k) / 2
        return kolmogorov_smirnov(shares, lambda w: betainc(a, b, np.clip(w, 0, 1)), "the rest of P is uniform")

    def exponent(factor: float) -> Test:
        wrong = subspace_law.share_cdf(factor * eta * n, k, d)
        return lambda p: kolmogorov_smirnov(along(p, v), wrong, "another exponent")

    tests: dict[str, Test] = {"share of the direction": share}
    tests |= {"around it": around} if d > 2 else {}
    tests |= {"the rest": rest} if k > 1 and d > k + 1 else {}
    suspects = tuple(Suspect.times(*wrong, exponent) for wrong in WRONG_EXPONENTS)
    return Scenario(f"one direction, n={n}, d={d}, k={k}", np.tile(v, (n, 1)), tests, suspects)


def three_level(k: int, eta: float) -> Scenario:
    """Return data with three distinct eigenvalues in R³, with tests of the vector that determines the projection."""
    counts = [math.ceil(c / eta) for c in LEVELS]
    m = eta * np.diag(np.array(counts, dtype=np.float64))

    def component(i: int) -> Test:
        cdf = bingham.projection_cdf(m, [i]) if k == 1 else bingham.projection_cdf(-m, [2 - i])

        def test(p: Matrix) -> TestResult:
            share = np.clip(p[:, i, i], 0.0, 1.0)
            return kolmogorov_smirnov(share if k == 1 else 1 - share, cdf, f"P{i + 1}{i + 1} follows its exact law")

        return test

    x = np.repeat(np.eye(3), counts, axis=0)
    return Scenario(f"three levels, d=3, k={k}", x, {f"entry ({i + 1}, {i + 1})": component(i) for i in range(3)})


def overlap_cdf(strength: float) -> Callable[[Vector], Vector]:
    """Return the distribution function of tr(PQ) for projections P and Q of rank 2 in R⁴, where P has a density
    proportional to exp(strength · tr(PQ)).

    A projection of rank 2 in R⁴ corresponds to a pair of points, one on each of two spheres S². On each of the two
    spheres, take the angle between the point of P and the point of Q. The number tr(PQ) − 1 is the product of the
    cosines of these two angles. If P is uniform, each cosine is uniform on [−1, 1].
    """
    graded = np.geomspace(1e-13, 1.0, 64)  # the table has more points near 0, where the density −ln|s| is not smooth
    panels = Panels(np.concatenate([-graded[::-1], [0.0], graded]))
    s = panels.nodes
    cdf = panels.distribution(-np.log(np.abs(s)) * np.exp(strength * (s - 1)))
    return lambda t: cdf(np.clip(t, 0.0, 2.0) - 1)


def two_directions(eta: float) -> Scenario:
    """Return data with equally many copies of each of two directions in R⁴, and the test of a released projection of
    rank 2 on these data.
    """
    n = math.ceil(STRENGTH / eta)
    plane = _axes(4)[:2]
    q, cdf = plane.T @ plane, overlap_cdf(eta * n)

    def overlap(p: Matrix) -> TestResult:
        return kolmogorov_smirnov(np.einsum("nij,ij->n", p, q), cdf, "tr(PQ) follows its exact law")

    return Scenario("two directions, d=4, k=2", np.repeat(plane, n, axis=0), {"overlap": overlap})


def ordinary_rows(claim: ClaimUnderAudit, k: int, eta: float) -> Scenario:
    """Return rows in general position, on which draws are compared with draws of the reference."""
    x = example_rows(*ORDINARY)
    c = x.T @ x

    @lru_cache(maxsize=4)
    def reference(size: int) -> Matrix:
        return subspace_law.sample(eta * c, k, np.random.default_rng(stream(claim.seed, "reference", size)), size)

    known = {**features(claim.mechanism.output, len(c)), "tr(PC)": lambda p: np.einsum("nij,ij->n", p, c)}
    tests = {name: against(f, reference, f"{name} has the reference's law") for name, f in known.items()}
    return Scenario(f"ordinary rows, n={ORDINARY[0]}, d={len(c)}, k={k}", x, tests)


def close_pair(k: int) -> Pair:
    """Return neighbours with `COPIES` rows on each of k axes, and one further row, which moves from the first axis to
    another axis.
    """
    axes = np.eye(k + 1)
    first, second = neighbours(np.repeat(axes[:k], COPIES, axis=0), axes[k], axes[0])
    statistics = generic_statistics(first, second, OUTPUTS["projection"])
    return Pair(f"{COPIES} copies of {k} axes and one row more, d={k + 1}", first, second, statistics, weight=0.25)


def law(claim: ClaimUnderAudit) -> KnownLaw:
    """Return the law of a projection of the claimed rank."""
    rank = int(claim.parameter("rank"))
    eta = float(mechanism.exponent(claim.budget["epsilon"]))
    n = math.ceil(STRENGTH / eta)

    def released(d: int) -> int:
        return mechanism.released_rank(rank, d)

    scenarios = (
        *(one_direction(n, d, released(d), eta) for d in sorted({2, 3, 5, rank + 2})),
        three_level(released(3), eta),
        *((two_directions(eta),) if rank == 2 else ()),
        ordinary_rows(claim, released(ORDINARY[1]), eta),
    )
    pairs = (*common_pairs(OUTPUTS["projection"], None, (rank + 1,), weight=0.25), close_pair(rank))
    shapes = Shapes(
        lambda n, d: one_direction(n, d, released(d), eta),
        ("share of the direction",),
        lambda d: 1,
        grid(fewest_columns=2),
    )
    return KnownLaw(scenarios, pairs, shapes)


def many(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float, **options: Any) -> list[Matrix]:
    """Draw many projections at once from the matrix Bingham law whose parameters `release` computes from the data."""
    seen: list[tuple[Matrix, int]] = []

    def remember(m: Matrix, k: int) -> Matrix:
        seen.append((m, k))
        return np.diag(np.arange(len(m)) < k).astype(np.float64)

    mechanism.release(x, remember, epsilon=epsilon, **options)
    return list(subspace_law.sample(*seen[0], rng, size))


KNOWN = Known(
    law,
    NotAdditive(
        "the projection is drawn from a law whose parameter is the second moment", SAME_MOMENT, continuous=True
    ),
    many=many,
    choices=lambda claim: near_choices.eigenvalue_gaps(1 / mechanism.exponent(claim.budget["epsilon"])),
    bits_unseen="an entry is a sum of products of entries of eigenvectors. The low-order bits of such a sum depend on "
    "many bits of the products. An event occurred in at most 5 of 2046 draws",
)
