"""Declare machine checks of claims, and represent their results.

A check is a function without required arguments. The keyword arguments of a check are slots: the default of each slot
is a formula, a constant or a sampler of the reference, and a mutant puts a wrong one in its place. A check that accepts
a mutant is no evidence, so every check must have mutants that it rejects.

    @check("symbolic", covers="all")
    @mutant("forgets the cross terms", formula=lambda d: d)
    def sensitivity(formula=reference.sensitivity) -> Evidence: ...

A check may also be a generator that yields results. The function `concluded` then computes the evidence from the
results, which may be of the following types.

    str                         : a description of a failing case
    bool                        : whether a case holds
    mapping from names to bools : whether each of the named cases holds
    number                      : a value divided by its bound; it must not exceed 1
    pair of strings             : the name and the digits of a figure to quote

Two properties of every check are reported: its kind, which is the method of the check, and its coverage. If a check
declares no coverage, its coverage is "random" if it draws random numbers, and otherwise "range". A program,
claims/coverage.py, compares the declared kind and coverage with the source of the check.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from inspect import signature
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from covassay.reference.domain import Number

PACKAGE = "covassay.verification.claims.checks"  # the package that contains all checks
Kind = Literal["exact", "enclosed", "symbolic", "floating"]
Covers = Literal["all", "case", "range", "random"]
Formula = Callable[..., Any]  # the value of a slot: a formula, a constant or a sampler
# the results that a check may yield; the module docstring explains the five types
Result = str | bool | Mapping[str, bool] | Number | tuple[str, str]
Found = Iterator[Result]
LESS, MORE = Fraction(97, 100), Fraction(103, 100)
ROUNDING = 1e-9  # the excess of a share over 1 that counts as rounding
SHOWN = 3  # the largest number of failures that a message names


@dataclass(frozen=True)
class Evidence:
    """The outcome of one run of a check.

    detail : the result and, if the check failed, the failing cases.
    figures : numbers to quote, as text in which every digit is certain.
    """

    holds: bool
    detail: str = ""
    figures: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", bool(self.holds))  # JSON cannot represent numpy's booleans


def concluded(found: Iterable[Result], attained: float | None = None) -> Evidence:
    """Return an `Evidence` that holds if no case fails and no value exceeds its bound. If `attained` is given, the
    largest ratio of a value to its bound must also be at least `attained`.
    """
    failed: list[str] = []
    shares: list[Number] = []
    figures: dict[str, str] = {}
    for number, one in enumerate(found, 1):
        if isinstance(one, str):
            failed.append(one)
        elif isinstance(one, tuple):
            figures[one[0]] = one[1]
        elif isinstance(one, Mapping):
            failed += [name for name, holds in one.items() if not holds]
        elif isinstance(one, bool | np.bool_):
            failed += [] if one else [f"case {number}"]
        else:
            shares.append(one)
            # a float may exceed 1 by a rounding error, an exact number may not; `not … <= …` also rejects NaN
            if not one <= (1 + ROUNDING if isinstance(one, float) else 1):
                failed.append(f"{float(one):.6g} of the bound")
    told = [*failed[:SHOWN], *([f"{len(failed)} cases fail"] if failed else [])]
    told += [f"largest share {float(max(shares)):.6g}"] if shares else []
    close = attained is None or (bool(shares) and max(shares) >= attained)
    return Evidence(not failed and close, "; ".join(told), figures)


@dataclass(frozen=True)
class ClaimCheck:
    """A check of a claim, with its kind, its mutants and its coverage.

    A mutant assigns wrong values to some slots; its name says what is wrong with them.

    covers : "all" if the check covers all cases, "case" if one case suffices (a counterexample), "range" for a range of
        cases, or "random" for random samples. If it is None, it is derived from the source of the check.
    exhausts : a check that covers all cases may loop over a finite list; this is the reason why no case is missing.
    scope : a description of the cases, such as "all d", "d ≤ 5" or "10⁵ draws, false-alarm probability 1e-9".
    attained : the argument `attained` of `concluded`; it is used only if the check yields results.
    """

    name: str  # `paper.module:function`, where the module is one of claims.checks
    kind: Kind
    function: Callable[..., Evidence | Found]
    mutants: Mapping[str, Mapping[str, Any]] = field(hash=False)
    covers: Covers | None = None
    exhausts: str = ""
    scope: str = ""
    attained: float | None = None

    @property
    def summary(self) -> str:
        """Return the first paragraph of the check's docstring on one line."""
        return " ".join((self.function.__doc__ or "").strip().partition("\n\n")[0].split())

    def __call__(self, **slots: Any) -> Evidence:
        """Run the check, with the formula of the reference in every slot for which no value is given."""
        found = self.function(**slots)
        return found if isinstance(found, Evidence) else concluded(found, self.attained)


