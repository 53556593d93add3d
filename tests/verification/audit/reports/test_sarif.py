"""Test the report in the SARIF format: its form, its results, their locations in the source code, and that it claims
no more than the audit.
"""

import copy
import functools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import jsonschema
import numpy as np
import pytest

from covassay.reference.domain import Matrix
from covassay.verification.audit.engine.finding import Kind, Status
from covassay.verification.audit.reports.sarif import ABOUT, as_sarif, rule_id, sarif_text
from covassay.verification.audit.targets.target import Target, TargetReference, load
from covassay.verification.audit.targets.whereabouts import Whereabouts, whereabouts
from covassay.verification.cli.main import run
from covassay.verification.cli.schema import schemas
from tests.verification.audit.reports.kinds_of_reports import KINDS, no_noise, report_of

VALIDATOR = jsonschema.Draft202012Validator(schemas()["audit-sarif"])
HERE = Path(__file__)


def written(kind: str) -> dict[str, Any]:
    return json.loads(sarif_text(report_of(kind)))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_report_obeys_the_part_of_sarif_that_is_used(kind: str) -> None:
    document = written(kind)
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []
    (run,) = document["runs"]
    rules, report = run["tool"]["driver"]["rules"], report_of(kind)
    assert {rule["id"] for rule in rules} == {rule_id(check) for check in report.checks}
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    found = [c for c in report.checks if c.status in (Status.REFUTED, Status.NOTED)]
    assert [r["level"] == "error" for r in run["results"]] == [c.status is Status.REFUTED for c in found]


def test_a_fingerprint_tells_findings_apart_and_stays_from_run_to_run() -> None:
    def prints(**changed: Any) -> list[str]:
        (run,) = as_sarif(replace(report_of("refuted"), **changed))["runs"]
        return [result["partialFingerprints"]["covassay/v1"] for result in run["results"]]

    assert len(set(prints())) == len(prints()) > 0
    assert prints() == prints(seed=7, samples=123)
    assert not set(prints()) & set(prints(target="another:target"))


def test_every_kind_of_check_is_explained() -> None:
    assert set(ABOUT) == set(get_args(Kind))


def test_an_invocation_has_the_exit_status_the_seed_and_the_replay_command() -> None:
    for kind, status in (("refuted", 1), ("not refuted", 0), ("inconclusive", 3)):
        (invocation,) = written(kind)["runs"][0]["invocations"]
        report = report_of(kind)
        assert (invocation["exitCode"], invocation["executionSuccessful"]) == (status, status < 3)
        assert invocation["properties"] == {"seed": report.seed, "replay": report.replay}
    (invocation,) = as_sarif(report_of("inconclusive"), 4)["runs"][0]["invocations"]
    assert (invocation["exitCode"], invocation["executionSuccessful"]) == (4, False)
    (told,) = invocation["toolExecutionNotifications"]
    assert told["message"]["text"] == "contract / completed audit: the process ended"


def test_a_hostile_text_makes_no_link_and_no_placeholder_and_hides_nothing() -> None:
    text = sarif_text(report_of("hostile"))
    for result in json.loads(text)["runs"][0]["results"]:
        message = result["message"]["text"]
        assert "](" not in message
        assert "{0}" not in message.replace("{{", "").replace("}}", "")
    for character in ("\x00", "\x1b", "\u202e", "\ud800"):
        assert character not in json.loads(json.dumps(text))
        assert json.dumps(character)[1:-1] not in text


