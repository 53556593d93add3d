"""Give the reference's answer to the question of a test."""

from collections.abc import Mapping
from inspect import signature
from typing import Any

import numpy as np

from covassay.reference import projections
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.registry import mechanism
from covassay.verification.vectors.budgets import budget, composition
from covassay.verification.vectors.formulas import scale
from covassay.verification.vectors.laws import acceptance, probability
from covassay.verification.vectors.numbers import read, written
from covassay.verification.vectors.steps import recorded, transcript

ROWS = 6  # an example of the noise is drawn for this many rows, to know the types of its parts


def answer(question: Mapping[str, Any]) -> Any:
    """Return the reference's output for a question, in the form that the file uses.

    Raises
    ------
    InvalidInput : the question must be rejected.
    """
    return written(value(question))


def value(question: Mapping[str, Any]) -> Any:
    """Return the output for a question as Python numbers, or as text with decimal digits."""
    kind, parameters, given = question["kind"], question.get("parameters", {}), question.get("given", {})
    if kind == "composition":
        return composition(question["budgets"], question["to"], parameters)
    if kind == "projection":
        project = getattr(projections, question["projection"])
        return project(np.array(read(question["point"]), dtype=float), **read(parameters))
    name = question["mechanism"]
    if kind == "scale":
        return scale(mechanism(name), question["formula"], parameters)
    if kind == "transcript":
        return transcript(name, question["step"], parameters, given)
    if kind == "acceptance":
        return acceptance(name, parameters, given)
    if kind == "probability":
        return probability(name, question["law"], parameters, given, question["at"])
    if kind == "budget":
        return budget(name, parameters)
    declared = mechanism(name)
    words = {key: word for key, word in parameters.items() if word in declared.choices.get(key, ())}
    example = noise_of(declared, words, 2, np.random.default_rng(0), ROWS)  # `release` checks all other parameters
    x = np.array(read(question["x"]), dtype=float)
    return declared.release(x, noise_from(question["noise"], example), **read(parameters))


def noise_of(
    declared: Mechanism[Any, ..., Any],
    parameters: Mapping[str, Any],
    dimension: int,
    rng: np.random.Generator,
    rows: int,
) -> Any:
    """Return a draw of the noise that `release` takes, for n rows and d columns."""
    defaults = {name: p.default for name, p in declared.declared.items()}
    known = {**declared.notion.default.keywords(), **defaults, **parameters, "rows": rows}
    for key, assumed in declared.notion.default.keywords().items():
        known[key] = parameters.get(key, assumed)
    taken = signature(declared.draw_noise).parameters
    return declared.draw_noise(dimension, rng, **{name: known[name] for name in taken if name in known})


def noise_from(value: Any, example: Any) -> Any:
    """Return the noise of a test in the form that `release` takes; `example` is a draw of such a noise.

    The noise of some mechanisms is, or contains, a function that draws from a law. In its place, the result has a
    function that returns the values listed in the test.
    """
    if callable(example):
        drawn = np.array(read(value), dtype=None if isinstance(_first(value), float) else object)
        return lambda *_: drawn
    if isinstance(value, dict):
        parts = {name: item for name, item in value.items() if name != "directions"}
        if not all(hasattr(example, name) for name in parts):
            raise InvalidInput("noise: must have only parts that this mechanism takes")
        made = {name: noise_from(item, getattr(example, name)) for name, item in parts.items()}
        if "directions" in value:
            made["direction"] = recorded(value["directions"], [])
        return type(example)(**made)
    return np.array(read(value), dtype=float) if isinstance(value, list) else value


def _first(value: Any) -> Any:
    while isinstance(value, list) and value:
        value = value[0]
    return value
