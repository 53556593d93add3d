"""Make the known-answer tests. The questions of the tests ask for releases of every mechanism with given noise, for
noise scales, and for projections. The module `questions` has further questions.
"""

import copy
import tomllib
from collections.abc import Iterator
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.mechanism import Mechanism
from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.statistics.streams import stream
from covassay.verification.vectors.answer import noise_of, value
from covassay.verification.vectors.formulas import FUNCTIONS, formulas, module_of
from covassay.verification.vectors.numbers import exact, parts_of, written
from covassay.verification.vectors.questions import LATER, bounded_columns, choices_of, later, more

AnyMechanism = Mechanism[Any, ..., Any]
VERSION = 2
DELTA = 2.0**-20
FINE = 64  # the entries of random rows and of noise are multiples of 1/FINE, but not those of unit vectors
UNUSED = (("adaptive-cov-pure", "eigenvalues"),)  # noise that `release` may leave unused
TOLERANCES = {
    "exact": (0.0, 0.0, "The output consists of integers, so nothing is rounded."),
    "rounding": (
        1e-13,
        2.0**-20,
        "The output takes a few operations on short binary fractions. In double precision each operation has a "
        "relative error of at most 1.1e-16.",
    ),
    "digits": (
        1e-12,
        0.0,
        "The output is given by a closed formula. In double precision its relative error is about 1e-15, or 1e-14 with "
        "powers and logarithms.",
    ),
    "law": (
        1e-10,
        0.0,
        "The output is a probability above 1e-2, or the smallest value of a function. In double precision, several of "
        "the 15 digits are lost by sums with terms of both signs, by quadrature, and by the search for the smallest "
        "value.",
    ),
    "rounded-up": (
        1e-7,
        0.0,
        "A noise scale is found by a search and rounded up by a share of 1e-9. This changes δ by a share that is about "
        "a hundred times as large as 1e-9.",
    ),
    "linear-algebra": (
        1e-9,
        1.0,
        "A release of so few rows has a rounding error of about 1e-15. The eigenvalues of these inputs are at least "
        "0.01 apart, so the error of an eigenvector is about a hundred times as large. Steps with an inverse or a root "
        "multiply this error.",
    ),
}
KINDS = {"scale": "digits", "acceptance": "digits", "probability": "law", "budget": "digits", "composition": "law"}
STEPS = {
    "search": "digits", "trace": "digits", "bias": "rounding", "noise": "rounding", "sampler": "rounding",
    "rounds": "linear-algebra", "lattice": "exact",
}  # fmt: skip
FLAGS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("flags.toml").read_text(encoding="utf-8"))
"""The flags of the tests. A flag stands for a mistake that the tests with this flag detect, and has the kind of the
mistake and a description."""


def _binary(rng: np.random.Generator, shape: tuple[int, ...], largest: float) -> Any:
    """Return numbers in [−largest, largest] that a few binary digits represent exactly."""
    whole = int(largest * FINE)
    return (rng.integers(-whole, whole + 1, shape) / FINE).tolist()


def _fine(noise: Any) -> Any:
    """Return a noise in the form of JSON, rounded to a few binary digits. Symmetric matrices remain symmetric."""
    if isinstance(noise, dict):
        return {name: _fine(item) for name, item in noise.items()}
    if isinstance(noise, list):
        return [_fine(item) for item in noise]
    return round(noise * FINE) / FINE if isinstance(noise, float) else noise


class _KeysApart(np.random.Generator):
    """A generator of random numbers whose method `bytes` returns zeros. Samplers take their keys from this method. A
    test needs no key, because it lists the values that a sampler returns.
    """

    def bytes(self, length: int) -> bytes:
        """Return `length` zero bytes, as a source of randomness."""
        return bytes(length)


def _noise(declared: AnyMechanism, noise: Any, d: int, rng: np.random.Generator) -> Any:
    """Return the noise as JSON data for a question. If the noise has a function that draws from a law, the question
    lists values of this function in its place.
    """
    if hasattr(noise, "direction"):
        numbers = {name: _fine(parts_of(part)) for name, part in vars(noise).items() if name != "direction"}
        return {**numbers, "directions": [_unit_vector(d, rng) for _ in range(d)]}
    if not callable(noise):
        return _fine(parts_of(noise))
    if not declared.lattice:
        u = _unit_vector(d, rng)
        return np.outer(u, u).tolist() if declared.output.kind == "projection" else u
    upper = np.triu(rng.integers(-9, 10, (d, d)))
    return (upper + np.triu(upper, 1).T).tolist()


