"""Test the checks of an audit that record the draws of a target: refuted targets,
undecided targets, and quick audits.
"""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from covassay.reference.domain import unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.concentrated import gauss_cov
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import PureDP
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine import facts
from covassay.verification.audit.engine.contract import example_rows
from covassay.verification.audit.engine.events import data_sets
from covassay.verification.audit.engine.finding import Finding, Look, Status, Verdict
from covassay.verification.audit.options import AuditOptions
from covassay.verification.audit.question import NOT_QUICK
from covassay.verification.audit.questions import own
from covassay.verification.audit.questions.contract import forced_draws
from covassay.verification.audit.questions.law import gains_beside_the_reference as gains
from covassay.verification.audit.questions.privacy import recorded_draws
from covassay.verification.audit.questions.privacy.events_on_neighbours import pairs_of
from covassay.verification.audit.recorded import affine, common_draws, exact_loss, same_law
from covassay.verification.audit.recorded.common_draws import on_common_draws
from covassay.verification.audit.recorded.facts import ExactLosses
from covassay.verification.audit.recorded.recorder import recorder
from covassay.verification.audit.recorded.same_law import Compared
from covassay.verification.audit.recorded.search import Searched, searched
from covassay.verification.audit.report import AuditReport
from covassay.verification.audit.reports.json_report import as_json, schema
from covassay.verification.audit.reports.words import exact_sentence, summary
from covassay.verification.audit.targets.target import as_source, load
from tests.negative_controls.every import NEGATIVE_CONTROLS
from tests.negative_controls.trial import subject_of
from tests.verification.audit.recorded.correct_targets import CORRECT, PAIR

INTERVAL = ((0.0, 1.0),)
# This target is private only for whole numbers, and for other numbers in the interval its loss is infinite.
WHOLE_DATA = "geometric"


def quick(target: Any, mechanism: str | None = None, **options: Any) -> AuditReport:
    return audit(target, mechanism, quick=True, **{"samples": 200, **options})


def gauss(x: Any, *, rho: float, rng: Any, factor: float = 1.0, shift: float = 0.0) -> Any:
    """Run the mechanism gauss-cov, but draw its entries one by one from the last to the first."""
    rows = unit_rows(x)
    n, d = rows.shape
    w = np.zeros((d, d))
    for i in reversed(range(d)):
        for j in range(i, d):
            w[i, j] = w[j, i] = rng.normal(scale=factor / (n * np.sqrt(rho)))
    return rows.T @ rows / n + w + shift / n


def status(report: AuditReport, question: Any) -> set[Status]:
    return {check.status for check in report.checks if check.question == question.id}


# A QUICK AUDIT


@pytest.mark.thorough
def test_a_quick_audit_that_decides_is_not_refuted_without_a_p_value() -> None:
    report = quick(gauss, "gauss-cov", rho=0.5)
    assert report.verdict is Verdict.NOT_REFUTED
    assert all(check.p_value is None for check in report.checks)
    assert report.exact[0].loss == pytest.approx(0.5, rel=1e-9)
    assert status(report, gains.QUESTION) == {Status.NOT_REFUTED}
    assert "the largest exact loss found is ρ = 0.5 where 0.5 is claimed, at these rows" in exact_sentence(report)


def test_the_headline_says_on_which_pairs_the_loss_is_known() -> None:
    """The test fails if the report suggests that the loss is known on every pair of data sets when it is known only on
    some.
    """

    def squared_for_more_columns(x: Any, *, rho: float, rng: Any) -> Any:
        y = gauss_cov.sample(x, rng, rho=rho)
        return y if y.shape[1] == 1 else y**2

    report = quick(squared_for_more_columns, rho=0.5)
    known = sum(loss.decided for loss in report.exact)
    assert 0 < known < len(report.exact)
    assert f"(the loss is known on {known} of {len(report.exact)} pairs, with d = 1)" in exact_sentence(report)
    assert "pairs" not in exact_sentence(quick(gauss, rho=0.5))


def test_three_percent_are_refuted_by_arithmetic_alone() -> None:
    """The test fails if noise that is 3 % too small is not refuted, or is refuted only by statistics."""
    report = quick(lambda x, *, rho, rng: gauss(x, rho=rho, rng=rng, factor=0.97), rho=0.5)
    assert report.verdict is Verdict.REFUTED
    assert all(check.p_value is None for check in report.checks)
    assert report.exact[0].loss == pytest.approx(0.5 / 0.97**2, rel=1e-9)
    assert report.exact[0].seeds == (0, 1)
    (found,) = report.refuted
    assert found.question == recorded_draws.QUESTION.id
    assert "exact loss" in summary(report)


