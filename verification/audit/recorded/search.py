"""Search for the pair of neighbouring data sets with the largest exact privacy loss.

For each number of rows and columns, the search measures once how the draws change the output. The loss of a pair of
data sets is then computed from two runs of the target, one on each data set. The search starts at corners of the
domain, basis vectors and dense rows. From each start, the search changes one coordinate after another of the two
differing rows and of the rows that both data sets share. The function `loss_of_pair` computes the loss of the best pair
with all its checks.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.engine.adjacency import REPLACE_ONE
from covassay.verification.audit.recorded.affine import AffineNoise, NotAffine, modelled
from covassay.verification.audit.recorded.allowance import Allowance
from covassay.verification.audit.recorded.exact_loss import ExactLoss, NotDecided, loss_of_pair, ready
from covassay.verification.audit.recorded.losses import Law, Undecided, law_of, letter_of, loss_in
from covassay.verification.audit.recorded.primitives import Primitive
from covassay.verification.audit.recorded.recorder import Recorder, Source, recorder
from covassay.verification.audit.recorded.transcripts import transcript_loss
from covassay.verification.audit.targets.target import Target

SEARCHED_SHAPES = ((6, 2), (6, 3), (2, 4), (1, 2), (6, 1))
FAR_SHAPES = ((200, 2), (2, 9))  # shapes (n, d) with many rows or many columns
# the numbers of rows are odd, powers of two or others, because a mistake may occur at some numbers of rows only
MORE_SHAPES = ((8, 2), (16, 2), (64, 2), (50, 3), (301, 2), (7, 5), (1024, 2))
FIRST_STEP, LAST_STEP = 0.5, 1e-4
MOST_STARTS, RANDOM_STARTS = 60, 40
# at the shapes `FAR_SHAPES` and `MORE_SHAPES`, only this many starting points are tried
FAR_STARTS = MOST_STARTS - RANDOM_STARTS
FEW_STARTS = 8  # if the noise differs between neighbours, the loss is computed for this many pairs
ABOVE = 1.001  # no further start is tried after a loss above this multiple of the claimed budget
ENOUGH = 1e-9  # a step whose relative gain is smaller than this number is rejected

EVALUATIONS = 4000  # the largest number of evaluations for one shape
UNIT = ((0.0, 1.0),)
SHORTEST = 0.05  # the least time for a pair, in seconds

Inside = Callable[[Matrix], Matrix]
Bounds = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Searched:
    """The space in which neighbours are searched, given by the adjacency, the shapes (n, d), and a box for the rows or
    the unit ball.

    `cube` says whether the box is the unit cube for every number of columns.
    """

    adjacency: str = REPLACE_ONE
    bounds: Bounds | None = None
    shapes: tuple[tuple[int, int], ...] = SEARCHED_SHAPES
    cube: bool = False

    def of_box(self) -> tuple[tuple[int, int], ...]:
        """Return the shapes (n, d) of the search, with the number of columns of the box if there is a box."""
        if self.bounds is None:
            return self.shapes
        return tuple((n, len(self.bounds)) for n in dict.fromkeys(n for n, _ in self.shapes))


@dataclass(frozen=True)
class Found:
    """The results of the search for several shapes (n, d), the largest loss first. Each result has a pair and its loss,
    or the reason why the loss is not known.
    """

    losses: tuple[ExactLoss, ...]
    evaluations: int
    seconds: float

    @property
    def worst(self) -> ExactLoss:
        """Return the pair with the largest loss."""
        return self.losses[0]

    def __str__(self) -> str:
        n, d = self.worst.pair[0].shape
        return f"{self.worst}; n = {n}, d = {d}, {self.evaluations} pairs in {self.seconds:.1f} s"


def ball(rows: Matrix) -> Matrix:
    """Return the rows after rows longer than 1 are shortened to length 1."""
    return np.asarray(rows / np.maximum(1.0, np.linalg.norm(rows, axis=-1, keepdims=True)))


def box(bounds: Sequence[tuple[float, float]]) -> Inside:
    """Return the function that maps coordinates in [−1, 1] to rows in a box."""
    low, high = np.asarray(bounds, dtype=float).T
    return lambda rows: np.asarray(low + (np.clip(rows, -1, 1) + 1) / 2 * (high - low))


def search(
    source: Source, claim: Guarantee, *, adjacency: str | None = None,
    bounds: Sequence[tuple[float, float]] | None = None, options: Mapping[str, Any] | None = None,
    shapes: Sequence[tuple[int, int]] = SEARCHED_SHAPES, primitives: Sequence[Primitive] = (),
    evaluations: int = EVALUATIONS, seconds: float = 5.0, seed: int = 0,
) -> Found:  # fmt: skip
    """Find the neighbours with the largest exact loss for a target, which is given by its name or as a function.

    If no adjacency is given, the target's own claim determines which data sets are neighbours.
    """
    budget = {**claim.keywords(), **({"bounds": tuple(bounds)} if bounds is not None else {}), **(options or {})}
    made = recorder(source, budget, primitives)
    domain = Searched(
        adjacency or _claimed_adjacency(made.target), None if bounds is None else tuple(bounds), tuple(shapes)
    )
    return searched(made, claim, domain, evaluations, seconds, seed)


def _claimed_adjacency(target: Target) -> str:
    """Return the adjacency of the target's own claim, or replace-one if the target has none."""
    if target.mechanism is not None:
        return mechanism(target.mechanism).adjacency_of(dict(target.options))
    return target.adjacency or REPLACE_ONE


