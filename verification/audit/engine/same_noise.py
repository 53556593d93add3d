"""Compare the noise on different data under one seed, because additive noise is the same for all data sets of one
shape.

Suppose that the output is query(x) + noise, where the law of the noise depends on n and d alone, and that the
implementation takes all randomness from the given generator. Under one seed, the implementation then adds the same
noise to all data sets of one shape. The residual, which is output − query(x), must not depend on the data. Two draws on
different data sets show mistakes that no number of draws on one data set can show, such as wrong clipping, a scale that
counts only some rows, or a branch for some data. A comparison under the same noise has no sampling error.

If the residuals on two data sets differ by the same shift or the same factor under several seeds, the law is refuted,
because the laws on the two data sets cannot both be the claimed law. An implementation may rotate its noise with the
data without changing the law of the noise. Any other difference between residuals refutes only if many draws on both
data sets prove that the laws differ. Each of these tests has a part of the false-alarm probability `alpha`.

Residuals for different numbers of rows are compared after division by the reference's noise scale.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.engine.events import Pair, Statistic, generic_statistics
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.sizes import COLUMNS, ROWS, WIDE_AND_LONG, Pace
from covassay.verification.audit.engine.symmetry import rows_above
from covassay.verification.audit.engine.zoo import BESIDE_GIVEN, GIVEN, SHAPES_OF_THE_ZOO, DataSetOfZoo, given, zoo
from covassay.verification.audit.targets.target import Failure, call, well_formed
from covassay.verification.statistics.last_digits import without_last_digits
from covassay.verification.statistics.streams import stream
from covassay.verification.statistics.tests import two_sample

NAME = "same noise, other data"
NAME_OF_ROWS = "same noise, other number of rows"
SEEDS = (0, 1)
# A shift or factor of the noise counts only if it is the same under these further seeds.
# Rounding errors alone can look like a shift or factor under two seeds.
MORE_SEEDS = range(3, 9)
# a bound n · 100 · 2⁻⁵³ on the relative rounding error of a query, for n ≤ 1000 and condition numbers up to 100
TOLERANCE = 1e-11
# above this number of rows, the tolerance grows in proportion to the number of rows
LARGEST_N = 1000
# For float32, the tolerance is √n/8 times 32 rounding units of 2⁻²⁴.
# For a second moment of 1000 rows, the tolerance is below 2e-5.
# A row that is 3 % too long changes a second moment of 1000 rows by 6e-5.
# For a second moment of one row with noise up to 500, the tolerance is below 1e-3.
# A row that is 3 % too long changes a second moment of one row by 0.06.
TOLERANCE_FLOAT32 = 32 * 2.0**-24
# if more than this share of the data sets has rounding errors above those of float64, the target computes in float32
MANY = 1 / 3
# A test with many draws is made for at most this many kinds of data, and for at most this many numbers of rows.
CONFIRMATIONS = 4
# the number of draws on each of two data sets in a test whether the noise has different laws on them
CONFIRMATION = 200
NO_ATOMS = 1e-6  # if no value of the noise is likelier than this, equal residuals are not a coincidence
# Equal noise under two seeds refutes the claim if it occurs for at least this many shapes of data.
# For a single shape, two float32 numbers may be equal by chance.
SAME_NOISE_TWICE = 3
SLACK_OF_SIZES = 1e-3  # float32, or a scale from a numerical solver, changes noise by less than this share
# To find the noise that most sizes (n, d) have in common, the noise of at most this many sizes is compared with that of
# all sizes.
CANDIDATES = 8
NAMED = 3  # the report lists at most this many shapes (n, d) at which the noise changes with the number of rows
MOST_ODD = 6  # at most this many sizes (n, d) with unusual noise and the same d are examined on further data sets
LARGEST_N_OF_PAIRS = 70
VISIBLE = 0.01  # a change of the query that is less than this share of the noise cannot be seen
# If the noise is multiplied by a factor this close to 0, there is no noise. A factor this close to −1 is not reported,
# because it changes only the sign of the noise, and the law of the noise is symmetric.
MIRRORED = 1e-6


@dataclass(frozen=True)
class DataPath:
    """The assumptions of an audit on how the output depends on the data.

    `stated` says in words what the comparison of the noise covers and what it does not. `query` returns the output
    without noise, and is None if noise is not added to a query. `scale` takes (n, d) and returns the noise scale, up to
    a factor that depends on d alone. `symmetric` says whether the noise is a symmetric matrix; an output may have one
    more row above this matrix, such as a mean. `atom` is the largest probability of one value of one entry of the
    noise, if the noise lies on a lattice. `unsure` takes a data set x, and returns how much the rounding of clipped
    rows can change an entry of the query. `unsure` is None if rounding clipped rows changes the query negligibly on all
    data sets.

    The fields `continuous`, `equivalent` and `atoms` are for targets whose output is not a query of the data plus
    noise. `continuous` says that no single output has positive probability, so that no output occurs twice.
    `equivalent` names the changes of the rows that do not change the law of the output. These names are keys of the
    table `CHANGES` in the module `one_law_on_equivalent_data`. `atoms` says whether an output can repeat.
    """

    stated: str
    query: Callable[[Matrix], Matrix] | None = None
    scale: Callable[[int, int], float] | None = None
    symmetric: bool = False
    smallest_dimension: int = 1
    continuous: bool = False
    equivalent: tuple[str, ...] = ()
    atoms: bool = False
    atom: float = 0.0
    unsure: Callable[[Matrix], float] | None = None

    def rounds_visibly(self, x: Matrix) -> bool:
        """Return whether the rounding of clipped rows may change the query by more than a small share of the noise."""
        if self.unsure is None or self.scale is None:
            return False
        return self.unsure(x) > VISIBLE * self.scale(*x.shape)


@dataclass(frozen=True)
class _Drawn:
    """The result of the draws on one data set: the residuals (output − query) under all seeds, or the failure of a
    draw.
    """

    member: DataSetOfZoo
    residuals: Matrix  # (seeds, …)
    size: float  # the Euclidean norm of the query
    single: bool = False  # says whether float32 can represent every output
    unsure: float = 0.0  # rounding of clipped rows can change an entry of the query by this much (`DataPath.unsure`)
    failure: Failure | None = None


@dataclass
class _Shape:
    """All draws on data sets of one shape, and the residuals on which most of these data sets agree."""

    n: int
    d: int
    drawn: list[_Drawn]
    failed: list[_Drawn]
    agreed: Matrix = field(default_factory=lambda: np.zeros(0))
    agreeing: int = 0

    def tolerance(self, drawn: _Drawn, single: bool) -> float:
        """Return the largest difference between residuals that rounding can explain."""
        size = 1.0 + drawn.size + float(np.linalg.norm(self.agreed))
        unit = TOLERANCE_FLOAT32 * (1 + self.n**0.5 / 8) if single else TOLERANCE * max(1.0, self.n / LARGEST_N)
        return float(unit * size) + drawn.unsure

    def gap(self, drawn: _Drawn) -> float:
        """Return the largest difference between the residuals on one data set and the residuals `agreed`, which most
        data sets have in common.
        """
        return float(np.abs(drawn.residuals - self.agreed).max())

    def agree(self, single: bool) -> None:
        """Store in `agreed` the residuals that the largest number of data sets have in common, up to rounding errors.
        Store the number of these data sets in `agreeing`.
        """
        best, self.agreeing = self.agreed, 0
        for candidate in self.drawn:
            self.agreed = candidate.residuals
            count = sum(self.gap(other) <= self.tolerance(other, single) for other in self.drawn)
            if count > self.agreeing:
                best, self.agreeing = candidate.residuals, count
        self.agreed = best


@dataclass(frozen=True)
class _Moved:
    """A data set whose residuals differ from the usual residuals, and a description of the difference."""

    shape: _Shape
    drawn: _Drawn
    what: str

    @property
    def on(self) -> str:
        """Describe in words, for a report, the data set that was changed."""
        return f"{self.drawn.member.category}, n = {self.shape.n}, d = {self.shape.d}"


@dataclass
class _Comparison:
    """The draws of one audit, and the results of comparing them."""

    setting: Setting
    path: DataPath
    alpha: float
    own: Matrix | None = None
    shapes: list[_Shape] = field(default_factory=list)
    single: bool = False
    unconfirmed: list[str] = field(default_factory=list)

    def query(self, x: Matrix) -> Matrix:
        """Return the output on x without noise."""
        assert self.path.query is not None
        return self.path.query(x)

    def draw(self, x: Matrix, *labels: str | int) -> tuple[Matrix | Failure, bool]:
        """Make one draw on x, and return the output and whether float32 represents the output exactly."""
        rng = np.random.default_rng(stream(self.setting.seed, "same noise", *labels))
        output, seconds = call(self.setting.target, x.copy(), self.setting.budget, rng, self.setting.seconds)
        self.setting.progress.timed(1, seconds)
        outcome = well_formed(output, self.setting.shape(x))
        single = not isinstance(outcome, Failure) and np.array_equal(outcome, outcome.astype(np.float32))
        return outcome, single

    def repeats(self) -> bool:
        """Return whether generators with equal seeds give equal outputs of the target."""
        x = zoo(12, 3, self.setting.seed)[0].x
        first, second = (self.draw(x, "twice")[0] for _ in range(2))
        return isinstance(first, Failure) or isinstance(second, Failure) or bool(np.array_equal(first, second))

    def collect(self) -> bool:
        """Draw on data sets of every kind under every seed; return False if draws exceed the time limit."""
        shapes = [(n, d) for n, d in SHAPES_OF_THE_ZOO if d >= self.path.smallest_dimension]
        if not all(self._collected(zoo(n, d, self.setting.seed)) for n, d in shapes):
            return False
        if not all(self._collected(zoo(n, d, self.setting.seed)) for n, d in self._other_sizes()):
            return False
        if self.own is not None:  # a time-out on the user's data, which may be large, says nothing about other data
            self._collected(given(self.own, self.setting.seed))
        self.single = self._single()
        for shape in self.shapes:
            shape.agree(self.single)
        return True

    def _other_sizes(self) -> list[tuple[int, int]]:
        """Draw under one seed on data of many more shapes. If the noise of a few shapes differs from that of most
        shapes, return shapes for further comparisons.
        """
        low = self.path.smallest_dimension
        tall = [(n, max(2, low)) for n in ROWS]
        wide = [(round(share * d) or 1, d) for d in COLUMNS if d >= low for share in WIDE_AND_LONG]
        found: list[tuple[int, int]] = []
        for sizes in (tall, *(list(group) for _, group in groupby(wide, key=lambda size: size[1]))):
            units, pace = dict[tuple[int, int], Vector](), Pace(2)
            odd = set[tuple[int, int]]()
            for n, d in sizes:
                with pace:
                    seen = self._units(n, d)
                if seen is None:
                    odd.add((n, d))
                elif len(seen):
                    units[n, d] = seen
                if pace.slow:
                    break
            odd |= _minority(units)
            if odd and 2 * len(odd) <= len(units) + len(odd):
                found += sorted(odd)[:: -(-len(odd) // MOST_ODD)] if sizes is tall else sizes
            if len(found) >= 2 * MOST_ODD or (pace.slow and sizes is not tall):
                break
        known = {(shape.n, shape.d) for shape in self.shapes}
        return [size for size in found if size not in known]

    def _units(self, n: int, d: int) -> Vector | None:
        """Return the residual of one draw, divided by the claimed scale of the noise. Return None if the noise on two
        data sets of the shape (n, d) differs, or if the target fails on one of the two. Return an empty array if the
        target fails on both, or if no scale is claimed.
        """
        zeros, rows = np.zeros((n, d)), zoo(n, d, self.setting.seed, BESIDE_GIVEN[:1])[0].x
        (one, _), (other, _) = self.draw(zeros, d, SEEDS[0]), self.draw(rows, d, SEEDS[0])
        if isinstance(one, Failure) or isinstance(other, Failure):
            return None if isinstance(one, Failure) != isinstance(other, Failure) else np.zeros(0)
        query, other_query = self.query(zeros), self.query(rows)
        one, other = one - query, other - other_query
        size = 1 + float(np.linalg.norm(other_query)) + float(np.linalg.norm(one))
        if np.abs(one - other).max() > TOLERANCE_FLOAT32 * (1 + n**0.5 / 8) * size:
            return None
        scale = self.path.scale(n, d) if self.path.scale is not None else 0.0
        return np.asarray(one / scale).reshape(-1) if scale > 0 else np.zeros(0)

    def _collected(self, members: Sequence[DataSetOfZoo]) -> bool:
        """Draw on data sets of one shape under every seed; return False if a draw exceeds the time limit."""
        drawn = list[_Drawn]()
        for member in members:
            drawn.append(one := self._drawn(member))
            if one.failure is not None and one.failure.kind == "time-out":
                return False
        failed = [one for one in drawn if one.failure is not None]
        n, d = members[0].x.shape
        shape = _Shape(n, d, [one for one in drawn if one.failure is None], failed)
        shape.agree(single=True)
        self.shapes.append(shape)
        self.setting.progress(NAME, len(drawn))
        return True

    def _drawn(self, member: DataSetOfZoo) -> _Drawn:
        query = self.query(member.x)
        outcomes = []
        single = True
        # the random stream depends on d and not on n, so that the noise for different n can be compared
        for seed in SEEDS:
            outcome, held = self.draw(member.x, member.x.shape[1], seed)
            if isinstance(outcome, Failure):
                return _Drawn(member, np.zeros(0), 0.0, failure=outcome)
            outcomes.append(outcome - query)
            single = single and held
        unsure = self.path.unsure(member.x) if self.path.unsure is not None else 0.0
        return _Drawn(member, np.array(outcomes), float(np.linalg.norm(query)), single, unsure)

    def _single(self) -> bool:
        """Return whether the target computes in float32, because its outputs are float32 numbers or have the rounding
        errors of float32.
        """
        drawn = [one for shape in self.shapes for one in shape.drawn]
        if drawn and all(one.single for one in drawn):
            return True
        rounded = [
            shape.gap(one) > shape.tolerance(one, False)
            for shape in self.shapes
            for one in shape.drawn
            if one.size > 0 and shape.gap(one) <= shape.tolerance(one, True)
        ]
        return bool(rounded) and sum(rounded) > MANY * len(rounded)

    # DEPENDENCE ON THE DATA

    def findings(self) -> list[_Moved]:
        """Return the data sets on which the noise provably differs from the noise on most data sets of the same
        shape.
        """
        found = []
        tried, confirmed = set[str](), set[str]()
        for shape in self.shapes:
            found += self._asymmetric(shape)
            if shape.agreeing < 2:
                continue
            for drawn in shape.drawn:
                tolerance = shape.tolerance(drawn, self.single)
                if shape.gap(drawn) <= tolerance:
                    continue
                category = drawn.member.category
                what = moved(drawn.residuals, shape.agreed, tolerance)
                if what and category not in confirmed:
                    what = self._still_moved(shape, drawn, tolerance)
                    confirmed |= {category} if what else set()
                if not what and category not in tried:
                    tried.add(category)
                    what = self._moved_more(shape, drawn, tolerance)
                    if not what and len(tried) <= CONFIRMATIONS:
                        what = self._confirmed(shape, drawn)
                    if not what:
                        self.unconfirmed.append(category)
                if what:
                    found.append(_Moved(shape, drawn, what))
            found += self._failures(shape)
        return found

    def _asymmetric(self, shape: _Shape) -> list[_Moved]:
        """Find outputs that are not symmetric although the noise is a symmetric matrix."""
        if not self.path.symmetric or shape.d < 2:
            return []
        squares = [(drawn, drawn.residuals[..., rows_above(drawn.residuals.shape[-2:]) :, :]) for drawn in shape.drawn]
        return [
            _Moved(shape, drawn, "the output is not symmetric")
            for drawn, square in squares
            if np.abs(square - square.swapaxes(-1, -2)).max() > shape.tolerance(drawn, self.single)
        ]

    def _failures(self, shape: _Shape) -> list[_Moved]:
        """Find data sets in the ball on which the target fails, although it gives an output on other data of the same
        shape.
        """
        return [
            _Moved(shape, one, f"the target fails ({one.failure}), but gives an output on other data of that shape")
            for one in shape.failed
            # the data that are tried may lie outside of the target's own domain
            if one.member.inside and one.member.category != GIVEN
        ]

    def _sample(self, x: Matrix, label: str) -> Matrix:
        query = self.query(x)
        outcomes = [self.draw(x, "confirmation", label, i)[0] for i in range(CONFIRMATION)]
        return np.array([o - query for o in outcomes if not isinstance(o, Failure)])

    def _usual(self, shape: _Shape) -> _Drawn:
        return next(one for one in shape.drawn if shape.gap(one) <= shape.tolerance(one, self.single))

    def _moved_more(self, shape: _Shape, drawn: _Drawn, tolerance: float) -> str:
        """Return, in words, the shift or factor that explains the residuals under the two seeds and a third one, or an
        empty text if there is none. Two seeds do not suffice if an output is one number, because some factor and shift
        explain any two residuals.
        """
        return self._still_moved(shape, drawn, tolerance, (len(SEEDS),))

    def _still_moved(self, shape: _Shape, drawn: _Drawn, tolerance: float, seeds: Sequence[int] = MORE_SEEDS) -> str:
        """Return, in words, the shift or factor that explains the residuals under the seeds `SEEDS` and also under the
        given further `seeds`, or an empty text if there is none.
        """
        usual = self._usual(shape)
        more = [self._under(one.member.x, seeds) for one in (drawn, usual)]
        if any(len(residuals) < len(seeds) for residuals in more):
            return ""
        together = [np.concatenate([one.residuals, m]) for one, m in zip((drawn, usual), more, strict=True)]
        return moved(together[0], together[1], tolerance)

    def _under(self, x: Matrix, seeds: Sequence[int]) -> Matrix:
        """Return the residuals under these seeds, up to the first failure of a draw."""
        found: list[Matrix] = []
        for seed in seeds:
            outcome, _ = self.draw(x, x.shape[1], seed)
            if isinstance(outcome, Failure):
                break
            found.append(outcome - self.query(x))
        return np.array(found)

    def _confirmed(self, shape: _Shape, drawn: _Drawn) -> str:
        """Return how the law on this data set differs from that on a usual one, or an empty text if the draws prove no
        difference.
        """
        usual = self._usual(shape)
        change = drawn.residuals[0] - shape.agreed[0]
        first, second = self._sample(drawn.member.x, "first"), self._sample(usual.member.x, "second")
        p = least_p(first, second, change)
        if p >= self.alpha / (2 * CONFIRMATIONS):
            return ""
        return f"the noise has another law than on “{usual.member.category}” ({CONFIRMATION} draws each, p = {p:.2g})"

    # DEPENDENCE ON N

    def other_rows(self) -> list[str]:
        """Return the numbers of rows for which the noise, divided by the reference's scale, differs from the usual
        noise.
        """
        scale = self.path.scale
        if scale is None:
            return []
        found: list[str] = []
        tried = 0
        for d in dict.fromkeys(shape.d for shape in self.shapes):
            group = [shape for shape in self.shapes if shape.d == d and shape.agreeing >= 2 and scale(shape.n, d) > 0]
            units = {shape.n: shape.agreed / scale(shape.n, d) for shape in group}
            slack = {s.n: 4 * max(s.tolerance(o, self.single) for o in s.drawn) / scale(s.n, d) for s in group}
            slack = {s.n: slack[s.n] + SLACK_OF_SIZES * float(np.abs(units[s.n]).max()) for s in group}
            kept = max(
                ([n for n in units if np.abs(units[n] - units[m]).max() <= slack[n] + slack[m]] for m in units),
                key=len,
                default=[],
            )
            if 2 * len(kept) <= len(units):
                # No noise is common to more than half of the numbers of rows. The target may use its random numbers
                # differently for every n, so the noise is not compared for this d.
                continue
            for shape in group:
                what = "" if shape.n in kept else self._moved_rows(shape, group, kept[0], slack)
                if not what and shape.n not in kept and tried < CONFIRMATIONS:
                    tried += 1
                    what = self._confirmed_rows(shape.n, kept[0], d)
                if what:
                    found.append(f"at n = {shape.n}, d = {d}, {what}, in units of the claimed scale")
        return found

    def _moved_rows(self, shape: _Shape, group: Sequence[_Shape], usual: int, slack: dict[int, float]) -> str:
        """Return how the noise, divided by its scale, differs between two numbers of rows. The text is empty if no
        single shift or factor explains the difference under all seeds.
        """
        assert self.path.scale is not None
        other = next(one for one in group if one.n == usual)
        tolerance = slack[shape.n] + slack[usual]
        scales = [self.path.scale(one.n, one.d) for one in (shape, other)]
        units = [one.agreed / scale for one, scale in zip((shape, other), scales, strict=True)]
        if not moved(units[0], units[1], tolerance):
            return ""
        more = [self._under(self._usual(one).member.x, MORE_SEEDS) for one in (shape, other)]
        if any(len(residuals) < len(MORE_SEEDS) for residuals in more):
            return ""
        together = [np.concatenate([u, m / scale]) for u, m, scale in zip(units, more, scales, strict=True)]
        return moved(together[0], together[1], tolerance)

    def _confirmed_rows(self, n: int, usual: int, d: int) -> str:
        assert self.path.scale is not None
        samples = [self._sample(np.zeros((m, d)), f"n={m}") / self.path.scale(m, d) for m in (n, usual)]
        p = least_p(samples[0], samples[1], np.ones(samples[0].shape[1:]))
        return (
            ""
            if p >= self.alpha / (2 * CONFIRMATIONS)
            else f"the noise has another law than at n = {usual} (p = {p:.2g})"
        )

    def seeds_agree(self) -> list[str]:
        """Return the shapes of data for which two seeds gave the same noise. The list is empty if fewer than
        `SAME_NOISE_TWICE` shapes were found. If some value of the noise has a probability above `NO_ATOMS`, equal noise
        may be a coincidence, and the list is empty too.
        """
        if self.path.atom > NO_ATOMS:
            return []
        equal = [
            f"({shape.n}, {shape.d})"
            for shape in self.shapes
            if shape.agreeing >= 2 and np.abs(shape.agreed[0] - shape.agreed[1]).max() <= TOLERANCE
            and np.abs(shape.agreed).max() > TOLERANCE
        ]  # fmt: skip
        return equal if len(equal) >= SAME_NOISE_TWICE else []

    # WITNESSES FOR PRIVACY

    def pairs(self, findings: Sequence[_Moved]) -> list[Pair]:
        """Return neighbours with the most distant outputs, made from the data set on which the noise changed most."""
        usable = [f for f in findings if f.drawn.failure is None and f.shape.n <= LARGEST_N_OF_PAIRS]
        usable.sort(key=lambda f: -f.shape.gap(f.drawn) / (1e-300 + float(np.linalg.norm(f.shape.agreed))))
        for finding in usable[:4]:
            pair = self._pair(finding)
            if pair is not None:
                return [pair]
        return []

    def _pair(self, finding: _Moved) -> Pair | None:
        x = finding.drawn.member.x
        label = finding.shape.d
        first, _ = self.draw(x, label, SEEDS[0])
        best: tuple[float, Matrix, Matrix] | None = None
        for row in dict.fromkeys((0, len(x) - 1, int(np.linalg.norm(x, axis=1).argmax()))):
            for value in _other_rows_for(x, row):
                other = x.copy()
                other[row] = value
                second, _ = self.draw(other, label, SEEDS[0])
                if isinstance(first, Failure) or isinstance(second, Failure):
                    continue
                change = first - second
                excess = float(np.linalg.norm(change) - 1.1 * np.linalg.norm(self.query(x) - self.query(other)))
                if best is None or excess > best[0]:
                    best = excess, other, change
        if best is None or best[0] <= finding.shape.tolerance(finding.drawn, self.single):
            return None
        _, other, change = best
        return Pair(f"neighbours from the zoo: {finding.on}", x, other, self._statistics(x, other, change))

    def _statistics(self, x: Matrix, other: Matrix, change: Matrix) -> tuple[Statistic, ...]:
        first, second = self.query(x), self.query(other)

        def near(centre: Matrix) -> Callable[[Matrix], Vector]:
            return lambda y: -np.abs(y - centre).reshape(len(y), -1).max(axis=1)

        return (
            Statistic("⟨Y, change under one seed⟩", lambda y: (y * change).reshape(len(y), -1).sum(axis=1)),
            Statistic("closeness to the first query", near(first)),
            Statistic("closeness to the second query", near(second)),
            *generic_statistics(x, other, self.setting.output),
        )


def _minority(units: dict[tuple[int, int], Vector]) -> set[tuple[int, int]]:
    """Return the sizes (n, d) of data whose noise differs from the noise that most sizes have in common. Each of the
    first `CANDIDATES` sizes is a candidate for a size with the common noise. For each candidate, the function collects
    the sizes whose noise differs from that of the candidate. It returns the smallest of these sets.
    """
    odd = set(units)
    for candidate in list(units.values())[:CANDIDATES]:
        slack = SLACK_OF_SIZES * float(np.abs(candidate).max())
        differing = {size for size, seen in units.items() if np.abs(seen - candidate).max() > slack}
        odd = min(odd, differing, key=len)
    return odd


def _other_rows_for(x: Matrix, row: int) -> list[Matrix]:
    """Return rows that may replace one row of the data set."""
    d = x.shape[1]
    axis = np.eye(d)
    norm = float(np.linalg.norm(x[row]))
    return [
        np.zeros(d),
        axis[0],
        axis[-1],
        -x[row],
        0.5 * axis[0],
        50 * axis[0],
        x[row] / (norm or 1.0),
        1e-3 * axis[0],
    ]


def least_p(first: Matrix, second: Matrix, change: Matrix) -> float:
    """Return three times the smallest p-value of three two-sample tests, or 1 if a sample has too few outputs."""
    size = min(len(first), len(second))
    if size < CONFIRMATION // 2:
        return 1.0
    first, second = without_last_digits(first[:size], second[:size])
    features: list[Callable[[Matrix], Vector]] = [
        lambda r: np.abs(r).reshape(len(r), -1).sum(axis=1),
        lambda r: (r * change).reshape(len(r), -1).sum(axis=1),
        lambda r: r.reshape(len(r), -1)[:, 0],
    ]
    return min(1.0, len(features) * min(two_sample(f(first), f(second), "").p_value for f in features))


def moved(residuals: Matrix, agreed: Matrix, tolerance: float) -> str:
    """Compare the `residuals` on one data set with the residuals `agreed` that most data sets have in common. Return,
    in words, one shift, one factor or both that explain the difference between them under every seed.

    The returned text is empty if no shift and no factor fits. A shift of at most twice the possible rounding error does
    not count.
    """
    shifts = residuals - agreed
    if np.abs(shifts - shifts[0]).max() <= 4 * tolerance < np.abs(shifts).max() / 2:
        return f"the output is shifted by {np.abs(shifts).max():.3g} under every seed"
    flat, base = residuals.reshape(len(residuals), -1), agreed.reshape(len(agreed), -1)
    factor = _factor(flat, base, 4 * tolerance)
    if factor is not None:
        return "there is no noise" if abs(factor) < MIRRORED else f"the noise is {factor:.4g} times as large"
    flat, base = np.diff(flat, axis=0), np.diff(base, axis=0)  # a common shift cancels in differences
    factor = _factor(flat, base, 8 * tolerance) if base.size >= 2 else None
    return "" if factor is None else f"the noise is {factor:.4g} times as large, and the output is shifted"


def _factor(flat: Matrix, base: Matrix, allowed: float) -> float | None:
    """Return the factor that makes `flat` a multiple of `base`, or None if none fits, or if it is nearly 1 or −1."""
    factor = float((flat * base).sum() / max(float((base**2).sum()), 1e-300))
    explained = np.abs(flat - factor * base).max() <= allowed
    change = abs(abs(factor) - 1) * float(np.abs(base).max())
    return factor if explained and change > 2 * allowed and abs(factor + 1) > MIRRORED else None


def _listed(findings: Sequence[_Moved]) -> str:
    """Return the findings in words, with one example for every kind of data, and with the first two examples in
    full.
    """
    by_category: dict[str, list[_Moved]] = {}
    for finding in findings:
        by_category.setdefault(finding.drawn.member.category, []).append(finding)
    examples = [group[0] for group in by_category.values()]
    text = "; ".join(
        f"on “{f.drawn.member.category}” (n = {f.shape.n}, d = {f.shape.d}) {f.what}" for f in examples[:2]
    )
    rest = [f"“{f.drawn.member.category}” ({f.shape.n}, {f.shape.d})" for f in examples[2:]]
    return text + (f"; also on {', '.join(rest)}" if rest else "")


def _result(name: str, status: Status, detail: str, *data: Matrix) -> Finding:
    return Finding("data path", name, status, detail, data=data)


def same_noise(
    setting: Setting, path: DataPath | None, alpha: float, own: Matrix | None = None
) -> tuple[list[Finding], list[Pair]]:
    """Compare the noise on many data sets under equal seeds. Return the findings. If the noise changes with the data,
    also return a pair of neighbours that may have a large privacy loss for this reason.

    A target whose noise does not depend on the data is refuted with probability at most `alpha`. `own` is a data set of
    the user, on which the noise is compared with that on the audit's data sets of the same shape.
    """
    if path is None:
        return [], []
    if path.query is None:
        return [_result(NAME, Status.SKIPPED, path.stated)], []
    if not setting.target.seeded:
        return [
            _result(
                NAME, Status.SKIPPED, f"the target takes its random numbers from the operating system. {path.stated}"
            )
        ], []
    comparison = _Comparison(setting, path, alpha, own)
    if not comparison.repeats():
        return [_result(NAME, Status.SKIPPED, f"equal seeds give different outputs. {path.stated}")], []
    if not comparison.collect():
        return [_result(NAME, Status.SKIPPED, f"a draw ran into the time limit. {path.stated}")], []
    findings = comparison.findings()
    checks = [_checked(comparison, findings), *_checked_rows(comparison)]
    return checks, comparison.pairs(findings)


def _checked(comparison: _Comparison, findings: Sequence[_Moved]) -> Finding:
    compared = sum(len(shape.drawn) for shape in comparison.shapes)
    if findings:
        detail = f"under one seed the output minus the query changes with the data: {_listed(findings)}"
        if not all(f.drawn.member.inside for f in findings):
            detail += ". Rows outside the ball count as clipped"
        return _result(NAME, Status.REFUTED, detail, findings[0].drawn.member.x)
    same = comparison.seeds_agree()
    if same:
        detail = f"two seeds give the same noise on data of shape {', '.join(same)}: noise is kept from call to call"
        return _result(NAME, Status.REFUTED, detail)
    if not any(shape.agreeing >= 2 for shape in comparison.shapes):
        detail = (
            f"no comparison: all data sets of one shape have different noise under one seed. {comparison.path.stated}"
        )
        return _result(NAME, Status.SKIPPED, detail)
    detail = (
        f"the noise under one seed was compared on {compared} data sets of {len(comparison.shapes)} shapes, and no "
        f"difference in its law was proven. {comparison.path.stated}"
    )
    silent = [f"({shape.n}, {shape.d})" for shape in comparison.shapes if not shape.drawn]
    rejected = sorted({one.member.category for shape in comparison.shapes if shape.drawn for one in shape.failed})
    if silent:
        detail += f" The target fails on every data set of shape {', '.join(silent)}."
    if rejected:
        detail += f" The target rejects: {', '.join(rejected)}."
    if comparison.unconfirmed:
        detail += (
            " On data of these kinds, the noise under one seed differs from that on other data, "
            f"but its law was not proven to differ: {', '.join(comparison.unconfirmed)}."
        )
    return _result(NAME, Status.NOTED if comparison.unconfirmed else Status.NOT_REFUTED, detail)


def _checked_rows(comparison: _Comparison) -> list[Finding]:
    if not any(shape.agreeing >= 2 for shape in comparison.shapes):
        return []
    found = comparison.other_rows()
    kept = "under one seed, the noise divided by its claimed scale is the same for every number of rows"
    if found:
        more = f"; and at {len(found) - NAMED} more shapes" if len(found) > NAMED else ""
        detail = f"under one seed the noise changes: {'; '.join(found[:NAMED])}{more}"
        return [_result(NAME_OF_ROWS, Status.REFUTED, detail)]
    return [_result(NAME_OF_ROWS, Status.NOT_REFUTED, kept)]
