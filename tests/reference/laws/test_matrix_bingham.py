"""The matrix Bingham law: its sampler against exact distribution functions, and sine coordinates.

Statistical tests have fixed seeds. With a random seed, each comparison would raise a false alarm with probability at
most 1e-9.
"""

import inspect
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.errors import InvalidInput
from covassay.reference.laws import bingham, haar
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
    """The differences in X and in ln(acceptance) between a batched proposal and the plain one from the same numbers."""
    (x,), (log_accepted,) = propose(g, 1, np.random.default_rng(8))
    plain, accepted = law.propose_one(g, np.random.default_rng(8))
    return np.abs(x - plain).max(), abs(log_accepted - math.log(accepted))


@pytest.mark.parametrize("g", GAPS.values(), ids=map(str, GAPS))
def test_the_batched_proposal_is_the_plain_one(g: Matrix) -> None:
    np.testing.assert_allclose(differences(law.propose, g), 0, atol=1e-8)  # rounding; 3e-10 was the largest of 100


WHERE_IT_MATTERS = ["scaled[:, None]", "column @", "np.log1p(scaled)", "np.log(left)", "np.log(np.diagonal"]


@pytest.mark.parametrize("right", WHERE_IT_MATTERS)
def test_a_batched_proposal_that_is_off_by_three_per_cent_is_found_out(right: str) -> None:
    source = inspect.getsource(law.propose)
    assert source.count(right) == 1
    spoiled = vars(law).copy()
    exec(source.replace(right, f"1.03 * {right}"), spoiled)
    assert max(differences(spoiled["propose"], GAPS[4, 3])) > 1e-3


def test_rank_one_and_its_complement_are_bingham_laws() -> None:
    m = np.diag([5.0, 3.0, 1.0])
    line, plane = draws(m, 1), draws(m, 2)
    for i in range(3):
        along, across = bingham.projection_cdf(m, [i]), bingham.projection_cdf(-m, [2 - i])
        assert kolmogorov_smirnov(line[:, i, i], along, "line").p_value > FALSE_ALARM
        assert kolmogorov_smirnov(1 - plane[:, i, i], across, "plane").p_value > FALSE_ALARM
    assert kolmogorov_smirnov(line[:, 0, 0], bingham.projection_cdf(1.3 * m, [0]), "wrong").p_value < FALSE_ALARM


def test_two_equal_directions_in_four_dimensions_are_a_product_of_cosines() -> None:
    # tr(PQ) − 1 = st for independent s and t of two spheres, uniform on [−1, 1]; m = 0 leaves them uniform
    overlap = np.trace(draws(np.zeros((4, 4)), 2)[:, :2, :2], axis1=1, axis2=2) - 1

    def cdf(x: Matrix) -> Matrix:
        size = np.maximum(np.abs(x), 1e-300)
        return np.asarray(0.5 + np.sign(x) * size * (1 - np.log(size)) / 2)

    assert kolmogorov_smirnov(overlap, cdf, "product").p_value > FALSE_ALARM
    assert kolmogorov_smirnov(overlap, stats.uniform(-1, 2).cdf, "uniform").p_value < FALSE_ALARM


def acceptance_rate(m: Matrix, k: int, rng: np.random.Generator, size: int = 10_000) -> float:
    """An estimate, from `size` proposals, of the probability that the sampler accepts a proposal."""
    g, vectors = law.gaps(m, k)
    _, log_accepted = law.propose(g.T[:, ::-1] if k > len(vectors) - k else g, size, rng)
    return float(np.exp(log_accepted).mean())


def test_the_acceptance_rate_is_that_of_the_exact_normaliser() -> None:
    # for rank 1 it is Bingham's; on equal eigenvalues in R⁴ it is E √(1 − ‖x‖²) = 1/2, x the part of a point of S²
    rng = np.random.default_rng(2)
    slack = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * 10_000))  # Hoeffding
    m = np.diag([6.0, 3.0, 0.0, 0.0, 0.0])
    assert abs(acceptance_rate(m, 1, rng) - bingham.acceptance_rate(m)) < slack
    assert abs(acceptance_rate(m, 4, rng) - bingham.acceptance_rate(-m)) < slack
    assert abs(acceptance_rate(np.zeros((4, 4)), 2, rng) - 0.5) < slack


@PROPERTY
@given(seed=SEEDS, m=st.integers(1, 6), k=st.integers(1, 5), size=st.floats(-3, 8))
def test_no_acceptance_probability_exceeds_one(seed: int, m: int, k: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    x, log_accepted = law.propose(10**size * rng.exponential(size=(m, k)) * rng.integers(0, 2, (m, k)), 50, rng)
    assert np.isfinite(log_accepted).all()
    assert log_accepted.max() <= 1e-9
    assert np.linalg.norm(x, 2, axis=(1, 2)).max() <= 1 + 1e-12


@PROPERTY
@given(seed=SEEDS, m=st.integers(1, 5), k=st.integers(1, 5))
def test_the_trace_is_quadratic_in_sine_coordinates(seed: int, m: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    x = haar.sample(m + k, rng)[k:, :k]
    values, frame = np.sort(rng.standard_normal(m + k))[::-1], law.frames(x)
    g, vectors = law.gaps(np.diag(values), k)
    np.testing.assert_allclose(frame.T @ frame, np.eye(k), atol=1e-13)
    trace = (frame**2).sum(axis=1) @ values
    assert trace == pytest.approx(values[:k].sum() - (g * x**2).sum(), abs=1e-12)
    np.testing.assert_array_equal(np.abs(vectors), np.eye(m + k))


@pytest.mark.parametrize("k", [0, 3, -1])
def test_a_rank_out_of_range_is_refused(k: int) -> None:
    with pytest.raises(InvalidInput, match="k = "):
        law.sample(np.eye(3), k, np.random.default_rng(0))
