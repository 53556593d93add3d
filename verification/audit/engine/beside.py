"""Compare draws of the target with draws of the reference under equal seeds, for many sizes of the data and many
budgets.

If an implementation uses random numbers in the order of the reference, it gives the same outputs under the same seed. A
few draws for each of some hundreds of data sets and budgets then show where the code of the implementation branches.
The code may branch, for instance, at 500 rows, in four dimensions, at ε = 0.5, or on equal rows. All common numbers of
rows up to 10 000, all common numbers of columns up to 64, and budgets from 0.01 to 20 are tried.

Different outputs refute nothing, because another algorithm for the same law may be faster for wide data. A difference
only suggests on which data and with which budget the audit should compare the laws of the two. For some of these data
and budgets, the module `paired` makes more draws, and the target is refuted if they show that the laws differ. If noise
is added to a known query, the target is also refuted if its noise under every seed is the reference's noise times the
same factor below 1. A target is not compared with the reference if most of its outputs differ from the reference's
outputs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.kinds_of_data import Beside
from covassay.verification.audit.engine.other_budgets import Reference, accepted_guarantees, words
from covassay.verification.audit.engine.paired import Sampler, paired_difference
from covassay.verification.audit.engine.same_noise import DataPath
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.sizes import COLUMNS, ROWS, WIDE_AND_LONG, Pace
from covassay.verification.audit.engine.zoo import zoo
from covassay.verification.audit.targets.target import Failure
from covassay.verification.statistics.streams import stream

NAME = "draw for draw beside the reference"
SEEDS = 1  # the number of seeds for most data sets and budgets; if outputs differ, more draws are made
# the number of seeds with which the audit tests whether the target's noise is a fixed multiple of the reference's noise
MORE_SEEDS = 4
MANY, FEW = 2000, 12  # on data with so many rows and columns, the noise is small relative to the query
# All rows are multiplied by each factor in SHARES. A mechanism may treat rows that are longer than some threshold
# differently. The factors are close to each other, so that some factor is near the threshold.
CHOICES_AT, SHARES, SEEDS_OF_CHOICES = (30, 300, 3000), np.geomspace(1.0, 0.02, 24), 6
KINDS_AT = (20, 3), (4, 6), (200, 2)
BUDGETS_AT = (12, 200)  # rows
CLOSE = 1e-6  # a difference below this share of the largest entry is a rounding error
PILOTS = 6  # the law is tested for at most this many data sets and budgets
FIT = 1e-6  # one factor must explain all residuals up to this relative error


@dataclass(frozen=True)
class Place:
    """A data set and a budget for which outputs are compared, with a description."""

    sort: str
    words: str
    x: Matrix
    budget: dict[str, Any]
    beside: Beside
    path: DataPath | None


def _places(
    setting: Setting, beside: Beside, path: DataPath | None, others: Sequence[tuple[Guarantee, DataPath, Beside]]
) -> Iterator[list[Place]]:
    """Yield lists of data sets and budgets to compare. The elements of one list differ mainly in one respect, for
    instance in the number of rows.
    """
    low = max(1, beside.smallest_dimension)
    d, budget = max(2, low), setting.budget

    def at(sort: str, text: str, x: Matrix) -> Place:
        return Place(sort, text, x, budget, beside, path)

    sizes = [(round(share * k) or 1, k) for k in COLUMNS if k >= low for share in WIDE_AND_LONG]
    yield [at("columns", f"n = {n}, d = {k}", example_rows(n, k)) for n, k in sizes]
    if path is not None and path.query is not None:
        # if noise is added to a query, `same_noise` and `other_budgets` compare the noise on these data and budgets
        return
    yield [at("rows", f"n = {n}, d = {d}", example_rows(n, d)) for n in ROWS]
    yield [at("rows", f"n = {MANY}, d = {k}", example_rows(MANY, k)) for k in COLUMNS if low <= k <= FEW]
    for n, columns in KINDS_AT:
        k = max(low, columns)
        yield [at("kinds", f"“{m.category}”, n = {n}, d = {k}", m.x) for m in zoo(n, k, setting.seed)]
    for n in CHOICES_AT:
        x = example_rows(n, max(low, 2))
        yield [at("choices", f"n = {n}, all rows multiplied by {share:.3g}", share * x) for share in SHARES]
    yield [
        Place("budgets", f"{words(g)}, n = {n}", example_rows(n, d), budget | g.keywords(), reference, other)
        for g, other, reference in others
        for n in BUDGETS_AT
    ]


@dataclass
class _Seen:
    """The number of outputs that agree with the reference, the places where outputs differ, and the places where draws
    were too slow.
    """

    agreeing: int = 0
    differing: list[tuple[float, Place]] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)


def _sampler(setting: Setting, place: Place) -> Sampler:
    def sampler(rng: np.random.Generator) -> Matrix | Failure:
        setting.tally.draws += 1
        return setting.one(place.x, rng, budget=place.budget)

    return sampler


def _reference(place: Place) -> Sampler:
    def sampler(rng: np.random.Generator) -> Matrix | Failure:
        try:
            return np.asarray(place.beside.draws(place.x, 1, rng)[0], dtype=np.float64)
        except InvalidInput:
            return Failure("exception", "the reference rejects it")

    return sampler


def _both(setting: Setting, place: Place, seeds: int) -> tuple[Matrix, Matrix] | None:
    """Return outputs of the target and of the reference under the same seeds, or None if one of the two fails."""
    samplers = _sampler(setting, place), _reference(place)
    found: tuple[list[Matrix], list[Matrix]] = ([], [])
    for seed in range(seeds):
        for side, sampler in zip(found, samplers, strict=True):
            output = sampler(np.random.default_rng(stream(setting.seed, "beside", *place.x.shape, seed)))
            if isinstance(output, Failure):
                return None
            side.append(output)
    return np.array(found[0]), np.array(found[1])


def _change(target: Matrix, reference: Matrix) -> float:
    """Return the largest difference between two outputs, relative to their size; vectors that differ only in sign count
    as equal.
    """
    size = max(1e-3, float(np.abs(reference).max()))
    change = np.abs(target - reference).reshape(len(target), -1).max(axis=1)
    if target.ndim == 2:
        change = np.minimum(change, np.abs(target + reference).max(axis=1))
    return float(change.max()) / size


def _seen_at(setting: Setting, sorts: Iterator[list[Place]]) -> _Seen:
    seen = _Seen()
    for places in sorts:
        seeds = SEEDS_OF_CHOICES if places and places[0].sort == "choices" else SEEDS
        agreeing, differing, pace = 0, list[tuple[float, Place]](), Pace(2 * seeds)
        for place in places:
            with pace:
                both = _both(setting, place, seeds)
            if both is not None:
                change = _change(*both)
                agreeing += change <= CLOSE
                if change > CLOSE:
                    differing.append((change, place))
            if pace.slow:
                seen.slow.append(place.words)
                break
        setting.progress(NAME, seeds * len(places))
        seen.agreeing += agreeing
        # if nearly all outputs differ, the target uses random numbers in another way, or ignores the budget
        if agreeing >= len(differing):
            seen.differing += differing
    return seen


def _factor(setting: Setting, place: Place) -> str:
    """Return a sentence if one factor below 1 multiplies all residuals of the reference, and otherwise an empty
    text.
    """
    both = _both(setting, place, MORE_SEEDS)
    if place.path is None or place.path.query is None or both is None:
        return ""
    target, reference = (outputs - place.path.query(place.x) for outputs in both)
    factor = float((target * reference).sum() / max(float((reference**2).sum()), 1e-300))
    if not -FIT <= factor < 1 or np.abs(target - factor * reference).max() > FIT * np.abs(reference).max():
        return ""
    return f"the noise is {factor:.4g} times that of the reference under every seed"


def _chosen(differing: list[tuple[float, Place]]) -> list[Place]:
    """Choose at most `PILOTS` pairs of a data set and a budget.

    The pairs are grouped by their field `sort`, such as "rows" or "budgets". The function first takes the first pair of
    every group, then the last pair of every group, and then the middle pair of every group.
    """
    sorts: dict[str, list[Place]] = {}
    for _, place in differing:
        sorts.setdefault(place.sort, []).append(place)
    picked = [[p[i] for i in dict.fromkeys((0, len(p) - 1, len(p) // 2))] for p in sorts.values()]
    turns = [p[i] for i in range(3) for p in picked if i < len(p)]
    return turns[:PILOTS]


def draw_for_draw(
    setting: Setting, beside: Beside, path: DataPath | None, at_budget: Reference | None, claim: Guarantee, level: float
) -> list[Finding]:
    """Compare draws of the target with draws of the reference under equal seeds.

    A target with the reference's law is refuted with probability at most `level`.
    """
    accepted = {} if at_budget is None else accepted_guarantees(claim, at_budget)
    others = [(g, *at_budget(g)) for of_name in accepted.values() for g in of_name] if at_budget is not None else []
    seen = _seen_at(setting, _places(setting, beside, path, others))
    if not seen.agreeing:
        return [Finding("law", NAME, Status.NOT_REFUTED, "under equal seeds, no output equals the reference's output")]
    found, undecided = list[str](), list[str]()
    for i, place in enumerate(_chosen(seen.differing)):
        what = _factor(setting, place) or paired_difference(
            _sampler(setting, place), _reference(place), setting.seed, f"{NAME}/{i}", level / PILOTS
        )
        (found if what else undecided).append(f"at {place.words} {what}".strip())
        if what:
            break
    text = f"under equal seeds, the outputs are those of the reference for {seen.agreeing} data sets or budgets"
    if found:
        return [Finding("law", NAME, Status.REFUTED, f"{text}; {'; '.join(found)}")]
    if seen.differing:
        text += (
            f", and differ for {len(seen.differing)}; with more draws, no difference between the two laws was proven "
            f"{', '.join(undecided)}"
        )
    if seen.slow:
        text += f"; larger data were left out, because a draw is slow: {', '.join(seen.slow)}"
    return [Finding("law", NAME, Status.NOT_REFUTED, text)]
