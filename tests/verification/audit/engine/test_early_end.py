"""Test draws that end before the planned number. A broken target must need few draws, and stopping early must not
refute a correct target.
"""

import math

import numpy as np
import pytest
from scipy.stats import binom

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.building_blocks.gaussian_approximate import multiplier
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.api import audit
from covassay.verification.audit.budget import decide
from covassay.verification.audit.engine import pair_draws, privacy
from covassay.verification.audit.engine.events import Pair, Statistic
from covassay.verification.audit.engine.finding import Finding, Look, Status, Verdict
from covassay.verification.audit.engine.pair_draws import EARLY_SHARE
from covassay.verification.audit.engine.privacy import run_pair
from covassay.verification.audit.engine.sampling import Setting, draw, joined
from covassay.verification.audit.targets.target import Target
from covassay.verification.statistics.streams import Watch

PAIR = Pair("0 and 1", np.zeros((1, 1)), np.ones((1, 1)), (Statistic("y", lambda y: y[:, 0]),))
ALPHA = 5e-10  # the error level of the tests in one round of draws
STOP = ALPHA / 1000
LOOSE = ApproximateDP(1.0, 0.01)
RIGHT = {"pure": ("laplace", 1.0, PureDP(1.0)), "zcdp": ("gaussian", 1.0, ZCDP(0.5)),
         "approximate": ("gaussian", multiplier(1.0, 0.01, "tight"), LOOSE)}  # fmt: skip


def target(noise: str, scale: float) -> Target:
    """Return a target that adds noise to the sum of the rows."""

    def many(x: Matrix, size: int, *, rng: np.random.Generator, **budget: float) -> Matrix:
        shape = size, x.shape[1]
        return x.sum(axis=0) + scale * (rng.laplace(size=shape) if noise == "laplace" else rng.standard_normal(shape))

    return Target(noise, lambda x, *, rng, **budget: many(x, 1, rng=rng, **budget)[0], draw_many=many)


def checks(
    noise: str, scale: float, claim: Guarantee, samples: int, seed: int, stop: float
) -> tuple[list[Finding], int]:
    """Return the findings for one pair of data sets, and the number of draws per data set."""
    made: list[int] = []
    watch = Watch(lambda _, n: made.append(n))
    setting = Setting(target(noise, scale), claim.keywords(), OUTPUTS["vector"], seed=seed, progress=watch)
    return run_pair(setting, PAIR, claim, Look(samples=samples), stop), sum(made) // 2


@pytest.mark.slow
@pytest.mark.parametrize("claim", RIGHT)
@pytest.mark.parametrize(("factor", "most"), [(0.001, 300), (0.1, 300), (0.25, 1000)])
def test_a_target_with_far_too_little_noise_ends_in_a_fraction_of_the_draws(
    claim: str, factor: float, most: int
) -> None:
    """The test fails if the audit makes all 20 000 planned draws although a few hundred refute the target. The target
    adds at most a quarter of the noise that its claim requires.
    """
    noise, scale, guarantee = RIGHT[claim]
    for seed in range(3):
        (check,), made = checks(noise, factor * scale, guarantee, 20_000, seed, STOP)
        assert made <= most
        (decided,) = decide([check], Look(level=ALPHA))
        assert decided.status is Status.REFUTED
        assert check.p_value is not None
        assert check.p_value <= STOP
        assert "ended before the planned number, 20000 per data set" in check.detail


@pytest.mark.parametrize("claim", RIGHT)
def test_a_correct_target_makes_all_draws_and_the_same_ones(claim: str) -> None:
    noise, scale, guarantee = RIGHT[claim]
    watched, made = checks(noise, scale, guarantee, 2000, 0, STOP)
    plain, made_plainly = checks(noise, scale, guarantee, 2000, 0, 0.0)
    assert made == made_plainly
    for one, other in zip(watched, plain, strict=True):
        assert one.detail == other.detail
        assert one.p_value == pytest.approx(min(1.0, (other.p_value or 0.0) / (1 - EARLY_SHARE)), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("claim", "runs"), [("pure", 500), ("approximate", 500), ("zcdp", 150)])