@pytest.mark.thorough
def test_a_constant_that_was_rounded_is_noted_and_refutes_nothing() -> None:
    report = quick(lambda x, *, rho, rng: gauss(x, rho=rho, rng=rng, factor=1.4142 / 2**0.5), "gauss-cov", rho=0.5)
    assert report.verdict is not Verdict.REFUTED
    assert status(report, recorded_draws.QUESTION) == {Status.NOTED}
    assert report.exact[0].loss is not None
    assert report.exact[0].loss > 0.5


@pytest.mark.thorough
def test_a_quick_audit_that_decides_nothing_is_inconclusive() -> None:
    def by_uniforms(x: Any, *, epsilon: float, rng: Any) -> Any:
        return x.sum() + rng.random(12).max() / epsilon

    report = quick(by_uniforms, epsilon=1.0, released="number")
    assert report.verdict is Verdict.INCONCLUSIVE
    assert report.verdict.exit_status == 3
    assert not report.exact[0].decided
    assert "it is unknown how the output depends on this number" in exact_sentence(report)


@pytest.mark.thorough
def test_an_exact_loss_of_few_pairs_is_followed_by_the_loss_that_counts_would_have_shown() -> None:
    """The test fails if the report does not say how large a loss must be to be noticed. The exact loss of the audited
    target is known on few pairs of data sets only.
    """

    def subsampled(x: Any, *, epsilon: float, rng: Any) -> Any:
        return np.clip(x[rng.choice(len(x), size=len(x)), 0], -1, 1).mean() + rng.laplace(scale=2 / epsilon)

    report = audit(subsampled, epsilon=1.0, released="number", samples=1000, seed=0)
    told = exact_sentence(report)
    reached = [
        c.facts.in_reach.loss for c in report.checks if isinstance(c.facts, facts.TestedEvent) and c.facts.in_reach
    ]
    assert f"would probably have shown a loss of ε = {min(reached):.2f} or more; the claim is ε = 1" in told


@pytest.mark.thorough
def test_what_a_quick_audit_asks_follows_from_the_declarations() -> None:
    asked = {q.id for q in own() if q.quick}
    assert asked == {q.id for q in own() if q.few_draws or not q.share}
    report = quick("covassay:private-trace")
    skipped = {check.question for check in report.checks if check.detail == NOT_QUICK}
    assert skipped
    assert not skipped & asked
    assert {one.question for one in report.budget} <= asked


@pytest.mark.parametrize(
    "options", [{"quick": True, "scope": "bits"}, {"quick": True, "checkpoint": "a.json"}, {"quick": 1}]
)
def test_options_that_do_not_go_with_it_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="quick"):
        AuditOptions(**options)


@pytest.mark.thorough
def test_the_json_report_keeps_its_schema_and_has_every_exact_loss() -> None:
    for report in (quick("covassay:private-trace"), quick("covassay:bingham")):
        data = json.loads(json.dumps(as_json(report), allow_nan=False))
        Draft202012Validator(schema()).validate(data)
        assert data["exact"]
        assert {"pair", "claimed", "loss", "letter", "decided", "reason"} <= set(data["exact"][0])
    assert data["exact"][0]["loss"] is None
    assert data["settings"]["quick"] is True
    assert "--quick" in data["replay"]


# CORRECT FUNCTIONS


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in CORRECT if name != WHOLE_DATA])
def test_no_exact_question_refutes_a_correct_function(name: str) -> None:
    """The test fails if the search for a large exact loss refutes a correct function. The search uses no statistics,
    so there is no false-alarm probability to state.
    """
    made = recorder(CORRECT[name], {"epsilon": 1.0})
    domain = Searched(bounds=INTERVAL, shapes=((6, 1), (1, 1)))
    assert not searched(made, PureDP(1.0), domain, 60, 2.0, seed=0).worst.refuted


