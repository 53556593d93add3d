"""Explain the findings of an audit. Possible explanations are outputs that vary around a wrong centre, a known wrong
law that fits the outputs, misplaced entries of the output, and a claim for another adjacency.
"""

from covassay.reference.box_sensitivity import one_signed
from covassay.verification.audit.engine.adjacency import REPLACE_ONE, explained
from covassay.verification.audit.engine.columns import COVARIANCE
from covassay.verification.audit.engine.facts import Bits, Explanation, LawTest, TestedEvent
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.engine.law import fits
from covassay.verification.audit.engine.location import Location
from covassay.verification.audit.knowledge.adjacency import explained_by_adjacency
from covassay.verification.audit.knowledge.shared.centres import location
from covassay.verification.audit.question import Question, Subject
from covassay.verification.audit.questions.law.columns import Entries
from covassay.verification.audit.questions.law.law_that_fits_instead import FittingLaw, suspects_that_fit


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Return the explanations of the audit's findings. Each explanation is a finding with the status NOTED."""
    real = [f for f in subject.findings if f.status is Status.REFUTED and f.kind != "bits"]
    bits = [f for f in subject.findings if f.kind == "bits"]
    sentences = [*_laws(subject), *_entries(subject), _other_neighbours(subject, real) if real else ""]
    if not any(sentences):
        sentences = [explained(bits, subject.claim, subject.adjacency)]
    return [
        Finding("privacy", "explanation", Status.NOTED, text, facts=Explanation(text))
        for text in dict.fromkeys(text for text in sentences if text)
    ]


def _laws(subject: Subject) -> list[str]:
    """Return sentences that name the wrong laws that fit the outputs. If the outputs vary around a wrong centre, the
    first sentence describes this centre, and the others name wrong laws that fit after the outputs are shifted to the
    right centre.
    """
    fitting = [facts.sentence for _, facts in subject.facts(FittingLaw)]
    in_ball = subject.setting.box is None and subject.options.adjacency in (None, REPLACE_ONE)
    if not (in_ball and subject.refuted("data path", "law", "privacy")):
        return fitting
    centre = location(subject.setting, subject.known, subject.mechanism is not None)
    return fitting if centre is None else [centre.sentence, *_about(centre, subject)]


def _about(centre: Location, subject: Subject) -> list[str]:
    """Return sentences on the wrong laws that fit the outputs after the outputs are shifted to the right centre."""
    path = subject.known.data_path
    if path is None or path.query is None:
        return []
    still = {}
    for scenario in subject.known.scenarios:
        outputs = subject.outputs.get(scenario.name)
        if outputs is None:
            continue
        moved = outputs - (centre.at(scenario.x) - path.query(scenario.x))
        if not fits(scenario, moved):
            still[scenario.name] = moved
    return [f"about that centre, {suspect.explanation}" for suspect in suspects_that_fit(subject, still)]


def _entries(subject: Subject) -> list[str]:
    return [text for _, facts in subject.facts(Entries) for text in facts.misplaced] if subject.refuted() else []


def _other_neighbours(subject: Subject, refuted: list[Finding]) -> str:
    """Return a sentence if a claim for another adjacency would explain the findings, and otherwise an empty text.

    If both adjacencies require the same noise, a privacy loss above the claim is not explained by the other adjacency.
    """
    fitted = [facts.name for _, facts in subject.facts(FittingLaw)]
    other = explained_by_adjacency(subject.mechanism, fitted)
    # if the law of the mechanism is refuted, another adjacency explains the refutation only if the outputs fit the
    # noise scale that suffices for this adjacency
    moved = any(f.kind == "data path" for f in refuted)  # a wrong query is wrong for every adjacency
    covariance = any(facts.query.startswith(COVARIANCE) for _, facts in subject.facts(Entries))
    box = subject.setting.box
    same_noise_needed = box is not None and (covariance or one_signed(box))
    if other or moved or subject.refuted("law") or (same_noise_needed and subject.adjacency == REPLACE_ONE):
        return other
    return explained(refuted, subject.claim, subject.adjacency)


def _spared(subject: Subject) -> str:
    shown = subject.refuted() or any(f.kind == "bits" and isinstance(f.facts, TestedEvent) for f in subject.findings)
    return "" if shown else "there is nothing to explain"


QUESTION = Question(
    name="what explains it",
    kind="privacy",
    asks="What would explain the findings?",
    blind_to="mistakes that are not among the suspects",
    ask=ask,
    spared=_spared,
    reads=(LawTest, TestedEvent, FittingLaw, Entries, Bits),
    gives=(Explanation,),
    cost=9,
)