def test_early_ends_keep_to_their_share(claim: str, runs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if draws that end early refute a correct target more often than allowed. The settings allow draws
    to end early with probability up to 0.1, so that early ends can be observed. If the audit is correct, the test fails
    with probability at most 2e-9.
    """
    for module in (pair_draws, privacy):
        monkeypatch.setattr(module, "EARLY_SHARE", 0.5)
    noise, scale, guarantee = RIGHT[claim]
    p_values, early = [], 0
    for seed in range(runs):
        found, _ = checks(noise, scale, guarantee, 1200, seed, 0.2)
        early += "so the draws ended before" in found[0].detail
        p_values.append(found[0].p_value or 0.0)
    assert early <= binom.isf(1e-9, runs, 0.1)
    excess = float((np.arange(1, runs + 1) / runs - np.sort(p_values)).max())
    assert excess < math.sqrt(math.log(1e9) / (2 * runs))


def test_early_ends_do_come_where_they_are_let() -> None:
    """The test fails if draws never end early. With 0.7 times the required noise, at least 4 of 12 runs must end
    early.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in (pair_draws, privacy):
            patch.setattr(module, "EARLY_SHARE", 0.5)
        ended = sum(
            "so the draws ended before" in checks("laplace", 0.7, PureDP(1.0), 4000, s, 0.2)[0][0].detail
            for s in range(12)
        )
    assert ended >= 4


def test_the_bound_of_an_early_end_holds() -> None:
    """The test fails if a lower bound on the privacy loss exceeds the true loss. The true loss is 2, because the
    target adds half of the required Laplace noise.
    """
    bounds = [checks("laplace", 0.5, PureDP(1.0), 20_000, seed, STOP)[0][0].facts.loss_lower_bound
              for seed in range(15)]  # fmt: skip
    assert max(bounds) < 2.0
    assert min(bounds) > 0.9


def test_draws_in_parts_are_the_draws_of_the_whole() -> None:
    setting = Setting(target("laplace", 1.0), {"epsilon": 1.0}, OUTPUTS["vector"], seed=5)
    whole = draw(setting, np.zeros((1, 1)), 330, "label")
    parts = joined([draw(setting, np.zeros((1, 1)), 330, "label", slice(*ends)) for ends in ((0, 2), (2, 4), (4, 9))])
    np.testing.assert_array_equal(whole.outputs, parts.outputs)
    assert (parts.size, parts.skipped) == (330, 0)


class Hangs:
    """A target that always answers on one data set, but runs forever on the other data set after 40 calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        if x.any():
            self.calls += 1
            while self.calls > 40:
                pass
        return x.sum(axis=0) + rng.laplace(size=x.shape[1])


def test_a_pair_that_runs_out_of_time_ends_after_the_stage_in_which_it_did() -> None:
    """The test fails if the audit goes on drawing after calls timed out. The audit stops after 6 calls that time out,
    not after 84.
    """
    slow = Hangs()
    setting = Setting(Target("slow", slow), {"epsilon": 1.0}, OUTPUTS["vector"], seed=0, seconds=0.02)
    (check,) = run_pair(setting, PAIR, PureDP(1.0), Look(samples=2000))
    assert check.status is Status.INCONCLUSIVE
    assert slow.calls <= 40 + 6


def little_noise(x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
    return x.T @ x / len(x) + 0.02 * rng.laplace(size=(x.shape[1],) * 2)


@pytest.mark.slow
def test_a_whole_audit_of_a_target_with_little_noise_makes_a_fraction_of_its_draws() -> None:
    report = audit(little_noise, epsilon=1.0, samples=20_000)
    refuted = [check for check in report.refuted if check.kind == "privacy"]
    assert refuted
    assert all(check.n < 0.05 * 20_000 for check in refuted)


def test_a_test_to_which_chance_gives_no_draws_does_not_count_the_pilot(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the draws that were used to choose an event are used again to test it."""
    sizes = iter([500, 500, 0, 0])
    monkeypatch.setattr(pair_draws, "poisson_size", lambda mean, rng: next(sizes))
    (check,) = checks("laplace", 0.001, PureDP(1.0), 1000, 0, 0.0)[0]
    assert not list(sizes)
    assert check.p_value == 1.0
    assert check.facts.draws == (0, 0)
    assert check.facts.loss_lower_bound == -math.inf
    (decided,) = decide([check], Look(level=ALPHA))
    assert decided.status is not Status.REFUTED


@pytest.mark.thorough
def test_a_pilot_to_which_chance_gives_no_draws_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the audit divides by zero because no draws were made to choose an event. The number of these
    draws on each of the two data sets is random. With 100 samples, the numbers for both data sets are 0 in about one of
    a thousand audits.
    """
    monkeypatch.setattr(pair_draws, "poisson_size", lambda mean, rng: 0)
    report = audit("covassay:gauss-cov", rho=0.5, samples=100)
    assert report.verdict is not Verdict.REFUTED
