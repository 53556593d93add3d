"""Define the types of the parameters of mechanisms. A type says what a value means, and has a rule that it must obey.

The signature of `release` declares the parameters of a mechanism. The annotation `epsilon: Epsilon` says that ε is a
number above 0, and `Literal["full", "triangle"]` says that the value must be one of two words. The decorator `checked`
checks arguments against the declared rules before the function runs.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

from covassay.reference.digits import read_number
from covassay.reference.domain import Adjacency, Box, requirements
from covassay.reference.domain.exact_data import LARGEST_INPUT_BITS, require_input_bits
from covassay.reference.domain.requirements import LARGEST_ROW_BOUND, SMALLEST_ROW_BOUND, require_choice, shown
from covassay.reference.errors import InvalidInput

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Rule:
    """The rule that a number must obey, and the meaning of the number.

    require : takes the name and the value, and raises `InvalidInput` if the value breaks the rule.
    ends : the smallest and the largest number that the rule allows; None for an end that does not exist.
    """

    meaning: str
    require: Callable[[str, Any], object]
    ends: tuple[float | None, float | None] = (None, None)


# In tests at the ends of these ranges, all formulas give finite numbers, and every noise scale is above 0.
SMALLEST, LARGEST = 1e-30, 1e30
SMALLEST_PROBABILITY = 1e-300
LARGEST_DIMENSION = 10**6


def between(symbol: str, low: float, high: float, meaning: str) -> Rule:
    """Return the rule that a number above 0 lies in [low, high]. The argument `symbol` may be an empty string."""
    return Rule(
        f"{symbol} in [{shown(low)}, {shown(high)}], {meaning}".lstrip(),
        lambda name, value: requirements.require_between(name, value, low, high),
        (low, high),
    )


def positive(symbol: str, meaning: str, low: float = SMALLEST) -> Rule:
    """Return the rule that a number is above 0, and neither so small nor so large that a formula over- or
    underflows.
    """
    return between(symbol, low, LARGEST, meaning)


def below_one(symbol: str, meaning: str, low: float = SMALLEST_PROBABILITY) -> Rule:
    """Return the rule that a number lies in [low, 1)."""
    return Rule(
        f"{symbol} in [{shown(low)}, 1), {meaning}",
        lambda name, value: requirements.require_below_one(name, value, low),
        (low, math.nextafter(1.0, 0.0)),
    )


def count(symbol: str, low: int, high: int, meaning: str) -> Rule:
    """Return the rule that a number is whole and lies in [low, high]."""
    return Rule(
        f"{symbol} from {low} to {high}, {meaning}",
        lambda name, value: requirements.require_count(name, value, low, high),
        (low, high),
    )


@dataclass(frozen=True)
class Meaning:
    """The meaning of the words of a `Literal`; a value must be one of these words."""

    meaning: str


@dataclass(frozen=True)
class Parameter:
    """One keyword argument of a function, as its annotation declares it.

    choices : the words that the argument may be; empty if the argument is a number.
    default : the default value, or `inspect.Parameter.empty` for a required argument.
    ends : the smallest and the largest number that the rule allows, as in `Rule`.
    """

    name: str
    meaning: str
    require: Callable[[str, Any], object]
    choices: tuple[str, ...] = ()
    whole: bool = False
    default: Any = inspect.Parameter.empty
    ends: tuple[float | None, float | None] = (None, None)

    def read(self, value: str | float) -> str | float:
        """Convert an argument from the command line to its value, which is one of the words in `choices` or a number.

        Raises
        ------
        InvalidInput : the text is neither a word of `choices` nor a number, or it breaks the rule.
        """
        if self.choices:
            return require_choice(self.name, str(value), self.choices)
        try:
            number = read_number(value) if isinstance(value, str) else float(value)
        except ValueError:
            raise InvalidInput(f"{self.name} = {value!r}: must be a number") from None
        if self.whole and not number.is_integer():
            raise InvalidInput(f"{self.name} = {value!r}: must be a whole number")
        read = int(number) if self.whole else number
        self.require(self.name, read)
        return read


def parameters_of(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return those keyword-only arguments of a function whose annotations say which values are valid."""
    hints = get_type_hints(function, include_extras=True)
    found = {}
    for name, argument in inspect.signature(function).parameters.items():
        if argument.kind is inspect.Parameter.KEYWORD_ONLY:
            declared = _parameter(name, hints.get(name), argument.default)
            if declared is not None:
                found[name] = declared
    return found


def choices_of(hint: Any) -> tuple[str, ...]:
    """Return the words of a `Literal`, which may be wrapped in `Annotated`. Return () for any other type."""
    base = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return get_args(base) if get_origin(base) is Literal else ()


def _parameter(name: str, hint: Any, default: Any) -> Parameter | None:
    base, rule = hint, None
    if get_origin(hint) is Annotated:
        base, *extras = get_args(hint)
        rule = next((extra for extra in extras if isinstance(extra, Rule | Meaning)), None)
    if choices := choices_of(base):
        meaning = rule.meaning if rule else " or ".join(f'"{choice}"' for choice in choices)
        return Parameter(name, meaning, lambda n, v: require_choice(n, v, choices), choices, default=default)
    if not isinstance(rule, Rule):
        return None
    return Parameter(name, rule.meaning, rule.require, whole=base is int, default=default, ends=rule.ends)


