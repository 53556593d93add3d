"""Test the search for pairs of neighbouring data sets with a large privacy loss. The search must find violations that
fixed pairs miss. The seeds are fixed, and a correct target is refuted with probability at most 1e-9.
"""

import numpy as np
import pytest

from covassay.reference.domain import Matrix, second_moment, unit_rows
from covassay.reference.mechanisms.output import OUTPUTS, SECOND_MOMENT
from covassay.reference.privacy import PureDP
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine import pair_search
from covassay.verification.audit.engine.finding import Look, Status, Verdict
from covassay.verification.audit.engine.pair_search import FOUND, candidates, worse_pairs
from covassay.verification.audit.engine.privacy import run_pair
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.questions.privacy import events_on_neighbours
from covassay.verification.audit.targets.target import Target

CLAIM = PureDP(1.0)


def released(rows: Matrix, epsilon: float, rng: np.random.Generator) -> Matrix:
    n, d = rows.shape
    sensitivity = 2**0.5 * d if d > 1 else 1.0
    return second_moment(rows) + sensitivity / (n * epsilon) * rng.laplace(size=(d, d))


def correct(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    return released(unit_rows(x), epsilon, rng)


def drops_outliers(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Replace rows by zeros if they are five times as long as the median row. The mechanism is not private, because
    changing one row can remove many others.
    """
    rows = unit_rows(x)
    norms = np.linalg.norm(rows, axis=1)
    return released(rows * (norms <= 5 * np.median(norms))[:, None], epsilon, rng)


def setting(draw: object) -> Setting:
    return Setting(Target("mine", draw), {"epsilon": 1.0}, SECOND_MOMENT, seed=0)  # type: ignore[arg-type]


@pytest.mark.thorough
def test_a_pair_that_was_found_refutes_on_fresh_draws() -> None:
    """The test fails if fresh draws do not refute the pair that the search found. For a correct target, a p-value
    below 1e-12 has probability below 1e-12.
    """
    found = [pair for pair in worse_pairs(setting(drops_outliers), 2000) if len(pair.first) > 3]
    checks = [check for pair in found for check in run_pair(setting(drops_outliers), pair, CLAIM, Look(samples=2000))]
    assert min(check.p_value or 0.0 for check in checks) < 1e-12


@pytest.mark.slow
def test_the_search_finds_neighbours_that_no_fixed_pair_comes_near(monkeypatch: pytest.MonkeyPatch) -> None:
    report = audit(drops_outliers, epsilon=1.0)
    assert report.verdict is Verdict.REFUTED
    assert all(check.scenario.startswith("found by search") for check in report.refuted)
    monkeypatch.setattr(events_on_neighbours, "worse_pairs", lambda *_: [])
    assert audit(drops_outliers, epsilon=1.0).verdict is Verdict.NOT_REFUTED


def rejects(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    return released(unit_rows(x, 1.0, "raise"), epsilon, rng)


@pytest.mark.thorough
def test_a_target_that_rejects_rows_outside_the_ball_is_not_refuted() -> None:
    """The test fails if an audit refutes a target because it rejects rows longer than allowed. In a pair that the audit
    makes, the target accepts either both data sets or neither. If only one data set of a user's pair is rejected, the
    report notes it.
    """
    long = (np.array([[3.0, 4.0], [0.5, 0.0]]), np.array([[0.6, 0.8], [0.5, 0.0]]))
    report = audit(rejects, epsilon=1.0, samples=200, pair=long)
    assert report.verdict is Verdict.NOT_REFUTED
    (check,) = (check for check in report.checks if check.scenario == "your pair" and check.kind == "privacy")
    assert check.status is Status.NOTED
    assert "outside the domain" in check.detail


@pytest.mark.thorough
def test_a_correct_target_is_not_refuted_on_pairs_that_were_chosen_because_they_look_bad() -> None:
    assert audit(correct, epsilon=1.0, samples=200).verdict is Verdict.NOT_REFUTED


@pytest.mark.parametrize("kind", OUTPUTS)
def test_candidates_differ_in_one_row_and_have_names_of_their_own(kind: str) -> None:
    tried = list(candidates(0, OUTPUTS[kind]))
    assert len({one.name for one in tried}) == len(tried)
    assert all((one.first != one.second).any(axis=1).sum() == 1 for one in tried)


def test_pairs_are_of_different_shapes_and_the_same_for_the_same_seed() -> None:
    found = worse_pairs(setting(correct), 300)
    assert len({pair.first.shape for pair in found}) == len(found) == FOUND
    assert [pair.name for pair in found] == [pair.name for pair in worse_pairs(setting(correct), 300)]


def test_the_search_ends_at_the_first_pilot_that_takes_too_long() -> None:
    calls = []

    def slow(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        calls.append(len(x))
        while True:
            pass

    hanging = Setting(Target("mine", slow), {"epsilon": 1.0}, SECOND_MOMENT, seed=0, seconds=0.01)
    assert worse_pairs(hanging, 2000) == []
    assert len(calls) <= 2 * pair_search.FIRST_ROUND
