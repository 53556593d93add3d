"""Test files with a pair of data sets that shows a violation. The option `--pair` must read the file of a violation,
and the report must print small data sets completely. The tests also cover the lines of the report about the number of
draws.
"""

import io
import json

import numpy as np
import pytest
from rich.console import Console

from covassay.reference.domain import Matrix, second_moment, unit_rows
from covassay.reference.mechanisms.building_blocks import private_trace
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.finding import Finding, Status
from covassay.verification.audit.engine.user_pair import NAME, given_pair
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.terminal import print_report
from covassay.verification.audit.reports.witness_file import witness_check, witness_file
from covassay.verification.audit.reports.words import draws_made, findings, in_full, repeats
from covassay.verification.audit.targets.target import TargetReference


def too_little(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Add a tenth of the required noise, and return NaN in every tenth draw."""
    d = x.shape[1]
    if rng.random() < 0.1:
        return np.full((d, d), np.nan)
    return second_moment(unit_rows(x)) + 0.1 * rng.laplace(size=(d, d))


@pytest.fixture(scope="module")
def report() -> AuditReport:
    return audit(too_little, epsilon=1.0, samples=300)


def trace(factor: float) -> AuditReport:
    """Return the report of an audit of a noisy trace, with the noise multiplied by `factor`."""

    def draw(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
        return float((unit_rows(x) ** 2).sum() / len(x) + factor / (len(x) * epsilon) * rng.laplace())

    return audit(draw, epsilon=1.0, mechanism="private-trace", samples=200)


def archive(report: AuditReport) -> dict[str, Matrix]:
    content = witness_file(report)
    assert content is not None
    with np.load(io.BytesIO(content), allow_pickle=False) as found:
        return dict(found)


@pytest.mark.thorough
def test_the_file_has_the_pair_and_what_was_seen_on_it(report: AuditReport) -> None:
    found = archive(report)
    about = json.loads(found["about"].item())
    check = witness_check(report.refuted)
    assert check is not None
    assert (about["scenario"], about["detail"], about["p_value"]) == (check.scenario, check.detail, check.p_value)
    assert about["neighbours"]
    assert about["replay"] == report.replay
    assert np.array_equal(found["x"], check.data[0])
    assert np.array_equal(found["y"], check.data[1])


@pytest.mark.thorough
def test_the_pair_in_the_file_refutes_the_target_again(report: AuditReport) -> None:
    found = archive(report)
    again = audit(too_little, epsilon=1.0, samples=300, pair=given_pair((found["x"], found["y"])))
    assert NAME in {check.scenario for check in again.refuted}


@pytest.mark.thorough
def test_a_law_that_failed_has_its_data_set_and_no_neighbour() -> None:
    report = trace(2.0)
    found = archive(report)
    assert {check.kind for check in report.refuted} == {"law"}
    assert set(found) == {"about", "x"}
    assert not json.loads(found["about"].item())["neighbours"]


@pytest.mark.thorough
def test_there_is_no_file_without_a_witness() -> None:
    assert witness_file(trace(1.0)) is None
    own = np.random.default_rng()

    def ignores(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
        return private_trace.sample(x, own, epsilon=epsilon)

    report = audit(ignores, epsilon=1.0, mechanism="private-trace", samples=100)
    assert {check.name for check in report.refuted} == {"same seed, same output"}
    assert witness_file(report) is None


@pytest.mark.thorough
def test_small_witnesses_are_printed_in_full_when_asked(report: AuditReport) -> None:
    shown = []
    for verbose in (False, True):
        out = io.StringIO()
        print_report(report, Console(file=out, width=200), verbose)
        shown.append(" ".join(out.getvalue().split()))
    lines = [line for group in findings(report) for line in in_full(group[0])]
    assert len(lines) >= 2
    assert all(line in shown[1] and line not in shown[0] for line in lines)
    large = Finding("law", "x", Status.REFUTED, "", data=(np.zeros((7, 2)),))
    assert in_full(large) == []


@pytest.mark.thorough
def test_the_share_of_failed_draws_is_a_line_of_the_report(report: AuditReport) -> None:
    failed = sum(report.failures.values())
    assert 0.05 < failed / report.draws < 0.15
    line = draws_made(report)
    assert f"{failed / report.draws:.2%} gave no output: {failed} × malformed: an entry that is not finite" in line
    out = io.StringIO()
    print_report(report, Console(file=out, width=200))
    assert line in out.getvalue()


@pytest.mark.slow
def test_repeats_are_one_finding() -> None:
    """The test fails if the report shows one problem as several findings, or leaves out one of the checks that found
    it.
    """
    report = audit(TargetReference("mutant:half-noise-gauss-cov", "."), rho=0.5, samples=200)
    law = [check for check in report.refuted if check.kind == "law"]
    (group,) = [group for group in findings(report) if group[0].kind == "law"]
    assert len(group) == len(law) > 1
    assert repeats(group).startswith(f"{len(law) - 1} further checks on ")
    assert repeats(group[:1]) == ""
