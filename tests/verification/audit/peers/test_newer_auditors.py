"""Test the auditors that we wrote anew from their definitions: what they compute, their level, and what they refute."""

import math

import numpy as np
import pytest
from scipy import stats

from covassay.reference.privacy import ApproximateDP, PureDP
from tests.peers import f_dp, further, kernel, sequential_f_dp, trade_off
from tests.peers.cases import CASES
from tests.peers.table import Line
from tests.peers.tool import LEVELS
from tests.peers.tools import COVASSAY, TOOLS

NEW = "StatDP", "Delta-Siege", kernel.KERNEL, f_dp.GENERAL, sequential_f_dp.SEQUENTIAL
CLAIM = PureDP(epsilon=1.0)
MANY = 34  # at the level 0.05, this number of refutations or more among 200 runs has probability below 1e-9


def test_many_refutations_are_rare_at_the_level() -> None:
    assert stats.binom.sf(MANY, 200, 0.05) < 1e-9


@pytest.mark.parametrize("name", NEW)
def test_a_tool_refutes_a_broken_function_and_keeps_a_correct_one(name: str) -> None:
    """This test catches a tool that refutes nothing, or everything. The broken function, which forgets to clip, has a
    loss of 19.4. Settings of a tool that cannot handle the outputs are left out.
    """
    if not TOOLS[name].installed:
        pytest.skip(f"{name} is not installed")
    for attempt in TOOLS[name].settings.values():
        broken, correct = (attempt(CASES[case], 1000, 0) for case in ("clip-forgotten", "laplace"))
        assert [finding.refuted for finding in broken] == [True, True]
        assert not correct[LEVELS.index(1e-9)].refuted


def _responses(epsilon: float, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the two laws of randomised response that attain (ε, δ)-DP, on four outputs."""
    kept = (1 - delta) / (1 + math.exp(epsilon))
    first = np.array([delta, kept * math.exp(epsilon), kept, 0])
    return first, first[::-1]


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (1.0, 0.0), (1.0, 0.01), (3.0, 0.2)])
def test_the_threshold_and_the_curve_are_those_of_randomised_response(epsilon: float, delta: float) -> None:
    """This test catches a wrong threshold or trade-off curve. A factor of 0.97 in the threshold or in ε is detected;
    the tolerance 1e-12 allows for rounding.
    """
    first, second = _responses(epsilon, delta)
    assert abs(kernel.threshold(epsilon, delta) - math.sqrt(2) * np.abs(first - second).sum() / 2) < 1e-12
    claim = ApproximateDP(epsilon=epsilon, delta=delta) if delta else PureDP(epsilon=epsilon)
    alpha = 1 - first.cumsum()[:3]  # the outputs are in the order of their likelihood ratios
    assert trade_off.claimed_curve(alpha, claim) == pytest.approx(second.cumsum()[:3], abs=1e-12)
    if not delta:
        assert trade_off.loss_below(alpha[1], second.cumsum()[1]) == pytest.approx(epsilon, abs=1e-12)


def test_the_witness_of_the_kernel_stays_in_the_unit_ball_and_reaches_its_edge() -> None:
    """This test catches a witness function outside the unit ball, and one that does not use the whole ball. On outputs
    that the kernel sees as orthogonal, f(X) − f(Y) is at most √2. A radius that is multiplied by 0.97 is detected.
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
    """This test catches a bet that uses the gain on which it bets, and a bet that never grows."""
    gains, none = np.full(50, 1.0), np.zeros(1)
    logs = kernel.log_wealth(gains, none, np.full(1, 0.25))
    assert logs[0, 0] == 0  # the first stake is 0
    assert logs[-1, 0] == pytest.approx(48 * math.log(1.25), rel=0.05)
    assert kernel.log_wealth(-gains, none, np.full(1, 0.25))[-1, 0] == 0


def test_the_plug_in_bandwidth_and_the_curve_of_two_normal_laws() -> None:
    """This test catches a wrong bandwidth, and a wrong curve. For normal points the bandwidth is near the best one,
    (4/3n)^{1/5}; the tolerances 5 % and 0.02 allow for errors of estimation.
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
    """This test catches a boundary that is crossed too often. The critical value by the union bound must be at least
    the simulated value, and both must grow as the level falls.
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
    """This test catches a sequential test that refutes a true claim too often. The level of the tested auditor is
    asymptotic, so the bound on the number of refutations is not a theorem; the seed is fixed.
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
    """This test catches a vote that takes the wrong neighbours or the wrong label."""
    train, labels = np.arange(400.0)[:, None], np.repeat([0.0, 1.0], 200)
    found = f_dp.nearest_majority(train, labels, np.array([[0.0], [150.0], [250.0], [399.0]]))
    assert found.tolist() == [0, 0, 1, 1]


def test_how_long_tools_wait() -> None:
    """This test catches a tool that never stops early, or refutes the correct function. All tools refute the broken
    function within 1000 draws, and none refutes the correct one at the small level.
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
