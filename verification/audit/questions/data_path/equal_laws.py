"""Find data sets that must give equal laws, for mechanisms whose noise is not added to a query, and compare the outputs
on them.

The law of the output may depend on the data in a complicated way, and still be the same on two data sets. If the law
depends on the rows only through their second moment, it stays the same if rows change their signs, or if two rows x
and y are replaced by cx + sy and −sx + cy with c² + s² = 1. If rows are clipped, then clipped rows can replace long
ones. No law of the reference changes noticeably if all entries are reduced by a share of 10⁻¹², and zeros are
replaced by smaller numbers. After this change, no row is zero or equal to another row, and none has whole numbers.

Most implementations give one output on both data sets under one seed, up to rounding. For the other implementations
draws decide: a few draws suggest in which direction the laws differ, and fresh draws test it. If the output is the same
under two seeds on many data sets, there is no noise.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from covassay.reference.domain import Matrix, row_norms, unit_rows
from covassay.verification.audit.engine.difference import PILOT, difference_in_law
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.same_noise import DataPath
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.zoo import zoo
from covassay.verification.audit.question import Question, Subject
from covassay.verification.audit.targets.target import Failure
from covassay.verification.statistics.streams import stream

NAME = "one law on equivalent data"
SHAPES_OF_EQUAL_DATA = (1, 3), (20, 1), (5, 2), (30, 4), (300, 3), (1000, 2)
SEEDS = (0, 1)
MOVED = 1e-12  # entries are reduced by this share, and zeros are replaced by a tenth of it
ROUNDING = 1e-6  # outputs under one seed count as equal if their difference, relative to the largest entry, is smaller
PILOTS = 12  # at most
# the smallest number of different outputs of one shape that are each equal under both seeds
FROZEN = 8
MIXINGS = 4  # the number of rounds in which rows are mixed with a partner


# EQUIVALENT DATA


def nearly(x: Matrix, rng: np.random.Generator) -> Matrix:
    """Reduce every entry slightly, and change zeros slightly, so that no row is zero or equal to another."""
    moved = x * (1 - MOVED * rng.random(x.shape))
    return np.asarray(np.where(x == 0, MOVED / 10 * rng.standard_normal(x.shape), moved))


def clipped(x: Matrix, rng: np.random.Generator) -> Matrix:
    """Shorten long rows to length 1."""
    return np.asarray(unit_rows(x))


def turned(x: Matrix, rng: np.random.Generator) -> Matrix:
    """Give half of the rows the opposite sign."""
    signs = np.where(np.arange(len(x)) % 2, -1.0, 1.0)
    return np.asarray(x * rng.permutation(signs)[:, None])


def mixed(x: Matrix, rng: np.random.Generator) -> Matrix:
    """Clip the rows, and mix them in pairs by rotations that make both rows equally long."""
    y = rng.permutation(clipped(x, rng) * np.where(rng.random(len(x)) < 0.5, -1.0, 1.0)[:, None])
    for _ in range(MIXINGS):
        y = rng.permutation(y)
        half = len(y) // 2
        a, b = y[:half].copy(), y[half : 2 * half].copy()
        # at this t, ‖ca + sb‖² − ‖−sa + cb‖² = (‖a‖² − ‖b‖²) cos 2t + 2⟨a, b⟩ sin 2t is 0
        t = 0.5 * np.arctan2(-((a**2).sum(1) - (b**2).sum(1)), 2 * (a * b).sum(1))
        c, s = np.cos(t)[:, None], np.sin(t)[:, None]
        y[:half], y[half : 2 * half] = c * a + s * b, -s * a + c * b
    return np.asarray(y / np.maximum(1, row_norms(y))[:, None])


def in_the_cube(x: Matrix, rng: np.random.Generator) -> Matrix:
    """Clip the entries to [0, 1]."""
    return np.asarray(np.clip(x, 0, 1))


Change = Callable[[Matrix, np.random.Generator], Matrix]
CHANGES: dict[str, Change] = {
    "moved by 1e-12": nearly,
    "clipped": clipped,
    "with other signs": turned,
    "mixed": mixed,
    "clipped to the cube": in_the_cube,
}


# THE CHECK


@dataclass(frozen=True)
class _Candidate:
    """Two equivalent data sets on which the outputs under one seed differ."""

    category: str
    change: str
    x: Matrix
    other: Matrix

    @property
    def on(self) -> str:
        """Return the two data sets, described for a report."""
        return f"“{self.category}” and the same rows {self.change} (n = {self.x.shape[0]}, d = {self.x.shape[1]})"


def _one(setting: Setting, x: Matrix, seed: int) -> Matrix | Failure:
    rng = np.random.default_rng(stream(setting.seed, NAME, x.shape[0], x.shape[1], seed))
    return setting.one(x, rng)


def _outputs(setting: Setting, x: Matrix) -> list[Matrix | Failure]:
    return [_one(setting, x, seed) for seed in SEEDS]


def _equal(first: list[Matrix | Failure], second: list[Matrix | Failure]) -> bool:
    for one, other in zip(first, second, strict=True):
        if isinstance(one, Failure) or isinstance(other, Failure):
            if isinstance(one, Failure) != isinstance(other, Failure):
                return False
            continue
        if np.abs(one - other).max() > ROUNDING * max(1e-3, float(np.abs(one).max())):
            return False
    return True


# maps (n, d) to the set of outputs that were equal under both seeds on one data set
Frozen = dict[tuple[int, int], set[bytes]]


def _candidates(setting: Setting, path: DataPath, frozen: Frozen) -> Iterator[_Candidate]:
    """Yield equivalent data sets on which the outputs differ under one seed, the largest data sets first.

    Outputs that are equal under both seeds on one data set are added to `frozen`.
    """
    for n, d in reversed(SHAPES_OF_EQUAL_DATA):
        if d < path.smallest_dimension:
            continue
        for member in zoo(n, d, setting.seed):
            outputs = _outputs(setting, member.x)
            one, two = outputs
            if not isinstance(one, Failure) and not isinstance(two, Failure) and np.array_equal(one, two):
                frozen.setdefault((n, d), set()).add(np.round(one, 12).tobytes())
            made = len(SEEDS)
            # most directions are orthogonal to a single row, and can be rotated freely
            for kind in path.equivalent if n > 1 else ():
                rng = np.random.default_rng(stream(setting.seed, NAME, "rows", n, d))
                other = CHANGES[kind](member.x, rng)
                if np.array_equal(other, member.x):
                    continue
                others = _outputs(setting, other)
                made += len(SEEDS)
                if not _equal(outputs, others):
                    yield _Candidate(member.category, kind, member.x, other)
            setting.progress(NAME, made)


def _proven(setting: Setting, candidate: _Candidate, number: int, alpha: float) -> str:
    """Return the difference of the laws on the two data sets, in words; empty if draws prove no difference."""
    found = difference_in_law(setting, candidate.x, candidate.other, f"{NAME}/{number}", alpha / PILOTS)
    if found.failed is None:
        return found.what
    inside = bool((row_norms(candidate.x) <= 1).all())  # rounding can make a mixed or clipped row longer than 1
    fair = candidate.change == "moved by 1e-12" or (inside and candidate.change == "with other signs")
    if min(found.failed) == 0 and max(found.failed) == PILOT and fair:
        return "the target fails on one of them and answers on the other"
    return ""


def equal_laws(setting: Setting, path: DataPath | None, alpha: float) -> list[Finding]:
    """Check that equivalent data give equal laws; no check where the noise is added to a query.

    A target with equal laws is refuted with probability at most `alpha`.
    """
    if path is None or path.query is not None or not path.equivalent:
        return []
    if isinstance(_one(setting, zoo(30, 4, setting.seed)[0].x, 0), Failure):
        return [Finding("data path", NAME, Status.SKIPPED, "the target fails on plain rows")]
    tried: set[tuple[str, str]] = set()
    frozen: Frozen = {}
    for candidate in _candidates(setting, path, frozen):
        if (candidate.category, candidate.change) in tried or len(tried) >= PILOTS:
            continue
        tried.add((candidate.category, candidate.change))
        what = _proven(setting, candidate, len(tried), alpha)
        if what:
            return [Finding("data path", NAME, Status.REFUTED, f"on {candidate.on} {what}")]
    without_noise = [shape for shape, outputs in frozen.items() if len(outputs) >= FROZEN]
    if without_noise and not path.atoms:
        n, d = without_noise[0]
        detail = f"on {len(frozen[n, d])} data sets with n = {n}, d = {d} two seeds gave one output: there is no noise"
        return [Finding("data path", NAME, Status.REFUTED, detail)]
    compared = f"equivalent data gave one output under one seed: rows {', '.join(path.equivalent)}"
    if tried:
        kinds = len({category for category, _ in tried})
        compared += f". On {kinds} kinds of data it was another one, and no difference in law was proven"
    return [Finding("data path", NAME, Status.NOT_REFUTED, compared)]


def _applies(subject: Subject) -> str:
    path = subject.known.data_path
    if path is None or path.query is not None or not path.equivalent:
        return "only where noise is not added to a query, and data are known that must give one law"
    return ""


QUESTION = Question(
    name=NAME,
    kind="data path",
    asks="Is the law the same on data sets on which it must be the same?",
    blind_to="equivalent data of other kinds, and differences that 200 pilot draws do not suggest",
    ask=lambda subject, look: equal_laws(subject.setting, subject.known.data_path, look.level),
    applies=_applies,
    share=Fraction(1, 100),
    valid_if="Pilot draws choose the statistics; exact two-sample tests on fresh draws divide the level.",
    draws=3000,
    cost=2,
)