def require_all(declared: Mapping[str, Parameter], arguments: Mapping[str, Any]) -> None:
    """Check arguments against their rules, and raise `InvalidInput` for the first that breaks its rule."""
    for name, parameter in declared.items():
        if name in arguments:
            parameter.require(name, arguments[name])


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Make the decorated function check its keyword arguments against the rules in the annotations before it runs."""
    declared = parameters_of(function)

    @wraps(function)
    def checking(*args: P.args, **kwargs: P.kwargs) -> R:
        require_all(declared, kwargs)
        return function(*args, **kwargs)

    return checking


def strict(**words: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make the decorated formula check those arguments that must be one of several words. The formula itself then needs
    no check: it can be a single expression, and its other arguments can be numbers of any type.

    words : names each such argument, and gives the type that lists its words, such as `calibration=Calibration`.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        names = list(inspect.signature(function).parameters)
        known = [(name, names.index(name), choices_of(hint)) for name, hint in words.items()]

        @wraps(function)
        def refusing(*args: P.args, **kwargs: P.kwargs) -> R:
            for name, place, choices in known:
                given = args[place : place + 1] or tuple(kwargs[name] for _ in range(name in kwargs))
                for word in given:
                    require_choice(name, word, choices)  # type: ignore[arg-type]
            return function(*args, **kwargs)

        return refusing

    return decorate


# the parameters that many mechanisms share

THE_BUDGET = "the budget"
FAILURE = "public: the probability that the error bound may fail"

Epsilon = Annotated[float, positive("ε", THE_BUDGET)]
Rho = Annotated[float, positive("ρ", THE_BUDGET)]
Delta = Annotated[float, below_one("δ", "the additive term of (ε, δ)-DP")]
Beta = Annotated[float, below_one("β", FAILURE)]
# Types with the suffix ToShare are for mechanisms that divide the budget or β among their steps.
# Their ranges start higher. A share is at least 1/1000 of the whole, so it is a valid `Epsilon`, `Rho` or `Beta`.
# `pme` and `pgce` give half of ρ and half of β to `ppc`, which takes a `RhoToShare` and a `BetaToShare`.
# The arguments of `pme` and `pgce` therefore have the types `RhoToShareTwice` and `BetaToShareTwice`.
# `gaussian_learner` gives half of ρ and half of β to `pme`, and the other halves to `pgce`.
# The arguments of `gaussian_learner` therefore have the types `RhoToShareThrice` and `BetaToShareThrice`.
EpsilonToShare = Annotated[float, positive("ε", THE_BUDGET, 1e-27)]
RhoToShare = Annotated[float, positive("ρ", THE_BUDGET, 1e-27)]
BetaToShare = Annotated[float, below_one("β", FAILURE, 1e-297)]
RhoToShareTwice = Annotated[float, positive("ρ", THE_BUDGET, 1e-26)]
BetaToShareTwice = Annotated[float, below_one("β", FAILURE, 1e-296)]
RhoToShareThrice = Annotated[float, positive("ρ", THE_BUDGET, 1e-25)]
BetaToShareThrice = Annotated[float, below_one("β", FAILURE, 1e-295)]
RowBound = Annotated[
    float,
    Rule(
        f"r in [{shown(SMALLEST_ROW_BOUND)}, {shown(LARGEST_ROW_BOUND)}], public, in the unit of x: "
        "longer rows are clipped or rejected",
        lambda _, r: requirements.require_row_bound(r),
        (SMALLEST_ROW_BOUND, LARGEST_ROW_BOUND),
    ),
]
LargeRows = Annotated[
    Literal["clip", "raise"],
    Meaning('"clip" scales a row longer than r back to length r; "raise" rejects it, which is not private'),
]
Bounds = Annotated[
    Any,
    Rule(
        "a pair (low, high) for every column, public, in the unit of x; by default (−1, 1) for all",
        lambda _, bounds: bounds if bounds is None else Box.of(bounds),
    ),
]
Outside = Annotated[
    Literal["clip", "raise"],
    Meaning('"clip" brings a value outside its bounds to the nearer one; "raise" rejects it, which is not private'),
]
Neighbours = Annotated[
    Adjacency,
    Meaning(
        'which data sets are neighbours: with "replace-one" those that differ in one row, and n is public; '
        'with "add-remove" those that differ by one added or removed row, and the number of rows gets noise'
    ),
]
CALIBRATIONS = ("paper", "tight")
Calibration = Annotated[
    Literal["paper", "tight"],
    Meaning('"paper" has the constants of the source; "tight" adds less noise, and our proof gives the same claim'),
]
ReconstructedCalibration = Annotated[
    Literal["reconstructed", "tight"],
    Meaning('"reconstructed" has the constants of our reconstruction; "tight" has sharper ones, also ours'),
]
InputBits = Annotated[
    int,
    Rule(
        "b, 1 to 24, public: rows are rounded toward zero to multiples of r 2^−b",
        require_input_bits,
        (1, LARGEST_INPUT_BITS),
    ),
]
Dimension = Annotated[int, count("d", 1, LARGEST_DIMENSION, "the number of columns")]
