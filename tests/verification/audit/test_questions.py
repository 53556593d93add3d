"""Test the structure of the audit: the declared checks, the error budget that they share, and checks from other
packages.
"""

import inspect
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.reference.privacy import PureDP
from covassay.verification.audit import budget, question, questions, run
from covassay.verification.audit.budget import ErrorBudget, Overspent, decide
from covassay.verification.audit.engine.facts import Explanation, Facts
from covassay.verification.audit.engine.finding import Finding, Look, Status, Verdict
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.knowledge.shared.profile import black_box
from covassay.verification.audit.options import AuditOptions
from covassay.verification.audit.question import Question, Subject
from covassay.verification.audit.questions import own
from covassay.verification.audit.run import ask, in_order, verdict
from covassay.verification.audit.targets.target import Target

QUESTIONS = Path(questions.__file__).parent


def subject(**options: object) -> Subject:
    setting = Setting(Target("f", lambda x, *, epsilon, rng: x.T @ x), {"epsilon": 1.0}, SECOND_MOMENT, 0)
    settings = AuditOptions(**options)  # type: ignore[arg-type]
    return Subject(setting, PureDP(1.0), black_box(SECOND_MOMENT), None, "replace-one", settings)


def with_p_values(name: str, *p_values: float, **more: object) -> Question:
    """Return a check of an audit with the given p-values in its first round, and p-values of 1 in its second round."""

    def answers(subject: Subject, look: Look) -> list[Finding]:
        shown = p_values if look.name == "first look" else [1.0] * len(p_values)
        return [Finding("law", f"{i}", Status.NOT_REFUTED, "", "s", p_value=p) for i, p in enumerate(shown)]

    given: dict[str, object] = {"share": Fraction(1, 2), "tests": len(p_values), "valid_if": "it is given"}
    return Question(name, "law", "?", "nothing", answers, **(given | more))  # type: ignore[arg-type]


# WHAT IS DECLARED


def test_our_questions_leave_a_tenth_of_the_budget_to_guests() -> None:
    spent = sum((q.share for q in own()), Fraction(0))
    assert Fraction(4, 5) < spent <= Fraction(9, 10)


def test_a_question_is_in_the_file_of_its_name_and_in_the_folder_of_its_kind() -> None:
    files = {path.relative_to(QUESTIONS).as_posix() for path in QUESTIONS.glob("*/*.py") if path.name != "__init__.py"}
    named = {"_".join(re.findall(r"[a-z]+", q.kind)) + "/" + "_".join(re.findall(r"[a-z]+", q.name)) for q in own()}
    assert {f"{name}.py" for name in named} == files


def test_every_question_says_what_it_asks_and_what_it_does_not_see() -> None:
    for q in own():
        assert q.asks.endswith("?")
        assert q.blind_to
        assert bool(q.share) == bool(q.valid_if)


def test_a_question_without_a_reason_for_its_share_is_refused() -> None:
    with pytest.raises(ValueError, match="must be given together, or both left out"):
        with_p_values("silent", 0.5, valid_if="")


def test_the_loop_names_no_question() -> None:
    """The code that runs the checks must treat all checks alike. If this code contains the name of a check, the code
    may treat this check differently, and the test fails.
    """
    source = inspect.getsource(run) + inspect.getsource(budget) + inspect.getsource(question)
    assert not [q.name for q in own() if re.search(rf'"{re.escape(q.name)}"', source)]
    assert len(inspect.getsource(run).splitlines()) + len(inspect.getsource(budget).splitlines()) < 250


def test_facts_are_read_after_they_are_given() -> None:
    """The test fails if a check of an audit runs before another check whose result it needs."""
    order = in_order(own())
    for i, q in enumerate(order):
        assert not any(set(q.reads) & set(later.gives) for later in order[i + 1 :])
    one, two = with_p_values("one", 0.5, reads=(Explanation,)), with_p_values("two", 0.5, gives=(Explanation,))
    assert in_order([one, two]) == [two, one]
    with pytest.raises(ValueError, match="need the facts of one another"):
        in_order(
            [
                with_p_values("a", 0.5, reads=(Facts,), gives=(Explanation,)),
                with_p_values("b", 0.5, reads=(Explanation,), gives=(Facts,)),
            ]
        )


def test_the_bits_decide_by_default_where_integers_are_released() -> None:
    def scope(mechanism: str | None, **options: object) -> str:
        made = subject(**options)
        made.mechanism = mechanism
        return made.scope

    integers = "discrete-gaussian-covariance", "discrete-laplace-covariance"
    assert [scope(name) for name in (*integers, "gauss-cov", None)] == ["bits", "bits", "real", "real"]
    assert scope(integers[0], scope="real") == "real"
    assert scope("gauss-cov", scope="bits") == "bits"