def searched(made: Recorder, claim: Guarantee, domain: Searched, evaluations: int, seconds: float, seed: int) -> Found:
    """Find, for each shape (n, d), the neighbours with the largest exact loss within a number of evaluations.

    The number of evaluations limits the search of a fast target, so that the result is reproducible. For a slow target
    the search ends after the given `seconds`. The search of neighbours also ends when a loss above the claim is
    confirmed. At the shapes `FAR_SHAPES` only the starting points are tried, and a pair is returned only if its loss
    refutes the claim. The shapes `MORE_SHAPES` are treated in the same way if the search has computed the loss of a
    pair with one of the shapes of `domain`; otherwise they are left out.
    """
    start = time.monotonic()
    found: list[ExactLoss] = []
    total = 0
    shapes = domain.of_box()
    whole = Allowance(seconds)
    for n, d in shapes:
        one = _Search(made, claim, domain, n, d, seed, evaluations, Allowance(seconds / len(shapes)), whole)
        found.append(one.run())
        total += one.evaluations
        if found[-1].refuted:
            break
    else:
        far = FAR_SHAPES + (MORE_SHAPES if any(told.decided for told in found) else ())
        for n, d in replace(domain, shapes=far).of_box():
            one = _Search(made, claim, domain, n, d, seed, FAR_STARTS, whole, whole)
            told = one.run()
            total += one.evaluations
            if told.refuted:
                found.append(told)
                break
    return Found(tuple(sorted(found, key=rank, reverse=True)), total, time.monotonic() - start)


def rank(told: ExactLoss) -> tuple[bool, bool, float]:
    """Return a sort key: refuted claims come first, then decided losses, and larger losses before smaller ones."""
    return told.refuted, told.decided, -1.0 if told.loss is None else told.loss