def _unit_vector(d: int, rng: np.random.Generator) -> list[float]:
    """Return a unit vector with two entries 3/5 and 4/5, of either sign."""
    vector = np.zeros(d)
    vector[rng.permutation(d)[:2]] = np.array([0.6, 0.8] if d > 1 else [1.0]) * rng.choice([-1, 1], min(d, 2))
    return list(map(float, vector))


def _rows(declared: AnyMechanism, rng: np.random.Generator, n: int, d: int) -> list[list[float]]:
    rows: list[list[float]] = _binary(rng, (n, d), 0.5)
    return [[abs(v) for v in row] for row in rows] if declared.domain == "cube" else rows


def _question(declared: AnyMechanism, label: str, n: int, d: int, **changed: Any) -> dict[str, Any]:
    """Return a question that asks for one release, as JSON data."""
    rng = np.random.default_rng(stream(0, "vectors", declared.name, label))
    budget = {key: DELTA if key == "delta" else 0.5 for key in declared.notion.default.keywords()}
    parameters = {**budget, **declared.parameters, **changed}
    drawing = rng if declared.lattice else _KeysApart(rng.bit_generator)
    noise = _noise(declared, noise_of(declared, parameters, d, drawing, n), d, rng)
    own = {name: value for name, value in parameters.items() if name not in declared.of_the_draw}
    return {
        "kind": "release",
        "mechanism": declared.name,
        "parameters": own,
        "x": _rows(declared, rng, n, d),
        "noise": noise,
    }


def _releases(declared: AnyMechanism) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield questions that ask for releases of the mechanism. Each question comes with a flag, which names the mistake
    that its test detects, and with a comment.
    """
    d = max(2, declared.smallest_dimension)
    words = [dict(zip(choices_of(declared), values, strict=True)) for values in product(*choices_of(declared).values())]
    for chosen in words:
        flag, comment = ("Choice", ", ".join(chosen.values())) if chosen != words[0] else ("Release", "plain")
        yield _question(declared, comment, 6, d, **chosen), flag, comment
    plain = _question(declared, "plain", 6, d, **words[0])
    if "row_bound" in declared.declared:
        yield {**plain, "x": [*plain["x"][:-1], [3.0, *plain["x"][-1][1:]]]}, "LongRow", "the last row is long"
        raising = {**plain["parameters"], "on_large_rows": "raise"}
        yield (
            {**plain, "x": [*plain["x"][:-1], [3.0, *plain["x"][-1][1:]]], "parameters": raising},
            "LongRowRefused",
            "raise",
        )
        scaled = {**plain["parameters"], "row_bound": 2.0}
        yield {**plain, "parameters": scaled, "x": [[2 * v for v in row] for row in plain["x"]]}, "RowBound", "bound 2"
    yield _question(declared, "one record", 1, d, **words[0]), "OneRecord", "n = 1"
    for word in ("nan", "inf"):
        yield {**plain, "x": [[word, *plain["x"][0][1:]], *plain["x"][1:]]}, "NotFinite", f"an entry is {word}"
    for key, bad in product(declared.notion.default.keywords(), (0.0, -1.0, "nan")):
        yield {**plain, "parameters": {**plain["parameters"], key: bad}}, "BadBudget", f"{key} = {bad}"
    yield {**plain, "x": []}, "NoRecord", "no rows"
    wrong: list[tuple[str, Any]] = [(name, "other") for name in choices_of(declared)]
    wrong += [("row_bound", bad) for bad in (0.0, "nan") if "row_bound" in declared.declared]
    wrong += [("beta", bad) for bad in (0.0, 1.0) if "beta" in plain["parameters"]]
    for name, bad in wrong:
        yield {**plain, "parameters": {**plain["parameters"], name: bad}}, "BadOption", f"{name} = {bad}"
    yield from _wrong_noise(plain)


def _wrong_noise(plain: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, str]]:
    noise = plain["noise"]
    if isinstance(noise, dict):
        for name, part in noise.items():
            if isinstance(part, list) and name != "directions" and (plain["mechanism"], name) not in UNUSED:
                yield {**plain, "noise": {**noise, name: [*part, part[0]]}}, "NoiseShape", f"{name}: one more"
    if isinstance(noise, list):
        yield {**plain, "noise": [*noise, noise[0]]}, "NoiseShape", "one row more"
        values = np.array(noise)
        if values.ndim == 2 and len(values) == values.shape[1] and np.array_equal(values, values.T):
            changed = copy.deepcopy(noise)
            changed[0][-1] += 1
            yield {**plain, "noise": changed}, "AsymmetricNoise", "one entry differs from its mirror image"


def _scales(declared: AnyMechanism) -> Iterator[dict[str, Any]]:
    """Yield questions about formulas that depend on the sizes, the budget and the choices."""
    known: dict[str, Any] = {"n": 7, "d": 3, "epsilon": 0.375, "rho": 0.375, "delta": DELTA, "input_bits": 5}
    known |= {"sensitivity": 0.75, "change": 1.5, "beta": 0.125, "failure": 0.125, "k": 2}
    known |= {
        "alpha": 0.25,
        "norm": 1.25,
        "tau": 1.5,
        "squared": 2.5,
        "score_range": 2,
        "kappa": 8.0,
        "r2": 3.0,
        "w": 2.5,
        "u": 0.25,
        "size": 3,
        "m": 5,
        "rounds": 2,
        "bound_squared": 2.0,
        "weight": 2.5,
        "block": 2,
        "q": 2.0,
    }
    for formula in formulas(declared):
        for values in product(*choices_of(declared).values()):
            given = known | dict(zip(choices_of(declared), values, strict=True))
            taken = signature(getattr(module_of(declared), formula)).parameters
            parameters = {name: given[name] for name in taken if name in given}
            if not any(p.default is p.empty for name, p in taken.items() if name not in (*parameters, *FUNCTIONS)):
                yield {"kind": "scale", "mechanism": declared.name, "formula": formula, "parameters": parameters}


def _meaning(declared: AnyMechanism, formula: str) -> str:
    """Return the first line of a formula's docstring in the reference."""
    return f"{formula}: {(getattr(module_of(declared), formula).__doc__ or '').splitlines()[0]}"


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


