"""Test the map from columns with public bounds to the domain of a mechanism, and the map back."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from covassay.reference.domain import Chunks, blocks, second_moment
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import OUTPUTS, SECOND_MOMENT
from covassay.reference.release.scaling import Scaling, extremes, read_bounds, require_every_column, scaling
from tests.conventions import Matrix

LOW, HIGH = np.array([0.0, 100.0]), np.array([120.0, 220.0])


def applied(scaled: Scaling, x: Matrix) -> Matrix:
    halves = Chunks(x.shape, lambda: (half for half in (x[: len(x) // 2], x[len(x) // 2 :]) if len(half)))
    return np.concatenate(list(blocks(scaled.apply(halves))))


# Tests of the map from bounded data to the domain of a mechanism


def test_a_ball_agrees_with_a_hand_calculation() -> None:
    """Test the map of a box to the unit ball against a calculation by hand. The box has the centre (60, 160) and half
    widths of 60. So (90, 160) is mapped to (0.5, 0)/√2, and (200, 0) is clipped and mapped to (1, −1)/√2.
    """
    scaled = scaling(LOW, HIGH, "ball")
    assert scaled.shift.tolist() == [60, 160]
    assert scaled.scale == pytest.approx([60 * 2**0.5] * 2, rel=1e-15)
    u = applied(scaled, np.array([[90.0, 160.0], [200.0, 0.0]]))
    assert u == pytest.approx(np.array([[0.5, 0], [1, -1]]) / 2**0.5, rel=1e-15)


def test_a_cube_and_the_space_agree_with_a_hand_calculation() -> None:
    x = np.array([[90.0, 160.0], [200.0, 0.0], [0.0, 220.0]])
    assert applied(scaling(LOW, HIGH, "cube"), x).tolist() == [[0.75, 0.5], [1, 0], [0, 1]]
    assert applied(scaling(LOW, HIGH, "space"), x).tolist() == [[0.5, 0], [1, -1], [-1, 1]]


finite = st.floats(-1e30, 1e30)
tables = st.tuples(st.integers(1, 5), st.integers(1, 4)).flatmap(
    lambda shape: st.tuples(
        arrays(np.float64, shape, elements=finite),
        arrays(np.float64, shape[1], elements=st.floats(-1e20, 1e20)),
        arrays(np.float64, shape[1], elements=st.floats(1e-3, 1e20)),
    )
)


def without_clip(scaled: Scaling, x: Matrix) -> Matrix:
    return (x - scaled.shift) / scaled.scale


def without_root(scaled: Scaling, x: Matrix) -> Matrix:
    return applied(scaled, x) * np.sqrt(x.shape[1])


@settings(max_examples=60)
@given(tables)
def test_every_row_lies_in_the_ball_and_in_the_cube(case: tuple[Matrix, Matrix, Matrix]) -> None:
    x, low, width = case
    high = np.maximum(low + width, np.nextafter(low, np.inf))
    assert np.linalg.norm(applied(scaling(low, high, "ball"), x), axis=1).max() <= 1 + 1e-12
    cube = applied(scaling(low, high, "cube"), x)
    assert cube.min() >= 0
    assert cube.max() <= 1 + 1e-12
    assert np.abs(applied(scaling(low, high, "space"), x)).max() <= 1 + 1e-12


@pytest.mark.parametrize(
    ("apply", "inside"), [(applied, True), (without_clip, False), (without_root, False)], ids=["right", "clip", "root"]
)
def test_a_missing_clip_or_root_leaves_the_ball(apply: Any, inside: bool) -> None:
    x = np.array([[120.0, 220.0], [500.0, 100.0]])
    norms = np.linalg.norm(apply(scaling(LOW, HIGH, "ball"), x), axis=1)
    assert bool((norms <= 1 + 1e-12).all()) == inside


def test_one_record_moves_one_row() -> None:
    """Test that replacing one row changes no other scaled row."""
    x = np.random.default_rng(0).uniform(0, 300, (6, 2))
    y = x.copy()
    y[2] = [7.0, 7.0]
    changed = (applied(scaling(LOW, HIGH, "ball"), x) != applied(scaling(LOW, HIGH, "ball"), y)).any(axis=1)
    assert changed.tolist() == [False, False, True, False, False, False]


# The map back to the units of the data


@pytest.mark.parametrize("domain", ["ball", "cube", "space"])
def test_without_noise_the_matrix_is_the_second_moment_about_the_shift(domain: str) -> None:
    x = np.random.default_rng(0).uniform([0, 100], [120, 220], (50, 2))
    scaled = scaling(LOW, HIGH, domain)
    back = scaled.restore(second_moment(applied(scaled, x)), SECOND_MOMENT)
    centred = x - scaled.shift
    np.testing.assert_allclose(back, centred.T @ centred / 50, rtol=1e-12)
    np.testing.assert_array_equal(back, back.T)


def test_with_bounds_around_zero_it_is_the_second_moment_of_the_data() -> None:
    x = np.random.default_rng(0).uniform(-3, 3, (50, 2))
    scaled = scaling(np.array([-3.0, -4.0]), np.array([3.0, 4.0]), "ball")
    np.testing.assert_allclose(
        scaled.restore(second_moment(applied(scaled, x)), SECOND_MOMENT), x.T @ x / 50, rtol=1e-12
    )


def test_a_gaussian_without_noise_is_the_mean_and_the_covariance_of_the_data() -> None:
    x = np.random.default_rng(0).uniform([0, 100], [120, 220], (50, 2))
    scaled = scaling(LOW, HIGH, "ball")
    u = applied(scaled, x)
    back = scaled.restore(np.vstack([u.mean(axis=0), np.cov(u.T, bias=True)]), replace(OUTPUTS["gaussian"], power=1))
    np.testing.assert_allclose(back[0], x.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(back[1:], np.cov(x.T, bias=True), rtol=1e-9)


def test_coefficients_predict_in_the_units_of_the_data() -> None:
    """Test that regression coefficients are converted to the units of the data. For y = 3 + 2 x₁ − x₂ the converted
    coefficients must be 2 and −1.
    """
    rng = np.random.default_rng(0)
    features = rng.uniform([0, 100], [120, 220], (50, 2))
    x = np.column_stack([features, 3 + 2 * features[:, 0] - features[:, 1]])
    scaled = scaling(np.array([0.0, 100.0, -300.0]), np.array([120.0, 220.0, 300.0]), "ball")
    u = applied(scaled, x)
    slopes = np.linalg.lstsq(np.column_stack([u[:, :2], np.ones(50)]), u[:, 2], rcond=None)[0][:2]
    np.testing.assert_allclose(scaled.restore(slopes, replace(OUTPUTS["coefficients"], power=0)), [2, -1], rtol=1e-9)


@pytest.mark.parametrize(
    ("released", "degree"),
    [("direction", 0), ("vector", 1), ("vector", 2), ("number", 2), ("level", 1), ("matrix", -1), ("matrix", 0)],
)
def test_what_has_no_units_stays_as_it_is(released: str, degree: int) -> None:
    values = np.eye(2)
    assert not replace(OUTPUTS[released], power=degree).restorable
    assert scaling(LOW, HIGH, "ball").restore(values, replace(OUTPUTS[released], power=degree)) is values


# Scales from the data


def test_extremes_are_found_across_chunks_and_a_constant_column_becomes_zero() -> None:
    x = np.array([[1.0, 5.0], [-2.0, 5.0], [4.0, 5.0]])
    low, high = extremes(Chunks(x.shape, lambda: iter([x[:2], x[2:]])))
    assert (low.tolist(), high.tolist()) == ([-2, 5], [4, 5])
    for domain, expected in (("space", [0, -1, 1]), ("cube", [0.5, 0, 1])):
        u = applied(scaling(low, high, domain), x)
        assert u[:, 0].tolist() == expected
        assert u[:, 1].tolist() == [0, 0, 0]


def test_a_column_too_wide_to_scale_is_refused() -> None:
    x = np.array([[-1e308], [1e308]])
    with pytest.raises(InvalidInput, match="wider than 1e\\+100"):
        extremes(Chunks(x.shape, lambda: iter([x])))


# The file of bounds


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("b.toml", 'height = [100, 220]\n"body  age" = [0, 120.0]\n'),
        ("b.json", '{"height": [100, 220], "body age": [0, 1.2e2]}'),
        ("B.JSON", '\ufeff{"height": [100, 220], " body age ": [0, 120]}'),
    ],
)
def test_bounds_are_read_and_brought_into_the_order_of_the_columns(tmp_path: Path, name: str, text: str) -> None:
    path = write(tmp_path / name, text)
    bounds = read_bounds(path)
    assert bounds == {"height": (100.0, 220.0), "body age": (0.0, 120.0)}
    low, high = require_every_column(path, bounds, ("body age", "height"))
    assert (low.tolist(), high.tolist()) == ([0, 100], [120, 220])


@pytest.mark.parametrize(
    ("columns", "named"),
    [(("a",), "bounds for 'b': must name columns of the data only"), (("a", "b", "c"), "no bounds for column 'c'")],
)
def test_bounds_must_be_there_for_the_columns_and_for_nothing_else(columns: tuple[str, ...], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        require_every_column(Path("b.toml"), {"a": (0, 1), "b": (0, 1)}, columns)


# For each file name: words that an error message must contain, and the texts of files that must cause this error.
BAD_BOUNDS = {
    "b.toml": {
        "must be TOML": ("a = [1, 2", "a = [1, 2]\na = [1, 3]"),
        "names 'a' twice": ('a = [1, 2]\n" a" = [1, 3]',),
        "'a' = '1': must be two numbers": ("a = 1",),
        r"must be two numbers, \[low, high\]": ("a = [1]",),
        "must be two numbers": ("a = [1, 2, 3]", 'a = [1, "2"]', "a = [false, true]"),
        "low below high": ("a = [2, 1]", "a = [1, 1]"),
        "must be finite": ("a = [0, inf]", "a = [nan, 1]"),
        "must differ by": ("a = [0, 1e200]", "a = [0, 1e-200]"),
    },
    "b.json": {
        "must be JSON": ('{"a": [1, 2]', "[" * 100_000),
        "'a' comes twice": ('{"a": [1, 2], "a": [1, 2]}',),
        "holds no names": ("[[1, 2]]",),
        "must be finite": ('{"a": [0, 1' + "0" * 400 + "]}",),
    },
    "b.txt": {".toml, .json": ("a = [0, 1]",)},
}


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [(name, text, named) for name, said in BAD_BOUNDS.items() for named, texts in said.items() for text in texts],
)
def test_bad_bounds_are_refused_in_one_line(tmp_path: Path, name: str, text: str, named: str) -> None:
    path = write(tmp_path / name, text)
    with pytest.raises(InvalidInput, match=named) as caught:
        read_bounds(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < len(str(path)) + 200


def test_a_file_of_bounds_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="does not exist: must be a file of bounds"):
        read_bounds(tmp_path / "b.toml")
    (tmp_path / "b.toml").write_bytes(b"\xff")
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_bounds(tmp_path / "b.toml")
    (tmp_path / "c.toml").mkdir()
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_bounds(tmp_path / "c.toml")
