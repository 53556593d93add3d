"""Test that the audit uses the log likelihood ratio of a pair of data sets if the law of the output is known."""

import numpy as np
import pytest

from covassay.reference.domain import Matrix, second_moment
from covassay.reference.laws.wigner import svec
from covassay.reference.mechanisms.building_blocks import exponential
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.engine.events import Pair
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.declared import default_claim


def pair_of(name: str, pair: str) -> Pair:
    knowledge = profile(name, default_claim(name), mechanism(name).resolve({}), 2000, 0)
    return next(p for p in knowledge.pairs(frozenset()) if p.name == pair)


# Pairs of data sets on which the law of the output is known, and the name of the statistic that uses it.
KNOWN = {
    ("nuclear-laplace", "orthonormal rows, d=2"): "log likelihood ratio",
    ("nuclear-laplace-symmetric", "orthonormal rows, d=2"): "log likelihood ratio",
    ("centred-covariance", "corners of a triangle, n=30, d=2"): "log likelihood ratio",
    ("entrywise-laplace", "the worst rows, d=4"): "log likelihood ratio",
    ("lap-cov", "the worst rows, d=4"): "log likelihood ratio",
    ("discrete-laplace-covariance", "the worst rows, d=4"): "log likelihood ratio",
    ("discrete-gaussian-covariance", "orthonormal rows, d=2"): "log likelihood ratio, up to a factor",
    ("output-perturbation", "records that pull to either side, n=40, d=3"): "log likelihood ratio",
    ("adassp", "records that pull to either side, d=2"): "log likelihood ratio",
    ("joint-moments", "opposite rows, d=2"): "log likelihood ratio, up to a factor",
    ("johnson-lindenstrauss", "the noise is seen, d=2"): "log likelihood ratio",
    ("gauss-cov", "orthonormal rows, d=2"): "log likelihood ratio, up to a factor",
    ("gauss-cov-approximate", "orthonormal rows, d=2"): "log likelihood ratio, up to a factor",
    ("projection-mechanism", "the projection does nothing"): "log likelihood ratio, up to a factor",
    ("exponential", "orthonormal rows, d=2"): "log likelihood ratio",
    ("k-norm", "orthonormal rows, d=2"): "‖Y − Σ'‖_K − ‖Y − Σ‖_K",
    ("laplace", "orthonormal rows, d=2"): "‖y − f'‖₁ − ‖y − f‖₁",
    ("gaussian", "orthonormal rows, d=2"): "⟨y, change of the squares⟩",
    ("bingham", "orthonormal rows, d=3"): "uᵀΔu",
    ("private-trace", "one row against none, d=2"): "value",
}


@pytest.mark.parametrize(("name", "pair"), KNOWN, ids=[name for name, _ in KNOWN])
def test_a_pair_of_a_known_law_has_the_statistic_that_orders_events_as_the_likelihood_ratio_does(
    name: str, pair: str
) -> None:
    assert KNOWN[(name, pair)] in [statistic.name for statistic in pair_of(name, pair).statistics]


SLOW_SAMPLERS = ("nuclear-laplace", "nuclear-laplace-symmetric", "centred-covariance", "discrete-laplace-covariance")
EXACT = [
    pytest.param(name, pair, id=name, marks=[pytest.mark.slow] if name in SLOW_SAMPLERS else [])
    for (name, pair), statistic in KNOWN.items()
    if statistic == "log likelihood ratio"
]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "pair"), EXACT)
def test_the_mean_of_the_inverse_ratio_is_one(name: str, pair: str) -> None:
    """The test fails if the log likelihood ratio L is wrong or has the wrong sign. The means of exp(−L) on the first
    data set and of exp(L) on the second must be 1, to within 7 standard errors of 2000 draws.
    """
    declared, claim = mechanism(name), default_claim(name)
    found = pair_of(name, pair)
    statistic = next(s for s in found.statistics if s.name == "log likelihood ratio")
    rng = np.random.default_rng(3)
    for x, sign in ((found.first, -1.0), (found.second, 1.0)):
        y = np.array([declared.sample(x, rng, **claim.keywords(), **declared.resolve({})) for _ in range(2000)])
        ratio = sign * statistic.values(y)
        assert abs(np.exp(ratio).mean() - 1) < 7 * np.exp(ratio).std() / np.sqrt(2000)
        # the wrong sign must be detected
        assert np.exp(-ratio).mean() - 1 > 7 * np.exp(-ratio).std() / np.sqrt(2000)


def test_the_ratio_of_the_exponential_mechanism_by_hand() -> None:
    found = pair_of("exponential", "second feature ahead, d=2")
    eta = exponential.exponent(1.0, exponential.ENERGY_RANGE)
    energies = [(x**2).sum(axis=0) for x in (found.first, found.second)]
    p, q = (np.exp(eta * e) / np.exp(eta * e).sum() for e in energies)
    ratio = next(s for s in found.statistics if s.name == "log likelihood ratio")
    np.testing.assert_allclose(ratio.values(np.array([1.0, 2.0])), np.log(p / q), atol=1e-8)


def test_the_pair_inside_keeps_its_distance_from_the_boundary() -> None:
    found = pair_of("johnson-lindenstrauss", "the noise is seen, d=2")
    difference: Matrix = svec((second_moment(found.first) - second_moment(found.second))[None])
    assert 0 < np.linalg.norm(difference) <= np.sqrt(2) / len(found.first) * (1 + 1e-12)
