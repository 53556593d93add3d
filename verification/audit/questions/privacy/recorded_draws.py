"""Compute the privacy loss from runs with recorded random draws, on known neighbours and on the worst neighbours of a
search.

The computation is exact arithmetic up to a stated rounding error, and uses none of the false-alarm probability. If the
audit does not find how the output depends on the draws, it skips the question and says why.
"""

from collections.abc import Sequence

from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.engine.events import Pair, data_sets, generic_statistics
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.expected import seen
from covassay.verification.audit.question import Question, Subject
from covassay.verification.audit.recorded.allowance import Allowance
from covassay.verification.audit.recorded.exact_loss import ExactLoss, loss_of_pair
from covassay.verification.audit.recorded.facts import ExactLosses, loss_words, reported, told
from covassay.verification.audit.recorded.losses import Undecided
from covassay.verification.audit.recorded.recorder import Recorder, recorder
from covassay.verification.audit.recorded.search import SEARCHED_SHAPES, Found, Searched, rank, searched
from covassay.verification.audit.recorded.transcripts import TranscriptLoss, transcript_loss
from covassay.verification.audit.targets.process_target import is_process
from covassay.verification.audit.targets.target import as_source

NAME = "recorded draws"
CHECK = "exact loss"
UNRECORDED = "a process makes its draws where they cannot be recorded"
SEARCH = "search"
AIMED = "neighbours of a large loss by recorded draws"
SECONDS = 3.0  # a slow target gets this many seconds for all pairs together, and a fast target needs less time
SEARCHING = 0.8  # the search of neighbours uses at most this share of the time
EVALUATIONS = 0.15  # for each draw that the audit may make in a round, the search tries this many pairs of one shape
FEWEST = 40
SHORTEST = 0.05  # the least time that the search spends on a pair, in seconds


def recorder_of(setting: Setting) -> Recorder:
    """Return the recorder that runs the target on given random draws, with the primitives that its adapter declares."""
    target = setting.target
    return Recorder(target, setting.budget, target.primitives, setting.seconds)


def why_no_reference(subject: Subject) -> str:
    """Return why there is no reference to compare with, or an empty string if there is one."""
    if subject.mechanism is None:
        return "no mechanism is named, so there is no reference"
    return "" if subject.setting.box is None else "the rows lie in a box, but the reference is for other domains"


def reference_of(subject: Subject) -> Recorder:
    """Return the recorder of the reference for the claimed mechanism. The outputs of the reference are transformed in
    the same way as the outputs of the target.
    """
    assert subject.mechanism is not None
    declared = mechanism(subject.mechanism)
    drawn = seen(as_source(declared.sample), subject.known, subject.options)
    return recorder(drawn, {**subject.claim.keywords(), **subject.choices}, seconds=subject.setting.seconds)


def domain_of(subject: Subject) -> Searched:
    """Return the space in which neighbours are searched for this audit."""
    box = subject.setting.box
    shapes = tuple((n, d) for n, d in SEARCHED_SHAPES if d >= subject.known.form.smallest_dimension)
    return Searched(
        subject.adjacency, None if box is None else box.bounds, shapes, box is None and subject.known.domain == "cube"
    )


def search_of(subject: Subject, look: Look) -> Found:
    """Search for the neighbours with the largest privacy loss, and return one pair for each shape of the data."""
    most = max(FEWEST, round(EVALUATIONS * look.samples))
    setting = subject.setting
    made = recorder_of(setting)
    return searched(made, subject.claim, domain_of(subject), most, SEARCHING * SECONDS, setting.seed)


def on_known_pairs(subject: Subject, allowed: Allowance) -> list[tuple[str, ExactLoss]]:
    """Return the losses of the known pairs of neighbours by name, up to the first pair with a loss above the claim."""
    found: list[tuple[str, ExactLoss]] = []
    for pair in subject.known.pairs(frozenset()):
        left = allowed.left
        if left < SHORTEST or (found and found[-1][1].refuted):
            break
        setting = subject.setting.within(pair.box)
        bounds = None if setting.box is None else setting.box.bounds
        loss = loss_of_pair(
            recorder_of(setting), pair.first, pair.second, subject.claim, bounds=bounds, seed=setting.seed, seconds=left
        )
        found.append((pair.name, loss))
    return found


def transcripts(subject: Subject, losses: Sequence[ExactLoss]) -> list[TranscriptLoss | None]:
    """Return the privacy losses of the package's primitives on each pair, if the adapter declares primitives."""
    made = recorder_of(subject.setting)
    if not made.primitives:
        return [None] * len(losses)
    return [transcript_loss(made, *loss.pair, subject.setting.seed) for loss in losses]