# THE BUDGET


def test_shares_cannot_add_up_to_more_than_the_whole() -> None:
    spent = ErrorBudget(1e-9)
    assert spent.spend("a", "first look", Fraction(2, 3), 5) == pytest.approx(1e-9 * 2 / 3)
    assert spent.left == Fraction(1, 3)
    with pytest.raises(Overspent, match="b asks for 1/2 of the false-alarm budget, and 1/3 is left"):
        spent.spend("b", "first look", Fraction(1, 2), 1)
    with pytest.raises(Overspent):
        ask(
            [with_p_values("a", 0.5), with_p_values("b", 0.5), with_p_values("c", 0.5, share=Fraction(1, 100))],
            subject(),
            ErrorBudget(1e-9),
        )


def test_the_level_of_a_question_is_its_share_divided_by_its_looks() -> None:
    spent = ErrorBudget(1e-9)
    made = subject()
    ask([with_p_values("a", 2.4e-10, second_look=10), with_p_values("b", 4.9e-10)], made, spent)
    assert [(one.look, one.share) for one in spent.spent] == [
        ("first look", Fraction(1, 4)), ("second look", Fraction(1, 4)), ("first look", Fraction(1, 2))
    ]  # fmt: skip
    assert verdict(made.findings) is Verdict.REFUTED
    assert [f.status for f in made.findings] == [Status.REFUTED, Status.REFUTED]
    three_percent = subject()
    ask([with_p_values("a", 2.6e-10, second_look=0, share=Fraction(1, 4))], three_percent, ErrorBudget(1e-9))
    assert three_percent.findings[0].status is Status.SUSPICIOUS


def test_missing_p_values_count_as_one() -> None:
    """The error level of a check is divided by the number of p-values that the check declares. The test fails if it is
    divided by a smaller number because the check returns fewer p-values. Each missing p-value counts as 1 and keeps its
    share of the error level.
    """
    (found,) = decide([Finding("law", "a", Status.NOT_REFUTED, "", p_value=0.6e-9)], Look(level=1e-9, tests=2))
    assert found.status is Status.SUSPICIOUS


# THE LOOP


def test_a_suspicious_finding_is_replaced_by_its_second_look_and_others_stay() -> None:
    made = subject()
    ask([with_p_values("a", 1e-5, second_look=10), with_p_values("b", 0.5)], made, ErrorBudget(1e-9))
    assert [(f.question, f.p_value) for f in made.findings] == [("law: b", 0.5), ("law: a", 1.0)]


def test_nothing_refuted_means_no_second_look_is_needed_for_what_is_not_suspicious() -> None:
    made = subject()
    ask([with_p_values("a", 1e-2, second_look=10)], made, ErrorBudget(1e-9))
    assert [f.p_value for f in made.findings] == [1e-2]


def test_a_question_can_ask_for_a_second_look_at_a_p_value_that_is_not_suspicious() -> None:
    made = subject()
    ask([with_p_values("a", 0.01, second_look=10, second_look_below=0.02)], made, ErrorBudget(1e-9))
    assert [f.p_value for f in made.findings] == [1.0]


def test_no_question_passes_in_silence() -> None:
    """The test fails if the report leaves out a check of the audit that tested nothing."""
    made = subject()
    ask([Question("mute", "law", "?", "all", lambda subject, look: []),
         Question("absent", "law", "?", "all", lambda subject, look: [], applies=lambda subject: "no law")],
        made, ErrorBudget(1e-9))  # fmt: skip
    assert [(f.question, f.status, f.detail) for f in made.findings] == [
        ("law: absent", Status.SKIPPED, "no law"), ("law: mute", Status.SKIPPED, "there was nothing to ask")
    ]  # fmt: skip


def test_an_audit_that_ends_early_asks_no_more_questions_of_chance() -> None:
    made = subject(stop_early=True)
    ask(
        [with_p_values("a", 0.0, cost=1, share=Fraction(1, 4)), with_p_values("b", 0.5, cost=2, share=Fraction(1, 4))],
        made,
        ErrorBudget(1e-9),
    )
    assert [f.status for f in made.findings] == [Status.REFUTED, Status.SKIPPED]


# QUESTIONS OF OTHER PACKAGES

