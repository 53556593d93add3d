"""Test every mechanism at the ends of the ranges of its parameters, where formulas may overflow, underflow or divide by
0.

The tests cover every mechanism in the registry, also new ones.
"""

import inspect
import math
import re
import sys
from collections.abc import Iterator
from itertools import product
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.mechanism import BOUNDS, Mechanism
from covassay.reference.mechanisms.parameters import LARGEST_DIMENSION, Parameter
from covassay.reference.mechanisms.registry import MECHANISMS

AnyMechanism = Mechanism[Any, ..., Any]
Arguments = dict[str, Any]

EVERY = pytest.mark.parametrize("about", MECHANISMS.values(), ids=list(MECHANISMS))
# Formulas with these names return a factor of the noise or of a score, which must be neither 0 nor infinite.
SCALES = re.compile(r".*(scale|scales|scale_of_sum|variance|multiplier|exponent|exponents)")
# Some mechanisms refuse a value at an end of a parameter's range if all other numbers have their default values. The
# keys name the mechanism, the parameter and the value. For at least one choice of the options, the mechanism must
# refuse this value with a message that contains the word that `REFUSED` has for the key.
REFUSED = {
    ("gauss-cov-approximate", "epsilon", 1e12): "calibration",
    ("box-gauss-approximate", "epsilon", 1e12): "calibration",
    ("gaussian-approximate", "epsilon", 1e12): "calibration",
    ("kv-mean", "sigma", 1e-30): "mean_bound",
    ("kv-mean", "mean_bound", 1e30): "sigma",
    ("naive-pme", "mean_bound", 1e30): "sigma",
    ("pme", "mean_bound", 1e30): "",
    ("gaussian-learner", "mean_bound", 1e30): "",
}


@pytest.fixture(scope="module", autouse=True)
def scales() -> Iterator[list[tuple[str, float]]]:
    """Return a list to which every call of a formula for a noise scale appends the formula's name and its result."""
    seen: list[tuple[str, float]] = []

    def recorded(formula: FunctionType) -> Any:
        def recording(*args: Any, **kwargs: Any) -> Any:
            result = formula(*args, **kwargs)
            for value in set(result) if isinstance(result, list | tuple) else [result]:
                seen.append((f"{formula.__module__}.{formula.__name__}", float(value)))
            return result

        return recording

    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("covassay.reference.mechanisms"):
                for key, value in list(vars(module).items()):
                    if isinstance(value, FunctionType) and SCALES.fullmatch(key):
                        patch.setattr(module, key, recorded(value))
        yield seen


def numbers(about: AnyMechanism) -> dict[str, Parameter]:
    return {name: p for name, p in about.declared.items() if not p.choices and name != BOUNDS}


def defaults(about: AnyMechanism) -> Arguments:
    shorter = {"walk": 1}  # the number of steps of a Markov chain
    return {
        **about.notion.default.keywords(),
        **{name: shorter[name] for name in about.declared if name in shorter},
        **({"row_bound": 1.0} if "row_bound" in about.declared else {}),
    }


def every_choice(about: AnyMechanism) -> list[Arguments]:
    return [dict(zip(about.choices, chosen, strict=True)) for chosen in product(*about.choices.values())]


def data(about: AnyMechanism, n: int, d: int, arguments: Arguments) -> NDArray[np.float64]:
    """Return rows of lengths around the row bound. If there are two rows or more, the last row is zero."""
    x = np.random.default_rng(n + 10 * d).standard_normal((n, d))
    x[1:][-1:] = 0.0
    return x * float(arguments.get("row_bound", 1.0))


def check_spend(about: AnyMechanism, arguments: Arguments, d: int) -> None:
    taken = inspect.signature(about.spend).parameters
    spend = about.spend(dimension=d, **{name: value for name, value in arguments.items() if name in taken})
    for guarantee in (spend.claimed, spend.proven):
        for budget in guarantee.keywords().values():
            assert math.isfinite(budget)
            assert budget > 0
    for key, claimed in spend.claimed.keywords().items():
        assert spend.proven.keywords()[key] <= claimed * (1 + 1e-9)


def check_release(about: AnyMechanism, arguments: Arguments, n: int, d: int, scales: list[tuple[str, float]]) -> None:
    scales.clear()
    released = about.sample(data(about, n, d, arguments), np.random.default_rng(0), **arguments)
    assert np.isfinite(released).all()
    constant = about.name == "centred-covariance" and n == 1  # the covariance of one row is 0
    unfit = [(name, value) for name, value in scales if not (0 < value < math.inf or constant)]
    assert not unfit, unfit[0]


