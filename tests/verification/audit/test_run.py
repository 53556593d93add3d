"""Test whole audits: verdicts, false alarms, replay, parallel runs, and targets that misbehave."""

import importlib
import json
import shlex
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.reference.mechanisms.pure import entrywise_laplace
from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.adapters.covassay_mechanisms import TARGETS
from covassay.verification.audit.api import audit
from covassay.verification.audit.budget import ErrorBudget, Overspent, decide
from covassay.verification.audit.engine.contract import Form
from covassay.verification.audit.engine.events import Pair, Statistic
from covassay.verification.audit.engine.finding import Finding, Look, Status, Verdict
from covassay.verification.audit.engine.law import Scenario
from covassay.verification.audit.engine.sampling import Setting, draw
from covassay.verification.audit.engine.violation import violates
from covassay.verification.audit.knowledge.shared.profile import Profile
from covassay.verification.audit.options import AuditOptions
from covassay.verification.audit.question import Subject
from covassay.verification.audit.questions import questions
from covassay.verification.audit.questions.contract.new_seed_new_output import new_seed
from covassay.verification.audit.questions.law import distribution
from covassay.verification.audit.questions.privacy import events_on_neighbours
from covassay.verification.audit.reports.json_report import as_json
from covassay.verification.audit.run import ask
from covassay.verification.audit.targets.target import CannotRun, Failure, Target, TargetReference, call
from covassay.verification.declared import default_claim
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.negative_controls.negative_control import one, perturbation

CLAIM = PureDP(1.0)
OWN = list(TARGETS)
CALIBRATED = [name for name in OWN if name.removesuffix("-tight") in MECHANISMS]
QUICK = ("bingham", "gauss-cov", "exponential", "coinpress-mean")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in CALIBRATED]
)
def test_the_reference_is_not_refuted(name: str) -> None:
    """The test fails if an audit refutes the reference implementation. The test covers every mechanism and
    calibration, and an audit raises a false alarm with probability at most 1e-9.
    """
    target = TargetReference(f"covassay:{name}", ".")
    report = audit(target, **default_claim(target.load().mechanism).keywords(), samples=150, seed=3)
    assert report.verdict is Verdict.NOT_REFUTED, [(c.label, c.p_value, c.detail) for c in report.refuted]


def test_an_output_that_has_positive_probability_is_no_fixed_seed() -> None:
    """The test fails if equal outputs are mistaken for a fixed seed. The audited projection is random, but it returns
    the zero matrix with positive probability.
    """
    source = TargetReference("covassay:nuclear-ball-projection", ".")
    for seed in range(180, 200):
        check = new_seed(Setting(source, CLAIM.keywords(), SECOND_MOMENT, seed=seed), Form())
        assert check.status is Status.NOT_REFUTED, seed


@pytest.mark.sweep
@pytest.mark.parametrize("name", OWN)
def test_the_reference_is_not_refuted_over_many_seeds(name: str) -> None:
    """The test fails if one of 25 audits with different seeds refutes the reference implementation. A false alarm in
    any of the 25 audits has probability at most 25e-9.
    """
    target = TargetReference(f"covassay:{name}", ".")
    for seed in range(25):
        report = audit(target, **default_claim(target.load().mechanism).keywords(), samples=200, seed=seed)
        assert report.verdict is Verdict.NOT_REFUTED, (seed, [(c.label, c.p_value) for c in report.refuted])


@pytest.mark.thorough
def test_a_run_is_replayed_draw_for_draw_with_any_number_of_workers() -> None:
    source = TargetReference("covassay:bingham", ".")
    runs = [as_json(audit(source, epsilon=1.0, samples=300, seed=11, jobs=jobs)) for jobs in (1, 2)]
    for run in runs:
        del run["seconds"]
        run["checks"] = [c for c in run["checks"] if c["name"] != "running time"]
    assert json.dumps(runs[0]) == json.dumps(runs[1])


@pytest.mark.thorough
def test_a_report_is_plain_json() -> None:
    """The test fails if the JSON report contains a NaN or lacks a field."""
    report = audit(TargetReference("covassay:bingham", "."), epsilon=1.0, samples=200)
    data = json.loads(json.dumps(as_json(report), allow_nan=False))
    assert data["verdict"] == "NOT REFUTED"
    assert data["adjacency"] == "replace-one"
    assert "not a certificate" in data["meaning"]
    assert data["replay"].startswith("covassay audit covassay:bingham --epsilon 1 ")


