"""Test that an audit does not refute outputs whose law does not depend on the data. Outputs whose law does not depend
on the data are private for every ε. Each target has one difficulty: for example, many outputs are equal, or a draw
fails on some data. The audit must not refute them on any of the seeds.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.reference.privacy import PureDP
from covassay.verification.audit.budget import ErrorBudget
from covassay.verification.audit.engine.contract import Form
from covassay.verification.audit.engine.finding import Finding, Status, Verdict
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.knowledge.shared.profile import black_box
from covassay.verification.audit.options import AuditOptions
from covassay.verification.audit.question import Subject
from covassay.verification.audit.questions import own
from covassay.verification.audit.questions.contract.edge_cases import edge_cases
from covassay.verification.audit.run import ask, verdict
from covassay.verification.audit.targets.target import Target

CLAIM = PureDP(1e-3)


def constant(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    return np.eye(x.shape[1])


def coin(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    return float(rng.random() < 0.5) * np.eye(x.shape[1])


def rare_side(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    return float(rng.random() < 1e-3) * np.eye(x.shape[1])


def failing(probability: float) -> Callable[..., Matrix]:
    def fails_at_random(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        if rng.random() < probability:
            raise RuntimeError("no luck")
        return np.asarray(rng.laplace(size=(x.shape[1], x.shape[1])))

    return fails_at_random


def not_a_number(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Return a matrix of Laplace noise, which is NaN with probability 0.3."""
    return np.asarray(rng.laplace(size=(x.shape[1], x.shape[1])) * (np.nan if rng.random() < 0.3 else 1.0))


PRIVATE = {
    "constant": constant, "coin": coin, "rare side": rare_side, "fails rarely": failing(1 / 2500),
    "fails in one of ten": failing(0.1), "fails in one of two": failing(0.5), "fails nine times in ten": failing(0.9),
    "not a number": not_a_number,
}  # fmt: skip


def subject(draw: Callable[..., Matrix], seed: int, samples: int = 300) -> Subject:
    setting = Setting(Target("private", draw), CLAIM.keywords(), SECOND_MOMENT, seed)
    return Subject(
        setting, CLAIM, black_box(SECOND_MOMENT), None, "replace-one", AuditOptions(samples=samples, seed=seed)
    )


def few_draws(name: str, seed: int) -> list[str]:
    """Return the refutations that the checks of the contract and of the data path report."""
    made = subject(PRIVATE[name], seed)
    ask([q for q in own() if q.kind in ("contract", "data path")], made, ErrorBudget(1e-9))
    return [f"{f.label}: {f.detail}" for f in made.findings if f.status is Status.REFUTED]


@pytest.mark.parametrize("name", PRIVATE)
def test_the_contract_refutes_no_law_that_ignores_the_data(name: str) -> None:
    assert not [found for seed in range(3) for found in few_draws(name, seed)]


@pytest.mark.sweep
@pytest.mark.parametrize("name", PRIVATE)
def test_many_seeds_the_contract_refutes_no_law_that_ignores_the_data(name: str) -> None:
    assert not [found for seed in range(200) for found in few_draws(name, seed)]


@pytest.mark.thorough
@pytest.mark.parametrize("name", PRIVATE)
def test_a_whole_audit_refutes_no_law_that_ignores_the_data(name: str) -> None:
    made = subject(PRIVATE[name], seed=1)
    ask(own(), made, ErrorBudget(1e-9))
    assert verdict(made.findings, bits=True) is not Verdict.REFUTED, [
        f for f in made.findings if f.status is Status.REFUTED
    ]