@pytest.mark.parametrize(
    ("name", "module", "guard", "off", "seed", "wrong"),
    [
        ("a_row_left_out_at_times", affine, "FORCED", (), 0, "refuted"),
        ("rounded_constant", exact_loss, "SLACK", 0.0, 0, "refuted"),
        ("scale_in_single_precision", exact_loss, "MARGIN_OF_EVENTS", 0.0, 0, "refuted"),
        ("one_row_chosen", exact_loss, "_seeding", lambda *given: (), 2, "refuted"),
        ("fixed_seed", exact_loss, "_seeds_are_fresh", lambda *given: None, 0, "decided"),
    ],
)
def test_without_its_guard_a_correct_function_would_be_judged_wrongly(
    name: str, module: Any, guard: str, off: Any, seed: int, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> exact_loss.ExactLoss:
        return exact_loss.exact_loss(CORRECT[name], *PAIR, PureDP(1.0), seed=seed)

    assert not getattr(found(), wrong)
    monkeypatch.setattr(module, guard, off)
    assert getattr(found(), wrong)


# BESIDE THE REFERENCE


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("factor", "shift", "told"),
    [(0.97, 0.0, "0.97 times"), (1.03, 0.0, "1.03 times"), (1.0, 0.02, "centre at"), (1.0, 0.0, "")],
)
def test_the_law_is_compared_by_arithmetic_where_draws_are_made_otherwise(
    factor: float, shift: float, told: str
) -> None:
    report = quick(lambda x, *, rho, rng: gauss(x, rho=rho, rng=rng, factor=factor, shift=shift), "gauss-cov", rho=0.5)
    found = [check for check in report.checks if check.question == gains.QUESTION.id]
    assert [check.status for check in found] == [Status.REFUTED if told else Status.NOT_REFUTED]
    assert told in found[0].detail


@pytest.mark.parametrize(
    ("name", "told"),
    [("nuclear-97", "0.97 times"), ("ridge-half-noise", "0.5 times"), ("drops-first-row", "1.2 times")],
)
def test_noise_of_any_law_is_compared_where_draws_are_the_same(name: str, told: str) -> None:
    target = load(as_source(f"mutant:{name}"))
    assert target.mechanism is not None
    declared = mechanism(target.mechanism)
    budget = declared.notion.default.keywords()
    reference = recorder(declared.sample, {**budget, **declared.resolve(dict(target.options))})
    found = on_common_draws(recorder(target, budget), reference, example_rows(6, 3), seed=0, seconds=20.0)
    assert told in found.difference


