"""Test the known-answer vectors. The vectors must agree with the generator, and for every flag a deliberate mistake
must fail its tests.
"""

import contextlib
import copy
import json
import shlex
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.registry import MECHANISMS
from covassay.verification.cli.main import run
from covassay.verification.cli.schema import schemas
from covassay.verification.vectors.answer import answer
from covassay.verification.vectors.generate import FLAGS, TOLERANCES, generate
from covassay.verification.vectors.numbers import number
from covassay.verification.vectors.run import Tolerance, compared
from covassay.verification.vectors.run import run as outcomes_of
from covassay.verification.vectors.run import tests_file as shipped

CONTENT = shipped()
Question = dict[str, Any]
# an implementation of one mechanism in plain Python, written from its proof page
OWN = """
import json, sys

def answer(q):
    if q["kind"] == "scale":
        known = {"noise_scale": lambda p: 1 / (p["n"] * p["rho"] ** 0.5), "change_squared": lambda p: 2}
        return known[q["formula"]](q["parameters"])
    x, w, p = q["x"], q["noise"], q["parameters"]
    r = p.get("row_bound", 1.0)
    numbers = [v for row in x for v in row] + [p["rho"], r, *(v for row in w for v in row)]
    if not x or any(isinstance(v, str) for v in numbers) or p["rho"] <= 0 or r <= 0:
        raise ValueError("data, bound or budget")
    if p.get("ensemble", "goe") not in ("wigner", "goe"):
        raise ValueError("ensemble")
    n, d = len(x), len(x[0])
    if len(w) != d or any(w[i][j] != w[j][i] for i in range(d) for j in range(d)):
        raise ValueError("noise")
    if p.get("on_large_rows") == "raise" and any(sum(u * u for u in row) > r * r for row in x):
        raise ValueError("row")
    rows = [[v / max(r, sum(u * u for u in row) ** 0.5) for v in row] for row in x]
    return [[r * r * (sum(a[i] * a[j] for a in rows) / n + w[i][j] / (n * p["rho"] ** 0.5)) for j in range(d)]
            for i in range(d)]

if __name__ == "__main__":
    for line in sys.stdin:
        try:
            print(json.dumps({"output": answer(json.loads(line))}), flush=True)
        except ValueError as error:
            print(json.dumps({"error": str(error)}), flush=True)
"""


def times(factor: float, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: times(factor, item) for key, item in value.items()}
    if isinstance(value, list):
        return [times(factor, item) for item in value]
    return value * factor if isinstance(value, float) else value


def scaled(factor: float, output: Any) -> Any:
    if isinstance(output, list):
        return [scaled(factor, item) for item in output]
    return float(number(output)) * factor


def without(question: Question, *keys: str) -> Question:
    return {**question, "parameters": {k: v for k, v in question["parameters"].items() if k not in keys}}


def long_rows_left_out(question: Question) -> Question:
    return {**question, "x": [row if sum(v * v for v in row) <= 1 else [0.0] * len(row) for row in question["x"]]}


def finite(question: Question) -> Question:
    return {**question, "x": [[0.0 if isinstance(v, str) else v for v in row] for row in question["x"]]}


def sane_budget(question: Question) -> Question:
    wrong = {k: 0.5 for k, v in question["parameters"].items() if v == "nan" or (v in (0.0, -1.0) and k in BUDGET)}
    return {**question, "parameters": {**question["parameters"], **wrong}}


def sane_options(question: Question) -> Question:
    known = {"beta": 0.1, "row_bound": 1.0}
    wrong = {k: v for k, v in known.items() if question["parameters"].get(k) in (0.0, 1.0, "nan")}
    kept = {k: v for k, v in question["parameters"].items() if v != "other"}
    return {**question, "parameters": {**kept, **wrong}}


def refuse_one_record(question: Question) -> Question:
    if len(question["x"]) == 1:
        raise ZeroDivisionError("n - 1")
    return question


def symmetrised(question: Question) -> Question:
    def half(noise: Any) -> Any:
        return ((np.array(noise) + np.array(noise).T) / 2).tolist()

    noise = question["noise"]
    parts = {**noise, "moment": half(noise["moment"])} if isinstance(noise, dict) else half(noise)
    return {**question, "noise": parts}