def test_a_failure_that_depends_on_the_data_is_still_refuted() -> None:
    def fails_on_zero(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        if not x.any():
            raise ValueError("all zero")
        return constant(x, epsilon=epsilon, rng=rng)

    made = subject(fails_on_zero, 0)
    ask([q for q in own() if q.name == "edge cases"], made, ErrorBudget(1e-9))
    assert "data-dependent failure on valid data: all rows zero" in made.findings[0].detail
    assert made.findings[0].status is Status.REFUTED


def gap_is_large(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Return the identity if a noisy gap between the two largest eigenvalues is large, and raise an error otherwise.
    The function is an example of the method propose-test-release, and the gap has sensitivity 2/n.
    """
    values = np.linalg.eigvalsh(x.T @ x / len(x))
    gap = values[-1] - values[-2] if x.shape[1] > 1 else 1.0
    if epsilon * len(x) * gap / 2 + rng.laplace() < 2.0:
        raise ValueError("the gap is too small")
    return np.eye(x.shape[1])


def on_edge_cases(draw: Callable[..., Matrix], epsilon: float, seed: int, adjacency: str = "replace-one") -> Finding:
    """Return what the audit finds on special data sets for a target that claims privacy but does not name the law of
    its noise.
    """
    setting = Setting(Target("mine", draw), {"epsilon": epsilon}, SECOND_MOMENT, seed)
    return edge_cases(setting, Form(names_a_law=False), 1e-9, adjacency)


@pytest.mark.thorough
@pytest.mark.parametrize("epsilon", [1.0, 3.0, 5.0])
def test_failures_that_depend_on_the_data_within_the_claim_are_not_refuted(epsilon: float) -> None:
    """The test fails if failures that the privacy claim allows are refuted. At ε = 5 the target nearly always fails if
    all rows are zero. The target fails less often on neighbours of these data, and hardly ever on the data sets of
    ordinary rows.
    """
    found = [on_edge_cases(gap_is_large, epsilon, seed) for seed in range(8)]
    assert {f.status for f in found} <= {Status.NOTED, Status.NOT_REFUTED}
    assert any("all rows zero" in f.detail for f in found)


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_a_failure_beyond_the_claim_is_proven_on_neighbours(adjacency: str) -> None:
    def needs_a_row_that_is_not_zero(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        if not x.any():
            raise ValueError("all zero")
        return np.asarray(rng.laplace(size=(x.shape[1], x.shape[1])))

    for epsilon in (0.1, 1.0, 3.0):
        found = on_edge_cases(needs_a_row_that_is_not_zero, epsilon, 0, adjacency)
        assert found.status is Status.REFUTED
        assert "data-dependent failure on valid data: all rows zero" in found.detail


def test_no_output_in_one_dimension_alone_is_refuted() -> None:
    def needs_three_columns(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        if x.shape[1] < 3:
            raise TypeError("two columns")
        return constant(x, epsilon=epsilon, rng=rng)

    made = subject(needs_three_columns, 0)
    ask([q for q in own() if q.name == "output form"], made, ErrorBudget(1e-9))
    assert made.findings[0].status is Status.REFUTED
    assert "on plain (20, 2) data: exception: TypeError" in made.findings[0].detail
    made = subject(failing(1 - 1e-6), 0)
    ask([q for q in own() if q.name == "output form"], made, ErrorBudget(1e-9))
    assert made.findings[0].status is Status.INCONCLUSIVE


@pytest.mark.parametrize("names_a_law", [False, True])
@pytest.mark.parametrize("error", [ValueError, NotImplementedError, AssertionError])
def test_a_rule_about_the_number_of_columns_is_noted(error: type[Exception], names_a_law: bool) -> None:
    """The test fails if a function is refuted because it accepts only data with two columns."""

    def of_the_plane(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        if x.shape[1] != 2:
            raise error("latitude and longitude")
        return constant(x, epsilon=epsilon, rng=rng)

    made = subject(of_the_plane, 0)
    made.known = replace(made.known, form=replace(made.known.form, names_a_law=names_a_law))
    ask([q for q in own() if q.name == "output form"], made, ErrorBudget(1e-9))
    assert made.findings[0].status is Status.NOTED
    assert "d = 3" in made.findings[0].detail


def test_a_rule_about_columns_that_reads_the_data_is_refuted() -> None:
    def at_most_four_columns_unless_zero(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        if x.shape[1] > 4 and x.any():
            raise ValueError("at most four columns")
        return constant(x, epsilon=epsilon, rng=rng)

    made = subject(at_most_four_columns_unless_zero, 0)
    ask([q for q in own() if q.name == "output form"], made, ErrorBudget(1e-9))
    assert made.findings[0].status is Status.REFUTED


def test_where_a_law_is_named_a_failure_breaks_it_in_true_words() -> None:
    made = subject(failing(0.5), 0)
    made.known = replace(made.known, form=replace(made.known.form, names_a_law=True))
    ask([q for q in own() if q.name in ("edge cases", "output form")], made, ErrorBudget(1e-9))
    assert {f.status for f in made.findings} == {Status.REFUTED}
    assert not any("data-dependent" in f.detail for f in made.findings)
