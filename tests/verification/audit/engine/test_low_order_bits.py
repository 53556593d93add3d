"""Test the checks of low-order bits: their statistic, the targets that they refute, and their error probability."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from covassay.reference.domain import Matrix
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.registry import mechanism
from covassay.reference.privacy import ZCDP, ApproximateDP, PureDP
from covassay.verification.audit.adapters.covassay_mechanisms import TARGETS
from covassay.verification.audit.api import audit, audit_bits
from covassay.verification.audit.engine.bit_pairs import bit_pairs, most_moving, unit_length
from covassay.verification.audit.engine.bit_statistics import lowest_bits, norm_excess
from covassay.verification.audit.engine.events import Pair
from covassay.verification.audit.engine.finding import Status, Verdict
from covassay.verification.audit.engine.low_order_bits import BitBudget, BitFindings, low_order_bits, shown_loss
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.expected import expected_of, seen
from covassay.verification.audit.knowledge.known import known
from covassay.verification.audit.options import AuditOptions
from covassay.verification.audit.questions import own
from covassay.verification.audit.reports.json_report import as_json
from covassay.verification.audit.reports.junit import as_junit
from covassay.verification.audit.reports.words import bits_sentence
from covassay.verification.audit.targets.target import Target, TargetReference
from covassay.verification.declared import stated_claim
from covassay.verification.statistics.ratio import EventCounts
from tests.negative_controls.of_bits import BIT_CONTROLS, SOUND, BitControl

CLAIM = PureDP(1.0)
ALPHA = 1e-10
QUICK = ("laplace",)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_lowest_set_bit_is_the_largest_power_of_two_that_divides(value: float) -> None:
    (found,) = lowest_bits(np.array([value]))
    if value == 0:
        assert found == math.inf
        return
    quotient = Fraction(value) / Fraction(2) ** int(found)
    assert quotient.denominator == 1
    assert quotient.numerator % 2 == 1


@cache
def looked_at(control: BitControl, seed: int = 0) -> BitFindings:
    target = Target(control.name, control.draw, released=control.released)
    output = OUTPUTS[control.released]
    setting = Setting(target, CLAIM.keywords(), output, seed)
    return low_order_bits(
        setting, bit_pairs(output, 1, None, "replace-one"), CLAIM, BitBudget(200, 2000, ALPHA), Status.REFUTED
    )


@pytest.mark.thorough
@pytest.mark.parametrize("name", BIT_CONTROLS)
def test_every_control_is_flagged(name: str) -> None:
    """The test fails if the check of the low-order bits misses a planted mistake."""
    found = looked_at(BIT_CONTROLS[name])
    assert found.verdict is Verdict.REFUTED
    assert "in place of 1" in found.loss


@pytest.mark.parametrize("name", SOUND)
def test_whole_numbers_and_a_coarse_grid_are_not_flagged(name: str) -> None:
    """The test fails if outputs on a correct grid are refuted. A false alarm has probability at most 1e-10."""
    assert looked_at(SOUND[name]).verdict is Verdict.NOT_REFUTED


@pytest.mark.parametrize(
    ("name", "where", "what"),
    [
        ("second-entry-rounded", "", "component 1"),
        ("noise-for-many-columns", "d=16", "smallest lowest set bit of all numbers"),
        ("scale-by-rows", "a single row", "the output"),
        ("turned-direction", "one row between the axes", "(‖u‖² − 1)"),
    ],
)
def test_what_shows_the_mistake_is_what_is_made_to_show_it(name: str, where: str, what: str) -> None:
    found = looked_at(BIT_CONTROLS[name])
    (shown,) = (check for check in found.checks if check.status is Status.REFUTED)
    assert where in shown.scenario
    assert what in shown.facts.event


@given(st.lists(st.floats(0.1, 1), min_size=1, max_size=4))
def test_the_norm_of_a_direction_is_computed_exactly(entries: list[float]) -> None:
    direction = np.array(entries) / np.linalg.norm(entries)
    (found,) = norm_excess(direction[None])
    exact = (sum(Fraction(entry) ** 2 for entry in direction.tolist()) - 1) * 2**53
    assert abs(found - max(-64, min(64, exact))) <= Fraction(1, 8) + Fraction(1, 2**40)


def clips_or_drops(keep_long: bool) -> Target:
    """Return a target that releases a noisy mean. Numbers beyond ±37 are clipped if `keep_long`, and otherwise
    replaced by 0.
    """

    def draw(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> np.float64:
        kept = np.clip(x, -37, 37) if keep_long else np.where(np.abs(x) <= 37, x, 0)
        return np.float64(kept.mean() + rng.laplace(scale=74 / len(x) / epsilon))

    return Target("clips or drops", draw)


@pytest.mark.parametrize(("keep_long", "shortest", "longest"), [(True, 37, 148), (False, 37 / 1.1, 37)])
def test_rows_are_as_long_as_moves_the_output_the_most(keep_long: bool, shortest: float, longest: float) -> None:
    output = OUTPUTS["number"]
    setting = Setting(clips_or_drops(keep_long), CLAIM.keywords(), output, 0)
    unit, searched = (
        bit_pairs(output, 1, None, "replace-one", length=length)[:1] for length in (unit_length, most_moving(setting))
    )
    assert shortest <= searched[0].first.max() <= longest
    budget = BitBudget(200, 2000, ALPHA)
    assert low_order_bits(setting, unit, CLAIM, budget, Status.REFUTED).verdict is Verdict.NOT_REFUTED
    assert low_order_bits(setting, searched, CLAIM, budget, Status.REFUTED).verdict is Verdict.REFUTED


def coin(loss: float) -> Target:
    """Return a target whose low-order bits have exactly the privacy loss `loss` if a row is added or removed. The
    output is a whole number, to which 2^-40 is added at random.
    """

    def draw_many(x: Matrix, size: int, *, rng: np.random.Generator, epsilon: float) -> list[np.float64]:
        likely = 1 / (1 + math.exp(-loss))
        one = rng.random(size) < (likely if x.any() else 1 - likely)
        return list(rng.integers(8, size=size) + np.where(one, 0.0, 2.0**-40))

    return Target("coin", lambda x, **given: draw_many(x, 1, **given)[0], draw_many=draw_many)


def flagged(loss: float, runs: int, alpha: float) -> int:
    output = OUTPUTS["number"]
    pair = bit_pairs(output, 1, None, "replace-one")[:1]

    def once(seed: int) -> bool:
        setting = Setting(coin(loss), CLAIM.keywords(), output, seed)
        budget = BitBudget(200, 4000, alpha)
        return low_order_bits(setting, pair, CLAIM, budget, Status.REFUTED).verdict is Verdict.REFUTED

    return sum(once(seed) for seed in range(runs))


@pytest.mark.thorough
def test_the_test_errs_no_more_often_than_it_says() -> None:
    """The test fails if the check refutes too often when the loss equals the claim. At level 0.2, a correct check
    refutes too often in 40 runs with probability below 1e-9.
    """
    assert flagged(CLAIM.epsilon, 40, 0.2) <= binom.isf(1e-9, 40, 0.2)
    assert flagged(1.5 * CLAIM.epsilon, 5, 0.2) == 5  # the check must refute a loss that is 1.5 times as large


def test_an_event_is_tested_if_the_draws_that_are_left_may_be_enough() -> None:
    """The test fails if the audit does not test an event although the remaining draws may suffice for the test. The
    draws that choose an event also say how many further draws are needed.
    """

    def draw(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> np.float64:
        return np.float64(2.0**-40 if x.any() and rng.random() < 0.09 else 1.0)

    found = looked_at(BitControl("rare bit", "", draw))
    assert found.verdict is Verdict.REFUTED
    (shown,) = (check for check in found.checks if check.status is Status.REFUTED)
    assert max(shown.facts.draws) < 2200  # the test of the event may use only the remaining draws


def test_losses_are_proven_in_the_parameters_of_the_claim() -> None:
    counts = EventCounts(500, 0, 5000, 5000, 5000.0)
    assert 2 < shown_loss(counts, PureDP(1.0), ALPHA)["epsilon"] < math.log(500)
    approximate = shown_loss(counts, ApproximateDP(1.0, 1e-5), ALPHA)
    assert 0.05 < approximate["delta"] < 0.1
    assert approximate["epsilon"] > 1
    rare = shown_loss(EventCounts(1500, 0, 5000, 5000, 5000.0), ZCDP(0.5), ALPHA)
    assert 0.5 < rare["rho"] < 5


def test_an_audit_searches_the_length_where_rows_may_lie_anywhere() -> None:
    found = audit_bits("covassay:naive-pce", ZCDP(0.5), samples=100)
    assert all("length" in check.scenario for check in found.checks if check.scenario)
    found = audit_bits("covassay:private-trace", CLAIM, samples=100)
    assert not any("length" in check.scenario for check in found.checks)


# VERDICTS AND REPORTS


@pytest.mark.thorough
def test_the_bits_have_a_verdict_of_their_own_that_does_not_turn_the_other() -> None:
    report = audit("numpy:laplace", epsilon=1.0, samples=350)
    assert (report.verdict, report.in_real_arithmetic) == (Verdict.NOT_REFUTED, Verdict.NOT_REFUTED)
    assert report.bits is not None
    assert report.bits.verdict == Verdict.REFUTED.value
    assert bits_sentence(report).startswith(
        "not refuted in real arithmetic; the low-order bits of the outputs distinguish neighbouring data sets: loss ≥ "
    )
    assert {check.status for check in report.checks if check.kind == "bits"} == {Status.NOTED, Status.NOT_REFUTED}
    assert as_json(report)["bits"]["verdict"] == "REFUTED"
    assert "--scope" not in report.replay


@pytest.mark.thorough
def test_with_scope_bits_they_count() -> None:
    """The test fails if the verdict or the replay command ignores `--scope bits`."""
    report = audit("numpy:laplace", epsilon=1.0, samples=100, scope="bits")
    assert (report.verdict, report.in_real_arithmetic) == (Verdict.REFUTED, Verdict.NOT_REFUTED)
    assert report.verdict.exit_status == 1
    (failed,) = report.refuted
    assert failed.kind == "bits"
    assert "--scope bits" in report.replay
    assert json.loads(json.dumps(as_json(report), allow_nan=False))["scope"] == "bits"
    suite = ElementTree.fromstring(as_junit(report))
    assert suite.get("failures") == "1"
    alone = audit_bits("numpy:laplace", CLAIM, samples=100)
    assert alone.checks == tuple(check for check in report.checks if check.kind == "bits")


@pytest.mark.slow
def test_a_rounded_release_passes_both() -> None:
    """The test fails if the low-order bits of a rounded release are refuted."""
    report = audit("rounded:private-trace", epsilon=1.0, samples=100, scope="bits")
    assert report.verdict is Verdict.NOT_REFUTED
    assert "no loss above the claim was found in the low-order bits of the outputs" in bits_sentence(report)


def test_the_budgets_of_both_verdicts_are_within_that_of_the_run() -> None:
    assert sum(question.share for question in own()) <= Fraction(9, 10)
    with pytest.raises(InvalidInput, match="scope"):
        AuditOptions(scope="both")


# OUR OWN MECHANISMS


RARE = {"adaptive-cov", "ppde"}  # these mechanisms need more draws than an audit makes by default
# Of the numbers that this mechanism releases, only the noisy number of rows has bits that show a loss. The audit
# compares data sets of 16 and 15 rows, and of 3 and 2 rows. The best event occurred in 18 of 19995 draws, and its test
# would take about 2·10^6 draws.
UNSEEN = {"box-gauss-add-remove"}


def may_be_seen(mechanism_name: str) -> bool:
    """Return whether the low-order bits of the mechanism's outputs reveal its floating-point noise."""
    return not mechanism_name.startswith("discrete-") and not known(mechanism_name).bits_unseen


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.slow)
        for name, make in TARGETS.items()
        if name not in UNSEEN and may_be_seen(str(make().mechanism))
    ],
)
def test_our_float_releases_are_flagged(name: str) -> None:
    """The test fails if the check of the low-order bits misses the floating-point noise of our own mechanisms."""
    source = TargetReference(f"covassay:{name}", ".")
    declared = source.load().mechanism
    samples = 4000 if declared in RARE else 2000
    claim = stated_claim(declared)
    found = audit_bits(source, claim, samples=samples, scope="real")
    if found.verdict is not Verdict.REFUTED:  # an event that occurs rarely needs more draws
        found = audit_bits(source, claim, samples=samples)
    assert found.verdict is Verdict.REFUTED


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(UNSEEN))
def test_a_noisy_number_of_rows_is_flagged_between_one_row_and_two(name: str) -> None:
    """The user supplies two data sets, one of two rows and one of one row. On these neighbours, the low-order bits of
    the noisy number of rows show the largest loss. The test fails if the check does not detect this loss.
    """
    source = TargetReference(f"covassay:{name}", ".")
    target = source.load()
    claim = stated_claim(target.mechanism)
    _, _, expected = expected_of(target, claim, AuditOptions())
    output = expected.form.output
    setting = Setting(seen(source, expected, AuditOptions()), claim.keywords(), output, seed=0)
    own = Pair("two rows and one", np.zeros((2, 1)), np.zeros((1, 1)), ())
    pairs = bit_pairs(output, 1, None, "add-remove", own=[own])[-1:]
    found = low_order_bits(setting, pairs, claim, BitBudget(500, 10_000, ALPHA), Status.REFUTED)
    assert found.verdict is Verdict.REFUTED
    (shown,) = found.checks
    assert shown.facts.event.startswith("lowest set bit of entry (1, 1)")


