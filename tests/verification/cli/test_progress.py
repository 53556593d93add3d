"""Test that progress bars are shown only on a terminal, and do not change the output or the result of a command."""

import io
import json
import os
import pty
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.progress import Progress

from covassay.verification.audit import api
from covassay.verification.audit.api import audit
from covassay.verification.cli import screen
from covassay.verification.cli.screen import Bar, Left
from covassay.verification.maintain.__main__ import COMMANDS as MAINTAINERS
from covassay.verification.statistics.streams import Watch

COMMAND = Path(sys.executable).with_name("covassay")
AUDIT = ["audit", "covassay:private-trace", "--epsilon", "1", "--samples", "100", "--jobs", "1"]
MAINTAIN = [sys.executable, "-P", "-m", "covassay.verification.maintain"]
SHOWN = r"[0-9]+ draws, [0-9]+ checks"


def command(arguments: Sequence[str]) -> list[str]:
    """Return the beginning of the command line: `covassay`, or the maintainers' program for their commands."""
    return MAINTAIN if arguments[0] in MAINTAINERS else [str(COMMAND)]


def on_a_terminal(arguments: Sequence[str], folder: Path) -> tuple[str, str, int]:
    """Run a command with its standard error on a terminal. Return the standard output, the standard error and the exit
    status of the command.
    """
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    seen = bytearray()

    def read() -> None:
        try:
            while part := os.read(ours, 65536):
                seen.extend(part)
        except OSError:  # there is nothing more to read, because the command ended and closed its terminal
            pass

    with subprocess.Popen(
        [*command(arguments), *arguments], stdout=subprocess.PIPE, stderr=theirs, stdin=subprocess.DEVNULL, cwd=folder,
        env=environment, encoding="utf-8",
    ) as running:  # fmt: skip
        os.close(theirs)
        reader = threading.Thread(target=read)
        reader.start()
        out, _ = running.communicate(timeout=300)
        reader.join()
    os.close(ours)
    return out, seen.decode("utf-8", "replace"), running.returncode


def in_a_pipe(arguments: Sequence[str], folder: Path) -> tuple[str, str, int]:
    done = subprocess.run(
        [*command(arguments), *arguments], capture_output=True, cwd=folder, encoding="utf-8", check=False, timeout=300
    )
    return done.stdout, done.stderr, done.returncode


def without_time(text: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(text)
    del report["seconds"]
    for check in report["checks"]:
        if check["name"] == "running time":
            check["detail"] = check["facts"] = None
    return report


@pytest.mark.slow
def test_an_audit_on_a_terminal_shows_a_bar_and_finds_the_same(tmp_path: Path) -> None:
    out, shown, status = on_a_terminal([*AUDIT, "--json"], tmp_path)
    piped, silent, same = in_a_pipe([*AUDIT, "--json"], tmp_path)
    assert re.search(SHOWN, shown)
    assert re.search("law: |privacy: |bits", shown)
    assert silent == ""
    assert status == same == 0
    assert without_time(out) == without_time(piped)
    assert "\x1b" not in out
    assert shown.rstrip().endswith("\x1b[?25h")  # this sequence makes the cursor visible again


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [["claims", "check", "DN25.Alg2-DP", "DN25.Thm2", "--jobs", "1"],
     ["null-audits", "--audits", "1", "--only", "private-trace"],
     ["controls", "--only", "trace-of-65"]],
)  # fmt: skip
def test_other_long_work_has_a_bar_too(arguments: list[str], tmp_path: Path) -> None:
    """The test fails if a command that takes long has no progress bar, or writes one into a pipe."""
    out, shown, status = on_a_terminal([*arguments, "--json"], tmp_path)
    piped, silent, same = in_a_pipe([*arguments, "--json"], tmp_path)
    assert re.search(r"[0-9]+ of [0-9]+", shown)
    assert not re.search(r"[0-9]+ of [0-9]+", silent)
    assert status == same
    no_times = re.compile(r'"seconds": [0-9.]+')
    assert no_times.sub("", out) == no_times.sub("", piped)


@pytest.mark.slow
def test_a_quiet_audit_shows_nothing_and_one_that_is_killed_leaves_the_cursor(tmp_path: Path) -> None:
    out, shown, _ = on_a_terminal([*AUDIT, "--quiet"], tmp_path)
    assert out == "NOT REFUTED\n"
    assert not re.search(SHOWN, shown)
    (tmp_path / "mine.py").write_text(
        "import os\nCALLS = []\ndef f(x, *, epsilon, rng):\n    CALLS.append(1)\n"
        "    len(CALLS) > 200 and os.kill(os.getpid(), 9)\n"
        "    return x.T @ x / len(x) + rng.laplace(size=(x.shape[1],) * 2)\n"
    )
    _, shown, status = on_a_terminal(["audit", "mine:f", *AUDIT[2:]], tmp_path)
    assert status == 3
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")


# THE BAR ITSELF


