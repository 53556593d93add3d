"""Make the tests: one generator for every mechanism, whatever its noise is."""

import copy
from collections.abc import Iterator
from inspect import signature
from itertools import product
from typing import Any

import numpy as np

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.statistics.streams import stream
from covassay.verification.vectors.answer import FUNCTIONS, answer, formulas, module_of, noise_of, written

AnyMechanism = Mechanism[Any, ..., Any]
VERSION = 1
DELTA = 2.0**-20
FINE = 64  # every input is a whole number of parts of this size
# Outputs are compared with the largest number in them. A release of so few rows rounds by some 1e-15, and the
# eigenvalues of these inputs are a hundredth apart or more, so an eigenvector by at most some hundred times as much.
TOLERANCE = 1e-9
FLAGS = {
    "Scale": ("CALIBRATION", "The scale of the noise is another number."),
    "Release": ("NOISE_PATH", "The noise is added in another place, or with another factor."),
    "Choice": ("IGNORED_OPTION", "An option that is not the default one changes nothing."),
    "LongRow": ("MISSING_CLIPPING", "A row longer than the public bound is not clipped: it is left out, or kept."),
    "RowBound": ("WRONG_UNIT", "The public bound on the rows is ignored, or enters with another power."),
    "OneRecord": ("EDGE_CASE", "A data set of one record is refused, or a denominator is n − 1."),
    "NotFinite": ("MISSING_VALIDATION", "Data with NaN or an infinity are answered."),
    "BadBudget": ("MISSING_VALIDATION", "A budget that is zero, negative or NaN is answered."),
    "NoRecord": ("MISSING_VALIDATION", "A data set without rows is answered."),
    "NoiseShape": ("MISSING_VALIDATION", "Noise of another shape is broadcast."),
    "AsymmetricNoise": ("MISSING_VALIDATION", "Noise that must be symmetric and is not is answered."),
    "Projection": ("POST_PROCESSING", "The point is not the nearest one of the convex set."),
}


def _binary(rng: np.random.Generator, shape: tuple[int, ...], largest: float) -> Any:
    """Numbers that are exact with few binary digits, in [−largest, largest]."""
    whole = int(largest * FINE)
    return (rng.integers(-whole, whole + 1, shape) / FINE).tolist()


def _exact(noise: Any) -> Any:
    """A noise in the terms of JSON, rounded to few binary digits; symmetric matrices stay symmetric."""
    if isinstance(noise, dict):
        return {name: _exact(item) for name, item in noise.items()}
    if isinstance(noise, list):
        return [_exact(item) for item in noise]
    return round(noise * FINE) / FINE if isinstance(noise, float) else noise


def _rows(declared: AnyMechanism, rng: np.random.Generator, n: int, d: int) -> list[list[float]]:
    rows: list[list[float]] = _binary(rng, (n, d), 0.5)
    return [[abs(v) for v in row] for row in rows] if declared.domain == "cube" else rows


def _question(declared: AnyMechanism, label: str, n: int, d: int, **changed: Any) -> dict[str, Any]:
    """The question of one release. TypeError if the noise of the mechanism is a function."""
    rng = np.random.default_rng(stream(0, "vectors", declared.name, label))
    parameters = {key: DELTA if key == "delta" else 0.5 for key in declared.notion.default.keywords()} | changed
    noise = _exact(written(noise_of(declared, parameters, d, rng, n)))
    own = {name: value for name, value in parameters.items() if name not in declared.of_the_draw}
    return {
        "kind": "release",
        "mechanism": declared.name,
        "parameters": own,
        "x": _rows(declared, rng, n, d),
        "noise": noise,
    }