@dataclass
class _Search:
    made: Recorder
    claim: Guarantee
    domain: Searched
    n: int
    d: int
    seed: int
    most: int
    allowed: Allowance
    whole: Allowance
    evaluations: int = 0

    @property
    def bounds(self) -> Bounds | None:
        """Return the bounds of the box in which the rows lie."""
        return UNIT * self.d if self.domain.cube else self.domain.bounds

    @property
    def inside(self) -> Inside:
        """Return the function that maps rows into the domain."""
        return ball if self.bounds is None else box(self.bounds)

    @property
    def over(self) -> bool:
        """Return whether the search has made all its evaluations or used all its time."""
        return self.evaluations >= self.most or self.allowed.over

    def run(self) -> ExactLoss:
        """Return the neighbours with the largest loss that is found for this shape. The function `loss_of_pair` has
        computed this loss with all its checks.
        """
        told = self.first()
        if told.lower_bound and not told.refuted:
            return self._by_starts(told)
        if told.refuted or not told.decided or told.lower_bound or self.over:
            return told
        with self.made.standing():
            best = self._climb()
        if best is None or (told.loss is not None and best[0] <= told.loss * (1 + ENOUGH)):
            return told
        return max(told, self._decided(*self._pairs(best[1])), key=rank)

    def first(self) -> ExactLoss:
        """Return the pair of neighbours at the first starting point."""
        return self._decided(*self._pairs(self._starts()[0]))

    def _by_starts(self, worst: ExactLoss) -> ExactLoss:
        """Return the pair with the largest loss among a few starting points.

        No local search follows, because only lower bounds on the losses are known.
        """
        for point in self._starts()[1:FEW_STARTS]:
            if worst.refuted or self.over:
                break
            worst = max(worst, self._decided(*self._pairs(point)), key=rank)
        return worst

    def _decided(self, x: Matrix, other: Matrix) -> ExactLoss:
        seconds = max(SHORTEST, self.whole.left)
        return loss_of_pair(self.made, x, other, self.claim, bounds=self.bounds, seed=self.seed, seconds=seconds)

    def _pairs(self, point: Matrix) -> tuple[Matrix, Matrix]:
        """Return the two neighbouring data sets that a `point` of the search describes by three rows.

        The first row of `point` is the row that is replaced or removed, and the second row is its replacement. All
        other rows of both data sets are copies of the third row.
        """
        rows = self.inside(point)
        shared = np.repeat(rows[2:], self.n - 1, axis=0)
        x = np.vstack([shared, rows[:1]])
        return x, (np.vstack([shared, rows[1:2]]) if self.domain.adjacency == REPLACE_ONE else shared)

    def _starts(self) -> list[Matrix]:
        """Return the starting points of the search. Their rows are axes, dense rows, rows on the first or last
        coordinates, and random rows.
        """
        d, rng = self.d, np.random.default_rng([self.seed, 2])
        unit = self.bounds is None
        low = np.zeros(d) if unit else -np.ones(d)
        signs = np.where(np.arange(d) % 2, -1.0, 1.0)
        rows: list[Vector] = [low]
        # at the far corner of a box the loss is often the largest
        for k in range(1, d + 1) if unit else range(d, 0, -1):
            for part in (np.arange(d) < k, np.arange(d) >= k):
                if part.any():
                    rows.append(np.asarray(part / np.sqrt(part.sum()) if unit else 2.0 * part - 1, dtype=float))
        rows += [rows[-2] * signs, -rows[-2], np.eye(d)[-1] if unit else 2 * np.eye(d)[-1] - 1]
        points = [np.array([u, v, shared]) for shared in (low, rows[2]) for u in rows[1:] for v in rows]
        points = [point for point in points if not np.array_equal(point[0], point[1])]
        return points[:MOST_STARTS] + [rng.uniform(-1, 1, size=(3, d)) for _ in range(RANDOM_STARTS)]

    def _climb(self) -> tuple[float, Matrix] | None:
        """Return the largest loss that the local searches reach and the point where it is reached, or None if the loss
        of a point cannot be computed.
        """
        loss = (self._by_primitives() if self.made.primitives else None) or self._by_draws()
        return None if loss is None else self._highest(loss)

    def _by_primitives(self) -> Callable[[Matrix], float] | None:
        """Return a function that computes the privacy loss of two neighbours, which are given as a point of the search.

        The function computes the loss from the outputs of the primitives of the target's package. Return None if the
        loss of the first two neighbours is unknown.
        """

        def loss(point: Matrix) -> float:
            self.evaluations += 1
            spent = transcript_loss(self.made, *self._pairs(point), self.seed)
            return -1.0 if spent.reason else _known(lambda: spent.loss_in(self.claim))

        return loss if loss(self._starts()[0]) >= 0 else None

    def _by_draws(self) -> Callable[[Matrix], float] | None:
        """Return a function that computes the privacy loss of two neighbours, which are given as a point of the search.

        The function computes the loss from the measured factors by which the draws enter the output. Return None if
        these factors cannot be measured.
        """
        starts = self._starts()
        try:
            at = ready(self.made, *self._pairs(starts[0]), self.seed)
            noise = modelled(at.first.run, at.first.base, at.variables)
        except NotDecided:
            return None
        if isinstance(noise, NotAffine):
            return None
        of_change = _of_change(noise, self.claim)
        tape, shape = at.first.base.tape, at.first.base.shape
        known: dict[bytes, Vector | None] = {}  # most steps of the search change one of the two data sets

        def output(data: Matrix) -> Vector | None:
            key = data.tobytes()
            if key not in known:
                done = self.made.run(data, tape.again())
                known[key] = None if done.failure or done.shape != shape else done.output
            return known[key]

        def loss(point: Matrix) -> float:
            self.evaluations += 1
            one, two = map(output, self._pairs(point))
            return -1.0 if one is None or two is None else of_change(one - two)

        return loss

    def _highest(self, loss: Callable[[Matrix], float]) -> tuple[float, Matrix]:
        """Return the largest loss that the local searches found, and its point."""
        starts = self._starts()
        claimed = letter_of(self.claim)[1]
        starts = [self._inside(point) for point in starts]
        values = []
        for point in starts:
            values.append(loss(point))
            if self.over:
                break
        best = max(zip(values, starts, strict=False), key=lambda one: one[0])
        for k in np.argsort(values)[::-1]:
            if self.over:
                break
            best = max(best, self._from(starts[k], values[k], loss), key=lambda one: one[0])
            if best[0] > ABOVE * claimed:
                break
        return best

    def _inside(self, point: Matrix) -> Matrix:
        """Return the point after its rows are mapped into the unit ball, or its entries are clipped to [−1, 1]."""
        return ball(point) if self.bounds is None else np.asarray(np.clip(point, -1, 1))

    def _from(self, point: Matrix, value: float, loss: Callable[[Matrix], float]) -> tuple[float, Matrix]:
        """Return the largest loss that is reached from a point, and the point at which it is reached. Smaller and
        smaller steps change single coordinates of a row, or rotate two of its coordinates.
        """
        rng = np.random.default_rng([self.seed, 3])
        step = FIRST_STEP
        while step > LAST_STEP and not self.over and math.isfinite(value):
            gained = False
            for move in self._moves(rng):
                for sign in (step, -step):
                    moved = self._moved(point, move, sign)
                    seen = loss(moved)
                    if seen > value * (1 + ENOUGH) and seen > value + 1e-15:
                        point, value, gained = moved, seen, True
                        break
                if self.over:
                    break
            step = step if gained else step / 4
        return value, point

    def _moves(self, rng: np.random.Generator) -> list[tuple[int, int, int]]:
        rows = 3 if self.n > 1 else 2
        moves = [(row, i, i) for row in range(rows) for i in range(self.d)]
        moves += [(row, i, j) for row in range(2) for i in range(self.d) for j in range(i)]
        return [moves[k] for k in rng.permutation(len(moves))]

    def _moved(self, point: Matrix, move: tuple[int, int, int], step: float) -> Matrix:
        row, i, j = move
        moved = point.copy()
        if i == j:
            moved[row, i] += step
        else:
            a, b = moved[row, i], moved[row, j]
            moved[row, i] = math.cos(step) * a - math.sin(step) * b
            moved[row, j] = math.sin(step) * a + math.cos(step) * b
        return self._inside(moved)