class Kept(Watch):
    """A `Watch` that records everything that is reported to it."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[str, Any]] = []

    def __call__(self, label: str, count: int) -> None:
        self.told.append(("drawn", count))

    def plan(self, parts: Any) -> None:
        self.told.append(("plan", dict(parts)))

    def done(self, part: str, checks: int) -> None:
        self.told.append(("done", (part, checks)))


@pytest.mark.slow
def test_an_audit_tells_what_is_planned_drawn_and_done_and_finds_the_same() -> None:
    kept = Kept()
    followed = audit("covassay:private-trace", epsilon=1.0, samples=100, progress=kept)
    alone = audit("covassay:private-trace", epsilon=1.0, samples=100)
    assert [(c.label, c.p_value) for c in followed.checks] == [(c.label, c.p_value) for c in alone.checks]
    assert sum(count for what, count in kept.told if what == "drawn") >= followed.draws
    planned = [name for what, parts in kept.told if what == "plan" for name in parts]
    done = [part[0] for what, part in kept.told if what == "done"]
    assert set(planned) <= set(done)
    assert len(set(done)) == len(done)
    checks = sum(part[1] for what, part in kept.told if what == "done")
    assert 0 < checks <= len(followed.checks) + 5


def bar_of(told: Callable[[Bar], None]) -> Any:
    with Progress(console=Console(file=io.StringIO(), force_terminal=False)) as progress:
        told(Bar(progress))
        return progress.tasks[0]


def test_a_bar_moves_to_the_end_of_what_is_done_and_not_beyond() -> None:
    def told(bar: Bar) -> None:
        bar("contract", 7)
        bar.done("contract", 9)
        bar.plan({"law: [red]a": 100.0, "law: b": 300.0})
        bar("law/a", 40)

    task = bar_of(told)
    assert (task.completed, task.total, task.fields["made"]) == (40, 400, "47 draws, 9 checks")
    assert task.description == r"law: \[red]a"

    def more(bar: Bar) -> None:
        told(bar)
        bar("law/a", 1000)

    assert bar_of(more).completed == 100

    def finished(bar: Bar) -> None:
        more(bar)
        bar.done("law: [red]a", 3)
        bar.done("law: b", 2)

    task = bar_of(finished)
    assert (task.completed, task.total, task.fields["made"]) == (400, 400, "1047 draws, 14 checks")


def test_nothing_is_known_of_the_time_left_before_anything_is_planned() -> None:
    assert bar_of(lambda bar: bar("contract", 1)).total is None


@pytest.mark.parametrize(
    ("terminal", "quiet", "shown"), [(True, False, True), (True, True, False), (False, False, False)]
)
def test_a_bar_is_for_terminals(terminal: bool, quiet: bool, shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test fails if a progress bar is written into a file or a pipe, even if colours are requested."""
    errors, out = io.StringIO(), io.StringIO()
    monkeypatch.setattr(errors, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stderr", errors)
    monkeypatch.setattr(sys, "stdout", out)
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm"), ("COLUMNS", "80")):
        monkeypatch.setenv(name, value)
    with screen.progress("title", 3, quiet) as advance:
        print("a line of the output")
        advance("first")
    with screen.audit_progress(quiet) as watch:
        watch.plan({"law": 10.0})
        watch("law", 5)
    assert out.getvalue() == "a line of the output\n"
    assert ("1 of 3" in errors.getvalue()) == shown
    assert ("5 draws, 0 checks" in errors.getvalue()) == shown
    assert shown or errors.getvalue() == ""


def test_the_time_left_follows_from_the_pace_and_is_not_said_before_it_is_known() -> None:
    """The test fails if the time left is shown before it is known, or does not follow from the pace. The test sets the
    clock itself.
    """
    now = 100.0
    with Progress(console=Console(file=io.StringIO(), force_terminal=False), get_time=lambda: now) as progress:
        bar = Bar(progress)
        bar.plan({"law: a": 400.0})
        assert Left().render(progress.tasks[0]).plain == ""
        for _ in range(5):
            now += 2.0
            bar("law/a", 20)
        assert Left().render(progress.tasks[0]).plain == "0:00:30 left"


# MESSAGES


def said(told: Callable[[Bar], None], *, terminal: bool, verbose: bool = False, quiet: bool = False) -> str:
    shown = io.StringIO()
    with Progress(console=Console(file=shown, force_terminal=terminal), disable=True) as progress:
        told(Bar(progress, verbose, quiet, jobs=2))
    return shown.getvalue()


def paced(bar: Bar) -> None:
    bar.timed(19, 95.0)
    bar.plan({"law": 1000.0, "privacy": 440.0})
    bar.timed(1, 5.0)
    bar.timed(1, 1e6)  # the message is printed only once


@pytest.mark.parametrize(
    ("terminal", "verbose", "quiet", "shown"),
    [(True, False, False, True), (False, True, False, True), (False, False, False, False), (True, True, True, False)],
)
def test_after_twenty_draws_it_says_how_long_it_will_take(
    terminal: bool, verbose: bool, quiet: bool, shown: bool
) -> None:
    text = said(paced, terminal=terminal, verbose=verbose, quiet=quiet)
    assert ("covassay: about 1,440 draws to come: 60 min at the pace of the first 20" in text) == shown
    assert text.count("\n") == shown


@pytest.mark.parametrize("quiet", [False, True])
def test_a_time_limit_that_stops_a_draw_is_told_once(quiet: bool) -> None:
    def told(bar: Bar) -> None:
        bar.stopped(3.0)
        bar.stopped(3.0)

    text = said(told, terminal=False, quiet=quiet)
    sentence = "covassay: a draw was stopped after 3 s; if the target is that slow, give a longer --time-limit\n"
    assert text == ("" if quiet else sentence)


def test_a_draw_that_is_too_slow_is_told_of_the_time_limit_before_any_question() -> None:
    class Heard(Kept):
        def stopped(self, limit: float) -> None:
            self.told.append(("stopped", limit))

    def slow(x: Any, *, epsilon: float, rng: Any) -> None:
        threading.Event().wait(5)

    heard = Heard()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "questions", tuple)
        audit(slow, epsilon=1.0, samples=100, time_limit=0.05, progress=heard)
    assert heard.told[0] == ("stopped", 0.05)
    assert ("plan", {}) in heard.told