def shortened(question: Question) -> Question:
    noise = question["noise"]
    if isinstance(noise, list):
        return {**question, "noise": noise[:-1]}
    for name, part in noise.items():
        changed = {**question, "noise": {**noise, name: part[:-1] if isinstance(part, list) else part}}
        with contextlib.suppress(InvalidInput):
            answer(changed)
            return changed
    return question


BUDGET = ("epsilon", "rho", "delta")
MUTATED = ("release", "scale", "projection")  # the kinds of tests that must reject wrong versions of the reference
MUTANTS: dict[str, Callable[[Question], Question]] = {
    "Release": lambda q: {**q, "noise": times(1.03, q["noise"])},
    "Choice": lambda q: without(q, *(k for k in q["parameters"] if k not in BUDGET)),
    "LongRow": long_rows_left_out,
    "RowBound": lambda q: without(q, "row_bound"),
    "OneRecord": refuse_one_record,
    "NotFinite": finite,
    "BadBudget": sane_budget,
    "BadOption": sane_options,
    "NoRecord": lambda q: {**q, "x": q["x"] or [[0.0, 0.0]]},
    "NoiseShape": shortened,
    "AsymmetricNoise": symmetrised,
}
OF_ANSWERS: dict[str, Callable[[Any], Any]] = {
    "Scale": lambda text: scaled(1.03, text),
    "Projection": lambda point: scaled(1.03, point),
}


made_anew = cache(generate)


def test_the_file_is_what_the_generator_makes_and_the_reference_passes() -> None:
    made = made_anew()
    assert {**made, "tests": []} == {**CONTENT, "tests": []}
    for new, old in zip(made["tests"], CONTENT["tests"], strict=True):
        assert {**new, "output": None} == {**old, "output": None}
        if old["result"] == "valid":
            relative, floor, _ = TOLERANCES[old["tolerance"]]
            assert compared(old["output"], new["output"], Tolerance(relative, floor)) == "", old


def test_a_file_that_is_not_what_the_generator_makes_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = copy.deepcopy(CONTENT)
    changed["tests"][6]["noise"][0][0] += 1
    changed["tests"].pop()
    monkeypatch.setattr("covassay.verification.vectors.run.tests_file", lambda: changed)
    monkeypatch.setattr("covassay.verification.vectors.generate.generate", made_anew)
    assert run(["vectors", "check", "--mechanism", "private-trace"]) == 2
    assert f"test 7, test {len(CONTENT['tests'])}: the file is not what" in capsys.readouterr().err


def test_the_schema_refuses_spoiled_tests() -> None:
    """The test fails if the schema accepts a test vector without a tolerance, or with a number in place of text."""
    validator = Draft202012Validator(schemas()["known-answers"])
    valid, invalid = (next(t for t in CONTENT["tests"] if t["result"] == word) for word in ("valid", "invalid"))
    for spoiled in (
        {**valid, "output": [[0.5]]},  # the output must be text, and this is a number
        {k: v for k, v in valid.items() if k != "tolerance"},
        {**valid, "kind": "releases"},
        {**invalid, "output": "1"},
        {k: v for k, v in invalid.items() if k != "trips"},
    ):
        assert validator.is_valid({**CONTENT, "tests": [valid, invalid]})
        assert not validator.is_valid({**CONTENT, "tests": [spoiled]}), spoiled


def test_every_mechanism_and_every_flag_has_tests() -> None:
    """The test fails if no test vector covers a mechanism or a flag."""
    assert {test["mechanism"] for test in CONTENT["tests"] if test["kind"] == "release"} == set(MECHANISMS)
    assert {test["mechanism"] for test in CONTENT["tests"] if test["kind"] == "budget"} == set(MECHANISMS)
    assert {flag for test in CONTENT["tests"] for flag in test["flags"]} == set(FLAGS)
    assert {test["tolerance"] for test in CONTENT["tests"] if test["result"] == "valid"} == set(TOLERANCES)


# For the other flags, test_from_the_pages.py tests deliberate mistakes.
@pytest.mark.parametrize("flag", [*MUTANTS, *OF_ANSWERS])
def test_a_mutant_of_every_flag_fails_on_the_tests_of_that_flag(flag: str) -> None:
    asked, found = MUTANTS.get(flag, lambda q: q), OF_ANSWERS.get(flag, lambda a: a)
    of_flag = [test for test in CONTENT["tests"] if flag in test["flags"] and test["kind"] in MUTATED]
    mutated = outcomes_of(of_flag, lambda q: found(answer(asked(q))), CONTENT["tolerances"])
    failed = [outcome.test for outcome in mutated if outcome.wrong]
    assert len(failed) > 0.7 * len(of_flag), (len(failed), len(of_flag))


