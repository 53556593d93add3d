"""Test statistics that are learned from a first set of draws. Learned statistics must detect losses that no other
statistic detects, and refute no correct target.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.privacy import PureDP
from covassay.verification.audit.engine import pilot
from covassay.verification.audit.engine.events import Pair, data_sets, generic_statistics
from covassay.verification.audit.engine.facts import DifferingRow
from covassay.verification.audit.engine.finding import Finding, Look
from covassay.verification.audit.engine.learned import log_ratios
from covassay.verification.audit.engine.privacy import run_pair
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.targets.target import Target

FIRST, SECOND = np.zeros((1, 2)), np.ones((1, 2))
Sampler = Callable[[float, int, np.random.Generator], Matrix]


VALUES = 20


def alternating(side: float, size: int, rng: np.random.Generator) -> Matrix:
    """Draw random indices. Apart from the two smallest and the two largest indices, odd indices are likelier on one
    data set than on the other.
    """
    odd = 0.5 if side else 0.1
    weights = np.where(np.arange(VALUES) % 2, odd, 1 - odd)
    weights[[0, 1, -2, -1]] = 1.0
    return rng.choice(VALUES, p=weights / weights.sum(), size=(size, 2)).astype(np.float64)


def scale(side: float, size: int, rng: np.random.Generator) -> Matrix:
    """Draw Laplace noise, which is three times as large on one of the two data sets."""
    return rng.laplace(scale=3.0 if side else 1.0, size=(size, 2))


def checks(sampler: Sampler, epsilon: float, samples: int, seed: int) -> list[Finding]:
    def many(x: Matrix, size: int, *, rng: np.random.Generator, **budget: float) -> Matrix:
        return sampler(x[0, 0], size, rng)

    target = Target(sampler.__name__, lambda x, *, rng, **budget: many(x, 1, rng=rng)[0], draw_many=many)
    setting = Setting(target, {"epsilon": epsilon}, OUTPUTS["vector"], seed=seed)
    pair = Pair("p", FIRST, SECOND, generic_statistics(FIRST, SECOND, OUTPUTS["vector"]))
    return run_pair(setting, pair, PureDP(epsilon), Look(samples=samples))


def smallest_p(sampler: Sampler, epsilon: float, samples: int, seed: int) -> float:
    return min(check.p_value for check in checks(sampler, epsilon, samples, seed) if check.p_value is not None)


def test_a_difference_that_no_threshold_shows_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the audit learns no statistic that detects the difference. The privacy loss is 2 ln 5, and
    without learned statistics a claim of 1 is not refuted.
    """
    assert all(smallest_p(alternating, 1.0, 4000, seed) < 1e-12 for seed in range(3))
    monkeypatch.setattr(pilot, "_learned", lambda pilots: [])
    assert all(smallest_p(alternating, 1.0, 4000, seed) > 1e-3 for seed in range(3))


def test_another_scale_of_the_noise_is_refuted() -> None:
    assert all(smallest_p(scale, 1.0, 2000, seed) < 1e-10 for seed in range(3))


@pytest.mark.slow
def test_p_values_stay_uniform_or_larger_although_the_draws_chose_the_statistic() -> None:
    """The test fails if a statistic is tested on the draws from which it was learned. The true loss equals the claim in
    all 200 runs, so valid p-values are uniform or larger. The test allows smaller p-values only to an extent that
    chance exceeds with probability at most 1e-9.
    """
    runs = 200
    p_values = np.sort([smallest_p(alternating, 2 * math.log(5), 300, seed) for seed in range(runs)])
    assert float((np.arange(1, runs + 1) / runs - p_values).max()) < math.sqrt(math.log(1e9) / (2 * runs))


def test_statistics_that_are_ranked_by_the_draws_they_were_learned_from_would_promise_what_is_not_there() -> None:
    """The test shows the bias of a likelihood ratio on the draws from which it was learned. Both data sets have the
    same law. The ratio seems to differ from 1 on the draws from which it was learned, but not on fresh draws.
    """
    rng = np.random.default_rng(0)
    one, two, fresh, other = rng.integers(40, size=(4, 500, 1)).astype(np.float64)
    ratio = dict(log_ratios(one, two))["learned ln p(Y)/p'(Y)"]
    assert ratio(one).mean() - ratio(two).mean() > 0.1
    assert abs(ratio(fresh).mean() - ratio(other).mean()) < 0.1


def test_the_ratio_of_whole_outputs_is_that_of_their_frequencies() -> None:
    one, two = np.array([[0.0, 1.0]] * 30 + [[1.0, 0.0]] * 10), np.array([[0.0, 1.0]] * 10 + [[1.0, 0.0]] * 30)
    found = dict(log_ratios(one, two))["learned ln p(Y)/p'(Y)"](np.array([[0.0, 1.0], [1.0, 0.0], [7.0, 7.0]]))
    assert found == pytest.approx([math.log(30.5 / 10.5), -math.log(30.5 / 10.5), 0.0])


def test_outputs_that_never_repeat_have_no_table_of_whole_outputs() -> None:
    rng = np.random.default_rng(0)
    assert [name[0] for name, _ in log_ratios(rng.random((100, 2, 2)), rng.random((100, 2, 2)))] == ["Σ"]


def test_a_row_that_one_data_set_lacks_is_null() -> None:
    found = data_sets(Pair("p", np.array([[1.0], [2.0]]), np.array([[1.0], [3.0], [4.0]]), ()))
    rows = (DifferingRow(2, (2.0,), (3.0,)), DifferingRow(3, None, (4.0,)))
    assert found.differing_rows == rows