def _releases(declared: AnyMechanism) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Questions about releases, each with its flag and a comment."""
    d = max(2, declared.smallest_dimension)
    words = [dict(zip(declared.choices, values, strict=True)) for values in product(*declared.choices.values())]
    for chosen in words:
        flag, comment = ("Choice", ", ".join(chosen.values())) if chosen != words[0] else ("Release", "plain")
        yield _question(declared, comment, 6, d, **chosen), flag, comment
    plain = _question(declared, "plain", 6, d, **words[0])
    if "row_bound" in declared.declared:
        yield {**plain, "x": [*plain["x"][:-1], [3.0, *plain["x"][-1][1:]]]}, "LongRow", "the last row is long"
        scaled = {**plain["parameters"], "row_bound": 2.0}
        yield {**plain, "parameters": scaled, "x": [[2 * v for v in row] for row in plain["x"]]}, "RowBound", "bound 2"
    yield _question(declared, "one record", 1, d, **words[0]), "OneRecord", "n = 1"
    for word in ("nan", "inf"):
        yield {**plain, "x": [[word, *plain["x"][0][1:]], *plain["x"][1:]]}, "NotFinite", f"an entry is {word}"
    for key in declared.notion.default.keywords():
        for value in (0.0, -1.0, "nan"):
            yield {**plain, "parameters": {**plain["parameters"], key: value}}, "BadBudget", f"{key} = {value}"
    yield {**plain, "x": []}, "NoRecord", "no rows"
    yield from _wrong_noise(plain)


def _wrong_noise(plain: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, str]]:
    noise = plain["noise"]
    if isinstance(noise, list):
        yield {**plain, "noise": [*noise, noise[0]]}, "NoiseShape", "one row more"
        values = np.array(noise)
        if values.ndim == 2 and len(values) == values.shape[1] and np.array_equal(values, values.T):
            changed = copy.deepcopy(noise)
            changed[0][-1] += 1.0
            yield {**plain, "noise": changed}, "AsymmetricNoise", "one entry differs from its mirror image"


def _scales(declared: AnyMechanism) -> Iterator[dict[str, Any]]:
    """Questions about formulas whose arguments are the size, the budget and the choices."""
    known: dict[str, Any] = {"n": 7, "d": 3, "epsilon": 0.375, "rho": 0.375, "delta": DELTA}
    for formula in formulas(declared):
        for values in product(*declared.choices.values()):
            given = known | dict(zip(declared.choices, values, strict=True))
            taken = signature(getattr(module_of(declared), formula)).parameters
            parameters = {name: given[name] for name in taken if name in given}
            if set(taken) - set(parameters) <= set(FUNCTIONS):  # others take a sensitivity, or other figures of a step
                yield {"kind": "scale", "mechanism": declared.name, "formula": formula, "parameters": parameters}


def _projections() -> Iterator[dict[str, Any]]:
    for d in (2, 3):
        rng = np.random.default_rng(stream(0, "vectors", "projections", d))
        matrix = np.array(_binary(rng, (d, d), 2.0))
        symmetric = ((matrix + matrix.T) / 2).tolist()
        for radius in (0.0, 0.5, 64.0):
            of = {"radius": radius}
            yield {"kind": "projection", "projection": "simplex", "point": matrix[0].tolist(), "parameters": of}
            yield {"kind": "projection", "projection": "nuclear_ball", "point": matrix.tolist(), "parameters": of}
            yield {"kind": "projection", "projection": "psd_trace_ball", "point": symmetric, "parameters": of}
        yield {"kind": "projection", "projection": "psd_cone", "point": symmetric, "parameters": {}}
        limits = {"low": -0.25, "high": 0.5}
        yield {"kind": "projection", "projection": "spectral_interval", "point": symmetric, "parameters": limits}


def answered(question: dict[str, Any]) -> dict[str, Any]:
    """The question with its result."""
    try:
        return {**question, "result": "valid", "output": answer(question)}
    except InvalidInput:
        return {**question, "result": "invalid"}


def generate() -> dict[str, Any]:
    """The content of the file of tests, and the mechanisms for whose releases there is none, each with the reason."""
    tests: list[dict[str, Any]] = []
    left_out: dict[str, str] = {}
    for declared in MECHANISMS.values():
        for question in _unique(_scales(declared)):
            tests.append({**answered(question), "flags": ["Scale"], "comment": question["formula"]})
        try:
            made = [{**answered(q), "flags": [flag], "comment": comment} for q, flag, comment in _releases(declared)]
        except TypeError:
            left_out[declared.name] = "its noise is a function, which a file cannot hold"
            continue
        tests += made
    tests += [{**answered(q), "flags": ["Projection"], "comment": q["projection"]} for q in _projections()]
    return {
        "generator": "covassay vectors generate",
        "version": VERSION,
        "tolerance": TOLERANCE,
        "flags": {name: {"bugType": kind, "description": text} for name, (kind, text) in FLAGS.items()},
        "leftOut": left_out,
        "tests": [{"id": i, **test} for i, test in enumerate(tests, 1)],
    }


def _unique(questions: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({repr(question): question for question in questions}.values())
