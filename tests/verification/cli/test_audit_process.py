"""Test that `covassay audit` ends with exit status 0 only if the audit was completed, and that its reports are
well-formed.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from covassay.reference.privacy import PureDP
from covassay.verification.audit.engine.finding import Finding, Status, Verdict
from covassay.verification.audit.options import AuditOptions
from covassay.verification.audit.reports.json_report import as_json, schema
from covassay.verification.audit.reports.undecided import undecided
from covassay.verification.audit.targets.target import TargetReference
from covassay.verification.cli import audit as audit_command
from covassay.verification.cli import audit_process
from covassay.verification.cli.audit_process import INCONCLUSIVE, INTERNAL_ERROR
from covassay.verification.cli.main import run

COMMAND = Path(sys.executable).with_name("covassay")
START = "import multiprocessing, os, signal, sys, threading, time\n"
CLIPPED = "x = x / (x**2).sum(1, keepdims=True).clip(1) ** 0.5"
NOISE = "rng.laplace(size=(x.shape[1],) * 2, scale=20 / (len(x) * epsilon))"
ANSWER = f"{CLIPPED}; return x.T @ x / len(x) + {NOISE}"
WRITTEN = ["--junit", "o.xml", "--sarif", "o.sarif", "--html", "o.html", "--badge", "b.json"]
# with fewer samples, ε = 1 could not be refuted, and the audit would be inconclusive
SMALL = ["--epsilon", "1", "--samples", "150", "--jobs", "1"]


def module(folder: Path, body: str, first: str = "") -> None:
    """Write a module with a function that runs the given body and then returns a correct answer."""
    (folder / "hostile.py").write_text(
        f"{START}{first}\n\ndef f(x, *, epsilon, rng):\n    {body}\n    {ANSWER}\n", encoding="utf-8"
    )


def covassay(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "audit", *arguments], cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False,
        env={**os.environ, **environment}, timeout=120,
    )  # fmt: skip


DEADLY = {
    "os._exit in a draw": ("os._exit(0)", "", "exit status 0 before"),
    "killed by a signal": ("os.kill(os.getpid(), signal.SIGKILL)", "", "signal 9 (SIGKILL)"),
    "os._exit on import": ("", "os._exit(0)", "exit status 0 before"),
    "sys.exit on import": ("", "sys.exit(0)", "importing hostile raised SystemExit"),
    "interrupts itself": ("raise KeyboardInterrupt", "", "exit status 130 before"),
    "exits from a thread": ("threading.Thread(target=os._exit, args=(0,)).start(); time.sleep(9)", "", "exit status 0"),
}


QUICK = ("os._exit in a draw", "os._exit on import")


@pytest.mark.thorough
@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in DEADLY])
def test_a_target_that_ends_the_process_is_inconclusive(name: str, tmp_path: Path) -> None:
    """The test fails if the audit ends with exit status 0 although the target has ended its process. Every report must
    say how the process ended.
    """
    body, first, ending = DEADLY[name]
    module(tmp_path, body, first)
    done = covassay(tmp_path, "hostile:f", *SMALL, "--json", *WRITTEN)
    assert done.returncode == INCONCLUSIVE, done.stderr
    report = json.loads(done.stdout)
    assert (report["verdict"], report["exit_status"]) == ("INCONCLUSIVE", INCONCLUSIVE)
    assert ending in report["checks"][0]["detail"]
    suite = ElementTree.fromstring((tmp_path / "o.xml").read_text(encoding="utf-8"))
    assert (suite.attrib["failures"], suite.attrib["skipped"]) == ("0", "1")
    require_undecided(tmp_path, INCONCLUSIVE, ending)


def require_undecided(folder: Path, status: int, ending: str) -> None:
    """Assert that the SARIF log, the HTML page and the badge say that the audit could not decide, and why."""
    run = json.loads((folder / "o.sarif").read_text(encoding="utf-8"))["runs"][0]
    (invocation,) = run["invocations"]
    assert (invocation["exitCode"], invocation["executionSuccessful"]) == (status, False)
    # the audit found these results before the interruption
    assert all(result["level"] == "note" for result in run["results"])
    (told,) = invocation["toolExecutionNotifications"]
    assert ending in told["message"]["text"]
    page = (folder / "o.html").read_text(encoding="utf-8")
    assert "<h1>INCONCLUSIVE</h1>" in page
    assert ending in page
    assert json.loads((folder / "b.json").read_text(encoding="utf-8"))["message"] == "inconclusive"


@pytest.mark.slow
def test_what_a_target_prints_and_starts_lands_in_no_report(tmp_path: Path) -> None:
    """The test fails if output of the target, a thread or a forked process disturbs or delays the report."""
    module(
        tmp_path,
        "print('{'); os.write(1, b'<'); sys.stdin.read(); LATE or LATE.append([os.fork(), "
        "threading.Thread(target=time.sleep, args=(60,)).start()])",
        "LATE = []",
    )
    start = time.monotonic()
    done = covassay(tmp_path, "hostile:f", *SMALL, "--json")
    assert json.loads(done.stdout)["verdict"] == "NOT REFUTED"
    assert done.returncode == 0
    assert "{" in done.stderr
    assert time.monotonic() - start < 60


def printed(parts: list[bytes], capsys: pytest.CaptureFixture[str], left_open: bool = False) -> str:
    """Return what a terminal shows of the given bytes."""
    read, write = os.pipe()
    with os.fdopen(read, "rb", buffering=0) as pipe:
        with audit_process._shown(pipe):
            for part in parts:
                os.write(write, part)
            if not left_open:
                os.close(write)
        if left_open:
            os.close(write)
    return capsys.readouterr().err


def test_what_is_printed_is_shown_up_to_a_limit(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed([], capsys) == ""
    assert printed([b"one\n", b"two\r\n"], capsys) == "one\ntwo\r\n"
    letter = "é".encode()
    assert printed([letter[:1], letter[1:], b"\xff"], capsys) == "é\ufffd"
    exactly = b"x" * audit_process.PRINTED
    assert printed([exactly], capsys) == exactly.decode()
    shown = printed([exactly, b"y" * 1500], capsys)
    assert shown == f"{exactly.decode()}\ncovassay: the target printed 1 500 bytes more; the first 20000 are shown\n"


def test_a_process_that_is_left_behind_does_not_keep_the_audit(capsys: pytest.CaptureFixture[str]) -> None:
    start = time.monotonic()
    assert printed([b"still here"], capsys, left_open=True) == "still here"
    assert time.monotonic() - start < 5


def test_on_a_terminal_it_is_shown_at_the_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read, write = os.pipe()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with os.fdopen(read, "rb", buffering=0) as pipe, audit_process._shown(pipe):
        os.write(write, b"now")
        os.close(write)
        time.sleep(0.3)
        assert capsys.readouterr().err == ""
    assert capsys.readouterr().err == "now"


@pytest.mark.thorough
def test_a_target_that_prints_much_is_cut_short_on_every_stream(tmp_path: Path) -> None:
    module(tmp_path, "print('p' * 9999); os.write(2, b'w' * 9999); sys.stderr.write('e' * 9999)")
    done = covassay(tmp_path, "hostile:f", *SMALL, "--quiet")
    assert (done.returncode, done.stdout) == (0, "NOT REFUTED\n")
    shown, _, more = done.stderr.partition("\ncovassay: the target printed ")
    assert len(shown) == audit_process.PRINTED
    assert "bytes more; the first 20000 are shown" in more


@pytest.mark.slow
def test_a_worker_that_is_killed_is_inconclusive(tmp_path: Path) -> None:
    """The test fails if an audit gives a verdict although one of its workers was killed."""
    module(tmp_path, "multiprocessing.parent_process() and os._exit(0); time.sleep(0.004)")
    done = covassay(tmp_path, "hostile:f", *SMALL[:-1], "2")
    assert done.returncode == INCONCLUSIVE
    assert "a worker process that drew from the target ended" in done.stdout.replace("\n    ", " ")
    assert done.stderr.count("\n") == 1


WAITS = {"in Python": "time.sleep(600)", "in C, with the lock": "ctypes.PyDLL(None).sleep(600)"}


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("waits", WAITS)
def test_an_interruption_ends_the_audit_with_what_was_found(tmp_path: Path, number: signal.Signals, waits: str) -> None:
    """The test fails if an interrupted audit loses the findings that it already had."""
    module(tmp_path, f"seen.append(1); len(seen) < 1000 or (open('started', 'w').close(), {WAITS[waits]})", FIRST)
    words = [
        "hostile:f",
        "--epsilon",
        "1",
        "--samples",
        "150",
        "--jobs",
        "1",
        "--time-limit",
        "600",
        "--json",
        *WRITTEN,
    ]
    done = interrupted(tmp_path, words, number)
    assert done.returncode == 128 + number, done.stderr
    report = json.loads(done.stdout)
    jsonschema.validate(report, schema())
    assert (report["verdict"], report["exit_status"]) == ("INCONCLUSIVE", 128 + number)
    first, *others = report["checks"]
    ending = (
        f"{number.name} interrupted the audit before it was complete; the command in this report starts the audit again"
    )
    assert ending in first["detail"]
    assert {"output form", "input unchanged"} <= {check["name"] for check in others}
    assert report["replay"] == "covassay audit hostile:f --epsilon 1 --samples 150 --seed 0 --time-limit 600"
    require_undecided(tmp_path, 128 + number, ending)


@pytest.mark.thorough
def test_an_interrupted_run_with_a_checkpoint_goes_on(tmp_path: Path) -> None:
    module(tmp_path, "seen.append(1); len(seen) < 1000 or (open('started', 'w').close(), time.sleep(600))", FIRST)
    words = ["hostile:f", "--epsilon", "1", "--jobs", "1", "--time-limit", "600", "--samples", "150", *WRITTEN]
    done = interrupted(tmp_path, [*words, "--checkpoint", "run.db"], signal.SIGINT)
    assert done.returncode == 130, done.stderr
    shown = " ".join(done.stdout.replace("\\\n", " ").split())
    assert "INCONCLUSIVE" in shown
    assert "the command in this report continues from the checkpoint" in shown
    assert "hostile:f --epsilon 1 --samples 150 --seed 0 --checkpoint run.db --time-limit 600" in shown
    require_undecided(tmp_path, 130, "SIGINT interrupted the audit before it was complete")
    module(tmp_path, "pass", FIRST)  # the file of the target changes
    again = covassay(tmp_path, *words, "--checkpoint", "run.db")
    assert again.returncode == 2
    assert "it belongs to another run, whose file of the target is" in again.stderr


@pytest.mark.parametrize("words", [["--list"], ["--example", "c"]])
def test_what_is_no_audit_ends_with_a_line(words: list[str]) -> None:
    ended = audit_process._unfinished(words, audit_process.Screen(), "it was ended", 130, {})
    assert (ended.status, ended.out, ended.err, ended.files) == (130, "", "covassay: it was ended\n", {})


def test_a_refutation_before_an_interruption_is_named() -> None:
    """The test fails if the report of an interrupted audit does not name a refutation that it had found."""
    found = Finding("privacy", "event", Status.REFUTED, "too much loss", "zeros", p_value=0.0)
    report = undecided(TargetReference("m:f", "."), PureDP(1.0), AuditOptions(), None, "it was interrupted", [found])
    assert report.verdict is Verdict.INCONCLUSIVE
    assert report.checks[0].detail == "it was interrupted; until then it had refuted privacy / zeros / event"
    assert report.checks[1:] == (found,)
    for status in (INCONCLUSIVE, 130):
        jsonschema.validate({**as_json(report), "exit_status": status}, schema())


FIRST = "import ctypes\nseen = []"


def interrupted(folder: Path, words: list[str], number: signal.Signals) -> subprocess.CompletedProcess[str]:
    """Start an audit, and interrupt it with the given signal as soon as its target has started to wait."""
    with subprocess.Popen(
        [COMMAND, "audit", *words], cwd=folder, preexec_fn=hears_interruptions, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, encoding="utf-8",
    ) as running:  # fmt: skip
        try:
            while not (folder / "started").exists():
                assert running.poll() is None, running.communicate()
                time.sleep(0.05)
            running.send_signal(number)
            out, err = running.communicate(timeout=60)
        finally:
            running.kill()
    return subprocess.CompletedProcess(words, running.returncode, out, err)


def hears_interruptions() -> None:
    """Restore the default handling of SIGINT, which a process that was started in the background ignores."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