SPOILED: dict[str, Any] = {
    "another version": lambda log: log.update(version="2.2"),
    "a property more": lambda log: log["runs"][0].update(surplus=1),
    "no help": lambda log: log["runs"][0]["tool"]["driver"]["rules"][0].pop("help"),
    "no fingerprint": lambda log: log["runs"][0]["results"][0].pop("partialFingerprints"),
    "no rules": lambda log: log["runs"][0]["tool"]["driver"].update(rules=[]),
    "a result without a place": lambda log: log["runs"][0]["results"][0].update(locations=[]),
    "line 0": lambda log: _region(log).update(startLine=0),
    "an address with a blank": lambda log: _file(log).update(uri="my file.py"),
    "an address above the root": lambda log: _file(log).update(uri="../mine.py"),
    "an absolute path": lambda log: _file(log).update(uri="/home/mine.py"),
    "a status of no audit": lambda log: log["runs"][0]["invocations"][0].update(exitCode=2),
    "success for a refuted target": lambda log: log["runs"][0]["invocations"][0].update(exitCode=0),
    "no success for a completed audit": lambda log: log["runs"][0]["invocations"][0].update(executionSuccessful=False),
    "refuted without an error": lambda log: [r.update(level="note") for r in log["runs"][0]["results"]],
    "not refuted with an error": lambda log: log["runs"][0]["properties"].update(verdict="NOT REFUTED"),
    "inconclusive without a word": lambda log: log["runs"][0]["properties"].update(verdict="INCONCLUSIVE"),
    "an open brace": lambda log: log["runs"][0]["results"][0]["message"].update(text="{0}"),
    "no replay command": lambda log: log["runs"][0]["invocations"][0]["properties"].pop("replay"),
}


def _file(log: dict[str, Any]) -> Any:
    return log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]


def _region(log: dict[str, Any]) -> Any:
    return log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]


@pytest.mark.parametrize("name", SPOILED)
def test_the_schema_rejects_a_spoiled_log(name: str) -> None:
    log = copy.deepcopy(written("refuted"))
    SPOILED[name](log)
    assert not VALIDATOR.is_valid(log)


# WHERE A TARGET IS


class Release:
    def draw(self, x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        return no_noise(x, epsilon=epsilon, rng=rng)

    def __call__(self, x: Matrix, *, epsilon: float, rng: np.random.Generator) -> Matrix:
        return no_noise(x, epsilon=epsilon, rng=rng)


@functools.wraps(Release.draw)
def decorated(*given: Any, **named: Any) -> Any:
    return Release.draw(*given, **named)


class Lies:
    """A target for which every access to an attribute raises an error."""

    def __getattr__(self, name: str) -> Any:
        raise SystemError(name)


def line_of(text: str, file: Path = HERE) -> int:
    return next(i for i, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1) if text in line)


@pytest.mark.parametrize(
    ("draw", "text"),
    [
        (Release().draw, "def draw"),
        (Release(), "class Release"),
        (Release, "class Release"),
        (decorated, "def draw"),
        (functools.partial(decorated, epsilon=1.0), "def draw"),
        (lambda x: x, "(lambda x: x"),
    ],
)
def test_a_function_is_found_where_it_is_defined(draw: Any, text: str) -> None:
    target = Target("mine", draw)
    found = whereabouts(target, target)
    assert found is not None
    assert (found.file, found.line) == (HERE.resolve(), line_of(text))


def test_a_target_that_lies_about_itself_is_found_by_its_type() -> None:
    target = Target("mine", Lies())  # type: ignore[arg-type]
    found = whereabouts(target, target)
    assert found is None or found.line == line_of("class Lies")


def test_a_function_without_a_source_is_nowhere() -> None:
    """The test fails if an error is raised, or a wrong file is named, for a function without Python source."""
    for draw in (len, np.linalg.svd, None, 3):
        target = Target("mine", draw)  # type: ignore[arg-type]
        found = whereabouts(target, target)
        assert found is None or found.file.suffix == ".py"
    assert whereabouts(Target("mine", len), Target("mine", len)) is None