def aimed(subject: Subject, losses: Sequence[ExactLoss], spent: Sequence[TranscriptLoss | None]) -> tuple[Pair, ...]:
    """Return the pair of neighbours on which a loss above the claim is suspected but not proven, if there is one.

    The audit then tests events of the public output on the suspected pair.
    """
    suspected = []
    for loss, transcript in zip(losses, spent, strict=True):
        size = max(-1.0 if loss.loss is None or loss.decided else loss.loss, _spent_in(subject, transcript))
        if size > loss.claimed:
            suspected.append((size, loss.pair))
    if not suspected:
        return ()
    first, second = max(suspected, key=lambda one: one[0])[1]
    return (Pair(AIMED, first, second, generic_statistics(first, second, subject.setting.output)),)


def _spent_in(subject: Subject, transcript: TranscriptLoss | None) -> float:
    if transcript is None or not transcript.spent:
        return -1.0
    try:
        return transcript.loss_in(subject.claim)
    except Undecided:
        return -1.0


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Compute the largest exact privacy loss, and return it as one finding."""
    named = on_known_pairs(subject, Allowance((1 - SEARCHING) * SECONDS))
    searched_pairs: tuple[ExactLoss, ...] = ()
    evaluations = 0
    if not any(loss.refuted for _, loss in named):
        found = search_of(subject, look)
        searched_pairs, evaluations = found.losses, found.evaluations
    named += [(f"{SEARCH}, n = {len(loss.pair[0])}, d = {loss.pair[0].shape[1]}", loss) for loss in searched_pairs]
    named.sort(key=lambda one: rank(one[1]), reverse=True)
    losses = [loss for _, loss in named]
    spent = transcripts(subject, losses)
    worst = losses[0]
    facts = ExactLosses(
        len(losses), sum(loss.decided for loss in losses), evaluations, data_sets(Pair("", *worst.pair, ())),
        tuple(reported(name, loss, one) for (name, loss), one in zip(named, spent, strict=True)),
        aimed(subject, losses, spent),
    )  # fmt: skip
    exact = worst.decided and all(loss.decided or not loss.answers for loss in searched_pairs)
    text = _sentence(named, evaluations) + _budget(subject, spent)
    return [Finding("privacy", CHECK, status_of(worst), text, facts=facts, data=worst.pair, exact=exact)]


def status_of(worst: ExactLoss) -> Status:
    """Return the status of the claim that follows from the largest loss."""
    if worst.refuted:
        return Status.REFUTED
    if worst.above:
        return Status.NOTED
    return Status.NOT_REFUTED if worst.decided else Status.SKIPPED


def _budget(subject: Subject, spent: Sequence[TranscriptLoss | None]) -> str:
    """Describe the losses of the single primitives on the pair with the largest total loss."""
    most = max(spent, key=lambda one: _spent_in(subject, one))
    if most is None or not most.spent:
        return ""
    together = _spent_in(subject, most)
    total = f" (sum: {together:.6g})" if together >= 0 else ""
    return (
        ". On the pair where the losses of the single functions that add noise have the largest sum, these losses are: "
        f"{most}{total}. The whole release may reveal less"
    )


def _sentence(named: Sequence[tuple[str, ExactLoss]], evaluations: int) -> str:
    losses = [loss for _, loss in named]
    where, worst = named[0]
    reasons = dict.fromkeys(loss.reason for loss in losses if not loss.decided)
    undecided = f"not decided: {'; '.join(reasons)}" if reasons else ""
    if not worst.decided:
        text = undecided
    else:
        count = sum(loss.decided for loss in losses)
        text = (
            f"the largest exact loss is {loss_words(worst)}, on the pair '{where}' ({told(worst)}); decided on {count} "
            f"of {len(losses)} pairs"
        )
        text += f", and the search tried {evaluations}"
        text += ". The loss exceeds the claim by so little that rounding a constant in the target would explain it" * (
            worst.above and not worst.refuted
        )
        text += f". On other pairs it is {undecided}" if undecided else ""
    return text


QUESTION = Question(
    name=NAME,
    kind="privacy",
    asks="What is the exact privacy loss of the worst pair that is found?",
    blind_to=(
        "outputs that are not understood as a function of the draws, pairs that the search does not reach, and "
        "branches that no forced draw enters"
    ),
    ask=ask,
    applies=lambda subject: UNRECORDED if is_process(subject.setting.target.name) else "",
    gives=(ExactLosses,),
)
