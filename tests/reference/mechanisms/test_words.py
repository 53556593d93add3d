"""A formula with a choice, such as the calibration, refuses a word that it does not know."""

import ast
import inspect
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest
import sympy as sp

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.parameters import Calibration, strict
from covassay.reference.mechanisms.pure import bingham
from covassay.reference.mechanisms.registry import MECHANISMS


def formulas_with_words() -> dict[str, tuple[Callable[..., Any], str]]:
    """Every formula with an argument of type str, and that argument."""
    found = {}
    for name, about in MECHANISMS.items():
        module = sys.modules[about.spend.__module__]
        source = inspect.getsource(module)
        section = source[source.index("# FORMULAS") : source.index("@checked\ndef release(")]
        for node in (n for n in ast.parse(section).body if isinstance(n, ast.FunctionDef) and n.name[0] != "_"):
            for argument in (*node.args.args, *node.args.kwonlyargs):
                if argument.arg != "name" and argument.annotation and ast.unparse(argument.annotation) == "str":
                    found[f"{name} {node.name} {argument.arg}"] = getattr(module, node.name), argument.arg
    return found


FORMULAS = formulas_with_words()


def test_the_formulas_with_words_are_found() -> None:
    assert {"bingham exponent calibration", "adaptive-cov final_budget radius"} <= set(FORMULAS)
    assert len(FORMULAS) >= 50


@pytest.mark.parametrize(("formula", "argument"), FORMULAS.values(), ids=list(FORMULAS))
@pytest.mark.parametrize("word", ["Tight", "", None], ids=repr)
def test_an_unknown_word_is_refused(formula: Callable[..., Any], argument: str, word: Any) -> None:
    with pytest.raises(InvalidInput, match=f"^{argument} = "):
        formula(**{argument: word})


KINDS = [0.5, Fraction(1, 2), sp.Rational(1, 2), mpmath.mpf(1) / 2]


@pytest.mark.parametrize("number", KINDS, ids=lambda n: type(n).__name__)
def test_the_formula_runs_on_every_kind_of_number(number: Any) -> None:
    assert bingham.exponent(number, "tight") == number / 2
    assert type(bingham.exponent(number, calibration="paper")) is type(number / 4)


def test_the_decorator_is_what_refuses() -> None:
    open_to_all = inspect.unwrap(bingham.exponent)
    assert open_to_all(1, "Tight") == open_to_all(1, "tight")
    with pytest.raises(InvalidInput, match="calibration = 'Tight': must be one of 'paper', 'tight'"):
        strict(calibration=Calibration)(open_to_all)(1, "Tight")