Run = TypeVar("Run", bound=Callable[..., Evidence | Found])


def mutant(name: str, /, **slots: Any) -> Callable[[Run], Run]:
    """Make a decorator that adds a mutant to a check: the name of a mistake, and wrong values for keyword arguments of
    the check. The decorator `check` stands above it.
    """

    def decorate(function: Run) -> Run:
        named = vars(function).setdefault("mutants", {})
        if name in named:
            raise ValueError(f"{function.__name__}: two mutants are called {name!r}")
        named[name] = slots
        return function

    return decorate


def scaled(value: Any, factor: Fraction) -> Any:
    """Return the value of a slot, multiplied by a factor.

    If the value is a function, return a function that multiplies its result by the factor. If the value is a tuple,
    only the first entry of the tuple is multiplied. A figure given as text keeps its number of decimal places.
    """
    if callable(value):
        return lambda *given, **named: _times(value(*given, **named), factor)
    if isinstance(value, tuple):
        return scaled(value[0], factor), *value[1:]
    if isinstance(value, str):
        return f"{float(value) * float(factor):.{len(value.partition('.')[2])}f}"
    return _times(value, factor)


def _times(value: Any, factor: Fraction) -> Any:
    if isinstance(value, list | tuple):
        return [_times(one, factor) for one in value]
    return value * (float(factor) if isinstance(value, float | np.ndarray | np.generic) else factor)


def check(
    kind: Kind,
    covers: Covers | None = None,
    exhausts: str = "",
    mutants: Mapping[str, Mapping[str, Any]] | None = None,
    scope: str = "",
    attained: float | None = None,
    less: str = "",
    more: str = "",
) -> Callable[[Callable[..., Evidence | Found]], ClaimCheck]:
    """Make a decorator that turns a function into a check.

    mutants : mutants that a program generates; the table maps the name of each to its wrong keyword arguments. Other
        mutants are declared by the decorator `mutant`.
    less, more : names of keyword arguments of the check, separated by spaces. For each name in `less` there is a mutant
        in which the argument is 3 % smaller, and for each name in `more` a mutant in which it is 3 % larger.
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind {kind!r} is none of {', '.join(get_args(Kind))}")

    def decorate(function: Callable[..., Evidence | Found]) -> ClaimCheck:
        written = dict(reversed(vars(function).get("mutants", {}).items()))  # the last decorator is applied first
        right = {p.name: p.default for p in signature(function).parameters.values()}
        off = {
            f"{slot}: 3 % {word}": {slot: scaled(right[slot], factor)}
            for slots, word, factor in ((less, "less", LESS), (more, "more", MORE))
            for slot in slots.split()
        }
        slots = {**written, **off, **(mutants or {})}
        if not slots:
            raise ValueError("a check must have at least one mutant that it rejects")
        name = f"{function.__module__.removeprefix(f'{PACKAGE}.')}:{function.__name__}"
        return ClaimCheck(name, kind, function, slots, covers, exhausts, scope, attained)

    return decorate