GUEST = """
from dataclasses import dataclass, field
from fractions import Fraction

from covassay.verification.audit.engine.facts import Facts, says
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.knowledge.known import Known
from covassay.verification.audit.question import Question
from covassay.verification.audit.reports.format import Format


@dataclass(frozen=True)
class Visits(Facts):
    count: int = field(metadata=says("How often the guest came."))


def ask(subject, look):
    return [Finding("contract", "guest check", Status.NOT_REFUTED, "asked by a guest", "guest data", 0.0, 1, Visits(1))]


QUESTION = Question("guest", "contract", "Is a guest asked?", "nothing", ask, share=Fraction(1, 50), tests=1,
                    valid_if="it is a test", gives=(Visits,))
FORMAT = Format("words", "also write the verdict in words", lambda report, status: f"{report.verdict.value} {status}")
KNOWN = Known(bits_unseen="a guest says so")
"""
ENTRY_POINTS = """[covassay.questions]
guest = guest_package:QUESTION
[covassay.formats]
words = guest_package:FORMAT
[covassay.knowledge]
of-a-guest = guest_package
"""
USE = """
import json

import pytest
from jsonschema import Draft202012Validator

from covassay.verification.audit.api import audit
from covassay.verification.audit.knowledge.known import known
from covassay.verification.audit.reports.json_report import as_json, schema
from covassay.verification.audit.reports.sarif import as_sarif
from covassay.verification.cli.main import run
from covassay.verification.pytest_plugin import parametrize_with_checks


def test_asked_reported_and_counted():
    report = audit("covassay:laplace", epsilon=1.0, samples=100, stop_early=True)
    (found,) = [c for c in report.checks if c.question == "contract: guest"]
    assert found.status.value == "REFUTED" and report.verdict.value == "REFUTED"
    assert any(one.question == "contract: guest" and one.tests == 1 for one in report.budget)
    document = json.loads(json.dumps(as_json(report), default=str))
    of_guest = [c["facts"] for c in document["checks"] if c["question"] == "contract: guest"]
    assert of_guest == [{"kind": "visits", "count": 1}]
    Draft202012Validator(schema()).validate(document)
    assert any(r["id"] == "contract/guest-check" for r in as_sarif(report)["runs"][0]["tool"]["driver"]["rules"])


def test_knowledge_is_found():
    assert known("of-a-guest").bits_unseen == "a guest says so"
    assert known("of-nobody").bits_unseen == ""


def test_a_report_is_written_in_the_format_of_the_guest(tmp_path):
    file = tmp_path / "w"
    assert run(["audit", "covassay:laplace", "--samples", "100", "--jobs", "1", "--words", str(file)]) == 1
    assert file.read_text() == "REFUTED 1"


@parametrize_with_checks(["covassay:laplace"], epsilon=1.0, samples=100, stop_early=True,
                         expected_failed={"guest": "it refutes everything"})
def test_expected_to_fail(target, check):
    check(target)
"""


def with_guest(folder: Path, entry_points: str) -> subprocess.CompletedProcess[str]:
    """Run the tests in the constant `USE` while a package of one file with the given entry points is installed."""
    info = folder / "guest-1.dist-info"
    info.mkdir()
    (folder / "guest_package.py").write_text(GUEST)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: guest\nVersion: 1\n")
    (info / "entry_points.txt").write_text(entry_points)
    (folder / "test_use.py").write_text(USE)
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "test_use.py"]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip


@pytest.mark.thorough
def test_a_package_of_one_file_brings_a_question_a_format_and_knowledge(tmp_path: Path) -> None:
    made = with_guest(tmp_path, ENTRY_POINTS)
    assert made.returncode == 0, made.stdout[-3000:]
    assert (
        "XFAIL test_use.py::test_expected_to_fail[covassay:laplace-contract: guest] - it refutes everything"
        in made.stdout
    )


@pytest.mark.thorough
def test_without_entry_points_the_package_brings_nothing(tmp_path: Path) -> None:
    made = with_guest(tmp_path, "")
    assert made.returncode != 0
    assert "must be one of" in made.stdout  # no group of entry points has the given name


def test_facts_that_a_question_does_not_name_are_refused() -> None:
    def answers(subject: Subject, look: Look) -> list[Finding]:
        return [Finding("law", "a", Status.NOTED, "", facts=Explanation("it"))]

    with pytest.raises(
        ValueError, match="law: silent: its findings have facts whose class is not in `gives`: Explanation"
    ):
        ask([Question("silent", "law", "?", "nothing", answers)], subject(), ErrorBudget(1e-9))
    ask([Question("open", "law", "?", "nothing", answers, gives=(Explanation,))], subject(), ErrorBudget(1e-9))
