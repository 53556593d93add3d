"""Known answers for one mechanism: `python run.py vectors/gauss-cov.json`. Write your own `answer`.
Exit status: 0 if every answer was right and there was one, 1 otherwise."""

import json
import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any


class DeclinedError(Exception):
    """There is no answer to a question of this kind."""


def answer(question: dict[str, Any]) -> Any:
    """The output of one question, as lists; ValueError refuses it. This example is gauss-cov."""
    if (question["kind"], question.get("mechanism")) != ("release", "gauss-cov"):
        raise DeclinedError
    x, noise, given = question["x"], question["noise"], question["parameters"]
    rho, bound, d = given["rho"], given.get("row_bound", 1.0), len(noise)
    symmetric = noise == [list(column) for column in zip(*noise, strict=True)]
    used = [*(entry for row in [*x, *noise] for entry in row), rho, bound]
    finite = all(isinstance(entry, int | float) and math.isfinite(entry) for entry in used)
    shapes = x and symmetric and all(len(row) == d for row in x) and given.get("ensemble") in ("wigner", "goe", None)
    if not (shapes and finite and rho > 0 and bound > 0):
        raise ValueError("a shape, a choice, a number or a budget")
    norms = [math.hypot(*row) / bound for row in x]
    if given.get("on_large_rows") == "raise" and max(norms) > 1:
        raise ValueError("a long row")
    rows = [[entry / bound / max(1, norm) for entry in row] for row, norm in zip(x, norms, strict=True)]
    moment = [[sum(row[i] * row[j] for row in rows) / len(rows) for j in range(d)] for i in range(d)]
    sigma = 1 / (len(rows) * math.sqrt(rho))
    return [[(moment[i][j] + sigma * noise[i][j]) * bound**2 for j in range(d)] for i in range(d)]


def numbers(value: Any) -> list[Fraction]:
    """All numbers of an output: rational, hexadecimal or decimal words, or numbers."""
    if isinstance(value, list):
        return [number for item in value for number in numbers(item)]
    return [Fraction(float.fromhex(value)) if isinstance(value, str) and "x" in value else Fraction(value)]


content = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
right = wrong = declined = 0
for test in content["tests"]:
    try:
        got, expected = numbers(answer(test)), numbers(test.get("output", []))
        limit = content["tolerances"][test.get("tolerance", "exact")]
        allowed = Fraction(limit["relative"]) * max([*map(abs, expected), Fraction(limit["floor"])])
        good = all([test["result"] == "valid", *(abs(a - b) <= allowed for a, b in zip(got, expected, strict=True))])
    except DeclinedError:
        declined += 1
        continue
    except ValueError:
        good = test["result"] == "invalid"
    right, wrong = right + good, wrong + (not good)
    print("" if good else f"test {test['id']} is wrong: {test['comment']}\n", end="")
print(f"{right} right, {wrong} wrong, {declined} declined")
sys.exit(not right or wrong > 0)
