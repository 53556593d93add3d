"""Test `check` and `parametrize_with_checks`, which run an audit from one line of Python."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.verification import Inconclusive, Refuted, check
from covassay.verification.audit.check import by_group, group_of, groups, require_group
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.questions import questions
from covassay.verification.audit.targets.calling import CannotRun

pytest_plugins = ["pytester"]

PROJECT = """
import numpy as np
import pytest
from covassay.verification import parametrize_with_checks

CALLS = []


def release(X, eps, random_state):
    CALLS.append(1)
    x = X / np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
    noise = np.random.default_rng(random_state).laplace(size=(x.shape[1],) * 2)
    return x.T @ x / len(x) + SHARE * noise * 2 * x.shape[1] / (len(x) * eps)


def raises(X, eps):
    raise KeyError("row 17")


SHARE = {share}


@parametrize_with_checks(
    [({target}, {{"epsilon": 1.0}})], mechanism="entrywise-laplace", samples=100, expected_failed={expected}
)
def test_release(target, check):
    before = len(CALLS)
    check(target)
    if before:
        assert len(CALLS) == before, "the audit was run again"
"""


def outcomes(
    pytester: pytest.Pytester, expected: Mapping[str, str], share: float = 1.0, target: str = "release"
) -> Any:
    pytester.makepyfile(PROJECT.format(share=share, target=target, expected=expected))
    return pytester.runpytest_inprocess("-rA", "-p", "no:cacheprovider")


def no_noise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    return x.T @ x / len(x) + 1e-9 * rng.standard_normal((x.shape[1],) * 2)


def hangs(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    time.sleep(60)
    return x.T @ x


@pytest.fixture(scope="module")
def refuted() -> Refuted:
    with pytest.raises(Refuted, match=r"no_noise as entrywise-laplace, ε = 1 \(pure DP\).*: REFUTED") as raised:
        check(no_noise, "entrywise-laplace", epsilon=1.0, samples=100)
    return raised.value


@pytest.mark.thorough
def test_check_raises_with_the_report(refuted: Refuted) -> None:
    assert isinstance(refuted, AssertionError)
    assert {c.kind for c in refuted.report.refuted} >= {"law", "privacy"}
    assert "replay: audit(no_noise, mechanism='entrywise-laplace', epsilon=1.0" in str(refuted)


@pytest.mark.thorough
def test_what_could_not_be_decided_is_no_success_and_no_refutation() -> None:
    with pytest.raises(Inconclusive, match="INCONCLUSIVE") as raised:
        check(hangs, epsilon=1.0, samples=100, time_limit=0.02)
    assert not isinstance(raised.value, AssertionError)
    with pytest.raises(CannotRun, match="KeyError"):
        check(lambda x, *, epsilon, rng: {}[0], epsilon=1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mechanism": "gaus-cov"}, "did you mean gauss-cov"),
        ({"mechanism": "nuclear-laplace", "rho": 1.0}, "nuclear-laplace is ε-DP"),
        ({"epsilon": 1.0, "call": "g(x)"}, "must use f"),
    ],
)
def test_wrong_arguments_are_told(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        check(no_noise, **arguments)


def test_a_function_without_a_budget_needs_a_stated_claim() -> None:
    with pytest.raises(InvalidInput, match="takes no budget: state the budget it claims"):
        check(lambda X: X.T @ X)


@pytest.mark.thorough
def test_an_expected_failure_is_expected_and_others_are_not(pytester: pytest.Pytester) -> None:
    done = outcomes(pytester, {"law": "half the noise"}, share=0.01)
    assert done.parseoutcomes().pop("xfailed") == 1
    done.stdout.fnmatch_lines(["XFAIL*release-law* - half the noise"])
    done.stdout.fnmatch_lines(["E*Refuted: release, ε = 1 (pure DP), replace-one", "FAILED*release-privacy*"])


@pytest.mark.thorough
def test_a_correct_function_passes_and_an_expected_failure_that_does_not_come_fails(pytester: pytest.Pytester) -> None:
    """The test fails if pytest passes although an expected failure did not occur. Two checks are marked as expected
    failures here. One of these checks passes, and the other is not run, so that pytest must report both as failed.
    """
    done = outcomes(pytester, {"law": "issue 7", "symmetry": "issue 8"})
    done.assert_outcomes(failed=2, passed=len(groups()) - 7, skipped=5)
    done.stdout.fnmatch_lines(["E*contract: symmetry was expected to fail, and was not checked: *"])
    done.stdout.fnmatch_lines(["[[]XPASS(strict)[]] issue 7"])
    done.stdout.fnmatch_lines(
        ["PASSED*::test_release[[]release-contract: row order[]]", "PASSED*[[]release-privacy[]]"]
    )
    done.stdout.fnmatch_lines(["SKIPPED*the target makes no batches of seeded draws*"])


def test_a_target_that_cannot_be_run_fails_every_id_expected_or_not(pytester: pytest.Pytester) -> None:
    done = outcomes(pytester, {"law": "issue 7"}, target="raises")
    done.assert_outcomes(failed=len(groups()))


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"laws": "why"}, "did you mean 'law'"),
        ({"contract": "why"}, "must be one of contract: bad input"),
        ({"completed": "why"}, "must be one of"),
        ({"law": ""}, "must say why"),
    ],
)
def test_a_wrong_declaration_is_told(expected: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        by_group(expected)


def test_every_question_of_the_contract_has_a_group() -> None:
    asked = [question for question in questions() if question.kind == "contract"]
    assert {question.id for question in asked} < set(groups())
    assert {group_of(question.skipped("why")) for question in asked} == {question.id for question in asked}


@pytest.mark.thorough
def test_a_check_that_is_in_no_group_fails_in_the_last(refuted: Refuted) -> None:
    strange = Finding("new", "an unknown check", Status.REFUTED, "found")  # type: ignore[arg-type]
    assert group_of(strange) == "completed"
    assert require_group(refuted.report, "completed") == ""
    with pytest.raises(Refuted, match="new / an unknown check: found"):
        require_group(replace(refuted.report, checks=(*refuted.report.checks, strange)), "completed")
