"""Test that the report names a mistake in the noise scale only if no other known factor fits better. The function
`diagnose` gets draws whose noise scale is the correct scale times a chosen factor. If the factor is that of a known
mistake, the mistake must be named. No known mistake has the factor 0.8 or 0.6, so for these factors a mistake may be
named only rarely. It may be named at times, because a hundred draws do not always tell these factors from the factor of
a known mistake.
"""

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.audit.engine.law import Scenario, diagnose
from covassay.verification.audit.knowledge.known import profile
from covassay.verification.declared import default_claim

SEEDS = range(10)
OF_FACTORS = {"half-scale", "double-scale", "sensitivity-one", "frobenius-sensitivity"}


def scenario(name: str, d: int) -> Scenario:
    found = profile(name, default_claim(name), mechanism(name).resolve({}), 100, 0).scenarios
    return next(s for s in found if s.x.shape[1] == d)


def draws(name: str, x: Matrix, factor: float, seed: int, size: int = 100) -> Matrix:
    rng, budget = np.random.default_rng(seed), default_claim(name).keywords()
    outputs = np.array([mechanism(name).sample(x, rng, **budget) for _ in range(size)])
    centre = x.T @ x / len(x)
    return np.asarray(centre + factor * (outputs - centre))


def named(name: str, factor: float, size: int = 100) -> list[set[str]]:
    """Return, for each seed, the mistakes that the report names for draws with the given factor."""
    seen = scenario(name, 2)
    return [{s.name for s in diagnose([(seen, draws(name, seen.x, factor, seed, size))])} for seed in SEEDS]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "factor"), [("gauss-cov", 0.6), ("gauss-cov", 0.8), ("nuclear-laplace", 0.6), ("entrywise-laplace", 0.6)]
)
def test_a_factor_that_no_mistake_has_is_given_no_name(name: str, factor: float) -> None:
    """The noise scale is multiplied by a factor that no known mistake has. The test fails if the report nevertheless
    names a mistake for more than 3 of 10 seeds. If the diagnosis did not test whether other factors fit better, it
    would name a mistake for 6 to 9 of the 10 seeds.
    """
    assert sum(bool(found & OF_FACTORS) for found in named(name, factor)) <= 3


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "factor", "mistake"), [
    ("gauss-cov", 0.5**0.5, "sensitivity-one"), ("gauss-cov", 0.5, "half-scale"),
    ("nuclear-laplace", 0.5, "half-scale"), ("entrywise-laplace", 2.0, "double-scale"),
])  # fmt: skip
def test_the_factor_of_a_mistake_is_named(name: str, factor: float, mistake: str) -> None:
    assert sum(found == {mistake} for found in named(name, factor, 300)) == len(SEEDS)
