"""Test whether some event is too likely on one of two neighbouring data sets."""

from fractions import Fraction

from covassay.verification.audit.engine.events import Pair
from covassay.verification.audit.engine.facts import OutOfTime, TestedEvent
from covassay.verification.audit.engine.finding import Finding, Look, settled
from covassay.verification.audit.engine.pair_search import FOUND, expected_draws, worse_pairs
from covassay.verification.audit.engine.privacy import TESTS, run_pair
from covassay.verification.audit.engine.sampling import KEPT
from covassay.verification.audit.engine.trade_off import keep_most_telling
from covassay.verification.audit.question import Question, Subject
from covassay.verification.audit.questions.data_path.same_noise_other_data import Residuals
from covassay.verification.audit.questions.law.law_that_fits_instead import FittingLaw
from covassay.verification.audit.recorded.facts import ExactLosses

# an estimate of the number of tests among which the level is divided; only the choice of the events depends on it
USUAL_TESTS = 5


def searched(subject: Subject) -> bool:
    """Return whether the audit searches for neighbours, which is so only if no law is known and the rows lie in the
    unit ball.
    """
    return not subject.known.scenarios and subject.setting.box is None


def most_tests(subject: Subject) -> int:
    """Return the largest number of p-values that the question can compute. The p-values come from tests on pairs of
    neighbours. The audit knows some pairs for the mechanism, other questions suggest at most two pairs, and a search
    may find more.
    """
    pairs = max(len(subject.known.pairs(fitted)) for fitted in (frozenset[str](), suspects(subject)))
    return TESTS * (pairs + 2 + (FOUND if searched(subject) else 0))


def suspects(subject: Subject) -> frozenset[str]:
    """Return the names of all wrong laws that the audit knows for the mechanism.

    If the draws of the target fit one of these laws, more neighbours may be tested.
    """
    return frozenset(suspect.name for scenario in subject.known.scenarios for suspect in scenario.suspects)


def pairs_of(subject: Subject, look: Look) -> tuple[Pair, ...]:
    """Return the neighbours to test. If a wrong law fits the draws of the target, some neighbours are chosen for this
    law.

    A second round of draws uses the neighbours of the first round.
    """
    if look.again is None:
        fitted = frozenset(facts.name for _, facts in subject.facts(FittingLaw))
        suggested = [pair for _, facts in subject.facts(Residuals) for pair in facts.neighbours]
        suggested += [pair for _, facts in subject.facts(ExactLosses) for pair in facts.neighbours]
        samples = round(min(look.samples, KEPT))
        worse = worse_pairs(subject.setting, samples, subject.adjacency) if searched(subject) else []
        subject.pairs = {pair.name: pair for pair in (*subject.known.pairs(fitted), *suggested, *worse)}
    return tuple(pair for name, pair in subject.pairs.items() if look.asks(name))


def draws(subject: Subject, look: Look) -> float:
    """Return the approximate number of draws in one round."""
    pairs = sum(pair.weight for pair in subject.known.pairs(frozenset()))
    return 2 * look.samples * pairs + (expected_draws(look.samples) if searched(subject) else 0)


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Test an event on every pair of neighbours."""
    found: list[Finding] = []
    for pair in pairs_of(subject, look):
        if settled(found, look):
            break
        stop = look.step if look.bets else 0.0
        tested = run_pair(subject.setting, pair, subject.claim, look, stop, look.level / USUAL_TESTS)
        found += tested
    return keep_most_telling(found)


QUESTION = Question(
    name="events on neighbours",
    kind="privacy",
    asks="Is some event too likely on one of two neighbouring data sets?",
    blind_to="violations on pairs of data sets that are not tried, and events that are too rare for these draws",
    ask=ask,
    share=Fraction(6, 25),
    tests=most_tests,
    valid_if=(
        "Pilot draws, which are independent of the test, choose the event. The test of pure DP is exact, because the "
        "number of new draws is a Poisson variable. The tests of other claims use two confidence bounds, which both "
        "hold except with the stated probability. A bet ends the draws early with probability at most its share of the "
        "level (Ville's inequality)."
    ),
    reads=(Residuals, FittingLaw, ExactLosses),
    gives=(TestedEvent, OutOfTime),
    second_look=10,
    draws=draws,
    cost=7,
)
