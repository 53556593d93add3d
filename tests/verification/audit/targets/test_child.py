"""Test programs that run as targets. All processes that a program starts must end with the program, the stored error
output is limited, and every wait has a time limit.
"""

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from covassay.reference.domain import Box
from covassay.reference.errors import InvalidInput
from covassay.reference.mechanisms.output import SECOND_MOMENT
from covassay.verification.audit.api import audit
from covassay.verification.audit.engine.called import called
from covassay.verification.audit.engine.sampling import Setting
from covassay.verification.audit.targets import child, deadline
from covassay.verification.audit.targets.calling import CannotRun
from covassay.verification.audit.targets.child import Child, OutOfStep
from covassay.verification.audit.targets.process_target import START_VARIABLE, Process, start_limit
from covassay.verification.audit.targets.target import Failure, TargetReference, call
from covassay.verification.cli import audit_process

COMMAND = Path(sys.executable).with_name("covassay")
X = np.array([[0.6, 0.8], [1.0, 0.0]])
FIRST = "import json, os, signal, subprocess, sys, time\n"
REPLY = "print(json.dumps({'output': json.loads(line)['x']}), flush=True)"
SLEEPER = "n = subprocess.DEVNULL; subprocess.Popen(['sleep', '600'], stdin=n, stdout=n, stderr=n)"


def script(folder: Path, body: str, first: str = "") -> TargetReference:
    """Return a target that runs `first` once, and `body` for every request."""
    (folder / "target.py").write_text(f"{FIRST}{first}\nfor line in sys.stdin:\n    {body}\n")
    return TargetReference(f"exec:{shlex.quote(sys.executable)} -I target.py", str(folder))


def process(folder: Path, body: str, first: str = "") -> Process:
    source = script(folder, body, first)
    return Process(source.command, source.directory)


def members(group: int) -> list[int]:
    """Return the ids of the living processes in a process group."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = entry.read_text().rpartition(")")[2].split()
            if int(words[2]) == group and words[0] != "Z":
                found.append(int(entry.parent.name))
    return found


def gone(group: int) -> bool:
    """Return whether all processes of a group have ended within ten seconds."""
    end = time.monotonic() + 10
    while members(group) and time.monotonic() < end:
        time.sleep(0.02)
    return not members(group)


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")


# THE GROUP


@needs_proc
@pytest.mark.parametrize(
    ("ends", "body"),
    [
        ("the leader goes on", REPLY),
        ("the leader has ended", f"{REPLY}; os._exit(0)"),
        ("the leader was killed", f"{REPLY}; os.kill(os.getpid(), signal.SIGKILL)"),
    ],
)
@pytest.mark.parametrize("how", [Child.stop, Child.finish])
def test_every_process_of_the_group_ends(ends: str, body: str, how: Callable[[Child], None], tmp_path: Path) -> None:
    """The test fails if a process that the target started goes on after the target was stopped."""
    asked = process(tmp_path, body, SLEEPER)
    asked.ask({"x": [[1.0]]}, 10**6)
    assert asked._running is not None
    group = asked._running.pid
    time.sleep(0.2)  # the process needs this time to end
    assert len(members(group)) == (2 if ends == "the leader goes on" else 1)
    start = time.monotonic()
    how(asked)
    assert gone(group)
    assert time.monotonic() - start < 5


@needs_proc
def test_the_group_ends_when_the_leader_ends_instead_of_replying(tmp_path: Path) -> None:
    target = script(tmp_path, "sys.exit(3)", f"{SLEEPER}; open('group', 'w').write(str(os.getpid()))")
    output, _ = call(target.load(), X, {"epsilon": 1.0}, np.random.default_rng(0), 10.0)
    assert output == Failure("exception", "the process ended without a reply, exit status 3")
    assert gone(int((tmp_path / "group").read_text()))


@needs_proc
@pytest.mark.thorough
@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_group_ends_with_the_run_that_is_killed(ended_by: signal.Signals, tmp_path: Path) -> None:
    """The test fails if a process of the target survives after the audit was killed. The target sleeps, so it does not
    notice that its input has ended.
    """
    source = script(tmp_path, "time.sleep(600)", f"{SLEEPER}; open('group', 'w').write(str(os.getpid()))")
    arguments = ["audit", source.spec, "--epsilon", "1", "--jobs", "1", "--time-limit", "600"]
    with subprocess.Popen([COMMAND, *arguments], cwd=tmp_path, preexec_fn=_hears) as running:
        try:
            while not (tmp_path / "group").exists() or not (tmp_path / "group").read_text():
                time.sleep(0.05)
            group = int((tmp_path / "group").read_text())
            if ended_by is signal.SIGKILL:  # the signal SIGKILL must go to the child process that runs the audit
                os.kill(_only_child(running.pid), ended_by)
            else:
                running.send_signal(ended_by)
            running.wait(30)
        finally:
            running.kill()
    assert gone(group)


def _hears() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _only_child(parent: int) -> int:
    (found,) = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return int(found)


def test_the_supervisor_knows_the_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A supervising process must stop all targets if the audit is killed. The test fails if the supervising process
    does not know the process groups of the targets.
    """
    monkeypatch.setattr(deadline, "_folder", str(tmp_path))
    asked = process(tmp_path, REPLY)
    asked.ask({"x": [[1.0]]}, 10**6)
    assert asked._running is not None
    assert deadline.groups(tmp_path) == [asked._running.pid]
    asked.stop()
    assert deadline.groups(tmp_path) == []


