"""Compare the noise of a target at many privacy budgets with its noise at the claimed budget, under equal seeds.

A function that takes its privacy budget as an argument promises a correct mechanism at every budget. The noise may be
correct at the claimed budget and wrong at others. For instance, the function may double a small ρ, or use a wrong
formula for ε > 1. The residual is the output minus the query. Under one seed, the residual of a correct target is
proportional to the noise scale, which the reference computes for each budget. If a few seeds are used at the claimed
budget and again at other budgets, a wrong scale therefore shows exactly, and sampling error plays no role.

If the outputs of a target are the same at every budget, the target ignores its budget. The report notes this, but the
claim is not refuted, because the code that calls the target may use a fixed budget on purpose. If the noise at another
budget is larger than necessary, but otherwise correct, the report mentions this and does not refute the claim. For
instance, a cautious function may never use more than a certain budget, and then adds more noise than the given budget
requires. A budget that the mechanism rejects is not tried, because the mechanism promises nothing at this budget.

If a target uses random numbers differently at another budget, 200 of its draws are compared with draws of the reference
at that budget. If a mechanism does not add noise to a query, the module `kinds_of_data` compares draws of the target
with draws of the reference at a few other budgets.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.privacy import ApproximateDP, Guarantee, guarantee_of
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.kinds_of_data import AtBudget, Beside
from covassay.verification.audit.engine.same_noise import CONFIRMATION, DataPath, least_p, moved
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.zoo import zoo
from covassay.verification.audit.targets.target import Failure
from covassay.verification.statistics.streams import stream

NAME = "same noise, other budget"
# values of ε or ρ, each at most 1.5 times the value before; a formula may treat round numbers specially
LOSSES = (
    0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7,
    0.75, 0.8, 0.9, 1.0, 1.1, 1.2, 1.25, 1.4, 1.5, 1.7, 1.9, 2.0, 2.2, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0,
    10.0, 11.0, 12.0, 14.0, 15.0, 17.0, 20.0,
)  # fmt: skip
FEW_LOSSES = 0.01, 0.05, 0.2, 0.7, 1.7, 4.0, 20.0  # the values of ε or ρ for checks that make many draws at each
DELTAS = 1e-3, 1e-5, 1e-8, 1e-12
NEAR = 0.1  # a budget whose relative difference from the claim is less than this is not tried
COMPARED_SHAPES = (12, 3), (1, 2)
# the number of seeds if an output is one number, and if it is several numbers;
# with so many seeds, no factor or shift fits all residuals by chance
SEEDS, FEW_SEEDS = 8, 3
# a noise scale that is solved for numerically, or computed in float32, has a smaller relative error than this
SLACK = 0.01
FIT = 1e-6  # one factor, or one shift, must explain all residuals up to this relative error
CONFIRMATIONS = (
    4  # if neither a factor nor a shift fits, many draws are compared; this is done at this many budgets at most
)
# for mechanisms that do not add noise to a query, data sets have r/ε or r/√ρ rows for each number r in `ROWS`, but not
# fewer than `FEWEST_ROWS` and not more than `MOST_ROWS`
ROWS, FEWEST_ROWS, MOST_ROWS = (6.0, 40.0), 4, 4000
NAMED = 5  # if several budgets share a finding, at most this many budgets are named one by one
REFUSED = "the mechanism refuses it"
CATEGORY = "rows along two axes"  # the first axis has twice as many rows as the others, so that the eigenvalues differ

# a function that takes a budget; it returns how outputs at this budget depend on the data, and the draws of the
# reference at this budget
Reference = Callable[[Guarantee], tuple[DataPath, Beside]]


def other_guarantees(guarantee: Guarantee, losses: Sequence[float] = LOSSES) -> dict[str, list[Guarantee]]:
    """For every keyword of the budget, such as `epsilon` or `delta`, return a list of guarantees. Each guarantee
    differs from the claim only in the value of this keyword. The relative difference from the claimed value is above
    `NEAR`.
    """
    found = {}
    for name, value in guarantee.keywords().items():
        grid = DELTAS if name == "delta" else losses
        found[name] = [guarantee_of(guarantee.keywords() | {name: v}) for v in grid if abs(v / value - 1) > NEAR]
    return found


def accepted_guarantees(
    guarantee: Guarantee, reference: Reference, losses: Sequence[float] = LOSSES
) -> dict[str, list[Guarantee]]:
    """Return the other guarantees that the mechanism accepts; a mechanism whose formula holds up to ε = 1 rejects
    larger budgets.
    """
    return {
        name: [other for other in others if _accepts(reference, other)]
        for name, others in other_guarantees(guarantee, losses).items()
    }


def _accepts(reference: Reference, guarantee: Guarantee) -> bool:
    try:
        reference(guarantee)
    except InvalidInput:
        return False
    return True


def words(guarantee: Guarantee) -> str:
    """Return the budget of a guarantee in words, such as ε = 0.05."""
    letter = "ρ" if "rho" in guarantee.keywords() else "ε"
    loss = guarantee.keywords().get("rho", guarantee.keywords().get("epsilon"))
    return f"{letter} = {loss:g}" + (f", δ = {guarantee.delta:g}" if isinstance(guarantee, ApproximateDP) else "")


def _outputs(
    setting: Setting, x: Matrix, guarantee: Guarantee, seeds: int, label: str = "other budget"
) -> Matrix | Failure:
    """Return one output for every seed at a budget, or the first failure among the draws."""
    outputs = []
    for seed in range(seeds):
        rng = np.random.default_rng(stream(setting.seed, label, x.shape[1], seed))
        outcome = setting.one(x, rng, budget=setting.budget | guarantee.keywords())
        if isinstance(outcome, Failure):
            return outcome
        outputs.append(outcome)
    return np.array(outputs)


def budgets_that_are_read(
    setting: Setting, guarantee: Guarantee, accepted: dict[str, list[Guarantee]], smallest_dimension: int
) -> dict[str, bool]:
    """Return, for each keyword of the target's budget, whether its value changes the outputs of the target.

    The result is empty if a draw hangs, if a draw at the claimed budget fails, or if one seed gives several outputs.
    """
    x = zoo(12, max(2, smallest_dimension), setting.seed)[0].x
    first, again = (_outputs(setting, x, guarantee, 3) for _ in range(2))
    if (
        not setting.target.seeded
        or isinstance(first, Failure)
        or isinstance(again, Failure)
        or not np.array_equal(first, again)
    ):
        return {}
    read = {}
    for name, others in accepted.items():
        read[name] = False
        for other in others:
            found = _outputs(setting, x, other, 3)
            if isinstance(found, Failure) and found.kind == "time-out":
                return {}
            read[name] = read[name] or isinstance(found, Failure) or not np.array_equal(found, first)
    return read


def at_other_budgets(setting: Setting, guarantee: Guarantee, reference: Reference, beside: Beside) -> Beside:
    """Return a copy of `beside` whose field `budgets` lists other budgets. At these budgets, draws of the target are to
    be compared with draws of the reference. The values of a keyword that the target ignores are left out.
    """
    accepted = accepted_guarantees(guarantee, reference, FEW_LOSSES)
    read = budgets_that_are_read(setting, guarantee, accepted, beside.smallest_dimension)
    others = [other for name, of_name in accepted.items() if read.get(name) for other in of_name]
    d = max(2, beside.smallest_dimension)
    budgets = [
        AtBudget(words(other), setting.budget | other.keywords(), reference(other)[1].draws, x)
        for other in others
        for x in _data_sets(setting, other, d)
    ]
    return replace(beside, budgets=tuple(budgets))


def _data_sets(setting: Setting, guarantee: Guarantee, d: int) -> list[Matrix]:
    """Return data on which the query and the noise of a mechanism with this budget have comparable sizes."""
    budget = guarantee.keywords()
    unit = budget["rho"] ** 0.5 if "rho" in budget else budget["epsilon"]
    sizes = dict.fromkeys(round(min(max(rows / unit, FEWEST_ROWS), MOST_ROWS)) for rows in ROWS)
    return [zoo(n, d, setting.seed, (CATEGORY,))[0].x for n in sizes]


@dataclass
class _Compared:
    """The draws of one audit at other budgets, and their results."""

    setting: Setting
    guarantee: Guarantee
    reference: Reference
    alpha: float
    tried: int = 0
    changed: dict[str, str] = field(default_factory=dict)  # a sentence for each budget says how the noise differs
    # a sentence for each budget at which the noise is larger than necessary, but otherwise correct
    larger: dict[str, str] = field(default_factory=dict)
    unproven: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    def compare(self, others: Sequence[Guarantee]) -> None:
        """Compare the noise at other budgets with that at the claimed budget, and note where its size differs."""
        path, _ = self.reference(self.guarantee)
        for n, d in COMPARED_SHAPES:
            x = zoo(n, max(d, path.smallest_dimension), self.setting.seed)[0].x
            usual = self._units(x, self.guarantee)
            if isinstance(usual, str):
                self.left_out[words(self.guarantee)] = usual
                continue
            for other in others:
                units = self._units(x, other)
                if isinstance(units, str):
                    self.left_out[words(other)] = units
                elif np.abs(units - usual).max() > SLACK * np.abs(usual).max():
                    self._sort(x, other, units, usual)

    def _sort(self, x: Matrix, other: Guarantee, units: Matrix, usual: Matrix) -> None:
        """Record how the noise at this budget differs from the usual noise. A noise that is only larger by a factor is
        recorded in `larger`, another proven difference in `changed`, and a difference that is not proven in `unproven`.
        """
        size = float(np.abs(usual).max())
        factor = float(np.linalg.norm(units) / np.linalg.norm(usual))
        if factor > 1 and np.abs(units - factor * usual).max() <= FIT * factor * size:
            self.larger[words(other)] = f"the noise is {factor:.4g} times as large"
            return
        what = moved(units, usual, FIT * size) or self._confirmed(x, other)
        (self.changed if what else self.unproven)[words(other)] = what

    def _units(self, x: Matrix, guarantee: Guarantee) -> Matrix | str:
        """Return the residuals of all seeds divided by the reference's scale at this budget, or a text that says why
        there are no residuals.
        """
        seeds = SEEDS if self.setting.shape(x) in ((), (1,)) else FEW_SEEDS
        outputs = _outputs(self.setting, x, guarantee, seeds)
        if isinstance(outputs, Failure):
            return f"the target: {outputs}"
        path, _ = self.reference(guarantee)
        assert path.query is not None
        assert path.scale is not None
        try:
            query, scale = path.query(x), path.scale(*x.shape)
        except InvalidInput:
            return "the reference rejects it"
        return np.asarray((outputs - query) / scale) if scale > 0 else "its scale has no unit"

    def _confirmed(self, x: Matrix, guarantee: Guarantee) -> str:
        """Return how the target's law differs from the reference's at this budget, or an empty text if the draws prove
        no difference.
        """
        self.tried += 1
        if self.tried > CONFIRMATIONS:
            return ""
        path, beside = self.reference(guarantee)
        assert path.query is not None
        rng = np.random.default_rng(stream(self.setting.seed, "other budget", "reference", words(guarantee)))
        query = path.query(x)
        theirs = beside.draws(x, CONFIRMATION, rng) - query
        # the draws under the usual seeds chose this budget, so the test uses other seeds
        fresh = f"other budget/{words(guarantee)}/confirmation"
        outputs = _outputs(self.setting, x, guarantee, CONFIRMATION, fresh)
        if isinstance(outputs, Failure):
            return ""
        p = least_p(outputs - query, theirs, np.ones(query.shape))
        if p >= self.alpha / CONFIRMATIONS:
            return ""
        return f"the noise has another law than the reference's ({CONFIRMATION} draws each, p = {p:.2g})"

    def result(self, number: int) -> Finding:
        """Return the finding on the other budgets; `number` counts all of them, even if they were not compared."""
        if self.changed:
            detail = f"under one seed, the noise divided by its claimed scale differs: {_listed(self.changed)}"
            return _result(Status.REFUTED, f"{detail}. The claim is {words(self.guarantee)}")
        alike = number - len({*self.larger, *self.unproven, *self.left_out})
        detail = f"under one seed, the noise divided by its claimed scale is the same at {alike} other budgets"
        if self.larger:
            detail += f". More noise than the mechanism needs: {_listed(self.larger)}"
        if self.unproven:
            detail += (
                f". At {_several([*self.unproven])}, the target uses its random numbers in another way, and its law "
                "was not proven to be wrong"
            )
        if self.left_out:
            detail += f". Not compared: {_listed(self.left_out)}"
        return _result(Status.NOTED if self.unproven or self.larger else Status.NOT_REFUTED, detail)


def other_budgets(
    setting: Setting, guarantee: Guarantee, reference: Reference | None, path: DataPath | None, alpha: float
) -> list[Finding]:
    """Compare the noise at other budgets with the noise at the claimed budget, under equal seeds.

    The noise is not compared if the mechanism adds no noise to a query, because the output then has no residual. The
    noise is also not compared if its values lie on a lattice. Equal seeds then do not give noise in proportion to the
    scale.
    """
    if reference is None or path is None:
        return []
    accepted = accepted_guarantees(guarantee, reference)
    read = budgets_that_are_read(setting, guarantee, accepted, path.smallest_dimension)
    unread = [name for name, is_read in read.items() if not is_read]
    if unread:
        return [
            _result(Status.NOTED, f"the output does not depend on {' or '.join(unread)}, so no other budget was tried")
        ]
    if path.query is None or path.atom > 0:
        return []
    if not read:
        return [_result(Status.SKIPPED, "equal seeds give different outputs, or a draw failed or took too long")]
    compared = _Compared(setting, guarantee, reference, alpha)
    others = [other for of_name in accepted.values() for other in of_name]
    refused = [other for of_name in other_guarantees(guarantee).values() for other in of_name if other not in others]
    compared.left_out |= {words(other): REFUSED for other in refused}
    compared.compare(others)
    setting.progress(NAME, FEW_SEEDS * len(COMPARED_SHAPES) * len(others))
    return [compared.result(len(others) + len(refused))]


def _listed(found: dict[str, str]) -> str:
    """Return the differences as one text. Budgets at which the noise differs in the same way are listed together."""
    by_words: dict[str, list[str]] = {}
    for at, what in found.items():
        by_words.setdefault(what, []).append(at)
    items = [f"at {_several(at)} {what}" for what, at in by_words.items()]
    more = [f"and so on, up to {items[-1]}"] if len(items) > NAMED else []
    return "; ".join([*items[: NAMED - 1], *more] if more else items)


def _several(at: list[str]) -> str:
    return ", ".join(at) if len(at) <= NAMED else f"{len(at)} budgets from {at[0]} to {at[-1]}"


def _result(status: Status, detail: str) -> Finding:
    return Finding("data path", NAME, status, detail)
