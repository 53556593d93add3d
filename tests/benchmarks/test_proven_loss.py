"""Measure how much of the true privacy loss an audit proves from a million draws on each of two neighbouring data sets.
Under pure DP, the largest bound that any test is expected to prove is printed beside it.

Run with -m slow -s to see the figures. The draws come from the reference's samplers in large batches. The events are
chosen and tested as in an audit, by the values of the likelihood ratio alone.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from covassay.reference.domain import Matrix, Vector, second_moment
from covassay.reference.laws import bingham as bingham_law
from covassay.reference.laws import nuclear_laplace as nuclear_law
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.pure.nuclear_laplace import noise_scale
from covassay.reference.privacy import ZCDP, Guarantee, PureDP
from covassay.reference.sensitivity import neighbours, orthonormal_pair
from covassay.verification.audit.engine import pair_draws
from covassay.verification.audit.engine.events import Pair, Statistic
from covassay.verification.audit.engine.finding import Look
from covassay.verification.audit.engine.privacy import CONFIDENCE, run_pair
from covassay.verification.audit.engine.sampling import CHUNK, Draws, Setting
from covassay.verification.audit.knowledge.shared.nuclear_noise import likelihood_ratio
from covassay.verification.audit.targets.target import Target
from covassay.verification.statistics.ratio import EventCounts, log_ratio_lower
from covassay.verification.statistics.streams import stream

DRAWS = 10**6
BATCH = 50_000
PURE = PureDP(1.0)


@dataclass(frozen=True)
class Case:
    """Two neighbouring data sets, a function that draws log likelihood ratios on one of them, and the true loss of the
    pair.
    """

    first: Matrix
    second: Matrix
    ratios: Callable[[Matrix, np.random.Generator, int], Vector]
    true: float
    claim: Guarantee


def additive(
    d: int, noise: Callable[[np.random.Generator, int], Matrix], ratio: Callable[[Matrix], Vector]
) -> Callable[[Matrix, np.random.Generator, int], Vector]:
    return lambda x, rng, size: ratio(second_moment(x) + noise(rng, size))


def nuclear(d: int) -> Case:
    """Make the case of nuclear-Laplace noise. The rows in which the data sets differ are orthonormal, or the numbers 1
    and 0 if d = 1.
    """
    rows = orthonormal_pair(d) if d > 1 else (np.ones(1), np.zeros(1))
    first, second = neighbours(np.zeros((1, d)), *rows)
    scale = float(noise_scale(2, 1.0))
    ratio = likelihood_ratio(first, second, scale, 0.0)
    true = float(nuclear_law.nuclear_norm((second_moment(first) - second_moment(second))[None])[0]) / scale
    return Case(
        first, second, additive(d, lambda rng, size: scale * nuclear_law.sample(d, rng, size), ratio.values), true, PURE
    )


def bingham(d: int) -> Case:
    """Make the case of the Bingham law with density ∝ exp(ηuᵀCu), where η = 1 and C = XᵀX. The rows in which the data
    sets differ are orthonormal, so that the log likelihood ratio is at most 1.
    """
    first, second = neighbours(np.zeros((1, d)), *orthonormal_pair(d))
    change = first.T @ first - second.T @ second

    def ratios(x: Matrix, rng: np.random.Generator, size: int) -> Vector:
        u = bingham_law.sample(x.T @ x, rng, size)
        return np.asarray(np.einsum("ni,ij,nj->n", u, change, u))

    return Case(first, second, ratios, 1.0, PURE)


def scalar(sample: Callable[[np.random.Generator, int], Vector], claim: Guarantee, laplace: bool) -> Case:
    """Return the case of a mechanism that adds noise of scale 1 to a number, which is 1 in the first data set and 0 in
    the second.
    """

    def ratios(x: Matrix, rng: np.random.Generator, size: int) -> Vector:
        y = float(x.sum()) + sample(rng, size)
        return np.asarray(np.abs(y) - np.abs(y - 1) if laplace else y - 0.5)

    return Case(np.ones((1, 1)), np.zeros((1, 1)), ratios, 1.0, claim)


CASES: dict[str, tuple[Callable[[], Case], float]] = {
    "laplace": (lambda: scalar(lambda rng, n: rng.laplace(size=n), PureDP(1.0), True), 0.95),
    "gaussian, μ": (lambda: scalar(lambda rng, n: rng.standard_normal(n), ZCDP(0.5), False), 0.95),
    "nuclear-laplace, d=1": (lambda: nuclear(1), 0.95),
    "nuclear-laplace, d=2": (lambda: nuclear(2), 0.95),
    "nuclear-laplace, d=3": (lambda: nuclear(3), 0.0),
    "nuclear-laplace, d=5": (lambda: nuclear(5), 0.0),
    "bingham, d=2": (lambda: bingham(2), 0.95),
    "bingham, d=3": (lambda: bingham(3), 0.0),
    "bingham, d=5": (lambda: bingham(5), 0.0),
}


def in_batches(case: Case, x: Matrix, seed: np.random.SeedSequence, size: int) -> Vector:
    """Return the log likelihood ratios of `size` draws on x."""
    rng = np.random.default_rng(seed)
    sizes = [BATCH] * (size // BATCH) + [size % BATCH]
    return np.concatenate([case.ratios(x, rng, n) for n in sizes if n])


def best(case: Case) -> float:
    """Return the largest lower bound on the privacy loss that an event {log ratio ≥ t} is expected to prove. The
    threshold t is chosen with knowledge of the law, so that no draws are needed to choose it, and all draws test the
    event.

    By Neyman and Pearson's lemma no other event gives a larger bound. The probability of the event on the first data
    set is its frequency among draws on this data set. The probability on the second data set is the mean of exp(−log
    ratio) on the event, over the same draws.
    """
    ratios = np.sort(in_batches(case, case.first, stream(7, "best"), DRAWS))[::-1]
    p, q = np.arange(1, DRAWS + 1) / DRAWS, np.minimum(np.cumsum(np.exp(-ratios)) / DRAWS, 1.0)
    tried = np.unique(np.geomspace(200, DRAWS - 1, 150).astype(int))
    bounds = [
        log_ratio_lower(EventCounts(round(DRAWS * p[i]), round(DRAWS * q[i]), DRAWS, DRAWS, DRAWS), CONFIDENCE)
        for i in tried
    ]
    return max(bounds)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_share_of_the_true_loss_that_a_million_draws_prove(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, share = CASES[name]
    case = make()

    def draw(setting: Setting, x: Matrix, size: int, label: str, chunks: slice = slice(None)) -> Draws:
        start, stop, _ = chunks.indices(-(-size // CHUNK))
        count = min(size, stop * CHUNK) - start * CHUNK
        return Draws(in_batches(case, x, stream(setting.seed, label, start), count)[:, None])

    monkeypatch.setattr(pair_draws, "draw", draw)
    target = Target("the reference", lambda x, **_: x)
    setting = Setting(target, case.claim.keywords(), OUTPUTS["vector"], seed=0)
    pair = Pair(name, case.first, case.second, (Statistic("log likelihood ratio", lambda y: y[:, 0]),))
    event = run_pair(setting, pair, case.claim, Look(samples=DRAWS))[0]
    if isinstance(case.claim, ZCDP):
        proven = event.facts.trade_off.gaussian_lower_bound
        print(f"\n{name}: proven {proven:.4f}, true {case.true:.4f}")
    else:
        proven, most = event.facts.loss_lower_bound, best(case)
        print(f"\n{name}: proven {proven:.4f}, true {case.true:.4f}, any test at most {most:.4f}")
        assert proven > 0.8 * most
    assert share * case.true <= proven <= case.true * (1 + 1e-9)
    assert math.isfinite(proven)