@needs_proc
def test_the_supervisor_ends_groups_that_nobody_has_ended(tmp_path: Path) -> None:
    done = subprocess.Popen(["true"])
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as left:
        (tmp_path / f"{left.pid}.group").touch()
        with audit_process._ended(done, tmp_path):
            pass
        assert left.wait(10) == -signal.SIGKILL


# STANDARD ERROR


def test_standard_error_is_bounded_and_its_end_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the error output of a program is stored without a limit, or if the program has to wait while
    it writes this output.
    """
    monkeypatch.setattr(child, "LOG_KEPT", 10_000)
    loud = f"[sys.stderr.write('x' * 99_999 + chr(10)) for _ in range(200)]; sys.stderr.write('the end\\n'); {REPLY}"
    asked = process(tmp_path, loud)
    assert asked.ask({"x": [[2.0]]}, 10**6)["output"] == [[2.0]]
    assert len(asked._log) <= 2 * 10_000 + child.PART
    assert asked.last_words() == "'the end'"
    asked.stop()


def test_a_program_that_only_logs_passes_the_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(START_VARIABLE, "0.5")
    target = script(tmp_path, "while True: sys.stderr.write('x' * 9999)").load()
    start = time.monotonic()
    output, _ = call(target, X, {"epsilon": 1.0}, np.random.default_rng(0), 0.5)
    assert isinstance(output, Failure)
    assert output.kind == "time-out"
    assert time.monotonic() - start < 10


# SURPLUS REPLIES

SURPLUS = {
    "two replies": (f"{REPLY}; {REPLY}", '{"output"'),
    "two slow replies": (f"time.sleep(0.03); {REPLY}; time.sleep(0.03); {REPLY}", '{"output"'),
    "a line of a log": (f"{REPLY}; print('done', flush=True)", "'done'"),
    "an empty line": (f"{REPLY}; print(flush=True)", "an empty line"),
    "a part of a line": (f"{REPLY}; print('more', end='', flush=True)", "'more'"),
    "a reply too late": (f"{REPLY}; time.sleep(0.05); print('late', flush=True)", "'late'"),
}


@pytest.mark.parametrize("name", SURPLUS)
def test_a_second_line_ends_the_audit_with_its_cause(name: str, tmp_path: Path) -> None:
    body, told = SURPLUS[name]
    with pytest.raises(OutOfStep) as raised:
        audit(script(tmp_path, body), epsilon=1.0, samples=100)
    assert "a request must be answered by one line, but there was more: " in str(raised.value)
    assert told in str(raised.value)


@pytest.mark.thorough
def test_a_second_line_is_exit_status_3(tmp_path: Path) -> None:
    """A reply must be one line. The test fails if the audit ignores an unexpected second line. The exit status must be
    3 even if only few replies have a second line.
    """
    body = (
        "d = len(json.loads(line)['x'][0]); v = json.loads(line)['seed'] % 997; "
        "print(json.dumps({'output': [[v] * d] * d}), flush=True); v % 40 == 0 and print('tick', flush=True)"
    )
    source = script(tmp_path, body)
    done = subprocess.run(
        [COMMAND, "audit", source.spec, "--epsilon", "1", "--jobs", "2", "--samples", "300"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 3, done.stdout
    assert "a request must be answered by one line, but there was more: " in done.stderr
    assert "'tick'" in done.stderr
    assert "INCONCLUSIVE" in done.stdout


def test_line_ends_of_windows_are_no_second_line(tmp_path: Path) -> None:
    body = "sys.stdout.write(json.dumps({'output': json.loads(line)['x']}) + '\\r\\n'); sys.stdout.flush()"
    target = script(tmp_path, body).load()
    rng = np.random.default_rng(0)
    for _ in range(5):
        output, _ = call(target, X, {"epsilon": 1.0}, rng, 10.0)
        assert np.array_equal(output, X)


# LIMITS


def test_the_first_reply_has_the_time_to_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = script(tmp_path, REPLY, "time.sleep(1)").load()
    rng = np.random.default_rng(0)
    monkeypatch.setenv(START_VARIABLE, "0")
    output, _ = call(target, X, {"epsilon": 1.0}, rng, 0.3)
    assert output == Failure("time-out", "no output after 0.3 s")
    monkeypatch.setenv(START_VARIABLE, "20")
    for _ in range(2):
        output, _ = call(target, X, {"epsilon": 1.0}, rng, 0.3)
        assert np.array_equal(output, X)


def test_a_later_start_gets_little_more_than_the_first_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if the long time limit for the start of a program also applies to later draws that hang."""
    target = script(tmp_path, f"time.sleep(60 * (json.loads(line)['epsilon'] == 2)); {REPLY}").load()
    monkeypatch.setenv(START_VARIABLE, "30")
    rng = np.random.default_rng(0)
    outputs = [call(target, X, {"epsilon": e}, rng, 0.5) for e in (1.0, 2.0, 2.0, 1.0)]
    kinds = [output.kind if isinstance(output, Failure) else "" for output, _ in outputs]
    assert kinds == ["", "time-out", "time-out", ""]
    assert outputs[2][1] < 15


