"""Test comparisons with draws of the reference. The reference makes few draws first and more if needed, and the
p-value must stay valid.
"""

from collections.abc import Callable

import numpy as np
import pytest

from covassay.reference.domain import Matrix, Vector
from covassay.verification.audit.knowledge.shared.reference_draws import CLEAR, FEW, TIMES, against

N = 60


def one_entry(outputs: Matrix) -> Vector:
    return outputs[:, 0]


def normal(seed: int, asked: list[int]) -> Callable[[int], Matrix]:
    """Return a function that draws standard normal numbers in place of the reference, and records how many were
    requested.
    """

    def draws(size: int) -> Matrix:
        asked.append(size)
        return np.random.default_rng((seed, size)).standard_normal((size, 1))

    return draws


def test_many_draws_are_made_only_where_few_show_something() -> None:
    """The audit first makes few draws of the reference implementation. It must make more draws if the first ones show a
    difference, and only then.
    """
    for shift, sizes in ((0.0, [FEW * N]), (1.5, [FEW * N, TIMES * N])):
        asked: list[int] = []
        outputs = np.random.default_rng(1).standard_normal((N, 1)) + shift
        result = against(one_entry, normal(2, asked), "")(outputs)
        assert asked == sizes
        assert result.p_value > CLEAR if shift == 0 else result.p_value < 1e-20
        assert result.detectable(1e-10) > result.detectable(1e-3)


@pytest.mark.thorough
def test_the_p_value_is_valid() -> None:
    """The test fails if the comparison returns the smaller of its two p-values in place of the second. For valid
    p-values, the test fails with probability about 1e-9.
    """
    found = []
    for seed in range(2000):
        outputs = np.random.default_rng((7, seed)).standard_normal((N, 1))
        found.append(against(one_entry, normal(seed, []), "")(outputs).p_value)
    assert 0 < np.mean(np.array(found) <= CLEAR) <= CLEAR + 6 * np.sqrt(CLEAR * (1 - CLEAR) / 2000)
