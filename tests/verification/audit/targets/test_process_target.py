"""Test targets that are separate programs: the example in the documentation, and programs that misbehave."""

import json
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from covassay.reference.mechanisms.output import OUTPUTS, SECOND_MOMENT
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.contract import Form, require_answer
from covassay.verification.audit.engine.finding import Status, Verdict
from covassay.verification.audit.engine.sampling import Setting, draw
from covassay.verification.audit.questions.contract.new_seed_new_output import new_seed
from covassay.verification.audit.questions.contract.same_seed_same_output import same_seed
from covassay.verification.audit.targets.process_target import SEEDS, START_VARIABLE
from covassay.verification.audit.targets.target import CannotRun, Failure, TargetReference, call
from covassay.verification.cli.main import run

PAGE = Path(__file__).resolve().parents[4] / "verification" / "audit" / "README.md"
X = np.array([[0.6, 0.8], [1.0, 0.0]])
LOOP = """
import json, os, random, sys, time

def answer(request):
    {answer}

{first}
for line in sys.stdin:
    print(answer(json.loads(line)), flush=True)
"""
ECHO = "return json.dumps({'output': request['x']})"


def example() -> str:
    """Return the source code of the example program on the page of the audit."""
    text = PAGE.read_text(encoding="utf-8").partition("      # release.py\n")[2].partition("      $ covassay")[0]
    return "".join(line.removeprefix("      ") for line in text.splitlines(keepends=True))


def source(folder: Path, code: str) -> TargetReference:
    """Return a target that runs a script. The file name of the script has a space, which must be quoted."""
    (folder / "my target.py").write_text(code)
    return TargetReference(f"exec:{shlex.quote(sys.executable)} -I 'my target.py'", str(folder))


def setting(
    folder: Path, answer: str, first: str = "", *, released: str = "matrix", seconds: float = 10.0, jobs: int = 1
) -> Setting:
    target = source(folder, LOOP.format(answer=answer, first=first))
    return Setting(target, {"epsilon": 1.0}, OUTPUTS[released], seed=0, seconds=seconds, jobs=jobs)


@pytest.mark.thorough
def test_the_example_of_the_readme_is_not_refuted_and_its_replay_command_is_quoted(tmp_path: Path) -> None:
    target = source(tmp_path, example())
    report = audit(target, epsilon=1.0, mechanism="entrywise-laplace", samples=150)
    assert report.verdict is Verdict.NOT_REFUTED, [(c.label, c.p_value, c.detail) for c in report.refuted]
    assert shlex.split(report.replay)[:3] == ["covassay", "audit", target.spec]


@pytest.mark.slow
def test_the_example_with_a_tenth_of_its_noise_is_refuted(tmp_path: Path) -> None:
    assert "scale = 2 * d" in example()
    target = source(tmp_path, example().replace("scale = 2 * d", "scale = 0.2 * d"))
    report = audit(target, epsilon=1.0, mechanism="entrywise-laplace", samples=300)
    assert report.verdict is Verdict.REFUTED
    assert {check.kind for check in report.refuted} == {"law", "privacy"}


@pytest.mark.thorough
def test_draws_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    one, two = (
        draw(Setting(source(tmp_path, example()), {"epsilon": 1.0}, SECOND_MOMENT, 0, jobs, 10.0), X, 120, "workers")
        for jobs in (1, 2)
    )
    assert len(one.outputs) == 120
    assert np.array_equal(one.outputs, two.outputs)


def test_a_request_has_the_data_the_budget_and_a_seed_to_the_last_digit(tmp_path: Path) -> None:
    target = source(tmp_path, LOOP.format(answer=ECHO, first="").replace("answer(json", "log(line) or answer(json"))
    script = tmp_path / "my target.py"
    script.write_text(script.read_text().replace("\ndef answer", "def log(x): open('log', 'a').write(x)\n\ndef answer"))
    budget = {"epsilon": 0.1, "delta": 1e-6}
    x = np.random.default_rng(1).standard_normal((2, 2))
    rng = np.random.default_rng(2)
    outputs = [call(target.load(), x, budget, rng, 10.0)[0] for _ in range(3)]
    requests = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert all(np.array_equal(output, x) for output in outputs)
    assert all(list(r) == ["x", "epsilon", "delta", "seed", "protocol"] and r["delta"] == 1e-6 for r in requests)
    assert len({r["seed"] for r in requests}) == 3
    assert all(type(r["seed"]) is int and 0 <= r["seed"] < SEEDS for r in requests)


