"""Define which data sets are neighbours. If an audit finds a loss, decide whether a claim for the other definition of
neighbours explains it.

Under replace-one adjacency, two neighbours have the same public number of rows and differ in one row. Under add-remove
adjacency, one of two neighbours has one row more than the other. A claim is made for one of the two adjacencies, and
the audit tests it on neighbours of this kind. A violation under one adjacency need not be a violation under the other
adjacency.

- Replacing a row amounts to removing a row and adding another one, while n stays a public number. If adding or removing
  a row costs a loss of at most ε, replacing a row costs at most 2ε. A mechanism that is ρ-zCDP for adding or removing a
  row is 4ρ-zCDP for replacing one, and (ε, δ)-DP becomes (2ε, (1 + e^ε) δ)-DP.

- A mechanism whose noise depends on a public number of rows need not satisfy any guarantee for add-remove adjacency.
"""

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import Output
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.engine.events import Pair, generic_statistics
from covassay.verification.audit.engine.facts import TestedEvent
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.violation import p_value
from covassay.verification.statistics.ratio import EventCounts

REPLACE_ONE = "replace-one"
ADD_REMOVE = "add-remove"
# In `explained`, a p-value above this number does not count as evidence that the loss exceeds the other guarantee.
ALLOWED = 1e-3
FEWEST_ROWS = 3  # the larger data set has at least this many rows, because a covariance of one row does not exist


def with_adjacency(pairs: Iterable[Pair], adjacency: str, output: Output) -> tuple[Pair, ...]:
    """Turn pairs of data sets that differ in the last row into pairs of neighbours for this adjacency.

    Under add-remove adjacency, the first data set with and without its last row makes a pair of neighbours. The second
    data set with and without its last row makes another pair. This other pair is left out if its last row is zero, or
    has the same absolute values as the last row of the first data set.
    """
    if adjacency == REPLACE_ONE:
        return tuple(pairs)
    made: dict[str, Pair] = {}
    for pair in pairs:
        row, other = pair.first[-1], pair.second[-1]
        made[pair.name] = _coming_and_going(pair, pair.first, output)
        if other.any() and not np.allclose(np.abs(row), np.abs(other)):
            second = replace(pair, name=f"{pair.name}, the other row", weight=pair.weight / 2)
            made[second.name] = _coming_and_going(second, pair.second, output)
    return tuple(made.values())


def _coming_and_going(pair: Pair, whole: Matrix, output: Output) -> Pair:
    """Return the data set `whole` with and without its last row. If there are too few other rows, they are repeated; if
    there are none, they are zero.
    """
    others = np.resize(whole[:-1], (max(len(whole), FEWEST_ROWS) - 1, whole.shape[1])) if len(whole) > 1 else None
    others = np.zeros((FEWEST_ROWS - 1, whole.shape[1])) if others is None else others
    first = np.vstack([others, whole[-1:]])
    statistics = tuple(s for s in pair.statistics if s.threshold is None)
    return replace(
        pair,
        name=f"{pair.name}, the last row comes and goes",
        first=first,
        second=others,
        statistics=(*statistics, *generic_statistics(first, others, output)),
    )


def two_steps(guarantee: Guarantee) -> Guarantee:
    """Return the guarantee for replacing a row that follows from a guarantee for adding or removing one."""
    if isinstance(guarantee, PureDP):
        return PureDP(2 * guarantee.epsilon)
    if isinstance(guarantee, ZCDP):
        return ZCDP(4 * guarantee.rho)
    delta = (1 + math.exp(guarantee.epsilon)) * guarantee.delta
    return ApproximateDP(2 * guarantee.epsilon, delta) if delta < 1 else guarantee


def explained(checks: Iterable[Finding], guarantee: Guarantee, adjacency: str) -> str:
    """Return a sentence if a claim for the other adjacency could explain every loss that the audit found, and otherwise
    an empty text.
    """
    shown = [check for check in checks if check.kind in ("privacy", "bits") and check.status is Status.REFUTED]
    if not shown:
        return ""
    if adjacency == ADD_REMOVE:
        return (
            "the neighbours of this audit differ in their number of rows. If the noise depends on n as a public "
            "number, such a loss is possible although a claim for replace-one adjacency is true. This audit did not "
            "test such a claim"
        )
    wider = two_steps(guarantee)
    if wider == guarantee or not all(_allowed(check, wider) for check in shown):
        return ""
    return (
        f"a claim of {guarantee} for adding or removing one row, with n public, implies {wider} for replacing a row. "
        f"The loss shown is within {wider}: add-remove adjacency could explain it. The claim audited here is "
        "replace-one"
    )


def _allowed(check: Finding, wider: Guarantee) -> bool:
    """Return whether the loss in the finding `check` is compatible with the guarantee `wider`, which is for replacing a
    row.
    """
    facts = check.fact(TestedEvent)
    if facts is None:
        return check.facts is not None and check.facts.allowed_by(wider)
    if facts.p_of_two_steps is not None and facts.p_of_two_steps <= ALLOWED:
        return False
    (first, second), (first_n, second_n) = facts.counts, facts.draws
    return p_value(EventCounts(first, second, first_n, second_n, max(first_n, second_n, 1)), wider) > ALLOWED
