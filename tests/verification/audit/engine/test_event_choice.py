"""Test the statistics for privacy violations: the violations that they detect, and their false-alarm probability."""

import math

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.building_blocks.gaussian_approximate import multiplier
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.event_choice import GRID, largest_kept, largest_loss, thresholds
from covassay.verification.audit.engine.events import Pair, Statistic
from covassay.verification.audit.engine.finding import Finding, Look, Status, Verdict
from covassay.verification.audit.engine.privacy import run_pair
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.engine.violation import violates
from covassay.verification.audit.targets.target import Target

PAIR = Pair("0 and 1", np.zeros((1, 1)), np.ones((1, 1)), (Statistic("y", lambda y: y[:, 0]),))
RUN_LEVEL = 1e-10  # the error level of one check if an audit has a false-alarm probability of 1e-9
LOOSE = ApproximateDP(1.0, 0.01)


def target(noise: str, scale: float) -> Target:
    """Return a target that adds noise to the sum of the rows."""

    def many(x: Matrix, size: int, *, rng: np.random.Generator, **budget: float) -> Matrix:
        shape = size, x.shape[1]
        return x.sum(axis=0) + scale * (rng.laplace(size=shape) if noise == "laplace" else rng.standard_normal(shape))

    return Target(noise, lambda x, *, rng, **budget: many(x, 1, rng=rng, **budget)[0], draw_many=many)


def checks(noise: str, scale: float, claim: Guarantee, samples: int, seed: int) -> dict[str, Finding]:
    setting = Setting(target(noise, scale), claim.keywords(), OUTPUTS["vector"], seed=seed)
    return {check.name: check for check in run_pair(setting, PAIR, claim, Look(samples=samples))}


TIGHT = {
    "pure": ("laplace", 1.0, PureDP(1.0), "event", 150),
    "approximate": ("gaussian", multiplier(1.0, 0.01, "tight"), LOOSE, "event", 300),
    "zcdp-event": ("gaussian", 1.0, ZCDP(0.5), "event", 300),
    "zcdp-divergence": ("gaussian", 1.0, ZCDP(0.5), "divergence", 300),
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) for n in TIGHT])
def test_p_values_of_a_mechanism_that_just_keeps_its_claim_are_uniform_or_larger(name: str) -> None:
    """The test fails if p-values are too small for a mechanism whose loss equals its claim. In 500 runs, the share of
    p-values below a number u may exceed u only as far as chance explains at level 1e-9.
    """
    noise, scale, claim, check, samples = TIGHT[name]
    runs = 500
    p_values = np.sort([checks(noise, scale, claim, samples, seed)[check].p_value for seed in range(runs)])
    assert float((np.arange(1, runs + 1) / runs - p_values).max()) < math.sqrt(math.log(1e9) / (2 * runs))


@pytest.mark.thorough
def test_half_of_the_gaussian_noise_is_refuted_at_1000_draws() -> None:
    """The test fails if one of 10 runs does not refute a target with half the required Gaussian noise."""
    found = [checks("gaussian", 0.5, ZCDP(0.5), 1000, seed)["divergence"].p_value for seed in range(10)]
    assert all(p is not None and p < RUN_LEVEL for p in found), found


@pytest.mark.slow
def test_four_fifths_of_the_gaussian_noise_is_refuted_at_14000_draws() -> None:
    found = [checks("gaussian", 0.8, ZCDP(0.5), 14_000, seed) for seed in range(5)]
    assert all(f["divergence"].p_value < RUN_LEVEL for f in found), [f["divergence"].p_value for f in found]
    assert "order" in found[0]["divergence"].detail


def test_half_of_the_laplace_noise_is_refuted_at_1000_draws() -> None:
    found = [checks("laplace", 0.5, PureDP(1.0), 1000, seed)["event"].p_value for seed in range(10)]
    assert sum(p is not None and p < RUN_LEVEL for p in found) >= 5, found
    assert all(p is not None and p < 1e-6 for p in found), found


@pytest.mark.slow
def test_the_loss_of_laplace_noise_is_shown_to_two_hundredths_at_a_million_draws() -> None:
    """The test fails if the audit tests the privacy loss on a set of outputs that occurs too rarely. One set of outputs
    occurs 318 000 times on one data set and 116 000 times on the other. The set with the largest ratio of frequencies
    is a worse choice. It occurs only 10 403 and 3 823 times, so that the ratio of its two probabilities is estimated
    less accurately.
    """
    event = checks("laplace", 1.0, PureDP(1.0), 10**6, 0)["event"]
    assert event.facts.loss_lower_bound > 0.98
    assert max(event.facts.counts) > 200_000


def test_the_bet_on_an_event_sees_approximate_dp_broken() -> None:
    """The test fails if the audit does not detect a violation of (ε, δ)-privacy. The target has half of the required
    Gaussian noise.
    """
    half = multiplier(1.0, 0.01, "tight") / 2
    found = [checks("gaussian", half, LOOSE, 4000, seed)["event"].p_value for seed in range(5)]
    assert all(p is not None and p < 1e-6 for p in found), found


