"""Run an audit from Python.

The function `audit` finds out how to call the target, looks up its mechanism, and runs the questions.
"""

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from covassay.reference.domain import Box
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.budget import ErrorBudget
from covassay.verification.audit.engine.contract import require_answer
from covassay.verification.audit.engine.facts import Bits, Explanation
from covassay.verification.audit.engine.finding import Finding, Verdict
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.store import opened
from covassay.verification.audit.engine.user_data import UserData
from covassay.verification.audit.engine.user_pair import UserPair
from covassay.verification.audit.expected import (
    as_called_for,
    as_stated_by,
    claim_of,
    expected_of,
    identity_of,
    neighbours_of,
    notes_of,
    seen,
    with_kind,
    with_pair,
)
from covassay.verification.audit.options import (
    FALSE_ALARM,
    OPTIONS,
    SAMPLES,
    SCOPES,
    AuditOptions,
    replay_command,
    require_keywords,
)
from covassay.verification.audit.question import Subject
from covassay.verification.audit.questions import questions
from covassay.verification.audit.questions.bits import low_order_bits
from covassay.verification.audit.questions.law.law_that_fits_instead import FittingLaw
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.run import ask, verdict
from covassay.verification.audit.targets.bounds import BOUNDS, takes_bounds
from covassay.verification.audit.targets.process_state import random_states_put_back
from covassay.verification.audit.targets.target import TIME_LIMIT, TargetSource, as_source, load, stopped
from covassay.verification.audit.targets.whereabouts import whereabouts
from covassay.verification.statistics.streams import Progress, no_progress, watching


def audit(
    target: TargetSource | Callable[..., Any] | str,
    mechanism: str | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    options: Mapping[str, Any] | None = None,
    released: str | None = None,
    call: str | None = None,
    public: str | None = None,
    data: UserData | str | None = None,
    pair: UserPair | tuple[Any, Any] | str | None = None,
    bounds: Iterable[Any] | Box | str | None = None,
    equivariant: bool = False,
    adjacency: str | None = None,
    scope: str | None = None,
    quick: bool = False,
    samples: int = SAMPLES,
    seed: int = 0,
    unseeded: bool = False,
    jobs: int | None = None,
    checkpoint: str | None = None,
    false_alarm: float = FALSE_ALARM,
    time_limit: float = TIME_LIMIT,
    stop_early: bool = False,
    progress: Progress = no_progress,
    **unknown: Any,
) -> AuditReport:
    """Look for a violation in a target; finding none is not a certificate.

    >>> import numpy as np
    >>> def release(x, *, epsilon, rng):  # too little noise by far
    ...     return x.T @ x / len(x) + 0.01 * rng.laplace(size=(x.shape[1],) * 2)
    >>> report = audit(release, epsilon=1, samples=200)
    >>> report.verdict.value, sorted({check.kind for check in report.refuted})
    ('REFUTED', ['privacy'])
    >>> audit("covassay:gauss-cov", rho=0.5, samples=100).verdict.value
    'NOT REFUTED'

    Parameters
    ----------
    target : a function f(x, *, epsilon, rng), the name of a target such as "covassay:nuclear-laplace" or
        "module:function", a `Target`, or a `TargetReference`. If a function has another signature, the audit finds out
        from the names of its parameters how to call it.
    mechanism : the mechanism that the target claims to be (covassay mechanisms lists them); by default the one that the
        target states, and if it states none, only the contract and the privacy are tested.
    epsilon : the claimed ε (default: 1 for pure and approximate DP).
    delta : the claimed δ (default: 1e-6 for approximate DP).
    rho : the claimed ρ of zCDP (default: 0.5).
    options : choices and parameters of the mechanism (covassay mechanisms NAME lists them), such as calibration=tight;
        on the command line one for each --options, in Python a dictionary.
    released : the kind of output, if no mechanism is named (default: found by trying).
    call : how the function is called, such as 'f(x, eps=epsilon, random_state=seed)[0]'.
    public : parts of the returned value that are documented as public, such as 'n_clipped_,bounds_', so that they may
        depend on the data without noise.
    data : a data set of your own, on which the target is tried as well: a .csv, .npy or .parquet file, or wine, digits,
        breast-cancer.
    pair : a pair of neighbouring data sets of your own, which is tested as well: a .npz or .json file with x and y, or
        in Python (x, y).
    bounds : public bounds of the columns: LOW:HIGH,LOW:HIGH,… or a .toml or .json file; in Python also a pair (low,
        high) for every column, or (minima, maxima), where a two-by-two array is read as two pairs.
    equivariant : with bounds: the target promises to treat all columns alike, up to scale.
    adjacency : which data sets are neighbours (default: what the mechanism says, or replace-one).
    scope : real: the verdict is about real arithmetic alone, and faults of low-order bits are only reported. bits: the
        verdict is also about low-order bits, for which more draws are made (default: bits for mechanisms that release
        integers, unless the audit is quick; real for all others).
    quick : run only the checks that need few draws. They test the contract, the data path (for a named mechanism that
        adds noise to a query), and the exact loss from recorded draws. The audit is inconclusive if none of
        these checks gives an exact result or a p-value.
    samples : number of draws on each data set; some checks use a multiple of it.
    seed : the seed of all randomness of the audit.
    unseeded : the target draws from the operating system, so equal generators need not give equal outputs.
    jobs : number of parallel workers, on which the results do not depend (default on the command line: one for every
        processor; in Python: what joblib.parallel_config says, or 1).
    checkpoint : a file in which the draws are stored; if a run is interrupted, the same command continues it.
    false_alarm : the largest probability that a target which keeps its promises is refuted.
    time_limit : seconds that one draw may take.
    stop_early : leave out checks after an overwhelming refutation, and those that only add notes; the verdict is the
        same.
    progress : a function that is called with the label of a check and the number of draws, while draws are made.
    unknown : not used; a keyword of an earlier version raises `InvalidInput`, which names its replacement.

    Raises
    ------
    InvalidInput : an argument breaks its rule.
    CannotRun : the target cannot be loaded.
    """
    given = locals()
    require_keywords(unknown)
    return audited(target, AuditOptions(**{option.name: given[option.name] for option in OPTIONS if option.python}))


