"""Test properties of every mechanism in the registry: input, units, budgets and outputs.

The tests cover every mechanism in the registry, also new ones.
"""

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from covassay.reference.domain import Chunks, unit_rows
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.output import OUTPUTS
from covassay.reference.mechanisms.registry import MECHANISMS, mechanism
from covassay.reference.privacy import ZCDP, ApproximateDP, PureDP
from covassay.verification.vectors.answer import noise_of
from tests.conventions import Matrix

EVERY = pytest.mark.parametrize("about", MECHANISMS.values(), ids=list(MECHANISMS))
IN_A_BALL = pytest.mark.parametrize(
    "about", [a for a in MECHANISMS.values() if a.domain == "ball"], ids=lambda a: a.name
)
BUDGETS: dict[str, dict[str, float]] = {
    "pure": {"epsilon": 0.8},
    "zcdp": {"rho": 0.3},
    "approximate": {"epsilon": 0.8, "delta": 1e-6},
}
GUARANTEES = {"pure": PureDP, "zcdp": ZCDP, "approximate": ApproximateDP}
# three rows of norm at most 1; float16 represents every entry exactly
X = np.array([[0.5, -0.25], [0.0, 0.75], [0.5, 0.5]])

AnyMechanism = Mechanism[Any, ..., Any]


def drawn(about: AnyMechanism, x: Any, seed: int = 0, **options: Any) -> NDArray[np.float64]:
    return about.sample(x, np.random.default_rng(seed), **{**BUDGETS[about.notion.name], **options})


def unit(about: AnyMechanism, r: float) -> Any:
    """Return the factor by which the output, or each of its entries, changes if two columns are multiplied by r."""
    factors = about.output.restore(np.ones(about.output.shape(2)), np.zeros(2), np.full(2, r))
    return r**about.output.power if factors is None else factors


def every_choice(about: AnyMechanism) -> list[dict[str, str]]:
    return [dict(zip(about.choices, chosen, strict=True)) for chosen in product(*about.choices.values())]


def in_chunks(x: Matrix, size: int) -> Chunks:
    return Chunks(x.shape, lambda: (x[i : i + size] for i in range(0, len(x), size)))


# The registry


def test_the_registry_finds_every_mechanism_by_its_name() -> None:
    assert {"nuclear-laplace", "nuclear-laplace-symmetric", "nuclear-ball-projection", "bingham",
            "iterative-eigenvectors"} <= set(MECHANISMS)  # fmt: skip
    for name, about in MECHANISMS.items():
        assert mechanism(name) is about
        assert about.name == name


@pytest.mark.parametrize("name", ["", "Bingham", "nuclear_laplace", "laplace "])
def test_an_unknown_name_is_refused_with_the_list_of_names(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"mechanism = .*nuclear-laplace, "):
        mechanism(name)


@EVERY
def test_an_entry_points_at_the_functions_of_one_module(about: AnyMechanism) -> None:
    modules = {inspect.getmodule(f) for f in (about.release, about.sample, about.spend)}
    assert len(modules) == 1
    assert about.output.kind in OUTPUTS
    assert about.adjacency == "replace-one"
    assert about.title
    assert about.source
    assert set(inspect.signature(about.sample).parameters) == {"x", "rng", *about.declared}


@EVERY
def test_budgets_and_options_are_given_by_name(about: AnyMechanism) -> None:
    """Test that it is an error to give the budget without its keyword, or to give no budget."""
    with pytest.raises(TypeError):
        about.sample(X, np.random.default_rng(0), 0.8)
    with pytest.raises(TypeError):
        about.sample(X, np.random.default_rng(0))  # there is no default budget


# Input


@EVERY
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: X.tolist(), id="nested lists"),
        pytest.param(lambda: X.astype(np.float32), id="float32"),
        pytest.param(lambda: X.astype(np.float16), id="float16"),
        pytest.param(lambda: np.asfortranarray(X), id="Fortran order"),
        pytest.param(lambda: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3], id="strided"),
        pytest.param(lambda: X.astype(object), id="objects"),
        pytest.param(lambda: pd.DataFrame(X, columns=["a", "b"], index=[7, 7, 1]), id="data frame"),
    ],
)
def test_the_form_of_the_data_does_not_matter(about: AnyMechanism, make: Callable[[], Any]) -> None:
    np.testing.assert_array_equal(drawn(about, make()), drawn(about, X))


@IN_A_BALL
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, bool])
def test_whole_numbers_are_data(about: AnyMechanism, dtype: Any) -> None:
    """Test that integer data give the same release as floats."""
    x = np.array([[1, 0], [1, 1], [0, 0]])
    np.testing.assert_array_equal(drawn(about, x.astype(dtype), row_bound=2), drawn(about, x / 2) * unit(about, 2))


