"""Compare the outputs on two data sets that must give the same law, for mechanisms that do not add noise to a query.

The law of the output may depend on the data in a complicated way, and may still be the same on two data sets. If the
law depends on the rows through their second moment only, the law stays the same if rows change their signs. A law that
depends on the second moment only also stays the same if two rows x and y are replaced by cx + sy and −sx + cy with c² +
s² = 1. If the mechanism clips rows, clipped rows may replace long rows. No law of the reference changes noticeably if
each entry is reduced by a random share of at most 10⁻¹², and zeros are replaced by random numbers of the size 10⁻¹³.
After this change, no row is zero or equal to another row, and no row consists of whole numbers.

Most implementations give the same output under one seed on two data sets with equal laws, up to rounding. For other
implementations, a few draws suggest how the laws on the two data sets differ, and new draws test the difference. If the
output is the same under two seeds on many data sets, the target adds no noise.
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
# an entry is reduced by at most this relative amount; a zero is replaced by a random number of a tenth of this size
MOVED = 1e-12
ROUNDING = 1e-6  # outputs under one seed count as equal if they differ by less than this share of the largest entry
PILOTS = 12  # at most
# for this many different outputs of one shape, the outputs under both seeds must be equal
FROZEN = 8
MIXINGS = 4  # the number of rounds in which each row is mixed with another row


# EQUIVALENT DATA


def nearly(x: Matrix, rng: np.random.Generator) -> Matrix:
    """Return the rows with every entry changed slightly, so that no row is zero, and no two rows are equal."""
    moved = x * (1 - MOVED * rng.random(x.shape))
    return np.asarray(np.where(x == 0, MOVED / 10 * rng.standard_normal(x.shape), moved))


def clipped(x: Matrix, rng: np.random.Generator) -> Matrix:
    """Return the rows, with long rows shortened to length 1."""
    return np.asarray(unit_rows(x))


def turned(x: Matrix, rng: np.random.Generator) -> Matrix:
    """Return the rows, of which half have the opposite sign."""
    signs = np.where(np.arange(len(x)) % 2, -1.0, 1.0)
    return np.asarray(x * rng.permutation(signs)[:, None])


def mixed(x: Matrix, rng: np.random.Generator) -> Matrix:
    """Return the clipped rows after each pair of rows is rotated (x, y → cx + sy, −sx + cy). The rotation keeps the
    second moment, and gives both rows the same length.
    """
    y = rng.permutation(clipped(x, rng) * np.where(rng.random(len(x)) < 0.5, -1.0, 1.0)[:, None])
    for _ in range(MIXINGS):
        y = rng.permutation(y)
        half = len(y) // 2
        a, b = y[:half].copy(), y[half : 2 * half].copy()
        # at this angle t, the difference (‖a‖² − ‖b‖²) cos 2t + 2⟨a, b⟩ sin 2t of the two squared norms is 0
        t = 0.5 * np.arctan2(-((a**2).sum(1) - (b**2).sum(1)), 2 * (a * b).sum(1))
        c, s = np.cos(t)[:, None], np.sin(t)[:, None]
        y[:half], y[half : 2 * half] = c * a + s * b, -s * a + c * b
    return np.asarray(y / np.maximum(1, row_norms(y))[:, None])


def in_the_cube(x: Matrix, rng: np.random.Generator) -> Matrix:
    """Return the rows with their entries clipped to [0, 1]."""
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
    """Two data sets that must give the same law, and whose outputs under one seed differ."""

    category: str
    change: str
    x: Matrix
    other: Matrix

    @property
    def on(self) -> str:
        """Return the two data sets with descriptions for a report."""
        return (
            f"the data sets “{self.category}” and “{self.category}, {self.change}” "
            f"(n = {self.x.shape[0]}, d = {self.x.shape[1]})"
        )


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


# for (n, d), the outputs that were equal under both seeds on one data set
Frozen = dict[tuple[int, int], set[bytes]]


def _candidates(setting: Setting, path: DataPath, frozen: Frozen) -> Iterator[_Candidate]:
    """Yield data sets that must give the same law, but whose outputs differ under one seed, the largest first.

    Add to `frozen` all outputs that are equal under two seeds on one data set.
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
            # most directions are orthogonal to a single row, so they may be rotated freely
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
    """Return, in words, how the laws differ on the two data sets; return an empty text if the draws prove no
    difference."""
    found = difference_in_law(setting, candidate.x, candidate.other, f"{NAME}/{number}", alpha / PILOTS)
    if found.failed is None:
        return found.what
    inside = bool((row_norms(candidate.x) <= 1).all())  # rounding can make a mixed or clipped row longer than 1
    fair = candidate.change == "moved by 1e-12" or (inside and candidate.change == "with other signs")
    if min(found.failed) == 0 and max(found.failed) == PILOT and fair:
        return "the target fails on one of the two data sets, and gives outputs on the other"
    return ""


def equal_laws(setting: Setting, path: DataPath | None, alpha: float) -> list[Finding]:
    """Check that the law of the output is the same on data sets on which it must be the same. If noise is added to a
    query, there is no check.

    A target whose laws are equal is refuted with probability at most `alpha`.
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
    compared = f"under one seed, rows gave the same output after these changes: {', '.join(path.equivalent)}"
    if tried:
        kinds = len({category for category, _ in tried})
        compared += f". On {kinds} kinds of data the output was another one, but no difference in law was proven"
    return [Finding("data path", NAME, Status.NOT_REFUTED, compared)]


def _applies(subject: Subject) -> str:
    path = subject.known.data_path
    if path is None or path.query is not None or not path.equivalent:
        return (
            "only for mechanisms that do not add noise to a query, and only if the audit knows different data sets on "
            "which the law must be the same"
        )
    return ""


QUESTION = Question(
    name=NAME,
    kind="data path",
    asks="Is the law the same on data sets on which it must be the same?",
    blind_to="differences on kinds of data that are not tried, and differences that 200 pilot draws do not suggest",
    ask=lambda subject, look: equal_laws(subject.setting, subject.known.data_path, look.level),
    applies=_applies,
    share=Fraction(1, 100),
    valid_if=(
        "Pilot draws choose the statistics. Exact two-sample tests compare these statistics in new draws, and the "
        "level of the question is divided among the tests."
    ),
    draws=3000,
    cost=2,
)
