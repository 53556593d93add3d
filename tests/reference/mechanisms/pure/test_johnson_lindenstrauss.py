"""Test the Johnson–Lindenstrauss mechanism: its public random projection, and the fit of a matrix."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covassay.reference.domain import second_moment, unit_rows
from covassay.reference.laws.wigner import svec, unsvec
from covassay.reference.mechanisms.pure.johnson_lindenstrauss import (
    STREAM,
    entries,
    fit,
    image_radius,
    image_sensitivity,
    noise_scale,
    release,
    sketch_rows,
    svec_rows,
    transform,
)
from covassay.reference.projections import psd_trace_ball
from tests.conventions import SEEDS, Matrix

PROPERTY = settings(max_examples=60)
COARSE = 12.0  # with this α, few dimensions are kept even if there are few columns


def symmetric(rng: np.random.Generator, d: int) -> Matrix:
    m = rng.standard_normal((d, d))
    return m + m.T


def test_the_vector_form_is_an_isometry() -> None:
    rng = np.random.default_rng(0)
    for d in (1, 2, 5):
        a, b = symmetric(rng, d), symmetric(rng, d)
        assert float(svec(a) @ svec(b)) == pytest.approx(float(np.trace(a @ b)), rel=1e-12)
        np.testing.assert_allclose(unsvec(svec(a)), a, rtol=1e-15)
        x = rng.standard_normal((4, d))
        np.testing.assert_allclose(svec_rows(x), svec(x[:, :, None] * x[:, None, :]), rtol=1e-15)
    np.testing.assert_allclose(svec(np.array([[1.0, 2.0], [2.0, 3.0]])), [1, 2 * math.sqrt(2), 3])


def test_the_formulas_agree_with_a_hand_calculation() -> None:
    assert [entries(d) for d in (1, 2, 3, 20)] == [1, 3, 6, 210]
    # If the logarithm is replaced by 0, the number of rows is 4 (√(2·8) + 0 + 1 + 0)²/α² = 100/α².
    assert sketch_rows(8, 5, 0.1, log=lambda _: 0) == 4
    assert sketch_rows(8, 3, 0.1, log=lambda _: 0) == 12  # 100/9 rounded up
    assert sketch_rows(8, 1, 0.1, log=lambda _: 0) == 36  # the dimension of symmetric (8, 8) matrices
    assert sketch_rows(36, 1.0, 0.1) == entries(36)
    assert sketch_rows(37, 1.0, 0.1) == 700 < entries(37)
    assert image_radius(Fraction(1, 2)) == Fraction(5, 4)
    assert image_sensitivity(1, 1) == math.sqrt(2)
    assert image_sensitivity(1, 50) == 3.0
    assert noise_scale(Fraction(4), Fraction(1, 2), 3) == Fraction(3, 2)


# The projection


def test_the_transform_is_public_and_no_generator_repeats_it() -> None:
    t = transform(5, COARSE, 0.1, 3)
    assert t.shape == (sketch_rows(5, COARSE, 0.1), 15)
    assert len(t) < 15
    np.testing.assert_array_equal(t, transform(5, COARSE, 0.1, 3))
    assert np.abs(t - transform(5, COARSE, 0.1, 4)).max() > 0.1
    noise = np.random.default_rng(3).standard_normal(t.size) / math.sqrt(len(t))
    assert not np.isin(t.ravel(), noise).any()
    np.testing.assert_array_equal(transform(5, 1.0, 0.1, 3), np.eye(15))


def test_the_transform_distorts_as_little_as_stated() -> None:
    # The projection keeps fewer than 820 dimensions. The bound on its distortion is tested on 300 pairs of rows.
    rng = np.random.default_rng(1)
    t = transform(40, 1.0, 0.1, 0)
    assert len(t) < entries(40)
    x = unit_rows(rng.standard_normal((600, 40)))
    differences = svec_rows(x[:300]) - svec_rows(x[300:])
    gaps = np.abs(np.linalg.norm(differences @ t.T, axis=1) - np.linalg.norm(differences, axis=1))
    assert gaps.max() < 1.0
    assert np.linalg.norm(svec_rows(x) @ t.T, axis=1).max() < image_radius(1.0)  # no image is shortened


def gap(t: Matrix, y: Matrix, m: Matrix) -> float:
    """Return the Frank–Wolfe gap of the function ½‖T svec(M) − y‖² at M. The function exceeds its minimum at most by
    this gap.
    """
    gradient = unsvec(t.T @ (t @ svec(m) - y))
    return float(np.sum(gradient * m)) - min(0.0, float(np.linalg.eigvalsh(gradient)[0]))


@settings(PROPERTY, max_examples=15)
@given(seed=SEEDS, d=st.integers(2, 5), size=st.sampled_from([0.1, 1.0, 30.0]))
def test_the_fit_is_feasible_and_optimal(seed: int, d: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    t = transform(d, COARSE, 0.1, seed)
    y = size * rng.standard_normal(len(t))
    m = fit(t, y, d)
    values = np.linalg.eigvalsh(m)
    assert values[0] >= -1e-12
    assert values.sum() <= 1 + 1e-12
    assert gap(t, y, m) <= 1e-3 * (1 + size)


def test_a_single_step_does_not_reach_the_fit() -> None:
    rng = np.random.default_rng(2)
    t, y = transform(4, COARSE, 0.1, 0), rng.standard_normal(sketch_rows(4, COARSE, 0.1))
    once = psd_trace_ball(unsvec(np.linalg.pinv(t) @ y), 1.0)
    assert gap(t, y, once) > 0.05
    assert gap(t, y, fit(t, y, 4)) < 1e-3


def test_without_shortening_the_image_can_move_further_than_the_radius_allows() -> None:
    # The projection is multiplied by 1000, because only an unlikely projection makes images exceed the bound.
    t = 1e3 * transform(3, 1.0, 0.1, 0)
    images = svec_rows(np.eye(3)[:2]) @ t.T
    assert np.linalg.norm(images[0] - images[1]) > 2 * image_radius(1.0)


def test_rows_whose_image_is_too_long_are_shortened() -> None:
    # With a projection to one dimension, the image of x xᵀ is xᵀQx for a symmetric matrix Q.
    # The mechanism clips it to [−21, 21], where 21 = 1 + α/2.
    alpha = 40.0
    t = transform(2, alpha, 0.1, 0)
    assert t.shape == (1, 3)
    scale = noise_scale(1, 1.0, image_sensitivity(alpha, float(np.linalg.norm(t, 2))))
    x = np.linalg.eigh(unsvec(t[0]))[1].T
    for row in x:
        expected = float(np.clip(row @ unsvec(t[0]) @ row, -21, 21))
        got = release(row[None], np.array([0.3]), epsilon=1.0, alpha=alpha)
        np.testing.assert_allclose(got, fit(t, np.array([expected + 0.3 * scale]), 2), atol=1e-12)


def test_a_projection_keeps_what_it_can() -> None:
    # Without noise, the fitted matrix is close to the second moment, although the projection loses dimensions.
    x = unit_rows(np.random.default_rng(3).standard_normal((5, 40)))
    got = release(x, np.zeros(sketch_rows(40, 1.0, 0.1)), epsilon=1.0)
    assert np.linalg.norm(got - second_moment(x)) < 0.05 * np.linalg.norm(second_moment(x))


# The draws


def first_numbers(source: Any) -> list[float]:
    return np.random.default_rng(source).standard_normal(4).tolist()


@pytest.mark.parametrize("seed", [0, 5, 12345])
def test_the_stream_of_t_is_that_of_no_other_generator(seed: int) -> None:
    d = 40  # for d ≤ 36, T is the identity matrix, for which no random numbers are drawn
    t = transform(d, 1.0, 0.1, seed)
    drawn = (t.ravel()[:4] * math.sqrt(len(t))).tolist()
    others = [seed, (seed, STREAM), seed + STREAM * 2**32, *np.random.SeedSequence(seed).spawn(20)]
    assert all(first_numbers(other) != drawn for other in others)


def test_a_pair_of_numbers_as_a_seed_is_one_number_too() -> None:
    """Show why the projection must not be drawn from default_rng((seed, 8)): this generator equals default_rng(seed + 8
    · 2³²).
    """
    assert first_numbers((5, 8)) == first_numbers(5 + 8 * 2**32)