@EVERY
def test_the_data_are_not_written_to(about: AnyMechanism) -> None:
    """Test that the mechanism does not change the caller's array."""
    x = 3 * X  # rows of norm above 1 are clipped
    x.flags.writeable = False
    before = x.copy()
    drawn(about, x)
    np.testing.assert_array_equal(x, before)


BAD_DATA = [
    pytest.param(np.zeros((0, 2)), id="no row"),
    pytest.param(np.zeros((3, 0)), id="no column"),
    pytest.param(np.array([0.5, 0.5]), id="one row without its brackets"),
    pytest.param(np.zeros((2, 2, 2)), id="three dimensions"),
    pytest.param(np.array([[0.5, math.nan]]), id="NaN"),
    pytest.param(np.array([[math.inf, 0.0]]), id="infinity"),
    pytest.param(np.array([[0.5 + 0.5j, 0.0]]), id="complex"),
    pytest.param([["0.5", "0.5"]], id="strings of digits"),
    pytest.param([[0.5], [0.5, 0.5]], id="ragged"),
    pytest.param(None, id="None"),
    pytest.param(pd.DataFrame({"a": [0.5], "b": ["y"]}), id="frame with a name"),
]


@EVERY
@pytest.mark.parametrize("x", BAD_DATA)
def test_bad_data_are_refused(about: AnyMechanism, x: Any) -> None:
    for mode in [{"on_large_rows": "clip"}, {"on_large_rows": "raise"}] if about.domain == "ball" else [{}]:
        with pytest.raises(InvalidInput, match=r"^x"):
            drawn(about, x, **mode)


@EVERY
@pytest.mark.parametrize("value", [0, 0.0, -1.0, math.nan, math.inf, True, "1", None, [1.0]], ids=repr)
def test_a_bad_budget_is_refused(about: AnyMechanism, value: Any) -> None:
    for parameter in BUDGETS[about.notion.name]:
        with pytest.raises(InvalidInput, match=f"^{parameter} = "):
            drawn(about, X, **{parameter: value})


@IN_A_BALL
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("row_bound", 0),
        ("row_bound", -1.0),
        ("row_bound", math.nan),
        ("row_bound", math.inf),
        ("row_bound", True),
        ("row_bound", "1"),
        ("on_large_rows", "drop"),
        ("on_large_rows", None),
    ],
)
def test_a_bad_option_is_refused(about: AnyMechanism, option: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=f"^{option} = "):
        drawn(about, X, **{option: value})


@EVERY
def test_an_unknown_calibration_is_refused(about: AnyMechanism) -> None:
    if "calibration" not in about.choices:
        with pytest.raises(TypeError):
            drawn(about, X, calibration="paper")
        return
    first, second = about.choices["calibration"]
    assert first == (
        "reconstructed" if about.about.paper == "KLSU19" or about.name in ("em-cov", "recursive-moment") else "paper"
    )
    assert second == "tight"
    for wrong in ("Paper", "", None, "paper" if first == "reconstructed" else "reconstructed"):
        with pytest.raises(InvalidInput, match=r"^calibration = "):
            drawn(about, X, calibration=wrong)


# Units and clipping


@IN_A_BALL
@pytest.mark.parametrize("r", [0.125, 4.0, 2.0**20])
def test_a_change_of_unit_by_a_power_of_two_scales_every_bit(about: AnyMechanism, r: float) -> None:
    np.testing.assert_array_equal(drawn(about, X * r, row_bound=r), unit(about, r) * drawn(about, X))


@IN_A_BALL
@pytest.mark.parametrize("r", [0.3, 7.0, 1e100])
def test_the_output_is_in_the_unit_of_the_data_squared(about: AnyMechanism, r: float) -> None:
    in_old_units = drawn(about, X * r, row_bound=r) / unit(about, r)
    np.testing.assert_allclose(in_old_units, drawn(about, X), rtol=1e-9, atol=1e-12)


@IN_A_BALL
def test_long_rows_count_as_rows_on_the_boundary(about: AnyMechanism) -> None:
    long, clipped = np.array([[3.0, 4.0], [0.0, 0.5]]), np.array([[0.6, 0.8], [0.0, 0.5]])
    np.testing.assert_allclose(drawn(about, long), drawn(about, clipped), rtol=1e-12, atol=1e-14)


@IN_A_BALL
def test_long_rows_can_be_refused_instead(about: AnyMechanism) -> None:
    np.testing.assert_array_equal(drawn(about, X, on_large_rows="raise"), drawn(about, X))
    with pytest.raises(InvalidInput, match=r"x\[1\] has norm 1.5: must be at most row_bound = 1.0"):
        drawn(about, np.array([[0.5, 0.0], [0.0, 1.5]]), on_large_rows="raise")


