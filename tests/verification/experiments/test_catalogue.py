"""Test the declared experiments. An experiment makes statements about its results. For every statement, the test makes
up results that contradict it and results that agree with it. Every entry of the ledger that a statement names must
exist.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from covassay.reference.domain import second_moment
from covassay.reference.downstream.ridge import coefficients
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.claims import ledger
from covassay.verification.experiments.catalogue import EXPERIMENTS, adk19, dly22
from covassay.verification.experiments.experiment import SCALES, Experiment, Sample
from covassay.verification.experiments.findings import (
    Lines,
    Mean,
    Outcome,
    agrees,
    at_most,
    beats,
    largest,
    mean_of,
    smallest,
)

ALL = EXPERIMENTS.values()


def lines_of(experiment: Experiment, best: str, size: float = 1.0) -> Lines:
    """Return results in which the method `best` has by far the smallest errors."""
    return {
        (panel.name, measure, method.label): {
            value: Mean(level, 0.99 * level, 1.01 * level, 9)
            for value in panel.grids["paper"]
            for level in [size * (0.001 if method.label == best else 1.0)]
        }
        for panel in experiment.panels
        for measure in panel.measures
        for method in panel.methods
    }


@pytest.mark.parametrize("experiment", ALL, ids=list(EXPERIMENTS))
def test_every_statement_can_be_contradicted_and_need_not_be(experiment: Experiment) -> None:
    labels = {method.label for panel in experiment.panels for method in panel.methods}
    cases = [lines_of(experiment, best, size) for best in labels for size in (1e-3, 1e3)]
    for claim in experiment.claims:
        assert all(claim.check(case).compared for case in cases), claim.statement
        outcomes = [bool(claim.check(case).points) for case in cases]
        assert any(outcomes), claim.statement
        assert not all(outcomes), claim.statement
        assert claim.check({}) == Outcome(0, ())


def test_every_entry_of_the_ledger_that_is_named_is_there() -> None:
    assert {claim.ledger for one in ALL for claim in one.claims} - {""} <= set(ledger.covering())


@pytest.mark.parametrize("experiment", ALL, ids=list(EXPERIMENTS))
def test_panels_and_methods_are_sound(experiment: Experiment) -> None:
    names = [panel.name for panel in experiment.panels]
    assert len(set(names)) == len(names)
    for panel in experiment.panels:
        assert len({method.label for method in panel.methods}) == len(panel.methods)
        for scale in SCALES:
            assert len(panel.settings(scale)) == len(set(panel.grids[scale])) >= 3
            for setting in panel.settings(scale):
                assert all(math.isfinite(curve.values(setting)) for curve in panel.curves)
        for method in panel.methods:
            assert (method.mechanism == "") == (method.function is not None)
            if method.mechanism:
                mechanism(method.mechanism).resolve({k: v for k, v in method.options.items() if k != "delta"})


def test_a_label_stands_for_one_method_within_an_experiment() -> None:
    for experiment in ALL:
        seen: dict[str, object] = {}
        for panel in experiment.panels:
            for method in panel.methods:
                what = replace(method, function=None)  # all fields but the functions are compared
                assert seen.setdefault(method.label, what) == what


def test_intervals_of_equal_means_are_seldom_disjoint() -> None:
    """The test fails if confidence intervals are too narrow. Of two intervals for equal means, the first lies below the
    second with probability at most 0.28 %. The probability that this occurs in more than 110 of 20000 pairs is
    therefore below 1e-9.
    """
    rng = np.random.default_rng(0)
    for repetitions in (2, 3, 5, 50):
        draws = rng.standard_normal((2, 20_000, repetitions))
        means, spread = draws.mean(axis=2), draws.std(axis=2, ddof=1)
        half = stats.t.ppf(0.975, repetitions - 1) * spread / math.sqrt(repetitions)
        assert (means[0] + half[0] < means[1] - half[1]).sum() <= 110


def test_an_interval_is_that_of_student() -> None:
    mean = mean_of([1.0, 2.0, 3.0])
    assert mean.mean == 2.0
    assert mean.high == pytest.approx(2 + 4.302653 / math.sqrt(3))
    assert mean.low == pytest.approx(2 - 4.302653 / math.sqrt(3))
    assert mean_of([1.0]) == Mean(1.0, -math.inf, math.inf, 1)


def line(*means: float, half: float = 0.1) -> dict[float, Mean]:
    return {float(k): Mean(mean, mean - half, mean + half, 5) for k, mean in enumerate(means)}


def test_a_comparison_is_contradicted_where_intervals_are_disjoint_and_only_there() -> None:
    lines: Lines = {("p", "m", "a"): line(1.0, 1.0, 1.0), ("p", "m", "b"): line(0.7, 0.85, 2.0)}
    assert [point.value for point in beats(["a"], ["b"], ["p"])(lines).points] == [0.0]
    assert [point.value for point in beats(["b"], ["a"], ["p"])(lines).points] == [2.0]
    assert beats(["b"], ["a"], ["p"], at=smallest)(lines).points == ()
    assert [point.method for point in beats(["b"], ["a"], ["p"], at=largest)(lines).points] == ["a"]
    assert beats(["b"], ["a"], ["p"], factor=2.0)(lines).points == ()
    assert beats(["a", "b"], ["a"], ["p"])(lines).points == ()
    assert beats(["a"], ["b"], ["other"])(lines).points == ()


def test_what_was_compared_is_counted() -> None:
    """The test fails if the number of comparisons behind a statement is wrong. If there was nothing to compare, the
    number of comparisons must be 0, so that the statement is not taken as confirmed.
    """
    lines: Lines = {("p", "m", "a"): line(1.0, 1.0, 1.0), ("p", "m", "b"): line(0.7, 0.85, 2.0)}
    assert beats(["a"], ["b"], ["p"])(lines).compared == 3
    assert beats(["a"], ["b"], ["p"], at=smallest)(lines).compared == 1
    assert beats(["a"], ["b"], ["q"])(lines) == beats(["c"], ["b"], ["p"])(lines) == Outcome(0, ())
    assert (beats(["a"], ["b"], ["p"])(lines) + at_most(0.5, ["a"], ["p"])(lines)).compared == 6


def test_agreement_is_contradicted_by_disjoint_intervals_in_either_direction() -> None:
    lines: Lines = {("p", "m", "a"): line(1.0, 1.0, 1.0), ("p", "m", "b"): line(1.15, 1.3, 0.7)}
    assert [point.value for point in agrees("a", "b")(lines).points] == [1.0, 2.0]
    assert agrees("a", "b")(lines).compared == 3
    assert agrees("a", "c")(lines) == Outcome(0, ())


def test_a_bound_is_contradicted_by_an_interval_above_it() -> None:
    lines: Lines = {("p", "m", "a"): line(1.0, 1.15, 1.3)}
    assert [point.value for point in at_most(1.1, ["a"], ["p"])(lines).points] == [2.0]


def test_the_budgets_of_the_released_code_are_more_than_was_claimed() -> None:
    """The test fails if the budget of the released code is wrong. At ρ = 0.1 and δ = 1e-10, the released code spends ε
    = 3.135, and its eigenvalue step alone costs 0.48, which is 4.8 times ρ.
    """
    half, each = dly22.released_em_budgets(0.1, 200)
    assert 2 * half == pytest.approx(3.135, abs=5e-4)
    assert 200 * each**2 + math.sqrt(2 * 200 * math.log(1e10)) * each == pytest.approx(half)
    step = half / 2  # λ changes by at most 1 in each of two coordinates, and the Laplace noise has scale 2/ε₀
    assert 2 * (step + math.exp(-step) - 1) == pytest.approx(0.48, abs=5e-3)


def test_excess_loss_is_zero_at_the_minimiser_only() -> None:
    rows = np.random.default_rng(0).standard_normal((50, 4)) / 4
    best = coefficients(second_moment(rows), 3, adk19.PENALTY)
    sample = Sample(rows, second_moment(rows))
    assert adk19.excess_loss(best, sample) == 0.0

    def loss(w: np.ndarray) -> float:
        return float(((rows[:, :3] @ w - rows[:, 3]) ** 2).mean() / 2 + adk19.PENALTY * w @ w)

    other = best + np.array([0.1, -0.2, 0.3])
    expected = (loss(other) - loss(best)) / (second_moment(rows)[3, 3] / 2)
    assert adk19.excess_loss(other, sample) == pytest.approx(expected)


def test_a_bound_may_depend_on_the_point_and_three_per_cent_are_seen() -> None:
    """The test fails if an error that is 3 % above its bound is not reported. By hand, the bounds are 3 ·
    80^{3/2}/2000 = 1.07331 and 3 · 20/500 = 0.12.
    """
    for panel, measure, value, bound in (
        ("d", "Schatten 2 error", 80.0, 1.07331),
        ("n", "Schatten ∞ error", 500.0, 0.12),
    ):
        for factor, above in ((1.03, 1), (1.0, 0), (1 / 1.03, 0)):
            mean = Mean(bound * factor, bound * factor - 1e-5, bound * factor + 1e-5, 9)
            lines = {(panel, measure, "Algorithm 1"): {value: mean}}
            found = EXPERIMENTS["dn25-theorem-1"].claims[0].check(lines)
            assert (found.compared, len(found.points)) == (1, above)
