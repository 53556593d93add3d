"""K-norm mechanism: sensitivities of the five bodies, known answers, and the spend."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.laws.k_norm import BODIES, Body, norm
from covassay.reference.laws.k_norm import sample as draw
from covassay.reference.mechanisms.pure import nuclear_laplace_symmetric
from covassay.reference.mechanisms.pure.k_norm import noise_scale, privacy_loss, release, sample, sensitivity, spend
from covassay.reference.privacy import PureDP
from covassay.reference.sensitivity import SENSITIVITIES, block_pair, difference, one_sided_pair, orthonormal_pair
from tests.conventions import SEEDS, Matrix

PROPERTY = settings(max_examples=60)
EVERY_BODY = pytest.mark.parametrize("body", BODIES)


def worst(body: Body, d: int) -> float:
    """The largest ‖Δ‖_K over the extreme pairs."""
    pairs = [orthonormal_pair(d), one_sided_pair(d), *([block_pair(d)] if d > 1 else [])]
    return max(float(norm(difference(*pair), body)) for pair in pairs)


# Sensitivity


@EVERY_BODY
@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 6))
def test_one_row_moves_the_moment_by_the_sensitivity_at_most(body: Body, seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = unit_rows(rng.standard_normal((2, d)) ** int(rng.choice([1, 3])))
    y *= rng.choice([0.0, 0.5, 1.0])
    assert norm(difference(x, y), body) <= sensitivity(body, 1, d) + 1e-12


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


# Known answers


@pytest.mark.parametrize(
    ("body", "scale"),
    [("schatten1", 4), ("covariance", 2), ("l1", 2 * math.sqrt(5)), ("l2", 2 * math.sqrt(2)), ("linf", 2)],
)
def test_the_release_agrees_with_a_hand_calculation(body: Body, scale: float) -> None:
    # n = 2, ε = 1/4, Σ = I/2
    z = np.array([[0.5, 0.25], [0.25, -1.0]])
    expected = np.eye(2) / 2 + scale * z
    np.testing.assert_allclose(release(np.eye(2), z, epsilon=0.25, body=body), expected, rtol=1e-14)
    got = release(10 * np.eye(2), z, epsilon=0.25, body=body, row_bound=10)
    np.testing.assert_allclose(got, 100 * expected, rtol=1e-14)


def test_schatten1_is_symmetric_nuclear_laplace() -> None:
    x = np.array([[0.6, 0.8], [0.0, 0.5]])
    one = sample(x, np.random.default_rng(3), epsilon=0.5)
    other = nuclear_laplace_symmetric.sample(x, np.random.default_rng(3), epsilon=0.5)
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        (np.zeros((3, 3)), r"noise of shape \(3, 3\)"),
        (np.array([[0.0, 1.0], [0.0, 0.0]]), "noise is not symmetric"),
        (np.full((2, 2), math.nan), "noise contains"),
    ],
)
def test_bad_noise_is_refused(noise: Matrix, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        release(np.eye(2), noise, epsilon=1.0)


def test_an_unknown_body_is_refused() -> None:
    wrong: Any = "l3"
    for call in (
        lambda: release(np.eye(2), np.zeros((2, 2)), epsilon=1.0, body=wrong),
        lambda: sample(np.eye(2), np.random.default_rng(0), epsilon=1.0, body=wrong),
        lambda: spend(epsilon=1.0, dimension=2, body=wrong),
    ):
        with pytest.raises(InvalidInput, match=r"^body = 'l3'"):
            call()


@EVERY_BODY
def test_the_noise_is_drawn_from_the_law_of_the_body(body: Body) -> None:
    x = np.eye(3)
    z = draw(body, 3, np.random.default_rng(6))
    np.testing.assert_array_equal(
        sample(x, np.random.default_rng(6), epsilon=1.0, body=body), release(x, z, epsilon=1.0, body=body)
    )


# Privacy


def loss(body: Body, y: Matrix, sigma: Matrix, other: Matrix, scale: float) -> float:
    """ln of the ratio of the densities at Y; the normalisers are the same."""
    return float(norm(y - other, body) - norm(y - sigma, body)) / scale


@pytest.mark.thorough
@EVERY_BODY
@PROPERTY
@given(seed=SEEDS, d=st.integers(1, 4))
def test_the_loss_never_exceeds_what_is_proven(body: Body, seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    data = unit_rows(rng.standard_normal((4, d)))
    other = np.vstack([rng.choice([0.0, 1.0]) * unit_rows(rng.standard_normal((1, d))), data[1:]])
    sigma, sigma_other = second_moment(data), second_moment(other)
    m = rng.standard_normal((d, d))
    y = sigma + rng.choice([-0.1, 0.0, 1.0]) * (sigma_other - sigma) + rng.choice([0.0, 1.0]) * (m + m.T)
    scale = noise_scale(sensitivity(body, 4, d), 0.7)
    proven = spend(epsilon=0.7, dimension=d, body=body).proven.epsilon  # type: ignore[union-attr]
    assert loss(body, y, sigma, sigma_other, scale) <= proven + 1e-9


@EVERY_BODY
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_spend_is_attained_where_it_says_so(body: Body, d: int) -> None:
    result = spend(epsilon=0.7, dimension=d, body=body)
    assert result.claimed == PureDP(0.7)
    assert result.proven.epsilon == pytest.approx(0.7, rel=1e-15)  # type: ignore[union-attr]
    scale = noise_scale(sensitivity(body, 5, d), 0.7)
    reached = privacy_loss(worst(body, d) / 5, scale)
    assert (reached == pytest.approx(0.7, rel=1e-12)) == result.attained
    assert result.attained
    # a mutant: half the sensitivity
    assert privacy_loss(worst(body, d) / 5, scale / 2) > 0.7


@pytest.mark.parametrize("d", [3, 4, 5])
def test_the_sensitivity_of_l1_is_the_largest_over_all_sign_patterns(d: int) -> None:
    # sup ‖Δ‖_l1 = max over sign patterns W of sup ⟨W, Δ⟩ = max (λ_max(W) − λ_min(W))
    places = np.triu_indices(d)
    largest = 0.0
    for signs in range(2 ** (len(places[0]) - 1)):
        w = np.zeros((d, d))
        w[places] = [1.0 if signs >> k & 1 else -1.0 for k in range(len(places[0]))]
        values = np.linalg.eigvalsh((w + w.T) / 2)
        largest = max(largest, values[-1] - values[0])
    assert largest == pytest.approx({3: 2.872281, 4: 3.605551, 5: 4.272002}[d], abs=1e-6)
    assert sensitivity("l1", 1, d) == pytest.approx(largest, rel=1e-12)