# Output


def check_output(about: AnyMechanism, output: NDArray[np.float64], d: int, **options: str) -> None:
    assert output.dtype == np.float64
    assert np.isfinite(output).all()
    assert output.shape == about.output_of(options).shape(d)
    if about.output.kind == "direction":
        assert np.linalg.norm(output) == pytest.approx(1, abs=1e-12)
    if about.output_of(options).symmetric:
        np.testing.assert_array_equal(output, output.T)


EDGES = [
    pytest.param(np.array([[0.5]]), id="one number"),
    pytest.param(np.array([[0.5], [-1.0], [0.0]]), id="one column"),
    pytest.param(np.array([[0.5, 0.25, -0.5]]), id="one row"),
    pytest.param(np.zeros((4, 3)), id="only zero rows"),
    pytest.param(np.array([[0.0, 0.0], [1.0, 0.0]]), id="a zero row"),
    pytest.param(np.full((6, 3), 0.5), id="six times the same row"),
    pytest.param(np.eye(4), id="an orthonormal basis"),
    pytest.param(np.array([[1e200, 1e200], [3.0, -1e-200]]), id="rows of norm 1e200"),
    pytest.param(np.full((2, 2), 5e-324), id="the smallest numbers"),
    pytest.param(np.random.default_rng(0).standard_normal((2, 7)), id="more columns than rows"),
    pytest.param(np.random.default_rng(0).standard_normal((500, 3)), id="five hundred rows"),
]


@EVERY
@pytest.mark.parametrize("x", EDGES)
def test_the_output_has_the_stated_form(about: AnyMechanism, x: Matrix) -> None:
    """Test that the output has the declared shape and kind."""
    if x.shape[1] < about.smallest_dimension:
        return
    for options in every_choice(about):
        check_output(about, drawn(about, x, **options), x.shape[1], **options)


@EVERY
@settings(max_examples=25)
@given(
    x=st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.floats(-1e300, 1e300))
    )
)
def test_finite_data_always_give_a_finite_output(about: AnyMechanism, x: Matrix) -> None:
    assume(x.shape[1] >= about.smallest_dimension)
    check_output(about, drawn(about, x), x.shape[1])


@EVERY
@pytest.mark.parametrize("size", [1, 2, 7])
def test_data_in_chunks_are_the_same_data(about: AnyMechanism, size: int) -> None:
    """Test that data in chunks give the same release as the whole array."""
    x = np.random.default_rng(5).standard_normal((20, 3))
    for options in every_choice(about):
        expected = drawn(about, x, **options)
        np.testing.assert_allclose(drawn(about, in_chunks(x, size), **options), expected, rtol=1e-9, atol=1e-12)


@EVERY
def test_a_bad_chunk_is_refused_and_its_row_is_named(about: AnyMechanism) -> None:
    x = np.zeros((6, 3))
    x[4, 1] = math.nan
    with pytest.raises(InvalidInput, match=r"^x\[4, 1\] = nan"):
        drawn(about, in_chunks(x, 3))


@pytest.mark.parametrize("about", [a for a in MECHANISMS.values() if not a.ordered], ids=lambda a: a.name)
def test_the_order_of_the_rows_does_not_matter(about: AnyMechanism) -> None:
    np.testing.assert_allclose(drawn(about, X[[2, 0, 1]]), drawn(about, X), rtol=1e-9, atol=1e-12)


@EVERY
def test_a_seed_fixes_the_output_and_another_changes_it(about: AnyMechanism) -> None:
    np.testing.assert_array_equal(drawn(about, X, seed=1), drawn(about, X, seed=1))
    assert about.repeats or not np.array_equal(drawn(about, X, seed=1), drawn(about, X, seed=2))


@EVERY
def test_the_draw_is_the_release_of_its_noise(about: AnyMechanism) -> None:
    x = unit_rows(np.random.default_rng(1).standard_normal((20, 3)))
    for options in every_choice(about):
        noise = noise_of(about, options, 3, np.random.default_rng(6), 20)
        got = about.release(x, noise, **BUDGETS[about.notion.name], **options)
        np.testing.assert_array_equal(got, drawn(about, x, seed=6, **options))


@EVERY
def test_a_batch_of_noise_begins_with_an_axis_of_its_size(about: AnyMechanism) -> None:
    if "size" not in inspect.signature(about.draw_noise).parameters:
        return
    for options in every_choice(about):
        one = np.asarray(noise_of(about, options, 3, np.random.default_rng(6), 20))
        many = noise_of(about, {**options, "size": 5}, 3, np.random.default_rng(6), 20)
        assert np.asarray(many).shape == (5, *one.shape)