def test_only_a_shift_and_a_factor_tell_laws_apart() -> None:
    r = np.random.default_rng(1).random((60, 1))
    relation = common_draws._relation
    assert relation(r, r) == Compared()
    assert relation(1.03 * r + 1, r).difference
    assert relation(r + 0.1, r).difference
    assert relation(0 * r, r).difference
    for other in (-r, 1 - r, (r + 0.3) % 1, r**2, r[::-1]):
        assert not relation(other, r).difference
        assert relation(other, r).reason


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("less-at-two", "at ε = 2, the law is not that of the reference: entry 1 varies 0.97 times"),
        ("views-less", "as a view with strides the law is not that of the reference: entry 1 varies 0.97 times"),
        ("less-at-thirteen-columns", "d = 13 the law is not that of the reference: entry 1 varies 0.97 times"),
        ("less-at-255-rows", "n = 255, d = 2 the law is not that of the reference: entry 1 varies 0.97 times"),
    ],
)
def test_a_rare_budget_form_or_size_is_compared_by_arithmetic(
    name: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the time limit is long, so that all cases are tried even on a busy machine
    monkeypatch.setattr(gains, "SECONDS", 60.0)
    (found,) = gains.QUESTION.asked(subject_of(NEGATIVE_CONTROLS[name]), Look())
    assert found.status is Status.REFUTED
    assert told in found.detail


def _beside_gauss_cov(draw: Any) -> Finding:
    subject = subject_of(NEGATIVE_CONTROLS["less-between-budgets"])
    subject.setting = replace(subject.setting, source=as_source(draw))
    (found,) = gains.QUESTION.asked(subject, Look())
    return found


def test_correct_functions_that_are_asked_at_other_budgets_and_in_other_forms_are_not_refuted() -> None:
    """One correct function ignores the given budget, one uses at most the budget 1, and one accepts only contiguous
    arrays of float64. The test fails if one of them is refuted.
    """

    def own_budget(x: Any, *, rho: float, rng: Any) -> Any:
        return gauss_cov.sample(np.asarray(x, float), rng, rho=0.5)

    def largest_budget(x: Any, *, rho: float, rng: Any) -> Any:
        return gauss_cov.sample(np.asarray(x, float), rng, rho=min(rho, 1.0))

    def arrays_alone(x: Any, *, rho: float, rng: Any) -> Any:
        assert x.flags.c_contiguous
        assert x.dtype == np.float64
        return gauss_cov.sample(x, rng, rho=rho)

    for draw in (own_budget, largest_budget, arrays_alone):
        assert _beside_gauss_cov(draw).status is not Status.REFUTED, draw.__name__


@pytest.mark.parametrize(
    ("compare", "place", "told"),
    [(on_common_draws, common_draws, "reference's entry plus"), (same_law.compared, same_law, "centre")],
)
def test_sums_in_single_precision_do_not_move_the_law(
    monkeypatch: pytest.MonkeyPatch, compare: Any, place: Any, told: str
) -> None:
    def in_single(x: Any, *, rho: float, rng: Any) -> Any:
        rows = unit_rows(np.asarray(x, float)).astype(np.float32)
        noise = gauss_cov.sample(np.zeros(rows.shape), rng, rho=rho)
        return np.einsum("ij,ik->jk", rows, rows) / np.float32(len(rows)) + noise

    def found() -> Compared:
        budget = {"rho": 0.5}
        reference = recorder("covassay:gauss-cov", budget)
        return compare(recorder(in_single, budget), reference, example_rows(10_000, 2), 0, 20.0)

    assert not found().difference
    monkeypatch.setattr(place, "of_single_precision", lambda x: 0.0)
    assert told in found().difference


@pytest.mark.thorough
def test_a_composite_of_the_reference_is_decided_by_its_draws() -> None:
    report = quick("covassay:separate-cov")
    assert report.verdict is Verdict.NOT_REFUTED
    assert status(report, recorded_draws.QUESTION) <= {Status.NOT_REFUTED, Status.SKIPPED}


# RARE BRANCHES, AND AIMS


def test_forced_draws_are_noted_and_skipped_where_nothing_can_be_forced() -> None:
    def cut(x: Any, *, epsilon: float, rng: Any) -> Any:
        return np.clip(x.sum(), 0, 1) + np.clip(rng.laplace(), -9, 9) / epsilon

    report = quick(cut, epsilon=1.0, bounds=INTERVAL)
    assert status(report, forced_draws.QUESTION) == {Status.NOTED}
    assert status(report, recorded_draws.QUESTION) == {
        Status.REFUTED
    }  # outputs above 9 occur on only one of the two data sets
    bare = quick(lambda x, *, epsilon, rng: 0.0, epsilon=1.0, released="number")
    assert status(bare, forced_draws.QUESTION) == {Status.SKIPPED}
    assert status(bare, gains.QUESTION) == {Status.SKIPPED}


@pytest.mark.thorough
@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
def test_a_transcript_above_the_claim_aims_at_public_outputs_and_refutes_nothing() -> None:
    report = quick("diffprivlib:linear-regression")
    found = next(check for check in report.checks if isinstance(check.facts, ExactLosses))
    assert found.status is not Status.REFUTED
    assert 2 * "laplace.LaplaceTruncated.randomise: ε = 0.5 + " in found.detail
    assert isinstance(found.facts, ExactLosses)
    assert [pair.name for pair in found.facts.neighbours] == [recorded_draws.AIMED]


def test_events_are_counted_on_a_pair_that_is_aimed_at() -> None:
    subject = subject_of(NEGATIVE_CONTROLS["half-scale"])
    pair = replace(subject.known.pairs(frozenset())[0], name=recorded_draws.AIMED)
    facts = ExactLosses(1, 0, 1, data_sets(pair), (), (pair,))
    assert recorded_draws.AIMED not in {one.name for one in pairs_of(subject, Look())}
    subject.findings = [Finding("privacy", recorded_draws.CHECK, Status.SKIPPED, "", facts=facts)]
    assert recorded_draws.AIMED in {one.name for one in pairs_of(subject, Look())}


@pytest.mark.thorough
def test_the_reference_beside_a_target_has_the_neighbours_of_the_audit() -> None:
    def counted(x: Any, *, rho: float, rng: Any) -> Any:
        return gauss_cov.sample(x, rng, rho=rho, adjacency="add-remove")

    report = quick(counted, "gauss-cov", rho=0.5, adjacency="add-remove")
    assert report.verdict is Verdict.NOT_REFUTED
    assert status(report, gains.QUESTION) == {Status.NOT_REFUTED}
    assert report.exact[0].adjacency == "add-remove"
    assert report.exact[0].loss == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize(
    ("loss", "lower_bound", "sign"),
    [(2.0, False, "="), (2.0, True, "≥"), (math.inf, False, "="), (math.inf, True, "=")],
)
def test_a_lower_bound_is_called_one_unless_it_is_infinite(loss: float, lower_bound: bool, sign: str) -> None:
    assert exact_loss.relation(loss, lower_bound) == sign