def test_a_reader_that_closes_the_pipe_and_a_locale_without_greek_are_no_tracebacks(tmp_path: Path) -> None:
    arguments = f"{shutil.which(str(COMMAND))} audit covassay:nuclear-laplace {' '.join(SMALL)}"
    for reader, printed in (("true", ""), ("cat", "ε = 1")):
        done = subprocess.run(
            ["sh", "-c", f"{arguments} | {reader}"], capture_output=True, encoding="utf-8", check=True,
            env={**os.environ, "LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        )  # fmt: skip
        assert done.stderr == ""
        assert printed in done.stdout


def test_an_internal_error_has_a_status_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise TypeError("found on\ntwo lines")

    monkeypatch.setattr(audit_command, "audited", broken)
    monkeypatch.chdir(tmp_path)
    assert run(["audit", "covassay:bingham", *SMALL, "--json", *WRITTEN]) == INTERNAL_ERROR
    captured = capsys.readouterr()
    report = json.loads(captured.out)
    assert (report["verdict"], report["exit_status"]) == ("INCONCLUSIVE", INTERNAL_ERROR)
    assert captured.err.startswith("covassay: internal error: TypeError: found on two lines")
    assert captured.err.count("\n") == 1
    assert Path("o.xml").exists()
    require_undecided(tmp_path, INTERNAL_ERROR, "covassay itself failed (TypeError)")
    monkeypatch.setenv("COVASSAY_DEBUG", "1")
    assert run(["audit", "covassay:bingham", *SMALL]) == INTERNAL_ERROR
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["covassay:bingham", "--seed", "-1"], "seed = -1: must be at least 0"),
        (["covassay:bingham", "--released", "vector"], "the output of bingham is known"),
        (["math:sqrt", "--mechanism", "bingham", "--released", "vector"], "the output of bingham is known"),
        (
            ["math:sqrt", "--options", "calibration=tight"],
            "options = calibration: options belong to a mechanism; name the mechanism",
        ),
        (["math:sqrt", "--options", "scale=2"], "options = scale: options belong to a mechanism; name the mechanism"),
    ],
)
def test_an_option_that_does_not_apply_is_one_line(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["audit", *arguments]) == 2
    captured = capsys.readouterr()
    assert named in captured.err
    assert (captured.out, captured.err.count("\n")) == ("", 1)


@pytest.mark.thorough
def test_a_report_is_written_to_a_file_while_errors_go_to_a_pipe(tmp_path: Path) -> None:
    module(tmp_path, "pass")
    with (tmp_path / "report.txt").open("w", encoding="utf-8") as out:
        done = subprocess.run(
            [COMMAND, "audit", "hostile:f", *SMALL, "--quiet"],
            cwd=tmp_path, stdout=out, stderr=subprocess.PIPE, text=True, check=False, timeout=120,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "report.txt").read_text(encoding="utf-8") == "NOT REFUTED\n"
