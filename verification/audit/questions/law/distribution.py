"""Test whether the outputs have the law of the mechanism, on data sets on which this law is known.

All tests on a data set use the same draws. A draw without an output refutes the claim, unless the draw ran out of time.
To detect rare branches of the code, one test examines the most extreme value of all data sets together. The first 50
000 draws on each data set are kept in `subject.outputs` for other questions.
"""

from fractions import Fraction

from covassay.verification.audit.engine.facts import LawTest
from covassay.verification.audit.engine.finding import Finding, Look, settled
from covassay.verification.audit.engine.law import left_for_the_end, number_of_tests, run_scenario, weighted
from covassay.verification.audit.engine.tails import ALL, rare_branches
from covassay.verification.audit.question import Question, Subject


def ask(subject: Subject, look: Look) -> list[Finding]:
    """Test the draws on every data set, and the most extreme value of all draws."""
    found: list[Finding] = []
    # tests that end the draws early use the rest of the error probability
    factor = 1 / left_for_the_end(subject.known.scenarios, look)
    for scenario in subject.known.scenarios:
        if settled(found, look):
            return found
        if look.asks(scenario.name) or look.asks(ALL):  # a draw on any data set may have taken a rare branch
            tested, draws = run_scenario(subject.setting, scenario, look)
            subject.outputs[scenario.name] = draws.outputs
            found += weighted(tested, factor)
    rare = rare_branches(found, look) if look.asks(ALL) else []
    return [*found, *weighted(rare, factor)]


QUESTION = Question(
    name="distribution",
    kind="law",
    asks="Do the outputs have the law of the mechanism?",
    blind_to="data sets on which the law is not known, and branches that no draw took",
    ask=ask,
    applies=lambda subject: "" if subject.known.scenarios else "no law is known: the claim is one of privacy alone",
    share=Fraction(57, 200),
    tests=lambda subject: 1 + sum(number_of_tests(scenario) for scenario in subject.known.scenarios),
    valid_if=(
        "Exact or conservative tests compare independent draws with fixed laws. A share of the level is set aside for "
        "tests that may end the draws early."
    ),
    gives=(LawTest,),
    second_look=10,
    draws=lambda subject, look: look.samples * sum(scenario.weight for scenario in subject.known.scenarios),
    cost=3,
)
