"""Define what an audit needs to know about a mechanism, and neighbouring data sets on which any mechanism can be
tested.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from covassay.reference.domain import Box, Matrix
from covassay.reference.mechanisms.mechanism import Domain, Mechanism
from covassay.reference.mechanisms.output import Output
from covassay.reference.privacy import Guarantee
from covassay.reference.sensitivity import block_pair, neighbours, one_sided_pair, orthonormal_pair
from covassay.verification.audit.engine.contract import Form, example_rows
from covassay.verification.audit.engine.events import Pair, Statistic, generic_statistics
from covassay.verification.audit.engine.kinds_of_data import Beside
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.engine.other_budgets import Reference
from covassay.verification.audit.engine.same_noise import DataPath
from covassay.verification.audit.engine.shapes import Shapes
from covassay.verification.audit.knowledge.shared.many_draws import one_by_one

ORDINARY_ROWS = 12
OUTSIDE = 50.0  # the norm of rows that a mechanism must clip or reject


@dataclass(frozen=True)
class View:
    """A function that takes an output and recovers the query plus noise from which the mechanism computed the output.

    `output` is the kind of output of the query. `see` is a function at module level that takes (output, box, number of
    rows) and returns the query plus noise.
    """

    output: Output
    see: Callable[[Matrix, Box, int], Matrix]


@dataclass(frozen=True)
class ClaimUnderAudit:
    """The claim that a target is a certain mechanism with certain options, and keeps a certain privacy guarantee.

    `options` has every option. `view` computes the tested quantity from an output; if `view` is None, the output itself
    is tested. `samples` is the number of draws on each data set; some mechanisms choose the tested neighbours and
    events for this number. `seed` is the seed of draws from the reference. `many` makes many draws of the reference at
    once; if `many` is None, the draws are made one by one.
    """

    mechanism: Mechanism[Any, ..., Any]
    guarantee: Guarantee
    options: dict[str, Any]
    samples: float
    seed: int
    view: View | None = None
    many: Callable[..., Any] | None = None

    @property
    def output(self) -> Output:
        """Return the kind of the tested quantity, which is an output or the result of `view` on it."""
        return self.mechanism.output_of(self.options) if self.view is None else self.view.output

    def seen(self, output: Any, x: Matrix) -> Matrix:
        """Return the tested quantity of an output that the reference made on x."""
        values = np.asarray(output, dtype=np.float64)
        return values if self.view is None else self.view.see(values, Box.of_columns(None, x.shape[1]), len(x))

    def draw(self, x: Matrix, rng: np.random.Generator) -> Matrix:
        """Return the tested quantity of one draw of the reference."""
        return self.seen(self.mechanism.sample(x, rng, **self.budget, **self.options), x)

    def draws(self, x: Matrix, size: int, rng: np.random.Generator) -> Matrix:
        """Return the tested quantities of `size` draws of the reference.

        If `size` is 1, the draw equals the one of `self.draw`, because the audit compares it with the target's draw
        under the same seed.
        """
        many = partial(one_by_one, self.mechanism.sample) if self.many is None or size == 1 else self.many
        outputs = many(x, size, rng=rng, **self.budget, **self.options)
        return np.array([self.seen(output, x) for output in outputs])

    @property
    def budget(self) -> dict[str, float]:
        """Return the keyword arguments of the mechanism that state the privacy guarantee."""
        return self.guarantee.keywords()

    def parameter(self, name: str) -> float:
        """Return the value of a parameter that was given to the target, and otherwise the default value in the
        mechanism."""
        return float(self.options.get(name, self.mechanism.parameters[name]))


Pairs = tuple[Pair, ...]


@dataclass(frozen=True)
class KnownLaw:
    """What the audit knows about the law of a mechanism's outputs.

    `scenarios` are data sets with tests of the law, and with the laws that plausible mistakes would give. `pairs` are
    the neighbours on which events are tested. `pairs` may also be a function of the names of the wrong laws that fit
    the draws, so that neighbours can be chosen for these laws. `shapes` gives the law on data of other shapes, and is
    None if the law is known only on `scenarios`.
    """

    scenarios: tuple[Scenario, ...]
    pairs: Pairs | Callable[[frozenset[str]], Pairs]
    shapes: Shapes | None = None

    def aimed_pairs(self, fitted: frozenset[str]) -> Pairs:
        """Return the neighbours to test if the named wrong laws fit the draws."""
        return self.pairs if isinstance(self.pairs, tuple) else self.pairs(fitted)


@dataclass(frozen=True)
class Profile:
    """What an audit needs to know about a mechanism, or about a target that names no mechanism.

    `pairs` takes the names of the laws of plausible mistakes that fit the draws, and returns the neighbours to test.
    `data_path` states how the output depends on the data, and is None if nothing is known of this dependence. `shapes`
    gives the law on data of any shape, and is None if the law is known only on `scenarios`. `domain` is the set in
    which all rows must lie. `beside` is the reference whose draws are compared with the target's draws, or None.
    `at_budget` takes another budget and returns the data path and the reference for this budget. `independent` says
    whether all distinct entries of the noise are independent. `view` computes the tested quantity from an output; if
    `view` is None, the output itself is tested.
    """

    form: Form
    scenarios: tuple[Scenario, ...]
    pairs: Callable[[frozenset[str]], tuple[Pair, ...]]
    data_path: DataPath | None = None
    domain: Domain = "ball"
    shapes: Shapes | None = None
    beside: Beside | None = None
    at_budget: Reference | None = None
    independent: bool = False
    view: View | None = None


Statistics = Callable[[Matrix, Matrix], tuple[Statistic, ...]]


def common_pairs(
    output: Output, statistics: Statistics | None = None, dimensions: tuple[int, ...] = (2,), weight: float = 1.0
) -> tuple[Pair, ...]:
    """Return neighbours on which any mechanism can be tested. Two neighbours differ in one row: their two rows are
    orthonormal, or one of them is zero, or both have the norm `OUTSIDE`.

    In the last pair of neighbours that this function returns, both data sets have a row outside of the domain. A
    mechanism that rejects rows outside of the domain rejects both data sets; a mechanism that clips rows gets
    orthonormal rows. If `statistics` is None, events of the statistics from `generic_statistics` are tested on all
    returned neighbours.
    """

    def generic(first: Matrix, second: Matrix) -> tuple[Statistic, ...]:
        return generic_statistics(first, second, output)

    chosen = statistics or generic
    pairs = []
    for d in dimensions:
        base = np.zeros((1, d))
        first, second = neighbours(base, *orthonormal_pair(d))
        pairs.append(Pair(f"orthonormal rows, d={d}", first, second, chosen(first, second), weight))
    d = dimensions[-1]
    base = np.zeros((1, d))
    first, second = neighbours(base, *one_sided_pair(d))
    pairs.append(Pair(f"one row against none, d={d}", first, second, chosen(first, second), weight / 2))
    x, y = orthonormal_pair(d)
    first, second = neighbours(base, OUTSIDE * x, OUTSIDE * y)
    clipped = () if statistics is None else statistics(*neighbours(base, x, y))
    seen = tuple(Statistic(f"{s.name}, for clipped rows", s.function, s.threshold) for s in clipped)
    pairs.append(Pair(f"rows of norm {OUTSIDE:g}, d={d}", first, second, (*seen, *generic(first, second)), weight / 4))
    return tuple(pairs)


def black_box_pairs(output: Output) -> tuple[Pair, ...]:
    """Return neighbours that are the worst for some statistic which a target of any kind may release.

    Opposite rows change a mean most, and do not change a second moment. Rows in dense directions change the sum of the
    absolute values of all entries most. A change of one row among ordinary rows reveals faults that zero or equal rows
    hide.
    """
    ordinary = example_rows(ORDINARY_ROWS, 2)
    dense = np.full(2, 0.5**0.5)
    rows = {
        "one row changed among ordinary rows, d=2": neighbours(ordinary, *orthonormal_pair(2)),
        "a long row comes and goes, d=2": neighbours(ordinary, *one_sided_pair(2)),
        "rows in dense directions, d=4": neighbours(np.zeros((1, 4)), *block_pair(4)),
        "a second row beside an equal one, d=1": neighbours(np.ones((1, 1)), np.ones(1), np.zeros(1)),
        "a second row beside an equal one, d=2": neighbours(dense[None], dense, np.zeros(2)),
    }
    opposite = {
        "opposite rows, d=1": neighbours(np.zeros((1, 1)), np.ones(1), -np.ones(1)),
        "opposite rows in a dense direction, d=2": neighbours(np.zeros((1, 2)), dense, -dense),
    }
    # between these neighbours the sum of the entries of a mean changes by 2√d/n
    for d in (4, 8) if output.power == 1 else ():
        row = np.full(d, d**-0.5)
        opposite[f"opposite rows in a dense direction, d={d}"] = neighbours(np.zeros((1, d)), row, -row)
    if output.kind == "level":  # the probabilities of rare levels change most between these neighbours
        rows["one column ahead, d=2"] = neighbours(np.repeat(np.eye(2), [0, 2], axis=0), *orthonormal_pair(2))
    # these neighbours, with opposite rows, are the worst for linear outputs, such as a mean
    far = 1.0 if output.power == 1 else 0.25
    return tuple(
        Pair(name, first, second, generic_statistics(first, second, output), far if name in opposite else 0.5)
        for name, (first, second) in (opposite | rows).items()
        if min(output.shape(first.shape[1]), default=1) > 0
    )


def black_box(output: Output) -> Profile:
    """Return what an audit expects of a target that names no mechanism, for which no law is known."""
    pairs = (*common_pairs(output, dimensions=(1, 2, 3)), *black_box_pairs(output))
    # outputs of the kind "level" have finitely many values, so a correct target may give one output on many data sets
    return Profile(Form(output, repeats=output.kind == "level", names_a_law=False), (), lambda _: pairs)
