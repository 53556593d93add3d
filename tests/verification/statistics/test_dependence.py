"""Test the tests of independence: p-values for independent data, and the stated power. If the p-values of a group are
valid, the test of this group fails with probability at most 2e-9.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import norm

from covassay.reference.domain import Matrix
from covassay.verification.statistics.dependence import NORMAL_TAIL, sizes, successive_draws, turned_signs
from covassay.verification.statistics.tests import TestResult

NAMES = ("a", "b", "c")
EVERY = np.ones((3, 3), dtype=bool)
N = 400


def independent(rng: np.random.Generator) -> Matrix:
    return rng.laplace(size=(N, 3)) ** 3


def spherical(rng: np.random.Generator) -> Matrix:
    """Draw vectors with fair independent signs and dependent absolute values."""
    z = rng.standard_normal((N, 3))
    return np.asarray(z / np.linalg.norm(z, axis=1, keepdims=True) * rng.gamma(3.0, size=(N, 1)))


TESTS: dict[str, Callable[[Matrix], TestResult]] = {
    "signs": lambda v: turned_signs(v, NAMES, EVERY, EVERY),
    "sizes": lambda v: sizes(v, NAMES, EVERY),
    "successive": lambda v: successive_draws(v, NAMES),
}
NULLS = [("signs", independent), ("signs", spherical), ("sizes", independent),
         ("successive", independent), ("successive", spherical)]  # fmt: skip


def excess(p_values: list[float]) -> float:
    """Return the largest amount by which the frequency of p ≤ u exceeds u."""
    ordered = np.sort(p_values)
    return float((np.arange(1, len(ordered) + 1) / len(ordered) - ordered).max())


@pytest.mark.thorough
@pytest.mark.parametrize("runs", [250, pytest.param(4000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "null"), NULLS)
def test_p_values_of_a_true_null_are_uniform_or_larger(
    name: str, null: Callable[[np.random.Generator], Matrix], runs: int
) -> None:
    rng = np.random.default_rng(11)
    p_values = [TESTS[name](null(rng)).p_value for _ in range(runs)]
    assert excess(p_values) < math.sqrt(math.log(1e9) / (2 * runs))
    # For valid p-values, the probability that more than 22 of 4000 (or 9 of 250) are below 1/1000 is below 1e-9.
    assert sum(p < 1e-3 for p in p_values) <= (22 if runs == 4000 else 9)


def test_the_sizes_of_a_sphere_would_be_called_dependent() -> None:
    """The vectors have dependent absolute values and independent signs. The test fails if the test for absolute values
    does not reject, or if the test for signs rejects.
    """
    rng = np.random.default_rng(12)
    z = np.vstack([spherical(rng) for _ in range(20)])
    assert sizes(z, NAMES, EVERY).p_value < 1e-9
    assert turned_signs(z, NAMES, EVERY, EVERY).p_value > 1e-9


def test_the_bound_is_never_below_the_exact_tail_of_fair_coins() -> None:
    """The test fails if the bound on the tail of a weighted sum of random signs is below the exact probability. The
    test computes all 2^16 sums for one set of weights. It also checks that two signs with equal weights attain the
    bound.
    """
    weights = np.random.default_rng(13).gamma(1.0, size=16)
    signs = 1 - 2 * ((np.arange(2**16)[:, None] >> np.arange(16)) & 1)
    values = np.sort(signs @ weights / np.linalg.norm(weights))
    tail = np.arange(len(values), 0, -1) / len(values)
    assert (tail <= NORMAL_TAIL * norm.sf(values) + 1e-12).all()
    assert NORMAL_TAIL * norm.sf(math.sqrt(2)) == pytest.approx(1 / 4)


def tied(name: str, rng: np.random.Generator, n: int, correlation: float) -> Matrix:
    """Draw normal variables of which two entries, their absolute values, or successive draws have the given
    correlation.
    """
    z = rng.standard_normal((n, 3))
    mixed = correlation * z[:, 0] + math.sqrt(1 - correlation**2) * z[:, 1]
    if name == "signs":
        z[:, 1] = mixed
    elif name == "sizes":
        u = norm.cdf(np.column_stack([z[:, 0], mixed]))
        z[:, :2] = -np.log1p(-u) * rng.choice([-1.0, 1.0], (n, 2))
    else:
        for k in range(1, n):
            z[k, 2] = correlation * z[k - 1, 2] + math.sqrt(1 - correlation**2) * z[k, 2]
    return z


@pytest.mark.parametrize("name", TESTS)
def test_the_stated_dependence_is_detected_with_the_stated_power(name: str) -> None:
    """The test fails if a test of independence has less power than stated. If the power is 99 %, the probability of
    fewer than 92 rejections in 100 runs is below 1e-5.
    """
    rng = np.random.default_rng(14)
    n, alpha = 1200, 1e-9
    rank_correlation = TESTS[name](tied(name, rng, n, 0.0)).detectable(alpha)
    # normal variables with the correlation 2 sin(πr/6) have the rank correlation r
    correlation = 2 * math.sin(math.pi * rank_correlation / 6)
    found = [TESTS[name](tied(name, rng, n, correlation)) for _ in range(100)]
    assert sum(result.p_value <= alpha for result in found) >= 92
    assert ("a and" in found[0].null) or ("c and" in found[0].null)


def test_a_test_of_nothing_is_never_significant() -> None:
    """The test fails if a p-value is small for constant or empty data."""
    for values in (np.zeros((100, 3)), np.ones((5, 3)), np.empty((0, 3))):
        for test in TESTS.values():
            assert test(values).p_value >= 0.5
