"""Run the questions of the audit that should reject a negative control."""

from dataclasses import replace

from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import Guarantee
from covassay.verification.audit.budget import decide
from covassay.verification.audit.engine.finding import Finding, Kind, Look, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.expected import seen
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.audit.options import AuditOptions
from covassay.verification.audit.question import Question, Subject
from covassay.verification.audit.questions import questions
from covassay.verification.audit.run import in_order
from covassay.verification.audit.targets.target import TargetReference
from covassay.verification.declared import default_claim
from tests.negative_controls.negative_control import NegativeControl

ALPHA = 1e-9
SAMPLES = 2000  # draws per data set


def claim_of(control: NegativeControl) -> Guarantee:
    """Return the privacy guarantee for which a negative control is audited."""
    return control.claim or default_claim(control.mechanism)


def subject_of(control: NegativeControl, seed: int = 0) -> Subject:
    """Return the negative control as the audit sees it: its settings, its claim and what is known of its mechanism."""
    declared, claim = mechanism(control.mechanism), claim_of(control)
    choices = declared.resolve(dict(control.options))
    knowledge = profile(declared.name, claim, choices, SAMPLES, seed)
    options = AuditOptions(seed=seed, stop_early=True)
    source = seen(TargetReference(f"mutant:{control.name}", "."), knowledge, options)
    setting = Setting(source, claim.keywords(), knowledge.form.output, seed, seconds=1.0)
    return Subject(setting, claim, knowledge, declared.name, declared.adjacency_of(choices), options, choices)


def caught(control: NegativeControl, kind: Kind, name: str) -> bool:
    """Return whether a check of the given kind has a finding with the given name whose status is `REFUTED` or `NOTED`.

    Each check has the whole false-alarm probability. The check with the given name runs first, and then all checks of
    the given kind. Some of these checks use results of checks of other kinds. If there is no finding yet, all checks of
    the given kind run again, together with the checks whose results they use.
    """
    asked = [question for question in in_order(questions()) if question.kind == kind]
    named = [question for question in asked if question.name == name]
    if named and _caught(named, control, kind, name):
        return True
    read = {facts for question in asked for facts in question.reads}
    helped = [question for question in in_order(questions()) if question.kind == kind or read & set(question.gives)]
    return _caught(asked, control, kind, name) or (helped != asked and _caught(helped, control, kind, name))


def _caught(asked: list[Question], control: NegativeControl, kind: Kind, name: str) -> bool:
    subject = subject_of(control)
    applying = [question for question in asked if not question.applies(subject)]
    first = [(question, _look(question, subject)) for question in applying]
    second = [
        (question, replace(look, name="second look", samples=SAMPLES * question.second_look))
        for question, look in first
        if question.second_look
    ]
    return any(_rejects(*one, subject, name) and one[0].kind == kind for one in first + second)


def _look(question: Question, subject: Subject) -> Look:
    # A privacy question may end once it refutes one pair of data sets. Betting tests are left out, because the names of
    # their findings are not the names for which `caught` searches.
    one_is_enough = question.kind == "privacy"
    return Look("first look", SAMPLES, ALPHA, question.most_tests(subject), stop_early=one_is_enough, bets=False)


def _rejects(question: Question, look: Look, subject: Subject, name: str) -> bool:
    found: list[Finding] = decide(question.asked(subject, look), look)
    subject.findings += found
    return any(f.name == name and f.status in (Status.REFUTED, Status.NOTED) for f in found)