def answered(question: dict[str, Any], flag: str, comment: str) -> dict[str, Any]:
    """Return the test with the given question, the result and output of the reference, a tolerance, the flag and the
    comment.
    """
    about = {"flags": [flag], "comment": comment}
    try:
        output = value(question)
    except InvalidInput as error:
        return {**question, "result": "invalid", "trips": str(error), **about}
    if flag == "Exact":
        output = exact(parts_of(output))
    tolerance = tolerance_of(question, flag)
    return {**question, "result": "valid", "output": written(output), "tolerance": tolerance, **about}


def tolerance_of(question: dict[str, Any], flag: str) -> str:
    """Return the name of the tolerance of a test."""
    kind = question["kind"]
    if kind == "transcript":
        return STEPS[question["step"]]
    if flag == "Exact" or (kind == "release" and MECHANISMS[question["mechanism"]].lattice):
        return "rounding"
    if kind == "budget" and "delta" in question["parameters"]:
        return "rounded-up"
    return KINDS.get(kind, "linear-algebra")


def questions() -> Iterator[tuple[dict[str, Any], str, str]]:
    """Yield all questions, each with its flag and a comment.

    New questions are appended, so that no other test changes its number.
    """
    bounded = [declared for declared in MECHANISMS.values() if declared.domain == "box"]
    for declared in MECHANISMS.values():
        if declared not in bounded and declared.name not in LATER:
            yield from _of_mechanism(declared)
    for question in _projections():
        yield question, "Projection", question["projection"]
    yield from more()
    for declared in bounded:
        yield from _of_mechanism(declared)
    yield from bounded_columns()
    for name in LATER:
        yield from _of_mechanism(MECHANISMS[name])
    yield from later()


def _of_mechanism(declared: AnyMechanism) -> Iterator[tuple[dict[str, Any], str, str]]:
    for question in _unique(_scales(declared)):
        yield question, "Scale", _meaning(declared, question["formula"])
    yield from _releases(declared)


def generate() -> dict[str, Any]:
    """Return the content of the file of tests."""
    return {
        "generator": "covassay vectors generate",
        "version": VERSION,
        "tolerances": {
            name: {"relative": relative, "floor": floor, "reason": reason}
            for name, (relative, floor, reason) in TOLERANCES.items()
        },
        "flags": FLAGS,
        "tests": [{"id": i, **answered(*asked)} for i, asked in enumerate(questions(), 1)],
    }


def _unique(questions: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({repr(question): question for question in questions}.values())