def test_a_target_is_found_from_its_name_without_importing_it(tmp_path: Path) -> None:
    """The test fails if the source location of a target is found only by importing it. A target that cannot be
    imported must still be located, and a program is located at the first line of its script.
    """
    (tmp_path / "mine.py").write_text("import os\nos._exit(3)\n\n\nclass Model:\n    def fit(self): ...\n")
    (tmp_path / "broken.py").write_text("def release(:\n")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("\ndef release(): ...\n")
    (tmp_path / "a b.sh").write_text("exit 1\n")
    places = {
        "mine:Model.fit": ("mine.py", 6),
        "mine:Model": ("mine.py", 5),
        "mine:unknown": ("mine.py", 1),
        "broken:release": ("broken.py", 1),
        "pack:release": ("pack/__init__.py", 2),
        "exec:sh -e 'a b.sh' --fast": ("a b.sh", 1),
        "exec:./mine.py": ("mine.py", 1),
    }
    for spec, (file, line) in places.items():
        found = whereabouts(TargetReference(spec, str(tmp_path)))
        assert found == Whereabouts(tmp_path / file, tmp_path, line), spec
    for spec in (
        "none:release",
        "exec:true",
        "exec:'open",
        "exec:",
        "nul\x00:f",
        "covassay:bingham",
        "mutant:half-scale",
    ):
        assert whereabouts(TargetReference(spec, str(tmp_path))) is None, spec


def test_a_place_is_written_relative_to_the_directory_of_the_audit(tmp_path: Path) -> None:
    report = report_of("refuted")
    for file, uri in ((tmp_path / "a b" / "ü.py", "a%20b/%C3%BC.py"), (Path("/else/mine.py"), "file:///else/mine.py")):
        document = as_sarif(replace(report, found_at=Whereabouts(file, tmp_path, 7)))
        assert VALIDATOR.is_valid(document)
        assert _file(document)["uri"] == uri
        assert ("uriBaseId" in _file(document)) == (file.parent.parent == tmp_path)
        assert _region(document) == {"startLine": 7}


def test_an_adapter_elsewhere_has_a_name_and_no_place(tmp_path: Path) -> None:
    source = TargetReference("covassay:bingham", str(tmp_path))
    assert whereabouts(source, load(source)) is None


# THE COMMAND


@pytest.mark.thorough
def test_the_command_writes_it_with_the_line_of_the_target_and_nothing_that_it_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    text = "def release_of_sarif(x, *, epsilon, rng):\n    print('PRINTED')\n    return x.T @ x\n"
    (tmp_path / "mine_of_sarif.py").write_text(text)
    given = ["audit", "mine_of_sarif:release_of_sarif", "--epsilon", "1", "--samples", "100", "--jobs", "1", "--quiet"]
    reports = ["--sarif", "o.sarif", "--badge", "b.json", "--html", "o.html", "--junit", "o.xml"]
    assert run([*given, *reports]) == 1
    for file in reports[1::2]:
        assert "PRINTED" not in Path(file).read_text(encoding="utf-8")
    text = (tmp_path / "o.sarif").read_text(encoding="utf-8")
    assert "PRINTED" in capsys.readouterr().err
    assert VALIDATOR.is_valid(json.loads(text))
    assert (_file(json.loads(text)), _region(json.loads(text))) == (
        {"uri": "mine_of_sarif.py", "uriBaseId": "%SRCROOT%"}, {"startLine": 1},
    )  # fmt: skip
    assert json.loads((tmp_path / "b.json").read_text())["message"] == "refuted"


@pytest.mark.parametrize("option", ["--sarif", "--badge", "--junit"])
def test_a_file_that_cannot_be_written_is_refused_before_the_audit(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["audit", "covassay:bingham", "--samples", "100"]
    other = "--witness" if option == "--junit" else "--junit"
    for arguments, text in (
        ([option, str(tmp_path / "no" / "o")], "must be in a directory that exists"),
        ([option, str(tmp_path)], "must be a file, is a directory"),
        ([option, str(tmp_path / "o.npz"), other, str(tmp_path / "o.npz")], "must differ from the file of"),
    ):
        assert run([*given, *arguments]) == 2
        captured = capsys.readouterr()
        assert text in captured.err
        assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert list(tmp_path.iterdir()) == []
