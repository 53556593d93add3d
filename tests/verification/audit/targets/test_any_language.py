"""Test the protocol for targets in other languages: examples, schemas, batches, and hints for common mistakes."""

import contextlib
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.reference.privacy import ZCDP, ApproximateDP, Guarantee, PureDP
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.called import called
from covassay.verification.audit.engine.finding import Status, Verdict
from covassay.verification.audit.engine.sampling import Setting, draw
from covassay.verification.audit.questions.contract.batch_same_output import batch_is_single
from covassay.verification.audit.targets.process_hints import hint
from covassay.verification.audit.targets.process_target import START_VARIABLE, NoReply, Process
from covassay.verification.audit.targets.target import CannotRun, TargetReference
from covassay.verification.cli.audit import EXAMPLES
from covassay.verification.cli.main import run
from covassay.verification.cli.schema import schemas

NEEDS = {"c": "cc", "node": "node", "r": "Rscript", "sh": "awk", "python": sys.executable}
COMMANDS = {
    "c": "./release",
    "node": "node release.mjs",
    "r": "Rscript release.R",
    "sh": "sh release.sh",
    "python": f"{shlex.quote(sys.executable)} -I release.py.txt",
}
X = np.array([[0.6, 0.8], [1.0, 0.0], [0.001, 0.0]])
BATCHES = """
import json, random, sys
for line in sys.stdin:
    request = json.loads(line)
    {body}
    print(json.dumps(reply), flush=True)
"""


