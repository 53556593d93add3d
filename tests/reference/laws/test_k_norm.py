"""Test K-norm noise: the norms, the laws of the radius and the direction for every body, and the acceptance rate.

Statistical tests have fixed seeds. With a random seed, each test of a correct law would raise a false alarm with
probability at most 1e-9.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from covassay.reference.errors import InvalidInput
from covassay.reference.laws import haar
from covassay.reference.laws.k_norm import BODIES, Body, acceptance, covariance_norm, degrees_of_freedom, norm, sample
from covassay.verification.statistics.tests import binomial, independence, kolmogorov_smirnov, two_sample
from tests.conventions import FALSE_ALARM, SEEDS, Matrix

EVERY_BODY = pytest.mark.parametrize("body", BODIES)


# Norms


@pytest.mark.parametrize(
    ("body", "value"),
    [("schatten1", 2 * math.sqrt(5)), ("covariance", math.sqrt(5)), ("l1", 4), ("l2", math.sqrt(10)), ("linf", 2)],
)
def test_the_norms_agree_with_a_hand_calculation(body: Body, value: float) -> None:
    m = np.array([[1.0, 2.0], [2.0, -1.0]])  # the eigenvalues are ±√5
    assert norm(m, body) == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(norm(np.array([m, -2 * m]), body), [value, 2 * value], rtol=1e-14)


def test_the_covariance_norm_is_the_larger_of_the_two_parts() -> None:
    # The positive eigenvalues of diag(3, 1, −2) have the sum 4, and the negative eigenvalue is −2.
    assert norm(np.diag([3.0, 1.0, -2.0]), "covariance") == pytest.approx(4)
    assert norm(np.diag([-3.0, -1.0, 2.0]), "covariance") == pytest.approx(4)
    assert covariance_norm(Fraction(6), Fraction(2)) == 4


@EVERY_BODY
@settings(max_examples=60)
@given(seed=SEEDS, d=st.integers(1, 5))
def test_every_norm_is_a_norm_and_the_covariance_norm_has_its_formula(body: Body, seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (m + m.T for m in rng.standard_normal((2, d, d)))
    assert norm(a + b, body) <= norm(a, body) + norm(b, body) + 1e-12
    assert norm(-3 * a, body) == pytest.approx(3 * norm(a, body), rel=1e-12)
    values = np.linalg.eigvalsh(a)
    larger = max(values[values > 0].sum(), -values[values < 0].sum())
    assert norm(a, "covariance") == pytest.approx(larger, rel=1e-10)


def test_an_unknown_body_is_refused() -> None:
    wrong: Any = "l3"
    for call in (lambda: norm(np.eye(2), wrong), lambda: sample(wrong, 2, np.random.default_rng(0))):
        with pytest.raises(InvalidInput, match=r"^body = 'l3'"):
            call()


# The law


@EVERY_BODY
def test_a_single_draw_is_one_matrix_and_not_a_stack(body: Body) -> None:
    one, stack = (sample(body, 3, np.random.default_rng(0), size) for size in (None, 1))
    np.testing.assert_array_equal(one, stack[0])


@EVERY_BODY
def test_the_radius_does_not_depend_on_the_direction(body: Body) -> None:
    z = sample(body, 2, np.random.default_rng(11), 3000)
    radius = norm(z, body)
    for direction in (np.abs(z[:, 0, 0]) / radius, np.abs(z[:, 0, 1]) / radius):
        assert independence(radius, direction, "independent").p_value > FALSE_ALARM


def test_the_entries_of_l1_are_independent_laplace() -> None:
    """Test that the entries of noise for the body `l1` are independent Laplace variables."""
    z = sample("l1", 3, np.random.default_rng(2), 3000)
    for i, j in ((0, 0), (0, 2), (2, 1)):
        assert kolmogorov_smirnov(z[:, i, j], stats.laplace.cdf, "exact").p_value > FALSE_ALARM
    assert independence(z[:, 0, 0], z[:, 0, 1], "independent").p_value > FALSE_ALARM


def test_the_entries_of_linf_follow_their_exact_law() -> None:
    # The noise is a uniform point of the cube times a radius R of law Gamma(D + 1).
    # So P(|Z_ij| ≤ t) = P(R ≤ t) + t E[1/R; R > t].
    z, entries = sample("linf", 3, np.random.default_rng(3), 4000), 6

    def cdf(t: Matrix) -> Matrix:
        return stats.gamma.cdf(t, entries + 1) + t / entries * stats.gamma.sf(t, entries)

    for i, j in ((0, 0), (0, 2)):
        assert kolmogorov_smirnov(np.abs(z[:, i, j]), cdf, "exact").p_value > FALSE_ALARM
        assert binomial(int((z[:, i, j] > 0).sum()), 4000, 0.5, "sign").p_value > FALSE_ALARM
    inside = np.abs(z[:, 0, 0]) / np.abs(z).max(axis=(1, 2))
    assert binomial(int((inside == 1).sum()), 4000, 1 / 6, "a face is chosen uniformly").p_value > FALSE_ALARM


def test_the_direction_of_l2_is_uniform() -> None:
    z = sample("l2", 3, np.random.default_rng(4), 4000)
    radius = norm(z, "l2")
    for i, j, weight in ((0, 0, 1.0), (2, 2, 1.0), (0, 1, 2.0), (2, 0, 2.0)):
        share = weight * z[:, i, j] ** 2 / radius**2
        assert kolmogorov_smirnov(share, lambda w: haar.squared_coordinate_cdf(w, 6), "exact").p_value > FALSE_ALARM
    # mutant: entries off the diagonal have the variance of entries on the diagonal
    share = 4 * z[:, 0, 1] ** 2 / (radius**2 + 2 * z[:, 0, 1] ** 2)
    assert kolmogorov_smirnov(share, lambda w: haar.squared_coordinate_cdf(w, 6), "mutant").p_value < FALSE_ALARM


# The covariance body


def test_the_covariance_shape_in_two_dimensions() -> None:
    # For nuclear-Laplace noise W at d = 2, both eigenvalues have the same sign with probability 1/3. Otherwise |tr W|
    # is uniform on (0, 1). With the weights (1 + |tr W|)^{−3} the first case has the mass 1/24, and the second has the
    # mass (2/3) (3/8) = 1/4. So the first case has probability 1/7, and the acceptance rate is 7/24.
    n = 3000
    values = np.linalg.eigvalsh(sample("covariance", 2, np.random.default_rng(5), n))
    same = values[:, 0] * values[:, 1] > 0
    assert binomial(int(same.sum()), n, 1 / 7, "exact").p_value > FALSE_ALARM
    assert binomial(int(same.sum()), n, 1 / 3, "mutant: not thinned").p_value < FALSE_ALARM
    tilt = np.abs(values.sum(axis=1)) / np.abs(values).sum(axis=1)

    def cdf(t: Matrix) -> Matrix:
        return (1 - (1 + t) ** -2) / (3 / 4)

    assert kolmogorov_smirnov(tilt[~same], cdf, "exact").p_value > FALSE_ALARM
    assert kolmogorov_smirnov(tilt[~same], lambda t: np.clip(t, 0, 1), "mutant").p_value < FALSE_ALARM


def by_frobenius_directions(d: int, rng: np.random.Generator, size: int) -> Matrix:
    """Draw K-norm noise for the covariance body by rejection from directions that are uniform in Frobenius norm."""
    accepted = np.empty((0, d, d))
    while len(accepted) < size:
        w = sample("l2", d, rng, 4000)
        w /= norm(w, "l2")[:, None, None]
        gauge = norm(w, "covariance")
        keep = rng.random(len(w)) < (math.sqrt(2) * gauge) ** -degrees_of_freedom(d)
        accepted = np.concatenate([accepted, (w / gauge[:, None, None])[keep]])
    return accepted[:size] * rng.gamma(degrees_of_freedom(d), size=size)[:, None, None]


STATISTICS: dict[str, Callable[[Matrix], Matrix]] = {
    "trace": lambda z: np.trace(z, axis1=1, axis2=2),
    "nuclear norm": lambda z: norm(z, "schatten1"),
    "spectral norm": lambda z: np.linalg.norm(z, 2, axis=(1, 2)),
    "entry": lambda z: z[:, 0, 1],
}


@pytest.mark.parametrize("d", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_covariance_law_agrees_with_rejection_sampling(d: int) -> None:
    n, rng = 2000, np.random.default_rng(7)
    one, two = sample("covariance", d, rng, n), by_frobenius_directions(d, rng, n)
    nuclear = sample("schatten1", d, rng, n)
    nuclear *= (norm(one, "covariance") / norm(nuclear, "covariance"))[:, None, None]
    for name, statistic in STATISTICS.items():
        assert two_sample(statistic(one), statistic(two), name).p_value > FALSE_ALARM
    # mutant: nuclear-Laplace directions without the rejection step
    assert two_sample(np.abs(STATISTICS["trace"](nuclear)), np.abs(STATISTICS["trace"](two)), "").p_value < FALSE_ALARM


def test_the_acceptance_is_a_probability_and_exact() -> None:
    # The matrix diag(1, −1)/2 is always accepted, and the matrix e₁e₁ᵀ is accepted with probability (1/2)^D.
    assert acceptance(Fraction(1), Fraction(0), 2) == 1
    assert acceptance(1.0, 1.0, 3) == 2.0**-6
    assert acceptance(3.0, -1.0, 2) == pytest.approx((1 + 1 / 3) ** -3, rel=1e-14)
