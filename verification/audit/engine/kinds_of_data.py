"""Compare draws of the target with draws of the reference on data of many kinds.

An implementation can branch on the data, for instance on zero rows, on equal rows, or on fewer rows than columns. If
the target adds noise to a query, and a seed fixes the noise, `same_noise` detects a branch on the data without sampling
error. If a seed does not fix the noise of a query, a few draws on each of many data sets are compared with draws of the
reference on the same data. A few budgets other than the claimed one are treated as further kinds of data.

If the laws of target and reference are equal, all orders of the draws are equally likely. If all orders are equally
likely, the rank of a draw among all draws before it is uniform, and independent of the earlier ranks (Rényi 1962).
Ranks on different data sets can therefore be pooled for Kolmogorov–Smirnov tests. Ranks are pooled in three ways: all
ranks on one data set form a group, and so do all ranks on data sets of one kind, and all ranks on data sets of one
shape. For each group, every feature of the output has two tests. The p-value of a group is the smallest p-value of its
tests times the number of its tests.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from covassay.reference.domain import Matrix, Vector
from covassay.reference.errors import InvalidInput
from covassay.verification.audit.engine.facts import LawTest
from covassay.verification.audit.engine.features import Feature
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.engine.sampling import Setting, draw
from covassay.verification.audit.engine.shapes import DEFAULT, uniform
from covassay.verification.audit.engine.zoo import GIVEN, DataSetOfZoo, many_rows, zoo
from covassay.verification.statistics.last_digits import without_last_digits
from covassay.verification.statistics.streams import stream
from covassay.verification.statistics.tests import POWER, band, kolmogorov_smirnov

KINDS = "data of many kinds"  # reports print this text in place of the name of a data set
NAMES = {"data set": "every data set of the zoo", "kind": "every kind of data", "shape": "data of every shape"}
# the shapes (n, d) of the data, some with fewer rows than columns
SIZES = (1, 2), (30, 1), (20, 2), (4, 6), (65, 3), (1000, 2)
# the target makes `DRAWS` draws on each data set in a round with `DEFAULT` samples, and in no round fewer than `FEWEST`
DRAWS, FEWEST = 12, 6
# at budgets other than the claimed one, this many times as many draws are made; few such budgets are tried, so many
# draws at each of them cost little time
TIMES_AT_BUDGETS = 16
BESIDE = 2  # the reference makes this many times as many draws as the target
# features are rounded to this share of their median size, so that rounding errors of about 10⁻⁸ count as 0
GRID = 1e-4
PACE = 0.05  # if a draw takes longer than this many seconds, no other data of the same shape are tried
NAMED = 3  # a report names at most this many data sets, kinds or shapes


# a reference takes (x, size, generator) and returns its outputs
DrawsOf = Callable[[Matrix, int, np.random.Generator], Matrix]


@dataclass(frozen=True)
class AtBudget:
    """A budget other than the claimed one, with the reference and a data set for this budget. `words` states the budget
    in words, and `budget` has the keyword arguments of a draw.
    """

    words: str
    budget: dict[str, Any]
    draws: DrawsOf
    x: Matrix


@dataclass(frozen=True)
class Beside:
    """The reference with its data, whose draws are compared with the target's draws.

    `features` takes a data set x and returns numbers that describe an output on x. `own` is a data set of the user, on
    which the reference also draws. `choices` are data on which a small change decides which of two steps the mechanism
    takes. `budgets` are other budgets at which the reference also draws. `unsure` takes a data set x and says whether
    correct implementations may round the rows of x in different ways.
    """

    draws: DrawsOf
    features: Callable[[Matrix], Mapping[str, Feature]]
    smallest_dimension: int
    own: Matrix | None = None
    choices: tuple[DataSetOfZoo, ...] = ()
    budgets: tuple[AtBudget, ...] = ()
    unsure: Callable[[Matrix], bool] = lambda x: False


@dataclass
class _Group:
    """A group of draws that are tested together. For each feature, the dictionary `places` holds one vector of ranks
    for every data set of the group. `x` is the data set that was added last.
    """

    places: dict[str, list[Vector]] = field(default_factory=dict)
    draws: int = 0
    x: Matrix = field(default_factory=lambda: np.zeros((0, 0)))

    def add(self, found: Mapping[str, Vector], x: Matrix) -> None:
        """Add the ranks of the draws on one data set."""
        self.x = x
        self.draws += max(map(len, found.values()))
        for name, of_feature in found.items():
            self.places.setdefault(name, []).append(of_feature)

    @property
    def tests(self) -> int:
        """Return the number of tests, which is two for every feature."""
        return 2 * len(self.places)

    def p_value(self) -> float:
        """Return the p-value of the hypothesis that all ranks are uniform, which is the smallest p-value times the
        number of tests.
        """
        return min(1.0, self.tests * min(map(_least_p, map(np.concatenate, self.places.values()))))


def _least_p(sample: Vector) -> float:
    """Test numbers in [0, 1], and their distances from 1/2, for uniformity, and return the smaller p-value."""
    return min(kolmogorov_smirnov(u, uniform, "").p_value for u in (sample, np.abs(2 * sample - 1)))


def places(values: Vector, beside: Vector, rng: np.random.Generator) -> Vector:
    """Return, for every value, its rank among `beside` and the earlier values, scaled to [0, 1]; `rng` breaks ties."""
    everything = np.concatenate([beside, values])
    grid = GRID * float(np.median(np.abs(everything)))
    if grid > 0:
        everything = np.rint(everything / grid)
    before = np.tri(len(everything), k=-1, dtype=bool)
    below = ((everything[None, :] < everything[:, None]) & before).sum(axis=1)
    ties = ((everything[None, :] == everything[:, None]) & before).sum(axis=1)
    found = (below + rng.random(len(everything)) * (ties + 1)) / np.arange(1, len(everything) + 1)
    return np.asarray(found[len(beside) :])


def run_kinds(setting: Setting, beside: Beside, look: Look) -> list[Finding]:
    """Draw on data of every kind and shape, and return checks with p-values that are not decided yet."""
    groups: dict[str, dict[str, _Group]] = {name: {} for name in NAMES}
    failing, slow = 0, list[tuple[int, int]]()
    size = max(FEWEST, round(DRAWS * look.samples / DEFAULT))
    for member, at, reference, times in _members(setting, beside):
        n, d = member.x.shape
        if (n, d) in slow or beside.unsure(member.x):
            continue
        try:
            found, seconds = _places_on(
                at, reference, member, times * size, f"law/{KINDS}/{n}/{d}/{member.words}/{look.name}"
            )
        except _TimeOut:
            # a failure at another budget says nothing about data at the claimed budget
            if member.category == GIVEN or at is not setting:
                failing += 1
                continue
            why = f"the target ran into the time limit on “{member.category}” (n = {n}, d = {d})"
            return [Finding("law", NAMES["kind"], Status.SKIPPED, why, KINDS)]
        if seconds > PACE * times * size:
            slow.append((n, d))
        if found is None:
            failing += 1
            continue
        shape = f"n = {n}, d = {d}"
        keys = {"data set": f"{member.words} ({shape})", "kind": member.category, "shape": shape}
        for name, key in keys.items():
            groups[name].setdefault(key, _Group()).add(found, member.x)
    if not groups["kind"]:
        why = "on every data set, the target or the reference fails"
        return [Finding("law", NAMES["kind"], Status.SKIPPED, why, KINDS)]
    return [_check(name, groups[name], failing, slow, look) for name in NAMES]


def _members(setting: Setting, beside: Beside) -> Iterator[tuple[DataSetOfZoo, Setting, Beside, int]]:
    """Yield the data sets, each with its setting, its reference, and a factor by which the usual number of draws is
    multiplied.
    """
    for n, d in SIZES:
        if d >= beside.smallest_dimension:
            yield from ((member, setting, beside, 1) for member in zoo(n, d, setting.seed))
    if beside.smallest_dimension <= 2:
        yield from ((member, setting, beside, 1) for member in many_rows(setting.seed))
    if beside.own is not None:
        yield DataSetOfZoo(GIVEN, beside.own), setting, beside, 1
    yield from ((member, setting, beside, member.times) for member in beside.choices)
    for other in beside.budgets:
        at, reference = replace(setting, budget=other.budget), replace(beside, draws=other.draws)
        yield DataSetOfZoo(f"budget {other.words}", other.x), at, reference, TIMES_AT_BUDGETS


class _TimeOut(Exception):
    """Raised if draws ran into the time limit repeatedly."""


def _places_on(
    setting: Setting, beside: Beside, member: DataSetOfZoo, size: int, label: str
) -> tuple[dict[str, Vector] | None, float]:
    """Return the ranks of the draws on one data set, by feature, and the time of one draw in seconds.

    The ranks are None if a draw fails or the reference rejects the data.
    """
    rng = np.random.default_rng(stream(setting.seed, "beside", label))
    start = time.perf_counter()
    try:
        reference = beside.draws(member.x, BESIDE * size, rng)
    except InvalidInput:
        return None, time.perf_counter() - start
    seconds = time.perf_counter() - start
    draws = draw(setting, member.x, size, label)
    seconds += draws.seconds
    if draws.skipped:
        raise _TimeOut
    if len(draws.outputs) < size:
        return None, seconds
    found = {}
    outputs, reference = without_last_digits(draws.outputs, reference)
    with np.errstate(all="ignore"):  # the norm of an output near the largest float may overflow
        for name, feature in beside.features(member.x).items():
            found[name] = places(np.nan_to_num(feature(outputs)), np.nan_to_num(feature(reference)), rng)
    return found, seconds


def _check(name: str, groups: Mapping[str, _Group], failing: int, slow: list[tuple[int, int]], look: Look) -> Finding:
    """Combine the tests of all groups of one sort into one check."""
    found = {key: group.p_value() for key, group in groups.items()}
    worst = sorted(found, key=lambda key: found[key])[:NAMED]
    text = f"null: on {NAMES[name]} the outputs have the same law as the reference's; smallest p-values: "
    text += ", ".join(f"{key} (p = {found[key]:.2g})" for key in worst)
    if failing and name == "data set":
        text += f"; not compared: {failing} data sets on which a draw fails or that the reference rejects"
    if slow and name == "data set":
        text += f"; because a draw takes more than {PACE:g} s, only the first kinds of data were compared for (n, d) = "
        text += ", ".join(map(str, slow))
    fewest = min(groups.values(), key=lambda group: group.draws)
    tests = len(groups) * fewest.tests
    p_value = min(1.0, len(found) * min(found.values()))
    return Finding(
        "law",
        NAMES[name],
        Status.NOT_REFUTED,
        text,
        KINDS,
        p_value=p_value,
        n=sum(group.draws for group in groups.values()),
        facts=LawTest(
            min(found.values()),
            "distance of the ranks from a uniform law",
            min(1.0, band(fewest.draws, look.step / tests) + band(fewest.draws, 1 - POWER)),
        ),
        data=(groups[worst[0]].x,),
    )
