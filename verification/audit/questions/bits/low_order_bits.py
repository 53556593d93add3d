"""Test whether low-order bits of the released numbers distinguish neighbouring data sets.

All other questions round the outputs before they test them. Their verdicts are therefore about the mechanism in real
arithmetic. The question about low-order bits has a verdict of its own. This verdict counts for the whole run only if
the scope is "bits".
"""

from fractions import Fraction

from covassay.verification.audit.engine.bit_pairs import bit_pairs, most_moving, unit_length
from covassay.verification.audit.engine.facts import Bits, TestedEvent
from covassay.verification.audit.engine.finding import Finding, Look, Status
from covassay.verification.audit.engine.low_order_bits import BitBudget, low_order_bits
from covassay.verification.audit.engine.user_pair import pair_to_test
from covassay.verification.audit.options import SCOPES
from covassay.verification.audit.question import Question, Subject

# All numbers of draws in these two tables are multiples of `look.samples`, for the scopes “real” and “bits”.
# FIRST_DRAWS is the mean number of first draws on each data set, which choose an event.
# MOST_DRAWS is the largest mean number of draws, over all tests of events.
FIRST_DRAWS = {"real": 0.2, "bits": 1.0}
MOST_DRAWS = {"real": 2.5, "bits": 10.0}
PAIRS = 4  # the approximate number of pairs of neighbours that are examined


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Search for an event of low-order bits whose privacy loss is above the claim."""
    setting, form, options = subject.setting, subject.known.form, subject.options
    own = []
    if options.pair is not None:
        own = [
            pair_to_test(options.pair, form.output, subject.known.domain, form.smallest_dimension, subject.adjacency)
        ]
    length = most_moving(setting) if subject.known.domain == "space" else unit_length
    pairs = bit_pairs(form.output, form.smallest_dimension, setting.box, subject.adjacency, own, length)
    asked = options.scope or SCOPES[0]
    first, most = look.samples * FIRST_DRAWS[asked], look.samples * MOST_DRAWS[asked]
    budget = BitBudget(first, most, look.level, thorough=asked == SCOPES[1])
    shown = Status.REFUTED if subject.scope == SCOPES[1] else Status.NOTED
    found = low_order_bits(setting, pairs, subject.claim, budget, shown)
    facts = Bits(found.verdict.value, found.loss, found.reach, found.draws)
    # if the finding on one pair refutes the claim, the summary of all pairs must not count as a second refutation
    summary = found.status(Status.NOTED)
    tested = ", ".join(map(str, sorted({pair.first.shape[1] for pair in pairs})))
    return [*found.checks, Finding("bits", "all pairs", summary, f"{found.sentence} (d = {tested})", facts=facts)]


def _spared(subject: Subject) -> str:
    if subject.refuted() and (subject.scope == SCOPES[0] or subject.options.stop_early):
        return "the target is already refuted"
    return "left out, because the audit ends early" if subject.options.stop_early and subject.scope == SCOPES[0] else ""


QUESTION = Question(
    name="low-order bits",
    kind="bits",
    asks="Do low-order bits tell neighbouring data sets apart?",
    blind_to="events of low-order bits that are rare, and pairs of data sets that are not tried",
    ask=ask,
    spared=_spared,
    share=Fraction(1, 10),
    valid_if="Earlier draws choose each event, and a Poisson number of new draws tests it. The levels of all tests add "
    "up to at most the level of the question.",
    gives=(Bits, TestedEvent),
    draws=lambda subject, look: 2 * PAIRS * look.samples * FIRST_DRAWS[subject.options.scope or SCOPES[0]],
    cost=8,
)
