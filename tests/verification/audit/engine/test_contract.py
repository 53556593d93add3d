"""Test the checks of the contract on targets that reject some data, and on targets that draw from the operating
system.
"""

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.laws.wigner import sample_goe
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.reference.privacy import PureDP
from covassay.verification.audit.api import audit
from covassay.verification.audit.budget import ErrorBudget
from covassay.verification.audit.engine.contract import Form
from covassay.verification.audit.engine.finding import Status, Verdict
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.knowledge.shared.profile import black_box
from covassay.verification.audit.options import AuditOptions
from covassay.verification.audit.question import Subject
from covassay.verification.audit.questions import own
from covassay.verification.audit.questions.contract.edge_cases import edge_cases
from covassay.verification.audit.questions.contract.row_order import row_order
from covassay.verification.audit.run import ask
from covassay.verification.audit.targets.target import Target, TargetReference


def correct(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    rows = x / np.maximum(1.0, np.linalg.norm(x, axis=1, keepdims=True))
    return rows.T @ rows / len(x) + rng.laplace(scale=20 / (len(x) * epsilon), size=(x.shape[1],) * 2)


def two_rows(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    if len(x) < 2:
        raise ValueError("two rows")
    return correct(x, epsilon=epsilon, rng=rng)


def two_columns(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    if x.shape[1] < 2:
        raise ValueError("two columns")
    return correct(x, epsilon=epsilon, rng=rng)


def no_zero_rows(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    if not np.linalg.norm(x, axis=1).all():
        raise ValueError("a row of zeros")
    return correct(x, epsilon=epsilon, rng=rng)


def one_row_unless_zero(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    if len(x) == 1 and x.any():
        raise ValueError("one row that is not zero")
    return correct(x, epsilon=epsilon, rng=rng)


def one_row_is_nothing(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix | None:
    return None if len(x) == 1 else correct(x, epsilon=epsilon, rng=rng)


def from_the_system(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    return correct(x, epsilon=epsilon, rng=np.random.default_rng())


@pytest.mark.parametrize(
    ("function", "status", "named"),
    [
        (correct, Status.NOT_REFUTED, "an output on every valid data set"),
        (two_rows, Status.NOTED, "one record: exception: ValueError on each of 24 other data sets with n = 1, d = 3"),
        (two_columns, Status.NOTED, "one feature: exception: ValueError on each of 24 other data sets with n = 5, d ="),
        (no_zero_rows, Status.REFUTED, "data-dependent failure on valid data: all rows zero: exception: ValueError"),
        (one_row_unless_zero, Status.REFUTED, "data-dependent failure on valid data: one record"),
        (one_row_is_nothing, Status.REFUTED, "one record: malformed"),
    ],
)
def test_a_refused_size_is_noted_and_refused_data_are_refuted(function, status, named) -> None:  # type: ignore[no-untyped-def]
    check = edge_cases(Setting(Target("f", function), {"epsilon": 1.0}, SECOND_MOMENT, 0), Form(), 1e-12)
    assert check.status is status
    assert named in check.detail


@pytest.mark.thorough
@pytest.mark.parametrize("function", [two_rows, two_columns])
def test_a_target_that_needs_two_rows_or_columns_is_not_refuted(function) -> None:  # type: ignore[no-untyped-def]
    assert audit(function, epsilon=1.0, samples=300).verdict is Verdict.NOT_REFUTED


@pytest.mark.thorough
def test_a_target_that_ignores_rng_has_one_finding_and_none_if_it_says_so() -> None:
    setting = Setting(Target("f", from_the_system), {"epsilon": 1.0}, SECOND_MOMENT, 0)
    subject = Subject(setting, PureDP(1.0), black_box(SECOND_MOMENT), None, "replace-one", AuditOptions())
    ask([q for q in own() if q.kind == "contract"], subject, ErrorBudget(1e-9))
    checks = {check.name: check.status for check in subject.findings}
    assert [name for name, status in checks.items() if status is Status.REFUTED] == ["same seed, same output"]
    assert checks["row order"] is Status.SKIPPED
    report = audit(from_the_system, epsilon=1.0, samples=400, unseeded=True)
    assert report.verdict is Verdict.NOT_REFUTED
    assert report.replay == ("audit(from_the_system, epsilon=1.0, samples=400, seed=0, unseeded=True)")


@pytest.mark.thorough
def test_unseeded_is_part_of_the_replay_command() -> None:
    report = audit(TargetReference("covassay:bingham", ".", seeded=False), epsilon=1.0, samples=100)
    assert report.replay.endswith(" --unseeded")
    assert {c.name for c in report.checks if c.status is Status.SKIPPED} >= {"same seed, same output", "row order"}


@pytest.mark.parametrize(("error", "status"), [(0.0, Status.NOT_REFUTED), (1e-7, Status.NOTED), (0.5, Status.REFUTED)])
def test_a_change_that_single_precision_explains_is_noted(error: float, status: Status) -> None:
    """The test fails if a float32 implementation is refuted because changing the order of its rows changes the
    rounding. The audit only notes a change that rounding explains.
    """

    def first_row_weighs_more(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
        moment = x.T @ x / len(x) + rng.standard_normal((x.shape[1],) * 2)
        return np.asarray(moment * (1 + error * np.sign(x[0, 0] - x[-1, 0])))

    setting = Setting(Target("mine", first_row_weighs_more), {"rho": 0.5}, SECOND_MOMENT, 0)
    assert row_order(setting, Form(), 1e-10).status is status
    assert row_order(setting, Form(names_a_law=False), 1e-10).status in (status, Status.NOTED)


def noise_in_the_basis_of_the_rows(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Add noise in a basis whose signs depend on the first row. The law of the noise is the same in every basis."""
    _, vectors = np.linalg.eigh(x.T @ x)
    basis = vectors * np.where(x[0] @ vectors < 0, -1.0, 1.0)
    return np.asarray(x.T @ x / len(x) + basis @ sample_goe(x.shape[1], rng) @ basis.T)


def test_noise_in_a_basis_that_depends_on_the_order_is_noted() -> None:
    setting = Setting(Target("mine", noise_in_the_basis_of_the_rows), {"rho": 0.5}, SECOND_MOMENT, 0)
    check = row_order(setting, Form(), 1e-10)
    assert check.status is Status.NOTED
    assert "no difference in law was proven" in check.detail


@pytest.mark.thorough
def test_a_first_row_that_is_dropped_shows_in_the_law() -> None:
    def header(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
        rows = x[1:] if len(x) > 2 else x
        return np.asarray(rows.T @ rows / len(rows) + sample_goe(x.shape[1], rng) / (len(x) * rho**0.5))

    check = row_order(Setting(Target("mine", header), {"rho": 0.5}, SECOND_MOMENT, 0), Form(), 1e-10)
    assert check.status is Status.REFUTED
    assert "on one row before zeros" in check.detail or "on plain rows" in check.detail