def test_the_false_alarm_budget_is_stated_and_checked() -> None:
    with pytest.raises(InvalidInput, match=r"false_alarm = 0\.5"):
        audit(TargetReference("covassay:bingham", "."), epsilon=1.0, false_alarm=0.5)


def twice_the_noise_it_needs(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    return entrywise_laplace.sample(x, rng, epsilon=epsilon / 2)


@pytest.mark.thorough
def test_a_black_box_that_keeps_its_claim_is_not_refuted() -> None:
    report = audit(Target("mine", twice_the_noise_it_needs), epsilon=1.0, samples=150)
    assert report.verdict is Verdict.NOT_REFUTED
    asked = [check for check in report.checks if check.status is not Status.SKIPPED]
    assert {check.kind for check in asked} == {"contract", "privacy", "bits"}


def no_noise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    return x.T @ x / len(x) + 1e-3 * rng.standard_normal((x.shape[1],) * 2)


def small_gaussian(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Add Gaussian noise with a tenth of the standard deviation that ρ-zCDP requires."""
    sigma = 0.1 / (len(x) * np.sqrt(rho))
    return x.T @ x / len(x) + sigma * rng.standard_normal((x.shape[1],) * 2)


def gaussian(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
    """Add Gaussian noise that suffices for ρ-zCDP, because one row changes the matrix by at most √2/n in Frobenius
    norm.
    """
    rows = x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True))
    return rows.T @ rows / len(x) + rng.standard_normal((x.shape[1],) * 2) / (len(x) * np.sqrt(rho))


def approximate(x: Matrix, *, epsilon: float, delta: float, rng: np.random.Generator) -> Matrix:
    return no_noise(x, epsilon=epsilon, rng=rng)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("function", "claim", "verdict"),
    [
        (no_noise, PureDP(1.0), Verdict.REFUTED),
        (approximate, ApproximateDP(1.0, 1e-5), Verdict.REFUTED),
        (small_gaussian, ZCDP(0.5), Verdict.REFUTED),
        pytest.param(gaussian, ZCDP(0.5), Verdict.NOT_REFUTED, marks=pytest.mark.slow),
    ],
    ids=["pure", "approximate", "zcdp", "zcdp-kept"],
)
def test_a_black_box_is_held_to_each_notion_of_privacy(function, claim, verdict) -> None:  # type: ignore[no-untyped-def]
    report = audit(Target("mine", function), **claim.keywords(), samples=600)
    assert report.verdict is verdict, [(c.label, c.p_value, c.detail) for c in report.checks]


@pytest.mark.parametrize(
    ("p", "q", "claim", "broken"),
    [
        (0.5, 0.2, PureDP(0.9), True),  # ln 2.5 = 0.916
        (0.5, 0.2, PureDP(0.92), False),
        (0.5, 0.2, ApproximateDP(0.5, 0.17), True),  # 0.5 − e^0.5 · 0.2 = 0.1703
        (0.5, 0.2, ApproximateDP(0.5, 0.171), False),
        (0.5, 0.2, ZCDP(0.223), True),  # D_2/2 = ln(0.25/0.2 + 0.25/0.8)/2 = 0.22314
        (0.5, 0.2, ZCDP(0.23), False),  # the supremum over the order α is 0.2273, attained at α = 1.49
        (0.2, 0.5, PureDP(0.1), False),
    ],
)
def test_the_definition_of_each_notion_is_applied_to_an_event(p: float, q: float, claim, broken: bool) -> None:  # type: ignore[no-untyped-def]
    assert violates(p, q, claim) is broken


def hangs(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    time.sleep(60)
    return x


def hides_interruptions(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    try:
        time.sleep(60)
    except Exception as error:
        raise ValueError("wrapped") from error
    return x


@pytest.mark.parametrize("function", [hangs, hides_interruptions])
def test_a_time_out_is_an_outcome(function) -> None:  # type: ignore[no-untyped-def]
    """The test fails if an audit hangs because a call of the target never returns."""
    output, elapsed = call(Target("mine", function), np.eye(2), {"epsilon": 1.0}, np.random.default_rng(0), 0.2)
    assert isinstance(output, Failure)
    assert output.kind == "time-out"
    assert elapsed < 5


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs SIGALRM")
def test_the_timer_of_somebody_else_goes_on() -> None:
    """The test fails if the time limit of an audit stops a timer that another program has set. The plugin
    pytest-timeout, for example, uses the same timer.
    """
    try:
        signal.setitimer(signal.ITIMER_REAL, 60.0)
        call(Target("mine", hangs), np.eye(2), {"epsilon": 1.0}, np.random.default_rng(0), 0.1)
        left, _ = signal.getitimer(signal.ITIMER_REAL)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert 50 < left < 59.95


@pytest.mark.thorough
def test_the_replay_command_keeps_every_digit_and_the_form_of_the_output() -> None:
    target = Target("mine:f", lambda x, *, epsilon, rng: rng.laplace(scale=100.0, size=x.shape[1]))
    report = audit(target, epsilon=1.23456789, released="vector", samples=100)
    words = shlex.split(report.replay)
    assert words[:7] == ["covassay", "audit", "mine:f", "--epsilon", "1.23456789", "--released", "vector"]


@pytest.mark.thorough
def test_a_target_that_never_answers_is_inconclusive_not_a_crash() -> None:
    report = audit(Target("mine", hangs), epsilon=1.0, mechanism="nuclear-laplace", samples=100, time_limit=0.02)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert report.verdict.exit_status == 3


def raises(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    raise KeyError("row 17 of the data")


def test_a_target_that_always_raises_cannot_be_run() -> None:
    with pytest.raises(CannotRun, match=r"called as f\(x, \*, epsilon, rng\) it raised KeyError"):
        audit(Target("mine", raises), epsilon=1.0)


def test_where_equal_generators_differ_nothing_is_said_of_layouts_and_orders_of_the_rows() -> None:
    """The output of the target changes with the number of calls. The test fails if the report attributes the change to
    the memory layout or to the order of the rows.
    """
    calls = []

    def salted(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        calls.append(1)
        own = np.random.default_rng([int(rng.integers(2**32)), len(calls)])
        return entrywise_laplace.sample(x, own, epsilon=epsilon)

    found = {f.name: f.status for f in audit(Target("mine", salted), epsilon=1.0, quick=True).checks}
    assert found["same seed, same output"] is Status.REFUTED
    assert Status.NOTED not in {found.get("memory layout"), found.get("summation order")}


def test_an_exception_is_counted_and_its_text_is_not_repeated() -> None:
    """The test fails if the report contains the message of an exception, which may contain data. The report may name
    only the type of the exception.
    """
    setting = Setting(Target("mine", raises), {"epsilon": 1.0}, SECOND_MOMENT, seed=0)
    draws = draw(setting, np.eye(2), 5, "test")
    assert draws.failures == {"exception: KeyError": 5}


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("nocolon", InvalidInput, "must be module:function"),
        ("nosuchmodule:f", InvalidInput, "No module named"),
        ("math:nosuch", InvalidInput, "has no attribute"),
        ("math:pi", InvalidInput, "must be a function"),
        ("covassay:nosuch", InvalidInput, "covassay has .*, nuclear-laplace, "),
    ],
    ids=["no-colon", "no-module", "no-function", "not-a-function", "no-such-target"],
)
def test_a_target_that_cannot_be_found_is_named(spec: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        TargetReference(spec, ".").load()


def test_a_module_that_fails_to_import_cannot_be_run(tmp_path: Path) -> None:
    (tmp_path / "broken_on_import.py").write_text("1 / 0\n")
    with pytest.raises(CannotRun, match="ZeroDivisionError"):
        TargetReference("broken_on_import:f", str(tmp_path)).load()


@pytest.mark.thorough
def test_suspicious_checks_get_a_second_look_on_fresh_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if an audit refutes a target without a second round of fresh draws. The target adds slightly too
    little noise, so the first round of 400 draws is suspicious but not decisive. The second round of 4000 fresh draws
    must refute the target.
    """
    many = perturbation(factor=0.97)
    target = Target("mine", one(many), draw_many=many)
    # the checks that compute an exact loss are left out, because they would refute this target without draws
    with_statistics = tuple(q for q in questions() if q.share or q.kind == "contract")
    monkeypatch.setattr(
        importlib.import_module("covassay.verification.audit.api"), "questions", lambda: with_statistics
    )
    report = audit(target, epsilon=1.0, mechanism="nuclear-laplace", samples=400, seed=1)
    decided = {check.n for check in report.checks if check.status is Status.REFUTED}
    assert report.verdict is Verdict.REFUTED
    assert 4000 in decided
    assert 400 not in decided


@pytest.mark.thorough
def test_a_suspicious_law_gets_its_second_look_although_a_pair_has_the_name_of_its_scenario() -> None:
    """If a finding on a data set is suspicious, the audit must test it again with more draws. The test fails if the
    audit omits this second test when a pair of data sets has the same name as the data set. For em-cov, for example, a
    pair and a data set are both named "separated eigenvalues, d=2".
    """
    x = np.eye(2)
    scenario = Scenario("twins", x, {"law": lambda y: kolmogorov_smirnov(y[:, 0, 0], lambda t: t**0.72, "uniform")})
    pair = Pair("twins", x, x, (Statistic("entry", lambda y: y[:, 0, 0]),))
    target = Target("mine", lambda x, *, epsilon, rng: rng.random((2, 2)))
    setting = Setting(target, CLAIM.keywords(), SECOND_MOMENT, 0)
    known = Profile(Form(), (scenario,), lambda _: (pair,))
    subject = Subject(setting, CLAIM, known, None, "replace-one", AuditOptions(samples=500))
    told: list[tuple[str, Finding]] = []
    asked = [distribution.QUESTION, events_on_neighbours.QUESTION]
    ask(asked, subject, ErrorBudget(1e-9), lambda question, found: told.extend((question.kind, f) for f in found))
    law = [f for kind, f in told if f.name == "law"]
    assert [(f.status, f.n) for f in law] == [(Status.SUSPICIOUS, 500), (Status.REFUTED, 5000)]
    assert [f.n for f in subject.findings if f.name == "law"] == [5000]
    assert len([f for kind, f in told if kind == "privacy"]) == len(
        [f for f in subject.findings if f.kind == "privacy"]
    )


@pytest.mark.thorough
def test_a_plain_function_is_audited_and_its_replay_is_a_python_call() -> None:
    report = audit(no_noise, epsilon=1.0, samples=150)
    assert report.target == "no_noise"
    assert report.verdict is Verdict.REFUTED
    call = "audit(no_noise, epsilon=1.0, samples=150, seed=0)"
    assert report.replay == call
    again = eval(call, {"audit": audit, "no_noise": no_noise, "PureDP": PureDP})
    assert [c.p_value for c in again.checks] == [c.p_value for c in report.checks]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"samples": 99}, "samples = 99: must be at least 100"),
        ({"time_limit": 0.0}, r"time_limit = 0\.0: must be a number of seconds above 0"),
        ({"false_alarm": 0.0}, r"false_alarm = 0\.0: must be above 0 and at most 0\.05"),
    ],
    ids=["samples", "time-limit", "false-alarm"],
)
def test_settings_out_of_range_are_named(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        AuditOptions(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "claim", "message"),
    [
        ("ppc", PureDP(1.0), "ppc is ρ-zCDP: give --rho instead of --epsilon"),
        ("gauss-cov-approximate", PureDP(1.0), "is .ε, δ.-DP: give --epsilon and --delta instead of --epsilon"),
        ("bingham", ZCDP(0.5), "bingham is ε-DP: give --epsilon instead of --rho"),
    ],
)
def test_a_claim_of_another_notion_is_refused_with_what_to_give(name: str, claim: Guarantee, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        audit(no_noise, **claim.keywords(), mechanism=name)


@pytest.mark.thorough
def test_the_number_of_tests_is_the_one_that_was_declared() -> None:
    """The test fails if the number of tests that share the error level depends on the draws. A pair of data sets on
    which the target never fails must count for as many tests as any other pair.
    """
    event = Finding("privacy", "event", Status.NOT_REFUTED, "", "pair", p_value=0.7e-9)
    failures = Finding("privacy", "failures", Status.NOT_REFUTED, "", "pair", p_value=1.0)
    two = Look(level=1e-9, tests=2)
    assert [check.status for check in decide([event], two)] == [Status.SUSPICIOUS]
    assert [check.status for check in decide([event, failures], two)] == [Status.SUSPICIOUS, Status.NOT_REFUTED]
    assert [check.status for check in decide([event], Look(level=1.5e-9, tests=2))] == [Status.REFUTED]
    with pytest.raises(Overspent, match="1 tests were declared, and 2 were made"):
        decide([event, failures], Look(level=1e-9, tests=1))