@pytest.mark.parametrize("claim", [PureDP(1000.0), ApproximateDP(1000.0, 1e-6), ZCDP(1e6), ZCDP(1e-9)], ids=str)
def test_no_claim_is_too_large_or_too_small_to_be_tested(claim: Guarantee) -> None:
    p_values = [check.p_value for check in checks("gaussian", 1.0, claim, 300, 0).values()]
    if claim == ZCDP(1e-9):
        assert min(p for p in p_values if p is not None) < 1e-6
    else:
        assert set(p_values) == {1.0}


def test_thresholds_reach_the_extremes() -> None:
    """The test fails if no threshold lies at the smallest or at the largest draw, because rare events are found at the
    extremes.
    """
    values = np.random.default_rng(0).random(1000)
    tried = thresholds(values)
    assert tried[0] == values.min()
    assert tried[-1] == values.max()
    assert len(thresholds(np.zeros(10))) == 1


@pytest.mark.parametrize("claim", [PureDP(0.7), ApproximateDP(0.7, 0.05), ZCDP(0.3)], ids=str)
def test_the_table_of_coins_that_keep_a_claim_agrees_with_the_definition(claim: Guarantee) -> None:
    kept = largest_kept(claim)
    for q, p in zip(GRID[100:400:20], kept[100:400:20], strict=True):
        assert not violates(p * 0.99, q, claim)
        beyond = p + 0.02 * (1 - p)
        assert p > 1 - 1e-9 or violates(beyond, q, claim)


def test_the_largest_loss_is_the_loss_that_an_event_without_an_exception_would_show() -> None:
    """For pure DP, the largest detectable loss must be the lower bound on the loss that an ideal set of outputs gives.
    Such a set contains every output drawn on one data set, and no output drawn on the other. For other notions of
    privacy, more draws must give a larger loss.
    """
    share = 1e-10 ** (1 / 700)
    assert largest_loss((700, 720), PureDP(1.0), 1e-10) == pytest.approx(math.log(share / (1 - share)))
    for claim in (ApproximateDP(1.0, 1e-6), ZCDP(0.5)):
        assert largest_loss((7000, 7000), claim, 1e-10) > largest_loss((700, 700), claim, 1e-10) > 0


def noiseless(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    """Release the second moment with hardly any noise. The audit must use statistical tests here. It cannot compute the
    exact privacy loss, because it does not see how the output depends on the random bytes.
    """
    d = x.shape[1]
    uniform = np.frombuffer(rng.bytes(8 * d * d), dtype=np.uint64).reshape(d, d) / 2.0**64
    return np.asarray(x.T @ x / len(x) + 1e-6 * (uniform - 0.5))


@pytest.mark.slow
def test_a_claim_beyond_the_reach_of_a_black_box_audit_is_inconclusive() -> None:
    """The test fails if the verdict is "not refuted" although no draws could have refuted the claim. At ε = 6 the
    verdict is "inconclusive", and the report states the largest loss that could be detected.
    """
    report = audit(noiseless, epsilon=6.0, samples=600)
    assert not any(loss.decided for loss in report.exact)
    assert report.verdict is Verdict.INCONCLUSIVE
    (reach,) = (check for check in report.checks if check.name == "reach")
    assert reach.status is Status.INCONCLUSIVE
    assert "below the claim ε = 6. Name the mechanism with --mechanism, or raise --samples" in reach.detail
    assert audit(noiseless, epsilon=2.0, samples=600).verdict is Verdict.REFUTED


def fails_on_long_rows(x: Matrix, *, rng: np.random.Generator, **budget: float) -> Matrix:
    if np.abs(x).sum() > 0.5:
        raise ArithmeticError
    return np.eye(x.shape[1])


@pytest.mark.parametrize(
    "claim",
    [PureDP(0.1), PureDP(3.0), ZCDP(0.1), ZCDP(0.5), ZCDP(1.0), ApproximateDP(1.0, 1e-6), ApproximateDP(3.0, 0.1)],
)
def test_a_target_that_always_fails_on_one_side_is_refuted_under_every_claim(claim: Guarantee) -> None:
    """The test fails if a target is not refuted although it always fails on one of two neighbouring data sets. The
    target must be refuted under every claim, even if 300 tests share the error level.
    """
    budget = dict.fromkeys(claim.keywords(), 1.0)
    setting = Setting(Target("mine", fails_on_long_rows), {**budget, "epsilon": 1.0}, OUTPUTS["matrix"], seed=0)
    statistic = Statistic("trace", lambda y: np.trace(y, axis1=1, axis2=2))
    (check,) = run_pair(setting, Pair("p", np.zeros((2, 2)), np.eye(2), (statistic,)), claim, Look(samples=2000))
    assert check.p_value is not None
    assert 300 * check.p_value < RUN_LEVEL
