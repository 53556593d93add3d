"""Test the matrix Bingham law: its sampler against exact distribution functions, and sine coordinates.

Statistical tests have fixed seeds: with a random seed, each comparison with a correct law would raise a false alarm
with probability at most 1e-9.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covassay.reference.errors import InvalidInput
from covassay.reference.laws import bingham
from covassay.reference.laws import matrix_bingham as law
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix, Vector

DRAWS = 3000
PROPERTY = settings(max_examples=12)


def draws(m: Matrix, k: int, seed: int = 0) -> Matrix:
    return law.sample(m, k, np.random.default_rng(seed), DRAWS)


@pytest.mark.parametrize(("q", "k"), [(2, 1), (3, 2), (4, 1), (4, 2), (6, 4), (9, 2)])
@pytest.mark.parametrize("scale", [0.0, 1.0, 300.0])
def test_draws_are_projections_of_the_rank(q: int, k: int, scale: float) -> None:
    m = scale * np.diag(np.linspace(-1, 1, q))
    p = law.sample(m, k, np.random.default_rng(1), 20)
    np.testing.assert_array_equal(p, np.swapaxes(p, 1, 2))
    np.testing.assert_allclose(p @ p, p, atol=1e-13)
    np.testing.assert_allclose(np.trace(p, axis1=1, axis2=2), k, rtol=1e-13)
    assert law.sample(m, k, np.random.default_rng(1)).shape == (q, q)


@pytest.mark.parametrize(("q", "k"), [(2, 1), (3, 2), (5, 2), (5, 3)])
def test_the_share_of_one_direction_has_its_law(q: int, k: int) -> None:
    v = np.arange(1.0, q + 1) / np.linalg.norm(np.arange(1.0, q + 1))
    share = np.clip(np.einsum("nij,i,j->n", draws(6 * np.outer(v, v), k), v, v), 0, 1)
    assert kolmogorov_smirnov(share, law.share_cdf(6.0, k, q), "share").p_value > FALSE_ALARM
    assert kolmogorov_smirnov(share, law.share_cdf(9.0, k, q), "share").p_value < FALSE_ALARM


Proposals = Callable[[Matrix, int, np.random.Generator], tuple[Matrix, Vector]]
GAPS = {
    shape: np.random.default_rng(7).exponential(3, size=shape) for shape in [(1, 1), (3, 1), (3, 2), (4, 3), (6, 6)]
}


def differences(propose: Proposals, g: Matrix) -> tuple[float, float]:
    """Return the differences in X and in ln(acceptance) between a batched proposal and the plain one from the same
    numbers.
    """
    (x,), (log_accepted,) = propose(g, 1, np.random.default_rng(8))
    plain, accepted = law.propose_one(g, np.random.default_rng(8))
    return np.abs(x - plain).max(), abs(log_accepted - math.log(accepted))


@pytest.mark.parametrize("g", GAPS.values(), ids=map(str, GAPS))
def test_the_batched_proposal_is_the_plain_one(g: Matrix) -> None:
    np.testing.assert_allclose(differences(law.propose, g), 0, atol=1e-8)  # rounding; 3e-10 was the largest of 100


def test_rank_one_and_its_complement_are_bingham_laws() -> None:
    m = np.diag([5.0, 3.0, 1.0])
    line, plane = draws(m, 1), draws(m, 2)
    for i in range(3):
        along, across = bingham.projection_cdf(m, [i]), bingham.projection_cdf(-m, [2 - i])
        assert kolmogorov_smirnov(line[:, i, i], along, "line").p_value > FALSE_ALARM
        assert kolmogorov_smirnov(1 - plane[:, i, i], across, "plane").p_value > FALSE_ALARM
    assert kolmogorov_smirnov(line[:, 0, 0], bingham.projection_cdf(1.3 * m, [0]), "wrong").p_value < FALSE_ALARM


@PROPERTY
@given(seed=SEEDS, m=st.integers(1, 6), k=st.integers(1, 5), size=st.floats(-3, 8))
def test_no_acceptance_probability_exceeds_one(seed: int, m: int, k: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    x, log_accepted = law.propose(10**size * rng.exponential(size=(m, k)) * rng.integers(0, 2, (m, k)), 50, rng)
    assert np.isfinite(log_accepted).all()
    assert log_accepted.max() <= 1e-9
    assert np.linalg.norm(x, 2, axis=(1, 2)).max() <= 1 + 1e-12


@pytest.mark.parametrize("k", [0, 3, -1])
def test_a_rank_out_of_range_is_refused(k: int) -> None:
    with pytest.raises(InvalidInput, match="k = "):
        law.sample(np.eye(3), k, np.random.default_rng(0))
