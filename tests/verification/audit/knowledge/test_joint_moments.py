"""Test the exact laws of joint moments: right scales fit, and an error of 3 % in one part is detected.

Seeds are fixed. With a random seed, each comparison would raise a false alarm with probability at most 1e-9.
"""

import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.reference.mechanisms.concentrated import joint_moments
from covassay.verification.audit.knowledge.joint_moments import Claimed, pairs
from tests.conventions import FALSE_ALARM

RHO, N, D = 0.5, 12, 4


def outputs(x: Matrix, size: int, weight: float, first: float = 1, second: float = 1) -> Matrix:
    """Draw outputs by the formulas of the mechanism's page, with σ₁ and σ₂ multiplied by factors."""
    n, d = x.shape
    rng = np.random.default_rng(1)
    squared = 4.0 if weight <= 1 else (1 + weight) ** 2 / weight
    scale = np.sqrt(squared / (2 * RHO)) / n
    noise = rng.standard_normal((size, d, d))
    symmetric = (noise + np.swapaxes(noise, 1, 2)) / np.sqrt(2) / np.sqrt(2)
    mean = x.mean(axis=0) + first * scale * rng.standard_normal((size, 1, d))
    moment = x.T @ x / n + second * scale / np.sqrt(weight / 2) * symmetric
    return np.concatenate([mean, moment], axis=1)


@pytest.mark.parametrize("weight", [0.5, 1.0, 4.0])
def test_draws_from_the_page_have_the_law(weight: float) -> None:
    known = Claimed(RHO, weight).scenario(N, D)
    drawn = outputs(known.x, 4000, weight)
    assert min(test(drawn).p_value for test in known.tests.values()) > FALSE_ALARM
    other = outputs(known.x, 4000, weight, first=0.9, second=1.1)
    assert known.tests["total scale of the mean"](other).p_value < FALSE_ALARM
    assert known.tests["total scale of the second moment"](other).p_value < FALSE_ALARM


@pytest.mark.parametrize(
    ("changed", "test"),
    [
        ({"first": 0.97}, "total scale of the mean"),
        ({"second": 0.97}, "total scale of the second moment"),
        ({"second": 1.03}, "total scale"),
    ],
)
def test_three_percent_in_one_part_are_told_apart(changed: dict[str, float], test: str) -> None:
    known = Claimed(RHO, 1.0).scenario(N, D)
    right, wrong = outputs(known.x, 20_000, 1.0), outputs(known.x, 20_000, 1.0, **changed)
    assert known.tests[test](right).p_value > FALSE_ALARM
    assert known.tests[test](wrong).p_value < FALSE_ALARM


def test_mistakes_are_told_from_one_another() -> None:
    known = Claimed(RHO, 1.0).scenario(N, D)
    drawn = outputs(known.x, 4000, 1.0, first=np.sqrt(2), second=np.sqrt(0.5))
    fitting = {suspect.name for suspect in known.suspects if suspect.test(drawn).p_value > 1e-3}
    assert fitting == {"two-halves"}


@pytest.mark.parametrize("weight", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_pairs_attain_the_claim(d: int, weight: float) -> None:
    """This test catches pairs of data sets whose loss is below the claim, on which too little noise would not be
    detected."""
    x, y = joint_moments.worst_rows(d, weight)
    change = np.outer(x, x) - np.outer(y, y)
    moved = (x - y) @ (x - y) + joint_moments.moment_weight(d, weight) * (change**2).sum()
    assert moved == pytest.approx(joint_moments.change_squared(d, weight), rel=1e-12)
    named = [pair for pair in pairs(Claimed(RHO, weight)) if pair.first.shape[1] == d]
    assert any(np.array_equal(pair.first[-1], x) and np.array_equal(pair.second[-1], y) for pair in named)