@pytest.mark.thorough
@pytest.mark.parametrize("calibration", mechanism("recursive-moment").choices["calibration"])
def test_one_round_of_recursive_moment_is_flagged(calibration: str) -> None:
    """If there are several rounds, the noisy matrix is multiplied by matrices of earlier rounds, which changes its
    low-order bits. If there is only one round, the low-order bits are those of floating-point noise, and the test fails
    if the check does not detect them.
    """
    name = "recursive-moment"
    assert known(name).bits_unseen
    declared, claim = mechanism(name), stated_claim(name)

    def one_round(x: Matrix, *, rho: float, rng: np.random.Generator) -> Matrix:
        return declared.sample(x, rng, rho=rho, calibration=calibration, kappa=1e3, subsample=10)

    setting = Setting(Target("one round", one_round), claim.keywords(), declared.output, seed=0)
    pairs = bit_pairs(declared.output, 1, None, "replace-one")
    found = low_order_bits(setting, pairs, claim, BitBudget(500, 20_000, ALPHA), Status.REFUTED)
    assert found.verdict is Verdict.REFUTED


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["nuclear-laplace", "gauss-cov", "iterative-eigenvectors", "exponential", "laplace", "bingham"]
)
def test_our_rounded_releases_are_not(name: str) -> None:
    """The test fails if a rounded release is refuted. For each release, a false alarm has probability at most 1e-10."""
    source = TargetReference(f"rounded:{name}", ".")
    assert audit_bits(source, stated_claim(source.load().mechanism), samples=300).verdict is not Verdict.REFUTED


def test_a_target_that_answers_on_one_data_set_alone_is_left_to_the_other_checks() -> None:
    def refuses_zeros(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> float:
        if not x[:-1].any():
            raise ValueError("a row of zeros")
        return float(np.rint(x.sum() + rng.laplace(scale=10)))

    assert looked_at(BitControl("refuses", "", refuses_zeros)).verdict is not Verdict.REFUTED


@pytest.mark.thorough
def test_a_loss_that_another_adjacency_explains_is_said_to_be_explained() -> None:
    source = replace(coin(1.6), released="number")
    report = audit(source, epsilon=1.0, samples=400, scope="bits")
    assert (report.verdict, report.in_real_arithmetic) == (Verdict.REFUTED, Verdict.NOT_REFUTED)
    assert any("add-remove adjacency could explain it" in text for text in report.diagnoses)
