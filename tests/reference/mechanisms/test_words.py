"""Test that functions reject an unknown word for an option such as the calibration."""

import inspect
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any, get_type_hints

import mpmath
import numpy as np
import pytest
import sympy as sp

from covassay.reference import box_sensitivity
from covassay.reference.domain import Box
from covassay.reference.errors import InvalidInput
from covassay.reference.laws import entry_variances, k_norm, wigner
from covassay.reference.mechanisms.parameters import Calibration, choices_of, strict
from covassay.reference.mechanisms.pure import bingham
from covassay.reference.mechanisms.registry import MECHANISMS


def functions_with_words() -> dict[str, tuple[Callable[..., Any], str]]:
    """Return the public functions of the mechanism files that have an argument with only a few allowed words. Each
    function is returned with the name of the argument that allows only these words.

    Formulas annotate this argument as str, because some callers read the word from a table.
    """
    found = {}
    for name, about in MECHANISMS.items():
        module = sys.modules[about.spend.__module__]
        for function in (f for f in vars(module).values() if inspect.isfunction(f) and f.__module__ == module.__name__):
            for argument, hint in get_type_hints(function, include_extras=True).items():
                if argument not in ("return", "name") and (hint is str or choices_of(hint)):
                    found[f"{name} {function.__name__} {argument}"] = function, argument
    return {title: each for title, each in found.items() if not each[0].__name__.startswith("_")}


FUNCTIONS = functions_with_words()


def test_the_functions_with_words_are_found() -> None:
    assert {"bingham exponent calibration", "adaptive-cov final_budget radius"} <= set(FUNCTIONS)
    assert {"adaptive-cov draw_noise radius", "ppc sufficient_rows calibration"} <= set(FUNCTIONS)
    assert len(FUNCTIONS) >= 200


@pytest.mark.parametrize(("function", "argument"), FUNCTIONS.values(), ids=list(FUNCTIONS))
def test_an_unknown_word_is_refused(function: Callable[..., Any], argument: str) -> None:
    for word in ("Tight", "", None):
        with pytest.raises(InvalidInput, match=f"^{argument} = {word!r}: must be one of "):
            function(**{argument: word})


ELSEWHERE: dict[str, Callable[[Any], object]] = {
    "divisor": lambda word: box_sensitivity.centred_factor(5, word),
    "divisor of the sensitivity": lambda word: box_sensitivity.centred_sensitivity(Box(((0, 1),)), 5, word),
    "adjacency": lambda word: box_sensitivity.centred_sensitivity(Box(((0, 1),)), 5, "n", word),
    "body of the variances": lambda word: entry_variances.of_k_norm(word, 3),
    "body of the norm": lambda word: k_norm.norm(np.eye(3), word),
    "body": lambda word: k_norm.sample(word, 3, np.random.default_rng(0)),
    "ensemble of the variances": lambda word: entry_variances.of_gaussian(word, 3),
    "ensemble": lambda word: wigner.sample(word, 3, np.random.default_rng(0)),
    "ensemble of the density": lambda word: wigner.log_density(np.eye(3), word),
}


@pytest.mark.parametrize("call", ELSEWHERE.values(), ids=list(ELSEWHERE))
def test_an_unknown_word_is_refused_by_a_law_and_by_a_sensitivity(call: Callable[[Any], object]) -> None:
    for word in ("Tight", "", None):
        with pytest.raises(InvalidInput, match=f"= {word!r}: must be one of "):
            call(word)


KINDS = [0.5, Fraction(1, 2), sp.Rational(1, 2), mpmath.mpf(1) / 2]


@pytest.mark.parametrize("number", KINDS, ids=lambda n: type(n).__name__)
def test_the_formula_runs_on_every_kind_of_number(number: Any) -> None:
    assert bingham.exponent(number, "tight") == number / 2
    assert type(bingham.exponent(number, calibration="paper")) is type(number / 4)


def test_the_decorator_is_what_refuses() -> None:
    """Test that the decorator refuses an unknown word, and that the function itself does not."""
    open_to_all = inspect.unwrap(bingham.exponent)
    assert open_to_all(1, "Tight") == open_to_all(1, "tight")
    with pytest.raises(InvalidInput, match="calibration = 'Tight': must be one of 'paper', 'tight'"):
        strict(calibration=Calibration)(open_to_all)(1, "Tight")