def check_named(about: AnyMechanism, error: InvalidInput) -> None:
    assert re.match(rf"({'|'.join(about.declared)}) = ", str(error)), error


ENDS = [
    pytest.param(about, name, end, id=f"{about.name} {name} {end:g}")
    for about in MECHANISMS.values()
    for name, parameter in numbers(about).items()
    for end in parameter.ends
    if end is not None
]


@pytest.mark.parametrize(("about", "name", "end"), ENDS)
def test_a_release_at_either_end_of_a_range_is_finite_and_noisy(
    about: AnyMechanism, name: str, end: float, scales: list[tuple[str, float]]
) -> None:
    refused = 0
    for options in every_choice(about):
        arguments = {**defaults(about), **options, name: end}
        try:
            for d in {about.smallest_dimension, 2}:
                check_spend(about, arguments, d)
                check_release(about, arguments, 3, d, scales)
        except InvalidInput as error:
            check_named(about, error)
            refused += REFUSED.get((about.name, name, end), "not expected") in str(error)
            if (about.name, name, end) not in REFUSED:
                raise
    assert bool(refused) == ((about.name, name, end) in REFUSED)


@EVERY
def test_corners_of_the_ranges_give_a_finite_and_noisy_release(
    about: AnyMechanism, scales: list[tuple[str, float]]
) -> None:
    """Test ten random combinations of extreme and default values for each mechanism: the release must be finite, and
    the noise scales must be neither 0 nor infinite.
    """
    rng = np.random.default_rng(sum(map(ord, about.name)))
    for _ in range(10):
        options = every_choice(about)
        arguments = {**defaults(about), **options[rng.integers(len(options))]}
        for name, parameter in numbers(about).items():
            ends = [end for end in parameter.ends if end is not None]
            if rng.random() < 0.8:
                arguments[name] = ends[rng.integers(len(ends))]
        n, d = int(rng.choice([1, 2, 6])), int(rng.choice([d for d in (1, 2, 5) if d >= about.smallest_dimension]))
        try:
            check_spend(about, arguments, d)
            check_release(about, arguments, n, d, scales)
        except InvalidInput as error:
            check_named(about, error)
        except Exception as error:
            error.add_note(f"{n} rows, {d} columns, {arguments}")
            raise


@EVERY
def test_the_spend_is_positive_in_the_largest_dimension(about: AnyMechanism) -> None:
    for options in every_choice(about)[:: max(1, len(every_choice(about)) - 1)]:
        for end in (0, 1):
            budget = {name: about.declared[name].ends[end] for name in about.notion.default.keywords()}
            try:
                check_spend(about, {**options, **budget}, LARGEST_DIMENSION)
            except InvalidInput as error:
                check_named(about, error)


@EVERY
def test_what_is_outside_of_a_range_is_refused(about: AnyMechanism) -> None:
    for name, parameter in numbers(about).items():
        low, high = parameter.ends
        outside: list[float] = [-1, math.nan, math.inf, -math.inf]
        if low is not None:
            outside += [low - 1] if parameter.whole else [0.0, 5e-324, math.nextafter(low, 0.0)]
        if high is not None:
            outside += [int(high) + 1] if parameter.whole else [math.nextafter(high, math.inf), sys.float_info.max]
        for value in outside:
            arguments = {**defaults(about), name: value}
            with pytest.raises(InvalidInput, match=f"^{name} = "):
                about.sample(data(about, 3, 2, {}), np.random.default_rng(0), **arguments)
            if name not in about.of_the_draw:
                given = {key: argument for key, argument in arguments.items() if key not in about.of_the_draw}
                with pytest.raises(InvalidInput, match=f"^{name} = "):
                    about.release(data(about, 3, 2, {}), None, **given)  # refused before the noise is read
            if name in about.notion.default.keywords():
                with pytest.raises(InvalidInput, match=f"^{name} = "):
                    about.spend(dimension=2, **{key: arguments[key] for key in about.notion.default.keywords()})
    for dimension in (0, LARGEST_DIMENSION + 1, 10**9):
        with pytest.raises(InvalidInput, match=r"^dimension = "):
            about.spend(dimension=dimension, **about.notion.default.keywords())


@EVERY
def test_the_range_of_a_number_is_in_the_help(about: AnyMechanism) -> None:
    for name, parameter in numbers(about).items():
        assert all(end is not None for end in parameter.ends) or name in ("rank", "seed", "walk")
        assert f"{name} : {parameter.meaning}." in " ".join((about.sample.__doc__ or "").split())