def _of_change(noise: AffineNoise, claim: Guarantee) -> Callable[[Vector], float]:
    """Return the loss as a function of the change of the centre, for fixed noise; the function returns −1 if the loss
    is unknown.
    """
    families = {v.family for v, used in zip(noise.variables, noise.used, strict=True) if used}
    gains = noise.gains[:, list(noise.used)]
    strength = np.sqrt((gains**2).sum(axis=1))
    if len(families) == 1 and families <= {"normal", "laplace"} and strength.all():
        scaled = gains / strength[:, None]
        inverse = np.linalg.pinv(scaled, rcond=1e-9) / strength
        full = np.linalg.matrix_rank(scaled, tol=1e-9) == gains.shape[1]
        normal = families == {"normal"}
        if normal or full:

            def fast(change: Vector) -> float:
                z = inverse @ change
                if np.abs(gains @ z - change).max() > 1e-7 * np.abs(change).max():
                    return math.inf
                law = Law(float(np.linalg.norm(z)), (), 0.0) if normal else Law(0.0, tuple(z), 0.0)
                return _known(lambda: loss_in(claim, law)[0])

            return fast
    still = replace(noise, centre=np.zeros(len(noise.centre)))
    return lambda change: _known(lambda: loss_in(claim, law_of(replace(noise, centre=change), still))[0])


def _known(loss: Callable[[], float]) -> float:
    try:
        return loss()
    except Undecided:
        return -1.0