@pytest.fixture(params=EXAMPLES)
def language(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if shutil.which(NEEDS[name]) is None and not os.environ.get("COVASSAY_REQUIRE_LANGUAGES"):
        pytest.skip(f"{NEEDS[name]} is not installed")
    return name


def written(language: str, folder: Path, change: Callable[[str], str] = str) -> TargetReference:
    """Write the example program for a language to a file, with one change, and return it as a target."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert run(["audit", "--example", language]) == 0
    file = folder / EXAMPLES[language]
    file.write_text(change(printed.getvalue()))
    if language == "c":
        subprocess.run(
            ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-std=c11", "-o", folder / "release", file, "-lm"], check=True
        )
    return TargetReference(f"exec:{COMMANDS[language]}", str(folder))


def asked(source: TargetReference, guarantee: Guarantee | None = None) -> Setting:
    budget = dict((guarantee or PureDP(1.0)).keywords())
    probe = Setting(source, budget, SECOND_MOMENT, 0)
    return Setting(called(source, probe, None), budget, SECOND_MOMENT, 0)  # type: ignore[arg-type]


def python(folder: Path, body: str) -> TargetReference:
    (folder / "target.py").write_text(BATCHES.format(body=body))
    return TargetReference(f"exec:{shlex.quote(sys.executable)} -I target.py", str(folder))


def test_an_example_draws_in_batches_what_it_draws_alone_and_refuses_what_it_should(
    language: str, tmp_path: Path
) -> None:
    setting = asked(written(language, tmp_path))
    assert isinstance(setting.source, TargetReference)
    assert setting.source.batch == 1000
    assert [check.status for check in batch_is_single(setting)] == [Status.NOT_REFUTED]
    draws = draw(setting, X, 60, "in batches")
    assert (len(draws.outputs), draws.failed) == (60, 0)
    schema = Draft202012Validator(schemas()["exec-reply"])
    process = Process(setting.source.command, setting.source.directory)
    for x in ([], [[], []], [1.0, 2.0], [[0.5]], [[1e-5, 0.25]]):
        for budget in (1.0, 0.0):
            request = {"x": x, "epsilon": budget, "seed": 2**53 - 1}
            if budget and np.array(x).ndim == 2 and np.size(x):
                reply = process.ask(request, 10**6)
                assert not list(schema.iter_errors(reply))
                assert np.shape(reply["output"]) == (np.shape(x)[1],) * 2
            else:
                with pytest.raises(NoReply, match="an error in place of an output: 'no table"):
                    process.ask(request, 10**6)
    process.finish()


@pytest.mark.slow
def test_an_example_is_not_refuted_and_with_less_noise_it_is(language: str, tmp_path: Path) -> None:
    kept = audit(written(language, tmp_path), epsilon=1.0, mechanism="entrywise-laplace", samples=300)
    assert kept.verdict is Verdict.NOT_REFUTED, [(c.label, c.detail) for c in kept.refuted]
    marks = dict.fromkeys(("sh", "python"), "scale = 2 * d")
    marks |= {"c": "2.0 * d /", "node": "(2 * x[0].length)", "r": "scale <- 2 * ncol"}
    weaker = marks[language].replace("2", "1", 1)
    (tmp_path / "weaker").mkdir()
    source = written(language, tmp_path / "weaker", lambda text: text.replace(marks[language], weaker))
    report = audit(source, epsilon=1.0, mechanism="entrywise-laplace", samples=300)
    assert report.verdict is Verdict.REFUTED
    assert "law" in {check.kind for check in report.refuted}


@pytest.mark.parametrize("guarantee", [PureDP(1.0), ZCDP(0.5), ApproximateDP(1.0, 1e-6)], ids=str)
def test_requests_obey_their_schema(tmp_path: Path, guarantee: Guarantee) -> None:
    """The test fails if a request to another process violates its published schema."""
    body = (
        "open('log', 'a').write(line); n = request.get('seeds'); one = [[1.0, 0.0], [0.0, 1.0]]; "
        "reply = {'outputs': [one] * len(n)} if n else {'output': one, 'batch': 7, 'error': None}"
    )
    setting = asked(python(tmp_path, body), guarantee)
    assert len(draw(setting, X, 20, "schema").outputs) == 20
    requests = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [len(request.get("seeds", [])) for request in requests] == [0, 7, 7, 6]
    schema = Draft202012Validator(schemas()["exec-request"])
    for request in requests:
        assert not list(schema.iter_errors(request))
        for spoiled in ({**request, "surplus": 1}, {**request, "protocol": 2}, {**request, "seed": 1, "seeds": [1]},
                        {key: value for key, value in request.items() if key not in guarantee.keywords()}):  # fmt: skip
            assert list(schema.iter_errors(spoiled))


def test_the_schema_of_replies_refuses() -> None:
    """The test fails if the schema of replies allows a reply that the audit cannot read, or rejects a valid one."""
    schema = Draft202012Validator(schemas()["exec-reply"])
    for good in ({"output": 1.0}, {"output": [[1.0]], "error": None, "batch": 5}, {"outputs": [[1.0], {"error": "no"}]},
                 {"error": "no", "protocol": 1}):  # fmt: skip
        assert not list(schema.iter_errors(good)), good
    for bad in ({}, {"error": None}, {"output": None}, {"output": 1.0, "outputs": [1.0]}, {"output": 1, "batch": 0},
                {"output": 1.0, "protocol": 2}, {"outputs": [{"wrong": "no"}]}, [1.0]):  # fmt: skip
        assert list(schema.iter_errors(bad)), bad


IN_BATCH: dict[str, tuple[str, str]] = {
    "another output in a batch": ("[[request['seeds'][0] % 7 + i] for i in range(len(n))]", "a seed gave another out"),
    "too few outputs": ("[1.0]", '"outputs" is not a list of 5, one for every seed'),
    "an error for one seed": ("[{'error': 'no'}] + [request['seeds'][1] % 7] * (len(n) - 1)", "a batch of seeds; one"),
    "a failure of the whole batch": ("1 / 0", "the process ended without a reply"),
}


@pytest.mark.parametrize("name", IN_BATCH)
def test_a_batch_that_is_not_what_its_seeds_give_alone_is_refuted(tmp_path: Path, name: str) -> None:
    outputs, detail = IN_BATCH[name]
    body = (
        f"n = request.get('seeds'); d = len(request['x'][0]); square = lambda v: [[v] * d] * d; "
        f"reply = {{'outputs': [v if isinstance(v, dict) else square(v) for v in {outputs}]}} if n else "
        f"{{'output': square(request['seed'] % 7), 'batch': 1000}}"
    )
    body = body.replace("[[request['seeds'][0] % 7 + i]", "[request['seeds'][0] % 7 + i")
    (result,) = batch_is_single(asked(python(tmp_path, body)))
    assert result.status is Status.REFUTED
    assert detail in result.detail


def test_a_draw_without_an_output_fails_alone_in_its_batch(tmp_path: Path) -> None:
    body = (
        "n = request.get('seeds'); one = [[1.0, 0.0], [0.0, 1.0]]; "
        "reply = {'outputs': [{'error': 'no'}] + [one] * (len(n) - 1)} if n else {'output': one, 'batch': 10}"
    )
    draws = draw(asked(python(tmp_path, body)), X, 50, "one fails")
    assert (len(draws.outputs), draws.failures) == (45, {"exception: an error in place of an output": 5})


@pytest.mark.parametrize("batch", ["0", "-3", "2.5", "'many'", "None", "True"])
def test_a_batch_that_is_no_whole_number_is_none(tmp_path: Path, batch: str) -> None:
    setting = asked(python(tmp_path, f"reply = {{'output': 1.0, 'batch': {batch}}}"))
    assert isinstance(setting.source, TargetReference)
    assert setting.source.batch == 0
    assert batch_is_single(setting) == []


STUMBLES = {
    "[[1.0, 0.0], [0.0, 1.0]]": 'write {"output": …} around it',
    '{"error": null}': 'leave "error" out, or say in words',
    '{"output": null}': '"output" is null',
    '{"outputs": [1.0]}': "",
    '{"result": [[1.0]]}': 'the key must be "output" or "error", and is "result"',
    '{"output": [[nan, 0.0]]}': "nan and inf are no JSON numbers",
    '{"output": [[-inf, 0.0]]}': "nan and inf are no JSON numbers",
    "{'output': [[1.0]]}": "JSON has double quotes",
    '{"output": [[1.0, 2.0,]]}': "a comma stands before a closing bracket",
    '{"output": [[.5]]}': "a digit on both sides of its point",
    '{"output": [[5.]]}': "a digit on both sides of its point",
    '{"output": [[+5.0]]}': "no plus sign",
    "{": "a reply must stand on one line",
    '{"output": [[1.0, 2.0],': "a reply must stand on one line",
    "": "the line is empty",
    "loading the model": "",
}


@pytest.mark.parametrize("reply", STUMBLES)
def test_a_reply_that_is_wrong_is_told_in_words(reply: str) -> None:
    assert STUMBLES[reply] in hint(reply)
    assert bool(hint(reply)) == (reply != "loading the model")


WRITES = {
    "not flushed": ("print('{\"output\": 1.0}')", "flush standard output after every line"),
    "no newline": ("sys.stdout.write('{\"output\": 1.0}'); sys.stdout.flush()", "there is no newline at the end"),
    "null error": ("print('{\"error\": null}', flush=True)", "leave \"error\" out"),
    "bare": ("print('[[1.0]]', flush=True)", 'write {"output": …} around it'),
    "another protocol": ("print('{\"output\": 1, \"protocol\": 2}', flush=True)", "a protocol other than 1"),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", WRITES)
def test_where_people_stumble_the_audit_says_why(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The test fails if a common mistake in a user's program leads to an unclear message."""
    statement, message = WRITES[name]
    (tmp_path / "target.py").write_text(f"import sys\nfor line in sys.stdin:\n    {statement}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(START_VARIABLE, "1")
    spec = f"exec:{shlex.quote(sys.executable)} -I target.py"
    assert run(["audit", spec, "--epsilon", "1", "--jobs", "1", "--time-limit", "0.3"]) == 3
    told = capsys.readouterr().err
    assert message in told.splitlines()[-1]
    assert told.count("\n") <= 2  # the message must say at once which time limit stopped a draw


@pytest.mark.thorough
def test_a_slow_process_is_not_told_to_flush(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(START_VARIABLE, "1")
    (tmp_path / "target.py").write_text("import sys, time\nfor line in sys.stdin: time.sleep(60)\n")
    source = TargetReference(f"exec:{shlex.quote(sys.executable)} -I target.py", str(tmp_path))
    setting = Setting(source, {"epsilon": 1.0}, SECOND_MOMENT, 0, seconds=0.2)
    with pytest.raises(CannotRun, match=r"no reply in 1.2 s from its start"):
        called(source, setting, None)


def test_seeds_are_asked_one_by_one_where_a_whole_batch_fails(tmp_path: Path) -> None:
    body = (
        "one = [[1.0, 0.0], [0.0, 1.0]]; "
        "reply = {'error': 'no memory'} if 'seeds' in request else {'output': one, 'batch': 10}"
    )
    draws = draw(asked(python(tmp_path, body)), X, 50, "batches fail")
    assert (len(draws.outputs), draws.failed, draws.again) == (50, 0, True)


def test_a_call_is_not_for_a_process(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "exec:true", "--call", "f(x)", "--epsilon", "1"]) == 2
    assert "only for a target module:function" in capsys.readouterr().err


def test_what_cannot_be_started_cannot_be_run() -> None:
    with pytest.raises(CannotRun, match="cannot be started"):
        audit("exec:./no-such-program", epsilon=1.0)