@pytest.mark.parametrize(
    "first",
    [
        "time.sleep(600)",
        "os.close(0); time.sleep(600)",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)",
    ],
)
@pytest.mark.parametrize("d", [2, 200])
def test_a_process_that_never_reads_cannot_be_run(
    first: str, d: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test fails if an audit waits forever for a program that does not read its input. With 200 columns, a request
    is larger than the buffer of a pipe.
    """
    monkeypatch.setenv(START_VARIABLE, "0.4")
    box = Box.of([(0, 1)] * d)
    setting = Setting(script(tmp_path, REPLY, first), {"epsilon": 1.0}, SECOND_MOMENT, 0, seconds=0.2, box=box)
    start = time.monotonic()
    with pytest.raises(CannotRun, match=r"no reply in 0.6 s from its start \(COVASSAY_START_LIMIT and --time-limit\)"):
        called(setting.source, setting, None)
    assert time.monotonic() - start < 10


def test_a_reply_to_what_was_never_read_is_one(tmp_path: Path) -> None:
    """The test fails if a reply is lost because its process has ended. A program may answer and end without reading
    the whole request.
    """
    (tmp_path / "once.py").write_text("print('{\"output\": 1.0}', flush=True)\n")
    target = TargetReference(f"exec:{shlex.quote(sys.executable)} -I once.py", str(tmp_path)).load()
    rng = np.random.default_rng(0)
    outputs = [call(target, np.ones((20_000, 2)), {"epsilon": 1.0}, rng, 10.0)[0] for _ in range(3)]
    assert outputs[0] == 1.0


@pytest.mark.parametrize("text", ["x", "-1", "nan", "inf"])
def test_a_limit_that_is_no_number_of_seconds_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(START_VARIABLE, text)
    with pytest.raises(InvalidInput, match=r"COVASSAY_START_LIMIT = .*: must be a number of seconds, 0 or more"):
        start_limit()


def test_a_process_that_forks_answers_once(tmp_path: Path) -> None:
    """The test fails if a forked copy of a program answers a second time, or survives when the program is stopped."""
    asked = process(tmp_path, REPLY, "os.fork() or time.sleep(600)")
    assert asked.ask({"x": [[3.0]]}, 10**6)["output"] == [[3.0]]
    assert asked._running is not None
    group = asked._running.pid
    asked.finish()
    assert gone(group)


def test_large_requests_and_replies_pass(tmp_path: Path) -> None:
    """The test fails if requests and replies that are larger than the buffer of a pipe cause a deadlock."""
    asked = process(tmp_path, REPLY)
    rows: Any = np.random.default_rng(0).standard_normal((2000, 30)).tolist()
    for _ in range(3):
        assert asked.ask({"x": rows}, 10**8)["output"] == rows
    asked.finish()
