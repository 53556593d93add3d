"""What the reference answers to the question of a test."""

import sys
from collections.abc import Mapping
from inspect import getmodule, isfunction, signature, unwrap
from types import ModuleType
from typing import Any

import mpmath
import numpy as np

from covassay.reference import projections
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.registry import mechanism

DIGITS = 30
PROJECTIONS = ("simplex", "nuclear_ball", "psd_cone", "psd_trace_ball", "spectral_interval")
FUNCTIONS = {"sqrt": mpmath.sqrt, "log": mpmath.log, "exp": mpmath.exp}


def answer(question: Mapping[str, Any]) -> Any:
    """The output of a release or of a projection, or the decimal digits of a scale.

    Raises
    ------
    InvalidInput : the question must be refused.
    """
    if question["kind"] == "scale":
        return scale(question["mechanism"], question["formula"], question["parameters"])
    if question["kind"] == "projection":
        project = getattr(projections, question["projection"])
        return written(project(np.array(read(question["point"]), dtype=float), **question["parameters"]))
    declared = mechanism(question["mechanism"])
    example = noise_of(declared, question["parameters"], 2, np.random.default_rng(0), 6)
    x = np.array(read(question["x"]), dtype=float)
    return written(declared.release(x, noise_from(question["noise"], example), **read(question["parameters"])))


def module_of(declared: Mechanism[Any, ..., Any]) -> ModuleType:
    """The file of a mechanism."""
    return sys.modules[unwrap(declared.release).__module__]


def scale(name: str, formula: str, parameters: Mapping[str, Any]) -> str:
    """A formula of a mechanism, evaluated to `DIGITS` digits."""
    function = getattr(module_of(mechanism(name)), formula)
    taken = signature(function).parameters
    with mpmath.workdps(2 * DIGITS):
        given = {k: v if isinstance(v, str) or k == "d" else mpmath.mpf(v) for k, v in parameters.items()}
        given |= {k: FUNCTIONS[k] for k in taken if k in FUNCTIONS}
        return str(mpmath.nstr(mpmath.mpf(function(**given)), DIGITS))


def formulas(declared: Mechanism[Any, ..., Any]) -> list[str]:
    """The names of the formulas for scales and exponents in the file of a mechanism."""
    module = module_of(declared)
    return [
        name
        for name, value in vars(module).items()
        if isfunction(value) and getmodule(value) is module and name.endswith(("scale", "exponent"))
    ]


def noise_of(
    declared: Mechanism[Any, ..., Any],
    parameters: Mapping[str, Any],
    dimension: int,
    rng: np.random.Generator,
    rows: int,
) -> Any:
    """A draw of the noise that `release` takes, on that many rows and columns."""
    defaults = {name: p.default for name, p in declared.declared.items()}
    known = {**declared.notion.default.keywords(), **defaults, **parameters, "rows": rows}
    for key, value in declared.notion.default.keywords().items():
        known[key] = parameters.get(key, value)
    taken = signature(declared.draw_noise).parameters
    return declared.draw_noise(dimension, rng, **{name: known[name] for name in taken if name in known})


def read(value: Any) -> Any:
    """A value of a test as Python has it: the words "nan" and "inf" are numbers, in lists too."""
    if isinstance(value, list):
        return [read(item) for item in value]
    if isinstance(value, dict):
        return {key: read(item) for key, item in value.items()}
    return float(value) if value in ("nan", "inf") else value


def written(value: Any) -> Any:
    """An output or a noise in the terms of JSON; a tuple with names is an object. TypeError if it has no such form."""
    if value is None or isinstance(value, int | float | str):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    fields = getattr(value, "_fields", None) or getattr(value, "__dataclass_fields__", None)
    if fields is None:
        raise TypeError(f"{type(value).__name__} has no form in JSON")
    return {name: written(getattr(value, name)) for name in fields}


def noise_from(value: Any, example: Any) -> Any:
    """The noise of a test in the types of an example of such a noise."""
    if isinstance(value, dict):
        if not hasattr(example, next(iter(value), "")):
            raise InvalidInput("noise: has other parts than this mechanism takes")
        return type(example)(**{name: noise_from(item, getattr(example, name)) for name, item in value.items()})
    return np.array(read(value), dtype=float) if isinstance(value, list) else value
