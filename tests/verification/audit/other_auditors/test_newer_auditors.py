"""Test our implementations of other auditors: their formulas, their error level, and what they refute."""

import math

import numpy as np
import pytest
from scipy import stats

from covassay.reference.privacy import ApproximateDP, PureDP
from tests.other_auditors import f_dp, further, kernel, sequential_f_dp, trade_off
from tests.other_auditors.cases import CASES
from tests.other_auditors.table import Line
from tests.other_auditors.tool import LEVELS
from tests.other_auditors.tools import COVASSAY, TOOLS

NEW = "StatDP", "Delta-Siege", kernel.KERNEL, f_dp.GENERAL, sequential_f_dp.SEQUENTIAL
CLAIM = PureDP(epsilon=1.0)
MANY = 34  # at the level 0.05, this many refutations in 200 runs have probability below 1e-9


def test_many_refutations_are_rare_at_the_level() -> None:
    assert stats.binom.sf(MANY, 200, 0.05) < 1e-9


@pytest.mark.parametrize("name", NEW)
def test_a_tool_refutes_a_broken_function_and_keeps_a_correct_one(name: str) -> None:
    """The test fails if an auditor does not refute a broken function, or refutes a correct one. The broken function
    forgets to clip its data. Settings that cannot handle the outputs are skipped.
    """
    if not TOOLS[name].installed:
        pytest.skip(f"{name} is not installed")
    for attempt in TOOLS[name].settings.values():
        broken, correct = (attempt(CASES[case], 1000, 0) for case in ("clip-forgotten", "laplace"))
        assert [finding.refuted for finding in broken] == [True, True]
        assert not correct[LEVELS.index(1e-9)].refuted


