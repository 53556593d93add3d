"""Test that draws are projections, and test the batched proposals. The checks `claims.checks.own.subspaces` test the
law of the draws."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from covassay.reference.errors import InvalidInput
from covassay.reference.laws import matrix_bingham as law
from tests.conventions import Matrix, Vector


@pytest.mark.parametrize(("q", "k"), [(2, 1), (3, 2), (4, 1), (4, 2), (6, 4), (9, 2)])
@pytest.mark.parametrize("scale", [0.0, 1.0, 300.0])
def test_draws_are_projections_of_the_rank(q: int, k: int, scale: float) -> None:
    """Test that draws are projections of rank k."""
    m = scale * np.diag(np.linspace(-1, 1, q))
    p = law.sample(m, k, np.random.default_rng(1), 20)
    np.testing.assert_array_equal(p, np.swapaxes(p, 1, 2))
    np.testing.assert_allclose(p @ p, p, atol=1e-13)
    np.testing.assert_allclose(np.trace(p, axis1=1, axis2=2), k, rtol=1e-13)
    assert law.sample(m, k, np.random.default_rng(1)).shape == (q, q)


Proposals = Callable[[Matrix, int, np.random.Generator], tuple[Matrix, Vector]]
GAPS = {
    shape: np.random.default_rng(7).exponential(3, size=shape) for shape in [(1, 1), (3, 1), (3, 2), (4, 3), (6, 6)]
}


def differences(propose: Proposals, g: Matrix) -> tuple[float, float]:
    """Return how much a batched proposal and its log acceptance probability differ from those of the simple sampler
    with the same random numbers.
    """
    (x,), (log_accepted,) = propose(g, 1, np.random.default_rng(8))
    plain, accepted = law.propose_one(g, np.random.default_rng(8))
    return np.abs(x - plain).max(), abs(log_accepted - math.log(accepted))


@pytest.mark.parametrize("g", GAPS.values(), ids=map(str, GAPS))
def test_the_batched_proposal_is_the_plain_one(g: Matrix) -> None:
    """Test that the batched sampler makes the proposals of the simple sampler."""
    # the largest rounding error in 100 runs was 3e-10
    np.testing.assert_allclose(differences(law.propose, g), 0, atol=1e-8)


@pytest.mark.parametrize("k", [0, 3, -1])
def test_a_rank_out_of_range_is_refused(k: int) -> None:
    with pytest.raises(InvalidInput, match="k = "):
        law.sample(np.eye(3), k, np.random.default_rng(0))