@pytest.mark.thorough
def test_an_implementation_in_another_process_passes_and_its_mutants_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_gauss.py").write_text(OWN)
    command = f"exec:{shlex.quote(sys.executable)} -I own_gauss.py"
    only = ["--mechanism", "gauss-cov", "--kind", "release"]
    own = [*only, "--flag"]
    for target in (command, "own_gauss:answer"):
        assert run(["vectors", "run", target, *only, "--kind", "scale"]) == 0, capsys.readouterr().out
        assert "tests passed" in capsys.readouterr().out
    for text, mutant, flag in (
        ("max(r, sum", "min(r, sum", "LongRow"),
        ("r * r * (", "(", "RowBound"),
        ("w[i][j] / (n", "1.03 * w[i][j] / (n", "Release"),
        ("w[i][j] != w[j][i]", "False", "AsymmetricNoise"),
        ("raise ValueError(\"noise\")", "sys.exit(1)", "NoiseShape"),  # a crash does not count as a rejection
    ):  # fmt: skip
        assert text in OWN
        (tmp_path / "own_gauss.py").write_text(OWN.replace(text, mutant))
        assert run(["vectors", "run", command, *own, flag]) == 1
        told = capsys.readouterr().out
        assert f"{flag} (1 failed): {FLAGS[flag]['description']}" in told
    assert run(["vectors", "run", command, *own, "NoiseShape", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [(entry["flag"], entry["bugType"]) for entry in found["failed"]] == [("NoiseShape", "MISSING_VALIDATION")]
    validator = Draft202012Validator(schemas()["vectors-run"])
    assert validator.is_valid(found)
    assert not validator.is_valid({**found, "failed": [{**found["failed"][0], "tests": []}]})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "give exec:COMMAND or module:function"),
        (["run", "exec:./nothing"], "no program that can be started"),
        (["run", "covassay:gauss-cov"], "must be exec:COMMAND or module:function"),
        (["run", "own:answer", "--flag", "LongRows"], "must be one of Scale, Release"),
        (["check", "--mechanism", "gaus-cov"], "did you mean gauss-cov"),
        (["check", "--mechanism", "private-trace", "--flag", "AsymmetricNoise"], "no test has all these properties"),
        (["run", "own:answer", "--kind", "releases"], "must be one of scale, release"),
    ],
)
def test_invalid_use_is_told(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str],
                             tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text("def answer(q): return 0\n")
    assert run(["vectors", *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("expected", "answered", "wrong"),
    [
        ([[1.0, 2.0]], [[1.0, 2.0 + 1e-10]], ""),
        ([[1.0, 2.0]], [[1.0, 2.0 + 1e-8]], "off by 1e-08"),
        ([[1.0, 2.0]], [1.0, 2.0], "shape (2,) in place of (1, 2)"),
        ([1.0], ["nan"], "not finite"),
        ([1.0], ["one"], "not made of numbers"),
        ({"a": 1.0}, {"b": 1.0}, "must be an object with a"),
        ({"a": 1.0}, {"a": 2.0}, "a: off by 1"),
        (5, 5.0, ""),
        ("1/3", 0.3333333333333333, ""),
        ("0x1.8p-1", "3/4", ""),
        ("0.632120558828557678404476229839", "6.32120558828557678404476229839e-1", ""),
        ("3/4", "0x1.9p-1", "off by 0.0312"),
        ("3/4", True, "not made of numbers"),
        ("3/4", "1/0", "not made of numbers"),
        ("3/4", "1e999999999", "not made of numbers"),
        ("3/4", "0x1p99999", "not finite"),
        ("3/4", None, "not made of numbers"),
        (3, {"a": 3}, "not made of numbers"),
        ([["1", "2"]], [["1", "2"], ["3"]], "not made of numbers"),
    ],
)
def test_answers_are_compared(expected: Any, answered: Any, wrong: str) -> None:
    found = compared(expected, answered, Tolerance(1e-9, 1.0))
    assert wrong in found
    assert bool(wrong) == bool(found)


def test_an_answer_that_is_too_deep_is_told() -> None:
    deep: Any = 1
    for _ in range(10_000):
        deep = [deep]
    assert compared("3/4", deep, Tolerance(1e-9)) == "is not made of numbers"
