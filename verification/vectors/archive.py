"""Write the tests as one archive with a file for every mechanism, a schema, and runners in four languages.

The archive can be used without covassay. The file `vectors/NAME.json` has all tests of a mechanism; projections and
compositions, which belong to no mechanism, have files of their own. For languages without a JSON reader, the text file
`flat/NAME.txt` has the tests of matrix releases, with spaces between the numbers and words. Equal tests give archives
with equal bytes.
"""

import hashlib
import json
import math
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from covassay.reference.errors import InvalidInput
from covassay.reference.release.messages import reason
from covassay.verification.vectors.numbers import number
from covassay.verification.vectors.run import tests_file

FOLDER = "covassay-vectors"
DAY = (1980, 1, 1, 0, 0, 0)  # the date of every file in the archive, so that its bytes depend on the tests alone
SCHEMA = "covassay.verification.cli.schemas", "known-answers.json"


def split(content: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the content of a file of tests for every mechanism, and for every kind of test that belongs to no
    mechanism. All these files have the same version, tolerances and flags as the whole file.
    """
    names = dict.fromkeys(test.get("mechanism", test["kind"]) for test in content["tests"])
    return {
        name: {**content, "tests": [test for test in content["tests"] if test.get("mechanism", test["kind"]) == name]}
        for name in names
    }


def flat(tests: Sequence[Mapping[str, Any]], tolerances: Mapping[str, Mapping[str, float]]) -> str:
    """Return all tests whose data, noise and output are matrices of finite numbers, as words separated by white space.
    The text is empty if there are no such tests.

    The text of a test has the following parts. RESULT is the word `valid` or `invalid`.

        test ID RESULT
        parameters COUNT, and then COUNT pairs of a name and a value
        x ROWS COLUMNS, and then the entries, row by row
        noise ROWS COLUMNS, and then the entries
        output ROWS COLUMNS, and then the entries
        tolerance RELATIVE FLOOR
    """
    return "".join(_flat_test(test, tolerances) for test in tests if _is_flat(test))


def _is_flat(test: Mapping[str, Any]) -> bool:
    if test["kind"] != "release" or any(isinstance(value, list | dict) for value in test["parameters"].values()):
        return False
    return all(_is_matrix(test.get(name, [[0.0]])) for name in ("x", "noise", "output"))


def _is_matrix(value: Any) -> bool:
    """Return whether a value is a list of rows of equal length with finite numbers."""
    if not isinstance(value, list) or not value or not all(isinstance(row, list) and row for row in value):
        return False
    try:
        return len({len(row) for row in value}) == 1 and all(math.isfinite(number(v)) for row in value for v in row)
    except ValueError:
        return False


def _flat_test(test: Mapping[str, Any], tolerances: Mapping[str, Mapping[str, float]]) -> str:
    limit = tolerances[test.get("tolerance", "exact")]
    given = test["parameters"]
    words = [f"test {test['id']} {test['result']}", f"parameters {len(given)}"]
    words += [f"{name} {value}" for name, value in given.items()]
    words += [_flat_matrix(name, test.get(name, [])) for name in ("x", "noise", "output")]
    return "\n".join([*words, f"tolerance {limit['relative']!r} {limit['floor']!r}"]) + "\n\n"


def _flat_matrix(name: str, value: Sequence[Sequence[Any]]) -> str:
    rows = [" ".join(repr(float(number(entry))) for entry in row) for row in value]
    return "\n".join([f"{name} {len(value)} {len(value[0]) if value else 0}", *rows])


def files() -> Iterator[tuple[str, str]]:
    """Yield the path and the text of every file of the archive except its index."""
    content = tests_file()
    for name, part in split(content).items():
        yield f"vectors/{name}.json", json.dumps(part, ensure_ascii=False, indent=1) + "\n"
        text = flat(part["tests"], content["tolerances"])
        if text:
            yield f"flat/{name}.txt", text
    here = resources.files("covassay.verification.vectors")
    yield "README.md", (here / "README.md").read_text(encoding="utf-8")
    yield "schema.json", (resources.files(SCHEMA[0]) / SCHEMA[1]).read_text(encoding="utf-8")
    for runner in sorted((here / "runners").iterdir(), key=lambda path: path.name):
        if runner.name.startswith("run."):
            yield f"runners/{runner.name.removesuffix('.txt')}", runner.read_text(encoding="utf-8")


def archive(out: Path) -> int:
    """Write the archive, and return the number of its files.

    Raises
    ------
    InvalidInput : the name does not end in .zip, or the file cannot be written.
    """
    if out.suffix != ".zip":
        raise InvalidInput(f"out = {str(out)!r}: must end in .zip")
    made = dict(files())
    digests = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in made.items()}
    index = {"version": tests_file()["version"], "sha256": digests}
    try:
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
            for path, text in {"index.json": json.dumps(index, indent=1) + "\n", **made}.items():
                packed.writestr(zipfile.ZipInfo(f"{FOLDER}/{path}", DAY), text, zipfile.ZIP_DEFLATED)
    except OSError as error:
        raise InvalidInput(f"out = {str(out)!r}: cannot be written ({reason(error)})") from error
    return len(made) + 1
