"""Private subspace: known answers, the exact privacy loss, the accuracy, and rank one.

Statistical tests have fixed seeds. With a random seed, each comparison would raise a false alarm with probability at
most 1e-9.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from covassay.reference.domain import unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import bingham, haar
from covassay.reference.laws import matrix_bingham as law
from covassay.reference.mechanisms.pure.matrix_bingham import (
    draw_noise,
    error_bound,
    exponent,
    privacy_loss,
    release,
    released_rank,
    sample,
    spend,
)
from covassay.reference.privacy import PureDP
from covassay.verification.statistics.tests import kolmogorov_smirnov
from tests.conventions import FALSE_ALARM, SEEDS, Matrix

X = np.array([[0.6, 0.8, 0.0], [1.0, 0.0, 0.0]])
LINE = np.diag([1.0, 0.0, 0.0])


class Recorder:
    """A source of projections that records its requests."""

    def __init__(self, projection: Any) -> None:
        self.projection = projection
        self.asked: list[tuple[Matrix, int]] = []

    def __call__(self, m: Matrix, k: int) -> Any:
        self.asked.append((m, k))
        return self.projection


@pytest.mark.parametrize(("rank", "asked"), [(1, 1), (2, 2), (3, 2), (9, 2)])
def test_the_noise_is_given_the_scaled_sum_and_the_rank(rank: int, asked: int) -> None:
    noise = Recorder(np.diag([1.0] * asked + [0.0] * (3 - asked)))
    np.testing.assert_array_equal(release(X, noise, epsilon=0.5, rank=rank), noise.projection)
    ((m, k),) = noise.asked
    np.testing.assert_allclose(m, np.array([[1.36, 0.48, 0], [0.48, 0.64, 0], [0, 0, 0]]) / 4, rtol=1e-14)
    assert k == asked == released_rank(rank, 3)


@pytest.mark.parametrize(
    "projection",
    [
        pytest.param(np.eye(3), id="rank 3"),
        pytest.param(LINE, id="rank 1"),
        pytest.param(np.diag([1.0, 0.5, 0.5]), id="eigenvalues 1/2"),
        pytest.param(np.array([[1.0, 0, 0.5], [0, 1.0, 0], [0, 0, 0]]), id="not symmetric"),
        pytest.param(np.diag([1.0, 1.0]), id="two columns"),
        pytest.param(np.diag([1.0, 1.0, np.nan]), id="NaN"),
    ],
)
def test_noise_that_is_no_projection_of_the_rank_is_refused(projection: Matrix) -> None:
    with pytest.raises(InvalidInput, match=r"noise\(M, k\)"):
        release(X, Recorder(projection), epsilon=1, rank=2)


def test_one_column_has_no_subspace() -> None:
    with pytest.raises(InvalidInput, match="x has 1 column"):
        sample([[0.5]], np.random.default_rng(0), epsilon=1)


@pytest.mark.parametrize("rank", [0, -1, 1.5, True])
def test_a_rank_that_is_no_count_is_refused(rank: Any) -> None:
    with pytest.raises(InvalidInput, match="rank = "):
        sample(X, np.random.default_rng(0), epsilon=1, rank=rank)


def test_the_formulas_run_on_fractions_and_symbols() -> None:
    epsilon = sympy.Symbol("epsilon", positive=True)
    assert privacy_loss(exponent(epsilon)) == epsilon
    assert error_bound(Fraction(1, 4), 5, 2) == error_bound(Fraction(1, 4), 5, 3) == 32
    assert error_bound(epsilon, 7, 1) == 7 / epsilon  # d/η, as for one direction
    result = spend(epsilon=3.0, dimension=4)
    assert (result.claimed, result.proven, result.attained) == (PureDP(3.0), PureDP(3.0), True)


# Privacy: the exact loss, for ranks 1 and d − 1


def log_density(p: Matrix, m: Matrix, k: int) -> float:
    d = len(m)
    at = p if k == 1 else np.eye(d) - p
    u = np.linalg.eigh(at)[1][:, -1]
    return float(bingham.log_density(u, m if k == 1 else -m))


@settings(max_examples=12)
@given(seed=SEEDS, d=st.integers(2, 4), rank=st.sampled_from([1, 9]), copies=st.sampled_from([0, 1, 30]))
def test_the_loss_never_exceeds_the_claim(seed: int, d: int, rank: int, copies: int) -> None:
    rng, k, eta = np.random.default_rng(seed), released_rank(rank, d), exponent(0.8)
    rest, x, y = unit_rows(3 * rng.standard_normal((d, d))), *np.eye(d)[:2]
    base = copies * rest.T @ rest
    for _ in range(8):
        frame = haar.sample(d, rng)[:, :k]
        one, two = (log_density(frame @ frame.T, eta * (base + np.outer(z, z)), k) for z in (x, y))
        assert abs(one - two) <= 0.8 + 1e-9


@pytest.mark.parametrize(("d", "k"), [(2, 1), (4, 1), (3, 2), (5, 4)])
def test_the_claim_is_approached_by_many_rows(d: int, k: int) -> None:
    axes, eta = np.eye(d), exponent(0.8)
    losses = []
    for copies in (1, 10, 1000, 10**6):
        base = copies * np.diag(np.arange(d) < k).astype(float)
        p = np.diag((np.arange(d) <= k) & (np.arange(d) > 0)).astype(float)  # holds x, and not y
        with_x, with_y = base + np.outer(axes[k], axes[k]), base + np.outer(axes[0], axes[0])
        losses.append(log_density(p, eta * with_x, k) - log_density(p, eta * with_y, k))
    assert (np.diff(losses) > 0).all()
    assert 0.999 * 0.8 < losses[-1] <= 0.8


# The draws


def test_rank_one_is_the_private_leading_eigenvector() -> None:
    x = np.repeat(np.eye(3), [20, 5, 0], axis=0)
    noise = Recorder(LINE)
    release(x, noise, epsilon=1, rank=1)
    squares = law.sample(*noise.asked[0], np.random.default_rng(13), 2000)[:, 0, 0]
    for factor, fits in ((0.5, True), (0.25, False)):
        cdf = bingham.projection_cdf(factor * np.diag([20.0, 5.0, 0.0]), [0])
        assert (kolmogorov_smirnov(squares, cdf, "leading").p_value > FALSE_ALARM) == fits


@pytest.mark.parametrize(("d", "k"), [(5, 2), (6, 4)])
def test_what_is_missed_stays_within_the_bound(d: int, k: int) -> None:
    # the mean of 2000 draws of Q, whose deviation is of the size of its mean, is far below the bound
    values = np.linspace(0, 12, d)
    p = law.sample(np.diag(values), k, np.random.default_rng(3), 2000)
    missed = values[-k:].sum() - np.einsum("nii,i->n", p, values)
    assert missed.min() > -1e-9
    assert 0.1 * error_bound(1.0, d, k) < missed.mean() < error_bound(1.0, d, k)


def test_sample_is_release_with_the_law_of_the_module() -> None:
    key = draw_noise(2, np.random.default_rng(14)).key
    rng = np.random.default_rng(np.random.SeedSequence(key, spawn_key=(0,)))
    expected = release(X, lambda m, k: law.sample(m, k, rng), epsilon=2)
    np.testing.assert_array_equal(sample(X, np.random.default_rng(14), epsilon=2), expected)