# Python binds the name of the package `covassay.verification.audit` to this function (see `covassay.verification`)
audit.__dict__ = vars(sys.modules["covassay.verification.audit"])


def audited(
    source: TargetSource | Callable[..., Any] | str,
    options: AuditOptions,
    claim: Guarantee | None = None,
    told: Callable[[Sequence[Finding]], None] = lambda found: None,
) -> AuditReport:
    """Run an audit with these options.

    The argument `claim` is the claim of the target if it is already known. The function `told` is called after every
    check, with all findings so far.
    """
    watch = watching(options.progress)
    heard = stopped.set(lambda seconds: watch.stopped(seconds) if seconds >= options.time_limit else None)
    try:
        return _audited(source, replace(options, progress=watch), claim, told)
    finally:
        stopped.reset(heard)


def _audited(
    source: TargetSource | Callable[..., Any] | str,
    options: AuditOptions,
    claim: Guarantee | None,
    told: Callable[[Sequence[Finding]], None],
) -> AuditReport:
    start = time.monotonic()
    guarantee = claim_of(source, options) if claim is None else claim
    origin = as_called_for(source, guarantee, options)
    target = load(origin)
    options = as_stated_by(target, options)
    budget: dict[str, Any] = dict(guarantee.keywords())
    # if a mechanism is named, its profile already contains the bounds of the rows
    named = (options.mechanism or target.mechanism) is not None
    if options.bounds is not None and takes_bounds(target) and not named:
        budget[BOUNDS] = options.bounds.bounds
    options, kind = with_kind(origin, target, budget, options)
    name, resolved, known = expected_of(target, guarantee, options)
    neighbours = neighbours_of(name, resolved, options)
    source = seen(origin, known, options)
    expected = with_pair(known, options.pair, neighbours, options.bounds)
    setting = Setting(
        source, budget, expected.form.output, options.seed, options.jobs, options.time_limit,
        watching(options.progress), box=None if named else options.bounds,
    )  # fmt: skip
    subject = Subject(setting, guarantee, expected, name, neighbours, options, resolved)
    budget_of_errors = ErrorBudget(options.false_alarm)
    with ExitStack() as held:
        if options.checkpoint is not None:
            identity = identity_of(origin, target, options.stated(origin, guarantee))
            store = held.enter_context(opened(Path(options.checkpoint), identity))
            subject.setting = replace(setting, store=store)
        held.enter_context(random_states_put_back())
        require_answer(setting)
        ask(questions(), subject, budget_of_errors, lambda question, found: told(subject.findings))
    explained = [f.facts for f in subject.findings if isinstance(f.facts, Explanation)]
    return AuditReport(
        target=target.name,
        version=target.version,
        mechanism=name,
        options=resolved,
        claim=guarantee,
        adjacency=neighbours,
        verdict=verdict(subject.findings, bits=subject.scope == SCOPES[1]),
        checks=tuple(f for f in subject.findings if not isinstance(f.facts, Explanation)),
        diagnoses=tuple(facts.sentence for facts in explained if not isinstance(facts, FittingLaw)),
        seed=options.seed,
        samples=options.samples,
        false_alarm=options.false_alarm,
        seconds=time.monotonic() - start,
        replay=replay_command(origin, guarantee, options),
        draws=setting.tally.draws,
        failures=dict(setting.tally.failures),
        notes=(
            *target.notes,
            *kind,
            *notes_of(target, name),
            *([expected.data_path.stated] if expected.data_path else []),
        ),
        scope=subject.scope,
        settings=options.stated(origin, guarantee).plain(),
        budget=tuple(budget_of_errors.spent),
        found_at=whereabouts(origin, target),
    )


class BitsFound(NamedTuple):
    """The findings of one audit on low-order bits: one finding for every pair, and one for all pairs together."""

    checks: tuple[Finding, ...]

    @property
    def facts(self) -> Bits:
        """Return the result for all pairs together, such as the verdict and the proven loss."""
        return next((f.facts for f in self.checks if isinstance(f.facts, Bits)), Bits("INCONCLUSIVE", "", "", 0))

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on low-order bits, without the other findings of an audit."""
        return Verdict(self.facts.verdict)


def audit_bits(
    source: TargetSource | str, guarantee: Guarantee, *, samples: int = SAMPLES, seed: int = 0, scope: str = "bits"
) -> BitsFound:
    """Ask only the question about low-order bits, and return its findings. The draws are those that `audit` makes for
    this question with the same arguments.
    """
    origin = as_source(source)
    target = load(origin)
    options = as_stated_by(target, AuditOptions(samples=samples, seed=seed, scope=scope))
    name, resolved, expected = expected_of(target, guarantee, options)
    neighbours = neighbours_of(name, resolved, options)
    setting = Setting(seen(origin, expected, options), dict(guarantee.keywords()), expected.form.output, seed)
    subject = Subject(setting, guarantee, expected, name, neighbours, options, resolved)
    with random_states_put_back():
        ask([low_order_bits.QUESTION], subject, ErrorBudget(options.false_alarm))
    return BitsFound(tuple(subject.findings))
