"""Run an audit, which selects and orders the questions, sets their levels, and derives the verdict.

A first look asks every question that applies to the target. If the first look refutes nothing, suspicious findings get
a second look, on more and fresh draws. The false-alarm levels of both looks are reserved before the first draw. This
module names no single question. It uses only what each `Question` declares, such as its cost and the facts it reads.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from covassay.verification.audit.budget import ErrorBudget, decide
from covassay.verification.audit.engine.finding import Finding, Look, Status, Verdict
from covassay.verification.audit.question import NOT_QUICK, Question, Subject

LOOKS = ("first look", "second look")
EARLY = "the audit ended early, because something is refuted"
Told = Callable[[Question, Sequence[Finding]], None]


def in_order(questions: Iterable[Question]) -> list[Question]:
    """Return the questions of an audit in the order in which they are asked.

    A question comes after the questions that give the facts that it reads. Among the questions that can come next, the
    cheapest comes first.
    """
    waiting, ordered = sorted(questions, key=lambda q: (q.cost, q.id)), list[Question]()
    while waiting:
        ready = (q for q in waiting if not any(set(q.reads) & set(p.gives) for p in waiting if p is not q))
        found = next(ready, None)
        if found is None:
            raise ValueError(f"questions that need the facts of one another: {', '.join(q.id for q in waiting)}")
        waiting.remove(found)
        ordered.append(found)
    return ordered


def plan(question: Question, subject: Subject, budget: ErrorBudget) -> tuple[Look, ...]:
    """Return the planned rounds of draws of a question, each with the false-alarm level that is reserved for it."""
    tests, options = question.most_tests(subject), subject.options
    looks = LOOKS if question.second_look else LOOKS[:1]
    planned = []
    for name in looks:
        level = budget.spend(question.id, name, question.share / len(looks), tests) if question.share else 0.0
        factor = 1 if name == LOOKS[0] else question.second_look
        planned.append(Look(name, options.samples * factor, level, tests, stop_early=options.stop_early))
    return tuple(planned)


def ask(questions: Iterable[Question], subject: Subject, budget: ErrorBudget, told: Told = lambda q, f: None) -> None:
    """Ask the questions in their order, and leave the findings, with their status, in `subject.findings`.

    `told` is called with every question that was asked and its findings.
    """
    ordered = in_order(questions)
    reasons = {q.id: _why_not(q, subject) for q in ordered}
    looks = {q.id: plan(q, subject, budget) for q in ordered if not reasons[q.id]}
    progress = subject.setting.progress
    progress.plan({q.id: q.expected_draws(subject, looks[q.id][0]) for q in ordered if q.id in looks})
    for question in ordered:
        reason = reasons[question.id] or question.spared(subject)
        if not reason and subject.options.stop_early and subject.refuted() and question.share:
            reason = EARLY
        if reason:
            subject.findings.append(question.skipped(reason))
            if question.id in looks:
                progress.done(question.id, 0)
            continue
        _look(question, subject, looks[question.id][0], told)
    if not subject.refuted():
        _look_again(ordered, subject, looks, told)


def _why_not(question: Question, subject: Subject) -> str:
    """Return the reason why a question is not asked about this subject; return "" if the question is asked."""
    return question.applies(subject) or (NOT_QUICK if subject.options.quick and not question.quick else "")


def _look_again(ordered: list[Question], subject: Subject, looks: dict[str, tuple[Look, ...]], told: Told) -> None:
    """Ask questions again on more draws if more draws may refute one of their findings.

    If a question is asked again, the questions that read its facts are also asked again, unless they have a share of
    the false-alarm budget.
    """
    renewed: set[type] = set()
    for question in ordered:
        planned = looks.get(question.id, ())
        found = [f for f in subject.findings if f.question == question.id]
        scenarios = {f.scenario for f in found if _worth_more_draws(f, question)}
        if scenarios and len(planned) > 1:
            again = replace(planned[1], again=frozenset(scenarios))
            subject.setting.progress.plan({_part(question, again): question.expected_draws(subject, again)})
            _look(question, subject, again, told)
            renewed |= set(question.gives)
        elif planned and renewed & set(question.reads) and not question.share:
            _look(question, subject, planned[0], told)


def _worth_more_draws(finding: Finding, question: Question) -> bool:
    """Return whether more draws may refute a finding that the first look did not refute."""
    if finding.status not in (Status.NOT_REFUTED, Status.SUSPICIOUS):
        return False
    return finding.promising or (finding.p_value is not None and finding.p_value < question.second_look_below)


def _look(question: Question, subject: Subject, look: Look, told: Told) -> None:
    """Ask one question. The new findings of the question replace its earlier findings on the same data sets."""
    found = decide(question.asked(subject, look), look)
    asked_again = {f.scenario for f in found} | (look.again or frozenset())
    subject.findings = [f for f in subject.findings if f.question != question.id or f.scenario not in asked_again]
    subject.findings += found
    subject.setting.progress.done(_part(question, look), len(found))
    told(question, found)


def _part(question: Question, look: Look) -> str:
    """Return the text that the progress display shows for a round of draws of a question.

    For the first round, the text is the id of the question.
    """
    return question.id if look.name == LOOKS[0] else f"{question.id}, {look.name}"


def verdict(findings: Iterable[Finding], bits: bool = False) -> Verdict:
    """Return REFUTED if any finding is refuted.

    If no finding is refuted, return INCONCLUSIVE if any is inconclusive, or if no finding has a p-value or is exact.

    Low-order bits count for the verdict only if `bits` is true.
    """
    counted = [f for f in findings if bits or f.kind != "bits"]
    statuses = {f.status for f in counted}
    if Status.REFUTED in statuses:
        return Verdict.REFUTED
    tested = any(f.p_value is not None or f.exact for f in counted)
    return Verdict.INCONCLUSIVE if Status.INCONCLUSIVE in statuses or not tested else Verdict.NOT_REFUTED