def test_one_process_answers_all_requests_of_a_worker(tmp_path: Path) -> None:
    draws = draw(setting(tmp_path, "return json.dumps({'output': os.getpid()})", released="number"), X, 120, "kept")
    assert len(draws.outputs) == 120
    assert len(set(draws.outputs)) == 1


def test_whole_numbers_of_any_length_are_numbers(tmp_path: Path) -> None:
    """The test fails if a long whole number in a reply is rejected. JavaScript, for example, writes 1e20 as
    100000000000000000000.
    """
    draws = draw(setting(tmp_path, "return json.dumps({'output': 10**20})", released="number"), X, 1, "long")
    assert draws.outputs.tolist() == [1e20]


ENDED = "exception: the process ended without a reply, exit status"
NO_REPLY = "malformed: a line on standard output that is no reply (logs go to standard error)"
MISBEHAVING = {
    "dies at once": (ECHO, "sys.exit('no model')", f"{ENDED} 1", "'no model'"),
    "dies with an error": (
        ECHO, "sys.stderr.write('Error: no model\\n\\nNode.js v20\\n'); sys.exit(1)", f"{ENDED} 1", "'Error: no model'"
    ),
    "dies when asked": ("os.kill(os.getpid(), 9)", "", f"{ENDED} -9", "nothing on standard error"),
    "dies in the middle of a line": ("print('{', end=''); sys.exit()", "", f"{ENDED} 0", ""),
    "closes its output": ("os.close(1); time.sleep(60)", "", f"{ENDED.rpartition(',')[0]}, or closed its ", ""),
    "log on standard output": (ECHO, "print('loading the model', flush=True)", NO_REPLY, "'loading the model'"),
    "garbage": ("return chr(0) * 9", "", NO_REPLY, ""),
    "not unicode": ("sys.stdout.buffer.write(bytes([255, 10])); return ''", "", NO_REPLY, ""),
    "nested too deeply": ("return '[' * 10**5", "", NO_REPLY, "'[[["),
    "no object": ("return '[[1.0, 0.0], [0.0, 1.0]]'", "", NO_REPLY, "'[[1.0, 0.0]"),
    "a line without end": ("while True: sys.stdout.write('x' * 65536)", "", NO_REPLY, "'xxx"),
    "error": ("return json.dumps({'error': 'no budget'})", "", "exception: an error in place of an output", "'no bud"),
    "NaN": ("return json.dumps({'output': [[float('nan'), 0], [0, 1]]})", "", "malformed: an entry that is not", None),
    "infinity": ("return '{\"output\": [[1e999, 0], [0, 1]]}'", "", "malformed: an entry that is not finite", None),
    "wrong shape": ("return json.dumps({'output': [1, 2, 3]})", "", "malformed: shape (3,) in", "list of shape (3,)"),
    "ragged": ("return json.dumps({'output': [[1, 2], [3]]})", "", "malformed: not an array", "list with 0: "),
    "null": ("return json.dumps({'output': [[None, 0], [0, 1]]})", "", "malformed: entries of", "list with 0: "),
    "text": ("return json.dumps({'output': [['1', '0'], ['0', '1']]})", "", "malformed: entries of", "list with 0: "),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", MISBEHAVING)
def test_a_process_that_misbehaves_is_an_outcome(tmp_path: Path, name: str) -> None:
    """The test fails if a program that misbehaves crashes the audit, or if the error message is unclear. If the
    expected message in `MISBEHAVING` is None, the program replies with an output. The audit must then start, and later
    checks examine the output.
    """
    answer, first, failure, shown = MISBEHAVING[name]
    target = setting(tmp_path, answer, first)
    draws = draw(target, X, 2, "misbehaving")
    assert list(draws.failures.values()) == [2]
    assert next(iter(draws.failures)).startswith(failure)
    if shown is None:
        require_answer(target)
    else:
        with pytest.raises(CannotRun) as raised:
            require_answer(target)
        assert failure.partition(": ")[2] in str(raised.value) or "it returned" in str(raised.value)
        assert shown in str(raised.value)
        assert "--call" not in str(raised.value)  # the option --call does not apply to programs


@pytest.mark.thorough
def test_a_process_that_hangs_is_killed_and_the_next_request_has_a_reply_of_its_own(tmp_path: Path) -> None:
    target = setting(tmp_path, "time.sleep(60 * (request['epsilon'] == 2)); " + ECHO).target
    rng = np.random.default_rng(0)
    start = time.monotonic()
    outputs = [call(target, c * X, {"epsilon": e}, rng, 2.0)[0] for c, e in ((1, 1.0), (2, 2.0), (3, 1.0), (4, 1.0))]
    assert time.monotonic() - start < 30
    assert isinstance(outputs[1], Failure)
    assert outputs[1].kind == "time-out"
    assert all(np.array_equal(outputs[i], (i + 1) * X) for i in (0, 2, 3))


def test_a_time_limit_that_falls_into_a_start_loses_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if a program is started and never stopped. The time limit of the program ends while the program
    is starting. On a busy machine the time limit may end before the start, so the request is repeated.
    """
    started: list[subprocess.Popen[bytes]] = []

    class SlowToStart(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            started.append(self)
            time.sleep(0.1)

    monkeypatch.setattr(subprocess, "Popen", SlowToStart)
    monkeypatch.setenv(START_VARIABLE, "0")
    target = setting(tmp_path, "time.sleep(60)").target
    for _ in range(30):
        failure, _ = call(target, X, {"epsilon": 1.0}, np.random.default_rng(0), 0.03)
        assert isinstance(failure, Failure)
        assert failure.kind == "time-out"
        if len(started) == 3:
            break
    assert len(started) == 3
    assert all(process.returncode is not None for process in started)


@pytest.mark.thorough
def test_a_process_that_never_answers_cannot_be_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(START_VARIABLE, "1")
    target = setting(tmp_path, "time.sleep(60)").source
    with pytest.raises(CannotRun, match=r"no reply in 1.02 s from its start"):
        audit(target, epsilon=1.0, mechanism="nuclear-laplace", samples=100, time_limit=0.02)


def test_a_process_that_does_not_read_its_input_is_a_time_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the audit waits forever to write a request. The program does not read the request. The request
    is larger than the buffer of the pipe, so that writing it does not end.
    """
    monkeypatch.setenv(START_VARIABLE, "0")
    draws = draw(setting(tmp_path, ECHO, "time.sleep(60)", seconds=0.2), np.ones((20_000, 2)), 1, "deaf")
    assert draws.failures == {"time-out: no output after 0.2 s": 1}


def test_a_process_that_dies_now_and_then_is_started_again(tmp_path: Path) -> None:
    draws = draw(setting(tmp_path, f"request['seed'] % 4 or sys.exit(3); {ECHO}"), X, 40, "mortal")
    assert len(draws.outputs) + draws.failures[f"{ENDED} 3"] == 40
    assert 0 < draws.failed < 30


@pytest.mark.parametrize(
    ("answer", "same", "new"),
    [
        ("return json.dumps({'output': random.Random(request['seed']).random()})", "NOT_REFUTED", "NOT_REFUTED"),
        ("return json.dumps({'output': random.random()})", "REFUTED", "NOT_REFUTED"),
        ("return json.dumps({'output': 0.5})", "NOT_REFUTED", "REFUTED"),
    ],
    ids=["seeded", "seed-ignored", "no-noise"],
)
def test_the_seed_stands_for_the_generator(tmp_path: Path, answer: str, same: str, new: str) -> None:
    """The test fails if the audit does not notice that a program ignores its seed, or that it draws no noise."""
    target = setting(tmp_path, answer, released="number")
    assert (same_seed(target).status, new_seed(target, Form()).status) == (Status[same], Status[new])


def test_data_that_json_cannot_carry_are_not_sent(tmp_path: Path) -> None:
    target = setting(tmp_path, "return json.dumps({'output': 1.0})").target
    output, _ = call(target, np.array([[np.nan]]), {"epsilon": 1.0}, np.random.default_rng(0), 10.0)
    assert output == Failure("exception", "ValueError")
    assert "NaN" in target.notes[0]


@pytest.mark.parametrize(
    ("spec", "status", "message"),
    [
        ("exec:", 2, "must be module:function, file.py:function, exec:COMMAND or ADAPTER:NAME"),
        ("exec: ", 2, "must be exec:COMMAND"),
        ("exec:python3 'release.py", 2, "No closing quotation"),
        ("exec:no-such-command --fast", 3, "the process cannot be started: [Errno 2]"),
    ],
)
def test_a_command_that_cannot_be_run_is_one_line(
    spec: str, status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["audit", spec, "--epsilon", "1", "--jobs", "1"]) == status
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


def test_the_command_is_not_given_to_a_shell(tmp_path: Path) -> None:
    code = LOOP.format(answer="return json.dumps({'error': ' '.join(sys.argv[1:])})", first="")
    target = source(tmp_path, code)
    target = TargetReference(f"{target.spec} $HOME '*' > file", target.directory)
    with pytest.raises(CannotRun, match=r"an error in place of an output: '\$HOME \* > file'"):
        audit(target, epsilon=1.0)