# Noise


def spoiled(noise: Any, place: str = "noise") -> Iterator[tuple[str, Any]]:
    """Yield copies of the noise in which one number, array or sampler is wrong, with a description of each."""
    if callable(noise):
        yield f"{place}() is NaN", lambda *given, **step: math.nan * noise(*given, **step)
        yield f"{place}() has another shape", lambda *given, **step: np.asarray(noise(*given, **step))[..., None][:-1]
    elif is_dataclass(noise):
        for part in fields(noise):
            for told, wrong in spoiled(getattr(noise, part.name), f"{place}.{part.name}"):
                yield told, replace(noise, **{part.name: wrong})  # type: ignore[type-var]
    elif noise is not None:
        yield f"{place} is NaN", noise + math.nan
        if np.ndim(noise):
            yield f"{place} is too short", noise[..., :-1]
            yield f"{place} would be broadcast", noise[..., :1, :1] if np.ndim(noise) > 1 else noise[:1]
            if np.ndim(noise) > 1 and np.array_equal(noise, np.swapaxes(noise, -1, -2)):
                yield f"{place} is not symmetric", noise + np.triu(np.ones(noise.shape), 1)


@EVERY
def test_bad_noise_is_refused(about: AnyMechanism) -> None:
    """Test that noise of a wrong shape, or noise that is not finite, is refused.

    With some options, a mechanism does not use a part of the noise. Therefore each kind of wrong noise must be refused
    for at least one choice of the options. On the data of this test, AdaptiveCov does not use the noise of eigenvalues,
    so that wrong noise of this kind is accepted.
    """
    accepted, refused = set(), set()
    for options in every_choice(about):
        noise = noise_of(about, options, 3, np.random.default_rng(6), 20)
        for told, wrong in spoiled(noise):
            try:
                about.release(np.zeros((20, 3)), wrong, **BUDGETS[about.notion.name], **options)
                accepted.add(told)
            except InvalidInput:
                refused.add(told)
    assert refused
    unused = {told for told in accepted - refused if "eigenvalues" in told and about.name.startswith("adaptive-cov")}
    assert accepted - refused == unused


# What is spent


@EVERY
@pytest.mark.parametrize("d", [1, 2, 3, 10, 100])
def test_no_mechanism_spends_more_than_it_claims(about: AnyMechanism, d: int) -> None:
    budget = BUDGETS[about.notion.name]
    for options in every_choice(about):
        spend = about.spend(**budget, dimension=d, **options)
        assert spend.claimed == GUARANTEES[about.notion.name](**budget)
        assert type(spend.proven) is GUARANTEES[about.notion.name]
        for parameter, claimed in budget.items():
            assert 0 < getattr(spend.proven, parameter) <= claimed * (1 + 1e-12)


@EVERY
@pytest.mark.parametrize("d", [1, 2, 5])
def test_a_tight_calibration_spends_at_least_as_much_as_the_default(about: AnyMechanism, d: int) -> None:
    if "calibration" not in about.choices:
        return
    for options in every_choice(about):
        default, tight = (
            about.spend(**BUDGETS[about.notion.name], dimension=d, **{**options, "calibration": c}).proven
            for c in about.choices["calibration"]
        )
        for parameter in BUDGETS[about.notion.name]:
            assert getattr(default, parameter) <= getattr(tight, parameter) * (1 + 1e-12)


@EVERY
def test_a_pure_spend_is_proportional_to_epsilon(about: AnyMechanism) -> None:
    if about.notion.name != "pure":
        return
    one, three = (about.spend(epsilon=e, dimension=4).proven.epsilon for e in (1.0, 3.0))
    assert three == pytest.approx(3 * one, rel=1e-14)


@pytest.mark.parametrize(
    ("about", "wrong"),
    [
        *(
            pytest.param(a, {"calibration": "Paper"}, id=f"{a.name} Paper")
            for a in MECHANISMS.values()
            if "calibration" in a.choices
        ),
        *(pytest.param(a, {"dimension": d}, id=f"{a.name} {d}") for a in MECHANISMS.values() for d in (0, -3)),
    ],
)
def test_the_spend_of_a_bad_option_is_refused(about: AnyMechanism, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        about.spend(**{**BUDGETS[about.notion.name], "dimension": 2, **wrong})


@IN_A_BALL
@pytest.mark.parametrize("r", [1e200, 1e-200])
def test_a_row_bound_whose_square_is_no_float_is_refused(about: AnyMechanism, r: float) -> None:
    with pytest.raises(InvalidInput, match="row_bound"):
        drawn(about, X * r, row_bound=r)
