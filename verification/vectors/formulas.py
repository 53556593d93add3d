"""Evaluate the formulas in the mechanisms' modules with numbers of mpmath."""

import sys
from collections.abc import Mapping
from inspect import getmodule, isfunction, signature, unwrap
from types import ModuleType
from typing import Any

import mpmath

from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.verification.vectors.numbers import DIGITS, digits

FUNCTIONS = {"sqrt": mpmath.sqrt, "cbrt": mpmath.cbrt, "log": mpmath.log, "exp": mpmath.exp}
ENDINGS = (
    "scale", "exponent", "sensitivity", "margin", "variance", "squared", "classical_multiplier", "_epsilon", "_budget",
)  # fmt: skip
WHOLE = ("d", "input_bits", "block")


def module_of(declared: Mechanism[Any, ..., Any]) -> ModuleType:
    """Return the module of a mechanism."""
    return sys.modules[unwrap(declared.release).__module__]


def formulas(declared: Mechanism[Any, ..., Any]) -> list[str]:
    """Return the names of the functions in a mechanism's module that compute sensitivities, noise scales, exponents or
    parts of the budget.
    """
    module = module_of(declared)
    return [
        name
        for name, value in vars(module).items()
        if isfunction(value) and getmodule(value) is module and name.endswith(ENDINGS) and not name.startswith("_")
    ]


def evaluated(declared: Mechanism[Any, ..., Any], formula: str, parameters: Mapping[str, Any]) -> Any:
    """Return the value of a mechanism's formula as a number of mpmath.

    Parameters that the formula does not take are ignored.
    """
    function = getattr(module_of(declared), formula)
    taken = signature(function).parameters
    known = {k: v if isinstance(v, str) or k in WHOLE else mpmath.mpf(v) for k, v in parameters.items()} | FUNCTIONS
    return function(**{name: known[name] for name in taken if name in known})


def scale(declared: Mechanism[Any, ..., Any], formula: str, parameters: Mapping[str, Any]) -> str:
    """Return the value of a mechanism's formula to `DIGITS` digits."""
    with mpmath.workdps(2 * DIGITS):
        value = evaluated(declared, formula, parameters)
        return digits(mpmath.mpf(value.numerator) / value.denominator if hasattr(value, "denominator") else value)