def _responses(epsilon: float, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the two laws of a randomised response with four outputs that attains (ε, δ)-DP."""
    kept = (1 - delta) / (1 + math.exp(epsilon))
    first = np.array([delta, kept * math.exp(epsilon), kept, 0])
    return first, first[::-1]


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (1.0, 0.0), (1.0, 0.01), (3.0, 0.2)])
def test_the_threshold_and_the_curve_are_those_of_randomised_response(epsilon: float, delta: float) -> None:
    """The test fails if the threshold or the trade-off curve of an auditor is wrong for randomised response. The
    tolerance 1e-12 allows for rounding.
    """
    first, second = _responses(epsilon, delta)
    assert abs(kernel.threshold(epsilon, delta) - math.sqrt(2) * np.abs(first - second).sum() / 2) < 1e-12
    claim = ApproximateDP(epsilon=epsilon, delta=delta) if delta else PureDP(epsilon=epsilon)
    alpha = 1 - first.cumsum()[:3]  # the outputs are sorted by their likelihood ratio
    assert trade_off.claimed_curve(alpha, claim) == pytest.approx(second.cumsum()[:3], abs=1e-12)
    if not delta:
        assert trade_off.loss_below(alpha[1], second.cumsum()[1]) == pytest.approx(epsilon, abs=1e-12)


def test_the_witness_of_the_kernel_stays_in_the_unit_ball_and_reaches_its_edge() -> None:
    """The test fails if the test function of the kernel auditor has a norm above 1, or a norm far below 1. On outputs
    whose kernel is zero, the test function can reach √2.
    """
    x, y = np.zeros((300, 1)), np.full((300, 1), 1000.0)
    paid = kernel.payoffs(x, y, 1.0)
    assert paid[0] == 0
    assert 0.99 * math.sqrt(2) < paid.max() <= math.sqrt(2) + 1e-12
    assert kernel.payoffs(x, y, 1.0, radius=0.97).max() < 0.98 * math.sqrt(2)


@pytest.mark.thorough
def test_the_wealth_holds_its_level_where_the_claim_is_attained() -> None:
    rng, high = np.random.default_rng(0), math.e / (1 + math.e)
    refuted = 0
    for _ in range(200):
        x, y = (1000.0 * (rng.random((200, 1)) < p) for p in (high, 1 - high))
        refuted += bool(kernel.wealth_of(x, y, CLAIM)[:, 0].max() >= -math.log(0.05))
    assert refuted <= MANY


def test_a_stake_follows_the_gains() -> None:
    """The test fails if the stake of a bet depends on the outcome of the same bet, or if the stake never grows."""
    gains, none = np.full(50, 1.0), np.zeros(1)
    logs = kernel.log_wealth(gains, none, np.full(1, 0.25))
    assert logs[0, 0] == 0  # the first stake is 0
    assert logs[-1, 0] == pytest.approx(48 * math.log(1.25), rel=0.05)
    assert kernel.log_wealth(-gains, none, np.full(1, 0.25))[-1, 0] == 0


def test_the_plug_in_bandwidth_and_the_curve_of_two_normal_laws() -> None:
    """The test fails if the bandwidth or the trade-off curve is wrong for two normal laws. The best bandwidth for n
    normal points is about (4/(3n))^{1/5}, and the tolerances of 5 % and 0.02 allow for errors of estimation.
    """
    points = stats.norm.ppf((np.arange(2000) + 0.5) / 2000)
    assert trade_off.bandwidth(points, -4, 4, 1000) == pytest.approx((4 / 6000) ** 0.2, rel=0.05)
    ratio = trade_off.Ratio(points + 1, points)
    exact = stats.norm.cdf(-stats.norm.ppf(ratio.alpha) - 1)
    usable = (ratio.alpha > 0.05) & (ratio.alpha < 0.95)
    assert np.abs(ratio.beta - exact)[usable].max() < 0.02
    with pytest.raises(ValueError, match="without a density"):
        trade_off.bandwidth(np.zeros(100), -1, 1, 100)


def test_the_boundary_of_brownian_motion() -> None:
    """The level of a boundary is the probability with which a Brownian path crosses it. The test fails if the frequency
    of crossings among simulated paths differs from the level, or if the boundary for a smaller level is not higher.
    """
    simulated = sequential_f_dp.quantile(0.025, 1000)
    looks = np.arange(sequential_f_dp.BURN_IN, 1001.0, sequential_f_dp.EVERY)
    rng = np.random.default_rng(1)
    paths = np.cumsum(rng.standard_normal((4000, len(looks))) * np.sqrt(np.diff(looks, prepend=0)), axis=1)
    crossed = (paths > simulated * np.sqrt(looks * np.log(20 + looks / sequential_f_dp.BURN_IN))).any(axis=1).mean()
    assert abs(crossed - 0.025) < 6.2 * math.sqrt(0.025 / 4000) + 6.2 * math.sqrt(0.025 / 10000)
    assert sequential_f_dp.quantile(5e-10, 1000) > sequential_f_dp.quantile(0.0005, 1000) > simulated


@pytest.mark.thorough
def test_the_sequential_test_holds_its_level_where_the_claim_is_attained() -> None:
    """The test fails if the sequential auditor refutes a true claim too often. The bound on the refutations is not a
    theorem here, because the level of the auditor is asymptotic.
    """
    rng, q = np.random.default_rng(0), sequential_f_dp.quantile(0.025, 500)
    refuted = 0
    for _ in range(200):
        first, second = rng.laplace(1, size=500), rng.laplace(size=500)
        _, alpha, beta = sequential_f_dp.error_bounds(first, second, CLAIM, q)
        refuted += bool(np.any(beta < trade_off.claimed_curve(alpha, CLAIM)))
    assert refuted <= MANY


def test_the_auditor_of_curves_holds_its_level_where_the_claim_is_attained() -> None:
    attempt = f_dp.by_general(f_dp.FIXED)
    assert sum(attempt(CASES["laplace"], 400, seed)[0].refuted for seed in range(200)) <= MANY


def test_the_majority_of_the_nearest_neighbours() -> None:
    """The test fails if the majority vote of the nearest neighbours uses wrong points or wrong labels."""
    train, labels = np.arange(400.0)[:, None], np.repeat([0.0, 1.0], 200)
    found = f_dp.nearest_majority(train, labels, np.array([[0.0], [150.0], [250.0], [399.0]]))
    assert found.tolist() == [0, 0, 1, 1]


def test_how_long_tools_wait() -> None:
    """The test fails if an auditor needs more than 1000 draws to refute the broken function, or refutes the correct
    function at the level 1e-9.
    """
    for waits in further.WAITING.values():
        assert all(wait <= 1000 for wait in waits(CASES["clip-forgotten"], 1000, 0))
        assert math.isinf(waits(CASES["laplace"], 1000, 0)[LEVELS.index(1e-9)])


def test_covassay_reads_the_bits_of_floats_and_of_whole_numbers() -> None:
    assert all(finding.refuted for finding in further.bits_by_covassay(CASES["laplace"], 5000, 0))
    assert not any(finding.refuted for finding in further.bits_by_covassay(CASES["truncated-geometric"], 5000, 0))


def test_a_row_is_bold_where_another_tool_shows_more() -> None:
    ours = Line("laplace-half", COVASSAY, "1", further.UNTIL, "0.05", 400, 5, "", 5, 0)
    for draws, bold in ((399, True), (400, False), (0, False)):
        other = Line("laplace-half", kernel.KERNEL, "1", further.UNTIL, "0.05", draws, 5, "", 5, 0)
        assert ("**laplace-half**" in "\n".join(further.sections([ours, other]))) == bold
