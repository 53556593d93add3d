"""K-norm mechanism: sensitivities of the five bodies, and the law of the noise."""

import math
from fractions import Fraction

import numpy as np
import pytest

from covassay.reference.laws.k_norm import BODIES, Body, norm
from covassay.reference.laws.k_norm import sample as draw
from covassay.reference.mechanisms.pure import nuclear_laplace_symmetric
from covassay.reference.mechanisms.pure.k_norm import release, sample, sensitivity, spend
from covassay.reference.sensitivity import SENSITIVITIES, block_pair, difference, one_sided_pair, orthonormal_pair

EVERY_BODY = pytest.mark.parametrize("body", BODIES)


def worst(body: Body, d: int) -> float:
    """The largest ‖Δ‖_K over the extreme pairs of rows."""
    pairs = [orthonormal_pair(d), one_sided_pair(d), *([block_pair(d)] if d > 1 else [])]
    return max(float(norm(difference(*pair), body)) for pair in pairs)


@pytest.mark.parametrize(
    ("body", "values"),
    [
        # d = 1, 2, 3
        ("schatten1", [1, 2, 2]),
        ("covariance", [1, 1, 1]),
        ("l1", [1, math.sqrt(5), math.sqrt(33) / 2]),
        ("l2", [1, math.sqrt(2), math.sqrt(2)]),
        ("linf", [1, 1, 1]),
    ],
)
def test_the_sensitivities_agree_with_a_hand_calculation(body: Body, values: list[float]) -> None:
    assert [sensitivity(body, 1, d) for d in (1, 2, 3)] == pytest.approx(values, rel=1e-15)
    assert sensitivity(body, Fraction(4), 1) == Fraction(1, 4)
    for d, value in zip((1, 2, 3), values, strict=True):
        assert (worst(body, d) == pytest.approx(value, rel=1e-12)) == spend(epsilon=1, dimension=d, body=body).attained


@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_they_are_those_of_the_table_of_sensitivities(d: int) -> None:
    for body, quantity in (("schatten1", "nuclear norm"), ("l1", "upper triangle, l1"), ("l2", "Frobenius norm")):
        assert sensitivity(body, 1, d) == pytest.approx(SENSITIVITIES[quantity].supremum(d), rel=1e-15)


def test_the_covariance_body_is_the_smallest() -> None:
    # it is the hull of all Δ, so its norm is at least that of any other valid body in units of its own sensitivity
    rng = np.random.default_rng(0)
    for d in (2, 3, 6):
        m = rng.standard_normal((200, d, d))
        m += np.swapaxes(m, 1, 2)
        for body in BODIES:
            assert (norm(m, body) / sensitivity(body, 1, d) <= norm(m, "covariance") + 1e-9).all()


def test_schatten1_is_symmetric_nuclear_laplace() -> None:
    x = np.array([[0.6, 0.8], [0.0, 0.5]])
    one = sample(x, np.random.default_rng(3), epsilon=0.5)
    other = nuclear_laplace_symmetric.sample(x, np.random.default_rng(3), epsilon=0.5)
    np.testing.assert_array_equal(one, other)


@EVERY_BODY
def test_the_noise_is_drawn_from_the_law_of_the_body(body: Body) -> None:
    x = np.eye(3)
    z = draw(body, 3, np.random.default_rng(6))
    np.testing.assert_array_equal(
        sample(x, np.random.default_rng(6), epsilon=1.0, body=body), release(x, z, epsilon=1.0, body=body)
    )
